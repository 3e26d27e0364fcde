# SPDX-License-Identifier: GPL-2.0
"""test_lbrtime_cut.sh: time that may be the kernel's, as the generator knows it."""
import json, re
hidden, some = map(float, open("hidden.truth").read().split())
j = json.load(open("hidden.json"))
told = 100 * j["unknown_held"] / j["time"]
assert abs(told - hidden) <= 0.5 + 0.04 * hidden, (told, hidden)
line = re.findall(r"^([0-9.]+) % of all time is unknown by cycles only because it may have been in the kernel: ",
                  open("hidden.out").read(), re.M)
assert line == ([f"{told:.1f}"] if told >= 1 else []), (line, told)
