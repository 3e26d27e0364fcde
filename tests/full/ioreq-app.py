# SPDX-License-Identifier: GPL-2.0
"""The program of uwsgi in tests/full/ioreq: a request asks redis, memcached and postgresql, and
some requests commit or write a file.  All that it sends has the request's id."""
import fcntl
import os
import socket
import subprocess

import psycopg2

STORES = "10.2.0.3"
SPOOL, FILES = os.environ["SPOOL"], os.environ["FILES"]


class Lines:
    """A connection to a store that responds in lines"""

    def __init__(self, port):
        self.socket = socket.create_connection((STORES, port))

    def ask(self, text, end):
        self.socket.sendall(text.encode())
        got = b""
        while not got.endswith(end):
            part = self.socket.recv(4096)
            if not part:
                raise EOFError
            got += part
        return got


class Stores:
    """The connections of a worker, made with its first request"""

    def __init__(self):
        self.redis = Lines(6379)
        self.memcached = Lines(11211)
        self.postgres = psycopg2.connect(host=STORES, user="postgres", dbname="postgres")
        self.postgres.autocommit = True


stores = None


def query(text):
    with stores.postgres.cursor() as cursor:
        cursor.execute(text)
        return cursor.fetchall() if cursor.description else None


def in_stores(name, number):
    """What each request asks"""
    length = len(name)
    stores.redis.ask(f"*3\r\n$3\r\nSET\r\n${length}\r\n{name}\r\n${length}\r\n{name}\r\n", b"\r\n")
    stores.memcached.ask(f"set {name} 0 0 {length}\r\n{name}\r\n", b"\r\n")
    query(f"/* {name} */ select '{name}', v from l where n = {number % 100}")
    stores.memcached.ask(f"get {name}\r\n", b"END\r\n")
    stores.redis.ask(f"*2\r\n$3\r\nGET\r\n${length}\r\n{name}\r\n", name.encode() + b"\r\n")


def insert(name, number):
    query(f"/* {name} */ insert into t values ('{name}', {number})")


def mixed(name, number):
    """Some requests commit, some write a file of their own"""
    if number % 4 == 0:
        insert(name, number)
    if number % 5 == 0:
        with open(f"{SPOOL}/{name}", "w", encoding="ascii") as f:
            f.write(name * 10)


def journal(name, _):
    with open(f"{FILES}/journal", "a", encoding="ascii") as f:
        f.write(name + "\n")
        f.flush()
        os.fsync(f.fileno())


def read(_, number):
    """At scattered places, so that nothing is read ahead"""
    with open(f"{FILES}/big", "rb", buffering=0) as f:
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        for i in range(6):
            os.pread(f.fileno(), 1000, (number * 6 + i) * 7919 * 512 % (8 << 20))


def reread(*_):
    """Repeatedly look for the same names in the same file"""
    for _ in range(40):
        with open(f"{FILES}/settings", "rb", buffering=0) as f:
            f.read(1 << 20)


def locked(*_):
    with open(f"{FILES}/settings", "rb") as f:
        fcntl.flock(f, fcntl.LOCK_EX)


def helper(name, _):
    subprocess.run(["sh", "-c", f"sleep 0.2; echo {name}"], stdout=subprocess.PIPE, check=True)


def busy(name, _):
    """A script during which redis does nothing else"""
    script = "local n = 0 for i = 1, 400000 do n = n + i % 7 end return n"
    stores.redis.ask(f"*4\r\n$4\r\nEVAL\r\n${len(script)}\r\n{script}\r\n$1\r\n1\r\n"
                     f"${len(name)}\r\n{name}\r\n", b"\r\n")


def series(name, _):
    query(f"/* {name} */ select '{name}', sum(a % 7) from generate_series(1, 150000) a")


MORE = {"mixed": mixed, "commit": insert, "fsync": journal, "read": read, "reread": reread, "flock": locked,
        "helper": helper, "busy": busy, "series": series}


def application(env, start_response):
    global stores
    *_, kind, name = env["PATH_INFO"].split("/")
    number = int(name.strip("RZ"))
    stores = stores or Stores()
    in_stores(name, number)
    if kind in MORE:
        MORE[kind](name, number)
    body = (name + "\n").encode() * 40
    start_response("200 OK", [("X-Id", name), ("Content-Length", str(len(body)))])
    return [body]
