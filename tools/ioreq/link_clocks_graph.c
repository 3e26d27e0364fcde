// SPDX-License-Identifier: GPL-2.0
/*
 * Clocks: bounds of each clock's offset, as shortest paths over the messages; see
 * link_clocks.c.
 */
#include <stdlib.h>

#include "link_clocks.h"
#include "order.h"

/* Reached only if the messages contradict each other */
#define MAX_ROUNDS 1000

/* ppm millionths of a time, rounded down, so that differences
 * along a chain of times add up
 */
u64 clocks_millionths(u64 time, u64 ppm)
{
	return time / PPM * ppm + time % PPM * ppm / PPM;
}

s64 message_delay(const struct sent *m)
{
	return (s64)m->received - (s64)m->sent;
}

static int by_node(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return ORDER(x->time, y->time);
}

void clocks_free_graph(struct clocks *c)
{
	u32 i;

	for (i = 0; i < c->hosts; i++) {
		free(c->host[i].node);
		c->host[i].node = NULL;
		c->host[i].nr = 0;
	}
	free(c->edge);
	c->edge = NULL;
	c->edges = 0;
}

static bool is_used(const struct clocks *c, const struct pair *p,
		    const struct pair *only)
{
	return only ? p == only :
		      !p->contradicts &&
			       c->host[p->host[0]].clock.reference ==
				       c->host[p->host[1]].clock.reference;
}

static struct node *find_node(const struct host_clock *h, u64 time)
{
	struct node key = { .time = time };

	return bsearch(&key, h->node, h->nr, sizeof(*h->node), by_node);
}

static void add_nodes(struct clocks *c, const struct pair *p, u32 from)
{
	struct host_clock *sender = &c->host[p->host[from]];
	struct host_clock *receiver = &c->host[p->host[!from]];
	const struct direction *w = &p->direction[from];
	u64 i;

	for (i = 0; i < w->nr; i++) {
		sender->node[sender->nr++].time = w->message[i].sent;
		receiver->node[receiver->nr++].time = w->message[i].received;
	}
}

static void add_edges(struct clocks *c, const struct pair *p, u32 from)
{
	const struct direction *w = &p->direction[from];
	u64 i;

	for (i = 0; i < w->nr; i++) {
		const struct sent *m = &w->message[i];

		c->edge[c->edges++] = (struct edge){
			.sender = find_node(&c->host[p->host[from]], m->sent),
			.receiver = find_node(&c->host[p->host[!from]],
					      m->received),
			.delay = message_delay(m),
		};
	}
}

/* Sort, remove duplicates and set the bounds */
static void order_nodes(struct host_clock *h, bool is_reference)
{
	u64 i, nr = 0;

	qsort(h->node, h->nr, sizeof(*h->node), by_node);
	for (i = 0; i < h->nr; i++) {
		if (nr && h->node[nr - 1].time == h->node[i].time)
			continue;
		h->node[nr++] = (struct node){
			.time = h->node[i].time,
			.low = is_reference ? 0 : -UNKNOWN,
			.high = is_reference ? 0 : UNKNOWN,
		};
	}
	h->nr = nr;
}

static u32 reference_of(const struct clocks *c, u32 host,
			const struct pair *only)
{
	return only ? only->host[0] : c->host[host].clock.reference;
}

/* Build the graph of one pair, or of all usable pairs if @only is NULL */
void clocks_make_graph(struct clocks *c, const struct pair *only)
{
	struct pair *p;
	u64 edges = 0;
	u64 *room = xzalloc((c->hosts + 1ull) * sizeof(*room));
	u32 i;

	clocks_free_graph(c);
	for (i = 0; i < c->hosts; i++) {
		for (p = c->host[i].pair; p; p = p->next) {
			u64 nr = p->direction[0].nr + p->direction[1].nr;

			if (!is_used(c, p, only))
				continue;
			room[p->host[0]] += nr;
			room[p->host[1]] += nr;
			edges += nr;
		}
	}
	for (i = 0; i < c->hosts; i++) {
		if (room[i])
			c->host[i].node =
				xzalloc(room[i] * sizeof(*c->host[i].node));
	}
	free(room);
	for (i = 0; i < c->hosts; i++) {
		for (p = c->host[i].pair; p; p = p->next) {
			if (!is_used(c, p, only))
				continue;
			add_nodes(c, p, 0);
			add_nodes(c, p, 1);
		}
	}
	for (i = 0; i < c->hosts; i++) {
		if (c->host[i].nr)
			order_nodes(&c->host[i], i == reference_of(c, i, only));
	}
	c->edge = xzalloc((edges + 1) * sizeof(*c->edge));
	for (i = 0; i < c->hosts; i++) {
		for (p = c->host[i].pair; p; p = p->next) {
			if (!is_used(c, p, only))
				continue;
			add_edges(c, p, 0);
			add_edges(c, p, 1);
		}
	}
}

/* Return: whether the bound became tighter */
static bool lower_high(s64 *high, s64 value)
{
	if (value >= *high)
		return false;
	*high = value < -UNKNOWN ? -UNKNOWN : value;
	return true;
}

static bool raise_low(s64 *low, s64 value)
{
	if (value <= *low)
		return false;
	*low = value > UNKNOWN ? UNKNOWN : value;
	return true;
}

static bool relax_messages(struct clocks *c)
{
	bool better = false;
	u64 i;

	for (i = 0; i < c->edges; i++) {
		const struct edge *e = &c->edge[i];

		if (e->receiver->high < UNKNOWN)
			better |= lower_high(&e->sender->high,
					     e->receiver->high + e->delay);
		if (e->sender->low > -UNKNOWN)
			better |= raise_low(&e->receiver->low,
					    e->sender->low - e->delay);
	}
	return better;
}

bool node_relax(struct node *to, const struct node *from, u32 drift)
{
	s64 a = clocks_millionths(from->time, drift),
	    b = clocks_millionths(to->time, drift);
	s64 apart = a < b ? b - a : a - b;
	bool better = false;

	if (from->high < UNKNOWN)
		better |= lower_high(&to->high, from->high + apart);
	if (from->low > -UNKNOWN)
		better |= raise_low(&to->low, from->low - apart);
	return better;
}

static bool relax_hosts(struct clocks *c)
{
	bool better = false;
	u32 i;
	u64 j;

	for (i = 0; i < c->hosts; i++) {
		struct host_clock *h = &c->host[i];

		for (j = 1; j < h->nr; j++)
			better |= node_relax(&h->node[j], &h->node[j - 1],
					     c->drift);
		for (j = h->nr; j-- > 1;)
			better |= node_relax(&h->node[j - 1], &h->node[j],
					     c->drift);
	}
	return better;
}

static bool clocks_contradicts(const struct host_clock *h)
{
	u64 i;

	for (i = 0; i < h->nr; i++) {
		if (h->node[i].low > h->node[i].high)
			return true;
	}
	return false;
}

static bool any_contradicts(const struct clocks *c)
{
	u32 i;

	for (i = 0; i < c->hosts; i++) {
		if (clocks_contradicts(&c->host[i]))
			return true;
	}
	return false;
}

/*
 * Bellman-Ford, relaxing all nodes of a host in one sweep: needs about as many rounds
 * as there are hosts on the path to the reference.
 *
 * Return: number of rounds, or 0 if there is no solution.
 */
u32 clocks_solve(struct clocks *c)
{
	u32 round;

	for (round = 1; round <= MAX_ROUNDS; round++) {
		bool better = relax_messages(c);

		better |= relax_hosts(c);
		if (any_contradicts(c))
			return 0;
		if (!better)
			return round;
	}
	return 0;
}
