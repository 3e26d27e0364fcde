// SPDX-License-Identifier: GPL-2.0
/* ctlchart: control charts of trace.dat files */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctlchart.h"
#include "version.h"

#define MAX_WORST 100000

/* CPU seconds in which reading must make progress */
#define IDLE_CPU 60

/**
 * struct options - the command line
 * @report:	what is asked for
 * @output:	file to write to, or NULL
 * @call:	the charts of -e and -f
 * @nr_calls:	number of them
 * @event:	the last -e, if its -f has not come yet
 */
struct options {
	struct report report;
	const char *output;
	struct call call[MAX_CALLS];
	size_t nr_calls;
	const char *event;
};

const char *argp_program_version = PROGRAM " " TRACERIG_VERSION;
error_t argp_err_exit_status = 2;

enum {
	OPT_FORMAT = 0x100,
	OPT_WORST,
	OPT_INSTANCE,
	OPT_CHART,
	OPT_LINEAR,
};

static const struct argp_option options[] = {
	{ "event", 'e', "EVENT", 0,
	  "Chart EVENT (system:event) of an ordinary trace, by the filter of the -f after it",
	  1 },
	{ "filter", 'f', "FILTER", 0,
	  "The filter, as one would give it to trace-cmd record: 'ctlchart(START, KEY..., option=value...)' or 'ctlchart(FIELD, ...)', with TERMS && before it and && TERMS after it as far as libtraceevent knows them",
	  1 },
	{ "instance", OPT_INSTANCE, "NAME", 0,
	  "Read the buffer of this trace instance instead of the main one", 2 },
	{ "chart", OPT_CHART, "NAME", 0, "Report this chart alone", 2 },
	{ "format", OPT_FORMAT, "text|csv|json|svg", 0,
	  "text (default), csv: a line per alarm, json, svg: the charts drawn",
	  3 },
	{ "worst", OPT_WORST, "N", 0, "List the N worst alarms (10)", 3 },
	{ "linear", OPT_LINEAR, NULL, 0,
	  "Linear instead of logarithmic durations in svg", 3 },
	{ "output", 'o', "FILE", 0,
	  "Write to FILE, which is replaced when all went well", 3 },
	{ 0 }
};

static const char doc[] =
	"Report which intervals in a trace were out of control.\n\n"
	"Without -e, FILE is what trace-cmd recorded with a ctlchart() filter "
	"and -e ctlchart: its alarms are reported. With -e and -f, FILE is any "
	"trace, of any kernel, and the same charts are computed from its "
	"events."
	"\v"
	"Examples:\n"
	"  # what the filter caught\n"
	"  trace-cmd record -e block:block_rq_complete \\\n"
	"    -f 'ctlchart(block_bio_queue, dev, sector)' -e ctlchart sleep 60\n"
	"  ctlchart trace.dat\n"
	"\n"
	"  # what it would have caught in an ordinary trace\n"
	"  ctlchart -e block:block_rq_complete \\\n"
	"    -f 'ctlchart(block_bio_queue, dev, sector)' trace.dat\n"
	"\n"
	"  # the same as a picture, with the median chart on consecutive values\n"
	"  ctlchart -e block:block_rq_complete -f 'ctlchart(block_bio_queue,\n"
	"    dev, sector, limit=median, scale=linear, learn=0)' \\\n"
	"    --format=svg -o chart.svg trace.dat\n"
	"\n"
	"Exit status: 0 done, 1 trouble, 2 usage.\n";

static void set_format(struct options *o, const char *arg,
		       struct argp_state *state)
{
	static const char *const names[] = {
		[FORMAT_TEXT] = "text",
		[FORMAT_CSV] = "csv",
		[FORMAT_JSON] = "json",
		[FORMAT_SVG] = "svg",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(arg, names[i])) {
			o->report.format = i;
			return;
		}
	}
	argp_error(state, "unknown format %s: text, csv, json or svg", arg);
}

