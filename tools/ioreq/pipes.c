// SPDX-License-Identifier: GPL-2.0
/*
 * Requests through pipes: a process asks another one through one pipe, and gets the answer
 * through another one, as CGI programs and the workers of a pool do.
 *
 * A byte has the same offset for who wrote and who read it. So it is known which bytes
 * went from which process to which other one, also if others use the same pipes. Two
 * processes that send bytes to each other have a connection then, as if it was a socket's,
 * and its bytes are counted anew, those of each direction in the order in which they were
 * written. A pipe that somebody both writes to and reads from is none of these: a token
 * goes round there, or a process tells itself something.
 *
 * Whether they ask and answer in turns is seen by requests.c. If they do not, there are no
 * requests; what is handed over is followed nevertheless (loops.c).
 */
#include <stdlib.h>

#include "ioreq.h"

/**
 * struct flow - bytes that a process wrote and another one read
 * @write:	by which call
 * @read:	likewise
 * @from:	offset of the first one in the pipe
 * @len:	how many
 */
struct flow {
	struct piped *write;
	struct piped *read;
	u64 from;
	u64 len;
};

/**
 * struct flows - all of them
 * @flow:	they
 * @nr:		how many
 * @room:	for so many
 */
struct flows {
	struct flow *flow;
	u64 nr;
	u64 room;
};

static int order(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static int by_pipe(const struct piped *x, const struct piped *y)
{
	int o = order(x->host, y->host);

	return o ? o : order(x->pipe, y->pipe);
}

static int by_place(const void *a, const void *b)
{
	const struct piped *x = *(struct piped *const *)a,
			   *y = *(struct piped *const *)b;
	int o = by_pipe(x, y);

	o = o ? o : order(x->from, y->from);
	o = o ? o : order(x->end, y->end);
	return o ? o : order(x->start, y->start);
}

static int by_process(const void *a, const void *b)
{
	const struct piped *x = *(struct piped *const *)a,
			   *y = *(struct piped *const *)b;
	int o = by_pipe(x, y);

	return o ? o : order(x->tgid, y->tgid);
}

/* Of the pipes that somebody both writes to and reads from nothing is left */
static u64 drop_undirected(struct piped **p, u64 nr)
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

/* The process at the other end, or -1 if there are several */
static void note_peer(struct piped *p, s32 tgid)
{
	p->peer = p->peer && p->peer != tgid ? -1 : tgid;
}

static void add_flow(struct flows *f, struct piped *write, struct piped *read)
{
	u64 from = write->from > read->from ? write->from : read->from;
	u64 end = write->end < read->end ? write->end : read->end;

	f->flow = grow(f->flow, f->nr, &f->room, sizeof(*f->flow));
	f->flow[f->nr++] = (struct flow){
		.write = write,
		.read = read,
		.from = from,
		.len = end - from,
	};
	note_peer(write, read->tgid);
	note_peer(read, write->tgid);
}

/* Nothing is written twice, or read twice; of a damaged trace some may be left out */
static void match(struct flows *f, struct piped **p, u64 nr)
{
	struct piped *write = NULL, *read = NULL;
	u64 i;

	for (i = 0; i < nr; i++) {
		if (p[i]->written)
			write = p[i];
		else
			read = p[i];
		if (write && read && !by_pipe(write, read) &&
		    write->from < read->end && read->from < write->end)
			add_flow(f, write, read);
	}
}

static s32 lower(const struct flow *f)
{
	return f->write->tgid < f->read->tgid ? f->write->tgid : f->read->tgid;
}

static s32 higher(const struct flow *f)
{
	return f->write->tgid < f->read->tgid ? f->read->tgid : f->write->tgid;
}

static int by_pair(const struct flow *x, const struct flow *y)
{
	int o = order(x->write->host, y->write->host);

	o = o ? o : order(lower(x), lower(y));
	return o ? o : order(higher(x), higher(y));
}

static int by_order(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;
	int o = by_pair(x, y);

	o = o ? o : order(x->write->tgid, y->write->tgid);
	o = o ? o : order(x->write->start, y->write->start);
	o = o ? o : order(x->write->pipe, y->write->pipe);
	return o ? o : order(x->from, y->from);
}

static void tell(struct requests *q, const struct flow *f, bool sent, u64 at)
{
	const struct piped *own = sent ? f->write : f->read;
	const struct piped *other = sent ? f->read : f->write;
	struct message m = {
		.host = own->host,
		.pid = own->pid,
		.comm = own->comm,
		.name = "",
		.local = true,
		.piped = true,
		.isn = own->tgid,
		.peer_isn = other->tgid,
		.from = at,
		.end = at + f->len,
		.start = own->start,
		.duration = own->finish - own->start,
		.sent = sent,
	};

	/* No socket has this cookie */
	m.id = 1ull << 63 | (u64)m.isn << 31 | m.peer_isn;
	requests_add(q, &m);
}

/* Two processes, in both directions, or not at all */
static void tell_pair(struct requests *q, const struct flow *f, u64 nr)
{
	u64 i, at = 0;

	if (f[0].write->tgid == f[nr - 1].write->tgid)
		return;
	for (i = 0; i < nr; i++) {
		if (i && f[i].write->tgid != f[i - 1].write->tgid)
			at = 0;
		tell(q, &f[i], true, at);
		tell(q, &f[i], false, at);
		at += f[i].len;
	}
}

/**
 * pipes_requests - find connections of processes by pipes
 * @s: all files are read; before requests_finish()
 */
void pipes_requests(struct sums *s)
{
	struct piped **p = allocate((s->nr_piped + 1) * sizeof(*p));
	struct flows f = { 0 };
	u64 i, end, nr = 0;

	/* What is passed on is for who gets it then */
	for (i = 0; i < s->nr_piped; i++) {
		if (!s->piped[i].passed && s->piped[i].tgid > 0)
			p[nr++] = &s->piped[i];
	}
	nr = drop_undirected(p, nr);
	qsort(p, nr, sizeof(*p), by_place);
	match(&f, p, nr);
	if (f.nr)
		qsort(f.flow, f.nr, sizeof(*f.flow), by_order);
	for (i = 0; i < f.nr; i = end) {
		for (end = i + 1;
		     end < f.nr && !by_pair(&f.flow[i], &f.flow[end]); end++)
			;
		tell_pair(s->requests, &f.flow[i], end - i);
	}
	free(f.flow);
	free(p);
}
