// SPDX-License-Identifier: GPL-2.0
/*
 * gen_faults SEED BASELINE TRACE [busy|packets]
 *
 * Writes two made-up function_graph traces of a program drawn by SEED, and prints the
 * truth about them. The program is a tree of functions with loops, branches, waits and
 * functions that are called from several places; in TRACE one function, drawn at
 * random, has a fault in some of its calls, of a kind that SEED % KINDS says:
 *
 *	none	no fault: TRACE is healthy
 *	spin	it takes longer itself
 *	sleep	it sleeps until a task or a timer wakes it
 *	lock	it waits or spins for a lock
 *	irq	a hard interrupt takes long
 *	softirq	a softirq after a short hard interrupt takes long
 *	timer	a timer's function takes long, in the softirq or in the hard interrupt
 *	reclaim	it allocates memory, which has to be reclaimed first
 *	journal	it waits for a transaction, until a kernel thread wakes it
 *	network	it waits for a packet, until a softirq wakes it
 *	fault	a page of its user is not there: read from a disk, or many of them
 *	preempt	another task gets its CPU
 *
 * A third of the hosts are loaded: at random moments, of either trace or of TRACE alone,
 * the program does not run for a while, for another task or with nothing recorded of it.
 * With "busy" all hosts are: in many executions for a while as long as one, and a fault is
 * far longer.  With "packets" all executions have a softirq of the network, which takes about
 * as long as they do.
 *
 * The truth: kind=, baseline= (whether it is to be used), loaded=, hits= (executions with
 * a fault) and right=, the names that a right answer may have, with commas.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphdat.h"
#include "prng.h"

#define CPUS 2
#define THREADS 4
#define EXECUTIONS 300
#define MAX_NODES 48
#define MAX_CHILDREN 6
#define MAX_RIGHT 16

enum kind {
	NONE,
	SPIN,
	SLEEP,
	LOCK,
	IRQ,
	SOFTIRQ,
	TIMER,
	RECLAIM,
	JOURNAL,
	NETWORK,
	FAULT,
	PREEMPT,
	KINDS,
};

static const char *const kind_name[] = { "none",    "spin",    "sleep",
					 "lock",    "irq",     "softirq",
					 "timer",   "reclaim", "journal",
					 "network", "fault",   "preempt" };

/* Functions with names of their own; the program's are called f0, f1, ... */
#define NAMES(X)                            \
	X(ksys_read)                        \
	X(schedule)                         \
	X(schedule_timeout)                 \
	X(msleep)                           \
	X(io_schedule)                      \
	X(mutex_lock)                       \
	X(__mutex_lock_slowpath)            \
	X(down_write)                       \
	X(rwsem_down_write_slowpath)        \
	X(_raw_spin_lock)                   \
	X(native_queued_spin_lock_slowpath) \
	X(big_lock)                         \
	X(irq_enter_rcu)                    \
	X(irq_exit_rcu)                     \
	X(handle_irq_event)                 \
	X(disk_interrupt)                   \
	X(hrtimer_interrupt)                \
	X(__hrtimer_run_queues)             \
	X(tick_nohz_handler)                \
	X(long_hrtimer)                     \
	X(handle_softirqs)                  \
	X(net_rx_action)                    \
	X(__napi_poll)                      \
	X(run_timer_softirq)                \
	X(call_timer_fn)                    \
	X(long_timer)                       \
	X(alloc_pages_noprof)               \
	X(get_page_from_freelist)           \
	X(__alloc_pages_slowpath)           \
	X(try_to_free_pages)                \
	X(shrink_node)                      \
	X(shrink_lruvec)                    \
	X(shrink_folio_list)                \
	X(folio_referenced)                 \
	X(try_to_unmap)                     \
	X(shrink_slab)                      \
	X(super_cache_scan)                 \
	X(prune_dcache_sb)                  \
	X(jbd2__journal_start)              \
	X(start_this_handle)                \
	X(wait_transaction_locked)          \
	X(jbd2_journal_commit_transaction)  \
	X(sk_wait_data)                     \
	X(wait_woken)                       \
	X(exc_page_fault)                   \
	X(do_user_addr_fault)               \
	X(handle_mm_fault)                  \
	X(filemap_fault)                    \
	X(folio_wait_bit_common)            \
	X(do_anonymous_page)                \
	X(clear_page_erms)                  \
	X(preempt_schedule_irq)             \
	X(__cond_resched)

