// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart_ref.h"
#include "prng.h"
#include "scenario.h"

enum {
	ID_BIO_QUEUE = 1001,
	ID_RQ_COMPLETE = 1003,
	ID_LAT = 1500,
	ID_ALARM = 1600,
	ID_VALUE = 1601,
	ID_LIMIT = 1602,
};

/* As in Linux 6.12; print formats are shortened. */
static const char bio_queue[] =
	"name: block_bio_queue\nID: 1001\nformat:\n" TD_COMMON
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:char rwbs[8];\toffset:28;\tsize:8;\tsigned:0;\n"
	"\tfield:char comm[16];\toffset:36;\tsize:16;\tsigned:0;\n"
	"\nprint fmt: \"%d,%d %s %llu + %u [%s]\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << 20) - 1))), REC->rwbs, (unsigned long long)REC->sector, REC->nr_sector, REC->comm\n";

static const char rq_complete[] =
	"name: block_rq_complete\nID: 1003\nformat:\n" TD_COMMON
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:int error;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned short ioprio;\toffset:32;\tsize:2;\tsigned:0;\n"
	"\tfield:char rwbs[8];\toffset:34;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] cmd;\toffset:44;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%d,%d %s (%s) %llu + %u [%d]\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << 20) - 1))), REC->rwbs, __get_str(cmd), (unsigned long long)REC->sector, REC->nr_sector, REC->error\n";

static const char lat[] = "name: lat\nID: 1500\nformat:\n" TD_COMMON
			  "\tfield:s64 lat;\toffset:8;\tsize:8;\tsigned:1;\n"
			  "\nprint fmt: \"lat=%lld\", REC->lat\n";

static const char alarm_format[] =
	"name: ctlchart_alarm\nID: 1600\nformat:\n" TD_COMMON
	"\tfield:u64 start;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 duration;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:40;\tsize:4;\tsigned:1;\n"
	"\tfield:u32 chart;\toffset:44;\tsize:4;\tsigned:0;\n"
	"\tfield:u16 rules;\toffset:48;\tsize:2;\tsigned:0;\n"
	"\tfield:u8 kept;\toffset:50;\tsize:1;\tsigned:0;\n"
	"\tfield:u8 limit_nr;\toffset:51;\tsize:1;\tsigned:0;\n"
	"\tfield:__data_loc u32[] keys;\toffset:52;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"chart=%u start=%llu duration=%llu limit_nr=%u rules=%s kept=%u pid=%d comm=%s keys=%s\", REC->chart, REC->start, REC->duration, REC->limit_nr, __print_flags(REC->rules, \"|\", { 0x001, \"limit\" }, { 0x100, \"overdue\" }), REC->kept, REC->pid, REC->comm, __print_array(__get_dynamic_array(keys), __get_dynamic_array_len(keys) / 4, 4)\n";

static const char limit_format[] =
	"name: ctlchart_limit\nID: 1602\nformat:\n" TD_COMMON
	"\tfield:u64 center;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 limit;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 values;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:u32 chart;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:u16 event;\toffset:36;\tsize:2;\tsigned:0;\n"
	"\tfield:u8 limit_nr;\toffset:38;\tsize:1;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] keys;\toffset:44;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"chart=%u name=%s center=%llu limit=%llu limit_nr=%u values=%llu event=%u keys=%s\", REC->chart, __get_str(name), REC->center, REC->limit, REC->limit_nr, REC->values, REC->event, __get_str(keys)\n";

static const char value_format[] =
	"name: ctlchart_value\nID: 1601\nformat:\n" TD_COMMON
	"\tfield:u64 time;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 start;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 duration;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 limit;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:u32 order;\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 rules;\toffset:44;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:48;\tsize:4;\tsigned:1;\n"
	"\tfield:u16 event;\toffset:52;\tsize:2;\tsigned:0;\n"
	"\tfield:u8 studied;\toffset:54;\tsize:1;\tsigned:0;\n"
	"\tfield:u8 kept;\toffset:55;\tsize:1;\tsigned:0;\n"
	"\tfield:__data_loc char[] chart;\toffset:56;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] keys;\toffset:60;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"chart=%s time=%llu start=%llu duration=%llu limit=%llu rules=0x%x order=%u studied=%u kept=%u pid=%d keys=%s\", __get_str(chart), REC->time, REC->start, REC->duration, REC->limit, REC->rules, REC->order, REC->studied, REC->kept, REC->pid, __get_str(keys)\n";

