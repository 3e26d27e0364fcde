// SPDX-License-Identifier: GPL-2.0
/*
 * Requests as OpenTelemetry traces, in the JSON encoding of OTLP: a span of kind client
 * and one of kind server for each request, for the sides that were recorded. The
 * server's span is a child of the client's, and the downstream requests' spans are
 * children of the server's. By the encoding, identifiers are hexadecimal, 64-bit
 * numbers are strings and enumerations are numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "report.h"
#include "text.h"
#include "version.h"

/* enum SpanKind of opentelemetry/proto/trace/v1/trace.proto */
static const int kinds[] = { [ROLE_SERVER] = 2, [ROLE_CLIENT] = 3 };

/**
 * struct span - a request, as one side saw it
 * @number:	number of the request
 * @role:	side
 * @thread:	thread of the first call
 */
struct span {
	u64 number;
	enum role role;
	const struct thread *thread;
};

/**
 * struct otlp - state of the output
 * @out:	output
 * @m:		model
 * @list:	requests
 * @span:	spans
 * @nr:		number of spans
 * @seed:	seed of identifiers, so that those of two traces differ
 */
struct otlp {
	FILE *out;
	const struct model *m;
	const struct request *list;
	struct span *span;
	u64 nr;
	u64 seed;
};

/* Only zero, which is no valid identifier, gives zero: the lower bits are not zero */
static u64 identifier(const struct otlp *o, u64 number)
{
	return hash_mix(o->seed | (number + 1));
}

static u64 make_seed(const struct model *m)
{
	u64 seed = 0;
	u32 i;

	for (i = 0; i < m->hosts; i++)
		seed = hash_mix(seed ^ m->host[i].first) + m->host[i].calls;
	/* The lower bits are for the numbers of spans */
	return hash_mix(seed) << 40;
}

static u64 span_id(const struct otlp *o, u64 number, enum role role)
{
	return identifier(o, 2 * number + role);
}

static bool has_span(const struct otlp *o, const struct request *r,
		     enum role role)
{
	const struct view *p = &r->view[role];

	return r->marked && p->seen && view_over(p) >= p->begin &&
	       log_thread(o->m->log, p->host, p->pid);
}

/* ------------------------------------------------------------------------- */

static void put_string(const struct otlp *o, const char *key, const char *value,
		       const char *comma)
{
	fprintf(o->out, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":", comma,
		key);
	html_string(o->out, value);
	fputs("}}", o->out);
}

static void put_number(const struct otlp *o, const char *key, s64 value)
{
	fprintf(o->out, ",{\"key\":\"%s\",\"value\":{\"intValue\":\"%lld\"}}",
		key, value);
}

static void put_true(const struct otlp *o, const char *key)
{
	fprintf(o->out, ",{\"key\":\"%s\",\"value\":{\"boolValue\":true}}",
		key);
}

/* ADDRESS:PORT or [ADDRESS]:PORT, of @len characters */
static void put_address(const struct otlp *o, const char *who,
			const char *address, size_t len)
{
	char key[32], text[256];
	size_t host = len;

	while (host && address[host - 1] != ':')
		host--;
	if (!host)
		return;
	snprintf(key, sizeof(key), "%s.port", who);
	put_number(o, key, strtol(address + host, NULL, 10));
	host--;
	if (host > 1 && *address == '[' && address[host - 1] == ']') {
		address++;
		host -= 2;
	}
	snprintf(text, sizeof(text), "%.*s", (int)host, address);
	snprintf(key, sizeof(key), "%s.address", who);
	put_string(o, key, text, ",");
}

static void put_addresses(const struct otlp *o, const struct request *r)
{
	static const char *const who[] = { "client", "server" };
	const char *arrow = strstr(r->name, "->");

	if (r->local && *r->name)
		put_string(o, "server.address", r->name, ",");
	if (r->local || !arrow)
		return;
	put_address(o, who[r->named], r->name, arrow - r->name);
	put_address(o, who[!r->named], arrow + 2, strlen(arrow + 2));
}

static void put_attributes(const struct otlp *o, const struct span *s)
{
	const struct request *r = &o->list[s->number];
	const struct view *p = &r->view[s->role];

	put_string(o, "network.transport",
		   r->via_pipe ? "pipe" :
		   r->local    ? "unix" :
				 "tcp",
		   "");
	put_addresses(o, r);
	put_number(o, "thread.id", p->pid);
	put_number(o, "ioreq.monotonic", p->begin);
	put_number(o, "ioreq.sent", r->sent);
	put_number(o, "ioreq.received", r->received);
	if (!p->alone)
		put_true(o, "ioreq.several_threads");
	if (r->unclear)
		put_true(o, "ioreq.unclear");
	if (r->multiplexed)
		put_true(o, r->maybe_multiplexed ? "ioreq.maybe_multiplexed" :
						   "ioreq.multiplexed");
	if (r->ambiguous && s->role == ROLE_CLIENT)
		put_true(o, "ioreq.ambiguous_parent");
}

