/* SPDX-License-Identifier: GPL-2.0 */
/*
 * schedz: the state that encoder and decoder share at every point of a block,
 * and its updates. Private to encode.c and decode.c.
 */
#ifndef _SCHEDZ_MODEL_H
#define _SCHEDZ_MODEL_H

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "codec.h"

/* Symbols other than the kinds of events */
enum {
	SCHEDZ_SET_CUR = SCHEDZ_KINDS, /* the running task */
	SCHEDZ_SET_PID, /* common_pid is not the running task's */
	SCHEDZ_SET_TIME, /* time of the last event */
	SCHEDZ_SET_PRIO, /* a task's priority */
	SCHEDZ_SET_NAME, /* a task's name */
	SCHEDZ_SYMBOLS = 16,
};

/*
 * A model is the probability of a 0 in units of 2^-12, above a count from 1 to 15
 * of the bits seen. After each bit the probability moves towards that bit by a
 * part of the distance: a half, a quarter, an eighth and at last 1/16, so that it
 * adapts quickly in short blocks. It is never below 15 nor above 4080.
 */
#define SCHEDZ_PROB_BITS 12
#define SCHEDZ_PROB_SHIFT 4
#define SCHEDZ_PROB_SEEN ((1 << SCHEDZ_PROB_SHIFT) - 1)
#define SCHEDZ_PROB_HALF (1 << (SCHEDZ_PROB_BITS + SCHEDZ_PROB_SHIFT - 1))

/* The range is kept at or above 2^24, a byte leaves when it falls below */
#define SCHEDZ_RANGE_MIN 0x01000000U

/*
 * A time delta has a class: 0 below 2^FINE, then one for each power of two, and
 * the last for all from 2^COARSE on. MANTISSA bits behind the first are modelled.
 */
#define SCHEDZ_DELTA_BITS 47
#define SCHEDZ_DELTA_CLASS_BITS 4
#define SCHEDZ_DELTA_CLASSES 16
#define SCHEDZ_DELTA_FINE 8
#define SCHEDZ_DELTA_COARSE (SCHEDZ_DELTA_FINE + 14)
#define SCHEDZ_MANTISSA 2
#define SCHEDZ_MANTISSAS 4

/* For the class: switches by how long their task ran before, then other kinds */
#define SCHEDZ_TIME_SWITCHES 64
#define SCHEDZ_TIME_CONTEXTS (SCHEDZ_TIME_SWITCHES + 24)

/* Codes of prev_state: 0, 1 << 0, 1 << 1, ... and what is none of these */
#define SCHEDZ_STATE_BITS 4
#define SCHEDZ_STATES 16
#define SCHEDZ_STATE_RAW 15

/*
 * Places of recently used tasks; a byte each, eight to a word, so that they are
 * searched and moved by the word. Tasks from RECENT_TASKS on have none.
 */
#define SCHEDZ_RECENT 32
#define SCHEDZ_RECENT_WORDS (SCHEDZ_RECENT / 8)
#define SCHEDZ_RECENT_TASKS 255
#define SCHEDZ_BYTES 0x0101010101010101ULL

/* How a task is coded: 0 to 5, the bits of its place, or */
enum {
	SCHEDZ_CLASS_NUMBER = 6, /* by its number */
	SCHEDZ_CLASS_NEW = 7, /* it was not in the block so far */
};

/* Combinations of flags and preempt_count that a kind remembers */
#define SCHEDZ_CONTEXTS 7

#define SCHEDZ_NONE 0xffff

/* Models of an integer: its bits are counted with these, then written raw */
typedef u16 schedz_int_model[64];