const struct sc_load sc_default_load = {
	.seed = 1,
	.healthy = 12000,
	.storm = 3000,
	.gap = 1000000,
	.step = 100000000, /* learn=10s, 100 samples */
	.group = 5,
	.groups = 20,
};

/* The limit event written last for a chart, as the kernel remembers it */
static struct told {
	char name[128], types[64];
	uint64_t center, limit, written;
	unsigned int limit_nr;
} told[16];
static unsigned int charts_told;

void sc_formats(struct td *td, bool with_alarms)
{
	td_add_event(td, "block", bio_queue);
	td_add_event(td, "block", rq_complete);
	td_add_event(td, "sched", td_sched_waking);
	td_add_event(td, "sched", td_sched_switch);
	td_add_event(td, "synthetic", lat);
	if (!with_alarms)
		return;
	td_add_event(td, "ctlchart", alarm_format);
	td_add_event(td, "ctlchart", limit_format);
	charts_told = 0;
}

static void bio_queue_in(struct td *td, unsigned int buffer, unsigned int cpu,
			 uint64_t ts, int pid, unsigned int dev,
			 uint64_t sector)
{
	char comm[16];
	struct td_record r;

	snprintf(comm, sizeof(comm), "reader-%d", pid);
	td_begin(&r, td, ID_BIO_QUEUE, pid, 56);
	td_put(&r, 8, dev, 4);
	td_put(&r, 16, sector, 8);
	td_put(&r, 24, 8, 4);
	td_put_bytes(&r, 28, "R", 8);
	td_put_bytes(&r, 36, comm, 16);
	td_write(td, buffer, cpu, ts, &r);
}

static void rq_complete_in(struct td *td, unsigned int buffer, unsigned int cpu,
			   uint64_t ts, int pid, unsigned int dev,
			   uint64_t sector)
{
	struct td_record r;

	td_begin(&r, td, ID_RQ_COMPLETE, pid, 48);
	td_put(&r, 8, dev, 4);
	td_put(&r, 16, sector, 8);
	td_put(&r, 24, 8, 4);
	td_put_bytes(&r, 34, "R", 8);
	td_put_string(&r, 44, "");
	td_write(td, buffer, cpu, ts, &r);
}

void sc_bio_queue(struct td *td, unsigned int cpu, uint64_t ts, int pid,
		  unsigned int dev, uint64_t sector)
{
	bio_queue_in(td, 0, cpu, ts, pid, dev, sector);
}

void sc_rq_complete(struct td *td, unsigned int cpu, uint64_t ts, int pid,
		    unsigned int dev, uint64_t sector)
{
	rq_complete_in(td, 0, cpu, ts, pid, dev, sector);
}

void sc_lat(struct td *td, unsigned int cpu, uint64_t ts, int pid, int64_t v)
{
	struct td_record r;

	td_begin(&r, td, ID_LAT, pid, 16);
	td_put(&r, 8, v, 8);
	td_write(td, 0, cpu, ts, &r);
}

void sc_waking(struct td *td, unsigned int cpu, uint64_t ts, int pid,
	       const char *comm, int target)
{
	struct td_record r;

	td_begin(&r, td, TD_ID_WAKING, pid, 36);
	td_put_bytes(&r, 8, comm, 16);
	td_put(&r, 24, target, 4);
	td_put(&r, 28, 120, 4);
	td_put(&r, 32, cpu, 4);
	td_write(td, 0, cpu, ts, &r);
}

