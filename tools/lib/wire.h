/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nettrace: what goes over the network. Documentation/trace/nettrace.rst gives the
 * format byte by byte. wire.c writes data, unwire.c reads it.
 *
 * A session is one time for which a target is enabled. Each CPU has a stream of
 * numbered datagrams in it, DATA with whole records, or PART, PART, END with one
 * that is too large. Each header tells how many records the CPU has made before
 * it, so that whoever has two headers knows how many lie between them.
 *
 * All numbers are little-endian; records are as the sender's memory has them.
 */
#ifndef _NETTRACE_WIRE_H
#define _NETTRACE_WIRE_H

#include <linux/types.h>

#define NETTRACE_MAGIC_0 'N'
#define NETTRACE_MAGIC_1 'T'
#define NETTRACE_VERSION 3
#define NETTRACE_VERSION_OLDEST 2

/* Bytes of headers: of any datagram, and of those of a kind */
#define NETTRACE_HEADER 12
#define NETTRACE_DATA_HEADER 48
#define NETTRACE_META_HEADER 24
#define NETTRACE_BEAT_HEADER 20
#define NETTRACE_ACK_HEADER 20

/* Bytes of an entry in a heartbeat, and of one and a range in an ack */
#define NETTRACE_BEAT_ENTRY 44
#define NETTRACE_ACK_ENTRY 12
#define NETTRACE_ACK_RANGE 8

/* Bytes of a datagram without the headers of the network */
#define NETTRACE_DATAGRAM_MIN 512
#define NETTRACE_DATAGRAM_MAX 8952

/* Datagrams that a sender keeps at most, so that a receiver may wait for these */
#define NETTRACE_WINDOW_MAX 8192

#define NETTRACE_RECORD_MAX 65536
#define NETTRACE_META_MAX (4 << 20)
#define NETTRACE_COMM_LEN 16

/* Events of a datagram whose last record is known, and how much of it is */
#define NETTRACE_PAST 16
#define NETTRACE_PAST_LEN 128
#define NETTRACE_PAST_WIDE (NETTRACE_PAST_LEN / 8)

/* Values that are looked for, a power of two */
#define NETTRACE_SEEN 32

/**
 * enum nettrace_kind - kinds of datagrams
 * @NETTRACE_DATA: records of a CPU
 * @NETTRACE_PART: a piece of a record that is not the last one
 * @NETTRACE_END: the last piece of it
 * @NETTRACE_META: a piece of the metadata
 * @NETTRACE_BEAT: heartbeat: how far the streams are
 * @NETTRACE_ACK: from the receiver: what it has, and what it misses
 * @NETTRACE_QUICK: records of a CPU, coded in few instructions
 */
enum nettrace_kind {
	NETTRACE_DATA = 1,
	NETTRACE_PART = 2,
	NETTRACE_END = 3,
	NETTRACE_META = 4,
	NETTRACE_BEAT = 5,
	NETTRACE_ACK = 6,
	NETTRACE_QUICK = 7,
};

/**
 * enum nettrace_last - is it the last heartbeat?
 * @NETTRACE_GOES_ON: no
 * @NETTRACE_OVER: the session is over, and nobody will answer
 * @NETTRACE_PANIC: the machine has panicked, and nobody will answer; all that it
 *	recorded is in the counts
 * @NETTRACE_PANIC_SOME: likewise, but some CPUs stopped in the middle of their
 *	work: nobody knows what they had, or there is no entry for them
 */
enum nettrace_last {
	NETTRACE_GOES_ON = 0,
	NETTRACE_OVER = 1,
	NETTRACE_PANIC = 2,
	NETTRACE_PANIC_SOME = 3,
};

/**
 * enum nettrace_tag - what metadata consists of
 * @NETTRACE_INFO: struct nettrace_info
 * @NETTRACE_HOST: name of the host
 * @NETTRACE_BOOT: its boot id, as text
 * @NETTRACE_RELEASE: of its kernel
 * @NETTRACE_CLOCK: the trace clock
 * @NETTRACE_HEADER_PAGE: what events/header_page says
 * @NETTRACE_HEADER_EVENT: what events/header_event says
 * @NETTRACE_FORMAT: an event: its system, a zero, what its format file says
 * @NETTRACE_TARGET: name of the target
 */
enum nettrace_tag {
	NETTRACE_INFO = 1,
	NETTRACE_HOST = 2,
	NETTRACE_BOOT = 3,
	NETTRACE_RELEASE = 4,
	NETTRACE_CLOCK = 5,
	NETTRACE_HEADER_PAGE = 6,
	NETTRACE_HEADER_EVENT = 7,
	NETTRACE_FORMAT = 8,
	NETTRACE_TARGET = 9,
};

