// SPDX-License-Identifier: GPL-2.0
/*
 * ctlchart sim: settings of the filter side by side, each as if the trace had
 * been recorded with it alone, in one pass over the file.
 */
#include <json-c/json.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "command.h"
#include "text.h"

#define MAX_SETTINGS 256
#define MAX_GRIDS 8

enum {
	SIM_TEXT,
	SIM_CSV,
	SIM_JSON,
};

/**
 * struct grid - one --grid
 * @option:	the option
 * @value:	the values; "" for a filter without the option
 * @nr_values:	number of @value
 */
struct grid {
	char *option;
	char *value[MAX_SETTINGS];
	size_t nr_values;
};

/**
 * struct sim - the command
 * @options:	the options that all commands have; its calls are the filters as the
 *		user gave them
 * @format:	SIM_*
 * @grid:	the options to vary
 * @nr_grids:	number of @grid
 * @setting:	all filters with all values, filter by filter
 * @label:	for each setting, its values: "learn=1s samples=200"
 * @filter:	for each setting, its filter
 * @nr_settings: number of @setting
 */
struct sim {
	struct options options;
	int format;
	struct grid grid[MAX_GRIDS];
	size_t nr_grids;
	struct call setting[MAX_SETTINGS];
	char *label[MAX_SETTINGS];
	char *filter[MAX_SETTINGS];
	size_t nr_settings;
};

static const struct argp_option options[] = {
	{ "event", 'e', "EVENT", 0, HELP_EVENT, 1 },
	{ "filter", 'f', "FILTER", 0, HELP_FILTER, 1 },
	{ "grid", OPT_GRID, "OPTION=V1,V2,...", 0,
	  "Try the filters with each of these values of an option of ctlchart(); an empty value stands for the filter without it. With several --grid, all combinations",
	  2 },
	{ "instance", OPT_INSTANCE, "NAME", 0,
	  "Read this trace instance instead of the main one", 2 },
	{ "format", OPT_FORMAT, "text|csv|json", 0,
	  "text (default), csv: a line per setting, json", 3 },
	{ "output", 'o', "FILE", 0,
	  "Write to FILE, which is replaced only if there was no error", 3 },
	{ 0 }
};

static const char doc[] =
	"Compare settings of the ctlchart() filter over an ordinary trace.\n\n"
	"FILE is an unfiltered trace of any kernel. Print for each setting the limit, "
	"the number of values that would be out of control, and the share of the log "
	"that would be kept. One pass over the file uses the arithmetic of the "
	"kernel's filter, and its durations if FILE has them (-e ctlchart_debug). "
	"The report (ctlchart -e ... -f ... FILE) shows a single setting in full."
	"\v"
	"Examples:\n"
	"  trace-cmd record -e block:block_bio_queue -e block:block_rq_complete \\\n"
	"    sleep 60\n"
	"\n"
	"  # the share of the log that the filter would have kept\n"
	"  ctlchart sim -e block:block_rq_complete \\\n"
	"    -f 'ctlchart(block_bio_queue, dev, sector)' trace.dat\n"
	"\n"
	"  # learnt from 10 s or 1 s, with either limit: four settings\n"
	"  ctlchart sim -e block:block_rq_complete \\\n"
	"    -f 'ctlchart(block_bio_queue, dev, sector)' \\\n"
	"    --grid learn=10s,1s --grid limit=individuals,median trace.dat\n"
	"\n"
	"  # a learnt limit beside fixed ones\n"
	"  ctlchart sim -e lat -f 'ctlchart(lat)' --grid ucl=,5000,20000 trace.dat\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

static void add_grid(struct sim *sim, const char *arg, struct argp_state *state)
{
	struct grid *g = &sim->grid[sim->nr_grids];
	const char *s = strchr(arg, '=');
	size_t i, len;

	if (!s || s == arg || arg[strcspn(arg, " \t()&|'\"")])
		argp_error(state, "--grid=%s is not OPTION=VALUE,VALUE,...",
			   arg);
	if (sim->nr_grids == MAX_GRIDS)
		argp_error(state, "more than %d grids", MAX_GRIDS);
	g->option = xstrndup(arg, s - arg);
	for (i = 0; i < sim->nr_grids; i++) {
		if (!strcmp(sim->grid[i].option, g->option))
			argp_error(state, "--grid=%s=... given twice",
				   g->option);
	}
	do {
		s++;
		len = strcspn(s, ",");
		if (g->nr_values == MAX_SETTINGS)
			argp_error(state, "more than %d settings",
				   MAX_SETTINGS);
		g->value[g->nr_values++] = xstrndup(s, len);
		s += len;
	} while (*s);
	sim->nr_grids++;
}

