// SPDX-License-Identifier: GPL-2.0
/* The trace.dat of a case. See window.h. */
#include <errno.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <trace-cmd.h>

#include "datfile.h"
#include "memory.h"
#include "order.h"
#include "part.h"
#include "records.h"
#include "window.h"

/* Exported by libtracecmd for trace-cmd, but declared in none of its headers */
struct tracecmd_output;
struct tracecmd_event_list {
	struct tracecmd_event_list *next;
	const char *glob;
};
struct tracecmd_output *tracecmd_output_create_fd(int fd);
int tracecmd_output_set_version(struct tracecmd_output *handle, int version);
int tracecmd_output_write_headers(struct tracecmd_output *handle,
				  struct tracecmd_event_list *list);
void tracecmd_output_close(struct tracecmd_output *handle);

/* libtracecmd does not say why a write failed */
static bool has_room(int fd)
{
	struct statvfs s;

	return fstatvfs(fd, &s) || (u64)s.f_bavail * s.f_bsize >= 65536;
}

/**
 * window_head - make the part that is common to the trace.dat of all cases
 * @systems: systems of the events that are recorded, up to NULL
 * @dir: directory for a temporary file
 *
 * It consists of the formats of events, the kernel's symbols and the formats of
 * trace_printk(). These are several MB, and would be too much to keep in memory.
 *
 * Return: that file, or -1 with errno set.
 */
int window_head(const char *const *systems, const char *dir)
{
	int fd = part_unnamed(dir), copy = fd < 0 ? -1 : dup(fd);
	struct tracecmd_event_list *list = NULL, *next;
	struct tracecmd_output *out;
	bool good = false;
	int error;

	if (copy < 0) {
		error = errno;
		if (fd >= 0)
			close(fd);
		errno = error;
		return -1;
	}
	for (; *systems; systems++) {
		next = list;
		list = xzalloc(sizeof(*list));
		list->next = next;
		list->glob = xasprintf("%s/*", *systems);
	}
	/* The caller reports errors */
	tracecmd_set_loglevel(TEP_LOG_NONE);
	errno = 0;
	out = tracecmd_output_create_fd(copy);
	if (out) {
		good = !tracecmd_output_set_version(out, 6) &&
		       !tracecmd_output_write_headers(out, list);
		tracecmd_output_close(out);
	}
	for (; list; list = next) {
		next = list->next;
		free((char *)list->glob);
		free(list);
	}
	if (good)
		return fd;
	error = errno ? errno : EIO;
	if (!has_room(fd))
		error = ENOSPC;
	close(fd);
	errno = error;
	return -1;
}

/* Limit of the number of values: the ones around the alarm are kept */
#define VALUES_SEEN 1024

/**
 * window_begin - begin a trace.dat
 * @out: the file
 * @head: what window_head() returned
 * @cpus: number of CPUs
 * @page_size: bytes of a page of the ring buffer
 *
 * Return: the file, for datfile_end(); NULL, with errno set, if it could not be written.
 */
struct datfile *window_begin(FILE *out, int head, unsigned int cpus,
			     unsigned int page_size)
{
	struct datfile *d;
	char *names;

	if (!part_copy(out, head))
		return NULL;
	names = tracefs_instance_file_read(NULL, "saved_cmdlines", NULL);
	d = datfile_resume(out, cpus, page_size, names ? names : "", "mono");
	free(names);
	return d;
}

static int by_time(const void *a, const void *b)
{
	const struct window_value *x = a, *y = b;

	return ORDER(x->ts, y->ts);
}

/* Keep the values around the alarm, whose own value is written after it */
static void trim_values(struct window *w, u64 ts)
{
	size_t at = 0, from, to;

	if (w->value)
		qsort(w->value, w->nr_values, sizeof(*w->value), by_time);
	while (at < w->nr_values && w->value[at].ts <= ts)
		at++;
	from = at > VALUES_BEFORE ? at - VALUES_BEFORE : 0;
	to = w->nr_values - at > VALUES_AFTER ? at + VALUES_AFTER :
						w->nr_values;
	if (w->value)
		memmove(w->value, w->value + from,
			(to - from) * sizeof(*w->value));
	w->nr_values = to - from;
}

