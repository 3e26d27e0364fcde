#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# perf's own filters refuse ctlchart(), with an error and without a chart; they still accept
# ordinary filters, while ftrace has a chart. Users without rights cannot have perf count the
# events of charts.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
call ucl=1s >"$complete/filter"
python3 "$TRACERIG_TOP/tests/guest/perf_filter.py" "$(cat "$complete/id")" "$(call ucl=1s)"
same 1 "$(grep -c '^chart: ' "$complete/ctlchart")" "charts in ftrace after perf was refused"
python3 "$TRACERIG_TOP/tests/guest/perf_open.py" ctlchart/ctlchart_limit ctlchart/ctlchart_alarm ctlchart_debug/ctlchart_value
