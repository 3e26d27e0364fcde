// SPDX-License-Identifier: GPL-2.0
/* Causality: sets of candidates, and the inputs of a thread that it has not acted on yet. */
#include <stdlib.h>

#include "link_causality.h"

/* Maximum number of pending inputs between two polls */
#define INPUTS_MAX 4096

void candidates_add(struct candidates *set, u32 request)
{
	int i;

	for (i = 0; i < set->nr; i++) {
		if (set->request[i] == request)
			return;
	}
	if (set->nr == SET_MAX)
		set->any = true;
	else
		set->request[set->nr++] = request;
}

void candidates_unite(struct candidates *set, const struct candidates *with)
{
	int i;

	for (i = 0; i < with->nr; i++)
		candidates_add(set, with->request[i]);
	set->any |= with->any;
}

bool candidates_has(const struct candidates *set, u32 request)
{
	int i;

	for (i = 0; i < set->nr; i++) {
		if (set->request[i] == request)
			return true;
	}
	return false;
}

bool candidates_known(const struct candidates *set)
{
	return set->nr && !set->any;
}

/* Unclear requests are numbered after the others */
u32 causality_number(const struct causality *c, u32 request)
{
	return request & UNCLEAR ? c->listed + (request & ~UNCLEAR) : request;
}

struct request *causality_request(const struct causality *c, u32 number)
{
	return number < c->listed ? &c->list[number] :
				    &c->unclear[number - c->listed];
}

/* A server handles it; an unanswered request may be in progress until the end */
bool causality_in_progress(const struct causality *c, u32 request, u64 time)
{
	const struct request *r = causality_request(c, request);
	const struct view *p = &r->view[ROLE_SERVER];

	return p->begin <= time && (!r->answered || p->over > time);
}

struct worker *worker_find(struct causality *c, u32 host, s32 pid)
{
	u64 hash = hash_pair(host, pid);
	struct worker *w;

	hash_for_each_possible_entry(&c->workers, hash, w) {
		if (w->host == host && w->pid == pid)
			return w;
	}
	w = hash_new(&c->workers, hash, sizeof(*w));
	w->host = host;
	w->pid = pid;
	w->answered = NONE;
	w->fresh = NONE;
	return w;
}

bool policy_is_ordered(enum policy policy)
{
	return policy == POLICY_ORDERED || policy == POLICY_REQUESTS_ORDERED ||
	       policy == POLICY_COMPLETE;
}

bool worker_sends_in_order(const struct worker *w)
{
	return policy_is_ordered(w->policy);
}

bool worker_responds_in_order(const struct worker *w)
{
	return worker_sends_in_order(w) && w->policy != POLICY_REQUESTS_ORDERED;
}

/* Add the requests that a thread may act for after it has read an input */
static void unite_input(const struct causality *c, struct candidates *set,
			const struct input *input, u64 time)
{
	const struct request_state *s = &c->request_state[input->request];
	struct candidates from = { 0 };
	int i;

	if (input->what == IO_RECEIVES_REQUEST)
		candidates_add(&from, input->request);
	else if (input->what == INPUT_HANDED_OVER)
		from = input->set;
	else if (s->owner != NONE)
		candidates_add(&from, s->owner);
	else if (candidates_known(&s->causes))
		from = s->causes;
	else
		from.any = true;
	for (i = 0; i < from.nr; i++) {
		if (causality_in_progress(c, from.request[i], time))
			candidates_add(set, from.request[i]);
	}
	set->any |= from.any;
}

struct candidates worker_response_causes(const struct causality *c,
					 const struct worker *w, u64 time)
{
	struct candidates set = { 0 };
	u64 i;

	for (i = 0; i < w->nr; i++) {
		if (!w->input[i].passed)
			unite_input(c, &set, &w->input[i], time);
	}
	return set;
}

/* The input that a thread that acts in order acts on next, or NULL: the first one */
struct input *worker_next_input(struct worker *w)
{
	struct input *result = NULL;
	u64 i;

	for (i = 0; i < w->nr; i++) {
		struct input *r = &w->input[i];

		if (r->passed)
			continue;
		if (r->what != IO_RECEIVES_RESPONSE ||
		    w->policy == POLICY_COMPLETE)
			return r;
		/* The first part of a response may have no effect */
		if (!result && r->whole && w->policy == POLICY_ORDERED)
			result = r;
	}
	return result;
}

