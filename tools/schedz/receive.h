/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the collector have in common; collect.h is its interface.
 *
 *	receive.c		sessions, and which one a datagram belongs to
 *	receive_metadata.c	META: the sender's machine and its events
 *	receive_delivery.c	DATA, QUICK, PART, END and BEAT: datagrams to records
 *	receive_file.c		the trace.dat of a session
 *	receive_ack.c		acknowledgements, and the numbers in seals
 *	receive_ledger.c	where a session's records are
 */
#ifndef SCHEDZ_RECEIVE_H
#define SCHEDZ_RECEIVE_H

#include <netinet/in.h>

#include "collect.h"
#include "live.h"
#include "wire.h"

/* While a sequence number is missing, it is requested at this interval */
#define RETRY_MS 100

/* The longest time from a datagram to its acknowledgement */
#define ACK_DELAY_MS 20

/* A sender that is silent for this long is reported as silent */
#define QUIET_MS 5000

/* Seals with numbers that are lower than the highest one by more are rejected */
#define SEAL_WINDOW 2048

/* Values of common_type */
#define EVENT_TYPES 65536

/* Memory that is kept in reserve: more than the names of tasks and a ledger */
#define RESERVE (2 << 20)

/*
 * Memory for what senders say: each session has the first, and all together have the
 * second for what they need beyond that. However many datagrams are forged, and whatever
 * is in them, it is never more than SESSIONS_MAX times the first and once the second.
 */
#define SESSION_MEMORY (2 << 20)
#define SHARED_MEMORY (512 << 20)

/*
 * Datagrams of a session that may be missing, or may have arrived before those. A sender
 * keeps TRACECAST_WINDOW_MAX; in a panic, it also sends some that it does not keep.
 */
#define SESSION_WINDOW_MAX (4 * TRACECAST_WINDOW_MAX)

/**
 * struct slot - place for a datagram that has arrived before an earlier one
 * @data: the datagram, or NULL
 * @len: its length
 * @asked: when its retransmission was last requested, 0 if never
 */
struct slot {
	uint8_t *data;
	uint32_t len;
	uint64_t asked;
};

/**
 * struct cpu_stream - the datagrams of one CPU of the sender
 * @known: @next is valid
 * @counted: @before and @lost are valid
 * @next: sequence number of the next datagram to deliver
 * @top: one more than the highest sequence number that the sender has used
 * @slots: by sequence number modulo @room; or NULL
 * @room: number of @slots: a power of 2 that is not less than @top - @next
 * @asked: when all missing datagrams were last looked for, 0 if never
 * @asked_top: those below were looked for
 * @first: records before the first datagram that was delivered
 * @first_lost: records of @first that were lost
 * @before: records before @next, lost ones included
 * @lost: records of @before that were lost in the ring buffer
 * @end: records up to the end of the last datagram or heartbeat, lost ones included
 * @end_lost: records of @end that were lost in the ring buffer
 * @generated: records that the sender has made
 * @delivered: records in files
 * @wire_lost: records lost in the network
 * @pieces: of the record that begins at @next, the PARTs that have arrived one after the other
 * @pieces_len: bytes of the record in these
 * @sender: the sender of the session that its datagrams come from
 * @reported: a heartbeat of the panic has described it
 * @wanted: bytes for which session_file_ready() had no memory, 0 if it had: its datagram
 *	is not read again before there is that much
 * @unacked: datagrams since the last acknowledgement
 * @stuck_since: since when @next waits for the description of an event, 0 if it does
 *	not wait
 * @stuck_generation: generation of the metadata that does not describe it
 */
struct cpu_stream {
	bool known;
	bool counted;
	uint64_t next;
	uint64_t top;
	struct slot *slots;
	uint32_t room;
	uint64_t asked;
	uint64_t asked_top;
	uint64_t first;
	uint64_t first_lost;
	uint64_t before;
	uint64_t lost;
	uint64_t end;
	uint64_t end_lost;
	uint64_t generated;
	uint64_t delivered;
	uint64_t wire_lost;
	uint32_t pieces;
	uint32_t pieces_len;
	uint8_t sender;
	bool reported;
	size_t wanted;
	unsigned int unacked;
	uint64_t stuck_since;
	uint32_t stuck_generation;
};

/**
 * struct metadata - metadata, complete or not
 * @generation: its generation, 0 if there is no metadata
 * @data: the bytes
 * @total: length of @data
 * @have: a bit for each byte that has arrived
 * @left: number of bytes that are missing
 */
struct metadata {
	uint32_t generation;
	uint8_t *data;
	uint32_t total;
	uint8_t *have;
	uint32_t left;
};

