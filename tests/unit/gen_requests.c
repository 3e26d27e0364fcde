// SPDX-License-Identifier: GPL-2.0
/*
 * gen_requests CLIENTS.dat SERVERS.dat CONNECTIONS SEED
 *
 * Writes made-up traces of two hosts with io_syscall events on TCP connections
 * between them, and io_fault events in between. Prints the truth, a line for each request that was waited for or
 * not answered, as a client sees it, or the server if the client is not recorded:
 *
 *	CLIENT SERVER ANSWERED CLEAR WAIT SERVICE SENT RECEIVED
 *	ARRIVING OWN FILES SYNC SOCKETS PIPES POLL OTHERS REST
 *
 * separated by tabs. CLEAR: both sides saw the same. WAIT and SERVICE are "-" if unknown, the
 * steps of the service also if several threads did it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "iolog.h"
#include "random.h"

/* The servers' clock is ahead, by more than anything takes */
#define AHEAD 7000000000000ull

static const char *const clients[] = { "php", "cron" };
static const char *const servers[] = { "postgres", "redis" };

/* A server's other steps, in their order, without those on its own socket */
static const struct {
	unsigned int op, type;
} works[] = {
	{ OP_READ, 8 }, { OP_FDATASYNC, 8 },  { OP_WRITE, 12 },
	{ OP_READ, 1 }, { OP_EPOLL_WAIT, 0 }, { OP_WRITE, 2 },
};

#define WORKS (sizeof(works) / sizeof(*works))

/* The traffic on a connection */
enum mode {
	CLEAR,
	PIPELINED,
	CLIENT_ONLY,
	SERVER_ONLY,
	GREETING,
	ONE_WAY,
	MODES
};

struct connection {
	enum mode mode;
	unsigned int client, server; /* numbers of the names */
	unsigned int port[2];
	int address; /* of the server: 10.0.0.this */
	bool tells_role;
	bool other_thread; /* of the server */
	uint64_t at;
	uint64_t offset[2]; /* of the next bytes to the server, and from it */
	uint32_t isn[2];
	uint64_t id;
};

static struct io_log all = { .faults = true };

static struct io_event *add_event(const struct connection *c, bool server,
				  unsigned int op, uint64_t start,
				  uint64_t finish)
{
	uint64_t ahead = server ? AHEAD : 0;
	struct io_event *e = io_log_add(
		&all, server,
		/* Others do their calls at the same time */
		server ? (int)(10000 + 2 * c->id + c->other_thread) :
			 2000 + (int)c->client,
		server ? 3000 + (int)c->server : 2000 + (int)c->client, op,
		start + ahead, finish + ahead);

	e->call.type = IO_SOCKET;
	e->call.id = 2 * c->id + server;
	snprintf(e->name, sizeof(e->name), "10.0.0.%d:%u->10.0.0.%d:%u",
		 server ? c->address : 1, c->port[server],
		 server ? 1 : c->address, c->port[!server]);
	if ((server && c->mode == CLIENT_ONLY) ||
	    (!server && c->mode == SERVER_ONLY))
		all.nr--;
	return e;
}

static struct io_event *add_bytes(const struct connection *c, bool server,
				  unsigned int op, uint64_t start,
				  uint64_t finish, uint64_t from, uint64_t len)
{
	struct io_event *e = add_event(c, server, op, start, finish);

	e->call.isn = c->isn[server];
	e->call.peer_isn = c->isn[!server];
	e->call.flags = IO_ISN_KNOWN;
	e->call.bytes = len;
	e->call.from = from;
	e->call.end = from + len;
	return e;
}

static void add_fault(const struct connection *c, uint64_t start,
		      uint64_t finish, bool by_kernel)
{
	struct io_event *e = add_event(c, true, 0, start, finish);

	e->fault = true;
	e->call.type = IO_FILE;
	e->call.id = 4711;
	e->call.flags = 2 | (by_kernel ? 16 : 0);
	snprintf(e->name, sizeof(e->name), "/mapped");
}

