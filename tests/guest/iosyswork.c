// SPDX-License-Identifier: GPL-2.0
/*
 * Makes I/O system calls and writes down for each what it was, from what the
 * program itself knows: fstat(), getsockname(), getpeername(), SO_COOKIE, the
 * results, the bytes it counted, and CLOCK_MONOTONIC before and after.
 *
 * usage: iosyswork DIRECTORY native|compat >LOG
 *
 * With compat, the kernel has system calls for 32-bit programs, too.
 *
 * The log has a line per call, see iosyslog.h. The first and the last call of the main
 * thread are close(1000001) and close(1000002), which are in the log, too. What is
 * printed is printed after that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "iosyslog.h"
#include "work.h"

static char buffer[1 << 20];

static void files(void)
{
	struct iovec iov[2] = { { buffer, 300 }, { buffer + 300, 700 } };
	char deep[400] = "", *at = deep;
	int fd, copy, dir, i;

	fd = opened(CALL("openat", -1,
			 syscall(SYS_openat, AT_FDCWD, "data",
				 O_RDWR | O_CREAT | O_TRUNC, 0644)),
		    "")
		     ->result;
	CHECK(MOVE("write", fd, write(fd, buffer, 5000))->result == 5000);
	MOVE("pwrite64", fd, pwrite(fd, buffer, 4097, 4096));
	MOVE("writev", fd, writev(fd, iov, 2));
	MOVE("pwritev", fd, pwritev(fd, iov, 2, 77));
	MOVE("pwritev2", fd, pwritev2(fd, iov, 2, 77, RWF_DSYNC));
	lseek(fd, 0, SEEK_SET);
	MOVE("read", fd, read(fd, buffer, 1234));
	MOVE("pread64", fd, pread(fd, buffer, sizeof(buffer), 100));
	MOVE("readv", fd, readv(fd, iov, 2));
	MOVE("preadv", fd, preadv(fd, iov, 1, 10));
	MOVE("preadv2", fd, preadv2(fd, iov, 1, 10, 0));
	MOVE("pread64", fd, pread(fd, buffer, 10, 1 << 20));
	CALL("fsync", fd, fsync(fd));
	CALL("fdatasync", fd, fdatasync(fd));
	CALL("sync_file_range", fd,
	     sync_file_range(fd, 0, 4096, SYNC_FILE_RANGE_WRITE));
	CALL("syncfs", fd, syncfs(fd));
	CALL("ftruncate", fd, ftruncate(fd, 20000));
	CALL("fallocate", fd, fallocate(fd, 0, 0, 30000));
	CALL("flock", fd, flock(fd, LOCK_EX));
	/* It has the name that it has when the call begins */
	CHECK(!rename("data", "renamed data"));
	MOVE("read", fd, read(fd, buffer, 100));
	copy = opened(CALL("creat", -1, syscall(SYS_creat, "copy", 0600)), "")
		       ->result;
	MOVE2("copy_file_range", fd, copy,
	      copy_file_range(fd, NULL, copy, NULL, 3000, 0));
	MOVE2("sendfile", fd, copy, sendfile(copy, fd, NULL, 2000));
	CHECK(!unlink("copy"));
	MOVE("write", copy, write(copy, buffer, 1));
	CALL("close", copy, close(copy));
	CALL("close", fd, close(fd));
	/* None there */
	MOVE("read", fd, read(fd, buffer, 1));
	MOVE("write", 999, write(999, buffer, 1));
	opened(CALL("open", -1,
		    syscall(SYS_open, "nowhere/to be found", O_RDONLY)),
	       "nowhere/to be found");
	fd = opened(CALL("open", -1,
			 syscall(SYS_open, ".", O_RDONLY | O_DIRECTORY)),
		    "")
		     ->result;
	opened(CALL("openat", -1, syscall(SYS_openat, fd, "nothing", O_RDONLY)),
	       "nothing");
	CALL("close", fd, close(fd));
	strcpy(CALL("truncate", -1, truncate("renamed data", 10))
		       ->object[0]
		       .name,
	       "renamed data");
	entry[entries - 1].how = "asked";
	/* A path of more than 255 characters */
	for (i = 0; i < 6; i++) {
		memset(at, 'a' + i, 50);
		at += 50;
		*at = '\0';
		CHECK(!mkdir(deep, 0755));
		*at++ = '/';
	}
	strcpy(at, "file");
	dir = opened(CALL("open", -1,
			  syscall(SYS_open, deep, O_RDWR | O_CREAT, 0644)),
		     "")
		      ->result;
	entry[entries - 1].how = "cut";
	MOVE("write", dir, write(dir, "x", 1))->how = "cut";
	CALL("close", dir, close(dir))->how = "cut";
}

