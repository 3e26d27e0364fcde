// SPDX-License-Identifier: GPL-2.0
/*
 * What pathdiff, ioreq and lbrtime have found, for the page of a case. They are programs of
 * their own: of their JSON only what has the right type gets onto the page. See open.h.
 */
#include <json-c/json.h>
#include <linux/kernel.h>
#include <stdlib.h>

#include "memory.h"
#include "open.h"
#include "page.h"
#include "text.h"

/* Maximum number of each kind on the page */
#define CAUSES_MAX 5
#define FUNCTIONS_MAX 40
#define STEPS_MAX 500

/* The room that the texts of steps take on the page */
#define STEPS_ROOM (256u << 10)

/* Numbers that JavaScript holds exactly are below this */
#define EXACT (1ll << 53)

/* Times of the trace clock can be larger, after 104 days */
static u64 number(struct json_object *o, const char *name)
{
	return min(json_u64(o, name), (u64)EXACT - 1);
}

static void add_number(struct json_object *a, u64 n)
{
	json_object_array_add(a, json_object_new_int64(n));
}

/* As json_string() writes it */
static void add_text(struct json_object *a, const char *s)
{
	char *copy = xstrndup(s, 300);

	clean_text(copy);
	json_object_array_add(a, json_object_new_string(copy));
	free(copy);
}

/* ---- pathdiff: [function, self time, usual one] of each cause ---- */

static struct json_object *path_object(struct json_object *cause)
{
	struct json_object *o = json_object_new_object();
	struct json_object *rows = json_object_new_array(), *row;
	struct json_object *functions = json_member(cause, "functions");
	struct json_object *worst = json_member(cause, "worst");
	size_t i;

	json_string(o, "headline", json_text(cause, "headline"));
	json_string(o, "path", json_text(worst, "path"));
	json_number(o, "duration", number(worst, "duration"));
	json_number(o, "usual", number(worst, "nearest_duration"));
	for (i = 0; i < min(json_length(functions), (size_t)FUNCTIONS_MAX);
	     i++) {
		struct json_object *f = json_item(functions, i);

		row = json_object_new_array();
		add_text(row, json_text(f, "function"));
		add_number(row, number(f, "self"));
		add_number(row, number(f, "normal_self"));
		json_object_array_add(rows, row);
	}
	json_object_object_add(o, "functions", rows);
	return o;
}

/* Those causes that the operation has, and not those of other executions */
static void add_paths(const struct explain *x, struct json_object *to,
		      struct json_object *result)
{
	struct json_object *a = json_object_new_array();
	struct json_object *causes = json_member(result, "causes");
	struct json_object *slow = json_member(result, "slow");
	size_t nr = json_length(causes), i, shown = 0;
	bool *has = xcalloc(nr + 1, sizeof(*has));

	for (i = 0; i < json_length(slow); i++) {
		if (explain_has_path(x, json_item(slow, i)))
			has[min(number(json_item(slow, i), "cause"), (u64)nr)] =
				true;
	}
	for (i = 0; i < nr && shown < CAUSES_MAX; i++) {
		if (!has[i])
			continue;
		json_object_array_add(a, path_object(json_item(causes, i)));
		shown++;
	}
	free(has);
	json_object_object_add(to, "paths", a);
}

/* ---- ioreq: [depth, process, what, object, time, is it the operation's thread, code] ---- */

static bool is_own(const struct explain *x, struct json_object *step)
{
	return number(step, "thread") == (u64)x->op.pid;
}

/* @room: less what its texts take */
static struct json_object *step_row(const struct explain *x,
				    struct json_object *step, size_t *room)
{
	struct json_object *row = json_object_new_array();
	const char *call = json_text(step, "call");
	size_t i, taken;

