#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# ctlchart save and load: the file of limits, mistakes in it, and what is written
# into a directory that looks like tracefs.  (tests/guest/ctlchart-limits.sh does
# it with a kernel.)
set -u

ctlchart=$TOOLS/ctlchart
program=$ctlchart
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"
block=(-e block:block_rq_complete -f 'ctlchart(block_bio_queue, dev, sector, name=reads)')

# same FILE WANTED-FILE WHAT
same() {
	diff "$2" "$1" || wrong "$3"
}

# A tracefs as far as it matters: the file "ctlchart" takes what is written
make_tracefs() {
	local dir event
	rm -rf tracefs
	for dir in tracefs tracefs/instances/disk; do
		for event in block/block_rq_complete synthetic/lat sched/sched_switch; do
			mkdir -p "$dir/events/$event"
			echo "# No chart: write ctlchart(START, KEY...)" >"$dir/events/$event/ctlchart"
			echo none >"$dir/events/$event/filter"
			touch "$dir/events/${event%/*}/enable"
		done
	done
	cat >tracefs/events/block/block_rq_complete/ctlchart <<'END'
chart: reads
call: ctlchart(block_bio_queue,dev,sector,name=reads)
state: relearning 3 of 100 values
center: 14100000 ns
limit: 23412345 ns
method: limit=individuals scale=log samples=100 group=5 learn=10000000000ns
a line: that is not known yet
values: learnt 9900, judged 1234, not charted 0
alarms: 7, kept 7, not written 0

chart: new
call: ctlchart(block_bio_queue,dev,sector,name=new,learn=1s)
state: learning 3 of 100 values
values: learnt 3, judged 0, not charted 0
END
	# as trace-cmd writes it while it records
	echo '((dev == 8388608 && ctlchart(block_bio_queue, dev, sector, name=reads) || ctlchart(block_bio_queue, dev, sector, name=new, learn=1s)))&&((common_pid<57||common_pid>58)&&(common_pid!=60))' \
		>tracefs/events/block/block_rq_complete/filter
	cat >tracefs/instances/disk/events/synthetic/lat/ctlchart <<'END'
chart: lat.lat
call: ctlchart(lat,ucl=500)
state: fixed limit
limit: 500
values: learnt 0, judged 0, not charted 0
END
	echo 'ctlchart(lat, ucl=500)' >tracefs/instances/disk/events/synthetic/lat/filter
}

# --- save, from a kernel
make_tracefs
"$ctlchart" save --tracefs=tracefs -o saved 2>err || wrong "save"
grep -q 'not saved: new of block:block_rq_complete has no limit yet (learning 3 of 100 values)' err || wrong "the chart that is not saved is not reported"
from="from: Linux $(uname -r) on $(uname -n), "
grep -c "^$from" saved | grep -qx 2 || wrong "no from: line with the origin"
grep -v '^from:' saved >got
cat >wanted <<'END'
# Limits of control charts, saved by ctlchart(1). "ctlchart load" of this file
# puts them into force. Edit it at will: limits may have a unit ns, us, ms or s.

# limit 23.41 ms, centre 14.10 ms
event: block:block_rq_complete
filter: dev == 8388608 && ctlchart(block_bio_queue, dev, sector, name=reads) || ctlchart(block_bio_queue, dev, sector, name=new, learn=1s)
chart: reads
center: 14100000 ns
limit: 23412345 ns
values: 1234

