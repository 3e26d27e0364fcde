// SPDX-License-Identifier: GPL-2.0
/*
 * compare DIRECTORY: compare the demo's recordings, which tests/demo/guest left
 * in DIRECTORY, with each other and with what the reading processes measured.
 *
 * Prints the comparison and writes summary.json and pictures beside them.  It
 * fails if ctlchart failed: a read of more than a second is not in its log,
 * nothing was recorded, or an account does not add up.  How much smaller a log is
 * depends on the host as well; that is printed beside the usual figure, and no
 * figure is a failure.
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

/* What an idle host with two processors usually gives */
#define USUAL_STORM_LOW 10
#define USUAL_STORM_HIGH 18
#define USUAL_CALM 20

/* Share of the host's CPUs that others use, in per cent, from which on it is busy */
#define BUSY_PERCENT 15

/*
 * The readers' parent samples the CPUs each half second.  When neither it nor any
 * reader did anything for longer than this, the whole guest stood still.
 */
#define STILL (6 * NSEC_PER_SEC / 10)

/* The limit may exceed a second only if healthy reads are as slow as this. */
#define UNHEALTHY (NSEC_PER_SEC / 4)

/**
 * struct one_read - a read as its process saw it
 * @pid:	the process
 * @start:	when it began, ns of CLOCK_MONOTONIC
 * @end:	when it returned
 * @sector:	where
 * @runnable:	for how long of this its process had no CPU, at least, ns
 * @duration:	what the alarm in the log says, ns; 0: none
 * @logged:	its completion is in the log of the defaults
 * @device:	its completion is in the log of the paper's settings
 * @excused:	it need not be in the log, see is_excused()
 */
struct one_read {
	int pid;
	uint64_t start;
	uint64_t end;
	uint64_t sector;
	uint64_t runnable;
	uint64_t duration;
	bool logged;
	bool device;
	bool excused;
};

/* A time in which the whole guest stood still */
struct pause {
	uint64_t begin;
	uint64_t end;
};

/**
 * struct reads - the reads of one recording
 * @read:	each of them, the slowest first
 * @nr:		number of them
 * @slow:	how many took more than a second
 * @begin:	start of the first one
 * @pause:	when the guest stood still during it, in order of time
 * @nr_pauses:	number of these
 * @paused:	their length together, ns
 */
struct reads {
	struct one_read *read;
	size_t nr;
	size_t slow;
	uint64_t begin;
	struct pause *pause;
	size_t nr_pauses;
	uint64_t paused;
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
	uint64_t begin; /* time of the first sample, ns */
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
		if (sscanf(line,
			   "%d %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
			   &r.pid, &r.start, &r.end, &r.sector,
			   &r.runnable) != 5 ||
		    r.end < r.start || r.runnable > r.end - r.start)
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
	log.begin = begin;
	return log;
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Note when neither a reader nor their parent did anything. */
static void find_pauses(struct reads *reads, const struct cpu_log *cpu)
{
	size_t nr = 2 * reads->nr + cpu->nr + 1, n = 0, i;
	uint64_t *sign = calloc(nr, sizeof(*sign)); /* of life */

	if (!sign)
		die("no memory");
	for (i = 0; i < reads->nr; i++) {
		sign[n++] = reads->read[i].start;
		sign[n++] = reads->read[i].end;
	}
	sign[n++] = cpu->begin;
	for (i = 0; i < cpu->nr; i++)
		sign[n++] = cpu->begin + (uint64_t)(cpu->at[i] * NSEC_PER_SEC);
	qsort(sign, n, sizeof(*sign), by_time);
	for (i = 1; i < n; i++) {
		if (sign[i] - sign[i - 1] < STILL)
			continue;
		reads->pause = grow(reads->pause, reads->nr_pauses,
				    sizeof(*reads->pause));
		reads->pause[reads->nr_pauses++] =
			(struct pause){ sign[i - 1], sign[i] };
		reads->paused += sign[i] - sign[i - 1];
	}
	free(sign);
}

/*
 * How long a read took without the time that the guest stood still or its process
 * waited for a CPU.  These overlap, and so only the longer one is subtracted.
 */
static uint64_t running_time(const struct reads *reads,
			     const struct one_read *r)
{
	uint64_t still = 0;
	size_t i;

	for (i = 0; i < reads->nr_pauses; i++) {
		const struct pause *p = &reads->pause[i];
		uint64_t from = p->begin > r->start ? p->begin : r->start;
		uint64_t to = p->end < r->end ? p->end : r->end;

		if (from < to)
			still += to - from;
	}
	return r->end - r->start - (still > r->runnable ? still : r->runnable);
}

/* The time that 99 in 100 reads do not exceed */
static uint64_t percentile99(const struct reads *reads)
{
	const struct one_read *r = &reads->read[reads->nr / 100];

	return r->end - r->start;
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
	if (!log->last_done[rec->cpu] && log->lost)
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
	if (!tracefile_check(fd, "", &info, &error))
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

/* The chart's lines "NAME: N = part N + part N ..." must be true. */
static int check_sums(const char *name, const char *chart)
{
	char *path = path_of(name, chart), line[300], *at;
	FILE *file = open_file(path, "r");
	uint64_t all, part, sum;
	int bad = 0, sums = 0;

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*[^:]: %" SCNu64 " =", &all) != 1 ||
		    !(at = strstr(line, " = ")))
			continue;
		sums++;
		sum = 0;
		for (at += 2; (at = strpbrk(at, "0123456789"));) {
			part = strtoull(at, &at, 10);
			sum += part;
		}
		if (sum != all)
			bad += broken("%s%s does not add up: %.*s", name, chart,
				      (int)strcspn(line, "\n"), line);
	}
	if (ferror(file))
		die("%s: %s", path, strerror(errno));
	fclose(file);
	if (!sums)
		bad += broken("%s: no account of starts and ends", path);
	free(path);
	return bad;
}

