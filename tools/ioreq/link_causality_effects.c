// SPDX-License-Identifier: GPL-2.0
/* Causality: the requests and responses that a thread sends because of its inputs. */
#include <stdlib.h>

#include "link_causality.h"

u64 causality_sent_at(const struct causality *l, u32 request)
{
	return causality_request(l, request)->view[ROLE_CLIENT].begin;
}

/* Continuations of a response are requests in progress when its request was sent */
static void add_continuation(struct causality *l, u32 request,
			     const struct candidates *to)
{
	struct candidates *continued = &l->request_state[request].continued;
	int i;

	for (i = 0; i < to->nr && !to->any; i++) {
		if (causality_in_progress(l, to->request[i],
					  causality_sent_at(l, request)))
			candidates_add(continued, to->request[i]);
	}
	/* After the first one, an unknown continuation may be
	 * caused by something else
	 */
	continued->any |= to->any && !continued->nr;
}

static void input_led_to(struct causality *l, const struct input *r, u32 but,
			 const struct candidates *to)
{
	int i;

	for (i = 0; i < r->responses.nr; i++) {
		if (r->responses.request[i] != but)
			add_continuation(l, r->responses.request[i], to);
	}
}

static void inputs_led_to(struct causality *l, const struct worker *w, u32 but,
			  const struct candidates *to)
{
	u64 i;

	for (i = 0; i < w->nr; i++)
		input_led_to(l, &w->input[i], but, to);
}

/* What the connection was made for; it may be used for another request instead */
static struct candidates *connected_for(struct causality *l,
					const struct worker *w, u32 request)
{
	u64 id = causality_request(l, request)->view[ROLE_CLIENT].id;
	u32 socket = causality_find_channel(l, w->host, id, 0);

	return &channel_at(l, socket)->set;
}

/* The request for which a connection was made that is used for one request only */
static u32 made_for(struct causality *l, const struct worker *w, u32 request,
		    u64 time)
{
	u64 id = causality_request(l, request)->view[ROLE_CLIENT].id;
	const struct channel *c =
		channel_at(l, causality_find_channel(l, w->host, id, 0));

	return c->requests == 1 && c->only != NONE &&
			       causality_in_progress(l, c->only, time) ?
		       c->only :
		       NONE;
}

/* The input that a response, or more of it, follows from */
static struct input *input_of(const struct causality *l, struct worker *w,
			      const struct request_io *t, u32 request)
{
	u64 i;

	for (i = 0; i < w->nr; i++) {
		struct input *r = &w->input[i];

		if (r->passed ||
		    (r->what == IO_RECEIVES_REQUEST && r->request != request))
			continue;
		if (t->first || r->what != IO_RECEIVES_RESPONSE ||
		    candidates_has(&l->request_state[r->request].continued,
				   request))
			return r;
	}
	return NULL;
}

static void send_response_in_order(struct causality *l, struct worker *w,
				   const struct request_io *t, u32 request)
{
	struct candidates continued_by = { .request = { request }, .nr = 1 };
	struct input *r = input_of(l, w, t, request);

	l->request_state[request].has_effect = true;
	if (!r)
		return;
	input_consume(l, r, NULL);
	if (t->first)
		input_led_to(l, r, NONE, &continued_by);
}

/* Number of requests in progress that a thread received */
static u64 count_in_progress(const struct causality *l, const struct worker *w,
			     u64 time)
{
	u64 i, nr = 0;

	for (i = 0; i < w->nr_received; i++)
		nr += causality_in_progress(l, w->received[i], time);
	return nr;
}

/*
 * A connection that is free again may be used for another request that waits for one, not
 * for the parent of the response.  None waits if all others have requests in flight.
 */
static bool is_passed_on(const struct causality *l, const struct worker *w,
			 u32 request, u64 time)
{
	u64 id = causality_request(l, request)->view[ROLE_CLIENT].id, i;

	for (i = 0; i < w->nr; i++) {
		const struct input *r = &w->input[i];

		if (r->what == IO_RECEIVES_RESPONSE &&
		    causality_request(l, r->request)->view[ROLE_CLIENT].id ==
			    id)
			return count_in_progress(l, w, time) > w->in_flight;
	}
	return false;
}

