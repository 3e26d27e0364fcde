// SPDX-License-Identifier: GPL-2.0
/*
 * nettrace: writing datagrams, and reading acks. See wire.h.
 *
 * Records of a DATA datagram. Most records look like one before, so a record is
 * written as what differs from one of the last 15 in the same datagram:
 *
 *	head	bits 0-1: 0 plain, 1 packed, 2 name of a task
 *		bits 2-5: which one it is compared with, counted back from 1; 0: none
 *		bit 6: it is as long as that one
 *	time	signed varint: since the record before, or the header's time
 *	length	varint, unless bit 6 is set
 *	body	plain: the bytes. packed: for every 64 bytes a mask of its groups
 *		of 8 that differ; for each of these a mask of its bytes that
 *		differ, and those, XORed. What the other one is too short for,
 *		is compared with 0.
 *
 * A name is head, varint pid (as u32), 16 bytes. Names, and records of more than
 * 128 bytes, are not among those that others are compared with.
 *
 * A varint has 7 bits in each byte, the lowest first, and bit 7 set in all but the
 * last. A signed one is 0, -1, 1, -2 and so on for 0, 1, 2, 3.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "wire.h"

/* The most that a record takes besides its bytes */
#define MAX_HEAD (1 + 10 + 5)

void nettrace_put_header(u8 *to, enum nettrace_kind kind, u64 session)
{
	to[0] = NETTRACE_MAGIC_0;
	to[1] = NETTRACE_MAGIC_1;
	to[2] = NETTRACE_VERSION;
	to[3] = kind;
	put_unaligned_le64(session, to + 4);
}

void nettrace_put_data(u8 *to, enum nettrace_kind kind, u64 session,
		       const struct nettrace_data *data)
{
	nettrace_put_header(to, kind, session);
	put_unaligned_le16(data->cpu, to + 12);
	put_unaligned_le16(data->events, to + 14);
	put_unaligned_le64(data->seq, to + 16);
	put_unaligned_le64(data->before, to + 24);
	put_unaligned_le64(data->lost, to + 32);
	put_unaligned_le64(data->time, to + 40);
}

void nettrace_put_meta(u8 *to, u64 session, const struct nettrace_meta *meta)
{
	nettrace_put_header(to, NETTRACE_META, session);
	put_unaligned_le32(meta->generation, to + 12);
	put_unaligned_le32(meta->total, to + 16);
	put_unaligned_le32(meta->offset, to + 20);
}

void nettrace_put_beat(u8 *to, u64 session, const struct nettrace_beat *beat)
{
	nettrace_put_header(to, NETTRACE_BEAT, session);
	put_unaligned_le32(beat->generation, to + 12);
	put_unaligned_le16(beat->entries, to + 16);
	put_unaligned_le16(beat->last, to + 18);
}

void nettrace_put_beat_entry(u8 *to, const struct nettrace_beat_entry *entry)
{
	put_unaligned_le32(entry->cpu, to);
	put_unaligned_le64(entry->base, to + 4);
	put_unaligned_le64(entry->next, to + 12);
	put_unaligned_le64(entry->before, to + 20);
	put_unaligned_le64(entry->lost, to + 28);
	put_unaligned_le64(entry->generated, to + 36);
}

void nettrace_put_ack(u8 *to, u64 session, const struct nettrace_ack *ack)
{
	nettrace_put_header(to, NETTRACE_ACK, session);
	put_unaligned_le32(ack->generation, to + 12);
	put_unaligned_le16(ack->entries, to + 16);
	put_unaligned_le16(0, to + 18);
}

void nettrace_put_ack_entry(u8 *to, const struct nettrace_ack_entry *entry)
{
	put_unaligned_le16(entry->cpu, to);
	put_unaligned_le16(entry->ranges, to + 2);
	put_unaligned_le64(entry->next, to + 4);
}

void nettrace_put_ack_range(u8 *to, const struct nettrace_ack_range *range)
{
	put_unaligned_le32(range->from, to);
	put_unaligned_le32(range->count, to + 4);
}

