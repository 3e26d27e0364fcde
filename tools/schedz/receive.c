// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver of nettrace. See collect.h.
 *
 * The datagrams of a stream are delivered in the order of their numbers: those that
 * come early are held, those that are missing are asked for. A datagram is
 * acknowledged when its records are in the file. When a file cannot be written, for
 * want of space or whatever, nothing is taken any more, and the sender, whose
 * window fills up, keeps the rest until it can be written again.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect.h"
#include "live.h"
#include "wire.h"

/* Those that are over, or silent for so many ms, make place for others */
#define SESSIONS_MAX 256
#define SILENT 600000
#define SILENT_NEW 5000

/* Bytes that a session may hold of datagrams that came early */
#define HELD_MAX (64 << 20)

/* In ms: how often to ask again, to answer, and to try to write */
#define ASK_EVERY 100
#define ANSWER_AFTER 20

/* How often ledgers are written; silent for so long, it is said */
#define LEDGER_EVERY 1000
#define QUIET 5000

/* How long to wait for the description of an event, and after the end */
#define DESCRIBE_WAIT 3000
#define END_WAIT 1000

/* Datagrams after which to answer at once */
#define ANSWER_AT 16

/* The longest answer */
#define ANSWER_MAX NETTRACE_DATAGRAM_MIN

#define TYPES 65536

/**
 * struct held - a place for a datagram that came early
 * @data: it, or NULL
 * @len: bytes of it
 * @asked: when it was asked for last, if it is missing
 */
struct held {
	uint8_t *data;
	uint32_t len;
	uint64_t asked;
};

/**
 * struct stream - what a CPU sends
 * @known: @next is known
 * @counted: @before and @lost are known
 * @next: the next one to be delivered
 * @top: the first one that nothing was heard of
 * @held: by number modulo NETTRACE_WINDOW_MAX, or NULL
 * @first: records that were before the first one that was delivered
 * @first_lost: of these, the lost ones
 * @before: records before @next, lost ones included
 * @lost: of these, those lost in the ring
 * @end: records before the end of the last header, lost ones included
 * @end_lost: of these, those lost in the ring
 * @generated: records that the sender has made
 * @delivered: records in files
 * @wire_lost: records lost on the way
 * @part: what there is of a large record
 * @part_len: bytes of it
 * @broken: its begin is missing
 * @told: it is in the last heartbeats of a panic
 * @new: datagrams since the last answer
 * @stuck: since when the next one waits for the description of an event, 0
 *	if it does not
 */
struct stream {
	bool known;
	bool counted;
	uint64_t next;
	uint64_t top;
	struct held *held;
	uint64_t first;
	uint64_t first_lost;
	uint64_t before;
	uint64_t lost;
	uint64_t end;
	uint64_t end_lost;
	uint64_t generated;
	uint64_t delivered;
	uint64_t wire_lost;
	uint8_t *part;
	uint32_t part_len;
	bool broken;
	bool told;
	unsigned int new;
	uint64_t stuck;
};

/**
 * struct metadata - metadata that is being put together, or complete
 * @generation: of it, 0 if there is none
 * @data: it
 * @total: bytes of it
 * @have: a bit for each byte that is there
 * @left: bytes that are missing
 */
struct metadata {
	uint32_t generation;
	uint8_t *data;
	uint32_t total;
	uint8_t *have;
	uint32_t left;
};

/**
 * struct session - a session
 * @id: its number
 * @peer: where the last datagram came from
 * @peer_len: bytes of it
 * @meta: metadata, complete if its generation is not 0
 * @more: newer metadata that is not complete
 * @info: the machine
 * @host: its name
 * @described: a bit for each event that metadata describes
 * @streams: by CPU, or NULL before there is metadata
 * @file: that is written to, or NULL
 * @file_generation: metadata in its head
 * @files: how many there were
 * @path: of it
 * @held: bytes that are held
 * @blocked: it cannot be written to
 * @answer: when to answer, 0 if there is nothing to say
 * @heard: when something was heard last
 * @over: when it said that it was the last one, 0 if it did not
 * @last: what it said
 * @ledger: path of the file with the ledger, or NULL
 * @ledger_at: when it is written next
 * @finished: nothing is awaited any more
 * @damaged: datagrams that made no sense
 * @datagrams: datagrams of data
 * @again: those that were there already
 */
struct session {
	uint64_t id;
	uint8_t version;
	struct sockaddr_storage peer;
	socklen_t peer_len;
	struct metadata meta;
	struct metadata more;
	struct nettrace_info info;
	char host[65];
	uint8_t *described;
	struct stream *streams;
	struct live *file;
	uint32_t file_generation;
	unsigned int files;
	char *path;
	size_t held;
	bool blocked;
	uint64_t answer;
	uint64_t heard;
	uint64_t over;
	enum nettrace_last last;
	char *ledger;
	uint64_t ledger_at;
	bool finished;
	uint64_t damaged;
	uint64_t datagrams;
	uint64_t again;
};

