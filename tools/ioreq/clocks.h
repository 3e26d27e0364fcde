/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Alignment of the hosts' clocks, from the messages between them.
 *
 * The only assumption is that no message is received before it was sent; the result is
 * guaranteed by it.
 */
#ifndef IOREQ_CLOCKS_H
#define IOREQ_CLOCKS_H

#include <stdbool.h>

#include <linux/types.h>

/* Default maximum difference of two clocks' rates, ppm: the largest slew
 * of NTP (RFC 5905, MAXFREQ)
 */
#define CLOCKS_DRIFT 500
#define CLOCKS_MAX_DRIFT 100000

/**
 * enum clock_state - what is known of a host's clock
 * @CLOCK_REFERENCE:	others are compared with it: the first host's, or that of the
 *			first of several hosts without messages to and from the first
 *			one
 * @CLOCK_ALIGNED:	known within bounds
 * @CLOCK_ALONE:	no messages with another host
 * @CLOCK_ONE_WAY:	messages with aligned hosts went in one direction only, so that
 *			the offset has no bound
 * @CLOCK_CONTRADICTS:	no clock within the allowed drift can have shown these times
 */
enum clock_state {
	CLOCK_REFERENCE,
	CLOCK_ALIGNED,
	CLOCK_ALONE,
	CLOCK_ONE_WAY,
	CLOCK_CONTRADICTS,
};

/**
 * struct clock - a host's CLOCK_MONOTONIC compared with its reference's
 * @state:		what is known; the fields from @offset on are 0 unless it is
 *			CLOCK_ALIGNED
 * @reference:		number of the host that it is compared with
 * @messages:		messages between this host and others, in any state
 * @offset:		how far it is ahead at @at, ns
 * @at:			time of this host at which the offset has the smallest error
 *			bound
 * @bound:		error bound of @offset at @at, ns
 * @worst:		largest error bound from the first message to the last one, ns
 * @drift:		how much faster it runs, ppm; mean from the first message to the
 *			last one
 * @drift_bound:	error bound of @drift, ppm
 * @steady:		a constant drift agrees with all messages
 */
struct clock {
	enum clock_state state;
	u32 reference;
	u64 messages;
	s64 offset;
	u64 at;
	u64 bound;
	u64 worst;
	double drift;
	double drift_bound;
	bool steady;
};

struct clocks;

struct clocks *clocks_new(u32 hosts, u32 drift);
void clocks_message(struct clocks *c, u32 from, u64 sent, u32 to, u64 received);
void clocks_finish(struct clocks *c);
void clocks_free(struct clocks *c);

const struct clock *clocks_get(const struct clocks *c, u32 host);
bool clocks_common(const struct clocks *c, u32 host, u64 time, s64 *common,
		   u64 *bound);
bool clocks_to_reference(const struct clocks *c, u32 host, u64 time,
			 s64 *common, u64 *bound);

#endif
