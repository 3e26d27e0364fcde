# SPDX-License-Identifier: GPL-2.0
"""tracerig watch in a guest: killed at random moments, several at a time, and for long.

The settings that a watch must not change are read from tracefs; the truth about slow reads,
their number and disk, is in this program, which makes them.
"""
import ctypes, json, mmap, os, random, re, shutil, signal, subprocess, sys, threading, time

SCALE = int(os.environ.get("TRACERIG_TIMEOUT_SCALE", 1))
WINDOWS = int(os.environ["TRACERIG_WINDOWS"])
TRACEFS = "/sys/kernel/tracing"
NULLB = "/sys/kernel/config/nullb"
CGROUP = "/sys/fs/cgroup"
TICKS = os.sysconf("SC_CLK_TCK")
MS = 1_000_000
KILLS = 10
KILLS_PATHS = 4  # each takes the emulator a minute
ROUNDS = 3
HIGHEST = 32 << 10  # maximum KiB of a watch
os.chdir("/tmp")
failures = 0


def test(work):
    """Do the work, and print an ok or not ok line"""
    global failures
    try:
        work()
        print("ok watch:", work.__doc__, flush=True)
    except Exception as error:  # pylint: disable=broad-except
        failures += 1
        print("not ok watch:", work.__doc__, flush=True)
        print(f"# {type(error).__name__}: {error}", flush=True)


def text(path):
    with open(path, errors="replace") as file:
        return file.read()


def until(done, seconds, what):
    end = time.monotonic() + seconds * SCALE
    while not done():
        assert time.monotonic() < end, f"not within {seconds * SCALE} s: {what()}"
        time.sleep(0.05)


def null_disk(name, nanoseconds):
    path = f"{NULLB}/{name}"
    os.mkdir(path)
    values = {"size": 1024, "blocksize": 4096, "irqmode": 2, "completion_nsec": nanoseconds, "power": 1}
    for key, value in values.items():
        with open(f"{path}/{key}", "w") as file:
            file.write(str(value))
    return f"/dev/{name}"


class Reader:
    """Reads blocks of a disk by preadv2(), each at another place"""

    def __init__(self, disk):
        self.fd = os.open(disk, os.O_RDONLY | os.O_DIRECT)
        self.buffer = mmap.mmap(-1, 4096)
        self.block = 0

    def read(self):
        self.block = (self.block + 1) % 200000
        assert os.preadv(self.fd, [self.buffer], self.block * 4096) == 4096


def be_called(name):
    """The name of this thread"""
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)


class Watch:
    def __init__(self, directory, *arguments):
        self.log = directory + ".log"
        self.out = open(self.log, "w")
        self.process = subprocess.Popen(
            ["tracerig", "watch", "--dir", directory, *arguments], stdout=self.out, stderr=subprocess.STDOUT
        )

    def lines(self, pattern):
        return len(re.findall(pattern, text(self.log), re.M))

    def wait_for(self, pattern, count=1, seconds=60):
        until(lambda: self.lines(pattern) >= count, seconds, lambda: f"{count} times {pattern}: {text(self.log)}")

    def end(self, status=0):
        self.process.send_signal(signal.SIGTERM)
        got = self.process.wait()
        assert got == status, f"status {got}: {text(self.log)}"

    def memory(self):
        """Return: resident KiB now, and their maximum"""
        status = text(f"/proc/{self.process.pid}/status")
        return [int(re.search(rf"^{key}:\s*(\d+) kB", status, re.M)[1]) for key in ("VmRSS", "VmHWM")]

    def seconds(self):
        """Return: CPU time, including the children that wrote its cases"""
        fields = text(f"/proc/{self.process.pid}/stat").rsplit(")", 1)[1].split()
        return [sum(int(n) for n in fields[i : i + 2]) / TICKS for i in (11, 13)]


