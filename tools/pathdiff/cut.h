/* SPDX-License-Identifier: GPL-2.0 */
/* State of threads and CPUs, for cut.c and wait.c. */
#ifndef PATHDIFF_CUT_H
#define PATHDIFF_CUT_H

#include "pathdiff.h"

/* common_flags of all events */
enum {
	TRACE_HARDIRQ = 0x08,
	TRACE_SOFTIRQ = 0x10,
	TRACE_NMI = 0x40,
};

enum frame_kind {
	FRAME_NORMAL, /* part of the path */
	FRAME_HIDDEN, /* below schedule() */
	FRAME_IRQ, /* an interrupt, or in one */
};

/**
 * struct frame - a function that has not returned
 * @function:	which
 * @pos:	its position in the path; of others that of the last NORMAL one
 * @depth:	as recorded
 * @level:	context it was called in
 * @kind:	an enum frame_kind
 * @irq:	of an interrupt: an enum irq_class
 * @ts:		time stamp of its entry
 * @inner:	time of what it called and of interrupts, ns
 */
struct frame {
	u32 function;
	u32 pos;
	s32 depth;
	u8 level;
	u8 kind;
	u8 irq;
	u64 ts;
	u64 inner;
};

/**
 * struct irq_part - what an interruption did in one context
 * @time:	in functions of this context, without functions that interrupted them
 * @hot:	the function with the most self time
 * @hot_self:	its self time
 * @outer:	the outermost function that took the most time
 * @outer_time:	its time
 * @source:	for each enum irq_source the longest one, or NONE
 * @source_time: duration of each @source
 */
struct irq_part {
	u64 time;
	u32 hot;
	u64 hot_self;
	u32 outer;
	u64 outer_time;
	u32 source[IRQ_SOURCES];
	u64 source_time[IRQ_SOURCES];
};

/**
 * struct interrupt - the last interruption of a thread's execution: a hard interrupt
 * and the softirqs that it raised, for example
 * @open:	it may go on: nothing else has happened since
 * @wait:	its place among the waits
 * @end:	time stamp of the end of its last frame, 0 before that
 * @part:	for each enum irq_class
 */
struct interrupt {
	bool open;
	u32 wait;
	u64 end;
	struct irq_part part[IRQ_CLASSES];
};

/**
 * struct thread - a thread, or the idle task of a CPU
 * @pid:	of it; of idle tasks -1 - CPU
 * @comm:	its name, or NONE
 * @named_by_event: @comm is from an event
 * @cpu:	where it was seen last
 * @last:	and when
 * @frame:	functions that have not returned, outermost first
 * @frames:	number of them
 * @max_frames:	room
 * @inside:	it is in an execution
 * @broken:	records of the execution are missing
 * @too_long:	the path of the execution is cut off
 * @base:	frame that it began with
 * @function:	path so far: functions
 * @path_depth:	their depths
 * @at:		times of their calls, ns after the entry
 * @self:	their self times, ns
 * @len:	of the path
 * @max_path:	room
 * @irq:	time in interrupts
 * @begin_cpu:	where the execution began
 * @wait:	its waits so far
 * @waits:	number of them
 * @max_waits:	room
 * @irqs:	the last interrupt
 * @off:	off the CPU
 * @woken:	and woken since
 * @off_ts:	since when
 * @wake_ts:	woken when
 * @off_wait:	what is known of this wait so far
 * @lock:	that it waits for, or NONE
 * @lock_ts:	since when
 * @lock_slept:	time off the CPU since then
 */
struct thread {
	s32 pid;
	u32 comm;
	bool named_by_event;
	u32 cpu;
	u64 last;
	struct frame *frame;
	u32 frames;
	u32 max_frames;
	bool inside;
	bool broken;
	bool too_long;
	u32 base;
	u32 *function;
	u16 *path_depth;
	float *at;
	float *self;
	u32 len;
	u32 max_path;
	u64 irq;
	u32 begin_cpu;
	struct wait *wait;
	u32 waits;
	u32 max_waits;
	struct interrupt irqs;
	bool off;
	bool woken;
	u64 off_ts;
	u64 wake_ts;
	struct wait off_wait;
	u32 lock;
	u64 lock_ts;
	u64 lock_slept;
};

/**
 * struct cpu - state of a CPU
 * @lost:	time stamp of the first record after lost ones
 * @source:	for each context and enum irq_source what is handled, or NONE
 * @since:	time stamps of their beginnings
 * @device:	block device that has last completed a request, or NONE
 * @device_ts:	time stamp of the completion
 * @woke:	thread that was woken last, if its stack may follow
 */
struct cpu {
	u64 lost;
	u32 source[IRQ_CLASSES][IRQ_SOURCES];
	u64 since[IRQ_CLASSES][IRQ_SOURCES];
	u32 device;
	u64 device_ts;
	struct thread *woke;
};

/**
 * struct cut - a file that is being cut into executions
 * @paths:	what is found
 * @source:	what is known of the file
 * @side:	the trace or the baseline
 * @threads:	struct thread, by number
 * @cpu:	the CPUs
 * @cpus:	number of them
 * @outermost:	by function, time in it as the outermost one, ns
 * @max_outermost: allocated entries of @outermost
 * @rounding:	its time stamps are too early by this at most, ns
 */
struct cut {
	struct paths *paths;
	struct source *source;
	enum side side;
	struct hash threads;
	struct cpu *cpu;
	u32 cpus;
	double *outermost;
	u32 max_outermost;
	u64 rounding;
};

static inline struct frame *top_frame(struct thread *t)
{
	return t->frames ? &t->frame[t->frames - 1] : NULL;
}

u32 thread_pos(struct thread *t);
void wait_irq_begin(struct cut *c, struct thread *t, u64 ts);
void wait_irq(struct cut *c, struct thread *t, const struct frame *f, u64 ts,
	      u64 time);
void wait_irq_self(struct cut *c, struct thread *t, const struct frame *f,
		   u64 self, u64 time);

#endif
