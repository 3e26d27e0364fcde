# SPDX-License-Identifier: GPL-2.0
"""An HTTP server that needs 0.3 s for /slow."""
import http.server, socketserver, time

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
