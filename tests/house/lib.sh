# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# For the tests of scripts/, qemu/vm and what guests send: sourced, and ends the test at
# the first expectation that does not hold.
set -euo pipefail

# shellcheck source=tests/lib.bash
. "$TRACERIG_TOP/tests/lib.bash"

# shellcheck disable=SC2034 # for the tests
vm=$TRACERIG_TOP/qemu/vm

# expect STATUS COMMAND...: its output goes to the files out and err.
expect() {
	local want=$1 got=0
	shift
	"$@" >out 2>err || got=$?
	[ "$got" -eq "$want" ] || {
		cat out err >&2
		die "status $got, not $want: $*"
	}
}

# has FILE PATTERN: a line of FILE matches it.
has() {
	grep -qE -e "$2" "$1" || {
		cat "$1" >&2
		die "no line of $1 matches: $2"
	}
}

# in_guest STATUS OPTION...: the script on standard input runs in a guest with these OPTIONs
# of qemu/vm; the guest's files go to the directory out.d.
in_guest() {
	local status=$1
	shift
	mkdir -p out.d
	cat >out.d/guest
	expect "$status" "$vm" --timeout $((120 * scale)) --output "$PWD/out.d" "$@" \
		-- bash -c '. "$TRACERIG_OUTPUT/guest"'
}

# shellcheck disable=SC2034 # for the tests
schedz=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/schedz

# collect [OPTION...]: receive traces at $port of this host until the test ends, into the
# folder collected; the ledger goes to the file ledger, messages go to notes.
collect() {
	port=$("$TRACERIG_TOP/tests/free-ports" udp)
	"$schedz" collect --listen "127.0.0.1:$port" --output collected "$@" \
		>ledger 2>notes &
	collector=$!
	trap 'kill $collector 2>/dev/null || true' EXIT
}

# received: wait for the end of the session, and have the collector print its ledger; the
# trace is in report.txt.
received() {
	within 30 grep -q 'is over' notes || die "the session did not end: $(cat notes)"
	kill -USR1 $collector
	within 10 grep -q generated: ledger || die "no ledger"
	kill $collector
	wait $collector || die "the collector failed"
	trace-cmd report collected/*.0.dat >report.txt 2>/dev/null
}

# panics REASON MARKS [MODULE]: a guest that writes MARKS panics for REASON, on its own or by
# MODULE of out.d, while a collector receives its trace: all of it arrives. If the panic stops
# the interface while it sends, nothing can, which the kernel says: then once more.
panics() {
	local reason=$1 marks=$2 module=${3-} pid try
	for try in 1 2 3; do
		rm -rf collected
		# shellcheck disable=SC2119 # without options
		collect
		in_guest 125 --net host --append panic=5 <<-END
			set -e
			cd /sys/kernel/config/tracecast
			mkdir rig
			echo 10.0.2.2 >rig/remote_ip
			echo $port >rig/remote_port
			echo 2 >rig/senders
			echo 1 >rig/enabled
			echo 1 >/sys/kernel/tracing/events/schedz/schedz_block/enable
			exec python3 "\$TRACERIG_TOP/tests/house/panic_marks.py" $marks ${module:+"\$TRACERIG_OUTPUT/$module"}
		END
		has err "the guest panicked: .*$reason"
		pid=$(head -n 1 out)
		[ "$pid" -gt 1 ] || die "the guest did not come to its panic: $(cat out err)"
		grep -q 'sends nothing in this panic: the panic stopped the interface' \
			out.d/console.log || break
		kill $collector
		wait $collector || die "the collector failed"
		[ "$try" -lt 3 ] || die "three panics stopped the interface while it was sending"
	done
	received
	has notes 'a panic'
	"$schedz" decode --format=json -o events.json collected/*.0.dat
	python3 -B "$TRACERIG_TOP/tests/house/panic_check.py" report.txt events.json ledger "$marks" "$pid" ||
		die "$(cat ledger notes)"
}
