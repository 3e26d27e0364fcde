/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pathdiff: which kernel function made a call slow.
 *
 * After Fukai et al., "Estimating the cause function of a performance failure by
 * analysing execution paths" (in Japanese). A function_graph trace is cut into
 * executions of one function; executions that took longer than the limit of a control
 * chart are compared with the most similar path of the others.
 *
 *	symbols.c	functions and other names as integers
 *	reader.c	the records of a trace
 *	reader_text.c	the text of a trace
 *	textline.c	a line of it
 *	cut.c		executions, per thread, and their paths
 *	wait.c		off the CPU, in interrupts, at locks: why and for which task
 *	pattern.c	paths that are the same sequence of functions
 *	lcs.c		the longest common subsequence
 *	limit.c		which executions took too long
 *	nearest.c	the normal pattern that is most like an abnormal one
 *	rank.c		the function that made an execution slow, and causes
 *	calls.c		the same, where the delay is spread over what it calls
 *	chance.c	which causes stand out
 *	figures.c	the distributions and tables of the paper
 *	report_*.c	ways to write all this
 */
#ifndef PATHDIFF_H
#define PATHDIFF_H

#include <linux/types.h>
#include <linux/limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "chart.h"
#include "guard.h"
#include "hash.h"
#include "memory.h"
#include "records.h"
#include "text.h"

#define PROGRAM "pathdiff"
#define NONE U32_MAX

/* Longest path; longer ones are cut off and counted */
#define MAX_PATH (1u << 20)

/* ---- symbols.c ---- */

/* What a function is known for */
enum {
	FUNCTION_SCHEDULES = 1, /* gives up the CPU */
	FUNCTION_INTERRUPT = 2, /* begins or ends an interrupt */
	FUNCTION_WAITS = 4, /* its name does not show what it waits for */
	FUNCTION_BEGINS = 32, /* begins an interrupt */
	FUNCTION_MAY_SCHEDULE = 16, /* gives up the CPU if necessary */
	FUNCTION_TRACES = 8, /* is there because events are recorded */
	FUNCTION_SOFTIRQ = 64, /* handles softirqs */
	FUNCTION_NMI = 128, /* handles NMIs */
};

/**
 * struct strings - names as integers
 * @name:	the names
 * @flags:	FUNCTION_*
 * @nr:		number of them
 * @max:	room
 * @table:	their numbers, by name
 */
struct strings {
	char **name;
	u8 *flags;
	u32 nr;
	u32 max;
	struct hash table;
};

u32 string_id(struct strings *s, const char *name);
const char *softirq_of(const char *function);
void strings_free(struct strings *s);

struct symbols;

struct symbols *symbols_read(struct tep_handle *tep, struct strings *functions);
u32 symbols_function(struct symbols *s, u64 address);
char *symbols_exact(const struct symbols *s, u64 address);
u32 symbols_named(struct symbols *s, const char *name);
bool symbols_known(const struct symbols *s);
void symbols_free(struct symbols *s);

/* ---- pattern.c ---- */

/**
 * struct pattern - a sequence of functions
 * @function:	the functions, in order of their calls
 * @depth:	how deep each is below the entry, in its first execution
 * @len:	number of them
 * @nr:		executions: 0 normal, 1 abnormal
 * @base:	executions of the baseline above the limit, which are neither
 * @first:	the longest abnormal one, or else a normal one
 * @stat:	of normal executions, for each position, or NULL
 * @irq:	mean time in interrupts in normal ones, ns
 * @duration:	mean duration of normal ones, ns
 * @counts:	distinct functions, ascending, each with its count; see nearest.c
 * @distinct:	number of them
 * @near:	of an abnormal pattern: the nearest normal one, or NONE
 * @common:	length of the LCS with it
 * @match:	for each position, the position there, or NONE
 */
struct pattern {
	u32 *function;
	u16 *depth;
	u32 len;
	u32 nr[2];
	u32 base;
	u32 first;
	struct position {
		double self;
		double square;
		double incl;
		float max;
	} * stat;
	double irq;
	double duration;
	u32 *counts;
	u32 distinct;
	u32 near;
	u32 common;
	u32 *match;
};

