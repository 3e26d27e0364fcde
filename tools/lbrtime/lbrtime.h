/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LBRTIME_H
#define LBRTIME_H

#include <linux/limits.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>

#include "charts.h"
#include "elffile.h"
#include "guard.h"
#include "lbrpack.h"
#include "memory.h"

#define PROGRAM "lbrtime"

#define NONE U32_MAX

/* Message for recordings with --call-graph lbr */
#define CALL_STACKS \
	"its branches are call stacks (perf record --call-graph lbr), which do not show what ran: record with -b or -j any_call,any_ret"

/* A measured number of cycles that stands for this many or more */
#define CYCLES_MAX 65535

/* Branches of a sample; the LBR of any CPU has fewer */
#define MAX_BRANCHES 255

/* Functions of a call chain; the outermost ones of longer chains are dropped */
#define MAX_CHAIN 128

/* ------------------------------------------------------------------------- */
/* Samples */

/**
 * enum branch_kind - kinds of branches
 * @KIND_UNKNOWN:	unknown: the code cannot be read, and there is no target
 * @KIND_CALL:		near call, direct or indirect
 * @KIND_RETURN:	near return
 * @KIND_JUMP:		conditional or unconditional jump
 * @KIND_FAR:		system call, interrupt, or the return from one
 */
enum branch_kind { KIND_UNKNOWN, KIND_CALL, KIND_RETURN, KIND_JUMP, KIND_FAR };

/**
 * enum branch_flags - the kernel's part in the visit that a branch ends
 * @BRANCH_ENTERS:	the branch leads from user space to the kernel
 * @BRANCH_LEAVES:	the branch leads from the kernel to user space
 * @BRANCH_KERNEL:	the visit began in user space and ended in the kernel, and the
 *			branch into the kernel was not recorded: its time is the
 *			kernel's except for an unknown part
 * @BRANCH_HELD:	the visit may include time in the kernel that was not recorded,
 *			so it is unknown what ran
 */
enum branch_flags {
	BRANCH_ENTERS = 1 << 0,
	BRANCH_LEAVES = 1 << 1,
	BRANCH_KERNEL = 1 << 2,
	BRANCH_HELD = 1 << 3,
};

/**
 * struct branch - a branch
 * @from:	place of the instruction
 * @to:		recorded target, or NONE
 * @cycles:	since the previous branch; CYCLES_MAX: that many or more; 0: not
 *		measured
 * @kind:	enum branch_kind
 * @flags:	enum branch_flags
 */
struct branch {
	u32 from;
	u32 to;
	u16 cycles;
	u8 kind;
	u8 flags;
};

/**
 * enum interval_state - states of the interval that ends with a sample
 * @STATE_WHOLE:	every branch in it was recorded
 * @STATE_LOST:		it had more branches
 * @STATE_START:	the thread came to the CPU at an unknown time within it
 * @STATE_FIRST:	the first one of a CPU: its begin and duration are unknown
 * @STATES:		number of states
 */
enum interval_state {
	STATE_WHOLE,
	STATE_LOST,
	STATE_START,
	STATE_FIRST,
	STATES
};

/**
 * struct sample - a sample, and the interval that ends with it
 * @ts:		time, ns
 * @start:	begin of the interval, ns
 * @first:	index of its oldest branch in timeline.branch
 * @nr:		number of branches
 * @calls:	branches counted since the last sample, if LBRPROF_COUNTED
 * @ip:		place
 * @comm:	index of the thread's name in timeline.comm
 * @pid:	thread
 * @tgid:	process, or -1
 * @before:	sample of the same thread that ended where this interval begins, or NONE
 * @after:	the sample that has this one as @before, or NONE
 * @cpu:	CPU
 * @flags:	enum lbrprof_flags
 * @state:	enum interval_state
 */
