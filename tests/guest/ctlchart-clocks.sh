#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# With each of the trace clocks a duration is right by the system's own clock, or
# the chart is refused and says why.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
python3 "$TRACERIG_TOP/tests/guest/chart_clocks.py"
