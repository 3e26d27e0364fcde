// SPDX-License-Identifier: GPL-2.0
/* Requests: single requests and their sums, from the turns of both ends. */
#include <stdlib.h>
#include <string.h>

#include "link_requests.h"
#include "order.h"

struct flow *requests_flow(struct requests *r, u32 client, u32 server)
{
	u64 hash = hash_pair(client, server);
	struct flow *e;

	hash_for_each_possible_entry(&r->flows, hash, e) {
		if (e->client == requests_endpoint(r, client) &&
		    e->server == requests_endpoint(r, server))
			return e;
	}
	e = hash_new(&r->flows, hash, sizeof(*e));
	e->client = requests_endpoint(r, client);
	e->server = requests_endpoint(r, server);
	return e;
}

/* End of the wait for a missing response: of the thread's last call, or of the trace */
static u64 unanswered_until(const struct requests *r, const struct turn *t,
			    u64 id)
{
	const struct thread_calls *thread = t->first;
	u64 i, until = 0;

	if (t->cut_off)
		return t->until;
	for (i = first_call_after(thread, t->sent); i < thread->nr; i++) {
		const struct timed_call *c = &thread->call[i];

		if (c->id == id && c->start >= t->sent && c->finish > until)
			until = c->finish;
	}
	if (!until && thread->host < r->hosts)
		until = r->end[thread->host];
	return until > t->sent ? until : t->sent;
}

static void add_turn(const struct requests *r, struct flow *e,
		     const struct turn *t, u64 id)
{
	e->sent += t->end - t->from;
	e->pushed += t->pushed;
	if (t->cut_off) {
		e->cut_off++;
		e->received += t->response_end - t->response_from;
	}
	if (!t->answered) {
		e->unanswered++;
		e->unanswered_time += unanswered_until(r, t, id) - t->sent;
		return;
	}
	e->requests++;
	e->received += t->response_end - t->response_from;
}

static struct view view_of(const struct requests *r, const struct turn *t,
			   u64 id)
{
	return (struct view){
		.seen = true,
		.alone = t->thread,
		.host = t->first->host,
		.pid = t->first->pid,
		.last_pid = t->last->pid,
		.id = id,
		.begin = t->begin,
		.over = t->answered ? t->over : 0,
		.sent = t->sent,
		.paused = t->paused,
		.until = t->answered ? 0 : unanswered_until(r, t, id),
	};
}

/* Add the calls of a turn, and mark the first and last of each direction */
static void add_segments_io(struct requests *r, const struct segment *s, u64 nr,
			    enum role role, u32 request)
{
	u64 first[2] = { nr, nr }, last[2] = { 0 }, i;

	for (i = nr; i; i--)
		first[s[i - 1].sent] = i - 1;
	for (i = 0; i < nr; i++)
		last[s[i].sent] = i;
	for (i = 0; i < nr; i++) {
		bool sent = s[i].sent;

		GROW(r->request_io, r->request_ios, r->request_io_room);
		r->request_io[r->request_ios++] = (struct request_io){
			.time = segment_moved_at(&s[i]),
			.host = s[i].thread->host,
			.pid = s[i].thread->pid,
			.request = request,
			.what = role == ROLE_CLIENT ?
					(sent ? IO_SENDS_REQUEST :
						IO_RECEIVES_RESPONSE) :
					(sent ? IO_SENDS_RESPONSE :
						IO_RECEIVES_REQUEST),
			.first = i == first[sent],
			.last = i == last[sent],
			.async = s[i].async,
		};
	}
}

/* @t: one of @turns */
static void add_turn_io(struct requests *r, const struct turns *turns,
			const struct turn *t, const struct side *side,
			enum role role, u32 request)
{
	u64 end = side->nr;

	if (t + 1 < turns->turn + turns->nr)
		end = t[1].segment;
	if (t->pushed)
		end = t->pushed_at;
	add_segments_io(r, &side->segment[t->segment], end - t->segment, role,
			request);
}

/* For a Unix socket the server's name, if that end was recorded */
static const char *name_of(const struct connection *c, u32 side,
			   enum role named)
{
	u32 server = named == ROLE_SERVER ? side : !side;

