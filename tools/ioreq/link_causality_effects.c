// SPDX-License-Identifier: GPL-2.0
/* Causality: the requests and responses that a thread sends because of its inputs. */
#include <stdlib.h>

#include "link_causality.h"

u64 causality_sent_at(const struct causality *c, u32 request)
{
	return causality_request(c, request)->view[ROLE_CLIENT].begin;
}

/* Continuations of a response are requests in progress when its request was sent */
static void add_continuation(struct causality *c, u32 request,
			     const struct candidates *to)
{
	struct candidates *continued = &c->request_state[request].continued;
	int i;

	for (i = 0; i < to->nr && !to->any; i++) {
		if (causality_in_progress(c, to->request[i],
					  causality_sent_at(c, request)))
			candidates_add(continued, to->request[i]);
	}
	/* After the first one, an unknown continuation may be
	 * caused by something else
	 */
	continued->any |= to->any && !continued->nr;
}

static void input_led_to(struct causality *c, const struct input *r, u32 but,
			 const struct candidates *to)
{
	int i;

	for (i = 0; i < r->responses.nr; i++) {
		if (r->responses.request[i] != but)
			add_continuation(c, r->responses.request[i], to);
	}
}

static void inputs_led_to(struct causality *c, const struct worker *w, u32 but,
			  const struct candidates *to)
{
	u64 i;

	for (i = 0; i < w->nr; i++)
		input_led_to(c, &w->input[i], but, to);
}

/* What the connection was made for; it may be used for another request instead */
static struct candidates *connected_for(struct causality *c,
					const struct worker *w, u32 request)
{
	u64 id = causality_request(c, request)->view[ROLE_CLIENT].id;
	u32 socket = causality_find_channel(c, w->host, id, 0);

	return &channel_at(c, socket)->set;
}

/* The request for which a connection was made that is used for one request only */
static u32 made_for(struct causality *c, const struct worker *w, u32 request,
		    u64 time)
{
	u64 id = causality_request(c, request)->view[ROLE_CLIENT].id;
	const struct channel *ch =
		channel_at(c, causality_find_channel(c, w->host, id, 0));

	return ch->requests == 1 && ch->only != NONE &&
			       causality_in_progress(c, ch->only, time) ?
		       ch->only :
		       NONE;
}

/* The input that a response, or more of it, follows from */
static struct input *input_of(const struct causality *c, struct worker *w,
			      const struct request_io *t, u32 request)
{
	u64 i;

	for (i = 0; i < w->nr; i++) {
		struct input *r = &w->input[i];

		if (r->passed ||
		    (r->what == IO_RECEIVES_REQUEST && r->request != request))
			continue;
		if (t->first || r->what != IO_RECEIVES_RESPONSE ||
		    candidates_has(&c->request_state[r->request].continued,
				   request))
			return r;
	}
	return NULL;
}

static void send_response_in_order(struct causality *c, struct worker *w,
				   const struct request_io *t, u32 request)
{
	struct candidates continued_by = { .request = { request }, .nr = 1 };
	struct input *r = input_of(c, w, t, request);

	c->request_state[request].has_effect = true;
	if (!r)
		return;
	input_consume(c, r, NULL);
	if (t->first)
		input_led_to(c, r, NONE, &continued_by);
}

/* Number of requests in progress that a thread received */
static u64 count_in_progress(const struct causality *c, const struct worker *w,
			     u64 time)
{
	u64 i, nr = 0;

	for (i = 0; i < w->nr_received; i++)
		nr += causality_in_progress(c, w->received[i], time);
	return nr;
}

/*
 * A connection that is free again may be used for another request that waits for one, not
 * for the parent of the response.  None waits if all others have requests in flight.
 */
static bool is_passed_on(const struct causality *c, const struct worker *w,
			 u32 request, u64 time)
{
	u64 id = causality_request(c, request)->view[ROLE_CLIENT].id, i;

	for (i = 0; i < w->nr; i++) {
		const struct input *r = &w->input[i];

		if (r->what == IO_RECEIVES_RESPONSE &&
		    causality_request(c, r->request)->view[ROLE_CLIENT].id ==
			    id)
			return count_in_progress(c, w, time) > w->in_flight;
	}
	return false;
}

static void send_request(struct causality *c, struct worker *w, u32 request,
			 u64 time)
{
	struct candidates *connected = connected_for(c, w, request),
			  continued_by = { 0 };
	struct request_state *s = &c->request_state[request];
	bool no_evidence;

	s->sender = w;
	s->passed_on = w->queues && is_passed_on(c, w, request, time);
	s->causes = worker_request_causes(c, w, time);
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
			inputs_led_to(c, w, request, &s->causes);
		return;
	}
	/* A request that waited goes on for another reason, such as a free connection
	 */
	candidates_add(&continued_by, s->owner);
	if (!no_evidence && c->request_state[s->owner].waits_in != w)
		inputs_led_to(c, w, request, &continued_by);
	c->request_state[s->owner].has_effect = true;
	c->request_state[s->owner].waits_in = NULL;
}

