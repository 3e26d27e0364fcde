// SPDX-License-Identifier: GPL-2.0
/*
 * gen_explain SEED DIR
 *
 * Writes a made-up case to DIR, whose operation has a fault of a kind that SEED % KINDS
 * says, at a random place and of a random size, with random other things around it; and
 * prints the truth: kind=, and right=, which the name of the right cause begins with, or
 * "none" of a healthy operation.
 *
 *	none	no fault: above the limit by chance, for parts that are all a bit longer
 *	hog	another task preempts the thread
 *	queue	the thread is woken, and waits while another task has the CPU
 *	irq	many hard interrupts of a device
 *	softirq	a long softirq
 *	late	the thread is woken, and its CPU idle
 *	holder	the thread is blocked until another task wakes it
 *	disk	the thread is blocked until an interrupt wakes it
 *	spin	the thread itself runs
 *	slow	a request is long in its device
 *	full	a request is long in its device's queue
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphdat.h"

enum {
	NONE,
	HOG,
	QUEUE,
	IRQ,
	SOFTIRQ,
	LATE,
	HOLDER,
	DISK,
	SPIN,
	SLOW,
	FULL,
	KINDS
};

static const struct {
	const char *name, *right;
} kinds[KINDS] = {
	[NONE] = { "none", "none" },
	[HOG] = { "hog", "waiting for a CPU: hog-88" },
	[QUEUE] = { "queue", "waiting for a CPU: hog-88" },
	[IRQ] = { "irq", "interrupt nic0" },
	[SOFTIRQ] = { "softirq", "softirq NET_RX" },
	[LATE] = { "late", "late wake-up" },
	[HOLDER] = { "holder", "blocked until holder-77" },
	[DISK] = { "disk", "blocked until interrupt nic0" },
	[SPIN] = { "spin", "computing" },
	[SLOW] = { "slow", "device" },
	[FULL] = { "full", "waiting in the device's queue" },
};

enum { THREAD = 1000, HOG_PID = 88, HOLDER_PID = 77 };
enum { ID_ISSUE = 901, ID_COMPLETE = 902 };

#define BLOCK_FIELDS                                                        \
	TD_COMMON                                                           \
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"               \
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"        \
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n" \
	"\nprint fmt: \"%u\", REC->nr_sector\n"

static const char issue[] =
	"name: block_rq_issue\nID: 901\nformat:\n" BLOCK_FIELDS;
static const char complete[] =
	"name: block_rq_complete\nID: 902\nformat:\n" BLOCK_FIELDS;

static uint64_t state;
static struct gd gd;
static uint64_t start, end;

static uint64_t between(uint64_t least, uint64_t most)
{
	state ^= state << 13; /* xorshift64 */
	state ^= state >> 7;
	state ^= state << 17;
	return least + (state >> 11) % (most - least + 1);
}

static void request(unsigned int id, uint64_t sector)
{
	struct td_record r;

	td_begin(&r, gd.td, id, gd.pid, 28);
	td_put(&r, 8, 266338304, 4);
	td_put(&r, 16, sector, 8);
	td_put(&r, 24, 8, 4);
	td_write(gd.td, 0, gd.cpu, gd.now, &r);
}

/* Events on the other CPU, by another task or in an interrupt that finds it idle */
static void wake(int waker)
{
	gd.cpu = 1;
	gd.pid = waker;
	if (waker) {
		gd.next_comm = "holder";
		gd_switch(&gd, 0, 0, waker);
		gd.next_comm = NULL;
		gd.now += 200;
	} else {
		gd_irq(&gd, "nic0", true);
	}
	gd_waking(&gd, THREAD);
	if (waker)
		gd_switch(&gd, waker, 1, 0);
	else
		gd_irq(&gd, "nic0", false);
	gd.cpu = 0;
	gd.pid = THREAD;
}

static void irq(uint64_t ns)
{
	gd_irq(&gd, "nic0", true);
	gd.now += ns;
	gd_irq(&gd, "nic0", false);
}

static void softirq(uint64_t ns)
{
	gd_softirq(&gd, 3, true);
	gd.now += ns;
	gd_softirq(&gd, 3, false);
}

/* @next is what has the CPU, 88 the hog, 0 nothing */
static void off(unsigned int how, int next)
{
	gd.next_comm = next ? "hog" : NULL;
	gd_switch(&gd, THREAD, how, next);
	gd.next_comm = NULL;
}

static void sleep_for(uint64_t blocked, uint64_t runnable, int waker, int next)
{
	off(2, next);
	gd.now += blocked;
	wake(waker);
	gd.now += runnable;
	gd_switch(&gd, next, 0, THREAD);
}

/* What each operation has, @most ns of each */
static void usual(uint64_t most)
{
	gd.now += between(most / 2, most);
	irq(between(most / 50, most / 20));
	gd.now += between(most / 4, most);
	softirq(between(most / 50, most / 20));
	sleep_for(between(most / 4, most / 2), between(500, 5000),
		  between(0, 1) ? HOLDER_PID : 0, 0);
	gd.now += between(most / 4, most);
}

