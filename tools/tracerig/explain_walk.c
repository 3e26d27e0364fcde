// SPDX-License-Identifier: GPL-2.0
/*
 * Where the time of an operation went. See explain.h.
 *
 * The recording is read three times. The first time shows which events it has, and which
 * normal executions of the operation. The second one follows the threads (when they ran,
 * waited for a CPU, or were blocked, and what woke them) and the requests to devices. The
 * third one, now that it is known on which CPU a thread was waiting, shows what had that
 * CPU.
 *
 * Between two events nothing happens that would have an event, unless events are lost.
 * The state before the first event of a thread therefore follows from that event; the
 * state is unknown where a CPU that the thread can have been on has lost events.
 */
#include <event-parse.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>

#include "alarms.h"
#include "explain.h"
#include "explain_requests.h"
#include "memory.h"
#include "reason.h"
#include "records.h"
#include "roles.h"
#include "softirq.h"
#include "store.h"
#include "text.h"

/* Events besides those of enum role */
enum { VALUE = ROLES, GRAPH, CALL, SAMPLE, EVENTS };

static const struct event_names others[EVENTS - ROLES] = {
	[VALUE - ROLES] = { "ctlchart_debug",
			    "ctlchart_value",
			    { "start", "duration" },
			    { "chart", "keys" } },
	[GRAPH - ROLES] = { "ftrace", "funcgraph_entry", { NULL }, { NULL } },
	[CALL - ROLES] = { "iosys", "io_syscall", { NULL }, { NULL } },
	[SAMPLE - ROLES] = { "lbrprof", "lbrprof_sample", { NULL }, { NULL } },
};

/* What an event shows to be recorded, of struct explain's @seen, or -1 */
static const int saw[EVENTS] = {
	[ROLE_SWITCH] = SAW_SWITCH,
	[ROLE_WAKING] = SAW_WAKING,
	[ROLE_IRQ] = SAW_IRQ,
	[ROLE_IRQ_EXIT] = SAW_IRQ,
	[ROLE_SOFTIRQ] = SAW_SOFTIRQ,
	[ROLE_SOFTIRQ_EXIT] = SAW_SOFTIRQ,
	[ROLE_BIO] = -1,
	[ROLE_ISSUE] = SAW_BLOCK,
	[ROLE_COMPLETE] = -1,
	[VALUE] = -1,
	[GRAPH] = SAW_GRAPH,
	[CALL] = SAW_IOSYS,
	[SAMPLE] = SAW_LBR,
};

enum { SOFT, HARD, LEVELS };

/* Limit of the number of gaps that are stored */
#define GAPS_MAX 65536

/* How long a thread may take to leave its CPU, ns */
#define LEAVES 1000000

/* How long after its event a switch can take if nothing says that interrupts are off, ns */
#define SWITCHES 100000

enum state { UNKNOWN, RUNS, WAITS, BLOCKED, UNSEEN };

/* What a thread did from @from to @to; @cpu: where it ran, or waited to */
struct segment {
	u64 from, to;
	enum state state;
	u32 cpu;
	bool blind;
	char *key, *name;
};

struct thread {
	s32 pid;
	enum state state;
	u64 since;
	u64 woken; /* while it ran */
	bool early; /* @woken is less than LEAVES before it left the CPU */
	u32 cpu;
	struct segment *seg;
	size_t nr, room;
	size_t sleep; /* first segment of the present sleep */
	size_t at; /* in the third reading */
};

/* A CPU: the thread that runs there, since when, and the interrupts in progress */
struct cpu {
	bool known;
	s32 pid;
	s32 before;
	u64 since;
	u64 last;
	char comm[17];
	bool in[LEVELS];
	char name[LEVELS][64];
};

/* A CPU has no records between the two times: they are lost, or were not recorded */
struct gap {
	u64 from, to;
	bool lost;
};

struct walk {
	struct explain *x;
	struct records *r;
	struct number type, pid, flags;
	struct event_fields event[EVENTS];
	struct cpu *cpu;
	u32 cpus;
	struct thread *thread;
	size_t threads, thread_room;
	struct gap *gap;
	size_t gaps, gap_room;
	struct blk_requests *requests;
};

