# SPDX-License-Identifier: GPL-2.0
"""symbols_frames.py RESULT TRUTH: ioreq's frames after the innermost are those of TRUTH."""
import json
import sys

frames = json.load(open(sys.argv[1]))["stacks"][0]["stacks"][0]["frames"]
want = json.load(open(sys.argv[2]))
assert frames[1:] == want, (frames[1:], want)
