// SPDX-License-Identifier: GPL-2.0
/*
 * What disks read, and what programs requested (the paper's figure 7): read-ahead for
 * small random reads is wasted.
 *
 * A thread that reads a file queues bios for it in that call, or in the fault on the
 * mapped file: what it queues from begin to end of the call is for that object, except
 * for what a fault within the call queues. Requests to io_uring and aio overlap and end
 * after others have begun: what is queued outside of calls is for the request that was
 * submitted last, if it has not ended; otherwise its object is unknown.
 *
 * A disk may be stacked on others, for which the same bytes are queued again. So of the
 * bios of a call, of a request, or of a thread between two calls, only those for the
 * disk of the first one count.
 *
 * Programs may request the same bytes again, which are counted again here, so wasted
 * bytes are a lower bound.
 */
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "order.h"

/**
 * struct queued - what a thread queued for a disk
 * @time:	when, ns of CLOCK_MONOTONIC
 * @calls:	number of calls of the thread that had ended
 * @bytes:	number of bytes
 * @dev:	disk
 * @ahead:	it is read-ahead
 */
struct queued {
	u64 time;
	u64 calls;
	u64 bytes;
	u32 dev;
	bool ahead;
};

/**
 * struct submitted - a request during which the thread queued something
 * @start:	when it was submitted, ns of CLOCK_MONOTONIC
 * @end:	when it was complete
 * @read_sum:	sum of its object
 */
struct submitted {
	u64 start;
	u64 end;
	struct read_sum *read_sum;
};

/**
 * struct thread_reads - a thread
 * @host:		number of the host
 * @pid:		thread
 * @comm:		name of its process at its last call
 * @calls:		number of calls that have ended
 * @queued:		what it queued outside of calls that have ended
 * @nr:			number of these
 * @room:		allocated entries of @queued
 * @submitted:		requests
 * @requests:		number of requests
 * @request_room:	allocated entries of @submitted
 */
struct thread_reads {
	u32 host;
	s32 pid;
	char comm[COMM_SIZE];
	u64 calls;
	struct queued *queued;
	u64 nr;
	u64 room;
	struct submitted *submitted;
	u64 requests;
	u64 request_room;
};

/**
 * struct reads - see reads_new()
 * @readers:	struct thread_reads, by host and thread
 * @sums:	struct read_sum, by host, process and object
 */
struct reads {
	struct hash readers;
	struct hash sums;
};

/**
 * reads_new - create an empty set of reads
 *
 * Return: reads, to be freed with reads_free().
 */
struct reads *reads_new(void)
{
	return xzalloc(sizeof(struct reads));
}

static struct thread_reads *find_reader(struct reads *r, u32 host, s32 pid)
{
	u64 hash = hash_pair(host, pid);
	struct thread_reads *p;

	hash_for_each_possible_entry(&r->readers, hash, p) {
		if (p->host == host && p->pid == pid)
			return p;
	}
	p = hash_new(&r->readers, hash, sizeof(*p));
	p->host = host;
	p->pid = pid;
	return p;
}

/**
 * reads_queue - add what a thread queued for a disk
 * @r:		reads
 * @host:	number of the host
 * @pid:	thread
 * @time:	when, ns of CLOCK_MONOTONIC
 * @dev:	disk
 * @bytes:	number of bytes
 * @ahead:	it is read-ahead
 */
void reads_queue(struct reads *r, u32 host, s32 pid, u64 time, u32 dev,
		 u64 bytes, bool ahead)
{
	struct thread_reads *p = find_reader(r, host, pid);

	GROW(p->queued, p->nr, p->room);
	p->queued[p->nr++] = (struct queued){
		.time = time,
		.calls = p->calls,
		.bytes = bytes,
		.dev = dev,
		.ahead = ahead,
	};
}

static struct read_sum *find_read_sum(struct reads *r, u32 host,
				      const char *comm, const struct object *o)
{
	u64 hash =
		hash_more(hash_more(object_hash(o), hash_string(comm)), host);
	struct read_sum *e;

	hash_for_each_possible_entry(&r->sums, hash, e) {
		if (e->host == host && e->object.id == o->id &&
		    e->object.dev == o->dev && e->object.type == o->type &&
		    !strcmp(e->comm, comm) && !strcmp(e->object.name, o->name))
			return e;
	}
	e = hash_new(&r->sums, hash, sizeof(*e));
	e->host = host;
	snprintf(e->comm, sizeof(e->comm), "%s", comm);
	e->object = *o;
	e->object.name = xstrdup(o->name);
	return e;
}

static void add_queued(struct read_sum *e, const struct queued *q)
{
	times_add(&e->disk, q->bytes);
	if (q->ahead)
		e->ahead += q->bytes;
}

static struct thread_reads *update_reader(struct reads *r,
					  const struct thread *caller)
{
	struct thread_reads *p = find_reader(r, caller->host, caller->pid);

	memcpy(p->comm, caller->comm, sizeof(p->comm));
	return p;
}

static void add_asked(struct reads *r, const struct thread *caller,
		      const struct object *object, u64 asked)
{
	if (asked)
		times_add(&find_read_sum(r, caller->host, caller->comm, object)
				   ->asked,
			  asked);
}

