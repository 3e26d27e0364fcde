// SPDX-License-Identifier: GPL-2.0
/* Requests: what the order of an end's messages shows of the protocol. */
#include "link_requests.h"
#include "order.h"

/* See may_be_multiplexed() */
#define OVERLAPPING 5
#define RUNS 3
#define OUTSTANDING 4

/**
 * struct balance - messages of a client less those of its server
 * @outstanding:	the difference
 * @most:		its maximum since it was last 0
 * @deepest:		its maximum
 * @overlapping:	number of times that a message may belong to another request than
 *			those before it
 * @runs:		number of times that it was 0 again after it was more than 1
 * @broken:		the server sent more messages than its client
 */
struct balance {
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
	const struct caller *t = s->thread;
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
		b->overlapping += turn && b->outstanding;
		b->outstanding++;
		if (b->outstanding > b->most)
			b->most = b->outstanding;
		if (b->outstanding > b->deepest)
			b->deepest = b->outstanding;
		return;
	}
	b->broken |= !b->outstanding;
	if (b->broken || --b->outstanding)
		return;
	b->overlapping += b->most > 1;
	b->runs += b->most > 1;
	b->most = 0;
}

/**
 * may_be_multiplexed - whether the messages of an end look like several requests at a time
 * @side:	the end, sorted by time
 * @is_client:	it is the client
 *
 * One end does not show which message of the server belongs to which one of the client.
 * But if each message of the client has one of the server, whatever their order, and more
 * than one is outstanding again and again, it is probably no request and response in pieces.
 *
 * Return: true if several requests may have been in progress at a time.
 */
bool may_be_multiplexed(const struct side *side, bool is_client)
{
	struct balance b = { 0 };
	u64 i;

	for (i = 0; i < side->nr && !b.broken; i++) {
		const struct segment *s = &side->segment[i];
		bool request = s->sent == is_client;

		if (i && continues_message(side, s))
			continue;
		/* Before the first request: a greeting, or the trace began late */
		if (!request && !b.deepest)
			continue;
		add_message(&b, request, i && s->sent != s[-1].sent);
	}
	return !b.broken && b.overlapping >= OVERLAPPING && b.runs &&
	       (b.runs >= RUNS || b.deepest >= OUTSTANDING);
}
