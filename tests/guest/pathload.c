// SPDX-License-Identifier: GPL-2.0
/*
 * pathload WHAT COUNT [FILE [COLD]]
 *
 * Does a system call COUNT times, for tests of pathdiff: in one thread, and so
 * that it never waits by itself.
 *
 *	read	read() of 4 KiB of FILE, which may be a disk: then O_DIRECT
 *	write	write() of 4 KiB to FILE
 *	append	the same at its end
 *	commit	the same with fsync(), with pauses
 *	pipe	write() to a pipe and read() from it
 *	tcp	the same with a connection
 *	futex	FUTEX_WAKE without a waiter
 *	reclaim	madvise(MADV_PAGEOUT) of 2 pages of FILE
 *	echo	read() of the answer to a write() to a connection: from a process called
 *		pathserver, so it waits for that
 *
 * The file COLD is mapped, and the address given to the module pathfault: for page faults.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BLOCK 4096
#define BLOCKS 64
#define PAGES 2
#define PAUSE 2000
#define COLD_SIZE (128L << 20)

static char *buffer;

static int open_file(const char *path, int flags)
{
	struct stat st;
	int fd;

	if (!path)
		errx(2, "which FILE?");
	if (!stat(path, &st) && S_ISBLK(st.st_mode))
		flags |= O_DIRECT;
	fd = open(path, flags, 0600);
	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static void whole(ssize_t n)
{
	if (n != BLOCK)
		err(1, "%zd bytes", n);
}

static void do_file(long count, const char *path, bool writes)
{
	int fd = open_file(path, writes ? O_RDWR | O_CREAT : O_RDONLY);
	long i;

	for (i = 0; i < count; i++) {
		if (i % BLOCKS == 0)
			lseek(fd, 0, SEEK_SET);
		whole(writes ? write(fd, buffer, BLOCK) :
			       read(fd, buffer, BLOCK));
	}
}

static void do_append(long count, const char *path)
{
	int fd = open_file(path, O_WRONLY | O_CREAT | O_APPEND);
	long i;

	for (i = 0; i < count; i++) {
		if (i % BLOCKS == 0 && ftruncate(fd, 0))
			err(1, "%s", path);
		whole(write(fd, buffer, BLOCK));
	}
}

static void do_commit(long count, const char *path)
{
	int fd = open_file(path, O_WRONLY | O_CREAT);
	long i;

	for (i = 0; i < count; i++) {
		whole(pwrite(fd, buffer, BLOCK, i % BLOCKS * BLOCK));
		if (fsync(fd))
			err(1, "%s", path);
		usleep(PAUSE);
	}
}

static void do_pair(long count, int from, int to)
{
	long i;

	for (i = 0; i < count; i++) {
		whole(write(to, buffer, BLOCK));
		whole(read(from, buffer, BLOCK));
	}
}

static void do_pipe(long count)
{
	int fd[2];

	if (pipe(fd))
		err(1, "pipe");
	do_pair(count, fd[0], fd[1]);
}

static void connected(int fd[2])
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t len = sizeof(at);
	int server = socket(AF_INET, SOCK_STREAM, 0);
	int client = socket(AF_INET, SOCK_STREAM, 0), peer;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(server, (void *)&at, len) || listen(server, 1) ||
	    getsockname(server, (void *)&at, &len) ||
	    connect(client, (void *)&at, len))
		err(1, "tcp (is lo up?)");
	peer = accept(server, NULL, NULL);
	if (peer < 0)
		err(1, "accept");
	fd[0] = peer;
	fd[1] = client;
}

static void do_tcp(long count)
{
	int fd[2];

	connected(fd);
	do_pair(count, fd[0], fd[1]);
}

static void do_echo(long count)
{
	int fd[2], one = 1;
	pid_t server;
	long i;

	connected(fd);
	setsockopt(fd[1], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	server = fork();
	if (server < 0)
		err(1, "fork");
	if (!server) {
		prctl(PR_SET_NAME, "pathserver");
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			whole(recv(fd[0], buffer, BLOCK, MSG_WAITALL));
			whole(send(fd[0], buffer, BLOCK, 0));
		}
	}
	close(fd[0]);
	for (i = 0; i < count; i++) {
		whole(write(fd[1], buffer, BLOCK));
		whole(read(fd[1], buffer, BLOCK));
	}
	kill(server, SIGKILL);
}

static void do_futex(long count)
{
	int word = 0;
	long i;

	for (i = 0; i < count; i++) {
		if (syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
			    0))
			err(1, "futex");
	}
}

static void do_reclaim(long count, const char *path)
{
	int fd = open_file(path, O_RDWR | O_CREAT), page;
	volatile char *map;
	char sum = 0;
	long i;

	if (ftruncate(fd, PAGES * BLOCK))
		err(1, "%s", path);
	map = mmap(NULL, PAGES * BLOCK, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		err(1, "mmap");
	for (i = 0; i < count; i++) {
		for (page = 0; page < PAGES; page++)
			sum += map[page * BLOCK];
		if (madvise((void *)map, PAGES * BLOCK, MADV_PAGEOUT))
			err(1, "madvise");
	}
	buffer[0] = sum;
}

static void map_cold(const char *path)
{
	const char *parameter = "/sys/module/pathfault/parameters/address";
	int fd = open(path, O_RDONLY);
	void *map;
	FILE *f;

	if (fd < 0)
		err(1, "%s", path);
	map = mmap(NULL, COLD_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED || madvise(map, COLD_SIZE, MADV_RANDOM))
		err(1, "%s", path);
	f = fopen(parameter, "w");
	if (!f || fprintf(f, "%lu", (unsigned long)map) < 0 || fclose(f))
		err(1, "%s", parameter);
}

/* To pathfault's kthreads, if there is another one */
static void leave_cpu_0(void)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		err(1, "affinity");
	CPU_CLR(0, &cpus);
	if (CPU_COUNT(&cpus) && sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "affinity");
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "", *path = argv[3];
	long count = argc > 2 ? atol(argv[2]) : 0;

	buffer = aligned_alloc(BLOCK, BLOCK);
	if (!buffer)
		err(1, "memory");
	memset(buffer, 'x', BLOCK);
	leave_cpu_0();
	if (argc > 4)
		map_cold(argv[4]);
	if (!strcmp(what, "read"))
		do_file(count, path, false);
	else if (!strcmp(what, "write"))
		do_file(count, path, true);
	else if (!strcmp(what, "append"))
		do_append(count, path);
	else if (!strcmp(what, "commit"))
		do_commit(count, path);
	else if (!strcmp(what, "echo"))
		do_echo(count);
	else if (!strcmp(what, "pipe"))
		do_pipe(count);
	else if (!strcmp(what, "tcp"))
		do_tcp(count);
	else if (!strcmp(what, "futex"))
		do_futex(count);
	else if (!strcmp(what, "reclaim"))
		do_reclaim(count, path);
	else
		errx(2, "usage: pathload WHAT COUNT [FILE [COLD]]");
	return 0;
}
