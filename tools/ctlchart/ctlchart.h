/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ctlchart: control charts of trace.dat files.
 */
#ifndef CTLCHART_H
#define CTLCHART_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/limits.h>
#include <stdio.h>

#include <event-parse.h>

#include "chart.h"
#include "guard.h"
#include "memory.h"
#include "records.h"
#include "relearn.h"
#include "rules.h"
#include "text.h"
#include "tracefile.h"

#define PROGRAM "ctlchart"

#define MAX_KEYS 4
#define MAX_CALLS 16
#define NAME_LEN 64
/* with the field's value, of a part of a chart with by= */
#define CHART_NAME_LEN 128
#define COMM_LEN 16

/* Charts of by=FIELD: default and bound of charts= */
#define CHARTS_DEFAULT 64
#define CHARTS_MAX 4096

/* Charts that a picture shows */
#define MAX_PANELS 16

/*
 * Bits of the alarm event's field "rules": Nelson's number less one, or our own;
 * rule 1 is RULE_LIMIT of a single value and RULE_FIRST of a group's median.
 * RULE_BELOW: the group lies below the centre.
 */
#define RULE_LIMIT 0x001u
#define RULE_OVERDUE 0x100u
#define RULE_FIRST 0x200u
#define RULE_BELOW 0x400u

/* ---- call.c: the call in a filter ---- */

/**
 * struct token - a part of the filter string
 * @str: its first character
 * @len: its length
 */
struct token {
	const char *str;
	size_t len;
};

/**
 * struct call - one -e SYSTEM:EVENT -f FILTER
 * @event:	what -e gave
 * @filter:	what -f gave
 * @before:	terms left of ctlchart() and its &&, or NULL: they select what
 *		is charted
 * @after:	terms right of it, or NULL: they select the events that are kept
 * @before_at:	where @before stands in @filter
 * @after_at:	where @after does
 * @arg:	START and keys, or FIELD, as they stand in @filter
 * @nr_args:	number of them
 * @method:	limit=, scale=, group=, samples=
 * @rules:	rules=, CTLCHART_NELSON() of the rules
 * @name:	name=, or ""
 * @learn:	learn=, ns
 * @relearn:	relearn=, values or ns; 0 if not given
 * @relearn_time: it is in ns
 * @ucl:	ucl=, ns or the field's unit; 0 if not given
 * @stale:	stale=, ns
 * @context:	pre=, post= or from= was given
 * @overdue:	overdue=, ns; 0 if not given
 * @size:	size=
 * @rate:	rate=, alarms a second; 0 for any number
 * @by:	by=, or an empty token
 * @charts:	charts=, or its default; 0 without by=
 * @last:	dup=last
 */
struct call {
	const char *event;
	const char *filter;
	char *before;
	char *after;
	const char *before_at;
	const char *after_at;
	struct token arg[1 + MAX_KEYS];
	unsigned int nr_args;
	struct ctlchart_method method;
	u32 rules;
	char name[NAME_LEN];
	u64 learn;
	u64 relearn;
	bool relearn_time;
	u64 ucl;
	u64 stale;
	bool context;
	u64 overdue;
	u32 size;
	u32 rate;
	struct token by;
	u32 charts;
	bool last;
};

/**
 * struct call_error - a mistake in a call
 * @what: one line, in the words of the kernel's error_log
 * @at: where in the filter
 * @help: what to write instead, or NULL
 */
struct call_error {
	const char *what;
	const char *at;
	const char *help;
};

/* The names of enum ctlchart_limit */
extern const char *const limit_names[CTLCHART_QUANTILE + 1];

bool call_parse(struct call *call, const char *event, const char *filter,
		struct call_error *error);
void call_free(struct call *call);
char *call_explain(const char *filter, const struct call_error *error);
char *call_with(const char *filter, const char *option, const char *value);

/* ---- pairs.c: starts in flight ---- */

