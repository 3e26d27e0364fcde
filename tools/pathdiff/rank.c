// SPDX-License-Identifier: GPL-2.0
/*
 * The function that made an execution slow, and the causes that many executions
 * have in common.
 *
 * Where an abnormal path is the same as a normal pattern, self times are compared
 * with the means of that pattern's normal executions. Where it is not, the time
 * in the longest common subsequence as a part of the whole decides: if it is at
 * least the threshold, functions of the common part are compared, otherwise it is
 * a function that the abnormal path alone has. But the common part is not the cause if it
 * has become slower by less than the time of the rest.
 *
 * Functions are ranked by their self time above the usual: with inclusive time
 * every caller of the cause would be a cause, too. Interrupts count as one function.
 * A function whose excess is a small part of the execution's time is not a cause: the
 * execution is slow throughout, or hardly above the usual.
 *
 * If that function waited, the wait is the cause, named after its caller: schedule()
 * alone shows nothing.
 *
 * The longer an execution computes, the more often it is preempted. So an execution that is
 * slow without its preemptions, too, is judged without them.
 */
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "pathdiff.h"

/* Causes with a table of functions */
#define MAX_TABLES 32

/* Maximum number of executions that such a table is made from */
#define MAX_TABLED 2000

/* Part of all excess that a cause must have to be named, and all of them */
#define NAMED_LEAST 0.05
#define NAMED_ALL 0.90
#define NAMED_MOST 5

/* Part of all excess of a cause that is reported as undecided if none is named */
#define MOST 0.5

/*
 * Part of an execution's time that a function's excess must be for the function to be
 * the cause
 */
#define STANDS_OUT 0.25

/* Part of the delay from which a function is the cause, and not one that calls it */
#define OWN_PART 0.4

/**
 * struct sums - per function, of one execution
 * @excess:	time above the usual, in the common part
 * @extra:	time in what is not common
 * @self:	all of its self time
 * @normal:	what is usual
 * @pos:	position with the most excess
 * @pos_time:	excess at @pos
 * @used:	functions with any
 * @nr:		number of them
 * @calls:	for calls_verdict()
 */
struct sums {
	struct sum {
		double excess;
		double extra;
		double self;
		double normal;
		u32 pos[2];
		double pos_time[2];
		bool used;
	} * of;
	u32 *used;
	u32 nr;
	struct calls *calls;
	double common;
	double uncommon;
};

static void sums_init(struct sums *s, const struct paths *p)
{
	memset(s, 0, sizeof(*s));
	s->of = xzalloc(p->functions.nr * sizeof(*s->of));
	s->used = xzalloc(p->functions.nr * sizeof(*s->used));
	s->calls = xzalloc(p->functions.nr * sizeof(*s->calls));
}

static void sums_free(struct sums *s)
{
	free(s->of);
	free(s->used);
	free(s->calls);
}

static void sums_clear(struct sums *s)
{
	u32 i;

	for (i = 0; i < s->nr; i++)
		memset(&s->of[s->used[i]], 0, sizeof(*s->of));
	s->nr = 0;
	s->common = 0;
	s->uncommon = 0;
}

static void add(struct sums *s, u32 function, u32 pos, double self,
		double normal, bool extra)
{
	struct sum *f = &s->of[function];
	double more = self - normal;

	if (!f->used) {
		f->used = true;
		f->pos_time[0] = f->pos_time[1] = -1e30;
		s->used[s->nr++] = function;
	}
	f->self += self;
	f->normal += normal;
	if (extra)
		f->extra += self;
	else
		f->excess += more;
	if (more > f->pos_time[extra]) {
		f->pos_time[extra] = more;
		f->pos[extra] = pos;
	}
	if (extra)
		s->uncommon += self;
	else
		s->common += self;
}

/* Returns the pattern that it is compared with, or NULL */
static const struct pattern *sum_up(const struct paths *p, const struct exec *e,
				    struct sums *s)
{
	const struct pattern *own = &p->patterns.p[e->pattern], *near;
	u32 i;

	sums_clear(s);
	if (own->near == NONE)
		return NULL;
	near = &p->patterns.p[own->near];
	for (i = 0; i < own->len; i++) {
		u32 m = own->match ? own->match[i] : i;

		add(s, own->function[i], i, e->data[own->len + i],
		    m == NONE ? 0 : near->stat[m].self, m == NONE);
	}
	return near;
}

/**
 * exec_inclusive - time in a function and what it called, without interrupts
 * @p: the paths
 * @e: the execution
 * @pos: position of the function
 */
