// SPDX-License-Identifier: GPL-2.0
/* pathdiff: which kernel function made a call slow */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pathdiff.h"
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
	OPT_COMMON,
	OPT_SLEEP,
	OPT_SCHEDULER,
	OPT_FORMAT,
	OPT_TOP,
	OPT_BRIEF,
	OPT_JOBS,
};

/**
 * struct options - the command line
 * @file:	the trace
 * @baseline:	a trace of when all was well, or NULL
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
	  "A trace of when all was well: draw the limit from it, and compare with its paths",
	  1 },
	{ "limit", OPT_LIMIT, "TIME", 0,
	  "Executions that take longer than TIME (7us, 10ms, 1.5s) are slow",
	  1 },
	{ "common", OPT_COMMON, "PERCENT", 0,
	  "Look for the cause in the part that the paths have in common if at least PERCENT of the time is spent there (50)",
	  2 },
	{ "sleep-time", OPT_SLEEP, "on|off|auto", 0,
	  "Whether durations in the trace contain the time asleep (auto: find out)",
	  2 },
	{ "scheduler", OPT_SCHEDULER, NULL, 0,
	  "Keep what runs below schedule() in the paths", 2 },
	{ "format", OPT_FORMAT, "text|json|csv|folded|chrome|html", 0,
	  "text (default), json, csv: a line per slow execution, folded: for difffolded.pl and flamegraph.pl, chrome: for ui.perfetto.dev, html: one page to look into",
	  3 },
	{ "top", OPT_TOP, "N", 0, "List N functions of each cause (8)", 3 },
	{ "brief", OPT_BRIEF, NULL, 0, "The causes alone, without figures", 3 },
	{ "output", 'o', "FILE", 0,
	  "Write to FILE, which is replaced when all went well", 3 },
	{ "jobs", OPT_JOBS, "N", 0,
	  "Compare paths with N threads (default: one per CPU)", 3 },
	{ 0 }
};

static const char doc[] =
	"Say which kernel function made a call slow.\n\n"
	"FILE is a function_graph trace. Executions of one function that took "
	"longer than the limit of a control chart are compared with the most "
	"similar of those that did not, and what made them slow is named: a "
	"function that took longer than usual, one that is not called usually, "
	"an interrupt, or what was waited for.\n"
	"\v"
	"Examples:\n"
	"  # why are some reads slow?\n"
	"  trace-cmd record -p function_graph -g ksys_read -e sched:sched_switch \\\n"
	"    -e sched:sched_waking -R stacktrace -o bad.dat sleep 10\n"
	"  pathdiff bad.dat\n"
	"\n"
	"  # the same, with a recording of when they were not\n"
	"  pathdiff --baseline good.dat bad.dat\n"
	"\n"
	"  # a page to look into; the worst execution beside a normal one in Perfetto\n"
	"  pathdiff --format=html -o bad.html bad.dat\n"
	"  pathdiff --format=chrome -o bad.json bad.dat\n"
	"\n"
	"Exit status: 0 done, 1 trouble, 2 usage.\n";

static u64 get_time(const char *arg, struct argp_state *state)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 },
		      { "us", 1e3 },
		      { "ms", 1e6 },
		      { "s", 1e9 },
		      { "", 1 } };
	char *end;
	double v;
	size_t i;

	errno = 0;
	v = strtod(arg, &end);
	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (!strcmp(end, units[i].name) && end != arg && !errno &&
		    v * units[i].ns >= 1 && v * units[i].ns < 1e18)
			return v * units[i].ns;
	}
	argp_error(state, "--limit=%s is no time such as 7us, 10ms or 1.5s",
		   arg);
	return 0;
}

static u32 get_number(const char *option, const char *arg, u32 min, u32 max,
		      struct argp_state *state)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(arg, &end, 10);
	if (errno || end == arg || *end || *arg == '-' || n < min || n > max)
		argp_error(state, "--%s=%s is no number from %u to %u", option,
			   arg, min, max);
	return n;
}

/* Which of several words, ending with NULL */
static int get_word(const char *option, const char *arg,
		    const char *const *word, struct argp_state *state)
{
	int i;

	for (i = 0; word[i]; i++) {
		if (!strcmp(arg, word[i]))
			return i;
	}
	argp_error(state, "--%s=%s: not known; see --help", option, arg);
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const sleep[] = { "auto", "on", "off", NULL };
	static const char *const formats[] = { "text",	 "json",   "csv",
					       "folded", "chrome", "html",
					       NULL };
	struct options *o = state->input;

	switch (key) {
	case OPT_ENTRY:
		o->entry = arg;
		break;
	case OPT_BASELINE:
		o->baseline = arg;
		break;
	case OPT_LIMIT:
		o->limit = get_time(arg, state);
		break;
	case OPT_COMMON:
		o->result.common =
			get_number("common", arg, 0, 100, state) / 100.0;
		break;
	case OPT_SLEEP:
		o->sleep = get_word("sleep-time", arg, sleep, state);
		break;
	case OPT_SCHEDULER:
		o->scheduler = true;
		break;
	case OPT_FORMAT:
		o->result.format = get_word("format", arg, formats, state);
		break;
	case OPT_TOP:
		o->result.top = get_number("top", arg, 1, MAX_TOP, state);
		break;
	case OPT_BRIEF:
		o->result.brief = true;
		break;
	case OPT_JOBS:
		o->jobs = get_number("jobs", arg, 1, MAX_JOBS, state);
		break;
	case 'o':
		o->output = arg;
		break;
	case ARGP_KEY_ARG:
		if (o->file)
			argp_error(state, "one FILE at a time");
		o->file = arg;
		break;
	case ARGP_KEY_END:
		if (!o->file)
			argp_error(state, "which FILE?");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int read_file(struct guard *g, struct options *o, enum side side)
{
	struct result *r = &o->result;
	struct read_options how = { .entry = o->entry,
				    .sleep = o->sleep,
				    .side = side };

	r->source[side].file = side == SIDE_BASELINE ? o->baseline : o->file;
	return reader_read(g, &r->paths, &r->source[side], &how);
}

/*
 * The trace is read first: it says which function, where the user does not. The
 * baseline must have the same.
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
		[FORMAT_TEXT] = report_text,
		[FORMAT_JSON] = report_json,
		[FORMAT_CSV] = report_csv,
		[FORMAT_FOLDED] = report_folded,
		[FORMAT_CHROME] = report_chrome,
		[FORMAT_HTML] = report_html,
	};

	report[r->format](r);
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
		status = limit_find(g, &r->paths, &r->limit, o->limit);
	if (!status) {
		nearest_find(g, &r->paths, &r->nearest, o->jobs);
		rank_causes(g, &r->paths, &r->ranking, r->common);
		if (r->limit.healthy)
			r->ranking.named = 0;
		guard_progress(g, NULL);
		if (r->source[SIDE_TRACE].gaps && r->format != FORMAT_TEXT)
			guard_note(g, "records were lost %llu times",
				   r->source[SIDE_TRACE].gaps);
		write_result(r);
	}
	guard_progress(g, NULL);
	ranking_free(&r->ranking);
	paths_free(&r->paths);
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
	static const struct argp argp = { options, parse, "FILE", doc,
					  NULL,	   NULL,  NULL };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct options o = { .jobs = cpus > 0 && cpus < MAX_JOBS ? cpus : 1,
			     .result = { .common = 0.5, .top = 8 } };
	struct guard_job job = { .program = PROGRAM,
				 .idle_cpu = IDLE_CPU,
				 .work = work,
				 .arg = &o };

	argv[0] = PROGRAM; /* what getopt's messages begin with */
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	o.result.color = shows_colors(&o);
	job.file = o.file;
	job.output = o.output;
	return guard_run(&job);
}
