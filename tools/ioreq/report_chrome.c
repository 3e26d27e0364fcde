// SPDX-License-Identifier: GPL-2.0
/*
 * Chrome's trace event format, for ui.perfetto.dev: a process for each process of each
 * host, with a thread for each of its threads, in which its calls are slices, and more
 * threads for its requests. Slices of a thread must be nested or disjoint: requests of
 * a process that overlap get threads of their own, and calls that overlap, as only in a
 * damaged trace, are asynchronous events.
 *
 * Arrows lead from the call that sent a request to the one that received it, from the
 * one that sent the response to the one that received it, and from the client's request
 * to the server's.
 */
#include <stdlib.h>
#include <string.h>

#include "chrome.h"
#include "order.h"
#include "report.h"

/* Numbers of threads for requests: above those of Linux */
#define FIRST_LANE 10000000

/**
 * struct slice - a request, as one side saw it
 * @request:	request
 * @role:	side
 * @process:	number of its process
 * @at:		begin, on the axis of the result, ns
 * @end:	end
 * @lane:	number of the thread in which it is drawn
 */
struct slice {
	const struct request *request;
	enum role role;
	u32 process;
	u64 at;
	u64 end;
	u32 lane;
};

/**
 * struct chrome - state of the output
 * @file:	output
 * @m:		model
 * @list:	requests, numbered by their index
 * @owners:	which of them each call was made for
 * @slice:	requests of all processes
 * @nr:		number of slices
 * @flows:	number of arrows so far
 */
struct chrome {
	struct chrome_file file;
	const struct model *m;
	const struct request *list;
	struct owners *owners;
	struct slice *slice;
	u64 nr;
	u64 flows;
};

/* Numbers of processes begin with 1: Perfetto has its own process 0 */
static void put_event(struct chrome *c, char phase, u32 process, s64 thread,
		      const char *name)
{
	chrome_event(&c->file, phase, process + 1, thread, name);
}

static void put_name(struct chrome *c, const char *what, u32 process,
		     s64 thread, const char *name)
{
	chrome_name(&c->file, what, process + 1, thread, name);
}

static void put_order(struct chrome *c, u32 process, s64 thread, u32 order)
{
	put_event(c, 'M', process, thread, "thread_sort_index");
	chrome_arg(&c->file, "sort_index", "%u", order);
	chrome_end(&c->file);
}

/* ------------------------------------------------------------------------- */
/* Calls */

/* The number of a request, the same on both sides */
static void put_number(struct chrome *c, const char *key,
		       const struct request *r)
{
	if (r == &owner_ambiguous)
		chrome_arg_text(&c->file, key, "ambiguous");
	else
		chrome_arg(&c->file, key, "%llu", (u64)(r - c->list) + 1);
}

static void put_call_args(struct chrome *c, const struct thread *a,
			  const struct call *call)
{
	const struct request *r = owners_get(c->owners, a, call - a->call);
	const struct object *o = log_object(c->m->log, call);
	char name[4096];

	object_name(name, sizeof(name), o->type, o->id, o->name);
	chrome_arg_text(&c->file, "object", name);
	chrome_arg(&c->file, "result", "%lld", call->result);
	chrome_arg(&c->file, "bytes", "%llu", call->bytes);
	chrome_arg(&c->file, "monotonic", "%llu", call->start);
	if (r)
		put_number(c, "request", r);
	chrome_end(&c->file);
}

static void put_call(struct chrome *c, const struct thread *a,
		     const struct call *call, u64 at, u64 span)
{
	chrome_slice(&c->file, a->process + 1, a->pid, log_op(c->m->log, call),
		     at, span);
	fputs(",\"cat\":\"call\"", c->file.out);
	put_call_args(c, a, call);
}

/* For a call within another one, which a slice cannot show */
static void put_async(struct chrome *c, const struct thread *a,
		      const struct call *call, u64 at, u64 span, u64 number)
{
	int i;

	for (i = 0; i < 2; i++) {
		put_event(c, i ? 'e' : 'b', a->process, a->pid,
			  log_op(c->m->log, call));
		chrome_time(&c->file, "ts", i ? at + span : at);
		fprintf(c->file.out,
			",\"cat\":\"overlapping\",\"id\":\"%u.%d.%llu\"",
			a->host, a->pid, number);
		if (i)
			chrome_end(&c->file);
		else
			put_call_args(c, a, call);
	}
}

static void put_calls(struct chrome *c, struct thread *a)
{
	u64 end = 0, i;

	for (i = 0; i < a->nr; i++) {
		struct call *call = &a->call[i];
		u64 at = axis_time(c->m, a->host, call->start), span;

		if (!call->marked)
			continue;
		span = axis_span(c->m, a->host, call->start,
				 call->start + call->duration);
		if (at < end) {
			put_async(c, a, call, at, span, i);
			call->marked = false; /* arrows need slices */
			continue;
		}
		put_call(c, a, call, at, span);
		end = at + span;
	}
}

