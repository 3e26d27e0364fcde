# SPDX-License-Identifier: GPL-2.0
"""graph_text.py [OPTION...]: the text of a function_graph trace, and its truth on stderr.

Two tasks on each of two CPUs execute ksys_read 1000 times. One in 20 is slow, since f4
takes 5 ms instead of 2 us. The columns are those of print_graph_entry() and
print_graph_return() in Linux's kernel/trace/trace_functions_graph.c, arrows those of
print_graph_irq():

  abs       an absolute time in front
  proc      a column with the task
  flags     a column with the context
  nodur     no durations
  tail      names after closing braces
  args, retval, retaddr   what these options add
  irq       an interrupt of 1 ms with arrows in f2 of each 7th execution
  event     events as comments, sched_switch where the task changes
  switch    "A => B" where the task of a CPU changes
  lost      50 events are lost in the middle, with half of an execution
  quote     each line is quoted, as in a mail, between two lines of prose
  cut       the first 5 lines and the last 3 are missing
  notask    nothing says which task it is
  sleep     in slow ones, f4 sleeps: schedule() is in it, and another task is meanwhile
"""
import random
import sys

options = set(sys.argv[1:])
random.seed(7)
lines = []
clock = [100_000_000_000, 100_000_500_000]
tasks = [[("bash", 421), ("my job-x", 77)], [("sshd", 5), ("a|b) c", 90)]]
current = [None, None]


def task_text(task):
    return "%s-%d" % (task[0][:7], task[1])


def prefix(cpu, task, flags):
    text = ""
    if "abs" in options:
        text += "%5d.%06d |  " % (clock[cpu] // 10**9, clock[cpu] // 1000 % 10**6)
    text += " %d) " % cpu
    if "proc" in options:
        text += task_text(task).center(14) + "  | "
    if "flags" in options:
        text += " " + flags + " | "
    return text


def duration_text(ns):
    if "nodur" in options:
        return ""
    if ns is None:
        return " " * 14 + "|  "
    mark = " "
    for limit, sign in ((1e9, "$"), (1e8, "@"), (1e7, "*"), (1e6, "#"), (1e5, "!"), (1e4, "+")):
        if ns > limit:
            mark = sign
            break
    return ("%s %s us" % (mark, "%d.%03d" % (ns // 1000, ns % 1000))).ljust(14) + "|  "


def put(cpu, task, text, ns=None, depth=0, flags="....."):
    if "switch" in options and current[cpu] != task and current[cpu]:
        rule = " " + "-" * 42
        lines.append((clock[cpu], rule))
        lines.append((clock[cpu], " %d) %s => %s" % (cpu, task_text(current[cpu]).center(14), task_text(task).center(14))))
        lines.append((clock[cpu], rule))
        lines.append((clock[cpu], ""))
    if "event" in options and current[cpu] != task and current[cpu]:
        old = current[cpu]
        lines.append((clock[cpu], prefix(cpu, old, flags) + duration_text(None) +
                      "/* sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120 */"
                      % (old[0], old[1], "D" if "sleep" in options else "R+", task[0], task[1])))
    current[cpu] = task
    lines.append((clock[cpu], prefix(cpu, task, flags) + duration_text(ns) + "  " * depth + text))


def name_in_entry(name):
    return name + ("(fd=0x3, buf={1, \"|\"}, x=')')" if "args" in options else "()")


def after_entry():
    return " /* <-do_syscall_64+0x4b/0x110 */" if "retaddr" in options else ""


def after_leaf(name):
    text = " /* = 0x0 */" if "retval" in options else ""
    return text or (" /* <-do_syscall_64+0x4b/0x110 */" if "retaddr" in options else "")


def after_exit(name):
    if "retval" in options:
        return " /* %s = -11 */" % name
    return " /* %s */" % name if "tail" in options else ""


def leaf(cpu, task, name, ns, depth, flags="....."):
    put(cpu, task, name_in_entry(name) + ";" + after_leaf(name), ns, depth, flags)
    clock[cpu] += ns


def call(cpu, task, name, depth, body, flags="....."):
    begin = clock[cpu]
    put(cpu, task, name_in_entry(name) + " {" + after_entry(), None, depth, flags)
    clock[cpu] += 100
    body(depth + 1)
    clock[cpu] += 150
    put(cpu, task, "}" + after_exit(name), clock[cpu] - begin, depth, flags)


def arrow(cpu, task, text):
    lines.append((clock[cpu], prefix(cpu, task, "d.h1.") + (text if "nodur" in options else "  %s |" % text)))


def interrupt(cpu, task, depth):
    arrow(cpu, task, "==========>")
    call(cpu, task, "__sysvec_apic_timer_interrupt", depth,
         lambda d: leaf(cpu, task, "hrtimer_interrupt", 1_000_000, d, "d.h1."), "d.h1.")
    arrow(cpu, task, "<==========")


def execution(i, cpu, task):
    slow = i % 20 == 13
    about = lambda ns: int(ns * random.uniform(0.9, 1.1))

    def f4(depth):
        if "sleep" not in options or not slow:
            leaf(cpu, task, "f4 [ext4]", about(5_000_000 if slow else 2_000), depth)
            return

        def asleep(d):
            other = ("hog", 999)
            clock[cpu] += 1000
            begin = clock[cpu]
            put(cpu, other, "hog_it() {", None, 0)
            clock[cpu] += 5_000_000
            put(cpu, other, "}", clock[cpu] - begin, 0)
            put(cpu, task, "finish_task_switch();", 300, d)
            clock[cpu] += 300

        call(cpu, task, "f4 [ext4]", depth, lambda d: call(cpu, task, "schedule", d, asleep))

    def f2(depth):
        clock[cpu] += about(2_000)
        if "irq" in options and i % 7 == 0:
            interrupt(cpu, task, depth)

    def body(depth):
        call(cpu, task, "f2", depth, f2)
        call(cpu, task, "f3", depth, f4)
        clock[cpu] += about(500)

    call(cpu, task, "ksys_read", 0, body)
    clock[cpu] += about(3_000)
    return slow


slow = 0
for i in range(1000):
    cpu = i % 2
    if i == 500 and "lost" in options:
        begin = len(lines)
        execution(6, cpu, tasks[cpu][0])
        del lines[begin + 3:]
        lines.append((clock[cpu], "CPU:%d [LOST 50 EVENTS]" % cpu))
    slow += execution(i, cpu, tasks[cpu][i // 2 % 2])

if "abs" in options:
    lines.sort(key=lambda line: line[0])
text = [line[1] for line in lines]
if "cut" in options:
    text = text[5:-3]
if "quote" in options:
    text = ["Hello,", "this is what I see | with 0) 1 us:", ""] + ["> " + line for line in text] + ["", "Is that (); normal?"]
else:
    text = ["# tracer: function_graph", "#", "# CPU  DURATION                  FUNCTION CALLS",
            "# |     |   |                     |   |   |   |"] + text
print("\n".join(text))
print("slow=%d" % slow, file=sys.stderr)