	if (c->host == NO_HOST)
		return c->side[side].name;
	return c->side[server].name ? c->side[server].name : "";
}

/* A socket on which a server receives requests */
struct server_socket {
	u32 host;
	u64 id;
};

/**
 * requests_serves - whether requests were received on a socket
 * @r:		requests, after requests_finish(), which are kept
 * @host:	number of the host
 * @id:		cookie of the socket
 *
 * Return: true if they were: calls on it are for these requests.
 */
bool requests_serves(const struct requests *r, u32 host, u64 id)
{
	const struct server_socket *s;

	hash_for_each_possible_entry(&r->served, hash_pair(host, id), s) {
		if (s->host == host && s->id == id)
			return true;
	}
	return false;
}

static void keep_served(struct requests *r, const struct view *p)
{
	struct server_socket *s;

	if (!p->seen || requests_serves(r, p->host, p->id))
		return;
	s = hash_new(&r->served, hash_pair(p->host, p->id), sizeof(*s));
	*s = (struct server_socket){ p->host, p->id };
}

/* @t: the turn seen by side @named; @other: seen by the other side, or NULL */
static void keep_request(struct requests *r, const struct flow *e,
			 const struct turn *t, const struct turn *other,
			 const struct connection *c, u32 side, enum role named)
{
	struct request *kept;

	if (!r->keep)
		return;
	GROW(r->list, r->listed, r->list_room);
	kept = &r->list[r->listed++];
	*kept = (struct request){
		.endpoint = { e->client, e->server },
		.name = name_of(c, side, named),
		.local = c->host != NO_HOST,
		.via_pipe = c->via_pipe,
		.named = named,
		.sent = t->end - t->from,
		.received = t->response_end - t->response_from,
		.answered = t->answered,
		.cut_off = t->cut_off,
		.failure = t->cut_off,
	};
	kept->view[named] = view_of(r, t, c->side[side].id);
	if (other)
		kept->view[!named] = view_of(r, other, c->side[!side].id);
	keep_served(r, &kept->view[ROLE_SERVER]);
}

/* The server handles it, though it is unknown which request of its client it is */
static void keep_unclear(struct requests *r, const struct turns *turns,
			 const struct side *side)
{
	u64 i;

	for (i = 0; i < turns->nr && r->keep; i++) {
		if (turns->turn[i].matched)
			continue;
		GROW(r->unclear, r->nr_unclear, r->unclear_room);
		add_turn_io(r, turns, &turns->turn[i], side, ROLE_SERVER,
			    r->nr_unclear | UNCLEAR);
		r->unclear[r->nr_unclear] = (struct request){
			.view[ROLE_SERVER] =
				view_of(r, &turns->turn[i], side->id),
			.answered = turns->turn[i].answered,
			.unclear = true,
		};
		keep_served(r, &r->unclear[r->nr_unclear++].view[ROLE_SERVER]);
	}
}

/*
 * Time from when bytes can be received until the thread receives them, without times in
 * which it waited for input, ns; @receives: begin of the call. What a thread did before
 * its first call is unknown.
 */
static u64 late_time(const struct model *m, const struct thread_calls *t,
		     u64 id, u64 there, u64 receives)
{
	u64 i = first_call_after(t, there), at = there, late = 0;

	if (receives <= there || (!i && (!t->nr || t->call[0].start > there)) ||
	    host_is_lossy(&m->host[t->host], there, receives))
		return 0;
	for (; i < t->nr && t->call[i].start < receives; i++) {
		const struct timed_call *c = &t->call[i];

		if (c->step != STEP_POLL && c->id != id)
			continue;
		if (c->start > at)
			late += c->start - at;
		if (c->finish > at)
			at = c->finish;
	}
	return receives > at ? late + receives - at : late;
}

/**
 * struct way - bytes on their way from one thread to another
 * @sent:	when they were sent, by the common clock, ns
 * @received:	when they had been received, likewise
 * @thread:	the thread that received them
 * @id:		cookie of its socket
 * @begin:	begin of the call, ns of the host
 * @end:	its end
 */
struct way {
	s64 sent;
	s64 received;
	const struct thread_calls *thread;
	u64 id;
	u64 begin;
	u64 end;
};

