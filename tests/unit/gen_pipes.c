// SPDX-License-Identifier: GPL-2.0
/*
 * gen_pipes HOST.dat REQUESTS SEED turns|early|lossy|sizes
 *
 * Writes a made-up trace: 24 clients send requests to front ends, each a process of one
 * thread that handles one request at a time. It writes a job to the FIFO of one of three
 * worker processes, and reads the answer from a pipe of its own, in parts. The worker reads
 * the job in parts, reads a file and sends a request to a data base. Several front ends
 * write to a FIFO at the same time: the first bytes need not be of the first call to begin.
 * Halfway the FIFOs are closed, one with a job in it that is never read, and created again
 * with the same inode numbers.
 *
 *	turns	the calls have the bytes' offsets in the pipes
 *	early	as turns, but a worker begins to answer before it has read the whole job
 *	lossy	as turns, but some records are lost
 *	sizes	the calls have no offsets
 *
 * Prints the truth, separated by tabs:
 *
 *	link TID BEGIN PARENT-TID PARENT-BEGIN	a request of a worker's
 *	file CLIENT				a call on a file, for a client
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iolog.h"
#include "random.h"

#define CLIENTS 24
#define FRONTS 8
#define WORKERS 3
#define FRONT_TID 2000
#define WORKER_TID 3000
#define BASE_TID 4000
#define BEGIN 5000000000000ll
#define HEADER 8

struct connection {
	int tid[2];
	struct io_stream stream;
};

struct pipe {
	uint64_t ino;
	uint64_t number;
	uint64_t written;
	uint64_t read;
};

struct job {
	unsigned int front;
	unsigned int client;
	uint64_t len;
	int64_t got; /* by the front end */
	int64_t at; /* when it is in the pipe */
	int64_t start;
	int64_t finish;
};

static const char cmdlines[] =
	"100 red\n101 green\n102 blue\n103 grey\n"
	"2000 front\n2001 front\n2002 front\n2003 front\n"
	"2004 front\n2005 front\n2006 front\n2007 front\n"
	"3000 worker\n3001 worker\n3002 worker\n4000 base\n";
static const char *const clients[] = { "red", "green", "blue", "grey" };

static struct io_log calls;
static struct connection client[CLIENTS], base[WORKERS];
static struct pipe jobs[WORKERS], answers[FRONTS];
static uint64_t pipes;
static bool exact, early;

/* Of one side of a connection: bytes that the other one sends or gets as well */
static void transfer(struct connection *c, bool server, bool sends,
		     uint64_t len, int64_t start, int64_t finish)
{
	unsigned int port = c->stream.port;
	int tid = c->tid[server];
	struct io_event *e = io_log_add(&calls, 0, tid,
					tid < FRONT_TID ? 100 + tid % 4 : tid,
					sends ? OP_SENDTO : OP_RECVFROM, start,
					finish);

	io_event_bytes(e, &c->stream, server, sends, len);
	snprintf(e->name, sizeof(e->name), "127.0.0.1:%u->127.0.0.1:%u",
		 server ? 80 : port, server ? port : 80);
}

static void make_connection(struct connection *c, int asks, int answers_tid,
			    unsigned int port)
{
	*c = (struct connection){ .tid = { asks, answers_tid },
				  .stream = { .port = port,
					      .isn = { rnd(), rnd() } } };
}

static void make_pipe(struct pipe *p, uint64_t ino)
{
	*p = (struct pipe){ .ino = ino, .number = ++pipes };
}

static void move(struct pipe *p, int tid, bool writes, uint64_t len,
		 int64_t start, int64_t finish)
{
	struct io_event *e = io_log_add(&calls, 0, tid, tid,
					writes ? OP_WRITE : OP_READ, start,
					finish);
	uint64_t *at = writes ? &p->written : &p->read;

	e->call.type = IO_FIFO;
	e->call.id = p->ino;
	e->call.bytes = len;
	if (exact) {
		e->call.pipe = p->number;
		e->call.written = writes;
		e->call.from = *at;
		e->call.end = *at + len;
	}
	*at += len;
	snprintf(e->name, sizeof(e->name), "pipe:[%llu]",
		 (unsigned long long)p->ino);
}

/* Reads of a program that knows the size only after reading the header */
static int64_t read_parts(struct pipe *p, int tid, uint64_t len, int64_t since,
			  int64_t at, struct pipe *answer)
{
	uint64_t part = HEADER;

	while (len) {
		move(p, tid, false, part, since, at);
		if (answer)
			move(answer, tid, true, 1, at + 50, at + 100);
		answer = NULL;
		len -= part;
		since = at + 200 + below(500);
		at = since + 300 + below(1000);
		part = 1 + below(len ? len : 1);
	}
	return at;
}

static int64_t ask_base(struct connection *c, int64_t begin)
{
	int64_t at = begin + 20000 + below(20000);

	transfer(c, false, true, 50, begin, begin + 2000);
	transfer(c, true, false, 50, at - 500, at);
	at += 20000 + below(100000);
	transfer(c, true, true, 500, at, at + 2000);
	at += 20000 + below(20000);
	transfer(c, false, false, 500, begin + 3000, at);
	return at;
}

