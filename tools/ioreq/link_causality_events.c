// SPDX-License-Identifier: GPL-2.0
/* Causality: the events of all threads, in order of time. */
#include <stdlib.h>
#include <string.h>

#include "link_causality.h"
#include "order.h"

u32 causality_find_channel(struct causality *c, u32 host, u64 a, u64 b)
{
	u64 hash = hash_more(hash_pair(a, b), host);
	struct channel *ch;
	u32 i;

	hash_for_each_possible(&c->channels, hash, i) {
		ch = hash_entry(&c->channels, i);
		if (ch->host == host && ch->a == a && ch->b == b)
			return i;
	}
	ch = hash_new(&c->channels, hash, sizeof(*ch));
	ch->host = host;
	ch->a = a;
	ch->b = b;
	ch->only = NONE;
	return c->channels.nr - 1;
}

static struct event *add_event(struct causality *c, u32 host, s32 pid, u64 time,
			       enum event_kind kind)
{
	struct event *h;

	GROW(c->event, c->nr_events, c->room);
	h = &c->event[c->nr_events++];
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

static void add_channel(struct causality *c, const struct thread *a,
			const struct call *call, const struct object *o)
{
	const char *op = log_op(c->m->log, call);
	bool puts = !strncmp(op, "write", 5), pipe = o->type == TYPE_FIFO;
	struct event *h;
	u32 channel;

	if (call->result <= 0 || (!puts && strncmp(op, "read", 4) != 0))
		return;
	channel = pipe ? causality_find_channel(c, a->host, o->id,
						1ull << 32 | o->dev) :
			 causality_find_channel(c, a->host, call->fd,
						2ull << 32 | (u32)a->tgid);
	h = add_event(c, a->host, a->pid,
		      puts ? call->start : call->start + call->duration,
		      puts ? EVENT_CHANNEL_WRITE : EVENT_CHANNEL_READ);
	h->channel = channel;
	h->bytes = pipe ? call->bytes : 0;
}

static void add_call(struct causality *c, const struct thread *a,
		     const struct call *call)
{
	const struct object *o = log_object(c->m->log, call);
	struct event *h;
	u32 socket;

	if (call->overlaps || call->via_pipe)
		return;
	if (call->step == STEP_POLL) {
		add_event(c, a->host, a->pid, call->start, EVENT_POLL);
	} else if (o->type == TYPE_FIFO || is_eventfd(o)) {
		add_channel(c, a, call, o);
	} else if (call->socket &&
		   !strcmp(log_op(c->m->log, call), "connect")) {
		socket = causality_find_channel(c, a->host, call->socket, 0);
		h = add_event(c, a->host, a->pid, call->start, EVENT_CONNECT);
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
static void add_wakeup(struct causality *c, const struct wakeup *w)
{
	const struct thread *waker = log_thread(c->m->log, w->host, w->waker);
	const struct thread *wakee = log_thread(c->m->log, w->host, w->wakee);

	if (!waker || !wakee || waker->process != wakee->process ||
	    is_in_call(waker, w->time) || is_in_call(wakee, w->time))
		return;
	add_event(c, w->host, w->waker, w->time, EVENT_WAKEUP)->wakee =
		w->wakee;
}

/*
 * What a thread submits with io_uring_enter it has prepared before that call, and it
 * sees completions after it; other completions it may see at once.
 */
static void set_seen_time(const struct causality *c, struct event *h, bool out)
{
	const struct thread *a = log_thread(c->m->log, h->host, h->pid);
	u64 i = a ? log_after(a, h->moment) : 0;
	const struct call *call;

	while (a && i < a->nr && a->call[i].overlaps)
		i++;
	if (!a || i == a->nr)
		return;
	call = &a->call[i];
	if (call->start <= h->moment &&
	    !strcmp(log_op(c->m->log, call), "io_uring_enter"))
		h->time = out ? call->start : call->start + call->duration;
}

static void add_request_io(struct causality *c, const struct request_io *t)
{
	struct event *h =
		add_event(c, t->host, t->pid, t->time, EVENT_REQUEST_IO);

	h->request_io = t;
	if (t->async)
		set_seen_time(c, h,
			      t->what == IO_SENDS_REQUEST ||
				      t->what == IO_SENDS_RESPONSE);
}

/* If it belongs to a request or response, that call has an event of its own */
static void add_pipe_range(struct causality *c, const struct pipe_range *p)
{
	struct event *h;

	if (p->peer > 0 &&
	    requests_via_pipe(c->m->requests, p->host, p->tgid, p->peer))
		return;
	h = add_event(c, p->host, p->pid, p->time,
		      p->written ? EVENT_PIPE_WRITE :
		      p->passed	 ? EVENT_PIPE_PASS :
				   EVENT_PIPE_READ);
	h->pipe_range = p;
	if (p->async)
		set_seen_time(c, h, p->written);
}

/* Of each socket that sends them */
static void count_requests(struct causality *c)
{
	const struct view *v;
	u32 socket;
	u64 i;

	for (i = 0; i < c->listed; i++) {
		v = &c->list[i].view[ROLE_CLIENT];
		if (!v->seen)
			continue;
		socket = causality_find_channel(c, v->host, v->id, 0);
		channel_at(c, socket)->requests++;
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

void causality_collect_events(struct causality *c)
{
	const struct request_io *request_io;
	struct thread *const *a;
	u64 nr, i, j;
	u32 threads;

	count_requests(c);
	request_io = requests_ios(c->m->requests, &nr);
	for (i = 0; i < nr; i++)
		add_request_io(c, &request_io[i]);
	a = log_threads(c->m->log, &threads);
	for (i = 0; i < threads; i++) {
		for (j = 0; j < a[i]->nr; j++)
			add_call(c, a[i], &a[i]->call[j]);
	}
	for (i = 0; i < c->m->wakeups; i++)
		add_wakeup(c, &c->m->wakeup[i]);
	for (i = 0; i < c->m->nr_pipe_ranges; i++) {
		if (c->m->pipe_range[i].ranges)
			add_pipe_range(c, &c->m->pipe_range[i]);
	}
	if (c->nr_events)
		qsort(c->event, c->nr_events, sizeof(*c->event), by_time);
}
