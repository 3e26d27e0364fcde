// SPDX-License-Identifier: GPL-2.0
/* lbrtime: what ran between two samples, and when */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "lbrtime.h"
#include "output.h"
#include "version.h"

const char *argp_program_version = PROGRAM " " TRACERIG_VERSION;
error_t argp_err_exit_status = 2;

/* CPU seconds in which the work must make progress */
#define IDLE_CPU 120

#define DEFAULT_TOP 20

/* Before and after --around's time, ns */
#define DEFAULT_SPAN 100000

enum {
	OPT_FORMAT = 0x100,
	OPT_METHOD,
	OPT_TOP,
	OPT_AROUND,
	OPT_REQUEST,
	OPT_VISITS,
	OPT_GHZ,
	OPT_SYMFS,
	OPT_VMLINUX,
	OPT_KALLSYMS,
	OPT_INSTANCE,
	OPT_NO_DEMANGLE,
};

/**
 * struct options - the command line
 * @report:	what to print
 * @format:	format of the result
 * @files:	where symbols are
 * @ghz:	cycles per ns, or 0
 * @top:	maximum number of functions, 0: the format's default
 * @has_method:	a method was given
 * @file:	file to read
 * @instance:	its trace instance, NULL for the main one
 * @output:	file to write to, or NULL
 */
struct options {
	struct report report;
	enum format format;
	struct symbol_files files;
	double ghz;
	u64 top;
	bool has_method;
	const char *file;
	const char *instance;
	const char *output;
};

static const char *const formats[FORMATS] = {
	"text",	      "json",	"csv",	   "folded",
	"speedscope", "chrome", "brstack", "html",
};

static const struct argp_option options[] = {
	{ "format", OPT_FORMAT,
	  "text|json|csv|folded|speedscope|chrome|brstack|html", 0,
	  "text (default), json or csv; folded or speedscope (stacks); chrome (Perfetto); "
	  "brstack (as of perf script); html (a page)",
	  1 },
	{ "method", OPT_METHOD, "METHOD", 0,
	  "How time is attributed to functions, for formats that show only one: sample, equal, "
	  "share, ratio, cycles, fit (default: cycles if available, or else fit, equal or, without branches, sample)",
	  1 },
	{ "top", OPT_TOP, "N", 0,
	  "Print the N functions with the most time (default: 20 in text, all otherwise)",
	  1 },
	{ "visits", OPT_VISITS, NULL, 0,
	  "Print every visit of a function, in order (csv and json)", 1 },
	{ "around", OPT_AROUND, "TIME[,SPAN]", 0,
	  "Print what ran around TIME of the trace's clock, in seconds or with a unit, SPAN before and after it "
	  "(default: 100us)",
	  1 },
	{ "request", OPT_REQUEST, "FUNCTION", 0,
	  "Print the slowest executions of FUNCTION from call to return, and what ran in them",
	  1 },
	{ "output", 'o', "FILE", 0,
	  "Write to FILE, which is replaced only on success", 1 },
	{ "instance", OPT_INSTANCE, "NAME", 0,
	  "Read this trace instance of a trace.dat instead of the main one",
	  2 },
	{ "ghz", OPT_GHZ, "N", 0,
	  "The clock of cycles has N GHz (default: found from the trace)", 2 },
	{ "symfs", OPT_SYMFS, "DIR", 0, "Look up files in DIR instead of /",
	  2 },
	{ "no-demangle", OPT_NO_DEMANGLE, NULL, 0,
	  "Print names of C++ and Rust functions as they are in files", 2 },
	{ "vmlinux", OPT_VMLINUX, "FILE", 0, "Symbols and code of the kernel",
	  2 },
	{ "kallsyms", OPT_KALLSYMS, "FILE", 0,
	  "Symbols of the kernel: a copy of /proc/kallsyms", 2 },
	{ 0 }
};

static const char doc[] =
	"Show what ran between two samples, and when.\n\n"
	"FILE is a trace.dat with events of lbrprof, a perf.data of samples with branches, or its "
	"output by perf script; - is standard input. A sample's branches show which functions ran "
	"since the sample before it, in order; each gets its part of that time.\n"
	"\v"
	"Examples:\n"
	"  trace-cmd record -e lbrprof -e sched_switch sleep 10\n"
	"  lbrtime trace.dat\n"
	"  lbrtime --around=1234.567890,50us trace.dat\n"
	"  lbrtime --format=html -o page.html trace.dat\n"
	"  perf record --sample-cpu -j any_call,any_ret,u -F 10000 -- ./program\n"
	"  lbrtime perf.data\n"
	"  perf script --ns --show-mmap-events -F comm,pid,tid,cpu,time,ip,sym,brstack | lbrtime -\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

static u64 get_top(const char *arg, struct argp_state *state)
{
	return cli_number(state, "top", arg, 1, UINT64_MAX);
}

static void get_around(struct report *r, const char *arg,
		       struct argp_state *state)
{
	size_t len = strcspn(arg, ",");
	char *time = xstrndup(arg, len);

	r->span = DEFAULT_SPAN;
	r->has_around = true;
	if ((!parse_seconds(time, &r->around) &&
	     !parse_time(time, &r->around)) ||
	    (arg[len] && !parse_time(arg + len + 1, &r->span)))
		argp_error(
			state,
			"--around=%s: must be TIME[,SPAN], in seconds or with a unit, such as 12.5,50us",
			arg);
	free(time);
}

