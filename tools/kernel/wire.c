// SPDX-License-Identifier: GPL-2.0
/*
 * tracecast: writing datagrams, and reading acks. See wire.h.
 *
 * Records of a DATA datagram. Most records look like the last one of their event, so
 * a record is written as what differs from that, in an arithmetic code whose
 * probabilities adapt while it is written, and begin anew in each datagram. What is
 * coded, in this order:
 *
 *	symbol	which event, by the symbol before: one of the 16 that have a place,
 *		or a new one, which gets the next place; or plain, name, stop
 *	time	since the record before, or the header's time: is it negative? how
 *		many bits has it? the bits below the first one
 *	length	is it that of the last one? If not, 8 bits
 *	body	for each 4 bytes: are they not as in the last one? then, of 8 that are
 *		aligned: have they grown as much as the 8 before them, or about as
 *		much as time has? by how much not? if neither: are they
 *		among the last 32 that were not, and had 2 bytes at least that were
 *		not? then which, counted back from the last one; if not, for each
 *		byte of these: is it not? then the byte. Bytes 4 to 7, common_pid,
 *		are compared with those of the record before, of any event
 *
 * All of these have probabilities by the event's place, and by their own place in
 * the record; bits of a number below its upper four have none. A plain record is: the
 * time, 17 bits of length, the bytes; a name: 32 bits of pid, 16 bytes.
 *
 * The code: a range of 32 bits, [low, high], is divided by each bit in proportion to
 * its probability, and goes on with the part that the bit says, the lower one for 1.
 * The upper byte is written as soon as both ends agree in it. At the end, the fewest
 * bytes are written that make a number within, whatever follows. Reading compares
 * that number with the same divisions, so one code serves both: what it is given
 * only matters when it writes.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "wire.h"

void tracecast_put_header(u8 *to, enum tracecast_kind kind, u64 session)
{
	to[0] = TRACECAST_MAGIC_0;
	to[1] = TRACECAST_MAGIC_1;
	to[2] = TRACECAST_VERSION;
	to[3] = kind;
	put_unaligned_le64(session, to + 4);
}

/**
 * tracecast_put_sender - say who of the session sends a datagram, or is to get it
 * @to: the datagram, which has a header; again, it makes no difference
 * @sender: below TRACECAST_SENDERS_MAX; without this, it is 0
 */
void tracecast_put_sender(u8 *to, u8 sender)
{
	to[3] |= sender << TRACECAST_KIND_BITS;
}

void tracecast_put_data(u8 *to, enum tracecast_kind kind, u64 session,
			const struct tracecast_data *data)
{
	u16 count = tracecast_is_piece(kind) ? data->piece : data->events;

	tracecast_put_header(to, kind, session);
	put_unaligned_le16(data->cpu, to + 12);
	put_unaligned_le16(count, to + 14);
	put_unaligned_le64(data->seq, to + 16);
	put_unaligned_le64(data->before, to + 24);
	put_unaligned_le64(data->lost, to + 32);
	put_unaligned_le64(data->time, to + 40);
}

/**
 * tracecast_put_task - say whose a record is that goes in pieces
 * @to: before it, in the first of them
 * @pid: the task, 0 if the receiver does not have to hear its name
 * @comm: its name, TRACECAST_COMM_LEN bytes
 */
void tracecast_put_task(u8 *to, s32 pid, const char *comm)
{
	put_unaligned_le32(pid, to);
	memcpy(to + 4, comm, TRACECAST_COMM_LEN);
}

void tracecast_put_meta(u8 *to, u64 session, const struct tracecast_meta *meta)
{
	tracecast_put_header(to, TRACECAST_META, session);
	put_unaligned_le32(meta->generation, to + 12);
	put_unaligned_le32(meta->total, to + 16);
	put_unaligned_le32(meta->offset, to + 20);
}

void tracecast_put_beat(u8 *to, u64 session, const struct tracecast_beat *beat)
{
	tracecast_put_header(to, TRACECAST_BEAT, session);
	put_unaligned_le32(beat->generation, to + 12);
	put_unaligned_le16(beat->entries, to + 16);
	put_unaligned_le16(beat->last, to + 18);
}