static void put_names(struct chrome *c, const struct thread *a, bool process)
{
	char name[512];

	if (process) {
		if (c->m->hosts > 1)
			snprintf(name, sizeof(name), "%s: %s-%d",
				 c->m->host[a->host].name, a->comm, a->tgid);
		else
			snprintf(name, sizeof(name), "%s-%d", a->comm, a->tgid);
		/* Not the process's own number, which may exist on several hosts */
		put_name(c, "process_name", a->process, 0, name);
	}
	snprintf(name, sizeof(name), "thread %d", a->pid);
	put_name(c, "thread_name", a->process, a->pid, name);
	put_order(c, a->process, a->pid, FIRST_LANE);
}

static void put_threads(struct chrome *c)
{
	u32 threads, i;
	struct thread *const *a = log_threads(c->m->log, &threads);
	bool *named = xzalloc((threads + 1) * sizeof(*named));

	for (i = 0; i < threads; i++) {
		put_names(c, a[i], !named[a[i]->process]);
		named[a[i]->process] = true;
		put_calls(c, a[i]);
	}
	free(named);
}

/* ------------------------------------------------------------------------- */
/* Requests */

static int by_begin(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	int order = ORDER(x->process, y->process);

	order = order ?: ORDER(x->role, y->role);
	order = order ?: ORDER(x->at, y->at);
	/* The longer one is the outer one */
	return order ?: ORDER(y->end, x->end);
}

/* Use the first lane of the process whose last slice has ended */
static void find_lanes(struct chrome *c)
{
	u64 room = 0, nr = 0, *end = NULL, i, j, lane = FIRST_LANE;

	for (i = 0; i < c->nr; i++) {
		struct slice *s = &c->slice[i];

		if (i &&
		    (s->process != s[-1].process || s->role != s[-1].role)) {
			lane = s->process == s[-1].process ? lane + nr :
							     FIRST_LANE;
			nr = 0;
		}
		for (j = 0; j < nr && end[j] > s->at; j++)
			;
		if (j == nr) {
			GROW(end, nr, room);
			nr++;
		}
		end[j] = s->end;
		s->lane = lane + j;
	}
	free(end);
}

static void add_slice(struct chrome *c, const struct request *r, enum role role,
		      u64 *room)
{
	const struct view *p = &r->view[role];
	const struct thread *a =
		p->seen ? log_thread(c->m->log, p->host, p->pid) : NULL;
	struct slice *last;

	if (!a || !r->marked || view_over(p) < p->begin)
		return;
	GROW(c->slice, c->nr, *room);
	c->slice[c->nr++] = (struct slice){
		.request = r,
		.role = role,
		.process = a->process,
		.at = axis_time(c->m, p->host, p->begin),
	};
	last = &c->slice[c->nr - 1];
	last->end = last->at + axis_span(c->m, p->host, p->begin, view_over(p));
}

static void put_request_args(struct chrome *c, const struct slice *s)
{
	const struct request *r = s->request;

	chrome_arg_text(&c->file, "addresses", r->name);
	chrome_arg(&c->file, "sent", "%llu", r->sent);
	chrome_arg(&c->file, "received", "%llu", r->received);
	chrome_arg(&c->file, "unclear", "%s", r->unclear ? "true" : "false");
	if (r->multiplexed)
		chrome_arg_text(&c->file, "multiplexed",
				r->maybe_multiplexed ? "maybe" : "yes");
	if (!r->answered || r->failure)
		chrome_arg_text(&c->file, "failure",
				r->failure ? r->failure : "unanswered");
	chrome_arg(&c->file, "monotonic", "%llu", r->view[s->role].begin);
	put_number(c, "request", r);
	if (r->ambiguous)
		put_number(c, "asked for", &owner_ambiguous);
	else if (r->parent)
		put_number(c, "asked for", r->parent);
	chrome_end(&c->file);
}

static void put_slice(struct chrome *c, const struct slice *s, bool first)
{
	const struct request *r = s->request;
	char endpoint[300], name[320];

	if (first)
		put_name(c, "thread_name", s->process, s->lane,
			 s->role == ROLE_CLIENT ? "asks" : "answers");
	if (first)
		put_order(c, s->process, s->lane, s->lane - FIRST_LANE);
	endpoint_text(endpoint, sizeof(endpoint), c->m, r->endpoint[!s->role]);
	snprintf(name, sizeof(name), "%s %s",
		 s->role == ROLE_CLIENT ? "to" : "from", endpoint);
	chrome_slice(&c->file, s->process + 1, s->lane, name, s->at,
		     s->end - s->at);
	fputs(",\"cat\":\"request\"", c->file.out);
	put_request_args(c, s);
}

/* An arrow between two slices */
static void put_arrow(struct chrome *c, const char *name, const u32 process[2],
		      const s64 thread[2], const u64 at[2])
{
	int i;

	c->flows++;
	for (i = 0; i < 2; i++) {
		put_event(c, i ? 'f' : 's', process[i], thread[i], name);
		chrome_time(&c->file, "ts", at[i]);
		fprintf(c->file.out, ",\"cat\":\"message\",\"id\":%llu%s",
			c->flows, i ? ",\"bp\":\"e\"" : "");
		chrome_end(&c->file);
	}
}