static void send_request(struct causality *l, struct worker *w, u32 request,
			 u64 time)
{
	struct candidates *connected = connected_for(l, w, request),
			  continued_by = { 0 };
	struct request_state *s = &l->request_state[request];
	bool no_evidence;

	s->sender = w;
	s->passed_on = w->queues && is_passed_on(l, w, request, time);
	s->causes = worker_request_causes(l, w, time);
	no_evidence = s->passed_on && !w->contradicts;
	s->causes.any |= no_evidence;
	/* It went on for the request whose response it has just sent, and this one waited */
	no_evidence |= w->responded && w->nr == 1;
	if (connected->nr)
		candidates_unite(&s->causes, connected);
	*connected = (struct candidates){ 0 };
	w->effects++;
	if (s->owner == NONE) {
		/* A waiting request may go on because this one makes room for it */
		if (!no_evidence &&
		    (w->policy != POLICY_STRICT || !s->causes.any))
			inputs_led_to(l, w, request, &s->causes);
		return;
	}
	/* A request that waited goes on for another reason, such as a free connection
	 */
	candidates_add(&continued_by, s->owner);
	if (!no_evidence && l->request_state[s->owner].waits_in != w)
		inputs_led_to(l, w, request, &continued_by);
	l->request_state[s->owner].has_effect = true;
	l->request_state[s->owner].waits_in = NULL;
}

static void send_request_in_order(struct causality *l, struct worker *w,
				  u32 request, u64 time)
{
	struct candidates *connected = connected_for(l, w, request),
			  continued_by = { 0 };
	struct input *next = worker_next_input(w);
	struct request_state *s = &l->request_state[request];
	u64 i;

	s->sender = w;
	s->causes = *connected;
	*connected = (struct candidates){ 0 };
	if (s->causes.nr || s->causes.any) {
		for (i = 0; i < w->nr; i++) {
			if (w->input[i].effect == connected)
				w->input[i].effect = &s->causes;
		}
		return;
	}
	if (!next && w->policy == POLICY_REQUESTS_ORDERED) {
		send_request(l, w, request, time);
		return;
	}
	s->causes = worker_request_causes(l, w, time);
	if (!next)
		return;
	input_consume(l, next, &s->causes);
	continued_by.any = s->owner == NONE;
	if (!continued_by.any)
		candidates_add(&continued_by, s->owner);
	input_led_to(l, next, request, &continued_by);
}

static bool has_input(const struct worker *w, enum request_io_kind what,
		      u32 request)
{
	u64 i;

	for (i = 0; i < w->nr; i++) {
		if (w->input[i].what == what && w->input[i].request == request)
			return true;
	}
	return false;
}

static void send_response(struct causality *l, struct worker *w,
			  const struct request_io *t, u32 request, u64 time)
{
	struct candidates continued_by = { .request = { request }, .nr = 1 };
	struct candidates set;

	if (t->first) {
		/* A response without any downstream request is
		 * caused by its own request
		 */
		if (!has_input(w, IO_RECEIVES_REQUEST, request)) {
			inputs_led_to(l, w, NONE, &continued_by);
			w->responded = true;
		}
		l->request_state[request].has_effect = true;
		w->effects++;
		return;
	}
	/* The rest of a response may follow just from room in the socket's buffer */
	set = worker_response_causes(l, w, time);
	w->effects += candidates_has(&set, request);
}

/* Of unanswered requests only the last one counts: nothing else shows their end */
static void note_received(struct causality *l, struct worker *w, u32 request,
			  u64 time)
{
	u64 i, n = 0;

	for (i = 0; i < w->nr_received; i++) {
		u32 own = w->received[i];

		if (own != request && causality_request(l, own)->answered &&
		    causality_in_progress(l, own, time))
			w->received[n++] = own;
	}
	GROW(w->received, n, w->received_room);
	w->received[n++] = request;
	w->nr_received = n;
}

