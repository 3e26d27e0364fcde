# SPDX-License-Identifier: GPL-2.0
"""Make calls on pipes of all kinds, with a log of the bytes that each moved in calls.log."""
import ctypes, fcntl, os, random, socket, struct, sys, threading

from processes import until

libc = ctypes.CDLL(None, use_errno=True)
random.seed(1)
log = open("calls.log", "w")

class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]

def vmsplice(fd, data):
    vec = Iovec(ctypes.cast(data, ctypes.c_void_p), len(data))
    n = libc.vmsplice(fd, ctypes.byref(vec), 1, 0)
    assert n >= 0, os.strerror(ctypes.get_errno())
    return n

def tee(a, b, n):
    n = libc.tee(a, b, n, 0)
    assert n > 0, os.strerror(ctypes.get_errno())
    return n

class Pipe:
    def __init__(self, flags=0):
        self.r, self.w = os.pipe2(flags)
        self.ino = os.fstat(self.r).st_ino
        self.got = self.put = 0

def note(tid, op, *moved):
    """moved: pipe's inode number, way, ranges"""
    parts = [f"{ino} {way} {','.join(f'{a}-{b}' for a, b in ranges)}" for ino, way, ranges in moved]
    print(tid, op, " ".join(parts), sep="\t", file=log)

tid = threading.get_native_id
logging = False

def did(op, p, way, n):
    at = p.put if way == "written" else p.got
    if logging:
        note(tid(), op, (p.ino, way, [(at, at + n)]))
    if way == "written":
        p.put += n
    elif way == "read":
        p.got += n

def write(p, n):
    did("write", p, "written", os.write(p.w, b"x" * n))

def read(p, n):
    did("read", p, "read", len(os.read(p.r, n)))

def merge(ranges):
    out = []
    for a, b in ranges:
        if out and out[-1][1] == a:
            out[-1] = (out[-1][0], b)
        else:
            out.append((a, b))
    return out

def children(n, what):
    """Run what(i) in n processes. Return: a function that returns their results"""
    out = []
    for i in range(n):
        r, w = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                os.close(r)
                data = repr(what(i)).encode()
                while data:
                    data = data[os.write(w, data):]
                os._exit(0)
            except BaseException as e:
                print(e, file=sys.stderr)
                os._exit(1)
        os.close(w)
        out.append((pid, r))
    def results():
        got = []
        for pid, r in out:
            data = b""
            while part := os.read(r, 65536):
                data += part
            os.close(r)
            assert os.waitpid(pid, 0)[1] == 0
            got.append((pid, eval(data)))
        return got
    return results

def message_sizes(i, messages, large):
    rng = random.Random(i)
    return [4 * (rng.randint(20000, 50000) if large else rng.randint(3, 1024)) for k in range(messages)]

