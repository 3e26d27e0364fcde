// SPDX-License-Identifier: GPL-2.0
/*
 * tracecast's datagrams: any records are decoded as they were encoded;
 * headers are the bytes that the documentation says; damage does no harm.
 */
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "suite.h"
#include "wire.h"

struct record {
	u64 time;
	u32 len;
	u8 bytes[600];
};

struct sink {
	const struct record *want;
	size_t nr;
	size_t names;
	bool differs;
};

static void compare_record(u64 time, const u8 *record, u32 len, void *arg)
{
	struct sink *s = arg;
	const struct record *want = s->want ? &s->want[s->nr] : NULL;

	s->nr++;
	if (want && (want->time != time || want->len != len ||
		     memcmp(want->bytes, record, len)))
		s->differs = true;
}

static void compare_name(s32 pid, const u8 *comm, void *arg)
{
	struct sink *s = arg;

	if (pid != -7 - (s32)s->names || memcmp(comm, "0123456789abcde", 16))
		s->differs = true;
	s->names++;
}

static struct tracecast_unpacker unpacker;

/* One like those of an event: a few fields change; or of any bytes */
static void make_record(struct record *r, u64 *time)
{
	u32 i, event = rnd() % 4, zeros;

	r->len = 4 * (2 + event * 11);
	*time += rnd() % 3 ? rnd() % 100000 : rnd() % 8 ? 0 : rnd();
	r->time = *time;
	for (i = 0; i < r->len; i++)
		r->bytes[i] = 7 * i;
	r->bytes[0] = event;
	r->bytes[1] = 1;
	r->bytes[4] = rnd() % 5;
	for (i = 8; i < r->len; i++) {
		if (rnd() % 9 == 0)
			r->bytes[i] = rnd();
	}
	if (rnd() % 20)
		return;
	r->len = rnd() % sizeof(r->bytes);
	zeros = rnd() % 20;
	for (i = 0; i < r->len; i++)
		r->bytes[i] = rnd() % (1 + zeros) ? 0 : rnd();
}

static void begin(struct tracecast_packer *p, bool quick, u8 *to, u32 room,
		  u64 time)
{
	tracecast_pack_begin(p, quick ? TRACECAST_QUICK : TRACECAST_DATA, to,
			     room, time);
}

static int unpack(bool quick, const u8 *from, size_t len, u64 time,
		  const struct tracecast_taker *taker)
{
	return tracecast_unpack(&unpacker,
				quick ? TRACECAST_QUICK : TRACECAST_DATA, from,
				len, time, taker);
}

#define DATAGRAMS 50

/* One datagram of made-up records, and the records decoded from it */
static void check_datagram(void)
{
	static struct record records[5000];
	static struct tracecast_packer packer;
	u8 datagram[TRACECAST_DATAGRAM_MAX];
	struct sink sink = { .want = records };
	struct tracecast_taker taker = { compare_record, compare_name, &sink };
	size_t in = 0, names = 0;
	u64 time, base;
	u32 room, len;
	bool quick;

	quick = rnd() % 2;
	room = 1 + rnd() % sizeof(datagram);
	time = rnd();
	base = rnd() % 2 ? time : rnd();
	begin(&packer, quick, datagram, room, base);
	for (;;) {
		ck_assert_uint_lt(in, 5000);
		make_record(&records[in], &time);
		if (!tracecast_pack(&packer, time, records[in].bytes,
				    records[in].len))
			break;
		in++;
		if (rnd() % 40 == 0 &&
		    tracecast_pack_name(&packer, -7 - (s32)names,
					"0123456789abcde"))
			names++;
		/* It may go on */
		if (rnd() % 40 == 0)
			ck_assert_uint_le(tracecast_pack_end(&packer), room);
	}
	len = tracecast_pack_end(&packer);
	ck_assert_uint_le(len, room);
	ck_assert_int_eq(unpack(quick, datagram, len, base, &taker), in);
	ck_assert_uint_eq(sink.nr, in);
	ck_assert_uint_eq(sink.names, names);
	ck_assert(!sink.differs);
}

/* Many in a process: to fork one costs more than a datagram, above all with ASan */
START_TEST(records_come_out)
{
	int i;

	for (i = 0; i < DATAGRAMS; i++) {
		seed = SEED + _i * DATAGRAMS + i;
		check_datagram();
	}
}
END_TEST

