// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to devices: when they were queued, issued and completed, and which time of the
 * operation that is, if its thread made them or if it is one of them. See explain.h.
 */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "explain_requests.h"
#include "memory.h"
#include "order.h"
#include "store.h"
#include "text.h"

/* Requests that are in progress */
#define LIVE_MAX 4096

/* A device is reported as idle from this part of the time in its queue on: a fourth */
#define IDLE_PART 4

struct blk_requests {
	struct request *request;
	size_t nr, room;
	size_t live[LIVE_MAX], lives;
};

/**
 * blk_requests_new - allocate
 *
 * Return: no requests, for blk_requests_free().
 */
struct blk_requests *blk_requests_new(void)
{
	return xcalloc(1, sizeof(struct blk_requests));
}

static bool is_in(const struct request *r, const u64 *v)
{
	return r->dev == v[0] && r->sector >= v[1] &&
	       r->sector < v[1] + max(v[2], (u64)1);
}

static struct request *add_request(struct blk_requests *q, s32 pid,
				   const u64 *range, const char *comm)
{
	struct request *r;

	if (q->nr == BLK_REQUESTS_MAX)
		return NULL;
	if (q->lives == LIVE_MAX)
		memmove(q->live, q->live + 1, --q->lives * sizeof(*q->live));
	GROW(q->request, q->nr, q->room);
	q->live[q->lives++] = q->nr;
	r = &q->request[q->nr++];
	*r = (struct request){
		.dev = range[0], .sector = range[1], .nr = range[2], .pid = pid
	};
	snprintf(r->comm, sizeof(r->comm), "%.16s", comm);
	return r;
}

/**
 * blk_requests_event - take up an event of a request
 * @q: the requests
 * @event: which one: ROLE_BIO, ROLE_ISSUE or ROLE_COMPLETE
 * @ts: when
 * @pid: in which thread
 * @range: the device, the first sector, and the number of sectors
 * @comm: the program that makes the request; not used for a completion
 */
void blk_requests_event(struct blk_requests *q, enum role event, u64 ts,
			s32 pid, const u64 *range, const char *comm)
{
	bool found = false;
	struct request *r;
	size_t i, kept = 0;

	if (event == ROLE_BIO) {
		r = add_request(q, pid, range, comm);
		if (r)
			r->queued = ts;
		return;
	}
	for (i = 0; i < q->lives; i++) {
		r = &q->request[q->live[i]];
		if (is_in(r, range)) {
			found = true;
			if (event == ROLE_COMPLETE) {
				r->completed = ts;
				continue;
			}
			if (!r->issued)
				r->issued = ts;
		}
		q->live[kept++] = q->live[i];
	}
	q->lives = kept;
	r = found || event == ROLE_COMPLETE ? NULL :
					      add_request(q, pid, range, comm);
	if (r)
		r->issued = ts;
}

static const char *device(u64 dev, char *buf, size_t size)
{
	snprintf(buf, size, "%llu:%llu", (unsigned long long)dev >> 20,
		 (unsigned long long)dev & 0xfffff);
	return buf;
}

/* Issued from @from to @to, or, if that is 0, in the device at @from */
static bool is_other(const struct request *r, const struct request *own,
		     u64 from, u64 to)
{
	if (r == own || r->dev != own->dev || !r->issued)
		return false;
	if (to)
		return r->issued >= from && r->issued <= to;
	return r->issued <= from && (!r->completed || r->completed >= from);
}

static bool is_same_program(const struct request *a, const struct request *b)
{
	int len = group_comm(a->comm);

	return len == group_comm(b->comm) && !strncmp(a->comm, b->comm, len);
}

/* The other requests, and the program that made more than half of them, if one did */
static void who_else(const struct blk_requests *q, const struct request *own,
		     u64 from, u64 to, char *buf, size_t size)
{
	const struct request *who = NULL, *r, *end = q->request + q->nr;
	unsigned long long nr = 0, left = 0, by = 0;

	/* A program with more than half remains if different ones cancel out */
	for (r = q->request; r < end; r++) {
		if (!is_other(r, own, from, to))
			continue;
		nr++;
		if (!left)
			who = r;
		left += is_same_program(r, who) ? 1 : -1;
	}
	for (r = q->request; r < end && left; r++)
		by += is_other(r, own, from, to) && is_same_program(r, who);
	snprintf(buf, size, "%llu other %s %s", nr,
		 nr == 1 ? "request was" : "requests were",
		 to ? "issued meanwhile" : "in the device before it");
	if (2 * by > nr && nr > 1)
		snprintf(buf + strlen(buf), size - strlen(buf),
			 ", %llu of them by %.*s", by, group_comm(who->comm),
			 who->comm);
	else if (nr == 1)
		snprintf(buf + strlen(buf), size - strlen(buf), ", by %.*s",
			 group_comm(who->comm), who->comm);
}

static int by_issue(const void *a, const void *b)
{
	const struct request *const *r = a, *const *s = b;

	return ORDER((*r)->issued, (*s)->issued);
}

/* Time, of that from @from to @to, without a request in the device */
static u64 idle_time(const struct blk_requests *q, const struct request *own,
		     u64 from, u64 to)
{
	const struct request **in = xcalloc(q->nr, sizeof(*in));
	size_t nr = 0, i;
	u64 idle = 0;

	for (i = 0; i < q->nr; i++) {
		const struct request *r = &q->request[i];

		if (r != own && r->dev == own->dev && r->issued &&
		    r->issued < to && (!r->completed || r->completed > from))
			in[nr++] = r;
	}
	qsort(in, nr, sizeof(*in), by_issue);
	for (i = 0; i < nr && from < to; i++) {
		if (in[i]->issued > from)
			idle += in[i]->issued - from;
		from = max(from, in[i]->completed ? in[i]->completed : to);
	}
	free(in);
	return idle + (from < to ? to - from : 0);
}

