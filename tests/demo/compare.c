// SPDX-License-Identifier: GPL-2.0
/*
 * compare DIRECTORY: compare the demo's recordings, which tests/demo/guest left
 * in DIRECTORY, with each other and with what the reading processes measured.
 *
 * Prints the comparison, writes summary.json and pictures beside them, and
 * fails if a promise of the demo was not kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace-cmd/trace-cmd.h>
#include <unistd.h>

#include "plot.h"
#include "tracefile.h"

#define NSEC_PER_SEC 1000000000ull
#define PAGE 4096
#define WORST 10

/* The promises */
#define STORM_RATIO 10
#define CALM_RATIO 100

/**
 * struct one_read - a read as its process saw it
 * @pid:	the process
 * @start:	when it began, ns of CLOCK_MONOTONIC
 * @end:	when it returned
 * @sector:	where
 * @duration:	what the alarm in the log says, ns; 0: none
 * @logged:	its completion is in the log of the defaults
 * @device:	its completion is in the log of the paper's settings
 */
struct one_read {
	int pid;
	uint64_t start;
	uint64_t end;
	uint64_t sector;
	uint64_t duration;
	bool logged;
	bool device;
};

struct reads {
	struct one_read *read;
	size_t nr;
	size_t slow; /* of more than a second: these come first, the worst first */
	uint64_t begin;
};

/**
 * struct completion - a block_rq_complete in a log
 * @ts:		when, ns
 * @sector:	where
 * @duration:	of the alarm that follows it on its CPU, ns; 0: none
 * @taken:	it is some read's already
 */
struct completion {
	uint64_t ts;
	uint64_t sector;
	uint64_t duration;
	bool taken;
};

/**
 * struct log - what reached the file from one trace buffer
 * @events:	number of events
 * @alarms:	how many of them are ctlchart_alarm
 * @event_bytes: bytes of events in the ring's pages
 * @bytes:	bytes of ring pages
 * @lost:	events were overwritten before they were read
 * @done:	the completions, by time
 * @nr_done:	number of them
 * @ts:		time of each event
 * @sum:	bytes of events up to it
 */
struct log {
	size_t events;
	size_t alarms;
	uint64_t event_bytes;
	uint64_t bytes;
	bool lost;
	struct completion *done;
	size_t nr_done;
	uint64_t *ts;
	uint64_t *sum;
	/* while reading: */
	uint64_t *page; /* file offsets of pages seen last, by CPU */
	size_t *last_done; /* last completion by CPU, plus 1 */
	int cpus;
};

/**
 * struct cpu_shares - user, system, iowait, idle, in per cent of the CPUs' time
 */
struct cpu_shares {
	double user;
	double system;
	double iowait;
	double idle;
};

/* Samples of it: shares between two, time at the end of each */
struct cpu_log {
	struct cpu_shares all;
	size_t nr;
	double *at;
	double *busy; /* user and system */
	double *iowait;
	double *idle;
};

static const char *dir;

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "compare: ");
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

/* Make room for one more in an array that grows by powers of two. */
static void *grow(void *array, size_t nr, size_t size)
{
	if (nr && (nr & (nr - 1)))
		return array;
	array = reallocarray(array, nr ? 2 * nr : 1, size);
	if (!array)
		die("no memory");
	return array;
}

static char *path_of(const char *name, const char *suffix)
{
	char *path;

	if (asprintf(&path, "%s/%s%s", dir, name, suffix) < 0)
		die("no memory");
	return path;
}

static FILE *open_file(const char *path, const char *mode)
{
	FILE *file = fopen(path, mode);

	if (!file)
		die("%s: %s", path, strerror(errno));
	return file;
}

static void close_written(FILE *file, const char *path)
{
	bool bad = ferror(file);

	if (fclose(file) || bad)
		die("%s: %s", path, strerror(errno));
}

/* ------------------------------------------------------------------------- */
/* What the processes measured */

static int by_wait(const void *a, const void *b)
{
	const struct one_read *x = a, *y = b;
	uint64_t wx = x->end - x->start, wy = y->end - y->start;

	return wx < wy ? 1 : wx > wy ? -1 : 0;
}

static struct reads load_reads(const char *name)
{
	struct reads reads = { .begin = UINT64_MAX };
	char *path = path_of(name, ".reads"), line[200];
	FILE *file = open_file(path, "r");
	size_t number = 0;

