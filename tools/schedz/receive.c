// SPDX-License-Identifier: GPL-2.0
/*
 * The sessions of the collector; see collect.h and receive.h.
 *
 * A datagram is acknowledged when its records are in the file. When a file cannot be
 * written, because the disk is full or for another reason, nothing is delivered any more,
 * and the sender, whose send window fills up, keeps the rest until the file can be
 * written again.
 *
 * A datagram for which there is no memory is dropped and counted: since it is not
 * acknowledged, the sender sends it again. What names of tasks, a ledger and libraries need
 * comes from a reserve when there is no other memory, and nothing is delivered while the
 * reserve is used up.
 *
 * Without a key, anyone who can send with an address that is allowed can begin sessions,
 * and say anything in them. What all sessions need is therefore bounded (see
 * SESSION_MEMORY), the work for a datagram by its length and by what it may say, the work
 * of a session that waits by time, the sessions of an address by what others leave it, and
 * files by time: a session without a record leaves none, and one with records has its place
 * for a minute at least. Those of many addresses can still have all places.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "receive.h"
#include "text.h"

/*
 * A session can be replaced when it was silent for this long: with records; with these,
 * and finished; or without
 */
#define SILENT_MS 600000
#define SILENT_FINISHED_MS 60000
#define SILENT_NEW_MS 5000

/* Memory is sufficient again when no datagram was dropped for this long */
#define MEMORY_OK_MS 5000

/* How long missing datagrams may arrive after the end of a session */
#define END_WAIT_MS 1000

/* Limit of the bytes that an address may receive at once */
#define CREDIT_MAX (64 << 10)

/**
 * collector_note - print a note for the user
 * @c: collector
 * @format: as for printf()
 */
void __attribute__((format(printf, 2, 3)))
collector_note(struct collector *c, const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	/* What senders say is in it */
	clean_text(text);
	c->config.note(text, c->config.arg);
}

/**
 * collector_drop - count a datagram that is dropped for lack of memory
 * @c: collector
 * @s: its session, or NULL
 */
void collector_drop(struct collector *c, struct session *s)
{
	if (s)
		s->dropped++;
	else
		c->dropped++;
	if (!c->last_drop)
		collector_note(
			c,
			"out of memory: datagrams are dropped; senders send them again");
	c->last_drop = c->now ? c->now : 1;
}

static size_t beyond_own(size_t memory)
{
	return memory > SESSION_MEMORY ? memory - SESSION_MEMORY : 0;
}

/**
 * session_charge - may a session have more memory?
 * @c: collector
 * @s: session; the memory counts as its own afterwards
 * @size: bytes
 *
 * Return: false if all that sessions share is in use.
 */
bool session_charge(struct collector *c, struct session *s, size_t size)
{
	size_t more = beyond_own(s->memory + size) - beyond_own(s->memory);

	if (more && c->shared + more > SHARED_MEMORY)
		return false;
	c->shared += more;
	s->memory += size;
	return true;
}

/**
 * session_release - a session has less memory
 * @c: collector
 * @s: session
 * @size: bytes
 */
void session_release(struct collector *c, struct session *s, size_t size)
{
	c->shared -= beyond_own(s->memory) - beyond_own(s->memory - size);
	s->memory -= size;
}

static void deliver_waiting(struct collector *c, struct session *s)
{
	unsigned int cpu, cpus = s->info.cpus;

	for (cpu = cpu_next(s->waiting, 0, cpus); cpu < cpus;
	     cpu = cpu_next(s->waiting, cpu + 1, cpus)) {
		session_deliver(c, s, cpu);
		if (s->blocked)
			break;
	}
}

static void tick(struct collector *c, struct session *s)
{
	if (s->finished)
		return;
	if (s->streams)
		deliver_waiting(c, s);
	if (s->ack_due && c->now >= s->ack_due)
		session_acknowledge(c, s);
	if (session_is_incomplete(s))
		session_ack_in(c, s, RETRY_MS);
	if (s->files && c->now >= s->ledger_at)
		session_write_ledger(c, s);
	if (s->ended &&
	    c->now - s->ended >=
		    (session_is_incomplete(s) ? END_WAIT_MS : ACK_DELAY_MS))
		session_finish(c, s);
}

static void free_session(struct collector *c, struct session *s)
{
	unsigned int cpu;
	size_t i;

	session_release(c, s, s->memory);

	for (cpu = 0; s->streams && cpu < s->info.cpus; cpu++) {
		struct cpu_stream *st = &s->streams[cpu];

		for (i = 0; st->slots && i < st->room; i++)
			free(st->slots[i].data);
		free(st->slots);
	}
	metadata_free(&s->meta);
	metadata_free(&s->more);
	free(s->streams);
	free(s->open);
	free(s->waiting);
	free(s->to_ack);
	free(s->described);
	free(s->ledger);
	free(s->path);
	free(s);
}

