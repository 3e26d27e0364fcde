# SPDX-License-Identifier: GPL-2.0
"""test_lbrtime_cut.sh: the duration of a cycle is that of the cut, 0.4 ns, within its error."""
import json
j = json.load(open("cut.json"))
assert 0 < abs(j["ns_per_cycle"] - 0.4) <= j["ns_per_cycle_error"] < 0.03, j
