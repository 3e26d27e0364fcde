#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# Progress of a build or a demo: percentages only grow and stay below 100 for any input of
# scripts/progress; a kernel build's percentage follows from the number of its steps, or from
# their places in the last build; and the number of steps of the first build is right.
. "$TRACERIG_TOP/tests/house/lib.sh"

progress=$TRACERIG_TOP/scripts/progress

# shares FILE: print the percentages shown in FILE, one per line.
shares() {
	tr '\r' '\n' <"$1" | sed -n 's/.*: \([0-9]*\) %.*/\1/p'
}

# grows FILE: fails unless the percentages grow, and stay below 100.
grows() {
	[ -n "$(shares "$1")" ] || die "$1 shows no share"
	shares "$1" | sort -c -n || die "shares of $1 go back"
	[ "$(shares "$1" | tail -n 1)" -lt 100 ] || die "$1 shows that all is done before it is"
}

# A short command shows only its own output, also when that ends without a newline.
expect 0 "$progress" short < <(printf 'one\nprogress: 10\nprogress: wrong\nprogress: 90\ntwo\nthree')
same "one two three " "$(tr '\n' ' ' <out)" "what a short one prints"
expect 0 "$progress" none </dev/null
[ ! -s out ] || die "nothing was to be shown"

# shown PATTERN FILE: waits until FILE has a line that matches.  A program in a pipe
# must not continue before scripts/progress has read its output so far.
shown() {
	until_true 60 grep -q "$1" "$2"
}

# Not a terminal: after ten seconds, a line for each 10 per cent.
feed() {
	echo begin
	shown begin out
	echo 'progress: 5'
	sleep 10.5
	printf 'progress: %s\n' 20 12 43.21 9999999 31 250
	shown '^long: 43 %' out
	echo 'progress: 99.99 300 1'
	shown '^long: 99 %' out
}
: >out
expect 0 "$progress" long < <(feed)
grows out
has out '^long: 20 %, [0-9]+ (s|min) left$'
has out '^long: 43 %, '
[ "$(shares out | sort -u | wc -l)" -eq "$(shares out | wc -l)" ] || die "the same share twice"

# A terminal: one line that is kept up to date, also without input.
four_shares() {
	[ "$(shares out | wc -l)" -ge 4 ]
}
slow() {
	echo 'progress: 0 50 4'
	until_true 60 four_shares
	echo 'a line between'
}
export -f slow shares four_shares until_true within die
export scale
: >out
# A shell that has these functions
SHELL=$BASH script -qfec "slow | '$progress' term" /dev/null </dev/null >out
grows out
[ "$(shares out | wc -l)" -ge 4 ] || die "the line is not kept up to date"
same 1 "$(grep -c 'a line between' out)" "lines between"
same 1 "$(wc -l <out)" "lines on the terminal"

# shellcheck source=scripts/kernel-progress.bash
. "$TRACERIG_TOP/scripts/kernel-progress.bash"
build=$PWD/build out=$build/kernel arch=x86_64
mkdir -p "$out"

log() { # NUMBER...: of steps
	printf '  CC      file%d.o\n' "$@"
	echo 'make[1]: Leaving directory'
}

steps_of() {
	sed -n 's/^progress: //p'
}

# The first time the number of steps is an estimate, and may be exceeded.
# shellcheck disable=SC2034 # for those functions
fresh=1 first_steps=200
log {1..200} | as_progress | steps_of >got
same 200 "$(wc -l <got)" "shares of the first build"
same 50.0 "$(sed -n 100p got)" "half of the way"
log {1..200} >"$out/build.log"
keep_steps
same 200 "$(wc -l <"$out/.tracerig-steps")" "steps of the first build"

# Then the place of the last step counts; a new step counts as one more.
# shellcheck disable=SC2034
fresh=
{ log 150; log 1000; log 200; } | as_progress | steps_of >got
same "75.0 75.5 100.0" "$(tr '\n' ' ' <got | sed 's/ $//')" "shares of a later build"
log 150 >"$out/build.log"
keep_steps
same 200 "$(wc -l <"$out/.tracerig-steps")" "steps after a build of one file"

# Another configuration has no places of its own yet, and those of the guest's kernel.
out=$build/kernel-debug
mkdir -p "$out"
log 100 | as_progress | steps_of >got
same 50.0 "$(cat got)" "share of another build"
# shellcheck disable=SC2034
arch=arm
log 100 | as_progress | steps_of >got
[ ! -s got ] || die "a kernel for ARM has places of one for x86"

# Warnings pass.
has <(printf 'x.c:1: warning: unused\n' | as_progress) '^x.c:1: warning: unused$'

# The estimate, if the guest's kernel was built from nothing.
steps=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/kernel/.tracerig-steps
if [ -s "$steps" ]; then
	want=$(wc -l <"$steps")
	first=$(sed -n 's/^first_steps=//p' "$TRACERIG_TOP/scripts/kernel-progress.bash")
	[ $((10 * (first > want ? first - want : want - first))) -le "$want" ] ||
		die "the kernel takes $want steps, and scripts/kernel-progress.bash estimates $first: correct first_steps"
fi
