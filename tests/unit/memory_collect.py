# SPDX-License-Identifier: GPL-2.0
"""usage: memory_collect.py SCHEDZ KIB SIZES

test_memory.sh: schedz collect in SIZES sizes of address space, from KIB KiB in steps of
1 MiB.  In each, 10 sessions announce metadata of 16 MiB.  The collector either ends when
it starts, with status 1 and a line about memory; or it holds as many as there is room for,
drops the others, says so, has them in its ledger, and still answers a heartbeat.
"""
import re, resource, select, signal, socket, struct, subprocess, sys

MIB = 1 << 20
SENT = 10
program, begin, sizes = sys.argv[1], int(sys.argv[2]) * 1024, int(sys.argv[3])


def header(kind, session):
    return struct.pack("<2sBBQ", b"TC", 1, kind, session)


def answered(s, datagram):
    """Whether it is answered; UDP may lose it, or data sent before may fill the queue"""
    for _ in range(50):
        s.send(datagram)
        if select.select([s], [], [], 0.2)[0]:
            return s.recv(1000)[:4] == b"TC\1\6"
    return False


def run(size):
    """Return: what the collector did: starting, dropping or holding"""
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))
    p = subprocess.Popen([program, "collect", "--listen=127.0.0.1:0", "--output=collected"], text=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit)
    try:
        line = p.stderr.readline()
        if "out of memory: " in line:
            assert p.wait() == 1 and re.fullmatch(r"schedz: out of memory: [a-z].*\n", line), (size, line)
            return "starting"
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.connect(("127.0.0.1", int(re.search(r" port (\d+)$", line.strip())[1])))
        for session in range(SENT):
            s.send(header(4, 1 + session) + struct.pack("<III", 1, 16 * MIB, 0) + b"x")
        # With less memory, there is no room for any session
        assert size < begin + 4 * MIB or answered(s, header(5, 1000) + bytes(8)), size
        p.send_signal(signal.SIGTERM)
        out, err = p.communicate()
    finally:
        p.kill()
    assert p.returncode == 0, (size, p.returncode, err)
    dropped = sum(int(n) for n in re.findall(r"dropped: (\d+) datagrams", out))
    held = SENT - dropped
    assert (size - begin) // (16 * MIB) - 2 <= held <= size // (16 * MIB), (size, held)
    assert "out of memory: datagrams are dropped" in err, (size, err)
    return f"{held} held"


results = [run(begin + i * MIB) for i in range(sizes)]
print("schedz collect:", ", ".join(f"{results.count(r)} x {r}" for r in sorted(set(results))))
assert len(set(results)) > 2, "the sizes make no difference"