/* Returns when the worker is idle */
static int64_t work(unsigned int w, const struct job *job, int64_t since)
{
	int tid = WORKER_TID + (int)w;
	int64_t at = since > job->at ? since : job->at;
	uint64_t len = HEADER + 1 + below(500);
	struct io_event *e;

	at = read_parts(&jobs[w], tid, job->len, since, at + 500,
			early ? &answers[job->front] : NULL);
	e = io_log_add(&calls, 0, tid, tid, OP_PREAD, at,
		       at + 5000 + below(50000));
	e->call.type = IO_FILE;
	e->call.id = 77;
	e->call.bytes = 100;
	snprintf(e->name, sizeof(e->name), "/srv/data");
	printf("file\t%s\n", clients[client[job->client].tid[0] % 4]);
	at = (int64_t)e->call.finish + 1000;
	printf("link\t%d\t%lld\t%d\t%lld\n", tid, (long long)at,
	       FRONT_TID + (int)job->front, (long long)job->got);
	at = ask_base(&base[w], at) + 1000;
	move(&answers[job->front], tid, true, len - early, at, at + 1500);
	since = at + 2000;
	at = read_parts(&answers[job->front], FRONT_TID + (int)job->front, len,
			job->finish + 500, at + 1000, NULL);
	transfer(&client[job->client], true, true, 1000, at, at + 2000);
	transfer(&client[job->client], false, false, 1000, job->got + 1000,
		 at + 30000);
	return since;
}

static int by_at(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static void make_job(struct job *j, unsigned int front, unsigned int round,
		     int64_t begin)
{
	j->front = front;
	j->client = front + FRONTS * (round % (CLIENTS / FRONTS));
	j->len = HEADER + 1 + below(800);
	begin += below(20000);
	transfer(&client[j->client], false, true, 100, begin, begin + 1000);
	j->got = begin + 20000;
	transfer(&client[j->client], true, false, 100, begin, j->got);
	j->start = j->got + 500 + below(2000);
	j->at = j->start + 500 + below(40000);
	j->finish = j->at + 500 + below(1000);
}

/* All front ends have something to do; returns when all of it is done */
static int64_t make_round(unsigned int round, int64_t begin)
{
	struct job job[FRONTS];
	int64_t over[WORKERS], last = begin;
	unsigned int worker[FRONTS], i;

	for (i = 0; i < FRONTS; i++)
		make_job(&job[i], i, round, begin);
	/* That is their order in the pipes */
	qsort(job, FRONTS, sizeof(*job), by_at);
	for (i = 0; i < FRONTS; i++) {
		worker[i] = below(WORKERS);
		move(&jobs[worker[i]], FRONT_TID + (int)job[i].front, true,
		     job[i].len, job[i].start, job[i].finish);
	}
	for (i = 0; i < WORKERS; i++)
		over[i] = begin;
	for (i = 0; i < FRONTS; i++) {
		over[worker[i]] = work(worker[i], &job[i], over[worker[i]]);
		if (over[worker[i]] > last)
			last = over[worker[i]];
	}
	return last + 200000;
}

static int64_t close_fifos(int64_t at)
{
	unsigned int i;

	move(&jobs[0], FRONT_TID, true, 300, at, at + 1000);
	for (i = 0; i < WORKERS; i++)
		make_pipe(&jobs[i], 10 + i);
	return at + 100000;
}

static void lose_some(void)
{
	u64 i;

	for (i = 0; i < calls.nr; i++)
		calls.event[i].lost = !below(200);
}

int main(int argc, char **argv)
{
	int64_t at = BEGIN;
	unsigned int i, rounds;
	bool lossy = argc == 5 && !strcmp(argv[4], "lossy"), ok;

	early = lossy || (argc == 5 && !strcmp(argv[4], "early"));
	exact = early || (argc == 5 && !strcmp(argv[4], "turns"));
	if (argc != 5 || (!exact && strcmp(argv[4], "sizes") != 0)) {
		fprintf(stderr,
			"usage: gen_pipes HOST.dat REQUESTS SEED turns|early|lossy|sizes\n");
		return 2;
	}
	seed = SEED + strtoull(argv[3], NULL, 10);
	rounds = strtoul(argv[2], NULL, 10) / FRONTS;
	for (i = 0; i < CLIENTS; i++)
		make_connection(&client[i], 1000 + (int)i,
				FRONT_TID + (int)(i % FRONTS), 40000 + i);
	for (i = 0; i < WORKERS; i++) {
		make_connection(&base[i], WORKER_TID + (int)i, BASE_TID,
				50000 + i);
		make_pipe(&jobs[i], 10 + i);
	}
	for (i = 0; i < FRONTS; i++)
		make_pipe(&answers[i], 20 + i);
	for (i = 0; i < rounds; i++) {
		if (i == rounds / 2)
			at = close_fifos(at);
		at = make_round(i, at);
	}
	io_log_sort(&calls);
	if (lossy)
		lose_some();
	ok = io_log_save(&calls, argv[1], 0, cmdlines);
	free(calls.event);
	return ok ? 0 : 1;
}
