# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_open.py [CASE PAGE]...

The data of each page are JSON without "<", have the events that the generator counts, and
say about the case what tracerig explain says.
"""
import json
import os
import subprocess
import sys

for case, page in zip(sys.argv[1::2], sys.argv[2::2]):
    text = open(page).read().split('id="data">')[1].split("</script>")[0]
    assert "<" not in text and ">" not in text, page
    data, truth = json.loads(text), json.load(open(case + ".truth"))
    events = data["events"]
    assert {len(c) for c in events.values()} == {truth["events"]} and data["total"] == truth["events"], page
    said = json.loads(subprocess.run([os.environ["TOOLS"] + "/tracerig", "explain", "--format=json", f"./{case}"],
                                     check=True, stdout=subprocess.PIPE).stdout)
    begin = int(data["first"])
    for part in data["explain"]["parts"]:
        part["at"] += begin
        del part["kind"], part["key"]
    for finding in data["explain"]["findings"]:
        finding["at"] += begin
    del said["analyzers"]
    assert data["explain"] == said, (page, data["explain"], said)
