// SPDX-License-Identifier: GPL-2.0
/*
 * schedz: from a block to events.
 *
 * The mirror image of encode.c, which describes how a block is made. Blocks are
 * not trusted: the checksum detects accidental damage, and every value is checked
 * before it is used, so that no input causes an access out of bounds or a long
 * loop.
 */
#include <linux/crc32.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "codec.h"
#include "model.h"

/* Each event takes 6 raw bits or more, of its time */
#define EVENTS_PER_BYTE 2

/**
 * struct schedz_decoder - a block on its way to events
 * @b: what the encoder knows, too
 * @task: the block's tasks by number
 * @front: rest of the arithmetic code
 * @front_end: its end
 * @tail: raw bits, read towards the front
 * @tail_begin: where they end
 * @range: size of the range
 * @code: where the code is in it
 * @bits: raw bits that are not used yet
 * @nr_bits: number of these
 * @failed: nonsense was found
 * @cpu: CPU of the block
 * @filename: of an exec
 */
struct schedz_decoder {
	struct schedz_block b;
	struct schedz_task task[SCHEDZ_TASKS_MAX];
	const u8 *front;
	const u8 *front_end;
	const u8 *tail;
	const u8 *tail_begin;
	u32 range;
	u32 code;
	u64 bits;
	u8 nr_bits;
	bool failed;
	u16 cpu;
	char filename[SCHEDZ_FILENAME_MAX + 1];
};

/**
 * schedz_decoder_size - memory of a decoder
 *
 * Return: bytes of struct schedz_decoder; it needs no initialisation.
 */
size_t schedz_decoder_size(void)
{
	return sizeof(struct schedz_decoder);
}

static u8 next_byte(struct schedz_decoder *d)
{
	return d->front < d->front_end ? *d->front++ : 0;
}

static unsigned int get_digit(struct schedz_decoder *d,
			      struct schedz_digit *model)
{
	u32 part = d->range >> SCHEDZ_PROB_BITS;
	u32 low = schedz_below(model, 0), high = 0;
	unsigned int digit;

	for (digit = 0; digit < SCHEDZ_DIGITS - 1; digit++) {
		high = schedz_below(model, digit + 1);
		if (d->code < part * high)
			break;
		low = high;
	}
	if (digit == SCHEDZ_DIGITS - 1)
		high = 1 << SCHEDZ_PROB_BITS;
	d->code -= part * low;
	d->range = part * (high - low);
	/* No digit has what is below the first and above the last */
	if (d->code >= d->range)
		d->failed = true;
	schedz_learn(model, digit, high - low);
	while (d->range < SCHEDZ_RANGE_MIN) {
		d->range <<= 8;
		d->code = d->code << 8 | next_byte(d);
	}
	return digit;
}

static unsigned int get_tree(struct schedz_decoder *d,
			     struct schedz_digit *model, unsigned int digits)
{
	unsigned int value = 0, node = 0, digit;

	while (digits--) {
		digit = get_digit(d, &model[node]);
		value = value * SCHEDZ_DIGITS + digit;
		node = node * SCHEDZ_DIGITS + digit + 1;
	}
	return value;
}

static u32 get_raw(struct schedz_decoder *d, unsigned int bits)
{
	u32 value;

	while (d->nr_bits < bits) {
		if (d->tail == d->tail_begin) {
			d->failed = true;
			return 0;
		}
		d->tail--;
		d->bits |= (u64)*d->tail << d->nr_bits;
		d->nr_bits += 8;
	}
	value = bits < 32 ? d->bits & ((1U << bits) - 1) :
			    lower_32_bits(d->bits);
	d->bits >>= bits;
	d->nr_bits -= bits;
	return value;
}

static u64 get_raw64(struct schedz_decoder *d, unsigned int bits)
{
	u64 value = get_raw(d, min_t(unsigned int, bits, 32));

	if (bits > 32)
		value |= (u64)get_raw(d, bits - 32) << 32;
	return value;
}

