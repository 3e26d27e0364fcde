// SPDX-License-Identifier: GPL-2.0
/*
 * Files of limits: text that people read and edit. "#" begins a comment line,
 * "event:" the stanza of a chart, in which each of the other words stands at
 * most once:
 *
 *   event: block:block_rq_complete
 *   filter: ctlchart(block_bio_queue, dev, sector, name=reads)
 *   chart: reads
 *   center: 14100000 ns
 *   limit: 23412345 ns
 *   values: 12000
 *   from: Linux 6.12.117 on rig7, 2026-11-21 16:03:12 UTC
 *
 * and instance: for a chart that is not in the main trace instance, and zones: for one
 * with rules=, in the numbers of the arithmetic, with a comment that explains them; and
 * disk: for the chart of a disk, whose number may be another one elsewhere.
 * event:, chart: and limit: are required. Numbers have a unit of time, or none for the
 * chart of a field.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "cli.h"
#include "limits.h"

static const char *const scale_names[] = {
	[CTLCHART_LOG] = "log",
	[CTLCHART_LINEAR] = "linear",
};

#define ZONES ARRAY_SIZE(((struct ctlchart_zones *)0)->above)

/* ",N" */
static bool parse_zone(const char **s, u64 *value)
{
	char *end;

	if (**s != ',' || !isdigit((unsigned char)(*s)[1]))
		return false;
	errno = 0;
	*value = strtoull(*s + 1, &end, 10);
	*s = end;
	return !errno;
}

/**
 * zones_parse - read lines of rules=, as the kernel writes them
 * @s: "log,N,N,N,N,N,N,N,N": twice the centre and 1, 2, 3 sigma above it, then the
 *	same below it
 * @scale: where to put the scale
 * @zones: where to put the lines
 *
 * Return: false if they are not that, or not in order.
 */
bool zones_parse(const char *s, enum ctlchart_scale *scale,
		 struct ctlchart_zones *zones)
{
	size_t len = strcspn(s, ","), i;

	*scale = !strncmp(s, "linear", len) ? CTLCHART_LINEAR : CTLCHART_LOG;
	if (strlen(scale_names[*scale]) != len ||
	    strncmp(s, scale_names[*scale], len) != 0)
		return false;
	s += len;
	for (i = 0; i < ZONES; i++) {
		if (!parse_zone(&s, &zones->above[i]) ||
		    (i && zones->above[i] < zones->above[i - 1]))
			return false;
	}
	for (i = 0; i < ZONES; i++) {
		if (!parse_zone(&s, &zones->below[i]) ||
		    (i && zones->below[i] > zones->below[i - 1]))
			return false;
	}
	return !*s && zones->below[0] >= zones->above[0] &&
	       zones->below[0] - zones->above[0] <= 1;
}

/**
 * zones_print - write them so
 * @buf: where to
 * @scale: the scale
 * @zones: the lines
 *
 * Return: @buf.
 */
char *zones_print(char buf[ZONES_LEN], enum ctlchart_scale scale,
		  const struct ctlchart_zones *zones)
{
	const u64 *a = zones->above, *b = zones->below;

	snprintf(buf, ZONES_LEN, "%s,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu",
		 scale_names[scale], a[0], a[1], a[2], a[3], b[0], b[1], b[2],
		 b[3]);
	return buf;
}

/* Twice a line on its scale, as a value */
static u64 zone_value(const struct limits *l, u64 twice)
{
	if (l->scale == CTLCHART_LINEAR)
		return twice / 2;
	return ctlchart_exp2(twice / 2 < U32_MAX ? twice / 2 : U32_MAX);
}

static void put_zones(FILE *out, const struct limits *l)
{
	char from[32], to[32], text[ZONES_LEN];
	size_t i;

	if (!l->has_zones)
		return;
	fputs("# medians of groups:", out);
	for (i = 1; i < ZONES; i++)
		fprintf(out, "%s %zu sigma %s to %s", i > 1 ? "," : "", i,
			format_value(from, sizeof(from),
				     zone_value(l, l->zones.below[i]),
				     l->is_time),
			format_value(to, sizeof(to),
				     zone_value(l, l->zones.above[i]),
				     l->is_time));
	fprintf(out, "\nzones: %s\n", zones_print(text, l->scale, &l->zones));
}

/**
 * limits_add - one more chart
 * @f: the file
 *
 * Return: the chart, empty; valid until the next one is added.
 */
struct limits *limits_add(struct limits_file *f)
{
	f->entry = xreallocarray(f->entry, f->nr + 1, sizeof(*f->entry));
	memset(&f->entry[f->nr], 0, sizeof(*f->entry));
	return &f->entry[f->nr++];
}

/**
 * limits_free - free the charts
 * @f: the file
 */
void limits_free(struct limits_file *f)
{
	size_t i;

	for (i = 0; i < f->nr; i++) {
		free(f->entry[i].instance);
		free(f->entry[i].event);
		free(f->entry[i].filter);
		free(f->entry[i].chart);
		free(f->entry[i].disk);
		free(f->entry[i].from);
	}
	free(f->entry);
	f->entry = NULL;
	f->nr = 0;
}