struct sample {
	u64 ts;
	u64 start;
	u64 first;
	u32 nr;
	u64 calls;
	u32 ip;
	u32 comm;
	s32 pid;
	s32 tgid;
	u32 before;
	u32 after;
	u32 cpu;
	u8 flags;
	u8 state;
};

/**
 * struct cpu - state of a CPU while the input is read
 * @ts:		last sample or switch, ns
 * @pid:	thread that has been running since, or -1 if unknown
 * @last:	that sample, or NONE
 * @there:	there was a sample or switch
 */
struct cpu {
	u64 ts;
	s32 pid;
	u32 last;
	bool there;
};

/* No machine has more */
#define MAX_CPUS 65536

/**
 * struct alarm - a slow operation that ctlchart reported
 * @start:	begin, ns
 * @end:	end, ns
 * @pid:	thread
 * @chart:	name of the chart
 */
struct alarm {
	u64 start;
	u64 end;
	s32 pid;
	char chart[CHART_NAME_SIZE];
};

/* ------------------------------------------------------------------------- */
/* Places and functions: symbols*.c */

struct kallsyms;
struct symbols;

/**
 * struct place - an address of a process or of the kernel
 * @addr:	address, or the offset in a function of which only the name is known
 * @space:	address space
 * @function:	number of the function that it is in
 * @start:	address of the function, or 0
 * @target:	target of the direct branch there, or 0
 * @kind:	the branch there, enum branch_kind
 * @size:	bytes of that instruction, or 0
 * @nr_inlined:	number of functions that are inlined there, if it is a call
 * @inlined:	see symtab_inlined()
 */
struct place {
	u64 addr;
	u32 space;
	u32 function;
	u64 start;
	u64 target;
	u8 kind;
	u8 size;
	u8 nr_inlined;
	u32 inlined;
};

/**
 * struct function - a function
 * @symbol:	name in its file, its offset there, or its address
 * @name:	the name that is shown: @symbol or its demangled form
 * @object:	file that it is in, or ""
 * @known:	@symbol is a symbol
 */
struct function {
	char *symbol;
	char *name;
	const char *object;
	bool known;
};

/**
 * struct symbol_files - where symbols are
 * @elf:	how files are looked up
 * @vmlinux:	the kernel's ELF file, or NULL
 * @kallsyms:	a copy of /proc/kallsyms, or NULL
 */
struct symbol_files {
	struct elffile_options elf;
	const char *vmlinux;
	const char *kallsyms;
};

struct symbols *symtab_new(struct guard *g, const struct symbol_files *files);
void symtab_free(struct symbols *s);
void symtab_map(struct symbols *s, s32 tgid, u64 start, u64 end, u64 pgoff,
		const char *path, const u8 *id, u32 id_len);
void symtab_fork(struct symbols *s, s32 tgid, s32 parent);
bool symtab_has_kernel(const struct symbols *s);
void symtab_kernel(struct symbols *s, struct kallsyms *kernel);
u32 symtab_place(struct symbols *s, s32 tgid, u64 addr);
u32 symtab_named(struct symbols *s, const char *name, u64 offset);
void symtab_hint(struct symbols *s, u32 place, const char *name, u64 offset);
int symtab_resolve(struct symbols *s);
const struct place *symtab_at(const struct symbols *s, u32 place);
const struct function *symtab_function(const struct symbols *s, u32 function);
const u32 *symtab_inlined(const struct symbols *s, u32 place, u32 *nr);
bool symtab_is_named(const struct symbols *s, u32 function, const char *name);
u32 symtab_functions(const struct symbols *s);
bool symtab_is_kernel(const struct symbols *s, u32 place);
void symtab_write_maps(struct symbols *s, u32 place, const char *comm, u64 ts,
		       FILE *out);

/* Disassembly: code.c */
struct code;
struct code *code_new(void);
void code_free(struct code *c);
void code_decode(struct code *c, const u8 *bytes, u32 len, bool wide,
		 struct place *p);

