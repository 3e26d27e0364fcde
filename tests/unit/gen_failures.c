// SPDX-License-Identifier: GPL-2.0
/*
 * gen_failures FILE.dat KIND
 *
 * Writes a small made-up trace of one host with requests that fail, or without any
 * request.  All times are multiples of 1 ms, as the tests expect them.
 *
 *	formats		the formats of events, and no records
 *	udp		two calls that send and receive over UDP
 *	unanswered	a client sends three requests to the server "slow", port 8001, each on
 *			a connection of its own.  One is answered in 50 ms.  One is reset after
 *			3 s.  One is not answered until the trace ends, 8 s after it.
 *	arriving	a client needs time to send requests to "slow".  Of 1 and 2 it sends the
 *			head and, 300 ms later, the body; thread 1 of the server waits in
 *			recvfrom, thread 2 in epoll_wait.  Of 3, whose server is not recorded,
 *			it sends the body after 150 ms.  4 is one call that sends for 200 ms,
 *			and is received in two.  The server computes for 10, 3 and 4 ms.
 *	switches	requests to "slow", with the times at which its threads were on a CPU.
 *			1 computes for 20 ms, but "other" has the CPU for 5 ms of these.  2 sleeps
 *			for 30 ms until an interrupt wakes it, and gets a CPU 2 ms later.  3 sleeps
 *			for 40 ms until "other" wakes it, and gets a CPU 1 ms later.  4 sleeps in a
 *			call on a file for 10 ms.
 *	shared		one thread of "slow" receives requests 1 to 3 from 1 to 3 ms, computes
 *			until 33 ms, of which "other" has the CPU for 10 ms, and responds at 33,
 *			40 and 50 ms, between which it computes; then it receives 4 and computes
 *			for 5 ms
 *	overlap		the server's call that sends the response returns after the client has
 *			it.  1 is received after 1 ms, is answered from 5 to 15 ms, and has its
 *			response at 8 ms.  2 is received after 10 ms, is answered from 12 to 14 ms,
 *			and has its response at 13 ms.
 *	ports		during a request from 1 to 20 ms, a thread of "slow" connects from port 2000
 *			to 50001 of 10.0.0.2 in 5 ms; it accepts a connection from port 3000 at
 *			50000, and closes it in 4 ms; and it closes another one from port 4000 to
 *			50000, which was accepted before the trace, in 2 ms; over UDP, it receives
 *			from port 53 at 45000, which was connected before the trace, in 1 ms, and
 *			from port 5353 at 4000, which it connects, in another 1 ms; and for 1 ms
 *			at port 9000, which is not connected
 *	lost		as switches, but records are lost before the end of 3
 *	multiplexed	on 1, the client sends ten times three requests: the second one before the
 *			response to the first one, the third one before that to the second one;
 *			on 2, one after the other, 20 times
 *	late		20 times on 1, the server responds before it receives the last 8 bytes
 *			of the request, which the client sent in one call; on 2 and 3, three
 *			times each, what it receives after a response is another request, sent
 *			by a call of its own on 2, and with the first one in one call on 3
 *	over		ten times, after its response the server writes a log, and fails to open
 *			another one by a request to io_uring, and then reads the end of another
 *			connection
 *	not-received	bytes that are there before the other side's thread waits for them.  Of 1,
 *			the response is sent after 5 ms; the client polls until 3 ms and receives
 *			it after 25 ms.  Of 2, it polls from 0 to 8 ms, and from 10 to 14 ms.  Of
 *			3, the server's thread first polls 30 ms after the request was sent.  Of 4,
 *			its thread makes its first call then, so that it is unknown what it did
 *			before.  The server computes for 4, 4, 2 and 2 ms.
 *	ends		the trace ends in three responses of 113 and 100 bytes, which are sent at
 *			4000 and 4003 ms. Of 1, the client has the first 113 bytes at 4001 ms. Of 2, it
 *			has both at 4004 ms, but the server's second call has not returned. Of 3, it
 *			has 150 bytes at 4004 ms.
 *	connects	connections to 10.0.0.1 that fail, in ms from the first connect: at port
 *			8101, 20 ms until the call is refused; at 8102, 30 ms until one is closed
 *			that never was connected, and 100 ms until a second connect says that it
 *			is refused; at 8103, 300 ms until one is reset; at the Unix socket
 *			/run/full, 5 ms.  Others do not fail: at 8104 one is closed that was
 *			connected, one has a response, one has no more calls; one is in the
 *			background after a signal, and connects then; UDP, and a Unix socket that
 *			does not exist, are no requests.  And the server is asked on connection 9,
 *			connects to 8105 meanwhile, which is refused after 40 ms, and responds
 *			after 50 ms.  At 8106 and 8107, 6 and 7 ms until an error without a name;
 *			at 8108 a result that is no error.
 *	connects-lost	as connects, but records are lost before the socket at 8102 is closed
 */