/* Bytes before what a tag stands for: u16 tag, u16 0, u32 length; of an info */
#define NETTRACE_TAG_HEADER 8
#define NETTRACE_INFO_LEN 12

/**
 * struct nettrace_info - the machine
 * @big_endian: 1 if it is
 * @long_size: bytes of a long
 * @cpus: numbers of CPUs are below it
 * @page_size: bytes of a page of the ring, with its header
 */
struct nettrace_info {
	u8 big_endian;
	u8 long_size;
	u32 cpus;
	u32 page_size;
};

/**
 * struct nettrace_header - header of any datagram
 * @version: from NETTRACE_VERSION_OLDEST on; there is no QUICK before 3
 * @kind: enum nettrace_kind
 * @session: a random number
 */
struct nettrace_header {
	u8 version;
	u8 kind;
	u64 session;
};

/**
 * struct nettrace_data - header of DATA, PART and END
 * @cpu: CPU of the stream
 * @events: records in it; 0 in PART, 1 in END
 * @seq: number of the datagram in the stream, from 0
 * @before: records that the CPU made before these, lost ones included
 * @lost: of these, those that were lost in the ring, or cleared
 * @time: of DATA, which the time of the first record is relative to; of PART
 *	and END, the time of the record
 */
struct nettrace_data {
	u16 cpu;
	u16 events;
	u64 seq;
	u64 before;
	u64 lost;
	u64 time;
};

/**
 * struct nettrace_meta - header of META
 * @generation: number of the metadata, from 1
 * @total: bytes of all of it
 * @offset: of this piece
 */
struct nettrace_meta {
	u32 generation;
	u32 total;
	u32 offset;
};

/**
 * struct nettrace_beat - header of BEAT
 * @generation: of the metadata
 * @entries: number of entries
 * @last: enum nettrace_last
 */
struct nettrace_beat {
	u32 generation;
	u16 entries;
	u16 last;
};

/**
 * struct nettrace_beat_entry - how far a stream is
 * @cpu: its CPU
 * @base: the first datagram that the sender has
 * @next: the first one that it has not sent yet
 * @before: records before @next, lost ones included
 * @lost: of these, those that were lost in the ring, or cleared
 * @generated: records that the CPU ever made, those in the ring included
 */
struct nettrace_beat_entry {
	u32 cpu;
	u64 base;
	u64 next;
	u64 before;
	u64 lost;
	u64 generated;
};

/**
 * struct nettrace_ack - header of ACK
 * @generation: of the metadata that the receiver has, 0 if it has none
 * @entries: number of entries
 */
struct nettrace_ack {
	u32 generation;
	u16 entries;
};

/**
 * struct nettrace_ack_entry - what the receiver has of a stream
 * @cpu: its CPU
 * @ranges: number of ranges that follow
 * @next: it has all datagrams below this one
 */
struct nettrace_ack_entry {
	u16 cpu;
	u16 ranges;
	u64 next;
};

/**
 * struct nettrace_ack_range - datagrams that are missing
 * @from: the first one, relative to the entry's next
 * @count: how many
 */
struct nettrace_ack_range {
	u32 from;
	u32 count;
};

/**
 * struct nettrace_model - probabilities that bits are 1, by what they belong to
 * @symbol: what comes next, by what came before
 * @same_len: it is as long as the last one of its event
 * @back: its time is before that of the one before
 * @size: bits of the difference
 * @top: the upper ones of these
 * @word: four bytes are not those of the last one
 * @wide: what they and the next four are instead, enum wide in wire.c
 * @ahead_back: they are less than the time says
 * @ahead_size: bits of the difference
 * @ahead_top: the upper ones of these
 * @seen: they are four that came before
 * @back_to: which ones
 * @byte: a byte is not
 * @value: what it is
 */
struct nettrace_model {
	u16 symbol[32][32];
	u16 same_len[NETTRACE_PAST];
	u16 back;
	u16 size[NETTRACE_PAST][128];
	u16 top[65][8];
	u16 word[NETTRACE_PAST][NETTRACE_PAST_LEN / 4];
	u16 wide[NETTRACE_PAST][NETTRACE_PAST_WIDE][4];
	u16 ahead_back[NETTRACE_PAST];
	u16 ahead_size[NETTRACE_PAST][16];
	u16 ahead_top[16][8];
	u16 seen[NETTRACE_PAST][NETTRACE_PAST_LEN / 4];
	u16 back_to[64][NETTRACE_SEEN];
	u16 byte[NETTRACE_PAST][NETTRACE_PAST_LEN];
	u16 value[64][256];
};

