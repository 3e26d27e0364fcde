#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
#
# tracerig explain on recordings that are described event by event (see gen_steps.c): what it
# names is what the events show, and it claims nothing that they do not show.
set -u

# shellcheck source=tests/unit/cli.bash
. "$TRACERIG_TOP/tests/unit/cli.bash"
program=$TOOLS/tracerig
mkdir case

# explains WHAT PATTERN...: the steps from stdin; each pattern is in a line of explain
explains() {
	local what=$1 pattern
	shift
	"$UNIT/gen_steps" case || wrong "$what: no case"
	"$program" explain ./case >out 2>err || wrong "$what: explain fails"
	for pattern; do
		grep -qE -- "$pattern" out || wrong "$what: no '$pattern': $(cat out)"
	done
}

# --- a slow host: what ctlchart writes within a switch comes long after the switch's event
explains 'events within a switch' '^cause: waiting for a CPU: hog-88, 100 % of the delay' <<END
op 1000 9000
switch 1 10 0 0 501
switch 1 20 501 1 0
switch 0 100 1000 1 88
wakes 0 1000 88 0
switch 1 3000 0 0 501
value 1 3150 0 50
switch 1 3200 501 1 0
value 1 3390 501 50
mark 0 8900 88
switch 0 9000 88 1 1000
value 0 9140 88 8000
END
! grep -q 'nothing was recorded' out || wrong "a gap in a switch: $(cat out)"

# --- the window begins in the operation: what was before is not recorded
explains 'a window that begins late' '^no cause: most of the operation is not seen' \
	'^ .* 2.000 ms  blocked until holder-77 woke it' <<END
op 1000 9000
begin 6000
mark 1 6000 501
switch 2 7990 0 0 77
wakes 2 8000 77 0
switch 0 8010 0 0 1000
mark 0 9000 1000
END

# --- an operation that has not ended: the CPU that it has, or waits for, has no event for long
explains 'computing without events' '^cause: computing, 100 % of the delay' <<END
op 1000 9000
overdue
switch 0 900 0 0 1000
mark 0 1000 1000
switch 1 9100 0 0 501
mark 0 9500 1000
END
explains 'waiting without events' '^cause: waiting for a CPU: hog-88, 100 % of the delay' <<END
op 1000 9000
overdue
switch 0 900 1000 1 88
wakes 2 1000 77 0
switch 1 9100 0 0 501
mark 0 9500 88
END
# Nothing says that the CPU was idle
explains 'waiting for an unknown CPU' '^no cause: ' <<END
op 1000 9000
overdue
wakes 2 1000 77 0
switch 1 9100 0 0 501
END
! grep -q 'late wake-up' out || wrong "an unknown CPU is idle: $(cat out)"

# --- a request that has not ended is in the device, or waits to be
explains 'a request in the device' '^cause: device 254:0, 99 % of the delay' <<END
op 1000 9000
overdue
sector 64
bio 0 500 501 8
issue 0 600 501 8
bio 0 1000 1000 64
issue 0 1200 1000 64
complete 1 2000 0 8
mark 0 9500 1000
END
explains 'a request that is not issued' '^cause: queue of device 254:0, 100 % of the delay' \
	'^ .* queue of device 254:0.*; longest 8.000 ms at .0 ns: 1 other request was issued meanwhile, by task' <<END
op 1000 9000
overdue
sector 64
bio 0 500 501 8
bio 0 1000 1000 64
issue 0 1200 501 8
mark 0 9500 1000
END

