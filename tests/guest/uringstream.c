// SPDX-License-Identifier: GPL-2.0
/*
 * Sends streams of random bytes through sockets and pipes with requests to io_uring and
 * aio, and writes down which bytes each result was about: what it sent from that place,
 * and what it received and found to be those of that place.
 *
 * usage: uringstream >LOG
 *
 * A line per result, separated by tabs:
 *
 *	tgid user_data part op result stream way from end pipe way from end flags
 *
 * where a stream of sockets is identified by its end's cookie, and a pipe by its inode number,
 * both 0 without one; part is the number of earlier results; way: "in" or
 * "out"; flags: "peeked", "more" if there are more results, or "-".
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/aio_abi.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "work.h"

/* Of a stream; more than any socket or pipe holds at a time here */
#define STREAM 150000
#define MOST_SENT 12000
#define MOST_RECEIVED 9000

/* Maximum number of results of multishot requests until no buffer is left */
#define BUFFERS 4
#define BUFFER_SIZE 1500
#define GROUP 7

enum kind { TCP, UNIX, PIPE };

/**
 * struct way - from one end to the other
 * @out:	descriptor that is written to
 * @in:		descriptor that is read from
 * @pipe:	what is spliced goes through these, from where it is received, and to where it
 *		is sent
 * @data:	what is sent
 * @sent:	number of bytes sent so far
 * @received:	number of bytes received so far
 * @piped:	bytes that went through these so far
 * @put:	how many were put into the second one for a request
 * @sending:	the request that sends, or NULL
 * @receiving:	the request that receives, or NULL
 * @buffer:	where to
 * @vec:	parts of it, or of what is sent
 * @msg:	likewise
 */
struct way {
	int out, in, pipe[2][2];
	unsigned char data[STREAM];
	size_t sent, received, piped[2], put;
	struct request *sending, *receiving;
	unsigned char buffer[MOST_SENT];
	struct iovec vec[2][2];
	struct msghdr msg[2];
};

struct request {
	int number;
	struct way *way;
	const char *op;
	bool out, peeks, splices, notifies, many;
	unsigned int parts;
};

static struct io_uring ring;
static struct io_uring_buf_ring *buffers;
static unsigned char buffer[BUFFERS][BUFFER_SIZE];
static enum kind kind;
static unsigned int sqe_flags, ring_flags;
static struct request requests[4];
static int numbers;
static struct way ways[2];
static aio_context_t context;

static unsigned int below(unsigned int n)
{
	return random() % n;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* ------------------------------------------------------------------------- */
/* What it is known by, and what becomes of it */

static unsigned long long id_of(int fd)
{
	unsigned long long cookie;
	socklen_t len = sizeof(cookie);
	struct stat st;

	if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len)) {
		CHECK(!fstat(fd, &st));
		return st.st_ino;
	}
	return cookie;
}

static void print_bytes(bool there, int fd, bool out, size_t from, long len)
{
	if (there && len > 0)
		printf("\t%llu\t%s\t%zu\t%zu", id_of(fd), out ? "out" : "in",
		       from, from + len);
	else
		printf("\t0\t-\t0\t0");
}

static void print(const struct request *r, long result, bool more)
{
	const struct way *w = r->way;
	bool is_pipe = kind == PIPE;
	size_t at = r->out ? w->sent : w->received;
	int fd = r->out ? w->out : w->in;

	printf("%d\t%d\t%u\t%s\t%ld", getpid(), r->number, r->parts, r->op,
	       result);
	print_bytes(!is_pipe, fd, r->out, at, result);
	if (is_pipe)
		print_bytes(true, fd, r->out, at, result);
	else
		print_bytes(r->splices, w->pipe[r->out][0], !r->out,
			    w->piped[r->out], result);
	printf("\t%s\n", r->peeks ? "peeked" : more ? "more" : "-");
}

/* The bytes received are those sent at that offset */
static void check(const struct way *w, const void *bytes, size_t len)
{
	CHECK(w->received + len <= w->sent + MOST_SENT);
	CHECK(!memcmp(bytes, w->data + w->received, len));
}

/* The pipe's other end is written to or read from by calls */
static void through_pipe(const int *fd, void *bytes, size_t len, bool in)
{
	ssize_t done;

	for (; len; len -= done, bytes += done) {
		done = in ? write(fd[1], bytes, len) : read(fd[0], bytes, len);
		CHECK(done > 0);
	}
}

static void received(struct request *r, const void *bytes, long result)
{
	struct way *w = r->way;

	if (result <= 0)
		return;
	if (r->splices) {
		through_pipe(w->pipe[0], w->buffer, result, false);
		w->piped[0] += result;
	}
	check(w, bytes, result);
	if (!r->peeks)
		w->received += result;
}

