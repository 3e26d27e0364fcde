#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# needs: vm, kernel
# Tasks that oops in a fault on a mapped file, while io_pending is enabled, do no further
# damage: their entries are removed, and the worker finds none of them.
. "$TRACERIG_TOP/tests/house/lib.sh"

"$TRACERIG_TOP/scripts/kernel" module "$TRACERIG_TOP/tests/house/oopser" "$PWD/oopser" >log 2>&1 || die "$(cat log)"
mkdir out.d
cp oopser/oopser.ko out.d
cat >touch.c <<'END'
#include <fcntl.h>
#include <sys/mman.h>

int main(void)
{
	return *(volatile char *)mmap(0, 4096, PROT_READ, MAP_SHARED, open("/dev/oopser", O_RDWR), 0);
}
END
gcc -O1 -Wall -Wextra -o out.d/touch touch.c
cat >out.d/guest <<'END'
set -eu
. "$TRACERIG_TOP/tests/lib.bash"
cd /sys/kernel/tracing
sysctl -qw kernel.panic_on_oops=0 kernel.panic_on_warn=0 kernel.hung_task_panic=0
insmod "$TRACERIG_OUTPUT/oopser.ko"
oopses() { dmesg | grep -c "BUG: kernel NULL pointer dereference" || true; }
# oopsed N: there were N oopses; reported PATTERN N: io_pending has N lines with it
oopsed() { [ "$(oopses)" -ge "$1" ]; }
reported() { [ "$(grep -c "io_pending: $1" trace)" -ge "$2" ]; }
# A call that hangs: while the worker exists, it reports it each second
hang() { mkfifo "/tmp/$1"; cat "/tmp/$1" & hung=$!; }
echo 1 >events/iosys/io_pending/enable
hang before
until_true 60 reported "openat.* tgid=$hung " 1
for n in 1 2 3; do
	"$TRACERIG_OUTPUT/touch" 2>/dev/null &
	until_true 60 oopsed $n
	# Other threads use their stacks now, as far as possible
	ls -R /etc >/dev/null
done
[ "$(oopses)" -eq 3 ] || die "not 3 oopses: $(oopses)"
# An oops switches tracing off
echo >trace
echo 1 >tracing_on
# Their faults do not end, since their exits wait for the lock that they held
until_true 60 reported "fault .*comm=touch" 6
until_true 60 reported "openat.* tgid=$hung " 2
echo 0 >events/iosys/io_pending/enable
echo 1 >events/iosys/io_pending/enable
echo >trace
hang after
until_true 60 reported "openat.* tgid=$hung " 2
[ "$(grep -c "io_pending: fault" trace)" -eq 0 ]
{ grep "open faults" iosys; echo survived; } >"$TRACERIG_OUTPUT/result"
sync "$TRACERIG_OUTPUT/result"
# Do not wait for a task that cannot exit
echo b >/proc/sysrq-trigger
END
# The console has the three oopses, which the guest's end is judged by
expect 125 "$vm" --cpus 2 --timeout 240 --output "$PWD/out.d" -- bash "$PWD/out.d/guest"
[ -e out.d/result ] || die "$(cat out err)"
has out.d/result '^survived$'
has out.d/result '^open faults: dropped 0 forgotten 3$'
damage=$(grep -aE 'RIP: 0010|soft lockup|rcu: INFO|general protection|list_(add|del) corruption|Kernel panic|BUG: scheduling|KASAN|WARNING:' out.d/console.log |
	grep -avE 'RIP: 0010:oopser_fault' || true)
[ -z "$damage" ] || die "damage beside the oopses:" "$damage"
