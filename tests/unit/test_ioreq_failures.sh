#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Requests that fail, and traces without requests: ioreq's messages and rankings.
set -u

ioreq=$TOOLS/ioreq
program=$ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

# --- only the formats of events
"$UNIT/gen_failures" formats.dat formats || exit 1
for what in "" --requests --paths --stacks --format=html; do
	# shellcheck disable=SC2086 # none or one
	expect 1 'formats.dat: .*no records of iosys events, only their formats.*trace-cmd record -e iosys' $what formats.dat
done

# --- UDP
"$UNIT/gen_failures" udp.dat udp || exit 1
for what in "" --requests --paths; do
	# shellcheck disable=SC2086 # none or one
	"$ioreq" $what udp.dat >out 2>err || wrong "a trace with UDP fails"
	grep -q '2 calls on UDP sockets: requests over UDP are not followed, since the peers' out || wrong "$what does not say that UDP is not followed"
done
"$ioreq" --format=json udp.dat | grep -q '"udp_calls": *2' || wrong "JSON does not count calls on UDP"
"$ioreq" --format=html udp.dat >udp.html || wrong "html of a trace with UDP fails"
grep -q '"udp_calls": *2' udp.html || wrong "the page has no count of calls on UDP"
grep -q 'h\.udp_calls.*UDP are not followed' udp.html || wrong "the page does not say that UDP is not followed"

# --- requests without a response: 8 s until the trace ends, 3 s until a reset, beside one of 50 ms
"$UNIT/gen_failures" none.dat unanswered || exit 1
"$ioreq" --requests --format=json none.dat >requests.json 2>err || wrong "--requests fails"
"$ioreq" --paths --format=json none.dat >paths.json 2>>err || wrong "--paths fails"
"$ioreq" --paths none.dat >paths.txt 2>>err || wrong "--paths in text fails"
"$ioreq" --requests none.dat >requests.txt 2>>err || wrong "--requests in text fails"
"$ioreq" --format=html none.dat >none.html 2>>err || wrong "html fails"
"$ioreq" --format=chrome none.dat >none.chrome 2>>err || wrong "chrome fails"
"$ioreq" --format=otlp none.dat >none.otlp 2>>err || wrong "otlp fails"
[ ! -s err ] || wrong "messages about requests without a response"
python3 -B "$TRACERIG_TOP/tests/unit/ioreq_unanswered.py" || wrong "requests without a response are not ranked by their time in flight"
grep -qE '^ +11\.00 s +99\.5 % +2 +slow 10.0.0.1:8001 +unanswered' paths.txt || wrong "text does not say what to fix first"
grep -q '^  2 unanswered, in flight for 11.00 s$' requests.txt || wrong "text has no time in flight"

# --- responses in which the trace ends
"$UNIT/gen_failures" ends.dat ends || exit 1
"$ioreq" --requests --format=json ends.dat >requests.json 2>err || wrong "--requests of a trace that ends in responses fails"
"$ioreq" --paths --format=json ends.dat >paths.json 2>>err || wrong "--paths of a trace that ends in responses fails"
[ ! -s err ] || wrong "messages about a trace that ends in responses"
python3 "$TRACERIG_TOP/tests/unit/ioreq_ends.py" || wrong "the server's time is unknown if the trace ends in the response"

# --- connections that fail before they transfer any bytes
"$UNIT/gen_failures" connects.dat connects || exit 1
"$UNIT/gen_failures" connects-lost.dat connects-lost || exit 1
for format in json csv text; do
	"$ioreq" --requests --format=$format connects.dat >requests.$format 2>err || wrong "--requests fails in $format"
done
"$ioreq" --paths --format=json connects.dat >paths.json 2>>err || wrong "--paths fails"
"$ioreq" --paths connects.dat >paths.txt 2>>err || wrong "--paths in text fails"
"$ioreq" --format=html connects.dat >none.html 2>>err || wrong "html fails"
"$ioreq" --format=chrome connects.dat >chrome.json 2>>err || wrong "chrome fails"
"$ioreq" --format=otlp connects.dat >otlp.json 2>>err || wrong "otlp fails"
"$ioreq" --requests --format=json connects-lost.dat >lost.json 2>lost.err || wrong "--requests of lost records fails"
[ ! -s err ] || wrong "messages about connections that fail"
python3 "$TRACERIG_TOP/tests/unit/ioreq_connects.py" || wrong "connections that fail are not ranked by their time"
grep -qE '^ +300\.0 ms +[0-9.]+ % +1 +10\.0\.0\.1:8103 +unanswered +Connection reset by peer$' paths.txt ||
	wrong "text does not say that a connection was reset: $(cat paths.txt)"
