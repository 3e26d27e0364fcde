/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tracecast: what goes over the network. Documentation/trace/tracecast.rst gives the
 * format byte by byte. wire.c writes data, unwire.c reads it.
 *
 * A session is one time for which a target is enabled. Each CPU has a stream of
 * numbered datagrams in it, DATA with whole records, or PART, PART, END with one
 * that is too large. Each header says how many records the CPU has made before
 * it, so that two headers say how many lie between them. The streams are divided among
 * the senders of the session, each of which has an address and a window of its own.
 *
 * All numbers are little-endian; records are as the sender's memory has them.
 */
#ifndef _TRACECAST_WIRE_H
#define _TRACECAST_WIRE_H

#include <linux/siphash.h>
#include <linux/types.h>

#define TRACECAST_MAGIC_0 'T'
#define TRACECAST_MAGIC_1 'C'
#define TRACECAST_VERSION 1

/* Bytes of headers: of any datagram, and of those of a kind */
#define TRACECAST_HEADER 12
#define TRACECAST_DATA_HEADER 48
#define TRACECAST_META_HEADER 24
#define TRACECAST_BEAT_HEADER 20
#define TRACECAST_ACK_HEADER 20

/* Bytes of an entry in a heartbeat, and of one and a range in an ack */
#define TRACECAST_BEAT_ENTRY 44
#define TRACECAST_ACK_ENTRY 12
#define TRACECAST_ACK_RANGE 8

/* Bytes of a key, and of the seal of a datagram in a session with one */
#define TRACECAST_KEY 16
#define TRACECAST_SEAL 24

/* A bit of the version: the datagram has a seal */
#define TRACECAST_SEALED 0x80

/* In the byte of the kind: its bits, and above them the number of the sender */
#define TRACECAST_KIND_BITS 3
#define TRACECAST_SENDERS_MAX 32

/* Bytes of a datagram without the headers of the network */
#define TRACECAST_DATAGRAM_MIN 512
#define TRACECAST_DATAGRAM_MAX 8952

/* Datagrams that a session keeps at most, so that a receiver may wait for these */
#define TRACECAST_WINDOW_MAX 8192

#define TRACECAST_META_MAX (16 << 20)
#define TRACECAST_COMM_LEN 16

/* Bytes before those of a record that is in pieces: its task's pid and name */
#define TRACECAST_TASK (4 + TRACECAST_COMM_LEN)

/* Bytes of a page of any ring, and numbers of CPUs of any kernel, at most */
#define TRACECAST_PAGE_MAX 1048576
#define TRACECAST_CPUS_MAX 8192

/* Events of a datagram whose last record is known, and how much of it is */
#define TRACECAST_PAST 16
#define TRACECAST_PAST_LEN 128
#define TRACECAST_PAST_WIDE (TRACECAST_PAST_LEN / 8)

/* Values that are looked for, a power of two */
#define TRACECAST_SEEN 32

/**
 * enum tracecast_kind - kinds of datagrams
 * @TRACECAST_DATA: records of a CPU
 * @TRACECAST_PART: a piece of a record that is not the last one
 * @TRACECAST_END: the last piece of it
 * @TRACECAST_META: a piece of the metadata
 * @TRACECAST_BEAT: heartbeat: how far the streams are
 * @TRACECAST_ACK: from the receiver: what it has, and what it misses
 * @TRACECAST_QUICK: records of a CPU, coded in few instructions
 */
enum tracecast_kind {
	TRACECAST_DATA = 1,
	TRACECAST_PART = 2,
	TRACECAST_END = 3,
	TRACECAST_META = 4,
	TRACECAST_BEAT = 5,
	TRACECAST_ACK = 6,
	TRACECAST_QUICK = 7,
};

/* Does it have a piece of a record, and not whole ones? */
static inline bool tracecast_is_piece(enum tracecast_kind kind)
{
	return kind == TRACECAST_PART || kind == TRACECAST_END;
}

