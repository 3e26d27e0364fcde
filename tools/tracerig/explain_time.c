// SPDX-License-Identifier: GPL-2.0
/* See explain.h. */
#include <event-parse.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "memory.h"
#include "records.h"

enum kind {
	SWITCH,
	WAKING,
	IRQ,
	IRQ_EXIT,
	SOFTIRQ,
	SOFTIRQ_EXIT,
	BIO,
	ISSUE,
	COMPLETE,
	KINDS,
};

#define FIELDS 4

static const struct {
	const char *system, *name, *field[FIELDS], *text;
	int saw;
} kinds[KINDS] = {
	[SWITCH] = { "sched",
		     "sched_switch",
		     { "prev_pid", "next_pid", "prev_state" },
		     "next_comm",
		     SAW_SWITCH },
	[WAKING] = { "sched",
		     "sched_waking",
		     { "pid", "target_cpu" },
		     NULL,
		     SAW_WAKING },
	[IRQ] = { "irq", "irq_handler_entry", { "irq" }, "name", SAW_IRQ },
	[IRQ_EXIT] = { "irq", "irq_handler_exit", { NULL }, NULL, SAW_IRQ },
	[SOFTIRQ] = { "irq", "softirq_entry", { "vec" }, NULL, SAW_SOFTIRQ },
	[SOFTIRQ_EXIT] = { "irq", "softirq_exit", { NULL }, NULL, SAW_SOFTIRQ },
	[BIO] = { "block",
		  "block_bio_queue",
		  { "dev", "sector", "nr_sector" },
		  NULL,
		  SAW_BLOCK },
	[ISSUE] = { "block",
		    "block_rq_issue",
		    { "dev", "sector", "nr_sector" },
		    NULL,
		    SAW_BLOCK },
	[COMPLETE] = { "block",
		       "block_rq_complete",
		       { "dev", "sector", "nr_sector" },
		       NULL,
		       SAW_BLOCK },
};

enum { TASK_UNKNOWN, TASK_RUNS, TASK_WAITS, TASK_BLOCKED };

/* A CPU: who runs there, and the interrupts in it, the softirq below the hard one */
struct cpu {
	s32 pid;
	char comm[17];
	bool in[2];
	char irq[2][64];
};

struct walk {
	struct explain *x;
	struct records *r;
	struct number type, pid;
	struct {
		int id;
		struct number n[FIELDS];
		struct tep_format_field *text;
	} event[KINDS];
	struct cpu *cpu;
	u32 cpus;
	int task;
	u32 on;
	u64 since;
	char sleep[64];
	u64 issued;
	u64 flying, ahead;
};

static void add(struct walk *w, const char *name, const char *detail, u64 ns,
		u64 at, u32 cpu, bool own)
{
	struct explain *x = w->x;
	struct cause *c;
	size_t i;

	if (!ns)
		return;
	for (i = 0; i < x->nr && strcmp(x->cause[i].name, name) != 0;)
		i++;
	if (i == x->nr) {
		GROW(x->cause, x->nr, x->room);
		x->cause[x->nr++] = (struct cause){ .name = xstrdup(name),
						    .detail = xstrdup(""),
						    .own = own };
	}
	c = &x->cause[i];
	c->ns += ns;
	x->known += ns;
	if (ns <= c->longest)
		return;
	c->longest = ns;
	c->at = at;
	c->cpu = cpu;
	free(c->detail);
	c->detail = xstrdup(detail);
}

/* The time from @since until @now, which is part of the operation, is some part's */
static void account(struct walk *w, u64 now)
{
	const struct explain *x = w->x;
	u64 from = w->since < x->start ? x->start : w->since;
	const struct cpu *c = &w->cpu[w->on];
	u64 ns;
	char name[128];

	w->since = now;
	if (now > x->end)
		now = x->end;
	if (now <= from || w->task == TASK_UNKNOWN)
		return;
	ns = now - from;
	if (w->task == TASK_BLOCKED)
		return; /* named by its waker: see woken() */
	if (c->in[1] || c->in[0])
		add(w, c->irq[c->in[1]], "it ran on the operation's CPU", ns,
		    from, w->on, false);
	else if (w->task == TASK_RUNS)
		add(w, "computing", "the thread itself ran", ns, from, w->on,
		    true);
	else if (!c->pid)
		add(w, "late wake-up",
		    "the thread was runnable and its CPU idle", ns, from, w->on,
		    false);
	else {
		snprintf(name, sizeof(name), "waiting for a CPU: %s-%d",
			 c->comm, c->pid);
		add(w, name, "it ran instead", ns, from, w->on, false);
	}
}