/**
 * struct insn - an instruction
 * @addr:		address
 * @space:		address space, as in struct place
 * @target:		target of the direct jump, or 0
 * @size:		bytes
 * @kind:		enum branch_kind; KIND_UNKNOWN if it is no branch
 * @conditional:	it is a conditional jump
 * @system:		it is a system call
 * @repeats:		it has a REP prefix
 */
struct insn {
	u64 addr;
	u32 space;
	u64 target;
	u8 size;
	u8 kind;
	bool conditional;
	bool system;
	bool repeats;
};

void code_insn(struct code *c, const u8 *bytes, u32 len, bool wide,
	       struct insn *i);
void symtab_decode(struct symbols *s, struct insn *i);

/**
 * struct code_path - the code between two places
 * @insns:	number of instructions, with the last one; the mean if there are
 *		conditional jumps
 * @loops:	there are loops, so it may execute more
 * @system:	there is a system call
 */
struct code_path {
	double insns;
	bool loops;
	bool system;
};

/* Control flow between two places: cfg.c */
struct cfg;
struct cfg *cfg_new(struct symbols *s);
void cfg_free(struct cfg *p);
bool cfg_find(struct cfg *p, u32 space, u64 start, u64 end, u64 begin,
	      struct code_path *path);
bool cfg_circle(struct cfg *p, u32 space, u64 addr);
bool cfg_ahead(struct cfg *p, u32 space, u64 addr);
bool cfg_reach(const struct cfg *p, u64 addr);

/* ------------------------------------------------------------------------- */
/* The timeline */

/**
 * struct visit_part - part of a visit, which a sample has cut, in an interval
 * @ns:		its duration; negative if unknown
 * @error:	twice the standard deviation, ns
 */
struct visit_part {
	double ns;
	double error;
};

/**
 * struct elapsed - how long a visit had lasted when it was sampled
 * @ns:		expected value, by code and fit
 * @variance:	by the fit, ns^2; INFINITY if unknown
 * @reach:	if not @straight: index of the list of its possible classes in
 *		timeline.reach, or U64_MAX
 * @straight:	known from the code: no loop and no system call on the way
 */
struct elapsed {
	double ns;
	double variance;
	u64 reach;
	bool straight;
};

/**
 * enum method - how time is attributed to functions
 * @METHOD_SAMPLE:	all of it to the sampled function
 * @METHOD_EQUAL:	the paper's first method: in equal parts
 * @METHOD_SHARE:	its second: by the function's share of the profile, the rest to
 *			the sampled one
 * @METHOD_RATIO:	its third: in the ratio of these shares
 * @METHOD_CYCLES:	by measured cycles
 * @METHOD_FIT:		by the durations that agree best with all samples
 * @METHODS:		number of methods
 */
enum method {
	METHOD_SAMPLE,
	METHOD_EQUAL,
	METHOD_SHARE,
	METHOD_RATIO,
	METHOD_CYCLES,
	METHOD_FIT,
	METHODS
};

/* Limits of the duration of a CPU's cycle, ns */
#define CYCLE_MIN 0.1
#define CYCLE_MAX 10.0

/**
 * enum clock_state - what is known of the duration of a cycle
 * @CLOCK_NONE:		no cycles were recorded
 * @CLOCK_KNOWN:	it is known
 * @CLOCK_BOUND:	only an upper limit is known
 * @CLOCK_FEW:		too few intervals are whole and measured
 * @CLOCK_CONTRADICTED:	too many of these contradict the best value
 * @CLOCK_IMPLAUSIBLE:	the best value is outside of CYCLE_MIN and CYCLE_MAX
 * @CLOCK_CHANGED:	it changed much during the recording, or differs between CPUs
 * @CLOCK_REFUSED:	the intervals contradict the one that the user gave
 */
enum clock_state {
	CLOCK_NONE,
	CLOCK_KNOWN,
	CLOCK_BOUND,
	CLOCK_FEW,
	CLOCK_CONTRADICTED,
	CLOCK_IMPLAUSIBLE,
	CLOCK_CHANGED,
	CLOCK_REFUSED,
};