# limit 500
event: synthetic:lat
instance: disk
filter: ctlchart(lat, ucl=500)
chart: lat.lat
limit: 500
END
same got wanted "what is saved"
"$ctlchart" save --tracefs=tracefs --instance=disk 2>err | grep -c '^event:' | grep -qx 1 || wrong "one instance"
"$ctlchart" save --tracefs=tracefs --chart=lat.lat 2>err | grep -c '^event:' | grep -qx 1 || wrong "one chart"
[ ! -s err ] || wrong "a message about a chart that --chart does not name"
expect 1 '^ctlchart: tracefs: no chart nosuch has a limit to save$' save --tracefs=tracefs --chart=nosuch
expect 1 '^ctlchart: tracefs: no trace instance nosuch$' save --tracefs=tracefs --instance=nosuch
expect 1 'is not a tracefs' save --tracefs=/nonexistent
rm tracefs/events/*/*/ctlchart tracefs/instances/*/events/*/*/ctlchart
expect 1 '^ctlchart: tracefs: this kernel has no ctlchart filter' save --tracefs=tracefs
expect 1 '^ctlchart: saved:5: this kernel has no ctlchart filter' load --tracefs=tracefs saved

# --- load
# Its chart is there: the limits alone. Not there: the filter as well.
make_tracefs
"$ctlchart" load --tracefs=tracefs saved >out 2>err || wrong "load"
printf '%s\n' 'block:block_rq_complete  reads: limit 23.41 ms' 'disk/synthetic:lat  lat.lat: limit 500' >wanted
same out wanted "what load says"
[ "$(cat tracefs/events/block/block_rq_complete/ctlchart)" = 'limits center=14100000ns ucl=23412345ns reads' ] || wrong "limits"
[ "$(cat tracefs/instances/disk/events/synthetic/lat/ctlchart)" = 'ucl=500 lat.lat' ] || wrong "a given limit"
grep -q common_pid tracefs/events/block/block_rq_complete/filter || wrong "the filter was written without need"
make_tracefs
filter='dev == 8388608 && ctlchart(block_bio_queue, dev, sector, name=reads) || ctlchart(block_bio_queue, dev, sector, name=new, learn=1s)'
echo 'nr_sector > 8' >tracefs/instances/disk/events/block/block_rq_complete/filter
expect_note() {
	"$ctlchart" "$@" >out 2>err || wrong "ctlchart $*"
}
expect_note load --tracefs=tracefs --instance=disk --chart=reads saved
grep -q 'block:block_rq_complete had another filter: nr_sector > 8$' err || wrong "no word of the filter that was there"
[ "$(cat tracefs/instances/disk/events/block/block_rq_complete/filter)" = "$filter" ] || wrong "filter"
[ "$(cat tracefs/instances/disk/events/synthetic/lat/filter)" = 'ctlchart(lat, ucl=500)' ] || wrong "a chart that was not asked for"
grep -q '^chart: reads' tracefs/events/block/block_rq_complete/ctlchart || wrong "the main buffer was written to"
# Spaces in a call make no difference
make_tracefs
sed 's/dev, sector/dev ,sector/' saved >spaced
"$ctlchart" load --tracefs=tracefs spaced >out 2>err || wrong "load"
grep -q common_pid tracefs/events/block/block_rq_complete/filter || wrong "the same call is another one"
# units, comments, order, spaces, CRLF
printf '%s\r\n' '  # x' '' ' event:synthetic:lat' 'limit:  7' 'chart: lat.lat' 'filter: ctlchart(lat)' '' \
	'event: block:block_rq_complete' 'limit: 1.5s' 'center: 23.4 ms' 'chart: a->b.c-d_e' 'filter: ctlchart(block_bio_queue, dev)' >edited
make_tracefs
"$ctlchart" load --tracefs=tracefs - <edited >out 2>err || wrong "an edited file"
[ "$(cat tracefs/events/block/block_rq_complete/ctlchart)" = 'limits center=23400000ns ucl=1500000000ns a->b.c-d_e' ] || wrong "units"
[ "$(cat tracefs/events/synthetic/lat/ctlchart)" = 'ucl=7 lat.lat' ] || wrong "a number without a unit"

# A process can call itself what it likes: the kernel escapes it, and gets it back as it was
make_tracefs
cat >tracefs/events/sched/sched_switch/ctlchart <<'END'
chart: s
call: ctlchart(sched_waking,pid:next_pid,by=next_comm)
state: judging
values: learnt 0, judged 0, not charted 0

