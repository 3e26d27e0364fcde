// SPDX-License-Identifier: GPL-2.0
/*
 * Single requests: which of them was made for which other one, which ones are
 * wanted, and when they were.
 *
 * What a thread asks while it answers one request, and no other one, it asks for
 * that one (the paper's 4.2.2). Where it answers several at that time, what it has read
 * and what it does then may tell (loops.c); or else that is ambiguous, and the request
 * has no parent. So it is where the call that got another one may be among those that
 * were lost, and where a thread asks that answers nobody, but others of its process do.
 */
#include <stdlib.h>

#include "ioreq.h"

/* Requests within requests: more of them is a circle, in a damaged trace */
#define MAX_DEPTH 100

/**
 * struct served - a request, sorted by the thread that answers it
 * @request:	it
 * @host:	where the thread is
 * @pid:	its number
 * @begin:	when the request had come, ns of the host
 * @over:	when it was answered; if it was not, it is taken to be at work for as long
 *		as the longest one that was
 * @last:	the latest end of this thread's ones up to it
 * @window:	0 if the thread answers one after the other; or else what the longest of
 *		its requests takes, ns: so long ago one may have come that is not over
 * @unsure:	other threads took part in it, or the client saw something else
 */
struct served {
	struct request *request;
	u32 host;
	s32 pid;
	u64 begin;
	u64 over;
	u64 last;
	u64 window;
	bool unsure;
};

/**
 * struct served_list - all of them
 * @served:	they
 * @nr:		how many
 * @room:	for so many
 */
struct served_list {
	struct served *served;
	u64 nr;
	u64 room;
};

static int by_server(const void *a, const void *b)
{
	const struct served *x = a, *y = b;
	int order = (x->host > y->host) - (x->host < y->host);

	order = order ? order : (x->pid > y->pid) - (x->pid < y->pid);
	order = order ? order : (x->begin > y->begin) - (x->begin < y->begin);
	return order ? order : (x->over > y->over) - (x->over < y->over);
}

static bool same_thread(const struct served *a, u32 host, s32 pid)
{
	return a->host == host && a->pid == pid;
}

static void add_served(struct served_list *l, struct request *r, s32 pid,
		       bool unsure)
{
	const struct part *p = &r->part[ROLE_SERVER];

	l->served = grow(l->served, l->nr, &l->room, sizeof(*l->served));
	l->served[l->nr++] = (struct served){
		.request = r,
		.host = p->host,
		.pid = pid,
		.begin = p->begin,
		.over = r->answered ? p->over : p->begin,
		.unsure = unsure || !r->answered,
	};
}

static void add_requests(struct served_list *l, struct request *r, u64 nr,
			 bool unsure)
{
	u64 i;

	for (i = 0; i < nr; i++) {
		const struct part *p = &r[i].part[ROLE_SERVER];

		if (!p->seen || (r[i].answered && p->over < p->begin))
			continue;
		add_served(l, &r[i], p->pid, unsure || !p->alone);
		if (p->last_pid != p->pid)
			add_served(l, &r[i], p->last_pid, true);
	}
}

/* Of the requests of one thread */
static void set_window(struct served *s, u64 nr)
{
	u64 i, longest = 0;
	bool several = false;

	for (i = 0; i < nr; i++) {
		if (s[i].over - s[i].begin > longest)
			longest = s[i].over - s[i].begin;
	}
	for (i = 0; i < nr; i++) {
		if (!s[i].request->answered)
			s[i].over = s[i].begin + longest;
		several |= i && s[i - 1].last > s[i].begin;
		s[i].last = s[i].over;
		if (i && s[i - 1].last > s[i].last)
			s[i].last = s[i - 1].last;
	}
	for (i = 0; i < nr && several; i++)
		s[i].window = longest;
}

static void sort_served(struct served_list *l)
{
	struct served *s = l->served;
	u64 i, first = 0;

	if (l->nr)
		qsort(s, l->nr, sizeof(*s), by_server);
	for (i = 1; i <= l->nr; i++) {
		if (i < l->nr &&
		    same_thread(&s[i], s[first].host, s[first].pid))
			continue;
		set_window(&s[first], i - first);
		first = i;
	}
}

