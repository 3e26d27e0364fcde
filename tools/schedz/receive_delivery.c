// SPDX-License-Identifier: GPL-2.0
/*
 * From datagrams to records. The datagrams of a CPU are delivered in the order of their
 * sequence numbers: one that arrives early waits in a slot until those before it have
 * arrived, or until a heartbeat shows that the sender no longer has them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "receive.h"

/* Bytes that the datagrams in a session's slots may have */
#define HELD_MAX (64 << 20)

/* What an allocation costs besides */
#define HELD_COST 32

/* The fewest slots of a stream; and those that it keeps when it needs none */
#define SLOTS_MIN 16
#define SLOTS_KEPT 64

/* The longest time that a record waits for the description of its event */
#define DESCRIBE_WAIT_MS 3000

/* Number of datagrams that are acknowledged at once */
#define ACK_DATAGRAMS 16

/**
 * stream_slot - slot of a datagram
 * @st: stream that has slots
 * @seq: sequence number of the datagram
 */
struct slot *stream_slot(struct cpu_stream *st, uint64_t seq)
{
	return &st->slots[seq & (st->room - 1)];
}

/* Slots up to @top; false if memory is exhausted */
static bool make_room(struct collector *c, struct session *s,
		      struct cpu_stream *st, uint64_t top)
{
	uint32_t room = st->room ? st->room : SLOTS_MIN;
	struct slot *slots;
	uint64_t seq;

	while (room < top - st->next)
		room *= 2;
	if (room == st->room)
		return true;
	if (!session_charge(c, s, room * sizeof(*slots)))
		return false;
	slots = try_calloc(room, sizeof(*slots));
	if (!slots) {
		session_release(c, s, room * sizeof(*slots));
		return false;
	}
	for (seq = st->next; seq < st->top; seq++)
		slots[seq & (room - 1)] = *stream_slot(st, seq);
	session_release(c, s, st->room * sizeof(*slots));
	free(st->slots);
	st->slots = slots;
	st->room = room;
	return true;
}

/* The sender has used numbers below @top; false if that is too much now */
static bool raise_top(struct collector *c, struct session *s, unsigned int cpu,
		      uint64_t top)
{
	struct cpu_stream *st = &s->streams[cpu];

	if (top <= st->top)
		return true;
	if (top - st->next > TRACECAST_WINDOW_MAX ||
	    s->window + (top - st->top) > SESSION_WINDOW_MAX)
		return false;
	if (!make_room(c, s, st, top)) {
		collector_drop(c, s);
		return false;
	}
	s->window += top - st->top;
	st->top = top;
	cpu_set(s->open, cpu);
	return true;
}

/* The next datagram is not needed any more */
static void pass_slot(struct collector *c, struct session *s, unsigned int cpu)
{
	struct cpu_stream *st = &s->streams[cpu];
	struct slot *slot = stream_slot(st, st->next);

	if (slot->data) {
		s->held -= slot->len;
		session_release(c, s, slot->len + HELD_COST);
		free(slot->data);
	}
	memset(slot, 0, sizeof(*slot));
	st->pieces = st->pieces_len = 0;
	st->next++;
	s->window--;
	if (st->next < st->top)
		return;
	cpu_clear(s->open, cpu);
	if (st->room > SLOTS_KEPT) {
		session_release(c, s, st->room * sizeof(*slot));
		free(st->slots);
		st->slots = NULL;
		st->room = 0;
	}
}

static uint16_t record_type(const struct session *s, const uint8_t *record)
{
	return s->info.big_endian ? record[0] << 8 | record[1] :
				    record[1] << 8 | record[0];
}

/* Are the events of all records described, and are all records valid? */
struct check {
	const struct session *s;
	size_t bytes;
	bool unknown;
	bool bad;
};

static void check_record(u64 time, const u8 *record, u32 len, void *arg)
{
	struct check *check = arg;
	uint16_t type;

	(void)time;
	check->bytes += live_size(len);
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
	unsigned int refused;
};

static void put_record(u64 time, const u8 *record, u32 len, void *arg)
{
	struct delivery *d = arg;

	if (!live_record(d->s->file, d->cpu, time, record, len))
		d->refused++;
}

static void put_name(int32_t pid, const uint8_t *comm, void *arg)
{
	struct delivery *d = arg;

	live_name(d->s->file, pid, comm);
}

/* The record in the next @n datagrams, into c->whole. Return: bytes of it */
static uint32_t gather(struct collector *c, struct cpu_stream *st, uint32_t n)
{
	uint32_t i, at = 0, from = TRACECAST_DATA_HEADER + TRACECAST_TASK;

	for (i = 0; i < n; i++) {
		const struct slot *slot = stream_slot(st, st->next + i);

		memcpy(c->whole + at, slot->data + from, slot->len - from);
		at += slot->len - from;
		from = TRACECAST_DATA_HEADER;
	}
	return at;
}

