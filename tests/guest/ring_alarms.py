# SPDX-License-Identifier: GPL-2.0
"""ctlchart-ring.sh CHARTS NUMBERS NAMES CSV all|some: compare alarms as reported by trace-cmd
without the plugin, with it, and by ctlchart, with the charts' numbers and the limits that were
in force for their keys."""
import csv, re, sys

# The limit of a round, which is the upper half of a key, exceeds this by the round's number
MORE = {"one": 0, "two": 1, "three": 2}

charts, numbers, names, table, which = sys.argv[1:]
number_of = {}
for line in open(charts):
    name, number = line.split()
    number_of[name] = number
bad = []


def alarms(path):
    return [re.sub(r".* ctlchart_alarm: *", "", line.rstrip("\n")) for line in open(path) if " ctlchart_alarm: " in line]


def key_of(words):
    """Return: the last key, which has 64 bits, in two words"""
    low, high = (int(word, 0) & 0xffffffff for word in words[-2:])
    return high << 32 | low


def check(name, key, limit, number, where):
    """Return: whether the alarm names its chart and its limit"""
    if name.startswith("chart #"):
        if name[7:] != number:
            bad.append(f"{where}: {name} instead of {number}")
        if limit:
            bad.append(f"{where}: {name} has a limit")
        return False
    if number_of.get(name) != number:
        bad.append(f"{where}: {name} is {number_of.get(name)}, and the alarm is of {number}")
        return False
    want = (key >> 32) + MORE[name]
    if limit and int(limit) != want:
        bad.append(f"{where}: {name} {key:#x}: limit {limit} instead of {want}")
    return bool(limit)


plain, shown = alarms(numbers), alarms(names)
rows = list(csv.DictReader(open(table)))
if not plain or len(plain) != len(shown) or len(plain) != len(rows):
    sys.exit(f"{len(plain)} alarms without the plugin, {len(shown)} with it, {len(rows)} in the table")

known = 0
raised = set()
for raw, text in zip(plain, shown):
    number = re.match(r"chart=(\d+) ", raw).group(1)
    words = re.search(r"keys=\{?(.*?)\}?$", raw).group(1).replace(",", " ").split()
    key = key_of(words)
    raised.add((number, key))
    got = re.match(r"(chart #\d+|\w+): .*? \((limit not recorded|limit (\d+) ns)", text)
    if not got:
        bad.append("not an alarm: " + text)
        continue
    if not got.group(1).startswith("chart #") and f" key={key} " not in text:
        bad.append(f"key {key} instead of: {text}")
    known += check(got.group(1), key, got.group(3), number, text)

known_rows = 0
for row in rows:
    name, keys = row["chart"], row["keys"]
    if name.startswith("chart #"):
        number, key = name[7:], key_of(keys.split(","))
    else:
        number, key = number_of.get(name), int(re.search(r"\bkey=(\d+)$", keys).group(1))
    if (number, key) not in raised:
        bad.append(f"in the table alone: {row}")
        continue
    known_rows += check(name, key, row["limit"], number, str(row))

print(f"{charts}: {len(plain)} alarms; the plugin knows chart and limit of {known}, ctlchart of {known_rows}")
if known_rows < known:
    bad.append("ctlchart knows less than the plugin")
if which == "all" and known_rows != len(rows):
    bad.append("ctlchart does not know all of them")
if not known_rows:
    bad.append("no alarm is named")
if bad:
    sys.exit("\n".join(bad[:20]))
