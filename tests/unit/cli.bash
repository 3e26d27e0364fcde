# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# For tests of a program as its user meets it; the test sets $program.

failed=0

# wrong WHAT: print that WHAT is wrong, and fail
wrong() {
	echo "wrong: $1"
	[ ! -s err ] || sed 's/^/  stderr: /' err
	failed=1
}

# expect STATUS PATTERN ARGUMENTS...: exit status, and one message; what belongs
# to it on more lines is indented, or says what to try
expect() {
	local status=$1 pattern=$2 code
	shift 2
	"$program" "$@" >out 2>err
	code=$?
	[ "$code" -eq "$status" ] || wrong "${program##*/} $*: status $code, not $status"
	[ "$(grep -vcE '^ |^Try ' err)" -eq 1 ] || wrong "${program##*/} $*: not one line of messages"
	grep -qE -- "$pattern" err || wrong "${program##*/} $*: no '$pattern'"
	[ ! -s out ] || wrong "${program##*/} $*: wrote a result"
}