static void set_worst(struct options *o, const char *arg,
		      struct argp_state *state)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(arg, &end, 10);
	if (errno || end == arg || *end || *arg == '-' || n > MAX_WORST)
		argp_error(state, "--worst=%s is no number from 0 to %d", arg,
			   MAX_WORST);
	o->report.max_worst = n;
}

static void add_call(struct options *o, const char *filter,
		     struct argp_state *state)
{
	struct call_error error;
	char *text;

	if (!o->event)
		argp_error(state, "-f must follow the -e that it belongs to");
	if (o->nr_calls == MAX_CALLS)
		argp_error(state, "more than %d charts", MAX_CALLS);
	if (!call_parse(&o->call[o->nr_calls], o->event, filter, &error)) {
		text = call_explain(filter, &error);
		fprintf(stderr, PROGRAM ": %s\n", text);
		free(text);
		exit(2);
	}
	o->nr_calls++;
	o->event = NULL;
}

static void check(struct options *o, struct argp_state *state)
{
	if (!o->report.file)
		argp_error(state, "which FILE?");
	if (o->event)
		argp_error(state, "-e %s has no -f 'ctlchart(...)'", o->event);
	if (o->report.linear && o->report.format != FORMAT_SVG)
		argp_error(state, "--linear is for --format=svg");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'e':
		if (o->event)
			argp_error(state, "-e %s has no -f 'ctlchart(...)'",
				   o->event);
		o->event = arg;
		break;
	case 'f':
		add_call(o, arg, state);
		break;
	case 'o':
		o->output = arg;
		break;
	case OPT_FORMAT:
		set_format(o, arg, state);
		break;
	case OPT_WORST:
		set_worst(o, arg, state);
		break;
	case OPT_INSTANCE:
		o->report.instance = arg;
		break;
	case OPT_CHART:
		o->report.only = arg;
		break;
	case OPT_LINEAR:
		o->report.linear = true;
		break;
	case ARGP_KEY_ARG:
		if (!state->arg_num && !strcmp(arg, "report") &&
		    state->next < state->argc)
			break;
		if (o->report.file)
			argp_error(state, "one FILE at a time");
		o->report.file = arg;
		break;
	case ARGP_KEY_END:
		check(o, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* A chart that nothing is known of is a mistake in its name */
static int check_only(struct guard *g, const struct report *r)
{
	size_t i;

	for (i = 0; r->only && i < r->nr_charts; i++) {
		if (report_wants(r, r->chart[i]->name))
			return 0;
	}
	if (!r->only)
		return 0;
	return guard_fail(g, GUARD_NOWHERE, "no chart %s", r->only);
}

static int work(struct guard *g, FILE *out, void *arg)
{
	struct options *o = arg;
	struct report *r = &o->report;
	int status;

	r->out = out;
	report_begin(r);
	if (o->nr_calls)
		status = desk_report(g, r, o->call, o->nr_calls);
	else
		status = alarms_report(g, r);
	if (!status)
		status = check_only(g, r);
	if (!status && r->gaps && r->format != FORMAT_TEXT)
		guard_note(g, "events were lost %llu times",
			   (unsigned long long)r->gaps);
	if (!status)
		report_end(r);
	report_free(r);
	return status;
}

static bool shows_colors(const struct options *o)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return !o->output && isatty(STDOUT_FILENO) &&
	       !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "[report] FILE",
					  doc,	   NULL,  NULL,
					  NULL };
	struct options o = { .report = { .instance = "", .max_worst = 10 } };
	struct guard_job job = { .program = PROGRAM,
				 .idle_cpu = IDLE_CPU,
				 .work = work,
				 .arg = &o };
	int status;
	size_t i;

	argv[0] = PROGRAM; /* what getopt's messages begin with */
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	o.report.color = shows_colors(&o);
	job.file = o.report.file;
	job.output = o.output;
	status = guard_run(&job);
	for (i = 0; i < o.nr_calls; i++)
		call_free(&o.call[i]);
	return status;
}