static void woken(struct walk *w, const struct record *rec, s32 waker,
		  u64 target)
{
	const struct cpu *c = &w->cpu[rec->cpu];
	u64 from = w->since < w->x->start ? w->x->start : w->since;
	u64 to = rec->ts > w->x->end ? w->x->end : rec->ts;
	char name[128];

	if (w->task != TASK_BLOCKED)
		return;
	if (c->in[1] || c->in[0])
		snprintf(name, sizeof(name), "blocked until %s",
			 c->irq[c->in[1]]);
	else
		snprintf(name, sizeof(name), "blocked until %s-%d woke it",
			 c->pid == waker && *c->comm ? c->comm : "task", waker);
	if (to > from)
		add(w, name, w->sleep, to - from, from, rec->cpu, false);
	w->task = TASK_WAITS;
	w->since = rec->ts;
	if (target < w->cpus)
		w->on = target;
}

static void get_text(const struct tep_format_field *f, const struct record *rec,
		     char *buf, size_t size)
{
	u32 offset = f->offset, len = f->size, loc;

	*buf = '\0';
	if (offset + len > rec->size)
		return;
	if (f->flags & TEP_FIELD_IS_DYNAMIC) {
		memcpy(&loc, rec->data + offset, sizeof(loc));
		offset = loc & 0xffff;
		len = loc >> 16;
		if (offset + len > rec->size)
			return;
	}
	snprintf(buf, size, "%.*s",
		 (int)strnlen((char *)rec->data + offset, len),
		 (char *)rec->data + offset);
}

static void on_switch(struct walk *w, const struct record *rec, const u64 *v,
		      const char *comm)
{
	struct cpu *c = &w->cpu[rec->cpu];

	if (w->x->pid == (s32)v[0]) {
		w->on = rec->cpu;
		w->task = TASK_RUNS;
		account(w, rec->ts);
		w->task = v[2] & 0xff ? TASK_BLOCKED : TASK_WAITS;
		snprintf(w->sleep, sizeof(w->sleep), "state %s",
			 v[2] & 2 ? "D" : "S");
	} else if (w->on == rec->cpu) {
		account(w, rec->ts);
	}
	c->pid = v[1];
	snprintf(c->comm, sizeof(c->comm), "%s", comm);
	if (w->x->pid == (s32)v[1]) {
		account(w, rec->ts);
		w->on = rec->cpu;
		w->task = TASK_RUNS;
		w->since = rec->ts;
	}
}

static void on_irq(struct walk *w, const struct record *rec, int level,
		   bool begin, const char *name)
{
	struct cpu *c = &w->cpu[rec->cpu];

	if (w->on == rec->cpu && w->task != TASK_BLOCKED)
		account(w, rec->ts);
	c->in[level] = begin;
	if (begin)
		snprintf(c->irq[level], sizeof(c->irq[level]), "%s", name);
}

static bool is_ours(const struct explain *x, const u64 *v)
{
	return v[1] <= x->sector && x->sector < v[1] + (v[2] ? v[2] : 1);
}

static void on_block(struct walk *w, const struct record *rec, int kind,
		     const u64 *v)
{
	const struct explain *x = w->x;
	bool ours = is_ours(x, v) && rec->ts >= x->start && rec->ts <= x->end;

	if (x->pid || v[0] != x->dev)
		return;
	if (kind == ISSUE) {
		if (ours) {
			w->issued = rec->ts;
			w->ahead = w->flying;
		}
		w->flying++;
	} else if (kind == COMPLETE && w->flying) {
		w->flying--;
	}
}

static void one(struct walk *w, const struct record *rec)
{
	static const char *const vec[] = { "HI",      "TIMER", "NET_TX",
					   "NET_RX",  "BLOCK", "IRQ_POLL",
					   "TASKLET", "SCHED", "HRTIMER",
					   "RCU" };
	char text[48] = "", name[64];
	u64 v[FIELDS] = { 0 };
	int id, k, i;

	if (!number_fits(&w->type, rec) || rec->cpu >= w->cpus)
		return;
	if (rec->lost && rec->ts >= w->x->start && rec->ts <= w->x->end)
		w->x->lost = true;
	if (w->task == TASK_UNKNOWN && w->x->pid && number_fits(&w->pid, rec) &&
	    (s32)number_get(&w->pid, rec) == w->x->pid) {
		w->task = TASK_RUNS;
		w->on = rec->cpu;
		w->since = rec->ts;
	}
	id = number_get(&w->type, rec);
	for (k = 0; k < KINDS && w->event[k].id != id;)
		k++;
	/* without a thread: pid 0 is an idle CPU */
	if (k == KINDS || (k < BIO && !w->x->pid))
		return;
	for (i = 0; i < FIELDS && kinds[k].field[i]; i++) {
		if (!number_fits(&w->event[k].n[i], rec))
			return;
		if (w->event[k].n[i].size)
			v[i] = number_get(&w->event[k].n[i], rec);
	}
	if (w->event[k].text)
		get_text(w->event[k].text, rec, text, sizeof(text));
	switch (k) {
	case SWITCH:
		on_switch(w, rec, v, text);
		break;
	case WAKING:
		if (w->x->pid == (s32)v[0] && number_fits(&w->pid, rec))
			woken(w, rec, number_get(&w->pid, rec), v[1]);
		break;
	case IRQ:
		snprintf(name, sizeof(name), "interrupt %s", text);
		on_irq(w, rec, 1, true, name);
		break;
	case SOFTIRQ:
		snprintf(name, sizeof(name), "softirq %s",
			 v[0] < ARRAY_SIZE(vec) ? vec[v[0]] : "?");
		on_irq(w, rec, 0, true, name);
		break;
	case IRQ_EXIT:
	case SOFTIRQ_EXIT:
		on_irq(w, rec, k == IRQ_EXIT, false, "");
		break;
	default:
		on_block(w, rec, k, v);
	}
}