static bool close_session(struct collector *c, struct session *s)
{
	bool ok = !s->file || session_close_file(c, s);

	if (s->files)
		session_write_ledger(c, s);
	free_session(c, s);
	return ok;
}

/* May another session replace it? */
static bool can_forget(const struct collector *c, const struct session *s)
{
	uint64_t silent = c->now - s->heard;

	if (s->finished)
		return !s->files || silent >= SILENT_FINISHED_MS;
	return silent >= (s->files ? SILENT_MS : SILENT_NEW_MS);
}

static struct in6_addr source_of(const struct sockaddr *from)
{
	struct in6_addr source = { 0 };

	if (from->sa_family == AF_INET6)
		return ((const struct sockaddr_in6 *)from)->sin6_addr;
	memcpy(&source, &((const struct sockaddr_in *)from)->sin_addr,
	       sizeof(struct in_addr));
	return source;
}

static bool is_same_source(const struct session *a, const struct in6_addr *b)
{
	return !memcmp(&a->source, b, sizeof(*b));
}

static void forget(struct collector *c, unsigned int session)
{
	struct in6_addr source = c->session[session]->source;
	unsigned int i;

	close_session(c, c->session[session]);
	c->session[session] = c->session[--c->nr_sessions];
	for (i = 0; i < c->nr_sessions; i++)
		c->session[i]->same_source -=
			is_same_source(c->session[i], &source);
	c->forgotten++;
	/* A recording of its datagrams does not begin it again */
	c->first_new = c->number;
}

/* The session that was silent for the longest time; false if none may be forgotten */
static bool forget_one(struct collector *c)
{
	unsigned int i, oldest = SESSIONS_MAX;

	for (i = 0; i < c->nr_sessions; i++) {
		if (can_forget(c, c->session[i]) &&
		    (oldest == SESSIONS_MAX ||
		     c->session[i]->heard < c->session[oldest]->heard))
			oldest = i;
	}
	if (oldest == SESSIONS_MAX)
		return false;
	forget(c, oldest);
	return true;
}

/* Does @a go before @b? Of the source with more; then without records; then silent longer */
static bool goes_first(const struct session *a, const struct session *b)
{
	if (a->same_source != b->same_source)
		return a->same_source > b->same_source;
	if (!a->files != !b->files)
		return !a->files;
	return a->heard < b->heard;
}

/*
 * In a full table, a source that has less sessions than another one gets a place of it, and
 * one that has none, the place of a session without records.
 * The session that goes loses nothing: what is not acknowledged comes again, and begins it
 * anew if its sender is still there and has a place.
 */
static bool share_place(struct collector *c, unsigned int has)
{
	unsigned int i, first = 0;

	for (i = 1; i < c->nr_sessions; i++) {
		if (goes_first(c->session[i], c->session[first]))
			first = i;
	}
	if (c->session[first]->same_source <= has + 1 &&
	    (has || c->session[first]->files))
		return false;
	forget(c, first);
	return true;
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
	memory_reserve(RESERVE);
	if (c->last_drop)
		forget_one(c);
	for (i = 0; i < c->nr_sessions; i++)
		tick(c, c->session[i]);
	if (c->last_drop && now - c->last_drop >= MEMORY_OK_MS) {
		collector_note(c, "no datagram was dropped for %u s",
			       MEMORY_OK_MS / 1000);
		c->last_drop = 0;
	}
}

static struct session *find_session(struct collector *c, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < c->nr_sessions; i++) {
		if (c->session[i]->id == id)
			return c->session[i];
	}
	return NULL;
}

/* NULL, and the datagram is counted, if there is no room for another session */
static struct session *new_session(struct collector *c, uint64_t id,
				   const struct sockaddr *from)
{
	struct in6_addr source = source_of(from);
	/* Before another one is forgotten */
	uint64_t first = c->first_new;
	unsigned int i, has = 0;
	struct session *s;

	for (i = 0; i < c->nr_sessions; i++)
		has += is_same_source(c->session[i], &source);
	if (c->nr_sessions == SESSIONS_MAX && !forget_one(c) &&
	    !share_place(c, has)) {
		c->ignored++;
		return NULL;
	}
	s = try_calloc(1, sizeof(*s));
	if (!s) {
		collector_drop(c, NULL);
		return NULL;
	}
	s->id = id;
	s->first = first;
	s->source = source;
	c->session[c->nr_sessions++] = s;
	for (i = 0, has = 0; i < c->nr_sessions; i++)
		has += is_same_source(c->session[i], &source);
	for (i = 0; i < c->nr_sessions; i++) {
		if (is_same_source(c->session[i], &source))
			c->session[i]->same_source = has;
	}
	return s;
}