void sc_switch(struct td *td, unsigned int cpu, uint64_t ts, int prev,
	       const char *next_comm, int next)
{
	struct td_record r;

	td_begin(&r, td, TD_ID_SWITCH, prev, 64);
	td_put(&r, 24, prev, 4);
	td_put(&r, 28, 120, 4);
	td_put_bytes(&r, 40, next_comm, 16);
	td_put(&r, 56, next, 4);
	td_put(&r, 60, 120, 4);
	td_write(td, 0, cpu, ts, &r);
}

/* "system:event", or "#id" of one that the trace does not describe */
static unsigned int event_id(const char *name)
{
	if (!strcmp(name, SC_BLOCK_EVENT))
		return ID_RQ_COMPLETE;
	if (!strcmp(name, "synthetic:lat"))
		return ID_LAT;
	return strtoul(name + 1, NULL, 10);
}

/* "u64" and so on: dev has 4 bytes in the block events, and sector 8 */
static const char *key_type(const char *key, const char *value)
{
	char behind = value[strspn(value, "-0123456789")];

	if (!*value || (behind && behind != ' '))
		return "string";
	if (*value == '-')
		return "s32";
	if (!strncmp(key, "sector=", 7) || strtoull(value, NULL, 10) >> 32)
		return "u64";
	return "u32";
}

/* A string is the last key */
static void put_keys(struct td_record *r, size_t offset, const char *keys,
		     char *types)
{
	size_t begin = r->len, size;
	const char *value, *type;
	char *end;

	*types = '\0';
	while (*keys) {
		value = strchr(keys, '=') + 1;
		type = key_type(keys, value);
		types += sprintf(types, "%.*s:%s ", (int)(value - 1 - keys),
				 keys, type);
		if (*type == 's' && type[1] == 't') {
			size = (strlen(value) / 4 + 1) * 4;
			td_put_bytes(r, r->len, value, size);
			r->len += size;
			break;
		}
		size = strstr(type, "64") ? 8 : 4;
		td_put(r, r->len, strtoull(value, &end, 10), size);
		r->len += size;
		keys = end + (*end == ' ');
	}
	if (r->len > begin)
		types[-1] = '\0';
	td_put(r, offset, (r->len - begin) << 16 | begin, 4);
}

static void put_limit(struct td *td, unsigned int cpu, uint64_t ts,
		      const struct sc_alarm_event *a, const struct told *t)
{
	struct td_record r;

	td_begin(&r, td, ID_LIMIT, 0, 48);
	td_put(&r, 8, a->center, 8);
	td_put(&r, 16, a->limit, 8);
	td_put(&r, 24, a->values, 8);
	td_put(&r, 32, t - told + 1, 4);
	td_put(&r, 36, event_id(a->event), 2);
	td_put(&r, 38, t->limit_nr, 1);
	td_put_string(&r, 40, t->name);
	td_put_string(&r, 44, t->types);
	td_write(td, 0, cpu, ts, &r);
}

/* Write the limit before an alarm, as often as the kernel does */
static struct told *tell(struct td *td, unsigned int cpu, uint64_t ts,
			 const struct sc_alarm_event *a, const char *types)
{
	struct told *t = told;

	while (t < &told[charts_told] &&
	       (strcmp(t->name, a->chart) || strcmp(t->types, types)))
		t++;
	if (t == &told[charts_told]) {
		charts_told++;
		memset(t, 0, sizeof(*t));
		snprintf(t->name, sizeof(t->name), "%s", a->chart);
		snprintf(t->types, sizeof(t->types), "%s", types);
	}
	if (!t->limit_nr || t->center != a->center || t->limit != a->limit) {
		t->center = a->center;
		t->limit = a->limit;
		t->limit_nr++;
		t->written = 0;
	}
	if (!a->silent && ts - t->written >= 2000000000) {
		put_limit(td, cpu, ts, a, t);
		t->written = ts;
	}
	return t;
}

