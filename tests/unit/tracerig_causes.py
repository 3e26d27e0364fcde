# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_causes.py CASES NUMBER...

list --causes has just these cases of the directory, each once, those of one cause
together, and says about each what explain says.
"""
import json
import os
import re
import subprocess
import sys

cases, numbers = sys.argv[1], [int(n) for n in sys.argv[2:]]
tool = os.environ["TOOLS"] + "/tracerig"


def run(*command):
    return json.loads(subprocess.run([tool, *command, "--format=json", f"--dir={cases}"], stdout=subprocess.PIPE).stdout)


causes = run("list", "--causes")["causes"]
names = [c["cause"] for c in causes]
assert len(set(names)) == len(names), names
listed = {case["case"]: (c["cause"], case) for c in causes for case in c["cases"]}
assert sorted(listed) == sorted(numbers) and sum(len(c["cases"]) for c in causes) == len(numbers), causes
for number, (cause, case) in listed.items():
    said = run("explain", str(number))
    assert case["confidence"] == said["confidence"], (case, said)
    # "hog" for the threads hog-7 and hog8-9, "blocked until x" for x-7
    assert re.fullmatch(re.escape(cause) + "[-0-9]*( woke it)?", said["cause"]), (cause, said)
    if said["cause"]:
        assert case["percent"] == said["parts"][0]["percent"], (case, said)
    else:
        assert case["why_none"] == said["why_none"] != "", (case, said)
