/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The collector without its socket: handles datagrams, writes files, and acknowledges.
 * Invalid datagrams are counted and have no other effect. receive.c says what forged ones
 * can have.
 */
#ifndef SCHEDZ_COLLECT_H
#define SCHEDZ_COLLECT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include "wire.h"

struct collector;

/**
 * struct collector_config - configuration of a collector
 * @output: directory for the files
 * @rotate: size of a file, in bytes, at which another one is begun
 * @key: key that senders must have, or NULL
 * @first: with a key, a random number below 2^63
 * @send: sends an acknowledgement
 * @note: prints a note for the user
 * @arg: passed to @send and @note
 */
struct collector_config {
	const char *output;
	uint64_t rotate;
	const siphash_key_t *key;
	uint64_t first;
	void (*send)(const void *data, size_t len, const struct sockaddr *to,
		     socklen_t to_len, void *arg);
	void (*note)(const char *text, void *arg);
	void *arg;
};

/**
 * struct collector_ledger - ledger of a session
 * @generated: records from the begin of the session up to the last header received;
 *	sum of the five below
 * @earlier: records before the first header received that were not lost: an earlier
 *	collector acknowledged them, or the sender abandoned them
 * @delivered: records that were written to files
 * @ring_lost: records lost in the sender's ring buffer, or cleared there
 * @wire_lost: records lost in the network, damaged, or larger than a page
 * @awaited: records in flight, or not written yet
 * @behind: further records that the sender has not sent yet
 * @datagrams: datagrams with records, each counted once
 * @again: datagrams with records that had arrived before
 * @damaged: invalid datagrams
 * @dropped: datagrams dropped for lack of memory
 * @senders: number of senders of the session; 0 before this is known
 * @silent: of these, the ones from which nothing has arrived for 5 s, as long as the
 *	session goes on
 * @over: how the session was ended, if it was
 * @unknown: number of CPUs whose further records are unknown, because they stopped in a
 *	panic before they could report them
 */
struct collector_ledger {
	uint64_t generated;
	uint64_t earlier;
	uint64_t delivered;
	uint64_t ring_lost;
	uint64_t wire_lost;
	uint64_t awaited;
	uint64_t behind;
	uint64_t datagrams;
	uint64_t again;
	uint64_t damaged;
	uint64_t dropped;
	unsigned int senders;
	unsigned int silent;
	enum tracecast_last over;
	unsigned int unknown;
};

struct collector *collector_new(const struct collector_config *config);
void collector_datagram(struct collector *c, const uint8_t *data, size_t len,
			const struct sockaddr *from, socklen_t from_len,
			uint64_t now);
void collector_tick(struct collector *c, uint64_t now);
bool collector_ledger(const struct collector *c, unsigned int session,
		      struct collector_ledger *ledger);
bool collector_sync(struct collector *c);
void collector_print(const struct collector *c, FILE *out);
bool collector_free(struct collector *c);

#endif