static void put_line(FILE *out, const char *word, const char *text)
{
	if (text)
		fprintf(out, "%s: %s\n", word, text);
}

static void put_value(FILE *out, const char *word, u64 value, bool is_time)
{
	fprintf(out, "%s: %llu%s\n", word, value, is_time ? " ns" : "");
}

static void put_entry(FILE *out, const struct limits *l)
{
	char center[32], limit[32];

	fprintf(out, "\n# limit %s",
		format_value(limit, sizeof(limit), l->limits.ucl, l->is_time));
	if (l->has_center)
		fprintf(out, ", centre %s",
			format_value(center, sizeof(center), l->limits.center,
				     l->is_time));
	fputc('\n', out);
	put_line(out, "event", l->event);
	put_line(out, "instance", l->instance);
	put_line(out, "filter", l->filter);
	put_line(out, "chart", l->chart);
	put_line(out, "disk", l->disk);
	if (l->has_center)
		put_value(out, "center", l->limits.center, l->is_time);
	put_value(out, "limit", l->limits.ucl, l->is_time);
	put_zones(out, l);
	if (l->values)
		put_value(out, "values", l->values, false);
	put_line(out, "from", l->from);
}

/**
 * limits_write - write a file
 * @out: where to
 * @f: the charts
 */
void limits_write(FILE *out, const struct limits_file *f)
{
	size_t i;

	fputs("# Limits of control charts, saved by ctlchart(1). \"ctlchart load\" of this file\n"
	      "# puts them into force. Edit it at will: limits may have a unit ns, us, ms or s.\n",
	      out);
	for (i = 0; i < f->nr; i++)
		put_entry(out, &f->entry[i]);
}

/**
 * struct parser - a file being read
 * @g:		the guard
 * @f:		the charts so far
 * @entry:	the stanza, or NULL before the first one
 * @line:	number of the line
 * @has_limit:	the stanza has a limit
 * @has_value: and it has a limit or a centre
 */
struct parser {
	struct guard *g;
	struct limits_file *f;
	struct limits *entry;
	unsigned int line;
	bool has_limit;
	bool has_value;
};

static bool all_of(const char *s, const char *also)
{
	for (; *s; s++) {
		if (!isalnum((unsigned char)*s) && !strchr(also, *s))
			return false;
	}
	return true;
}

/* Part of a path: nothing that leads elsewhere */
static bool is_path_part(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/');
}

static int set_text(struct parser *p, char **to, const char *value)
{
	if (*to)
		return guard_fail(p->g, p->line,
				  "given twice for the same chart");
	*to = xstrdup(value);
	return 0;
}

static int set_event(struct parser *p, const char *value)
{
	const char *colon = strchr(value, ':');

	if (!colon || !is_path_part(value) || !is_path_part(colon + 1) ||
	    strchr(colon + 1, ':') || !all_of(value, "_-.:"))
		return guard_fail(p->g, p->line,
				  "an event is written system:event");
	return set_text(p, &p->entry->event, value);
}

static int set_instance(struct parser *p, const char *value)
{
	if (!is_path_part(value))
		return guard_fail(
			p->g, p->line,
			"this cannot be the name of a trace instance");
	return set_text(p, &p->entry->instance, value);
}

static int set_filter(struct parser *p, const char *value)
{
	return set_text(p, &p->entry->filter, value);
}

static int set_chart(struct parser *p, const char *value)
{
	size_t base = strcspn(value, "["), len = strlen(value), i;
	bool good = base && base < NAME_LEN && len < CHART_NAME_LEN &&
		    (base == len || value[len - 1] == ']');

	for (i = 0; i < base; i++)
		good &= isalnum((unsigned char)value[i]) ||
			strchr("_-.>", value[i]);
	if (!good)
		return guard_fail(p->g, p->line,
				  "this cannot be the name of a chart");
	return set_text(p, &p->entry->chart, value);
}

static int set_disk(struct parser *p, const char *value)
{
	if (!is_path_part(value))
		return guard_fail(p->g, p->line,
				  "this cannot be the name of a disk");
	return set_text(p, &p->entry->disk, value);
}

static int set_from(struct parser *p, const char *value)
{
	return set_text(p, &p->entry->from, value);
}

/* "23412345 ns", "23.4ms", or a number without a unit */
static int set_value(struct parser *p, const char *text, u64 *value)
{
	bool is_time = parse_time(text, value);

	if (!is_time && (!parse_number(text, value) || *value == U64_MAX))
		return guard_fail(
			p->g, p->line,
			"%s: must be a whole number, or a time with its unit, such as 500us, 20ms or 1.5s",
			text);
	if (p->has_value && p->entry->is_time != is_time)
		return guard_fail(
			p->g, p->line,
			"center and limit are both times, with a unit, or both plain numbers");
	p->has_value = true;
	p->entry->is_time = is_time;
	return 0;
}

static int set_center(struct parser *p, const char *value)
{
	if (p->entry->has_center)
		return guard_fail(p->g, p->line,
				  "given twice for the same chart");
	p->entry->has_center = true;
	return set_value(p, value, &p->entry->limits.center);
}