/**
 * struct nettrace_past - what both sides know of a datagram
 * @nr: events that got a place
 * @symbol: the last one, enum nettrace_symbol
 * @pid: bytes 4 to 7 of the last record, common_pid
 * @seen: the last four bytes that were not as expected: addresses and other numbers
 *	that events have in common
 * @nr_seen: how many there were
 * @seen_last: by a hash, how many there were when the last with it came
 * @last: the last record of each event
 * @last.time: its time
 * @last.len: bytes of it
 * @last.record: these
 * @m: probabilities
 */
struct nettrace_past {
	u32 nr;
	u32 symbol;
	u8 pid[4];
	u8 seen[NETTRACE_SEEN][4];
	u32 nr_seen;
	u32 seen_last[64];
	struct {
		u64 time;
		u32 len;
		u8 record[NETTRACE_PAST_LEN];
	} last[NETTRACE_PAST];
	struct nettrace_model m;
};

/**
 * struct nettrace_coder - a number between 0 and 1, as the arithmetic code has it
 * @low: low end of the range
 * @high: high end
 * @value: the number, when it is read
 * @at: where the next byte goes, or comes from
 * @end: end of the room, or of the bytes
 * @past_end: bytes that were taken from behind the end, as 0
 * @reads: it is read
 * @full: there was no room for a byte
 */
struct nettrace_coder {
	u32 low;
	u32 high;
	u32 value;
	u8 *at;
	const u8 *end;
	u32 past_end;
	bool reads;
	bool full;
};

/* In QUICK: shapes of records of an event, and bits of the hashes of words */
#define NETTRACE_SHAPES 7
#define NETTRACE_WORDS (NETTRACE_PAST_LEN / 4)
#define NETTRACE_GUESS_BITS 10
#define NETTRACE_KNOWN_BITS 8

/**
 * struct nettrace_bits - bits that are written or read
 * @acc: those that are not in a whole word, or were not taken
 * @nr: how many of these
 * @at: where the next ones go, or come from
 * @end: end of the room, or of the bytes
 * @past_end: bytes that were taken from behind the end, as 0
 * @full: there was no room for some
 */
struct nettrace_bits {
	u64 acc;
	u32 nr;
	u8 *at;
	const u8 *end;
	u32 past_end;
	bool full;
};

/**
 * struct nettrace_place - what is known of an event in a QUICK datagram
 * @word: of its last record
 * @shape: lengths, in words, and which of these were not as in the one before
 * @shape.len: the length
 * @shape.mask: a bit for each word
 * @nr_shapes: how many there were
 * @shape_now: that of the last record
 * @shape_after: the one that came last after each
 */
struct nettrace_place {
	u32 word[NETTRACE_WORDS];
	struct {
		u32 len;
		u32 mask;
	} shape[NETTRACE_SHAPES];
	u32 nr_shapes;
	u32 shape_now;
	u8 shape_after[NETTRACE_SHAPES];
};

/**
 * struct nettrace_quick - what both sides know of a QUICK datagram
 * @bits: its bits
 * @time: of the last record
 * @nr: events that got a place
 * @place: of the last record
 * @pid: word 1 of it, common_pid
 * @after: the place that came last after each
 * @type: the event of each place; only who writes knows
 * @last: the last record of each
 * @guess: by the word before and the place in the record, what a word was last
 * @known: words that were not guessed, by a hash
 */
struct nettrace_quick {
	struct nettrace_bits bits;
	u64 time;
	u32 nr;
	u32 place;
	u32 pid;
	u8 after[NETTRACE_PAST];
	u16 type[NETTRACE_PAST];
	struct nettrace_place last[NETTRACE_PAST];
	u32 guess[1 << NETTRACE_GUESS_BITS];
	u32 known[1 << NETTRACE_KNOWN_BITS];
};

/**
 * struct nettrace_packer - writes the records of a DATA or QUICK datagram
 * @begin: of the room for them
 * @at: end of what stop() has completed
 * @end: end of the room
 * @time: of the last record
 * @any: there is something
 * @full: a record had no room
 * @is_quick: it is QUICK
 * @c: the code of DATA, whose last bytes are not at @at
 * @past: what both sides know of DATA
 * @quick: what both sides know of QUICK
 */
struct nettrace_packer {
	u8 *begin;
	u8 *at;
	u8 *end;
	u64 time;
	bool any;
	bool full;
	bool is_quick;
	struct nettrace_coder c;
	union {
		struct nettrace_past past;
		struct nettrace_quick quick;
	};
};

void nettrace_put_header(u8 *to, enum nettrace_kind kind, u64 session);
void nettrace_put_data(u8 *to, enum nettrace_kind kind, u64 session,
		       const struct nettrace_data *data);
