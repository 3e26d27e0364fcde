// SPDX-License-Identifier: GPL-2.0
/*
 * Critical paths of requests.
 *
 * A thread does one thing after another, so its time for a request consists of its
 * calls, of the downstream requests that it waits for, and of the time outside of
 * calls. If several downstream requests overlap, the one that ended last is on the
 * critical path, and before its begin the one that had ended last by then. The client's
 * response time consists of its server's service time and of the time in the network or
 * in queues; so all of a response time is accounted for, once.
 */
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "order.h"

/**
 * struct request_tree - downstream requests by their parents
 * @child:	requests with a parent, sorted by parent and begin
 * @first:	index of the first child of each request, by its number; one entry more
 */
struct request_tree {
	struct request **child;
	u64 *first;
};

/**
 * struct walk - a walk over the critical path of a request
 * @m:		model
 * @paths:	paths
 * @visit:	called for each step
 * @arg:	passed to it
 */
struct walk {
	const struct model *m;
	const struct paths *paths;
	void (*visit)(const struct path_step *path_step, void *arg);
	void *arg;
};

static int by_parent(const void *a, const void *b)
{
	const struct request *x = *(struct request *const *)a,
			     *y = *(struct request *const *)b;
	int order = ORDER(x->parent, y->parent);

	order = order ?:
			ORDER(x->view[ROLE_CLIENT].begin,
			      y->view[ROLE_CLIENT].begin);
	return order ?: ORDER(x, y);
}

/**
 * request_tree_new - sort requests by their parents
 * @p:	paths; only their requests are used
 *
 * Return: to be freed with request_tree_free().
 */
struct request_tree *request_tree_new(const struct paths *p)
{
	struct request_tree *t = xzalloc(sizeof(*t));
	u64 i, n = 0;

	t->child = xzalloc((p->nr + 1) * sizeof(*t->child));
	t->first = xzalloc((p->nr + 2) * sizeof(*t->first));
	for (i = 0; i < p->nr; i++) {
		if (!p->list[i].parent)
			continue;
		t->child[n++] = &p->list[i];
		t->first[p->list[i].parent - p->list + 1]++;
	}
	for (i = 0; i < p->nr; i++)
		t->first[i + 1] += t->first[i];
	if (n)
		qsort(t->child, n, sizeof(*t->child), by_parent);
	return t;
}

/**
 * request_tree_free - free it
 * @t:	what request_tree_new() has returned
 */
void request_tree_free(struct request_tree *t)
{
	free(t->child);
	free(t->first);
	free(t);
}

/**
 * request_response_time - response time of a request
 * @r:	request
 *
 * Return: ns; the service time if the client was not recorded; if it is unanswered, the
 * time since all of it had been sent.
 */
u64 request_response_time(const struct request *r)
{
	const struct view *p =
		&r->view[r->view[ROLE_CLIENT].seen ? ROLE_CLIENT : ROLE_SERVER];

	if (!r->answered)
		return requests_unanswered_time(r);
	return p->over > p->begin ? p->over - p->begin : 0;
}

/* Begin of the wait for a downstream request */
static u64 child_begin(const struct request *r)
{
	const struct view *p = &r->view[ROLE_CLIENT];

	return r->answered ? p->begin : p->sent;
}

/* Its end; for an unanswered one, the end of its parent at the latest */
static u64 child_over(const struct request *r)
{
	const struct view *p = &r->view[ROLE_CLIENT];
	u64 over = r->parent ? r->parent->view[ROLE_SERVER].over : UINT64_MAX;

	if (r->answered)
		return p->over;
	if (over > p->until)
		over = p->until;
	return over > p->sent ? over : p->sent;
}

static u64 child_wait(const struct request *r)
{
	return r->answered ? request_response_time(r) :
			     child_over(r) - child_begin(r);
}

static void visit(const struct walk *w, const struct request *r, u32 depth,
		  u32 what, const struct call *call, s64 time)
{
	struct path_step path_step = {
		.request = r,
		.depth = depth,
		.what = what,
		.call = call,
		.time = time,
	};

	w->visit(&path_step, w->arg);
}