static void set_address(struct peer *p, const struct sockaddr *from,
			socklen_t len)
{
	if (p->len == len && !memcmp(&p->address, from, len))
		return;
	memcpy(&p->address, from, len);
	p->len = len;
	p->credit = 0;
}

/* @len bytes have arrived from a sender of the session */
static void hear(struct collector *c, struct session *s, unsigned int sender,
		 size_t len, const struct sockaddr *from, socklen_t from_len)
{
	struct peer *p = &s->peer[sender];

	set_address(p, from, from_len);
	p->credit += len;
	if (p->credit > CREDIT_MAX)
		p->credit = CREDIT_MAX;
	p->heard = s->heard = c->now;
	s->to_answer |= 1u << sender;
}

/* Is it of a kind that senders send? */
static bool is_from_sender(const struct tracecast_header *h)
{
	return (h->kind >= TRACECAST_DATA && h->kind <= TRACECAST_BEAT) ||
	       h->kind == TRACECAST_QUICK;
}

/*
 * Check a datagram's seal, and remove it from *len. Return: the datagram's session; NULL
 * if the datagram was not made with the key, or not recently, or has arrived before.
 */
static struct session *open_sealed(struct collector *c, const uint8_t *data,
				   size_t *len,
				   const struct tracecast_header *h,
				   const struct sockaddr *from,
				   socklen_t from_len)
{
	struct session *s = find_session(c, h->session);
	struct tracecast_seal seal;

	*len = tracecast_unseal(data, *len, c->config.key, &seal);
	if (!*len) {
		if (!c->forged++)
			collector_note(
				c,
				"session %016llx: refused: the sender has another key",
				h->session);
		return NULL;
	}
	if (seal.echo <= (s ? s->first : c->first_new) ||
	    seal.echo > c->number) {
		collector_challenge(c, h, seal.number, from, from_len);
		return NULL;
	}
	if (!s)
		s = new_session(c, h->session, from);
	if (s && peer_is_repeated(&s->peer[h->sender], seal.number)) {
		c->repeated++;
		return NULL;
	}
	return s;
}

/* The session of a datagram; NULL, and the datagram is counted, if it is rejected */
static struct session *accept_datagram(struct collector *c, const uint8_t *data,
				       size_t *len, const struct sockaddr *from,
				       socklen_t from_len)
{
	struct tracecast_header h;
	struct session *s;

	if (!tracecast_get_header(data, *len, &h) || !is_from_sender(&h) ||
	    *len > TRACECAST_DATAGRAM_MAX) {
		c->ignored++;
		return NULL;
	}
	if (!collector_is_sealed(c, &h))
		return NULL;
	if (c->config.key)
		return open_sealed(c, data, len, &h, from, from_len);
	s = find_session(c, h.session);
	return s ? s : new_session(c, h.session, from);
}

/**
 * collector_datagram - handle a datagram
 * @c: collector
 * @data: the datagram
 * @len: its length
 * @from: its source address, to which acknowledgements go
 * @from_len: length of @from
 * @now: time in ms
 */
void collector_datagram(struct collector *c, const uint8_t *data, size_t len,
			const struct sockaddr *from, socklen_t from_len,
			uint64_t now)
{
	size_t whole = len;
	struct session *s;

	c->now = now;
	s = accept_datagram(c, data, &len, from, from_len);
	if (!s)
		return;
	if (s->finished) {
		c->late++;
		return;
	}
	/* There are no more senders than the metadata says */
	if (s->streams && sender_of(data) >= s->info.senders) {
		s->damaged++;
		return;
	}
	hear(c, s, sender_of(data), whole, from, from_len);
	/* After a panic, the sender sends everything twice and hears nothing */
	if (s->last >= TRACECAST_PANIC)
		s->ended = now;
	if (kind_of(data) == TRACECAST_META)
		session_handle_metadata(c, s, data, len);
	else if (kind_of(data) == TRACECAST_BEAT)
		session_handle_heartbeat(c, s, data, len);
	else
		session_handle_data(c, s, data, len);
	if (s->ack_due && now >= s->ack_due)
		session_acknowledge(c, s);
}

/**
 * collector_new - make a collector
 * @config: copied
 */
struct collector *collector_new(const struct collector_config *config)
{
	struct collector *c = xzalloc(sizeof(*c));

	c->config = *config;
	c->number = c->first_new = config->first;
	memory_reserve(RESERVE);
	return c;
}

/**
 * collector_free - finish all files
 * @c: collector; freed
 *
 * Return: false if a record could not be written.
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
 * collector_sync - write all delivered records to the files
 * @c: collector
 *
 * Return: false if a record could not be written; ledgers count only written records.
 */
bool collector_sync(struct collector *c)
{
	unsigned int i;
	bool ok = true;

	for (i = 0; i < c->nr_sessions; i++) {
		if (c->session[i]->file)
			ok &= session_sync_file(c->session[i]);
	}
	return ok;
}
