// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a trace.dat of version 6. See datfile.h.
 *
 * The head of the new file, from the magic to the names of processes, is what
 * libtracecmd makes of the old one's, with formats and names added.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <trace-cmd.h>

#include "datfile.h"
#include "memory.h"
#include "tracepage.h"

/* libtracecmd has these for trace-cmd, without a header */
struct tracecmd_output;
struct tracecmd_output *tracecmd_copy(struct tracecmd_input *ihandle,
				      const char *file, int state,
				      int file_version,
				      const char *compression);
void tracecmd_output_close(struct tracecmd_output *handle);
int tracecmd_cpus(struct tracecmd_input *handle);
int tracecmd_long_size(struct tracecmd_input *handle);

#define FILE_CMD_LINES 7 /* its enum tracecmd_file_states */

/* After the magic, the version and the byte order */
#define LONG_SIZE_AT 13

/**
 * struct datfile - a file being written
 * @out: where to
 * @cpus: number of CPUs
 * @names: where more names of processes may be in the file
 * @names_room: bytes there
 * @table: where the table of CPUs is in the file
 * @cpu: the current CPU
 * @begin: where its pages begin
 * @page: the current page, with the file's byte order; unused if there is none
 * @missed: events were lost before it
 * @nr_missed: number of these, 0 if unknown
 * @failed: writing failed
 */
struct datfile {
	FILE *out;
	unsigned int cpus;
	long names;
	size_t names_room;
	long table;
	unsigned int cpu;
	long begin;
	struct tracepage page;
	bool missed;
	uint64_t nr_missed;
	bool failed;
};

/* The head of the old file, read from front to back */
struct head {
	const uint8_t *at;
	const uint8_t *end;
	bool big_endian;
	bool failed;
};

static void out_bytes(struct datfile *d, const void *from, size_t len)
{
	if (fwrite(from, 1, len, d->out) != len)
		d->failed = true;
}

static void out_zeros(struct datfile *d, size_t len)
{
	static const char zero[4096];
	size_t n;

	for (; len; len -= n) {
		n = len < sizeof(zero) ? len : sizeof(zero);
		out_bytes(d, zero, n);
	}
}

static void out_number(struct datfile *d, uint64_t value, unsigned int size)
{
	uint8_t b[8];

	tracepage_number(d->page.big_endian, b, value, size);
	out_bytes(d, b, size);
}

static const uint8_t *read_bytes(struct head *h, uint64_t len)
{
	const uint8_t *at = h->at;

	if (h->failed || len > (uint64_t)(h->end - h->at)) {
		h->failed = true;
		return NULL;
	}
	h->at += len;
	return at;
}

static uint64_t read_number(struct head *h, unsigned int size)
{
	const uint8_t *b = read_bytes(h, size);
	uint64_t v = 0;
	unsigned int i;

	for (i = 0; b && i < size; i++)
		v = v << 8 | b[h->big_endian ? i : size - 1 - i];
	return v;
}

/* The rest is a string with a zero at its end */
static const char *read_string(struct head *h)
{
	const uint8_t *zero = memchr(h->at, 0, h->end - h->at);

	if (!zero) {
		h->failed = true;
		return "";
	}
	return (const char *)read_bytes(h, zero + 1 - h->at);
}

static void skip_sized(struct head *h, unsigned int width)
{
	read_bytes(h, read_number(h, width));
}

static void read_initial(struct datfile *d, struct head *h)
{
	const uint8_t *b;

	read_bytes(h, 10);
	read_string(h);
	b = read_bytes(h, 2);
	if (!b)
		return;
	d->page.big_endian = h->big_endian = b[0];
	d->page.long_size = b[1];
	d->page.size = read_number(h, 4);
	read_string(h); /* header_page */
	skip_sized(h, 8);
	read_string(h); /* header_event */
	skip_sized(h, 8);
	for (uint64_t n = read_number(h, 4); n && !h->failed; n--)
		skip_sized(h, 8);
}

static unsigned int count_system(const struct datfile_extra *extra,
				 const char *system)
{
	unsigned int i, n = 0;

	for (i = 0; i < extra->nr_formats; i++)
		n += !strcmp(extra->format[i].system, system);
	return n;
}

static void out_formats(struct datfile *d, const struct datfile_extra *extra,
			const char *system)
{
	unsigned int i;

	for (i = 0; i < extra->nr_formats; i++) {
		const struct datfile_format *f = &extra->format[i];

		if (strcmp(f->system, system) != 0)
			continue;
		out_number(d, strlen(f->text), 8);
		out_bytes(d, f->text, strlen(f->text));
	}
}

/* Is it the first extra format of its system? */
static bool leads(const struct datfile_extra *extra, unsigned int i)
{
	return !i || strcmp(extra->format[i].system,
			    extra->format[i - 1].system) != 0;
}