static u64 way_time(const struct way *w)
{
	return w->received - w->sent;
}

static u64 way_late_time(const struct model *m, const struct way *w)
{
	u64 time = way_time(w);

	return late_time(m, w->thread, w->id, w->end > time ? w->end - time : 0,
			 w->begin);
}

/*
 * Divide the time in the network into the ways of a request and its response. Return: whether
 * that is known: each part is longer than the clocks' error bounds, which do not matter on
 * one host.
 */
static bool find_ways(const struct model *m, const struct turn *client,
		      const struct turn *server, u64 client_id, u64 server_id,
		      struct way *to_server, struct way *to_client)
{
	const struct clocks *c = m->clocks;
	u32 client_host = client->first->host,
	    server_host = server->first->host;
	u64 bound[4], wrong = 0;
	s64 sent_at, received_at, responded_at, over;

	if (clocks_get(c, client_host)->reference !=
		    clocks_get(c, server_host)->reference ||
	    !clocks_common(c, client_host, client->begin, &sent_at,
			   &bound[0]) ||
	    !clocks_common(c, server_host, server->begin, &received_at,
			   &bound[1]) ||
	    !clocks_common(c, server_host, server->over, &responded_at,
			   &bound[2]) ||
	    !clocks_common(c, client_host, client->over, &over, &bound[3]))
		return false;
	if (client_host != server_host)
		wrong = bound[0] + bound[1] > bound[2] + bound[3] ?
				bound[0] + bound[1] :
				bound[2] + bound[3];
	*to_server = (struct way){
		.sent = sent_at,
		.received = received_at,
		.thread = server->first,
		.id = server_id,
		.begin = server->since,
		.end = server->begin,
	};
	*to_client = (struct way){
		.sent = responded_at,
		.received = over,
		.thread = client->last,
		.id = client_id,
		.begin = client->last_since,
		.end = client->over,
	};
	return received_at - sent_at > (s64)wrong &&
	       over - responded_at > (s64)wrong;
}

static void split_network_time(struct flow *e, const struct model *m,
			       const struct way *to_server,
			       const struct way *to_client)
{
	e->split++;
	e->to_server += way_time(to_server);
	e->to_client += way_time(to_client);
	e->server_late += way_late_time(m, to_server);
	e->client_late += way_late_time(m, to_client);
}

/* Bytes are there when the call that sends them ends, if both sides are on one host */
static void keep_late_time(const struct model *m, struct request *r,
			   const struct turn *client, const struct turn *server,
			   const struct side *client_side)
{
	const struct segment *s = &client_side->segment[client->segment];

	if (client->first->host != server->first->host)
		return;
	r->late[ROLE_SERVER] = late_time(m, server->first,
					 r->view[ROLE_SERVER].id, s->finish,
					 server->since);
	r->late[ROLE_CLIENT] = late_time(m, client->last,
					 r->view[ROLE_CLIENT].id, server->over,
					 client->last_since);
}

/* Both ends saw it alike; @r: the request, or NULL */
static void add_times(struct requests *requests, struct flow *e,
		      const struct turn *client, const struct turn *server,
		      const struct side *client_side,
		      const struct side *server_side, struct request *r)
{
	const struct model *m = requests->m;
	s64 network_time =
		(client->over - client->begin) - (server->over - server->begin);
	bool contradicted = network_time < 0 &&
			    client->first->host != server->first->host;
	struct way to_server, to_client;

	times_add(&e->service_time, server->over - server->begin);
	steps_add(requests, e, server, server_side->id);
	e->network_time += network_time;
	e->contradicted += contradicted;
	if (r) {
		r->contradicted = contradicted;
		keep_late_time(m, r, client, server, client_side);
	}
	if (!find_ways(m, client, server, client_side->id, server_side->id,
		       &to_server, &to_client))
		return;
	split_network_time(e, m, &to_server, &to_client);
	if (r)
		r->to_client = way_time(&to_client);
}

static bool is_lossy(const struct requests *r, const struct connection *c)
{
	return r->m->host[c->side[0].host].nr_gaps ||
	       r->m->host[c->side[1].host].nr_gaps;
}