void tracecast_put_beat_entry(u8 *to, const struct tracecast_beat_entry *entry)
{
	put_unaligned_le32(entry->cpu, to);
	put_unaligned_le64(entry->base, to + 4);
	put_unaligned_le64(entry->next, to + 12);
	put_unaligned_le64(entry->before, to + 20);
	put_unaligned_le64(entry->lost, to + 28);
	put_unaligned_le64(entry->generated, to + 36);
}

void tracecast_put_tag(u8 *to, enum tracecast_tag tag, u32 len)
{
	put_unaligned_le16(tag, to);
	put_unaligned_le16(0, to + 2);
	put_unaligned_le32(len, to + 4);
}

void tracecast_put_info(u8 *to, const struct tracecast_info *info)
{
	to[0] = info->big_endian;
	to[1] = info->long_size;
	put_unaligned_le16(info->senders, to + 2);
	put_unaligned_le32(info->cpus, to + 4);
	put_unaligned_le32(info->page_size, to + 8);
}

void tracecast_put_last_boot(u8 *to, const struct tracecast_last_boot *last)
{
	put_unaligned_le64(last->session, to);
	put_unaligned_le64(last->text_delta, to + 8);
	put_unaligned_le64(last->data_delta, to + 16);
	put_unaligned_le64(last->damaged, to + 24);
}

/**
 * tracecast_get_header - read the header that all datagrams have
 * @from: the datagram
 * @len: bytes of it
 * @h: where to
 *
 * Return: false if it is none, or of another version.
 */
bool tracecast_get_header(const u8 *from, size_t len,
			  struct tracecast_header *h)
{
	if (len < TRACECAST_HEADER || from[0] != TRACECAST_MAGIC_0 ||
	    from[1] != TRACECAST_MAGIC_1 ||
	    (from[2] & ~TRACECAST_SEALED) != TRACECAST_VERSION)
		return false;
	h->sealed = from[2] & TRACECAST_SEALED;
	h->kind = from[3] & (BIT(TRACECAST_KIND_BITS) - 1);
	h->sender = from[3] >> TRACECAST_KIND_BITS;
	h->session = get_unaligned_le64(from + 4);
	return true;
}

/**
 * tracecast_get_ack - read the header of an ACK
 * @from: the datagram, of which tracecast_get_header() said that it is one
 * @len: bytes of it
 * @ack: where to
 *
 * Return: false if it is too short. The entries have to be checked one by one.
 */
bool tracecast_get_ack(const u8 *from, size_t len, struct tracecast_ack *ack)
{
	if (len < TRACECAST_ACK_HEADER)
		return false;
	ack->generation = get_unaligned_le32(from + 12);
	ack->entries = get_unaligned_le16(from + 16);
	return true;
}

/**
 * tracecast_get_ack_entry - read an entry of an ACK
 * @from: the entry
 * @len: bytes up to the end of the datagram
 * @entry: where to
 *
 * Return: false if it and its ranges are not all there.
 */
bool tracecast_get_ack_entry(const u8 *from, size_t len,
			     struct tracecast_ack_entry *entry)
{
	if (len < TRACECAST_ACK_ENTRY)
		return false;
	entry->cpu = get_unaligned_le16(from);
	entry->ranges = get_unaligned_le16(from + 2);
	entry->next = get_unaligned_le64(from + 4);
	return (len - TRACECAST_ACK_ENTRY) / TRACECAST_ACK_RANGE >=
	       entry->ranges;
}

void tracecast_get_ack_range(const u8 *from, struct tracecast_ack_range *range)
{
	range->from = get_unaligned_le32(from);
	range->count = get_unaligned_le32(from + 4);
}

/* ------------------------------------------------------------------------- */
/* The code */

/* Each byte of a model, to begin with: a probability of about a half, no bits seen */
#define HALF 0x80

/* By how much a probability moves, after n bits: 1/(n + 1.5) of what is left */
static const u16 rate[] = {
	43690, 26214, 18724, 14563, 11915, 10082, 8738, 7710,
	6898,  6241,  5698,  5242,  4854,  4519,  4228, 3971,
};

/* The ends of the range, where a compiler knows that no model is */
struct range {
	u32 low;
	u32 high;
};

static void next_byte(struct tracecast_coder *c, u8 upper)
{
	if (c->reads) {
		c->value <<= 8;
		if (c->at < c->end)
			c->value |= *c->at++;
		else
			c->past_end++;
	} else if (c->at < c->end) {
		*c->at++ = upper;
	} else {
		c->full = true;
	}
}

