/* SPDX-License-Identifier: GPL-2.0 */
/*
 * schedz collect without its socket: a made-up sender, a network between them that loses,
 * reorders and doubles what is sent, and the files, as libtracecmd reads them.
 */
#ifndef TESTS_SENDER_H
#define TESTS_SENDER_H

#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "collect.h"
#include "suite.h"
#include "wire.h"

#define CPUS 2
#define ROOM 600
#define RECORDS 3000
#define DATAGRAMS 10000
#define SESSION 0x1234567890abcdefULL
#define OTHER_ID 777
#define TAPED 20000
#define NETWORKS 8

struct record {
	uint64_t time;
	uint32_t len;
	bool found; /* in a file */
	uint8_t bytes[1500];
};

struct datagram {
	uint8_t bytes[ROOM];
	uint32_t len;
	bool acked;
};

struct stream {
	struct record *record;
	unsigned int records;
	struct datagram *datagram;
	unsigned int datagrams;
	uint64_t before[DATAGRAMS + 1]; /* records before each, and after all */
	uint64_t lost[DATAGRAMS + 1];
	unsigned int sent;
	unsigned int base;
};

struct reading {
	unsigned int at;
	uint64_t records;
	uint64_t missed;
};

/* In a thousand, and how many datagrams the sender keeps */
struct network {
	unsigned int loss, doubling, reordering, window;
};

/* A datagram that arrived */
struct taped {
	uint8_t bytes[ROOM + TRACECAST_SEAL];
	size_t len;
};

extern struct stream stream[CPUS];
extern uint32_t meta_len;
extern uint32_t meta_generation;
extern uint32_t acked_generation;
extern struct collector *collector;
extern uint64_t now;
/* All records are large */
extern bool large;
/* The network: in a thousand */
extern unsigned int loss, doubling, reordering;
extern bool deaf; /* the sender retransmits no datagram */
extern bool hostile; /* and others send as if they were it */
extern bool starved; /* allocations often fail */
/* How many there are: each has CPUs and an address of its own */
extern unsigned int senders;
extern unsigned int muted; /* nothing of this one arrives */
/* With a key: numbers in the seals of each sender, as the kernel has them */
extern bool keyed;
/* The records are what an earlier boot left */
extern const struct tracecast_last_boot *last_boot;
extern const siphash_key_t key;
extern const siphash_key_t *sender_key;
extern uint64_t seal_number[], seal_heard[], seal_echoed[];
extern unsigned int nr_taped;
extern struct sockaddr_in sender;
extern unsigned int nr_pending;
extern uint64_t bytes_in, bytes_out;
extern char last_note[1024];
extern char paths[16][DIRECTORY_SIZE + NAME_MAX + 1];
extern unsigned int nr_paths;
extern struct taped *taped;
extern const struct network networks[NETWORKS];

void make_meta(bool other);
void arrive(const uint8_t *bytes, size_t len);
void release_one(unsigned int i);
void transmit(const uint8_t *datagram, size_t len);
/* From one of the senders */
void transmit_from(unsigned int from, const uint8_t *datagram, size_t len);
void send_meta(void);
/* Of the first CPUs */
void send_beat_of(enum tracecast_last last, unsigned int cpus);
void send_beat(enum tracecast_last last);
void send_data(unsigned int cpu, uint64_t seq);
/* With a key: until they are answered, senders only send heartbeats */
void be_answered(void);
void pass_time(void);
bool all_sent(void);
/* With a window, as the kernel has one */
void send_all(unsigned int window);
void find_files(void);
void read_all(struct reading *reading);
/* How many records are in a file, or in several, if another collector went on? */
uint64_t count_found(void);
void begin_with(uint64_t rotate);
void begin(bool other);
const char *ledger_path(void);
void finish(void);
void get_ledger(struct collector_ledger *l);
uint64_t made(void);
uint64_t ring_lost(void);
void check_all_there(void);
void run_until_acked(void);
/* The ledgers as they are printed */
void check_printed(const char *want);
/* Under valgrind all tests run in one process */
void reset_sender(void);

#endif
