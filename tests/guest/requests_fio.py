# SPDX-License-Identifier: GPL-2.0
"""usage: requests_fio.py DISK OPERATION

Check that fio's own counts of a job, in fio.json, are those of the io_request events in fio.txt.
"""
import json, re, sys
jobs = {job["jobname"]: job for job in json.load(open("fio.json"))["jobs"]}
for name, way in (("reads", "read"), ("writes", "write")):
    want = jobs[name][way]
    rest = rf"\b.*name={sys.argv[1]} "
    got = [int(m.group(1)) for m in (re.search(rf"io_request: +{sys.argv[2]}{way}\w*=(\d+) {rest}", line)
                                     for line in open("fio.txt")) if m]
    print(f"# {name}: fio {want['total_ios']} of {want['io_bytes']} bytes, events {len(got)} of {sum(got)}")
    assert want["total_ios"] == len(got) >= 1500 and want["io_bytes"] == sum(got)