/* Candidates for a request that is sent now, with requests that wait for something unknown */
struct candidates worker_request_causes(const struct causality *c,
					struct worker *w, u64 time)
{
	struct input *next = worker_sends_in_order(w) ? worker_next_input(w) :
							NULL;
	struct candidates set = { 0 };
	u64 i, n = 0;

	if (next) {
		unite_input(c, &set, next, time);
		return set;
	}
	set = worker_response_causes(c, w, time);

	for (i = 0; i < w->nr_waiting; i++) {
		if (c->request_state[w->waiting[i]].has_effect ||
		    !causality_in_progress(c, w->waiting[i], time))
			continue;
		w->waiting[n++] = w->waiting[i];
		candidates_add(&set, w->waiting[i]);
	}
	w->nr_waiting = n;
	return set;
}

/* The thread has acted on an input, in order */
void input_consume(struct causality *c, struct input *r,
		   struct candidates *effect)
{
	r->passed = true;
	r->effect = effect;
	if (r->what == IO_RECEIVES_REQUEST)
		c->request_state[r->request].has_effect = true;
}

/* If not every request had an effect, it is unknown which ones had */
static void check_requests(const struct worker *w)
{
	u64 i, nr = 0, has_effect = 0;
	struct candidates all = { 0 };

	for (i = 0; i < w->nr; i++) {
		const struct input *r = &w->input[i];

		if (r->what == IO_RECEIVES_RESPONSE)
			continue;
		nr++;
		has_effect += r->effect != NULL;
		if (r->what == IO_RECEIVES_REQUEST)
			candidates_add(&all, r->request);
		else
			candidates_unite(&all, &r->set);
	}
	for (i = 0; i < w->nr && has_effect < nr; i++) {
		if (w->input[i].effect)
			candidates_unite(w->input[i].effect, &all);
	}
}

/* If a response had no effect, the continuations of all are unknown, too */
static void check_responses(const struct causality *c, const struct worker *w)
{
	bool all = true;
	u64 i;

	for (i = 0; i < w->nr; i++)
		all &= w->input[i].what != IO_RECEIVES_RESPONSE ||
		       w->input[i].passed;
	for (i = 0; i < w->nr && !all; i++) {
		if (w->input[i].what == IO_RECEIVES_RESPONSE)
			c->request_state[w->input[i].request].continued.any =
				true;
	}
}

/* The thread polls: its inputs have no further effect, unless something else happens */
void worker_drop_inputs(struct causality *c, struct worker *w)
{
	const struct worker *waiting = w->policy == POLICY_STRICT ? w : NULL;
	bool all = !worker_sends_in_order(w) && w->effects >= w->nr;
	u64 i;

	if (worker_sends_in_order(w))
		check_requests(w);
	if (worker_responds_in_order(w))
		check_responses(c, w);

	for (i = 0; i < w->nr && !all; i++) {
		const struct input *r = &w->input[i];
		u32 owner = c->request_state[r->request].owner;

		if (r->what == IO_RECEIVES_RESPONSE && r->whole && !r->passed &&
		    owner != NONE)
			c->request_state[owner].waits_in = waiting;
		if (r->what != IO_RECEIVES_REQUEST || !r->whole ||
		    c->request_state[r->request].has_effect)
			continue;
		GROW(w->waiting, w->nr_waiting, w->waiting_room);
		w->waiting[w->nr_waiting++] = r->request;
		c->request_state[r->request].waits_in = waiting;
	}
	w->nr = 0;
	w->effects = 0;
	w->responded = false;
}

/* Drop the inputs if the thread has acted on each of them */
void worker_drop_finished(struct causality *c, struct worker *w)
{
	u64 i;

	if (!worker_sends_in_order(w) && w->effects >= w->nr)
		worker_drop_inputs(c, w);
	for (i = 0; i < w->nr && w->input[i].passed; i++)
		;
	/* A thread may never poll in a call that is recorded */
	if (i == w->nr)
		worker_drop_inputs(c, w);
}

void worker_add_input(struct causality *c, struct worker *w,
		      const struct input *input)
{
	u64 i;

	worker_drop_finished(c, w);
	if (w->nr == INPUTS_MAX)
		worker_drop_inputs(c, w);
	for (i = 0; i < w->nr && input->what != INPUT_HANDED_OVER; i++) {
		if (w->input[i].what == input->what &&
		    w->input[i].request == input->request &&
		    !w->input[i].passed) {
			w->input[i].whole |= input->whole;
			return;
		}
	}
	if (w->policy == POLICY_STRICT)
		worker_drop_inputs(c, w);
	GROW(w->input, w->nr, w->room);
	w->input[w->nr++] = *input;
}
