#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write filters of tests/fuzz/filters.py to tracefs.

usage: filters_try.py COUNT SEED

A filter that is accepted reads back as it was written, and written once more it makes the same
charts.  One that is refused leaves its reason in the filter's file, and in error_log with a
caret below a character of the filter, or after the last one.
"""
import collections
import errno
import os
import re
import sys

import filters

TRACING = b"/sys/kernel/tracing/"
# The kernel's errors for filters: for unbalanced parentheses and quotes a number from -1 to
# -3, and for a term without a field -1
REFUSED = (errno.EINVAL, errno.EPERM, errno.ENOENT, errno.ESRCH)
# Reasons that are not ctlchart's
STOCK = (b"Invalid operator", b"Too many '('", b"Too few '('", b"Missing matching quote", b"Operand too long",
         b"Expecting string field", b"Expecting numeric field", b"Illegal operation for field type",
         b"Field not found", b"Illegal integer value", b"Too many terms in predicate expression",
         b"Meaningless filter expression", b"Invalid value (did you forget quotes)?", b"No filter found", b"Error")
SPACE = b" \t\n\v\f\r\xa0"	# isspace() of the kernel


def write(path, text):
    fd = os.open(TRACING + path, os.O_WRONLY | os.O_TRUNC)
    try:
        os.write(fd, text)
    finally:
        os.close(fd)


def read(path):
    with open(TRACING + path, "rb") as f:
        return f.read()


def expect(holds, what, *details):
    if not holds:
        sys.exit("\n".join([f"seed {seed}: {what}"] + [f"{d!r}" for d in (event, text) + details]))


def check_taken(path):
    shown = read(path + b"/filter")
    expect(shown == text + b"\n", "it reads back differently", shown)
    charts = read(path + b"/ctlchart")
    write(path + b"/filter", text)
    expect(read(path + b"/filter") == shown, "it reads back differently the second time")
    again = read(path + b"/ctlchart")
    expect(re.findall(rb"^chart: .*|^call: .*|^method: .*", charts, re.M) ==
           re.findall(rb"^chart: .*|^call: .*|^method: .*", again, re.M),
           "the second time it makes other charts", charts, again)
    return charts.count(b"chart: ")


def check_refused(path):
    expect(read(path + b"/ctlchart").startswith(b"# No chart"), "it was refused, but there is a chart")
    shown = read(path + b"/filter")
    expect(shown.startswith(text) and re.search(rb"\n(parse_error|Error): ", shown), "no reason in its file", shown)
    entry = re.search(rb": error: (.*?)\n  Command: (.*)\n( *)\^\n", log := read(b"error_log"), re.S)
    expect(entry, "it is not in error_log", log)
    expect(entry[2] == text, "error_log has another filter", log)
    column = len(entry[3]) - len("  Command: ")
    # The kernel's own positions count from one
    own = entry[1] not in STOCK
    expect(0 <= column <= len(text) + (not own), "the caret is not below the filter", log)
    return entry[1].decode()


count, seed = int(sys.argv[1]), int(sys.argv[2])
maker = filters.Maker(seed)
taken = charts = 0
mistakes = collections.Counter()
print(f"seed {seed}", flush=True)
systems = {e: (b"block/" if e.startswith("block") else b"sched/") for e in filters.EVENTS}
for event in filters.EVENTS:
    write(b"events/" + systems[event] + event.encode() + b"/enable", b"1")
for _ in range(count):
    event, text = maker.one()
    text = text.encode("latin-1").strip(SPACE)
    if not text or text == b"0":
        continue
    path = b"events/" + systems[event] + event.encode()
    write(b"error_log", b"\n")
    try:
        write(path + b"/filter", text)
    except OSError as e:
        expect(e.errno in REFUSED, f"refused with {e.strerror}")
        mistakes[check_refused(path)] += 1
    else:
        taken += 1
        charts += check_taken(path)
    # Names belong to an instance: remove it
    write(path + b"/filter", b"0")
expect(taken and charts and mistakes, "nothing was accepted, or nothing refused")
print(f"{count} filters: {taken} taken with {charts} charts; refused:")
for mistake, n in mistakes.most_common():
    print(f"{n:6} {mistake}")