#define X(name) F_##name,
enum { NAMES(X) NAMED };
#undef X
#define X(name) #name,
static const char *const names[] = { NAMES(X) NULL };
#undef X

/* Tasks that are not in the program */
enum { WAKER = 77, HOG = 88, JBD2 = 99 };

/**
 * struct node - a call in the program
 * @function:	which
 * @ns:		its self time, typically
 * @chance:	of being called where its caller runs
 * @most:	times that it is called in a row, at most
 * @wait:	chance of a short wait in it
 * @child:	what it calls
 * @children:	number of them
 * @depth:	below the entry
 */
struct node {
	uint32_t function;
	double ns;
	double chance;
	int most;
	double wait;
	int child[MAX_CHILDREN];
	int children;
	int depth;
};

static struct node node[MAX_NODES];
static int nodes;
static double sigma; /* of the logarithm of self times */

/**
 * struct fault - what is injected
 * @kind:	an enum kind
 * @function:	where
 * @ns:		how long, typically
 * @chance:	in how many of its calls
 * @way:	one of several ways for it to look
 * @right:	names that are right
 */
struct fault {
	enum kind kind;
	uint32_t function;
	double ns;
	double chance;
	int way;
	const char *right[MAX_RIGHT];
	int rights;
};

static struct fault fault;

/* What goes on beside the program: per ns of its time, ns, and whether it is recorded */
static struct {
	double rate;
	double ns;
	bool recorded;
} load;

static double tick_rate;
static bool has_events;
static uint64_t state;
static struct gd gd;
static unsigned int calls[GD_MAX_FUNCTIONS];
static bool has_fault, was_hit;
static unsigned int hits;

static double rnd(void)
{
	return unit_interval(xorshift64(&state));
}

static double between(double least, double most)
{
	return least + (most - least) * rnd();
}

static double log_between(double least, double most)
{
	return exp(between(log(least), log(most)));
}

static double normal(void)
{
	return sqrt(-2 * log(rnd())) * cos(2 * M_PI * rnd());
}

static double exponential(double mean)
{
	return -mean * log(rnd());
}

static uint64_t about(double ns)
{
	return ns * exp(sigma * normal()) + 10;
}

/* --- the program */

static int add_node(int depth)
{
	struct node *n = &node[nodes];

	/* some functions are called from many places */
	n->function = rnd() < 0.25 && depth > 1 ?
			      gd_function("f0") + 100 + (uint32_t)(rnd() * 4) :
			      gd_function("f0") + nodes;
	n->ns = log_between(100, 4000);
	n->chance = rnd() < 0.75 ? 1 : between(0.05, 0.95);
	n->most = rnd() < 0.85 ? 1 : 2 + (int)(rnd() * 4);
	n->depth = depth;
	if (rnd() < 0.04)
		n->wait = between(0.2, 1);
	return nodes++;
}

static void draw_program(void)
{
	int wanted = 12 + (int)(rnd() * (MAX_NODES - 12)), parent;

	add_node(0);
	node[0].function = F_ksys_read;
	node[0].chance = 1;
	node[0].most = 1;
	while (nodes < wanted) {
		parent = (int)(rnd() * nodes);
		if (node[parent].children == MAX_CHILDREN ||
		    node[parent].depth > 7)
			continue;
		node[parent].child[node[parent].children++] =
			add_node(node[parent].depth + 1);
	}
}

/* --- what happens in it */