part: s[next_comm=a\x5d\x0alimit: 1\x5c\xe9]
state: judging
center: 5 ns
limit: 9 ns
part values: learnt 100, judged 3, alarms 0, kept 0
END
echo 'ctlchart(sched_waking, pid:next_pid, by=next_comm)' >tracefs/events/sched/sched_switch/filter
"$ctlchart" save --tracefs=tracefs -o odd 2>err || wrong "save of a part with escapes"
grep -Fqx 'chart: s[next_comm=a\x5d\x0alimit: 1\x5c\xe9]' odd || wrong "the name of a part with escapes"
"$ctlchart" load --tracefs=tracefs odd >out 2>err || wrong "load of a part with escapes"
[ "$(cat tracefs/events/sched/sched_switch/ctlchart)" = 'limits center=5ns ucl=9ns s[next_comm=a\x5d\x0alimit: 1\x5c\xe9]' ] || wrong "escapes in a command"

# A name that the kernel had to cut is none that it takes
make_tracefs
long="s[next_comm=$(printf '\\x01%.0s' {1..40})"
sed -i '/./,$d' tracefs/events/block/block_rq_complete/ctlchart
{
	printf '%s\n' 'chart: s' 'call: ctlchart(sched_waking,pid:next_pid,by=next_comm)' 'state: judging'
	for length in 126 127; do
		printf '\npart: %s\nstate: judging\nlimit: %d ns\n' "${long:0:length}" $length
	done
} >tracefs/events/sched/sched_switch/ctlchart
"$ctlchart" save --tracefs=tracefs -o cut 2>err || wrong "save of a part with a cut name"
grep -Fqx "ctlchart: tracefs: not saved: the name of ${long:0:127} is cut" err || wrong "no word of a cut name: $(cat err)"
grep '^limit:' cut | head -n 1 | grep -qx 'limit: 126 ns' || wrong "what is saved beside a cut name: $(cat cut)"

# No filter is written unless all can be
make_tracefs
{ cat saved; printf '%s\n' 'event: block:nosuch' 'chart: x' 'limit: 5 ns' 'filter: ctlchart(a)'; } >partly
expect 1 '^ctlchart: partly:[0-9]+: this kernel has no event block:nosuch$' load --tracefs=tracefs partly
grep -q '^chart: reads' tracefs/events/block/block_rq_complete/ctlchart || wrong "half a file was loaded"
printf '%s\n' 'event: sched:sched_switch' 'chart: x' 'limit: 5 ns' >unknown
expect 1 '^ctlchart: unknown:1: sched:sched_switch has no chart x, and no filter: line' load --tracefs=tracefs unknown
expect 1 'no trace instance nosuch: mkdir tracefs/instances/nosuch makes it' load --tracefs=tracefs --instance=nosuch saved
expect 1 '^ctlchart: saved: has no chart nosuch$' load --tracefs=tracefs --chart=nosuch saved
expect 2 'missing LIMITS operand' load
expect 2 'extra operand more: one LIMITS at a time' load saved more
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 755 . && chmod 700 tracefs
	as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
	as_user true 2>/dev/null && [ -x "$ctlchart" ] && as_user test -x "$ctlchart" && {
		as_user "$ctlchart" load --tracefs="$PWD/tracefs" saved >out 2>err && wrong "load as nobody"
		grep -q 'Permission denied: run this as root$' err || wrong "no word of root"
		as_user "$ctlchart" save --tracefs="$PWD/tracefs" >out 2>err && wrong "save as nobody"
		grep -q 'Permission denied: run this as root$' err || wrong "no word of root"
	}
	chmod 755 tracefs
fi

