// SPDX-License-Identifier: GPL-2.0
/*
 * requestwork PORT
 *
 * A server at PORT of 127.0.0.1, and a client that sends it a request every 10 ms, until
 * standard input ends. For each request the server waits in fetch_the_rate(), usually for a
 * millisecond; for the request after a line on standard input, for four seconds. Prints how
 * long the client waited for that one, in ns.
 */
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "work.h"

/* A call in a function of its own, whose stack has no other frame before main() */
__attribute__((noinline)) static void fetch_the_rate(int timer)
{
	unsigned long long n;

	if (read(timer, &n, sizeof(n)) != sizeof(n))
		die("read");
	__asm__ volatile("" ::: "memory");
}

static void serve(int listener)
{
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	int s = accept(listener, NULL, NULL);
	struct itimerspec t = { 0 };
	char request;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (s < 0)
		die("accept");
	while (read(s, &request, 1) == 1) {
		t.it_value.tv_sec = request == 's' ? 4 : 0;
		t.it_value.tv_nsec = request == 's' ? 0 : 1000000;
		timerfd_settime(timer, 0, &t, NULL);
		fetch_the_rate(timer);
		if (write(s, "a", 1) != 1)
			die("write");
	}
	exit(0);
}

static void ask(int s, char request)
{
	if (write(s, &request, 1) != 1 || read(s, &request, 1) != 1)
		die("request");
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(atoi(argv[argc - 1])),
				 .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int s = socket(AF_INET, SOCK_STREAM, 0);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	long long begin;
	char line[64];

	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(listener, 1))
		die("listen");
	if (!fork())
		serve(listener);
	if (connect(s, (struct sockaddr *)&a, sizeof(a)))
		die("connect");
	puts("ready");
	fflush(stdout);
	for (;;) {
		if (poll(&in, 1, 10) > 0) {
			if (read(STDIN_FILENO, line, sizeof(line)) <= 0)
				return 0;
			begin = now();
			ask(s, 's');
			printf("%llu\n", now() - begin);
			fflush(stdout);
		}
		ask(s, 'f');
	}
}
