#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# A decoder made from the documentation alone reads what tracecast writes.
set -eu
"$UNIT/gen_datagrams" 300 1 >datagrams
python3 "$(dirname "$0")/tracecast_format.py" <datagrams
# and says so when a byte is another one, in QUICK and in DATA
for line in 60 61; do
	sed "$line"'s/^\(....................\)\([0-7]\)/\18/; t; '"$line"'s/^\(....................\)\([89a-f]\)/\10/' \
		datagrams >damaged
	! cmp -s datagrams damaged || exit 1
	! python3 "$(dirname "$0")/tracecast_format.py" <damaged 2>/dev/null || exit 1
done
