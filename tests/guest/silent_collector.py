# SPDX-License-Identifier: GPL-2.0
"""usage: silent_collector.py ADDRESS

A collector that listens for ten seconds without an answer, then answers each heartbeat, and
acknowledges no record. It prints JSON: times of heartbeats, by the clock here, those that nothing
had answered first, and the time of the first answer.
"""
import json
import socket
import struct
import sys
import time

SILENT, ANSWERED = 10, 5
ACK, BEAT = 6, 5

s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 6676))
silent, answered, first, last = [], [], None, None
while not silent or time.monotonic() < silent[0] + SILENT or len(answered) < ANSWERED:
    data, rig = s.recvfrom(2048)
    now = time.monotonic()
    # What asks for an answer to metadata has no entries
    if data[:2] != b"TC" or data[3] & 7 != BEAT or not data[16]:
        continue
    if not silent or now < silent[0] + SILENT:
        silent.append(now)
        continue
    if first is None:
        first = now
    else:
        answered.append(now)
    s.sendto(data[:3] + bytes([ACK]) + data[4:12] + struct.pack("<IHH", 1, 0, 0), rig)
print(json.dumps({"silent": silent, "first": first, "answered": answered}))