#include <stdio.h>
#include <string.h>

#include "iodat.h"

#define BEGIN 5000000000000ull
#define MS 1000000ull

#define ENOENT 2
#define EINTR 4
#define ECONNRESET 104
#define ECONNREFUSED 111
#define EINPROGRESS 115

enum { CLIENT = 100, SERVER = 200, OTHER = 300 };

static struct td td;
/* The server's only thread; 0: it has one for each connection */
static int only_thread;
/* Of the next byte, by connection, by sender, and 1: that it sends */
static uint64_t offset[16][2][2];

static void make(int tid, int tgid, unsigned int op, uint64_t from, uint64_t to,
		 struct io_call call)
{
	call.tid = tid;
	call.tgid = tgid;
	call.op = op;
	call.start = BEGIN + from * MS;
	call.finish = BEGIN + to * MS;
	if (!call.name)
		call.name = "";
	io_write(&td, 0, &call);
}

/* @server: who calls; @len: bytes, 0: none; @error: or that */
static void tcp(unsigned int n, bool server, unsigned int op, uint64_t from,
		uint64_t to, uint64_t len, unsigned int error)
{
	bool sends = op == OP_SENDTO, sender = sends ? server : !server;
	struct io_call call = {
		.type = IO_SOCKET,
		.fd = 20 + (int)n,
		.id = 1000 + 2 * n + server,
		.bytes = len,
		.error = error,
		.protocol = 6,
		.flags = IO_ISN_KNOWN,
		.isn = 5000 + 2 * n + server,
		.peer_isn = 5000 + 2 * n + !server,
	};
	char name[64];

	if (server)
		snprintf(name, sizeof(name), "10.0.0.1:8001->10.0.0.1:%u",
			 40000 + n);
	else
		snprintf(name, sizeof(name), "10.0.0.1:%u->10.0.0.1:8001",
			 40000 + n);
	call.name = name;
	if (len) {
		call.from = offset[n][sender][sends];
		call.end = offset[n][sender][sends] += len;
	}
	/* A thread for each connection, on both sides, unless the server has only one */
	make(server && only_thread ? only_thread :
				     (server ? SERVER : CLIENT) + (int)n,
	     server ? SERVER : CLIENT, op, from, to, call);
}

static void make_unanswered(void)
{
	unsigned int n;

	for (n = 1; n <= 3; n++)
		tcp(n, false, OP_SENDTO, n, n, 100, 0);
	for (n = 1; n <= 3; n++)
		tcp(n, true, OP_RECVFROM, 0, 10, 100, 0);
	tcp(1, true, OP_SENDTO, 51, 51, 200, 0);
	tcp(1, false, OP_RECVFROM, 1, 51, 200, 0);
	tcp(2, false, OP_RECVFROM, 2, 3002, 0, ECONNRESET);
}