/* @filter with all values of the grids from @g on */
static void expand(struct sim *sim, const struct call *call, size_t g,
		   const char *filter, const char *label)
{
	const struct grid *grid = &sim->grid[g];
	size_t i, to = sim->nr_settings;

	if (g == sim->nr_grids) {
		sim->filter[to] = xstrndup(filter, strlen(filter));
		sim->label[to] = xstrndup(label, strlen(label));
		options_call(&sim->setting[to], call->event, sim->filter[to]);
		sim->nr_settings++;
		return;
	}
	for (i = 0; i < grid->nr_values; i++) {
		const char *value = grid->value[i];
		char *with = call_with(filter, grid->option, value), *text;

		text = xasprintf("%s%s%s%s%s", label, g ? " " : "",
				 *value ? grid->option : "no ",
				 *value ? "=" : grid->option, value);
		expand(sim, call, g + 1, with, text);
		free(with);
		free(text);
	}
}

static void check(struct sim *sim, struct argp_state *state)
{
	struct options *o = &sim->options;
	size_t i, n = o->nr_calls;

	cli_operand(state, "FILE", &o->report.file, NULL);
	if (!n && !o->event)
		argp_error(state, "missing -e EVENT -f 'ctlchart(...)'");
	for (i = 0; i < sim->nr_grids; i++) {
		n *= sim->grid[i].nr_values;
		if (n > MAX_SETTINGS)
			argp_error(state, "more than %d settings",
				   MAX_SETTINGS);
	}
	for (i = 0; i < o->nr_calls; i++)
		expand(sim, &o->call[i], 0, o->call[i].filter, "");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = {
		[SIM_TEXT] = "text",
		[SIM_CSV] = "csv",
		[SIM_JSON] = "json",
	};
	struct sim *sim = state->input;

	switch (key) {
	case OPT_GRID:
		add_grid(sim, arg, state);
		return 0;
	case OPT_FORMAT:
		sim->format = cli_word(state, "format", arg, formats,
				       ARRAY_SIZE(formats));
		return 0;
	case ARGP_KEY_END:
		check(sim, state);
		break;
	}
	return options_parse(key, arg, state, &sim->options);
}

/*
 * Text: a table for each filter of the command line. Numbers are right-aligned
 * below their heads, the setting stands first.
 */
static const char *const heads[] = { "centre", "limit", "judged", "alarms",
				     "%",      "kept",	"bytes",  "smaller" };

#define COLUMNS ARRAY_SIZE(heads)
#define CELL 24

static void make_row(const struct chart *c, char cell[COLUMNS][CELL])
{
	size_t k;

	for (k = 0; k < COLUMNS; k++)
		strcpy(cell[k], "-");
	if (c->has_limit && c->has_center && !c->parts)
		format_value(cell[0], CELL, c->limits.center, c->is_time);
	if (c->parts)
		snprintf(cell[1], CELL, "of %u chart%s", c->parts,
			 plural(c->parts));
	else if (c->has_limit)
		format_value(cell[1], CELL, c->limits.ucl, c->is_time);
	else
		snprintf(cell[1], CELL, "%u of %u", c->phase1_taken,
			 ctlchart_method_samples(&c->call->method));
	format_count(cell[2], CELL, c->values);
	format_count(cell[3], CELL, c->alarms + c->overdue);
	if (c->values)
		snprintf(cell[4], CELL, "%.3g", 100.0 * c->alarms / c->values);
	format_count(cell[5], CELL, c->kept);
	if (c->from_kernel)
		return;
	format_bytes(cell[6], CELL, c->kept_bytes);
	if (c->kept_bytes)
		snprintf(cell[7], CELL, "%.4g x",
			 (double)c->bytes / c->kept_bytes);
}

