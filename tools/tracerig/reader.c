// SPDX-License-Identifier: GPL-2.0
/* Reads the ring buffer of an instance. See reader.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "keys.h"
#include "memory.h"
#include "part.h"
#include "reader.h"
#include "records.h"
#include "text.h"

/* Bytes of a window that are kept in memory, since the disk may be slow */
#define IN_MEMORY (2u << 20)

/* Limit of the bytes of a window's pages, and of those of all earlier windows together */
#define SPOOL_MAX (256u << 20)

/* Files that are open besides those of the CPUs */
#define OTHER_FILES 128

/* Pages that are read from one CPU before the next CPU is read */
#define PAGES_PASS 256

/* ---- the spool ---- */

static void spool_open(struct spool *s, unsigned int page_size, const char *dir)
{
	s->page_size = page_size;
	s->in_memory = IN_MEMORY / page_size;
	s->memory = xcalloc(s->in_memory, page_size);
	s->file = part_unnamed(dir);
}

/**
 * spool_full - whether a window has as many pages as a case can have
 * @s: the spool
 */
bool spool_full(const struct spool *s)
{
	return s->nr >= SPOOL_MAX / s->page_size;
}

/* After a page without room there is none for later ones, so that there is one gap, at the end */
static bool spool_add(struct spool *s, unsigned int cpu, const u8 *page)
{
	off_t at = (off_t)(s->nr - s->in_memory) * s->page_size;

	if (s->dropped_pages)
		return false;
	if (s->nr < s->in_memory)
		memcpy(s->memory + s->nr * s->page_size, page, s->page_size);
	else if (pwrite(s->file, page, s->page_size, at) != s->page_size)
		return false;
	GROW(s->cpu, s->nr, s->room);
	s->cpu[s->nr++] = cpu;
	return true;
}

static void spool_clear(struct spool *s, const char *dir)
{
	if (s->nr > s->in_memory || s->file < 0) {
		if (s->file >= 0)
			close(s->file);
		s->file = part_unnamed(dir);
	}
	free(s->cpu);
	s->cpu = NULL;
	s->nr = 0;
	s->room = 0;
	s->end = 0;
	s->events = 0;
	s->dropped_pages = 0;
	s->dropped_events = 0;
}

static void spool_close(struct spool *s)
{
	if (s->file >= 0)
		close(s->file);
	s->file = -1;
	free(s->memory);
	free(s->cpu);
}

/**
 * spool_get - read a page
 * @s: the spool
 * @i: its number
 * @page: where to put it
 *
 * Return: false, with errno set, if it cannot be read.
 */
bool spool_get(const struct spool *s, size_t i, u8 *page)
{
	off_t at = (off_t)(i - s->in_memory) * s->page_size;

	if (i < s->in_memory) {
		memcpy(page, s->memory + i * s->page_size, s->page_size);
		return true;
	}
	return pread(s->file, page, s->page_size, at) == s->page_size;
}

/**
 * spool_time - when a page begins
 * @s: the spool
 * @i: the page's number
 *
 * Return: ns, from the head of the page; 0 if it cannot be read.
 */
u64 spool_time(const struct spool *s, size_t i)
{
	off_t at = (off_t)(i - s->in_memory) * s->page_size;
	u64 ts = 0;

	if (i < s->in_memory)
		memcpy(&ts, s->memory + i * s->page_size, sizeof(ts));
	else if (pread(s->file, &ts, sizeof(ts), at) != sizeof(ts))
		return 0;
	return ts;
}

/* ---- alarms ---- */

static void text_field(struct tep_event *event, const char *name,
		       const struct record *rec, char *buf, size_t size)
{
	array_text(array_find(event, name), rec, buf, size);
	clean_text(buf);
}

static void learn_limit(struct reader *r, const struct record *rec)
{
	struct tep_event *event = tep_find_event(r->tep, r->limit_id);
	struct known_chart k = {
		.number = number_named(event, "chart", rec),
		.event = number_named(event, "event", rec),
		.values = number_named(event, "values", rec),
	};
	struct chart_lines line = {
		.nr = number_named(event, "limit_nr", rec),
		.center = number_named(event, "center", rec),
		.limit = number_named(event, "limit", rec),
	};

	text_field(event, "name", rec, k.name, sizeof(k.name));
	text_field(event, "keys", rec, k.types, sizeof(k.types));
	/* If there are too many charts, this one has its number as its name in alarms */
	charts_learn(&r->charts, &k, &line);
}