static bool has_received(const struct worker *w, u32 request)
{
	u64 i;

	for (i = 0; i < w->nr_received; i++) {
		if (w->received[i] == request)
			return true;
	}
	return false;
}

static void handle_request_io(struct causality *l, struct worker *w,
			      const struct event *h)
{
	const struct request_io *t = h->request_io;
	u32 request = causality_number(l, t->request);
	struct input input = { .what = t->what,
			       .request = request,
			       .whole = t->last };

	if (t->what == IO_RECEIVES_RESPONSE)
		candidates_add(&input.responses, request);
	w->just = t->what == IO_RECEIVES_REQUEST;
	if (t->what == IO_RECEIVES_REQUEST) {
		note_received(l, w, request, h->time);
		w->mixed |= w->fresh != NONE && w->fresh != request;
		w->fresh = request;
	} else if (t->what != IO_RECEIVES_RESPONSE) {
		w->fresh = NONE;
	}
	if (t->what == IO_SENDS_RESPONSE && has_received(w, request))
		w->answered = request;
	if (t->what == IO_RECEIVES_RESPONSE && t->last && w->in_flight)
		w->in_flight--;
	if (t->what == IO_SENDS_REQUEST && t->first) {
		w->in_flight++;
		l->request_state[request].made_for =
			made_for(l, w, request, h->time);
	}
	if (t->what == IO_SENDS_REQUEST && t->first)
		(worker_sends_in_order(w) ?
			 send_request_in_order :
			 send_request)(l, w, request, h->time);
	else if (t->what == IO_SENDS_RESPONSE && worker_responds_in_order(w))
		send_response_in_order(l, w, t, request);
	else if (t->what == IO_SENDS_RESPONSE)
		send_response(l, w, t, request, h->time);
	else if (t->what != IO_SENDS_REQUEST &&
		 (w->policy != POLICY_COMPLETE || t->last))
		worker_add_input(l, w, &input);
}

static void handle_connect(struct causality *l, struct worker *w,
			   const struct event *h)
{
	struct input *next = worker_sends_in_order(w) ? worker_next_input(w) :
							NULL;
	struct candidates *set = &channel_at(l, h->channel)->set;

	*set = worker_request_causes(l, w, h->time);
	channel_at(l, h->channel)->only =
		w->just && !w->mixed && !w->nr_waiting ? w->fresh : NONE;
	w->fresh = NONE;
	w->effects++;
	if (next)
		input_consume(l, next, set);
}

void causality_handle_event(struct causality *l, const struct event *h)
{
	struct worker *w = worker_find(l, h->host, h->pid);

	if (h->kind != EVENT_WAKEUP) {
		w->woken = 0;
		w->answered = NONE;
	}
	switch (h->kind) {
	case EVENT_REQUEST_IO:
		w->async |= h->request_io->async;
		handle_request_io(l, w, h);
		break;
	case EVENT_POLL:
		w->fresh = NONE;
		w->mixed = false;
		w->polls = true;
		w->free = h->time;
		worker_drop_inputs(l, w);
		break;
	case EVENT_CONNECT:
		handle_connect(l, w, h);
		break;
	case EVENT_CHANNEL_WRITE:
		worker_writes_channel(l, w, h);
		break;
	case EVENT_CHANNEL_READ:
		worker_reads_channel(l, w, h);
		break;
	case EVENT_PIPE_WRITE:
		worker_writes_pipe(l, w, h->pipe_range);
		break;
	case EVENT_PIPE_PASS:
	case EVENT_PIPE_READ:
		worker_reads_pipe(l, w, h->pipe_range);
		break;
	case EVENT_WAKEUP:
		worker_wakes(l, w, h);
		break;
	}
	if (h->kind != EVENT_REQUEST_IO && h->kind != EVENT_WAKEUP)
		w->just = false;
	if (l->last_pass)
		worker_keep_span(l, w, h);
}
