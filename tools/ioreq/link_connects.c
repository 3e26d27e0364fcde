// SPDX-License-Identifier: GPL-2.0
/*
 * Requests: connections that failed before they transferred any bytes. Each is an
 * unanswered request of no bytes, in flight from the begin of the first connect to the
 * end of the call that failed.
 *
 * If connect goes on in the background, a program asks for its result by getsockopt,
 * which is no I/O call. A socket that is closed then and never had initial sequence
 * numbers was not connected.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link_requests.h"

/* Errors are from -1 to -4095 */
#define ERROR_LAST 4095

/* Results of the kernel when a signal interrupts a call; it is called again, or not */
#define ERESTART_FIRST 512
#define ERESTART_LAST 516

static struct socket *get_socket(const struct requests *r, u32 host, u64 id)
{
	struct socket *s;

	hash_for_each_possible_entry(&r->sockets, hash_pair(host, id), s) {
		if (s->host == host && s->id == id)
			return s;
	}
	return NULL;
}

/**
 * requests_is_connecting - whether a socket has transferred no bytes since it began to
 *	connect
 * @r:		requests
 * @host:	number of the host
 * @id:		cookie of the socket
 *
 * Return: true if it may still turn out that its connection failed.
 */
bool requests_is_connecting(const struct requests *r, u32 host, u64 id)
{
	const struct socket *s = get_socket(r, host, id);

	return s && s->state != SOCKET_OTHER;
}

static bool is_error(s64 result)
{
	return result < 0 && result >= -ERROR_LAST;
}

static bool goes_on(s64 result)
{
	return result == -EINPROGRESS || result == -EALREADY ||
	       result == -EINTR ||
	       (result >= -ERESTART_LAST && result <= -ERESTART_FIRST);
}

/* Many programs try to connect to Unix sockets that need not exist */
static bool fails_to_connect(const struct socket_call *c)
{
	return is_error(c->result) &&
	       (!c->local || c->result == -ECONNREFUSED ||
		c->result == -EAGAIN || c->result == -ETIMEDOUT);
}

static bool is_broken(s64 result)
{
	return result == -ECONNRESET || result == -EPIPE ||
	       result == -ETIMEDOUT || result == -ECONNREFUSED ||
	       result == -EHOSTUNREACH || result == -ENETUNREACH ||
	       result == -ECONNABORTED;
}

static void fail(struct requests *r, struct socket *s,
		 const struct socket_call *c, s32 error)
{
	struct failed_connect *f;

	GROW(r->failed, r->nr_failed, r->failed_room);
	f = &r->failed[r->nr_failed++];
	*f = (struct failed_connect){
		.thread = requests_thread(r, c->host, c->pid),
		.id = c->id,
		.begin = s->state == SOCKET_OTHER ? c->start : s->since,
		.until = error ? c->start + c->duration : c->start,
		.endpoint = requests_find_endpoint(r, c->host, c->comm),
		.name = xstrdup(c->name),
		.local = c->local,
		.in_connect = c->what == SOCKET_CALL_CONNECT,
		.reason = xstrdup(error ? strerror(error) :
					  "closed while connecting"),
	};
	if (f->until < f->begin)
		f->until = f->begin;
	s->state = SOCKET_OTHER;
}

static void set_state(struct socket *s, const struct socket_call *c,
		      enum socket_state state)
{
	if (s->state == SOCKET_OTHER)
		s->since = c->start;
	s->state = state;
}

static void add_connect(struct requests *r, struct socket *s,
			const struct socket_call *c)
{
	if (!c->result || c->result == -EISCONN || c->has_isn)
		set_state(s, c, SOCKET_CONNECTED);
	else if (goes_on(c->result))
		set_state(s, c, SOCKET_CONNECTING);
	else if (fails_to_connect(c))
		fail(r, s, c, -c->result);
	else
		s->state = SOCKET_OTHER;
}

/**
 * requests_socket_call - add a call on a stream socket, in order of the ends
 * @r:	requests
 * @c:	call; one that connects, or one on a socket that is connecting
 */
void requests_socket_call(struct requests *r, const struct socket_call *c)
{
	struct socket *s = get_socket(r, c->host, c->id);

	if (!s)
		return;
	if (c->what == SOCKET_CALL_CONNECT)
		add_connect(r, s, c);
	else if (c->bytes)
		s->state = SOCKET_OTHER;
	else if (is_broken(c->result))
		fail(r, s, c, -c->result);
	else if (c->has_isn)
		set_state(s, c, SOCKET_CONNECTED);
	else if (c->what == SOCKET_CALL_CLOSE &&
		 s->state == SOCKET_CONNECTING && !c->local)
		fail(r, s, c, 0);
	if (c->what == SOCKET_CALL_CLOSE)
		s->state = SOCKET_OTHER;
}

static void add_failed(struct requests *r, const struct failed_connect *f)
{
	u32 host = f->thread->host;
	u32 server;
	struct flow *e;

	/* Bytes may have been transferred meanwhile */
	if (!f->in_connect &&
	    host_is_lossy(&r->m->host[host], f->begin, f->until))
		return;
	server = f->local && *f->name ?
			 requests_find_endpoint(r, NO_HOST, f->name) :
			 requests_address(r, f->name, true);
	e = requests_flow(r, f->endpoint, server);
	e->unanswered++;
	e->failed_connections++;
	e->unanswered_time += f->until - f->begin;
	if (!r->keep)
		return;
	GROW(r->list, r->listed, r->list_room);
	r->list[r->listed++] = (struct request){
		.endpoint = { e->client, e->server },
		.name = f->name,
		.local = f->local,
		.failure = f->reason,
		.view[ROLE_CLIENT] = {
			.seen = true,
			.alone = true,
			.host = host,
			.pid = f->thread->pid,
			.last_pid = f->thread->pid,
			.id = f->id,
			.begin = f->begin,
			.sent = f->begin,
			.until = f->until,
		},
	};
}

/**
 * requests_add_failed - make requests of the connections that failed
 * @r:	requests, in requests_finish()
 */
void requests_add_failed(struct requests *r)
{
	u64 i;

	for (i = 0; i < r->nr_failed; i++)
		add_failed(r, &r->failed[i]);
}
