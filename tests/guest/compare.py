# SPDX-License-Identifier: GPL-2.0
"""What checkers of a trace have in common: a program's log, a report's events, what is wrong."""
import re
import sys

# A line of what uringwork and aiowork write down
REQUEST = ("tgid tid user_data op result bytes parts start end fd id dev type name how").split()

wrong = 0


def bad(*what):
    global wrong
    wrong += 1
    if wrong <= 20:
        print(*what)


def rows(lines, fields):
    return [dict(zip(fields, line.rstrip("\n").split("\t"))) for line in lines]


def read_log(path, fields):
    with open(path) as lines:
        return rows(lines, fields)


def read_events(path, pattern, events):
    """The groups of the pattern, in each line that has one of the events: a pattern, too"""
    with open(path) as lines:
        for line in lines:
            if not re.search(rf" (?:{events})", line):
                continue
            match = pattern.match(line.rstrip("\n"))
            if match:
                yield match.groupdict()
            else:
                bad("cannot be read:", line)


def end(*told):
    """Say what was compared, and end: well if nothing is wrong"""
    print("#", *told, f"{wrong} wrong")
    sys.exit(wrong != 0)