void sc_alarm_event(struct td *td, unsigned int cpu, uint64_t ts,
		    const struct sc_alarm_event *a)
{
	struct td_record r;
	char types[256];
	struct told *t;

	td_begin(&r, td, ID_ALARM, 0, 56);
	put_keys(&r, 52, a->keys, types);
	t = tell(td, cpu, ts, a, types);
	if (!a->comm)
		return;
	td_put(&r, 8, a->start, 8);
	td_put(&r, 16, a->duration, 8);
	td_put_bytes(&r, 24, a->comm, 16);
	td_put(&r, 40, (uint32_t)a->pid, 4);
	td_put(&r, 44, t - told + 1, 4);
	td_put(&r, 48, a->rules, 2);
	td_put(&r, 50, a->kept, 1);
	td_put(&r, 51, t->limit_nr, 1);
	td_write(td, 0, cpu, ts, &r);
}

void sc_value_format(struct td *td)
{
	td_add_event(td, "ctlchart_debug", value_format);
}

void sc_value_event(struct td *td, unsigned int cpu, uint64_t ts,
		    const struct sc_value_event *v)
{
	struct td_record r;

	td_begin(&r, td, ID_VALUE, 0, 64);
	td_put(&r, 8, v->time, 8);
	td_put(&r, 16, v->start, 8);
	td_put(&r, 24, v->duration, 8);
	td_put(&r, 32, v->limit ? v->limit : UINT64_MAX, 8);
	td_put(&r, 40, v->order, 4);
	td_put(&r, 44, v->rules, 4);
	td_put(&r, 48, 1001, 4);
	td_put(&r, 52, event_id(v->event), 2);
	td_put(&r, 54, v->studied, 1);
	td_put(&r, 55, v->kept, 1);
	td_put_string(&r, 56, v->chart);
	td_put_string(&r, 60, v->keys);
	td_write(td, 0, cpu, ts, &r);
}

static double rnd(uint64_t *seed)
{
	return unit_interval(xorshift64_star(seed));
}

static double rnd_normal(uint64_t *seed)
{
	double a = rnd(seed);

	return sqrt(-2 * log(a)) * cos(2 * M_PI * rnd(seed));
}

struct read {
	uint64_t start;
	uint64_t end;
	int pid;
	uint64_t sector;
};

static struct read *make_reads(const struct sc_load *load)
{
	unsigned int n = load->healthy + load->storm, i;
	struct read *reads = calloc(n, sizeof(*reads));
	uint64_t seed = load->seed;

	if (!reads)
		abort();
	for (i = 0; i < n; i++) {
		double normal = rnd_normal(&seed), which = rnd(&seed);
		double slow = rnd(&seed);
		uint64_t ns = 14e6 * exp(0.25 * normal);

		if (i >= load->healthy && which < 0.1)
			ns = 5e8 + 7.5e9 * slow;
		reads[i].end = SC_BASE + 10000000000ULL + i * load->gap;
		reads[i].start = reads[i].end - ns;
		reads[i].pid = 1000 + i % 300;
		reads[i].sector = 8 * (uint64_t)i;
	}
	return reads;
}

static int by_duration(const void *a, const void *b)
{
	const struct sc_alarm *x = a, *y = b;

	return (x->duration < y->duration) - (x->duration > y->duration);
}

/*
 * When the next value is to be taken, from the first one on: in the middle of a
 * step, and from then on at a random point of each.
 */
static long double next_due(const struct sc_load *load, long double due,
			    uint32_t *random)
{
	uint32_t before = *random;

	*random = *random * 1664525 + 1013904223;
	if (!due)
		return load->step / 2.0L;
	return due +
	       load->step * (1 + ((long double)*random - before) / 0x1p32L);
}

static void find_truth(const struct sc_load *load, const struct read *reads,
		       struct sc_truth *truth)
{
	unsigned int n = load->healthy + load->storm, i, taken = 0;
	unsigned int samples = load->group * load->groups;
	uint64_t *value = calloc(samples, sizeof(*value)), ucl;
	struct ref_limits l;
	long double due = 0;
	uint32_t random = 0;

