#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
# tests/run with stages made for it: what is chosen and what that needs, failures of each
# kind, whole output of jobs that run side by side, the table, the last line, and a signal.
. "$TRACERIG_TOP/tests/house/lib.sh"
unset TRACERIG_BUILD JOBS MAKEFLAGS

mkdir -p repo/tests repo/scripts
cp "$TRACERIG_TOP/tests/run" repo/tests
run=$PWD/repo/tests/run
printf '#!/bin/sh\necho "$*" >>"%s/deps"\n' "$PWD" >repo/scripts/deps
chmod +x repo/scripts/deps
export TRACERIG_TIMEOUT_SCALE=1 MARKS=$PWD/marks
cat >repo/tests/stages <<'END'
stages='
base   check -    what others need
good   check -    passes
wide   check -    many jobs side by side
guests full  -    jobs that wait for a third of their time
bad    full  some fails, and says in what
silent full  some fails without saying in what
empty  full  -    runs no test
none   full  -    has no job
broken full  -    fails, and others need it
after  full  -    needs what fails
alone  full  -    nothing beside it
slow   full  -    does not end
crowd  full  -    fails when no space is left, which it takes
'
jobs_of() {
	case $1 in
	good) printf 'one\tbase:base\tany\ntwo\tbase:base\tany\n' ;;
	wide) printf '%s\t-\tany\n' a b c d e f ;;
	guests) printf '%s\t-\tguest\n' g h i j k l ;;
	none) ;;
	after) printf 'x\tbroken:broken\tany\n' ;;
	alone) printf '%s\t-\talone\n' p q ;;
	*) printf '%s\t-\tany\n' "$1" ;;
	esac
}
run_job() {
	echo "begin $1 $2" >>"$MARKS"
	case $1 in
	base) echo "ok base" ;;
	good)
		grep -q 'end base base' "$MARKS" || echo "not ok $2 is before what it needs"
		echo "ok good $2"
		echo "ok good $2 # SKIP there is a reason"
		;;
	wide | guests)
		# Until as many have begun as may run, however slow the host is; in small pieces
		touch "$MARKS.$2"
		for ((i = 0; i < 600; i++)); do
			[ "$(find "$(dirname "$MARKS")" -name 'marks.?' | wc -l)" -lt "${SIDE:-${JOBS:-3}}" ] || break
			sleep 0.1
		done
		for i in 1 2 3 4 5 6 7 8 9; do printf 'ok %s %s ' "$1" "$2"; sleep 0.03; echo "$i"; done
		;;
	bad) echo "ok bad 1"; echo "not ok bad 2 (for a reason)"; false ;;
	silent) echo "ok silent"; (exit 7) ;;
	empty) echo "nothing to see" ;;
	broken) echo "not ok broken" ;;
	after) echo "ok after ran" ;;
	alone) echo "ok alone $2"; sleep 0.3 ;;
	slow) echo "ok slow"; sleep 1000 ;;
	crowd)
		echo "ok crowd"
		cat /dev/zero >"$TRACERIG_BUILD/crowd" 2>/dev/null
		echo "not ok crowd"
		;;
	esac
	local status=$?
	echo "end $1 $2" >>"$MARKS"
	return $status
}
END
tests_run() { # STATUS ARGUMENTS...
	rm -f marks*
	: >marks
	: >deps
	expect "$@"
}
last() {
	tail -n 1 out
}

# --- what is chosen
tests_run 2 "$run" good,nosuch
same "tests/run: no stage named 'nosuch' (stages: base good wide guests bad silent empty none broken after alone slow crowd)" "$(cat err)" "the message"
[ ! -s marks ] || die "something ran: $(cat marks)"
[ ! -s deps ] || die "packages were installed for it: $(cat deps)"
tests_run 2 "$run" --nosuch
has err "^tests/run: unknown option '--nosuch'"
# ONLY=, is a mistake, and not the wish to run all
tests_run 2 "$run" ,
has err "^tests/run: no stage is named in ','$"
tests_run 2 "$run" --full ' '
has err "^tests/run: no stage is named in '--full  '$"
tests_run 0 "$run" --list
has out '^good +check +passes$'
has out '^bad +check-full +fails'
tests_run 0 "$run" good
same "3 passed, 0 failed" "$(last)" "last line"
has out '^# good +2 .* 2 +0 +2$'
has out '^# base +1 .* 1 +0 +0$'
! grep -q wide marks || die "what was not chosen ran"
same base "$(cat deps)" "packages"
# with commas and spaces, and what is needed once
JOBS=3 tests_run 0 "$run" ',good,, base' wide
same "57 passed, 0 failed" "$(last)" "last line"
same 1 "$(grep -c 'begin base' marks)" "times that base ran"