/**
 * enum tracecast_last - is it the last heartbeat?
 * @TRACECAST_GOES_ON: no
 * @TRACECAST_OVER: the session is over: no answer will follow
 * @TRACECAST_PANIC: the machine has panicked: no answer will follow; all that it
 *	recorded is in the counts
 * @TRACECAST_PANIC_SOME: likewise, but some CPUs stopped in the middle of their
 *	work: what they had is not known, or there is no entry for them
 */
enum tracecast_last {
	TRACECAST_GOES_ON = 0,
	TRACECAST_OVER = 1,
	TRACECAST_PANIC = 2,
	TRACECAST_PANIC_SOME = 3,
};

/**
 * enum tracecast_tag - what metadata consists of
 * @TRACECAST_INFO: struct tracecast_info
 * @TRACECAST_HOST: name of the host
 * @TRACECAST_BOOT: its boot id, as text
 * @TRACECAST_RELEASE: of its kernel
 * @TRACECAST_CLOCK: the trace clock
 * @TRACECAST_HEADER_PAGE: what events/header_page says
 * @TRACECAST_HEADER_EVENT: what events/header_event says
 * @TRACECAST_FORMAT: an event: its system, a zero, what its format file says
 * @TRACECAST_TARGET: name of the target
 * @TRACECAST_LAST_BOOT: struct tracecast_last_boot: the session has what an earlier
 *	boot left, and TRACECAST_BOOT is of that one
 */
enum tracecast_tag {
	TRACECAST_INFO = 1,
	TRACECAST_HOST = 2,
	TRACECAST_BOOT = 3,
	TRACECAST_RELEASE = 4,
	TRACECAST_CLOCK = 5,
	TRACECAST_HEADER_PAGE = 6,
	TRACECAST_HEADER_EVENT = 7,
	TRACECAST_FORMAT = 8,
	TRACECAST_TARGET = 9,
	TRACECAST_LAST_BOOT = 10,
};

/* Bytes before what a tag stands for: u16 tag, u16 0, u32 length; of an info */
#define TRACECAST_TAG_HEADER 8
#define TRACECAST_INFO_LEN 12

/* Bytes of a last boot */
#define TRACECAST_LAST_BOOT_LEN 32

/**
 * struct tracecast_info - the machine
 * @big_endian: 1 if it is
 * @long_size: bytes of a long
 * @senders: number of senders, 1 at least
 * @cpus: numbers of CPUs are below it
 * @page_size: bytes of a page of the ring, with its header
 */
struct tracecast_info {
	u8 big_endian;
	u8 long_size;
	u16 senders;
	u32 cpus;
	u32 page_size;
};

/**
 * struct tracecast_last_boot - the boot that has left the records
 * @session: of its last target, 0 if there was none
 * @text_delta: to be added to its addresses of functions, for those of this boot
 * @data_delta: likewise, of data
 * @damaged: CPUs whose records are not there, because the memory of them was damaged
 */
struct tracecast_last_boot {
	u64 session;
	s64 text_delta;
	s64 data_delta;
	u32 damaged;
};

/**
 * struct tracecast_header - header of any datagram
 * @sealed: it has a seal, which is not checked yet
 * @kind: enum tracecast_kind
 * @sender: who of the session sent it, or, of an ACK, is to get it
 * @session: a random number
 */
struct tracecast_header {
	bool sealed;
	u8 kind;
	u8 sender;
	u64 session;
};

/**
 * struct tracecast_seal - what a seal says
 * @number: number of the datagram, which goes up with each that a side sends, the same
 *	one again included
 * @echo: the number of the last datagram from the other side, 0 if there was none
 */
struct tracecast_seal {
	u64 number;
	u64 echo;
};

/**
 * struct tracecast_data - header of DATA, PART and END
 * @cpu: CPU of the stream
 * @events: records in it; 0 in PART, 1 in END
 * @piece: of PART and END: number of the piece in its record, from 0
 * @seq: number of the datagram in the stream, from 0
 * @before: records that the CPU made before these, lost ones included
 * @lost: of these, the records lost in the ring, or cleared
 * @time: of DATA, which the time of the first record is relative to; of PART
 *	and END, the time of the record
 */