/**
 * struct clock - the duration of a cycle
 * @state:	what is known
 * @ns:		duration, ns; 0 if the intervals show nothing
 * @error:	twice the standard deviation, relative to @ns
 * @spread:	how much it may have changed, or differ between CPUs, relative to @ns
 * @given:	given by the user, and not refused
 * @intervals:	number of whole and measured intervals
 * @agree:	number of these that agree with @ns
 */
struct clock {
	enum clock_state state;
	double ns;
	double error;
	double spread;
	bool given;
	u64 intervals;
	u64 agree;
};

/**
 * struct timeline - all samples, and what was reconstructed from them
 * @file:		input file
 * @symbols:		places and functions
 * @sample:		samples, in order of time
 * @nr:			number of samples
 * @room:		allocated entries of @sample
 * @branch:		branches of all samples, those of a sample in order of time
 * @branches:		number of branches
 * @branch_room:	allocated entries of @branch
 * @comm:		names of threads
 * @comms:		number of names
 * @comm_room:		allocated entries of @comm
 * @alarm:		slow operations that ctlchart reported
 * @alarms:		number of these
 * @alarm_room:		allocated entries of @alarm
 * @cpu:		state of each CPU while the input is read
 * @cpus:		number of CPUs
 * @depth:		largest number of branches of a sample
 * @gaps:		number of times that records were lost
 * @time:		total duration of the intervals, by enum interval_state, ns
 * @intervals:		number of intervals, by enum interval_state
 * @share:		share of a function in the samples
 * @sampled:		number of a function's samples
 * @visits:		number of a function's visits
 * @key:		visit class of each visit; those of sample i begin at
 *			sample[i].first + i
 * @keys:		number of visit classes
 * @fitted:		duration of a visit, by class, ns
 * @variance:		its variance, by class, ns^2; INFINITY if unknown
 * @parameters:		effective number of parameters that were fitted to the intervals
 * @fit_variance:	variance of @fitted itself, part of @variance, by class, ns^2
 * @straight:		the duration is known from the code, by class
 * @group:		start group of each visit, indexed as @key, or NONE
 * @groups:		number of start groups
 * @reach:		lists of classes, each ending with NONE: what a visit of a group
 *			that is at a place may turn out to be
 * @reaches:		length of all lists
 * @grouped:		mean duration of a visit, by start group, ns; 0 if unknown
 * @period:		sampling period, ns; 0 if the samples have none
 * @first_part:		by sample: part of its interval's first visit, which the sample
 *			before cut
 * @last_part:		by sample: part of its interval's last visit
 * @unit:		the variance of a visit is this times its duration, ns
 * @elapsed:		by sample: how long its last visit had lasted
 * @has_fit:		there was something to fit
 * @first_measured:	as @first_part, by measured cycles; NULL without cycles or fit
 * @last_measured:	as @last_part, by measured cycles; also for intervals that are
 *			not whole
 * @clock:		duration of a cycle
 * @ns_per_cycle:	duration of a cycle, ns; 0 if unknown
 * @slip:		standard deviation of a sample's delay, ns
 * @restarts:		the counter of cycles restarts at each sample
 * @by_thread:		samples have no CPU: each thread has a number of its own instead
 * @inferred:		which branches are new was inferred, not recorded
 * @chance:		probability that an accepted overlap is by chance, if @inferred
 * @sees_kernel:	branches from or to the kernel were recorded
 * @never_held:		assume that visits include no time in the kernel
 * @kernel:		place of the kernel's function if only the branch out of it was
 *			recorded
 * @cycles_of:		mean measured cycles of a visit, by function
 * @has_cycles:		cycles were recorded
 */
