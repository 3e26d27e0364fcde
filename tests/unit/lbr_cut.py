#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
usage: lbr_cut.py cut PT.txt OUT.txt TRUTH.tsv DEPTH PERIOD_NS MODE FILTER CYCLES [GHZ]
       lbr_cut.py judge TRUTH.tsv VISITS.csv

cut: make samples with LBR, as perf script prints them, out of perf script text of an
Intel PT trace, in which every branch has its time; and write that timeline.

MODE is what the registers of the modelled CPU record:
	time	user space; time in the kernel is left out of the trace altogether
	user	branches that lead to user space, so also the returns from the kernel, as
		LBR_SELECT does; the samples' counter counts user space only
	hidden	as user, but returns from the kernel are filtered out
	kernel	all branches; the counter also counts in the kernel

FILTER is any, or calls: calls and returns only, those of the kernel included.

CYCLES is 1 or 0.  A branch's cycles count all time since the branch before it.

The trace has user space only: what ran in the kernel is made up, a system call or an
exception of five branches at fixed parts of the real stay.

judge: print, tab-separated: time attributed, part of it with the right function, time
stated to be reliable, part of it with the right function (% each, - if there is none),
time of the trace (ns).
"""
import csv
import math
import random
import re
import sys

LINE = re.compile(
    r"\s(\d+)\.(\d{9}):\s.*branches\S*:\s+(\w[\w ]*?)\s+([0-9a-f]+) (\S+) \(\S*\) =>"
    r"\s+([0-9a-f]+) (\S+)")
KINDS = {"jcc": "COND", "jmp": "UNCOND", "call": "CALL", "return": "RET"}
SAMPLES = 300
JUMPS = ("COND", "UNCOND")
COMM = "loader 4242/4242 [000] "


def place(address, name):
    """Return: a place's name; without a symbol, its 64 KiB."""
    if "+0x" in name:
        return name
    address = int(address, 16)
    return f"text_{address >> 16:x}+{address & 0xffff:#x}"


def read_pt(path):
    """Branches: [time, from, to, kind]; a stay in the kernel is a pair of them."""
    branches = []
    for line in open(path):
        m = LINE.search(line)
        if not m:
            continue
        t = int(m[1]) * 10**9 + int(m[2])
        kind, source, target = m[3], place(m[4], m[5]), place(m[6], m[7])
        if kind.startswith("tr end"):
            branches.append([t, source, "", "SYSCALL" if "syscall" in kind else "IRQ"])
        elif kind == "tr strt":
            branches.append([t, "", target, ""])
        elif kind in KINDS:
            branches.append([t, source, target, KINDS[kind]])
    return branches


def spread(branches):
    """PT has one time for several branches: spread them up to the next time."""
    times = [b[0] for b in branches]
    i = 0
    while i < len(times):
        j = i
        while j < len(times) and times[j] == times[i]:
            j += 1
        until = times[j] if j < len(times) else times[i] + (j - i)
        # Time in the kernel is not user space's: no time is moved into it
        until = min(until, times[i] + 2 * (j - i))
        for k in range(i, j):
            branches[k][0] = times[i] + (until - times[i]) * (k - i) / (j - i)
        i = j
    return branches


def in_kernel(entry, leave):
    """Return: the made-up branches of a stay in the kernel."""
    t, stay = entry[0], leave[0] - entry[0]
    if entry[3] == "SYSCALL":
        first, work, last = "entry_SYSCALL_64", "do_syscall_64", "syscall_return_via_sysret"
        back = "SYSRET"
    else:
        first, work, last = "asm_exc_page_fault", "exc_page_fault", "native_irq_return_iret"
        back = "ERET"
    return [
        [t, entry[1], first + "+0x0", entry[3]],
        [t + 0.04 * stay, first + "+0x71", work + "+0x0", "CALL"],
        [t + 0.10 * stay, work + "+0x3e", "lookup_work+0x0", "CALL"],
        [t + 0.80 * stay, "lookup_work+0x9c", work + "+0x43", "RET"],
        [t + 0.92 * stay, work + "+0x80", last + "+0x0", "UNCOND"],
        [t + stay, last + "+0x64", leave[2], back],
    ]


def timeline(branches, mode, passes):
    """[(time, from, to, kind, recorded)], each ends a visit of the function of from."""
    once, left_out, i = [], 0.0, 0
    while i < len(branches):
        b = branches[i]
        if b[3] not in ("SYSCALL", "IRQ"):
            if b[1]:
                once.append((b[0] - left_out, b[1], b[2], b[3], True))
            i += 1
            continue
        if i + 1 >= len(branches) or branches[i + 1][1]:
            break
        leave = branches[i + 1]
        if mode == "time":
            left_out += leave[0] - b[0]
        else:
            for t, source, target, kind in in_kernel(b, leave):
                back = kind in ("SYSRET", "ERET")
                once.append((t, source, target, kind,
                             mode == "kernel" or (mode == "user" and back)))
        i += 2
    out, start, length = [], once[0][0], once[-1][0] - once[0][0] + 5
    for n in range(passes):
        out += [(t - start + n * length, f, to, k, r) for t, f, to, k, r in once]
    return out


