// SPDX-License-Identifier: GPL-2.0
/* Puts events together and writes them, with some of them missing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "memory.h"
#include "recording.h"

#define ID_VALUE 903

static const char value_format[] =
	"name: ctlchart_value\nID: 903\nformat:\n" TD_COMMON
	"\tfield:u64 time;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 start;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 duration;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 limit;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] chart;\toffset:56;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] keys;\toffset:60;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%llu\", REC->duration\n";

uint64_t chance_state;
char rec_lacks[200];
unsigned int rec_dropped;

static struct rec_event *events;
static u64 nr_events, room;

/**
 * rec_put - put an event into the recording
 * @what: which
 * @cpu: where
 * @ts: when, ns
 * @pid: thread that runs there
 *
 * Return: the event, valid until the next one is put.
 */
struct rec_event *rec_put(enum rec_what what, unsigned int cpu, double ts,
			  int pid)
{
	struct rec_event *e;

	GROW(events, nr_events, room);
	e = &events[nr_events];
	*e = (struct rec_event){ .ts = ts,
				 .cpu = cpu,
				 .nr = nr_events++,
				 .what = what,
				 .pid = pid };
	return e;
}

static const char *name_of(int pid)
{
	static char names[64][16];

	if (!pid)
		return "swapper";
	if (pid == THREAD)
		return "reader";
	if (pid == HOG_PID)
		return "hog";
	if (pid == HOLDER_PID)
		return "holder";
	snprintf(names[pid % 64], 16, "task%c", 'a' + pid % 64 % 26);
	return names[pid % 64];
}

/* A thread takes the place of another one; @how: state of that one */
void rec_switch(unsigned int cpu, double ts, int prev, unsigned int how,
		int next)
{
	struct rec_event *e = rec_put(SWITCH, cpu, ts, prev);

	e->next = next;
	e->a = how;
	e->comm = name_of(prev);
	e->next_comm = name_of(next);
}

/* THREAD is woken */
void rec_waking(unsigned int cpu, double ts, int waker, int flags)
{
	struct rec_event *e = rec_put(WAKING, cpu, ts, waker);

	e->next = THREAD;
	e->flags = flags;
}

void rec_request(enum rec_what what, unsigned int cpu, double ts, int pid,
		 uint64_t sector)
{
	struct rec_event *e = rec_put(what, cpu, ts, pid);

	e->a = sector;
	e->comm = name_of(pid);
}

static int by_cpu(const void *a, const void *b)
{
	const struct rec_event *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->nr < y->nr ? -1 : 1;
}

/* Make each task run on HOME when it makes its request */
void rec_run_tasks(void)
{
	unsigned int i, nr = nr_events;
	double last = GD_BASE;
	int pid = 0;

	qsort(events, nr, sizeof(*events), by_cpu);
	for (i = 0; i < nr && events[i].cpu == HOME; i++) {
		double ts = events[i].ts;
		int next = events[i].pid;

		if (next != pid)
			rec_switch(HOME, (last + ts) / 2, pid, 1, next);
		pid = next;
		last = ts;
	}
}

static void write_event(struct gd *gd, const struct rec_event *e)
{
	static const enum gd_block block[] = {
		[BIO] = GD_BIO_QUEUE,
		[ISSUE] = GD_RQ_ISSUE,
		[COMPLETE] = GD_RQ_COMPLETE,
	};
	struct td_record r;

	gd->now = e->ts;
	gd->cpu = e->cpu;
	gd->pid = e->pid;
	gd->flags = e->flags;
	gd->prev_comm = e->comm;
	gd->next_comm = e->next_comm;
	switch (e->what) {
	case SWITCH:
		gd_switch(gd, e->pid, e->a, e->next);
		break;
	case WAKING:
		gd_waking(gd, e->next);
		break;
	case HARD:
	case HARD_END:
		gd_irq(gd, e->b ? "disk0" : "nic0", e->what == HARD);
		break;
	case SOFT:
	case SOFT_END:
		gd_softirq(gd, e->a ? 3 : 1, e->what == SOFT);
		break;
	case VALUE:
		td_begin(&r, gd->td, ID_VALUE, e->pid, 64);
		td_put(&r, 8, e->ts, 8);
		td_put(&r, 16, e->a, 8);
		td_put(&r, 24, e->ts - e->a, 8);
		td_put(&r, 32, e->b, 8);
		td_put_string(&r, 56, "c");
		td_put_string(&r, 60, "common_pid=1000");
		td_put(&r, 2, e->flags, 1);
		td_write(gd->td, 0, e->cpu, e->ts, &r);
		break;
	case MARK:
		gd_rename(gd, "reader");
		break;
	case LOSS:
		td_lose(gd->td, 0, e->cpu);
		break;
	default:
		gd_block(gd, block[e->what], DEV, e->a, SECTORS, e->comm);
	}
}

static void lack(const char *format, const char *what)
{
	size_t len = strlen(rec_lacks);

	snprintf(rec_lacks + len, sizeof(rec_lacks) - len, format, what);
}

