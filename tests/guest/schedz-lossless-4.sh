#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 4
# timeout: 180
#
# One run recorded both ways on four CPUs: order, fields and times are the same,
# with the trace option and with the tap.
. "$TRACERIG_TOP/tests/guest/schedz-both-ways"

both_ways option 6 3000 200
both_ways tap 6 3000 200