static u32 get_int(struct schedz_decoder *d, struct schedz_digit *model)
{
	unsigned int bits = get_tree(d, model, 2);

	if (bits > 32) {
		d->failed = true;
		return 0;
	}
	if (bits <= 1)
		return bits;
	return 1U << (bits - 1) | get_raw(d, bits - 1);
}

/* ------------------------------------------------------------------------- */

static void get_name(struct schedz_decoder *d)
{
	struct schedz_block *b = &d->b;
	u8 *letter = (u8 *)b->last_name;
	unsigned int i, len = get_tree(d, b->m.length, 2);

	if (len > SCHEDZ_COMM_LEN) {
		d->failed = true;
		return;
	}
	memset(letter, 0, SCHEDZ_COMM_LEN);
	for (i = 0; i < len; i++)
		letter[i] = get_tree(d, b->m.letter, 3);
}

static void get_prio(struct schedz_decoder *d)
{
	d->b.last_prio =
		(s32)((u32)schedz_unzigzag(get_int(d, d->b.m.prio)) + 120);
}

static u16 get_new_task(struct schedz_decoder *d)
{
	struct schedz_block *b = &d->b;
	struct schedz_task *task;
	unsigned int fresh;
	u16 number;

	if (b->tasks == SCHEDZ_TASKS_MAX) {
		d->failed = true;
		return 0;
	}
	b->last_pid = (s32)((u32)schedz_unzigzag(get_int(d, b->m.pid)) +
			    (u32)b->last_pid);
	fresh = get_digit(d, &b->m.fresh);
	if (fresh & SCHEDZ_NEW_PRIO)
		get_prio(d);
	if (fresh & SCHEDZ_NEW_NAME)
		get_name(d);
	number = schedz_block_add(b, b->last_pid, d->cpu);
	task = &d->task[number];
	task->pid = b->last_pid;
	task->prio = b->last_prio;
	memcpy(task->name, b->last_name, sizeof(task->name));
	return number;
}

/* Place in a class from 2 on, or one that does not exist */
static unsigned int get_place(struct schedz_decoder *d, unsigned int class)
{
	static const u8 first[] = { 0, 1, 2, 4, 8, 16 };
	unsigned int place = get_digit(d, &d->b.m.place[class]);

	if (class == SCHEDZ_CLASS_LAST)
		place = place << 1 | get_raw(d, 1);
	return place < first[class] ? first[class] + place : SCHEDZ_RECENT;
}

/*
 * A task that is not predicted, with one of the models of its class. Return its
 * number, which is valid unless decoding failed.
 */
static u16 get_task(struct schedz_decoder *d, struct schedz_digit *model)
{
	struct schedz_block *b = &d->b;
	unsigned int class = get_digit(d, model), place = class;
	u32 number = SCHEDZ_NONE;

	if (class == SCHEDZ_CLASS_NEW)
		return get_new_task(d);
	if (class == SCHEDZ_CLASS_NUMBER) {
		if (b->tasks)
			number = get_raw(d, fls64(b->tasks - 1));
	} else {
		if (class > 1)
			place = get_place(d, class);
		if (place < SCHEDZ_RECENT)
			number = schedz_recent(b, place);
	}
	if (number >= b->tasks) {
		d->failed = true;
		return 0;
	}
	return number;
}

/* A task that nothing predicts */
static u16 get_any_task(struct schedz_decoder *d)
{
	struct schedz_block *b = &d->b;

	return get_task(d, &b->m.class[1][schedz_task_context(b, false)]);
}

/* Flags and preempt_count that are not the last ones of a kind */
static void get_context(struct schedz_decoder *d, unsigned int kind)
{
	struct schedz_block *b = &d->b;
	unsigned int n = b->nr_contexts[kind];
	unsigned int at = get_digit(d, &b->m.context[kind]);
	u16 context;

	if (at == SCHEDZ_CONTEXTS)
		at = n;
	if (at > n) {
		d->failed = true;
		return;
	}
	context = at == n ? get_raw(d, 16) : b->context[kind][at];
	schedz_context_touch(b, kind, at, context);
}

