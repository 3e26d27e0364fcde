// SPDX-License-Identifier: GPL-2.0
/*
 * tracerig watch: waits for windows, and makes a case of each.
 *
 * The kernel delivers the events of a window all at once, when it is over. A case is
 * closed when no CPU has delivered anything for a while. A child writes it, since the
 * disk may be slow: if the ring buffer were not read meanwhile, the next window would be
 * lost.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/kernel.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "baseline.h"
#include "case.h"
#include "child.h"
#include "clock.h"
#include "http.h"
#include "memory.h"
#include "notify.h"
#include "reader.h"
#include "reason.h"
#include "rig.h"
#include "store.h"
#include "text.h"
#include "tracerig.h"
#include "unread.h"
#include "watch.h"
#include "watch_charts.h"
#include "window.h"

#define MS 1000000ull

/* A window is over when nothing was delivered for this time, ns */
#define QUIET (300 * MS)
/* A case is closed after this time, even if more is delivered, ns */
#define LONGEST (10000 * MS)
/* Interval at which the charts are read, ns */
#define TICK (1000 * MS)
/* Shortest time between two passes over the CPUs, ns */
#define PASS (20 * MS)
/* Exit status of a watch that ended as it was asked to, but that lacks something */
#define EXIT_INCOMPLETE 3

/**
 * struct pending - the case that a child is writing
 * @pid:	the child, 0: none
 * @number:	the case
 * @group:	what makes cases alike
 * @nr_alarms:	its alarms
 * @charts:	names of their charts, that of the worst one first
 * @removed:	the case that it replaces as the worst one, 0: none
 * @lead:	the worst of them
 * @is_time:	its values are times
 */
struct pending {
	pid_t pid;
	u64 number;
	char group[500];
	u64 nr_alarms;
	struct json_object *charts;
	u64 removed;
	struct alarm lead;
	bool is_time;
};

/**
 * struct watch - a watch
 * @o:		its options
 * @rig:	its part of the kernel
 * @reader:	reads the ring buffer
 * @store:	the cases
 * @command:	--on-alarm
 * @pending:	the case that is being written
 * @baseline:	the record of normal executions
 * @metrics:	counts since the start
 * @http:	the server that offers them to Prometheus, or NULL
 * @chart:	state of each chart, as last read
 * @seen:	what has been printed of each chart
 * @unread:	alarms that were not read
 * @systems:	systems of all events, up to NULL
 * @head:	what window_head() returned
 * @signals:	a signalfd
 * @begun:	when it began, ns of CLOCK_MONOTONIC, as all times here
 * @last_data:	when something was last read
 * @first_data:	when the first page of the current case was read; 0: there is none
 * @next_tick:	when to look at the charts
 * @late_pages:	number of pages that were delivered after their case was closed
 * @cases:	number of cases since the start, kept or not
 * @first:	number of the first of them that is kept
 * @stop:	the watch ends
 * @broken:	what it needs was removed: its exit status is 1
 * @trouble:	something is missing from its result: its exit status is 3
 * @metrics_failed: the file of metrics could not be written the last time
 */
struct watch {
	const struct watch_options *o;
	struct rig rig;
	struct reader reader;
	struct store store;
	struct command command;
	struct pending pending;
	struct baseline baseline;
	struct metrics metrics;
	struct http *http;
	struct rig_chart *chart;
	struct seen *seen;
	struct unread unread;
	const char **systems;
	int head;
	int signals;
	u64 begun;
	u64 last_data;
	u64 first_data;
	u64 next_tick;
	u64 late_pages;
	u64 cases;
	u64 first;
	bool stop;
	bool broken;
	bool trouble;
	bool metrics_failed;
};

/* ---- cases ---- */

static const struct plan_chart *chart_of(const struct watch *w,
					 const char *name, size_t *index)
{
	/* "NAME[FIELD=VALUE]" is a part of the chart NAME */
	size_t len = strcspn(name, "["), i;

	for (i = 0; i < w->o->plan.nr_charts; i++) {
		const struct plan_chart *c = &w->o->plan.chart[i];

		if (strlen(c->name) == len && !strncmp(c->name, name, len)) {
			*index = i;
			return c;
		}
	}
	*index = 0;
	return &w->o->plan.chart[0];
}

