# SPDX-License-Identifier: GPL-2.0
"""test_ioreq.sh: damage to one host's file is reported and leaves the other hosts whole."""
import json
whole, part, all = 0, 0, json.load(open("two.json"))["hosts"]
for i in range(60):
    hosts = json.load(open(f"some{i}.json"))["hosts"]
    assert hosts[0]["calls"] == all[0]["calls"] and hosts[2]["calls"] > 0 and "trouble" not in hosts[0] | hosts[2]
    if "trouble" in hosts[1]:
        assert hosts[1]["trouble"] in open(f"err{i}").read(), i
        whole += hosts[1]["calls"] == 0
        part += 0 < hosts[1]["calls"] < all[1]["calls"]
print(f"# left out {whole}, read in part {part} of 60")
assert whole > 3 and part > 3, (whole, part)
