# SPDX-License-Identifier: GPL-2.0
"""usage: tracecast_equal.py COUNT MARKER

Write COUNT equal marks to MARKER.
"""
import os
import sys

fd = os.open(sys.argv[2], os.O_WRONLY)
for _ in range(int(sys.argv[1])):
    os.write(fd, b"x")
