/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The charts that ctlchart draws from a trace's events: desk_bind.c finds the events and
 * fields that a filter names, desk_run.c the values in the events, desk_judge.c judges
 * these.
 */
#ifndef CTLCHART_DESK_H
#define CTLCHART_DESK_H

#include "ctlchart.h"
#include "hash.h"

/* Keys as text */
#define KEYS_LEN 192

/**
 * struct desk_rules - group and points of a chart on a CPU
 * @cpu:	the CPU
 * @rules:	its state
 */
struct desk_rules {
	u32 cpu;
	struct ctlchart_rules rules;
};

/**
 * struct desk_chart - the state of a chart
 * @call:	its call
 * @result:	its results
 * @end:	judged event
 * @start:	start event, or NULL
 * @from_kernel: its values are those in the kernel's value events
 * @whole:	for a part, the chart that it is a part of
 * @end_key:	keys in the judged event; the first is the field of a field's
 *		chart
 * @start_key:	keys in the start event
 * @nr_keys:	number of keys
 * @before:	terms left of the call, or NULL
 * @after:	terms right of the call, or NULL
 * @pairs:	starts in flight, or NULL
 * @lead:	an earlier chart that pairs the same way, whose pairs this one uses
 * @paired:	the current end event had a start, or is a field's value
 * @value:	the current value
 * @phase1:	the sample of Phase I
 * @room:	its memory
 * @sampler:	selects the values of the sample
 * @relearn:	selects the values of the next sample
 * @zones:	lines of the run rules
 * @lines:	number of these lines
 * @rules:	groups and points of the CPUs, struct desk_rules
 * @learning:	there is no limit yet
 * @before_ucl:	the limit before the one in force
 * @by:		field of by=
 * @by_value:	for a part, the value of @by
 * @part:	charts of the field's values, in order of appearance
 * @nr_parts:	number of @part
 * @window:	when the current second began, for rate=
 * @in_window:	alarms in this second
 * @limit_time:	when the kernel would have written the last limit event before an
 *		alarm; 0: it is due
 */
struct desk_chart {
	const struct call *call;
	struct chart *result;
	struct tep_event *end;
	struct tep_event *start;
	bool from_kernel;
	struct desk_chart *whole;
	struct field end_key[MAX_KEYS];
	struct field start_key[MAX_KEYS];
	unsigned int nr_keys;
	struct tep_event_filter *before;
	struct tep_event_filter *after;
	struct pairs *pairs;
	struct desk_chart *lead;
	bool paired;
	struct alarm value;
	struct ctlchart_phase1 phase1;
	u64 *room;
	struct ctlchart_sampler sampler;
	struct ctlchart_relearn relearn;
	struct ctlchart_zones zones;
	u32 lines;
	struct hash rules;
	bool learning;
	u64 before_ucl;
	struct field by;
	u64 by_value;
	struct desk_chart **part;
	u32 nr_parts;
	u64 window;
	u32 in_window;
	u64 limit_time;
};

/**
 * struct desk - all charts
 * @call:	the calls
 * @nr_calls:	number of @call
 * @chart:	their charts
 * @epoch:	number of gaps so far
 * @scanned:	the charts that have value events in the trace are known
 * @values:	reader of these values, or NULL
 * @warm:	a note said that a chart began with a limit
 */
struct desk {
	const struct call *call;
	size_t nr_calls;
	struct desk_chart *chart;
	unsigned int epoch;
	bool scanned;
	struct values *values;
	bool warm;
};

/* Is it a string? Its key is then a hash */
static inline bool field_is_string(const struct field *f)
{
	return f->type == FIELD_STRING || f->type == FIELD_COMM;
}

/* Does it pass the terms left or right of the call? */
static inline bool desk_matches(struct tep_event_filter *filter,
				const struct record *rec)
{
	struct tep_record judged = input_tep_record(rec);

	return !filter ||
	       tep_filter_match(filter, &judged) == TEP_ERRNO__FILTER_MATCH;
}

/* desk_bind.c */
int desk_find_judged(struct input *in, struct desk_chart *d);
int desk_bind(struct input *in, struct desk *desk, struct desk_chart *d);
void desk_name(const struct desk_chart *d, char *name, size_t size);

/* desk_judge.c */
void desk_set_limits(struct desk_chart *d, u64 now);
void desk_start(struct desk_chart *d);
void desk_free_values(struct desk_chart *d);
void desk_print_keys(struct input *in, const struct field *key,
		     unsigned int nr_keys, const struct record *rec, char *buf,
		     size_t size);
void desk_raise_alarm(struct input *in, struct desk_chart *d, struct alarm *a);
void desk_finish_points(struct input *in, const struct desk_chart *d);
bool desk_judge(struct input *in, struct desk_chart *d, struct alarm *a,
		const struct value *v, const struct record *rec);

#endif
