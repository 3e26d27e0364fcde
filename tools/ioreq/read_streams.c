// SPDX-License-Identifier: GPL-2.0
/* Reads the byte ranges of streams and pipes that iosys events have. */
#include "read_iosys.h"

/* Flags of io_syscall */
#define ISN_KNOWN 16
#define PEEKED 32

/* In a stream: byte ranges of a pipe follow, with its number; they were written */
#define RANGES_PIPE (1ull << 63)
#define RANGES_WRITTEN (1ull << 62)

#define FAMILY_UNIX 1

/* IPPROTO_TCP */
#define PROTOCOL_TCP 6

static u64 pair(const struct layout *l, const struct record *rec, u32 at,
		u64 *second)
{
	struct number n = { .offset = at, .size = 8, .swap = l->isn.swap };
	u64 first = number_in(&n, rec);

	n.offset = at + 8;
	*second = number_in(&n, rec);
	return first;
}

/* Return: offset of the first byte range; @end: end of the last one */
static u32 find_ranges(const struct layout *l, const struct record *rec,
		       u32 *end)
{
	const u8 *data;
	u32 len;

	if (!array_get(l->stream, rec->data, rec->size, &data, &len))
		return *end = 0;
	*end = data - rec->data + len;
	return data - rec->data;
}

/*
 * When the bytes left the caller or were available to it. Bytes that a call passes on
 * are never available to the caller, so they count as read at its begin; from a socket
 * they are written at its end, because it may have waited for them.
 */
static u64 pipe_range_time(const struct layout *l, const struct record *rec,
			   bool written, bool passed)
{
	u64 start = number_in(&l->start, rec),
	    duration = number_in(&l->duration, rec);

	if (written)
		return number_in(&l->type, rec) == TYPE_SOCKET ?
			       start + duration :
			       start;
	return passed ? start : start + duration;
}

/* From the header of a pipe's byte ranges on; a damaged record may claim too many */
static void parse_pipe(struct model *m, u32 host, const struct layout *l,
		       const struct records *r, const struct record *rec,
		       u32 at, u32 end)
{
	u64 count, head = pair(l, rec, at, &count);
	struct pipe_range p = { .host = host,
				.async = iosys_is_request(l),
				.written = head & RANGES_WRITTEN };
	u64 first = m->nr_pipe_ranges;

	p.pid = iosys_thread_of(l, rec);
	p.tgid = number_in(&l->tgid, rec);
	p.comm = requests_comm(m->requests, host,
			       iosys_process_name(l, r, rec)->comm);
	p.start = number_in(&l->start, rec);
	p.finish = p.start + number_in(&l->duration, rec);
	p.pipe = head & (RANGES_WRITTEN - 1);
	p.passed = !p.written && number_in(&l->obj2, rec);
	p.peeked = !p.written && number_in(&l->flags, rec) & PEEKED;
	p.time = pipe_range_time(l, rec, p.written, p.passed);
	for (at += 16; count && at + 16 <= end; at += 16, count--) {
		p.from = pair(l, rec, at, &p.end);
		if (p.from >= p.end)
			continue;
		GROW(m->pipe_range, m->nr_pipe_ranges, m->pipe_range_room);
		m->pipe_range[m->nr_pipe_ranges++] = p;
		m->pipe_range[first].ranges++;
	}
}

/* Return: where the byte ranges of pipes begin in a stream; @end if there are none */
static u32 find_pipes(const struct layout *l, const struct record *rec, u32 at,
		      u32 end)
{
	u64 second;

	while (at + 16 <= end && !(pair(l, rec, at, &second) & RANGES_PIPE))
		at += 16;
	return at + 16 <= end ? at : end;
}

/* Bytes that were peeked at (by tee) count as read */
static void parse_pipes(struct model *m, u32 host, const struct layout *l,
			const struct records *r, const struct record *rec,
			u32 at, u32 end)
{
	u64 count;

	while (at + 16 <= end) {
		if (pair(l, rec, at, &count) & RANGES_PIPE)
			parse_pipe(m, host, l, r, rec, at, end);
		at += 16;
	}
}

/* A connection may fail before it transfers any bytes */
static void parse_socket(struct model *m, const struct layout *l,
			 const struct records *r, const struct record *rec,
			 const struct message *msg, const struct op *op)
{
	char name[MAX_NAME];
	struct socket_call c = {
		.host = msg->host,
		.pid = msg->pid,
		.id = msg->id,
		.name = name,
		.start = msg->start,
		.duration = msg->duration,
		.what = op->connects ? SOCKET_CALL_CONNECT :
			op->closes   ? SOCKET_CALL_CLOSE :
				       SOCKET_CALL_OTHER,
	};

	c.local = number_in(&l->family, rec) == FAMILY_UNIX;
	if (!msg->id ||
	    (!c.local && number_in(&l->protocol, rec) != PROTOCOL_TCP) ||
	    (c.what != SOCKET_CALL_CONNECT &&
	     !requests_is_connecting(m->requests, msg->host, msg->id)))
		return;
	c.comm = iosys_process_name(l, r, rec)->comm;
	iosys_get_name(name, l->name, rec);
	c.result = number_in(&l->result, rec);
	c.bytes = number_in(&l->bytes, rec);
	c.has_isn = number_in(&l->flags, rec) & ISN_KNOWN;
	requests_socket_call(m->requests, &c);
}

