// SPDX-License-Identifier: GPL-2.0
/* pathdiff: which kernel function made a call slow */
#include <argp.h>
#include <errno.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "output.h"
#include "pathdiff.h"
#include "text.h"
#include "version.h"

const char *argp_program_version = PROGRAM " " TRACERIG_VERSION;
error_t argp_err_exit_status = 2;

/* CPU seconds in which reading must make progress */
#define IDLE_CPU 120

#define MAX_JOBS 256
#define MAX_TOP 1000

enum {
	OPT_ENTRY = 0x100,
	OPT_BASELINE,
	OPT_LIMIT,
	OPT_FLOOR,
	OPT_COMMON,
	OPT_SLEEP,
	OPT_SCHEDULER,
	OPT_FORMAT,
	OPT_TOP,
	OPT_BRIEF,
	OPT_JOBS,
	OPT_INSTANCE,
};

/**
 * struct options - the command line
 * @file:	the trace
 * @baseline:	a trace of the healthy system, or NULL
 * @instance:	the trace instance of both, NULL for the main one
 * @entry:	the function whose executions are compared, or NULL
 * @limit:	ns, 0: draw one
 * @sleep:	how sleep-time was set
 * @scheduler:	keep functions below schedule()
 * @jobs:	threads
 * @output:	file to write to, or NULL
 * @result:	the result
 */
struct options {
	const char *file;
	const char *baseline;
	const char *instance;
	const char *entry;
	u64 limit;
	enum sleep_time sleep;
	bool scheduler;
	u32 jobs;
	const char *output;
	struct result result;
};

static const struct argp_option options[] = {
	{ "entry", OPT_ENTRY, "FUNCTION", 0,
	  "Compare the executions of FUNCTION (default: the outermost one that took the most time)",
	  1 },
	{ "baseline", OPT_BASELINE, "GOOD", 0,
	  "A trace of the healthy system: estimate the limit from it, and compare with its paths",
	  1 },
	{ "limit", OPT_LIMIT, "TIME", 0,
	  "Executions that take longer than TIME (7us, 10ms, 1.5s) are slow",
	  1 },
	{ "floor", OPT_FLOOR, "PERCENT", 0,
	  "Executions are slow only if they take at least PERCENT longer than the centre line (10)",
	  1 },
	{ "common", OPT_COMMON, "PERCENT", 0,
	  "Look for the cause in the part that the paths have in common if at least PERCENT of the time is spent there (50)",
	  2 },
	{ "instance", OPT_INSTANCE, "NAME", 0,
	  "Read this trace instance of FILE and of the baseline instead of the main one",
	  2 },
	{ "sleep-time", OPT_SLEEP, "on|off|auto", 0,
	  "Whether durations in the trace contain the time asleep (auto: find out)",
	  2 },
	{ "scheduler", OPT_SCHEDULER, NULL, 0,
	  "Keep what runs below schedule() in the paths", 2 },
	{ "format", OPT_FORMAT, "text|json|csv|folded|chrome|html", 0,
	  "text (default), json, csv: a line per slow execution, folded: for difffolded.pl and flamegraph.pl, chrome: for ui.perfetto.dev, html: an interactive page",
	  3 },
	{ "top", OPT_TOP, "N", 0, "List N functions of each cause (8)", 3 },
	{ "brief", OPT_BRIEF, NULL, 0,
	  "Print only the causes, without evidence", 3 },
	{ "output", 'o', "FILE", 0,
	  "Write to FILE, which is replaced only on success", 3 },
	{ "jobs", OPT_JOBS, "N", 0,
	  "Compare paths with N threads (default: one per CPU)", 3 },
	{ 0 }
};