static bool enough(const struct watch *w)
{
	return w->o->stop_after && w->cases >= w->o->stop_after;
}

/*
 * Report a case that is kept, only counted, or could not be written, for which @why says the
 * reason; it ends here
 */
static void report(struct watch *w, struct pending *p, bool kept,
		   const char *why)
{
	struct store_group *g = store_group(&w->store, p->group);
	char *dir = kept ? xasprintf("%s/%llu", w->store.dir, p->number) :
			   xstrdup("");
	char *chart = xstrndup(p->lead.chart,
			       chart_brief(p->lead.chart, p->lead.keys));
	struct notice n = {
		.number = kept ? p->number : 0,
		.like = store_first(&w->store, g),
		.alike = g->count,
		.dir = dir,
		.group = p->group,
		.chart = chart,
		.value = p->lead.value,
		.limit = p->lead.limit,
		.is_time = p->is_time,
		.pid = p->lead.pid,
		.comm = p->lead.comm,
		.keys = p->lead.keys,
		.nr_alarms = p->nr_alarms,
		.charts = p->charts,
		.removed = p->removed,
		.why = why,
	};
	struct timespec at = case_time(p->lead.ts);
	char clock[16], *message = notice_message(&n);
	struct tm tm;

	n.message = message;
	strftime(clock, sizeof(clock), "%H:%M:%S",
		 localtime_r(&at.tv_sec, &tm));
	if (!journal_send(&n))
		say("%s %s", clock, message);
	command_start(&w->command, &n, now_ns());
	w->cases++;
	w->stop |= enough(w);
	json_object_put(p->charts);
	p->charts = NULL;
	free(chart);
	free(dir);
	free(message);
}

static int write_pending(struct watch *w, size_t index, u64 nth)
{
	const struct pending *p = &w->pending;
	const struct plan_chart *c = &w->o->plan.chart[index];
	char *stacks = tracefs_get_tracing_file(STACKS_FILE);
	struct case_job job = {
		.dir = w->store.dir,
		.number = p->number,
		.group = p->group,
		.nth = nth,
		.chart = c,
		.chart_text = rig_chart_text(&w->rig, c),
		.known_stacks = stacks,
		.is_time = p->is_time,
		.reader = &w->reader,
		.head = w->head,
		.overwritten = rig_overwritten(&w->rig, w->reader.cpus),
		.missed = w->chart[index].missed,
	};
	int error;

	error = case_write(&job);
	tracefs_put_tracing_file(stacks);
	return error;
}

/* The spool had no room for the pages of all alarms of a window */
static void lose_alarms(struct watch *w)
{
	struct alarm_list *lost = &w->reader.lost;
	struct pending *p = &w->pending;
	char *why = xasprintf("no room for its events in %s", w->o->dir);
	size_t index;

	complain(
		"alarms without a case: %llu: %s: free space, or use another --dir",
		w->reader.seen + lost->nr, why);
	w->metrics.failed++;
	w->trouble = true;
	if (lost->nr) {
		*p = (struct pending){ .lead = lost->lead,
				       .nr_alarms = w->reader.seen + lost->nr,
				       .charts = alarm_list_charts(lost) };
		chart_of(w, p->lead.chart, &index);
		p->is_time = p->lead.start || w->chart[index].is_time;
		group_of(&p->lead, p->group, sizeof(p->group));
		store_wants(store_group(&w->store, p->group), 0);
		report(w, p, false, why);
	} else {
		/* Their pages cannot be read again */
		w->cases++;
		w->stop |= enough(w);
	}
	free(why);
}