static void sent(struct request *r, long result)
{
	unsigned char rest[4096];
	struct way *w = r->way;

	if (result > 0)
		w->sent += result;
	if (!r->splices)
		return;
	/* Bytes that have not been sent must not be sent later */
	through_pipe(w->pipe[1], rest, w->put - result, false);
	w->piped[1] += w->put;
}

/* It has no results any more */
static void is_over(struct request *r)
{
	if (r->out)
		r->way->sending = NULL;
	else
		r->way->receiving = NULL;
}

static void complete(const struct io_uring_cqe *cqe)
{
	struct request *r = &requests[cqe->user_data % 4];
	unsigned int which = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
	bool more = cqe->flags & IORING_CQE_F_MORE;
	bool chosen = cqe->flags & IORING_CQE_F_BUFFER;

	CHECK((unsigned int)r->number == cqe->user_data);
	if (cqe->flags & IORING_CQE_F_NOTIF) {
		is_over(r);
		return;
	}
	CHECK(cqe->res >= 0 || cqe->res == -ENOBUFS || cqe->res == -ECANCELED);
	print(r, cqe->res, more && !r->notifies);
	if (r->out)
		sent(r, cqe->res);
	else
		received(r, chosen ? buffer[which] : r->way->buffer, cqe->res);
	r->parts++;
	if (!more)
		is_over(r);
}

/* ------------------------------------------------------------------------- */
/* Requests to io_uring */

static struct request *begin(struct way *w, bool out, const char *op)
{
	struct request *r = &requests[(w - ways) * 2 + out];

	/* The number includes its place */
	numbers += 4;
	*r = (struct request){ .number = numbers + (int)(r - requests),
			       .way = w,
			       .op = op,
			       .out = out };
	if (out)
		w->sending = r;
	else
		w->receiving = r;
	return r;
}

static struct io_uring_sqe *next(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	CHECK(sqe);
	return sqe;
}

static void set_parts(struct way *w, bool out, void *bytes, size_t len)
{
	size_t first = below(len);

	w->vec[out][0] = (struct iovec){ bytes, first };
	w->vec[out][1] = (struct iovec){ bytes + first, len - first };
	w->msg[out] =
		(struct msghdr){ .msg_iov = w->vec[out], .msg_iovlen = 2 };
}

static void send_some(struct way *w)
{
	size_t len = least(1 + below(MOST_SENT), STREAM - w->sent);
	unsigned char *bytes = w->data + w->sent;
	unsigned int what = kind == PIPE ? below(2) : below(7);
	static const char *const ops[] = { "write",  "writev",	"send",
					   "send",   "sendmsg", "splice",
					   "send_zc" };
	struct io_uring_sqe *sqe = next();
	struct request *r;

	if (what == 6 && kind != TCP)
		what = 2;
	r = begin(w, true, ops[what]);
	set_parts(w, true, bytes, len);
	switch (what) {
	case 0:
		io_uring_prep_write(sqe, w->out, bytes, len, 0);
		break;
	case 1:
		io_uring_prep_writev(sqe, w->out, w->vec[1], 2, 0);
		break;
	case 2:
		io_uring_prep_send(sqe, w->out, bytes, len, 0);
		break;
	case 3:
		io_uring_prep_send(sqe, w->out, bytes, len, MSG_WAITALL);
		break;
	case 4:
		io_uring_prep_sendmsg(sqe, w->out, &w->msg[1], 0);
		break;
	case 5:
		len = least(len, 4096);
		w->put = len;
		through_pipe(w->pipe[1], bytes, len, true);
		r->splices = true;
		io_uring_prep_splice(sqe, w->pipe[1][0], -1, w->out, -1, len,
				     0);
		break;
	case 6:
		r->notifies = true;
		io_uring_prep_send_zc(sqe, w->out, bytes, len, 0, 0);
		break;
	}
	sqe->flags |= sqe_flags;
	sqe->user_data = r->number;
}

static void provide_buffers(void)
{
	int i;

	for (i = 0; i < BUFFERS; i++)
		io_uring_buf_ring_add(buffers, buffer[i], BUFFER_SIZE, i,
				      io_uring_buf_ring_mask(BUFFERS), i);
	io_uring_buf_ring_advance(buffers, BUFFERS);
}

