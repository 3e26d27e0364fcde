// SPDX-License-Identifier: GPL-2.0
/*
 * Checks the outline of a trace.dat. See tracefile.h; the formats are those of
 * trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5).
 *
 * What is inside the sections, such as the text of event formats or the ring
 * buffer's pages, is checked by libtracecmd.
 */
#include <errno.h>
#include <linux/kernel.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "tracefile.h"

#define MAX_CPUS 65536
#define MAX_OPTIONS 100000

enum {
	OPTION_DONE = 0,
	OPTION_DATE = 1,
	OPTION_BUFFER = 3,
	OPTION_CLOCK = 4,
	OPTION_OFFSET = 7,
	OPTION_TIME_SHIFT = 12,
	OPTION_TSC2NSEC = 14,
	OPTION_FIRST_SECTION = 16,
	OPTION_LAST_SECTION = 21,
};

#define SECTION_HEADER 16
#define SECTION_COMPRESSED 1

/* More than the name of an instance can have */
#define NAME_SIZE 256

/* A place in the file that is read in order, and the first thing wrong */
struct cursor {
	int fd;
	uint64_t at;
	uint64_t size;
	bool big_endian;
	bool failed;
	const char *instance;
	struct tracefile_info *info;
	struct tracefile_error *error;
};

/*
 * In files of version 6 the option for the clock is empty. libtracecmd (3.1) parses
 * it all the same, reads beyond its end, and now and then
 * crashes. No tool asks the library for the clock: this function replaces the library's.
 */
struct tracecmd_input;
void tracecmd_parse_trace_clock(struct tracecmd_input *handle, char *text,
				int size);
void tracecmd_parse_trace_clock(struct tracecmd_input *handle, char *text,
				int size)
{
	(void)handle;
	(void)text;
	(void)size;
}

static bool __attribute__((format(printf, 3, 4)))
fail(struct cursor *c, uint64_t offset, const char *format, ...)
{
	va_list ap;

	if (c->failed)
		return false;
	c->failed = true;
	c->error->offset = offset;
	va_start(ap, format);
	vsnprintf(c->error->reason, sizeof(c->error->reason), format, ap);
	va_end(ap);
	return false;
}

static bool truncated(struct cursor *c, const char *what)
{
	return fail(c, c->at, "truncated: the file ends within the %s", what);
}

static bool get(struct cursor *c, void *to, size_t len, const char *what)
{
	ssize_t n;

	if (c->failed)
		return false;
	if (c->at > c->size || len > c->size - c->at)
		return truncated(c, what);
	n = pread(c->fd, to, len, c->at);
	if (n < 0)
		return fail(c, c->at, "%s", strerror(errno));
	if ((size_t)n < len)
		return truncated(c, what);
	c->at += len;
	return true;
}

static uint64_t get_number(struct cursor *c, size_t len, const char *what)
{
	unsigned char b[8];
	uint64_t v = 0;
	size_t i;

	if (!get(c, b, len, what))
		return 0;
	for (i = 0; i < len; i++)
		v = v << 8 | b[c->big_endian ? i : len - 1 - i];
	return v;
}

static bool skip(struct cursor *c, uint64_t len, const char *what)
{
	if (c->failed)
		return false;
	if (c->at > c->size || len > c->size - c->at)
		return truncated(c, what);
	c->at += len;
	return true;
}

/* Go to @place, which the file has at offset @at */
static bool go_to(struct cursor *c, uint64_t at, uint64_t place)
{
	if (c->failed)
		return false;
	if (place > c->size)
		return fail(c, at,
			    "truncated: points to %llu, the file ends at %llu",
			    (unsigned long long)place,
			    (unsigned long long)c->size);
	c->at = place;
	return true;
}

/* A string that ends with a zero; longer ones than the buffer are cut off */
static bool get_string(struct cursor *c, char *to, size_t max, const char *what)
{
	size_t len = 0;
	char s;

	do {
		if (!get(c, &s, 1, what))
			return false;
		if (len < max)
			to[len++] = s;
	} while (s);
	to[max - 1] = '\0';
	return true;
}

static bool expect(struct cursor *c, const char *string, size_t len,
		   const char *what)
{
	uint64_t at = c->at;
	char found[16];

	if (!get(c, found, len, what))
		return false;
	if (memcmp(found, string, len))
		return fail(c, at, "damaged: no %s where one is expected",
			    what);
	return true;
}

static bool skip_sized(struct cursor *c, size_t width, const char *what)
{
	uint64_t len = get_number(c, width, what);

	return skip(c, len, what);
}

