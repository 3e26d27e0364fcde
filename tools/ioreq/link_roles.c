// SPDX-License-Identifier: GPL-2.0
/*
 * Requests: which end of a connection is the server. Calls that connect or accept show
 * it. Of a connection that is older than the recording, the ports and the order of
 * messages may do so.
 */
#include <stdlib.h>
#include <string.h>

#include "link_requests.h"

/* Default of net.ipv4.ip_local_port_range: ports of sockets that connect */
#define EPHEMERAL_FIRST 32768
#define EPHEMERAL_LAST 60999

/* The client is the end with the longer silence before its messages at least SILENCES_MIN
 * times, and SILENCE_FACTOR times as often as the other end
 */
#define SILENCES_MIN 3
#define SILENCE_FACTOR 3

/* How much longer it must be */
#define LONGER 2

/**
 * struct shared_port - an address with port, and its connections
 * @address:	address, or a part of a connection's name
 * @len:	its length
 * @host:	number of the host of a loopback address, or NO_HOST
 * @connections: number of connections
 */
struct shared_port {
	const char *address;
	size_t len;
	u32 host;
	u64 connections;
};

/**
 * struct roles - what the roles are found from
 * @r:		requests
 * @ports:	struct shared_port, by address
 */
struct roles {
	const struct requests *r;
	struct hash ports;
};

static const struct socket *find_socket(const struct requests *r,
					const struct side *side)
{
	u64 hash = hash_pair(side->host, side->id);
	const struct socket *s;

	hash_for_each_possible_entry(&r->sockets, hash, s) {
		if (s->host == side->host && s->id == side->id)
			return side->nr ? s : NULL;
	}
	return NULL;
}

/* Begin of the first call that sent; UINT64_MAX if none did */
static u64 first_sent(const struct side *side)
{
	u64 i, first = UINT64_MAX;

	for (i = 0; i < side->nr; i++) {
		if (side->segment[i].sent && side->segment[i].start < first)
			first = side->segment[i].start;
	}
	return first;
}

/* Servers have names; of a socket pair, without names, the client sends first */
static bool is_local_client(const struct connection *c, u32 side)
{
	const char *name = c->side[side].name, *other = c->side[!side].name;

	if (!name)
		return !is_local_client(c, !side);
	if (other && !*name == !*other)
		return first_sent(&c->side[side]) <=
		       first_sent(&c->side[!side]);
	return !*name;
}

/* The part of a connection's name that is the own address, or the peer's */
static const char *name_part(const struct side *side, bool own, size_t *len)
{
	const char *arrow = strstr(side->name, "->");

	if (!arrow) {
		*len = own ? strlen(side->name) : 0;
		return side->name;
	}
	*len = own ? (size_t)(arrow - side->name) : strlen(arrow + 2);
	return own ? side->name : arrow + 2;
}

static unsigned long port_of(const struct side *side, bool own)
{
	size_t len;
	const char *address = name_part(side, own, &len);

	return address_port(address, len);
}

static struct shared_port *find_port(struct roles *r, const struct side *side,
				     bool own)
{
	struct shared_port key = { .host = NO_HOST }, *p;
	u64 hash = 0;
	size_t i;

	key.address = name_part(side, own, &key.len);
	if (!strncmp(key.address, "127.", 4) ||
	    !strncmp(key.address, "[::1]", 5))
		key.host = side->host;
	for (i = 0; i < key.len; i++)
		hash = hash_more(hash, key.address[i]);
	hash_for_each_possible_entry(&r->ports, hash, p) {
		if (p->host == key.host && p->len == key.len &&
		    !memcmp(p->address, key.address, key.len))
			return p;
	}
	p = hash_new(&r->ports, hash, sizeof(*p));
	*p = key;
	return p;
}

static bool is_listening(const struct requests *r, const struct side *side)
{
	const struct listening *l;
	unsigned long port;

	if (!side->nr)
		return false;
	port = port_of(side, true);
	hash_for_each_possible_entry(&r->listening, hash_pair(side->host, port),
				     l) {
		if (l->host == side->host && l->port == port)
			return true;
	}
	return false;
}

static bool is_ephemeral(unsigned long port)
{
	return port >= EPHEMERAL_FIRST && port <= EPHEMERAL_LAST;
}

/* 1: this end is the client, -1: the other one is, 0: the calls do not show it */
static int seen_role(const struct requests *r, const struct side *side,
		     const struct side *other)
{
	const struct socket *s = find_socket(r, side);
	const struct socket *peer = find_socket(r, other);

	if (s)
		return s->role == ROLE_CLIENT ? 1 : -1;
	if (peer)
		return peer->role == ROLE_SERVER ? 1 : -1;
	return 0;
}

