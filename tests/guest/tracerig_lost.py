# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_lost.py GEN_CASES TRACERIG MOUNT-POINT DISK

Writes cases in MOUNT-POINT, as the watch does, and kills the writer or stops the file
system at a random moment. Each case that is there then is whole, and the next writer finds
and leaves no half one.
"""
import fcntl, os, random, shutil, signal, struct, subprocess, sys, time

gen, tracerig, mount, disk = sys.argv[1:]
EXT4_IOC_SHUTDOWN = 0x8004587D
WITHOUT_LOG = 2
ROUNDS = 4
cases = mount + "/cases"
seed = int.from_bytes(os.urandom(4), "little")
random.seed(seed)
print("seed", seed)


def write(names):
    """Run a process that writes a case for each name"""
    return subprocess.Popen([gen, cases, str(1 << 40)] + [n + "=5" for n in names])


def names(count):
    return ["".join(random.choices("abcdefgh", k=12)) for _ in range(count)]


def numbers():
    return sorted(int(n) for n in os.listdir(cases) if n.isdigit())


def check(least):
    """Check that all visible cases are complete; the next writer removes the rest"""
    found = numbers()
    for number in found:
        done = subprocess.run([tracerig, "verify", "--dir", cases, str(number)], capture_output=True, text=True)
        assert done.returncode == 0, (number, done.stderr)
    assert set(least) <= set(found), (least, found)
    assert write(names(1)).wait() == 0
    now = numbers()
    assert now[:-1] == found and now[-1] > max(found, default=0), (found, now)
    rest = [n for n in os.listdir(cases) if not n.isdigit()]
    assert rest == ["groups.json"], rest


def lose():
    """Stop the file system as if the machine had lost its power"""
    fd = os.open(mount, os.O_RDONLY)
    fcntl.ioctl(fd, EXT4_IOC_SHUTDOWN, struct.pack("=I", WITHOUT_LOG))
    os.close(fd)


def again():
    subprocess.check_call(["umount", mount])
    subprocess.check_call(["mount", disk, mount])


start = time.monotonic()
assert write(names(20)).wait() == 0
each = (time.monotonic() - start) / 20
inside = {"killed": 0, "lost": 0}
for n in range(10 * ROUNDS):
    if n >= 2 * ROUNDS and all(inside.values()):
        break
    how = "lost" if n % 2 else "killed"
    shutil.rmtree(cases, ignore_errors=True)
    os.sync()
    writer = write(names(40))
    moment = each * random.uniform(0.5, 12)
    time.sleep(moment)
    seen = numbers() if os.path.exists(cases) else []
    if how == "killed":
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    else:
        lose()
        # It finds an error, and reports it
        writer.kill()
        writer.wait()
        again()
    left = [n for n in os.listdir(cases) if n.startswith(".case-")] if os.path.exists(cases) else []
    inside[how] += bool(left)
    # An entry in the directory stays, once it is synchronized
    least = seen if how == "killed" else seen[:-1]
    if least or os.path.exists(cases):
        check(least)
    print(f"{how} after {moment:.3f} s: {len(seen)} cases, in a half one: {bool(left)}")
assert inside["killed"] and inside["lost"], "no moment was within a case: %s" % inside