static void get_time(struct schedz_decoder *d, unsigned int kind)
{
	struct schedz_block *b = &d->b;
	unsigned int context = schedz_time_context(b, kind);
	unsigned int first = get_digit(d, &b->m.high[context]);
	unsigned int second = get_digit(d, &b->m.low[context / 4][first]);
	unsigned int class = first << 1 | second >> SCHEDZ_MANTISSA;
	u64 delta = second & ((1 << SCHEDZ_MANTISSA) - 1);
	unsigned int raw = schedz_delta_raw(class), bits;

	if (kind == SCHEDZ_SWITCH)
		b->task[b->cur].delta = first;
	if (class == SCHEDZ_DELTA_LAST) {
		bits = get_raw(d, 6);
		if (bits <= SCHEDZ_DELTA_COARSE || bits > SCHEDZ_DELTA_BITS) {
			d->failed = true;
			return;
		}
		raw = bits - 1 - SCHEDZ_MANTISSA;
	}
	if (class)
		delta |= 1 << SCHEDZ_MANTISSA;
	b->time += delta << raw | get_raw64(d, raw);
}

static void get_cpu(struct schedz_decoder *d, u16 number)
{
	d->b.task[number].cpu = schedz_unzigzag(get_int(d, d->b.m.cpu));
}

static void get_filename(struct schedz_decoder *d, struct schedz_event *event)
{
	u32 i, len = get_int(d, d->b.m.filename);

	if (len > SCHEDZ_FILENAME_MAX) {
		d->failed = true;
		return;
	}
	for (i = 0; i < len; i++)
		d->filename[i] = get_raw(d, 8);
	d->filename[len] = '\0';
	event->filename = d->filename;
	event->filename_len = len;
}

/* ------------------------------------------------------------------------- */

/* Decode a change between events */
static void get_change(struct schedz_decoder *d, unsigned int symbol)
{
	struct schedz_block *b = &d->b;
	u16 number;

	switch (symbol) {
	case SCHEDZ_SET_CUR:
		number = get_any_task(d);
		if (d->failed)
			return;
		schedz_set_cur(b, number);
		b->has_pid = true;
		b->pid = d->task[number].pid;
		return;
	case SCHEDZ_SET_PID:
		b->has_pid = true;
		b->pid = get_raw(d, 32);
		return;
	case SCHEDZ_SET_TIME:
		b->time = get_raw64(d, 64);
		return;
	case SCHEDZ_SET_PRIO:
		number = get_any_task(d);
		get_prio(d);
		d->task[number].prio = b->last_prio;
		return;
	case SCHEDZ_SET_NAME:
		number = get_any_task(d);
		get_name(d);
		memcpy(d->task[number].name, b->last_name,
		       sizeof(b->last_name));
		return;
	}
	d->failed = true;
}

/* The switch after SCHEDZ_WHAT_EXPECTED, NEXT or STATE */
static void get_switch(struct schedz_decoder *d, unsigned int what,
		       struct schedz_event *event)
{
	struct schedz_block *b = &d->b;
	const struct schedz_known *prev;
	bool same = what != SCHEDZ_WHAT_STATE, hit;
	unsigned int state, context;
	u16 next;

	if (b->cur == SCHEDZ_NONE || !b->nr_contexts[SCHEDZ_SWITCH]) {
		d->failed = true;
		return;
	}
	prev = &b->task[b->cur];
	get_time(d, SCHEDZ_SWITCH);
	state = same ? prev->state : get_tree(d, b->m.state[b->cur_idle], 2);
	if (state > SCHEDZ_STATE_RAW) {
		d->failed = true;
		return;
	}
	context = schedz_task_context(b, !state);
	next = prev->after[!state];
	hit = what == SCHEDZ_WHAT_EXPECTED;
	if (!same && next != SCHEDZ_NONE)
		hit = !get_digit(d, &b->m.hit[context]);
	if (state == SCHEDZ_STATE_RAW)
		event->state = get_raw64(d, 64);
	else
		event->state = state ? 1ULL << (state - 1) : 0;
	if (!hit)
		next = get_task(d, &b->m.class[0][context]);
	if (d->failed || next == SCHEDZ_NONE) {
		d->failed = true;
		return;
	}
	event->task = d->task[b->cur];
	event->other = d->task[next];
	schedz_block_switch(b, state, same, next);
	b->pid = d->task[next].pid;
}