double exec_inclusive(const struct paths *p, const struct exec *e, u32 pos)
{
	const struct pattern *q = &p->patterns.p[e->pattern];
	double time = e->data[q->len + pos];
	u32 i;

	for (i = pos + 1; i < q->len && q->depth[i] > q->depth[pos]; i++)
		time += e->data[q->len + i];
	return time;
}

/* The function with the most excess in the common part, or outside of it */
static u32 largest(const struct sums *s, bool extra, double *time)
{
	u32 found = NONE, i;

	for (i = 0; i < s->nr; i++) {
		const struct sum *f = &s->of[s->used[i]];
		double t = extra ? f->extra : f->excess;

		if ((found == NONE && t > 0) || (found != NONE && t > *time)) {
			found = s->used[i];
			*time = t;
		}
	}
	return found;
}

static double positive_excess(const struct sums *s)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < s->nr; i++) {
		double t = s->of[s->used[i]].excess;

		sum += t > 0 ? t : 0;
	}
	return sum;
}

/* The longest interrupt of an execution */
static u32 longest_irq(const struct paths *p, const struct exec *e)
{
	const struct wait *found = NULL;
	u32 i;

	for (i = e->wait; i < e->wait + e->waits; i++) {
		const struct wait *w = &p->wait[i];

		if (w->kind == WAIT_IRQ && (!found || w->time > found->time))
			found = w;
	}
	return found ? (u32)(found - p->wait) : NONE;
}

static void irq_verdict(const struct paths *p, const struct exec *e,
			const struct pattern *near, struct verdict *v)
{
	u32 w = longest_irq(p, e);

	if (w == NONE || e->irq - near->irq <= v->excess)
		return;
	v->kind = CAUSE_IRQ;
	v->function = p->wait[w].who;
	v->pos = p->wait[w].pos;
	v->self = v->incl = e->irq;
	v->normal_self = v->normal_incl = near->irq;
	v->excess = e->irq - near->irq;
}

static bool decide(const struct paths *p, const struct exec *e,
		   const struct sums *s, const struct pattern *near,
		   double common, struct verdict *v)
{
	const struct pattern *own = &p->patterns.p[e->pattern];
	double all = s->common + s->uncommon, time = 0;
	bool extra = s->uncommon > 0 && (s->common < common * all ||
					 positive_excess(s) < s->uncommon);
	struct verdict calls;
	const struct sum *f;
	u32 m;

	memset(v, 0, sizeof(*v));
	v->function = largest(s, extra, &time);
	if (v->function != NONE) {
		f = &s->of[v->function];
		v->kind = extra ? CAUSE_EXTRA : CAUSE_SLOW;
		v->pos = f->pos[extra];
		v->self = f->self;
		v->normal_self = f->normal;
		v->excess = time;
		v->incl = exec_inclusive(p, e, v->pos);
		m = own->match ? own->match[v->pos] : v->pos;
		v->normal_incl = m == NONE ? 0 : near->stat[m].incl;
	}
	irq_verdict(p, e, near, v);
	if (v->excess < OWN_PART * (e->duration - near->duration) &&
	    calls_verdict(p, e, near, s->calls, &calls) &&
	    calls.excess > v->excess)
		*v = calls;
	return v->excess > STANDS_OUT * e->duration;
}

static double preempted_time(const struct paths *p, const struct exec *e)
{
	double time = 0;
	u32 i;

	for (i = e->wait; i < e->wait + e->waits; i++) {
		if (p->wait[i].kind == WAIT_PREEMPTED)
			time += p->wait[i].time;
	}
	return time;
}

/* Self times without preemptions, in a copy of the data */
static float *unpreempted_data(const struct paths *p, const struct exec *e)
{
	u32 len = p->patterns.p[e->pattern].len, i;
	float *data = xcalloc(2 * (size_t)len, sizeof(*data));

	memcpy(data, e->data, 2 * (size_t)len * sizeof(*data));
	for (i = e->wait; i < e->wait + e->waits; i++) {
		const struct wait *w = &p->wait[i];

		if (w->kind == WAIT_PREEMPTED)
			data[len + w->pos] -= w->time;
	}
	return data;
}

/* Decide; @near: from sum_up(), which also filled @s */
static bool judge(const struct paths *p, const struct exec *e, struct sums *s,
		  const struct pattern *near, double common, struct verdict *v)
{
	double preempted = preempted_time(p, e);
	struct exec rest = *e;
	bool found;

	rest.duration -= preempted;
	if (!(preempted > 0) ||
	    rest.duration - near->duration <= STANDS_OUT * e->duration)
		return decide(p, e, s, near, common, v);
	rest.data = unpreempted_data(p, e);
	sum_up(p, &rest, s);
	found = decide(p, &rest, s, near, common, v);
	v->preempted = preempted;
	free(rest.data);
	return found;
}

