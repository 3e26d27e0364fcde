# SPDX-License-Identifier: GPL-2.0
"""test_lbrtime_cut.sh: no interval of loops.json is whole."""
import json
assert json.load(open("loops.json"))["intervals"]["whole"]["count"] == 0
