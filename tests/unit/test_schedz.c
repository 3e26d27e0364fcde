// SPDX-License-Identifier: GPL-2.0
/*
 * The codec of schedz: any events are decoded to the bit as they were encoded; blocks that
 * the encoder did not make do no harm.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/crc32.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/unaligned.h>

#include "suite.h"
#include "tap.h"

/* ck_assert() writes to its parent even on success: too slow for inner loops */
#define expect(cond, ...)                                \
	do {                                             \
		if (!(cond))                             \
			ck_abort_msg(#cond __VA_ARGS__); \
	} while (0)

static uint64_t seed;

static uint64_t rnd(void)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15ULL; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static uint64_t below(uint64_t n)
{
	return rnd() % n;
}

/* ---- a stream, its blocks, and the events decoded from them ---- */

struct stream {
	struct schedz_event *in;
	size_t events;
	char (*filenames)[SCHEDZ_FILENAME_MAX];

	uint8_t *block; /* all blocks, one after the other */
	size_t bytes;
	size_t room;
	uint32_t len[20000];
	size_t blocks;

	size_t out; /* events decoded so far */
};

static struct schedz_decoder *decoder;
static struct schedz_tap tap;
static struct schedz_encoder encoder;
static u32 queue[2048];

static bool same_task(const struct schedz_task *a, const struct schedz_task *b,
		      bool prio)
{
	return a->pid == b->pid && !memcmp(a->name, b->name, 16) &&
	       (!prio || a->prio == b->prio);
}

/* Field by field: an event has only the fields of its kind */
static bool same(const struct schedz_event *a, const struct schedz_event *b)
{
	if (a->time != b->time || a->kind != b->kind || a->flags != b->flags ||
	    a->preempt_count != b->preempt_count ||
	    a->common_pid != b->common_pid)
		return false;
	switch (a->kind) {
	case SCHEDZ_SWITCH:
		return same_task(&a->task, &b->task, true) &&
		       same_task(&a->other, &b->other, true) &&
		       a->state == b->state;
	case SCHEDZ_WAKING:
	case SCHEDZ_WAKEUP:
	case SCHEDZ_WAKEUP_NEW:
		return same_task(&a->task, &b->task, true) && a->cpu == b->cpu;
	case SCHEDZ_MIGRATE:
		return same_task(&a->task, &b->task, true) &&
		       a->cpu == b->cpu && a->dest_cpu == b->dest_cpu;
	case SCHEDZ_FORK:
		return same_task(&a->task, &b->task, false) &&
		       same_task(&a->other, &b->other, false);
	case SCHEDZ_EXEC:
		return a->task.pid == b->task.pid && a->old_pid == b->old_pid &&
		       a->filename_len == b->filename_len &&
		       !memcmp(a->filename, b->filename, a->filename_len);
	case SCHEDZ_EXIT:
		return same_task(&a->task, &b->task, true);
	}
	return false;
}

static void compare(const struct schedz_event *event, void *arg)
{
	struct stream *s = arg;

	expect(s->out < s->events);
	if (!same(&s->in[s->out], event))
		ck_abort_msg("event %zu of kind %u came out as kind %u", s->out,
			     s->in[s->out].kind, event->kind);
	s->out++;
}

static void append_block(struct stream *s)
{
	uint32_t len = schedz_finish(&encoder);

	expect(len <= encoder.size);
	if (!len)
		return;
	expect(s->blocks < ARRAY_SIZE(s->len));
	if (s->bytes + len > s->room) {
		s->room = 2 * (s->room + len);
		s->block = realloc(s->block, s->room);
	}
	memcpy(s->block + s->bytes, encoder.buf, len);
	s->bytes += len;
	s->len[s->blocks++] = len;
}

static void drain(struct stream *s, uint32_t words)
{
	while (schedz_encode(&encoder, &tap, words)) {
		expect(encoder.events);
		append_block(s);
	}
}

/* @flush: one in @flush events is followed by a flush, 0 for never */
static void encode(struct stream *s, uint32_t size, unsigned int flush)
{
	uint8_t *buf = malloc(size);
	size_t i;

	schedz_tap_init(&tap, queue, ARRAY_SIZE(queue));
	schedz_encoder_init(&encoder, buf, size, 3);
	for (i = 0; i < s->events; i++) {
		while (!schedz_tap_event(&tap, &s->in[i])) {
			expect(schedz_tap_words(&tap));
			drain(s, 1 + below(100));
		}
		if (flush && !below(flush)) {
			drain(s, UINT32_MAX);
			expect(!schedz_tap_words(&tap));
			append_block(s);
		}
	}
	drain(s, UINT32_MAX);
	append_block(s);
	free(buf);
}

/* Every block on its own, with headers that follow one another */
static void check_stream(struct stream *s)
{
	const uint8_t *p = s->block;
	struct schedz_header h;
	size_t i;

	s->out = 0;
	for (i = 0; i < s->blocks; i++) {
		expect(schedz_read_header(p, s->len[i], &h) == SCHEDZ_OK);
		expect(h.cpu == 3);
		expect(h.seq == i);
		expect(h.before == s->out);
		expect(h.time == s->in[s->out].time);
		expect(schedz_decode(decoder, p, s->len[i], compare, s) ==
		       SCHEDZ_OK);
		expect(s->out == h.before + h.events);
		p += s->len[i];
	}
	ck_assert_uint_eq(s->out, s->events);
}

static void free_stream(struct stream *s)
{
	free(s->in);
	free(s->filenames);
	free(s->block);
}

static void setup(void)
{
	decoder = malloc(schedz_decoder_size());
}

static void teardown(void)
{
	free(decoder);
}

/* ---- streams ---- */

static void name_task(struct schedz_task *t, const char *name)
{
	memset(t->name, 0, sizeof(t->name));
	memcpy(t->name, name, strlen(name));
}

static void start(struct stream *s, size_t events)
{
	memset(s, 0, sizeof(*s));
	s->events = events;
	s->in = calloc(events, sizeof(*s->in));
	s->filenames = calloc(events, sizeof(*s->filenames));
}

/* As a scheduler would: @tasks tasks, names that rarely change, switches only */
static void fill_plausible(struct stream *s, unsigned int tasks)
{
	struct schedz_task *t = calloc(tasks, sizeof(*t));
	struct schedz_task *cur = t, *next;
	uint64_t time = 1000000000;
	char name[16];
	size_t i;

	for (i = 0; i < tasks; i++) {
		t[i].pid = i ? 1000 + i : 0;
		t[i].prio = 120;
		snprintf(name, sizeof(name), "task/%zu", i % 7);
		name_task(&t[i], i ? name : "swapper/3");
	}
	for (i = 0; i < s->events; i++) {
		struct schedz_event *e = &s->in[i];

		time += 1 + (below(4) ? below(3000) : below(1000000));
		if (!below(500))
			name_task(cur, "renamed");
		if (!below(300))
			cur->prio = below(140);
		do {
			next = &t[below(4) ? below(1 + tasks / 8) :
					     below(tasks)];
		} while (next == cur);
		e->kind = SCHEDZ_SWITCH;
		e->time = time;
		e->flags = 1;
		e->preempt_count = 2;
		e->common_pid = cur->pid;
		e->task = *cur;
		e->other = *next;
		e->state = below(3) ? 1ULL << below(9) : 0;
		cur = next;
	}
	free(t);
}

static uint64_t any(void)
{
	switch (below(4)) {
	case 0:
		return below(4);
	case 1:
		return rnd() >> below(64);
	case 2:
		return 0 - below(3);
	default:
		return 1ULL << below(64);
	}
}

static void any_task(struct schedz_task *t, unsigned int pids)
{
	t->pid = below(20) ? below(pids) : any();
	t->prio = below(20) ? 120 : any();
	name_task(t, below(10) ? "worker" : "");
	if (!below(10))
		t->name[below(2)] = any();
}

/* Whatever the fields can hold, in any order */
static void fill_hostile(struct stream *s, unsigned int pids)
{
	uint64_t time = rnd();
	size_t i, n;

	for (i = 0; i < s->events; i++) {
		struct schedz_event *e = &s->in[i];

		time += below(50) ? below(1 << below(30)) : any();
		e->time = time;
		e->kind = below(SCHEDZ_KINDS);
		e->flags = below(10) ? 1 : any();
		e->preempt_count = below(10) ? 2 : any();
		e->common_pid = any();
		if (i && below(10))
			e->common_pid = s->in[i - 1].common_pid;
		any_task(&e->task, pids);
		any_task(&e->other, pids);
		if (i && below(2))
			e->task = s->in[i - 1].other;
		e->state = any();
		e->cpu = below(10) ? below(8) : any();
		e->dest_cpu = below(10) ? below(8) : any();
		e->old_pid = any();
		e->filename_len = below(10) ? below(40) :
					      below(SCHEDZ_FILENAME_MAX + 1);
		for (n = 0; n < e->filename_len; n++)
			s->filenames[i][n] = rnd();
		e->filename = s->filenames[i];
	}
}

/* ---- tests ---- */

static const uint32_t sizes[] = { SCHEDZ_BLOCK_MIN, 1400, 4060,
				  SCHEDZ_BLOCK_MAX };

START_TEST(plausible)
{
	static const unsigned int tasks[] = { 2, 3, 40, 400, 1500, 5000 };
	struct stream s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		seed = 100 * _i + i;
		start(&s, 20000);
		fill_plausible(&s, tasks[_i]);
		encode(&s, sizes[i], i % 2 ? 500 : 0);
		check_stream(&s);
		free_stream(&s);
	}
}
END_TEST