def state():
    """Return: all settings in tracefs that a watch changes; outside of its instance, none may stay changed"""
    files = ["kprobe_events", "uprobe_events", "dynamic_events", "synthetic_events", "set_event", "current_tracer"]
    files += ["set_graph_function", "max_graph_depth"]
    files += ["trace_clock", "tracing_on", "buffer_size_kb", "trace_options", "set_event_pid"]
    found = {name: text(f"{TRACEFS}/{name}") for name in files if os.path.exists(f"{TRACEFS}/{name}")}
    found["instances"] = sorted(os.listdir(f"{TRACEFS}/instances"))
    found["systems"] = sorted(os.listdir(f"{TRACEFS}/events"))
    for system in ("block", "sched", "syscalls", "irq", "ctlchart", "ctlchart_debug"):
        for directory, _, names in os.walk(f"{TRACEFS}/events/{system}"):
            for name in set(names) & {"enable", "filter", "trigger", "ctlchart"}:
                found[f"{directory}/{name}"] = text(f"{directory}/{name}")
    return found


def check_state(before):
    now = state()
    differ = [key for key in before.keys() | now.keys() if before.get(key) != now.get(key)]
    assert not differ, {key: (before.get(key), now.get(key)) for key in differ[:5]}


def learning():
    """a watch that ends while it learns says so"""
    before = state()
    watch = Watch("short", "disk", "wakeup", "--for", "1s")
    assert watch.process.wait() == 3
    assert watch.lines("^tracerig watch: disk: ended while learning .*: nothing was judged$"), text(watch.log)
    check_state(before)


def kill_often(times, pause, *what):
    """Kill watches of @what up to @pause seconds after their begin; the next watch removes what they left"""
    seed = int.from_bytes(os.urandom(4), "little")
    random.seed(seed)
    with open("none.limits", "w") as file:
        file.write("not limits\n")
    before = state()
    start = time.monotonic()
    watch = Watch("killed", *what)
    watch.wait_for(": learning$", seconds=600)
    longest = time.monotonic() - start
    watch.end(3)
    left, said = set(), []
    for _ in range(times):
        watch = Watch("killed", *what)
        time.sleep(random.uniform(0, 1.5 * longest + pause))
        watch.process.kill()
        watch.process.wait()
        said.append(text(watch.log))
        now = state()
        left |= {key for key in before if before[key] != now.get(key)}
        # It cleans up before it finds that it cannot watch
        watch = Watch("next", "wakeup", "--limits", "none.limits")
        assert watch.process.wait() == 1 and watch.lines("none.limits:1: a line begins with event:"), text(watch.log)
        check_state(before)
    watch = Watch("killed", "wakeup")
    watch.wait_for(": learning$")
    watch.end(3)
    rest = [n for n in os.listdir("killed") if n.startswith(".")]
    assert not rest, rest
    print(f"# seed {seed}: after {times} kills there were left: {', '.join(sorted(left)[:6])}")
    assert left, f"each was killed before it had begun, in up to {longest} s: {said}"


def killed():
    """killed at random moments: the next watch removes what is left"""
    kill_often(KILLS, 0, "disk", "function:vfs_read", "uprobe:/bin/bash:main", "syscall:read")


def killed_paths():
    """and with --paths, while normal executions are recorded, too"""
    fixed = "ctlchart(sys_enter_read, common_pid, ucl=100s, from=start, name=read)"
    kill_often(KILLS_PATHS, 5, "function:vfs_read", "-e", "syscalls:sys_exit_read", "-f", fixed, "--paths")


def enter_group(name):
    """Put this process into a control group"""
    if not os.path.exists(f"{CGROUP}/cgroup.controllers"):
        subprocess.check_call(["mount", "-t", "cgroup2", "none", CGROUP])
    os.makedirs(f"{CGROUP}/{name}")
    with open(f"{CGROUP}/{name}/cgroup.procs", "w") as file:
        file.write(str(os.getpid()))


def check_group(shown, name):
    """The case of this process has the files of its control group, and of those above it"""
    headers = set(re.findall(r"^==> (.*) <==$", text(shown), re.M))
    while True:
        assert os.path.join(CGROUP, name, "cpu.stat") in headers, (name, headers)
        if not name:
            break
        name = os.path.dirname(name)


