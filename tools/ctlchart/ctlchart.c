// SPDX-License-Identifier: GPL-2.0
/* ctlchart: control charts of trace.dat files */
#include <errno.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "command.h"
#include "output.h"
#include "text.h"
#include "version.h"

#define MAX_WORST 100000
#define MAX_AROUND 1000
#define NOT_GIVEN SIZE_MAX

const char *argp_program_version = PROGRAM " " TRACERIG_VERSION;
error_t argp_err_exit_status = 2;

static const struct argp_option options[] = {
	{ "event", 'e', "EVENT", 0, HELP_EVENT, 1 },
	{ "filter", 'f', "FILTER", 0, HELP_FILTER, 1 },
	{ "instance", OPT_INSTANCE, "NAME", 0,
	  "Read this trace instance instead of the main one", 2 },
	{ "chart", OPT_CHART, "NAME", 0, "Report this chart alone", 2 },
	{ "format", OPT_FORMAT, "text|csv|json|svg|html", 0,
	  "text (default), csv: a line per alarm, json, svg: the charts drawn, html: a page with interactive charts, the alarms, and the events around each",
	  3 },
	{ "worst", OPT_WORST, "N", 0,
	  "List the N worst alarms (10, in html 100)", 3 },
	{ "around", OPT_AROUND, "N", 0,
	  "In html, show N events before and after each of the worst alarms (20)",
	  3 },
	{ "linear", OPT_LINEAR, NULL, 0,
	  "Linear instead of logarithmic durations in svg and html", 3 },
	{ "output", 'o', "FILE", 0,
	  "Write to FILE, which is replaced only if there was no error", 3 },
	{ 0 }
};

static const char doc[] =
	"Report which operations in a trace were out of control.\n\n"
	"Without -e, FILE is what trace-cmd recorded with a ctlchart() filter "
	"and -e ctlchart: its alarms are reported. With -e and -f, FILE is any "
	"trace, of any kernel, and the same charts are computed from its "
	"events.\n\n"
	"Other commands, which have a --help of their own:\n"
	"  ctlchart sim    compare settings of the filter over an ordinary trace\n"
	"  ctlchart save   save limits, from the running kernel or a trace\n"
	"  ctlchart load   put saved limits into force\n"
	"\v"
	"Examples:\n"
	"  # alarms of the kernel's filter\n"
	"  trace-cmd record -e block:block_rq_complete \\\n"
	"    -f 'ctlchart(block_bio_queue, dev, sector)' -e ctlchart sleep 60\n"
	"  ctlchart trace.dat\n"
	"\n"
	"  # alarms that it would have raised in an ordinary trace\n"
	"  ctlchart -e block:block_rq_complete \\\n"
	"    -f 'ctlchart(block_bio_queue, dev, sector)' trace.dat\n"
	"\n"
	"  # the same as a picture, with the median chart on consecutive values\n"
	"  ctlchart -e block:block_rq_complete -f 'ctlchart(block_bio_queue,\n"
	"    dev, sector, limit=median, scale=linear, learn=0)' \\\n"
	"    --format=svg -o chart.svg trace.dat\n"
	"\n"
	"  # an interactive page, with the events around each of the worst alarms\n"
	"  ctlchart --format=html -o chart.html trace.dat\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

/**
 * options_call - parse the filter of an event
 * @call: filled in; call_free() is needed
 * @event: the event
 * @filter: its filter; the program ends if it has a mistake
 */
void options_call(struct call *call, const char *event, const char *filter)
{
	struct call_error error;
	char *text;

	if (call_parse(call, event, filter, &error))
		return;
	text = call_explain(filter, &error);
	fprintf(stderr, PROGRAM ": %s\n", text);
	free(text);
	exit(2);
}

static void add_call(struct options *o, const char *filter,
		     struct argp_state *state)
{
	if (!o->event)
		argp_error(state, "-f must follow the -e that it belongs to");
	if (o->nr_calls == MAX_CALLS)
		argp_error(state, "more than %d charts", MAX_CALLS);
	options_call(&o->call[o->nr_calls], o->event, filter);
	o->nr_calls++;
	o->event = NULL;
}