static void make_ends(void)
{
	unsigned int n;

	for (n = 1; n <= 3; n++)
		tcp(n, false, OP_SENDTO, 0, 0, 71, 0);
	for (n = 1; n <= 3; n++)
		tcp(n, true, OP_RECVFROM, 0, 1, 71, 0);
	for (n = 1; n <= 3; n++)
		tcp(n, true, OP_SENDTO, 4000, 4000, 113, 0);
	for (n = 1; n <= 2; n++)
		tcp(n, false, OP_RECVFROM, 0, 4001, 113, 0);
	tcp(1, true, OP_SENDTO, 4003, 4003, 100, 0);
	tcp(3, true, OP_SENDTO, 4003, 4003, 100, 0);
	tcp(2, false, OP_RECVFROM, 4001, 4004, 100, 0);
	tcp(3, false, OP_RECVFROM, 0, 4004, 150, 0);
}

static void make_arriving(void)
{
	const struct io_call poll = { .type = IO_ANON, .id = 5 };

	tcp(1, false, OP_SENDTO, 0, 0, 100, 0);
	tcp(2, false, OP_SENDTO, 0, 0, 100, 0);
	tcp(3, false, OP_SENDTO, 0, 0, 100, 0);
	tcp(1, true, OP_RECVFROM, 0, 1, 100, 0);
	tcp(2, true, OP_RECVFROM, 1, 1, 100, 0);
	tcp(4, true, OP_RECVFROM, 0, 1, 1000, 0);
	tcp(3, false, OP_SENDTO, 150, 150, 100, 0);
	tcp(3, false, OP_RECVFROM, 150, 170, 100, 0);
	tcp(4, false, OP_SENDTO, 0, 200, 3000, 0);
	tcp(4, true, OP_RECVFROM, 1, 201, 2000, 0);
	tcp(4, true, OP_SENDTO, 205, 205, 100, 0);
	tcp(4, false, OP_RECVFROM, 200, 206, 100, 0);
	tcp(1, false, OP_SENDTO, 300, 300, 100, 0);
	tcp(2, false, OP_SENDTO, 300, 300, 100, 0);
	tcp(1, true, OP_RECVFROM, 1, 301, 100, 0);
	make(SERVER + 2, SERVER, OP_EPOLL_WAIT, 1, 301, poll);
	tcp(2, true, OP_RECVFROM, 301, 301, 100, 0);
	tcp(2, true, OP_SENDTO, 304, 304, 100, 0);
	tcp(2, false, OP_RECVFROM, 300, 305, 100, 0);
	tcp(1, true, OP_SENDTO, 311, 311, 100, 0);
	tcp(1, false, OP_RECVFROM, 300, 312, 100, 0);
}

static void sched_switch(uint64_t at, int prev, unsigned int state, int next)
{
	struct td_record r;

	td_begin(&r, &td, TD_ID_SWITCH, prev, 64);
	td_put(&r, 24, prev, 4);
	td_put(&r, 32, state, 8);
	td_put(&r, 56, next, 4);
	td_write(&td, 0, 0, BEGIN + at * MS, &r);
}

#define TD_HARD_INTERRUPT 8
#define ASLEEP 2
#define PREEMPTED 0x100

static void sched_waking(uint64_t at, int waker, unsigned int flags, int wakee)
{
	struct td_record r;

	td_begin(&r, &td, TD_ID_WAKING, waker, 36);
	td_put(&r, 2, flags, 1);
	td_put(&r, 24, wakee, 4);
	td_write(&td, 0, 0, BEGIN + at * MS, &r);
}

