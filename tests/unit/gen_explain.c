// SPDX-License-Identifier: GPL-2.0
/*
 * gen_explain faults|mixed|healthy complete|any SEED DIR
 *
 * Writes a made-up case to DIR and prints what is true of it: the fault, its share of the
 * delay, what the recording lacks, and how the name of the right cause begins, or "none".
 *
 * The operation is a system call of a thread, or a request to a disk. A load is drawn by
 * SEED: of what pieces an execution of the operation consists, how long they are, and how
 * much they vary. Some executions are drawn of it, and the chart's lines from these as a
 * chart draws them.
 *
 *	faults	one execution more has a fault that takes most of the delay, and
 *		perhaps smaller ones
 *	mixed	it has several faults, none of which takes half of the delay
 *	healthy	executions are drawn until one is above the limit by chance
 *
 * The recording has normal executions before it, other tasks, interrupts and requests. It is
 * complete, or lacks something in any way: kinds of events of one case in four, and
 * of one in four records are lost.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "graphdat.h"
#include "recording.h"

enum fault {
	HOG,
	QUEUE,
	IRQ,
	SOFTIRQ,
	LATE,
	HOLDER,
	TIMER,
	DISK,
	DISK_QUEUE,
	SPIN,
	SLOW,
	FULL,
	FAULTS
};

static const struct {
	const char *name, *right;
} faults[FAULTS] = {
	[HOG] = { "hog", "waiting for a CPU: hog" },
	[QUEUE] = { "queue", "waiting for a CPU: hog" },
	[IRQ] = { "irq", "interrupt nic0" },
	[SOFTIRQ] = { "softirq", "softirq NET_RX" },
	[LATE] = { "late", "late wake-up" },
	[HOLDER] = { "holder", "blocked until holder" },
	[TIMER] = { "timer", "blocked until a timer" },
	[DISK] = { "disk", "device 254:0" },
	[DISK_QUEUE] = { "disk-queue", "queue of device 254:0" },
	[SPIN] = { "spin", "computing" },
	[SLOW] = { "slow", "device 254:0" },
	[FULL] = { "full", "queue of device 254:0" },
};

/* ---- the load ---- */

enum piece_kind {
	RUN, /* with interrupts at times */
	SLEEP_HOLDER,
	SLEEP_TIMER,
	SLEEP_DISK,
	NR_KINDS
};

struct piece {
	enum piece_kind kind;
	double ns, sigma;
};

static struct load {
	int is_request;
	struct piece piece[6];
	int pieces;
	double interrupts; /* a second of running */
	double wait, wait_sigma, waits; /* for a CPU; how often */
	double queue, service; /* of requests to the device */
	double sigma;
} load;

/* The plan of an execution */
struct draw {
	double piece[6]; /* of each piece, or queue and service */
	double queue[6]; /* of a piece that sleeps for the disk, before the device */
	double wait[6]; /* for a CPU after it */
	int irqs[6];
	double irq[6];
};

static void draw_load(int is_request)
{
	double size = exp(uniform(log(50e3), log(5e6)));
	int i;

	load.is_request = is_request;
	load.sigma = uniform(0.1, 0.5);
	load.queue = size * uniform(0.05, 1);
	load.service = size;
	load.pieces = is_request ? 0 : 1 + below(5);
	load.interrupts = chance(0.5) ? uniform(0, 3000) : 0;
	/* A wait that is rare and long would be a cause */
	load.waits = chance(0.4) ? uniform(0.3, 0.9) : 0;
	load.wait = size * uniform(0.01, 0.2);
	load.wait_sigma = uniform(0.2, 0.6);
	for (i = 0; i < load.pieces; i++) {
		struct piece *p = &load.piece[i];

		/* A thread that has slept runs before it sleeps again */
		p->kind = i % 2 ? SLEEP_HOLDER + below(3) : RUN;
		p->ns = size * uniform(0.1, 1) * (i % 2 ? 1 : 0.5);
		p->sigma = load.sigma * uniform(0.5, 1.5);
	}
}

static struct draw draw(void)
{
	struct draw d = { 0 };
	int i;

	if (load.is_request) {
		d.queue[0] = vary(load.queue, load.sigma);
		d.piece[0] = vary(load.service, load.sigma);
		return d;
	}
	for (i = 0; i < load.pieces; i++) {
		const struct piece *p = &load.piece[i];

		d.piece[i] = vary(p->ns, p->sigma);
		if (p->kind == SLEEP_DISK)
			d.queue[i] = d.piece[i] * uniform(0.02, 0.3);
		if (p->kind == RUN) {
			d.irqs[i] = d.piece[i] * load.interrupts / 1e9 +
				    uniform(0, 1);
			d.irq[i] = vary(3000, 0.3);
		} else {
			d.wait[i] = chance(load.waits) ?
					    vary(load.wait, load.wait_sigma) :
					    uniform(500, 5000);
		}
	}
	return d;
}