/* A connection is multiplexed if at least OVERLAPS turns, and one in PER_OVERLAP, overlap */
#define OVERLAPS 5
#define PER_OVERLAP 5

/* Lost records can look like requests that overlap */
static bool is_multiplexed(const struct requests *r, const struct turns *client,
			   const struct turns *server,
			   const struct connection *c, u32 side)
{
	u64 begins, overlaps = turns_overlapping(client, server, &begins);

	if (c->via_pipe || overlaps < OVERLAPS || is_lossy(r, c))
		return false;
	/* Fewer overlap if the client sends a request after each response */
	return overlaps * PER_OVERLAP >= begins ||
	       keeps_outstanding(&c->side[side], true) ||
	       keeps_outstanding(&c->side[!side], false);
}

static bool is_maybe_multiplexed(const struct requests *r,
				 const struct connection *c, u32 side,
				 bool connection_is_client)
{
	const struct side *p = &c->side[side];

	return c->host == NO_HOST && p->nr && !r->m->host[p->host].nr_gaps &&
	       may_be_multiplexed(p, connection_is_client);
}

/* Both ends were recorded */
static void add_both(struct requests *r, const struct turns *client,
		     struct turns *server, const struct connection *c, u32 side)
{
	bool sure = is_multiplexed(r, client, server, c, side);
	bool maybe = !sure && (is_maybe_multiplexed(r, c, side, true) ||
			       is_maybe_multiplexed(r, c, !side, false));
	bool multiplexed = sure || maybe;
	struct flow *e = NULL;
	u32 served_by = 0;
	u64 i, j = 0;

	for (i = 0; i < client->nr; i++) {
		const struct turn *t = &client->turn[i];
		struct turn *s;
		bool same;

		while (j + 1 < server->nr && server->turn[j].end < t->end)
			j++;
		s = &server->turn[j];
		/* As a rule, all turns have the same two endpoints */
		if (!e || t->endpoint != t[-1].endpoint ||
		    s->endpoint != served_by)
			e = requests_flow(r, t->endpoint,
					  requests_server(r, s->endpoint, c,
							  !side));
		served_by = s->endpoint;
		same = !multiplexed && t->answered && s->answered &&
		       turn_is_same(t, s);
		e->multiplexed += sure && !i;
		e->maybe_multiplexed += maybe && !i;
		e->guessed += c->guessed && !i;
		s->matched |= same;
		add_turn(r, e, t, c->side[side].id);
		keep_request(r, e, t, same ? s : NULL, c, side, ROLE_CLIENT);
		if (r->keep)
			add_turn_io(r, client, t, &c->side[side], ROLE_CLIENT,
				    r->listed - 1);
		if (r->keep && same)
			add_turn_io(r, server, s, &c->side[!side], ROLE_SERVER,
				    r->listed - 1);
		if (!t->answered)
			continue;
		/* Of several streams, these are not the times of single requests */
		if (!sure)
			times_add(&e->response_time, t->over - t->begin);
		if (!same) {
			e->unclear++;
			if (r->keep) {
				r->list[r->listed - 1].unclear = true;
				r->list[r->listed - 1].multiplexed =
					multiplexed;
				r->list[r->listed - 1].maybe_multiplexed =
					maybe;
			}
			continue;
		}
		add_times(r, e, t, s, &c->side[side], &c->side[!side],
			  r->keep ? &r->list[r->listed - 1] : NULL);
	}
	keep_unclear(r, server, &c->side[!side]);
}

/* @other: the end that was not recorded */
static struct flow *flow_of_one(struct requests *r, const struct turn *t,
				const struct connection *c, u32 side, u32 other,
				bool connection_is_client)
{
	if (connection_is_client)
		return requests_flow(r, t->endpoint, other);
	return requests_flow(r, other,
			     requests_server(r, t->endpoint, c, side));
}

