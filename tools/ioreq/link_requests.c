// SPDX-License-Identifier: GPL-2.0
/*
 * Requests on connections of TCP, of Unix sockets and of pipes, with response time and
 * service time.
 *
 * A byte has the same offset in its stream at both ends, so a request is identified by
 * the byte ranges of itself and of its response, whatever the clocks show. The calls of
 * one end of a connection, in order, are split into turns: what the client sends, and
 * what the server sends until the client sends again. A turn that has the same byte
 * ranges at both ends is one request. Other requests are unclear: they were sent before
 * the response to the last one, or their response began before all of the request had
 * arrived, or records were lost.
 */
#include <stdlib.h>
#include <string.h>

#include "link_requests.h"
#include "order.h"
#include "text.h"

/**
 * requests_new - create an empty set of requests
 *
 * Return: the requests, to be freed with requests_free().
 */
struct requests *requests_new(void)
{
	return xzalloc(sizeof(struct requests));
}

u32 requests_find_server(struct requests *r, u32 host, const char *name,
			 const char *address)
{
	u64 hash = hash_more(hash_pair(host, hash_string(name)),
			     hash_string(address));
	struct endpoint *p;
	u32 i;

	hash_for_each_possible(&r->endpoints, hash, i) {
		p = hash_entry(&r->endpoints, i);
		if (p->host == host && !strcmp(p->name, name) &&
		    !strcmp(p->address, address))
			return i;
	}
	p = hash_new(&r->endpoints, hash, sizeof(*p));
	p->host = host;
	p->name = xstrdup(name);
	p->address = xstrdup(address);
	return r->endpoints.nr - 1;
}

/**
 * requests_find_endpoint - find or make the endpoint of a name
 * @r:		requests
 * @host:	number of the host
 * @name:	name of a process
 *
 * Return: its number.
 */
u32 requests_find_endpoint(struct requests *r, u32 host, const char *name)
{
	return requests_find_server(r, host, name, "");
}

static u64 hash_connection(u32 host, bool via_pipe, u32 low, u32 high)
{
	return hash_pair((u64)host << 1 | via_pipe, (u64)high << 32 | low);
}

static struct connection *get_connection(const struct requests *r, u32 host,
					 bool via_pipe, u32 low, u32 high)
{
	u64 hash = hash_connection(host, via_pipe, low, high);
	struct connection *c;

	hash_for_each_possible_entry(&r->connections, hash, c) {
		if (c->isn[0] == low && c->isn[1] == high && c->host == host &&
		    c->via_pipe == via_pipe)
			return c;
	}
	return NULL;
}

static struct connection *find_connection(struct requests *r, u32 host,
					  bool via_pipe, u32 low, u32 high)
{
	struct connection *c = get_connection(r, host, via_pipe, low, high);

	if (c)
		return c;
	c = hash_new(&r->connections,
		     hash_connection(host, via_pipe, low, high), sizeof(*c));
	c->host = host;
	c->via_pipe = via_pipe;
	c->isn[0] = low;
	c->isn[1] = high;
	return c;
}

struct thread_calls *requests_thread(struct requests *r, u32 host, s32 pid)
{
	u64 hash = hash_pair(host, pid);
	struct thread_calls *t;

	hash_for_each_possible_entry(&r->threads, hash, t) {
		if (t->host == host && t->pid == pid)
			return t;
	}
	t = hash_new(&r->threads, hash, sizeof(*t));
	t->host = host;
	t->pid = pid;
	return t;
}

/**
 * requests_call - add a call, in order of the ends
 * @r:		requests
 * @host:	number of the host
 * @pid:	thread
 * @id:		cookie of the socket, or 0
 * @step:	kind of call
 * @start:	begin, ns
 * @duration:	duration, ns
 */
void requests_call(struct requests *r, u32 host, s32 pid, u64 id,
		   enum step step, u64 start, u64 duration)
{
	struct thread_calls *t = requests_thread(r, host, pid);

	if (host >= r->hosts) {
		r->end = xreallocarray(r->end, host + 1ull, sizeof(*r->end));
		memset(r->end + r->hosts, 0,
		       (host + 1ull - r->hosts) * sizeof(*r->end));
		r->hosts = host + 1;
	}
	if (start + duration > r->end[host])
		r->end[host] = start + duration;
	GROW(t->call, t->nr, t->room);
	t->call[t->nr++] = (struct timed_call){
		.start = start,
		.finish = start + duration,
		.id = id,
		.step = step,
	};
}

