# SPDX-License-Identifier: GPL-2.0
"""Score tracerig explain: a line of truth and a JSON object of each case on standard input.

tracerig_explain.py faults|healthy
"""
import json
import sys

decoder = json.JSONDecoder()
text = sys.stdin.read().lstrip()
right, wrong, total = 0, [], 0
while text:
    truth, text = text.split("\n", 1)
    result, at = decoder.raw_decode(text)
    text = text[at:].lstrip()
    expected = truth.split("right=", 1)[1]
    total += 1
    if result["cause"].startswith(expected) if expected != "none" else result["cause"] == "":
        right += 1
    else:
        wrong.append(f"{truth}: {result['cause']!r} {result['why_none']}")
    # Parts are the operation's time, each once
    assert sum(p["ns"] for p in result["parts"]) <= result["duration"], truth
    # A healthy case has no confidence
    assert (result["confidence"] == "none") == (result["cause"] == ""), truth

least = 0.98 if sys.argv[1] == "healthy" else 0.90
print(f"{sys.argv[1]}: {right} of {total} right")
if not total or right < least * total:
    sys.exit("\n".join(wrong))