static void visit_sleep(const struct walk *w, const struct request *r,
			u32 depth, const struct off_cpu *off)
{
	struct path_step path_step = {
		.request = r,
		.depth = depth,
		.what = STEP_SLEEPING,
		.waker = off->waker,
		.time = off->runnable - off->begin,
	};

	if (path_step.time)
		w->visit(&path_step, w->arg);
	if (off->end > off->runnable)
		visit(w, r, depth, STEP_RUNNABLE, NULL,
		      off->end - off->runnable);
}

/*
 * Visit the waits of the server's thread outside of calls.
 *
 * Return: their sum, ns.
 */
static u64 visit_waits(const struct walk *w, const struct request *r, u32 depth,
		       bool known, u64 from, u64 to)
{
	const struct view *p = &r->view[ROLE_SERVER];
	struct off_cpu off;
	u64 sum = 0;

	while (known && from < to &&
	       off_cpu_next(w->m, p->host, p->pid, &from, to, &off)) {
		visit_sleep(w, r, depth, &off);
		sum += off.end - off.begin;
	}
	return sum;
}

static void walk(const struct walk *w, const struct request *r, u32 depth);

static int by_over(const void *a, const void *b)
{
	const struct request *x = *(struct request *const *)a,
			     *y = *(struct request *const *)b;

	return ORDER(child_over(x), child_over(y)) ?: ORDER(x, y);
}

/*
 * Find the downstream requests on the critical path: the one that ended last, and
 * before its begin the one that had ended last by then.
 *
 * Return: their number; they are the last ones of the array, in order.
 */
static u64 find_critical(struct request **critical, const struct walk *w,
			 const struct request *r, u64 room)
{
	const struct request_tree *t = w->paths->tree;
	u64 limit = UINT64_MAX, n = 0, i;

	memcpy(critical, &t->child[t->first[r - w->paths->list]],
	       room * sizeof(*critical));
	if (room)
		qsort(critical, room, sizeof(*critical), by_over);
	for (i = room; i; i--) {
		struct request *child = critical[i - 1];

		if (child_over(child) > limit)
			continue;
		limit = child_begin(child);
		n++;
		critical[room - n] = child;
	}
	return n;
}

/* Which request the server's thread works for; NULL: none, or that is unknown */
static const struct request *working_for(const struct walk *w,
					 const struct request *r, u64 time)
{
	const struct view *p = &r->view[ROLE_SERVER];

	return causality_request_at(w->m->causality, p->host, p->pid, time);
}

/* Whether the thread works for another request at a time */
static bool is_busy(const struct walk *w, const struct request *r, u64 time)
{
	const struct request *other = working_for(w, r, time);

	return other && other != r;
}

/* The step that a call is, for a request that the thread was handling */
static u32 what_of(const struct walk *w, const struct request *r,
		   const struct call *call)
{
	const struct view *p = &r->view[ROLE_SERVER];
	bool arriving = call->start + call->duration <= p->sent;

	if (call->socket && call->socket == p->id)
		return arriving ? STEP_ARRIVING : STEP_OWN_SOCKET;
	if ((call->socket &&
	     requests_serves(w->m->requests, p->host, call->socket)) ||
	    is_busy(w, r, call->start + call->duration))
		return WAIT_BUSY;
	return arriving && call->step == STEP_POLL ? STEP_ARRIVING : call->step;
}

/* Return: time that the client let pass while it sent a request, ns */
static u64 paused_time(const struct request *r)
{
	return r->view[ROLE_CLIENT].seen ? r->view[ROLE_CLIENT].paused : 0;
}

/*
 * Visit a call, or its first @time ns. While a request arrives, the server waits for the
 * client during the time that the client lets pass between its calls, and otherwise for
 * the network.
 */
