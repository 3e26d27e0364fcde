// SPDX-License-Identifier: GPL-2.0
/*
 * Paths of requests, from a client to a server and on to others, and their critical
 * paths.
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

/**
 * struct site - call site of a cause
 * @stack:	one of the stacks of these calls
 * @frame:	index of the call site in @stack
 * @time:	duration of the calls from there, ns
 * @next:	another call site of the cause
 */
struct site {
	const struct stack *stack;
	u32 frame;
	s64 time;
	struct site *next;
};

/**
 * struct cause_entry - entry in the table of causes
 * @cause:	cause
 * @site:	its call sites, last used one first
 * @last:	request of a client that was counted last
 */
struct cause_entry {
	struct cause cause;
	struct site *site;
	const struct request *last;
};

/**
 * struct tree - downstream requests by their parents
 * @child:	requests with a parent, sorted by parent and begin
 * @first:	index of the first child of each request, by its number; one entry more
 */
struct tree {
	struct request **child;
	u64 *first;
};

/**
 * struct path_builder - state while paths are summed
 * @s:		model
 * @p:		paths
 * @of:		path of each request, by its number
 * @paths:	struct path, by parent, client and server
 * @causes:	struct cause_entry, by server, kind of step and object
 * @root:	current request of a client
 */
struct path_builder {
	const struct model *s;
	struct paths *p;
	struct path **of;
	struct hash paths;
	struct hash causes;
	const struct request *root;
};

/**
 * struct paths_kept - what request_paths_new() allocates
 * @paths:		public part
 * @tree:		downstream requests
 * @path_builder:	tables
 */
struct paths_kept {
	struct paths paths;
	struct tree tree;
	struct path_builder path_builder;
};

/**
 * struct walk - a walk over the critical path of a request
 * @s:		model
 * @k:		paths
 * @visit:	called for each step
 * @arg:	passed to it
 */
struct walk {
	const struct model *s;
	const struct paths_kept *k;
	void (*visit)(const struct path_step *path_step, void *arg);
	void *arg;
};

/* ------------------------------------------------------------------------- */
/* Requests and their downstream requests */

static int by_parent(const void *a, const void *b)
{
	const struct request *x = *(struct request *const *)a,
			     *y = *(struct request *const *)b;
	u64 p = x->view[ROLE_CLIENT].begin, r = y->view[ROLE_CLIENT].begin;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (p != r)
		return p < r ? -1 : 1;
	return (x > y) - (x < y);
}

