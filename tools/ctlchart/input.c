// SPDX-License-Identifier: GPL-2.0
/* Reading the trace with libtracecmd, and fields with their bounds checked. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <trace-cmd.h>

#include "ctlchart.h"
#include "instance.h"

#define ALIVE_EVENTS 4096

/* When there are more, every other one is dropped */
#define MAX_PLACES 4096
#define PLACE_EVENTS 1024

/* Bytes of events that have been read and may stay in memory */
#define DROP_BYTES (32ull << 20)

static int fail_errno(struct input *in)
{
	return guard_fail(in->guard, GUARD_NOWHERE, "%s", strerror(errno));
}

static int check_outline(struct input *in)
{
	struct tracefile_error error;
	struct tracefile_info info;
	struct stat st;
	int fd, status = 0;

	fd = open(in->report->file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return fail_errno(in);
	if (!tracefile_check(fd, in->report->instance, &info, &error) ||
	    !tracefile_clock(&info, &error))
		status =
			guard_fail(in->guard, error.offset, "%s", error.reason);
	in->page_size = info.page_size;
	tracefile_free(&info);
	if (!fstat(fd, &st))
		in->inode = st.st_ino;
	in->next_drop = DROP_BYTES;
	close(fd);
	return status;
}

/*
 * libtracecmd maps as much of the file as it can at once, so pages that were read stay
 * resident, up to the whole file. Drop them: the mappings are private and read-only, and
 * pages that are still needed are read from the file again.
 */
static void drop_mapped(struct input *in)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	char line[256], access[8];
	unsigned long long inode;
	int c;

	in->next_drop = in->report->bytes + DROP_BYTES;
	while (maps && fgets(line, sizeof(line), maps)) {
		for (c = line[strlen(line) - 1]; c != '\n' && c != EOF;)
			c = fgetc(maps); /* a long path */
		if (sscanf(line, "%lx-%lx %7s %*x %*s %llu", &from, &to, access,
			   &inode) == 4 &&
		    inode == in->inode && !strcmp(access, "r--p"))
			madvise((void *)from, to - from, MADV_DONTNEED);
	}
	if (maps)
		fclose(maps);
}

static void report_progress(struct input *in, const struct tep_record *rec)
{
	struct report *r = in->report;

	guard_alive(in->guard, rec->offset);
	in->next_alive = r->events + ALIVE_EVENTS;
	if (r->bytes >= in->next_drop)
		drop_mapped(in);
	/* CSV alarms are written during the reading, maybe to the same terminal */
	if (r->format != FORMAT_CSV)
		guard_progress(in->guard, "%.1f M events, %.1f s of trace",
			       r->events / 1e6, (r->last - r->first) / 1e9);
}

/* None of its records has come before */
static void add_place_cpus(struct places *p, int cpus)
{
	p->cpu = xreallocarray(p->cpu, cpus, sizeof(*p->cpu));
	for (; p->cpus < cpus; p->cpus++) {
		p->cpu[p->cpus].now = 0;
		p->cpu[p->cpus].offset = xcalloc(MAX_PLACES, sizeof(u64));
	}
}

static void add_place(struct places *p)
{
	size_t i;
	int cpu;

	if (p->nr == MAX_PLACES) {
		p->every *= 2;
		p->nr /= 2;
		for (cpu = 0; cpu < p->cpus; cpu++) {
			u64 *offset = p->cpu[cpu].offset;

			for (i = 0; i < p->nr; i++)
				offset[i] = offset[2 * i];
		}
	}
	for (cpu = 0; cpu < p->cpus; cpu++)
		p->cpu[cpu].offset[p->nr] = p->cpu[cpu].now;
	p->nr++;
}

static void note_place(struct places *p, u64 events,
		       const struct tep_record *rec)
{
	if (events % p->every == 0)
		add_place(p);
	if (rec->cpu < 0)
		return;
	if (rec->cpu >= p->cpus)
		add_place_cpus(p, rec->cpu + 1);
	p->cpu[rec->cpu].now = rec->offset;
}

/**
 * places_new - places that input_read() is to note
 *
 * Return: none yet, for places_free().
 */
struct places *places_new(void)
{
	struct places *p = xzalloc(sizeof(*p));

