/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The directory of the cases: DIR/N is case N, and DIR/groups.json counts alike cases,
 * of which the first, the worst and every tenth are kept.
 */
#ifndef TRACERIG_STORE_H
#define TRACERIG_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "reader.h"

/* Of alike cases, every tenth is kept */
#define KEEP_NTH 10

/* Reasons that are groups of their own, at most, for one chart, program and objects */
#define REASONS_MAX 8

/* The number of groups; the cases of all further ones are in one group, "others" */
#define GROUPS_MAX 1000
/* The group of the cases beyond these */
#define STORE_OTHERS "others"

/**
 * struct store_case - a case that is kept
 * @number:	its number
 * @group:	what makes cases alike
 * @nth:	its position in its group, from 1
 * @bytes:	size of its files
 * @shared:	size of its baseline.dat, which other cases may have, too
 * @device:	of that file, together with @inode
 * @inode:	of that file
 * @value:	value of its alarm
 * @limit:	its limit
 * @is_time:	these are times, in ns
 * @time:	time of the alarm, in ISO 8601
 * @chart:	its chart
 * @who:	"COMM-PID"
 * @keys:	keys of the alarm
 * @nr_alarms:	number of its alarms
 * @charts:	names of the charts that had them, @chart first
 * @most:	the highest value of each of @charts
 * @lost:	number of events lost in its window
 */
struct store_case {
	u64 number;
	char *group;
	u64 nth;
	u64 bytes;
	u64 shared;
	dev_t device;
	ino_t inode;
	u64 value;
	u64 limit;
	bool is_time;
	char *time;
	char *chart;
	char *who;
	char *keys;
	u64 nr_alarms;
	struct json_object *charts;
	u64 *most;
	u64 lost;
};

/**
 * struct store_damage - a directory of a case that is not listed
 * @number:	its number
 * @why:	what is wrong, and what to do
 */
struct store_damage {
	u64 number;
	char *why;
};

/**
 * struct store_group - alike cases
 * @name:	what makes them alike
 * @count:	how many there were, kept or not
 * @first:	number of the first one
 * @worst:	number of the worst one
 * @value:	its value
 */
struct store_group {
	char *name;
	u64 count;
	u64 first;
	u64 worst;
	u64 value;
};

/**
 * struct store - the directory
 * @dir:	its path
 * @lock:	lock on it, or -1
 * @made:	it was not there before
 * @next:	number of the next case
 * @c:		the cases, in order of their numbers
 * @nr:		number of these
 * @group:	the groups
 * @nr_groups:	number of these
 * @damage:	directories of cases that are not listed, in order of their numbers
 * @damaged:	number of these
 * @other_bytes: size of these, and of cases that could not be removed
 */
struct store {
	char *dir;
	int lock;
	bool made;
	u64 next;
	struct store_case *c;
	size_t nr, room;
	struct store_group *group;
	size_t nr_groups, group_room;
	struct store_damage *damage;
	size_t damaged, damage_room;
	u64 other_bytes;
};

int group_comm(const char *comm);
void group_of(const struct alarm *a, char *buf, size_t size);
void group_add_reason(const struct store *s, const char *reason, char *buf,
		      size_t size);

char *store_open(struct store *s, const char *dir, bool write);
void store_undo(const struct store *s);
void store_close(struct store *s);
struct store_group *store_group(struct store *s, const char *name);
u64 store_first(const struct store *s, const struct store_group *g);
bool store_wants(struct store_group *g, u64 value);
bool store_is_worst(const struct store *s, const struct alarm_list *alarms);
char *store_added(struct store *s, struct store_group *g, u64 number,
		  u64 *removed);
bool store_keep(struct store *s, u64 bytes);
bool store_save(const struct store *s);
bool store_remove(const char *path);
u64 store_bytes(const struct store *s);
size_t store_since(const struct store *s, u64 number);

#endif
