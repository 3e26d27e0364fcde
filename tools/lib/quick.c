// SPDX-License-Identifier: GPL-2.0
/*
 * nettrace: writing QUICK datagrams. See quick.h.
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
 * nettrace_quick_begin - begin the records of a QUICK datagram
 * @p: packer
 * @to: where they go, behind the header
 * @room: bytes there
 * @time: that the header will have
 *
 * nettrace_pack(), nettrace_pack_name() and nettrace_pack_end() go on with it.
 */
void nettrace_quick_begin(struct nettrace_packer *p, u8 *to, u32 room, u64 time)
{
	struct nettrace_quick *q = &p->quick;

	p->begin = to;
	p->at = to;
	p->end = to + room;
	p->any = false;
	p->full = room <= STOP_LEN;
	p->is_quick = true;
	memset(q, 0, sizeof(*q));
	q->time = time;
	q->bits.at = to;
	q->bits.end = p->full ? to : p->end - STOP_LEN;
}

/* Is it all there? If not, the datagram ends before it */
static bool keep(struct nettrace_packer *p, const struct nettrace_bits *before)
{
	if (!p->quick.bits.full) {
		p->any = true;
		return true;
	}
	p->quick.bits = *before;
	p->full = true;
	return false;
}

static u32 find_place(const struct nettrace_quick *q, u16 type)
{
	u32 i = q->after[q->place], places = min_t(u32, q->nr, NETTRACE_PAST);

	if (i < places && q->type[i] == type)
		return i;
	for (i = 0; i < places; i++) {
		if (q->type[i] == type)
			return i;
	}
	return NETTRACE_NEW;
}

static void put_plain(struct nettrace_quick *q, u64 time, const u8 *record,
		      u32 len)
{
	u32 i;

	quick_symbol(&q->bits, false, q, NETTRACE_PLAIN);
	q->time += quick_time(&q->bits, false, time - q->time);
	quick_bits(&q->bits, false, 17, len);
	for (i = 0; i < len; i++)
		quick_bits(&q->bits, false, 8, record[i]);
}

/**
 * nettrace_quick_pack - nettrace_pack() for a QUICK datagram
 * @p: packer
 * @time: time of the record
 * @record: its bytes
 * @len: how many
 *
 * Return: false if there is no room for it; the datagram is complete then.
 */
bool nettrace_quick_pack(struct nettrace_packer *p, u64 time, const u8 *record,
			 u32 len)
{
	struct nettrace_quick *q = &p->quick;
	struct nettrace_bits before = q->bits;
	u32 symbol;

	if (len % 4 || len < 8 || len > NETTRACE_PAST_LEN) {
		put_plain(q, time, record, len);
		return keep(p, &before);
	}
	symbol = find_place(q, get_unaligned_le16(record));
	symbol = quick_symbol(&q->bits, false, q, symbol);
	quick_short(&q->bits, false, q, symbol, time, (u8 *)record, len);
	return keep(p, &before);
}

/**
 * nettrace_quick_name - nettrace_pack_name() for a QUICK datagram
 * @p: packer
 * @pid: the task
 * @comm: its name, NETTRACE_COMM_LEN bytes
 *
 * Return: false if there is no room for it.
 */
bool nettrace_quick_name(struct nettrace_packer *p, s32 pid, const char *comm)
{
	struct nettrace_bits before = p->quick.bits, *b = &p->quick.bits;
	u32 i;

	quick_symbol(b, false, &p->quick, NETTRACE_NAME);
	quick_bits(b, false, 32, pid);
	for (i = 0; i < NETTRACE_COMM_LEN; i++)
		quick_bits(b, false, 8, (u8)comm[i]);
	return keep(p, &before);
}

/**
 * nettrace_quick_stop - stop behind what there is, which it leaves as it is
 * @p: packer
 */
void nettrace_quick_stop(struct nettrace_packer *p)
{
	struct nettrace_bits b = p->quick.bits;

	b.end = p->end;
	quick_symbol(&b, false, &p->quick, NETTRACE_STOP);
	for (; b.nr; b.nr -= min_t(u32, b.nr, 8)) {
		*b.at++ = b.acc;
		b.acc >>= 8;
	}
	p->at = b.at;
}