/* A record whose event is one of the above */
struct seen {
	const struct record *rec;
	bool lost;
	unsigned int event;
	s32 pid;
	u32 flags;
	u64 v[EVENT_NUMBERS];
	char text[EVENT_TEXTS][96];
};

/* ---- events ---- */

/* Whether a record can be used; its event may be none of ours: EVENTS */
static bool look(struct walk *w, const struct record *rec, struct seen *s)
{
	int type, i;

	if (rec->cpu >= w->cpus || !number_fits(&w->type, rec) ||
	    !number_fits(&w->pid, rec) || !number_fits(&w->flags, rec))
		return false;
	*s = (struct seen){ .rec = rec, .pid = number_get(&w->pid, rec) };
	s->flags = number_get(&w->flags, rec);
	type = number_get(&w->type, rec);
	while (s->event < EVENTS && w->event[s->event].type != type)
		s->event++;
	if (s->event == EVENTS)
		return true;
	for (i = 0; i < EVENT_NUMBERS; i++) {
		const struct number *n = &w->event[s->event].number[i];

		if (!n->size)
			continue;
		if (!number_fits(n, rec))
			return false;
		s->v[i] = number_get(n, rec);
	}
	for (i = 0; i < EVENT_TEXTS; i++) {
		array_text(w->event[s->event].text[i], rec, s->text[i],
			   sizeof(s->text[i]));
		clean_text(s->text[i]);
	}
	return true;
}

static void find_events(struct walk *w)
{
	struct tep_event *e;
	int i;

	for (i = 0; i < EVENTS; i++) {
		e = event_find(&w->event[i], records_tep(w->r),
			       i < ROLES ? &role_names[i] : &others[i - ROLES]);
		if (!e || w->type.size)
			continue;
		number_find(&w->type, w->r, e, "common_type");
		number_find(&w->pid, w->r, e, "common_pid");
		number_find(&w->flags, w->r, e, "common_flags");
	}
}

/* ---- CPUs ---- */

/*
 * Between its event and the switch itself, with interrupts off, the old task still writes
 * events, such as alarms of the switch. That takes long if the host has stopped the guest.
 */
static bool is_switching(const struct cpu *c, const struct seen *s)
{
	if (s->pid != c->before)
		return false;
	return s->rec->ts - c->since <= SWITCHES ||
	       (s->event != ROLE_SWITCH &&
		(s->flags & (FLAG_IRQS_OFF | FLAG_HARDIRQ | FLAG_SOFTIRQ)) ==
			FLAG_IRQS_OFF);
}

/*
 * Whether records of this CPU are missing before this one: lost, or not recorded because
 * of a filter, because the running task is not the one that the last switch went to.
 */
static bool is_after_loss(const struct walk *w, const struct seen *s)
{
	const struct cpu *c = &w->cpu[s->rec->cpu];

	return s->rec->lost ||
	       (c->known && s->pid != c->pid && !is_switching(c, s));
}

/* Note the thread that runs on a record's CPU, before the record's event is used */
static void see_cpu(struct walk *w, const struct seen *s)
{
	struct cpu *c = &w->cpu[s->rec->cpu];
	const char *comm;

	if (c->known && !s->lost)
		return;
	c->in[SOFT] = false;
	c->in[HARD] = false;
	c->since = c->known ? s->rec->ts : 0;
	c->known = true;
	c->pid = s->pid;
	c->before = s->pid;
	comm = tep_data_comm_from_pid(records_tep(w->r), s->pid);
	if (s->event == ROLE_SWITCH)
		comm = s->text[0];
	snprintf(c->comm, sizeof(c->comm), "%.16s",
		 comm && *comm && strcmp(comm, "<...>") != 0 ? comm : "?");
}

