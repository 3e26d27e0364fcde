// SPDX-License-Identifier: GPL-2.0
/*
 * Makes io_uring requests and writes down for each what it was, from what the
 * program itself knows: its submission and completion queue entries, fstat(),
 * SO_COOKIE, and CLOCK_MONOTONIC before it submits and after it has seen the
 * completion.
 *
 * usage: uringwork FILE >LOG
 *
 * A line per request, separated by tabs:
 *
 *	tgid tid user_data op result bytes parts start end fd id dev type name how
 *
 * where tid is 0 if it is not known. How: "index" of a registered file, "skip" for
 * one without a completion, "hangs", "gone" for one of a process that died before,
 * "unissued" for one that never got its file, "asked" if the name is what the program
 * asked for, or "-".
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

#define REQUESTS 4000

struct request {
	pid_t tgid, tid;
	const char *op;
	bool moves, done;
	long result, bytes;
	int parts;
	unsigned long long start, end;
	int fd;
	unsigned long long id;
	char dev[32], name[300];
	unsigned int type;
	const char *how;
};

/* Shared with children; a request's number is what it is known by to the kernel */
static struct request *requests;
static int *nr_requests;

static struct io_uring ring;
static pid_t submitter;
static const char *path;
static char buffer[65536];

static void address(char *to, const struct sockaddr_in *in)
{
	char text[INET_ADDRSTRLEN];

	sprintf(to, "%s:%u",
		inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text)),
		ntohs(in->sin_port));
}

static void name_socket(struct request *r, int fd)
{
	struct sockaddr_in in;
	unsigned long long cookie;
	socklen_t len = sizeof(cookie);

	CHECK(!getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len));
	r->id = cookie;
	strcpy(r->dev, "0:0");
	len = sizeof(in);
	CHECK(!getsockname(fd, (struct sockaddr *)&in, &len));
	if (in.sin_family != AF_INET)
		return;
	address(r->name, &in);
	len = sizeof(in);
	if (!getpeername(fd, (struct sockaddr *)&in, &len)) {
		strcat(r->name, "->");
		address(r->name + strlen(r->name), &in);
	}
}

static void what(struct request *r, int fd)
{
	char link[64];
	struct stat st;
	ssize_t len;

	if (fstat(fd, &st))
		return;
	r->type = (st.st_mode & S_IFMT) >> 12;
	if (S_ISSOCK(st.st_mode)) {
		name_socket(r, fd);
		return;
	}
	r->id = st.st_ino;
	sprintf(r->dev, "%u:%u", major(st.st_dev), minor(st.st_dev));
	sprintf(link, "/proc/self/fd/%d", fd);
	len = readlink(link, r->name, sizeof(r->name) - 1);
	CHECK(len >= 0);
}

/* The next entry, to be filled by io_uring_prep_...(), which clears user_data */
static struct io_uring_sqe *next(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	CHECK(sqe);
	return sqe;
}

/* A prepared request; fd: of the object, -1 for none */
static struct request *add(struct io_uring_sqe *sqe, const char *op, bool moves,
			   int fd)
{
	int n = (*nr_requests)++;
	struct request *r = &requests[n];

	CHECK(n < REQUESTS);
	*r = (struct request){ .tgid = getpid(),
			       .tid = submitter,
			       .op = op,
			       .moves = moves,
			       .start = now(),
			       .fd = fd,
			       .dev = "0:0",
			       .how = "-" };
	if (fd >= 0)
		what(r, fd);
	sqe->user_data = n;
	return r;
}

static void complete(const struct io_uring_cqe *cqe)
{
	struct request *r = &requests[cqe->user_data];

	CHECK(cqe->user_data < (unsigned int)*nr_requests && !r->done);
	r->result = cqe->res;
	if (r->moves && cqe->res > 0)
		r->bytes += cqe->res;
	if (cqe->flags & IORING_CQE_F_MORE) {
		r->parts++;
	} else {
		r->end = now();
		r->done = true;
	}
}