/**
 * struct schedz_model - adaptive probabilities; u16s only, see schedz_model_reset()
 * @plain: a switch with flags and preempt_count as last time, by the symbol
 *	before
 * @symbol: which other, by the symbol before
 * @same_context: flags and preempt_count as last time, by kind
 * @context: which of the remembered ones
 * @delta: class of a time delta, by schedz_time_context()
 * @mantissa: bits below its first
 * @same_state: prev_state as the task's last time, by the running task
 * @state: prev_state, for the idle task and others
 * @hit: the task is the predicted one, by symbol and schedz_task_context()
 * @class: class of its place otherwise, for switches and for others
 * @place: place within the class
 * @same_cpu: the CPU is the one remembered
 * @cpu: integer
 * @pid: integer, pid of a new task minus that of the new one before
 * @same_prio: priority as of the new task before
 * @prio: integer, minus 120
 * @same_name: name as of the new task before
 * @length: of a name
 * @letter: of a name
 * @filename: integer, length
 */
struct schedz_model {
	u16 plain[SCHEDZ_SYMBOLS];
	u16 symbol[SCHEDZ_SYMBOLS][16];
	u16 same_context[SCHEDZ_KINDS];
	u16 context[SCHEDZ_KINDS][8];
	u16 delta[SCHEDZ_TIME_CONTEXTS][SCHEDZ_DELTA_CLASSES];
	u16 mantissa[4][SCHEDZ_DELTA_CLASSES][SCHEDZ_MANTISSAS];
	u16 same_state[32];
	u16 state[2][SCHEDZ_STATES];
	u16 hit[SCHEDZ_SYMBOLS][8];
	u16 class[2][8][8];
	u16 place[SCHEDZ_CLASS_NUMBER][16];
	u16 same_cpu[2];
	schedz_int_model cpu;
	schedz_int_model pid;
	u16 same_prio[1];
	schedz_int_model prio;
	u16 same_name[1];
	u16 length[32];
	u16 letter[256];
	schedz_int_model filename;
};

/**
 * struct schedz_block - state of a block that encoder and decoder share
 * @m: the probabilities
 * @tasks: number of tasks so far; they are numbered in the order in which they
 *	first appear
 * @cur: the running task, or SCHEDZ_NONE
 * @cur_idle: it is the idle task
 * @woken: the task last woken, forked or migrated, or SCHEDZ_NONE
 * @symbol: symbol before
 * @state: code of the prev_state last coded
 * @has_pid: @pid is known
 * @pid: expected common_pid
 * @last_pid: of the last new task
 * @last_prio: likewise
 * @last_name: likewise
 * @time: of the event before
 * @recent: tasks, the last used first, in the lowest byte of the first word;
 *	SCHEDZ_RECENT_TASKS where there is none
 * @nr_contexts: used entries of @context
 * @context: flags | preempt_count << 8 by kind, the last used first
 * @idle: whether a task's pid is 0
 * @after: the task that ran after this task the last time that it stopped while
 *	not runnable, and runnable, or SCHEDZ_NONE
 * @wakes: the task that this task woke the last time, or SCHEDZ_NONE
 * @last_state: code of a task's last prev_state
 * @last_delta: class of the time delta with which a task stopped the last time
 * @cpu: CPU of a task in the last event that told
 */
struct schedz_block {
	struct schedz_model m;
	u16 tasks;
	u16 cur;
	bool cur_idle;
	u16 woken;
	u8 symbol;
	u8 state;
	bool has_pid;
	s32 pid;
	s32 last_pid;
	s32 last_prio;
	u64 last_name[2];
	u64 time;
	u64 recent[SCHEDZ_RECENT_WORDS];
	u8 nr_contexts[SCHEDZ_KINDS];
	u16 context[SCHEDZ_KINDS][SCHEDZ_CONTEXTS];
	bool idle[SCHEDZ_TASKS_MAX];
	u16 after[SCHEDZ_TASKS_MAX][2];
	u16 wakes[SCHEDZ_TASKS_MAX];
	u8 last_state[SCHEDZ_TASKS_MAX];
	u8 last_delta[SCHEDZ_TASKS_MAX];
	s32 cpu[SCHEDZ_TASKS_MAX];
};

