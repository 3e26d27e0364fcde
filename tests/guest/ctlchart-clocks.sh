#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# With each trace clock a duration agrees with the system's own clock, or the chart is refused
# and the error names the reason.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
python3 "$TRACERIG_TOP/tests/guest/chart_clocks.py"
