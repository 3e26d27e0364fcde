// SPDX-License-Identifier: GPL-2.0
/* Reports of paths and critical paths. */
#include <json-c/json.h>
#include <string.h>

#include "report.h"
#include "text.h"

/* There are many single requests, and they look alike */
#define MAX_SLOWEST 20
#define TEXT_SLOWEST 3

/* Clocks that run at different rates do not show a time that is negative */
static const char *signed_time(char *buf, s64 ns)
{
	if (ns < 0)
		return "-";
	return format_value(buf, 24, ns, true);
}

static double percent(s64 view, u64 of)
{
	return of ? 100.0 * view / of : 0;
}

static const char *percent_text(char *buf, size_t size, s64 view, u64 of)
{
	if (view < 0)
		return "-  ";
	snprintf(buf, size, "%.1f %%", percent(view, of));
	return buf;
}

static void text_links(FILE *out, const struct paths *p)
{
	char roots[24], followed[24], ambiguous[24], outlived[24], time[32];

	fprintf(out, "\n%s request%s of clients, %s downstream request%s",
		format_count(roots, sizeof(roots), p->roots), plural(p->roots),
		format_count(followed, sizeof(followed), p->followed),
		plural(p->followed));
	if (p->outlived)
		fprintf(out, " (%s of them not waited for)",
			format_count(outlived, sizeof(outlived), p->outlived));
	if (p->ambiguous)
		fprintf(out,
			", %s ambiguous, with %s in rows of their own: their thread handled several requests, or calls were lost",
			format_count(ambiguous, sizeof(ambiguous),
				     p->ambiguous),
			format_value(time, sizeof(time), p->ambiguous_time,
				     true));
	fputc('\n', out);
	if (p->queued)
		fprintf(out,
			"  %s of the ambiguous ones are of threads whose requests seem to wait for one another, such as for a connection of a pool\n",
			format_count(ambiguous, sizeof(ambiguous), p->queued));
	if (p->multiplexed)
		fprintf(out,
			"  %s on multiplexed connections (HTTP/2, gRPC or pipelining), with %s in no row: requests cannot be separated\n",
			format_count(ambiguous, sizeof(ambiguous),
				     p->multiplexed),
			format_value(time, sizeof(time), p->multiplexed_time,
				     true));
	if (p->maybe_multiplexed)
		fprintf(out,
			"  %s on connections that may be multiplexed (HTTP/2, gRPC or pipelining): no parent is known\n",
			format_count(ambiguous, sizeof(ambiguous),
				     p->maybe_multiplexed));
	text_guessed(out, p->guessed);
	text_contradicted(out, p->contradicted);
}

/* Print steps of at least one percent */
static void text_step_times(FILE *out, const struct path *path)
{
	const char *comma = "";
	int i;

	for (i = 0; i < WAITS; i++) {
		if (path->step_time[i] * 100 < (s64)path->critical ||
		    !path->step_time[i])
			continue;
		fprintf(out, "%s%s %.0f %%", comma, step_texts[i],
			percent(path->step_time[i], path->critical));
		comma = ", ";
	}
	fputc('\n', out);
}

static void text_path(FILE *out, const struct model *m, const struct path *path)
{
	char client[300], server[300], name[640], count[24], sum[24], p99[24],
		of[24];

	if (path->parent)
		snprintf(name, sizeof(name), "%*s-> %s", 2 * (int)path->depth,
			 "",
			 server_text(server, sizeof(server), m, path->server));
	else
		snprintf(name, sizeof(name), "%s%s -> %s",
			 path->ambiguous ? "ambiguous: " : "",
			 endpoint_text(client, sizeof(client), m, path->client),
			 server_text(server, sizeof(server), m, path->server));
	fprintf(out, "%-44s %9s %10llu %9s %9s %9s  ", name,
		format_count(count, sizeof(count), path->requests),
		path->unanswered,
		format_value(sum, sizeof(sum), path->response_time.sum, true),
		format_value(p99, sizeof(p99), path->response_time.p99, true),
		signed_time(of, path->critical));
	text_step_times(out, path);
}

