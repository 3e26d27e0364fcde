# SPDX-License-Identifier: GPL-2.0
"""graph_cases.py CASE: the text of a function_graph trace in which one of 20 executions of vfs_read is slow.

  irq       a device's interrupt handler takes 800 us in them: f3 is interrupted
  gap       the thread migrates to a CPU whose records are lost meanwhile: they cannot be judged
  snip      f3 is slow in them, but "[...]" is instead of the lines that say so
  wrapped   the same, with lines wrapped in the middle by a mail program
  names     thread 421 is renamed from bash to ls before the first of them
  most      f3 has nine tenths of all normal time, and takes ten times as long in them
  second    in them f3 takes 2 s, a duration that has no fraction
  softirq   in them an interrupt without flags or arrows ends with a softirq of 800 us
  one       in the first of them f3 takes 500 ms, in the others hardly longer than usual
  healthy   none is slow
"""
import random
import sys

case = sys.argv[1]
random.seed(3)
clock = [100_000_000, 100_000_000]


def line(cpu, event, duration, text, depth, flags=".....", name="work"):
    """A line of trace-cmd report or of tracefs' trace with other events beside"""
    took = " " * 13 if duration is None else \
        "%10d us" % (duration // 1000) if duration >= 1_000_000_000 else "%10.3f us" % (duration / 1000)
    print("%16s-421   [%03d] %s %d.%06d: %s: %s   |  %s%s" % (
        name, cpu, flags, clock[cpu] // 10**9, clock[cpu] // 1000 % 10**6, event, took, "  " * depth, text))


def enter(cpu, text, depth, **more):
    line(cpu, "funcgraph_entry", None, text + "() {", depth, **more)


def leave(cpu, duration, depth, **more):
    line(cpu, "funcgraph_exit", duration, "}", depth, **more)


def leaf(cpu, text, duration, depth, **more):
    line(cpu, "funcgraph_entry", duration, text + "();", depth, **more)
    clock[cpu] += duration


def interrupt(cpu):
    begin = clock[cpu]
    enter(cpu, "__common_interrupt", 2, flags="d....")
    enter(cpu, "handle_edge_irq", 3, flags="d.h..")
    leaf(cpu, "slow_handler", 800_000, 4, flags="d.h..")
    leave(cpu, clock[cpu] - begin, 3, flags="d.h..")
    leave(cpu, clock[cpu] - begin, 2, flags="d....")


def softirq(cpu):
    begin = clock[cpu]
    enter(cpu, "do_IRQ", 2, flags="d.h..")
    leaf(cpu, "handle_irq", 1_000, 3, flags="d.h..")
    enter(cpu, "irq_exit", 3, flags="d.h..")
    enter(cpu, "__do_softirq", 4, flags="d.h..")
    enter(cpu, "net_rx_action", 5, flags="d.h..")
    leaf(cpu, "slow_poll", 800_000, 6, flags="d.h..")
    for depth in (5, 4, 3):
        leave(cpu, clock[cpu] - begin - 1_000, depth, flags="d.h..")
    leave(cpu, clock[cpu] - begin, 2, flags="d.h..")


def execution(slow, i):
    name = ("ls" if i > 100 else "bash") if case == "names" else "work"
    begin = clock[0]
    enter(0, "vfs_read", 0, name=name)
    for function in ("f1", "f2"):
        leaf(0, function, random.randrange(2_900, 3_100), 1, name=name)
    usual = random.randrange(58_000, 62_000) if case == "most" else random.randrange(2_900, 3_100)
    times = {"second": 2_000_000_000 // usual, "one": 100_000 if i == 113 else 3}.get(case, 10)
    if slow and case in ("irq", "softirq"):
        enter(0, "f3", 1)
        at = clock[0]
        (interrupt if case == "irq" else softirq)(0)
        clock[0] += usual
        leave(0, clock[0] - at, 1)
    elif slow and case == "gap":
        leaf(0, "f3", usual, 1)
        # It goes on in what is lost on CPU 1, which records again before it returns
        clock[1] = clock[0] + 5_500_000
        print("CPU:1 [LOST 50 EVENTS]")
        leave(1, clock[1] - begin, 0)
        clock[0] = clock[1] + 1_000
        return
    elif slow and case in ("snip", "wrapped"):
        clock[0] += 600_000
        if case == "snip":
            print("[...]")
        else:
            print("%16s-421   [000] ..... %d.%06d: funcgraph_entry:    600.000" % (
                name, clock[0] // 10**9, clock[0] // 1000 % 10**6))
            print("us   |    f3();")
    else:
        leaf(0, "f3", usual * (times if slow else 1), 1, name=name)
    leave(0, clock[0] - begin, 0, name=name)
    clock[0] += 1_000


print("# tracer: nop\n#")
for k in range(400):
    execution(k % 20 == 13 and k > 100 and case != "healthy", k)