struct collector {
	struct collector_config config;
	struct session *session[SESSIONS_MAX];
	unsigned int nr_sessions;
	uint64_t ignored;
	uint64_t late;
	uint64_t forgotten;
	struct nettrace_unpacker unpacker;
	uint64_t now;
};

static void *zalloc(size_t nr, size_t size)
{
	void *p = calloc(nr, size);

	if (!p)
		abort();
	return p;
}

static void __attribute__((format(printf, 2, 3)))
note(struct collector *c, const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	c->config.note(text, c->config.arg);
}

static void answer_in(struct collector *c, struct session *s, uint64_t ms)
{
	if (!s->answer || s->answer > c->now + ms)
		s->answer = c->now + ms;
}

/* ---- metadata ---- */

static void free_metadata(struct metadata *m)
{
	free(m->data);
	free(m->have);
	memset(m, 0, sizeof(*m));
}

/* Call put() for each piece; false if they do not add up */
static bool each_tag(const struct metadata *m,
		     void (*put)(uint16_t tag, const uint8_t *data,
				 uint32_t len, void *arg),
		     void *arg)
{
	uint32_t at = 0, len;
	uint16_t tag;

	while (at < m->total) {
		if (!nettrace_get_tag(m->data + at, m->total - at, &tag, &len))
			return false;
		at += NETTRACE_TAG_HEADER;
		put(tag, m->data + at, len, arg);
		at += len;
	}
	return true;
}

static bool text_is(const char *text, const char *word)
{
	return !strncmp(text, word, strlen(word));
}

/* The number behind "ID: " at the begin of a line; -1 if there is none */
static long format_id(const char *text)
{
	const char *line;

	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (text_is(line, "ID: "))
			return strtol(line + 4, NULL, 10);
	}
	return -1;
}

/* Copies, each with a zero at its end, of all that there is in metadata */
struct pieces {
	struct nettrace_info info;
	bool has_info;
	char *text[NETTRACE_TARGET + 1];
	char **format;
	struct live_format *formats;
	size_t nr_formats;
};

static void put_piece(uint16_t tag, const uint8_t *data, uint32_t len,
		      void *arg)
{
	struct pieces *p = arg;
	char *text;

	if (tag == NETTRACE_INFO)
		p->has_info = nettrace_get_info(data, len, &p->info);
	if (tag == NETTRACE_INFO || !tag || tag > NETTRACE_TARGET)
		return;
	text = zalloc(1, len + 1);
	memcpy(text, data, len);
	if (tag != NETTRACE_FORMAT) {
		free(p->text[tag]);
		p->text[tag] = text;
		return;
	}
	/* A system, a zero, and the format */
	if (strlen(text) >= len) {
		free(text);
		return;
	}
	p->format =
		realloc(p->format, (p->nr_formats + 1) * sizeof(*p->format));
	p->formats =
		realloc(p->formats, (p->nr_formats + 1) * sizeof(*p->formats));
	if (!p->format || !p->formats)
		abort();
	p->format[p->nr_formats] = text;
	p->formats[p->nr_formats].system = text;
	p->formats[p->nr_formats].text = text + strlen(text) + 1;
	p->formats[p->nr_formats].len = len - strlen(text) - 1;
	p->nr_formats++;
}

static void free_pieces(struct pieces *p)
{
	size_t i;

	for (i = 0; i < p->nr_formats; i++)
		free(p->format[i]);
	for (i = 0; i <= NETTRACE_TARGET; i++)
		free(p->text[i]);
	free(p->format);
	free(p->formats);
}

static bool get_pieces(const struct metadata *m, struct pieces *p)
{
	memset(p, 0, sizeof(*p));
	return each_tag(m, put_piece, p) && p->has_info &&
	       p->text[NETTRACE_HOST] && p->text[NETTRACE_CLOCK] &&
	       p->text[NETTRACE_HEADER_PAGE] && p->text[NETTRACE_HEADER_EVENT];
}

/* It becomes part of a path */
static void set_host(struct session *s, const char *name)
{
	char *at;

	snprintf(s->host, sizeof(s->host), "%s", *name ? name : "unnamed");
	for (at = s->host; *at; at++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "0123456789-_.",
			    *at) ||
		    (at == s->host && *at == '.'))
			*at = '_';
	}
}

static void set_described(struct session *s, const struct pieces *p)
{
	size_t i;

	memset(s->described, 0, TYPES / 8);
	for (i = 0; i < p->nr_formats; i++) {
		long id = format_id(p->formats[i].text);

		if (id >= 0 && id < TYPES)
			s->described[id / 8] |= 1 << id % 8;
	}
}