/**
 * struct call_at - a call that began or ended at a time
 * @thread:	thread of the call; NULL if there is none
 * @call:	call
 */
struct call_at {
	const struct thread *thread;
	const struct call *call;
};

static struct call_at find_call(const struct chrome *c, u32 host, s32 pid,
				u64 time, bool begins)
{
	struct call_at found = { .thread = log_thread(c->m->log, host, pid) };
	u64 i;

	if (!found.thread)
		return found;
	for (i = log_after(found.thread, time); i < found.thread->nr; i++) {
		found.call = &found.thread->call[i];
		if (begins ? found.call->start == time :
			     found.call->start + found.call->duration == time)
			return found;
		if (found.call->start > time)
			break;
	}
	found.thread = NULL;
	return found;
}

/* A time within the slice: the end itself may not belong to it */
static u64 call_time(const struct chrome *c, const struct call_at *a, bool end)
{
	u64 at = axis_time(c->m, a->thread->host, a->call->start);

	u64 span = axis_span(c->m, a->thread->host, a->call->start,
			     a->call->start + a->call->duration);

	return end && span ? at + span - 1 : at;
}

static void put_message(struct chrome *c, const char *name,
			const struct call_at *from, const struct call_at *to)
{
	u32 process[2];
	s64 thread[2];
	u64 at[2];

	if (!from->thread || !to->thread || !from->call->marked ||
	    !to->call->marked)
		return;
	process[0] = from->thread->process;
	process[1] = to->thread->process;
	thread[0] = from->thread->pid;
	thread[1] = to->thread->pid;
	at[0] = call_time(c, from, false);
	at[1] = call_time(c, to, true);
	put_arrow(c, name, process, thread, at);
}

static void put_messages(struct chrome *c, const struct request *r)
{
	const struct view *client = &r->view[ROLE_CLIENT];
	const struct view *server = &r->view[ROLE_SERVER];
	struct call_at from, to;

	from = find_call(c, client->host, client->pid, client->begin, true);
	to = find_call(c, server->host, server->pid, server->begin, false);
	put_message(c, "request", &from, &to);
	from = find_call(c, server->host, server->last_pid, server->over,
			 false);
	to = find_call(c, client->host, client->last_pid, client->over, false);
	put_message(c, "response", &from, &to);
}

static int by_request(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	return ORDER(x->request, y->request) ?: ORDER(x->role, y->role);
}

/* Sorted so that the two sides of a request are adjacent */
static void put_arrows(struct chrome *c)
{
	u64 i;

	qsort(c->slice, c->nr, sizeof(*c->slice), by_request);
	for (i = 1; i < c->nr; i++) {
		const struct slice *x = &c->slice[i - 1], *y = x + 1;
		u32 process[] = { x->process, y->process };
		s64 thread[] = { x->lane, y->lane };
		u64 at[] = { x->at, y->at };

		if (x->request != y->request)
			continue;
		put_arrow(c, "asked", process, thread, at);
		put_messages(c, x->request);
	}
}

static void put_requests(struct chrome *c, const struct request *r, u64 nr)
{
	u64 room = 0, lanes = 0, i;
	int role;

	for (i = 0; i < nr; i++) {
		for (role = 0; role < 2; role++)
			add_slice(c, &r[i], role, &room);
	}
	if (!c->nr)
		return;
	qsort(c->slice, c->nr, sizeof(*c->slice), by_begin);
	find_lanes(c);
	for (i = 0; i < c->nr; i++) {
		const struct slice *s = &c->slice[i];

		if (!i || s->process != s[-1].process)
			lanes = FIRST_LANE;
		put_slice(c, s, s->lane == lanes);
		lanes += s->lane == lanes;
	}
	put_arrows(c);
	free(c->slice);
}

/**
 * ioreq_write_chrome - write calls and requests for Perfetto
 * @out:	output
 * @m:		model, after model_link(), with a log and single requests
 * @top:	maximum number of requests, besides their downstream requests and their
 *		calls; UINT64_MAX: all requests and all calls
 */
void ioreq_write_chrome(FILE *out, const struct model *m, u64 top)
{
	struct chrome c = { .m = m };
	struct request *r;
	u64 nr;

	r = requests_list(m->requests, &nr);
	select_requests(m, r, nr, top);
	c.list = r;
	c.owners = owners_new(m, r, nr);
	chrome_open(&c.file, out, PROGRAM, axis_description(m));
	chrome_event(&c.file, 'M', 0, 0, "process_labels");
	chrome_arg_text(&c.file, "labels", PROGRAM);
	chrome_end(&c.file);
	put_threads(&c);
	put_requests(&c, r, nr);
	chrome_close(&c.file);
	owners_free(c.owners);
}
