// SPDX-License-Identifier: GPL-2.0
/* What ioreq prints of where requests went. */
#include <json-c/json.h>

#include "ioreq.h"
#include "text.h"

/* Single requests are many, and all look alike */
#define MAX_SLOWEST 20
#define TEXT_SLOWEST 3

static const char *signed_time(char *buf, s64 ns)
{
	*buf = '-';
	format_value(buf + (ns < 0), 24, ns < 0 ? -(u64)ns : (u64)ns, true);
	return buf;
}

static double percent(s64 part, u64 of)
{
	return of ? 100.0 * part / of : 0;
}

static void text_links(FILE *out, const struct paths *p)
{
	char roots[24], followed[24], ambiguous[24], outlived[24];

	fprintf(out, "\n%s requests of clients, %s made for these",
		format_count(roots, sizeof(roots), p->roots),
		format_count(followed, sizeof(followed), p->followed));
	if (p->outlived)
		fprintf(out, " (%s of them not waited for)",
			format_count(outlived, sizeof(outlived), p->outlived));
	if (p->ambiguous)
		fprintf(out,
			", %s ambiguous: their thread had several to answer, or calls were lost",
			format_count(ambiguous, sizeof(ambiguous),
				     p->ambiguous));
	fputc('\n', out);
}

/* Of a percent at least */
static void text_wait_for(FILE *out, const struct path *path)
{
	const char *comma = "";
	int i;

	for (i = 0; i < WAITS; i++) {
		if (path->wait_for[i] * 100 < (s64)path->critical ||
		    !path->wait_for[i])
			continue;
		fprintf(out, "%s%s %.0f %%", comma, step_names[i],
			percent(path->wait_for[i], path->critical));
		comma = ", ";
	}
	fputc('\n', out);
}

static void text_path(FILE *out, const struct sums *s, const struct path *path)
{
	char client[300], server[300], name[640], count[24], sum[24], p99[24],
		of[24];

	if (path->parent)
		snprintf(name, sizeof(name), "%*s-> %s", 2 * (int)path->depth,
			 "",
			 party_text(server, sizeof(server), s, path->server));
	else
		snprintf(name, sizeof(name), "%s -> %s",
			 party_text(client, sizeof(client), s, path->client),
			 party_text(server, sizeof(server), s, path->server));
	fprintf(out, "%-44s %9s %9s %9s %9s  ", name,
		format_count(count, sizeof(count), path->requests),
		format_value(sum, sizeof(sum), path->wait.sum, true),
		format_value(p99, sizeof(p99), path->wait.p99, true),
		signed_time(of, path->critical));
	text_wait_for(out, path);
}

/* Where in the program it was called from, as far as that is known; else "" */
static const char *code_text(char *buf, size_t size, const struct sums *s,
			     const struct cause *c, bool whole)
{
	char name[4200], text[1400];
	struct place place;

	*buf = '\0';
	if (!c->stack)
		return buf;
	stacks_place(s->stacks, c->stack, c->frame, &place);
	frame_name(name, sizeof(name), &c->stack->frame[c->frame], whole);
	place_text(text, sizeof(text), &place);
	snprintf(buf, size, "%s%s%s", name, *text ? " " : "", text);
	return buf;
}

static void text_cause(FILE *out, const struct sums *s, const struct paths *p,
		       const struct cause *c)
{
	char server[300], count[24], time[25], code[5700];

	fprintf(out, "%9s %5.1f %% %9s  %-24s %-8s %s\n",
		signed_time(time, c->time), percent(c->time, p->waited),
		format_count(count, sizeof(count), c->requests),
		party_text(server, sizeof(server), s, c->server),
		step_names[c->what], c->object);
	if (c->stack)
		fprintf(out, "%29s%.0f %% of it from %s\n", "",
			percent(c->code_time, c->time),
			code_text(code, sizeof(code), s, c, false));
}

/**
 * struct printer - who prints the pieces of a request
 * @out:	where to
 * @s:		sums
 * @array:	where to, in JSON
 * @wait:	of the request
 */
struct printer {
	FILE *out;
	const struct sums *s;
	struct json_object *array;
	u64 wait;
};

/* Those of a percent at least */
static void text_piece(const struct piece *piece, void *arg)
{
	const struct printer *p = arg;
	char time[25], server[300], object[4096];

	if (piece->time * 100 < (s64)p->wait)
		return;
	paths_object(object, sizeof(object), p->s, piece);
	fprintf(p->out, "%*s%9s  %-24s %-8s %s%s%s\n",
		2 + 2 * (int)piece->depth, "", signed_time(time, piece->time),
		party_text(server, sizeof(server), p->s,
			   piece->request->party[ROLE_SERVER]),
		step_names[piece->what],
		piece->call ? log_op(p->s->log, piece->call) : "",
		*object ? " " : "", object);
}

static void text_slowest(FILE *out, const struct sums *s, const struct paths *p,
			 u64 top)
{
	struct printer printer = { .out = out, .s = s };
	char wait[24], client[300];
	u64 i;

	fputs("\nthe slowest requests, what they waited for\n", out);
	for (i = 0; i < p->roots && i < top && i < TEXT_SLOWEST; i++) {
		printer.wait = paths_wait(p->root[i]);
		fprintf(out, "%s of %s\n",
			format_value(wait, sizeof(wait), printer.wait, true),
			party_text(client, sizeof(client), s,
				   p->root[i]->party[ROLE_CLIENT]));
		paths_walk(s, p, p->root[i], text_piece, &printer);
	}
}

/**
 * text_paths - where requests went, for people
 * @out: where to
 * @s: after sums_finish()
 * @p: after paths_new()
 * @top: so many causes and requests, at most
 */