static bool add_pages(struct cursor *c, uint64_t offset, uint64_t len,
		      unsigned int cpu)
{
	struct tracefile_info *info = c->info;
	struct tracefile_pages *p;

	p = xreallocarray(info->pages, info->cpus + 1, sizeof(*p));
	info->pages = p;
	p[info->cpus++] = (struct tracefile_pages){ .cpu = cpu,
						    .offset = offset,
						    .size = len };
	return true;
}

/* Pages of one CPU, of the instance that is wanted or another */
static bool check_pages(struct cursor *c, uint64_t at, uint64_t offset,
			uint64_t len, unsigned int cpu, bool wanted)
{
	if (c->failed)
		return false;
	if (offset > c->size || len > c->size - offset)
		return fail(
			c, at,
			"truncated: the events of CPU %u end at %llu, the file at %llu",
			cpu, (unsigned long long)(offset + len),
			(unsigned long long)c->size);
	c->info->data += len;
	return !wanted || add_pages(c, offset, len, cpu);
}

static void set_clock(struct cursor *c, const char *clock)
{
	snprintf(c->info->clock, sizeof(c->info->clock), "%s", clock);
}

/* "local [global] counter": the one in brackets is meant */
static void parse_clock(struct cursor *c, const char *text)
{
	const char *from = strchr(text, '[');
	size_t len = from ? strcspn(from + 1, "]") : 0;

	if (from && len < sizeof(c->info->clock)) {
		memcpy(c->info->clock, from + 1, len);
		c->info->clock[len] = '\0';
	}
}

static bool check_flyrecord(struct cursor *c, unsigned int cpus, bool wanted)
{
	unsigned int cpu;

	if (!expect(c, "flyrecord", 10, "table of CPUs"))
		return false;
	for (cpu = 0; cpu < cpus; cpu++) {
		uint64_t at = c->at;
		uint64_t offset = get_number(c, 8, "table of CPUs");
		uint64_t len = get_number(c, 8, "table of CPUs");

		if (!check_pages(c, at, offset, len, cpu, wanted))
			return false;
	}
	return true;
}

static unsigned int get_cpus(struct cursor *c)
{
	uint64_t at = c->at;
	uint64_t cpus = get_number(c, 4, "number of CPUs");

	if (!c->failed && (!cpus || cpus > MAX_CPUS))
		fail(c, at, "damaged: %llu CPUs", (unsigned long long)cpus);
	return cpus;
}

static bool check_v6_formats(struct cursor *c)
{
	uint64_t systems, events;

	expect(c, "header_page", 12, "page header");
	skip_sized(c, 8, "page header");
	expect(c, "header_event", 13, "event header");
	skip_sized(c, 8, "event header");
	for (events = get_number(c, 4, "ftrace formats"); events; events--) {
		if (!skip_sized(c, 8, "ftrace formats"))
			return false;
	}
	for (systems = get_number(c, 4, "event formats"); systems; systems--) {
		char name[2];

		if (!get_string(c, name, sizeof(name), "event formats"))
			return false;
		events = get_number(c, 4, "event formats");
		for (; events; events--) {
			if (!skip_sized(c, 8, "event formats"))
				return false;
		}
	}
	skip_sized(c, 4, "kernel symbols");
	skip_sized(c, 4, "printk formats");
	return skip_sized(c, 8, "process names");
}

/* Only the first one of a name counts, as in libtracecmd */
static bool is_wanted(struct cursor *c, const char *name)
{
	return !strcmp(name, c->instance) && !c->info->pages;
}

static bool check_v6_instance(struct cursor *c, uint64_t len, unsigned int cpus)
{
	struct cursor buffer = *c;
	char name[NAME_SIZE];
	uint64_t offset;
	bool good;

	if (len < 8)
		return fail(c, c->at, "damaged: option too short");
	offset = get_number(&buffer, 8, "options");
	good = get_string(&buffer, name, sizeof(name), "options") &&
	       go_to(&buffer, c->at, offset) &&
	       check_flyrecord(&buffer, cpus, *name && is_wanted(c, name));
	c->failed = buffer.failed;
	return good;
}

/* Options after which time stamps are not what the pages say */
static void note_time(struct cursor *c, unsigned int id)
{
	if (id == OPTION_TSC2NSEC)
		c->info->tsc = true;
	if (id == OPTION_DATE || id == OPTION_OFFSET || id == OPTION_TIME_SHIFT)
		c->info->shifted = true;
}

static bool check_v6_options(struct cursor *c, unsigned int cpus,
			     bool *has_clock)
{
	int n;

	for (n = 0; n < MAX_OPTIONS; n++) {
		unsigned int id = get_number(c, 2, "options");
		uint64_t len;

		if (c->failed || id == OPTION_DONE)
			return !c->failed;
		len = get_number(c, 4, "options");
		if (id == OPTION_BUFFER && !c->failed &&
		    !check_v6_instance(c, len, cpus))
			return false;
		if (id == OPTION_CLOCK)
			*has_clock = true;
		note_time(c, id);
		if (!skip(c, len, "options"))
			return false;
	}
	return fail(c, c->at, "damaged: too many options");
}