/* All models of a block, eight bytes at a time */
static inline void schedz_model_reset(struct schedz_model *m)
{
	const u64 probs = (SCHEDZ_PROB_HALF + 1) * 0x0001000100010001ULL;
	u8 *byte = (u8 *)m;
	size_t i;

	static_assert(sizeof(*m) % sizeof(probs) == 0);
	for (i = 0; i < sizeof(*m); i += sizeof(probs))
		memcpy(byte + i, &probs, sizeof(probs));
}

/* The state at the begin of a block; arrays by task are set with the task */
static inline void schedz_block_reset(struct schedz_block *b, u64 time)
{
	schedz_model_reset(&b->m);
	b->tasks = 0;
	b->cur = SCHEDZ_NONE;
	b->cur_idle = false;
	b->woken = SCHEDZ_NONE;
	b->symbol = SCHEDZ_SWITCH;
	b->state = 0;
	b->has_pid = false;
	b->pid = 0;
	b->last_pid = 0;
	b->last_prio = 120;
	memset(b->last_name, 0, sizeof(b->last_name));
	b->time = time;
	memset(b->recent, SCHEDZ_RECENT_TASKS, sizeof(b->recent));
	memset(b->nr_contexts, 0, sizeof(b->nr_contexts));
}

/* A new task appears; the caller checked that there is room for it */
static inline u16 schedz_block_add(struct schedz_block *b, s32 pid, u16 cpu)
{
	u16 task = b->tasks++;

	b->idle[task] = !pid;
	b->after[task][0] = SCHEDZ_NONE;
	b->after[task][1] = SCHEDZ_NONE;
	b->wakes[task] = SCHEDZ_NONE;
	b->last_state[task] = 0;
	b->last_delta[task] = 0;
	b->cpu[task] = cpu;
	return task;
}

/* The place of a task below SCHEDZ_RECENT_TASKS, or SCHEDZ_RECENT */
static inline unsigned int schedz_find_recent(const struct schedz_block *b,
					      u16 task)
{
	unsigned int i;

	for (i = 0; i < SCHEDZ_RECENT_WORDS; i++) {
		u64 x = b->recent[i] ^ task * SCHEDZ_BYTES;

		/* The lowest bit that is set is of the lowest byte that is 0 */
		x = (x - SCHEDZ_BYTES) & ~x & SCHEDZ_BYTES << 7;
		if (x)
			return 8 * i + __ffs64(x) / 8;
	}
	return SCHEDZ_RECENT;
}

static inline u16 schedz_recent(const struct schedz_block *b,
				unsigned int place)
{
	return b->recent[place / 8] >> place % 8 * 8 & 0xff;
}

/* The task becomes the most recently used one */
static inline void schedz_block_touch(struct schedz_block *b, u16 task)
{
	unsigned int i, place, last;
	u64 here = task, mask, word;

	if (task >= SCHEDZ_RECENT_TASKS || schedz_recent(b, 0) == task)
		return;
	place = schedz_find_recent(b, task);
	last = place < SCHEDZ_RECENT ? place / 8 : SCHEDZ_RECENT_WORDS;
	for (i = 0; i < last; i++) {
		word = b->recent[i];
		b->recent[i] = word << 8 | here;
		here = word >> 56;
	}
	if (last == SCHEDZ_RECENT_WORDS)
		return;
	/* Up to its place they move, behind it they stay */
	mask = ~0ULL << place % 8 * 8 << 8;
	word = b->recent[last];
	b->recent[last] = (word & mask) | ((word << 8 | here) & ~mask);
}

static inline void schedz_set_cur(struct schedz_block *b, u16 task)
{
	b->cur = task;
	b->cur_idle = b->idle[task];
}

/* The task that a symbol's is expected to be, or SCHEDZ_NONE */
static inline u16 schedz_predict(const struct schedz_block *b,
				 unsigned int symbol)
{
	switch (symbol) {
	case SCHEDZ_SWITCH:
		return b->cur == SCHEDZ_NONE ? SCHEDZ_NONE :
					       b->after[b->cur][!b->state];
	case SCHEDZ_WAKING:
		return b->cur == SCHEDZ_NONE ? SCHEDZ_NONE : b->wakes[b->cur];
	case SCHEDZ_WAKEUP:
	case SCHEDZ_WAKEUP_NEW:
	case SCHEDZ_MIGRATE:
		return b->woken;
	case SCHEDZ_SET_CUR:
		return SCHEDZ_NONE;
	default:
		return b->cur;
	}
}

