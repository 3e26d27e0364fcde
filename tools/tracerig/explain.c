// SPDX-License-Identifier: GPL-2.0
/* tracerig explain: shows where the time of a case's operation went. */
#include <argp.h>
#include <json-c/json.h>
#include <linux/kernel.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "callstacks.h"
#include "case.h"
#include "cli.h"
#include "explain.h"
#include "guard.h"
#include "memory.h"
#include "operand.h"
#include "text.h"
#include "tracerig.h"

/* CPU seconds without progress: a damaged trace.dat */
#define IDLE_CPU 60

/* A flag of the kernel's in an alarm's rules */
#define RULE_OVERDUE 0x100

enum { OPT_FORMAT = 0x100, OPT_TIMEOUT };

static const struct argp_option timeout_options[] = {
	{ "timeout", OPT_TIMEOUT, "TIME", 0,
	  "Stop an analyzer after TIME (1m); 0s: ask none", 1 },
	{ 0 }
};

/* Its input is the u64 */
static error_t parse_timeout(int key, char *arg, struct argp_state *state)
{
	u64 *timeout = state->input;

	if (key != OPT_TIMEOUT)
		return ARGP_ERR_UNKNOWN;
	*timeout = cli_time(state, "timeout", arg, 0);
	return 0;
}

/* The option --timeout of all commands that explain */
const struct argp explain_timeout_argp = {
	timeout_options, parse_timeout, NULL, NULL, NULL, NULL, NULL
};

static const struct argp operand_argp = {
	operand_options, operand_parse, NULL, NULL, NULL, NULL, NULL
};

/* For a command that explains one case: its inputs are a struct operand and the u64 */
const struct argp_child explain_children[] = { { &operand_argp, 0, NULL, 0 },
					       { &explain_timeout_argp, 0, NULL,
						 0 },
					       { 0 } };

/* @cause: shared with the guard's child; NULL: print all */
struct explain_job {
	struct operand operand;
	bool json;
	struct explain_cause *cause;
	struct explain x;
	char *dir;
};

/* The messages on what is not seen, in this order, after those on events and begin */
#define FIRST_ANALYZER (SAW_NR + 1)

static const char *const saw_name[SAW_NR] = {
	[SAW_SWITCH] = "sched:sched_switch",
	[SAW_WAKING] = "sched:sched_waking",
	[SAW_IRQ] = "irq:irq_handler_entry",
	[SAW_SOFTIRQ] = "irq:softirq_entry",
	[SAW_BLOCK] = "block:block_rq_issue",
};

static const struct argp_option options[] = {
	{ "format", OPT_FORMAT, "text|json", 0, "text (default) or json", 1 },
	{ 0 }
};

static const char doc[] =
	"Show where the time of a case's operation went: other tasks, interrupts, waits "
	"for a wake-up, a device's queue or the device, by events of scheduling (or blocks of "
	"schedz), interrupts and block requests. pathdiff, ioreq and lbrtime are asked "
	"as well if the recording has events for them.\n\n"
	"CASE is the number of a case, or a directory with a case." OPERAND_DOC
	"\v"
	"Examples:\n"
	"  tracerig explain 3\n"
	"  tracerig explain --format=json ./3 | jq .cause\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = { "text", "json" };
	struct explain_job *job = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &job->operand;
		state->child_inputs[1] = &job->x.timeout;
		return 0;
	case OPT_FORMAT:
		job->json = cli_word(state, "format", arg, formats,
				     ARRAY_SIZE(formats));
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* The part or finding that is named as the cause; used only if there is one */
static const struct part *cause_of(const struct explain *x)
{
	return x->named ? &x->named->part : x->op.part;
}

/* Events that the recording lacks, and analyzers without a result, a line each */
static size_t not_seen(const struct explain *x, char *line, size_t size,
		       size_t i)
{
	for (; i < SAW_NR; i++) {
		if (x->seen[i])
			continue;
		snprintf(line, size, "the recording has no event %s",
			 saw_name[i]);
		return i + 1;
	}
	if (i == SAW_NR && x->begin > x->op.start) {
		snprintf(line, size, "the recording begins in the operation");
		return i + 1;
	}
	for (i = max(i, (size_t)FIRST_ANALYZER); i < FIRST_ANALYZER + ANALYZERS;
	     i++) {
		const struct analysis *a = &x->analysis[i - FIRST_ANALYZER];

		if (a->asked || !a->trouble)
			continue;
		snprintf(line, size, "%s: %s",
			 analyzer_name(i - FIRST_ANALYZER), a->trouble);
		return i + 1;
	}
	return 0;
}