static void make_switches(bool lost)
{
	const int first = SERVER + 1, second = SERVER + 2, third = SERVER + 3;
	const struct io_call file = { .type = IO_FILE,
				      .id = 9,
				      .name = "/tmp/f" };
	unsigned int n;

	for (n = 1; n <= 4; n++)
		tcp(n, false, OP_SENDTO, n, n, 100, 0);
	for (n = 1; n <= 4; n++)
		tcp(n, true, OP_RECVFROM, 0, 10, 100, 0);
	/* 10 to 11 of 1: on a CPU */
	sched_switch(11, first, PREEMPTED, OTHER);
	sched_switch(16, OTHER, 0, first);
	sched_switch(17, second, ASLEEP, 0);
	tcp(1, true, OP_SENDTO, 30, 30, 200, 0);
	tcp(1, false, OP_RECVFROM, 1, 31, 200, 0);
	sched_waking(47, OTHER, TD_HARD_INTERRUPT, second);
	sched_switch(49, OTHER, 0, second);
	tcp(2, true, OP_SENDTO, 52, 52, 200, 0);
	tcp(2, false, OP_RECVFROM, 2, 53, 200, 0);
	sched_switch(60, third, ASLEEP, OTHER);
	/* Only the first one counts; its thread made no call */
	sched_waking(100, OTHER, 0, third);
	sched_waking(100, first, 0, third);
	sched_switch(101, OTHER, ASLEEP, third);
	if (lost)
		td_lose(&td, 0, 0);
	tcp(3, true, OP_SENDTO, 103, 103, 200, 0);
	tcp(3, false, OP_RECVFROM, 3, 104, 200, 0);
	/* Sleep in a call is part of the call */
	sched_switch(105, SERVER + 4, ASLEEP, OTHER);
	sched_waking(115, OTHER, 0, SERVER + 4);
	sched_switch(115, OTHER, 0, SERVER + 4);
	make(SERVER + 4, SERVER, OP_READ, 104, 116, file);
	tcp(4, true, OP_SENDTO, 120, 120, 200, 0);
	tcp(4, false, OP_RECVFROM, 4, 121, 200, 0);
}

static void make_shared(void)
{
	unsigned int n;

	only_thread = SERVER;
	for (n = 1; n <= 3; n++)
		tcp(n, false, OP_SENDTO, 0, 0, 100, 0);
	for (n = 1; n <= 3; n++)
		tcp(n, true, OP_RECVFROM, n, n, 100, 0);
	make(SERVER, SERVER, OP_EPOLL_WAIT, 3, 3,
	     (struct io_call){ .type = IO_ANON, .id = 5 });
	sched_switch(20, SERVER, PREEMPTED, OTHER);
	sched_switch(30, OTHER, 0, SERVER);
	tcp(1, true, OP_SENDTO, 33, 33, 200, 0);
	tcp(1, false, OP_RECVFROM, 1, 34, 200, 0);
	tcp(2, true, OP_SENDTO, 40, 40, 200, 0);
	tcp(2, false, OP_RECVFROM, 1, 41, 200, 0);
	tcp(3, true, OP_SENDTO, 50, 50, 200, 0);
	tcp(3, false, OP_RECVFROM, 1, 51, 200, 0);
	tcp(4, false, OP_SENDTO, 60, 60, 100, 0);
	tcp(4, true, OP_RECVFROM, 51, 61, 100, 0);
	tcp(4, true, OP_SENDTO, 66, 66, 200, 0);
	tcp(4, false, OP_RECVFROM, 61, 67, 200, 0);
	sched_switch(70, SERVER, ASLEEP, OTHER);
}

static void make_overlap(void)
{
	tcp(1, false, OP_SENDTO, 0, 0, 100, 0);
	tcp(2, false, OP_SENDTO, 0, 0, 100, 0);
	tcp(1, true, OP_RECVFROM, 0, 1, 100, 0);
	tcp(1, false, OP_RECVFROM, 0, 8, 200, 0);
	tcp(2, true, OP_RECVFROM, 0, 10, 100, 0);
	tcp(2, false, OP_RECVFROM, 0, 13, 200, 0);
	tcp(2, true, OP_SENDTO, 12, 14, 200, 0);
	tcp(1, true, OP_SENDTO, 5, 15, 200, 0);
}

