# SPDX-License-Identifier: GPL-2.0
"""Two processes that wake each other 30000 times, with a marker each 300 times."""
import os
r, w = os.pipe(), os.pipe()
if os.fork() == 0:
    while os.read(r[0], 1) == b"x":
        os.write(w[1], b"x")
    os._exit(0)
marker = os.open("trace_marker", os.O_WRONLY)
for n in range(30000):
    if n % 300 == 0:
        os.write(marker, b"%-40d\n" % n)
    os.write(r[1], b"x")
    os.read(w[0], 1)
os.write(r[1], b"e")
os.wait()