START_TEST(headers_are_these_bytes)
{
	static const u8 data[] = { 'T',	 'C',  1,    3,	   8,	 7,    6,
				   5,	 4,    3,    2,	   1,	 2,    1,
				   4,	 3,    0x18, 0x17, 0x16, 0x15, 0x14,
				   0x13, 0x12, 0x11, 0x28, 0x27, 0x26, 0x25,
				   0x24, 0x23, 0x22, 0x21, 0x21, 0,    0,
				   0,	 0,    0,    0,	   0,	 0x48, 0x47,
				   0x46, 0x45, 0x44, 0x43, 0x42, 0x41 };
	struct tracecast_data d = { .cpu = 0x102,
				    .events = 1,
				    .piece = 0x304,
				    .seq = 0x1112131415161718,
				    .before = 0x2122232425262728,
				    .lost = 0x21,
				    .time = 0x4142434445464748 },
			      e;
	struct tracecast_header h;
	u8 got[TRACECAST_DATA_HEADER];

	tracecast_put_data(got, TRACECAST_END, 0x0102030405060708, &d);
	ck_assert_uint_eq(sizeof(data), TRACECAST_DATA_HEADER);
	ck_assert_mem_eq(got, data, sizeof(data));
	ck_assert(tracecast_get_header(got, sizeof(got), &h));
	ck_assert_int_eq(h.kind, TRACECAST_END);
	ck_assert_int_eq(h.sender, 0);
	ck_assert_uint_eq(h.session, 0x0102030405060708);
	ck_assert(tracecast_get_data(got, sizeof(got), &e));
	ck_assert_uint_eq(e.cpu, d.cpu);
	ck_assert_uint_eq(e.events, d.events);
	ck_assert_uint_eq(e.piece, d.piece);
	ck_assert_uint_eq(e.seq, d.seq);
	ck_assert_uint_eq(e.before, d.before);
	ck_assert_uint_eq(e.lost, d.lost);
	ck_assert_uint_eq(e.time, d.time);
	ck_assert(!tracecast_get_data(got, sizeof(got) - 1, &e));
	/* A part is no record, and others have no pieces */
	got[3] = TRACECAST_PART;
	ck_assert(tracecast_get_data(got, sizeof(got), &e));
	ck_assert_uint_eq(e.events, 0);
	ck_assert_uint_eq(e.piece, 0x304);
	got[3] = TRACECAST_QUICK;
	ck_assert(tracecast_get_data(got, sizeof(got), &e));
	ck_assert_uint_eq(e.events, 0x304);
	ck_assert_uint_eq(e.piece, 0);
	got[3] = TRACECAST_END;
	/* The sender changes nothing else */
	tracecast_put_sender(got, 31);
	tracecast_put_sender(got, 31);
	ck_assert_int_eq(got[3], 3 + 8 * 31);
	ck_assert(tracecast_get_header(got, sizeof(got), &h));
	ck_assert_int_eq(h.kind, TRACECAST_END);
	ck_assert_int_eq(h.sender, 31);
	/* More lost than there were */
	d.lost = d.before + 1;
	tracecast_put_data(got, TRACECAST_END, 1, &d);
	ck_assert(!tracecast_get_data(got, sizeof(got), &e));
	/* Other versions and programs */
	for (got[2] = 0; got[2] < 99; got[2]++)
		ck_assert_int_eq(tracecast_get_header(got, sizeof(got), &h),
				 got[2] == 1);
	got[2] = 1;
	got[0]++;
	ck_assert(!tracecast_get_header(got, sizeof(got), &h));
	ck_assert(!tracecast_get_header(data, TRACECAST_HEADER - 1, &h));
}
END_TEST

START_TEST(beats_and_acks_come_out)
{
	struct tracecast_beat beat = { 77, 2, 1 }, b;
	struct tracecast_beat_entry entry = { 3,	  1ULL << 40,
					      2ULL << 40, 3ULL << 40,
					      4,	  5ULL << 40 },
				    e;
	struct tracecast_ack ack = { 9, 1 }, a;
	struct tracecast_ack_entry ack_entry = { 3, 2, 1ULL << 50 }, ae;
	struct tracecast_ack_range range = { 1 << 30, 70000 }, r;
	u8 got[200] = { 0 };

	tracecast_put_beat(got, 5, &beat);
	tracecast_put_beat_entry(got + TRACECAST_BEAT_HEADER, &entry);
	ck_assert(tracecast_get_beat(
		got, TRACECAST_BEAT_HEADER + 2 * TRACECAST_BEAT_ENTRY, &b));
	ck_assert(!tracecast_get_beat(
		got, TRACECAST_BEAT_HEADER + 2 * TRACECAST_BEAT_ENTRY - 1, &b));
	ck_assert_uint_eq(b.generation, 77);
	ck_assert_uint_eq(b.entries, 2);
	ck_assert_uint_eq(b.last, 1);
	tracecast_get_beat_entry(got + TRACECAST_BEAT_HEADER, &e);
	ck_assert_uint_eq(e.cpu, entry.cpu);
	ck_assert_uint_eq(e.base, entry.base);
	ck_assert_uint_eq(e.next, entry.next);
	ck_assert_uint_eq(e.before, entry.before);
	ck_assert_uint_eq(e.lost, entry.lost);
	ck_assert_uint_eq(e.generated, entry.generated);

	tracecast_put_ack(got, 5, &ack);
	tracecast_put_ack_entry(got + 20, &ack_entry);
	tracecast_put_ack_range(got + 32, &range);
	ck_assert(tracecast_get_ack(got, 20, &a));
	ck_assert(!tracecast_get_ack(got, 19, &a));
	ck_assert_uint_eq(a.generation, 9);
	ck_assert_uint_eq(a.entries, 1);
	ck_assert(tracecast_get_ack_entry(got + 20, 28, &ae));
	ck_assert(!tracecast_get_ack_entry(got + 20, 27, &ae));
	ck_assert_uint_eq(ae.cpu, 3);
	ck_assert_uint_eq(ae.ranges, 2);
	ck_assert_uint_eq(ae.next, 1ULL << 50);
	tracecast_get_ack_range(got + 32, &r);
	ck_assert_uint_eq(r.from, range.from);
	ck_assert_uint_eq(r.count, range.count);
}
END_TEST

