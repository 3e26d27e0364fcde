// SPDX-License-Identifier: GPL-2.0
/* compare: read the recordings and what the reading processes measured. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "tracefile.h"

const char *dir;

void __attribute__((noreturn, format(printf, 1, 2)))
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

char *path_of(const char *name, const char *suffix)
{
	char *path;

	if (asprintf(&path, "%s/%s%s", dir, name, suffix) < 0)
		die("no memory");
	return path;
}

FILE *open_file(const char *path, const char *mode)
{
	FILE *file = fopen(path, mode);

	if (!file)
		die("%s: %s", path, strerror(errno));
	return file;
}

void close_written(FILE *file, const char *path)
{
	bool bad = ferror(file);

	if (fclose(file) || bad)
		die("%s: %s", path, strerror(errno));
}

/* --- what the processes measured */

static int by_wait(const void *a, const void *b)
{
	const struct one_read *x = a, *y = b;
	uint64_t wx = x->end - x->start, wy = y->end - y->start;

	return wx < wy ? 1 : wx > wy ? -1 : 0;
}

struct reads load_reads(const char *name)
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

struct cpu_log load_cpu(const char *name)
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
void find_pauses(struct reads *reads, const struct cpu_log *cpu)
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
uint64_t running_time(const struct reads *reads, const struct one_read *r)
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
uint64_t percentile99(const struct reads *reads)
{
	const struct one_read *r = &reads->read[reads->nr / 100];

	return r->end - r->start;
}

/* --- what was recorded */

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
	log->alarm_bytes += rec->record_size;
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
	else if (event && !strcmp(event->name, "ctlchart_limit"))
		log->limit_bytes += rec->record_size;
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

struct file load_file(const char *name, bool paper, bool plain)
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