/* With the probability of 1 in 4096ths */
static __always_inline bool divide(struct tracecast_coder *c, struct range *r,
				   u32 probability, bool bit)
{
	u32 mid = r->low + ((r->high - r->low) >> 12) * probability;

	if (c->reads)
		bit = c->value <= mid;
	if (bit)
		r->high = mid;
	else
		r->low = mid + 1;
	while (unlikely(!((r->low ^ r->high) >> 24))) {
		next_byte(c, r->high >> 24);
		r->low <<= 8;
		r->high = r->high << 8 | 0xff;
	}
	return bit;
}

/* A probability has 12 bits, and below these, how many bits it has seen, up to 15 */
static __always_inline bool code_modelled(struct tracecast_coder *c,
					  struct range *r, u16 *model, bool bit)
{
	u32 n = *model & 15, p = *model & ~15U;

	bit = divide(c, r, p >> 4, bit);
	if (bit)
		p += (0xfff0 - p) * rate[n] >> 16;
	else
		p -= p * rate[n] >> 16;
	*model = (p & ~15U) | (n < 15 ? n + 1 : n);
	return bit;
}

static noinline bool code_bit(struct tracecast_coder *c, u16 *model, bool bit)
{
	struct range r = { c->low, c->high };

	bit = code_modelled(c, &r, model, bit);
	c->low = r.low;
	c->high = r.high;
	return bit;
}

/* A number of @bits bits, the highest first; each has its model by those above */
static noinline u32 code_tree(struct tracecast_coder *c, u16 *tree,
			      unsigned int bits, u32 value)
{
	struct range r = { c->low, c->high };
	u32 node = 1;

	while (bits--)
		node = node << 1 |
		       code_modelled(c, &r, &tree[node], value >> bits & 1);
	c->low = r.low;
	c->high = r.high;
	return node;
}

/**
 * tracecast_code_bits - bits of which nothing is known
 * @c: the code
 * @bits: how many
 * @value: these, when they are written
 *
 * Return: these.
 */
u32 tracecast_code_bits(struct tracecast_coder *c, unsigned int bits, u32 value)
{
	struct range r = { c->low, c->high };
	u32 got = 0;

	while (bits--)
		got = got << 1 | divide(c, &r, 2048, value >> bits & 1);
	c->low = r.low;
	c->high = r.high;
	return got;
}

/**
 * tracecast_code_symbol - what comes next?
 * @c: the code
 * @past: what is known
 * @symbol: it, when it is written
 *
 * Return: it, 31 at most.
 */
u32 tracecast_code_symbol(struct tracecast_coder *c,
			  struct tracecast_past *past, u32 symbol)
{
	symbol = code_tree(c, past->m.symbol[past->symbol], 5, symbol) & 31;
	past->symbol = symbol;
	return symbol;
}

/* A number with a sign, whose size has @width bits */
static u64 code_signed(struct tracecast_coder *c, u16 *negative, u16 *sizes,
		       u32 width, u16 (*tops)[8], u64 number)
{
	bool back = code_bit(c, negative, number >> 63);
	u64 size = back ? -number : number;
	u32 bits = code_tree(c, sizes, width, fls64(size)) & ((1 << width) - 1),
	    top;

	if (bits < 2)
		return back ? -(u64)bits : bits;
	bits = min_t(u32, bits, 64) - 1;
	top = min_t(u32, bits, 3);
	/* The first one is known */
	number = code_tree(c, tops[bits], top, size >> (bits - top) & 7);
	for (bits -= top; bits; bits -= top) {
		top = min_t(u32, bits, 16);
		number = number << top |
			 tracecast_code_bits(c, top,
					     size >> (bits - top) & 0xffff);
	}
	return back ? -number : number;
}

/**
 * tracecast_code_delta - time since the record before
 * @c: the code
 * @past: what is known
 * @place: of the event
 * @delta: it, when it is written; may be negative
 *
 * Return: it.
 */
u64 tracecast_code_delta(struct tracecast_coder *c, struct tracecast_past *past,
			 u32 place, u64 delta)
{
	struct tracecast_model *m = &past->m;

	return code_signed(c, &m->back, m->size[place], 7, m->top, delta);
}

/* Where the last of those is noted that these four bytes could be */
static u32 *seen_slot(struct tracecast_past *past, const u8 *bytes)
{
	return &past->seen_last[get_unaligned_le32(bytes) * 0x61c88647 >> 26];
}

