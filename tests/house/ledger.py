# SPDX-License-Identifier: GPL-2.0
"""For tests that receive a trace: numbers of the collector's ledger, and marks in a report."""
import re


class Ledger:
    def __init__(self, name):
        with open(name) as f:
            self.text = f.read()

    def __getitem__(self, word):
        """Return: the number after the first occurrence of a word."""
        return int(re.search(word + r":? (\d+)", self.text)[1])

    def lost(self):
        return self["lost in the ring"] + self["lost on the wire"]


def marks(report):
    return [int(m[1]) for m in re.finditer(r"mark (\d+)", report)]
