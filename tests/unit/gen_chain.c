// SPDX-License-Identifier: GPL-2.0
/*
 * gen_chain WEB.dat APP.dat DB.dat ALONE.dat REQUESTS SEED [lossy|early|rates]
 *
 * Writes made-up traces of four hosts, whose clocks are ahead by up to a second, drift,
 * and change their rate in the middle. Clients on the first host send requests to a server
 * on the second host, which sends requests to the third host; the fourth host gets none.
 * On the second host, some connections have a thread of their own (client threads 100 to
 * 119), some share a thread with several requests at a time (120 to 139), and the requests
 * of some are received by one thread and answered by another (140 to 159). Lossy: records
 * of the second host are lost now and then. Early: a thread of a connection answers before
 * its last downstream request has a response. Rates: the second host's clock is too fast by half.
 * Prints the truth:
 *
 *	clock HOST AHEAD RATE THEN BEGIN STEP
 *	call HOST TID OP TYPE START FINISH SOCKET NAME
 *	request NUMBER PARENT CLIENT-TID BEGIN OVER SERVER-TID BEGIN OVER TRUE-THERE TRUE-BACK
 *
 * separated by tabs. Times are ns by the clock of their host, except TRUE-THERE and
 * TRUE-BACK. A clock is AHEAD ns when the first host's clock shows BEGIN; its RATE is in
 * ppb until that shows STEP, and THEN afterwards. PARENT is 0 for a client's request.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iolog.h"
#include "random.h"

#define HOSTS 4
#define CLIENTS 30
#define LOOP_TID 220
#define BEGIN 5000000000000ll

static const char *const cmdlines[HOSTS] = { "1000 client\n", "1001 app\n",
					     "1002 db\n", "1003 alone\n" };

struct request {
	uint64_t number, parent;
	int tid[2];
	int64_t begin[2], over[2];
};

/* A client's next action, and its time */
enum state { ASK, GET, WORK, QUERY, SERVE, RESULT, ANSWER, DONE };

struct client {
	enum state state;
	int64_t at;
	struct io_stream front, back;
	struct request request, query;
	unsigned int queries;
	bool answered;
};

static struct io_log calls;
static struct client client[CLIENTS];
static int64_t busy[1000]; /* until when a thread is, by number */
static struct {
	int64_t ahead, rate, then;
} host_clock[HOSTS];
static int64_t step_at;
static uint64_t numbers;
static bool early;

static int64_t signed_below(int64_t n)
{
	return below(2 * n + 1) - n;
}

static int64_t shown(int host, int64_t time)
{
	__int128 before = (time < step_at ? time : step_at) - BEGIN;
	__int128 after = time < step_at ? 0 : time - step_at;
	__int128 drift =
		before * host_clock[host].rate + after * host_clock[host].then;

	/* Rounded down, and not towards 0 */
	return time + host_clock[host].ahead +
	       (int64_t)(drift / 1000000000 - (drift % 1000000000 < 0));
}

/* A thread's next call, not before a time; it takes so long */
static struct io_event *call(int host, int tid, unsigned int op, int64_t from,
			     int64_t takes)
{
	if (from <= busy[tid])
		from = busy[tid] + 1;
	busy[tid] = from + takes;
	return io_log_add(&calls, host, tid, 1000 + host, op, from,
			  from + takes);
}

static void work(int host, int tid, unsigned int op, int64_t from,
		 int64_t takes, const char *name)
{
	struct io_event *e = call(host, tid, op, from, takes);

	e->call.type = IO_FILE;
	e->call.id = 70 + op;
	snprintf(e->name, sizeof(e->name), "%s", name);
}

/* Side 0 asks, on the host before that of side 1 */
static struct io_event *transfer(struct io_stream *s, int host, int tid,
				 int side, bool sends, uint64_t len,
				 int64_t from)
{
	struct io_event *e = call(host, tid, sends ? OP_SENDTO : OP_RECVFROM,
				  from, 1000 + below(3000));

	io_event_bytes(e, s, side, sends, len);
	snprintf(e->name, sizeof(e->name), "10.0.0.%d:%u->10.0.0.%d:%u", host,
		 side ? 80 : s->port, side ? host - 1 : host + 1,
		 side ? s->port : 80);
	return e;
}