static void reap(int n)
{
	struct io_uring_cqe *cqe;

	while (n--) {
		int ret = io_uring_wait_cqe(&ring, &cqe);

		CHECK(!ret);
		complete(cqe);
		io_uring_cqe_seen(&ring, cqe);
	}
}

/* A kernel thread may have consumed them already; then they are not counted */
static void submit(int n)
{
	int ret = io_uring_submit(&ring);

	CHECK(ret == n || (ring.flags & IORING_SETUP_SQPOLL && ret >= 0));
}

static void submit_and_reap(int n)
{
	submit(n);
	reap(n);
}

/* ------------------------------------------------------------------------- */

static void add_read(int fd, void *to, unsigned int len, unsigned long long at,
		     unsigned int flags)
{
	struct io_uring_sqe *sqe = next();

	io_uring_prep_read(sqe, fd, to, len, at);
	sqe->flags |= flags;
	add(sqe, "read", true, fd);
}

static void add_write(int fd, unsigned int len, unsigned long long at,
		      unsigned int flags)
{
	struct io_uring_sqe *sqe = next();

	io_uring_prep_write(sqe, fd, buffer, len, at);
	sqe->flags |= flags;
	add(sqe, "write", true, fd);
}

static void add_fsync(int fd, unsigned int flags)
{
	struct io_uring_sqe *sqe = next();

	io_uring_prep_fsync(sqe, fd, 0);
	sqe->flags |= flags;
	add(sqe, "fsync", false, fd);
}

static void files(unsigned int flags)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644), i;
	struct iovec vec[2] = { { buffer, 100 }, { buffer + 4096, 200 } };
	struct io_uring_sqe *sqe;

	CHECK(fd >= 0);
	for (i = 0; i < 20; i++)
		add_write(fd, 1000 + i, 5000 * i, flags);
	submit_and_reap(20);
	add_fsync(fd, flags);
	submit_and_reap(1);
	for (i = 0; i < 30; i++)
		add_read(fd, buffer, 777 * i, 1000 * i, flags);
	submit_and_reap(30);
	sqe = next();
	io_uring_prep_writev(sqe, fd, vec, 2, 0);
	add(sqe, "writev", true, fd);
	submit_and_reap(1);
	sqe = next();
	io_uring_prep_readv(sqe, fd, vec, 2, 0);
	add(sqe, "readv", true, fd);
	submit_and_reap(1);
	sqe = next();
	io_uring_prep_fallocate(sqe, fd, 0, 0, 200000);
	add(sqe, "fallocate", false, fd);
	submit_and_reap(1);
	/* Behind the end, and no descriptor at all */
	add_read(fd, buffer, 100, 1 << 30, flags);
	submit_and_reap(1);
	add_read(999, buffer, 100, 0, flags);
	submit_and_reap(1);
	close(fd);
}

static void links(void)
{
	int fd = open(path, O_RDWR);

	CHECK(fd >= 0);
	add_write(fd, 3000, 0, IOSQE_IO_LINK);
	add_fsync(fd, IOSQE_IO_LINK);
	add_read(fd, buffer, 3000, 0, 0);
	submit_and_reap(3);
	/* A chain that breaks: later requests are cancelled, and never get a file */
	add_read(fd, (void *)8, 100, 0, IOSQE_IO_LINK);
	add_fsync(fd, IOSQE_IO_LINK);
	add_read(fd, buffer, 100, 0, 0);
	requests[*nr_requests - 2].how = "unissued";
	requests[*nr_requests - 1].how = "unissued";
	submit_and_reap(3);
	CHECK(requests[*nr_requests - 1].result == -ECANCELED);
	close(fd);
}

static void registered(void)
{
	struct iovec vec = { buffer, sizeof(buffer) };
	int fd = open(path, O_RDWR), i;

	CHECK(fd >= 0 && !io_uring_register_files(&ring, &fd, 1) &&
	      !io_uring_register_buffers(&ring, &vec, 1));
	for (i = 0; i < 5; i++) {
		struct io_uring_sqe *sqe = next();
		struct request *r;

		io_uring_prep_read_fixed(sqe, 0, buffer, 400 + i, 0, 0);
		sqe->flags |= IOSQE_FIXED_FILE;
		r = add(sqe, "read_fixed", true, fd);
		r->fd = 0;
		r->how = "index";
	}
	submit_and_reap(5);
	CHECK(!io_uring_unregister_files(&ring) &&
	      !io_uring_unregister_buffers(&ring));
	close(fd);
}

