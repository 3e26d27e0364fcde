// SPDX-License-Identifier: GPL-2.0
/*
 * A proxy that does all of its work by requests to io_uring: it hands what clients ask on
 * to a server, once or twice, and the last answer back.
 *
 * usage: uringproxy plain|defer|sqpoll SERVER-PORT CLIENTS >LOG
 *
 * Prints its port on standard error, and ends when CLIENTS clients have disconnected.
 * A message is four bytes, the length of the rest in the machine's order, and that; a
 * request whose rest is of an odd length is handed on twice.
 *
 * A line per request to the server, separated by tabs: the own port of the connection to
 * the server and the request's number on it, and the port of the client's connection and
 * the number on that of what it was for; numbers from 0 on.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <liburing.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "work.h"

#define CLIENTS_MAX 64
#define MESSAGE_MAX 4096
#define BUFFERS 256
#define BUFFER_SIZE 700
#define GROUP 1

enum { ACCEPT, RECEIVE, SEND };

struct end {
	int fd;
	unsigned int port;
	unsigned int
		messages; /* that were sent to the server, or came from the client */
	bool many; /* a request has several results */
	bool waits; /* there is such a request */
	size_t got;
	unsigned char raw[BUFFER_SIZE], in[MESSAGE_MAX], out[MESSAGE_MAX];
};

struct client {
	struct end end[2]; /* the client's, and the server's */
	unsigned int left; /* times that the request is to be handed on */
};

static struct io_uring ring;
static struct io_uring_buf_ring *buffers;
static unsigned char buffer[BUFFERS][BUFFER_SIZE];
static struct client clients[CLIENTS_MAX];
static unsigned int nr_clients, gone;

static struct io_uring_sqe *next(int what, unsigned int which)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	CHECK(sqe);
	/* Preparing it clears these members */
	sqe->user_data = what << 16 | which;
	return sqe;
}

static struct end *end_at(unsigned int which)
{
	return &clients[which / 2].end[which % 2];
}

static void give_buffer(int i)
{
	io_uring_buf_ring_add(buffers, buffer[i], BUFFER_SIZE, i,
			      io_uring_buf_ring_mask(BUFFERS), 0);
	io_uring_buf_ring_advance(buffers, 1);
}

static void receive(unsigned int which)
{
	struct end *e = end_at(which);
	struct io_uring_sqe *sqe;

	if (e->waits)
		return;
	e->waits = true;
	sqe = next(RECEIVE, which);
	if (e->many) {
		io_uring_prep_recv_multishot(sqe, e->fd, NULL, 0, 0);
		sqe->flags |= IOSQE_BUFFER_SELECT;
		sqe->buf_group = GROUP;
	} else {
		io_uring_prep_recv(sqe, e->fd, e->raw, sizeof(e->raw), 0);
	}
	sqe->user_data = RECEIVE << 16 | which;
}

static void forward(unsigned int which, const struct end *from)
{
	struct end *to = end_at(which);
	struct io_uring_sqe *sqe = next(SEND, which);

	memcpy(to->out, from->in, from->got);
	io_uring_prep_send(sqe, to->fd, to->out, from->got,
			   MSG_WAITALL | MSG_NOSIGNAL);
	sqe->user_data = SEND << 16 | which;
}

static void ask_server(struct client *c)
{
	c->left--;
	printf("%u\t%u\t%u\t%u\n", c->end[1].port, c->end[1].messages++,
	       c->end[0].port, c->end[0].messages - 1);
	forward((c - clients) * 2 + 1, &c->end[0]);
}

/* All of it is there */
static void message(unsigned int which, uint32_t length)
{
	struct client *c = &clients[which / 2];

	if (which % 2 == 0) {
		c->left = 1 + length % 2;
		c->end[0].messages++;
		ask_server(c);
		return;
	}
	if (c->left) {
		ask_server(c);
	} else {
		forward(which - 1, &c->end[1]);
		c->end[0].got = 0;
	}
	c->end[1].got = 0;
}

static void check_message(unsigned int which)
{
	struct end *e = end_at(which);
	uint32_t length;

	if (e->got < sizeof(length))
		return;
	memcpy(&length, e->in, sizeof(length));
	CHECK(length <= sizeof(e->in) - sizeof(length) &&
	      e->got <= length + sizeof(length));
	if (e->got == length + sizeof(length))
		message(which, length);
}

