// SPDX-License-Identifier: GPL-2.0
/* Requests: where the server of a connection listens. */
#include <stdlib.h>
#include <string.h>

#include "link_requests.h"
#include "text.h"

/**
 * address_port - the number after an address's last colon
 * @address:	address
 * @len:	its length
 */
unsigned long address_port(const char *address, size_t len)
{
	while (len && address[len - 1] != ':')
		len--;
	return strtoul(address + len, NULL, 10);
}

/* Key for all processes of a name that listen on a port, not one process */
#define ENDPOINT_KEY (1ull << 32)

static struct listener *find_listener(struct requests *r, u32 host, u64 key,
				      unsigned long port)
{
	u64 hash = hash_more(hash_pair(host, key), port);
	struct listener *l;

	hash_for_each_possible_entry(&r->listeners, hash, l) {
		if (l->host == host && l->key == key && l->port == port)
			return l;
	}
	l = hash_new(&r->listeners, hash, sizeof(*l));
	l->host = host;
	l->key = key;
	l->port = port;
	return l;
}

static char *own_address(const char *name)
{
	const char *arrow = strstr(name, "->");
	char *own = xstrdup(name);

	own[arrow ? arrow - name : 0] = '\0';
	return own;
}

/* A process that serves a port at two addresses listens at
 * any, like others of its name
 */
void requests_learn_listener(struct requests *r, const struct connection *c)
{
	const struct side *side = &c->side[!c->client];
	struct listener *process, *all;
	unsigned long port;
	char *own;

	if (c->host != NO_HOST || !side->nr)
		return;
	own = own_address(side->name);
	port = address_port(own, strlen(own));
	process = find_listener(r, side->host, (u32)side->tgid, port);
	all = find_listener(r, side->host,
			    ENDPOINT_KEY | side->segment->endpoint, port);
	if (!process->address)
		process->address = own;
	else if (strcmp(process->address, own) != 0)
		all->any = true;
	if (process->address != own)
		free(own);
}

/* Return: number of the endpoint that is the server of a connection */
u32 requests_server(struct requests *r, u32 endpoint,
		    const struct connection *c, u32 side)
{
	const struct endpoint *p = requests_endpoint(r, endpoint);
	const char *name = c->side[side].name;
	const struct listener *all;
	char *own, any[32];
	u32 found;

	if (c->via_pipe)
		return endpoint;
	if (c->host != NO_HOST)
		return requests_find_server(r, p->host, p->name, name);
	own = own_address(name);
	all = find_listener(r, p->host, ENDPOINT_KEY | endpoint,
			    address_port(own, strlen(own)));
	snprintf(any, sizeof(any), "*:%lu", all->port);
	found = requests_find_server(r, p->host, p->name, all->any ? any : own);
	free(own);
	return found;
}

/* A peer that was not recorded, by its address; a server's with its port */
u32 requests_address(struct requests *r, const char *name, bool with_port)
{
	const char *arrow = strstr(name, "->");
	char address[256];
	size_t len;

	text_copy(address, sizeof(address), arrow ? arrow + 2 : "");
	len = strlen(address);
	while (!with_port && len && address[len - 1] != ':')
		len--;
	if (!with_port && len)
		address[len - 1] = '\0';
	return requests_find_endpoint(r, NO_HOST, *address ? address : "-");
}