	while (fgets(line, sizeof(line), file)) {
		struct one_read r = { 0 };

		number++;
		if (line[0] == '#')
			continue;
		if (sscanf(line, "%d %" SCNu64 " %" SCNu64 " %" SCNu64, &r.pid,
			   &r.start, &r.end, &r.sector) != 4 ||
		    r.end < r.start)
			die("%s:%zu: not a read", path, number);
		reads.read = grow(reads.read, reads.nr, sizeof(r));
		reads.read[reads.nr++] = r;
		if (r.start < reads.begin)
			reads.begin = r.start;
	}
	if (ferror(file))
		die("%s: %s", path, strerror(errno));
	fclose(file);
	if (!reads.nr)
		die("%s: no reads", path);
	free(path);
	qsort(reads.read, reads.nr, sizeof(*reads.read), by_wait);
	while (reads.slow < reads.nr &&
	       reads.read[reads.slow].end - reads.read[reads.slow].start >
		       NSEC_PER_SEC)
		reads.slow++;
	return reads;
}

/* The eight counters of /proc/stat that make up the CPUs' time */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, NR_TIMES };

static struct cpu_shares shares(const uint64_t *from, const uint64_t *to)
{
	double d[NR_TIMES], all = 0;
	int i;

	for (i = 0; i < NR_TIMES; i++) {
		/* iowait may go backwards, says proc(5) */
		d[i] = to[i] > from[i] ? to[i] - from[i] : 0;
		all += d[i];
	}
	if (!all)
		all = 1;
	return (struct cpu_shares){
		.user = 100 * (d[USER] + d[NICE]) / all,
		.system = 100 * (d[SYSTEM] + d[IRQ] + d[SOFTIRQ]) / all,
		.iowait = 100 * d[IOWAIT] / all,
		.idle = 100 * d[IDLE] / all,
	};
}

static struct cpu_log load_cpu(const char *name)
{
	uint64_t first[NR_TIMES], last[NR_TIMES], t[NR_TIMES], at, begin = 0;
	char *path = path_of(name, ".cpu"), line[300];
	FILE *file = open_file(path, "r");
	struct cpu_log log = { 0 };
	size_t samples = 0;

	while (fgets(line, sizeof(line), file)) {
		struct cpu_shares s;

		if (line[0] == '#')
			continue;
		if (sscanf(line,
			   "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			   " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			   " %" SCNu64,
			   &at, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6],
			   &t[7]) != 1 + NR_TIMES)
			die("%s: not CPU times: %s", path, line);
		if (!samples++) {
			memcpy(first, t, sizeof(t));
			begin = at;
		} else {
			s = shares(last, t);
			log.at = grow(log.at, log.nr, sizeof(double));
			log.busy = grow(log.busy, log.nr, sizeof(double));
			log.iowait = grow(log.iowait, log.nr, sizeof(double));
			log.idle = grow(log.idle, log.nr, sizeof(double));
			log.at[log.nr] = (double)(at - begin) / NSEC_PER_SEC;
			log.busy[log.nr] = s.user + s.system;
			log.iowait[log.nr] = s.iowait;
			log.idle[log.nr++] = s.idle;
		}
		memcpy(last, t, sizeof(t));
	}
	fclose(file);
	if (samples < 2)
		die("%s: no CPU times", path);
	free(path);
	log.all = shares(first, last);
	return log;
}

/* ------------------------------------------------------------------------- */
/* What was recorded */

static void add_completion(struct log *log, struct tep_event *event,
			   struct tep_record *rec)
{
	unsigned long long sector;

	if (tep_get_field_val(NULL, event, "sector", rec, &sector, 0))
		die("block_rq_complete has no sector");
	log->done = grow(log->done, log->nr_done, sizeof(*log->done));
	log->done[log->nr_done++] =
		(struct completion){ .ts = rec->ts, .sector = sector };
	log->last_done[rec->cpu] = log->nr_done;
}

/* An alarm comes right after its completion on the same CPU, if that was kept. */
static void add_alarm(struct log *log, struct tep_event *event,
		      struct tep_record *rec)
{
	unsigned long long duration, kept;

	if (tep_get_field_val(NULL, event, "duration", rec, &duration, 0) ||
	    tep_get_field_val(NULL, event, "kept", rec, &kept, 0))
		die("ctlchart_alarm has no duration or kept");
	log->alarms++;
	if (!kept)
		return;
	if (!log->last_done[rec->cpu])
		die("an alarm without the completion that it was raised for");
	log->done[log->last_done[rec->cpu] - 1].duration = duration;
	log->last_done[rec->cpu] = 0;
}

