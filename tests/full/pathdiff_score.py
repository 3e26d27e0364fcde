# SPDX-License-Identifier: GPL-2.0
# usage: pathdiff_score.py <TRIALS
#
# Reads the truth and pathdiff's JSON for each trial of tests/full/pathdiff-faults, prints the
# wrong results and a table by kind; exit status 1 if a goal is missed.
import fnmatch, json, sys

# The kernel function that the module calls for these kinds: the cause is in it, or below it
ROOTS = {
    "reclaim": "alloc_pages* __alloc_pages* alloc_frozen_pages*",
    "fault": "exc_page_fault do_user_addr_fault handle_mm_fault __handle_mm_fault",
}
# Where the kernel waits for these kinds, by its source
WAITS = {
    "journal": "wait_transaction_locked add_transaction_credits start_this_handle",
    "network": "sk_wait_data wait_woken tcp_recvmsg_locked",
}
INTERRUPTS = {"irq": "pathfault_irq", "softirq": "pathfault_softirq", "timer": "pathfault_timer"}

def matches(name, patterns):
    return any(fnmatch.fnmatch(name, p) for p in patterns.split())

def waker(cause):
    who = cause.get("wait", {}).get("who", [])
    return who[0]["name"] if who else ""

def plain(name):
    return name.split(" ")[0].split("#")[0]

def is_right(truth, cause):
    kind, function = truth["kind"], truth["function"]
    name, caller = plain(cause["function"]), plain(cause.get("caller", ""))
    path = [plain(f) for f in cause.get("worst", {}).get("path", "").split(" > ")]
    if kind in INTERRUPTS:
        return cause["kind"] == "interrupt" and INTERRUPTS[kind] in cause["function"]
    if cause["kind"] == "interrupt":
        return False
    if kind == "spin":
        return not caller and name == function
    if kind == "extra":
        return name == "pathfault_extra"
    if kind == "sleep":
        return caller == function and waker(cause).startswith("pathfault-waker")
    if kind == "lock":
        return "mutex_lock" in caller and waker(cause).startswith("pathfault-hold") and function in path
    if kind == "preempt":
        return cause.get("wait", {}).get("kind") == "preempted" and waker(cause).startswith("pathfault-hog")
    if kind in ROOTS:
        return function in path and any(matches(f, ROOTS[kind]) for f in path[path.index(function):])
    return matches(caller, WAITS[kind]) and (kind != "journal" or waker(cause).startswith("jbd2"))

def trials(text):
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        end = text.index("\n", at)
        truth = dict(f.split("=", 1) for f in text[at:end].split())
        result, at = decoder.raw_decode(text, end + 1)
        at += 1
        yield truth, result

def judge(truth, result):
    """Is the first cause right, and is a wrong one before it with more than half its confidence?"""
    named = [c for c in result["causes"] if c["named"]]
    if truth["kind"] == "none":
        return not named, False, named
    first = bool(named) and is_right(truth, named[0])
    right = [c for c in named if is_right(truth, c)]
    before = named[:named.index(right[0])] if right else []
    return first, any(c["confidence"] > right[0]["confidence"] / 2 for c in before), named

def describe(truth, result):
    print("wrong:", " ".join("%s=%s" % f for f in truth.items()), "slow=%d" % result["limit"]["slow"],
          "limit=%d" % result["limit"]["limit"], "healthy=%s" % result["limit"]["healthy"])
    for c in result["causes"][:4]:
        print("   ", "named:" if c["named"] else "not:", c["headline"], "| %d executions, delay %.2f, confidence %.2f, waker %s, path %s" %
              (c["executions"], c["delay_share"], c["confidence"], waker(c) or "-", c.get("worst", {}).get("path", "-")))

def main():
    kinds = {}
    for truth, result in trials(sys.stdin.read()):
        first, ahead, named = judge(truth, result)
        if not first or ahead:
            describe(truth, result)
        group = truth["kind"] + (" loaded" if truth["loaded"] == "1" and truth["kind"] == "none" else "")
        k = kinds.setdefault(group, [0, 0, 0, []])
        k[0] += 1
        k[1] += first
        k[2] += ahead
        k[3] += [named[0]["confidence"]] if named else []
    healthy = [k for name, k in kinds.items() if name.startswith("none")]
    faults = [k for name, k in kinds.items() if not name.startswith("none")]
    print("%-12s %4s %6s %12s %s" % ("kind", "n", "right", "wrong ahead", "mean confidence of the first"))
    for name, (n, right, ahead, confidence) in kinds.items():
        mean = "%.2f" % (sum(confidence) / len(confidence)) if confidence else "-"
        print("%-12s %4d %6d %12d %s" % (name.replace("none", "healthy"), n, right, ahead, mean))
    def sums(of, column):
        return sum(k[column] for k in of)
    print("%d of %d faults first, %d wrong ones ahead; none named in %d of %d healthy recordings" %
          (sums(faults, 1), sums(faults, 0), sums(faults, 2), sums(healthy, 1), sums(healthy, 0)))
    return not faults or sums(faults, 1) < 0.9 * sums(faults, 0) or sums(faults, 2) > 0 or \
        sums(healthy, 1) < 0.98 * sums(healthy, 0)

sys.exit(bool(main()))