static void change_cpu(struct walk *w, const struct seen *s)
{
	struct cpu *c = &w->cpu[s->rec->cpu];

	switch (s->event) {
	case ROLE_SWITCH:
		c->before = c->pid;
		c->pid = s->v[1];
		c->since = s->rec->ts;
		snprintf(c->comm, sizeof(c->comm), "%.16s", s->text[1]);
		/* With PREEMPT_RT, a softirq can lose the CPU */
		c->in[SOFT] = false;
		c->in[HARD] = false;
		break;
	case ROLE_IRQ:
		c->in[HARD] = true;
		snprintf(c->name[HARD], sizeof(c->name[HARD]),
			 "interrupt %.50s", s->text[0]);
		break;
	case ROLE_SOFTIRQ:
		c->in[SOFT] = true;
		snprintf(c->name[SOFT], sizeof(c->name[SOFT]), "softirq %s",
			 softirq_name(s->v[0]));
		break;
	case ROLE_IRQ_EXIT:
	case ROLE_SOFTIRQ_EXIT:
		c->in[s->event == ROLE_IRQ_EXIT ? HARD : SOFT] = false;
		break;
	default:
		break;
	}
	c->last = s->rec->ts;
}

/* ---- the second reading: threads ---- */

static struct thread *find_thread(struct walk *w, s32 pid)
{
	size_t i;

	for (i = 0; i < w->threads; i++) {
		if (w->thread[i].pid == pid)
			return &w->thread[i];
	}
	return NULL;
}

static void follow(struct walk *w, s32 pid)
{
	if (pid <= 0 || find_thread(w, pid))
		return;
	GROW(w->thread, w->threads, w->thread_room);
	/* What was before is not recorded */
	w->thread[w->threads++] =
		(struct thread){ .pid = pid, .since = w->x->begin };
}

/* Its state until @to */
static void until(struct thread *t, u64 to, enum state state)
{
	if (to <= t->since)
		return;
	GROW(t->seg, t->nr, t->room);
	t->seg[t->nr++] = (struct segment){ .from = t->since,
					    .to = to,
					    .state = state,
					    .cpu = t->cpu,
					    .blind = true };
	t->since = to;
}

/*
 * Its state until @to, or until the first gap that lasts beyond @to of a CPU on which it can
 * have run; the rest is UNSEEN. Gaps that have ended were handled by on_loss(). @woken: what
 * ends the state is recorded, so that CPUs without records at the end are assumed to have
 * lost none.
 */
static void until_gap(const struct walk *w, struct thread *t, u64 to,
		      enum state state, bool woken)
{
	u64 from = to;
	size_t i;

	for (i = 0; i < w->gaps; i++) {
		const struct gap *g = &w->gap[i];

		if (g->from < from && g->to > to &&
		    !(woken && g->to == U64_MAX))
			from = g->from;
	}
	until(t, from, from < to && t->state == UNKNOWN ? UNSEEN : state);
	until(t, to, UNSEEN);
}

static void name_sleep(struct thread *t, const char *key, const char *name)
{
	size_t i;

	for (i = t->sleep; i < t->nr; i++) {
		struct segment *s = &t->seg[i];

		if (s->state != BLOCKED)
			continue;
		s->blind = false;
		free(s->key);
		free(s->name);
		s->key = xstrdup(key);
		s->name = xstrdup(name);
	}
}

static void on_waking(struct walk *w, const struct seen *s)
{
	struct thread *t = find_thread(w, s->v[0]);
	const struct cpu *c = &w->cpu[s->rec->cpu];
	char key[96], name[96];
	const char *irq;

	if (t && t->state == RUNS)
		t->woken = s->rec->ts;
	if (!t || t->state == RUNS || t->state == WAITS)
		return;
	until_gap(w, t, s->rec->ts, BLOCKED, true);
	/* The waker */
	irq = interrupt_name(s->flags, c->in[HARD] ? c->name[HARD] : NULL,
			     c->in[SOFT] ? c->name[SOFT] : NULL);
	if (irq) {
		snprintf(name, sizeof(name), "blocked until %s", irq);
		strcpy(key, name);
	} else {
		snprintf(name, sizeof(name), "blocked until %s-%d woke it",
			 c->comm, s->pid);
		snprintf(key, sizeof(key), "blocked until %.*s",
			 group_comm(c->comm), c->comm);
	}
	name_sleep(t, key, name);
	t->state = WAITS;
	if (s->v[1] < w->cpus)
		t->cpu = s->v[1];
}

static void switched_out(struct walk *w, struct thread *t, const struct seen *s)
{
	if (t->state == WAITS || t->state == BLOCKED) {
		w->x->odd += s->rec->ts > w->x->op.start &&
			     t->since < w->x->op.end;
		until(t, s->rec->ts, UNSEEN);
	}
	t->cpu = s->rec->cpu;
	until(t, s->rec->ts, RUNS);
	/* It is preempted, or gives up the CPU, if the state is R */
	t->state = s->v[2] & 0xff ? BLOCKED : WAITS;
	t->early = t->woken && s->rec->ts - t->woken < LEAVES;
	t->woken = 0;
	t->sleep = t->nr;
}

