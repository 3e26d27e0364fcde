#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# module: pathfault
# timeout: 180
#
# A slow function, an extra one, and a wait: does pathdiff name them?
# tests/full/pathdiff has many more, and recordings of healthy systems. Calls that are short
# when they are well: in long ones, the timer interrupts of a guest on a busy host are a second
# cause of delay, and pathdiff may rightly name that.
exec "$TRACERIG_TOP/tests/guest/pathdiff-truth" 1 0 pipe-slow cache-extra pipe-wait
