# SPDX-License-Identifier: GPL-2.0
"""Score tracerig explain on made-up cases.

usage: tracerig_explain.py [-v] faults|mixed|healthy complete|any FIRST COUNT LEAST

gen_explain makes a case of each seed from FIRST on, and says what is true of it. Fails if
fewer than LEAST percent of the answers are right, or of causes with a confidence of 90 %
or more; of a case that is healthy, or whose faults are mixed, the right answer is that
there is no cause.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

verbose = sys.argv[1] == "-v"
what, recording, first, count, least = sys.argv[1 + verbose:]
tally = collections.defaultdict(collections.Counter)
sure = collections.defaultdict(collections.Counter)
silent = 0
with tempfile.TemporaryDirectory() as case:
    for seed in range(int(first), int(first) + int(count)):
        truth = subprocess.run([os.environ["UNIT"] + "/gen_explain", what, recording, str(seed), case],
                               check=True, capture_output=True, text=True).stdout.strip()
        said = json.loads(subprocess.run([os.environ["TOOLS"] + "/tracerig", "explain", "--format=json", case + "/"],
                                         check=True, capture_output=True, text=True).stdout)
        kind, share, lacks, expected = (f.split("=", 1)[1] for f in truth.split(" ", 3))
        right = said["cause"] == "" if expected == "none" else said["cause"].startswith(expected)
        # Parts are the operation's time, each once; a cause has a confidence, and no cause a reason
        assert sum(p["ns"] for p in said["parts"]) + said["unseen"] == said["duration"], truth
        assert (said["confidence"] > 0) == (said["cause"] != "") == (said["why_none"] == ""), truth
        group = "nothing" if lacks == "nothing" else "lost" if "lost" in lacks else "kinds"
        tally[group][right] += 1
        tally["all"][right] += 1
        if said["cause"]:
            sure[min(said["confidence"] // 10 * 10, 90)][right] += 1
        silent += not said["cause"]
        if verbose and not right:
            print(seed, truth, "|", said["cause"], said["confidence"], said["why_none"], "chance %.2g normal %d" % (said["chance"], said["normal"]), said["doubts"],
                  [(p["name"], p["percent"]) for p in said["parts"][:2]])

for group in sorted(tally):
    total = tally[group].total()
    print(f"{what}, lacks {group}: {tally[group][True]} of {total} right, {100 * tally[group][True] / total:.1f} %")
print(f"{what}: no cause is named in {silent}")
for c in sorted(sure):
    print(f"{what}, confidence {c} to {c + 9} %: {sure[c][True]} of {sure[c].total()} right")
if 100 * tally["all"][True] < float(least) * tally["all"].total():
    sys.exit(f"fewer than {least} % are right")
if what == "faults" and sure[90][True] < 0.9 * sure[90].total():
    sys.exit("of causes with a confidence of 90 % and more, fewer than 90 % are right")
