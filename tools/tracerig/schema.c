// SPDX-License-Identifier: GPL-2.0
/*
 * The schema of case.json, versions 1 and 2: this table, which tracerig(1) describes, and the
 * functions that check a case against it.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "case.h"
#include "elfcopy.h"
#include "memory.h"
#include "operand.h"
#include "text.h"
#include "window.h"

/* No case.json is larger, since its lists are bounded. Its objects take some 40 times as much */
#define CASE_FILE_MAX (4 << 20)

/* CLOCK: a time of the trace clock in ns */
enum type { TEXT, NUMBER, CLOCK, BOOL, OBJECT, LIST, TEXTS, TIME, SUM, NAME };

/**
 * struct member - a member of an object
 * @in:		the object: "" for case.json itself
 * @name:	its name
 * @type:	its type
 * @optional:	it may be absent
 * @as:		@in of the members of the OBJECT, or of the LIST's objects; NULL: @name
 */
struct member {
	const char *in;
	const char *name;
	enum type type;
	bool optional;
	const char *as;
};

static const struct member members[] = {
	{ "", "format", TEXT, false, NULL },
	{ "", "version", NUMBER, false, NULL },
	{ "", "program", TEXT, false, NULL },
	{ "", "case", NUMBER, false, NULL },
	{ "", "time", TIME, false, NULL },
	{ "", "group", TEXT, false, NULL },
	{ "", "nth", NUMBER, false, NULL },
	{ "", "host", OBJECT, false, NULL },
	{ "", "chart", OBJECT, false, NULL },
	{ "", "alarm", OBJECT, false, NULL },
	{ "", "nr_alarms", NUMBER, false, NULL },
	{ "", "alarms", LIST, false, "alarm" },
	{ "", "values", LIST, false, "value" },
	{ "", "window", OBJECT, false, NULL },
	{ "", "losses", OBJECT, false, NULL },
	{ "", "missing", TEXTS, false, NULL },
	{ "", "files", LIST, false, "file" },
	{ "", CASE_SUM, SUM, true, NULL },
	{ "host", "name", TEXT, false, NULL },
	{ "host", "release", TEXT, false, NULL },
	{ "host", "version", TEXT, false, NULL },
	{ "host", "machine", TEXT, false, NULL },
	{ "host", "cpus", NUMBER, false, NULL },
	{ "host", "cmdline", TEXT, false, NULL },
	{ "host", "boot_id", TEXT, false, NULL },
	{ "chart", "name", TEXT, false, NULL },
	{ "chart", "event", TEXT, false, NULL },
	{ "chart", "filter", TEXT, false, NULL },
	{ "chart", "unit", TEXT, false, NULL },
	{ "chart", "symbol", TEXT, true, NULL },
	{ "chart", "file", TEXT, true, NULL },
	{ "chart", "build_id", TEXT, true, NULL },
	{ "chart", "paths", TEXT, true, NULL },
	{ "alarm", "time", CLOCK, false, NULL },
	{ "alarm", "cpu", NUMBER, false, NULL },
	{ "alarm", "chart", TEXT, false, NULL },
	{ "alarm", "start", CLOCK, false, NULL },
	{ "alarm", "value", NUMBER, false, NULL },
	{ "alarm", "center", NUMBER, false, NULL },
	{ "alarm", "limit", NUMBER, false, NULL },
	{ "alarm", "judged", NUMBER, false, NULL },
	{ "alarm", "rules", NUMBER, false, NULL },
	{ "alarm", "pid", NUMBER, false, NULL },
	{ "alarm", "comm", TEXT, false, NULL },
	{ "alarm", "keys", TEXT, false, NULL },
	{ "alarm", "kept", BOOL, false, NULL },
	{ "value", "time", CLOCK, false, NULL },
	{ "value", "value", NUMBER, false, NULL },
	{ "value", "limit", NUMBER, true, NULL },
	{ "window", "clock", TEXT, false, NULL },
	{ "window", "begin", CLOCK, false, NULL },
	{ "window", "end", CLOCK, false, NULL },
	{ "window", "cpus", LIST, false, "cpu" },
	{ "cpu", "cpu", NUMBER, false, NULL },
	{ "cpu", "events", NUMBER, false, NULL },
	{ "cpu", "begin", CLOCK, false, NULL },
	{ "cpu", "end", CLOCK, false, NULL },
	{ "cpu", "gaps", NUMBER, false, NULL },
	{ "cpu", "lost", NUMBER, false, NULL },
	{ "losses", "gaps", NUMBER, false, NULL },
	{ "losses", "lost", NUMBER, false, NULL },
	{ "losses", "dropped", NUMBER, false, NULL },
	{ "losses", "overwritten", NUMBER, false, NULL },
	{ "losses", "missed", NUMBER, true, NULL },
	{ "file", "name", NAME, false, NULL },
	{ "file", "bytes", NUMBER, false, NULL },
	{ "file", "sha256", SUM, false, NULL },
};

