// SPDX-License-Identifier: GPL-2.0
/*
 * schedz: from a tap's queue to blocks.
 *
 * Most of a switch is its time: at 1 ns, 14 to 16 bits that cannot be predicted.
 * The next task and the state of the previous one take 3 to 7 bits with an
 * adaptive model; the other fields follow from the switch before. A block is
 *
 *	header | arithmetic code, forwards | raw bits, backwards
 *
 * What is not random is a digit from 0 to 7, coded by an adaptive model and a range
 * coder (G. N. N. Martin, "Range encoding", 1979, in LZMA's form with a carry). A
 * switch of a known task, with all as expected, takes three: what comes next, and
 * the size and first bits of the time since the event before. A digit takes some 70
 * instructions. Binary decisions take 40 each and two to three of them are needed
 * for the same; larger alphabets take longer to learn than a block is long.
 *
 * Bits that are close to random are written raw, from the end of the block towards
 * its front, many at once. In blocks of a page this gives 2.5 to 2.9 bytes per
 * switch; Golomb-Rice codes instead of the models give 3.0 to 3.2, bytes of 7 bits
 * 3.5 and more.
 *
 * Encoding costs about as much as the rest of an ordinary event, too much for the
 * run-queue lock. tap.c costs a fraction of that; this file runs later, in a hard
 * interrupt of the same CPU, for some dozens of events at a time.
 *
 * Invariants:
 * - A block is decoded without any other: no state is kept from the block before.
 *   Tasks, their names and the running task are coded when first needed.
 * - struct schedz_block is known to the decoder as well. It alone determines the
 *   code, and both sides update it by the functions of model.h.
 * - An event that does not fit is coded again in the next block, and the coder is
 *   reset to its state before the event (arithmetic coding never changes bytes
 *   that were output). Words for changes can be applied twice.
 * - Time per word of the queue is bounded: some dozens of digits.
 */
#include <linux/crc32.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "tap.h"

/* Tasks that one event can add to a block: running, its own, and other */
#define EVENT_TASKS 3

/* Bytes that any event, and the end of a block, take at most */
#define EVENT_BYTES (SCHEDZ_BLOCK_MIN - SCHEDZ_HEADER)

/*
 * Likewise of put_short(): 64 digits of 11 bits, if next is a new task, whose name
 * has 48 of them; 92 raw bits, and up to 16 bytes that the coder holds back
 */
#define SHORT_BYTES 128

static void out(struct schedz_encoder *e, u8 byte)
{
	struct schedz_coder *c = &e->c;

	if (c->pos < c->end)
		e->buf[c->pos++] = byte;
	else
		c->full = true;
}

/* Output the top byte of low, once no carry can change it */
static noinline u64 shift_low(struct schedz_encoder *e, u64 low)
{
	struct schedz_coder *c = &e->c;
	u8 carry = low >> 32;

	if (lower_32_bits(low) < 0xff000000 || carry) {
		if (c->started)
			out(e, c->cache + carry);
		for (; c->pending; c->pending--)
			out(e, 0xff + carry);
		c->cache = low >> 24;
		c->started = true;
	} else {
		c->pending++;
	}
	return (low & 0x00ffffff) << 8;
}

/* Kept in registers during one or more digits */
struct range {
	u64 low;
	u32 size;
};

static __always_inline void put_in_range(struct schedz_encoder *e,
					 struct range *r,
					 struct schedz_digit *model,
					 unsigned int digit)
{
	u32 part = r->size >> SCHEDZ_PROB_BITS;
	u32 low = schedz_below(model, digit);
	u32 high = 1 << SCHEDZ_PROB_BITS;

	if (digit < SCHEDZ_DIGITS - 1)
		high = schedz_below(model, digit + 1);
	r->low += part * low;
	r->size = part * (high - low);
	schedz_learn(model, digit, high - low);
	while (unlikely(r->size < SCHEDZ_RANGE_MIN)) {
		r->size <<= 8;
		r->low = shift_low(e, r->low);
	}
}

static noinline void put_digit(struct schedz_encoder *e,
			       struct schedz_digit *model, unsigned int digit)
{
	struct range r = { e->c.low, e->c.range };

