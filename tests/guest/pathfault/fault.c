// SPDX-License-Identifier: GPL-2.0
/*
 * Delays or blocks a chosen function of the kernel with a chosen probability for
 * chosen tasks, so that a test knows why a call was slow:
 *
 *	insmod pathfault.ko function=pipe_read mode=spin usec=5000 permille=50 comm=load
 *	insmod pathfault.ko function=virtblk_done mode=spin permille=1000 interrupts=1
 *
 * With interrupts=1 it is delayed in interrupts of either kind, and not in tasks;
 * only spin will do there. shots, which can be written, is how many times it still
 * happens.
 *
 * spin		spins in the function
 * extra	calls pathfault_extra(), which spins
 * sleep	calls schedule(); the kthread pathfault-waker wakes it
 * extrasleep	calls pathfault_extra(), which does
 * lock		takes a mutex, always; the kthread pathfault-hold holds it now and then
 * irq		raises an interrupt, which spins
 * none		does nothing, for healthy runs
 *
 * The kthreads run on CPU 0; pathload.c leaves it to them, since their timers would be a
 * second cause of delay.
 *
 * For tests only: it must not be loaded for a function that may not sleep.
 *
 * The function is entered by a direct call (register_ftrace_direct), which comes
 * after the function_graph tracer has seen the entry: what happens there is the
 * function's own time. Only pathfault_extra() and pathfault_irq() are traced; other
 * traced functions are called only as the mode requires.
 */
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

#include <asm/tsc.h>

#include "pathfault.h"

static char *function = "";
module_param(function, charp, 0444);
static char *mode = "none";
module_param(mode, charp, 0444);
static unsigned int usec = 5000;
module_param(usec, uint, 0444);
static unsigned int permille = 50;
module_param(permille, uint, 0444);
static char *comm = "";
module_param(comm, charp, 0444);
static unsigned int seed = 1;
module_param(seed, uint, 0444);
static bool interrupts;
module_param(interrupts, bool, 0444);
static int shots = INT_MAX;
module_param(shots, int, 0644);
static unsigned int hits;
module_param(hits, uint, 0444);

enum mode {
	MODE_NONE,
	MODE_SPIN,
	MODE_EXTRA,
	MODE_SLEEP,
	MODE_EXTRASLEEP,
	MODE_LOCK,
	MODE_IRQ,
};

static const char *const modes[] = { "none",	   "spin", "extra", "sleep",
				     "extrasleep", "lock", "irq" };
static int what;

/* A task that sleeps until a time of the TSC */
#define SLEEPERS 64
static struct sleeper {
	struct task_struct *task;
	u64 until;
} sleepers[SLEEPERS];

static struct task_struct *helper;
static struct ftrace_ops ops;
DEFINE_MUTEX(pathfault_mutex);

static u64 cycles(void)
{
	return (u64)usec * tsc_khz / 1000;
}

void pathfault_spin(void)
{
	u64 end = rdtsc_ordered() + cycles();

	while (rdtsc_ordered() < end)
		cpu_relax();
}