void text_paths(FILE *out, const struct sums *s, const struct paths *p, u64 top)
{
	u64 i;

	text_links(out, p);
	if (!p->roots)
		return;
	fprintf(out,
		"\nwhere requests went, and what their clients waited for there\n%-44s %9s %9s %9s %9s  %s\n",
		"path", "answered", "waited", "p99", "critical", "of it");
	for (i = 0; i < p->nr_paths; i++) {
		if (p->path[i]->requests)
			text_path(out, s, p->path[i]);
	}
	fprintf(out, "\nwhat to fix first\n%9s %7s %9s  %-24s %-8s %s\n",
		"time", "share", "requests", "where", "step", "object");
	for (i = 0; i < p->causes && i < top; i++)
		text_cause(out, s, p, p->cause[i]);
	if (p->causes > top)
		fprintf(out, "... %llu more (--top)\n", p->causes - top);
	text_slowest(out, s, p, top);
}

/**
 * csv_paths - what clients waited for
 * @out: where to
 * @s: after sums_finish()
 * @p: after paths_new()
 * @top: so many, at most
 */
void csv_paths(FILE *out, const struct sums *s, const struct paths *p, u64 top)
{
	char code[5700];
	u64 i;

	fprintf(out,
		"host,process,step,object,time,pieces,requests,code,code_time\n");
	for (i = 0; i < p->causes && i < top; i++) {
		const struct cause *c = p->cause[i];

		csv_string(out, host_name(s, c->server));
		fputc(',', out);
		csv_string(out, c->server->name);
		fprintf(out, ",%s,", step_names[c->what]);
		csv_string(out, c->object);
		fprintf(out, ",%lld,%llu,%llu,", c->time, c->pieces,
			c->requests);
		csv_string(out, code_text(code, sizeof(code), s, c, true));
		fprintf(out, ",%lld\n", c->code_time);
	}
}

static struct json_object *json_path(const struct sums *s,
				     const struct path *path)
{
	struct json_object *o = json_object_new_object();
	struct json_object *wait_for = json_object_new_object();
	int i;

	json_number(o, "depth", path->depth);
	json_string(o, "client_host", host_name(s, path->client));
	json_string(o, "client", path->client->name);
	json_string(o, "server_host", host_name(s, path->server));
	json_string(o, "server", path->server->name);
	json_number(o, "requests", path->requests);
	json_number(o, "wait", path->wait.sum);
	json_number(o, "wait_p50", path->wait.p50);
	json_number(o, "wait_p99", path->wait.p99);
	json_number(o, "wait_max", path->wait.max);
	json_number(o, "critical", path->critical);
	for (i = 0; i < WAITS; i++)
		json_object_object_add(
			wait_for, step_names[i],
			json_object_new_int64(path->wait_for[i]));
	json_object_object_add(o, "wait_for", wait_for);
	return o;
}

static struct json_object *json_cause(const struct sums *s,
				      const struct cause *c)
{
	struct json_object *o = json_object_new_object();
	char code[5700];

	json_string(o, "host", host_name(s, c->server));
	json_string(o, "process", c->server->name);
	json_string(o, "step", step_names[c->what]);
	json_string(o, "object", c->object);
	json_object_object_add(o, "time", json_object_new_int64(c->time));
	json_number(o, "pieces", c->pieces);
	json_number(o, "requests", c->requests);
	json_string(o, "code", code_text(code, sizeof(code), s, c, true));
	json_object_object_add(o, "code_time",
			       json_object_new_int64(c->code_time));
	return o;
}

static void json_piece(const struct piece *piece, void *arg)
{
	const struct printer *p = arg;
	struct json_object *o = json_object_new_object();
	const struct party *server = piece->request->party[ROLE_SERVER];
	char object[4096];

	paths_object(object, sizeof(object), p->s, piece);
	json_number(o, "depth", piece->depth);
	json_string(o, "host", host_name(p->s, server));
	json_string(o, "process", server->name);
	json_string(o, "step", step_names[piece->what]);
	json_string(o, "call",
		    piece->call ? log_op(p->s->log, piece->call) : "");
	json_string(o, "object", object);
	json_object_object_add(o, "time", json_object_new_int64(piece->time));
	json_object_array_add(p->array, o);
}

static struct json_object *
json_root(const struct sums *s, const struct paths *p, const struct request *r)
{
	struct json_object *o = json_object_new_object();
	struct printer printer = { .s = s, .array = json_object_new_array() };
	const struct party *client = r->party[ROLE_CLIENT];

	json_string(o, "client_host", host_name(s, client));
	json_string(o, "client", client->name);
	json_number(o, "pid", r->part[r->named].pid);
	json_number(o, "begin", r->part[r->named].begin);
	json_number(o, "wait", paths_wait(r));
	paths_walk(s, p, r, json_piece, &printer);
	json_object_object_add(o, "waited_for", printer.array);
	return o;
}

/**
 * json_paths - where requests went
 * @o: where to
 * @s: after sums_finish()
 * @p: after paths_new()
 * @top: so many causes and requests, at most
 */
void json_paths(struct json_object *o, const struct sums *s,
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
	json_number(links, "ambiguous", p->ambiguous);
	json_object_object_add(o, "links", links);
	for (i = 0; i < p->nr_paths; i++) {
		if (p->path[i]->requests)
			json_object_array_add(paths, json_path(s, p->path[i]));
	}
	json_object_object_add(o, "paths", paths);
	for (i = 0; i < p->causes && i < top; i++)
		json_object_array_add(causes, json_cause(s, p->cause[i]));
	json_object_object_add(o, "causes", causes);
	for (i = 0; i < p->roots && i < top && i < MAX_SLOWEST; i++)
		json_object_array_add(slowest, json_root(s, p, p->root[i]));
	json_object_object_add(o, "slowest", slowest);
}