static char *check_object(struct json_object *o, const char *in,
			  const char *path);

static bool is_number(struct json_object *o)
{
	/* Numbers above INT64_MAX are returned as INT64_MAX, negative ones as they are */
	return json_object_is_type(o, json_type_int) &&
	       (json_object_get_int64(o) >= 0);
}

static bool is_time(const char *s)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd.ddddddZ";
	size_t i;

	for (i = 0; i < sizeof(form); i++) {
		if (form[i] == 'd' ? s[i] < '0' || s[i] > '9' : s[i] != form[i])
			return false;
	}
	return true;
}

/* The name of a file in the directory of the case, or among its symbols */
static bool is_name(const char *s)
{
	static const char symbols[] = SYMBOLS_DIR "/";
	size_t len = strlen(symbols);

	if (!strncmp(s, symbols, len))
		return elfcopy_is_below(s + len);
	return *s && *s != '.' && !strchr(s, '/') &&
	       strcmp(s, CASE_FILE) != 0 && strcmp(s, SYMBOLS_DIR) != 0;
}

static const char *wrong_value(enum type type, struct json_object *o)
{
	bool text = json_object_is_type(o, json_type_string);
	const char *s = text ? json_object_get_string(o) : "";

	if (text && strlen(s) != (size_t)json_object_get_string_len(o))
		return "must not contain U+0000";
	switch (type) {
	case TEXT:
		return text ? NULL : "must be a string";
	case NUMBER:
		return is_number(o) ? NULL : "must be a non-negative integer";
	case CLOCK:
		return is_number(o) && json_object_get_uint64(o) <= INT64_MAX ?
			       NULL :
			       "must be ns, a non-negative integer less than 2^63";
	case BOOL:
		return json_object_is_type(o, json_type_boolean) ?
			       NULL :
			       "must be true or false";
	case TIME:
		return is_time(s) ? NULL :
				    "must be as 2026-01-31T12:00:00.000000Z";
	case SUM:
		return strlen(s) == 64 && !s[strspn(s, "0123456789abcdef")] ?
			       NULL :
			       "must be 64 hexadecimal digits";
	case NAME:
		return is_name(s) ? NULL : "must be the name of a file";
	case OBJECT:
		return json_object_is_type(o, json_type_object) ?
			       NULL :
			       "must be an object";
	case LIST:
	case TEXTS:
		return json_object_is_type(o, json_type_array) ?
			       NULL :
			       "must be an array";
	}
	return NULL;
}

/* CONFIG_NR_CPUS is no larger */
#define CPUS_MAX 8192

/* The lists of a case that the watch writes are no longer than this */
static const struct {
	const char *name;
	size_t most;
} lengths[] = {
	{ "alarms", ALARMS_MAX },    { "values", VALUES_BEFORE + VALUES_AFTER },
	{ "cpus", CPUS_MAX },	     { "missing", CASE_FILES_MAX },
	{ "files", CASE_FILES_MAX },
};

static char *check_length(const struct member *m, struct json_object *o,
			  const char *path)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		if (!strcmp(lengths[i].name, m->name) &&
		    json_object_array_length(o) > lengths[i].most)
			return xasprintf("%s has more than %zu items", path,
					 lengths[i].most);
	}
	return NULL;
}

static char *check_items(const struct member *m, struct json_object *o,
			 const char *path)
{
	enum type type = m->type == TEXTS ? TEXT : OBJECT;
	char *error = check_length(m, o, path);
	const char *wrong;
	size_t i;

	for (i = 0; !error && i < json_object_array_length(o); i++) {
		struct json_object *item = json_object_array_get_idx(o, i);
		char *at = xasprintf("%s[%zu]", path, i);

		wrong = wrong_value(type, item);
		if (wrong)
			error = xasprintf("%s %s", at, wrong);
		else if (type == OBJECT)
			error = check_object(item, m->as, at);
		free(at);
	}
	return error;
}