def function(place):
    return place.rsplit("+0x", 1)[0]


KERNEL = {"entry_SYSCALL_64", "do_syscall_64", "syscall_return_via_sysret", "lookup_work",
          "asm_exc_page_fault", "exc_page_fault", "native_irq_return_iret"}


def sample_times(events, period, mode):
    """When the counter overflows; it counts in the kernel only with mode kernel."""
    counted, at = 0.0, events[0][0]
    want = period * 1.3
    for t, source, _, _, _ in events:
        span = 0.0 if mode != "kernel" and function(source) in KERNEL else t - at
        while counted + span >= want:
            yield t - (counted + span - want)
            want += period
        counted += span
        at = t


def cut(pt, out, truth, depth, period, mode, only, cycles, ghz):
    random.seed(1)
    branches = spread(read_pt(pt))
    events = timeline(branches, mode, 1)
    length = sum(1 for _ in sample_times(events, period, mode)) + 1
    events = timeline(branches, mode, math.ceil(SAMPLES / length))
    base = 10**9
    with open(truth, "w") as f:
        at = events[0][0]
        for t, source, _, _, _ in events:
            f.write(f"{base + at:.2f}\t{base + t:.2f}\t{function(source)}\n")
            at = t
    i, registers, counted = 0, [], None
    with open(out, "w") as f:
        for s in sample_times(events, period, mode):
            while i < len(events) and events[i][0] <= s:
                t, source, target, kind, recorded = events[i]
                i += 1
                if not recorded or (only == "calls" and kind in JUMPS):
                    continue
                now = int(t * ghz)
                # No branch takes less than a cycle, but the sum stays the same
                taken = 0 if counted is None else max(now - counted, 1)
                counted = now if counted is None else counted + taken
                taken = min(taken, 65535)
                registers.insert(0, f"{source}/{target}/P/-/-/{taken if cycles else 0}/{kind}/-")
                del registers[depth:]
            if i == len(events) or not registers:
                continue
            # A visit is straight code: the sample is at its begin or at its end
            here = events[i][1] if random.random() < 0.5 or not i else events[i - 1][2]
            here = here if function(here) == function(events[i][1]) else events[i][1]
            ip = 0xffffffff81000000 if function(here) in KERNEL else 0x7f0000001000
            ip += int(here.rsplit("+0x", 1)[1], 16)
            # perf's times are whole nanoseconds
            ns = base + int(s)
            f.write(f"{COMM}{ns // 10**9}.{ns % 10**9:09}: {ip:16x} {here}  "
                    + "  ".join(registers) + "\n")


def judge(truth, visits):
    spans = [line.rstrip("\n").split("\t") for line in open(truth)]
    spans = [(float(a), float(b), f) for a, b, f in spans]
    at = 0
    told = right = sure = sure_right = 0.0
    for row in csv.DictReader(open(visits)):
        start, length = int(row["start"]), int(row["duration"])
        if not length:
            continue
        end = start + length
        while at and spans[at][0] > start:
            at -= 1
        while at < len(spans) and spans[at][1] <= start:
            at += 1
        same, j = 0.0, at
        while j < len(spans) and spans[j][0] < end:
            if spans[j][2] == row["function"] or (
                    row["function"] == "[kernel]" and spans[j][2] in KERNEL):
                same += min(end, spans[j][1]) - max(start, spans[j][0])
            j += 1
        told += length
        right += same
        if row.get("reliable") == "1":
            sure += length
            sure_right += same
    all_time = spans[-1][1] - spans[0][0]

    def part(a, b):
        return f"{100 * a / b:.1f}" if b else "-"

    print(f"{told:.0f}", part(right, told), f"{sure:.0f}", part(sure_right, sure),
          f"{all_time:.0f}", sep="\t")


def main():
    if sys.argv[1:2] == ["cut"] and len(sys.argv) in (10, 11):
        _, _, pt, out, truth, depth, period, mode, only, cycles = sys.argv[:10]
        ghz = float(sys.argv[10]) if len(sys.argv) > 10 else 2.5
        cut(pt, out, truth, int(depth), float(period), mode, only, cycles == "1", ghz)
    elif sys.argv[1:2] == ["judge"] and len(sys.argv) == 4:
        judge(*sys.argv[2:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
