#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# usage (in a guest under --lbr --icount, with the plugin branches.c and its timeline=):
#	tests/lbr/truth.sh WORKLOAD PERIOD CYCLES PROGRAMS
#
# A workload under lbrprof with a sample each PERIOD instructions of user space, and cycles
# from branch to branch if CYCLES is 1. Into $TRACERIG_OUTPUT: trace.dat, and start with
# the clock's reading when the plugin's list began. PROGRAMS is where the compiled ones of
# tests/lbr are.
set -euo pipefail

# shellcheck source=tests/lib.bash
. "$TRACERIG_TOP/tests/lib.bash"

workload=$1 period=$2 cycles=$3 programs=$4
out=$TRACERIG_OUTPUT
work=/tmp/truth
mkdir -p $work
cd $work

redis_answers() {
	redis-cli -s $work/redis.sock ping >/dev/null 2>&1
}

# Before anything is recorded
prepare() {
	case $workload in
	gzip)
		for ((i = 0; i < 20; i++)); do cat "$TRACERIG_TOP"/tools/lbrtime/*.c; done >text
		;;
	redis)
		redis-server --port 0 --unixsocket $work/redis.sock --save '' --appendonly no >/dev/null &
		server=$!
		while_alive $server redis_answers || die "redis-server has ended"
		;;
	postgres)
		PATH=$PATH:$(echo /usr/lib/postgresql/*/bin)
		chown postgres $work
		as_postgres initdb -D db -N >/dev/null
		as_postgres pg_ctl -D db -w -l log -o "-k $work -c listen_addresses= -c fsync=off" start >/dev/null
		as_postgres createdb -h $work bench
		as_postgres pgbench -h $work -i -q bench 2>/dev/null
		;;
	esac
}

run() {
	case $workload in
	p1) "$programs/patterns" p1 15000 ;;
	p2) "$programs/patterns" p2 5500 ;;
	p3) "$programs/patterns" p3 5500 ;;
	engine) "$programs/engine" 60000 ;;
	gzip) gzip -6 <text ;;
	sqlite)
		sqlite3 :memory: 'create table t(a integer primary key, b text, c int);
			with recursive n(i) as (select 1 union all select i + 1 from n where i < 12000)
				insert into t select i, hex(i * 7919 % 10007), i % 97 from n;
			create index x on t(b);
			select c, count(*), max(b) from t group by c order by 2 desc limit 5;
			select count(*) from t join t u on t.b = u.b where t.c < 40;'
		;;
	python)
		# A real one: a pyenv's shim would begin with a shell
		"$(python3 -c 'import sys; print(sys.executable)')" -S "$TRACERIG_TOP/tests/lbr/words.py"
		;;
	redis) redis-benchmark -s $work/redis.sock -q -c 4 -n 2500 -t set,get,lpush,zadd ;;
	postgres) as_postgres pgbench -h $work -c 1 -n -t 60 bench ;;
	esac
}

end() {
	case $workload in
	redis) kill "$server" ;;
	postgres) as_postgres pg_ctl -D db -m immediate stop >/dev/null ;;
	esac
}

prepare
cd /sys/kernel/tracing
echo mono_raw >trace_clock
echo 200000 >buffer_size_kb
echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
# Calls and returns, as this CPU counts them
echo 0x2c4 >lbrprof/calls_event
echo 0x8c4 >lbrprof/returns_event
echo "$period" >lbrprof/period
echo "$cycles" >lbrprof/cycles
cd $work
echo 1 >/sys/kernel/tracing/events/sched/sched_switch/enable
echo 1 >/sys/kernel/tracing/events/lbrprof/enable
"$programs/start" >start
run >/dev/null
echo 0 >/sys/kernel/tracing/events/lbrprof/enable
echo 0 >/sys/kernel/tracing/tracing_on
end
cat /sys/kernel/tracing/lbrprof/status >"$out/status"
cp start "$out/start"
grep -qx 'overrun: 0' /sys/kernel/tracing/per_cpu/cpu0/stats
trace-cmd extract -o "$out/trace.dat" >/dev/null 2>&1