struct timeline {
	const char *file;
	struct symbols *symbols;
	struct sample *sample;
	u64 nr;
	u64 room;
	struct branch *branch;
	u64 branches;
	u64 branch_room;
	char (*comm)[20];
	u64 comms;
	u64 comm_room;
	struct alarm *alarm;
	u64 alarms;
	u64 alarm_room;
	struct cpu *cpu;
	u32 cpus;
	u32 depth;
	u64 gaps;
	u64 time[STATES];
	u64 intervals[STATES];
	double *share;
	u64 *sampled;
	u64 *visits;
	u32 *key;
	u32 keys;
	double *fitted;
	double *variance;
	double parameters;
	double *fit_variance;
	bool *straight;
	u32 *group;
	u32 groups;
	u32 *reach;
	u64 reaches;
	double *grouped;
	double period;
	struct visit_part *first_part;
	struct visit_part *last_part;
	double unit;
	struct elapsed *elapsed;
	bool has_fit;
	struct visit_part *first_measured;
	struct visit_part *last_measured;
	struct clock clock;
	double ns_per_cycle;
	double slip;
	bool restarts;
	bool by_thread;
	bool inferred;
	double chance;
	bool sees_kernel;
	bool never_held;
	u32 kernel;
	double *cycles_of;
	bool has_cycles;
};

int lbrtime_read(struct guard *g, struct timeline *t, const char *file,
		 const char *instance);
int perftext_read(struct guard *g, struct timeline *t, FILE *in);
int perfdata_read(struct guard *g, struct timeline *t, const char *file);

/* For overlaps_find(): it is recorded which branches are new */
#define OVERLAP_RECORDED (U32_MAX - 1)

bool timeline_is_call_stack(const struct timeline *t);
void overlaps_find(struct timeline *t, const u32 *before);

struct sample *timeline_sample(struct timeline *t, u32 cpu, s32 pid, u64 ts);
struct branch *timeline_branch(struct timeline *t);
void timeline_switch(struct timeline *t, u32 cpu, u64 ts, s32 pid);
void timeline_gap(struct timeline *t, u32 cpu);
u32 timeline_comm(struct timeline *t, const char *comm);
void timeline_finish(struct timeline *t, double ghz);
void timeline_free(struct timeline *t);
u32 *timeline_by_thread(const struct timeline *t);
u32 timeline_visit(const struct timeline *t, const struct sample *s, u32 i);
double timeline_measured(const struct timeline *t, const struct sample *s,
			 u32 i);
double timeline_least(const struct timeline *t, const struct sample *s, u32 i);
double timeline_held(const struct timeline *t, const struct sample *s);
bool timeline_is_measured(const struct timeline *t, const struct sample *s);
void clock_find(struct timeline *t, double ghz);
const char *clock_trouble(const struct timeline *t);
void clock_check(struct timeline *t);
bool clock_hides(const struct timeline *t);
bool clock_range(const struct timeline *t, double *least, double *most);
void kernel_name(struct timeline *t);
void kernel_find(struct timeline *t);
bool kernel_may_hide(const struct timeline *t, const struct sample *s);
double kernel_limit(const struct timeline *t, const struct sample *s);
void fit(struct timeline *t);
void ends(struct timeline *t);
void ends_measured(struct timeline *t);

u64 assign_span(const struct timeline *t, u32 sample, enum method method,
		double *time, bool *unknown);
u64 assign(const struct timeline *t, u32 sample, enum method method,
	   double *time);
u64 unknown_held(const struct timeline *t);
const char *method_name(enum method m);
const char *method_meaning(enum method m);
bool method_there(const struct timeline *t, enum method m);

/* A normal variable is off by at most this number of standard deviations in 95 % of cases */
#define DEVIATIONS 2

/* A reliable visit is off by at most 1 / TOLERANCE of its
 * interval, or by TOLERANCE_NS
 */
#define TOLERANCE 10
#define TOLERANCE_NS 1000

/* At most this part of its time is expected to be another function's */
#define WRONG_MAX 0.03

/* A visit of whose time more than this is expected to be wrong has an unknown time */
#define UNKNOWN_MIN 0.1