/* Add the value of an event ctlchart_value if it is of the alarm's chart */
static void add_value(struct window *w, struct reader *r, int type,
		      const struct record *rec)
{
	struct tep_event *event = tep_find_event(r->tep, type);
	char name[sizeof(r->alarms.lead.chart)];

	array_text(array_find(event, "chart"), rec, name, sizeof(name));
	if (!alarm_is_of(r->tep, r->alarms.lead.chart, name))
		return;
	if (w->nr_values == VALUES_SEEN)
		trim_values(w, r->alarms.lead.ts);
	GROW(w->value, w->nr_values, w->value_room);
	w->value[w->nr_values++] = (struct window_value){
		.ts = rec->ts,
		.value = number_named(event, "duration", rec),
		.limit = number_named(event, "limit", rec),
	};
}

/* Note the file of an event io_map or lbrprof_map */
static void add_map(struct window *w, struct reader *r, int type,
		    const struct record *rec)
{
	struct tep_event *event = tep_find_event(r->tep, type);
	u64 bytes = number_named(event, "build_id_size", rec);
	const u8 *path, *build_id;
	u32 len, id_len;

	if (array_get(array_find(event, "path"), rec->data, rec->size, &path,
		      &len) &&
	    array_get(array_find(event, "build_id"), rec->data, rec->size,
		      &build_id, &id_len) &&
	    memchr(path, '\0', len) && bytes <= id_len)
		elfcopy_add(&w->symbols, (const char *)path, build_id, bytes);
}

/* Events with the files of addresses, and with addresses, if these are not in stacks */
enum { IOSYS, LBRPROF, MAPPED };
static const struct {
	const char *system, *map, *addresses;
} mapped[MAPPED] = {
	[IOSYS] = { "iosys", "io_map", NULL },
	[LBRPROF] = { "lbrprof", "lbrprof_map", "lbrprof_sample" },
};

/* Events of iosys with the number of a stack */
static const char *const calls[] = { "io_syscall", "io_fault", "io_request",
				     "io_part" };

/**
 * struct types - types of the events that are parsed, -1 if the kernel lacks one
 * @value:	of a chart's values
 * @stack:	of io_stack
 * @frames:	its addresses; NULL if there are none
 * @id:		its number
 * @map_id:	number of a file in io_map
 * @call:	of the calls, with the fields of their stacks and processes
 * @of:		of maps and addresses; which were seen
 */
struct types {
	int value;
	int stack;
	struct tep_format_field *frames;
	struct number id, map_id;
	struct {
		int type;
		struct number stack, tgid;
	} call[ARRAY_SIZE(calls)];
	struct {
		int addresses, map;
		bool has_addresses, has_map;
	} of[MAPPED];
};

static int type_of(struct reader *r, const char *system, const char *name)
{
	struct tep_event *e =
		name ? tep_find_event_by_name(r->tep, system, name) : NULL;

	return e ? e->id : -1;
}

static void find_number(struct number *n, struct reader *r, int type,
			const char *name)
{
	struct tep_event *e = tep_find_event(r->tep, type);

	number_of(n, r->tep, e ? tep_find_field(e, name) : NULL);
}

static void find_types(struct types *t, struct reader *r)
{
	size_t i;

	*t = (struct types){
		.value = type_of(r, "ctlchart_debug", "ctlchart_value"),
		.stack = type_of(r, "iosys", "io_stack"),
	};
	for (i = 0; i < MAPPED; i++) {
		t->of[i].addresses =
			type_of(r, mapped[i].system, mapped[i].addresses);
		t->of[i].map = type_of(r, mapped[i].system, mapped[i].map);
	}
	t->frames = array_find(tep_find_event(r->tep, t->stack), "frames");
	find_number(&t->id, r, t->stack, "id");
	find_number(&t->map_id, r, t->of[IOSYS].map, "id");
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		t->call[i].type = type_of(r, "iosys", calls[i]);
		find_number(&t->call[i].stack, r, t->call[i].type, "stack");
		find_number(&t->call[i].tgid, r, t->call[i].type, "tgid");
	}
}

/* The kernel writes maps now and then: a window can have addresses without a file */
static bool lacks_maps(const struct types *t)
{
	size_t i;

	for (i = 0; i < MAPPED; i++) {
		if (t->of[i].has_addresses && !t->of[i].has_map)
			return true;
	}
	return false;
}

