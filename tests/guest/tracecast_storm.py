#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Everything that can be done to tracecast, at once and at random.

usage: tracecast_storm.py SCHEDZ SECONDS SEED

A witness writes numbered marks to an instance whose target sends to a collector of its own
over loopback; both are left alone.  All marks arrive, in order.  The ledgers of all targets
add up whenever they are read; in the end nothing is left of the other targets.
"""
import ctypes
import glob
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time

from actors import PATIENCE, Failed, change_buffer, hotplug, read, read_pipe, run, start, wait, without_memory, write

TRACING = "/sys/kernel/tracing"
TARGETS = "/sys/kernel/config/tracecast"
WITNESS = TRACING + "/instances/witness"
STORMED = [TRACING, TRACING + "/instances/stormed"]
NAMES = ["rig0", "rig1", "rig2"]
OURS, THEIRS = "10.8.1.1", "10.8.1.2"
KEY = "000102030405060708090a0b0c0d0e0f"
CLONE_NEWNET = 0x40000000

schedz, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)

# ENFILE: no memory for a socket
REFUSALS = ("EINVAL", "EBUSY", "ENOENT", "ENODEV", "ENOMEM", "EADDRINUSE", "EADDRNOTAVAIL", "ENETUNREACH",
            "EHOSTUNREACH", "EAFNOSUPPORT", "ERANGE", "EINTR", "ENFILE")


# ---------------------------------------------------------------------------
# Targets

VALUES = {
    "instance": ["\n", "stormed", "stormed", "absent", "gone"],
    "remote_ip": [THEIRS, THEIRS, THEIRS, "127.0.0.1", "10.8.1.77", "fd00::2", "224.0.0.1", "0.0.0.0"],
    "remote_port": ["6676", "6676", "9", "65535"],
    "remote_mac": ["00:00:00:00:00:00", "52:54:00:12:34:56"],
    "local_ip": [OURS, "0.0.0.0", "0.0.0.0", "10.8.1.99", "fd00::1"],
    "local_port": ["6675", "6674", "6673", "6672"],
    "dev_name": ["\n", "\n", "near", "lo", "absent"],
    "mtu": ["1500", "600", "9000"],
    "rate": ["0", "100000", "1000"],
    "flush": ["10", "1000", "60000"],
    "window": ["0", "64", "1000"],
    "senders": ["0", "1", "2", "32"],
    "key": ["\n", "\n", KEY],
}


def configure(rng):
    target = f"{TARGETS}/{rng.choice(NAMES)}"
    try:
        os.mkdir(target)
    except FileExistsError:
        pass
    done = False
    for name in rng.sample(sorted(VALUES), rng.randrange(1, 6)):
        done |= write(f"{target}/{name}", rng.choice(VALUES[name]), REFUSALS)
    return done


def set_up(rng):
    """A target that works, if nothing comes in between"""
    number = rng.randrange(len(NAMES))
    target = f"{TARGETS}/{NAMES[number]}"
    try:
        os.mkdir(target)
    except FileExistsError:
        pass
    for name, value in ("enabled", "0"), ("instance", rng.choice(("\n", "stormed"))), ("remote_ip", THEIRS), \
                       ("remote_port", "6676"), ("local_ip", "0.0.0.0"), ("local_port", str(6672 + number)), \
                       ("dev_name", "\n"), ("key", rng.choice(("\n", KEY))), ("flush", "10"):
        if not write(f"{target}/{name}", value, REFUSALS):
            return False
    return write(target + "/enabled", "1", REFUSALS)


def enable(rng):
    return write(f"{TARGETS}/{rng.choice(NAMES)}/enabled", rng.choice("01"), REFUSALS)


def remove(rng):
    try:
        os.rmdir(f"{TARGETS}/{rng.choice(NAMES)}")
    except FileNotFoundError:
        return False
    time.sleep(rng.random() / 2)
    return True


WORDS = ("0", "1", "-1", "65536", "4294967296", "eth0", "::", "::1%lo", "%s", "a" * 300, "\n", " ", "ff:ff", "zz", "/",
         "..", "0x10", "127.0.0.1 ", "1.2.3.4.5", "\0", "g" * 32)


def garbage(rng):
    target = f"{TARGETS}/{rng.choice(NAMES)}"
    name = rng.choice([*VALUES, "enabled"])
    write(f"{target}/{name}", "".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 4))), REFUSALS)
    return True


def number(line, word):
    return int(re.search(rf"\b{word} (\d+)", line)[1])


def check_ledger(ledger):
    line = re.search(r"^generated: (\d+) = .*", ledger, re.M)
    if not line:
        return False
    parts = re.search(r"^lost: (\d+) overwritten, (\d+) dropped, (\d+) cleared$", ledger, re.M)
    held = re.search(r"^held: (\d+) in the ring, (\d+) at hand, (\d+) unacknowledged$", ledger, re.M)
    if (int(line[1]) != sum(number(line[0], word) for word in ("lost", "held", "acknowledged", "abandoned")) or
            number(line[0], "lost") != sum(map(int, parts.groups())) or
            number(line[0], "held") != sum(map(int, held.groups()))):
        raise Failed("the ledger does not add up:\n" + ledger)
    return True


def ledgers(rng):
    """The attributes are read as well, while others change them."""
    found = False
    for name in rng.sample(NAMES, len(NAMES)):
        try:
            for attribute in rng.sample(sorted(VALUES), 3):
                read(f"{TARGETS}/{name}/{attribute}")
            found |= check_ledger(read(f"{TARGETS}/{name}/ledger"))
        except (FileNotFoundError, NotADirectoryError):
            pass
    return found


# ---------------------------------------------------------------------------
# The network

def ip(*words, check=False):
    return not subprocess.run(["ip", *words], stderr=subprocess.DEVNULL, check=check).returncode


def make_link():
    return (ip("link", "add", "near", "type", "veth", "peer", "name", "eth0", "netns", "far") and
            ip("-n", "far", "address", "add", THEIRS + "/24", "dev", "eth0") and
            ip("-n", "far", "link", "set", "eth0", "up") and
            ip("address", "add", OURS + "/24", "dev", "near") and
            ip("address", "add", "fd00::1/64", "dev", "near", "nodad") and
            ip("link", "set", "near", "up"))


def links(rng):
    what = rng.randrange(5)
    if what == 0:
        ip("link", "del", "near")
        time.sleep(rng.random() / 5)
        return make_link()
    if what == 1:
        done = ip("link", "set", "near", "down")
        time.sleep(rng.random())
        return ip("link", "set", "near", "up") and done
    if what == 2:
        done = ip("address", "del", OURS + "/24", "dev", "near")
        time.sleep(rng.random() / 2)
        return ip("address", "add", OURS + "/24", "dev", "near") and done
    if what == 3:
        return ip("link", "set", "near", "mtu", rng.choice(("576", "1500", "9000")))
    faults = rng.choice((["loss", "30%"], ["delay", "20ms", "20ms", "reorder", "50%"], ["duplicate", "30%"],
                         ["corrupt", "20%"], []))
    subprocess.run(["tc", "qdisc", "del", "dev", "near", "root"], stderr=subprocess.DEVNULL, check=False)
    return not faults or not subprocess.run(["tc", "qdisc", "add", "dev", "near", "root", "netem", *faults],
                                            stderr=subprocess.DEVNULL, check=False).returncode


def collectors(rng):
    """It has another session to continue each time, and ends in the ways there are."""
    options = ["--key-file", "key"] if rng.random() < .3 else []
    command = ["ip", "netns", "exec", "far", schedz, "collect", "--listen", THEIRS, "--allow", OURS, "--output",
               "collected", *options]
    with open("collectors.err", "a") as errors, \
         subprocess.Popen(command, stdout=errors, stderr=errors) as process:
        time.sleep(rng.random() * 3)
        early = process.poll() is not None
        process.send_signal(rng.choice((signal.SIGTERM, signal.SIGKILL)))
    # It cannot listen without the address
    return not early


def forgeries(rng):
    """Acknowledgements by another program of the collector's host, random and nearly right"""
    fd = os.open("/run/netns/far", os.O_RDONLY)
    if libc.setns(fd, CLONE_NEWNET):
        raise Failed("setns: " + os.strerror(ctypes.get_errno()))
    os.close(fd)
    sent = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((THEIRS, rng.choice((6676, 0))))
        except OSError:
            return False
        for _ in range(200):
            head = b"TC" + bytes((rng.choice((1, 129, 0)), rng.choice((6, 6, 6, 5, 0))))
            datagram = head + rng.randbytes(rng.choice((0, 8, 20, 60, 500, 1400)))
            try:
                sock.sendto(datagram, (OURS, rng.choice((6672, 6673, 6674, 6675))))
                sent += 1
            except OSError:
                pass
    return sent > 0


