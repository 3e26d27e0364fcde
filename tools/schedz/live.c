// SPDX-License-Identifier: GPL-2.0
/* A trace.dat that grows. See live.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"
#include "tracepage.h"

/* Room for names of tasks, which stand before the events */
#define NAMES_SIZE (128 * 1024)

#define OPTION_TRACECLOCK 4

/* Its last eighth is more than what a single datagram can hold */
#define REGION_MIN (4 << 20)

/**
 * struct cpu - the region of a CPU
 * @page: the last page
 * @missed: events were lost before it
 * @nr_missed: how many, 0 if nobody knows
 * @dirty: it is not in the file as it is here
 * @done: bytes of pages before it that are in the file
 * @full: pages that are complete and not in the file yet
 * @nr_full: number of them
 * @told: what the file says about the number of bytes
 * @lost: events were lost before the next one
 * @nr_lost: how many
 */
struct cpu {
	struct tracepage page;
	bool missed;
	uint64_t nr_missed;
	bool dirty;
	uint64_t done;
	uint8_t *full;
	size_t nr_full;
	uint64_t told;
	bool lost;
	uint64_t nr_lost;
};

/**
 * struct live - a file
 * @fd: it
 * @big_endian: byte order
 * @page_size: bytes of a page
 * @table: offset of the table of CPUs
 * @names: offset of the names
 * @names_len: bytes of them
 * @new_names: those that are not in the file yet
 * @new_len: bytes of them
 * @begin: offset of the first region
 * @region: bytes of a region
 * @full_pages: there are complete pages that are not in the file yet
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

/* Is it the first of its system? */
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

/* The table of CPUs and the clock behind it */
static void put_table(struct head_writer *w, struct live *l, const char *clock)
{
	unsigned int i;
	char text[64];

	put_number(w, l->cpus, 4);
	put_bytes(w, "options  ", 10);
	/* libtracecmd takes what it has for a string, but for the clock below */
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
	char *text = NULL;
	size_t len;
	bool ok;

	w.out = open_memstream(&text, &len);
	if (!w.out)
		abort();
	put_head(&w, l, head);
	put_table(&w, l, head->clock);
	if (fclose(w.out))
		abort();
	/* Regions may be empty; the last one's place has to be in the file */
	ok = write_at(l, text, len, 0) &&
	     !ftruncate(l->fd, l->begin + l->cpus * l->region);
	free(text);
	return ok;
}

static void free_live(struct live *l)
{
	unsigned int i;

	for (i = 0; i < l->cpus; i++) {
		free(l->cpu[i].page.data);
		free(l->cpu[i].full);
	}
	free(l->cpu);
	free(l->new_names);
	if (l->fd >= 0)
		close(l->fd);
	free(l);
}

/**
 * live_open - make a file
 * @path: its path; nothing may be there
 * @head: what it tells
 * @size: it is full when a CPU has so many bytes, divided by the number of CPUs
 *
 * Return: the file, or NULL with errno set.
 */
struct live *live_open(const char *path, const struct live_head *head,
		       uint64_t size)
{
	struct live *l = calloc(1, sizeof(*l));
	unsigned int i;

	if (!l)
		abort();
	l->big_endian = head->big_endian;
	l->page_size = head->page_size;
	l->cpus = head->cpus;
	l->region = size / head->cpus / head->page_size * head->page_size;
	if (l->region < REGION_MIN)
		l->region = REGION_MIN;
	l->cpu = calloc(l->cpus, sizeof(*l->cpu));
	if (!l->cpu)
		abort();
	for (i = 0; i < l->cpus; i++) {
		struct tracepage *p = &l->cpu[i].page;

		p->big_endian = head->big_endian;
		p->long_size = head->long_size;
		p->size = head->page_size;
		p->data = calloc(1, head->page_size);
		if (!p->data)
			abort();
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
	c->full = realloc(c->full, (c->nr_full + 1) * l->page_size);
	if (!c->full)
		abort();
	memcpy(c->full + c->nr_full * l->page_size, c->page.data, l->page_size);
	c->nr_full++;
	l->full_pages = true;
	c->page.used = 0;
	c->dirty = false;
}

/**
 * live_lost - events were lost before the next one
 * @l: the file
 * @cpu: CPU
 * @events: how many
 */
void live_lost(struct live *l, unsigned int cpu, uint64_t events)
{
	struct cpu *c = &l->cpu[cpu];

	end_page(l, c);
	c->lost = true;
	c->nr_lost += events;
}

/**
 * live_record - an event
 * @l: the file
 * @cpu: CPU, of those that the head said there are
 * @ts: its time
 * @data: its record
 * @len: bytes of it; one that no page holds counts as lost
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
 * live_name - the name of a task
 * @l: the file; when it has no room for more names, they are left out
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
	/* A zero stays at the end */
	if (l->names_len + l->new_len + len >= NAMES_SIZE)
		return;
	l->new_names = realloc(l->new_names, l->new_len + len);
	if (!l->new_names)
		abort();
	memcpy(l->new_names + l->new_len, line, len);
	l->new_len += len;
}

static bool sync_cpu(struct live *l, unsigned int cpu)
{
	struct cpu *c = &l->cpu[cpu];
	uint64_t at = l->begin + cpu * l->region + c->done, size;
	uint8_t told[8];

	if (c->nr_full) {
		if (!write_at(l, c->full, c->nr_full * l->page_size, at))
			return false;
		c->done += c->nr_full * l->page_size;
		at += c->nr_full * l->page_size;
		free(c->full);
		c->full = NULL;
		c->nr_full = 0;
	}
	/* A page at a time, which readers see before or after */
	if (c->dirty) {
		tracepage_seal(&c->page, c->missed, c->nr_missed);
		if (!write_at(l, c->page.data, l->page_size, at))
			return false;
		c->dirty = false;
	}
	size = c->done + (c->page.used ? l->page_size : 0);
	if (size == c->told)
		return true;
	tracepage_number(l->big_endian, told, size, 8);
	if (!write_at(l, told, 8, l->table + 16 * (uint64_t)cpu + 8))
		return false;
	c->told = size;
	return true;
}

/**
 * live_sync - write what is not in the file yet
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
 * live_due - should live_sync() be called before more events?
 * @l: the file
 */
bool live_due(const struct live *l)
{
	return l->full_pages;
}

/**
 * live_full - is there a CPU that should not get more events?
 * @l: the file, after live_sync()
 *
 * An eighth of the region is left for what comes before this is asked again.
 */
bool live_full(const struct live *l)
{
	unsigned int i;

	for (i = 0; i < l->cpus; i++) {
		if (l->cpu[i].told >= l->region - l->region / 8)
			return true;
	}
	return false;
}

/**
 * live_close - finish the file
 * @l: the file; freed
 *
 * Return: false, with errno set, if something was not written.
 */
bool live_close(struct live *l)
{
	bool ok = live_sync(l);
	int error = errno;

	free_live(l);
	errno = error;
	return ok;
}
