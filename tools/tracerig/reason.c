// SPDX-License-Identifier: GPL-2.0
/* What most of an operation's time was. See reason.h. */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "memory.h"
#include "order.h"
#include "reason.h"
#include "records.h"
#include "roles.h"
#include "softirq.h"
#include "store.h"
#include "text.h"

/* Limit of the number of pages that are parsed: the ring buffer must be read meanwhile */
#define PAGES_MAX 4096

/* Limit of the number of reasons that are added up; later ones are too many to be long */
#define SUMS_MAX 32

enum { SOFT, HARD, LEVELS };

enum state { UNKNOWN, RUNS, BLOCKED, READY };

/* A change of the thread: to which state, whether @waker woke it, and who that is or had its CPU */
struct change {
	u64 ts;
	enum state to;
	bool woken;
	s32 waker;
	char by[48];
};

/* @wakes: number of the first change that awaits the name of a waker, from 1; 0: none does */
struct cpu {
	size_t wakes;
	s32 pid;
	char comm[COMM_LEN];
	bool in[LEVELS];
	char name[LEVELS][40];
	u64 since;
};

/**
 * struct look - a look at an operation
 * @r:		the reader
 * @event:	the events
 * @current:	their field common_pid
 * @flags:	their field common_flags
 * @cpu:	of each CPU
 * @pid:	the operation's thread; 0: it is a request
 * @dev:	the device of a request
 * @sector:	its first sector
 * @start:	when the operation began
 * @end:	when it ended
 * @issue:	when the request was issued; 0: that is not recorded
 * @interrupts:	time of interrupts while the thread was on its CPU
 * @change:	changes of the thread
 * @pages:	number of pages that were parsed
 * @sum:	times, by reason
 */
struct look {
	struct reader *r;
	struct event_fields event[ROLES];
	struct number current;
	struct number flags;
	struct cpu *cpu;
	s32 pid;
	u64 dev;
	u64 sector;
	u64 start;
	u64 end;
	u64 issue;
	u64 interrupts;
	struct change *change;
	size_t changes, room;
	size_t pages;
	struct {
		char text[REASON_SIZE];
		u64 ns;
	} sum[SUMS_MAX];
	size_t sums;
};

/* ---- events ---- */

static void find_events(struct look *l)
{
	struct tep_event *e;
	enum role i;

	for (i = 0; i < ROLES; i++) {
		e = event_find(&l->event[i], l->r->tep, &role_names[i]);
		if (!e)
			continue;
		number_of(&l->current, l->r->tep,
			  tep_find_common_field(e, "common_pid"));
		number_of(&l->flags, l->r->tep,
			  tep_find_common_field(e, "common_flags"));
	}
}

static u64 number(const struct look *l, enum role role, unsigned int i,
		  const struct record *rec)
{
	return number_in(&l->event[role].number[i], rec);
}

static void text(const struct look *l, enum role role, unsigned int i,
		 const struct record *rec, char *buf, size_t size)
{
	array_text(l->event[role].text[i], rec, buf, size);
	clean_text(buf);
}

static struct change *add_change(struct look *l, u64 ts, enum state to)
{
	struct change *c;

	GROW(l->change, l->changes, l->room);
	c = &l->change[l->changes++];
	*c = (struct change){ .ts = ts, .to = to };
	return c;
}

static void set_name(struct change *c, const char *comm)
{
	snprintf(c->by, sizeof(c->by), "%.*s", group_comm(comm), comm);
}

/* The name of the thread that has run on the CPU */
static void name_waker(struct look *l, struct cpu *c, s32 pid, const char *comm)
{
	size_t i;

	for (i = c->wakes; i && i <= l->changes; i++) {
		if (l->change[i - 1].waker == pid)
			set_name(&l->change[i - 1], comm);
	}
	c->wakes = 0;
}

static void on_switch(struct look *l, struct cpu *c, const struct record *rec)
{
	s32 prev = number(l, ROLE_SWITCH, 0, rec),
	    next = number(l, ROLE_SWITCH, 1, rec);
	char comm[COMM_LEN];

	text(l, ROLE_SWITCH, 0, rec, comm, sizeof(comm));
	name_waker(l, c, prev, comm);
	if (prev == l->pid)
		add_change(l, rec->ts,
			   number(l, ROLE_SWITCH, 2, rec) & 0xff ? BLOCKED :
								   READY);
	if (next == l->pid)
		set_name(add_change(l, rec->ts, RUNS), prev ? comm : "");
	c->pid = next;
	/* With PREEMPT_RT, a softirq can lose the CPU */
	c->in[SOFT] = false;
	c->in[HARD] = false;
	text(l, ROLE_SWITCH, 1, rec, c->comm, sizeof(c->comm));
}