void nettrace_put_meta(u8 *to, u64 session, const struct nettrace_meta *meta);
void nettrace_put_beat(u8 *to, u64 session, const struct nettrace_beat *beat);
void nettrace_put_beat_entry(u8 *to, const struct nettrace_beat_entry *entry);
void nettrace_put_ack(u8 *to, u64 session, const struct nettrace_ack *ack);
void nettrace_put_ack_entry(u8 *to, const struct nettrace_ack_entry *entry);
void nettrace_put_ack_range(u8 *to, const struct nettrace_ack_range *range);
void nettrace_put_tag(u8 *to, enum nettrace_tag tag, u32 len);
void nettrace_put_info(u8 *to, const struct nettrace_info *info);

void nettrace_pack_begin(struct nettrace_packer *p, u8 *to, u32 room, u64 time);
bool nettrace_pack(struct nettrace_packer *p, u64 time, const u8 *record,
		   u32 len);
bool nettrace_pack_name(struct nettrace_packer *p, s32 pid, const char *comm);
u32 nettrace_pack_end(struct nettrace_packer *p);

void nettrace_quick_begin(struct nettrace_packer *p, u8 *to, u32 room,
			  u64 time);
bool nettrace_quick_pack(struct nettrace_packer *p, u64 time, const u8 *record,
			 u32 len);
bool nettrace_quick_name(struct nettrace_packer *p, s32 pid, const char *comm);
void nettrace_quick_stop(struct nettrace_packer *p);

/**
 * enum nettrace_symbol - what comes next in a datagram
 * @NETTRACE_LIKE: to 15: a record of the event that has this place
 * @NETTRACE_NEW: one of an event that gets the next place
 * @NETTRACE_PLAIN: one that is too long or too short for that
 * @NETTRACE_NAME: the name of a task
 * @NETTRACE_STOP: nothing
 */
enum nettrace_symbol {
	NETTRACE_LIKE = 0,
	NETTRACE_NEW = NETTRACE_PAST,
	NETTRACE_PLAIN,
	NETTRACE_NAME,
	NETTRACE_STOP,
};

void nettrace_past_init(struct nettrace_past *past);
u32 nettrace_code_symbol(struct nettrace_coder *c, struct nettrace_past *past,
			 u32 symbol);
u32 nettrace_code_bits(struct nettrace_coder *c, unsigned int bits, u32 value);
u64 nettrace_code_delta(struct nettrace_coder *c, struct nettrace_past *past,
			u32 place, u64 delta);
u32 nettrace_code_record(struct nettrace_coder *c, struct nettrace_past *past,
			 u32 place, u64 time, u8 *record, u32 len);
u32 nettrace_place(const struct nettrace_past *past, const u8 *record);
u32 nettrace_new_place(struct nettrace_past *past);

bool nettrace_get_header(const u8 *from, size_t len, struct nettrace_header *h);
bool nettrace_get_ack(const u8 *from, size_t len, struct nettrace_ack *ack);
bool nettrace_get_ack_entry(const u8 *from, size_t len,
			    struct nettrace_ack_entry *entry);
void nettrace_get_ack_range(const u8 *from, struct nettrace_ack_range *range);

/* In unwire.c: the kernel only needs it to test itself */

/**
 * struct nettrace_taker - who takes what a DATA datagram has
 * @record: a record; may be NULL
 * @name: the name of a task, NETTRACE_COMM_LEN bytes; may be NULL
 * @arg: passed to both
 */
struct nettrace_taker {
	void (*record)(u64 time, const u8 *record, u32 len, void *arg);
	void (*name)(s32 pid, const u8 *comm, void *arg);
	void *arg;
};

/**
 * struct nettrace_unpacker - what nettrace_unpack() works with
 * @past: what is known of DATA
 * @quick: what is known of QUICK
 * @plain: room for a record
 */
struct nettrace_unpacker {
	union {
		struct nettrace_past past;
		struct nettrace_quick quick;
	};
	u8 plain[NETTRACE_DATAGRAM_MAX];
};

bool nettrace_get_data(const u8 *from, size_t len, struct nettrace_data *data);
bool nettrace_get_meta(const u8 *from, size_t len, struct nettrace_meta *meta);
bool nettrace_get_beat(const u8 *from, size_t len, struct nettrace_beat *beat);
void nettrace_get_beat_entry(const u8 *from, struct nettrace_beat_entry *entry);
bool nettrace_get_tag(const u8 *from, size_t len, u16 *tag, u32 *tag_len);
bool nettrace_get_info(const u8 *from, size_t len, struct nettrace_info *info);
int nettrace_unpack(struct nettrace_unpacker *un, const u8 *from, size_t len,
		    u64 time, const struct nettrace_taker *taker);
int nettrace_quick_unpack(struct nettrace_unpacker *un, const u8 *from,
			  size_t len, u64 time,
			  const struct nettrace_taker *taker);

#endif /* _NETTRACE_WIRE_H */
