// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the input: a trace.dat with events of lbrprof, a perf.data, or the output of
 * perf script.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event-parse.h>

#include "kallsyms.h"
#include "lbrtime.h"
#include "records.h"
#include "text.h"

#define MAX_PID (1 << 22)
#define MAX_PATH 4096
#define ID_SIZE 20

/**
 * struct layout - where the fields of the events are
 * @common_type:	field of all records
 * @common_pid:		field of all records
 * @sample:		common_type of lbrprof_sample
 * @map:		of lbrprof_map, or -1
 * @task:		of lbrprof_task, or -1
 * @sched:		of sched_switch, or -1
 * @alarm:		of ctlchart_alarm, or -1
 * @limit:		of ctlchart_limit, or -1
 *
 * The others are fields of the events.
 */
struct layout {
	struct number common_type, common_pid;
	int sample, map, task, sched, alarm, limit;
	struct number ip, nr, flags, calls, returns;
	struct number tgid, start, end, pgoff, id_size;
	struct number task_pid, task_tgid, task_parent;
	struct number next_pid;
	struct number alarm_start, alarm_duration, alarm_pid, alarm_chart;
	struct number limit_chart;
	struct tep_format_field *data, *path, *build_id, *limit_name;
};

/**
 * struct input - a trace.dat that is being read
 * @guard:	guard
 * @t:		timeline to add to
 * @r:		its records
 * @l:		its formats
 * @tgid:	processes, by thread; 0: unknown
 * @charts:	what the numbers of charts in alarms stand for
 */
struct input {
	struct guard *guard;
	struct timeline *t;
	struct records *r;
	struct layout l;
	s32 *tgid;
	struct known_charts charts;
};

/* ------------------------------------------------------------------------- */
/* Formats */

static struct tep_event *find_event(const struct input *in, const char *system,
				    const char *name)
{
	return tep_find_event_by_name(records_tep(in->r), system, name);
}

static bool find_sample(struct input *in)
{
	struct tep_event *e = find_event(in, "lbrprof", "lbrprof_sample");
	struct layout *l = &in->l;

	if (!e || !number_find(&l->common_type, in->r, e, "common_type") ||
	    !number_find(&l->common_pid, in->r, e, "common_pid") ||
	    !number_find(&l->ip, in->r, e, "ip") ||
	    !number_find(&l->nr, in->r, e, "nr") ||
	    !number_find(&l->flags, in->r, e, "flags") ||
	    !number_find(&l->calls, in->r, e, "calls") ||
	    !number_find(&l->returns, in->r, e, "returns") ||
	    !(l->data = array_find(e, "branches")))
		return false;
	l->sample = e->id;
	return true;
}

static void find_map(struct input *in)
{
	struct tep_event *e = find_event(in, "lbrprof", "lbrprof_map");
	struct layout *l = &in->l;

	l->map = -1;
	if (!e || !number_find(&l->tgid, in->r, e, "tgid") ||
	    !number_find(&l->start, in->r, e, "start") ||
	    !number_find(&l->end, in->r, e, "end") ||
	    !number_find(&l->pgoff, in->r, e, "pgoff") ||
	    !(l->path = array_find(e, "path")))
		return;
	l->map = e->id;
	if (number_find(&l->id_size, in->r, e, "build_id_size"))
		l->build_id = array_find(e, "build_id");
}

static void find_others(struct input *in)
{
	struct tep_event *e = find_event(in, "lbrprof", "lbrprof_task");
	struct layout *l = &in->l;

	l->task = l->sched = l->alarm = l->limit = -1;
	if (e && number_find(&l->task_pid, in->r, e, "pid") &&
	    number_find(&l->task_tgid, in->r, e, "tgid")) {
		l->task = e->id;
		number_find(&l->task_parent, in->r, e, "parent");
	}
	e = find_event(in, "sched", "sched_switch");
	if (e && number_find(&l->next_pid, in->r, e, "next_pid"))
		l->sched = e->id;
	e = find_event(in, "ctlchart", "ctlchart_alarm");
	if (e && number_find(&l->alarm_start, in->r, e, "start") &&
	    number_find(&l->alarm_duration, in->r, e, "duration") &&
	    number_find(&l->alarm_pid, in->r, e, "pid") &&
	    number_find(&l->alarm_chart, in->r, e, "chart"))
		l->alarm = e->id;
	e = find_event(in, "ctlchart", "ctlchart_limit");
	if (e && number_find(&l->limit_chart, in->r, e, "chart") &&
	    (l->limit_name = array_find(e, "name")))
		l->limit = e->id;
}

/* ------------------------------------------------------------------------- */
/* Records */

static s32 tgid_of(const struct input *in, s32 pid)
{
	return pid >= 0 && pid < MAX_PID && in->tgid[pid] ? in->tgid[pid] : pid;
}

