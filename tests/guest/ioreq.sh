#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# Requests of a real program to a real server, over HTTP on connections that are kept:
# ioreq finds each of them, and that the server is slow where it was told to be.
. "$TRACERIG_TOP/tests/guest/functions"

ip link set lo up
cat >server.py <<'END'
import http.server, os, socketserver, time

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/slow":
            time.sleep(0.3)
        body = b"x" * 20000
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

socketserver.ThreadingTCPServer.daemon_threads = True
with socketserver.ThreadingTCPServer(("127.0.0.1", 8080), Handler) as server:
    open("/proc/self/comm", "w").write("slowserver")
    open("ready", "w").close()
    server.serve_forever()
END
cat >client.py <<'END'
import http.client, sys
open("/proc/self/comm", "w").write("client")
connection = http.client.HTTPConnection("127.0.0.1", 8080)
for i in range(int(sys.argv[1])):
    connection.request("GET", "/slow" if i % 10 == 9 else "/")
    assert len(connection.getresponse().read()) == 20000
END
cat >load <<'END'
python3 server.py &
server=$!
until [ -e ready ]; do sleep 0.1; done
python3 client.py 30 && python3 client.py 20
status=$?
kill $server
exit $status
END
trace-cmd record -q -b 8192 -e iosys:io_syscall -o trace.dat bash load >out 2>&1 || die "$(cat out)"
ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
"$ioreq" --requests --format=csv trace.dat >requests.csv || die "ioreq fails"
"$ioreq" --requests trace.dat
python3 - <<'END' || die "the requests are not those that were made" "$(cat requests.csv)"
import csv
row, = [r for r in csv.DictReader(open("requests.csv")) if r["client"] == "client"]
number = {k: int(v) for k, v in row.items() if v.isdigit()}
assert row["server"] == "slowserver", row
assert number["answered"] == 50 and number["unclear"] == number["unanswered"] == 0, row
assert number["received"] > 50 * 20000, row
# Five slow ones, of 0.3 seconds; the client waits for all of that, and a bit more
assert number["service"] >= 5 * 300_000_000, row
assert number["service_p99"] >= 300_000_000 > number["service_p50"], row
assert number["wait"] == number["service"] + number["between"], row
assert number["between"] >= 0, row
# One thread for each connection, and time.sleep() is no call of these
assert number["stepped"] == 50 and number["rest"] >= 5 * 300_000_000, row
END
