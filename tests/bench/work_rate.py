# SPDX-License-Identifier: GPL-2.0
"""usage: work_rate.py SWITCHES

Sleep and wake up to make SWITCHES task switches per second: one to the task and one back.
"""
import sys, time
rate = int(sys.argv[1]) // 2
start = time.monotonic()
for n in range(20 * rate if rate < 1000 else 4 * rate):
    late = start + n / rate - time.monotonic()
    if late > 0:
        time.sleep(late)