START_TEST(hostile)
{
	struct stream s;

	seed = 1000 + _i;
	start(&s, 5000);
	fill_hostile(&s, 1 << below(12));
	encode(&s, sizes[below(ARRAY_SIZE(sizes))], below(2) * 100);
	check_stream(&s);
	free_stream(&s);
}
END_TEST

/* Times that go back, stand still and leap, by hand */
START_TEST(times)
{
	static const uint64_t time[] = {
		5,
		5,
		4,
		0,
		UINT64_MAX,
		UINT64_MAX,
		0,
		1ULL << 63,
		1ULL << 36,
		(1ULL << 36) - 1,
		1ULL << 37,
		(1ULL << 47) + 12,
		(1ULL << 48),
		(1ULL << 48) + (1ULL << 47) - 1,
		(1ULL << 49) + (1ULL << 48),
	};
	struct stream s;
	size_t i;

	start(&s, ARRAY_SIZE(time));
	for (i = 0; i < s.events; i++) {
		s.in[i].time = time[i];
		s.in[i].kind = SCHEDZ_EXIT;
		s.in[i].common_pid = 7;
		s.in[i].task.pid = 7;
	}
	encode(&s, SCHEDZ_BLOCK_MIN, 0);
	check_stream(&s);
	free_stream(&s);
}
END_TEST

