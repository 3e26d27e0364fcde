// SPDX-License-Identifier: GPL-2.0
/*
 * schedz collect and records in several datagrams: all parts of a record are delivered and
 * acknowledged together, or none.
 */
#include "random.h"
#include "sender.h"

/* The first part is not acknowledged before the last one has arrived, however it is asked */
START_TEST(a_part_is_not_acknowledged)
{
	struct collector_ledger l;
	struct stream *s = &stream[0];
	unsigned int i;

	large = true;
	begin(false);
	send_meta();
	send_beat(TRACECAST_GOES_ON);
	for (; s->sent < 2; s->sent++)
		send_data(0, s->sent);
	for (i = 0; i < 50; i++)
		pass_time();
	ck_assert_uint_eq(s->base, 0);
	get_ledger(&l);
	ck_assert_uint_eq(l.delivered, 0);
	ck_assert(collector_free(collector));
	begin_with(1 << 30);
	acked_generation = 0;
	send_data(0, s->sent++);
	for (i = 0; i < 50; i++)
		pass_time();
	ck_assert_uint_eq(s->base, 3);
	get_ledger(&l);
	ck_assert_uint_eq(l.delivered, 1);
	ck_assert_uint_eq(l.damaged, 0);
	ck_assert_uint_eq(l.wire_lost, 0);
	finish();
}
END_TEST

/*
 * A record in parts is acknowledged as a whole: whichever of its parts a collector had when it
 * ended, the next one gets all of them, or the sender has seen that the record is in a file.
 */
START_TEST(parts_are_acknowledged_together)
{
	struct collector_ledger l;
	unsigned int cpu, sent = 0;

	seed += _i;
	large = true;
	loss = networks[_i].loss;
	doubling = networks[_i].doubling;
	reordering = networks[_i].reordering;
	senders = 1 + _i % 2;
	keyed = _i / 2 % 2;
	begin(false);
	while (!all_sent()) {
		cpu = rnd() % CPUS;
		if (stream[cpu].sent < stream[cpu].datagrams &&
		    stream[cpu].sent - stream[cpu].base < 30)
			send_data(cpu, stream[cpu].sent++);
		if (rnd() % 4 == 0)
			pass_time();
		/* Small numbers of files can be found */
		if (++sent % 3000)
			continue;
		ck_assert(collector_free(collector));
		begin_with(1 << 30);
		acked_generation = 0;
		pass_time();
	}
	run_until_acked();
	get_ledger(&l);
	ck_assert_uint_eq(l.damaged, 0);
	ck_assert_uint_eq(l.wire_lost, 0);
	ck_assert_uint_eq(l.ring_lost, ring_lost());
	ck_assert_uint_eq(l.earlier + l.delivered + l.ring_lost, made());
	/* Whatever was acknowledged before is in the files of the other collectors */
	ck_assert(collector_sync(collector));
	ck_assert_uint_eq(count_found() + l.ring_lost, made());
	finish();
}
END_TEST

/* What the sender has dropped of a record is not waited for, what it still has is */
START_TEST(parts_are_dropped)
{
	struct stream *s = &stream[0];
	struct collector_ledger l;
	bool comes = _i == 2;

	large = true;
	begin(false);
	send_meta();
	send_beat(TRACECAST_GOES_ON);
	for (; s->sent < 6; s->sent++) {
		if (s->sent != (unsigned int)_i)
			send_data(0, s->sent);
	}
	/* Three parts of two records each: one is missing, and two are dropped */
	s->base = 2;
	send_beat(TRACECAST_GOES_ON);
	get_ledger(&l);
	ck_assert_uint_eq(l.wire_lost, !comes);
	ck_assert_uint_eq(l.awaited, comes ? 2 : 0);
	if (comes)
		send_data(0, 2);
	pass_time();
	ck_assert(collector_sync(collector));
	get_ledger(&l);
	ck_assert_uint_eq(s->base, 6);
	ck_assert_uint_eq(l.delivered, 1 + comes);
	ck_assert_uint_eq(l.wire_lost, !comes);
	ck_assert_uint_eq(l.awaited, 0);
	ck_assert_uint_eq(l.damaged, 0);
	finish();
}
END_TEST

/*
 * In a panic all is sent twice, and then there are heartbeats, several of them for many CPUs: what
 * lacks in a record may come until the collector waits no more
 */
START_TEST(parts_come_again_in_a_panic)
{
	struct stream *s = &stream[0];
	bool stops = _i == 2, comes = _i != 1;
	struct collector_ledger l;
	unsigned int i;

	large = true;
	begin(false);
	send_meta();
	send_beat(TRACECAST_GOES_ON);
	/* The third record has no END, where the panic was in the middle of it */
	for (; s->sent < (stops ? 8 : 6); s->sent++) {
		if (s->sent != 2)
			send_data(0, s->sent);
	}
	s->base = 2;
	send_beat(TRACECAST_PANIC);
	send_beat(TRACECAST_PANIC);
	get_ledger(&l);
	ck_assert_uint_eq(l.wire_lost, 0);
	if (comes)
		send_data(0, 2);
	for (i = 0; i < 1000; i++) {
		now += 20;
		collector_tick(collector, now);
	}
	get_ledger(&l);
	ck_assert_uint_eq(l.over, TRACECAST_PANIC);
	ck_assert_uint_eq(l.delivered, 1 + comes);
	ck_assert_uint_eq(l.wire_lost, !comes);
	ck_assert_uint_eq(l.awaited, 0);
	ck_assert_uint_eq(l.damaged, 0);
	finish();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("receive_parts");
	TCase *t = tcase_create("receive_parts");

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, reset_sender, NULL);
	tcase_add_test(t, a_part_is_not_acknowledged);
	tcase_add_loop_test(t, parts_are_acknowledged_together, 0, NETWORKS);
	tcase_add_loop_test(t, parts_are_dropped, 0, 3);
	tcase_add_loop_test(t, parts_come_again_in_a_panic, 0, 3);
	suite_add_tcase(s, t);
	return run_suite(s);
}