/* The systems with their formats; extra ones join their system or follow */
static void copy_formats(struct datfile *d, struct head *h,
			 const struct datfile_extra *extra)
{
	uint64_t n, systems = read_number(h, 4), added = 0;
	bool *seen = xcalloc(extra->nr_formats + 1, sizeof(*seen));
	uint8_t count[4];
	long at = ftell(d->out);
	unsigned int i;

	out_number(d, systems, 4);
	for (; systems && !h->failed; systems--) {
		const char *system = read_string(h);
		unsigned int more = count_system(extra, system);

		for (i = 0; i < extra->nr_formats; i++)
			seen[i] |= !strcmp(extra->format[i].system, system);
		n = read_number(h, 4);
		out_bytes(d, system, strlen(system) + 1);
		out_number(d, n + more, 4);
		for (; n && !h->failed; n--) {
			const uint8_t *from = h->at;

			skip_sized(h, 8);
			out_bytes(d, from, h->at - from);
		}
		out_formats(d, extra, system);
		added++;
	}
	for (i = 0; i < extra->nr_formats; i++) {
		const char *system = extra->format[i].system;

		if (seen[i] || !leads(extra, i))
			continue;
		out_bytes(d, system, strlen(system) + 1);
		out_number(d, count_system(extra, system), 4);
		out_formats(d, extra, system);
		added++;
	}
	tracepage_number(d->page.big_endian, count, added, sizeof(count));
	fseek(d->out, at, SEEK_SET);
	out_bytes(d, count, sizeof(count));
	fseek(d->out, 0, SEEK_END);
	free(seen);
}

static void copy_head(struct datfile *d, struct head *h,
		      const struct datfile_extra *extra)
{
	const uint8_t *from = h->at, *names;
	uint64_t len;

	read_initial(d, h);
	if (h->failed)
		return;
	out_bytes(d, from, h->at - from);
	copy_formats(d, h, extra);
	from = h->at;
	skip_sized(h, 4); /* kallsyms */
	skip_sized(h, 4); /* printk */
	out_bytes(d, from, h->at - from);
	len = read_number(h, 8);
	names = read_bytes(h, len);
	if (h->failed)
		return;
	/* Lines, which end at the first zero */
	while (len && !names[len - 1])
		len--;
	d->names_room = extra->names_room;
	out_number(d, len + d->names_room + 1, 8);
	out_bytes(d, names, len);
	d->names = ftell(d->out);
	out_zeros(d, d->names_room + 1);
}

static void begin_cpus(struct datfile *d, const char *clock)
{
	unsigned int cpu;
	char text[64];

	out_number(d, d->cpus, 4);
	out_bytes(d, "options  ", 10);
	if (*clock) {
		/*
		 * There is a trace clock. trace-cmd reads the option as a string, and, if
		 * it has no bytes, whatever its memory contains: times were in other
		 * units now and then.
		 */
		out_number(d, 4, 2);
		out_number(d, 1, 4);
		out_number(d, 0, 1);
	}
	out_number(d, 0, 2);
	out_bytes(d, "flyrecord", 10);
	d->table = ftell(d->out);
	for (cpu = 0; cpu < d->cpus; cpu++) {
		out_number(d, 0, 8);
		out_number(d, 0, 8);
	}
	if (*clock) {
		snprintf(text, sizeof(text), "[%s]\n", clock);
		out_number(d, strlen(text), 8);
		out_bytes(d, text, strlen(text));
	}
	d->page.data = xzalloc(d->page.size);
	d->cpu = d->cpus;
}