static void print_table(struct sim *sim, size_t from, size_t to)
{
	struct report *r = &sim->options.report;
	int width[COLUMNS], label = 7;
	char cell[COLUMNS][CELL];
	size_t i, k;

	for (k = 0; k < COLUMNS; k++)
		width[k] = strlen(heads[k]);
	for (i = from; i < to; i++) {
		if ((int)strlen(sim->label[i]) > label)
			label = strlen(sim->label[i]);
		make_row(r->chart[i], cell);
		for (k = 0; k < COLUMNS; k++) {
			if ((int)strlen(cell[k]) > width[k])
				width[k] = strlen(cell[k]);
		}
	}
	fprintf(r->out, "  %-*s", label, sim->nr_grids ? "setting" : "");
	for (k = 0; k < COLUMNS; k++)
		fprintf(r->out, "  %*s", width[k], heads[k]);
	fputc('\n', r->out);
	for (i = from; i < to; i++) {
		make_row(r->chart[i], cell);
		fprintf(r->out, "  %-*s", label, sim->label[i]);
		for (k = 0; k < COLUMNS; k++)
			fprintf(r->out, "  %*s", width[k], cell[k]);
		fputc('\n', r->out);
	}
}

/* Explanations of what the table shows */
static void print_hints(struct sim *sim, size_t from, size_t to)
{
	struct report *r = &sim->options.report;
	bool none = false, refused = false;
	size_t i;

	for (i = from; i < to; i++) {
		none |= !r->chart[i]->has_limit && !r->chart[i]->parts;
		refused |= r->chart[i]->accounts.refused != 0;
	}
	if (none)
		fputs("  \"N of M\": no limit, because the trace has too few values; learn=0 and samples=\n"
		      "  need fewer, ucl= none.\n",
		      r->out);
	if (refused)
		fputs("  Starts were dropped because the table was full: size= makes it larger.\n",
		      r->out);
}

static void print_text(struct sim *sim)
{
	struct report *r = &sim->options.report;
	size_t i, per = sim->nr_settings / sim->options.nr_calls;
	char n[32], size[32];

	fprintf(r->out, "%s: %s events in %.3f s%s%s, %s of ring data\n",
		r->file, format_count(n, sizeof(n), r->events),
		(r->last - r->first) / 1e9, *r->instance ? " of instance " : "",
		r->instance, format_bytes(size, sizeof(size), r->bytes));
	if (r->gaps)
		fprintf(r->out,
			"records are lost in %llu gap%s: alarms may be missing, and pairs across gaps may be wrong\n",
			r->gaps, plural(r->gaps));
	for (i = 0; i < sim->options.nr_calls; i++) {
		const struct chart *c = r->chart[i * per];

		fprintf(r->out, "\n%s  %s\n", c->event,
			sim->options.call[i].filter);
		if (c->from_kernel)
			fprintf(r->out,
				"  %s values of this chart in the kernel (ctlchart_value)\n",
				format_count(n, sizeof(n),
					     c->learnt + c->values));
		else
			fprintf(r->out,
				"  %s events of %s%s%s in the file, %s\n",
				format_count(n, sizeof(n), c->events),
				c->start ? c->start : c->event,
				c->start ? " and " : "",
				c->start ? c->event : "",
				format_bytes(size, sizeof(size), c->bytes));
		print_table(sim, i * per, (i + 1) * per);
		print_hints(sim, i * per, (i + 1) * per);
	}
}

static void print_csv(struct sim *sim)
{
	struct report *r = &sim->options.report;
	size_t i;

	fputs("event,filter,setting,center,limit,taken,learnt,values,alarms,overdue,kept_events,alarm_events,kept_bytes,events,bytes\n",
	      r->out);
	for (i = 0; i < sim->nr_settings; i++) {
		const struct chart *c = r->chart[i];

		csv_string(r->out, c->event);
		fputc(',', r->out);
		csv_string(r->out, sim->filter[i]);
		fputc(',', r->out);
		csv_string(r->out, sim->label[i]);
		fputc(',', r->out);
		if (c->has_limit && c->has_center)
			fprintf(r->out, "%llu", c->limits.center);
		fputc(',', r->out);
		if (c->has_limit)
			fprintf(r->out, "%llu", c->limits.ucl);
		fprintf(r->out,
			",%u,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n",
			c->phase1_taken, c->learnt, c->values, c->alarms,
			c->overdue, c->kept, c->alarm_events, c->kept_bytes,
			c->events, c->bytes);
	}
}