static void note_seen(struct tracecast_past *past, const u8 *bytes)
{
	memcpy(past->seen[past->nr_seen++ % TRACECAST_SEEN], bytes, 4);
	*seen_slot(past, bytes) = past->nr_seen;
}

/* How long ago were these four bytes seen? From 0; TRACECAST_SEEN: not at all */
static u32 find_seen(struct tracecast_past *past, const u8 *bytes)
{
	/* The last that they could be; before any, that is too long ago */
	u32 i = past->nr_seen - *seen_slot(past, bytes);

	for (; i < min_t(u32, past->nr_seen, TRACECAST_SEEN); i++) {
		if (!memcmp(past->seen[(past->nr_seen - 1 - i) % TRACECAST_SEEN],
			    bytes, 4))
			return i;
	}
	return TRACECAST_SEEN;
}

/* Four bytes at @at that were seen before; false if they are others */
static bool code_seen(struct tracecast_coder *c, struct tracecast_past *past,
		      u32 place, u8 *record, u32 at)
{
	u32 i = c->reads ? 0 : find_seen(past, record + at);

	if (!code_bit(c, &past->m.seen[place][at / 4], i < TRACECAST_SEEN))
		return false;
	i = code_tree(c, past->m.back_to[(6 * place + at / 4) % 64], 5, i) &
	    (TRACECAST_SEEN - 1);
	memcpy(record + at,
	       past->seen[(past->nr_seen - 1 - i) % TRACECAST_SEEN], 4);
	return true;
}

/* Bytes of a group that are not those of @like */
static void code_bytes(struct tracecast_coder *c, struct tracecast_past *past,
		       u32 place, u8 *record, const u8 *like, u32 at, u32 end)
{
	struct tracecast_model *m = &past->m;
	u32 i, differ = 0;

	if (end - at == 4 && code_seen(c, past, place, record, at))
		return;
	for (i = at; i < end; i++) {
		if (code_bit(c, &m->byte[place][i], record[i] != like[i - at]))
			record[i] = code_tree(c,
					      m->value[(24 * place + i) % 64],
					      8, record[i]);
		else
			record[i] = like[i - at];
	}
	for (i = at; i < end; i++)
		differ += record[i] != like[i - at];
	/* Small numbers are not worth it */
	if (differ > 1 && end - at == 4)
		note_seen(past, record + at);
}

/**
 * enum wide - what eight bytes are that are not as in the last one
 * @OTHERS: any
 * @AS_BEFORE: their difference is that of the eight before them
 * @AS_TIME: their difference is that of the times, or nearly so
 */
enum wide { OTHERS, AS_BEFORE, AS_TIME };

/* In units of the trace clock; what is farther away is coded better as bytes */
#define NEARLY 1023

/* Eight bytes at @at, as little-endian numbers on any machine; false if OTHERS */
static bool code_wide(struct tracecast_coder *c, struct tracecast_past *past,
		      u32 place, u64 time, u8 *record, u32 at)
{
	struct tracecast_model *m = &past->m;
	const u8 *last = past->last[place].record;
	u64 was = get_unaligned_le64(last + at), is = 0;
	u64 before = was + get_unaligned_le64(record + at - 8) -
		     get_unaligned_le64(last + at - 8);
	u64 timed = was + time - past->last[place].time;
	enum wide wide = OTHERS;

	if (!c->reads) {
		is = get_unaligned_le64(record + at);
		/* The first eight have the pid, and what else all records have */
		if (at >= 16 && is == before)
			wide = AS_BEFORE;
		else if (is - timed + NEARLY <= 2 * NEARLY &&
			 find_seen(past, record + at) == TRACECAST_SEEN)
			wide = AS_TIME;
	}
	wide = code_tree(c, m->wide[place][at / 8], 2, wide) & 3;
	if (wide == OTHERS)
		return false;
	if (wide == AS_BEFORE)
		is = before;
	else
		is = timed + code_signed(c, &m->ahead_back[place],
					 m->ahead_size[place], 4, m->ahead_top,
					 is - timed);
	put_unaligned_le64(is, record + at);
	return true;
}

/* Bytes of a group that are not those of @like; returns where the next one begins */
static u32 code_group(struct tracecast_coder *c, struct tracecast_past *past,
		      u32 place, u64 time, u8 *record, const u8 *like, u32 at,
		      u32 len)
{
	u32 end = min_t(u32, at + 4, len);

	if (at && at % 8 == 0 && at + 8 <= len &&
	    code_wide(c, past, place, time, record, at))
		return at + 8;
	code_bytes(c, past, place, record, like, at, end);
	return end;
}

