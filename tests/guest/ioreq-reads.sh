#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# A program that reads a file from begin to end, and one that needs single bytes of a mapped
# file: ioreq reports which of them causes unnecessary reads of the disk, and its sum of all
# reads equals the disk's own count.
. "$TRACERIG_TOP/tests/guest/functions"

null_disk reads memory_backed=1 size=128 irqmode=2 completion_nsec=50000
mkfs.ext4 -q "$disk"
mkdir mnt
mount -o noatime "$disk" mnt
trap 'umount mnt || true; remove_disks' EXIT
dd if=/dev/urandom of=mnt/whole bs=1M count=4 status=none
dd if=/dev/urandom of=mnt/mapped bs=1M count=32 status=none
sync
cat >load <<'END'
echo 3 >/proc/sys/vm/drop_caches
python3 "$TRACERIG_TOP/tests/guest/reads_whole.py" && python3 "$TRACERIG_TOP/tests/guest/reads_mapped.py"
END
sectors() {
	awk '{ print $3 }' "/sys/block/${disk#/dev/}/stat"
}
before=$(sectors)
trace-cmd record -q -b 8192 -e iosys:io_syscall -e iosys:io_fault -e block:block_bio_queue -o trace.dat sh load >out 2>&1 || die "$(cat out)"
read=$((512 * ($(sectors) - before)))
ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
"$ioreq" --reads --format=json trace.dat >reads.json || die "ioreq fails"
"$ioreq" --reads --top=5 trace.dat
python3 "$TRACERIG_TOP/tests/guest/reads_check.py" "$read" || die "the reads are not right"
