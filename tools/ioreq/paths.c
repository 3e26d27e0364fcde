// SPDX-License-Identifier: GPL-2.0
/*
 * Where requests went: from a client to a server, from that one to others, and what the
 * client waited for on the way.
 *
 * A thread does one thing after the other, so the time that one takes for a request is
 * that of its calls, of the requests that it waits for meanwhile, and the rest. Where
 * several of these overlap, the one that ended last is what was waited for, and before
 * that one began, the one that had ended last by then. What a client waits is what its
 * server takes, and what is in between; so all of a client's wait is accounted for, once.
 */
#include <stdlib.h>
#include <string.h>

#include "ioreq.h"

/**
 * struct path_entry - a path in the table of them
 * @path:	it
 * @next:	in the same bucket
 */
struct path_entry {
	struct path path;
	struct path_entry *next;
};

/**
 * struct site - where in programs a cause's calls were made
 * @stack:	one of the stacks of these
 * @frame:	who called
 * @time:	of all calls from there, ns
 * @next:	another one of the cause
 */
struct site {
	const struct stack *stack;
	u32 frame;
	s64 time;
	struct site *next;
};

/**
 * struct cause_entry - a cause in the table of them
 * @cause:	it
 * @site:	where its calls were made, the last one first
 * @last:	the request of a client that it was counted for last
 * @next:	in the same bucket
 */
struct cause_entry {
	struct cause cause;
	struct site *site;
	const struct request *last;
	struct cause_entry *next;
};

/**
 * struct tree - requests by those that they were made for
 * @child:	all that were made for another one, by that and their begins
 * @first:	where those of each request begin, by its number; of one more
 */
struct tree {
	struct request **child;
	u64 *first;
};

/**
 * struct all - while sums are made
 * @s:		all of it
 * @p:		paths
 * @of:		path of each request, by its number
 * @path:	paths by hash
 * @cause:	causes by hash
 * @root:	the client's request at hand
 */
struct all {
	const struct sums *s;
	struct paths *p;
	struct path **of;
	struct path_entry *path[BUCKETS];
	struct cause_entry *cause[BUCKETS];
	const struct request *root;
};

/**
 * struct paths_kept - what paths_new() made
 * @paths:	for everybody
 * @tree:	requests
 * @all:	sums
 */
struct paths_kept {
	struct paths paths;
	struct tree tree;
	struct all all;
};

/**
 * struct walk - a walk over the pieces of a request
 * @s:		all of it
 * @k:		paths
 * @visit:	called for each
 * @arg:	passed to it
 */
struct walk {
	const struct sums *s;
	const struct paths_kept *k;
	void (*visit)(const struct piece *piece, void *arg);
	void *arg;
};

/* ------------------------------------------------------------------------- */
/* A request and those that were made for it */

static int by_parent(const void *a, const void *b)
{
	const struct request *x = *(struct request *const *)a,
			     *y = *(struct request *const *)b;
	u64 p = x->part[ROLE_CLIENT].begin, r = y->part[ROLE_CLIENT].begin;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (p != r)
		return p < r ? -1 : 1;
	return (x > y) - (x < y);
}

