#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --icount
# timeout: 1500
#
# One run recorded both ways on one CPU whose clock counts
# instructions, so that no time can differ for the host's sake: order, fields and times are the same,
# with the trace option and with the tap.
. "$TRACERIG_TOP/tests/guest/schedz-both-ways"

both_ways option 2 1000 0
both_ways tap 2 1000 0
