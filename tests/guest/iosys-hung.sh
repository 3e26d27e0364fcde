#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# Faults that hang, on a frozen file system and on a disk that does not respond: io_pending
# reports them each second, whether io_fault is enabled or not, and ioreq lists the ones that
# did not end.
. "$TRACERIG_TOP/tests/guest/functions"

ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq

gcc -O1 -Wall -Wextra -pthread -o hungwork "$TRACERIG_TOP/tests/guest/hungwork.c"
null_disk hung memory_backed=1 size=64
mkfs.ext4 -q "$disk"
mkdir mnt
mount -o noatime "$disk" mnt
null_disk below memory_backed=1 size=4
echo "0 8192 linear $disk 0" | dmsetup --noudevsync create silent
dmsetup mknodes
silent=$(realpath /dev/mapper/silent)
trap 'umount mnt || true; dmsetup remove --noudevsync silent || true; remove_disks' EXIT

# hang EVENT...: record both faults, and print them
hang() {
	dmsetup suspend --noflush --nolockfs silent
	trace-cmd record -q -b 8192 "$@" -o trace.dat ./hungwork "$PWD/mnt/data" "$silent" 3 \
		"dmsetup resume --noudevsync silent" >log 2>err || die "$(cat err)"
	trace-cmd report trace.dat >report.txt 2>/dev/null
}

hang -e iosys:io_pending -e iosys:io_syscall
python3 "$TRACERIG_TOP/tests/guest/hung_check.py" open "$silent" "$PWD/mnt/data" || die "io_pending does not report the faults" "$(grep "fault" report.txt)" "$(cat log)"
"$ioreq" --format=json trace.dat >open.json || die "ioreq fails"
hang -e iosys:io_pending -e iosys:io_fault
python3 "$TRACERIG_TOP/tests/guest/hung_check.py" ends "$silent" "$PWD/mnt/data" || die "io_pending does not report the faults" "$(grep "fault" report.txt)" "$(cat log)"
"$ioreq" --format=json trace.dat >ended.json || die "ioreq fails"
python3 "$TRACERIG_TOP/tests/guest/hung_ioreq.py" || die "ioreq does not list the faults that did not end" "$(cat open.json)"
