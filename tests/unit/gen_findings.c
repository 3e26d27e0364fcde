// SPDX-License-Identifier: GPL-2.0
/*
 * gen_findings WHAT FILE.dat [LATER]
 *
 * Writes a made-up recording of 40 executions of an operation of thread 1000, 30 us each,
 * and of a slow one of 5 ms after them, and prints where that begins and ends, and how long
 * the fault in it took, in ns.
 *
 *	spin	pipe_read() computes
 *	sleep	pipe_read() waits in schedule() until holder woke the thread
 *	markup	the same, but the thread that woke it is called <b>, of which there is no
 *		event before
 *	lies	so the function graph says, and the scheduler's events that the thread ran
 *	bare	as spin, with the function graph alone
 *	pread	the operation is a request to a server, which reads /data/x from stack 1, of
 *		which there is no event; all times are LATER, in ns
 *	slept	the same, and in the slow one it slept until holder woke it
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphdat.h"
#include "iodat.h"

#define THREAD 1000
#define HOLDER 77
#define CLIENT 2000
#define EXECUTIONS 40
#define US 1000ull
#define FAULT (4970 * US)

static uint64_t start, end, took;

/* ---- function graph ---- */

enum { SYSCALL, VFS, PIPE, SCHEDULE, MUTEX };
static const char *const names[] = { "ksys_read", "vfs_read",	"pipe_read",
				     "schedule",  "mutex_lock", NULL };

static void switch_to(struct gd *gd, int prev, unsigned int state, int next)
{
	gd->prev_comm = prev ? "reader" : "swapper";
	gd->next_comm = next ? "reader" : "swapper";
	gd_switch(gd, prev, state, next);
}

/* The thread sleeps on CPU 0 until a thread that runs on CPU 1 wakes it */
static void sleep_until_woken(struct gd *gd, bool is_waker_seen)
{
	switch_to(gd, THREAD, 1, 0);
	gd->now += FAULT - 2 * US;
	gd->cpu = 1;
	gd->pid = HOLDER;
	gd->next_comm = "holder";
	gd->prev_comm = "swapper";
	if (is_waker_seen)
		gd_switch(gd, 0, 0, HOLDER);
	gd_waking(gd, THREAD);
	gd->cpu = 0;
	gd->now += 2 * US;
	switch_to(gd, 0, 0, THREAD);
	gd->pid = THREAD;
}

static void fault(struct gd *gd, const char *what)
{
	uint64_t begin = gd->now;
	bool sleeps = !strcmp(what, "sleep") || !strcmp(what, "markup");

	if (sleeps || !strcmp(what, "lies")) {
		gd_enter(gd, SCHEDULE);
		if (sleeps)
			sleep_until_woken(gd, !strcmp(what, "sleep"));
		else
			gd->now += FAULT;
		gd_leave(gd);
	} else {
		gd->now += FAULT;
	}
	took = gd->now - begin;
}

static void execute(struct gd *gd, const char *what, bool slow)
{
	start = gd->now;
	gd_enter(gd, SYSCALL);
	gd->now += 3 * US;
	gd_enter(gd, VFS);
	gd->now += 5 * US;
	gd_enter(gd, PIPE);
	gd_call(gd, MUTEX, 2 * US);
	gd->now += 10 * US;
	if (slow)
		fault(gd, what);
	gd_leave(gd);
	gd->now += 6 * US;
	gd_leave(gd);
	gd->now += 4 * US;
	gd_leave(gd);
	end = gd->now;
}

static void graph(struct td *td, const char *what)
{
	struct gd gd;
	int i;

	td->cmdlines = !strcmp(what, "markup") ? "1000 reader\n77 <b>\n" :
						 "1000 reader\n77 holder\n";
	gd_init(&gd, td, names, 5);
	if (strcmp(what, "bare") != 0)
		switch_to(&gd, 0, 0, THREAD);
	gd.pid = THREAD;
	gd.now += 10 * US;
	for (i = 0; i <= EXECUTIONS; i++) {
		execute(&gd, what, i == EXECUTIONS);
		gd.now += 20 * US;
	}
	if (strcmp(what, "bare") != 0)
		switch_to(&gd, THREAD, 1, 0);
}

/* ---- requests ---- */

static uint64_t now = 1000000 * US;

static struct io_call call_of(int tid, unsigned int op, uint64_t duration)
{
	struct io_call c = { .tid = tid,
			     .tgid = tid,
			     .op = op,
			     .fd = 5,
			     .start = now,
			     .finish = now + duration };