# ---------------------------------------------------------------------------
# The instances

EVENTS = ["schedz/schedz_block", "sched/sched_switch", "sched", "syscalls", "net", "skb", "timer", "irq"]


def events(rng):
    where = rng.choice(STORMED)
    path = f"{where}/events/{rng.choice(EVENTS)}/enable"
    return write(path, "1" if rng.random() < .6 else "0", ("ENOMEM", "EBUSY", "EINVAL", "ENOENT"))


def options(rng):
    where = rng.choice(STORMED)
    return write(f"{where}/options/{rng.choice(('overwrite', 'schedz', 'record-tgid'))}", rng.choice("01"),
                 ("EBUSY", "EINVAL", "ENOENT", "ENOMEM"))


# The kernel with KCSAN has no tracer of functions
TRACER = "function" if "function" in read(TRACING + "/available_tracers").split() else "irqsoff"
# With KASAN and lockdep, to trace all functions takes so long that timers and RCU come too late,
# and the scheduler complains
FEW = ["udp_*", "vfs_*", "try_to_wake_up", "__schedule"] if os.path.exists("/sys/kernel/debug/kmemleak") else []


def tracers(rng):
    path = rng.choice(STORMED) + "/current_tracer"
    done = write(path, TRACER, ("EBUSY", "EINVAL"))
    time.sleep(rng.random() / 10)
    return write(path, "nop", ("EBUSY",)) and done


