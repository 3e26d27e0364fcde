// SPDX-License-Identifier: GPL-2.0
/*
 * gen_paths KIND FILE [EXECUTIONS [SEED]]
 *
 * Writes a made-up function_graph trace and prints the truth about it. Executions of
 * ksys_read by several threads on two CPUs, one in 20 of them slow, for the reason
 * that KIND says:
 *
 *	slow	f4 takes 5 ms instead of 2 us
 *	extra	f9 is called, and takes 5 ms
 *	wait	io_wait() sleeps for 5 ms instead of 50 us, until irq "disk0"
 *	off	the same, with sleep-time off
 *	task	io_wait() sleeps until the task "waker" wakes it, in wake_it()
 *	lock	lock_it() waits for the lock big_lock, which a task holds
 *	preempt	another task has the CPU
 *	recorder the same, and it is trace-cmd
 *	long	f4 computes for 5 ms, and another task has the CPU for 8 ms in the middle
 *	late	the same, when f4 has returned to f3, but the record of that is not written
 *	lateirq	an interrupt takes 5 ms, then
 *	irq	an interrupt takes 5 ms; every third execution has a short one
 *	hard	hrtimer_interrupt() takes 25 ms in a hard interrupt, with an NMI in it and a
 *		softirq after it in some
 *	inner	the same, in a hard interrupt that interrupts a softirq
 *	soft	net_rx_action() takes 25 ms in a softirq, with a hard interrupt in it
 *	nmi	nmi_handle() takes 25 ms, in a hard interrupt in a softirq
 *	ticks	f4 is slow, and the only records within it are short interrupts
 *	tail	f4 is slow, in a recursion of ksys_read
 *	equal	the second of two functions of the name twin is slow
 *	healthy	none is
 *	busy	each slow one waits 30 us in another one of 100 functions, as on a busy host
 *	outliers  as healthy, but the 300th and the 900th take 123 s
 *	often	as healthy, but one in 12 takes 40 ms
 *	ends	as slow, but the recording begins and ends within executions
 *	lost	as slow, but records are lost 3 times, within executions
 *	counted	the same, 475,085 of them each time, as the file says
 *	exits	returns alone, as tracing_thresh leaves them
 *	back	a clock that goes back
 *	none	no function_graph records
 *	nosyms	as slow, without symbols
 *	hostile	as slow, by a process and in functions with names that are markup
 *	paper	2675 executions, of EXECUTIONS functions, as many patterns as the paper's
 *	large	of 72 functions (144 records), written without being in memory
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphdat.h"
#include "prng.h"

#define CPUS 2
#define THREADS 4
#define SLOW 5000000

static uint64_t state = 88172645463325252ULL;

static double rnd(void)
{
	return unit_interval(xorshift64(&state));
}

/* The given time, to 10 % */
static uint64_t about(uint64_t ns)
{
	return ns * (0.9 + 0.2 * rnd());
}

static struct gd gd;
static uint32_t f[16], entry_f, schedule_f, io_wait, wake_it, lock_it, big_lock,
	irq_enter, irq_exit, handler, twin1, twin2, sysvec, hrtimer, softirqs,
	timers, net_rx, nmi;

static const char *const names[] = { "ksys_read",
				     "schedule",
				     "io_wait",
				     "wake_it",
				     "lock_it",
				     "big_lock",
				     "irq_enter_rcu",
				     "irq_exit_rcu",
				     "handle_disk",
				     "twin",
				     "twin",
				     "__sysvec_apic_timer_interrupt",
				     "hrtimer_interrupt",
				     "handle_softirqs",
				     "run_timer_softirq",
				     "net_rx_action",
				     "nmi_handle",
				     NULL };
static const char *const hostile_names[] = {
	"ksys_read",
	"schedule",
	"io_wait",
	"wake_it",
	"lock_it",
	"big_lock",
	"irq_enter_rcu",
	"irq_exit_rcu",
	"handle_disk",
	"<img/src=x/onerror=document.title=1>",
	"</script><script>document.title=2</script>",
	"__sysvec_apic_timer_interrupt",
	"hrtimer_interrupt",
	"handle_softirqs",
	"run_timer_softirq",
	"net_rx_action",
	"nmi_handle",
	NULL
};

