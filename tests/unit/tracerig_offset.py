# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_offset.py OFFSET

OFFSET, in hexadecimal, is where the code of work_on_it() is in the file prog.
"""
import subprocess, sys
offset = int(sys.argv[1], 16)
text = subprocess.run(["readelf", "-W", "-S", "-s", "prog"], capture_output=True, text=True).stdout
address = [int(l.split()[1], 16) for l in text.splitlines() if l.endswith(" work_on_it")][0]
fields = [l.split("]")[1].split() for l in text.splitlines() if "] .text " in l][0]
assert address - int(fields[2], 16) + int(fields[3], 16) == offset, (hex(address), hex(offset))