grep -q '^  2 unanswered, in flight for 130.0 ms (2 failed connections)$' requests.text || wrong "text does not count connections that failed"

# --- requests that need time to arrive: that is the client's or the network's, not the server's
"$UNIT/gen_failures" slow.dat arriving || exit 1
"$ioreq" --requests --format=json slow.dat >requests.json 2>err || wrong "--requests fails"
"$ioreq" --paths --format=json slow.dat >paths.json 2>>err || wrong "--paths fails"
"$ioreq" --paths slow.dat >paths.txt 2>>err || wrong "--paths in text fails"
"$ioreq" --requests slow.dat >requests.txt 2>>err || wrong "--requests in text fails"
[ ! -s err ] || wrong "messages about requests that need time to arrive"
python3 "$TRACERIG_TOP/tests/unit/ioreq_arriving.py" || wrong "the time in which requests arrive is blamed on the server"
grep -qE '^ +750\.0 ms +75\.5 % +3 +client +client sending' paths.txt || wrong "text does not say that the client is slow: $(cat paths.txt)"
grep -qE '^  3 requests by one thread: request arriving 98 %, computing or sleeping 2 %$' requests.txt || wrong "text has no arriving: $(cat requests.txt)"

# --- bytes that have arrived, and that the other side's thread does not wait for
"$UNIT/gen_failures" there.dat not-received || exit 1
for format in json csv text; do
	"$ioreq" --requests --format=$format there.dat >requests.$format 2>err || wrong "--requests fails in $format"
done
"$ioreq" --paths --format=json there.dat >paths.json 2>>err || wrong "--paths fails"
"$ioreq" --paths there.dat >paths.txt 2>>err || wrong "--paths in text fails"
[ ! -s err ] || wrong "messages about bytes that are not received"
python3 "$TRACERIG_TOP/tests/unit/ioreq_not_received.py" || wrong "time in which bytes are not received is the network's"
grep -qE '^ +22\.00 ms +20\.6 % +2 +client +client not receiving' paths.txt || wrong "text does not say that the client is busy: $(cat paths.txt)"
grep -q '^  network or queue of 4 requests: to server 64.00 ms, of which 30.00 ms before the server waited; to client 31.00 ms, of which 22.00 ms before the client waited$' \
	requests.text || wrong "text does not say when the client waited: $(cat requests.text)"

# --- on a CPU or not, outside of calls
"$UNIT/gen_failures" cpu.dat switches || exit 1
"$UNIT/gen_failures" lost.dat lost || exit 1
"$ioreq" --requests --format=json cpu.dat >requests.json 2>err || wrong "--requests fails"
"$ioreq" --paths --format=json cpu.dat >paths.json 2>>err || wrong "--paths fails"
"$ioreq" --paths cpu.dat >paths.txt 2>>err || wrong "--paths in text fails"
[ ! -s err ] || wrong "messages about sched_switch: $(cat err)"
"$ioreq" --requests --format=json lost.dat >lost.json 2>err || wrong "--requests of lost records fails"
python3 "$TRACERIG_TOP/tests/unit/ioreq_switches.py" || wrong "computing and waiting are not distinguished"
grep -qE '^ +40\.00 ms .* slow 10.0.0.1:8001 +sleeping +woken by other$' paths.txt || wrong "text does not say who woke it: $(cat paths.txt)"

# --- a thread that handles several requests computes for one of them, not for each
"$UNIT/gen_failures" shared.dat shared || exit 1
for format in json csv text; do
	"$ioreq" --requests --format=$format shared.dat >requests.$format 2>err || wrong "--requests of a shared thread fails in $format"
	"$ioreq" --paths --format=$format shared.dat >paths.$format 2>>err || wrong "--paths of a shared thread fails in $format"
done
[ ! -s err ] || wrong "messages about a shared thread: $(cat err)"
python3 "$TRACERIG_TOP/tests/unit/ioreq_shared.py" || wrong "a thread computes for each of its requests at the same time"
grep -q ' slow 10.0.0.1:8001 *ambiguous computing  *for one of at most 3 requests$' paths.text || wrong "text does not say for how many requests: $(cat paths.text)"
grep -q 'by one thread: .*ambiguous computing [0-9]* %' requests.text || wrong "text has no ambiguous computing: $(cat requests.text)"

