/* SPDX-License-Identifier: GPL-2.0 */
/*
 * schedz: from the tracepoints to blocks. Both sides run on one CPU with
 * interrupts off and never in an NMI, or under the caller's lock.
 */
#ifndef _SCHEDZ_TAP_H
#define _SCHEDZ_TAP_H

#include <linux/kernel.h>
#include <linux/limits.h>

#include "codec.h"
#include "model.h"

/* Tasks that a tap knows: sets of slots */
#define SCHEDZ_WAYS 4
#define SCHEDZ_SETS 256
#define SCHEDZ_SLOTS (SCHEDZ_WAYS * SCHEDZ_SETS)

/* A slot without a task: no thread has this id */
#define SCHEDZ_NO_PID S32_MIN

/* Words of a tap's queue: a power of two with room for the longest event */
#define SCHEDZ_QUEUE_MIN 512

/**
 * struct schedz_source - a task at an event
 * @pid: thread id
 * @prio: kernel priority
 * @comm: its name, SCHEDZ_COMM_LEN bytes
 */
struct schedz_source {
	s32 pid;
	s32 prio;
	const char *comm;
};

/**
 * struct schedz_tap - events of a CPU that wait to be encoded
 * @word: the queue
 * @mask: its size, minus one
 * @head: words ever put in
 * @tail: words ever taken out
 * @time: of the last event
 * @cur: slot of the running task, or SCHEDZ_NONE
 * @has_pid: @pid is known
 * @pid: expected common_pid
 * @context: flags and preempt_count of the last event of a kind
 * @victim: way of each set that is replaced next
 * @task: the tasks, a set's ways next to each other
 */
struct schedz_tap {
	u32 *word;
	u32 mask;
	u32 head;
	u32 tail;
	u64 time;
	u16 cur;
	bool has_pid;
	s32 pid;
	u16 context[SCHEDZ_KINDS];
	u8 victim[SCHEDZ_SETS];
	struct schedz_task task[SCHEDZ_SLOTS];
};

/**
 * struct schedz_coder - output of a block; a copy of it restores its state
 * @low: low end of the range, with a carry in bit 32
 * @range: its size
 * @pending: bytes of 0xff behind @cache that a carry would change
 * @pos: where the arithmetic code goes on
 * @end: where the raw bits begin, which grow towards the front
 * @bits: raw bits that are not yet a word
 * @nr_bits: number of these
 * @cache: byte that a carry may change
 * @started: @cache is in use
 * @full: something did not fit
 */
struct schedz_coder {
	u64 low;
	u32 range;
	u32 pending;
	u32 pos;
	u32 end;
	u64 bits;
	u8 nr_bits;
	u8 cache;
	bool started;
	bool full;
};

/**
 * struct schedz_encoder - makes blocks of what a tap has
 * @c: output
 * @buf: the block
 * @size: of it
 * @cpu: CPU of the stream
 * @seq: number of the block
 * @events: events in it
 * @before: events before it
 * @total: events of the stream in finished blocks, and lost ones
 * @begin: time of its first event
 * @time: of the last event
 * @cur: slot of the running task, or SCHEDZ_NONE
 * @pid: expected common_pid
 * @context: flags and preempt_count that events of a kind have
 * @number: number of a slot's task in the block, plus one
 * @task: tasks by slot
 * @b: state that the decoder has as well
 */
struct schedz_encoder {
	struct schedz_coder c;
	u8 *buf;
	u32 size;
	u16 cpu;
	u32 seq;
	u32 events;
	u64 before;
	u64 total;
	u64 begin;
	u64 time;
	u16 cur;
	s32 pid;
	u16 context[SCHEDZ_KINDS];
	u16 number[SCHEDZ_SLOTS];
	struct schedz_task task[SCHEDZ_SLOTS];
	struct schedz_block b;
};

void schedz_tap_init(struct schedz_tap *tap, u32 *word, u32 size);
bool schedz_tap_switch(struct schedz_tap *tap, u64 time, u16 context, u64 state,
		       s32 common_pid, const struct schedz_source *prev,
		       const struct schedz_source *next);
bool schedz_tap_event(struct schedz_tap *tap, const struct schedz_event *event);
u32 schedz_tap_waiting(const struct schedz_tap *tap);

/**
 * schedz_tap_words - length of the queue
 * @tap: the tap
 *
 * Return: number of words, one or two for most events.
 */
static inline u32 schedz_tap_words(const struct schedz_tap *tap)
{
	return tap->head - tap->tail;
}

