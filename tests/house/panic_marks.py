# SPDX-License-Identifier: GPL-2.0
"""usage: panic_marks.py COUNT [MODULE]

In a guest: write COUNT marks, the last ones just before it panics, on its own or, with MODULE,
when the next packet arrives after that is loaded.
"""
import os, resource, subprocess, sys, time
tracing, count = "/sys/kernel/tracing", int(sys.argv[1])
marker = os.open(tracing + "/trace_marker", os.O_WRONLY)
ledger = "/sys/kernel/config/tracecast/rig/ledger"
def mark(first, last):
    for i in range(first, last):
        os.write(marker, b"mark %d" % i)
mark(0, 100)
# Until the collector answers, and the kernel knows its way there
while True:
    text = open(ledger).read()
    if "acknowledged 0 " not in text and "panic: through eth0" in text:
        break
    time.sleep(0.1)
print(os.getpid(), flush=True)
# For the output, and for the heartbeat after that
time.sleep(1)
mark(100, count)
# A switch that nothing but the panic can bring off this machine. On a busy host a short
# sleep may be over before the task is switched out.
def switches():
    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
before = switches()
while switches() == before:
    time.sleep(0.001)
if len(sys.argv) > 2:
    subprocess.run(["insmod", sys.argv[2]], check=True)
    time.sleep(60)
    sys.exit("no packet has arrived")
with open("/proc/sysrq-trigger", "w") as f:
    f.write("c")
