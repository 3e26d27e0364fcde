# SPDX-License-Identifier: GPL-2.0
#
# usage: LOG=FILE MAX=N gdb -nx -batch -x stack_gdb.py --args COMMAND...
#
# As stackcalls, but with gdb: stops a command at the end of each I/O system call, N times at
# most, then ends it, and writes a line for each to LOG, as stackcalls does. The frames are
# gdb's physical ones. unsure: gdb reports that it cannot continue, or one of its frames is
# not in executable memory: without debugging information or symbols, as in generated code, gdb
# guesses, and may take any word of the stack for a return address.
import os
import sys

import gdb

MASK = (1 << 64) - 1
# Where gdb guesses, its stack may not end
LIMIT = 1000
SURE = (gdb.FRAME_UNWIND_NO_REASON, gdb.FRAME_UNWIND_OUTERMOST)
# The calls of stackcalls that gdb knows by these names
CALLS = ("read write open openat creat close pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 sendto "
         "recvfrom sendmsg recvmsg sendfile splice connect accept accept4 fsync fdatasync sync poll ppoll select "
         "pselect6 msync flock ftruncate truncate fallocate sync_file_range epoll_wait epoll_pwait copy_file_range")


class Maps:
    """Executable mappings, read again when a frame is outside of them, or after they may have changed"""

    def __init__(self):
        self.text, self.ranges = None, []

    def update(self, pid):
        with open(f"/proc/{pid}/maps") as file:
            text = file.read()
        if text == self.text:
            return
        self.text, self.ranges = text, []
        for line in text.splitlines():
            words = line.split(None, 5)
            if words[1][2] != "x":
                continue
            start, end = (int(word, 16) for word in words[0].split("-"))
            major, minor = (int(word, 16) for word in words[3].split(":"))
            name = "[vdso]" if words[5:] == ["[vdso]"] else f"{major}:{minor}:{words[4]}" if words[4] != "0" else None
            self.ranges.append((start, end, int(words[2], 16), name))

    def is_code(self, pc):
        return any(start <= pc < end for start, end, _, _ in self.ranges)

    def frame(self, pc):
        for start, end, offset, name in self.ranges:
            if name and start <= pc < end:
                return f"{name}+{pc - start + offset:x}"
        return f"anon+{pc:x}"


def frames():
    """Return: gdb's frames, and whether it is sure that they are complete"""
    found, frame = [], gdb.newest_frame()
    while True:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            found.append(frame.pc() & MASK)
        older = frame.older()
        if older is None:
            return found, frame.unwind_stop_reason() in SURE and len(found) < LIMIT
        frame = older


def main():
    for setting in ("pagination off", "confirm off", "backtrace past-main on", "backtrace past-entry on",
                    f"backtrace limit {LIMIT}", "debuginfod enabled off", "detach-on-fork on",
                    "follow-fork-mode parent"):
        gdb.execute(f"set {setting}", to_string=True)
    gdb.execute("handle all nostop noprint pass", to_string=True)
    gdb.execute("handle SIGTRAP stop", to_string=True)
    gdb.execute("starti", to_string=True)
    gdb.execute(f"catch syscall {CALLS}", to_string=True)
    pid = gdb.selected_inferior().pid
    left, maps, within = int(os.environ["MAX"]), Maps(), {}
    with open(os.environ["LOG"], "w") as log:
        while left:
            gdb.execute("continue", to_string=True)
            thread = gdb.selected_thread()
            if thread is None:
                break
            tid = thread.ptid[1]
            frame = gdb.newest_frame()
            # A thread stops at the begin of a call and at its end, in turn
            if tid not in within:
                within[tid] = int(frame.read_register("orig_rax"))
                continue
            maps.update(pid)
            found, sure = frames()
            sure = sure and all(map(maps.is_code, found))
            result = int(frame.read_register("rax")) & MASK
            result -= (result >> 63) << 64
            print("call", tid, within.pop(tid), result, "sure" if sure else "unsure", *map(maps.frame, found), file=log)
            left -= 1
    if gdb.selected_inferior().pid:
        gdb.execute("kill", to_string=True)
    return 0


status = 2
try:
    status = main()
except gdb.error as error:
    print(f"stack_gdb.py: {error}", file=sys.stderr)
gdb.execute(f"quit {status}")