	put_in_range(e, &r, model, digit);
	e->c.low = r.low;
	e->c.range = r.size;
}

/* The most significant digit first, each modelled given those before it */
static void put_tree(struct schedz_encoder *e, struct schedz_digit *model,
		     unsigned int value, unsigned int digits)
{
	unsigned int node = 0, digit;

	while (digits--) {
		digit = value >> digits * SCHEDZ_DIGIT_BITS &
			(SCHEDZ_DIGITS - 1);
		put_digit(e, &model[node], digit);
		node = node * SCHEDZ_DIGITS + digit + 1;
	}
}

/* Up to 32 bits; all other bits of @value are 0 */
static void put_raw(struct schedz_encoder *e, u32 value, unsigned int bits)
{
	struct schedz_coder *c = &e->c;

	c->bits |= (u64)value << c->nr_bits;
	c->nr_bits += bits;
	if (c->nr_bits < 32)
		return;
	if (c->end - c->pos >= sizeof(u32)) {
		c->end -= sizeof(u32);
		put_unaligned_be32(lower_32_bits(c->bits), e->buf + c->end);
	} else {
		c->full = true;
	}
	c->bits >>= 32;
	c->nr_bits -= 32;
}

static void put_raw64(struct schedz_encoder *e, u64 value, unsigned int bits)
{
	unsigned int low = min_t(unsigned int, bits, 32);

	put_raw(e, low < 32 ? value & ((1U << low) - 1) : lower_32_bits(value),
		low);
	if (bits > 32)
		put_raw(e, upper_32_bits(value), bits - 32);
}

/* The number of bits, and those below the first */
static void put_int(struct schedz_encoder *e, struct schedz_digit *model,
		    u32 value)
{
	unsigned int bits = fls64(value);

	put_tree(e, model, bits, 2);
	if (bits > 1)
		put_raw(e, value & ((1U << (bits - 1)) - 1), bits - 1);
}

/* ------------------------------------------------------------------------- */

static void put_what(struct schedz_encoder *e, unsigned int what)
{
	put_digit(e, &e->b.m.what[schedz_what_context(&e->b)], what);
}

/* A kind that has no digit of its own, or a change */
static void put_symbol(struct schedz_encoder *e, unsigned int symbol)
{
	put_what(e, SCHEDZ_WHAT_OTHER);
	put_raw(e, symbol, SCHEDZ_OTHER_BITS);
}

static void put_name(struct schedz_encoder *e, const u64 *name)
{
	struct schedz_block *b = &e->b;
	const u8 *letter = (const u8 *)name;
	unsigned int i, len = SCHEDZ_COMM_LEN;

	while (len && !letter[len - 1])
		len--;
	put_tree(e, b->m.length, len, 2);
	for (i = 0; i < len; i++)
		put_tree(e, b->m.letter, letter[i], 3);
	b->last_name[0] = name[0];
	b->last_name[1] = name[1];
}

static void put_prio(struct schedz_encoder *e, s32 prio)
{
	put_int(e, e->b.m.prio, schedz_zigzag((s32)((u32)prio - 120)));
	e->b.last_prio = prio;
}

static u16 put_new_task(struct schedz_encoder *e, u16 slot)
{
	struct schedz_block *b = &e->b;
	const struct schedz_task *task = &e->task[slot];
	u16 number = schedz_block_add(b, task->pid, e->cpu);
	unsigned int fresh = 0;

	if (task->prio != b->last_prio)
		fresh |= SCHEDZ_NEW_PRIO;
	if (task->name[0] != b->last_name[0] ||
	    task->name[1] != b->last_name[1])
		fresh |= SCHEDZ_NEW_NAME;
	put_int(e, b->m.pid,
		schedz_zigzag((s32)((u32)task->pid - (u32)b->last_pid)));
	b->last_pid = task->pid;
	put_digit(e, &b->m.fresh, fresh);
	if (fresh & SCHEDZ_NEW_PRIO)
		put_prio(e, task->prio);
	if (fresh & SCHEDZ_NEW_NAME)
		put_name(e, task->name);
	e->number[slot] = number + 1;
	return number;
}