static void switched_in(struct walk *w, struct thread *t, const struct seen *s)
{
	const struct cpu *c = &w->cpu[s->rec->cpu];

	if (t->state == BLOCKED && !w->x->seen[SAW_WAKING])
		/* It may have been waiting since the other task got the CPU */
		until_gap(w, t, c->pid ? max(c->since, t->since) : s->rec->ts,
			  BLOCKED, false);
	if (t->state != WAITS && !w->x->seen[SAW_WAKING])
		until(t, s->rec->ts, UNSEEN);
	t->cpu = s->rec->cpu;
	/* What wakes it while it leaves the CPU is seen before that */
	until_gap(w, t, s->rec->ts,
		  t->state == BLOCKED && !t->early ? BLOCKED : WAITS,
		  t->state == WAITS);
	t->state = RUNS;
	t->sleep = t->nr;
}

static void on_switch(struct walk *w, const struct seen *s)
{
	struct thread *t;

	t = s->v[0] ? find_thread(w, s->v[0]) : NULL;
	if (t)
		switched_out(w, t, s);
	t = s->v[1] ? find_thread(w, s->v[1]) : NULL;
	if (t)
		switched_in(w, t, s);
}

/* The CPU of this record has lost some between @from and the record */
static void on_loss(struct walk *w, const struct record *rec, u64 from)
{
	size_t i;

	for (i = 0; i < w->threads; i++) {
		struct thread *t = &w->thread[i];

		if (t->state == RUNS && t->cpu != rec->cpu)
			continue;
		until(t, from, t->state == UNKNOWN ? UNSEEN : t->state);
		until(t, rec->ts, UNSEEN);
		t->state = UNKNOWN;
	}
}

/* The thread that an event was written in runs; used only if its state is unknown */
static void on_own(struct walk *w, const struct seen *s)
{
	struct thread *t = s->pid ? find_thread(w, s->pid) : NULL;

	if (!t || t->state != UNKNOWN)
		return;
	t->cpu = s->rec->cpu;
	until(t, s->rec->ts, RUNS);
	t->state = RUNS;
	t->sleep = t->nr;
}

static void end_threads(struct walk *w)
{
	const struct explain *x = w->x;
	size_t i;

	for (i = 0; i < w->threads; i++) {
		struct thread *t = &w->thread[i];

		/* A thread that has not run again has not ended its operation */
		until(t, x->op.end,
		      t->state == RUNS || (t->state != UNKNOWN && x->overdue) ?
			      t->state :
			      UNSEEN);
	}
}

/* Whether an execution of the thread overlaps with gap @g */
static bool is_in_execution(const struct explain *x, s32 pid,
			    const struct segment *g)
{
	const struct execution *e = &x->op;
	size_t i;

	for (i = 0; i <= x->nr_normal; e = &x->normal[i++]) {
		if (e->pid == pid && e->start < g->to && e->end > g->from)
			return true;
	}
	return false;
}

/* The request that the thread waits for, or did, while it is blocked */
static const struct request *request_of(const struct walk *w,
					const struct thread *t,
					const struct segment *g)
{
	const struct execution *op = &w->x->op;

	if (w->x->overdue && t->pid == op->pid && g->to == op->end)
		return blk_requests_outstanding(w->requests, t->pid, op->start);
	return blk_requests_awaited(w->requests, t->pid, g->from, g->to);
}