static int add_event(struct tracecmd_input *in, struct tep_record *rec, int cpu,
		     void *data)
{
	struct tep_event *event =
		tep_find_event_by_record(tracecmd_get_tep(in), rec);
	uint64_t page = rec->offset / PAGE;
	struct log *log = data;

	if (cpu >= log->cpus)
		die("an event of CPU %d", cpu);
	if (rec->missed_events)
		log->lost = true;
	if (log->page[cpu] != page) {
		log->page[cpu] = page;
		log->bytes += PAGE;
	}
	log->event_bytes += rec->record_size;
	log->ts = grow(log->ts, log->events, sizeof(*log->ts));
	log->sum = grow(log->sum, log->events, sizeof(*log->sum));
	log->ts[log->events] = rec->ts;
	log->sum[log->events++] = log->event_bytes;
	if (event && !strcmp(event->name, "block_rq_complete"))
		add_completion(log, event, rec);
	else if (event && !strcmp(event->name, "ctlchart_alarm"))
		add_alarm(log, event, rec);
	return 0;
}

/* load_log - read one buffer of a file; NULL is the main one */
static void load_log(struct tracecmd_input *in, const char *path,
		     const char *instance, struct log *log)
{
	struct tracecmd_input *buffer = in;
	int i;

	*log = (struct log){ 0 };
	if (instance) {
		for (i = 0; i < tracecmd_buffer_instances(in); i++) {
			if (!strcmp(tracecmd_buffer_instance_name(in, i),
				    instance))
				break;
		}
		buffer = tracecmd_buffer_instance_handle(in, i);
		if (!buffer)
			die("%s: no instance %s", path, instance);
	}
	log->cpus = tep_get_cpus(tracecmd_get_tep(in));
	log->page = calloc(log->cpus, sizeof(*log->page));
	log->last_done = calloc(log->cpus, sizeof(*log->last_done));
	if (!log->page || !log->last_done)
		die("no memory");
	if (tracecmd_iterate_events(buffer, NULL, 0, add_event, log))
		die("%s: cannot be read", path);
	if (buffer != in)
		tracecmd_close(buffer);
	free(log->page);
	free(log->last_done);
	if (log->lost)
		die("%s: events were lost while recording%s%s", path,
		    instance ? ", in " : "", instance ? instance : "");
}

/**
 * struct file - one trace.dat
 * @main:	its main buffer
 * @paper:	the instance of the paper's settings, if it has one
 * @plain:	the instance of plain ftrace, if it has one
 * @metadata:	all bytes of the file that are not of the ring
 */
struct file {
	struct log main;
	struct log paper;
	struct log plain;
	uint64_t metadata;
};

static struct file load_file(const char *name, bool paper, bool plain)
{
	char *path = path_of(name, ".dat");
	struct tracefile_error error;
	struct tracefile_info info;
	struct tracecmd_input *in;
	struct file file = { 0 };
	uint64_t sum;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	if (!tracefile_check(fd, &info, &error))
		die("%s: %s", path, error.reason);
	tracefile_free(&info);
	close(fd);
	in = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!in)
		die("%s: cannot be read", path);
	load_log(in, path, NULL, &file.main);
	if (paper)
		load_log(in, path, "paper", &file.paper);
	if (plain)
		load_log(in, path, "plain", &file.plain);
	tracecmd_close(in);
	/* Pages are counted by the events in them, and once by the file's index. */
	sum = file.main.bytes + file.paper.bytes + file.plain.bytes;
	if (sum != info.data)
		die("%s: %" PRIu64 " bytes of pages with events, but %" PRIu64
		    " bytes of pages",
		    path, sum, info.data);
	file.metadata = info.size - info.data;
	free(path);
	return file;
}

/* number_of - the number after @before in what the chart said of itself */
static uint64_t number_of(const char *name, const char *chart,
			  const char *before)
{
	char *path = path_of(name, chart), line[300];
	FILE *file = open_file(path, "r");
	uint64_t value;

	while (fgets(line, sizeof(line), file)) {
		char *at = strstr(line, before);

		if (at &&
		    sscanf(at + strlen(before), "%" SCNu64, &value) == 1) {
			fclose(file);
			free(path);
			return value;
		}
	}
	die("%s: no %s", path, before);
}

