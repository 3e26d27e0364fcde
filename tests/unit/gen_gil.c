// SPDX-License-Identifier: GPL-2.0
/*
 * gen_gil FILE.dat REQUESTS SEED MODE
 *
 * Writes a made-up trace of a server whose threads share one lock, as those of Python do:
 * the thread that has it computes, and releases it before each call; then the thread that
 * has waited longest for it is woken, by a futex, outside of any I/O call.  So each thread
 * is woken by any other thread, during its own request and after it.
 *
 *	threads	one thread per connection: it receives a request, sends the head of the
 *		response, as half of them do, reads 1 to 4 files, sends the rest and writes a
 *		line of a log
 *	help	as threads, but a thread of a pool reads the files of half of the requests:
 *		the request's thread wakes it, and it wakes that thread when it has finished
 *
 * The truth is in the names of the files: THREAD-NUMBER, the thread that receives the
 * request, and the number of requests that it received before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iolog.h"
#include "random.h"

#define THREADS 8
#define HELPERS 4
#define CLIENT_TID 100
#define SERVER_TID 2000
#define HELPER_TID 2100
#define BEGIN 5000000000000ull
#define NEVER UINT64_MAX

enum step { RECEIVE, HEAD, FILES, ASK_HELP, SEND, LOG, STEPS };

struct thread {
	int tid;
	uint64_t ready; /* to compute, if it gets the lock; NEVER: it waits for help */
	enum step step;
	unsigned int files; /* left to read */
	unsigned int number; /* of its request */
	uint64_t asked; /* when the client's request arrives */
	struct io_stream stream;
	int helps; /* the thread that it helps; -1: none */
};

static struct io_log calls = { .wakings = true };
static struct thread thread[THREADS + HELPERS];
static uint64_t wanted;
static bool help;

static struct io_event *add_event(int tid, unsigned int op, uint64_t start,
				  uint64_t finish)
{
	return io_log_add(&calls, 0, tid,
			  tid < SERVER_TID ? CLIENT_TID : SERVER_TID, op, start,
			  finish);
}

static void wake(int waker, int wakee, uint64_t time)
{
	add_event(waker, 0, time, time)->wakee = wakee;
}

/* @i: of the connection; @sender: 0: the client, 1: the server */
static void transfer(unsigned int i, bool server, bool sender, uint64_t len,
		     uint64_t start, uint64_t finish)
{
	struct thread *t = &thread[i];
	unsigned int port = t->stream.port;
	struct io_event *e = add_event(
		server ? t->tid : CLIENT_TID + (int)i,
		server == sender ? OP_SENDTO : OP_RECVFROM, start, finish);

	io_event_bytes(e, &t->stream, server, server == sender, len);
	e->call.fd = 20;
	snprintf(e->name, sizeof(e->name), "10.0.0.1:%u->10.0.0.1:%u",
		 server ? 80 : port, server ? port : 80);
}

static void file(int tid, const struct thread *of, unsigned int op,
		 uint64_t start, uint64_t finish)
{
	struct io_event *e = add_event(tid, op, start, finish);

	e->call.type = IO_FILE;
	e->call.id = 10000 + 1000 * (uint64_t)of->tid + of->number;
	e->call.bytes = 512;
	snprintf(e->name, sizeof(e->name), "/%s/%d-%u",
		 op == OP_WRITE ? "log" : "srv", of->tid, of->number);
}

static void client_asks(unsigned int i, uint64_t at)
{
	transfer(i, false, false, 100, at, at + 2000);
	thread[i].asked = at + 30000;
}

/* An idle thread of the pool, or NULL */
static struct thread *idle_helper(void)
{
	int i;

	for (i = THREADS; i < THREADS + HELPERS; i++) {
		if (thread[i].ready == NEVER)
			return &thread[i];
	}
	return NULL;
}

/* The next action of a thread of the pool after computing, at a time */
static void helper_acts(struct thread *t, uint64_t now)
{
	struct thread *of = &thread[t->helps];

	if (t->files) {
		t->files--;
		t->ready = now + 20000 + below(600000);
		file(t->tid, of, OP_PREAD, now, t->ready);
		return;
	}
	wake(t->tid, of->tid, now);
	of->ready = now;
	t->ready = NEVER;
	t->helps = -1;
}

