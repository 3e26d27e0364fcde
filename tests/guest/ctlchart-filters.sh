#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# Random filters, right and wrong, written to events' filter files. TRACERIG_FILTERS: their
# number; TRACERIG_SEED: the seed. tests/full/storm writes ten thousand.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TRACERIG_TOP/tests/fuzz python3 "$TRACERIG_TOP/tests/guest/filters_try.py" \
	"${TRACERIG_FILTERS:-200}" "${TRACERIG_SEED:-1}"
