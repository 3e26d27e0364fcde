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
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

/* number_of - the number after @before in what the chart said of itself */
uint64_t number_of(const char *name, const char *chart, const char *before)
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
	/* Static: what it points to lives as long as the program, and is not a leak */
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
