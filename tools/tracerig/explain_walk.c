// SPDX-License-Identifier: GPL-2.0
/*
 * Where the time of an operation went. See explain.h.
 *
 * The recording is read three times. The first time shows which events it has, and which
 * normal executions of the operation. The second one follows the threads: when they ran,
 * waited for a CPU, or were blocked, until what woke them; and the requests to devices.
 * The third one, which now knows on which CPU a thread was waiting, says what had that CPU.
 *
 * Between two events nothing happens that would be an event, unless some are lost. What
 * was before the first event of a thread therefore follows from that event, and nothing
 * is said about a thread where a CPU that it can have been on has lost events.
 */
#include <event-parse.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "memory.h"
#include "records.h"
#include "store.h"
#include "text.h"

enum event {
	SWITCH,
	WAKING,
	IRQ,
	IRQ_EXIT,
	SOFTIRQ,
	SOFTIRQ_EXIT,
	BIO,
	ISSUE,
	COMPLETE,
	VALUE,
	EVENTS,
};

#define FIELDS 3
#define TEXTS 2

static const struct {
	const char *system, *name, *field[FIELDS], *text[TEXTS];
	int saw;
} events[EVENTS] = {
	[SWITCH] = { "sched",
		     "sched_switch",
		     { "prev_pid", "next_pid", "prev_state" },
		     { "next_comm", "prev_comm" },
		     SAW_SWITCH },
	[WAKING] = { "sched",
		     "sched_waking",
		     { "pid", "target_cpu" },
		     { NULL },
		     SAW_WAKING },
	[IRQ] = { "irq", "irq_handler_entry", { "irq" }, { "name" }, SAW_IRQ },
	[IRQ_EXIT] = { "irq", "irq_handler_exit", { "irq" }, { NULL }, SAW_IRQ },
	[SOFTIRQ] = { "irq", "softirq_entry", { "vec" }, { NULL }, SAW_SOFTIRQ },
	[SOFTIRQ_EXIT] = { "irq",
			   "softirq_exit",
			   { "vec" },
			   { NULL },
			   SAW_SOFTIRQ },
	[BIO] = { "block",
		  "block_bio_queue",
		  { "dev", "sector", "nr_sector" },
		  { "comm" },
		  -1 },
	[ISSUE] = { "block",
		    "block_rq_issue",
		    { "dev", "sector", "nr_sector" },
		    { "comm" },
		    SAW_BLOCK },
	[COMPLETE] = { "block",
		       "block_rq_complete",
		       { "dev", "sector", "nr_sector" },
		       { NULL },
		       -1 },
	[VALUE] = { "ctlchart_debug",
		    "ctlchart_value",
		    { "start", "duration" },
		    { "chart", "keys" },
		    -1 },
};

/* Flags of a record: it is from an interrupt */
enum { FLAG_HARDIRQ = 0x08, FLAG_SOFTIRQ = 0x10 };

enum { SOFT, HARD, LEVELS };

/* Requests that are in progress, and that are remembered */
#define LIVE_MAX 4096
#define REQUESTS_MAX 65536

/* Gaps that are remembered: with so many nothing is known */
#define GAPS_MAX 65536

/* How long a thread may take to leave its CPU, ns */
#define LEAVES 1000000

/* How long after its event a switch can take, ns */
#define SWITCHES 100000

struct request {
	u64 dev, sector, nr;
	u64 queued, issued, completed; /* 0: not seen */
	s32 pid;
	char comm[17];
};

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
	bool early; /* so shortly before it left the CPU */
	u32 cpu;
	struct segment *seg;
	size_t nr, room;
	size_t sleep; /* first segment of the present sleep */
	size_t at; /* in the third reading */
};

/* A CPU: who runs there, since when, and the interrupts in it */
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

/* A CPU has lost records between the two times */
struct gap {
	u64 from, to;
};

struct walk {
	struct explain *x;
	struct records *r;
	struct number type, pid, flags;
	struct {
		int id;
		struct number n[FIELDS];
		struct tep_format_field *text[TEXTS];
	} event[EVENTS];
	struct cpu *cpu;
	u32 cpus;
	struct thread *thread;
	size_t threads, thread_room;
	struct gap *gap;
	size_t gaps, gap_room;
	struct request *request;
	size_t requests, request_room;
	size_t live[LIVE_MAX], lives;
};