static void request_parts(struct walk *w)
{
	const struct explain *x = w->x;
	u64 issued = w->issued ? w->issued : x->start;
	char detail[96];

	if (x->pid || !w->issued)
		return;
	snprintf(detail, sizeof(detail),
		 "%llu requests were in flight before it",
		 (unsigned long long)w->ahead);
	add(w, "waiting in the device's queue", detail, issued - x->start,
	    x->start, 0, false);
	add(w, "device", detail, x->end - issued, issued, 0, false);
}

/* The usual duration is the thread's own running first, then the longest parts */
static int by_own(const void *a, const void *b)
{
	const struct cause *p = a, *q = b;

	if (p->own != q->own)
		return q->own - p->own;
	return p->ns < q->ns ? 1 : -(p->ns > q->ns);
}

static int by_excess(const void *a, const void *b)
{
	const struct cause *p = a, *q = b;
	u64 m = p->ns - p->usual, n = q->ns - q->usual;

	return m < n ? 1 : -(m > n);
}

static void rank(struct explain *x)
{
	u64 usual = x->center;
	size_t i;

	if (!x->nr)
		return;
	qsort(x->cause, x->nr, sizeof(*x->cause), by_own);
	for (i = 0; i < x->nr; i++) {
		x->cause[i].usual = min(usual, x->cause[i].ns);
		usual -= x->cause[i].usual;
	}
	qsort(x->cause, x->nr, sizeof(*x->cause), by_excess);
}

static void find_events(struct walk *w)
{
	struct tep_event *e;
	int k, i;

	for (k = 0; k < KINDS; k++) {
		w->event[k].id = -1;
		e = tep_find_event_by_name(records_tep(w->r), kinds[k].system,
					   kinds[k].name);
		if (!e)
			continue;
		w->event[k].id = e->id;
		if (!w->type.size) {
			number_find(&w->type, w->r, e, "common_type");
			number_find(&w->pid, w->r, e, "common_pid");
		}
		for (i = 0; i < FIELDS && kinds[k].field[i]; i++)
			number_find(&w->event[k].n[i], w->r, e,
				    kinds[k].field[i]);
		if (kinds[k].text)
			w->event[k].text = tep_find_field(e, kinds[k].text);
	}
}

/**
 * explain_read - find where the time of an operation went
 * @g: the guard
 * @x: the operation; its parts are put there
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int explain_read(struct guard *g, struct explain *x)
{
	struct walk w = { .x = x };
	struct record rec;
	int status, k;

	w.r = records_open(g, x->file, NULL);
	if (!w.r)
		return EXIT_FAILURE;
	w.cpus = records_cpus(w.r);
	w.cpu = xcalloc(w.cpus + 1, sizeof(*w.cpu));
	find_events(&w);
	while (w.type.size && records_next(w.r, &rec)) {
		one(&w, &rec);
		for (k = 0; k < KINDS; k++) {
			if (number_fits(&w.type, &rec) &&
			    w.event[k].id == (int)number_get(&w.type, &rec))
				x->seen[kinds[k].saw] = true;
		}
	}
	if (w.task == TASK_RUNS || w.task == TASK_WAITS)
		account(&w, x->end);
	request_parts(&w);
	rank(x);
	status = records_status(w.r);
	free(w.cpu);
	records_close(w.r);
	return status;
}

/**
 * explain_free - free what explain_read() put into it
 * @x: it
 */
void explain_free(struct explain *x)
{
	size_t i;

	for (i = 0; i < x->nr; i++) {
		free(x->cause[i].name);
		free(x->cause[i].detail);
	}
	free(x->cause);
}