void nettrace_put_tag(u8 *to, enum nettrace_tag tag, u32 len)
{
	put_unaligned_le16(tag, to);
	put_unaligned_le16(0, to + 2);
	put_unaligned_le32(len, to + 4);
}

void nettrace_put_info(u8 *to, const struct nettrace_info *info)
{
	to[0] = info->big_endian;
	to[1] = info->long_size;
	put_unaligned_le16(0, to + 2);
	put_unaligned_le32(info->cpus, to + 4);
	put_unaligned_le32(info->page_size, to + 8);
}

/**
 * nettrace_get_header - read the header that all datagrams have
 * @from: the datagram
 * @len: bytes of it
 * @h: where to
 *
 * Return: false if it is none of this version.
 */
bool nettrace_get_header(const u8 *from, size_t len, struct nettrace_header *h)
{
	if (len < NETTRACE_HEADER || from[0] != NETTRACE_MAGIC_0 ||
	    from[1] != NETTRACE_MAGIC_1 || from[2] != NETTRACE_VERSION)
		return false;
	h->kind = from[3];
	h->session = get_unaligned_le64(from + 4);
	return true;
}

/**
 * nettrace_get_ack - read the header of an ACK
 * @from: the datagram, of which nettrace_get_header() said that it is one
 * @len: bytes of it
 * @ack: where to
 *
 * Return: false if it is too short. The entries have to be checked one by one.
 */
bool nettrace_get_ack(const u8 *from, size_t len, struct nettrace_ack *ack)
{
	if (len < NETTRACE_ACK_HEADER)
		return false;
	ack->generation = get_unaligned_le32(from + 12);
	ack->entries = get_unaligned_le16(from + 16);
	return true;
}

/**
 * nettrace_get_ack_entry - read an entry of an ACK
 * @from: the entry
 * @len: bytes up to the end of the datagram
 * @entry: where to
 *
 * Return: false if it and its ranges are not all there.
 */
bool nettrace_get_ack_entry(const u8 *from, size_t len,
			    struct nettrace_ack_entry *entry)
{
	if (len < NETTRACE_ACK_ENTRY)
		return false;
	entry->cpu = get_unaligned_le16(from);
	entry->ranges = get_unaligned_le16(from + 2);
	entry->next = get_unaligned_le64(from + 4);
	return (len - NETTRACE_ACK_ENTRY) / NETTRACE_ACK_RANGE >= entry->ranges;
}

void nettrace_get_ack_range(const u8 *from, struct nettrace_ack_range *range)
{
	range->from = get_unaligned_le32(from);
	range->count = get_unaligned_le32(from + 4);
}

/* ------------------------------------------------------------------------- */
/* Records */

static u8 *put_varint(u8 *to, u64 value)
{
	while (value > 0x7f) {
		*to++ = value | 0x80;
		value >>= 7;
	}
	*to++ = value;
	return to;
}

static u8 *put_signed(u8 *to, u64 value)
{
	return put_varint(to, value << 1 ^ -(value >> 63));
}

/**
 * nettrace_pack_begin - begin the records of a datagram
 * @p: packer
 * @to: where they go, behind the header
 * @room: bytes there
 * @time: that the header will have
 */
void nettrace_pack_begin(struct nettrace_packer *p, u8 *to, u32 room, u64 time)
{
	p->at = to;
	p->end = to + room;
	p->time = time;
	p->past.nr = 0;
}

/* Of records of an event and a task; common_type, and common_pid behind it */
static bool same_event(const u8 *a, const u8 *b)
{
	return !memcmp(a, b, 2);
}

static bool same_task(const u8 *a, const u8 *b)
{
	return !memcmp(a + 4, b + 4, 4);
}

/*
 * How far back is the record that is most like this one? The last one of the event
 * and task, or else of the event, or 0.
 */
static u32 find_past(const struct nettrace_past *past, const u8 *record,
		     u32 len)
{
	u32 back, i, event = 0;

	if (len < 8)
		return 0;
	for (back = 1; back < NETTRACE_PAST && back <= past->nr; back++) {
		i = (past->nr - back) % NETTRACE_PAST;
		if (past->last[i].len < 8 ||
		    !same_event(past->last[i].record, record))
			continue;
		if (same_task(past->last[i].record, record))
			return back;
		if (!event)
			event = back;
	}
	return event;
}