static void print_part(const struct part *p, const struct explain *x,
		       const struct finding *f, FILE *out)
{
	char ns[32], usual[32], at[32];

	fprintf(out, "  %3.0f %%  %9s  %s%s%s", p->share,
		format_value(ns, sizeof(ns), p->ns, true),
		f ? analyzer_name(f->by) : "", f ? ": " : "", p->name);
	if (p->usual)
		fprintf(out, ", usually %s",
			format_value(usual, sizeof(usual), p->usual, true));
	if (f && f->confidence)
		fprintf(out, ", confidence %u %%", f->confidence);
	fprintf(out, "; longest %s at +%s",
		format_value(ns, sizeof(ns), p->longest, true),
		format_value(at, sizeof(at),
			     p->at > x->op.start ? p->at - x->op.start : 0,
			     true));
	if (!f && p->kind <= PART_INTERRUPT)
		fprintf(out, " on CPU %u", p->cpu);
	fprintf(out, "%s%s\n", *p->detail ? ": " : "", p->detail);
}

/* One ranking: the events' parts, and findings of the same time, by share of the delay */
static void print_ranking(const struct explain *x, FILE *out)
{
	const struct finding *f = x->finding, *end = f + x->nr_findings;
	size_t i = 0;

	while (i < x->op.nr || f < end) {
		const struct part *p = &x->op.part[i];

		if (f == end || (i < x->op.nr && p->share >= f->part.share)) {
			print_part(p, x, NULL, out);
			i++;
		} else {
			print_part(&f->part, x, f, out);
			f++;
		}
	}
}

static void print_text(const struct explain_job *job, FILE *out)
{
	const struct explain *x = &job->x;
	char took[32], usual[32], alarms[500], line[160];
	const struct part *cause = cause_of(x);
	size_t i;

	alarms_text(alarms, sizeof(alarms), x->nr_alarms, x->charts);
	fprintf(out, "%s: the operation took %s, usually %s%s%s%s\n", job->dir,
		format_value(took, sizeof(took), x->op.end - x->op.start, true),
		format_value(usual, sizeof(usual), x->center, true),
		*alarms ? " (" : "", alarms, *alarms ? ")" : "");
	if (x->why_none)
		fprintf(out, "no cause: %s\n", x->why_none);
	else
		fprintf(out,
			"cause: %s%s%s%s, %.0f %% of the delay, confidence %u %%\n",
			cause->name, x->awaited ? " (ioreq: " : "",
			x->awaited ? x->awaited->part.name : "",
			x->awaited ? ")" : "", cause->share, x->confidence);
	print_ranking(x, out);
	fprintf(out,
		"compared with %zu normal execution%s in the recording; expected by chance among %llu value%s: %.2g as large as this one\n",
		x->nr_normal, x->nr_normal == 1 ? "" : "s",
		(unsigned long long)x->judged, x->judged == 1 ? "" : "s",
		x->chance);
	for (i = 0; i < x->nr_remarks; i++)
		fprintf(out, "%s\n", x->remark[i]);
	for (i = 0; i < x->nr_doubts; i++)
		fprintf(out, "doubt: %s\n", x->doubt[i]);
	for (i = 0; (i = not_seen(x, line, sizeof(line), i)) != 0;)
		fprintf(out, "not seen: %s\n", line);
}

static struct json_object *part_object(const struct part *p)
{
	struct json_object *o = json_object_new_object();

	json_string(o, "name", p->name);
	json_number(o, "percent", lround(p->share));
	json_number(o, "percent_least", lround(p->least));
	json_number(o, "percent_most", lround(p->most));
	json_number(o, "ns", p->ns);
	json_number(o, "usual", p->usual);
	json_number(o, "longest", p->longest);
	json_number(o, "at", p->at);
	json_number(o, "cpu", p->cpu);
	json_string(o, "evidence", p->detail);
	return o;
}