/* Whether calls may be lost that ended in a time; gaps are in order and apart */
static bool is_lossy(const struct host *h, u64 begin, u64 end)
{
	u64 low = 0, high = h->nr_gaps;

	while (low < high) {
		u64 mid = (low + high) / 2;

		if (h->gap[mid].end > begin)
			high = mid;
		else
			low = mid + 1;
	}
	return low < h->nr_gaps && h->gap[low].begin < end;
}

/* How many requests of the thread began before a time, or of those before it */
static u64 count_before(const struct served_list *l, const struct part *p)
{
	struct served key = {
		.host = p->host,
		.pid = p->pid,
		.begin = p->begin,
		.over = UINT64_MAX,
	};
	u64 low = 0, high = l->nr;

	while (low < high) {
		u64 mid = (low + high) / 2;

		if (by_server(&l->served[mid], &key) > 0)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* The only one that the thread answers */
static void find_served(struct request *r, const struct served_list *l)
{
	const struct part *p = &r->part[ROLE_CLIENT];
	u64 i;

	for (i = count_before(l, p); i && !r->ambiguous; i--) {
		const struct served *s = &l->served[i - 1];

		if (!same_thread(s, p->host, p->pid) || s->last <= p->begin)
			break;
		if (s->over <= p->begin || s->request == r)
			continue;
		r->ambiguous = r->parent || s->unsure || !p->alone;
		r->parent = s->request;
	}
}

/* Whether the thread has answered any request */
static bool serves(const struct served_list *l, u32 host, s32 pid)
{
	struct part p = { .host = host, .pid = pid, .begin = UINT64_MAX };
	u64 i = count_before(l, &p);

	return i && same_thread(&l->served[i - 1], host, pid);
}

/* Threads of a process that answer nobody may be asked to help by those that do */
static bool may_help(const struct sums *s, const struct part *p,
		     const struct served_list *l,
		     const struct served_list *processes)
{
	const struct actor *a = log_actor(s->log, p->host, p->pid);
	struct part key = { .begin = p->begin };
	u64 i;

	if (!a || serves(l, p->host, p->pid))
		return false;
	key.host = p->host;
	key.pid = (s32)a->process;
	i = count_before(processes, &key);
	return i && same_thread(&processes->served[i - 1], key.host, key.pid) &&
	       processes->served[i - 1].last > p->begin;
}

/* Since when a call that was lost may matter */
static u64 since_when(const struct request *parent, const struct served_list *l)
{
	u64 begin = parent->part[ROLE_SERVER].begin;
	u64 window = l->served[count_before(l, &parent->part[ROLE_SERVER]) - 1]
			     .window;

	return begin > window ? begin - window : 0;
}

/*
 * A thread that answers others may have got one since, and that was lost. So may one that
 * is handed work, or who has handed it over, at any time before.
 */
static bool may_answer(const struct sums *s, const struct part *p,
		       const struct served_list *l)
{
	u64 i = count_before(l, p), since = 0;

	if (i && same_thread(&l->served[i - 1], p->host, p->pid))
		since = l->served[i - 1].last;
	return (serves(l, p->host, p->pid) ||
		loops_helps(s->loops, p->host, p->pid)) &&
	       is_lossy(&s->host[p->host], since, p->begin);
}

static void find_parent(const struct sums *sums, struct request *r, u64 number,
			const struct served_list *l,
			const struct served_list *processes)
{
	const struct part *p = &r->part[ROLE_CLIENT];
	struct request *owner;
	bool told;

	if (!p->seen)
		return;
	find_served(r, l);
	owner = loops_owner(sums->loops, number, &told);
	if (owner == r)
		owner = NULL;
	if (r->ambiguous || !r->parent) {
		r->ambiguous |= told || may_help(sums, p, l, processes);
		/* Who answers before it has what it asked for has not asked */
		if (owner && p->over <= owner->part[ROLE_SERVER].over) {
			r->parent = owner;
			r->ambiguous = false;
		}
	} else if (owner && owner != r->parent) {
		r->ambiguous = true;
	}
	if (r->parent && !r->ambiguous &&
	    is_lossy(&sums->host[p->host], since_when(r->parent, l), p->begin))
		r->ambiguous = true;
	if (r->ambiguous)
		r->parent = NULL;
	else if (!r->parent)
		r->ambiguous = may_answer(sums, p, l);
}

/* Only what ended meanwhile was waited for; and nothing is its own ancestor */
static void check_parent(const struct sums *s, struct request *r)
{
	const struct part *p = &r->part[ROLE_CLIENT];
	const struct request *at = r;
	int depth = 0;

	if (r->parent && p->over > r->parent->part[ROLE_SERVER].over) {
		/* Its end may be that of another one, if what is between is lost */
		r->ambiguous = is_lossy(&s->host[p->host], p->begin, p->over);
		r->outlives = r->ambiguous ? NULL : r->parent;
		r->parent = NULL;
	}
	while (at && depth++ < MAX_DEPTH)
		at = at->parent ? at->parent : at->outlives;
	if (at)
		r->parent = r->outlives = NULL;
}

/* The same by processes */
static struct served_list copy_processes(const struct sums *s,
					 const struct served_list *l)
{
	struct served_list processes = { 0 };
	u64 i;

	for (i = 0; i < l->nr; i++) {
		const struct actor *a =
			log_actor(s->log, l->served[i].host, l->served[i].pid);

		if (!a)
			continue;
		add_served(&processes, l->served[i].request, (s32)a->process,
			   l->served[i].unsure);
	}
	sort_served(&processes);
	return processes;
}

/**
 * list_parents - find out which request was made for which other one
 * @s: sums with loops and a log, after requests_finish()
 */
void list_parents(const struct sums *s)
{
	struct served_list l = { 0 }, processes;
	struct request *unclear, *r;
	u64 n, nr, i;

	r = requests_list(s->requests, &nr);
	unclear = requests_unclear(s->requests, &n);
	add_requests(&l, r, nr, false);
	add_requests(&l, unclear, n, true);
	sort_served(&l);
	processes = copy_processes(s, &l);
	for (i = 0; i < nr; i++)
		find_parent(s, &r[i], i, &l, &processes);
	for (i = 0; i < nr; i++)
		check_parent(s, &r[i]);
	free(l.served);
	free(processes.served);
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
 * list_aligned - whether a host's times stand on the common axis
 * @s: after sums_finish()
 * @host: it
 *
 * Return: whether its clock is compared with the first host's.
 */
bool list_aligned(const struct sums *s, u32 host)
{
	s64 common;
	u64 bound;

	return clocks_to_reference(s->clocks, host, s->host[host].first,
				   &common, &bound);
}

/**
 * list_origin - where the common axis begins
 * @s: sums, with clocks
 *
 * Return: when the first call of all hosts began whose clocks are aligned, ns of the
 * first host.
 */
s64 list_origin(const struct sums *s)
{
	s64 origin = INT64_MAX, common;
	u64 bound;
	u32 i;

	for (i = 0; i < s->hosts; i++) {
		if (s->host[i].calls &&
		    clocks_to_reference(s->clocks, i, s->host[i].first, &common,
					&bound) &&
		    common < origin)
			origin = common;
	}
	return origin == INT64_MAX ? 0 : origin;
}

/**
 * list_time - a time on the axis of the result
 * @s: after sums_finish()
 * @host: whose time it is
 * @time: it, ns
 *
 * Return: ns after the first call; of all hosts, or of this one if its clock is not
 * aligned.
 */
u64 list_time(const struct sums *s, u32 host, u64 time)
{
	u64 first = s->host[host].first, bound;
	s64 common;

	if (clocks_to_reference(s->clocks, host, time, &common, &bound))
		return common > s->origin ? common - s->origin : 0;
	return time > first ? time - first : 0;
}

/**
 * list_span - how long something took on the axis of the result
 * @s: after sums_finish()
 * @host: whose times they are
 * @begin: when it began, ns
 * @end: when it ended
 *
 * Return: ns.
 */
u64 list_span(const struct sums *s, u32 host, u64 begin, u64 end)
{
	u64 from = list_time(s, host, begin), to = list_time(s, host, end);

	return to > from ? to - from : 0;
}

/**
 * list_clocks - what the axis of the result is
 * @s: after sums_finish()
 *
 * Return: a sentence.
 */
const char *list_clocks(const struct sums *s)
{
	u32 i;

	if (s->hosts == 1)
		return "one host: times begin with its first call";
	for (i = 0; i < s->hosts; i++) {
		if (!list_aligned(s, i))
			return "not aligned: times of some hosts begin with their own first calls";
	}
	return "aligned: times begin with the first call of all hosts";
}
