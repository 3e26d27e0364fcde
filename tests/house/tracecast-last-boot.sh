#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# needs: vm, kernel, tools
# A guest panics while its network is down, comes back without it, and then with the network,
# which fails once more: what the first boot recorded arrives, as that boot's, and then what
# the last one does. With TRACERIG_FULL, it panics again before the network is there, and three
# times more: what is recorded or cleared without a target takes the place of what the boot
# before has left, and what another kernel recorded is cleared.
. "$TRACERIG_TOP/tests/house/lib.sh"

mkdir out.d
if [ -n "${TRACERIG_FULL-}" ]; then
	"$TRACERIG_TOP/scripts/kernel" module "$TRACERIG_TOP/tests/house/otherkernel" "$PWD/otherkernel" >log 2>&1 ||
		die "$(cat log)"
	cp otherkernel/otherkernel.ko out.d
fi
# shellcheck disable=SC2119 # without options
collect
boot=(
	maxcpus=1
	reserve_mem=4M:4096:trace trace_instance=kept^traceoff@trace,sched:sched_switch
	reserve_mem=1M:4096:early trace_instance=early@early,sched:sched_process_exec
	reserve_mem=1M:4096:idle trace_instance=idle@idle
)
in_guest 0 --crashes --timeout $((300 * scale)) --net host \
	${TRACERIG_FULL:+--env TRACERIG_FULL=1} --append "${boot[*]}" <<END
exec python3 -B "\$TRACERIG_TOP/tests/house/last_boot_guest.py" $port
END
ended() { [ "$(grep -c 'is over' notes)" -eq 2 ]; }
within 30 ended || die "two sessions did not end: $(cat notes)"
kill $collector
wait $collector || die "the collector failed"
has notes 'what the last boot left'
for dat in collected/*.dat; do
	trace-cmd report -t "$dat" >"$dat.txt" 2>/dev/null || die "trace-cmd cannot read $dat"
done
python3 -B "$TRACERIG_TOP/tests/house/last_boot_check.py" collected out.d/truth.json ||
	die "$(cat notes ledger)"
for dat in collected/*-last-boot.0.dat; do
	"$schedz" stat "$dat"
done >out
has out 'ledger of records, state over'
