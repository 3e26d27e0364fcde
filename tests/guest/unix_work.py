# SPDX-License-Identifier: GPL-2.0
"""Make requests on Unix stream sockets, with a log of each call's bytes in calls.log."""
import os, random, socket, struct, threading

from processes import until

SO_COOKIE = 57
log, lock = open("calls.log", "w"), threading.Lock()
random.seed(1)

class Counted:
    """A socket that counts its bytes, and logs them once tell is set"""
    tell = False

    def __init__(self, s):
        self.s, self.sent, self.got = s, 0, 0
        self.cookie, = struct.unpack("Q", s.getsockopt(socket.SOL_SOCKET, SO_COOKIE, 8))

    def note(self, way, begin, end):
        if Counted.tell:
            with lock:
                print(self.cookie, way, begin, end, file=log)

    def send(self, n):
        while n:
            part = random.randint(1, n)
            done = self.s.sendmsg([b"x" * part]) if part % 2 else self.s.send(b"x" * part)
            self.note("sent", self.sent, self.sent + done)
            self.sent += done
            n -= done

    def receive(self, n):
        while n:
            part = random.randint(1, n)
            if part % 5 == 0:
                peeked = len(self.s.recv(part, socket.MSG_PEEK))
                self.note("peeked", self.got, self.got + peeked)
            done = len(self.s.recv(part) if part % 2 else os.read(self.s.fileno(), part))
            assert done
            self.note("got", self.got, self.got + done)
            self.got += done
            n -= done

def serve(c, requests):
    for i in range(requests):
        head = c.s.recv(8, socket.MSG_WAITALL)
        c.note("got", c.got, c.got + 8)
        c.got += 8
        asks, answers = struct.unpack("II", head)
        c.receive(asks)
        c.send(answers)

def ask(c):
    asks, answers = random.randint(1, 5000), random.randint(1, 150000)
    c.s.send(struct.pack("II", asks, answers))
    c.note("sent", c.sent, c.sent + 8)
    c.sent += 8
    c.send(asks)
    c.receive(answers)

listener = socket.socket(socket.AF_UNIX)
listener.bind("asked.socket")
listener.listen()
clients, servers = [], []
for i in range(3):
    s = socket.socket(socket.AF_UNIX)
    s.connect("asked.socket")
    clients.append(Counted(s))
    servers.append(Counted(listener.accept()[0]))
pair = [Counted(s) for s in socket.socketpair()]

def both(requests):
    threads = [threading.Thread(target=serve, args=(s, requests)) for s in servers[:2]]
    for t in threads:
        t.start()
    for i in range(requests):
        for c in clients[:2]:
            ask(c)
    for t in threads:
        t.join()

# No call is in flight when the recording begins
both(5)
# These are read later
clients[2].send(3000)
pair[0].send(1000)
pair[1].send(2000)
open("begun", "w").close()
until(lambda: os.path.exists("go"), "the recording begins")
Counted.tell = True
servers[2].receive(2500)
clients[2].send(100)
servers[2].receive(600)
pair[1].receive(1000)
pair[0].receive(1999)
pair[1].send(50)
pair[0].receive(51)
both(12)
log.close()
open("over", "w").close()