/* Off the CPU; @waker wakes it, in an interrupt if that is 0 */
static void off_cpu(double ns, int waker, int next, unsigned int context)
{
	struct gd_frame saved[GD_MAX_DEPTH];
	int pid = gd.pid, depth = gd.depth;
	unsigned int flags = gd.flags;

	if (!has_events) {
		gd.now += ns;
		return;
	}
	gd.now += 300;
	gd.next_comm = next == HOG ? "hog" : NULL;
	gd_switch(&gd, pid, waker < 0 ? 0x100 : 2, next);
	gd.next_comm = NULL;
	gd.now += ns;
	if (waker >= 0) {
		memcpy(saved, gd.frame, sizeof(saved));
		gd.cpu = !gd.cpu;
		gd.depth = 0;
		gd.pid = waker ? waker : HOG;
		gd.flags = waker ? 0 : context;
		if (context == GD_HARDIRQ)
			gd_irq(&gd, "disk0", true);
		else if (context)
			gd_softirq(&gd, 3, true);
		gd_waking(&gd, pid);
		if (context == GD_HARDIRQ)
			gd_irq(&gd, "disk0", false);
		else if (context)
			gd_softirq(&gd, 3, false);
		memcpy(gd.frame, saved, sizeof(saved));
		gd.cpu = !gd.cpu;
	}
	gd.pid = pid;
	gd.depth = depth;
	gd.flags = flags;
	gd.now += 1500;
	gd_switch(&gd, next, 0, pid);
	gd.now += 300;
}

static void sleep_in(uint32_t function, double ns, int waker,
		     unsigned int context)
{
	if (function) {
		gd_enter(&gd, function);
		gd.now += 100;
	}
	gd_enter(&gd, F_schedule);
	off_cpu(ns, waker, 0, context);
	gd_leave(&gd);
	if (function)
		gd_leave(&gd);
}

/* Time of the current function, in which an execution may lose its CPU */
static void spend(double ns)
{
	double next;

	while (load.rate > 0 && (next = exponential(1 / load.rate)) < ns) {
		gd.now += next;
		ns -= next;
		if (load.recorded)
			off_cpu(exponential(load.ns), -1, HOG, 0);
		else
			gd.now += exponential(load.ns);
	}
	gd.now += ns;
}

static void hard_interrupt(double ns, uint32_t timer)
{
	unsigned int flags = gd.flags;

	gd_call(&gd, F_irq_enter_rcu, 200);
	gd.flags |= GD_HARDIRQ;
	if (timer) {
		gd_enter(&gd, F_hrtimer_interrupt);
		gd.now += 150;
		gd_enter(&gd, F___hrtimer_run_queues);
		gd.now += 150;
		gd_call(&gd, timer, ns);
		gd_leave(&gd);
		gd_leave(&gd);
	} else {
		if (has_events)
			gd_irq(&gd, "disk0", true);
		gd_enter(&gd, F_handle_irq_event);
		gd_call(&gd, F_disk_interrupt, ns);
		gd_leave(&gd);
		if (has_events)
			gd_irq(&gd, "disk0", false);
	}
	gd.flags = flags;
}

static void softirq(unsigned int vec, double ns)
{
	unsigned int flags = gd.flags;

	gd_enter(&gd, F_handle_softirqs);
	gd.flags |= GD_SOFTIRQ;
	if (has_events)
		gd_softirq(&gd, vec, true);
	gd_enter(&gd, vec == 1 ? F_run_timer_softirq : F_net_rx_action);
	gd.now += 200;
	if (vec == 1)
		gd_enter(&gd, F_call_timer_fn);
	gd_call(&gd, vec == 1 ? F_long_timer : F___napi_poll, ns);
	if (vec == 1)
		gd_leave(&gd);
	gd_leave(&gd);
	if (has_events)
		gd_softirq(&gd, vec, false);
	gd.flags = flags;
	gd_leave(&gd);
}

static void end_of_interrupt(unsigned int vec, double ns)
{
	gd_enter(&gd, F_irq_exit_rcu);
	gd.now += 100;
	if (vec)
		softirq(vec, ns);
	gd_leave(&gd);
}

static void tick(void)
{
	hard_interrupt(between(800, 3000), F_tick_nohz_handler);
	end_of_interrupt(rnd() < 0.3 ? (rnd() < 0.5 ? 1 : 3) : 0,
			 between(300, 2000));
}

