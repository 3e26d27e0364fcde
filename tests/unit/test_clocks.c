// SPDX-License-Identifier: GPL-2.0
/*
 * Clocks of hosts that were made up, so that their true times are known: off by up to a
 * second, 100 ppm off, with a step of the frequency in the middle.
 */
#include <stdlib.h>
#include <string.h>

#include "clocks.h"
#include "memory.h"
#include "random.h"
#include "suite.h"

#define SEEDS 24
#define MAX_HOSTS 5
#define BEGIN 5000000000000ll /* of the first host's clock */
#define LENGTH 20000000000ll
#define STEP (BEGIN + LENGTH / 2)

/* A clock: ahead of the first host's at BEGIN, ns; its rate until STEP and then, ppb */
struct made_up {
	s64 ahead;
	s64 rate;
	s64 then;
};

struct message {
	u32 from, to;
	s64 sent, received; /* true times */
};

static struct made_up made_up[MAX_HOSTS];
static struct message *messages;
static u64 nr, room;
static s64
	shortest; /* round trip between the first two hosts, without the service */
static s64 shortest_wait; /* with it */

/* A host's clock at a time; it counts whole ns */
static u64 shown(u32 host, s64 time)
{
	const struct made_up *m = &made_up[host];
	__int128 before = (time < STEP ? time : STEP) - BEGIN;
	__int128 after = time < STEP ? 0 : time - STEP;

	/* Rounded down, and not towards 0 */
	return time + m->ahead +
	       (s64)((before * m->rate + after * m->then +
		      ((__int128)1000000000 << 62)) /
			     1000000000 -
		     ((__int128)1 << 62));
}

static s64 signed_below(s64 n)
{
	return below(2 * n + 1) - n;
}

/* Most are quick, some wait in queues */
static s64 travel(void)
{
	return 20000 + below(30000) + (below(4) ? 0 : below(2000000));
}

static void say(u32 from, s64 sent, u32 to, s64 received)
{
	GROW(messages, nr, room);
	messages[nr++] = (struct message){ from, to, sent, received };
}

static void ask(u32 client, u32 server, s64 time)
{
	s64 asked = time + travel(), answered = asked + below(3000000);
	s64 over = answered + travel(), round = over - time - answered + asked;

	say(client, time, server, asked);
	say(server, answered, client, over);
	if (client + server != 1)
		return;
	/* Measured by clocks that drift, at a rate that is not known */
	round += (over - time) * (CLOCKS_DRIFT + 200) / 1000000;
	if (round < shortest)
		shortest = round;
	if (over - time < shortest_wait)
		shortest_wait = over - time;
}

static void make_up(u64 s, u32 hosts, bool step)
{
	u32 i;

	seed = SEED + s;
	nr = 0;
	shortest = shortest_wait = INT64_MAX;
	memset(made_up, 0, sizeof(made_up));
	for (i = 1; i < hosts; i++) {
		made_up[i].ahead = signed_below(1000000000);
		made_up[i].rate = signed_below(100000);
		made_up[i].then =
			step ? made_up[i].rate + signed_below(100000) :
			       made_up[i].rate;
	}
}

static struct clocks *align(u32 hosts, u32 drift)
{
	struct clocks *c = clocks_new(hosts, drift);
	size_t i;

	for (i = 0; i < nr; i++)
		clocks_message(c, messages[i].from,
			       shown(messages[i].from, messages[i].sent),
			       messages[i].to,
			       shown(messages[i].to, messages[i].received));
	clocks_finish(c);
	return c;
}

/* When a host's first message was, and its last one */
static void find_ends(u32 host, s64 *first, s64 *last)
{
	size_t i;

	*first = INT64_MAX;
	*last = 0;
	for (i = 0; i < nr; i++) {
		const struct message *m = &messages[i];
		s64 time = m->from == host ? m->sent : m->received;

		if (m->from != host && m->to != host)
			continue;
		*first = time < *first ? time : *first;
		*last = time > *last ? time : *last;
	}
}

