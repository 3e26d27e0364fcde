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

int main(void)
{
	Suite *s = suite_create("receive_senders");
	TCase *t = tcase_create("receive_senders");

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, reset_sender, NULL);
	tcase_add_loop_test(t, senders_are_one_session, 0, 2 * NETWORKS);
	tcase_add_test(t, a_silent_sender_is_reported);
	suite_add_tcase(s, t);
	return run_suite(s);
}
