#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Everything that can be done to lbrprof, at once and at random.

usage: lbrprof_storm.py SECONDS SEED

The accounts of each CPU add up whenever the sampler is off.  In the end an instance has as many
samples as lbrprof has counted, on all CPUs, and the LBR, if there is one, is free for perf.
"""
import ctypes
import errno
import mmap
import os
import re
import signal
import struct
import subprocess
import sys
import threading
import time

from actors import (PATIENCE, Failed, change_buffer, clear, hotplug, read, read_pipe, run, start, wait, without_memory,
                    write)

TRACING = "/sys/kernel/tracing"
SAMPLER = TRACING + "/lbrprof"
STORMED = [TRACING, TRACING + "/instances/stormed"]
SAMPLE = "events/lbrprof/lbrprof_sample"
SYSCTLS = ["/proc/sys/kernel/perf_cpu_time_max_percent", "/proc/sys/kernel/perf_event_paranoid"]
PERF_EVENT_OPEN = 298

seconds, seed = float(sys.argv[1]), int(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)

# EINVAL: more samples a second than perf allows, or a space that a counter does not have
REFUSALS = ("EBUSY", "ENODEV", "EINVAL", "ENOMEM", "EOPNOTSUPP", "ENOENT", "ENOSPC")


# ---------------------------------------------------------------------------
# The sampler

VALUES = {
    "period": ["20000", "100000", "1000000"],
    "frequency": ["1000", "10000"],
    "space": ["user", "kernel", "both"],
    "branches": ["call", "return", "both"],
    "to": ["0", "1"],
    "cycles": ["0", "0", "1"],
    "switch": ["0", "1"],
    "calls_event": ["0", "0x2c4", "0xffff"],
    "returns_event": ["0", "0x8c4"],
    "cpus": ["all", "all", "0", "1", "1-3"],
    "pids": ["all", "all", "1", "1 2"],
}
DEFAULTS = {"period": "1000000", "space": "user", "branches": "both", "to": "0", "cycles": "0", "switch": "0",
            "calls_event": "0", "returns_event": "0", "cpus": "all", "pids": "all"}
WORDS = ("0", "-1", "999", "18446744073709551616", "both user", "user\0", "a" * 300, "", " ", "9999", "1-", "0-99999", "%s",
         "4194305", "\n")


def settings(rng):
    name = rng.choice(sorted(VALUES))
    return write(f"{SAMPLER}/{name}", rng.choice(VALUES[name]), ("EBUSY",))


def garbage(rng):
    write(f"{SAMPLER}/{rng.choice(sorted(VALUES))}", "".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 4))),
          ("EBUSY", "EINVAL", "ERANGE", "ESRCH", "EOVERFLOW"))
    return True


def own_pid(rng):
    """Also while the sampler is off: the events of mappings look at it."""
    return write(SAMPLER + "/pids", str(os.getpid()), ("EBUSY",)) and write(SAMPLER + "/pids", "all", ("EBUSY",))


def samples(rng):
    path = f"{rng.choice(STORMED)}/{SAMPLE}/enable"
    if not write(path, "1", REFUSALS):
        return False
    time.sleep(rng.random() / 2)
    return write(path, "0")


def events(rng):
    name = rng.choice(("lbrprof_map/", "lbrprof_task/", ""))
    return write(f"{rng.choice(STORMED)}/events/lbrprof/{name}enable", rng.choice("01"), REFUSALS)


def accounts(text):
    """Return: the counts of each CPU, by name"""
    return {line[1]: {name: int(number) for name, number in re.findall(r" (\w+)=(\d+)", line[0])}
            for line in re.finditer(r"^(cpu\d+): .*", text, re.M)}


def check_off(text):
    for cpu, c in accounts(text).items():
        if c["overflows"] + c["switches"] != c["samples"] + c["others"]:
            raise Failed(f"{cpu}: the accounts do not add up:\n{text}")


def status(rng):
    text = read(SAMPLER + "/status")
    if text.startswith("state: off"):
        check_off(text)
    for name in rng.sample(sorted(VALUES), 3):
        read(f"{SAMPLER}/{name}")
    # It is seldom off between others' samples; check_left() looks at it then in any case
    return True


# ---------------------------------------------------------------------------
# What else there is

INHERIT, PINNED, EXCLUSIVE, EXCLUDE_KERNEL, FREQ = 2, 4, 8, 32, 1024
HARDWARE, SOFTWARE, CYCLES, INSTRUCTIONS, CPU_CLOCK = 0, 1, 0, 1, 0
BRANCH_STACK, ANY_BRANCH_OF_USER = 1 << 11, 1 | 1 << 3
MAY_FAIL = (errno.ENOENT, errno.EOPNOTSUPP, errno.EBUSY, errno.EINVAL, errno.ENODEV, errno.ENOMEM, errno.ENOSPC)


def perf_open(kind, config, period, branches, flags, cpu):
    """Return: a descriptor, or a negative errno"""
    # struct perf_event_attr, PERF_ATTR_SIZE_VER2
    attr = struct.pack("=IIQQQQQIIQQQ", kind, 80, config, period, BRANCH_STACK if branches else 1, 0, flags, 0, 0, 0, 0,
                       ANY_BRANCH_OF_USER if branches else 0)
    fd = libc.syscall(PERF_EVENT_OPEN, ctypes.create_string_buffer(attr, 80), 0 if cpu < 0 else -1, cpu, -1, 8)
    return fd if fd >= 0 else -ctypes.get_errno()


def perf(rng):
    """Other users of counters and of the LBR, of the whole CPU or of a task and its children"""
    kind, config = rng.choice(((HARDWARE, CYCLES), (HARDWARE, CYCLES), (HARDWARE, INSTRUCTIONS), (SOFTWARE, CPU_CLOCK)))
    branches = kind == HARDWARE and rng.random() < .7
    flags = EXCLUDE_KERNEL | rng.choice((0, 0, PINNED, EXCLUSIVE, FREQ))
    cpu = rng.choice((-1, 0, 1, 2, 3))
    if cpu < 0:
        flags |= rng.choice((0, INHERIT))
    fds = []
    try:
        for _ in range(rng.choice((1, 1, 6))):
            fd = perf_open(kind, config, rng.choice((0, 20000, 1000000)), branches, flags, cpu)
            if fd >= 0:
                fds.append(fd)
            elif -fd not in MAY_FAIL:
                raise Failed(f"perf_event_open: {os.strerror(-fd)}")
        end = time.monotonic() + rng.random() / 5
        while time.monotonic() < end:
            if flags & INHERIT:
                wait([start(lambda rng: None, 0)])
        # One of all children cannot be mapped
        if fds and not flags & INHERIT and rng.random() < .5:
            mmap.mmap(fds[0], 3 * mmap.PAGESIZE).close()
    finally:
        for fd in fds:
            os.close(fd)
    return bool(fds)


def programs(rng):
    """Processes, threads and mappings come and go."""
    what = rng.randrange(3)
    if what == 0:
        subprocess.run(["true"], check=True)
    elif what == 1:
        threads = [threading.Thread(target=lambda: sum(range(10000))) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    else:
        for _ in range(20):
            mmap.mmap(-1, 1 << 20, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()
    return True


TRIGGERS = ("stacktrace:5", "hist:keys=nr", "traceoff:1", "snapshot:2")


def remove_trigger(path, trigger):
    write(path + "trigger", "!" + trigger, ("ENOENT", "EINVAL", "EBUSY"))


def filters(rng):
    path = f"{rng.choice(STORMED)}/{SAMPLE}/"
    if rng.random() < .5:
        return write(path + "filter", rng.choice(("nr > 3", "calls == 0", "comm ~ \"p*\"", "0")), ("EINVAL", "ENOMEM"))
    trigger = rng.choice(TRIGGERS)
    # EPERM: a hist trigger cannot enable its event
    done = write(path + "trigger", trigger, REFUSALS + ("EEXIST", "EPERM"))
    time.sleep(rng.random() / 10)
    remove_trigger(path, trigger)
    return done


def switches(rng):
    where = rng.choice(STORMED)
    if rng.random() < .5:
        return write(where + "/tracing_on", "1" if rng.random() < .7 else "0")
    return write(f"{where}/options/{rng.choice(('stacktrace', 'userstacktrace'))}", "1" if rng.random() < .3 else "0",
                 ("EINVAL",))


def event_pids(rng):
    where = rng.choice(STORMED)
    write(where + "/set_event_pid", rng.choice(("1\n", f"{os.getpid()}\n")))
    time.sleep(rng.random() / 10)
    clear(where + "/set_event_pid")
    return True


def buffers(rng):
    return change_buffer(rng, rng.choice(STORMED))


def readers(rng):
    return read_pipe(rng, rng.choice(STORMED))


def instances(rng):
    path = TRACING + "/instances/gone"
    os.mkdir(path)
    write(f"{path}/events/lbrprof/{rng.choice(('', 'lbrprof_map/', 'lbrprof_sample/'))}enable", "1", REFUSALS)
    time.sleep(rng.random() / 2)
    os.rmdir(path)
    return True


ACTORS = [settings, settings, settings, garbage, own_pid, samples, samples, samples, events, status, perf, perf, programs,
          filters, switches, event_pids, buffers, readers, instances, hotplug]


# ---------------------------------------------------------------------------

def spin(cpu):
    os.sched_setaffinity(0, {cpu})
    while True:
        pass


def entries(where):
    """Return: records that the ring buffer has or had"""
    cpus = [read(f"{where}/per_cpu/{name}/stats") for name in os.listdir(where + "/per_cpu")]
    return sum(int(number) for text in cpus for number in re.findall(r"^(?:entries|overrun): (\d+)", text, re.M))


def counted(name):
    return {cpu: c[name] for cpu, c in accounts(read(SAMPLER + "/status")).items()}


def check_samples():
    """A new instance has all samples of all CPUs, as many as lbrprof says that it has written."""
    after = TRACING + "/instances/after"
    os.mkdir(after)
    write(f"{after}/buffer_size_kb", "4096")
    before = counted("written")

    def written():
        return {cpu: number - before.get(cpu, 0) for cpu, number in counted("written").items()}

    write(f"{after}/{SAMPLE}/enable", "1")
    pids = [start(lambda rng, cpu=cpu: spin(cpu), 0) for cpu in range(os.cpu_count())]
    end = time.monotonic() + PATIENCE
    while min(written().values()) < 5 and time.monotonic() < end:
        time.sleep(.1)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    write(f"{after}/{SAMPLE}/enable", "0")
    made = written()
    if len(made) < os.cpu_count() or min(made.values()) < 5:
        raise Failed("too few samples:\n" + read(SAMPLER + "/status"))
    if sum(made.values()) != entries(after):
        raise Failed(f"{made} samples are counted, {entries(after)} are there")
    os.rmdir(after)
    return sum(made.values())


def default_settings(may_fail=()):
    for name, value in DEFAULTS.items():
        write(f"{SAMPLER}/{name}", value, may_fail)


def check_left():
    for where in STORMED:
        # Without memory some may not have been removed
        for trigger in TRIGGERS:
            remove_trigger(f"{where}/{SAMPLE}/", trigger)
        write(where + "/events/enable", "0")
        # New instances have them as the main one
        write(where + "/options/stacktrace", "0")
        write(where + "/options/userstacktrace", "0")
    text = read(SAMPLER + "/status")
    if not text.startswith("state: off"):
        raise Failed("the sampler goes on:\n" + text)
    check_off(text)
    default_settings()
    for where in STORMED[1:]:
        os.rmdir(where)
    if "lbr: none" not in text:
        fd = perf_open(HARDWARE, CYCLES, 100000, True, EXCLUDE_KERNEL, 0)
        if fd < 0:
            raise Failed(f"perf has no LBR: {os.strerror(-fd)}")
        os.close(fd)


def main():
    print(f"seed {seed}, {seconds:g} s", flush=True)
    before = [read(path) for path in SYSCTLS]
    try:
        for path in SYSCTLS:
            write(path, "0")
        for where in STORMED[1:]:
            os.mkdir(where)
        with without_memory("lbrprof"):
            run(ACTORS, seed, seconds)
        check_left()
        print(f"all of {check_samples()} samples after the storm are there")
    finally:
        for path, text in zip(SYSCTLS, before):
            write(path, text)
        # Those of a sampler that is on are refused
        default_settings(("EBUSY",))


try:
    main()
except Failed as e:
    sys.exit(f"seed {seed}: {e}")
