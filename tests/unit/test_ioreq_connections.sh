#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Connections that are older than the recording, or that have no plain requests.
set -u

ioreq=$TOOLS/ioreq
program=$ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

# --- which end is the server
"$UNIT/gen_connections" roles.dat roles || exit 1
for format in json text csv html; do
	[ $format = html ] && what= || what=--requests
	# shellcheck disable=SC2086 # none or one
	"$ioreq" --format=$format $what roles.dat >roles.$format 2>err || wrong "$format fails"
	[ ! -s err ] || wrong "messages about roles in $format: $(cat err)"
done
for format in json text; do
	"$ioreq" --format=$format --paths roles.dat >roles.paths.$format 2>err || wrong "--paths of roles fails in $format"
done
python3 "$TRACERIG_TOP/tests/unit/ioreq_roles.py" || wrong "the wrong end is the server"
[ "$(grep -c '^  1 connection whose server is a guess, since none of its ends was seen to connect or accept$' roles.text)" = 3 ] ||
	wrong "text does not say that the server is a guess: $(cat roles.text)"
python3 -c 'import csv; assert sorted(r["guessed"] for r in csv.DictReader(open("roles.csv"))) == [*"0000111"]' || wrong "CSV does not say that the server is a guess"
[ "$(grep -c '^  3 connections whose server is a guess, since none of its ends was seen to connect or accept$' roles.paths.text)" = 1 ] ||
	wrong "--paths does not say that servers are guesses: $(cat roles.paths.text)"
python3 -c 'import json; assert json.load(open("roles.paths.json"))["links"]["guessed"] == 3' || wrong "JSON of --paths does not say that servers are guesses"
grep -q '"guessed": *1' roles.html || wrong "the page does not say that the server is a guess"

# --- connections that may be multiplexed, and plain ones; responses that are cut off, and whole ones
for kind in maybe plain cut whole pushed; do
	"$UNIT/gen_connections" $kind.dat $kind || exit 1
	"$ioreq" --requests --format=json $kind.dat >$kind.json 2>err || wrong "--requests of $kind fails"
	"$ioreq" --paths --format=json $kind.dat >$kind.paths 2>>err || wrong "--paths of $kind fails"
	"$ioreq" --requests $kind.dat >$kind.text 2>>err || wrong "--requests of $kind fails in text"
	"$ioreq" --paths $kind.dat >$kind.paths.text 2>>err || wrong "--paths of $kind fails in text"
	"$ioreq" --format=html $kind.dat >$kind.html 2>>err || wrong "html of $kind fails"
	[ ! -s err ] || wrong "messages about $kind: $(cat err)"
done
python3 "$TRACERIG_TOP/tests/unit/ioreq_maybe.py" || wrong "connections that may be multiplexed"
grep -q '^  3 connections that may be multiplexed (HTTP/2, gRPC or pipelining), whose requests are unclear$' maybe.text ||
	wrong "text does not say that a connection may be multiplexed: $(cat maybe.text)"
grep -q '^  [0-9]* on connections that may be multiplexed (HTTP/2, gRPC or pipelining): no parent is known$' maybe.paths.text ||
	wrong "--paths does not say that a connection may be multiplexed: $(cat maybe.paths.text)"
grep -q 'may be multiplexed' plain.text plain.paths.text && wrong "a plain connection may be multiplexed"
grep -q '"maybe_multiplexed": *true' maybe.html || wrong "the page does not say that a connection may be multiplexed"
python3 "$TRACERIG_TOP/tests/unit/ioreq_cut.py" || wrong "responses that are cut off"
grep -q '^  3 unanswered, in flight for 5\.700 s (3 cut off in the response)$' cut.text ||
	wrong "text does not count responses that are cut off: $(cat cut.text)"
grep -qE '^ +3\.000 s .* unanswered +cut off in the response: connection reset$' cut.paths.text ||
	wrong "text does not rank responses that are cut off: $(cat cut.paths.text)"
python3 "$TRACERIG_TOP/tests/unit/ioreq_pushed.py" || wrong "messages without a request"
grep -q '^  11 messages without a request, in no response time$' pushed.text ||
	wrong "text does not count messages without a request: $(cat pushed.text)"

# --- many requests at a time, though both ends see nearly the same turns
"$UNIT/gen_connections" streams.dat streams || exit 1
"$ioreq" --requests --format=json streams.dat >streams.json 2>err || wrong "--requests of streams fails"
[ ! -s err ] || wrong "messages about streams: $(cat err)"
python3 "$TRACERIG_TOP/tests/unit/ioreq_streams.py" || wrong "a connection with streams, or uploads"
"$ioreq" --paths streams.dat >streams.text || wrong "--paths of streams fails"
grep -q '^  [0-9]* on multiplexed connections (HTTP/2, gRPC or pipelining), with [0-9.]* ms in no row: requests cannot be separated$' streams.text ||
	wrong "--paths does not say that a connection has streams: $(cat streams.text)"

# --- streams of gRPC: messages without a request, or a multiplexed connection
"$UNIT/gen_connections" grpc.dat grpc || exit 1
"$ioreq" --requests --format=json grpc.dat >grpc.json 2>err || wrong "--requests of gRPC fails"
"$ioreq" --paths --format=json grpc.dat >grpc.paths 2>>err || wrong "--paths of gRPC fails"
[ ! -s err ] || wrong "messages about gRPC: $(cat err)"
python3 "$TRACERIG_TOP/tests/unit/ioreq_grpc.py" || wrong "streams of gRPC"

# --- processes of one name at one port are one server, also after a restart; by process they are three
"$UNIT/gen_connections" restart.dat restart || exit 1
"$ioreq" --requests --format=csv restart.dat >restart.csv 2>err || wrong "--requests of a restart fails"
"$ioreq" --by=process --format=csv restart.dat >process.csv 2>>err || wrong "--by=process of a restart fails"
[ ! -s err ] || wrong "messages about a restart: $(cat err)"
python3 "$TRACERIG_TOP/tests/unit/ioreq_restart.py" || wrong "processes of one name at one port are not one server"
exit $failed
