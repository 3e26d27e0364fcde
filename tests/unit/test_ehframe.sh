#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
# timeout: 300
#
# The table of each program and library here says what readelf says of its .eh_frame:
# bash, the C library, the dynamic linker, libcrypto, whose hand-written code has all
# that is unusual. So does the build ID that is read with it.
set -euo pipefail

gen=$UNIT/gen_ehframe
here=$TRACERIG_TOP/tests/unit
libs=$(ldconfig -p | sed -n 's/.* => //p')
compared=0

for name in /bin/bash libc.so.6 ld-linux-x86-64.so.2 libcrypto.so.3; do
	file=$name
	[ -e "$file" ] || file=$(grep -m 1 "/$name\$" <<<"$libs") || continue
	python3 "$here/ehframe_readelf.py" "$gen" "$(readlink -f "$file")"
	id=$(readelf -Wn "$file" | sed -n 's/.*Build ID: //p')
	"$gen" -q "$file" | grep -q ", build ID $id\$"
	[ -n "$id" ]
	compared=$((compared + 1))
done
[ "$compared" -ge 3 ]

# An error in a file is reported in one line with its offset
if "$gen" -q "$here/test_ehframe.sh" 2>err; then exit 1; fi
grep -qx "gen_ehframe: $here/test_ehframe.sh:0: not an object for x86-64" err
if "$gen" -q nothing 2>err; then exit 1; fi
grep -qx "gen_ehframe: nothing:0: No such file or directory" err
