// SPDX-License-Identifier: GPL-2.0
/* The charts of the running kernel. See kernelchart.h. */
#include <stdlib.h>
#include <string.h>

#include "kernelchart.h"
#include "text.h"

/* "5000000 ns": a number, with or without a unit of time */
static u64 parse_value(const char *s, bool *is_time)
{
	char *end;
	u64 value = strtoull(s, &end, 10);

	*is_time = !strncmp(end, " ns", 3);
	return value;
}

/* The number after a word, 0 without the word */
static u64 parse_count(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

static void parse_line(struct kernel_chart *c, char *word, char *value)
{
	if (!strcmp(word, "call")) {
		c->call = value;
	} else if (!strcmp(word, "state")) {
		c->state = value;
	} else if (!strcmp(word, "center")) {
		c->limits.center = parse_value(value, &c->is_time);
		c->has_center = true;
	} else if (!strcmp(word, "limit")) {
		c->limits.ucl = parse_value(value, &c->is_time);
		c->has_limit = true;
	} else if (!strcmp(word, "zones")) {
		c->zones = value;
	} else if (!strncmp(word, "by ", 3)) {
		c->by = true;
		c->learnt = parse_count(value, "learnt ");
		c->values = parse_count(value, "judged ");
	} else if (!strcmp(word, c->part ? "part values" : "values")) {
		c->learnt = parse_count(value, "learnt ");
		c->values = parse_count(value, "judged ");
	}
}

/**
 * kernel_next_chart - parse the next chart of an event's file "ctlchart"
 * @text: the rest of the file, which is modified
 * @c: the chart, which refers to the text
 *
 * Unknown lines are skipped, since later kernels may have more.
 *
 * Return: false at the end.
 */
bool kernel_next_chart(char **text, struct kernel_chart *c)
{
	char *line, *value;

	memset(c, 0, sizeof(*c));
	while (*text && **text) {
		/* the next chart's name ends this one */
		if (c->name && (!strncmp(*text, "chart: ", 7) ||
				!strncmp(*text, "part: ", 6)))
			break;
		line = strsep(text, "\n");
		value = strstr(line, ": ");
		if (!value || *line == '#')
			continue;
		*value = '\0';
		value += 2;
		clean_text(value);
		if (!strcmp(line, "chart") || !strcmp(line, "part")) {
			c->name = value;
			c->part = *line == 'p';
		} else if (c->name) {
			parse_line(c, line, value);
		}
	}
	return c->name;
}
