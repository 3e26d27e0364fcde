#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# Readers of all kinds that wait (trace_pipe, trace_pipe_raw by splice and by epoll at a watermark)
# get what there is when a gate comes, opens a window, loses its last chart, and goes.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
taskset 1 python3 "$TRACERIG_TOP/tests/guest/ctlchart_readers.py"