static void mapped(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED);
	CALL("msync", -1, msync(page, 4096, MS_SYNC));
}

static void pipes(void)
{
	struct iovec iov = { buffer, 4096 };
	int a[2], b[2];

	CHECK(!pipe(a) && !pipe(b));
	MOVE("write", a[1], write(a[1], buffer, 3000));
	MOVE2("tee", a[0], b[1], tee(a[0], b[1], 1000, 0));
	MOVE2("splice", a[0], b[1], splice(a[0], NULL, b[1], NULL, 500, 0));
	MOVE("vmsplice", b[1], vmsplice(b[1], &iov, 1, 0));
	MOVE("read", b[0], read(b[0], buffer, 100));
	CALL("close", a[0], close(a[0]));
	signal(SIGPIPE, SIG_IGN);
	MOVE("write", a[1], write(a[1], buffer, 1));
	CALL("close", a[1], close(a[1]));
	CALL("close", b[0], close(b[0]));
	CALL("close", b[1], close(b[1]));
}

static void waits(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct pollfd pollfd = { .events = POLLIN };
	struct timespec ts = { 0, 30000000 };
	struct timeval tv = { 0, 30000 };
	int ep = epoll_create1(0), p[2];

	CHECK(!pipe(p));
	pollfd.fd = p[0];
	CHECK(!epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &event));
	CALL("poll", -1, syscall(SYS_poll, &pollfd, 1, 30));
	CALL("ppoll", -1, syscall(SYS_ppoll, &pollfd, 1, &ts, NULL, 8));
	ts.tv_nsec = 30000000;
	CALL("select", -1, syscall(SYS_select, 0, NULL, NULL, NULL, &tv));
	CALL("pselect6", -1,
	     syscall(SYS_pselect6, 0, NULL, NULL, NULL, &ts, NULL));
	CALL("epoll_wait", ep, syscall(SYS_epoll_wait, ep, &event, 1, 30));
	CALL("epoll_pwait", ep,
	     syscall(SYS_epoll_pwait, ep, &event, 1, 30, NULL, 8));
	MOVE("write", p[1], write(p[1], "x", 1));
	CALL("epoll_wait", ep, syscall(SYS_epoll_wait, ep, &event, 1, 1000));
	CALL("close", ep, close(ep));
	CALL("close", p[0], close(p[0]));
	CALL("close", p[1], close(p[1]));
}

static void unix_sockets(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "named" };
	int pair[2], bound = socket(AF_UNIX, SOCK_DGRAM, 0),
		     abstract = socket(AF_UNIX, SOCK_DGRAM, 0);

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	stream(MOVE("write", pair[0], write(pair[0], buffer, 7000)), 0, 7000);
	stream(MOVE("read", pair[1], read(pair[1], buffer, 8000)), 0, 7000);
	CHECK(!bind(bound, (void *)&un, sizeof(un)));
	MOVE("sendto", abstract,
	     sendto(abstract, buffer, 50, 0, (void *)&un, sizeof(un)));
	memcpy(un.sun_path, "\0hidden", 7);
	CHECK(!bind(abstract, (void *)&un,
		    offsetof(struct sockaddr_un, sun_path) + 7));
	MOVE("recvfrom", bound, recvfrom(bound, buffer, 100, 0, NULL, NULL));
	MOVE("recvfrom", abstract,
	     recvfrom(abstract, buffer, 100, MSG_DONTWAIT, NULL, NULL));
	CALL("close", abstract, close(abstract));
	CALL("close", bound, close(bound));
}

