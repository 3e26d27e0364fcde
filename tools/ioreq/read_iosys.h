/* SPDX-License-Identifier: GPL-2.0 */
/* Reading of iosys events: internal to read_iosys.c and read_streams.c. */
#ifndef IOREQ_READ_IOSYS_H
#define IOREQ_READ_IOSYS_H

#include <event-parse.h>

#include "link.h"
#include "read.h"

#define MAX_OPS 256
#define MAX_NAME 4096

/* Events that are read */
enum kind {
	KIND_CALL,
	KIND_REQUEST,
	KIND_PART,
	KIND_FAULT,
	KIND_PENDING,
	KINDS
};

/**
 * struct op - what the name of a call shows; for a request to io_uring or aio, the name of
 *	the call that it stands for
 * @polls:	it waits for events
 * @syncs:	it writes data back
 * @opens:	it opens a file
 * @accepts:	it accepts a connection
 * @connects:	it connects
 * @closes:	it closes a descriptor
 * @sends:	it sends or writes
 * @receives:	it receives or reads
 * @reads:	it reads from a file
 */
struct op {
	bool polls;
	bool syncs;
	bool opens;
	bool accepts;
	bool connects;
	bool closes;
	bool sends;
	bool receives;
	bool reads;
};

/**
 * struct process_name - name of the process that a call belongs to
 * @tgid:	process
 * @pid:	thread
 * @comm:	name
 * @endpoint:	number of its endpoint plus one; 0: not needed yet
 */
struct process_name {
	s32 tgid;
	s32 pid;
	char comm[COMM_SIZE];
	u32 endpoint;
};

/**
 * struct layout - where the fields of an event are
 * @id:		common_type of its records; -1 if the file has none
 * @kind:	which event
 * @op_name:	names of the calls, from the event's print format
 * @ops:	what these show
 * @names:	struct process_name of all events of the file, by process and thread
 * @comm:	name of the thread
 * @name:	the object's name
 * @name2:	the second object's name
 * @stream:	the byte ranges of the stream
 * @has_stream:	@isn, @peer_isn, @flags, @type2, @obj2, @name2 and @stream exist
 *
 * The others are fields of the event.
 */
struct layout {
	int id;
	enum kind kind;
	char op_name[MAX_OPS][OP_SIZE];
	struct op ops[MAX_OPS];
	struct hash *names;
	struct number common_type, common_pid;
	struct number start, duration, result, bytes, dev, obj, op, type, tgid;
	struct number pid, stack, fd;
	struct number isn, peer_isn, flags, type2, obj2, family, protocol;
	struct tep_format_field *comm, *name, *name2, *stream;
	bool has_stream;
};

/* read_iosys.c */
bool iosys_is_request(const struct layout *l);
void iosys_get_name(char *name, const struct tep_format_field *f,
		    const struct record *rec);
s32 iosys_thread_of(const struct layout *l, const struct record *rec);
struct process_name *iosys_process_name(const struct layout *l,
					const struct records *r,
					const struct record *rec);
struct op iosys_op(const struct layout *l, const struct record *rec);
enum step op_step(const struct op *op, u8 type, bool into);

/* read_streams.c */
void streams_parse(struct model *m, u32 host, const struct layout *l,
		   const struct records *r, const struct record *rec);
bool streams_have_pipes(const struct layout *l, const struct record *rec);

#endif