static int64_t travel(void)
{
	return 20000 + below(20000) + (below(4) ? 0 : below(300000));
}

static void tell(const struct request *r, int host)
{
	printf("request\t%llu\t%llu\t%d\t%lld\t%lld\t%d\t%lld\t%lld\t%lld\t%lld\n",
	       (unsigned long long)r->number, (unsigned long long)r->parent,
	       r->tid[0], (long long)shown(host, r->begin[0]),
	       (long long)shown(host, r->over[0]), r->tid[1],
	       (long long)shown(host + 1, r->begin[1]),
	       (long long)shown(host + 1, r->over[1]),
	       (long long)(r->begin[1] - r->begin[0]),
	       (long long)(r->over[0] - r->over[1]));
}

/* The thread that gets requests, and the one that does the rest */
static int app_tid(int i, bool gets)
{
	if (i < 10)
		return 200 + i;
	return i < 20 ? LOOP_TID : gets ? 240 + i : 270 + i;
}

static int client_tid(int i)
{
	return 100 + i / 10 * 20 + i % 10;
}

static void answer(int i)
{
	struct client *c = &client[i];
	struct io_event *e =
		transfer(&c->front, 1, app_tid(i, false), 1, true, 2000, c->at);

	c->request.over[1] = e->call.finish;
	c->answered = true;
}

/* One thing that a client's request needs; each takes a thread for a call */
static void next_step(int i)
{
	struct client *c = &client[i];
	struct io_event *e;

	switch (c->state) {
	case ASK:
		c->request = (struct request){ .number = ++numbers };
		c->request.tid[0] = client_tid(i);
		c->request.tid[1] = app_tid(i, true);
		e = transfer(&c->front, 0, client_tid(i), 0, true, 100, c->at);
		c->request.begin[0] = e->call.start;
		c->at = e->call.finish + travel();
		c->queries = below(4);
		c->state = GET;
		break;
	case GET:
		e = transfer(&c->front, 1, app_tid(i, true), 1, false, 100,
			     c->at);
		c->request.begin[1] = e->call.finish;
		c->at = e->call.finish + 1 + below(5000);
		c->state = WORK;
		break;
	case WORK:
		if (i < 10)
			work(1, app_tid(i, false), OP_PREAD, c->at,
			     1000 + below(50000), "/srv/template");
		c->at = busy[app_tid(i, false)] > c->at ?
				busy[app_tid(i, false)] :
				c->at;
		c->at += 1 + below(5000);
		c->state = c->queries ? QUERY : ANSWER;
		break;
	case QUERY:
		c->query = (struct request){ .number = ++numbers,
					     .parent = c->request.number };
		c->query.tid[0] = app_tid(i, false);
		c->query.tid[1] = 300 + i;
		e = transfer(&c->back, 1, app_tid(i, false), 0, true, 50,
			     c->at);
		c->query.begin[0] = e->call.start;
		c->at = e->call.finish;
		if (early && i < 10 && c->queries == 1)
			answer(i);
		c->at += travel();
		c->state = SERVE;
		break;
	case SERVE:
		e = transfer(&c->back, 2, 300 + i, 1, false, 50, c->at);
		c->query.begin[1] = e->call.finish;
		work(2, 300 + i, OP_PREAD, e->call.finish + below(1000),
		     1000 + below(100000), "/var/lib/db/base");
		if (!below(4))
			work(2, 300 + i, OP_FDATASYNC, 0,
			     100000 + below(900000), "/var/lib/db/log");
		e = transfer(&c->back, 2, 300 + i, 1, true, 500,
			     busy[300 + i] + below(2000));
		c->query.over[1] = e->call.finish;
		c->at = e->call.finish + travel();
		c->state = RESULT;
		break;
	case RESULT:
		e = transfer(&c->back, 1, app_tid(i, false), 0, false, 500,
			     c->at);
		c->query.over[0] = e->call.finish;
		tell(&c->query, 1);
		c->at = e->call.finish + 1 + below(5000);
		c->state = --c->queries ? QUERY : ANSWER;
		break;
	case ANSWER:
		if (!c->answered)
			answer(i);
		c->answered = false;
		if (c->at < c->request.over[1])
			c->at = c->request.over[1];
		c->at += travel();
		c->state = DONE;
		break;
	case DONE:
		e = transfer(&c->front, 0, client_tid(i), 0, false, 2000,
			     c->at);
		c->request.over[0] = e->call.finish;
		tell(&c->request, 0);
		c->at = e->call.finish + below(30000000);
		c->state = ASK;
		break;
	}
}

