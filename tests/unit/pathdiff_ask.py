# SPDX-License-Identifier: GPL-2.0
"""usage: pathdiff_ask.py FILE EXPRESSION

Print the value of an EXPRESSION of the result r and its first cause c.
"""
import json
import sys

r = json.load(open(sys.argv[1]))
c = ([c for c in r["causes"] if c["named"]] or [None])[0]
print(eval(sys.argv[2]))