static enum step files_step(void)
{
	return help && below(2) ? ASK_HELP : FILES;
}

static void server_acts(struct thread *t, uint64_t now)
{
	unsigned int i = t - thread;
	struct thread *helper;
	uint64_t end;

	switch (t->step) {
	case RECEIVE:
		if (t->asked == NEVER) {
			t->ready = NEVER;
			return;
		}
		end = (t->asked > now ? t->asked : now) + 1000 + below(3000);
		transfer(i, true, false, 100, now, end);
		t->asked = NEVER;
		t->files = 1 + below(4);
		t->step = below(2) ? HEAD : files_step();
		break;
	case HEAD:
		end = now + 2000 + below(3000);
		transfer(i, true, true, 50, now, end);
		transfer(i, false, true, 50, now - 1000, end + 20000);
		t->step = files_step();
		break;
	case ASK_HELP:
		helper = idle_helper();
		t->step = helper ? SEND : FILES;
		t->ready = helper ? NEVER : now;
		if (!helper)
			return;
		wake(t->tid, helper->tid, now);
		helper->helps = (int)i;
		helper->files = t->files;
		helper->ready = now;
		return;
	case FILES:
		end = now + 20000 + below(600000);
		file(t->tid, t, OP_PREAD, now, end);
		if (!--t->files)
			t->step = SEND;
		break;
	case SEND:
		end = now + 2000 + below(3000);
		transfer(i, true, true, 300, now, end);
		transfer(i, false, true, 300, now - 1000, end + 20000);
		if (wanted) {
			wanted--;
			client_asks(i, end + 30000 + below(300000));
		}
		t->step = LOG;
		break;
	default:
		end = now + 2000 + below(3000);
		file(t->tid, t, OP_WRITE, now, end);
		t->number++;
		t->step = RECEIVE;
		break;
	}
	t->ready = end;
}

/* The thread that has been ready longest gets the lock */
static struct thread *next_thread(void)
{
	struct thread *next = NULL;
	int i;

	for (i = 0; i < THREADS + HELPERS; i++) {
		struct thread *t = &thread[i];

		if (t->ready != NEVER && (!next || t->ready < next->ready))
			next = t;
	}
	return next;
}

static void simulate(void)
{
	struct thread *t, *last = NULL;
	uint64_t released = BEGIN;

	while ((t = next_thread())) {
		uint64_t begin = t->ready;

		if (begin < released) {
			begin = released;
			if (last != t)
				wake(last->tid, t->tid, released);
		}
		released = begin + 3000 + below(60000);
		last = t;
		if (t->helps >= 0)
			helper_acts(t, released + 100);
		else
			server_acts(t, released + 100);
	}
}

int main(int argc, char **argv)
{
	unsigned int i;
	bool ok;

	if (argc != 5 || !(wanted = strtoull(argv[2], NULL, 10)) ||
	    (strcmp(argv[4], "threads") != 0 && strcmp(argv[4], "help") != 0)) {
		fprintf(stderr,
			"usage: gen_gil FILE.dat REQUESTS SEED threads|help\n");
		return 2;
	}
	help = !strcmp(argv[4], "help");
	seed = SEED + strtoull(argv[3], NULL, 10);
	for (i = 0; i < THREADS + HELPERS; i++) {
		thread[i] = (struct thread){
			.tid = SERVER_TID + (int)i,
			.ready = BEGIN,
			.stream = { .port = 40000 + i,
				    .isn = { 1000 + 2 * i, 1001 + 2 * i } },
			.helps = -1
		};
		if (i < THREADS) {
			client_asks(i, BEGIN + 1000 + below(100000));
			continue;
		}
		thread[i].tid = HELPER_TID + (int)(i - THREADS);
		thread[i].ready = NEVER;
	}
	simulate();
	io_log_sort(&calls);
	ok = io_log_save(&calls, argv[1], 0, "100 load\n2000 python3\n");
	free(calls.event);
	return !ok;
}