/* Call site of a stack, or "" if @stack is NULL */
static const char *code_text(char *buf, size_t size, const struct model *m,
			     const struct stack *stack, u32 frame, bool whole)
{
	const struct elffile_source *source;
	char name[4200], text[1400] = "";

	*buf = '\0';
	if (!stack)
		return buf;
	if (stacks_sources(m->stacks, stack, frame, &source))
		source_text(text, sizeof(text), source);
	frame_name(name, sizeof(name), &stack->frame[frame], whole);
	snprintf(buf, size, "%s%s%s", name, *text ? " " : "", text);
	return buf;
}

static void text_cause(FILE *out, const struct model *m, const struct paths *p,
		       const struct cause *c, int width)
{
	char server[300], count[24], time[25], share[24], code[5700];

	fprintf(out, "%9s %7s %9s  %-*s  %-21s %s\n",
		signed_time(time, c->time),
		percent_text(share, sizeof(share), c->time, p->waited),
		format_count(count, sizeof(count), c->requests), width,
		server_text(server, sizeof(server), m, c->server),
		step_texts[c->what], c->object);
	if (c->stack)
		fprintf(out, "%29s%.0f %% of it from %s\n", "",
			percent(c->code_time, c->time),
			code_text(code, sizeof(code), m, c->stack, c->frame,
				  false));
}

/* With a column for servers that is as wide as their names */
static void text_causes(FILE *out, const struct model *m, const struct paths *p,
			u64 top)
{
	char server[300];
	int width = strlen("where");
	u64 i;

	for (i = 0; i < p->causes && i < top; i++) {
		int length = strlen(server_text(server, sizeof(server), m,
						p->cause[i]->server));

		if (length > width)
			width = length;
	}
	fprintf(out, "\nwhat to fix first\n%9s %7s %9s  %-*s  %-21s %s\n",
		"time", "share", "requests", width, "where", "step", "object");
	for (i = 0; i < p->causes && i < top; i++)
		text_cause(out, m, p, p->cause[i], width);
}

/**
 * struct printer - output of the steps of a request
 * @out:		output
 * @m:			model
 * @array:		output in JSON
 * @response_time:	response time of the request
 */
struct printer {
	FILE *out;
	const struct model *m;
	struct json_object *array;
	u64 response_time;
};

/* Print steps of at least one percent */
static void text_path_step(const struct path_step *path_step, void *arg)
{
	const struct printer *p = arg;
	char time[25], server[300], object[4096];

	if (path_step->time * 100 < (s64)p->response_time)
		return;
	request_paths_object(object, sizeof(object), p->m, path_step);
	fprintf(p->out, "%*s%9s  %-24s  %-21s %s%s%s\n",
		2 + 2 * (int)path_step->depth, "",
		signed_time(time, path_step->time),
		server_text(server, sizeof(server), p->m,
			    path_step_place(path_step)),
		step_texts[path_step->what],
		path_step->call ? log_op(p->m->log, path_step->call) : "",
		*object ? " " : "", object);
}

static void text_slowest(FILE *out, const struct model *m,
			 const struct paths *p, u64 top)
{
	struct printer printer = { .out = out, .m = m };
	char response_time[24], client[300];
	u64 i;

	fputs("\nthe slowest requests, step by step\n", out);
	for (i = 0; i < p->roots && i < top && i < TEXT_SLOWEST; i++) {
		printer.response_time = request_response_time(p->root[i]);
		fprintf(out, "%s of %s\n",
			format_value(response_time, sizeof(response_time),
				     printer.response_time, true),
			endpoint_text(client, sizeof(client), m,
				      p->root[i]->endpoint[ROLE_CLIENT]));
		request_paths_walk(m, p, p->root[i], text_path_step, &printer);
	}
}

/**
 * text_paths - print paths, causes and the slowest requests as text
 * @out:	output
 * @m:		model, after model_link()
 * @p:		paths
 * @top:	maximum number of causes and of requests
 */
