#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The programs of tests/full/three-vms, and its truth.

usage: three_vms.py clock FILE | samples ADDRESS PORT FILE | server ADDRESS FILE |
                    client ADDRESS FILE | check DIRECTORY

clock answers requests for the time of this machine, on the port that is in FILE; samples asks
for it, and FILE gets the times of question and answer by this machine's clock, and the answer,
ns.  server waits for a lock in each sixth request, and client makes the requests; their FILEs
have the begin and end of each.  check compares ioreq's results with these.
"""
import fcntl
import http.client
import http.server
import json
import os
import socket
import sys
import threading
import time

REQUESTS = 60
SLOW = 6
HOLD = 1
# The maximum drift of clocks that ioreq assumes, ppm
DRIFT = 500


def name_thread(name):
    with open("/proc/self/comm", "w", encoding="utf-8") as f:
        f.write(name)


def clock(path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        with open(path + ".new", "w", encoding="utf-8") as f:
            f.write(str(server.getsockname()[1]))
        os.rename(path + ".new", path)
        while True:
            s, _ = server.accept()
            with s:
                while s.recv(1):
                    s.sendall(b"%d\n" % time.monotonic_ns())


def samples(address, port, path):
    with socket.create_connection((address, int(port))) as s, open(path, "a", encoding="utf-8") as f:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(200):
            asked = time.monotonic_ns()
            s.sendall(b"?")
            answer = b""
            while not answer.endswith(b"\n"):
                answer += s.recv(64)
            f.write(f"{asked} {time.monotonic_ns()} {int(answer)}\n")


def serve(address, path):
    log = open(path, "w", buffering=1, encoding="utf-8")

    def hold(held):
        with open("journal", "ab") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            held.set()
            time.sleep(HOLD)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_GET(self):
            begin = time.monotonic_ns()
            number = int(self.path[1:])
            if number % SLOW == SLOW - 1:
                held = threading.Event()
                holder = threading.Thread(target=hold, args=(held,))
                holder.start()
                held.wait()
            with open("journal", "ab") as journal:
                fcntl.flock(journal, fcntl.LOCK_EX)
                journal.write(b"%d\n" % number)
            self.send_response(200)
            self.send_header("Content-Length", "2000")
            self.end_headers()
            self.wfile.write(b"x" * 2000)
            log.write(f"{number} {begin} {time.monotonic_ns()}\n")

        def log_message(self, *args):
            pass

    name_thread("server")
    http.server.HTTPServer((address, 8080), Handler).serve_forever()


def client(address, path):
    name_thread("client")
    connection = http.client.HTTPConnection(address, 8000)
    with open(path, "w", encoding="utf-8") as log:
        for number in range(REQUESTS):
            begin = time.monotonic_ns()
            connection.request("GET", f"/{number}")
            assert len(connection.getresponse().read()) == 2000
            log.write(f"{number} {begin} {time.monotonic_ns()}\n")


def numbers(path):
    with open(path, encoding="utf-8") as f:
        return [tuple(map(int, line.split())) for line in f]


def by_host(of, t):
    """Return: the minimum and maximum of the host's clock when a machine's clock showed t, by its
    samples"""
    low = max(h - t1 - abs(t - t1) * DRIFT // 1000000 for _, t1, h in of)
    high = min(h - t0 + abs(t - t0) * DRIFT // 1000000 for t0, _, h in of)
    return t + low, t + high


def check_clock(name, clock_of, samples_of):
    """Return: lower and upper bound of the error of ioreq's offset, ns"""
    at, web = clock_of["at"], clock_of["at"] - clock_of["offset"]
    low, high = by_host(samples_of[name], at)
    web_low, web_high = by_host(samples_of["web"], web)
    assert low <= high and web_low <= web_high, "the samples contradict each other"
    print(f"# {name}: {clock_of['offset']} ns ahead, by {clock_of['bound']} ns at most; by the host's clock "
          f"from {web_low - high + clock_of['offset']} to {web_high - low + clock_of['offset']} ns")
    return web_low - high, web_high - low


def check(good, what):
    print(f"{'ok' if good else 'not ok'} {what}")


def judge(directory):
    with open(directory + "/json", encoding="utf-8") as f:
        said = json.load(f)
    asked, served = numbers(directory + "/web.truth"), numbers(directory + "/db.truth")
    assert len(asked) == len(served) == REQUESTS
    paths = [(p["depth"], p["client"], p["server"], p["requests"]) for p in said["paths"]]
    check(paths == [(0, "client", "haproxy", REQUESTS), (1, "haproxy", "server", REQUESTS)],
          f"all requests and what they were passed on to: {paths}")
    links = said["links"]
    check(links["clients"] == links["followed"] == REQUESTS and not links["ambiguous"] and not links["outlived"],
          f"none of them is unclear: {links}")
    first, slow = said["causes"][0], REQUESTS // SLOW
    check((first["host"], first["process"], first["step"]) == ("db", "server", "files") and
          first["object"].endswith("/journal") and first["time"] >= slow * HOLD * 0.9e9,
          f"the lock is what is to be fixed first: {first}")
    clocks = {h["name"]: h["clock"] for h in said["hosts"]}
    samples_of = {name: numbers(f"{directory}/{name}.clock") for name in clocks}
    shortest = min(end - begin for _, begin, end in asked)
    for name in "app", "db":
        of = clocks[name]
        if of["state"] != "aligned":
            check(False, f"the clock of {name} is {of['state']}")
            continue
        low, high = check_clock(name, of, samples_of)
        check(low <= of["bound"] and high >= -of["bound"] and abs(of["offset"]) > 10 * max(-low, high),
              f"{name}'s clock is where the host saw it")
        check(of["bound"] <= (shortest + 10) // 2, f"the bound of {name}'s clock, {of['bound']} ns, is less than half of what "
              f"the shortest request took, {shortest} ns")


def main():
    what, *words = sys.argv[1:]
    {"clock": clock, "samples": samples, "server": serve, "client": client, "check": judge}[what](*words)


main()