/* One end was recorded */
static void add_one(struct requests *r, const struct turns *turns,
		    const struct connection *c, u32 side,
		    bool connection_is_client)
{
	/* Nothing is known of the peer of a Unix socket */
	const char *name = c->host == NO_HOST ? c->side[side].name : "";
	u32 other = requests_address(r, name, connection_is_client);
	enum role role = connection_is_client ? ROLE_CLIENT : ROLE_SERVER;
	bool maybe = is_maybe_multiplexed(r, c, side, connection_is_client);
	struct flow *e = NULL;
	u64 i;

	for (i = 0; i < turns->nr; i++) {
		const struct turn *t = &turns->turn[i];

		if (!e || t->endpoint != t[-1].endpoint)
			e = flow_of_one(r, t, c, side, other,
					connection_is_client);
		e->guessed += c->guessed && !i;
		e->maybe_multiplexed += maybe && !i;
		e->unclear += maybe && t->answered;
		add_turn(r, e, t, c->side[side].id);
		if (maybe && !connection_is_client)
			continue;
		keep_request(r, e, t, NULL, c, side, role);
		if (r->keep && maybe) {
			r->list[r->listed - 1].unclear = t->answered;
			r->list[r->listed - 1].multiplexed = true;
			r->list[r->listed - 1].maybe_multiplexed = true;
		}
		if (r->keep)
			add_turn_io(r, turns, t, &c->side[side], role,
				    r->listed - 1);
		if (!t->answered)
			continue;
		times_add(connection_is_client ? &e->response_time :
						 &e->service_time,
			  t->over - t->begin);
		if (!connection_is_client)
			steps_add(r, e, t, c->side[side].id);
	}
	if (maybe && !connection_is_client)
		keep_unclear(r, turns, &c->side[side]);
}

static void add_connection(struct requests *r, struct connection *c)
{
	u32 at = c->client;
	struct turns client = { 0 }, server = { 0 };

	turns_make_client(&client, &c->side[at]);
	turns_make_server(&server, &c->side[!at], &client, &c->side[at]);
	if (!c->via_pipe && !is_lossy(r, c))
		turns_end_before_pushed(&client, &c->side[at], &server,
					&c->side[!at]);
	turns_cut_off(r, c, &client, &server);
	if (!c->via_pipe && !is_lossy(r, c))
		turns_end_with_trace(&client, &c->side[at], &server,
				     &c->side[!at]);
	steps_handle(r, &server);
	c->turns = c->via_pipe && turns_alternate(&client, &server);
	if (c->via_pipe && !c->turns)
		client.nr = server.nr = 0;
	if (client.nr && server.nr)
		add_both(r, &client, &server, c, at);
	else if (client.nr)
		add_one(r, &client, c, at, true);
	else if (server.nr)
		add_one(r, &server, c, !at, false);
	free(client.turn);
	free(server.turn);
}

static u64 total_time(const struct flow *e)
{
	return (e->response_time.nr ? e->response_time.sum :
				      e->service_time.sum) +
	       e->unanswered_time;
}

static int by_response_time(const void *a, const void *b)
{
	const struct flow *x = *(struct flow *const *)a,
			  *y = *(struct flow *const *)b;
	int order = ORDER(total_time(y), total_time(x));

	order = order ?: endpoint_order(x->client, y->client);
	return order ?: endpoint_order(x->server, y->server);
}

/**
 * requests_finish - make requests of the recorded calls
 * @r:		requests
 * @m:		model, after off_cpu_link() and clocks_finish()
 * @nr:		set to the number of flows
 *
 * Return: flows in descending order of response time, valid until requests_free().
 */
struct flow *const *requests_finish(struct requests *r, const struct model *m,
				    u64 *nr)
{
	struct connection *c;
	struct flow *e;
	u32 i;

	r->m = m;
	roles_find(r);
	hash_for_each(&r->connections, i, c)
		requests_learn_listener(r, c);
	hash_for_each(&r->connections, i, c)
		add_connection(r, c);
	steps_finish(r);
	requests_add_failed(r);
	r->flow = xzalloc((r->flows.nr + 1) * sizeof(*r->flow));
	*nr = 0;
	hash_for_each(&r->flows, i, e) {
		times_finish(&e->response_time);
		times_finish(&e->service_time);
		r->flow[(*nr)++] = e;
	}
	qsort(r->flow, *nr, sizeof(*r->flow), by_response_time);
	return r->flow;
}
