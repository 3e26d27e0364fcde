# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_mutations.py

Write each case.json of version 1 that has one member wrong to mutations.d, and say which, and
the right one to version1.json.
"""
import copy, json, os
top = json.load(open("cases/4/case.json"))
# In version 2, the sum alone would find each change
top["version"] = 1
del top["sha256"]
optional = {"symbol", "file", "build_id"}
n = 0
def save(o, what):
    global n
    os.makedirs("mutations.d", exist_ok=True)
    json.dump(o, open("mutations.d/%d" % n, "w"))
    print(n, what)
    n += 1
def walk(path, o):
    keys = list(o) if isinstance(o, dict) else range(min(len(o), 1))
    for key in keys:
        at = path + [key]
        for wrong in (None, -1, True, "../x", [[]], {"x": 1}):
            m = copy.deepcopy(top)
            p = m
            for step in at[:-1]:
                p = p[step]
            value = p[key]
            plain = isinstance(value, str) and isinstance(wrong, str)
            if (wrong == value and type(wrong) is type(value)) or type(wrong) is list and type(value) is list and wrong != [[]] or \
               type(value) is int and type(wrong) is int and wrong > 0 or \
               plain and key not in ("time", "sha256", "name", "format") or at == ["host", "name"] and plain or at == ["chart", "name"] and plain:
                continue
            p[key] = wrong
            save(m, ".".join(map(str, at)))
        m = copy.deepcopy(top)
        p = m
        for step in at[:-1]:
            p = p[step]
        if isinstance(p, dict) and key not in optional and not (path[:1] == ["values"] and key == "limit"):
            del p[key]
            save(m, ".".join(map(str, at)))
        if isinstance(o[key], (dict, list)):
            walk(at, o[key])
    if isinstance(o, dict):
        m = copy.deepcopy(top)
        p = m
        for step in path:
            p = p[step]
        p["unknown"] = 1
        save(m, ".".join(map(str, path)))
json.dump(top, open("version1.json", "w"))
walk([], top)
