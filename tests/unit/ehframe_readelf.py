#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# usage: ehframe_readelf.py GEN_EHFRAME FILE
#
# The table that tools/kernel/ehframe.c makes of FILE agrees with readelf's own interpreter of
# .eh_frame, at the first and at the last byte of each of its rows, and is empty where there is
# no function.  Expressions, which readelf only calls "exp", are recognised by the table.
# Prints the number of rows compared, and the number of those that are expressions and cannot
# be represented.
import bisect
import re
import subprocess
import sys

REGS = ["rbx", "rbp", "r12", "r13", "r14", "r15", "ra"]
NAMES = ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"]


def theirs(path):
    """Return for each function: start, end, [(pc, {column: value})]"""
    # Its status is 1 if the debug files named in .gnu_debuglink are missing
    text = subprocess.run(["readelf", "-W", "--debug-dump=frames-interp", path],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False, text=True).stdout
    # .debug_frame is another section of the same kind
    text = text[text.index("Contents of the .eh_frame section"):]
    cut = text.find("Contents of the .debug_frame section")
    if cut > 0:
        text = text[:cut]
    head = re.compile(r"^([0-9a-f]{8}) [0-9a-f]{16} [0-9a-f]{8} (CIE|FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+))")
    begins, functions, rows, columns = {}, [], None, []
    for line in text.splitlines():
        m = head.match(line)
        if m:
            rows = []
            if m[2] == "CIE":
                begins[m[1]] = rows
            else:
                functions.append((int(m[4], 16), int(m[5], 16), rows, m[3]))
            continue
        # A register in a register is "r8 (r8)", by its number
        words = [word for word in line.split() if word[0] != "("]
        if words[:2] == ["LOC", "CFA"]:
            columns = words[1:]
        elif rows is not None and len(words) > 1 and re.fullmatch("[0-9a-f]{16}", words[0]):
            rows.append((int(words[0], 16), dict(zip(columns, words[1:]))))
    for start, end, rows, cie in functions:
        # Rules of the common description are not repeated
        common = begins[cie][0][1] if begins[cie] else {}
        if not rows:
            rows = [(start, {})]
        yield start, end, [(pc, {**{k: v for k, v in common.items() if k == "ra" or k == "CFA"}, **row})
                           for pc, row in rows]


def ours(gen, path):
    out = subprocess.run([gen, path], stdout=subprocess.PIPE, check=True, text=True).stdout
    rows = [line.split() for line in out.splitlines()]
    return [int(row[0], 16) for row in rows], [row[1:] for row in rows]


def differs(want, have):
    """Return: why a row differs from readelf's; None: it does not"""
    if have[0] == "none":
        return "there is none"
    if have[0] == "odd":
        # Or rsp is not the canonical frame address, as where longjmp() jumps
        return None if "exp" in want.values() or want.get("rsp", "u") not in "us" else "odd"
    if want["CFA"] == "exp":
        if not re.match(r"\*|plt", have[0]) and not re.match(r"r..?[+-]", have[0]):
            return "CFA"
    elif want["CFA"] != have[0]:
        return "CFA"
    for i, name in enumerate(REGS):
        w, h = want.get(name, "u"), have[1 + i]
        if w == "s":
            w = "u"
        if re.fullmatch("r[0-7]", w):
            w = NAMES[int(w[1])]
        if h == "undefined":
            h = "u"
        if w in ("exp", "vexp") or w.startswith("v"):
            if not h.startswith("*") and h != "lost":
                return name
        elif h == "lost":
            # too far away, or an odd place: 8 bytes are what registers have
            offset = int(w[1:]) if w.startswith("c") else 0
            if w.startswith("c") and offset % 8 == 0 and -32768 <= offset <= 32767 and offset:
                return name
        elif w != h:
            return name
    return None


def main():
    gen, path = sys.argv[1:]
    pcs, rows = ours(gen, path)
    compared = odd = bad = expressions = 0

    def at(pc):
        i = bisect.bisect_right(pcs, pc) - 1
        return rows[i] if i >= 0 else ["none"]

    end = 0
    functions = sorted(theirs(path), key=lambda f: f[0])
    for start, stop, wanted in functions:
        if start > end and end and at(end)[0] != "none":
            bad += 1
            print(f"{path}: {end:x}: no function, but a rule")
        for i, (pc, want) in enumerate(wanted):
            last = (wanted[i + 1][0] if i + 1 < len(wanted) else stop) - 1
            if last < pc:
                continue
            compared += 1
            expressions += "exp" in want.values()
            odd += at(pc)[0] == "odd"
            for where in (pc, last):
                why = differs(want, at(where))
                if why:
                    bad += 1
                    print(f"{path}: {where:x}: {why}: readelf {want}, the table {at(where)}")
        end = max(end, stop)
    print(f"{compared} rows, {expressions} expressions, {odd} odd, {bad} different")
    sys.exit(bad > 0 or compared < 100)


main()