static double length(const struct draw *d)
{
	double sum = d->queue[0] + d->piece[0];
	int i;

	if (load.is_request)
		return sum;
	for (sum = 0, i = 0; i < load.pieces; i++)
		sum += d->piece[i] + d->irqs[i] * d->irq[i] + d->wait[i];
	return sum;
}

/* ---- the thread's execution ---- */

static double now;
static unsigned int home;
static uint64_t sectors = 5000;

static void run(double ns, int irqs, double each)
{
	double step = ns / (irqs + 1);
	int i;

	for (i = 0; i < irqs; i++) {
		int soft = i % 3 == 2;

		now += step;
		rec_put(soft ? SOFT : HARD, home, now, THREAD)->a = 1;
		now += each;
		rec_put(soft ? SOFT_END : HARD_END, home, now, THREAD)->a = 1;
	}
	now += step;
}

/* The thread has left the CPU, and others may have it until @end */
static void others(double from, double end, int last)
{
	int pid = 0, next;

	/* Not at the end, when the running thread is already decided */
	while (end - from > 20000 && chance(0.7)) {
		from += uniform(5000, (end - from) * 0.6);
		if (end - from < 10000)
			break;
		next = pid ? 0 : OTHERS + below(40);
		rec_switch(home, from, pid, pid ? 1 : 0, next);
		pid = next;
	}
	if (pid != last)
		rec_switch(home, end - 2000, pid, 0, last);
}

/* @after: the thread that has the CPU when this one is woken, for @wait */
static void sleep_for(enum piece_kind kind, double ns, double queue,
		      double wait, int after)
{
	uint64_t sector = sectors += 64;
	double start, woken;

	if (kind == SLEEP_DISK)
		rec_request(BIO, home, now += 300, THREAD, sector);
	start = now += 200;
	woken = start + ns;
	rec_switch(home, now, THREAD, kind == SLEEP_DISK ? 2 : 1, 0);
	/* It may be woken to another CPU, which is idle until then */
	if (chance(0.3)) {
		others(start + 1000, woken, 0);
		home = home == HOME ? HOME2 : HOME;
		if (after)
			rec_switch(home, woken - 1000, 0, 0, after);
	} else {
		others(start + 1000, woken, after);
	}
	if (kind == SLEEP_HOLDER) {
		rec_switch(WAKERS, woken - 2000, 0, 0, HOLDER_PID);
		rec_waking(WAKERS, woken, HOLDER_PID, 0);
		rec_switch(WAKERS, woken + 400, HOLDER_PID, 1, 0);
	} else if (kind == SLEEP_TIMER) {
		rec_waking(WAKERS, woken, 0, GD_HARDIRQ);
	} else {
		rec_request(ISSUE, WAKERS, start + queue, 0, sector);
		rec_put(HARD, WAKERS, woken - 1200, 0)->b = 1;
		rec_request(COMPLETE, WAKERS, woken - 700, 0, sector);
		rec_waking(WAKERS, woken - 1, 0, GD_HARDIRQ);
		rec_put(HARD_END, WAKERS, woken + 300, 0);
	}
	now = woken + wait;
	rec_switch(home, now, after, 0, THREAD);
}

static void execute(const struct draw *d)
{
	int i;

	rec_put(MARK, home, now, THREAD);
	for (i = 0; i < load.pieces; i++) {
		if (load.piece[i].kind == RUN)
			run(d->piece[i], d->irqs[i], d->irq[i]);
		else
			sleep_for(load.piece[i].kind, d->piece[i], d->queue[i],
				  d->wait[i],
				  d->wait[i] > 5000 ? OTHERS + below(40) : 0);
	}
}

