#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Everything that can be done to iosys, at once and at random, beside hostile programs.

usage: iosys_storm.py EH-FRAME-OFFSET EH-FRAME-SIZE SECONDS SEED

The programs hostile and uringstream and the library object.so, whose .eh_frame is there,
are in the working directory.

A witness reads a file of its own, and an instance that is left alone records its calls:
each of them has to be in the ring, overwritten, or counted as dropped, and what is in the
ring has the witness' file. In the end all calls are accounted for, and all memory is freed.
"""
import ctypes
import mmap
import os
import re
import resource
import select
import signal
import subprocess
import sys
import time

from actors import PATIENCE, Failed, change_buffer, hotplug, read, read_pipe, run, start, wait, without_memory, write

TRACING = "/sys/kernel/tracing"
WITNESS = TRACING + "/instances/witness"
STORMED = [TRACING, TRACING + "/instances/stormed"]
EVENTS = [name for name in os.listdir(TRACING + "/events/iosys") if name.startswith("io_")]
CALLS = [name for name in EVENTS if name not in ("io_stack", "io_map")]
UNPRIVILEGED = 65534

eh_frame = slice(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2]))
seconds, seed = float(sys.argv[3]), int(sys.argv[4])
libc = ctypes.CDLL(None, use_errno=True)
with open("object.so", "rb") as library:
    OBJECT = library.read()


# ---------------------------------------------------------------------------
# The hostile programs: none of them ends by itself

stopping = False


def stop(*_):
    global stopping
    stopping = True


def hostile(function):
    """FUNCTION again and again, as an unprivileged user, in a directory of its own."""
    def program(rng):
        signal.signal(signal.SIGTERM, stop)
        os.nice(15)
        directory = f"/tmp/hostile.{os.getpid()}"
        os.mkdir(directory)
        os.chown(directory, UNPRIVILEGED, UNPRIVILEGED)
        os.setgroups([])
        os.setresgid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
        os.setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
        while not stopping:
            function(rng, directory)
    program.__name__ = function.__name__
    return program


def child(function):
    """What FUNCTION does to its process, also its end, is no error."""
    pid = os.fork()
    if not pid:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            function()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


# System calls of x86-64 that iosys knows, and those that give them something to work with
NUMBERS = [0, 1, 2, 3, 7, 17, 18, 19, 20, 23, 26, 40, 41, 42, 43, 44, 45, 46, 47, 53, 73, 74, 75, 76, 77, 85, 162,
           213, 232, 257, 270, 271, 275, 276, 277, 278, 281, 285, 288, 291, 293, 295, 296, 299, 306, 307, 326, 327,
           328, 437, 441]


def random_calls(rng, _):
    """With descriptors of all kinds and pointers that are right, wrong, or nearly right."""
    def calls():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        memory = mmap.mmap(-1, 4 * mmap.PAGESIZE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        values = [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 4096, -1, -100, address, address + 4 * mmap.PAGESIZE - 1, 1 << 47,
                  (1 << 64) - 4096, 1 << 31, 0x7fffffff]
        signal.setitimer(signal.ITIMER_REAL, .5)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        while True:
            memory[:64] = rng.randbytes(64)
            libc.syscall(rng.choice(NUMBERS), *(ctypes.c_ulong(rng.choice(values)) for _ in range(6)))
    child(calls)


def damaged_objects(rng, directory):
    """The table of a library is made from its .eh_frame, and stacks go through it."""
    damaged = bytearray(OBJECT)
    for _ in range(rng.randrange(1, 6)):
        damaged[rng.randrange(eh_frame.start, eh_frame.stop)] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
    path = directory + "/damaged.so"
    with open(path, "wb") as f:
        f.write(damaged[:rng.choice((len(damaged), len(damaged), rng.randrange(eh_frame.start, len(damaged))))])
    # The program may die of it
    subprocess.run(["./hostile", "objects", path, "2"], stderr=subprocess.DEVNULL, check=False)


def damaged_maps(rng, directory):
    """Maps and unmaps files that are damaged anywhere, cut off, or change while they are read."""
    path = directory + "/map"
    with open(path, "wb") as f:
        damaged = bytearray(OBJECT)
        for _ in range(rng.randrange(20)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        f.write(damaged)
    fd = os.open(path, os.O_RDWR)
    with mmap.mmap(fd, len(OBJECT), mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC):
        time.sleep(rng.random() / 50)
        os.pwrite(fd, rng.randbytes(64), rng.randrange(len(OBJECT)))
        os.ftruncate(fd, rng.randrange(len(OBJECT)))
    os.close(fd)


def stacks(rng, _):
    subprocess.run(["./hostile", "stacks", str(rng.randrange(1 << 28)), "300", "2"], check=True)


def files_and_sockets(rng, _):
    what = rng.choice((["files", "object.so", "300"], ["sockets", "100"]))
    subprocess.run(["./hostile", *what], check=True)


def killed_requests(rng, _):
    """io_uring and aio requests are in flight when their process is killed."""
    with subprocess.Popen(["./uringstream"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        time.sleep(rng.random() / 2)
        process.kill()


def memory_pressure(rng, _):
    """Takes what is free, so that pages of mapped files have to be read again."""
    def fill():
        with open("/proc/self/oom_score_adj", "w") as f:
            f.write("1000")
        available = int(re.search(r"MemAvailable: *(\d+)", read("/proc/meminfo"))[1]) * 1024
        with mmap.mmap(-1, max(available - (96 << 20), mmap.PAGESIZE)) as memory:
            for at in range(0, len(memory), mmap.PAGESIZE):
                memory[at] = 1
    child(fill)
    time.sleep(rng.random())


def forks(rng, _):
    subprocess.run([rng.choice(("/bin/true", "/bin/false"))], check=False)


HOSTILE = [random_calls, random_calls, damaged_objects, damaged_maps, stacks, files_and_sockets, killed_requests,
           memory_pressure, forks]


# ---------------------------------------------------------------------------
# The actors

FILTERS = ["0", 'name ~ "*object*"', "duration > 1000", 'name ~ "*:*" || bytes > 10', "stack != 0",
           "ctlchart(duration, ucl=1000000)", "ctlchart(duration, by=type, samples=10, learn=0)"]
MAY_FAIL = ("EINVAL", "ENOENT", "ENODEV", "EBUSY", "ENOMEM")


def events(rng):
    where = f"{rng.choice(STORMED)}/events/iosys/"
    if rng.random() < .2:
        return write(where + "enable", str(rng.randrange(2)), ("ENOMEM",))
    return write(f"{where}{rng.choice(EVENTS)}/enable", str(rng.randrange(2)), ("ENOMEM",))


def filters(rng):
    return write(f"{rng.choice(STORMED)}/events/iosys/{rng.choice(CALLS)}/filter", rng.choice(FILTERS), MAY_FAIL)


TRIGGERS = ("hist:keys=op:vals=bytes", "traceoff:1 if duration > 1000000000", "stacktrace:5")


def triggers(rng):
    path = f"{rng.choice(STORMED)}/events/iosys/{rng.choice(CALLS)}/trigger"
    trigger = rng.choice(TRIGGERS)
    # EPERM: a hist trigger cannot enable its event
    done = write(path, trigger, MAY_FAIL + ("EEXIST", "EPERM"))
    time.sleep(rng.random() / 20)
    write(path, "!" + trigger, MAY_FAIL)
    return done


def looks(rng):
    """Whole files, and their beginnings"""
    for name in "iosys", "iosys_stacks":
        with open(f"{TRACING}/{name}", errors="replace") as f:
            if not f.read(rng.choice((1, 100, 5000, -1))):
                return False
    return True


def instances(rng):
    path = TRACING + "/instances/gone"
    os.mkdir(path)
    write(path + "/events/iosys/enable", "1", ("ENOMEM",))
    time.sleep(rng.random() / 10)
    os.rmdir(path)
    return True


def buffers(rng):
    return change_buffer(rng, rng.choice(STORMED))


def readers(rng):
    return read_pipe(rng, rng.choice(STORMED))


WORDS = ("name", "~", "==", '"*"', "duration", ">", "0", "-1", "18446744073709551616", "&&", "||", "(", ")", "!",
         "stack", "stream", "op", " ", "\n", "\0", "%s", "a" * 300, "ctlchart(", "hist:keys=", "name.syscall", ":")
REFUSALS = MAY_FAIL + ("E2BIG", "ENOSPC", "ERANGE", "EEXIST", "ESRCH", "EPERM", "EACCES", "EIO", "EOPNOTSUPP")


def garbage(rng):
    name = rng.choice(("enable", "filter", "trigger", "filter"))
    text = rng.choice(("", " ")).join(rng.choice(WORDS) for _ in range(rng.randrange(1, 8)))
    write(f"{rng.choice(STORMED)}/events/iosys/{rng.choice(EVENTS)}/{name}", text, REFUSALS)
    return True


ACTORS = [events, events, events, filters, triggers, looks, looks, instances, hotplug, buffers, readers, garbage]


# ---------------------------------------------------------------------------

def field(line, word=""):
    return int(re.search(rf"^{line}:(?:.*\b{word})? (\d+)", read(TRACING + "/iosys"), re.M)[1])


def witness(ready, go, end):
    """Reads its own file until END is readable; the number of calls is its result."""
    fd = os.open("witness", os.O_RDONLY)
    calls = 0
    os.write(ready, b"x")
    os.read(go, 1)
    while not select.select([end], [], [], .001)[0]:
        for _ in range(20):
            os.pread(fd, 7, calls % 100)
            calls += 1
    os.write(ready, b"%d" % calls)


def check_witness(pid, calls):
    write(WITNESS + "/events/iosys/io_syscall/enable", "0")
    stats = "".join(read(f"{WITNESS}/per_cpu/{cpu}/stats") for cpu in os.listdir(WITNESS + "/per_cpu"))
    recorded = sum(map(int, re.findall(r"^(?:entries|overrun|dropped events): (\d+)", stats, re.M)))
    dropped = field("dropped")
    if not calls - dropped <= recorded <= calls:
        raise Failed(f"{calls} calls of the witness, {recorded} recorded, {dropped} calls of all dropped")
    wrong = [line for line in read(WITNESS + "/trace").splitlines()
             if "io_syscall: " in line and not
             re.search(rf"-{pid} .*pread64=7 .* fd=\d+ type=file .* name=\S*/witness\b", line)]
    if wrong:
        raise Failed(f"{len(wrong)} records of the witness are wrong, the first one: {wrong[0]}")
    return recorded


def check_left():
    """Nothing is held when all events are off."""
    for where in STORMED:
        write(where + "/snapshot", "0", ("EINVAL",))
        for event in EVENTS:
            write(f"{where}/events/iosys/{event}/filter", "0", ("EINVAL",))
            # One that was not removed for want of memory would keep its event on
            for trigger in TRIGGERS:
                write(f"{where}/events/iosys/{event}/trigger", "!" + trigger, MAY_FAIL)
        write(where + "/events/iosys/enable", "0")
    for where in STORMED[1:] + [WITNESS]:
        os.rmdir(where)
    end = time.monotonic() + PATIENCE
    while any(field("memory", word) for word in ("call_slots", "request_slots", "stack_walkers")):
        if time.monotonic() > end:
            raise Failed("memory is held though all events are off:\n" + read(TRACING + "/iosys"))
        time.sleep(.1)
    calls, *to = map(int, re.findall(r"\d+", re.search(r"^calls: .*", read(TRACING + "/iosys"), re.M)[0]))
    if calls != sum(to):
        raise Failed("the calls do not add up:\n" + read(TRACING + "/iosys"))
    return calls


def main():
    print(f"seed {seed}, {seconds:g} s", flush=True)
    with open("witness", "w") as f:
        f.write("x" * 200)
    os.mkdir(STORMED[1])
    os.mkdir(WITNESS)
    told, ready = os.pipe()
    go, begin = os.pipe()
    end, over = os.pipe()
    pid = start(lambda rng: witness(ready, go, end), 0)
    os.read(told, 1)
    write(WITNESS + "/events/iosys/io_syscall/filter", f"common_pid == {pid} && op == {read_op()}")
    write(WITNESS + "/events/iosys/io_syscall/enable", "1")
    os.write(begin, b"x")

    programs = [start(hostile(HOSTILE[i]), seed * 1000 + 100 + i) for i in range(len(HOSTILE))]
    # The fault itself runs below that function, and a program whose faults have no memory dies
    with without_memory("iosys", "__iosys_fault"):
        run(ACTORS, seed, seconds)
    for program in programs:
        os.kill(program, signal.SIGTERM)
    wait(programs)
    os.write(over, b"x")
    wait([pid])
    calls = int(os.read(told, 20))
    recorded = check_witness(pid, calls)
    print(f"{recorded} of {calls} calls of the witness recorded; of {check_left()} calls in all none is missing")


def read_op():
    """The number of pread64 in the event's format"""
    return int(re.search(r"\{ (\d+), \"pread64\" \}", read(TRACING + "/events/iosys/io_syscall/format"))[1])


try:
    main()
except Failed as e:
    sys.exit(f"seed {seed}: {e}")