static void find_functions(void)
{
	char name[8];
	int i;

	for (i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		f[i] = gd_function(name);
	}
	entry_f = 0;
	schedule_f = 1;
	io_wait = 2;
	wake_it = 3;
	lock_it = 4;
	big_lock = 5;
	irq_enter = 6;
	irq_exit = 7;
	handler = 8;
	twin1 = 9;
	twin2 = 10;
	sysvec = 11;
	hrtimer = 12;
	softirqs = 13;
	timers = 14;
	net_rx = 15;
	nmi = 16;
}

static void interrupt(uint64_t ns)
{
	gd_call(&gd, irq_enter, 300);
	gd.flags = GD_HARDIRQ;
	gd_irq(&gd, "disk0", true);
	gd_call(&gd, handler, ns);
	gd_irq(&gd, "disk0", false);
	gd_call(&gd, irq_exit, 400);
	gd.flags = 0;
}

/* An NMI has none of the functions that begin an interrupt */
static void nmi_of(uint64_t ns)
{
	unsigned int flags = gd.flags;

	gd.flags |= GD_NMI;
	gd_call(&gd, nmi, ns);
	gd.flags = flags;
}

static void timer_interrupt(uint64_t ns, uint64_t nmi_ns)
{
	unsigned int flags = gd.flags;

	gd_call(&gd, irq_enter, 300);
	gd.flags |= GD_HARDIRQ;
	gd_enter(&gd, sysvec);
	gd.now += 200;
	gd_enter(&gd, hrtimer);
	gd.now += ns / 2;
	if (nmi_ns)
		nmi_of(nmi_ns);
	gd.now += ns - ns / 2;
	gd_leave(&gd);
	gd_leave(&gd);
	gd_enter(&gd, irq_exit);
	gd.now += 200;
	gd.flags = flags;
	gd_leave(&gd);
}

/* As in the kernel: the handler of softirqs is called before the flags say so */
static void softirq(unsigned int vec, uint64_t ns, uint64_t hard_ns,
		    uint64_t nmi_ns)
{
	unsigned int flags = gd.flags;

	gd.flags = flags & ~GD_HARDIRQ;
	gd_enter(&gd, softirqs);
	gd.flags |= GD_SOFTIRQ;
	gd_softirq(&gd, vec, true);
	gd_enter(&gd, vec == 1 ? timers : net_rx);
	gd.now += ns;
	if (hard_ns)
		timer_interrupt(hard_ns, nmi_ns);
	gd_leave(&gd);
	gd_softirq(&gd, vec, false);
	gd.flags = flags & ~GD_HARDIRQ;
	gd_leave(&gd);
	gd.flags = flags;
}

#define LONG_IRQ 25000000

static void contexts(const char *kind, unsigned int n)
{
	if (!strcmp(kind, "hard")) {
		timer_interrupt(LONG_IRQ, n % 40 == 13 ? 3000 : 0);
		if (n % 3)
			softirq(n % 3 == 1 ? 1 : 3, 4000, 0, 0);
	} else if (!strcmp(kind, "inner")) {
		softirq(n % 40 == 13 ? 1 : 3, 4000, LONG_IRQ, 0);
	} else if (!strcmp(kind, "soft")) {
		softirq(3, LONG_IRQ, 20000, n % 40 == 13 ? 3000 : 0);
	} else {
		softirq(n % 40 == 13 ? 1 : 3, 4000, 3000, LONG_IRQ);
	}
}

static bool in_interrupt(const char *kind)
{
	return !strcmp(kind, "hard") || !strcmp(kind, "inner") ||
	       !strcmp(kind, "soft") || !strcmp(kind, "nmi");
}

static void ticks(void)
{
	int i;

	gd_enter(&gd, f[4]);
	for (i = 0; i < 5; i++) {
		gd.now += SLOW / 5;
		interrupt(2000);
	}
	gd_leave(&gd);
}

static bool is_preempted(const char *kind)
{
	return !strcmp(kind, "preempt") || !strcmp(kind, "recorder") ||
	       !strcmp(kind, "long");
}

