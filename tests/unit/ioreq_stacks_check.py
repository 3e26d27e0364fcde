# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_stacks.sh: the stacks in each format against a.truth and b.truth."""
import collections, csv, json, math
COMM = {1000: "worker", 1001: "worker", 1002: "other"}
truths = {"web": json.load(open("a.truth")), "db": json.load(open("b.truth"))}


def rank(values, p):
    return sorted(values)[math.ceil(p * len(values) / 100) - 1]


def wanted(key, longer=0):
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for host, truth in truths.items():
        for tgid, op, name, result, took, stack in truth["calls"]:
            if took >= longer:
                groups[key(host, COMM[tgid], op, name)][stack].append((took, result))
    return groups


def described(host, stack):
    return truths[host]["stacks"].get(str(stack)) or {
        "end": "none" if stack == 0 else "missing", "guessed": 0, "frames": []}


def common(a, b):
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return n


def check(result, key, name_of, longer=0):
    want = wanted(key, longer)
    assert [g["time"] for g in result["stacks"]] == sorted((g["time"] for g in result["stacks"]), reverse=True)
    for group in result["stacks"]:
        stacks = want.pop(name_of(group))
        assert group["count"] == sum(map(len, stacks.values()))
        assert group["time"] == sum(t for v in stacks.values() for t, _ in v)
        assert len(group["stacks"]) == len(stacks)
        for got in group["stacks"]:
            times = [t for t, _ in stacks[got["stack"]]]
            results = [r for _, r in stacks[got["stack"]]]
            what = described(group["host"], got["stack"])
            assert {k: got[k] for k in ("count", "time", "p50", "p99", "max", "failed", "bytes")} == {
                "count": len(times), "time": sum(times), "p50": rank(times, 50), "p99": rank(times, 99),
                "max": max(times), "failed": sum(r < 0 for r in results), "bytes": sum(r for r in results if r > 0)}
            assert {k: got[k] for k in ("end", "guessed")} == {k: what[k] for k in ("end", "guessed")}, (got, what)
            assert got["frames"] == what["frames"], (got["frames"], what["frames"])
            others = [described(group["host"], s)["frames"] for s in stacks if s != got["stack"]]
            shared = max((common(what["frames"], o) for o in others), default=None)
            parts = shared if shared is not None and shared < len(what["frames"]) else None
            assert got.get("parts") == parts, (got, parts)
    assert not want
    return result


whole = check(json.load(open("out.json")), lambda h, c, o, n: (h, c, o, n),
              lambda g: (g["host"], g["comm"], g["call"], g["name"]))
assert len(whole["stacks"]) == 16
# The lines of one program, of another one, and of none
lines = {f["line"] for g in whole["stacks"] for s in g["stacks"] for f in s["frames"] if "line" in f}
assert lines == {5, 9, 14, 19, 20} or lines == {4, 5, 9, 14, 19, 20}, lines
check(json.load(open("longer.json")), lambda h, c, o, n: (h, o), lambda g: (g["host"], g["call"]), 2000000)
sums = {(r["host"], r["call"]): int(r["time"]) for r in csv.DictReader(open("longer.csv"))}
calls = [c for t in truths.values() for c in t["calls"]]
assert sum(sums.values()) == sum(c[4] for c in calls if c[4] >= 2000000)

# CSV and JSON say the same
rows = list(csv.DictReader(open("out.csv")))
flat = [(g, s) for g in whole["stacks"] for s in g["stacks"]]
assert len(rows) == len(flat)
for row, (group, stack) in zip(rows, flat):
    assert [row[k] for k in ("host", "comm", "call", "name")] == [group[k] for k in ("host", "comm", "call", "name")]
    assert all(row[k] == str(stack[k]) for k in ("stack", "end", "count", "time", "p50", "p99", "max", "failed", "bytes"))
    assert row["parts"] == str(stack.get("parts", ""))
    frames = [(f"{f['object']}+" if "object" in f else "") + f"{f.get('offset', f.get('address')):#x}" +
              (f" {f['function']} at {f['file']}:{f['line']}" if "line" in f else "") for f in stack["frames"]]
    assert row["frames"] == ";".join(frames), (row["frames"], frames)

# Folded: the outermost frame first, and the sum is the whole time
total = 0
for line in open("out.folded"):
    stack, time = line.rsplit(" ", 1)
    total += int(time)
assert total == sum(c[4] for c in calls)
assert any(";gone.so+0x1234;main;one;log_line;write;/a " in line for line in open("out.folded"))
assert any(";pending;two;log_line;" in line for line in open("out.folded"))

# Text: a group's share of stacks, in the group's order, and where they branch
text = open("out.text").read().split("\n\n")
for group in whole["stacks"]:
    name = f"{group['host']}, {group['comm']}, {group['call']}, {group['name']}: {group['count']} calls, "
    block, = [b for b in text if b.startswith(name)]
    assert f", {len(group['stacks'])} stacks\n" in block + "\n", block
    heads = [float(x.split("%")[0].replace("|", "")) for x in block.splitlines() if "%: " in x and not x.startswith("  |")]
    assert heads == sorted(heads, reverse=True) and abs(sum(heads) - 100) < 1, heads
    # Frames that several stacks share, from the innermost one on, are printed once
    prefixes = {json.dumps(s["frames"][:i + 1]) for s in group["stacks"] for i in range(len(s["frames"]))}
    assert len([x for x in block.splitlines()[1:] if "0x" in x]) == len(prefixes), block