/* A record whose event is one of the above */
struct seen {
	const struct record *rec;
	bool lost;
	enum event event;
	s32 pid;
	u32 flags;
	u64 v[FIELDS];
	char text[TEXTS][96];
};

/* ---- parts ---- */

static void add(struct execution *e, enum part_kind kind, const char *key,
		const char *name, const char *detail, u64 from, u64 to, u32 cpu)
{
	struct part *p;
	size_t i;

	from = max(from, e->start);
	to = min(to, e->end);
	if (to <= from)
		return;
	for (i = 0; i < e->nr && strcmp(e->part[i].key, key) != 0;)
		i++;
	if (i == e->nr) {
		GROW(e->part, e->nr, e->room);
		e->part[e->nr++] =
			(struct part){ .kind = kind, .key = xstrdup(key) };
	}
	p = &e->part[i];
	p->ns += to - from;
	if (to - from <= p->longest)
		return;
	p->longest = to - from;
	p->at = from;
	p->cpu = cpu;
	free(p->name);
	free(p->detail);
	p->name = xstrdup(name);
	p->detail = xstrdup(detail);
}

/* The same to all executions of a thread */
static void add_thread(struct explain *x, s32 pid, enum part_kind kind,
		       const char *key, const char *name, const char *detail,
		       u64 from, u64 to, u32 cpu)
{
	size_t i;

	if (x->op.pid == pid)
		add(&x->op, kind, key, name, detail, from, to, cpu);
	for (i = 0; i < x->nr_normal; i++) {
		if (x->normal[i].pid == pid)
			add(&x->normal[i], kind, key, name, detail, from, to,
			    cpu);
	}
}

/* ---- events ---- */

static void get_text(const struct walk *w, const struct tep_format_field *f,
		     const struct record *rec, char *buf, size_t size)
{
	struct number n = { .offset = f->offset,
			    .size = sizeof(u32),
			    .swap = w->type.swap };
	u32 offset = f->offset, len = f->size, loc;
	const char *text;

	*buf = '\0';
	if ((u64)offset + len > rec->size)
		return;
	if (f->flags & TEP_FIELD_IS_DYNAMIC) {
		if (len != sizeof(loc))
			return;
		loc = number_get(&n, rec);
		offset = loc & 0xffff;
		len = loc >> 16;
		if (offset + len > rec->size)
			return;
	}
	text = (const char *)rec->data + offset;
	snprintf(buf, size, "%.*s", (int)strnlen(text, len), text);
	clean_text(buf);
}

/* Whether a record can be used; its event may be none of ours: EVENTS */
static bool look(struct walk *w, const struct record *rec, struct seen *s)
{
	int id, i;

	if (rec->cpu >= w->cpus || !number_fits(&w->type, rec) ||
	    !number_fits(&w->pid, rec) || !number_fits(&w->flags, rec))
		return false;
	*s = (struct seen){ .rec = rec, .pid = number_get(&w->pid, rec) };
	s->flags = number_get(&w->flags, rec);
	id = number_get(&w->type, rec);
	while (s->event < EVENTS && w->event[s->event].id != id)
		s->event++;
	if (s->event == EVENTS)
		return true;
	for (i = 0; i < FIELDS && events[s->event].field[i]; i++) {
		const struct number *n = &w->event[s->event].n[i];

		if (!n->size)
			continue;
		if (!number_fits(n, rec))
			return false;
		s->v[i] = number_get(n, rec);
	}
	for (i = 0; i < TEXTS; i++) {
		if (w->event[s->event].text[i])
			get_text(w, w->event[s->event].text[i], rec, s->text[i],
				 sizeof(s->text[i]));
	}
	return true;
}

static void find_events(struct walk *w)
{
	struct tep_event *e;
	int k, i;

	for (k = 0; k < EVENTS; k++) {
		w->event[k].id = -1;
		e = tep_find_event_by_name(records_tep(w->r), events[k].system,
					   events[k].name);
		if (!e)
			continue;
		w->event[k].id = e->id;
		if (!w->type.size) {
			number_find(&w->type, w->r, e, "common_type");
			number_find(&w->pid, w->r, e, "common_pid");
			number_find(&w->flags, w->r, e, "common_flags");
		}
		for (i = 0; i < FIELDS && events[k].field[i]; i++)
			number_find(&w->event[k].n[i], w->r, e,
				    events[k].field[i]);
		for (i = 0; i < TEXTS && events[k].text[i]; i++)
			w->event[k].text[i] =
				tep_find_field(e, events[k].text[i]);
	}
}

