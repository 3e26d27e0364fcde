// SPDX-License-Identifier: GPL-2.0
/*
 * gen_loops WEB.dat APP.dat DB.dat REQUESTS SEED MODE
 *
 * Writes made-up traces of three hosts: 96 clients on the first host, each a thread with
 * a connection, send requests to a proxy on the second host, which sends requests to a data
 * base on the third host. The proxy's thread waits in epoll_wait for inputs, and
 *
 *	loop	reads one input and acts on it, then the next; opens a connection for each
 *		downstream request; after each response it writes a line of a log
 *	batch	reads all inputs, and then acts on them
 *	proxy	like batch, but inputs arrive in bursts, and each request causes one to the
 *		data base
 *	answers	like proxy, but acts on responses in any order
 *	shuffle	like proxy, but acts on all inputs in any order, and answers one in three
 *		requests without the data base
 *	queue	like loop, but has 24 connections to the data base: requests wait for
 *		one, and are sent when the loop acts on the input that freed it
 *	relay	like queue, but has 4 connections for 8 clients, and each request causes one
 *		downstream request, whose response is sent before the connection is used
 *		again
 *	few	like queue, but has 48 connections, and each request causes four downstream
 *		requests, one after the other; one that waits gets the connection first
 *	router	like loop, but each request causes one downstream request, on a connection of
 *		its own, and a response is sent once the loop has seen that it can be
 *	pool	hands each request to one of 24 threads, which sends the downstream request
 *		and hands the response back by an eventfd; an idle thread is woken, a busy
 *		one fetches waiting work when it has finished, which no event shows
 *	offload	like loop, but one of 24 threads reads a file before each response to a request
 *		that has caused others; of two threads that are woken, each may get the work
 *		of the other one
 *	uring	acts on inputs in order, but sends and receives by requests to io_uring: all
 *		that it prepares is submitted by one call, and some inputs arrive in that
 *		call before the rest is submitted, or while it acts
 *	mix	like uring, in any order, as shuffle
 *	parts	like uring, in order; each message comes in two parts, and each request
 *		causes one to the data base, or a second one after that
 *
 * Requests cause up to three downstream requests, some of them at the same time.
 * Prints the truth:
 *
 *	link TID BEGIN PARENT-TID PARENT-BEGIN GOING	a request of the proxy's
 *	file CLIENT					a call on a file, for a client
 *	log CLIENT					a line of a log, for a client
 *	outside NS					time of the loop's thread outside of calls
 *
 * separated by tabs. By the proxy's clock, BEGIN is the begin of the call that sent the
 * request, and PARENT-BEGIN the end of the call that received its parent; GOING is the number of
 * requests in progress then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iolog.h"
#include "random.h"

#define CLIENTS 96
#define UPSTREAM 400
#define POOL 24
#define HOSTS 3
#define LOOP_TID 2000
#define EVENTFD 7
#define BEGIN 5000000000000ll
#define MAX_READY 1024
#define EPOLL_MAX 64

#define BURST 5000000

enum mode {
	LOOP,
	BATCH,
	PROXY,
	ANSWERS,
	SHUFFLE,
	QUEUE,
	RELAY,
	FEW,
	ROUTER,
	THREADS,
	OFFLOAD,
	URING,
	MIX,
	PARTS
};

static const char *const modes[] = { "loop",	"batch", "proxy",   "answers",
				     "shuffle", "queue", "relay",   "few",
				     "router",	"pool",	 "offload", "uring",
				     "mix",	"parts" };

struct connection {
	unsigned int host; /* of the client */
	int tid[2];
	struct io_stream stream;
	int64_t armed; /* time from which the proxy's request waits for input */
};

/* The parts of the proxy's next call */
struct prepared {
	bool answers;
	unsigned int which;
};

/* A client's request */
struct job {
	int64_t got; /* by the proxy */
	unsigned int left; /* requests to the data base */
	unsigned int out; /* that are not answered */
	bool at_once;
};

struct client {
	struct connection c;
	struct job job;
};

/* Of the proxy to the data base */
struct upstream {
	struct connection c;
	int client; /* that it is used for */
	bool used;
	bool made;
};

/* Input that the proxy can handle, from a time on */
struct ready {
	int64_t at;
	enum { FROM_CLIENT, FROM_BASE, CONNECTED, WRITABLE, DONE } what;
	unsigned int which;
};

