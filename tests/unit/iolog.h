/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls of a simulated system: collected in any order, then sorted and written to a file
 * for each host.
 */
#ifndef TESTS_IOLOG_H
#define TESTS_IOLOG_H

#include <linux/types.h>

#include "iodat.h"

/**
 * struct io_event - a call, a page fault, a request to io_uring, or a wake-up
 * @host:	number of the host
 * @call:	the call; of a wake-up only @tid and @finish
 * @by:		of a request to io_uring: thread that completes it; 0: it is none
 * @wakee:	of a wake-up: thread that is woken; 0: it is none
 * @fault:	it is a page fault
 * @lost:	its record is lost
 * @name:	name of the call's object
 */
struct io_event {
	unsigned int host;
	struct io_call call;
	int by;
	int wakee;
	bool fault;
	bool lost;
	char name[48];
};

/**
 * struct io_log - the events of all hosts
 * @event:	events
 * @nr:		number of events
 * @room:	allocated entries of @event
 * @faults:	files have the format of page faults
 * @requests:	files have the format of requests to io_uring
 * @wakings:	files have the format of wake-ups
 */
struct io_log {
	struct io_event *event;
	u64 nr;
	u64 room;
	bool faults;
	bool requests;
	bool wakings;
};

/**
 * struct io_stream - a connection between a client, side 0, and a server, side 1
 * @port:	the client's port
 * @isn:	initial sequence numbers of the sides
 * @offset:	bytes that each side has sent and the other one has received
 */
struct io_stream {
	unsigned int port;
	uint32_t isn[2];
	uint64_t offset[2];
};

struct io_event *io_log_add(struct io_log *log, unsigned int host, int tid,
			    int tgid, unsigned int op, int64_t start,
			    int64_t finish);
void io_event_bytes(struct io_event *e, struct io_stream *s, bool server,
		    bool sends, uint64_t len);
void io_log_sort(struct io_log *log);
bool io_log_save(struct io_log *log, const char *path, unsigned int host,
		 const char *cmdlines);

#endif