/* ---- CPUs ---- */

/*
 * Whether records of this CPU are missing before this one: lost, or not recorded because
 * of a filter, for another task runs than did after the last switch. Between its event
 * and the switch itself, the old task still writes events.
 */
static bool is_after_loss(const struct walk *w, const struct seen *s)
{
	const struct cpu *c = &w->cpu[s->rec->cpu];

	return s->rec->lost ||
	       (c->known && s->pid != c->pid &&
		(s->pid != c->before || s->rec->ts - c->since > SWITCHES));
}

/* A record, before its event is looked at: who runs on its CPU */
static void see_cpu(struct walk *w, const struct seen *s)
{
	struct cpu *c = &w->cpu[s->rec->cpu];
	const char *comm;

	if (c->known && !s->lost)
		return;
	if (s->rec->lost) {
		c->in[SOFT] = false;
		c->in[HARD] = false;
	}
	c->since = c->known ? s->rec->ts : 0;
	c->known = true;
	c->pid = s->pid;
	c->before = s->pid;
	comm = tep_data_comm_from_pid(records_tep(w->r), s->pid);
	if (s->event == SWITCH)
		comm = s->text[1];
	snprintf(c->comm, sizeof(c->comm), "%.16s",
		 comm && *comm && *comm != '<' ? comm : "?");
}

static void change_cpu(struct walk *w, const struct seen *s)
{
	static const char *const vec[] = { "HI",      "TIMER", "NET_TX",
					   "NET_RX",  "BLOCK", "IRQ_POLL",
					   "TASKLET", "SCHED", "HRTIMER",
					   "RCU" };
	struct cpu *c = &w->cpu[s->rec->cpu];

	switch (s->event) {
	case SWITCH:
		c->before = c->pid;
		c->pid = s->v[1];
		c->since = s->rec->ts;
		snprintf(c->comm, sizeof(c->comm), "%.16s", s->text[0]);
		break;
	case IRQ:
		c->in[HARD] = true;
		snprintf(c->name[HARD], sizeof(c->name[HARD]),
			 "interrupt %.50s", s->text[0]);
		break;
	case SOFTIRQ:
		c->in[SOFT] = true;
		snprintf(c->name[SOFT], sizeof(c->name[SOFT]), "softirq %s",
			 s->v[0] < ARRAY_SIZE(vec) ? vec[s->v[0]] : "?");
		break;
	case IRQ_EXIT:
	case SOFTIRQ_EXIT:
		c->in[s->event == IRQ_EXIT ? HARD : SOFT] = false;
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
	w->thread[w->threads++] = (struct thread){ .pid = pid };
}

static bool is_lossy(const struct walk *w, u64 from, u64 to)
{
	size_t i;

	for (i = 0; i < w->gaps; i++) {
		if (w->gap[i].from < to && w->gap[i].to > from)
			return true;
	}
	return false;
}

/* What it did until @to */
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

	if (t && t->state == RUNS)
		t->woken = s->rec->ts;
	if (!t || t->state == RUNS || t->state == WAITS)
		return;
	until(t, s->rec->ts, BLOCKED);
	/* Who wakes it */
	if (c->in[HARD] || c->in[SOFT]) {
		snprintf(name, sizeof(name), "blocked until %s",
			 c->name[c->in[HARD]]);
		strcpy(key, name);
	} else if (s->flags & (FLAG_HARDIRQ | FLAG_SOFTIRQ)) {
		/* Timers and calls from other CPUs have no handler's events */
		snprintf(name, sizeof(name), "blocked until %s",
			 s->flags & FLAG_HARDIRQ ? "a timer or IPI" :
						   "a softirq");
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
		/* It may have been waiting since the other task has the CPU */
		until(t, c->pid ? max(c->since, t->since) : s->rec->ts,
		      BLOCKED);
	if (t->state != WAITS &&
	    (!w->x->seen[SAW_WAKING] || is_lossy(w, t->since, s->rec->ts)))
		until(t, s->rec->ts, UNSEEN);
	t->cpu = s->rec->cpu;
	/* What wakes it while it leaves the CPU is seen before that */
	until(t, s->rec->ts,
	      t->state == BLOCKED && !t->early ? BLOCKED : WAITS);
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

/* Who writes an event runs; what is known otherwise is known better, see see_cpu() */
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

		/* Who has not run again has not ended its operation */
		until(t, x->op.end,
		      t->state == RUNS || (t->state != UNKNOWN && x->overdue) ?
			      t->state :
			      UNSEEN);
	}
}

