# SPDX-License-Identifier: GPL-2.0
"""usage: peak_memory.py COMMAND...

Run COMMAND with its output in the file out, and print the kilobytes that it used at its
peak, or its exit status if that is not 0.
"""
import resource
import subprocess
import sys

with open("out", "w") as out:
    status = subprocess.call(sys.argv[1:], stdout=out)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss if status == 0 else "status %d" % status)
