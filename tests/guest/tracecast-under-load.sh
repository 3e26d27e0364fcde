#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 4
# timeout: 300
#
# Targets of tracecast are made, set up, enabled and removed at random, while the interface and
# the collector come and go, the network loses datagrams, another host forges some, and events,
# instances, buffers and CPUs change.
# TRACERIG_STORM: number of seconds; TRACERIG_SEED: seed of the random numbers.
. "$TRACERIG_TOP/tests/guest/functions"

[ -d /sys/kernel/config/tracecast ] || die "this kernel has no tracecast"
python3 "$TRACERIG_TOP/tests/guest/tracecast_storm.py" \
	"${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/schedz" "${TRACERIG_STORM:-8}" "${TRACERIG_SEED:-1}"