static void remember(struct nettrace_past *past, const u8 *record, u32 len)
{
	u32 i = past->nr++ % NETTRACE_PAST;

	past->last[i].len = len;
	memcpy(past->last[i].record, record, len);
}

/* A group of at most 8 bytes: its mask and the bytes that differ */
static u8 *put_group(u8 *to, const u8 *xored, u32 len)
{
	u8 *mask = to++;
	u32 i;

	*mask = 0;
	for (i = 0; i < len; i++) {
		if (!xored[i])
			continue;
		*mask |= 1 << i;
		*to++ = xored[i];
	}
	/* Nothing differs: no mask, too */
	return *mask ? to : mask;
}

/* Into at most len + len / 8 + len / 64 + 2 bytes */
static u8 *put_packed(u8 *to, const u8 *xored, u32 len)
{
	u8 *groups = NULL, *end;
	u32 at;

	for (at = 0; at < len; at += 8) {
		if (at % 64 == 0) {
			groups = to++;
			*groups = 0;
		}
		end = put_group(to, xored + at, min_t(u32, len - at, 8));
		if (end != to)
			*groups |= 1 << at / 8 % 8;
		to = end;
	}
	return to;
}

static u8 *put_short(const struct nettrace_packer *p, u8 *to, u64 time,
		     const u8 *record, u32 len)
{
	u32 back = find_past(&p->past, record, len);
	u32 last = (p->past.nr - back) % NETTRACE_PAST;
	u32 last_len = back ? p->past.last[last].len : 0;
	bool same = back && last_len == len;
	u8 xored[NETTRACE_PAST_LEN];
	u32 i;

	for (i = 0; i < len; i++)
		xored[i] = record[i] ^
			   (i < last_len ? p->past.last[last].record[i] : 0);
	*to++ = 1 | back << 2 | same << 6;
	to = put_signed(to, time - p->time);
	if (!same)
		to = put_varint(to, len);
	return put_packed(to, xored, len);
}

/**
 * nettrace_pack - put a record into the datagram
 * @p: packer
 * @time: its time
 * @record: its bytes, from common_type on
 * @len: how many
 *
 * Return: false if there is no room for it; the datagram is as it was then.
 */
bool nettrace_pack(struct nettrace_packer *p, u64 time, const u8 *record,
		   u32 len)
{
	u8 scratch[MAX_HEAD + NETTRACE_PAST_LEN + NETTRACE_PAST_LEN / 8 +
		   NETTRACE_PAST_LEN / 64 + 2];
	size_t room = p->end - p->at;
	u8 *to;

	if (len <= NETTRACE_PAST_LEN) {
		to = put_short(p, scratch, time, record, len);
		if ((size_t)(to - scratch) > room)
			return false;
		memcpy(p->at, scratch, to - scratch);
		p->at += to - scratch;
		remember(&p->past, record, len);
	} else {
		if (room < MAX_HEAD || len > room - MAX_HEAD)
			return false;
		*p->at++ = 0;
		p->at = put_signed(p->at, time - p->time);
		p->at = put_varint(p->at, len);
		memcpy(p->at, record, len);
		p->at += len;
	}
	p->time = time;
	return true;
}

/**
 * nettrace_pack_name - put the name of a task into the datagram
 * @p: packer
 * @pid: the task
 * @comm: its name, NETTRACE_COMM_LEN bytes
 *
 * Return: false if there is no room for it.
 */
bool nettrace_pack_name(struct nettrace_packer *p, s32 pid, const char *comm)
{
	if (p->end - p->at < 1 + 5 + NETTRACE_COMM_LEN)
		return false;
	*p->at++ = 2;
	p->at = put_varint(p->at, (u32)pid);
	memcpy(p->at, comm, NETTRACE_COMM_LEN);
	p->at += NETTRACE_COMM_LEN;
	return true;
}
