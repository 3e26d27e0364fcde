#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# The recipe in ioreq's man page for kernels without iosys: ioreq's results for such a trace
# agree with the events of iosys for the same calls.
. "$TRACERIG_TOP/tests/guest/functions"

ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
ip link set lo up
# cat hangs for longer than the recording; descriptor 9 was opened before it
cat >work <<'END'
export PATH=/usr/bin:/bin
. "$TRACERIG_TOP/tests/lib.bash"
python3 "$TRACERIG_TOP/tests/guest/ioreq_stock_load.py" &
load=$!
while_alive $load test -e ready || die "the load has ended"
mkfifo hang
cat hang &
head -c 77 <&9 >copied
sleep 2
kill $load
wait $load || true
END
exec 9<"$TRACERIG_TOP/README.md"

# iosys in an instance, and the recipe of the man page
mkdir "$tracing/instances/iosys"
echo mono >"$tracing/instances/iosys/trace_clock"
echo 8192 >"$tracing/instances/iosys/buffer_size_kb"
sed -n '/^\.\\" recipe$/,/^\.\\" end$/p' "$TRACERIG_TOP/tools/ioreq/ioreq.1" |
	sed -e '/^\./d' -e 's/\\-/-/g' -e 's/\\(aq/'"'"'/g' -e 's/\\e/\\/g' >recipe
sed -i 's/ sleep 10$/ bash work/; s/^trace-cmd record/& -q -b 8192/' recipe
grep -q '^trace-cmd record -q .* bash work$' recipe || die "the man page has another recipe" "$(cat recipe)"
echo 1 >"$tracing/instances/iosys/events/iosys/io_syscall/enable"
bash -eu recipe >out 2>&1 || die "the recipe fails" "$(cat out)"
echo 0 >"$tracing/instances/iosys/events/iosys/io_syscall/enable"
pkill -x cat
cat "$tracing/instances/iosys/trace" >iosys.txt
rmdir "$tracing/instances/iosys"
[ ! -e "$tracing/events/ioreq" ] || die "the recipe leaves its probes"
! trace-cmd report trace.dat 2>/dev/null | grep iosys >&2 || die "there are iosys events in the recipe's trace"

"$ioreq" --format=chrome trace.dat >stock.json || die "ioreq fails"
"$ioreq" --format=json trace.dat >sums.json || die "ioreq fails"
"$ioreq" --by=comm,call --top=8 trace.dat >out || die "ioreq fails"
grep -q '^  kernel without iosys: byte ranges of streams are unknown, so no requests$' out || die "the text report does not say that the trace is from a kernel without iosys"
python3 "$TRACERIG_TOP/tests/guest/ioreq_stock_check.py" || die "the calls are not those of the iosys events"