/* Return: the request at the root */
static const struct request *root_of(const struct request *r)
{
	while (r->parent)
		r = r->parent;
	return r;
}

static void put_ids(const struct otlp *o, const struct span *s)
{
	const struct request *r = &o->list[s->number];
	u64 root = root_of(r) - o->list, parent;

	fprintf(o->out,
		"{\"traceId\":\"%016llx%016llx\",\"spanId\":\"%016llx\"",
		identifier(o, root), hash_mix(~identifier(o, root)),
		span_id(o, s->number, s->role));
	if (s->role == ROLE_SERVER && has_span(o, r, ROLE_CLIENT))
		parent = span_id(o, s->number, ROLE_CLIENT);
	else if (s->role == ROLE_CLIENT && r->parent)
		parent = span_id(o, r->parent - o->list, ROLE_SERVER);
	else
		return;
	fprintf(o->out, ",\"parentSpanId\":\"%016llx\"", parent);
}

/* Code 2 is an error */
static void put_status(const struct otlp *o, const struct request *r)
{
	if (r->answered && !r->failure)
		return;
	fputs(",\"status\":{\"code\":2,\"message\":", o->out);
	html_string(o->out, r->failure ? r->failure : "unanswered");
	fputs("}", o->out);
}

static void put_span(const struct otlp *o, const struct span *s)
{
	const struct request *r = &o->list[s->number];
	const struct view *p = &r->view[s->role];
	char name[300];

	put_ids(o, s);
	/* The trace does not contain what was requested: the
	 * names of both ends must do
	 */
	fputs(",\"name\":", o->out);
	html_string(o->out, endpoint_text(name, sizeof(name), o->m,
					  r->endpoint[ROLE_SERVER]));
	fprintf(o->out,
		",\"kind\":%d,\"startTimeUnixNano\":\"%llu\",\"endTimeUnixNano\":\"%llu\",\"attributes\":[",
		kinds[s->role],
		o->m->epoch + axis_time(o->m, p->host, p->begin),
		o->m->epoch + axis_time(o->m, p->host, p->begin) +
			axis_span(o->m, p->host, p->begin, view_over(p)));
	put_attributes(o, s);
	fputs("]", o->out);
	put_status(o, r);
	fputs("}", o->out);
}

static void put_resource(const struct otlp *o, const struct thread *a,
			 bool first)
{
	fprintf(o->out, "%s\n{\"resource\":{\"attributes\":[",
		first ? "" : "]}]},");
	put_string(o, "service.name", a->comm, "");
	put_string(o, "host.name", o->m->host[a->host].name, ",");
	put_number(o, "process.pid", a->tgid);
	put_string(o, "ioreq.clocks", axis_description(o->m), ",");
	fputs("]},\"scopeSpans\":[{\"scope\":{\"name\":\"" PROGRAM
	      "\",\"version\":\"" TRACERIG_VERSION "\"},\"spans\":[\n",
	      o->out);
}

static void add_span(struct otlp *o, u64 number, enum role role, u64 *room)
{
	const struct view *p = &o->list[number].view[role];

	if (!has_span(o, &o->list[number], role))
		return;
	GROW(o->span, o->nr, *room);
	o->span[o->nr++] = (struct span){
		.number = number,
		.role = role,
		.thread = log_thread(o->m->log, p->host, p->pid),
	};
}

static int by_process(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	int order = ORDER(x->thread->process, y->thread->process);

	order = order ?: ORDER(x->number, y->number);
	return order ?: ORDER(x->role, y->role);
}

/**
 * ioreq_write_otlp - write requests for Jaeger and others
 * @out:	output
 * @m:		model, after model_link(), with a log and single requests
 * @top:	maximum number of requests, besides their downstream requests
 */
void ioreq_write_otlp(FILE *out, const struct model *m, u64 top)
{
	struct otlp o = { .out = out, .m = m, .seed = make_seed(m) };
	struct request *list;
	u64 nr, room = 0, i;
	int role;

	list = requests_list(m->requests, &nr);
	select_requests(m, list, nr, top);
	o.list = list;
	for (i = 0; i < nr; i++) {
		for (role = 0; role < 2; role++)
			add_span(&o, i, role, &room);
	}
	if (o.nr)
		qsort(o.span, o.nr, sizeof(*o.span), by_process);
	fputs("{\"resourceSpans\":[", out);
	for (i = 0; i < o.nr; i++) {
		const struct span *at = &o.span[i];

		if (!i || at->thread->process != at[-1].thread->process)
			put_resource(&o, at->thread, !i);
		else
			fputs(",\n", out);
		put_span(&o, at);
	}
	fputs(o.nr ? "\n]}]}\n]}\n" : "]}\n", out);
	free(o.span);
}
