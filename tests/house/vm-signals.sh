#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
# needs: vm, kernel
# However qemu/vm or QEMU ends, no process and no temporary file is left.
. "$TRACERIG_TOP/tests/house/lib.sh"

running() {
	pgrep -f "$PWD/$1/" >/dev/null
}

gone() {
	! running "$1"
}

# A number of seconds for which no other process sleeps
limit=$((100000 + $$))

sleeper_gone() {
	! pgrep -fx "sleep $limit" >/dev/null
}

for signal in INT TERM KILL; do
	# A background job of a script starts with SIGINT ignored.
	env --default-signal=INT "$vm" --output "$signal" --timeout $limit -- \
		sh -c 'echo up; sleep 1000' >up 2>err &
	pid=$!
	until_true 30 grep -qs up up
	running "$signal" || die "this test cannot find QEMU"
	kill -"$signal" $pid
	status=0
	wait $pid || status=$?
	same $((128 + $(kill -l $signal))) $status "status after SIG$signal"
	until_true 5 gone "$signal"
	until_true 5 sleeper_gone
	[ $signal = KILL ] || [ -z "$(ls -d "$signal"/.vm.* 2>/dev/null)" ] ||
		die "temporary files stay after SIG$signal"
	: >up
done

"$vm" --output dead --timeout $((60 * scale)) -- sh -c 'echo up; sleep 1000' >up 2>err &
pid=$!
until_true 30 grep -qs up up
kill -KILL "$(pgrep -P $pid -f qemu-system)"
status=0
wait $pid || status=$?
same 125 $status "status after QEMU was killed"
has err '^vm: QEMU ended with status 137'
