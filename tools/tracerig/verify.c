// SPDX-License-Identifier: GPL-2.0
/* tracerig verify: checks a case against its schema and sums. */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "case.h"
#include "cli.h"
#include "elfcopy.h"
#include "memory.h"
#include "operand.h"
#include "text.h"
#include "tracerig.h"

static const char doc[] =
	"Check that a case is as it was written: case.json follows the schema of its "
	"version and has its own SHA-256 sum, and all files have their sizes and sums.\n\n"
	"CASE is the number of a case, or a directory with a case." OPERAND_DOC
	"\v"
	"Examples:\n"
	"  tracerig verify 3\n"
	"  tar -xf case3.tar && tracerig verify ./3\n"
	"\n"
	"Exit status: 0 the case is whole, 1 it is not, 2 usage.\n";

static char *cannot_read(const char *path)
{
	return xasprintf("%s: %s: %s", path, strerror(errno),
			 case_advice(errno));
}

static char *check_file(const char *dir, struct json_object *o)
{
	struct json_object *name, *bytes, *sum;
	char *path, *found, *error = NULL;
	struct stat st;
	u64 size;

	json_object_object_get_ex(o, "name", &name);
	json_object_object_get_ex(o, "bytes", &bytes);
	json_object_object_get_ex(o, "sha256", &sum);
	path = xasprintf("%s/%s", dir, json_object_get_string(name));
	if (lstat(path, &st)) {
		error = cannot_read(path);
	} else if (!S_ISREG(st.st_mode)) {
		error = xasprintf("%s: is not a regular file: " CASE_DAMAGED,
				  path);
	} else if ((u64)st.st_size != json_object_get_uint64(bytes)) {
		error = xasprintf(
			"%s: has %llu byte%s, not %llu: " CASE_DAMAGED, path,
			(unsigned long long)st.st_size, plural(st.st_size),
			(unsigned long long)json_object_get_uint64(bytes));
	} else {
		found = case_sum(path, &size);
		if (!found)
			error = cannot_read(path);
		else if (strcmp(found, json_object_get_string(sum)) != 0)
			error = xasprintf(
				"%s: its SHA-256 is not that in case.json: " CASE_DAMAGED,
				path);
		free(found);
	}
	free(path);
	return error;
}

static bool is_listed(struct json_object *files, const char *name)
{
	struct json_object *v;
	size_t i;

	for (i = 0; i < json_object_array_length(files); i++) {
		json_object_object_get_ex(json_object_array_get_idx(files, i),
					  "name", &v);
		if (!strcmp(json_object_get_string(v), name))
			return true;
	}
	return false;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

/* Whether a case has files that it does not list; those of symbols are in directories */
static char *check_others(const char *dir, const char *below,
			  struct json_object *files)
{
	char *path = xasprintf("%s/%s", dir, below), *error = NULL;
	DIR *d = opendir(path);
	struct dirent *e;

	if (!d)
		error = cannot_read(path);
	while (!error && (e = readdir(d)) != NULL) {
		char *name = xasprintf("%s%s", below, e->d_name);
		char *at = xasprintf("%s/%s", dir, name);
		char *in = xasprintf("%s/", name);

		if ((*below || !strcmp(name, SYMBOLS_DIR)) &&
		    strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    is_directory(at))
			error = check_others(dir, in, files);
		else if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
			 strcmp(name, CASE_FILE) && !is_listed(files, name))
			error = xasprintf(
				"%s: is not in case.json: move it out of the case",
				at);
		free(name);
		free(at);
		free(in);
	}
	if (d)
		closedir(d);
	free(path);
	return error;
}

/**
 * case_baseline - find the file with normal executions
 * @dir: directory of the case
 * @o: its case.json, as case_read() returned it
 *
 * Return: its path, for free(); NULL if the case has none.
 */
char *case_baseline(const char *dir, struct json_object *o)
{
	struct json_object *files;

	json_object_object_get_ex(o, "files", &files);
	if (!is_listed(files, BASELINE_FILE))
		return NULL;
	return xasprintf("%s/" BASELINE_FILE, dir);
}

static bool is_file_of(const char *name, const char *only)
{
	size_t len = strlen(only);

	return only[len - 1] == '/' ? !strncmp(name, only, len) :
				      !strcmp(name, only);
}

/**
 * case_damage - check the files that a case lists
 * @dir: its directory
 * @o: its case.json, as case_read() returned it
 * @only: name of the file to check, or of a directory with "/"; NULL: all of them
 *
 * Return: NULL, or what is wrong and what to do about it, for free().
 */
char *case_damage(const char *dir, struct json_object *o, const char *only)
{
	struct json_object *files, *file, *name;
	char *error = NULL;
	size_t i;

	memory_doing("checking the files of %s", dir);
	json_object_object_get_ex(o, "files", &files);
	for (i = 0; i < json_object_array_length(files) && !error; i++) {
		file = json_object_array_get_idx(files, i);
		json_object_object_get_ex(file, "name", &name);
		if (!only || is_file_of(json_object_get_string(name), only))
			error = check_file(dir, file);
	}
	return error;
}

/**
 * case_verify - check that a case has the files that it lists, and no others
 * @dir: its directory
 * @o: its case.json, as case_read() returned it
 *
 * Return: NULL, or what is wrong and what to do about it, for free().
 */
char *case_verify(const char *dir, struct json_object *o)
{
	struct json_object *files;
	char *error = NULL;

	json_object_object_get_ex(o, "files", &files);
	/* First, so that no file is read through a link to a directory */
	error = check_others(dir, "", files);
	if (!error)
		error = case_damage(dir, o, NULL);
	if (!error)
		error = case_changed(dir, o);
	if (!error && !is_listed(files, "trace.dat"))
		error = xasprintf("%s/" CASE_FILE
				  ": has no trace.dat: " CASE_DAMAGED,
				  dir);
	return error;
}

/**
 * verify_main - the command verify
 * @argc: as of main()
 * @argv: the same, the first one a name for messages
 *
 * Return: the exit status.
 */
int verify_main(int argc, char **argv)
{
	static const struct argp argp = {
		operand_options, operand_parse, "CASE", doc, NULL, NULL, NULL
	};
	struct operand o = { .dir = CASES_DIR };
	struct json_object *json;
	char *dir, *error;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	dir = operand_directory(&o);
	json = case_read(dir, &error);
	if (!error)
		error = case_verify(dir, json);
	if (error)
		complain("%s", error);
	else
		printf("%s: whole\n", dir);
	status = error ? EXIT_FAILURE : EXIT_SUCCESS;
	json_object_put(json);
	free(dir);
	free(error);
	return status;
}
