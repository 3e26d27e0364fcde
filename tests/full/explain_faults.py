#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Real faults, injected at known moments, as cases of tracerig watch.

usage: explain_faults.py DIR [FAULT...]

For each fault a workload does one operation after the other. The chart learns from operations
without a delay; then some are delayed. The cases of FAULT are in DIR/FAULT, and DIR/truth has
a line for each case: FAULT, the case's number, whether its operation was delayed, and a
regular expression that the name of its cause must match.
"""
import glob
import json
import os
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../guest")
from faults import BETWEEN, DELAY, Delayed, Disk, ScsiDebug, fair_server, read

SLOW = 12		# operations that are delayed
WINDOW = "dup=last, stale=5s, pre=20ms, post=5ms, from=start, learn=2s, name=operation"
PID = os.getpid()


class Watch:
    """tracerig watch, until it has learnt, and then until end()."""

    def __init__(self, directory, event, filter, *more):
        self.log = directory + ".log"
        command = ["tracerig", "watch", "--dir", directory, "-e", event, "-f", filter]
        for name in more:
            command += ["-e", name]
        self.process = subprocess.Popen(command, stdout=open(self.log, "w"), stderr=subprocess.STDOUT)

    def is_learning(self):
        if self.process.poll() is not None:
            sys.exit("the watch has ended: " + read(self.log))
        return ": learnt: " not in read(self.log)

    def end(self):
        time.sleep(1)	# a case is written 0.3 s after its alarm
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def syscall(directory, name, condition=f"common_pid == {PID}"):
    return Watch(directory, f"syscalls:sys_exit_{name}",
                 f"{condition} && ctlchart(sys_enter_{name}, common_pid, {WINDOW})", f"syscalls:sys_enter_{name}")


def operate(watch, operation, delay=lambda on: None):
    """Run operation(slow?), with delay() around the slow ones. Return: the times of these."""
    slow = []
    until = time.monotonic() + 60 * int(os.environ.get("TRACERIG_TIMEOUT_SCALE", 1))
    while watch.is_learning():
        if time.monotonic() > until:
            sys.exit("the chart learns nothing: " + read(watch.log))
        for _ in range(20):
            operation(False)
    for i in range(SLOW * (BETWEEN + 1)):
        on = i % (BETWEEN + 1) == BETWEEN
        begin = time.monotonic_ns()
        if on:
            delay(True)
        operation(on)
        if on:
            delay(False)
            slow.append((begin, time.monotonic_ns()))
            # so that windows do not follow each other closely, and make one case
            time.sleep(0.4)
    watch.end()
    return slow


class RandomDisk(Disk):
    """The same at different places."""
    block = 0

    def operation(self, slow):
        self.block = (self.block + 7919) % 200000
        self.read(self.block)


class Burst:
    """Other threads that read the disk while it is switched on."""
    READERS = 60

    def __init__(self, disk):
        self.inflight = f"/sys/block/{os.path.basename(disk)}/inflight"
        self.on = False
        self.begin, self.end = (threading.Barrier(self.READERS + 1) for _ in range(2))
        for _ in range(self.READERS):
            threading.Thread(target=self.read, args=(RandomDisk(disk),), daemon=True).start()

    def read(self, disk):
        disk.block = 7 * threading.get_native_id()
        while True:
            self.begin.wait()
            while self.on:
                disk.operation(True)
            self.end.wait()

    def __call__(self, on):
        self.on = on
        (self.begin if on else self.end).wait()
        # until most of them wait for the disk
        while on and int(read(self.inflight).split()[0]) < self.READERS * 3 // 4:
            time.sleep(0.001)


class Named:
    """Reads of a pipe that has data, under a name that the module delays, or another."""

    def __init__(self):
        self.source, self.sink = os.pipe()
        self.name = os.open("/proc/self/comm", os.O_WRONLY)

    def operation(self, slow):
        os.write(self.name, b"pathfault-slow" if slow else b"another")
        os.write(self.sink, b"x")
        os.read(self.source, 1)


class Helper:
    """A process that executes the task that it gets: task(slow)."""

    def __init__(self, task):
        go, self.tell = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(go)
            return
        os.close(self.tell)
        while True:
            order = os.read(go, 1)
            if not order:
                os._exit(0)
            task(order == b"s")

    def order(self, slow):
        os.write(self.tell, b"s" if slow else b"-")

    def end(self):
        os.close(self.tell)
        os.waitpid(self.pid, 0)


def spin(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def wait_asleep(pid):
    while read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[0] != "S":
        time.sleep(0.0003)


# --- the faults

# Each returns a regular expression that the name of the cause must match, and what operate()
# returns

def disk_busy(d):
    """A disk that does 500 requests per second, and has many waiting."""
    disk = RandomDisk("/dev/vda")
    watch = Watch(d, "block:block_rq_complete",
                  f"dev == {disk.dev} && ctlchart(block_bio_queue, dev, sector, {WINDOW})", "block:block_bio_queue")
    yield r"^(queue of )?device 254:0$"
    yield operate(watch, disk.operation, Burst("/dev/vda"))


def disk_busy_read(d):
    """The same, from the reader's side."""
    disk = RandomDisk("/dev/vda")
    watch = syscall(d, "preadv2")
    yield r"^(queue of )?device 254:0$"
    yield operate(watch, disk.operation, Burst("/dev/vda"))


