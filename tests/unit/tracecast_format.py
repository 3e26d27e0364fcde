#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# Reads the output of gen_datagrams with a decoder made from Documentation/trace/tracecast.rst
# alone, and prints where it differs from the input.
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


class Bits:
    """Of QUICK: the first one is the lowest one of the first byte."""

    def __init__(self, data):
        self.number, self.left = little(data), 8 * len(data)

    def take(self, n):
        self.left -= n
        if self.left < 0:
            raise EOFError
        value = self.number & (1 << n) - 1
        self.number >>= n
        return value


def quick_hash(word, bits):
    return (word * 0x61c88647 & 0xffffffff) >> (32 - bits)


def quick_time(b):
    size = b.take(4)
    if size < 15:
        return b.take(4 + 2 * size)
    upper = b.take(32)
    return upper << 32 | b.take(32)


def quick_shape(b, event):
    if b.take(1):
        i = event["after shape"][event["shape"]]
    else:
        i = b.take(3)
        if i == 7:
            i = event["shapes"] % 7
            event["shapes"] += 1
            n = b.take(6)
            event["known shapes"][i] = n, b.take(n)
        event["after shape"][event["shape"]] = i
    event["shape"] = i
    return event["known shapes"][i]


def quick_word(b, state, before, like):
    at = quick_hash(before, 10)
    if b.take(1):
        kinds[4] += 1
        return state["guess"][at]
    kind = b.take(2)
    kinds[kind] += 1
    if kind == 0:
        word = state["known"][b.take(8)]
    elif kind == 1:
        word = like - 0x80 + b.take(8) & 0xffffffff
    else:
        word = like - 0x8000 + b.take(16) & 0xffffffff if kind == 2 else b.take(32)
        state["known"][quick_hash(word, 8)] = word
    state["guess"][at] = word
    return word


def quick_record(b, state, place):
    event = state["events"][place]
    n, mask = quick_shape(b, event)
    before = event["words"][1]
    for i in range(n):
        if mask >> i & 1:
            before = quick_word(b, state, before + i * 0x9e3779b1 & 0xffffffff, event["words"][i])
            event["words"][i] = before
    return b"".join(w.to_bytes(4, "little") for w in event["words"][:n])


def new_event():
    return {"words": [0] * 32, "shape": 0, "shapes": 0, "after shape": [0] * 7, "known shapes": [(0, 0)] * 7}


def decode_quick(data, time):
    got = []
    if not data:
        return got
    b, place, places = Bits(data), 0, 0
    state = {"events": [None] * 16, "guess": [0] * 1024, "known": [0] * 256}
    after = [0] * 16
    while True:
        symbol = after[place] if b.take(1) else b.take(5)
        if symbol == 19:
            return got
        if symbol == 18:
            b.take(32), b.take(128)
            continue
        if symbol == 17:
            time = time + quick_time(b) & M64
            n = b.take(17)
            got.append((time, bytes(b.take(8) for _ in range(n))))
            continue
        if symbol == 16:
            symbol, places = places % 16, places + 1
            state["events"][symbol] = new_event()
        after[place] = place = symbol
        time = time + quick_time(b) & M64
        got.append((time, quick_record(b, state, place)))


total, wides, kinds, quick = 0, [0, 0, 0], [0] * 5, 0
for number, line in enumerate(sys.stdin):
    hexed, base, kind, *put = line.rstrip("\n").split(" ")
    want = [(int(t), bytes.fromhex(b)) for t, b in (p.split(":") for p in put)]
    got = {"DATA": decode, "QUICK": decode_quick}[kind](bytes.fromhex(hexed), int(base))
    total += len(want)
    quick += len(want) if kind == "QUICK" else 0
    if got != want:
        i = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), len(got))
        sys.exit(f"datagram {number}: {len(got)} records, not {len(want)}; {i} differs")
if min(wides[1:]) < 20:
    sys.exit(f"only {wides[1]} and {wides[2]} wide numbers")
if min(kinds) < 20:
    sys.exit(f"words of QUICK: {kinds[0]} seen, {kinds[1]} near, {kinds[2]} far, {kinds[3]} any, {kinds[4]} guessed")
if quick < 1000 or total - quick < 1000:
    sys.exit(f"only {quick} and {total - quick} records")