/* The same datagram, which stays there, as many times as that */
static struct entry *received_often(int fd, unsigned int times)
{
	struct iovec iov = { buffer, 100 };
	struct mmsghdr *vec = calloc(times, sizeof(*vec));
	struct entry *e;
	unsigned int i;

	CHECK(vec);
	for (i = 0; i < times; i++)
		vec[i].msg_hdr =
			(struct msghdr){ .msg_iov = &iov, .msg_iovlen = 1 };
	e = CALL("recvmmsg", fd, recvmmsg(fd, vec, times, MSG_PEEK, NULL));
	CHECK(e->result == (long)times);
	free(vec);
	return e;
}

static void datagrams(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct iovec iov[3] = { { buffer, 100 },
				{ buffer, 20 },
				{ buffer, 3 } };
	struct mmsghdr vec[3] = {};
	socklen_t len = sizeof(in);
	int from = socket(AF_INET, SOCK_DGRAM, 0),
	    to = socket(AF_INET, SOCK_DGRAM, 0), i;
	struct entry *e;

	CHECK(!bind(to, (void *)&in, sizeof(in)) &&
	      !getsockname(to, (void *)&in, &len));
	for (i = 0; i < 3; i++)
		vec[i].msg_hdr =
			(struct msghdr){ .msg_iov = &iov[i], .msg_iovlen = 1 };
	e = CALL("connect", from, connect(from, (void *)&in, len));
	e->object[0] = what(from);
	e = CALL("sendmmsg", from, sendmmsg(from, vec, 3, 0));
	e->bytes = 123;
	for (i = 0; i < 3; i++)
		iov[i].iov_len = 1000;
	e = CALL("recvmmsg", to, recvmmsg(to, vec, 3, MSG_WAITFORONE, NULL));
	e->bytes = 123;
	CHECK(e->result == 3);
	MOVE("sendto", from, sendto(from, buffer, 0, 0, NULL, 0));
	MOVE("recvfrom", to, recvfrom(to, buffer, 100, 0, NULL, NULL));
	MOVE("sendto", from, sendto(from, buffer, 3, 0, NULL, 0));
	received_often(to, 1024)->bytes = 3 * 1024;
	received_often(to, 1025)->how = "uncounted";
	received_often(to, 50000)->how = "uncounted";
	CALL("close", from, close(from));
	CALL("close", to, close(to));
}

/* ------------------------------------------------------------------------- */
/* TCP: both sides count */

struct side {
	int fd;
	unsigned long long out, in;
};

static void put(struct side *s, struct entry *e)
{
	stream(e, s->out, e->result);
	s->out += e->result > 0 ? e->result : 0;
}

static void take(struct side *s, struct entry *e, bool peek)
{
	stream(e, s->in, e->result);
	if (peek)
		e->how = "peeked";
	else
		s->in += e->result > 0 ? e->result : 0;
}

static void connected(struct side *one, struct side *other, int family)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
				    .sin6_addr = in6addr_loopback };
	struct sockaddr *address = family == AF_INET ? (void *)&in :
						       (void *)&in6;
	socklen_t len = family == AF_INET ? sizeof(in) : sizeof(in6);
	int listener = socket(family, SOCK_STREAM, 0),
	    client = socket(family, SOCK_STREAM, 0), fd;
	struct entry *e;

	CHECK(!bind(listener, address, len) && !listen(listener, 5));
	CHECK(!getsockname(listener, address, &len));
	e = CALL("connect", client, connect(client, address, len));
	CHECK(!e->result);
	e->object[0] = what(client);
	e = CALL("accept4", listener,
		 accept4(listener, NULL, NULL, SOCK_CLOEXEC));
	fd = e->result;
	CHECK(fd >= 0);
	e->object[1] = what(fd);
	*one = (struct side){ .fd = client };
	*other = (struct side){ .fd = fd };
	CALL("close", listener, close(listener));
}

/* The socket has no peer, but the program knows which address it asked for */
static void fails(int fd, const void *to, socklen_t len, const char *peer)
{
	struct entry *e = CALL("connect", fd, connect(fd, to, len));

	CHECK(e->result < 0);
	e->object[0] = what(fd);
	if (*peer) {
		strcat(e->object[0].name, peer);
		e->how = "asked";
	}
	/* Nothing of it is left */
	MOVE("read", fd, read(fd, buffer, 100));
}

