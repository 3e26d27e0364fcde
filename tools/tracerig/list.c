// SPDX-License-Identifier: GPL-2.0
/* tracerig list: the cases in a directory. */
#include <argp.h>
#include <json-c/json.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "cli.h"
#include "memory.h"
#include "operand.h"
#include "store.h"
#include "text.h"
#include "tracerig.h"

enum { OPT_FORMAT = 0x100 };

struct list {
	const char *dir;
	bool json;
};

static const struct argp_option options[] = {
	{ "dir", OPT_DIR, "DIR", 0, "Directory of the cases (" CASES_DIR ")",
	  1 },
	{ "format", OPT_FORMAT, "text|json", 0, "text (default) or json", 1 },
	{ 0 }
};

static const char doc[] =
	"List the cases, grouped by what makes them alike.\n\n"
	"Cases of the same chart, program and objects are alike. Of these, the first, the "
	"worst and every tenth are kept."
	"\v"
	"Examples:\n"
	"  tracerig list\n"
	"  tracerig list --format=json | jq '.groups[] | select(.count > 10)'\n"
	"\n"
	"Exit status: 0 done, 1 trouble, 2 usage.\n";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = { "text", "json" };
	struct list *l = state->input;

	switch (key) {
	case OPT_DIR:
		l->dir = arg;
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

static void print_case(const struct store_case *c)
{
	char value[32], limit[32], size[32];

	printf("  %6llu  %.19s  %9s  %9s  %9s  %s  %s\n", c->number, c->time,
	       format_value(value, sizeof(value), c->value, c->is_time),
	       format_value(limit, sizeof(limit), c->limit, c->is_time),
	       format_bytes(size, sizeof(size), c->bytes), c->who, c->keys);
}

static void print_text(const struct store *s)
{
	char text[32];
	size_t i, k;

	for (i = 0; i < s->nr_groups; i++) {
		const struct store_group *g = &s->group[i];

		if (!g->first)
			continue;
		printf("%s%s: %s %s\n", i ? "\n" : "", g->name,
		       format_count(text, sizeof(text), g->count),
		       g->count == 1 ? "case" : "cases");
		printf("  %6s  %-19s  %9s  %9s  %9s  process  keys\n", "case",
		       "time (UTC)", "value", "limit", "size");
		for (k = 0; k < s->nr; k++) {
			if (!strcmp(s->c[k].group, g->name))
				print_case(&s->c[k]);
		}
	}
	if (!s->nr)
		printf("%s: no cases\n", s->dir);
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
	static const struct argp argp = { options, parse, NULL, doc,
					  NULL,	   NULL,  NULL };
	struct list l = { .dir = CASES_DIR };
	struct store s;
	char *error;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &l);
	error = store_open(&s, l.dir, false);
	memory_doing("writing the list");
	if (error)
		complain("%s", error);
	else if (l.json)
		print_json(&s);
	else
		print_text(&s);
	if (s.damaged)
		complain(
			"%s: damaged cases that are not listed: %u; run tracerig verify on them",
			l.dir, s.damaged);
	status = error || s.damaged || fflush(stdout) ? EXIT_FAILURE :
							EXIT_SUCCESS;
	free(error);
	store_close(&s);
	return status;
}