static void names(void)
{
	struct io_uring_sqe *sqe = next();
	struct statx stx;

	io_uring_prep_openat(sqe, AT_FDCWD, path, O_RDONLY, 0);
	add(sqe, "openat", false, -1);
	submit_and_reap(1);
	sqe = next();
	io_uring_prep_close(sqe, requests[*nr_requests - 1].result);
	add(sqe, "close", false, -1);
	submit_and_reap(1);
	sqe = next();
	io_uring_prep_openat(sqe, AT_FDCWD, "/nowhere/at/all", O_RDONLY, 0);
	add(sqe, "openat", false, -1);
	submit_and_reap(1);
	sqe = next();
	io_uring_prep_statx(sqe, AT_FDCWD, path, 0, STATX_SIZE, &stx);
	add(sqe, "statx", false, -1);
	submit_and_reap(1);
	sqe = next();
	io_uring_prep_nop(sqe);
	add(sqe, "nop", false, -1);
	submit_and_reap(1);
	/* A number that does not exist counts as the first one, and fails */
	sqe = next();
	io_uring_prep_nop(sqe);
	sqe->opcode = 250;
	add(sqe, "nop", false, -1);
	submit_and_reap(1);
	CHECK(requests[*nr_requests - 1].result == -EINVAL);
}

static void sockets(int family)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(in);
	struct io_uring_sqe *sqe;
	int pair[2], at, i;

	if (family == AF_UNIX) {
		CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	} else {
		int listener = socket(AF_INET, SOCK_STREAM, 0);

		CHECK(!bind(listener, (struct sockaddr *)&in, len) &&
		      !listen(listener, 5) &&
		      !getsockname(listener, (struct sockaddr *)&in, &len));
		pair[0] = socket(AF_INET, SOCK_STREAM, 0);
		CHECK(!connect(pair[0], (struct sockaddr *)&in, len));
		sqe = next();
		io_uring_prep_accept(sqe, listener, NULL, NULL, 0);
		add(sqe, "accept", false, listener);
		submit_and_reap(1);
		pair[1] = requests[*nr_requests - 1].result;
		CHECK(pair[1] >= 0);
		close(listener);
	}
	for (i = 0; i < 10; i++) {
		/* It waits for the bytes sent then */
		sqe = next();
		io_uring_prep_recv(sqe, pair[1], buffer, 5000, 0);
		add(sqe, "recv", true, pair[1]);
		submit(1);
		at = *nr_requests - 1;
		CHECK(!requests[at].done);
		sqe = next();
		io_uring_prep_send(sqe, pair[0], buffer + 6000, 1 + 100 * i, 0);
		add(sqe, "send", true, pair[0]);
		submit_and_reap(1);
		reap(1);
		CHECK(requests[at].result == 1 + 100 * i);
	}
	close(pair[0]);
	close(pair[1]);
}

/* Accepts as many connections as are not accept()ed; -1: none */
static int tcp_socket(struct sockaddr_in *in, int backlog)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(*in);

	*in = (struct sockaddr_in){ .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	CHECK(!bind(fd, (struct sockaddr *)in, len) &&
	      (backlog < 0 || !listen(fd, backlog)));
	CHECK(!getsockname(fd, (struct sockaddr *)in, &len));
	return fd;
}

static struct request *add_connect(int fd, const void *to, socklen_t len,
				   unsigned int flags)
{
	struct io_uring_sqe *sqe = next();

	io_uring_prep_connect(sqe, fd, to, len);
	sqe->flags |= flags;
	return add(sqe, "connect", false, fd);
}

