#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write the same mark 70,000 times.

usage: tracecast_equal.py TRACE_MARKER
"""
import os
import sys

fd = os.open(sys.argv[1], os.O_WRONLY)
for _ in range(70000):
    os.write(fd, b"x")
