// SPDX-License-Identifier: GPL-2.0
/* Requests: the turns of one end of a connection. */
#include <stdlib.h>

#include "link_requests.h"
#include "order.h"

/* When the bytes left the caller or were available to it */
u64 segment_moved_at(const struct segment *s)
{
	return s->sent ? s->start : s->finish;
}

static int by_moved_at(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return ORDER(segment_moved_at(x), segment_moved_at(y)) ?:
		       ORDER(x->from, y->from);
}

/* Let a turn be over with this segment of its response, unless it is over later */
static void end_response_with(struct turn *t, const struct segment *s)
{
	if (s->finish <= t->over)
		return;
	t->over = s->finish;
	t->last_since = s->start;
	t->last = s->thread;
}

static void add_to_turns(struct turns *t, const struct side *side, u64 i,
			 bool connection_is_client)
{
	const struct segment *s = &side->segment[i];
	struct turn *last = t->nr ? &t->turn[t->nr - 1] : NULL;

	if (last && last->thread != s->thread &&
	    (s->sent != connection_is_client || !last->answered))
		last->thread = NULL;
	if (s->sent != connection_is_client) {
		/* Before the first request: a greeting, or the trace began late */
		if (!last)
			return;
		if (!last->answered || s->from < last->response_from)
			last->response_from = s->from;
		if (s->end > last->response_end)
			last->response_end = s->end;
		end_response_with(last, s);
		last->answered = true;
		return;
	}
	if (last && !last->answered) {
		if (s->from < last->from)
			last->from = s->from;
		if (s->end > last->end)
			last->end = s->end;
		if (s->start > last->sent)
			last->paused += s->start - last->sent;
		if (s->finish > last->sent)
			last->sent = s->finish;
		return;
	}
	GROW(t->turn, t->nr, t->room);
	t->turn[t->nr++] = (struct turn){
		.from = s->from,
		.end = s->end,
		.begin = segment_moved_at(s),
		.since = s->start,
		.sent = s->finish,
		.thread = s->thread,
		.first = s->thread,
		.last = s->thread,
		.endpoint = s->endpoint,
		.segment = i,
	};
}

/* Put the calls of an end in the order in which they moved their bytes */
void side_sort_by_time(struct side *side)
{
	sort_if_needed(side->segment, side->nr, sizeof(*side->segment),
		       by_moved_at);
}

/* Turns of the client of a connection */
void turns_make_client(struct turns *t, struct side *side)
{
	u64 i;

	side_sort_by_time(side);
	for (i = 0; i < side->nr; i++)
		add_to_turns(t, side, i, true);
}

/**
 * struct late - what decides whether bytes are the last ones of a request
 * @client:	the client's turns
 * @side:	the client's segments, sorted by time
 * @turn:	index of a turn; those before it are over
 * @segment:	index of a segment; those before it are over
 */
struct late {
	const struct turns *client;
	const struct side *side;
	u64 turn;
	u64 segment;
};

/* The client's turn in which a server's turn begins, or NULL */
static const struct turn *same_turn(struct late *l, const struct turn *turn)
{
	const struct turns *client = l->client;

	while (l->turn < client->nr && client->turn[l->turn].end <= turn->from)
		l->turn++;
	return l->turn < client->nr &&
			       client->turn[l->turn].from <= turn->from ?
		       &client->turn[l->turn] :
		       NULL;
}

/* Whether the client sent this byte, and the one before it, in one call */
static bool is_in_call(struct late *l, u64 byte)
{
	const struct segment *s = l->side->segment;

	while (l->segment < l->side->nr &&
	       (!s[l->segment].sent || s[l->segment].end <= byte))
		l->segment++;
	return l->segment < l->side->nr && s[l->segment].from < byte;
}

/*
 * A server may respond before it has received the last bytes of a request, as php-fpm
 * does: the client sent them in one call with those before, had its response, and the server
 * responds to nothing after them.
 *
 * Return: how many segments from @i on are such last bytes of the server's last turn.
 */
static u64 count_late(struct late *l, const struct turn *last,
		      const struct side *side, u64 i)
{
	const struct turn *c = same_turn(l, last);
	u64 begin = i;

	if (!c || !c->answered || c->response_end > last->response_end ||
	    !is_in_call(l, side->segment[i].from))
		return 0;
	while (i < side->nr && !side->segment[i].sent &&
	       side->segment[i].end <= c->end)
		i++;
	return i == side->nr || !side->segment[i].sent ? i - begin : 0;
}

