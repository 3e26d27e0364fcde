#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A host to which a target sends its metadata; see tracecast-metadata.sh.

usage: tracecast_metadata.py ENABLED
"""
import os
import socket
import struct
import sys
import time

META, BEAT, ACK = 4, 5, 6

sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
sock.bind(("127.0.0.1", 6676))


class Host:
    def __init__(self):
        self.total = self.generation = 0
        self.have = set()
        self.pieces = 0
        self.source = self.head = None

    def acknowledge(self, generation):
        if self.source:
            ack = self.head[:3] + bytes([ACK]) + self.head[4:] + struct.pack("<IHH", generation, 0, 0)
            sock.sendto(ack, self.source)

    def listen(self, seconds, answer=None, often=None, until=lambda: False):
        """Count datagrams with metadata; answer heartbeats, or always, with what answer() says."""
        begin = time.monotonic()
        self.pieces = 0
        sock.settimeout(often or .05)
        while time.monotonic() < begin + seconds and not until():
            if often:
                self.acknowledge(answer())
            try:
                data, self.source = sock.recvfrom(65536)
            except socket.timeout:
                continue
            self.head = data[:12]
            if data[3] == META:
                self.pieces += 1
                self.generation, self.total, offset = struct.unpack_from("<III", data, 12)
                self.have.add((offset, len(data) - 24))
            elif data[3] == BEAT and answer:
                self.acknowledge(answer())
        return time.monotonic() - begin

    def has_all(self):
        return self.total and sum(n for _, n in self.have) >= self.total


def check(what, number, least, most):
    print(f"{what}: {number:.6g}")
    if not least <= number <= most:
        sys.exit(f"{what}: {number} is not from {least} to {most}")


scale = int(os.environ.get("TRACERIG_TIMEOUT_SCALE", "1"))
host = Host()
with open(sys.argv[1], "w") as f:
    f.write("1")

# Windows of 10 after 0 and 2 seconds, the next one would be after 6
host.listen(5)
check("datagrams to a host that does not answer", host.pieces, 1, 20)
took = host.listen(60 * scale, answer=lambda: 0, until=host.has_all)
copy = len(host.have)
check("datagrams of the metadata", copy, 250, 1000)
check("seconds until they are here", took, 0, 5 * scale)
check("datagrams for that", host.pieces, copy - 20, 2 * copy)
host.listen(2, answer=lambda: host.generation)
check("datagrams to a host that has them", host.pieces, 0, copy)
# After .2, .4, .8, 1.6, 2 seconds
host.listen(5, answer=lambda: 0, often=.01)
check("datagrams to a host that never has them", host.pieces, 1, 7 * copy)