static void visit_call(const struct walk *w, const struct request *r, u32 depth,
		       const struct call *call, u64 time, u64 *paused)
{
	u32 what = what_of(w, r, call);
	u64 sending = 0;

	if (what == STEP_ARRIVING)
		sending = *paused < time ? *paused : time;
	*paused -= sending;
	if (sending)
		visit(w, r, depth, WAIT_SENDING, NULL, sending);
	if (time > sending || !sending)
		visit(w, r, depth, what, what == WAIT_BUSY ? NULL : call,
		      time - sending);
}

/**
 * struct thread_walk - a walk over what the server's thread did during a request
 * @w:		walk
 * @r:		request
 * @depth:	number of its ancestors
 * @known:	it is known when the thread was on a CPU
 * @began:	end of what was visited last, ns of the host
 * @over:	end of the service, ns of the host
 * @rest:	time that was not visited yet, ns
 * @paused:	time that the client let pass while it sent, and that was not visited yet, ns
 * @ambiguous:	time outside of calls in which the thread worked for one of several requests,
 *		ns
 * @several:	number of these, at most
 */
struct thread_walk {
	const struct walk *w;
	const struct request *r;
	u32 depth;
	bool known;
	u64 began;
	u64 over;
	s64 rest;
	u64 paused;
	u64 ambiguous;
	u64 several;
};

/*
 * From the last call to @end, outside of calls. What is neither a wait, nor for other
 * requests, nor ambiguous stays in the rest: the thread computes for this request.
 */
static void walk_outside(struct thread_walk *t, u64 end)
{
	const struct view *p = &t->r->view[ROLE_SERVER];
	u64 began = t->began, time, several;
	const struct request *current;

	if (began >= end)
		return;
	time = visit_waits(t->w, t->r, t->depth, t->known, began, end);
	t->rest -= time;
	time = end - began - time;
	current = working_for(t->w, t->r, began);
	if (current == t->r)
		return;
	if (current) {
		if (time)
			visit(t->w, t->r, t->depth, WAIT_BUSY, NULL, time);
		t->rest -= time;
		return;
	}
	several = requests_handled(t->w->m->requests, p->host, p->pid, began);
	if (several < 2)
		return;
	t->rest -= time;
	t->ambiguous += time;
	if (several > t->several)
		t->several = several;
}

/*
 * When the service ended. The server's last call may return after the client has the whole
 * response; on two hosts, only the time for both ways shows that.
 */
static u64 service_over(const struct walk *w, const struct request *r)
{
	const struct view *c = &r->view[ROLE_CLIENT],
			  *s = &r->view[ROLE_SERVER];
	const struct request_tree *t = w->paths->tree;
	u64 number = r - w->paths->list, over = s->over, last = s->begin, time;
	u64 i;

	if (!c->seen)
		return over;
	for (i = t->first[number]; i < t->first[number + 1]; i++) {
		if (child_over(t->child[i]) > last)
			last = child_over(t->child[i]);
	}
	if (c->host == s->host && c->over < over)
		over = c->over;
	time = request_response_time(r);
	if (over > s->begin + time)
		over = s->begin + time;
	/* What it waited for is not cut */
	if (over < last)
		over = last;
	return over < s->over ? over : s->over;
}

/* The time before a downstream request, and the request */
static void walk_child(struct thread_walk *t, const struct request *child)
{
	walk_outside(t, child_begin(child));
	walk(t->w, child, t->depth + 1);
	t->rest -= child_wait(child);
	if (child_over(child) > t->began)
		t->began = child_over(child);
}

static void walk_call(struct thread_walk *t, const struct call *call)
{
	u64 time = t->over - call->start;

	if (time > call->duration)
		time = call->duration;
	walk_outside(t, call->start);
	t->rest -= time;
	t->began = call->start + time;
	visit_call(t->w, t->r, t->depth, call, time, &t->paused);
}

/* What is left at the end */
static void visit_rest(const struct thread_walk *t)
{
	struct path_step path_step = {
		.request = t->r,
		.depth = t->depth,
		.what = t->known ? STEP_AMBIGUOUS_COMPUTING :
				   STEP_AMBIGUOUS_NO_CALL,
		.several = t->several,
		.time = t->ambiguous,
	};

	if (t->ambiguous)
		t->w->visit(&path_step, t->w->arg);
	visit(t->w, t->r, t->depth, t->known ? STEP_COMPUTING : STEP_NO_CALL,
	      NULL, t->rest);
}

