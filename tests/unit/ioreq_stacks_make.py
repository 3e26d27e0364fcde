# SPDX-License-Identifier: GPL-2.0
"""usage: ioreq_stacks_make.py SEED TRUTH

test_ioreq_stacks.sh: the lines for gen_stacks on standard output, and what is true of them
as JSON in TRUTH.
"""
import json, random, re, subprocess, sys

random.seed(int(sys.argv[1]))
PROG = "root/usr/bin/prog"
build_id = re.search(r"Build ID: (\w+)", subprocess.check_output(["readelf", "-n", PROG], text=True))[1]
# The offset in the file differs from the address as linked
load = [[int(x, 16) for x in line.split()[1:6]] for line in
        subprocess.check_output(["readelf", "-lW", PROG], text=True).splitlines() if line.strip().startswith("LOAD")]
code = subprocess.check_output(["objdump", "-d", "--no-show-raw-insn", PROG], text=True)
# The address after each call, as in a stack
returns = [int(line.split(":")[0], 16) for line, before in zip(code.splitlines()[1:], code.splitlines())
           if re.match(r"\s+[0-9a-f]+:", line) and re.search(r"\scall\s.*<(write|one|two|log_line)", before)]
assert len(returns) == 5, returns


def offset(address):
    for off, vaddr, _, size, _ in load:
        if vaddr <= address < vaddr + size:
            return address - vaddr + off
    raise ValueError


def source(address):
    out = subprocess.check_output(["addr2line", "-fe", PROG, hex(address)], text=True).split("\n")
    file, line = re.match(r"(.*):(\d+)", out[1]).groups()
    return out[0], file, int(line)


by_source = {}
for at in returns:
    by_source[source(at - 1)[0], source(at - 1)[2]] = at
assert sorted(by_source) == [("log_line", 5), ("main", 19), ("main", 20), ("one", 9), ("two", 14)], by_source
log, one, two = by_source["log_line", 5], by_source["one", 9], by_source["two", 14]
main1, main2 = by_source["main", 19], by_source["main", 20]

P, OTHER, GONE, PLAIN, STRIPPED = 3, 4, 5, 6, 7
FIRST = len(sys.argv) > 3
def frame(m, off): return m << 48 | off if FIRST else 1 << 63 | m << 32 | off
def number(frame): return frame >> 48 if FIRST else frame >> 63 and frame >> 32 & (1 << 31) - 1
def f(m, address): return frame(m, offset(address) if m in (P, OTHER, PLAIN, STRIPPED) else address)
stacks = {  # id: (end, guessed, frames)
    1: (0, 0, [f(P, log), f(P, one), f(P, main1), f(GONE, 0x1234)]),
    2: (0, 0, [f(P, log), f(P, two), f(P, main2), f(GONE, 0x1234)]),
    3: (9, 1, [f(P, log), f(P, two)]),
    4: (0, 0, [0x7f0000001000, f(P, one)]),
    5: (0, 0, [f(OTHER, log), f(OTHER, one)]),
    6: (0, 0, []),
    7: (11, 0, [f(PLAIN, log)]),
    8: (0, 0, [f(STRIPPED, log), f(STRIPPED, two)]),
    10: (0, 0, [f(9, 0x99)]),
}
maps = {P: (8 << 20 | 1, 100, build_id, "/usr/bin/prog"), OTHER: (8 << 20 | 1, 101, "00" * 20, "/usr/bin/prog"),
        GONE: (8 << 20 | 1, 102, "-", "/usr/lib/gone.so"), PLAIN: (8 << 20 | 1, 103, "-", "/usr/bin/plain"),
        STRIPPED: (8 << 20 | 1, 104, build_id, "/usr/bin/prog-stripped"),
        9: (8 << 20 | 1, 105, "-", "/usr/lib/first")}
lines, told = [], set()
calls = []


def tell(i):
    for m in {number(x) for x in stacks[i][2]} - {0}:
        lines.append("map %d %d %d %s %s" % (m, *maps[m]))
    end, guessed, frames = stacks[i]
    lines.append(f"stack {i} {end} {guessed} {','.join(f'{x:x}' for x in frames) or '-'}")
    told.add(i)


LATE = 5
tell(10)
if FIRST:
    # From now on the number stands for another file
    lines.append(f"map 9 {8 << 20 | 1} 106 - /usr/lib/second")
for _ in range(600):
    i = random.choice([0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 10, 99])
    if i in stacks and i != LATE and (i not in told or random.random() < 0.05):
        if i != 10:
            tell(i)
    tgid, op = random.choice((1000, 1001, 1002)), random.choice(("read", "write"))
    name = random.choice(("/a", "/b"))
    result, took = random.choice((-5, 0, 10, 4000)), random.randrange(1, 5000000)
    lines.append(f"call {tgid} {op} {name} {result} {took} {i}")
    calls.append((tgid, op, name, result, took, i))
tell(LATE)
print("\n".join(lines))
names = {id: maps[id][3] for id in maps} | {9: "/usr/lib/first"}
known = {offset(at): source(at - 1) for at in (one, two, main1, main2)} | {offset(log): source(log)}
inner = {offset(log): source(log)}
outer = {offset(at): source(at - 1) for at in returns}
truth = {"calls": calls, "stacks": {}}
for i, (end, guessed, frames) in stacks.items():
    out = []
    for at, x in enumerate(frames):
        m = number(x)
        off = x & (1 << (48 if FIRST else 32)) - 1 if m else x
        line = {"object": names[m], "offset": off} if m else {"address": off}
        if m in (P, PLAIN, STRIPPED):
            s = (outer if at else inner)[off]
            line |= {"function": s[0], "file": s[1], "line": s[2]}
        out.append(line)
    truth["stacks"][i] = {"end": {0: "complete", 9: "pending"}.get(end, "unknown"), "guessed": guessed, "frames": out}
json.dump(truth, open(sys.argv[2], "w"))