/* The number of a slot's task, or SCHEDZ_NONE */
static u16 number_of(const struct schedz_encoder *e, u16 slot)
{
	return e->number[slot] - 1;
}

/*
 * A task that is not predicted, with one of the models of its class; returns its
 * number
 */
static u16 put_task(struct schedz_encoder *e, struct schedz_digit *class,
		    u16 slot)
{
	struct schedz_block *b = &e->b;
	u16 number = number_of(e, slot);
	unsigned int place, bits;

	if (number == SCHEDZ_NONE) {
		put_digit(e, class, SCHEDZ_CLASS_NEW);
		return put_new_task(e, slot);
	}
	place = number < SCHEDZ_RECENT_TASKS ? schedz_find_recent(b, number) :
					       SCHEDZ_RECENT;
	if (place == SCHEDZ_RECENT) {
		put_digit(e, class, SCHEDZ_CLASS_NUMBER);
		put_raw(e, number, fls64(b->tasks - 1));
		return number;
	}
	bits = fls64(place);
	put_digit(e, class, bits);
	if (bits < 2)
		return number;
	place &= (1U << (bits - 1)) - 1;
	if (bits < SCHEDZ_CLASS_LAST) {
		put_digit(e, &b->m.place[bits], place);
	} else {
		put_digit(e, &b->m.place[bits], place >> 1);
		put_raw(e, place & 1, 1);
	}
	return number;
}

/* A task that nothing predicts */
static u16 put_any_task(struct schedz_encoder *e, u16 slot)
{
	return put_task(e, &e->b.m.class[1][schedz_task_context(&e->b, false)],
			slot);
}

/* Flags and preempt_count that are not the last ones of a kind */
static void put_context(struct schedz_encoder *e, unsigned int kind)
{
	struct schedz_block *b = &e->b;
	u16 context = e->context[kind];
	unsigned int at, n = b->nr_contexts[kind];

	for (at = 0; at < n && b->context[kind][at] != context; at++)
		;
	put_digit(e, &b->m.context[kind], at < n ? at : SCHEDZ_CONTEXTS);
	if (at == n)
		put_raw(e, context, 16);
	schedz_context_touch(b, kind, at, context);
}

static bool has_context(const struct schedz_encoder *e, unsigned int kind)
{
	const struct schedz_block *b = &e->b;

	return b->nr_contexts[kind] && b->context[kind][0] == e->context[kind];
}

/* Two digits, and raw the rest; before it the number of bits, if they do not tell */
static __always_inline void put_time(struct schedz_encoder *e, struct range *r,
				     unsigned int kind)
{
	struct schedz_block *b = &e->b;
	unsigned int context = schedz_time_context(b, kind);
	u64 delta = e->time - b->time;
	unsigned int bits = fls64(delta), class = 0, raw, first;

	b->time = e->time;
	if (bits > SCHEDZ_DELTA_FINE)
		class = min_t(unsigned int, bits - SCHEDZ_DELTA_FINE,
			      SCHEDZ_DELTA_LAST);
	raw = schedz_delta_raw(class);
	first = class >> 1;
	if (kind == SCHEDZ_SWITCH)
		b->task[b->cur].delta = first;
	put_in_range(e, r, &b->m.high[context], first);
	if (unlikely(class == SCHEDZ_DELTA_LAST)) {
		put_raw(e, bits, 6);
		raw = bits - 1 - SCHEDZ_MANTISSA;
	}
	put_in_range(e, r, &b->m.low[context / 4][first],
		     (class & 1) << SCHEDZ_MANTISSA | (delta >> raw & 3));
	if (likely(raw <= 32))
		put_raw(e, delta & ((1ULL << raw) - 1), raw);
	else
		put_raw64(e, delta & ((1ULL << raw) - 1), raw);
}

static void put_cpu(struct schedz_encoder *e, u16 number, s32 cpu)
{
	put_int(e, e->b.m.cpu, schedz_zigzag(cpu));
	e->b.task[number].cpu = cpu;
}

static u32 get(const struct schedz_tap *tap, u32 at)
{
	return tap->word[at & tap->mask];
}

