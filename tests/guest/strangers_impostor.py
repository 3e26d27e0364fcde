# SPDX-License-Identifier: GPL-2.0
"""Acknowledge all possible numbers, from the collector's address but without its key."""
import socket
import struct
import time

s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.8.1.2", 6676))
kinds = set()
sent = 0
end = time.monotonic() + 3
while time.monotonic() < end:
    data, rig = s.recvfrom(2048)
    kinds.add(data[3])
    ack = data[:2] + b"\x01\x06" + data[4:12] + struct.pack("<IHH", 1, 2, 0)
    for cpu in range(2):
        ack += struct.pack("<HHQ", cpu, 0, 1)
    s.sendto(ack, rig)
    # With a seal, but by another key
    s.sendto(ack[:2] + b"\x81" + ack[3:] + struct.pack("<QQQ", 1, 1, 1), rig)
    sent += 2
print(sent, *kinds)
