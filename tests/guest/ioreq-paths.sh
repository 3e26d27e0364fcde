#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# Requests that go on from a real server to another one, each in a network namespace of
# its own, joined by veth, with a trace of its own: ioreq finds which of them were made for
# which other one, what they waited for, and that their clocks are one and the same. The
# programs keep logs, with numbers that only they know.
. "$TRACERIG_TOP/tests/guest/functions"

ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
for host in web app db; do
	ip netns add $host
	ip -n $host link set lo up
done
ip link add a1 netns web type veth peer name a2 netns app
ip link add b1 netns app type veth peer name b2 netns db
address() { # HOST INTERFACE ADDRESS
	ip -n "$1" addr add "$3/24" dev "$2"
	ip -n "$1" link set "$2" up
}
address web a1 10.1.0.1
address app a2 10.1.0.2
address app b1 10.2.0.2
address db b2 10.2.0.3

# Both servers, with a thread for each connection, which are kept
cat >server.py <<'END'
import http.client, http.server, os, socketserver, sys, threading, time
name, address, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
log = open(name + ".log", "a", buffering=1)
local = threading.local()

def query(number, delay):
    if not hasattr(local, "db"):
        local.db = http.client.HTTPConnection("10.2.0.3", 8081)
    begin = time.monotonic_ns()
    local.db.request("GET", f"/{number}/{delay}")
    local.db.getresponse().read()
    log.write(f"query {number} {begin} {time.monotonic_ns()}\n")

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self):
        number, what = (int(x) for x in self.path.strip("/").split("/"))
        if name == "app":
            for i in range(what % 4):
                # One of the first ones is slow
                query(number, 200 if number == 5 else 0)
        elif what:
            with open("journal", "ab") as f:
                f.write(b"x" * 100)
            time.sleep(what / 1000)
        body = b"y" * 3000
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *args):
        pass

class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

open("/proc/self/comm", "w").write(name)
with Server((address, port), Handler) as server:
    open(name + ".ready", "w").close()
    server.serve_forever()
END
cat >client.py <<'END'
import http.client, sys, threading, time
open("/proc/self/comm", "w").write("web")
log = open("web.log", "a", buffering=1)

def client(first):
    connection = http.client.HTTPConnection("10.1.0.2", 8080)
    for number in range(first, 20, 2):
        begin = time.monotonic_ns()
        connection.request("GET", f"/{number}/{number}")
        connection.getresponse().read()
        log.write(f"request {number} {begin} {time.monotonic_ns()} {number % 4}\n")

threads = [threading.Thread(target=client, args=(i,)) for i in range(2)]
for t in threads: t.start()
for t in threads: t.join()
END

# A trace of each of them: what is in the namespaces is told by the programs' names
for host in web app db; do
	mkdir "$tracing/instances/$host"
	echo 8192 >"$tracing/instances/$host/buffer_size_kb"
	echo mono >"$tracing/instances/$host/trace_clock"
	echo "comm == \"$host\"" >"$tracing/instances/$host/events/iosys/io_syscall/filter"
	echo 1 >"$tracing/instances/$host/events/iosys/io_syscall/enable"
done
ip netns exec db python3 server.py db 10.2.0.3 8081 &
ip netns exec app python3 server.py app 10.1.0.2 8080 &
until [ -e db.ready ] && [ -e app.ready ]; do sleep 0.1; done
ip netns exec web python3 client.py || die "the client fails"
for host in web app db; do
	echo 0 >"$tracing/instances/$host/events/iosys/io_syscall/enable"
done
kill %1 %2
wait || true
for host in web app db; do
	trace-cmd extract -B $host -o $host.dat >out 2>&1 || die "$(cat out)"
	ls -l $host.dat
	"$ioreq" --top=2 $host.dat || true
	trace-cmd dump --summary $host.dat | tail -20
done
hosts=(web=web.dat app=app.dat db=db.dat)
"$ioreq" --paths "${hosts[@]}" || die "ioreq fails"
"$ioreq" --paths --format=json "${hosts[@]}" >paths.json || die "ioreq fails"
cat web.log app.log
