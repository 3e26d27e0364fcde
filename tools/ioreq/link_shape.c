// SPDX-License-Identifier: GPL-2.0
/* Requests: what the order of an end's messages shows of the protocol. */
#include "link_requests.h"
#include "order.h"

/* See may_be_multiplexed() */
#define OVERLAPPING 5
#define RUNS 3
#define OUTSTANDING 4

/* See keeps_outstanding() */
#define PER_OVERLAPPING 5

/**
 * struct balance - messages of a client less those of its server
 * @requests:		number of messages of the client
 * @outstanding:	the difference
 * @most:		its maximum since it was last 0
 * @deepest:		its maximum
 * @overlapping:	number of times that a message may belong to another request than
 *			those before it
 * @runs:		number of times that it was 0 again after it was more than 1
 * @broken:		the server sent more messages than its client
 */
struct balance {
	u64 requests;
	u64 outstanding;
	u64 most;
	u64 deepest;
	u64 overlapping;
	u64 runs;
	bool broken;
};

/* Whether the thread waited for input between two of its calls that moved bytes */
static bool waited(const struct side *side, const struct segment *last,
		   const struct segment *s)
{
	const struct thread_calls *t = s->thread;
	u64 i = FIRST(j, 0, t->nr, t->call[j].finish > last->finish);

	for (; i < t->nr && t->call[i].finish <= s->start; i++) {
		const struct timed_call *c = &t->call[i];
		bool own = c->start == s->start && c->finish == s->finish;

		if (c->start >= last->finish &&
		    (c->step == STEP_POLL || (c->id == side->id && !own)))
			return true;
	}
	return false;
}

/* What a thread sends or receives before it waits again is one message */
static bool continues_message(const struct side *side, const struct segment *s)
{
	const struct segment *last = s - 1;

	return s->sent == last->sent && s->thread == last->thread &&
	       !waited(side, last, s);
}

static void add_message(struct balance *b, bool request, bool turn)
{
	if (request) {
		b->requests++;
		b->overlapping += turn && b->outstanding;
		b->outstanding++;
		if (b->outstanding > b->most)
			b->most = b->outstanding;
		if (b->outstanding > b->deepest)
			b->deepest = b->outstanding;
		return;
	}
	if (!b->outstanding) {
		b->broken = true;
		return;
	}
	if (--b->outstanding)
		return;
	b->overlapping += b->most > 1;
	b->runs += b->most > 1;
	b->most = 0;
}

/* @whole: go on after messages that the server sent without a request */
static struct balance balance_of(const struct side *side, bool is_client,
				 bool whole)
{
	struct balance b = { 0 };
	u64 i;

	for (i = 0; i < side->nr && (whole || !b.broken); i++) {
		const struct segment *s = &side->segment[i];
		bool request = s->sent == is_client;

		if (i && continues_message(side, s))
			continue;
		/* Before the first request: a greeting, or the trace began late */
		if (!request && !b.deepest)
			continue;
		add_message(&b, request, i && s->sent != s[-1].sent);
	}
	return b;
}

/**
 * may_be_multiplexed - whether the messages of an end look like several requests at a time
 * @side:	the end, sorted by time
 * @is_client:	it is the client
 *
 * One end does not show which message of the server belongs to which one of the client.
 * But if each message of the client has one of the server, whatever their order, and more
 * than one is outstanding again and again, these are probably several requests, not one
 * request and response in several pieces.
 *
 * Return: true if several requests may have been in progress at a time.
 */
bool may_be_multiplexed(const struct side *side, bool is_client)
{
	struct balance b = balance_of(side, is_client, false);

	return !b.broken && b.overlapping >= OVERLAPPING && b.runs &&
	       (b.runs >= RUNS || b.deepest >= OUTSTANDING);
}

/**
 * keeps_outstanding - whether requests are sent again and again while others have no response
 * @side:	the end, sorted by time
 * @is_client:	it is the client
 *
 * A client that sends a request after each response, with several in progress, has the
 * same turns as its server most of the time. Its messages are balanced over time even if a
 * protocol such as HTTP/2 has some that are neither: the number outstanding stays small.
 * It grows if a request is sent in several parts, of which each looks like one.
 *
 * Return: true if so, of a connection that is known to have turns that overlap.
 */
bool keeps_outstanding(const struct side *side, bool is_client)
{
	struct balance b = balance_of(side, is_client, true);

	return b.overlapping * PER_OVERLAPPING >= b.requests &&
	       b.deepest * PER_OVERLAPPING <= b.requests;
}