/* The log and the chart's own account must tell the same number of alarms. */
static void check_alarms(const char *name, const char *chart,
			 const struct log *log)
{
	uint64_t account = number_of(name, chart, "alarms: ");

	if (account != log->alarms)
		die("%s%s counts %" PRIu64 " alarms, and %zu are in the log",
		    name, chart, account, log->alarms);
}

/* A read's completion: of its sector, between its start and its end. */
static struct completion *find_completion(struct log *log,
					  const struct one_read *r)
{
	size_t low = 0, high = log->nr_done, i;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (log->done[mid].ts < r->start)
			low = mid + 1;
		else
			high = mid;
	}
	for (i = low; i < log->nr_done && log->done[i].ts <= r->end; i++) {
		if (log->done[i].sector == r->sector && !log->done[i].taken) {
			log->done[i].taken = true;
			return &log->done[i];
		}
	}
	return NULL;
}

/* Sets which of the slow reads are in the logs; returns how many. */
static void match(struct reads *reads, struct file *file, size_t *whole,
		  size_t *device)
{
	size_t i;

	*whole = *device = 0;
	for (i = 0; i < reads->slow; i++) {
		struct one_read *r = &reads->read[i];
		struct completion *done = find_completion(&file->main, r);

		if (done) {
			r->logged = true;
			r->duration = done->duration;
			++*whole;
		}
		r->device = find_completion(&file->paper, r);
		*device += r->device;
	}
}

/* ------------------------------------------------------------------------- */
/* Results */

struct result {
	struct file calm;
	struct file plain;
	struct file chart;
	struct reads calm_reads;
	struct reads plain_reads;
	struct reads reads;
	struct cpu_log cpu_plain;
	struct cpu_log cpu_chart;
	size_t found;
	size_t found_paper;
};

static void print_ratio(uint64_t plain, uint64_t log)
{
	if (log)
		printf("  %10.1fx", (double)plain / log);
	else
		printf("  %11s", "nothing");
}

static void print_row(const char *what, const struct log *plain,
		      const struct log *log)
{
	printf("  %-42s %7zu %8zu %11" PRIu64, what, log->events, log->alarms,
	       log->bytes);
	print_ratio(plain->bytes, log->bytes);
	print_ratio(plain->event_bytes, log->event_bytes);
	putchar('\n');
}

static void print_logs(const char *title, const struct log *plain,
		       const struct log *whole, const struct log *paper)
{
	printf("\n%s\n  %-42s %7s %8s %11s  %11s  %11s\n", title, "", "events",
	       "alarms", "ring bytes", "smaller", "by events");
	print_row("plain ftrace", plain, plain);
	print_row("ctlchart, defaults, whole time", plain, whole);
	print_row("ctlchart, paper's settings, device time", plain, paper);
}

static void print_cpu(const char *what, const struct cpu_shares *c)
{
	printf("  %-42s %6.1f%% %7.1f%% %7.1f%% %7.1f%%\n", what, c->user,
	       c->system, c->iowait, c->idle);
}

static void print_worst(const struct result *r)
{
	size_t i;

	printf("\nthe worst reads of that storm, as their processes measured them\n"
	       "  %7s %10s %12s %14s %12s %15s\n",
	       "pid", "at s", "waited s", "alarm says s", "in the log",
	       "paper's log");
	for (i = 0; i < WORST && i < r->reads.slow; i++) {
		const struct one_read *one = &r->reads.read[i];

		printf("  %7d %10.3f %12.3f", one->pid,
		       (double)(one->start - r->reads.begin) / NSEC_PER_SEC,
		       (double)(one->end - one->start) / NSEC_PER_SEC);
		if (one->duration)
			printf(" %14.3f", (double)one->duration / NSEC_PER_SEC);
		else
			printf(" %14s", "-");
		printf(" %12s %15s\n", one->logged ? "yes" : "NO",
		       one->device ? "yes" : "no");
	}
}

