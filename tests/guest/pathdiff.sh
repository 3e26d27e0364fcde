#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# module: pathfault
# timeout: 180
# part: check-full
#
# A slow function, an added one, and a wait: does pathdiff name them?
# tests/full/pathdiff has many more, and healthy recordings. Healthy calls are short here: in
# long ones, the timer interrupts of a guest on a busy host are a second cause of delay, which
# pathdiff may rightly name.
exec "$TRACERIG_TOP/tests/guest/pathdiff-truth" 1 0 pipe-slow cache-extra pipe-wait
