# SPDX-License-Identifier: GPL-2.0
"""ioreq-stacks.sh: the stacks in stacks.json are those of worker.c."""
import json
line = {word: n for n, text in enumerate(open("worker.c"), 1)
        for word in ("write", "begin", "sync", "end") if f"/* {word} */" in text}
result = json.load(open("stacks.json"))
group = {g["call"]: g for g in result["stacks"] if g["comm"] == "worker" and g["name"].endswith("/worker.log")}


def at(frame):
    return frame.get("function"), frame.get("file", "").rsplit("/", 1)[-1], frame.get("line")


def own(stack):
    assert stack["end"] == "complete" and stack["guessed"] == 0, stack
    return [at(f) for f in stack["frames"] if f["object"].endswith("/worker") and "line" in f]


# The write is the same; it is called from three call sites, two of which are in main
write = group["write"]
assert write["count"] == 120, write
logged = ("log_line", "worker.c", line["write"])
seen = {}
for stack in write["stacks"]:
    frames = own(stack)
    assert frames[0] == logged and frames[-1][0] == "main", frames
    assert at(stack["frames"][stack["parts"] - 1])[0] in ("log_line", "answer"), stack
    seen.setdefault(frames[1], []).append(stack["count"])
assert seen == {("take", "worker.c", line["begin"]): [40], ("answer", "worker.c", line["end"]): [40, 40]}, seen
sync, = group["fsync"]["stacks"]
assert sync["count"] == 10 and own(sync)[0] == ("take", "worker.c", line["sync"]), sync