/* s->more is complete */
static void take_metadata(struct collector *c, struct session *s)
{
	struct pieces p;
	bool good = get_pieces(&s->more, &p);

	/* The machine stays what it is */
	if (good && s->streams && memcmp(&p.info, &s->info, sizeof(p.info)))
		good = false;
	if (!good) {
		s->damaged++;
		free_metadata(&s->more);
		free_pieces(&p);
		return;
	}
	free_metadata(&s->meta);
	s->meta = s->more;
	memset(&s->more, 0, sizeof(s->more));
	if (!s->streams) {
		unsigned int cpu;

		s->info = p.info;
		s->streams = zalloc(s->info.cpus, sizeof(*s->streams));
		s->described = zalloc(1, TYPES / 8);
		for (cpu = 0; cpu < s->info.cpus; cpu++)
			s->streams[cpu].broken = true;
		set_host(s, p.text[NETTRACE_HOST]);
		note(c, "%s: session %016" PRIx64 ", %u CPUs, Linux %.64s",
		     s->host, s->id, s->info.cpus,
		     p.text[NETTRACE_RELEASE] ? p.text[NETTRACE_RELEASE] : "");
	}
	set_described(s, &p);
	free_pieces(&p);
	answer_in(c, s, 0);
}

static void meta_datagram(struct collector *c, struct session *s,
			  const uint8_t *data, size_t len)
{
	struct nettrace_meta h;
	struct metadata *m = &s->more;
	uint32_t i;

	if (!nettrace_get_meta(data, len, &h) || !h.total) {
		s->damaged++;
		return;
	}
	if (h.generation <= s->meta.generation)
		return;
	if (m->generation != h.generation || m->total != h.total) {
		if (h.generation < m->generation)
			return;
		free_metadata(m);
		m->generation = h.generation;
		m->total = m->left = h.total;
		m->data = zalloc(1, h.total);
		m->have = zalloc(1, h.total / 8 + 1);
	}
	for (i = 0; i < len - NETTRACE_META_HEADER; i++) {
		uint32_t at = h.offset + i;

		if (m->have[at / 8] & 1 << at % 8)
			continue;
		m->have[at / 8] |= 1 << at % 8;
		m->data[at] = data[NETTRACE_META_HEADER + i];
		m->left--;
	}
	if (!m->left)
		take_metadata(c, s);
}

/* ---- files ---- */

static bool open_file(struct collector *c, struct session *s)
{
	struct pieces p;
	struct live_head head;

	if (!get_pieces(&s->meta, &p)) {
		free_pieces(&p);
		return false;
	}
	head = (struct live_head){
		.big_endian = s->info.big_endian,
		.long_size = s->info.long_size,
		.page_size = s->info.page_size,
		.cpus = s->info.cpus,
		.header_page = p.text[NETTRACE_HEADER_PAGE],
		.header_event = p.text[NETTRACE_HEADER_EVENT],
		.clock = p.text[NETTRACE_CLOCK],
		.format = p.formats,
		.nr_formats = p.nr_formats,
	};
	/* Another collector may have written some of the session */
	do {
		free(s->path);
		if (asprintf(&s->path, "%s/%s-%016" PRIx64 ".%u.dat",
			     c->config.output, s->host, s->id, s->files++) < 0)
			abort();
		s->file = live_open(s->path, &head, c->config.rotate);
	} while (!s->file && errno == EEXIST);
	free_pieces(&p);
	if (!s->file) {
		s->files--;
		return false;
	}
	s->file_generation = s->meta.generation;
	note(c, "%s: writes %s", s->host, s->path);
	return true;
}

/* Is there a file for the next datagram? */
static bool ready(struct collector *c, struct session *s)
{
	bool ok = true;

	if (s->file && live_due(s->file))
		ok = live_sync(s->file);
	if (ok && s->file &&
	    (s->file_generation != s->meta.generation || live_full(s->file))) {
		ok = live_sync(s->file);
		if (ok) {
			live_close(s->file);
			s->file = NULL;
		}
	}
	if (ok && !s->file)
		ok = open_file(c, s);
	if (!ok && !s->blocked)
		note(c, "%s: %s: %s; the sender has to wait", s->host,
		     s->path ? s->path : c->config.output, strerror(errno));
	if (ok && s->blocked)
		note(c, "%s: goes on", s->host);
	s->blocked = !ok;
	return ok;
}

/* ---- delivery ---- */

static uint16_t record_type(const struct session *s, const uint8_t *record)
{
	return s->info.big_endian ? record[0] << 8 | record[1] :
				    record[1] << 8 | record[0];
}

struct check {
	const struct session *s;
	bool unknown;
	bool bad;
};

static void check_record(u64 time, const u8 *record, u32 len, void *arg)
{
	struct check *check = arg;
	uint16_t type;

	(void)time;
	if (len < 2 || len % 4) {
		check->bad = true;
		return;
	}
	type = record_type(check->s, record);
	if (!(check->s->described[type / 8] & 1 << type % 8))
		check->unknown = true;
}

struct delivery {
	struct session *s;
	unsigned int cpu;
};

static void put_record(u64 time, const u8 *record, u32 len, void *arg)
{
	struct delivery *d = arg;

	live_record(d->s->file, d->cpu, time, record, len);
}

static void put_name(int32_t pid, const uint8_t *comm, void *arg)
{
	struct delivery *d = arg;

	live_name(d->s->file, pid, comm);
}

/*
 * The records of DATA, or END with what came before it: -1 if there is none that
 * can be taken, else how many.
 */
