#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# A process whose main thread has ended is reported with its mappings, and a thread that
# the kernel makes in a process (io_uring's, that polls) has an event when it begins.
set -euo pipefail

here=$(realpath "$(dirname "$0")")
cd /sys/kernel/tracing

python3 "$here/lbrprof_threads.py" headless &
headless=$!
trap 'kill "$headless" 2>/dev/null || true' EXIT
until grep -q '^State:.*Z' "/proc/$headless/status"; do
	sleep 0.1
done
echo 1 >events/lbrprof/lbrprof_map/enable
tries=0
until grep "lbrprof_map: tgid=$headless .*path=/" trace >/dev/null; do
	tries=$((tries + 1))
	[ "$tries" -lt 100 ] || { echo "no mapping of $headless is reported" >&2; exit 1; }
	sleep 0.1
done
kill "$headless"

echo 1 >events/lbrprof/lbrprof_task/enable
worker=$(python3 "$here/lbrprof_threads.py" uring)
echo 0 >events/lbrprof/enable
for what in fork exit; do
	grep "lbrprof_task: $what pid=${worker#* } tgid=${worker% *} parent=${worker% *} " trace >/dev/null ||
		{ echo "thread ${worker#* } has no event $what" >&2; exit 1; }
done
grep '^unread: 0$' lbrprof/status >/dev/null || { cat lbrprof/status >&2; exit 1; }