/**
 * options_parse - parse the options that several commands have
 * @key: as argp calls its parsers
 * @arg: the same
 * @state: the same
 * @o: where to put them
 *
 * Return: 0, or ARGP_ERR_UNKNOWN. Mistakes end the program.
 */
error_t options_parse(int key, char *arg, struct argp_state *state,
		      struct options *o)
{
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
	case OPT_INSTANCE:
		o->report.instance = arg;
		break;
	case ARGP_KEY_ARG:
		cli_operand(state, "FILE", &o->report.file, arg);
		break;
	case ARGP_KEY_END:
		if (o->event)
			argp_error(state, "-e %s has no -f 'ctlchart(...)'",
				   o->event);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/**
 * options_free - free the calls
 * @o: the options
 */
void options_free(struct options *o)
{
	size_t i;

	for (i = 0; i < o->nr_calls; i++)
		call_free(&o->call[i]);
}

static void check(struct options *o, struct argp_state *state)
{
	cli_operand(state, "FILE", &o->report.file, NULL);
	if (o->report.linear && o->report.format != FORMAT_SVG &&
	    o->report.format != FORMAT_HTML)
		argp_error(state, "--linear is for --format=svg and html");
	if (o->around != NOT_GIVEN && o->report.format != FORMAT_HTML)
		argp_error(state, "--around is for --format=html");
	if (o->around == NOT_GIVEN)
		o->around = 20;
	if (o->report.max_worst == NOT_GIVEN)
		o->report.max_worst = o->report.format == FORMAT_HTML ? 100 :
									10;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = {
		[FORMAT_TEXT] = "text", [FORMAT_CSV] = "csv",
		[FORMAT_JSON] = "json", [FORMAT_SVG] = "svg",
		[FORMAT_HTML] = "html",
	};
	struct options *o = state->input;

	switch (key) {
	case OPT_FORMAT:
		o->report.format = cli_word(state, "format", arg, formats,
					    ARRAY_SIZE(formats));
		break;
	case OPT_WORST:
		o->report.max_worst =
			cli_number(state, "worst", arg, 0, MAX_WORST);
		break;
	case OPT_AROUND:
		o->around = cli_number(state, "around", arg, 0, MAX_AROUND);
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
		return options_parse(key, arg, state, o);
	case ARGP_KEY_END:
		check(o, state);
		return options_parse(key, arg, state, o);
	default:
		return options_parse(key, arg, state, o);
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
	if (r->format == FORMAT_HTML && o->around)
		r->places = places_new();
	report_begin(r);
	if (o->nr_calls)
		status = desk_report(g, r, o->call, o->nr_calls);
	else
		status = alarms_report(g, r);
	guard_progress(g, NULL);
	if (!status)
		status = check_only(g, r);
	if (!status && r->format == FORMAT_HTML)
		status = around_collect(g, r, o->around);
	guard_progress(g, NULL);
	if (!status && r->gaps && r->format != FORMAT_TEXT)
		guard_note(g, "records are lost in %llu gap%s",
			   (unsigned long long)r->gaps, plural(r->gaps));
	if (!status)
		report_end(r);
	report_free(r);
	return status;
}

static int report_main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "[report] FILE",
					  doc,	   NULL,  NULL,
					  NULL };
	struct options o = { .report = { .instance = "",
					 .max_worst = NOT_GIVEN },
			     .around = NOT_GIVEN };
	struct guard_job job = { .program = PROGRAM,
				 .idle_cpu = IDLE_CPU,
				 .work = work,
				 .arg = &o };
	int status;

	argv[0] = PROGRAM; /* what getopt's messages begin with */
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	o.report.color = cli_colors(o.output);
	job.file = o.report.file;
	job.output = o.output;
	status = guard_run(&job);
	options_free(&o);
	return status;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		char *program; /* in messages */
		int (*main)(int argc, char **argv);
	} commands[] = {
		{ "sim", PROGRAM " sim", sim_main },
		{ "save", PROGRAM " save", save_main },
		{ "load", PROGRAM " load", load_main },
	};
	size_t i;

	output_check(PROGRAM);
	for (i = 0; i < ARRAY_SIZE(commands) && argc > 1; i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		argv[1] = commands[i].program;
		return commands[i].main(argc - 1, argv + 1);
	}
	return report_main(argc, argv);
}
