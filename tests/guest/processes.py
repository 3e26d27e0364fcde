# SPDX-License-Identifier: GPL-2.0
"""For guest tests that consist of several processes with names."""
import ctypes
import os
import random
import sys
import threading
import time

SCALE = int(os.environ.get("TRACERIG_TIMEOUT_SCALE", 1))


def become(name, what, *args):
    """Fork; the child gets the name, and ends when what(*args) and its threads have ended."""
    pid = os.fork()
    if pid:
        return pid
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)
    random.seed(name)
    try:
        what(*args)
        for thread in threading.enumerate():
            if thread is not threading.current_thread():
                thread.join()
        os._exit(0)
    except BaseException as e:
        print(name, repr(e), file=sys.stderr)
        os._exit(1)


def until(done, what, seconds=60):
    """Wait until done() returns something true."""
    end = time.monotonic() + seconds * SCALE
    while not done():
        assert time.monotonic() < end, f"not within {seconds * SCALE} s: {what}"
        time.sleep(0.05)


def exactly(read, n):
    """Return: n bytes by calls of read(n), or fewer if the input ends before."""
    data = b""
    while len(data) < n:
        part = read(n - len(data))
        if not part:
            break
        data += part
    return data
