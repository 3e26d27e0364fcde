// SPDX-License-Identifier: GPL-2.0
/* tracerig list: the cases in a directory. */
#include <argp.h>
#include <json-c/json.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "cli.h"
#include "explain.h"
#include "memory.h"
#include "operand.h"
#include "order.h"
#include "store.h"
#include "text.h"
#include "tracerig.h"

/* Messages about cases that are not listed */
#define DAMAGED_SHOWN 10

enum { OPT_FORMAT = 0x100, OPT_CAUSES };

struct list {
	const char *dir;
	bool json;
	bool causes;
	u64 timeout;
};

/* A case, and what caused it */
struct caused {
	const struct store_case *c;
	struct explain_cause cause;
};

static const struct argp_option options[] = {
	{ "dir", OPT_DIR, "DIR", 0, "Directory of the cases (" CASES_DIR ")",
	  1 },
	{ "causes", OPT_CAUSES, NULL, 0,
	  "Explain each case, and group by cause (slow)", 1 },
	{ "format", OPT_FORMAT, "text|json", 0, "text (default) or json", 1 },
	{ 0 }
};

static const char doc[] =
	"List the cases, grouped by what makes them alike.\n\n"
	"Cases of the same chart, program and objects are alike if most of their time was the "
	"same. Of these, the first, the worst and every tenth are kept."
	"\v"
	"Examples:\n"
	"  tracerig list\n"
	"  tracerig list --causes\n"
	"  tracerig list --format=json | jq '.groups[] | select(.count > 10)'\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = { "text", "json" };
	struct list *l = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &l->timeout;
		return 0;
	case OPT_DIR:
		l->dir = cli_file(state, "dir", arg);
		return 0;
	case OPT_CAUSES:
		l->causes = true;
		return 0;
	case OPT_FORMAT:
		l->json = cli_word(state, "format", arg, formats,
				   ARRAY_SIZE(formats));
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "extra operand %s", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static struct json_object *case_json(const struct store_case *c)
{
	struct json_object *o = json_object_new_object();

	json_number(o, "case", c->number);
	json_number(o, "nth", c->nth);
	json_string(o, "time", c->time);
	json_string(o, "chart", c->chart);
	json_number(o, "value", c->value);
	json_number(o, "limit", c->limit);
	json_string(o, "unit", c->is_time ? "ns" : "");
	json_string(o, "process", c->who);
	json_string(o, "keys", c->keys);
	json_number(o, "nr_alarms", c->nr_alarms);
	json_object_object_add(o, "charts", json_object_get(c->charts));
	json_number(o, "bytes", c->bytes);
	return o;
}

static void print_json(const struct store *s)
{
	struct json_object *o = json_object_new_object();
	struct json_object *groups = json_object_new_array(), *g, *cases;
	size_t i, k;

	for (i = 0; i < s->nr_groups; i++) {
		g = json_object_new_object();
		cases = json_object_new_array();
		for (k = 0; k < s->nr; k++) {
			if (!strcmp(s->c[k].group, s->group[i].name))
				json_object_array_add(cases,
						      case_json(&s->c[k]));
		}
		json_string(g, "group", s->group[i].name);
		json_number(g, "count", s->group[i].count);
		json_object_object_add(g, "cases", cases);
		json_object_array_add(groups, g);
	}
	json_object_object_add(o, "groups", groups);
	json_number(o, "bytes", store_bytes(s));
	json_write(o, stdout);
}

static void print_header(const char *column)
{
	printf("  %6s  %-19s  %9s  %9s  %9s  process  keys\n", "case",
	       "time (UTC)", "value", "limit", column);
}

static void print_case(const struct store_case *c, const char *column)
{
	char value[32], limit[32], alarms[500];

	alarms_text(alarms, sizeof(alarms), c->nr_alarms, c->charts);
	printf("  %6llu  %.19s  %9s  %9s  %9s  %s  %s%s%s%s\n", c->number,
	       c->time,
	       format_value(value, sizeof(value), c->value, c->is_time),
	       format_value(limit, sizeof(limit), c->limit, c->is_time), column,
	       c->who, c->keys, *alarms ? " (" : "", alarms,
	       *alarms ? ")" : "");
}

static void print_text(const struct store *s)
{
	const char *before = "";
	char text[32];
	size_t i, k;

	for (i = 0; i < s->nr_groups; i++) {
		const struct store_group *g = &s->group[i];

		if (!g->first)
			continue;
		printf("%s%s: %s %s\n", before, g->name,
		       format_count(text, sizeof(text), g->count),
		       g->count == 1 ? "case" : "cases");
		before = "\n";
		print_header("size");
		for (k = 0; k < s->nr; k++) {
			if (strcmp(s->c[k].group, g->name) != 0)
				continue;
			print_case(&s->c[k], format_bytes(text, sizeof(text),
							  s->c[k].bytes));
		}
	}
}

/* ---- by cause ---- */

