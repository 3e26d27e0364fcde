#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# sanitizers: check-full
#
# lbrtime on LBR samples that lbr_cut.py cuts out of an Intel PT trace of a real program, in which
# the time of every branch is known: what it says is reliable has the right function, what it
# attributes by cycles has it nearly always, and no interval is whole by chance.
set -u

lbrtime=$TOOLS/lbrtime
here=$(realpath "$(dirname "$0")")
program=$lbrtime
# shellcheck source=tests/unit/cli.bash
. "$here/cli.bash"

xz -dc "$here/../data/pt/dlopen.txt.xz" >pt.txt || exit 1

# cell MODE FILTER CYCLES DEPTH PERIOD
cell() {
	local method

	python3 "$here/lbr_cut.py" cut pt.txt cut.txt truth.tsv "$4" "$5" "$1" "$2" "$3" || exit 1
	for method in cycles fit; do
		: >visits.csv
		if ! "$lbrtime" --format=csv --visits --method=$method cut.txt >visits.csv 2>err; then
			grep -qE "^lbrtime: cut.txt: --method=$method: " err || wrong "$*: $(cat err)"
		fi
		printf '%s\t%s\t%s\n' "$*" $method "$(python3 "$here/lbr_cut.py" judge truth.tsv visits.csv)" >>cells
	done
}
for mode in time user hidden kernel; do
	for depth in 16 32; do
		for period in 300 1000; do
			cell $mode calls 1 $depth $period
		done
	done
	cell $mode calls 1 32 500
	cell $mode calls 0 32 300
	cell $mode any 1 32 300
	cell $mode any 0 16 5000
done
cat cells
python3 - <<'END' || wrong "not as the truth"
reliable = right = cells = 0
for line in open("cells"):
    cell, method, told, told_right, sure, sure_right, time = line.rstrip("\n").split("\t")
    told, sure, time = int(told), int(sure), int(time)
    if sure:
        reliable += sure
        right += sure * float(sure_right) / 100
        # Less than a microsecond is a few visits: they are judged together, below
        assert sure < 1000 or float(sure_right) >= 97, line
    if method == "cycles" and told > time / 100:
        assert float(told_right) >= 90, line
        cells += 1
assert right / reliable >= 0.97 and cells >= 10, (right, reliable, cells)
END

# Time before a visit of unknown length is unknown: visits there have no duration, may be off by
# all of the interval, and are not reliable. (Of one or two cycles, a duration rounds to 0.)
python3 "$here/lbr_cut.py" cut pt.txt cut.txt truth.tsv 16 300 hidden calls 1 || exit 1
"$lbrtime" --format=csv --visits --method=cycles cut.txt >visits.csv 2>err || wrong "visits: $(cat err)"
python3 - <<'END' || wrong "visits without attributed time have bounds"
import csv, itertools
unknown = 0
for _, rows in itertools.groupby(csv.DictReader(open("visits.csv")), key=lambda r: (r["time"], r["cpu"])):
    rows = list(rows)
    length = int(rows[0]["interval"])
    if int(rows[0]["start"]) <= int(rows[0]["time"]) - length + 1:
        continue
    for row, following in zip(rows, rows[1:]):
        if following["start"] != rows[0]["start"]:
            break
        if int(row["cycles"]) > 2:
            assert int(row["error"]) == length and row["reliable"] == "0", row
            unknown += 1
assert unknown > 100, unknown
END

# The clock is that of the cut, and is printed with what it may be off by
python3 "$here/lbr_cut.py" cut pt.txt cut.txt truth.tsv 32 300 user calls 1 || exit 1
"$lbrtime" --format=json cut.txt >cut.json 2>err || wrong "json"
python3 -c '
import json
j = json.load(open("cut.json"))
assert 0 < abs(j["ns_per_cycle"] - 0.4) <= j["ns_per_cycle_error"] < 0.03, j' || wrong "the clock is not that of the cut"
"$lbrtime" cut.txt 2>err | grep -qE '^1 cycle = 0\.[0-9]+ ns \(± [0-9.]+ %; shorter if the samples. interrupts took much time\)$' ||
	wrong "the clock is not printed"
# One that a CPU does not have is refused
python3 "$here/lbr_cut.py" cut pt.txt slow.txt truth.tsv 32 300 user calls 1 0.03 || exit 1
"$lbrtime" slow.txt >out 2>err || wrong "a slow clock"
grep -q '^Cycles are not used: by the intervals, a cycle is shorter than 0.1 ns or longer than 10 ns$' out || wrong "a slow clock: $(head -7 out)"
expect 1 '^lbrtime: slow.txt: --method=cycles: by the intervals' --method=cycles slow.txt
expect 2 'must be a number from 0.1 to 10' --ghz=20 slow.txt

