#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""usage: stack_check.py LEAST LOG REPORT DEFINITIONS

Compares the stacks of the calls in REPORT (of trace-cmd) with the stacks in LOG, which
stackcalls has found with elfutils, or stack_gdb.py with gdb.  Definitions are in REPORT, and
again in DEFINITIONS, a copy of the file iosys_stacks; both must be the same.  There must be at
least LEAST calls, of which 99.5 % have the frames that elfutils finds (where it is sure), and
none has others."""
import collections
import re
import sys

CALL = re.compile(r"-(\d+) +\[.*? io_syscall: +\w+=(-?\d+) .* nr=(\d+) abi=native .* stack=(\d+)")
STACK = re.compile(r" io_stack: +id=(\d+) end=(\w+) guessed=(\d+) frames=(.*) evicted=")
IN_OBJECT, OBJECT, OFFSET = 1 << 63, (1 << 31) - 1, (1 << 32) - 1
MAP = re.compile(r" io_map: +id=(\d+) dev=(\d+:\d+) ino=(\d+) build_id=\S* path=(.*)")
FILE_STACK = re.compile(r"stack (\d+) end=(\w+) guessed=(\d+) frames=(.*)")
FILE_MAP = re.compile(r"map (\d+) dev=(\d+:\d+) ino=(\d+) .*? path=(.*)")


def name_of(m):
    return "[vdso]" if m[4] == "[vdso]" else f"{m[2]}:{m[3]}"


def number(frame):
    """Return: the frame's object; 0: an address"""
    return frame >> 32 & OBJECT if frame & IN_OBJECT else 0


def from_file(word):
    """Return: the frame as NUMBER+OFFSET, as in iosys_stacks"""
    object, offset = word.split("+")
    return int(offset, 16) | (IN_OBJECT | int(object) << 32 if int(object) else 0)


def read_report(path):
    calls, stacks, maps = collections.defaultdict(list), {}, {}
    with open(path, errors="replace") as report:
        for line in report:
            if m := CALL.search(line):
                # It was defined before
                if m[4] != "0" and int(m[4]) not in stacks:
                    sys.exit(f"no definition of stack {m[4]} before: {line}")
                calls[int(m[1])].append((int(m[3]), int(m[2]), int(m[4])))
            elif m := STACK.search(line):
                frames = [int(word, 0) for word in re.findall(r"\w+", m[4])]
                for frame in frames:
                    if number(frame) and number(frame) not in maps:
                        sys.exit(f"no definition of object {number(frame)} before: {line}")
                said = (m[2], int(m[3]), frames)
                if stacks.setdefault(int(m[1]), said) != said:
                    sys.exit(f"stack {m[1]} is two stacks")
            elif m := MAP.search(line):
                maps[int(m[1])] = name_of(m)
    return calls, stacks, maps


def check_file(path, stacks, maps):
    """Check that the file has all definitions of the trace"""
    seen = 0
    with open(path) as file:
        for line in file:
            if (m := FILE_STACK.match(line)) and int(m[1]) in stacks:
                frames = [from_file(word) for word in m[4].split(",")]
                if (m[2], int(m[3]), frames) != stacks[int(m[1])]:
                    sys.exit(f"{path} has another stack {m[1]}")
                seen += 1
            elif m := FILE_MAP.match(line):
                if int(m[1]) in maps and maps[int(m[1])] != name_of(m):
                    sys.exit(f"{path} has another object {m[1]}")
                seen += int(m[1]) in maps
    if seen != len(stacks) + len(maps):
        sys.exit(f"{path} has {seen} of {len(stacks) + len(maps)} definitions")


def read_log(path):
    calls = collections.defaultdict(list)
    with open(path) as log:
        for line in log:
            words = line.split()
            calls[int(words[1])].append((int(words[2]), int(words[3]), words[4], words[5:]))
    return calls


def main():
    least, log, report, definitions = int(sys.argv[1]), *sys.argv[2:]
    calls, stacks, maps = read_report(report)
    check_file(definitions, stacks, maps)
    sums, shown = collections.Counter(), 0
    for tid, want in read_log(log).items():
        # Before the exec, the task ran another program
        have = calls[tid][-len(want):]
        if [call[:2] for call in have] != [call[:2] for call in want]:
            sys.exit(f"the calls of {tid} are not the true ones")
        for (_, _, stack), (nr, _, sure, frames) in zip(have, want):
            sums["calls"] += 1
            end, guessed, ours = stacks.get(stack, ("none", 0, []))
            ours = [f"{maps[number(frame)]}+{frame & OFFSET:x}" if number(frame) else f"anon+{frame:x}"
                    for frame in ours]
            if end == "complete" and ours == frames:
                kind = "equal"
            elif sure == "unsure" and ours[:len(frames)] == frames:
                kind = "further" if end == "complete" else "unsure"
            # Frames that were not guessed must be right where the peer is sure
            elif guessed and end == "complete" and (
                    sure == "unsure" or ours[:len(ours) - guessed] == frames[:len(ours) - guessed]):
                kind = "guessed"
            elif end != "complete" and ours == frames[:len(ours)]:
                kind = "short:" + end
            else:
                kind = "different"
            sums[kind] += 1
            if kind not in ("equal", "further", "guessed") and shown < 5:
                shown += 1
                print(kind, "call", nr, "stack", stack, end, guessed, sure, "\n  ours", *ours, "\n  theirs", *frames)
    print(*(f"{kind} {n}" for kind, n in sorted(sums.items())), "stacks", len(stacks))
    sure = sums["calls"] - sums["unsure"] - sums["further"] - sums["guessed"]
    if sums["calls"] < least or sums["different"] or sums["equal"] * 1000 < sure * 995:
        sys.exit("too few of them are equal")


main()
