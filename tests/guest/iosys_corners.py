#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Calls in rare states: work DIR prints what each is about; check WORK REPORT compares."""
import os
import re
import socket
import sys
import threading
import time


def in_connect(tid):
    with open(f"/proc/self/task/{tid}/syscall", encoding="ascii") as syscall:
        return syscall.read().startswith("42 ")


def socket_file(path):
    """A descriptor of the file, not of the socket that is bound to it"""
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(path)
        fd = os.open(path, os.O_PATH)
        print("file", path, os.fstat(fd).st_ino, fd)
        os.close(fd)


def fast_open():
    """Data goes with the SYN: the peer has no number yet"""
    with socket.socket() as listener, socket.socket() as client:
        listener.setsockopt(socket.SOL_TCP, socket.TCP_FASTOPEN, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        client.setblocking(False)
        try:
            sent = client.sendto(b"12345", socket.MSG_FASTOPEN, listener.getsockname())
        except BlockingIOError:
            sent = 0
        print("syn", sent, client.fileno())


def replaced(path):
    """While a connect() waits, its descriptor becomes that of another socket"""
    listener, waiting, client = (socket.socket(socket.AF_UNIX) for _ in range(3))
    with listener, waiting, client, socket.socket() as tcp, socket.socket() as other:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen(1)
        other.connect(tcp.getsockname())
        listener.bind(path)
        listener.listen(0)
        waiting.connect(path)
        fd = client.fileno()
        thread = threading.Thread(target=client.connect, args=(path,))
        thread.start()
        while not in_connect(thread.native_id):
            time.sleep(0.01)
        print("connect", thread.native_id, fd)
        os.dup2(other.fileno(), fd)
        listener.accept()
        thread.join()


def work(where):
    socket_file(f"{where}/file")
    fast_open()
    replaced(f"{where}/listener")


def field(line, name):
    return re.search(rf"\b{name}=(\S*)", line).group(1)


def one(lines, what):
    if len(lines) != 1:
        sys.exit(f"{len(lines)} records of {what}:\n" + "".join(lines))
    return lines[0]


def want(line, **values):
    for name, value in values.items():
        if field(line, name) != value:
            sys.exit(f"{name} is not {value}: {line}")


def check(said, report):
    with open(said, encoding="ascii") as lines:
        words = {w[0]: w[1:] for w in map(str.split, lines)}
    with open(report, encoding="utf-8", errors="replace") as lines:
        calls = [line for line in lines if "io_syscall:" in line]
    path, inode, fd = words["file"]
    of_file = [c for c in calls if f"name={path} " in c and f" fd={fd} " in c]
    if len(of_file) < 2:
        sys.exit(f"{len(of_file)} records of an O_PATH descriptor")
    for line in of_file:
        want(line, id=inode, family="0")
        if "name_asked" in line or field(line, "dev") == "0:0":
            sys.exit(f"an O_PATH descriptor is not a file: {line}")
    sent, fd = words["syn"]
    line = one([c for c in calls if " sendto=5 bytes=5 " in c and f" fd={fd} " in c], "the SYN")
    if sent != "5" or "stream=0 5 " not in line or "isn_known" in line:
        sys.exit(f"data with the SYN: {line}")
    tid, fd = words["connect"]
    line = one([c for c in calls if f"-{tid} " in c and "connect" in c], "the connect")
    want(line, family="1", protocol="0", fd=fd)
    if "isn_known" in line:
        sys.exit(f"the numbers are another socket's: {line}")


if sys.argv[1] == "work":
    work(sys.argv[2])
else:
    check(sys.argv[2], sys.argv[3])
