// SPDX-License-Identifier: GPL-2.0
/*
 * schedz: the tap, which runs in the probes of the tracepoints.
 *
 * sched_switch is called with the run-queue lock held and interrupts off, up to
 * hundreds of thousands of times a second. The tap only writes one or two words
 * of 32 bits to a queue of its CPU. The expensive part, an adaptive arithmetic
 * code, is left to encode.c, which runs outside of the scheduler.
 *
 * A word refers to a task by a slot of 10 bits. Invariant: when the encoder reads
 * the word, its copy of the slot is the same as the tap's was. Any change - a name
 * or priority, a task without a slot, a prev that is not the last next, other
 * flags - is put into the queue before the event, as words of its own. If the
 * queue has no room for all of it, nothing is put in and the caller sees that.
 *
 * Slots are set-associative by the low bits of the pid, so a search looks at
 * SCHEDZ_WAYS slots at most.
 */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "tap.h"

/* Words of any event but the name of a file */
#define EVENT_WORDS 32

static void put(struct schedz_tap *tap, u32 word)
{
	tap->word[tap->head++ & tap->mask] = word;
}

static void put64(struct schedz_tap *tap, u64 value)
{
	put(tap, lower_32_bits(value));
	put(tap, upper_32_bits(value));
}

static void put_head(struct schedz_tap *tap, unsigned int kind, u16 slot,
		     u16 arg)
{
	put(tap, kind << SCHEDZ_W_KIND_SHIFT | slot << SCHEDZ_W_SLOT_SHIFT |
			 (u32)arg << SCHEDZ_W_ARG_SHIFT);
}

/* A slot's name, without the zeros at its end */
static void put_name(struct schedz_tap *tap, unsigned int kind, u16 slot,
		     u16 arg)
{
	const struct schedz_task *task = &tap->task[slot];
	u32 word[SCHEDZ_COMM_LEN / sizeof(u32)];
	unsigned int i, n = ARRAY_SIZE(word);

	memcpy(word, task->name, sizeof(word));
	while (n && !word[n - 1])
		n--;
	put_head(tap, kind, slot, n | arg);
	if (kind == SCHEDZ_W_TASK)
		put(tap, task->pid);
	for (i = 0; i < n; i++)
		put(tap, word[i]);
}

static void put_prio(struct schedz_tap *tap, u16 slot)
{
	put_head(tap, SCHEDZ_W_PRIO, slot, 0);
	put(tap, tap->task[slot].prio);
}

static bool has_room(const struct schedz_tap *tap, u32 words)
{
	return tap->mask + 1 - schedz_tap_words(tap) >= words;
}

static u64 load(const char *name)
{
	u64 word;

	memcpy(&word, name, sizeof(word));
	return word;
}

/* Has the task of a slot changed? Usually not. */
static __always_inline bool differs(const struct schedz_tap *tap, u16 slot,
				    const struct schedz_source *s)
{
	const struct schedz_task *task = &tap->task[slot];

	return load(s->comm) != task->name[0] ||
	       load(s->comm + sizeof(u64)) != task->name[1] ||
	       s->prio != task->prio;
}

/* Put what changed of a slot's task; @has_prio: the source has a priority */
static noinline void update(struct schedz_tap *tap, u16 slot,
			    const struct schedz_source *s, bool has_prio)
{
	struct schedz_task *task = &tap->task[slot];

	if (memcmp(task->name, s->comm, sizeof(task->name))) {
		memcpy(task->name, s->comm, sizeof(task->name));
		put_name(tap, SCHEDZ_W_NAME, slot, 0);
	}
	if (has_prio && s->prio != task->prio) {
		task->prio = s->prio;
		put_prio(tap, slot);
	}
}

/* Replace a slot, but neither the running task's nor @keep */
static u16 new_slot(struct schedz_tap *tap, const struct schedz_source *s,
		    u16 keep)
{
	unsigned int set = s->pid & (SCHEDZ_SETS - 1);
	struct schedz_task *task;
	u16 slot;

	do {
		slot = set * SCHEDZ_WAYS + tap->victim[set]++ % SCHEDZ_WAYS;
	} while (slot == tap->cur || slot == keep);
	task = &tap->task[slot];
	task->pid = s->pid;
	task->prio = s->prio;
	memcpy(task->name, s->comm, sizeof(task->name));
	if (likely((u32)s->prio <= SCHEDZ_W_PRIO_MAX)) {
		put_name(tap, SCHEDZ_W_TASK, slot,
			 s->prio << SCHEDZ_W_NAME_BITS);
	} else {
		put_name(tap, SCHEDZ_W_TASK, slot, 0);
		put_prio(tap, slot);
	}
	return slot;
}

