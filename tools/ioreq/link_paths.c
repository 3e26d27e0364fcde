// SPDX-License-Identifier: GPL-2.0
/*
 * Paths of requests, from a client to a server and on to others: requests that take the same
 * way are summed, and so are the causes on their critical paths, which link_walk.c finds.
 */
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "order.h"

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
 * struct path_builder - state while paths are summed
 * @m:		model
 * @p:		paths
 * @of:		path of each request, by its number
 * @paths:	struct path, by parent, client and server
 * @causes:	struct cause_entry, by server, kind of step and object
 * @root:	current request of a client
 */
struct path_builder {
	const struct model *m;
	struct paths *p;
	struct path **of;
	struct hash paths;
	struct hash causes;
	const struct request *root;
};

/**
 * struct paths_kept - what request_paths_new() allocates
 * @paths:		public part
 * @path_builder:	tables
 */
struct paths_kept {
	struct paths paths;
	struct path_builder path_builder;
};

static struct path *find_path(struct path_builder *a, const struct path *parent,
			      const struct request *r)
{
	const struct endpoint *client = r->endpoint[ROLE_CLIENT];
	const struct endpoint *server = r->endpoint[ROLE_SERVER];
	u64 hash = hash_more(hash_pair((unsigned long)parent,
				       (unsigned long)client),
			     (unsigned long)server);
	bool ambiguous = parent ? parent->ambiguous : r->ambiguous;
	struct path *path;

	hash_for_each_possible_entry(&a->paths, hash, path) {
		if (path->parent == parent && path->client == client &&
		    path->server == server && path->ambiguous == ambiguous)
			return path;
	}
	path = hash_new(&a->paths, hash, sizeof(*path));
	path->parent = parent;
	path->depth = parent ? parent->depth + 1 : 0;
	path->ambiguous = ambiguous;
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

/**
 * path_step_stack - the stack of a step's call
 * @m:		model
 * @path_step:	step
 *
 * Return: the stack, which has frames; or NULL.
 */
const struct stack *path_step_stack(const struct model *m,
				    const struct path_step *path_step)
{
	u32 host = path_step->request->view[ROLE_SERVER].host;
	const struct stack *stack;

	if (!m->stacks || !path_step->call || !path_step->call->stack)
		return NULL;
	stack = stacks_find(m->stacks, stack_key(host, path_step->call->stack));
	return stack && stack->nr ? stack : NULL;
}

static void add_site(const struct model *m, struct cause_entry *e,
		     const struct path_step *path_step)
{
	const struct stack *stack = path_step_stack(m, path_step);

	if (stack)
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
 * path_step_role - which side did a step
 * @path_step:	step
 *
 * Return: the client, of time that it lets pass or does not wait; else the server.
 */
enum role path_step_role(const struct path_step *path_step)
{
	return path_step->what == WAIT_SENDING ||
			       path_step->what == WAIT_CLIENT_LATE ?
		       ROLE_CLIENT :
		       ROLE_SERVER;
}

/**
 * path_step_place - who did a step
 * @path_step:	step
 *
 * Return: the endpoint of the side that did it.
 */
const struct endpoint *path_step_place(const struct path_step *path_step)
{
	return path_step->request->endpoint[path_step_role(path_step)];
}

static void add_step_time(const struct path_step *path_step, void *arg)
{
	struct path *path = path_of(arg, path_step->request);

	path->step_time[path_step->what] += path_step->time;
	path->critical += path_step->time;
}

static void add_path_step(const struct path_step *path_step, void *arg)
{
	struct path_builder *a = arg;
	char object[4096];
	struct cause_entry *e;

	add_step_time(path_step, arg);
	request_paths_object(object, sizeof(object), a->m, path_step);
	/* The number differs; the cause has the largest one */
	if (path_step->several)
		*object = '\0';
	e = find_cause(a, path_step_place(path_step), path_step->what, object);
	e->cause.time += path_step->time;
	e->cause.steps++;
	if (path_step->several > e->cause.several)
		e->cause.several = path_step->several;
	add_site(a->m, e, path_step);
	e->cause.requests += e->last != a->root;
	e->last = a->root;
}

static bool is_root(const struct request *r)
{
	return !r->parent && !r->outlives &&
	       (!r->multiplexed || r->maybe_multiplexed);
}

static void add_request(struct path_builder *a, struct request *r)
{
	struct paths *p = a->p;
	struct request *at = r;
	struct path *path;

	p->followed += r->parent || r->outlives;
	p->outlived += !!r->outlives;
	p->contradicted += r->contradicted;
	p->ambiguous += r->ambiguous;
	p->ambiguous_time += r->ambiguous ? request_response_time(r) : 0;
	p->queued += r->queued;
	if (r->multiplexed && !r->maybe_multiplexed) {
		p->multiplexed++;
		p->multiplexed_time += request_response_time(r);
	}
	p->maybe_multiplexed += r->maybe_multiplexed;
	while (at->parent)
		at = at->parent;
	/* Requests of a multiplexed connection cannot be separated */
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
	/* It is in the time of a client already, and so causes no more of what clients wait for */
	if (r->ambiguous) {
		request_paths_walk(a->m, p, r, add_step_time, a);
		return;
	}
	p->root[p->roots++] = r;
	p->waited += request_response_time(r);
	a->root = r;
	request_paths_walk(a->m, p, r, add_path_step, a);
}

/* ------------------------------------------------------------------------- */
/* Sorting */

static int by_length(const void *a, const void *b)
{
	const struct request *x = *(struct request *const *)a,
			     *y = *(struct request *const *)b;

	return ORDER(request_response_time(y), request_response_time(x)) ?:
		       ORDER(x->view[x->named].begin, y->view[y->named].begin);
}

static int by_cost(const void *a, const void *b)
{
	const struct cause *x = *(struct cause *const *)a,
			   *y = *(struct cause *const *)b;
	int order = ORDER(y->time, x->time);

	order = order ?: endpoint_order(x->server, y->server);
	order = order ?: ORDER(x->what, y->what);
	return order ?: strcmp(x->object, y->object);
}

static int by_response_time(const struct path *a, const struct path *b)
{
	int order = ORDER(a->ambiguous, b->ambiguous);

	order = order ?:
			ORDER(b->response_time.sum + b->unanswered_time,
			      a->response_time.sum + a->unanswered_time);
	order = order ?: endpoint_order(a->client, b->client);
	return order ?: endpoint_order(a->server, b->server);
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

static void name_several(struct cause *c)
{
	char text[80];

	if (!c->several)
		return;
	several_text(text, sizeof(text), c->several);
	free(c->object);
	c->object = xstrdup(text);
}

static void sort_causes(struct path_builder *a)
{
	struct paths *p = a->p;
	struct cause_entry *e;
	u32 i;

	p->cause = xzalloc((a->causes.nr + 1) * sizeof(*p->cause));
	hash_for_each(&a->causes, i, e) {
		name_code(e);
		name_several(&e->cause);
		p->cause[p->causes++] = &e->cause;
	}
	qsort(p->cause, p->causes, sizeof(*p->cause), by_cost);
}

/**
 * request_paths_new - follow requests
 * @m:	model, after model_link(), with single requests and a log
 *
 * Return: paths, to be freed with request_paths_free().
 */
struct paths *request_paths_new(const struct model *m)
{
	struct paths_kept *k = xzalloc(sizeof(*k));
	struct paths *p = &k->paths;
	u64 i;

	p->list = requests_list(m->requests, &p->nr);
	p->tree = request_tree_new(p);
	p->root = xzalloc((p->nr + 1) * sizeof(*p->root));
	k->path_builder.m = m;
	k->path_builder.p = p;
	k->path_builder.of = xzalloc((p->nr + 1) * sizeof(*k->path_builder.of));
	for (i = 0; i < p->nr; i++)
		add_request(&k->path_builder, &p->list[i]);
	if (p->roots)
		qsort(p->root, p->roots, sizeof(*p->root), by_length);
	for (i = 0; i < m->nr_flows; i++)
		p->guessed += m->flow[i]->guessed;
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
	request_tree_free(p->tree);
	free(p->root);
	free(p->path);
	free(p->cause);
	free(k);
}