static int unpack(struct collector *c, const struct stream *st,
		  const uint8_t *data, size_t len,
		  const struct nettrace_data *h,
		  const struct nettrace_taker *taker)
{
	const uint8_t *from = data + NETTRACE_DATA_HEADER;
	uint32_t n = len - NETTRACE_DATA_HEADER;
	uint8_t *whole;

	if (data[3] == NETTRACE_DATA)
		return nettrace_unpack(&c->unpacker, from, n, h->time, taker);
	if (data[3] == NETTRACE_QUICK)
		return nettrace_quick_unpack(&c->unpacker, from, n, h->time,
					     taker);
	if (st->broken || st->part_len + n > NETTRACE_RECORD_MAX)
		return -1;
	whole = zalloc(1, st->part_len + n + 1);
	if (st->part_len)
		memcpy(whole, st->part, st->part_len);
	memcpy(whole + st->part_len, from, n);
	if (taker->record)
		taker->record(h->time, whole, st->part_len + n, taker->arg);
	free(whole);
	return 1;
}

static void add_part(struct stream *st, const uint8_t *data, size_t len)
{
	uint32_t n = len - NETTRACE_DATA_HEADER;

	if (st->broken || st->part_len + n > NETTRACE_RECORD_MAX) {
		st->broken = true;
		return;
	}
	st->part = realloc(st->part, st->part_len + n + 1);
	if (!st->part)
		abort();
	memcpy(st->part + st->part_len, data + NETTRACE_DATA_HEADER, n);
	st->part_len += n;
}

/* What the header says was lost since the one before */
static void count_gap(struct session *s, struct stream *st, unsigned int cpu,
		      const struct nettrace_data *h)
{
	uint64_t gap;

	if (!st->counted) {
		st->counted = true;
		st->first = st->before = h->before;
		st->first_lost = st->lost = h->lost;
	}
	gap = h->before - st->before;
	if (gap)
		live_lost(s->file, cpu, gap);
	st->wire_lost += gap - (h->lost - st->lost);
	st->before = h->before;
	st->lost = h->lost;
}

/* Counts only go up, and no faster than they say */
static bool is_possible(const struct stream *st, const struct nettrace_data *h)
{
	return !st->counted ||
	       (h->before >= st->before && h->lost >= st->lost &&
		h->lost - st->lost <= h->before - st->before);
}

/* The next one; false if it cannot be delivered yet */
static bool deliver(struct collector *c, struct session *s, unsigned int cpu,
		    const uint8_t *data, size_t len)
{
	struct stream *st = &s->streams[cpu];
	struct delivery d = { s, cpu };
	struct check check = { .s = s };
	struct nettrace_taker checker = { check_record, NULL, &check };
	struct nettrace_taker taker = { put_record, put_name, &d };
	struct nettrace_data h;
	int n = 0;

	nettrace_get_data(data, len, &h);
	if (data[3] != NETTRACE_PART) {
		n = unpack(c, st, data, len, &h, &checker);
		if (n != h.events || check.bad)
			n = -1;
	}
	if (n >= 0 && check.unknown) {
		if (!st->stuck)
			st->stuck = c->now;
		if (c->now - st->stuck < DESCRIBE_WAIT) {
			answer_in(c, s, ANSWER_AFTER);
			return false;
		}
	}
	if (!ready(c, s))
		return false;
	st->stuck = 0;
	if (!is_possible(st, &h)) {
		s->damaged++;
		return true;
	}
	count_gap(s, st, cpu, &h);
	if (n < 0) {
		/* Whatever it had is lost; nobody has another copy */
		s->damaged++;
		live_lost(s->file, cpu, h.events);
		st->wire_lost += h.events;
	} else if (data[3] == NETTRACE_PART) {
		add_part(st, data, len);
	} else {
		unpack(c, st, data, len, &h, &taker);
		st->delivered += h.events;
	}
	if (data[3] != NETTRACE_PART) {
		st->part_len = 0;
		st->broken = false;
	}
	st->before += data[3] == NETTRACE_PART ? 0 : h.events;
	return true;
}

static struct held *place(struct stream *st, uint64_t seq)
{
	return &st->held[seq % NETTRACE_WINDOW_MAX];
}

/* Everything up to the first gap */
static void deliver_held(struct collector *c, struct session *s,
			 unsigned int cpu)
{
	struct stream *st = &s->streams[cpu];

	while (st->held && st->next < st->top) {
		struct held *held = place(st, st->next);

		if (!held->data || !deliver(c, s, cpu, held->data, held->len))
			return;
		s->held -= held->len;
		free(held->data);
		memset(held, 0, sizeof(*held));
		st->next++;
		st->new ++;
		answer_in(c, s, st->new >= ANSWER_AT ? 0 : ANSWER_AFTER);
	}
}