static double get_ghz(const char *arg, struct argp_state *state)
{
	u64 hz;

	/* Nine decimals, as of seconds */
	if (!parse_seconds(arg, &hz) || hz / 1e9 < 1 / CYCLE_MAX ||
	    hz / 1e9 > 1 / CYCLE_MIN)
		argp_error(state, "--ghz=%s: must be a number from 0.1 to 10",
			   arg);
	return hz / 1e9;
}

static void get_format(struct options *o, const char *arg,
		       struct argp_state *state)
{
	o->format = cli_word(state, "format", arg, formats, FORMATS);
}

static void get_method(struct options *o, const char *arg,
		       struct argp_state *state)
{
	const char *names[METHODS];
	unsigned int i;

	for (i = 0; i < METHODS; i++)
		names[i] = method_name(i);
	o->report.method = cli_word(state, "method", arg, names, METHODS);
	o->has_method = true;
}

static void check(struct options *o, struct argp_state *state)
{
	cli_operand(state, "FILE", &o->file, NULL);
	if (o->report.has_around && o->report.request)
		argp_error(state, "--around and --request cannot be combined");
	if ((o->report.has_around || o->report.request) &&
	    o->format != FORMAT_TEXT)
		argp_error(state,
			   "--around and --request require --format=text");
	if (o->report.visits && o->format != FORMAT_CSV &&
	    o->format != FORMAT_JSON)
		argp_error(state, "--visits requires --format=csv or json");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPT_FORMAT:
		get_format(o, arg, state);
		return 0;
	case OPT_METHOD:
		get_method(o, arg, state);
		return 0;
	case OPT_TOP:
		o->top = get_top(arg, state);
		return 0;
	case OPT_VISITS:
		o->report.visits = true;
		return 0;
	case OPT_AROUND:
		get_around(&o->report, arg, state);
		return 0;
	case OPT_REQUEST:
		o->report.request = arg;
		return 0;
	case OPT_INSTANCE:
		o->instance = arg;
		return 0;
	case OPT_GHZ:
		o->ghz = get_ghz(arg, state);
		return 0;
	case OPT_SYMFS:
		o->files.elf.root = arg;
		return 0;
	case OPT_NO_DEMANGLE:
		o->files.elf.no_demangle = true;
		return 0;
	case OPT_VMLINUX:
		o->files.vmlinux = arg;
		return 0;
	case OPT_KALLSYMS:
		o->files.kallsyms = arg;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		cli_operand(state, "FILE", &o->file, arg);
		return 0;
	case ARGP_KEY_END:
		check(o, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void report(const struct timeline *t, const struct options *o)
{
	static void (*const write[FORMATS])(const struct timeline *,
					    const struct report *) = {
		[FORMAT_TEXT] = lbrtime_write_text,
		[FORMAT_JSON] = lbrtime_write_json,
		[FORMAT_CSV] = lbrtime_write_csv,
		[FORMAT_FOLDED] = lbrtime_write_folded,
		[FORMAT_SPEEDSCOPE] = lbrtime_write_speedscope,
		[FORMAT_CHROME] = lbrtime_write_chrome,
		[FORMAT_BRSTACK] = lbrtime_write_brstack,
		[FORMAT_HTML] = lbrtime_write_html,
	};

	if (o->report.has_around || o->report.request)
		lbrtime_write_needles(t, &o->report);
	else
		write[o->format](t, &o->report);
}

static int choose_method(struct guard *g, const struct timeline *t,
			 struct options *o)
{
	struct report *r = &o->report;

	if (!o->has_method)
		r->method = method_there(t, METHOD_CYCLES) ? METHOD_CYCLES :
			    method_there(t, METHOD_FIT)	   ? METHOD_FIT :
			    t->branches			   ? METHOD_EQUAL :
							     METHOD_SAMPLE;
	if (method_there(t, r->method))
		return 0;
	if (r->method == METHOD_CYCLES)
		return guard_fail(g, GUARD_NOWHERE, "--method=cycles: %s",
				  t->has_cycles ? clock_trouble(t) :
						  "no cycles were recorded");
	return guard_fail(
		g, GUARD_NOWHERE,
		"--method=fit: no interval is whole, and branches were not counted");
}

static int work(struct guard *g, FILE *out, void *arg)
{
	struct options *o = arg;
	struct timeline t = { 0 };
	int status;

	t.symbols = symtab_new(g, &o->files);
	status = lbrtime_read(g, &t, o->file, o->instance);
	if (!status)
		kernel_name(&t);
	memory_doing("finding symbols");
	if (!status)
		status = symtab_resolve(t.symbols);
	if (!status && timeline_is_call_stack(&t))
		status = guard_fail(g, GUARD_NOWHERE, "%s", CALL_STACKS);
	if (!status) {
		guard_alive(g, GUARD_NOWHERE);
		memory_doing("assigning times to branches");
		timeline_finish(&t, o->ghz);
		guard_alive(g, GUARD_NOWHERE);
		status = choose_method(g, &t, o);
	}
	guard_progress(g, NULL);
	if (!status) {
		o->report.out = out;
		o->report.top = o->top			 ? o->top :
				o->format == FORMAT_TEXT ? DEFAULT_TOP :
							   U64_MAX;
		report(&t, o);
	}
	timeline_free(&t);
	return status;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "FILE", doc,
					  NULL,	   NULL,  NULL };
	static struct options o = { .files.elf.root = "" };
	struct guard_job job = {
		.program = PROGRAM,
		.idle_cpu = IDLE_CPU,
		.work = work,
		.arg = &o,
	};

	output_check(PROGRAM);
	argv[0] = PROGRAM; /* for getopt's messages */
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	job.file = o.file;
	job.output = o.output;
	return guard_run(&job);
}
