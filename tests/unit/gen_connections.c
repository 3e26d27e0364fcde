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
 *	streams		both ends.  On the connection to port 8001, settings first, two messages
 *			of each end; then eight requests, and one after each of 60 responses, so
 *			that eight are always in progress.  In one of eight cases, the server sends
 *			two responses before it receives the next request; otherwise both ends have
 *			the same turns.  To port 8002, 60 requests in three parts each; the server
 *			responds to three of them before it has the last part.
 *	cut		requests to "back", port 8001, each on a connection of its own.  From
 *			40001, both ends: after a part of the response, the client's receive
 *			fails with ECONNRESET after 3,000 ms.  From 40002, both: it closes
 *			2,000 ms after its request, the server sends 500 bytes meanwhile, and
 *			fails with EPIPE at 2,100 ms.  From 40003, the server's end only: it
 *			fails likewise 1,000 ms after it received the request.  From 40004, both:
 *			the client closes 700 ms after its request, with 100 bytes unread.
 *	whole		responses that are not cut off: after the whole response, from 40001 the
 *			client closes, from 40002 the server does, from 40003 both do, and the
 *			server sends a farewell of 31 bytes, unread; from 40004 it receives the end
 *			of the stream first, and fails to send; from 40005 the client's thread
 *			reads a file, and a reset arrives after 60 s
 *	pushed		from 40001, both ends: a request, a response after 10 ms and then one
 *			message every 2 s, ten of them, while the server polls; after 30 s another
 *			request, response and message.  From 40002, the same with the client's end
 *			only.  To port 8002, the server's end only, likewise, but it does not poll.
 *			To port 8003, both: a response that goes on once, after 5 s of polling.
 *	grpc		both ends of two streams of gRPC, each with settings and a call of the
 *			client first: to port 8001, the server polls, and sends a message every
 *			2 s, 20 of them; to port 8002, it sends two every 10 ms, 200 of them, and
 *			the second one crosses the client's update of its window
 *	restart		five requests to each of three processes "back": two workers of one
 *			listener at port 8001, and one that was started in their place
 */
#include <stdio.h>
#include <string.h>

#include "iodat.h"

#define BEGIN 5000000000000ull
#define MS 1000000ull

#define EAGAIN 11
#define EPIPE 32
#define ECONNRESET 104

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

static void poll_socket(int tgid, uint64_t at)
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
			poll_socket(e->tgid, at);
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

static void make_streams(void)
{
	struct end client = end(FRONT, 40001, 8001);
	struct end server = end(BACK, 8001, 40001);
	uint64_t at = 30;
	int i;

	messages(&client, true, 0, "q");
	messages(&server, false, 1, "qrr");
	messages(&client, true, 4, "rrq");
	messages(&server, false, 7, "q");
	messages(&client, true, 10, "qqqqqqqq");
	messages(&server, false, 20, "qqqqqqqq");
	for (i = 0; i < 60; i++, at += 8) {
		bool crosses = i % 8 == 7;

		messages(&server, false, at, crosses ? "rr" : "r");
		messages(&client, true, at + 2, crosses ? "rqrq" : "rq");
		messages(&server, false, at + 6, crosses ? "qq" : "q");
	}
	messages(&server, false, at, "rrrrrrrr");
	messages(&client, true, at + 10, "rrrrrrrr");
}

static void make_uploads(void)
{
	struct end client = end(FRONT, 40002, 8002);
	struct end server = end(BACK, 8002, 40002);
	uint64_t at = 1000;
	int i;

	for (i = 0; i < 60; i++, at += 8) {
		bool early = i % 20 == 10;

		messages(&client, true, at, "qq");
		messages(&server, false, at + 2, early ? "qqr" : "qq");
		messages(&client, true, at + 5, early ? "qr" : "q");
		messages(&server, false, at + 6, early ? "q" : "qr");
		if (!early)
			messages(&client, true, at + 7, "r");
	}
}

