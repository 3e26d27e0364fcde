#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 200
#
# ioreq --stacks: made-up stacks in a program that was compiled for it, against sums that
# are added up by other means, and functions and lines that addr2line (binutils) finds.
set -u

ioreq=$TOOLS/ioreq
program=$ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

cat >prog.c <<'END'
#include <unistd.h>
static int n;
__attribute__((noinline)) void log_line(const char *s)
{
	n += write(1, s, 1);
}
__attribute__((noinline)) void one(void)
{
	log_line("1");
	n++;
}
__attribute__((noinline)) void two(void)
{
	log_line("2");
	n++;
}
int main(void)
{
	one();
	two();
	return n;
}
END
mkdir -p root/usr/bin
gcc -O1 -g -Wl,--build-id=sha1 -o root/usr/bin/prog prog.c || exit 1
gcc -O1 -g -Wl,--build-id=none -o root/usr/bin/plain prog.c || exit 1
objcopy --only-keep-debug root/usr/bin/prog prog.debug && cp root/usr/bin/prog root/usr/bin/prog-stripped &&
	strip root/usr/bin/prog-stripped && objcopy --add-gnu-debuglink=prog.debug root/usr/bin/prog-stripped &&
	cp prog.debug root/usr/bin/ || exit 1

cat >make.py <<'END'
"""The lines for gen_stacks, and what is true of them, as JSON"""
import json, random, re, subprocess, sys

random.seed(int(sys.argv[1]))
PROG = "root/usr/bin/prog"
build_id = re.search(r"Build ID: (\w+)", subprocess.check_output(["readelf", "-n", PROG], text=True))[1]
# Offset in the file and address as linked are different things
load = [[int(x, 16) for x in line.split()[1:6]] for line in
        subprocess.check_output(["readelf", "-lW", PROG], text=True).splitlines() if line.strip().startswith("LOAD")]
code = subprocess.check_output(["objdump", "-d", "--no-show-raw-insn", PROG], text=True)
# Behind each call, as a stack has it
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
    # The number stands for another file from now on
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
END
python3 make.py 1 a.truth >a.lines && "$UNIT/gen_stacks" a.dat <a.lines || exit 1
# In the first version, frames were others
python3 make.py 2 b.truth first >b.lines && "$UNIT/gen_stacks" --first b.dat <b.lines || exit 1

both="--symfs=root web=a.dat db=b.dat"
# shellcheck disable=SC2086 # several words
for format in json csv text folded; do
	"$ioreq" --stacks --format=$format --top=1000 $both >out.$format 2>err.$format || wrong "$format fails"
done
# shellcheck disable=SC2086
"$ioreq" --stacks --format=json --by=call --longer=2ms $both >longer.json 2>err || wrong "--longer fails"
# shellcheck disable=SC2086
"$ioreq" --format=csv --by=call --longer=2ms $both >longer.csv 2>err || wrong "--longer fails in csv"
cat >check.py <<'END'
import collections, csv, json, math
COMM = {1000: "worker", 1001: "worker", 1002: "other"}
truths = {"web": json.load(open("a.truth")), "db": json.load(open("b.truth"))}


def rank(values, p):
    return sorted(values)[math.ceil(p * len(values) / 100) - 1]


def wanted(key, longer=0):
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for host, truth in truths.items():
        for tgid, op, name, result, took, stack in truth["calls"]:
            if took >= longer:
                groups[key(host, COMM[tgid], op, name)][stack].append((took, result))
    return groups


def described(host, stack):
    return truths[host]["stacks"].get(str(stack)) or {
        "end": "none" if stack == 0 else "untold", "guessed": 0, "frames": []}


def common(a, b):
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return n