static bool check_v6_clock(struct cursor *c)
{
	uint64_t len = get_number(c, 8, "trace clock");
	char text[256] = "";

	/* Some versions of trace-cmd damaged it: not worth an error */
	if (!c->failed && len < sizeof(text) &&
	    get(c, text, len, "trace clock"))
		parse_clock(c, text);
	c->failed = false;
	return true;
}

static bool check_v6(struct cursor *c)
{
	bool has_clock = false;
	unsigned int cpus;
	char kind[10];
	uint64_t at;

	if (!check_v6_formats(c))
		return false;
	cpus = get_cpus(c);
	at = c->at;
	if (!get(c, kind, sizeof(kind), "header"))
		return false;
	if (!memcmp(kind, "options  ", 10)) {
		if (!check_v6_options(c, cpus, &has_clock))
			return false;
		at = c->at;
		if (!get(c, kind, sizeof(kind), "header"))
			return false;
	}
	if (!memcmp(kind, "latency  ", 10))
		return fail(c, at, "holds a latency trace, no events");
	c->at = at;
	if (!check_flyrecord(c, cpus, !*c->instance))
		return false;
	return !has_clock || check_v6_clock(c);
}

/* Read the section header at the cursor */
struct section {
	unsigned int id;
	unsigned int flags;
	uint64_t len;
};

static bool get_section(struct cursor *c, struct section *s)
{
	s->id = get_number(c, 2, "section header");
	s->flags = get_number(c, 2, "section header");
	get_number(c, 4, "section header");
	s->len = get_number(c, 8, "section header");
	if (!c->failed && s->len > c->size - c->at)
		return fail(
			c, c->at - SECTION_HEADER,
			"truncated: section %u ends at %llu, the file at %llu",
			s->id, (unsigned long long)(c->at + s->len),
			(unsigned long long)c->size);
	return !c->failed;
}

/* libtracecmd goes from section to section to find the strings */
static bool check_chain(struct cursor *c)
{
	struct section s;

	while (c->size - c->at >= SECTION_HEADER) {
		if (!get_section(c, &s) || !skip(c, s.len, "section"))
			return false;
	}
	return true;
}

static bool check_v7_buffer(struct cursor *c)
{
	unsigned int cpus, i, cpu;
	char name[NAME_SIZE], clock[32];
	uint64_t at, offset, len;
	bool wanted;

	get_number(c, 8, "options");
	get_string(c, name, sizeof(name), "options");
	get_string(c, clock, sizeof(clock), "options");
	wanted = !c->failed && is_wanted(c, name);
	if (wanted)
		set_clock(c, clock);
	get_number(c, 4, "options");
	cpus = get_number(c, 4, "options");
	for (i = 0; i < cpus && !c->failed; i++) {
		at = c->at;
		cpu = get_number(c, 4, "options");
		offset = get_number(c, 8, "options");
		len = get_number(c, 8, "options");
		check_pages(c, at, offset, len, cpu, wanted);
	}
	return !c->failed;
}

static bool check_v7_option(struct cursor *c, unsigned int id)
{
	uint64_t at = c->at;
	struct section s;

	if (id == OPTION_BUFFER)
		return check_v7_buffer(c);
	note_time(c, id);
	if (id < OPTION_FIRST_SECTION || id > OPTION_LAST_SECTION)
		return true;
	if (!go_to(c, at, get_number(c, 8, "options")) || !get_section(c, &s))
		return false;
	if (s.id != id)
		return fail(c, at, "damaged: section %u where %u is expected",
			    s.id, id);
	return true;
}

/* Options of one section; @next is where there are more, 0 if nowhere */
static bool check_v7_options(struct cursor *c, uint64_t end, uint64_t *next)
{
	*next = 0;
	while (c->at < end) {
		unsigned int id = get_number(c, 2, "options");
		uint64_t len = get_number(c, 4, "options");
		uint64_t at = c->at;

		if (c->failed)
			return false;
		if (len > end - at)
			return fail(
				c, at,
				"damaged: option %u is longer than its section",
				id);
		if (id == OPTION_DONE) {
			*next = len >= 8 ? get_number(c, 8, "options") : 0;
			return !c->failed;
		}
		if (!check_v7_option(c, id))
			return false;
		c->at = at + len;
	}
	return true;
}

