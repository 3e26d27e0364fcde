// SPDX-License-Identifier: GPL-2.0
/*
 * tracerigwork PIPE
 *
 * Calls work(), which sleeps for a millisecond, all the time. For each line that comes in
 * PIPE it does one operation that is slow, and says how long it took, in ns,
 * and the key by which a chart has it:
 *
 *	sleep	a sleep of 900 ms in work(); directly after one of 100 ms, so that it begins
 *		in the window of another alarm
 *	wait	a wake-up after which a real-time program has this program's
 *		processor for 900 ms
 *
 * They are much longer than a busy host stops a guest, so that no limit learnt there is above
 * them, and no other operation is slower; real-time programs may have 950 ms of each second.
 *
 * Ends with PIPE.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ull

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

/* What uprobe: watches */
__attribute__((noinline)) void work(uint64_t ns)
{
	struct timespec ts = { .tv_nsec = ns };

	/* The library and its other users have clock_nanosleep() */
	syscall(SYS_nanosleep, &ts, NULL);
	__asm__ volatile(""); /* no jump to syscall() */
}

static char state_of(pid_t pid)
{
	char path[32], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		abort();
	fclose(f);
	return state;
}

static void occupy(int ready)
{
	struct sched_param p = { .sched_priority = 10 };
	uint64_t end;

	/* Else it is not woken, but preempted */
	while (state_of(getppid()) != 'S')
		sched_yield();
	if (sched_setscheduler(0, SCHED_FIFO, &p)) {
		perror("sched_setscheduler");
		_exit(1);
	}
	end = now() + 900 * MS;
	/* Woken by this, it does not run until the end */
	if (write(ready, "", 1) != 1)
		_exit(1);
	while (now() < end)
		;
	_exit(0);
}

static void wait_for_processor(void)
{
	int ready[2], status;
	char c;
	pid_t pid;

	if (pipe(ready))
		abort();
	pid = fork();
	if (!pid)
		occupy(ready[1]);
	if (pid < 0 || read(ready[0], &c, 1) != 1 ||
	    waitpid(pid, &status, 0) != pid || status)
		abort();
	close(ready[0]);
	close(ready[1]);
}

int main(int argc, char **argv)
{
	cpu_set_t set;
	char line[16];
	bool is_sleep;
	uint64_t start;
	ssize_t n;
	int fd;

	if (argc != 2)
		return 2;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		abort();
	fd = open(argv[1], O_RDONLY | O_NONBLOCK);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	puts("ready");
	fflush(stdout);
	for (;;) {
		work(MS);
		n = read(fd, line, sizeof(line));
		if (n < 0)
			continue;
		if (!n)
			return 0;
		is_sleep = !strncmp(line, "sleep", 5);
		if (is_sleep)
			work(100 * MS);
		start = now();
		if (is_sleep)
			work(900 * MS);
		else
			wait_for_processor();
		printf("%s %llu %s=%d\n", is_sleep ? "sleep" : "wait",
		       (unsigned long long)(now() - start),
		       is_sleep ? "common_pid" : "next_pid", (int)getpid());
		fflush(stdout);
	}
}