static void add_text(struct json_object *array, const char *text)
{
	json_object_array_add(array, json_object_new_string(text));
}

static struct json_object *finding_object(const struct finding *f)
{
	struct json_object *o = part_object(&f->part);

	json_object_object_del(o, "cpu");
	json_string(o, "by", analyzer_name(f->by));
	json_string(o, "in", f->part.key);
	json_number(o, "confidence", f->confidence);
	return o;
}

static struct json_object *analyzer_object(const struct explain *x,
					   enum analyzer a)
{
	const struct analysis *is = &x->analysis[a];
	struct json_object *o = json_object_new_object();

	json_string(o, "name", analyzer_name(a));
	json_boolean(o, "asked", is->asked);
	json_string(o, "trouble", is->trouble ? is->trouble : "");
	if (is->result)
		json_object_object_add(o, "result",
				       json_object_get(is->result));
	return o;
}

static void add_analyzers(const struct explain *x, struct json_object *o)
{
	struct json_object *findings = json_object_new_array();
	struct json_object *remarks = json_object_new_array();
	struct json_object *analyzers = json_object_new_array();
	enum analyzer a;
	size_t i;

	for (i = 0; i < x->nr_findings; i++)
		json_object_array_add(findings, finding_object(&x->finding[i]));
	json_object_object_add(o, "findings", findings);
	for (i = 0; i < x->nr_remarks; i++)
		add_text(remarks, x->remark[i]);
	json_object_object_add(o, "remarks", remarks);
	for (a = 0; a < ANALYZERS; a++) {
		if (x->analysis[a].asked || x->analysis[a].trouble)
			json_object_array_add(analyzers, analyzer_object(x, a));
	}
	json_object_object_add(o, "analyzers", analyzers);
}

/**
 * explain_object - what --format=json prints
 * @x: an operation that has been judged
 *
 * Return: an object, for json_object_put().
 */
struct json_object *explain_object(const struct explain *x)
{
	struct json_object *o = json_object_new_object();
	struct json_object *parts = json_object_new_array();
	struct json_object *doubts = json_object_new_array();
	struct json_object *missing = json_object_new_array();
	char line[160];
	size_t i;

	json_number(o, "duration", x->op.end - x->op.start);
	json_number(o, "usual", x->center);
	json_number(o, "delay", explain_delay(x));
	json_number(o, "nr_alarms", x->nr_alarms);
	json_object_object_add(o, "charts", json_object_get(x->charts));
	json_string(o, "cause", x->why_none ? "" : cause_of(x)->name);
	json_string(o, "cause_by",
		    x->why_none ? "" :
		    x->named	? analyzer_name(x->named->by) :
				  "events");
	json_string(o, "awaited", x->awaited ? x->awaited->part.name : "");
	json_number(o, "confidence", x->confidence);
	json_string(o, "why_none", x->why_none ? x->why_none : "");
	for (i = 0; i < x->op.nr; i++)
		json_object_array_add(parts, part_object(&x->op.part[i]));
	json_object_object_add(o, "parts", parts);
	json_number(o, "unseen", x->unseen);
	json_number(o, "normal", x->nr_normal);
	json_double(o, "chance", x->chance);
	for (i = 0; i < x->nr_doubts; i++)
		add_text(doubts, x->doubt[i]);
	json_object_object_add(o, "doubts", doubts);
	for (i = 0; (i = not_seen(x, line, sizeof(line), i)) != 0;)
		add_text(missing, line);
	json_object_object_add(o, "not_seen", missing);
	add_analyzers(x, o);
	return o;
}

static void sum_up(const struct explain *x, struct explain_cause *c)
{
	if (x->why_none) {
		snprintf(c->why_none, sizeof(c->why_none), "%s", x->why_none);
		return;
	}
	snprintf(c->key, sizeof(c->key), "%s", cause_of(x)->key);
	c->share = lround(cause_of(x)->share);
	c->confidence = x->confidence;
}

