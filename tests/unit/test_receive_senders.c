// SPDX-License-Identifier: GPL-2.0
/*
 * schedz collect with several senders in a session: there is one file, and one ledger; see
 * also test_receive.c.
 */
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "sender.h"

/* Senders with an address each make one file, on all networks, without and with a key */
START_TEST(senders_are_one_session)
{
	unsigned int n = _i % NETWORKS;
	struct collector_ledger l;

	seed += _i;
	senders = CPUS;
	keyed = (unsigned int)_i > n;
	loss = networks[n].loss;
	doubling = networks[n].doubling;
	reordering = networks[n].reordering;
	begin(false);
	if (keyed)
		be_answered();
	send_all(networks[n].window);
	run_until_acked();
	check_all_there();
	ck_assert_uint_eq(nr_paths, 1);
	get_ledger(&l);
	ck_assert_uint_eq(l.senders, CPUS);
	ck_assert_uint_eq(l.silent, 0);
	finish();
}
END_TEST

/* Nothing of a sender arrives: the first one says at the end what there was */
START_TEST(a_silent_sender_is_reported)
{
	struct collector_ledger l;
	unsigned int i;

	senders = CPUS;
	muted = 1;
	begin(false);
	stream[1].sent = stream[1].datagrams = 50;
	for (i = 0; i < 50; i++)
		send_data(1, i);
	send_all(100);
	for (i = 0; i < 500; i++)
		pass_time();
	get_ledger(&l);
	ck_assert_uint_eq(l.generated, stream[0].before[stream[0].datagrams]);
	ck_assert_uint_eq(l.silent, 1);
	check_printed("unknown: records of 1 of 2 senders");
	send_beat(TRACECAST_OVER);
	for (i = 0; i < 200; i++) {
		now += 20;
		collector_tick(collector, now);
	}
	get_ledger(&l);
	ck_assert_uint_eq(l.over, TRACECAST_OVER);
	ck_assert_uint_eq(l.silent, 0);
	ck_assert_uint_eq(l.awaited, 0);
	ck_assert_uint_eq(l.generated, made());
	ck_assert_uint_eq(l.wire_lost,
			  stream[1].before[50] - stream[1].lost[50]);
	finish();
}
END_TEST

/* Other sessions, until none of before is left */
static void fill_table(void)
{
	uint8_t b[TRACECAST_BEAT_HEADER] = { 0 };
	struct tracecast_beat beat = { 1, 0, 0 };
	unsigned int i;

	for (i = 0; i < 300; i++) {
		/* Answered, and then there */
		tracecast_put_beat(b, i, &beat);
		transmit(b, sizeof(b));
		transmit(b, sizeof(b));
		now += 6000;
	}
}

/* What the second sender sent up to some time */
static void play_second(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (taped[i].bytes[3] >> TRACECAST_KIND_BITS == 1)
			arrive(taped[i].bytes, taped[i].len);
	}
}

/* When the first one is back in a session that was forgotten, the other has to be answered */
START_TEST(a_forgotten_sender_does_not_begin_again)
{
	struct collector_ledger l;
	unsigned int n;

	senders = CPUS;
	keyed = true;
	taped = calloc(TAPED, sizeof(*taped));
	ck_assert_ptr_nonnull(taped);
	begin(false);
	be_answered();
	send_all(100);
	run_until_acked();
	n = nr_taped;
	hostile = true;
	fill_table();
	check_printed("forgotten: 45 old sessions");
	send_beat_of(TRACECAST_GOES_ON, 1);
	send_beat_of(TRACECAST_GOES_ON, 1);
	send_meta();
	play_second(n);
	ck_assert(collector_ledger(collector, 255, &l));
	ck_assert_uint_eq(l.senders, CPUS);
	ck_assert_uint_eq(l.datagrams, 0);
	ck_assert_uint_eq(l.silent, 1);
	/* The sender itself is heard again as soon as it is answered */
	seal_heard[1] = 0;
	be_answered();
	send_beat(TRACECAST_GOES_ON);
	ck_assert(collector_ledger(collector, 255, &l));
	ck_assert_uint_eq(l.silent, 0);
	free(taped);
	taped = NULL;
	finish();
}
END_TEST

/* There are no more senders than the metadata says */
START_TEST(other_senders_are_damaged)
{
	uint8_t b[TRACECAST_BEAT_HEADER];
	struct tracecast_beat beat = { meta_generation, 0, 0 };
	struct collector_ledger l;

	senders = CPUS;
	begin(false);
	send_all(100);
	run_until_acked();
	tracecast_put_beat(b, SESSION, &beat);
	tracecast_put_sender(b, CPUS);
	arrive(b, sizeof(b));
	get_ledger(&l);
	ck_assert_uint_eq(l.damaged, 1);
	check_all_there();
	finish();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("receive_senders");
	TCase *t = tcase_create("receive_senders");

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, reset_sender, NULL);
	tcase_add_loop_test(t, senders_are_one_session, 0, 2 * NETWORKS);
	tcase_add_test(t, a_silent_sender_is_reported);
	tcase_add_test(t, a_forgotten_sender_does_not_begin_again);
	tcase_add_test(t, other_senders_are_damaged);
	suite_add_tcase(s, t);
	return run_suite(s);
}