static void make_tree(struct tree *t, const struct paths *p)
{
	u64 i, n = 0;

	t->child = allocate((p->nr + 1) * sizeof(*t->child));
	t->first = allocate((p->nr + 2) * sizeof(*t->first));
	for (i = 0; i < p->nr; i++) {
		if (!p->list[i].parent || !p->list[i].answered)
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
 * paths_wait - how long a request was waited for
 * @r: it
 *
 * Return: ns; what its server took if nobody recorded the client.
 */
u64 paths_wait(const struct request *r)
{
	const struct part *p =
		&r->part[r->part[ROLE_CLIENT].seen ? ROLE_CLIENT : ROLE_SERVER];

	return r->answered && p->over > p->begin ? p->over - p->begin : 0;
}

static void visit(const struct walk *w, const struct request *r, u32 depth,
		  u32 what, const struct logged *call, s64 time)
{
	struct piece piece = {
		.request = r,
		.depth = depth,
		.what = what,
		.call = call,
		.time = time,
	};

	w->visit(&piece, w->arg);
}

static void walk(const struct walk *w, const struct request *r, u32 depth);

static int by_over(const void *a, const void *b)
{
	const struct request *x = *(struct request *const *)a,
			     *y = *(struct request *const *)b;
	u64 p = x->part[ROLE_CLIENT].over, r = y->part[ROLE_CLIENT].over;

	if (p != r)
		return p < r ? -1 : 1;
	return (x > y) - (x < y);
}

/*
 * Those of a request's that were waited for: the one that ended last, and before it began
 * the one that had ended last by then.
 *
 * Return: how many; they are the last ones of the array, in order.
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

		if (child->part[ROLE_CLIENT].over > limit)
			continue;
		limit = child->part[ROLE_CLIENT].begin;
		n++;
		critical[room - n] = child;
	}
	return n;
}

/* What a call was, as seen by a request that the thread was answering meanwhile */
static u32 what_of(const struct walk *w, const struct request *r,
		   const struct logged *c)
{
	const struct part *p = &r->part[ROLE_SERVER];
	const struct request *other;

	if (c->socket && c->socket == p->id)
		return STEP_OWN;
	other = loops_at(w->s->loops, p->host, p->pid, c->start + c->duration);
	return other && other != r ? WAIT_BUSY : c->step;
}

/* The calls of the thread that answered, and the requests that it waited for */
static void walk_thread(const struct walk *w, const struct request *r,
			u32 depth, const struct actor *a)
{
	const struct part *p = &r->part[ROLE_SERVER];
	u64 number = r - w->k->paths.list, began = p->begin, i, n, k = 0;
	u64 room = w->k->tree.first[number + 1] - w->k->tree.first[number];
	struct request **child = allocate((room + 1) * sizeof(*child));
	struct request **critical;
	s64 rest = p->over - p->begin;

	n = find_critical(child, w, r, room);
	critical = child + (room - n);
	for (i = log_after(a, p->begin); i < a->nr; i++) {
		const struct logged *c = &a->call[i];
		u32 what;

		if (c->start + c->duration > p->over)
			break;
		for (;
		     k < n && critical[k]->part[ROLE_CLIENT].begin <= c->start;
		     k++) {
			began = critical[k]->part[ROLE_CLIENT].over;
			rest -= paths_wait(critical[k]);
			walk(w, critical[k], depth + 1);
		}
		/* A damaged trace may have calls within calls */
		if (c->beside || c->start < began)
			continue;
		began = c->start + c->duration;
		rest -= c->duration;
		what = what_of(w, r, c);
		visit(w, r, depth, what, what == WAIT_BUSY ? NULL : c,
		      c->duration);
	}
	for (; k < n; k++) {
		rest -= paths_wait(critical[k]);
		walk(w, critical[k], depth + 1);
	}
	visit(w, r, depth, STEP_REST, NULL, rest);
	free(child);
}

static void walk(const struct walk *w, const struct request *r, u32 depth)
{
	const struct part *p = &r->part[ROLE_SERVER];
	const struct actor *a;
	u64 wait = paths_wait(r);

	if (!p->seen || p->over < p->begin) {
		visit(w, r, depth, WAIT_UNSEEN, NULL, wait);
		return;
	}
	if (r->part[ROLE_CLIENT].seen)
		visit(w, r, depth, WAIT_BETWEEN, NULL,
		      wait - (p->over - p->begin));
	a = p->alone ? log_actor(w->s->log, p->host, p->pid) : NULL;
	if (a)
		walk_thread(w, r, depth, a);
	else
		visit(w, r, depth, WAIT_THREADS, NULL, p->over - p->begin);
}

/**
 * paths_walk - what a request was waited for, piece by piece
 * @s: after sums_finish()
 * @p: paths
 * @r: one of their requests, answered
 * @visit: called for each piece, in order of time for what one thread does; the times of
 * all pieces are paths_wait() of the request
 * @arg: passed to it
 */
void paths_walk(const struct sums *s, const struct paths *p,
		const struct request *r,
		void (*visit)(const struct piece *piece, void *arg), void *arg)
{
	struct walk w = {
		.s = s,
		.k = (const struct paths_kept *)p,
		.visit = visit,
		.arg = arg,
	};

	walk(&w, r, 0);
}

/* The last number of an address */
static unsigned long port_at(const char *address, size_t len)
{
	while (len && address[len - 1] != ':')
		len--;
	return strtoul(address + len, NULL, 10);
}

/* The other end, with its port if it has the lower one: it is likely a server's then */
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
 * paths_object - what a piece is about
 * @buf: set to the name of the file, or to the other end of a socket, or to ""
 * @size: of that
 * @s: after sums_finish()
 * @piece: it
 */
void paths_object(char *buf, size_t size, const struct sums *s,
		  const struct piece *piece)
{
	const struct object *o;

	*buf = '\0';
	if (!piece->call || piece->what == STEP_OWN || piece->what == STEP_POLL)
		return;
	o = log_object(s->log, piece->call);
	if (piece->what == STEP_SOCKET)
		other_end(buf, size, o->name);
	else if (piece->what == STEP_FILE || piece->what == STEP_SYNC)
		snprintf(buf, size, "%s", o->name);
}

/* ------------------------------------------------------------------------- */
/* Sums */

static struct path *find_path(struct all *a, const struct path *parent,
			      const struct request *r)
{
	u32 at = mix((unsigned long)parent,
		     mix((unsigned long)r->party[ROLE_CLIENT],
			 (unsigned long)r->party[ROLE_SERVER]));
	struct path_entry *e;

	for (e = a->path[at]; e; e = e->next) {
		if (e->path.parent == parent &&
		    e->path.client == r->party[ROLE_CLIENT] &&
		    e->path.server == r->party[ROLE_SERVER])
			return &e->path;
	}
	e = allocate(sizeof(*e));
	e->path.parent = parent;
	e->path.depth = parent ? parent->depth + 1 : 0;
	e->path.client = r->party[ROLE_CLIENT];
	e->path.server = r->party[ROLE_SERVER];
	e->next = a->path[at];
	a->path[at] = e;
	return &e->path;
}

static struct path *path_of(struct all *a, const struct request *r)
{
	struct path **of = &a->of[r - a->p->list];

	if (!*of)
		*of = find_path(a, r->parent ? path_of(a, r->parent) : NULL, r);
	return *of;
}

static struct cause_entry *find_cause(struct all *a, const struct party *server,
				      u32 what, const char *object)
{
	u32 at = mix((unsigned long)server, what);
	struct cause_entry *e;
	const char *c;

	for (c = object; *c; c++)
		at = mix(at, *c);
	for (e = a->cause[at]; e; e = e->next) {
		if (e->cause.server == server && e->cause.what == what &&
		    !strcmp(e->cause.object, object))
			return e;
	}
	e = allocate(sizeof(*e));
	e->cause.server = server;
	e->cause.what = what;
	e->cause.object = strdup(object);
	if (!e->cause.object)
		abort();
	e->next = a->cause[at];
	a->cause[at] = e;
	a->p->causes++;
	return e;
}

/* A loop comes back to the same place as a rule, so that is put in front */
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
		site = allocate(sizeof(*site));
		site->stack = stack;
		site->frame = frame;
	}
	site->next = e->site;
	e->site = site;
	return site;
}

