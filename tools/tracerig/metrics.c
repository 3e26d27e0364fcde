// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics in Prometheus' text format 0.0.4, not in OpenMetrics, which node_exporter's
 * textfile collector cannot read.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "notify.h"
#include "part.h"
#include "store.h"

static void family(FILE *out, const char *name, const char *type,
		   const char *help)
{
	fprintf(out, "# TYPE %s %s\n# HELP %s %s\n", name, type, name, help);
}

/* Write the value of a label, with backslash, quote and newline escaped */
static void label(FILE *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\n')
			fputs("\\n", out);
		else if (*s == '\\' || *s == '"')
			fprintf(out, "\\%c", *s);
		else
			fputc(*s, out);
	}
}

static void sample(FILE *out, const char *name, const char *chart)
{
	fprintf(out, "%s{chart=\"", name);
	label(out, chart);
	fputs("\"} ", out);
}

static void line(FILE *out, const char *name, const char *chart, u64 v,
		 bool is_time)
{
	sample(out, name, chart);
	if (is_time)
		fprintf(out, "%llu.%09llu\n", v / 1000000000, v % 1000000000);
	else
		fprintf(out, "%llu\n", v);
}

/* Names are cut, so two parts may have the same one; a metric must not be there twice */
static bool is_named_before(const struct rig_chart *c, unsigned int k)
{
	unsigned int i;

	for (i = 0; i < k; i++) {
		if (c->part[i].has_limit &&
		    !strcmp(c->part[i].name, c->part[k].name))
			return true;
	}
	return false;
}

static void lines(const struct metrics *m, FILE *out, const char *name,
		  bool is_time, bool center)
{
	size_t i, k;

	for (i = 0; i < m->plan->nr_charts; i++) {
		const struct rig_chart *c = &m->chart[i];

		if (!c->has_limit || c->is_time != is_time ||
		    (center && !c->has_center))
			continue;
		if (!c->by || !c->has_center) {
			line(out, name, m->plan->chart[i].name,
			     center ? c->center : c->limit, is_time);
			continue;
		}
		for (k = 0; k < c->charts && k < RIG_PARTS; k++) {
			const struct rig_part *p = &c->part[k];

			if (p->has_limit && !is_named_before(c, k))
				line(out, name, p->name,
				     center ? p->center : p->limit, is_time);
		}
		if (c->shared.has_limit)
			line(out, name, c->shared.name,
			     center ? c->shared.center : c->shared.limit,
			     is_time);
	}
}

static void counters(const struct metrics *m, FILE *out, const char *name,
		     bool alarms)
{
	size_t i;

	for (i = 0; i < m->plan->nr_charts; i++) {
		sample(out, name, m->plan->chart[i].name);
		fprintf(out, "%llu\n",
			alarms ? m->chart[i].alarms :
				 m->chart[i].learnt + m->chart[i].values);
	}
}

static void group_sample(FILE *out, const char *group, u64 count)
{
	fputs("tracerig_group_cases_total{group=\"", out);
	label(out, group);
	fprintf(out, "\"} %llu\n", count);
}

/* The first groups, and one sample for the cases of all others */
static void groups(const struct metrics *m, FILE *out)
{
	u64 others = 0;
	size_t i;

	for (i = 0; i < m->store->nr_groups; i++) {
		const struct store_group *g = &m->store->group[i];

		if (i < METRICS_GROUPS && strcmp(g->name, STORE_OTHERS) != 0)
			group_sample(out, g->name, g->count);
		else
			others += g->count;
	}
	if (others)
		group_sample(out, STORE_OTHERS, others);
}

/**
 * metrics_print - write the metrics
 * @m: the metrics
 * @out: where to
 */
