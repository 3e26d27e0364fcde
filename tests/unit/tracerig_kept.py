# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_kept.py

The cases are the ones in list.json, with the files and figures of gen_cases.
"""
import hashlib, json, os, struct


def build_id(notes):
    """The description of the first GNU note of type 3, by the ELF specification"""
    while notes:
        name, size, kind = struct.unpack_from("=III", notes)
        data = 12 + -(-name // 4) * 4
        if kind == 3 and notes[12 : 12 + name] == b"GNU\0":
            return notes[data : data + size].hex()
        notes = notes[data + -(-size // 4) * 4 :]


listed = json.load(open("list.json"))
assert {g["group"]: g["count"] for g in listed["groups"]} == {"disk reader dev=254:0": 12, "disk writer dev=254:0": 1}
got = {c["case"]: (c["value"], c["nth"]) for g in listed["groups"] for c in g["cases"]}
assert got == {1: (300, 1), 3: (800, 1), 4: (300, 10), 5: (600, 11)}, got
sizes = {c["case"]: c["bytes"] for g in listed["groups"] for c in g["cases"]}
for number in got:
    d = "cases/%d/" % number
    o = json.load(open(d + "case.json"))
    files = {f["name"]: f for f in o["files"]}
    assert sizes[number] == sum(os.path.getsize(d + name) for name in os.listdir(d)), sizes[number]
    assert set(files) | {"case.json"} == set(os.listdir(d))
    for name, f in files.items():
        data = open(d + name, "rb").read()
        assert len(data) == f["bytes"] and hashlib.sha256(data).hexdigest() == f["sha256"], name
    # The values around the alarm, and what was lost, are those of gen_cases.c
    assert [v["value"] for v in o["values"]] == list(range(11, 71))
    assert [(c["events"], c["gaps"], c["lost"]) for c in o["window"]["cpus"]] == [(40, 0, 0), (40, 1, 3)]
    assert o["losses"]["lost"] == 3 and o["window"]["begin"] == 1001 and o["window"]["end"] == 1080
    assert open(d + "vmstat.txt").read().startswith("nr_free_pages ")
    if os.access("/sys/kernel/notes", os.R_OK):
        lines = open(d + "build-ids.txt").read().splitlines()
        assert lines[0] == build_id(open("/sys/kernel/notes", "rb").read()) + " kernel", lines[0]
        assert all(len(line.split()) == 2 for line in lines)
