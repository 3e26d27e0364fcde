# SPDX-License-Identifier: GPL-2.0
"""usage: stops_get.py SOCKET

Ask the nginx at SOCKET for pages, without end.
"""
import itertools, socket, sys
for page in itertools.cycle(["/", "/bash/", "/nothing", "/python3/", "/libc6/copyright"]):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(sys.argv[1])
        s.sendall(f"GET {page} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n".encode())
        while s.recv(65536):
            pass