/**
 * struct start - a start event that waits for its end
 * @key:	values of the key fields, unused ones are zero
 * @time:	trace clock
 * @pid:	the task that was current
 * @epoch:	events were lost this many times before it
 * @overdue:	it was reported as overdue
 * @keys:	the keys as text, if asked for
 * @next:	next entry of the bucket, or of the free ones
 * @older:	neighbours in order of arrival
 * @younger:	the same
 */
struct start {
	u64 key[MAX_KEYS];
	u64 time;
	int pid;
	unsigned int epoch;
	bool overdue;
	char *keys;
	u32 next, older, younger;
};

/**
 * struct accounts - where every start and end went
 *
 * starts = paired + replaced + evicted + refused + in flight;
 * ends = paired + unmatched.
 */
struct accounts {
	u64 starts;
	u64 paired;
	u64 replaced;
	u64 evicted;
	u64 refused;
	u64 ends;
	u64 unmatched;
};

struct pairs;

struct pairs *pairs_new(u32 size, u64 stale, bool last);
void pairs_free(struct pairs *p);
void pairs_put(struct pairs *p, struct start *s);
bool pairs_remove(struct pairs *p, const u64 *key, struct start *s);
const struct start *pairs_overdue(struct pairs *p, u64 before);
u32 pairs_in_flight(const struct pairs *p);
const struct accounts *pairs_accounts(const struct pairs *p);

/* ---- series.c: the points of a picture ---- */

struct series;

struct series *series_new(void);
void series_free(struct series *s);
void series_add(struct series *s, u64 time, u64 value, bool alarm);
void series_limits(struct series *s, u64 time, const struct ctlchart_limits *l,
		   bool has_center);

/**
 * struct series_step - lines that are in force from a time on
 */
struct series_step {
	u64 time;
	struct ctlchart_limits limits;
	bool has_center;
};

bool series_range(const struct series *s, u64 *from, u64 *to);
u64 series_max(const struct series *s);
u64 series_min(const struct series *s);
size_t series_steps(const struct series *s, const struct series_step **step);
void series_each(const struct series *s, bool alarms,
		 void (*point)(void *arg, double time, double value),
		 void *arg);

/* ---- points.c: the values of a page ---- */

/**
 * struct point - a value
 * @time:	of the judged event
 * @value:	ns, or in the field's unit
 * @pid:	process, at the start
 * @comm:	its name
 * @keys:	"dev=8388608 sector=1234"; NULL until points_finish(), which asks for
 *		it and for @comm only if the point is still in the set
 * @key:	values of the keys, for @keys
 */
struct point {
	u64 time;
	u64 value;
	int pid;
	char comm[COMM_LEN + 1];
	const char *keys;
	u64 key[MAX_KEYS];
};

struct points;

struct points *points_new(void);
void points_free(struct points *p);
bool points_due(struct points *p);
void points_add(struct points *p, bool alarm, const struct point *point);
void points_finish(struct points *p,
		   void (*finish)(struct point *point, void *arg), void *arg);
size_t points_get(const struct points *p, bool alarms,
		  const struct point **point);
u64 points_step(const struct points *p);

/* ---- around.c: the events around an alarm ---- */

/**
 * struct around_event - an event near an alarm
 * @time:	trace clock
 * @cpu:	where it happened
 * @name:	of the event
 * @who:	process, COMM-PID
 * @text:	its fields
 */
struct around_event {
	u64 time;
	int cpu;
	char *name;
	char *who;
	char *text;
};

/**
 * struct around - the events around an alarm
 * @event:	in order of time
 * @nr:		number of @event
 * @before:	number of events up to the judged event, including it
 */
struct around {
	struct around_event *event;
	size_t nr;
	size_t before;
};

struct report;

int around_collect(struct guard *g, struct report *r, size_t size);
void around_free(struct around *r);

/* ---- result.c: the results of a chart ---- */

/* Room for keys as people write them */
#define SHOWN_KEYS 512