/* The slot of a pid, or SCHEDZ_NONE */
static u16 find_slot(const struct schedz_tap *tap, s32 pid)
{
	u16 slot = (pid & (SCHEDZ_SETS - 1)) * SCHEDZ_WAYS;
	unsigned int i;

	for (i = 0; i < SCHEDZ_WAYS; i++, slot++) {
		if (tap->task[slot].pid == pid)
			return slot;
	}
	return SCHEDZ_NONE;
}

/* Not inlined, so that a switch to a task that is known saves no registers for it */
static noinline u16 get_slot(struct schedz_tap *tap,
			     const struct schedz_source *s, bool has_prio,
			     u16 keep)
{
	u16 slot = find_slot(tap, s->pid);

	if (slot == SCHEDZ_NONE ||
	    (unlikely(slot == keep) && differs(tap, slot, s)))
		return new_slot(tap, s, keep);
	if (unlikely(differs(tap, slot, s)))
		update(tap, slot, s, has_prio);
	return slot;
}

/* Return a task's slot; @keep: slot of the event's other task, not replaced */
static __always_inline u16 find_or_get_slot(struct schedz_tap *tap,
					    const struct schedz_source *s,
					    u16 keep)
{
	u16 slot = find_slot(tap, s->pid);

	if (likely(slot != SCHEDZ_NONE && !differs(tap, slot, s)))
		return slot;
	return get_slot(tap, s, true, keep);
}

static __always_inline void put_event(struct schedz_tap *tap, unsigned int kind,
				      u64 time, u16 context, u16 slot, u16 arg)
{
	u64 delta = time - tap->time;

	if (unlikely(context != tap->context[kind])) {
		tap->context[kind] = context;
		put_head(tap, SCHEDZ_W_CONTEXT, kind, context);
	}
	tap->time = time;
	if (kind == SCHEDZ_SWITCH && arg < SCHEDZ_STATE_RAW &&
	    !(delta >> SCHEDZ_W_SHORT_DELTA_BITS)) {
		put(tap, SCHEDZ_W_SHORT | slot << SCHEDZ_W_SHORT_SLOT_SHIFT |
				 arg << SCHEDZ_W_SHORT_STATE_SHIFT |
				 (u32)delta << SCHEDZ_W_SHORT_DELTA_SHIFT);
		return;
	}
	if (unlikely(upper_32_bits(delta))) {
		put_head(tap, SCHEDZ_W_TIME, 0, 0);
		put64(tap, time);
		delta = 0;
	}
	put_head(tap, kind, slot, arg);
	put(tap, delta);
}

static void put_extra(struct schedz_tap *tap, u16 slot, u64 value)
{
	put_head(tap, SCHEDZ_W_EXTRA, slot, 0);
	put64(tap, value);
}

static void expect_pid(struct schedz_tap *tap, s32 pid)
{
	if (likely(tap->has_pid && tap->pid == pid))
		return;
	tap->has_pid = true;
	tap->pid = pid;
	put_head(tap, SCHEDZ_W_PID, 0, 0);
	put(tap, pid);
}

/* The running task is not the one that was switched to, or has changed */
static void set_cur(struct schedz_tap *tap, const struct schedz_source *prev)
{
	if (tap->cur != SCHEDZ_NONE && tap->task[tap->cur].pid == prev->pid) {
		if (unlikely(differs(tap, tap->cur, prev)))
			update(tap, tap->cur, prev, true);
		return;
	}
	tap->cur = get_slot(tap, prev, true, SCHEDZ_NONE);
	tap->has_pid = true;
	tap->pid = prev->pid;
	put_head(tap, SCHEDZ_W_CUR, tap->cur, 0);
}

/* 0 for 0, n + 1 for 1 << n if that is below the code for all others */
static u16 state_code(u64 state)
{
	u16 code = fls64(state);

	if (!(state & (state - 1)) && code < SCHEDZ_STATE_RAW)
		return code;
	return SCHEDZ_W_ARG_EXTRA;
}

/**
 * schedz_tap_switch - note a sched_switch
 * @tap: the CPU's tap
 * @time: trace clock
 * @context: common_flags | common_preempt_count << 8
 * @state: prev_state
 * @common_pid: common_pid
 * @prev: task that ran
 * @next: task that will run
 *
 * Context: tap.h.
 * Return: false if the queue has no room; nothing was noted then.
 */
