/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LBRTIME_H
#define LBRTIME_H

#include <libelf.h>
#include <linux/limits.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>

#include "guard.h"
#include "lbrpack.h"
#include "memory.h"

#define PROGRAM "lbrtime"

#define NONE U32_MAX

/* Cycles that stand for so many or more */
#define CYCLES_MAX 65535

/* Of one sample; the registers of any CPU are fewer */
#define MAX_BRANCHES 255

/* Functions of a call chain, the outermost ones left out */
#define MAX_CHAIN 128

/* ------------------------------------------------------------------------- */
/* What was sampled */

/**
 * enum kind - what a branch does
 * @KIND_UNKNOWN:	nobody knows: no code to look at, and no target
 * @KIND_CALL:		a near call, direct or not
 * @KIND_RETURN:	a near return
 * @KIND_JUMP:		a jump, with a condition or without
 * @KIND_FAR:		system call, interrupt, or the return of one
 */
enum kind { KIND_UNKNOWN, KIND_CALL, KIND_RETURN, KIND_JUMP, KIND_FAR };

/**
 * struct branch - one
 * @from:	place of the instruction
 * @to:		place where it led, as recorded, or NONE
 * @cycles:	since the branch before it, CYCLES_MAX if it is so many or more, or 0 if that
 *		was not measured
 * @kind:	of enum kind
 */
struct branch {
	u32 from;
	u32 to;
	u16 cycles;
	u8 kind;
};

/**
 * enum state - of the interval that ends with a sample
 * @STATE_WHOLE:	each branch in it is known
 * @STATE_LOST:		it had more branches
 * @STATE_START:	the thread came to the CPU at an unknown time within it
 * @STATE_FIRST:	the CPU's first one: it has no begin, and no duration
 * @STATES:		how many
 */
enum state { STATE_WHOLE, STATE_LOST, STATE_START, STATE_FIRST, STATES };

/**
 * struct sample - a sample, and the interval that ends with it
 * @ts:		when, ns
 * @start:	when the interval began, ns
 * @first:	its oldest branch, in timeline.branch
 * @nr:		its branches
 * @calls:	branches that were counted since the last sample, if LBRPROF_COUNTED
 * @ip:		place
 * @comm:	name of the thread, in timeline.comm
 * @pid:	thread
 * @tgid:	process, or -1
 * @before:	sample of the same thread that ended where this interval begins, or NONE
 * @after:	the sample that this one is @before of, or NONE
 * @cpu:	CPU
 * @flags:	of enum lbrprof_flags
 * @state:	of enum state
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
 * struct cpu - a CPU while the input is read
 * @ts:		the last sample or switch, ns
 * @pid:	thread that runs there since, or -1 if nobody knows
 * @last:	that sample, or NONE
 * @there:	there was one
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
 * struct alarm - a slow operation that ctlchart found
 * @start:	when it began, ns
 * @end:	when it ended, ns
 * @pid:	thread
 * @chart:	which chart
 */
struct alarm {
	u64 start;
	u64 end;
	s32 pid;
	char chart[96];
};

/* ------------------------------------------------------------------------- */
/* Places and functions: symbols.c */

struct symbols;

/**
 * struct place - an address of a process, or of the kernel
 * @addr:	it, or the offset in a function that is only known by name
 * @space:	whose
 * @function:	which function it is in
 * @start:	where that begins, or 0
 * @target:	where the direct branch there leads, or 0
 * @kind:	the branch there, of enum kind
 * @size:	bytes of that instruction, or 0
 */
struct place {
	u64 addr;
	u32 space;
	u32 function;
	u64 start;
	u64 target;
	u8 kind;
	u8 size;
};

/**
 * struct function - one
 * @name:	its name, or its file and offset, or its address
 * @object:	the file it is in, or ""
 * @known:	@name is a symbol
 */
struct function {
	char *name;
	const char *object;
	bool known;
};

/**
 * struct symbol_files - where symbols are
 * @root:	directory that files are looked for in, "" for /
 * @vmlinux:	the kernel's ELF file, or NULL
 * @kallsyms:	a copy of /proc/kallsyms, or NULL
 */
struct symbol_files {
	const char *root;
	const char *vmlinux;
	const char *kallsyms;
};

struct symbols *symbols_new(struct guard *g, const struct symbol_files *files);
void symbols_free(struct symbols *s);
void symbols_map(struct symbols *s, s32 tgid, u64 start, u64 end, u64 pgoff,
		 const char *path, const u8 *id, u32 id_len);
void symbols_fork(struct symbols *s, s32 tgid, s32 parent);
void symbols_kernel(struct symbols *s, u64 addr, const char *name);
u32 symbols_place(struct symbols *s, s32 tgid, u64 addr);
u32 symbols_named(struct symbols *s, const char *name, u64 offset);
const struct place *symbols_kernel_place(const struct symbols *s, u32 *i);
void symbols_hint(struct symbols *s, u32 place, const char *name, u64 offset);
int symbols_resolve(struct symbols *s);
const struct place *symbols_at(const struct symbols *s, u32 place);
const struct function *symbols_function(const struct symbols *s, u32 function);
u32 symbols_functions(const struct symbols *s);
void symbols_write_maps(struct symbols *s, u32 place, const char *comm, u64 ts,
			FILE *out);