/* The calls of the server's thread, and the downstream requests that it waited for */
static void walk_thread(const struct walk *w, const struct request *r,
			u32 depth, u64 over, const struct thread *a)
{
	const struct view *p = &r->view[ROLE_SERVER];
	u64 number = r - w->paths->list, i, n, k = 0;
	u64 room = w->paths->tree->first[number + 1] -
		   w->paths->tree->first[number];
	struct request **child = xzalloc((room + 1) * sizeof(*child));
	struct request **critical;
	struct thread_walk t = {
		.w = w,
		.r = r,
		.depth = depth,
		.known = off_cpu_known(w->m, p->host, p->begin, p->over),
		.began = p->begin,
		.over = over,
		.rest = over - p->begin,
		.paused = paused_time(r),
	};

	n = find_critical(child, w, r, room);
	critical = child + (room - n);
	for (i = log_after(a, p->begin); i < a->nr; i++) {
		const struct call *call = &a->call[i];

		if (call->start + call->duration > p->over ||
		    call->start > over)
			break;
		for (; k < n && child_begin(critical[k]) <= call->start; k++)
			walk_child(&t, critical[k]);
		/* A damaged trace may have calls within calls */
		if (!call->overlaps && call->start >= t.began)
			walk_call(&t, call);
	}
	for (; k < n; k++)
		walk_child(&t, critical[k]);
	walk_outside(&t, over);
	visit_rest(&t);
	free(child);
}

/* Return: what is left of @time */
static s64 visit_part(const struct walk *w, const struct request *r, u32 depth,
		      u32 what, u64 part, s64 time)
{
	if (time <= 0 || !part)
		return time;
	if (part > (u64)time)
		part = time;
	visit(w, r, depth, what, NULL, part);
	return time - part;
}

/*
 * Visit the time before the server's first step, which is not the server's. The client may
 * have paused before the server received anything, or while the server was not recorded;
 * or the server received late.
 */
static void visit_before(const struct walk *w, const struct request *r,
			 u32 depth, u32 what, s64 time, u64 arriving)
{
	u64 paused = paused_time(r);
	u64 sending = paused > arriving ? paused - arriving : 0;

	time = visit_part(w, r, depth, WAIT_SENDING, sending, time);
	time = visit_part(w, r, depth, WAIT_SERVER_LATE, r->late[ROLE_SERVER],
			  time);
	visit(w, r, depth, what, NULL, time);
}

/* What comes after the server's last step */
static void visit_after(const struct walk *w, const struct request *r,
			u32 depth, s64 time)
{
	time = visit_part(w, r, depth, WAIT_CLIENT_LATE, r->late[ROLE_CLIENT],
			  time);
	if (time > 0)
		visit(w, r, depth, WAIT_NETWORK, NULL, time);
}

/*
 * Return: the part of @time that comes after the server's last step. If the clocks cannot
 * show it, this is only the client's delay in receiving; the network's time is then one
 * step before the server's.
 */
static s64 time_after(const struct request *r, s64 time)
{
	u64 after = r->to_client ? r->to_client : r->late[ROLE_CLIENT];

	if (time <= 0)
		return 0;
	return after < (u64)time ? after : (u64)time;
}

/* Several threads of the server handled it, once it had arrived */
static void visit_threads(const struct walk *w, const struct request *r,
			  u32 depth, u64 over)
{
	const struct view *p = &r->view[ROLE_SERVER];
	u64 sending = paused_time(r);

	if (sending > p->sent - p->begin)
		sending = p->sent - p->begin;
	if (sending > over - p->begin)
		sending = over - p->begin;
	if (sending)
		visit(w, r, depth, WAIT_SENDING, NULL, sending);
	visit(w, r, depth, WAIT_THREADS, NULL, over - p->begin - sending);
}