# --- the chart of a disk: by its name, as numbers differ between machines
by_disk() { # NUMBER
	make_tracefs
	echo 'ctlchart(block_bio_queue, dev, sector, by=dev, name=disk)' >tracefs/events/block/block_rq_complete/filter
	cat >tracefs/events/block/block_rq_complete/ctlchart <<-END
		chart: disk
		call: ctlchart(block_bio_queue,dev,sector,by=dev,name=disk)
		state: learning 0 of 100 values
		by dev: 1 of 64 charts, shared by the rest: learnt 0, judged 0

		part: disk[dev=$1]
		state: judging
		center: 1000 ns
		limit: 2000 ns
		part values: learnt 100, judged 900, alarms 3, kept 3
	END
}
for path in /sys/class/block/*/dev; do
	[ -e "$path" ] || break
	name=$(basename "$(dirname "$path")")
	IFS=: read -r major minor <"$path"
	number=$((major << 20 | minor))
	by_disk $number
	"$ctlchart" save --tracefs=tracefs --chart=disk -o disks 2>err || wrong "save of a disk: $(cat err)"
	grep -A 1 "^chart: disk\[dev=$number\]$" disks | grep -qx "disk: $name" || wrong "the disk has no name: $(cat disks)"
	sed -i 's/\[dev=.*/[dev=77]/' disks
	"$ctlchart" load --tracefs=tracefs --keep-filter disks >out 2>err || wrong "load of a disk: $(cat err)"
	[ "$(cat tracefs/events/block/block_rq_complete/ctlchart)" = "limits center=1000ns ucl=2000ns disk[dev=$number]" ] || wrong "another disk's limit"
	# There, the number may be another one again
	"$ctlchart" load --dry-run disks | grep -qF 'ucl=2000ns disk[dev=77]' || wrong "the number is not that of the file"
	break
done
printf '%s\n' 'event: block:block_rq_complete' 'chart: disk[dev=5]' 'disk: no-such-disk' 'limit: 5 ns' '' \
	'event: block:block_rq_complete' 'chart: disk[dev=6]' 'limit: 6 ns' >two
by_disk 5
"$ctlchart" load --tracefs=tracefs two >out 2>err || wrong "a disk that is not there: $(cat err)"
grep -q ': not loaded: this machine has no disk no-such-disk$' err || wrong "the disk that is not there: $(cat err)"
[ "$(cat tracefs/events/block/block_rq_complete/ctlchart)" = 'ucl=6ns disk[dev=6]' ] || wrong "the other disk"
head -n 4 two >one
by_disk 5
grep -q 'dev=5' tracefs/events/block/block_rq_complete/ctlchart || exit 1
"$ctlchart" load --tracefs=tracefs one >out 2>err && wrong "limits of no disk are loaded"
tail -n 1 err | grep -q '^ctlchart: one: this machine has none of its disks: learn limits here' || wrong "limits of no disk: $(cat err)"
sed 's/^disk: .*/disk: ..\/x/' one >bad
expect 1 '^ctlchart: bad:3: this cannot be the name of a disk$' load --tracefs=tracefs bad
# A file from before by=
printf '%s\n' 'event: block:block_rq_complete' 'filter: ctlchart(block_bio_queue, dev, sector, name=disk)' 'chart: disk' 'limit: 5 ns' >old
by_disk 5
cp tracefs/events/block/block_rq_complete/filter before
expect 1 '^ctlchart: old:1: the limits of disk are of another filter than block:block_rq_complete has: learn them again, with this one$' \
	load --tracefs=tracefs --keep-filter old
cmp -s before tracefs/events/block/block_rq_complete/filter || wrong "the filter was replaced"

# --- charts of by=, and the lines of rules=
make_tracefs
cat >tracefs/events/block/block_rq_complete/ctlchart <<'END'
chart: reads
call: ctlchart(block_bio_queue,dev,sector,name=reads,by=rwbs,rules=2)
state: judging
center: 14100000 ns
limit: 23412345 ns
zones: log,797108176,801108176,805108176,809108176,797108177,793108176,789108176,785108176
values: learnt 900, judged 1234, not charted 0
by rwbs: 3 of 64 charts, shared by the rest: learnt 100, judged 17

