// SPDX-License-Identifier: GPL-2.0
/*
 * Requests through pipes: a process writes a request to one pipe, and reads the
 * response from another one, as CGI programs and the workers of a pool do.
 *
 * A byte has the same offset for its writer and its reader. So the bytes that went from
 * one process to another one are known, even if others use the same pipes. Two
 * processes that send bytes to each other have a connection, as if by a socket; its
 * bytes are numbered anew, in each direction in the order in which they were written. A
 * pipe that one process both writes to and reads from does not count: it passes a token
 * around, or wakes the process's own event loop.
 *
 * link_turns.c finds out whether the two take turns. If they do not, there are no
 * requests; work that is handed over through the pipe is followed nevertheless
 * (link_causality.c).
 */
#include <stdlib.h>

#include "link.h"
#include "order.h"

/**
 * struct transfer - bytes that one process wrote and another one read
 * @write:	the call that wrote them
 * @read:	the call that read them
 * @from:	offset of the first byte in the pipe
 * @len:	number of bytes
 */
struct transfer {
	struct pipe_range *write;
	struct pipe_range *read;
	u64 from;
	u64 len;
};

/**
 * struct transfers - all transfers
 * @transfer:	transfers
 * @nr:		number of transfers
 * @room:	allocated entries of @transfer
 */
struct transfers {
	struct transfer *transfer;
	u64 nr;
	u64 room;
};

static int by_pipe(const struct pipe_range *x, const struct pipe_range *y)
{
	return ORDER(x->host, y->host) ?: ORDER(x->pipe, y->pipe);
}

static int by_place(const void *a, const void *b)
{
	const struct pipe_range *x = *(struct pipe_range *const *)a,
				*y = *(struct pipe_range *const *)b;
	int order = by_pipe(x, y);

	order = order ?: ORDER(x->from, y->from);
	order = order ?: ORDER(x->end, y->end);
	return order ?: ORDER(x->start, y->start);
}

static int by_process(const void *a, const void *b)
{
	const struct pipe_range *x = *(struct pipe_range *const *)a,
				*y = *(struct pipe_range *const *)b;

	return by_pipe(x, y) ?: ORDER(x->tgid, y->tgid);
}

/* Drop the ranges of pipes that one process both writes to and reads from */
static u64 drop_undirected(struct pipe_range **p, u64 nr)
{
	u64 i, end, kept = 0;

	qsort(p, nr, sizeof(*p), by_process);
	for (i = 0; i < nr; i = end) {
		bool both = false;

		for (end = i + 1; end < nr && !by_pipe(p[i], p[end]); end++)
			both |= p[end]->tgid == p[end - 1]->tgid &&
				p[end]->written != p[end - 1]->written;
		for (; i < end && !both; i++)
			p[kept++] = p[i];
	}
	return kept;
}

/* Set the process at the other end, or -1 if there are several */
static void note_peer(struct pipe_range *p, s32 tgid)
{
	p->peer = p->peer && p->peer != tgid ? -1 : tgid;
}

static void add_transfer(struct transfers *f, struct pipe_range *write,
			 struct pipe_range *read)
{
	u64 from = write->from > read->from ? write->from : read->from;
	u64 end = write->end < read->end ? write->end : read->end;

	GROW(f->transfer, f->nr, f->room);
	f->transfer[f->nr++] = (struct transfer){
		.write = write,
		.read = read,
		.from = from,
		.len = end - from,
	};
	note_peer(write, read->tgid);
	note_peer(read, write->tgid);
}

/* A byte is written and read once; in a damaged trace some may be missing */
static void match(struct transfers *f, struct pipe_range **p, u64 nr)
{
	struct pipe_range *write = NULL, *read = NULL;
	u64 i;

	for (i = 0; i < nr; i++) {
		if (p[i]->written)
			write = p[i];
		else
			read = p[i];
		if (write && read && !by_pipe(write, read) &&
		    write->from < read->end && read->from < write->end)
			add_transfer(f, write, read);
	}
}

static s32 lower(const struct transfer *f)
{
	return f->write->tgid < f->read->tgid ? f->write->tgid : f->read->tgid;
}

static s32 higher(const struct transfer *f)
{
	return f->write->tgid < f->read->tgid ? f->read->tgid : f->write->tgid;
}

static int by_pair(const struct transfer *x, const struct transfer *y)
{
	int order = ORDER(x->write->host, y->write->host);

	order = order ?: ORDER(lower(x), lower(y));
	return order ?: ORDER(higher(x), higher(y));
}

static int by_order(const void *a, const void *b)
{
	const struct transfer *x = a, *y = b;
	int order = by_pair(x, y);

	order = order ?: ORDER(x->write->tgid, y->write->tgid);
	order = order ?: ORDER(x->write->start, y->write->start);
	order = order ?: ORDER(x->write->pipe, y->write->pipe);
	return order ?: ORDER(x->from, y->from);
}

static void add_message(struct requests *r, const struct transfer *f, bool sent,
			u64 at)
{
	const struct pipe_range *own = sent ? f->write : f->read;
	const struct pipe_range *other = sent ? f->read : f->write;
	struct message msg = {
		.host = own->host,
		.pid = own->pid,
		.endpoint = requests_find_endpoint(r, own->host, own->comm),
		.local = true,
		.via_pipe = true,
		.isn = own->tgid,
		.peer_isn = other->tgid,
		.from = at,
		.end = at + f->len,
		.start = own->start,
		.duration = own->finish - own->start,
		.sent = sent,
	};

	/* The cookie of no socket */
	msg.id = 1ull << 63 | (u64)msg.isn << 31 | msg.peer_isn;
	requests_add(r, &msg);
}

/* Two processes have a connection if bytes went in both directions */
static void add_pair_messages(struct requests *r, const struct transfer *f,
			      u64 nr)
{
	u64 i, at = 0;

	if (f[0].write->tgid == f[nr - 1].write->tgid)
		return;
	for (i = 0; i < nr; i++) {
		if (i && f[i].write->tgid != f[i - 1].write->tgid)
			at = 0;
		add_message(r, &f[i], true, at);
		add_message(r, &f[i], false, at);
		at += f[i].len;
	}
}

/**
 * pipes_requests - find the connections of processes by pipes
 * @m:	model, all files of which are read; before requests_finish()
 */
void pipes_requests(struct model *m)
{
	struct pipe_range **p = xzalloc((m->nr_pipe_ranges + 1) * sizeof(*p));
	struct transfers f = { 0 };
	u64 i, end, nr = 0;

	/* Bytes that are passed on are for the process that gets them in the end */
	for (i = 0; i < m->nr_pipe_ranges; i++) {
		if (!m->pipe_range[i].passed && m->pipe_range[i].tgid > 0)
			p[nr++] = &m->pipe_range[i];
	}
	nr = drop_undirected(p, nr);
	qsort(p, nr, sizeof(*p), by_place);
	match(&f, p, nr);
	if (f.nr)
		qsort(f.transfer, f.nr, sizeof(*f.transfer), by_order);
	for (i = 0; i < f.nr; i = end) {
		for (end = i + 1;
		     end < f.nr && !by_pair(&f.transfer[i], &f.transfer[end]);
		     end++)
			;
		add_pair_messages(m->requests, &f.transfer[i], end - i);
	}
	free(f.transfer);
	free(p);
}
