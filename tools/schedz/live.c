// SPDX-License-Identifier: GPL-2.0
/* A trace.dat that grows. See live.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"
#include "memory.h"
#include "tracepage.h"

/* Room for names of tasks, which precede the events */
#define NAMES_SIZE (128 * 1024)

#define OPTION_TRACECLOCK 4

/* A region holds more than the records of a datagram; see live_full() */
#define REGION_MIN (LIVE_FULL_MAX + (2 << 20))

/**
 * struct cpu - the region of a CPU
 * @page: the last page; its data is NULL before live_prepare()
 * @touched: it is in the file's list of CPUs to be written
 * @missed: events were lost before @page
 * @nr_missed: number of these, 0 if unknown
 * @dirty: @page has changed since it was written
 * @done: bytes of earlier pages that are in the file, or in its full pages
 * @size: length of the data according to the file's table
 * @lost: events were lost before the next event
 * @nr_lost: number of these
 */
struct cpu {
	struct tracepage page;
	bool touched;
	bool missed;
	uint64_t nr_missed;
	bool dirty;
	uint64_t done;
	uint64_t size;
	bool lost;
	uint64_t nr_lost;
};

/**
 * struct live - a file
 * @fd: its file descriptor
 * @big_endian: byte order
 * @page_size: bytes of a page
 * @table: offset of the table of CPUs
 * @names: offset of the names
 * @names_len: length of the names in the file
 * @new_names: names that are not in the file yet
 * @new_len: length of @new_names
 * @begin: offset of the first region
 * @region: size of a region
 * @full: complete pages of @full_cpu that are not in the file yet
 * @full_len: length of @full
 * @full_room: length of the memory for @full
 * @full_cpu: the CPU that live_prepare() was last called for
 * @is_full: a region is full; see live_full()
 * @cpus: number of CPUs
 * @cpu: the regions
 * @touched: CPUs that have something that is not in the file yet
 * @nr_touched: number of these
 */
struct live {
	int fd;
	bool big_endian;
	unsigned int page_size;
	uint64_t table;
	uint64_t names;
	size_t names_len;
	char *new_names;
	size_t new_len;
	uint64_t begin;
	uint64_t region;
	uint8_t *full;
	size_t full_len;
	size_t full_room;
	unsigned int full_cpu;
	bool is_full;
	unsigned int cpus;
	struct cpu *cpu;
	uint32_t *touched;
	unsigned int nr_touched;
};

_Static_assert(sizeof(struct cpu) + sizeof(uint32_t) <= LIVE_CPU_SIZE,
	       "LIVE_CPU_SIZE is too small");

static bool write_at(const struct live *l, const void *from, size_t len,
		     uint64_t at)
{
	const char *p = from;

	while (len) {
		ssize_t n = pwrite(l->fd, p, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n ? errno : EIO;
			return false;
		}
		p += n;
		at += n;
		len -= n;
	}
	return true;
}

/* ---- the head ---- */

struct head_writer {
	FILE *out;
	bool big_endian;
};

static void put_bytes(struct head_writer *w, const void *from, size_t len)
{
	fwrite(from, 1, len, w->out);
}

static void put_number(struct head_writer *w, uint64_t value, unsigned int size)
{
	uint8_t b[8];

	tracepage_number(w->big_endian, b, value, size);
	put_bytes(w, b, size);
}

static void put_sized(struct head_writer *w, const char *text, size_t len)
{
	put_number(w, len, 8);
	put_bytes(w, text, len);
}

static bool is_ftrace(const struct live_format *f)
{
	return !strcmp(f->system, "ftrace");
}

/* ftrace first, and those of a system together */
static int by_system(const void *a, const void *b)
{
	const struct live_format *f = a, *g = b;

	if (is_ftrace(f) != is_ftrace(g))
		return is_ftrace(g) - is_ftrace(f);
	return strcmp(f->system, g->system);
}

/* The number of formats that are of the same system as the first one */
static size_t count_system(const struct live_format *format, size_t nr)
{
	size_t n = 0;

	while (n < nr && !strcmp(format[n].system, format->system))
		n++;
	return n;
}