def clocks(rng):
    return write(rng.choice(STORMED) + "/trace_clock", rng.choice(("local", "global", "mono")), ("EBUSY",))


def marks(rng):
    path = rng.choice(STORMED) + "/trace_marker"
    for _ in range(50):
        write(path, "x" * rng.choice((1, 10, 100, 1000)), ("EBADF", "EINVAL"))
    return True


def buffers(rng):
    return change_buffer(rng, rng.choice(STORMED))


def readers(rng):
    try:
        return read_pipe(rng, rng.choice(STORMED))
    except OSError:
        # A target reads it
        return False


def instances(rng):
    path = TRACING + "/instances/gone"
    os.mkdir(path)
    time.sleep(rng.random() / 2)
    end = time.monotonic() + PATIENCE
    while True:
        try:
            os.rmdir(path)
            return True
        except OSError as e:
            if time.monotonic() > end:
                raise Failed(f"{path} cannot be removed: {e.strerror}") from e
            # A target reads it, which others disable
            for name in NAMES:
                try:
                    if read(f"{TARGETS}/{name}/instance") == "gone\n":
                        write(f"{TARGETS}/{name}/enabled", "0", REFUSALS)
                except FileNotFoundError:
                    pass


ACTORS = [configure, configure, set_up, set_up, enable, remove, garbage, ledgers, ledgers, links, collectors, forgeries,
          events, events, options, tracers, clocks, marks, buffers, readers, instances, hotplug]


# ---------------------------------------------------------------------------