# Few long functions, which repeat themselves: what is certain of the clock has the true one, whatever
# time the samples' interrupts take and wherever the count of cycles begins, and no time is given
# to another function. Overlaps that cannot be by chance are whole.
# spin NS INTERRUPT RESTART WHOLE OPTION...: at least WHOLE of the intervals
spin() {
	local ns=$1 interrupt=$2 restart=$3 whole=$4
	shift 4
	python3 "$here/lbr_spin.py" 1700 "$ns" "$interrupt" "$restart" >spin.txt || exit 1
	"$lbrtime" --format=json "$@" spin.txt >spin.json 2>err || wrong "spin $ns $interrupt $restart $*"
	python3 - "$ns" "$whole" "$restart" "$#" <<'END' || wrong "spin $ns $interrupt $restart $*: $(head -n 36 spin.json)"
import json, sys
ns, whole, restart, given = (float(a) for a in sys.argv[1:])
j = json.load(open("spin.json"))
states = j["intervals"]
assert states["whole"]["count"] >= whole * (j["samples"] - 1), states
# One in a thousand intervals may be of a sample that is late
assert j["ns_per_cycle_least"] <= ns <= j["ns_per_cycle_most"] * 1.001, j["ns_per_cycle_most"]
assert j["ns_per_cycle_most"] < 1.5 * ns
# It is used only if it was found or given
assert bool(j["ns_per_cycle"]) == (given > 0 or not restart)
functions = {f["function"]: f for f in j["functions"]}
for m in "ratio", "fit":
    assert functions["spin"]["time"][m] > 0.95 * j["time"], (m, functions)
# By cycles there is spin, or nobody knows
if j["ns_per_cycle"]:
    other = sum(f["time"]["cycles"] for f in functions.values() if f["function"] != "spin")
    assert other < 0.01 * j["time"], functions
END
}
for ns in 0.5 1 2; do
	spin $ns 8000 1 0.9
	spin $ns 0 1 0.9
	spin $ns 8000 0 0
	spin $ns 2000 0 0
	spin $ns 0 0 0
done
spin 0.5 8000 1 0.9 --ghz=2
spin 0.5 8000 0 0 --ghz=2
python3 "$here/lbr_spin.py" 1700 1 8000 1 >spin.txt || exit 1
"$lbrtime" spin.txt >out 2>err || wrong "spin"
grep -qE '^1 cycle <= 1\.[12][0-9]* ns$' out || wrong "spin: $(head -n 8 out)"
# A clock that cannot be is not believed: there are more cycles than time
"$lbrtime" --ghz=0.5 spin.txt >out 2>err || wrong "spin, --ghz=0.5"
grep -q '^Cycles are not used: the intervals do not agree' out || wrong "spin, --ghz=0.5: $(head -n 8 out)"

# A program that goes round in loops, with a sample each 500,000 branches: nothing is whole
python3 - <<'END' >loops.txt
import random
random.seed(4)
def body(rounds):
    for outer in range(rounds):
        base = 0x401000 + 0x1000 * random.choice([0, 0, 0, 1, 2])
        for inner in range(random.choice([3, 3, 3, 5, 40])):
            for i in range(random.choice([6, 11])):
                yield base + 0x20 * i, base + 0x20 * i + 0x10
        yield base + 0x800, 0x400100
stream = list(body(400))
at, time = 0, 10**9
for sample in range(2000):
    at += 499_979
    time += 1_000_000 + random.randrange(2000)
    r = [stream[(at - k) % len(stream)] for k in range(16)]
    print(f"p 9/9 [000] {time // 10**9}.{time % 10**9:09}: {r[0][1]:x} [unknown] "
          + " ".join(f"{f:#x}/{t:#x}/P/-/-/0" for f, t in r))
END
"$lbrtime" --format=json loops.txt >loops.json 2>err || wrong "loops"
python3 -c '
import json
assert json.load(open("loops.json"))["intervals"]["whole"]["count"] == 0' ||
	wrong "loops: intervals are whole: $(grep -A2 '"whole"' loops.json)"

# No result has NaN: where samples left nothing to share a rest by, there was
xz -dc "$here/../data/lbr/nan.txt.xz" >nan.text || exit 1
for ghz in "" --ghz=0.1 --ghz=0.2 --ghz=1; do
	for method in sample equal share ratio cycles fit; do
		for format in json csv chrome speedscope folded text; do
			# shellcheck disable=SC2086 # none or one
			"$lbrtime" $ghz --method=$method --format=$format - <nan.text >out 2>err || continue
			if grep -aiE '(^|[^a-z_])-?(nan|inf)([^a-z]|$)' out; then
				wrong "$format by $method $ghz: NaN"
			fi
			[ $format != json ] || python3 -m json.tool out >/dev/null || wrong "no JSON by $method"
		done
	done
done
# Nor is a clock found in a heavy tail: the true one is refused
xz -dc "$here/../data/lbr/ptwall.txt.xz" >wall.txt || exit 1
expect 1 '^lbrtime: wall.txt: --method=cycles: by the intervals, a cycle is shorter than 0.1 ns or longer' --method=cycles wall.txt

# Call stacks (--call-graph lbr) are no history
{
	for i in 1 2 3 4 5 6 7 8 9; do
		echo "p 9/9 [000] 1.00000$i: 401000 d  c+0x$i/d+0x0/P/-/-/0/CALL/- b+0x9/c+0x0/P/-/-/0/CALL/- a+0x7/b+0x0/P/-/-/0/CALL/- main+0x5/a+0x0/P/-/-/0/CALL/-"
	done
} >stacks.txt
expect 1 '^lbrtime: stacks.txt: its branches are call stacks \(perf record --call-graph lbr\)' stacks.txt
exit $failed