/* Return: 1, -1 if the next @n datagrams, of which @h is the last one's header, are no record */
static int unpack_pieces(struct collector *c, struct cpu_stream *st, uint32_t n,
			 const struct tracecast_data *h,
			 const struct tracecast_taker *taker)
{
	const struct slot *slot = stream_slot(st, st->next);
	uint32_t len;

	/* PART alone, or without what comes before it */
	if (!h->events || h->piece + 1u != n ||
	    slot->len < TRACECAST_DATA_HEADER + TRACECAST_TASK)
		return -1;
	tracecast_get_task(slot->data + TRACECAST_DATA_HEADER, taker);
	len = gather(c, st, n);
	if (taker->record)
		taker->record(h->time, c->whole, len, taker->arg);
	return 1;
}

/*
 * Call @taker for each record of the next @n datagrams, of which @h is the last one's header.
 * Return: the number of records, -1 if the datagrams are invalid.
 */
static int unpack(struct collector *c, struct cpu_stream *st, uint32_t n,
		  const struct tracecast_data *h,
		  const struct tracecast_taker *taker)
{
	const struct slot *slot = stream_slot(st, st->next);
	enum tracecast_kind kind = kind_of(slot->data);

	if (tracecast_is_piece(kind))
		return unpack_pieces(c, st, n, h, taker);
	return tracecast_unpack(&c->unpacker, kind,
				slot->data + TRACECAST_DATA_HEADER,
				slot->len - TRACECAST_DATA_HEADER, h->time,
				taker);
}

/*
 * How many datagrams, from the next one on, which is there, are delivered together? All that
 * have the pieces of a record, lest a part be acknowledged whose END goes to another
 * collector. Return: 0 if the next piece has not arrived; 1 also if there is no whole record.
 */
static uint32_t count_pieces(const struct session *s, struct cpu_stream *st)
{
	struct slot *slot = stream_slot(st, st->next);
	struct tracecast_data first, h;

	tracecast_get_data(slot->data, slot->len, &first);
	if (kind_of(slot->data) != TRACECAST_PART || first.piece)
		return 1;
	for (; st->next + st->pieces < st->top; st->pieces++) {
		uint32_t len;

		slot = stream_slot(st, st->next + st->pieces);
		if (!slot->data)
			return 0;
		tracecast_get_data(slot->data, slot->len, &h);
		len = st->pieces_len + slot->len - TRACECAST_DATA_HEADER;
		if (!tracecast_is_piece(kind_of(slot->data)) ||
		    h.piece != st->pieces || h.before != first.before ||
		    h.lost != first.lost ||
		    len > s->info.page_size + TRACECAST_TASK)
			return 1;
		if (kind_of(slot->data) == TRACECAST_END)
			return st->pieces + 1;
		st->pieces_len = len;
	}
	return 0;
}

/* Count what the header shows to be lost since the datagram before */
static void count_gap(struct session *s, struct cpu_stream *st,
		      unsigned int cpu, const struct tracecast_data *h)
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

/* Counts never decrease, and no more records are lost than there are */
static bool is_possible(const struct cpu_stream *st,
			const struct tracecast_data *h)
{
	return !st->counted ||
	       (h->before >= st->before && h->lost >= st->lost &&
		h->lost - st->lost <= h->before - st->before);
}

/* Is what it waits for certain not to be there yet? That saves to read it again */
static bool is_stuck(const struct collector *c, const struct session *s,
		     const struct cpu_stream *st)
{
	return st->stuck_since && st->stuck_generation == s->meta.generation &&
	       c->now - st->stuck_since < DESCRIBE_WAIT_MS;
}