part: reads[rwbs=R]
state: judging
center: 1000 ns
limit: 2000 ns
zones: linear,2000,2100,2200,2300,2000,1900,1800,1700
part values: learnt 100, judged 900, alarms 3, kept 3

part: reads[rwbs=W S]
state: learning 3 of 100 values
part values: learnt 3, judged 0, alarms 0, kept 0

part: reads[rwbs=x=[]]
state: fixed limit
limit: 77 ns
part values: learnt 3, judged 1, alarms 0, kept 0
END
echo 'ctlchart(block_bio_queue, dev, sector, name=reads, by=rwbs, rules=2)' >tracefs/events/block/block_rq_complete/filter
rm -r tracefs/instances
"$ctlchart" save --tracefs=tracefs -o parts 2>err || wrong "save of parts"
grep -q 'not saved: 1 chart of by= of block:block_rq_complete without a limit yet$' err || wrong "no word of parts without a limit"
grep -v -e '^from:' -e '^event:' -e '^filter' parts | tail -n +4 >got
cat >wanted <<'END'
# limit 23.41 ms, centre 14.10 ms
chart: reads[]
center: 14100000 ns
limit: 23412345 ns
# medians of groups: 1 sigma 13.04 ms to 15.38 ms, 2 sigma 12.01 ms to 16.71 ms, 3 sigma 11.05 ms to 18.15 ms
zones: log,797108176,801108176,805108176,809108176,797108177,793108176,789108176,785108176
values: 17

# limit 2.000 us, centre 1.000 us
chart: reads[rwbs=R]
center: 1000 ns
limit: 2000 ns
# medians of groups: 1 sigma 950 ns to 1.050 us, 2 sigma 900 ns to 1.100 us, 3 sigma 850 ns to 1.150 us
zones: linear,2000,2100,2200,2300,2000,1900,1800,1700
values: 900

# limit 77 ns
chart: reads[rwbs=x=[]]
limit: 77 ns
values: 1
END
same got wanted "saved parts"
"$ctlchart" load -n parts >script || wrong "dry run of parts"
cut -d "'" -f 4 script >got
cat >wanted <<'END'
ctlchart(block_bio_queue, dev, sector, name=reads, by=rwbs, rules=2)
limits center=14100000ns ucl=23412345ns zones=log,797108176,801108176,805108176,809108176,797108177,793108176,789108176,785108176 reads[]
limits center=1000ns ucl=2000ns zones=linear,2000,2100,2200,2300,2000,1900,1800,1700 reads[rwbs=R]
ucl=77ns reads[rwbs=x=[]]
END
same got wanted "what load writes of parts"
# The chart is there, whether it has these parts or not
for chart in reads 'reads[rwbs=R]'; do
	sed -i '/^part:/,$d' tracefs/events/block/block_rq_complete/ctlchart
	cp -r tracefs by-load
	"$ctlchart" load --tracefs=by-load --chart="$chart" parts >out 2>err || wrong "load of parts"
	[ ! -s err ] || wrong "the filter was written without need"
	[ "$(wc -l <out)" -eq "$([ "$chart" = reads ] && echo 3 || echo 1)" ] || wrong "--chart=$chart"
	rm -r by-load
done
# From a trace: limits shared by name
cat >by.filter <<'END'
ctlchart(block_bio_queue, dev, sector, learn=0, by=sector, charts=1, rules=all, stale=1h, size=100000)
END
"$UNIT/gen_tracedat" block parts.dat 12000 300 >truth || exit 1
"$ctlchart" save -e block:block_rq_complete -f "$(cat by.filter)" parts.dat >saved-parts 2>err || wrong "parts of a trace"
grep -qx 'chart: block_bio_queue->block_rq_complete\[\]' saved-parts || wrong "the shared chart of a trace"
grep -cE '^zones: log(,[0-9]+){8}$' saved-parts | grep -qx "$(grep -c ^chart: saved-parts)" || wrong "zones of a trace"
make_tracefs