/* Turns of the server of a connection, after those of its client, which may be unknown */
void turns_make_server(struct turns *t, struct side *side,
		       const struct turns *client,
		       const struct side *client_side)
{
	struct late l = { .client = client, .side = client_side };
	u64 i;

	side_sort_by_time(side);
	for (i = 0; i < side->nr; i++) {
		struct turn *last = t->nr ? &t->turn[t->nr - 1] : NULL;
		u64 late = 0;

		if (last && last->answered && !side->segment[i].sent)
			late = count_late(&l, last, side, i);
		if (late) {
			i += late - 1;
			last->end = side->segment[i].end;
			continue;
		}
		add_to_turns(t, side, i, false);
	}
}

bool turn_is_same(const struct turn *a, const struct turn *b)
{
	return a->from == b->from && a->end == b->end &&
	       a->response_from == b->response_from &&
	       a->response_end == b->response_end;
}

/* The last turn of an end, if it has a response, or NULL */
struct turn *turns_last_answered(const struct turns *t)
{
	struct turn *last = t->nr ? &t->turn[t->nr - 1] : NULL;

	return last && last->answered ? last : NULL;
}

/* Let the response of an end's last turn, after its first byte, end at @end */
static void end_last_at(struct turn *t, const struct side *side, u64 end,
			bool connection_is_client)
{
	u64 i;

	t->response_end = end;
	t->over = 0;
	for (i = t->segment; i < side->nr; i++) {
		const struct segment *s = &side->segment[i];

		if (s->sent != connection_is_client && s->from < end)
			end_response_with(t, s);
	}
}

/**
 * turns_end_with_trace - let the last response end with the bytes that both ends have
 * @client:		the client's turns
 * @client_side:	the client's end
 * @server:		the server's turns
 * @server_side:	the server's end
 *
 * The recording may end before the client receives the last bytes, or before the server's
 * call that sends them returns.
 */
void turns_end_with_trace(const struct turns *client,
			  const struct side *client_side,
			  const struct turns *server,
			  const struct side *server_side)
{
	struct turn *c = turns_last_answered(client);
	struct turn *s = turns_last_answered(server);

	if (!c || !s || c->pushed || s->pushed || c->from != s->from ||
	    c->end != s->end || c->response_from != s->response_from)
		return;
	if (c->response_end < s->response_end)
		end_last_at(s, server_side, c->response_end, false);
	else if (s->response_end < c->response_end)
		end_last_at(c, client_side, s->response_end, true);
}

/* Both have the request, but the client sent it before it had all that the server had sent */
static bool is_crossed(const struct turn *client, const struct turn *server)
{
	return client->answered && server->answered &&
	       client->response_from < server->response_from;
}

/*
 * Number of turns that begin for one end at bytes that are in the middle of turns of the
 * other one, or that bytes of the server cross: requests are sent before the responses to
 * earlier ones end, as with HTTP/2 and other protocols that multiplex, or with pipelining.
 *
 * @begins:	set to the number of turns of both
 */
u64 turns_overlapping(const struct turns *client, const struct turns *server,
		      u64 *begins)
{
	u64 i = 0, j = 0, overlaps = 0;

	*begins = 0;
	while (i < client->nr && j < server->nr) {
		u64 a = client->turn[i].from, b = server->turn[j].from;

		/* What comes first was not recorded by both */
		overlaps += *begins && (a != b || is_crossed(&client->turn[i],
							     &server->turn[j]));
		*begins += *begins || a == b;
		i += a <= b;
		j += b <= a;
	}
	return overlaps;
}

/*
 * Whether processes take turns, as both ends saw it; the first turn may have begun
 * before the trace, and the last one may not have ended
 */
bool turns_alternate(const struct turns *client, const struct turns *server)
{
	u64 i, j = 0, same = 0;

	for (i = 0; i < client->nr && server->nr; i++) {
		const struct turn *t = &client->turn[i];
		const struct turn *s;

		while (j + 1 < server->nr && server->turn[j].end < t->end)
			j++;
		s = &server->turn[j];
		if (t->answered && s->answered && turn_is_same(t, s))
			same++;
		else if (i && i + 1 < client->nr)
			return false;
	}
	return same > 0;
}