static void put_system(struct head_writer *w, const struct live_format *format,
		       size_t nr)
{
	size_t i;

	put_number(w, nr, 4);
	for (i = 0; i < nr; i++)
		put_sized(w, format[i].text, format[i].len);
}

static void put_formats(struct head_writer *w, const struct live_head *head)
{
	size_t i, n, nr = head->nr_formats, systems = 0;
	struct live_format *format = head->format;

	if (nr)
		qsort(format, nr, sizeof(*format), by_system);
	n = nr && is_ftrace(format) ? count_system(format, nr) : 0;
	put_system(w, format, n);
	format += n;
	nr -= n;
	for (i = 0; i < nr; i += count_system(format + i, nr - i))
		systems++;
	put_number(w, systems, 4);
	for (i = 0; i < nr; i += n) {
		const char *system = format[i].system;

		n = count_system(format + i, nr - i);
		put_bytes(w, system, strlen(system) + 1);
		put_system(w, format + i, n);
	}
}

static void put_head(struct head_writer *w, struct live *l,
		     const struct live_head *head)
{
	put_bytes(w, "\027\010\104tracing6", 12);
	put_number(w, head->big_endian, 1);
	put_number(w, head->long_size, 1);
	put_number(w, head->page_size, 4);
	put_bytes(w, "header_page", 12);
	put_sized(w, head->header_page, strlen(head->header_page));
	put_bytes(w, "header_event", 13);
	put_sized(w, head->header_event, strlen(head->header_event));
	put_formats(w, head);
	put_number(w, 0, 4); /* kallsyms */
	put_number(w, 0, 4); /* printk */
	put_number(w, NAMES_SIZE, 8);
	l->names = ftell(w->out);
	/* A hole: a file without names takes little of the disk */
	fseek(w->out, NAMES_SIZE, SEEK_CUR);
}

/* The table of CPUs, and the clock */
static void put_table(struct head_writer *w, struct live *l, const char *clock)
{
	unsigned int i;
	char text[64];

	put_number(w, l->cpus, 4);
	put_bytes(w, "options  ", 10);
	/* Its value is a string for libtracecmd, which reads the clock from below */
	put_number(w, OPTION_TRACECLOCK, 2);
	put_number(w, 1, 4);
	put_number(w, 0, 1);
	put_number(w, 0, 2);
	put_bytes(w, "flyrecord", 10);
	l->table = ftell(w->out);
	snprintf(text, sizeof(text), "[%s]\n", clock);
	l->begin = l->table + 16 * (uint64_t)l->cpus + 8 + strlen(text);
	l->begin = (l->begin + l->page_size - 1) / l->page_size * l->page_size;
	for (i = 0; i < l->cpus; i++) {
		put_number(w, l->begin + i * l->region, 8);
		put_number(w, 0, 8);
	}
	put_sized(w, text, strlen(text));
}

static bool write_head(struct live *l, const struct live_head *head)
{
	struct head_writer w = { .big_endian = head->big_endian };
	int fd = fcntl(l->fd, F_DUPFD_CLOEXEC, 0);
	bool ok;

	w.out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!w.out) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	put_head(&w, l, head);
	put_table(&w, l, head->clock);
	ok = !ferror(w.out);
	/* The file must include all regions, even if they are empty */
	return !fclose(w.out) && ok &&
	       !ftruncate(l->fd, l->begin + l->cpus * l->region);
}

static void free_live(struct live *l)
{
	unsigned int i;

	for (i = 0; l->cpu && i < l->cpus; i++) {
		free(l->cpu[i].page.data);
	}
	free(l->full);
	free(l->cpu);
	free(l->touched);
	free(l->new_names);
	if (l->fd >= 0)
		close(l->fd);
	free(l);
}

/* False if memory is exhausted */
static bool make_cpus(struct live *l, const struct live_head *head)
{
	unsigned int i;

	l->touched = try_calloc(l->cpus, sizeof(*l->touched));
	l->cpu = try_calloc(l->cpus, sizeof(*l->cpu));
	for (i = 0; l->cpu && i < l->cpus; i++) {
		struct tracepage *p = &l->cpu[i].page;

		p->big_endian = head->big_endian;
		p->long_size = head->long_size;
		p->size = head->page_size;
	}
	return l->cpu && l->touched;
}

