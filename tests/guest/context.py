#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Do readers get exactly the windows of alarms with pre=, post= and from=?

usage: context.py truth OPTIONS...	the same ring buffer, read with the gate and without
       context.py live OPTIONS...	trace-cmd record, by serial numbers
       context.py storm OPTIONS...	the same, where everything alarms
       context.py busy now|always OPTIONS...	the same, with about ten alarms per second, or
       		thousands, of the module "storm", which writes the serial numbers

OPTIONS are pre=, post= and from=, for the call.  This is an independent reader of the traces:
it computes the windows from the alarm events alone.
"""
import bisect
import collections
import os
import re
import subprocess
import sys
import time

from processes import until

TRACING = "/sys/kernel/tracing"
START = TRACING + "/events/sched/sched_pi_setprio"
END = TRACING + "/events/sched/sched_process_hang"
# An alarm's window ends a moment after its event; only the kernel has the exact time.
MOMENT = 20_000_000
UCL = 5_000_000


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def read(path):
    with open(path) as f:
        return f.read()


def die(text):
    write("over", "")
    sys.stderr.write(text + "\n" + read(END + "/ctlchart"))
    sys.exit(1)


def nanoseconds(text):
    number, unit = re.fullmatch(r"(\d+)(ns|us|ms|s)", text).groups()
    return int(number) * {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}[unit]


class Windows:
    def __init__(self, options):
        settings = dict(o.split("=") for o in options)
        self.pre = nanoseconds(settings.get("pre", "0ns"))
        self.post = nanoseconds(settings.get("post", "0ns"))
        self.from_start = settings.get("from") == "start"
        self.sure, self.perhaps = [], []

    def add(self, stamp, start, duration):
        """Return: the window of the alarm event with this time stamp."""
        begin = (start if self.from_start else start + duration) - self.pre
        self.sure.append((begin, stamp + self.post))
        self.perhaps.append((begin, stamp + self.post + MOMENT))


class Merged:
    """Return: the windows, with overlapping ones merged."""

    def __init__(self, windows):
        self.begin, self.end = [], []
        for lo, hi in sorted(windows):
            if self.end and lo <= self.end[-1]:
                self.end[-1] = max(self.end[-1], hi)
            else:
                self.begin.append(lo)
                self.end.append(hi)

    def find(self, stamp):
        """Return: the number of the window that contains it, from 1; 0 if none does."""
        i = bisect.bisect_right(self.begin, stamp)
        return i if i and stamp <= self.end[i - 1] else 0


def check_late():
    """Check that no window began before what readers had already passed."""
    if not re.search(r"^windows: .* late 0, joined \d+, refused 0$", read(END + "/ctlchart"), re.M):
        die("windows came late, or were refused")


def start_writers(cpus, seconds):
    """A process on each CPU that writes serial numbers as fast as it can."""
    pids = []
    for cpu in cpus:
        pid = os.fork()
        if pid == 0:
            os.sched_setaffinity(0, {cpu})
            marker = os.open(TRACING + "/trace_marker", os.O_WRONLY)
            stop = time.monotonic() + seconds
            n = 0
            while time.monotonic() < stop:
                os.write(marker, b"serial %d %d" % (cpu, n))
                n += 1
            os._exit(0)
        pids.append(pid)
    return pids


def make_intervals(seconds, pause):
    """Make short intervals, and some above the limit. Return: the number of the latter."""
    start = os.open(START + "/inject", os.O_WRONLY)
    end = os.open(END + "/inject", os.O_WRONLY)
    stop = time.monotonic() + seconds
    slow = key = 0
    while time.monotonic() < stop:
        key += 1
        os.write(start, b"pid=%d" % key)
        if key % 8 == 0:
            time.sleep(UCL * 1.2e-9)
            slow += 1
        os.write(end, b"pid=%d" % key)
        time.sleep(pause)
    return slow


def stamps(path):
    """Return: (cpu, time stamp) of every event, in the order of each CPU."""
    write(TRACING + "/trace_options", "raw")
    events = [(int(f[1]), int(f[2])) for f in
              (line.split(None, 3) for line in read(path).splitlines()
               if not line.startswith("#")) if len(f) > 3]
    write(TRACING + "/trace_options", "noraw")
    return events


def alarms_in(path, events):
    """Return: (time stamp, start, duration) of the alarms among the events."""
    found = []
    lines = [line for line in read(path).splitlines() if line and not line.startswith("#")]
    if len(lines) != len(events):
        die(f"{len(lines)} lines and {len(events)} time stamps of one trace")
    for line, (_, stamp) in zip(lines, events):
        m = re.search(r" ctlchart_alarm: .* start=(\d+) duration=(\d+) ", line)
        if m:
            found.append((stamp, int(m[1]), int(m[2])))
    return found


def truth(options):
    seconds = 3
    write(TRACING + "/buffer_size_kb", "16384")
    for event in "sched/sched_switch", "sched/sched_waking", "irq", "timer/hrtimer_start":
        write(f"{TRACING}/events/{event}/enable", "1")
    write(END + "/filter", ", ".join(["ctlchart(sched_pi_setprio", "pid", f"ucl={UCL}ns"] + options) + ")")
    write(TRACING + "/events/ctlchart/enable", "1")
    write(END + "/enable", "1")
    write(TRACING + "/trace", "\n")
    pids = start_writers(sorted(os.sched_getaffinity(0)), seconds + 1)
    slow = make_intervals(seconds, 0.05)
    for pid in pids:
        os.waitpid(pid, 0)
    write(TRACING + "/tracing_on", "0")

    check_late()
    gated = stamps(TRACING + "/trace")
    alarms = alarms_in(TRACING + "/trace", gated)
    write(END + "/filter", "0")
    # The filter is removed, and with it the gate, so that a snapshot is possible
    write(TRACING + "/snapshot", "1")
    everything = stamps(TRACING + "/snapshot")
    lost = sum(int(re.search(r"overrun: (\d+)", read(f"{TRACING}/per_cpu/{d}/stats"))[1])
               for d in os.listdir(TRACING + "/per_cpu"))
    if lost:
        die(f"{lost} events overwritten: the ring buffer must be large enough for all")
    if len(alarms) < slow or len(alarms_in(TRACING + "/snapshot", everything)) != len(alarms):
        die(f"{len(alarms)} alarms were shown for {slow} slow intervals")

    windows = Windows(options)
    for alarm in alarms:
        windows.add(*alarm)
    # An event that interrupts the writing of another event may have its time stamp
    if collections.Counter(gated) - collections.Counter(everything):
        die("events are shown twice, or were never recorded")
    got = set(gated)
    if gated != [e for e in everything if e in got]:
        die("not in order")
    sure, perhaps = Merged(windows.sure), Merged(windows.perhaps)
    lacking = [e for e in everything if e not in got and sure.find(e[1])]
    excess = [e for e in got if not perhaps.find(e[1])]
    print(f"{' '.join(options)}: {len(everything)} events, {len(got)} shown, {len(alarms)} alarms, "
          f"{len(lacking)} lacking, {len(excess)} in excess")
    if lacking or excess:
        die(f"lacking {lacking[:5]}\nexcess {sorted(excess)[:5]}\nwindows {windows.sure[:5]}")
    if not 2 * len(got) < len(everything):
        die("the windows cover more than half: too much to prove anything")


def start_recording(ucl, options, start="sched_pi_setprio, pid", also=()):
    """Run stock trace-cmd, and wait until it records; it does until recorded()."""
    call = ", ".join([f"ctlchart({start}", f"ucl={ucl}ns"] + options) + ")"
    event = ":".join(END.split("/")[-2:])
    recorder = subprocess.Popen(
        ["trace-cmd", "record", "-o", "live.dat", "-b", "8192", "-e", event,
         "-f", call, "-e", "ctlchart", *also,
         "sh", "-c", "until [ -e over ]; do sleep 0.1; done"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: read(END + "/ctlchart").startswith("chart:") and read(TRACING + "/tracing_on") != "0\n"
          and read(END + "/enable").startswith("1"), "trace-cmd records")
    return recorder


def recorded(recorder):
    write("over", "")
    if recorder.wait():
        die("trace-cmd record failed")
    os.unlink("over")
    return subprocess.run(["trace-cmd", "report", "-t", "-N", "live.dat"], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def storm(options):
    """Every interval alarms, on every CPU, at the highest rate, until the ring buffer is full."""
    recorder = start_recording(1, options)
    pids = []
    for cpu in sorted(os.sched_getaffinity(0)):
        pid = os.fork()
        if pid == 0:
            os.sched_setaffinity(0, {cpu})
            start = os.open(START + "/inject", os.O_WRONLY)
            end = os.open(END + "/inject", os.O_WRONLY)
            stop = time.monotonic() + 4
            for n in range(20000):
                if n > 300 and time.monotonic() > stop:
                    break
                key = cpu << 24 | n
                os.write(start, b"pid=%d" % key)
                os.write(end, b"pid=%d" % key)
            os._exit(0)
        pids.append(pid)
    for pid in pids:
        os.waitpid(pid, 0)
    check_late()
    account = int(re.search(r"^alarms: (\d+)", read(END + "/ctlchart"), re.M)[1])
    report = recorded(recorder)
    alarms = report.count(" ctlchart_alarm: ")
    events = report.count(" sched_process_hang: ")
    dropped = report.count("EVENTS DROPPED")
    print(f"{' '.join(options)}: {account} alarms, {alarms} recorded, with {events} events, "
          f"{dropped} times dropped")
    if account < 300 * len(pids) or alarms != account or events != account or dropped:
        die("not all of them were recorded")


class Serials:
    """The serial numbers in a recording, and the windows of its alarms."""

    def __init__(self, report, options):
        self.windows = Windows(options)
        self.seen = collections.defaultdict(list)
        self.alarms = self.dropped = 0
        gap = {}
        for line in report.splitlines():
            m = re.match(r"CPU:(\d+) \[.*EVENTS DROPPED\]", line)
            if m:
                gap[int(m[1])] = True
                self.dropped += 1
                continue
            m = re.search(r" \[(\d+)\] +(\d+)\.(\d{9}): +(\S+): +(.*)", line)
            if not m:
                continue
            cpu, stamp = int(m[1]), int(m[2]) * 10**9 + int(m[3])
            if m[4] == "ctlchart_alarm":
                a = re.search(r" start=(\d+) duration=(\d+) ", " " + m[5])
                self.windows.add(stamp, int(a[1]), int(a[2]))
                self.alarms += 1
            elif m[4] in ("print", "storm_serial"):
                n = int(re.search(r"(\d+)$", m[5])[1])
                self.seen[cpu].append((n, stamp, gap.pop(cpu, False)))
        self.events = sum(map(len, self.seen.values()))

    def check(self):
        """Within the windows nothing is lost, unless it is reported; outside there is nothing."""
        windows, perhaps = Merged(self.windows.sure), Merged(self.windows.perhaps)
        for cpu, seen in self.seen.items():
            for (n, t, _), (m, u, told) in zip(seen, seen[1:]):
                if m <= n or u < t:
                    die(f"cpu {cpu}: serial {m} at {u} comes after {n} at {t}")
                # A window that contains both contains all between them
                if m > n + 1 and not told and windows.find(t) and windows.find(t) == windows.find(u):
                    die(f"cpu {cpu}: serials {n + 1} to {m - 1} are missing between {t} and {u}")
            for n, t, _ in seen:
                if not perhaps.find(t):
                    die(f"cpu {cpu}: serial {n} at {t} is in no window")
        # At the edges: a CPU that writes all the time has a serial number near each begin. A busy host
        # may stop a CPU for more than half a second.
        for lo, hi in zip(windows.begin, windows.end):
            for cpu, seen in self.seen.items():
                if seen[0][1] < lo < seen[-1][1] and hi - lo > 5_000_000:
                    _, first, told = seen[bisect.bisect_left(seen, lo, key=lambda s: s[1])]
                    if first - lo > 2_000_000_000 and not told:
                        die(f"cpu {cpu}: nothing for {first - lo} ns after {lo}")


def live(options):
    recorder = start_recording(UCL, options)
    pids = start_writers(sorted(os.sched_getaffinity(0)), 6)
    slow = make_intervals(5, 0.1)
    for pid in pids:
        os.waitpid(pid, 0)
    check_late()
    serials = Serials(recorded(recorder), options)
    written = sum(seen[-1][0] for seen in serials.seen.values())
    print(f"{' '.join(options)}: about {written} serials written, {serials.events} recorded, "
          f"{serials.alarms} alarms, {serials.dropped} times dropped")
    if serials.alarms < slow or not serials.events:
        die(f"{serials.alarms} alarms of {slow} slow intervals")
    if serials.dropped:
        die("events were dropped")
    serials.check()


def write_serials(seconds):
    """The module's serial numbers on all CPUs; the file "offered" has the number per second."""
    pid = os.fork()
    if pid:
        return pid
    begin = now = time.monotonic()
    first, step = 0, 20000
    while now < begin + seconds:
        write("/sys/module/storm/parameters/fire", f"serial {first} {step}")
        first += step
        now = time.monotonic()
    write("offered", str(round(first * os.cpu_count() / (now - begin))))
    os._exit(0)


def busy(options):
    """At the highest rate of events from a module: about ten alarms per second, or alarms all the time."""
    global END
    which, *options = options
    load = ["-e", "storm:storm_serial"]
    if which == "always":
        END = TRACING + "/events/storm/storm_end"
        recorder = start_recording(1, options, "storm_begin, key", load)
    else:
        recorder = start_recording(UCL, options, also=load)
    pid = write_serials(5)
    if which == "always":
        time.sleep(5)
    else:
        make_intervals(5, 0.01)
    os.waitpid(pid, 0)
    check_late()
    account = int(re.search(r"^alarms: (\d+)", read(END + "/ctlchart"), re.M)[1])
    serials = Serials(recorded(recorder), options)
    print(f"{' '.join(options)}: {read('offered')} serials per second offered, {serials.events} recorded, "
          f"{account / 5:.0f} alarms a second, {serials.dropped} times dropped")
    if not serials.dropped and serials.alarms < account:
        die(f"{serials.alarms} of {account} alarms recorded")
    if not serials.events:
        die("nothing was recorded")
    serials.check()


{"truth": truth, "live": live, "storm": storm, "busy": busy}[sys.argv[1]](sys.argv[2:])