struct tracecast_data {
	u16 cpu;
	u16 events;
	u16 piece;
	u64 seq;
	u64 before;
	u64 lost;
	u64 time;
};

/**
 * struct tracecast_meta - header of META
 * @generation: number of the metadata, from 1
 * @total: bytes of all of it
 * @offset: of this piece
 */
struct tracecast_meta {
	u32 generation;
	u32 total;
	u32 offset;
};

/**
 * struct tracecast_beat - header of BEAT
 * @generation: of the metadata
 * @entries: number of entries
 * @last: enum tracecast_last
 */
struct tracecast_beat {
	u32 generation;
	u16 entries;
	u16 last;
};

/**
 * struct tracecast_beat_entry - how far a stream is
 * @cpu: its CPU
 * @base: the first datagram that the sender has
 * @next: the first one that it has not sent yet
 * @before: records before @next, lost ones included
 * @lost: of these, the records lost in the ring, or cleared
 * @generated: records that the CPU ever made, those in the ring included
 */
struct tracecast_beat_entry {
	u32 cpu;
	u64 base;
	u64 next;
	u64 before;
	u64 lost;
	u64 generated;
};

/**
 * struct tracecast_ack - header of ACK
 * @generation: of the metadata that the receiver has, 0 if it has none
 * @entries: number of entries
 */
struct tracecast_ack {
	u32 generation;
	u16 entries;
};

/**
 * struct tracecast_ack_entry - what the receiver has of a stream
 * @cpu: its CPU
 * @ranges: number of ranges that follow
 * @next: it has all datagrams below this one
 */
struct tracecast_ack_entry {
	u16 cpu;
	u16 ranges;
	u64 next;
};

/**
 * struct tracecast_ack_range - datagrams that are missing
 * @from: the first one, relative to the entry's next
 * @count: how many
 */
struct tracecast_ack_range {
	u32 from;
	u32 count;
};

/**
 * struct tracecast_model - probabilities that bits are 1, by what they belong to
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
struct tracecast_model {
	u16 symbol[32][32];
	u16 same_len[TRACECAST_PAST];
	u16 back;
	u16 size[TRACECAST_PAST][128];
	u16 top[65][8];
	u16 word[TRACECAST_PAST][TRACECAST_PAST_LEN / 4];
	u16 wide[TRACECAST_PAST][TRACECAST_PAST_WIDE][4];
	u16 ahead_back[TRACECAST_PAST];
	u16 ahead_size[TRACECAST_PAST][16];
	u16 ahead_top[16][8];
	u16 seen[TRACECAST_PAST][TRACECAST_PAST_LEN / 4];
	u16 back_to[64][TRACECAST_SEEN];
	u16 byte[TRACECAST_PAST][TRACECAST_PAST_LEN];
	u16 value[64][256];
};

/**
 * struct tracecast_past - what both sides know of a datagram
 * @nr: events that got a place
 * @symbol: the last one, enum tracecast_symbol
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
struct tracecast_past {
	u32 nr;
	u32 symbol;
	u8 pid[4];
	u8 seen[TRACECAST_SEEN][4];
	u32 nr_seen;
	u32 seen_last[64];
	struct {
		u64 time;
		u32 len;
		u8 record[TRACECAST_PAST_LEN];
	} last[TRACECAST_PAST];
	struct tracecast_model m;
};

/**
 * struct tracecast_coder - a number between 0 and 1, as the arithmetic code has it
 * @low: low end of the range
 * @high: high end
 * @value: the number, when it is read
 * @at: where the next byte goes, or comes from
 * @end: end of the room, or of the bytes
 * @past_end: bytes that were taken from behind the end, as 0
 * @reads: it is read
 * @full: there was no room for a byte
 */