/* All of the window is in the spool: make a case of it */
static void close_window(struct watch *w)
{
	struct pending *p = &w->pending;
	char reason[REASON_SIZE];
	struct store_group *g;
	size_t index;
	bool wanted;

	reader_finish(&w->reader);
	if (enough(w)) {
		/* --stop-after: the window that came after the last case */
		reader_reset(&w->reader);
		return;
	}
	if (!w->reader.nr_alarms) {
		if (w->reader.seen || w->reader.lost.nr)
			lose_alarms(w);
		else if (w->reader.own == w->reader.own_before)
			/* They were delivered after their case was closed */
			w->late_pages += w->reader.spool.nr;
		reader_reset(&w->reader);
		return;
	}
	*p = (struct pending){ .lead = w->reader.alarms.lead,
			       .nr_alarms = w->reader.nr_alarms,
			       .charts = alarm_list_charts(&w->reader.alarms) };
	chart_of(w, p->lead.chart, &index);
	/* Only durations, which are of two events, have a start */
	p->is_time = p->lead.start || w->chart[index].is_time;
	group_of(&p->lead, p->group, sizeof(p->group));
	reason_of(&w->reader, reason);
	group_add_reason(&w->store, reason, p->group, sizeof(p->group));
	g = store_group(&w->store, p->group);
	snprintf(p->group, sizeof(p->group), "%s", g->name);
	wanted = store_wants(g, p->lead.value);
	if (!wanted && !store_is_worst(&w->store, &w->reader.alarms)) {
		w->metrics.alike++;
		reader_reset(&w->reader);
		report(w, p, false, "");
		return;
	}
	p->number = w->store.next++;
	*w->reader.helper = 0;
	p->pid = child_fork(true);
	if (!p->pid) {
		memory_doing("writing case %llu", p->number);
		_exit(write_pending(w, index, g->count));
	}
	if (p->pid < 0) {
		char *why = xstrdup(strerror(errno));

		complain("case %llu is not kept: %s", p->number, why);
		p->pid = 0;
		w->metrics.failed++;
		w->trouble = true;
		report(w, p, false, why);
		free(why);
	}
	w->reader.writer = (struct own){ .pid = p->pid };
	reader_reset(&w->reader);
}

static const char *advice_of(int error)
{
	return error == ENOSPC || error == EDQUOT ?
		       ": free space, choose a smaller --keep, or use another --dir" :
	       error == ENOENT ?
		       ": the directory of the cases was removed or moved: restart the watch, or move it back" :
		       "";
}

static void save_counts(struct watch *w)
{
	if (store_save(&w->store))
		return;
	complain("%s: the counts are not saved: %s%s", w->store.dir,
		 strerror(errno), advice_of(errno));
	w->trouble = true;
}

/* The child has ended: it has written the case, or failed */
static void end_pending(struct watch *w, int status)
{
	struct pending p = w->pending;
	struct store_group *g = store_group(&w->store, p.group);
	char *error = NULL, *path;

	w->pending.pid = 0;
	w->reader.writer.ended = now_ns();
	/* If the child was killed, or failed, after its last step, the case is whole */
	path = xasprintf("%s/%llu", w->store.dir, p.number);
	if (!status || !access(path, F_OK)) {
		error = store_added(&w->store, g, p.number, &p.removed);
	} else {
		/* Its files would occupy room */
		free(path);
		path = xasprintf("%s/.case-%llu", w->store.dir, p.number);
		store_remove(path);
		error = xasprintf(
			"case %llu is not kept: %s%s", p.number,
			WIFEXITED(status) ? strerror(WEXITSTATUS(status)) :
					    "its writer was killed",
			advice_of(WIFEXITED(status) ? WEXITSTATUS(status) : 0));
	}
	free(path);
	if (error) {
		complain("%s", error);
		w->metrics.failed++;
		w->trouble = true;
	} else {
		w->metrics.kept++;
		w->metrics.lost += w->store.c[w->store.nr - 1].lost;
	}
	w->trouble |= !store_keep(&w->store, w->o->keep);
	report(w, &p, !error, error ? error : "");
	free(error);
	save_counts(w);
}

static void end_baseline(struct watch *w, int status)
{
	/* If the child was killed, its instance would record on */
	rig_end_baseline(&w->rig);
	w->reader.baseline.ended = now_ns();
	baseline_ended(&w->baseline, status, w->reader.baseline.ended);
}

static void reap(struct watch *w)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == w->pending.pid)
			end_pending(w, status);
		else if (pid == w->baseline.pid)
			end_baseline(w, status);
		else if (pid == w->command.pid)
			command_ended(&w->command, status);
	}
}

/* ---- alarms that never come ---- */

static u64 alarms_written(const struct watch *w)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < w->o->plan.nr_charts; i++)
		sum += w->chart[i].alarms - w->chart[i].not_written;
	return sum;
}

