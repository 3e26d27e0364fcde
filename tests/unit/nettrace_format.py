#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# Reads what gen_datagrams writes with a decoder made from Documentation/trace/
# nettrace.rst alone, and says where it finds something else than was put in.
import sys

RATE = [43690, 26214, 18724, 14563, 11915, 10082, 8738, 7710,
        6898, 6241, 5698, 5242, 4854, 4519, 4228, 3971]
M64 = (1 << 64) - 1


class Code:
    def __init__(self, data):
        self.data, self.at = data, 0
        self.low, self.high, self.value = 0, 0xffffffff, 0
        self.models = {}
        for _ in range(4):
            self.value = self.value << 8 | self.byte()

    def byte(self):
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def divide(self, p):
        mid = self.low + ((self.high - self.low) >> 12) * p
        bit = self.value <= mid
        if bit:
            self.high = mid
        else:
            self.low = mid + 1
        while self.low >> 24 == self.high >> 24:
            self.low = self.low << 8 & 0xffffffff
            self.high = self.high << 8 & 0xffffffff | 0xff
            self.value = (self.value << 8 & 0xffffffff) | self.byte()
        return int(bit)

    def bit(self, *model):
        m = self.models.get(model, 0x8080)
        seen, p = m & 15, m & 0xfff0
        bit = self.divide(p >> 4)
        p += (0xfff0 - p) * RATE[seen] >> 16 if bit else -(p * RATE[seen] >> 16)
        self.models[model] = p & 0xfff0 | min(seen + 1, 15)
        return bit

    def tree(self, bits, *model):
        node = 1
        for _ in range(bits):
            node = node << 1 | self.bit(*model, node)
        return node - (1 << bits)

    def bits(self, n):
        value = 0
        for _ in range(n):
            value = value << 1 | self.divide(2048)
        return value


def signed(c, negative, size, width, top_bits):
    negative = c.bit(*negative)
    n = c.tree(width, *size)
    value = min(n, 1)
    if n > 1:
        below = n - 1
        top = min(below, 3)
        value = 1 << top | c.tree(top, top_bits, below)
        value = value << (below - top) | c.bits(below - top)
    return -value if negative else value


def delta(c, place):
    return signed(c, ("negative",), ("size", place), 7, "top")


def little(b):
    return int.from_bytes(b, "little")


def wide(c, state, place, time, r, old, at):
    if at < 8 or at % 8 or at + 8 > len(r):
        return False
    which = c.tree(2, "wide", place, at // 8)
    if which == 0:
        return False
    value = little(old[at:at + 8])
    if which == 1:
        value += little(r[at - 8:at]) - little(old[at - 8:at])
    else:
        value += time - state["time"][place] + \
            signed(c, ("wide negative", place), ("wide size", place), 4, "wide top")
    r[at:at + 8] = (value & M64).to_bytes(8, "little")
    state["wide"][which] += 1
    return True


def record(c, state, place, time):
    last = state["last"][place]
    n = len(last) if c.bit("same length", place) else c.bits(8)
    # Bytes that the last one of a place had beyond its end are still compared with
    old = state["bytes"][place]
    r = bytearray(n)
    at = 0
    while at < n:
        end = min(at + 4, n)
        like = state["pid"][:end - at] if at == 4 else old[at:end]
        if not c.bit("other", place, at // 4):
            r[at:end] = like
        elif wide(c, state, place, time, r, old, at):
            end = at + 8
        elif end - at == 4 and c.bit("seen", place, at // 4):
            back = c.tree(5, "back", (6 * place + at // 4) % 64)
            r[at:end] = state["seen"][-1 - back]
        else:
            for i in range(at, end):
                r[i] = c.tree(8, "byte", (24 * place + i) % 64) \
                    if c.bit("other byte", place, i) else like[i - at]
            if end - at == 4 and sum(a != b for a, b in zip(r[at:end], like)) > 1:
                state["seen"] = state["seen"][1:] + [bytes(r[at:end])]
        at = end
    state["time"][place] = time
    state["last"][place] = bytes(r)
    old[:n] = r
    if n >= 8:
        state["pid"] = bytes(r[4:8])
    return bytes(r)


def decode(data, time):
    got = []
    if not data:
        return got
    c, symbol, places = Code(data), 19, 0
    state = {"last": [b""] * 16, "bytes": [bytearray(128) for _ in range(16)],
             "seen": [bytes(4)] * 32, "pid": bytes(4), "time": [0] * 16, "wide": wides}
    while True:
        symbol = c.tree(5, "symbol", symbol)
        if symbol == 19:
            return got
        if symbol == 18:
            c.bits(32), c.bits(128)
            continue
        if symbol == 17:
            time = time + delta(c, 0) & M64
            n = c.bits(17)
            got.append((time, bytes(c.bits(8) for _ in range(n))))
            continue
        place = symbol
        if symbol == 16:
            place, places = places % 16, places + 1
            state["last"][place], state["bytes"][place] = b"", bytearray(128)
            state["time"][place] = 0
        time = time + delta(c, place) & M64
        got.append((time, record(c, state, place, time)))


total, wides = 0, [0, 0, 0]
for number, line in enumerate(sys.stdin):
    hexed, base, *put = line.rstrip("\n").split(" ")
    want = [(int(t), bytes.fromhex(b)) for t, b in (p.split(":") for p in put)]
    got = decode(bytes.fromhex(hexed), int(base))
    total += len(want)
    if got != want:
        i = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), len(got))
        sys.exit(f"datagram {number}: {len(got)} records, not {len(want)}; {i} differs")
if min(wides[1:]) < 20:
    sys.exit(f"only {wides[1]} and {wides[2]} wide numbers")
if total < 1000:
    sys.exit(f"only {total} records")