static void make_ports(void)
{
	struct io_call call = { .type = IO_SOCKET,
				.id = 3001,
				.protocol = 6,
				.flags = IO_ISN_KNOWN,
				.isn = 1,
				.peer_isn = 2,
				.name = "10.0.0.1:2000->10.0.0.2:50001" };
	struct io_call accept = { .type = IO_SOCKET,
				  .type2 = IO_SOCKET,
				  .id = 3100,
				  .id2 = 3101,
				  .protocol = 6,
				  .name = "10.0.0.1:50000" };
	struct io_call udp = { .type = IO_SOCKET, .protocol = 17 };

	tcp(1, false, OP_SENDTO, 0, 0, 100, 0);
	tcp(1, true, OP_RECVFROM, 0, 1, 100, 0);
	make(SERVER + 1, SERVER, OP_CONNECT, 2, 7, call);
	make(SERVER + 1, SERVER, OP_ACCEPT, 8, 9, accept);
	call.id = 3101;
	call.name = "10.0.0.1:50000->10.0.0.2:3000";
	make(SERVER + 1, SERVER, OP_CLOSE, 9, 13, call);
	call.id = 3201;
	call.name = "10.0.0.1:50000->10.0.0.2:4000";
	make(SERVER + 1, SERVER, OP_CLOSE, 14, 16, call);
	udp.id = 3301;
	udp.name = "10.0.0.1:45000->10.0.0.2:53";
	make(SERVER + 1, SERVER, OP_RECVFROM, 16, 17, udp);
	udp.id = 3302;
	udp.name = "10.0.0.1:4000->10.0.0.2:5353";
	make(SERVER + 1, SERVER, OP_CONNECT, 17, 17, udp);
	make(SERVER + 1, SERVER, OP_RECVFROM, 17, 18, udp);
	udp.id = 3303;
	udp.name = "10.0.0.1:9000";
	make(SERVER + 1, SERVER, OP_RECVFROM, 18, 19, udp);
	tcp(1, true, OP_SENDTO, 20, 20, 200, 0);
	tcp(1, false, OP_RECVFROM, 0, 21, 200, 0);
}

static void make_multiplexed(void)
{
	uint64_t at;

	for (at = 0; at < 200; at += 20) {
		tcp(1, false, OP_SENDTO, at, at, 100, 0);
		tcp(1, true, OP_RECVFROM, at, at + 1, 100, 0);
		tcp(1, false, OP_SENDTO, at + 2, at + 2, 100, 0);
		tcp(1, true, OP_SENDTO, at + 3, at + 3, 200, 0);
		tcp(1, true, OP_RECVFROM, at + 3, at + 4, 100, 0);
		tcp(1, false, OP_RECVFROM, at + 3, at + 5, 200, 0);
		tcp(1, false, OP_SENDTO, at + 6, at + 6, 100, 0);
		tcp(1, true, OP_SENDTO, at + 7, at + 7, 200, 0);
		tcp(1, true, OP_RECVFROM, at + 7, at + 8, 100, 0);
		tcp(1, false, OP_RECVFROM, at + 7, at + 9, 200, 0);
		tcp(1, true, OP_SENDTO, at + 10, at + 10, 200, 0);
		tcp(1, false, OP_RECVFROM, at + 10, at + 11, 200, 0);
	}
	for (at = 200; at < 400; at += 10) {
		tcp(2, false, OP_SENDTO, at, at, 100, 0);
		tcp(2, true, OP_RECVFROM, at - 1, at + 1, 100, 0);
		tcp(2, true, OP_SENDTO, at + 3, at + 3, 200, 0);
		tcp(2, false, OP_RECVFROM, at + 1, at + 4, 200, 0);
	}
}

/* A call on a TCP socket that has transferred no bytes; @isn: it is connected */
static void on_socket(int tid, unsigned int n, unsigned int op, uint64_t from,
		      uint64_t to, unsigned int port, unsigned int error,
		      bool isn)
{
	struct io_call call = {
		.type = IO_SOCKET,
		.fd = 20 + (int)n,
		.id = 2000 + n,
		.error = error,
		.protocol = 6,
		.flags = isn ? IO_ISN_KNOWN : 0,
		.isn = isn ? 7000 + n : 0,
		.peer_isn = isn ? 8000 + n : 0,
	};
	char name[64];

	snprintf(name, sizeof(name), "10.0.0.1:%u->10.0.0.1:%u", 40100 + n,
		 port);
	call.name = name;
	make(tid, tid == CLIENT ? CLIENT : SERVER, op, from, to, call);
}

