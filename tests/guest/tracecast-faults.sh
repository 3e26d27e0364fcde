#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# part: check-full
# timeout: 240
#
# tracecast through a relay that loses, reorders and duplicates datagrams, one fault at a time and
# all at once; that drops some each time; and with a ring buffer that is too small.
exec "$TRACERIG_TOP/tests/guest/tracecast_faults.py" \
	"${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/schedz"