def check(result, key, name_of, longer=0):
    want = wanted(key, longer)
    assert [g["time"] for g in result["stacks"]] == sorted((g["time"] for g in result["stacks"]), reverse=True)
    for group in result["stacks"]:
        stacks = want.pop(name_of(group))
        assert group["count"] == sum(map(len, stacks.values()))
        assert group["time"] == sum(t for v in stacks.values() for t, _ in v)
        assert len(group["stacks"]) == len(stacks)
        for got in group["stacks"]:
            times = [t for t, _ in stacks[got["stack"]]]
            results = [r for _, r in stacks[got["stack"]]]
            what = described(group["host"], got["stack"])
            assert {k: got[k] for k in ("count", "time", "p50", "p99", "max", "failed", "bytes")} == {
                "count": len(times), "time": sum(times), "p50": rank(times, 50), "p99": rank(times, 99),
                "max": max(times), "failed": sum(r < 0 for r in results), "bytes": sum(r for r in results if r > 0)}
            assert {k: got[k] for k in ("end", "guessed")} == {k: what[k] for k in ("end", "guessed")}, (got, what)
            assert got["frames"] == what["frames"], (got["frames"], what["frames"])
            others = [described(group["host"], s)["frames"] for s in stacks if s != got["stack"]]
            shared = max((common(what["frames"], o) for o in others), default=None)
            parts = shared if shared is not None and shared < len(what["frames"]) else None
            assert got.get("parts") == parts, (got, parts)
    assert not want
    return result


whole = check(json.load(open("out.json")), lambda h, c, o, n: (h, c, o, n),
              lambda g: (g["host"], g["comm"], g["call"], g["name"]))
assert len(whole["stacks"]) == 16
# One's lines, another's and none's are there
lines = {f["line"] for g in whole["stacks"] for s in g["stacks"] for f in s["frames"] if "line" in f}
assert lines == {5, 9, 14, 19, 20} or lines == {4, 5, 9, 14, 19, 20}, lines
check(json.load(open("longer.json")), lambda h, c, o, n: (h, o), lambda g: (g["host"], g["call"]), 2000000)
sums = {(r["host"], r["call"]): int(r["time"]) for r in csv.DictReader(open("longer.csv"))}
calls = [c for t in truths.values() for c in t["calls"]]
assert sum(sums.values()) == sum(c[4] for c in calls if c[4] >= 2000000)

# CSV and JSON say the same
rows = list(csv.DictReader(open("out.csv")))
flat = [(g, s) for g in whole["stacks"] for s in g["stacks"]]
assert len(rows) == len(flat)
for row, (group, stack) in zip(rows, flat):
    assert [row[k] for k in ("host", "comm", "call", "name")] == [group[k] for k in ("host", "comm", "call", "name")]
    assert all(row[k] == str(stack[k]) for k in ("stack", "end", "count", "time", "p50", "p99", "max", "failed", "bytes"))
    assert row["parts"] == str(stack.get("parts", ""))
    frames = [(f"{f['object']}+" if "object" in f else "") + f"{f.get('offset', f.get('address')):#x}" +
              (f" {f['function']} at {f['file']}:{f['line']}" if "line" in f else "") for f in stack["frames"]]
    assert row["frames"] == ";".join(frames), (row["frames"], frames)

# Folded: the outermost frame first, and all of the time is there
total = 0
for line in open("out.folded"):
    stack, time = line.rsplit(" ", 1)
    total += int(time)
assert total == sum(c[4] for c in calls)
assert any(";gone.so+0x1234;main;one;log_line;write;/a " in line for line in open("out.folded"))
assert any(";pending;two;log_line;" in line for line in open("out.folded"))

# Text: a group's share of stacks, in its order, and where they part
text = open("out.text").read().split("\n\n")
for group in whole["stacks"]:
    name = f"{group['host']}, {group['comm']}, {group['call']}, {group['name']}: {group['count']} calls, "
    block, = [b for b in text if b.startswith(name)]
    assert f", {len(group['stacks'])} stacks\n" in block + "\n", block
    heads = [float(x.split("%")[0].replace("|", "")) for x in block.splitlines() if "%: " in x and not x.startswith("  |")]
    assert heads == sorted(heads, reverse=True) and abs(sum(heads) - 100) < 1, heads
    # What several stacks share, from the innermost frame on, is there once
    prefixes = {json.dumps(s["frames"][:i + 1]) for s in group["stacks"] for i in range(len(s["frames"]))}
    assert len([x for x in block.splitlines()[1:] if "0x" in x]) == len(prefixes), block
END
python3 check.py || wrong "stacks are not those that were made up"
sort -u err.json | cut -d: -f2- >notes
grep -q 'root/usr/bin/prog: another one than was recorded: its build-id differs' err.json || wrong "another build is not told"
grep -q 'root/usr/lib/gone.so: No such file or directory' err.json || wrong "a file that is gone is not told"
grep -q 'plain\|stripped\|second' err.json && wrong "a good file, or one that was not asked for, is told of"

