# SPDX-License-Identifier: GPL-2.0
"""usage: last_boot_guest.py PORT

In a guest that is booted twice, by one of its two CPUs: record, and panic without a
network; come back without it, and with it, and lose it while what was left is sent; have
the other CPU come while it is sent. With TRACERIG_FULL it is booted six times: without the
network it panics again; afterwards it records over what was left, and clears it, without a
target; and finds what another kernel recorded. Two more instances have no traceoff: early
has events from the boot parameter, and idle has not. What was recorded goes to truth.json
of the output directory.
"""
import json
import os
import re
import subprocess
import sys
import time

TRACING = "/sys/kernel/tracing"
KEPT, EARLY, IDLE = (TRACING + "/instances/" + name for name in ("kept", "early", "idle"))
TARGET = "/sys/kernel/config/tracecast/rig"
TRUTH = os.environ["TRACERIG_OUTPUT"] + "/truth.json"
FIRST, MARKS = 100, 1500
FULL = "TRACERIG_FULL" in os.environ


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


def come():
    """Have the other CPU come"""
    put("/sys/devices/system/cpu/cpu1/online", "1")


def enable(rate="0"):
    if not os.path.exists(TARGET):
        os.mkdir(TARGET)
    put(TARGET + "/rate", rate)
    put(TARGET + "/instance", "kept")
    put(TARGET + "/remote_ip", "10.0.2.2")
    put(TARGET + "/remote_port", sys.argv[1])
    put(TARGET + "/flush", "100")
    put(TARGET + "/senders", "2")
    put(TARGET + "/enabled", "1")


def mark(first, last, instance=KEPT):
    """Write marks that have the time; return the time after the last one"""
    marker = os.open(instance + "/trace_marker", os.O_WRONLY)
    for i in range(first, last):
        os.write(marker, b"mark %d at %d" % (i, time.monotonic_ns()))
    os.close(marker)
    return time.monotonic_ns()


def marks(instance=KEPT):
    """Numbers of the marks that the instance has"""
    return [int(n) for n in re.findall(r"mark (\d+) at", open(instance + "/trace").read())]


def expect(first, last, instance=KEPT):
    """The instance has the marks from FIRST on, and no other"""
    if marks(instance) != list(range(first, last)):
        sys.exit("%s: not marks %d to %d: %s" % (instance, first, last - 1, marks(instance)[-20:]))


def waits(instance=KEPT):
    """The instance does not record"""
    try:
        mark(0, 1, instance)
    except OSError:
        return
    sys.exit(instance + ": a mark was recorded")


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


def other_kernel():
    """What kept has is of another kernel from now on"""
    subprocess.run(["insmod", os.environ["TRACERIG_OUTPUT"] + "/otherkernel.ko"], check=True)


def is_cleared(instance):
    """Records of the last boot in INSTANCE that were cleared, by the kernel's log"""
    log = subprocess.run(["dmesg"], check=True, capture_output=True, text=True).stdout
    return [int(n) for n in re.findall(r"instance %s: (\d+) events of the previous boot are cleared" %
                                       os.path.basename(instance), log)]


def trigger(instance):
    """Have events switch recording on"""
    path = instance + "/events/sched/sched_switch/trigger"
    put(instance + "/tracing_on", "0")
    put(path, "traceon")
    until(lambda: open(instance + "/tracing_on").read() == "1\n")
    put(path, "!traceon")


