# SPDX-License-Identifier: GPL-2.0
# Of test_ioreq_outputs.sh, in its directory of results.
import bisect, collections, csv, json
from truth_tiers import HOSTS, calls, requests
threads = collections.defaultdict(list)
for c in calls:
    threads[c[0], c[2]].append(c)
labels = collections.defaultdict(set)
for r in requests.values():
    top = r
    while top["parent"] not in "-?":
        top = requests[top["parent"]]
    for side in 0, 1:
        begin, over = r["at"][side]
        thread = threads[r["host"] + side, r["pid"][side]]
        for c in thread[bisect.bisect_left(thread, begin, key=lambda c: c[4]):]:
            if c[4] + c[5] > over:
                break
            labels[c].add("ambiguous" if top["parent"] == "?" else "front:curl")
want = collections.defaultdict(lambda: [0, 0, 0])
for c in calls:
    who = labels[c]
    entry = want["-" if not who else "ambiguous" if len(who) > 1 else min(who), HOSTS[c[0]], c[3]]
    entry[0] += 1
    entry[1] += c[6]
    entry[2] += c[5]
rows = list(csv.DictReader(open("clients.csv")))
got = {(r["client"], r["host"], r["call"]): [int(r[k]) for k in ("count", "bytes", "time")] for r in rows}
assert got == want and len(rows) == len(got), (got, dict(want))
assert {k[0] for k in got} == {"-", "ambiguous", "front:curl"}
assert [{k: str(v) for k, v in c.items()} for c in json.load(open("clients.json"))["calls"]] == \
    [{k: v for k, v in r.items() if v} for r in rows]