/**
 * struct alarm - a value out of control
 * @time:	of the judged event, trace clock
 * @start:	of the start event; 0 for a field's chart
 * @value:	duration in ns, or the field's value
 * @limits:	the lines it was judged by
 * @rules:	RULE_* that it broke
 * @kept:	the judged event is in the log
 * @suppressed:	it has no alarm event, because of rate=
 * @pid:	process, at the start
 * @comm:	its name
 * @keys:	"dev=8388608 sector=1234"; in a chart's worst alarms as people write
 *		them: "dev=8:0 sector=1234"
 * @raw_keys:	in a chart's worst alarms: the keys as numbers
 * @keys_of:	the event that has the keys, or NULL; for report_alarm()
 * @seen:	events of the trace up to it, if it has come in their order; else 0
 * @around:	the events around it, or NULL
 */
struct alarm {
	u64 time;
	u64 start;
	u64 value;
	struct ctlchart_limits limits;
	u32 rules;
	bool kept;
	bool suppressed;
	int pid;
	char comm[COMM_LEN + 1];
	const char *keys;
	const char *raw_keys;
	struct tep_event *keys_of;
	u64 seen;
	struct around *around;
};

/**
 * struct chart - the results of a chart
 * @name:	of the chart
 * @event:	judged event, system:event
 * @start:	start event, system:event, or NULL
 * @field:	the field that is judged, or NULL
 * @is_time:	values are times in ns
 * @from_kernel: values are those in the kernel's value events
 * @parts:	of a chart with by=: number of its parts
 * @call:	the call; NULL for alarms that the kernel wrote
 * @learnt:	values seen while there was no limit
 * @values:	values judged; of alarms that the kernel wrote, until the last limit
 *		event
 * @alarms:	of @values, those out of control
 * @alarms_then: number of @alarms when @values was known
 * @kept:	of @alarms, those whose event is in the log
 * @broken:	alarms of each of Nelson's rules
 * @suppressed:	alarms without an event of their own, because of rate=
 * @overdue:	starts reported as overdue
 * @uncharted:	pairs that terms left of ctlchart() rejected
 * @backwards:	ends with an earlier time than their start
 * @accounts:	account of the starts
 * @in_flight:	starts without an end when the trace ended
 * @limits:	lines in force at the end
 * @has_limit:	there is a limit
 * @has_center:	there is a centre line
 * @zones:	lines of rules=
 * @has_zones:	there are such lines
 * @relearnt:	number of limits estimated after the first one
 * @shape:	shape of the distribution of Phase I's values
 * @phase1_taken: number of values in Phase I's sample
 * @phase1_end:	when Phase I was complete; 0 if it was not
 * @events:	start and judged events in the file
 * @bytes:	their size in the ring buffer
 * @alarm_events: alarm events that this chart alone would have written
 * @kept_bytes:	their size and that of its events kept
 * @worst:	the largest alarms, largest first
 * @nr_worst:	number of @worst
 * @max_worst:	allocated length of @worst
 * @series:	points for a picture, or NULL
 * @points:	values for a page, or NULL
 */
struct chart {
	char *name;
	char *event;
	char *start;
	char *field;
	bool is_time;
	bool from_kernel;
	u32 parts;
	const struct call *call;
	u64 learnt;
	u64 values;
	u64 alarms;
	u64 alarms_then;
	u64 kept;
	u64 broken[CTLCHART_RULES];
	u64 suppressed;
	u64 overdue;
	u64 uncharted;
	u64 backwards;
	struct accounts accounts;
	u32 in_flight;
	struct ctlchart_limits limits;
	bool has_limit;
	bool has_center;
	struct ctlchart_zones zones;
	bool has_zones;
	u64 relearnt;
	enum ctlchart_shape shape;
	u32 phase1_taken;
	u64 phase1_end;
	u64 events;
	u64 bytes;
	u64 alarm_events;
	u64 kept_bytes;
	struct alarm *worst;
	size_t nr_worst;
	size_t max_worst;
	struct series *series;
	struct points *points;
};

enum format {
	FORMAT_TEXT,
	FORMAT_CSV,
	FORMAT_JSON,
	FORMAT_SVG,
	FORMAT_HTML,
};