/* ---- the second reading: requests ---- */

static bool is_in(const struct request *r, const u64 *v)
{
	return r->dev == v[0] && r->sector >= v[1] &&
	       r->sector < v[1] + max(v[2], (u64)1);
}

static struct request *add_request(struct walk *w, const struct seen *s)
{
	struct request *r;

	if (w->requests == REQUESTS_MAX)
		return NULL;
	if (w->lives == LIVE_MAX)
		memmove(w->live, w->live + 1, --w->lives * sizeof(*w->live));
	GROW(w->request, w->requests, w->request_room);
	w->live[w->lives++] = w->requests;
	r = &w->request[w->requests++];
	*r = (struct request){
		.dev = s->v[0], .sector = s->v[1], .nr = s->v[2], .pid = s->pid
	};
	snprintf(r->comm, sizeof(r->comm), "%.16s", s->text[0]);
	return r;
}

static void on_block(struct walk *w, const struct seen *s)
{
	bool found = false;
	struct request *r;
	size_t i, kept = 0;

	if (s->event == BIO) {
		r = add_request(w, s);
		if (r)
			r->queued = s->rec->ts;
		return;
	}
	for (i = 0; i < w->lives; i++) {
		r = &w->request[w->live[i]];
		if (is_in(r, s->v)) {
			found = true;
			if (s->event == COMPLETE) {
				r->completed = s->rec->ts;
				continue;
			}
			if (!r->issued)
				r->issued = s->rec->ts;
		}
		w->live[kept++] = w->live[i];
	}
	w->lives = kept;
	r = found || s->event == COMPLETE ? NULL : add_request(w, s);
	if (r)
		r->issued = s->rec->ts;
}

static const char *device(u64 dev, char *buf, size_t size)
{
	snprintf(buf, size, "%llu:%llu", (unsigned long long)dev >> 20,
		 (unsigned long long)dev & 0xfffff);
	return buf;
}

/* Issued from @from to @to, or, if that is 0, in the device at @from */
static bool is_other(const struct request *r, const struct request *own,
		     u64 from, u64 to)
{
	if (r == own || r->dev != own->dev || !r->issued)
		return false;
	if (to)
		return r->issued >= from && r->issued <= to;
	return r->issued <= from && (!r->completed || r->completed >= from);
}

static bool is_same_program(const struct request *a, const struct request *b)
{
	int len = group_comm(a->comm);

	return len == group_comm(b->comm) && !strncmp(a->comm, b->comm, len);
}

/* The other requests, and whose most of them were, if they were anybody's */
static void who_else(const struct walk *w, const struct request *own, u64 from,
		     u64 to, char *buf, size_t size)
{
	const struct request *who = NULL, *r, *end = w->request + w->requests;
	unsigned long long nr = 0, left = 0, by = 0;

	/* Who has more than half is left when those of different ones cancel out */
	for (r = w->request; r < end; r++) {
		if (!is_other(r, own, from, to))
			continue;
		nr++;
		if (!left)
			who = r;
		left += is_same_program(r, who) ? 1 : -1;
	}
	for (r = w->request; r < end && left; r++)
		by += is_other(r, own, from, to) && is_same_program(r, who);
	snprintf(buf, size, "%llu other requests %s", nr,
		 to ? "were issued meanwhile" : "were in the device before it");
	if (2 * by > nr)
		snprintf(buf + strlen(buf), size - strlen(buf),
			 ", %llu of them by %.*s", by, group_comm(who->comm),
			 who->comm);
}

static void add_io(struct walk *w, struct execution *e, const struct request *r,
		   u64 from, u64 to)
{
	char dev[32], name[96], detail[128];
	u64 issued = max(from, r->issued);

	device(r->dev, dev, sizeof(dev));
	if (r->queued && r->issued > from) {
		snprintf(name, sizeof(name), "queue of device %s", dev);
		who_else(w, r, max(from, r->queued), r->issued, detail,
			 sizeof(detail));
		add(e, PART_QUEUE, name, name, detail, max(from, r->queued),
		    min(to, r->issued), 0);
	}
	if (r->issued && issued < to) {
		snprintf(name, sizeof(name), "device %s", dev);
		who_else(w, r, r->issued, 0, detail, sizeof(detail));
		add(e, PART_DEVICE, name, name, detail, issued, to, 0);
	}
}

