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

/* What comes next: a digit, by the three most frequent kinds and their details */
enum {
	SCHEDZ_WHAT_EXPECTED, /* a switch with state and next as expected */
	SCHEDZ_WHAT_NEXT, /* only next is not */
	SCHEDZ_WHAT_STATE, /* at least the state is not */
	SCHEDZ_WHAT_WAKING,
	SCHEDZ_WHAT_WAKEUP,
	SCHEDZ_WHAT_MIGRATE,
	SCHEDZ_WHAT_CONTEXT, /* flags and preempt_count of switches change */
	SCHEDZ_WHAT_OTHER, /* another kind, or one of the changes below */
};

/* Changes by number, behind the kinds of events */
enum {
	SCHEDZ_SET_CUR = SCHEDZ_KINDS, /* the running task */
	SCHEDZ_SET_PID, /* common_pid is not the running task's */
	SCHEDZ_SET_TIME, /* time of the last event */
	SCHEDZ_SET_PRIO, /* a task's priority */
	SCHEDZ_SET_NAME, /* a task's name */
};

#define SCHEDZ_OTHER_BITS 4

/* Of an event but a switch, what is not as expected: bits of a digit */
enum {
	SCHEDZ_NEW_CONTEXT = 1, /* flags and preempt_count */
	SCHEDZ_NEW_TASK = 2,
	SCHEDZ_NEW_CPU = 4,
};

/*
 * All that is modelled is digits from 0 to 7. The model of a digit has eight lanes
 * of 16 bits. Lane n is the probability of a digit below n, in units of 2^-16; lane
 * 0 counts the digits seen, from SEEN_FIRST to SEEN. After each digit the lanes
 * above it move towards 1 and the others towards 0 by a part of the distance, four
 * of them in one 64-bit word. The part is a quarter at first, an eighth, a 16th and
 * at last a 32nd, so that a model adapts quickly in short blocks.
 */
#define SCHEDZ_DIGIT_BITS 3
#define SCHEDZ_DIGITS 8
#define SCHEDZ_PROB_BITS 16
#define SCHEDZ_SEEN_FIRST 2
#define SCHEDZ_SEEN 16

/*
 * Each digit has a probability of at least PROB_MIN; all of these are a 256th, that
 * is, PROB_PART bits. From PROB_CERTAIN on a digit changes nothing, as learning
 * costs as much as coding.
 */
#define SCHEDZ_PROB_MIN 32
#define SCHEDZ_PROB_PART 8
#define SCHEDZ_PROB_CERTAIN 64512

/* Lane n in memory */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define SCHEDZ_LANE(n) ((n) ^ 3)
#else
#define SCHEDZ_LANE(n) (n)
#endif

/* Models of a number of two or three digits, by the digits before */
#define SCHEDZ_TREE2 (1 + 8)
#define SCHEDZ_TREE3 (1 + 8 + 64)

/* The range is kept at or above 2^24, a byte leaves when it falls below */
#define SCHEDZ_RANGE_MIN 0x01000000U

/*
 * A time delta has a class: 0 below 2^FINE, then one for each power of two, and
 * the last for all from 2^COARSE on. The class and the MANTISSA bits behind the
 * first, or the first of class 0, are two digits; the other bits are raw.
 */
#define SCHEDZ_DELTA_BITS 47
#define SCHEDZ_DELTA_FINE 8
#define SCHEDZ_DELTA_LAST 15
#define SCHEDZ_DELTA_COARSE (SCHEDZ_DELTA_FINE + SCHEDZ_DELTA_LAST - 1)
#define SCHEDZ_MANTISSA 2

/* For the first digit: switches by how long their task ran before, then other kinds */
#define SCHEDZ_TIME_SWITCHES 64
#define SCHEDZ_TIME_CONTEXTS (SCHEDZ_TIME_SWITCHES + 24)

/* For the second one, these in fours */
#define SCHEDZ_TIME_SECOND (SCHEDZ_TIME_CONTEXTS / 4)

