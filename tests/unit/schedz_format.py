# SPDX-License-Identifier: GPL-2.0
"""usage: schedz_format.py TRACE.dat REPORT

test_schedz_cli.sh: blocks decoded by nothing but what Documentation/trace/schedz.rst says of
their format have the events of trace-cmd's REPORT -t -R.
"""
import re, struct, sys, zlib
from types import SimpleNamespace

SWITCH, WAKING, WAKEUP, WAKEUP_NEW, MIGRATE, FORK, EXEC, EXIT, CUR, PID, TIME, PRIO, NAME = range(13)


def s32(value):
    return (value + 2**31) % 2**32 - 2**31


class Block:
    def __init__(self, block):
        self.cpu, front, _, self.events, _, self.time = struct.unpack_from("<HHIIQQ", block, 4)
        self.front = iter(block[36:36 + front])
        self.bits = "".join(f"{byte:08b}"[::-1] for byte in reversed(block[36 + front:]))
        self.range, self.code, self.models = 2**32 - 1, 0, {}
        for _ in range(4):
            self.next_byte()
        self.tasks, self.recent, self.contexts = [], [], {}
        self.cur = self.woken = self.pid = None
        self.before = self.new_pid = 0
        self.prio, self.name = 120, bytes(16)

    def next_byte(self):
        self.code = self.code << 8 | next(self.front, 0)

    def raw(self, n):
        assert n <= len(self.bits)
        value = int(self.bits[:n][::-1] or "0", 2)
        self.bits = self.bits[n:]
        return value

    def digit(self, *model):
        p = self.models.setdefault(model, [2] + [i * 8192 for i in range(1, 8)])
        bound = [p[i] - (p[i] >> 8) + 32 * i for i in range(8)] + [65536]
        part = self.range >> 16
        digit, = (i for i in range(8) if part * bound[i] <= self.code < part * bound[i + 1])
        width = bound[digit + 1] - bound[digit]
        self.code -= part * bound[digit]
        self.range = part * width
        if width < 64512:
            k = 2 + (p[0] >= 4) + (p[0] >= 8) + (p[0] >= 16)
            for i in range(1, 8):
                p[i] += -(p[i] >> k) if i <= digit else (65535 - p[i]) >> k
            p[0] = min(p[0] + 1, 16)
        while self.range < 2**24:
            self.range <<= 8
            self.next_byte()
        return digit

    def tree(self, model, n):
        value, before = 0, ()
        for _ in range(n):
            before += (self.digit(model, before),)
            value = 8 * value + before[-1]
        return value

    def int(self, model):
        k = self.tree(model, 2)
        assert k <= 32
        return 2**(k - 1) + self.raw(k - 1) if k else 0

    def signed(self, model):
        value = self.int(model)
        return -(value + 1) // 2 if value % 2 else value // 2

    def running(self):
        return None if self.cur is None else self.tasks[self.cur]

    def idle(self):
        return self.cur is not None and self.running().pid == 0

    def read_prio(self):
        self.prio = s32(self.signed("prio") + 120)
        return self.prio

    def read_name(self):
        self.name = bytes(self.tree("letter", 3) for _ in range(self.tree("length", 2)))
        return self.name

    def unpredicted(self, z, switch=False):
        c = self.digit("class", switch, z)
        if c < 2:
            return self.recent[c]
        if c < 5:
            return self.recent[2**(c - 1) + self.digit("place", c)]
        if c == 5:
            return self.recent[16 + 2 * self.digit("place", c) + self.raw(1)]
        if c == 6:
            return self.raw((len(self.tasks) - 1).bit_length())
        self.new_pid = s32(self.signed("pid") + self.new_pid)
        fresh = self.digit("fresh")
        if fresh & 1:
            self.read_prio()
        if fresh & 2:
            self.read_name()
        self.tasks.append(SimpleNamespace(pid=self.new_pid, prio=self.prio, name=self.name, after=[None, None],
                                          wakes=None, state=0, delta=0, habit=0, cpu=self.cpu))
        return len(self.tasks) - 1

    def any_task(self):
        return self.unpredicted(self.idle() + 4 * (self.before != 0))

    def touch(self, task):
        if task < 255:
            self.recent = [task] + [t for t in self.recent if t != task][:31]

    def read_context(self, kind):
        known = self.contexts.setdefault(kind, [])
        at = self.digit("context", kind)
        context = self.raw(16) if at == 7 else known.pop(at)
        self.contexts[kind] = [context] + known[:6]

    def read_time(self, kind):
        x = 2 * self.before + self.idle() + (56 + 8 * min(kind, 3) if kind else 8 * self.running().delta)
        h = self.digit("high", x)
        low = self.digit("low", x // 4, h)
        c = 2 * h + low // 4
        if kind == SWITCH:
            self.running().delta = h
        if c == 0:
            self.time += (low % 4 << 6) + self.raw(6)
        else:
            k = self.raw(6) if c == 15 else c + 8
            self.time += (4 + low % 4 << k - 3) + self.raw(k - 3)

    def change(self, symbol):
        if symbol == CUR:
            self.cur = self.any_task()
            self.pid = self.running().pid
        elif symbol == PID:
            self.pid = s32(self.raw(32))
        elif symbol == TIME:
            self.time = self.raw(64)
        elif symbol == PRIO:
            task = self.any_task()
            self.tasks[task].prio = self.read_prio()
        else:
            assert symbol == NAME
            task = self.any_task()
            self.tasks[task].name = self.read_name()

    def event(self):
        """Its time, common_pid, kind and fields"""
        while True:
            cur = self.running()
            about = (cur.habit, cur.state == 0, self.idle()) if cur else (0, False, False)
            what = self.digit("what", self.before, *about)
            if what == 6:
                self.read_context(SWITCH)
                continue
            kind = [SWITCH, SWITCH, SWITCH, WAKING, WAKEUP, MIGRATE, None, None][what]
            if kind is None:
                kind = self.raw(4)
            if kind < CUR:
                break
            self.change(kind)
        pid = self.pid
        fields = self.switch(what) if kind == SWITCH else self.other(kind)
        self.before = min(kind, 3)
        return self.time % 2**64, pid, kind, fields

    def switch(self, what):
        prev = self.running()
        self.read_time(SWITCH)
        state = prev.state if what < 2 else self.tree(("state", self.idle()), 2)
        z = self.idle() + 2 * (state == 0) + 4 * (self.before != 0)
        predicted, hit = prev.after[state == 0], what == 0
        if what == 2 and predicted is not None:
            hit = not self.digit("hit", z)
        value = self.raw(64) if state == 15 else 2**(state - 1) if state else 0
        task = predicted if hit else self.unpredicted(z, True)
        prev.habit = (what < 2) + 2 * (predicted == task)
        prev.state = state
        prev.after[state == 0] = task
        self.touch(self.cur)
        self.cur = task
        then = self.running()
        self.pid = then.pid
        return prev.name, prev.pid, prev.prio, value, then.name, then.pid, then.prio

    def other(self, kind):
        differs = self.digit("differs", kind, self.before != 0, self.idle())
        if differs & 1:
            self.read_context(kind)
        self.read_time(kind)
        number = self.woken if kind in (WAKEUP, WAKEUP_NEW, MIGRATE) else self.cur
        if kind == WAKING and self.cur is not None:
            number = self.running().wakes
        if differs & 2:
            number = self.any_task()
        task = self.tasks[number]
        fields = (task.name, task.pid, task.prio)
        if differs & 4:
            task.cpu = s32(self.signed("cpu"))
        if WAKING <= kind <= MIGRATE:
            fields += (task.cpu,)
            self.woken = number
        if kind == MIGRATE:
            task.cpu = s32(self.signed("cpu"))
            fields += (task.cpu,)
        if kind == FORK:
            self.woken = self.any_task()
            child = self.tasks[self.woken]
            fields = (task.name, task.pid, child.name, child.pid)
        if kind == EXEC:
            old_pid = s32(self.raw(32))
            fields = (bytes(self.raw(8) for _ in range(self.int("filename"))), task.pid, old_pid)
        if kind == WAKING and self.cur is not None:
            self.running().wakes = number
        if kind <= FORK:
            self.touch(self.woken)
        return fields


FORMAT = [
    "sched_switch: prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%d next_comm=%s next_pid=%d next_prio=%d",
    "sched_waking: comm=%s pid=%d prio=%d target_cpu=%03d",
    "sched_wakeup: comm=%s pid=%d prio=%d target_cpu=%03d",
    "sched_wakeup_new: comm=%s pid=%d prio=%d target_cpu=%03d",
    "sched_migrate_task: comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d",
    "sched_process_fork: parent_comm=%s parent_pid=%d child_comm=%s child_pid=%d",
    "sched_process_exec: filename=%s pid=%d old_pid=%d",
    "sched_process_exit: comm=%s pid=%d prio=%d",
]


def blocks(trace):
    """By the field of the record that tells where its block is"""
    for found in re.finditer(rb"SZ\x02\0", trace):
        length = struct.unpack_from("<H", trace, found.start() - 2)[0]
        block = trace[found.start():found.start() + length]
        if len(block) > 36 and zlib.crc32(block[:32] + block[36:]) ^ 0xffffffff == struct.unpack_from("<I", block, 32)[0]:
            yield Block(block)


got = []
for b in blocks(open(sys.argv[1], "rb").read()):
    for _ in range(b.events):
        time, pid, kind, fields = b.event()
        fields = tuple(f.split(b"\0")[0].decode() if isinstance(f, bytes) else f for f in fields)
        got.append(f"{pid} {b.cpu} {time // 10**9}.{time % 10**9:09d} {FORMAT[kind] % fields}")
want = []
for line in open(sys.argv[2]):
    m = re.match(r".*?-(\d+) +(\d+)-\S+ +([0-9.]+): (sched_\w+:) +(.*)", line)
    if m:
        want.append(f"{m[1]} {m[2]} {m[3]} {m[4]} {m[5]}".rstrip())
assert len(want) > 1000
assert sorted(got) == sorted(want), [pair for pair in zip(sorted(got), sorted(want)) if pair[0] != pair[1]][:3]