/* Nobody has what is before this one any more */
static void skip_to(struct collector *c, struct session *s, unsigned int cpu,
		    uint64_t seq)
{
	struct stream *st = &s->streams[cpu];

	while (st->next < seq) {
		deliver_held(c, s, cpu);
		if (st->next >= seq || s->blocked || st->stuck)
			return;
		if (!st->held || st->next >= st->top) {
			st->next = seq;
		} else {
			memset(place(st, st->next), 0, sizeof(struct held));
			st->next++;
		}
		st->part_len = 0;
		st->broken = true;
	}
	if (st->top < st->next)
		st->top = st->next;
}

static void hear_of(struct stream *st, uint64_t seq)
{
	if (seq > st->top)
		st->top = seq;
}

static void hear_counts(struct stream *st, uint64_t before, uint64_t lost)
{
	if (before > st->end) {
		st->end = before;
		st->end_lost = lost;
	}
}

static void data_datagram(struct collector *c, struct session *s,
			  const uint8_t *data, size_t len)
{
	struct nettrace_data h;
	struct stream *st;
	struct held *held;

	if (!nettrace_get_data(data, len, &h)) {
		s->damaged++;
		return;
	}
	/* Before metadata and a heartbeat, nobody knows what it is */
	if (!s->streams || h.cpu >= s->info.cpus || !s->streams[h.cpu].known) {
		answer_in(c, s, ANSWER_AFTER);
		return;
	}
	st = &s->streams[h.cpu];
	if (h.seq < st->next) {
		s->again++;
		/* The answer may have been lost */
		st->new ++;
		answer_in(c, s, ANSWER_AFTER);
		return;
	}
	if (h.seq - st->next >= NETTRACE_WINDOW_MAX) {
		s->damaged++;
		return;
	}
	if (s->held + len > HELD_MAX)
		return;
	if (!st->held)
		st->held = zalloc(NETTRACE_WINDOW_MAX, sizeof(*st->held));
	held = place(st, h.seq);
	if (held->data) {
		s->again++;
		return;
	}
	held->data = zalloc(1, len);
	memcpy(held->data, data, len);
	held->len = len;
	s->held += len;
	s->datagrams++;
	hear_of(st, h.seq + 1);
	hear_counts(st, h.before + (data[3] == NETTRACE_PART ? 0 : h.events),
		    h.lost);
	deliver_held(c, s, h.cpu);
	if (st->next < st->top)
		answer_in(c, s, ANSWER_AFTER);
}

static void beat_entry(struct collector *c, struct session *s,
		       const struct nettrace_beat_entry *e)
{
	struct stream *st = &s->streams[e->cpu];

	if (e->base > e->next || e->lost > e->before ||
	    e->next - e->base > NETTRACE_WINDOW_MAX) {
		s->damaged++;
		return;
	}
	if (!st->known) {
		st->known = true;
		st->next = st->top = e->base;
		/* All records are in what comes, or nothing is on its way */
		if (!e->base || e->base == e->next) {
			st->counted = true;
			st->broken = false;
			st->first = st->before = e->base ? e->before : 0;
			st->first_lost = st->lost = e->base ? e->lost : 0;
		}
	}
	if (e->base > st->next)
		skip_to(c, s, e->cpu, e->base);
	if (e->next - st->next <= NETTRACE_WINDOW_MAX)
		hear_of(st, e->next);
	hear_counts(st, e->before, e->lost);
	if (e->generated > st->generated)
		st->generated = e->generated;
}

static void beat_datagram(struct collector *c, struct session *s,
			  const uint8_t *data, size_t len)
{
	struct nettrace_beat beat;
	unsigned int i;

	if (!nettrace_get_beat(data, len, &beat)) {
		s->damaged++;
		return;
	}
	for (i = 0; s->streams && i < beat.entries; i++) {
		struct nettrace_beat_entry e;

		nettrace_get_beat_entry(data + NETTRACE_BEAT_HEADER +
						i * NETTRACE_BEAT_ENTRY,
					&e);
		if (e.cpu >= s->info.cpus)
			continue;
		beat_entry(c, s, &e);
		if (beat.last >= NETTRACE_PANIC)
			s->streams[e.cpu].told = true;
	}
	if (beat.last && beat.last <= NETTRACE_PANIC_SOME && !s->over) {
		s->over = c->now;
		s->last = beat.last;
		if (s->last >= NETTRACE_PANIC)
			note(c, "%s: session %016" PRIx64 ": a panic", s->host,
			     s->id);
	}
	answer_in(c, s, 0);
}

/* ---- answers ---- */

struct answer {
	uint8_t data[ANSWER_MAX];
	size_t len;
	uint16_t entries;
};

static void send_answer(struct collector *c, struct session *s,
			struct answer *a)
{
	struct nettrace_ack ack = {
		.generation = s->meta.generation,
		.entries = a->entries,
	};

	nettrace_put_ack(a->data, s->id, &ack);
	/* Who sends an older one reads no newer one */
	a->data[2] = s->version;
	c->config.send(a->data, a->len, (struct sockaddr *)&s->peer,
		       s->peer_len, c->config.arg);
	a->len = NETTRACE_ACK_HEADER;
	a->entries = 0;
}

