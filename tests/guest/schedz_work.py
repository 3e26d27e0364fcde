# SPDX-License-Identifier: GPL-2.0
"""usage: schedz_work.py NUMBER

Two threads that wake each other, change their names and priorities, and a child.
"""
import ctypes, os, sys, threading
n = int(sys.argv[1])
libc = ctypes.CDLL(None)
def ping(a, b):
    libc.prctl(15, b"ping %d" % n, 0, 0, 0)
    for k in range(300):
        os.write(b, b"x")
        os.read(a, 1)
    os.nice(1)
a, b = os.pipe(), os.pipe()
threads = [threading.Thread(target=ping, args=(a[0], b[1])),
           threading.Thread(target=ping, args=(b[0], a[1]))]
for t in threads: t.start()
os.sched_setaffinity(0, range(os.cpu_count()))
for t in threads: t.join()
os.spawnv(os.P_WAIT, "/bin/true", ["true", str(n)])
