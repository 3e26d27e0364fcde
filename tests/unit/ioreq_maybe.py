# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_connections.sh: connections that may be multiplexed, and plain ones, with one end recorded."""
import json
front, back = sorted(json.load(open("maybe.json"))["requests"], key=lambda r: r["server"] == "back")
assert (front["client"], front["maybe_multiplexed"], front["multiplexed"]) == ("front", 3, 0), front
assert (back["server"], back["maybe_multiplexed"], back["multiplexed"]) == ("back", 1, 0), back
# Each run of requests and what is received before the next one: 2 and 1 in a round, and 1 + 20
assert (front["answered"], front["unclear"]) == (12 * 2 + 12 + 21, 12 * 2 + 12 + 21), front
assert (back["answered"], back["unclear"], back["service"]["count"]) == (24, 24, 0), back
links = json.load(open("maybe.paths"))["links"]
assert (links["maybe_multiplexed"], links["multiplexed"]) == (57, 0), links
(plain,) = json.load(open("plain.json"))["requests"]
assert (plain["answered"], plain["unclear"], plain["maybe_multiplexed"]) == (48, 0, 0), plain
assert json.load(open("plain.paths"))["links"]["maybe_multiplexed"] == 0
