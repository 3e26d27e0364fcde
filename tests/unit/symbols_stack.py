# SPDX-License-Identifier: GPL-2.0
"""Lines for gen_stacks, and into truth.json what ioreq is to print of cpp5, by binutils."""
import json
import re
import subprocess


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


load = [[int(x, 16) for x in line.split()[1:6]] for line in run("readelf", "-lW", "cpp5").splitlines()
        if line.strip().startswith("LOAD")]
build_id = re.search(r"Build ID: (\w+)", run("readelf", "-n", "cpp5"))[1]
code = run("objdump", "-d", "--no-show-raw-insn", "cpp5").splitlines()
returns = [int(b.split(":")[0], 16) for a, b in zip(code, code[1:]) if re.search(r"\tcall .*<write@plt>", a)]
frames, truth = [], []
for address in returns:
    out = run("addr2line", "-fi", "-e", "cpp5", hex(address - 1)).splitlines()
    names = run("c++filt", "-p", text="".join(n + "\n" for n in out[::2])).splitlines()
    at = [p.split(" ")[0].rsplit(":", 1) for p in out[1::2]]
    sources = [{"function": n, "file": f, "line": int(l)} for n, (f, l) in zip(names, at)]
    offset = next(address - v + o for o, v, _, s, _ in load if v <= address < v + s)
    frames.append(offset)
    truth.append({"object": "/usr/bin/cpp", "offset": offset, **sources[-1]} |
                 ({"inlined": sources[:-1]} if sources[1:] else {}))
assert sum("inlined" in t for t in truth) > 3 and any("Shape<int>::area" in t["function"] for t in truth)
# The innermost frame is not after a call
frames.insert(0, 0x10)
json.dump(truth, open("truth.json", "w"))
open("id", "w").write(build_id)
print(f"map 1 1 1 {build_id} /usr/bin/cpp")
print("stack 1 0 0 " + ",".join(f"{1 << 63 | 1 << 32 | x:x}" for x in frames))
print("call 1 write /a 1 5000 1")