static void put_filename(struct schedz_encoder *e, const struct schedz_tap *tap,
			 u32 at, u32 len)
{
	u32 i, bytes, word;

	put_int(e, e->b.m.filename, len);
	for (i = 0; i < len; i += bytes) {
		const u8 *byte = (const u8 *)&word;
		u32 n;

		word = get(tap, at++);
		bytes = min_t(u32, sizeof(word), len - i);
		for (n = 0; n < bytes; n++)
			put_raw(e, byte[n], 8);
	}
}

/* ------------------------------------------------------------------------- */

/* An event and what comes with it in the queue */
struct group {
	unsigned int kind;
	u16 slot;
	u16 arg;
	u32 delta;
	u16 other;
	u64 value;
	u32 filename;
	u32 filename_len;
};

static void begin_block(struct schedz_encoder *e)
{
	e->c = (struct schedz_coder){
		.range = U32_MAX,
		.pos = SCHEDZ_HEADER,
		.end = e->size,
	};
	memset(e->number, 0, sizeof(e->number));
	e->before = e->total;
	e->begin = e->time;
	schedz_block_reset(&e->b, e->time);
}

/* Code a change of a slot's task, if the block has the task */
static void put_change(struct schedz_encoder *e, unsigned int symbol, u16 slot)
{
	if (!e->number[slot])
		return;
	put_symbol(e, symbol);
	put_any_task(e, slot);
	if (symbol == SCHEDZ_SET_PRIO)
		put_prio(e, e->task[slot].prio);
	else
		put_name(e, e->task[slot].name);
}

/* Code what the decoder does not expect: running task, common_pid, time */
static void put_expected(struct schedz_encoder *e)
{
	struct schedz_block *b = &e->b;

	if (e->cur != SCHEDZ_NONE &&
	    (b->cur == SCHEDZ_NONE || b->cur != number_of(e, e->cur))) {
		put_symbol(e, SCHEDZ_SET_CUR);
		schedz_set_cur(b, put_any_task(e, e->cur));
		b->has_pid = true;
		b->pid = e->task[e->cur].pid;
	}
	if (!b->has_pid || b->pid != e->pid) {
		put_symbol(e, SCHEDZ_SET_PID);
		put_raw(e, e->pid, 32);
		b->has_pid = true;
		b->pid = e->pid;
	}
	if ((e->time - b->time) >> SCHEDZ_DELTA_BITS) {
		put_symbol(e, SCHEDZ_SET_TIME);
		put_raw64(e, e->time, 64);
		b->time = e->time;
	}
}

/* What of a switch is as expected, its time, and what is not */
static void put_switch(struct schedz_encoder *e, u16 slot, unsigned int state,
		       u64 value)
{
	struct schedz_block *b = &e->b;
	const struct schedz_known *prev = &b->task[b->cur];
	bool same = state == prev->state;
	u16 predicted = prev->after[!state];
	u16 next = number_of(e, slot);
	bool hit = next == predicted && next != SCHEDZ_NONE;
	struct range r;

	if (unlikely(!has_context(e, SCHEDZ_SWITCH))) {
		put_what(e, SCHEDZ_WHAT_CONTEXT);
		put_context(e, SCHEDZ_SWITCH);
	}
	r = (struct range){ e->c.low, e->c.range };
	put_in_range(e, &r, &b->m.what[schedz_what_context(b)],
		     !same ? SCHEDZ_WHAT_STATE :
		     hit   ? SCHEDZ_WHAT_EXPECTED :
			     SCHEDZ_WHAT_NEXT);
	put_time(e, &r, SCHEDZ_SWITCH);
	e->c.low = r.low;
	e->c.range = r.size;
	if (!same) {
		put_tree(e, b->m.state[b->cur_idle], state, 2);
		if (predicted != SCHEDZ_NONE)
			put_digit(e, &b->m.hit[schedz_task_context(b, !state)],
				  !hit);
	}
	if (unlikely(state == SCHEDZ_STATE_RAW))
		put_raw64(e, value, 64);
	if (!hit)
		next = put_task(e,
				&b->m.class[0][schedz_task_context(b, !state)],
				slot);
	schedz_block_switch(b, state, same, next);
	b->pid = e->task[slot].pid;
}

