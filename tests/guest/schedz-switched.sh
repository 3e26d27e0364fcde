#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# While the tap is switched on and off and the trace option, which encodes the same events, is
# on, each event is in the blocks once.
. "$TRACERIG_TOP/tests/guest/schedz-both-ways"

eval "calm_$(declare -f work)"

work() {
	local worker tap=$tracing/events/schedz/schedz_block/enable
	calm_work "$1" &
	worker=$!
	while kill -0 $worker 2>/dev/null; do
		echo 1 >$tap
		echo 0 >$tap
	done
	wait $worker || die "the workload failed"
}

both_ways switched 1 1000
