#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
# sanitizers: check-full
#
# tracerig's metrics: the number of groups is bounded, Prometheus' own checker reads them,
# and Prometheus gets them by HTTP. Without TRACERIG_FULL Prometheus may be missing.
set -u

failed=0

wrong() {
	echo "wrong: $*"
	failed=1
}

# groups NUMBER SAMPLES OTHERS
groups() {
	local sum
	"$UNIT/gen_metrics" "$1" >written || wrong "gen_metrics"
	[ "$(grep -c '^tracerig_group_cases_total{' written)" -eq "$2" ] || wrong "$1 groups: not $2 samples"
	sum=$(awk '/^tracerig_group_cases_total{/ { n += $NF } END { print n + 0 }' written)
	[ "$sum" -eq $(($1 * ($1 + 1) / 2)) ] || wrong "$1 groups: $sum cases"
	[ "$(sed -n 's/^tracerig_group_cases_total{group="others"} //p' written)" = "$3" ] ||
		wrong "$1 groups: not $3 cases of others"
	[ -z "$check" ] || promtool check metrics <written >out 2>&1 || wrong "$1 groups: promtool: $(cat out)"
}

check=
if command -v promtool >/dev/null; then
	check=1
elif [ -n "${TRACERIG_FULL-}" ]; then
	wrong "promtool is missing: install the package prometheus (scripts/deps full does)"
fi
groups 0 0 ""

# --- the samples
has() {
	grep -qxF "$1" written || wrong "no line $1"
}
has 'tracerig_limit_seconds{chart="disk"} 1.042900000'
has 'tracerig_missed_calls_total{chart="disk"} 0'
has 'tracerig_missed_calls_total{chart="q\"\\\n"} 4'
has 'tracerig_center_seconds{chart="disk"} 0.006100000'
has 'tracerig_limit{chart="q\"\\\n"} 40'
has 'tracerig_values_total{chart="disk"} 600'
# A chart that still learns has values, too
has 'tracerig_values_total{chart="new"} 30'
has 'tracerig_alarms_total{chart="disk"} 3'
has 'tracerig_cases_total{result="kept"} 2'
has 'tracerig_lost_events_total 9'
# Charts of by= have one limit if it is fixed
has 'tracerig_limit{chart="fixed"} 20'
# and otherwise each its own; of parts with one name, as names are cut, the first with a limit
has 'tracerig_limit{chart="parts[dev=8:16]"} 9'
has 'tracerig_center{chart="parts[dev=8:16]"} 5'
has 'tracerig_limit{chart="parts[]"} 11'
has 'tracerig_center{chart="parts[]"} 7'
# Without a limit it has no line; a fixed limit has no centre
grep -E 'tracerig_limit\{chart="(new|parts|parts\[dev=8:0\])"|tracerig_center\{chart="[^p]' written && wrong "limits that there are not"
# Prometheus refuses all metrics if one is there twice
twice=$("$UNIT/gen_metrics" 60 | sed -n 's/^\(tracerig_.*\) [^ ]*$/\1/p' | sort | uniq -d)
[ -z "$twice" ] || wrong "these are there twice: $twice"
# For node_exporter the type is that of the samples' own name
has '# TYPE tracerig_values_total counter'
has '# TYPE tracerig_cases_total counter'

# --- a link where the new file is made is not followed
echo precious >victim
ln -s victim metrics.prom.new
echo | "$UNIT/gen_metrics" 3 metrics.prom >out || wrong "metrics.prom is not written"
[ "$(cat victim)" = precious ] || wrong "the file that the link names was written to"
[ ! -L metrics.prom ] || wrong "metrics.prom is a link"
grep -q '^tracerig_group_cases_total' metrics.prom || wrong "metrics.prom: $(cat metrics.prom)"

# --- any user can read it, such as node_exporter
(umask 077 && echo | "$UNIT/gen_metrics" 3 metrics.prom >out) || wrong "metrics.prom is not written"
[ "$(stat -c %a metrics.prom)" = 644 ] || wrong "mode of metrics.prom: $(stat -c %a metrics.prom)"

# --- one watch at a time writes a file, and nothing else is left behind
taken='another watch writes it: choose another file with --metrics'
coproc FIRST { exec "$UNIT/gen_metrics" 3 taken.prom; }
lines_of=${FIRST[1]}
for _ in 1 2 3; do
	echo >&"$lines_of"
	read -r -t 60 -u "${FIRST[0]}" line || wrong "taken.prom is not written: ${line-}"
done
cp taken.prom before.prom
echo | "$UNIT/gen_metrics" 2 taken.prom >out 2>err && wrong "two watches write a file"
[ "$(cat err)" = "taken.prom: $taken" ] || wrong "two watches, one file: $(cat err)"
"$TOOLS/tracerig" watch disk --dir none --metrics taken.prom >out 2>err && wrong "a second watch begins"
[ "$(cat err)" = "tracerig watch: taken.prom: $taken" ] || wrong "a second watch: $(cat err)"
cmp taken.prom before.prom || wrong "the second watch has replaced the file"
echo | "$UNIT/gen_metrics" 2 other.prom >out || wrong "another file cannot be written"
echo >&"$lines_of"
read -r -t 60 -u "${FIRST[0]}" line || wrong "the first watch can no longer write"
first=$FIRST_PID
exec {lines_of}>&-
wait "$first" || wrong "the first watch failed"
[ "$(find . -name 'taken*' | wc -l)" -eq 1 ] || wrong "left behind: $(find . -name 'taken*')"
# Each instance of the service can have options of its own, in place of those of all
[ "$(sed -n 's/^EnvironmentFile=-//p' "$TRACERIG_TOP/tools/tracerig/tracerig-watch@.service" | tail -n 1)" = '/etc/default/tracerig-watch@%i' ] ||
	wrong "no options of an instance"

# --- groups
groups 50 50 ""
groups 51 51 51
# Those of the store, above 1000, are among them
groups 1100 51 $((1100 * 1101 / 2 - 50 * 51 / 2))

# --- by HTTP, in a network of its own, where ports are free
network=()
unshare -rn true 2>/dev/null && network=(unshare -rn)
"${network[@]}" bash -c '
	ip link set lo up 2>/dev/null
	exec python3 "$TRACERIG_TOP/tests/unit/metrics_http.py" "$UNIT/gen_metrics"' >out 2>&1 ||
	wrong "HTTP: $(tail -n 5 out)"
exit $failed
