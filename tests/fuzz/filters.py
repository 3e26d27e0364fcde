#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print random filters with ctlchart() in them, right ones and wrong ones.

usage: filters.py COUNT [SEED]

A line has the judged event's name, a tab and the filter.  The filters follow the grammar of
Documentation/trace/ctlchart.rst, with values at and beyond their bounds; then some are
damaged.
"""
import random
import sys

# The judged events, with their numeric fields and strings
EVENTS = {
    "sched_process_hang": (["pid"], ["comm"]),
    "sched_pi_setprio": (["pid", "oldprio", "newprio"], ["comm"]),
    "sched_stat_iowait": (["pid", "delay"], ["comm"]),
    "block_rq_complete": (["dev", "sector", "nr_sector", "error"], ["rwbs", "cmd"]),
}
STARTS = {
    "sched_pi_setprio": "sched", "sched_process_hang": "sched", "sched_stat_iowait": "sched",
    "block_rq_complete": "block", "block_bio_queue": "block", "both": "twin",
    "ctlchart_alarm": "ctlchart", "bprint": "ftrace", "nosuch": "sched", "print": "ftrace",
}
COMMON = ["common_pid", "cpu", "common_type", "CPU"]
STRINGS = ["COMM", "comm"]
ODD = ["nosuch", "stacktrace", "", "3", "pid.x", "ctlchart", "x" * 70]
NUMBERS = ["0", "1", "2", "3", "4", "5", "7", "10", "11", "20", "64", "100", "500", "4096", "4097", "65536",
           "65537", "1048576", "1048577", "4294967295", "4294967296", "18446744073709551615",
           "18446744073709551616", "99999999999999999999999", "-1", "+1", "0x10", "010", "08", "1e3", "", "x",
           "9" * 70, "0" * 63 + "1", "0" * 64 + "1"]
UNITS = ["ns", "us", "ms", "s", "m", "h", "", "d", "S", "sec"]
DAMAGE = list("(),=.:!&|'\"\\ \t<>~*_-+^0159azAZ") + ["ctlchart(", "ctlchart", "&&", "||", "==", "\xa0", "\xff", "\xc4", "pre=1s"]


class Maker:
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, what):
        return self.rng.choice(what)

    def space(self):
        return self.pick(("", "", "", " ", "  ", "\t"))

    def time(self):
        if self.chance(.9):
            return self.pick(("0", "1ns", "5us", "100ms", "1s", "10s", "2m", "1h"))
        return self.pick(NUMBERS) + self.pick(UNITS)

    def number(self, *good):
        return self.pick(good) if self.chance(.9) else self.pick(NUMBERS)

    def field(self, event):
        if self.chance(.02):
            return self.pick(ODD)
        numbers, strings = EVENTS.get(event, EVENTS["block_rq_complete"])
        return self.pick(numbers) if self.chance(.6) else self.pick(numbers + strings + COMMON + STRINGS)

    def key(self, start, event):
        if self.chance(.3):
            return f"{self.field(start)}:{self.field(event)}"
        return self.pick(("pid", "pid", "common_pid", "cpu", "comm")) if self.chance(.7) else self.field(event)

    def rules(self):
        if self.chance(.3):
            return self.pick(("all", "limit"))
        rules = self.rng.sample("12345678", self.rng.randrange(1, 9))
        if self.chance(.1):
            rules.append(self.pick(("9", "0", "1", "", "all", "12")))
        return (self.space() + "," + self.space()).join(rules)

    def option(self, event, pair):
        pick, chance = self.pick, self.chance
        name = pick(("name", "limit", "scale", "learn", "samples", "group", "ucl", "rate", "rules", "relearn",
                     "by", "charts", "pre", "post") +
                    (("dup", "size", "stale", "overdue", "from") if pair or chance(.03) else ()))
        value = {
            "name": lambda: pick(("a", "b", "A-b_c.9", "x" * 63)) if chance(.9) else pick(("", "x" * 64, "a b", "a/b", "\xc4")),
            "limit": lambda: pick(("individuals", "median", "quantile")),
            "scale": lambda: pick(("log", "linear")),
            "learn": self.time,
            "samples": lambda: self.number("10", "100", "500", "3000", "20"),
            "group": lambda: self.number("2", "5", "10", "4"),
            "ucl": lambda: self.time() if pair else self.number("1", "100", "5"),
            "rate": lambda: self.number("0", "1", "1000"),
            "rules": self.rules,
            "relearn": lambda: self.number("100", "500", "5000") if chance(.5) else self.time(),
            "by": lambda: self.field(event),
            "charts": lambda: self.number("1", "2", "16"),
            "pre": self.time, "post": self.time,
            "dup": lambda: pick(("fifo", "last")),
            "size": lambda: self.number("1", "2", "100", "1000"),
            "stale": self.time, "overdue": self.time,
            "from": lambda: pick(("start", "end")),
        }[name]()
        if chance(.02):
            value = pick(NUMBERS + ["start", "all", "log"])
        if chance(.01):
            name = pick(("nosuch", "Name", "", "ucl "))
        return f"{name}{self.space()}={self.space()}{value}"

    def call(self, event):
        pair = self.chance(.7)
        if pair:
            start = self.pick(tuple(STARTS)) if self.chance(.2) else self.pick(
                ("sched_pi_setprio", "sched_process_hang", "sched_stat_iowait", "block_bio_queue"))
            args = [start if self.chance(.5) else STARTS[start] + self.pick((".", ":")) + start]
            args += [self.key(start, event) for _ in range(self.pick((1, 1, 1, 2, 2, 3, 4, 5)))]
        else:
            args = [self.field(event)]
        options = [self.option(event, pair) for _ in range(self.pick((0, 1, 1, 2, 2, 3, 4, 6)))]
        # Usually each once; a start and keys can also follow options
        if self.chance(.95):
            options = list({o.split("=")[0].strip(): o for o in options}.values())
        if self.chance(.1):
            options.insert(self.rng.randrange(len(options) + 1), args.pop())
        separated = ""
        for i, arg in enumerate(args + options):
            separated += (self.space() + "," + self.space() if i else "") + arg
        return f"ctlchart{self.space()}({self.space()}{separated}{self.space()})"

    def term(self, event, depth):
        kind = self.rng.random()
        if kind < .6:
            return self.call(event)
        if kind < .7 and depth < 4:
            return f"{self.pick(('', '!'))}({self.filter(event, depth + 1)})"
        if kind < .73:
            return "!" + self.call(event)
        return self.pick(("common_pid > 0", "cpu != 3", 'comm == "x"', "comm ~ '*ctlchart(*'", "common_type & 1",
                          'comm == ")" ', f"{self.field(event)} == {self.pick(NUMBERS)}"))

    def filter(self, event, depth=0):
        text = self.term(event, depth)
        while self.chance(.25):
            text += self.space() + self.pick(("&&", "&&", "||")) + self.space() + self.term(event, depth)
        return text

    def damage(self, text):
        for _ in range(self.pick((1, 1, 1, 2, 5))):
            at = self.rng.randrange(len(text) + 1)
            kind = self.rng.randrange(5)
            if kind == 0:
                text = text[:at] + text[at + 1:]
            elif kind == 1:
                text = text[:at] + self.pick(DAMAGE) + text[at:]
            elif kind == 2:
                text = text[:at] + self.pick(DAMAGE) + text[at + 1:]
            elif kind == 3 and self.chance(.3):
                text = text[:at]
            else:
                to = self.rng.randrange(len(text) + 1)
                text = text[:to] + text[at:at + self.rng.randrange(20)] + text[to:]
        return text

    def one(self):
        """Return: an event's name and a filter for it."""
        event = self.pick(tuple(EVENTS))
        text = self.filter(event)
        if self.chance(.3):
            text = self.damage(text)
        return event, text


def main():
    maker = Maker(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    out = open(1, "w", encoding="latin-1", buffering=1 << 20)
    for _ in range(int(sys.argv[1])):
        out.write("%s\t%s\n" % maker.one())


if __name__ == "__main__":
    main()