/* The next missing ones from *seq on; false if there are none that it is time for */
static bool next_range(const struct collector *c, struct stream *st,
		       uint64_t *seq, struct nettrace_ack_range *range)
{
	range->count = 0;
	for (; *seq < st->top; (*seq)++) {
		struct held *held = place(st, *seq);
		bool ask = !held->data &&
			   (!held->asked || c->now - held->asked >= ASK_EVERY);

		if (!ask && range->count)
			return true;
		if (!ask)
			continue;
		if (!range->count)
			range->from = *seq - st->next;
		range->count++;
		held->asked = c->now ? c->now : 1;
	}
	return range->count;
}

static void answer_stream(struct collector *c, struct session *s,
			  unsigned int cpu, struct answer *a)
{
	struct stream *st = &s->streams[cpu];
	struct nettrace_ack_entry e = { .cpu = cpu, .next = st->next };
	struct nettrace_ack_range range;
	uint64_t seq = st->next;
	size_t at;

	if (a->len + NETTRACE_ACK_ENTRY + NETTRACE_ACK_RANGE > ANSWER_MAX)
		send_answer(c, s, a);
	if (!st->held && st->next < st->top)
		st->held = zalloc(NETTRACE_WINDOW_MAX, sizeof(*st->held));
	at = a->len;
	a->len += NETTRACE_ACK_ENTRY;
	while (!s->blocked && a->len + NETTRACE_ACK_RANGE <= ANSWER_MAX &&
	       next_range(c, st, &seq, &range)) {
		nettrace_put_ack_range(a->data + a->len, &range);
		a->len += NETTRACE_ACK_RANGE;
		e.ranges++;
	}
	nettrace_put_ack_entry(a->data + at, &e);
	a->entries++;
	st->new = 0;
}

static void answer(struct collector *c, struct session *s)
{
	struct answer a = { .len = NETTRACE_ACK_HEADER };
	unsigned int cpu;

	s->answer = 0;
	/* What is acknowledged has to be in the file */
	if (s->file && !live_sync(s->file)) {
		if (!s->blocked)
			note(c, "%s: %s: %s; the sender has to wait", s->host,
			     s->path, strerror(errno));
		s->blocked = true;
		return;
	}
	for (cpu = 0; s->streams && cpu < s->info.cpus; cpu++) {
		if (s->streams[cpu].known)
			answer_stream(c, s, cpu, &a);
	}
	if (a.entries || !s->streams)
		send_answer(c, s, &a);
}

static bool is_awaited(const struct session *s)
{
	unsigned int cpu;

	for (cpu = 0; s->streams && cpu < s->info.cpus; cpu++) {
		if (s->streams[cpu].next < s->streams[cpu].top)
			return true;
	}
	return false;
}

/* ---- the ledger ---- */

static void add_stream(const struct stream *st, struct collector_ledger *l)
{
	uint64_t end = st->end > st->before ? st->end : st->before;
	uint64_t end_lost = st->end > st->before ? st->end_lost : st->lost;

	if (!st->counted)
		return;
	l->generated += end - st->first;
	l->delivered += st->delivered;
	l->wire_lost += st->wire_lost;
	l->ring_lost += end_lost - st->first_lost;
	/* From where delivery is to the last header, lost ones aside */
	l->awaited += (end - st->before) - (end_lost - st->lost);
	if (st->generated > end)
		l->behind += st->generated - end;
}

static void get_ledger(const struct session *s, struct collector_ledger *l)
{
	unsigned int cpu;

	memset(l, 0, sizeof(*l));
	for (cpu = 0; s->streams && cpu < s->info.cpus; cpu++) {
		add_stream(&s->streams[cpu], l);
		/* Blocks of CPUs are in the streams of others, too */
		if (s->last == NETTRACE_PANIC_SOME ||
		    (s->last == NETTRACE_PANIC && s->streams[cpu].known &&
		     !s->streams[cpu].told))
			l->unknown++;
	}
	l->datagrams = s->datagrams;
	l->again = s->again;
	l->damaged = s->damaged;
	l->over = s->over ? s->last : NETTRACE_GOES_ON;
}

static const char *state_name(const struct collector_ledger *l)
{
	switch (l->over) {
	case NETTRACE_GOES_ON:
		return "on";
	case NETTRACE_OVER:
		return "over";
	default:
		return "panic";
	}
}