/**
 * tracecast_code_record - a record, but for its time
 * @c: the code
 * @past: what is known
 * @place: of the event
 * @time: its time
 * @record: TRACECAST_PAST_LEN bytes
 * @len: how many of these are it, when it is written
 *
 * Return: how many bytes it has.
 */
u32 tracecast_code_record(struct tracecast_coder *c,
			  struct tracecast_past *past, u32 place, u64 time,
			  u8 *record, u32 len)
{
	struct tracecast_model *m = &past->m;
	u8 *last = past->last[place].record;
	u32 at, end;

	if (code_bit(c, &m->same_len[place], len == past->last[place].len))
		len = past->last[place].len;
	else
		len = tracecast_code_bits(c, 8, len);
	len = min_t(u32, len, TRACECAST_PAST_LEN);
	for (at = 0; at < len; at = end) {
		const u8 *like = at == 4 ? past->pid : last + at;

		end = min_t(u32, at + 4, len);
		if (code_bit(c, &m->word[place][at / 4],
			     memcmp(record + at, like, end - at) != 0))
			end = code_group(c, past, place, time, record, like, at,
					 len);
		else
			memcpy(record + at, like, end - at);
	}
	past->last[place].time = time;
	past->last[place].len = len;
	memcpy(last, record, len);
	if (len >= 8)
		memcpy(past->pid, record + 4, 4);
	return len;
}

/**
 * tracecast_past_init - nothing is known
 * @past: what is known
 */
void tracecast_past_init(struct tracecast_past *past)
{
	memset(past, 0, offsetof(struct tracecast_past, m));
	past->symbol = TRACECAST_STOP;
	memset(&past->m, HALF, sizeof(past->m));
}

/* ------------------------------------------------------------------------- */
/* Records */

/* What stop mostly takes, and the end of the code */
#define STOP_LEN 8

/* And at most: each of its 5 bits moves 4 bytes out, and the end has 4 */
#define STOP_MAX 24

/* Which place has the record's event? TRACECAST_NEW if it has none */
static u32 find_place(const struct tracecast_past *past, const u8 *record)
{
	u32 i, places = min_t(u32, past->nr, TRACECAST_PAST);

	for (i = 0; i < places; i++) {
		if (!memcmp(past->last[i].record, record, 2))
			return i;
	}
	return TRACECAST_NEW;
}

/**
 * tracecast_new_place - a place for another event
 * @past: what is known
 *
 * Return: its number; who had it longest loses it.
 */
u32 tracecast_new_place(struct tracecast_past *past)
{
	u32 place = past->nr++ % TRACECAST_PAST;

	memset(&past->last[place], 0, sizeof(past->last[place]));
	return place;
}

/**
 * tracecast_pack_begin - begin the records of a datagram
 * @p: packer
 * @kind: TRACECAST_DATA or TRACECAST_QUICK
 * @to: where they go, behind the header
 * @room: bytes there
 * @time: that the header will have
 */
void tracecast_pack_begin(struct tracecast_packer *p, enum tracecast_kind kind,
			  u8 *to, u32 room, u64 time)
{
	p->begin = to;
	p->at = to;
	p->end = to + room;
	p->time = time;
	p->any = false;
	p->is_quick = kind == TRACECAST_QUICK;
	if (p->is_quick) {
		tracecast_quick_begin(p);
		return;
	}
	p->c = (struct tracecast_coder){
		.high = U32_MAX,
		.at = to,
		.end = room > STOP_LEN ? p->end - STOP_LEN : to,
	};
	p->full = room <= STOP_LEN;
	tracecast_past_init(&p->past);
}

/* The fewest bytes of a number that is in the range, whatever follows */
static bool put_end(struct tracecast_coder *c)
{
	u32 bytes, rest, number;

	for (bytes = 1; bytes <= 4; bytes++) {
		rest = bytes < 4 ? U32_MAX >> 8 * bytes : 0;
		number = (c->low + rest) & ~rest;
		if (number >= c->low && number <= c->high)
			break;
	}
	if (c->full || bytes > c->end - c->at)
		return false;
	for (; bytes; bytes--) {
		*c->at++ = number >> 24;
		number <<= 8;
	}
	return true;
}

