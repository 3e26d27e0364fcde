#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 1
# timeout: 180
#
# One run recorded both ways on one CPU: order, fields and times are the same,
# with the trace option and with the tap.
. "$TRACERIG_TOP/tests/guest/schedz-both-ways"

both_ways option 3 2000 200
both_ways tap 3 2000 200