/* What may be the last call on a stream */
static void parse_end(struct model *m, const struct layout *l,
		      const struct record *rec, const struct message *msg,
		      const struct op *op)
{
	struct end_call c = {
		.host = msg->host,
		.pid = msg->pid,
		.id = msg->id,
		.start = msg->start,
		.duration = msg->duration,
		.result = number_in(&l->result, rec),
		.what = END_CALL_RECEIVE,
	};

	if (!msg->id || c.result > 0)
		return;
	if (op->closes)
		c.what = END_CALL_CLOSE;
	else if (msg->sent)
		c.what = END_CALL_SEND;
	else if (!op->receives)
		return;
	requests_end_call(m->requests, &c);
}

static void parse_listening(struct model *m, u32 host, const struct layout *l,
			    const struct record *rec)
{
	char name[MAX_NAME];

	iosys_get_name(name, l->name, rec);
	requests_listen(m->requests, host, name);
}

/* The endpoint that the process of a call is */
static u32 endpoint_of(struct model *m, u32 host, const struct layout *l,
		       const struct records *r, const struct record *rec)
{
	struct process_name *n = iosys_process_name(l, r, rec);

	if (!n->endpoint)
		n->endpoint =
			requests_find_endpoint(m->requests, host, n->comm) + 1;
	return n->endpoint - 1;
}

/* Points into the record: it is copied only for an end's first message */
static void set_name(struct message *msg, const struct tep_format_field *f,
		     const struct record *rec)
{
	const u8 *data;
	u32 len;

	if (!array_get(f, rec->data, rec->size, &data, &len))
		return;
	msg->name = (const char *)data;
	msg->name_len = len < MAX_NAME ? len : MAX_NAME - 1;
}

/* Calls that connect or accept have the role, calls that send or receive the bytes */
void streams_parse(struct model *m, u32 host, const struct layout *l,
		   const struct records *r, const struct record *rec)
{
	u64 flags = number_in(&l->flags, rec);
	u32 end, at = find_ranges(l, rec, &end);
	u32 pipes = find_pipes(l, rec, at, end);
	bool into = number_in(&l->type2, rec) == TYPE_SOCKET;
	struct op op = iosys_op(l, rec);
	struct message msg = { .host = host, .async = iosys_is_request(l) };
	u8 type = number_in(&l->type, rec);

	msg.pid = iosys_thread_of(l, rec);
	msg.tgid = number_in(&l->tgid, rec);
	if (into || type == TYPE_SOCKET)
		msg.id = number_in(into ? &l->obj2 : &l->obj, rec);
	msg.start = number_in(&l->start, rec);
	msg.duration = number_in(&l->duration, rec);
	/* A thread is in one call at a time, whatever it has submitted */
	if (!msg.async)
		requests_call(m->requests, host, msg.pid, msg.id,
			      op_step(&op, type, into), msg.start,
			      msg.duration);
	if (op.accepts && number_in(&l->family, rec) != FAMILY_UNIX)
		parse_listening(m, host, l, rec);
	if (op.accepts && into)
		requests_socket(m->requests, host, number_in(&l->obj2, rec),
				ROLE_SERVER);
	else if (op.connects)
		requests_socket(m->requests, host, number_in(&l->obj, rec),
				ROLE_CLIENT);
	msg.sent = into || op.sends;
	parse_socket(m, l, r, rec, &msg, &op);
	parse_end(m, l, rec, &msg, &op);
	parse_pipes(m, host, l, r, rec, pipes, end);
	if (at == pipes || !(flags & ISN_KNOWN) || flags & PEEKED)
		return;
	msg.endpoint = endpoint_of(m, host, l, r, rec);
	set_name(&msg, into ? l->name2 : l->name, rec);
	msg.local = number_in(&l->family, rec) == FAMILY_UNIX;
	msg.isn = number_in(&l->isn, rec);
	msg.peer_isn = number_in(&l->peer_isn, rec);
	for (; at + 16 <= pipes; at += 16) {
		msg.from = pair(l, rec, at, &msg.end);
		if (msg.from < msg.end)
			requests_add(m->requests, &msg);
	}
}

bool streams_have_pipes(const struct layout *l, const struct record *rec)
{
	u32 end, at = find_ranges(l, rec, &end);

	return find_pipes(l, rec, at, end) != end;
}