/**
 * struct patterns - all of them
 * @p:		the patterns
 * @nr:		number of them
 * @max:	room
 * @table:	their numbers, by sequence
 */
struct patterns {
	struct pattern *p;
	u32 nr;
	u32 max;
	struct hash table;
};

u32 pattern_id(struct patterns *ps, const u32 *function, const u16 *depth,
	       u32 len);
void patterns_free(struct patterns *ps);

/* ---- wait.c, cut.c ---- */

/**
 * enum wait_kind - why an execution did not run
 * @WAIT_BLOCKED: it slept until it was woken
 * @WAIT_PREEMPTED: another task had the CPU
 * @WAIT_SPIN: it spun for a lock
 * @WAIT_IRQ: an interrupt
 */
enum wait_kind {
	WAIT_BLOCKED,
	WAIT_PREEMPTED,
	WAIT_SPIN,
	WAIT_IRQ,
};

/* In the name of an interrupt, between its source and the function with most time */
#define IRQ_MOST ", most of it in "

/**
 * struct wait - a time in which an execution did not run
 * @at:		when it began, ns after its execution
 * @time:	how long it was, ns
 * @queued:	the part of it after the wake-up, waiting for a CPU
 * @pos:	position in the path
 * @who:	name of the waker, of the task that had the CPU, or of the interrupt; or NONE
 * @lock:	name of the lock, or NONE
 * @device:	name of the device, or NONE
 * @stack:	what the waker was doing, or NONE
 * @other:	task that had the CPU until the wait ended, or NONE
 * @pid:	of the waker
 * @state:	task state, from sched_switch
 * @kind:	an enum wait_kind
 */
struct wait {
	float at;
	float time;
	float queued;
	u32 pos;
	u32 who;
	u32 lock;
	u32 device;
	u32 stack;
	u32 other;
	s32 pid;
	u16 state;
	u8 kind;
};

/**
 * struct exec - one execution of the entry function
 * @start:	time stamp of its entry
 * @duration:	ns
 * @data:	for each position: when it was called, ns after @start; then for each
 *		position its self time, ns: without what it called and interrupts
 * @pattern:	its path
 * @wait:	its first wait
 * @waits:	number of them
 * @irq:	time in interrupts, ns
 * @pid:	thread
 * @comm:	its name
 * @cpu:	where it began
 * @side:	the file it is from
 * @abnormal:	it took longer than the limit
 */
struct exec {
	u64 start;
	u64 duration;
	float *data;
	u32 pattern;
	u32 wait;
	u32 waits;
	float irq;
	s32 pid;
	u32 comm;
	u16 cpu;
	u8 side;
	bool abnormal;
};

enum side {
	SIDE_BASELINE,
	SIDE_TRACE,
};

enum sleep_time {
	SLEEP_AUTO,
	SLEEP_ON,
	SLEEP_OFF,
};

/**
 * struct source - a file, and what was found in it
 * @file:	its name
 * @records:	number of its records
 * @graph:	of these, of function_graph
 * @first:	time stamp of the first one
 * @last:	and of the last one
 * @gaps:	times that records were lost
 * @lost:	number of them, where the file says so
 * @uncounted:	gaps where it does not
 * @cuts:	times that lines, or parts of them, are missing from an excerpt
 * @first_cut:	number of the first line that is such a one, 1..
 * @executions:	complete ones
 * @began:	executions that had begun before the recording
 * @ended:	executions that had not ended at its end
 * @broken:	executions with missing records
 * @cut:	executions whose path was too long
 * @votes:	calls that slept, and whose durations contain the sleep (0), or not (1)
 * @sleep_off:	durations were taken from time stamps
 * @has_switch:	there are sched_switch events
 * @has_waking:	there are sched_waking or sched_wakeup events
 * @unknown:	functions without a name
 */
struct source {
	const char *file;
	u64 records;
	u64 graph;
	u64 first;
	u64 last;
	u64 gaps;
	u64 lost;
	u64 uncounted;
	u64 cuts;
	u64 first_cut;
	u64 executions;
	u64 began;
	u64 ended;
	u64 broken;
	u64 cut;
	u64 votes[2];
	bool sleep_off;
	bool has_switch;
	bool has_waking;
	u64 unknown;
};