static void make_connects(bool lost)
{
	struct io_call call = { .type = IO_SOCKET,
				.id = 3000,
				.error = ECONNREFUSED,
				.protocol = 17,
				.name = "10.0.0.1:5000->10.0.0.2:53" };

	on_socket(CLIENT, 1, OP_CONNECT, 0, 20, 8101, ECONNREFUSED, false);
	on_socket(CLIENT, 1, OP_CLOSE, 21, 21, 8101, 0, false);
	on_socket(CLIENT, 2, OP_CONNECT, 30, 31, 8102, EINPROGRESS, false);
	on_socket(CLIENT, 3, OP_CONNECT, 40, 40, 8102, EINPROGRESS, false);
	if (lost)
		td_lose(&td, 0, 0);
	on_socket(CLIENT, 2, OP_CLOSE, 60, 62, 8102, 0, false);
	on_socket(CLIENT, 3, OP_CONNECT, 139, 140, 8102, ECONNREFUSED, false);
	on_socket(CLIENT, 3, OP_CLOSE, 141, 141, 8102, 0, false);
	on_socket(CLIENT, 4, OP_CONNECT, 200, 202, 8103, 0, true);
	on_socket(CLIENT, 4, OP_RECVFROM, 202, 500, 8103, ECONNRESET, false);
	on_socket(CLIENT, 4, OP_CLOSE, 501, 501, 8103, 0, false);
	on_socket(CLIENT, 5, OP_CONNECT, 510, 511, 8104, EINPROGRESS, false);
	on_socket(CLIENT, 5, OP_CLOSE, 512, 512, 8104, 0, true);
	on_socket(CLIENT, 6, OP_CONNECT, 520, 521, 8104, EINPROGRESS, false);
	on_socket(CLIENT, 7, OP_CONNECT, 530, 531, 8104, EINTR, false);
	on_socket(CLIENT, 7, OP_CONNECT, 532, 533, 8104, 0, true);
	on_socket(CLIENT, 7, OP_CLOSE, 534, 534, 8104, 0, true);
	make(CLIENT, CLIENT, OP_CONNECT, 540, 541, call);
	call.protocol = 0;
	call.family = IO_UNIX;
	call.name = "/run/full";
	make(CLIENT, CLIENT, OP_CONNECT, 550, 555, call);
	call.id++;
	call.error = ENOENT;
	call.name = "/run/none";
	make(CLIENT, CLIENT, OP_CONNECT, 560, 561, call);
	tcp(9, false, OP_SENDTO, 600, 600, 100, 0);
	tcp(9, true, OP_RECVFROM, 599, 600, 100, 0);
	on_socket(SERVER + 9, 8, OP_CONNECT, 601, 641, 8105, ECONNREFUSED,
		  false);
	tcp(9, true, OP_SENDTO, 650, 650, 200, 0);
	tcp(9, false, OP_RECVFROM, 600, 650, 200, 0);
	on_socket(CLIENT, 10, OP_CONNECT, 700, 706, 8106, 2000, false);
	on_socket(CLIENT, 11, OP_CONNECT, 710, 717, 8107, 3000, false);
	on_socket(CLIENT, 12, OP_CONNECT, 720, 728, 8108, 5000, false);
}