static void parse_alarm(struct reader *r, const struct record *rec,
			struct alarm *a)
{
	struct tep_event *event = tep_find_event(r->tep, r->alarm_id), *judged;
	u32 number = number_named(event, "chart", rec);
	const struct known_chart *c = charts_find(&r->charts, number);
	const struct chart_lines *l =
		charts_lines(c, number_named(event, "limit_nr", rec));
	char keys[sizeof(a->keys)];
	const u8 *words = NULL;
	u32 len;

	*a = (struct alarm){
		.ts = rec->ts,
		.cpu = rec->cpu,
		.start = number_named(event, "start", rec),
		.value = number_named(event, "duration", rec),
		.center = l ? l->center : 0,
		.limit = l ? l->limit : 0,
		.values = c ? c->values : 0,
		.rules = number_named(event, "rules", rec),
		.pid = number_named(event, "pid", rec),
		.kept = number_named(event, "kept", rec),
	};
	text_field(event, "comm", rec, a->comm, sizeof(a->comm));
	charts_name(c, number, a->chart);
	if (!array_get(array_find(event, "keys"), rec->data, rec->size, &words,
		       &len))
		len = 0;
	keys_unpack(r->tep, c ? c->types : "", (const char *)words, len, keys,
		    sizeof(keys));
	clean_text(keys);
	judged = c ? tep_find_event(r->tep, c->event) : NULL;
	keys_text(judged, keys, a->keys, sizeof(a->keys));
	chart_label(judged, a->chart, sizeof(a->chart));
}

/* Values that are no times have no start */
static bool is_of(const struct alarm *a, int pid, u64 ended)
{
	return pid && a->pid == pid &&
	       (!ended || (a->start ? a->start : a->ts) < ended);
}

/**
 * reader_is_own - whether the watch itself has caused an alarm
 * @r: the reader
 * @a: the alarm
 *
 * Otherwise, writing a case could cause the next case.
 */
bool reader_is_own(const struct reader *r, const struct alarm *a)
{
	return is_of(a, getpid(), 0) ||
	       is_of(a, r->writer.pid, r->writer.ended) ||
	       is_of(a, *r->helper, r->writer.ended) ||
	       is_of(a, r->baseline.pid, r->baseline.ended);
}

static void add_alarm(struct reader *r, const struct alarm *a,
		      struct alarm_list *to)
{
	if (reader_is_own(r, a))
		r->own++;
	else
		alarm_list_add(to, a);
}

/**
 * reader_next_event - the next event of a page
 * @r: the reader, whose @k has loaded the page
 * @rec: where to put it; its @data is initially NULL
 * @type: where to put its type
 *
 * Return: false at the end of the page.
 */
bool reader_next_event(struct reader *r, struct record *rec, u16 *type)
{
	if (rec->data)
		kbuffer_next_event(r->k, NULL);
	rec->data = kbuffer_read_event(r->k, &rec->ts);
	if (!rec->data)
		return false;
	rec->size = kbuffer_event_size(r->k);
	memcpy(type, rec->data, sizeof(*type));
	return true;
}

/* Return the number of the alarms in the page in r->buf */
static u64 parse_page(struct reader *r, unsigned int cpu, struct alarm_list *to)
{
	struct record rec = { .cpu = cpu };
	struct alarm a;
	u64 alarms = 0;
	u16 type;

	if (kbuffer_load_subbuffer(r->k, r->buf))
		return 0;
	while (reader_next_event(r, &rec, &type)) {
		if (type != r->alarm_id)
			continue;
		parse_alarm(r, &rec, &a);
		add_alarm(r, &a, to);
		alarms++;
	}
	return alarms;
}

/**
 * reader_finish - find the alarms of a window that has been read
 * @r: the reader; its @alarms and @nr_alarms are filled in
 *
 * They are parsed when all pages are read: an alarm can refer to an event of another CPU.
 */
void reader_finish(struct reader *r)
{
	size_t i;

	for (i = 0; i < r->nr_pages; i++) {
		if (spool_get(&r->spool, r->page[i], r->buf))
			r->seen -= parse_page(r, r->spool.cpu[r->page[i]],
					      &r->alarms);
	}
	r->nr_alarms = r->alarms.nr ? r->alarms.nr + r->lost.nr + r->seen : 0;
}