void pathfault_sleep(void)
{
	struct sleeper *s;

	for (s = sleepers; s < sleepers + SLEEPERS; s++) {
		if (!cmpxchg(&s->task, NULL, current))
			break;
	}
	if (s == sleepers + SLEEPERS)
		return;
	set_current_state(TASK_UNINTERRUPTIBLE);
	WRITE_ONCE(s->until, rdtsc_ordered() + cycles());
	while (READ_ONCE(s->until)) {
		schedule();
		set_current_state(TASK_UNINTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
	WRITE_ONCE(s->task, NULL);
}

static int wake(void *unused)
{
	struct task_struct *task;
	struct sleeper *s;

	while (!kthread_should_stop()) {
		usleep_range(200, 300);
		for (s = sleepers; s < sleepers + SLEEPERS; s++) {
			u64 until = READ_ONCE(s->until);

			if (!until || rdtsc_ordered() < until)
				continue;
			task = s->task;
			get_task_struct(task);
			WRITE_ONCE(s->until, 0);
			wake_up_process(task);
			put_task_struct(task);
		}
	}
	return 0;
}

/* Holds the mutex for the part of the time that the probability says */
static int hold(void *unused)
{
	while (!kthread_should_stop()) {
		mutex_lock(&pathfault_mutex);
		usleep_range(usec, usec + 100);
		mutex_unlock(&pathfault_mutex);
		usleep_range(usec * 1000 / permille, usec * 1100 / permille);
	}
	return 0;
}

static void raise(struct irq_work *work)
{
	pathfault_irq();
}

static DEFINE_IRQ_WORK(irq, raise);

static bool is_chosen(void)
{
	const char *a = current->comm, *b = comm;

	if (interrupts)
		return !in_task();
	while (*b && *a == *b) {
		a++;
		b++;
	}
	return !*b && in_task();
}

/* Only one task is chosen in the tests: a race would cost randomness alone */
static bool is_due(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % 1000 < permille;
}

void pathfault_hit(void);
void pathfault_hit(void)
{
	if (!is_chosen())
		return;
	if (what == MODE_LOCK) {
		mutex_lock(&pathfault_mutex);
		mutex_unlock(&pathfault_mutex);
		return;
	}
	if (!is_due() || READ_ONCE(shots) <= 0)
		return;
	shots--;
	hits++;
	if (what == MODE_SPIN)
		pathfault_spin();
	else if (what == MODE_EXTRA)
		pathfault_extra(false);
	else if (what == MODE_EXTRASLEEP)
		pathfault_extra(true);
	else if (what == MODE_SLEEP)
		pathfault_sleep();
	else if (what == MODE_IRQ)
		irq_work_queue(&irq);
}

extern void pathfault_entry(void);

asm("	.pushsection .text, \"ax\", @progbits\n"
    "	.type pathfault_entry, @function\n"
    "	.globl pathfault_entry\n"
    "pathfault_entry:\n"
    "	pushq %rbp\n"
    "	movq %rsp, %rbp\n"
    "	pushq %rax\n"
    "	pushq %rdi\n"
    "	pushq %rsi\n"
    "	pushq %rdx\n"
    "	pushq %rcx\n"
    "	pushq %r8\n"
    "	pushq %r9\n"
    "	pushq %r10\n"
    "	call pathfault_hit\n"
    "	popq %r10\n"
    "	popq %r9\n"
    "	popq %r8\n"
    "	popq %rcx\n"
    "	popq %rdx\n"
    "	popq %rsi\n"
    "	popq %rdi\n"
    "	popq %rax\n"
    "	leave\n"
    "	ret\n"
    "	.size pathfault_entry, .-pathfault_entry\n"
    "	.popsection\n");

static int __init pathfault_init(void)
{
	int err;

	what = match_string(modes, ARRAY_SIZE(modes), mode);
	if (what < 0 || !permille || !seed)
		return -EINVAL;
	if (interrupts && what != MODE_SPIN)
		return -EINVAL;
	if (what == MODE_NONE)
		return 0;
	if (what == MODE_SLEEP || what == MODE_EXTRASLEEP)
		helper = kthread_run_on_cpu(wake, NULL, 0, "pathfault-waker");
	if (what == MODE_LOCK)
		helper = kthread_run_on_cpu(hold, NULL, 0, "pathfault-hold");
	if (IS_ERR(helper))
		return PTR_ERR(helper);
	err = ftrace_set_filter(&ops, function, strlen(function), 0);
	if (!err)
		err = register_ftrace_direct(&ops,
					     (unsigned long)pathfault_entry);
	if (err && helper)
		kthread_stop(helper);
	return err;
}

static void __exit pathfault_exit(void)
{
	if (what == MODE_NONE)
		return;
	unregister_ftrace_direct(&ops, (unsigned long)pathfault_entry, true);
	irq_work_sync(&irq);
	if (helper)
		kthread_stop(helper);
}

module_init(pathfault_init);
module_exit(pathfault_exit);
MODULE_DESCRIPTION("Delays a function of the kernel, for tests");
MODULE_LICENSE("GPL");
