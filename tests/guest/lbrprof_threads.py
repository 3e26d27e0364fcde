# SPDX-License-Identifier: GPL-2.0
"""Threads for lbrprof-maps.sh.

usage: lbrprof_threads.py headless      the main thread ends, and another one stays
       lbrprof_threads.py uring         io_uring makes a thread; print our id and its
"""
import ctypes
import os
import sys
import threading
import time

SYS_EXIT = 60
SYS_IO_URING_SETUP = 425
SETUP_SQPOLL = 1 << 1
PARAMS_BYTES = 120
FLAGS_AT = 2        # in 32-bit words

libc = ctypes.CDLL(None, use_errno=True)

if sys.argv[1] == "headless":
    threading.Thread(target=time.sleep, args=(1000,)).start()
    libc.syscall(SYS_EXIT, 0)
else:
    before = set(os.listdir("/proc/self/task"))
    params = (ctypes.c_uint32 * (PARAMS_BYTES // 4))()
    params[FLAGS_AT] = SETUP_SQPOLL
    ring = libc.syscall(SYS_IO_URING_SETUP, 4, ctypes.byref(params))
    if ring < 0:
        sys.exit("io_uring_setup: " + os.strerror(ctypes.get_errno()))
    (thread,) = set(os.listdir("/proc/self/task")) - before
    print(os.getpid(), thread)