/**
 * struct pieces - the pieces of metadata, each copied and terminated by a zero
 * @info: the machine
 * @has_info: @info is valid
 * @last_boot: the boot that left the records, if it is not the sender's present one
 * @is_last_boot: @last_boot is valid
 * @failed: memory was exhausted
 * @text: texts by tag
 * @format: for each event its system, a zero, and its format
 * @formats: pointers into @format
 * @nr_formats: number of @format and of @formats
 */
struct pieces {
	struct tracecast_info info;
	bool has_info;
	struct tracecast_last_boot last_boot;
	bool is_last_boot;
	bool failed;
	char *text[TRACECAST_TARGET + 1];
	char **format;
	struct live_format *formats;
	size_t nr_formats;
};

/**
 * struct peer - one of the senders of a session
 * @number: the highest number in a seal, with a key
 * @seen: a bit for each of the SEAL_WINDOW numbers up to @number that has arrived, by
 *	number modulo SEAL_WINDOW
 * @address: source address of the last datagram
 * @len: length of @address, 0 if none has arrived
 * @credit: bytes that may be sent to @address; see session_acknowledge()
 * @turn: the first CPU that the next acknowledgement is about, when the last one was not
 *	about all
 * @heard: when the last datagram arrived
 */
struct peer {
	uint64_t number;
	uint64_t seen[SEAL_WINDOW / 64];
	struct sockaddr_storage address;
	socklen_t len;
	uint64_t credit;
	unsigned int turn;
	uint64_t heard;
};

/**
 * struct session - a session
 * @id: its number
 * @peer: its senders
 * @to_answer: a bit for each of @peer that gets an acknowledgement next
 * @first: a sender that echoes no higher number has received no acknowledgement since the
 *	session began, or since an earlier one with its number was forgotten
 * @source: source address of the first datagram
 * @same_source: number of sessions with this source, this one included
 * @meta: metadata, complete if its generation is not 0
 * @more: newer metadata, incomplete
 * @info: the sender's machine
 * @host: its name
 * @is_last_boot: the records are those that an earlier boot left
 * @last_boot: that boot
 * @boot: its boot id
 * @described: a bit for each event that the metadata describes
 * @streams: by CPU; NULL before there is metadata
 * @window: datagrams between next and top of all @streams
 * @open: a bit for each of @streams that has some
 * @waiting: a bit for each of @streams whose next datagram is there, but cannot be
 *	delivered yet
 * @to_ack: a bit for each of @streams that the next acknowledgement is about
 * @retry_at: when an acknowledgement is next about all in @open
 * @file: the open file, or NULL
 * @file_generation: generation of the metadata in the file's head
 * @file_memory: bytes of the pages of @file
 * @file_at: when it was begun
 * @files: number of files made so far; 0: there never was a record
 * @path: path of the last file
 * @unsaved: records delivered that were not written yet
 * @held: bytes of the datagrams in slots
 * @memory: bytes that session_charge() has allowed
 * @blocked: the file cannot be written
 * @blocked_at: when this was last tried
 * @ack_due: when to acknowledge, 0 for never
 * @heard: when the last datagram arrived
 * @ended: when the sender ended the session, 0 if it has not
 * @last: how the sender ended it
 * @ledger: path of the ledger's file, or NULL
 * @earlier_lost: records lost in the network according to an earlier collector
 * @ledger_at: when the ledger is to be written next
 * @finished: everything was delivered or counted as lost
 * @damaged: number of invalid datagrams
 * @datagrams: number of datagrams with records
 * @again: number of such datagrams that had arrived before
 * @dropped: number of datagrams dropped for lack of memory
 */
struct session {
	uint64_t id;
	struct peer peer[TRACECAST_SENDERS_MAX];
	uint32_t to_answer;
	uint64_t first;
	struct in6_addr source;
	unsigned int same_source;
	struct metadata meta;
	struct metadata more;
	struct tracecast_info info;
	char host[65];
	bool is_last_boot;
	struct tracecast_last_boot last_boot;
	char boot[37];
	uint8_t *described;
	struct cpu_stream *streams;
	uint64_t window;
	uint64_t *open;
	uint64_t *waiting;
	uint64_t *to_ack;
	uint64_t retry_at;
	struct live *file;
	uint32_t file_generation;
	size_t file_memory;
	uint64_t file_at;
	unsigned int files;
	char *path;
	uint64_t unsaved;
	size_t held;
	size_t memory;
	bool blocked;
	uint64_t blocked_at;
	uint64_t ack_due;
	uint64_t heard;
	uint64_t ended;
	enum tracecast_last last;
	char *ledger;
	uint64_t earlier_lost;
	uint64_t ledger_at;
	bool finished;
	uint64_t damaged;
	uint64_t datagrams;
	uint64_t again;
	uint64_t dropped;
};

/*
 * Sessions that have ended or are silent are replaced when there are this many; and if
 * there is none, one of the source that has the most, by one of a source that has less; and
 * one without records by one of a source that has none.
 */
#define SESSIONS_MAX 256