/* Codes of prev_state: 0, 1 << 0, 1 << 1, ... and what is none of these */
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
	SCHEDZ_CLASS_LAST = 5, /* the lowest bit of its place is raw */
	SCHEDZ_CLASS_NUMBER = 6, /* by its number */
	SCHEDZ_CLASS_NEW = 7, /* it was not in the block so far */
};

/* What is not as of the new task before: bits of a digit */
enum {
	SCHEDZ_NEW_PRIO = 1,
	SCHEDZ_NEW_NAME = 2,
};

/* Combinations of flags and preempt_count that a kind remembers */
#define SCHEDZ_CONTEXTS 7

#define SCHEDZ_NONE 0xffff

/**
 * struct schedz_digit - adaptive probabilities of a digit
 * @word: the lanes, four in each
 * @lane: the same
 */
struct schedz_digit {
	union {
		u64 word[2];
		u16 lane[SCHEDZ_DIGITS];
	};
};

/**
 * struct schedz_model - adaptive probabilities
 * @what: what comes next, by schedz_what_context()
 * @differs: what of an event but a switch is not as expected, by kind and whether
 *	the running task is idle and the symbol before was a switch
 * @context: which of the remembered flags and preempt_counts, by kind
 * @high: first digit of a time delta, by schedz_time_context()
 * @low: second one, by a quarter of the context and the first one
 * @state: prev_state, for the idle task and others
 * @hit: the next task is the predicted one, by schedz_task_context(), if the state
 *	was not expected
 * @class: class of a task's place, for switches and for others
 * @place: place within the class
 * @cpu: integer
 * @pid: integer, pid of a new task minus that of the new one before
 * @fresh: which of priority and name are not as of the new task before
 * @prio: integer, minus 120
 * @length: of a name
 * @letter: of a name
 * @filename: integer, length
 */
struct schedz_model {
	struct schedz_digit what[64];
	struct schedz_digit differs[SCHEDZ_KINDS][4];
	struct schedz_digit context[SCHEDZ_KINDS];
	struct schedz_digit high[SCHEDZ_TIME_CONTEXTS];
	struct schedz_digit low[SCHEDZ_TIME_SECOND][SCHEDZ_DIGITS];
	struct schedz_digit state[2][SCHEDZ_TREE2];
	struct schedz_digit hit[8];
	struct schedz_digit class[2][8];
	struct schedz_digit place[SCHEDZ_CLASS_LAST + 1];
	struct schedz_digit cpu[SCHEDZ_TREE2];
	struct schedz_digit pid[SCHEDZ_TREE2];
	struct schedz_digit fresh;
	struct schedz_digit prio[SCHEDZ_TREE2];
	struct schedz_digit length[SCHEDZ_TREE2];
	struct schedz_digit letter[SCHEDZ_TREE3];
	struct schedz_digit filename[SCHEDZ_TREE2];
};

/**
 * struct schedz_known - what a block knows of a task
 * @after: the task that ran after this task the last time that it stopped while
 *	not runnable, and runnable, or SCHEDZ_NONE
 * @wakes: the task that this task woke the last time, or SCHEDZ_NONE
 * @state: code of its last prev_state
 * @delta: first digit of the time delta with which it stopped the last time
 * @habit: whether state (1) and next (2) were as expected the last time
 * @idle: its pid is 0
 * @cpu: its CPU in the last event that told
 */
struct schedz_known {
	u16 after[2];
	u16 wakes;
	u8 state;
	u8 delta;
	u8 habit;
	bool idle;
	s32 cpu;
};

/**
 * struct schedz_block - state of a block that encoder and decoder share
 * @m: the probabilities
 * @tasks: number of tasks so far; they are numbered in the order in which they
 *	first appear
 * @cur: the running task, or SCHEDZ_NONE
 * @cur_idle: it is the idle task
 * @cur_what: its part of the context of what comes next
 * @woken: the task last woken, forked or migrated, or SCHEDZ_NONE
 * @before: kind of the event before, or 3 for those from there on
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
 * @task: the tasks
 */
