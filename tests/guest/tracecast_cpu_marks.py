# SPDX-License-Identifier: GPL-2.0
"""usage: tracecast_cpu_marks.py FIRST COUNT CPUS MARKER [EVERY]

On each of CPUS, all at once, write COUNT marks, numbered from FIRST, to MARKER; one in EVERY
is larger than a datagram, none if that is not given.
"""
import errno, os, sys
first, count, cpus = map(int, sys.argv[1:4])
every, large = (int(sys.argv[5]), 2500) if sys.argv[5:] else (100, 7)


def write(cpu):
    os.sched_setaffinity(0, [cpu])
    fd = os.open(sys.argv[4], os.O_WRONLY)
    for i in range(first, first + count):
        mark = b"cpu %d mark %d %s" % (cpu, i, b"x" * (large if i % every == 0 else i % 60))
        while True:
            try:
                os.write(fd, mark)
                break
            except OSError as e:
                # While the ring is cleared, nothing is recorded
                if e.errno != errno.EBADF:
                    raise


children = []
for cpu in range(cpus):
    pid = os.fork()
    if not pid:
        write(cpu)
        os._exit(0)
    children.append(pid)
sys.exit(any([os.waitpid(pid, 0)[1] for pid in children]))
