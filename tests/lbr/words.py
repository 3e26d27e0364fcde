# SPDX-License-Identifier: GPL-2.0
"""Work of Python for truth.sh: count the words of a text, as JSON and back."""
import json
import os
import re

words = re.findall(r"\w+", open(os.environ["TRACERIG_TOP"] + "/COPYING").read())
for _ in range(7):
    count = {}
    for w in words:
        count[w] = count.get(w, 0) + 1
    best = sorted(count.items(), key=lambda x: (-x[1], x[0]))
    text = json.dumps(best)
    assert json.loads(text)[0][1] == best[0][1]