static const char *const cmdlines[HOSTS] = {
	"100 red\n101 green\n102 blue\n103 grey\n", "2000 proxy\n", "300 base\n"
};

static struct io_log calls = { .requests = true, .wakings = true };
static struct client client[CLIENTS];
static struct upstream upstream[UPSTREAM];
static struct ready ready[MAX_READY];
static unsigned int nr_ready, going;
static int waiting[3 * CLIENTS], nr_waiting; /* for a connection or a thread */
static int64_t idle[POOL]; /* since when; 0: it is not */
static unsigned int nr_connections;
static uint64_t asked, wanted;
static int64_t now; /* of the proxy's loop */
static struct prepared prepared[MAX_READY];
static unsigned int nr_prepared;
static enum mode mode;

/* Requests to io_uring do it all */
static bool is_uring(void)
{
	return mode == URING || mode == MIX || mode == PARTS;
}

static struct io_event *add_event(unsigned int host, int tid, unsigned int op,
				  int64_t start, int64_t finish)
{
	return io_log_add(&calls, host, tid,
			  host == 0 ? 100 + tid % 4 :
			  host == 1 ? 2000 :
				      300,
			  op, start, finish);
}

/* Of one side of a connection: bytes that the other one sends or gets as well */
static void transfer(struct connection *c, bool server, bool sends,
		     uint64_t len, int64_t start, int64_t finish)
{
	unsigned int port = c->stream.port;
	struct io_event *e = add_event(c->host + server, c->tid[server],
				       sends ? OP_SENDTO : OP_RECVFROM, start,
				       finish);

	io_event_bytes(e, &c->stream, server, sends, len);
	e->call.fd = 20;
	if (is_uring() && e->host == 1) {
		e->by = e->call.tid;
		e->call.op = sends ? OP_URING_SEND : OP_URING_RECV;
	}
	snprintf(e->name, sizeof(e->name), "10.0.0.%u:%u->10.0.0.%u:%u",
		 c->host + server, server ? 80 : port, c->host + !server,
		 server ? port : 80);
}

static void make_connection(struct connection *c, unsigned int host, int asks,
			    int answers, unsigned int port)
{
	*c = (struct connection){ .host = host,
				  .tid = { asks, answers },
				  .stream = { .port = port,
					      .isn = { rnd(), rnd() } } };
}

static bool is_proxy(void)
{
	return mode == PROXY || mode == ANSWERS || mode == SHUFFLE;
}

static void is_ready(int64_t at, int what, unsigned int which)
{
	if (nr_ready == MAX_READY)
		abort();
	if (is_proxy())
		at += BURST - at % BURST;
	ready[nr_ready++] =
		(struct ready){ .at = at, .what = what, .which = which };
}

static int64_t travel(void)
{
	return 20000 + below(30000);
}

static void client_asks(unsigned int i, int64_t at)
{
	int64_t finish = at + 1000 + below(3000);

	if (wanted == 0)
		return;
	wanted--;
	transfer(&client[i].c, false, true, 100, at, finish);
	is_ready(finish + travel(), FROM_CLIENT, i);
}

/* The database receives the request; returns the time at which its response arrives */
static int64_t base_answers(struct connection *c, int64_t sent)
{
	int64_t at = sent + travel(), over;

	transfer(c, true, false, 50, at - 500, at);
	over = at + 2000000 +
	       below(mode != RELAY ? 18000000 :
		     below(4)	   ? 6000000 :
				     40000000);
	transfer(c, true, true, 500, over, over + 2000);
	return over + 2000 + travel();
}

static void tell(int tid, int64_t begin, unsigned int i)
{
	printf("link\t%d\t%lld\t%d\t%lld\t%u\n", tid, (long long)begin,
	       LOOP_TID, (long long)client[i].job.got, going);
}

static void prepare(bool answers, unsigned int which)
{
	if (nr_prepared == MAX_READY)
		abort();
	now += 200 + below(500);
	prepared[nr_prepared++] =
		(struct prepared){ .answers = answers, .which = which };
}

static void loop_sends(struct upstream *u)
{
	int64_t begin = now += 500 + below(2000);

	tell(LOOP_TID, begin, u->client);
	now += 1000 + below(4000);
	transfer(&u->c, false, true, 50, begin, now);
	is_ready(base_answers(&u->c, now), FROM_BASE, u - upstream);
	asked++;
}