static int set_limit(struct parser *p, const char *value)
{
	if (p->has_limit)
		return guard_fail(p->g, p->line,
				  "given twice for the same chart");
	p->has_limit = true;
	return set_value(p, value, &p->entry->limits.ucl);
}

static int set_zones(struct parser *p, const char *value)
{
	if (p->entry->has_zones)
		return guard_fail(p->g, p->line,
				  "given twice for the same chart");
	p->entry->has_zones = true;
	if (zones_parse(value, &p->entry->scale, &p->entry->zones))
		return 0;
	return guard_fail(
		p->g, p->line,
		"zones are log or linear and 8 numbers: the centre and 1, 2, 3 sigma above, then below it");
}

static int set_values(struct parser *p, const char *value)
{
	if (!parse_number(value, &p->entry->values))
		return guard_fail(p->g, p->line, "%s must be a whole number",
				  value);
	return 0;
}

static const struct {
	const char *word;
	int (*set)(struct parser *p, const char *value);
} words[] = {
	{ "event", set_event },	  { "instance", set_instance },
	{ "filter", set_filter }, { "chart", set_chart },
	{ "center", set_center }, { "limit", set_limit },
	{ "disk", set_disk },	  { "zones", set_zones },
	{ "values", set_values }, { "from", set_from },
};

/* The stanza is complete */
static int end_stanza(struct parser *p)
{
	const struct limits *l = p->entry;
	const char *missing = NULL;

	if (!l)
		return 0;
	if (!l->chart)
		missing = "chart";
	else if (!p->has_limit)
		missing = "limit";
	if (missing)
		return guard_fail(p->g, l->line, "%s has no %s: line", l->event,
				  missing);
	if (l->has_zones && !l->has_center)
		return guard_fail(p->g, l->line,
				  "%s has zones:, but no center: line",
				  l->chart);
	if (!l->limits.ucl || l->limits.center > l->limits.ucl)
		return guard_fail(
			p->g, l->line, "the limit of %s is %s", l->chart,
			l->limits.ucl ? "below its centre line" : "0");
	return 0;
}

static int begin_stanza(struct parser *p)
{
	if (end_stanza(p))
		return EXIT_FAILURE;
	if (p->f->nr == LIMITS_MAX)
		return guard_fail(p->g, p->line, "more than %d charts",
				  LIMITS_MAX);
	p->entry = limits_add(p->f);
	p->entry->line = p->line;
	p->has_limit = false;
	p->has_value = false;
	return 0;
}

/* UTF-8 without control characters: lines are shown in messages and filters */
static bool is_text(const char *line, size_t len)
{
	char *copy = xstrdup(line), *clean = xstrdup(line), *c;
	bool good;

	for (c = copy; *c; c++) {
		if (strchr("\t\r\n", *c))
			*c = ' ';
	}
	strcpy(clean, copy);
	clean_text(clean);
	good = strlen(line) == len && !strcmp(copy, clean);
	free(copy);
	free(clean);
	return good;
}

static int parse_line(struct parser *p, char *s)
{
	char *value, *end;
	size_t i;

	s += strspn(s, " \t");
	for (end = s + strlen(s); end > s && isspace((unsigned char)end[-1]);)
		end--;
	*end = '\0';
	if (!*s || *s == '#')
		return 0;
	value = strchr(s, ':');
	for (i = 0; value && i < ARRAY_SIZE(words); i++) {
		if (!strncmp(s, words[i].word, value - s) &&
		    !words[i].word[value - s])
			break;
	}
	if (!value || i == ARRAY_SIZE(words))
		return guard_fail(
			p->g, p->line,
			"a line begins with event:, instance:, filter:, chart:, center:, limit:, zones:, values:, from: or #");
	value += 1 + strspn(value + 1, " \t");
	if (!i && begin_stanza(p))
		return EXIT_FAILURE;
	if (!p->entry)
		return guard_fail(p->g, p->line,
				  "a chart begins with its event: line");
	return words[i].set(p, value);
}

/**
 * limits_read - read a file
 * @g: the guard; mistakes are reported with the number of the line
 * @path: the file, or "-" for standard input
 * @f: filled in; limits_free() is needed in any case
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int limits_read(struct guard *g, const char *path, struct limits_file *f)
{
	struct parser p = { .g = g, .f = f };
	FILE *in = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *line = NULL;
	size_t size = 0;
	int status = 0;
	ssize_t len;

	if (!in)
		return guard_fail(g, GUARD_NOWHERE, "%s", strerror(errno));
	while (!status && (len = getline(&line, &size, in)) >= 0) {
		p.line++;
		if (!is_text(line, len))
			status = guard_fail(g, p.line, "this is not text");
		else
			status = parse_line(&p, line);
	}
	if (!status && ferror(in))
		status = guard_fail(g, GUARD_NOWHERE, "%s", strerror(errno));
	if (!status)
		status = end_stanza(&p);
	if (!status && !f->nr)
		status = guard_fail(g, GUARD_NOWHERE, "has no limits in it");
	free(line);
	if (in != stdin)
		fclose(in);
	return status;
}
