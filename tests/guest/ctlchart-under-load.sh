#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 4
# module: storm
# timeout: 300
#
# All operations on charts at once, at random, while their events occur on all CPUs.
# TRACERIG_STORM: the number of seconds; TRACERIG_SEED: the seed.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
null_disk storm submit_queues=4
python3 "$TRACERIG_TOP/tests/guest/storm.py" "$disk" "$TRACERIG_MODULES/storm/storm.ko" \
	"${TRACERIG_STORM:-8}" "${TRACERIG_SEED:-1}"
