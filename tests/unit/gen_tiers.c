// SPDX-License-Identifier: GPL-2.0
/*
 * gen_tiers FRONT.dat APP.dat DB.dat REQUESTS SEED [quiet|PROGRAM OFFSET...]
 *
 * Writes made-up traces of three hosts, whose clocks differ, with io_syscall events:
 * clients on the first host send requests to a server on the second host, which reads a
 * file and sends one to three requests to a data base on the third host. Now and then a
 * thread of the server handles two requests at the same time and sends one request, whose
 * parent is ambiguous. Only one page of a trace is in memory at a time. If quiet, prints the
 * number of calls=, of requests=, and of asked=, the requests of servers; otherwise the
 * truth:
 *
 *	call HOST TGID TID OP START DURATION BYTES NAME REQUEST
 *	request NUMBER PARENT CLIENT-TID BEGIN OVER SERVER-TID BEGIN OVER SENT RECEIVED
 *
 * separated by tabs. HOST is 0, 1 or 2. REQUEST is the number of the innermost request
 * that the call was made for. PARENT is the number of the parent, "-" for a client's request
 * and "?" if it is ambiguous. A client is on the host before its server, and times are by the
 * clock of their host.
 *
 * With a PROGRAM, most calls on files have stacks: the C library, then one of
 * the OFFSETs in the program (return addresses, hexadecimal), and one of two callers of
 * that. Their lines end with another field, which is the OFFSET, or - without a stack.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iodat.h"
#include "random.h"

#define WORKERS 4
#define OFFSETS 16

/* Numbers of files */
enum { MAP_LIBC = 1, MAP_PROGRAM };
#define HOSTS 3

/* How far the hosts' clocks are ahead */
static const uint64_t ahead[HOSTS] = { 0, 7000000000000ull, 3000000000000ull };

static const char *const cmdlines[HOSTS] = { "100 curl\n", "200 app server\n",
					     "300 <b>db</b>\n" };

struct event {
	unsigned int host;
	int tid;
	unsigned int op, type;
	uint64_t start, finish, bytes;
	uint64_t id;
	uint32_t isn, peer_isn;
	uint64_t from;
	uint64_t request;
	unsigned int stack;
	char name[64];
};

/* A connection from a thread of a host to one of the next host */
struct connection {
	unsigned int host;
	int tid[2]; /* of the client, and of the server */
	unsigned int port;
	uint32_t isn[2];
	uint64_t offset[2]; /* of the next bytes from each of them */
};

struct worker {
	struct connection client[2], db;
	uint64_t now;
	uint64_t files;
};

struct request {
	uint64_t number, parent; /* counted from 1; 0: none */
	uint64_t begin[2], over[2];
	uint64_t sent, received;
};

static struct event events[64];
static unsigned int nr_events;
static uint64_t numbers, asked, calls;
static uint64_t current; /* number of the request at hand */
static bool loud;
static const char *program;
static uint64_t offset[OFFSETS];
static unsigned int offsets;

static struct event *add_event(unsigned int host, int tid, unsigned int op,
			       uint64_t start, uint64_t finish)
{
	struct event *e = &events[nr_events++];

	*e = (struct event){
		.host = host,
		.tid = tid,
		.op = op,
		.start = start,
		.finish = finish,
		.request = current,
	};
	return e;
}

/* Bytes from a side: the sender's call, then the receiver's; each has a duration */
static void transfer(struct worker *w, struct connection *c, bool answer,
		     uint64_t len, uint64_t receive_from, uint64_t *sent_at,
		     uint64_t *sent, uint64_t *received)
{
	uint64_t start = w->now += 100 + below(2000);
	int i;

	for (i = 0; i < 2; i++) {
		bool server = i != answer;
		uint64_t began =
			i ? (receive_from ? receive_from : w->now + 1) : start;
		struct event *e;

		w->now += 200 + below(5000);
		e = add_event(c->host + server, c->tid[server],
			      i ? OP_RECVFROM : OP_SENDTO, began, w->now);
		e->type = 12;
		e->id = 1000 * c->port + server;
		e->isn = c->isn[server];
		e->peer_isn = c->isn[!server];
		e->from = c->offset[answer];
		e->bytes = len;
		snprintf(e->name, sizeof(e->name), "10.0.0.%d:%u->10.0.0.%d:%u",
			 c->host + server, server ? 80 : c->port,
			 c->host + !server, server ? c->port : 80);
		if (!i)
			*sent = w->now;
		else
			*received = w->now;
	}
	c->offset[answer] += len;
	*sent_at = start;
}