static void refused_tcp(int family)
{
	struct sockaddr_storage ss = { .ss_family = family };
	socklen_t len = family == AF_INET ? sizeof(struct sockaddr_in) :
					    sizeof(struct sockaddr_in6);
	/* It does not listen */
	int deaf = socket(family, SOCK_STREAM, 0),
	    client = socket(family, SOCK_STREAM, 0);
	char peer[100] = "->";

	if (family == AF_INET)
		((struct sockaddr_in *)&ss)->sin_addr.s_addr =
			htonl(INADDR_LOOPBACK);
	else
		((struct sockaddr_in6 *)&ss)->sin6_addr = in6addr_loopback;
	CHECK(!bind(deaf, (void *)&ss, len));
	CHECK(!getsockname(deaf, (void *)&ss, &len));
	address(peer + 2, &ss);
	fails(client, &ss, len, peer);
	fails(client, &ss, len, peer);
	fails(client, (void *)8, len, "");
	fails(client, &ss, 4, "");
	ss.ss_family = AF_UNIX;
	fails(client, &ss, len, "");
	CALL("close", client, close(client));
	CALL("close", deaf, close(deaf));
}

static void refused_unix(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "deaf" };
	const size_t path = offsetof(struct sockaddr_un, sun_path);
	int deaf = socket(AF_UNIX, SOCK_STREAM, 0),
	    client = socket(AF_UNIX, SOCK_STREAM, 0);

	CHECK(!bind(deaf, (void *)&un, sizeof(un)));
	fails(client, &un, sizeof(un), "deaf");
	strcpy(un.sun_path, "nowhere");
	fails(client, &un, path + 7, "nowhere");
	memcpy(un.sun_path, "\0hid\0den", 8);
	fails(client, &un, path + 8, "@hid@den");
	CALL("close", client, close(client));
	CALL("close", deaf, close(deaf));
}

/* Threads that share a connection take turns, and must not be served in order */
static struct side shared;
static int pieces;

static void *sender(void *data)
{
	int i;

	for (i = 0; i < pieces; i++) {
		struct entry *e = MOVE("write", shared.fd,
				       write(shared.fd, buffer, 60000));

		CHECK(e->result == 60000);
		e->how = "shared";
	}
	return data;
}

static void both_send(void)
{
	struct side other;
	pthread_t thread[2];
	long total = 0;
	int i, small = 20000;

	connected(&shared, &other, AF_INET);
	CHECK(!setsockopt(shared.fd, SOL_SOCKET, SO_SNDBUF, &small,
			  sizeof(small)));
	pieces = 20;
	for (i = 0; i < 2; i++)
		CHECK(!pthread_create(&thread[i], NULL, sender, NULL));
	while (total < 2 * pieces * 60000) {
		struct entry *e = MOVE("recvfrom", other.fd,
				       recv(other.fd, buffer, 65536, 0));

		CHECK(e->result > 0);
		total += e->result;
		take(&other, e, false);
	}
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	CALL("close", other.fd, close(other.fd));
	CALL("close", shared.fd, close(shared.fd));
}

