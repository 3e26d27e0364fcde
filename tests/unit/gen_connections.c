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

int main(int argc, char **argv)
{
	struct td_layout layout = { .page_size = 4096, .clock = "mono" };
	const char *kind = argc == 3 ? argv[2] : "";

	td_init(&td, &layout, 1);
	td_add_event(&td, "iosys", io_call_format);
	td.cmdlines = "100 front\n200 back\n";
	if (!strcmp(kind, "roles")) {
		make_roles();
	} else {
		fprintf(stderr, "usage: gen_connections FILE.dat roles\n");
		return 2;
	}
	return !td_finish(&td, argv[1]);
}