/**
 * reader_needs - whether a case needs the events of an earlier one, too
 * @r: the reader, after reader_finish()
 * @nth: of @r->past
 *
 * The kernel delivers an event once, even if it is in the windows of several operations.
 */
bool reader_needs(const struct reader *r, unsigned int nth)
{
	return r->past[nth].end &&
	       r->alarms.earliest < r->past[nth].end + r->lead_in;
}

/* Find alarms and limits in the page in r->buf, and say how many events there are */
static u64 scan_page(struct reader *r, unsigned int cpu, u64 *events)
{
	struct record rec = { .cpu = cpu };
	struct spool *s = &r->spool;
	u64 alarms = 0;
	u16 type;

	*events = 0;
	if (kbuffer_load_subbuffer(r->k, r->buf))
		return 0;
	while (reader_next_event(r, &rec, &type)) {
		if (type == r->limit_id)
			learn_limit(r, &rec);
		alarms += type == r->alarm_id;
		if (rec.ts > s->end)
			s->end = rec.ts;
		++*events;
	}
	return alarms;
}

static void store_page(struct reader *r, unsigned int cpu)
{
	u64 events, alarms = scan_page(r, cpu, &events);

	r->read += alarms;
	if (!spool_add(&r->spool, cpu, r->buf)) {
		r->spool.dropped_pages++;
		r->spool.dropped_events += events;
		if (alarms)
			parse_page(r, cpu, &r->lost);
		return;
	}
	r->spool.events += events;
	if (alarms) {
		r->seen += alarms;
		GROW(r->page, r->nr_pages, r->page_room);
		r->page[r->nr_pages++] = r->spool.nr - 1;
	}
}

/* ---- the ring buffers ---- */

static void open_cpus(struct reader *r, struct tracefs_instance *instance)
{
	unsigned int i;

	r->cpus = sysconf(_SC_NPROCESSORS_CONF);
	r->fd = xcalloc(r->cpus, sizeof(*r->fd));
	for (i = 0; i < r->cpus; i++) {
		char *name = xasprintf("per_cpu/cpu%u/trace_pipe_raw", i);

		r->fd[i] = tracefs_instance_file_open(
			instance, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		free(name);
	}
}

/* Bytes of a page of the ring buffer: those before its data, and its data */
static unsigned int page_size(void)
{
	char *text =
		tracefs_instance_file_read(NULL, "events/header_page", NULL);
	char *data = text ? strstr(text, "data;") : NULL;
	unsigned int offset, size, pages = 0;

	if (data &&
	    sscanf(data, "data; offset:%u; size:%u", &offset, &size) == 2)
		pages = offset + size;
	free(text);
	return pages;
}

static void no_files(struct reader *r)
{
	unsigned int i;

	r->spool.file = -1;
	for (i = 0; i < PAST; i++)
		r->past[i].file = -1;
}

/**
 * reader_kbuffer - a parser of pages of this machine's ring buffer
 *
 * Return: it, for kbuffer_free().
 */
struct kbuffer *reader_kbuffer(void)
{
	struct kbuffer *k = kbuffer_alloc(
		sizeof(long) == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
		__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? KBUFFER_ENDIAN_BIG :
							 KBUFFER_ENDIAN_LITTLE);

	if (!k)
		memory_failed();
	return k;
}

/**
 * reader_room - make room for the files of all CPUs, the watch's and the baseline's
 *
 * A CPU whose file cannot be opened would not be read.
 *
 * Return: NULL, or what is wrong, for free().
 */
char *reader_room(void)
{
	rlim_t need = 2 * sysconf(_SC_NPROCESSORS_CONF) + OTHER_FILES;
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= need)
		return NULL;
	files.rlim_cur = need;
	files.rlim_max = max(files.rlim_max, need);
	if (!setrlimit(RLIMIT_NOFILE, &files))
		return NULL;
	return xasprintf(
		"a watch needs %llu open files: raise ulimit -n, or LimitNOFILE= of a service",
		(unsigned long long)need);
}

/**
 * reader_open - begin to read
 * @r: filled in; reader_close() is due even on error
 * @instance: the instance
 * @systems: systems of the judged events, up to NULL
 * @dir: where the spool may make a file
 * @lead_in: struct plan's
 *
 * Return: NULL, or what is wrong, for free().
 */