/* Least time without a message before one that the server sends by itself, ns */
#define SILENCE 1000000000ull

/* Least number of silences after one request that show such messages */
#define SILENCES 3

/* Index after the last segment of a turn */
static u64 turn_end(const struct turns *t, u64 i, const struct side *side)
{
	return i + 1 < t->nr ? t->turn[i + 1].segment : side->nr;
}

/* Whether a thread waited for input during at least half of a time */
static bool waits_half(const struct thread_calls *t, u64 id, u64 from, u64 to)
{
	u64 i = FIRST(j, 0, t->nr, t->call[j].finish > from), time = 0;

	for (; i < t->nr && t->call[i].start < to; i++) {
		const struct timed_call *c = &t->call[i];
		u64 begin = c->start > from ? c->start : from;
		u64 end = c->finish < to ? c->finish : to;

		if ((c->step == STEP_POLL || c->id == id) && end > begin)
			time += end - begin;
	}
	return time * 2 >= to - from;
}

/* A silence before a message of the server, after another one */
static bool is_silence(const struct side *side, const struct segment *s)
{
	const struct segment *last = s - 1;
	u64 at = segment_moved_at(s);

	if (s->sent != last->sent || at < last->finish ||
	    at - last->finish < SILENCE)
		return false;
	/* What the server did is unknown at the client's end */
	return !s->sent || waits_half(last->thread, side->id, last->finish, at);
}

/* Set @first to the segment after the first silence; return the number of silences */
static u64 count_silences(const struct turns *t, u64 i, const struct side *side,
			  bool is_client, u64 *first)
{
	u64 j, silences = 0;

	*first = 0;
	for (j = t->turn[i].segment + 1; j < turn_end(t, i, side); j++) {
		const struct segment *s = &side->segment[j];

		if (s->sent == is_client || !is_silence(side, s))
			continue;
		*first = silences++ ? *first : j;
	}
	return silences;
}

static u64 count_messages(const struct side *side, u64 from, u64 end)
{
	u64 i, messages = 0;

	for (i = from; i < end; i++) {
		const struct segment *s = &side->segment[i];

		messages += !continues_message(side, s) || is_silence(side, s);
	}
	return messages;
}

/* Let the response of a turn end before a segment */
static void end_response(struct turn *t, const struct side *side, u64 at,
			 u64 messages)
{
	const struct segment *last = &side->segment[at - 1];

	t->response_end = last->end;
	t->over = last->finish;
	t->last_since = last->start;
	t->last = last->thread;
	t->pushed_at = at;
	t->pushed = messages;
}

/* Likewise the other end's turn with the same response */
static void end_same(const struct turns *t, const struct side *side,
		     const struct turn *same, bool is_client)
{
	u64 i, j;

	for (i = 0; i < t->nr; i++) {
		if (t->turn[i].answered &&
		    t->turn[i].response_from == same->response_from)
			break;
	}
	for (j = i < t->nr ? t->turn[i].segment + 1 : side->nr;
	     j < side->nr && j < turn_end(t, i, side); j++) {
		const struct segment *s = &side->segment[j];

		if (s->sent == is_client || s->from < same->response_end)
			continue;
		end_response(&t->turn[i], side, j, same->pushed);
		return;
	}
}

/**
 * turns_end_before_pushed - let responses end before messages without a request
 * @client:		the client's turns
 * @client_side:	the client's end
 * @server:		the server's turns
 * @server_side:	the server's end
 *
 * A server may send messages when something happens, as with WebSocket, server-sent events
 * or MQTT. These look like one response that takes minutes, with long silences in which
 * the server waits for input.
 */
void turns_end_before_pushed(const struct turns *client,
			     const struct side *client_side,
			     const struct turns *server,
			     const struct side *server_side)
{
	bool is_client = !server->nr;
	const struct turns *t = is_client ? client : server;
	const struct side *side = is_client ? client_side : server_side;
	u64 i, first, most = 0;

	for (i = 0; i < t->nr; i++) {
		u64 nr = count_silences(t, i, side, is_client, &first);

		most = nr > most ? nr : most;
	}
	for (i = 0; i < t->nr && most >= SILENCES; i++) {
		if (!count_silences(t, i, side, is_client, &first))
			continue;
		end_response(&t->turn[i], side, first,
			     count_messages(side, first, turn_end(t, i, side)));
		if (!is_client)
			end_same(client, client_side, &t->turn[i], true);
	}
}
