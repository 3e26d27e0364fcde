# SPDX-License-Identifier: GPL-2.0
"""symbols_lbrtime.py chain|kernel|plain PROGRAM, inlined CSV NAME..., names CSV WANTED

chain: a perf script whose branches go from one() to write(), four times; kernel: the same to
callee(), where the program was linked; plain: one whose samples are at all functions of a Shape.
inlined: a call chain of lbrtime's result goes through NAME... to its last function; names: the
result's functions are of WANTED. Truth: binutils.
"""
import csv
import re
import subprocess
import sys

BASE = 0x400000


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def segment(program):
    """Offset, address and size of the executable segment."""
    line = next(l.split() for l in run("readelf", "-lW", program).splitlines()
                if " R E " in l and "LOAD" in l)
    return tuple(int(line[i], 16) for i in (1, 2, 4))


def branches(program, callee, shift):
    code = run("objdump", "-d", "--no-show-raw-insn", program)
    called = int(re.search(rf"^([0-9a-f]+) <{callee}>:", code, re.M)[1], 16) + shift
    call = int(re.search(rf"<one>:.*?^ *([0-9a-f]+):\tcall[^\n]*<{callee}>", code,
                         re.M | re.S)[1], 16) + shift
    for i in range(1, 5):
        print("# lbrtime: 4 1")
        print(f"p 7/7 [000] 1.{i:09}: {called:x} [unknown]  {call:#x}/{called:#x}/P/-/-/5/CALL/-")


def chain(program):
    offset, addr, size = segment(program)
    print(f"p 7/7 [000] 1.000000000: PERF_RECORD_MMAP2 7/7: [{BASE:#x}({(size + 4095) & ~4095:#x})"
          f" @ {offset:#x} 08:01 12 0]: r-xp {program}")
    branches(program, "write@plt", BASE - addr)


def kernel(program):
    branches(program, "callee", 0)


def plain(program):
    addr = segment(program)[1]
    shapes = [l for l in run("nm", program).splitlines() if "Shape" in l]
    for i, line in enumerate(shapes, 1):
        print(f"p 7/7 [000] 1.{i:09}: {BASE + int(line.split()[0], 16) - addr:x} [unknown]")


def inlined(result, *wanted):
    chains = [r["chain"].split(";") for r in csv.DictReader(open(result))]
    assert any(c[-1 - len(wanted):-1] == list(wanted) for c in chains), chains


def names(result, wanted):
    found = {r["function"] for r in csv.DictReader(open(result))}
    known = set(open(wanted).read().splitlines())
    assert found and found <= known and len(found) > 3, (found, known)


{"chain": chain, "kernel": kernel, "plain": plain, "inlined": inlined, "names": names}[sys.argv[1]](*sys.argv[2:])
