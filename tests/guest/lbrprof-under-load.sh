#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 4
# timeout: 300
#
# lbrprof's sampler is switched on and off and set up at random, while CPUs go and come, others
# use perf, processes begin and end, and instances, buffers and filters change.
# TRACERIG_STORM: number of seconds; TRACERIG_SEED: seed of the random numbers.
. "$TRACERIG_TOP/tests/guest/functions"

[ -d "$tracing/lbrprof" ] || die "this kernel has no lbrprof"
python3 "$TRACERIG_TOP/tests/guest/lbrprof_storm.py" "${TRACERIG_STORM:-8}" "${TRACERIG_SEED:-1}"
