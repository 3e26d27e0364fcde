#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
# timeout: 300
#
# The program schedz: it restores, event by event, what an independent writer
# wrote; lost events are counted exactly; damage and wrong use are reported in one line.
set -u

schedz=$TOOLS/schedz
program=$schedz
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"
# shellcheck source=tests/lib.bash
. "$TRACERIG_TOP/tests/lib.bash"

report() {
	trace-cmd report "$@" 2>/dev/null
}

# --- lossless: all fields, flags included, to the ns
for seed in "4 0 32" "5 0 64 600" 1 2 3; do
	# shellcheck disable=SC2086 # a 32-bit machine; more names than expand expects; usual ones
	"$UNIT/gen_schedz" blocks.dat plain.dat 5000 $seed || exit 1
	"$schedz" expand blocks.dat -o expanded.dat 2>err || wrong "expand fails"
	for how in "-t -R -l" ""; do
		# shellcheck disable=SC2086 # options
		report $how plain.dat >want
		# shellcheck disable=SC2086
		report $how expanded.dat >got
		[ "$(wc -l <want)" -gt 10000 ] || wrong "seed $seed: the truth is short"
		cmp want got || wrong "seed $seed: report $how differs"
	done
	"$schedz" decode blocks.dat >got 2>err || wrong "decode fails"
	cmp want got || wrong "seed $seed: decode differs from trace-cmd report"
done
[ ! -s err ] || wrong "messages about a good file"
# In an option without bytes trace-cmd finds what its memory had before
LC_ALL=C grep -qaP 'options  \0\x04\0\x01\0\0\0\0' expanded.dat || wrong "the option for the clock is empty"

# --- the format is that of the kernel's documentation
report -t -R -l plain.dat >want
python3 "$TRACERIG_TOP/tests/unit/schedz_format.py" blocks.dat want || wrong "blocks are not as documented"

# A file without blocks is copied unchanged
"$schedz" expand plain.dat -o same.dat 2>err || wrong "expand of a plain file fails"
grep -q 'has no blocks' err || wrong "no message about a file without blocks"
report -t -R -l plain.dat >want
report -t -R -l same.dat >got
cmp want got || wrong "a file without blocks changed"

# --- formats for programs
"$schedz" decode --format=json blocks.dat >out 2>err || wrong "decode --format=json fails"
python3 "$TRACERIG_TOP/tests/unit/schedz_json.py" out || wrong "the JSON is not right"
"$schedz" decode --format=chrome blocks.dat >out 2>err || wrong "decode --format=chrome fails"
python3 "$TRACERIG_TOP/tests/unit/schedz_chrome.py" out || wrong "the slices overlap, or there are none"
# Names of tasks in UTF-8 stay; what is not UTF-8 is replaced
LC_ALL=C sed 's/a task /\xc3\xa4task /g; s/worker/w\xffrker/g' plain.dat >names.dat
for format in json chrome; do
	"$schedz" decode --format=$format names.dat >out 2>err || wrong "decode --format=$format of names fails"
	grep -q '"ätask [0-9]' out || wrong "$format: a name in UTF-8 is not as it was"
	grep -qE '"w\?rker[\/]' out || wrong "$format: a name that is not UTF-8"
done
"$schedz" decode --format=dat -o dat.dat blocks.dat 2>err || wrong "decode --format=dat fails"
cmp dat.dat expanded.dat || wrong "decode --format=dat is not expand"
"$schedz" stat --format=json blocks.dat >out 2>err || wrong "stat --format=json fails"
python3 "$TRACERIG_TOP/tests/unit/schedz_stat.py" out want || wrong "stat is not right"

# --- times are printed as trace-cmd prints those of the clock
for clock in global uptime perf mono mono_raw tai boot; do
	"$UNIT/gen_schedz" clock.dat plain.dat 500 1 0 64 8 $clock || exit 1
	"$schedz" decode clock.dat >got 2>err || wrong "decode with the clock $clock fails"
	report plain.dat | cmp - got || wrong "$clock: decode differs from trace-cmd report"
done