/* Leave this CPU, and continue on the other one, where the waker runs */
static void sleep_until(const char *kind, uint64_t ns, bool sleeps_off)
{
	static const uint32_t stack[] = { 3, 0 };
	int pid = gd.pid, depth = gd.depth;
	struct gd_frame saved[GD_MAX_DEPTH];

	gd_enter(&gd, schedule_f);
	memcpy(saved, gd.frame, sizeof(saved));
	gd.now += 500;
	gd.next_comm = !strcmp(kind, "recorder") ? "trace-cmd" : NULL;
	gd_switch(&gd, pid, is_preempted(kind) ? 0x100 : 2,
		  is_preempted(kind) ? 88 : 0);
	gd.next_comm = NULL;
	gd.cpu = !gd.cpu;
	gd.now += ns;
	if (!strcmp(kind, "task") || !strcmp(kind, "lock")) {
		gd.pid = 77;
		gd.depth = 0;
		gd_enter(&gd, wake_it);
		gd_waking(&gd, pid);
		gd_stack(&gd, stack, 2);
		gd_leave(&gd);
	} else if (!is_preempted(kind)) {
		gd.pid = 88; /* the interrupted task is not the waker */
		gd.flags = GD_HARDIRQ;
		gd_irq(&gd, "disk0", true);
		gd_waking(&gd, pid);
		gd_irq(&gd, "disk0", false);
		gd.flags = 0;
	}
	gd.pid = pid;
	memcpy(gd.frame, saved, sizeof(saved));
	gd.depth = depth + 1;
	gd.now += 2000;
	gd_switch(&gd, 88, 0, pid);
	if (sleeps_off)
		gd.asleep += ns + 2000;
	gd.now += 500;
	gd_leave(&gd);
}

/* Time before the record of the return is f3's */
static void return_late(bool is_irq)
{
	int pid = gd.pid;
	uint64_t returned;

	gd_enter(&gd, f[4]);
	gd.now += about(2000);
	returned = gd.now;
	if (is_irq) {
		interrupt(SLOW);
	} else {
		gd_switch(&gd, pid, 0x100, 88);
		gd.now += SLOW;
		gd_switch(&gd, 88, 0, pid);
	}
	gd.returned = returned;
	gd_leave(&gd);
}

static void compute_long(const char *kind)
{
	gd_enter(&gd, f[4]);
	gd.now += SLOW / 2;
	sleep_until(kind, 8000000, false);
	gd.now += SLOW / 2;
	gd_leave(&gd);
}

static void body(const char *kind, bool slow, unsigned int n)
{
	bool is_slow = slow && strcmp(kind, "extra") != 0 &&
		       strcmp(kind, "irq") != 0 && strcmp(kind, "busy") != 0 &&
		       !in_interrupt(kind);
	bool f4 = !strcmp(kind, "slow") || !strcmp(kind, "tail") ||
		  !strcmp(kind, "ends") || !strcmp(kind, "lost") ||
		  !strcmp(kind, "counted") || !strcmp(kind, "exits") ||
		  !strcmp(kind, "nosyms") || !strcmp(kind, "hostile");

	gd_enter(&gd, f[1]);
	gd.now += about(1000);
	gd_call(&gd, f[2], about(3000));
	gd_enter(&gd, f[3]);
	gd.now += about(500);
	if (!strcmp(kind, "hostile"))
		gd_call(&gd, twin2, is_slow ? SLOW : about(2000));
	if (!strcmp(kind, "ticks") && is_slow)
		ticks();
	else if (!strncmp(kind, "late", 4) && is_slow)
		return_late(!strcmp(kind, "lateirq"));
	else if (!strcmp(kind, "long") && is_slow)
		compute_long(kind);
	else
		gd_call(&gd, f[4], f4 && is_slow ? SLOW : about(2000));
	if (slow && !strcmp(kind, "extra"))
		gd_call(&gd, f[9], SLOW);
	gd_leave(&gd);
	if (!strcmp(kind, "irq") && (slow || n % 3 == 0))
		interrupt(slow ? SLOW : about(2000));
	if (!strcmp(kind, "outliers") && (n == 300 || n == 900))
		gd.now += 123000000000ULL;
	if (!strcmp(kind, "often") && n % 12 == 5)
		gd.now += 40000000;
	if (!strcmp(kind, "busy"))
		gd_call(&gd, f[0] + 100 + n / 20 % 100,
			slow ? 100000 + about(20000) : 100);
	if (slow && in_interrupt(kind))
		contexts(kind, n);
	if (!strcmp(kind, "equal")) {
		gd_call(&gd, twin1, about(2000));
		gd_call(&gd, twin2, is_slow ? SLOW : about(2000));
	}
	if (!strcmp(kind, "wait") || !strcmp(kind, "off") ||
	    !strcmp(kind, "task") ||
	    (is_preempted(kind) && strcmp(kind, "long") != 0)) {
		gd_enter(&gd, io_wait);
		gd.now += about(300);
		sleep_until(kind, is_slow ? SLOW : about(50000),
			    !strcmp(kind, "off"));
		gd_leave(&gd);
	}
	if (!strcmp(kind, "lock")) {
		gd_enter(&gd, lock_it);
		if (is_slow) {
			gd_lock(&gd, big_lock, true);
			sleep_until(kind, SLOW, false);
			gd_lock(&gd, big_lock, false);
		}
		gd.now += 100;
		gd_leave(&gd);
	}
	gd.now += about(700);
	gd_leave(&gd);
}

