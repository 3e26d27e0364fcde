// SPDX-License-Identifier: GPL-2.0
/*
 * schedz collect, with any behaviour of sender and network: the files have exactly the
 * records that the ledger says, and libtracecmd reads them.
 */
#include <inttypes.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <trace-cmd.h>

#include "memory.h"
#include "random.h"
#include "sender.h"

/* For now there is only a part of the datagrams, which ends with a whole record */
static void cut(unsigned int by)
{
	unsigned int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		struct stream *s = &stream[cpu];

		s->datagrams /= by;
		while (s->before[s->datagrams] == s->before[s->datagrams - 1])
			s->datagrams++;
	}
}

START_TEST(everything_arrives)
{
	seed += _i;
	loss = networks[_i].loss;
	doubling = networks[_i].doubling;
	reordering = networks[_i].reordering;
	begin(false);
	send_all(networks[_i].window);
	run_until_acked();
	check_all_there();
	ck_assert_uint_eq(nr_paths, 1);
	/* The name of the host did not lead out of the directory */
	ck_assert(strstr(paths[0], "/_._rig_7-1234567890abcdef.0.dat"));
	finish();
}
END_TEST

static const struct tracecast_last_boot left_by = {
	.session = 0xfedcba9876543210ULL,
	.text_delta = -0x200000,
	.data_delta = 0x7fffffffffffffffLL,
	.damaged = 0xffffffff,
};

/* In files of its own, and its ledger says which boot's it is */
START_TEST(the_last_boot_is_marked)
{
	struct json_object *o, *last, *value;

	last_boot = &left_by;
	begin(false);
	send_all(100);
	run_until_acked();
	check_all_there();
	ck_assert_uint_eq(nr_paths, 1);
	ck_assert(strstr(paths[0], "-1234567890abcdef-last-boot.0.dat"));
	o = json_object_from_file(ledger_path());
	ck_assert(json_object_object_get_ex(o, "last_boot", &last));
	ck_assert(json_object_object_get_ex(last, "session", &value));
	ck_assert_str_eq(json_object_get_string(value), "fedcba9876543210");
	ck_assert(json_object_object_get_ex(last, "text_delta", &value));
	ck_assert_int_eq(json_object_get_int64(value), left_by.text_delta);
	ck_assert(json_object_object_get_ex(last, "data_delta", &value));
	ck_assert_int_eq(json_object_get_int64(value), left_by.data_delta);
	ck_assert(json_object_object_get_ex(last, "damaged_cpus", &value));
	ck_assert_int_eq(json_object_get_int64(value), left_by.damaged);
	json_object_put(o);
	finish();
}
END_TEST

/* The sender retransmits the datagrams for which the collector had no memory */
START_TEST(nothing_is_lost_without_memory)
{
	struct collector_ledger l;

	seed += _i;
	loss = reordering = 50 * (_i % 2);
	starved = true;
	large = _i / 2 % 2;
	begin(false);
	send_all(100);
	run_until_acked();
	check_all_there();
	get_ledger(&l);
	ck_assert_uint_gt(l.dropped, 0);
	ck_assert_uint_eq(l.damaged, 0);
	finish();
}
END_TEST

/* As without a key, on all networks */
START_TEST(everything_arrives_with_a_key)
{
	seed += _i;
	keyed = true;
	loss = networks[_i].loss;
	doubling = networks[_i].doubling;
	reordering = networks[_i].reordering;
	begin(false);
	be_answered();
	send_all(networks[_i].window);
	run_until_acked();
	check_all_there();
	ck_assert_uint_eq(nr_paths, 1);
	check_printed("refused: ");
	finish();
}
END_TEST

