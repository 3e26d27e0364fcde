#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
# module: ringrace
#
# A reader that has caught up with the writer, and is interrupted between two reads of the
# writer's position, counts no record as read that it has not read.
set -eu

insmod "$TRACERIG_MODULES/ringrace/ringrace.ko" seconds=15
cd /sys/module/ringrace/parameters
written=$(cat written)
lost=$(cat lost)
rmmod ringrace
echo "$written written, $lost lost"
[ "$written" -gt 1000 ]
[ "$lost" -eq 0 ]
