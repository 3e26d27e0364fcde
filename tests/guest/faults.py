#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Real faults, injected at known moments: which alarms does ctlchart raise?

usage: faults.py [FAULT...]

For each fault a workload does one operation after the other, each timed by the process that
waits for it.  The chart learns from operations without a delay; then some are delayed.
Every operation that was delayed must have an alarm, and every alarm must be of an operation
that was longer than the limit by its own clock: an operation that was slow for another reason
is a correct alarm as well.
"""
import errno
import glob
import mmap
import os
import re
import socket
import subprocess
import sys
import time

TRACING = "/sys/kernel/tracing"
LEARN = "learn=2s"
FAULTS = 20		# operations that are delayed
BETWEEN = 15		# and operations between two of them
# Seconds; on a slow or busy host operations without a delay also take longer
DELAY = 0.06 * min(int(os.environ.get("TRACERIG_TIMEOUT_SCALE", 1)), 5)


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def read(path):
    with open(path) as f:
        return f.read()


def run(*command):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def fair_server(cpu, runtime):
    """Set the time per second, in ns, that the fair class keeps from real-time tasks. Return: the previous one."""
    path = f"/sys/kernel/debug/sched/fair_server/cpu{cpu}/runtime"
    before = read(path)
    write(path, runtime)
    return before


class Chart:
    """The filter of one event, and its alarms; more than one if an operation has several such events."""

    def __init__(self, event, filter, several=False):
        self.dir = f"{TRACING}/events/{event}"
        self.several = several
        write(TRACING + "/trace_clock", "mono")
        write(TRACING + "/events/ctlchart/enable", "1")
        write(self.dir + "/filter", filter)
        write(self.dir + "/enable", "1")

    def number(self, name):
        return int(re.search(rf"^{name}: (\d+)", read(self.dir + "/ctlchart"), re.M).group(1))

    def is_learning(self):
        return not re.search(r"^state: judging", read(self.dir + "/ctlchart"), re.M)

    def alarms(self):
        """Return: (a moment in it, duration) of each alarm; none may be missing, and each follows its event."""
        found, event = [], 0
        for line in read(TRACING + "/trace").splitlines():
            if " ctlchart_alarm: " in line:
                stamp, start, duration = re.search(
                    r" (\d+\.\d{6}): .* start=(\d+) duration=(\d+) ", line).groups()
                # Time stamps of a process lie outside of the kernel's.  A number in an event
                # has no start: it existed when its alarm was written.
                middle = int(start) + int(duration) // 2
                at = middle if int(start) else int(stamp.replace(".", "")) * 1000
                found.append((at, int(duration)))
                event -= 1
            elif not line.startswith("#") and " ctlchart_limit: " not in line:
                event += 1
        if event or len(found) != self.number("alarms"):
            sys.exit(f"{len(found)} alarms and {event} events more, of:\n" + read(self.dir + "/ctlchart") +
                     read(TRACING + "/trace")[:8000])
        return found

    def remove(self):
        write(self.dir + "/enable", "0")
        write(self.dir + "/filter", "0")
        write(TRACING + "/trace", "")


class Operation:
    def __init__(self, begin, end, delayed):
        self.begin, self.end, self.delayed = begin, end, delayed
        self.alarms = 0


def judge(name, chart, operations):
    """Print the row of a fault. Return: whether all is right."""
    write(chart.dir + "/enable", "0")
    limit, wrong = chart.number("limit"), []
    others = 0
    for at, duration in chart.alarms():
        # What this program did before has no operation
        if at < operations[0].begin:
            continue
        of = [o for o in operations if o.begin <= at <= o.end]
        if len(of) != 1:
            wrong.append(f"an alarm of {len(of)} operations: at {at}, {duration} ns")
            continue
        of[0].alarms += 1
        others += not of[0].delayed
        if of[0].end - of[0].begin <= limit:
            wrong.append(f"an alarm, but it took {of[0].end - of[0].begin} ns")
    delayed = [o for o in operations if o.delayed]
    idle = sum(o.end - o.begin < DELAY * 0.8e9 for o in delayed)
    if idle:
        wrong.append(f"{idle} operations were not delayed")
    found = [o for o in delayed if o.alarms == 1 or (chart.several and o.alarms)]
    others += sum(o.alarms - 1 for o in found)
    if len(found) < len(delayed):
        wrong.append(f"{len(delayed) - len(found)} delayed operations without their alarm")
    alarms = len(found) + others
    print(f"{name:<16} {limit / 1e6:8.2f} {len(operations):6} {len(delayed):8} {alarms:7}"
          f" {100 * len(found) / max(alarms, 1):9.1f} {100 * len(found) / max(len(delayed), 1):7.1f}")
    for text in wrong:
        print("  " + text)
    if wrong:
        print(read(chart.dir + "/ctlchart"))
    return not wrong


def operate(chart, operation, delay=lambda on: None):
    """Run operation(slow?), with delay() around the slow ones."""
    operations = []
    until = time.monotonic() + 30 * int(os.environ.get("TRACERIG_TIMEOUT_SCALE", 1))
    while chart.is_learning():
        if time.monotonic() > until:
            sys.exit("the chart learnt nothing:\n" + read(chart.dir + "/ctlchart"))
        for _ in range(20):
            operation(False)
    for i in range(FAULTS * (BETWEEN + 1)):
        slow = i % (BETWEEN + 1) == BETWEEN
        if slow:
            delay(True)
        begin = time.monotonic_ns()
        operation(slow)
        operations.append(Operation(begin, time.monotonic_ns(), slow))
        if slow:
            delay(False)
    return operations


# --- the faults -----------------------------------------------------------------

class Disk:
    """Reads of 4 KiB, past the page cache."""

    def __init__(self, path):
        # A disk that is found in the background has a name before it can be opened.
        self.fd = None
        while self.fd is None:	# the vm's timeout ends it
            try:
                self.fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
            except OSError as e:
                if e.errno not in (errno.ENOENT, errno.ENXIO):
                    raise
        self.buffer = mmap.mmap(-1, 4096)
        rdev = os.fstat(self.fd).st_rdev
        self.dev = os.major(rdev) << 20 | os.minor(rdev)

    def read(self, block):
        os.preadv(self.fd, [self.buffer], block * 4096)


def dm_delay():
    """A range of sectors that the device mapper delays."""
    base = "/sys/kernel/config/nullb/faults"
    os.mkdir(base)
    for attribute, value in (("size", "1024"), ("blocksize", "4096"), ("power", "1")):
        write(f"{base}/{attribute}", value)
    table = (f"0 1000000 linear /dev/faults 0\n"
             f"1000000 80000 delay /dev/faults 1000000 {int(DELAY * 1000)}\n")
    subprocess.run(["dmsetup", "create", "--noudevsync", "--noudevrules", "faults"], input=table, text=True, check=True)
    # The guest has no udev: use the kernel's name
    name = [f for f in glob.glob("/sys/block/dm-*/dm/name") if read(f) == "faults\n"][0]
    disk = Disk("/dev/" + name.split("/")[3])
    chart = Chart("block/block_bio_complete",
                  f"dev == {disk.dev} && ctlchart(block_bio_queue, dev, sector, {LEARN})")
    block = [0]

    def operation(slow):
        block[0] += 1
        disk.read(125000 + block[0] % 10000 if slow else block[0] % 100000)

    yield chart, operate(chart, operation)
    os.close(disk.fd)
    run("dmsetup", "remove", "--noudevsync", "faults")
    write(base + "/power", "0")
    os.rmdir(base)


class ScsiDebug:
    """A disk that serves requests in 0.3 ms, or is slow for some time."""
    driver = "/sys/bus/pseudo/drivers/scsi_debug"

    def __init__(self):
        write(self.driver + "/add_host", "1")
        disks = []
        while not disks:	# the vm's timeout ends it
            disks = glob.glob("/sys/bus/pseudo/devices/adapter*/host*/target*/*/block/*")
        self.before = read(self.driver + "/ndelay")
        self.take("300000")
        self.disk = Disk("/dev/" + os.path.basename(disks[0]))
        self.block = 0

    def take(self, nanoseconds):
        # Refused while commands are in flight, for example of the search for partitions
        while True:
            try:
                return write(self.driver + "/ndelay", nanoseconds)
            except OSError as e:
                if e.errno != errno.EBUSY:
                    raise

    def operation(self, slow):
        self.block = (self.block + 1) % 1000
        self.disk.read(self.block)

    def delay(self, on):
        self.take(str(int(DELAY * 1e9)) if on else "300000")

    def close(self):
        os.close(self.disk.fd)
        self.take(self.before)
        write(self.driver + "/add_host", "-1")


def scsi_debug():
    """A disk that is slow for some time."""
    scsi = ScsiDebug()
    chart = Chart("block/block_rq_complete",
                  f"dev == {scsi.disk.dev} && ctlchart(block_rq_issue, dev, sector, {LEARN})")
    yield chart, operate(chart, scsi.operation, scsi.delay)
    scsi.close()


class Pipe:
    """read() of a pipe that another process writes to on request."""

    def __init__(self):
        self.data, data = os.pipe()
        tell, self.tell = os.pipe()
        if os.fork() == 0:
            os.close(self.data)
            os.close(self.tell)
            while True:
                order = os.read(tell, 1)
                if not order:
                    os._exit(0)
                time.sleep(DELAY if order == b"s" else 0.0005)
                os.write(data, b"x")
        os.close(data)
        os.close(tell)

    def operation(self, slow):
        os.write(self.tell, b"s" if slow else b"-")
        os.read(self.data, 1)

    def close(self):
        os.close(self.tell)
        os.close(self.data)
        os.wait()


def syscall():
    """A system call that waits for another process."""
    pipe = Pipe()
    chart = Chart("syscalls/sys_exit_read",
                  f"common_pid == {os.getpid()} && ctlchart(sys_enter_read, common_pid, {LEARN})")
    yield chart, operate(chart, pipe.operation)
    pipe.close()


def synthetic():
    """The same as a number in a synthetic event."""
    pipe = Pipe()
    write(TRACING + "/synthetic_events", "fault_read u64 lat")
    enter, leave = (f"{TRACING}/events/syscalls/sys_{which}_read/trigger" for which in ("enter", "exit"))
    only = f"if common_pid == {os.getpid()}"
    begin = "hist:keys=common_pid:ts0=common_timestamp:clock=mono " + only
    end = ("hist:keys=common_pid:lat=common_timestamp-$ts0:clock=mono:"
           "onmatch(syscalls.sys_enter_read).trace(fault_read,$lat) " + only)
    write(enter, begin)
    write(leave, end)
    chart = Chart("synthetic/fault_read", f"ctlchart(lat, {LEARN})")
    yield chart, operate(chart, pipe.operation)
    write(leave, "!" + end)
    write(enter, "!" + begin)
    pipe.close()


def cpu_hog():
    """A task that needs the CPU while a task of a higher class uses it."""
    os.sched_setaffinity(0, {0})
    # Otherwise it gets the CPU within a delay once per second
    before = fair_server(0, "0")
    chart = Chart("sched/sched_switch",
                  f"next_pid == {os.getpid()} && ctlchart(sched_waking, pid:next_pid, dup=last, {LEARN})")
    go, tell = os.pipe()
    awake, wake = os.pipe()
    if os.fork() == 0:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
        os.close(tell)
        while True:
            order = os.read(go, 1)
            if not order:
                os._exit(0)
            # On the same CPU: a task that is woken up cannot run before this is over
            while read(f"/proc/{os.getppid()}/stat").rsplit(")", 1)[1].split()[0] != "S":
                time.sleep(0.0003)
            os.write(wake, b"x")
            until = time.monotonic() + (DELAY if order == b"s" else 0)
            while time.monotonic() < until:
                pass
    os.close(go)

    def operation(slow):
        os.write(tell, b"s" if slow else b"-")
        os.read(awake, 1)

    yield chart, operate(chart, operation)
    os.close(tell)
    os.wait()
    os.close(awake)
    os.close(wake)
    fair_server(0, before)
    os.sched_setaffinity(0, range(os.cpu_count()))


class Link:
    """Two ends of a link; a frame is sent from one to the other."""

    def __init__(self):
        run("ip", "link", "add", "faults0", "type", "veth", "peer", "name", "faults1")
        for end in ("faults0", "faults1"):
            # Otherwise the kernel sends frames itself
            write(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6", "1")
            run("ip", "link", "set", end, "up")
        kind = 0x88b5  # for experiments
        self.sender, self.receiver = (
            socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(kind)) for _ in "12")
        self.sender.bind(("faults0", kind))
        self.receiver.bind(("faults1", kind))
        self.frame = b"\xff" * 6 + b"\x02" + b"\0" * 5 + kind.to_bytes(2, "big") + b"x" * 50

    def operation(self, slow):
        self.sender.send(self.frame)
        self.receiver.recv(100)

    def close(self):
        self.sender.close()
        self.receiver.close()
        run("ip", "link", "del", "faults0")


def network():
    """A queue that holds packets for some time."""
    link = Link()
    run("tc", "qdisc", "add", "dev", "faults0", "root", "netem", "delay", "0ms")
    chart = Chart("net/net_dev_xmit", f"len == {len(link.frame)} && ctlchart(net_dev_queue, skbaddr, {LEARN})")

    def delay(on):
        run("tc", "qdisc", "change", "dev", "faults0", "root", "netem", "delay",
            f"{int(DELAY * 1000)}ms" if on else "0ms")

    yield chart, operate(chart, link.operation, delay)
    link.close()


class Delayed:
    """A function of the kernel that a module delays, tests/guest/pathfault."""

    def __init__(self, function, *parameters):
        run("insmod", os.environ["TRACERIG_MODULES"] + "/pathfault/pathfault.ko", f"function={function}",
            "mode=spin", "permille=1000", f"usec={int(DELAY * 1e6)}", *parameters)

    def once(self, on):
        """Delay the next call."""
        write("/sys/module/pathfault/parameters/shots", str(int(on)))

    def remove(self):
        run("rmmod", "pathfault")


def function():
    """A function of the kernel that is late for processes of one name only."""
    chosen = Delayed("pipe_read", "comm=pathfault-slow")
    source, sink = os.pipe()
    chart = Chart("syscalls/sys_exit_read",
                  f"ret == 1 && common_pid == {os.getpid()} && ctlchart(sys_enter_read, common_pid, {LEARN})")
    name = os.open("/proc/self/comm", os.O_WRONLY)
    before = read("/proc/self/comm").strip()

    def operation(slow):
        os.write(name, b"pathfault-slow" if slow else b"another")
        os.write(sink, b"x")
        os.read(source, 1)

    yield chart, operate(chart, operation)
    os.write(name, before.encode())
    for fd in (name, source, sink):
        os.close(fd)
    chosen.remove()


def irq():
    """An interrupt handler, of a disk, that runs for a long time."""
    os.sched_setaffinity(0, {0})
    number = int(re.search(r"^ *(\d+):.* virtio\d+-req\.0$", read("/proc/interrupts"), re.M).group(1))
    disk = Disk("/dev/vda")
    late = Delayed("virtblk_done", "interrupts=1", "shots=0")
    chart = Chart("irq/irq_handler_exit", f"irq == {number} && ctlchart(irq_handler_entry, cpu, irq, {LEARN})")
    block = [0]

    def operation(slow):
        block[0] += 1
        disk.read(block[0] % 100000)

    yield chart, operate(chart, operation, late.once)
    late.remove()
    os.close(disk.fd)
    os.sched_setaffinity(0, range(os.cpu_count()))


def softirq():
    """The softirq that receives packets, which runs for a long time."""
    # On one processor: an operation cannot end before the softirq that it raised
    os.sched_setaffinity(0, {0})
    link = Link()
    late = Delayed("process_backlog", "interrupts=1", "shots=0")
    net_rx = 3
    chart = Chart("irq/softirq_exit", f"vec == {net_rx} && ctlchart(softirq_entry, cpu, vec, {LEARN})", several=True)
    yield chart, operate(chart, link.operation, late.once)
    late.remove()
    link.close()
    os.sched_setaffinity(0, range(os.cpu_count()))


FAULT = {f.__name__.replace("_", "-"): f for f in
         (dm_delay, scsi_debug, syscall, synthetic, cpu_hog, network, function, softirq, irq)}


def main():
    good = True
    # irq needs a disk with interrupts
    names = sys.argv[1:] or [name for name in FAULT if name != "irq" or os.path.exists("/dev/vda")]
    print(f"{'fault':<16} {'limit ms':>8} {'of':>6} {'injected':>8} {'alarms':>7} {'precision':>9} {'recall':>7}")
    for name in names:
        fault = FAULT[name]()
        chart, operations = next(fault)
        good = judge(name, chart, operations) and good
        chart.remove()
        for _ in fault:
            pass
    sys.exit(not good)


if __name__ == "__main__":
    main()
