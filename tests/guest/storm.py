#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""All operations on charts and schedz, at once and at random, under load.

usage: storm.py DISK MODULE SECONDS SEED

Processes read from DISK, wake each other, fork and sleep; threads of MODULE fire its events.
Meanwhile each actor below repeats its operation for SECONDS.

One chart, in a separate instance, is left alone.  It must have seen every read that the disk
has counted.  All others must have accounts that add up, and must work after the storm; in the
end nothing must hold an event or the module.
"""
import ctypes
import errno
import mmap
import os
import re
import signal
import sys
import time

from actors import Failed, change_buffer, clear, hotplug, read, read_pipe, run, start, wait, without_memory, write

TRACING = "/sys/kernel/tracing"
WITNESS = TRACING + "/instances/witness"
STORMED = [TRACING, TRACING + "/instances/stormed"]
KIB = 1024

disk, module, seconds, seed = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
libc = ctypes.CDLL(None, use_errno=True)

# The judged event, and the chart's arguments
CHARTS = [
    ("sched/sched_switch", "sched_waking, pid:next_pid, dup=last"),
    ("sched/sched_switch", "storm_begin, common_pid:next_pid"),
    ("sched/sched_process_exit", "sched_process_fork, child_pid:pid"),
    ("sched/sched_process_exit", "sched_process_exec, comm"),
    ("sched/sched_stat_runtime", "runtime"),
    ("syscalls/sys_exit_read", "sys_enter_read, common_pid"),
    ("syscalls/sys_exit_clock_nanosleep", "sys_enter_clock_nanosleep, common_pid, cpu"),
    ("block/block_rq_complete", "block_bio_queue, dev, sector"),
    ("timer/hrtimer_expire_exit", "hrtimer_expire_entry, hrtimer"),
    ("storm/storm_end", "storm_begin, key"),
    ("storm/storm_end", "storm.storm_begin, key, low, name"),
    ("storm/storm_end", "sched_waking, pid:common_pid"),
    ("storm/storm_end", "key"),
]
BY = {"sched/sched_switch": "next_prio", "sched/sched_process_exit": "comm",
      "sched/sched_stat_runtime": "cpu", "storm/storm_end": "low"}
# An event that comes while the stock kernel changes to tai, which is decades ahead,
# causes its warning "Delta way too big!"
CLOCKS = sorted(set(re.findall(r"[\w-]+", open(TRACING + "/trace_clock").read())) - {"tai"})


# ---------------------------------------------------------------------------
# The load: it never ends by itself

def read_disk(rng, fd, buffer):
    os.preadv(fd, [buffer], rng.randrange(1 << 18) * 4096)


def ping_pong(to, back):
    os.write(to[1], b"x" * 8)
    os.read(back[0], 8)


def fork():
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)


def stop(*_):
    """Between two operations, so that none is interrupted."""
    global stopping
    stopping = True


stopping = False


def load(rng):
    signal.signal(signal.SIGTERM, stop)
    os.nice(15)
    buffer = mmap.mmap(-1, 4096)
    fd = os.open(disk, os.O_RDONLY | os.O_DIRECT)
    to, back = os.pipe(), os.pipe()
    echo = os.fork()
    if not echo:
        os.close(to[1])
        while os.write(back[1], os.read(to[0], 8)):
            pass
        os._exit(0)
    os.close(to[0])
    works = [lambda: read_disk(rng, fd, buffer), lambda: ping_pong(to, back), fork,
             lambda: time.sleep(rng.random() / 1000)]
    while not stopping:
        rng.choices(works, (10, 5, 1, 3))[0]()
    os.close(to[1])
    os.waitpid(echo, 0)


# ---------------------------------------------------------------------------
# The actors: each call does one thing, and returns whether it succeeded

def time_of(rng):
    return rng.choice(("1ns", "1us", "100us", "1ms", "20ms", "1s", "1h"))


def random_filter(rng):
    """Return: the judged event, and a valid filter."""
    event, args = rng.choice(CHARTS)
    pair = "," in args
    options = []
    wants = lambda p: rng.random() < p
    fixed = wants(.5)
    if fixed:
        options.append("ucl=" + (time_of(rng) if pair else rng.choice(("1", "100000"))))
    else:
        options.append(rng.choice(("learn=0", "learn=10ms", "learn=10s")))
        options.append(rng.choice(("samples=20, group=2", "samples=100", "group=10",
                                   "samples=10", "limit=quantile", "limit=median",
                                   "scale=linear", "limit=median, scale=linear")))
        if wants(.3):
            options.append("rules=" + rng.choice(("all", "2", "1,5,6")))
        if wants(.3):
            options.append("relearn=" + rng.choice(("5000", "100ms")))
    if pair:
        size = 16384
        if wants(.5):
            size = rng.choice((1, 2, 16, 300, 16384))
            options.append(f"size={size}")
        if wants(.3):
            options.append("stale=" + time_of(rng))
        if wants(.3):
            options.append("overdue=" + time_of(rng))
        if wants(.3) and "dup=" not in args:
            options.append("dup=last")
    if wants(.3):
        options.append("rate=" + rng.choice(("0", "1", "1000")))
    if wants(.2) and event in BY:
        options.append(f"by={BY[event]}, charts={rng.choice((1, 2, 8))}")
    if wants(.2):
        options.append("name=" + rng.choice("abc"))
    gated = wants(.25)
    if gated:
        options.append(rng.choice(("pre=0s", "pre=5ms", "post=1ms", "pre=1ms, post=1ms")))
        if pair and wants(.5):
            options.append("from=start")
    rng.shuffle(options)
    call = f"ctlchart({', '.join([args] + options)})"
    forms = ["{0}", "{0}", "{0} && common_pid > 0", "common_pid != 1 && {0}"]
    if not gated:
        forms += ["!{0}", "{0} || {0}", "({0} || common_pid == 1)"]
    return event, rng.choice(forms).format(call)


# The module may be unloaded; another chart may have the name; local clocks, a snapshot and
# events without nanoseconds exclude some options of filters
MAY_FAIL = ("EINVAL", "ENOENT", "ENODEV", "EBUSY")


def set_filter(rng, where):
    event, text = random_filter(rng)
    path = f"{where}/events/{event}"
    if not write(path + "/filter", text, MAY_FAIL):
        return False
    if rng.random() < .5:
        write(path + "/filter", text, MAY_FAIL)
    write(path + "/enable", "1", MAY_FAIL)
    return True


def filters(rng):
    where = rng.choice(STORMED)
    if rng.random() < .2:
        return write(f"{where}/events/{rng.choice(CHARTS)[0]}/filter", "0", MAY_FAIL)
    return set_filter(rng, where)


def commands(rng):
    path = f"{rng.choice(STORMED)}/events/{rng.choice(CHARTS)[0]}/ctlchart"
    try:
        read(path)
    except OSError as e:
        if e.errno not in (errno.ENOENT, errno.ENODEV):
            raise
        return False
    if write(path, rng.choice(("relearn", "freeze", "ucl=1ms", "ucl=1000", "relearn a",
                               "limits center=1ms ucl=2ms", "limits center=5 ucl=6")),
             MAY_FAIL + ("ENODATA", "EOPNOTSUPP")):
        return True
    # The other actors may have left no chart, and have ended
    set_filter(rng, rng.choice(STORMED))
    return False


def clocks(rng):
    return write(rng.choice(STORMED) + "/trace_clock", rng.choice(CLOCKS), ("EBUSY", "EINVAL"))


def switches(rng):
    """Events, tracing and CPUs are switched on and off; the buffer changes."""
    where = rng.choice(STORMED)
    kind = rng.randrange(8)
    if kind == 0:
        return write(where + "/events/enable", "0")
    if kind < 4:
        return write(f"{where}/events/{rng.choice(CHARTS)[0]}/enable", str(rng.randrange(2)), MAY_FAIL)
    if kind == 4:
        write(where + "/tracing_on", "0")
        time.sleep(rng.random() / 20)
        return write(where + "/tracing_on", "1")
    return change_buffer(rng, where)


def instances(rng):
    path = f"{TRACING}/instances/gone"
    os.mkdir(path)
    write(path + "/events/ctlchart/enable", "1")
    for _ in range(rng.randrange(1, 4)):
        set_filter(rng, path)
    if rng.random() < .5:
        write(path + "/trace_clock", rng.choice(CLOCKS), ("EBUSY", "EINVAL"))
    time.sleep(rng.random() / 10)
    if rng.random() < .5:
        write(path + "/events/enable", "0")
    os.rmdir(path)
    return True


def readers(rng):
    where = rng.choice(STORMED)
    if rng.random() < .8:
        return read_pipe(rng, where)
    with open(where + "/trace", errors="replace") as f:
        return f.read(256 * KIB) != ""


def splicers(rng):
    path = f"{rng.choice(STORMED)}/per_cpu/cpu{rng.randrange(4)}/trace_pipe_raw"
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    to = os.pipe()
    try:
        for _ in range(rng.randrange(1, 20)):
            try:
                n = os.splice(fd, to[1], 8 * 4 * KIB, flags=os.SPLICE_F_NONBLOCK)
            except BlockingIOError:
                n = 0
            while n > 0:
                n -= len(os.read(to[0], n))
            time.sleep(rng.random() / 50)
    finally:
        for end in (fd, *to):
            os.close(end)
    return True


def load_module():
    fd = os.open(module, os.O_RDONLY)
    try:
        if libc.syscall(313, fd, b"load=2", 0):		# finit_module
            raise Failed("loading the module: " + os.strerror(ctypes.get_errno()))
    finally:
        os.close(fd)


def unload_module(may_be_busy):
    if not libc.syscall(176, b"storm", os.O_NONBLOCK):	# delete_module
        return True
    if may_be_busy and ctypes.get_errno() in (errno.EBUSY, errno.EWOULDBLOCK):
        return False
    raise Failed("unloading the module: " + os.strerror(ctypes.get_errno()))


def modules(rng):
    """The module is unloaded and loaded again; it stays while a chart watches it."""
    if rng.random() < .5:
        for where in STORMED:
            for event, args in CHARTS:
                if "storm_begin" in args:
                    write(f"{where}/events/{event}/filter", "0", MAY_FAIL)
    gone = unload_module(True)
    if gone:
        time.sleep(rng.random() / 20)
        load_module()
    time.sleep(rng.random() / 5)
    return gone


def pinned(rng):
    """A module that is watched cannot be unloaded."""
    path = WITNESS + "/events/sched/sched_process_hang"
    if not write(path + "/filter", "ctlchart(storm_begin, common_pid, ucl=1s)", MAY_FAIL):
        return False
    if unload_module(True):
        raise Failed("the module was unloaded while a chart watched it")
    write(path + "/filter", "0")
    time.sleep(rng.random() / 2)
    return True


def pids(rng):
    """Events of some tasks only, or of all; a list in use is replaced."""
    path = rng.choice(STORMED) + "/" + rng.choice(("set_event_pid", "set_event_notrace_pid"))
    tasks = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    done = [write(path, rng.choice(("", " ".join(map(str, rng.sample(tasks, min(8, len(tasks))))))) + "\n",
                  ("ESRCH",)) for _ in range(2)]
    time.sleep(rng.random() / 10)
    clear(path)
    return any(done)


# A gate and schedz exclude each other in an instance
SCHEDZ_FAIL = ("EBUSY", "EINVAL", "ENODEV")


def schedz(rng):
    """Scheduling events become blocks by the option or the event, in all orders."""
    where = rng.choice(STORMED)
    if not os.path.exists(where + "/schedz"):
        return True
    kind = rng.randrange(5)
    if kind == 0:
        return write(where + "/options/schedz", str(rng.randrange(2)), SCHEDZ_FAIL)
    if kind == 1:
        return write(where + "/events/schedz/schedz_block/enable", str(rng.randrange(2)), SCHEDZ_FAIL)
    if kind == 2:
        event = rng.choice(("sched_switch", "sched_waking", "sched_wakeup", "sched_process_fork"))
        return write(f"{where}/events/sched/{event}/enable", str(rng.randrange(2)), MAY_FAIL)
    if kind == 3:
        write(where + "/tracing_cpumask", rng.choice(("f", "1", "a", "5")))
        time.sleep(rng.random() / 20)
        write(where + "/tracing_cpumask", "f")
        return True
    return read(where + "/schedz") != ""


WORDS = ("relearn", "freeze", "limits", "center=", "ucl=", "1ms", "-1", "0", "18446744073709551616", "99999h",
         "a", "a[0]", "[]", "zones", "ranges=", "rules=", "=", " ", "\t", "\n", "\0", "\x7f", "%s", "1" * 300)
# Whatever is wrong with a command, this error reports it
REFUSALS = ("EINVAL", "ENOENT", "ENODEV", "EBUSY", "ENODATA", "EOPNOTSUPP", "E2BIG", "ENOSPC", "ERANGE",
            "EEXIST", "ESRCH", "EPERM", "EACCES", "EIO")


def garbage(rng):
    """Write words in any order to every file of the topics."""
    where = rng.choice(STORMED)
    event = rng.choice(CHARTS)[0]
    path = where + rng.choice((f"/events/{event}/ctlchart", f"/events/{event}/ctlchart", f"/events/{event}/filter",
                               "/events/ctlchart/enable", "/events/ctlchart/ctlchart_alarm/filter",
                               "/events/ctlchart/ctlchart_limit/filter", "/events/ctlchart/ctlchart_limit/trigger",
                               "/events/schedz/schedz_block/enable", "/events/schedz/schedz_block/filter",
                               "/events/schedz/schedz_block/trigger", "/options/schedz", "/schedz"))
    text = rng.choice(("", " ")).join(rng.choice(WORDS) for _ in range(rng.randrange(1, 8)))
    if path.endswith("/filter") and rng.random() < .7:
        # A valid call with an invalid end
        text = random_filter(rng)[1][:-rng.randrange(1, 12)] + text
    if os.path.exists(path):
        write(path, text, REFUSALS)
    return True


ACTORS = [hotplug, filters, filters, filters, commands, clocks, switches, instances, readers, splicers, modules,
          pinned, pids, schedz, schedz, garbage, garbage]


# ---------------------------------------------------------------------------

def numbers(text):
    return [int(n) for n in re.findall(r"\d+", text)]


def check_accounts(path, text):
    """Every start and end of every chart in the file is accounted for."""
    charts = re.split(r"^chart: ", text, flags=re.M)[1:]
    for chart in charts:
        line = re.search(r"^starts: .*", chart, re.M)
        if not line:
            continue
        starts, *where = numbers(line[0])
        ends, *to = numbers(re.search(r"^ends: .*", chart, re.M)[0])
        learnt, judged, uncharted = numbers(re.search(r"^values: learnt.*", chart, re.M)[0])
        alarms, kept, _ = numbers(re.search(r"^alarms: .*", chart, re.M)[0])
        if (starts != sum(where) or where[-1] or ends != sum(to) or where[0] != to[0] or
                to[0] != learnt + judged + uncharted or kept > alarms or alarms > judged):
            raise Failed(f"{path}: the accounts do not add up:\nchart: {chart}")
    return len(charts)


def check_all():
    """For all charts that the storm left."""
    charts = 0
    for where in STORMED:
        write(where + "/events/enable", "0")
        for event in sorted({event for event, _ in CHARTS}):
            path = f"{where}/events/{event}/ctlchart"
            charts += check_accounts(path, read(path))
    return charts


def check_blocks(where):
    """Every event that schedz has encoded is in a block, or was refused."""
    text = read(where + "/schedz")
    line = re.search(r"^events: .*", text, re.M)
    if line:
        taken, *to = numbers(line[0])
        if taken != sum(to) or to[-1]:
            raise Failed(f"{where}/schedz: the accounts do not add up:\n{text}")


def check_working(where, pairs):
    """A chart made after the storm misses nothing."""
    path = where + "/events/storm/storm_end"
    write(where + "/snapshot", "0", ("EINVAL",))
    if os.path.exists(where + "/schedz"):
        write(where + "/options/schedz", "0")
        write(where + "/events/schedz/schedz_block/enable", "0")
        check_blocks(where)
    for event, _ in CHARTS:
        write(f"{where}/events/{event}/filter", "0")
    write(where + "/trace_clock", "mono")
    write(where + "/tracing_on", "1")
    write(where + "/tracing_cpumask", "f")
    clear(where + "/set_event_pid")
    clear(where + "/set_event_notrace_pid")
    write(path + "/filter", f"ctlchart(storm_begin, key, ucl=1h, size={pairs})")
    write(path + "/enable", "1")
    for what in "begin", "end":
        write("/sys/module/storm/parameters/fire", f"{what} 1000000000000 {pairs}")
    # The pairs of the module's own threads, which go on, have other keys
    text = read(path + "/ctlchart")
    paired = numbers(re.search(r"^starts: .*", text, re.M)[0])[1]
    if paired < pairs:
        raise Failed(f"{paired} of {pairs} pairs after the storm:\n{text}")
    write(path + "/enable", "0")
    check_accounts(path, read(path + "/ctlchart"))
    write(path + "/filter", "0")


def check_left():
    """Nothing is held by a chart that was removed."""
    for where in STORMED[1:] + [WITNESS]:
        os.rmdir(where)
    unload_module(False)
    held = [f"{d}/{e}" for d in os.listdir(TRACING + "/events") if os.path.isdir(f"{TRACING}/events/{d}")
            for e in os.listdir(f"{TRACING}/events/{d}")
            if os.path.exists(path := f"{TRACING}/events/{d}/{e}/enable") and
            (d, e) != ("ftrace", "print") and read(path).strip() != "0"]
    held = [e for e in held if not e.startswith("ctlchart/")]
    if held:
        raise Failed(f"events are still enabled: {held}")


def disk_reads():
    return int(read(f"/sys/block/{os.path.basename(disk)}/stat").split()[0])


def main():
    print(f"seed {seed}, {seconds:g} s", flush=True)
    os.mkdir(STORMED[1])
    os.mkdir(WITNESS)
    load_module()
    for where in STORMED:
        write(where + "/events/ctlchart/enable", "1")
    chart = WITNESS + "/events/block/block_rq_complete"
    write(WITNESS + "/trace_clock", "mono")
    write(chart + "/filter", "ctlchart(block_bio_queue, dev, sector, ucl=1h, stale=1h)")
    before = disk_reads()
    write(chart + "/enable", "1")

    workers = [start(load, seed * 1000 + 100 + i) for i in range(4)]
    with without_memory("ctlchart"):
        run(ACTORS, seed, seconds)
    for pid in workers:
        os.kill(pid, signal.SIGTERM)
    wait(workers)

    reads = disk_reads() - before
    text = read(chart + "/ctlchart")
    if reads == 0 or numbers(re.search(r"^starts: .*", text, re.M)[0]) != [reads, reads, 0, 0, 0, 0, 0]:
        raise Failed(f"{reads} reads by the disk's own count, but\n{text}")
    check_accounts(chart, text)
    charts = check_all()
    for where in STORMED:
        check_working(where, 10000)
    check_left()
    print(f"{reads} reads, all seen by the chart that was left alone; the accounts of {charts} others add up")


try:
    main()
except Failed as e:
    sys.exit(f"seed {seed}: {e}")
