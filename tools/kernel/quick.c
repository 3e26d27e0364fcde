// SPDX-License-Identifier: GPL-2.0
/*
 * tracecast: writing QUICK datagrams. See quick.h.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "quick.h"
#include "wire.h"

/* What stop takes at most: 6 bits, and 31 that were not written yet */
#define STOP_LEN 5

/**
 * tracecast_quick_begin - what tracecast_pack_begin() does for a QUICK datagram only
 * @p: packer
 */
void tracecast_quick_begin(struct tracecast_packer *p)
{
	struct tracecast_quick *q = &p->quick;

	p->full = p->end - p->begin <= STOP_LEN;
	memset(q, 0, sizeof(*q));
	q->time = p->time;
	q->bits.at = p->begin;
	q->bits.end = p->full ? p->begin : p->end - STOP_LEN;
}

/* Is it all there? If not, the datagram ends before it */
static bool keep(struct tracecast_packer *p,
		 const struct tracecast_bits *before)
{
	if (!p->quick.bits.full) {
		p->any = true;
		return true;
	}
	p->quick.bits = *before;
	p->full = true;
	return false;
}

static u32 find_place(const struct tracecast_quick *q, u16 type)
{
	u32 i = q->after[q->place], places = min_t(u32, q->nr, TRACECAST_PAST);

	if (i < places && q->type[i] == type)
		return i;
	for (i = 0; i < places; i++) {
		if (q->type[i] == type)
			return i;
	}
	return TRACECAST_NEW;
}

static void put_plain(struct tracecast_quick *q, u64 time, const u8 *record,
		      u32 len)
{
	u32 i;

	quick_symbol(&q->bits, false, q, TRACECAST_PLAIN);
	q->time += quick_time(&q->bits, false, time - q->time);
	quick_bits(&q->bits, false, 17, len);
	for (i = 0; i < len; i++)
		quick_bits(&q->bits, false, 8, record[i]);
}

/**
 * tracecast_quick_pack - tracecast_pack() for a QUICK datagram
 * @p: packer
 * @time: time of the record
 * @record: its bytes
 * @len: how many
 *
 * Return: false if there is no room for it; the datagram is complete then.
 */
bool tracecast_quick_pack(struct tracecast_packer *p, u64 time,
			  const u8 *record, u32 len)
{
	struct tracecast_quick *q = &p->quick;
	struct tracecast_bits before = q->bits;
	u32 symbol;

	if (len % 4 || len < 8 || len > TRACECAST_PAST_LEN) {
		put_plain(q, time, record, len);
		return keep(p, &before);
	}
	symbol = find_place(q, get_unaligned_le16(record));
	symbol = quick_symbol(&q->bits, false, q, symbol);
	quick_short(&q->bits, false, q, symbol, time, (u8 *)record, len);
	return keep(p, &before);
}

/**
 * tracecast_quick_name - tracecast_pack_name() for a QUICK datagram
 * @p: packer
 * @pid: the task
 * @comm: its name, TRACECAST_COMM_LEN bytes
 *
 * Return: false if there is no room for it.
 */
bool tracecast_quick_name(struct tracecast_packer *p, s32 pid, const char *comm)
{
	struct tracecast_bits before = p->quick.bits, *b = &p->quick.bits;
	u32 i;

	quick_symbol(b, false, &p->quick, TRACECAST_NAME);
	quick_bits(b, false, 32, pid);
	for (i = 0; i < TRACECAST_COMM_LEN; i++)
		quick_bits(b, false, 8, (u8)comm[i]);
	return keep(p, &before);
}

/**
 * tracecast_quick_stop - stop behind what there is, which it leaves as it is
 * @p: packer
 */
void tracecast_quick_stop(struct tracecast_packer *p)
{
	struct tracecast_bits b = p->quick.bits;

	b.end = p->end;
	quick_symbol(&b, false, &p->quick, TRACECAST_STOP);
	for (; b.nr; b.nr -= min_t(u32, b.nr, 8)) {
		*b.at++ = b.acc;
		b.acc >>= 8;
	}
	p->at = b.at;
}
