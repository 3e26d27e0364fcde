// SPDX-License-Identifier: GPL-2.0
/* tracerig explain: says what the time of a case's operation went to. */
#include <argp.h>
#include <json-c/json.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

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

/*
 * A cause has at least this share of the delay. A value that is above the limit by less
 * than the second share of it is one that chance brings about now and then.
 */
#define SHARE_MIN 50
#define ABOVE_MIN 25

enum { OPT_FORMAT = 0x100 };

struct explain_job {
	struct operand operand;
	bool json;
	struct explain x;
	u64 limit;
	u64 window_begin;
	char *dir;
};

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
	"Say what the time of a case's operation went to: other tasks, interrupts, waits "
	"for a wake-up, a device's queue or the device.\n\n"
	"CASE is the number of a case, or a directory with a case." OPERAND_DOC
	"\v"
	"Examples:\n"
	"  tracerig explain 3\n"
	"  tracerig explain --format=json ./3 | jq .cause\n"
	"\n"
	"Exit status: 0 done, 1 trouble, 2 usage.\n";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = { "text", "json" };
	struct explain_job *job = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &job->operand;
		return 0;
	case OPT_FORMAT:
		job->json = cli_word(state, "format", arg, formats,
				     ARRAY_SIZE(formats));
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static u64 delay_of(const struct explain *x)
{
	u64 took = x->end - x->start;

	return took > x->center ? took - x->center : 0;
}

static u64 share(const struct explain *x, const struct cause *c)
{
	u64 delay = delay_of(x);

	return delay ? 100.0 * (c->ns - c->usual) / delay : 0;
}

/* Why no cause is named, or NULL */
static const char *why_none(const struct explain_job *job)
{
	const struct explain *x = &job->x;

	if ((double)(x->end - x->start) < job->limit * (1 + ABOVE_MIN / 100.0))
		return "the value is only just above the limit, as happens by chance";
	if (!x->nr)
		return "the recording has no event of this operation";
	if (share(x, &x->cause[0]) < SHARE_MIN)
		return "no part has half of the delay";
	return NULL;
}

static const char *confidence(const struct explain_job *job)
{
	const struct explain *x = &job->x;
	u64 percent = share(x, &x->cause[0]);

	if (x->lost || job->window_begin > x->start)
		return "low";
	return percent >= 80 ? "high" : "medium";
}

static void missing_text(const struct explain_job *job, char *buf, size_t size)
{
	const struct explain *x = &job->x;
	u64 took = x->end - x->start;
	size_t pos = 0;
	char time[32];
	int i;

	*buf = '\0';
	for (i = 0; i < SAW_NR && pos < size; i++) {
		if (!x->seen[i])
			pos += snprintf(buf + pos, size - pos, "%sno event %s",
					pos ? "; " : "", saw_name[i]);
	}
	if (x->lost && pos < size)
		pos += snprintf(buf + pos, size - pos,
				"%srecords are lost in the operation",
				pos ? "; " : "");
	if (job->window_begin > x->start && pos < size)
		pos += snprintf(buf + pos, size - pos,
				"%sthe window begins after the operation",
				pos ? "; " : "");
	if (x->known < took && pos < size)
		snprintf(buf + pos, size - pos, "%s%s of the operation",
			 pos ? "; " : "",
			 format_value(time, sizeof(time), took - x->known,
				      true));
}

static void print_text(const struct explain_job *job, FILE *out)
{
	const struct explain *x = &job->x;
	char took[32], usual[32], ns[32], at[32], missing[512];
	const char *none = why_none(job);
	size_t i;

	fprintf(out, "%s: the operation took %s, usually %s\n", job->dir,
		format_value(took, sizeof(took), x->end - x->start, true),
		format_value(usual, sizeof(usual), x->center, true));
	if (none)
		fprintf(out, "no cause: %s\n", none);
	else
		fprintf(out,
			"cause: %s explains %llu %% of the delay, %s confidence\n",
			x->cause[0].name,
			(unsigned long long)share(x, &x->cause[0]),
			confidence(job));
	for (i = 0; i < x->nr; i++) {
		const struct cause *c = &x->cause[i];

		fprintf(out, "  %3llu %%  %9s  %s: %s, at +%s on CPU %u\n",
			(unsigned long long)share(x, c),
			format_value(ns, sizeof(ns), c->ns, true), c->name,
			c->detail,
			format_value(at, sizeof(at), c->at - x->start, true),
			c->cpu);
	}
	missing_text(job, missing, sizeof(missing));
	if (*missing)
		fprintf(out, "not seen: %s\n", missing);
}

