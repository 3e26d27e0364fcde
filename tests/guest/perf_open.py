# SPDX-License-Identifier: GPL-2.0
"""usage: perf_open.py SYSTEM/EVENT...

Any user may have perf count tracepoints in the user's own tasks. These may not be counted: each
that is counted in one task costs all tasks something. With kernel.perf_event_paranoid=2 root can
open each of them, and a child that has given up its rights inherits it; an unprivileged user can
open none of them, but can open sched_switch.
"""
import ctypes, errno, os, struct, sys

PERF_EVENT_OPEN = 298
INHERIT, EXCLUDE_KERNEL = 1 << 1, 1 << 5
UID = 65534
libc = ctypes.CDLL(None, use_errno=True)


def number(event):
    with open(f"/sys/kernel/tracing/events/{event}/id") as file:
        return int(file.read())


def perf_open(event, flags):
    """Return: a descriptor, or a negative errno"""
    # struct perf_event_attr, PERF_ATTR_SIZE_VER0: type tracepoint
    attr = ctypes.create_string_buffer(struct.pack("=IIQQQQQ", 2, 64, event, 0, 0, 0, flags) + bytes(16), 64)
    fd = libc.syscall(PERF_EVENT_OPEN, attr, 0, -1, -1, 0)
    return fd if fd >= 0 else -ctypes.get_errno()


def in_child(function):
    """Return: whether it is true in a child"""
    child = os.fork()
    if not child:
        os._exit(0 if function() else 1)
    return os.waitpid(child, 0)[1] == 0


def drop_rights():
    os.setgroups([])
    os.setresgid(UID, UID, UID)
    os.setresuid(UID, UID, UID)
    return True


def calls():
    return os.read(os.open("/dev/null", os.O_RDONLY), 1) == b""


with open("/proc/sys/kernel/perf_event_paranoid", "w") as paranoid:
    paranoid.write("2")
events = {event: number(event) for event in sys.argv[1:]}
switch = number("sched/sched_switch")
for name, event in events.items():
    fd = perf_open(event, INHERIT)
    assert fd >= 0, f"root cannot open {name}: {os.strerror(-fd)}"
    assert in_child(lambda: drop_rights() and in_child(calls)), f"a child without rights does not inherit {name}"
    count = struct.unpack("=Q", os.read(fd, 8))[0]
    assert count >= 2 or name != "iosys/io_syscall", f"{name}: {count} calls of a child are counted"
    os.close(fd)
drop_rights()
assert perf_open(switch, EXCLUDE_KERNEL) >= 0, "a user cannot open sched_switch"
for name, event in events.items():
    assert perf_open(event, EXCLUDE_KERNEL) in (-errno.EPERM, -errno.EACCES), f"a user can open {name}"
