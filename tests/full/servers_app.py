# SPDX-License-Identifier: GPL-2.0
"""The program of uwsgi and gunicorn in tests/full/servers: a request asks the STORES, and writes
a file.  All that it sends has the request's id, which is the last part of the path."""
import os
import socket
import threading

STORES, SPOOL = os.environ["STORES"].split(","), os.environ["SPOOL"]
mine = threading.local()


class Lines:
    """A connection of a thread to a store that responds in lines"""

    def __init__(self, where):
        if isinstance(where, str):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(where)
        else:
            self.socket = socket.create_connection(("127.0.0.1", where))

    def ask(self, text, end):
        self.socket.sendall(text.encode())
        got = b""
        while not got.endswith(end):
            part = self.socket.recv(4096)
            if not part:
                raise EOFError
            got += part
        return got


def ask_redis(connection, name):
    length = len(name)
    connection.ask(f"*3\r\n$3\r\nSET\r\n${length}\r\n{name}\r\n${length}\r\n{name}\r\n", b"\r\n")
    connection.ask(f"*2\r\n$3\r\nGET\r\n${length}\r\n{name}\r\n", name.encode() + b"\r\n")


def ask_memcached(connection, name):
    connection.ask(f"set {name} 0 0 {len(name)}\r\n{name}\r\n", b"\r\n")
    connection.ask(f"get {name}\r\n", b"END\r\n")


ASK = {"redis": (6379, ask_redis), "redis-socket": ("redis.sock", ask_redis), "memcached": (11211, ask_memcached),
       "memcached-socket": ("memcached.sock", ask_memcached)}


def application(env, start_response):
    name = env["PATH_INFO"].rsplit("/", 1)[1]
    if not hasattr(mine, "stores"):
        mine.stores = [(ASK[s][1], Lines(ASK[s][0])) for s in STORES]
    for ask, connection in mine.stores:
        ask(connection, name)
    with open(f"{SPOOL}/{name}", "w", encoding="ascii") as f:
        f.write(name * 10)
    body = (name + "\n").encode() * 40
    start_response("200 OK", [("X-Id", name), ("Content-Length", str(len(body)))])
    return [body]
