// SPDX-License-Identifier: GPL-2.0
/* Causality: work that a thread hands to another one, by pipe, eventfd or wake-up. */
#include <stdlib.h>

#include "link_causality.h"
#include "order.h"

/* Writers of a pipe at the same time; more are in a damaged trace only */
#define WRITERS_MAX 1024

/* Return: requests that the thread received itself and has not answered yet */
static struct candidates own_pending(const struct causality *c,
				     const struct worker *w, u64 time)
{
	struct candidates set = { 0 };
	u64 i;

	for (i = 0; i < w->nr_received; i++) {
		if (causality_in_progress(c, w->received[i], time))
			candidates_add(&set, w->received[i]);
	}
	return set;
}

/* Work that is handed over has no further effect in this thread, as far as known */
static void hand_over(struct causality *c, struct worker *w, u64 time,
		      struct candidates *set)
{
	*set = worker_response_causes(c, w, time);
	set->any |= !set->nr;
	w->free = time;
	w->effects++;
	worker_drop_finished(c, w);
}

/* Before hand_over(), which may drop the inputs */
static void add_responses(const struct worker *w, struct candidates *responses)
{
	u64 i;

	for (i = 0; i < w->nr; i++)
		candidates_unite(responses, &w->input[i].responses);
}

void worker_writes_channel(struct causality *c, struct worker *w,
			   const struct event *h)
{
	struct channel *ch = channel_at(c, h->channel);
	struct pipe_write *p;

	GROW(ch->pipe_write, ch->nr, ch->room);
	p = &ch->pipe_write[ch->nr++];
	*p = (struct pipe_write){ .bytes = h->bytes };
	add_responses(w, &p->responses);
	hand_over(c, w, h->time, &p->set);
}

/* Reading an eventfd returns all that was written, reading a pipe bytes in order */
void worker_reads_channel(struct causality *c, struct worker *w,
			  const struct event *h)
{
	struct input input = { .what = INPUT_HANDED_OVER,
			       .request = 0,
			       .whole = true };
	struct channel *ch = channel_at(c, h->channel);
	u64 left = h->bytes;

	/* It was written before the trace began */
	input.set.any = ch->first == ch->nr;
	while (ch->first < ch->nr && (left || !h->bytes)) {
		struct pipe_write *p = &ch->pipe_write[ch->first];

		candidates_unite(&input.set, &p->set);
		candidates_unite(&input.responses, &p->responses);
		if (p->bytes > left) {
			p->bytes -= left;
			break;
		}
		left -= p->bytes;
		ch->first++;
	}
	if (ch->first == ch->nr)
		ch->first = ch->nr = 0;
	worker_add_input(c, w, &input);
}

static struct channel *pipe_of(struct causality *c, const struct pipe_range *p)
{
	u32 number = causality_find_channel(c, p->host, p->pipe, 3ull << 32);

	return channel_at(c, number);
}

/* Several threads may write at the same time */
static void add_pipe_write(struct channel *ch, const struct pipe_write *p)
{
	u64 i, least = ch->first;

	if (least == ch->nr)
		least = ch->first = ch->nr = 0;
	GROW(ch->pipe_write, ch->nr, ch->room);
	if (ch->nr - least > WRITERS_MAX)
		least = ch->nr - WRITERS_MAX;
	for (i = ch->nr++; i > least && ch->pipe_write[i - 1].from > p->from;
	     i--)
		ch->pipe_write[i] = ch->pipe_write[i - 1];
	ch->pipe_write[i] = *p;
}

void worker_writes_pipe(struct causality *c, struct worker *w,
			const struct pipe_range *pipe_range)
{
	struct pipe_write p = { 0 };
	u32 i;

	add_responses(w, &p.responses);
	hand_over(c, w, pipe_range->time, &p.set);
	for (i = 0; i < pipe_range->ranges; i++) {
		p.from = pipe_range[i].from;
		p.end = pipe_range[i].end;
		p.bytes = p.end - p.from;
		add_pipe_write(pipe_of(c, pipe_range), &p);
	}
}

/* Return: index of the first entry that ends after an offset */
static u64 first_after_offset(const struct channel *ch, u64 offset)
{
	return FIRST(i, ch->first, ch->nr, ch->pipe_write[i].end > offset);
}

/* A read may return part of a write, or several writes */
static void consume_range(struct channel *ch,
			  const struct pipe_range *pipe_range,
			  struct input *input)
{
	u64 at = pipe_range->from, i, end, consumed;

	for (i = first_after_offset(ch, at); i < ch->nr; i++) {
		struct pipe_write *p = &ch->pipe_write[i];

		if (p->from >= pipe_range->end)
			break;
		/* What is before it was lost, or written before the trace began */
		input->set.any |= p->from > at;
		candidates_unite(&input->set, &p->set);
		candidates_unite(&input->responses, &p->responses);
		/* A damaged trace may have two writes at the same offset */
		end = p->end < pipe_range->end ? p->end : pipe_range->end;
		if (end <= at)
			continue;
		consumed = end - (p->from > at ? p->from : at);
		if (!pipe_range->peeked)
			p->bytes -= consumed < p->bytes ? consumed : p->bytes;
		at = end;
	}
	input->set.any |= at < pipe_range->end;
}