/* A request that has a response */
static void walk_answered(const struct walk *w, const struct request *r,
			  u32 depth)
{
	const struct view *p = &r->view[ROLE_SERVER];
	const struct thread *a;
	bool known = p->seen && p->over >= p->begin;
	s64 time = request_response_time(r), after = 0;
	u64 over = known ? service_over(w, r) : 0;

	if (!known) {
		visit_before(w, r, depth, WAIT_NOT_RECORDED, time, 0);
	} else if (r->view[ROLE_CLIENT].seen) {
		time -= over - p->begin;
		after = time_after(r, time);
		visit_before(w, r, depth, WAIT_NETWORK, time - after,
			     p->sent - p->begin);
	}
	a = known && p->alone ? log_thread(w->m->log, p->host, p->pid) : NULL;
	if (a)
		walk_thread(w, r, depth, over, a);
	else if (known)
		visit_threads(w, r, depth, over);
	visit_after(w, r, depth, after);
}

static void walk(const struct walk *w, const struct request *r, u32 depth)
{
	if (r->answered)
		walk_answered(w, r, depth);
	else
		visit(w, r, depth, WAIT_UNANSWERED, NULL,
		      depth ? child_wait(r) : request_response_time(r));
}

/**
 * request_paths_walk - visit the steps of a request's critical path
 * @m:		model, after model_link()
 * @p:		paths
 * @r:		one of their requests
 * @visit:	called for each step, in order of time within a thread; the times add up
 *		to request_response_time()
 * @arg:	passed to it
 */
void request_paths_walk(
	const struct model *m, const struct paths *p, const struct request *r,
	void (*visit)(const struct path_step *path_step, void *arg), void *arg)
{
	struct walk w = {
		.m = m,
		.paths = p,
		.visit = visit,
		.arg = arg,
	};

	walk(&w, r, 0);
}

/**
 * several_text - describe a step of a thread that handles several requests
 * @buf:	set to the text
 * @size:	size of @buf
 * @several:	number of these, at most
 */
void several_text(char *buf, size_t size, u64 several)
{
	snprintf(buf, size, "for one of at most %llu requests", several);
}

/* The peer's address; with its port only if the peer is the server */
static void other_end(char *buf, size_t size, const char *name, bool is_client)
{
	const char *arrow = strstr(name, "->"), *other;
	size_t len;

	if (!arrow) {
		snprintf(buf, size, "%s", name);
		return;
	}
	other = arrow + 2;
	len = strlen(other);
	if (!is_client) {
		while (len && other[len - 1] != ':')
			len--;
		len -= len > 0;
	}
	snprintf(buf, size, "%.*s", (int)len, other);
}

/**
 * request_paths_object - object of a step
 * @buf:	set to the name of the file, the address of a socket's peer, why a
 *		connection failed, or ""
 * @size:	size of @buf
 * @m:		model, after model_link()
 * @path_step:	step
 */
void request_paths_object(char *buf, size_t size, const struct model *m,
			  const struct path_step *path_step)
{
	const struct object *o;

	*buf = '\0';
	if (path_step->what == STEP_SLEEPING && path_step->waker)
		snprintf(buf, size, "woken by %s", path_step->waker);
	if (path_step->several)
		several_text(buf, size, path_step->several);
	if (path_step->what == WAIT_UNANSWERED && path_step->request->failure)
		snprintf(buf, size, "%s", path_step->request->failure);
	if (!path_step->call || path_step->what == STEP_OWN_SOCKET ||
	    path_step->what == STEP_POLL)
		return;
	o = log_object(m->log, path_step->call);
	if (path_step->what == STEP_SOCKET)
		other_end(buf, size, o->name,
			  requests_is_client(
				  m->requests,
				  path_step->request->view[ROLE_SERVER].host,
				  path_step->call->socket, o->name));
	else if (path_step->what == STEP_FILE || path_step->what == STEP_SYNC)
		snprintf(buf, size, "%s", o->name);
}
