#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: servers_load.py KIND PORT CONNECTIONS REQUESTS FIRST [SPAN]

Send REQUESTS on each of CONNECTIONS connections, one after the other, and wait for the responses.
Each has an id, R and digits and Z.  SPAN becomes the times, by CLOCK_MONOTONIC in ns, from
the first request to the last response.
"""
import http.client
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


ASK = {"http": Http, "http-close": HttpClose, "postgres": Postgres, "mqtt": Mqtt, "smtp": Smtp}
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