/* A request at @at and a part of its response, 10 ms later */
static void begin(struct end *client, struct end *server, uint64_t at)
{
	if (client)
		tcp(client, OP_SENDTO, at, at, 100, 0);
	tcp(server, OP_RECVFROM, at, at, 100, 0);
	tcp(server, OP_SENDTO, at + 10, at + 10, 200, 0);
	if (client)
		tcp(client, OP_RECVFROM, at, at + 10, 200, 0);
}

static void make_cut(void)
{
	struct end client[5], server[5];
	unsigned int i;

	for (i = 1; i < 5; i++) {
		client[i] = end(FRONT, 40000 + i, 8001);
		server[i] = end(BACK, 8001, 40000 + i);
	}
	begin(&client[1], &server[1], 0);
	tcp(&client[1], OP_RECVFROM, 10, 3000, 0, ECONNRESET);
	tcp(&client[1], OP_CLOSE, 3001, 3001, 0, 0);
	begin(&client[2], &server[2], 4000);
	poll_socket(FRONT, 5990);
	tcp(&client[2], OP_CLOSE, 6000, 6000, 0, 0);
	tcp(&server[2], OP_SENDTO, 6001, 6001, 500, 0);
	tcp(&server[2], OP_SENDTO, 6100, 6100, 0, EPIPE);
	tcp(&server[2], OP_CLOSE, 6101, 6101, 0, 0);
	begin(NULL, &server[3], 7000);
	tcp(&server[3], OP_SENDTO, 8000, 8000, 0, EPIPE);
	tcp(&server[3], OP_CLOSE, 8001, 8001, 0, 0);
	begin(&client[4], &server[4], 9000);
	tcp(&server[4], OP_SENDTO, 9600, 9600, 100, 0);
	tcp(&client[4], OP_CLOSE, 9700, 9700, 0, 0);
}

static void make_whole(void)
{
	const struct io_call file = { .type = IO_FILE,
				      .id = 9,
				      .name = "/tmp/f" };
	struct end client[6], server[6];
	unsigned int i;

	for (i = 1; i < 6; i++) {
		client[i] = end(FRONT, 40000 + i, 8001);
		server[i] = end(BACK, 8001, 40000 + i);
		begin(&client[i], &server[i], 1000 * i);
	}
	tcp(&client[1], OP_CLOSE, 6000, 6000, 0, 0);
	tcp(&server[1], OP_RECVFROM, 6001, 6001, 0, 0);
	tcp(&server[1], OP_CLOSE, 6002, 6002, 0, 0);
	tcp(&server[2], OP_CLOSE, 6010, 6010, 0, 0);
	tcp(&client[2], OP_RECVFROM, 6011, 6011, 0, 0);
	tcp(&client[2], OP_CLOSE, 6012, 6012, 0, 0);
	tcp(&server[3], OP_SENDTO, 6020, 6020, 31, 0);
	tcp(&server[3], OP_CLOSE, 6021, 6021, 0, 0);
	tcp(&client[3], OP_CLOSE, 6022, 6022, 0, 0);
	tcp(&client[4], OP_CLOSE, 6030, 6030, 0, 0);
	tcp(&server[4], OP_RECVFROM, 6031, 6031, 0, 0);
	tcp(&server[4], OP_SENDTO, 6032, 6032, 0, EPIPE);
	make(FRONT, OP_READ, 6040, 6041, file);
	tcp(&client[5], OP_RECVFROM, 65010, 65010, 0, ECONNRESET);
}

/* @polls: the server polls before what it sends after the response; either end may be NULL */
static void pushes(struct end *client, struct end *server, uint64_t at,
		   unsigned int nr, uint64_t every, bool polls)
{
	const struct io_call input = { .type = IO_ANON, .id = 5 };

	if (client)
		tcp(client, OP_SENDTO, at, at, 100, 0);
	if (server)
		tcp(server, OP_RECVFROM, at, at, 100, 0);
	at += 10;
	if (server)
		tcp(server, OP_SENDTO, at, at, 200, 0);
	if (client)
		tcp(client, OP_RECVFROM, at, at, 200, 0);
	for (; nr; nr--, at += every) {
		if (polls)
			make(BACK, OP_EPOLL_WAIT, at, at + every, input);
		if (server)
			tcp(server, OP_SENDTO, at + every, at + every, 50, 0);
		if (client)
			tcp(client, OP_RECVFROM, at, at + every, 50, 0);
	}
}

