# SPDX-License-Identifier: GPL-2.0
"""A collector that acknowledges nothing and asks for the whole window 2000 times."""
import socket
import struct
import time

s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.8.1.2", 6676))
while True:
    data, rig = s.recvfrom(2048)
    if data[:2] == b"TC" and data[3] in (1, 7):  # not metadata or a heartbeat
        break
cpus = range(2)
ack = data[:3] + b"\x06" + data[4:12] + struct.pack("<IHH", 1, len(cpus), 0)
for cpu in cpus:
    ack += struct.pack("<HHQII", cpu, 1, 0, 0, 8192)
for _ in range(2000):
    s.sendto(ack, rig)
    time.sleep(0.001)