/* The socket as it is now, and the peer that it does not have, but was to */
static void name_peer(struct request *r, int fd, const struct sockaddr_in *to)
{
	name_socket(r, fd);
	CHECK(r->result < 0 && !strstr(r->name, "->"));
	strcat(r->name, "->");
	address(r->name + strlen(r->name), to);
}

static void connected(unsigned int flags)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in in;
	int listener = tcp_socket(&in, 5);
	struct request *r = add_connect(fd, &in, sizeof(in), flags);

	submit_and_reap(1);
	CHECK(!r->result);
	name_socket(r, fd);
	close(fd);
	close(listener);
}

/* Refused later, at once without a route, and before the address is checked */
static void refused(unsigned int flags)
{
	struct sockaddr_in in;
	int deaf = tcp_socket(&in, -1), fd = socket(AF_INET, SOCK_STREAM, 0);
	struct request *r = add_connect(fd, &in, sizeof(in), flags);

	submit_and_reap(1);
	CHECK(r->result == -ECONNREFUSED);
	name_peer(r, fd, &in);
	close(fd);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	r = add_connect(fd, &in, 4, flags);
	submit_and_reap(1);
	CHECK(r->result == -EINVAL);
	in.sin_addr.s_addr = htonl(INADDR_BROADCAST);
	r = add_connect(fd, &in, sizeof(in), flags);
	submit_and_reap(1);
	name_peer(r, fd, &in);
	r->how = "asked";
	close(fd);
	close(deaf);
}

static void no_such_peer(unsigned int flags)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX,
				  .sun_path = "nowhere" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct request *r = add_connect(fd, &un, sizeof(un), flags);

	submit_and_reap(1);
	CHECK(r->result == -ENOENT);
	strcpy(r->name, un.sun_path);
	r->how = "asked";
	close(fd);
	fd = open("/dev/null", O_RDWR);
	r = add_connect(fd, &un, sizeof(un), flags);
	submit_and_reap(1);
	CHECK(r->result == -ENOTSOCK);
	close(fd);
}

/* The backlog of the listener is full: it does not accept the connection that it has */
static void connect_in_time(void)
{
	struct __kernel_timespec soon = { .tv_nsec = 20000000 };
	int first = socket(AF_INET, SOCK_STREAM, 0),
	    fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in in;
	struct pollfd busy = { .fd = tcp_socket(&in, 0), .events = POLLIN };
	struct io_uring_sqe *sqe;
	struct request *r;

	CHECK(!connect(first, (struct sockaddr *)&in, sizeof(in)) &&
	      poll(&busy, 1, -1) == 1);
	r = add_connect(fd, &in, sizeof(in), IOSQE_IO_LINK);
	sqe = next();
	io_uring_prep_link_timeout(sqe, &soon, 0);
	add(sqe, "link_timeout", false, -1);
	submit_and_reap(2);
	CHECK(r->result == -ECANCELED);
	name_peer(r, fd, &in);
	close(fd);
	close(first);
	close(busy.fd);
}

static void connects(unsigned int flags)
{
	connected(flags);
	refused(flags);
	no_such_peer(flags);
}

static void cancelled(void)
{
	struct __kernel_timespec soon = { .tv_nsec = 20000000 };
	struct io_uring_sqe *sqe;
	int pipefd[2];

	CHECK(!pipe(pipefd));
	add_read(pipefd[0], buffer, 10, 0, 0);
	submit(1);
	sqe = next();
	io_uring_prep_cancel64(sqe, *nr_requests - 1, 0);
	add(sqe, "async_cancel", false, -1);
	submit_and_reap(1);
	reap(1);
	CHECK(requests[*nr_requests - 2].result == -ECANCELED);
	sqe = next();
	io_uring_prep_timeout(sqe, &soon, 0, 0);
	add(sqe, "timeout", false, -1);
	submit_and_reap(1);
	CHECK(requests[*nr_requests - 1].result == -ETIME);
	/* A request with a time limit */
	add_read(pipefd[0], buffer, 10, 0, IOSQE_IO_LINK);
	sqe = next();
	io_uring_prep_link_timeout(sqe, &soon, 0);
	add(sqe, "link_timeout", false, -1);
	submit_and_reap(2);
	close(pipefd[0]);
	close(pipefd[1]);
}