/**
 * struct range - a function in a file
 * @start:	its first address
 * @end:	behind the last one
 */
struct range {
	u64 start;
	u64 end;
};

/* What unwind tables say: frames.c */
struct range *frames_read(Elf *elf, u64 *nr);
const struct range *frames_find(const struct range *range, u64 nr, u64 addr);

/* What code says: code.c */
struct code;
struct code *code_new(void);
void code_free(struct code *c);
void code_decode(struct code *c, const u8 *bytes, u32 len, bool wide,
		 struct place *p);

/**
 * struct insn - an instruction
 * @addr:	where
 * @space:	whose, as of a place
 * @target:	where the direct jump leads, or 0
 * @size:	bytes
 * @kind:	of enum kind; KIND_UNKNOWN if it is no branch
 * @conditional: of a jump: it may also go on
 * @system:	it is a system call
 * @repeats:	it goes on until a register says so
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
void symbols_decode(struct symbols *s, struct insn *i);

/**
 * struct path - what the code from one place to another is like
 * @insns:	instructions, the last one too: on average, if jumps have conditions
 * @loops:	and it may have more: there are loops
 * @system:	there is a system call
 */
struct path {
	double insns;
	bool loops;
	bool system;
};

/* Between two places: paths.c */
struct paths;
struct paths *paths_new(struct symbols *s);
void paths_free(struct paths *p);
bool paths_find(struct paths *p, u32 space, u64 start, u64 end, u64 begin,
		struct path *path);
bool paths_circle(struct paths *p, u32 space, u64 addr);
bool paths_ahead(struct paths *p, u32 space, u64 addr);
bool paths_reach(const struct paths *p, u64 addr);

/* ------------------------------------------------------------------------- */
/* The timeline */

/**
 * struct part - what an interval has of a visit that a sample has cut
 * @ns:		so much; below 0 if nobody knows
 * @error:	in 95 of 100 it is off by no more, ns
 */
struct part {
	double ns;
	double error;
};

/**
 * struct elapsed - how long a visit had lasted when a sample found it
 * @ns:		so long, as far as the code and the fit know
 * @variance:	of it, by the fit, ns^2; INFINITY if nobody knows
 * @reach:	if it does not: where in @reach of the timeline its list begins, or U64_MAX
 * @straight:	the code says it: there is no loop on the way, and no system call
 */
struct elapsed {
	double ns;
	double variance;
	u64 reach;
	bool straight;
};

