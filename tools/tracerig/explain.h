/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why an operation took long: explain_walk.c divides its time into parts by the events of
 * a recording, explain_judge.c finds out which part is longer than usual, and with what
 * confidence. explain_findings.c asks the analyzers whose events the recording has, and
 * explain_join.c compares their findings with the parts.
 */
#ifndef TRACERIG_EXPLAIN_H
#define TRACERIG_EXPLAIN_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "guard.h"

struct json_object;

/* What the events of a recording allow to find, and from SAW_NR on, which analyzers do */
enum {
	SAW_SWITCH,
	SAW_WAKING,
	SAW_IRQ,
	SAW_SOFTIRQ,
	SAW_BLOCK,
	SAW_NR,
	SAW_GRAPH = SAW_NR,
	SAW_IOSYS,
	SAW_LBR,
	SAW_ALL
};

/* The programs that are asked; their order is that of SAW_GRAPH and so on */
enum analyzer { PATHDIFF, IOREQ, LBRTIME, ANALYZERS };

/* What a part of an operation's time is */
enum part_kind {
	PART_RUN,
	PART_WAIT,
	PART_INTERRUPT, /* up to here on a CPU */
	PART_BLOCKED,
	PART_BLOCKED_BLIND, /* its waker is unknown */
	PART_QUEUE,
	PART_DEVICE,
	PART_CALL, /* in a call or function, whatever the thread did there */
};

/* Flags of a record, its common_flags: interrupts are off, or it is from one */
enum { FLAG_IRQS_OFF = 0x01, FLAG_HARDIRQ = 0x08, FLAG_SOFTIRQ = 0x10 };

/**
 * struct part - a part of an operation's time: all stretches of one kind
 * @kind:	what it is
 * @key:	what makes stretches alike: @name without numbers of threads
 * @name:	what it is, for people
 * @detail:	of the longest stretch
 * @ns:		time of all stretches
 * @longest:	the longest one
 * @at:		when that began
 * @cpu:	where
 *
 * The rest is filled in by explain_judge().
 * @usual:	what the operation usually spends there
 * @share:	of the delay, percent
 * @least:	the same, if it is as usual at most
 * @most:	the same, if it is as usual at least
 */
struct part {
	enum part_kind kind;
	char *key;
	char *name;
	char *detail;
	u64 ns;
	u64 longest;
	u64 at;
	u32 cpu;
	u64 usual;
	double share;
	double least;
	double most;
};

/**
 * struct stretch - a stretch of an operation's time
 * @from:	when it begins
 * @to:		when it ends
 * @key:	that of its part
 * @cpu:	where
 */
struct stretch {
	u64 from;
	u64 to;
	const char *key;
	u32 cpu;
};

/**
 * struct execution - an operation, and where its time went
 * @start:	when it began
 * @end:	when it ended
 * @pid:	its thread; 0: it is a request to a device
 * @part:	the parts
 * @stretch:	what these are the sums of, in any order
 */
struct execution {
	u64 start;
	u64 end;
	s32 pid;
	struct part *part;
	size_t nr, room;
	struct stretch *stretch;
	size_t stretches, stretch_room;
};

/* Normal executions that the slow one is compared with */
#define NORMAL_MAX 64

/* How long an analyzer may take, ns, unless the user says otherwise */
#define EXPLAIN_TIMEOUT 60000000000ull

/* A cause has this share of the delay, percent */
#define SHARE_MIN 50

/**
 * struct finding - a part of an operation's time that an analyzer has found
 * @by:		the analyzer
 * @part:	the time, and its share of the delay; @part.key is what it is in
 * @who:	who ended a wait; "" if that is unknown
 * @confidence:	that this is where most of the delay comes from, percent; 0: it is not
 */
struct finding {
	enum analyzer by;
	struct part part;
	char *who;
	unsigned int confidence;
};

/**
 * struct analysis - the run of an analyzer
 * @asked:	it has run
 * @trouble:	why it has no result, or NULL; for free()
 * @result:	its output, without members that are too large to show; or NULL
 */
struct analysis {
	bool asked;
	char *trouble;
	struct json_object *result;
};

