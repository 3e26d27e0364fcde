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
 * Decisions, and the leading bits of time deltas, are coded by binary adaptive
 * models and a range coder (G. N. N. Martin, "Range encoding", 1979, in LZMA's
 * form with a carry). Bits that are close to random are written raw, from the end
 * of the block towards its front: many at once, where the range coder needs some
 * 20 instructions per bit. In blocks of a page this gives 2.3 to 2.7 bytes per
 * switch; Golomb-Rice codes instead of the models give 3.0 to 3.2, bytes of 7
 * bits 3.5 and more. An arithmetic coder of many symbols would have to divide.
 *
 * Encoding costs about as much as an ordinary event, too much for the run-queue
 * lock. tap.c costs a fraction of that; this file runs later, in a hard interrupt
 * of the same CPU, for several events at a time.
 *
 * Invariants:
 * - A block is decoded without any other: no state is kept from the block before.
 *   Tasks, their names and the running task are coded when first needed.
 * - struct schedz_block is known to the decoder as well. It alone determines the
 *   code, and both sides update it by the functions of model.h.
 * - An event that does not fit is coded again in the next block, and the coder is
 *   reset to its state before the event (arithmetic coding never changes bytes
 *   that were output). Words for changes can be applied twice.
 * - Time per word of the queue is bounded: some dozens of decisions.
 */
#include <linux/crc32.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "tap.h"

/* Tasks that one event can add to a block: running, its own, and other */
#define EVENT_TASKS 3

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

/* Kept in registers during one or more decisions */
struct range {
	u64 low;
	u32 size;
};

static __always_inline void put_decision(struct schedz_encoder *e,
					 struct range *r, u16 *model,
					 unsigned int bit)
{
	u32 prob = *model >> SCHEDZ_PROB_SHIFT;
	u32 bound = (r->size >> SCHEDZ_PROB_BITS) * prob;

	if (bit) {
		r->low += bound;
		r->size -= bound;
		*model = schedz_learn(*model, U32_MAX);
	} else {
		r->size = bound;
		*model = schedz_learn(*model, 0);
	}
	while (unlikely(r->size < SCHEDZ_RANGE_MIN)) {
		r->size <<= 8;
		r->low = shift_low(e, r->low);
	}
}

static __always_inline void put_bit(struct schedz_encoder *e, u16 *model,
				    unsigned int bit)
{
	struct range r = { e->c.low, e->c.range };

	put_decision(e, &r, model, bit);
	e->c.low = r.low;
	e->c.range = r.size;
}

/* The most significant bit first, each modelled given those before it */
static noinline void put_tree(struct schedz_encoder *e, u16 *model,
			      unsigned int value, unsigned int bits)
{
	struct range r = { e->c.low, e->c.range };
	unsigned int node = 1;

	/* A bit that ends the value */
	value = (value | 1U << bits) << 1;
	while (bits) {
		put_decision(e, &r, &model[node], value >> bits & 1);
		bits--;
		node = value >> (bits + 1);
	}
	e->c.low = r.low;
	e->c.range = r.size;
}

/* Unrolled for the values that are coded most often */
static __always_inline void put_tree2(struct schedz_encoder *e, u16 *model,
				      unsigned int v)
{
	struct range r = { e->c.low, e->c.range };

	put_decision(e, &r, &model[1], v >> 1);
	put_decision(e, &r, &model[2 | v >> 1], v & 1);
	e->c.low = r.low;
	e->c.range = r.size;
}

static __always_inline void put_tree3(struct schedz_encoder *e, u16 *model,
				      unsigned int v)
{
	struct range r = { e->c.low, e->c.range };

	put_decision(e, &r, &model[1], v >> 2);
	put_decision(e, &r, &model[2 | v >> 2], v >> 1 & 1);
	put_decision(e, &r, &model[4 | v >> 1], v & 1);
	e->c.low = r.low;
	e->c.range = r.size;
}