/**
 * rank_one - what made one execution slow
 * @p: the paths
 * @e: the execution
 * @common: threshold of the time in the common part, 0..1
 * @v: the verdict; its function is NONE if there is none
 */
void rank_one(struct paths *p, const struct exec *e, double common,
	      struct verdict *v)
{
	const struct pattern *near;
	struct sums s;

	sums_init(&s, p);
	near = sum_up(p, e, &s);
	memset(v, 0, sizeof(*v));
	if (!near || !judge(p, e, &s, near, common, v))
		v->function = NONE;
	sums_free(&s);
}

/* The first caller whose name shows what it waits for */
static u32 caller_of(const struct paths *p, const struct pattern *q, u32 pos)
{
	u32 depth = q->depth[pos], i;

	for (i = pos; i; i--) {
		if (q->depth[i - 1] >= depth)
			continue;
		depth = q->depth[i - 1];
		if (!(p->functions.flags[q->function[i - 1]] & FUNCTION_WAITS))
			return q->function[i - 1];
	}
	return NONE;
}

/* The longest wait in a function, if most of its time was spent in waits */
static const struct wait *wait_in(const struct paths *p, const struct exec *e,
				  const struct verdict *v)
{
	const struct pattern *q = &p->patterns.p[e->pattern];
	const struct wait *found = NULL;
	double time = 0;
	u32 i;

	for (i = e->wait; i < e->wait + e->waits; i++) {
		const struct wait *w = &p->wait[i];

		if (w->kind == WAIT_IRQ || q->function[w->pos] != v->function ||
		    (w->kind == WAIT_PREEMPTED && v->preempted > 0))
			continue;
		time += w->time;
		if (!found || w->time > found->time)
			found = w;
	}
	return time * 2 >= v->self ? found : NULL;
}

static void add_who(struct cause *c, const struct wait *w)
{
	struct who *who = NULL;
	u32 i;

	for (i = 0; i < c->whos; i++) {
		if (c->who[i].name == w->who)
			who = &c->who[i];
	}
	if (!who && c->whos < MAX_WHO) {
		who = &c->who[c->whos++];
	} else if (!who) {
		/* The one with the least time is replaced */
		who = &c->who[0];
		for (i = 1; i < MAX_WHO; i++) {
			if (c->who[i].time < who->time)
				who = &c->who[i];
		}
		who->longest = 0;
	}
	who->name = w->who;
	who->time += w->time;
	who->nr++;
	if (w->time > who->longest) {
		who->longest = w->time;
		who->stack = w->stack;
		if (w->lock != NONE)
			c->lock = w->lock;
		if (w->device != NONE)
			c->device = w->device;
	}
}

/* Finds causes by what makes them different */
struct key {
	u32 kind;
	u32 function;
	u32 caller;
};

struct table {
	struct hash hash;
	struct key *key;
	u32 room;
};

static struct cause *known_cause(struct ranking *r, const struct table *t,
				 const struct key *key)
{
	u32 i;

	hash_for_each_possible(&t->hash, hash_bytes(key, sizeof(*key)), i) {
		if (!memcmp(&t->key[i], key, sizeof(*key)))
			return &r->cause[i];
	}
	return NULL;
}

static struct cause *find_cause(struct ranking *r, struct table *t,
				const struct key *key)
{
	struct cause *c = known_cause(r, t, key);

	if (c)
		return c;
	GROW(t->key, r->nr, t->room);
	t->key[r->nr] = *key;
	GROW(r->cause, r->nr, r->max);
	c = &r->cause[r->nr++];
	memset(c, 0, sizeof(*c));
	c->id = hash_add(&t->hash, hash_bytes(key, sizeof(*key)));
	c->function = key->function;
	c->caller = key->caller;
	c->lock = c->device = c->last_pattern = NONE;
	c->worst = NONE;
	return c;
}

/* What executions with the same cause have in common, and the wait that it is, or NULL */
static bool make_key(const struct paths *p, const struct exec *e,
		     const struct verdict *v, struct key *key,
		     const struct wait **w)
{
	const struct pattern *own = &p->patterns.p[e->pattern];
	bool waits = false;

	*key = (struct key){ v->kind, v->function, NONE };
	*w = NULL;
	if (v->kind == CAUSE_IRQ) {
		u32 irq = longest_irq(p, e);

		*w = irq == NONE ? NULL : &p->wait[irq];
	} else if (!cause_is_calls(v->kind)) {
		*w = wait_in(p, e, v);
		waits = *w ||
			p->functions.flags[v->function] & FUNCTION_SCHEDULES;
	}
	if (waits) {
		/* The same cause, whether normal paths have it or not */
		key->kind = 0x100 + (*w ? (*w)->kind : 0xff);
		key->caller = caller_of(p, own, v->pos);
	}
	return waits;
}

