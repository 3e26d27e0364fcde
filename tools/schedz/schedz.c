// SPDX-License-Identifier: GPL-2.0
/* schedz: the command line */
#include <argp.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "output.h"
#include "schedz.h"
#include "version.h"

/* Limit of the CPU seconds that the trace libraries use for an event */
#define IDLE_CPU 10

#define OPT_FORMAT 256
#define OPT_INSTANCE 257

const char *argp_program_version = PROGRAM " " TRACERIG_VERSION;
error_t argp_err_exit_status = 2;

static const char doc[] =
	"Receive traces, and read those with blocks of scheduling events.\n\n"
	"Commands:\n"
	"  schedz expand  write the ordinary events\n"
	"  schedz decode  print the events\n"
	"  schedz stat    print statistics of the blocks\n"
	"  schedz collect receive traces that kernels send with tracecast\n"
	"\v"
	"Each command has a --help of its own.\n"
	"\n"
	"Example:\n"
	"  trace-cmd record -e sched -O schedz sleep 60\n"
	"  schedz stat trace.dat\n"
	"  schedz expand trace.dat -o plain.dat\n"
	"  trace-cmd report plain.dat\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

static const char expand_doc[] =
	"Write a trace with ordinary events in the place of blocks of "
	"scheduling events.\n"
	"\v"
	"trace-cmd, KernelShark and other programs for trace.dat can read the result; "
	"all fields and times of the events are as they were in the kernel.\n"
	"\n"
	"Example:\n"
	"  schedz expand trace.dat -o plain.dat\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

static const char decode_doc[] =
	"Print the events of a trace with blocks of scheduling events, in the "
	"order of their times.\n"
	"\v"
	"Examples:\n"
	"  schedz decode trace.dat | less\n"
	"  schedz decode --format=json trace.dat | jq 'select(.next_prio < 100)'\n"
	"  schedz decode --format=chrome -o trace.json trace.dat    # for Perfetto\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

static const char stat_doc[] =
	"Print statistics of the blocks of scheduling events in a trace.\n"
	"\v"
	"\"smaller\" compares with the bytes that ftrace would have written to the "
	"ring buffer for the same events; \"lost\" is the exact number of events "
	"that are lost between blocks. For a file of schedz collect, the "
	"ledger of its session is printed as well.\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

static const struct argp_option output_option = {
	"output",
	'o',
	"FILE",
	0,
	"Write to FILE, which is replaced only if there was no error",
	2
};

static const struct argp_option instance_option = {
	"instance",
	OPT_INSTANCE,
	"NAME",
	0,
	"Read this trace instance instead of the main one",
	2
};

enum command { EXPAND, DECODE, STAT };

struct options {
	enum command command;
	const char *file;
	const char *instance;
	const char *output;
	enum decode_format format;
	bool json;
};

static void set_format(struct options *o, const char *arg,
		       struct argp_state *state)
{
	static const char *const formats[] = {
		[DECODE_FTRACE] = "ftrace",
		[DECODE_JSON] = "json",
		[DECODE_DAT] = "dat",
		[DECODE_CHROME] = "chrome",
	};
	static const char *const stat_formats[] = { "text", "json" };

	if (o->command == STAT)
		o->json = cli_word(state, "format", arg, stat_formats,
				   ARRAY_SIZE(stat_formats));
	else
		o->format = cli_word(state, "format", arg, formats,
				     ARRAY_SIZE(formats));
}

static void check(struct options *o, struct argp_state *state)
{
	bool dat = o->command == EXPAND ||
		   (o->command == DECODE && o->format == DECODE_DAT);

	cli_operand(state, "FILE", &o->file, NULL);
	if (dat && !o->output)
		argp_error(state,
			   "missing -o FILE: a trace.dat cannot be written "
			   "to a terminal or a pipe");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'o':
		o->output = arg;
		return 0;
	case OPT_INSTANCE:
		o->instance = arg;
		return 0;
	case OPT_FORMAT:
		set_format(o, arg, state);
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

static int work(struct guard *g, FILE *out, void *arg)
{
	const struct options *o = arg;

	switch (o->command) {
	case EXPAND:
		return expand(g, out, o->file, o->instance);
	case DECODE:
		return decode(g, out, o->file, o->instance, o->format);
	default:
		return stat_print(g, out, o->file, o->instance, o->json);
	}
}

static int run(struct options *o, const struct argp *argp, const char *name,
	       int argc, char **argv)
{
	struct guard_job job = {
		.program = PROGRAM,
		.idle_cpu = IDLE_CPU,
		.work = work,
		.arg = o,
	};
	char *was = argv[0];

	argv[0] = (char *)name; /* getopt's messages begin with it */
	argp_parse(argp, argc, argv, 0, NULL, o);
	argv[0] = was;
	job.file = o->file;
	job.output = o->output;
	return guard_run(&job);
}

static int expand_main(int argc, char **argv)
{
	const struct argp_option options[] = { instance_option,
					       output_option,
					       { 0 } };
	const struct argp argp = { options, parse, "FILE", expand_doc,
				   NULL,    NULL,  NULL };
	struct options o = { .command = EXPAND };

	return run(&o, &argp, PROGRAM " expand", argc, argv);
}

static int decode_main(int argc, char **argv)
{
	const struct argp_option options[] = {
		{ "format", OPT_FORMAT, "ftrace|json|dat|chrome", 0,
		  "ftrace (default): as trace-cmd report prints them, json: an object per event, dat: as schedz expand, chrome: the tasks on each CPU, for Perfetto",
		  1 },
		instance_option,
		output_option,
		{ 0 }
	};
	const struct argp argp = { options, parse, "FILE", decode_doc,
				   NULL,    NULL,  NULL };
	struct options o = { .command = DECODE };

	return run(&o, &argp, PROGRAM " decode", argc, argv);
}

static int stat_main(int argc, char **argv)
{
	const struct argp_option options[] = { { "format", OPT_FORMAT,
						 "text|json", 0,
						 "text (default) or json", 1 },
					       instance_option,
					       output_option,
					       { 0 } };
	const struct argp argp = { options, parse, "FILE", stat_doc,
				   NULL,    NULL,  NULL };
	struct options o = { .command = STAT };

	return run(&o, &argp, PROGRAM " stat", argc, argv);
}

static error_t parse_command(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_ARG)
		argp_error(
			state,
			"unknown command %s: must be expand, decode, stat or collect",
			arg);
	if (key == ARGP_KEY_END)
		argp_error(state,
			   "missing command: expand, decode, stat or collect");
	return ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*main)(int argc, char **argv);
	} commands[] = {
		{ "expand", expand_main },
		{ "decode", decode_main },
		{ "stat", stat_main },
		{ "collect", collect_main },
	};
	static const struct argp argp = { NULL, parse_command, "COMMAND FILE",
					  doc,	NULL,	       NULL,
					  NULL };
	unsigned int i;

	output_check(PROGRAM);
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (argc > 1 && !strcmp(argv[1], commands[i].name))
			return commands[i].main(argc - 1, argv + 1);
	}
	argv[0] = PROGRAM;
	return argp_parse(&argp, argc, argv, 0, NULL, NULL);
}