bool reliability_available(enum method m);
void reliability_find(const struct timeline *t, u32 sample, enum method method,
		      const double *time, double *error, bool *reliable);
void reliability_unknown(const struct timeline *t, u32 sample,
			 enum method method, const double *time, bool *unknown);
double reliability_share(const struct timeline *t, enum method method);

/**
 * struct chain - functions that had called each other
 * @len:	number of functions
 * @function:	functions, innermost first
 */
struct chain {
	u32 len;
	u32 function[MAX_CHAIN];
};

/**
 * struct chains - the call chains of a sample's visits
 * @visit:	chain of each visit
 * @to:		target of each branch, an address or 0
 * @how:	how the target is known
 */
struct chains {
	struct chain visit[MAX_BRANCHES + 1];
	u64 to[MAX_BRANCHES];
	const char *how[MAX_BRANCHES];
};

struct walk;
struct walk *walk_new(const struct timeline *t);
void walk_free(struct walk *w);
const struct chains *walk_next(struct walk *w, u32 sample);

/* ------------------------------------------------------------------------- */
/* Results */

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_FOLDED,
	FORMAT_SPEEDSCOPE,
	FORMAT_CHROME,
	FORMAT_BRSTACK,
	FORMAT_HTML,
	FORMATS
};

/**
 * struct report - what to print
 * @out:	output
 * @method:	method, for formats that show only one
 * @top:	maximum number of functions
 * @around:	show what ran around this time, ns, if @has_around
 * @span:	time before and after @around, ns
 * @has_around:	@around is given
 * @request:	show the slowest executions of this function, or NULL
 * @visits:	CSV and JSON: print each visit
 */
struct report {
	FILE *out;
	enum method method;
	u64 top;
	u64 around;
	u64 span;
	bool has_around;
	const char *request;
	bool visits;
};

/**
 * struct totals - total time of a function
 * @function:	number of the function
 * @time:	time, by enum method, ns
 */
struct totals {
	u32 function;
	double time[METHODS];
};

const char *state_name(enum interval_state state);
const char *branch_kind_name(u8 kind);
double covered(const struct timeline *t);
double resolution(const struct timeline *t);
u64 timed(const struct timeline *t);
struct json_object *json_summary(const struct timeline *t,
				 const struct report *r);

/**
 * struct timed_visit - a visit and its time
 * @function:	function
 * @start:	begin, ns
 * @end:	end, ns
 * @error:	twice the standard deviation of begin and end, ns; if
 *		reliability_available()
 * @reliable:	the visit is reliable
 * @unknown:	it is unknown when it was: @end is @start, and the next one begins where
 *		it may have ended
 */
struct timed_visit {
	u32 function;
	u64 start;
	u64 end;
	u64 error;
	bool reliable;
	bool unknown;
};

u32 timed_visits(const struct timeline *t, u32 sample, enum method m,
		 struct timed_visit *timed_visit);
struct totals *totals_new(const struct timeline *t, double *unknown);
void lbrtime_write_text(const struct timeline *t, const struct report *r);
void lbrtime_write_needles(const struct timeline *t, const struct report *r);
void lbrtime_write_json(const struct timeline *t, const struct report *r);
void lbrtime_write_csv(const struct timeline *t, const struct report *r);
void lbrtime_write_folded(const struct timeline *t, const struct report *r);
void lbrtime_write_speedscope(const struct timeline *t, const struct report *r);
void lbrtime_write_chrome(const struct timeline *t, const struct report *r);
void lbrtime_write_brstack(const struct timeline *t, const struct report *r);
void lbrtime_write_html(const struct timeline *t, const struct report *r);

/* Whether every branch of the interval that ends with a sample, or NONE, was recorded */
static inline bool is_whole(const struct timeline *t, u32 sample)
{
	return sample != NONE && t->sample[sample].state == STATE_WHOLE;
}

static inline double square(double a)
{
	return a * a;
}

#endif
