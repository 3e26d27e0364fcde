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
 *	crowd	a sleep of 900 ms in work(), by another program, while more of them have
 *		slow sleeps on another processor: more alarms than a case lists
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
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define MS 1000000ull

/* The function that uprobe: watches */
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

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		abort();
}

/* Three alarms for each sleep: 162 in the sleep of 900 ms. A kretprobe has ten calls at a time */
static void begin_crowd(void)
{
	int i, k;

	for (i = 0; i < 6; i++) {
		if (fork())
			continue;
		run_on(1);
		for (k = 0; k < 13; k++)
			work(100 * MS);
		_exit(0);
	}
	prctl(PR_SET_NAME, "crowd");
	work(300 * MS);
}

int main(int argc, char **argv)
{
	const char *kind;
	char line[16];
	uint64_t start;
	ssize_t n;
	int fd;

	if (argc != 2)
		return 2;
	run_on(0);
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
		if (*line == 'c' && fork()) {
			wait(NULL);
			continue;
		}
		kind = *line == 's' ? "sleep" : *line == 'c' ? "crowd" : "wait";
		if (*kind == 's')
			work(100 * MS);
		else if (*kind == 'c')
			begin_crowd();
		start = now();
		if (*kind == 'w')
			wait_for_processor();
		else
			work(900 * MS);
		printf("%s %llu %s=%d\n", kind, now() - start,
		       *kind == 'w' ? "next_pid" : "common_pid", (int)getpid());
		fflush(stdout);
		if (*kind == 'c') {
			while (wait(NULL) > 0)
				;
			return 0;
		}
	}
}
