# SPDX-License-Identifier: GPL-2.0
"""usage: last_boot_check.py COLLECTED TRUTH

tracecast-last-boot.sh: the recordings in the folder COLLECTED have what
last_boot_guest.py recorded in each boot.
"""
import glob
import json
import re
import sys

folder, truth = sys.argv[1], json.load(open(sys.argv[2]))


def marks(text):
    """Number, time when it was written, and time stamp of each mark"""
    lines = re.finditer(r" (\d+)\.(\d{9}): print: .*mark (\d+) at (\d+)", text)
    return [(int(m[3]), int(m[4]), int(m[1]) * 10**9 + int(m[2])) for m in lines]


def report(name):
    return "".join(open(f).read() for f in sorted(glob.glob(name.replace(".ledger", ".*.txt"))))


def check_times(got, end):
    """Each was written between the times in it and in the next one, by one clock"""
    after = [written for _, written, _ in got[1:]] + [end]
    most = min(stamp - written for _, written, stamp in got)
    least = max(stamp - then for (_, _, stamp), then in zip(got, after))
    # The clocks differ by a rate: parts per million of some seconds
    assert least <= most + 1000000, (least, most)


names = glob.glob(folder + "/*.ledger")
ledgers = {name: json.load(open(name)) for name in names}
assert len(names) == 4, names
left = [name for name in names if "last_boot" in ledgers[name]]
assert len(left) == 2 and all(name.endswith("-last-boot.ledger") for name in left), left
# The one that was broken off has less
left.sort(key=lambda name: -ledgers[name]["delivered"])
part = ledgers[left[1]]["delivered"]
assert 0 < truth["part"] <= part < truth["left"], (truth, part)
first = [name for name in names if ledgers[name]["session"] == ledgers[left[0]]["last_boot"]["session"]]
last = [name for name in names if name not in left + first]
assert len(first) == len(last) == 1, (first, last)

# All that the ring had, and nothing else
book, text = ledgers[left[0]], report(left[0])
records, acknowledged, refused = truth["sent"]
assert truth["left"] == records == book["generated"], (truth, book)
assert refused == truth["gone"] == book["lost_in_ring"], (truth, book)
assert records == acknowledged + refused and acknowledged == book["delivered"], (truth, book)
assert not book["lost_on_wire"] + book["awaited"] + book["damaged"], book
assert book["state"] == "over" and len(book["last_boot"]["boot_id"]) == 36, book
assert len(re.findall(r" \d+\.\d{9}: ", text)) == acknowledged
assert text.count(" sched_switch: ") > 0
assert not book["last_boot"]["damaged_cpus"], book
got = marks(text)
assert [number for number, _, _ in got] == list(range(truth["marks"])), [number for number, _, _ in got]
check_times(got, truth["end"])

# What had arrived before is among it, with the same times
early = marks(report(first[0]))
assert len(early) >= 100 and early == got[: len(early)]

# The last boot's own
generated, lost, held, acknowledged = truth["last"]
assert (lost, held) == (0, 0) and generated == acknowledged == ledgers[last[0]]["delivered"], truth
assert [number for number, _, _ in marks(report(last[0]))] == list(range(2 * truth["marks"], 2 * truth["marks"] + 10))
