// SPDX-License-Identifier: GPL-2.0
/*
 * tracecast: reading datagrams, of which any byte may be anything, and answering them. See
 * wire.h, and wire.c for the format of records.
 */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "quick.h"
#include "wire.h"

/**
 * tracecast_get_data - read the header of DATA, PART or END
 * @from: the datagram, of which tracecast_get_header() said that it is one
 * @len: bytes of it
 * @data: where to
 *
 * Return: false if it is too short, or says what cannot be.
 */
bool tracecast_get_data(const u8 *from, size_t len, struct tracecast_data *data)
{
	u8 kind;

	if (len < TRACECAST_DATA_HEADER)
		return false;
	kind = from[3] & ((1 << TRACECAST_KIND_BITS) - 1);
	data->cpu = get_unaligned_le16(from + 12);
	data->events = get_unaligned_le16(from + 14);
	data->piece = 0;
	if (tracecast_is_piece(kind)) {
		data->piece = data->events;
		data->events = kind == TRACECAST_END;
	}
	data->seq = get_unaligned_le64(from + 16);
	data->before = get_unaligned_le64(from + 24);
	data->lost = get_unaligned_le64(from + 32);
	data->time = get_unaligned_le64(from + 40);
	return data->lost <= data->before;
}

/**
 * tracecast_get_task - read whose a record is that comes in pieces
 * @from: what is before it, TRACECAST_TASK bytes
 * @taker: who takes the name
 */
void tracecast_get_task(const u8 *from, const struct tracecast_taker *taker)
{
	if (taker->name)
		taker->name(get_unaligned_le32(from), from + 4, taker->arg);
}

/**
 * tracecast_get_meta - read the header of META
 * @from: the datagram, of which tracecast_get_header() said that it is one
 * @len: bytes of it
 * @meta: where to
 *
 * Return: false if it is too short, or says what cannot be.
 */
bool tracecast_get_meta(const u8 *from, size_t len, struct tracecast_meta *meta)
{
	if (len < TRACECAST_META_HEADER)
		return false;
	meta->generation = get_unaligned_le32(from + 12);
	meta->total = get_unaligned_le32(from + 16);
	meta->offset = get_unaligned_le32(from + 20);
	return meta->generation && meta->total <= TRACECAST_META_MAX &&
	       meta->offset <= meta->total &&
	       len - TRACECAST_META_HEADER <= meta->total - meta->offset;
}

/**
 * tracecast_get_beat - read the header of a heartbeat
 * @from: the datagram, of which tracecast_get_header() said that it is one
 * @len: bytes of it
 * @beat: where to
 *
 * Return: false if the entries are not all there.
 */
bool tracecast_get_beat(const u8 *from, size_t len, struct tracecast_beat *beat)
{
	if (len < TRACECAST_BEAT_HEADER)
		return false;
	beat->generation = get_unaligned_le32(from + 12);
	beat->entries = get_unaligned_le16(from + 16);
	beat->last = get_unaligned_le16(from + 18);
	return (len - TRACECAST_BEAT_HEADER) / TRACECAST_BEAT_ENTRY >=
	       beat->entries;
}

void tracecast_get_beat_entry(const u8 *from,
			      struct tracecast_beat_entry *entry)
{
	entry->cpu = get_unaligned_le32(from);
	entry->base = get_unaligned_le64(from + 4);
	entry->next = get_unaligned_le64(from + 12);
	entry->before = get_unaligned_le64(from + 20);
	entry->lost = get_unaligned_le64(from + 28);
	entry->generated = get_unaligned_le64(from + 36);
}

/**
 * tracecast_get_tag - read the head of a piece of the metadata
 * @from: the piece
 * @len: bytes up to the end of the metadata
 * @tag: enum tracecast_tag
 * @tag_len: bytes that follow, all of which are there
 *
 * Return: false if it is too short.
 */