/**
 * enum method - how time is given to what ran
 * @METHOD_SAMPLE:	all of it to the sampled function
 * @METHOD_EQUAL:	the paper's first: in equal parts
 * @METHOD_SHARE:	its second: by the profile's share, and the rest to the sampled one
 * @METHOD_RATIO:	its third: by the ratio of these shares
 * @METHOD_CYCLES:	as measured
 * @METHOD_FIT:		by the durations that agree best with all samples
 * @METHODS:		how many
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

/**
 * struct timeline - all that was sampled
 * @file:	of which file
 * @symbols:	places and functions
 * @sample:	in order of time
 * @nr:		how many
 * @room:	for so many
 * @branch:	of all samples, each one's in order of time
 * @branches:	how many
 * @branch_room: for so many
 * @comm:	names of threads
 * @comms:	how many
 * @comm_room:	for so many
 * @alarm:	slow operations that ctlchart found
 * @alarms:	how many
 * @alarm_room:	for so many
 * @cpu:	where each CPU is while the input is read
 * @cpus:	how many
 * @depth:	branches that the registers hold, as far as was seen
 * @gaps:	how often records were lost
 * @time:	ns of all intervals, by enum state
 * @intervals:	how many, by enum state
 * @share:	a function's share of the samples
 * @sampled:	number of a function's samples
 * @visits:	number of a function's visits
 * @key:	what each visit is one of, for the fit: those of sample i begin at
 *		sample[i].first + i
 * @keys:	how many
 * @fitted:	duration of a visit, ns, by @key
 * @variance:	of it, ns^2, by @key; INFINITY if nobody knows
 * @doubt:	of @fitted itself, ns^2, by @key: part of @variance
 * @parameters:	how many of @fitted intervals had to find
 * @straight:	the code says how long, by @key
 * @group:	as @key: the visits that began where this one did, or NONE
 * @groups:	how many
 * @reach:	lists of keys, each with NONE at its end: what a visit may be of that began where
 *		another did and is at a place
 * @reaches:	how long they are together
 * @grouped:	mean duration of a visit, ns, by @group; 0 if nobody knows
 * @period:	of the samples, ns; 0 if they have none
 * @first_part:	by sample: what its interval has of the first visit, which the sample
 *		before cut
 * @last_part:	likewise, of the last one
 * @unit:	what visits differ by: their variance is so many ns for each ns that they last
 * @elapsed:	by sample: how long its last visit had lasted then
 * @has_fit:	there was something to fit
 * @first_measured: by sample: as @first_part, with the cycles that were measured; not there
 *		without cycles and a fit
 * @last_measured: likewise, as @last_part; also where the interval is not whole
 * @ns_per_cycle: 0 if unknown
 * @restarts:	the counter of cycles begins anew with each sample
 * @cycles_of:	mean measured cycles of a visit, by function
 * @has_cycles:	some were measured
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
	double *doubt;
	bool *straight;
	u32 *group;
	u32 groups;
	u32 *reach;
	u64 reaches;
	double *grouped;
	double period;
	struct part *first_part;
	struct part *last_part;
	double unit;
	struct elapsed *elapsed;
	bool has_fit;
	struct part *first_measured;
	struct part *last_measured;
	double ns_per_cycle;
	bool restarts;
	double *cycles_of;
	bool has_cycles;
};

int input_read(struct guard *g, struct timeline *t, const char *file);
int perftext_read(struct guard *g, struct timeline *t, FILE *in);
int perfdata_read(struct guard *g, struct timeline *t, const char *file);

struct sample *timeline_sample(struct timeline *t, u32 cpu, s32 pid, u64 ts);
struct branch *timeline_branch(struct timeline *t);
void timeline_switch(struct timeline *t, u32 cpu, u64 ts, s32 pid);
void timeline_gap(struct timeline *t, u32 cpu);
u32 timeline_comm(struct timeline *t, const char *comm);
void timeline_finish(struct timeline *t, double ghz);
void timeline_free(struct timeline *t);
u32 timeline_visit(const struct timeline *t, const struct sample *s, u32 i);
double timeline_measured(const struct timeline *t, const struct sample *s,
			 u32 i);
double timeline_least(const struct timeline *t, const struct sample *s, u32 i);
double timeline_held(const struct timeline *t, const struct sample *s);
void fit(struct timeline *t);
void ends(struct timeline *t);
void ends_measured(struct timeline *t);

u64 assign(const struct timeline *t, u32 sample, enum method method,
	   double *time);
const char *method_name(enum method m);
bool method_there(const struct timeline *t, enum method m);

/* Of what is normal, 95 of 100 are off by no more standard deviations */
#define DEVIATIONS 2

/* Right is what is off by no more than this part of what is told of an interval, or so many ns */
#define TOLERANCE 10
#define TOLERANCE_NS 1000

bool sure_there(enum method m);
bool is_sure(double told, double error);
void sure(const struct timeline *t, u32 sample, enum method method,
	  const double *time, double *error);
double sure_share(const struct timeline *t, enum method method);

/**
 * struct chain - functions that had called each other
 * @len:	how many
 * @function:	they, the innermost one first
 */
struct chain {
	u32 len;
	u32 function[MAX_CHAIN];
};

/**
 * struct chains - the call chains of a sample's visits
 * @visit:	one for each, MAX_BRANCHES + 1 at most
 * @to:		where each branch led, an address or 0
 * @how:	how that is known
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
 * struct report - what is asked for
 * @out:	where to write to
 * @method:	for formats that have but one
 * @top:	functions, at most
 * @around:	show what ran around this time, ns, if @has_around
 * @span:	so long before and after it, ns
 * @has_around:	so it is
 * @request:	show the slowest executions of this function, or NULL
 * @visits:	csv and json: each visit
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
 * struct totals - what a function took
 * @function:	which
 * @time:	ns, by enum method
 */
struct totals {
	u32 function;
	double time[METHODS];
};

const char *state_name(enum state state);
const char *kind_name(u8 kind);
double covered(const struct timeline *t);
double resolution(const struct timeline *t);
u64 timed(const struct timeline *t);
struct json_object *json_summary(const struct timeline *t,
				 const struct report *r);

/**
 * struct slice - a visit and its time
 * @function:	which
 * @start:	ns
 * @end:	ns
 * @error:	twice the standard deviation of either, ns; only if sure_there()
 * @sure:	that is little enough: TOLERANCE
 */
struct slice {
	u32 function;
	u64 start;
	u64 end;
	u64 error;
	bool sure;
};

u32 slices(const struct timeline *t, u32 sample, enum method m,
	   struct slice *slice);
struct totals *totals_new(const struct timeline *t, double *unknown);
void report_text(const struct timeline *t, const struct report *r);
void report_needles(const struct timeline *t, const struct report *r);
void report_json(const struct timeline *t, const struct report *r);
void report_csv(const struct timeline *t, const struct report *r);
void report_folded(const struct timeline *t, const struct report *r);
void report_speedscope(const struct timeline *t, const struct report *r);
void report_chrome(const struct timeline *t, const struct report *r);
void report_brstack(const struct timeline *t, const struct report *r);
void report_html(const struct timeline *t, const struct report *r);

#endif
