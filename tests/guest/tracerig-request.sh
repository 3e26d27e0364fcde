#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 200
#
# tracerig watch request:PORT, with real servers: requests that they answer slowly are
# cases, slow requests at another port of the same program are not, and explain asks ioreq. The
# truth about the response times is the client's; the slow function is the one in the source.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
export PATH=$TRACERIG_TOP/build/tools/bin:$PATH

# Both servers sleep for 4 s: far above any limit, so that these alarms lead their windows, and
# less than stale= of the preset, after which the start of an operation is not recorded
slept='\([4-9]\|[1-9][0-9]\)[0-9.]*'

explain() {
	cp -r cases "$TRACERIG_OUTPUT" || :
	cat log err served out 2>/dev/null
	cat "$tracing"/instances/tracerig-1/events/tracerig_1/*/ctlchart 2>/dev/null
}

ip link set lo up
mkfifo slow late
gcc -O2 -Wall -Wextra -Werror -o requestwork "$TRACERIG_TOP/tests/guest/requestwork.c"
./requestwork 8082 <late >waited &
exec 4>late
setsid python3 "$TRACERIG_TOP/tests/guest/requests_served.py" 8080 8081 slow >served 2>err-served &
exec 3>slow
until_true 30 grep -q served served
tracerig watch --dir="$PWD/cases" request:8080 request:8082 >log 2>err &
pid=$!
until_true 60 grep -q '^request.8080: learnt: ' log
until_true 60 grep -q '^request.8082: learnt: ' log

answered() {
	[ "$(wc -l <served)" -gt "$1" ]
}
slow() { # WORD
	local before
	before=$(wc -l <served)
	echo "$1" >&3
	until_true 30 answered "$before"
}
slow other
slow slow
# On a busy host other requests may be above the limit, too
until_true 30 grep -q " case [0-9]*: request.8080 took $slept s," log
echo >&4
until_true 30 grep -q " case [0-9]*: request.8082 took $slept s," log
exec 3>&- 4>&-
kill "$pid"
wait "$pid" || die "the watch failed"
same "" "$(ls "$tracing/instances")" "instances after the watch"
same "" "$(cat "$tracing/dynamic_events")" "probes after the watch"

# --- the operation is the request: from its last read to its response, within the client's time
took=$(awk '$1 == "slow" { print $2 }' served)
case=$(sed -n "s/.* case \([0-9]*\): request.8080 took $slept s,.*/\1/p" log | tail -n 1)
python3 "$TRACERIG_TOP/tests/guest/requests_case.py" "cases/$case" "$took" || die "another operation"
tracerig verify --dir=cases "$case" >/dev/null || die "the case is not whole"
# The other port's slow request is no alarm
[ "$(grep -c "request.8080 took $slept s" log)" -eq 1 ] || die "more than one request of 4 s"

# --- why: the server slept, by the events and by ioreq
tracerig explain --dir=cases --timeout=10m "$case" >out 2>err || die "explain fails"
grep -q '^cause: blocked until a timer' out || die "another cause"
grep -q '% .* ioreq: python3.*: sleeping' out || die "ioreq does not find the sleep" "$(grep -v '^ ' out)"
! grep -q '^disagree' out || die "they disagree"
cat log out

# --- the function of the program that the call is in, from the case alone
case=$(sed -n "s/.* case \([0-9]*\): request.8082 took $slept s,.*/\1/p" log)
tracerig verify --dir=cases "$case" >/dev/null || die "the case of the function is not whole"
case=cases/$case
nm requestwork | grep -q ' t fetch_the_rate$' || die "the program has no such function"
nm "$case/symbols$PWD/requestwork" | grep -q ' t fetch_the_rate$' || die "the case lacks the program's symbols"
grep -q "^map [0-9]* .* path=$PWD/requestwork\$" "$case/iosys_stacks" || die "iosys_stacks lacks the program" "$(cat "$case/iosys_stacks")"
grep -q "^$(readelf -n requestwork | sed -n 's/.*Build ID: //p') $PWD/requestwork\$" "$case/build-ids.txt" || die "build-ids.txt lacks the program"
mv "$case" moved
rm requestwork
tracerig explain --timeout=10m ./moved >out 2>err || die "explain fails"
grep -qE '^ *(100|9[0-9]) % .* ioreq: requestwork: read.*: from /.*/requestwork\+0x[0-9a-f]+ fetch_the_rate$' out || die "ioreq does not name the function"
cat out
