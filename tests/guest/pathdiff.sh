#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 1
# module: pathfault
# timeout: 180
#
# One fault of each kind: does pathdiff name it?  tests/full/pathdiff has them all.
exec "$TRACERIG_TOP/tests/guest/pathdiff-truth" 1 1 pipe-slow cache-extra tcp-wait futex-irq