/* The context in which a task is coded */
static inline unsigned int schedz_task_context(const struct schedz_block *b,
					       unsigned int symbol)
{
	unsigned int context = b->cur_idle;

	if (symbol == SCHEDZ_SWITCH)
		context |= !b->state << 1;
	return context | (b->symbol != SCHEDZ_SWITCH) << 2;
}

/*
 * The context of a time delta: for a switch, how long its task ran the last time;
 * for others, their kind; the kind before, and idleness
 */
static inline unsigned int schedz_time_context(const struct schedz_block *b,
					       unsigned int kind)
{
	unsigned int before = b->symbol < 3 ? b->symbol : 3;
	unsigned int context = before << 1 | b->cur_idle;

	if (kind == SCHEDZ_SWITCH)
		return b->last_delta[b->cur] / 2 << 3 | context;
	return SCHEDZ_TIME_SWITCHES + ((min(kind, 3U) - 1) << 3 | context);
}

/* For its mantissa: switches by idleness, and two groups of other kinds */
static inline unsigned int schedz_mantissa_context(const struct schedz_block *b,
						   unsigned int kind)
{
	if (kind == SCHEDZ_SWITCH)
		return b->cur_idle;
	return kind == SCHEDZ_WAKING ? 2 : 3;
}

/* Update after an event was coded; @task and @other are numbers */
static inline void schedz_block_event(struct schedz_block *b, unsigned int kind,
				      u16 task, u16 other)
{
	switch (kind) {
	case SCHEDZ_SWITCH:
		b->after[b->cur][!b->state] = other;
		schedz_block_touch(b, b->cur);
		schedz_set_cur(b, other);
		break;
	case SCHEDZ_WAKING:
		if (b->cur != SCHEDZ_NONE)
			b->wakes[b->cur] = task;
		b->woken = task;
		schedz_block_touch(b, task);
		break;
	case SCHEDZ_FORK:
		b->woken = other;
		schedz_block_touch(b, other);
		break;
	case SCHEDZ_WAKEUP:
	case SCHEDZ_WAKEUP_NEW:
	case SCHEDZ_MIGRATE:
		b->woken = task;
		schedz_block_touch(b, task);
		break;
	}
	b->symbol = kind;
}

/*
 * Flags and preempt_count at @at become the last used ones of a kind. At
 * nr_contexts: new ones, which push out the least recently used if need be.
 */
static inline void schedz_context_touch(struct schedz_block *b,
					unsigned int kind, unsigned int at,
					u16 context)
{
	if (at == b->nr_contexts[kind]) {
		if (at == SCHEDZ_CONTEXTS)
			at--;
		else
			b->nr_contexts[kind]++;
	}
	memmove(b->context[kind] + 1, b->context[kind], at * sizeof(u16));
	b->context[kind][0] = context;
}

/*
 * Update a model after a bit; @one: all ones after a 1, else 0. There are no
 * branches, as they could not be predicted.
 */
static __always_inline u16 schedz_learn(u16 model, u32 one)
{
	unsigned int seen = model & SCHEDZ_PROB_SEEN;
	unsigned int part = SCHEDZ_PROB_SHIFT + 1 + __fls(seen);
	u32 step = (u16)(model ^ ~one) >> part << SCHEDZ_PROB_SHIFT;

	return model + ((step ^ one) - one) + (seen < SCHEDZ_PROB_SEEN);
}

static inline u32 schedz_zigzag(s32 v)
{
	return (u32)v << 1 ^ (u32)(v >> 31);
}

static inline s32 schedz_unzigzag(u32 v)
{
	return (s32)(v >> 1 ^ (0 - (v & 1)));
}

#endif /* _SCHEDZ_MODEL_H */
