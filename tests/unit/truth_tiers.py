# SPDX-License-Identifier: GPL-2.0
# What the file "truth" says, for the programs of test_ioreq_outputs.sh.
HOSTS = ["front", "app", "db"]
COMMS = ["curl", "app server", "<b>db</b>"]
calls, requests, made_for = [], {}, {}
for line in open("truth"):
    f = line.rstrip("\n").split("\t")
    if f[0] == "call":
        calls.append((int(f[1]), int(f[2]), int(f[3]), f[4], int(f[5]), int(f[6]), int(f[7]), f[8]))
        made_for[int(f[1]), int(f[3]), int(f[5])] = f[9]
    else:
        n = [int(x) for x in f[3:]]
        requests[f[1]] = {"parent": f[2], "pid": (n[0], n[3]), "at": (n[1:3], n[4:6]), "bytes": n[6:8]}
# Clocks are ahead by these; messages between hosts limit how exactly that is known
AHEAD = [0, 7000000000000, 3000000000000]
CLOSE = 20000
first = min(c[4] - AHEAD[c[0]] for c in calls)

def match(got, want):
    """pairs of entries that are equal except for two times, their last items"""
    got, want = sorted(got), sorted(want)
    assert [g[:-2] for g in got] == [w[:-2] for w in want]
    for g, w in zip(got, want):
        assert abs(g[-2] - w[-2]) <= CLOSE and abs(g[-1] - w[-1]) <= CLOSE, (g, w)
    return list(zip(got, want))
# Its client is on the first host, or on the second one
for r in requests.values():
    r["host"] = 0 if r["parent"] == "-" else 1
    r["axis"] = [[t - AHEAD[r["host"] + side] - first for t in r["at"][side]] for side in (0, 1)]