static void add_site(const struct sums *s, struct cause_entry *e,
		     const struct piece *piece)
{
	u32 host = piece->request->part[ROLE_SERVER].host;
	const struct stack *stack;

	if (!s->stacks || !piece->call || !piece->call->stack)
		return;
	stack = stacks_find(s->stacks, stack_key(host, piece->call->stack));
	if (stack && stack->nr)
		find_site(e, stack)->time += piece->time;
}

/* Of those that take as long, the one that comes first in files */
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

static void add_piece(const struct piece *piece, void *arg)
{
	struct all *a = arg;
	char object[4096];
	struct cause_entry *e;
	struct path *path = path_of(a, piece->request);

	path->wait_for[piece->what] += piece->time;
	path->critical += piece->time;
	paths_object(object, sizeof(object), a->s, piece);
	e = find_cause(a, piece->request->party[ROLE_SERVER], piece->what,
		       object);
	e->cause.time += piece->time;
	e->cause.pieces++;
	add_site(a->s, e, piece);
	e->cause.requests += e->last != a->root;
	e->last = a->root;
}

static bool is_root(const struct request *r)
{
	return r->answered && !r->parent && !r->ambiguous && !r->outlives;
}

static void add_request(struct all *a, struct request *r)
{
	struct paths *p = a->p;
	struct request *at = r;

	if (!r->answered)
		return;
	p->followed += r->parent || r->outlives;
	p->outlived += !!r->outlives;
	p->ambiguous += r->ambiguous;
	while (at->parent)
		at = at->parent;
	/* What hangs on one that is ambiguous is no client's */
	if (!is_root(at))
		return;
	times_add(&path_of(a, r)->wait, paths_wait(r));
	path_of(a, r)->requests++;
	if (at != r)
		return;
	p->root[p->roots++] = r;
	p->waited += paths_wait(r);
	a->root = r;
	paths_walk(a->s, p, r, add_piece, a);
}

