// SPDX-License-Identifier: GPL-2.0
/* compare: print the comparison, write summary.json and pictures. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>

#include "compare.h"
#include "plot.h"

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

/* What the storm's log through the defaults consists of */
static void print_parts(const struct result *r)
{
	const struct log *log = &r->chart.main;
	const uint64_t known = log->alarm_bytes + log->limit_bytes;

	if (!log->alarms)
		return;
	printf("\n  of the defaults' ring bytes: %" PRIu64 " alarms, %" PRIu64
	       " events kept for them, %" PRIu64 " limits, %" PRIu64
	       " pages' headers, time stamps and free ends\n"
	       "  %.0f for each read out of control; plain ftrace's: %.0f for each read\n",
	       log->alarm_bytes, log->event_bytes - known, log->limit_bytes,
	       log->bytes - log->event_bytes, (double)log->bytes / log->alarms,
	       (double)r->plain.main.bytes / r->plain_reads.nr);
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

void print_result(const struct result *r)
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
	print_parts(r);
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
void print_usual(const struct result *r)
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

/* Why the demo could not show its case; not a failure of ctlchart */
void print_notes(const struct result *r)
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

void write_summary(const struct result *r)
{
	struct json_object *o = json_object_new_object();
	char *path = path_of("summary", ".json");

	add_int(o, "plain_bytes", r->plain.main.bytes);
	add_int(o, "ctlchart_bytes", r->chart.main.bytes);
	add_int(o, "paper_bytes", r->chart.paper.bytes);
	add_int(o, "plain_event_bytes", r->plain.main.event_bytes);
	add_int(o, "ctlchart_event_bytes", r->chart.main.event_bytes);
	add_int(o, "paper_event_bytes", r->chart.paper.event_bytes);
	add_int(o, "ctlchart_alarm_bytes", r->chart.main.alarm_bytes);
	add_int(o, "ctlchart_limit_bytes", r->chart.main.limit_bytes);
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

void write_plots(const struct result *r)
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
