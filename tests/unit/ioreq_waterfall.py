# SPDX-License-Identifier: GPL-2.0
# Of test_ioreq_outputs.sh, in its directory of results.
import json
from truth_tiers import calls, requests
longest = max(requests, key=lambda n: requests[n]["at"][0][1] - requests[n]["at"][0][0])
children = [r for r in requests.values() if r["parent"] == longest]
r = requests[longest]
inside = [c for c in calls if c[0] == 1 and c[2] == r["pid"][1] and r["at"][1][0] <= c[4] and c[4] + c[5] <= r["at"][1][1]]
deeper = sum(sum(c[0] == 2 and c[2] == k["pid"][1] and k["at"][1][0] <= c[4] and c[4] + c[5] <= k["at"][1][1] for c in calls) for k in children)
# The address in the client's call on the connection, which begins with the client's own
client, server = next(c[7] for c in calls if c[0] == 0 and c[2] == r["pid"][0] and c[4] == r["at"][0][0]).split("->")
client, server = f"front:curl {client}", f"app:app server {server}"
rows = 2 + len(inside) + 2 * len(children) + deeper
print(json.dumps([rows, len(children), len(inside), f"{client} asks {server}", f"{server} answers {client} in thread {r['pid'][1]}"], separators=(",", ":")))
print(len(requests))
