// SPDX-License-Identifier: GPL-2.0
/*
 * usage: parse [-f] <FILTERS
 *
 * Give filters to the kernel's own parser of ctlchart(), compiled for a program:
 * a line of FILTERS is the judged event's name, a tab and a filter.
 *
 * A call that is taken reads back as a call that is taken for the same chart. One
 * that is refused says where, within the filter. With -f each is also tried with
 * the first allocation failing, then the second, and so on, until it makes no
 * difference: it is refused for that, or for what is wrong with it.
 *
 * What the parser does with memory is the sanitizers' business.
 */
#include "trace.h"
/* found where the parser is; see tests/fuzz/ctlchart-filters */
#include "ctlchart/internal.h"

bool ctlchart_key;
bool ctlchart_gate_key;
unsigned int fail_nth;

static struct trace_array tr;
static int have_clock = 1;

#define NUMBER(name, type, size, is_signed)                  \
	{                                                    \
		name, type, FILTER_OTHER, 8, size, is_signed \
	}
#define COMMON                                                         \
	NUMBER("common_type", "unsigned short", 2, 0),                 \
		NUMBER("common_flags", "unsigned char", 1, 0),         \
		NUMBER("common_preempt_count", "unsigned char", 1, 0), \
		NUMBER("common_pid", "int", 4, 1),                     \
		{ "cpu", "int", FILTER_CPU, 0, 4, 0 },                 \
		{ "CPU", "int", FILTER_CPU, 0, 4, 0 },                 \
		{ "comm", "char *", FILTER_COMM, 0, 16, 0 },           \
		{ "COMM", "char *", FILTER_COMM, 0, 16, 0 },           \
	{                                                              \
		"stacktrace", "", FILTER_STACKTRACE, 0, 8, 0           \
	}

static const struct ftrace_event_field hang[] = {
	{ "comm", "char[16]", FILTER_STATIC_STRING, 8, 16, 0 },
	NUMBER("pid", "pid_t", 4, 1),
	COMMON,
	{ NULL },
};

static const struct ftrace_event_field setprio[] = {
	{ "comm", "char[16]", FILTER_STATIC_STRING, 8, 16, 0 },
	NUMBER("pid", "pid_t", 4, 1),
	NUMBER("oldprio", "int", 4, 1),
	NUMBER("newprio", "int", 4, 1),
	COMMON,
	{ NULL },
};

static const struct ftrace_event_field iowait[] = {
	{ "comm", "char[16]", FILTER_STATIC_STRING, 8, 16, 0 },
	NUMBER("pid", "pid_t", 4, 1),
	NUMBER("delay", "u64", 8, 0),
	COMMON,
	{ NULL },
};

static const struct ftrace_event_field complete[] = {
	NUMBER("dev", "dev_t", 4, 0),
	NUMBER("sector", "sector_t", 8, 0),
	NUMBER("nr_sector", "unsigned int", 4, 0),
	NUMBER("error", "int", 4, 1),
	NUMBER("ioprio", "unsigned short", 2, 0),
	{ "rwbs", "char[8]", FILTER_STATIC_STRING, 8, 8, 0 },
	{ "cmd", "__data_loc char[]", FILTER_DYN_STRING, 8, 4, 0 },
	COMMON,
	{ NULL },
};

static const struct ftrace_event_field alarm_fields[] = { NUMBER("duration",
								 "u64", 8, 0),
							  COMMON,
							  { NULL } };

static struct trace_event_class sched = { "sched", true },
				block = { "block", true },
				twin = { "twin", true },
				own = { "ctlchart", true },
				bprint = { "ftrace", false };
static struct trace_event_call calls[] = {
	{ "sched_process_hang", &sched, 0, hang },
	{ "sched_pi_setprio", &sched, 0, setprio },
	{ "sched_stat_iowait", &sched, 0, iowait },
	{ "block_rq_complete", &block, 0, complete },
	{ "block_bio_queue", &block, 0, complete },
	{ "both", &block, 0, complete },
	{ "both", &twin, 0, complete },
	{ "ctlchart_alarm", &own, 0, alarm_fields },
	{ "bprint", &bprint, TRACE_EVENT_FL_IGNORE_ENABLE, iowait },
};
static struct trace_subsystem_dir dirs[ARRAY_SIZE(calls)];
static struct trace_event_file files[ARRAY_SIZE(calls)];

struct ftrace_event_field *trace_find_event_field(struct trace_event_call *call,
						  char *name)
{
	const struct ftrace_event_field *f;

	for (f = call->fields; f->name; f++) {
		if (!strcmp(f->name, name))
			return (struct ftrace_event_field *)f;
	}
	return NULL;
}

bool trace_clock_in_ns(struct trace_array *array)
{
	(void)array;
	return have_clock;
}

bool ctlchart_gate_check(struct trace_array *array, enum ctlchart_error *err)
{
	(void)array;
	(void)err;
	return true;
}

/* The chart is the request, with a call of its own */
struct ctlchart *ctlchart_create(struct trace_event_file *file,
				 const struct ctlchart *request, int *err)
{
	struct ctlchart *chart;

	(void)file;
	*err = -ENOMEM;
	chart = kmalloc(sizeof(*chart), GFP_KERNEL);
	if (!chart)
		return NULL;
	*chart = *request;
	chart->call = strdup(request->call);
	return chart;
}

static void free_chart(struct ctlchart *chart)
{
	if (chart)
		free(chart->call);
	free(chart);
}