void metrics_print(const struct metrics *m, FILE *out)
{
	static const char *const cases = "tracerig_cases_total";
	size_t i;

	family(out, "tracerig_values_total", "counter",
	       "Values from which limits are learnt, and values judged.");
	counters(m, out, "tracerig_values_total", false);
	family(out, "tracerig_alarms_total", "counter",
	       "Values out of control.");
	counters(m, out, "tracerig_alarms_total", true);
	family(out, "tracerig_limit_seconds", "gauge",
	       "Upper control limit of durations.");
	lines(m, out, "tracerig_limit_seconds", true, false);
	family(out, "tracerig_center_seconds", "gauge",
	       "Centre line of durations.");
	lines(m, out, "tracerig_center_seconds", true, true);
	family(out, "tracerig_limit", "gauge",
	       "Upper control limit of other values.");
	lines(m, out, "tracerig_limit", false, false);
	family(out, "tracerig_center", "gauge", "Centre line of other values.");
	lines(m, out, "tracerig_center", false, true);
	family(out, "tracerig_missed_calls_total", "counter",
	       "Calls of a function of the kernel that its probes missed.");
	for (i = 0; i < m->plan->nr_charts; i++) {
		sample(out, "tracerig_missed_calls_total",
		       m->plan->chart[i].name);
		fprintf(out, "%llu\n", m->chart[i].missed);
	}
	family(out, cases, "counter",
	       "Cases: kept, only counted because they are alike, and not written.");
	fprintf(out, "%s{result=\"kept\"} %llu\n", cases, m->kept);
	fprintf(out, "%s{result=\"alike\"} %llu\n", cases, m->alike);
	fprintf(out, "%s{result=\"failed\"} %llu\n", cases, m->failed);
	family(out, "tracerig_group_cases_total", "counter",
	       "Cases since the directory was made, by what makes them alike.");
	groups(m, out);
	family(out, "tracerig_case_bytes", "gauge", "Size of all cases.");
	fprintf(out, "tracerig_case_bytes %llu\n", m->bytes);
	family(out, "tracerig_lost_events_total", "counter",
	       "Events lost in the windows of cases that are kept.");
	fprintf(out, "tracerig_lost_events_total %llu\n", m->lost);
	family(out, "tracerig_own_alarms_total", "counter",
	       "Alarms that the watch itself caused.");
	fprintf(out, "tracerig_own_alarms_total %llu\n", m->own);
}

/*
 * The file that was written last, or -1. It is locked until the next one has replaced it, or
 * the watch ends, so that another watch sees that it is written. Not by flock(), which any
 * user who may read the file can do.
 */
static int written = -1;

/* Whether another watch writes a file */
static bool is_taken(const char *path)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st, own;
	bool taken;

	if (fd < 0)
		return false;
	taken = !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type == F_WRLCK;
	if (taken && written >= 0 && !fstat(fd, &st) && !fstat(written, &own))
		taken = st.st_dev != own.st_dev || st.st_ino != own.st_ino;
	close(fd);
	return taken;
}

/* Keep what was written, with its lock, and what was kept before no more */
static void keep(int fd)
{
	if (written >= 0)
		close(written);
	written = fd;
}

#define TAKEN "%s: another watch writes it: choose another file with --metrics"

/**
 * metrics_check - whether a file of metrics can be made
 * @path: the file
 *
 * Return: NULL, or what is wrong, for free().
 */
char *metrics_check(const char *path)
{
	char *copy = xstrdup(path), *in = xasprintf("%s/.", dirname(copy));
	struct stat st;
	char *error = NULL;

	if (access(in, W_OK | X_OK))
		error = xasprintf(
			"%s: %s: --metrics needs a directory that can be written to",
			path, strerror(errno));
	else if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		error = xasprintf(
			S_ISDIR(st.st_mode) ?
				"%s: is a directory: name a file in it with --metrics" :
				"%s: is not a regular file, and --metrics replaces the file",
			path);
	else if (is_taken(path))
		error = xasprintf(TAKEN, path);
	free(copy);
	free(in);
	return error;
}

/**
 * metrics_write - replace a file with the metrics
 * @m: the metrics
 * @path: the file
 *
 * A reader sees the old file or the new one. Any user may read it, whatever the umask, since
 * node_exporter is not root.
 *
 * Return: NULL, or what is wrong, for free().
 */
char *metrics_write(const struct metrics *m, const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char *temporary, *error = NULL;
	bool good;
	FILE *f;
	int fd;

	if (is_taken(path))
		return xasprintf(TAKEN, path);
	temporary = xasprintf("%s.new", path);
	f = part_anew(temporary);
	good = f;
	if (f) {
		fd = fcntl(fileno(f), F_DUPFD_CLOEXEC, 3);
		/* Where a file system has no locks, nothing is seen */
		fcntl(fd, F_OFD_SETLK, &lock);
		metrics_print(m, f);
		good = !fchmod(fileno(f), 0644) && !ferror(f);
		good &= !fclose(f);
		good = good && !rename(temporary, path);
		if (good)
			keep(fd);
	}
	if (!good) {
		/* A watch that began at the same moment has taken the temporary file */
		error = f && errno == ENOENT ?
				xasprintf(TAKEN, path) :
				xasprintf("%s: %s", path, strerror(errno));
		if (f) {
			unlink(temporary);
			close(fd);
		}
	}
	free(temporary);
	return error;
}
