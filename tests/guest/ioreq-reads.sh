#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# A program that reads a file from begin to end, and one that needs a byte here and there
# of a mapped one: ioreq says which of them has the disk read for nothing, and all that it
# has read is what the disk counts.
. "$TRACERIG_TOP/tests/guest/functions"

null_disk reads memory_backed=1 size=128 irqmode=2 completion_nsec=50000
mkfs.ext4 -q "$disk"
mkdir mnt
mount -o noatime "$disk" mnt
trap 'umount mnt || true; remove_disks' EXIT
dd if=/dev/urandom of=mnt/whole bs=1M count=4 status=none
dd if=/dev/urandom of=mnt/mapped bs=1M count=32 status=none
sync
cat >whole.py <<'END'
import os
open("/proc/self/comm", "w").write("whole")
fd = os.open("mnt/whole", os.O_RDONLY)
while os.read(fd, 65536):
    pass
END
cat >mapped.py <<'END'
import mmap, random
open("/proc/self/comm", "w").write("mapped")
random.seed(1)
with open("mnt/mapped", "rb") as f:
    m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
    for i in range(40):
        m[random.randrange(len(m))]
END
cat >load <<'END'
echo 3 >/proc/sys/vm/drop_caches
python3 whole.py && python3 mapped.py
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
python3 - "$read" <<'END' || die "what was read is not told right"
import json, os, sys
read = int(sys.argv[1])

reads = json.load(open("reads.json"))["reads"]
whole, = [r for r in reads if r["object"].endswith("mnt/whole") and r["asked"]["count"]]
mapped, = [r for r in reads if r["object"].endswith("mnt/mapped") and r["asked"]["count"]]
size = os.path.getsize("mnt/whole")
print("# disk:", read, "whole:", whole["disk"], whole["ahead"], "mapped:", mapped["asked"], mapped["disk"])
assert whole["process"] == "whole" and mapped["process"] == "mapped"
assert whole["asked"]["bytes"] == whole["disk"]["bytes"] == size and whole["wasted"] == 0, whole
assert whole["ahead"] > size / 2, whole
# A fault reads around where it is
assert 20 <= mapped["asked"]["count"] <= 40 and mapped["disk"]["bytes"] > 8 * mapped["asked"]["bytes"], mapped
assert mapped["wasted"] == mapped["disk"]["bytes"] - mapped["asked"]["bytes"]
assert reads[0] == mapped, reads[0]
# The rest is what the file system needs to find them
mine = whole["disk"]["bytes"] + mapped["disk"]["bytes"]
others = sum(r["disk"]["bytes"] for r in reads) - mine
assert mine <= read <= mine + others and read - mine < 1000000, (mine, read, others)
END