def first_boot():
    come()
    os.sched_setaffinity(0, [0])
    mark(0, 10, EARLY)
    mark(0, 10, IDLE)
    enable()
    put(KEPT + "/events/sched/sched_switch/enable", "1")
    put(KEPT + "/tracing_on", "1")
    mark(0, FIRST)
    until(lambda: ledger(r"acknowledged (\d+)")[0] > FIRST)
    link("down")
    gone = probe()
    os.sched_setaffinity(0, [1])
    mark(FIRST, 2 * FIRST)
    os.sched_setaffinity(0, [0])
    end = mark(2 * FIRST, MARKS)
    # The target takes records that it cannot send any more
    until(lambda: ledger(r"(\d+) unacknowledged")[0] > MARKS // 2)
    save({"marks": MARKS, "end": end, "gone": gone})
    panic()


def second_boot(truth):
    # Events of the boot parameter have taken the place of what was left
    if sum(is_cleared(EARLY)) < 10 or marks(EARLY):
        sys.exit("early: %s cleared, has %s" % (is_cleared(EARLY), marks(EARLY)))
    mark(10, 20, EARLY)
    expect(10, 20, EARLY)
    # The other instance waits: neither events nor a user want it to record
    waits(IDLE)
    trigger(IDLE)
    waits(IDLE)
    expect(0, 10, IDLE)
    link("down")
    # Nothing changes if a target does not come so far
    os.mkdir(TARGET)
    put(TARGET + "/dev_name", "none0")
    try:
        enable()
        sys.exit("there is an interface none0")
    except OSError:
        pass
    put(TARGET + "/dev_name", "\n")
    waits()
    enable()
    # Neither another boot nor what it records may displace it
    put(KEPT + "/events/sched/sched_switch/enable", "1")
    put(KEPT + "/tracing_on", "1")
    waits()
    trigger(KEPT)
    waits()
    truth["left"] = ledger(r"last boot: (\d+) records, 0 acknowledged, 0 without")[0]
    if FULL:
        save(truth)
        panic()
    put(TARGET + "/enabled", "0")
    put(KEPT + "/tracing_on", "0")
    link("up")
    subprocess.run(["ip", "route", "replace", "default", "via", "10.0.2.2"], check=True)


def third_boot(truth):
    # It may read as 1
    expect(0, 10, IDLE)
    put(IDLE + "/tracing_on", "1")
    mark(30, 40, IDLE)
    expect(30, 40, IDLE)
    # What has not arrived when the target is disabled is there when it is enabled again
    enable("4000")
    until(lambda: ledger(r"last boot: \d+ records, (\d+)")[0] > 0)
    link("down")
    put(TARGET + "/enabled", "0")
    truth["part"] = ledger(r"last boot: \d+ records, (\d+)")[0]
    link("up")
    subprocess.run(["ip", "route", "replace", "default", "via", "10.0.2.2"], check=True)
    enable("8000")
    if ledger(r"(\d+) of absent CPUs")[0] < FIRST:
        sys.exit("the other CPU was there: " + open(TARGET + "/ledger").read())
    come()
    until(lambda: ledger(r"(\d+) of absent CPUs; nothing") == [0])
    until(lambda: ledger(r"last boot: (\d+).* of absent CPUs\n"))
    truth["sent"] = ledger(r"last boot: (\d+) records, (\d+) acknowledged, (\d+) without")
    put(KEPT + "/tracing_on", "1")
    mark(2 * MARKS, 2 * MARKS + 10)
    put(KEPT + "/tracing_on", "0")
    until(lambda: ledger(r"acknowledged (\d+)")[0] >= 10)
    put(TARGET + "/enabled", "0")
    truth["last"] = ledger(r"generated: (\d+) = lost (\d+) \+ held (\d+) \+ acknowledged (\d+)")
    if not FULL:
        save(truth)
        sys.exit()
    # What was read and has arrived is still there
    put(KEPT + "/trace", "")
    put(KEPT + "/tracing_on", "1")
    mark(3 * MARKS, 4 * MARKS)
    other_kernel()
    save(truth)
    panic()


def fourth_boot(truth):
    # What this boot records takes the place of what the last one left
    expect(3 * MARKS, 4 * MARKS)
    put(KEPT + "/tracing_on", "1")
    if sum(is_cleared(KEPT)) < MARKS:
        sys.exit("kept: %s cleared" % is_cleared(KEPT))
    mark(4 * MARKS, 4 * MARKS + 10)
    expect(4 * MARKS, 4 * MARKS + 10)
    # Clearing each CPU is not clearing
    expect(30, 40, IDLE)
    for cpu in range(os.cpu_count()):
        put(IDLE + "/per_cpu/cpu%d/trace" % cpu, "")
    expect(0, 0, IDLE)
    waits(IDLE)
    put(IDLE + "/trace", "")
    mark(40, 50, IDLE)
    expect(40, 50, IDLE)
    truth["over"] = True
    save(truth)
    panic()


def fifth_boot(truth):
    # This kernel recorded it, over what another one did
    expect(4 * MARKS, 4 * MARKS + 10)
    link("down")
    enable()
    if ledger(r"last boot: (\d+) records, 0 acknowledged")[0] < 10:
        sys.exit("not there: " + open(TARGET + "/ledger").read())
    # Who clears what a target has kept can record again
    put(KEPT + "/tracing_on", "1")
    put(TARGET + "/enabled", "0")
    expect(4 * MARKS, 4 * MARKS + 10)
    put(KEPT + "/trace", "")
    mark(5 * MARKS, 5 * MARKS + 10)
    expect(5 * MARKS, 5 * MARKS + 10)
    other_kernel()
    truth["other"] = True
    save(truth)
    panic()


def sixth_boot():
    # Events have other numbers in other kernels
    expect(5 * MARKS, 5 * MARKS + 10)
    link("down")
    enable()
    if ledger(r"last boot: (\d+) records, cleared: another kernel recorded it")[0] < 10:
        sys.exit("not cleared: " + open(TARGET + "/ledger").read())
    put(KEPT + "/tracing_on", "1")
    mark(6 * MARKS, 6 * MARKS + 10)


if not os.path.exists(TRUTH):
    first_boot()
truth = json.load(open(TRUTH))
if "left" not in truth:
    second_boot(truth)
if "last" not in truth:
    third_boot(truth)
if "over" not in truth:
    fourth_boot(truth)
if "other" not in truth:
    fifth_boot(truth)
sixth_boot()