static char *check_member(const struct member *m, struct json_object *o,
			  const char *path)
{
	const char *wrong = wrong_value(m->type, o);

	if (wrong)
		return xasprintf("%s %s", path, wrong);
	if (m->type == OBJECT)
		return check_object(o, m->as ? m->as : m->name, path);
	if (m->type == LIST || m->type == TEXTS)
		return check_items(m, o, path);
	return NULL;
}

static const struct member *find_member(const char *in, const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(members); i++) {
		if (!strcmp(members[i].in, in) &&
		    !strcmp(members[i].name, name))
			return &members[i];
	}
	return NULL;
}

static char *check_object(struct json_object *o, const char *in,
			  const char *path)
{
	const char *dot = *path ? "." : "";
	struct json_object *v;
	char *error = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(members) && !error; i++) {
		const struct member *m = &members[i];
		char *at;

		if (strcmp(m->in, in) != 0)
			continue;
		at = xasprintf("%s%s%s", path, dot, m->name);
		if (json_object_object_get_ex(o, m->name, &v))
			error = check_member(m, v, at);
		else if (!m->optional)
			error = xasprintf("%s is absent", at);
		free(at);
	}
	json_object_object_foreach(o, name, value)
	{
		(void)value;
		if (!error && !find_member(in, name))
			error = xasprintf("%s%s%s is unknown", path, dot, name);
	}
	return error;
}

/* ---- what members must be to each other ---- */

static char *check_span(struct json_object *o, const char *path)
{
	return json_u64(o, "begin") <= json_u64(o, "end") ?
		       NULL :
		       xasprintf("%s.begin is after its end", path);
}

static char *check_alarm(struct json_object *a, struct json_object *window,
			 const char *path)
{
	u64 start = json_u64(a, "start"), time = json_u64(a, "time");

	if (time < json_u64(window, "begin") || time > json_u64(window, "end"))
		return xasprintf("%s.time is not in the window", path);
	/* Only durations have a start */
	if (start && json_u64(a, "value") > INT64_MAX - start)
		return xasprintf("%s.value is too large", path);
	if (json_u64(a, "cpu") >= CPUS_MAX)
		return xasprintf("%s.cpu must be less than %d", path, CPUS_MAX);
	return NULL;
}

/* An object whose members have the right types, as have those of what is in it */
static char *check_together(struct json_object *o)
{
	struct json_object *window = json_object_object_get(o, "window");
	struct json_object *alarms = json_object_object_get(o, "alarms");
	struct json_object *cpus = json_object_object_get(window, "cpus");
	u64 n = json_u64(json_object_object_get(o, "host"), "cpus");
	char *error = check_span(window, "window"), *path;
	size_t i;

	if (!error && (!n || n > CPUS_MAX))
		error = xasprintf("host.cpus must be from 1 to %d", CPUS_MAX);
	if (!error)
		error = check_alarm(json_object_object_get(o, "alarm"), window,
				    "alarm");
	for (i = 0; !error && i < json_object_array_length(alarms); i++) {
		path = xasprintf("alarms[%zu]", i);
		error = check_alarm(json_object_array_get_idx(alarms, i),
				    window, path);
		free(path);
	}
	for (i = 0; !error && i < json_object_array_length(cpus); i++) {
		struct json_object *c = json_object_array_get_idx(cpus, i);

		path = xasprintf("window.cpus[%zu]", i);
		error = check_span(c, path);
		if (!error && json_u64(c, "cpu") >= CPUS_MAX)
			error = xasprintf("%s.cpu must be less than %d", path,
					  CPUS_MAX);
		free(path);
	}
	return error;
}

/**
 * schema_check - check a case against the schema
 * @o: case.json
 *
 * Return: NULL, or what is wrong, for free().
 */
