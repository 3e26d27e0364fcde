# SPDX-License-Identifier: GPL-2.0
"""Print pathdiff's first cause from JSON on standard input: kind, function, caller, waker and lock."""
import json, sys
result = json.load(sys.stdin)
named = [c for c in result["causes"] if c["named"]]
if not named:
    print("none - - - -")
    sys.exit()
c = named[0]
wait = c.get("wait", {})
who = wait.get("who", [])
name = who[0]["name"] if who else "-"
print(c["kind"], c["function"].replace(" ", "_"), c.get("caller", "-").replace(" ", "_"),
      name.replace(" ", "_"), wait.get("lock", "-").replace(" ", "_"))
