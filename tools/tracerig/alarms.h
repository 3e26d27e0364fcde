/* SPDX-License-Identifier: GPL-2.0 */
/* The alarms of a window: how many, and which are the worst. */
#ifndef TRACERIG_ALARMS_H
#define TRACERIG_ALARMS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <linux/types.h>

#include <event-parse.h>

#define COMM_LEN 16

/* Limit of the number of alarms that case.json lists */
#define ALARMS_MAX 100

/**
 * struct alarm - an event ctlchart_alarm
 * @ts:		its time, ns of the trace clock
 * @cpu:	CPU on which it was written
 * @start:	time of the start event, 0 for a number in an event
 * @value:	the duration in ns, or the number
 * @center:	centre line
 * @limit:	upper control limit
 * @values:	number of values that the chart had judged when its limit was written
 * @rules:	what was broken, as the kernel's flags
 * @pid:	thread that was current at the start event
 * @kept:	the judged event passed its filter
 * @comm:	name of the thread
 * @chart:	name of the chart, as chart_label() makes it
 * @keys:	the keys, "dev=254:0 sector=1234"
 */
struct alarm {
	u64 ts;
	u32 cpu;
	u64 start;
	u64 value;
	u64 center;
	u64 limit;
	u64 values;
	u32 rules;
	int pid;
	bool kept;
	char comm[COMM_LEN];
	char chart[128];
	char keys[200];
};

/**
 * struct alarm_list - the alarms of a window
 * @alarm:	the worst of them, at most ALARMS_MAX, and the worst of each chart; by time after
 *		alarm_list_sort()
 * @nr:		number of all of them
 * @lead:	the worst: the one with the highest ratio of value to limit
 * @earliest:	start of the operations, the earliest, ns
 */
struct alarm_list {
	struct alarm alarm[ALARMS_MAX];
	u64 nr;
	struct alarm lead;
	u64 earliest;
};

void alarm_list_add(struct alarm_list *l, const struct alarm *a);
size_t alarm_list_sort(struct alarm_list *l);
void chart_label(struct tep_event *judged, char *chart, size_t size);
bool alarm_is_of(struct tep_handle *tep, const char *label, const char *chart);
int chart_brief(const char *chart, const char *keys);
u64 alarm_list_most(const struct alarm_list *l, const char *chart);
struct json_object *alarm_list_charts(const struct alarm_list *l);
void chart_names_add(struct json_object *names, const char *name);
char *alarms_text(char *buf, size_t size, u64 nr, struct json_object *names);

#endif