/* Pages are scanned in turns, and where the time goes differs from turn to turn */
static void reclaim(double ns)
{
	int turns = 1 + (int)(rnd() * 6), i, k;
	double part = ns / turns;

	gd_enter(&gd, F_alloc_pages_noprof);
	gd_call(&gd, F_get_page_from_freelist, 300);
	gd_enter(&gd, F___alloc_pages_slowpath);
	gd_enter(&gd, F_try_to_free_pages);
	for (i = 0; i < turns; i++) {
		gd_enter(&gd, F_shrink_node);
		spend(part * 0.04);
		gd_enter(&gd, F_shrink_lruvec);
		spend(part * 0.1);
		for (k = 0; k < 4; k++) {
			gd_enter(&gd, F_shrink_folio_list);
			spend(part * between(0.01, 0.09));
			gd_call(&gd, F_folio_referenced,
				part * between(0.01, 0.06));
			gd_call(&gd, F_try_to_unmap,
				part * between(0.01, 0.07));
			gd_leave(&gd);
		}
		gd_leave(&gd);
		gd_enter(&gd, F_shrink_slab);
		spend(part * 0.05);
		gd_enter(&gd, F_super_cache_scan);
		spend(part * 0.1);
		gd_call(&gd, F_prune_dcache_sb, part * between(0.05, 0.25));
		gd_leave(&gd);
		gd_leave(&gd);
		gd_leave(&gd);
	}
	gd_leave(&gd);
	gd_call(&gd, F_get_page_from_freelist, 300);
	gd_leave(&gd);
	gd_leave(&gd);
}

static void lock(double ns)
{
	static const uint32_t taken[] = { F_mutex_lock, F_down_write };
	static const uint32_t slow[] = { F___mutex_lock_slowpath,
					 F_rwsem_down_write_slowpath };

	if (fault.way == 2) {
		gd_enter(&gd, F__raw_spin_lock);
		gd_enter(&gd, F_native_queued_spin_lock_slowpath);
		if (has_events)
			gd_lock(&gd, F_big_lock, true);
		gd.now += ns;
		if (has_events)
			gd_lock(&gd, F_big_lock, false);
		gd_leave(&gd);
		gd_leave(&gd);
		return;
	}
	gd_enter(&gd, taken[fault.way]);
	gd_enter(&gd, slow[fault.way]);
	if (has_events)
		gd_lock(&gd, F_big_lock, true);
	gd.now += 300;
	sleep_in(0, ns, WAKER, 0);
	if (has_events)
		gd_lock(&gd, F_big_lock, false);
	gd_leave(&gd);
	gd_leave(&gd);
}

static void one_page_fault(double ns, bool from_disk)
{
	gd_enter(&gd, F_exc_page_fault);
	gd_enter(&gd, F_do_user_addr_fault);
	gd.now += 150;
	gd_enter(&gd, F_handle_mm_fault);
	gd.now += 150;
	if (from_disk) {
		gd_enter(&gd, F_filemap_fault);
		gd_enter(&gd, F_folio_wait_bit_common);
		sleep_in(F_io_schedule, ns, 0, GD_HARDIRQ);
		gd_leave(&gd);
		gd_leave(&gd);
	} else {
		gd_enter(&gd, F_do_anonymous_page);
		spend(ns * 0.3);
		gd_enter(&gd, F_alloc_pages_noprof);
		gd_call(&gd, F_get_page_from_freelist, ns * 0.25);
		gd_leave(&gd);
		gd_call(&gd, F_clear_page_erms, ns * 0.35);
		gd_leave(&gd);
	}
	gd_leave(&gd);
	gd_leave(&gd);
	gd_leave(&gd);
}

static void preempt(double ns)
{
	static const uint32_t by[] = { F_preempt_schedule_irq,
				       F___cond_resched };

	if (!fault.way)
		tick();
	/* the third way is one in which no function that is traced gives up the CPU */
	if (fault.way < 2)
		gd_enter(&gd, by[fault.way]);
	off_cpu(ns, -1, HOG, 0);
	if (fault.way < 2)
		gd_leave(&gd);
}

