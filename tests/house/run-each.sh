#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 60
# tests/each: what each end of a test is reported as, its limit, and a signal.
. "$TRACERIG_TOP/tests/house/lib.sh"
each=$TRACERIG_TOP/tests/each
export TRACERIG_TIMEOUT_SCALE=1

make_test() { # NAME LINE...
	local name=$1
	shift
	{ echo '#!/bin/bash'; printf '%s\n' "$@"; } >"$name"
	chmod +x "$name"
}
make_test good 'echo silent' 'echo "$PWD" >"'"$PWD"'/where"'
make_test bad 'echo the reason' 'exit 3'
make_test skipped 'echo words' 'echo "no such thing"; exit 77'
make_test slow '# timeout: 1' 'sleep 100'
expect 1 "$each" good bad skipped slow
has out "^ok $PWD/good \([0-9]+ s\)$"
! grep -q silent out || die "what a test that passes writes is printed"
[ ! -e "$(cat where)" ] || die "its directory stayed"
has out "^not ok $PWD/bad \(status 3\)$"
has out '^# the reason$'
has out "^ok $PWD/skipped # SKIP no such thing$"
has out "^not ok $PWD/slow \(no end within 1 s\)$"
expect 0 "$each" good skipped

# The limit is multiplied
make_test late '# timeout: 1' 'sleep 2'
TRACERIG_TIMEOUT_SCALE=8 expect 0 "$each" late

# tests/unit/run: a sanitizer's report fails a test that has thrown away the messages and
# the status of the process
printf 'int main(int argc, char **argv)\n{\n\tchar a[4];\n\n\ta[3 + argc] = 1;\n\treturn a[3 + argc];\n}\n' >overflow.c
gcc -g -fsanitize=address -o overflow overflow.c
make_test test_overflow.sh "'$PWD/overflow' 2>/dev/null || true"
expect 0 "$TRACERIG_TOP/tests/unit/run" plain test_overflow.sh
expect 1 "$TRACERIG_TOP/tests/unit/run" san test_overflow.sh
has out "^not ok unit-san test_overflow.sh had a sanitizer's report$"
has out '^# .*AddressSanitizer: stack-buffer-overflow'

# tests/speed: a number from 1 to 8
"$TRACERIG_TOP/tests/speed" >speed
has speed '^[1-8]$'

# A signal ends the test, whose session is its own
make_test long "echo \$\$ >'$PWD/pid'" 'sleep 1000'
"$each" long >out 2>&1 &
runner=$!
until_true 20 test -s pid
kill -TERM $runner
status=0
wait $runner || status=$?
same 143 "$status" "status after a signal"
gone() {
	! kill -0 "$(cat pid)" 2>/dev/null
}
until_true 5 gone