/**
 * struct report - a report and its options
 * @file:	the trace file
 * @instance:	trace instance, "" for the main one
 * @format:	output format
 * @max_worst:	alarms to list per chart
 * @only:	report the chart of this name alone, or NULL
 * @sim:	charts are settings to be compared, which can have the same name
 * @linear:	linear axis in a picture
 * @color:	the output is a terminal that shows colours
 * @out:	output
 * @chart:	the charts
 * @nr_charts:	number of @chart
 * @events:	events in the file
 * @bytes:	their size in the ring buffer
 * @lost:	events lost, as far as their number is known
 * @gaps:	times that events were lost
 * @first:	time of the first event
 * @last:	time of the last event
 * @log_events:	start and judged events of the charts in the file
 * @log_bytes:	their size in the ring buffer
 * @kept_events: number of @log_events that the filters would have kept
 * @kept_bytes:	their size, with that of the alarm events
 * @alarm_events: alarm events
 * @places:	where its records are, for a second pass; NULL if there is none
 */
struct report {
	const char *file;
	const char *instance;
	enum format format;
	size_t max_worst;
	const char *only;
	bool sim;
	bool linear;
	bool color;
	FILE *out;
	struct chart **chart;
	size_t nr_charts;
	u64 events;
	u64 bytes;
	u64 lost;
	u64 gaps;
	u64 first;
	u64 last;
	u64 log_events;
	u64 log_bytes;
	u64 kept_events;
	u64 kept_bytes;
	u64 alarm_events;
	struct places *places;
};

struct chart *report_add_chart(struct report *r, const char *name);
struct chart *report_find_chart(struct report *r, const char *name);
bool chart_is(const char *chart, const char *name);
bool report_wants(const struct report *r, const char *name);
void report_alarm(struct report *r, struct chart *c, const struct alarm *a);
void show_keys(struct tep_event *event, const char *keys, char buf[SHOWN_KEYS]);
void report_normal(struct chart *c, const struct alarm *a);
void report_free(struct report *r);

void report_begin(struct report *r);
void report_end(struct report *r);

void csv_begin(struct report *r);
void csv_alarm(struct report *r, const struct chart *c, const struct alarm *a);
void text_report(struct report *r);
struct json_object;
void json_head(struct json_object *o, const struct report *r);
void json_report(struct report *r);
void svg_report(struct report *r);
void html_report(struct report *r);

const char *shape_name(enum ctlchart_shape shape);
const char *format_rules(char *buf, size_t size, u32 rules);

/* ---- input.c: reading the trace ---- */

struct input;

/**
 * struct reader - callbacks for the reading of a trace
 * @init:	called before the first event; returns 0 or EXIT_FAILURE
 * @event:	called for each event, in order of time; returns the same
 * @lost:	called when events were lost before the next one
 * @end:	called after the last event
 * @wanted:	returns the number of the next event that is wanted, for a trace whose
 *		places are known: most events before it are skipped
 * @arg:	passed to all callbacks
 */
struct reader {
	int (*init)(struct input *in, void *arg);
	int (*event)(struct input *in, const struct record *rec, void *arg);
	void (*lost)(struct input *in, void *arg);
	int (*end)(struct input *in, void *arg);
	u64 (*wanted)(void *arg);
	void *arg;
};

/**
 * struct places - where the records of a trace are
 * @every:	events between two places, a power of two
 * @nr:		number of places; the first one is the begin of the trace
 * @cpu:	all CPUs that have records, maybe with others
 * @cpus:	number of @cpu
 */
struct places {
	u64 every;
	size_t nr;
	/**
	 * struct place_cpu - places of one CPU
	 * @now:	offset of its last record in the file, 0 if it has none yet
	 * @offset:	value of @now at each place
	 */
	struct place_cpu {
		u64 now;
		u64 *offset;
	} * cpu;
	u32 cpus;
};

/**
 * struct field - a field of an event, whose reads are checked for size
 * @format:	its format in the file
 * @number:	of a FIELD_NUMBER
 * @type:	what its values are
 */