static void execution(const char *kind, bool slow, unsigned int n)
{
	gd_enter(&gd, entry_f);
	gd.now += about(800);
	if (!strcmp(kind, "tail")) {
		gd_enter(&gd, entry_f);
		body(kind, slow, n);
		gd_leave(&gd);
	}
	body(kind, slow, n);
	gd.now += about(400);
	gd_leave(&gd);
}

/* As if the recording began now */
static void forget(struct td_ring *ring)
{
	while (ring->pages)
		free(ring->page[--ring->pages].data);
}

static bool has_slow(const char *kind)
{
	return strcmp(kind, "healthy") != 0 && strcmp(kind, "outliers") != 0 &&
	       strcmp(kind, "often") != 0;
}

static void scenario(struct td *td, const char *kind, unsigned int nr)
{
	unsigned int n, slow = 0, lost = 0;

	for (n = 0; n < nr; n++) {
		bool is_slow = has_slow(kind) && n % 20 == 13;

		gd.pid = 1000 + n % THREADS;
		gd.cpu = n % CPUS;
		gd.depth = 0;
		if (!strcmp(kind, "ends") && (!n || n == nr - 1)) {
			/* half of one: its calls, or its returns */
			gd_enter(&gd, entry_f);
			gd_call(&gd, f[1], 1000);
			if (!n) {
				unsigned int cpu;

				gd_leave(&gd);
				for (cpu = 0; cpu < CPUS; cpu++)
					forget(&td->buffer[0].ring[cpu]);
				gd.depth = 1;
				gd_leave(&gd);
			}
			gd.now += 5000;
			continue;
		}
		if ((!strcmp(kind, "lost") || !strcmp(kind, "counted")) &&
		    n % 100 == 50) {
			gd_enter(&gd, entry_f);
			gd_call(&gd, f[1], 1000);
			if (!strcmp(kind, "counted"))
				td_lose_some(td, 0, gd.cpu, 475085);
			else
				td_lose(td, 0, gd.cpu);
			gd_leave(&gd);
			gd.now += 5000;
			lost++;
			continue;
		}
		execution(kind, is_slow, n);
		slow += is_slow;
		gd.now += 5000;
		if (!strcmp(kind, "back") && n == nr / 2)
			gd.now -= 1000000;
	}
	printf("executions=%u\nslow=%u\nlost=%u\n",
	       nr - lost - (!strcmp(kind, "ends") ? 2 : 0), slow, lost);
}

#define PAPER_NORMAL 409
#define PAPER_SLOW 2266

