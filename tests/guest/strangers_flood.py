# SPDX-License-Identifier: GPL-2.0
"""usage: strangers_flood.py ADDRESS SECONDS

Send datagrams to the rig's port as another host, and print their number.
"""
import socket
import sys
import time

s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((sys.argv[1], 6675))
end = time.monotonic() + float(sys.argv[2])
sent = 0
while time.monotonic() < end:
    for _ in range(100):
        try:
            s.send(b"TC\x01\x06" + b"j" * 60)
            sent += 1
        except ConnectionRefusedError:  # no port answers this host
            pass
    time.sleep(0.005)
print(sent)