struct field {
	struct tep_format_field *format;
	struct number number;
	enum field_type {
		FIELD_NUMBER,
		FIELD_STRING,
		FIELD_BYTES,
		FIELD_CPU,
		FIELD_COMM,
		FIELD_OTHER,
	} type;
};

/**
 * struct field_want - a field that one of ctlchart's own events has
 * @name:	its name
 * @type:	FIELD_NUMBER, FIELD_STRING, or FIELD_BYTES for an array of numbers
 *		elsewhere in the record
 */
struct field_want {
	const char *name;
	enum field_type type;
};

/**
 * struct input - a trace that is being read
 * @guard:	the guard
 * @report:	the report
 * @records:	its records
 * @tep:	their formats
 * @instances:	names of other buffers than the main one, or ""
 * @reader:	the callbacks
 * @type:	the field common_type
 * @pid:	the field common_pid
 * @next_alive:	number of events at which to call guard_alive() next
 */
struct input {
	struct guard *guard;
	struct report *report;
	struct records *records;
	struct tep_handle *tep;
	char instances[256];
	const struct reader *reader;
	struct field type;
	struct field pid;
	u64 next_alive;
};

/* A record for libtraceevent */
static inline struct tep_record input_tep_record(const struct record *rec)
{
	return (struct tep_record){ .ts = rec->ts,
				    .cpu = rec->cpu,
				    .size = rec->size,
				    .data = (void *)rec->data };
}

int input_read(struct guard *g, struct report *r, const struct reader *reader);
struct places *places_new(void);
void places_free(struct places *p);

bool field_find(struct field *f, struct tep_event *event, const char *name,
		size_t len);
int fields_find(struct input *in, struct tep_event *event,
		const struct field_want *want, struct field *f, size_t nr);
const char *field_name(const struct field *f);
bool field_number(const struct field *f, const struct record *rec, u64 *value);
bool field_string(const struct field *f, struct input *in,
		  const struct record *rec, const char **s, size_t *len);
bool field_bytes(const struct field *f, const struct record *rec,
		 const char **s, size_t *len);
int input_type(struct input *in, const struct record *rec);
int input_pid(struct input *in, const struct record *rec);
char *input_event_name(struct input *in, int id);
int input_damaged(struct input *in, const struct record *rec,
		  const char *event);

/* ---- values.c: the values of the kernel's charts ---- */

#define VALUE_TEXT 256

/**
 * struct value - contents of an event ctlchart_value
 * @chart:	the chart's name, or that of a part: "name[field=value]"
 * @event:	id of the judged event
 * @time:	trace clock at that event, as the chart saw it
 * @start:	trace clock at the start event; 0 for a field's chart
 * @value:	duration in ns, or the field's value
 * @limit:	the limit that the kernel used; U64_MAX for none
 * @rules:	RULE_* that it broke there
 * @pid:	process, at the start
 * @cpu:	where the judged event was written
 * @studied:	the kernel learnt from it, or checked it by rules=
 * @missed:	it should have, but could not
 * @kept:	its event passed the whole filter
 * @first:	the first value of its chart in the trace
 * @used:	set by the handler if the value belongs to one of its charts
 * @keys:	"dev=8388608 sector=1234"
 */
struct value {
	const char *chart;
	unsigned int event;
	u64 time;
	u64 start;
	u64 value;
	u64 limit;
	u32 rules;
	int pid;
	u32 cpu;
	bool studied;
	bool missed;
	bool kept;
	bool first;
	bool used;
	const char *keys;
};

typedef int (*value_handler)(struct input *in, struct value *value, void *arg);

struct values;

struct tep_event *values_event(struct input *in);
struct values *values_new(struct input *in, bool in_order, value_handler handle,
			  void *arg);
void values_free(struct values *v);
int values_record(struct values *v, struct input *in, const struct record *rec);
int values_end(struct values *v, struct input *in);

/* ---- alarms.c, desk_run.c: the report of either kind of trace ---- */

int alarms_report(struct guard *g, struct report *r);
int desk_report(struct guard *g, struct report *r, const struct call *call,
		size_t nr_calls);

#endif