/* Its second request, at the latest, is sent when it is connected */
static void loop_connects(struct upstream *u)
{
	struct io_event *e;
	int64_t begin = now += 500 + below(2000);

	make_connection(&u->c, 1, LOOP_TID, 3000 + (int)(u - upstream),
			20000 + (mode == ROUTER ?
					 nr_connections++ :
					 (unsigned int)(u - upstream)));
	u->made = mode != ROUTER;
	now += 3000 + below(3000);
	e = add_event(1, LOOP_TID, OP_CONNECT, begin, now);
	e->call.type = IO_SOCKET;
	e->call.id = 2 * u->c.stream.port;
	is_ready(now + 2 * travel(), CONNECTED, u - upstream);
}

static void loop_asks(unsigned int i)
{
	unsigned int n = mode == QUEUE ? POOL :
			 mode == RELAY ? 4 :
			 mode == FEW   ? 48 :
					 UPSTREAM,
		     k;
	struct upstream *u = NULL;

	for (k = 0; k < n; k++) {
		if (upstream[k].used)
			continue;
		if (!u || (!u->made && upstream[k].made))
			u = &upstream[k];
	}
	if (!u) {
		if (mode != QUEUE && mode != RELAY && mode != FEW)
			abort();
		waiting[nr_waiting++] = i;
		return;
	}
	u->used = true;
	u->client = i;
	if (is_uring()) {
		if (!u->made)
			make_connection(&u->c, 1, LOOP_TID,
					3000 + (int)(u - upstream),
					20000 + (unsigned int)(u - upstream));
		u->made = true;
		prepare(false, u - upstream);
	} else if (u->made) {
		loop_sends(u);
	} else {
		loop_connects(u);
	}
}

static const char *name_of(unsigned int i)
{
	static const char *const names[] = { "red", "green", "blue", "grey" };

	return names[client[i].c.tid[0] % 4];
}

static void write_log(unsigned int i)
{
	int64_t begin = now += 500 + below(1000);
	struct io_event *e;

	now += 1000 + below(5000);
	e = add_event(1, LOOP_TID, OP_WRITE, begin, now);
	e->call.type = IO_FILE;
	e->call.id = 98;
	e->call.bytes = 90;
	snprintf(e->name, sizeof(e->name), "/var/log/proxy");
	printf("log\t%s\n", name_of(i));
}

static void loop_answers(unsigned int i)
{
	int64_t begin = now += 500 + below(2000), over;

	now += 1000 + below(4000);
	transfer(&client[i].c, true, true, 2000, begin, now);
	going--;
	over = now + travel();
	transfer(&client[i].c, false, false, 2000, begin, over);
	if (mode == LOOP)
		write_log(i);
	client_asks(i, over + 1000 + below(mode == RELAY ? 10000000 : 1000000));
}

static void read_file(int tid, unsigned int i, int64_t *at)
{
	int64_t begin = *at += 500 + below(1000);
	struct io_event *e;

	*at += 1000 + below(5000);
	e = add_event(1, tid, OP_PREAD, begin, *at);
	e->call.type = IO_FILE;
	e->call.id = 99;
	e->call.bytes = 4096;
	snprintf(e->name, sizeof(e->name), "/srv/template");
	printf("file\t%s\n", name_of(i));
}

static void pool_works(unsigned int k, unsigned int i, int64_t at);

/* A woken thread, and the work that it was woken for and does not get; @work: 0: none */
static struct {
	unsigned int thread, work;
} late;

/* The threads begin; one that was woken before gets this work */
static void start_work(unsigned int k, unsigned int i)
{
	if (late.work) {
		pool_works(late.thread, i, now + 5000 + below(20000));
		i = late.work - 1;
		late.work = 0;
	} else if (mode == OFFLOAD && !below(10)) {
		late.thread = k;
		late.work = i + 1;
		return;
	}
	pool_works(k, i, now + 5000 + below(20000));
}

/* Wake an idle thread, if there is one */
static void hand_over(unsigned int i)
{
	unsigned int k;

	for (k = 0; k < POOL; k++) {
		if (idle[k] && idle[k] < now)
			break;
	}
	if (k == POOL) {
		waiting[nr_waiting++] = i;
		return;
	}
	now += 200 + below(500);
	add_event(1, LOOP_TID, 0, now, now)->wakee = 2100 + (int)k;
	idle[k] = 0;
	start_work(k, i);
	now += 200 + below(500);
}