static void print_result(const struct result *r)
{
	char title[200];

	snprintf(title, sizeof(title),
		 "healthy load: %zu reads, %zu of more than a second",
		 r->calm_reads.nr, r->calm_reads.slow);
	print_logs(title, &r->calm.plain, &r->calm.main, &r->calm.paper);
	snprintf(
		title, sizeof(title),
		"storm: %zu reads, %zu of more than a second (plain ftrace's: %zu, %zu)",
		r->reads.nr, r->reads.slow, r->plain_reads.nr,
		r->plain_reads.slow);
	print_logs(title, &r->plain.main, &r->chart.main, &r->chart.paper);
	printf("\n  %-42s %7s %8s %8s %8s\n", "CPUs in the storm", "user",
	       "system", "iowait", "idle");
	print_cpu("plain ftrace", &r->cpu_plain.all);
	print_cpu("ctlchart (both charts)", &r->cpu_chart.all);
	printf("\n  a trace.dat's fixed metadata, not counted above: %.1f MB\n",
	       r->chart.metadata / 1e6);
	print_worst(r);
	printf("\nwhole time, defaults (limit %.1f ms): caught %zu of the %zu reads of more than a second in %zu alarms of %zu reads.\n",
	       number_of("ctlchart", ".whole", "limit: ") / 1e6, r->found,
	       r->reads.slow, r->chart.main.alarms, r->reads.nr);
	printf("device time, paper's settings (limit %.1f ms): caught %zu of them, missed %zu, in %zu alarms: a read waits before the device gets it.\n",
	       number_of("ctlchart", ".paper", "limit: ") / 1e6, r->found_paper,
	       r->reads.slow - r->found_paper, r->chart.paper.alarms);
}

static void add_int(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_int64(value));
}

static void add_cpu(struct json_object *o, const char *key,
		    const struct cpu_shares *c)
{
	const struct {
		const char *name;
		double value;
	} share[] = {
		{ "user", c->user },
		{ "system", c->system },
		{ "iowait", c->iowait },
		{ "idle", c->idle },
	};
	struct json_object *cpu = json_object_new_object();
	size_t i;
	char text[20];

	for (i = 0; i < sizeof(share) / sizeof(*share); i++) {
		snprintf(text, sizeof(text), "%.2f", share[i].value);
		json_object_object_add(cpu, share[i].name,
				       json_object_new_double_s(share[i].value,
								text));
	}
	json_object_object_add(o, key, cpu);
}

static void write_summary(const struct result *r)
{
	struct json_object *o = json_object_new_object();
	char *path = path_of("summary", ".json");

	add_int(o, "plain_bytes", r->plain.main.bytes);
	add_int(o, "ctlchart_bytes", r->chart.main.bytes);
	add_int(o, "paper_bytes", r->chart.paper.bytes);
	add_int(o, "plain_event_bytes", r->plain.main.event_bytes);
	add_int(o, "ctlchart_event_bytes", r->chart.main.event_bytes);
	add_int(o, "paper_event_bytes", r->chart.paper.event_bytes);
	add_int(o, "plain_events", r->plain.main.events);
	add_int(o, "ctlchart_events", r->chart.main.events);
	add_int(o, "paper_events", r->chart.paper.events);
	add_int(o, "plain_reads", r->plain_reads.nr);
	add_int(o, "ctlchart_reads", r->reads.nr);
	add_int(o, "alarms", r->chart.main.alarms);
	add_int(o, "paper_alarms", r->chart.paper.alarms);
	add_int(o, "limit_ns", number_of("ctlchart", ".whole", "limit: "));
	add_int(o, "paper_limit_ns",
		number_of("ctlchart", ".paper", "limit: "));
	add_int(o, "slow_reads", r->reads.slow);
	add_int(o, "slow_reads_found", r->found);
	add_int(o, "paper_slow_reads_found", r->found_paper);
	add_int(o, "calm_reads", r->calm_reads.nr);
	add_int(o, "calm_bytes_plain", r->calm.plain.bytes);
	add_int(o, "calm_bytes_ctlchart", r->calm.main.bytes);
	add_int(o, "calm_bytes_paper", r->calm.paper.bytes);
	add_int(o, "metadata_bytes", r->chart.metadata);
	add_cpu(o, "cpu_plain", &r->cpu_plain.all);
	add_cpu(o, "cpu_ctlchart", &r->cpu_chart.all);
	if (json_object_to_file_ext(
		    path, o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED))
		die("%s: %s", path, json_util_get_last_err());
	json_object_put(o);
	free(path);
}