/* The CPU of an event that has one */
static s32 cpu_of(const struct group *g)
{
	if (g->kind == SCHEDZ_MIGRATE)
		return lower_32_bits(g->value);
	return g->arg == SCHEDZ_W_ARG_EXTRA ? g->value : g->arg;
}

static void put_kind(struct schedz_encoder *e, unsigned int kind)
{
	switch (kind) {
	case SCHEDZ_WAKING:
		put_what(e, SCHEDZ_WHAT_WAKING);
		break;
	case SCHEDZ_WAKEUP:
		put_what(e, SCHEDZ_WHAT_WAKEUP);
		break;
	case SCHEDZ_MIGRATE:
		put_what(e, SCHEDZ_WHAT_MIGRATE);
		break;
	default:
		put_symbol(e, kind);
	}
}

/* An event but a switch: its kind, what of it is not as expected, and that */
static void put_other(struct schedz_encoder *e, const struct schedz_tap *tap,
		      const struct group *g)
{
	struct schedz_block *b = &e->b;
	unsigned int kind = g->kind, differs = 0;
	bool has_cpu = kind >= SCHEDZ_WAKING && kind <= SCHEDZ_MIGRATE;
	u16 number = number_of(e, g->slot), other = SCHEDZ_NONE;
	struct range r;

	if (!has_context(e, kind))
		differs |= SCHEDZ_NEW_CONTEXT;
	if (number == SCHEDZ_NONE || number != schedz_predict(b, kind))
		differs |= SCHEDZ_NEW_TASK;
	if (has_cpu &&
	    cpu_of(g) != (number == SCHEDZ_NONE ? e->cpu : b->task[number].cpu))
		differs |= SCHEDZ_NEW_CPU;
	put_kind(e, kind);
	put_digit(e, &b->m.differs[kind][schedz_differs_context(b)], differs);
	if (differs & SCHEDZ_NEW_CONTEXT)
		put_context(e, kind);
	r = (struct range){ e->c.low, e->c.range };
	put_time(e, &r, kind);
	e->c.low = r.low;
	e->c.range = r.size;
	if (differs & SCHEDZ_NEW_TASK)
		number = put_any_task(e, g->slot);
	if (differs & SCHEDZ_NEW_CPU)
		put_cpu(e, number, cpu_of(g));
	switch (kind) {
	case SCHEDZ_MIGRATE:
		put_cpu(e, number, upper_32_bits(g->value));
		break;
	case SCHEDZ_FORK:
		other = put_any_task(e, g->other);
		break;
	case SCHEDZ_EXEC:
		put_raw(e, lower_32_bits(g->value), 32);
		put_filename(e, tap, g->filename, g->filename_len);
		break;
	}
	schedz_block_event(b, kind, number, other);
}

static u64 get64(const struct schedz_tap *tap, u32 at)
{
	return get(tap, at) | (u64)get(tap, at + 1) << 32;
}

static void get_name(const struct schedz_tap *tap, u32 at, u32 words,
		     struct schedz_task *task)
{
	u32 word[SCHEDZ_COMM_LEN / sizeof(u32)] = {};
	u32 i;

	for (i = 0; i < words; i++)
		word[i] = get(tap, at + i);
	memcpy(task->name, word, sizeof(word));
}

/* Apply a word for a change */
static void apply(struct schedz_encoder *e, const struct schedz_tap *tap,
		  u32 at, struct group *g)
{
	u32 word = get(tap, at);
	u16 slot = schedz_w_slot(word);
	struct schedz_task *task = &e->task[slot];

	switch (schedz_w_kind(word)) {
	case SCHEDZ_W_TASK:
		task->pid = get(tap, at + 1);
		task->prio = schedz_w_arg(word) >> SCHEDZ_W_NAME_BITS;
		get_name(tap, at + 2, schedz_w_name_words(word), task);
		e->number[slot] = 0;
		break;
	case SCHEDZ_W_PRIO:
		task->prio = get(tap, at + 1);
		put_change(e, SCHEDZ_SET_PRIO, slot);
		break;
	case SCHEDZ_W_NAME:
		get_name(tap, at + 1, schedz_w_name_words(word), task);
		put_change(e, SCHEDZ_SET_NAME, slot);
		break;
	case SCHEDZ_W_CUR:
		e->cur = slot;
		e->pid = task->pid;
		break;
	case SCHEDZ_W_PID:
		e->pid = get(tap, at + 1);
		break;
	case SCHEDZ_W_CONTEXT:
		e->context[slot % SCHEDZ_KINDS] = schedz_w_arg(word);
		break;
	case SCHEDZ_W_TIME:
		e->time = get64(tap, at + 1);
		break;
	case SCHEDZ_W_EXTRA:
		g->other = slot;
		g->value = get64(tap, at + 1);
		break;
	case SCHEDZ_W_FILENAME:
		g->filename_len = schedz_w_arg(word);
		g->filename = at + 1;
		break;
	}
}

