#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 60
# tests/bench: parts are chosen by name, CPU times above 2^31 ns are right, and the table of
# the transport reports a receiver that did not keep up, and fails where ledgers are wrong.
. "$TRACERIG_TOP/tests/house/lib.sh"
bench=$TRACERIG_TOP/tests/bench

expect 2 "$bench/run" limits,nosuch
same "bench: no part named 'nosuch' (parts: limits ctlchart schedz transport iosys coherence programs lbr desk pathdiff ioreq)" \
	"$(cat err)" "the message"
[ ! -s out ] || die "something was measured: $(cat out)"
expect 2 "$bench/run" --nosuch
has err "^bench: unknown option '--nosuch'"
expect 2 "$bench/run" ,
has err "^bench: no part is named in ','$"
expect 2 "$bench/run" --values no-such-file
has err '^bench: --values needs a file'
expect 0 "$bench/run" --list
has out '^lbr +7 minutes +lbrtime'
# Each part of the table has its function, and the other way round
same "$(awk '{ print $1 }' out | sort)" "$(sed -n 's/^bench_\([a-z]*\)() {$/\1/p' "$bench/run" | sort)" "functions"

burn=2.2
ns=$("$bench/cpu_ns" python3 -c "from time import process_time as t; all(t() < $burn for _ in iter(int, 1))")
[ "$ns" -ge 2200000000 ] || die "$burn s of CPU time are $ns ns"
[ "$ns" -lt 60000000000 ] || die "$burn s of CPU time are $ns ns"

# --- the transport's table, by the run's line: made took busy bytes packets answers p50 p99 max,
# then the sender's own counts: made lost held acknowledged abandoned, and of its thread the
# records acknowledged and the ns
figures='100 1000000 5000 0 0 0 1 2 3'
table() {
	mkdir -p link
	rm -f link/*
	printf '%s\n' "$@" >link.runs
	"$bench/transport_table" /bin/false . link
}
expect 0 table "0 off 10000 $figures" "1 tracecast 10000 $figures 100 0 0 0 100 0 0" "2 schedz 10000 overloaded" \
	"3 trace_cmd 10000 $figures 100 0"
has out '^transport: tracecast at 10000/s, link: none of 100 records arrived: the host is overloaded$'
has out '^transport: schedz at 10000/s, link: the collector did not answer in time: the host is overloaded$'
has out '^transport: trace_cmd at 10000/s, link: nothing arrived: no figures: the host is overloaded$'
has transport.json '"overloaded": "none of 100 records arrived"'
# Acknowledged without a ledger: a busy host is no reason for that
expect 1 table "0 off 10000 $figures" "1 tracecast 10000 $figures 100 0 0 100 0 100 90000"
has err 'no ledger'
expect 1 table "0 off 10000 $figures" "1 tracecast 10000 $figures 100 0 0 50 20 50 90000"
has err "no ledger|does not add up"

# With what arrived: a file of seven switches of run 1, as its ledger has it
cat >fake-trace-cmd <<'END'
#!/bin/sh
for i in 1 2 3 4 5 6 7; do
	echo " load1-1 [000] 1.0: sched_switch: prev_comm=load1 prev_pid=1"
done
END
chmod +x fake-trace-cmd
mkdir bin
mv fake-trace-cmd bin/trace-cmd
arrived() { # OWN-COUNTS LEDGER
	mkdir -p link
	: >link/rig.0.dat
	echo "$2" >link/rig.ledger
	printf '%s\n' "0 off 10000 ${figures/100/10}" "1 tracecast 10000 ${figures/100/10} $1 6 60000" >link.runs
	PATH=$PWD/bin:$PATH "$bench/transport_table" /bin/false . link
}
ledger='{"generated": 10, "delivered": 7, "lost_in_ring": 0, "lost_on_wire": 3, "awaited": 0, "behind": 0}'
expect 0 arrived "10 0 0 6 4" "$ledger"
has out '^transport: tracecast .*: 4 of 10 records were not acknowledged in time: the host is overloaded$'
has transport.json '"sender_rate": 100000'
expect 1 arrived "10 0 0 10 0" "$ledger"
has err 'lost on the way'
expect 1 arrived "10 0 0 9 1" "$ledger"
has err '9 acknowledged, 7 in the file'
expect 1 arrived "10 0 1 6 4" "$ledger"
has err "the sender's ledger does not add up"