static u32 add_execution(struct paths *p, struct ranking *r, struct table *t,
			 u32 exec, const struct verdict *v)
{
	const struct exec *e = &p->exec[exec];
	const struct pattern *own = &p->patterns.p[e->pattern];
	const struct pattern *near = &p->patterns.p[own->near];
	const struct wait *w;
	struct key key;
	bool waits = make_key(p, e, v, &key, &w);
	struct cause *c = find_cause(r, t, &key);

	c->waits = waits;
	if (w) {
		c->known = true;
		c->wait_kind = w->kind;
		c->queued += w->queued;
		c->wait_time += w->time;
		add_who(c, w);
	}
	c->executions++;
	if (c->last_pattern != e->pattern)
		c->patterns++;
	c->last_pattern = e->pattern;
	c->excess += v->excess;
	if (v->excess > c->most)
		c->most = v->excess;
	c->preempted += v->preempted;
	c->self += v->self;
	c->normal_self += v->normal_self;
	c->incl += v->incl;
	c->normal_incl += v->normal_incl;
	c->duration += e->duration;
	c->usual += near->duration;
	if (c->worst == NONE || e->duration > p->exec[c->worst].duration) {
		c->worst = exec;
		c->worst_pos = v->pos;
		c->kind = v->kind;
	}
	return c - r->cause;
}

static int by_excess(const void *a, const void *b)
{
	const struct cause *x = a, *y = b;
	int order = ORDER(y->stands_out, x->stands_out);

	order = order ?: ORDER(y->excess, x->excess);
	return order ?: ORDER(x->function, y->function);
}

static int by_time(const void *a, const void *b)
{
	const struct who *x = a, *y = b;

	return ORDER(y->time, x->time);
}

static int by_slowed(const void *a, const void *b)
{
	const struct slowed *x = a, *y = b;

	return ORDER(y->self - y->normal, x->self - x->normal);
}

static void order(struct ranking *r)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < r->nr; i++) {
		struct cause *c = &r->cause[i];

		qsort(c->who, c->whos, sizeof(*c->who), by_time);
	}
	if (r->nr)
		qsort(r->cause, r->nr, sizeof(*r->cause), by_excess);
	for (i = 0; i < r->nr && r->cause[i].stands_out && i < NAMED_MOST;
	     i++) {
		if (i && (r->cause[i].excess < NAMED_LEAST * r->excess ||
			  sum > NAMED_ALL * r->excess))
			break;
		sum += r->cause[i].excess;
	}
	r->named = i;
}

static void make_table(struct cause *c, const struct sums *s)
{
	u32 i;

	c->table = xzalloc(s->nr * sizeof(*c->table));
	c->in_table = s->nr;
	for (i = 0; i < s->nr; i++) {
		const struct sum *f = &s->of[s->used[i]];

		c->table[i].function = s->used[i];
		c->table[i].self = f->self;
		c->table[i].normal = f->normal;
		c->table[i].extra = f->extra > f->self / 2;
	}
	qsort(c->table, c->in_table, sizeof(*c->table), by_slowed);
}

/* Figure 7: by how much functions are slower, over a cause's executions */
static void make_tables(struct paths *p, struct ranking *r, const u32 *verdict)
{
	struct sums one, *all;
	u32 nr = r->nr < MAX_TABLES ? r->nr : MAX_TABLES, i, k;
	u32 *done = xzalloc(nr * sizeof(*done));

	sums_init(&one, p);
	all = xzalloc(nr * sizeof(*all));
	for (i = 0; i < nr; i++)
		sums_init(&all[i], p);
	for (i = 0; i < p->nr; i++) {
		u32 c = verdict[i];

		if (c >= nr || done[c]++ >= MAX_TABLED)
			continue;
		sum_up(p, &p->exec[i], &one);
		for (k = 0; k < one.nr; k++) {
			const struct sum *f = &one.of[one.used[k]];

			add(&all[c], one.used[k], 0, f->self - f->extra,
			    f->normal, false);
			add(&all[c], one.used[k], 0, f->extra, 0, true);
		}
	}
	for (i = 0; i < nr; i++) {
		make_table(&r->cause[i], &all[i]);
		sums_free(&all[i]);
	}
	free(all);
	free(done);
	sums_free(&one);
}