static void report_unread(struct watch *w, u64 lost)
{
	if (!lost)
		return;
	w->trouble = true;
	complain(
		"alarms that could not be read: %llu: another program reads the trace instance %s, or events are overwritten in it: choose a larger --buffer",
		lost, w->rig.name);
}

/* Once all functions whose paths are recorded have limits, and rarely again */
static void look_at_baseline(struct watch *w)
{
	const struct plan *p = &w->o->plan;
	struct baseline_job job = {
		.rig = &w->rig,
		.dir = w->store.dir,
		.head = w->head,
		.page_size = w->reader.spool.page_size,
		.cpus = w->reader.cpus,
	};
	u64 now = now_ns();
	size_t i;

	if (!plan_has_paths(p) || w->baseline.pid)
		return;
	if (now < w->baseline.next)
		return;
	for (i = 0; i < p->nr_charts; i++) {
		if (p->chart[i].paths && !w->chart[i].has_limit)
			return;
	}
	baseline_record(&w->baseline, &job, now);
	w->reader.baseline = (struct own){ .pid = w->baseline.pid };
}

static void update_metrics(struct watch *w)
{
	char *error;

	w->metrics.own = w->reader.own;
	w->metrics.bytes = store_bytes(&w->store);
	if (!w->o->metrics || w->http)
		return;
	error = metrics_write(&w->metrics, w->o->metrics);
	if (error && !w->metrics_failed)
		complain("%s", error);
	w->metrics_failed = error;
	w->trouble |= w->metrics_failed;
	free(error);
}

static void end_broken(struct watch *w)
{
	rig_stop(&w->rig);
	w->broken = true;
	w->stop = true;
}

static void tick(struct watch *w)
{
	const struct plan *p = &w->o->plan;
	size_t i;

	if (complained(rig_damage(&w->rig))) {
		end_broken(w);
		return;
	}
	for (i = 0; i < p->nr_charts; i++) {
		if (chart_look(&w->rig, &p->chart[i], &w->chart[i], &w->seen[i],
			       now_ns() - w->begun))
			continue;
		complain(
			"the filter of %s was removed or replaced by another program: " RIG_ADVICE,
			p->chart[i].event);
		end_broken(w);
		return;
	}
	report_unread(w, unread_look(&w->unread, alarms_written(w),
				     w->reader.read, now_ns()));
	look_at_baseline(w);
	update_metrics(w);
}

/* ---- the loop ---- */

