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

#include "iodat.h"
#include "memory.h"
#include "random.h"

/* The servers' clock is ahead, by more than anything takes */
#define AHEAD 7000000000000ull

enum {
	/* No calls, but events of their own: of the program, of the kernel in a call */
	OP_FAULT = 254,
	OP_KERNEL_FAULT = 255,
};

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

struct event {
	bool server;
	int tgid, tid;
	unsigned int op, type;
	uint64_t start, finish;
	uint64_t id, id2;
	uint32_t isn, peer_isn;
	uint64_t from, end;
	bool peeked;
	char name[64];
};

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

static struct event *events;
static size_t nr_events;

static struct event *add_event(const struct connection *c, bool server,
			       unsigned int op, uint64_t start, uint64_t finish)
{
	static u64 room;
	struct event *e;

	GROW(events, nr_events, room);
	e = &events[nr_events++];
	*e = (struct event){
		.server = server,
		.tgid = server ? 3000 + c->server : 2000 + c->client,
		/* Others do their calls at the same time */
		.tid = server ? (int)(10000 + 2 * c->id + c->other_thread) :
				2000 + (int)c->client,
		.op = op,
		.type = 12,
		.start = start,
		.finish = finish,
		.id = 2 * c->id + server,
		.isn = c->isn[server],
		.peer_isn = c->isn[!server],
	};
	snprintf(e->name, sizeof(e->name), "10.0.0.%d:%u->10.0.0.%d:%u",
		 server ? c->address : 1, c->port[server],
		 server ? 1 : c->address, c->port[!server]);
	if ((server && c->mode == CLIENT_ONLY) ||
	    (!server && c->mode == SERVER_ONLY))
		nr_events--;
	return e;
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
			struct event *e;

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
				e = add_event(c, server, OP_RECVFROM, start,
					      finish);
				e->from = at;
				e->end = at + n;
				e->peeked = true;
				if (at != from)
					t.took[1] += finish - start;
				c->at = start = finish + 1;
				finish = c->at = start + 100;
			}
			e = add_event(
				c, server,
				receives ? (below(2) ? OP_READ : OP_RECVFROM) :
					   (below(2) ? OP_WRITE : OP_SENDTO),
				start, finish);
			e->from = at;
			e->end = at + n;
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
		struct event *e;

		c->at += below(200000);
		if (c->at > start + 2 && !below(4))
			add_event(c, true, OP_KERNEL_FAULT, start + 1,
				  c->at - 1);
		e = add_event(c, true, works[what].op, start, c->at);
		/* A file that is mapped is read without a call */
		if (works[what].op == OP_READ && works[what].type == 8 &&
		    below(2))
			e->op = OP_FAULT;
		e->type = works[what].type;
		e->id = 7; /* connections have more */
		e->isn = 0;
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
	struct event *e;
	int i;

	for (i = 0; i < 2; i++) {
		e = add_event(c, false, OP_WRITE, c->at, c->at + 10);
		e->from = offset;
		e->end = offset += asks[i];
		c->at += 20;
	}
	offset = c->offset[0];
	for (i = 0; i < 2; i++) {
		e = add_event(c, true, OP_READ, c->at, c->at + 10);
		e->from = offset;
		e->end = offset += asks[i];
		e = add_event(c, true, OP_WRITE, c->at + 20, c->at + 30);
		e->from = answered;
		e->end = answered += answers[i];
		c->at += 40;
	}
	e = add_event(c, false, OP_READ, begin + 15, c->at);
	e->from = c->offset[1];
	e->end = answered;
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
	struct event *e;

	/* Without events of connect() and accept(), the port shows which side is the client */
	c.port[0] = c.tells_role ? 1024 : 40000 + id % 10000;
	c.port[1] = c.tells_role ? 50000 : 5432;
	/* Its processes listen at any address with one port, at one with the other */
	c.address = c.tells_role ? 2 + (int)below(2) : 2;
	if (c.tells_role) {
		e = add_event(&c, false, OP_CONNECT, c.at, c.at + 100);
		e->isn = 0;
		e = add_event(&c, true, OP_ACCEPT, c.at, c.at + 200);
		e->isn = 0;
		e->id2 = e->id;
		e->id = 1;
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

static int by_finish(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return (x->finish > y->finish) - (x->finish < y->finish);
}

static void write_fault(struct td *td, const struct event *e)
{
	io_write_fault(td, 0,
		       &(struct io_call){
			       .tid = e->tid,
			       .tgid = e->tgid,
			       .type = IO_FILE,
			       .start = e->start + AHEAD,
			       .finish = e->finish + AHEAD,
			       .id = 4711,
			       .flags = 2 | (e->op == OP_KERNEL_FAULT ? 16 : 0),
			       .name = "/mapped",
		       });
}

static void write_event(struct td *td, const struct event *e)
{
	uint64_t ahead = e->server ? AHEAD : 0;

	if (e->op >= OP_FAULT) {
		write_fault(td, e);
		return;
	}
	io_write(td, 0,
		 &(struct io_call){
			 .tid = e->tid,
			 .tgid = e->tgid,
			 .op = e->op,
			 .type = e->type,
			 .type2 = e->op == OP_ACCEPT ? IO_SOCKET : 0,
			 .start = e->start + ahead,
			 .finish = e->finish + ahead,
			 .bytes = e->end - e->from,
			 .id = e->id,
			 .id2 = e->id2,
			 .isn = e->isn,
			 .peer_isn = e->peer_isn,
			 .flags = (e->isn ? IO_ISN_KNOWN : 0) |
				  (e->peeked ? IO_PEEKED : 0),
			 .from = e->from,
			 .end = e->end,
			 .name = e->name,
		 });
}

static bool save(const char *path, bool server)
{
	struct td_layout layout = { .page_size = 4096, .clock = "mono" };
	struct td td;
	size_t i;

	td_init(&td, &layout, 1);
	td_add_event(&td, "iosys", io_call_format);
	td_add_event(&td, "iosys", io_fault_format);
	td.cmdlines = server ? "3000 postgres\n3001 redis\n" :
			       "2000 php\n2001 cron\n";
	for (i = 0; i < nr_events; i++) {
		if (events[i].server == server)
			write_event(&td, &events[i]);
	}
	return td_finish(&td, path);
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
	qsort(events, nr_events, sizeof(*events), by_finish);
	if (!save(argv[1], false) || !save(argv[2], true))
		return 1;
	free(events);
	return 0;
}