# --- for one client each, and of a kernel that has no stacks
"$ioreq" --stacks --by=client,call --format=csv --symfs=root a.dat >client.csv 2>err || wrong "--by=client fails"
[ "$(cut -d, -f11 client.csv | sort -u | tr '\n' ' ')" = "- client " ] || wrong "--by=client has clients"
"$UNIT/gen_iosys" none.dat 100 1 >none.truth || exit 1
"$ioreq" --stacks none.dat >out 2>err || wrong "no stacks at all fails"
grep -q '^  without a stack$' out || wrong "calls without a stack are not said to have none"

# --- stacks that were evicted or refused meanwhile, not those before; and numbers as large as can be
[ "$(grep -c evicted err.json)" -eq 0 ] || wrong "stacks were evicted where none was"
{ echo "counts 4294967290 7"; echo "map 2147483647 1 1 - /usr/last"; echo "stack 4294967295 0 0 ffffffffffffffff,7fffffffffffffff"
  echo "counts 5 10"; echo "stack 1 0 0 -"; echo "call 1000 read /a 1 5 4294967295"; } | "$UNIT/gen_stacks" counts.dat || exit 1
"$ioreq" --stacks counts.dat >out 2>err || wrong "evicted stacks fail"
grep -q '^ioreq: counts.dat: the kernel evicted 11 stacks' err || wrong "evicted stacks are not told"
grep -q '^ioreq: counts.dat: the kernel had no room for the stacks of 3 or more calls' err || wrong "refused stacks are not told"
grep -q 'last+0xffffffff' out && grep -q '0x7fffffffffffffff' out || wrong "large numbers are others"

# --- wrong use and damage
expect 2 '--stacks requires --format=text, json, csv or folded' --stacks --format=chrome a.dat
expect 2 '--longer=20: must be a time' --longer=20 a.dat
expect 2 '--longer=-1ms: must be a time' --longer=-1ms a.dat
expect 2 '--longer=99999999999999999s: must be a time' --longer=99999999999999999s a.dat
for what in stack map; do
	{ cat a.lines; echo "bad $what"; } | "$UNIT/gen_stacks" bad.dat || exit 1
	expect 1 '^ioreq: bad.dat:[0-9]*: damaged record of a stack or of a mapped file' --stacks bad.dat
	"$ioreq" --by=call bad.dat >out 2>err || wrong "a damaged $what matters where nobody asks for it"
done
mkfifo root/usr/lib-fifo 2>/dev/null
{ echo "map 1 1 1 - /usr/lib-fifo"; echo "stack 1 0 0 8000000100000010"; echo "call 1000 read /a 1 5 1"; } |
	"$UNIT/gen_stacks" fifo.dat || exit 1
"$ioreq" --stacks --symfs=root fifo.dat >out 2>err || wrong "a fifo fails"
grep -q 'root/usr/lib-fifo: not a regular file' err || wrong "a fifo is not told"
{ printf 'map 1 1 1 - /usr/\033[31mred\n'; echo "stack 1 0 0 8000000100000010"; echo "call 1000 read /a 1 5 1"; } |
	"$UNIT/gen_stacks" red.dat || exit 1
"$ioreq" --stacks red.dat >out 2>err || wrong "a strange name fails"
! grep -q "$(printf '\033')" out err || wrong "a name reaches the terminal as it is"

printf 'leak:libtraceevent\nleak:libtracecmd\n' >leaks
export LSAN_OPTIONS=suppressions=$PWD/leaks:print_suppressions=0
head -n 60 a.lines | "$UNIT/gen_stacks" small.dat || exit 1
python3 - <<'END'
import random
random.seed(3)
data = open("small.dat", "rb").read()
start = data.index(b"io_map", data.index(b"print fmt"))
for i in range(60):
    bad = bytearray(data)
    for _ in range(1 + i % 4):
        # Mostly the records, which are at the end
        bad[random.randrange(len(bad) - 8192 if i % 3 else 0, len(bad))] = random.randrange(256)
    open(f"bad{i}.dat", "wb").write(bad)
END
for bad in bad[0-9]*.dat; do
	"$ioreq" --stacks --symfs=root "$bad" >out 2>err
	code=$?
	case $code in
	0) [ -s out ] || wrong "$bad: neither result nor message" ;;
	1) grep -q '^ioreq: ' err || wrong "$bad: failed without a message" ;;
	*) wrong "$bad: status $code" ;;
	esac
done
exit $failed
