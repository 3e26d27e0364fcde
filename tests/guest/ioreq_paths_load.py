# SPDX-License-Identifier: GPL-2.0
"""Two servers and a client, each in a network namespace, with logs of their requests."""
import ctypes, os, socket, threading, time
libc = ctypes.CDLL(None, use_errno=True)

def become(name):
    with open(f"/run/netns/{name}") as f:
        assert libc.setns(f.fileno(), 0) == 0, ctypes.get_errno()
    open("/proc/self/comm", "w").write(name)
    return open(name + ".log", "w", buffering=1)

def lines(s):
    rest = b""
    while (got := s.recv(4096)):
        *whole, rest = (rest + got).split(b"\n")
        for line in whole:
            yield [int(x) for x in line.split()]

def ask(s, *numbers):
    s.sendall(b"%d %d\n" % numbers)
    rest = b""
    while not rest.endswith(b"\n"):
        rest += s.recv(4096)

def serve(address, handler, ready):
    server = socket.create_server(address)
    os.write(ready, b"x")
    while True:
        s, _ = server.accept()
        threading.Thread(target=handler, args=(s,), daemon=True).start()

def db(s):
    for number, delay in lines(s):
        if delay:
            with open("journal", "ab", buffering=0) as f:
                f.write(b"x" * 100)
            time.sleep(delay / 1000)
        s.sendall(b"y" * 3000 + b"\n")

def app(s):
    back = socket.create_connection(("10.2.0.3", 8081))
    for number, queries in lines(s):
        for i in range(queries):
            begin = time.monotonic_ns()
            # The sixth one's queries are slow
            ask(back, number, 300 if number == 5 else 0)
            log.write(f"query {number} {begin} {time.monotonic_ns()}\n")
        s.sendall(b"z" * 2000 + b"\n")

def client(first):
    s = socket.create_connection(("10.1.0.2", 8080))
    for number in range(first, 20, 2):
        begin = time.monotonic_ns()
        ask(s, number, number % 4)
        log.write(f"request {number} {begin} {time.monotonic_ns()}\n")

begun, ready = os.pipe()
children = []
for name, address, handler in ("db", ("10.2.0.3", 8081), db), ("app", ("10.1.0.2", 8080), app):
    children.append(os.fork())
    if not children[-1]:
        log = become(name)
        serve(address, handler, ready)
    assert os.read(begun, 1) == b"x"
log = become("web")
threads = [threading.Thread(target=client, args=(i,)) for i in range(2)]
for t in threads: t.start()
for t in threads: t.join()
for child in children: os.kill(child, 9)