# --- a clock without seconds has no rates, and nothing to draw
for clock in counter uptime x86-tsc; do
	"$UNIT/gen_schedz" ticks.dat plain.dat 5000 1 0 64 8 $clock || exit 1
	"$schedz" stat ticks.dat >out 2>err || wrong "stat with the clock $clock fails"
	grep -qE " [0-9]+ ticks of $clock\$" out || wrong "stat takes $clock for a clock of ns"
	[ "$(awk '$1 ~ /^(0|1|all)$/ { print $4 }' out | sort -u)" = - ] ||
		wrong "stat prints rates by the clock $clock"
	"$schedz" decode ticks.dat >got 2>err || wrong "decode with the clock $clock fails"
	report plain.dat | cmp - got || wrong "$clock: decode differs from trace-cmd report"
	expect 1 "^schedz: ticks.dat: its trace clock, $clock, does not count nanoseconds\$" \
		decode --format=chrome ticks.dat
done

# --- the ledger of schedz collect beside a file
cp blocks.dat host-01.0.dat
cat >host-01.ledger <<'END2'
{ "host": "host", "state": "panic", "generated": 30, "delivered": 20, "lost_in_ring": 1,
  "lost_on_wire": 2, "awaited": 7, "behind": 5, "unknown_cpus": 2 }
END2
"$schedz" stat host-01.0.dat >out 2>err || wrong "stat beside a ledger fails"
grep -qF 'generated 30 = delivered 20 + lost in the ring 1 + lost on the wire 2 + in flight 7' out ||
	wrong "stat does not print the ledger"
grep -q 'state panic' out || wrong "stat does not report the panic"
grep -q 'records of 2 CPUs that stopped' out || wrong "stat does not report the stopped CPUs"
"$schedz" stat --format=json host-01.0.dat |
	python3 -c 'import json, sys; assert json.load(sys.stdin)["ledger"]["behind"] == 5' ||
	wrong "stat --format=json has no ledger"
sed -i 's/"generated": 30/"earlier": 9, "generated": 39/' host-01.ledger
"$schedz" stat host-01.0.dat |
	grep -qF 'generated 39 = before this collector 9 + delivered 20 +' ||
	wrong "stat does not report the records before the collector"
echo '[nonsense' >host-01.ledger
"$schedz" stat host-01.0.dat >out 2>err || wrong "stat beside a damaged ledger fails"
! grep -q ledger out || wrong "stat prints a damaged ledger"

# --- a block is missing: its events are counted as lost
"$UNIT/gen_schedz" gap.dat plain.dat 5000 1 3 || exit 1
"$schedz" stat --format=json gap.dat >out || wrong "stat of a gap fails"
lost=$(python3 -c 'import json; print(json.load(open("out"))["lost"])')
[ "$lost" -gt 100 ] || wrong "no events are missing: $lost"
"$schedz" expand gap.dat -o gap-plain.dat 2>err
grep -q "$lost events lost" err || wrong "expand does not report the lost events"
report gap-plain.dat | grep -q "CPU:0 \[$lost EVENTS DROPPED\]" || wrong "report does not have the lost events"
report -t -R -l gap-plain.dat | grep -v DROPPED >got
report -t -R -l plain.dat | wc -l >n
[ "$(wc -l <got)" -eq $(($(cat n) - lost)) ] || wrong "events are missing that were not lost"

# --- damage
for seed in $(seq 60); do
	"$UNIT/gen_damage" blocks.dat damaged.dat "$seed"
	for command in "expand -o x.dat" "decode --format=json" stat; do
		# shellcheck disable=SC2086 # command and options
		timeout $((60 * scale)) "$schedz" $command damaged.dat >out 2>err
		case $? in
		0) ;;
		1) [ "$(grep -c '^schedz: ' err)" -ge 1 ] || wrong "damage $seed: $command: no message" ;;
		*) wrong "damage $seed: $command ends badly" ;;
		esac
	done
done
expect 1 '^schedz: missing.dat: No such file or directory$' stat missing.dat
expect 1 '^schedz: plain.dat: has no blocks of schedz$' stat plain.dat
head -c 5000 blocks.dat >short.dat
expect 1 '^schedz: short.dat:[0-9]+: truncated: ' expand short.dat -o x.dat

# --- wrong use
expect 2 'missing command'
expect 2 'unknown command frobnicate' frobnicate
expect 2 'missing FILE operand' stat
expect 2 'missing -o FILE' expand blocks.dat
expect 2 '--format=xml: must be ftrace, json, dat or chrome' decode --format=xml blocks.dat
expect 2 'one FILE at a time' stat blocks.dat plain.dat
expect 1 'No such file or directory' expand blocks.dat -o no/such/place.dat
expect 2 'needs --allow ADDR' collect --listen 0.0.0.0
expect 2 'example: must be ADDR:PORT' collect --listen example
for port in 65536 99999 -1 +1 1x 99999999999999999999; do
	expect 2 'the port must be a number from 0 to 65535' collect --listen "127.0.0.1:$port"
