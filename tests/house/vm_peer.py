# SPDX-License-Identifier: GPL-2.0
"""usage: vm_peer.py NUMBER ADDRESS SCALE

In a guest: exchange a greeting with the guest at ADDRESS.
"""
import socket, sys
me, peer, scale = sys.argv[1], sys.argv[2], int(sys.argv[3])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 7777))
s.settimeout(1)
# Until the other guest is there: send to it, and stop at its response.
address = socket.gethostbyname(peer)
for i in range(80 * scale):
    s.sendto(b"hello from " + me.encode(), (address, 7777))
    try:
        data, source = s.recvfrom(100)
    except TimeoutError:
        continue
    assert source == (address, 7777), source
    s.sendto(b"hello from " + me.encode(), (address, 7777))
    print(data.decode())
    break