static int parse_branches(struct input *in, const struct record *rec,
			  struct sample *s, u64 ip)
{
	struct lbrprof_branch branch[MAX_BRANCHES];
	struct symbols *symbols = in->t->symbols;
	/* As wide as the file says */
	u64 nr = number_in(&in->l.nr, rec), i;
	const u8 *data;
	size_t at;
	u32 len;

	if (nr > MAX_BRANCHES)
		return guard_fail(in->guard, rec->offset,
				  "damaged record: it has too many branches");
	if (!array_get(in->l.data, rec->data, rec->size, &data, &len))
		return guard_fail(
			in->guard, rec->offset,
			"damaged record: its branches are outside of it");
	if (lbrprof_unpack(data, len, ip, s->flags, branch, nr, &at))
		return guard_fail(
			in->guard, rec->offset + (data - rec->data) + at,
			"damaged record: its branches cannot be unpacked");
	for (i = nr; i--;) {
		s32 tgid = s->tgid;
		u32 from = symtab_place(symbols, tgid, branch[i].from);
		u32 to = s->flags & LBRPROF_TO ?
				 symtab_place(symbols, tgid, branch[i].to) :
				 NONE;

		*timeline_branch(in->t) = (struct branch){
			.from = from, .to = to, .cycles = branch[i].cycles
		};
	}
	if (nr > in->t->depth)
		in->t->depth = nr;
	return 0;
}

static int parse_sample(struct input *in, const struct record *rec)
{
	const struct layout *l = &in->l;
	s32 pid = number_in(&l->common_pid, rec);
	u64 ip = number_in(&l->ip, rec);
	struct sample *s;

	if (!number_fits(&l->ip, rec) || !number_fits(&l->returns, rec))
		return guard_fail(in->guard, rec->offset,
				  "the record is too short for its format");
	s = timeline_sample(in->t, rec->cpu, pid, rec->ts);
	s->tgid = tgid_of(in, pid);
	s->flags = number_in(&l->flags, rec);
	s->calls = number_in(&l->calls, rec) + number_in(&l->returns, rec);
	s->comm = timeline_comm(
		in->t, tep_data_comm_from_pid(records_tep(in->r), pid));
	s->ip = symtab_place(in->t->symbols, s->tgid, ip);
	if (s->flags & LBRPROF_SWITCH)
		/* When the next thread comes is known only from sched_switch */
		in->t->cpu[rec->cpu].pid = -1;
	return parse_branches(in, rec, s, ip);
}

static int parse_map(struct input *in, const struct record *rec)
{
	const struct layout *l = &in->l;
	char path[MAX_PATH];
	u32 len = l->build_id ? number_in(&l->id_size, rec) : 0, room;
	const u8 *id = (const u8 *)"";

	if (!array_text(l->path, rec, path, sizeof(path)) ||
	    (len &&
	     (!array_get(l->build_id, rec->data, rec->size, &id, &room) ||
	      len > room || len > ID_SIZE)))
		return guard_fail(in->guard, rec->offset,
				  "the record is too short for its format");
	symtab_map(in->t->symbols, number_in(&l->tgid, rec),
		   number_in(&l->start, rec), number_in(&l->end, rec),
		   number_in(&l->pgoff, rec), path, id, len);
	return 0;
}

static void parse_alarm(struct input *in, const struct record *rec)
{
	const struct layout *l = &in->l;
	struct timeline *t = in->t;
	u32 chart = number_in(&l->alarm_chart, rec);
	u64 start = number_in(&l->alarm_start, rec);
	u64 duration = number_in(&l->alarm_duration, rec);
	struct alarm *a;

	if (duration > U64_MAX - start)
		return;
	GROW(t->alarm, t->alarms, t->alarm_room);
	a = &t->alarm[t->alarms++];
	*a = (struct alarm){ .start = start,
			     .end = start + duration,
			     .pid = number_in(&l->alarm_pid, rec) };
	charts_name(charts_find(&in->charts, chart), chart, a->chart);
}

static int handle_record(struct input *in, const struct record *rec)
{
	const struct layout *l = &in->l;
	int id = number_in(&l->common_type, rec);

	if (rec->cpu >= MAX_CPUS)
		return 0;
	if (rec->lost)
		timeline_gap(in->t, rec->cpu);
	if (id == l->sample)
		return parse_sample(in, rec);
	if (id == l->map)
		return parse_map(in, rec);
	/* A new process has the mappings of its parent */
	if (id == l->task && l->task_parent.size)
		symtab_fork(in->t->symbols, number_in(&l->task_tgid, rec),
			    number_in(&l->task_parent, rec));
	if (id == l->sched)
		timeline_switch(in->t, rec->cpu, rec->ts,
				number_in(&l->next_pid, rec));
	else if (id == l->alarm)
		parse_alarm(in, rec);
	return 0;
}

static void parse_task(struct input *in, const struct record *rec)
{
	s32 pid = number_in(&in->l.task_pid, rec);

	if (pid >= 0 && pid < MAX_PID)
		in->tgid[pid] = number_in(&in->l.task_tgid, rec);
}