static void get_event(const struct schedz_tap *tap, u32 at, struct group *g)
{
	u32 word = get(tap, at);

	g->kind = schedz_w_kind(word);
	if (word & SCHEDZ_W_SHORT) {
		g->slot = word >> SCHEDZ_W_SHORT_SLOT_SHIFT &
			  (SCHEDZ_SLOTS - 1);
		g->arg = word >> SCHEDZ_W_SHORT_STATE_SHIFT & 15;
		g->delta = word >> SCHEDZ_W_SHORT_DELTA_SHIFT;
		return;
	}
	g->slot = schedz_w_slot(word);
	g->arg = schedz_w_arg(word);
	g->delta = get(tap, at + 1);
}

/* Is there room for an event of at most @bytes? */
static bool has_room(const struct schedz_encoder *e, u32 bytes)
{
	return e->c.end - e->c.pos >= bytes + e->c.pending;
}

/* Is there still room to finish the block? */
static bool fits(const struct schedz_encoder *e)
{
	const struct schedz_coder *c = &e->c;

	return !c->full && c->end - c->pos >= c->pending + 2 + sizeof(u32);
}

/* Code the event at @at and the changes before it; returns the number of words */
static u32 put_group(struct schedz_encoder *e, const struct schedz_tap *tap,
		     u32 at, struct group *g)
{
	u32 begin = at;

	if (!e->events)
		begin_block(e);
	while (schedz_w_kind(get(tap, at)) >= SCHEDZ_KINDS) {
		apply(e, tap, at, g);
		at += schedz_w_words(get(tap, at));
	}
	get_event(tap, at, g);
	e->time += g->delta;
	if (!e->events) {
		e->begin = e->time;
		e->b.time = e->time;
	}
	/* Without a change before it, all is as expected */
	if (at != begin || !e->events)
		put_expected(e);
	if (g->kind == SCHEDZ_SWITCH)
		put_switch(e, g->slot, min_t(u32, g->arg, SCHEDZ_STATE_RAW),
			   g->value);
	else
		put_other(e, tap, g);
	return at + schedz_w_words(get(tap, at)) - begin;
}

/* Code the next event, if there is room for all of it */
static noinline bool put_any(struct schedz_encoder *e, struct schedz_tap *tap)
{
	struct group g = {};
	u32 taken;

	if (e->events && has_room(e, EVENT_BYTES)) {
		taken = put_group(e, tap, tap->tail, &g);
	} else {
		struct schedz_coder before = e->c;
		u64 time = e->time;

		taken = put_group(e, tap, tap->tail, &g);
		if (!fits(e)) {
			e->c = before;
			e->time = time;
			return false;
		}
	}
	tap->tail += taken;
	e->events++;
	if (g.kind == SCHEDZ_SWITCH) {
		e->cur = g.slot;
		e->pid = e->b.pid;
	}
	return true;
}

/* The usual: a switch of one word, nothing changed before it, and there is room */
static __always_inline void put_short(struct schedz_encoder *e, u32 word)
{
	u16 slot = word >> SCHEDZ_W_SHORT_SLOT_SHIFT & (SCHEDZ_SLOTS - 1);

	e->time += word >> SCHEDZ_W_SHORT_DELTA_SHIFT;
	put_switch(e, slot, word >> SCHEDZ_W_SHORT_STATE_SHIFT & 15, 0);
	e->cur = slot;
	e->pid = e->b.pid;
}

