#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: servers_load.py KIND PORT CONNECTIONS REQUESTS FIRST [SPAN]

Send REQUESTS on each of CONNECTIONS connections, one after the other, and wait for the responses.
Each has an id, R and digits and Z.  SPAN becomes the times, by CLOCK_MONOTONIC in ns, from
the first request to the last response.
"""
import collections
import http.client
import itertools
import queue
import socket
import struct
import sys
import threading
import time

import psycopg2

KIND, PORT = sys.argv[1], int(sys.argv[2])
CONNECTIONS, REQUESTS, FIRST = map(int, sys.argv[3:6])


class Http:
    """HTTP, on one connection"""
    def __init__(self):
        self.connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=120)
        self.connection.connect()

    def ask(self, name):
        self.connection.request("GET", "/app/" + name)
        response = self.connection.getresponse()
        body = response.read().decode()
        assert (response.status, response.headers["X-Id"], body) == (200, name, (name + "\n") * 40), (response.status, body)


class HttpClose:
    """HTTP, a connection for each request"""
    def ask(self, name):
        Http().ask(name)


class Http2:
    """HTTP/2 without TLS: all connections are streams of a single one"""
    DATA, HEADERS, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 4, 6, 8
    END_STREAM, ACK, END_HEADERS = 1, 1, 4
    stream = None

    def __init__(self):
        if Http2.stream:
            return
        Http2.stream = Stream()
        Http2.sending = threading.Lock()
        Http2.streams = itertools.count(1, 2)
        Http2.bodies = collections.defaultdict(bytes)
        Http2.ends = collections.defaultdict(queue.SimpleQueue)
        Http2.stream.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + self.frame(self.SETTINGS, 0, 0, b"") +
                                    self.frame(self.WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 30)))
        threading.Thread(target=self.receive, daemon=True).start()

    @staticmethod
    def frame(kind, flags, number, body):
        return struct.pack(">I", len(body))[1:] + bytes([kind, flags]) + struct.pack(">I", number) + body

    def receive(self):
        while True:
            head = self.stream.get(9)
            size, kind, flags, number = int.from_bytes(head[:3], "big"), head[3], head[4], int.from_bytes(head[5:], "big")
            body = self.stream.get(size)
            if kind in (self.SETTINGS, self.PING) and not flags & self.ACK:
                with self.sending:
                    self.stream.socket.sendall(self.frame(kind, self.ACK, 0, body if kind == self.PING else b""))
            elif kind == self.DATA:
                self.bodies[number] += body
            if kind in (self.DATA, self.HEADERS) and flags & self.END_STREAM:
                self.ends[number].put(True)

    def ask(self, name):
        # Without compression, so that the id is in the bytes
        path = b"/app/" + name.encode()
        block = b"\x82\x86\x04" + bytes([len(path)]) + path + b"\x01\x09localhost"
        with self.sending:
            number = next(self.streams)
            self.stream.socket.sendall(self.frame(self.HEADERS, self.END_STREAM | self.END_HEADERS, number, block))
        self.ends[number].get(timeout=120)
        assert self.bodies[number].decode() == (name + "\n") * 40, self.bodies[number]


class Postgres:
    """A query in a transaction of its own"""
    def __init__(self):
        self.connection = psycopg2.connect(host="127.0.0.1", port=PORT, user="postgres", dbname="postgres")
        self.connection.autocommit = True

    def ask(self, name):
        with self.connection.cursor() as cursor:
            cursor.execute(f"/* {name} */ select '{name}', count(*) from pg_class")
            assert cursor.fetchone()[0] == name


class Stream:
    """A connection for bytes"""
    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", PORT), timeout=120)

    def get(self, count):
        got = b""
        while len(got) < count:
            part = self.socket.recv(count - len(got))
            assert part, "the server has closed the connection"
            got += part
        return got


class Mqtt(Stream):
    """A message of quality of service 1, and its acknowledgement"""
    clients = 0

    def __init__(self):
        super().__init__()
        Mqtt.clients += 1
        name = f"client{Mqtt.clients}".encode()
        body = b"\0\4MQTT\4\2\0\0" + struct.pack(">H", len(name)) + name
        self.socket.sendall(bytes([0x10, len(body)]) + body)
        assert self.get(4) == b"\x20\2\0\0"

    def ask(self, name):
        topic = b"t/" + name.encode()
        body = struct.pack(">H", len(topic)) + topic + b"\0\1" + name.encode()
        self.socket.sendall(bytes([0x32, len(body)]) + body)
        assert self.get(4) == b"\x40\2\0\1"


class Smtp(Stream):
    """An address of a mail"""
    def __init__(self):
        super().__init__()
        self.answer(b"220")
        self.command("HELO localhost")

    def answer(self, code):
        got = b""
        while not got.endswith(b"\n"):
            got += self.get(1)
        assert got.startswith(code), got

    def command(self, text):
        self.socket.sendall(text.encode() + b"\r\n")
        self.answer(b"250")

    def ask(self, name):
        self.command("MAIL FROM:<sender@example.org>")
        self.command(f"RCPT TO:<{name}@example.org>")
        self.command("RSET")


ASK = {"http": Http, "http-close": HttpClose, "http2": Http2, "postgres": Postgres, "mqtt": Mqtt, "smtp": Smtp}
with open("/proc/self/comm", "w", encoding="ascii") as comm:
    comm.write("load")
lock = threading.Lock()
numbers = iter(range(FIRST, FIRST + REQUESTS))
wrong = []


def work(connection):
    """Send requests until none are left"""
    try:
        while not wrong:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            connection.ask(f"R{number}Z")
    except Exception as e:  # pylint: disable=broad-except
        wrong.append(repr(e))


connections = [ASK[KIND]() for _ in range(CONNECTIONS)]
begin = time.monotonic_ns()
threads = [threading.Thread(target=work, args=(c,)) for c in connections]
for t in threads:
    t.start()
for t in threads:
    t.join()
if wrong:
    sys.exit("\n".join(wrong))
if len(sys.argv) > 6 and sys.argv[6]:
    with open(sys.argv[6], "w", encoding="ascii") as f:
        print(begin, time.monotonic_ns(), file=f)
