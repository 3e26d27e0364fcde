# SPDX-License-Identifier: GPL-2.0
"""Datagrams of all sizes between two sockets."""
import socket
a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
a.bind(("127.0.0.1", 0))
b.bind(("127.0.0.1", 0))
for i in range(1500):
    a.sendto(b"x" * (i * 37 % 1400), b.getsockname())
    b.recv(2000)
