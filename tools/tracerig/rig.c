// SPDX-License-Identifier: GPL-2.0
/* The trace instance and the probes of a watch. See rig.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "kernelchart.h"
#include "memory.h"
#include "paths.h"
#include "rig.h"

#define PROBES                                                  \
	(TRACEFS_DYNEVENT_KPROBE | TRACEFS_DYNEVENT_KRETPROBE | \
	 TRACEFS_DYNEVENT_UPROBE | TRACEFS_DYNEVENT_URETPROBE | \
	 TRACEFS_DYNEVENT_EPROBE)

/* Instances of watches at a time */
#define RIGS_MAX 64

#define NO_CTLCHART \
	"this kernel has no ctlchart() filter: boot a kernel with tracerig's patches (make kernel-deb, docs/rig.md)"

/**
 * rig_system - the system of a chart's event
 * @r: the rig
 * @c: the chart
 *
 * Return: the system, which for probes is the rig's own.
 */
const char *rig_system(const struct rig *r, const struct plan_chart *c)
{
	return c->system ? c->system : r->system;
}

static bool is_there(char *path)
{
	bool there = path && !access(path, F_OK);

	tracefs_put_tracing_file(path);
	return there;
}

/**
 * rig_has_event - whether the kernel has an event
 * @system: its system
 * @event: its name
 */
bool rig_has_event(const char *system, const char *event)
{
	return is_there(tracefs_event_get_file(NULL, system, event, "enable"));
}

/**
 * rig_lockdown - find out the mode of lockdown
 *
 * Return: the mode, for free(); NULL if there is no lockdown.
 */
char *rig_lockdown(void)
{
	FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char line[256], *mode = NULL, *end;

	if (f && fgets(line, sizeof(line), f))
		mode = strchr(line, '[');
	end = mode ? strchr(mode, ']') : NULL;
	if (f)
		fclose(f);
	if (!end)
		return NULL;
	*end = '\0';
	return strcmp(mode, "[none") ? xstrdup(mode + 1) : NULL;
}

/**
 * rig_check - whether this machine can be watched
 *
 * Return: NULL, or what is missing and what to do about it, for free().
 */
char *rig_check(void)
{
	char *path, *mode = rig_lockdown();
	const char *dir;
	bool locked = mode && !strcmp(mode, LOCKDOWN_ALL);

	free(mode);
	if (locked)
		return xstrdup("lockdown (" LOCKDOWN_ALL "): " LOCKDOWN_ADVICE);
	dir = tracefs_tracing_dir();
	if (!dir)
		return xasprintf(
			"tracefs cannot be mounted: %s",
			geteuid() ?
				"run this as root" :
				"mount -t tracefs nodev /sys/kernel/tracing");
	path = tracefs_get_tracing_file("instances");
	if (!path || access(path, W_OK)) {
		int error = errno;

		tracefs_put_tracing_file(path);
		if (error == ENOENT)
			return xasprintf(
				"%s is not a tracefs: mount -t tracefs nodev %s",
				dir, dir);
		return xasprintf("%s: %s: run this as root", dir,
				 strerror(error));
	}
	tracefs_put_tracing_file(path);
	if (!rig_has_event("ctlchart", "ctlchart_alarm"))
		return xstrdup(NO_CTLCHART);
	return NULL;
}

/* ---- what a killed watch left behind ---- */

static bool remove_probes(const char *system)
{
	struct tracefs_dynevent **probe =
		tracefs_dynevent_get_all(PROBES, system);
	bool removed = true;
	int i;

	/* By force if another instance has enabled them: that expands the main ring buffer */
	for (i = 0; probe && probe[i]; i++) {
		paths_remove_left(probe[i], system);
		removed &= !tracefs_dynevent_destroy(probe[i], false) ||
			   !tracefs_dynevent_destroy(probe[i], true);
	}
	tracefs_dynevent_list_free(probe);
	return removed;
}