/**
 * struct collector - all sessions
 * @config: the caller's configuration
 * @session: the sessions
 * @nr_sessions: number of them
 * @shared: bytes of SHARED_MEMORY in use
 * @number: number in the seal of the last acknowledgement; begins at a random one
 * @first_new: a session that is not in @session, and echoes no higher number, has received no
 *	acknowledgement, or was forgotten since
 * @ignored: datagrams that are not tracecast's, or of sessions that find no room
 * @unsealed: datagrams without a seal although there is a key, or the other way round
 * @forged: datagrams whose seal does not fit the key
 * @unanswered: datagrams that echo no acknowledgement, or one that is too old
 * @repeated: datagrams that had arrived before, or are so old that this is unknown
 * @late: datagrams of finished sessions
 * @forgotten: sessions that were replaced
 * @dropped: datagrams dropped because there was no memory for their session
 * @last_drop: when a datagram was last dropped for lack of memory; 0 if none was
 *	dropped since the note that there is enough memory again
 * @unpacker: decodes records
 * @whole: a record that came in parts
 * @now: time in ms
 */
struct collector {
	struct collector_config config;
	struct session *session[SESSIONS_MAX];
	unsigned int nr_sessions;
	size_t shared;
	uint64_t number;
	uint64_t first_new;
	uint64_t ignored;
	uint64_t unsealed;
	uint64_t forged;
	uint64_t unanswered;
	uint64_t repeated;
	uint64_t late;
	uint64_t forgotten;
	uint64_t dropped;
	uint64_t last_drop;
	struct tracecast_unpacker unpacker;
	uint8_t whole[TRACECAST_PAGE_MAX];
	uint64_t now;
};

void __attribute__((format(printf, 2, 3)))
collector_note(struct collector *c, const char *format, ...);
void collector_drop(struct collector *c, struct session *s);
bool session_charge(struct collector *c, struct session *s, size_t size);
void session_release(struct collector *c, struct session *s, size_t size);

static inline size_t cpu_words(unsigned int cpus)
{
	return (cpus + 63) / 64;
}

static inline void cpu_set(uint64_t *set, unsigned int cpu)
{
	set[cpu / 64] |= 1ull << cpu % 64;
}

static inline void cpu_clear(uint64_t *set, unsigned int cpu)
{
	set[cpu / 64] &= ~(1ull << cpu % 64);
}

/* The first CPU in the set from @cpu on, or @cpus */
static inline unsigned int cpu_next(const uint64_t *set, unsigned int cpu,
				    unsigned int cpus)
{
	while (cpu < cpus) {
		uint64_t rest = set[cpu / 64] >> cpu % 64;

		if (rest)
			return cpu + __builtin_ctzll(rest);
		cpu = (cpu / 64 + 1) * 64;
	}
	return cpus;
}

/* Of a datagram with a header */
static inline enum tracecast_kind kind_of(const uint8_t *data)
{
	return data[3] & ((1u << TRACECAST_KIND_BITS) - 1);
}

static inline uint8_t sender_of(const uint8_t *data)
{
	return data[3] >> TRACECAST_KIND_BITS;
}

void metadata_free(struct metadata *m);
bool pieces_parse(const struct metadata *m, struct pieces *p);
void pieces_free(struct pieces *p);
void session_handle_metadata(struct collector *c, struct session *s,
			     const uint8_t *data, size_t len);

struct slot *stream_slot(struct cpu_stream *st, uint64_t seq);
void session_deliver(struct collector *c, struct session *s, unsigned int cpu);
void session_handle_data(struct collector *c, struct session *s,
			 const uint8_t *data, size_t len);
void session_handle_heartbeat(struct collector *c, struct session *s,
			      const uint8_t *data, size_t len);
bool session_is_incomplete(const struct session *s);
void session_finish(struct collector *c, struct session *s);

bool session_file_ready(struct collector *c, struct session *s,
			unsigned int cpu, size_t bytes);
bool session_file_waits(const struct collector *c, const struct session *s);
void session_block(struct collector *c, struct session *s);
bool session_sync_file(struct session *s);
bool session_close_file(struct collector *c, struct session *s);

void session_ack_in(struct collector *c, struct session *s, uint64_t ms);
void session_ack_cpu(struct collector *c, struct session *s, unsigned int cpu,
		     uint64_t ms);
void session_answer_all(struct session *s);
void session_acknowledge(struct collector *c, struct session *s);
void collector_challenge(struct collector *c, const struct tracecast_header *h,
			 uint64_t echo, const struct sockaddr *to,
			 socklen_t to_len);
bool collector_is_sealed(struct collector *c, const struct tracecast_header *h);
bool peer_is_repeated(struct peer *p, uint64_t number);

char *session_path(const struct collector *c, const struct session *s);
void session_read_ledger(struct collector *c, struct session *s);
void session_write_ledger(struct collector *c, struct session *s);

#endif