	p->every = PLACE_EVENTS;
	return p;
}

/**
 * places_free - free the places of a trace
 * @p: the places, or NULL
 */
void places_free(struct places *p)
{
	int cpu;

	if (!p)
		return;
	for (cpu = 0; cpu < p->cpus; cpu++)
		free(p->cpu[cpu].offset);
	free(p->cpu);
	free(p);
}

/*
 * libtracecmd does not check the size in a record's header. Pages are at multiples of
 * their size in the file, and a record's offset is that of its header.
 */
static bool leaves_page(const struct input *in, const struct tep_record *rec)
{
	int page = in->page_size;

	return rec->size > rec->record_size ||
	       rec->record_size > page - (int)(rec->offset % page);
}

static int on_event(struct tracecmd_input *handle, struct tep_record *rec,
		    int cpu, void *arg)
{
	struct input *in = arg;
	struct report *r = in->report;

	(void)handle;
	(void)cpu;
	if (rec->size >= 8 && leaves_page(in, rec)) {
		in->status = guard_fail(in->guard, rec->offset,
					"damaged: a record leaves its page");
		return in->status;
	}
	if (r->events == in->next_alive)
		report_progress(in, rec);
	if (!r->events)
		r->first = rec->ts;
	if (r->places && !in->reader->wanted)
		note_place(r->places, r->events, rec);
	r->events++;
	r->bytes += rec->record_size;
	if (rec->ts > r->last)
		r->last = rec->ts;
	if (rec->missed_events) {
		r->gaps++;
		if (rec->missed_events > 0)
			r->lost += rec->missed_events;
		if (in->reader->lost)
			in->reader->lost(in, in->reader->arg);
	}
	if (rec->size < 8 || rec->cpu < 0)
		return 0;
	in->status = in->reader->event(in, rec, in->reader->arg);
	return in->status;
}

/* All events have the common fields at the same offsets: use those of one event. */
static int find_common(struct input *in)
{
	struct tep_event *event = tep_get_event(in->tep, 0);

	if (!event)
		return guard_fail(in->guard, GUARD_NOWHERE,
				  "describes no events");
	if (!field_find(&in->type, event, "common_type", 11) ||
	    in->type.type != FIELD_NUMBER ||
	    !field_find(&in->pid, event, "common_pid", 10) ||
	    in->pid.type != FIELD_NUMBER)
		return guard_fail(
			in->guard, GUARD_NOWHERE,
			"damaged: its events lack common_type or common_pid");
	return 0;
}

/* The next record of each CPU from a place on */
static void go_to(struct input *in, struct tracecmd_input *handle,
		  struct tep_record **next, size_t place)
{
	struct places *p = in->report->places;
	int cpu;

	for (cpu = 0; cpu < p->cpus; cpu++) {
		u64 offset = p->cpu[cpu].offset[place];

		tracecmd_free_record(next[cpu]);
		next[cpu] = NULL;
		if (offset) {
			tracecmd_free_record(
				tracecmd_read_at(handle, offset, NULL));
			next[cpu] = tracecmd_read_data(handle, cpu);
		} else if (p->cpu[cpu].now) {
			next[cpu] = tracecmd_read_cpu_first(handle, cpu);
		}
	}
	in->report->events = in->next_alive = place * p->every;
}

/* The CPU of the earliest record, as tracecmd_iterate_events() chooses it; -1 at the end */
static int choose(struct tep_record *const *next, int cpus)
{
	int cpu, first = -1;

	for (cpu = 0; cpu < cpus; cpu++) {
		if (next[cpu] && (first < 0 || next[cpu]->ts < next[first]->ts))
			first = cpu;
	}
	return first;
}

/* Skips most events that are not wanted */
static int read_wanted(struct input *in, struct tracecmd_input *handle)
{
	struct places *p = in->report->places;
	struct tep_record **next = xcalloc(p->cpus + 1, sizeof(*next));
	int cpu, status = 0;
	bool begun = false;

	while (!status) {
		u64 place = in->reader->wanted(in->reader->arg) / p->every;
		struct tep_record *rec;

		if (place >= p->nr)
			break;
		if (!begun || place * p->every > in->report->events)
			go_to(in, handle, next, place);
		begun = true;
		cpu = choose(next, p->cpus);
		if (cpu < 0)
			break;
		rec = next[cpu];
		next[cpu] = tracecmd_read_data(handle, cpu);
		status = on_event(handle, rec, cpu, in);
		tracecmd_free_record(rec);
	}
	for (cpu = 0; cpu < p->cpus; cpu++)
		tracecmd_free_record(next[cpu]);
	free(next);
	return status;
}