static char *schema_check(struct json_object *o)
{
	struct json_object *v;
	char *error;
	bool has_sum;
	s64 version;

	if (!json_object_is_type(o, json_type_object))
		return xstrdup("is not an object");
	if (!json_object_object_get_ex(o, "format", &v) ||
	    !json_object_is_type(v, json_type_string) ||
	    strcmp(json_object_get_string(v), CASE_FORMAT) != 0)
		return xstrdup("is not of a case: format must be " CASE_FORMAT);
	if (!json_object_object_get_ex(o, "version", &v) ||
	    !json_object_is_type(v, json_type_int))
		return xstrdup("version must be a whole number");
	version = json_object_get_int64(v);
	if (version < 1 || version > CASE_VERSION)
		return xasprintf(
			"has version %lld; this program reads versions 1 to %d",
			(long long)version, CASE_VERSION);
	has_sum = json_object_object_get_ex(o, CASE_SUM, &v);
	if (has_sum != (version >= 2))
		return xasprintf(CASE_SUM " is %s",
				 has_sum ? "unknown in version 1" : "absent");
	error = check_object(o, "", "");
	return error ? error : check_together(o);
}

static char *read_text(int fd, char **text, size_t *len)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return xasprintf("%m");
	if (!S_ISREG(st.st_mode))
		return xstrdup("is not a regular file");
	if (!st.st_size)
		return xstrdup("is empty");
	if (st.st_size > CASE_FILE_MAX)
		return xasprintf("is larger than %d MiB", CASE_FILE_MAX >> 20);
	*text = xzalloc(st.st_size + 1);
	while (*len < (size_t)st.st_size) {
		n = read(fd, *text + *len, st.st_size - *len);
		if (n < 0)
			return xasprintf("%m");
		if (!n)
			break;
		*len += n;
	}
	return NULL;
}

/* Members in a tree, which has one of each name in an object */
static size_t count_members(struct json_object *o)
{
	size_t n = 0, i;

	if (json_object_is_type(o, json_type_object)) {
		json_object_object_foreach(o, key, value)
		{
			(void)key;
			n += 1 + count_members(value);
		}
	} else if (json_object_is_type(o, json_type_array)) {
		for (i = 0; i < json_object_array_length(o); i++)
			n += count_members(json_object_array_get_idx(o, i));
	}
	return n;
}

/* Members in a text that is right: the colons that are in no string */
static size_t count_colons(const char *s)
{
	bool quoted = false;
	size_t n = 0;

	for (; *s; s++) {
		if (*s == '"')
			quoted = !quoted;
		else if (*s == '\\')
			s++;
		n += *s == ':' && !quoted;
	}
	return n;
}

/* Parse all of a text with its terminating zero: a number at the end would be incomplete */
static struct json_object *parse(const char *text, size_t len, char **why)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *o;

	if (!tok)
		memory_failed();
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT |
					    JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(tok, text, len + 1);
	if (!o)
		*why = xasprintf(
			"%zu: %s", json_tokener_get_parse_end(tok),
			json_tokener_error_desc(json_tokener_get_error(tok)));
	else if (json_tokener_get_parse_end(tok) < len)
		*why = xasprintf("%zu: data after the object",
				 json_tokener_get_parse_end(tok));
	else if (count_colons(text) != count_members(o))
		*why = xstrdup("has a member twice");
	json_tokener_free(tok);
	if (*why) {
		json_object_put(o);
		o = NULL;
	}
	return o;
}

/* Read a regular file; return: what is wrong, for free(), with errno of open(), or NULL */
static char *load_text(const char *path, char **text, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char *why;

	memory_doing("reading %s", path);
	if (fd < 0 && errno == ELOOP)
		return xstrdup("is a symbolic link, which is not followed");
	if (fd < 0)
		return xasprintf("%m");
	why = read_text(fd, text, len);
	close(fd);
	errno = 0;
	return why;
}

/**
 * json_load - read a JSON file in a directory that others may write to
 * @path: the file: a regular one, and no link
 * @why: set to NULL, or to what is wrong, for free(); errno is 0 or of open()
 *
 * Return: what it has, or NULL.
 */
struct json_object *json_load(const char *path, char **why)
{
	struct json_object *o = NULL;
	char *text = NULL;
	size_t len = 0;

	*why = load_text(path, &text, &len);
	if (!*why) {
		o = parse(text, len, why);
		errno = 0;
	}
	free(text);
	return o;
}

/* A case may come from anyone, and its texts are printed */
static void clean_strings(struct json_object *o)
{
	char *text;
	size_t i;

	if (json_object_is_type(o, json_type_object)) {
		json_object_object_foreach(o, key, value)
		{
			(void)key;
			clean_strings(value);
		}
	} else if (json_object_is_type(o, json_type_array)) {
		for (i = 0; i < json_object_array_length(o); i++)
			clean_strings(json_object_array_get_idx(o, i));
	} else if (json_object_is_type(o, json_type_string)) {
		text = xstrdup(json_object_get_string(o));
		clean_text(text);
		json_object_set_string(o, text);
		free(text);
	}
}

