#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
# Disks, networks and the counting clock.
. "$TRACERIG_TOP/tests/house/lib.sh"

# Disks come in order, keep what is written when asked to, and are as slow as
# asked: 60 reads at 20 a second take 2.5 s even with the bucket's first tenth.
expect 0 "$vm" --disk 8M,iops=20,sched=bfq --disk 16M,file="$PWD/kept" --timeout 90 -- bash -c '
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
# The name is ours alone: other tests may run at the same time.
net=test$$
"$vm" --net $net,ip=1 --timeout 90 -- python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 7777))
data, peer = s.recvfrom(100)
print(data.decode(), peer[0].split(".")[3])' >server.out 2>server.err &
server=$!
expect 0 "$vm" --net $net,ip=2 --timeout 90 -- bash -c '
	peer=$(ip -4 -o address show eth0 | sed "s/.*inet \([0-9.]*\)\.2\/.*/\1.1/")
	for try in $(seq 60); do
		ping -c 1 -W 1 "$peer" >/dev/null 2>&1 && break
	done
	echo -n "hello from" >/dev/udp/$peer/7777'
wait $server || { cat server.err; die "the receiving guest failed"; }
same "hello from 2" "$(cat server.out)" "what the other guest received"

expect 125 bash -c "exec 9>/dev/null
	mkdir -p \"\${TMPDIR:-/tmp}/tracerig-net-\$(id -u)\"
	flock \"\${TMPDIR:-/tmp}/tracerig-net-\$(id -u)/$net.3\" '$vm' --net $net,ip=3 -- true"
has err 'another vm has this address'

# The host, by way of its loopback interface.
python3 -c '
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
print(s.getsockname()[1], flush=True)
print(s.accept()[0].recv(100).decode())' >host.out &
host=$!
until_true 10 test -s host.out
expect 0 "$vm" --net host --timeout 90 -- bash -c "echo -n hello >/dev/tcp/10.0.2.2/$(head -n 1 host.out)"
wait $host
same hello "$(tail -n 1 host.out)" "what the host received"

# Under --icount the same work takes the same time, to a fraction of a percent.
expect 0 "$vm" --icount --timeout 90 -- python3 -c '
import time
def work():
    start = time.perf_counter_ns()
    for i in range(200000):
        pass
    return time.perf_counter_ns() - start
work()
a, b = work(), work()
print(a, b)
assert abs(a - b) < a / 50, "not repeatable"'