/* The sizes of a log over time, in MB, as a line. */
static struct plot_line size_line(const char *label, const struct log *log,
				  uint64_t begin)
{
	double *x = calloc(log->events + 1, sizeof(*x)),
	       *y = calloc(log->events + 1, sizeof(*y));
	size_t i, nr = 1;

	if (!x || !y)
		die("no memory");
	for (i = 0; i < log->events; i++) {
		double at = log->ts[i] > begin ? (double)(log->ts[i] - begin) /
							 NSEC_PER_SEC :
						 0;

		/* A twentieth of a second is less than a pixel. */
		if (i + 1 < log->events && at < x[nr - 1] + 0.05)
			continue;
		x[nr] = at;
		y[nr++] = log->sum[i] / 1e6;
	}
	return (struct plot_line){ label, nr, x, y };
}

static void write_plot(const char *name, const struct plot_panel *panel,
		       size_t nr)
{
	char *path = path_of(name, ".svg");
	FILE *file = open_file(path, "w");

	plot_write(file, panel, nr);
	close_written(file, path);
	free(path);
}

static void write_plots(const struct result *r)
{
	const struct cpu_log *p = &r->cpu_plain, *c = &r->cpu_chart;
	struct plot_panel size = {
		.title = "Log of the storm: events in the ring that reached the file",
		.unit = " MB",
		.line = {
			size_line("plain ftrace", &r->plain.main, r->plain_reads.begin),
			size_line("ctlchart, defaults", &r->chart.main, r->reads.begin),
			size_line("ctlchart, paper's settings", &r->chart.paper, r->reads.begin),
		},
		.nr = 3,
	};
	struct plot_panel cpu[] = {
		{ "CPUs waiting for I/O in the storm",
		  "%",
		  100,
		  { { "plain ftrace", p->nr, p->at, p->iowait },
		    { "ctlchart", c->nr, c->at, c->iowait } },
		  2 },
		{ "CPUs idle in the storm",
		  "%",
		  100,
		  { { "plain ftrace", p->nr, p->at, p->idle },
		    { "ctlchart", c->nr, c->at, c->idle } },
		  2 },
		{ "CPUs busy (user and system) in the storm",
		  "%",
		  100,
		  { { "plain ftrace", p->nr, p->at, p->busy },
		    { "ctlchart", c->nr, c->at, c->busy } },
		  2 },
	};

	write_plot("log-size", &size, 1);
	write_plot("cpu", cpu, sizeof(cpu) / sizeof(*cpu));
}

static int broken(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
static int broken(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "demo: FAILED: ");
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 1;
}

/* Which promises were not kept; returns their number. */
static int check(const struct result *r)
{
	int bad = 0;

	if (!r->reads.slow || !r->plain_reads.slow)
		bad += broken(
			"no read took more than a second: there was no storm");
	if (r->calm_reads.slow)
		bad += broken(
			"%zu reads of the healthy load took more than a second: this machine is too busy",
			r->calm_reads.slow);
	if (r->found < r->reads.slow)
		bad += broken(
			"%zu of %zu reads of more than a second are not in the log",
			r->reads.slow - r->found, r->reads.slow);
	if (r->chart.main.bytes * STORM_RATIO > r->plain.main.bytes)
		bad += broken("the storm's log is less than %d times smaller",
			      STORM_RATIO);
	if (r->calm.main.bytes * CALM_RATIO > r->calm.plain.bytes)
		bad += broken(
			"the healthy load's log is less than %d times smaller",
			CALM_RATIO);
	return bad;
}

int main(int argc, char **argv)
{
	struct result r;

	if (argc != 2) {
		fprintf(stderr, "usage: compare DIRECTORY\n");
		return 2;
	}
	dir = argv[1];
	tracecmd_set_loglevel(TEP_LOG_NONE);
	r.calm = load_file("calm", true, true);
	r.plain = load_file("plain", false, false);
	r.chart = load_file("ctlchart", true, false);
	check_alarms("calm", ".whole", &r.calm.main);
	check_alarms("calm", ".paper", &r.calm.paper);
	check_alarms("ctlchart", ".whole", &r.chart.main);
	check_alarms("ctlchart", ".paper", &r.chart.paper);
	r.calm_reads = load_reads("calm");
	r.plain_reads = load_reads("plain");
	r.reads = load_reads("ctlchart");
	r.cpu_plain = load_cpu("plain");
	r.cpu_chart = load_cpu("ctlchart");
	match(&r.reads, &r.chart, &r.found, &r.found_paper);
	print_result(&r);
	write_summary(&r);
	write_plots(&r);
	return check(&r) ? 1 : 0;
}