/* Without the key, no session begins, and none that has begun is disturbed */
START_TEST(others_are_refused_with_a_key)
{
	static const siphash_key_t other = { { 1, 2 } };
	struct collector_ledger l;
	uint64_t answers;
	char refused[64];

	keyed = true;
	begin(false);
	keyed = false;
	send_meta();
	send_beat(TRACECAST_GOES_ON);
	keyed = true;
	ck_assert_str_eq(last_note, "session 1234567890abcdef: refused: "
				    "the sender has no key; "
				    "write it to its target's file key");
	sender_key = &other;
	send_beat(TRACECAST_GOES_ON);
	ck_assert_str_eq(last_note, "session 1234567890abcdef: refused: "
				    "the sender has another key");
	ck_assert(!collector_ledger(collector, 0, &l));
	ck_assert_uint_eq(bytes_out, 0);
	sender_key = &key;
	be_answered();
	send_meta();
	send_beat(TRACECAST_GOES_ON);
	send_all(100);
	run_until_acked();
	/* Now one that says that all is lost, and is the last one */
	answers = bytes_out;
	sender_key = &other;
	send_beat(TRACECAST_PANIC);
	keyed = false;
	send_beat(TRACECAST_PANIC);
	keyed = true;
	ck_assert_uint_eq(bytes_out, answers);
	get_ledger(&l);
	ck_assert_int_eq(l.over, TRACECAST_GOES_ON);
	snprintf(refused, sizeof(refused),
		 "refused: %u datagrams without a key",
		 (meta_len + 399) / 400 + 2);
	check_printed(refused);
	check_printed("refused: 2 datagrams with another key");
	sender_key = &key;
	check_all_there();
	finish();
}
END_TEST

/* A collector without one says so */
START_TEST(a_key_is_missed)
{
	struct collector_ledger l;

	begin(false);
	keyed = true;
	send_beat(TRACECAST_GOES_ON);
	keyed = false;
	ck_assert_str_eq(last_note, "session 1234567890abcdef: "
				    "refused: the sender has a key; "
				    "give it with --key-file");
	ck_assert(!collector_ledger(collector, 0, &l));
	finish();
}
END_TEST

/* Datagrams of the sender, sent again by other programs from other addresses */
static void play_tape(void)
{
	in_port_t port = sender.sin_port;
	unsigned int i, n = nr_taped;

	sender.sin_port = htons(1);
	hostile = true;
	for (i = 0; i < n; i++) {
		arrive(taped[i].bytes, taped[i].len);
		if (i % 50 == 0) {
			now += 20;
			collector_tick(collector, now);
		}
	}
	hostile = false;
	sender.sin_port = port;
}

/* Neither the collector that had it nor its successor accepts it again */
START_TEST(repeated_datagrams_are_refused)
{
	struct collector_ledger l, m;

	keyed = true;
	taped = calloc(TAPED, sizeof(*taped));
	ck_assert_ptr_nonnull(taped);
	begin(false);
	be_answered();
	send_all(100);
	run_until_acked();
	ck_assert_uint_lt(nr_taped, TAPED);
	get_ledger(&l);
	play_tape();
	get_ledger(&m);
	ck_assert_uint_eq(m.datagrams, l.datagrams);
	ck_assert_uint_eq(m.again, l.again);
	ck_assert_uint_eq(m.generated, l.generated);
	check_all_there();
	ck_assert(collector_free(collector));
	begin_with(1 << 30);
	play_tape();
	ck_assert(!collector_ledger(collector, 0, &l));
	find_files();
	ck_assert_uint_eq(nr_paths, 1);
	free(taped);
	taped = NULL;
	finish();
}
END_TEST

/* A number after which there could be no other one is refused */
START_TEST(seals_have_successors)
{
	keyed = true;
	begin(false);
	be_answered();
	seal_number[0] = UINT64_MAX - 1;
	send_beat(TRACECAST_GOES_ON);
	check_printed("refused: 1 datagrams that had arrived before");
	seal_number[0] = seal_echoed[0];
	send_all(100);
	run_until_acked();
	check_all_there();
	finish();
}
END_TEST

/* One that was forgotten does not begin again */
START_TEST(forgotten_sessions_stay_so_with_a_key)
{
	uint8_t b[TRACECAST_BEAT_HEADER] = { 0 };
	struct tracecast_beat beat = { 1, 0, 0 };
	unsigned int i;

	keyed = hostile = true;
	taped = calloc(TAPED, sizeof(*taped));
	ck_assert_ptr_nonnull(taped);
	begin(false);
	for (i = 0; i < 300; i++) {
		/* Answered, and then there */
		tracecast_put_beat(b, i, &beat);
		transmit(b, sizeof(b));
		transmit(b, sizeof(b));
		now += 6000;
	}
	check_printed("forgotten: 44 old sessions");
	play_tape();
	check_printed("forgotten: 44 old sessions");
	free(taped);
	taped = NULL;
	finish();
}
END_TEST

