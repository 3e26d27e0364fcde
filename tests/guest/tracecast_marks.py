# SPDX-License-Identifier: GPL-2.0
"""usage: tracecast_marks.py COUNT MARKER

Write COUNT numbered marks to MARKER; one in a hundred is larger than a datagram.
"""
import os, sys
fd = os.open(sys.argv[2], os.O_WRONLY)
for i in range(int(sys.argv[1])):
    # One in a hundred is larger than a datagram
    os.write(fd, b"mark %d %s" % (i, b"x" * (2500 if i % 100 == 0 else i % 60)))