/* If requests waited although the device had none; not known if some have no room in @q */
static void add_idle(const struct blk_requests *q, const struct request *own,
		     u64 from, u64 to, char *buf, size_t size)
{
	u64 idle = q->nr < BLK_REQUESTS_MAX ? idle_time(q, own, from, to) : 0;
	char time[32];

	if (to > from && idle >= (to - from) / IDLE_PART)
		snprintf(buf + strlen(buf), size - strlen(buf),
			 "; no recorded one was in the device for %s",
			 format_value(time, sizeof(time), idle, true));
}

/**
 * blk_requests_add - add a request's times in its queue and in the device to an execution
 * @q: the requests
 * @e: the execution
 * @r: the request
 * @from: add nothing before this time
 * @to: when the request was completed, or the execution ended
 */
void blk_requests_add(const struct blk_requests *q, struct execution *e,
		      const struct request *r, u64 from, u64 to)
{
	char dev[32], name[96], detail[192];
	u64 issued = max(from, r->issued), queued = max(from, r->queued);
	u64 left = r->issued ? r->issued : to;

	device(r->dev, dev, sizeof(dev));
	if (r->queued && left > from) {
		snprintf(name, sizeof(name), "queue of device %s", dev);
		who_else(q, r, queued, left, detail, sizeof(detail));
		add_idle(q, r, queued, left, detail, sizeof(detail));
		execution_add(e, PART_QUEUE, name, name, detail, queued,
			      min(to, left), 0);
	}
	if (r->issued && issued < to) {
		snprintf(name, sizeof(name), "device %s", dev);
		who_else(q, r, r->issued, 0, detail, sizeof(detail));
		execution_add(e, PART_DEVICE, name, name, detail, issued, to,
			      0);
	}
}

/**
 * blk_requests_awaited - the request that a thread has waited for
 * @q: the requests
 * @pid: the thread
 * @from: when the wait began
 * @to: when it ended
 *
 * Return: the thread's last request, if that ended the wait; otherwise NULL.
 */
const struct request *blk_requests_awaited(const struct blk_requests *q,
					   s32 pid, u64 from, u64 to)
{
	const struct request *last = NULL;
	size_t i;

	for (i = 0; i < q->nr; i++) {
		const struct request *r = &q->request[i];

		if (r->pid == pid && r->issued && r->completed > from &&
		    r->completed <= to &&
		    (!last || r->completed > last->completed))
			last = r;
	}
	return last && to - last->completed <= (to - from) / 10 ? last : NULL;
}

/**
 * blk_requests_outstanding - the request that a thread waits for
 * @q: the requests
 * @pid: the thread
 * @from: when the operation began that it waits in
 *
 * Return: the thread's first request since then that has not ended, or NULL.
 */
const struct request *blk_requests_outstanding(const struct blk_requests *q,
					       s32 pid, u64 from)
{
	size_t i;

	for (i = 0; i < q->nr; i++) {
		const struct request *r = &q->request[i];
		u64 begun = r->queued ? r->queued : r->issued;

		if (r->pid == pid && !r->completed && begun >= from)
			return r;
	}
	return NULL;
}

/* When a request ended; one that has not is as far as an operation that has not */
static u64 end_of(const struct request *r, const struct explain *x)
{
	return r->completed || !x->overdue ? r->completed : x->op.end;
}

/* The request whose end is the nearest to that of the operation; the last one of these */
static const struct request *find_operation(const struct blk_requests *q,
					    const struct explain *x)
{
	const struct request *best = NULL;
	u64 end, off, best_off = 0;
	size_t i;

	for (i = 0; i < q->nr; i++) {
		const struct request *r = &q->request[i];

		end = end_of(r, x);
		if (r->dev != x->dev || r->sector != x->sector || !end ||
		    end < x->op.start)
			continue;
		off = end > x->op.end ? end - x->op.end : x->op.end - end;
		if (!best || off <= best_off) {
			best = r;
			best_off = off;
		}
	}
	return best;
}

/**
 * blk_requests_divide - divide the times of an operation that is a request, and of others
 * @q: the requests
 * @x: the operation; normal ones are added
 */
void blk_requests_divide(const struct blk_requests *q, struct explain *x)
{
	const struct request *op = find_operation(q, x);
	bool from_issue;
	size_t i;

	if (!op || (!op->issued && op->completed))
		return;
	/* The chart may begin with the issue, or, so close to it, the insertion */
	from_issue = op->issued && op->issued <= x->op.start;
	blk_requests_add(q, &x->op, op, x->op.start, x->op.end);
	for (i = 0; i < q->nr && x->nr_normal < NORMAL_MAX; i++) {
		const struct request *r = &q->request[i];
		u64 start = from_issue ? r->issued : r->queued;
		struct execution *e = &x->normal[x->nr_normal];

		if (r == op || r->dev != op->dev || r->nr != op->nr || !start ||
		    !r->issued || !r->completed ||
		    r->completed - start > x->limit)
			continue;
		*e = (struct execution){ .start = start, .end = r->completed };
		blk_requests_add(q, e, r, e->start, e->end);
		x->nr_normal++;
	}
}

/**
 * blk_requests_all - all requests, in the order in which they were seen first
 * @q: the requests
 * @nr: set to their number; BLK_REQUESTS_MAX: later ones are not among them
 */
const struct request *blk_requests_all(const struct blk_requests *q, size_t *nr)
{
	*nr = q->nr;
	return q->request;
}

/**
 * blk_requests_free - free all
 * @q: the requests
 */
void blk_requests_free(struct blk_requests *q)
{
	free(q->request);
	free(q);
}