# As the preset disk, but with one limit: the slow disk is judged by that of the fast one
ALL_DISKS = ("-e", "block:block_rq_complete", "-f",
             "ctlchart(block_bio_queue, dev, sector, dup=last, stale=5s, pre=20ms, post=5ms, from=start, name=disk)")


def several():
    """two watches of two charts each, with saved limits, have all slow reads"""
    before = state()
    first = Watch("first", *ALL_DISKS, "syscall:preadv2", "--save-limits", "first.limits")
    second = Watch("second", *ALL_DISKS, "--save-limits", "second.limits")
    reader = Reader(fast)
    stop = threading.Event()

    def load():
        while not stop.is_set():
            reader.read()
            time.sleep(0.005)

    thread = threading.Thread(target=load)
    thread.start()
    try:
        first.wait_for(": learnt: ", 2, 120)
        second.wait_for(": learnt: ", 1, 120)
    finally:
        stop.set()
        thread.join()
    assert sorted(os.listdir(f"{TRACEFS}/instances")) == ["tracerig-1", "tracerig-2"]
    enter_group("a/b")
    slow = Reader(slowest)
    slow.read()
    sector = slow.block * 8
    for watch in (first, second):
        watch.wait_for(rf"case \d+: .* sector={sector}(,| )|case \d+: syscall.preadv2 took", 1)
        watch.end()
    check_state(before)
    for directory, charts in (("first", {"disk", "syscall.preadv2"}), ("second", {"disk"})):
        found = set()
        for number in filter(str.isdigit, os.listdir(directory)):
            alarms = json.loads(text(f"{directory}/{number}/case.json"))["alarms"]
            slow_ones = {a["chart"] for a in alarms if a["value"] >= 800 * MS}
            # Others may be of a fast read, before there was a control group
            if slow_ones:
                check_group(f"{directory}/{number}/cgroup.txt", "a/b")
            found |= slow_ones
        assert found == charts, (directory, found)
    again = Watch("again", *ALL_DISKS, "syscall:preadv2", "--limits", "first.limits")
    again.wait_for(": judging$", 2)
    slow.read()
    again.wait_for(r"case \d+: ", 1)
    again.end()
    limit = {n: re.search(rf"{n}: learnt: .* limit (.*)$", text("first.log"), re.M)[1] for n in ("disk", "syscall.preadv2")}
    for line in re.findall(r"^(\S+): learnt: .* limit (.*)$", text("again.log"), re.M):
        assert limit[line[0]] == line[1], (limit, line)
    check_state(before)