void worker_reads_pipe(struct causality *c, struct worker *w,
		       const struct pipe_range *pipe_range)
{
	struct input input = { .what = INPUT_HANDED_OVER,
			       .request = 0,
			       .whole = true };
	struct channel *ch = pipe_of(c, pipe_range);
	u32 i;

	for (i = 0; i < pipe_range->ranges; i++)
		consume_range(ch, &pipe_range[i], &input);
	while (ch->first < ch->nr && !ch->pipe_write[ch->first].bytes)
		ch->first++;
	worker_add_input(c, w, &input);
}

/*
 * A call for a request is followed by work for the same request, until another event;
 * if the thread has other inputs, they may be what it works for.
 */
static u32 current_request(const struct causality *c, struct worker *w,
			   const struct event *h)
{
	const struct request_io *t =
		h->kind == EVENT_REQUEST_IO ? h->request_io : NULL;
	struct candidates set = worker_response_causes(c, w, h->time);
	u32 request = t ? causality_number(c, t->request) : NONE;

	if (t && t->what == IO_SENDS_REQUEST)
		request = c->request_state[request].owner;
	if (t &&
	    (t->what == IO_SENDS_RESPONSE || t->what == IO_SENDS_REQUEST) &&
	    request != NONE &&
	    (w->policy == POLICY_STRICT ||
	     (worker_responds_in_order(w) && !set.nr)))
		return request;
	if (!set.nr)
		return NONE;
	if (!worker_sends_in_order(w))
		set = worker_request_causes(c, w, h->time);
	return candidates_known(&set) && set.nr == 1 ? set.request[0] : NONE;
}

static void add_span(struct worker *w, u64 time, u32 request, bool answered)
{
	const struct work_span *last = w->spans ? &w->span[w->spans - 1] : NULL;

	if (last ? last->request == request && last->answered == answered :
		   request == NONE)
		return;
	GROW(w->span, w->spans, w->span_room);
	w->span[w->spans++] = (struct work_span){
		.time = time,
		.request = request,
		.answered = answered,
	};
}

/* Record what the thread works for from now on */
void worker_keep_span(struct causality *c, struct worker *w,
		      const struct event *h)
{
	u32 request = current_request(c, w, h);
	bool answered = request != NONE && h->kind == EVENT_REQUEST_IO &&
			h->request_io->what == IO_SENDS_RESPONSE &&
			causality_number(c, h->request_io->request) == request;

	add_span(w, h->time, request, answered);
}

static void candidates_intersect(struct candidates *set,
				 const struct candidates *with)
{
	int i, n = 0;

	for (i = 0; i < set->nr; i++) {
		if (candidates_has(with, set->request[i]))
			set->request[n++] = set->request[i];
	}
	set->nr = n;
	set->any = false;
}

/* It has made no call since it was free, so it does not work on anything unknown */
static bool is_idle(const struct causality *c, const struct worker *w, u64 time)
{
	const struct thread *a = log_thread(c->m->log, w->host, w->pid);
	u64 i = a ? log_after(a, time) : 0;

	return !i || a->call[i - 1].start <= w->free;
}

/* Hand work to a thread */
static void add_handed_work(struct causality *c, struct worker *w,
			    struct input *input, u64 time)
{
	int i;

	w->free = 0;
	for (i = 0; i < input->set.nr; i++) {
		const struct request *r =
			causality_request(c, input->set.request[i]);

		if (r->view[ROLE_SERVER].over > w->free)
			w->free = r->view[ROLE_SERVER].over;
	}
	if (!worker_response_causes(c, w, time).nr)
		w->nr = w->effects = 0;
	worker_add_input(c, w, input);
}

/*
 * A thread that has received requests itself is woken for one of these, or for a lock.
 * After its response, or while it works on other handed-over work, it is unknown for
 * which.
 */
static bool wake_thread(struct causality *c, struct worker *w,
			struct worker *wakee, u64 time)
{
	struct input input = { .what = INPUT_HANDED_OVER,
			       .request = 0,
			       .whole = true };
	struct candidates own = own_pending(c, wakee, time);
	struct candidates now = worker_response_causes(c, wakee, time);
	bool idle = !now.nr && is_idle(c, wakee, time);

	input.set = worker_response_causes(c, w, time);
	if (own.nr) {
		candidates_intersect(&input.set, &own);
		idle = input.set.nr;
		if (!idle)
			return false;
	} else if (wakee->answered != NONE) {
		if (c->last_pass)
			add_span(wakee, time, NONE, false);
		return false;
	}
	/*
	 * A thread of a pool may find other work than it was woken for, so this is no evidence
	 * of what went on after a response
	 */
	if (idle) {
		hand_over(c, w, time, &input.set);
		if (own.nr)
			candidates_intersect(&input.set, &own);
	} else {
		candidates_unite(&input.set, &now);
		input.set.any |= !now.nr;
	}
	add_handed_work(c, wakee, &input, time);
	return true;
}

void worker_wakes(struct causality *c, struct worker *w, const struct event *h)
{
	struct worker *wakee = worker_find(c, h->host, h->wakee);

	/* Waking the same thread again, for a lock or a second
	 * attempt, hands nothing over
	 */
	if (!w->nr && w->woken == h->wakee)
		return;
	if (wake_thread(c, w, wakee, h->time)) {
		w->woken = h->wakee;
		if (c->last_pass)
			worker_keep_span(c, wakee, h);
	}
	if (!worker_response_causes(c, w, h->time).nr)
		w->free = h->time;
}