static const char *filter;

#define expect(cond)                                                      \
	do {                                                              \
		if (!(cond)) {                                            \
			fprintf(stderr, "parse: not so: %s\n%s\n", #cond, \
				filter);                                  \
			exit(1);                                          \
		}                                                         \
	} while (0)

/* How many of each kind of mistake */
static unsigned long mistakes[ERR_CTLCHART_GATE_SCHEDZ + 1];

/* The call of a filter at a position; sets its length, if it is taken */
static struct ctlchart *parse(struct trace_event_file *file, const char *str,
			      int pos, int *len, enum ctlchart_error *err)
{
	int size = strlen(str), err_pos = INT_MIN;
	struct ctlchart *chart;

	chart = ctlchart_parse(file, str, pos, len, err, &err_pos);
	if (chart) {
		expect(*len > 0 && pos + *len <= size);
		expect(str[pos + *len - 1] == ')');
		return chart;
	}
	expect(*err <= ERR_CTLCHART_GATE_SCHEDZ);
	expect(err_pos >= 0 && pos + err_pos <= size);
	return NULL;
}

/* What was understood of one is what was understood of the other */
static void expect_same(const struct ctlchart *a, const struct ctlchart *b)
{
	expect(!strcmp(a->call, b->call));
	expect(!strcmp(a->name, b->name));
	expect(a->named == b->named);
	expect(a->start_file == b->start_file);
	expect(a->nr_keys == b->nr_keys);
	expect(!memcmp(a->start_key, b->start_key, sizeof(a->start_key)));
	expect(!memcmp(a->end_key, b->end_key, sizeof(a->end_key)));
	expect(!memcmp(&a->by, &b->by, sizeof(a->by)));
	expect(!memcmp(&a->opt, &b->opt, sizeof(a->opt)));
}

/* Options that the parser must have refused */
static void expect_sane(const struct ctlchart *c)
{
	const struct ctlchart_options *o = &c->opt;

	expect(ctlchart_method_valid(&o->method));
	expect(strlen(c->name) < CTLCHART_NAME_LEN && *c->name);
	expect(c->nr_keys <= CTLCHART_MAX_KEYS);
	expect(!c->start_file == !c->nr_keys);
	expect(!(o->rules & ~CTLCHART_NELSON_ALL));
	expect(o->size >= CTLCHART_TABLE_MIN && o->size <= CTLCHART_TABLE_MAX);
	expect(o->stale);
	expect(o->charts <= CTLCHART_CHARTS_MAX &&
	       !o->charts == !c->by.key.name);
	expect(!o->ucl || !(o->rules || o->relearn));
	expect(o->gated || !(o->pre || o->post || o->from_start));
	expect(!o->from_start ||
	       (c->start_file && o->size <= CTLCHART_TABLE_SEARCH));
}

/* Every allocation of it fails in turn */
static void fail_all(struct trace_event_file *file, const char *str, int pos,
		     struct ctlchart *good, enum ctlchart_error why)
{
	enum ctlchart_error err;
	struct ctlchart *chart;
	unsigned int nth;
	int len;

	for (nth = 1;; nth++) {
		fail_nth = nth;
		chart = parse(file, str, pos, &len, &err);
		if (fail_nth)
			break;
		expect(!chart && (err == ERR_CTLCHART_NO_MEMORY ||
				  (!good && err == why)));
	}
	fail_nth = 0;
	expect(!chart == !good && (chart || err == why));
	free_chart(chart);
}

static int try(struct trace_event_file *file, const char *str, bool fails)
{
	struct ctlchart *chart, *again;
	enum ctlchart_error err = 0;
	int at, pos = 0, len, again_len, taken = 0;

	while ((at = ctlchart_in_filter(str + pos)) >= 0) {
		pos += at;
		chart = parse(file, str, pos, &len, &err);
		if (fails)
			fail_all(file, str, pos, chart, err);
		if (!chart) {
			mistakes[err]++;
			return 0;
		}
		expect_sane(chart);
		again = parse(file, chart->call, 0, &again_len, &err);
		expect(again && again_len == (int)strlen(chart->call));
		expect_same(chart, again);
		free_chart(again);
		free_chart(chart);
		pos += len;
		taken = 1;
	}
	return taken;
}

int main(int argc, char **argv)
{
	bool fails = argc > 1 && !strcmp(argv[1], "-f");
	unsigned long n = 0, taken = 0;
	size_t i, size = 0;
	char *line = NULL, *tab;
	struct list_head *last = &tr.events;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		/* A system's events have its directory in common */
		for (files[i].system = &dirs[i];
		     i && calls[i].class == calls[i - 1].class;) {
			files[i].system = files[i - 1].system;
			break;
		}
		files[i].event_call = &calls[i];
		files[i].tr = &tr;
		last->next = &files[i].list;
		last = last->next;
	}
	last->next = &tr.events;

	while (getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		tab = strchr(line, '\t');
		if (!tab)
			continue;
		*tab = '\0';
		filter = tab + 1;
		for (i = 0;
		     i < ARRAY_SIZE(calls) - 1 && strcmp(calls[i].name, line);)
			i++;
		have_clock = n % 1000;
		taken += try(&files[i], tab + 1, fails);
		n++;
	}
	free(line);
	printf("%lu filters, %lu taken; refused by kind:", n, taken);
	for (i = 0; i < ARRAY_SIZE(mistakes); i++)
		printf(" %lu", mistakes[i]);
	printf("\n");
	return !n;
}