static int read_events(struct input *in, struct tracecmd_input *handle)
{
	int status = find_common(in);

	if (!status)
		status = in->reader->init(in, in->reader->arg);
	if (status)
		return status;
	if ((in->reader->wanted ?
		     read_wanted(in, handle) :
		     tracecmd_iterate_events(handle, NULL, 0, on_event, in)) &&
	    !in->status)
		in->status = guard_fail(in->guard, GUARD_NOWHERE,
					"damaged: its events cannot be read");
	if (in->status)
		return in->status;
	return in->reader->end(in, in->reader->arg);
}

static int read_instance(struct input *in, struct tracecmd_input *top)
{
	struct tracecmd_input *handle = top;
	int status;

	in->tep = tracecmd_get_tep(top);
	instance_names(top, in->instances, sizeof(in->instances));
	if (*in->report->instance) {
		handle = instance_open(in->guard, top, in->report->instance);
		if (!handle)
			return EXIT_FAILURE;
	}
	status = read_events(in, handle);
	if (handle != top)
		tracecmd_close(handle);
	else if (!status && !in->reader->wanted)
		instance_note(in->guard, top);
	return status;
}

/**
 * input_read - read a trace
 * @g: the guard
 * @r: the report; its file, instance and counts of events are used here
 * @reader: the callbacks
 *
 * Plugins are not loaded: they would see hostile records, and none is needed.
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int input_read(struct guard *g, struct report *r, const struct reader *reader)
{
	struct input in = { .guard = g, .report = r, .reader = reader };
	struct tracecmd_input *top;
	int status = check_outline(&in);

	if (status)
		return status;
	top = tracecmd_open(r->file, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!top)
		return EXIT_FAILURE; /* the library has said why */
	status = read_instance(&in, top);
	tracecmd_close(top);
	return status;
}

static struct tep_format_field *find_format(struct tep_event *event,
					    const char *name)
{
	struct tep_format_field *f = tep_find_field(event, name);

	return f ? f : tep_find_common_field(event, name);
}

/**
 * field_find - find a field by name, as the kernel's filter does
 * @f: where to put it
 * @event: the event
 * @name: the name, not terminated
 * @len: its length
 *
 * "cpu" and "comm" are fields of every event, unless it has one of that name.
 *
 * Return: true if the event has it.
 */
bool field_find(struct field *f, struct tep_event *event, const char *name,
		size_t len)
{
	struct field none = { 0 };
	char *s = xstrndup(name, len);

	*f = none;
	f->format = find_format(event, s);
	if (f->format) {
		unsigned long flags = f->format->flags;

		if (flags & TEP_FIELD_IS_STRING)
			f->type = FIELD_STRING;
		else if (flags & TEP_FIELD_IS_DYNAMIC)
			f->type = FIELD_BYTES;
		else if (flags & TEP_FIELD_IS_ARRAY)
			f->type = FIELD_OTHER;
		else if (number_of(&f->number, event->tep, f->format))
			f->type = FIELD_NUMBER;
		else
			f->type = FIELD_OTHER;
	} else if (!strcmp(s, "cpu") || !strcmp(s, "CPU") ||
		   !strcmp(s, "common_cpu")) {
		f->type = FIELD_CPU;
	} else if (!strcmp(s, "comm") || !strcmp(s, "COMM")) {
		f->type = FIELD_COMM;
	} else {
		free(s);
		return false;
	}
	free(s);
	return true;
}

