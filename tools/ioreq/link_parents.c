// SPDX-License-Identifier: GPL-2.0
/*
 * Parent requests: which request each single request was made for.
 *
 * A request that a thread sends while it handles exactly one request was made for that
 * one (the paper's 4.2.2). If the thread handles several, what it has read and what it
 * does then may show it (link_causality.c); otherwise the request is ambiguous and has
 * no parent. It is ambiguous, too, if the call that received another request may have
 * been lost, and if its thread handles no requests while other threads of the process
 * do.
 */
#include <stdlib.h>

#include "link.h"
#include "order.h"

/* Depth of downstream requests: a larger one is a circle, in a damaged trace */
#define MAX_DEPTH 100

/**
 * struct handled_request - a request at the thread that handles it
 * @request:	the request
 * @host:	host of the thread
 * @pid:	the thread
 * @begin:	when the request had arrived, ns of the host
 * @over:	when it was answered; an unanswered one counts as in progress for as
 *		long as the longest answered one took
 * @last:	latest @over of this thread's requests up to this one
 * @window:	0 if the thread handles one request after the other; else the duration
 *		of its longest request, ns: an older request can be in progress no
 *		longer
 * @shared:	other threads took part in it, or the client saw it differently
 */
struct handled_request {
	struct request *request;
	u32 host;
	s32 pid;
	u64 begin;
	u64 over;
	u64 last;
	u64 window;
	bool shared;
};

/**
 * struct served_list - all requests that are served, sorted by thread and begin
 * @served:	entries
 * @nr:		number of entries
 * @room:	allocated entries of @served
 */
struct served_list {
	struct handled_request *served;
	u64 nr;
	u64 room;
};

static int by_server(const void *a, const void *b)
{
	const struct handled_request *x = a, *y = b;
	int order = ORDER(x->host, y->host);

	order = order ?: ORDER(x->pid, y->pid);
	order = order ?: ORDER(x->begin, y->begin);
	return order ?: ORDER(x->over, y->over);
}

static bool same_thread(const struct handled_request *a, u32 host, s32 pid)
{
	return a->host == host && a->pid == pid;
}

static void add_served(struct served_list *l, struct request *r, s32 pid,
		       bool shared)
{
	const struct view *p = &r->view[ROLE_SERVER];

	GROW(l->served, l->nr, l->room);
	l->served[l->nr++] = (struct handled_request){
		.request = r,
		.host = p->host,
		.pid = pid,
		.begin = p->begin,
		.over = r->answered ? p->over : p->begin,
		.shared = shared || !r->answered,
	};
}

static void add_requests(struct served_list *l, struct request *r, u64 nr,
			 bool shared)
{
	u64 i;

	for (i = 0; i < nr; i++) {
		const struct view *p = &r[i].view[ROLE_SERVER];

		if (!p->seen || (r[i].answered && p->over < p->begin))
			continue;
		add_served(l, &r[i], p->pid, shared || !p->alone);
		if (p->last_pid != p->pid)
			add_served(l, &r[i], p->last_pid, true);
	}
}

/* For the requests of one thread */
static void set_window(struct handled_request *s, u64 nr)
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
	struct handled_request *s = l->served;
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

/* Number of entries of this thread that began before a time, with
 * those of threads before it
 */
static u64 count_before(const struct served_list *l, const struct view *p)
{
	struct handled_request key = {
		.host = p->host,
		.pid = p->pid,
		.begin = p->begin,
		.over = UINT64_MAX,
	};

	return FIRST(i, 0, l->nr, by_server(&l->served[i], &key) > 0);
}

/* The only request that the thread was handling */
static void find_served(struct request *r, const struct served_list *l)
{
	const struct view *p = &r->view[ROLE_CLIENT];
	u64 i;

	for (i = count_before(l, p); i && !r->ambiguous; i--) {
		const struct handled_request *s = &l->served[i - 1];

		if (!same_thread(s, p->host, p->pid) || s->last <= p->begin)
			break;
		if (s->over <= p->begin || s->request == r)
			continue;
		r->ambiguous = r->parent || s->shared || !p->alone;
		r->parent = s->request;
	}
}

/* Whether the thread has handled any request */
static bool serves(const struct served_list *l, u32 host, s32 pid)
{
	struct view p = { .host = host, .pid = pid, .begin = UINT64_MAX };
	u64 i = count_before(l, &p);

	return i && same_thread(&l->served[i - 1], host, pid);
}

