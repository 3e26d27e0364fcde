#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 4
# timeout: 300
# part: check-full
exec "$TRACERIG_TOP/tests/guest/ctlchart-context.sh" four
