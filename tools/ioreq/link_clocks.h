/* SPDX-License-Identifier: GPL-2.0 */
/* Alignment of clocks: internal to link_clocks*.c. */
#ifndef IOREQ_LINK_CLOCKS_H
#define IOREQ_LINK_CLOCKS_H

#include "clocks.h"
#include "memory.h"

/* Later times are damage: 73 years. Sums of two times, and drift
 * over one, fit into 64 bits
 */
#define TIME_LIMIT (1ull << 61)
#define UNKNOWN (1ll << 62)

#define PPM 1000000

/**
 * struct sent - a message
 * @sent:	when it was sent, ns of the sender
 * @received:	when it was received, ns of the receiver
 */
struct sent {
	u64 sent;
	u64 received;
};

/**
 * struct direction - messages in one direction, without messages that others imply
 * @message:	messages
 * @nr:		number of messages
 * @room:	allocated entries of @message
 * @limit:	at this number implied messages are removed
 */
struct direction {
	struct sent *message;
	u64 nr;
	u64 room;
	u64 limit;
};

/**
 * struct pair - two hosts that sent each other messages
 * @host:		the hosts, lower number first
 * @direction:		messages sent by either
 * @contradicts:	no two clocks can have shown their times
 * @next:		next pair with the same first host
 */
struct pair {
	u32 host[2];
	struct direction direction[2];
	bool contradicts;
	struct pair *next;
};

/**
 * struct node - what is known of o at a time of a host
 * @time:	the time
 * @low:	lower bound of o
 * @high:	upper bound of o
 */
struct node {
	u64 time;
	s64 low;
	s64 high;
};

/**
 * struct edge - a message between nodes
 * @sender:	node at which it was sent
 * @receiver:	node at which it was received
 * @delay:	received less sent, by the clocks of both, ns
 */
struct edge {
	struct node *sender;
	struct node *receiver;
	s64 delay;
};

/**
 * struct host_clock - a host
 * @clock:	result
 * @pair:	its messages with hosts of higher numbers
 * @node:	bounds, sorted by time
 * @nr:		number of nodes
 * @slack:	what error bounds are widened by for rounding, ns
 * @first:	time of the first message
 * @last:	time of the last message
 */
struct host_clock {
	struct clock clock;
	struct pair *pair;
	struct node *node;
	u64 nr;
	u64 slack;
	u64 first;
	u64 last;
};

/**
 * struct clocks - see clocks_new()
 * @drift:	maximum difference of two rates, ppm
 * @hosts:	number of hosts
 * @host:	the hosts
 * @edge:	messages between nodes
 * @edges:	number of edges
 */
struct clocks {
	u32 drift;
	u32 hosts;
	struct host_clock *host;
	struct edge *edge;
	u64 edges;
};

/* link_clocks_graph.c */
u64 clocks_millionths(u64 time, u64 ppm);
s64 message_delay(const struct sent *m);
void clocks_free_graph(struct clocks *c);
void clocks_make_graph(struct clocks *c, const struct pair *only);
bool node_relax(struct node *to, const struct node *from, u32 drift);
u32 clocks_solve(struct clocks *c);

/* link_clocks_bounds.c */
u64 node_bound(const struct host_clock *h, const struct node *n);
struct node node_at_time(const struct host_clock *h, u64 time, u32 drift);
void clocks_set_clock(struct host_clock *h, u32 drift);

#endif