/* Until the buffers are used up; which others may not do before that */
static void receive_many(struct request *r, struct io_uring_sqe *sqe)
{
	provide_buffers();
	r->many = true;
	io_uring_prep_recv_multishot(sqe, r->way->in, NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = GROUP;
}

static bool can_receive_many(const struct way *w)
{
	/* One at a time, and none that would never complete */
	return kind != PIPE && !sqe_flags && w == ways &&
	       STREAM - w->received > BUFFERS * BUFFER_SIZE;
}

static void receive_some(struct way *w)
{
	size_t left = STREAM - w->received;
	size_t len = least(1 + below(MOST_RECEIVED), left);
	unsigned int what = kind == PIPE ? below(2) : below(8);
	static const char *const ops[] = { "read",    "readv",	"recv", "recv",
					   "recvmsg", "splice", "recv", "recv" };
	struct io_uring_sqe *sqe = next();
	struct request *r;

	if (what == 7 && !can_receive_many(w))
		what = 2;
	r = begin(w, false, ops[what]);
	set_parts(w, false, w->buffer, len);
	switch (what) {
	case 0:
		io_uring_prep_read(sqe, w->in, w->buffer, len, 0);
		break;
	case 1:
		io_uring_prep_readv(sqe, w->in, w->vec[0], 2, 0);
		break;
	case 2:
		io_uring_prep_recv(sqe, w->in, w->buffer, len, 0);
		break;
	case 3:
		io_uring_prep_recv(sqe, w->in, w->buffer, len, MSG_WAITALL);
		break;
	case 4:
		io_uring_prep_recvmsg(sqe, w->in, &w->msg[0], 0);
		break;
	case 5:
		len = least(len, 4096);
		r->splices = true;
		io_uring_prep_splice(sqe, w->in, -1, w->pipe[0][1], -1, len, 0);
		break;
	case 6:
		r->peeks = true;
		io_uring_prep_recv(sqe, w->in, w->buffer, len, MSG_PEEK);
		break;
	case 7:
		receive_many(r, sqe);
		break;
	}
	sqe->flags |= r->many ? 0 : sqe_flags;
	sqe->user_data = r->number;
}

static void submit_some(struct way *w)
{
	/* Some wait for the bytes sent then, others find them already there */
	bool first = below(2);

	if (first && !w->sending && w->sent < STREAM)
		send_some(w);
	if (!w->receiving && w->received < STREAM)
		receive_some(w);
	if (!first && !w->sending && w->sent < STREAM)
		send_some(w);
}

static bool is_going(const struct way *w)
{
	return w->received < STREAM || w->sending || w->receiving;
}

static void transfer(int nr)
{
	struct io_uring_cqe *cqe;
	int i;

	while (is_going(&ways[0]) || (nr > 1 && is_going(&ways[1]))) {
		for (i = 0; i < nr; i++)
			submit_some(&ways[i]);
		CHECK(io_uring_submit_and_wait(&ring, 1) >= 0);
		while (!io_uring_peek_cqe(&ring, &cqe)) {
			complete(cqe);
			io_uring_cqe_seen(&ring, cqe);
		}
	}
}

/* All results of the one request */
static void reap_all(const struct request *r)
{
	const struct way *w = r->way;
	struct io_uring_cqe *cqe;

	CHECK(io_uring_submit(&ring) == 1);
	while (r->out ? w->sending : w->receiving) {
		CHECK(!io_uring_wait_cqe(&ring, &cqe));
		complete(cqe);
		io_uring_cqe_seen(&ring, cqe);
	}
}

/* ------------------------------------------------------------------------- */
/* Requests of aio, which are done when they are submitted */

static void aio(struct way *w, bool out, int cmd, const char *op, void *bytes,
		size_t len)
{
	struct request *r = begin(w, out, op);
	struct iocb iocb = { .aio_data = r->number,
			     .aio_lio_opcode = cmd,
			     .aio_fildes = out ? w->out : w->in,
			     .aio_buf = (unsigned long)bytes,
			     .aio_nbytes = len };
	struct iocb *list = &iocb;
	struct io_event event;

	CHECK(syscall(SYS_io_submit, context, 1, &list) == 1);
	CHECK(syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1);
	CHECK((int)event.data == r->number && event.res > 0);
	print(r, event.res, false);
	if (out)
		sent(r, event.res);
	else
		received(r, w->buffer, event.res);
	is_over(r);
}

/* Never more than there is room for, or than there is */
static void transfer_by_aio(struct way *w)
{
	while (w->received < 20000) {
		size_t ahead = w->sent - w->received;

		if (ahead < 2000)
			aio(w, true, IOCB_CMD_PWRITE, "pwrite",
			    w->data + w->sent, 1 + below(1000));
		if (!below(2))
			aio(w, false, IOCB_CMD_PREAD, "pread", w->buffer,
			    1 + below(1500));
	}
}

/* ------------------------------------------------------------------------- */

static void connect_both(int *fd)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(in);

	CHECK(!bind(listener, (struct sockaddr *)&in, len) &&
	      !listen(listener, 1) &&
	      !getsockname(listener, (struct sockaddr *)&in, &len));
	fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(!connect(fd[0], (struct sockaddr *)&in, len));
	fd[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	CHECK(fd[1] >= 0);
	close(listener);
}

/* Less room than a request may want: it has to be tried again */
static void make_small(int fd)
{
	int size = 8192;

	CHECK(!setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)));
}

