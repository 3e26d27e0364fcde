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

/*
 * Each event takes 8 decisions or more, each of them 1/191 bit or more (the
 * probability never exceeds 4081/4096), plus the most that the end of the code
 * may leave out.
 */
#define EVENTS_PER_BYTE 191

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

static __always_inline unsigned int get_bit(struct schedz_decoder *d,
					    u16 *model)
{
	u32 bound =
		(d->range >> SCHEDZ_PROB_BITS) * (*model >> SCHEDZ_PROB_SHIFT);
	unsigned int bit = d->code >= bound;
	/* A mask instead of a branch, which could not be predicted */
	u32 one = -bit;

	d->code -= bound & one;
	d->range = bound + ((d->range - 2 * bound) & one);
	*model = schedz_learn(*model, one);
	while (d->range < SCHEDZ_RANGE_MIN) {
		d->range <<= 8;
		d->code = d->code << 8 | next_byte(d);
	}
	return bit;
}

static __always_inline unsigned int get_tree(struct schedz_decoder *d,
					     u16 *model, unsigned int bits)
{
	unsigned int i, node = 1;

	for (i = 0; i < bits; i++)
		node = node << 1 | get_bit(d, &model[node]);
	return node - (1U << bits);
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

static u32 get_int(struct schedz_decoder *d, schedz_int_model model)
{
	unsigned int bits = get_tree(d, model, 6);

	if (bits > 32) {
		d->failed = true;
		return 0;
	}
	if (bits <= 1)
		return bits;
	return 1U << (bits - 1) | get_raw(d, bits - 1);
}

/* ------------------------------------------------------------------------- */

/* Decode a symbol other than that of a plain switch */
static unsigned int get_symbol(struct schedz_decoder *d)
{
	return get_tree(d, d->b.m.symbol[d->b.symbol], 4);
}

static bool get_plain(struct schedz_decoder *d)
{
	return !get_bit(d, &d->b.m.plain[d->b.symbol]);
}

static void get_name(struct schedz_decoder *d, u64 *name)
{
	struct schedz_block *b = &d->b;
	u8 *letter = (u8 *)b->last_name;
	unsigned int i, len;

	if (get_bit(d, b->m.same_name)) {
		len = get_tree(d, b->m.length, 5);
		if (len > SCHEDZ_COMM_LEN) {
			d->failed = true;
			return;
		}
		memset(letter, 0, SCHEDZ_COMM_LEN);
		for (i = 0; i < len; i++)
			letter[i] = get_tree(d, b->m.letter, 8);
	}
	name[0] = b->last_name[0];
	name[1] = b->last_name[1];
}

static s32 get_prio(struct schedz_decoder *d)
{
	struct schedz_block *b = &d->b;

	if (get_bit(d, b->m.same_prio))
		b->last_prio =
			(s32)((u32)schedz_unzigzag(get_int(d, b->m.prio)) +
			      120);
	return b->last_prio;
}

static u16 get_new_task(struct schedz_decoder *d)
{
	struct schedz_block *b = &d->b;
	struct schedz_task *task;
	u16 number;

	if (b->tasks == SCHEDZ_TASKS_MAX) {
		d->failed = true;
		return 0;
	}
	b->last_pid = (s32)((u32)schedz_unzigzag(get_int(d, b->m.pid)) +
			    (u32)b->last_pid);
	number = schedz_block_add(b, b->last_pid, d->cpu);
	task = &d->task[number];
	task->pid = b->last_pid;
	task->prio = get_prio(d);
	get_name(d, task->name);
	return number;
}

/* Return the number of a task; it is valid unless decoding failed */
static u16 get_task(struct schedz_decoder *d, unsigned int symbol,
		    u16 predicted)
{
	struct schedz_block *b = &d->b;
	unsigned int context = schedz_task_context(b, symbol);
	unsigned int class, place;
	u32 number;

	if (predicted != SCHEDZ_NONE && !get_bit(d, &b->m.hit[symbol][context]))
		return predicted;
	class = get_tree(d, b->m.class[symbol != SCHEDZ_SWITCH][context], 3);
	if (class == SCHEDZ_CLASS_NEW)
		return get_new_task(d);
	if (class == SCHEDZ_CLASS_NUMBER) {
		number = b->tasks ? get_raw(d, fls64(b->tasks - 1)) :
				    SCHEDZ_NONE;
	} else {
		place = class;
		if (class > 1)
			place = 1U << (class - 1) |
				get_tree(d, b->m.place[class], class - 1);
		number = schedz_recent(b, place);
	}
	if (number >= b->tasks) {
		d->failed = true;
		return 0;
	}
	return number;
}

static u16 get_context(struct schedz_decoder *d, unsigned int kind)
{
	struct schedz_block *b = &d->b;
	unsigned int n = b->nr_contexts[kind], at = n;
	u16 context;

	if (n) {
		if (!get_bit(d, &b->m.same_context[kind]))
			return b->context[kind][0];
		at = get_tree(d, b->m.context[kind], 3);
	}
	if (at == SCHEDZ_CONTEXTS)
		at = n;
	if (at > n) {
		d->failed = true;
		return 0;
	}
	context = at == n ? get_raw(d, 16) : b->context[kind][at];
	schedz_context_touch(b, kind, at, context);
	return context;
}

static u64 get_time(struct schedz_decoder *d, unsigned int kind)
{
	struct schedz_block *b = &d->b;
	unsigned int class = get_tree(d,
				      b->m.delta[schedz_time_context(b, kind)],
				      SCHEDZ_DELTA_CLASS_BITS);
	unsigned int bits = class + SCHEDZ_DELTA_FINE;
	u64 delta;

	if (kind == SCHEDZ_SWITCH)
		b->last_delta[b->cur] = class;
	if (!class) {
		b->time += get_raw(d, SCHEDZ_DELTA_FINE);
		return b->time;
	}
	if (bits > SCHEDZ_DELTA_COARSE) {
		bits = get_raw(d, 6);
		if (bits <= SCHEDZ_DELTA_COARSE || bits > SCHEDZ_DELTA_BITS) {
			d->failed = true;
			return 0;
		}
	}
	bits -= 1 + SCHEDZ_MANTISSA;
	delta = 1 << SCHEDZ_MANTISSA |
		get_tree(d,
			 b->m.mantissa[schedz_mantissa_context(b, kind)][class],
			 SCHEDZ_MANTISSA);
	b->time += delta << bits | get_raw64(d, bits);
	return b->time;
}

static s32 get_cpu(struct schedz_decoder *d, u16 number, unsigned int dest)
{
	struct schedz_block *b = &d->b;

	if (get_bit(d, &b->m.same_cpu[dest]))
		b->cpu[number] = schedz_unzigzag(get_int(d, b->m.cpu));
	return b->cpu[number];
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

/* Decode a change between events; return false if the symbol is an event's */
static bool get_expected(struct schedz_decoder *d, unsigned int symbol)
{
	struct schedz_block *b = &d->b;
	u16 number;

	switch (symbol) {
	case SCHEDZ_SET_CUR:
		number = get_task(d, symbol, SCHEDZ_NONE);
		if (d->failed)
			return true;
		schedz_set_cur(b, number);
		b->has_pid = true;
		b->pid = d->task[b->cur].pid;
		return true;
	case SCHEDZ_SET_PID:
		b->has_pid = true;
		b->pid = get_raw(d, 32);
		return true;
	case SCHEDZ_SET_TIME:
		b->time = get_raw64(d, 64);
		return true;
	case SCHEDZ_SET_PRIO:
	case SCHEDZ_SET_NAME:
		number = get_task(d, symbol, schedz_predict(b, symbol));
		if (d->failed)
			return true;
		if (symbol == SCHEDZ_SET_PRIO)
			d->task[number].prio = get_prio(d);
		else
			get_name(d, d->task[number].name);
		return true;
	}
	return false;
}

static void get_switch(struct schedz_decoder *d, struct schedz_event *event)
{
	struct schedz_block *b = &d->b;
	u16 next;

	b->state = b->last_state[b->cur];
	if (get_bit(d,
		    &b->m.same_state[b->cur % ARRAY_SIZE(b->m.same_state)])) {
		b->state = get_tree(d, b->m.state[b->idle[b->cur]],
				    SCHEDZ_STATE_BITS);
		b->last_state[b->cur] = b->state;
	}
	if (b->state == SCHEDZ_STATE_RAW)
		event->state = get_raw64(d, 64);
	else
		event->state = b->state ? 1ULL << (b->state - 1) : 0;
	next = get_task(d, SCHEDZ_SWITCH, schedz_predict(b, SCHEDZ_SWITCH));
	if (d->failed)
		return;
	event->task = d->task[b->cur];
	event->other = d->task[next];
	schedz_block_event(b, SCHEDZ_SWITCH, SCHEDZ_NONE, next);
	b->pid = d->task[next].pid;
}

static void get_other(struct schedz_decoder *d, unsigned int kind,
		      struct schedz_event *event)
{
	struct schedz_block *b = &d->b;
	u16 number, other = SCHEDZ_NONE;

	number = get_task(d, kind, schedz_predict(b, kind));
	if (d->failed)
		return;
	event->task = d->task[number];
	switch (kind) {
	case SCHEDZ_WAKING:
	case SCHEDZ_WAKEUP:
	case SCHEDZ_WAKEUP_NEW:
		event->cpu = get_cpu(d, number, 0);
		break;
	case SCHEDZ_MIGRATE:
		event->cpu = get_cpu(d, number, 0);
		event->dest_cpu = get_cpu(d, number, 1);
		break;
	case SCHEDZ_FORK:
		other = get_task(d, kind, SCHEDZ_NONE);
		if (d->failed)
			return;
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

/* Decode the changes and the kind of an event; SCHEDZ_KINDS if they are invalid */
static unsigned int get_kind(struct schedz_decoder *d, bool *plain)
{
	unsigned int symbol, changes;

	for (changes = 0; changes <= CHANGES_MAX && !d->failed; changes++) {
		*plain = get_plain(d);
		if (*plain)
			return SCHEDZ_SWITCH;
		symbol = get_symbol(d);
		if (!get_expected(d, symbol))
			return symbol;
	}
	return SCHEDZ_KINDS;
}

static void get_event(struct schedz_decoder *d, struct schedz_event *event)
{
	struct schedz_block *b = &d->b;
	unsigned int kind;
	bool plain;
	u16 context;

	memset(event, 0, sizeof(*event));
	kind = get_kind(d, &plain);
	if (kind >= SCHEDZ_KINDS || !b->has_pid ||
	    (kind == SCHEDZ_SWITCH && b->cur == SCHEDZ_NONE) ||
	    (plain && !b->nr_contexts[SCHEDZ_SWITCH])) {
		d->failed = true;
		return;
	}
	context = plain ? b->context[SCHEDZ_SWITCH][0] : get_context(d, kind);
	event->kind = kind;
	event->flags = context;
	event->preempt_count = context >> 8;
	event->common_pid = b->pid;
	event->time = get_time(d, kind);
	if (kind == SCHEDZ_SWITCH)
		get_switch(d, event);
	else
		get_other(d, kind, event);
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