static void blocked_parts(struct walk *w, const struct thread *t,
			  const struct segment *g)
{
	const struct request *r = request_of(w, t, g);
	struct explain *x = w->x;
	u64 from = g->from, to = g->from;
	const char *name = g->name ? g->name :
				     "blocked, its waker is not recorded";
	size_t i;

	if (r) {
		from = r->queued ? r->queued : r->issued;
		from = max(from, g->from);
		to = r->completed ? r->completed : g->to;
		if (x->op.pid == t->pid)
			blk_requests_add(w->requests, &x->op, r, from, to);
		for (i = 0; i < x->nr_normal; i++) {
			if (x->normal[i].pid == t->pid)
				blk_requests_add(w->requests, &x->normal[i], r,
						 from, to);
		}
	}
	explain_add(x, t->pid, g->blind ? PART_BLOCKED_BLIND : PART_BLOCKED,
		    g->key ? g->key : name, name, "", g->from, from, g->cpu);
	explain_add(x, t->pid, g->blind ? PART_BLOCKED_BLIND : PART_BLOCKED,
		    g->key ? g->key : name, name, "", to, g->to, g->cpu);
}

/* ---- the third reading: what had the CPU ---- */

/* From @from to @to the CPU was as it is in w->cpu; the thread ran or waited there */
static void charge(struct walk *w, const struct thread *t,
		   const struct segment *g, u64 from, u64 to)
{
	const struct cpu *c = &w->cpu[g->cpu];
	char key[96], name[96];

	if (g->state == WAITS && !c->known)
		return;
	if (c->in[HARD] || c->in[SOFT]) {
		const char *irq = c->name[c->in[HARD]];

		explain_add(w->x, t->pid, PART_INTERRUPT, irq, irq,
			    "it ran on the operation's CPU", from, to, g->cpu);
	} else if (g->state == RUNS) {
		explain_add(w->x, t->pid, PART_RUN, "computing", "computing",
			    "the thread itself ran", from, to, g->cpu);
	} else if (!c->pid) {
		explain_add(w->x, t->pid, PART_WAIT, "late wake-up",
			    "late wake-up",
			    "the thread was runnable and its CPU idle", from,
			    to, g->cpu);
	} else {
		snprintf(key, sizeof(key), "waiting for a CPU: %.*s",
			 group_comm(c->comm), c->comm);
		snprintf(name, sizeof(name), "waiting for a CPU: %s-%d",
			 c->comm, c->pid);
		explain_add(w->x, t->pid, PART_WAIT, key, name,
			    "it ran instead", from, to, g->cpu);
	}
}

/* What has not been charged of a segment, until @now */
static void charge_segment(struct walk *w, const struct thread *t,
			   const struct segment *g, u64 now)
{
	u64 from = max(g->from, w->cpu[g->cpu].last);
	u64 to = min(g->to, now);

	if (from < to && (g->state == RUNS || g->state == WAITS))
		charge(w, t, g, from, to);
}

static void charge_until(struct walk *w, u32 cpu, u64 now)
{
	size_t i, k;

	for (i = 0; i < w->threads; i++) {
		struct thread *t = &w->thread[i];

		/* Its CPU has had no record since, and is as it was */
		for (; t->at < t->nr && t->seg[t->at].to < now; t->at++)
			charge_segment(w, t, &t->seg[t->at], now);
		for (k = t->at; k < t->nr && t->seg[k].from < now; k++) {
			if (t->seg[k].cpu == cpu)
				charge_segment(w, t, &t->seg[k], now);
		}
	}
}

/* ---- the first reading ---- */

/* A value of the chart below its limit; it counts if all of its execution was recorded */
static void on_value(struct walk *w, const struct seen *s)
{
	struct explain *x = w->x;
	const char *pid = explain_key(s->text[1], "pid");

	if (!x->op.pid || !pid || x->nr_normal == NORMAL_MAX ||
	    !alarm_is_of(records_tep(w->r), x->chart, s->text[0]) ||
	    s->v[0] < x->begin || s->v[1] > x->limit || s->v[0] == x->op.start)
		return;
	x->normal[x->nr_normal++] =
		(struct execution){ .start = s->v[0],
				    .end = s->v[0] + s->v[1],
				    .pid = strtol(pid, NULL, 10) };
}

static bool next(struct walk *w, struct record *rec, struct seen *s)
{
	while (records_next(w->r, rec)) {
		if (!look(w, rec, s))
			continue;
		s->lost = is_after_loss(w, s);
		return true;
	}
	return false;
}

static void add_gap(struct walk *w, u64 from, u64 to, bool lost)
{
	if (w->gaps == GAPS_MAX)
		return;
	GROW(w->gap, w->gaps, w->gap_room);
	w->gap[w->gaps++] = (struct gap){ from, to, lost };
}