struct floats;

/**
 * struct paths - all executions, of both files
 * @functions:	names of functions
 * @names:	other names: tasks, locks, devices, interrupts
 * @stacks:	sequences of functions, innermost first
 * @patterns:	the paths
 * @exec:	the executions, in order of their ends, the baseline's first
 * @nr:		number of them
 * @max:	room
 * @wait:	their waits
 * @waits:	number of them
 * @max_waits:	room
 * @chunk:	where their data are
 * @entry:	the function that is cut out
 * @scheduler:	keep the functions below schedule()
 */
struct paths {
	struct strings functions;
	struct strings names;
	struct patterns stacks;
	struct patterns patterns;
	struct exec *exec;
	u32 nr;
	u32 max;
	struct wait *wait;
	u32 waits;
	u32 max_waits;
	struct floats *chunk;
	u32 entry;
	bool scheduler;
};

void paths_clear(struct paths *p);

struct cut;
struct thread;

struct cut *cut_new(struct paths *paths, struct source *source, enum side side,
		    u32 cpus);
void cut_free(struct cut *c);
struct thread *cut_thread(struct cut *c, s32 pid, u32 cpu);
void cut_seen(struct cut *c, struct thread *t, u32 cpu, u64 ts);
void cut_gap(struct cut *c, u32 cpu);
void cut_lost(struct cut *c, u32 cpu, u64 ts);
void cut_comm(struct cut *c, struct thread *t, const char *comm);
bool cut_has_comm(const struct thread *t);

/**
 * struct graph_event - a record of function_graph
 * @function:	which
 * @depth:	as recorded
 * @flags:	common_flags
 * @ts:		time stamp
 * @duration:	of an exit: rettime - calltime, ns
 */
struct graph_event {
	u32 function;
	s32 depth;
	u32 flags;
	u64 ts;
	u64 duration;
};

void cut_enter(struct cut *c, struct thread *t, const struct graph_event *e);
void cut_leave(struct cut *c, struct thread *t, const struct graph_event *e);
void cut_finish(struct cut *c);
u32 cut_outermost(const struct cut *c);

/* Contexts that interrupt a task */
enum irq_class {
	IRQ_SOFT,
	IRQ_HARD,
	IRQ_NMI,
	IRQ_CLASSES,
};

/**
 * enum irq_source - what an event names of an interrupt
 * @IRQ_LINE: which interrupt, or which softirq
 * @IRQ_TIMER: the function of a timer
 */
enum irq_source {
	IRQ_LINE,
	IRQ_TIMER,
	IRQ_SOURCES,
};

/* Of the task that was current at an event */
struct context {
	struct thread *thread;
	u32 cpu;
	u32 flags;
	u64 ts;
};

void wait_switch(struct cut *c, const struct context *x, s32 prev, u32 state,
		 s32 next, const char *next_comm);
void wait_waking(struct cut *c, const struct context *x, s32 pid);
void wait_stack(struct cut *c, const struct context *x, const u32 *function,
		u32 nr);
void wait_lock(struct cut *c, const struct context *x, const char *lock);
void wait_unlock(struct cut *c, const struct context *x);
enum irq_class context_class(const struct context *x);
void wait_irq_source(struct cut *c, const struct context *x, enum irq_class irq,
		     enum irq_source kind, const char *name);
void wait_irq_gone(struct cut *c, const struct context *x, enum irq_class irq,
		   enum irq_source kind);
void wait_block(struct cut *c, const struct context *x, u32 dev);

/* ---- reader.c ---- */

/**
 * struct read_options - how a file is read
 * @instance:	the trace instance, NULL for the main one
 * @entry:	name of the entry function, NULL: find it
 * @sleep:	what is known of the trace option sleep-time
 * @side:	which file it is
 */
struct read_options {
	const char *instance;
	const char *entry;
	enum sleep_time sleep;
	enum side side;
};

int reader_read(struct guard *g, struct paths *p, struct source *s,
		const struct read_options *o);

/* ---- reader_text.c ---- */