/* The bound holds at any time, in the middle of the trace and outside of it */
static void check_bounds(const struct clocks *c, u32 hosts)
{
	s64 first, final;
	u32 host;
	int i;

	for (host = 0; host < hosts; host++) {
		u64 last = 0;

		find_ends(host, &first, &final);

		for (i = -200; i < 2200; i++) {
			s64 time = BEGIN + LENGTH / 2000 * i, common;
			u64 bound;

			expect(clocks_to_reference(c, host, shown(host, time),
						   &common, &bound));
			expect((u64)llabs(common - time) <= bound,
			       ": host %u is wrong by %lld, bound %llu", host,
			       (long long)(common - time),
			       (unsigned long long)bound);
			expect((u64)common > last);
			last = common;
			if (time >= first && time <= final)
				expect(bound <= clocks_get(c, host)->worst);
		}
	}
}

/* Of the first messages */
static void check_causes_of(const struct clocks *c, size_t count)
{
	s64 sent, received;
	u64 bound;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct message *m = &messages[i];

		expect(clocks_common(c, m->from, shown(m->from, m->sent), &sent,
				     &bound));
		expect(clocks_common(c, m->to, shown(m->to, m->received),
				     &received, &bound));
		expect(sent <= received,
		       ": received %lld ns before it was sent",
		       (long long)(sent - received));
	}
}

static void check_causes(const struct clocks *c)
{
	check_causes_of(c, nr);
}

/* The mean drift of a host between the first and the last message */
static void check_drift(const struct clocks *c, u32 host, bool step)
{
	const struct clock *clock = clocks_get(c, host);
	double drift = (made_up[host].rate + made_up[host].then) / 2e3;

	/* Messages may not restrict the clock enough to show a small step */
	if (!step)
		ck_assert(clock->steady);
	else if (llabs(made_up[host].rate - made_up[host].then) > 30000)
		ck_assert(!clock->steady);
	if (!step)
		ck_assert_double_le(fabs(drift - clock->drift),
				    clock->drift_bound);
	/* Messages do not begin and end at once */
	else if (!clock->steady)
		ck_assert_double_le(fabs(drift - clock->drift),
				    clock->drift_bound + 1);
	ck_assert_double_lt(clock->drift_bound, 20);
}

/* Each of the pairs, in turn at random times: densely, and after silence */
static void ask_pairs(const u32 (*pair)[2], u32 pairs)
{
	s64 time;

	for (time = BEGIN; time < BEGIN + LENGTH;
	     time += below(100) ? below(8000000) : below(500000000)) {
		u32 i = below(pairs);

		ask(pair[i][0], pair[i][1], time);
	}
}

/* Two hosts; either one asks */
START_TEST(two)
{
	static const u32 pairs[][2] = { { 0, 1 }, { 1, 0 } };
	const struct clock *clock;
	struct clocks *c;

	make_up(_i, 2, _i % 2);
	ask_pairs(pairs, 1 + _i % 3 % 2);
	c = align(2, CLOCKS_DRIFT);
	clock = clocks_get(c, 1);
	ck_assert_int_eq(clocks_get(c, 0)->state, CLOCK_REFERENCE);
	ck_assert_int_eq(clock->state, CLOCK_ALIGNED);
	ck_assert_uint_eq(clock->messages, nr);
	check_bounds(c, 2);
	check_causes(c);
	check_drift(c, 1, _i % 2);
	ck_assert_uint_le(clock->bound, shortest_wait / 2);
	ck_assert_uint_le(clock->bound, shortest / 2 + 10);
	clocks_free(c);
}
END_TEST

/* Those further away are compared over others, and the shortest way counts */
START_TEST(chain)
{
	static const u32 pairs[][2] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 1 } };
	struct clocks *c;
	u32 hosts = 3 + _i % 2, i;

	make_up(_i, hosts, true);
	ask_pairs(pairs, hosts == 3 ? 2 : 4);
	c = align(hosts, CLOCKS_DRIFT);
	for (i = 1; i < hosts; i++) {
		ck_assert_int_eq(clocks_get(c, i)->state, CLOCK_ALIGNED);
		check_drift(c, i, true);
	}
	check_bounds(c, hosts);
	check_causes(c);
	ck_assert_uint_le(clocks_get(c, 1)->bound, shortest_wait / 2);
	ck_assert_uint_gt(clocks_get(c, 2)->bound, clocks_get(c, 1)->bound);
	clocks_free(c);
}
END_TEST