static void send_request_in_order(struct causality *c, struct worker *w,
				  u32 request, u64 time)
{
	struct candidates *connected = connected_for(c, w, request),
			  continued_by = { 0 };
	struct input *next = worker_next_input(w);
	struct request_state *s = &c->request_state[request];
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
		send_request(c, w, request, time);
		return;
	}
	s->causes = worker_request_causes(c, w, time);
	if (!next)
		return;
	input_consume(c, next, &s->causes);
	continued_by.any = s->owner == NONE;
	if (!continued_by.any)
		candidates_add(&continued_by, s->owner);
	input_led_to(c, next, request, &continued_by);
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

static void send_response(struct causality *c, struct worker *w,
			  const struct request_io *t, u32 request, u64 time)
{
	struct candidates continued_by = { .request = { request }, .nr = 1 };
	struct candidates set;

	if (t->first) {
		/* A response without any downstream request is
		 * caused by its own request
		 */
		if (!has_input(w, IO_RECEIVES_REQUEST, request)) {
			inputs_led_to(c, w, NONE, &continued_by);
			w->responded = true;
		}
		c->request_state[request].has_effect = true;
		w->effects++;
		return;
	}
	/* The rest of a response may follow just from room in the socket's buffer */
	set = worker_response_causes(c, w, time);
	w->effects += candidates_has(&set, request);
}

/* Of unanswered requests only the last one counts: nothing else shows their end */
static void note_received(struct causality *c, struct worker *w, u32 request,
			  u64 time)
{
	u64 i, n = 0;

	for (i = 0; i < w->nr_received; i++) {
		u32 own = w->received[i];

		if (own != request && causality_request(c, own)->answered &&
		    causality_in_progress(c, own, time))
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

static void handle_request_io(struct causality *c, struct worker *w,
			      const struct event *h)
{
	const struct request_io *t = h->request_io;
	u32 request = causality_number(c, t->request);
	struct input input = { .what = t->what,
			       .request = request,
			       .whole = t->last };

	if (t->what == IO_RECEIVES_RESPONSE)
		candidates_add(&input.responses, request);
	w->just = t->what == IO_RECEIVES_REQUEST;
	if (t->what == IO_RECEIVES_REQUEST) {
		note_received(c, w, request, h->time);
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
		c->request_state[request].made_for =
			made_for(c, w, request, h->time);
	}
	if (t->what == IO_SENDS_REQUEST && t->first)
		(worker_sends_in_order(w) ?
			 send_request_in_order :
			 send_request)(c, w, request, h->time);
	else if (t->what == IO_SENDS_RESPONSE && worker_responds_in_order(w))
		send_response_in_order(c, w, t, request);
	else if (t->what == IO_SENDS_RESPONSE)
		send_response(c, w, t, request, h->time);
	else if (t->what != IO_SENDS_REQUEST &&
		 (w->policy != POLICY_COMPLETE || t->last))
		worker_add_input(c, w, &input);
}

static void handle_connect(struct causality *c, struct worker *w,
			   const struct event *h)
{
	struct input *next = worker_sends_in_order(w) ? worker_next_input(w) :
							NULL;
	struct candidates *set = &channel_at(c, h->channel)->set;

	*set = worker_request_causes(c, w, h->time);
	channel_at(c, h->channel)->only =
		w->just && !w->mixed && !w->nr_waiting ? w->fresh : NONE;
	w->fresh = NONE;
	w->effects++;
	if (next)
		input_consume(c, next, set);
}

void causality_handle_event(struct causality *c, const struct event *h)
{
	struct worker *w = worker_find(c, h->host, h->pid);

	if (h->kind != EVENT_WAKEUP) {
		w->woken = 0;
		w->answered = NONE;
	}
	switch (h->kind) {
	case EVENT_REQUEST_IO:
		w->async |= h->request_io->async;
		handle_request_io(c, w, h);
		break;
	case EVENT_POLL:
		w->fresh = NONE;
		w->mixed = false;
		w->polls = true;
		w->free = h->time;
		worker_drop_inputs(c, w);
		break;
	case EVENT_CONNECT:
		handle_connect(c, w, h);
		break;
	case EVENT_CHANNEL_WRITE:
		worker_writes_channel(c, w, h);
		break;
	case EVENT_CHANNEL_READ:
		worker_reads_channel(c, w, h);
		break;
	case EVENT_PIPE_WRITE:
		worker_writes_pipe(c, w, h->pipe_range);
		break;
	case EVENT_PIPE_PASS:
	case EVENT_PIPE_READ:
		worker_reads_pipe(c, w, h->pipe_range);
		break;
	case EVENT_WAKEUP:
		worker_wakes(c, w, h);
		break;
	}
	if (h->kind != EVENT_REQUEST_IO && h->kind != EVENT_WAKEUP)
		w->just = false;
	if (c->last_pass)
		worker_keep_span(c, w, h);
}
