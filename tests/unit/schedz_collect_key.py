# SPDX-License-Identifier: GPL-2.0
"""usage: schedz_collect_key.py PORT SCALE

test_schedz_cli.sh: a collector with a key answers only senders that have the key.
"""
import socket, struct, sys

M = (1 << 64) - 1
def siphash(key, data):
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
         k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]
    def rot(x, b):
        return (x << b | x >> (64 - b)) & M
    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & M; v[1] = rot(v[1], 13) ^ v[0]; v[0] = rot(v[0], 32)
            v[2] = (v[2] + v[3]) & M; v[3] = rot(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & M; v[3] = rot(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & M; v[1] = rot(v[1], 17) ^ v[2]; v[2] = rot(v[2], 32)
    data += bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for i in range(0, len(data), 8):
        m, = struct.unpack_from("<Q", data, i)
        v[3] ^= m
        rounds(2)
        v[0] ^= m
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]

key = bytes.fromhex("0123456789abcdef0123456789abcdef")
assert siphash(bytes(range(16)), bytes(range(15))) == 0xa129ca6149be45e5
beat = b"TC\x81\5" + bytes(8) + bytes(8)
def sealed(number, echo, tag=0):
    data = beat + struct.pack("<QQ", number, echo)
    return data + struct.pack("<Q", siphash(key, data) ^ tag)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("127.0.0.1", int(sys.argv[1])))
s.settimeout(0.2)
def ask(datagram, times):
    for _ in range(times):
        try:
            s.send(datagram)
            answer = s.recv(1000)
            assert len(answer) <= len(datagram)
            number, echo, tag = struct.unpack("<QQQ", answer[20:])
            assert tag == siphash(key, answer[:-8])
            return answer[:20], number, echo
        except (ConnectionRefusedError, TimeoutError):
            pass
scale = int(sys.argv[2])
head, number, echo = ask(sealed(5, 0), 250 * scale)
assert head == b"TC\x81\6" + bytes(16) and echo == 5, (head, echo)
# Without a seal, with another key, repeated, and with a number that it never sent
assert ask(b"TC\1\5" + bytes(16), 3) is None
assert ask(sealed(6, number, 1), 3) is None
head, again, echo = ask(sealed(7, number), 250 * scale)
assert again > number and echo == 7
assert ask(sealed(7, number), 3) is None
_, last, _ = ask(sealed(8, again + 1000), 250 * scale)
assert last > again
