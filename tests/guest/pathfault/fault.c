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
 * softirq	raises an interrupt, after which a tasklet spins
 * hrtimer	starts an hrtimer that expires at once and spins, in hard interrupt
 * timer	starts a timer_list that spins when it next interrupts a chosen task
 * reclaim	allocates memory of the task's control group, and keeps it
 * fault	reads from a page of the task: a new one of those at address each time
 * preempt	raises an interrupt that wakes pathfault-hog, which spins with real-time
 *		priority on the last CPU
 * count	does nothing but count, to see whether a function will do
 * none		does nothing, for healthy runs
 *
 * hits is how often it happened.  Where the function may not sleep, what needs that is
 * not done and counted in refused.
 *
 * The other kthreads run on CPU 0; pathload.c leaves it to them, since their timers would
 * be a second cause of delay.
 *
 * The function is entered by a direct call (register_ftrace_direct), which comes
 * after the function_graph tracer has seen the entry: what happens there is the
 * function's own time. Only pathfault_extra() and pathfault_irq() are traced; other
 * traced functions are called only as the mode requires.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/gfp.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/timer.h>
#include <linux/uaccess.h>

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
static unsigned int refused;
module_param(refused, uint, 0444);
static unsigned long address;
module_param(address, ulong, 0644);
static unsigned int pages = 256;
module_param(pages, uint, 0444);

enum mode {
	MODE_NONE,
	MODE_SPIN,
	MODE_EXTRA,
	MODE_SLEEP,
	MODE_EXTRASLEEP,
	MODE_LOCK,
	MODE_IRQ,
	MODE_SOFTIRQ,
	MODE_HRTIMER,
	MODE_TIMER,
	MODE_RECLAIM,
	MODE_FAULT,
	MODE_PREEMPT,
	MODE_COUNT,
};

static const char *const modes[] = {
	"none",	   "spin",  "extra",   "sleep",	  "extrasleep",
	"lock",	   "irq",   "softirq", "hrtimer", "timer",
	"reclaim", "fault", "preempt", "count",
};
static int what;

/* Modes in which the task may sleep */
#define SLEEPS                                                     \
	(BIT(MODE_SLEEP) | BIT(MODE_EXTRASLEEP) | BIT(MODE_LOCK) | \
	 BIT(MODE_RECLAIM) | BIT(MODE_FAULT) | BIT(MODE_COUNT))

/* Bytes from one page that MODE_FAULT reads to the next: beyond what is read around it */
#define FAULT_STEP (32 * PAGE_SIZE)

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
	/* where it takes time from the load, less often */
	unsigned int pause = num_online_cpus() > 1 ? 200 : 1000;

	while (!kthread_should_stop()) {
		usleep_range(pause, pause + 100);
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

/* Spins each time it is woken, ahead of all other tasks of its CPU */
static int hog(void *unused)
{
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		schedule();
		if (!kthread_should_stop())
			pathfault_spin();
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

static void soft(struct tasklet_struct *unused)
{
	pathfault_softirq();
}

static DECLARE_TASKLET(tasklet, soft);

static void on_irq_work(struct irq_work *work)
{
	if (what == MODE_SOFTIRQ)
		tasklet_schedule(&tasklet);
	else if (what == MODE_PREEMPT)
		wake_up_process(helper);
	else
		pathfault_irq();
}

static DEFINE_IRQ_WORK(irq, on_irq_work);

static struct hrtimer hrtimer;

static enum hrtimer_restart hrtimer_expired(struct hrtimer *timer)
{
	pathfault_timer();
	return HRTIMER_NORESTART;
}

static bool is_comm(void);

static void timer_expired(struct timer_list *timer)
{
	if (is_comm()) {
		pathfault_timer();
		hits++;
	} else {
		mod_timer(timer, jiffies + 1);
	}
}

static struct timer_list timer;

/* What MODE_RECLAIM has allocated */
static LIST_HEAD(allocated);

static void reclaim(void)
{
	unsigned int i;

	for (i = 0; i < pages; i++) {
		struct page *page = alloc_page(GFP_KERNEL_ACCOUNT |
					       __GFP_NORETRY | __GFP_NOWARN);

		if (!page)
			break;
		list_add(&page->lru, &allocated);
	}
}

static void give_back(void)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, &allocated, lru) {
		list_del(&page->lru);
		__free_page(page);
	}
}

