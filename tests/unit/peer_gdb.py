# SPDX-License-Identifier: GPL-2.0
#
# usage: PEER=peer_stops STOPS=N gdb -nx -batch -x peer_gdb.py --args COMMAND...
#
# Stops a command, which should not end, N times at random instructions and compares
# gdb's physical frames with the frames that "peer_stops --serve" finds from the same
# registers and memory.  Prints the differences, and the line
#
#	stops S equal E unsure U short F different D
#
# unsure: gdb reports that it cannot continue, or guesses as we do in
# code without .eh_frame.  Status 1 when there are short or different ones.
import os
import random
import subprocess
import sys

import gdb

REGS = "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15".split()
MASK = (1 << 64) - 1
# Where it guesses, it may not end
LIMIT = 400
# Reasons for an end that are certain
SURE = (gdb.FRAME_UNWIND_NO_REASON, gdb.FRAME_UNWIND_OUTERMOST)

peer = subprocess.Popen([os.environ["PEER"], "--serve"], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE, text=True)
stops = int(os.environ["STOPS"])
random.seed(int(os.environ.get("SEED", "1")))


def theirs():
    """gdb's frames, and whether it is sure that they are all"""
    frames, frame = [], gdb.newest_frame()
    while True:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            frames.append(frame.pc() & MASK)
        older = frame.older()
        if older is None:
            return frames, frame.unwind_stop_reason() in SURE and len(frames) < LIMIT
        frame = older


def ours():
    """Our frames, why they end, and how many were guessed"""
    frame = gdb.newest_frame()
    regs = [int(frame.read_register(name)) & MASK for name in ["rip"] + REGS]
    pid = gdb.selected_inferior().pid
    peer.stdin.write(" ".join([str(pid)] + [f"{value:x}" for value in regs]) + "\n")
    peer.stdin.flush()
    words = peer.stdout.readline().split()
    return [int(word, 16) for word in words[2:]], words[0], int(words[1])


def go_on():
    """Lets it run for up to 3 ms, and then for some single steps"""
    pid = gdb.selected_inferior().pid
    with subprocess.Popen(["sh", "-c", f"sleep {random.random() * 0.003:.6f}; kill -PROF {pid}"]):
        gdb.execute("continue", to_string=True)
    if random.random() < 0.7:
        gdb.execute(f"stepi {random.randrange(1, 40)}", to_string=True)


def classify(sums):
    have, end, guessed = ours()
    want, sure = theirs()
    if end == "complete" and have == want:
        sums["equal"] += 1
        return
    if not sure or guessed:
        kind = "unsure"
    elif end != "complete":
        kind = "short"
    else:
        kind = "different"
    sums[kind] += 1
    print(kind, end, "guessed", guessed)
    for name, frames in ("ours", have), ("gdb", want):
        print(" ", name)
        for pc in frames:
            print(f"    {pc:x} {gdb.solib_name(pc) or ''} {gdb.execute(f'info symbol {pc}', to_string=True).strip()}")


def main():
    for setting in ("pagination off", "confirm off", "backtrace past-main on", "backtrace past-entry on",
                    f"backtrace limit {LIMIT}", "debuginfod enabled off"):
        gdb.execute(f"set {setting}", to_string=True)
    # Its own signals are its own business; noprint would mean nostop
    gdb.execute("handle all nostop noprint pass", to_string=True)
    gdb.execute("handle SIGPROF stop nopass", to_string=True)
    gdb.execute("handle SIGTRAP stop", to_string=True)
    gdb.execute("starti", to_string=True)
    sums = dict.fromkeys(("equal", "unsure", "short", "different"), 0)
    for _ in range(stops):
        go_on()
        classify(sums)
    print("stops", sum(sums.values()), *(f"{name} {value}" for name, value in sums.items()))
    sys.stdout.flush()
    gdb.execute("kill", to_string=True)
    return 1 if sums["short"] or sums["different"] else 0


status = 2
try:
    status = main()
except gdb.error as error:
    print(f"peer_gdb.py: {error}", file=sys.stderr)
peer.stdin.close()
peer.wait()
gdb.execute(f"quit {status}")