static void make_late(void)
{
	uint64_t at;

	for (at = 0; at < 200; at += 10) {
		tcp(1, false, OP_SENDTO, at, at, 100, 0);
		tcp(1, true, OP_RECVFROM, at, at + 1, 60, 0);
		tcp(1, true, OP_RECVFROM, at + 2, at + 2, 32, 0);
		tcp(1, true, OP_SENDTO, at + 4, at + 4, 200, 0);
		tcp(1, true, OP_RECVFROM, at + 5, at + 5, 3, 0);
		tcp(1, true, OP_RECVFROM, at + 5, at + 5, 5, 0);
		tcp(1, false, OP_RECVFROM, at, at + 6, 200, 0);
	}
	for (at = 200; at < 230; at += 10) {
		tcp(2, false, OP_SENDTO, at, at, 100, 0);
		tcp(2, false, OP_SENDTO, at, at, 100, 0);
		tcp(2, true, OP_RECVFROM, at, at + 1, 100, 0);
		tcp(2, true, OP_SENDTO, at + 2, at + 2, 200, 0);
		tcp(2, false, OP_RECVFROM, at + 2, at + 3, 200, 0);
		tcp(2, false, OP_SENDTO, at + 4, at + 4, 100, 0);
		tcp(2, true, OP_RECVFROM, at + 4, at + 5, 100, 0);
		tcp(2, true, OP_RECVFROM, at + 5, at + 5, 100, 0);
		tcp(2, true, OP_SENDTO, at + 6, at + 6, 400, 0);
		tcp(2, false, OP_RECVFROM, at + 6, at + 7, 400, 0);
	}
	for (at = 300; at < 330; at += 10) {
		tcp(3, false, OP_SENDTO, at, at, 200, 0);
		tcp(3, true, OP_RECVFROM, at, at + 1, 100, 0);
		tcp(3, true, OP_SENDTO, at + 2, at + 2, 200, 0);
		tcp(3, true, OP_RECVFROM, at + 3, at + 3, 100, 0);
		tcp(3, true, OP_SENDTO, at + 4, at + 4, 200, 0);
		tcp(3, false, OP_RECVFROM, at + 2, at + 5, 400, 0);
	}
}

static void make_over(void)
{
	const struct io_call poll = { .type = IO_ANON, .id = 5 };
	const struct io_call log = { .type = IO_FILE, .id = 7, .name = "/log" };
	const struct io_call other = { .type = IO_SOCKET,
				       .fd = 30,
				       .id = 2000,
				       .protocol = 6,
				       .flags = IO_ISN_KNOWN,
				       .isn = 6000,
				       .peer_isn = 6001,
				       .name = "10.0.0.1:50000->10.0.0.1:9001" };
	struct io_call open = { .tid = SERVER + 1,
				.tgid = SERVER,
				.op = OP_URING_OPENAT,
				.error = ENOENT,
				.name = "" };
	uint64_t at;

	for (at = 0; at < 100; at += 10) {
		make(SERVER + 1, SERVER, OP_EPOLL_WAIT, at, at, poll);
		tcp(1, false, OP_SENDTO, at, at, 100, 0);
		tcp(1, true, OP_RECVFROM, at, at + 1, 100, 0);
		tcp(1, true, OP_SENDTO, at + 2, at + 2, 200, 0);
		tcp(1, false, OP_RECVFROM, at, at + 3, 200, 0);
		make(SERVER + 1, SERVER, OP_WRITE, at + 4, at + 4, log);
		open.start = BEGIN + (at + 4) * MS;
		open.finish = open.start + MS / 2;
		io_write_request(&td, 0, &open, SERVER + 1);
		make(SERVER + 1, SERVER, OP_READ, at + 5, at + 5, other);
	}
}