/**
 * schedz_encode - encode events of a tap
 * @e: encoder
 * @tap: tap of the same CPU
 * @words: stop after this number of words of its queue, at the end of an event;
 *	at least one event is encoded if there is one
 *
 * Context: tap.h.
 * Return: true if the block is full: take it by schedz_finish() and go on.
 */
bool schedz_encode(struct schedz_encoder *e, struct schedz_tap *tap, u32 words)
{
	u32 stop = tap->tail + min(words, schedz_tap_words(tap)), word;

	while ((s32)(stop - tap->tail) > 0) {
		if (e->events == SCHEDZ_EVENTS_MAX ||
		    e->b.tasks > SCHEDZ_TASKS_MAX - EVENT_TASKS)
			return true;
		word = get(tap, tap->tail);
		if (likely(word & SCHEDZ_W_SHORT && e->events &&
			   has_room(e, SHORT_BYTES))) {
			put_short(e, word);
			tap->tail++;
			e->events++;
		} else if (!put_any(e, tap)) {
			return true;
		}
	}
	return false;
}

/**
 * schedz_encoder_lost - count events that were not put into the tap
 * @e: encoder
 * @events: number of events
 *
 * The next block's header shows that they are missing.
 */
void schedz_encoder_lost(struct schedz_encoder *e, u64 events)
{
	e->total += events;
}

/* Output as many bytes as the decoder needs to find the range */
static void flush_coder(struct schedz_encoder *e)
{
	struct schedz_coder *c = &e->c;

	shift_low(e, shift_low(e, (c->low + 0x00ffffff) & ~0x00ffffffULL));
	/* Missing bytes are read as 0 */
	while (c->pos > SCHEDZ_HEADER && !e->buf[c->pos - 1])
		c->pos--;
	for (; c->nr_bits; c->nr_bits -= min_t(u8, c->nr_bits, 8)) {
		e->buf[--c->end] = c->bits;
		c->bits >>= 8;
	}
}

/**
 * schedz_finish - close the block
 * @e: encoder
 *
 * The block is at the begin of the encoder's buffer, until more is encoded.
 *
 * Return: length of the block, 0 if there are no events for it.
 */
u32 schedz_finish(struct schedz_encoder *e)
{
	struct schedz_coder *c = &e->c;
	u8 *h = e->buf;
	u32 len, crc;

	if (!e->events)
		return 0;
	flush_coder(e);
	len = c->pos + e->size - c->end;
	memmove(e->buf + c->pos, e->buf + c->end, e->size - c->end);

	h[0] = SCHEDZ_MAGIC_0;
	h[1] = SCHEDZ_MAGIC_1;
	h[2] = SCHEDZ_VERSION;
	h[3] = 0;
	put_unaligned_le16(e->cpu, h + 4);
	put_unaligned_le16(c->pos - SCHEDZ_HEADER, h + 6);
	put_unaligned_le32(e->seq, h + 8);
	put_unaligned_le32(e->events, h + 12);
	put_unaligned_le64(e->before, h + 16);
	put_unaligned_le64(e->begin, h + 24);
	crc = crc32_le(~0, h, SCHEDZ_HEADER - sizeof(u32));
	crc = crc32_le(crc, h + SCHEDZ_HEADER, len - SCHEDZ_HEADER);
	put_unaligned_le32(crc, h + SCHEDZ_HEADER - sizeof(u32));

	e->seq++;
	e->total += e->events;
	e->events = 0;
	/* They may be as many as there are numbers for: the next block is not full, too */
	e->b.tasks = 0;
	return len;
}

/**
 * schedz_encoder_init - an encoder at the begin of a CPU's stream
 * @e: encoder
 * @buf: room for a block
 * @size: of it, from SCHEDZ_BLOCK_MIN to SCHEDZ_BLOCK_MAX
 * @cpu: the CPU
 */
void schedz_encoder_init(struct schedz_encoder *e, u8 *buf, u32 size, u16 cpu)
{
	unsigned int i;

	memset(e, 0, sizeof(*e));
	e->buf = buf;
	e->size = size;
	e->cpu = cpu;
	e->cur = SCHEDZ_NONE;
	for (i = 0; i < SCHEDZ_SLOTS; i++)
		e->task[i].pid = SCHEDZ_NO_PID;
}