static void first_reading(struct walk *w)
{
	struct record rec;
	struct seen s;
	u32 cpu;

	while (next(w, &rec, &s)) {
		if (s.lost)
			add_gap(w, w->cpu[rec.cpu].last, rec.ts, rec.lost);
		see_cpu(w, &s);
		change_cpu(w, &s);
		if (s.event != EVENTS && saw[s.event] >= 0)
			w->x->seen[saw[s.event]] = true;
		if (s.event == VALUE)
			on_value(w, &s);
	}
	for (cpu = 0; cpu < w->cpus && w->x->dropped; cpu++)
		add_gap(w, w->cpu[cpu].last, U64_MAX, true);
}

static void second_reading(struct walk *w)
{
	struct explain *x = w->x;
	struct record rec;
	struct seen s;
	size_t i, k;

	memset(w->cpu, 0, w->cpus * sizeof(*w->cpu));
	for (i = 0; i < w->gaps; i++) {
		if (w->gap[i].from < x->op.end && w->gap[i].to > x->op.start)
			++*(w->gap[i].lost ? &x->lost : &x->unrecorded);
	}
	/* Without its switches nothing is known of a thread */
	if (x->seen[SAW_SWITCH])
		follow(w, x->op.pid);
	for (i = 0; i < x->nr_normal && x->seen[SAW_SWITCH]; i++)
		follow(w, x->normal[i].pid);
	while (next(w, &rec, &s)) {
		see_cpu(w, &s);
		if (s.lost)
			on_loss(w, &rec, w->cpu[rec.cpu].last);
		if (s.event == ROLE_SWITCH)
			on_switch(w, &s);
		else
			on_own(w, &s);
		if (s.event == ROLE_WAKING)
			on_waking(w, &s);
		else if (s.event >= ROLE_BIO && s.event <= ROLE_COMPLETE)
			blk_requests_event(w->requests, s.event, rec.ts, s.pid,
					   s.v, s.text[0]);
		change_cpu(w, &s);
	}
	end_threads(w);
	for (i = 0; i < w->threads; i++) {
		for (k = 0; k < w->thread[i].nr; k++) {
			const struct segment *g = &w->thread[i].seg[k];

			if (g->state == BLOCKED &&
			    is_in_execution(x, w->thread[i].pid, g))
				blocked_parts(w, &w->thread[i], g);
		}
	}
	if (!x->op.pid)
		blk_requests_divide(w->requests, x);
}

static void third_reading(struct walk *w)
{
	struct record rec;
	struct seen s;
	u32 cpu;

	memset(w->cpu, 0, w->cpus * sizeof(*w->cpu));
	while (next(w, &rec, &s)) {
		if (!w->cpu[rec.cpu].known)
			see_cpu(w, &s);
		charge_until(w, rec.cpu, rec.ts);
		see_cpu(w, &s);
		change_cpu(w, &s);
	}
	for (cpu = 0; cpu < w->cpus; cpu++)
		charge_until(w, cpu, w->x->op.end);
}

/**
 * explain_read - find where the time of an operation went
 * @g: the guard
 * @x: the operation; its parts and those of normal executions are put there
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int explain_read(struct guard *g, struct explain *x)
{
	struct walk w = { .x = x };
	int status;
	size_t i;

	w.r = records_open_expanded(g, x->file, NULL);
	if (!w.r)
		return EXIT_FAILURE;
	w.cpus = records_cpus(w.r);
	w.cpu = xcalloc(w.cpus + 1, sizeof(*w.cpu));
	w.requests = blk_requests_new();
	find_events(&w);
	if (w.type.size)
		first_reading(&w);
	status = records_rewind(w.r);
	if (!status && w.type.size)
		second_reading(&w);
	status = status ? status : records_rewind(w.r);
	if (!status && w.threads)
		third_reading(&w);
	status = status ? status : records_status(w.r);
	for (i = 0; i < w.threads; i++) {
		while (w.thread[i].nr) {
			struct segment *s = &w.thread[i].seg[--w.thread[i].nr];

			free(s->key);
			free(s->name);
		}
		free(w.thread[i].seg);
	}
	free(w.thread);
	blk_requests_free(w.requests);
	free(w.gap);
	free(w.cpu);
	records_close(w.r);
	return status;
}