/* Causes are sorted after executions were assigned to them */
static void renumber(struct paths *p, struct ranking *r, u32 *verdict)
{
	u32 *to = xzalloc(r->nr * sizeof(*to)), i;

	for (i = 0; i < r->nr; i++)
		to[r->cause[i].id] = i;
	for (i = 0; i < p->nr; i++) {
		if (verdict[i] != NONE)
			verdict[i] = to[verdict[i]];
	}
	free(to);
}

static double delay_of(const struct paths *p, const struct exec *e)
{
	return e->duration -
	       p->patterns.p[p->patterns.p[e->pattern].near].duration;
}

static int by_size(const void *a, const void *b)
{
	return order_double(b, a);
}

/*
 * A few executions may have most of the delay, and many a little each: counts, for each
 * cause, its executions among those with half of the delay
 */
static void find_heavy(const struct paths *p, struct ranking *r,
		       const u32 *verdict)
{
	double *delay = xzalloc(p->nr * sizeof(*delay)), all = 0, sum = 0;
	u32 nr = 0, i;

	for (i = 0; i < p->nr; i++) {
		if (verdict[i] == NONE)
			continue;
		delay[nr] = delay_of(p, &p->exec[i]);
		all += delay[nr++];
	}
	if (nr)
		qsort(delay, nr, sizeof(*delay), by_size);
	for (i = 0; i < nr && sum < all / 2; i++)
		sum += delay[i];
	r->heavy = i ? delay[i - 1] : 0;
	free(delay);
	for (i = 0; i < p->nr; i++) {
		if (verdict[i] != NONE && delay_of(p, &p->exec[i]) >= r->heavy)
			r->cause[verdict[i]].heavy++;
	}
}

/* Slow executions of the baseline that have a cause of the trace's */
static void count_baseline(const struct paths *p, struct ranking *r,
			   const struct table *t, struct sums *s, double common)
{
	const struct wait *w;
	struct verdict v;
	struct key key;
	u32 i;

	for (i = 0; i < p->nr; i++) {
		const struct exec *e = &p->exec[i];
		const struct pattern *near;
		struct cause *c;

		if (!e->abnormal || e->side != SIDE_BASELINE)
			continue;
		near = sum_up(p, e, s);
		if (!near || !judge(p, e, s, near, common, &v))
			continue;
		make_key(p, e, &v, &key, &w);
		c = known_cause(r, t, &key);
		if (!c)
			continue;
		c->baseline++;
		c->base_heavy += delay_of(p, e) >= r->heavy;
	}
}

/**
 * rank_causes - what made the abnormal executions slow
 * @g: the guard
 * @p: the paths
 * @r: the causes
 * @l: the limit; set to not healthy if a cause stands out
 * @common: threshold of the time in the common part, 0..1
 */
void rank_causes(struct guard *g, struct paths *p, struct ranking *r,
		 struct limit *l, double common)
{
	u32 *verdict = xzalloc(p->nr * sizeof(*verdict)), i;
	struct table t = { 0 };
	struct verdict v;
	struct sums s;

	sums_init(&s, p);
	for (i = 0; i < p->nr; i++) {
		const struct exec *e = &p->exec[i];
		const struct pattern *near;

		verdict[i] = NONE;
		if (!e->abnormal || e->side == SIDE_BASELINE)
			continue;
		if (!(i % 4096))
			guard_alive(g, GUARD_NOWHERE);
		near = sum_up(p, e, &s);
		if (!near) {
			r->unmatched++;
			continue;
		}
		r->duration += e->duration;
		if (e->duration > near->duration)
			r->excess += e->duration - near->duration;
		if (!judge(p, e, &s, near, common, &v)) {
			r->throughout++;
			continue;
		}
		verdict[i] = add_execution(p, r, &t, i, &v);
	}
	find_heavy(p, r, verdict);
	count_baseline(p, r, &t, &s, common);
	sums_free(&s);
	free(t.key);
	hash_free(&t.hash);
	chance_find(p, r, l);
	order(r);
	if (r->named)
		l->healthy = false;
	if (r->nr && !r->named && !l->healthy) {
		r->undecided = r->cause->excess > MOST * r->excess;
		r->spread = !r->undecided;
	}
	renumber(p, r, verdict);
	make_tables(p, r, verdict);
	r->of = verdict;
}

/**
 * ranking_free - free the causes
 * @r: the ranking
 */
void ranking_free(struct ranking *r)
{
	u32 i;

	for (i = 0; i < r->nr; i++)
		free(r->cause[i].table);
	free(r->cause);
	free(r->of);
}