/* Deliver the next @n datagrams, see count_pieces(); false if that is not possible yet */
static bool deliver_next(struct collector *c, struct session *s,
			 unsigned int cpu, uint32_t n)
{
	struct cpu_stream *st = &s->streams[cpu];
	struct delivery d = { s, cpu, 0 };
	struct check check = { .s = s };
	struct tracecast_taker checker = { check_record, NULL, &check };
	struct tracecast_taker taker = { put_record, put_name, &d };
	const struct slot *last = stream_slot(st, st->next + n - 1);
	struct tracecast_data h;
	int records;

	if (is_stuck(c, s, st)) {
		session_ack_in(c, s, ACK_DELAY_MS);
		return false;
	}
	if (session_file_waits(c, s) ||
	    ((s->blocked || st->wanted) &&
	     !session_file_ready(c, s, cpu, st->wanted)))
		return false;
	tracecast_get_data(last->data, last->len, &h);
	records = unpack(c, st, n, &h, &checker);
	if (records != h.events || check.bad)
		records = -1;
	if (records >= 0 && check.unknown) {
		if (!st->stuck_since)
			st->stuck_since = c->now;
		st->stuck_generation = s->meta.generation;
		if (is_stuck(c, s, st)) {
			session_ack_in(c, s, ACK_DELAY_MS);
			return false;
		}
	}
	if (!session_file_ready(c, s, cpu, check.bytes))
		return false;
	st->stuck_since = 0;
	if (!is_possible(st, &h)) {
		s->damaged++;
		return true;
	}
	count_gap(s, st, cpu, &h);
	if (records < 0) {
		/* There is no other copy of its records; what lacks its begin is good */
		s->damaged += n > 1 || !h.piece;
		live_lost(s->file, cpu, h.events);
		st->wire_lost += h.events;
	} else {
		unpack(c, st, n, &h, &taker);
		/* What no page of its sender's could have had, is not a record */
		if (d.refused)
			s->damaged++;
		st->wire_lost += d.refused;
		st->delivered += h.events - d.refused;
		s->unsaved += h.events - d.refused;
	}
	st->before += h.events;
	return true;
}

/**
 * session_deliver - deliver the datagrams of a CPU up to the first gap
 * @c: collector
 * @s: session with metadata
 * @cpu: CPU of the sender
 */
void session_deliver(struct collector *c, struct session *s, unsigned int cpu)
{
	struct cpu_stream *st = &s->streams[cpu];

	cpu_clear(s->waiting, cpu);
	while (st->next < st->top) {
		uint32_t n;

		if (!stream_slot(st, st->next)->data)
			return;
		n = count_pieces(s, st);
		if (!n)
			return;
		if (!deliver_next(c, s, cpu, n)) {
			cpu_set(s->waiting, cpu);
			return;
		}
		st->unacked += n;
		while (n--)
			pass_slot(c, s, cpu);
		session_ack_cpu(c, s, cpu,
				st->unacked >= ACK_DATAGRAMS ? 0 :
							       ACK_DELAY_MS);
	}
}

/*
 * Is the next datagram here? After session_deliver(), it cannot be delivered yet. It never can
 * if the next piece does not come, which is before @gone.
 */
static bool is_waiting(const struct session *s, struct cpu_stream *st,
		       uint64_t gone)
{
	if (st->next >= st->top || !stream_slot(st, st->next)->data)
		return false;
	return count_pieces(s, st) || st->next + st->pieces >= gone;
}

/* None before @gone comes any more: deliver or skip the datagrams before @seq */
static void skip_to(struct collector *c, struct session *s, unsigned int cpu,
		    uint64_t seq, uint64_t gone)
{
	struct cpu_stream *st = &s->streams[cpu];

	while (st->next < seq) {
		session_deliver(c, s, cpu);
		if (st->next >= seq || s->blocked || is_waiting(s, st, gone))
			return;
		if (st->next >= st->top)
			st->next = st->top = seq;
		else
			pass_slot(c, s, cpu);
	}
}

static void raise_end(struct cpu_stream *st, uint64_t before, uint64_t lost)
{
	if (before > st->end) {
		st->end = before;
		st->end_lost = lost;
	}
}

/* Memory for a datagram; NULL if it is exhausted */
static uint8_t *hold(struct collector *c, struct session *s, size_t len)
{
	uint8_t *data;

	if (!session_charge(c, s, len + HELD_COST))
		return NULL;
	data = try_calloc(1, len);
	if (!data)
		session_release(c, s, len + HELD_COST);
	return data;
}

/**
 * session_handle_data - handle a DATA, QUICK, PART or END datagram
 * @c: collector
 * @s: its session
 * @data: the datagram
 * @len: its length, without the seal
 */
void session_handle_data(struct collector *c, struct session *s,
			 const uint8_t *data, size_t len)
{
	struct tracecast_data h;
	struct cpu_stream *st;
	struct slot *slot;

	/* Numbers have successors */
	if (!tracecast_get_data(data, len, &h) || h.seq == UINT64_MAX ||
	    h.before > UINT64_MAX - h.events) {
		s->damaged++;
		return;
	}
	/* Useless before metadata and a heartbeat have arrived */
	if (!s->streams || h.cpu >= s->info.cpus || !s->streams[h.cpu].known) {
		session_ack_in(c, s, ACK_DELAY_MS);
		return;
	}
	st = &s->streams[h.cpu];
	st->sender = sender_of(data);
	if (h.seq < st->next) {
		s->again++;
		/* The acknowledgement may have been lost */
		st->unacked++;
		session_ack_cpu(c, s, h.cpu, ACK_DELAY_MS);
		return;
	}
	if (h.seq - st->next >= TRACECAST_WINDOW_MAX) {
		s->damaged++;
		return;
	}
	if (s->held + len > HELD_MAX || !raise_top(c, s, h.cpu, h.seq + 1))
		return;
	slot = stream_slot(st, h.seq);
	if (slot->data) {
		s->again++;
		return;
	}
	slot->data = hold(c, s, len);
	if (!slot->data) {
		collector_drop(c, s);
		return;
	}
	memcpy(slot->data, data, len);
	slot->len = len;
	s->held += len;
	s->datagrams++;
	raise_end(st, h.before + h.events, h.lost);
	session_deliver(c, s, h.cpu);
	if (st->next < st->top)
		session_ack_cpu(c, s, h.cpu, ACK_DELAY_MS);
}