static bool check_v7(struct cursor *c)
{
	char name[32], version[32];
	struct section s;
	struct cursor chain;
	uint64_t next, at;
	int n;

	get_string(c, name, sizeof(name), "compression");
	get_string(c, version, sizeof(version), "compression");
	next = get_number(c, 8, "header");
	if (c->failed)
		return false;
	if (!next)
		return fail(c, c->at - 8,
			    "truncated: the recording was not finished");
	c->info->compressed = strcmp(name, "none") != 0;
	chain = *c;
	if (!check_chain(&chain)) {
		c->failed = true;
		return false;
	}
	at = c->at - 8;
	for (n = 0; next && n < MAX_OPTIONS; n++) {
		if (!go_to(c, at, next) || !get_section(c, &s))
			return false;
		at = next;
		if (s.id != OPTION_DONE)
			return fail(
				c, next,
				"damaged: section %u where options are expected",
				s.id);
		if (s.flags & SECTION_COMPRESSED)
			return true;
		if (!check_v7_options(c, c->at + s.len, &next))
			return false;
	}
	return next ? fail(c, next, "damaged: endless options") : true;
}

static bool check_initial(struct cursor *c)
{
	char magic[10], version[8];
	uint64_t endian, longs, page;

	if (c->size < sizeof(magic))
		return fail(c, TRACEFILE_NOWHERE,
			    c->size ? "not a trace.dat file" : "empty file");
	if (!get(c, magic, sizeof(magic), "header"))
		return false;
	if (memcmp(magic, "\x17\x08\x44tracing", sizeof(magic)))
		return fail(c, TRACEFILE_NOWHERE, "not a trace.dat file");
	if (!get_string(c, version, sizeof(version), "header"))
		return false;
	if (strcmp(version, "6") && strcmp(version, "7"))
		return fail(c, sizeof(magic),
			    "trace.dat of a version other than 6 and 7");
	c->info->version = version[0] - '0';
	endian = get_number(c, 1, "header");
	longs = get_number(c, 1, "header");
	if (!c->failed && (endian > 1 || (longs != 4 && longs != 8)))
		return fail(c, c->at - 2,
			    "damaged: byte order %llu, longs of %llu bytes",
			    (unsigned long long)endian,
			    (unsigned long long)longs);
	c->big_endian = endian;
	page = get_number(c, 4, "header");
	if (!c->failed && (page < 1024 || page > 1 << 20 || page & (page - 1)))
		return fail(c, c->at - 4, "damaged: pages of %llu bytes",
			    (unsigned long long)page);
	c->info->big_endian = endian;
	c->info->long_size = longs;
	c->info->page_size = page;
	return !c->failed;
}

/**
 * tracefile_check - check the outline of a trace.dat
 * @fd: the file; its position does not change
 * @instance: the trace instance whose pages are wanted, "" for the main one
 * @info: the outline, if it is valid
 * @error: what is wrong, if it is not
 *
 * tracefile_free() must be called in any case.
 *
 * Return: true if all is where it should be.
 */
bool tracefile_check(int fd, const char *instance, struct tracefile_info *info,
		     struct tracefile_error *error)
{
	struct cursor c = {
		.fd = fd, .instance = instance, .info = info, .error = error
	};
	struct stat st;

	memset(info, 0, sizeof(*info));
	if (fstat(fd, &st))
		return fail(&c, TRACEFILE_NOWHERE, "%s", strerror(errno));
	if (S_ISDIR(st.st_mode))
		return fail(&c, TRACEFILE_NOWHERE, "is a directory");
	if (!S_ISREG(st.st_mode))
		return fail(&c, TRACEFILE_NOWHERE,
			    "is not a regular file, which a trace.dat must be");
	info->size = c.size = st.st_size;
	if (!check_initial(&c))
		return false;
	return info->version == 6 ? check_v6(&c) : check_v7(&c);
}

/**
 * tracefile_clock - check that durations can be computed from the trace clock
 * @info: the outline
 * @error: what is wrong, if it does not
 *
 * Return: true if it counts ns.
 */
bool tracefile_clock(const struct tracefile_info *info,
		     struct tracefile_error *error)
{
	static const char *const other[] = { "counter", "uptime", "x86-tsc",
					     "ppc-tb" };
	size_t i;

	for (i = 0; !info->tsc && i < ARRAY_SIZE(other); i++) {
		if (strcmp(info->clock, other[i]))
			continue;
		error->offset = TRACEFILE_NOWHERE;
		snprintf(error->reason, sizeof(error->reason),
			 "its trace clock, %s, does not count nanoseconds",
			 other[i]);
		return false;
	}
	return true;
}

/**
 * tracefile_free - free what tracefile_check() has allocated
 * @info: the outline
 */
void tracefile_free(struct tracefile_info *info)
{
	free(info->pages);
	info->pages = NULL;
	info->cpus = 0;
}
