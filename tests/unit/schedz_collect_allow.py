# SPDX-License-Identifier: GPL-2.0
"""usage: schedz_collect_allow.py PORT SCALE

test_schedz_cli.sh: the collector answers 127.0.0.2, which it allows, and not 127.0.0.1;
then it gets 4 datagrams of nonsense.
"""
import socket, sys, time
port, scale = int(sys.argv[1]), int(sys.argv[2])
def send(source):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((source, 0))
    s.connect(("127.0.0.1", port))
    s.settimeout(0.2)
    for i in range(50 * scale):
        try:
            # A heartbeat of an unknown session is answered
            s.send(b"TC\1\5" + bytes(8) + bytes(8))
            return s.recv(1000)
        except (ConnectionRefusedError, TimeoutError):
            time.sleep(0.1 if source == "127.0.0.2" else 0)
            if source != "127.0.0.2" and i == 2:
                return None
answer = send("127.0.0.2")
assert answer == b"TC\1\6" + bytes(16), answer
assert send("127.0.0.1") is None
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.2", 0))
for junk in (b"", b"x" * 60000, b"NT\1\5" + bytes(16), b"TC\2\5" + bytes(16)):
    s.sendto(junk, ("127.0.0.1", port))
