/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What alarms refer to by numbers: charts and their limits, as the events
 * ctlchart_limit of a trace describe them.
 *
 * In a header, because a plugin of libtraceevent is made of one C file.
 */
#ifndef LIB_CHARTS_H
#define LIB_CHARTS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"

/*
 * Charts of a trace that are remembered, and limits of each: the last ones, as an alarm may
 * be looked at when its limit has been replaced. Their numbers are modulo 256.
 */
#define CHARTS_KNOWN 65536
#define CHART_LINES 128

/* With the NUL; longer ones are cut off */
#define CHART_NAME_SIZE 128
#define CHART_TYPES_SIZE 256

/**
 * struct chart_lines - a limit of a chart
 * @nr:		its number; those of a chart's limits are counted modulo 256
 * @center:	centre line; 0 for none
 * @limit:	upper control limit; 2^64 - 1 for none
 */
struct chart_lines {
	unsigned int nr;
	unsigned long long center;
	unsigned long long limit;
};

/**
 * struct known_chart - a chart
 * @number:	its number
 * @event:	id of the judged event
 * @values:	values judged when the last limit event was written
 * @name:	name of the chart
 * @types:	names and types of the keys: "dev:u32 sector:u64"
 * @line:	its last limits, the newest one last
 * @lines:	number of @line
 * @lines_room:	allocated length of @line
 */
struct known_chart {
	unsigned int number;
	unsigned int event;
	unsigned long long values;
	char name[CHART_NAME_SIZE];
	char types[CHART_TYPES_SIZE];
	struct chart_lines *line;
	size_t lines;
	size_t lines_room;
};

/**
 * struct known_charts - the charts of a trace
 * @chart:	in order of their numbers
 * @nr:		number of @chart
 * @room:	allocated length of @chart
 */
struct known_charts {
	struct known_chart **chart;
	size_t nr;
	size_t room;
};

/* Index of the first chart whose number is not below @number */
static inline size_t charts_place(const struct known_charts *k,
				  unsigned int number)
{
	return FIRST(i, 0, k->nr, k->chart[i]->number >= number);
}

/**
 * charts_find - find a chart by its number
 * @k: the charts
 * @number: the number
 *
 * Return: the chart, or NULL if no limit event described it.
 */
static inline struct known_chart *charts_find(const struct known_charts *k,
					      unsigned int number)
{
	size_t i = charts_place(k, number);

	return i < k->nr && k->chart[i]->number == number ? k->chart[i] : NULL;
}

/**
 * charts_lines - find a limit of a chart by its number
 * @c: the chart, or NULL
 * @nr: the number
 *
 * Return: the limit, or NULL if it is not known.
 */
static inline const struct chart_lines *
charts_lines(const struct known_chart *c, unsigned int nr)
{
	size_t i;

	for (i = c ? c->lines : 0; i--;) {
		if (c->line[i].nr == nr)
			return &c->line[i];
	}
	return NULL;
}

static inline struct known_chart *charts_add(struct known_charts *k,
					     unsigned int number)
{
	size_t i = charts_place(k, number);
	struct known_chart *c;

	if (k->nr == CHARTS_KNOWN)
		return NULL;
	if (k->nr == k->room) {
		size_t room = k->room ? 2 * k->room : 16;
		void *larger = realloc(k->chart, room * sizeof(*k->chart));

		if (!larger)
			return NULL;
		k->chart = larger;
		k->room = room;
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->number = number;
	memmove(&k->chart[i + 1], &k->chart[i],
		(k->nr - i) * sizeof(*k->chart));
	k->chart[i] = c;
	k->nr++;
	return c;
}

/* Room for one more limit; the oldest goes if there are too many */
static inline bool charts_make_room(struct known_chart *c)
{
	size_t room = c->lines_room ? 2 * c->lines_room : 2;
	void *larger;

	if (c->lines < c->lines_room)
		return true;
	if (c->lines == CHART_LINES) {
		c->lines--;
		memmove(&c->line[0], &c->line[1], c->lines * sizeof(*c->line));
		return true;
	}
	larger = realloc(c->line, room * sizeof(*c->line));
	if (!larger)
		return false;
	c->line = larger;
	c->lines_room = room;
	return true;
}

/**
 * charts_learn - remember what a limit event says
 * @k: the charts
 * @said: the chart, without limits
 * @line: its limit
 *
 * Return: false if there are too many charts, or no memory.
 */
static inline bool charts_learn(struct known_charts *k,
				const struct known_chart *said,
				const struct chart_lines *line)
{
	struct known_chart *c = charts_find(k, said->number);

	if (!c)
		c = charts_add(k, said->number);
	if (!c)
		return false;
	c->event = said->event;
	c->values = said->values;
	memcpy(c->name, said->name, sizeof(c->name));
	memcpy(c->types, said->types, sizeof(c->types));
	if (!c->lines || c->line[c->lines - 1].nr != line->nr) {
		if (!charts_make_room(c))
			return false;
		c->lines++;
	}
	c->line[c->lines - 1] = *line;
	return true;
}

/**
 * charts_free - forget all charts
 * @k: the charts
 */
static inline void charts_free(struct known_charts *k)
{
	while (k->nr) {
		free(k->chart[--k->nr]->line);
		free(k->chart[k->nr]);
	}
	free(k->chart);
	memset(k, 0, sizeof(*k));
}

/**
 * charts_name - what to call a chart
 * @c: the chart, or NULL if it is not known
 * @number: its number
 * @buf: where to put the text
 *
 * Return: @buf.
 */
static inline const char *charts_name(const struct known_chart *c,
				      unsigned int number,
				      char buf[CHART_NAME_SIZE])
{
	if (c)
		memcpy(buf, c->name, CHART_NAME_SIZE);
	else
		snprintf(buf, CHART_NAME_SIZE, "chart #%u", number);
	return buf;
}

#endif