/*
 * Others have filled all memory with sessions that never begin: what there is goes to
 * who needs less, and these sessions are forgotten when they were silent for long.
 */
START_TEST(memory_runs_out)
{
#ifndef __SANITIZE_ADDRESS__
	const struct rlimit limit = { 256 << 20, 256 << 20 };
	struct tracecast_meta h = { 1, TRACECAST_META_MAX, 0 };
	uint8_t b[TRACECAST_META_HEADER + 1] = { 0 };
	struct reading r[CPUS];
	unsigned int i;

	begin(false);
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
	for (i = 0; i < 100; i++) {
		tracecast_put_meta(b, i, &h);
		transmit(b, sizeof(b));
	}
	ck_assert(strstr(last_note, "out of memory"));
	check_printed("dropped: 1 datagrams, for lack of memory");
	send_all(100);
	run_until_acked();
	pass_time();
	read_all(r);
	ck_assert_uint_eq(r[0].records + r[1].records, CPUS * RECORDS);
	/* One that is dropped now has an old one forgotten */
	now += 6000;
	tracecast_put_meta(b, i, &h);
	transmit(b, sizeof(b));
	pass_time();
	check_printed("forgotten: 1 ");
	finish();
#endif
}
END_TEST

/* Nothing is sent again: each record is in the file, or counted */
START_TEST(losses_are_counted)
{
	struct collector_ledger l;
	struct reading r[CPUS];
	unsigned int i;

	seed += _i;
	deaf = true;
	reordering = 100 * (_i % 2);
	begin(false);
	send_meta();
	while (nr_pending)
		release_one(0);
	send_beat(TRACECAST_GOES_ON);
	while (nr_pending)
		release_one(0);
	loss = 100;
	send_all(0);
	while (nr_pending)
		release_one(0);
	get_ledger(&l);
	ck_assert_uint_gt(l.awaited, 0);
	loss = 0;
	/* Datagrams that are still missing at the end of the session are lost */
	reordering = 0;
	send_beat(TRACECAST_OVER);
	for (i = 0; i < 200; i++) {
		now += 20;
		collector_tick(collector, now);
	}
	get_ledger(&l);
	ck_assert(l.over);
	ck_assert_uint_eq(l.awaited, 0);
	ck_assert_uint_eq(l.generated, made());
	ck_assert_uint_gt(l.wire_lost, 100);
	/* Where records of lost datagrams were is not known */
	read_all(r);
	ck_assert_uint_eq(r[0].records + r[1].records, l.delivered);
	ck_assert_uint_eq(l.generated - l.delivered, l.ring_lost + l.wire_lost);
	/* Datagrams that arrive later are not counted for another session */
	send_beat(TRACECAST_OVER);
	check_printed("\nignored: 0 foreign datagrams\nlate: 1 ");
	finish();
}
END_TEST

/* The value in the ledger's file */
static uint64_t in_file(const char *key)
{
	struct json_object *o = json_object_from_file(ledger_path()), *value;
	uint64_t n;

	ck_assert_ptr_nonnull(o);
	ck_assert(json_object_object_get_ex(o, key, &value));
	n = json_object_get_uint64(value);
	json_object_put(o);
	return n;
}

static const struct {
	enum tracecast_last last;
	unsigned int cpus; /* that send their number of records */
	unsigned int percent; /* of the records that are sent */
	unsigned int unknown;
} panics[] = {
	{ TRACECAST_PANIC, CPUS, 100, 0 },
	{ TRACECAST_PANIC, CPUS, 60, 0 },
	{ TRACECAST_PANIC, 1, 100, CPUS - 1 },
	{ TRACECAST_PANIC_SOME, CPUS, 80, CPUS },
};

#define NR_PANICS (sizeof(panics) / sizeof(*panics))