bool schedz_tap_switch(struct schedz_tap *tap, u64 time, u16 context, u64 state,
		       s32 common_pid, const struct schedz_source *prev,
		       const struct schedz_source *next)
{
	u16 code = state_code(state);
	u16 slot;

	if (unlikely(!has_room(tap, EVENT_WORDS)))
		return false;
	set_cur(tap, prev);
	expect_pid(tap, common_pid);
	slot = find_or_get_slot(tap, next, tap->cur);
	if (unlikely(code == SCHEDZ_W_ARG_EXTRA))
		put_extra(tap, 0, state);
	put_event(tap, SCHEDZ_SWITCH, time, context, slot, code);
	tap->cur = slot;
	tap->pid = next->pid;
	return true;
}

static struct schedz_source source(const struct schedz_task *task)
{
	return (struct schedz_source){ task->pid, task->prio,
				       (const char *)task->name };
}

static void put_filename(struct schedz_tap *tap, const struct schedz_event *e)
{
	u32 i, n, word;

	put_head(tap, SCHEDZ_W_FILENAME, 0, e->filename_len);
	for (i = 0; i < e->filename_len; i += n) {
		n = min_t(u32, sizeof(word), e->filename_len - i);
		word = 0;
		memcpy(&word, e->filename + i, n);
		put(tap, word);
	}
}

static void put_other(struct schedz_tap *tap, const struct schedz_event *e,
		      u16 context)
{
	struct schedz_source task = source(&e->task), other;
	u16 arg = 0;
	u16 slot;

	expect_pid(tap, e->common_pid);
	/* sched_process_exec has no name of the task: keep that of the slot */
	slot = e->kind == SCHEDZ_EXEC ? find_slot(tap, task.pid) : SCHEDZ_NONE;
	if (slot == SCHEDZ_NONE)
		slot = get_slot(tap, &task, e->kind != SCHEDZ_FORK,
				SCHEDZ_NONE);
	switch (e->kind) {
	case SCHEDZ_WAKING:
	case SCHEDZ_WAKEUP:
	case SCHEDZ_WAKEUP_NEW:
		arg = min_t(u32, e->cpu, SCHEDZ_W_ARG_EXTRA);
		if (arg == SCHEDZ_W_ARG_EXTRA)
			put_extra(tap, 0, (u32)e->cpu);
		break;
	case SCHEDZ_MIGRATE:
		put_extra(tap, 0, (u64)(u32)e->dest_cpu << 32 | (u32)e->cpu);
		break;
	case SCHEDZ_FORK:
		other = source(&e->other);
		/* A new task has its parent's priority, most of the time */
		other.prio = tap->task[slot].prio;
		put_extra(tap, get_slot(tap, &other, false, slot), 0);
		break;
	case SCHEDZ_EXEC:
		put_filename(tap, e);
		put_extra(tap, 0, (u32)e->old_pid);
		break;
	}
	put_event(tap, e->kind, e->time, context, slot, arg);
}

/**
 * schedz_tap_event - note an event of any kind
 * @tap: the CPU's tap
 * @event: the event; its kind and the length of its file name are in range
 *
 * Context: tap.h.
 * Return: false if the queue has no room; nothing was noted then.
 */
bool schedz_tap_event(struct schedz_tap *tap, const struct schedz_event *event)
{
	u16 context = event->flags | event->preempt_count << 8;
	u32 words = EVENT_WORDS;

	if (event->kind == SCHEDZ_SWITCH) {
		struct schedz_source prev = source(&event->task);
		struct schedz_source next = source(&event->other);

		return schedz_tap_switch(tap, event->time, context,
					 event->state, event->common_pid, &prev,
					 &next);
	}
	if (event->kind == SCHEDZ_EXEC)
		words += schedz_filename_words(event->filename_len);
	if (!has_room(tap, words))
		return false;
	put_other(tap, event, context);
	return true;
}

/**
 * schedz_tap_waiting - number of events to be encoded
 * @tap: the tap
 *
 * Context: tap.h.
 * Return: number of events.
 */
u32 schedz_tap_waiting(const struct schedz_tap *tap)
{
	u32 at, word, events = 0;

	for (at = tap->tail; at != tap->head; at += schedz_w_words(word)) {
		word = tap->word[at & tap->mask];
		events += schedz_w_kind(word) < SCHEDZ_KINDS;
	}
	return events;
}

/**
 * schedz_tap_init - initialise a tap without tasks
 * @tap: the tap
 * @word: its queue
 * @size: number of words in it, a power of two from SCHEDZ_QUEUE_MIN on
 *
 * The encoder of the tap must be initialised as well.
 */
void schedz_tap_init(struct schedz_tap *tap, u32 *word, u32 size)
{
	unsigned int i;

	memset(tap, 0, sizeof(*tap));
	tap->word = word;
	tap->mask = size - 1;
	tap->cur = SCHEDZ_NONE;
	for (i = 0; i < SCHEDZ_SLOTS; i++)
		tap->task[i].pid = SCHEDZ_NO_PID;
}