/* The client with the next thing to do */
static int next(void)
{
	int i, first = 0;

	for (i = 1; i < CLIENTS; i++) {
		if (client[i].at < client[first].at)
			first = i;
	}
	return first;
}

static void make_connection(struct io_stream *s, unsigned int port)
{
	*s = (struct io_stream){ .port = port, .isn = { rnd(), rnd() } };
}

/* As the clocks of the hosts show them */
static void show_calls(void)
{
	u64 i;

	for (i = 0; i < calls.nr; i++) {
		struct io_event *e = &calls.event[i];
		struct io_call *c = &e->call;

		c->start = shown(e->host, c->start);
		c->finish = shown(e->host, c->finish);
		printf("call\t%u\t%d\t%s\t%u\t%lld\t%lld\t%llu\t%s\n", e->host,
		       c->tid, io_op_name(c->op), c->type, (long long)c->start,
		       (long long)c->finish,
		       (unsigned long long)(c->isn ? c->id : 0), e->name);
	}
}

static void lose_some(unsigned int host)
{
	u64 i;

	for (i = 0; i < calls.nr; i++) {
		if (calls.event[i].host == host)
			calls.event[i].lost = !below(40);
	}
}

static void make_clocks(uint64_t requests, bool rates)
{
	int i;

	/* About the middle */
	step_at = BEGIN + requests * 105000;
	for (i = 1; i < HOSTS; i++) {
		host_clock[i].ahead = signed_below(1000000000);
		host_clock[i].rate = signed_below(100000);
		host_clock[i].then = signed_below(200000);
	}
	if (rates)
		host_clock[1].rate = host_clock[1].then = 500000000;
	for (i = 0; i < HOSTS; i++)
		printf("clock\t%d\t%lld\t%lld\t%lld\t%lld\t%lld\n", i,
		       (long long)host_clock[i].ahead,
		       (long long)host_clock[i].rate,
		       (long long)host_clock[i].then, BEGIN,
		       (long long)step_at);
}

int main(int argc, char **argv)
{
	bool lossy = argc == 8 && !strcmp(argv[7], "lossy");
	bool rates = argc == 8 && !strcmp(argv[7], "rates");
	uint64_t requests;
	int i;

	early = argc == 8 && !strcmp(argv[7], "early");
	if (argc < 7 || argc > 8 || (argc == 8 && !lossy && !early && !rates) ||
	    !(requests = strtoull(argv[5], NULL, 10))) {
		fprintf(stderr,
			"usage: gen_chain WEB.dat APP.dat DB.dat ALONE.dat REQUESTS SEED [lossy|early|rates]\n");
		return 2;
	}
	seed = SEED + strtoull(argv[6], NULL, 10);
	make_clocks(requests, rates);
	for (i = 0; i < CLIENTS; i++) {
		client[i].at = BEGIN + below(3000000);
		make_connection(&client[i].front, 40000 + i);
		make_connection(&client[i].back, 50000 + i);
	}
	while (numbers < requests) {
		i = next();
		next_step(i);
	}
	work(3, 400, OP_PREAD, BEGIN, 1000, "/etc/hosts");
	io_log_sort(&calls);
	show_calls();
	if (lossy)
		lose_some(1);
	for (i = 0; i < HOSTS; i++) {
		if (!io_log_save(&calls, argv[1 + i], i, cmdlines[i]))
			return 1;
	}
	free(calls.event);
	return 0;
}
