#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# pre=, post= and from=: readers get the events of the alarms' windows on all CPUs, all of them,
# in order, and no others.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
# ctlchart-context-4.sh runs this on four processors, with other options.
case ${1-two} in
two) set -- pre=20ms; recorded=(live pre=20ms post=5ms) ;;
four) set -- from=start pre=2ms; recorded=(storm from=start pre=1us) ;;
esac
python3 "$TRACERIG_TOP/tests/guest/context.py" truth "$@"
"$TRACERIG_TOP/tests/guest/reset"
python3 "$TRACERIG_TOP/tests/guest/context.py" "${recorded[@]}"