/*
 * Room for the pages that events fill. Two that follow each other have more than one could
 * hold, which is 15/16 of it at least; many events, which are small, fill all but the last.
 */
static size_t room_for(const struct live *l, size_t bytes)
{
	size_t room = 2 * (bytes + bytes / 15);

	return (room < LIVE_FULL_MAX ? room : LIVE_FULL_MAX) + 3 * l->page_size;
}

/**
 * live_needs - memory that live_prepare() allocates
 * @l: the file
 * @cpu: as for that
 * @bytes: as for that
 *
 * Return: bytes, which are in use until live_close().
 */
size_t live_needs(const struct live *l, unsigned int cpu, size_t bytes)
{
	size_t room = room_for(l, bytes);

	return (l->cpu[cpu].page.data ? 0 : l->page_size) +
	       (room > l->full_room ? room - l->full_room : 0);
}

/**
 * live_prepare - prepare for events of a CPU
 * @l: the file, which is not live_due()
 * @cpu: CPU, less than the head's number of CPUs; the next events are all of this one
 * @bytes: sum of their live_size()
 *
 * Return: false, with errno set, if memory is exhausted.
 */
bool live_prepare(struct live *l, unsigned int cpu, size_t bytes)
{
	size_t room = room_for(l, bytes);

	if (!l->cpu[cpu].page.data)
		l->cpu[cpu].page.data = try_calloc(1, l->page_size);
	if (!l->cpu[cpu].page.data)
		return false;
	l->full_cpu = cpu;
	if (room > l->full_room) {
		void *full = try_realloc(l->full, room);

		if (!full)
			return false;
		l->full = full;
		l->full_room = room;
	}
	return true;
}

/**
 * live_open - make a file
 * @path: its path, which must not exist
 * @head: contents of its head
 * @size: the file is full when a CPU has this many bytes divided by the number of CPUs
 *
 * Return: the file, or NULL with errno set.
 */
struct live *live_open(const char *path, const struct live_head *head,
		       uint64_t size)
{
	struct live *l = try_calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->fd = -1;
	l->big_endian = head->big_endian;
	l->page_size = head->page_size;
	l->cpus = head->cpus;
	l->region = size / head->cpus / head->page_size * head->page_size;
	if (l->region < REGION_MIN)
		l->region = REGION_MIN;
	if (!make_cpus(l, head)) {
		free_live(l);
		errno = ENOMEM;
		return NULL;
	}
	l->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (l->fd < 0 || !write_head(l, head)) {
		int error = errno;

		if (l->fd >= 0)
			unlink(path);
		free_live(l);
		errno = error;
		return NULL;
	}
	return l;
}

/* ---- events ---- */

static void touch(struct live *l, struct cpu *c)
{
	if (!c->touched)
		l->touched[l->nr_touched++] = c - l->cpu;
	c->touched = true;
}

/* Is there room for one more page, which live_lost() may end: in memory, and in its region? */
static bool has_room(const struct live *l, const struct cpu *c)
{
	return l->full_len + 2 * l->page_size <= l->full_room &&
	       c->done + l->page_size <= l->region;
}

static void end_page(struct live *l, struct cpu *c)
{
	if (!c->page.used)
		return;
	tracepage_seal(&c->page, c->missed, c->nr_missed);
	memcpy(l->full + l->full_len, c->page.data, l->page_size);
	l->full_len += l->page_size;
	c->done += l->page_size;
	c->page.used = 0;
	c->dirty = false;
}

/**
 * live_lost - record that events were lost before the next one
 * @l: the file
 * @cpu: CPU of the last live_prepare()
 * @events: number of lost events
 */
void live_lost(struct live *l, unsigned int cpu, uint64_t events)
{
	struct cpu *c = &l->cpu[cpu];

	touch(l, c);
	end_page(l, c);
	c->lost = true;
	c->nr_lost += events;
}

/**
 * live_record - add an event
 * @l: the file
 * @cpu: CPU of the last live_prepare()
 * @ts: the event's time
 * @data: its record
 * @len: length of @data
 *
 * Return: false, and it counts as lost, if no page can hold it, or if there are more than
 * live_prepare() has room for, as when their times decrease at each of them.
 */
