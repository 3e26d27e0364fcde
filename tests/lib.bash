# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# For tests and measurements, on the host and in guests: sourced.

# A limit for what should take a moment is times scale, for busy and slow hosts
scale=${TRACERIG_TIMEOUT_SCALE:-1}

# die MESSAGE...: end the program. $me is its name, if it is to be said; what the function
# explain prints, if there is one, goes below the messages.
die() {
	printf '%s\n' "${me:+$me: }$1" "${@:2}" >&2
	! declare -F explain >/dev/null || explain >&2
	exit 1
}

# same WANT GOT WHAT
same() {
	[ "$1" = "$2" ] || die "$3: $2 instead of $1"
}

# within SECONDS COMMAND...: repeat COMMAND until it succeeds; fail when SECONDS (times
# scale) are over.
within() {
	local end=$((SECONDS + $1 * scale))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
}

# while_alive PID COMMAND...: repeat COMMAND until it succeeds; fail when the process has ended.
while_alive() {
	local pid=$1
	shift
	until "$@"; do
		kill -0 "$pid" 2>/dev/null || { "$@"; return; }
		sleep 0.1
	done
}

# until_true SECONDS COMMAND...: likewise, but end the program when they are over.
until_true() {
	within "$@" || die "not within $1 seconds (times TRACERIG_TIMEOUT_SCALE): ${*:2}"
}

# as_postgres COMMAND...: run it as PostgreSQL's user in $work, which that user may enter.
as_postgres() {
	setpriv --reuid=postgres --regid=postgres --clear-groups \
		env -C "${work:?}" HOME="$work" PATH="$PATH" LC_ALL=C "$@"
}
