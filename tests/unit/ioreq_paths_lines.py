# SPDX-License-Identifier: GPL-2.0
# Of test_ioreq_paths.sh, in its directory of results.
import collections, csv, json
function = dict(reversed(line.split()) for line in open("offsets"))
line = {f"f{i}": n + 3 for n, text in enumerate(open("prog.c"), 1) for i in range(1, 6) if f"void f{i}(" in text}
causes = json.load(open("paths.json"))["causes"]
roots = set()
times = collections.defaultdict(collections.Counter)
parent, calls = {}, []
for text in open("tiers"):
    f = text.rstrip("\n").split("\t")
    if f[0] == "request":
        parent[f[1]] = f[2]
    else:
        calls.append(f)
for f in calls:
    host, op, took, name, request, offset = f[1], f[4], int(f[6]), f[8], f[9], f[10]
    # Ambiguous requests have no steps
    if offset == "-" or parent[request] == "?":
        continue
    times[["front", "app", "db"][int(host)], "sync" if "sync" in op else "files", name][offset] += took
told = {(c["host"], c["step"], c["object"]): c for c in causes if c["code"]}
assert set(told) == set(times) and len(told) == 3, (set(told), set(times))
for key, c in told.items():
    (offset, time), = times[key].most_common(1)
    f = function[offset]
    assert c["code_time"] == time < c["time"], (key, c, times[key])
    where, name, _, source = c["code"].split(" ")
    assert (where, name) == (f"/usr/bin/prog+0x{offset}", f) and source.endswith(f"/prog.c:{line[f]}"), (c, f, line)
assert all(c["code_time"] == 0 for c in causes if not c["code"]) and len(causes) > len(told)
assert [row for row in csv.DictReader(open("paths.csv")) if row["step"] != "ambiguous"] == [{k: str(v) for k, v in c.items()} for c in causes]
text = open("paths.txt").read().splitlines()
for c in told.values():
    at = next(i for i, t in enumerate(text) if t.endswith(f" {c['step']:<21} {c['object']}"))
    share = f"{100 * c['code_time'] / c['time']:.0f} % of it from {c['code'].replace('/usr/bin/', '')}"
    assert text[at + 1].strip() == share, (text[at + 1], share)