/* Cases without a cause last; otherwise by cause, and by number */
static int by_cause(const void *a, const void *b)
{
	const struct caused *x = a, *y = b;

	return ORDER(!*x->cause.key, !*y->cause.key)	  ?:
		       strcmp(x->cause.key, y->cause.key) ?:
		       ORDER(x->c->number, y->c->number);
}

/* The cases that can be read; false if others cannot, which is reported */
static bool find_causes(const struct store *s, u64 timeout,
			struct caused *caused, size_t *nr)
{
	bool good = true;
	char *dir;
	size_t i;

	*nr = 0;
	for (i = 0; i < s->nr; i++) {
		caused[*nr].c = &s->c[i];
		dir = xasprintf("%s/%llu", s->dir, s->c[i].number);
		if (explain_cause(dir, timeout, &caused[*nr].cause))
			++*nr;
		else
			good = false;
		free(dir);
	}
	qsort(caused, *nr, sizeof(*caused), by_cause);
	return good;
}

/* Number of cases with the cause of the first one */
static size_t same_cause(const struct caused *c, size_t nr)
{
	size_t n = 1;

	while (n < nr && !strcmp(c[n].cause.key, c->cause.key))
		n++;
	return n;
}

static void print_caused_text(const struct caused *c, size_t nr)
{
	char text[32];
	size_t i, n;

	for (i = 0; i < nr; i += n) {
		n = same_cause(c + i, nr - i);
		printf("%s%s: %s %s\n", i ? "\n" : "",
		       *c[i].cause.key ? c[i].cause.key : "no cause",
		       format_count(text, sizeof(text), n),
		       n == 1 ? "case" : "cases");
		print_header(*c[i].cause.key ? "of delay" : "");
		for (size_t k = i; k < i + n; k++) {
			snprintf(text, sizeof(text), "%u %%", c[k].cause.share);
			print_case(c[k].c, *c[k].cause.key ? text : "");
			if (!*c[k].cause.key)
				printf("          %s\n", c[k].cause.why_none);
		}
	}
}

static void print_caused_json(const struct caused *c, size_t nr)
{
	struct json_object *o = json_object_new_object(), *cause, *cases, *one;
	struct json_object *causes = json_object_new_array();
	size_t i, k, n;

	for (i = 0; i < nr; i += n) {
		n = same_cause(c + i, nr - i);
		cause = json_object_new_object();
		cases = json_object_new_array();
		for (k = i; k < i + n; k++) {
			one = case_json(c[k].c);
			json_number(one, "percent", c[k].cause.share);
			json_number(one, "confidence", c[k].cause.confidence);
			json_string(one, "why_none", c[k].cause.why_none);
			json_object_array_add(cases, one);
		}
		json_string(cause, "cause", c[i].cause.key);
		json_object_object_add(cause, "cases", cases);
		json_object_array_add(causes, cause);
	}
	json_object_object_add(o, "causes", causes);
	json_write(o, stdout);
}

static bool list_causes(const struct store *s, const struct list *l)
{
	struct caused *caused = xcalloc(s->nr + 1, sizeof(*caused));
	size_t nr;
	bool good = find_causes(s, l->timeout, caused, &nr);

	memory_doing("writing the list");
	(l->json ? print_caused_json : print_caused_text)(caused, nr);
	free(caused);
	return good;
}

/* At most DAMAGED_SHOWN lines */
static void complain_damaged(const struct store *s)
{
	size_t i;

	for (i = 0; i < s->damaged && i < DAMAGED_SHOWN; i++)
		complain("%s", s->damage[i].why);
	if (i < s->damaged)
		complain(
			"%s: cases that are not listed: %zu; these were the first %zu",
			s->dir, s->damaged, i);
}

static void say_none(const struct store *s, bool json)
{
	char *below = operand_below(s->dir);

	if (below)
		complain("%s: no cases: they are in directories below it: %s",
			 s->dir, below);
	else if (!json)
		printf("%s: no cases\n", s->dir);
	free(below);
}

/**
 * list_main - the command list
 * @argc: as of main()
 * @argv: the same, the first one a name for messages
 *
 * Return: the exit status.
 */
int list_main(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &explain_timeout_argp, 0, NULL, 0 }, { 0 }
	};
	static const struct argp argp = { options,  parse, NULL, doc,
					  children, NULL,  NULL };
	struct list l = { .dir = CASES_DIR, .timeout = EXPLAIN_TIMEOUT };
	struct store s;
	bool good = true;
	char *error;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &l);
	error = store_open(&s, l.dir, false);
	memory_doing("writing the list");
	if (error)
		complain("%s", error);
	else if (l.causes && (s.nr || l.json))
		good = list_causes(&s, &l);
	else if (l.json)
		print_json(&s);
	else
		print_text(&s);
	if (!error && !s.nr && !s.damaged)
		say_none(&s, l.json);
	complain_damaged(&s);
	good &= !error && !s.damaged;
	status = good ? EXIT_SUCCESS : EXIT_FAILURE;
	free(error);
	store_close(&s);
	return status;
}