/* The key, the input and the result of the authors' paper, appendix A */
START_TEST(the_tag_is_siphash)
{
	const siphash_key_t key = { { 0x0706050403020100,
				      0x0f0e0d0c0b0a0908 } };
	u8 data[15];
	unsigned int i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i;
	ck_assert_uint_eq(siphash(data, sizeof(data), &key),
			  0xa129ca6149be45e5);
}
END_TEST

/* A seal fails with any changed byte, and with another key */
START_TEST(seals_are_of_who_has_the_key)
{
	const siphash_key_t key = { { 1, 2 } }, other = { { 1, 3 } };
	struct tracecast_seal seal = { 0x0102030405060708, 0x1112131415161718 },
			      s = { 0 };
	const u8 numbers[] = { 8,    7,	   6,	 5,    4,    3,	   2,	 1,
			       0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11 };
	struct tracecast_beat beat = { 1, 1, 0 };
	struct tracecast_header h;
	u8 b[TRACECAST_BEAT_HEADER + TRACECAST_BEAT_ENTRY + TRACECAST_SEAL] = {
		0
	};
	const u32 len = sizeof(b) - TRACECAST_SEAL;
	unsigned int i;

	tracecast_put_beat(b, 5, &beat);
	ck_assert_uint_eq(tracecast_unseal(b, sizeof(b), &key, &s), 0);
	ck_assert_uint_eq(tracecast_seal(b, len, &key, &seal), sizeof(b));
	ck_assert_mem_eq(b + len, numbers, sizeof(numbers));
	ck_assert(tracecast_get_header(b, sizeof(b), &h));
	ck_assert(h.sealed);
	ck_assert_int_eq(h.kind, TRACECAST_BEAT);
	ck_assert_uint_eq(tracecast_unseal(b, sizeof(b), &key, &s), len);
	ck_assert_uint_eq(s.number, seal.number);
	ck_assert_uint_eq(s.echo, seal.echo);
	ck_assert_uint_eq(tracecast_unseal(b, sizeof(b), &other, &s), 0);
	for (i = 0; i < 8 * sizeof(b); i++) {
		b[i / 8] ^= 1 << i % 8;
		ck_assert_uint_eq(tracecast_unseal(b, sizeof(b), &key, &s), 0);
		b[i / 8] ^= 1 << i % 8;
	}
	for (i = TRACECAST_HEADER; i < sizeof(b); i++)
		ck_assert_uint_eq(tracecast_unseal(b, i, &key, &s), 0);
}
END_TEST

/* A value that came before costs its position among the last 32, not its bytes */
START_TEST(values_that_came_before_are_short)
{
	static struct tracecast_packer packer;
	u8 datagram[TRACECAST_DATAGRAM_MAX];
	struct record r = { .len = 64 };
	u32 pool[24], i, n;

	for (i = 0; i < 24; i++)
		pool[i] = rnd();
	begin(&packer, false, datagram, sizeof(datagram), 0);
	for (n = 0; n < 200; n++) {
		/* Aligned fours whose pairs are not growing numbers */
		for (i = 8; i < r.len; i += 4)
			memcpy(&r.bytes[i], &pool[rnd() % 24], 4);
		ck_assert(tracecast_pack(&packer, n, r.bytes, r.len));
	}
	/* 14 in each: log2(24) bits is 0.57 bytes */
	ck_assert_uint_lt(tracecast_pack_end(&packer), n * 14 * 1.2);
}
END_TEST

