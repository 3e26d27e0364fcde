# SPDX-License-Identifier: GPL-2.0
# What the file "truth" says, for the programs of test_ioreq_paths.sh.
clocks, calls, requests = {}, [], {}
for line in open("truth"):
    f = line.rstrip("\n").split("\t")
    if f[0] == "clock":
        clocks[int(f[1])] = [int(x) for x in f[2:]]
    elif f[0] == "call":
        calls.append({"host": int(f[1]), "tid": int(f[2]), "op": f[3], "type": int(f[4]),
                      "start": int(f[5]), "finish": int(f[6]), "socket": int(f[7]), "name": f[8]})
    else:
        n = [int(x) for x in f[1:]]
        requests[n[0]] = {"parent": n[1], "tid": (n[2], n[5]), "begin": (n[3], n[6]), "over": (n[4], n[7]),
                          "there": n[8], "back": n[9], "host": 1 if n[1] else 0}
LAST = max(c["finish"] for c in calls if c["host"] == 1)
names = ["web", "app", "db", "alone"]

def shown(host, true):
    ahead, rate, then, begin, step = clocks[host]
    drift = (min(true, step) - begin) * rate + max(0, true - step) * then
    return true + ahead + drift // 10**9

def true_time(host, time):
    low, high = time - 3 * 10**9, time + 3 * 10**9
    while low < high:
        mid = (low + high) // 2
        if shown(host, mid) < time:
            low = mid + 1
        else:
            high = mid
    return low