/* All of a request, as a thread of the pool does it */
static void pool_works(unsigned int k, unsigned int i, int64_t at)
{
	struct upstream *u = &upstream[k];
	int tid = 2100 + (int)k;
	struct io_event *e;
	int64_t begin;

	/* In the other modes, connections are the loop's */
	if (mode == THREADS && !u->made) {
		make_connection(&u->c, 1, tid, 3000 + (int)k, 20000 + k);
		u->made = true;
	}
	for (; client[i].job.left; client[i].job.left--) {
		begin = at += 500 + below(2000);
		tell(tid, begin, i);
		at += 1000 + below(4000);
		transfer(&u->c, false, true, 50, begin, at);
		begin = at + 500;
		at = base_answers(&u->c, at);
		transfer(&u->c, false, false, 500, begin, at);
		asked++;
	}
	read_file(tid, i, &at);
	begin = at += 500 + below(1000);
	at += 500 + below(1000);
	e = add_event(1, tid, OP_WRITE, begin, at);
	e->call.fd = EVENTFD;
	e->call.id = 5;
	e->call.bytes = 8;
	snprintf(e->name, sizeof(e->name), "anon_inode:[eventfd]");
	is_ready(at, DONE, i * POOL + k);
}

static void pool_done(unsigned int k, int64_t at)
{
	unsigned int i;

	idle[k] = at;
	if (!nr_waiting)
		return;
	/* The thread fetched that when it had finished, without a wake-up */
	i = waiting[0];
	memmove(waiting, waiting + 1, --nr_waiting * sizeof(*waiting));
	idle[k] = 0;
	pool_works(k, i, at + 1000 + below(2000));
}

static void act_on_client(unsigned int i)
{
	struct job *j = &client[i].job;
	unsigned int n;

	if (!j->left && (mode != THREADS || below(2))) {
		read_file(LOOP_TID, i, &now);
		if (is_uring())
			prepare(true, i);
		else
			loop_answers(i);
		return;
	}
	if (mode == THREADS) {
		hand_over(i);
		return;
	}
	if (below(2))
		read_file(LOOP_TID, i, &now);
	n = j->at_once ? j->left : 1;
	j->out = n;
	j->left -= n;
	while (n--)
		loop_asks(i);
}

static void act_on_answer(struct upstream *u)
{
	struct job *j = &client[u->client].job;
	bool first = mode == FEW || (mode != RELAY && below(2));
	int next = -1, i = u->client;

	u->used = false;
	if (mode == ROUTER) {
		is_ready(now, WRITABLE, i);
		return;
	}
	if (nr_waiting && mode != OFFLOAD) {
		next = waiting[0];
		memmove(waiting, waiting + 1, --nr_waiting * sizeof(*waiting));
	}
	/* A waiting request may get the connection before all is done */
	if (next >= 0 && first)
		loop_asks(next);
	if (!--j->out) {
		if (j->left) {
			j->left--;
			j->out = 1;
			loop_asks(i);
		} else if (is_uring()) {
			prepare(true, i);
		} else if (mode == OFFLOAD) {
			hand_over(i);
		} else {
			loop_answers(i);
		}
	}
	if (next >= 0 && !first)
		loop_asks(next);
}

static unsigned int jobs(void)
{
	if (mode == SHUFFLE || mode == MIX)
		return below(3) > 0;
	if (mode == PARTS)
		return 1 + below(2);
	if (mode == FEW)
		return 4;
	if (mode == ROUTER || mode == RELAY)
		return 1;
	return is_proxy() ? 1 : below(4);
}

static void read_ready(const struct ready *r)
{
	int64_t begin = now += 300 + below(500);

	now += 1000 + below(2000);
	if (r->what == FROM_CLIENT) {
		transfer(&client[r->which].c, true, false, 100, begin, now);
		client[r->which].job =
			(struct job){ .got = now,
				      .left = jobs(),
				      .at_once = mode != FEW && !below(3) };
		going++;
	} else if (r->what == FROM_BASE) {
		transfer(&upstream[r->which].c, false, false, 500, begin, now);
	}
}

static void act_on(const struct ready *r)
{
	if (r->what == FROM_CLIENT)
		act_on_client(r->which);
	else if (r->what == FROM_BASE)
		act_on_answer(&upstream[r->which]);
	else if (r->what == CONNECTED)
		loop_sends(&upstream[r->which]);
	else if (r->what == WRITABLE)
		loop_answers(r->which);
}

