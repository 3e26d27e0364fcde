// SPDX-License-Identifier: GPL-2.0
/*
 * Acknowledgements: which datagrams of each CPU are in the file, and which are to be
 * sent again. With a key, they have seals, as datagrams have.
 */
#include <string.h>

#include "receive.h"

/* The longest acknowledgement, without its seal */
#define ACK_MAX (TRACECAST_DATAGRAM_MIN - TRACECAST_SEAL)

/* An acknowledgement that is being made */
struct ack_builder {
	struct peer *peer;
	uint8_t data[ACK_MAX + TRACECAST_SEAL];
	size_t len;
	uint16_t entries;
};

/* For which sender it is; and a seal, if there is a key. Return: the new length */
static size_t seal_ack(struct collector *c, uint8_t *data, size_t len,
		       uint8_t sender, uint64_t echo)
{
	struct tracecast_seal seal = { c->number + 1, echo };

	tracecast_put_sender(data, sender);
	if (!c->config.key)
		return len;
	c->number++;
	return tracecast_seal(data, len, c->config.key, &seal);
}

static void send_ack(struct collector *c, struct session *s,
		     struct ack_builder *a)
{
	struct tracecast_ack ack = {
		.generation = s->meta.generation,
		.entries = a->entries,
	};

	struct peer *p = a->peer;

	tracecast_put_ack(a->data, s->id, &ack);
	a->len = seal_ack(c, a->data, a->len, p - s->peer, p->number);
	/* One that is not sent is equivalent to one that the network loses */
	if (a->len <= p->credit) {
		p->credit -= a->len;
		c->config.send(a->data, a->len, (struct sockaddr *)&p->address,
			       p->len, c->config.arg);
	}
	a->len = TRACECAST_ACK_HEADER;
	a->entries = 0;
}

/* The next range, from *seq on, that is to be requested now; false if there is none */
static bool next_range(const struct collector *c, struct cpu_stream *st,
		       uint64_t *seq, struct tracecast_ack_range *range)
{
	range->count = 0;
	for (; *seq < st->top; (*seq)++) {
		struct slot *slot = stream_slot(st, *seq);
		bool ask = !slot->data &&
			   (!slot->asked || c->now - slot->asked >= RETRY_MS);

		if (!ask && range->count)
			return true;
		if (!ask)
			continue;
		if (!range->count)
			range->from = *seq - st->next;
		range->count++;
		slot->asked = c->now ? c->now : 1;
	}
	return range->count;
}

/*
 * From where on missing datagrams are looked for: from the first one at times, else only
 * where there are new ones, lest each of many datagrams have all looked at.
 */
static uint64_t look_from(const struct collector *c, struct cpu_stream *st)
{
	if (st->asked && c->now - st->asked < RETRY_MS / 2 &&
	    st->asked_top >= st->next)
		return st->asked_top;
	st->asked = c->now ? c->now : 1;
	return st->next;
}

static void ack_stream(struct collector *c, struct session *s, unsigned int cpu,
		       struct ack_builder *a)
{
	struct cpu_stream *st = &s->streams[cpu];
	struct tracecast_ack_entry e = { .cpu = cpu, .next = st->next };
	struct tracecast_ack_range range;
	size_t at;

	if (a->len + TRACECAST_ACK_ENTRY + TRACECAST_ACK_RANGE > ACK_MAX)
		send_ack(c, s, a);
	at = a->len;
	a->len += TRACECAST_ACK_ENTRY;
	if (!s->blocked) {
		st->asked_top = look_from(c, st);
		while (a->len + TRACECAST_ACK_RANGE <= ACK_MAX &&
		       next_range(c, st, &st->asked_top, &range)) {
			tracecast_put_ack_range(a->data + a->len, &range);
			a->len += TRACECAST_ACK_RANGE;
			e.ranges++;
		}
	}
	tracecast_put_ack_entry(a->data + at, &e);
	a->entries++;
	st->unacked = 0;
}

/*
 * The peer's CPUs from one on, in order. Return: false, and its @turn is set, if they are
 * more than may be sent: the others come first the next time.
 */
static bool ack_streams(struct collector *c, struct session *s,
			unsigned int from, struct ack_builder *a)
{
	unsigned int cpu, cpus = s->info.cpus;

	for (cpu = cpu_next(s->to_ack, from, cpus); cpu < cpus;
	     cpu = cpu_next(s->to_ack, cpu + 1, cpus)) {
		if (&s->peer[s->streams[cpu].sender] != a->peer)
			continue;
		if (a->len + TRACECAST_ACK_ENTRY > a->peer->credit) {
			a->peer->turn = cpu;
			return false;
		}
		cpu_clear(s->to_ack, cpu);
		if (s->streams[cpu].known)
			ack_stream(c, s, cpu, a);
	}
	a->peer->turn = 0;
	return true;
}

/* CPUs of which something is missing, at times, and their senders */
static void retry(struct collector *c, struct session *s)
{
	unsigned int cpu, cpus = s->info.cpus;

	if (c->now < s->retry_at)
		return;
	s->retry_at = c->now + RETRY_MS / 2;
	for (cpu = cpu_next(s->open, 0, cpus); cpu < cpus;
	     cpu = cpu_next(s->open, cpu + 1, cpus)) {
		cpu_set(s->to_ack, cpu);
		s->to_answer |= 1u << s->streams[cpu].sender;
	}
}

