// SPDX-License-Identifier: GPL-2.0
/*
 * Single requests: which of them was made for which other one, which ones are
 * wanted, and when they were.
 *
 * What a thread asks while it answers one request, and no other one, it asks for
 * that one (the paper's 4.2.2). Where it answers several at that time, nobody can
 * tell from its calls: that is ambiguous, and the request has no parent.
 */
#include <stdlib.h>

#include "ioreq.h"

/* Requests within requests: more of them is a circle, in a damaged trace */
#define MAX_DEPTH 100

/**
 * struct served - a request, sorted by the thread that answers it
 * @request:	it
 * @last:	the latest end of this thread's ones up to it
 */
struct served {
	struct request *request;
	u64 last;
};

static int by_server(const void *a, const void *b)
{
	const struct part *x =
		&((const struct served *)a)->request->part[ROLE_SERVER];
	const struct part *y =
		&((const struct served *)b)->request->part[ROLE_SERVER];
	int order = (x->host > y->host) - (x->host < y->host);

	order = order ? order : (x->pid > y->pid) - (x->pid < y->pid);
	order = order ? order : (x->begin > y->begin) - (x->begin < y->begin);
	return order ? order : (x->over > y->over) - (x->over < y->over);
}

/* Whether one thread answered it, so that its calls can be said to be for it */
static bool is_served(const struct request *r)
{
	const struct part *p = &r->part[ROLE_SERVER];

	return r->answered && p->seen && p->alone && p->over >= p->begin;
}

static bool same_thread(const struct part *a, const struct part *b)
{
	return a->host == b->host && a->pid == b->pid;
}

static struct served *sort_served(struct request *r, u64 nr, u64 *nr_served)
{
	struct served *s = allocate((nr + 1) * sizeof(*s));
	u64 i, n = 0;

	for (i = 0; i < nr; i++) {
		if (is_served(&r[i]))
			s[n++].request = &r[i];
	}
	qsort(s, n, sizeof(*s), by_server);
	for (i = 0; i < n; i++) {
		const struct part *p = &s[i].request->part[ROLE_SERVER];

		s[i].last = p->over;
		if (i && s[i - 1].last > p->over &&
		    same_thread(p, &s[i - 1].request->part[ROLE_SERVER]))
			s[i].last = s[i - 1].last;
	}
	*nr_served = n;
	return s;
}

/* How many requests of the thread began before a time, or of those before it */
static u64 count_before(const struct served *s, u64 nr, const struct part *p)
{
	struct request key = { .part[ROLE_SERVER] = *p };
	struct served last = { .request = &key };
	u64 low = 0, high = nr;

	key.part[ROLE_SERVER].over = UINT64_MAX;
	while (low < high) {
		u64 mid = (low + high) / 2;

		if (by_server(&s[mid], &last) > 0)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static void find_parent(struct request *r, const struct served *s, u64 nr)
{
	const struct part *p = &r->part[ROLE_CLIENT];
	u64 i;

	if (!p->seen || !p->alone)
		return;
	for (i = count_before(s, nr, p); i; i--) {
		struct request *of = s[i - 1].request;
		const struct part *served = &of->part[ROLE_SERVER];

		if (!same_thread(served, p) || s[i - 1].last <= p->begin)
			return;
		if (served->over <= p->begin || of == r)
			continue;
		if (r->parent) {
			r->parent = NULL;
			r->ambiguous = true;
			return;
		}
		r->parent = of;
	}
}

/* Only what ended meanwhile was waited for; and nothing is its own ancestor */
static void check_parent(struct request *r)
{
	const struct request *at = r;
	int depth = 0;

	if (r->parent &&
	    r->part[ROLE_CLIENT].over > r->parent->part[ROLE_SERVER].over)
		r->parent = NULL;
	while (at && depth++ < MAX_DEPTH)
		at = at->parent;
	if (at)
		r->parent = NULL;
}

/**
 * list_parents - find out which request was made for which other one
 * @r: requests
 * @nr: how many
 */
void list_parents(struct request *r, u64 nr)
{
	u64 served, i;
	struct served *s = sort_served(r, nr, &served);

	for (i = 0; i < nr; i++)
		find_parent(&r[i], s, served);
	for (i = 0; i < nr; i++)
		check_parent(&r[i]);
	free(s);
}

/* Who waited knows best how long it took */
static u64 length(const struct request *r)
{
	const struct part *p = &r->part[!r->part[ROLE_CLIENT].seen];

	return r->answered && p->over > p->begin ? p->over - p->begin : 0;
}

static int by_length(const void *a, const void *b)
{
	const struct request *x = *(struct request *const *)a,
			     *y = *(struct request *const *)b;
	u64 p = length(x), r = length(y);
	u64 m = x->part[x->named].begin, n = y->part[y->named].begin;

	if (p != r)
		return p > r ? -1 : 1;
	return (m > n) - (m < n);
}

static void mark_calls(const struct sums *s, const struct part *p)
{
	struct actor *a = p->seen ? log_actor(s->log, p->host, p->pid) : NULL;
	u64 i;

	if (!a)
		return;
	for (i = log_after(a, p->begin); i < a->nr; i++) {
		if (a->call[i].start > p->over)
			break;
		a->call[i].marked = true;
	}
}

static void mark_all(const struct sums *s)
{
	u32 actors, i;
	struct actor *const *a = log_actors(s->log, &actors);
	u64 j;

	for (i = 0; i < actors; i++) {
		for (j = 0; j < a[i]->nr; j++)
			a[i]->call[j].marked = true;
	}
}

static void mark_ancestors(struct request *r)
{
	for (; r; r = r->parent)
		r->marked = true;
}

/**
 * list_mark - mark the requests that took longest and were answered, what they were
 *	asked for, what was asked for them, and the calls that the threads made meanwhile
 * @s: after sums_finish()
 * @r: requests, after list_parents()
 * @nr: how many
 * @top: mark so many, besides what was asked for them; UINT64_MAX: all requests and
 *	calls
 */
void list_mark(const struct sums *s, struct request *r, u64 nr, u64 top)
{
	struct request **order = allocate((nr + 1) * sizeof(*order));
	const struct request *at;
	u64 i, n = 0;

	for (i = 0; i < nr; i++) {
		if (r[i].answered)
			order[n++] = &r[i];
	}
	qsort(order, n, sizeof(*order), by_length);
	for (i = 0; i < n && i < top; i++)
		mark_ancestors(order[i]);
	for (i = 0; i < n; i++) {
		for (at = order[i]; at && !at->marked; at = at->parent)
			;
		if (at)
			order[i]->marked = true;
	}
	for (i = 0; i < n && top != UINT64_MAX; i++) {
		if (!order[i]->marked)
			continue;
		mark_calls(s, &order[i]->part[ROLE_CLIENT]);
		mark_calls(s, &order[i]->part[ROLE_SERVER]);
	}
	if (top == UINT64_MAX)
		mark_all(s);
	free(order);
}

/**
 * list_time - a time on the axis of the result
 * @s: after sums_finish()
 * @host: whose time it is
 * @time: it, ns
 *
 * Return: ns after the host's first call.
 */
u64 list_time(const struct sums *s, u32 host, u64 time)
{
	u64 first = s->host[host].first;

	return time > first ? time - first : 0;
}

/**
 * list_clocks - what the axis of the result is
 * @s: after sums_finish()
 *
 * Return: a sentence.
 */
const char *list_clocks(const struct sums *s)
{
	return s->hosts > 1 ?
		       "not aligned: each host's times begin with its first call" :
		       "one host: times begin with its first call";
}