/* A tighter limit of the drift makes tighter bounds, if it is true */
START_TEST(limit)
{
	static const u32 pairs[][2] = { { 0, 1 } };
	struct clocks *tight, *wide;

	make_up(_i, 2, false);
	ask_pairs(pairs, 1);
	tight = align(2, 101);
	wide = align(2, CLOCKS_MAX_DRIFT);
	check_bounds(tight, 2);
	check_causes(tight);
	check_bounds(wide, 2);
	check_causes(wide);
	ck_assert_uint_lt(2 * clocks_get(tight, 1)->worst,
			  clocks_get(wide, 1)->worst);
	clocks_free(tight);
	clocks_free(wide);
}
END_TEST

/* Enough messages that those without information are dropped early */
START_TEST(many)
{
	struct clocks *c;
	s64 time;

	make_up(_i, 2, true);
	for (time = BEGIN; time < BEGIN + LENGTH; time += below(200000))
		ask(0, 1, time);
	ck_assert_uint_gt(nr, 300000);
	c = align(2, CLOCKS_DRIFT);
	check_bounds(c, 2);
	check_causes(c);
	ck_assert_uint_le(clocks_get(c, 1)->bound, shortest_wait / 2);
	clocks_free(c);
}
END_TEST

/* A clock that was set, or stood still, is reported; the others are aligned nevertheless */
START_TEST(contradiction)
{
	static const u32 pairs[][2] = { { 0, 1 }, { 1, 2 }, { 3, 0 } };
	struct clocks *c;
	size_t i;

	make_up(_i, 4, true);
	ask_pairs(pairs, 3);
	c = clocks_new(4, CLOCKS_DRIFT);
	for (i = 0; i < nr; i++) {
		const struct message *m = &messages[i];
		u64 sent = shown(m->from, m->sent),
		    received = shown(m->to, m->received);

		if (m->from == 3 && m->sent > STEP)
			sent += 100000000;
		if (m->to == 3 && m->received > STEP)
			received += 100000000;
		clocks_message(c, m->from, sent, m->to, received);
	}
	clocks_finish(c);
	ck_assert_int_eq(clocks_get(c, 0)->state, CLOCK_REFERENCE);
	ck_assert_int_eq(clocks_get(c, 1)->state, CLOCK_ALIGNED);
	ck_assert_int_eq(clocks_get(c, 2)->state, CLOCK_ALIGNED);
	ck_assert_int_eq(clocks_get(c, 3)->state, CLOCK_CONTRADICTS);
	check_bounds(c, 3);
	clocks_free(c);
	/* 400 ppm apart, with a maximum drift of 100 */
	made_up[1].rate = made_up[1].then = 400000;
	c = align(4, 100);
	ck_assert_int_eq(clocks_get(c, 1)->state, CLOCK_CONTRADICTS);
	clocks_free(c);
	c = align(4, 500);
	ck_assert_int_eq(clocks_get(c, 1)->state, CLOCK_ALIGNED);
	clocks_free(c);
}
END_TEST

/* No pair contradicts itself, but the three of them do: A is ahead of B, B of C, C of A */
START_TEST(circle)
{
	struct clocks *c = clocks_new(3, 500);
	s64 time, common;
	u64 bound;
	u32 i;

	for (time = BEGIN; time < BEGIN + LENGTH; time += 1000000) {
		for (i = 0; i < 3; i++) {
			u32 to = (i + 1) % 3;

			clocks_message(c, i, time, to, time + 10000 - 50000);
			clocks_message(c, to, time, i, time + 10000 + 50000);
		}
	}
	clocks_finish(c);
	ck_assert_int_eq(clocks_get(c, 0)->state, CLOCK_REFERENCE);
	ck_assert_int_eq(clocks_get(c, 1)->state, CLOCK_CONTRADICTS);
	ck_assert_int_eq(clocks_get(c, 2)->state, CLOCK_CONTRADICTS);
	ck_assert(!clocks_to_reference(c, 1, BEGIN, &common, &bound));
	clocks_free(c);
}
END_TEST