void text_paths(FILE *out, const struct model *m, const struct paths *p,
		u64 top)
{
	u64 i;

	text_links(out, p);
	if (!p->nr_paths)
		return;
	fprintf(out,
		"\npaths of requests, and steps of their critical paths\n%-44s %9s %10s %9s %9s %9s  %s\n",
		"path", "answered", "unanswered", "response", "p99", "critical",
		"steps");
	for (i = 0; i < p->nr_paths; i++) {
		if (p->path[i]->requests || p->path[i]->unanswered)
			text_path(out, m, p->path[i]);
	}
	if (!p->roots)
		return;
	text_causes(out, m, p, top);
	if (p->causes > top)
		fprintf(out, "... %llu more (--top)\n", p->causes - top);
	text_slowest(out, m, p, top);
}

/* The client is the object */
static void csv_ambiguous(FILE *out, const struct model *m,
			  const struct path *path)
{
	u64 requests = path->requests + path->unanswered;
	char client[300];

	csv_string(out, host_name(m, path->server));
	fputc(',', out);
	csv_string(out, path->server->name);
	fputs(",ambiguous,", out);
	csv_string(out, endpoint_text(client, sizeof(client), m, path->client));
	fprintf(out, ",%llu,%llu,%llu,,0,",
		path->response_time.sum + path->unanswered_time, requests,
		requests);
	csv_string(out, path->server->address);
	fputc('\n', out);
}

/**
 * csv_paths - print causes as CSV, and the time in ambiguous requests, which have none
 * @out:	output
 * @m:		model, after model_link()
 * @p:		paths
 * @top:	maximum number of causes
 */
void csv_paths(FILE *out, const struct model *m, const struct paths *p, u64 top)
{
	char code[5700];
	u64 i;

	fprintf(out,
		"host,process,step,object,time,pieces,requests,code,code_time,address\n");
	for (i = 0; i < p->causes && i < top; i++) {
		const struct cause *c = p->cause[i];

		csv_string(out, host_name(m, c->server));
		fputc(',', out);
		csv_string(out, c->server->name);
		fprintf(out, ",%s,", step_names[c->what]);
		csv_string(out, c->object);
		fprintf(out, ",%lld,%llu,%llu,", c->time, c->steps,
			c->requests);
		csv_string(out, code_text(code, sizeof(code), m, c->stack,
					  c->frame, true));
		fprintf(out, ",%lld,", c->code_time);
		csv_string(out, c->server->address);
		fputc('\n', out);
	}
	for (i = 0; i < p->nr_paths; i++) {
		if (p->path[i]->ambiguous && !p->path[i]->parent)
			csv_ambiguous(out, m, p->path[i]);
	}
}

static struct json_object *json_path(const struct model *m,
				     const struct path *path)
{
	struct json_object *o = json_object_new_object();
	struct json_object *step_time = json_object_new_object();
	int i;

	json_number(o, "depth", path->depth);
	json_boolean(o, "ambiguous", path->ambiguous);
	json_string(o, "client_host", host_name(m, path->client));
	json_string(o, "client", path->client->name);
	json_string(o, "server_host", host_name(m, path->server));
	json_string(o, "server", path->server->name);
	json_string(o, "server_address", path->server->address);
	json_number(o, "requests", path->requests);
	json_number(o, "unanswered", path->unanswered);
	json_number(o, "unanswered_time", path->unanswered_time);
	json_number(o, "wait", path->response_time.sum);
	json_number(o, "wait_p50", path->response_time.p50);
	json_number(o, "wait_p99", path->response_time.p99);
	json_number(o, "wait_max", path->response_time.max);
	json_number(o, "critical", path->critical);
	for (i = 0; i < WAITS; i++)
		json_signed(step_time, step_names[i], path->step_time[i]);
	json_object_object_add(o, "wait_for", step_time);
	return o;
}