/* The sender waits for no answer: it sends everything twice, then the number of records */
START_TEST(a_panic_is_reported)
{
	struct collector_ledger l;
	struct reading r[CPUS];
	unsigned int i, cpu, from, to;

	seed += _i;
	senders = 1 + _i / NR_PANICS;
	begin(false);
	cut(2);
	send_all(100);
	run_until_acked();
	deaf = true;
	loss = 400;
	for (cpu = 0; cpu < CPUS; cpu++) {
		while (stream[cpu].before[stream[cpu].datagrams + 1])
			stream[cpu].datagrams++;
		to = stream[cpu].sent +
		     (stream[cpu].datagrams - stream[cpu].sent) *
			     panics[_i % NR_PANICS].percent / 100;
		from = stream[cpu].sent;
		stream[cpu].sent = to;
		for (i = from; i < to; i++)
			send_data(cpu, i);
		/* Again, after a while */
		now += 500;
		collector_tick(collector, now);
		for (i = from; i < to; i++)
			send_data(cpu, i);
	}
	while (nr_pending)
		release_one(0);
	loss = 0;
	send_beat_of(panics[_i % NR_PANICS].last, panics[_i % NR_PANICS].cpus);
	while (nr_pending)
		release_one(0);
	for (i = 0; i < 200; i++) {
		now += 20;
		collector_tick(collector, now);
	}
	get_ledger(&l);
	ck_assert_uint_eq(l.over, panics[_i % NR_PANICS].last);
	ck_assert_uint_eq(l.awaited, 0);
	ck_assert_uint_eq(l.unknown, panics[_i % NR_PANICS].unknown);
	ck_assert_uint_gt(l.wire_lost, 0);
	if (panics[_i % NR_PANICS].cpus == CPUS)
		ck_assert_uint_eq(l.generated + l.behind, made());
	if (panics[_i % NR_PANICS].percent == 100)
		ck_assert_uint_eq(l.behind, 0);
	else
		ck_assert_uint_gt(l.behind, 0);
	read_all(r);
	ck_assert_uint_eq(r[0].records + r[1].records, l.delivered);
	ck_assert_uint_eq(in_file("generated"), l.generated);
	ck_assert_uint_eq(in_file("delivered"), l.delivered);
	ck_assert_uint_eq(in_file("lost_on_wire"), l.wire_lost);
	ck_assert_uint_eq(in_file("behind"), l.behind);
	ck_assert_uint_eq(in_file("unknown_cpus"), l.unknown);
	finish();
}
END_TEST

/* A collector that starts late gets the records that the sender still has */
START_TEST(another_collector_goes_on)
{
	struct collector_ledger l, m;
	struct reading r[CPUS];

	loss = 50;
	senders = 1 + _i;
	begin(false);
	cut(2);
	send_all(50);
	run_until_acked();
	get_ledger(&l);
	ck_assert(collector_free(collector));
	now += 100000;
	begin_with(1 << 30);
	acked_generation = 0;
	while (stream[0].before[stream[0].datagrams + 1])
		stream[0].datagrams++;
	while (stream[1].before[stream[1].datagrams + 1])
		stream[1].datagrams++;
	send_all(50);
	run_until_acked();
	get_ledger(&m);
	read_all(r);
	ck_assert_uint_eq(nr_paths, 2);
	/* It knows the number of earlier records; lost ones stay lost */
	ck_assert_uint_eq(l.earlier, 0);
	ck_assert_uint_eq(m.generated, made());
	ck_assert_uint_eq(m.earlier, l.delivered);
	ck_assert_uint_eq(m.ring_lost, ring_lost());
	ck_assert_uint_ge(m.wire_lost, l.wire_lost);
	check_printed("before this collector");
	ck_assert_uint_eq(r[0].records + r[1].records,
			  l.delivered + m.delivered);
	ck_assert_uint_eq(m.wire_lost, 0);
	collector_sync(collector);
	now += 2000;
	collector_tick(collector, now);
	ck_assert_uint_eq(in_file("generated"), m.generated);
	ck_assert_uint_eq(in_file("earlier"), m.earlier);
	ck_assert_uint_eq(in_file("lost_on_wire"), m.wire_lost);
	finish();
}
END_TEST