# --- a server that sends for longer than the client receives
"$UNIT/gen_failures" overlap.dat overlap || exit 1
"$ioreq" --paths --format=json overlap.dat >paths.json 2>err || wrong "--paths of calls that overlap fails"
[ ! -s err ] || wrong "messages about calls that overlap: $(cat err)"
python3 "$TRACERIG_TOP/tests/unit/ioreq_overlap.py" || wrong "the server still answers when the client has the response"

# --- a server's port may be the higher one
"$UNIT/gen_failures" ports.dat ports || exit 1
"$ioreq" --paths --format=json ports.dat >paths.json 2>err || wrong "--paths of high ports fails"
[ ! -s err ] || wrong "messages about high ports: $(cat err)"
"$ioreq" --paths ports.dat | grep -q '^1 request of clients, 0 downstream requests$' || wrong "text says 1 requests"
python3 "$TRACERIG_TOP/tests/unit/ioreq_ports.py" || wrong "the port of a server is taken for a client's"

# --- a multiplexed connection, beside one that is not
"$UNIT/gen_failures" mux.dat multiplexed || exit 1
"$ioreq" --requests --format=json mux.dat >requests.json 2>err || wrong "--requests fails"
"$ioreq" --requests mux.dat >requests.txt 2>>err || wrong "--requests in text fails"
"$ioreq" --paths --format=json mux.dat >mux-paths.json 2>>err || wrong "--paths of a multiplexed connection fails"
"$ioreq" --format=otlp mux.dat >mux.otlp 2>>err || wrong "otlp of a multiplexed connection fails"
"$ioreq" --format=chrome mux.dat >mux.chrome 2>>err || wrong "chrome of a multiplexed connection fails"
[ ! -s err ] || wrong "messages about a multiplexed connection"
python3 -B "$TRACERIG_TOP/tests/unit/ioreq_multiplexed.py" || wrong "a multiplexed connection is not recognised"
grep -q '^  1 multiplexed connection (HTTP/2, gRPC or pipelining), whose requests cannot be separated$' requests.txt ||
	wrong "text does not say that a connection is multiplexed: $(cat requests.txt)"
"$ioreq" --requests --format=csv mux.dat >requests.csv
"$ioreq" --paths mux.dat >paths.txt 2>err || wrong "--paths of a multiplexed connection fails: $(cat err)"
"$ioreq" --paths --format=json mux.dat >paths.json 2>>err || wrong "--paths in JSON fails: $(cat err)"
grep -q '^  20 on multiplexed connections (HTTP/2, gRPC or pipelining), with 100.0 ms in no row: requests cannot be separated$' paths.txt ||
	wrong "--paths does not say that a connection is multiplexed: $(cat paths.txt)"
"$ioreq" --format=html mux.dat >mux.html 2>>err || wrong "html fails: $(cat err)"
grep -q '"multiplexed_time": *100000000' mux.html || wrong "the page has no time of multiplexed requests"
grep -q '"multiplexed": *20' paths.json || wrong "JSON of --paths does not count multiplexed requests"
python3 -c 'import csv; assert [r["multiplexed"] for r in csv.DictReader(open("requests.csv"))] == ["1"]' || wrong "CSV does not say that a connection is multiplexed"
grep -q multiplexed <("$ioreq" --requests cpu.dat) && wrong "a connection is reported as multiplexed that is not"

# --- a server that responds before it has all of the request
"$UNIT/gen_failures" late.dat late || exit 1
"$ioreq" --requests --format=json late.dat >late.json 2>err || wrong "--requests of late bytes fails"
"$ioreq" --format=chrome late.dat >late.chrome 2>>err || wrong "chrome of late bytes fails"
[ ! -s err ] || wrong "messages about late bytes"
python3 "$TRACERIG_TOP/tests/unit/ioreq_late.py" || wrong "bytes of a request that are received after its response"

# --- a log is written after the response, and no file is read
"$UNIT/gen_failures" over.dat over || exit 1
"$ioreq" --format=chrome over.dat >over.chrome 2>err || wrong "chrome of requests that are over fails"
python3 "$TRACERIG_TOP/tests/unit/ioreq_over.py" || wrong "calls after the response"
# A failed open is access to files, by io_uring, too
"$ioreq" --by=client,call --format=csv over.dat >over.csv 2>err || wrong "--by=client fails"
[ ! -s err ] || wrong "messages about requests that are over: $(cat err)"
[ "$(grep -cE '^,,,uring:openat,.*,10,10,.*,client$' over.csv)" -eq 1 ] ||
	wrong "a failed open by io_uring is not attributed to the client"
exit $failed