static struct json_object *json_cause(const struct model *m,
				      const struct cause *c)
{
	struct json_object *o = json_object_new_object();
	char code[5700];

	json_string(o, "host", host_name(m, c->server));
	json_string(o, "process", c->server->name);
	json_string(o, "address", c->server->address);
	json_string(o, "step", step_names[c->what]);
	json_string(o, "object", c->object);
	json_signed(o, "time", c->time);
	json_number(o, "pieces", c->steps);
	json_number(o, "requests", c->requests);
	json_string(o, "code",
		    code_text(code, sizeof(code), m, c->stack, c->frame, true));
	json_signed(o, "code_time", c->code_time);
	return o;
}

static void json_path_step(const struct path_step *path_step, void *arg)
{
	const struct printer *p = arg;
	struct json_object *o = json_object_new_object();
	const struct endpoint *place = path_step_place(path_step);
	const struct view *view =
		&path_step->request->view[path_step_role(path_step)];
	const struct stack *stack = path_step_stack(p->m, path_step);
	char object[4096], code[5700];

	request_paths_object(object, sizeof(object), p->m, path_step);
	json_number(o, "depth", path_step->depth);
	if (view->seen)
		json_number(o, "thread", view->pid);
	json_string(o, "host", host_name(p->m, place));
	json_string(o, "process", place->name);
	json_string(o, "address", place->address);
	json_string(o, "step", step_names[path_step->what]);
	json_string(o, "text", step_texts[path_step->what]);
	json_string(o, "call",
		    path_step->call ? log_op(p->m->log, path_step->call) : "");
	json_string(o, "object", object);
	json_string(o, "code",
		    code_text(code, sizeof(code), p->m, stack,
			      stack ? stacks_caller(stack) : 0, true));
	json_signed(o, "time", path_step->time);
	json_object_array_add(p->array, o);
}

static struct json_object *
json_root(const struct model *m, const struct paths *p, const struct request *r)
{
	struct json_object *o = json_object_new_object();
	struct printer printer = { .m = m, .array = json_object_new_array() };
	const struct endpoint *client = r->endpoint[ROLE_CLIENT];

	json_string(o, "client_host", host_name(m, client));
	json_string(o, "client", client->name);
	json_number(o, "pid", r->view[r->named].pid);
	json_number(o, "begin", r->view[r->named].begin);
	json_number(o, "wait", request_response_time(r));
	request_paths_walk(m, p, r, json_path_step, &printer);
	json_object_object_add(o, "waited_for", printer.array);
	return o;
}

/**
 * json_paths - add paths, causes and the slowest requests
 * @o:		object to add to
 * @m:		model, after model_link()
 * @p:		paths
 * @top:	maximum number of causes and of requests
 */
void json_paths(struct json_object *o, const struct model *m,
		const struct paths *p, u64 top)
{
	struct json_object *links = json_object_new_object();
	struct json_object *paths = json_object_new_array();
	struct json_object *causes = json_object_new_array();
	struct json_object *slowest = json_object_new_array();
	u64 i;

	json_number(links, "clients", p->roots);
	json_number(links, "waited", p->waited);
	json_number(links, "followed", p->followed);
	json_number(links, "outlived", p->outlived);
	json_number(links, "contradicted", p->contradicted);
	json_number(links, "ambiguous", p->ambiguous);
	json_number(links, "ambiguous_time", p->ambiguous_time);
	json_number(links, "queued", p->queued);
	json_number(links, "multiplexed", p->multiplexed);
	json_number(links, "multiplexed_time", p->multiplexed_time);
	json_number(links, "maybe_multiplexed", p->maybe_multiplexed);
	json_number(links, "guessed", p->guessed);
	json_object_object_add(o, "links", links);
	for (i = 0; i < p->nr_paths; i++) {
		if (p->path[i]->requests || p->path[i]->unanswered)
			json_object_array_add(paths, json_path(m, p->path[i]));
	}
	json_object_object_add(o, "paths", paths);
	for (i = 0; i < p->causes && i < top; i++)
		json_object_array_add(causes, json_cause(m, p->cause[i]));
	json_object_object_add(o, "causes", causes);
	for (i = 0; i < p->roots && i < top && i < MAX_SLOWEST; i++)
		json_object_array_add(slowest, json_root(m, p, p->root[i]));
	json_object_object_add(o, "slowest", slowest);
}
