// SPDX-License-Identifier: GPL-2.0
/*
 * gen_blocks IN BLOCKS PLAIN [lost|damaged|twice|hostile N]
 *
 * Copies a trace.dat twice: to BLOCKS with its switches and wake-ups in blocks of schedz, as
 * the kernel writes them, and to PLAIN as they are, with the names of their tasks. Prints how
 * many blocks CPU 0 has. Then something happens to block N of these, counted from 1:
 *
 *	lost	it is not in BLOCKS, nor are its events in PLAIN, which marks both ends of
 *		the gap
 *	damaged	a bit of it is changed in BLOCKS
 *	twice	BLOCKS has it twice
 *	hostile	half of all blocks have changed bytes, and valid checksums; N is a seed
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>
#include <linux/crc32.h>
#include <linux/kernel.h>

#include "datfile.h"
#include "guard.h"
#include "hash.h"
#include "memory.h"
#include "records.h"
#include "tap.h"
#include "tracedat.h"

#define ID_BLOCK 60000
#define NAMES_ROOM 100000

/* Small blocks, so that there are some; the kernel ends one after a second */
#define BLOCK_EVENTS 16

static const char block_format[] =
	"name: schedz_block\nID: 60000\nformat:\n" TD_COMMON
	"\tfield:u32 seq;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 events;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc u8[] block;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"seq=%u events=%u bytes=%d\", REC->seq, REC->events, __get_dynamic_array_len(block)\n";

static const char *const kinds[] = { "sched_switch", "sched_waking",
				     "sched_wakeup" };
#define KINDS (sizeof(kinds) / sizeof(*kinds))

struct layout {
	struct number type, flags, preempt, pid;
	int id[KINDS];
	struct number task[KINDS], prio[KINDS], cpu[KINDS];
	struct tep_format_field *comm[KINDS], *next_comm;
	struct number next, next_prio, state;
};

/* A record, and the block that it is in, from 1; 0: none */
struct item {
	u64 ts;
	u8 *data;
	u32 size;
	bool lost, is_event;
	struct schedz_event event;
	u32 block;
};

static char **args;
static const char *fate;
static u32 fated;
static struct layout l;
static struct item *items;
static size_t nr, room, sealed;
static struct datfile *blocks, *plain;
static u32 nr_blocks;
static struct schedz_tap tap;
static struct schedz_encoder encoder;
static u32 queue[2048];
static u8 block[SCHEDZ_BLOCK_MIN];
static char names[NAMES_ROOM];

static void find_layout(struct records *r)
{
	struct tep_handle *tep = records_tep(r);
	struct tep_event *e = tep_get_event(tep, 0);
	size_t k;

	number_find(&l.type, r, e, "common_type");
	number_find(&l.flags, r, e, "common_flags");
	number_find(&l.preempt, r, e, "common_preempt_count");
	number_find(&l.pid, r, e, "common_pid");
	for (k = 0; k < KINDS; k++) {
		e = tep_find_event_by_name(tep, "sched", kinds[k]);
		l.id[k] = e ? e->id : -1;
		number_find(&l.task[k], r, e, k ? "pid" : "prev_pid");
		number_find(&l.prio[k], r, e, k ? "prio" : "prev_prio");
		number_find(&l.cpu[k], r, e, "target_cpu");
		l.comm[k] = array_find(e, k ? "comm" : "prev_comm");
		if (k)
			continue;
		number_find(&l.next, r, e, "next_pid");
		number_find(&l.next_prio, r, e, "next_prio");
		number_find(&l.state, r, e, "prev_state");
		l.next_comm = array_find(e, "next_comm");
	}
}

static u64 get(const struct number *n, const struct record *rec)
{
	return n->size && number_fits(n, rec) ? number_get(n, rec) : 0;
}

static void name_task(const struct schedz_task *t)
{
	char line[64];

	snprintf(line, sizeof(line), "%d %.16s\n", t->pid,
		 (const char *)t->name);
	if (t->pid && *(const char *)t->name && !strstr(names, line))
		strcat(names, line);
}