static struct json_object *setting_object(struct sim *sim, size_t i)
{
	const struct chart *c = sim->options.report.chart[i];
	struct json_object *o = json_object_new_object();

	json_string(o, "event", c->event);
	json_string(o, "filter", sim->filter[i]);
	json_string(o, "setting", sim->label[i]);
	if (c->is_time)
		json_string(o, "unit", "ns");
	if (c->from_kernel)
		json_string(o, "values_from", "ctlchart_value");
	if (c->parts)
		json_number(o, "charts", c->parts);
	if (c->has_limit && c->has_center)
		json_number(o, "center", c->limits.center);
	if (c->has_limit)
		json_number(o, "limit", c->limits.ucl);
	json_number(o, "taken", c->phase1_taken);
	json_number(o, "learnt", c->learnt);
	json_number(o, "values", c->values);
	json_number(o, "alarms", c->alarms);
	json_number(o, "overdue", c->overdue);
	json_number(o, "kept_events", c->kept);
	json_number(o, "alarm_events", c->alarm_events);
	json_number(o, "kept_bytes", c->kept_bytes);
	json_number(o, "events", c->events);
	json_number(o, "bytes", c->bytes);
	return o;
}

static void print_json(struct sim *sim)
{
	struct report *r = &sim->options.report;
	struct json_object *o = json_object_new_object();
	struct json_object *settings = json_object_new_array();
	size_t i;

	json_head(o, r);
	json_number(o, "bytes", r->bytes);
	for (i = 0; i < sim->nr_settings; i++)
		json_object_array_add(settings, setting_object(sim, i));
	json_object_object_add(o, "settings", settings);
	json_write(o, r->out);
}

static int work(struct guard *g, FILE *out, void *arg)
{
	struct sim *sim = arg;
	struct report *r = &sim->options.report;
	int status;

	r->out = out;
	status = desk_report(g, r, sim->setting, sim->nr_settings);
	guard_progress(g, NULL);
	if (!status && r->gaps && sim->format != SIM_TEXT)
		guard_note(g, "records are lost in %llu gap%s",
			   (unsigned long long)r->gaps, plural(r->gaps));
	if (!status && sim->format == SIM_TEXT)
		print_text(sim);
	else if (!status && sim->format == SIM_CSV)
		print_csv(sim);
	else if (!status)
		print_json(sim);
	report_free(r);
	return status;
}

static void sim_free(struct sim *sim)
{
	size_t i, k;

	for (i = 0; i < sim->nr_settings; i++) {
		call_free(&sim->setting[i]);
		free(sim->label[i]);
		free(sim->filter[i]);
	}
	for (i = 0; i < sim->nr_grids; i++) {
		for (k = 0; k < sim->grid[i].nr_values; k++)
			free(sim->grid[i].value[k]);
		free(sim->grid[i].option);
	}
	options_free(&sim->options);
	free(sim);
}

/**
 * sim_main - the command sim
 * @argc: as of main()
 * @argv: the same, the first one a name for messages
 *
 * Return: the exit status.
 */
int sim_main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "-e EVENT -f FILTER FILE", doc, NULL, NULL, NULL
	};
	struct sim *sim = xzalloc(sizeof(*sim));
	struct guard_job job = { .program = PROGRAM,
				 .idle_cpu = IDLE_CPU,
				 .work = work,
				 .arg = sim };
	int status;

	sim->options.report.instance = "";
	sim->options.report.sim = true;
	argp_parse(&argp, argc, argv, 0, NULL, sim);
	job.file = sim->options.report.file;
	job.output = sim->options.output;
	status = guard_run(&job);
	sim_free(sim);
	return status;
}
