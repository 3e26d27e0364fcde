# SPDX-License-Identifier: GPL-2.0
"""Print the port at which this program listens, and what the first connection sends."""
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
print(s.getsockname()[1], flush=True)
print(s.accept()[0].recv(100).decode())
