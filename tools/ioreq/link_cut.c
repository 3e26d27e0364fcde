// SPDX-License-Identifier: GPL-2.0
/*
 * Requests: responses that were cut off. The length of a response is unknown, so a
 * connection that is closed after some of it proves nothing. But if a client fails
 * to receive while it waits for nothing else, or closes the connection before it has
 * received what the server has sent, or if the server fails to send, there was more.
 */
#include <errno.h>

#include "link_requests.h"
#include "order.h"

/* Up to this many unread bytes may be a closing message, such as TLS's close_notify */
#define CLOSING_MESSAGE_MAX 64

static struct stream_end *get_end(const struct requests *r, u32 host, u64 id)
{
	struct stream_end *e;

	hash_for_each_possible_entry(&r->ends, hash_pair(host, id), e) {
		if (e->host == host && e->id == id)
			return e;
	}
	return NULL;
}

static bool is_broken(s64 result)
{
	return result == -ECONNRESET || result == -EPIPE ||
	       result == -ETIMEDOUT || result == -ECONNABORTED;
}

/**
 * requests_end_call - add a call that may be among the last ones on a stream
 * @r:	requests
 * @c:	call; one that fails, transfers nothing or closes a descriptor
 */
void requests_end_call(struct requests *r, const struct end_call *c)
{
	struct stream_end *e = get_end(r, c->host, c->id);

	if (!is_broken(c->result) && c->result)
		return;
	if (!e) {
		e = hash_new(&r->ends, hash_pair(c->host, c->id), sizeof(*e));
		e->host = c->host;
		e->id = c->id;
	}
	if (c->what == END_CALL_CLOSE) {
		e->closed = c->start;
	} else if (!c->result) {
		if (c->what == END_CALL_RECEIVE)
			e->ended = c->start + c->duration;
	} else if (!e->error) {
		e->error = -c->result;
		e->sends = c->what == END_CALL_SEND;
		e->start = c->start;
		e->finish = c->start + c->duration;
		e->thread = requests_thread(r, c->host, c->pid);
	}
}

static const struct stream_end *end_of(const struct requests *r,
				       const struct side *side)
{
	return side->nr ? get_end(r, side->host, side->id) : NULL;
}

/* The thread polls, or calls on this socket, until its receive fails */
static bool waits_for_rest(const struct stream_end *e, const struct turn *t)
{
	const struct thread_calls *thread = t->last;
	u64 i = FIRST(j, 0, thread->nr, thread->call[j].finish > t->over);

	if (e->thread != thread)
		return false;
	for (; i < thread->nr && thread->call[i].start < e->start; i++) {
		if (thread->call[i].step != STEP_POLL &&
		    thread->call[i].id != e->id)
			return false;
	}
	return true;
}

static bool fails_to_receive(const struct stream_end *e, const struct turn *t)
{
	return e && t && e->error && !e->sends && e->finish >= t->over &&
	       waits_for_rest(e, t);
}

/* A server that knows that its client has closed may send a farewell nevertheless */
static bool fails_to_send(const struct stream_end *e, const struct turn *t)
{
	return e && t && e->error && e->sends && e->finish >= t->over &&
	       !(e->ended >= t->over && e->ended <= e->start);
}

static bool leaves_unread(const struct stream_end *e, const struct turn *client,
			  const struct turn *server)
{
	return e && client && server && e->closed >= client->over &&
	       server->from == client->from &&
	       server->response_end >
		       client->response_end + CLOSING_MESSAGE_MAX;
}

static const char *reason_of(const struct stream_end *client,
			     const struct stream_end *server)
{
	const struct stream_end *e = client && client->error ? client : server;

	if (e == client && e && e->error == ETIMEDOUT)
		return "cut off in the response: timed out";
	if (e == client && e && e->error)
		return "cut off in the response: connection reset";
	return "cut off in the response: client closed the connection";
}

static void cut(struct turn *t, const struct stream_end *e, const char *reason)
{
	u64 until = e && e->error ? e->finish : 0;

	if (!until && e)
		until = e->closed;
	t->answered = false;
	t->cut_off = reason;
	t->until = until > t->over ? until : t->over;
}

/**
 * turns_cut_off - find out whether the last response of a connection was cut off
 * @r:		requests, in requests_finish()
 * @c:		connection
 * @client:	the client's turns
 * @server:	the server's turns
 */
void turns_cut_off(const struct requests *r, const struct connection *c,
		   const struct turns *client, const struct turns *server)
{
	const struct side *side = &c->side[c->client],
			  *peer = &c->side[!c->client];
	const struct stream_end *e = end_of(r, side), *f = end_of(r, peer);
	struct turn *t = turns_last_answered(client);
	struct turn *s = turns_last_answered(server);
	const char *reason = reason_of(e, f);

	/* It is unknown whether a message without a request is missing */
	if ((t && t->pushed) || (s && s->pushed))
		return;
	if (c->via_pipe || r->m->host[side->host].nr_gaps ||
	    r->m->host[peer->host].nr_gaps)
		return;
	if (!fails_to_receive(e, t) && !fails_to_send(f, s) &&
	    !leaves_unread(e, t, s))
		return;
	if (t && (!s || s->from == t->from || fails_to_receive(e, t)))
		cut(t, e, reason);
	if (s && (!t || s->from == t->from || fails_to_send(f, s)))
		cut(s, f, reason);
}