/**
 * requests_add - add bytes of a stream that a call sent or received
 * @r:	requests
 * @msg:	the bytes and the call
 */
void requests_add(struct requests *r, const struct message *msg)
{
	bool upper = msg->isn > msg->peer_isn;
	struct connection *c =
		find_connection(r, msg->local ? msg->host : NO_HOST,
				msg->via_pipe, upper ? msg->peer_isn : msg->isn,
				upper ? msg->isn : msg->peer_isn);
	struct side *side = &c->side[upper];

	GROW(side->segment, side->nr, side->room);
	side->segment[side->nr++] = (struct segment){
		.from = msg->from,
		.end = msg->end,
		.start = msg->start,
		.finish = msg->start + msg->duration,
		.thread = requests_thread(r, msg->host, msg->pid),
		.endpoint = msg->endpoint,
		.sent = msg->sent,
		.async = msg->async,
	};
	if (side->name)
		return;
	side->name = xstrndup(msg->name ?: "", msg->name_len);
	clean_text(side->name);
	side->host = msg->host;
	side->tgid = msg->tgid;
	side->id = msg->id;
}

/**
 * requests_socket - add a socket that has connected or was accepted
 * @r:		requests
 * @host:	number of the host
 * @id:		cookie of the socket
 * @role:	its side of the connection
 */
void requests_socket(struct requests *r, u32 host, u64 id, enum role role)
{
	u64 hash = hash_pair(host, id);
	struct socket *s;

	hash_for_each_possible_entry(&r->sockets, hash, s) {
		if (s->host == host && s->id == id)
			break;
	}
	if (!s)
		s = hash_new(&r->sockets, hash, sizeof(*s));
	s->host = host;
	s->id = id;
	s->role = role;
}

/**
 * requests_listen - add a socket that accepts connections
 * @r:		requests
 * @host:	number of the host
 * @address:	its address
 */
void requests_listen(struct requests *r, u32 host, const char *address)
{
	unsigned long port = address_port(address, strlen(address));
	u64 hash = hash_pair(host, port);
	struct listening *l;

	hash_for_each_possible_entry(&r->listening, hash, l) {
		if (l->host == host && l->port == port)
			return;
	}
	l = hash_new(&r->listening, hash, sizeof(*l));
	l->host = host;
	l->port = port;
}

static int by_offset(const void *a, const void *b)
{
	const struct segment *x = *(const struct segment *const *)a,
			     *y = *(const struct segment *const *)b;

	return ORDER(x->from, y->from) ?: ORDER(x->end, y->end);
}

/**
 * struct segments - sent or received segments of an end, sorted by offset
 * @of:		the segments
 * @nr:		number of these
 * @room:	allocated entries of @of
 */
struct segments {
	const struct segment **of;
	u64 nr;
	u64 room;
};

static void find_segments(struct segments *found, const struct side *side,
			  bool sent)
{
	u64 i;

	found->nr = 0;
	for (i = 0; i < side->nr; i++) {
		if (side->segment[i].sent != sent)
			continue;
		GROW(found->of, found->nr, found->room);
		found->of[found->nr++] = &side->segment[i];
	}
	sort_if_needed(found->of, found->nr, sizeof(*found->of), by_offset);
}

/* If several calls sent what one call received, the last one gives the tightest bound
 */
static void match_segments(struct clocks *c, const struct segments *sent,
			   const struct segments *received)
{
	u64 i = 0, j;

	for (j = 0; j < received->nr; j++) {
		const struct segment *r = received->of[j], *last = NULL;

		while (i < sent->nr && sent->of[i]->end <= r->from)
			i++;
		for (; i < sent->nr && sent->of[i]->from < r->end; i++) {
			if (!last || sent->of[i]->start > last->start)
				last = sent->of[i];
		}
		if (!last)
			continue;
		/* The next call may have received the rest of what this one sent */
		i--;
		clocks_message(c, last->thread->host, last->start,
			       r->thread->host, r->finish);
	}
}

/**
 * requests_messages - give the clocks the times of all messages
 * @r:	requests, before requests_finish()
 * @c:	clocks, before clocks_finish()
 */