static void copy_comm(struct tep_format_field *f, const struct record *rec,
		      struct schedz_task *t)
{
	const u8 *data;
	u32 len;

	if (array_get(f, rec->data, rec->size, &data, &len) &&
	    len == SCHEDZ_COMM_LEN)
		memcpy(t->name, data, SCHEDZ_COMM_LEN);
	name_task(t);
}

static bool read_event(const struct record *rec, struct schedz_event *e)
{
	int id = get(&l.type, rec);
	size_t k = 0;

	while (k < KINDS && l.id[k] != id)
		k++;
	if (k == KINDS)
		return false;
	*e = (struct schedz_event){ .time = rec->ts,
				    .kind = k,
				    .flags = get(&l.flags, rec),
				    .preempt_count = get(&l.preempt, rec),
				    .common_pid = get(&l.pid, rec),
				    .cpu = get(&l.cpu[k], rec) };
	e->task.pid = get(&l.task[k], rec);
	e->task.prio = get(&l.prio[k], rec);
	copy_comm(l.comm[k], rec, &e->task);
	if (k)
		return true;
	e->other.pid = get(&l.next, rec);
	e->other.prio = get(&l.next_prio, rec);
	copy_comm(l.next_comm, rec, &e->other);
	e->state = get(&l.state, rec);
	return true;
}

static void read_cpu(struct records *r, u32 cpu)
{
	struct record rec;
	struct item *i;
	u64 last = 0;

	nr = sealed = 0;
	records_only(r, cpu);
	while (records_next(r, &rec)) {
		/* The order of a block's event and another one of the same time is lost */
		rec.ts = last = max(rec.ts, last + 1);
		GROW(items, nr, room);
		i = &items[nr++];
		*i = (struct item){ .ts = rec.ts,
				    .size = rec.size,
				    .lost = rec.lost };
		i->data = memcpy(xzalloc(rec.size + 1), rec.data, rec.size);
		i->is_event = read_event(&rec, &i->event);
	}
}

static void falsify(u8 *data, u32 len)
{
	static u64 state;
	u32 changes, crc;

	state = state ? state : hash_mix(fated + 1);
	for (changes = state % 4 < 2 ? 0 : 1 + state / 4 % 3; changes;
	     changes--) {
		state = hash_mix(state + changes);
		/* Not the bytes that make it a block of this version */
		data[4 + state / 256 % (len - 4)] = state;
	}
	state = hash_mix(state + 1);
	crc = crc32_le(~0, data, SCHEDZ_HEADER - 4);
	crc = crc32_le(crc, data + SCHEDZ_HEADER, len - SCHEDZ_HEADER);
	memcpy(data + SCHEDZ_HEADER - 4, &crc, 4);
}

/* Write the block that is finished; its events are the next ones that are in none */
static void write_block(u32 cpu, u64 ts)
{
	u32 events = encoder.events, seq = encoder.seq, len, left;
	static u8 data[20 + SCHEDZ_BLOCK_MIN];
	bool is_fated;

	len = schedz_finish(&encoder);
	if (!len)
		return;
	for (left = events; left; sealed++) {
		if (!items[sealed].is_event)
			continue;
		items[sealed].block = seq + 1;
		left--;
	}
	is_fated = fate && !cpu && seq + 1 == fated;
	if (!cpu)
		nr_blocks++;
	if (is_fated && !strcmp(fate, "lost"))
		return;
	memset(data, 0, 20);
	memcpy(data, (u16[]){ ID_BLOCK }, 2);
	memcpy(data + 8, (u32[]){ seq, events, len << 16 | 20 }, 12);
	memcpy(data + 20, block, len);
	if (is_fated && !strcmp(fate, "damaged"))
		data[20 + len / 2] ^= 4;
	if (is_fated && !strcmp(fate, "twice"))
		datfile_event(blocks, ts, data, 20 + len);
	if (fate && !strcmp(fate, "hostile"))
		falsify(data + 20, len);
	datfile_event(blocks, ts, data, 20 + len);
}