static void work(struct worker *w, unsigned int host, int tid, unsigned int op,
		 uint64_t bytes, const char *name)
{
	uint64_t start = w->now += 100 + below(1000);
	struct event *e;

	w->now += 100 + below(20000);
	e = add_event(host, tid, op, start, w->now);
	e->type = 8;
	e->id = 500 + strlen(name);
	e->bytes = bytes;
	if (offsets && below(5))
		e->stack = 1 + below(2 * offsets);
	snprintf(e->name, sizeof(e->name), "%s", name);
}

static struct request ask(struct worker *w, struct connection *c,
			  uint64_t parent)
{
	struct request r = { .number = ++numbers, .parent = parent };
	uint64_t sent;

	current = r.number;
	r.sent = 1 + below(3000);
	transfer(w, c, false, r.sent, 0, &r.begin[0], &sent, &r.begin[1]);
	return r;
}

static void answer(struct worker *w, struct connection *c, struct request *r)
{
	uint64_t at, waits = w->now;

	current = r->number;
	r->received = 1 + below(30000);
	transfer(w, c, true, r->received, waits, &at, &r->over[1], &r->over[0]);
}

static void tell(const struct connection *c, const struct request *r,
		 const char *parent)
{
	char number[24];

	if (!loud)
		return;
	snprintf(number, sizeof(number), "%llu", (unsigned long long)r->parent);
	printf("request\t%llu\t%s\t%d\t%llu\t%llu\t%d\t%llu\t%llu\t%llu\t%llu\n",
	       (unsigned long long)r->number, parent ? parent : number,
	       c->tid[0], (unsigned long long)(r->begin[0] + ahead[c->host]),
	       (unsigned long long)(r->over[0] + ahead[c->host]), c->tid[1],
	       (unsigned long long)(r->begin[1] + ahead[c->host + 1]),
	       (unsigned long long)(r->over[1] + ahead[c->host + 1]),
	       (unsigned long long)r->sent, (unsigned long long)r->received);
}

static void query(struct worker *w, uint64_t parent, const char *unknown)
{
	struct request r = ask(w, &w->db, parent);

	asked++;
	work(w, 2, w->db.tid[1], OP_PREAD, 8192, "/var/lib/db/base");
	if (!below(4))
		work(w, 2, w->db.tid[1], OP_FDATASYNC, 0, "/var/lib/db/log");
	answer(w, &w->db, &r);
	current = parent;
	tell(&w->db, &r, unknown);
}

static void one_client(struct worker *w)
{
	int tid = w->db.tid[0];
	struct request r = ask(w, &w->client[0], 0);
	uint64_t i;

	work(w, 1, tid, OP_OPENAT, 0, "/srv/page <1>");
	work(w, 1, tid, OP_READ, 4096, "/srv/page <1>");
	work(w, 1, tid, OP_CLOSE, 0, "/srv/page <1>");
	for (i = 1 + below(3); i; i--)
		query(w, r.number, NULL);
	answer(w, &w->client[0], &r);
	tell(&w->client[0], &r, "-");
}

static void two_clients(struct worker *w)
{
	struct request r[2];
	int i;

	for (i = 0; i < 2; i++)
		r[i] = ask(w, &w->client[i], 0);
	query(w, 0, "?");
	for (i = 0; i < 2; i++) {
		answer(w, &w->client[i], &r[i]);
		tell(&w->client[i], &r[i], "-");
	}
}

static void make_connection(struct connection *c, unsigned int host, int asks,
			    int answers, unsigned int port)
{
	*c = (struct connection){
		.host = host,
		.tid = { asks, answers },
		.port = port,
		.isn = { rnd(), rnd() },
	};
}

static int by_finish(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return (x->finish > y->finish) - (x->finish < y->finish);
}

static void tell_event(const struct event *e)
{
	printf("call\t%u\t%u\t%d\t%s\t%llu\t%llu\t%llu\t%s\t%llu", e->host,
	       100 * (e->host + 1), e->tid, io_op_name(e->op),
	       (unsigned long long)(e->start + ahead[e->host]),
	       (unsigned long long)(e->finish - e->start),
	       (unsigned long long)e->bytes, e->name,
	       (unsigned long long)e->request);
	if (!offsets)
		putchar('\n');
	else if (!e->stack)
		puts("\t-");
	else
		printf("\t%llx\n",
		       (unsigned long long)offset[(e->stack - 1) / 2]);
}

