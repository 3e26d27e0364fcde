# SPDX-License-Identifier: GPL-2.0
"""softirqs_text.py SEED TASKLETS [busy]: function_graph text of 500 executions of ksys_write.

Each spends 40 % of its time in a softirq NET_RX that it runs; in one of 15 that is
somewhat longer, and TASKLETS of them have a tasklet of 9 ms too.  On a busy host, one of 20
loses the CPU for a while, in any of its functions.
"""
import random
import sys

EXECUTIONS = 500
FUNCTIONS = ("rw_verify_area", "lock_sock_nested", "skb_page_frag_refill", "tcp_push", "release_sock")

random.seed(int(sys.argv[1]))
tasklets = set(random.sample(range(EXECUTIONS), int(sys.argv[2])))
busy = "busy" in sys.argv
now = 100_000_000_000


def put(text, depth, ns=None):
    took = "|" if ns is None else "%d.%03d us    |" % (ns // 1000, ns % 1000)
    print("%5d.%06d |   0)  sender-77    | %16s  %s%s" % (now // 10**9, now // 1000 % 10**6, took, "  " * depth, text))


def leaf(name, depth, ns):
    global now
    put(name + "();", depth, ns)
    now += ns


def calls(name, depth, inner):
    global now
    start = now
    put(name + "() {", depth)
    now += 1000
    inner()
    now += 1000
    put("}", depth, now - start)


def softirq(handler, work, depth, ns):
    def run():
        calls(handler, depth + 2, lambda: leaf(work, depth + 3, ns))
    calls("do_softirq", depth, lambda: calls("handle_softirqs", depth + 1, run))


def write(has_tasklet):
    late = random.choice(FUNCTIONS) if busy and not random.randrange(20) else None
    for name in FUNCTIONS:
        away = random.randrange(300_000, 1_500_000) if name == late else 0
        leaf(name, 1, random.randrange(30_000, 34_000) + away)
        if name == "skb_page_frag_refill" and has_tasklet:
            softirq("tasklet_action", "slow_tasklet", 1, 9_000_000)
        if name == "tcp_push":
            softirq("net_rx_action", "process_backlog", 1, random.randrange(130_000, 134_000) if random.randrange(15)
                    else random.randrange(230_000, 280_000))


for i in range(EXECUTIONS):
    calls("ksys_write", 0, lambda: write(i in tasklets))
    now += 1_000_000