static int find_out(struct guard *g, struct explain *x)
{
	int status = explain_read(g, x);

	if (status)
		return status;
	explain_judge(x);
	guard_alive(g, GUARD_NOWHERE);
	explain_ask(x);
	explain_join(x);
	return 0;
}

static int work(struct guard *g, FILE *out, void *arg)
{
	struct explain_job *job = arg;
	int status = find_out(g, &job->x);

	if (!status && job->cause)
		sum_up(&job->x, job->cause);
	else if (!status && job->json)
		json_write(explain_object(&job->x), out);
	else if (!status)
		print_text(job, out);
	explain_free(&job->x);
	return status;
}

/* ---- case.json, which has been held against its schema ---- */

/**
 * explain_key - find a key of a chart
 * @keys: "name=value name=value"
 * @end: how its name ends
 *
 * Return: the value of the first one, up to the end of @keys; NULL if it is absent.
 */
const char *explain_key(const char *keys, const char *end)
{
	size_t len = strlen(end), name;

	for (; *keys; keys += strspn(keys, " ")) {
		name = strcspn(keys, "= ");
		if (keys[name] == '=' && name >= len &&
		    !strncmp(keys + name - len, end, len))
			return keys + name + 1;
		keys += strcspn(keys, " ");
	}
	return NULL;
}

/**
 * explain_device - read the number of a device
 * @text: begins with it: "8:0", as dev_t is printed, or a number
 */
u64 explain_device(const char *text)
{
	char *end;
	u64 number = strtoull(text, &end, 10);

	return *end == ':' ? number << 20 | strtoull(end + 1, NULL, 10) :
			     number;
}

/**
 * explain_who - find out which operation it is
 * @keys: the keys of its alarm
 * @pid: set to its thread, if it is one's
 * @dev: set to its device, if it is a request to one
 * @sector: set to the sector of that request
 *
 * Return: false if the keys do not say it.
 */
bool explain_who(const char *keys, s32 *pid, u64 *dev, u64 *sector)
{
	const char *thread = explain_key(keys, "pid");
	const char *device = explain_key(keys, "dev");
	const char *begin = explain_key(keys, "sector");

	if (device && begin) {
		*dev = explain_device(device);
		*sector = strtoull(begin, NULL, 10);
		return true;
	}
	if (thread)
		*pid = strtol(thread, NULL, 10);
	return *pid > 0;
}

/*
 * The values in control around the alarm: their sigma; and a centre if the chart has none
 */
static void read_values(struct explain *x, struct json_object *values)
{
	size_t i, n = json_object_array_length(values);
	double sum = 0, squares = 0, v;

	for (i = 0; i < n; i++) {
		u64 value =
			json_u64(json_object_array_get_idx(values, i), "value");

		if (!value || value > x->limit)
			continue;
		v = log(value);
		sum += v;
		squares += v * v;
		x->nr_values++;
	}
	if (!x->nr_values)
		return;
	sum /= x->nr_values;
	x->sigma = sqrt(fmax(squares / x->nr_values - sum * sum, 0));
	if (x->fixed)
		x->center = exp(sum);
}

/* Find the operation of the alarm; return: why it cannot be explained, or NULL */
static const char *read_alarm(struct explain *x, struct json_object *o)
{
	struct json_object *a = json_member(o, "alarm"),
			   *c = json_member(o, "chart");

	x->op.start = json_u64(a, "start");
	x->op.end = x->op.start + json_u64(a, "value");
	x->chart = json_text(a, "chart");
	x->nr_alarms = json_u64(o, "nr_alarms");
	x->charts = case_charts(o);
	x->center = json_u64(a, "center");
	x->fixed = !x->center;
	x->limit = json_u64(a, "limit");
	x->judged = json_u64(a, "judged");
	x->begin = json_u64(json_member(o, "window"), "begin");
	x->overdue = json_u64(a, "rules") & RULE_OVERDUE;
	x->dropped = json_u64(json_member(o, "losses"), "dropped");
	if (json_member(c, "paths"))
		x->function = json_text(c, "paths");
	else if (json_member(c, "symbol") && !json_member(c, "file"))
		x->function = json_text(c, "symbol");
	if (!x->op.start || x->op.end <= x->op.start ||
	    strcmp(json_text(c, "unit"), "ns") != 0)
		return "its value is not a duration: there is no time to explain";
	if (!explain_who(json_text(a, "keys"), &x->op.pid, &x->dev, &x->sector))
		return "its chart has no key for a thread (pid), nor for a request (dev and sector): the operation's thread or request is unknown";
	read_values(x, json_member(o, "values"));
	return NULL;
}

