#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 4
# module: storm
# timeout: 300
#
# Everything that can be done to charts is done to them at once, at random, while
# their events happen on all CPUs. TRACERIG_STORM: for how many seconds, and
# TRACERIG_SEED: from which random numbers. tests/full/storm takes an hour.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
null_disk storm submit_queues=4
python3 "$TRACERIG_TOP/tests/guest/storm.py" "$disk" "$TRACERIG_MODULES/storm/storm.ko" \
	"${TRACERIG_STORM:-8}" "${TRACERIG_SEED:-1}"
