# SPDX-License-Identifier: GPL-2.0
"""For programs that check a trace: a program's log, a report's events, and the errors found."""
import re
import sys

# A line of the logs of uringwork and aiowork
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
    """Return: the groups of the pattern, in each line with one of the events, which are a pattern, too"""
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
    """Print what was compared, and exit: with status 0 if there was no error"""
    print("#", *told, f"{wrong} wrong")
    sys.exit(wrong != 0)