/* One request with several results */
static void multishot(void)
{
	struct io_uring_sqe *sqe = next();
	int pipefd[2], at, i;

	CHECK(!pipe(pipefd));
	io_uring_prep_poll_multishot(sqe, pipefd[0], POLLIN);
	add(sqe, "poll_add", false, pipefd[0]);
	at = *nr_requests - 1;
	submit(1);
	for (i = 0; i < 4; i++) {
		CHECK(write(pipefd[1], "x", 1) == 1);
		reap(1);
		CHECK(read(pipefd[0], buffer, 1) == 1);
	}
	sqe = next();
	io_uring_prep_cancel64(sqe, at, 0);
	add(sqe, "async_cancel", false, -1);
	submit_and_reap(1);
	reap(1);
	CHECK(requests[at].done && requests[at].parts == 4);
	close(pipefd[0]);
	close(pipefd[1]);
}

static void without_completion(void)
{
	struct io_uring_sqe *sqe = next();
	struct request *r;

	io_uring_prep_nop(sqe);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
	r = add(sqe, "nop", false, -1);
	r->how = "skip";
	submit(1);
	r->end = now();
	r->done = true;
}

static void hanging(void)
{
	int pipefd[2];

	CHECK(!pipe(pipefd));
	add_read(pipefd[0], buffer, 10, 0, 0);
	requests[*nr_requests - 1].how = "hangs";
	submit(1);
	sleep(4);
	CHECK(write(pipefd[1], "hello", 5) == 5);
	reap(1);
	close(pipefd[0]);
	close(pipefd[1]);
}

/* A process that exits before a request has its result */
static void leaving(void)
{
	int pipefd[2], status;

	CHECK(!pipe(pipefd));
	if (!fork()) {
		submitter = getpid();
		CHECK(!io_uring_queue_init(8, &ring, 0));
		add_read(pipefd[0], buffer, 10, 0, 0);
		requests[*nr_requests - 1].how = "gone";
		submit(1);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && !status);
	close(pipefd[0]);
	close(pipefd[1]);
}

static void all(void)
{
	files(0);
	files(IOSQE_ASYNC);
	links();
	registered();
	names();
	sockets(AF_UNIX);
	sockets(AF_INET);
	connects(0);
	connects(IOSQE_ASYNC);
	connect_in_time();
	cancelled();
	multishot();
	without_completion();
}

static void print(void)
{
	int i;

	for (i = 0; i < *nr_requests; i++) {
		const struct request *r = &requests[i];

		CHECK(r->done || !strcmp(r->how, "gone"));
		printf("%d\t%d\t%d\t%s\t%ld\t%ld\t%d\t%llu\t%llu\t%d\t%llu\t%s\t%u\t%s\t%s\n",
		       r->tgid, r->tid, i, r->op, r->result, r->bytes, r->parts,
		       r->start, r->end, r->fd, r->id, r->dev, r->type, r->name,
		       r->how);
	}
}

static void *shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	path = argv[1];
	requests = shared(REQUESTS * sizeof(*requests));
	nr_requests = shared(sizeof(*nr_requests));
	submitter = getpid();
	CHECK(!io_uring_queue_init(64, &ring, 0));
	all();
	hanging();
	io_uring_queue_exit(&ring);
	/* Completions wait for the program to ask for them */
	CHECK(!io_uring_queue_init(64, &ring,
				   IORING_SETUP_SINGLE_ISSUER |
					   IORING_SETUP_DEFER_TASKRUN));
	all();
	io_uring_queue_exit(&ring);
	leaving();
	/* A thread of the kernel submits */
	submitter = 0;
	CHECK(!io_uring_queue_init(64, &ring, IORING_SETUP_SQPOLL));
	files(0);
	sockets(AF_INET);
	connects(0);
	io_uring_queue_exit(&ring);
	print();
	return 0;
}
