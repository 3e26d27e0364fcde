# SPDX-License-Identifier: GPL-2.0
"""usage: metrics_http.py GEN_METRICS

Metrics by HTTP are what GEN_METRICS prints; clients that are silent or send garbage delay
other clients only briefly; and Prometheus, if it is installed, can read the metrics.
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

GEN = sys.argv[1]
PORT = 9100
URL = f"http://127.0.0.1:{PORT}"
SCALE = int(os.environ.get("TRACERIG_TIMEOUT_SCALE", 1))


def until(what, seconds=20):
    end = time.monotonic() + seconds * SCALE
    while True:
        try:
            return what()
        except (OSError, KeyError, IndexError, AssertionError):
            if time.monotonic() > end:
                raise
        time.sleep(0.05)


def get(path, method="GET", data=None):
    request = urllib.request.Request(URL + path, data, method=method)
    with urllib.request.urlopen(request, timeout=20 * SCALE) as answer:
        return answer.read().decode(), answer.headers["Content-Type"]


def is_refused(path, method, code, data=None):
    try:
        get(path, method, data)
    except urllib.error.HTTPError as error:
        assert error.code == code, error
    else:
        sys.exit(f"{method} {path} is answered")


def fails(address, reason):
    done = subprocess.run([GEN, "3", address], capture_output=True, text=True)
    assert done.returncode == 1 and reason in done.stderr, (address, done)


def silent_clients():
    clients = []
    for _ in range(100):
        client = socket.create_connection(("127.0.0.1", PORT), source_address=("127.0.0.2", 0))
        clients.append(client)
        try:
            client.send(b"GET /met")
        except OSError:
            pass
    # Connections that are closed at once are from the same host
    assert get("/metrics")[0] == printed
    for client in clients:
        client.close()


def slow_clients():
    """All connections that a host may have send a byte per second, and never end their requests"""
    from_there = ("127.0.0.3", 0)
    clients = [socket.create_connection(("127.0.0.1", PORT), source_address=from_there) for _ in range(4)]
    stop = threading.Event()

    def trickle(client):
        try:
            client.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
            while not stop.wait(1):
                client.sendall(b"x")
        except OSError:
            pass

    threads = [threading.Thread(target=trickle, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()

    def answer():
        with socket.create_connection(("127.0.0.1", PORT), source_address=from_there) as client:
            client.settimeout(5)
            client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            text = b""
            while more := client.recv(65536):
                text += more
            assert text.endswith(printed.encode()), text

    try:
        until(answer, 30)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        for client in clients:
            client.close()


def kept_connection():
    """A client that asks again and again over one connection is answered, however old that is"""
    with socket.create_connection(("127.0.0.1", PORT), source_address=("127.0.0.4", 0)) as client:
        client.settimeout(20 * SCALE)
        for _ in range(4):
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            text = b""
            while not text.endswith(printed.encode()):
                more = client.recv(65536)
                assert more, "a connection is closed though its requests are answered"
                text += more
            time.sleep(4)


def garbage():
    for text in (b"\0" * 100000, b"GET /metrics HTTP/9.9\r\n\r\n", b"GET " + b"/" * 100000 + b" HTTP/1.1\r\n\r\n",
                 b"\r\n\r\n", b"GET /metrics HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", PORT)) as client:
            try:
                client.sendall(text)
                client.shutdown(socket.SHUT_WR)
                client.recv(100)
            except OSError:
                pass
        assert get("/metrics")[0] == printed


def prometheus():
    with tempfile.TemporaryDirectory() as directory:
        with open(directory + "/config", "w") as f:
            f.write("scrape_configs:\n- job_name: tracerig\n  scrape_interval: 1s\n"
                    f"  static_configs:\n  - targets: [ 'localhost:{PORT}' ]\n")
        process = subprocess.Popen(["prometheus", f"--config.file={directory}/config",
                                    f"--storage.tsdb.path={directory}/data", "--web.listen-address=localhost:9090"],
                                   stderr=subprocess.DEVNULL)

        def value():
            query = "http://localhost:9090/api/v1/query?query=tracerig_values_total"
            with urllib.request.urlopen(query) as answer:
                found = {r["metric"]["chart"]: r["value"][1] for r in json.load(answer)["data"]["result"]}
            assert found["disk"] == "600", found

        try:
            until(value, 60)
        finally:
            process.terminate()
            process.wait()


printed = subprocess.run([GEN, "3"], check=True, capture_output=True, text=True).stdout
with subprocess.Popen([GEN, "3", f"127.0.0.1:{PORT}"]) as server:
    try:
        assert until(lambda: get("/metrics")) == (printed, "text/plain; version=0.0.4")
        assert get("/metrics", "HEAD")[0] == ""
        is_refused("/other", "GET", 404)
        is_refused("/metrics", "DELETE", 405)
        is_refused("/metrics", "POST", 405, b"x" * 1000)
        assert get("/metrics", "GET", b"x" * 100000)[0] == printed
        fails(f"127.0.0.1:{PORT}", f"--metrics=127.0.0.1:{PORT}: Address already in use: choose another port; ss -ltnp shows who uses this one")
        fails("192.0.2.1:9100", "Cannot assign requested address: choose an address of this machine, such as localhost:9100")
        for host in "no.such.host.invalid", "999.1.1.1":
            fails(f"{host}:1", f"--metrics={host}:1: ")
            fails(f"{host}:1", ": choose an address of this machine, such as localhost:9100")
        for port in "0", "65536", "99999999999999999999":
            fails(f"127.0.0.1:{port}", "the port must be a number from 1 to 65535")
        fails("::1:9100", "an IPv6 address must be in brackets")
        silent_clients()
        slow_clients()
        kept_connection()
        garbage()
        if shutil.which("prometheus"):
            prometheus()
        assert server.poll() is None, "the server has died"
    finally:
        server.terminate()
        server.wait()