static void take(struct end *e, const void *bytes, size_t len)
{
	CHECK(e->got + len <= sizeof(e->in));
	memcpy(e->in + e->got, bytes, len);
	e->got += len;
}

static void received(const struct io_uring_cqe *cqe, unsigned int which)
{
	struct end *e = end_at(which);

	CHECK(cqe->res >= 0 || cqe->res == -ENOBUFS || cqe->res == -ECONNRESET);
	e->waits = cqe->flags & IORING_CQE_F_MORE;
	if (!cqe->res || cqe->res == -ECONNRESET) {
		CHECK(which % 2 == 0);
		gone++;
		return;
	}
	if (cqe->flags & IORING_CQE_F_BUFFER) {
		int i = cqe->flags >> IORING_CQE_BUFFER_SHIFT;

		take(e, buffer[i], cqe->res);
		give_buffer(i);
	} else if (cqe->res > 0) {
		take(e, e->raw, cqe->res);
	}
	/* It has no new bytes if it ended because no buffer was free */
	if (cqe->res > 0)
		check_message(which);
	receive(which);
}

static unsigned int port_of(int fd, bool peer)
{
	struct sockaddr_in in;
	socklen_t len = sizeof(in);

	CHECK(!(peer ? getpeername : getsockname)(fd, (struct sockaddr *)&in,
						  &len));
	return ntohs(in.sin_port);
}

static void accepted(const struct io_uring_cqe *cqe)
{
	struct end *e = clients[nr_clients].end;

	CHECK(cqe->res >= 0 && nr_clients < CLIENTS_MAX);
	e[0].fd = cqe->res;
	e[0].port = port_of(e[0].fd, true);
	e[0].many = nr_clients % 2;
	e[1].many = nr_clients / 2 % 2;
	receive(nr_clients * 2);
	receive(nr_clients * 2 + 1);
	nr_clients++;
}

static void complete(const struct io_uring_cqe *cqe)
{
	switch (cqe->user_data >> 16) {
	case ACCEPT:
		accepted(cqe);
		break;
	case RECEIVE:
		received(cqe, cqe->user_data & 0xffff);
		break;
	case SEND:
		CHECK(cqe->res > 0);
		break;
	}
}

static void start_ring(const char *how)
{
	struct io_uring_buf_reg reg = { .ring_entries = BUFFERS,
					.bgid = GROUP };
	unsigned int flags = 0;
	int i;

	if (!strcmp(how, "defer"))
		flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
	else if (!strcmp(how, "sqpoll"))
		flags = IORING_SETUP_SQPOLL;
	else
		CHECK(!strcmp(how, "plain"));
	CHECK(!io_uring_queue_init(512, &ring, flags));
	CHECK(!posix_memalign((void **)&buffers, 4096,
			      BUFFERS * sizeof(struct io_uring_buf)));
	reg.ring_addr = (unsigned long)buffers;
	io_uring_buf_ring_init(buffers);
	CHECK(!io_uring_register_buf_ring(&ring, &reg, 0));
	for (i = 0; i < BUFFERS; i++)
		give_buffer(i);
}

static int listen_and_tell(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(!bind(fd, (struct sockaddr *)&in, sizeof(in)) && !listen(fd, 64));
	fprintf(stderr, "%u\n", port_of(fd, false));
	return fd;
}

static void connect_to(struct end *e, unsigned int port)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	e->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(!connect(e->fd, (struct sockaddr *)&in, sizeof(in)));
	e->port = port_of(e->fd, false);
}

int main(int argc, char **argv)
{
	unsigned int wanted = argc == 4 ? atoi(argv[3]) : 0, i;
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;

	CHECK(wanted > 0 && wanted <= CLIENTS_MAX);
	start_ring(argv[1]);
	for (i = 0; i < wanted; i++)
		connect_to(&clients[i].end[1], atoi(argv[2]));
	sqe = next(ACCEPT, 0);
	io_uring_prep_multishot_accept(sqe, listen_and_tell(), NULL, NULL, 0);
	sqe->user_data = ACCEPT << 16;
	while (gone < wanted) {
		CHECK(io_uring_submit_and_wait(&ring, 1) >= 0);
		while (!io_uring_peek_cqe(&ring, &cqe)) {
			complete(cqe);
			io_uring_cqe_seen(&ring, cqe);
		}
	}
	io_uring_queue_exit(&ring);
	return 0;
}