/* Hosts without messages, with some one way, and two that are among themselves */
START_TEST(apart)
{
	static const u32 pairs[][2] = { { 3, 4 } };
	struct clocks *c;
	s64 common;
	u64 bound;

	make_up(0, 5, false);
	ask_pairs(pairs, 1);
	say(0, BEGIN, 2, BEGIN + 1000);
	c = align(5, CLOCKS_DRIFT);
	ck_assert_int_eq(clocks_get(c, 0)->state, CLOCK_REFERENCE);
	ck_assert_int_eq(clocks_get(c, 1)->state, CLOCK_ALONE);
	ck_assert_int_eq(clocks_get(c, 2)->state, CLOCK_ONE_WAY);
	ck_assert_int_eq(clocks_get(c, 3)->state, CLOCK_REFERENCE);
	ck_assert_int_eq(clocks_get(c, 4)->state, CLOCK_ALIGNED);
	ck_assert_uint_eq(clocks_get(c, 4)->reference, 3);
	check_causes_of(c, nr - 1);
	ck_assert(!clocks_to_reference(c, 1, BEGIN, &common, &bound));
	ck_assert(!clocks_to_reference(c, 2, BEGIN, &common, &bound));
	ck_assert(!clocks_to_reference(c, 3, BEGIN, &common, &bound));
	ck_assert(!clocks_to_reference(c, 4, BEGIN, &common, &bound));
	ck_assert(clocks_common(c, 4, BEGIN, &common, &bound));
	ck_assert(clocks_to_reference(c, 0, BEGIN, &common, &bound));
	ck_assert_int_eq(common, BEGIN);
	ck_assert_uint_eq(bound, 0);
	clocks_free(c);
}
END_TEST

/* One way each is enough, if it is round */
START_TEST(round_trip)
{
	struct clocks *c;
	s64 time;

	make_up(_i, 3, true);
	for (time = BEGIN; time < BEGIN + LENGTH; time += 1000000) {
		say(0, time, 1, time + travel());
		say(1, time, 2, time + travel());
		say(2, time, 0, time + travel());
	}
	c = align(3, CLOCKS_DRIFT);
	ck_assert_int_eq(clocks_get(c, 1)->state, CLOCK_ALIGNED);
	ck_assert_int_eq(clocks_get(c, 2)->state, CLOCK_ALIGNED);
	check_bounds(c, 3);
	check_causes(c);
	clocks_free(c);
}
END_TEST

/* Any numbers: a result, and no overflow */
START_TEST(damage)
{
	struct clocks *c;
	s64 common;
	u64 bound;
	int i, j;

	seed = SEED + _i;
	c = clocks_new(4, 1 + below(CLOCKS_MAX_DRIFT));
	for (i = 0; i < 1000; i++)
		clocks_message(c, below(4), rnd() >> below(64), below(4),
			       rnd() >> below(64));
	clocks_finish(c);
	for (i = 0; i < 4; i++) {
		for (j = 0; j < 100; j++)
			clocks_common(c, i, rnd() >> below(64), &common,
				      &bound);
	}
	clocks_free(c);
}
END_TEST

static void restart(void)
{
	free(messages);
	messages = NULL;
	nr = room = 0;
}

static Suite *suite(void)
{
	Suite *s = suite_create("clocks");
	TCase *tc = tcase_create("clocks");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, restart, restart);
	tcase_add_loop_test(tc, two, 0, SEEDS);
	tcase_add_loop_test(tc, chain, 0, SEEDS);
	tcase_add_loop_test(tc, limit, 0, 4);
	tcase_add_loop_test(tc, many, 0, 2);
	tcase_add_loop_test(tc, contradiction, 0, 4);
	tcase_add_test(tc, circle);
	tcase_add_test(tc, apart);
	tcase_add_loop_test(tc, round_trip, 0, 4);
	tcase_add_loop_test(tc, damage, 0, SEEDS);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
