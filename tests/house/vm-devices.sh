#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
# needs: vm, kernel
# Disks, networks and the counting clock.
. "$TRACERIG_TOP/tests/house/lib.sh"

# Disks have the given order, keep their contents when asked to, and are as slow as asked: 60
# reads at 20 per second take at least 2.5 s, with a first tenth of a second free.
expect 0 "$vm" --disk 8M,iops=20,sched=bfq --disk 16M,file="$PWD/kept" --timeout $((90 * scale)) -- bash -c '
	cat /sys/block/vd[ab]/size
	cat /sys/block/vda/queue/scheduler
	echo hello | dd of=/dev/vdb conv=fsync status=none
	read -r start _ </proc/uptime
	dd if=/dev/vda of=/dev/null bs=4k count=60 iflag=direct status=none
	read -r end _ </proc/uptime
	echo "$start $end" | awk "{ exit !(\$2 - \$1 >= 2.5) }" || echo "too fast: $start to $end"'
same "16384 32768" "$(sed -n '1,2p' out | paste -sd ' ')" "sizes of the disks"
has out '\[bfq\]'
! grep 'too fast' out || exit 1
same hello "$(head -c 5 kept)" "what the guest wrote to its disk"

# Two guests that name a network reach each other, by the addresses asked for.
# Only this test uses the name: other tests may run at the same time.
net=test$$
peer() { # NUMBER OTHER
	mkdir "peer$1"
	"$vm" --net "$net,ip=$1" --output "peer$1" --timeout $((90 * scale)) -- sh -c '
		net=$(ip -4 -o address show eth0 | sed "s/.*inet \(.*\)\.[0-9]*\/.*/\1/")
		python3 "$TRACERIG_TOP/tests/house/vm_peer.py" "$0" "$net.$1" "$2"' "$1" "$2" "$scale"
}
peer 1 2 >out1 2>err1 &
first=$!
peer 2 1 >out2 2>err2 || { cat err2; die "the second guest failed"; }
wait $first || { cat err1; die "the first guest failed"; }
same "hello from 2" "$(cat out1)" "what the first guest received"
same "hello from 1" "$(cat out2)" "what the second guest received"

expect 125 bash -c "exec 9>/dev/null
	mkdir -p \"\${TMPDIR:-/tmp}/tracerig-net-\$(id -u)\"
	flock \"\${TMPDIR:-/tmp}/tracerig-net-\$(id -u)/$net.3\" '$vm' --net $net,ip=3 -- true"
has err 'another vm has this address'

# The host, through its loopback interface.
python3 "$TRACERIG_TOP/tests/house/vm_listener.py" >host.out &
host=$!
until_true 10 test -s host.out
expect 0 "$vm" --net host --timeout $((90 * scale)) -- bash -c "echo -n hello >/dev/tcp/10.0.2.2/$(head -n 1 host.out)"
wait $host
same hello "$(tail -n 1 host.out)" "what the host received"

# Under --icount the same work takes the same time, to half a percent, by the median: Python's
# first rounds are shorter, and interrupts add to some.
expect 0 "$vm" --icount --timeout $((90 * scale)) -- python3 "$TRACERIG_TOP/tests/house/vm_icount.py"