/*
 * The log and the chart's own account must say the same number of alarms, and nothing
 * may be in the log but what an alarm was raised for.
 */
static int check_alarms(const char *name, const char *chart,
			const struct log *log)
{
	uint64_t account = number_of(name, chart, "alarms: ");
	uint64_t unwritten = number_of(name, chart, "not written ");
	size_t normal = 0, i;
	int bad = 0;

	if (log->lost)
		return broken(
			"%s%s: events of its log were overwritten before they were read",
			name, chart);
	for (i = 0; i < log->nr_done; i++)
		normal += !log->done[i].duration;
	if (normal > unwritten)
		bad += broken(
			"%zu completions without an alarm are in the log of %s%s",
			normal, name, chart);
	if (account != log->alarms + unwritten)
		bad += broken("%s%s counts %" PRIu64 " alarms, %" PRIu64
			      " of them not written, and %zu are in the log",
			      name, chart, account, unwritten, log->alarms);
	return bad;
}

/* Each read that a process made begins one interval of the chart. */
static int check_starts(const char *name, const struct reads *reads)
{
	uint64_t starts = number_of(name, ".whole", "starts: ");

	if (starts >= reads->nr)
		return 0;
	return broken("%s.whole counts %" PRIu64
		      " reads begun, and the processes made %zu",
		      name, starts, reads->nr);
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

/* How slow reads fared */
struct found {
	size_t whole; /* in the log of the defaults */
	size_t device; /* in the log of the paper's settings */
	size_t excused;
	size_t starved; /* of these, by a CPU and not by the disk */
	size_t missing; /* neither in the log of the defaults nor excused */
	uint64_t limit; /* of the chart of the defaults, ns */
};

/*
 * By its process's clock the read took more than a second, and yet it need not be in
 * the log: the guest stood still, or the process waited for a CPU, for the rest of the
 * time, before the read came to the disk or after; or the limit itself is above a
 * second, rightly, since the healthy load's reads are slow.
 */
static bool is_excused(uint64_t time, const struct reads *healthy,
		       uint64_t limit)
{
	return time <= NSEC_PER_SEC ||
	       (time <= limit && percentile99(healthy) >= UNHEALTHY);
}

/* Note which of the slow reads are in the logs. */
static struct found match(struct reads *reads, struct file *file,
			  const struct reads *healthy, const char *name)
{
	struct found found = { .limit = number_of(name, ".whole", "limit: ") };
	uint64_t time;
	size_t i;

	for (i = 0; i < reads->slow; i++) {
		struct one_read *r = &reads->read[i];
		struct completion *done = find_completion(&file->main, r);

		if (done) {
			r->logged = true;
			r->duration = done->duration;
			found.whole++;
		} else {
			time = running_time(reads, r);
			r->excused = is_excused(time, healthy, found.limit);
			found.excused += r->excused;
			found.starved += time <= NSEC_PER_SEC;
			found.missing += !r->excused;
		}
		r->device = find_completion(&file->paper, r);
		found.device += r->device;
	}
	return found;
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
	struct cpu_log cpu_calm;
	struct cpu_log cpu_plain;
	struct cpu_log cpu_chart;
	struct found found_calm;
	struct found found;
	double others; /* per cent of the host's CPUs; negative: not known */
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
		printf(" %12s %15s\n",
		       one->logged  ? "yes" :
		       one->excused ? "no" :
				      "NO",
		       one->device ? "yes" : "no");
	}
}