# --- a dry run is a script that does the same
make_tracefs
printf '%s\n' 'event: synthetic:lat' "filter: ctlchart(lat) && comm != \"it's\\\\n\"" 'chart: lat.lat' 'limit: 9' >>saved
sed '/^instance: disk/d' saved >quoted
sed -i '/^limit: 500/,$d' quoted
printf '%s\n' 'limit: 500' 'event: sched:sched_switch' "filter: ctlchart(x) && comm != \"it's\\\\n\$(date)\"" 'chart: q' 'limit: 9' >>quoted
"$ctlchart" load -n --tracefs=tracefs quoted >script 2>err || wrong "dry run"
grep -q '^chart: reads' tracefs/events/block/block_rq_complete/ctlchart || wrong "a dry run writes"
sh -e script || wrong "its script fails"
cp -r tracefs by-script
make_tracefs
for file in tracefs/events/*/*/ctlchart; do : >"$file"; done
"$ctlchart" load --tracefs=tracefs quoted >out 2>err || wrong "load of what the script loaded"
for file in events/{block/block_rq_complete,synthetic/lat,sched/sched_switch}/{filter,ctlchart}; do
	[ "$(cat "tracefs/$file")" = "$(cat "by-script/$file")" ] || wrong "the script writes something else into $file"
done
"$ctlchart" load -n --instance=x quoted | grep -q "> /sys/kernel/tracing/instances/x/events/" || wrong "paths of a dry run"

# --- mistakes
mistake() {
	local at=$1 pattern=$2
	shift 2
	printf '%s\n' "$@" >bad
	expect 1 "^ctlchart: bad:${at:+$at:} $pattern" load --tracefs=tracefs bad
}
e='event: a:b' c='chart: c' l='limit: 5 ms' f='filter: ctlchart(x, y)'
mistake '' 'has no limits in it' '# nothing'
mistake 1 'a chart begins with its event: line' "$c"
mistake 1 'a line begins with event:' 'limits of today'
mistake 1 'a line begins with event:' 'even: a:b'
mistake 1 'an event is written system:event' 'event: a'
mistake 1 'an event is written system:event' 'event: ../../x:y'
mistake 1 'an event is written system:event' 'event: a:..'
mistake 1 'an event is written system:event' 'event: a:b:c'
mistake 1 'a:b has no chart: line' "$e" "$l"
mistake 2 'a:b has no limit: line' '' "$e" "$c" '' "$e" "$c" "$l"
mistake 2 'this cannot be the name' "$e" 'chart: a b'
mistake 2 'this cannot be the name' "$e" "chart: $(printf 'x%.0s' $(seq 64))"
mistake 2 'this cannot be the name of a trace instance' "$e" 'instance: ../x'
for name in 'c[x' 'c[x]y' '[x=1]' "c[$(printf 'x%.0s' $(seq 126))]"; do
	mistake 2 'this cannot be the name' "$e" "chart: $name"
done
z=log,200,209,218,227,200,191,182,173
for zones in "$z,1" "${z%,173}" "log,$z" lo,200,209,218,227,200,191,182,173 \
	log,200,209,208,227,200,191,182,173 log,200,209,218,227,202,191,182,173 \
	log,200,209,218,227,200,191,192,173 log,200,209,218,-7,200,191,182,173; do
	mistake 2 'zones are log or linear and 8 numbers' "$e" "zones: $zones"
done
mistake 3 'given twice' "$e" "zones: $z" "zones: $z"
mistake 1 'c has zones:, but no center: line' "$e" "$c" "$l" "zones: $z"
mistake 3 'given twice' "$e" "$c" "$c"
mistake 3 'given twice' "$e" "$l" "$l"
mistake 3 'given twice' "$e" 'center: 1 ms' 'center: 1 ms'
for number in '' x -5 1.5 '5ms x' 1.5ns '5 MS' 18446744073709551616 '18446744073709551615 s' 18446744073709551615 0x10; do
	mistake 2 ".*must be a whole number" "$e" "limit: $number"