/* Kinds of events that are not recorded */
static void choose_missing(int *missing)
{
	static const struct {
		const char *name;
		enum rec_what first, last;
	} kinds[] = {
		{ "switch", SWITCH, SWITCH }, { "waking", WAKING, WAKING },
		{ "irq", HARD, HARD_END },    { "softirq", SOFT, SOFT_END },
		{ "bio", BIO, BIO },	      { "block", BIO, COMPLETE },
		{ "values", VALUE, VALUE },
	};
	int i, nr = 1 + chance(0.3), w;

	while (nr--) {
		i = below(sizeof(kinds) / sizeof(*kinds));
		lack(",%s", kinds[i].name);
		for (w = kinds[i].first; w <= (int)kinds[i].last; w++)
			missing[w] = 1;
	}
}

/**
 * rec_write - write the recording
 * @gd: file to write to, after gd_init()
 * @path: its name
 * @is_complete: nothing is missing; otherwise kinds of events may be, or records of some
 *	CPUs from a random place on, which with BETWEEN_WINDOWS in the environment are not lost
 */
void rec_write(struct gd *gd, const char *path, int is_complete)
{
	int missing[WHATS] = { 0 };
	unsigned int i, lose_from[CPUS], lose[CPUS] = { 0 }, nr[CPUS] = { 0 };
	unsigned int at[CPUS] = { 0 };
	int losing = 0;

	if (!is_complete && chance(0.25))
		choose_missing(missing);
	gd_add_blocks(gd->td);
	td_add_event(gd->td, "ctlchart_debug", value_format);
	qsort(events, nr_events, sizeof(*events), by_cpu);
	for (i = 0; i < nr_events; i++)
		nr[events[i].cpu]++;
	if (!is_complete && chance(0.25)) {
		for (i = 0; i < CPUS; i++) {
			if (!nr[i] || !chance(0.5))
				continue;
			lose[i] = 1 + below(nr[i] / 5 + 1);
			lose_from[i] = below(nr[i]);
			losing = 1;
		}
	}
	if (losing)
		lack("%s", ",lost");
	for (i = 0; i < nr_events; i++) {
		const struct rec_event *e = &events[i];
		unsigned int n = at[e->cpu]++;

		if (lose[e->cpu] && n >= lose_from[e->cpu]) {
			if (n < lose_from[e->cpu] + lose[e->cpu])
				continue;
			/* Between two windows, nothing is lost */
			if (!getenv("BETWEEN_WINDOWS"))
				td_lose(gd->td, 0, e->cpu);
			lose[e->cpu] = 0;
		}
		if (!missing[e->what])
			write_event(gd, e);
	}
	for (i = 0; i < CPUS; i++)
		rec_dropped += lose[i];
	if (!td_save(gd->td, path)) {
		perror(path);
		exit(1);
	}
}

/**
 * rec_write_json - write the case.json of a recording
 * @dir: directory of the case
 * @c: its alarm
 */
void rec_write_json(const char *dir, const struct rec_case *c)
{
	FILE *f = gd_create(dir, "case.json");
	int i;

	fprintf(f,
		"{\"format\":\"tracerig-case\",\"version\":1,\"program\":\"recording\",\"case\":1,"
		"\"time\":\"2026-01-02T03:04:05.000000Z\",\"group\":\"g\",\"nth\":1,"
		"\"host\":{\"name\":\"h\",\"release\":\"6\",\"version\":\"v\",\"machine\":\"m\",\"cpus\":2,\"cmdline\":\"\",\"boot_id\":\"\"},"
		"\"chart\":{\"name\":\"c\",\"event\":\"%s\",\"filter\":\"\",\"unit\":\"ns\"},",
		c->sector ? "block_rq_complete" : "sys_exit_read");
	fprintf(f,
		"\"alarm\":{\"time\":%llu,\"cpu\":0,\"chart\":\"c\",\"start\":%llu,\"value\":%llu,\"center\":%.0f,\"limit\":%.0f,"
		"\"judged\":%llu,\"rules\":%u,\"pid\":%d,\"comm\":\"reader\",\"keys\":\"",
		(unsigned long long)c->end, (unsigned long long)c->start,
		(unsigned long long)(c->end - c->start), c->center, c->limit,
		(unsigned long long)c->judged, c->rules, THREAD);
	if (c->sector)
		fprintf(f, "dev=254:0 sector=%llu",
			(unsigned long long)c->sector);
	else
		fprintf(f, "common_pid=%d", THREAD);
	fprintf(f,
		"\",\"kept\":true},\"nr_alarms\":0,\"alarms\":[],\"values\":[");
	for (i = 0; i < c->values; i++)
		fprintf(f, "%s{\"time\":%d,\"value\":%.0f,\"limit\":%.0f}",
			i ? "," : "", i + 1, c->value[i], c->limit);
	fprintf(f,
		"],\"window\":{\"clock\":\"mono\",\"begin\":%llu,\"end\":%llu,\"cpus\":[]},"
		"\"losses\":{\"gaps\":0,\"lost\":0,\"dropped\":%u,\"overwritten\":0},\"missing\":[],\"files\":[]}\n",
		(unsigned long long)c->begin,
		(unsigned long long)c->end + 100000, rec_dropped);
	gd_close(f);
}

void rec_free(void)
{
	free(events);
}
