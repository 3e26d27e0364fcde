# SPDX-License-Identifier: GPL-2.0
"""usage: last_boot_guest.py PORT

In a guest that is booted five times: record, and panic without a network; panic again;
come back with it, and lose it while what was left is sent; record over what was left,
and clear it, without a target. What was recorded goes to truth.json of the output directory.
"""
import json
import os
import re
import subprocess
import sys
import time

TRACING = "/sys/kernel/tracing"
KEPT = TRACING + "/instances/kept"
TARGET = "/sys/kernel/config/tracecast/rig"
TRUTH = os.environ["TRACERIG_OUTPUT"] + "/truth.json"
EARLY, MARKS = 100, 1500


def put(path, text):
    with open(path, "w") as f:
        f.write(text)


def link(state):
    subprocess.run(["ip", "link", "set", "eth0", state], check=True)


def ledger(pattern):
    """The numbers that the target's ledger has at PATTERN, or nothing"""
    match = re.search(pattern, open(TARGET + "/ledger").read())
    return [int(n) for n in match.groups()] if match else None


def until(condition):
    """Wait for CONDITION"""
    end = time.monotonic() + 30 * int(os.environ.get("TRACERIG_TIMEOUT_SCALE", 1))
    while not condition():
        if time.monotonic() > end:
            sys.exit("waited too long: " + open(TARGET + "/ledger").read())
        time.sleep(0.05)


def enable(rate="0"):
    if not os.path.exists(TARGET):
        os.mkdir(TARGET)
    put(TARGET + "/rate", rate)
    put(TARGET + "/instance", "kept")
    put(TARGET + "/remote_ip", "10.0.2.2")
    put(TARGET + "/remote_port", sys.argv[1])
    put(TARGET + "/flush", "100")
    put(TARGET + "/enabled", "1")


def mark(first, last):
    """Write marks that have the time; return the time after the last one"""
    marker = os.open(KEPT + "/trace_marker", os.O_WRONLY)
    for i in range(first, last):
        os.write(marker, b"mark %d at %d" % (i, time.monotonic_ns()))
    return time.monotonic_ns()


def save(truth):
    with open(TRUTH, "w") as f:
        json.dump(truth, f)
        f.flush()
        os.fsync(f.fileno())


def panic():
    put("/proc/sysrq-trigger", "c")


def probe():
    """Records of an event that the next boot does not have; return their number"""
    put(TRACING + "/kprobe_events", "p:gone/dup do_dup2")
    put(KEPT + "/events/gone/dup/enable", "1")
    for fd in range(100, 120):
        os.dup2(0, fd)
    put(KEPT + "/events/gone/dup/enable", "0")
    return int(open(TRACING + "/kprobe_profile").read().split()[1])


def first_boot():
    enable()
    put(KEPT + "/events/sched/sched_switch/enable", "1")
    put(KEPT + "/tracing_on", "1")
    mark(0, EARLY)
    until(lambda: ledger(r"acknowledged (\d+)")[0] > EARLY)
    link("down")
    gone = probe()
    end = mark(EARLY, MARKS)
    # The target takes records that it cannot send any more
    until(lambda: ledger(r"(\d+) unacknowledged")[0] > MARKS // 2)
    save({"marks": MARKS, "end": end, "gone": gone})
    panic()


def second_boot(truth):
    link("down")
    enable()
    # Neither another boot nor what it records may displace it
    put(KEPT + "/events/sched/sched_switch/enable", "1")
    put(KEPT + "/tracing_on", "1")
    try:
        mark(MARKS, MARKS + 1)
        sys.exit("a mark was recorded")
    except OSError:
        pass
    truth["left"] = ledger(r"last boot: (\d+) records, 0 acknowledged, 0 without")[0]
    save(truth)
    panic()


def third_boot(truth):
    # What has not arrived when the target is disabled is there when it is enabled again
    enable("4000")
    until(lambda: ledger(r"last boot: \d+ records, (\d+)")[0] > 0)
    link("down")
    put(TARGET + "/enabled", "0")
    truth["part"] = ledger(r"last boot: \d+ records, (\d+)")[0]
    link("up")
    subprocess.run(["ip", "route", "replace", "default", "via", "10.0.2.2"], check=True)
    enable()
    until(lambda: ledger(r"last boot: (\d+).* of absent CPUs\n"))
    truth["sent"] = ledger(r"last boot: (\d+) records, (\d+) acknowledged, (\d+) without")
    put(KEPT + "/tracing_on", "1")
    mark(2 * MARKS, 2 * MARKS + 10)
    put(KEPT + "/tracing_on", "0")
    until(lambda: ledger(r"acknowledged (\d+)")[0] >= 10)
    put(TARGET + "/enabled", "0")
    truth["last"] = ledger(r"generated: (\d+) = lost (\d+) \+ held (\d+) \+ acknowledged (\d+)")
    # What was read and has arrived is still there
    put(KEPT + "/trace", "")
    put(KEPT + "/tracing_on", "1")
    mark(3 * MARKS, 4 * MARKS)
    save(truth)
    panic()


def marks():
    """Numbers of the marks that the instance has"""
    return [int(n) for n in re.findall(r"mark (\d+) at", open(KEPT + "/trace").read())]


def expect(first, last):
    """The instance has the marks from FIRST on, and no other"""
    if marks() != list(range(first, last)):
        sys.exit("not marks %d to %d: %s" % (first, last - 1, marks()[-20:]))


def fourth_boot(truth):
    # What this boot records takes the place of what the last one left
    expect(3 * MARKS, 4 * MARKS)
    put(KEPT + "/tracing_on", "1")
    mark(4 * MARKS, 4 * MARKS + 10)
    expect(4 * MARKS, 4 * MARKS + 10)
    truth["over"] = True
    save(truth)
    panic()


def fifth_boot():
    # Who clears what a target has kept can record again
    expect(4 * MARKS, 4 * MARKS + 10)
    link("down")
    enable()
    put(KEPT + "/tracing_on", "1")
    put(TARGET + "/enabled", "0")
    expect(4 * MARKS, 4 * MARKS + 10)
    put(KEPT + "/trace", "")
    mark(5 * MARKS, 5 * MARKS + 10)
    expect(5 * MARKS, 5 * MARKS + 10)


if not os.path.exists(TRUTH):
    first_boot()
truth = json.load(open(TRUTH))
if "left" not in truth:
    second_boot(truth)
if "last" not in truth:
    third_boot(truth)
if "over" not in truth:
    fourth_boot(truth)
fifth_boot()
