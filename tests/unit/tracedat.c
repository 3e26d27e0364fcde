// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracedat.h"

const char td_sched_waking[] =
	"name: sched_waking\nID: 301\nformat:\n" TD_COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, REC->target_cpu\n";

const char td_sched_switch[] =
	"name: sched_switch\nID: 302\nformat:\n" TD_COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"%d ==> %s:%d\", REC->prev_pid, REC->next_comm, REC->next_pid\n";

#define MISSED_EVENTS 0x80000000u
#define MISSED_STORED 0x40000000u /* their number follows the data */
#define TYPE_TIME_EXTEND 30
#define MAX_DELTA ((1u << 27) - 1)

static void put_number(const struct td_layout *layout, uint8_t *to,
		       uint64_t value, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		to[layout->big_endian ? size - 1 - i : i] = value >> (8 * i);
}

static uint64_t get_number(const struct td_layout *layout, const uint8_t *from,
			   size_t size)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < size; i++)
		value = value << 8 |
			from[layout->big_endian ? i : size - 1 - i];
	return value;
}

/* A bit field begins at the low end of the word, or at the high end. */
static uint32_t event_word(const struct td_layout *layout, uint32_t type,
			   uint32_t delta)
{
	return layout->big_endian ? type << 27 | delta : delta << 5 | type;
}

void td_init(struct td *td, const struct td_layout *layout, unsigned int cpus)
{
	memset(td, 0, sizeof(*td));
	td->layout = *layout;
	td->cpus = cpus;
	td->cmdlines = "";
	td_add_buffer(td, "");
}

void td_add_event(struct td *td, const char *system, const char *format)
{
	if (td->events == TD_MAX_EVENTS)
		abort();
	td->event[td->events].system = system;
	td->event[td->events++].format = format;
}

unsigned int td_add_buffer(struct td *td, const char *name)
{
	if (td->buffers == TD_MAX_BUFFERS)
		abort();
	td->buffer[td->buffers].name = name;
	return td->buffers++;
}

void td_begin(struct td_record *r, const struct td *td, unsigned int id,
	      int pid, size_t fixed)
{
	memset(r, 0, sizeof(*r));
	r->layout = &td->layout;
	r->len = fixed;
	td_put(r, 0, id, 2);
	td_put(r, 4, (uint32_t)pid, 4);
}

void td_put(struct td_record *r, size_t offset, uint64_t value, size_t size)
{
	put_number(r->layout, r->data + offset, value, size);
}

void td_put_bytes(struct td_record *r, size_t offset, const char *s,
		  size_t size)
{
	memcpy(r->data + offset, s, strnlen(s, size));
}

/* __data_loc: length and offset in a word, the string at the end */
void td_put_string(struct td_record *r, size_t offset, const char *s)
{
	size_t len = strlen(s) + 1;

	td_put(r, offset, len << 16 | r->len, 4);
	memcpy(r->data + r->len, s, len);
	r->len += len;
}

/* With TD_RELATIVE in the environment, locations count from the end of their field */
static bool is_relative(void)
{
	return getenv("TD_RELATIVE");
}

static void make_relative(const struct td *td, uint8_t *record)
{
	const struct td_layout *layout = &td->layout;
	unsigned int i, id = get_number(layout, record, 2), of, offset;
	const char *s;

	for (i = 0; i < td->events; i++) {
		s = strstr(td->event[i].format, "\nID: ");
		if (sscanf(s, " ID: %u", &of) != 1 || of != id)
			continue;
		while ((s = strstr(s, "field:__data_loc")) != NULL) {
			s = strstr(s, "offset:");
			if (sscanf(s, "offset:%u", &offset) != 1)
				abort();
			put_number(layout, record + offset,
				   get_number(layout, record + offset, 4) -
					   offset - 4,
				   4);
		}
	}
}

static size_t page_header(const struct td_layout *layout)
{
	return 8 + (layout->long4 ? 4 : 8);
}