static void handle_signals(struct watch *w)
{
	struct signalfd_siginfo info;

	while (read(w->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			w->stop = true;
	}
	reap(w);
}

static void read_data(struct watch *w)
{
	u64 now = now_ns();

	if (!reader_pass(&w->reader))
		return;
	if (!w->first_data)
		w->first_data = now;
	/* A pass over many pages takes a while, and there may be more of them */
	w->last_data = now_ns();
}

/* Whether a window is over, and the case before it has been written */
static bool is_over(const struct watch *w, u64 now)
{
	if (!w->reader.spool.nr || w->pending.pid)
		return false;
	return now - w->last_data >= QUIET || now - w->first_data >= LONGEST ||
	       spool_full(&w->reader.spool);
}

static void wait_for_work(struct watch *w, struct pollfd *fds, u64 now)
{
	u64 until = w->next_tick;
	u64 wait;

	if (w->reader.spool.nr && !w->pending.pid &&
	    w->last_data + QUIET < until)
		until = w->last_data + QUIET;
	if (w->o->duration && w->begun + w->o->duration < until)
		until = w->begun + w->o->duration;
	wait = until > now ? until - now : 0;
	poll(fds, w->reader.cpus + 2, (wait + MS - 1) / MS);
}

static void loop(struct watch *w)
{
	struct pollfd *fds = xcalloc(w->reader.cpus + 2, sizeof(*fds));
	struct timespec pass = { .tv_nsec = PASS };
	unsigned int i;
	u64 now;

	fds[0] = (struct pollfd){ .fd = w->signals, .events = POLLIN };
	for (i = 0; i < w->reader.cpus; i++)
		fds[i + 1] = (struct pollfd){ .fd = w->reader.fd[i],
					      .events = POLLIN };
	fds[i + 1] =
		(struct pollfd){ .fd = http_fd(w->http), .events = POLLIN };
	while (!w->stop) {
		now = now_ns();
		if (w->o->duration && now - w->begun >= w->o->duration)
			break;
		wait_for_work(w, fds, now);
		handle_signals(w);
		read_data(w);
		now = now_ns();
		if (is_over(w, now)) {
			close_window(w);
			w->first_data = 0;
		}
		if (now >= w->next_tick) {
			tick(w);
			w->next_tick = now + TICK;
		}
		http_run(w->http);
		/* So that a burst is read in few passes, not page by page */
		nanosleep(&pass, NULL);
	}
	free(fds);
}

static void wait_for_pending(struct watch *w)
{
	int status = -1;

	if (!w->pending.pid)
		return;
	while (waitpid(w->pending.pid, &status, 0) < 0 && errno == EINTR)
		;
	end_pending(w, status);
}

static void read_charts(struct watch *w)
{
	const struct plan *p = &w->o->plan;
	size_t i;

	/* If something was removed, what was read last is all there is */
	for (i = 0; i < p->nr_charts && !w->broken; i++)
		rig_chart(&w->rig, &p->chart[i], &w->chart[i]);
}

/* Make a case of what was recorded last */
static void drain(struct watch *w)
{
	bool full;

	/* Later alarms are counted, but not written */
	read_charts(w);
	rig_stop(&w->rig);
	do {
		while (!(full = spool_full(&w->reader.spool)) &&
		       reader_pass(&w->reader))
			;
		wait_for_pending(w);
		if (w->reader.spool.nr)
			close_window(w);
		wait_for_pending(w);
	} while (full);
	/* A service's processes are killed when the watch ends */
	command_wait(&w->command);
}

/* How many cases are there, and what became of the others */
static void say_cases(const struct watch *w)
{
	size_t there = store_since(&w->store, w->first);

	say("%" PRIu64 " case%s: %zu kept, %" PRIu64 " removed, %" PRIu64
	    " alike, %" PRIu64 " not written",
	    (uint64_t)w->cases, w->cases == 1 ? "" : "s", there,
	    (uint64_t)w->metrics.kept - there, (uint64_t)w->metrics.alike,
	    (uint64_t)w->metrics.failed);
}

static void conclude(struct watch *w)
{
	const struct plan *p = &w->o->plan;
	size_t i;

	for (i = 0; i < p->nr_charts; i++) {
		w->trouble |= w->seen[i].unloaded;
		if (w->chart[i].missed)
			say("%s: %" PRIu64
			    " calls were missed, by probes that have room for %d at a time",
			    p->chart[i].name, (uint64_t)w->chart[i].missed,
			    PLAN_CALLS);
		if (w->chart[i].has_limit || w->broken)
			continue;
		complain("%s: ended while %s: nothing was judged",
			 p->chart[i].name,
			 *w->chart[i].state ? w->chart[i].state : "learning");
		w->trouble = true;
	}
	report_unread(w, unread_end(&w->unread, alarms_written(w),
				    w->reader.read));
	update_metrics(w);
	say_cases(w);
	if (w->reader.own)
		say("%" PRIu64
		    " alarms that the watch's own writes caused are in no case",
		    (uint64_t)w->reader.own);
	if (w->late_pages)
		say("%" PRIu64 " pages were delivered too late for their cases",
		    (uint64_t)w->late_pages);
	if (w->command.skipped)
		say("--on-alarm was not started for the last %" PRIu64
		    " case%s",
		    (uint64_t)w->command.skipped,
		    w->command.skipped == 1 ? "" : "s");
}

static bool catch_signals(struct watch *w)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
	struct sigaction old;
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		/* nohup, and shells for what is in the background, ignore some */
		if (!sigaction(signals[i], NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			sigaddset(&set, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	w->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return w->signals >= 0;
}

static bool open_store(struct watch *w)
{
	struct store *s = &w->store;
	char text[32];
	bool full;

	if (complained(store_open(s, w->o->dir, true)))
		return false;
	full = s->other_bytes > w->o->keep;
	if (s->damaged)
		complain(
			"%s: damaged cases: %zu; they take %s of the room: remove what you do not need, tracerig list names them%s",
			s->dir, s->damaged,
			format_bytes(text, sizeof(text), s->other_bytes),
			full ? ", or choose a larger --keep" : "");
	/* Good cases would be removed, and there would not be room then */
	if (full)
		return false;
	w->trouble = !store_keep(s, w->o->keep);
	return true;
}

static bool start(struct watch *w)
{
	const struct plan *p = &w->o->plan;
	unsigned int cleaned = 0;

	/* From here on, a signal ends the loop, and all is cleaned up */
	if (!catch_signals(w)) {
		complain("signalfd: %s", strerror(errno));
		return false;
	}
	if (w->o->metrics && !http_is_address(w->o->metrics) &&
	    complained(metrics_check(w->o->metrics)))
		return false;
	if (complained(rig_check()) || !open_store(w))
		return false;
	if (w->o->metrics && http_is_address(w->o->metrics) &&
	    complained(http_open(&w->http, w->o->metrics, &w->metrics)))
		return false;
	if (complained(rig_open(&w->rig, p, &cleaned)))
		return false;
	if (cleaned)
		say("removed trace instances of killed watches: %u", cleaned);
	if (complained(rig_prepare(&w->rig, w->o->buffer)))
		return false;
	if (w->o->limits &&
	    !limits_exchange(p, w->rig.name, w->o->limits, true))
		return false;
	w->systems = plan_systems(p, w->rig.system);
	if (complained(reader_open(&w->reader, w->rig.instance, w->systems,
				   w->store.dir, p->lead_in)))
		return false;
	w->rig.tep = w->reader.tep;
	w->head = window_head(w->systems, w->store.dir);
	if (w->head < 0) {
		complain("%s: %s: " CHOOSE_DIR, w->store.dir, strerror(errno));
		return false;
	}
	if (complained(rig_start(&w->rig)))
		return false;
	/* At once, as another watch that begins looks whether there is one that writes it */
	update_metrics(w);
	return true;
}

/* Return: false if something could not be removed */
static bool free_watch(struct watch *w)
{
	bool gone;

	http_close(w->http);
	if (w->store.lock >= 0)
		baseline_close(&w->baseline, w->store.dir);
	reader_close(&w->reader);
	gone = !complained(rig_close(&w->rig));
	if (!w->begun)
		store_undo(&w->store);
	store_close(&w->store);
	plan_systems_free(w->systems);
	free(w->chart);
	free(w->seen);
	if (w->head >= 0)
		close(w->head);
	if (w->signals >= 0)
		close(w->signals);
	return gone;
}

/**
 * watch_run - watch until the end
 * @o: the options
 *
 * Return: the exit status.
 */
int watch_run(const struct watch_options *o)
{
	struct watch w = { .o = o,
			   .rig.lock = -1,
			   .reader.spool.file = -1,
			   .store.lock = -1,
			   .head = -1,
			   .signals = -1,
			   .command.text = o->on_alarm,
			   .command.interval = o->interval };
	int status = EXIT_FAILURE;
	size_t i;

	w.chart = xcalloc(o->plan.nr_charts, sizeof(*w.chart));
	w.seen = xcalloc(o->plan.nr_charts, sizeof(*w.seen));
	for (i = 0; i < o->plan.nr_charts; i++)
		w.seen[i].loaded = o->limits;
	w.metrics = (struct metrics){ .plan = &o->plan,
				      .chart = w.chart,
				      .store = &w.store };
	memory_doing("preparing the watch");
	if (start(&w)) {
		for (i = 0; i < o->plan.nr_charts; i++)
			say("%s: %s", o->plan.chart[i].name,
			    o->limits ? "judging" : "learning");
		w.begun = now_ns();
		w.first = w.store.next;
		memory_doing("watching");
		loop(&w);
		drain(&w);
		if (o->save_limits && !limits_exchange(&o->plan, w.rig.name,
						       o->save_limits, false))
			w.trouble = true;
		conclude(&w);
		save_counts(&w);
		status = w.broken  ? EXIT_FAILURE :
			 w.trouble ? EXIT_INCOMPLETE :
				     EXIT_SUCCESS;
	}
	return free_watch(&w) ? status : EXIT_FAILURE;
}