/* Many tasks of one set of slots: the slots in use must stay */
START_TEST(crowded_set)
{
	struct stream s;
	size_t i;

	seed = 1;
	start(&s, 20000);
	fill_hostile(&s, 1);
	for (i = 0; i < s.events; i++) {
		s.in[i].task.pid = 7 + SCHEDZ_SETS * below(6);
		s.in[i].other.pid = 7 + SCHEDZ_SETS * below(6);
	}
	encode(&s, 4060, 0);
	check_stream(&s);
	free_stream(&s);
}
END_TEST

/* Each prev is the last next, all is as before: hardly a byte, whole blocks */
START_TEST(monotonous)
{
	struct stream s;
	size_t i;

	start(&s, 300000);
	for (i = 0; i < s.events; i++) {
		struct schedz_event *e = &s.in[i];

		e->time = 1000 * i;
		e->kind = SCHEDZ_SWITCH;
		e->common_pid = e->task.pid = i % 2;
		e->other.pid = !(i % 2);
	}
	encode(&s, SCHEDZ_BLOCK_MAX, 0);
	check_stream(&s);
	ck_assert_uint_le(s.len[0], SCHEDZ_BLOCK_MAX);
	free_stream(&s);
}
END_TEST

/* The tap's memory for a switch, at the boundaries between one and two words */
START_TEST(words)
{
	static const struct {
		uint64_t delta;
		uint64_t state;
		unsigned int words;
	} step[] = {
		{ 0, 0, 1 },	      { 131071, 1ULL << 13, 1 },
		{ 131072, 0, 2 },     { 1, 1ULL << 14, 5 },
		{ 1, 3, 5 },	      { UINT32_MAX, 1, 2 },
		{ 1ULL << 32, 1, 5 }, { 131071, UINT64_MAX, 5 },
		{ -1ULL, 0, 5 },
	};
	struct stream s;
	uint64_t time = 1ULL << 40;
	size_t i;

	/* The first two make the tasks known */
	start(&s, 2 + ARRAY_SIZE(step));
	for (i = 0; i < s.events; i++) {
		struct schedz_event *e = &s.in[i];

		if (i >= 2) {
			time += step[i - 2].delta;
			e->state = step[i - 2].state;
		}
		e->time = time;
		e->kind = SCHEDZ_SWITCH;
		e->common_pid = e->task.pid = 5 + i % 2;
		e->other.pid = 6 - i % 2;
	}
	schedz_tap_init(&tap, queue, ARRAY_SIZE(queue));
	for (i = 0; i < s.events; i++) {
		u32 head = tap.head;

		expect(schedz_tap_event(&tap, &s.in[i]));
		if (i >= 2)
			ck_assert_uint_eq(tap.head - head, step[i - 2].words);
	}
	encode(&s, 1400, 0);
	check_stream(&s);
	free_stream(&s);
}
END_TEST