	add_number(row, number(step, "depth"));
	add_text(row, json_text(step, "process"));
	add_text(row, *call ? call : json_text(step, "text"));
	add_text(row, json_text(step, "object"));
	add_number(row, number(step, "time"));
	add_number(row, is_own(x, step));
	add_text(row, json_text(step, "code"));
	for (i = 0; i < json_object_array_length(row); i++) {
		taken = page_room(json_object_get_string(json_item(row, i)));
		*room -= min(taken, *room);
	}
	return row;
}

/* The time of the operation that a request covers if the thread is at either end of it */
static u64 concerns(const struct explain *x, struct json_object *request)
{
	struct json_object *steps = json_member(request, "waited_for");
	u64 begin = json_u64(request, "begin"), to;
	bool own = number(request, "pid") == (u64)x->op.pid;
	size_t i;

	for (i = 0; i < min(json_length(steps), (size_t)STEPS_MAX) && !own; i++)
		own = is_own(x, json_item(steps, i));
	to = min(begin + number(request, "wait"), x->op.end);
	begin = max(begin, x->op.start);
	return own && to > begin ? to - begin : 0;
}

static void add_request(const struct explain *x, struct json_object *to,
			struct json_object *result)
{
	struct json_object *all = json_member(result, "slowest"), *best = NULL;
	struct json_object *o, *rows, *steps;
	size_t room = STEPS_ROOM;
	u64 most = 0, n;
	s64 since;
	size_t i;

	for (i = 0; i < json_length(all); i++) {
		n = concerns(x, json_item(all, i));
		if (n > most)
			best = json_item(all, i);
		most = max(most, n);
	}
	if (!best)
		return;
	o = json_object_new_object();
	rows = json_object_new_array();
	steps = json_member(best, "waited_for");
	json_string(o, "client", json_text(best, "client"));
	json_number(o, "wait", number(best, "wait"));
	since = json_u64(best, "begin") - x->op.start;
	json_signed(o, "begin", max(min(since, EXACT - 1), 1 - EXACT));
	for (i = 0; i < min(json_length(steps), (size_t)STEPS_MAX) && room; i++)
		json_object_array_add(rows,
				      step_row(x, json_item(steps, i), &room));
	json_number(o, "left", json_length(steps) - i);
	json_object_object_add(o, "steps", rows);
	json_object_object_add(to, "request", o);
}

/* ---- lbrtime: [function, object, visits, time] ---- */

static void add_functions(struct json_object *to, struct json_object *result)
{
	struct json_object *functions = json_member(result, "functions"), *row;
	struct json_object *rows = json_object_new_array();
	const char *method = json_text(result, "method");
	size_t i;

	for (i = 0; i < min(json_length(functions), (size_t)FUNCTIONS_MAX);
	     i++) {
		struct json_object *f = json_item(functions, i);

		row = json_object_new_array();
		add_text(row, json_text(f, "function"));
		add_text(row, json_text(f, "object"));
		add_number(row, number(f, "visits"));
		add_number(row, number(json_member(f, "time"), method));
		json_object_array_add(rows, row);
	}
	json_object_object_add(to, "functions", rows);
	json_number(to, "samples", number(result, "samples"));
	json_number(to, "branches", number(result, "branches"));
	json_number(to, "time", number(result, "time"));
	json_string(to, "method", method);
}

/**
 * open_analyzers - what the analyzers have found
 * @x: the explanation
 *
 * Return: an array with an object for each that was asked and has a result.
 */
struct json_object *open_analyzers(const struct explain *x)
{
	struct json_object *a = json_object_new_array(), *o;
	enum analyzer i;

	for (i = 0; i < ANALYZERS; i++) {
		struct json_object *result = x->analysis[i].result;

		if (!result)
			continue;
		o = json_object_new_object();
		json_string(o, "name", analyzer_name(i));
		if (i == PATHDIFF)
			add_paths(x, o, result);
		else if (i == IOREQ)
			add_request(x, o, result);
		else
			add_functions(o, result);
		json_object_array_add(a, o);
	}
	return a;
}
