/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A case: a directory with all that is known about an abnormal operation. Its case.json
 * has the names and sums of its files. A case is whole or absent: it is written under
 * another name, synchronized, and renamed.
 */
#ifndef TRACERIG_CASE_H
#define TRACERIG_CASE_H

#include <json-c/json.h>
#include <time.h>

#include "elfcopy.h"
#include "plan.h"
#include "reader.h"

#define CASE_FORMAT "tracerig-case"
#define CASE_VERSION 2
#define CASE_FILE "case.json"

/* Since version 2, the last member of case.json is its own sum, for which these stand meanwhile */
#define CASE_SUM "sha256"
#define NO_SUM \
	"0000000000000000000000000000000000000000000000000000000000000000"

/* A case has no more files: those of symbols are bounded, and so are the others */
#define CASE_FILES_MAX 1024

/* What to do about a case that is not as it was written, and about one of a later version */
#define CASE_DAMAGED \
	"the case is damaged: unpack its TAR again, if there is one, or remove it"
#define CASE_NEWER "use the tracerig that wrote it, or a later one"

/* Normal executions, of a watch that records paths: a trace.dat */
#define BASELINE_FILE "baseline.dat"

/**
 * struct case_job - a case to be written
 * @dir:	directory of the cases
 * @number:	the case's number
 * @group:	what makes cases alike, see group_of()
 * @nth:	how many cases are alike, this one included
 * @chart:	the chart of the leading alarm
 * @chart_text:	its file "ctlchart", or NULL
 * @known_stacks: the kernel's file iosys_stacks
 * @is_time:	its values are times
 * @reader:	the window's pages and alarms
 * @head:	what window_head() returned
 * @overwritten: number of events that the ring buffer has overwritten since the start
 * @missed:	number of calls that the chart's probes have missed since the start
 */
struct case_job {
	const char *dir;
	u64 number;
	const char *group;
	u64 nth;
	const struct plan_chart *chart;
	const char *chart_text;
	const char *known_stacks;
	bool is_time;
	struct reader *reader;
	int head;
	u64 overwritten;
	u64 missed;
};

struct timespec case_time(u64 ts);
int case_write(struct case_job *job);

struct json_object *json_load(const char *path, char **why);
struct json_object *case_read(const char *dir, char **error);
struct json_object *case_charts(struct json_object *o);
char *case_baseline(const char *dir, struct json_object *o);
const char *case_advice(int error);
char *case_damage(const char *dir, struct json_object *o, const char *only);
char *case_verify(const char *dir, struct json_object *o);
char *case_sum(const char *path, u64 *bytes);
char *case_set_sum(char *text, const char *sum);
char *case_changed(const char *dir, struct json_object *o);

char *state_collect(const char *dir, int pid, const struct elfcopy *symbols,
		    struct json_object *missing);

#endif