/**
 * struct explain - what there is to explain
 * @file:	the trace.dat
 * @baseline:	a trace.dat with normal executions for pathdiff, or NULL
 * @op:		the operation
 * @chart:	the chart's name
 * @nr_alarms:	number of alarms in the window
 * @charts:	names of the charts that had them, for json_object_put()
 * @dev:	the device of a request
 * @sector:	the request's first sector
 * @center:	the usual duration; 0: unknown
 * @fixed:	the chart has no centre line: its limit is not learnt
 * @limit:	longer executions are not normal
 * @judged:	how many values the chart has judged
 * @sigma:	standard deviation of the logarithms of normal values
 * @nr_values:	of how many
 * @begin:	when the recording begins
 * @overdue:	the operation has not ended yet
 * @dropped:	events that the watch had no room for
 * @function:	the kernel function that is the operation; NULL: another kind, or unknown
 * @timeout:	ns that each analyzer may take; 0: none is asked
 *
 * The rest is filled in.
 * @normal:	normal executions in the recording
 * @seen:	the events that the recording has
 * @lost:	places in the operation, on any CPU, where records are lost
 * @unrecorded:	places where nothing is recorded, since they are between two windows, or by a filter
 * @odd:	events of the thread while others say that it did not run
 * @chance:	expected number of such values among those judged
 * @unseen:	time that no event explains
 * @confidence:	in the first part, percent; 0: no cause is named
 * @why_none:	then why
 * @by_chance:	because the value can be one by chance
 * @doubt:	what lowers it; for free()
 * @analysis:	of each analyzer
 * @finding:	what they have found, for explain_free(); the largest share first
 * @named:	the finding that is the cause; NULL: it is the first part, or none
 * @awaited:	the finding of ioreq that says in which call the thread was blocked, if
 *		that is the cause; otherwise NULL
 * @remark:	where the parts agree and disagree, and what is left out; for free()
 */
struct explain {
	const char *file;
	const char *baseline;
	struct execution op;
	const char *chart;
	u64 nr_alarms;
	struct json_object *charts;
	u64 dev;
	u64 sector;
	u64 center;
	bool fixed;
	u64 limit;
	u64 judged;
	double sigma;
	size_t nr_values;
	u64 begin;
	bool overdue;
	u64 dropped;
	const char *function;
	u64 timeout;
	struct execution normal[NORMAL_MAX];
	size_t nr_normal;
	bool seen[SAW_ALL];
	u64 lost;
	u64 unrecorded;
	u64 odd;
	double chance;
	u64 unseen;
	unsigned int confidence;
	const char *why_none;
	bool by_chance;
	char *doubt[16];
	size_t nr_doubts;
	struct analysis analysis[ANALYZERS];
	struct finding *finding;
	size_t nr_findings, finding_room;
	const struct finding *named;
	const struct finding *awaited;
	char *remark[8];
	size_t nr_remarks;
};

/**
 * struct explain_cause - the cause of a case, in short
 * @key:	the cause, without numbers of threads; "": none is named
 * @why_none:	then why
 * @share:	of the delay, percent
 * @confidence:	percent
 */
struct explain_cause {
	char key[160];
	char why_none[240];
	unsigned int share;
	unsigned int confidence;
};

extern const struct argp explain_timeout_argp;
extern const struct argp_child explain_children[];

void execution_add(struct execution *e, enum part_kind kind, const char *key,
		   const char *name, const char *detail, u64 from, u64 to,
		   u32 cpu);
void explain_add(struct explain *x, s32 pid, enum part_kind kind,
		 const char *key, const char *name, const char *detail,
		 u64 from, u64 to, u32 cpu);
const char *explain_key(const char *keys, const char *end);
u64 explain_device(const char *text);
bool explain_who(const char *keys, s32 *pid, u64 *dev, u64 *sector);
int explain_read(struct guard *g, struct explain *x);
bool explain_has_path(const struct explain *x, struct json_object *slow);
u64 explain_delay(const struct explain *x);
void explain_doubt(struct explain *x, double *confidence, double factor,
		   char *text);
void explain_shares(struct explain *x);
void explain_judge(struct explain *x);
const char *analyzer_name(enum analyzer a);
void explain_ask(struct explain *x);
void explain_remark(struct explain *x, char *text);
void explain_join(struct explain *x);
struct json_object *explain_object(const struct explain *x);
char *explain_damage(const char *dir, struct json_object *o);
int explain_case(struct guard *g, struct explain *x, struct json_object *o);
void explain_free(struct explain *x);
bool explain_cause(const char *dir, u64 timeout, struct explain_cause *cause);

#endif