/* Events that were lost show in the header of the next block */
START_TEST(lost)
{
	struct schedz_header h;
	struct stream s;

	seed = 2;
	start(&s, 100);
	fill_plausible(&s, 10);
	encode(&s, 1400, 0);
	ck_assert_uint_eq(s.blocks, 1);
	schedz_encoder_lost(&encoder, 17);
	encoder.buf = malloc(1400);
	expect(schedz_tap_event(&tap, &s.in[99]));
	expect(!schedz_encode(&encoder, &tap, UINT32_MAX));
	expect(schedz_read_header(encoder.buf, schedz_finish(&encoder), &h) ==
	       SCHEDZ_OK);
	ck_assert_uint_eq(h.before, 117);
	ck_assert_uint_eq(h.seq, 1);
	free(encoder.buf);
	free_stream(&s);
}
END_TEST

/* A full queue stores no part of an event; later the event is encoded whole */
START_TEST(full_queue)
{
	u32 small[SCHEDZ_QUEUE_MIN];
	uint8_t buf[1400];
	struct stream s;
	uint32_t head;
	size_t i, n = 0;

	seed = 3;
	start(&s, 1000);
	fill_hostile(&s, 100);
	schedz_tap_init(&tap, small, ARRAY_SIZE(small));
	schedz_encoder_init(&encoder, buf, sizeof(buf), 3);
	for (i = 0; i < s.events; i++) {
		expect(encoder.total + encoder.events +
			       schedz_tap_waiting(&tap) ==
		       i);
		head = tap.head;
		while (!schedz_tap_event(&tap, &s.in[i])) {
			expect(tap.head == head);
			n++;
			drain(&s, 1);
			head = tap.head;
		}
	}
	drain(&s, UINT32_MAX);
	append_block(&s);
	expect(n > 10);
	check_stream(&s);
	free_stream(&s);
}
END_TEST

/* ---- bytes that are not a block, and damaged blocks ---- */

static void ignore(const struct schedz_event *event, void *arg)
{
	size_t *events = arg;

	/* All members of a decoded event are valid */
	expect(event->kind < SCHEDZ_KINDS);
	expect(event->filename_len <= SCHEDZ_FILENAME_MAX);
	if (event->kind == SCHEDZ_EXEC)
		expect(strnlen(event->filename, SCHEDZ_FILENAME_MAX + 1) <=
		       event->filename_len);
	++*events;
}

/* In memory of exactly its size, so that sanitizers find accesses beyond it */
static enum schedz_error try(const uint8_t *block, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	enum schedz_error error;
	size_t events = 0;

	memcpy(copy, block, len);
	error = schedz_decode(decoder, copy, len, ignore, &events);
	expect(events <= SCHEDZ_EVENTS_MAX);
	free(copy);
	return error;
}

static void seal(uint8_t *block, size_t len)
{
	uint32_t crc;

	crc = crc32_le(~0, block, SCHEDZ_HEADER - 4);
	crc = crc32_le(crc, block + SCHEDZ_HEADER, len - SCHEDZ_HEADER);
	put_unaligned_le32(crc, block + SCHEDZ_HEADER - 4);
}

/* A block cut off anywhere, and with any bit changed */
START_TEST(damaged)
{
	struct stream s;
	size_t i;

	seed = 4;
	start(&s, 2000);
	fill_plausible(&s, 50);
	encode(&s, 4060, 0);
	for (i = 0; i < s.len[0]; i++)
		expect(try(s.block, i) != SCHEDZ_OK);
	for (i = 0; i < 8 * s.len[0]; i++) {
		s.block[i / 8] ^= 1 << i % 8;
		expect(try(s.block, s.len[0]) != SCHEDZ_OK);
		s.block[i / 8] ^= 1 << i % 8;
	}
	expect(try(s.block, s.len[0]) == SCHEDZ_OK);
	free_stream(&s);
}
END_TEST