static void make_pushed(void)
{
	struct end client = end(FRONT, 40001, 8001);
	struct end server = end(BACK, 8001, 40001);
	struct end alone = end(FRONT, 40002, 8001);
	struct end works = end(BACK, 8002, 40003);
	struct end slow = end(FRONT, 40004, 8003);
	struct end slow_server = end(BACK, 8003, 40004);

	pushes(&client, &server, 0, 10, 2000, true);
	pushes(&client, &server, 30000, 1, 2000, true);
	pushes(&alone, NULL, 100000, 10, 2000, false);
	pushes(&alone, NULL, 130000, 1, 2000, false);
	pushes(NULL, &works, 200000, 4, 2000, false);
	pushes(&slow, &slow_server, 300000, 1, 5000, true);
}

/* Sent at @at, received 1 ms later */
static void move(struct end *from, struct end *to, uint64_t at, uint64_t len)
{
	tcp(from, OP_SENDTO, at, at, len, 0);
	tcp(to, OP_RECVFROM, at + 1, at + 1, len, 0);
}

/* Preface and SETTINGS of both ends, and a call to a method of the server */
static void begin_stream(struct end *client, struct end *server, uint64_t at)
{
	move(client, server, at, 64);
	move(server, client, at + 2, 40);
	move(client, server, at + 4, 9);
	move(client, server, at + 6, 200);
	move(server, client, at + 8, 100);
}

static void make_grpc(void)
{
	const struct io_call input = { .type = IO_ANON, .id = 5 };
	struct end client = end(FRONT, 40001, 8001);
	struct end server = end(BACK, 8001, 40001);
	uint64_t at;

	begin_stream(&client, &server, 0);
	for (at = 10; at < 40000; at += 2000) {
		make(BACK, OP_EPOLL_WAIT, at, at + 1990, input);
		move(&server, &client, at + 1995, 500);
	}
	client = end(FRONT, 40002, 8002);
	server = end(BACK, 8002, 40002);
	begin_stream(&client, &server, 50000);
	for (at = 50010; at < 51000; at += 10) {
		move(&server, &client, at, 500);
		/* A window update, which the next message crosses */
		tcp(&client, OP_SENDTO, at + 2, at + 2, 13, 0);
		tcp(&server, OP_SENDTO, at + 3, at + 3, 500, 0);
		tcp(&server, OP_RECVFROM, at + 4, at + 4, 13, 0);
		tcp(&client, OP_RECVFROM, at + 5, at + 5, 500, 0);
	}
}

static void make_restart(void)
{
	exchange(end(BACK, 8001, 40001), false, 0, 4);
	exchange(end(BACK + 1, 8001, 40002), false, 100, 4);
	exchange(end(BACK + 9, 8001, 40003), false, 10000, 4);
}

int main(int argc, char **argv)
{
	struct td_layout layout = { .page_size = 4096, .clock = "mono" };
	const char *kind = argc == 3 ? argv[2] : "";

	td_init(&td, &layout, 1);
	td_add_event(&td, "iosys", io_call_format);
	td.cmdlines = "100 front\n200 back\n201 back\n209 back\n";
	if (!strcmp(kind, "roles")) {
		make_roles();
	} else if (!strcmp(kind, "maybe")) {
		make_maybe();
	} else if (!strcmp(kind, "streams")) {
		make_streams();
		make_uploads();
	} else if (!strcmp(kind, "cut")) {
		make_cut();
	} else if (!strcmp(kind, "whole")) {
		make_whole();
	} else if (!strcmp(kind, "pushed")) {
		make_pushed();
	} else if (!strcmp(kind, "grpc")) {
		make_grpc();
	} else if (!strcmp(kind, "restart")) {
		make_restart();
	} else if (!strcmp(kind, "plain")) {
		make_plain();
	} else {
		fprintf(stderr,
			"usage: gen_connections FILE.dat roles|maybe|plain|streams|cut|whole|pushed|grpc|restart\n");
		return 2;
	}
	return !td_finish(&td, argv[1]);
}
