/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of limits, which ctlchart save writes and ctlchart load reads.
 */
#ifndef CTLCHART_LIMITS_H
#define CTLCHART_LIMITS_H

#include "ctlchart.h"

/* Limit of the number of charts in a file */
#define LIMITS_MAX 10000

/**
 * struct limits - a chart in a file of limits
 * @instance:	trace instance, or NULL for the main one
 * @event:	judged event, system:event
 * @filter:	its whole filter, or NULL if unknown
 * @chart:	name of the chart; "name[field=value]" is a part of a chart with by=, and
 *		"name[]" the chart that the other values share
 * @disk:	name of the disk or partition whose number the chart's name has, or NULL
 * @left_out:	this machine has no such disk
 * @from:	where and when the limits were learnt, for people; or NULL
 * @limits:	the lines; ns or the field's unit
 * @is_time:	they are times
 * @has_center:	there is a centre line; otherwise the limit is fixed (ucl=)
 * @has_zones:	there are lines of rules=
 * @scale:	their scale
 * @zones:	these lines
 * @values:	number of values judged by the limits, for people; 0 if unknown
 * @line:	the file's line at which the chart begins
 */
struct limits {
	char *instance;
	char *event;
	char *filter;
	char *chart;
	char *disk;
	bool left_out;
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
 * struct limits_file - a file of limits
 * @entry:	the charts
 * @nr:		number of @entry
 */
struct limits_file {
	struct limits *entry;
	size_t nr;
};

/* A disk's part of a chart is "name[dev=NUMBER]", with the number that the kernel has in memory */
#define DISK_KEY "[dev="
#define DISK_MINORBITS 20

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