struct tracecast_coder {
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
#define TRACECAST_SHAPES 7
#define TRACECAST_WORDS (TRACECAST_PAST_LEN / 4)
#define TRACECAST_GUESS_BITS 10
#define TRACECAST_KNOWN_BITS 8

/**
 * struct tracecast_bits - bits that are written or read
 * @acc: bits that are not in a whole word, or were not taken
 * @nr: how many of these
 * @at: where the next ones go, or come from
 * @end: end of the room, or of the bytes
 * @past_end: bytes that were taken from behind the end, as 0
 * @full: there was no room for some
 */
struct tracecast_bits {
	u64 acc;
	u32 nr;
	u8 *at;
	const u8 *end;
	u32 past_end;
	bool full;
};

/**
 * struct tracecast_place - what is known of an event in a QUICK datagram
 * @word: of its last record
 * @shape: lengths, in words, and which of these were not as in the one before
 * @shape.len: the length
 * @shape.mask: a bit for each word
 * @nr_shapes: how many there were
 * @shape_now: that of the last record
 * @shape_after: the one that came last after each
 */
struct tracecast_place {
	u32 word[TRACECAST_WORDS];
	struct {
		u32 len;
		u32 mask;
	} shape[TRACECAST_SHAPES];
	u32 nr_shapes;
	u32 shape_now;
	u8 shape_after[TRACECAST_SHAPES];
};

/**
 * struct tracecast_quick - what both sides know of a QUICK datagram
 * @bits: its bits
 * @time: of the last record
 * @nr: events that got a place
 * @place: of the last record
 * @after: the place that came last after each
 * @type: the event of each place; only who writes knows
 * @last: the last record of each
 * @guess: by the word before and the place in the record, what a word was last
 * @known: words that were not guessed, by a hash
 */
struct tracecast_quick {
	struct tracecast_bits bits;
	u64 time;
	u32 nr;
	u32 place;
	u8 after[TRACECAST_PAST];
	u16 type[TRACECAST_PAST];
	struct tracecast_place last[TRACECAST_PAST];
	u32 guess[1 << TRACECAST_GUESS_BITS];
	u32 known[1 << TRACECAST_KNOWN_BITS];
};

/**
 * struct tracecast_packer - writes the records of a DATA or QUICK datagram
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
struct tracecast_packer {
	u8 *begin;
	u8 *at;
	u8 *end;
	u64 time;
	bool any;
	bool full;
	bool is_quick;
	struct tracecast_coder c;
	union {
		struct tracecast_past past;
		struct tracecast_quick quick;
	};
};

void tracecast_put_header(u8 *to, enum tracecast_kind kind, u64 session);
void tracecast_put_sender(u8 *to, u8 sender);
void tracecast_put_data(u8 *to, enum tracecast_kind kind, u64 session,
			const struct tracecast_data *data);
void tracecast_put_task(u8 *to, s32 pid, const char *comm);
void tracecast_put_meta(u8 *to, u64 session, const struct tracecast_meta *meta);
void tracecast_put_beat(u8 *to, u64 session, const struct tracecast_beat *beat);
void tracecast_put_beat_entry(u8 *to, const struct tracecast_beat_entry *entry);
void tracecast_put_tag(u8 *to, enum tracecast_tag tag, u32 len);
void tracecast_put_info(u8 *to, const struct tracecast_info *info);
void tracecast_put_last_boot(u8 *to, const struct tracecast_last_boot *last);

void tracecast_pack_begin(struct tracecast_packer *p, enum tracecast_kind kind,
			  u8 *to, u32 room, u64 time);
bool tracecast_pack(struct tracecast_packer *p, u64 time, const u8 *record,
		    u32 len);
bool tracecast_pack_name(struct tracecast_packer *p, s32 pid, const char *comm);
u32 tracecast_pack_end(struct tracecast_packer *p);

void tracecast_quick_begin(struct tracecast_packer *p);
bool tracecast_quick_pack(struct tracecast_packer *p, u64 time,
			  const u8 *record, u32 len);
bool tracecast_quick_name(struct tracecast_packer *p, s32 pid,
			  const char *comm);
void tracecast_quick_stop(struct tracecast_packer *p);

/**
 * enum tracecast_symbol - what comes next in a datagram
 * @TRACECAST_LIKE: to 15: a record of the event that has this place
 * @TRACECAST_NEW: one of an event that gets the next place
 * @TRACECAST_PLAIN: one that is too long or too short for that
 * @TRACECAST_NAME: the name of a task
 * @TRACECAST_STOP: nothing
 */
enum tracecast_symbol {
	TRACECAST_LIKE = 0,
	TRACECAST_NEW = TRACECAST_PAST,
	TRACECAST_PLAIN,
	TRACECAST_NAME,
	TRACECAST_STOP,
};

void tracecast_past_init(struct tracecast_past *past);
u32 tracecast_code_symbol(struct tracecast_coder *c,
			  struct tracecast_past *past, u32 symbol);
u32 tracecast_code_bits(struct tracecast_coder *c, unsigned int bits,
			u32 value);
u64 tracecast_code_delta(struct tracecast_coder *c, struct tracecast_past *past,
			 u32 place, u64 delta);
u32 tracecast_code_record(struct tracecast_coder *c,
			  struct tracecast_past *past, u32 place, u64 time,
			  u8 *record, u32 len);
u32 tracecast_new_place(struct tracecast_past *past);

u32 tracecast_seal(u8 *to, u32 len, const siphash_key_t *key,
		   const struct tracecast_seal *seal);
u32 tracecast_unseal(const u8 *from, size_t len, const siphash_key_t *key,
		     struct tracecast_seal *seal);

bool tracecast_get_header(const u8 *from, size_t len,
			  struct tracecast_header *h);
bool tracecast_get_ack(const u8 *from, size_t len, struct tracecast_ack *ack);
bool tracecast_get_ack_entry(const u8 *from, size_t len,
			     struct tracecast_ack_entry *entry);
void tracecast_get_ack_range(const u8 *from, struct tracecast_ack_range *range);

/* In unwire.c: the kernel only needs it to test itself */

/**
 * struct tracecast_taker - who takes what a DATA datagram has
 * @record: a record; may be NULL
 * @name: the name of a task, TRACECAST_COMM_LEN bytes; may be NULL
 * @arg: passed to both
 */
struct tracecast_taker {
	void (*record)(u64 time, const u8 *record, u32 len, void *arg);
	void (*name)(s32 pid, const u8 *comm, void *arg);
	void *arg;
};

/**
 * struct tracecast_unpacker - what tracecast_unpack() works with
 * @past: what is known of DATA
 * @quick: what is known of QUICK
 * @plain: room for a record
 */
struct tracecast_unpacker {
	union {
		struct tracecast_past past;
		struct tracecast_quick quick;
	};
	u8 plain[TRACECAST_DATAGRAM_MAX];
};

void tracecast_put_ack(u8 *to, u64 session, const struct tracecast_ack *ack);
void tracecast_put_ack_entry(u8 *to, const struct tracecast_ack_entry *entry);
void tracecast_put_ack_range(u8 *to, const struct tracecast_ack_range *range);
bool tracecast_get_data(const u8 *from, size_t len,
			struct tracecast_data *data);
void tracecast_get_task(const u8 *from, const struct tracecast_taker *taker);
bool tracecast_get_meta(const u8 *from, size_t len,
			struct tracecast_meta *meta);
bool tracecast_get_beat(const u8 *from, size_t len,
			struct tracecast_beat *beat);
void tracecast_get_beat_entry(const u8 *from,
			      struct tracecast_beat_entry *entry);
bool tracecast_get_tag(const u8 *from, size_t len, u16 *tag, u32 *tag_len);
bool tracecast_get_info(const u8 *from, size_t len,
			struct tracecast_info *info);
bool tracecast_get_last_boot(const u8 *from, size_t len,
			     struct tracecast_last_boot *last);
int tracecast_unpack(struct tracecast_unpacker *un, enum tracecast_kind kind,
		     const u8 *from, size_t len, u64 time,
		     const struct tracecast_taker *taker);

#endif /* _TRACECAST_WIRE_H */