/**
 * interrupt_name - the interrupt or softirq that a record is from
 * @flags: the record's common_flags
 * @hard: the interrupt whose handler runs on the CPU, or NULL
 * @soft: the softirq that runs there, or NULL
 *
 * Return: its name, or NULL if the record is from a task.
 */
const char *interrupt_name(unsigned int flags, const char *hard,
			   const char *soft)
{
	/* Timers and calls from other CPUs have no handler's events */
	if (hard || flags & FLAG_HARDIRQ)
		return hard ?: "a timer or IPI";
	if (soft || flags & FLAG_SOFTIRQ)
		return soft ?: "a softirq";
	return NULL;
}

static void on_waking(struct look *l, struct cpu *c, const struct record *rec,
		      s32 current, unsigned int flags)
{
	struct change *g;
	const char *irq;

	if ((s32)number(l, ROLE_WAKING, 0, rec) != l->pid)
		return;
	g = add_change(l, rec->ts, READY);
	g->woken = true;
	irq = interrupt_name(flags, c->in[HARD] ? c->name[HARD] : NULL,
			     c->in[SOFT] ? c->name[SOFT] : NULL);
	if (irq) {
		snprintf(g->by, sizeof(g->by), "%s", irq);
	} else if (c->pid == current && *c->comm) {
		set_name(g, c->comm);
	} else {
		/* Its name is in the next switch */
		g->waker = current;
		c->wakes = c->wakes ? c->wakes : l->changes;
	}
}

static void on_interrupt(struct look *l, struct cpu *c, enum role role,
			 const struct record *rec, s32 current)
{
	int level = role == ROLE_IRQ || role == ROLE_IRQ_EXIT ? HARD : SOFT;
	bool within = c->in[HARD] || c->in[SOFT];
	char name[32];

	c->in[level] = role == ROLE_IRQ || role == ROLE_SOFTIRQ;
	if (role == ROLE_IRQ) {
		text(l, ROLE_IRQ, 0, rec, name, sizeof(name));
		snprintf(c->name[HARD], sizeof(c->name[HARD]), "interrupt %.*s",
			 group_comm(name), name);
	} else if (role == ROLE_SOFTIRQ) {
		snprintf(c->name[SOFT], sizeof(c->name[SOFT]), "softirq %s",
			 softirq_name(number(l, ROLE_SOFTIRQ, 0, rec)));
	}
	if (current != l->pid)
		return;
	if (!within)
		c->since = max(rec->ts, l->start);
	else if (!c->in[HARD] && !c->in[SOFT] && rec->ts > c->since)
		l->interrupts += min(rec->ts, l->end) - min(c->since, l->end);
}

static void on_issue(struct look *l, const struct record *rec)
{
	u64 sector = number(l, ROLE_ISSUE, 1, rec);

	if (number(l, ROLE_ISSUE, 0, rec) == l->dev && sector <= l->sector &&
	    l->sector - sector < max(number(l, ROLE_ISSUE, 2, rec), 1ull) &&
	    rec->ts >= l->start && rec->ts <= l->end)
		l->issue = rec->ts;
}

static void on_event(struct look *l, unsigned int cpu, const struct record *rec)
{
	s32 current = number_in(&l->current, rec);
	struct cpu *c = &l->cpu[cpu];
	enum role role = 0;
	u16 type;

	memcpy(&type, rec->data, sizeof(type));
	while (role < ROLES && l->event[role].type != type)
		role++;
	if (!l->pid && role != ROLE_ISSUE)
		return;
	switch (role) {
	case ROLE_SWITCH:
		on_switch(l, c, rec);
		break;
	case ROLE_WAKING:
		on_waking(l, c, rec, current, number_in(&l->flags, rec));
		break;
	case ROLE_IRQ:
	case ROLE_IRQ_EXIT:
	case ROLE_SOFTIRQ:
	case ROLE_SOFTIRQ_EXIT:
		on_interrupt(l, c, role, rec, current);
		break;
	case ROLE_ISSUE:
		on_issue(l, rec);
		break;
	default:
		break;
	}
}

/* ---- pages ---- */

static void parse_page(struct look *l, const struct spool *s, size_t i)
{
	struct reader *r = l->r;
	struct record rec = { .cpu = s->cpu[i] };

	if (l->pages == PAGES_MAX || !spool_get(s, i, r->buf) ||
	    kbuffer_load_subbuffer(r->k, r->buf))
		return;
	l->pages++;
	while ((rec.data = kbuffer_read_event(r->k, &rec.ts)) != NULL) {
		rec.size = kbuffer_event_size(r->k);
		on_event(l, s->cpu[i], &rec);
		kbuffer_next_event(r->k, NULL);
	}
}

