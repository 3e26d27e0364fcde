// SPDX-License-Identifier: GPL-2.0
/*
 * Chrome's trace event format, for ui.perfetto.dev: a process for each process of
 * each host, with a thread for each of its threads, in which its calls are slices,
 * and threads more for its requests. Slices of a thread must lie in one another or
 * apart: requests of a process that overlap are in threads of their own, and calls
 * that do, as only a damaged trace has them, are asynchronous events.
 *
 * Arrows lead from the call that sent a request to the one that got it, and from
 * the one that sent the answer to the one that got it; and from the client's
 * request to the server's.
 */
#include <stdlib.h>
#include <string.h>

#include "ioreq.h"
#include "text.h"
#include "version.h"

/* Numbers of threads that are none: above those of Linux */
#define FIRST_LANE 10000000

/**
 * struct slice - a request, as one side saw it
 * @request:	it
 * @role:	the side
 * @process:	number of its process
 * @at:		when it began, on the axis of the result, ns
 * @end:	when it ended
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
 * struct chrome - what is being written
 * @out:	where to
 * @s:		sums
 * @list:	requests; they are numbered by their places in it
 * @owners:	for which of them calls were made
 * @slice:	requests of all processes
 * @nr:		how many
 * @flows:	arrows so far
 */
struct chrome {
	FILE *out;
	const struct sums *s;
	const struct request *list;
	struct owners *owners;
	struct slice *slice;
	u64 nr;
	u64 flows;
};

/* Microseconds */
static void put_time(const struct chrome *c, const char *key, u64 ns)
{
	fprintf(c->out, ",\"%s\":%llu.%03llu", key, ns / 1000, ns % 1000);
}

/* Numbers of processes begin with 1: Perfetto has its own process 0 */
static void put_head(const struct chrome *c, const char *phase, u32 process,
		     s64 thread)
{
	fprintf(c->out, ",\n{\"ph\":\"%s\",\"pid\":%u,\"tid\":%lld", phase,
		process + 1, thread);
}