static void fault(void)
{
	char byte;

	if (!address || get_user(byte, (char __user *)address))
		return;
	address += FAULT_STEP;
}

static bool is_comm(void)
{
	const char *a = current->comm, *b = comm;

	while (*b && *a == *b) {
		a++;
		b++;
	}
	return !*b;
}

static bool is_chosen(void)
{
	if (interrupts)
		return !in_task();
	return in_task() && is_comm();
}

/* A page fault needs the mmap_lock, which only the task itself can have here */
static bool may_sleep(void)
{
	if (preempt_count() || irqs_disabled() || rcu_preempt_depth() ||
	    !task_is_running(current))
		return false;
	return !(BIT(what) & (BIT(MODE_FAULT) | BIT(MODE_COUNT))) ||
	       (!current->pagefault_disabled && current->mm &&
		!rwsem_is_locked(&current->mm->mmap_lock));
}

/* Only one task is chosen in the tests: a race would cost randomness alone */
static bool is_due(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % 1000 < permille;
}

static void act(void)
{
	hits++;
	switch (what) {
	case MODE_SPIN:
		pathfault_spin();
		break;
	case MODE_EXTRA:
		pathfault_extra(false);
		break;
	case MODE_EXTRASLEEP:
		pathfault_extra(true);
		break;
	case MODE_SLEEP:
		pathfault_sleep();
		break;
	case MODE_IRQ:
	case MODE_SOFTIRQ:
	case MODE_PREEMPT:
		irq_work_queue(&irq);
		break;
	case MODE_HRTIMER:
		hrtimer_start(&hrtimer, 0, HRTIMER_MODE_REL_PINNED_HARD);
		break;
	case MODE_TIMER:
		hits--; /* counts when it expires */
		mod_timer(&timer, jiffies);
		break;
	case MODE_RECLAIM:
		reclaim();
		break;
	case MODE_FAULT:
		fault();
		break;
	}
}

/* What it does may call the function again */
static struct task_struct *acting;

static void hit(void)
{
	if (!is_chosen() || READ_ONCE(acting) == current)
		return;
	if (what != MODE_LOCK && (!is_due() || READ_ONCE(shots) <= 0))
		return;
	if (BIT(what) & SLEEPS && !may_sleep()) {
		refused++;
		return;
	}
	if (!interrupts)
		WRITE_ONCE(acting, current);
	if (what == MODE_LOCK) {
		hits += mutex_is_locked(&pathfault_mutex);
		mutex_lock(&pathfault_mutex);
		mutex_unlock(&pathfault_mutex);
	} else {
		shots--;
		act();
	}
	if (!interrupts)
		WRITE_ONCE(acting, NULL);
}

/* Tasks and interrupts that are in hit(), where they may sleep */
static atomic_t inside = ATOMIC_INIT(0);

void pathfault_hit(void);
void pathfault_hit(void)
{
	atomic_inc(&inside);
	hit();
	atomic_dec(&inside);
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

static int start_helper(void)
{
	if (what == MODE_SLEEP || what == MODE_EXTRASLEEP) {
		helper = kthread_run_on_cpu(wake, NULL, 0, "pathfault-waker");
	} else if (what == MODE_LOCK) {
		helper = kthread_run_on_cpu(hold, NULL, 0, "pathfault-hold");
	} else if (what == MODE_PREEMPT) {
		helper = kthread_run_on_cpu(hog, NULL, num_online_cpus() - 1,
					    "pathfault-hog");
		if (!IS_ERR(helper))
			sched_set_fifo(helper);
	}
	return PTR_ERR_OR_ZERO(helper);
}

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
	hrtimer_init(&hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer.function = hrtimer_expired;
	timer_setup(&timer, timer_expired, TIMER_PINNED);
	err = start_helper();
	if (err)
		return err;
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
	/* That has waited for tasks on their way in; some may sleep there until the helper acts */
	while (atomic_read(&inside))
		msleep(1);
	/* Tasks on their way out */
	synchronize_rcu_tasks();
	irq_work_sync(&irq);
	tasklet_kill(&tasklet);
	hrtimer_cancel(&hrtimer);
	timer_shutdown_sync(&timer);
	if (helper)
		kthread_stop(helper);
	give_back();
}

module_init(pathfault_init);
module_exit(pathfault_exit);
MODULE_DESCRIPTION("Delays a function of the kernel, for tests");
MODULE_LICENSE("GPL");