static void inject(enum fault fault, double ns)
{
	unsigned int i, nr;

	switch (fault) {
	case HOG:
		rec_switch(home, now, THREAD, 0, HOG_PID);
		now += ns;
		rec_switch(home, now, HOG_PID, 1, THREAD);
		break;
	case QUEUE:
		sleep_for(SLEEP_TIMER, uniform(5000, 20000), 0, ns, HOG_PID);
		break;
	case LATE:
		sleep_for(SLEEP_TIMER, uniform(5000, 20000), 0, ns, 0);
		break;
	case IRQ:
		nr = 3 + below(60);
		for (i = 0; i < nr; i++) {
			rec_put(HARD, home, now, THREAD)->a = 1;
			now += ns / nr;
			rec_put(HARD_END, home, now, THREAD);
			now += uniform(100, 900);
		}
		break;
	case SOFTIRQ:
		rec_put(SOFT, home, now, THREAD)->a = 1;
		now += ns;
		rec_put(SOFT_END, home, now, THREAD)->a = 1;
		break;
	case HOLDER:
		sleep_for(SLEEP_HOLDER, ns, 0, uniform(500, 5000), 0);
		break;
	case TIMER:
		sleep_for(SLEEP_TIMER, ns, 0, uniform(500, 5000), 0);
		break;
	case DISK:
		sleep_for(SLEEP_DISK, ns, uniform(2000, 0.05 * ns + 2001),
			  uniform(500, 5000), 0);
		break;
	case DISK_QUEUE:
		sleep_for(SLEEP_DISK, ns, uniform(0.95, 0.99) * ns,
			  uniform(500, 5000), 0);
		break;
	case SPIN:
		now += ns;
		break;
	default:
		break;
	}
}

static void put_value(double begin, uint64_t limit)
{
	struct rec_event *e = rec_put(VALUE, home, now, THREAD);

	e->a = begin;
	e->b = limit;
}

/* ---- requests ---- */

static void put_one(double queued, double queue, double service, int pid,
		    uint64_t sector)
{
	rec_request(BIO, HOME, queued, pid, sector);
	rec_request(ISSUE, WAKERS, queued + queue, 0, sector);
	rec_request(COMPLETE, HOME2, queued + queue + service, 0, sector);
}

static void other_requests(double from, double to, int nr)
{
	struct draw d;

	while (nr--) {
		d = draw();
		put_one(uniform(from, to), d.queue[0], d.piece[0],
			OTHERS + below(40), sectors += 64);
	}
}

/* ---- other CPUs ---- */

static void noise(double from, double to)
{
	double gap = uniform(2e3, 2e5);
	int pid = 0, next;

	while ((to - from) / gap > 3000)
		gap *= 2;
	while ((from += uniform(0, gap)) < to - 5000) {
		switch (below(4)) {
		case 0:
			rec_put(HARD, NOISE, from, pid)->a = 1;
			rec_put(HARD_END, NOISE, from += 800, pid);
			break;
		case 1:
			rec_put(SOFT, NOISE, from, pid)->a = 1;
			rec_put(SOFT_END, NOISE, from += 900, pid)->a = 1;
			break;
		default:
			next = pid ? 0 : OTHERS + below(40);
			rec_switch(NOISE, from, pid, pid ? below(2) : 0, next);
			pid = next;
		}
	}
}

/* ---- the case ---- */

#define LEARNT 100
#define VALUES 50

static double center, limit;

/* Individuals on a logarithmic scale: three sigma above the mean */
static void draw_lines(void)
{
	double sum = 0, squares = 0, v;
	struct draw d;
	int i;

	for (i = 0; i < LEARNT; i++) {
		d = draw();
		v = log(length(&d));
		sum += v;
		squares += v * v;
	}
	center = exp(sum / LEARNT);
	limit = center *
		exp(3 * sqrt(squares / LEARNT - sum / LEARNT * sum / LEARNT));
}

/* The faults of a case, and how much of the delay each is */
static int choose_faults(int is_mixed, enum fault *fault, double *share)
{
	/* Which are one cause, perhaps to a recording that lacks something */
	static const int group[FAULTS] = {
		[QUEUE] = HOG, [IRQ] = 1,   [SOFTIRQ] = 2, [LATE] = 3,
		[HOLDER] = 4,  [TIMER] = 5, [DISK] = 6,	   [DISK_QUEUE] = 6,
		[SPIN] = 7,    [SLOW] = 8,  [FULL] = 9
	};
	int nr = is_mixed ? 3 : chance(0.5) ? 1 : 2 + below(2), i, k;
	double left;

	for (i = 0; i < nr; i++) {
		do {
			fault[i] = load.is_request ? SLOW + below(2) :
						     below(SLOW);
			for (k = 0; k < i; k++) {
				if (group[fault[k]] == group[fault[i]])
					break;
			}
		} while (k < i && !load.is_request);
	}
	if (load.is_request && !is_mixed) {
		nr = 1 + (nr > 1);
		fault[1] = SLOW + FULL - fault[0];
	}
	share[0] = is_mixed ? uniform(0.34, 0.42) :
		   nr == 1  ? 1 :
			      uniform(0.6, 0.95);
	left = 1 - share[0];
	for (i = 1; i < nr; i++) {
		share[i] = i == nr - 1 ? left : left * uniform(0.4, 0.6);
		left -= share[i];
	}
	return nr;
}