# Messages of several writers; their places follow from the order in which they arrive
def writers(p, n, messages, large):
    def one(i):
        for k, size in enumerate(message_sizes(i, messages, large)):
            assert os.write(p.w, struct.pack("<HH", i + 1, k) * (size // 4)) == size
    results = children(n, one)
    where, at, sizes = {}, p.got, random.Random(2)
    total = sum(size for i in range(n) for size in message_sizes(i, messages, large))
    while total:
        data = os.read(p.r, min(total, 4 * sizes.randint(1, 5000)))
        assert len(data) % 4 == 0 and data
        did("read", p, "read", len(data))
        for j in range(0, len(data), 4):
            where.setdefault(data[j:j + 4], []).append((at + j, at + j + 4))
        at += len(data)
        total -= len(data)
    pids = [pid for pid, _ in results()]
    p.put = p.got
    for unit, ranges in where.items():
        i, k = struct.unpack("<HH", unit)
        note(pids[i - 1], "write", (p.ino, "written", merge(ranges)))

# The bytes show which reader got them
def readers(p, n, words):
    def one(i):
        got, rng = [], random.Random(i)
        os.close(p.w)
        while data := os.read(p.r, 8 * rng.randint(1, 600)):
            assert len(data) % 8 == 0
            at, = struct.unpack("<Q", data[:8])
            assert data == b"".join(struct.pack("<Q", at + j) for j in range(0, len(data), 8))
            got.append((at, at + len(data)))
        return got
    results = children(n, one)
    end = p.put + 8 * words
    while p.put < end:
        n = min(end - p.put, 8 * random.randint(1, 400))
        did("write", p, "written", os.write(p.w, b"".join(struct.pack("<Q", p.put + j) for j in range(0, n, 8))))
    os.close(p.w)
    used = 0
    for pid, got in results():
        used += len(got) > 0
        for a, b in got:
            note(pid, "read", (p.ino, "read", [(a, b)]))
    print(f"# {used} of the readers got some", file=sys.stderr)

def splices():
    a, b, c = Pipe(), Pipe(), Pipe()
    f = open("file", "w+b")
    f.write(b"f" * 50000)
    f.flush()
    x, y = socket.socketpair()
    moved = lambda op, *m: note(tid(), op, *m)
    for i in range(12):
        # A file into a pipe, in both ways
        n = os.splice(f.fileno(), a.w, random.randint(1, 9000), offset_src=0)
        did("splice", a, "written", n)
        n = os.sendfile(a.w, f.fileno(), 0, random.randint(1, 9000))
        did("sendfile", a, "written", n)
        # Memory into a pipe
        n = vmsplice(a.w, ctypes.create_string_buffer(random.randint(1, 9000)))
        did("vmsplice", a, "written", n)
        write(a, random.randint(1, 200))
        # A copy remains
        have = a.put - a.got
        n = tee(a.r, b.w, random.randint(1, have))
        moved("tee", (a.ino, "read", [(a.got, a.got + n)]), (b.ino, "written", [(b.put, b.put + n)]))
        b.put += n
        # One pipe into another
        n = os.splice(a.r, c.w, random.randint(1, have))
        moved("splice", (a.ino, "read", [(a.got, a.got + n)]), (c.ino, "written", [(c.put, c.put + n)]))
        a.got += n
        c.put += n
        # And into memory, a socket, a file, and /dev/null
        while a.put - a.got:
            n = vmsplice(a.r, ctypes.create_string_buffer(random.randint(1, 20000)))
            did("vmsplice", a, "read", n)
        while b.put - b.got:
            n = os.splice(b.r, x.fileno(), random.randint(1, 20000))
            did("splice", b, "read", n)
            while n:
                m = os.splice(y.fileno(), b.w, n)
                did("splice", b, "written", m)
                n -= m
            read(b, random.randint(1, 20000))
        while c.put - c.got:
            n = os.splice(c.r, f.fileno(), random.randint(1, 20000), offset_dst=100)
            did("splice", c, "read", n)
    # A call whose end differs from its beginning: the write that fails moves no bytes
    write(a, 10)
    assert libc.write(a.w, ctypes.c_void_p(1), 100) < 0
    write(a, 20)
    read(a, 25)

def packets():
    p = Pipe(os.O_DIRECT)
    for i in range(10):
        a, b = random.randint(2, 4000), random.randint(1, 4000)
        write(p, a)
        write(p, b)
        # The rest of the packet is dropped
        os.read(p.r, a // 2)
        note(tid(), "read", (p.ino, "read", [(p.got, p.got + a // 2)]))
        p.got += a
        read(p, 5000)

def fifos():
    os.mkfifo("fifo")
    for i in range(3):
        p = Pipe()
        os.close(p.r)
        os.close(p.w)
        p.r = p.w = os.open("fifo", os.O_RDWR)
        p.ino = os.fstat(p.r).st_ino
        # Only this process opens it: each time it is a new pipe, with offsets from 0
        p.got = p.put = 0
        write(p, 100)
        read(p, 60)
        write(p, 5)
        os.close(p.r)

old, shared = Pipe(), Pipe()
fcntl.fcntl(old.w, fcntl.F_SETPIPE_SZ, 1 << 20)
for i in range(20):
    write(old, 30000)
    read(old, 20000)
write(shared, 777)
os.read(shared.r, 777)
shared.got = 777
open("begun", "w").close()
until(lambda: os.path.exists("go"), "the recording begins")
logging = True
# These bytes are read now, and were written before
while old.put - old.got:
    read(old, 33333)
write(old, 900000)
fcntl.fcntl(old.w, fcntl.F_SETPIPE_SZ, 1 << 21 if os.geteuid() == 0 else 1 << 20)
read(old, 900000)
writers(shared, 4, 40, False)
large = Pipe()
writers(large, 2, 3, True)
readers(Pipe(), 3, 8000)
splices()
packets()
fifos()
log.close()
open("over", "w").close()