static void write_page(const struct td *td, FILE *f, struct td_page *page)
{
	size_t header = page_header(&td->layout);
	uint32_t commit = page->used - header;

	if (page->missed)
		commit |= MISSED_EVENTS;
	if (page->missed_nr &&
	    page->used + header - 8 <= td->layout.page_size) {
		commit |= MISSED_STORED;
		put_number(&td->layout, page->data + page->used,
			   page->missed_nr, header - 8);
	}
	put_number(&td->layout, page->data + 8, commit, header - 8);
	fwrite(page->data, 1, td->layout.page_size, f);
}

/* Pages that are in the stream need not be in memory. */
static void flush_ring(struct td *td, struct td_ring *ring)
{
	size_t i;

	for (i = 0; i < ring->pages; i++) {
		write_page(td, td->stream, &ring->page[i]);
		free(ring->page[i].data);
	}
	ring->pages = 0;
}

static struct td_page *new_page(struct td *td, struct td_ring *ring,
				uint64_t ts)
{
	struct td_page *page;

	if (td->stream)
		flush_ring(td, ring);
	ring->page =
		realloc(ring->page, (ring->pages + 1) * sizeof(*ring->page));
	if (!ring->page)
		abort();
	page = &ring->page[ring->pages++];
	page->data = calloc(1, td->layout.page_size);
	if (!page->data)
		abort();
	page->used = page_header(&td->layout);
	page->last = ts;
	page->missed = ring->missed;
	page->missed_nr = ring->missed_nr;
	ring->missed = false;
	ring->missed_nr = 0;
	put_number(&td->layout, page->data, ts, 8);
	return page;
}

static void put_words(struct td *td, struct td_page *page, uint32_t type,
		      uint32_t delta, const uint32_t *word)
{
	uint8_t *to = page->data + page->used;

	put_number(&td->layout, to, event_word(&td->layout, type, delta), 4);
	page->used += 4;
	if (word) {
		put_number(&td->layout, to + 4, *word, 4);
		page->used += 4;
	}
}

void td_write(struct td *td, unsigned int buffer, unsigned int cpu, uint64_t ts,
	      const struct td_record *r)
{
	struct td_ring *ring = &td->buffer[buffer].ring[cpu];
	struct td_page *page = ring->pages ? &ring->page[ring->pages - 1] :
					     NULL;
	size_t len = (r->len + 3) & ~3ul;
	uint64_t delta;

	/* event word, length word and a time extension at the most */
	if (!page || ring->missed ||
	    page->used + len + 16 > td->layout.page_size)
		page = new_page(td, ring, ts);
	delta = ts - page->last;
	if (delta > MAX_DELTA) {
		uint32_t high = delta >> 27;

		put_words(td, page, TYPE_TIME_EXTEND, delta & MAX_DELTA, &high);
		delta = 0;
	}
	if (len <= 28 * 4) {
		put_words(td, page, len / 4, delta, NULL);
	} else {
		uint32_t length = len + 4;

		put_words(td, page, 0, delta, &length);
	}
	memcpy(page->data + page->used, r->data, r->len);
	if (is_relative())
		make_relative(td, page->data + page->used);
	page->used += len;
	page->last = ts;
}

void td_lose(struct td *td, unsigned int buffer, unsigned int cpu)
{
	td->buffer[buffer].ring[cpu].missed = true;
}

void td_lose_some(struct td *td, unsigned int buffer, unsigned int cpu,
		  uint32_t nr)
{
	td_lose(td, buffer, cpu);
	td->buffer[buffer].ring[cpu].missed_nr = nr;
}

struct out {
	FILE *f;
	const struct td_layout *layout;
};

static void out_number(struct out *o, uint64_t value, size_t size)
{
	uint8_t b[8];

	put_number(o->layout, b, value, size);
	fwrite(b, 1, size, o->f);
}