/* Pages of a CPU are in order: one ends before the next one begins */
static void parse_spool(struct look *l, const struct spool *s)
{
	size_t *last = xcalloc(l->r->cpus, sizeof(*last)), i;
	unsigned int cpu;

	for (i = 0; i < s->nr; i++) {
		u64 begin = spool_time(s, i);
		size_t *before = &last[s->cpu[i]];

		if (*before && begin >= l->start)
			parse_page(l, s, *before - 1);
		*before = begin <= l->end ? i + 1 : 0;
	}
	for (cpu = 0; cpu < l->r->cpus; cpu++) {
		if (last[cpu])
			parse_page(l, s, last[cpu] - 1);
	}
	free(last);
}

/* ---- the reason ---- */

static void add_time(struct look *l, u64 ns, const char *what, const char *by)
{
	char reason[REASON_SIZE];
	size_t i;

	snprintf(reason, sizeof(reason), "%s%s", what, by);
	for (i = 0; i < l->sums && strcmp(l->sum[i].text, reason) != 0; i++)
		;
	if (i == SUMS_MAX)
		return;
	if (i == l->sums)
		strcpy(l->sum[l->sums++].text, reason);
	l->sum[i].ns += ns;
}

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return ORDER(x->ts, y->ts);
}

static void add_stretch(struct look *l, enum state state, u64 ns,
			const struct change *next)
{
	switch (state) {
	case RUNS:
		add_time(l, ns, "computing", "");
		break;
	case BLOCKED:
		if (next->woken && *next->by)
			add_time(l, ns, "blocked until ", next->by);
		else
			add_time(l, ns, "blocked", "");
		break;
	case READY:
		if (next->to == RUNS && *next->by)
			add_time(l, ns, "waiting for a CPU: ", next->by);
		else
			add_time(l, ns, "waiting for a CPU", "");
		break;
	default:
		break;
	}
}

static void add_thread(struct look *l, bool runs)
{
	enum state state = runs ? RUNS : UNKNOWN;
	u64 since = l->start;
	size_t i;

	add_change(l, l->end, UNKNOWN);
	qsort(l->change, l->changes, sizeof(*l->change), by_time);
	for (i = 0; i < l->changes; i++) {
		const struct change *c = &l->change[i];
		u64 ts = min(max(c->ts, l->start), l->end);

		/* What wakes it while it runs ends no wait */
		if (state == RUNS && c->woken)
			continue;
		if (c->ts > l->start && ts > since)
			add_stretch(l, state, ts - since, c);
		if (c->ts >= l->start || !runs)
			state = c->to;
		since = ts;
	}
	for (i = 0; i < l->sums; i++) {
		if (!strcmp(l->sum[i].text, "computing"))
			l->sum[i].ns -= min(l->sum[i].ns, l->interrupts);
	}
	add_time(l, l->interrupts, "interrupts", "");
}

/* The one with most of the time; none if the events show less than half of it */
static void choose(const struct look *l, char *buf)
{
	size_t i, most = 0;
	u64 all = 0;

	for (i = 0; i < l->sums; i++) {
		all += l->sum[i].ns;
		if (l->sum[i].ns > l->sum[most].ns)
			most = i;
	}
	if (all && all >= (l->end - l->start) / 2)
		memcpy(buf, l->sum[most].text, REASON_SIZE);
}

static bool find_operation(struct look *l, const struct alarm *a)
{
	l->start = a->start;
	l->end = a->start + a->value;
	if (!a->start || l->end < l->start)
		return false;
	return explain_who(a->keys, &l->pid, &l->dev, &l->sector);
}

/**
 * reason_of - find out what most of the time of the worst operation in a window was
 * @r: the reader, after reader_finish()
 * @buf: where to put it, such as "blocked until jbd2"; "" if it is not known
 *
 * This is not the cause, since it is not compared with what is usual. It costs little: the events
 * are read once, of at most 4096 pages.
 */
void reason_of(struct reader *r, char buf[REASON_SIZE])
{
	const struct alarm *a = &r->alarms.lead;
	struct look l = { .r = r };
	unsigned int i;

	*buf = '\0';
	if (!find_operation(&l, a))
		return;
	find_events(&l);
	l.cpu = xcalloc(r->cpus, sizeof(*l.cpu));
	for (i = PAST; i--;) {
		if (reader_needs(r, i))
			parse_spool(&l, &r->past[i]);
	}
	parse_spool(&l, &r->spool);
	if (l.pid) {
		add_thread(&l, l.pid == a->pid);
	} else if (l.issue) {
		add_time(&l, l.issue - l.start, "queue of device", "");
		add_time(&l, l.end - l.issue, "device", "");
	}
	choose(&l, buf);
	free(l.cpu);
	free(l.change);
}