static const char doc[] =
	"Say which kernel function made a call slow.\n\n"
	"FILE is a function_graph trace: trace.dat or text; - is standard input, "
	"as text. Executions of one function that took "
	"longer than the limit of a control chart are compared with the most "
	"similar normal ones. The cause that is named is a function that took "
	"longer than usual, one that usually is not called, an interrupt, or a "
	"wait.\n"
	"\v"
	"Examples:\n"
	"  # why are some reads slow?\n"
	"  trace-cmd record -p function_graph -g ksys_read -e sched:sched_switch \\\n"
	"    -e sched:sched_waking -R stacktrace -o bad.dat sleep 10\n"
	"  pathdiff bad.dat\n"
	"\n"
	"  # the same, with a recording of the healthy system\n"
	"  pathdiff --baseline good.dat bad.dat\n"
	"\n"
	"  # an interactive page; the worst execution beside a normal one in Perfetto\n"
	"  pathdiff --format=html -o bad.html bad.dat\n"
	"  pathdiff --format=chrome -o bad.json bad.dat\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const sleep[] = { "auto", "on", "off" };
	static const char *const formats[] = { "text",	 "json",   "csv",
					       "folded", "chrome", "html" };
	struct options *o = state->input;

	switch (key) {
	case OPT_ENTRY:
		o->entry = arg;
		break;
	case OPT_BASELINE:
		o->baseline = arg;
		break;
	case OPT_LIMIT:
		o->limit = cli_time(state, "limit", arg, 1);
		break;
	case OPT_FLOOR:
		o->result.floor =
			cli_number(state, "floor", arg, 0, 10000) / 100.0;
		break;
	case OPT_COMMON:
		o->result.common =
			cli_number(state, "common", arg, 0, 100) / 100.0;
		break;
	case OPT_INSTANCE:
		o->instance = arg;
		break;
	case OPT_SLEEP:
		o->sleep = cli_word(state, "sleep-time", arg, sleep,
				    ARRAY_SIZE(sleep));
		break;
	case OPT_SCHEDULER:
		o->scheduler = true;
		break;
	case OPT_FORMAT:
		o->result.format = cli_word(state, "format", arg, formats,
					    ARRAY_SIZE(formats));
		break;
	case OPT_TOP:
		o->result.top = cli_number(state, "top", arg, 1, MAX_TOP);
		break;
	case OPT_BRIEF:
		o->result.brief = true;
		break;
	case OPT_JOBS:
		o->jobs = cli_number(state, "jobs", arg, 1, MAX_JOBS);
		break;
	case 'o':
		o->output = arg;
		break;
	case ARGP_KEY_ARG:
	case ARGP_KEY_END:
		cli_operand(state, "FILE", &o->file, arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int read_file(struct guard *g, struct options *o, enum side side)
{
	struct result *r = &o->result;
	struct read_options how = { .instance = o->instance,
				    .entry = o->entry,
				    .sleep = o->sleep,
				    .side = side };

	r->source[side].file = side == SIDE_BASELINE ? o->baseline : o->file;
	return reader_read(g, &r->paths, &r->source[side], &how);
}

/*
 * The trace is read first: without --entry, it determines the entry function, which is
 * also the baseline's.
 */
static int read_files(struct guard *g, struct options *o)
{
	struct result *r = &o->result;
	int status = read_file(g, o, SIDE_TRACE);

	if (status || !o->baseline)
		return status;
	o->entry = r->paths.functions.name[r->paths.entry];
	r->has_baseline = true;
	guard_file(g, o->baseline);
	status = read_file(g, o, SIDE_BASELINE);
	if (!status)
		guard_file(g, o->file);
	return status;
}

static void write_result(struct result *r)
{
	static void (*const report[])(struct result *) = {
		[FORMAT_TEXT] = result_text,
		[FORMAT_JSON] = result_json,
		[FORMAT_CSV] = result_csv,
		[FORMAT_FOLDED] = result_folded,
		[FORMAT_CHROME] = result_chrome,
		[FORMAT_HTML] = result_html,
	};

	report[r->format](r);
}

/* Warnings that are part of the text; for other formats they go to standard error */
static void note(struct guard *g, const struct result *r)
{
	u64 gaps = r->source[SIDE_TRACE].gaps;
	u64 cuts = r->source[SIDE_TRACE].cuts;
	char text[256];

	if (gaps)
		guard_note(g, "records were lost in %llu gap%s", gaps,
			   plural(gaps));
	if (cuts)
		guard_note(
			g,
			"lines are missing or cut in %llu place%s, first line %llu",
			cuts, plural(cuts), r->source[SIDE_TRACE].first_cut);
	if (r->limit.is_far) {
		limit_warning(r, text, sizeof(text));
		guard_note(g, "%s", text);
	}
}

static int work(struct guard *g, FILE *out, void *arg)
{
	struct options *o = arg;
	struct result *r = &o->result;
	int status;

	r->out = out;
	r->paths.scheduler = o->scheduler;
	status = read_files(g, o);
	if (!status)
		status =
			limit_find(g, &r->paths, &r->limit, o->limit, r->floor);
	if (!status) {
		memory_doing("comparing executions");
		nearest_find(g, &r->paths, &r->nearest, o->jobs);
		rank_causes(g, &r->paths, &r->ranking, &r->limit, r->common);
		guard_progress(g, NULL);
		if (r->format != FORMAT_TEXT)
			note(g, r);
		write_result(r);
	}
	guard_progress(g, NULL);
	ranking_free(&r->ranking);
	paths_clear(&r->paths);
	return status;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "FILE", doc,
					  NULL,	   NULL,  NULL };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct options o = { .jobs = cpus > 0 && cpus < MAX_JOBS ? cpus : 1,
			     .result = {
				     .common = 0.5, .floor = 0.1, .top = 8 } };
	struct guard_job job = { .program = PROGRAM,
				 .idle_cpu = IDLE_CPU,
				 .work = work,
				 .arg = &o };

	output_check(PROGRAM);
	argv[0] = PROGRAM; /* what getopt's messages begin with */
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	o.result.color = cli_colors(o.output);
	job.file = o.file;
	job.output = o.output;
	return guard_run(&job);
}
