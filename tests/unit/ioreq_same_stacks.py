# SPDX-License-Identifier: GPL-2.0
"""usage: ioreq_same_stacks.py A.json B.json

Both have the same stacks. A reason for a stack's end of which a recording's format has no
name has the kernel's name in a copy of iosys_stacks.
"""
import json
import sys


def stacks(name):
    with open(name) as f:
        return sorted(json.dumps(g).replace('"unknown"', '"odd_rule"') for g in json.load(f)["stacks"])


assert stacks(sys.argv[1]) and stacks(sys.argv[1]) == stacks(sys.argv[2])