/* Stop behind what there is, which it leaves as it is */
static bool stop(struct tracecast_packer *p)
{
	struct tracecast_coder c = p->c;
	u16 model[32];

	memcpy(model, p->past.m.symbol[p->past.symbol], sizeof(model));
	c.end = p->end;
	code_tree(&c, model, 5, TRACECAST_STOP);
	if (!put_end(&c))
		return false;
	p->at = c.at;
	return true;
}

/* What a symbol changes that stop() needs */
struct undo {
	struct tracecast_coder c;
	u32 symbol;
	u16 model[32];
};

static void save(const struct tracecast_packer *p, struct undo *undo)
{
	undo->c = p->c;
	undo->symbol = p->past.symbol;
	memcpy(undo->model, p->past.m.symbol[undo->symbol],
	       sizeof(undo->model));
}

/* Is it all there, and room for stop? If not, the datagram ends before it */
static bool keep(struct tracecast_packer *p, const struct undo *undo)
{
	if (!p->c.full && (p->end - p->c.at >= STOP_MAX || stop(p))) {
		p->any = true;
		return true;
	}
	p->c = undo->c;
	p->past.symbol = undo->symbol;
	memcpy(p->past.m.symbol[undo->symbol], undo->model,
	       sizeof(undo->model));
	p->full = true;
	return false;
}

static void put_short(struct tracecast_packer *p, u64 delta, const u8 *record,
		      u32 len)
{
	u32 place = find_place(&p->past, record);
	u8 copy[TRACECAST_PAST_LEN];

	memcpy(copy, record, len);
	tracecast_code_symbol(&p->c, &p->past, place);
	if (place == TRACECAST_NEW)
		place = tracecast_new_place(&p->past);
	tracecast_code_delta(&p->c, &p->past, place, delta);
	tracecast_code_record(&p->c, &p->past, place, p->time + delta, copy,
			      len);
}

static void put_plain(struct tracecast_packer *p, u64 delta, const u8 *record,
		      u32 len)
{
	u32 i;

	tracecast_code_symbol(&p->c, &p->past, TRACECAST_PLAIN);
	tracecast_code_delta(&p->c, &p->past, 0, delta);
	tracecast_code_bits(&p->c, 17, len);
	for (i = 0; i < len; i++)
		tracecast_code_bits(&p->c, 8, record[i]);
}

/**
 * tracecast_pack - put a record into the datagram
 * @p: packer
 * @time: its time
 * @record: its bytes, from common_type on
 * @len: how many
 *
 * Return: false if there is no room for it; the datagram is complete then.
 */
bool tracecast_pack(struct tracecast_packer *p, u64 time, const u8 *record,
		    u32 len)
{
	struct undo undo;

	if (p->full)
		return false;
	if (p->is_quick)
		return tracecast_quick_pack(p, time, record, len);
	save(p, &undo);
	if (len >= 2 && len <= TRACECAST_PAST_LEN)
		put_short(p, time - p->time, record, len);
	else
		put_plain(p, time - p->time, record, len);
	if (!keep(p, &undo))
		return false;
	p->time = time;
	return true;
}

/**
 * tracecast_pack_name - put the name of a task into the datagram
 * @p: packer
 * @pid: the task
 * @comm: its name, TRACECAST_COMM_LEN bytes
 *
 * Return: false if there is no room for it.
 */
bool tracecast_pack_name(struct tracecast_packer *p, s32 pid, const char *comm)
{
	struct undo undo;
	u32 i;

	if (p->full)
		return false;
	if (p->is_quick)
		return tracecast_quick_name(p, pid, comm);
	save(p, &undo);
	tracecast_code_symbol(&p->c, &p->past, TRACECAST_NAME);
	tracecast_code_bits(&p->c, 32, pid);
	for (i = 0; i < TRACECAST_COMM_LEN; i++)
		tracecast_code_bits(&p->c, 8, (u8)comm[i]);
	return keep(p, &undo);
}

/**
 * tracecast_pack_end - complete the records of the datagram
 * @p: packer; it may go on with more records afterwards
 *
 * Return: their bytes, 0 if there is none.
 */
u32 tracecast_pack_end(struct tracecast_packer *p)
{
	if (p->any && p->is_quick)
		tracecast_quick_stop(p);
	else if (p->any)
		stop(p);
	return p->at - p->begin;
}