void schedz_encoder_init(struct schedz_encoder *e, u8 *buf, u32 size, u16 cpu);
bool schedz_encode(struct schedz_encoder *e, struct schedz_tap *tap, u32 words);
void schedz_encoder_lost(struct schedz_encoder *e, u64 events);
u32 schedz_finish(struct schedz_encoder *e);

/**
 * schedz_encoder_length - length of the block if it was finished now
 * @e: encoder
 *
 * Return: an upper bound, at most a few bytes too long.
 */
static inline u32 schedz_encoder_length(const struct schedz_encoder *e)
{
	const struct schedz_coder *c = &e->c;

	/* What the coder and the raw bits hold back is at most 8 bytes each */
	return e->events ? c->pos + c->pending + e->size - c->end + 16 : 0;
}

/*
 * The words of the queue; for tap.c and encode.c. The first one of an event or of
 * a change has bit 0 clear, then kind, slot and argument. An event's second is the
 * time since the event before. A switch soon after the event before, as most are,
 * is one word with bit 0 set: slot, state and time.
 */
enum {
	/* enum schedz_kind: an event; then what changes before it does */
	/* a slot's task: pid and name follow; argument: the name's words, priority */
	SCHEDZ_W_TASK = SCHEDZ_KINDS,
	SCHEDZ_W_PRIO, /* a slot's priority, which follows */
	SCHEDZ_W_NAME, /* a slot's name, which follows; argument: its words */
	SCHEDZ_W_CUR, /* the running task */
	SCHEDZ_W_PID, /* common_pid, which follows */
	SCHEDZ_W_CONTEXT, /* slot: kind; argument: flags and preempt_count */
	SCHEDZ_W_TIME, /* of the last event; 64 bits follow */
	SCHEDZ_W_EXTRA, /* the event's second slot; 64 bits follow */
	SCHEDZ_W_FILENAME, /* argument: length; that many bytes follow */
};

#define SCHEDZ_W_KIND_SHIFT 1
#define SCHEDZ_W_KIND_BITS 5
#define SCHEDZ_W_SLOT_SHIFT 6
#define SCHEDZ_W_ARG_SHIFT 16
#define SCHEDZ_W_ARG_EXTRA U16_MAX /* it is in W_EXTRA */
#define SCHEDZ_W_NAME_BITS 3
#define SCHEDZ_W_PRIO_MAX (U16_MAX >> SCHEDZ_W_NAME_BITS)

#define SCHEDZ_W_SHORT 1
#define SCHEDZ_W_SHORT_SLOT_SHIFT 1
#define SCHEDZ_W_SHORT_STATE_SHIFT 11
#define SCHEDZ_W_SHORT_DELTA_SHIFT 15
#define SCHEDZ_W_SHORT_DELTA_BITS (32 - SCHEDZ_W_SHORT_DELTA_SHIFT)

static inline unsigned int schedz_w_kind(u32 word)
{
	if (word & SCHEDZ_W_SHORT)
		return SCHEDZ_SWITCH;
	return word >> SCHEDZ_W_KIND_SHIFT & ((1 << SCHEDZ_W_KIND_BITS) - 1);
}

static inline u16 schedz_w_slot(u32 word)
{
	return word >> SCHEDZ_W_SLOT_SHIFT & (SCHEDZ_SLOTS - 1);
}

static inline u16 schedz_w_arg(u32 word)
{
	return word >> SCHEDZ_W_ARG_SHIFT;
}

/* Words of a name; @word: a SCHEDZ_W_TASK or SCHEDZ_W_NAME */
static inline u32 schedz_w_name_words(u32 word)
{
	return schedz_w_arg(word) & ((1 << SCHEDZ_W_NAME_BITS) - 1);
}

/* Words of an executable's name */
static inline u32 schedz_filename_words(u32 len)
{
	return DIV_ROUND_UP(len, sizeof(u32));
}

/* Words that an event or a change takes; @word: the first */
static inline u32 schedz_w_words(u32 word)
{
	if (word & SCHEDZ_W_SHORT)
		return 1;
	switch (schedz_w_kind(word)) {
	case SCHEDZ_W_TASK:
		return 2 + schedz_w_name_words(word);
	case SCHEDZ_W_NAME:
		return 1 + schedz_w_name_words(word);
	case SCHEDZ_W_CUR:
	case SCHEDZ_W_CONTEXT:
		return 1;
	case SCHEDZ_W_TIME:
	case SCHEDZ_W_EXTRA:
		return 3;
	case SCHEDZ_W_FILENAME:
		return 1 + schedz_filename_words(schedz_w_arg(word));
	}
	return 2;
}

#endif /* _SCHEDZ_TAP_H */