def disk_slow(d):
    """A disk that is slow for some time."""
    scsi = ScsiDebug()
    watch = Watch(d, "block:block_rq_complete",
                  f"dev == {scsi.disk.dev} && ctlchart(block_bio_queue, dev, sector, {WINDOW})", "block:block_bio_queue")
    yield r"^device"
    yield operate(watch, scsi.operation, scsi.delay)
    scsi.close()


def writer(d):
    """A read of a pipe whose writer computes before it writes."""
    source, sink = os.pipe()

    def task(slow):
        spin(DELAY if slow else 0.0005)
        os.write(sink, b"x")
    helper = Helper(task)

    def operation(slow):
        helper.order(slow)
        os.read(source, 1)
    watch = syscall(d, "read")
    yield rf"blocked until .*-{helper.pid}\b"
    yield operate(watch, operation)
    helper.end()


def hog_wakeup(d):
    """A wake-up on a CPU that a real-time task uses."""
    yield from hog(d, "wakeup")


def hog_filtered(d):
    """The same, with a filter that keeps most switches out of the recording."""
    yield from hog(d, "filtered")


def hog_read(d):
    """The same during a system call."""
    yield from hog(d, "read")


def hog(d, chart):
    os.sched_setaffinity(0, {0})
    before = fair_server(0, "0")
    awake, wake = os.pipe()

    def task(slow):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
        wait_asleep(PID)
        os.write(wake, b"x")
        spin(DELAY if slow else 0)
    helper = Helper(task)

    def operation(slow):
        helper.order(slow)
        os.read(awake, 1)
    if chart == "wakeup":
        watch = Watch(d, "sched:sched_switch", f"ctlchart(sched_waking, pid:next_pid, {WINDOW})", "sched:sched_waking")
    elif chart == "filtered":
        watch = Watch(d, "sched:sched_switch",
                      f"next_pid == {PID} && ctlchart(sched_waking, pid:next_pid, {WINDOW})", "sched:sched_waking")
    else:
        watch = syscall(d, "read")
    yield rf"waiting for a CPU: .*-{helper.pid}\b"
    yield operate(watch, operation)
    helper.end()
    fair_server(0, before)
    os.sched_setaffinity(0, range(os.cpu_count()))


def preempted(d):
    """A task that computes, and a real-time one that wakes up meanwhile."""
    os.sched_setaffinity(0, {0})
    before = fair_server(0, "0")

    def task(slow):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
        if slow:
            time.sleep(0.001)
            spin(DELAY)
    helper = Helper(task)
    zero = os.open("/dev/zero", os.O_RDONLY)

    def operation(slow):
        if slow:
            helper.order(True)
        os.read(zero, 1 << 22)
    watch = syscall(d, "read")
    yield rf"waiting for a CPU: .*-{helper.pid}\b"
    yield operate(watch, operation)
    helper.end()
    fair_server(0, before)
    os.sched_setaffinity(0, range(os.cpu_count()))


def delayed_read(d, mode, cause):
    named = Named()
    chosen = Delayed("pipe_read", f"mode={mode}", "comm=pathfault-slow")
    watch = syscall(d, "read")
    yield cause
    yield operate(watch, named.operation)
    chosen.remove()


def function(d):
    """A function of the kernel that computes for a long time."""
    yield from delayed_read(d, "spin", r"^computing")


def asleep(d):
    """A function of the kernel that sleeps until a kthread wakes it."""
    yield from delayed_read(d, "sleep", r"blocked until pathfault-wake")


def interrupt(d):
    """The interrupt of a disk, on the processor of a task that computes."""
    os.sched_setaffinity(0, {0})
    # a read that takes some 12 ms
    buffer = bytearray(1 << 25)
    late = Delayed("virtblk_done", "interrupts=1", "shots=0")
    zero = os.open("/dev/zero", os.O_RDONLY)
    disk = RandomDisk("/dev/vda")

    def task(slow):
        # preempts the read, so that its disk's interrupt comes in it
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
        if slow:
            time.sleep(0.002)
            disk.operation(True)
    helper = Helper(task)

    def operation(slow):
        if slow:
            helper.order(True)
        os.readv(zero, [buffer])
    watch = syscall(d, "readv")
    yield r"^interrupt virtio\d+-req"
    yield operate(watch, operation, late.once)
    helper.end()
    late.remove()
    os.sched_setaffinity(0, range(os.cpu_count()))


FAULT = {f.__name__.replace("_", "-"): f for f in (
    disk_busy, disk_busy_read, disk_slow, writer, hog_wakeup, hog_filtered, hog_read, preempted, function, asleep, interrupt)}


def main():
    top = sys.argv[1]
    truth = open(top + "/truth", "w")
    for name in sys.argv[2:] or FAULT:
        print(name, flush=True)
        fault = FAULT[name](f"{top}/{name}")
        expression, slow = next(fault), next(fault)
        for path in sorted(glob.glob(f"{top}/{name}/[0-9]*/case.json")):
            alarm = json.loads(read(path))["alarm"]
            middle = alarm["start"] + alarm["value"] // 2
            delayed = any(begin <= middle <= end for begin, end in slow)
            print(name, path.split("/")[-2], int(delayed), expression, file=truth, flush=True)
        for _ in fault:
            pass


main()