/* ------------------------------------------------------------------------- */
/* The result */

static int by_length(const void *a, const void *b)
{
	const struct request *x = *(struct request *const *)a,
			     *y = *(struct request *const *)b;
	u64 p = paths_wait(x), r = paths_wait(y);

	if (p != r)
		return p > r ? -1 : 1;
	p = x->part[x->named].begin;
	r = y->part[y->named].begin;
	return (p > r) - (p < r);
}

static int by_party(const struct party *a, const struct party *b)
{
	int order = (a->host > b->host) - (a->host < b->host);

	return order ? order : strcmp(a->name, b->name);
}

static int by_cost(const void *a, const void *b)
{
	const struct cause *x = *(struct cause *const *)a,
			   *y = *(struct cause *const *)b;
	int order = (x->time < y->time) - (x->time > y->time);

	order = order ? order : by_party(x->server, y->server);
	order = order ? order : (x->what > y->what) - (x->what < y->what);
	return order ? order : strcmp(x->object, y->object);
}

static int by_wait(const struct path *a, const struct path *b)
{
	int order = (a->wait.sum < b->wait.sum) - (a->wait.sum > b->wait.sum);

	order = order ? order : by_party(a->client, b->client);
	return order ? order : by_party(a->server, b->server);
}

/* Each behind its parent; of those of one parent the longest wait first */
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
	return by_wait(p, r);
}

static void sort_paths(struct all *a)
{
	struct paths *p = a->p;
	struct path_entry *e;
	u64 n = 0;
	u32 i;

	for (i = 0; i < BUCKETS; i++) {
		for (e = a->path[i]; e; e = e->next)
			n++;
	}
	p->path = allocate((n + 1) * sizeof(*p->path));
	for (i = 0; i < BUCKETS; i++) {
		for (e = a->path[i]; e; e = e->next) {
			times_finish(&e->path.wait);
			p->path[p->nr_paths++] = &e->path;
		}
	}
	qsort(p->path, n, sizeof(*p->path), by_place);
}

static void sort_causes(struct all *a)
{
	struct paths *p = a->p;
	struct cause_entry *e;
	u64 n = 0;
	u32 i;

	p->cause = allocate((p->causes + 1) * sizeof(*p->cause));
	for (i = 0; i < BUCKETS; i++) {
		for (e = a->cause[i]; e; e = e->next) {
			name_code(e);
			p->cause[n++] = &e->cause;
		}
	}
	qsort(p->cause, n, sizeof(*p->cause), by_cost);
}

/**
 * paths_new - follow requests
 * @s: after sums_finish(), with single requests and a log
 *
 * Return: where they went; paths_free() frees it.
 */
struct paths *paths_new(const struct sums *s)
{
	struct paths_kept *k = allocate(sizeof(*k));
	struct paths *p = &k->paths;
	u64 i;

	p->list = requests_list(s->requests, &p->nr);
	make_tree(&k->tree, p);
	p->root = allocate((p->nr + 1) * sizeof(*p->root));
	k->all.s = s;
	k->all.p = p;
	k->all.of = allocate((p->nr + 1) * sizeof(*k->all.of));
	for (i = 0; i < p->nr; i++)
		add_request(&k->all, &p->list[i]);
	if (p->roots)
		qsort(p->root, p->roots, sizeof(*p->root), by_length);
	sort_paths(&k->all);
	sort_causes(&k->all);
	return p;
}

/**
 * paths_free - free all of it
 * @p: paths
 */
void paths_free(struct paths *p)
{
	struct paths_kept *k = (struct paths_kept *)p;
	struct cause_entry *c;
	struct path_entry *e;
	struct site *site;
	u32 i;

	for (i = 0; i < BUCKETS; i++) {
		while ((e = k->all.path[i])) {
			k->all.path[i] = e->next;
			free(e->path.wait.time);
			free(e);
		}
		while ((c = k->all.cause[i])) {
			k->all.cause[i] = c->next;
			while ((site = c->site)) {
				c->site = site->next;
				free(site);
			}
			free(c->cause.object);
			free(c);
		}
	}
	free(k->all.of);
	free(k->tree.child);
	free(k->tree.first);
	free(p->root);
	free(p->path);
	free(p->cause);
	free(k);
}