/*
 * Bytes to the server or from it, in some calls of each side. Times of the first
 * call's begin and end, and the last one's end, of the sender [0] and receiver [1];
 * total duration of all calls, for the receiver without those up to the first one.
 */
struct transfer {
	uint64_t begin[2], first[2], last[2], took[2];
};

static struct transfer transfer(struct connection *c, bool from_server,
				uint64_t len)
{
	uint64_t from = c->offset[from_server], at, n, start, finish;
	struct transfer t = { 0 };
	int receives;

	for (receives = 0; receives < 2; receives++) {
		bool server = from_server != receives;

		for (at = from; at < from + len; at += n) {
			n = from + len - at;
			if (!below(2))
				n = 1 + below(n);
			start = c->at + 1 + below(1000);
			/* The receiver waits in its call, now and then for long */
			finish = start + 1 + below(20000);
			c->at = finish;
			if (receives && below(2) && at == from)
				start -= below(5000);
			if (receives && !below(8)) {
				add_bytes(c, server, OP_RECVFROM, start, finish,
					  at, n)
					->call.flags |= IO_PEEKED;
				if (at != from)
					t.took[1] += finish - start;
				c->at = start = finish + 1;
				finish = c->at = start + 100;
			}
			add_bytes(c, server,
				  receives ?
					  (below(2) ? OP_READ : OP_RECVFROM) :
					  (below(2) ? OP_WRITE : OP_SENDTO),
				  start, finish, at, n);
			if (at == from) {
				t.begin[receives] = start;
				t.first[receives] = finish;
			}
			if (!receives || at != from)
				t.took[receives] += finish - start;
			t.last[receives] = finish;
		}
	}
	c->offset[from_server] = from + len;
	return t;
}

static void tell(const struct connection *c, bool answered, bool clear,
		 uint64_t wait, uint64_t service, uint64_t sent,
		 uint64_t received, const uint64_t *steps)
{
	unsigned int i;

	if (c->mode == SERVER_ONLY)
		printf("10.0.0.1\t");
	else
		printf("web:%s\t", clients[c->client]);
	if (c->mode == CLIENT_ONLY)
		printf("10.0.0.%d:%u\t", c->address, c->port[1]);
	else
		printf("db:%s %s:%u\t", servers[c->server],
		       c->tells_role ? "*" : "10.0.0.2", c->port[1]);
	printf("%d\t%d\t", answered, clear);
	if (!answered || c->mode == SERVER_ONLY)
		printf("-\t");
	else
		printf("%llu\t", (unsigned long long)wait);
	if (!answered || !clear || c->mode == CLIENT_ONLY)
		printf("-\t");
	else
		printf("%llu\t", (unsigned long long)service);
	printf("%llu\t%llu", (unsigned long long)sent,
	       (unsigned long long)received);
	for (i = 0; i < WORKS + 3; i++) {
		if (steps && c->mode != CLIENT_ONLY)
			printf("\t%llu", (unsigned long long)steps[i]);
		else
			printf("\t-");
	}
	putchar('\n');
}

static void request(struct connection *c)
{
	uint64_t asks = 1 + below(3000), answers = 1 + below(30000);
	uint64_t steps[WORKS + 3] = { 0 }, service;
	struct transfer ask, answer;
	unsigned int i;

	ask = transfer(c, false, asks);
	for (i = below(5); i; i--) {
		unsigned int what = below(WORKS);
		uint64_t start = c->at += below(10000);
		struct io_event *e;

		c->at += below(200000);
		if (c->at > start + 2 && !below(4))
			add_fault(c, start + 1, c->at - 1, true);
		/* A file that is mapped is read without a call */
		if (works[what].op == OP_READ && works[what].type == 8 &&
		    below(2)) {
			add_fault(c, start, c->at, false);
		} else {
			e = add_event(c, true, works[what].op, start, c->at);
			e->call.type = works[what].type;
			e->call.id = 7; /* connections have more */
		}
		steps[2 + what] += c->at - start;
	}
	/* Now and then another thread answers */
	c->other_thread = !below(8);
	answer = transfer(c, true, answers);
	service = answer.last[0] - ask.first[1];
	steps[0] = ask.took[1];
	steps[1] = answer.took[0];
	steps[WORKS + 2] = service;
	for (i = 0; i < WORKS + 2; i++)
		steps[WORKS + 2] -= steps[i];
	tell(c, true, true, answer.last[1] - ask.begin[0], service, asks,
	     answers, c->other_thread ? NULL : steps);
	c->other_thread = false;
}