static void put_member(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

static struct json_object *ledger_object(const struct collector *c,
					 const struct session *s)
{
	struct json_object *o = json_object_new_object();
	struct collector_ledger l;
	char id[17];

	get_ledger(s, &l);
	snprintf(id, sizeof(id), "%016" PRIx64, s->id);
	json_object_object_add(o, "host", json_object_new_string(s->host));
	json_object_object_add(o, "session", json_object_new_string(id));
	json_object_object_add(o, "state",
			       json_object_new_string(state_name(&l)));
	put_member(o, "generated", l.generated);
	put_member(o, "delivered", l.delivered);
	put_member(o, "lost_in_ring", l.ring_lost);
	put_member(o, "lost_on_wire", l.wire_lost);
	put_member(o, "awaited", l.awaited);
	put_member(o, "behind", l.behind);
	put_member(o, "unknown_cpus", l.unknown);
	put_member(o, "silent_ms", s->finished ? 0 : c->now - s->heard);
	put_member(o, "datagrams", l.datagrams);
	put_member(o, "again", l.again);
	put_member(o, "damaged", l.damaged);
	return o;
}

/* Whoever looks sees one or the next; a disk that is full has the one before */
static void write_ledger(struct collector *c, struct session *s)
{
	struct json_object *o = ledger_object(c, s);
	char *path;
	FILE *out;

	s->ledger_at = c->now + LEDGER_EVERY;
	if (!s->ledger && asprintf(&s->ledger, "%s/%s-%016" PRIx64 ".ledger",
				   c->config.output, s->host, s->id) < 0)
		abort();
	if (asprintf(&path, "%s.new", s->ledger) < 0)
		abort();
	out = fopen(path, "we");
	if (out) {
		fprintf(out, "%s\n",
			json_object_to_json_string_ext(
				o, JSON_C_TO_STRING_PRETTY));
		if (fclose(out) || rename(path, s->ledger))
			unlink(path);
	}
	free(path);
	json_object_put(o);
}

/* The sender is gone: what is missing now is lost */
static void finish(struct collector *c, struct session *s)
{
	unsigned int cpu;

	for (cpu = 0; s->streams && cpu < s->info.cpus; cpu++) {
		struct stream *st = &s->streams[cpu];
		struct nettrace_data end = { .before = st->end,
					     .lost = st->end_lost };

		if (!st->known)
			continue;
		skip_to(c, s, cpu, st->top);
		if (st->next < st->top || !st->counted ||
		    st->end <= st->before || !is_possible(st, &end) ||
		    !ready(c, s))
			continue;
		count_gap(s, st, cpu, &end);
	}
	if (is_awaited(s) || s->blocked)
		return;
	if (s->file && !live_close(s->file))
		note(c, "%s: %s: %s", s->host, s->path, strerror(errno));
	s->file = NULL;
	s->finished = true;
	write_ledger(c, s);
	note(c, "%s: session %016" PRIx64 " is over", s->host, s->id);
}

static void tick(struct collector *c, struct session *s)
{
	unsigned int cpu;

	if (s->finished)
		return;
	for (cpu = 0; s->streams && cpu < s->info.cpus; cpu++)
		deliver_held(c, s, cpu);
	if (s->answer && c->now >= s->answer)
		answer(c, s);
	if (is_awaited(s))
		answer_in(c, s, ASK_EVERY);
	if (s->streams && c->now >= s->ledger_at)
		write_ledger(c, s);
	if (s->over &&
	    c->now - s->over >= (is_awaited(s) ? END_WAIT : ANSWER_AFTER))
		finish(c, s);
}

/**
 * collector_tick - do what is due
 * @c: collector
 * @now: time in ms
 *
 * To be called every 20 ms or so.
 */
void collector_tick(struct collector *c, uint64_t now)
{
	unsigned int i;

	c->now = now;
	for (i = 0; i < c->nr_sessions; i++)
		tick(c, c->session[i]);
}

/* ---- sessions ---- */

static void free_session(struct session *s)
{
	unsigned int cpu;
	size_t i;

	for (cpu = 0; s->streams && cpu < s->info.cpus; cpu++) {
		struct stream *st = &s->streams[cpu];

		for (i = 0; st->held && i < NETTRACE_WINDOW_MAX; i++)
			free(st->held[i].data);
		free(st->held);
		free(st->part);
	}
	free_metadata(&s->meta);
	free_metadata(&s->more);
	free(s->streams);
	free(s->described);
	free(s->ledger);
	free(s->path);
	free(s);
}

static bool close_session(struct collector *c, struct session *s)
{
	bool ok = !s->file || live_close(s->file);

	if (!ok)
		note(c, "%s: %s: %s", s->host, s->path, strerror(errno));
	if (s->streams)
		write_ledger(c, s);
	free_session(s);
	return ok;
}

/* May it be forgotten, when there is no place for another one? */
static bool is_old(const struct collector *c, const struct session *s)
{
	uint64_t silent = c->now - s->heard;

	return s->finished || silent >= (s->streams ? SILENT : SILENT_NEW);
}

/* The one that was silent for the longest time */
static bool forget_one(struct collector *c)
{
	unsigned int i, oldest = SESSIONS_MAX;

	for (i = 0; i < c->nr_sessions; i++) {
		if (is_old(c, c->session[i]) &&
		    (oldest == SESSIONS_MAX ||
		     c->session[i]->heard < c->session[oldest]->heard))
			oldest = i;
	}
	if (oldest == SESSIONS_MAX)
		return false;
	close_session(c, c->session[oldest]);
	c->session[oldest] = c->session[--c->nr_sessions];
	c->forgotten++;
	return true;
}

static struct session *find_session(struct collector *c, uint64_t id)
{
	struct session *s;
	unsigned int i;

	for (i = 0; i < c->nr_sessions; i++) {
		if (c->session[i]->id == id)
			return c->session[i];
	}
	if (c->nr_sessions == SESSIONS_MAX && !forget_one(c))
		return NULL;
	s = zalloc(1, sizeof(*s));
	s->id = id;
	c->session[c->nr_sessions++] = s;
	return s;
}

/* Is it what a sender of that version sends? */
static bool is_ours(const struct nettrace_header *h)
{
	return (h->kind >= NETTRACE_DATA && h->kind <= NETTRACE_BEAT) ||
	       (h->kind == NETTRACE_QUICK && h->version >= 3);
}

/**
 * collector_datagram - a datagram has come
 * @c: collector
 * @data: it
 * @len: bytes of it
 * @from: where from, and where to answers go
 * @from_len: bytes of @from
 * @now: time in ms
 */
void collector_datagram(struct collector *c, const uint8_t *data, size_t len,
			const struct sockaddr *from, socklen_t from_len,
			uint64_t now)
{
	struct nettrace_header h;
	struct session *s = NULL;

	c->now = now;
	if (nettrace_get_header(data, len, &h) && is_ours(&h) &&
	    len <= NETTRACE_DATAGRAM_MAX)
		s = find_session(c, h.session);
	if (!s) {
		c->ignored++;
		return;
	}
	if (s->finished) {
		c->late++;
		return;
	}
	memcpy(&s->peer, from, from_len);
	s->peer_len = from_len;
	s->version = h.version;
	s->heard = now;
	/* In a panic all comes twice, whatever is asked for */
	if (s->last >= NETTRACE_PANIC)
		s->over = now;
	if (h.kind == NETTRACE_META)
		meta_datagram(c, s, data, len);
	else if (h.kind == NETTRACE_BEAT)
		beat_datagram(c, s, data, len);
	else
		data_datagram(c, s, data, len);
	if (s->answer && now >= s->answer)
		answer(c, s);
}

/**
 * collector_new - make a collector
 * @config: copied
 */
struct collector *collector_new(const struct collector_config *config)
{
	struct collector *c = zalloc(1, sizeof(*c));

	c->config = *config;
	return c;
}

/**
 * collector_free - finish all files
 * @c: collector; freed
 *
 * Return: false if not all could be written.
 */
bool collector_free(struct collector *c)
{
	unsigned int i;
	bool ok = true;

	for (i = 0; i < c->nr_sessions; i++)
		ok &= close_session(c, c->session[i]);
	free(c);
	return ok;
}

/**
 * collector_ledger - where the records of a session are
 * @c: collector
 * @session: number of the session, from 0
 * @ledger: where to
 *
 * Return: false if there is no such session.
 */
bool collector_ledger(const struct collector *c, unsigned int session,
		      struct collector_ledger *ledger)
{
	if (session >= c->nr_sessions)
		return false;
	get_ledger(c->session[session], ledger);
	return true;
}

/* What no header told */
static void print_unknown(const struct collector *c, const struct session *s,
			  const struct collector_ledger *l, FILE *out)
{
	uint64_t silent = c->now - s->heard;

	if (l->unknown)
		fprintf(out,
			"  unknown: what %u CPUs had when they stopped in the panic\n",
			l->unknown);
	else if (l->over == NETTRACE_GOES_ON && silent >= QUIET)
		fprintf(out,
			"  unknown: what was made in the last %" PRIu64
			" s, in which nothing was heard\n",
			silent / 1000);
}

/**
 * collector_print - print the ledgers of all sessions
 * @c: collector
 * @out: where to
 */
void collector_print(const struct collector *c, FILE *out)
{
	struct collector_ledger l;
	unsigned int i;

	for (i = 0; collector_ledger(c, i, &l); i++) {
		const struct session *s = c->session[i];

		fprintf(out, "%s: session %016" PRIx64 ", %s%s%s\n",
			*s->host ? s->host : "unknown", s->id, state_name(&l),
			s->path ? ", in " : "", s->path ? s->path : "");
		fprintf(out,
			"  generated: %" PRIu64 " = delivered %" PRIu64
			" + lost in the ring %" PRIu64
			" + lost on the wire %" PRIu64 " + awaited %" PRIu64
			"\n",
			l.generated, l.delivered, l.ring_lost, l.wire_lost,
			l.awaited);
		fprintf(out,
			"  behind: %" PRIu64 " that the sender had not sent\n",
			l.behind);
		fprintf(out,
			"  datagrams: %" PRIu64 ", %" PRIu64
			" more of the same, %" PRIu64 " damaged\n",
			l.datagrams, l.again, l.damaged);
		print_unknown(c, s, &l, out);
	}
	fprintf(out, "ignored: %" PRIu64 " datagrams of others\n", c->ignored);
	if (c->late)
		fprintf(out,
			"late: %" PRIu64
			" datagrams of sessions that were over\n",
			c->late);
	if (c->forgotten)
		fprintf(out, "forgotten: %" PRIu64 " old sessions\n",
			c->forgotten);
}
