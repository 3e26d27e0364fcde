# SPDX-License-Identifier: GPL-2.0
"""Prometheus, node_exporter and journalctl read what two watches report, in a guest.

The truth about alarms, values and limits is in the kernel's files and in this program, which
makes the slow reads; the truth about cases is in their directories.
"""
import json, mmap, os, re, signal, subprocess, time, urllib.parse, urllib.request

SCALE = int(os.environ.get("TRACERIG_TIMEOUT_SCALE", 1))
TRACEFS = "/sys/kernel/tracing"
NULLB = "/sys/kernel/config/nullb"
MS = 1_000_000
READS = 6
WATCH, EXPORTER, PROMETHEUS = "localhost:9321", "localhost:9322", "localhost:9323"
os.chdir("/tmp")
started = []


def start(name, *command):
    log = open(name + ".log", "w")
    process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    started.append((name, process))
    return process


def until(done, what):
    """Wait until done() returns something true. Return: that"""
    end = time.monotonic() + 120 * SCALE
    while not (value := done()):
        for name, process in started:
            assert process.poll() is None, f"{name} has ended: " + text(name + ".log")[-2000:]
        assert time.monotonic() < end, f"not within {120 * SCALE} s: {what}"
        time.sleep(0.2)
    return value


def text(path):
    with open(path, errors="replace") as file:
        return file.read()


def get(address, path):
    try:
        with urllib.request.urlopen(f"http://{address}{path}", timeout=20 * SCALE) as answer:
            return answer.read().decode()
    except OSError:
        return None


def query(job, series):
    """The value of a series in Prometheus, or None"""
    name, _, labels = series.partition("{")
    labels = [f'job="{job}"'] + ([labels.rstrip("}")] if labels else [])
    asked = urllib.parse.quote(name + "{" + ",".join(labels) + "}")
    answer = get(PROMETHEUS, "/api/v1/query?query=" + asked)
    result = json.loads(answer)["data"]["result"] if answer else []
    assert len(result) < 2, result
    return float(result[0]["value"][1]) if result else None


def chart(number):
    """The kernel's own counts of a watch's chart: judged values, alarms, limit in ns"""
    shown = text(f"{TRACEFS}/instances/tracerig-{number}/events/block/block_rq_complete/ctlchart")
    found = [re.search(p, shown, re.M) for p in (r"^values: .*judged (\d+)", r"^alarms: (\d+)", r"^limit: (\d+) ns$")]
    return [int(f[1]) for f in found]


def null_disk():
    path = NULLB + "/slow"
    os.mkdir(path)
    for key, value in {"size": 64, "blocksize": 4096, "irqmode": 2, "completion_nsec": 400 * MS, "power": 1}.items():
        with open(f"{path}/{key}", "w") as file:
            file.write(str(value))
    return os.open("/dev/slow", os.O_RDONLY | os.O_DIRECT)


def watch(name, metrics, limit):
    filter = f"ctlchart(block_bio_queue, dev, sector, ucl={limit}, pre=20ms, post=5ms, from=start, name=disk)"
    start(name, "tracerig", "watch", "--dir", name, "-e", "block:block_rq_complete", "-f", filter, "--metrics", metrics)
    until(lambda: ": limit " in text(name + ".log"), name + " begins")


def cases(name):
    return sorted(int(n) for n in os.listdir(name) if n.isdigit())