static void out_sized(struct out *o, const char *s)
{
	out_number(o, strlen(s), 8);
	fwrite(s, 1, strlen(s), o->f);
}

static void out_format(struct out *o, const char *format)
{
	char *text = strdup(format), *s = text;

	while (is_relative() && (s = strstr(s, "__data_loc")) != NULL) {
		memcpy(s, "__rel_loc", 9);
		memmove(s + 9, s + 10, strlen(s + 9));
	}
	out_sized(o, text);
	free(text);
}

static void out_header(struct out *o, const struct td *td)
{
	int l = td->layout.long4 ? 4 : 8;
	char text[1024];

	fwrite("\x17\x08\x44tracing6", 1, 12, o->f);
	out_number(o, td->layout.big_endian, 1);
	out_number(o, l, 1);
	out_number(o, td->layout.page_size, 4);
	fwrite("header_page", 1, 12, o->f);
	snprintf(text, sizeof(text),
		 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:%d;\tsigned:1;\n"
		 "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		 "\tfield: char data;\toffset:%d;\tsize:%d;\tsigned:1;\n",
		 l, 8 + l, (int)td->layout.page_size - 8 - l);
	out_sized(o, text);
	fwrite("header_event", 1, 13, o->f);
	out_sized(o, "# compressed entry header\n"
		     "\ttype_len    :    5 bits\n"
		     "\ttime_delta  :   27 bits\n"
		     "\tarray       :   32 bits\n\n"
		     "\tpadding     : type == 29\n"
		     "\ttime_extend : type == 30\n"
		     "\ttime_stamp : type == 31\n"
		     "\tdata max type_len  == 28\n");
	out_number(o, 0, 4); /* formats of ftrace's own events */
}

static void out_formats(struct out *o, const struct td *td)
{
	unsigned int i, j, systems = 0;

	for (i = 0; i < td->events; i++)
		systems += !i ||
			   strcmp(td->event[i].system, td->event[i - 1].system);
	out_number(o, systems, 4);
	for (i = 0; i < td->events; i = j) {
		const char *system = td->event[i].system;

		for (j = i; j < td->events; j++) {
			if (strcmp(td->event[j].system, system))
				break;
		}
		fwrite(system, 1, strlen(system) + 1, o->f);
		out_number(o, j - i, 4);
		for (; i < j; i++)
			out_format(o, td->event[i].format);
	}
	out_number(o, td->kallsyms ? strlen(td->kallsyms) : 0, 4);
	if (td->kallsyms)
		fwrite(td->kallsyms, 1, strlen(td->kallsyms), o->f);
	out_number(o, 0, 4); /* printk */
	out_sized(o, td->cmdlines);
	out_number(o, td->cpus, 4);
}

/* Where the table of a buffer's CPUs stands, by name: filled in at the end */
static void out_tables(struct out *o, const struct td *td, long *table,
		       long *option)
{
	unsigned int b;

	fwrite("options  ", 1, 10, o->f);
	if (td->layout.clock) {
		/* trace-cmd reads it as a string */
		out_number(o, 4, 2);
		out_number(o, 1, 4);
		out_number(o, 0, 1);
	}
	for (b = 1; b < td->buffers; b++) {
		const char *name = td->buffer[b].name;

		out_number(o, 3, 2);
		out_number(o, 8 + strlen(name) + 1, 4);
		option[b] = ftell(o->f);
		out_number(o, 0, 8);
		fwrite(name, 1, strlen(name) + 1, o->f);
	}
	out_number(o, 0, 2);
	for (b = 0; b < td->buffers; b++) {
		table[b] = ftell(o->f);
		fwrite("flyrecord", 1, 10, o->f);
		for (unsigned int cpu = 0; cpu < td->cpus; cpu++) {
			out_number(o, 0, 8);
			out_number(o, 0, 8);
		}
		if (!b && td->layout.clock) {
			char clock[64];

			snprintf(clock, sizeof(clock), "[%s]\n",
				 td->layout.clock);
			out_sized(o, clock);
		}
	}
}

