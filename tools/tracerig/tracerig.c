// SPDX-License-Identifier: GPL-2.0
/* tracerig: the command line */
#include <argp.h>
#include <linux/kernel.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "output.h"
#include "tracerig.h"
#include "version.h"

const char *argp_program_version = PROGRAM " " TRACERIG_VERSION;
error_t argp_err_exit_status = 2;

static const char doc[] =
	"Watch a machine, and keep a case for each abnormal operation.\n\n"
	"Commands:\n"
	"  tracerig doctor  show what works on this machine, and what to do about the rest\n"
	"  tracerig watch   learn what is usual, wait, keep a case for each alarm\n"
	"  tracerig list    list the cases\n"
	"  tracerig explain show where an operation's time went\n"
	"  tracerig open    make a page of a case, and show it in a browser\n"
	"  tracerig pack    make a TAR of a case\n"
	"  tracerig verify  check that a case is as it was written\n"
	"\v"
	"Each command has a --help of its own.\n"
	"\n"
	"Example:\n"
	"  tracerig doctor\n"
	"  tracerig watch disk --for 7d\n"
	"  tracerig list\n"
	"  tracerig explain 3\n"
	"  tracerig open 3\n"
	"  tracerig pack 3 -o case3.tar\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

static error_t parse_command(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_ARG)
		argp_error(
			state,
			"unknown command %s: must be doctor, watch, list, explain, open, pack or verify",
			arg);
	if (key == ARGP_KEY_END)
		argp_error(
			state,
			"missing command: doctor, watch, list, explain, open, pack or verify");
	return ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		char *program; /* in messages */
		int (*main)(int argc, char **argv);
	} commands[] = {
		{ "doctor", PROGRAM " doctor", doctor_main },
		{ "watch", PROGRAM " watch", watch_main },
		{ "list", PROGRAM " list", list_main },
		{ "explain", PROGRAM " explain", explain_main },
		{ "open", PROGRAM " open", open_main },
		{ "pack", PROGRAM " pack", pack_main },
		{ "verify", PROGRAM " verify", verify_main },
	};
	static const struct argp argp = {
		NULL, parse_command, "COMMAND [ARG...]", doc, NULL, NULL, NULL
	};
	size_t i;

	/* Ignored, as some programs leave it, children could not be waited for */
	signal(SIGCHLD, SIG_DFL);
	for (i = 0; i < ARRAY_SIZE(commands) && argc > 1; i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		complain_as(commands[i].program);
		output_check(commands[i].program);
		argv[1] = commands[i].program;
		return commands[i].main(argc - 1, argv + 1);
	}
	argv[0] = PROGRAM;
	output_check(PROGRAM);
	return argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, NULL);
}
