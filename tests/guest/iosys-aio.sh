#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# What io_request says of every request of aio is what the program knows of it; and
# fio's reads and writes are counted as fio counts them.
. "$TRACERIG_TOP/tests/guest/functions"

check=$TRACERIG_TOP/tests/guest/uring_check.py

# get WORD: the number that follows a word in the file iosys
get() {
	sed -n "s/.*\b$1:* \([0-9]*\).*/\1/p" "$tracing/iosys"
}

# All are over, and every one has its event
accounts() {
	if [ "$(get requests)" -ne "$(get completed)" ] || [ "$(get unfinished)" -ne 0 ] ||
		[ "$(get refused)" -ne 0 ] || [ "$(get forgotten)" -ne 0 ]; then
		die "the accounts do not add up" "$(cat "$tracing/iosys")"
	fi
}

grep -q aio:pread "$tracing/events/iosys/io_request/format" || die "this kernel has no requests of aio"
gcc -O1 -Wall -Wextra -o aiowork "$TRACERIG_TOP/tests/guest/aiowork.c"
null_disk aio memory_backed=1 size=64 irqmode=2 completion_nsec=100000

before=$(get completed)
trace-cmd record -q -b 8192 -e iosys:io_request -e iosys:io_pending -o all.dat ./aiowork "$disk" "$PWD/data" >all.log 2>all.err ||
	die "$(cat all.err)"
trace-cmd report all.dat >all.txt 2>/dev/null
"$check" all.log all.txt --aio || die "requests and events differ"
accounts
[ "$(get completed)" -ge $((before + $(wc -l <all.log))) ] || die "requests are missing in the accounts"
# Some were completed in an interrupt, hard or soft, of whatever was running
trace-cmd report -l all.dat 2>/dev/null | grep ' io_request: .*aio:pread=' >latency.txt
grep -qE '^ *[^ ]+-[0-9]+ +[0-9]+[^ ]{2}[hHs]' latency.txt || die "no request was completed in an interrupt" "$(head -n 3 latency.txt)"

cat >job <<END
[global]
filename=$disk
size=16m
ioengine=libaio
direct=1
iodepth=16
bs=4k
number_ios=1500
[reads]
rw=randread
[writes]
rw=randwrite
bs=8k
END
trace-cmd record -q -b 8192 -e iosys:io_request -o fio.dat fio --output-format=json --output=fio.json job >fio.err 2>&1 ||
	die "$(cat fio.err)"
trace-cmd report fio.dat >fio.txt 2>/dev/null
python3 - "$disk" <<'END' || die "fio counts otherwise"
import json, re, sys
jobs = {job["jobname"]: job for job in json.load(open("fio.json"))["jobs"]}
for name, way in (("reads", "read"), ("writes", "write")):
    want = jobs[name][way]
    rest = rf"\b.*name={sys.argv[1]} "
    got = [int(m.group(1)) for m in (re.search(rf"io_request: +aio:p{way}=(\d+) {rest}", line)
                                     for line in open("fio.txt")) if m]
    print(f"# {name}: fio {want['total_ios']} of {want['io_bytes']} bytes, events {len(got)} of {sum(got)}")
    assert want["total_ios"] == len(got) >= 1500 and want["io_bytes"] == sum(got)
END
accounts
