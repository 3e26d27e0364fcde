// SPDX-License-Identifier: GPL-2.0
/* Records normal executions now and then. See baseline.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "baseline.h"
#include "child.h"
#include "datfile.h"
#include "memory.h"
#include "part.h"
#include "tracerig.h"
#include "window.h"

#define MS 1000000ull

/*
 * Time after which it is recorded again, and after which it is retried if nothing was, ns
 */
#define AGAIN (3600000 * MS)
#define SOON (300000 * MS)

/* Recording ends after this number of executions of each function, or this time, ns */
#define EXECUTIONS 30
#define LONGEST (30000 * MS)
#define LOOK (50 * MS)

/* Bytes of the ring buffers of all CPUs; and the least and the most of one of them */
#define BYTES (8u << 20)
#define CPU_LEAST (64u << 10)
#define CPU_MOST (1u << 20)

#define NEW BASELINE_SHARED "-new"

/* The child's status if the functions were not called; other ones are an errno */
#define NOTHING 255

/* Number of values that each chart with paths has judged */
static void count_values(const struct rig *r, u64 *values)
{
	struct rig_chart chart;
	size_t i;

	for (i = 0; i < r->plan->nr_charts; i++) {
		if (r->plan->chart[i].paths)
			rig_chart(r, &r->plan->chart[i], &chart);
		values[i] = r->plan->chart[i].paths ? chart.values : 0;
	}
}

/* Record for a while; false if the functions were not called */
static bool wait_for_executions(const struct rig *r)
{
	struct timespec look = { .tv_nsec = LOOK };
	u64 before[PLAN_CHARTS], now[PLAN_CHARTS], waited;
	bool any = false, all = false;
	size_t i;

	count_values(r, before);
	for (waited = 0; !all && waited < LONGEST; waited += LOOK) {
		nanosleep(&look, NULL);
		count_values(r, now);
		all = true;
		for (i = 0; i < r->plan->nr_charts; i++) {
			any |= now[i] > before[i];
			if (r->plan->chart[i].paths)
				all &= now[i] >= before[i] + EXECUTIONS;
		}
	}
	return any;
}

static void write_cpu(struct tracefs_instance *instance, unsigned int cpu,
		      unsigned int page_size, struct datfile *d)
{
	char *name = xasprintf("per_cpu/cpu%u/trace_pipe_raw", cpu);
	int fd = tracefs_instance_file_open(instance, name,
					    O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	u8 *page = xzalloc(page_size);
	ssize_t n;

	datfile_cpu(d, cpu);
	while (fd >= 0 && (n = read(fd, page, page_size)) > 0) {
		memset(page + n, 0, page_size - n);
		datfile_page(d, page);
	}
	if (fd >= 0)
		close(fd);
	free(page);
	free(name);
}

static bool write_events(const struct baseline_job *job,
			 struct tracefs_instance *instance, FILE *out)
{
	struct datfile *d =
		window_begin(out, job->head, job->cpus, job->page_size);
	unsigned int i;

	if (!d)
		return false;
	for (i = 0; i < job->cpus; i++)
		write_cpu(instance, i, job->page_size, d);
	return datfile_end(d);
}

/* Write the file; return: 0, or an errno */
static int write_file(const struct baseline_job *job,
		      struct tracefs_instance *instance)
{
	char *new = xasprintf("%s/" NEW, job->dir);
	char *path = xasprintf("%s/" BASELINE_SHARED, job->dir);
	bool good = false;
	int error;
	FILE *f;

	errno = 0;
	f = part_anew(new);
	if (f) {
		good = write_events(job, instance, f);
		good = part_close(f, good);
	}
	if (good && !rename(new, path)) {
		error = 0;
	} else {
		error = errno ? errno : EIO;
		unlink(new);
	}
	free(new);
	free(path);
	return error;
}

static int record(const struct baseline_job *job)
{
	u64 buffer = max(min(BYTES / job->cpus, CPU_MOST), CPU_LEAST);
	struct tracefs_instance *instance = NULL;
	int status = NOTHING;
	char *error;

	error = rig_baseline(job->rig, buffer, &instance);
	if (error) {
		complain("%s", error);
	} else if (wait_for_executions(job->rig)) {
		tracefs_trace_off(instance);
		status = write_file(job, instance);
	}
	free(error);
	if (instance)
		tracefs_instance_free(instance);
	rig_end_baseline(job->rig);
	return status;
}

static void baseline_failed(struct baseline *b, int error, u64 now)
{
	b->pid = 0;
	b->next = now + SOON;
	if (error != NOTHING)
		complain("normal executions are not recorded: %s",
			 strerror(error));
}

/**
 * baseline_record - begin to record
 * @b: @b->pid becomes the child
 * @job: what to record
 * @now: ns of CLOCK_MONOTONIC
 *
 * A child does the work, as for cases: the disk may be slow.
 */
void baseline_record(struct baseline *b, const struct baseline_job *job,
		     u64 now)
{
	pid_t pid = child_fork(true);

	if (!pid) {
		memory_doing("recording normal executions");
		_exit(record(job));
	}
	b->pid = pid;
	if (pid < 0)
		baseline_failed(b, errno, now);
}

/**
 * baseline_ended - the child has ended
 * @b: it is
 * @status: of waitpid()
 * @now: ns of CLOCK_MONOTONIC
 */
void baseline_ended(struct baseline *b, int status, u64 now)
{
	int error = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;

	b->pid = 0;
	b->next = now + AGAIN;
	if (error)
		baseline_failed(b, error, now);
}

/**
 * baseline_close - end recording, and remove the file
 * @b: it is; rig_close() removes the instance
 * @dir: directory of the cases
 */
void baseline_close(struct baseline *b, const char *dir)
{
	static const char *const names[] = { BASELINE_SHARED, NEW };
	size_t i;

	if (b->pid) {
		kill(b->pid, SIGKILL);
		while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
			;
		b->pid = 0;
	}
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		char *path = xasprintf("%s/%s", dir, names[i]);

		unlink(path);
		free(path);
	}
}
