# SPDX-License-Identifier: GPL-2.0
"""Two slow operations of this thread, for tracerig-blocks.sh.

Prints a line for each: what made it slow, when it began and ended (ns of CLOCK_MONOTONIC),
its thread, and the process that made it slow. "hog" takes the CPU from a computation, and
"holder" keeps back for as long what a read waits for.
"""
import os
import time

DELAY = 0.2
WORK = 0.02

ready, is_ready = os.pipe()
go, is_go = os.pipe()
data, has_data = os.pipe()


def hog():
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    os.write(is_ready, b"x")
    os.read(go, 1)
    end = time.monotonic() + DELAY
    while time.monotonic() < end:
        pass


def compute():
    os.write(is_go, b"x")
    end = time.thread_time() + WORK
    while time.thread_time() < end:
        pass


def holder():
    os.sched_setaffinity(0, {os.cpu_count() - 1})
    os.write(is_ready, b"x")
    time.sleep(DELAY)
    os.write(has_data, b"x")


def wait():
    os.read(data, 1)


os.sched_setaffinity(0, {0})
for delayer, operation in ((hog, compute), (holder, wait)):
    pid = os.fork()
    if not pid:
        with open("/proc/self/comm", "w") as f:
            f.write(delayer.__name__)
        delayer()
        os._exit(0)
    os.read(ready, 1)
    begin = time.monotonic_ns()
    operation()
    print(delayer.__name__, begin, time.monotonic_ns(), os.getpid(), pid, flush=True)
    os.waitpid(pid, 0)
