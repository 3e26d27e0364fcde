#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A few of the filters that make check-full gives to the kernel's parser.
[ -d "${TRACERIG_BUILD:-$TRACERIG_TOP/build}/linux" ] || { echo "there is no build/linux"; exit 77; }
exec "$TRACERIG_TOP/tests/fuzz/ctlchart-filters" 20000 "$RANDOM"
