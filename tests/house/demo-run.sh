#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 60
# tests/demo/run without its guest: its exit status, the host's load that it measures, two runs
# at the same time, and a signal.
. "$TRACERIG_TOP/tests/house/lib.sh"
unset TRACERIG_BUILD TRACERIG_KERNEL MAKEFLAGS

mkdir -p repo/{tests/demo,scripts,qemu} repo/build/{demo,tools/bin}
cp "$TRACERIG_TOP/tests/demo/run" repo/tests/demo/
cp "$TRACERIG_TOP/tests/lib.bash" repo/tests/
cp "$TRACERIG_TOP/scripts/progress" repo/scripts/
demo=$PWD/repo/tests/demo/run
stub() { # FILE: a program that does what stdin says
	{ echo '#!/bin/bash'; cat; } >"repo/$1"
	chmod +x "repo/$1"
}
echo 'all:' >repo/tests/demo/Makefile
stub scripts/deps </dev/null
stub scripts/kernel </dev/null
stub build/tools/bin/ctlchart </dev/null
stub build/tools/bin/tracerig <<'END2'
echo "tracerig $*"
seq 20
END2
stub build/demo/compare <<'END2'
echo {} >"$1/summary.json"
cp "$1/host" host 2>/dev/null || rm -f host
[ ! -e compare-fails ]
END2
stub qemu/vm <<'END2'
trap 'touch vm-terminated; exit 143' TERM
echo "limit: 1 ns" >build/demo/learn.whole
echo "disk: learning" >build/demo/watch.log
mkdir build/demo/cases
[ -e no-case ] || mkdir build/demo/cases/{2,10}
echo $$ >vm-runs
. tests/lib.bash
until_true 60 test ! -e vm-waits
rm vm-runs
echo "progress: 100"
END2
cd repo

expect 0 "$demo"
has host '^others: [0-9]+\.[0-9] % of the CPUs$'
has out '^disk: learning$'
has out '^\$ tracerig list --dir .*/build/demo/cases$'
has out '^\$ tracerig explain .*/build/demo/cases/2$'
has out '^\$ tracerig open -o .*/build/demo/case.html .*/build/demo/cases/2$'
same 3 "$(grep -c '^11$' out)" "lists with line 12"
same 0 "$(grep -c '^12$' out)" "lists with line 13"
touch no-case
expect 1 "$demo"
has err '^demo: tracerig watch kept no case$'
rm no-case
touch compare-fails
expect 1 "$demo"
has err '^demo: FAILED \(see above\)$'
rm compare-fails

# A container may number the CPUs in /proc/stat from 0 on, whichever CPUs it has
printf 'cpu 1 1 1 1 1 1 1 1 0 0\ncpu99999 1 1 1 1 1 1 1 1 0 0\n' >stat
# shellcheck disable=SC2016 # for the inner shell
if unshare -rm sh -c 'mount --bind stat /proc/stat'; then
	expect 0 unshare -rm sh -c 'mount --bind stat /proc/stat && exec "$0"' "$demo"
	[ ! -s host ] || die "the host's load is not known, and it says $(cat host)"
fi

# The second run waits for the first one, and does not remove its recordings
touch vm-waits
"$demo" >first 2>&1 &
first=$!
until_true 20 test -s vm-runs
"$demo" >second 2>&1 &
second=$!
until_true 20 test -s second
has second '^demo: waiting for another make demo'
[ -e build/demo/learn.whole ] || die "the second run removed what the first one recorded"
rm vm-waits
wait $first || die "the first one failed: $(cat first)"
wait $second || die "the second one failed: $(cat second)"

# The guest ends when the script ends
touch vm-waits
"$demo" >out 2>&1 &
first=$!
until_true 20 test -s vm-runs
kill -TERM $first
wait $first && die "a signal is no success"
until_true 20 test -e vm-terminated
