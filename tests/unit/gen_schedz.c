// SPDX-License-Identifier: GPL-2.0
/*
 * gen_schedz BLOCKS PLAIN EVENTS SEED [LOST [BITS [TASKS [CLOCK]]]]
 *
 * Writes two made-up traces of two CPUs: PLAIN with ordinary scheduling events,
 * field by field, BLOCKS with the same events in blocks of schedz and without
 * the formats of the ordinary ones. With LOST, block LOST of CPU 0 is left out
 * of BLOCKS. If BITS is 32, the traces are of a 32-bit machine. TASKS: 60, at
 * most TASKS_MAX. CLOCK: local.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "tracedat.h"

#define CPUS 2
#define TASKS_MAX 600
#define BLOCK 3000

#define HEAD(name, id) "name: " name "\nID: " id "\nformat:\n" TD_COMMON

#define FIELD(decl, offset, size, is_signed)                  \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size \
	";\tsigned:" #is_signed ";\n"

#define WAKE(name, id)                                                         \
	HEAD(name, id)                                                         \
	FIELD("char comm[16]", 8, 16, 0)                                       \
	FIELD("pid_t pid", 24, 4, 1)                                           \
	FIELD("int prio", 28, 4, 1)                                            \
	FIELD("int target_cpu", 32, 4, 1)                                      \
	"\nprint fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, " \
	"REC->pid, REC->prio, REC->target_cpu\n"

#define STATES                                                                  \
	"((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | " \
	"0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - 1)"

/* Offsets after a long depend on its size */
#define SWITCH(size, comm, pid, prio)                                       \
	HEAD("sched_switch", "300")                                         \
	FIELD("char prev_comm[16]", 8, 16, 0)                               \
	FIELD("pid_t prev_pid", 24, 4, 1)                                   \
	FIELD("int prev_prio", 28, 4, 1)                                    \
	FIELD("long prev_state", 32, size, 1)                               \
	FIELD("char next_comm[16]", comm, 16, 0)                            \
	FIELD("pid_t next_pid", pid, 4, 1)                                  \
	FIELD("int next_prio", prio, 4, 1)                                  \
	"\nprint fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d "             \
	"prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d\", "     \
	"REC->prev_comm, REC->prev_pid, REC->prev_prio, "                   \
	"(REC->prev_state & " STATES                                        \
	") ? __print_flags(REC->prev_state & " STATES                       \
	", \"|\", { 0x00000001, \"S\" }, { 0x00000002, \"D\" }, { "         \
	"0x00000004, \"T\" }, { 0x00000008, \"t\" }, { 0x00000010, \"X\" "  \
	"}, { 0x00000020, \"Z\" }, { 0x00000040, \"P\" }, { 0x00000080, "   \
	"\"I\" }) : \"R\", REC->prev_state & (((0x00000000 | 0x00000001 | " \
	"0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | " \
	"0x00000040) + 1) << 1) ? \"+\" : \"\", REC->next_comm, "           \
	"REC->next_pid, REC->next_prio\n"

static const char switch_format_32[] = SWITCH(4, 36, 52, 56);

/* As Linux 6.12 prints them */
static const char *const formats[SCHEDZ_KINDS] = {
	[SCHEDZ_SWITCH] = SWITCH(8, 40, 56, 60),
	[SCHEDZ_WAKING] = WAKE("sched_waking", "301"),
	[SCHEDZ_WAKEUP] = WAKE("sched_wakeup", "302"),
	[SCHEDZ_WAKEUP_NEW] = WAKE("sched_wakeup_new", "303"),
	[SCHEDZ_MIGRATE] = HEAD("sched_migrate_task", "304") FIELD(
		"char comm[16]", 8, 16,
		0) FIELD("pid_t pid", 24, 4, 1) FIELD("int prio", 28, 4,
						      1) FIELD("int orig_cpu",
							       32, 4, 1)
		FIELD("int dest_cpu", 36, 4,
		      1) "\nprint fmt: \"comm=%s pid=%d prio=%d orig_cpu=%d "
			 "dest_cpu=%d\", REC->comm, REC->pid, REC->prio, REC->orig_cpu, "
			 "REC->dest_cpu\n",
	[SCHEDZ_FORK] = HEAD("sched_process_fork", "305") FIELD(
		"char parent_comm[16]",
		8, 16, 0) FIELD("pid_t parent_pid", 24, 4,
				1) FIELD("char child_comm[16]", 28, 16, 0)
		FIELD("pid_t child_pid", 44, 4,
		      1) "\nprint fmt: \"comm=%s pid=%d child_comm=%s child_pid=%d\", "
			 "REC->parent_comm, REC->parent_pid, REC->child_comm, "
			 "REC->child_pid\n",
	[SCHEDZ_EXEC] = HEAD("sched_process_exec",
			     "306") FIELD("__data_loc char[] filename", 8, 4,
					  0) FIELD("pid_t pid", 12, 4, 1)
		FIELD("pid_t old_pid", 16, 4,
		      1) "\nprint fmt: \"filename=%s pid=%d old_pid=%d\", "
			 "__get_str(filename), REC->pid, REC->old_pid\n",
	[SCHEDZ_EXIT] = HEAD("sched_process_exit", "307") FIELD(
		"char comm[16]", 8, 16, 0) FIELD("pid_t pid", 24, 4, 1)
		FIELD("int prio", 28, 4,
		      1) "\nprint fmt: \"comm=%s pid=%d prio=%d\", REC->comm, REC->pid, "
			 "REC->prio\n",
};