bool tracecast_get_tag(const u8 *from, size_t len, u16 *tag, u32 *tag_len)
{
	if (len < TRACECAST_TAG_HEADER)
		return false;
	*tag = get_unaligned_le16(from);
	*tag_len = get_unaligned_le32(from + 4);
	return *tag_len <= len - TRACECAST_TAG_HEADER;
}

/**
 * tracecast_get_info - read what the machine is
 * @from: what the tag stands for
 * @len: bytes of it
 * @info: where to
 *
 * Return: false if there is no such machine.
 */
bool tracecast_get_info(const u8 *from, size_t len, struct tracecast_info *info)
{
	if (len < TRACECAST_INFO_LEN)
		return false;
	info->big_endian = from[0];
	info->long_size = from[1];
	info->senders = get_unaligned_le16(from + 2) ?: 1;
	info->cpus = get_unaligned_le32(from + 4);
	info->page_size = get_unaligned_le32(from + 8);
	return info->big_endian <= 1 &&
	       (info->long_size == 4 || info->long_size == 8) &&
	       info->senders <= TRACECAST_SENDERS_MAX && info->cpus &&
	       info->cpus <= TRACECAST_CPUS_MAX && info->page_size >= 1024 &&
	       info->page_size <= TRACECAST_PAGE_MAX &&
	       !(info->page_size & (info->page_size - 1));
}

/**
 * tracecast_get_last_boot - read which boot has left the records
 * @from: what the tag stands for
 * @len: bytes of it
 * @last: where to
 *
 * Return: false if it is too short.
 */
bool tracecast_get_last_boot(const u8 *from, size_t len,
			     struct tracecast_last_boot *last)
{
	if (len < TRACECAST_LAST_BOOT_LEN)
		return false;
	last->session = get_unaligned_le64(from);
	last->text_delta = get_unaligned_le64(from + 8);
	last->data_delta = get_unaligned_le64(from + 16);
	last->damaged = get_unaligned_le64(from + 24);
	return true;
}

/* ------------------------------------------------------------------------- */
/* Answers */

void tracecast_put_ack(u8 *to, u64 session, const struct tracecast_ack *ack)
{
	tracecast_put_header(to, TRACECAST_ACK, session);
	put_unaligned_le32(ack->generation, to + 12);
	put_unaligned_le16(ack->entries, to + 16);
	put_unaligned_le16(0, to + 18);
}

void tracecast_put_ack_entry(u8 *to, const struct tracecast_ack_entry *entry)
{
	put_unaligned_le16(entry->cpu, to);
	put_unaligned_le16(entry->ranges, to + 2);
	put_unaligned_le64(entry->next, to + 4);
}

void tracecast_put_ack_range(u8 *to, const struct tracecast_ack_range *range)
{
	put_unaligned_le32(range->from, to);
	put_unaligned_le32(range->count, to + 4);
}

/* ------------------------------------------------------------------------- */
/* Records */

/* More than a header can count */
#define RECORDS_MAX 65535

/* In QUICK, the time is also in what is known */
struct reader {
	bool quick;
	struct tracecast_coder c;
	struct tracecast_unpacker *un;
	const struct tracecast_taker *taker;
	u64 time;
};

/* Was something read that was not written? Behind the end of DATA, some makes no difference */
static bool is_bad(const struct reader *r)
{
	const struct tracecast_bits *b = &r->un->quick.bits;

	return r->quick ? b->nr < 8 * b->past_end : r->c.past_end > 4;
}

static u32 read_bits(struct reader *r, unsigned int bits)
{
	if (r->quick)
		return quick_bits(&r->un->quick.bits, true, bits, 0);
	return tracecast_code_bits(&r->c, bits, 0);
}

static u32 read_symbol(struct reader *r)
{
	struct tracecast_quick *q = &r->un->quick;

	if (r->quick)
		return quick_symbol(&q->bits, true, q, 0);
	return tracecast_code_symbol(&r->c, &r->un->past, 0);
}

static void take_record(const struct reader *r, const u8 *record, u32 len)
{
	if (!is_bad(r) && r->taker->record)
		r->taker->record(r->time, record, len, r->taker->arg);
}

