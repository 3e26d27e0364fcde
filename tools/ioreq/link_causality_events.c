// SPDX-License-Identifier: GPL-2.0
/* Causality: the events of all threads, in order of time. */
#include <stdlib.h>
#include <string.h>

#include "link_causality.h"
#include "order.h"

u32 causality_find_channel(struct causality *l, u32 host, u64 a, u64 b)
{
	u64 hash = hash_more(hash_pair(a, b), host);
	struct channel *c;
	u32 i;

	hash_for_each_possible(&l->channels, hash, i) {
		c = hash_entry(&l->channels, i);
		if (c->host == host && c->a == a && c->b == b)
			return i;
	}
	c = hash_new(&l->channels, hash, sizeof(*c));
	c->host = host;
	c->a = a;
	c->b = b;
	c->only = NONE;
	return l->channels.nr - 1;
}

static struct event *add_event(struct causality *l, u32 host, s32 pid, u64 time,
			       enum event_kind kind)
{
	struct event *h;

	GROW(l->event, l->nr_events, l->room);
	h = &l->event[l->nr_events++];
	*h = (struct event){
		.time = time,
		.moment = time,
		.host = host,
		.pid = pid,
		.kind = kind,
	};
	return h;
}

static bool is_eventfd(const struct object *o)
{
	return !strcmp(o->name, "anon_inode:[eventfd]");
}

static void add_channel(struct causality *l, const struct thread *a,
			const struct call *c, const struct object *o)
{
	const char *op = log_op(l->s->log, c);
	bool puts = !strncmp(op, "write", 5), pipe = o->type == TYPE_FIFO;
	struct event *h;
	u32 channel;

	if (c->result <= 0 || (!puts && strncmp(op, "read", 4) != 0))
		return;
	channel = pipe ? causality_find_channel(l, a->host, o->id,
						1ull << 32 | o->dev) :
			 causality_find_channel(l, a->host, c->fd,
						2ull << 32 | (u32)a->tgid);
	h = add_event(l, a->host, a->pid,
		      puts ? c->start : c->start + c->duration,
		      puts ? EVENT_CHANNEL_WRITE : EVENT_CHANNEL_READ);
	h->channel = channel;
	h->bytes = pipe ? c->bytes : 0;
}

static void add_call(struct causality *l, const struct thread *a,
		     const struct call *c)
{
	const struct object *o = log_object(l->s->log, c);
	struct event *h;
	u32 socket;

	if (c->overlaps || c->via_pipe)
		return;
	if (c->step == STEP_POLL) {
		add_event(l, a->host, a->pid, c->start, EVENT_POLL);
	} else if (o->type == TYPE_FIFO || is_eventfd(o)) {
		add_channel(l, a, c, o);
	} else if (c->socket && !strcmp(log_op(l->s->log, c), "connect")) {
		socket = causality_find_channel(l, a->host, c->socket, 0);
		h = add_event(l, a->host, a->pid, c->start, EVENT_CONNECT);
		h->channel = socket;
	}
}

/* In a call, which may wake and sleep by itself */
static bool is_in_call(const struct thread *a, u64 time)
{
	u64 i = log_after(a, time);

	for (; i < a->nr && a->call[i].overlaps; i++)
		;
	return i < a->nr && a->call[i].start <= time;
}

/* Threads of a process wait for one another outside of I/O calls */
static void add_wakeup(struct causality *l, const struct wakeup *w)
{
	const struct thread *waker = log_thread(l->s->log, w->host, w->waker);
	const struct thread *wakee = log_thread(l->s->log, w->host, w->wakee);

	if (!waker || !wakee || waker->process != wakee->process ||
	    is_in_call(waker, w->time) || is_in_call(wakee, w->time))
		return;
	add_event(l, w->host, w->waker, w->time, EVENT_WAKEUP)->wakee =
		w->wakee;
}

/*
 * What a thread submits with io_uring_enter it has prepared before that call, and it
 * sees completions after it; other completions it may see at once.
 */
static void set_seen_time(const struct causality *l, struct event *h, bool out)
{
	const struct thread *a = log_thread(l->s->log, h->host, h->pid);
	u64 i = a ? log_after(a, h->moment) : 0;
	const struct call *c;

	while (a && i < a->nr && a->call[i].overlaps)
		i++;
	if (!a || i == a->nr)
		return;
	c = &a->call[i];
	if (c->start <= h->moment &&
	    !strcmp(log_op(l->s->log, c), "io_uring_enter"))
		h->time = out ? c->start : c->start + c->duration;
}

static void add_request_io(struct causality *l, const struct request_io *t)
{
	struct event *h =
		add_event(l, t->host, t->pid, t->time, EVENT_REQUEST_IO);

	h->request_io = t;
	if (t->async)
		set_seen_time(l, h,
			      t->what == IO_SENDS_REQUEST ||
				      t->what == IO_SENDS_RESPONSE);
}

/* If it belongs to a request or response, that call has an event of its own */
static void add_pipe_range(struct causality *l, const struct pipe_range *p)
{
	struct event *h;

	if (p->peer > 0 &&
	    requests_via_pipe(l->s->requests, p->host, p->tgid, p->peer))
		return;
	h = add_event(l, p->host, p->pid, p->time,
		      p->written ? EVENT_PIPE_WRITE :
		      p->passed	 ? EVENT_PIPE_PASS :
				   EVENT_PIPE_READ);
	h->pipe_range = p;
	if (p->async)
		set_seen_time(l, h, p->written);
}

/* Of each socket that sends them */
static void count_requests(struct causality *l)
{
	const struct view *v;
	u32 socket;
	u64 i;

	for (i = 0; i < l->listed; i++) {
		v = &l->list[i].view[ROLE_CLIENT];
		if (!v->seen)
			continue;
		socket = causality_find_channel(l, v->host, v->id, 0);
		channel_at(l, socket)->requests++;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	int order = ORDER(x->host, y->host);

	order = order ?: ORDER(x->time, y->time);
	order = order ?: ORDER(x->pid, y->pid);
	/* Nothing that the thread submits is caused by what it waits for in the same call */
	order = order ?: (x->kind == EVENT_POLL) - (y->kind == EVENT_POLL);
	order = order ?: ORDER(x->moment, y->moment);
	return order ?: ORDER(x->kind, y->kind);
}

void causality_collect_events(struct causality *l)
{
	const struct request_io *request_io;
	struct thread *const *a;
	u64 nr, i, j;
	u32 threads;

	count_requests(l);
	request_io = requests_ios(l->s->requests, &nr);
	for (i = 0; i < nr; i++)
		add_request_io(l, &request_io[i]);
	a = log_threads(l->s->log, &threads);
	for (i = 0; i < threads; i++) {
		for (j = 0; j < a[i]->nr; j++)
			add_call(l, a[i], &a[i]->call[j]);
	}
	for (i = 0; i < l->s->wakeups; i++)
		add_wakeup(l, &l->s->wakeup[i]);
	for (i = 0; i < l->s->nr_pipe_ranges; i++) {
		if (l->s->pipe_range[i].ranges)
			add_pipe_range(l, &l->s->pipe_range[i]);
	}
	if (l->nr_events)
		qsort(l->event, l->nr_events, sizeof(*l->event), by_time);
}