static void print_json(const struct explain_job *job, FILE *out)
{
	struct json_object *o = json_object_new_object();
	struct json_object *parts = json_object_new_array(), *p;
	const struct explain *x = &job->x;
	const char *none = why_none(job);
	char missing[512];
	size_t i;

	json_number(o, "duration", x->end - x->start);
	json_number(o, "usual", x->center);
	json_number(o, "delay", delay_of(x));
	json_string(o, "cause", none ? "" : x->cause[0].name);
	json_string(o, "confidence", none ? "none" : confidence(job));
	json_string(o, "why_none", none ? none : "");
	for (i = 0; i < x->nr; i++) {
		const struct cause *c = &x->cause[i];

		p = json_object_new_object();
		json_string(p, "name", c->name);
		json_number(p, "percent", share(x, c));
		json_number(p, "ns", c->ns);
		json_number(p, "usual", c->usual);
		json_number(p, "longest", c->longest);
		json_number(p, "at", c->at);
		json_number(p, "cpu", c->cpu);
		json_string(p, "evidence", c->detail);
		json_object_array_add(parts, p);
	}
	json_object_object_add(o, "parts", parts);
	missing_text(job, missing, sizeof(missing));
	json_string(o, "not_seen", missing);
	json_write(o, out);
}

static int work(struct guard *g, FILE *out, void *arg)
{
	struct explain_job *job = arg;
	int status = explain_read(g, &job->x);

	if (!status)
		(job->json ? print_json : print_text)(job, out);
	explain_free(&job->x);
	return status;
}

static u64 member(struct json_object *o, const char *name)
{
	struct json_object *v;

	return json_object_object_get_ex(o, name, &v) ?
		       json_object_get_uint64(v) :
		       0;
}

static u64 key(const char *keys, const char *name)
{
	const char *at = strstr(keys, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* The operation that the alarm is about; what is wrong, for free(), if it has none */
static char *read_alarm(struct explain_job *job, struct json_object *o)
{
	struct json_object *a, *chart, *w, *v;
	struct explain *x = &job->x;
	const char *keys, *event, *unit;

	json_object_object_get_ex(o, "alarm", &a);
	json_object_object_get_ex(o, "chart", &chart);
	json_object_object_get_ex(o, "window", &w);
	json_object_object_get_ex(a, "keys", &v);
	keys = json_object_get_string(v);
	json_object_object_get_ex(chart, "event", &v);
	event = json_object_get_string(v);
	json_object_object_get_ex(chart, "unit", &v);
	unit = json_object_get_string(v);
	x->start = member(a, "start");
	x->end = x->start + member(a, "value");
	x->center = member(a, "center");
	job->limit = member(a, "limit");
	job->window_begin = member(w, "begin");
	if (strcmp(unit, "ns") != 0 || x->end < x->start)
		return xasprintf("%s: its value is not a duration", job->dir);
	if (strstr(keys, "sector=")) {
		x->dev = key(keys, "dev=");
		x->sector = key(keys, "sector=");
	} else {
		x->pid = !strcmp(event, "sched_switch") ? key(keys, "pid=") :
							  member(a, "pid");
	}
	return NULL;
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
	static const struct argp child = {
		operand_options, operand_parse, NULL, NULL, NULL, NULL, NULL
	};
	static const struct argp_child children[] = { { &child, 0, NULL, 0 },
						      { 0 } };
	static const struct argp argp = { options,  parse, "CASE", doc,
					  children, NULL,  NULL };
	struct explain_job job = { .operand.dir = CASES_DIR };
	struct json_object *o;
	char *error, *file;
	int status = EXIT_FAILURE;

	argp_parse(&argp, argc, argv, 0, NULL, &job);
	job.dir = operand_directory(&job.operand);
	o = case_read(job.dir, &error);
	if (!error)
		error = read_alarm(&job, o);
	file = xasprintf("%s/trace.dat", job.dir);
	job.x.file = file;
	if (error) {
		complain("%s", error);
	} else {
		struct guard_job guard = { .program = PROGRAM " explain",
					   .file = file,
					   .idle_cpu = IDLE_CPU,
					   .work = work,
					   .arg = &job };

		status = guard_run(&guard);
	}
	json_object_put(o);
	free(error);
	free(file);
	free(job.dir);
	return status;
}