static void write_blocks(u32 cpu)
{
	size_t i;

	schedz_tap_init(&tap, queue, 2048);
	schedz_encoder_init(&encoder, block, SCHEDZ_BLOCK_MIN, cpu);
	datfile_cpu(blocks, cpu);
	for (i = 0; i < nr; i++) {
		if (items[i].lost)
			datfile_lost(blocks, 0);
		if (items[i].is_event) {
			if (!schedz_tap_event(&tap, &items[i].event))
				abort();
			while (schedz_encode(&encoder, &tap, UINT32_MAX))
				write_block(cpu, items[i].ts);
			if (encoder.events == BLOCK_EVENTS)
				write_block(cpu, items[i].ts);
		} else {
			datfile_event(blocks, items[i].ts, items[i].data,
				      items[i].size);
		}
	}
	if (nr)
		write_block(cpu, items[nr - 1].ts);
}

/* Whether a record is the last event before the lost block */
static bool begins_gap(size_t i)
{
	if (!items[i].is_event || items[i].block + 1 != fated)
		return false;
	for (i++; i < nr && !items[i].is_event;)
		i++;
	return i < nr && items[i].block == fated;
}

/* Losses at the end cannot be known */
static void write_plain(u32 cpu)
{
	bool is_losing = !cpu && fate && !strcmp(fate, "lost");
	bool in_gap = false, noted = false;
	u64 missed = 0;
	size_t i;

	datfile_cpu(plain, cpu);
	for (i = 0; i < nr; i++) {
		struct item *t = &items[i];

		if (is_losing && t->is_event && t->block == fated) {
			missed++;
			continue;
		}
		if (in_gap && t->is_event)
			datfile_lost(plain, missed);
		else if (t->lost || (in_gap && !noted))
			datfile_lost(plain, 0);
		noted = in_gap;
		if (t->is_event)
			in_gap = noted = false;
		datfile_event(plain, t->ts, t->data, t->size);
		if (is_losing && fated < nr_blocks && begins_gap(i))
			in_gap = true;
	}
}

static struct datfile *begin(struct guard *g, struct records *r, FILE *out,
			     bool is_plain)
{
	struct datfile_format format = { "schedz", block_format };
	struct datfile_extra extra = { .format = &format,
				       .nr_formats = !is_plain,
				       .names_room = is_plain ? NAMES_ROOM : 0,
				       .clock = "mono" };
	struct datfile *d = datfile_begin(records_handle(r), out, &extra);

	if (!d)
		guard_fail(g, GUARD_NOWHERE, "its head cannot be copied");
	return d;
}

static int work(struct guard *g, FILE *out, void *arg)
{
	struct records *r = records_open(g, args[1], NULL);
	FILE *a = fopen(args[2], "w+"), *b = fopen(args[3], "w+");
	u32 cpu;

	(void)arg;
	if (!r || !a || !b)
		return EXIT_FAILURE;
	find_layout(r);
	blocks = begin(g, r, a, false);
	plain = begin(g, r, b, true);
	if (!blocks || !plain)
		return EXIT_FAILURE;
	for (cpu = 0; cpu < records_cpus(r); cpu++) {
		read_cpu(r, cpu);
		write_blocks(cpu);
		write_plain(cpu);
		while (nr)
			free(items[--nr].data);
	}
	datfile_names(plain, names);
	fprintf(out, "%u\n", nr_blocks);
	free(items);
	records_close(r);
	return !(datfile_end(blocks) & datfile_end(plain) & !fclose(a) &
		 !fclose(b));
}

int main(int argc, char **argv)
{
	struct guard_job job = { .program = "gen_blocks",
				 .file = argc > 1 ? argv[1] : NULL,
				 .idle_cpu = 60,
				 .work = work };

	if (argc != 4 && argc != 6)
		return 2;
	args = argv;
	if (argc == 6) {
		fate = argv[4];
		fated = atoi(argv[5]);
	}
	return guard_run(&job);
}