def witness(ready, end):
    """Writes marks until END is readable; the number of marks is its result."""
    fd = os.open(WITNESS + "/trace_marker", os.O_WRONLY)
    count = 0
    while not select.select([end], [], [], .01)[0]:
        for _ in range(20):
            os.write(fd, b"mark %d %s" % (count, b"x" * (count % 60)))
            count += 1
    os.write(ready, b"%d" % count)


def until(what, holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise Failed("not in time: " + what)
        time.sleep(.1)


def check_witness(collector, count):
    target = TARGETS + "/witness"

    def is_delivered():
        ledger = read(target + "/ledger")
        check_ledger(ledger)
        return re.search(r"^generated: (\d+) = .*held 0 ", ledger, re.M)

    until("the witness' marks are sent", is_delivered)
    ledger = read(target + "/ledger")
    line = re.search(r"^generated: (\d+) = .*", ledger, re.M)
    if int(line[1]) != count or number(line[0], "acknowledged") != count:
        raise Failed(f"{count} marks of the witness:\n" + ledger)
    write(target + "/enabled", "0")
    os.rmdir(target)
    collector.terminate()
    if collector.wait():
        raise Failed("the witness' collector failed:\n" + read("witness.err"))
    [path] = glob.glob("witness.out/*.dat")
    report = subprocess.run(["trace-cmd", "report", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            check=True).stdout
    found = list(map(int, re.findall(r" mark (\d+) ", report)))
    if found != list(range(count)):
        raise Failed(f"{count} marks, {len(found)} arrived, {len(set(found))} of them different")


def check_left():
    """Nothing is held when all targets are gone."""
    for name in NAMES:
        if os.path.exists(f"{TARGETS}/{name}"):
            os.rmdir(f"{TARGETS}/{name}")
    for where in STORMED:
        write(where + "/current_tracer", "nop")
        write(where + "/events/enable", "0", ("EINVAL",))
    for where in STORMED[1:] + [WITNESS]:
        os.rmdir(where)
    with open(TRACING + "/trace_pipe"):
        pass
    ports = [line.split()[1] for line in read("/proc/net/udp").splitlines()[1:]]
    left = [port for port in ports if 6672 <= int(port.split(":")[1], 16) <= 6675]
    threads = [path for path in glob.glob("/proc/[0-9]*/comm") if read(path).startswith("tracecast")]
    if left or threads:
        raise Failed(f"left of the targets: sockets {left}, threads {threads}")


def main():
    print(f"seed {seed}, {seconds:g} s", flush=True)
    with open("key", "w") as f:
        f.write(KEY)
    os.chmod("key", 0o600)
    ip("netns", "add", "far", check=True)
    ip("-n", "far", "link", "set", "lo", "up", check=True)
    if not make_link():
        raise Failed("no link")
    for where in STORMED[1:] + [WITNESS]:
        os.mkdir(where)
    for where in STORMED:
        for functions in FEW:
            write(where + "/set_ftrace_filter", functions)
    with open("witness.err", "w") as errors:
        collector = subprocess.Popen([schedz, "collect", "--output", "witness.out", "--listen", "127.0.0.1:7676"],
                                     stdout=errors, stderr=errors)
    os.mkdir(TARGETS + "/witness")
    for name, value in ("instance", "witness"), ("remote_ip", "127.0.0.1"), ("remote_port", "7676"), \
                       ("local_port", "7675"), ("senders", "2"), ("flush", "100"), ("enabled", "1"):
        write(f"{TARGETS}/witness/{name}", value)
    told, ready = os.pipe()
    end, over = os.pipe()
    pid = start(lambda rng: witness(ready, end), 0)
    try:
        # It has an allocation for each event that is enabled, of which there may be a thousand
        with without_memory("tracecast", "tracecast_meta_init"):
            run(ACTORS, seed, seconds)
    finally:
        os.write(over, b"x")
        wait([pid])
    count = int(os.read(told, 20))
    check_witness(collector, count)
    check_left()
    ip("link", "del", "near")
    ip("netns", "del", "far", check=True)
    print(f"{count} of {count} marks of the witness arrived")


try:
    main()
except Failed as e:
    sys.exit(f"seed {seed}: {e}")