void requests_messages(struct requests *r, struct clocks *c)
{
	struct segments sent = { 0 }, received = { 0 };
	struct connection *at;
	u32 i, from;

	hash_for_each(&r->connections, i, at) {
		/* Both ends are on one host */
		if (at->host != NO_HOST)
			continue;
		for (from = 0; from < 2; from++) {
			find_segments(&sent, &at->side[from], true);
			find_segments(&received, &at->side[!from], false);
			match_segments(c, &sent, &received);
		}
	}
	free(sent.of);
	free(received.of);
}

/**
 * requests_keep - keep single requests, for requests_list()
 * @r:	requests, before requests_finish()
 */
void requests_keep(struct requests *r)
{
	r->keep = true;
}

/**
 * requests_list - single requests
 * @r:	requests, after requests_finish()
 * @nr:	set to their number
 *
 * Return: the requests, unsorted and without parents, valid until requests_free().
 */
struct request *requests_list(struct requests *r, u64 *nr)
{
	*nr = r->listed;
	return r->list;
}

/**
 * requests_unclear - requests at servers that the clients did not see alike
 * @r:	requests, after requests_finish()
 * @nr:	set to their number
 *
 * Return: the requests, with only the server's view, valid until requests_free().
 */
struct request *requests_unclear(struct requests *r, u64 *nr)
{
	*nr = r->nr_unclear;
	return r->unclear;
}

/**
 * requests_ios - the calls of single requests
 * @r:	requests, after requests_finish()
 * @nr:	set to their number
 *
 * Return: the calls, unsorted, valid until requests_free().
 */
const struct request_io *requests_ios(const struct requests *r, u64 *nr)
{
	*nr = r->request_ios;
	return r->request_io;
}

/**
 * requests_unanswered_time - how long an unanswered request was in flight
 * @r:	request
 *
 * Return: ns since all of it had been sent; 0 if it has a response.
 */
u64 requests_unanswered_time(const struct request *r)
{
	const struct view *p = &r->view[!r->view[ROLE_CLIENT].seen];

	return r->answered ? 0 : p->until - p->sent;
}

/**
 * requests_via_pipe - whether two processes exchange requests through pipes
 * @r:		requests, after requests_finish()
 * @host:	number of the host
 * @a:		one process
 * @b:		the other process
 */
bool requests_via_pipe(const struct requests *r, u32 host, s32 a, s32 b)
{
	const struct connection *c =
		get_connection(r, host, true, a < b ? a : b, a < b ? b : a);

	return c && c->turns;
}

/**
 * requests_comm - keep the name of a process
 * @r:		requests
 * @host:	number of the host
 * @comm:	name
 *
 * Return: the same name, valid until requests_free().
 */
const char *requests_comm(struct requests *r, u32 host, const char *comm)
{
	u32 number = requests_find_endpoint(r, host, comm);

	return requests_endpoint(r, number)->name;
}

/**
 * requests_free - free all requests
 * @r:	requests
 */
void requests_free(struct requests *r)
{
	struct connection *c;
	struct listener *l;
	struct endpoint *p;
	struct thread_calls *t;
	struct flow *e;
	u32 i, j;

	hash_for_each(&r->connections, i, c) {
		for (j = 0; j < 2; j++) {
			free(c->side[j].segment);
			free(c->side[j].name);
		}
	}
	hash_free(&r->connections);
	hash_for_each(&r->threads, i, t) {
		free(t->call);
		free(t->begin);
		free(t->over);
	}
	hash_free(&r->threads);
	hash_free(&r->sockets);
	hash_free(&r->served);
	hash_free(&r->ends);
	hash_free(&r->listening);
	hash_for_each(&r->listeners, i, l)
		free(l->address);
	hash_free(&r->listeners);
	hash_for_each(&r->flows, i, e) {
		free(e->response_time.time);
		free(e->service_time.time);
	}
	hash_free(&r->flows);
	hash_for_each(&r->endpoints, i, p) {
		free(p->name);
		free(p->address);
	}
	hash_free(&r->endpoints);
	free(r->flow);
	free(r->list);
	free(r->unclear);
	for (i = 0; i < r->nr_failed; i++) {
		free(r->failed[i].name);
		free(r->failed[i].reason);
	}
	free(r->failed);
	free(r->request_io);
	free(r->end);
	free(r);
}