static void names(struct rig *r, unsigned int number)
{
	r->number = number;
	snprintf(r->name, sizeof(r->name), "tracerig-%u", number);
	snprintf(r->system, sizeof(r->system), "tracerig_%u", number);
}

static int lock_directory(const char *name, int how)
{
	char *path = tracefs_get_tracing_file(name);
	int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int error;

	tracefs_put_tracing_file(path);
	if (fd >= 0 && flock(fd, how)) {
		error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

/* Lock the directory of an instance; -1 with EWOULDBLOCK if its watch lives */
static int lock_instance(const char *name)
{
	char *path = xasprintf("instances/%s", name);
	int fd = lock_directory(path, LOCK_EX | LOCK_NB);

	free(path);
	return fd;
}

static bool has_instance(const char *name)
{
	char *path = xasprintf("instances/%s", name);
	bool there = is_there(tracefs_get_tracing_file(path));

	free(path);
	return there;
}

/* Remove an instance; false if it stays, because another program uses it */
static bool destroy(const char *name)
{
	struct tracefs_instance *instance;

	if (!has_instance(name))
		return true;
	instance = tracefs_instance_alloc(NULL, name);
	if (!instance)
		return !has_instance(name);
	tracefs_trace_off(instance);
	/* An enabled event with a chart keeps its start event from being removed */
	tracefs_instance_file_write(instance, "events/enable", "0");
	/* If the instance stays, at least its tracer ends */
	paths_stop(instance);
	tracefs_instance_destroy(instance);
	tracefs_instance_free(instance);
	return !has_instance(name);
}

/* The name of the instance that records normal executions, for free() */
static char *baseline_name(const struct rig *r)
{
	return xasprintf("%s-normal", r->name);
}

/* Whether an instance that stays records paths */
static bool has_paths(const char *name)
{
	struct tracefs_instance *instance;
	bool has;

	if (!has_instance(name))
		return false;
	instance = tracefs_instance_alloc(NULL, name);
	has = instance && !paths_stop(instance);
	if (instance)
		tracefs_instance_free(instance);
	return has;
}

/*
 * Remove all that a watch has made. Return: whether all is gone; if not, @stays is the
 * instance that another program uses, for free(), or NULL
 */
static bool clear(const struct rig *r, char **stays)
{
	char *baseline = baseline_name(r);
	bool gone = false;

	*stays = NULL;
	if (!destroy(r->name))
		*stays = xstrdup(r->name);
	if (!destroy(baseline) && !*stays)
		*stays = xstrdup(baseline);
	/* With the tracer on, and no function set, it would record all of them */
	if (!has_paths(r->name) && !has_paths(baseline)) {
		if (r->plan)
			paths_remove(r->plan, r->followed);
		gone = remove_probes(r->system) && !*stays;
	}
	free(baseline);
	return gone;
}

/*
 * Find a number for this watch, and remove what killed watches left. The caller
 * holds the lock on the directory of instances: otherwise another watch could remove an
 * instance that this one has made and not locked yet.
 */
static bool choose_number(struct rig *r, unsigned int *cleaned)
{
	struct rig other = { .lock = -1 };
	bool chosen = false, gone;
	unsigned int i;
	char *stays;
	int fd;

	for (i = 1; i <= RIGS_MAX; i++) {
		names(&other, i);
		fd = lock_instance(other.name);
		if (fd < 0 && errno != ENOENT)
			continue;
		/* A watch may have been killed between its instance and its probes */
		gone = clear(&other, &stays);
		free(stays);
		*cleaned += fd >= 0 && !has_instance(other.name);
		if (fd >= 0)
			close(fd);
		if (!gone || chosen)
			continue;
		names(r, i);
		chosen = true;
	}
	return chosen;
}

static struct tracefs_dynevent *alloc_probe(const struct rig *r,
					    const struct plan_probe *p)
{
	struct tracefs_dynevent *probe;
	const char *event;
	char *system;

	if (p->of) {
		system = xstrndup(p->of, strcspn(p->of, "/"));
		event = strchr(p->of, '/') + 1;
		probe = tracefs_eprobe_alloc(r->system, p->event, system, event,
					     p->args);
		free(system);
		return probe;
	}
	if (p->file && p->returns)
		return tracefs_uretprobe_alloc(r->system, p->event, p->file,
					       p->offset, NULL);
	if (p->file)
		return tracefs_uprobe_alloc(r->system, p->event, p->file,
					    p->offset, NULL);
	return tracefs_kprobe_alloc(r->system, p->event, p->function, NULL);
}

static char *cannot_probe(const struct plan_probe *p, int error)
{
	if (p->of)
		return xasprintf(
			"%s cannot be probed: %s: this needs events of iosys, which a kernel with tracerig's patches has (CONFIG_IOSYS)",
			p->of, strerror(error));
	return xasprintf(
		"%s cannot be probed: %s%s", p->file ? p->file : p->function,
		strerror(error),
		p->file ?
			"" :
			": see /sys/kernel/tracing/available_filter_functions");
}

/* libtracefs 1.6 writes "r4096::SYSTEM", which the kernel does not understand */
static bool create_return(const struct rig *r, const struct plan_probe *p)
{
	char *line = xasprintf("r%d:%s/%s %s", PLAN_CALLS, r->system, p->event,
			       p->function);
	bool created =
		tracefs_instance_file_append(NULL, "kprobe_events", line) >= 0;

	free(line);
	return created;
}

static bool create_probe(const struct rig *r, const struct plan_probe *p)
{
	struct tracefs_dynevent *probe;
	int failed, error;

	if (p->function && p->returns)
		return create_return(r, p);
	probe = alloc_probe(r, p);
	if (!probe)
		memory_failed();
	failed = tracefs_dynevent_create(probe);
	error = errno;
	tracefs_dynevent_free(probe);
	errno = error;
	return !failed;
}

static bool create_probes(const struct rig *r, char **error)
{
	size_t i;

	for (i = 0; i < r->plan->nr_probes; i++) {
		if (create_probe(r, &r->plan->probe[i]))
			continue;
		*error = cannot_probe(&r->plan->probe[i], errno);
		return false;
	}
	return true;
}

/**
 * rig_open - make the instance and the probes
 * @r: filled in; rig_close() is due even on error
 * @p: what the watch does
 * @cleaned: where to put the number of instances of killed watches that were removed
 *
 * Return: NULL, or what is wrong, for free().
 */
char *rig_open(struct rig *r, const struct plan *p, unsigned int *cleaned)
{
	char *error = NULL;
	int all;

	*r = (struct rig){ .plan = p, .lock = -1 };
	*cleaned = 0;
	all = lock_directory("instances", LOCK_EX);
	if (all < 0)
		return xasprintf("instances of tracefs: %s", strerror(errno));
	if (!choose_number(r, cleaned)) {
		close(all);
		return xasprintf("%d watches are running already", RIGS_MAX);
	}
	if (plan_has_paths(p))
		error = paths_check();
	/* The probes come first: a killed watch leaves them */
	if (!error && create_probes(r, &error))
		error = paths_add(p, &r->followed);
	if (!error) {
		r->instance = tracefs_instance_create(r->name);
		if (!r->instance)
			error = xasprintf("trace instance %s: %s", r->name,
					  strerror(errno));
		else
			r->lock = lock_instance(r->name);
	}
	if (r->instance && r->lock < 0)
		error = xasprintf("trace instance %s: %s", r->name,
				  strerror(errno));
	close(all);
	return error;
}

/* ---- events and filters ---- */

static char *split(const char *event, const char **name)
{
	const char *colon = strchr(event, ':');

	*name = colon + 1;
	return xstrndup(event, colon - event);
}

static char *set_filter(struct rig *r, const struct plan_chart *c)
{
	const char *system = rig_system(r, c);
	char *why, *error;

	if (!rig_has_event(system, c->event))
		return xasprintf("this kernel has no event %s:%s", system,
				 c->event);
	if (tracefs_event_file_write(r->instance, system, c->event, "filter",
				     c->filter) >= 0)
		return NULL;
	if (errno != EINVAL)
		return xasprintf("filter of %s:%s: %s", system, c->event,
				 strerror(errno));
	why = tracefs_error_last(r->instance);
	if (why && *why && why[strlen(why) - 1] == '\n')
		why[strlen(why) - 1] = '\0';
	error = xasprintf("the kernel refuses the filter of %s:%s%s%s", system,
			  c->event, why ? ":\n" : "", why ? why : "");
	free(why);
	return error;
}

static char *set_buffer(struct tracefs_instance *instance, u64 buffer)
{
	if (tracefs_instance_set_buffer_size(instance, buffer >> 10, -1))
		return xasprintf(
			"a ring buffer of %llu KiB for each CPU: %s: choose a smaller --buffer",
			buffer >> 10, strerror(errno));
	/* Windows need a clock that all CPUs share; this one converts to the time of day */
	if (tracefs_instance_file_write(instance, "trace_clock", "mono") < 0)
		return xasprintf("trace clock mono: %s", strerror(errno));
	return NULL;
}

/**
 * rig_prepare - set up the ring buffer, the filters and the tracer
 * @r: the rig
 * @buffer: bytes of the ring buffer of each CPU
 *
 * Return: NULL, or what is wrong, for free().
 */
char *rig_prepare(struct rig *r, u64 buffer)
{
	char *error = set_buffer(r->instance, buffer);
	size_t i;

	if (error)
		return error;
	for (i = 0; i < r->plan->nr_charts; i++) {
		error = set_filter(r, &r->plan->chart[i]);
		if (error)
			return error;
	}
	if (!plan_has_paths(r->plan))
		return NULL;
	/* Not later, since readers fix the tracer; and what prepares the watch is not recorded */
	tracefs_trace_off(r->instance);
	return paths_start(r->instance);
}

static char *enable(struct tracefs_instance *instance, const char *system,
		    const char *event)
{
	if (!tracefs_event_enable(instance, system, event))
		return NULL;
	return xasprintf("event %s:%s: %s", system, event, strerror(errno));
}

static char *enable_context(const struct plan *p,
			    struct tracefs_instance *instance, bool charts)
{
	char *system, *error = NULL;
	const char *event;
	size_t i;

	for (i = 0; i < p->nr_context && !error; i++) {
		if (!charts && !strncmp(p->context[i], "ctlchart", 8))
			continue;
		system = split(p->context[i], &event);
		if (rig_has_event(system, event))
			error = enable(instance, system, event);
		else if (!p->optional[i])
			error = xasprintf("this kernel has no event %s",
					  p->context[i]);
		free(system);
	}
	return error;
}

/**
 * rig_start - enable the events
 * @r: the rig, after rig_prepare()
 *
 * Return: NULL, or what is wrong, for free().
 */
char *rig_start(struct rig *r)
{
	const struct plan *p = r->plan;
	char *error;
	size_t i;

	/* Before anything is judged: an alarm that is not written is never read */
	error = enable(r->instance, "ctlchart", "ctlchart_limit");
	if (!error)
		error = enable(r->instance, "ctlchart", "ctlchart_alarm");
	if (!error)
		error = enable_context(p, r->instance, true);
	for (i = 0; i < p->nr_charts && !error; i++)
		error = enable(r->instance, rig_system(r, &p->chart[i]),
			       p->chart[i].event);
	if (plan_has_paths(p))
		tracefs_trace_on(r->instance);
	return error;
}

/**
 * rig_baseline - record all paths for a while, in another instance
 * @r: the rig
 * @buffer: bytes of its ring buffer of each CPU
 * @instance: where to put it; it is for tracefs_instance_free() and rig_end_baseline()
 *
 * Return: NULL, or what is wrong, for free().
 */
char *rig_baseline(const struct rig *r, u64 buffer,
		   struct tracefs_instance **instance)
{
	char *name = baseline_name(r), *error;

	*instance = tracefs_instance_create(name);
	if (!*instance)
		error = xasprintf("trace instance %s: %s", name,
				  strerror(errno));
	else
		error = set_buffer(*instance, buffer);
	if (!error)
		error = enable_context(r->plan, *instance, false);
	if (!error)
		error = paths_start(*instance);
	free(name);
	return error;
}

/**
 * rig_end_baseline - remove the instance of rig_baseline(), if it is there
 * @r: the rig
 *
 * If another program uses it, it stays, and rig_close() reports it.
 */
void rig_end_baseline(const struct rig *r)
{
	char *name = baseline_name(r);

	destroy(name);
	free(name);
}

/**
 * rig_stop - end recording; what was recorded can still be read
 * @r: the rig
 */
void rig_stop(struct rig *r)
{
	tracefs_trace_off(r->instance);
}

/**
 * rig_close - remove the instance and the probes
 * @r: the rig; its ring buffer must not be read any more
 *
 * Return: NULL, or what stays, for free().
 */
char *rig_close(struct rig *r)
{
	char *stays = NULL, *error = NULL;
	int all;

	if (r->instance)
		tracefs_instance_free(r->instance);
	r->instance = NULL;
	if (r->number) {
		/* Not while another watch looks for a number: it would get this one */
		all = lock_directory("instances", LOCK_EX);
		clear(r, &stays);
		if (all >= 0)
			close(all);
	}
	if (r->lock >= 0)
		close(r->lock);
	r->lock = -1;
	if (stays)
		error = xasprintf(
			"the trace instance %s is in use by another program, and stays: end that program; the next watch removes the instance",
			stays);
	free(stays);
	return error;
}

/* tracefs_event_is_enabled() walks all events each time: 2 % of a CPU */
static bool is_disabled(const struct rig *r, const char *system,
			const char *event)
{
	char *text = tracefs_event_file_read(r->instance, system, event,
					     "enable", NULL);
	bool disabled = text && *text == '0';

	free(text);
	return disabled;
}

/* Return: the first event that should be enabled and is not, for free(); NULL: none */
static char *disabled_event(const struct rig *r)
{
	const struct plan *p = r->plan;
	char *system, *found = NULL;
	const char *event;
	size_t i;

	for (i = 0; i < p->nr_context && !found; i++) {
		system = split(p->context[i], &event);
		if (is_disabled(r, system, event))
			found = xstrdup(p->context[i]);
		free(system);
	}
	for (i = 0; i < p->nr_charts && !found; i++) {
		const struct plan_chart *c = &p->chart[i];

		if (is_disabled(r, rig_system(r, c), c->event))
			found = xasprintf("%s:%s", rig_system(r, c), c->event);
	}
	return found;
}

/**
 * rig_damage - find out what other programs have removed from a watch, or switched off
 * @r: the rig, after rig_start()
 *
 * Return: NULL, or what is missing, for free().
 */
char *rig_damage(const struct rig *r)
{
	int fd = lock_instance(r->name);
	char *event, *error = NULL;
	const char *function;

	if (fd >= 0)
		close(fd);
	/* Too many open files, or too little memory, is no reason to end the watch */
	if (fd >= 0 || errno == ENOENT)
		return xasprintf(
			"the trace instance %s was removed by another program",
			r->name);
	if (!tracefs_trace_is_on(r->instance))
		return xasprintf(
			"the trace instance %s was switched off by another program or a trigger: " RIG_ADVICE,
			r->name);
	event = disabled_event(r);
	if (event)
		error = xasprintf(
			"the event %s of the trace instance %s was disabled by another program: " RIG_ADVICE,
			event, r->name);
	free(event);
	if (error)
		return error;
	function = paths_lost(r->plan);
	return function ?
		       xasprintf(
			       "%s was removed from set_graph_function by another program, so that paths of all functions may be recorded: " RIG_ADVICE,
			       function) :
		       NULL;
}