char *reader_open(struct reader *r, struct tracefs_instance *instance,
		  const char *const *systems, const char *dir, u64 lead_in)
{
	unsigned int size = page_size(), i;
	struct tep_event *alarm = NULL, *limit = NULL;

	memset(r, 0, sizeof(*r));
	no_files(r);
	r->dir = dir;
	r->lead_in = lead_in;
	if (size < 1024 || size > 1 << 20)
		return xstrdup(
			"events/header_page of tracefs is not understood");
	r->tep = tracefs_local_events_system(NULL, systems);
	if (r->tep) {
		alarm = tep_find_event_by_name(r->tep, "ctlchart",
					       "ctlchart_alarm");
		limit = tep_find_event_by_name(r->tep, "ctlchart",
					       "ctlchart_limit");
	}
	if (!alarm || !limit)
		return xstrdup(
			"the formats of ctlchart's events are not understood");
	r->alarm_id = alarm->id;
	r->limit_id = limit->id;
	r->k = reader_kbuffer();
	r->buf = xzalloc(size);
	r->helper = mmap(NULL, sizeof(*r->helper), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r->helper == MAP_FAILED)
		memory_failed();
	spool_open(&r->spool, size, dir);
	for (i = 0; i < PAST; i++)
		spool_open(&r->past[i], size, dir);
	open_cpus(r, instance);
	return NULL;
}

static bool read_cpu(struct reader *r, unsigned int cpu)
{
	bool any = false;
	ssize_t n;
	int i;

	/* What a full window has no room for waits in the ring buffer, for the next one */
	for (i = 0; i < PAGES_PASS && r->fd[cpu] >= 0 && !spool_full(&r->spool);
	     i++) {
		n = read(r->fd[cpu], r->buf, r->spool.page_size);
		if (n <= 0)
			break;
		memset(r->buf + n, 0, r->spool.page_size - n);
		any = true;
		store_page(r, cpu);
	}
	return any;
}

/**
 * reader_pass - read what is in the ring buffers
 * @r: the reader
 *
 * Return: whether there was anything. There may be more.
 */
bool reader_pass(struct reader *r)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < r->cpus; i++)
		any |= read_cpu(r, i);
	return any;
}

/* Free a window's pages; a case that needs them still knows what it lacks */
static void forget(struct spool *s, const char *dir)
{
	u64 end = s->end, events = s->events + s->dropped_events;

	spool_clear(s, dir);
	s->end = end;
	s->dropped_events = events;
}

/* The last window is always kept: it alone is not above the limit */
static void bound_past(struct reader *r)
{
	size_t pages = 0;
	unsigned int i;

	for (i = 0; i < PAST; i++) {
		pages += r->past[i].nr;
		if (pages > SPOOL_MAX / r->spool.page_size)
			forget(&r->past[i], r->dir);
	}
}

/**
 * reader_reset - begin with the next case
 * @r: the reader
 *
 * A child that was forked before can still read its copy of the spool.
 */
void reader_reset(struct reader *r)
{
	struct spool oldest = r->past[PAST - 1];

	memmove(r->past + 1, r->past, (PAST - 1) * sizeof(*r->past));
	r->past[0] = r->spool;
	r->spool = oldest;
	spool_clear(&r->spool, r->dir);
	bound_past(r);
	r->alarms.nr = 0;
	r->lost.nr = 0;
	r->nr_alarms = 0;
	r->nr_pages = 0;
	r->seen = 0;
	r->own_before = r->own;
}

/**
 * reader_close - end reading
 * @r: the reader
 */
void reader_close(struct reader *r)
{
	unsigned int i;

	for (i = 0; r->fd && i < r->cpus; i++) {
		if (r->fd[i] >= 0)
			close(r->fd[i]);
	}
	spool_close(&r->spool);
	for (i = 0; i < PAST; i++)
		spool_close(&r->past[i]);
	if (r->helper)
		munmap(r->helper, sizeof(*r->helper));
	free(r->fd);
	free(r->buf);
	free(r->page);
	charts_free(&r->charts);
	if (r->k)
		kbuffer_free(r->k);
	if (r->tep)
		tep_free(r->tep);
	memset(r, 0, sizeof(*r));
	no_files(r);
}