static void get_other(struct schedz_decoder *d, unsigned int kind,
		      struct schedz_event *event)
{
	struct schedz_block *b = &d->b;
	unsigned int differs =
		get_digit(d, &b->m.differs[kind][schedz_differs_context(b)]);
	u16 number, other = SCHEDZ_NONE;

	if (differs & SCHEDZ_NEW_CONTEXT)
		get_context(d, kind);
	get_time(d, kind);
	number = differs & SCHEDZ_NEW_TASK ? get_any_task(d) :
					     schedz_predict(b, kind);
	if (d->failed || number == SCHEDZ_NONE || !b->nr_contexts[kind]) {
		d->failed = true;
		return;
	}
	event->task = d->task[number];
	if (differs & SCHEDZ_NEW_CPU)
		get_cpu(d, number);
	switch (kind) {
	case SCHEDZ_WAKING:
	case SCHEDZ_WAKEUP:
	case SCHEDZ_WAKEUP_NEW:
		event->cpu = b->task[number].cpu;
		break;
	case SCHEDZ_MIGRATE:
		event->cpu = b->task[number].cpu;
		get_cpu(d, number);
		event->dest_cpu = b->task[number].cpu;
		break;
	case SCHEDZ_FORK:
		other = get_any_task(d);
		event->other = d->task[other];
		event->other.prio = 0;
		event->task.prio = 0;
		break;
	case SCHEDZ_EXEC:
		event->task.prio = 0;
		memset(event->task.name, 0, sizeof(event->task.name));
		event->old_pid = get_raw(d, 32);
		get_filename(d, event);
		break;
	}
	schedz_block_event(b, kind, number, other);
}

/* An event has fewer changes before it; more show that the block is damaged */
#define CHANGES_MAX 16

/*
 * Decode the changes before an event, and its kind: SCHEDZ_KINDS if they are
 * invalid. For a switch, @what says more.
 */
static unsigned int get_kind(struct schedz_decoder *d, unsigned int *what)
{
	unsigned int symbol, changes;

	for (changes = 0; changes <= CHANGES_MAX && !d->failed; changes++) {
		*what = get_digit(d, &d->b.m.what[schedz_what_context(&d->b)]);
		switch (*what) {
		case SCHEDZ_WHAT_WAKING:
			return SCHEDZ_WAKING;
		case SCHEDZ_WHAT_WAKEUP:
			return SCHEDZ_WAKEUP;
		case SCHEDZ_WHAT_MIGRATE:
			return SCHEDZ_MIGRATE;
		case SCHEDZ_WHAT_CONTEXT:
			get_context(d, SCHEDZ_SWITCH);
			break;
		case SCHEDZ_WHAT_OTHER:
			symbol = get_raw(d, SCHEDZ_OTHER_BITS);
			if (symbol == SCHEDZ_SWITCH)
				return SCHEDZ_KINDS;
			if (symbol < SCHEDZ_KINDS)
				return symbol;
			get_change(d, symbol);
			break;
		default:
			return SCHEDZ_SWITCH;
		}
	}
	return SCHEDZ_KINDS;
}