def long():
    """thousands of windows in 32 MB"""
    watch = Watch(
        "long", "-e", "block:block_rq_complete", "-f",
        "ctlchart(block_bio_queue, dev, sector, ucl=20ms, stale=5s, pre=20ms, post=5ms, from=start, name=disk)",
        "--metrics", "long.prom", "--keep", "64M",
    )
    watch.wait_for(": (learning|judging)$")
    stop = threading.Event()

    def load():
        reader = Reader(fast)
        while not stop.is_set():
            reader.read()
            time.sleep(0.01)

    thread = threading.Thread(target=load)
    thread.start()
    try:
        idle = watch.seconds()[0], time.monotonic()
        time.sleep(30)
        now = watch.seconds()[0], time.monotonic()
        share = 100 * (now[0] - idle[0]) / (now[1] - idle[1])
        print(f"# without alarms, 100 reads a second: {share:.2f} % of a CPU", flush=True)
        assert share < 1
        slow = Reader(slower)
        begin = time.monotonic(), watch.seconds()
        soon = min(100, WINDOWS // 2)
        # Names that do not end with digits: each is a separate group, up to 60 groups
        for n in range(WINDOWS):
            be_called("g%02dx" % (n % 60))
            slow.read()
            time.sleep(0.45)
            if n + 1 in (soon, WINDOWS // 2, WINDOWS):
                print("# after %d windows: %d KiB resident, %d at most" % (n + 1, *watch.memory()), flush=True)
                if n + 1 == soon:
                    early = watch.memory()[0]
        took, used = time.monotonic() - begin[0], watch.seconds()
        late, most = watch.memory()
    finally:
        be_called("python3")
        stop.set()
        thread.join()
    share = [100 * (a - b) / took for a, b in zip(used, begin[1])]
    cases = sum(len(os.listdir("long/" + n)) > 0 for n in os.listdir("long") if n.isdigit())
    size = sum(os.path.getsize(f"long/{n}/{f}") for n in os.listdir("long") if n.isdigit() for f in os.listdir("long/" + n))
    print(f"# {WINDOWS / took:.1f} windows per second: {share[0]:.1f} % of a CPU, {share[1]:.1f} % to write cases")
    print(f"# {cases} cases of {size} bytes are kept")
    watch.end()
    last = re.search(r"^(\d+) cases: (\d+) kept, (\d+) removed, (\d+) alike, 0 not written$", text(watch.log), re.M)
    # Reads that a slow host delays so that they follow within 0.3 s, or wait, are one case
    print(f"# {last[0]}")
    assert int(last[1]) >= WINDOWS * 0.5, last[0]
    assert int(last[2]) == cases, last[0]
    assert most <= HIGHEST, f"{most} KiB"
    assert late <= early * 1.1 + 1024, f"{early} KiB after {soon} windows, {late} at the end"
    assert size <= 64 << 20, size
    shutil.rmtree("long")


def large():
    """windows of more than 8 MB in 32 MB"""
    watch = Watch(
        "large", "--buffer", "64M", "-e", "raw_syscalls:sys_enter", "-e", "block:block_rq_complete", "-f",
        "ctlchart(block_bio_queue, dev, sector, ucl=20ms, stale=5s, pre=20ms, post=5ms, from=start, name=disk)",
    )
    watch.wait_for(": (learning|judging)$")
    load = subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1"], stderr=subprocess.DEVNULL)
    try:
        slow = Reader(slowest)
        for n in range(3):
            be_called("large" + "abc"[n])
            slow.read()
            watch.wait_for(r"case \d+: ", n + 1)
    finally:
        load.kill()
        load.wait()
    now, most = watch.memory()
    watch.end()
    sizes = [os.path.getsize(f"large/{n}/trace.dat") for n in os.listdir("large") if n.isdigit()]
    print(f"# cases with recordings of {sizes} bytes: {now} KiB resident, {most} at most")
    assert max(sizes) >= 8 << 20, sizes
    assert most <= HIGHEST, f"{most} KiB"
    shutil.rmtree("large")


def paths():
    """a load in a watch with --paths does as much as without one; its CPU time"""
    program = "./pathload"
    subprocess.check_call(["gcc", "-O1", "-o", program, os.environ["TRACERIG_TOP"] + "/tests/guest/pathload.c"])

    def took():
        seconds = {}
        for what in ("pipe", "futex"):
            times = []
            for _ in range(ROUNDS):
                child = os.posix_spawn(program, [program, what, "100000"], os.environ)
                _, status, usage = os.wait4(child, 0)
                assert status == 0, (what, status)
                # Without the time in which the host reads the program
                times.append(usage.ru_utime + usage.ru_stime)
            seconds[what] = min(times)
        return seconds

    before = state()
    alone = took()
    for options in ([], ["--paths"]):
        watch = Watch("paths", "syscall:read", *options)
        watch.wait_for(": learning$", seconds=600)
        now = took()
        watch.end(3)
        check_state(before)
        for what, called in (("pipe", "every other call is watched"), ("futex", "none of its calls is watched")):
            print(f"# syscall:read {' '.join(options)}: {what}, {called}: {now[what] / alone[what]:.2f} times as long")


fast, slower, slowest = null_disk("fast", 10_000), null_disk("slower", 50 * MS), null_disk("slowest", 900 * MS)
for work in (learning, killed, several, long, large, paths, killed_paths):
    if len(sys.argv) < 2 or work.__name__ in sys.argv[1:]:
        test(work)
for name in os.listdir(NULLB):
    if os.path.isdir(f"{NULLB}/{name}"):
        with open(f"{NULLB}/{name}/power", "w") as file:
            file.write("0")
        os.rmdir(f"{NULLB}/{name}")