/* A thread that handles no request may work for a thread of its process that does */
static bool may_help(const struct model *m, const struct view *p,
		     const struct served_list *l,
		     const struct served_list *processes)
{
	const struct thread *a = log_thread(m->log, p->host, p->pid);
	struct view key = { .begin = p->begin };
	u64 i;

	if (!a || serves(l, p->host, p->pid))
		return false;
	key.host = p->host;
	key.pid = (s32)a->process;
	i = count_before(processes, &key);
	return i && same_thread(&processes->served[i - 1], key.host, key.pid) &&
	       processes->served[i - 1].last > p->begin;
}

/* From when on a lost call matters */
static u64 since_when(const struct request *parent, const struct served_list *l)
{
	u64 begin = parent->view[ROLE_SERVER].begin;
	u64 window = l->served[count_before(l, &parent->view[ROLE_SERVER]) - 1]
			     .window;

	return begin > window ? begin - window : 0;
}

/*
 * The call that received another request may have been lost, if the thread handles
 * requests, or if work is handed over to or by it at any earlier time.
 */
static bool may_answer(const struct model *m, const struct view *p,
		       const struct served_list *l)
{
	u64 i = count_before(l, p), since = 0;

	if (i && same_thread(&l->served[i - 1], p->host, p->pid))
		since = l->served[i - 1].last;
	return (serves(l, p->host, p->pid) ||
		causality_has_worked(m->causality, p->host, p->pid)) &&
	       host_is_lossy(&m->host[p->host], since, p->begin);
}

static void find_parent(const struct model *model, struct request *r,
			u64 number, const struct served_list *l,
			const struct served_list *processes)
{
	const struct view *p = &r->view[ROLE_CLIENT];
	struct request *owner;
	bool known;

	if (!p->seen)
		return;
	find_served(r, l);
	owner = causality_parent(model->causality, number, &known);
	if (owner == r)
		owner = NULL;
	if (r->ambiguous || !r->parent) {
		r->ambiguous |= known || may_help(model, p, l, processes);
		/* A request that has its response before the other one has
		 * arrived was not made for it
		 */
		if (owner && p->over <= owner->view[ROLE_SERVER].over) {
			r->parent = owner;
			r->ambiguous = false;
		}
	} else if (owner && owner != r->parent) {
		r->ambiguous = true;
	}
	if (r->parent && !r->ambiguous &&
	    host_is_lossy(&model->host[p->host], since_when(r->parent, l),
			  p->begin))
		r->ambiguous = true;
	if (r->ambiguous)
		r->parent = NULL;
	else if (!r->parent)
		r->ambiguous = may_answer(model, p, l);
	r->queued = r->ambiguous && causality_queued(model->causality, number);
}

/* A parent waits for its downstream requests, and is not its own ancestor */
static void check_parent(const struct model *m, struct request *r)
{
	const struct view *p = &r->view[ROLE_CLIENT];
	const struct request *at = r;
	int depth = 0;

	if (r->parent && p->over > r->parent->view[ROLE_SERVER].over) {
		/* If calls were lost meanwhile, its end may
		 * be that of another request
		 */
		r->ambiguous =
			host_is_lossy(&m->host[p->host], p->begin, p->over);
		r->outlives = r->ambiguous ? NULL : r->parent;
		r->parent = NULL;
	}
	while (at && depth++ < MAX_DEPTH)
		at = at->parent ? at->parent : at->outlives;
	if (at)
		r->parent = r->outlives = NULL;
}

/* The same list by process */
static struct served_list copy_processes(const struct model *m,
					 const struct served_list *l)
{
	struct served_list processes = { 0 };
	u64 i;

	for (i = 0; i < l->nr; i++) {
		const struct thread *a =
			log_thread(m->log, l->served[i].host, l->served[i].pid);

		if (!a)
			continue;
		add_served(&processes, l->served[i].request, (s32)a->process,
			   l->served[i].shared);
	}
	sort_served(&processes);
	return processes;
}

/**
 * link_parents - find the parent of each request
 * @m:	model with causality and a log, after requests_finish()
 */
void link_parents(const struct model *m)
{
	struct served_list l = { 0 }, processes;
	struct request *unclear, *r;
	u64 n, nr, i;

	r = requests_list(m->requests, &nr);
	unclear = requests_unclear(m->requests, &n);
	add_requests(&l, r, nr, false);
	add_requests(&l, unclear, n, true);
	sort_served(&l);
	processes = copy_processes(m, &l);
	for (i = 0; i < nr; i++)
		find_parent(m, &r[i], i, &l, &processes);
	for (i = 0; i < nr; i++)
		check_parent(m, &r[i]);
	free(l.served);
	free(processes.served);
}