static void print_result(const struct result *r)
{
	char title[200];

	snprintf(title, sizeof(title),
		 "healthy load: %zu reads, %zu of more than a second",
		 r->calm_reads.nr, r->calm_reads.slow);
	printf("\nload: a disk of %" PRIu64 " reads/s, %" PRIu64
	       " readers when healthy, %" PRIu64
	       " in the storm (without a limit this guest reads %" PRIu64
	       "/s)\n",
	       number_of("load", "", "disk: "),
	       number_of("load", "", "healthy readers: "),
	       number_of("load", "", "storm readers: "),
	       number_of("load", "", "unlimited: "));
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
	       r->found.limit / 1e6, r->found.whole, r->reads.slow,
	       r->chart.main.alarms, r->reads.nr);
	printf("device time, paper's settings (limit %.1f ms): caught %zu of them, missed %zu, in %zu alarms: a read waits before the device gets it.\n",
	       number_of("ctlchart", ".paper", "limit: ") / 1e6,
	       r->found.device, r->reads.slow - r->found.device,
	       r->chart.paper.alarms);
}

static bool less_than(const struct log *plain, const struct log *log,
		      unsigned int times)
{
	return log->bytes * times > plain->bytes;
}

static void print_times_smaller(const struct log *plain, const struct log *log)
{
	if (log->bytes)
		printf("%.1f times smaller", (double)plain->bytes / log->bytes);
	else
		printf("empty");
}

/* The figures beside the usual ones, and what the host has to do with them */
static void print_usual(const struct result *r)
{
	bool calm = less_than(&r->calm.plain, &r->calm.main, USUAL_CALM);
	bool storm = less_than(&r->plain.main, &r->chart.main, USUAL_STORM_LOW);

	printf("\nthe storm's log is ");
	print_times_smaller(&r->plain.main, &r->chart.main);
	printf(" (usually %d to %d times smaller), the healthy load's is ",
	       USUAL_STORM_LOW, USUAL_STORM_HIGH);
	print_times_smaller(&r->calm.plain, &r->calm.main);
	printf(" (usually empty, or more than %d times smaller).\n",
	       USUAL_CALM);
	if (r->others >= BUSY_PERCENT)
		printf("The host was busy: other programs used %.0f%% of its CPUs meanwhile. The guest then reads less\n"
		       "regularly than its disk: more reads are out of control, and the logs shrink less than usual.\n"
		       "Whether a slow read is in the log does not depend on that.\n",
		       r->others);
	else if (calm || storm)
		printf("That is less than usual, and the host was not busy%s. Each slow read is in the log all the\n"
		       "same, unless it says FAILED below; but the figures are not those of a usual host.\n",
		       r->others < 0 ? ", as far as is known" : "");
}

static void print_pauses(const char *what, const struct reads *reads,
			 const struct found *found)
{
	if (reads->nr_pauses)
		printf("%s: the guest stood still for %.1f s (the host did not run it, or was suspended).\n",
		       what, (double)reads->paused / NSEC_PER_SEC);
	if (found && found->starved)
		printf("%s: %zu reads took more than a second only because the guest stood still or their processes\n"
		       "waited for a CPU, and are not in the log.\n",
		       what, found->starved);
}

/* What kept the demo from showing what it is to show; no failure of ctlchart */
static void print_notes(const struct result *r)
{
	print_pauses("healthy load", &r->calm_reads, &r->found_calm);
	print_pauses("storm, plain ftrace", &r->plain_reads, NULL);
	print_pauses("storm, ctlchart", &r->reads, &r->found);
	if (r->calm_reads.slow)
		printf("%zu reads of the healthy load took more than a second: on a host this busy it was not healthy, and how\n"
		       "little of a healthy load is logged cannot be seen here.\n",
		       r->calm_reads.slow);
	if (r->found.limit > NSEC_PER_SEC)
		printf("The limit is above a second: on this host healthy reads are so slow that a read of a second is not abnormal.\n");
	if (!r->reads.slow || !r->plain_reads.slow)
		printf("No read%s took more than a second: there was no storm to be seen. Run the demo again.\n",
		       r->reads.slow ?
			       " of the storm recorded by plain ftrace" :
			       "");
	if (r->plain.main.lost || r->calm.plain.lost)
		printf("Plain ftrace lost events, since the guest could not store them in time: its log is larger than measured.\n");
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
	add_int(o, "slow_reads_found", r->found.whole);
	add_int(o, "slow_reads_excused", r->found.excused);
	add_int(o, "paper_slow_reads_found", r->found.device);
	add_int(o, "calm_reads", r->calm_reads.nr);
	add_int(o, "calm_slow_reads", r->calm_reads.slow);
	add_int(o, "calm_bytes_plain", r->calm.plain.bytes);
	add_int(o, "calm_bytes_ctlchart", r->calm.main.bytes);
	add_int(o, "calm_bytes_paper", r->calm.paper.bytes);
	add_int(o, "metadata_bytes", r->chart.metadata);
	add_int(o, "disk_reads_per_second", number_of("load", "", "disk: "));
	add_int(o, "unlimited_reads_per_second",
		number_of("load", "", "unlimited: "));
	if (r->others >= 0)
		add_int(o, "host_others_percent", r->others + 0.5);
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
	for (size_t i = 0; i < size.nr; i++) {
		free((void *)size.line[i].x);
		free((void *)size.line[i].y);
	}
}

