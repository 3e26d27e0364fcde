#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Let each allocation of each operation fail, one after the other.

/proc/thread-self/fail-nth makes the nth allocation of this thread fail.  Before each try the
event has a chart with a start in flight.  An operation that fails reports that and the reason;
the chart is then unchanged, or removed together with the filter, as after any error in a
filter.  An event of iosys that cannot be enabled leaves no probe behind.  Without a fault the
same operation succeeds.
"""
import errno
import os
import re
import sys

TRACING = "/sys/kernel/tracing"
START = TRACING + "/events/sched/sched_pi_setprio"
EVENT = TRACING + "/events/sched/sched_process_hang"
IOSYS = TRACING + "/events/iosys/io_syscall"
OLD = "ctlchart(sched_pi_setprio, pid, ucl=1h)"
PAIR = "sched_pi_setprio, pid, comm"

# Filters that together have all options
FILTERS = [
    OLD,
    f"ctlchart({PAIR}, ucl=1ms, name=b, overdue=1s, stale=1s, size=100, rate=1)",
    f"ctlchart({PAIR}, name=c, dup=last, learn=1s, samples=20, group=4, limit=median, scale=linear, "
    "rules=all, relearn=100ms, by=pid, charts=3, pre=1ms, post=1ms, from=start)",
    f"ctlchart({PAIR}, limit=quantile, size=2000) && pid > 0",
    "ctlchart(pid, samples=10, by=comm, charts=2)",
    f"({OLD} || ctlchart(pid, ucl=5)) && comm == 'x'",
]


def write(path, text, flags=0):
    fd = os.open(path, os.O_WRONLY | flags)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def read(path):
    with open(path) as f:
        return f.read()


def accounts():
    return re.findall(r"^(?:starts|ends|call):.*", read(EVENT + "/ctlchart"), re.M)


def set_up():
    """The old chart, with one start in flight."""
    for text in "0", OLD:
        write(EVENT + "/filter", text)
    write(EVENT + "/enable", "1")
    write(START + "/inject", "pid=1")
    write(TRACING + "/error_log", "\n", os.O_TRUNC)
    return accounts()


def again():
    """The event is enabled while its chart waits."""
    write(EVENT + "/enable", "0")
    write(EVENT + "/enable", "1")


def named():
    """The limit of a named chart is kept when the chart is removed."""
    write(EVENT + "/filter", "ctlchart(pid, samples=10, learn=0, name=d)")
    write(EVENT + "/ctlchart", "limits center=1 ucl=2")
    write(EVENT + "/filter", "0")


def iosys():
    """The table of calls in flight, and probes at all system calls."""
    write(IOSYS + "/enable", "1")
    write(IOSYS + "/enable", "0")


OPERATIONS = [
    ("an event of iosys", iosys),
    ("enabling the event", again),
    ("a chart with a name that goes", named),
    ("reading the chart", lambda: read(EVENT + "/ctlchart")),
    ("a command to the chart", lambda: write(EVENT + "/ctlchart", "relearn")),
] + [(f"filter {f}", lambda f=f: write(EVENT + "/filter", f)) for f in FILTERS]


def fail(nth, operation):
    """Run it with the nth allocation failing. Return: whether there was one, and the error."""
    fd = os.open("/proc/thread-self/fail-nth", os.O_RDWR)
    error = None
    try:
        os.write(fd, str(nth).encode())
        try:
            operation()
        except OSError as e:
            error = e
        left = int(os.pread(fd, 16, 0).split(b"\0")[0])
        os.pwrite(fd, b"0", 0)
    finally:
        os.close(fd)
    return left == 0, error


def check_enabled(where):
    """The chart of an event that was enabled watches the start, or reports that it does not."""
    write(START + "/inject", "pid=2")
    write(EVENT + "/inject", "pid=2")
    if " paired 1 " not in accounts()[1] and "stopped: " not in read(EVENT + "/ctlchart"):
        sys.exit(f"{where}: the event was enabled, but its chart sees no starts: {accounts()}")


def check(name, nth, before, failed, error):
    where = f"{name}, allocation {nth}"
    log = read(TRACING + "/error_log")
    reasons = re.findall(r": error: (.*)\n  Command", log)
    if error is None:
        if name.startswith("enabling"):
            check_enabled(where)
        return
    if not failed:
        sys.exit(f"{where}: failed without a fault: {error}\n{log}")
    if error.errno != errno.ENOMEM and "No memory for the chart" not in reasons:
        sys.exit(f"{where}: {error}\n{log}")
    if name.startswith("filter") or "read" in name or "command" in name:
        shown = read(EVENT + "/filter")
        now = accounts()
        if now == before and shown == OLD + "\n":
            write(EVENT + "/inject", "pid=1")
            if " paired 1 " not in accounts()[1]:
                sys.exit(f"{where}: the old chart lost its start: {accounts()}")
        elif now or not shown.startswith(name.removeprefix("filter ")):
            sys.exit(f"{where}: neither the old chart nor none: {now}\n{shown}")


def main():
    debugfs = "/sys/kernel/debug/"
    for kind in "failslab", "fail_page_alloc":
        write(f"{debugfs}{kind}/verbose", "0")
        write(f"{debugfs}{kind}/ignore-gfp-wait", "N")
    write(debugfs + "fail_page_alloc/min-order", "0")
    # tracing_start_cmdline_record() does not check whether its probes were registered, and the
    # kernel warns when they are removed
    write(TRACING + "/options/record-cmd", "0")
    for name, operation in OPERATIONS:
        refused = 0
        for nth in range(1, 10000):
            before = set_up()
            failed, error = fail(nth, operation)
            check(name, nth, before, failed, error)
            write(IOSYS + "/enable", "0")
            if "slots: 0\n" not in read(TRACING + "/iosys"):
                sys.exit(f"{name}, allocation {nth}: {read(TRACING + '/iosys')}")
            refused += error is not None
            if not failed:
                break
        print(f"{nth - 1} allocations, {refused} of them needed: {name}", flush=True)
    set_up()
    write(EVENT + "/inject", "pid=1")
    if " paired 1 " not in accounts()[1]:
        sys.exit(f"a chart does not work any more: {accounts()}")
    write(EVENT + "/enable", "0")
    write(EVENT + "/filter", "0")


main()