	memset(truth, 0, sizeof(*truth));
	truth->values = n;
	truth->alarm = calloc(n, sizeof(*truth->alarm));
	if (!value || !truth->alarm)
		abort();
	for (i = 0; i < n && taken < samples; i++) {
		truth->learnt++;
		if ((uint64_t)i * load->gap < due)
			continue;
		value[taken++] = reads[i].end - reads[i].start;
		due = next_due(load, due, &random);
	}
	if (taken < samples)
		abort();
	l = ref_chart(
		value, load->group, load->groups, load->median, !load->linear,
		load->median || load->linear ? 1 : ref_guard(value, samples));
	free(value);
	truth->center = l.center;
	truth->ucl = l.ucl;
	ucl = l.ucl;
	for (; i < n; i++) {
		const struct read *r = &reads[i];

		if (r->end - r->start <= ucl)
			continue;
		truth->alarm[truth->alarms++] =
			(struct sc_alarm){ r->end, r->start, r->end - r->start,
					   r->pid, r->sector };
	}
	if (truth->alarms < SC_WORST)
		abort();
	qsort(truth->alarm, truth->alarms, sizeof(*truth->alarm), by_duration);
	memcpy(truth->worst, truth->alarm, sizeof(truth->worst));
}

void sc_free(struct sc_truth *truth)
{
	free(truth->alarm);
}

struct moment {
	uint64_t ts;
	const struct read *read;
};

static int by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	return (x->ts > y->ts) - (x->ts < y->ts);
}

void sc_block(struct td *td, unsigned int buffer, const struct sc_load *load,
	      struct sc_truth *truth)
{
	unsigned int n = load->healthy + load->storm, i;
	struct read *reads = make_reads(load);
	struct moment *h = calloc(2 * n, sizeof(*h));

	if (!h)
		abort();
	find_truth(load, reads, truth);
	for (i = 0; i < n; i++) {
		h[2 * i] = (struct moment){ reads[i].start, &reads[i] };
		h[2 * i + 1] = (struct moment){ reads[i].end, &reads[i] };
	}
	qsort(h, 2 * n, sizeof(*h), by_time);
	for (i = 0; i < 2 * n; i++) {
		const struct read *r = h[i].read;

		if (h[i].ts == r->start)
			bio_queue_in(td, buffer, r->pid % td->cpus, h[i].ts,
				     r->pid, SC_BLOCK_DEV, r->sector);
		else
			rq_complete_in(td, buffer, r->sector / 8 % td->cpus,
				       h[i].ts, 0, SC_BLOCK_DEV, r->sector);
	}
	free(h);
	free(reads);
}

void sc_alarms(struct td *td, const struct sc_load *load,
	       struct sc_truth *truth)
{
	struct read *reads = make_reads(load);
	unsigned int n = load->healthy + load->storm, i;

	find_truth(load, reads, truth);
	for (i = truth->learnt; i < n; i++) {
		const struct read *r = &reads[i];
		unsigned int cpu = i % td->cpus;
		char keys[64], comm[16];
		struct sc_alarm_event a = {
			.start = r->start,
			.duration = r->end - r->start,
			.center = truth->center,
			.limit = truth->ucl,
			.values = i - truth->learnt + 1,
			.rules = 1,
			.pid = r->pid,
			.comm = comm,
			.kept = true,
			.chart = SC_BLOCK_CHART,
			.event = SC_BLOCK_EVENT,
			.keys = keys,
		};

		if (a.duration <= a.limit)
			continue;
		snprintf(comm, sizeof(comm), "reader-%d", r->pid);
		snprintf(keys, sizeof(keys), "dev=%u sector=%llu", SC_BLOCK_DEV,
			 (unsigned long long)r->sector);
		rq_complete_in(td, 0, cpu, r->end, 0, SC_BLOCK_DEV, r->sector);
		sc_alarm_event(td, cpu, r->end + 500, &a);
	}
	free(reads);
}