static void add_stack(struct window *w, const struct types *t,
		      const struct record *rec)
{
	const u8 *frames;
	u64 frame[256];
	u32 len;

	if (!array_get(t->frames, rec->data, rec->size, &frames, &len))
		return;
	len = min(len, (u32)sizeof(frame));
	memcpy(frame, frames, len);
	callstacks_defined(&w->stacks, number_in(&t->id, rec), frame,
			   len / sizeof(*frame));
}

static void look_at_event(struct window *w, struct reader *r, struct types *t,
			  int type, const struct record *rec)
{
	size_t i;

	if (type == t->value)
		add_value(w, r, type, rec);
	if (type == t->stack)
		add_stack(w, t, rec);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		if (type == t->call[i].type)
			callstacks_called(&w->stacks,
					  number_in(&t->call[i].stack, rec),
					  number_in(&t->call[i].tgid, rec));
	}
	for (i = 0; i < MAPPED; i++) {
		if (type == t->of[i].addresses)
			t->of[i].has_addresses = true;
		if (type == t->of[i].map) {
			t->of[i].has_map = true;
			add_map(w, r, type, rec);
			if (i == IOSYS)
				callstacks_mapped(&w->stacks,
						  number_in(&t->map_id, rec));
		}
	}
}

static void count_page(struct window *w, struct reader *r, unsigned int cpu,
		       struct types *t)
{
	struct window_cpu *c = &w->cpu[cpu];
	struct record rec = { .cpu = cpu };
	int missed;
	u16 type;

	if (kbuffer_load_subbuffer(r->k, r->buf))
		return;
	missed = kbuffer_missed_events(r->k);
	if (missed) {
		c->gaps++;
		c->lost += missed > 0 ? missed : 0;
	}
	while (reader_next_event(r, &rec, &type)) {
		if (!c->events++)
			c->first = rec.ts;
		c->last = rec.ts;
		look_at_event(w, r, t, type, &rec);
	}
}

static bool write_pages(struct window *w, struct datfile *d, struct reader *r,
			const struct spool *s, unsigned int cpu,
			struct types *t)
{
	size_t i;

	for (i = 0; i < s->nr; i++) {
		if (s->cpu[i] != cpu)
			continue;
		if (!spool_get(s, i, r->buf))
			return false;
		count_page(w, r, cpu, t);
		datfile_page(d, r->buf);
	}
	return true;
}

static bool write_cpu(struct window *w, struct datfile *d, struct reader *r,
		      unsigned int cpu, struct types *t)
{
	unsigned int i;

	datfile_cpu(d, cpu);
	for (i = PAST; i--;) {
		if (reader_needs(r, i) &&
		    !write_pages(w, d, r, &r->past[i], cpu, t))
			return false;
	}
	return write_pages(w, d, r, &r->spool, cpu, t);
}

static void set_span(struct window *w)
{
	unsigned int i;

	for (i = 0; i < w->cpus; i++) {
		const struct window_cpu *c = &w->cpu[i];

		if (!c->events)
			continue;
		if (!w->first || c->first < w->first)
			w->first = c->first;
		if (c->last > w->last)
			w->last = c->last;
	}
}

/**
 * window_write - write the trace.dat
 * @w: filled in; window_free() is due
 * @out: the file
 * @head: what window_head() returned
 * @r: the reader with the window's pages and its alarms
 *
 * Return: false, with errno set, if it could not be written.
 */
bool window_write(struct window *w, FILE *out, int head, struct reader *r)
{
	struct datfile *d;
	struct types t;
	bool good = true;
	unsigned int i;

	*w = (struct window){ .cpus = r->cpus };
	w->cpu = xcalloc(r->cpus, sizeof(*w->cpu));
	find_types(&t, r);
	d = window_begin(out, head, r->cpus, r->spool.page_size);
	if (!d)
		return false;
	for (i = 0; i < r->cpus && good; i++)
		good = write_cpu(w, d, r, i, &t);
	w->symbols.left_out |= lacks_maps(&t);
	set_span(w);
	trim_values(w, r->alarms.lead.ts);
	return datfile_end(d) && good;
}

/**
 * window_free - free what is in a window
 * @w: the window
 */
void window_free(struct window *w)
{
	free(w->cpu);
	free(w->value);
	elfcopy_free(&w->symbols);
	callstacks_free(&w->stacks);
	*w = (struct window){ 0 };
}
