# SPDX-License-Identifier: GPL-2.0
"""With each trace clock a duration agrees with the system's own clock, or the chart is refused."""
import os, re, sys, time

TRACING = "/sys/kernel/tracing"
EVENT = TRACING + "/events/sched/sched_process_hang"
START = TRACING + "/events/sched/sched_pi_setprio"
# trace_clocks[] in kernel/trace/trace.c, and whether each counts nanoseconds
NS = {"local", "global", "perf", "mono", "mono_raw", "boot", "tai"}
OTHER = {"counter", "uptime", "x86-tsc"}
CALL = "ctlchart(sched_pi_setprio, pid, ucl=1ns)"

def write(path, text):
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)

def read(path):
    with open(path) as f:
        return f.read()

def pair(wait):
    """Return: the shortest and the longest possible duration of the interval."""
    times = []
    for path, rest in ((START, wait), (EVENT, 0)):
        fd = os.open(path + "/inject", os.O_WRONLY)
        times.append(time.monotonic_ns())
        os.write(fd, b"pid=1")
        times.append(time.monotonic_ns())
        os.close(fd)
        time.sleep(rest)
    return times[2] - times[1], times[3] - times[0]

os.sched_setaffinity(0, {0})
clocks = set(re.findall(r"[\w-]+", read(TRACING + "/trace_clock")))
assert clocks == NS | OTHER, f"unknown clocks: {clocks ^ (NS | OTHER)}"
write(TRACING + "/events/ctlchart/enable", "1")
for clock in sorted(clocks):
    write(EVENT + "/filter", "0")
    write(TRACING + "/trace_clock", clock)
    write(TRACING + "/error_log", "\n")
    write(EVENT + "/enable", "1")
    if clock in OTHER:
        try:
            write(EVENT + "/filter", CALL)
            sys.exit(f"{clock}: a chart by a clock that does not count nanoseconds")
        except OSError:
            log = read(TRACING + "/error_log")
            assert "The trace clock does not count nanoseconds" in log, log
        print(f"{clock}: refused")
        continue
    write(EVENT + "/filter", CALL)
    bounds = [pair(wait) for wait in (0, .001, .1)]
    durations = [int(n) for n in re.findall(r"ctlchart_alarm: .* duration=(\d+)", read(TRACING + "/trace"))]
    assert len(durations) == len(bounds), (clock, durations)
    for duration, (low, high) in zip(durations, bounds):
        # The drift between clocks: adjusted or not, and by the guest's measure of its TSC
        if not low * .98 - 1000 <= duration <= high * 1.02 + 1000:
            sys.exit(f"{clock}: {duration} ns, and by the monotonic clock {low} to {high} ns")
    print(f"{clock}: {durations} ns, each within {bounds}")
