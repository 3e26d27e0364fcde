#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Requests that go wrong, and traces without any: what ioreq says of them, in all its rankings.
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
[ ! -s err ] || wrong "messages about requests without a response"
python3 - <<'END' || wrong "requests without a response are not ranked by what they cost"
import json, re
(r,) = json.load(open("requests.json"))["requests"]
assert (r["client"], r["server"], r["server_address"]) == ("client", "slow", "10.0.0.1:8001"), r
assert (r["answered"], r["unanswered"], r["unanswered_time"]) == (1, 2, 11_000_000_000), r
p = json.load(open("paths.json"))
assert p["links"]["clients"] == 3 and p["links"]["waited"] == 11_050_000_000, p["links"]
(path,) = p["paths"]
assert (path["requests"], path["unanswered"], path["unanswered_time"]) == (1, 2, 11_000_000_000), path
first = p["causes"][0]
assert (first["process"], first["step"], first["time"], first["requests"]) == ("slow", "unanswered", 11_000_000_000, 2), first
assert [s["wait"] for s in p["slowest"]] == [8_000_000_000, 3_000_000_000, 50_000_000], p["slowest"]
data = json.loads(re.search(r'id="data">(.*?)</script>', open("none.html").read(), re.S)[1])
single = sorted(((r["client"]["time"], r["unanswered"]) for r in data["list"]), reverse=True)
assert single == [(8_000_000_000, True), (3_000_000_000, True), (50_000_000, False)], single
END
grep -qE '^ +11\.00 s +99\.5 % +2 +slow 10.0.0.1:8001 +unanswered' paths.txt || wrong "text does not say what to fix first"
grep -q '^  2 unanswered, in flight for 11.00 s$' requests.txt || wrong "text does not say what these cost"

# --- requests that need time to arrive: that is the client's or the network's, not the server's
"$UNIT/gen_failures" slow.dat arriving || exit 1
"$ioreq" --requests --format=json slow.dat >requests.json 2>err || wrong "--requests fails"
"$ioreq" --paths --format=json slow.dat >paths.json 2>>err || wrong "--paths fails"
"$ioreq" --paths slow.dat >paths.txt 2>>err || wrong "--paths in text fails"
"$ioreq" --requests slow.dat >requests.txt 2>>err || wrong "--requests in text fails"
[ ! -s err ] || wrong "messages about requests that need time to arrive"
python3 - <<'END' || wrong "the time in which requests arrive is blamed on the server"
import json
MS = 1_000_000
r = [f for f in json.load(open("requests.json"))["requests"] if f["server"] == "slow"]
steps = {k: v for f in r for k, v in f["steps"].items() if v}
assert len(r) == 1 and steps == {"arriving": 800 * MS, "rest": 17 * MS}, r
p = json.load(open("paths.json"))
assert p["links"]["waited"] == (312 + 305 + 170 + 206) * MS, p["links"]
got = {(c["process"], c["step"]): (c["time"] // MS, c["requests"]) for c in p["causes"] if c["time"]}
# Of 2, the call that receives the body is short. 2, 1 and 1 ms more than the server's time; of the server that is not recorded, what its client
# did not let pass
assert got == {("client", "sending"): (750, 3), ("slow", "arriving"): (200, 2), ("slow", "rest"): (17, 3),
               ("slow", "between"): (6, 3), ("10.0.0.1:8001", "unseen"): (20, 1)}, got
END
grep -qE '^ +750\.0 ms +75\.5 % +3 +client +client sending' paths.txt || wrong "text does not say that the client is slow: $(cat paths.txt)"
grep -qE 'by one thread: request arriving 98 %, computing or sleeping 2 %$' requests.txt || wrong "text has no arriving: $(cat requests.txt)"

# --- on a CPU or not, outside of calls
"$UNIT/gen_failures" cpu.dat switches || exit 1
"$UNIT/gen_failures" lost.dat lost || exit 1
"$ioreq" --requests --format=json cpu.dat >requests.json 2>err || wrong "--requests fails"
"$ioreq" --paths --format=json cpu.dat >paths.json 2>>err || wrong "--paths fails"
"$ioreq" --paths cpu.dat >paths.txt 2>>err || wrong "--paths in text fails"
[ ! -s err ] || wrong "messages about sched_switch: $(cat err)"
"$ioreq" --requests --format=json lost.dat >lost.json 2>err || wrong "--requests of lost records fails"
python3 - <<'END' || wrong "computing and waiting are not told apart"
import json
MS = 1_000_000
# Of 20, 42, 93 and 110 ms, 12 of these in a call; 5, 2 and 1 ms without a CPU, 30 and 40 ms asleep
want = {"files": 12, "computing": 20 - 5 + 42 - 32 + 93 - 41 + 110 - 12, "runnable": 8, "sleeping": 70}
(r,) = json.load(open("requests.json"))["requests"]
assert {k: v // MS for k, v in r["steps"].items() if v} == want, r["steps"]
causes = json.load(open("paths.json"))["causes"]
got = {(c["step"], c["object"]): c["time"] // MS for c in causes if c["process"] == "slow" and c["time"] and c["step"] != "between"}
assert got == {("computing", ""): want["computing"], ("runnable", ""): 8, ("sleeping", ""): 30, ("sleeping", "woken by other"): 40,
               ("files", "/tmp/f"): 12}, got
p = json.load(open("paths.json"))
assert p["links"]["waited"] == sum(c["time"] for c in causes) == (30 + 51 + 101 + 117) * MS, p["links"]
# Where records were lost, nobody knows
(r,) = json.load(open("lost.json"))["requests"]
steps = {k: v // MS for k, v in r["steps"].items() if v}
assert steps == {"files": 12, "computing": 20 - 5 + 42 - 32, "runnable": 7, "sleeping": 30, "rest": 93 + 110 - 12}, steps
END
grep -qE '^ +40\.00 ms .* slow 10.0.0.1:8001 +sleeping +woken by other$' paths.txt || wrong "text does not say who woke it: $(cat paths.txt)"

# --- a multiplexed connection, beside one that is not
"$UNIT/gen_failures" mux.dat multiplexed || exit 1
"$ioreq" --requests --format=json mux.dat >requests.json 2>err || wrong "--requests fails"
"$ioreq" --requests mux.dat >requests.txt 2>>err || wrong "--requests in text fails"
[ ! -s err ] || wrong "messages about a multiplexed connection"
python3 - <<'END' || wrong "a multiplexed connection is not recognised"
import json
(r,) = json.load(open("requests.json"))["requests"]
# The client's turns: two each time on the one, one on the other
assert (r["answered"], r["unclear"], r["multiplexed"], r["service"]["count"]) == (20 + 20, 20, 1, 20), r
END
grep -q '^  1 multiplexed connection (HTTP/2, gRPC or pipelining), whose requests cannot be told apart$' requests.txt ||
	wrong "text does not say that a connection is multiplexed: $(cat requests.txt)"
"$ioreq" --requests --format=csv mux.dat >requests.csv
sed -n '1s/.*,//p; 2s/.*,//p' requests.csv | tr '\n' ' ' | grep -qx 'multiplexed 1 ' || wrong "CSV does not say that a connection is multiplexed"
grep -q multiplexed <("$ioreq" --requests cpu.dat) && wrong "what is not multiplexed is said to be"
exit $failed
