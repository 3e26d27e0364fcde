# SPDX-License-Identifier: GPL-2.0
"""Actors of the storms: processes that do operations at random, all at once.

Each actor repeats its operation until the time is over and all actors have succeeded at least
once: what one actor switches off, another one has to switch on again.  Failures that may
happen are named; any other error ends the storm.
"""
import errno
import mmap
import os
import random
import sys
import time
import traceback

# s, after the storm, in which an actor must have succeeded once
PATIENCE = 60 * int(os.environ.get("TRACERIG_TIMEOUT_SCALE", "1"))


class Failed(Exception):
    pass


def write(path, text, may_fail=()):
    """Return: true if it was written; false if it failed in a way that it may."""
    try:
        fd = os.open(path, os.O_WRONLY)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)
    except OSError as e:
        # Some error numbers have two names
        if e.errno in [getattr(errno, name) for name in may_fail]:
            return False
        raise Failed(f"{text!r} to {path}: {e.strerror}") from e
    return True


def read(path):
    with open(path) as f:
        return f.read()


def start(function, seed):
    """Run FUNCTION in a new process, with random numbers from SEED."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        function(random.Random(seed))
        status = 0
    except BaseException:
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(status)


def wait(pids):
    failed = [pid for pid in pids if os.waitpid(pid, 0)[1]]
    if failed:
        raise Failed(f"{len(failed)} processes failed")


def act(function, number, succeeded, rng, seconds):
    """succeeded: a byte for each actor, shared by all; one that fails stops no other"""
    begin = time.monotonic()
    tries = done = 0
    try:
        while 0 in succeeded[:] or time.monotonic() < begin + seconds:
            tries += 1
            done += function(rng)
            succeeded[number] = min(done, 1)
            if not done and time.monotonic() > begin + seconds + PATIENCE:
                raise Failed(f"not once in {tries} tries")
            time.sleep(rng.random() / 100)
    except Failed as e:
        raise Failed(f"{function.__name__}: {e}") from e
    finally:
        succeeded[number] = 1
    print(f"{function.__name__}: {done} of {tries}", flush=True)


def run(actors, seed, seconds):
    """Each call of an actor does one thing, and returns whether it came about."""
    succeeded = mmap.mmap(-1, len(actors))
    wait([start(lambda rng, i=i: act(actors[i], i, succeeded, rng, seconds), seed * 1000 + i)
          for i in range(len(actors))])
