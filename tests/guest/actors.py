# SPDX-License-Identifier: GPL-2.0
"""Actors of the storms: processes that do operations at random, all at once.

Each actor repeats its operation until the time is over and all actors have succeeded at least
once: what one actor switches off, another one has to switch on again.  Failures that may
happen are named; any other error ends the storm.
"""
import contextlib
import errno
import mmap
import os
import random
import re
import select
import sys
import time
import traceback

# s, after the storm, in which an actor must have succeeded once
PATIENCE = 60 * int(os.environ.get("TRACERIG_TIMEOUT_SCALE", "1"))


# Functions of one directory are not as far apart (bytes)
FAR = 0x40000

# Allocations of a topic fail: see without_memory()
failing = False


class Failed(Exception):
    pass


def write(path, text, may_fail=()):
    """Return: true if it was written; false if it failed in a way that it may."""
    try:
        fd = os.open(path, os.O_WRONLY)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)
    except OSError as e:
        # Some error numbers have two names
        if e.errno in [getattr(errno, name) for name in may_fail] or failing and e.errno == errno.ENOMEM:
            return False
        raise Failed(f"{text!r} to {path}: {e.strerror}") from e
    return True


def read(path):
    with open(path) as f:
        return f.read()


def clear(path):
    """Empty a list of PIDs or a buffer, which what is written is only added to."""
    os.close(os.open(path, os.O_WRONLY | os.O_TRUNC))


def start(function, seed):
    """Run FUNCTION in a new process, with random numbers from SEED."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        function(random.Random(seed))
        status = 0
    except BaseException:
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(status)


def wait(pids):
    failed = [pid for pid in pids if os.waitpid(pid, 0)[1]]
    if failed:
        raise Failed(f"{len(failed)} processes failed")


def act(function, number, succeeded, rng, seconds):
    """succeeded: a byte for each actor, shared by all; one that fails stops no other"""
    begin = time.monotonic()
    tries = done = 0
    try:
        while 0 in succeeded[:] or time.monotonic() < begin + seconds:
            tries += 1
            try:
                done += function(rng)
            except OSError as e:
                if not failing or e.errno != errno.ENOMEM:
                    raise
            succeeded[number] = min(done, 1)
            if not done and time.monotonic() > begin + seconds + PATIENCE:
                raise Failed(f"not once in {tries} tries")
            time.sleep(rng.random() / 100)
    except Failed as e:
        raise Failed(f"{function.__name__}: {e}") from e
    finally:
        succeeded[number] = 1
    print(f"{function.__name__}: {done} of {tries}", flush=True)


def stop_fair_servers():
    """Let no fair server run, which Linux 6.12 warns about when its CPU goes

    A server that runs is one of the CPU's tasks, of which only the stopper may be left then, and
    one that was stopped is stopped again, so that its bandwidth is subtracted twice.  To write the
    file stops it, too: it has not been stopped while a task of its CPU runs, as this one does.
    """
    cpus = os.sched_getaffinity(0)
    for cpu in cpus:
        path = f"/sys/kernel/debug/sched/fair_server/cpu{cpu}/runtime"
        if os.path.exists(path):
            os.sched_setaffinity(0, {cpu})
            write(path, "0")
    os.sched_setaffinity(0, cpus)


def wait_longer():
    """On the debug kernel, let tasks wait for a mutex of tracing as long as they have to

    To enable the events of all system calls takes a minute there, and others wait in turn.
    """
    if os.path.exists("/sys/kernel/debug/kmemleak"):
        scale = int(os.environ.get("TRACERIG_TIMEOUT_SCALE", "1"))
        write("/proc/sys/kernel/hung_task_timeout_secs", str(120 * scale))


def run(actors, seed, seconds):
    """Each call of an actor does one thing, and returns whether it came about."""
    stop_fair_servers()
    wait_longer()
    succeeded = mmap.mmap(-1, len(actors))
    wait([start(lambda rng, i=i: act(actors[i], i, succeeded, rng, seconds), seed * 1000 + i)
          for i in range(len(actors))])


def kernel_symbols():
    symbols = {}
    with open("/proc/kallsyms") as f:
        for line in f:
            address, _, name = line.split()[:3]
            symbols.setdefault(name, int(address, 16))
    return symbols


def function(name):
    """Where the kernel has a function, and where the next one begins"""
    symbols = kernel_symbols()
    return symbols[name], min(address for address in symbols.values() if address > symbols[name])


def functions(topic):
    """Where the kernel has the code of kernel/trace/TOPIC: the first and the last function

    Functions with the topic's prefix are in mainline's files, too, but not many, and far away.
    """
    symbols = kernel_symbols()
    code = sorted(address for name, address in symbols.items()
                  if re.fullmatch(topic + r"_\w+", name) and symbols["_stext"] < address < symbols["_etext"])
    parts = [[code[0]]]
    for address in code[1:]:
        if address - parts[-1][-1] > FAR:
            parts.append([])
        parts[-1].append(address)
    most = max(parts, key=len)
    return most[0], most[-1]


@contextlib.contextmanager
def without_memory(topic, spared=None):
    """One in twenty of the allocations made below a function of the topic fails, if the kernel can do that.

    None fails below the function SPARED.
    """
    global failing
    kinds = ["/sys/kernel/debug/" + name for name in ("failslab", "fail_page_alloc")]
    if os.path.exists(kinds[0] + "/require-start"):
        begin, end = functions(topic)
        spare, behind = function(spared) if spared else (0, 0)
        # Which allocations, before how many of them fail
        settings = {"verbose": 0, "ignore-gfp-wait": "N",
                    "require-start": f"{begin:#x}", "require-end": f"{end:#x}",
                    "reject-start": f"{spare:#x}", "reject-end": f"{behind:#x}", "times": -1, "probability": 5}
        for kind in kinds:
            for name, value in settings.items():
                write(f"{kind}/{name}", str(value))
        write(kinds[1] + "/min-order", "0")
        failing = True
        print(f"allocations of {topic} fail", flush=True)
    try:
        yield
    finally:
        if failing:
            for kind in kinds:
                write(kind + "/probability", "0")
        failing = False


# ---------------------------------------------------------------------------
# Actors, and parts of actors, of several storms

def hotplug(rng):
    cpu = f"/sys/devices/system/cpu/cpu{rng.randrange(1, os.cpu_count() or 1)}/online"
    if not write(cpu, "0", ("EBUSY",)):
        return False
    time.sleep(rng.random() / 5)
    write(cpu, "1")
    return True


def change_buffer(rng, where):
    """Resize the buffer, empty it, or take a snapshot."""
    kind = rng.randrange(3)
    if kind == 0:
        return write(where + "/buffer_size_kb", rng.choice(("8", "100", "1000")), ("EBUSY", "ENOMEM"))
    if kind == 1:
        clear(where + "/trace")
        return True
    return (write(where + "/snapshot", "1", ("EBUSY", "EINVAL", "ENOMEM")) and
            write(where + "/snapshot", "0", ("EBUSY",)))


def read_pipe(rng, where):
    """Read trace_pipe or trace_pipe_raw for a moment."""
    raw = rng.random() < .5
    path = f"{where}/per_cpu/cpu{rng.randrange(4)}/trace_pipe_raw" if raw else where + "/trace_pipe"
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    got = 0
    try:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        end = time.monotonic() + rng.random() / 5
        while time.monotonic() < end:
            if not poll.poll(20):
                continue
            try:
                got += len(os.read(fd, 4096 if raw else 65536))
            except BlockingIOError:
                pass
    finally:
        os.close(fd)
    return got > 0