/* The author of the damage can make a checksum, too */
START_TEST(sealed)
{
	uint8_t block[4060];
	struct stream s;
	unsigned int i, n, damaged = 0;
	size_t len;

	seed = 5000 + _i;
	start(&s, 1000);
	if (_i % 2)
		fill_hostile(&s, 64);
	else
		fill_plausible(&s, 50);
	encode(&s, sizeof(block), 0);
	for (i = 0; i < 2000; i++) {
		len = s.len[0];
		memcpy(block, s.block, len);
		for (n = 1 + below(4); n; n--)
			block[6 + below(below(2) ? 40 : len - 6)] = rnd();
		if (!below(4))
			len = SCHEDZ_HEADER + below(len - SCHEDZ_HEADER);
		/* The longest possible front */
		if (!below(2))
			put_unaligned_le16(below(len - SCHEDZ_HEADER + 1),
					   block + 6);
		seal(block, len);
		damaged += try(block, len) != SCHEDZ_OK;
	}
	/* Changed bits of times cannot be detected */
	ck_assert_uint_gt(damaged, 1000);
	free_stream(&s);
}
END_TEST

/* Noise after a valid header */
START_TEST(noise)
{
	uint8_t block[2000];
	size_t len, i;
	unsigned int n;

	seed = 6000 + _i;
	for (n = 0; n < 3000; n++) {
		len = SCHEDZ_HEADER + below(sizeof(block) - SCHEDZ_HEADER + 1);
		for (i = 0; i < len; i++)
			block[i] = below(4) ? rnd() : 0;
		block[0] = SCHEDZ_MAGIC_0;
		block[1] = SCHEDZ_MAGIC_1;
		block[2] = SCHEDZ_VERSION;
		block[3] = 0;
		put_unaligned_le16(below(len - SCHEDZ_HEADER + 1), block + 6);
		put_unaligned_le32(1 + below(SCHEDZ_EVENTS_MAX), block + 12);
		seal(block, len);
		expect(try(block, len) != SCHEDZ_OK);
	}
}
END_TEST

START_TEST(headers)
{
	static const struct {
		unsigned int at;
		uint8_t value;
		enum schedz_error error;
	} cases[] = {
		{ 0, 'x', SCHEDZ_MAGIC },
		{ 1, 'x', SCHEDZ_MAGIC },
		{ 2, 1, SCHEDZ_OTHER_VERSION },
		{ 3, 1, SCHEDZ_OTHER_VERSION },
		{ 7, 255, SCHEDZ_LENGTHS },
		{ 15, 1, SCHEDZ_LENGTHS }, /* 2^24 events */
		{ 4, 9, SCHEDZ_CHECKSUM },
		{ 24, 0xff, SCHEDZ_CHECKSUM },
		{ 35, 0xff, SCHEDZ_CHECKSUM },
	};
	struct stream s;
	unsigned int i;
	uint8_t was;

	seed = 7;
	start(&s, 100);
	fill_plausible(&s, 5);
	encode(&s, 1400, 0);
	expect(s.block[35] != 0xff);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		was = s.block[cases[i].at];
		s.block[cases[i].at] = cases[i].value;
		ck_assert_int_eq(try(s.block, s.len[0]), cases[i].error);
		s.block[cases[i].at] = was;
	}
	ck_assert_int_eq(try(s.block, SCHEDZ_HEADER - 1), SCHEDZ_SHORT);
	ck_assert_int_eq(try(s.block, 0), SCHEDZ_SHORT);
	put_unaligned_le32(0, s.block + 12);
	seal(s.block, s.len[0]);
	ck_assert_int_eq(try(s.block, s.len[0]), SCHEDZ_LENGTHS);
	free_stream(&s);
}
END_TEST

/* More tasks than a block has numbers for: it ends, and the next one goes on */
START_TEST(many_tasks)
{
	struct stream s;
	size_t i;

	start(&s, 5000);
	for (i = 0; i < s.events; i++) {
		s.in[i].time = 2000 * i;
		s.in[i].kind = SCHEDZ_SWITCH;
		s.in[i].common_pid = s.in[i].task.pid = 1000 + i;
		s.in[i].other.pid = 1001 + i;
		s.in[i].state = 1;
	}
	encode(&s, sizes[_i], 0);
	check_stream(&s);
	free_stream(&s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("schedz");
	TCase *tc = tcase_create("codec");

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, plausible, 0, 6);
	tcase_add_loop_test(tc, hostile, 0, 20);
	tcase_add_test(tc, times);
	tcase_add_test(tc, crowded_set);
	tcase_add_loop_test(tc, many_tasks, 0, ARRAY_SIZE(sizes));
	tcase_add_test(tc, monotonous);
	tcase_add_test(tc, words);
	tcase_add_test(tc, lost);
	tcase_add_test(tc, full_queue);
	tcase_add_test(tc, damaged);
	tcase_add_loop_test(tc, sealed, 0, 6);
	tcase_add_loop_test(tc, noise, 0, 3);
	tcase_add_test(tc, headers);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