/* The request that a thread has waited for in @g: its last one, if that ended the wait */
static const struct request *awaited(const struct walk *w, s32 pid,
				     const struct segment *g)
{
	const struct request *last = NULL;
	size_t i;

	for (i = 0; i < w->requests; i++) {
		const struct request *r = &w->request[i];

		if (r->pid == pid && r->issued && r->completed > g->from &&
		    r->completed <= g->to &&
		    (!last || r->completed > last->completed))
			last = r;
	}
	return last && g->to - last->completed <= (g->to - g->from) / 10 ?
		       last :
		       NULL;
}

/* Whether an execution of the thread has some of @g */
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

static void blocked_parts(struct walk *w, const struct thread *t,
			  const struct segment *g)
{
	const struct request *r = awaited(w, t->pid, g);
	struct explain *x = w->x;
	u64 from = g->from, to = g->from;
	const char *name = g->name ? g->name :
				     "blocked, nobody is seen to wake it";
	size_t i;

	if (r) {
		from = r->queued ? r->queued : r->issued;
		from = max(from, g->from);
		to = r->completed;
		if (x->op.pid == t->pid)
			add_io(w, &x->op, r, from, to);
		for (i = 0; i < x->nr_normal; i++) {
			if (x->normal[i].pid == t->pid)
				add_io(w, &x->normal[i], r, from, to);
		}
	}
	add_thread(x, t->pid, g->blind ? PART_BLOCKED_BLIND : PART_BLOCKED,
		   g->key ? g->key : name, name, "", g->from, from, g->cpu);
	add_thread(x, t->pid, g->blind ? PART_BLOCKED_BLIND : PART_BLOCKED,
		   g->key ? g->key : name, name, "", to, g->to, g->cpu);
}

/* ---- the third reading: what had the CPU ---- */

/* From @from to @to CPU @cpu was as it is in w->cpu; the thread ran or waited there */
static void charge(struct walk *w, const struct thread *t,
		   const struct segment *g, u32 cpu, u64 from, u64 to)
{
	const struct cpu *c = &w->cpu[cpu];
	char key[96], name[96];

	if (c->in[HARD] || c->in[SOFT]) {
		const char *irq = c->name[c->in[HARD]];

		add_thread(w->x, t->pid, PART_INTERRUPT, irq, irq,
			   "it ran on the operation's CPU", from, to, cpu);
	} else if (g->state == RUNS) {
		add_thread(w->x, t->pid, PART_RUN, "computing", "computing",
			   "the thread itself ran", from, to, cpu);
	} else if (!c->pid) {
		add_thread(w->x, t->pid, PART_WAIT, "late wake-up",
			   "late wake-up",
			   "the thread was runnable and its CPU idle", from, to,
			   cpu);
	} else {
		snprintf(key, sizeof(key), "waiting for a CPU: %.*s",
			 group_comm(c->comm), c->comm);
		snprintf(name, sizeof(name), "waiting for a CPU: %s-%d",
			 c->comm, c->pid);
		add_thread(w->x, t->pid, PART_WAIT, key, name, "it ran instead",
			   from, to, cpu);
	}
}

static void charge_until(struct walk *w, u32 cpu, u64 now)
{
	size_t i, k;

	for (i = 0; i < w->threads; i++) {
		struct thread *t = &w->thread[i];

		/* They end with a record of their CPU */
		while (t->at < t->nr && t->seg[t->at].to < now)
			t->at++;
		for (k = t->at; k < t->nr && t->seg[k].from < now; k++) {
			const struct segment *g = &t->seg[k];
			u64 from = max(g->from, w->cpu[cpu].last);
			u64 to = min(g->to, now);

			if (g->cpu == cpu && from < to &&
			    (g->state == RUNS || g->state == WAITS))
				charge(w, t, g, cpu, from, to);
		}
	}
}

/* ---- requests as operations ---- */

/* How far a request is from being the operation: its end, and that it covers it */
static const struct request *find_operation(const struct walk *w)
{
	const struct explain *x = w->x;
	const struct request *best = NULL;
	u64 off, best_off = 0;
	size_t i;

	for (i = 0; i < w->requests; i++) {
		const struct request *r = &w->request[i];

		if (r->dev != x->dev || r->sector != x->sector ||
		    !r->completed || r->completed < x->op.start)
			continue;
		off = r->completed > x->op.end ? r->completed - x->op.end :
						 x->op.end - r->completed;
		if (!best || off < best_off) {
			best = r;
			best_off = off;
		}
	}
	return best;
}