static void make_tree(struct tree *t, const struct paths *p)
{
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
	       off_cpu_next(w->s, p->host, p->pid, &from, to, &off)) {
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
	u64 p = child_over(x), r = child_over(y);

	if (p != r)
		return p < r ? -1 : 1;
	return (x > y) - (x < y);
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
	const struct tree *t = &w->k->tree;
	u64 limit = UINT64_MAX, n = 0, i;

	memcpy(critical, &t->child[t->first[r - w->k->paths.list]],
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

/* The step that a call is, for a request that the thread was handling */
static u32 what_of(const struct walk *w, const struct request *r,
		   const struct call *c)
{
	const struct view *p = &r->view[ROLE_SERVER];
	bool arriving = c->start + c->duration <= p->sent;
	const struct request *other;

	if (c->socket && c->socket == p->id)
		return arriving ? STEP_ARRIVING : STEP_OWN_SOCKET;
	other = causality_request_at(w->s->causality, p->host, p->pid,
				     c->start + c->duration);
	if (other && other != r)
		return WAIT_BUSY;
	return arriving && c->step == STEP_POLL ? STEP_ARRIVING : c->step;
}

/* Return: time that the client let pass while it sent a request, ns */
static u64 paused_time(const struct request *r)
{
	return r->view[ROLE_CLIENT].seen ? r->view[ROLE_CLIENT].paused : 0;
}

/*
 * Visit a call. While a request arrives, the server waits for the client as long as that
 * lets time pass, and else for the network.
 */
static void visit_call(const struct walk *w, const struct request *r, u32 depth,
		       const struct call *c, u64 *paused)
{
	u32 what = what_of(w, r, c);
	u64 sending = 0;

	if (what == STEP_ARRIVING)
		sending = *paused < c->duration ? *paused : c->duration;
	*paused -= sending;
	if (sending)
		visit(w, r, depth, WAIT_SENDING, NULL, sending);
	if (c->duration > sending || !sending)
		visit(w, r, depth, what, what == WAIT_BUSY ? NULL : c,
		      c->duration - sending);
}

/*
 * A downstream request, and the waits before it since *@began, which becomes its end.
 *
 * Return: time of both, ns.
 */
static u64 walk_child(const struct walk *w, const struct request *r,
		      const struct request *child, u32 depth, bool known,
		      u64 *began)
{
	u64 sum = visit_waits(w, r, depth, known, *began, child_begin(child));

	walk(w, child, depth + 1);
	if (child_over(child) > *began)
		*began = child_over(child);
	return sum + child_wait(child);
}

/* The calls of the server's thread, and the downstream requests that it waited for */
static void walk_thread(const struct walk *w, const struct request *r,
			u32 depth, const struct thread *a)
{
	const struct view *p = &r->view[ROLE_SERVER];
	u64 number = r - w->k->paths.list, began = p->begin, i, n, k = 0;
	u64 room = w->k->tree.first[number + 1] - w->k->tree.first[number];
	struct request **child = xzalloc((room + 1) * sizeof(*child));
	struct request **critical;
	bool known = off_cpu_known(w->s, p->host, p->begin, p->over);
	s64 rest = p->over - p->begin;
	u64 paused = paused_time(r);

	n = find_critical(child, w, r, room);
	critical = child + (room - n);
	for (i = log_after(a, p->begin); i < a->nr; i++) {
		const struct call *c = &a->call[i];

		if (c->start + c->duration > p->over)
			break;
		for (; k < n && child_begin(critical[k]) <= c->start; k++)
			rest -= walk_child(w, r, critical[k], depth, known,
					   &began);
		/* A damaged trace may have calls within calls */
		if (c->overlaps || c->start < began)
			continue;
		rest -= visit_waits(w, r, depth, known, began, c->start);
		rest -= c->duration;
		began = c->start + c->duration;
		visit_call(w, r, depth, c, &paused);
	}
	for (; k < n; k++)
		rest -= walk_child(w, r, critical[k], depth, known, &began);
	rest -= visit_waits(w, r, depth, known, began, p->over);
	visit(w, r, depth, known ? STEP_COMPUTING : STEP_NO_CALL, NULL, rest);
	free(child);
}

/*
 * Visit what is not the server's: the client may let time pass before the server has
 * received anything, or while it is not recorded.
 */
static void visit_outside(const struct walk *w, const struct request *r,
			  u32 depth, u32 what, s64 time, u64 arriving)
{
	u64 paused = paused_time(r);
	s64 sending = paused > arriving ? paused - arriving : 0;

	if (sending > time)
		sending = time > 0 ? time : 0;
	if (sending)
		visit(w, r, depth, WAIT_SENDING, NULL, sending);
	visit(w, r, depth, what, NULL, time - sending);
}

/* Several threads of the server handled it, once it had arrived */
static void visit_threads(const struct walk *w, const struct request *r,
			  u32 depth)
{
	const struct view *p = &r->view[ROLE_SERVER];
	u64 sending = paused_time(r);

	if (sending > p->sent - p->begin)
		sending = p->sent - p->begin;
	if (sending)
		visit(w, r, depth, WAIT_SENDING, NULL, sending);
	visit(w, r, depth, WAIT_THREADS, NULL, p->over - p->begin - sending);
}

static void walk(const struct walk *w, const struct request *r, u32 depth)
{
	const struct view *p = &r->view[ROLE_SERVER];
	const struct thread *a;
	u64 response_time = request_response_time(r);

	if (!r->answered) {
		visit(w, r, depth, WAIT_UNANSWERED, NULL,
		      depth ? child_wait(r) : response_time);
		return;
	}
	if (!p->seen || p->over < p->begin) {
		visit_outside(w, r, depth, WAIT_NOT_RECORDED, response_time, 0);
		return;
	}
	if (r->view[ROLE_CLIENT].seen)
		visit_outside(w, r, depth, WAIT_NETWORK,
			      response_time - (p->over - p->begin),
			      p->sent - p->begin);
	a = p->alone ? log_thread(w->s->log, p->host, p->pid) : NULL;
	if (a)
		walk_thread(w, r, depth, a);
	else
		visit_threads(w, r, depth);
}

/**
 * request_paths_walk - visit the steps of a request's critical path
 * @s:		model, after model_link()
 * @p:		paths
 * @r:		one of their requests
 * @visit:	called for each step, in order of time within a thread; the times add up
 *		to request_response_time()
 * @arg:	passed to it
 */
void request_paths_walk(
	const struct model *s, const struct paths *p, const struct request *r,
	void (*visit)(const struct path_step *path_step, void *arg), void *arg)
{
	struct walk w = {
		.s = s,
		.k = (const struct paths_kept *)p,
		.visit = visit,
		.arg = arg,
	};

	walk(&w, r, 0);
}

/* The number after an address's last colon */
static unsigned long port_at(const char *address, size_t len)
{
	while (len && address[len - 1] != ':')
		len--;
	return strtoul(address + len, NULL, 10);
}

/* The peer's address; with its port only if that is the lower
 * one, probably a server's
 */
static void other_end(char *buf, size_t size, const char *name)
{
	const char *arrow = strstr(name, "->"), *other;
	size_t len;

	if (!arrow) {
		snprintf(buf, size, "%s", name);
		return;
	}
	other = arrow + 2;
	len = strlen(other);
	if (port_at(other, len) >= port_at(name, arrow - name)) {
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
 * @s:		model, after model_link()
 * @path_step:	step
 */
void request_paths_object(char *buf, size_t size, const struct model *s,
			  const struct path_step *path_step)
{
	const struct object *o;

	*buf = '\0';
	if (path_step->what == STEP_SLEEPING && path_step->waker)
		snprintf(buf, size, "woken by %s", path_step->waker);
	if (path_step->what == WAIT_UNANSWERED && path_step->request->failure)
		snprintf(buf, size, "%s", path_step->request->failure);
	if (!path_step->call || path_step->what == STEP_OWN_SOCKET ||
	    path_step->what == STEP_POLL)
		return;
	o = log_object(s->log, path_step->call);
	if (path_step->what == STEP_SOCKET)
		other_end(buf, size, o->name);
	else if (path_step->what == STEP_FILE || path_step->what == STEP_SYNC)
		snprintf(buf, size, "%s", o->name);
}

/* ------------------------------------------------------------------------- */
/* Sums */

static struct path *find_path(struct path_builder *a, const struct path *parent,
			      const struct request *r)
{
	const struct endpoint *client = r->endpoint[ROLE_CLIENT];
	const struct endpoint *server = r->endpoint[ROLE_SERVER];
	u64 hash = hash_more(hash_pair((unsigned long)parent,
				       (unsigned long)client),
			     (unsigned long)server);
	struct path *path;

	hash_for_each_possible_entry(&a->paths, hash, path) {
		if (path->parent == parent && path->client == client &&
		    path->server == server)
			return path;
	}
	path = hash_new(&a->paths, hash, sizeof(*path));
	path->parent = parent;
	path->depth = parent ? parent->depth + 1 : 0;
	path->client = client;
	path->server = server;
	return path;
}

static struct path *path_of(struct path_builder *a, const struct request *r)
{
	struct path **of = &a->of[r - a->p->list];

	if (!*of)
		*of = find_path(a, r->parent ? path_of(a, r->parent) : NULL, r);
	return *of;
}

static struct cause_entry *find_cause(struct path_builder *a,
				      const struct endpoint *server, u32 what,
				      const char *object)
{
	u64 hash = hash_more(hash_pair((unsigned long)server, what),
			     hash_string(object));
	struct cause_entry *e;

	hash_for_each_possible_entry(&a->causes, hash, e) {
		if (e->cause.server == server && e->cause.what == what &&
		    !strcmp(e->cause.object, object))
			return e;
	}
	e = hash_new(&a->causes, hash, sizeof(*e));
	e->cause.server = server;
	e->cause.what = what;
	e->cause.object = xstrdup(object);
	return e;
}

/* Move the call site to the front: a loop uses the same one again */
static struct site *find_site(struct cause_entry *e, const struct stack *stack)
{
	u32 frame = stacks_caller(stack);
	struct site **at, *site;

	for (at = &e->site; (site = *at); at = &site->next) {
		if (!frame_order(&site->stack->frame[site->frame],
				 &stack->frame[frame]))
			break;
	}
	if (site) {
		*at = site->next;
	} else {
		site = xzalloc(sizeof(*site));
		site->stack = stack;
		site->frame = frame;
	}
	site->next = e->site;
	e->site = site;
	return site;
}

static void add_site(const struct model *s, struct cause_entry *e,
		     const struct path_step *path_step)
{
	u32 host = path_step->request->view[ROLE_SERVER].host;
	const struct stack *stack;

	if (!s->stacks || !path_step->call || !path_step->call->stack)
		return;
	stack = stacks_find(s->stacks, stack_key(host, path_step->call->stack));
	if (stack && stack->nr)
		find_site(e, stack)->time += path_step->time;
}

/* Of call sites with the same time, the first one by file and offset */
static void name_code(struct cause_entry *e)
{
	struct cause *c = &e->cause;
	const struct site *site;

	for (site = e->site; site; site = site->next) {
		if (c->stack && (site->time < c->code_time ||
				 (site->time == c->code_time &&
				  frame_order(&site->stack->frame[site->frame],
					      &c->stack->frame[c->frame]) > 0)))
			continue;
		c->stack = site->stack;
		c->frame = site->frame;
		c->code_time = site->time;
	}
}

/**
 * path_step_place - who did a step
 * @path_step:	step
 *
 * Return: the client, of time that it lets pass; else the server.
 */
const struct endpoint *path_step_place(const struct path_step *path_step)
{
	enum role role = path_step->what == WAIT_SENDING ? ROLE_CLIENT :
							   ROLE_SERVER;

	return path_step->request->endpoint[role];
}

static void add_path_step(const struct path_step *path_step, void *arg)
{
	struct path_builder *a = arg;
	char object[4096];
	struct cause_entry *e;
	struct path *path = path_of(a, path_step->request);

	path->step_time[path_step->what] += path_step->time;
	path->critical += path_step->time;
	request_paths_object(object, sizeof(object), a->s, path_step);
	e = find_cause(a, path_step_place(path_step), path_step->what, object);
	e->cause.time += path_step->time;
	e->cause.steps++;
	add_site(a->s, e, path_step);
	e->cause.requests += e->last != a->root;
	e->last = a->root;
}

static bool is_root(const struct request *r)
{
	return !r->parent && !r->ambiguous && !r->outlives;
}

static void add_request(struct path_builder *a, struct request *r)
{
	struct paths *p = a->p;
	struct request *at = r;
	struct path *path;

	p->followed += r->parent || r->outlives;
	p->outlived += !!r->outlives;
	p->ambiguous += r->ambiguous;
	while (at->parent)
		at = at->parent;
	/* A descendant of an ambiguous request belongs to no client */
	if (!is_root(at))
		return;
	path = path_of(a, r);
	if (r->answered) {
		times_add(&path->response_time, request_response_time(r));
		path->requests++;
	} else {
		path->unanswered++;
		path->unanswered_time += request_response_time(r);
	}
	if (at != r)
		return;
	p->root[p->roots++] = r;
	p->waited += request_response_time(r);
	a->root = r;
	request_paths_walk(a->s, p, r, add_path_step, a);
}

/* ------------------------------------------------------------------------- */
/* Sorting */

static int by_length(const void *a, const void *b)
{
	const struct request *x = *(struct request *const *)a,
			     *y = *(struct request *const *)b;
	u64 p = request_response_time(x), r = request_response_time(y);

	if (p != r)
		return p > r ? -1 : 1;
	p = x->view[x->named].begin;
	r = y->view[y->named].begin;
	return (p > r) - (p < r);
}

static int by_endpoint(const struct endpoint *a, const struct endpoint *b)
{
	int order = (a->host > b->host) - (a->host < b->host);

	order = order ? order : strcmp(a->name, b->name);
	return order ? order : strcmp(a->address, b->address);
}

static int by_cost(const void *a, const void *b)
{
	const struct cause *x = *(struct cause *const *)a,
			   *y = *(struct cause *const *)b;
	int order = (x->time < y->time) - (x->time > y->time);

	order = order ? order : by_endpoint(x->server, y->server);
	order = order ? order : (x->what > y->what) - (x->what < y->what);
	return order ? order : strcmp(x->object, y->object);
}

static int by_response_time(const struct path *a, const struct path *b)
{
	u64 p = a->response_time.sum + a->unanswered_time,
	    r = b->response_time.sum + b->unanswered_time;
	int order = (p < r) - (p > r);

	order = order ? order : by_endpoint(a->client, b->client);
	return order ? order : by_endpoint(a->server, b->server);
}

/* Each path after its parent; of one parent's paths the longest response time first */
static int by_place(const void *a, const void *b)
{
	const struct path *x = *(struct path *const *)a,
			  *y = *(struct path *const *)b;
	const struct path *p = x, *r = y;

	while (p->depth > r->depth)
		p = p->parent;
	while (r->depth > p->depth)
		r = r->parent;
	if (p == r)
		return (x->depth > y->depth) - (x->depth < y->depth);
	while (p->parent != r->parent) {
		p = p->parent;
		r = r->parent;
	}
	return by_response_time(p, r);
}

static void sort_paths(struct path_builder *a)
{
	struct paths *p = a->p;
	struct path *path;
	u32 i;

	p->path = xzalloc((a->paths.nr + 1) * sizeof(*p->path));
	hash_for_each(&a->paths, i, path) {
		times_finish(&path->response_time);
		p->path[p->nr_paths++] = path;
	}
	qsort(p->path, p->nr_paths, sizeof(*p->path), by_place);
}

static void sort_causes(struct path_builder *a)
{
	struct paths *p = a->p;
	struct cause_entry *e;
	u32 i;

	p->cause = xzalloc((a->causes.nr + 1) * sizeof(*p->cause));
	hash_for_each(&a->causes, i, e) {
		name_code(e);
		p->cause[p->causes++] = &e->cause;
	}
	qsort(p->cause, p->causes, sizeof(*p->cause), by_cost);
}

/**
 * request_paths_new - follow requests
 * @s:	model, after model_link(), with single requests and a log
 *
 * Return: paths, to be freed with request_paths_free().
 */
struct paths *request_paths_new(const struct model *s)
{
	struct paths_kept *k = xzalloc(sizeof(*k));
	struct paths *p = &k->paths;
	u64 i;

	p->list = requests_list(s->requests, &p->nr);
	make_tree(&k->tree, p);
	p->root = xzalloc((p->nr + 1) * sizeof(*p->root));
	k->path_builder.s = s;
	k->path_builder.p = p;
	k->path_builder.of = xzalloc((p->nr + 1) * sizeof(*k->path_builder.of));
	for (i = 0; i < p->nr; i++)
		add_request(&k->path_builder, &p->list[i]);
	if (p->roots)
		qsort(p->root, p->roots, sizeof(*p->root), by_length);
	sort_paths(&k->path_builder);
	sort_causes(&k->path_builder);
	return p;
}

/**
 * request_paths_free - free paths
 * @p:	paths
 */
void request_paths_free(struct paths *p)
{
	struct paths_kept *k = (struct paths_kept *)p;
	struct path_builder *a = &k->path_builder;
	struct cause_entry *c;
	struct path *path;
	struct site *site;
	u32 i;

	hash_for_each(&a->paths, i, path)
		free(path->response_time.time);
	hash_free(&a->paths);
	hash_for_each(&a->causes, i, c) {
		while ((site = c->site)) {
			c->site = site->next;
			free(site);
		}
		free(c->cause.object);
	}
	hash_free(&a->causes);
	free(a->of);
	free(k->tree.child);
	free(k->tree.first);
	free(p->root);
	free(p->path);
	free(p->cause);
	free(k);
}
