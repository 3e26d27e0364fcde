# SPDX-License-Identifier: GPL-2.0
"""usage: requests_served.py PORT OTHER-PORT FIFO

Two HTTP servers, and a client that sends requests to both all the time, over connections that
it keeps, until FIFO ends. For each line in FIFO, which is the word "slow" or "other", the
server at PORT, or OTHER-PORT, sleeps for 4 s before its next response.
Prints, after that response, which server it was, and how long the client waited for it, in ns.
"""
import http.client
import http.server
import os
import sys
import threading
import time

ports = {"slow": int(sys.argv[1]), "other": int(sys.argv[2])}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        if self.path == "/slow":
            time.sleep(4)
        body = b"x" * 100
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


if os.fork() == 0:
    servers = [http.server.ThreadingHTTPServer(("127.0.0.1", p), Handler) for p in ports.values()]
    threading.Thread(target=servers[1].serve_forever, daemon=True).start()
    servers[0].serve_forever()


def connect(port):
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.connect()
            return connection
        except ConnectionRefusedError:
            time.sleep(0.05)


def ask(which, path):
    begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    connections[which].request("GET", path)
    connections[which].getresponse().read()
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) - begin


connections = {which: connect(port) for which, port in ports.items()}
print("served", flush=True)
fifo = os.open(sys.argv[3], os.O_RDONLY)
os.set_blocking(fifo, False)
while True:
    try:
        words = os.read(fifo, 4096)
    except BlockingIOError:
        words = None
    if words == b"":
        break
    for word in (words or b"").decode().split():
        print(word, ask(word, "/slow"), flush=True)
    for which in ports:
        ask(which, "/")
    time.sleep(0.01)
os.killpg(0, 15)
