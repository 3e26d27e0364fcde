#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# A decoder made from the documentation alone reads what nettrace writes.
set -eu
"$UNIT/gen_datagrams" 120 1 >datagrams
python3 "$(dirname "$0")/nettrace_format.py" <datagrams
# and says so when a byte is another one
sed '60s/^\(....................\)\([0-7]\)/\18/; 60s/^\(....................\)\([9a-f]\)/\10/' datagrams >damaged
cmp -s datagrams damaged || ! python3 "$(dirname "$0")/nettrace_format.py" <damaged 2>/dev/null