/**
 * explain_case - explain a case as a part of a guard's work
 * @g: the guard
 * @x: an explain with its @file and @timeout, for explain_free()
 * @o: the case's case.json, which must live as long as @x
 *
 * Return: 0, or EXIT_FAILURE after guard_fail(). If it cannot be explained, it has no
 * parts, and a @why_none.
 */
int explain_case(struct guard *g, struct explain *x, struct json_object *o)
{
	x->why_none = read_alarm(x, o);
	return x->why_none ? 0 : find_out(g, x);
}

/**
 * explain_damage - check what the cause of a case is found in
 * @dir: the case
 * @o: its case.json, as case_read() returned it
 *
 * Return: NULL, or what is wrong and what to do about it, for free(): its true cause may be
 * another one than the files show.
 */
char *explain_damage(const char *dir, struct json_object *o)
{
	/* "symbols/" is all of the directory */
	static const char *const used[] = { "trace.dat", BASELINE_FILE,
					    STACKS_FILE, "symbols/" };
	char *damage = case_changed(dir, o);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(used) && !damage; i++)
		damage = case_damage(dir, o, used[i]);
	return damage;
}

static int explain(struct explain_job *job, const char *program)
{
	char *error, *file = xasprintf("%s/trace.dat", job->dir);
	struct json_object *o = case_read(job->dir, &error);
	const char *nothing = error ? NULL : read_alarm(&job->x, o);
	char *damage = error ? NULL : explain_damage(job->dir, o);
	char *baseline = error ? NULL : case_baseline(job->dir, o);
	struct guard_job guard = { .program = program,
				   .file = file,
				   .idle_cpu = IDLE_CPU,
				   .work = work,
				   .arg = job };
	int status = EXIT_FAILURE;

	job->x.file = file;
	job->x.baseline = baseline;
	if (error) {
		complain("%s", error);
	} else if (damage) {
		complain("not explained: %s", damage);
	} else if (nothing && job->cause) {
		snprintf(job->cause->why_none, sizeof(job->cause->why_none),
			 "%s", nothing);
		status = EXIT_SUCCESS;
	} else if (nothing) {
		complain("%s: %s", job->dir, nothing);
	} else {
		status = guard_run(&guard);
	}
	json_object_put(job->x.charts);
	json_object_put(o);
	free(error);
	free(damage);
	free(baseline);
	free(file);
	return status;
}

/**
 * explain_cause - what caused a case
 * @dir: the case
 * @timeout: ns that each analyzer may take; 0: none is asked
 * @cause: filled in
 *
 * Return: false if the case cannot be read, which is reported.
 */
bool explain_cause(const char *dir, u64 timeout, struct explain_cause *cause)
{
	struct explain_job job = { .dir = xstrdup(dir), .x.timeout = timeout };
	int status;

	job.cause = mmap(NULL, sizeof(*cause), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (job.cause == MAP_FAILED)
		memory_failed();
	status = explain(&job, PROGRAM " list");
	*cause = *job.cause;
	munmap(job.cause, sizeof(*cause));
	free(job.dir);
	return !status;
}

/**
 * explain_main - the command explain
 * @argc: as of main()
 * @argv: the same, the first one a name for messages
 *
 * Return: the exit status.
 */
int explain_main(int argc, char **argv)
{
	static const struct argp argp = { options,	    parse, "CASE", doc,
					  explain_children, NULL,  NULL };
	struct explain_job job = { .operand.dir = CASES_DIR,
				   .x.timeout = EXPLAIN_TIMEOUT };
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &job);
	job.dir = operand_directory(&job.operand);
	status = explain(&job, PROGRAM " explain");
	free(job.dir);
	return status;
}