static __always_inline void put_tree4(struct schedz_encoder *e, u16 *model,
				      unsigned int v)
{
	struct range r = { e->c.low, e->c.range };

	put_decision(e, &r, &model[1], v >> 3);
	put_decision(e, &r, &model[2 | v >> 3], v >> 2 & 1);
	put_decision(e, &r, &model[4 | v >> 2], v >> 1 & 1);
	put_decision(e, &r, &model[8 | v >> 1], v & 1);
	e->c.low = r.low;
	e->c.range = r.size;
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
static void put_int(struct schedz_encoder *e, schedz_int_model model, u32 value)
{
	unsigned int bits = fls64(value);

	put_tree(e, model, bits, 6);
	if (bits > 1)
		put_raw(e, value & ((1U << (bits - 1)) - 1), bits - 1);
}

/* ------------------------------------------------------------------------- */

/* Encode a symbol other than that of a plain switch */
static void put_symbol(struct schedz_encoder *e, unsigned int symbol)
{
	struct schedz_block *b = &e->b;

	put_bit(e, &b->m.plain[b->symbol], 1);
	put_tree4(e, b->m.symbol[b->symbol], symbol);
}

static void put_name(struct schedz_encoder *e, const u64 *name)
{
	struct schedz_block *b = &e->b;
	const u8 *letter = (const u8 *)name;
	unsigned int i, len = SCHEDZ_COMM_LEN;
	bool same = name[0] == b->last_name[0] && name[1] == b->last_name[1];

	put_bit(e, b->m.same_name, !same);
	if (same)
		return;
	while (len && !letter[len - 1])
		len--;
	put_tree(e, b->m.length, len, 5);
	for (i = 0; i < len; i++)
		put_tree(e, b->m.letter, letter[i], 8);
	b->last_name[0] = name[0];
	b->last_name[1] = name[1];
}

static void put_prio(struct schedz_encoder *e, s32 prio)
{
	struct schedz_block *b = &e->b;

	put_bit(e, b->m.same_prio, prio != b->last_prio);
	if (prio == b->last_prio)
		return;
	put_int(e, b->m.prio, schedz_zigzag((s32)((u32)prio - 120)));
	b->last_prio = prio;
}

static u16 put_new_task(struct schedz_encoder *e, u16 slot)
{
	struct schedz_block *b = &e->b;
	const struct schedz_task *task = &e->task[slot];
	u16 number = schedz_block_add(b, task->pid, e->cpu);

	put_int(e, b->m.pid,
		schedz_zigzag((s32)((u32)task->pid - (u32)b->last_pid)));
	b->last_pid = task->pid;
	put_prio(e, task->prio);
	put_name(e, task->name);
	e->number[slot] = number + 1;
	return number;
}

/* The task of a symbol; returns its number */
static u16 put_task(struct schedz_encoder *e, unsigned int symbol,
		    u16 predicted, u16 slot)
{
	struct schedz_block *b = &e->b;
	unsigned int context = schedz_task_context(b, symbol);
	u16 *class = b->m.class[symbol != SCHEDZ_SWITCH][context];
	u16 number = e->number[slot] ? e->number[slot] - 1 : SCHEDZ_NONE;
	unsigned int place, bits;

	if (predicted != SCHEDZ_NONE) {
		put_bit(e, &b->m.hit[symbol][context], number != predicted);
		if (number == predicted)
			return number;
	}
	if (number == SCHEDZ_NONE) {
		put_tree3(e, class, SCHEDZ_CLASS_NEW);
		return put_new_task(e, slot);
	}
	place = number < SCHEDZ_RECENT_TASKS ? schedz_find_recent(b, number) :
					       SCHEDZ_RECENT;
	if (place == SCHEDZ_RECENT) {
		put_tree3(e, class, SCHEDZ_CLASS_NUMBER);
		put_raw(e, number, fls64(b->tasks - 1));
		return number;
	}
	bits = fls64(place);
	put_tree3(e, class, bits);
	if (bits > 1)
		put_tree(e, b->m.place[bits], place & ((1U << (bits - 1)) - 1),
			 bits - 1);
	return number;
}

static void put_context(struct schedz_encoder *e, unsigned int kind)
{
	struct schedz_block *b = &e->b;
	u16 context = e->context[kind];
	unsigned int at, n = b->nr_contexts[kind];

	for (at = 0; at < n && b->context[kind][at] != context; at++)
		;
	if (n) {
		put_bit(e, &b->m.same_context[kind], at != 0);
		if (!at)
			return;
		put_tree3(e, b->m.context[kind], at < n ? at : SCHEDZ_CONTEXTS);
	}
	if (at == n)
		put_raw(e, context, 16);
	schedz_context_touch(b, kind, at, context);
}

static void put_time(struct schedz_encoder *e, unsigned int kind)
{
	struct schedz_block *b = &e->b;
	u16 *model = b->m.delta[schedz_time_context(b, kind)];
	u64 delta = e->time - b->time;
	unsigned int bits = fls64(delta), class = 0;

	b->time = e->time;
	if (bits > SCHEDZ_DELTA_FINE)
		class = min_t(unsigned int, bits, SCHEDZ_DELTA_COARSE + 1) -
			SCHEDZ_DELTA_FINE;
	if (kind == SCHEDZ_SWITCH)
		b->last_delta[b->cur] = class;
	put_tree4(e, model, class);
	if (!class) {
		put_raw(e, delta, SCHEDZ_DELTA_FINE);
		return;
	}
	if (bits > SCHEDZ_DELTA_COARSE)
		put_raw(e, bits, 6);
	bits -= 1 + SCHEDZ_MANTISSA;
	put_tree2(e, b->m.mantissa[schedz_mantissa_context(b, kind)][class],
		  delta >> bits & 3);
	put_raw64(e, delta & ((1ULL << bits) - 1), bits);
}

static void put_cpu(struct schedz_encoder *e, u16 number, s32 cpu,
		    unsigned int dest)
{
	struct schedz_block *b = &e->b;

	put_bit(e, &b->m.same_cpu[dest], cpu != b->cpu[number]);
	if (cpu == b->cpu[number])
		return;
	put_int(e, b->m.cpu, schedz_zigzag(cpu));
	b->cpu[number] = cpu;
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
	put_task(e, symbol, schedz_predict(&e->b, symbol), slot);
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
	    (b->cur == SCHEDZ_NONE || b->cur + 1 != e->number[e->cur])) {
		put_symbol(e, SCHEDZ_SET_CUR);
		schedz_set_cur(b, put_task(e, SCHEDZ_SET_CUR, SCHEDZ_NONE,
					   e->cur));
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

static void put_state(struct schedz_encoder *e, const struct group *g)
{
	struct schedz_block *b = &e->b;

	b->state = min_t(u32, g->arg, SCHEDZ_STATE_RAW);
	put_bit(e, &b->m.same_state[b->cur % ARRAY_SIZE(b->m.same_state)],
		b->state != b->last_state[b->cur]);
	if (b->state != b->last_state[b->cur]) {
		put_tree4(e, b->m.state[b->idle[b->cur]], b->state);
		b->last_state[b->cur] = b->state;
	}
	if (b->state == SCHEDZ_STATE_RAW)
		put_raw64(e, g->value, 64);
}

static void put_switch(struct schedz_encoder *e, const struct group *g)
{
	struct schedz_block *b = &e->b;
	u16 next;

	put_time(e, SCHEDZ_SWITCH);
	put_state(e, g);
	next = put_task(e, SCHEDZ_SWITCH, schedz_predict(b, SCHEDZ_SWITCH),
			g->slot);
	schedz_block_event(b, SCHEDZ_SWITCH, SCHEDZ_NONE, next);
	b->pid = e->task[g->slot].pid;
}

static void put_other(struct schedz_encoder *e, const struct schedz_tap *tap,
		      const struct group *g)
{
	struct schedz_block *b = &e->b;
	unsigned int kind = g->kind;
	u16 number, other = SCHEDZ_NONE;

	put_time(e, kind);
	number = put_task(e, kind, schedz_predict(b, kind), g->slot);
	switch (kind) {
	case SCHEDZ_WAKING:
	case SCHEDZ_WAKEUP:
	case SCHEDZ_WAKEUP_NEW:
		put_cpu(e, number,
			g->arg == SCHEDZ_W_ARG_EXTRA ? g->value : g->arg, 0);
		break;
	case SCHEDZ_MIGRATE:
		put_cpu(e, number, lower_32_bits(g->value), 0);
		put_cpu(e, number, upper_32_bits(g->value), 1);
		break;
	case SCHEDZ_FORK:
		other = put_task(e, kind, SCHEDZ_NONE, g->other);
		break;
	case SCHEDZ_EXEC:
		put_raw(e, lower_32_bits(g->value), 32);
		put_filename(e, tap, g->filename, g->filename_len);
		break;
	}
	schedz_block_event(b, kind, number, other);
}

static bool is_plain(const struct schedz_encoder *e, unsigned int kind)
{
	const struct schedz_block *b = &e->b;

	return kind == SCHEDZ_SWITCH && b->nr_contexts[SCHEDZ_SWITCH] &&
	       b->context[SCHEDZ_SWITCH][0] == e->context[SCHEDZ_SWITCH];
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

/* Is there room for another event, whatever it is? */
static bool has_room(const struct schedz_encoder *e)
{
	return e->c.end - e->c.pos >=
	       SCHEDZ_BLOCK_MIN - SCHEDZ_HEADER + e->c.pending;
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
	if (is_plain(e, g->kind)) {
		put_bit(e, &e->b.m.plain[e->b.symbol], 0);
	} else {
		put_symbol(e, g->kind);
		put_context(e, g->kind);
	}
	if (g->kind == SCHEDZ_SWITCH)
		put_switch(e, g);
	else
		put_other(e, tap, g);
	return at + schedz_w_words(get(tap, at)) - begin;
}

/* Code the next event, if there is room for all of it */
static bool put_whole(struct schedz_encoder *e, struct schedz_tap *tap)
{
	struct group g = {};
	u32 taken;

	if (e->events && has_room(e)) {
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
		e->pid = e->task[e->cur].pid;
	}
	return true;
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
	u32 stop = tap->tail + min(words, schedz_tap_words(tap));

	while ((s32)(stop - tap->tail) > 0) {
		if (e->events == SCHEDZ_EVENTS_MAX ||
		    e->b.tasks > SCHEDZ_TASKS_MAX - EVENT_TASKS)
			return true;
		if (!put_whole(e, tap))
			return true;
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