/* Maximum number of CPUs of Linux */
#define TEXT_CPUS 8192

/* The task of a CPU that a text does not name: no task has such an ID */
#define UNKNOWN_PID (1 << 30)

struct lines;

struct lines *lines_open(struct guard *g, struct paths *p, struct source *s,
			 FILE *file);
int lines_read(struct lines *t, struct cut *c, u64 most);
int lines_rewind(struct lines *t);
u64 lines_entries(const struct lines *t);
void lines_close(struct lines *t);

/* ---- limit.c ---- */

/**
 * struct limit - what divides normal executions from abnormal ones
 * @ns:		the limit: longer executions are abnormal
 * @center:	centre line of the chart, 0 if the limit was given
 * @given:	by the user
 * @learnt:	executions that the chart was drawn from
 * @set_aside:	executions left out of the chart: not calm, or outliers of the
 *		baseline
 * @floored:	it was raised to the floor
 * @is_far:	implausibly far above the centre
 * @outlier:	longer ones are outliers, by a baseline that has some; else U64_MAX
 * @outliers:	number of them, by enum side
 * @nr:		normal and abnormal executions of the trace
 * @base_nr:	of the baseline
 * @longest:	the longest execution of the trace, and of the baseline
 * @excess:	time above the centre in abnormal ones but outliers, per execution:
 *		trace, baseline
 * @far:		executions of the trace that are several times the centre line
 * @healthy:	there is no sign of a fault
 */
struct limit {
	u64 ns;
	u64 center;
	bool given;
	u32 learnt;
	u32 set_aside;
	bool floored;
	bool is_far;
	u64 outlier;
	u64 outliers[2];
	u64 nr[2];
	u64 base_nr[2];
	u64 longest;
	u64 base_longest;
	double excess;
	double base_excess;
	u64 far;
	bool healthy;
};

int limit_find(struct guard *g, struct paths *p, struct limit *l, u64 given,
	       double floor);

/* ---- lcs.c ---- */

struct lcs;

struct lcs *lcs_new(u32 symbols);
void lcs_free(struct lcs *l);
void lcs_first(struct lcs *l, const u32 *a, u32 len);
u32 lcs_length(struct lcs *l, const u32 *b, u32 len);
u32 lcs_match(struct lcs *l, const u32 *a, u32 a_len, const u32 *b, u32 b_len,
	      u32 *match);

/* ---- nearest.c ---- */

/* Similarities in tens of percent: 0: 100-90, 9: 10-0 */
#define SIMILARITIES 10

/**
 * struct nearest - how alike patterns are
 * @normal:	patterns of normal executions
 * @abnormal:	of abnormal ones
 * @table2:	normal ones by their similarity to the most similar other one
 * @table3:	abnormal ones by their similarity to the nearest normal one
 * @compared:	pairs whose LCS was computed
 * @pruned:	pairs whose LCS could not be the longest, and was not computed
 */
struct nearest {
	u32 normal;
	u32 abnormal;
	u32 table2[SIMILARITIES];
	u32 table3[SIMILARITIES];
	u64 compared;
	u64 pruned;
};

void nearest_find(struct guard *g, struct paths *p, struct nearest *n,
		  u32 jobs);

/* ---- rank.c ---- */

/**
 * enum cause_kind - what made an execution slow
 * @CAUSE_SLOW: a function of the path took longer than usual
 * @CAUSE_EXTRA: a function that is not in normal paths
 * @CAUSE_IRQ: interrupts
 * @CAUSE_CALLS: what a function of the path calls took longer than usual
 * @CAUSE_EXTRA_CALLS: the same, of a function that is not in normal paths
 */
enum cause_kind {
	CAUSE_SLOW,
	CAUSE_EXTRA,
	CAUSE_IRQ,
	CAUSE_CALLS,
	CAUSE_EXTRA_CALLS,
};

#define MAX_WHO 8