static void acknowledge_streams(struct collector *c, struct session *s,
				struct ack_builder *a)
{
	unsigned int from = a->peer->turn;

	if (!ack_streams(c, s, from, a) || !from)
		return;
	/* In each datagram, CPUs are in order */
	if (a->entries)
		send_ack(c, s, a);
	ack_streams(c, s, 0, a);
}

static void acknowledge_peer(struct collector *c, struct session *s,
			     struct peer *p)
{
	struct ack_builder a = { .peer = p, .len = TRACECAST_ACK_HEADER };

	/* What is not sent asks for nothing: it is asked for when it can be sent */
	if (p->credit < a.len + (c->config.key ? TRACECAST_SEAL : 0))
		return;
	if (s->streams)
		acknowledge_streams(c, s, &a);
	/* The number of the metadata, if nothing else */
	send_ack(c, s, &a);
}

/**
 * session_answer_all - the next acknowledgement goes to all senders of a session
 * @s: session
 */
void session_answer_all(struct session *s)
{
	unsigned int i;

	for (i = 0; i < TRACECAST_SENDERS_MAX; i++) {
		if (s->peer[i].len)
			s->to_answer |= 1u << i;
	}
}

/**
 * session_acknowledge - acknowledge what is in the file, and request what is missing
 * @c: collector
 * @s: session
 *
 * An address receives no more bytes than arrived from it, because a datagram can have
 * the address of a machine that never sent it.
 */
void session_acknowledge(struct collector *c, struct session *s)
{
	unsigned int i;

	s->ack_due = 0;
	/* Only what is in the file may be acknowledged */
	if (s->file && !session_sync_file(s)) {
		session_block(c, s);
		return;
	}
	if (s->streams)
		retry(c, s);
	for (i = 0; i < TRACECAST_SENDERS_MAX; i++) {
		if (s->to_answer & 1u << i)
			acknowledge_peer(c, s, &s->peer[i]);
	}
	s->to_answer = 0;
}

/**
 * session_ack_in - acknowledge soon
 * @c: collector
 * @s: session
 * @ms: after this time at the latest
 */
void session_ack_in(struct collector *c, struct session *s, uint64_t ms)
{
	if (!s->ack_due || s->ack_due > c->now + ms)
		s->ack_due = c->now + ms;
}

/**
 * session_ack_cpu - acknowledge soon what there is of a CPU
 * @c: collector
 * @s: session with metadata
 * @cpu: the CPU
 * @ms: after this time at the latest
 */
void session_ack_cpu(struct collector *c, struct session *s, unsigned int cpu,
		     uint64_t ms)
{
	cpu_set(s->to_ack, cpu);
	s->to_answer |= 1u << s->streams[cpu].sender;
	session_ack_in(c, s, ms);
}

/**
 * collector_challenge - answer a sender that echoes no recent acknowledgement
 * @c: collector with a key
 * @h: header of the sender's datagram
 * @echo: number in its seal
 * @to: the sender's address
 * @to_len: length of @to
 *
 * By echoing the number in this acknowledgement, the sender proves that its datagrams
 * are not a recording. It is no longer than the datagram that it answers, which has a
 * seal and a longer header.
 */
void collector_challenge(struct collector *c, const struct tracecast_header *h,
			 uint64_t echo, const struct sockaddr *to,
			 socklen_t to_len)
{
	uint8_t data[TRACECAST_ACK_HEADER + TRACECAST_SEAL];
	struct tracecast_ack ack = { 0 };

	c->unanswered++;
	/* One answer per heartbeat is enough */
	if (h->kind != TRACECAST_BEAT)
		return;
	tracecast_put_ack(data, h->session, &ack);
	c->config.send(data,
		       seal_ack(c, data, TRACECAST_ACK_HEADER, h->sender, echo),
		       to, to_len, c->config.arg);
}

/**
 * peer_is_repeated - has a datagram with this number arrived before?
 * @p: its sender
 * @number: number in the datagram's seal, which counts as arrived afterwards
 *
 * Return: true also if the number is so old that this is unknown, or too high.
 */
bool peer_is_repeated(struct peer *p, uint64_t number)
{
	uint64_t *seen = &p->seen[number % SEAL_WINDOW / 64];
	uint64_t bit = 1ull << number % 64;

	/* After so high a number, no other one could be accepted */
	if (number > UINT64_MAX - SEAL_WINDOW ||
	    number + SEAL_WINDOW <= p->number)
		return true;
	if (number > p->number + SEAL_WINDOW)
		memset(p->seen, 0, sizeof(p->seen));
	else
		for (; p->number < number; p->number++)
			p->seen[(p->number + 1) % SEAL_WINDOW / 64] &=
				~(1ull << (p->number + 1) % 64);
	if (p->number < number)
		p->number = number;
	if (*seen & bit)
		return true;
	*seen |= bit;
	return false;
}

/**
 * collector_is_sealed - has a datagram a seal if there is a key, and none otherwise?
 * @c: collector; counts the others
 * @h: header of the datagram
 */
bool collector_is_sealed(struct collector *c, const struct tracecast_header *h)
{
	if (h->sealed == !!c->config.key)
		return true;
	if (!c->unsealed++)
		collector_note(
			c, "session %016llx: %s", h->session,
			h->sealed ?
				"refused: the sender has a key; give it with --key-file" :
				"refused: the sender has no key; write it to its target's file key");
	return false;
}