static const char other_format[] = HEAD("other", "299")
	FIELD("u32 value", 8, 4, 0) "\nprint fmt: \"value=%u\", REC->value\n";

static const char block_format[] = HEAD("schedz_block", "400") FIELD(
	"u32 seq", 8, 4, 0) FIELD("u32 events", 12, 4, 0)
	FIELD("__data_loc u8[] block", 16, 4,
	      0) "\nprint fmt: \"seq=%u events=%u bytes=%d\", REC->seq, REC->events, "
		 "__get_dynamic_array_len(block)\n";

static uint64_t seed;

static uint64_t rnd(uint64_t n)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15ULL; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) % n;
}

/* ---- the plain one ---- */

static void put_task(struct td_record *r, size_t comm,
		     const struct schedz_task *t, size_t pid, size_t prio)
{
	memcpy(r->data + comm, t->name, SCHEDZ_COMM_LEN);
	td_put(r, pid, (uint32_t)t->pid, 4);
	if (prio)
		td_put(r, prio, (uint32_t)t->prio, 4);
}

static void write_plain(struct td *td, unsigned int cpu,
			const struct schedz_event *e)
{
	static const size_t sizes[] = { 64, 36, 36, 36, 40, 48, 20, 32 };
	unsigned int is_short =
		e->kind == SCHEDZ_SWITCH && td->layout.long4 ? 4 : 0;
	struct td_record r;

	td_begin(&r, td, 300 + e->kind, e->common_pid,
		 sizes[e->kind] - is_short);
	td_put(&r, 2, e->flags, 1);
	td_put(&r, 3, e->preempt_count, 1);
	switch (e->kind) {
	case SCHEDZ_SWITCH:
		put_task(&r, 8, &e->task, 24, 28);
		td_put(&r, 32, e->state, 8 - is_short);
		put_task(&r, 40 - is_short, &e->other, 56 - is_short,
			 60 - is_short);
		break;
	case SCHEDZ_FORK:
		put_task(&r, 8, &e->task, 24, 0);
		put_task(&r, 28, &e->other, 44, 0);
		break;
	case SCHEDZ_EXEC:
		td_put(&r, 12, (uint32_t)e->task.pid, 4);
		td_put(&r, 16, (uint32_t)e->old_pid, 4);
		td_put_string(&r, 8, e->filename);
		break;
	case SCHEDZ_MIGRATE:
		td_put(&r, 36, (uint32_t)e->dest_cpu, 4);
		/* fall through */
	default:
		put_task(&r, 8, &e->task, 24, 28);
		if (e->kind != SCHEDZ_EXIT)
			td_put(&r, 32, (uint32_t)e->cpu, 4);
	}
	td_write(td, 0, cpu, e->time, &r);
}

static void write_other(struct td *td, unsigned int cpu, uint64_t time,
			unsigned int value)
{
	struct td_record r;

	td_begin(&r, td, 299, 1, 12);
	td_put(&r, 8, value, 4);
	td_write(td, 0, cpu, time, &r);
}

/* ---- the one with blocks ---- */

static struct schedz_tap tap;
static struct schedz_encoder encoder;
static u32 queue[2048];
static uint8_t block[BLOCK];

static void write_block(struct td *td, unsigned int cpu, uint64_t time,
			unsigned int lost)
{
	uint32_t events = encoder.events, seq = encoder.seq;
	uint32_t len = schedz_finish(&encoder);
	struct td_record r;

	if (!len || (!cpu && seq + 1 == lost))
		return;
	td_begin(&r, td, 400, 1, 20);
	td_put(&r, 8, seq, 4);
	td_put(&r, 12, events, 4);
	td_put(&r, 16, len << 16 | 20, 4);
	memcpy(r.data + 20, block, len);
	r.len += len;
	td_write(td, 0, cpu, time, &r);
}