/**
 * struct cause - what several abnormal executions have in common
 * @id:		its number before they are put in order
 * @kind:	an enum cause_kind
 * @function:	the function; of interrupts the name in paths' names
 * @caller:	caller of a wait; else NONE
 * @waits:	it is a wait
 * @wait_kind:	an enum wait_kind of it, if @known
 * @known:	there are events of the wait
 * @lock:	what it waited for, or NONE
 * @device:	device that it waited for, or NONE
 * @executions:	number of them
 * @baseline:	number of the baseline's executions above the limit that have it
 * @heavy:	of @executions, those with a heavy delay; @base_heavy: of @baseline
 * @patterns:	number of their patterns
 * @excess:	time above what is usual, in this function, ns
 * @most:	the same, of the execution with the most of it
 * @self:	its self time, ns; @normal_self: what is usual
 * @incl:	its inclusive time, ns; @normal_incl: what is usual
 * @duration:	of the executions, ns
 * @usual:	duration of normal executions of the nearest patterns, ns
 * @worst:	the longest execution
 * @worst_pos:	position in its path
 * @who:	wakers and their like, with their time
 * @whos:	number of them
 * @queued:	time that wake-ups waited for a CPU
 * @wait_time:	time of the waits that are known
 * @confidence:	0..1
 * @preempted:	time in which its executions' CPU ran other tasks, which is no cause, ns
 * @explained:	part of the delay of its executions without @preempted, 0..1
 * @part:	part of the normal time that is spent there, 0..1; 0 of a sleep
 * @chance:	probability that delays at random have this in common, 0..1
 * @stands_out:	it is more than chance, and more than usual
 * @table:	for each function its self time in these executions, and what is
 *		usual; only of the first ones
 */
struct cause {
	u32 id;
	u8 kind;
	u32 function;
	u32 caller;
	bool waits;
	bool known;
	u8 wait_kind;
	u32 lock;
	u32 device;
	u32 executions;
	u32 baseline;
	u32 heavy;
	u32 base_heavy;
	u32 patterns;
	double excess;
	double most;
	double self;
	double normal_self;
	double incl;
	double normal_incl;
	double duration;
	double usual;
	u32 worst;
	u32 worst_pos;
	struct who {
		u32 name;
		double time;
		u32 nr;
		u32 stack;
		double longest;
	} who[MAX_WHO];
	u32 whos;
	double queued;
	double wait_time;
	double confidence;
	double preempted;
	double explained;
	double part;
	double chance;
	bool stands_out;
	u32 last_pattern;
	struct slowed *table;
	u32 in_table;
};

/**
 * struct slowed - a function in the executions of a cause
 * @function:	which
 * @self:	its self time in all of them, ns
 * @normal:	what is usual
 * @extra:	normal paths do not have it
 */
struct slowed {
	u32 function;
	double self;
	double normal;
	bool extra;
};

/**
 * struct ranking - the causes
 * @cause:	the causes, in order of their excess; first the ones that stand out
 * @nr:		number of them
 * @max:	room
 * @excess:	of all abnormal executions
 * @heavy:	the longest delays from this one on are half of all delay, ns
 * @duration:	of all abnormal executions
 * @unmatched:	abnormal executions without any normal one to compare with
 * @throughout:	abnormal executions in which no function stands out
 * @named:	causes that are named: the first ones
 * @undecided:	no cause stands out, but one has most of the delay
 * @spread:	no cause stands out, and none has most of the delay
 * @of:		for each execution the number of its cause, or NONE
 */
struct ranking {
	struct cause *cause;
	u32 nr;
	u32 max;
	double excess;
	double heavy;
	double duration;
	u32 unmatched;
	u32 throughout;
	u32 named;
	bool undecided;
	bool spread;
	u32 *of;
};

/**
 * struct verdict - what made one execution slow
 * @kind:	an enum cause_kind
 * @function:	the function; of interrupts the name in paths' names
 * @pos:	position with most of its time
 * @self:	its self time, ns; @normal_self: what is usual
 * @incl:	its inclusive time at @pos, ns; @normal_incl: what is usual
 * @excess:	what it took more than usual, ns
 * @preempted:	time in which the execution's CPU ran other tasks, ns, in none of these
 *		times; 0 if the execution is not slow without it
 */
struct verdict {
	u8 kind;
	u32 function;
	u32 pos;
	double self;
	double normal_self;
	double incl;
	double normal_incl;
	double excess;
	double preempted;
};

