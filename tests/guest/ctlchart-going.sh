#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# module: storm
# timeout: 60
#
# A start event whose module is being unloaded is refused, with its position, and the module is
# unloaded. (pin.tc tests that a module stays loaded while its event is watched.)
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
end=$tracing/events/storm/storm_end
insmod "$TRACERIG_MODULES/storm/storm.ko" linger=5000
rmmod storm &
until grep -q '^storm .* Unloading ' /proc/modules; do
	kill -0 $! 2>/dev/null || die "the module was unloaded too soon"
done
if echo 'ctlchart(storm_begin, key)' >"$end/filter" 2>/dev/null; then
	die "an event whose module is being unloaded was accepted"
fi
grep -q '^storm .* Unloading ' /proc/modules || die "the module was unloaded too soon"
tail -n 3 "$tracing/error_log" | grep -q ': error: Start event is going away$' ||
	die "another error: $(tail -n 3 "$tracing/error_log")"
tail -n 2 "$tracing/error_log" | awk '
	NR == 1 { text = $0 } NR == 2 { place = index($0, "^") }
	END { exit substr(text, place, 11) != "storm_begin" }' ||
	die "another position: $(tail -n 3 "$tracing/error_log")"
wait $! || die "the module was not unloaded"
[ ! -e "$end" ] || die "its events are still there"