static void handle_beat_entry(struct collector *c, struct session *s,
			      const struct tracecast_beat_entry *e)
{
	struct cpu_stream *st = &s->streams[e->cpu];

	if (e->base > e->next || e->lost > e->before || e->next == UINT64_MAX ||
	    e->next - e->base > TRACECAST_WINDOW_MAX) {
		s->damaged++;
		return;
	}
	if (!st->known) {
		st->known = true;
		st->next = st->top = e->base;
		/* No record was sent before @base, or none is in flight */
		if (!e->base || e->base == e->next) {
			st->counted = true;
			st->first = st->before = e->base ? e->before : 0;
			st->first_lost = st->lost = e->base ? e->lost : 0;
		}
	}
	if (e->base > st->next) {
		skip_to(c, s, e->cpu, e->base, e->base);
		session_deliver(c, s, e->cpu);
	}
	raise_top(c, s, e->cpu, e->next);
	session_ack_cpu(c, s, e->cpu, 0);
	raise_end(st, e->before, e->lost);
	if (e->generated > st->generated)
		st->generated = e->generated;
}

/**
 * session_handle_heartbeat - handle a BEAT datagram
 * @c: collector
 * @s: its session
 * @data: the datagram
 * @len: its length, without the seal
 */
void session_handle_heartbeat(struct collector *c, struct session *s,
			      const uint8_t *data, size_t len)
{
	struct tracecast_beat beat;
	unsigned int i;

	if (!tracecast_get_beat(data, len, &beat)) {
		s->damaged++;
		return;
	}
	for (i = 0; s->streams && i < beat.entries; i++) {
		struct tracecast_beat_entry e;

		tracecast_get_beat_entry(data + TRACECAST_BEAT_HEADER +
						 i * TRACECAST_BEAT_ENTRY,
					 &e);
		if (e.cpu >= s->info.cpus)
			continue;
		/* The last heartbeat is about the CPUs of all senders */
		if (!beat.last)
			s->streams[e.cpu].sender = sender_of(data);
		handle_beat_entry(c, s, &e);
		if (beat.last >= TRACECAST_PANIC)
			s->streams[e.cpu].reported = true;
	}
	if (beat.last && beat.last <= TRACECAST_PANIC_SOME && !s->ended) {
		s->ended = c->now;
		s->last = beat.last;
		if (s->last >= TRACECAST_PANIC)
			collector_note(c, "%s: session %016" PRIx64 ": a panic",
				       s->host, s->id);
	}
	session_ack_in(c, s, 0);
}

/**
 * session_is_incomplete - are datagrams missing, or not delivered yet?
 * @s: session
 */
bool session_is_incomplete(const struct session *s)
{
	return s->window;
}

/**
 * session_finish - deliver what has arrived, and count what is missing as lost
 * @c: collector
 * @s: session that the sender has ended
 *
 * @s->finished is set unless the file cannot be written; try again later, then.
 */
void session_finish(struct collector *c, struct session *s)
{
	unsigned int cpu;
	bool later = false;

	for (cpu = 0; s->streams && cpu < s->info.cpus; cpu++) {
		struct cpu_stream *st = &s->streams[cpu];
		struct tracecast_data end = { .before = st->end,
					      .lost = st->end_lost };

		if (!st->known)
			continue;
		skip_to(c, s, cpu, st->top, UINT64_MAX);
		if (s->blocked)
			return;
		if (st->next < st->top || !st->counted ||
		    st->end <= st->before || !is_possible(st, &end))
			continue;
		if (!session_file_ready(c, s, cpu, 0)) {
			later = true;
			break;
		}
		count_gap(s, st, cpu, &end);
	}
	if (later || session_is_incomplete(s))
		return;
	if (s->file)
		session_close_file(c, s);
	s->finished = true;
	/* A session without a record has no file */
	if (s->files)
		session_write_ledger(c, s);
	collector_note(c, "%s: session %016" PRIx64 " is over", s->host, s->id);
}