static void begin_way(struct way *w, int out, int in)
{
	size_t i;

	memset(w, 0, sizeof(*w));
	w->out = out;
	w->in = in;
	CHECK(!pipe2(w->pipe[0], O_CLOEXEC) && !pipe2(w->pipe[1], O_CLOEXEC));
	for (i = 0; i < STREAM; i++)
		w->data[i] = random();
}

static int begin_ways(int *fd)
{
	if (kind == PIPE) {
		CHECK(!pipe2(fd, O_CLOEXEC));
		begin_way(&ways[0], fd[1], fd[0]);
		return 1;
	}
	if (kind == TCP)
		connect_both(fd);
	else
		CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
	make_small(fd[0]);
	make_small(fd[1]);
	begin_way(&ways[0], fd[0], fd[1]);
	begin_way(&ways[1], fd[1], fd[0]);
	return 2;
}

static void end_ways(const int *fd)
{
	int i;

	close(fd[0]);
	close(fd[1]);
	for (i = 0; i < (kind == PIPE ? 1 : 2); i++) {
		close(ways[i].pipe[0][0]);
		close(ways[i].pipe[0][1]);
		close(ways[i].pipe[1][0]);
		close(ways[i].pipe[1][1]);
	}
}

static void register_buffers(void)
{
	struct io_uring_buf_reg reg = { .ring_entries = BUFFERS,
					.bgid = GROUP };

	CHECK(!posix_memalign((void **)&buffers, 4096, 4096));
	reg.ring_addr = (unsigned long)buffers;
	io_uring_buf_ring_init(buffers);
	CHECK(!io_uring_register_buf_ring(&ring, &reg, 0));
}

static void with_ring(unsigned int flags, unsigned int each)
{
	int fd[2];

	ring_flags = flags;
	sqe_flags = each;
	CHECK(!io_uring_queue_init(64, &ring, flags));
	register_buffers();
	for (kind = TCP; kind <= PIPE; kind++) {
		transfer(begin_ways(fd));
		end_ways(fd);
	}
	io_uring_queue_exit(&ring);
	free(buffers);
}

/* More results of one request at a time than the ring has room for: the last one waits */
static void without_room(void)
{
	struct io_uring_params params = { .flags = IORING_SETUP_CQSIZE,
					  .cq_entries = 2 };
	const size_t len = BUFFERS * BUFFER_SIZE;
	struct way *w = &ways[0];
	struct io_uring_sqe *sqe;
	struct request *r;
	int fd[2], there;

	CHECK(!io_uring_queue_init_params(1, &ring, &params));
	CHECK(params.cq_entries == 2);
	register_buffers();
	for (kind = TCP; kind <= UNIX; kind++) {
		begin_ways(fd);
		sqe = next();
		r = begin(w, true, "send");
		io_uring_prep_send(sqe, w->out, w->data, len, MSG_WAITALL);
		sqe->user_data = r->number;
		reap_all(r);
		CHECK(w->sent == len);
		do {
			CHECK(!ioctl(w->in, FIONREAD, &there));
		} while (there < (int)len);
		sqe = next();
		r = begin(w, false, "recv");
		receive_many(r, sqe);
		sqe->user_data = r->number;
		reap_all(r);
		CHECK(r->parts == 3 && w->received == 3 * BUFFER_SIZE);
		/* The buffer that is left is used in the other round, too */
		CHECK(!io_uring_unregister_buf_ring(&ring, GROUP));
		free(buffers);
		register_buffers();
		end_ways(fd);
	}
	io_uring_queue_exit(&ring);
	free(buffers);
}

static void with_aio(void)
{
	int fd[2];

	CHECK(!syscall(SYS_io_setup, 8, &context));
	for (kind = TCP; kind <= PIPE; kind++) {
		begin_ways(fd);
		transfer_by_aio(&ways[0]);
		end_ways(fd);
	}
	CHECK(!syscall(SYS_io_destroy, context));
}

int main(void)
{
	srandom(1);
	alarm(200 * time_scale());
	with_ring(0, 0);
	with_ring(IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, 0);
	/* Workers and threads of the kernel do it */
	with_ring(0, IOSQE_ASYNC);
	with_ring(IORING_SETUP_SQPOLL, 0);
	without_room();
	with_aio();
	return 0;
}