/* Each slow read must be in the log; says which one is not, the worst. */
static int check_missing(const char *log, const struct found *found,
			 const struct reads *reads)
{
	const struct one_read *r = reads->read;

	if (!found->missing)
		return 0;
	while (r->logged || r->excused)
		r++;
	return broken(
		"%zu of %zu reads of more than a second are not in %s: the worst of process %d, begun at %.3f s, of sector %" PRIu64
		", took %.3f s",
		found->missing, reads->slow, log, r->pid,
		(double)(r->start - reads->begin) / NSEC_PER_SEC, r->sector,
		(double)(r->end - r->start) / NSEC_PER_SEC);
}

/* Did ctlchart fail?  Returns the number of failures. */
static int check(const struct result *r)
{
	int bad = 0;

	if (!r->calm.plain.events)
		bad += broken(
			"plain ftrace recorded nothing of the healthy load");
	if (!r->plain.main.events)
		bad += broken("plain ftrace recorded nothing of the storm");
	if (!r->chart.main.events && r->found.missing)
		bad += broken(
			"nothing of the storm was recorded through the chart");
	bad += check_missing("the log", &r->found, &r->reads);
	bad += check_missing("the log of the healthy load", &r->found_calm,
			     &r->calm_reads);
	bad += check_sums("calm", ".whole") + check_sums("calm", ".paper");
	bad += check_sums("ctlchart", ".whole") +
	       check_sums("ctlchart", ".paper");
	bad += check_alarms("calm", ".whole", &r->calm.main);
	bad += check_alarms("calm", ".paper", &r->calm.paper);
	bad += check_alarms("ctlchart", ".whole", &r->chart.main);
	bad += check_alarms("ctlchart", ".paper", &r->chart.paper);
	bad += check_starts("calm", &r->calm_reads);
	bad += check_starts("ctlchart", &r->reads);
	return bad;
}

/* What tests/demo/run measured of the host; another way to run the guest need not. */
static double others_share(void)
{
	char *path = path_of("host", "");
	double percent = -1;
	FILE *file = fopen(path, "r");

	if (file) {
		if (fscanf(file, "others: %lf", &percent) != 1)
			die("%s: no share of the CPUs", path);
		fclose(file);
	}
	free(path);
	return percent;
}

int main(int argc, char **argv)
{
	/* Static: what it points to lives as long as the program, and is no leak */
	static struct result r;

	if (argc != 2) {
		fprintf(stderr, "usage: compare DIRECTORY\n");
		return 2;
	}
	dir = argv[1];
	tracecmd_set_loglevel(TEP_LOG_NONE);
	r.others = others_share();
	r.calm = load_file("calm", true, true);
	r.plain = load_file("plain", false, false);
	r.chart = load_file("ctlchart", true, false);
	r.calm_reads = load_reads("calm");
	r.plain_reads = load_reads("plain");
	r.reads = load_reads("ctlchart");
	r.cpu_calm = load_cpu("calm");
	r.cpu_plain = load_cpu("plain");
	r.cpu_chart = load_cpu("ctlchart");
	find_pauses(&r.calm_reads, &r.cpu_calm);
	find_pauses(&r.plain_reads, &r.cpu_plain);
	find_pauses(&r.reads, &r.cpu_chart);
	r.found_calm = match(&r.calm_reads, &r.calm, &r.calm_reads, "calm");
	r.found = match(&r.reads, &r.chart, &r.calm_reads, "ctlchart");
	print_result(&r);
	print_usual(&r);
	print_notes(&r);
	write_summary(&r);
	write_plots(&r);
	fflush(stdout);
	return check(&r) ? 1 : 0;
}