def entries():
    done = subprocess.run(
        ["journalctl", "--directory=/run/log/journal", "-o", "json", "MESSAGE_ID=780979a1a7ab42f38f94f87832f0a8ae"],
        capture_output=True, text=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_journal(sectors):
    """journalctl shows an entry with its fields for each case"""
    found = until(lambda: len(e := entries()) >= 2 * READS and e, "entries in the journal")
    for name, limit in LIMITS.items():
        mine = [e for e in found if int(e["TRACERIG_LIMIT"]) == limit]
        slow = [e for e in mine if int(e["TRACERIG_VALUE"]) >= 400 * MS]
        keys = [re.search(r"sector=(\d+)", e["TRACERIG_KEYS"])[1] for e in slow]
        assert keys == [str(s) for s in sectors], (keys, sectors)
        kept = {int(e["TRACERIG_CASE"]): e for e in mine if e["TRACERIG_CASE"] != "0"}
        assert set(cases(name)) <= set(kept), (cases(name), kept)
        for number in cases(name):
            case, entry = json.loads(text(f"{name}/{number}/case.json")), kept[number]
            alarm = case["alarm"]
            assert entry["TRACERIG_VALUE"] == str(alarm["value"]) and entry["TRACERIG_CHART"] == "disk"
            assert entry["TRACERIG_PID"] == str(alarm["pid"]) == str(os.getpid())
            assert entry["TRACERIG_COMM"] == alarm["comm"] == text("/proc/self/comm").strip()
            assert entry["TRACERIG_GROUP"] == case["group"] and entry["TRACERIG_ALARMS"] == str(case["nr_alarms"])
            assert entry["TRACERIG_UNIT"] == "ns" and entry["TRACERIG_DIR"] == f"{name}/{number}", entry
            assert entry["PRIORITY"] == "4" and entry["MESSAGE"].startswith(f"case {number}: disk took "), entry


def check_prometheus():
    """Prometheus has the values of the kernel and of the cases, by HTTP and by node_exporter"""
    for n, (job, name) in enumerate((("watch", "served"), ("node", "written"))):
        values, alarms, limit = chart(n + 1)
        until(lambda: query(job, 'tracerig_alarms_total{chart="disk"}') == alarms, f"{job}: {alarms} alarms")
        until(lambda: query(job, 'tracerig_values_total{chart="disk"}') == values, f"{job}: {values} values")
        assert limit == LIMITS[name]
        assert query(job, 'tracerig_limit_seconds{chart="disk"}') == limit / 1e9
        assert query(job, 'tracerig_center_seconds{chart="disk"}') is None
        results = {r: query(job, f'tracerig_cases_total{{result="{r}"}}') for r in ("kept", "alike", "failed")}
        reported = [e for e in entries() if int(e["TRACERIG_LIMIT"]) == limit]
        assert results["kept"] == sum(e["TRACERIG_CASE"] != "0" for e in reported), results
        assert results["alike"] == sum(e["TRACERIG_CASE"] == "0" for e in reported) and results["failed"] == 0, results
        group = text("/proc/self/comm").strip().rstrip("0123456789-")
        label = next(e["TRACERIG_GROUP"] for e in reported)
        assert group in label
        assert query(job, f'tracerig_group_cases_total{{group="{label}"}}') == len(
            [e for e in reported if e["TRACERIG_GROUP"] == label])
        size = sum(os.path.getsize(f"{name}/{c}/{f}") for c in cases(name) for f in os.listdir(f"{name}/{c}"))
        assert query(job, "tracerig_case_bytes") == size, size
        assert query(job, "tracerig_lost_events_total") == 0
    assert query("node", "node_textfile_scrape_error") == 0


def check_promtool():
    """promtool check metrics has nothing to complain of"""
    for shown in (get(WATCH, "/metrics"), text("textfile/tracerig.prom")):
        done = subprocess.run(["promtool", "check", "metrics"], input=shown, capture_output=True, text=True)
        assert done.returncode == 0 and not done.stdout + done.stderr, done.stdout + done.stderr


def test(work, *arguments):
    try:
        work(*arguments)
        print("ok monitoring:", work.__doc__, flush=True)
    except Exception as error:  # pylint: disable=broad-except
        print("not ok monitoring:", work.__doc__, flush=True)
        print(f"# {type(error).__name__}: {error}".replace("\n", "\n# "), flush=True)


LIMITS = {"served": 200 * MS, "written": 201 * MS}
os.makedirs("/run/systemd/journal", exist_ok=True)
os.makedirs("textfile")
start("journald", "/lib/systemd/systemd-journald")
until(lambda: os.path.exists("/run/systemd/journal/socket"), "the journal's socket")
disk = null_disk()
watch("served", WATCH, "200ms")
watch("written", "textfile/tracerig.prom", "201ms")
with open("prometheus.yml", "w") as file:
    jobs = [{"job_name": j, "static_configs": [{"targets": [a]}]} for j, a in (("watch", WATCH), ("node", EXPORTER))]
    json.dump({"global": {"scrape_interval": "2s", "scrape_timeout": "2s"}, "scrape_configs": jobs}, file)
start("exporter", "prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
      "--collector.textfile.directory=/tmp/textfile", "--web.listen-address=" + EXPORTER)
start("prometheus", "prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=/tmp/tsdb",
      "--web.listen-address=" + PROMETHEUS)
until(lambda: query("node", "up") == 1 and query("watch", "up") == 1, "Prometheus scrapes")
buffer = mmap.mmap(-1, 4096)
sectors = []
for n in range(READS):
    os.preadv(disk, [buffer], (n + 1) * 4096)
    sectors.append((n + 1) * 8)
    until(lambda: len(entries()) >= 2 * (n + 1), f"read {n + 1} in the journal")
test(check_journal, sectors)
test(check_prometheus)
test(check_promtool)
for name, process in reversed(started):
    process.send_signal(signal.SIGTERM)
    if process.wait() and not name.startswith(("prometheus", "exporter")):
        print(f"not ok monitoring: {name} ends: {text(name + '.log')[-1000:]}".replace("\n", "\n# "))
os.close(disk)
with open(NULLB + "/slow/power", "w") as file:
    file.write("0")
os.rmdir(NULLB + "/slow")
