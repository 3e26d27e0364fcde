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

/* The last eighth of a region must hold the records of a datagram; see live_full() */
#define REGION_MIN (4 << 20)

/**
 * struct cpu - the region of a CPU
 * @page: the last page
 * @missed: events were lost before @page
 * @nr_missed: number of these, 0 if unknown
 * @dirty: @page has changed since it was written
 * @done: bytes of earlier pages that are in the file
 * @full: complete pages that are not in the file yet
 * @nr_full: number of @full
 * @size: length of the data according to the file's table
 * @lost: events were lost before the next event
 * @nr_lost: number of these
 */
struct cpu {
	struct tracepage page;
	bool missed;
	uint64_t nr_missed;
	bool dirty;
	uint64_t done;
	uint8_t *full;
	size_t nr_full;
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
 * @full_pages: a CPU has complete pages that are not in the file yet
 * @cpus: number of CPUs
 * @cpu: the regions
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
	bool full_pages;
	unsigned int cpus;
	struct cpu *cpu;
};

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

/* Is it the first event of its system, other than ftrace? */
static bool leads(const struct live_head *head, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++) {
		if (!strcmp(head->format[k].system, head->format[i].system))
			return false;
	}
	return !is_ftrace(&head->format[i]);
}

static void put_system(struct head_writer *w, const struct live_head *head,
		       const char *system)
{
	size_t i, n = 0;

	for (i = 0; i < head->nr_formats; i++)
		n += !strcmp(head->format[i].system, system);
	put_number(w, n, 4);
	for (i = 0; i < head->nr_formats; i++) {
		if (!strcmp(head->format[i].system, system))
			put_sized(w, head->format[i].text, head->format[i].len);
	}
}

static void put_formats(struct head_writer *w, const struct live_head *head)
{
	size_t i, systems = 0;

	put_system(w, head, "ftrace");
	for (i = 0; i < head->nr_formats; i++)
		systems += leads(head, i);
	put_number(w, systems, 4);
	for (i = 0; i < head->nr_formats; i++) {
		const char *system = head->format[i].system;

		if (!leads(head, i))
			continue;
		put_bytes(w, system, strlen(system) + 1);
		put_system(w, head, system);
	}
}

static void put_head(struct head_writer *w, struct live *l,
		     const struct live_head *head)
{
	static const char zero[1024];
	unsigned int i;

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
	for (i = 0; i < NAMES_SIZE / sizeof(zero); i++)
		put_bytes(w, zero, sizeof(zero));
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
		free(l->cpu[i].full);
	}
	free(l->cpu);
	free(l->new_names);
	if (l->fd >= 0)
		close(l->fd);
	free(l);
}

/* False if memory is exhausted */
static bool make_pages(struct live *l, const struct live_head *head)
{
	unsigned int i;

	l->cpu = try_calloc(l->cpus, sizeof(*l->cpu));
	for (i = 0; l->cpu && i < l->cpus; i++) {
		struct tracepage *p = &l->cpu[i].page;

		p->big_endian = head->big_endian;
		p->long_size = head->long_size;
		p->size = head->page_size;
		p->data = try_calloc(1, head->page_size);
		if (!p->data)
			return false;
	}
	return l->cpu;
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
	if (!make_pages(l, head)) {
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

static void end_page(struct live *l, struct cpu *c)
{
	if (!c->page.used)
		return;
	tracepage_seal(&c->page, c->missed, c->nr_missed);
	c->full = xreallocarray(c->full, c->nr_full + 1, l->page_size);
	memcpy(c->full + c->nr_full * l->page_size, c->page.data, l->page_size);
	c->nr_full++;
	l->full_pages = true;
	c->page.used = 0;
	c->dirty = false;
}

/**
 * live_lost - record that events were lost before the next one
 * @l: the file
 * @cpu: CPU
 * @events: number of lost events
 */
void live_lost(struct live *l, unsigned int cpu, uint64_t events)
{
	struct cpu *c = &l->cpu[cpu];

	end_page(l, c);
	c->lost = true;
	c->nr_lost += events;
}

/**
 * live_record - add an event
 * @l: the file
 * @cpu: CPU, less than the head's number of CPUs
 * @ts: the event's time
 * @data: its record
 * @len: length of @data; a record that no page can hold counts as lost
 */
void live_record(struct live *l, unsigned int cpu, uint64_t ts,
		 const void *data, unsigned int len)
{
	struct cpu *c = &l->cpu[cpu];

	if (!tracepage_holds(&c->page, len)) {
		live_lost(l, cpu, 1);
		return;
	}
	if (c->page.used && !tracepage_fits(&c->page, ts, len, c->missed))
		end_page(l, c);
	if (!c->page.used) {
		tracepage_begin(&c->page, ts);
		c->missed = c->lost;
		c->nr_missed = c->nr_lost;
		c->lost = false;
		c->nr_lost = 0;
	}
	tracepage_event(&c->page, ts, data, len);
	c->dirty = true;
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

static bool sync_cpu(struct live *l, unsigned int cpu)
{
	struct cpu *c = &l->cpu[cpu];
	uint64_t at = l->begin + cpu * l->region + c->done, size;
	uint8_t number[8];

	if (c->nr_full) {
		if (!write_at(l, c->full, c->nr_full * l->page_size, at))
			return false;
		c->done += c->nr_full * l->page_size;
		at += c->nr_full * l->page_size;
		free(c->full);
		c->full = NULL;
		c->nr_full = 0;
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
	unsigned int i;

	if (l->new_len) {
		if (!write_at(l, l->new_names, l->new_len,
			      l->names + l->names_len))
			return false;
		l->names_len += l->new_len;
		l->new_len = 0;
	}
	for (i = 0; i < l->cpus; i++) {
		if (!sync_cpu(l, i))
			return false;
	}
	l->full_pages = false;
	return true;
}

/**
 * live_due - should live_sync() be called before more events are added?
 * @l: the file
 */
bool live_due(const struct live *l)
{
	return l->full_pages;
}

/**
 * live_full - is it time for another file?
 * @l: the file, after live_sync()
 *
 * Return: true when seven eighths of a CPU's region are used. The rest is for the events
 * that are added before the next call.
 */
bool live_full(const struct live *l)
{
	unsigned int i;

	for (i = 0; i < l->cpus; i++) {
		if (l->cpu[i].size >= l->region - l->region / 8)
			return true;
	}
	return false;
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