/* An event that metadata does not describe waits until it does */
START_TEST(formats_come_before_records)
{
	struct collector_ledger l;
	unsigned int i;

	begin(true);
	send_meta();
	send_beat(TRACECAST_GOES_ON);
	while (!all_sent()) {
		unsigned int cpu = all_sent()				? 0 :
				   stream[0].sent < stream[0].datagrams ? 0 :
									  1;

		send_data(cpu, stream[cpu].sent++);
	}
	for (i = 0; i < 10; i++)
		collector_tick(collector, now += 20);
	get_ledger(&l);
	ck_assert_uint_gt(l.awaited, RECORDS / 2);
	make_meta(true);
	run_until_acked();
	check_all_there();
	ck_assert_uint_eq(nr_paths, 2);
	finish();
}
END_TEST

/* Another file when one is full: the smallest has 2 MiB for each CPU, and room for more */
START_TEST(files_are_rotated)
{
	large = true;
	loss = 20;
	begin(false);
	ck_assert(collector_free(collector));
	begin_with(1);
	send_all(100);
	run_until_acked();
	check_all_there();
	ck_assert_uint_eq(nr_paths, 4);
	finish();
}
END_TEST

/* No room on the disk: nothing is acknowledged that is not in the file */
START_TEST(a_full_disk_is_waited_for)
{
	struct rlimit limit = { 300000, RLIM_INFINITY };
	struct collector_ledger l;
	unsigned int i;

	signal(SIGXFSZ, SIG_IGN);
	loss = 20;
	begin(false);
	/* Room for the file's header only: not even for the offsets of the CPUs */
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (i = 0; i < 2000; i++) {
		unsigned int cpu = i % CPUS;

		if (stream[cpu].sent < 50)
			send_data(cpu, stream[cpu].sent++);
		pass_time();
	}
	get_ledger(&l);
	ck_assert_uint_eq(l.delivered, 0);
	ck_assert_uint_eq(stream[0].base + stream[1].base, 0);
	ck_assert(strstr(last_note, "has to wait"));
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	send_all(50);
	run_until_acked();
	check_all_there();
	finish();
}
END_TEST

/* Records that are not in the file are not delivered, whenever the collector ends */
START_TEST(a_full_disk_has_no_more_than_is_reported)
{
	struct rlimit limit = { 300000, RLIM_INFINITY };
	struct collector_ledger l, m;
	struct reading r[CPUS];
	unsigned int i, cpu;

	signal(SIGXFSZ, SIG_IGN);
	begin(false);
	cut(4);
	send_all(50);
	run_until_acked();
	get_ledger(&l);
	ck_assert_uint_gt(l.delivered, 0);
	for (cpu = 0; cpu < CPUS; cpu++) {
		while (stream[cpu].before[stream[cpu].datagrams + 1])
			stream[cpu].datagrams++;
	}
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (i = 0; i < 40; i++) {
		cpu = i % CPUS;
		send_data(cpu, stream[cpu].sent++);
		pass_time();
	}
	ck_assert(!collector_sync(collector));
	get_ledger(&m);
	ck_assert_uint_ge(m.delivered, l.delivered);
	ck_assert_uint_gt(m.awaited, 0);
	ck_assert(!collector_free(collector));
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	read_all(r);
	/* Some CPUs' may have been written when another's could not */
	ck_assert_uint_ge(r[0].records + r[1].records, m.delivered);
	ck_assert_uint_eq(in_file("delivered"), m.delivered);
	begin_with(1 << 30);
	finish();
}
END_TEST

/* One datagram with a forged address is not answered by a larger one */
START_TEST(answers_are_no_larger)
{
	unsigned int i;

	begin(false);
	send_meta();
	send_beat(TRACECAST_GOES_ON);
	loss = 900;
	send_all(20);
	loss = 0;
	while (nr_pending)
		release_one(0);
	/* Much is missing: datagrams from this address do not count for the other one */
	sender.sin_port = htons(1);
	bytes_in = bytes_out = 0;
	send_beat(TRACECAST_GOES_ON);
	while (nr_pending)
		release_one(0);
	for (i = 0; i < 500; i++) {
		now += 20;
		collector_tick(collector, now);
	}
	ck_assert_uint_gt(bytes_in, 0);
	ck_assert_uint_le(bytes_out, bytes_in);
	finish();
}
END_TEST