static void write_blocks(struct td *td, unsigned int cpu,
			 const struct schedz_event *e, bool flush,
			 unsigned int lost)
{
	if (e)
		while (!schedz_tap_event(&tap, e))
			abort();
	if (e && !flush && schedz_tap_words(&tap) < 256)
		return;
	while (schedz_encode(&encoder, &tap, UINT32_MAX))
		write_block(td, cpu, e->time, lost);
	if (flush)
		write_block(td, cpu, e->time, lost);
}

/* ---- events ---- */

static struct schedz_task task[TASKS_MAX];
static unsigned int tasks = 60;

static void make_tasks(void)
{
	unsigned int i;

	for (i = 0; i < tasks; i++) {
		task[i].pid = i ? 99 + i : 0;
		task[i].prio = i % 5 ? 120 : 100 + i;
		snprintf((char *)task[i].name, SCHEDZ_COMM_LEN, "%s%u",
			 i % 3 ? "worker/" : "a task ", i % TASKS_MAX);
	}
}

static void make_event(struct schedz_event *e, unsigned int *cur)
{
	unsigned int other = rnd(tasks);

	e->kind = rnd(3) ? SCHEDZ_SWITCH : rnd(SCHEDZ_KINDS);
	e->flags = rnd(10) ? 1 : rnd(256);
	e->preempt_count = rnd(10) ? 2 : rnd(4);
	e->common_pid = task[*cur].pid;
	e->task = task[rnd(tasks)];
	e->other = task[other];
	e->cpu = rnd(CPUS);
	e->dest_cpu = rnd(CPUS);
	e->old_pid = rnd(1000);
	e->filename = rnd(2) ? "/bin/sh" :
			       "/usr/lib/gcc/x86_64-linux-gnu/12/cc1";
	e->filename_len = strlen(e->filename);
	if (e->kind == SCHEDZ_SWITCH) {
		e->task = task[*cur];
		e->state = rnd(3) ? 1ULL << rnd(9) : 0;
		*cur = other;
	}
}

static void make_cpu(struct td *plain, struct td *blocks, unsigned int cpu,
		     unsigned int events, unsigned int lost)
{
	struct schedz_event e = { .time = 1000000000000ULL + cpu * 77 };
	unsigned int i, cur = 0;

	schedz_tap_init(&tap, queue, 2048);
	schedz_encoder_init(&encoder, block, BLOCK, cpu);
	for (i = 0; i < events; i++) {
		e.time += 1 + rnd(rnd(100) ? 20000 : 300000000);
		if (!rnd(50)) {
			write_other(plain, cpu, e.time, i);
			write_other(blocks, cpu, e.time, i);
			e.time++;
		}
		make_event(&e, &cur);
		write_plain(plain, cpu, &e);
		write_blocks(blocks, cpu, &e, !rnd(2000) || i == events - 1,
			     lost);
	}
}

int main(int argc, char **argv)
{
	struct td_layout layout = { .page_size = 4096, .clock = "local" };
	unsigned int cpu, kind, lost = argc > 5 ? atoi(argv[5]) : 0;
	struct td plain, blocks;
	char names[TASKS_MAX * 30] = "";

	if (argc < 5)
		return 2;
	seed = strtoull(argv[4], NULL, 0);
	layout.long4 = argc > 6 && atoi(argv[6]) == 32;
	if (argc > 7)
		tasks = atoi(argv[7]);
	if (tasks > TASKS_MAX)
		return 2;
	if (argc > 8)
		layout.clock = argv[8];
	make_tasks();
	for (kind = 1; kind < tasks; kind++)
		sprintf(names + strlen(names), "%d %s\n", task[kind].pid,
			(char *)task[kind].name);
	td_init(&plain, &layout, CPUS);
	td_init(&blocks, &layout, CPUS);
	plain.cmdlines = names;
	for (kind = 0; kind < SCHEDZ_KINDS; kind++)
		td_add_event(&plain, "sched",
			     kind == SCHEDZ_SWITCH && layout.long4 ?
				     switch_format_32 :
				     formats[kind]);
	td_add_event(&plain, "test", other_format);
	td_add_event(&blocks, "test", other_format);
	td_add_event(&blocks, "schedz", block_format);
	for (cpu = 0; cpu < CPUS; cpu++)
		make_cpu(&plain, &blocks, cpu, atoi(argv[3]), lost);
	return !td_finish(&blocks, argv[1]) || !td_finish(&plain, argv[2]);
}