/**
 * reads_call - add a call or a fault that has ended
 * @r:		reads
 * @caller:	thread; its calls are not used
 * @object:	object of the call
 * @asked:	bytes requested and got; 0: it does not read
 * @start:	begin, ns of CLOCK_MONOTONIC
 *
 * What was queued before its begin stays: it is for the call that a fault was in, or
 * for a request.
 */
void reads_call(struct reads *r, const struct thread *caller,
		const struct object *object, u64 asked, u64 start)
{
	struct thread_reads *p = update_reader(r, caller);
	u64 first = p->nr, i;

	while (first && p->queued[first - 1].time >= start)
		first--;
	for (i = first; i < p->nr; i++) {
		if (p->queued[i].dev == p->queued[first].dev)
			add_queued(find_read_sum(r, caller->host, caller->comm,
						 object),
				   &p->queued[i]);
	}
	p->nr = first;
	p->calls++;
	add_asked(r, caller, object, asked);
}

/**
 * reads_request - add a request to io_uring or aio that has ended
 * @r:		reads
 * @caller:	thread that submitted it; its calls are not used
 * @object:	object of the request
 * @asked:	bytes requested and got; 0: it does not read
 * @start:	when it was submitted, ns of CLOCK_MONOTONIC
 * @end:	when it was complete
 */
void reads_request(struct reads *r, const struct thread *caller,
		   const struct object *object, u64 asked, u64 start, u64 end)
{
	struct thread_reads *p = update_reader(r, caller);

	add_asked(r, caller, object, asked);
	if (!p->nr || p->queued[p->nr - 1].time < start)
		return;
	GROW(p->submitted, p->requests, p->request_room);
	p->submitted[p->requests++] = (struct submitted){
		.start = start,
		.end = end,
		.read_sum =
			find_read_sum(r, caller->host, caller->comm, object),
	};
}

static int by_start(const void *a, const void *b)
{
	const struct submitted *x = a, *y = b;

	return ORDER(x->start, y->start);
}

/* The request that was submitted last before a time, if it had not ended */
static const struct submitted *request_at(const struct thread_reads *p,
					  u64 time)
{
	u64 after = FIRST(i, 0, p->requests, p->submitted[i].start > time);

	return after && p->submitted[after - 1].end >= time ?
		       &p->submitted[after - 1] :
		       NULL;
}

/* Assign what a thread queued outside of calls */
static void add_unassigned(struct reads *r, struct thread_reads *p)
{
	static char none[1];
	const struct object nothing = { .name = none };
	const struct submitted *last = NULL, *request;
	const struct queued *first = NULL;
	u64 i;

	if (p->requests)
		qsort(p->submitted, p->requests, sizeof(*p->submitted),
		      by_start);
	for (i = 0; i < p->nr; i++) {
		const struct queued *q = &p->queued[i];

		request = request_at(p, q->time);
		if (!first || request != last || first->calls != q->calls)
			first = q;
		last = request;
		if (q->dev == first->dev)
			add_queued(request ? request->read_sum :
					     find_read_sum(r, p->host, p->comm,
							   &nothing),
				   q);
	}
}

/**
 * reads_wasted - bytes that disks read and no program requested
 * @e: sum of what was read
 *
 * Return: bytes, at least.
 */
u64 reads_wasted(const struct read_sum *e)
{
	return e->disk.sum > e->asked.sum ? e->disk.sum - e->asked.sum : 0;
}

static int by_waste(const void *a, const void *b)
{
	const struct read_sum *x = *(struct read_sum *const *)a,
			      *y = *(struct read_sum *const *)b;
	int order = ORDER(reads_wasted(y), reads_wasted(x));

	order = order ?: ORDER(y->disk.sum, x->disk.sum);
	order = order ?: ORDER(y->asked.sum, x->asked.sum);
	order = order ?: ORDER(x->host, y->host);
	order = order ?: strcmp(x->comm, y->comm);
	return order ?: strcmp(x->object.name, y->object.name);
}

/**
 * reads_finish - sum what was read, after all files
 * @r:	reads
 * @nr:	set to the number of sums
 *
 * Return: sums by process and object, most wasted bytes first. The caller frees the
 * array, reads_free() what it points to.
 */
struct read_sum **reads_finish(struct reads *r, u64 *nr)
{
	struct read_sum **list, *e;
	struct thread_reads *p;
	u32 i;

	hash_for_each(&r->readers, i, p)
		add_unassigned(r, p);
	list = xzalloc((r->sums.nr + 1) * sizeof(*list));
	*nr = 0;
	hash_for_each(&r->sums, i, e) {
		times_finish(&e->asked);
		times_finish(&e->disk);
		list[(*nr)++] = e;
	}
	qsort(list, *nr, sizeof(*list), by_waste);
	return list;
}

/**
 * reads_free - free all reads
 * @r:	reads, or NULL
 */
void reads_free(struct reads *r)
{
	struct read_sum *e;
	struct thread_reads *p;
	u32 i;

	if (!r)
		return;
	hash_for_each(&r->readers, i, p) {
		free(p->queued);
		free(p->submitted);
	}
	hash_free(&r->readers);
	hash_for_each(&r->sums, i, e) {
		free(e->asked.time);
		free(e->disk.time);
		free(e->object.name);
	}
	hash_free(&r->sums);
	free(r);
}
