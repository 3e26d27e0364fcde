/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The receiver of nettrace, without its socket: takes datagrams, makes files of
 * them, and answers. Whatever datagrams hold, it does no more than count them.
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
 * struct collector_config - what a collector does
 * @output: directory for the files
 * @rotate: a file is followed by a new one at about so many bytes
 * @send: sends an answer
 * @note: tells the user something
 * @arg: passed to both
 */
struct collector_config {
	const char *output;
	uint64_t rotate;
	void (*send)(const void *data, size_t len, const struct sockaddr *to,
		     socklen_t to_len, void *arg);
	void (*note)(const char *text, void *arg);
	void *arg;
};

/**
 * struct collector_ledger - where the records of a session are
 * @generated: up to the last header that was received, from the first one on
 * @delivered: of these, in files
 * @ring_lost: lost in the sender's ring, or cleared there
 * @wire_lost: lost on the way
 * @awaited: still missing, or not yet in files
 * @behind: records that the sender has besides
 * @datagrams: of data, each counted once
 * @again: of data, that were there already
 * @damaged: datagrams that made no sense
 * @over: how the sender has ended the session, if it has
 * @unknown: CPUs of which it is not known what they had besides: those that
 *	stopped in a panic before they could tell
 */
struct collector_ledger {
	uint64_t generated;
	uint64_t delivered;
	uint64_t ring_lost;
	uint64_t wire_lost;
	uint64_t awaited;
	uint64_t behind;
	uint64_t datagrams;
	uint64_t again;
	uint64_t damaged;
	enum nettrace_last over;
	unsigned int unknown;
};

struct collector *collector_new(const struct collector_config *config);
void collector_datagram(struct collector *c, const uint8_t *data, size_t len,
			const struct sockaddr *from, socklen_t from_len,
			uint64_t now);
void collector_tick(struct collector *c, uint64_t now);
bool collector_ledger(const struct collector *c, unsigned int session,
		      struct collector_ledger *ledger);
void collector_print(const struct collector *c, FILE *out);
bool collector_free(struct collector *c);

#endif