static void pad_to_page(struct out *o)
{
	while (ftell(o->f) % o->layout->page_size)
		fputc(0, o->f);
}

/* A CPU's entry in the table: its pages from @at to here */
static void out_extent(struct out *o, long table, unsigned int cpu, long at)
{
	long end = ftell(o->f);

	fseek(o->f, table + 10 + 16 * cpu, SEEK_SET);
	out_number(o, at, 8);
	out_number(o, end - at, 8);
	fseek(o->f, 0, SEEK_END);
}

/* With TD_INSTANCE=NAME, an instance has all that was recorded, the main one nothing */
static void move_to_instance(struct td *td)
{
	const char *name = getenv("TD_INSTANCE");
	unsigned int b;

	if (!name || td->buffers != 1)
		return;
	b = td_add_buffer(td, name);
	for (unsigned int cpu = 0; cpu < td->cpus; cpu++) {
		struct td_ring ring = td->buffer[0].ring[cpu];

		td->buffer[0].ring[cpu] = td->buffer[b].ring[cpu];
		td->buffer[b].ring[cpu] = ring;
	}
}

bool td_save(struct td *td, const char *path)
{
	struct out o = { .f = fopen(path, "wb"), .layout = &td->layout };
	long table[TD_MAX_BUFFERS], option[TD_MAX_BUFFERS];
	unsigned int b, cpu;
	bool good;

	if (!o.f)
		return false;
	move_to_instance(td);
	out_header(&o, td);
	out_formats(&o, td);
	out_tables(&o, td, table, option);
	for (b = 0; b < td->buffers; b++) {
		for (cpu = 0; cpu < td->cpus; cpu++) {
			const struct td_ring *ring = &td->buffer[b].ring[cpu];
			size_t i;
			long at;

			pad_to_page(&o);
			at = ftell(o.f);
			for (i = 0; i < ring->pages; i++)
				write_page(td, o.f, &ring->page[i]);
			out_extent(&o, table[b], cpu, at);
		}
		if (b) {
			fseek(o.f, option[b], SEEK_SET);
			out_number(&o, table[b], 8);
			fseek(o.f, 0, SEEK_END);
		}
	}
	good = !ferror(o.f);
	return !fclose(o.f) && good;
}

bool td_stream(struct td *td, const char *path)
{
	struct out o = { .f = fopen(path, "wb"), .layout = &td->layout };
	long option[TD_MAX_BUFFERS];

	if (!o.f || td->buffers != 1)
		return false;
	out_header(&o, td);
	out_formats(&o, td);
	out_tables(&o, td, &td->table, option);
	pad_to_page(&o);
	td->stream = o.f;
	td->pages_at = ftell(o.f);
	return !ferror(o.f);
}

void td_stream_cpu(struct td *td, unsigned int cpu)
{
	struct out o = { .f = td->stream, .layout = &td->layout };

	flush_ring(td, &td->buffer[0].ring[cpu]);
	out_extent(&o, td->table, cpu, td->pages_at);
	td->pages_at = ftell(td->stream);
}

bool td_stream_end(struct td *td)
{
	bool good = !ferror(td->stream);

	good = !fclose(td->stream) && good;
	td->stream = NULL;
	return good;
}

void td_free(struct td *td)
{
	unsigned int b, cpu;
	size_t i;

	for (b = 0; b < td->buffers; b++) {
		for (cpu = 0; cpu < TD_MAX_CPUS; cpu++) {
			struct td_ring *ring = &td->buffer[b].ring[cpu];

			for (i = 0; i < ring->pages; i++)
				free(ring->page[i].data);
			free(ring->page);
		}
	}
}

bool td_finish(struct td *td, const char *path)
{
	bool good = td_save(td, path);

	if (!good)
		perror(path);
	td_free(td);
	return good;
}
