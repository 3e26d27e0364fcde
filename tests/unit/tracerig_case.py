# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_case.py START END CENTER LIMIT PID [SYMBOL] >case.json

A case of an operation of thread PID, which is the kernel's function SYMBOL.
"""
import json
import sys

start, end, center, limit, pid = map(int, sys.argv[1:6])
chart = {"name": "c", "event": "sys_exit_read", "filter": "", "unit": "ns"}
if len(sys.argv) > 6:
    chart["symbol"] = sys.argv[6]
json.dump({
    "format": "tracerig-case", "version": 1, "program": "a test", "case": 1, "time": "2026-01-02T03:04:05.000000Z",
    "group": "g", "nth": 1,
    "host": {"name": "h", "release": "6", "version": "v", "machine": "m", "cpus": 2, "cmdline": "", "boot_id": ""},
    "chart": chart,
    "alarm": {"time": end, "cpu": 0, "chart": "c", "start": start, "value": end - start, "center": center,
              "limit": limit, "judged": 100, "rules": 1, "pid": pid, "comm": "reader", "keys": f"common_pid={pid}",
              "kept": True},
    "nr_alarms": 0, "alarms": [], "values": [],
    "window": {"clock": "mono", "begin": 1, "end": end + 100000, "cpus": []},
    "losses": {"gaps": 0, "lost": 0, "dropped": 0, "overwritten": 0}, "missing": [], "files": [],
}, sys.stdout)