/* All that threads have written to it */
static void read_eventfd(const struct ready *done, unsigned int n)
{
	int64_t begin = now += 300 + below(500);
	struct io_event *e;
	unsigned int i;

	now += 500 + below(500);
	e = add_event(1, LOOP_TID, OP_READ, begin, now);
	e->call.fd = EVENTFD;
	e->call.id = 5;
	e->call.bytes = 8;
	snprintf(e->name, sizeof(e->name), "anon_inode:[eventfd]");
	for (i = 0; i < n; i++)
		loop_answers(done[i].which / POOL);
}

static struct connection *connection_of(const struct ready *r)
{
	return r->what == FROM_CLIENT ? &client[r->which].c :
					&upstream[r->which].c;
}

/* The request that waits for it ends at a time */
static void uring_receives(const struct ready *r, int64_t at)
{
	struct connection *c = connection_of(r);
	int64_t since = c->armed ? c->armed : BEGIN, got = at;
	bool client_sent = r->what == FROM_CLIENT;
	uint64_t len = client_sent ? 100 : 500, first = 0;

	if (mode == PARTS) {
		/* It was sent longer ago than that */
		first = 1 + below(len - 1);
		got = r->at - below(15000);
		transfer(c, client_sent, false, first, since, got);
		since = got;
	}
	transfer(c, client_sent, false, len - first, since, at);
	if (!client_sent)
		return;
	client[r->which].job =
		(struct job){ .got = got,
			      .left = jobs(),
			      .at_once = mode != PARTS && !below(3) };
	going++;
}

static void uring_sends(const struct prepared *p)
{
	int64_t begin = now += 200 + below(500), over;
	struct upstream *u = &upstream[p->which];

	if (!p->answers)
		tell(LOOP_TID, begin, u->client);
	now += 1000 + below(3000);
	if (!p->answers) {
		transfer(&u->c, false, true, 50, begin, now);
		is_ready(base_answers(&u->c, now), FROM_BASE, p->which);
		asked++;
		return;
	}
	transfer(&client[p->which].c, true, true, 2000, begin, now);
	going--;
	over = now + travel();
	transfer(&client[p->which].c, false, false, 2000, begin, over);
	client_asks(p->which, over + 1000 + below(1000000));
}

