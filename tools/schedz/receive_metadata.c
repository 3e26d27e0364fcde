// SPDX-License-Identifier: GPL-2.0
/* Metadata: the description of the sender's machine and of its events. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "receive.h"

/**
 * metadata_free - free metadata
 * @m: metadata; none afterwards
 */
void metadata_free(struct metadata *m)
{
	free(m->data);
	free(m->have);
	memset(m, 0, sizeof(*m));
}

static size_t metadata_size(uint32_t total)
{
	return total + total / 8 + 1;
}

/* metadata_free(), and its memory is no longer the session's */
static void drop_metadata(struct collector *c, struct session *s,
			  struct metadata *m)
{
	if (m->data)
		session_release(c, s, metadata_size(m->total));
	metadata_free(m);
}

/* The number after "ID: " at the begin of a line; -1 if no line has it */
static long format_id(const char *text)
{
	const char *line;

	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, "ID: ", 4))
			return strtol(line + 4, NULL, 10);
	}
	return -1;
}

/* Make room for another format; false if memory is exhausted */
static bool grow_formats(struct pieces *p)
{
	size_t nr = p->nr_formats + 1;
	void *text = try_realloc(p->format, nr * sizeof(*p->format)), *formats;

	if (!text)
		return false;
	p->format = text;
	formats = try_realloc(p->formats, nr * sizeof(*p->formats));
	if (formats)
		p->formats = formats;
	return formats;
}

static void add_piece(struct pieces *p, uint16_t tag, const uint8_t *data,
		      uint32_t len)
{
	char *text;

	if (tag == TRACECAST_INFO)
		p->has_info = tracecast_get_info(data, len, &p->info);
	if (tag == TRACECAST_LAST_BOOT)
		p->is_last_boot =
			tracecast_get_last_boot(data, len, &p->last_boot);
	if (tag == TRACECAST_INFO || !tag || tag > TRACECAST_TARGET)
		return;
	text = try_calloc(1, len + 1);
	if (!text) {
		p->failed = true;
		return;
	}
	memcpy(text, data, len);
	if (tag != TRACECAST_FORMAT) {
		free(p->text[tag]);
		p->text[tag] = text;
		return;
	}
	/* A system, a zero, and the format; and an event has one */
	if (strlen(text) >= len || p->nr_formats == EVENT_TYPES) {
		free(text);
		return;
	}
	if (!grow_formats(p)) {
		p->failed = true;
		free(text);
		return;
	}
	p->format[p->nr_formats] = text;
	p->formats[p->nr_formats].system = text;
	p->formats[p->nr_formats].text = text + strlen(text) + 1;
	p->formats[p->nr_formats].len = len - strlen(text) - 1;
	p->nr_formats++;
}

/**
 * pieces_free - free pieces
 * @p: pieces, after pieces_parse()
 */
void pieces_free(struct pieces *p)
{
	size_t i;

	for (i = 0; i < p->nr_formats; i++)
		free(p->format[i]);
	for (i = 0; i <= TRACECAST_TARGET; i++)
		free(p->text[i]);
	free(p->format);
	free(p->formats);
}

/**
 * pieces_parse - cut metadata into its pieces
 * @m: metadata that has arrived completely
 * @p: filled in; pieces_free() is needed in any case
 *
 * Return: false if the metadata is invalid, lacks a piece that files need, or if memory
 * is exhausted (@p->failed).
 */
bool pieces_parse(const struct metadata *m, struct pieces *p)
{
	uint32_t at = 0, len;
	uint16_t tag;

	memset(p, 0, sizeof(*p));
	while (at < m->total) {
		if (!tracecast_get_tag(m->data + at, m->total - at, &tag, &len))
			return false;
		at += TRACECAST_TAG_HEADER;
		add_piece(p, tag, m->data + at, len);
		at += len;
	}
	return !p->failed && p->has_info && p->text[TRACECAST_HOST] &&
	       p->text[TRACECAST_CLOCK] && p->text[TRACECAST_HEADER_PAGE] &&
	       p->text[TRACECAST_HEADER_EVENT];
}

/* The name becomes part of a path */
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

	memset(s->described, 0, EVENT_TYPES / 8);
	for (i = 0; i < p->nr_formats; i++) {
		long id = format_id(p->formats[i].text);

		if (id >= 0 && id < EVENT_TYPES)
			s->described[id / 8] |= 1 << id % 8;
	}
}