static void put_meta(const struct chrome *c, const char *what, u32 process,
		     s64 thread, const char *name)
{
	put_head(c, "M", process, thread);
	fprintf(c->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	html_string(c->out, name);
	fputs("}}", c->out);
}

static void put_order(const struct chrome *c, u32 process, s64 thread,
		      u32 order)
{
	put_head(c, "M", process, thread);
	fprintf(c->out,
		",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}}",
		order);
}

/* ------------------------------------------------------------------------- */
/* Calls */

/* A request's number, which is the same on both sides */
static void put_number(const struct chrome *c, const char *key,
		       const struct request *r)
{
	fprintf(c->out, ",\"%s\":", key);
	if (r == &owner_ambiguous)
		fputs("\"ambiguous\"", c->out);
	else
		fprintf(c->out, "%llu", (u64)(r - c->list) + 1);
}

static void put_call_args(const struct chrome *c, const struct actor *a,
			  const struct logged *call)
{
	const struct request *r = owners_get(c->owners, a, call - a->call);
	const struct object *o = log_object(c->s->log, call);
	char name[4096];

	object_name(name, sizeof(name), o->type, o->id, o->name);
	fputs(",\"args\":{\"object\":", c->out);
	html_string(c->out, name);
	fprintf(c->out, ",\"result\":%lld,\"bytes\":%llu,\"monotonic\":%llu",
		call->result, call->bytes, call->start);
	if (r)
		put_number(c, "request", r);
	fputs("}}", c->out);
}

static void put_call(const struct chrome *c, const struct actor *a,
		     const struct logged *call, u64 at, u64 span)
{
	put_head(c, "X", a->process, a->pid);
	put_time(c, "ts", at);
	put_time(c, "dur", span);
	fputs(",\"cat\":\"call\",\"name\":", c->out);
	html_string(c->out, log_op(c->s->log, call));
	put_call_args(c, a, call);
}

/* Within another one, which cannot be */
static void put_async(const struct chrome *c, const struct actor *a,
		      const struct logged *call, u64 at, u64 span, u64 number)
{
	const char *const phases[] = { "b", "e" };
	int i;

	for (i = 0; i < 2; i++) {
		put_head(c, phases[i], a->process, a->pid);
		put_time(c, "ts", i ? at + span : at);
		fprintf(c->out,
			",\"cat\":\"overlapping\",\"id\":\"%u.%d.%llu\",\"name\":",
			a->host, a->pid, number);
		html_string(c->out, log_op(c->s->log, call));
		if (i)
			fputc('}', c->out);
		else
			put_call_args(c, a, call);
	}
}

static void put_calls(const struct chrome *c, struct actor *a)
{
	u64 end = 0, i;

	for (i = 0; i < a->nr; i++) {
		struct logged *call = &a->call[i];
		u64 at = list_time(c->s, a->host, call->start), span;

		if (!call->marked)
			continue;
		span = list_span(c->s, a->host, call->start,
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

static void put_names(const struct chrome *c, const struct actor *a,
		      bool process)
{
	char name[512];

	if (process) {
		if (c->s->hosts > 1)
			snprintf(name, sizeof(name), "%s: %s-%d",
				 c->s->host[a->host].name, a->comm, a->tgid);
		else
			snprintf(name, sizeof(name), "%s-%d", a->comm, a->tgid);
		/* Its number is another one here: it may be on several hosts */
		put_meta(c, "process_name", a->process, 0, name);
	}
	snprintf(name, sizeof(name), "thread %d", a->pid);
	put_meta(c, "thread_name", a->process, a->pid, name);
	put_order(c, a->process, a->pid, FIRST_LANE);
}

static void put_threads(const struct chrome *c)
{
	u32 actors, i;
	struct actor *const *a = log_actors(c->s->log, &actors);
	bool *named = allocate((actors + 1) * sizeof(*named));

	for (i = 0; i < actors; i++) {
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

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->role != y->role)
		return x->role < y->role ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	/* The longer one is the outer one */
	return (x->end < y->end) - (x->end > y->end);
}

/* The first lane of the process whose last slice has ended */
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
			end = grow(end, nr, &room, sizeof(*end));
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
	const struct part *p = &r->part[role];
	const struct actor *a =
		p->seen ? log_actor(c->s->log, p->host, p->pid) : NULL;
	struct slice *last;

	if (!a || !r->marked || p->over < p->begin)
		return;
	c->slice = grow(c->slice, c->nr, room, sizeof(*c->slice));
	c->slice[c->nr++] = (struct slice){
		.request = r,
		.role = role,
		.process = a->process,
		.at = list_time(c->s, p->host, p->begin),
	};
	last = &c->slice[c->nr - 1];
	last->end = last->at + list_span(c->s, p->host, p->begin, p->over);
}

static void put_request_args(const struct chrome *c, const struct slice *s)
{
	const struct request *r = s->request;

	fputs(",\"args\":{\"addresses\":", c->out);
	html_string(c->out, r->name);
	fprintf(c->out, ",\"sent\":%llu,\"received\":%llu,\"unclear\":%s",
		r->sent, r->received, r->unclear ? "true" : "false");
	fprintf(c->out, ",\"monotonic\":%llu", r->part[s->role].begin);
	put_number(c, "request", r);
	if (r->ambiguous)
		put_number(c, "asked for", &owner_ambiguous);
	else if (r->parent)
		put_number(c, "asked for", r->parent);
	fputs("}}", c->out);
}

static void put_slice(const struct chrome *c, const struct slice *s, bool first)
{
	const struct request *r = s->request;
	char party[300], name[320];

	if (first)
		put_meta(c, "thread_name", s->process, s->lane,
			 s->role == ROLE_CLIENT ? "asks" : "answers");
	if (first)
		put_order(c, s->process, s->lane, s->lane - FIRST_LANE);
	party_text(party, sizeof(party), c->s, r->party[!s->role]);
	snprintf(name, sizeof(name), "%s %s",
		 s->role == ROLE_CLIENT ? "to" : "from", party);
	put_head(c, "X", s->process, s->lane);
	put_time(c, "ts", s->at);
	put_time(c, "dur", s->end - s->at);
	fputs(",\"cat\":\"request\",\"name\":", c->out);
	html_string(c->out, name);
	put_request_args(c, s);
}

/* An arrow from within a slice to within another one */
static void put_arrow(struct chrome *c, const char *name, const u32 process[2],
		      const s64 thread[2], const u64 at[2])
{
	int i;

	c->flows++;
	for (i = 0; i < 2; i++) {
		put_head(c, i ? "f" : "s", process[i], thread[i]);
		put_time(c, "ts", at[i]);
		fprintf(c->out,
			",\"cat\":\"message\",\"name\":\"%s\",\"id\":%llu%s}",
			name, c->flows, i ? ",\"bp\":\"e\"" : "");
	}
}

/**
 * struct call_at - a call that began or ended at a time
 * @actor:	whose; NULL if there is none
 * @call:	it
 */
struct call_at {
	const struct actor *actor;
	const struct logged *call;
};

static struct call_at find_call(const struct chrome *c, u32 host, s32 pid,
				u64 time, bool begins)
{
	struct call_at found = { .actor = log_actor(c->s->log, host, pid) };
	u64 i;

	if (!found.actor)
		return found;
	for (i = log_after(found.actor, time); i < found.actor->nr; i++) {
		found.call = &found.actor->call[i];
		if (begins ? found.call->start == time :
			     found.call->start + found.call->duration == time)
			return found;
		if (found.call->start > time)
			break;
	}
	found.actor = NULL;
	return found;
}

/* Within a slice: a moment before its end belongs to it, its end may not */
static u64 call_time(const struct chrome *c, const struct call_at *a, bool end)
{
	u64 at = list_time(c->s, a->actor->host, a->call->start);

	u64 span = list_span(c->s, a->actor->host, a->call->start,
			     a->call->start + a->call->duration);

	return end && span ? at + span - 1 : at;
}

static void put_message(struct chrome *c, const char *name,
			const struct call_at *from, const struct call_at *to)
{
	u32 process[2];
	s64 thread[2];
	u64 at[2];

	if (!from->actor || !to->actor || !from->call->marked ||
	    !to->call->marked)
		return;
	process[0] = from->actor->process;
	process[1] = to->actor->process;
	thread[0] = from->actor->pid;
	thread[1] = to->actor->pid;
	at[0] = call_time(c, from, false);
	at[1] = call_time(c, to, true);
	put_arrow(c, name, process, thread, at);
}

static void put_messages(struct chrome *c, const struct request *r)
{
	const struct part *client = &r->part[ROLE_CLIENT];
	const struct part *server = &r->part[ROLE_SERVER];
	struct call_at from, to;

	from = find_call(c, client->host, client->pid, client->begin, true);
	to = find_call(c, server->host, server->pid, server->begin, false);
	put_message(c, "request", &from, &to);
	from = find_call(c, server->host, server->last_pid, server->over,
			 false);
	to = find_call(c, client->host, client->last_pid, client->over, false);
	put_message(c, "answer", &from, &to);
}

static int by_request(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	if (x->request != y->request)
		return x->request < y->request ? -1 : 1;
	return (x->role > y->role) - (x->role < y->role);
}

/* The two sides of a request stand one behind the other now */
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
 * report_chrome - write calls and requests for Perfetto
 * @out: where to
 * @s: after sums_finish(), with a log and single requests
 * @top: so many requests, what was asked for them, and calls in them; UINT64_MAX: all
 *	requests and calls
 */
void report_chrome(FILE *out, const struct sums *s, u64 top)
{
	struct chrome c = { .out = out, .s = s };
	struct request *r;
	u64 nr;

	r = requests_list(s->requests, &nr);
	list_mark(s, r, nr, top);
	c.list = r;
	c.owners = owners_new(s, r, nr);
	fprintf(out,
		"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tool\":\"" PROGRAM
		" " TRACERIG_VERSION
		"\",\"clocks\":\"%s\"},\"traceEvents\":[\n",
		list_clocks(s));
	fputs("{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":0,\"tid\":0,"
	      "\"args\":{\"labels\":\"" PROGRAM "\"}}",
	      out);
	put_threads(&c);
	put_requests(&c, r, nr);
	fputs("\n]}\n", out);
	owners_free(c.owners);
}