static void get_event(struct schedz_decoder *d, struct schedz_event *event)
{
	struct schedz_block *b = &d->b;
	unsigned int kind, what;

	memset(event, 0, sizeof(*event));
	kind = get_kind(d, &what);
	if (kind == SCHEDZ_KINDS || !b->has_pid) {
		d->failed = true;
		return;
	}
	event->kind = kind;
	event->common_pid = b->pid;
	if (kind == SCHEDZ_SWITCH)
		get_switch(d, what, event);
	else
		get_other(d, kind, event);
	event->time = b->time;
	event->flags = b->context[kind][0];
	event->preempt_count = b->context[kind][0] >> 8;
}

static void begin_decode(struct schedz_decoder *d,
			 const struct schedz_header *h, const u8 *block,
			 size_t len)
{
	unsigned int i;

	d->front = block + SCHEDZ_HEADER;
	d->front_end = d->front + h->front;
	d->tail_begin = d->front_end;
	d->tail = block + len;
	d->range = U32_MAX;
	d->code = 0;
	for (i = 0; i < 4; i++)
		d->code = d->code << 8 | next_byte(d);
	d->bits = 0;
	d->nr_bits = 0;
	d->failed = false;
	d->cpu = h->cpu;
	schedz_block_reset(&d->b, h->time);
}

/**
 * schedz_read_header - decode the header of a block
 * @block: block
 * @len: its length
 * @header: where to
 *
 * Return: SCHEDZ_OK if it is a block of this version and whole; what its
 * header says may be used then.
 */
enum schedz_error schedz_read_header(const u8 *block, size_t len,
				     struct schedz_header *header)
{
	u32 crc;

	if (len < SCHEDZ_HEADER)
		return SCHEDZ_SHORT;
	if (block[0] != SCHEDZ_MAGIC_0 || block[1] != SCHEDZ_MAGIC_1)
		return SCHEDZ_MAGIC;
	header->version = block[2];
	if (block[2] != SCHEDZ_VERSION || block[3])
		return SCHEDZ_OTHER_VERSION;
	header->cpu = get_unaligned_le16(block + 4);
	header->front = get_unaligned_le16(block + 6);
	header->seq = get_unaligned_le32(block + 8);
	header->events = get_unaligned_le32(block + 12);
	header->before = get_unaligned_le64(block + 16);
	header->time = get_unaligned_le64(block + 24);
	if (len > SCHEDZ_BLOCK_MAX || header->front > len - SCHEDZ_HEADER ||
	    !header->events || header->events > SCHEDZ_EVENTS_MAX ||
	    header->events > len * EVENTS_PER_BYTE)
		return SCHEDZ_LENGTHS;
	crc = crc32_le(~0, block, SCHEDZ_HEADER - sizeof(u32));
	crc = crc32_le(crc, block + SCHEDZ_HEADER, len - SCHEDZ_HEADER);
	if (crc != get_unaligned_le32(block + SCHEDZ_HEADER - sizeof(u32)))
		return SCHEDZ_CHECKSUM;
	return SCHEDZ_OK;
}

/**
 * schedz_decode - decode a block
 * @d: decoder; schedz_decoder_size() bytes that keep nothing from block to block
 * @block: block
 * @len: its length
 * @put: called for each event, in order
 * @arg: passed to @put
 *
 * Return: SCHEDZ_OK if there were as many events as the header says. Otherwise
 * @put may have been called for events before the nonsense, if the result is
 * SCHEDZ_DAMAGED.
 */
enum schedz_error
schedz_decode(struct schedz_decoder *d, const u8 *block, size_t len,
	      void (*put)(const struct schedz_event *event, void *arg),
	      void *arg)
{
	struct schedz_header h;
	struct schedz_event event;
	enum schedz_error error = schedz_read_header(block, len, &h);
	u32 i;

	if (error)
		return error;
	begin_decode(d, &h, block, len);
	for (i = 0; i < h.events; i++) {
		get_event(d, &event);
		if (d->failed)
			return SCHEDZ_DAMAGED;
		put(&event, arg);
	}
	/* All bytes have been used, but for the bits that fill the last one */
	if (d->front != d->front_end || d->tail != d->tail_begin || d->bits)
		return SCHEDZ_DAMAGED;
	return SCHEDZ_OK;
}