# --- side by side, and each job's output in one piece
JOBS=3 tests_run 0 "$run"
same "57 passed, 0 failed" "$(last)" "last line of all"
awk '/^begin/ { n++; if (n > most) most = n } /^end/ { n-- } END { exit most != 3 }' marks || die "not three at a time: $(cat marks)"
for job in a b c d e f; do
	same "$(printf "ok wide $job %s\n" 1 2 3 4 5 6 7 8 9)" "$(sed -n "/^# --- wide $job took/,/^# ---/p" out | grep '^ok')" "output of wide $job"
	same "$(printf "ok wide $job %s\n" 1 2 3 4 5 6 7 8 9)" "$(grep "^ok wide $job" repo/build/tests/log)" "log of wide $job"
done
JOBS=1 tests_run 0 "$run" wide
awk '/^begin/ { n++; if (n > most) most = n } /^end/ { n-- } END { exit most != 1 }' marks || die "not one at a time: $(cat marks)"
SIDE=3 JOBS=2 tests_run 0 "$run" guests
awk '/^begin/ { n++; if (n > most) most = n } /^end/ { n-- } END { exit most != 3 }' marks || die "not three guests on two CPUs: $(cat marks)"
SIDE=1 JOBS=1 tests_run 0 "$run" guests
awk '/^begin/ { n++; if (n > most) most = n } /^end/ { n-- } END { exit most != 1 }' marks || die "not one guest on a CPU: $(cat marks)"
JOBS=3 tests_run 0 "$run" alone,wide
awk '/^begin alone/ { if (n) exit 1 } /^begin/ { n++; if (alone) exit 1 } /^begin alone/ { alone = 1 } /^end alone/ { alone = 0 } /^end/ { n-- }' marks ||
	die "something ran beside what is alone: $(cat marks)"

# --- failures
tests_run 1 "$run" bad,good
same "4 passed, 1 failed" "$(last)" "last line"
has out '^# bad +1 .* 1 +1 +0$'
has out '^#   bad 2 \(for a reason\)$'
same "base some" "$(cat deps)" "packages"
tests_run 1 "$run" silent
same "1 passed, 1 failed" "$(last)" "last line"
has out '^not ok silent ended with status 7$'
tests_run 1 "$run" empty
same "0 passed, 1 failed" "$(last)" "last line"
has out '^not ok empty ran no test'
tests_run 1 "$run" none
same "0 passed, 1 failed" "$(last)" "last line"
has out '^not ok none ran no test'
tests_run 1 "$run" after,good
same "3 passed, 2 failed" "$(last)" "last line"
has out '^not ok after x did not run: broken:broken failed$'
! grep -q 'after x' marks || die "it ran although what it needs failed"
tests_run 1 "$run" --full good bad
same "4 passed, 1 failed" "$(last)" "last line"

# A run whose output and log cannot be written fails; also where nothing can be written at all
mkdir small
# shellcheck disable=SC2016 # for the inner shell
in_small() { # SIZE COMMAND...
	unshare -rm sh -c 'mount -t tmpfs -o size=$0 none small && TRACERIG_BUILD=$PWD/small/build exec "$@"' "$@"
}
if in_small 64k true; then
	tests_run 1 in_small 64k "$run" crowd
	tests_run 1 in_small 64k "$run" crowd,good
	: >small/build
	tests_run 1 env TRACERIG_BUILD="$PWD/small/build" "$run" good
	has err "^tests/run: cannot write to $PWD/small/build/tests"
	[ ! -s marks ] || die "something ran: $(cat marks)"
fi

# --- a signal ends the run and its children
: >marks
env --default-signal=INT "$run" slow >out 2>err &
pid=$!
until_true 20 grep -q 'begin slow' marks
kill -INT $pid
status=0
wait $pid || status=$?
same 130 "$status" "status after a signal"
has err '^tests/run: stopped by a signal$'
! grep -q 'end slow' marks || die "the job came to its end"
! pgrep -f "$run slow" >/dev/null || die "something still runs"

# Tests that boot a guest or build a module wait for the kernel, those that run a tool for the tools.
cd "$TRACERIG_TOP/tests/house"
same "" "$(grep -lE '"[$]vm"|/scripts/kernel"[ ]module' ./*-*.sh |
	xargs grep -LE '^# needs: .*kernel' | tr '\n' ' ')" "tests that do not say that they need the kernel"
same "" "$(grep -lE '"[$]schedz"|^collect( |$)' ./*-*.sh |
	xargs grep -LE '^# needs: .*tools' | tr '\n' ' ')" "tests that do not say that they need the tools"