static void read_name(struct reader *r)
{
	u8 comm[TRACECAST_COMM_LEN];
	u32 pid = read_bits(r, 32), i;

	for (i = 0; i < TRACECAST_COMM_LEN; i++)
		comm[i] = read_bits(r, 8);
	if (!is_bad(r) && r->taker->name)
		r->taker->name(pid, comm, r->taker->arg);
}

static u32 read_modelled(struct reader *r, u32 place, u8 *record)
{
	struct tracecast_past *past = &r->un->past;

	if (place == TRACECAST_NEW)
		place = tracecast_new_place(past);
	r->time += tracecast_code_delta(&r->c, past, place, 0);
	return tracecast_code_record(&r->c, past, place, r->time, record, 0);
}

static void read_short(struct reader *r, u32 symbol)
{
	struct tracecast_quick *q = &r->un->quick;
	u8 record[TRACECAST_PAST_LEN] = {};
	u32 len;

	if (r->quick) {
		len = quick_short(&q->bits, true, q, symbol, 0, record, 0);
		r->time = q->time;
	} else {
		len = read_modelled(r, symbol, record);
	}
	take_record(r, record, len);
}

/* No longer than the room; the caller notices bytes that were not written */
static bool read_plain(struct reader *r)
{
	struct tracecast_unpacker *un = r->un;
	u32 len, i;

	if (r->quick) {
		un->quick.time += quick_time(&un->quick.bits, true, 0);
		r->time = un->quick.time;
	} else {
		r->time += tracecast_code_delta(&r->c, &un->past, 0, 0);
	}
	len = read_bits(r, 17);
	if (len > sizeof(un->plain))
		return false;
	for (i = 0; i < len; i++)
		un->plain[i] = read_bits(r, 8);
	take_record(r, un->plain, len);
	return true;
}

static void begin(struct reader *r, const u8 *from, size_t len)
{
	struct tracecast_quick *q = &r->un->quick;
	int i;

	if (r->quick) {
		memset(q, 0, sizeof(*q));
		q->time = r->time;
		q->bits.at = (u8 *)from;
		q->bits.end = from + len;
		return;
	}
	tracecast_past_init(&r->un->past);
	r->c = (struct tracecast_coder){ .high = U32_MAX,
					 .at = (u8 *)from,
					 .end = from + len,
					 .reads = true };
	for (i = 0; i < 4; i++)
		r->c.value = r->c.value << 8 |
			     (r->c.at < r->c.end ? *r->c.at++ : 0);
}

/**
 * tracecast_unpack - take the records of a datagram
 * @un: to work with
 * @kind: TRACECAST_DATA or TRACECAST_QUICK
 * @from: what follows the header
 * @len: bytes of it
 * @time: the header's
 * @taker: gets them, in order; those before damage, too
 *
 * Return: number of records, or -1 if they are damaged.
 */
int tracecast_unpack(struct tracecast_unpacker *un, enum tracecast_kind kind,
		     const u8 *from, size_t len, u64 time,
		     const struct tracecast_taker *taker)
{
	struct reader r = { .quick = kind == TRACECAST_QUICK,
			    .un = un,
			    .taker = taker,
			    .time = time };
	u32 symbol, places;
	int nr = 0;

	/* Nothing at all is no record */
	if (!len)
		return 0;
	begin(&r, from, len);
	while (nr <= RECORDS_MAX) {
		symbol = read_symbol(&r);
		places = min_t(u32, r.quick ? un->quick.nr : un->past.nr,
			       TRACECAST_PAST);
		if (is_bad(&r))
			return -1;
		if (symbol == TRACECAST_STOP)
			return nr;
		if (symbol == TRACECAST_NAME) {
			read_name(&r);
			continue;
		}
		if (symbol == TRACECAST_PLAIN) {
			if (!read_plain(&r))
				return -1;
		} else if (symbol < places || symbol == TRACECAST_NEW) {
			read_short(&r, symbol);
		} else {
			return -1;
		}
		if (is_bad(&r))
			return -1;
		nr++;
	}
	return -1;
}