done
expect 2 'the port must be a number from 0 to 65535' collect --listen '[::1]:65536'
for address in '[::1' '[]' '[::1]6676'; do
	expect 2 'must be ADDR:PORT, an IPv6 address in brackets' collect --listen "$address"
done
expect 2 '33: must have at most 32 bits' collect --listen 0.0.0.0 --allow 10.0.0.0/33
expect 2 'x: must be a numeric address' collect --allow x
expect 2 '--rotate=1T: must be a size' collect --rotate 1T
expect 2 '--rotate=1K: must be a size such as 256M or 1G, from 1M' collect --rotate 1K
expect 2 'extra operand blocks.dat' collect blocks.dat
expect 1 '^schedz: blocks.dat/x: Not a directory$' collect -o blocks.dat/x
expect 1 '^schedz: blocks.dat: Not a directory$' collect -o blocks.dat
expect 1 '^schedz: cannot listen on 203.0.113.1: Cannot assign' collect --listen 203.0.113.1 --allow ::1
expect 1 '^schedz: nokey: No such file or directory$' collect --key-file nokey
(umask 077 && echo 0123456789abcdef0123456789ABCDEF >key)
for text in 0123456789abcdef0123456789abcde 0123456789abcdef0123456789abcdef0 \
	0123456789abcdef0123456789abcdeg "0123456789abcdef0123456789abcdef "; do
	(umask 077 && echo "$text" >badkey)
	expect 1 '^schedz: badkey: must have 32 hexadecimal digits$' collect --key-file badkey
done
for mode in 604 602 620; do
	chmod $mode key
	expect 1 '^schedz: key: others can read or change it: chmod 600$' collect --key-file key
done
for command in "" expand decode stat collect; do
	# shellcheck disable=SC2086 # a command or nothing
	"$schedz" $command --help >out 2>err || wrong "$command --help fails"
	[ "$(awk 'length > 79' out)" = "" ] || wrong "$command --help is wider than 79 columns"
done
# --- port 0: a free port, which is printed
"$schedz" collect --listen 127.0.0.1:0 --output files >out 2>err &
collector=$!
within 10 grep -q listens err
port=$(sed -n 's/^schedz: listens on 127.0.0.1 port \([0-9]*\)$/\1/p' err)
[ "${port:-0}" -gt 0 ] || wrong "the port is not printed: $(cat err)"
grep -q ":$(printf %04X "${port:-0}") " /proc/net/udp || wrong "no program listens on port $port"
kill $collector
wait $collector || wrong "the collector on port 0 ends with $?"
# --- the socket: other senders are refused, invalid datagrams ignored, signals handled
port=$("$TRACERIG_TOP/tests/free-ports" udp)
"$schedz" collect --listen "127.0.0.1:$port" --allow 127.0.0.2 --output files >out 2>err &
collector=$!
python3 "$TRACERIG_TOP/tests/unit/schedz_collect_allow.py" "$port" "$scale" || wrong "the collector does not listen"
has_ignored() {
	kill -USR1 "$collector"
	grep -q '^ignored: 4 ' out
}
within 10 has_ignored
kill $collector
wait $collector || wrong "the collector ends with $?"
grep -q '^ignored: 4 ' out || wrong "not 4 were ignored: $(cat out)"
grep -q '^refused: 3 ' out || wrong "not 3 were refused: $(cat out)"
[ ! -s err ] || wrong "messages"
# --- a key: senders without it are refused, a sender with it gets answers with new numbers
chmod 600 key
"$schedz" collect --listen "127.0.0.1:$port" --key-file key --output files >out 2>err &
collector=$!
python3 "$TRACERIG_TOP/tests/unit/schedz_collect_key.py" "$port" "$scale" || wrong "the key"
kill $collector
wait $collector || wrong "the collector with a key ends with $?"
grep -q '^refused: 3 datagrams without a key$' out || wrong "without a key: $(cat out)"
grep -q '^refused: 3 datagrams with another key$' out || wrong "of another key: $(cat out)"
grep -qE '^refused: [3-9][0-9]* datagrams that had arrived before$' out || wrong "repeated: $(cat out)"
[ -z "$(ls files)" ] || wrong "files without a trace"

"$schedz" --version | grep -qE '^schedz \(tracerig\) [0-9]' || wrong "--version"

exit "$failed"
