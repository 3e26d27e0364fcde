// SPDX-License-Identifier: GPL-2.0
/*
 * nettrace: reading datagrams, of which any byte may be anything. See wire.h, and
 * wire.c for the format of records.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "wire.h"

/**
 * nettrace_get_data - read the header of DATA, PART or END
 * @from: the datagram, of which nettrace_get_header() said that it is one
 * @len: bytes of it
 * @data: where to
 *
 * Return: false if it is too short, or says what cannot be.
 */
bool nettrace_get_data(const u8 *from, size_t len, struct nettrace_data *data)
{
	if (len < NETTRACE_DATA_HEADER)
		return false;
	data->cpu = get_unaligned_le16(from + 12);
	data->events = get_unaligned_le16(from + 14);
	data->seq = get_unaligned_le64(from + 16);
	data->before = get_unaligned_le64(from + 24);
	data->lost = get_unaligned_le64(from + 32);
	data->time = get_unaligned_le64(from + 40);
	return data->lost <= data->before;
}

/**
 * nettrace_get_meta - read the header of META
 * @from: the datagram, of which nettrace_get_header() said that it is one
 * @len: bytes of it
 * @meta: where to
 *
 * Return: false if it is too short, or says what cannot be.
 */
bool nettrace_get_meta(const u8 *from, size_t len, struct nettrace_meta *meta)
{
	if (len < NETTRACE_META_HEADER)
		return false;
	meta->generation = get_unaligned_le32(from + 12);
	meta->total = get_unaligned_le32(from + 16);
	meta->offset = get_unaligned_le32(from + 20);
	return meta->generation && meta->total <= NETTRACE_META_MAX &&
	       meta->offset <= meta->total &&
	       len - NETTRACE_META_HEADER <= meta->total - meta->offset;
}

/**
 * nettrace_get_beat - read the header of a heartbeat
 * @from: the datagram, of which nettrace_get_header() said that it is one
 * @len: bytes of it
 * @beat: where to
 *
 * Return: false if the entries are not all there.
 */
bool nettrace_get_beat(const u8 *from, size_t len, struct nettrace_beat *beat)
{
	if (len < NETTRACE_BEAT_HEADER)
		return false;
	beat->generation = get_unaligned_le32(from + 12);
	beat->entries = get_unaligned_le16(from + 16);
	beat->last = get_unaligned_le16(from + 18);
	return (len - NETTRACE_BEAT_HEADER) / NETTRACE_BEAT_ENTRY >=
	       beat->entries;
}

void nettrace_get_beat_entry(const u8 *from, struct nettrace_beat_entry *entry)
{
	entry->cpu = get_unaligned_le32(from);
	entry->base = get_unaligned_le64(from + 4);
	entry->next = get_unaligned_le64(from + 12);
	entry->before = get_unaligned_le64(from + 20);
	entry->lost = get_unaligned_le64(from + 28);
	entry->generated = get_unaligned_le64(from + 36);
}

/**
 * nettrace_get_tag - read the head of a piece of the metadata
 * @from: the piece
 * @len: bytes up to the end of the metadata
 * @tag: enum nettrace_tag
 * @tag_len: bytes that follow, all of which are there
 *
 * Return: false if it is too short.
 */
bool nettrace_get_tag(const u8 *from, size_t len, u16 *tag, u32 *tag_len)
{
	if (len < NETTRACE_TAG_HEADER)
		return false;
	*tag = get_unaligned_le16(from);
	*tag_len = get_unaligned_le32(from + 4);
	return *tag_len <= len - NETTRACE_TAG_HEADER;
}

/**
 * nettrace_get_info - read what the machine is
 * @from: what the tag stands for
 * @len: bytes of it
 * @info: where to
 *
 * Return: false if there is no such machine.
 */
bool nettrace_get_info(const u8 *from, size_t len, struct nettrace_info *info)
{
	if (len < NETTRACE_INFO_LEN)
		return false;
	info->big_endian = from[0];
	info->long_size = from[1];
	info->cpus = get_unaligned_le32(from + 4);
	info->page_size = get_unaligned_le32(from + 8);
	return info->big_endian <= 1 &&
	       (info->long_size == 4 || info->long_size == 8) && info->cpus &&
	       info->cpus <= 65536 && info->page_size >= 1024 &&
	       info->page_size <= NETTRACE_RECORD_MAX &&
	       !(info->page_size & (info->page_size - 1));
}

