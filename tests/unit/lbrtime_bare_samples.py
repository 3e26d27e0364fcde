# SPDX-License-Identifier: GPL-2.0
"""usage: lbrtime_bare_samples.py FILE

test_lbrtime.sh: text of perf script with a sample at each byte of each function of FILE.
"""
import subprocess, sys
place = next(l.split() for l in subprocess.run(["readelf", "-lW", sys.argv[1]], capture_output=True, text=True).stdout.splitlines()
             if " R E " in l and "LOAD" in l)
offset, addr, size = (int(place[i], 16) for i in (1, 2, 4))
print(f"p 7/7 [000] 1.000000000: PERF_RECORD_MMAP2 7/7: [{0x400000:#x}({(size + 4095) & ~4095:#x}) @ {offset:#x} 08:01 12 0]: r-xp {sys.argv[1]}")
time = 0
for line in open("functions"):
    name, start, length = line.split()
    for at in range(int(start, 16), int(start, 16) + int(length, 16)):
        time += 1
        print(f"p 7/7 [000] 1.{time:09}: {0x400000 + at - addr:x} [unknown]")