/* A word that follows another one as before costs few bits */
START_TEST(words_that_are_guessed_are_short)
{
	static struct tracecast_packer packer;
	u8 datagram[TRACECAST_DATAGRAM_MAX];
	struct record r = { .len = 64 };
	u32 pool[6][14], which, i, n;

	for (n = 0; n < 6; n++) {
		for (i = 0; i < 14; i++)
			pool[n][i] = rnd();
	}
	begin(&packer, true, datagram, sizeof(datagram), 0);
	for (n = 0; n < 400; n++) {
		which = rnd() % 6;
		memcpy(&r.bytes[8], pool[which], sizeof(pool[which]));
		ck_assert(tracecast_pack(&packer, n, r.bytes, r.len));
	}
	/* Symbol, time, shape and 13 words take 23 bits, and the first word 10 */
	ck_assert_uint_lt(tracecast_pack_end(&packer), 6 * 14 * 5 + n * 33 / 8);
}
END_TEST

/* Kernels that have one sender have 0 there */
START_TEST(senders_are_bounded)
{
	struct tracecast_info info = { 1, 8, TRACECAST_SENDERS_MAX, 64, 4096 };
	struct tracecast_info got;
	u8 b[TRACECAST_INFO_LEN];

	tracecast_put_info(b, &info);
	ck_assert(tracecast_get_info(b, sizeof(b), &got));
	ck_assert_mem_eq(&got, &info, sizeof(info));
	ck_assert(!tracecast_get_info(b, sizeof(b) - 1, &got));
	info.senders++;
	tracecast_put_info(b, &info);
	ck_assert(!tracecast_get_info(b, sizeof(b), &got));
	info.senders = 0;
	tracecast_put_info(b, &info);
	ck_assert(tracecast_get_info(b, sizeof(b), &got));
	ck_assert_uint_eq(got.senders, 1);
}
END_TEST

/* Any bytes, and valid ones with some changed: no memory outside is accessed */
START_TEST(damage_does_no_harm)
{
	static struct tracecast_packer packer;
	struct sink sink = { 0 };
	struct tracecast_taker taker = { compare_record, NULL, &sink };
	struct tracecast_meta meta;
	struct tracecast_info info;
	struct tracecast_last_boot last;
	struct tracecast_beat beat;
	struct record r;
	int round;

	for (round = 0; round < 20000; round++) {
		/* Exactly as long, for ASan */
		size_t len = rnd() % 400, packed, used, i;
		u8 *b = malloc(len + 1), *exact;
		u64 time = 0;
		u32 tag_len;
		u16 tag;

		ck_assert_ptr_nonnull(b);
		begin(&packer, round % 2, b, len, 0);
		do
			make_record(&r, &time);
		while (tracecast_pack(&packer, time, r.bytes, r.len));
		packed = tracecast_pack_end(&packer);
		used = rnd() % 4 ? packed : len;
		for (i = packed; i < len; i++)
			b[i] = rnd();
		for (i = rnd() % 4; i && used; i--)
			b[rnd() % used] = rnd();
		exact = malloc(used ? used : 1);
		ck_assert_ptr_nonnull(exact);
		memcpy(exact, b, used);
		unpack(round % 2, exact, used, 0, &taker);
		if (tracecast_get_beat(exact, used, &beat))
			expect(0ul + TRACECAST_BEAT_HEADER +
				       TRACECAST_BEAT_ENTRY * beat.entries <=
			       used);
		if (tracecast_get_meta(exact, used, &meta))
			expect(meta.offset + used - TRACECAST_META_HEADER <=
			       meta.total);
		if (tracecast_get_tag(exact, used, &tag, &tag_len))
			expect(tag_len <= used - TRACECAST_TAG_HEADER);
		tracecast_get_info(exact, used, &info);
		if (tracecast_get_last_boot(exact, used, &last))
			expect(used >= TRACECAST_LAST_BOOT_LEN);
		free(exact);
		free(b);
	}
	ck_assert_uint_gt(sink.nr, 20000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("wire");
	TCase *t = tcase_create("wire");

	tcase_set_timeout(t, 300);
	tcase_add_loop_test(t, records_come_out, 0, 2000 / DATAGRAMS);
	tcase_add_test(t, headers_are_these_bytes);
	tcase_add_test(t, senders_are_bounded);
	tcase_add_test(t, beats_and_acks_come_out);
	tcase_add_test(t, the_tag_is_siphash);
	tcase_add_test(t, seals_are_of_who_has_the_key);
	tcase_add_test(t, values_that_came_before_are_short);
	tcase_add_test(t, words_that_are_guessed_are_short);
	tcase_add_test(t, damage_does_no_harm);
	suite_add_tcase(s, t);
	return run_suite(s);
}
