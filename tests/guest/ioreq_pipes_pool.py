# SPDX-License-Identifier: GPL-2.0
"""Clients, front ends that pass their jobs through pipes to a pool of workers, and the workers."""
import os, random, socket, struct

from processes import become, exactly

REQUESTS, FRONTS, WORKERS = 60, 3, 2
random.seed(1)

# A job is the front end's number, the length of the rest, and the rest
def work(jobs, answers):
    while head := exactly(lambda n: os.read(jobs, n), 8):
        front, length = struct.unpack("<II", head)
        job = exactly(lambda n: os.read(jobs, min(n, 300)), length)
        name = job.rstrip(b".").decode()
        fd = os.open(f"data.{name}", os.O_RDONLY)
        data = os.pread(fd, random.randint(1, 3000), 0)
        os.close(fd)
        os.write(answers[front], struct.pack("<I", len(data)) + data)

def front(number, listener, jobs, answer):
    for i in range(2):
        s = listener.accept()[0]
        with s:
            while ask := s.recv(100):
                # Less than PIPE_BUF: no other front end's bytes are within the job
                job = ask + b"." * random.randint(1, 3000)
                os.write(random.choice(jobs), struct.pack("<II", number, len(job)) + job)
                length, = struct.unpack("<I", exactly(lambda n: os.read(answer, n), 4))
                data = exactly(lambda n: os.read(answer, min(n, 700)), length)
                s.sendall(struct.pack("<I", len(data)) + data)

def ask(name, addresses):
    for address in addresses:
        with socket.create_connection(address) as s:
            for i in range(REQUESTS):
                s.sendall(name.encode())
                length, = struct.unpack("<I", exactly(s.recv, 4))
                exactly(s.recv, length)

clients = ["red", "blue"]
for name in clients:
    with open(f"data.{name}", "wb") as f:
        f.write(b"d" * 3000)
listeners = [socket.create_server(("127.0.0.1", 0)) for i in range(FRONTS)]
jobs = [os.pipe() for i in range(WORKERS)]
answers = [os.pipe() for i in range(FRONTS)]
workers = [become("worker", work, r, [w for r, w in answers]) for r, w in jobs]
fronts = [become("front", front, i, listeners[i], [w for r, w in jobs], answers[i][0]) for i in range(FRONTS)]
addresses = [l.getsockname() for l in listeners]
asking = [become("red", ask, "red", addresses), become("blue", ask, "blue", addresses[::-1])]
for pid in asking + fronts:
    assert os.waitpid(pid, 0)[1] == 0
for pid in workers:
    os.kill(pid, 9)
