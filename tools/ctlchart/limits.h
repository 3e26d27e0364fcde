/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of limits, which ctlchart save writes and ctlchart load reads.
 */
#ifndef CTLCHART_LIMITS_H
#define CTLCHART_LIMITS_H

#include "ctlchart.h"

/* Charts in one file: more than this is no file of ours */
#define LIMITS_MAX 10000

/**
 * struct limits - a chart in such a file
 * @instance:	trace instance, or NULL for the main one
 * @event:	judged event, system:event
 * @filter:	its whole filter, or NULL if that is not known
 * @chart:	name of the chart; "name[field=value]" is one of those of by=, and
 *		"name[]" the one that the other values share
 * @from:	where and when the limits were learnt, for people; or NULL
 * @limits:	the lines; ns or the field's unit
 * @is_time:	they are times
 * @has_center:	there is a centre line; else the limit was given (ucl=)
 * @has_zones:	there are lines of rules=, too
 * @scale:	their scale
 * @zones:	these lines
 * @values:	values judged by them until then, for people; 0 if not known
 * @line:	where in the file it begins
 */
struct limits {
	char *instance;
	char *event;
	char *filter;
	char *chart;
	char *from;
	struct ctlchart_limits limits;
	bool is_time;
	bool has_center;
	bool has_zones;
	enum ctlchart_scale scale;
	struct ctlchart_zones zones;
	u64 values;
	unsigned int line;
};

/**
 * struct limits_file - all of them
 * @entry:	the charts
 * @nr:		number of them
 */
struct limits_file {
	struct limits *entry;
	size_t nr;
};

/* The numbers of zones as text: a scale and 8 numbers of 64 bits */
#define ZONES_LEN 192

bool zones_parse(const char *s, enum ctlchart_scale *scale,
		 struct ctlchart_zones *zones);
char *zones_print(char buf[ZONES_LEN], enum ctlchart_scale scale,
		  const struct ctlchart_zones *zones);

struct limits *limits_add(struct limits_file *f);
void limits_free(struct limits_file *f);
void limits_write(FILE *out, const struct limits_file *f);
int limits_read(struct guard *g, const char *path, struct limits_file *f);

#endif