	now += duration;
	return c;
}

/* Bytes through the connection; @from: where the stream was, of 100 bytes each time */
static void transfer(struct td *td, int tid, unsigned int op, uint64_t from)
{
	struct io_call c = call_of(tid, op, 2 * US);
	bool server = tid == THREAD;

	c.type = IO_SOCKET;
	c.id = server ? 11 : 10;
	c.protocol = 6;
	c.bytes = 100;
	c.isn = server ? 500 : 400;
	c.peer_isn = server ? 400 : 500;
	c.flags = IO_ISN_KNOWN;
	c.from = from;
	c.end = from + 100;
	c.name = server ? "10.0.0.1:80->10.0.0.1:40000" :
			  "10.0.0.1:40000->10.0.0.1:80";
	io_write(td, !server, &c);
}

/* The client sleeps, and the other CPU is idle, but for the holder; or the client goes on */
static void client_sleeps(struct gd *gd, bool sleeps)
{
	if (!gd)
		return;
	gd->now = now;
	gd->cpu = 1;
	gd->prev_comm = sleeps ? "client" : "swapper";
	gd->next_comm = sleeps ? "swapper" : "client";
	gd->pid = sleeps ? CLIENT : 0;
	gd_switch(gd, sleeps ? CLIENT : 0, sleeps, sleeps ? 0 : CLIENT);
	gd->cpu = 0;
	gd->pid = THREAD;
}

static void holder_ends(struct gd *gd)
{
	gd->cpu = 1;
	gd->pid = HOLDER;
	gd->prev_comm = "holder";
	gd->next_comm = "swapper";
	gd_switch(gd, HOLDER, 1, 0);
	gd->cpu = 0;
	gd->pid = THREAD;
}

/* @gd: NULL if the scheduler's events are not recorded */
static void request(struct td *td, struct gd *gd, unsigned int nr, bool slow)
{
	struct io_call c;

	transfer(td, CLIENT, OP_SENDTO, 100 * nr);
	client_sleeps(gd, true);
	now += 5 * US;
	transfer(td, THREAD, OP_RECVFROM, 100 * nr);
	start = now;
	now += 8 * US;
	c = call_of(THREAD, OP_PREAD, slow ? FAULT : 10 * US);
	took = c.finish - c.start;
	if (gd && slow) {
		gd->now = c.start;
		sleep_until_woken(gd, true);
		holder_ends(gd);
	}
	c.type = IO_FILE;
	c.id = 7;
	c.dev = 254 << 20;
	c.bytes = 4096;
	c.name = "/data/x";
	c.stack = 1;
	io_write(td, 0, &c);
	now += 10 * US;
	transfer(td, THREAD, OP_SENDTO, 100 * nr);
	end = now;
	now += 5 * US;
	client_sleeps(gd, false);
	transfer(td, CLIENT, OP_RECVFROM, 100 * nr);
	now += 50 * US;
}

static void requests(struct td *td, bool slept)
{
	struct gd gd;
	unsigned int i;

	td->cmdlines = "1000 server\n2000 client\n77 holder\n";
	td_add_event(td, "iosys", io_call_format);
	if (slept) {
		gd_init(&gd, td, names, 5);
		gd.now = now;
		switch_to(&gd, 0, 0, THREAD);
		client_sleeps(&gd, false);
	}
	now += 10 * US;
	for (i = 0; i <= EXECUTIONS; i++)
		request(td, slept ? &gd : NULL, i, i == EXECUTIONS);
	if (slept) {
		gd.now = now;
		switch_to(&gd, THREAD, 1, 0);
	}
}

int main(int argc, char **argv)
{
	struct td_layout layout = { .page_size = 4096, .clock = "mono" };
	struct td td;

	if (argc != 3 && argc != 4) {
		fprintf(stderr,
			"usage: gen_findings spin|sleep|markup|lies|bare|pread|slept FILE.dat [LATER]\n");
		return 2;
	}
	now += argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	td_init(&td, &layout, 2);
	if (!strcmp(argv[1], "pread") || !strcmp(argv[1], "slept"))
		requests(&td, !strcmp(argv[1], "slept"));
	else
		graph(&td, argv[1]);
	if (!td_finish(&td, argv[2]))
		return 1;
	printf("%llu %llu %llu\n", (unsigned long long)start,
	       (unsigned long long)end, (unsigned long long)took);
	return 0;
}
