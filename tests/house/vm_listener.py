# SPDX-License-Identifier: GPL-2.0
"""Print this program's port, and the data of the first connection."""
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
print(s.getsockname()[1], flush=True)
print(s.accept()[0].recv(100).decode())
