#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 4
# timeout: 300
#
# Events of iosys, instances and CPUs are switched on and off at random, while unprivileged
# programs make random calls, map objects with damaged .eh_frame, are killed with io_uring
# requests in flight, make many stacks, and use up the memory.
# TRACERIG_STORM: number of seconds; TRACERIG_SEED: seed of the random numbers.
. "$TRACERIG_TOP/tests/guest/functions"

[ -e "$tracing/events/iosys/io_stack" ] || die "this kernel has no io_stack"
gcc -O2 -fno-optimize-sibling-calls -Wall -Wextra -o hostile "$TRACERIG_TOP/tests/guest/hostile.c" -luring
gcc -O1 -Wall -Wextra -o uringstream "$TRACERIG_TOP/tests/guest/uringstream.c" -luring
echo 'int read(int, void *, unsigned long);
void call(void) { read(-1, 0, 0); __asm__ volatile("# not a jump"); }' >object.c
gcc -O2 -shared -fPIC -o object.so object.c
chmod 755 .. . hostile uringstream object.so
# .eh_frame of the object: where in the file, and how many bytes
read -r at size < <(readelf -SW object.so | awk '{ sub(/^ *\[ *[0-9]+\] */, "") } $1 == ".eh_frame" { print $4, $5 }')
python3 "$TRACERIG_TOP/tests/guest/iosys_storm.py" $((16#$at)) $((16#$size)) \
	"${TRACERIG_STORM:-8}" "${TRACERIG_SEED:-1}"