static int role_by_range(const struct side *side)
{
	unsigned long own = port_of(side, true), peer = port_of(side, false);

	if (is_ephemeral(own) && peer < EPHEMERAL_FIRST)
		return 1;
	return is_ephemeral(peer) && own < EPHEMERAL_FIRST ? -1 : 0;
}

/* A client may have used its port again, but has more connections to the server's */
static int role_by_sharing(struct roles *r, const struct side *side)
{
	u64 own = find_port(r, side, true)->connections;
	u64 peer = find_port(r, side, false)->connections;

	if (peer >= 2 * own)
		return 1;
	return own >= 2 * peer ? -1 : 0;
}

/*
 * Clients break the silence: in an exchange, the time before the client sends is often
 * longer than the time before the server does.
 */
static int role_by_silence(struct side *side)
{
	u64 i, before[2] = { 0 }, longer[2] = { 0 };

	side_sort_by_time(side);
	for (i = 1; i < side->nr; i++) {
		const struct segment *s = &side->segment[i], *last = s - 1;
		u64 at = segment_moved_at(s), since = segment_moved_at(last);

		if (s->sent == last->sent)
			continue;
		before[s->sent] = at > since ? at - since : 0;
		if (!before[0] || !before[1])
			continue;
		longer[0] += before[0] > LONGER * before[1];
		longer[1] += before[1] > LONGER * before[0];
		before[0] = before[1] = 0;
	}
	if (longer[1] >= SILENCES_MIN &&
	    longer[1] >= SILENCE_FACTOR * longer[0])
		return 1;
	return longer[0] >= SILENCES_MIN &&
			       longer[0] >= SILENCE_FACTOR * longer[1] ?
		       -1 :
		       0;
}

/* Return: 1 if @side is the client, -1 if the other end is */
static int find_role(struct roles *r, struct connection *c, struct side *side,
		     const struct side *other)
{
	int role = seen_role(r->r, side, other);

	role = role ?: is_listening(r->r, other) - is_listening(r->r, side);
	role = role ?: role_by_range(side);
	role = role ?: role_by_sharing(r, side);
	if (role)
		return role;
	c->guessed = true;
	role = role_by_silence(side);
	if (role)
		return role;
	return port_of(side, true) > port_of(side, false) ? 1 : -1;
}

/**
 * requests_is_client - whether a socket is the client's end of its connection
 * @r:		requests, after requests_finish()
 * @host:	number of the host
 * @id:		cookie of the socket
 * @name:	its addresses: OWN:PORT->PEER:PORT
 *
 * Return: true if it has connected, or sends requests; if this is unknown, if its port seems
 * to be a client's.
 */
bool requests_is_client(const struct requests *r, u32 host, u64 id,
			const char *name)
{
	struct side side = {
		.nr = 1, .host = host, .id = id, .name = (char *)name
	};
	const struct socket *s = find_socket(r, &side);
	int role;

	if (s)
		return s->role == ROLE_CLIENT;
	role = is_listening(r, &side) ? -1 : role_by_range(&side);
	return role ? role > 0 : port_of(&side, true) > port_of(&side, false);
}

static void keep_role(struct requests *r, const struct connection *c, u32 side)
{
	if (c->side[side].nr && !c->via_pipe)
		requests_socket(r, c->side[side].host, c->side[side].id,
				side == c->client ? ROLE_CLIENT : ROLE_SERVER);
}

static void find_client(struct roles *r, struct connection *c)
{
	u32 side = !c->side[0].name;
	int role;

	if (c->host != NO_HOST) {
		role = seen_role(r->r, &c->side[side], &c->side[!side]);
		role = role ?: is_local_client(c, side) ? 1 : -1;
	} else {
		role = find_role(r, c, &c->side[side], &c->side[!side]);
	}
	c->client = role > 0 ? side : !side;
}

/**
 * roles_find - find which end of each connection is the client
 * @r:	requests, in requests_finish()
 */
void roles_find(struct requests *r)
{
	struct roles roles = { .r = r };
	struct connection *c;
	u32 i;

	hash_for_each(&r->connections, i, c) {
		const struct side *side = &c->side[!c->side[0].name];

		if (c->host != NO_HOST)
			continue;
		find_port(&roles, side, true)->connections++;
		find_port(&roles, side, false)->connections++;
	}
	hash_for_each(&r->connections, i, c)
		find_client(&roles, c);
	hash_for_each(&r->connections, i, c) {
		keep_role(r, c, 0);
		keep_role(r, c, 1);
	}
	hash_free(&roles.ports);
}
