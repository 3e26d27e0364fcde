# SPDX-License-Identifier: GPL-2.0
# usage: pathdiff_faults.py [-v]
#
# Reads what gen_faults and pathdiff --format=json say of each trial, a line of truth and
# the JSON, and prints how often the first cause is right, how the confidence does, and
# what is wrong; status 1 where that is more than may be.
import json, sys

verbose = "-v" in sys.argv
trials = []
decoder = json.JSONDecoder()
text = sys.stdin.read()
at = 0
while at < len(text):
    end = text.index("\n", at)
    truth = dict(f.split("=", 1) for f in text[at:end].split(" ", 7))
    result, at = decoder.raw_decode(text, end + 1)
    at += 1
    trials.append((truth, result))

def is_right(truth, cause):
    names = truth["right"].split(",")
    if truth["kind"] in ("irq", "softirq", "timer"):
        return cause["kind"] == "interrupt" and any(n in cause["function"] for n in names)
    return cause["kind"] != "interrupt" and (cause.get("caller") in names or cause["function"] in names)

kinds, sure, ahead, healthy, misses = {}, [0, 0], [], {}, []
bins = {}
for truth, result in trials:
    named = [c for c in result["causes"] if c["named"]]
    if truth["kind"] == "none":
        h = healthy.setdefault("loaded" if truth["loaded"] != "0" else "idle", [0, 0])
        h[1] += 1
        h[0] += not named
        if named:
            misses.append((truth, named))
        for c in named[:1]:
            b = bins.setdefault(int(c["confidence"] * 10 + 1e-9), [0, 0])
            b[1] += 1
            if c["confidence"] >= 0.9:
                sure[1] += 1
        continue
    k = kinds.setdefault(truth["kind"], [0, 0])
    k[1] += 1
    right = bool(named) and is_right(truth, named[0])
    k[0] += right
    if not right:
        misses.append((truth, named or result["causes"][:3]))
    if named:
        b = bins.setdefault(int(named[0]["confidence"] * 10 + 1e-9), [0, 0])
        b[1] += 1
        b[0] += right
        if named[0]["confidence"] >= 0.9:
            sure[1] += 1
            sure[0] += right
    good = [c for c in named if is_right(truth, c)]
    if good:
        before = named[:named.index(good[0])]
        if any(c["confidence"] > good[0]["confidence"] / 2 for c in before):
            ahead.append(truth)

faults = sum(n for _, n in kinds.values())
first = sum(n for n, _ in kinds.values())
print("first: %d of %d (%s)" % (first, faults, ", ".join("%s %d/%d" % (k, *v) for k, v in sorted(kinds.items()))))
print("healthy, none named: %s" % ", ".join("%s %d of %d" % (k, *v) for k, v in sorted(healthy.items())))
print("confidence of 90 %% or more: %d of %d right" % tuple(sure))
print("confidence: %s" % ", ".join("%d0 %%: %d of %d" % (k, *v) for k, v in sorted(bins.items())))
print("wrong ones ahead of the right one with more than half its confidence: %d" % len(ahead))
if verbose:
    for truth, causes in misses:
        print(truth)
        for c in causes:
            print("   ", c["headline"], c["executions"], "share %.2f conf %.2f expl %.2f" % (c["delay_share"], c["confidence"], c["explained"]), c["named"])
quiet = sum(n for n, _ in healthy.values())
bad = (first < 0.9 * faults or sure[0] < 0.87 * sure[1] or ahead or
       quiet < 0.98 * sum(n for _, n in healthy.values()))
sys.exit(bool(bad))
