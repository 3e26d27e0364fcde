# SPDX-License-Identifier: GPL-2.0
"""usage: ioreq_client.py REQUESTS

Make REQUESTS of HTTP on one connection; one in ten is for /slow.
"""
import http.client, sys
open("/proc/self/comm", "w").write("client")
connection = http.client.HTTPConnection("127.0.0.1", 8080)
for i in range(int(sys.argv[1])):
    connection.request("GET", "/slow" if i % 10 == 9 else "/")
    assert len(connection.getresponse().read()) == 20000
