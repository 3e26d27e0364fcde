#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# part: check-full
#
# Stacks of I/O system calls, of stock programs and of one with unusual stacks, against
# the stacks that elfutils, or gdb (PEER=gdb), finds at the same calls: CALLS (default 50)
# of each program; with DATABASES=1 also of sqlite3 and postgres.
. "$TRACERIG_TOP/tests/guest/functions"

calls=${CALLS:-50}
peer=${PEER:-elfutils}
here=$TRACERIG_TOP/tests/guest

[ -e "$tracing/events/iosys/io_stack" ] || die "this kernel has no io_stack"
gcc -O2 -Wall -Wextra -o stackcalls "$here/stackcalls.c" -ldw
gcc -O2 -Wall -Wextra -pthread -o stackwork "$here/stackwork.c"
gcc -O2 -Wall -Wextra -pthread -static-pie -o stackstatic "$here/stackwork.c"

cat >work.bash <<'END'
f() { echo "$1" >/dev/null; }
trap 'f signal' USR1
while :; do
	read -r x <work.bash
	f "$x"
	kill -USR1 $$
	y=$(echo "$x")
done
END
cat >work.sql <<'END'
create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 3000) insert into t select x, hex(x) from c;
update t set b = a where a % 3; vacuum; select count(*) from t order by 1; drop table t;
END
for _ in {1..20}; do cat work.sql; done >more.sql

# stop_at_calls NAME COMMAND...: sets stop, the command that runs it and logs the peer's stacks
stop_at_calls() {
	local name=$1 as=()
	shift
	# postgres does not run as root
	[ "$name" != postgres ] || as=(runuser -u postgres --)
	if [ "$peer" = gdb ]; then
		stop=("${as[@]}" env "LOG=$name.log" "MAX=$calls" gdb -nx -batch -x "$here/stack_gdb.py" --args "$@")
	else
		stop=("${as[@]}" ./stackcalls "--max=$calls" "$name.log" "$@")
	fi
}

# measure NAME LEAST COMMAND...
measure() {
	local name=$1 least=$2 stop
	shift 2
	stop_at_calls "$name" "$@"
	trace-cmd record -q -b 20000 -e iosys:io_syscall -f 'comm != "gdb" && comm != "stackcalls" && comm != "trace-cmd"' \
		-e iosys:io_stack -e iosys:io_map -o "$name.dat" \
		"${stop[@]}" >"$name.out" 2>"$name.err" <"${input:-/dev/null}" || die "$name: $(cat "$name.err")"
	cat "$tracing/iosys_stacks" >"$name.stacks"
	trace-cmd report "$name.dat" >"$name.txt" 2>/dev/null
	/usr/bin/python3 "$here/stack_check.py" "$least" "$name.log" "$name.txt" "$name.stacks" >"$name.check" ||
		die "$name" "$(cut -c 1-2000 "$name.check")"
	echo "# $name: $(tail -n 1 "$name.check")"
}

# Run it once first: its tables are built during the first run
for program in "./stackwork 1" "./stackstatic 1" "/usr/bin/python3 -c import\ sqlite3,json" "bash -c :"; do
	eval "trace-cmd record -q -e iosys -o warm.dat $program" >/dev/null 2>&1 || die "$program"
done
measure stackwork "$calls" ./stackwork 100000
measure stackstatic "$calls" ./stackstatic 100000
measure python3 "$calls" /usr/bin/python3 "$here/stacks_work.py"
measure bash "$calls" bash work.bash

# Each object's build ID is the linker's, in the file and in the trace
checked=0
while read -r id path; do
	[ -e "$path" ] || continue
	same "$(readelf -Wn "$path" 2>/dev/null | sed -n 's/.*Build ID: //p')" "$id" "build ID of $path"
	grep -q " io_map: .*build_id=$id path=$path\$" python3.txt || continue
	checked=$((checked + ${#id} / 40))
done < <(sed -n 's|^map .* build_id=\([0-9a-f]*\) .* path=\(/usr/.*\)|\1 \2|p' python3.stacks)
[ "$checked" -ge 2 ] || die "$checked objects with a build ID" "$(grep ' io_map: ' python3.txt)"
bins=(/usr/lib/postgresql/*/bin)
if [ -n "${DATABASES-}" ]; then
	trace-cmd record -q -e iosys -o warm.dat sqlite3 :memory: .quit >/dev/null 2>&1 || die "sqlite3"
	measure sqlite3 "$calls" sqlite3 -init more.sql work2.db .quit
	chmod 777 .
	install -d -o postgres pg
	trace-cmd record -q -e iosys -o warm.dat runuser -u postgres -- "${bins[-1]}/initdb" -N -D pg >initdb.log 2>&1 ||
		die "initdb" "$(cat initdb.log)"
	for i in {1..100}; do
		echo "create table t$i as select generate_series(1, 500) a; select count(*) from t$i; drop table t$i;"
	done >pg.sql
	input=pg.sql measure postgres "$calls" "${bins[-1]}/postgres" --single -D pg postgres
fi

# Code that is generated at run time: elfutils may give up there
measure jit 1 ./stackwork 3 jit
grep -q 'guessed=[1-9]' jit.stacks || die "no frame was found by a frame pointer" "$(cat jit.stacks)"

# A stack with such code is recognised, though the code is far from it
for e in io_stack io_map io_syscall; do echo 1 >"$tracing/events/iosys/$e/enable"; done
./stackwork 10 same
built
had=$(field walks repeated)
./stackwork 1000 same
repeated=$(($(field walks repeated) - had))
for e in io_stack io_map io_syscall; do echo 0 >"$tracing/events/iosys/$e/enable"; done
[ "$repeated" -gt 900 ] || die "$repeated of 1000 stacks with generated code are recognised" "$(cat "$tracing/iosys")"
echo "# $repeated of 1000 stacks with generated code were recognised"
