# SPDX-License-Identifier: GPL-2.0
"""usage: one_core.py OUTPUT COMMAND...

Run COMMAND on one core with its standard output in OUTPUT; print its CPU time in seconds
and its peak memory in MiB. Fails if COMMAND fails.
"""
import os
import resource
import subprocess
import sys

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
with open(sys.argv[1], "w") as output:
    status = subprocess.run(sys.argv[2:], stdout=output).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(round(used.ru_utime + used.ru_stime, 3), round(used.ru_maxrss / 1024))
sys.exit(status)