void rank_causes(struct guard *g, struct paths *p, struct ranking *r,
		 struct limit *l, double common);
void rank_one(struct paths *p, const struct exec *e, double common,
	      struct verdict *v);
void ranking_free(struct ranking *r);
double exec_inclusive(const struct paths *p, const struct exec *e, u32 pos);

/* ---- calls.c ---- */

/**
 * struct calls - the calls of a function, in one execution
 * @delay:	their time above the usual, with what they called, ns
 * @pos:	position of the one with the most of it
 * @open:	number of calls that have not returned
 * @any:	there are some
 */
struct calls {
	double delay;
	u32 pos;
	u32 open;
	bool any;
};

bool calls_verdict(const struct paths *p, const struct exec *e,
		   const struct pattern *near, struct calls *of,
		   struct verdict *v);
double exec_function_inclusive(const struct paths *p, const struct exec *e,
			       u32 function);

/* ---- chance.c ---- */

bool cause_may_be_chance(const struct cause *c);
bool cause_has_others(const struct cause *c);
bool cause_has_several(const struct cause *c);
void chance_find(const struct paths *p, struct ranking *r,
		 const struct limit *l);

/* ---- main, reports ---- */

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_FOLDED,
	FORMAT_CHROME,
	FORMAT_HTML,
};

/**
 * struct result - all there is to report
 * @out:	where to
 * @format:	its format
 * @color:	text is coloured
 * @brief:	only the causes
 * @common:	part of the time in common paths from which on the cause is looked for in them
 * @floor:	slow executions take at least this part longer than the centre line
 * @top:	maximum number of functions of each cause
 * @paths:	all paths
 * @source:	the files: trace, baseline
 * @has_baseline: there is a baseline
 * @limit:	which executions are slow
 * @nearest:	how similar paths are
 * @ranking:	the causes
 */
struct result {
	FILE *out;
	enum format format;
	bool color;
	bool brief;
	double common;
	double floor;
	u32 top;
	struct paths paths;
	struct source source[2];
	bool has_baseline;
	struct limit limit;
	struct nearest nearest;
	struct ranking ranking;
};

/* Points of the cumulative distribution of durations: 0, 1, ... 100 % */
#define CDF_POINTS 101

/* The durations at shares of 0, 1, ... 100 %; returns how many executions */
u64 figure_cdf(const struct result *r, enum side side, u64 *ns);

/**
 * struct figure8 - time of a cause's function in executions
 * @abnormal:	in abnormal ones that are nearest to the pattern, ns
 * @normal:	in the pattern's normal ones, ns
 * @nr:		number of these: 0 normal, 1 abnormal
 */
struct figure8 {
	double *abnormal;
	double *normal;
	u32 nr[2];
};
void figure_cause(const struct result *r, const struct cause *c, u32 most,
		  struct figure8 *f);
void figure_cause_free(struct figure8 *f);
u32 cause_pattern(const struct result *r, const struct cause *c);

bool cause_is_calls(enum cause_kind kind);
bool cause_is_overhead(const struct result *r, const struct cause *c);
void limit_warning(const struct result *r, char *buf, size_t size);
bool result_verdict(const struct result *r, char *buf, size_t size);
const char *cause_function(const struct result *r, const struct cause *c);
void cause_headline(const struct result *r, const struct cause *c, char *buf,
		    size_t size);
void cause_waits(const struct result *r, const struct cause *c, char *buf,
		 size_t size);
u32 cause_shows(const struct cause *c);
const char *cause_kind_name(u8 kind);
const char *wait_name(u8 kind);
void exec_chain(const struct result *r, const struct exec *e, u32 pos,
		char *buf, size_t size);
double factor_of(double self, double normal);

const char *exec_task(const struct result *r, const struct exec *e, char *buf,
		      size_t size);
void result_text(struct result *r);
void result_json(struct result *r);
void result_csv(struct result *r);
void result_folded(struct result *r);
void result_chrome(struct result *r);
void result_html(struct result *r);
struct json_object *result_object(const struct result *r);
struct json_object *stack_array(const struct result *r, u32 stack);

#endif
