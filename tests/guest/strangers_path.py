# SPDX-License-Identifier: GPL-2.0
"""The path between rig and collector; on SIGUSR1 it sends again what it has recorded."""
import select
import signal
import socket

outer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
outer.bind(("10.8.1.2", 6676))
inner = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
inner.connect(("127.0.0.1", 6677))
to_collector, to_rig, rig = [], [], None
again = False


def repeat(*_):
    global again
    again = True


# The error of an earlier datagram may be reported here: no collector was listening
def give(data):
    while True:
        try:
            return inner.send(data)
        except ConnectionRefusedError:
            pass


def versions(data):
    yield data
    yield data[:-1] + bytes([data[-1] ^ 0x80])
    yield data[:2] + b"\x01" + data[3:-24]


signal.signal(signal.SIGUSR1, repeat)
while True:
    ready = select.select([outer, inner], [], [], 0.1)[0]
    if outer in ready:
        data, rig = outer.recvfrom(2048)
        to_collector.append(data)
        give(data)
    if inner in ready:
        try:
            to_rig.append(inner.recv(2048))
            outer.sendto(to_rig[-1], rig)
        except ConnectionRefusedError:
            pass
    if again:
        again = False
        old = list(to_collector)
        for data in old:
            for version in versions(data):
                give(version)
        # As much as the rig's socket has room for
        back = to_rig[:20] + to_rig[-20:]
        for data in back:
            for version in versions(data):
                outer.sendto(version, rig)
        # Datagrams without a number of the other side: heartbeats, which the rig answers
        early = [data for data in old if data[-16:-8] == bytes(8)]
        assert all(data[3] == 5 for data in early)
        print(len(old), len(early), len(back), flush=True)
