# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# For the tests of scripts/, qemu/vm and what guests send: sourced, and ends the test at
# the first expectation that does not hold.
set -euo pipefail

# A limit for what should take a moment is times scale, for busy and slow hosts
# shellcheck disable=SC2034 # for the tests
vm=$TRACERIG_TOP/qemu/vm
# shellcheck disable=SC2034
scale=${TRACERIG_TIMEOUT_SCALE:-1}

die() {
	printf '%s\n' "$@" >&2
	exit 1
}

# expect STATUS COMMAND...: its output goes to the files out and err.
expect() {
	local want=$1 got=0
	shift
	"$@" >out 2>err || got=$?
	[ "$got" -eq "$want" ] || {
		cat out err >&2
		die "status $got, not $want: $*"
	}
}

# has FILE PATTERN: a line of FILE matches it.
has() {
	grep -qE -e "$2" "$1" || {
		cat "$1" >&2
		die "no line of $1 matches: $2"
	}
}

# same WANT GOT WHAT
same() {
	[ "$1" = "$2" ] || die "$3: $2 instead of $1"
}

# until_true SECONDS COMMAND...: fails when COMMAND still does after SECONDS (times scale).
until_true() {
	local end=$((SECONDS + $1 * scale))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || die "still not so: $*"
		sleep 0.1
	done
}

# shellcheck disable=SC2034 # for the tests
schedz=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/schedz

# collect [OPTION...]: receive traces at $port of this host until the test ends, into the
# folder collected; the ledger goes to the file ledger, what else is said to notes.
collect() {
	port=$("$TRACERIG_TOP/tests/free-ports" udp)
	"$schedz" collect --listen "127.0.0.1:$port" --output collected "$@" \
		>ledger 2>notes &
	collector=$!
	trap 'kill $collector 2>/dev/null || true' EXIT
}