/**
 * fields_find - find the fields of one of our own events
 * @in: the input
 * @event: the event
 * @want: the fields that it has
 * @f: where to put them
 * @nr: number of them
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int fields_find(struct input *in, struct tep_event *event,
		const struct field_want *want, struct field *f, size_t nr)
{
	static const char *const types[] = { [FIELD_NUMBER] = "number",
					     [FIELD_STRING] = "string",
					     [FIELD_BYTES] = "dynamic array" };
	size_t i;

	for (i = 0; i < nr; i++) {
		const char *name = want[i].name;

		if (!tep_find_field(event, name) ||
		    !field_find(&f[i], event, name, strlen(name)))
			return guard_fail(in->guard, GUARD_NOWHERE,
					  "its event %s:%s has no field \"%s\"",
					  event->system, event->name, name);
		if (f[i].type != want[i].type)
			return guard_fail(
				in->guard, GUARD_NOWHERE,
				"field \"%s\" of its event %s:%s is not a %s",
				name, event->system, event->name,
				types[want[i].type]);
	}
	return 0;
}

/**
 * field_name - the name of a field
 * @f: the field
 */
const char *field_name(const struct field *f)
{
	if (f->type == FIELD_CPU)
		return "cpu";
	return f->type == FIELD_COMM ? "comm" : f->format->name;
}

/**
 * field_number - read a number
 * @f: a FIELD_NUMBER or FIELD_CPU
 * @rec: the record
 * @value: where to put it, sign-extended if it is signed
 *
 * Return: false if it lies beyond the record.
 */
bool field_number(const struct field *f, struct tep_record *rec, u64 *value)
{
	const struct record record = { .data = rec->data, .size = rec->size };

	if (f->type == FIELD_CPU) {
		*value = rec->cpu;
		return true;
	}
	if (!number_fits(&f->number, &record))
		return false;
	*value = number_get(&f->number, &record);
	return true;
}

/**
 * field_bytes - find the bytes of a field
 * @f: a FIELD_BYTES or FIELD_STRING
 * @rec: the record
 * @s: where to put it
 * @len: its length
 *
 * Return: false if it lies beyond the record.
 */
bool field_bytes(const struct field *f, struct tep_record *rec, const char **s,
		 size_t *len)
{
	const u8 *data;
	u32 size;

	if (!array_get(f->format, rec->data, rec->size, &data, &size))
		return false;
	*s = (const char *)data;
	*len = size;
	return true;
}

/**
 * field_string - read a string
 * @f: a FIELD_STRING or FIELD_COMM
 * @in: the input
 * @rec: the record
 * @s: where to put it; not terminated
 * @len: its length
 *
 * Return: false if it lies beyond the record.
 */
bool field_string(const struct field *f, struct input *in,
		  struct tep_record *rec, const char **s, size_t *len)
{
	if (f->type == FIELD_COMM) {
		int pid = input_pid(in, rec);

		*s = tep_data_comm_from_pid(in->tep, pid);
		*len = strlen(*s);
		return true;
	}
	if (!field_bytes(f, rec, s, len))
		return false;
	*len = strnlen(*s, *len);
	return true;
}

/**
 * input_type - the event of a record
 * @in: the input
 * @rec: the record
 *
 * Return: its id, or -1 if the record is too short.
 */
int input_type(struct input *in, struct tep_record *rec)
{
	u64 id;

	return field_number(&in->type, rec, &id) ? (int)id : -1;
}

/**
 * input_pid - the task that was current at an event
 * @in: the input
 * @rec: the record
 *
 * Return: its pid, or -1 if the record is too short.
 */
int input_pid(struct input *in, struct tep_record *rec)
{
	u64 pid;

	return field_number(&in->pid, rec, &pid) ? (int)pid : -1;
}

/**
 * input_event_name - an event's name, system:event
 * @in: the input
 * @id: its id, of a record's common_type
 *
 * Return: the name, for free(); "#id" of an event that the trace does not
 * describe.
 */
char *input_event_name(struct input *in, int id)
{
	struct tep_event *event = tep_find_event(in->tep, id);
	char *s;

	s = event ? xasprintf("%s:%s", event->system, event->name) :
		    xasprintf("#%d", id);
	clean_text(s);
	return s;
}

/**
 * input_damaged - report that a record does not fit its format
 * @in: the input
 * @rec: the record
 * @event: name of its event
 *
 * Return: EXIT_FAILURE.
 */
int input_damaged(struct input *in, struct tep_record *rec, const char *event)
{
	return guard_fail(in->guard, rec->offset,
			  "damaged: a %s is shorter than its format says",
			  event);
}