static int by_at(const void *a, const void *b)
{
	const struct ready *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static void swap_ready(struct ready *a, struct ready *b)
{
	struct ready was = *a;

	*a = *b;
	*b = was;
}

static void shuffle(struct ready *batch, unsigned int n)
{
	unsigned int i, j;

	for (i = n; (mode == SHUFFLE || mode == ANSWERS) && i > 1; i--) {
		j = below(i);
		if (mode == SHUFFLE || (batch[i - 1].what == FROM_BASE &&
					batch[j].what == FROM_BASE))
			swap_ready(&batch[i - 1], &batch[j]);
	}
}

static bool reads_first(void)
{
	return mode == BATCH || is_proxy();
}

/* Move what has arrived by now to @batch, in order of time; return the batch's new length */
static unsigned int move_due(struct ready *batch, unsigned int n)
{
	unsigned int i;

	qsort(ready, nr_ready, sizeof(*ready), by_at);
	for (i = 0; n + i < EPOLL_MAX && i < nr_ready && ready[i].at <= now;
	     i++)
		batch[n + i] = ready[i];
	memmove(ready, ready + i, (nr_ready - i) * sizeof(*ready));
	nr_ready -= i;
	return n + i;
}

/* One io_uring_enter, and the work on its results */
static void uring_turn(void)
{
	struct ready batch[EPOLL_MAX];
	unsigned int n = 0, i, told = 0;
	int64_t begin = now += 300 + below(500);

	for (i = 0; i < nr_prepared; i++) {
		uring_sends(&prepared[i]);
		if (below(2))
			n = move_due(batch, n);
		for (; told < n; told++)
			uring_receives(&batch[told], now += 300 + below(300));
	}
	nr_prepared = 0;
	qsort(ready, nr_ready, sizeof(*ready), by_at);
	if (!n && nr_ready && ready[0].at > now)
		now = ready[0].at;
	n = move_due(batch, n);
	for (; told < n; told++)
		uring_receives(&batch[told], now += 300 + below(300));
	now += 300 + below(300);
	add_event(1, LOOP_TID, OP_URING_ENTER, begin, now);
	for (i = 0; i < n; i++) {
		if (mode == MIX)
			swap_ready(&batch[i], &batch[i + below(n - i)]);
		/* So that many inputs arrive before the next poll */
		if (mode != URING)
			now += 20000 + below(5000);
		connection_of(&batch[i])->armed = now;
		act_on(&batch[i]);
		/* The program sees these, too, before it calls again */
		if (below(2))
			n = move_due(batch, n);
		for (; told < n; told++)
			uring_receives(&batch[told], batch[told].at);
	}
}

/* One epoll_wait, and the inputs that it returned */
static void turn(void)
{
	struct ready batch[EPOLL_MAX], done[EPOLL_MAX];
	unsigned int n = 0, n_done = 0, i;
	int64_t begin = now += 300 + below(500);

	qsort(ready, nr_ready, sizeof(*ready), by_at);
	if (ready[0].at > now)
		now = ready[0].at;
	now += 500 + below(500);
	while (n < nr_ready && n < EPOLL_MAX && ready[n].at <= now) {
		batch[n] = ready[n];
		n++;
	}
	memmove(ready, ready + n, (nr_ready - n) * sizeof(*ready));
	nr_ready -= n;
	add_event(1, LOOP_TID, OP_EPOLL_WAIT, begin, now);
	for (i = 0; i < n && (mode == THREADS || mode == OFFLOAD); i++) {
		if (batch[i].what != DONE)
			continue;
		pool_done(batch[i].which % POOL, batch[i].at);
		done[n_done++] = batch[i];
	}
	if (n_done)
		read_eventfd(done, n_done);
	for (i = 0; i < n && reads_first(); i++)
		read_ready(&batch[i]);
	shuffle(batch, n);
	for (i = 0; i < n; i++) {
		if (batch[i].what == DONE)
			continue;
		if (!reads_first())
			read_ready(&batch[i]);
		act_on(&batch[i]);
	}
	/* No other work comes */
	if (late.work && !nr_ready) {
		pool_works(late.thread, late.work - 1, now + 5000);
		late.work = 0;
	}
}

/* Any thread happens to complete a request */
static void choose_completers(void)
{
	u64 i;

	for (i = 0; i < calls.nr; i++) {
		if (calls.event[i].by && !below(2))
			calls.event[i].by = 77;
	}
}

/* From the thread's first call to its last one */
static void tell_outside(void)
{
	int64_t first = INT64_MAX, last = 0, inside = 0;
	u64 i;

	for (i = 0; i < calls.nr; i++) {
		const struct io_event *e = &calls.event[i];

		if (e->host != 1 || e->call.tid != LOOP_TID || e->wakee)
			continue;
		if ((int64_t)e->call.start < first)
			first = e->call.start;
		if ((int64_t)e->call.finish > last)
			last = e->call.finish;
		inside += e->call.finish - e->call.start;
	}
	printf("outside\t%lld\n", (long long)(last - first - inside));
}

int main(int argc, char **argv)
{
	unsigned int i;

	for (mode = LOOP; argc == 7 && mode <= PARTS; mode++) {
		if (!strcmp(argv[6], modes[mode]))
			break;
	}
	if (argc != 7 || mode > PARTS ||
	    (wanted = strtoull(argv[4], NULL, 10)) < CLIENTS) {
		fprintf(stderr,
			"usage: gen_loops WEB.dat APP.dat DB.dat REQUESTS SEED loop|batch|proxy|answers|shuffle|queue|relay|few|router|pool|offload|uring|mix|parts\n");
		return 2;
	}
	seed = SEED + strtoull(argv[5], NULL, 10);
	now = BEGIN;
	for (i = 0; i < POOL; i++)
		idle[i] = BEGIN;
	for (i = 0; i < (mode == RELAY ? 8 : CLIENTS); i++) {
		make_connection(&client[i].c, 0, 1000 + (int)i, LOOP_TID,
				40000 + i);
		client_asks(i, BEGIN + below(1000000));
	}
	while (nr_ready || nr_prepared) {
		if (is_uring())
			uring_turn();
		else
			turn();
	}
	io_log_sort(&calls);
	choose_completers();
	tell_outside();
	for (i = 0; i < HOSTS; i++) {
		if (!io_log_save(&calls, argv[1 + i], i, cmdlines[i]))
			return 1;
	}
	free(calls.event);
	return 0;
}
