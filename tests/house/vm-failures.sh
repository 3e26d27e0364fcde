#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# needs: vm, kernel
# Each kind of failure of a guest has its own status and message.
. "$TRACERIG_TOP/tests/house/lib.sh"
crash=/sys/kernel/debug/provoke-crash/DIRECT

# Output still on its way through the guest is lost with it, so this waits until it has arrived
: >out
(until_true 60 grep -qx before out && touch panic/arrived) &
expect 125 "$vm" --output panic --timeout $((60 * scale)) -- sh -c 'echo before
	until [ -e "$0" ]; do sleep 0.1; done; echo c >/proc/sysrq-trigger' "$PWD/panic/arrived"
same before "$(cat out)" "output before the panic"
has err '^vm: the guest panicked: .*Kernel panic'
has err '^vm: the console ends with:'
has err 'sysrq triggered crash'

expect 125 "$vm" --output warn --timeout $((60 * scale)) -- sh -c "echo WARNING >$crash; echo survived"
[ ! -s out ] || die "a WARN did not end the guest"
has err '^vm: the guest.*(WARNING|panic_on_warn)'

# A complaint that the kernel survives, while the command succeeds.
expect 125 "$vm" --output complaint --timeout $((60 * scale)) -- sh -c \
	'echo "BUG: sleeping function called from invalid context (a test)" >/dev/kmsg; exit 0'
has err "^vm: the guest's kernel complained: .*BUG: sleeping"

expect 124 "$vm" --output slow --timeout 15 -- sh -c 'echo started; sleep 1000'
same started "$(cat out)" "output before the end of the time"
has err '^vm: no end within 15 seconds'

# All CPUs with interrupts off: only the NMI shows where they hang.
expect 124 "$vm" --cpus 1 --output hang --timeout 15 -- sh -c "echo HARDLOCKUP >$crash"
has err '^vm: no end within 15 seconds'
has hang/console.log 'lkdtm_HARDLOCKUP'

expect 125 "$vm" --output noinit --append init=/bin/false --timeout $((60 * scale)) -- true
has err '^vm: the guest panicked: .*Attempted to kill init'

for name in wrong none-such; do
	expect 125 "$vm" --disk 1M,sched=$name --timeout $((60 * scale)) -- true
	has err "no I/O scheduler $name"
done

expect 125 "$vm" --output badsmp --cpus 100000 --timeout $((60 * scale)) -- true
has err '^vm: QEMU ended with status'