/* Its version is one of later programs */
static bool is_newer(struct json_object *o)
{
	return json_object_is_type(o, json_type_object) &&
	       !strcmp(json_text(o, "format"), CASE_FORMAT) &&
	       json_u64(o, "version") > CASE_VERSION;
}

/**
 * case_advice - what to do about a file of a case that cannot be read
 * @error: the errno, or 0: it is not as it was written
 */
const char *case_advice(int error)
{
	return error == EACCES ?
		       "cases are for root, as tracerig watch makes them" :
	       error == EMFILE ? "raise ulimit -n" :
				 CASE_DAMAGED;
}

/* What to do about a case.json that cannot be read, for free(). @error: of open(), or 0 */
static char *advice_on(const char *dir, int error)
{
	char *copy, *below, *advice;

	if (error == ENOTDIR)
		return xstrdup(
			"a case is a directory; tar -x unpacks one that tracerig pack wrote");
	if (error == EACCES || error == EMFILE || !error || !access(dir, F_OK))
		return xstrdup(case_advice(error));
	copy = xstrdup(dir);
	below = operand_below(dirname(copy));
	advice =
		below ? xasprintf("the cases are in directories below: %s",
				  below) :
			xstrdup("tracerig list shows which cases there are, --dir names their directory");
	free(copy);
	free(below);
	return advice;
}

/**
 * case_read - read and check case.json
 * @dir: directory of the case
 * @error: set to NULL, or to what is wrong, with the name of the file, for free()
 *
 * Return: the object, whose texts are fit for terminals; or NULL.
 */
struct json_object *case_read(const char *dir, char **error)
{
	char *path = xasprintf("%s/" CASE_FILE, dir), *why;
	struct json_object *o = json_load(path, &why);
	char *advice = why ? advice_on(dir, errno) : NULL;

	if (o) {
		why = schema_check(o);
		if (why)
			advice = xstrdup(is_newer(o) ? CASE_NEWER :
						       CASE_DAMAGED);
		else
			clean_strings(o);
	}
	*error = why ? xasprintf("%s: %s: %s", path, why, advice) : NULL;
	if (why) {
		json_object_put(o);
		o = NULL;
	}
	free(advice);
	free(path);
	free(why);
	return o;
}

/**
 * case_charts - the charts that had alarms
 * @o: case.json, as case_read() returned it
 *
 * Return: an array of their names, that of the worst alarm first, for json_object_put().
 */
struct json_object *case_charts(struct json_object *o)
{
	struct json_object *names = json_object_new_array(), *alarms, *a, *name;
	size_t i;

	json_object_object_get_ex(o, "alarm", &a);
	json_object_object_get_ex(a, "chart", &name);
	chart_names_add(names, json_object_get_string(name));
	json_object_object_get_ex(o, "alarms", &alarms);
	for (i = 0; i < json_object_array_length(alarms); i++) {
		a = json_object_array_get_idx(alarms, i);
		json_object_object_get_ex(a, "chart", &name);
		chart_names_add(names, json_object_get_string(name));
	}
	return names;
}

/**
 * case_changed - whether case.json is not as it was written
 * @dir: directory of the case
 * @o: its case.json, as case_read() returned it
 *
 * Return: what is wrong and what to do about it, for free(); NULL if it is as it was, or has
 * no sum (version 1).
 */
char *case_changed(const char *dir, struct json_object *o)
{
	char *path = xasprintf("%s/" CASE_FILE, dir), *text = NULL, *error, *at;
	struct json_object *sum;
	size_t len = 0;

	if (!json_object_object_get_ex(o, CASE_SUM, &sum)) {
		free(path);
		return NULL;
	}
	error = load_text(path, &text, &len);
	at = error ? NULL : case_set_sum(text, json_object_get_string(sum));
	if (!error &&
	    (!at || strncmp(at, json_object_get_string(sum), strlen(NO_SUM))))
		error = xasprintf(
			"%s: its SHA-256 is not that in it: it was changed: " CASE_DAMAGED,
			path);
	free(path);
	free(text);
	return error;
}