static void connections(int family)
{
	struct iovec iov[2] = { { buffer, 1000 }, { buffer, 2000 } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	struct side one, other;
	int file, pipefd[2];

	connected(&one, &other, family);
	/* The wire's order is the order of the calls: what one sends is there */
	put(&one, MOVE("sendto", one.fd, send(one.fd, buffer, 10000, 0)));
	take(&other,
	     MOVE("recvfrom", other.fd, recv(other.fd, buffer, 1000, MSG_PEEK)),
	     true);
	take(&other, MOVE("read", other.fd, read(other.fd, buffer, 999)),
	     false);
	take(&other, MOVE("readv", other.fd, readv(other.fd, iov, 2)), false);
	put(&other, MOVE("sendmsg", other.fd, sendmsg(other.fd, &msg, 0)));
	put(&other, MOVE("writev", other.fd, writev(other.fd, iov, 2)));
	take(&one, MOVE("recvmsg", one.fd, recvmsg(one.fd, &msg, MSG_WAITALL)),
	     false);
	take(&other,
	     MOVE("recvfrom", other.fd, recv(other.fd, NULL, 500, MSG_TRUNC)),
	     false);
	take(&other,
	     MOVE("recvfrom", other.fd, recv(other.fd, buffer, 10, MSG_PEEK)),
	     true);
	take(&other,
	     MOVE("recvfrom", other.fd,
		  recv(other.fd, buffer, 5501, MSG_WAITALL)),
	     false);
	take(&other,
	     MOVE("recvfrom", other.fd,
		  recv(other.fd, buffer, 100, MSG_DONTWAIT)),
	     false);
	file = opened(CALL("open", -1,
			   syscall(SYS_open, "renamed data", O_RDWR)),
		      "")
		       ->result;
	CALL("ftruncate", file, ftruncate(file, 50000));
	put(&one, MOVE2("sendfile", file, one.fd,
			sendfile(one.fd, file, NULL, 20000)));
	CHECK(!pipe(pipefd));
	take(&other,
	     MOVE2("splice", other.fd, pipefd[1],
		   splice(other.fd, NULL, pipefd[1], NULL, 7000, 0)),
	     false);
	put(&other, MOVE2("splice", pipefd[0], other.fd,
			  splice(pipefd[0], NULL, other.fd, NULL, 6000, 0)));
	take(&other,
	     MOVE("recvfrom", other.fd,
		  recv(other.fd, buffer, 30000 - other.in, MSG_WAITALL)),
	     false);
	/* The end of a stream is not a byte of it */
	CHECK(!shutdown(one.fd, SHUT_WR));
	take(&other, MOVE("read", other.fd, read(other.fd, buffer, 100)),
	     false);
	put(&other, MOVE("write", other.fd, write(other.fd, buffer, 1)));
	take(&one,
	     MOVE("recvfrom", one.fd,
		  recv(one.fd, buffer, 100000, MSG_DONTWAIT)),
	     false);
	CALL("close", file, close(file));
	CALL("close", pipefd[0], close(pipefd[0]));
	CALL("close", pipefd[1], close(pipefd[1]));
	CALL("close", one.fd, close(one.fd));
	CALL("close", other.fd, close(other.fd));
}

/* ------------------------------------------------------------------------- */

#ifdef __x86_64__
/*
 * A call of the 32-bit table: memory has to be below 4 GiB. Upper halves of registers are
 * nothing to the kernel.
 */
static long compat(long nr, long a, long b, long c)
{
	const long above = 0x1234567800000000;
	long result;

	asm volatile("int $0x80"
		     : "=a"(result)
		     : "a"(nr), "b"(a | above), "c"(b | above), "d"(c | above)
		     : "memory", "r8", "r9", "r10", "r11");
	if (result >= 0 || result < -4095)
		return result;
	errno = -result;
	return -1;
}

/* socketcall(SYS_CONNECT, { fd, address, length }) to a port that does not listen */
static void refused_by_socketcall(char *low, uint32_t *words)
{
	struct sockaddr_storage ss = { .ss_family = AF_INET };
	struct sockaddr_in *in = (void *)&ss;
	socklen_t len = sizeof(*in);
	int deaf = socket(AF_INET, SOCK_STREAM, 0),
	    client = socket(AF_INET, SOCK_STREAM, 0);
	char peer[100] = "->";
	struct entry *e;

	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(!bind(deaf, (void *)in, len));
	CHECK(!getsockname(deaf, (void *)in, &len));
	address(peer + 2, &ss);
	memcpy(low, in, len);
	words[0] = client;
	words[1] = (long)low;
	words[2] = len;
	e = CALL("connect", client, compat(102, 3, (long)words, 0));
	CHECK(e->result < 0);
	e->object[0] = what(client);
	strcat(e->object[0].name, peer);
	e->how = "compat_asked";
	CALL("close", client, close(client));
	CALL("close", deaf, close(deaf));
}

static void thirty_two_bits(void)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	uint32_t *words = (void *)(low + 2048);
	int fd, pair[2];

	CHECK(low != MAP_FAILED);
	strcpy(low, "renamed data");
	fd = opened(CALL("open", -1, compat(5, (long)low, O_RDWR, 0)), "")
		     ->result;
	entry[entries - 1].how = "compat";
	CHECK(fd >= 0);
	MOVE("read", fd, compat(3, fd, (long)low + 100, 70))->how = "compat";
	MOVE("write", fd, compat(4, fd, (long)low + 100, 60))->how = "compat";
	CALL("close", fd, compat(6, fd, 0, 0))->how = "compat";
	MOVE("read", fd, compat(3, fd, (long)low, 1))->how = "compat";
	/* socketcall(SYS_SEND, { fd, buffer, length, flags }) */
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	words[0] = pair[0];
	words[1] = (long)low;
	words[2] = 33;
	words[3] = 0;
	stream(MOVE("send", pair[0], compat(102, 9, (long)words, 0)), 0, 33)
		->how = "compat";
	words[0] = pair[1];
	stream(MOVE("recv", pair[1], compat(102, 10, (long)words, 0)), 0, 33)
		->how = "compat";
	CALL("close", pair[0], close(pair[0]));
	CALL("close", pair[1], close(pair[1]));
	refused_by_socketcall(low, words);
}
#else
static void thirty_two_bits(void)
{
}
#endif

