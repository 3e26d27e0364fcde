// SPDX-License-Identifier: GPL-2.0
/*
 * gen_connections FILE.dat KIND
 *
 * Writes a small made-up trace of one host with TCP connections that are older than it.
 * All times are multiples of 1 ms, as the tests expect them.
 *
 *	roles		five exchanges of 2 ms on each connection, of which only one end is
 *			recorded.  "front" is the client of port 30000 from port 33000, of
 *			port 61000 from 50001, 50002 and 50003, and, 100 ms after each
 *			response, of port 40001 from 40000.  "back" is the server at port 50000
 *			of 45000, which sends 100 ms after each response, at port 30000 of
 *			33001, and at port 7000 of 5000, where accept fails once.  Its
 *			connection from port 55000 to 56000 has as much time before requests
 *			as before responses.
 *	maybe		12 rounds of 20 ms on each connection to port 8001.  On that of port
 *			40001, "front" sends a request, polls, sends the next one, receives a
 *			response, polls, sends a third one, and receives the other two
 *			responses, polling before each.  From 40002, it sends three requests
 *			and then receives three responses, and polls before each.  From 40003
 *			it sends ten at first, then one after each response, then receives
 *			nine responses.  "back" is the server of 40011, as front is the client
 *			of 40001.
 *	plain		as many rounds that are not multiplexed: from 40001 a request in two
 *			parts, with a poll between them, and a response; from 40002 a response
 *			in two parts; from 40003 both in turns, but without a poll between
 *			the parts; from 40004 one part each
 */
#include <stdio.h>
#include <string.h>

#include "iodat.h"

#define BEGIN 5000000000000ull
#define MS 1000000ull

#define EAGAIN 11

enum { FRONT = 100, BACK = 200 };

static struct td td;

/**
 * struct end - one end of a connection
 * @tgid:	process, which has one thread
 * @port:	its own port
 * @peer:	port of the other end
 * @offset:	of the next byte that is received, or sent
 */
struct end {
	int tgid;
	unsigned int port;
	unsigned int peer;
	uint64_t offset[2];
};

static void make(int tgid, unsigned int op, uint64_t from, uint64_t to,
		 struct io_call call)
{
	call.tid = tgid;
	call.tgid = tgid;
	call.op = op;
	call.start = BEGIN + from * MS;
	call.finish = BEGIN + to * MS;
	if (!call.name)
		call.name = "";
	io_write(&td, 0, &call);
}

/* @len: bytes, 0: none; @error: or that */
static void tcp(struct end *e, unsigned int op, uint64_t from, uint64_t to,
		uint64_t len, unsigned int error)
{
	struct io_call call = {
		.type = IO_SOCKET,
		.fd = 20,
		.id = 100000 + e->port * 2 + (e->port > e->peer) +
		      (uint64_t)e->peer * 200000,
		.bytes = len,
		.error = error,
		.protocol = 6,
		.flags = IO_ISN_KNOWN,
		.isn = e->port * 7 + e->peer,
		.peer_isn = e->peer * 7 + e->port,
	};
	char name[64];

	snprintf(name, sizeof(name), "10.0.0.1:%u->10.0.0.2:%u", e->port,
		 e->peer);
	call.name = name;
	if (len) {
		call.from = e->offset[op == OP_SENDTO];
		call.end = e->offset[op == OP_SENDTO] += len;
	}
	make(e->tgid, op, from, to, call);
}

static struct end end(int tgid, unsigned int port, unsigned int peer)
{
	return (struct end){ .tgid = tgid, .port = port, .peer = peer };
}

static void accept_fails(int tgid, uint64_t at, const char *address)
{
	const struct io_call call = {
		.type = IO_SOCKET,
		.fd = 3,
		.id = 7,
		.error = EAGAIN,
		.protocol = 6,
		.name = address,
	};

	make(tgid, OP_ACCEPT, at, at, call);
}

