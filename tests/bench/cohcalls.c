// SPDX-License-Identifier: GPL-2.0
/*
 * cohcalls switch|file|tcp|forked ROUNDS WARM
 *
 * A load of tests/bench/coherence: on each CPU a process, bound to it, does WARM rounds,
 * then ROUNDS rounds that count.
 *
 * switch	two processes on each CPU, which give it to each other
 * file		reads a byte of a file of its own
 * tcp		sends a byte to itself and receives it, on a TCP connection
 * forked	same, but all connections were accepted from one listening socket
 *
 * Prints the number of rounds that counted, of all processes. Long nops mark for the plugin
 * coherence.c when the phase begins, when the counted rounds begin, and when it ends.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest/work.h"
#include "cohload/phase.h"

/* In memory that all processes share */
static struct shared {
	atomic_int arrived;
} * shared;

static int processes;

struct mode {
	const char *name;
	int per_cpu;
	void (*prepare)(int n);
	void (*round)(void);
};

/* All processes come to this; @n: how many times before */
static void meet(int n)
{
	atomic_fetch_add(&shared->arrived, 1);
	while (atomic_load(&shared->arrived) < (n + 1) * processes)
		sched_yield();
}

static int fds[2];
static int listener = -1;
static struct sockaddr_in address;

static void prepare_nothing(int n)
{
	(void)n;
}

static void yield_round(void)
{
	sched_yield();
}

static void prepare_file(int n)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/cohcalls.%d", n);
	fds[0] = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fds[0] < 0 || write(fds[0], "", 1) != 1)
		die(path);
}

static void file_round(void)
{
	char c;

	if (pread(fds[0], &c, 1, 0) != 1)
		die("pread");
}

static void make_listener(void)
{
	socklen_t size = sizeof(address);

	address.sin_family = AF_INET;
	address.sin_port = 0;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 ||
	    bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, 128) ||
	    getsockname(listener, (struct sockaddr *)&address, &size))
		die("listen");
}

/* A connection to the listening socket */
static void prepare_connection(int n)
{
	(void)n;
	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (fds[0] < 0 ||
	    connect(fds[0], (struct sockaddr *)&address, sizeof(address)))
		die("connect");
	fds[1] = accept(listener, NULL, NULL);
	if (fds[1] < 0)
		die("accept");
}

static void prepare_tcp(int n)
{
	make_listener();
	prepare_connection(n);
}

static void tcp_round(void)
{
	char c = 0;

	if (send(fds[0], &c, 1, 0) != 1 || recv(fds[1], &c, 1, 0) != 1)
		die("send and receive");
}

static const struct mode modes[] = {
	{ "switch", 2, prepare_nothing, yield_round },
	{ "file", 1, prepare_file, file_round },
	{ "tcp", 1, prepare_tcp, tcp_round },
	{ "forked", 1, prepare_connection, tcp_round },
};

static void run(const struct mode *mode, int n, long rounds, long warm)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(n / mode->per_cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity");
	/* One after the other: each accepts its own connection */
	while (atomic_load(&shared->arrived) < n)
		sched_yield();
	mode->prepare(n);
	meet(0);
	while (warm--)
		mode->round();
	meet(1);
	if (!n)
		PHASE_COUNT();
	meet(2);
	while (rounds--)
		mode->round();
	meet(3);
	if (!n)
		PHASE_END();
	exit(0);
}

int main(int argc, char **argv)
{
	const struct mode *mode = modes;
	int status, n, cpus = sysconf(_SC_NPROCESSORS_ONLN), failed = 0;
	long rounds, warm;

	if (argc != 4)
		return 2;
	while (strcmp(mode->name, argv[1])) {
		if (++mode == modes + sizeof(modes) / sizeof(modes[0]))
			return 2;
	}
	rounds = atol(argv[2]);
	warm = atol(argv[3]);
	processes = cpus * mode->per_cpu;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	if (!strcmp(mode->name, "forked"))
		make_listener();
	PHASE_BEGIN();
	for (n = 0; n < processes; n++) {
		pid_t child = fork();

		if (child < 0)
			die("fork");
		if (!child)
			run(mode, n, rounds, warm);
	}
	while (wait(&status) > 0)
		failed |= status;
	if (failed)
		return 1;
	printf("%ld\n", rounds * processes);
	return 0;
}
