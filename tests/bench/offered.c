// SPDX-License-Identifier: GPL-2.0
/*
 * offered NAME RATE MILLISECONDS
 * offered
 *
 * In a guest under icount, where an instruction takes a nanosecond: two tasks called
 * NAME that give the CPU to each other through pipes, RATE task switches a second (0:
 * as fast as possible), in bursts, a thousand a second. Beside them a task
 * of high priority measures how late a timer wakes it. cyclictest would do so in
 * microseconds, which is a thousand instructions.
 *
 * Then it waits for a while, for what others have to send after that, and prints: how
 * often a task called NAME gave up the CPU, the nanoseconds that the load took, the
 * instructions that were not idle until the end, bytes and datagrams that left and
 * bytes that came through eth0, and the median, 99th percentile and maximum of the
 * delays, in ns.
 *
 * Without arguments: a task of the lowest priority that counts instructions. It has
 * to run all the time. So idle ones are counted exactly, and as the guest always
 * runs, its clock does not leap while it waits for the network.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest/work.h"

#define NS 1000000000ll

/* Bursts a second, and ns between two wake-ups: they meet at any distance */
#define BURSTS 1000
#define PROBE_EVERY 997001

/* What is sent later than this is not of this load */
#define TAIL (NS / 4)

#define MAX_PROBES 100000

/* Half of the instructions when nothing else ran, 8 bytes */
#define IDLE "/tmp/offered.idle"

/**
 * struct shared - what the processes share
 * @made: task switches of each of the two
 * @took: ns of the load
 * @over: the load is
 * @probes: entries in @late
 * @late: ns of each wake-up
 */
struct shared {
	long made[2];
	int64_t took;
	volatile bool over;
	int probes;
	int64_t late[MAX_PROBES];
};

static struct shared *shared;

static void sleep_until(int64_t when)
{
	struct timespec t = { when / NS, when % NS };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

static void set_policy(int policy, int priority)
{
	struct sched_param p = { .sched_priority = priority };

	if (sched_setscheduler(0, policy, &p))
		die("sched_setscheduler");
}

static long switches(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return r.ru_nvcsw + r.ru_nivcsw;
}

/* No other task runs between the name and the count */
static long begin(const char *name)
{
	long count;

	set_policy(SCHED_FIFO, 99);
	prctl(PR_SET_NAME, name);
	count = switches();
	set_policy(SCHED_OTHER, 0);
	return count;
}

static void end(int who, long before)
{
	set_policy(SCHED_FIFO, 99);
	shared->made[who] = switches() - before;
	prctl(PR_SET_NAME, "done");
	_exit(0);
}

static volatile uint64_t *map_idle(int flags)
{
	int fd = open(IDLE, O_RDWR | flags, 0600);
	void *p;

	if (fd < 0 || ftruncate(fd, sizeof(uint64_t)))
		die(IDLE);
	p = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		 0);
	if (p == MAP_FAILED)
		die(IDLE);
	close(fd);
	return p;
}

static void meter(void)
{
	set_policy(SCHED_IDLE, 0);
	asm volatile("1: incq (%0)\n\tjmp 1b" ::"r"(map_idle(O_CREAT))
		     : "memory");
}

static void probe(void)
{
	int64_t when;

	set_policy(SCHED_FIFO, 80);
	when = now();
	while (!shared->over && shared->probes < MAX_PROBES) {
		when += PROBE_EVERY;
		sleep_until(when);
		shared->late[shared->probes++] = now() - when;
	}
	_exit(0);
}

static void answer(const char *name, int in, int out)
{
	long before = begin(name);
	char c;

	while (read(in, &c, 1) == 1) {
		if (write(out, &c, 1) != 1)
			die("write");
	}
	end(1, before);
}

/* A burst that comes late is followed by the next one that is due, at once */
static void offer(const char *name, long rate, int64_t length, int in, int out)
{
	long before = begin(name), due = rate ? rate / BURSTS / 2 : 1, i;
	int64_t start = now(), when = start, at = start;
	char c = 0;

	while (at < start + length) {
		for (i = 0; i < due; i++) {
			if (write(out, &c, 1) != 1 || read(in, &c, 1) != 1)
				die("pipe");
		}
		when += NS / BURSTS;
		if (rate)
			sleep_until(when);
		at = now();
	}
	shared->took = at - start;
	end(0, before);
}

static long long counter(const char *name)
{
	char path[100];
	long long n;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/eth0/statistics/%s", name);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%lld", &n) != 1)
		die(path);
	fclose(f);
	return n;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static pid_t start(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	return pid;
}

static void await(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "offered: a process failed\n");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	static const char *const counters[] = { "tx_bytes", "tx_packets",
						"rx_bytes" };
	long long net[3], moved[3];
	volatile uint64_t *count;
	pid_t prober, pair[2];
	int there[2], back[2], i;
	int64_t started, ended;
	uint64_t idle;

	if (argc == 1)
		meter();
	if (argc != 4) {
		fprintf(stderr, "usage: offered [NAME RATE MILLISECONDS]\n");
		return 2;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	/* Before the others, and before they wait for each other */
	set_policy(SCHED_FIFO, 98);

	count = map_idle(0);
	for (i = 0; i < 3; i++)
		net[i] = counter(counters[i]);
	started = now();
	idle = *count;

	prober = start();
	if (!prober)
		probe();
	/* The one above does not have these: the answers end when the load does */
	if (pipe(there) || pipe(back))
		die("pipe");
	pair[1] = start();
	if (!pair[1]) {
		close(there[1]);
		answer(argv[1], there[0], back[1]);
	}
	pair[0] = start();
	if (!pair[0])
		offer(argv[1], atol(argv[2]), atol(argv[3]) * 1000000, back[0],
		      there[1]);
	close(there[1]);
	await(pair[0]);
	await(pair[1]);
	shared->over = true;
	await(prober);
	sleep_until(now() + TAIL);
	ended = now();
	idle = *count - idle;
	for (i = 0; i < 3; i++)
		moved[i] = counter(counters[i]) - net[i];

	qsort(shared->late, shared->probes, sizeof(*shared->late), by_value);
	printf("%ld %lld %lld %lld %lld %lld",
	       shared->made[0] + shared->made[1], (long long)shared->took,
	       (long long)(ended - started - 2 * idle), moved[0], moved[1],
	       moved[2]);
	printf(" %lld %lld %lld\n", (long long)shared->late[shared->probes / 2],
	       (long long)shared->late[shared->probes * 99 / 100],
	       (long long)shared->late[shared->probes - 1]);
	return 0;
}
