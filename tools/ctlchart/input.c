// SPDX-License-Identifier: GPL-2.0
/* Reading the trace, and fields with their bounds checked. */
#include <stdlib.h>
#include <string.h>

#include <trace-cmd.h>

#include "ctlchart.h"
#include "instance.h"

#define ALIVE_EVENTS 4096

/* When there are more, every other one is dropped */
#define MAX_PLACES 4096
#define PLACE_EVENTS 1024

static void report_progress(struct input *in, const struct record *rec)
{
	struct report *r = in->report;

	guard_alive(in->guard, rec->offset);
	in->next_alive = r->events + ALIVE_EVENTS;
	/* CSV alarms are written during the reading, maybe to the same terminal */
	if (r->format != FORMAT_CSV)
		guard_progress(in->guard, "%.1f M events, %.1f s of trace",
			       r->events / 1e6, (r->last - r->first) / 1e9);
}

/* None of its records has come before */
static void add_place_cpus(struct places *p, u32 cpus)
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
	u32 cpu;

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

static void note_place(struct places *p, u64 events, const struct record *rec)
{
	if (events % p->every == 0)
		add_place(p);
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
	u32 cpu;

	if (!p)
		return;
	for (cpu = 0; cpu < p->cpus; cpu++)
		free(p->cpu[cpu].offset);
	free(p->cpu);
	free(p);
}

static int on_event(struct input *in, const struct record *rec)
{
	struct report *r = in->report;

	if (r->events == in->next_alive)
		report_progress(in, rec);
	if (!r->events)
		r->first = rec->ts;
	if (r->places && !in->reader->wanted)
		note_place(r->places, r->events, rec);
	r->events++;
	r->bytes += rec->stored;
	if (rec->ts > r->last)
		r->last = rec->ts;
	if (rec->lost) {
		r->gaps++;
		r->lost += rec->missed;
		if (in->reader->lost)
			in->reader->lost(in, in->reader->arg);
	}
	return rec->size < 8 ? 0 : in->reader->event(in, rec, in->reader->arg);
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

/* The first place at or before the next event that is wanted; skips most that are not */
static bool go_to_wanted(struct input *in, bool begun)
{
	struct places *p = in->report->places;
	u64 place = in->reader->wanted(in->reader->arg) / p->every;
	u32 cpu;

	if (place >= p->nr)
		return false;
	if (begun && place * p->every <= in->report->events)
		return true;
	for (cpu = 0; cpu < p->cpus; cpu++)
		records_go_after(in->records, cpu, p->cpu[cpu].offset[place]);
	in->report->events = in->next_alive = place * p->every;
	return true;
}

static int read_events(struct input *in)
{
	int status = find_common(in);
	struct record rec;
	bool begun = false;

	if (!status)
		status = in->reader->init(in, in->reader->arg);
	while (!status) {
		if (in->reader->wanted && !go_to_wanted(in, begun))
			break;
		begun = true;
		if (!records_next(in->records, &rec))
			break;
		status = on_event(in, &rec);
	}
	if (!status)
		status = records_status(in->records);
	return status ? status : in->reader->end(in, in->reader->arg);
}

/**
 * input_read - read a trace
 * @g: the guard
 * @r: the report; its file, instance and counts of events are used here
 * @reader: the callbacks
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int input_read(struct guard *g, struct report *r, const struct reader *reader)
{
	struct input in = { .guard = g, .report = r, .reader = reader };
	int status;

	/* A note lists the instances, once */
	in.records = records_open(g, r->file,
				  *r->instance || reader->wanted ? r->instance :
								   NULL);
	if (!in.records)
		return EXIT_FAILURE;
	records_quiet(in.records);
	in.tep = records_tep(in.records);
	instance_names(records_handle(in.records), in.instances,
		       sizeof(in.instances));
	status = read_events(&in);
	records_close(in.records);
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
bool field_number(const struct field *f, const struct record *rec, u64 *value)
{
	if (f->type == FIELD_CPU) {
		*value = rec->cpu;
		return true;
	}
	if (!number_fits(&f->number, rec))
		return false;
	*value = number_get(&f->number, rec);
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
bool field_bytes(const struct field *f, const struct record *rec,
		 const char **s, size_t *len)
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
		  const struct record *rec, const char **s, size_t *len)
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
int input_type(struct input *in, const struct record *rec)
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
int input_pid(struct input *in, const struct record *rec)
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
int input_damaged(struct input *in, const struct record *rec, const char *event)
{
	return guard_fail(in->guard, rec->offset,
			  "damaged: a %s is shorter than its format says",
			  event);
}