/* Five exchanges of 2 ms, one each @every ms */
static void exchange(struct end e, bool client, uint64_t at, uint64_t every)
{
	uint64_t end = at + 5 * every;

	for (; at < end; at += every) {
		tcp(&e, client ? OP_SENDTO : OP_RECVFROM, at, at, 100, 0);
		tcp(&e, client ? OP_RECVFROM : OP_SENDTO, at + 2, at + 2, 200,
		    0);
	}
}

static void make_roles(void)
{
	exchange(end(FRONT, 33000, 30000), true, 0, 4);
	exchange(end(FRONT, 50001, 61000), true, 100, 4);
	exchange(end(FRONT, 50002, 61000), true, 200, 4);
	exchange(end(FRONT, 50003, 61000), true, 300, 4);
	exchange(end(FRONT, 40000, 40001), true, 1000, 102);
	exchange(end(BACK, 50000, 45000), false, 2000, 102);
	exchange(end(BACK, 30000, 33001), false, 3000, 4);
	exchange(end(BACK, 55000, 56000), false, 4000, 4);
	accept_fails(BACK, 5000, "0.0.0.0:7000");
	exchange(end(BACK, 7000, 5000), false, 5001, 4);
}

static void poll(int tgid, uint64_t at)
{
	make(tgid, OP_EPOLL_WAIT, at, at,
	     (struct io_call){ .type = IO_ANON, .id = 5 });
}

/*
 * One message a ms: q, a request, r, a response, each after a poll; Q, R: likewise, without.
 * @client: it sends the requests
 */
static void messages(struct end *e, bool client, uint64_t at, const char *what)
{
	for (; *what; what++, at++) {
		bool request = *what == 'q' || *what == 'Q';

		if (*what == 'q' || *what == 'r')
			poll(e->tgid, at);
		tcp(e, request == client ? OP_SENDTO : OP_RECVFROM, at, at, 100,
		    0);
	}
}

#define ROUNDS 12

static void rounds(struct end e, bool client, uint64_t at, const char *first,
		   const char *second)
{
	int i;

	for (i = 0; i < ROUNDS; i++, at += 20)
		messages(&e, client, at, i % 2 ? second : first);
}

static void make_maybe(void)
{
	struct end full = end(FRONT, 40003, 8001);
	uint64_t at;

	rounds(end(FRONT, 40001, 8001), true, 0, "qqrqrr", "qqrqrr");
	rounds(end(FRONT, 40002, 8001), true, 1000, "qqqrrr", "qqqrrr");
	messages(&full, true, 2000, "qqqqqqqqqq");
	for (at = 2020; at < 2060; at += 2)
		messages(&full, true, at, "rq");
	messages(&full, true, 2060, "rrrrrrrrrr");
	rounds(end(BACK, 8001, 40011), false, 3000, "qqrqrr", "qqrqrr");
}

static void make_plain(void)
{
	rounds(end(FRONT, 40001, 8001), true, 0, "qqr", "qqr");
	rounds(end(FRONT, 40002, 8001), true, 1000, "qrr", "qrr");
	rounds(end(FRONT, 40003, 8001), true, 2000, "qQr", "qrR");
	rounds(end(FRONT, 40004, 8001), true, 3000, "qr", "qr");
}

int main(int argc, char **argv)
{
	struct td_layout layout = { .page_size = 4096, .clock = "mono" };
	const char *kind = argc == 3 ? argv[2] : "";

	td_init(&td, &layout, 1);
	td_add_event(&td, "iosys", io_call_format);
	td.cmdlines = "100 front\n200 back\n";
	if (!strcmp(kind, "roles")) {
		make_roles();
	} else if (!strcmp(kind, "maybe")) {
		make_maybe();
	} else if (!strcmp(kind, "plain")) {
		make_plain();
	} else {
		fprintf(stderr,
			"usage: gen_connections FILE.dat roles|maybe|plain\n");
		return 2;
	}
	return !td_finish(&td, argv[1]);
}
