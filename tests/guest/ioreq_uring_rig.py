# SPDX-License-Identifier: GPL-2.0
"""usage: ioreq_uring_rig.py MODE CLIENTS EACH

Run CLIENTS, a proxy by io_uring and a server; each client makes EACH requests.
"""
import os, random, socket, struct, subprocess, sys, threading, time

from processes import become, exactly

mode, clients, each = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

def serve(s, rng):
    while head := exactly(s.recv, 4):
        rest = exactly(s.recv, struct.unpack("<I", head)[0])
        time.sleep(rng.random() / 50)
        s.sendall(struct.pack("<I", len(rest)) + rest[::-1])

def server(listener):
    for i in range(clients):
        threading.Thread(target=serve, args=(listener.accept()[0], random.Random(i))).start()

def ask(port, rng):
    with socket.create_connection(("127.0.0.1", port)) as s:
        for i in range(each):
            rest = rng.randbytes(rng.randint(1, 3000))
            s.sendall(struct.pack("<I", len(rest)) + rest)
            length, = struct.unpack("<I", exactly(s.recv, 4))
            # A request that is passed on twice is the same both times
            assert exactly(s.recv, length) == rest[::-1], "another answer"

def ask_all(port):
    for i in range(clients):
        threading.Thread(target=ask, args=(port, random.Random(100 + i))).start()

listener = socket.create_server(("127.0.0.1", 0), backlog=64)
pids = [become("server", server, listener)]
with open("truth", "w") as truth:
    proxy = subprocess.Popen(["./uringproxy", mode, str(listener.getsockname()[1]), str(clients)],
                             stdout=truth, stderr=subprocess.PIPE)
pids.append(become("client", ask_all, int(proxy.stderr.readline())))
listener.close()
status = [os.waitpid(pids[1], 0)[1], proxy.wait(), os.waitpid(pids[0], 0)[1]]
assert status == [0, 0, 0], (status, proxy.stderr.read())