/* Two of each place in the program */
static void write_stacks(struct td *td, unsigned int host)
{
	uint64_t time = 999999999999ull + ahead[host];
	unsigned int i;

	io_write_map(td, 0, time, MAP_LIBC,
		     "/usr/lib/x86_64-linux-gnu/libc.so.6");
	io_write_map(td, 0, time, MAP_PROGRAM, program);
	for (i = 0; i < 2 * offsets; i++) {
		uint64_t frame[] = { io_frame(MAP_LIBC, 0x1234),
				     io_frame(MAP_PROGRAM, offset[i / 2]),
				     io_frame(MAP_PROGRAM, offset[i % 2]) };

		io_write_stack(td, 0, time, 1 + i, frame, 3);
	}
}

static void write_event(struct td *td, unsigned int cpu, const struct event *e)
{
	io_write(td, cpu,
		 &(struct io_call){
			 .tid = e->tid,
			 .tgid = 100 * ((int)e->host + 1),
			 .op = e->op,
			 .type = e->type,
			 .start = e->start + ahead[e->host],
			 .finish = e->finish + ahead[e->host],
			 .bytes = e->bytes,
			 .id = e->id,
			 .isn = e->isn,
			 .peer_isn = e->peer_isn,
			 .flags = e->isn ? IO_ISN_KNOWN : 0,
			 .from = e->from,
			 .end = e->isn ? e->from + e->bytes : e->from,
			 .name = e->name,
			 .stack = e->stack,
		 });
}

/* A worker does the same each time; one host's part of it is written */
static void run_worker(struct td *td, unsigned int host, unsigned int number,
		       uint64_t requests, uint64_t first_seed)
{
	struct worker w = { .now = 1000000000000ull + 1000 * number };
	uint64_t done;
	unsigned int i;

	seed = first_seed + number;
	make_connection(&w.client[0], 0, 110 + number, 210 + number,
			40000 + number);
	make_connection(&w.client[1], 0, 150 + number, 210 + number,
			41000 + number);
	make_connection(&w.db, 1, 210 + number, 310 + number, 45000 + number);
	for (done = 0; done < requests; done++) {
		nr_events = 0;
		if (below(16))
			one_client(&w);
		else
			two_clients(&w);
		qsort(events, nr_events, sizeof(*events), by_finish);
		for (i = 0; i < nr_events; i++) {
			if (loud)
				tell_event(&events[i]);
			if (events[i].host != host)
				continue;
			write_event(td, number, &events[i]);
			calls++;
		}
	}
}

static bool write_host(const char *path, unsigned int host, uint64_t requests,
		       uint64_t first_seed)
{
	struct td_layout layout = { .page_size = 4096, .clock = "mono" };
	struct td td;
	unsigned int i;
	bool ok;

	numbers = 0;
	asked = 0;
	td_init(&td, &layout, WORKERS);
	td_add_event(&td, "iosys", io_call_format);
	if (offsets) {
		td_add_event(&td, "iosys", io_stack_format);
		td_add_event(&td, "iosys", io_map_format);
	}
	td.cmdlines = cmdlines[host];
	ok = td_stream(&td, path);
	for (i = 0; ok && i < WORKERS; i++) {
		if (!i && offsets)
			write_stacks(&td, host);
		run_worker(&td, host, i, requests / WORKERS, first_seed);
		td_stream_cpu(&td, i);
	}
	ok = ok && td_stream_end(&td);
	if (!ok)
		perror(path);
	td_free(&td);
	return ok;
}

int main(int argc, char **argv)
{
	uint64_t requests;
	unsigned int host;
	int i;

	if (argc < 6 || argc > 7 + OFFSETS ||
	    (requests = strtoull(argv[4], NULL, 10)) < WORKERS) {
		fprintf(stderr,
			"usage: gen_tiers FRONT.dat APP.dat DB.dat REQUESTS SEED [quiet|PROGRAM OFFSET...]\n");
		return 2;
	}
	for (i = 7; i < argc; i++)
		offset[offsets++] = strtoull(argv[i], NULL, 16);
	program = offsets ? argv[6] : NULL;
	for (host = 0; host < HOSTS; host++) {
		loud = !host && argc != 7;
		if (!write_host(argv[1 + host], host, requests,
				SEED + 1000 * strtoull(argv[5], NULL, 10)))
			return 1;
	}
	if (argc == 7)
		printf("calls=%llu\nrequests=%llu\nasked=%llu\n",
		       (unsigned long long)calls, (unsigned long long)numbers,
		       (unsigned long long)asked);
	return 0;
}