static void fault(int kind, uint64_t ns)
{
	uint64_t i, nr;

	switch (kind) {
	case HOG:
		off(0, HOG_PID);
		gd.now += ns;
		gd_switch(&gd, HOG_PID, 0, THREAD);
		break;
	case QUEUE:
		sleep_for(20000, ns, 0, HOG_PID);
		break;
	case IRQ:
		nr = between(5, 60);
		for (i = 0; i < nr; i++) {
			irq(ns / nr);
			gd.now += between(100, 900);
		}
		break;
	case SOFTIRQ:
		softirq(ns);
		break;
	case LATE:
		sleep_for(20000, ns, 0, 0);
		break;
	case HOLDER:
		sleep_for(ns, 2000, HOLDER_PID, 0);
		break;
	case DISK:
		sleep_for(ns, 2000, 0, 0);
		break;
	case SPIN:
		gd.now += ns;
		break;
	default:
		break;
	}
}

/* A request to a device: others are in flight before it */
static void device(uint64_t queue, uint64_t service)
{
	uint64_t nr = between(1, 40), i;

	for (i = 0; i < nr; i++) {
		request(ID_ISSUE, 100000 + 8 * i);
		gd.now += 1000;
	}
	start = gd.now;
	gd.now += queue;
	request(ID_ISSUE, 5000);
	for (i = 0; i < nr; i++) {
		gd.now += service / (nr + 1);
		request(ID_COMPLETE, 100000 + 8 * i);
	}
	gd.now += service / (nr + 1);
	request(ID_COMPLETE, 5000);
	end = gd.now;
}

static void write_json(const char *dir, uint64_t center, uint64_t limit,
		       bool is_request)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/case.json", dir);
	f = fopen(path, "w");
	if (!f) {
		perror(path);
		exit(1);
	}
	fprintf(f,
		"{\"format\":\"tracerig-case\",\"version\":1,\"program\":\"gen_explain\",\"case\":1,"
		"\"time\":\"2026-01-02T03:04:05.000000Z\",\"group\":\"g\",\"nth\":1,"
		"\"host\":{\"name\":\"h\",\"release\":\"6\",\"version\":\"v\",\"machine\":\"m\",\"cpus\":2,\"cmdline\":\"\",\"boot_id\":\"\"},"
		"\"chart\":{\"name\":\"c\",\"event\":\"%s\",\"filter\":\"\",\"unit\":\"ns\"},",
		is_request ? "block_rq_complete" : "sys_exit_read");
	fprintf(f,
		"\"alarm\":{\"time\":%llu,\"cpu\":0,\"chart\":\"c\",\"start\":%llu,\"value\":%llu,\"center\":%llu,\"limit\":%llu,"
		"\"judged\":1000,\"rules\":1,\"pid\":%d,\"comm\":\"reader\",\"keys\":\"%s\",\"kept\":true},",
		(unsigned long long)end, (unsigned long long)start,
		(unsigned long long)(end - start), (unsigned long long)center,
		(unsigned long long)limit, THREAD,
		is_request ? "dev=266338304 sector=5000" : "common_pid=1000");
	fprintf(f,
		"\"nr_alarms\":0,\"alarms\":[],\"values\":[],"
		"\"window\":{\"clock\":\"mono\",\"begin\":%llu,\"end\":%llu,\"cpus\":[]},"
		"\"losses\":{\"gaps\":0,\"lost\":0,\"dropped\":0,\"overwritten\":0},\"missing\":[],\"files\":[]}\n",
		(unsigned long long)GD_BASE, (unsigned long long)gd.now);
	if (fclose(f)) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	static const char *const names[] = { NULL };
	struct td_layout layout = { .page_size = 4096, .clock = "mono" };
	uint64_t most, center, limit, ns;
	char path[4096];
	struct td td;
	int kind, i;

	if (argc != 3) {
		fprintf(stderr, "usage: gen_explain SEED DIR\n");
		return 2;
	}
	kind = strtoull(argv[1], NULL, 10) % KINDS;
	state = (strtoull(argv[1], NULL, 10) + 1) * 0x9e3779b97f4a7c15ULL;
	for (i = 0; i < 20; i++)
		between(0, 1);
	td_init(&td, &layout, 2);
	gd_init(&gd, &td, names, 1);
	td_add_event(&td, "block", issue);
	td_add_event(&td, "block", complete);
	gd.pid = THREAD;
	most = between(20000, 400000);
	/* as a chart has them: usual() has 1.3 to 3.6 times @most */
	center = 5 * most / 2;
	limit = 7 * most / 2;
	ns = most * between(3, 30);
	gd_switch(&gd, 0, 0, THREAD);
	if (kind == SLOW || kind == FULL ||
	    (kind == NONE && strtoull(argv[1], NULL, 10) % 2)) {
		device(between(most / 50, most / 10) + (kind == FULL ? ns : 0),
		       between(2 * most, 3 * most) + (kind == SLOW ? ns : 0));
	} else {
		gd.now += 5000;
		start = gd.now;
		usual(most);
		fault(kind, ns);
		gd.now += between(most / 20, most / 5);
		end = gd.now;
		gd.now += 5000;
		off(1, 0);
	}
	/* healthy, and still above the limit: what chance does once in some hundred times */
	if (kind == NONE && end - start <= limit)
		limit = (end - start) * 100 / between(101, 115);
	snprintf(path, sizeof(path), "%s/trace.dat", argv[2]);
	if (!td_save(&td, path)) {
		perror(path);
		return 1;
	}
	td_free(&td);
	write_json(argv[2], center, limit,
		   kind == SLOW || kind == FULL ||
			   (kind == NONE && strtoull(argv[1], NULL, 10) % 2));
	printf("kind=%s right=%s\n", kinds[kind].name, kinds[kind].right);
	return 0;
}