bool live_record(struct live *l, unsigned int cpu, uint64_t ts,
		 const void *data, unsigned int len)
{
	struct cpu *c = &l->cpu[cpu];

	if (!tracepage_holds(&c->page, len)) {
		live_lost(l, cpu, 1);
		return false;
	}
	touch(l, c);
	if (c->page.used && !tracepage_fits(&c->page, ts, len, c->missed))
		end_page(l, c);
	if (!c->page.used && !has_room(l, c)) {
		live_lost(l, cpu, 1);
		return false;
	}
	if (!c->page.used) {
		tracepage_begin(&c->page, ts);
		c->missed = c->lost;
		c->nr_missed = c->nr_lost;
		c->lost = false;
		c->nr_lost = 0;
	}
	tracepage_event(&c->page, ts, data, len);
	c->dirty = true;
	return true;
}

/**
 * live_name - add the name of a task
 * @l: the file; names for which it has no room are left out
 * @pid: the task
 * @comm: 16 bytes, with a zero among them
 */
void live_name(struct live *l, int32_t pid, const uint8_t *comm)
{
	const char *name = (const char *)comm;
	char line[48];
	int len;

	if (pid <= 0 || !*name || strnlen(name, 16) == 16 || strchr(name, '\n'))
		return;
	len = snprintf(line, sizeof(line), "%d %s\n", pid, name);
	/* The names end with a zero */
	if (l->names_len + l->new_len + len >= NAMES_SIZE)
		return;
	l->new_names = xreallocarray(l->new_names, l->new_len + len, 1);
	memcpy(l->new_names + l->new_len, line, len);
	l->new_len += len;
}

/* The rest of a region is for the events that are added before the next live_full() */
static uint64_t full_size(const struct live *l)
{
	uint64_t rest = l->region / 8;

	return l->region - (rest > LIVE_FULL_MAX ? rest : LIVE_FULL_MAX);
}

static bool sync_cpu(struct live *l, unsigned int cpu)
{
	struct cpu *c = &l->cpu[cpu];
	uint64_t at = l->begin + cpu * l->region + c->done, size;
	uint8_t number[8];

	if (l->full_len && l->full_cpu == cpu) {
		if (!write_at(l, l->full, l->full_len, at - l->full_len))
			return false;
		l->full_len = 0;
	}
	/* Readers see a page before or after a write, not between */
	if (c->dirty) {
		tracepage_seal(&c->page, c->missed, c->nr_missed);
		if (!write_at(l, c->page.data, l->page_size, at))
			return false;
		c->dirty = false;
	}
	size = c->done + (c->page.used ? l->page_size : 0);
	if (size == c->size)
		return true;
	tracepage_number(l->big_endian, number, size, 8);
	if (!write_at(l, number, 8, l->table + 16 * (uint64_t)cpu + 8))
		return false;
	c->size = size;
	l->is_full |= size >= full_size(l);
	return true;
}

/**
 * live_sync - write everything that is not in the file yet
 * @l: the file
 *
 * Return: false, with errno set, if it cannot be written now; try again later.
 */
bool live_sync(struct live *l)
{
	if (l->new_len) {
		if (!write_at(l, l->new_names, l->new_len,
			      l->names + l->names_len))
			return false;
		l->names_len += l->new_len;
		l->new_len = 0;
	}
	for (; l->nr_touched; l->nr_touched--) {
		uint32_t cpu = l->touched[l->nr_touched - 1];

		if (!sync_cpu(l, cpu))
			return false;
		l->cpu[cpu].touched = false;
	}
	return true;
}

/**
 * live_due - should live_sync() be called before more events are added?
 * @l: the file
 */
bool live_due(const struct live *l)
{
	return l->full_len;
}

/**
 * live_full - is it time for another file?
 * @l: the file, after live_sync()
 *
 * Return: true when little more of a CPU's region is left than the records of a datagram
 * may need.
 */
bool live_full(const struct live *l)
{
	return l->is_full;
}

/**
 * live_close - finish the file
 * @l: the file; freed
 *
 * Return: false, with errno set, if it could not be written completely.
 */
bool live_close(struct live *l)
{
	bool ok = live_sync(l);
	int error = errno;

	free_live(l);
	errno = error;
	return ok;
}
