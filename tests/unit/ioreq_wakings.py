# SPDX-License-Identifier: GPL-2.0
"""usage: ioreq_wakings.py MODE RECALL

test_ioreq_wakings.sh: which request each call on a file is for, against the names of the
files.
"""
import collections, json, re, sys
mode, recall = sys.argv[1], float(sys.argv[2])
events = json.load(open("calls.json"))["traceEvents"]
# The number of a request is how many the server's thread had received before it
received, number = collections.defaultdict(list), {}
for e in events:
    if e.get("cat") == "request" and e["name"].startswith("from "):
        port = re.search(":(40[0-9]{3})", e["args"]["addresses"])[1]
        received[2000 + int(port) - 40000].append((e["args"]["monotonic"], e["args"]["request"]))
for thread, requests in received.items():
    for i, (begin, request) in enumerate(sorted(requests)):
        number[request] = f"{thread}-{i}"
right = wrong = unknown = 0
for e in events:
    m = re.match("/(srv|log)/(.*)", str(e.get("args", {}).get("object")))
    if not m:
        continue
    request = e["args"].get("request")
    if request is None:
        unknown += m[1] == "srv"
    elif number[request] != m[2]:
        wrong += 1
    else:
        right += m[1] == "srv"
print(f"# {mode}: {right} calls on files right, {wrong} wrong, {unknown} of no known request")
assert right + wrong + unknown > 1000
assert wrong == 0
assert right >= recall * (right + unknown)
