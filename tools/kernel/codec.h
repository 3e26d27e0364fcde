/* SPDX-License-Identifier: GPL-2.0 */
/*
 * schedz: scheduling events in blocks of compressed bytes. encode.c and
 * decode.c say how; Documentation/trace/schedz.rst gives the format bit by bit.
 */
#ifndef _SCHEDZ_CODEC_H
#define _SCHEDZ_CODEC_H

#include <linux/types.h>

#define SCHEDZ_MAGIC_0 'S'
#define SCHEDZ_MAGIC_1 'Z'
#define SCHEDZ_VERSION 2

/* Bytes of the header, and of a block with it */
#define SCHEDZ_HEADER 36
#define SCHEDZ_BLOCK_MIN 1280
#define SCHEDZ_BLOCK_MAX 65536

/* Events and tasks of one block */
#define SCHEDZ_EVENTS_MAX 65535
#define SCHEDZ_TASKS_MAX 1024

#define SCHEDZ_COMM_LEN 16

/* The longest name of an executed file, without the zero at its end */
#define SCHEDZ_FILENAME_MAX 1000

/**
 * enum schedz_kind - what happened
 * @SCHEDZ_SWITCH: sched_switch
 * @SCHEDZ_WAKING: sched_waking
 * @SCHEDZ_WAKEUP: sched_wakeup
 * @SCHEDZ_WAKEUP_NEW: sched_wakeup_new
 * @SCHEDZ_MIGRATE: sched_migrate_task
 * @SCHEDZ_FORK: sched_process_fork
 * @SCHEDZ_EXEC: sched_process_exec
 * @SCHEDZ_EXIT: sched_process_exit
 * @SCHEDZ_KINDS: number of kinds
 */
enum schedz_kind {
	SCHEDZ_SWITCH,
	SCHEDZ_WAKING,
	SCHEDZ_WAKEUP,
	SCHEDZ_WAKEUP_NEW,
	SCHEDZ_MIGRATE,
	SCHEDZ_FORK,
	SCHEDZ_EXEC,
	SCHEDZ_EXIT,
	SCHEDZ_KINDS
};

/**
 * struct schedz_task - a task as events describe it
 * @pid: thread id
 * @prio: kernel priority
 * @name: all bytes of comm, as two words in memory order
 */
struct schedz_task {
	s32 pid;
	s32 prio;
	u64 name[SCHEDZ_COMM_LEN / sizeof(u64)];
};

/**
 * struct schedz_event - an event with all its fields
 * @time: trace clock
 * @kind: enum schedz_kind
 * @flags: common_flags
 * @preempt_count: common_preempt_count
 * @common_pid: common_pid
 * @task: prev, or the task that is woken, migrated, forks, executes or exits
 *	(fork and exec have no priority: ignored, 0 after decoding)
 * @other: next, or the child (whose priority is ignored likewise)
 * @state: prev_state of a switch
 * @cpu: target_cpu or orig_cpu
 * @dest_cpu: dest_cpu of a migration
 * @old_pid: old_pid of an exec
 * @filename_len: bytes of @filename, at most SCHEDZ_FILENAME_MAX
 * @filename: file that is executed, without the zero at its end
 */
struct schedz_event {
	u64 time;
	u8 kind;
	u8 flags;
	u8 preempt_count;
	s32 common_pid;
	struct schedz_task task;
	struct schedz_task other;
	u64 state;
	s32 cpu;
	s32 dest_cpu;
	s32 old_pid;
	u16 filename_len;
	const char *filename;
};

/**
 * struct schedz_header - header of a block
 * @version: of the format
 * @cpu: CPU on which all events of the block happened
 * @front: bytes of the arithmetic code
 * @seq: number of the block in the CPU's stream, from 0, modulo 2^32
 * @events: events in the block
 * @before: events of the stream before the block, lost ones included
 * @time: of the first event
 */
struct schedz_header {
	u8 version;
	u16 cpu;
	u16 front;
	u32 seq;
	u32 events;
	u64 before;
	u64 time;
};

/**
 * enum schedz_error - why a block cannot be decoded
 * @SCHEDZ_OK: it can
 * @SCHEDZ_SHORT: shorter than its header
 * @SCHEDZ_MAGIC: does not begin as a block does
 * @SCHEDZ_OTHER_VERSION: of another version of the format
 * @SCHEDZ_LENGTHS: the lengths in the header do not fit the block
 * @SCHEDZ_CHECKSUM: some bytes are not what they were
 * @SCHEDZ_DAMAGED: invalid although the checksum is right
 */
enum schedz_error {
	SCHEDZ_OK,
	SCHEDZ_SHORT,
	SCHEDZ_MAGIC,
	SCHEDZ_OTHER_VERSION,
	SCHEDZ_LENGTHS,
	SCHEDZ_CHECKSUM,
	SCHEDZ_DAMAGED,
};

struct schedz_decoder;

size_t schedz_decoder_size(void);
enum schedz_error schedz_read_header(const u8 *block, size_t len,
				     struct schedz_header *header);
enum schedz_error
schedz_decode(struct schedz_decoder *d, const u8 *block, size_t len,
	      void (*put)(const struct schedz_event *event, void *arg),
	      void *arg);

#endif /* _SCHEDZ_CODEC_H */