/* Without memory for the name, a chart is shown by its number */
static void parse_limit(struct input *in, const struct record *rec)
{
	struct known_chart c = { .number = number_in(&in->l.limit_chart, rec) };
	const struct chart_lines none = { 0 };

	if (!array_text(in->l.limit_name, rec, c.name, sizeof(c.name)))
		return;
	clean_text(c.name);
	charts_learn(&in->charts, &c, &none);
}

/*
 * The process of a thread may be recorded after its first sample, and the name of a
 * chart after its first alarm.
 */
static int read_ahead(struct input *in)
{
	struct record rec;

	while (records_next(in->r, &rec)) {
		int id = number_in(&in->l.common_type, &rec);

		if (id == in->l.task)
			parse_task(in, &rec);
		else if (id == in->l.limit)
			parse_limit(in, &rec);
	}
	return records_status(in->r) || records_rewind(in->r);
}

/* Return: @status, or EXIT_FAILURE if there are no samples */
static int need_samples(struct guard *g, const struct timeline *t, int status)
{
	return status || t->nr ? status :
				 guard_fail(g, GUARD_NOWHERE, "has no samples");
}

static int read_records(struct input *in)
{
	struct record rec;
	int status = 0;

	if (!find_sample(in))
		return guard_fail(
			in->guard, GUARD_NOWHERE,
			find_event(in, "lbrprof", "lbrprof_sample") ?
				"has lbrprof_sample events of another version (read it with lbrtime as of that kernel)" :
				"has no lbrprof_sample events (record them with: trace-cmd record -e lbrprof)");
	find_map(in);
	find_others(in);
	if (in->l.task >= 0 || in->l.limit >= 0)
		status = read_ahead(in);
	while (!status && records_next(in->r, &rec))
		status = handle_record(in, &rec);
	if (!status)
		status = records_status(in->r);
	status = need_samples(in->guard, in->t, status);
	if (!status && symtab_has_kernel(in->t->symbols))
		symtab_kernel(in->t->symbols,
			      kallsyms_of_trace(records_tep(in->r)));
	return status;
}

static int read_dat(struct guard *g, struct timeline *t, const char *file,
		    const char *instance)
{
	struct input in = { .guard = g, .t = t };
	int status;

	in.r = records_open(g, file, instance);
	if (!in.r)
		return EXIT_FAILURE;
	in.tgid = xzalloc(MAX_PID * sizeof(*in.tgid));
	status = read_records(&in);
	free(in.tgid);
	charts_free(&in.charts);
	records_close(in.r);
	if (!status && t->gaps)
		guard_note(g, "records lost in %llu gap%s", t->gaps,
			   plural(t->gaps));
	return status;
}

static bool is_perfdata(FILE *in)
{
	static const char magic[] = "PERFILE2";
	char begin[sizeof(magic) - 1];

	/* pread() consumes nothing from a pipe: it fails */
	return pread(fileno(in), begin, sizeof(begin), 0) == sizeof(begin) &&
	       !memcmp(begin, magic, sizeof(begin));
}

/**
 * lbrtime_read - read a file
 * @g:		guard
 * @t:		timeline to add samples, branches and places to
 * @file:	file, "-" for standard input
 * @instance:	trace instance, NULL for the main one
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int lbrtime_read(struct guard *g, struct timeline *t, const char *file,
		 const char *instance)
{
	static const char magic[] = "\x17\x08\x44tracing";
	char begin[sizeof(magic) - 1];
	FILE *in = stdin;
	int status, c;

	t->file = file;
	if (!strcmp(file, "-") && !instance)
		return need_samples(g, t, perftext_read(g, t, in));
	in = strcmp(file, "-") ? fopen(file, "re") : stdin;
	if (!in)
		return guard_fail(g, GUARD_NOWHERE, "%s", strerror(errno));
	if (!instance && is_perfdata(in)) {
		fclose(in);
		return need_samples(g, t, perfdata_read(g, t, file));
	}
	c = getc(in);
	if (c == EOF) {
		status =
			guard_fail(g, GUARD_NOWHERE, "%s",
				   ferror(in) ? strerror(errno) : "empty file");
		fclose(in);
		return status;
	}
	ungetc(c, in);
	/* Anything but a regular file must be text, which is read only once */
	if (c == *magic &&
	    fread(begin, 1, sizeof(begin), in) == sizeof(begin) &&
	    !memcmp(begin, magic, sizeof(begin))) {
		fclose(in);
		return read_dat(g, t, file, instance);
	}
	if (instance)
		status = guard_fail(
			g, GUARD_NOWHERE,
			"--instance: only a trace.dat has trace instances");
	else if (c == *magic)
		status = guard_fail(
			g, GUARD_NOWHERE,
			"neither a trace.dat nor output of perf script");
	else
		status = need_samples(g, t, perftext_read(g, t, in));
	fclose(in);
	return status;
}
