# SPDX-License-Identifier: GPL-2.0
"""symbols_server.py DIRECTORY: serve its files on a free port of 127.0.0.1, which is printed."""
import functools
import http.server
import sys

server = http.server.ThreadingHTTPServer(
    ("127.0.0.1", 0), functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1]))
print(server.server_port)
server.serve_forever()