static void make_not_received(void)
{
	const struct io_call poll = { .type = IO_ANON, .id = 5 };
	const struct io_call file = { .type = IO_FILE,
				      .id = 9,
				      .name = "/tmp/f" };
	unsigned int n;

	make(SERVER + 3, SERVER, OP_READ, 0, 0, file);
	for (n = 1; n <= 4; n++)
		tcp(n, false, OP_SENDTO, 0, 0, 100, 0);
	tcp(1, true, OP_RECVFROM, 0, 1, 100, 0);
	tcp(2, true, OP_RECVFROM, 0, 1, 100, 0);
	make(CLIENT + 1, CLIENT, OP_EPOLL_WAIT, 0, 3, poll);
	tcp(1, true, OP_SENDTO, 5, 5, 200, 0);
	tcp(2, true, OP_SENDTO, 5, 5, 200, 0);
	make(CLIENT + 2, CLIENT, OP_EPOLL_WAIT, 0, 8, poll);
	make(CLIENT + 1, CLIENT, OP_READ, 9, 12, file);
	make(CLIENT + 2, CLIENT, OP_EPOLL_WAIT, 10, 14, poll);
	tcp(2, false, OP_RECVFROM, 14, 14, 200, 0);
	tcp(1, false, OP_RECVFROM, 25, 25, 200, 0);
	make(SERVER + 3, SERVER, OP_EPOLL_WAIT, 30, 31, poll);
	tcp(3, true, OP_RECVFROM, 31, 31, 100, 0);
	tcp(4, true, OP_RECVFROM, 31, 31, 100, 0);
	tcp(3, true, OP_SENDTO, 33, 33, 200, 0);
	tcp(4, true, OP_SENDTO, 33, 33, 200, 0);
	tcp(3, false, OP_RECVFROM, 0, 34, 200, 0);
	tcp(4, false, OP_RECVFROM, 0, 34, 200, 0);
}

static void make_udp(void)
{
	struct io_call call = { .type = IO_SOCKET,
				.id = 77,
				.bytes = 40,
				.protocol = 17,
				.name = "10.0.0.1:5000->10.0.0.2:53" };

	make(CLIENT, CLIENT, OP_SENDTO, 1, 1, call);
	make(CLIENT, CLIENT, OP_RECVFROM, 1, 9, call);
}

int main(int argc, char **argv)
{
	struct td_layout layout = { .page_size = 4096, .clock = "mono" };
	const char *kind = argc == 3 ? argv[2] : "";
	struct io_call last = { .type = IO_FILE, .id = 9, .name = "/tmp/f" };

	td_init(&td, &layout, 1);
	td_add_event(&td, "iosys", io_call_format);
	td_add_event(&td, "iosys", io_request_format);
	td_add_event(&td, "sched", td_sched_waking);
	td_add_event(&td, "sched", td_sched_switch);
	td.cmdlines = "100 client\n200 slow\n300 other\n";
	if (!strcmp(kind, "udp")) {
		make_udp();
	} else if (!strcmp(kind, "unanswered")) {
		make_unanswered();
		/* The trace ends here */
		make(OTHER, OTHER, OP_READ, 8003, 8003, last);
	} else if (!strcmp(kind, "ends")) {
		make_ends();
	} else if (!strcmp(kind, "switches") || !strcmp(kind, "lost")) {
		make_switches(!strcmp(kind, "lost"));
	} else if (!strcmp(kind, "shared")) {
		make_shared();
	} else if (!strcmp(kind, "ports")) {
		make_ports();
	} else if (!strcmp(kind, "overlap")) {
		make_overlap();
	} else if (!strcmp(kind, "multiplexed")) {
		make_multiplexed();
	} else if (!strcmp(kind, "over")) {
		make_over();
	} else if (!strcmp(kind, "late")) {
		make_late();
	} else if (!strcmp(kind, "connects") ||
		   !strcmp(kind, "connects-lost")) {
		make_connects(!strcmp(kind, "connects-lost"));
	} else if (!strcmp(kind, "not-received")) {
		make_not_received();
	} else if (!strcmp(kind, "arriving")) {
		make_arriving();
	} else if (strcmp(kind, "formats") != 0) {
		fprintf(stderr,
			"usage: gen_failures FILE.dat formats|udp|unanswered|ends|arriving|switches|shared|overlap|ports|lost|multiplexed|late|over|not-received|connects|connects-lost\n");
		return 2;
	}
	return !td_finish(&td, argv[1]);
}
