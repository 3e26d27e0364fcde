# SPDX-License-Identifier: GPL-2.0
"""Four threads that sleep, each with another period."""
import threading, time
def nap(ms, n):
    for i in range(n):
        time.sleep(ms / 1e3)
threads = [threading.Thread(target=nap, args=(ms, 4000 // ms)) for ms in (1, 3, 7, 11)]
for t in threads: t.start()
for t in threads: t.join()
