# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_doctor.py

What the doctor said as JSON and as text, doctor.json and out, is the same, and of the
tracefs of fake.json too.
"""
import json
o = json.load(open("doctor.json"))
assert o["watch"] is False
names = [c["check"] for c in o["checks"]]
assert len(set(names)) == len(names)
for c in o["checks"]:
    assert c["status"] in ("ok", "limited", "missing", "unknown"), c
    assert c["text"] and (c["status"] == "ok") == ("advice" not in c), c
    assert "\n" not in c["text"] + c.get("advice", "")
text = [line.split()[1] for line in open("out") if not line.startswith("tracerig")]
assert text == names, (text, names)
fake = {c["check"]: c["status"] for c in json.load(open("fake.json"))["checks"]}
assert fake["paths"] == "missing", fake
assert fake["ctlchart"] == fake["iosys"] == "ok" and fake["schedz"] == "missing", fake
