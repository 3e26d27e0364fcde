#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Readers that began to wait before a gate came, or while it was there, are woken.

All on one CPU, whose buffer is read.  A reader ends when it has events; it waits when the
kernel has put it to sleep.
"""
import os
import select
import sys

from processes import until

TRACING = "/sys/kernel/tracing"
INSTANCE = TRACING + "/instances/readers"
START = INSTANCE + "/events/sched/sched_pi_setprio"
END = INSTANCE + "/events/sched/sched_process_hang"
RAW = INSTANCE + "/per_cpu/cpu0/trace_pipe_raw"


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def by_read():
    with open(INSTANCE + "/trace_pipe", "rb", buffering=0) as f:
        return len(f.read(4096))


def by_splice():
    """Like trace-cmd: it waits until buffer_percent of the buffer is full"""
    fd = os.open(RAW, os.O_RDONLY)
    to = os.pipe()
    while True:
        try:
            # A reader that is woken for nothing tries again
            if n := os.splice(fd, to[1], 4096):
                return n
        except BlockingIOError:
            pass


def by_epoll():
    fd = os.open(RAW, os.O_RDONLY | os.O_NONBLOCK)
    poll = select.epoll()
    poll.register(fd, select.EPOLLIN)
    while True:
        poll.poll()
        try:
            return len(os.read(fd, 4096))
        except BlockingIOError:
            pass


def reader(how):
    pid = os.fork()
    if not pid:
        os._exit(0 if how() else 1)

    def is_asleep():
        with open(f"/proc/{pid}/wchan") as f:
            return f.read() not in ("0", "")

    until(is_asleep, f"{how.__name__} waits")
    return pid


def expect_end(pid, what):
    status = []

    def has_ended():
        ended, code = os.waitpid(pid, os.WNOHANG)
        status[:] = [code]
        return ended

    try:
        until(has_ended, what, 20)
    except AssertionError as e:
        os.kill(pid, 9)
        sys.exit(f"a reader sleeps: {e}")
    if status[0]:
        sys.exit(f"a reader got nothing: {what}")


def gate(on):
    write(END + "/filter", "ctlchart(sched_pi_setprio, pid, ucl=1ns, pre=1ms)" if on else "0")


def alarm():
    write(START + "/inject", "pid=1")
    write(END + "/inject", "pid=1")


def marks(number):
    with open(INSTANCE + "/trace_marker", "w", buffering=1) as f:
        for _ in range(number):
            f.write("x" * 1000 + "\n")


def clear():
    gate(False)
    with open(INSTANCE + "/trace", "w"):
        pass


def main():
    os.mkdir(INSTANCE)
    write(INSTANCE + "/buffer_size_kb", "64")
    write(END + "/enable", "1")
    for how in by_read, by_splice, by_epoll:
        name = how.__name__
        # A gate comes while the reader waits, and opens a window
        clear()
        pid = reader(how)
        gate(True)
        alarm()
        expect_end(pid, f"{name}, an alarm of a gate that came")
        # The reader came with the gate; the last chart goes, and what comes passes
        clear()
        gate(True)
        pid = reader(how)
        gate(False)
        marks(60)
        expect_end(pid, f"{name}, events after the last chart")
        # The reader was there before; the gate has gone again
        clear()
        pid = reader(how)
        gate(True)
        clear()
        marks(60)
        expect_end(pid, f"{name}, events after a gate")
        # The reader came with the gate, which has gone
        clear()
        gate(True)
        pid = reader(how)
        clear()
        marks(60)
        expect_end(pid, f"{name}, events after the gate")
        # Many alarms at once, before and while the reader is woken
        clear()
        gate(True)
        pid = reader(how)
        for _ in range(100):
            alarm()
        expect_end(pid, f"{name}, many alarms")
    write(END + "/enable", "0")
    clear()
    os.rmdir(INSTANCE)


main()