/* Patterns differ in the function at one place; slow ones wait in schedule() */
static void paper(unsigned int len)
{
	unsigned int n, i;

	for (n = 0; n < PAPER_NORMAL + PAPER_SLOW; n++) {
		bool slow = n >= PAPER_NORMAL;
		unsigned int kind = slow ? 200 + n % 100 : n % 67;

		gd.pid = 1000 + n % 300;
		gd.cpu = n % CPUS;
		gd.depth = 0;
		gd_enter(&gd, entry_f);
		for (i = 1; i < len - 1; i++)
			gd_call(&gd,
				f[0] + (i == len / 2 ? 1000 + kind : i % 250),
				about(20));
		gd_call(&gd, schedule_f, slow ? 90000000 : about(1000000));
		gd_leave(&gd);
		gd.now += 1000;
	}
	printf("executions=%u\nslow=%u\n", n, PAPER_SLOW);
}

#define LARGE_LEN 72

/*
 * 8 ways to go at each of 3 places, 512 patterns; 1 in 1000 is slow in f40. Each CPU
 * has its own threads, since it is written as a whole.
 */
static void large(struct td *td, unsigned int nr)
{
	unsigned int cpu, n, i, slow = 0;

	for (cpu = 0; cpu < CPUS; cpu++) {
		gd.now = GD_BASE + cpu * 17;
		gd.cpu = cpu;
		for (n = 0; n < nr / CPUS; n++) {
			bool is_slow = n % 1000 == 513;

			gd.pid = 1000 + cpu + CPUS * (n % 50);
			gd.depth = 0;
			gd_enter(&gd, entry_f);
			for (i = 1; i < LARGE_LEN; i++) {
				uint32_t way =
					i % 20 == 10 ? 100 + i + rnd() * 8 : i;
				uint64_t ns = 100 + (n * 7 + i) % 13;

				gd_call(&gd, f[0] + way,
					is_slow && i == 40 ? 1000000 : ns);
			}
			gd_leave(&gd);
			gd.now += 300;
			slow += is_slow;
		}
		td_stream_cpu(td, cpu);
	}
	printf("executions=%u\nslow=%u\nrecords=%llu\n", nr / CPUS * CPUS, slow,
	       2ull * LARGE_LEN * (nr / CPUS * CPUS));
}

int main(int argc, char **argv)
{
	struct td_layout layout = { .page_size = 4096, .clock = "local" };
	const char *kind = argc > 2 ? argv[1] : "";
	unsigned int nr = argc > 3 ? atoi(argv[3]) : 1000;
	/* a small file is for damage, which should not be to names alone */
	unsigned int count = nr < 100 ? 40 : GD_MAX_FUNCTIONS;
	bool streams = !strcmp(kind, "large"), good;
	struct td td;

	if (argc < 3) {
		fprintf(stderr,
			"usage: gen_paths KIND FILE [EXECUTIONS [SEED]]\n");
		return 2;
	}
	if (argc > 4)
		state ^= strtoull(argv[4], NULL, 10) * 0x9e3779b97f4a7c15ULL;
	if (!strcmp(kind, "big")) {
		layout.big_endian = true;
		kind = "slow";
	}
	td_init(&td, &layout, CPUS);
	td.cmdlines =
		"77 waker\n88 victim\n1000 reader\n1001 reader\n1002 reader\n1003 reader\n";
	if (!strcmp(kind, "hostile")) {
		td.cmdlines =
			"1000 </script><u>\n1001 </script><u>\n1002 </script><u>\n1003 </script><u>\n";
		gd_init(&gd, &td, hostile_names, count);
	} else {
		gd_init(&gd, &td, names, count);
	}
	if (!strcmp(kind, "nosyms"))
		td.kallsyms = NULL;
	find_functions();
	gd.exits_only = !strcmp(kind, "exits");
	if (streams && !td_stream(&td, argv[2])) {
		perror(argv[2]);
		return 1;
	}
	if (!strcmp(kind, "none"))
		gd_switch(&gd, 1, 0, 2);
	else if (streams)
		large(&td, nr);
	else if (!strcmp(kind, "paper"))
		paper(nr);
	else
		scenario(&td, kind, nr);
	good = streams ? td_stream_end(&td) : td_save(&td, argv[2]);
	if (!good)
		perror(argv[2]);
	td_free(&td);
	return !good;
}