static uint64_t make_request(struct draw *d, const enum fault *fault,
			     const double *share, int nr, double excess)
{
	uint64_t sector;
	double from = now;
	int i;

	for (i = 0; i < nr; i++) {
		if (fault[i] == SLOW)
			d->piece[0] += share[i] * excess;
		else
			d->queue[0] += share[i] * excess;
	}
	other_requests(from, from + uniform(1, 6) * center, below(30));
	now = from + uniform(2, 6) * center;
	sector = sectors += 64;
	put_one(now, d->queue[0], d->piece[0], THREAD, sector);
	other_requests(now, now + length(d), below(60));
	return sector;
}

static void make_call(const struct draw *d, const enum fault *fault,
		      const double *share, int nr, double excess, double *start)
{
	int i, before = below(10);
	struct draw one;
	double begin;

	rec_switch(home, now, 0, 0, THREAD);
	for (i = 0; i < before; i++) {
		one = draw();
		now += uniform(5000, 50000);
		begin = now;
		execute(&one);
		put_value(begin, limit);
	}
	now += uniform(5000, 50000);
	*start = now;
	execute(d);
	for (i = 0; i < nr; i++) {
		inject(fault[i], share[i] * excess);
		now += uniform(500, 2000);
	}
}

int main(int argc, char **argv)
{
	static const char *const names[] = { NULL };
	struct td_layout layout = { .page_size = 4096, .clock = "mono" };
	int is_healthy, is_mixed, nr = 0, i;
	double share[3], values[VALUES], start, excess = 0;
	enum fault fault[3];
	uint64_t judged, sector = 0;
	char path[4096];
	struct draw d;
	struct td td;
	struct gd gd;

	if (argc != 5) {
		fprintf(stderr,
			"usage: gen_explain faults|mixed|healthy complete|any SEED DIR\n");
		return 2;
	}
	is_healthy = !strcmp(argv[1], "healthy");
	is_mixed = !strcmp(argv[1], "mixed");
	chance_state = (strtoull(argv[3], NULL, 10) * 4 + is_healthy +
			2 * is_mixed + 1) *
		       0x9e3779b97f4a7c15ULL;
	for (i = 0; i < 20; i++)
		uniform(0, 1);
	draw_load(!is_mixed && chance(0.2));
	draw_lines();
	for (i = 0; i < VALUES; i++) {
		d = draw();
		values[i] = length(&d);
	}
	judged = exp(uniform(log(100), log(1e5)));
	d = draw();
	if (is_healthy) {
		/* A load whose limit is never passed has it lowered */
		for (judged = 100; length(&d) <= limit; judged++) {
			d = draw();
			if (judged > 300000)
				limit = length(&d) * 0.99;
		}
	} else {
		nr = choose_faults(is_mixed, fault, share);
		excess = limit * exp(uniform(log(1.2), log(10))) - center;
	}
	now = start = GD_BASE + 20000;
	if (load.is_request) {
		sector = make_request(&d, fault, share, nr, excess);
		start = now;
		now += length(&d);
		rec_run_tasks();
	} else {
		make_call(&d, fault, share, nr, excess, &start);
		rec_put(MARK, home, now, THREAD);
		rec_switch(home, now + 3000, THREAD, 1, 0);
	}
	noise(GD_BASE + 10000, now + 50000);
	td_init(&td, &layout, CPUS);
	gd_init(&gd, &td, names, 1);
	snprintf(path, sizeof(path), "%s/trace.dat", argv[4]);
	rec_write(&gd, path, !strcmp(argv[2], "complete"));
	td_free(&td);
	rec_write_json(argv[4], &(struct rec_case){ .begin = GD_BASE,
						    .start = start,
						    .end = now,
						    .center = center,
						    .limit = limit,
						    .judged = judged,
						    .rules = 1,
						    .sector = sector,
						    .value = values,
						    .values = VALUES });
	printf("kind=%s share=%.0f lacks=%s right=%s\n",
	       nr ? faults[fault[0]].name : "healthy", nr ? 100 * share[0] : 0,
	       *rec_lacks ? rec_lacks + 1 : "nothing",
	       !nr || is_mixed ? "none" :
				 /* All that can be known then */
		       !load.is_request &&
			       (fault[0] == DISK || fault[0] == DISK_QUEUE) &&
			       (strstr(rec_lacks, "bio") ||
				strstr(rec_lacks, "block")) ?
				 "blocked until interrupt disk0" :
				 faults[fault[0]].right);
	rec_free();
	return 0;
}
