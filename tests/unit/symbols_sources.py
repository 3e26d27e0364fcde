# SPDX-License-Identifier: GPL-2.0
"""symbols_sources.py FILE DEBUG PEER: functions, inlined functions and lines of all instructions

Truth: binutils. Lines and inlined functions by addr2line, functions by readelf, names by c++filt.
DEBUG has FILE's debug information and symbols.
"""
import bisect
import re
import subprocess
import sys

FILE, DEBUG, PEER = sys.argv[1:]


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


code = run("objdump", "-d", "--no-show-raw-insn", "-j", ".text", FILE)
addresses = [int(m[1], 16) for m in re.finditer(r"^ +([0-9a-f]+):\t", code, re.M)]
text = "".join(f"{a:x}\n" for a in addresses)
functions = []
for line in run("readelf", "-sW", DEBUG).splitlines():
    field = line.split()
    if len(field) == 8 and field[3] in ("FUNC", "IFUNC") and field[6] != "UND":
        functions.append((int(field[1], 16), int(field[2], 0), field[7].split("@")[0]))
functions.sort()
starts = [f[0] for f in functions]


def function_of(address):
    i = bisect.bisect(starts, address) - 1
    return {f[2] for f in functions if i >= 0 and f[0] == starts[i] and (not f[1] or address < f[0] + f[1])}


def blocks(output):
    """By address: pairs of function and place, innermost first"""
    result = {}
    for line in output.splitlines():
        if re.fullmatch("0x[0-9a-f]+", line):
            lines = result.setdefault(int(line, 16), [])
        else:
            lines.append(re.sub(r" \(discriminator.*", "", line))
    return {a: list(zip(x[::2], x[1::2])) for a, x in result.items()}


truth = blocks(run("addr2line", "-afi", "-e", DEBUG, text=text))
raw = blocks(run(PEER, "--no-demangle", FILE, text=text))
shown = blocks(run(PEER, FILE, text=text))
names = sorted({name for b in raw.values() for name, _ in b})
plain = dict(zip(names, run("c++filt", "-p", text="".join(n + "\n" for n in names)).splitlines()))
inlined = lines = 0
for a in addresses:
    want, got = truth[a], raw[a]
    assert [(plain[n], p) for n, p in got] == shown[a], (hex(a), got, shown[a])
    known = function_of(a)
    assert (got[-1][0] in known) if known else (not got or got[-1][0] == "?"), (hex(a), got, known)
    if re.search(r":[0?]$", want[0][1]):
        assert not got or got[0][1].endswith(":0"), (hex(a), got, want)
        continue
    assert [p for _, p in got] == [p for _, p in want], (hex(a), got, want)
    assert [n for n, _ in got[:-1]] == [f"{n} (inlined)" for n, _ in want[:-1]], (hex(a), got, want)
    inlined += len(want) > 1
    lines += 1
print(f"{len(addresses)} instructions, {lines} with lines, {inlined} in inlined functions")
assert lines > 50 and inlined >= 20