/* Two at a time; the server serves one after the other */
static void pipelined(struct connection *c)
{
	uint64_t asks[2] = { 1 + below(100), 1 + below(100) },
		 answers[2] = { 1 + below(100), 1 + below(100) };
	uint64_t begin = ++c->at, offset = c->offset[0],
		 answered = c->offset[1];
	int i;

	for (i = 0; i < 2; i++) {
		add_bytes(c, false, OP_WRITE, c->at, c->at + 10, offset,
			  asks[i]);
		offset += asks[i];
		c->at += 20;
	}
	offset = c->offset[0];
	for (i = 0; i < 2; i++) {
		add_bytes(c, true, OP_READ, c->at, c->at + 10, offset, asks[i]);
		offset += asks[i];
		add_bytes(c, true, OP_WRITE, c->at + 20, c->at + 30, answered,
			  answers[i]);
		answered += answers[i];
		c->at += 40;
	}
	add_bytes(c, false, OP_READ, begin + 15, c->at, c->offset[1],
		  answered - c->offset[1]);
	tell(c, true, false, c->at - begin, 0, asks[0] + asks[1],
	     answers[0] + answers[1], NULL);
	c->offset[0] = offset;
	c->offset[1] = answered;
}

static void connection(uint64_t id)
{
	struct connection c = {
		.mode = below(MODES),
		.client = below(2),
		.server = below(2),
		.tells_role = below(2),
		.at = 1000000000000ull + below(1000000000),
		.isn = { rnd(), rnd() },
		.id = id,
	};
	uint64_t requests = 1 + below(6), i, twice = 0;
	struct io_event *e;

	/* Without events of connect() and accept(), the port shows which side is the client */
	c.port[0] = c.tells_role ? 1024 : 40000 + id % 10000;
	c.port[1] = c.tells_role ? 50000 : 5432;
	/* Its processes listen at any address with one port, at one with the other */
	c.address = c.tells_role ? 2 + (int)below(2) : 2;
	if (c.tells_role) {
		add_event(&c, false, OP_CONNECT, c.at, c.at + 100);
		e = add_event(&c, true, OP_ACCEPT, c.at, c.at + 200);
		e->call.type2 = IO_SOCKET;
		e->call.id2 = e->call.id;
		e->call.id = 1;
		c.at += 300;
	}
	if (c.mode == GREETING)
		transfer(&c, true, 50);
	for (i = 0; i < requests; i++) {
		c.at += below(100000);
		/* Fewer than make all of the connection's requests unclear */
		if (c.mode == PIPELINED && twice < 4 && below(2)) {
			pipelined(&c);
			twice++;
		} else {
			request(&c);
		}
	}
	if (c.mode == ONE_WAY) {
		transfer(&c, false, 77);
		tell(&c, false, true, 0, 0, 77, 0, NULL);
	}
}

int main(int argc, char **argv)
{
	long count, i;

	if (argc != 5 || (count = atol(argv[3])) < 1) {
		fprintf(stderr,
			"usage: gen_requests CLIENTS.dat SERVERS.dat CONNECTIONS SEED\n");
		return 2;
	}
	seed = SEED + strtoull(argv[4], NULL, 10);
	for (i = 0; i < count; i++)
		connection(10 + i);
	io_log_sort(&all);
	if (!io_log_save(&all, argv[1], 0, "2000 php\n2001 cron\n") ||
	    !io_log_save(&all, argv[2], 1, "3000 postgres\n3001 redis\n"))
		return 1;
	free(all.event);
	return 0;
}