static int hung[2];
static pid_t reader;
static volatile sig_atomic_t alarms;

static void *hang(void *data)
{
	char c;

	MOVE("read", hung[0], read(hung[0], &c, 1));
	return data;
}

static void hanging(void)
{
	pthread_t thread;

	CHECK(!pipe(hung));
	CHECK(!pthread_create(&thread, NULL, hang, NULL));
	sleep(4);
	MOVE("write", hung[1], write(hung[1], "x", 1));
	pthread_join(thread, NULL);
	CALL("close", hung[0], close(hung[0]));
	CALL("close", hung[1], close(hung[1]));
}

static void alarmed(int signal)
{
	(void)signal;
	alarms++;
}

/* Its own calls are not in the log */
static void await_sleep(pid_t tid)
{
	char path[64], line[256] = "";

	sprintf(path, "/proc/self/task/%d/stat", tid);
	do {
		FILE *file;

		usleep(10000);
		file = fopen(path, "r");
		CHECK(file && fgets(line, sizeof(line), file));
		fclose(file);
	} while (!strstr(line, ") S "));
}

static void *interrupter(void *data)
{
	await_sleep(reader);
	syscall(SYS_tgkill, getpid(), reader, SIGALRM);
	while (!alarms)
		usleep(1000);
	await_sleep(reader);
	CHECK(write(hung[1], "x", 1) == 1);
	return data;
}

/* One read() of the program is two calls: the first one is restarted */
static void restarted(void)
{
	struct sigaction action = { .sa_handler = alarmed,
				    .sa_flags = SA_RESTART };
	unsigned long long start;
	struct object object;
	struct entry *e;
	pthread_t thread;
	char c;
	int i;

	CHECK(!pipe(hung) && !sigaction(SIGALRM, &action, NULL));
	reader = gettid();
	object = what(hung[0]);
	CHECK(!pthread_create(&thread, NULL, interrupter, NULL));
	start = now();
	CHECK(read(hung[0], &c, 1) == 1);
	for (i = 0; i < 2; i++) {
		e = note("read", start, i ? 1 : -512);
		e->object[0] = object;
		e->bytes = i;
	}
	pthread_join(thread, NULL);
	CHECK(alarms == 1);
	CALL("close", hung[0], close(hung[0]));
	CALL("close", hung[1], close(hung[1]));
}

int main(int argc, char **argv)
{
	CHECK(argc == 3 && !chdir(argv[1]));
	entry = calloc(CALLS, sizeof(*entry));
	CHECK(entry);
	memset(entry, 0, CALLS * sizeof(*entry));
	CALL("close", 1000001, close(1000001));
	files();
	mapped();
	pipes();
	waits();
	unix_sockets();
	datagrams();
	connections(AF_INET);
	connections(AF_INET6);
	refused_tcp(AF_INET);
	refused_tcp(AF_INET6);
	refused_unix();
	both_send();
	if (!strcmp(argv[2], "compat"))
		thirty_two_bits();
	hanging();
	restarted();
	CALL("close", 1000002, close(1000002));
	print();
	return 0;
}