static void inject(void)
{
	double ns = fault.ns * between(0.6, 1.6);
	int i, pages;

	was_hit = true;
	switch (fault.kind) {
	case SPIN:
		spend(ns);
		break;
	case SLEEP:
		if (fault.way == 1)
			sleep_in(0, ns, WAKER, 0);
		else
			sleep_in(fault.way ? F_schedule_timeout : 0, ns, 0,
				 GD_HARDIRQ);
		break;
	case LOCK:
		lock(ns);
		break;
	case IRQ:
		hard_interrupt(ns, 0);
		end_of_interrupt(0, 0);
		break;
	case SOFTIRQ:
		hard_interrupt(1500, 0);
		end_of_interrupt(3, ns);
		break;
	case TIMER:
		hard_interrupt(fault.way ? ns : 1500,
			       fault.way ? F_long_hrtimer :
					   F_tick_nohz_handler);
		end_of_interrupt(fault.way ? 0 : 1, ns);
		break;
	case RECLAIM:
		reclaim(ns);
		break;
	case JOURNAL:
		gd_enter(&gd, F_jbd2__journal_start);
		gd_enter(&gd, F_start_this_handle);
		gd.now += 400;
		sleep_in(F_wait_transaction_locked, ns, JBD2, 0);
		gd_leave(&gd);
		gd_leave(&gd);
		break;
	case NETWORK:
		gd_enter(&gd, F_sk_wait_data);
		gd_enter(&gd, F_wait_woken);
		sleep_in(F_schedule_timeout, ns, 0, GD_SOFTIRQ);
		gd_leave(&gd);
		gd_leave(&gd);
		break;
	case FAULT:
		pages = fault.way ? 10 + (int)(rnd() * 20) : 1;
		for (i = 0; i < pages; i++)
			one_page_fault(ns / pages, !fault.way);
		break;
	case PREEMPT:
		preempt(ns);
		break;
	default:
		break;
	}
}

/* Of each execution in a softirq of the network, ns */
static double packets;

static void run(const struct node *n)
{
	double ns = about(n->ns), before = ns * rnd();
	int i, k;

	gd_enter(&gd, n->function);
	calls[n->function]++;
	spend(before);
	if (rnd() < tick_rate * ns)
		tick();
	if (packets && n == node) {
		hard_interrupt(1500, 0);
		end_of_interrupt(3, packets * between(0.5, 1.5));
	}
	if (n->wait && rnd() < n->wait)
		sleep_in(F_io_schedule, about(8000), 0, GD_HARDIRQ);
	if (has_fault && n->function == fault.function && rnd() < fault.chance)
		inject();
	for (i = 0; i < n->children; i++) {
		const struct node *c = &node[n->child[i]];
		int times = c->most > 1 ? 1 + (int)(rnd() * c->most) : 1;

		for (k = 0; k < times && rnd() < c->chance; k++)
			run(c);
	}
	spend(ns - before);
	gd_leave(&gd);
}

/* Returns the longest execution, ns */
static double write_trace(const char *file, unsigned int nr)
{
	struct td_layout layout = { .page_size = 4096, .clock = "local" };
	double longest = 0;
	unsigned int i;
	struct td td;

	td_init(&td, &layout, CPUS);
	td.cmdlines =
		"77 waker\n88 hog\n99 jbd2/sda1-8\n1000 reader\n1001 reader\n1002 reader\n1003 reader\n";
	gd_init(&gd, &td, names, NAMED + 200);
	for (i = 0; i < nr; i++) {
		uint64_t start = gd.now;

		gd.pid = 1000 + i % THREADS;
		gd.cpu = i % CPUS;
		gd.depth = 0;
		was_hit = false;
		run(&node[0]);
		if (gd.now - start > longest)
			longest = gd.now - start;
		hits += was_hit;
		gd.now += about(3000);
	}
	if (!td_finish(&td, file))
		exit(1);
	return longest;
}

static void right(const char *name)
{
	fault.right[fault.rights++] = name;
}

