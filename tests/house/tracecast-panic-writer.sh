#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# part: check-full
# timeout: 900
# needs: vm, kernel, tools
# A guest panics while a writer of the ring moves the pointer to its oldest page: tracecast does
# not wait for the writer, which never goes on. The panic is at each place in turn where that
# pointer may have changed.
. "$TRACERIG_TOP/tests/house/lib.sh"

build=${TRACERIG_BUILD:-$TRACERIG_TOP/build}
"$TRACERIG_TOP/scripts/kernel" module "$TRACERIG_TOP/tests/house/movepanic" "$PWD/movepanic" >log 2>&1 || die "$(cat log)"
mkdir out.d
cp movepanic/movepanic.ko out.d
port=$("$TRACERIG_TOP/tests/free-ports" udp)

# Behind each instruction that changes a pointer to a page atomically, from the symbol on
objdump -d --no-show-raw-insn --disassemble=rb_move_tail "$build/kernel/vmlinux" >code
start=$((0x$(sed -n 's/^\([0-9a-f]*\) <rb_move_tail>:$/\1/p' code)))
mapfile -t places < <(grep -A 1 'lock cmpxchg' code | grep -v -e 'lock cmpxchg' -e '^--' | sed 's/^ *\([0-9a-f]*\):.*/0x\1/')
[ "${#places[@]}" -gt 1 ] || die "there is no rb_move_tail() in vmlinux: $(head code)"

hit=0
for place in "${places[@]}"; do
	offset=$((place - start))
	cat >out.d/guest <<END
set -e
cd /sys/kernel/config/tracecast
mkdir rig
echo 10.0.2.2 >rig/remote_ip
echo $port >rig/remote_port
echo 8 >/sys/kernel/tracing/buffer_size_kb
echo 1 >rig/enabled
. "\$TRACERIG_TOP/tests/lib.bash"
ready() { grep -q '^panic: through eth0' rig/ledger; }
until_true 30 ready
# Nothing is acknowledged, so the window is full at some time
overwrites() {
	head -c 200000 /dev/zero | tr '\\\\0' x | fold -w 500 >/sys/kernel/tracing/trace_marker
	grep -q '^lost: [1-9]' rig/ledger
}
until_true 60 overwrites
insmod "\$TRACERIG_OUTPUT/movepanic.ko" offset=$offset
for _ in {1..20}; do
	overwrites
done
END
	status=0
	"$vm" --timeout $((60 * scale)) --output "$PWD/out.d" --net host --append panic=5 \
		-- bash -c '. "$TRACERIG_OUTPUT/guest"' >out 2>err || status=$?
	case $status in
	0) ;; # Not on this way
	125) has err "the guest panicked: .*in rb_move_tail\+$(printf %#x $offset)"; hit=$((hit + 1)) ;;
	*) cat out err >&2; die "status $status after a panic at rb_move_tail+$(printf %#x $offset)" ;;
	esac
done
echo "$hit of ${#places[@]} places were on the way"
[ $hit -ge 2 ] || die "the writer did not move the pointer"