/* What libtracecmd makes of the old file's head, in memory; NULL after an error */
static uint8_t *get_head(struct tracecmd_input *from, size_t *len)
{
	int fd = memfd_create("head", MFD_CLOEXEC);
	struct tracecmd_output *copy;
	uint8_t *head = NULL;
	char path[64];
	off_t size;

	if (fd < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	copy = tracecmd_copy(from, path, FILE_CMD_LINES, 6, NULL);
	if (copy)
		tracecmd_output_close(copy);
	size = lseek(fd, 0, SEEK_END);
	if (copy && size > 0)
		head = xreallocarray(NULL, size, 1);
	if (head && pread(fd, head, size, 0) != size) {
		free(head);
		head = NULL;
	}
	/* It says how long its own longs are */
	if (head && size > LONG_SIZE_AT)
		head[LONG_SIZE_AT] = tracecmd_long_size(from);
	close(fd);
	*len = size;
	return head;
}

/**
 * datfile_begin - begin a file
 * @from: the file to be like
 * @out: where to write to; can be positioned
 * @extra: additional contents
 *
 * Then follow, for each CPU in turn, datfile_cpu() and its events.
 *
 * Return: the file for the other functions, or NULL if the head of the old one
 * cannot be read.
 */
struct datfile *datfile_begin(struct tracecmd_input *from, FILE *out,
			      const struct datfile_extra *extra)
{
	struct datfile *d = xzalloc(sizeof(*d));
	struct head h = { 0 };
	uint8_t *head;
	size_t len;

	d->out = out;
	d->cpus = tracecmd_cpus(from);
	head = get_head(from, &len);
	if (head) {
		h.at = head;
		h.end = head + len;
		copy_head(d, &h, extra);
	}
	if (!head || h.failed || d->page.size < 1024 ||
	    d->page.size > 1 << 20) {
		free(head);
		free(d);
		return NULL;
	}
	free(head);
	begin_cpus(d, extra->clock);
	return d;
}

/**
 * datfile_resume - continue a file of this machine
 * @out: the file, which ends after the trace_printk() formats; can be positioned
 * @cpus: number of CPUs
 * @page_size: bytes of a page
 * @names: names of processes, "PID COMM" lines
 * @clock: trace clock, or ""
 *
 * Then follow, for each CPU in turn, datfile_cpu() and its pages or events.
 *
 * Return: the file for the other functions.
 */
struct datfile *datfile_resume(FILE *out, unsigned int cpus,
			       unsigned int page_size, const char *names,
			       const char *clock)
{
	struct datfile *d = xzalloc(sizeof(*d));

	d->out = out;
	d->page.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	d->page.long_size = sizeof(long);
	d->page.size = page_size;
	d->cpus = cpus;
	out_number(d, strlen(names) + 1, 8);
	out_bytes(d, names, strlen(names) + 1);
	begin_cpus(d, clock);
	return d;
}

static void end_page(struct datfile *d)
{
	if (!d->page.used)
		return;
	tracepage_seal(&d->page, d->missed, d->nr_missed);
	out_bytes(d, d->page.data, d->page.size);
	d->page.used = 0;
	d->missed = false;
	d->nr_missed = 0;
}

static void end_cpu(struct datfile *d)
{
	long end;

	if (d->cpu == d->cpus)
		return;
	end_page(d);
	end = ftell(d->out);
	fseek(d->out, d->table + 16 * d->cpu, SEEK_SET);
	out_number(d, d->begin, 8);
	out_number(d, end - d->begin, 8);
	fseek(d->out, 0, SEEK_END);
}

/**
 * datfile_cpu - the events that follow are of another CPU
 * @d: the file
 * @cpu: the CPU, below the number of those in the old file
 */
void datfile_cpu(struct datfile *d, unsigned int cpu)
{
	size_t over;

	end_cpu(d);
	over = ftell(d->out) % d->page.size;
	if (over)
		out_zeros(d, d->page.size - over);
	d->cpu = cpu;
	d->begin = ftell(d->out);
	d->missed = false;
	d->nr_missed = 0;
}

/**
 * datfile_page - a page of the CPU at hand, as its ring buffer had it
 * @d: the file
 * @page: the page
 */
void datfile_page(struct datfile *d, const void *page)
{
	end_page(d);
	out_bytes(d, page, d->page.size);
}

/**
 * datfile_lost - events were lost before the next one
 * @d: the file
 * @events: number of these, 0 if unknown
 */
void datfile_lost(struct datfile *d, uint64_t events)
{
	end_page(d);
	d->missed = true;
	d->nr_missed = events;
}

/**
 * datfile_event - add an event of the current CPU
 * @d: the file
 * @ts: its time
 * @data: its record
 * @len: bytes of it; a record that exceeds a page counts as lost
 */
void datfile_event(struct datfile *d, uint64_t ts, const void *data,
		   unsigned int len)
{
	if (!tracepage_holds(&d->page, len)) {
		datfile_lost(d, 1);
		return;
	}
	if (d->page.used && !tracepage_fits(&d->page, ts, len, d->missed))
		end_page(d);
	if (!d->page.used)
		tracepage_begin(&d->page, ts);
	tracepage_event(&d->page, ts, data, len);
}

/**
 * datfile_names - add names of processes, of which trace-cmd saved only some
 * @d: the file
 * @lines: "PID COMM", each with a newline
 *
 * Return: false if they do not fit; then none is added.
 */
bool datfile_names(struct datfile *d, const char *lines)
{
	if (strlen(lines) > d->names_room)
		return false;
	fseek(d->out, d->names, SEEK_SET);
	out_bytes(d, lines, strlen(lines));
	fseek(d->out, 0, SEEK_END);
	return true;
}

/**
 * datfile_end - finish the file
 * @d: the file; freed
 *
 * Return: false if it could not be written.
 */
bool datfile_end(struct datfile *d)
{
	bool good;

	end_cpu(d);
	good = !d->failed && !fflush(d->out);
	free(d->page.data);
	free(d);
	return good;
}