/* The names that identify the fault */
static void name_right(void)
{
	static char function[16];

	if (fault.function == F_ksys_read)
		snprintf(function, sizeof(function), "ksys_read");
	else
		snprintf(function, sizeof(function), "f%u",
			 fault.function - NAMED);
	switch (fault.kind) {
	case SPIN:
	case SLEEP:
		right(function);
		break;
	case LOCK:
		right(fault.way == 2 ? "native_queued_spin_lock_slowpath" :
		      fault.way	     ? "down_write" :
				       "mutex_lock");
		if (fault.way == 2)
			right("_raw_spin_lock");
		break;
	case IRQ:
		right("irq disk0");
		right("disk_interrupt");
		break;
	case SOFTIRQ:
		right("softirq NET_RX");
		right("__napi_poll");
		break;
	case TIMER:
		right(fault.way ? "long_hrtimer" : "long_timer");
		break;
	case RECLAIM:
		right("__alloc_pages_slowpath");
		right("try_to_free_pages");
		right("shrink_node");
		right("shrink_lruvec");
		right("shrink_folio_list");
		right("folio_referenced");
		right("try_to_unmap");
		right("shrink_slab");
		right("super_cache_scan");
		right("prune_dcache_sb");
		break;
	case JOURNAL:
		right("wait_transaction_locked");
		break;
	case NETWORK:
		right("sk_wait_data");
		break;
	case FAULT:
		right("exc_page_fault");
		right("do_user_addr_fault");
		right("handle_mm_fault");
		right(fault.way ? "do_anonymous_page" : "filemap_fault");
		right(fault.way ? "clear_page_erms" : "folio_wait_bit_common");
		break;
	case PREEMPT:
		right(function);
		break;
	default:
		break;
	}
}

/* A function that is called often enough for 10 executions with a fault */
static void draw_fault(double longest)
{
	double rate = between(0.04, 0.15), per_execution;

	do {
		fault.function = node[(int)(rnd() * nodes)].function;
		per_execution = (double)calls[fault.function] / EXECUTIONS;
	} while (per_execution < 0.15);
	fault.chance = rate / per_execution;
	fault.ns = longest * log_between(1, 20);
	fault.way = (int)(rnd() * (fault.kind == LOCK || fault.kind == SLEEP ||
						   fault.kind == PREEMPT ?
					   3 :
					   2));
	name_right();
}

int main(int argc, char **argv)
{
	bool busy = argc == 5 && !strcmp(argv[4], "busy");
	bool all_packets = argc == 5 && !strcmp(argv[4], "packets");
	bool is_loaded, both, has_baseline;
	double longest, rate;
	int i;

	if (argc != 4 && !busy && !all_packets) {
		fprintf(stderr,
			"usage: gen_faults SEED BASELINE TRACE [busy|packets]\n");
		return 2;
	}
	state = (strtoull(argv[1], NULL, 10) + 1) * 0x9e3779b97f4a7c15ULL;
	for (i = 0; i < 20; i++)
		rnd();
	fault.kind = strtoull(argv[1], NULL, 10) % KINDS;
	gd.td = NULL;
	sigma = between(0.1, 0.35);
	has_events = fault.kind == PREEMPT || rnd() < 0.8;
	tick_rate = log_between(1e-7, 3e-6);
	has_baseline = rnd() < 0.7;
	is_loaded = rnd() < 1 / 3.0;
	both = rnd() < 0.7;
	/* the names of functions are needed to draw */
	{
		struct td_layout layout = { .page_size = 4096 };
		struct td td;

		td_init(&td, &layout, 1);
		gd_init(&gd, &td, names, NAMED + 200);
		draw_program();
		td_free(&td);
	}
	/* once without a load, to know how long executions are */
	longest = write_trace(argv[2], EXECUTIONS);
	draw_fault(longest);
	rate = is_loaded ? log_between(0.005, 0.3) / longest : 0;
	load.ns = longest * log_between(0.1, 5);
	load.recorded = has_events && rnd() < 0.5;
	if (busy) {
		is_loaded = both = true;
		rate = 0.5 / longest;
		load.ns = longest;
		fault.ns = 100 * longest;
	}
	packets = all_packets ? longest : 0;
	if ((is_loaded && both) || all_packets) {
		load.rate = both ? rate : 0;
		write_trace(argv[2], EXECUTIONS);
	}
	load.rate = rate;
	has_fault = fault.kind != NONE;
	hits = 0;
	write_trace(argv[3], EXECUTIONS);
	printf("kind=%s baseline=%d loaded=%d hits=%u way=%d events=%d right=",
	       kind_name[fault.kind], has_baseline, is_loaded ? 1 + both : 0,
	       hits, fault.way, has_events);
	for (i = 0; i < fault.rights; i++)
		printf("%s%s", i ? "," : "", fault.right[i]);
	printf("\n");
	return 0;
}
