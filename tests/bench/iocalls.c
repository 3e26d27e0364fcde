// SPDX-License-Identifier: GPL-2.0
/*
 * iocalls file|threads|long|tcp|same|other COUNT
 *
 * Makes COUNT I/O system calls, one after the other: reads a byte of a file in /tmp, by
 * itself or beside a thread that sleeps and has the same descriptors; or of one whose name
 * is too long for iosys to keep; or sends a byte to itself and receives it; or reads in a
 * function that was called by itself 20 times, always on the same stack, or on one that is
 * elsewhere each time, in turn at 256 places. Prints the nanoseconds per call, without what
 * comes before the first one; under icount the clock counts instructions.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../guest/work.h"

static double start;

static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void begin_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleep_on, NULL))
		die("pthread_create");
	/* So that it sleeps */
	usleep(100000);
}

/* As deep as a database's files */
static void file(long count, const char *name)
{
	char path[PATH_MAX];
	int fd;
	char c;

	mkdir("/tmp/iocalls-files", 0755);
	mkdir("/tmp/iocalls-files/base", 0755);
	mkdir("/tmp/iocalls-files/base/16384", 0755);
	snprintf(path, sizeof(path), "/tmp/iocalls-files/base/16384/%s", name);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || write(fd, "x", 1) != 1)
		die("/tmp/iocalls-files");
	start = now();
	while (count--) {
		if (pread(fd, &c, 1, 0) != 1)
			die("pread");
	}
}

/* Must not be compiled to a loop */
__attribute__((noinline)) static long read_deep(int depth, int fd)
{
	char c;
	long n = depth ? read_deep(depth - 1, fd) : pread(fd, &c, 1, 0);

	__asm__ volatile("" : "+r"(n));
	return n;
}

__attribute__((noinline)) static long read_at(size_t place, int fd)
{
	char *room = alloca(16 * (place + 1));

	__asm__ volatile("" : : "r"(room) : "memory");
	return read_deep(20, fd);
}

static void deep(long count, size_t places)
{
	int fd = open("/tmp/iocalls-file", O_RDWR | O_CREAT, 0600);

	if (fd < 0 || write(fd, "x", 1) != 1)
		die("/tmp/iocalls-file");
	start = now();
	while (count--) {
		if (read_at(count % places, fd) != 1)
			die("pread");
	}
}

static void tcp(long count)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0),
	    a = socket(AF_INET, SOCK_STREAM, 0), b;
	socklen_t len = sizeof(in);
	char c = 0;

	if (bind(listener, (void *)&in, len) || listen(listener, 1) ||
	    getsockname(listener, (void *)&in, &len) ||
	    connect(a, (void *)&in, len))
		die("loopback");
	b = accept(listener, NULL, NULL);
	if (b < 0)
		die("accept");
	/* A connection's windows grow first, and with them the cost of a call changes */
	for (long warm = 0; warm < 500; warm++) {
		if (send(a, &c, 1, 0) != 1 || recv(b, &c, 1, 0) != 1)
			die("send or recv");
	}
	start = now();
	while ((count -= 2) >= 0) {
		if (send(a, &c, 1, 0) != 1 || recv(b, &c, 1, 0) != 1)
			die("send or recv");
	}
}

int main(int argc, char **argv)
{
	long count = argc == 3 ? atol(argv[2]) : 0;
	char name[129] = "";

	if (count < 2) {
		fprintf(stderr,
			"usage: iocalls file|threads|long|tcp|same|other COUNT\n");
		return 2;
	}
	if (!strcmp(argv[1], "threads"))
		begin_thread();
	if (!strcmp(argv[1], "tcp"))
		tcp(count);
	else if (!strcmp(argv[1], "same"))
		deep(count, 1);
	else if (!strcmp(argv[1], "other"))
		deep(count, 256);
	else if (!strcmp(argv[1], "long"))
		file(count, memset(name, 'x', sizeof(name) - 1));
	else
		file(count, "2619");
	printf("%.0f\n", (now() - start) / count);
	return 0;
}