/* There is a place for one more session when others are over or silent */
START_TEST(old_sessions_are_forgotten)
{
	struct collector_ledger l;
	uint8_t b[TRACECAST_BEAT_HEADER] = { 0 };
	struct tracecast_beat beat = { 1, 0, 0 };
	unsigned int i;

	begin(false);
	hostile = true;
	for (i = 0; i < 600; i++) {
		tracecast_put_beat(b, i, &beat);
		arrive(b, sizeof(b));
	}
	ck_assert(collector_ledger(collector, 255, &l));
	ck_assert(!collector_ledger(collector, 256, &l));
	hostile = false;
	now += 6000;
	send_all(100);
	run_until_acked();
	/* In the place of one of them */
	for (i = 0; collector_ledger(collector, i, &l); i++) {
		if (l.delivered)
			break;
	}
	ck_assert_uint_eq(l.delivered, CPUS * RECORDS);
	ck_assert_uint_lt(i, 256);
	finish();
}
END_TEST

/* Damaged datagrams among good ones: they are counted, and nothing else changes */
START_TEST(hostile_datagrams_do_no_harm)
{
	struct collector_ledger l;
	unsigned int i, k;
	uint8_t b[ROOM];

	seed += _i;
	hostile = true;
	begin(false);
	send_meta();
	send_beat(TRACECAST_GOES_ON);
	for (i = 0; i < 4000; i++) {
		struct stream *s = &stream[rnd() % CPUS];
		struct datagram *d = &s->datagram[rnd() % s->datagrams];
		size_t len = d->len;

		memcpy(b, d->bytes, len);
		if (rnd() % 3 == 0)
			b[3] = rnd() % (8 << rnd() % 6);
		if (rnd() % 3 == 0)
			len = rnd() % (len + 1);
		for (k = rnd() % 4; k; k--)
			b[rnd() % (rnd() % 2 ? 48 : ROOM)] = rnd();
		for (k = 0; rnd() % 10 == 0 && k < ROOM; k++)
			b[k] = k < 3 ? b[k] : rnd();
		arrive(b, len);
		if (rnd() % 4 == 0) {
			now += 20;
			collector_tick(collector, now);
		}
	}
	get_ledger(&l);
	ck_assert_uint_gt(l.damaged, 0);
	/* The file is still one */
	find_files();
	for (i = 0; i < nr_paths; i++) {
		struct tracecmd_input *in =
			tracecmd_open(paths[i], TRACECMD_FL_LOAD_NO_PLUGINS);

		ck_assert_ptr_nonnull(in);
		tracecmd_close(in);
	}
	finish();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("receive");
	TCase *t = tcase_create("receive");

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, reset_sender, NULL);
	tcase_add_loop_test(t, everything_arrives, 0, NETWORKS);
	tcase_add_test(t, the_last_boot_is_marked);
	tcase_add_loop_test(t, everything_arrives_with_a_key, 0, NETWORKS);
	tcase_add_test(t, others_are_refused_with_a_key);
	tcase_add_test(t, a_key_is_missed);
	tcase_add_test(t, repeated_datagrams_are_refused);
	tcase_add_test(t, seals_have_successors);
	tcase_add_test(t, forgotten_sessions_stay_so_with_a_key);
	tcase_add_loop_test(t, nothing_is_lost_without_memory, 0, 4);
	tcase_add_test(t, memory_runs_out);
	tcase_add_loop_test(t, losses_are_counted, 0, 4);
	tcase_add_loop_test(t, a_panic_is_reported, 0, 2 * NR_PANICS);
	tcase_add_loop_test(t, another_collector_goes_on, 0, CPUS);
	tcase_add_test(t, formats_come_before_records);
	tcase_add_test(t, files_are_rotated);
	tcase_add_test(t, a_full_disk_is_waited_for);
	tcase_add_test(t, answers_are_no_larger);
	tcase_add_test(t, a_full_disk_has_no_more_than_is_reported);
	tcase_add_test(t, old_sessions_are_forgotten);
	tcase_add_loop_test(t, hostile_datagrams_do_no_harm, 0, 4);
	suite_add_tcase(s, t);
	return run_suite(s);
}
