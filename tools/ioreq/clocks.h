/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Brings the clocks of hosts together, from the messages that they sent each other.
 *
 * Nothing is received before it was sent: that is all that is used, and what the
 * result is guaranteed by.
 */
#ifndef IOREQ_CLOCKS_H
#define IOREQ_CLOCKS_H

#include <stdbool.h>

#include <linux/types.h>

/* How much the rates of two clocks may differ unless told otherwise, ppm: what NTP may
 * slew a clock by (RFC 5905, MAXFREQ)
 */
#define CLOCKS_DRIFT 500
#define CLOCKS_MAX_DRIFT 100000

/**
 * enum clock_state - what is known of a host's clock
 * @CLOCK_REFERENCE:	it is what others are compared with: the first host's, or that
 *			of the first one of hosts which have no messages with that
 * @CLOCK_ALIGNED:	it is known within bounds
 * @CLOCK_ALONE:	there are no messages with another host
 * @CLOCK_ONE_WAY:	messages with those that are aligned went one way only, so that
 *			it may be ahead, or behind, by anything
 * @CLOCK_CONTRADICTS:	no clock whose rate is as close as it was told to be can have
 *			shown these times
 */
enum clock_state {
	CLOCK_REFERENCE,
	CLOCK_ALIGNED,
	CLOCK_ALONE,
	CLOCK_ONE_WAY,
	CLOCK_CONTRADICTS,
};

/**
 * struct clock - a host's CLOCK_MONOTONIC against its reference's
 * @state:	what is known; the others are 0 unless it is CLOCK_ALIGNED
 * @reference:	number of the host that it is compared with
 * @messages:	between this host and others, whatever the state is
 * @offset:	by how much it is ahead, ns, at @at
 * @at:		time of this host at which the offset is known best
 * @bound:	the true offset at @at is not further away from @offset, ns
 * @worst:	the largest bound from the first message to the last one, ns
 * @drift:	how much faster it runs, in millionths of a second a second; the mean
 *		from the first message to the last one
 * @drift_bound: the true mean is not further away from @drift
 * @steady:	a constant drift agrees with all messages
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