# A system call that has not ended waits for its first request that has not
explains 'a call that waits for a request' '^cause: device 254:0, 9[0-9] % of the delay' <<END
op 1000 9000
overdue
switch 0 900 0 0 1000
bio 0 1010 1000 8
issue 0 1020 1000 8
complete 1 1100 0 8
bio 0 1200 1000 64
issue 0 1300 1000 64
bio 0 1310 1000 72
issue 0 1320 1000 72
switch 0 1400 1000 2 0
complete 1 2000 0 72
switch 1 9400 0 0 501
mark 1 9500 501
END
explains 'a call that waits for the queue' '^cause: queue of device 254:0, 9[0-9] % of the delay' <<END
op 1000 9000
overdue
switch 0 900 0 0 1000
bio 0 1200 1000 64
switch 0 1400 1000 2 0
mark 1 9500 501
END
# A request from before the call is not what it waits for
explains 'a request of an earlier call' '^ .* blocked, its waker is not recorded' <<END
op 1000 9000
overdue
switch 0 800 0 0 1000
bio 0 900 1000 64
issue 0 950 1000 64
switch 0 1400 1000 1 0
mark 1 9500 501
END
! grep -q 'device 254' out || wrong "a request of an earlier call: $(cat out)"

# --- the end of an interrupt is not recorded, since a gap follows
explains 'an interrupt before a gap' '^cause: computing, 100 % of the delay' <<END
op 1100 9000
switch 0 50 0 0 501
irq 0 100 501
mark 0 1000 1000
mark 0 9000 1000
END
# PREEMPT_RT: the thread in whose context a softirq is loses the CPU
explains 'a softirq that is preempted' '^cause: waiting for a CPU: hog-88, 9[0-9] % of the delay' <<END
op 1000 9000
switch 0 900 0 0 1000
softirq 0 1100 1000
switch 0 1200 1000 0 88
switch 0 8900 88 1 1000
softirq_end 0 8950 1000
mark 0 9000 1000
END

# --- the thread can have run in a gap of another CPU, even if that ends later
for end in 7900 8500 9500; do
	explains "a gap until $end" '^no cause: most of the operation is not seen' <<END
op 1000 9000
switch 0 900 0 0 1000
switch 0 1500 1000 1 0
mark 1 2000 501
switch 2 7990 0 0 77
wakes 2 8000 77 0
switch 0 8100 0 0 1000
mark 0 9000 1000
loss 1 $end
mark 1 $end 501
END
	explains "a gap until $end, woken before" '^no cause: most of the operation is not seen' <<END
op 1000 9000
switch 0 900 1000 1 88
switch 2 990 0 0 77
wakes 2 1000 77 0
mark 1 2000 501
switch 0 8100 88 1 1000
mark 0 9000 1000
loss 1 $end
mark 1 $end 501
END
done

# Events were dropped, but not necessarily of the CPU that has none
explains 'a quiet CPU' '^cause: blocked until holder-77 woke it, 8[0-9] % of the delay' \
	'^doubt: events are lost at' <<END
op 1000 9000
dropped 5
switch 0 900 0 0 1000
mark 1 950 501
switch 0 1500 1000 1 0
switch 2 7990 0 0 77
wakes 2 8000 77 0
switch 0 8100 0 0 1000
mark 0 9000 1000
END

# --- an alarm of a rule can be of a value that is not above the centre line
explains 'no delay' '^no cause: it took no longer than usual' <<END
op 1000 9000
center 9000
limit 20000
switch 0 100 0 0 1000
value 0 200 1000 50
value 0 300 1000 50
value 0 400 1000 50
switch 0 1000 1000 1 88
switch 2 8880 0 0 77
wakes 2 8900 77 0
switch 0 8910 88 1 1000
mark 0 9000 1000
END

# --- a fixed limit says nothing about how much values vary, but the values do
fixed() {
	cat <<END
op 1000 22000
center 0
limit 20000
judged 1000
values 25 $1
values 50 $2
switch 0 900 0 0 1000
switch 0 1010 1000 1 0
switch 2 21980 0 0 77
wakes 2 21990 77 0
switch 0 21995 0 0 1000
mark 0 22000 1000
END
}
explains 'a fixed limit' '^cause: blocked until holder-77 woke it, 100 % of the delay' < <(fixed 900 1100)
explains 'a fixed limit near the values' '^no cause: values as large as this one come by chance' < <(fixed 3000 19000)
exit "$failed"
