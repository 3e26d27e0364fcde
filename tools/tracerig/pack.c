// SPDX-License-Identifier: GPL-2.0
/* tracerig pack: a TAR of a case, by tar(1). */
#include <argp.h>
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"
#include "cli.h"
#include "memory.h"
#include "operand.h"
#include "output.h"
#include "text.h"
#include "tracerig.h"

static const struct argp_option options[] = {
	{ "dir", OPT_DIR, "DIR", 0, "Directory of the cases (" CASES_DIR ")",
	  1 },
	{ "output", 'o', "FILE", 0,
	  "Write to FILE, which is replaced only if there was no error; - is standard output (case-N.tar)",
	  2 },
	{ 0 }
};

static const char doc[] =
	"Make a TAR of a case, after checking that it is whole.\n\n"
	"CASE is the number of a case, or a directory with a case." OPERAND_DOC
	"\v"
	"Examples:\n"
	"  tracerig pack 3\n"
	"  tracerig pack 3 -o - | ssh desk tar -x\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct operand *o = state->input;

	if (key != 'o')
		return operand_parse(key, arg, state);
	o->output = cli_file(state, "output", arg);
	return 0;
}

/*
 * These options make the TAR of a case the same for every user. The paths of symbols are
 * too long for the format ustar, and posix notes tar's process.
 */
static void become_tar(const char *dir, int out, int messages)
{
	char *parent = xstrdup(dir), *name = xstrdup(dir);
	char *from = dirname(parent), *what = basename(name);

	dup2(out, STDOUT_FILENO);
	dup2(messages, STDERR_FILENO);
	execlp("tar", "tar", "--create", "--file=-", "--format=gnu",
	       "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "-C",
	       from, "--", what, NULL);
	dprintf(STDERR_FILENO, "tar: %s\n", strerror(errno));
	_exit(127);
}

/* Return: NULL, or the first line of tar's messages about its failure, for free() */
static char *run_tar(const char *dir, int out)
{
	char line[512] = "tar failed";
	int status = -1, messages[2];
	FILE *said;
	pid_t pid;

	if (pipe2(messages, O_CLOEXEC))
		return xasprintf("cannot start tar: %s", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (!pid)
		become_tar(dir, out, messages[1]);
	if (pid < 0)
		snprintf(line, sizeof(line), "cannot start tar: %s",
			 strerror(errno));
	close(messages[1]);
	said = fdopen(messages[0], "r");
	if (!said)
		memory_failed();
	if (fgets(line, sizeof(line), said))
		line[strcspn(line, "\n")] = '\0';
	while (getc(said) != EOF)
		;
	fclose(said);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status ? xstrdup(line) : NULL;
}

static int pack(const char *dir, const char *output)
{
	struct output o;
	FILE *out = output_open(&o, strcmp(output, "-") ? output : NULL);
	char *error;
	int status;

	if (!out) {
		complain("%s: %s", output, output_error(output));
		return EXIT_FAILURE;
	}
	error = run_tar(dir, fileno(out));
	if (fclose(out) && !error)
		error = xstrdup(strerror(errno));
	if (error)
		complain(
			"%s: cannot write the result: %s%s",
			strcmp(output, "-") ? output : "standard output", error,
			strcmp(output, "-") && strstr(error, strerror(ENOSPC)) ?
				": free space, or write to another file" :
				"");
	status = output_finish(&o, PROGRAM " pack",
			       error ? EXIT_FAILURE : EXIT_SUCCESS);
	free(error);
	return status;
}

/**
 * pack_main - the command pack
 * @argc: as of main()
 * @argv: the same, the first one a name for messages
 *
 * Return: the exit status.
 */
int pack_main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "CASE", doc,
					  NULL,	   NULL,  NULL };
	struct operand o = { .dir = CASES_DIR };
	char *dir, *error, *output, *real;
	struct json_object *json;
	int status = EXIT_FAILURE;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	dir = operand_directory(&o);
	json = case_read(dir, &error);
	if (!error)
		error = case_verify(dir, json);
	if (error) {
		complain("%s", error);
	} else {
		/* Its own name, even if it was called "." or by a link */
		real = realpath(dir, NULL);
		if (real) {
			free(dir);
			dir = real;
		}
		output = operand_output(&o, json_u64(json, "case"), "tar");
		if (!strcmp(output, "-") && isatty(STDOUT_FILENO))
			complain("a TAR cannot be written to a terminal");
		else if (!strcmp(output, "-") ||
			 operand_check_output(&o, output, dir))
			status = pack(dir, output);
		free(output);
	}
	json_object_put(json);
	free(error);
	free(dir);
	return status;
}
