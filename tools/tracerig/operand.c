// SPDX-License-Identifier: GPL-2.0
/* The operand CASE. See operand.h. */
#include <dirent.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "case.h"
#include "cli.h"
#include "memory.h"
#include "operand.h"
#include "tracerig.h"

/* Directories that a message names */
#define BELOW_SHOWN 8

const struct argp_option operand_options[] = {
	{ "dir", OPT_DIR, "DIR", 0, "Directory of the cases (" CASES_DIR ")",
	  1 },
	{ 0 }
};

/**
 * operand_parse - parse the operand and --dir
 * @key: as argp calls its parsers
 * @arg: the same
 * @state: the same; its input is a struct operand
 *
 * Return: 0, or ARGP_ERR_UNKNOWN. Mistakes end the program.
 */
error_t operand_parse(int key, char *arg, struct argp_state *state)
{
	struct operand *o = state->input;
	u64 number;

	switch (key) {
	case OPT_DIR:
		o->dir = cli_file(state, "dir", arg);
		return 0;
	case ARGP_KEY_ARG:
		cli_operand(state, "CASE", &o->name, arg);
		if (!strchr(arg, '/') &&
		    (!parse_number(arg, &number) || !number))
			argp_error(
				state,
				"%s: must be the number of a case, or a directory with a slash in its name",
				arg);
		return 0;
	case ARGP_KEY_END:
		cli_operand(state, "CASE", &o->name, NULL);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/**
 * operand_directory - the directory of the case
 * @o: the command line
 *
 * Return: its path, for free(), without slashes at its end.
 */
char *operand_directory(const struct operand *o)
{
	size_t len;
	char *path;
	u64 number;

	if (!strchr(o->name, '/')) {
		parse_number(o->name, &number);
		return xasprintf("%s/%llu", o->dir, number);
	}
	path = xstrdup(o->name);
	for (len = strlen(path); len > 1 && path[len - 1] == '/'; len--)
		path[len - 1] = '\0';
	return path;
}

/* Whether a directory has a case: a directory that is a number, with a case.json */
static bool has_case(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	bool found = false;
	u64 number;

	while (d && !found && (e = readdir(d)) != NULL) {
		char *path = xasprintf("%s/%s/" CASE_FILE, dir, e->d_name);

		found = parse_number(e->d_name, &number) && number &&
			!access(path, F_OK);
		free(path);
	}
	if (d)
		closedir(d);
	return found;
}

/**
 * operand_below - find the directories of cases of services, such as tracerig-watch@disk
 * @dir: a directory
 *
 * Return: "--dir=DIR/disk --dir=DIR/wakeup", for free(); NULL if @dir has cases itself, or
 * there are none.
 */
char *operand_below(const char *dir)
{
	struct dirent **entry;
	char *list = NULL, *longer, *path;
	int i, n, found = 0;

	if (has_case(dir))
		return NULL;
	n = scandir(dir, &entry, NULL, alphasort);
	for (i = 0; i < n; i++) {
		path = xasprintf("%s/%s", dir, entry[i]->d_name);
		if (*entry[i]->d_name != '.' && found <= BELOW_SHOWN &&
		    has_case(path)) {
			longer = xasprintf(
				"%s%s%s%s", list ? list : "", list ? " " : "",
				found < BELOW_SHOWN ? "--dir=" : "...",
				found < BELOW_SHOWN ? path : "");
			free(list);
			list = longer;
			found++;
		}
		free(path);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	return list;
}

/* What a link leads to in the end, be it there or not, for free() */
static char *follow(const char *output)
{
	char *path = xstrdup(output), *next, to[PATH_MAX];
	unsigned int i;
	ssize_t len;

	for (i = 0; i < 40; i++) {
		len = readlink(path, to, sizeof(to) - 1);
		if (len < 0)
			break;
		to[len] = '\0';
		next = *to == '/' ? xstrdup(to) :
				    xasprintf("%s/%s", dirname(path), to);
		free(path);
		path = next;
	}
	return path;
}

/**
 * operand_output - where a result goes
 * @o: the command line
 * @number: number of the case
 * @suffix: how the name ends if there is no -o
 *
 * Return: the name, for free().
 */
char *operand_output(const struct operand *o, u64 number, const char *suffix)
{
	return o->output ? xstrdup(o->output) :
			   xasprintf("case-%llu.%s", number, suffix);
}

/* Why a result cannot be written to a file, or NULL */
static const char *wrong_output(const char *output, bool named,
				const char *path, const char *in,
				const char *of)
{
	size_t len = of ? strlen(of) : 0;
	struct stat st;
	bool there = !stat(output, &st);

	if (in && of && !strncmp(in, of, len) && (!in[len] || in[len] == '/'))
		return "would be a file of the case, which verify would report: use -o with another directory";
	/* Who may write to the directory could choose the file that is replaced */
	if (!named && strcmp(path, output) != 0)
		return "is a symbolic link: remove it, or name a file with -o";
	if (there && S_ISDIR(st.st_mode))
		return "Is a directory: name a file in it with -o";
	if (!in)
		return "No such file or directory: name a file in a directory that is there with -o";
	if ((!there || S_ISREG(st.st_mode)) && access(in, W_OK | X_OK))
		return "its directory cannot be written to: use -o with another one";
	return NULL;
}

/**
 * operand_check_output - refuse to write a result to a file that cannot be made, or belongs to
 *			  the case
 * @o: the command line
 * @output: the file, as operand_output() returned it
 * @dir: the case that the result is made of
 *
 * In the case it would be a file that does not belong to it, and make tracerig verify fail.
 *
 * Return: false after a message.
 */
bool operand_check_output(const struct operand *o, const char *output,
			  const char *dir)
{
	char *path = follow(output), *copy = xstrdup(path);
	char *in = realpath(dirname(copy), NULL), *of = realpath(dir, NULL);
	const char *wrong = wrong_output(output, o->output, path, in, of);

	if (wrong)
		complain("%s: %s", output, wrong);
	free(path);
	free(copy);
	free(in);
	free(of);
	return !wrong;
}