struct schedz_block {
	struct schedz_model m;
	u16 tasks;
	u16 cur;
	u8 cur_idle;
	u8 cur_what;
	u16 woken;
	u8 before;
	bool has_pid;
	s32 pid;
	s32 last_pid;
	s32 last_prio;
	u64 last_name[2];
	u64 time;
	u64 recent[SCHEDZ_RECENT_WORDS];
	u8 nr_contexts[SCHEDZ_KINDS];
	u16 context[SCHEDZ_KINDS][SCHEDZ_CONTEXTS];
	struct schedz_known task[SCHEDZ_TASKS_MAX];
};

/* All digits are equally probable */
static inline void schedz_model_reset(struct schedz_model *m)
{
	struct schedz_digit *digit = (struct schedz_digit *)m;
	size_t i;

	static_assert(sizeof(*m) % sizeof(*digit) == 0);
	for (i = 0; i < sizeof(*m) / sizeof(*digit); i++) {
		digit[i].word[0] = 0x6000400020000000 + SCHEDZ_SEEN_FIRST;
		digit[i].word[1] = 0xe000c000a0008000;
	}
}

/* The state at the begin of a block */
static inline void schedz_block_reset(struct schedz_block *b, u64 time)
{
	schedz_model_reset(&b->m);
	b->tasks = 0;
	b->cur = SCHEDZ_NONE;
	b->cur_idle = 0;
	b->cur_what = 0;
	b->woken = SCHEDZ_NONE;
	b->before = SCHEDZ_SWITCH;
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
	b->task[b->tasks] = (struct schedz_known){
		.after = { SCHEDZ_NONE, SCHEDZ_NONE },
		.wakes = SCHEDZ_NONE,
		.idle = !pid,
		.cpu = cpu,
	};
	return b->tasks++;
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
static noinline void schedz_touch_far(struct schedz_block *b, u16 task)
{
	unsigned int i, place, last;
	u64 here = task, mask, word;

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

static __always_inline void schedz_block_touch(struct schedz_block *b, u16 task)
{
	u64 word = b->recent[0];

	if (task >= SCHEDZ_RECENT_TASKS || (word & 0xff) == task)
		return;
	/* Two tasks often alternate */
	if ((word >> 8 & 0xff) == task)
		b->recent[0] = (word & ~0xffffULL) | (word & 0xff) << 8 | task;
	else
		schedz_touch_far(b, task);
}

static inline void schedz_set_cur(struct schedz_block *b, u16 task)
{
	const struct schedz_known *known = &b->task[task];

	b->cur = task;
	b->cur_idle = known->idle;
	b->cur_what = known->habit << 2 | !known->state << 1 | known->idle;
}

/* The task that an event other than a switch is expected to have, or SCHEDZ_NONE */
static inline u16 schedz_predict(const struct schedz_block *b,
				 unsigned int kind)
{
	switch (kind) {
	case SCHEDZ_WAKING:
		return b->cur == SCHEDZ_NONE ? SCHEDZ_NONE :
					       b->task[b->cur].wakes;
	case SCHEDZ_WAKEUP:
	case SCHEDZ_WAKEUP_NEW:
	case SCHEDZ_MIGRATE:
		return b->woken;
	default:
		return b->cur;
	}
}

/* The context of what comes next: the kind before, and the running task */
static inline unsigned int schedz_what_context(const struct schedz_block *b)
{
	return b->before << 4 | b->cur_what;
}

/* The context in which a task is coded; @runnable: of a switch, prev is */
static inline unsigned int schedz_task_context(const struct schedz_block *b,
					       bool runnable)
{
	return (b->before != SCHEDZ_SWITCH) << 2 | runnable << 1 | b->cur_idle;
}

/* The context of what is not as expected of an event but a switch */
static inline unsigned int schedz_differs_context(const struct schedz_block *b)
{
	return (b->before != SCHEDZ_SWITCH) << 1 | b->cur_idle;
}

/*
 * The context of a time delta: for a switch, how long its task ran the last time;
 * for others, their kind; the kind before, and idleness
 */
static inline unsigned int schedz_time_context(const struct schedz_block *b,
					       unsigned int kind)
{
	unsigned int context = b->before << 1 | b->cur_idle;

	if (kind == SCHEDZ_SWITCH)
		return b->task[b->cur].delta << 3 | context;
	return SCHEDZ_TIME_SWITCHES + ((min(kind, 3U) - 1) << 3 | context);
}

/* Bits of a time delta that are raw, unless its class is the last */
static inline unsigned int schedz_delta_raw(unsigned int class)
{
	return SCHEDZ_DELTA_FINE - 1 - SCHEDZ_MANTISSA + max(class, 1U);
}

/*
 * Update after a switch to @next; @same: the state of prev is as it was the last
 * time that it stopped
 */
static inline void schedz_block_switch(struct schedz_block *b,
				       unsigned int state, bool same, u16 next)
{
	struct schedz_known *prev = &b->task[b->cur];
	u16 *after = &prev->after[!state];

	prev->habit = (*after == next) << 1 | same;
	prev->state = state;
	*after = next;
	schedz_block_touch(b, b->cur);
	schedz_set_cur(b, next);
	b->before = SCHEDZ_SWITCH;
}

/* Update after another event was coded; @task and @other are numbers */
static inline void schedz_block_event(struct schedz_block *b, unsigned int kind,
				      u16 task, u16 other)
{
	switch (kind) {
	case SCHEDZ_WAKING:
		if (b->cur != SCHEDZ_NONE)
			b->task[b->cur].wakes = task;
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
	b->before = min(kind, 3U);
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
 * The probability of a digit below @n from 1 to 7. At least PROB_MIN lies between
 * two of them. For 0 it is the count in lane 0, close to nothing: a 0 loses that
 * much of the range, and no branch is needed.
 */
static __always_inline u32 schedz_below(const struct schedz_digit *m,
					unsigned int n)
{
	u32 lane = m->lane[SCHEDZ_LANE(n)];

	return lane - (lane >> SCHEDZ_PROB_PART) + n * SCHEDZ_PROB_MIN;
}

/* Update a model after a digit, whose probability was @prob */
static __always_inline void schedz_learn(struct schedz_digit *m,
					 unsigned int digit, u32 prob)
{
	/* All ones in the lanes above a digit: these move towards 1 */
	static const u64 above[SCHEDZ_DIGITS][2] = {
		{ 0xffffffffffff0000, 0xffffffffffffffff },
		{ 0xffffffff00000000, 0xffffffffffffffff },
		{ 0xffff000000000000, 0xffffffffffffffff },
		{ 0x0000000000000000, 0xffffffffffffffff },
		{ 0x0000000000000000, 0xffffffffffff0000 },
		{ 0x0000000000000000, 0xffffffff00000000 },
		{ 0x0000000000000000, 0xffff000000000000 },
		{ 0x0000000000000000, 0x0000000000000000 },
	};
	/* By the number of digits seen: what remains of lanes after the shift */
	static const u64 keep[SCHEDZ_SEEN + 1] = {
		[2 ... 3] = 0x3fff3fff3fff3fff,
		[4 ... 7] = 0x1fff1fff1fff1fff,
		[8 ... 15] = 0x0fff0fff0fff0fff,
		[16] = 0x07ff07ff07ff07ff,
	};
	unsigned int seen, shift;
	u64 low, high;

	if (prob >= SCHEDZ_PROB_CERTAIN)
		return;
	seen = m->lane[SCHEDZ_LANE(0)];
	shift = __fls(seen) + 1;
	low = m->word[0] ^ above[digit][0];
	high = m->word[1] ^ above[digit][1];
	low -= low >> shift & keep[seen] & ~0xffffULL;
	high -= high >> shift & keep[seen];
	m->word[0] = (low ^ above[digit][0]) + (seen < SCHEDZ_SEEN);
	m->word[1] = high ^ above[digit][1];
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