done
mistake 2 '.* must be a whole number' "$e" 'values: many'
mistake 3 'center and limit are both times' "$e" 'center: 5' "$l"
mistake 1 'the limit of c is below its centre' "$e" "$c" "$l" 'center: 6ms'
mistake 1 'the limit of c is 0' "$e" "$c" 'limit: 0'
mistake 1 'this is not text' "$(printf 'event: a\033:b')"
mistake 2 'this is not text' "$e" "$(printf 'filter: \xff')"
printf 'event: a:b\n\0' >bad
expect 1 '^ctlchart: bad:2: this is not text$' load bad
printf '%s\n' "$e" "$c" "$l" "$f" "$e" 'chart: d' "$l" 'filter: ctlchart(z)' >bad
expect 1 '^ctlchart: bad:5: line 1 has another filter for a:b' load -n bad
printf '%s\n' "$e" "$c" "$l" "$f" "$e" "$c" "$l" >bad
expect 1 '^ctlchart: bad:5: line 1 has limits of c as well' load -n bad
expect 1 '^ctlchart: missing: No such file' load missing

# --- save, from a trace: the limits in its alarms, and limits learnt from its events
"$UNIT/gen_tracedat" block block.dat 12000 3000 >truth || exit 1
limit=$(sed -n 's/^limit=//p' truth)
"$ctlchart" save "${block[@]}" -o saved block.dat 2>err || wrong "save of a trace"
awk -v want="$limit" '/^limit:/ { n++; if ($2 < want * 0.999 || $2 > want * 1.001 || $3 != "ns") exit 1 } END { exit n != 1 }' saved ||
	wrong "not the limit $limit"
grep -qx 'filter: ctlchart(block_bio_queue, dev, sector, name=reads)' saved || wrong "no filter"
grep -qE '^from: block.dat, [0-9]{4}-' saved || wrong "no from"
# The desk judges a trace by the saved limits as the kernel would
ucl=$(sed -n 's/^limit: \([0-9]*\) ns/\1ns/p' saved)
want=$("$ctlchart" --format=csv "${block[@]}" block.dat | wc -l)
got=$("$ctlchart" --format=csv -e block:block_rq_complete -f "ctlchart(block_bio_queue, dev, sector, ucl=$ucl)" block.dat |
	awk -F , -v after="$("$ctlchart" --format=csv "${block[@]}" block.dat | sed -n 2p | cut -d , -f 3)" 'NR == 1 || $3 >= after' | wc -l)
[ "$want" = "$got" ] || wrong "the saved limit makes $got alarms, the learnt one $want"
"$UNIT/gen_tracedat" alarm alarm.dat 100 200 >truth || exit 1
limit=$(sed -n 's/^limit=//p' truth)
"$ctlchart" save alarm.dat >saved 2>err || wrong "save of alarms"
grep -qx "limit: $limit ns" saved || wrong "not the limit $limit of the alarms"
grep -q '^filter:' saved && wrong "a filter, which the alarms do not contain"
"$UNIT/gen_tracedat" mixed mixed.dat >truth || exit 1
"$ctlchart" save mixed.dat >saved 2>err || wrong "save of mixed alarms"
grep -q 'does not describe the event of named' err || wrong "the chart that is not saved is not reported"
expect 1 'no chart nosuch in it|has no alarm of a chart nosuch' save --chart=nosuch alarm.dat
"$ctlchart" save -e block:block_rq_complete \
	-f 'ctlchart(block_bio_queue, dev, sector, samples=100000)' block.dat >out 2>err && wrong "save of no limit"
grep -q 'no chart in it has a limit to save$' err || wrong "the reason why no limit is saved is not reported"
[ ! -s out ] || wrong "a file of no limits"

exit "$failed"