/* ------------------------------------------------------------------------- */
/* Records */

struct reader {
	const u8 *at;
	const u8 *end;
	bool bad;
};

static const u8 *take(struct reader *r, u64 len)
{
	const u8 *at = r->at;

	if (r->bad || len > (u64)(r->end - r->at)) {
		r->bad = true;
		return NULL;
	}
	r->at += len;
	return at;
}

static u8 take_byte(struct reader *r)
{
	const u8 *byte = take(r, 1);

	return byte ? *byte : 0;
}

static u64 take_varint(struct reader *r)
{
	unsigned int shift;
	u64 value = 0;
	u8 byte;

	for (shift = 0; shift < 64; shift += 7) {
		byte = take_byte(r);
		value |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	r->bad = true;
	return 0;
}

static u64 take_signed(struct reader *r)
{
	u64 value = take_varint(r);

	return value >> 1 ^ -(value & 1);
}

static void take_group(struct reader *r, u8 *record, u32 len)
{
	u8 mask = take_byte(r);
	u32 i;

	for (i = 0; i < 8; i++) {
		if (!(mask & 1 << i))
			continue;
		if (i < len)
			record[i] ^= take_byte(r);
		else
			r->bad = true;
	}
}

static void take_packed(struct reader *r, u8 *record, u32 len)
{
	u8 groups = 0;
	u32 at;

	for (at = 0; at < len && !r->bad; at += 8) {
		if (at % 64 == 0)
			groups = take_byte(r);
		if (groups & 1 << at / 8 % 8)
			take_group(r, record + at, min_t(u32, len - at, 8));
	}
}

/* Return: the record, which stays in @past, or NULL */
static const u8 *take_short(struct reader *r, struct nettrace_past *past,
			    u8 head, u64 *len)
{
	u32 back = head >> 2 & 0xf, to = past->nr % NETTRACE_PAST;
	u32 from = (past->nr - back) % NETTRACE_PAST, copied;
	u8 *record = past->last[to].record;

	if (back > past->nr)
		r->bad = true;
	else if (back && head & 1 << 6)
		*len = past->last[from].len;
	if (*len > NETTRACE_PAST_LEN)
		r->bad = true;
	if (r->bad)
		return NULL;
	copied = back ? min_t(u32, *len, past->last[from].len) : 0;
	if (copied)
		memcpy(record, past->last[from].record, copied);
	memset(record + copied, 0, *len - copied);
	take_packed(r, record, *len);
	past->last[to].len = *len;
	past->nr++;
	return record;
}

static void take_name(struct reader *r, const struct nettrace_taker *taker)
{
	s32 pid = take_varint(r);
	const u8 *comm = take(r, NETTRACE_COMM_LEN);

	if (comm && taker->name)
		taker->name(pid, comm, taker->arg);
}

/**
 * nettrace_unpack - take the records of a DATA datagram
 * @past: to work with
 * @from: what follows the header
 * @len: bytes of it
 * @time: the header's
 * @taker: gets them, in order; those before damage, too
 *
 * Return: number of records, or -1 if they are damaged.
 */
int nettrace_unpack(struct nettrace_past *past, const u8 *from, size_t len,
		    u64 time, const struct nettrace_taker *taker)
{
	struct reader r = { .at = from, .end = from + len };
	const u8 *record;
	u64 record_len;
	int nr = 0;
	u8 head;

	past->nr = 0;
	while (r.at < r.end) {
		head = take_byte(&r);
		if (head == 2) {
			take_name(&r, taker);
			if (r.bad)
				return -1;
			continue;
		}
		time += take_signed(&r);
		record_len = head & 1 << 6 ? 0 : take_varint(&r);
		if ((head & 3) == 1 && !(head & 1 << 7))
			record = take_short(&r, past, head, &record_len);
		else if (!head)
			record = take(&r, record_len);
		else
			return -1;
		if (r.bad || record_len > NETTRACE_RECORD_MAX)
			return -1;
		if (taker->record)
			taker->record(time, record, record_len, taker->arg);
		nr++;
	}
	return nr;
}
