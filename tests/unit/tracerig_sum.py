# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_sum.py CASE.json

The case's last member is the sum of its text with zeros in the place of the sum.
"""
import hashlib
import json
import sys

text = open(sys.argv[1]).read()
digest = json.loads(text)["sha256"]
assert list(json.loads(text))[-1] == "sha256" and text.count(digest) == 1
assert hashlib.sha256(text.replace(digest, "0" * 64).encode()).hexdigest() == digest