static void request_parts(struct walk *w)
{
	const struct request *op = find_operation(w);
	struct explain *x = w->x;
	bool from_issue;
	size_t i;

	if (!op || !op->issued)
		return;
	/* The chart may begin with the issue, or, so close to it, the insertion */
	from_issue = op->issued <= x->op.start;
	add_io(w, &x->op, op, x->op.start, x->op.end);
	for (i = 0; i < w->requests && x->nr_normal < NORMAL_MAX; i++) {
		const struct request *r = &w->request[i];
		u64 start = from_issue ? r->issued : r->queued;
		struct execution *e = &x->normal[x->nr_normal];

		if (r == op || r->dev != op->dev || r->nr != op->nr || !start ||
		    !r->issued || !r->completed ||
		    r->completed - start > x->limit)
			continue;
		*e = (struct execution){ .start = start, .end = r->completed };
		add_io(w, e, r, e->start, e->end);
		x->nr_normal++;
	}
}

/* ---- the first reading ---- */

/* A value of the chart that was in control: an execution of which all is recorded? */
static void on_value(struct walk *w, const struct seen *s)
{
	struct explain *x = w->x;
	const char *pid = explain_key(s->text[1], "pid");

	if (!x->op.pid || !pid || x->nr_normal == NORMAL_MAX ||
	    strcmp(s->text[0], x->chart) != 0 || s->v[0] < x->begin ||
	    s->v[1] > x->limit || s->v[0] == x->op.start)
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

static void add_gap(struct walk *w, u64 from, u64 to)
{
	if (w->gaps == GAPS_MAX)
		return;
	GROW(w->gap, w->gaps, w->gap_room);
	w->gap[w->gaps++] = (struct gap){ from, to };
}

static void first_reading(struct walk *w)
{
	struct record rec;
	struct seen s;
	u32 cpu;

	while (next(w, &rec, &s)) {
		if (s.lost)
			add_gap(w, w->cpu[rec.cpu].last, rec.ts);
		see_cpu(w, &s);
		change_cpu(w, &s);
		if (s.event != EVENTS && events[s.event].saw >= 0)
			w->x->seen[events[s.event].saw] = true;
		if (s.event == VALUE)
			on_value(w, &s);
	}
	for (cpu = 0; cpu < w->cpus && w->x->dropped; cpu++)
		add_gap(w, w->cpu[cpu].last, U64_MAX);
}

static void second_reading(struct walk *w)
{
	struct explain *x = w->x;
	struct record rec;
	struct seen s;
	size_t i, k;

	memset(w->cpu, 0, w->cpus * sizeof(*w->cpu));
	for (i = 0; i < w->gaps; i++)
		x->lost += w->gap[i].from < x->op.end &&
			   w->gap[i].to > x->op.start;
	/* Without its switches nothing is known of a thread */
	if (x->seen[SAW_SWITCH])
		follow(w, x->op.pid);
	for (i = 0; i < x->nr_normal && x->seen[SAW_SWITCH]; i++)
		follow(w, x->normal[i].pid);
	while (next(w, &rec, &s)) {
		see_cpu(w, &s);
		if (s.lost)
			on_loss(w, &rec, w->cpu[rec.cpu].last);
		if (s.event == SWITCH)
			on_switch(w, &s);
		else
			on_own(w, &s);
		if (s.event == WAKING)
			on_waking(w, &s);
		else if (s.event >= BIO && s.event <= COMPLETE)
			on_block(w, &s);
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
		request_parts(w);
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

	w.r = records_open(g, x->file, NULL);
	if (!w.r)
		return EXIT_FAILURE;
	w.cpus = records_cpus(w.r);
	w.cpu = xcalloc(w.cpus + 1, sizeof(*w.cpu));
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
	free(w.request);
	free(w.gap);
	free(w.cpu);
	records_close(w.r);
	return status;
}

static void free_execution(struct execution *e)
{
	size_t i;

	for (i = 0; i < e->nr; i++) {
		free(e->part[i].key);
		free(e->part[i].name);
		free(e->part[i].detail);
	}
	free(e->part);
}

/**
 * explain_free - free what is in it
 * @x: it
 */
void explain_free(struct explain *x)
{
	size_t i;

	free_execution(&x->op);
	for (i = 0; i < x->nr_normal; i++)
		free_execution(&x->normal[i]);
	for (i = 0; i < x->nr_doubts; i++)
		free(x->doubt[i]);
}
