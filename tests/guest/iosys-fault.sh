#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# Faults on a file on a slow disk: exactly the faults that read from disk or slept have
# events, whether the kernel counts them as major or minor.
. "$TRACERIG_TOP/tests/guest/functions"

check=$TRACERIG_TOP/tests/guest/fault_check.py

[ -e "$tracing/events/iosys/io_fault" ] || die "this kernel has no io_fault"
gcc -O1 -Wall -Wextra -pthread -o faultwork "$TRACERIG_TOP/tests/guest/faultwork.c"

# A read takes 20 ms
null_disk faults memory_backed=1 size=64 irqmode=2 completion_nsec=20000000
mkfs.ext4 -q "$disk"
mkdir mnt
mount -o noatime "$disk" mnt
trap 'umount mnt || true; remove_disks' EXIT

trace-cmd record -q -b 8192 -e iosys:io_fault -o fault.dat ./faultwork "$PWD/mnt/data" 256 >fault.log 2>fault.err ||
	die "$(cat fault.err)"
trace-cmd report fault.dat >fault.txt 2>/dev/null
"$check" fault.log fault.txt || die "faults and events differ"
[ "$(sed -n 's/^slots: //p' "$tracing/iosys")" -eq 0 ] || die "faults take slots of calls"

# No events when io_fault is not enabled
trace-cmd record -q -b 8192 -e iosys:io_syscall -o call.dat ./faultwork "$PWD/mnt/data" 256 >call.log
trace-cmd report call.dat 2>/dev/null >call.txt
! grep -q ' io_fault: ' call.txt || die "io_fault has events though it is not enabled"

# The events that pass a filter
trace-cmd record -q -e iosys:io_fault -f 'name ~ "*/mnt/data" && duration > 150000000' -o long.dat \
	./faultwork "$PWD/mnt/data" 256 >long.log
trace-cmd report long.dat 2>/dev/null >long.txt
awk '/ io_fault: / {
	match($0, / duration=[0-9]+/)
	if (substr($0, RSTART + 10, RLENGTH - 10) + 0 <= 150000000 || !/ name=[^ ]*\/mnt\/data /)
		wrong = 1
	frozen += / flags=write /
}
END { exit wrong || !frozen }' long.txt || die "not the fault on the frozen file system and long faults alone pass the filter" "$(cat long.txt)"