/* At the first metadata of a session; false if memory is exhausted */
static bool start_session(struct collector *c, struct session *s,
			  const struct pieces *p)
{
	size_t words = cpu_words(p->info.cpus);
	size_t size = EVENT_TYPES / 8 + 3 * words * sizeof(uint64_t) +
		      p->info.cpus * sizeof(*s->streams);

	if (!session_charge(c, s, size))
		return false;
	s->described = try_calloc(1, EVENT_TYPES / 8);
	s->open = try_calloc(words, sizeof(uint64_t));
	s->waiting = try_calloc(words, sizeof(uint64_t));
	s->to_ack = try_calloc(words, sizeof(uint64_t));
	s->streams = try_calloc(p->info.cpus, sizeof(*s->streams));
	if (!s->described || !s->open || !s->waiting || !s->to_ack ||
	    !s->streams) {
		free(s->described);
		free(s->open);
		free(s->waiting);
		free(s->to_ack);
		free(s->streams);
		s->described = NULL;
		s->open = s->waiting = s->to_ack = NULL;
		s->streams = NULL;
		session_release(c, s, size);
		return false;
	}
	s->info = p->info;
	set_host(s, p->text[TRACECAST_HOST]);
	s->is_last_boot = p->is_last_boot;
	s->last_boot = p->last_boot;
	snprintf(s->boot, sizeof(s->boot), "%s",
		 p->text[TRACECAST_BOOT] ? p->text[TRACECAST_BOOT] : "");
	session_read_ledger(c, s);
	collector_note(c, "%s: session %016" PRIx64 ", %u CPUs, Linux %.64s",
		       s->host, s->id, s->info.cpus,
		       p->text[TRACECAST_RELEASE] ? p->text[TRACECAST_RELEASE] :
						    "");
	if (s->is_last_boot)
		collector_note(
			c,
			"%s: session %016" PRIx64
			": what the last boot left, after its session %016" PRIx64,
			s->host, s->id, (uint64_t)s->last_boot.session);
	return true;
}

/* s->more has arrived completely: replace s->meta by it, if it is valid */
static void use_metadata(struct collector *c, struct session *s)
{
	struct pieces p;
	bool good = pieces_parse(&s->more, &p);

	/* A session has one machine */
	if (good && s->streams && memcmp(&p.info, &s->info, sizeof(p.info)))
		good = false;
	if (good && !s->streams && !start_session(c, s, &p)) {
		good = false;
		p.failed = true;
	}
	if (!good) {
		/* Not acknowledged, so the sender sends it again */
		if (p.failed)
			collector_drop(c, s);
		else
			s->damaged++;
		drop_metadata(c, s, &s->more);
		pieces_free(&p);
		return;
	}
	drop_metadata(c, s, &s->meta);
	s->meta = s->more;
	memset(&s->more, 0, sizeof(s->more));
	set_described(s, &p);
	pieces_free(&p);
	session_answer_all(s);
	session_ack_in(c, s, 0);
}

/* Expect the metadata of this header; false if memory is exhausted */
static bool start_metadata(struct collector *c, struct session *s,
			   const struct tracecast_meta *h)
{
	struct metadata *m = &s->more;

	drop_metadata(c, s, m);
	if (!session_charge(c, s, metadata_size(h->total)))
		return false;
	m->data = try_calloc(1, h->total);
	m->have = try_calloc(1, h->total / 8 + 1);
	if (!m->data || !m->have) {
		metadata_free(m);
		session_release(c, s, metadata_size(h->total));
		return false;
	}
	m->generation = h->generation;
	m->total = m->left = h->total;
	return true;
}

/**
 * session_handle_metadata - handle a META datagram
 * @c: collector
 * @s: its session
 * @data: the datagram
 * @len: its length, without the seal
 */
void session_handle_metadata(struct collector *c, struct session *s,
			     const uint8_t *data, size_t len)
{
	struct tracecast_meta h;
	struct metadata *m = &s->more;
	uint32_t i;

	if (!tracecast_get_meta(data, len, &h) || !h.total) {
		s->damaged++;
		return;
	}
	if (h.generation <= s->meta.generation)
		return;
	if (m->generation != h.generation || m->total != h.total) {
		if (h.generation < m->generation)
			return;
		if (!start_metadata(c, s, &h)) {
			collector_drop(c, s);
			return;
		}
	}
	for (i = 0; i < len - TRACECAST_META_HEADER; i++) {
		uint32_t at = h.offset + i;

		if (m->have[at / 8] & 1 << at % 8)
			continue;
		m->have[at / 8] |= 1 << at % 8;
		m->data[at] = data[TRACECAST_META_HEADER + i];
		m->left--;
	}
	if (!m->left)
		use_metadata(c, s);
}
