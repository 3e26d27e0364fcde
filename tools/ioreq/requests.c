// SPDX-License-Identifier: GPL-2.0
/*
 * Requests on connections of TCP, of Unix sockets and of pipes: who waited how long for
 * whose answer, and how long that one took.
 *
 * A byte has the same offset in its stream on both sides, so a request is known by
 * the offsets of its bytes and of its answer's, whatever the clocks say. Each side's
 * calls on a connection, in order, are cut into turns: what one side asks, and what
 * the other one answers before it is asked again. A turn that has the same bytes on
 * both sides is one request. Others are unclear: requests that were sent before the
 * answer to the one before had come, answers that began before all of the request
 * was there, records that were lost.
 */
#include <stdlib.h>
#include <string.h>

#include "ioreq.h"

/**
 * struct call - a call of a thread
 * @start:	when it began, ns of its host
 * @finish:	when it ended
 * @id:		the socket's cookie, or 0
 * @step:	what kind of call
 */
struct call {
	u64 start;
	u64 finish;
	u64 id;
	enum step step;
};

/**
 * struct thread - a thread
 * @host:	where it is
 * @pid:	its number there
 * @call:	its calls, in order of their ends, and so of their begins
 * @nr:		how many
 * @room:	for so many
 * @next:	in the same bucket
 */
struct thread {
	u32 host;
	s32 pid;
	struct call *call;
	u64 nr;
	u64 room;
	struct thread *next;
};

/**
 * struct segment - bytes that a call sent or received
 * @from:	offset of the first one in its stream
 * @end:	offset behind the last one
 * @start:	when the call began, ns of its host
 * @finish:	when it ended
 * @thread:	who called
 * @party:	its process
 * @sent:	they were sent
 * @async:	it was a request to io_uring or aio
 */
struct segment {
	u64 from;
	u64 end;
	u64 start;
	u64 finish;
	const struct thread *thread;
	u32 party;
	bool sent;
	bool async;
};

/**
 * struct side - one end of a connection
 * @segment:	its calls' bytes
 * @nr:		how many
 * @room:	for so many
 * @host:	where it is
 * @id:		the socket's cookie there
 * @name:	its addresses, own one first
 */
struct side {
	struct segment *segment;
	u64 nr;
	u64 room;
	u32 host;
	u64 id;
	char *name;
};

/**
 * struct connection - a connection
 * @host:	where, if it is one of Unix sockets or pipes; NO_HOST: it is TCP's
 * @piped:	it is one of pipes; the sequence numbers are processes
 * @turns:	of pipes: after requests_finish(), they ask and answer in turns
 * @isn:	initial sequence numbers of the sides, the lower one first
 * @side:	both ends; without segments where it was not recorded
 * @next:	in the same bucket
 */
struct connection {
	u32 host;
	bool piped;
	bool turns;
	u32 isn[2];
	struct side side[2];
	struct connection *next;
};

/**
 * struct socket - a socket whose role is known
 * @host:	where it is
 * @id:		its cookie there
 * @role:	its side of the connection
 * @next:	in the same bucket
 */
struct socket {
	u32 host;
	u64 id;
	enum role role;
	struct socket *next;
};

/**
 * struct party_entry - a party in the table of them
 * @party:	it
 * @number:	of it
 * @next:	in the same bucket
 */
struct party_entry {
	struct party party;
	u32 number;
	struct party_entry *next;
};

/**
 * struct exchange_entry - requests in the table of them
 * @e:		they
 * @next:	in the same bucket
 */
struct exchange_entry {
	struct exchange e;
	struct exchange_entry *next;
};

/**
 * struct requests - see requests_new()
 * @connection:	connections, by hash
 * @thread:	threads, by hash
 * @socket:	sockets whose role is known, by hash
 * @bucket:	parties by hash
 * @party:	parties by number
 * @parties:	how many
 * @table:	requests by hash of their parties
 * @exchange:	after requests_finish(): the longest wait first
 * @clocks:	the hosts', while requests are made
 * @keep:	keep each of them
 * @list:	them, if so
 * @listed:	how many
 * @list_room:	for so many
 * @unclear:	what servers saw of those that both sides did not see alike
 * @nr_unclear:	how many
 * @unclear_room: for so many
 * @touch:	calls that have to do with those that are kept
 * @touches:	how many
 * @touch_room:	for so many
 */
struct requests {
	struct connection *connection[BUCKETS];
	struct thread *thread[BUCKETS];
	struct socket *socket[BUCKETS];
	struct party_entry *bucket[BUCKETS];
	struct party_entry **party;
	u32 parties;
	struct exchange_entry *table[BUCKETS];
	struct exchange **exchange;
	const struct clocks *clocks;
	bool keep;
	struct request *list;
	u64 listed;
	u64 list_room;
	struct request *unclear;
	u64 nr_unclear;
	u64 unclear_room;
	struct touch *touch;
	u64 touches;
	u64 touch_room;
};

/**
 * struct turn - a request and its answer, as one side saw it
 * @from:	offset of the request's first byte
 * @end:	offset behind its last one
 * @answer_from: offset of the answer's first byte
 * @answer_end:	offset behind its last one
 * @begin:	when the client's first call began, or the server's first one ended
 * @since:	when the first call began
 * @over:	when the last call of the answer ended
 * @thread:	who asked or was asked; NULL if several did their part of it
 * @first:	who made the first call of it
 * @last:	who made the last one
 * @segment:	index of its first call's bytes in the side's ones
 * @party:	its process
 * @answered:	there is an answer
 * @matched:	both sides saw it alike
 */
struct turn {
	u64 from;
	u64 end;
	u64 answer_from;
	u64 answer_end;
	u64 begin;
	u64 since;
	u64 over;
	const struct thread *thread;
	const struct thread *first;
	const struct thread *last;
	u64 segment;
	u32 party;
	bool answered;
	bool matched;
};

/**
 * struct turns - those of a side, in order
 * @turn:	they
 * @nr:		how many
 * @room:	for so many
 */
struct turns {
	struct turn *turn;
	u64 nr;
	u64 room;
};

static char *copy(const char *s)
{
	char *p = strdup(s);

	if (!p)
		abort();
	return p;
}

/* ------------------------------------------------------------------------- */
/* What is in the records */

/**
 * requests_new - no requests yet
 *
 * Return: that; requests_free() frees it.
 */
struct requests *requests_new(void)
{
	return allocate(sizeof(struct requests));
}

static u32 find_party(struct requests *q, u32 host, const char *name)
{
	struct party_entry *p;
	u32 at = host;
	const char *c;

	for (c = name; *c; c++)
		at = mix(at, *c);
	for (p = q->bucket[at % BUCKETS]; p; p = p->next) {
		if (p->party.host == host && !strcmp(p->party.name, name))
			return p->number;
	}
	p = allocate(sizeof(*p));
	p->party.host = host;
	p->party.name = copy(name);
	p->number = q->parties;
	p->next = q->bucket[at % BUCKETS];
	q->bucket[at % BUCKETS] = p;
	q->party = reallocarray(q->party, q->parties + 1, sizeof(*q->party));
	if (!q->party)
		abort();
	q->party[q->parties] = p;
	return q->parties++;
}

static struct connection *get_connection(const struct requests *q, u32 host,
					 bool piped, u32 low, u32 high)
{
	struct connection *c = q->connection[mix(low, high)];

	while (c && (c->isn[0] != low || c->isn[1] != high || c->host != host ||
		     c->piped != piped))
		c = c->next;
	return c;
}

static struct connection *find_connection(struct requests *q, u32 host,
					  bool piped, u32 low, u32 high)
{
	struct connection *c = get_connection(q, host, piped, low, high);
	u32 at = mix(low, high);

	if (c)
		return c;
	c = allocate(sizeof(*c));
	c->host = host;
	c->piped = piped;
	c->isn[0] = low;
	c->isn[1] = high;
	c->next = q->connection[at];
	q->connection[at] = c;
	return c;
}

static struct thread *find_thread(struct requests *q, u32 host, s32 pid)
{
	u32 at = mix(host, pid);
	struct thread *t;

	for (t = q->thread[at]; t; t = t->next) {
		if (t->host == host && t->pid == pid)
			return t;
	}
	t = allocate(sizeof(*t));
	t->host = host;
	t->pid = pid;
	t->next = q->thread[at];
	q->thread[at] = t;
	return t;
}

/**
 * requests_call - a call has ended, in order of the ends
 * @q: requests
 * @host: where
 * @pid: of which thread
 * @id: the socket's cookie, or 0
 * @step: what kind of call
 * @start: when it began, ns
 * @duration: how long it took, ns
 */
void requests_call(struct requests *q, u32 host, s32 pid, u64 id,
		   enum step step, u64 start, u64 duration)
{
	struct thread *t = find_thread(q, host, pid);

	t->call = grow(t->call, t->nr, &t->room, sizeof(*t->call));
	t->call[t->nr++] = (struct call){
		.start = start,
		.finish = start + duration,
		.id = id,
		.step = step,
	};
}

/**
 * requests_add - a call sent or received bytes of a stream
 * @q: requests
 * @m: it
 */
void requests_add(struct requests *q, const struct message *m)
{
	bool upper = m->isn > m->peer_isn;
	struct connection *c = find_connection(q, m->local ? m->host : NO_HOST,
					       m->piped,
					       upper ? m->peer_isn : m->isn,
					       upper ? m->isn : m->peer_isn);
	struct side *side = &c->side[upper];

	side->segment = grow(side->segment, side->nr, &side->room,
			     sizeof(*side->segment));
	side->segment[side->nr++] = (struct segment){
		.from = m->from,
		.end = m->end,
		.start = m->start,
		.finish = m->start + m->duration,
		.thread = find_thread(q, m->host, m->pid),
		.party = find_party(q, m->host, m->comm),
		.sent = m->sent,
		.async = m->async,
	};
	if (side->name)
		return;
	side->name = copy(m->name);
	side->host = m->host;
	side->id = m->id;
}

/**
 * requests_socket - a socket has connected, or was accepted
 * @q: requests
 * @host: where it is
 * @id: its cookie there
 * @role: which of both
 */
void requests_socket(struct requests *q, u32 host, u64 id, enum role role)
{
	u32 at = mix(host, id);
	struct socket *s = allocate(sizeof(*s));

	s->host = host;
	s->id = id;
	s->role = role;
	s->next = q->socket[at];
	q->socket[at] = s;
}

/* ------------------------------------------------------------------------- */
/* Turns */

/* When the bytes left the caller, or were there for it */
static u64 moment(const struct segment *s)
{
	return s->sent ? s->start : s->finish;
}

static int by_moment(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;
	u64 p = moment(x), r = moment(y);

	if (p != r)
		return p < r ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static void add_to_turns(struct turns *t, const struct side *side, u64 i,
			 bool is_client)
{
	const struct segment *s = &side->segment[i];
	struct turn *last = t->nr ? &t->turn[t->nr - 1] : NULL;

	if (last && last->thread != s->thread &&
	    (s->sent != is_client || !last->answered))
		last->thread = NULL;
	if (s->sent != is_client) {
		/* Before the first request: a greeting, or the trace began late */
		if (!last)
			return;
		if (!last->answered || s->from < last->answer_from)
			last->answer_from = s->from;
		if (s->end > last->answer_end)
			last->answer_end = s->end;
		if (s->finish > last->over) {
			last->over = s->finish;
			last->last = s->thread;
		}
		last->answered = true;
		return;
	}
	if (last && !last->answered) {
		if (s->from < last->from)
			last->from = s->from;
		if (s->end > last->end)
			last->end = s->end;
		return;
	}
	t->turn = grow(t->turn, t->nr, &t->room, sizeof(*t->turn));
	t->turn[t->nr++] = (struct turn){
		.from = s->from,
		.end = s->end,
		.begin = moment(s),
		.since = s->start,
		.thread = s->thread,
		.first = s->thread,
		.last = s->thread,
		.party = s->party,
		.segment = i,
	};
}

static void make_turns(struct turns *t, struct side *side, bool is_client)
{
	u64 i;

	/* NULL if it was not recorded */
	if (side->nr)
		qsort(side->segment, side->nr, sizeof(*side->segment),
		      by_moment);
	for (i = 0; i < side->nr; i++)
		add_to_turns(t, side, i, is_client);
}

static const struct socket *find_socket(const struct requests *q,
					const struct side *side)
{
	const struct socket *s = q->socket[mix(side->host, side->id)];

	while (s && (s->host != side->host || s->id != side->id))
		s = s->next;
	return side->nr ? s : NULL;
}

/* The last number of an address, which has a port */
static unsigned long port_of(const char *address, size_t len)
{
	while (len && address[len - 1] != ':')
		len--;
	return strtoul(address + len, NULL, 10);
}

/* Of those that were told; UINT64_MAX if nothing was sent */
static u64 first_sent(const struct side *side)
{
	u64 i, first = UINT64_MAX;

	for (i = 0; i < side->nr; i++) {
		if (side->segment[i].sent && side->segment[i].start < first)
			first = side->segment[i].start;
	}
	return first;
}

/* Servers have names; both ends of a pair of sockets have none, and one begins */
static bool is_local_client(const struct connection *c, u32 side)
{
	const char *name = c->side[side].name, *other = c->side[!side].name;

	if (other && !*name == !*other)
		return first_sent(&c->side[side]) <=
		       first_sent(&c->side[!side]);
	return !*name;
}

/* Who connected is the client; if nobody saw that, who has the higher port */
static bool is_client(const struct requests *q, const struct connection *c,
		      u32 side)
{
	const struct socket *s = find_socket(q, &c->side[side]);
	const struct socket *peer = find_socket(q, &c->side[!side]);
	const char *name = c->side[side].name, *arrow;

	if (s)
		return s->role == ROLE_CLIENT;
	if (peer)
		return peer->role == ROLE_SERVER;
	if (!name)
		return !is_client(q, c, !side);
	if (c->host != NO_HOST)
		return is_local_client(c, side);
	arrow = strstr(name, "->");
	return arrow &&
	       port_of(name, arrow - name) > port_of(arrow, strlen(arrow));
}

/* ------------------------------------------------------------------------- */
/* Clocks */

static int by_offset(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/* Sent or received ones first, each in order of the stream; returns how many those are */
static u64 sort_segments(struct side *side, bool sent)
{
	u64 i, nr = 0;

	for (i = 0; i < side->nr; i++) {
		struct segment swap = side->segment[i];

		if (swap.sent != sent)
			continue;
		side->segment[i] = side->segment[nr];
		side->segment[nr++] = swap;
	}
	if (nr)
		qsort(side->segment, nr, sizeof(*side->segment), by_offset);
	return nr;
}

/* Of several calls that sent what a call received, the last one tells most */
static void match_segments(struct clocks *c, struct side *from, struct side *to)
{
	u64 sent = sort_segments(from, true), i = 0, j;
	u64 received = sort_segments(to, false);

	for (j = 0; j < received; j++) {
		const struct segment *r = &to->segment[j], *last = NULL;

		while (i < sent && from->segment[i].end <= r->from)
			i++;
		for (; i < sent && from->segment[i].from < r->end; i++) {
			if (!last || from->segment[i].start > last->start)
				last = &from->segment[i];
		}
		if (!last)
			continue;
		/* The next call may have got the rest of what this one sent */
		i--;
		clocks_message(c, last->thread->host, last->start,
			       r->thread->host, r->finish);
	}
}

/**
 * requests_messages - tell the clocks which bytes were sent and received when
 * @q: requests, before requests_finish()
 * @c: clocks, before clocks_finish()
 */
void requests_messages(struct requests *q, struct clocks *c)
{
	struct connection *at;
	u32 i;

	for (i = 0; i < BUCKETS; i++) {
		for (at = q->connection[i]; at; at = at->next) {
			match_segments(c, &at->side[0], &at->side[1]);
			match_segments(c, &at->side[1], &at->side[0]);
		}
	}
}

/* ------------------------------------------------------------------------- */
/* Requests */

/* The other end by its address, where nobody recorded it: a server's with its port */
static u32 address_of(struct requests *q, const char *name, bool with_port)
{
	const char *arrow = strstr(name, "->");
	char address[256];
	size_t len;

	snprintf(address, sizeof(address), "%s", arrow ? arrow + 2 : "");
	len = strlen(address);
	while (!with_port && len && address[len - 1] != ':')
		len--;
	if (!with_port && len)
		address[len - 1] = '\0';
	return find_party(q, NO_HOST, *address ? address : "-");
}

static struct exchange *find_exchange(struct requests *q, u32 client,
				      u32 server)
{
	u32 at = mix(client, server);
	struct exchange_entry *e;

	for (e = q->table[at]; e; e = e->next) {
		if (e->e.client == &q->party[client]->party &&
		    e->e.server == &q->party[server]->party)
			return &e->e;
	}
	e = allocate(sizeof(*e));
	e->e.client = &q->party[client]->party;
	e->e.server = &q->party[server]->party;
	e->next = q->table[at];
	q->table[at] = e;
	return &e->e;
}

static void add_turn(struct exchange *e, const struct turn *t)
{
	e->sent += t->end - t->from;
	if (!t->answered) {
		e->unanswered++;
		return;
	}
	e->requests++;
	e->received += t->answer_end - t->answer_from;
}

static bool is_same(const struct turn *a, const struct turn *b)
{
	return a->from == b->from && a->end == b->end &&
	       a->answer_from == b->answer_from &&
	       a->answer_end == b->answer_end;
}

/* The first call of a thread that ended after a time */
static u64 first_after(const struct thread *t, u64 time)
{
	u64 low = 0, high = t->nr;

	while (low < high) {
		u64 mid = (low + high) / 2;

		if (t->call[mid].finish > time)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* What the server did in between; @own: its socket's cookie */
static void add_steps(struct exchange *e, const struct turn *s, u64 own)
{
	u64 i, rest = s->over - s->begin, began = s->begin;

	if (!s->thread)
		return;
	e->stepped++;
	for (i = first_after(s->thread, s->begin); i < s->thread->nr; i++) {
		const struct call *c = &s->thread->call[i];
		u64 time;

		if (c->finish > s->over)
			break;
		/* A damaged trace may have calls within calls */
		if (c->start < began)
			continue;
		began = c->finish;
		time = c->finish - c->start;
		rest -= time;
		e->step[c->id == own ? STEP_OWN : c->step] += time;
	}
	e->step[STEP_REST] += rest;
}

static struct part part_of(const struct turn *t, u64 id)
{
	return (struct part){
		.seen = true,
		.alone = t->thread,
		.host = t->first->host,
		.pid = t->first->pid,
		.last_pid = t->last->pid,
		.id = id,
		.begin = t->begin,
		.over = t->over,
	};
}

/* The first one of its kind in a turn, and the last one, are to be known */
static void touch_segments(struct requests *q, const struct segment *s, u64 nr,
			   enum role role, u32 request)
{
	u64 first[2] = { nr, nr }, last[2] = { 0 }, i;

	for (i = nr; i; i--)
		first[s[i - 1].sent] = i - 1;
	for (i = 0; i < nr; i++)
		last[s[i].sent] = i;
	for (i = 0; i < nr; i++) {
		bool sent = s[i].sent;

		q->touch = grow(q->touch, q->touches, &q->touch_room,
				sizeof(*q->touch));
		q->touch[q->touches++] = (struct touch){
			.time = moment(&s[i]),
			.host = s[i].thread->host,
			.pid = s[i].thread->pid,
			.request = request,
			.what = role == ROLE_CLIENT ?
					(sent ? TOUCH_ASK : TOUCH_RESULT) :
					(sent ? TOUCH_ANSWER : TOUCH_GET),
			.first = i == first[sent],
			.last = i == last[sent],
			.async = s[i].async,
		};
	}
}

/* @t: one of them */
static void touch_turn(struct requests *q, const struct turns *turns,
		       const struct turn *t, const struct side *side,
		       enum role role, u32 request)
{
	u64 end = side->nr;

	if (t + 1 < turns->turn + turns->nr)
		end = t[1].segment;
	touch_segments(q, &side->segment[t->segment], end - t->segment, role,
		       request);
}

/* Of a Unix socket the server's name, if that side was recorded */
static const char *name_of(const struct connection *c, u32 side,
			   enum role named)
{
	u32 server = named == ROLE_SERVER ? side : !side;

	if (c->host == NO_HOST)
		return c->side[side].name;
	return c->side[server].name ? c->side[server].name : "";
}

/* @t: as who is named saw it; @other: as the other side did, or NULL */
static void keep(struct requests *q, const struct exchange *e,
		 const struct turn *t, const struct turn *other,
		 const struct connection *c, u32 side, enum role named)
{
	struct request *r;

	if (!q->keep)
		return;
	q->list = grow(q->list, q->listed, &q->list_room, sizeof(*q->list));
	r = &q->list[q->listed++];
	*r = (struct request){
		.party = { e->client, e->server },
		.name = name_of(c, side, named),
		.local = c->host != NO_HOST,
		.piped = c->piped,
		.named = named,
		.sent = t->end - t->from,
		.received = t->answered ? t->answer_end - t->answer_from : 0,
		.answered = t->answered,
	};
	r->part[named] = part_of(t, c->side[side].id);
	if (other)
		r->part[!named] = part_of(other, c->side[!side].id);
}

/* The server is busy with it, though its client cannot be told which one it is */
static void keep_unclear(struct requests *q, const struct turns *turns,
			 const struct side *side)
{
	u64 i;

	for (i = 0; i < turns->nr && q->keep; i++) {
		if (turns->turn[i].matched)
			continue;
		q->unclear = grow(q->unclear, q->nr_unclear, &q->unclear_room,
				  sizeof(*q->unclear));
		touch_turn(q, turns, &turns->turn[i], side, ROLE_SERVER,
			   q->nr_unclear | UNCLEAR);
		q->unclear[q->nr_unclear++] = (struct request){
			.part[ROLE_SERVER] = part_of(&turns->turn[i], side->id),
			.answered = turns->turn[i].answered,
			.unclear = true,
		};
	}
}

/*
 * When the server's thread began to wait for what it got: the call that got it, or the
 * poll before that
 */
static u64 waited_since(const struct turn *server)
{
	const struct thread *t = server->first;
	u64 i = first_after(t, server->begin);

	if (!i || t->call[i - 1].finish != server->begin)
		return server->since;
	if (i > 1 && t->call[i - 2].step == STEP_POLL)
		return t->call[i - 2].start;
	return t->call[i - 1].start;
}

/* Only what is longer than the clocks may be wrong */
static void split_between(struct exchange *e, const struct clocks *c,
			  const struct turn *client, const struct turn *server)
{
	u32 asks = client->first->host, answers = server->first->host;
	u64 bound[4], wrong, since = waited_since(server);
	s64 asked, got, waits, answered, over;
	u64 since_bound;

	if (clocks_get(c, asks)->reference !=
		    clocks_get(c, answers)->reference ||
	    !clocks_common(c, asks, client->begin, &asked, &bound[0]) ||
	    !clocks_common(c, answers, server->begin, &got, &bound[1]) ||
	    !clocks_common(c, answers, server->over, &answered, &bound[2]) ||
	    !clocks_common(c, asks, client->over, &over, &bound[3]) ||
	    !clocks_common(c, answers, since, &waits, &since_bound))
		return;
	wrong = bound[0] + bound[1];
	if (wrong < bound[2] + bound[3])
		wrong = bound[2] + bound[3];
	if (got - asked <= (s64)wrong || over - answered <= (s64)wrong)
		return;
	e->split++;
	e->there += got - asked;
	e->late += waits > asked ? waits - asked : 0;
	e->back += over - answered;
}

/* What both sides saw */
static void add_both(struct requests *q, const struct turns *client,
		     struct turns *server, const struct connection *c, u32 side)
{
	u64 i, j = 0;

	for (i = 0; i < client->nr; i++) {
		const struct turn *t = &client->turn[i];
		struct turn *s;
		struct exchange *e;
		bool same;

		while (j + 1 < server->nr && server->turn[j].end < t->end)
			j++;
		s = &server->turn[j];
		e = find_exchange(q, t->party, s->party);
		same = t->answered && s->answered && is_same(t, s);
		s->matched |= same;
		add_turn(e, t);
		keep(q, e, t, same ? s : NULL, c, side, ROLE_CLIENT);
		if (q->keep)
			touch_turn(q, client, t, &c->side[side], ROLE_CLIENT,
				   q->listed - 1);
		if (q->keep && same)
			touch_turn(q, server, s, &c->side[!side], ROLE_SERVER,
				   q->listed - 1);
		if (!t->answered)
			continue;
		times_add(&e->wait, t->over - t->begin);
		if (!same) {
			e->unclear++;
			if (q->keep)
				q->list[q->listed - 1].unclear = true;
			continue;
		}
		times_add(&e->service, s->over - s->begin);
		add_steps(e, s, c->side[!side].id);
		e->between += (t->over - t->begin) - (s->over - s->begin);
		split_between(e, q->clocks, t, s);
	}
	keep_unclear(q, server, &c->side[!side]);
}

/* What one side saw */
static void add_one(struct requests *q, const struct turns *turns,
		    const struct connection *c, u32 side, bool is_client)
{
	/* A Unix socket does not tell who is at the other end */
	const char *name = c->host == NO_HOST ? c->side[side].name : "";
	u32 other = address_of(q, name, is_client);
	enum role role = is_client ? ROLE_CLIENT : ROLE_SERVER;
	u64 i;

	for (i = 0; i < turns->nr; i++) {
		const struct turn *t = &turns->turn[i];
		struct exchange *e;

		e = is_client ? find_exchange(q, t->party, other) :
				find_exchange(q, other, t->party);
		add_turn(e, t);
		keep(q, e, t, NULL, c, side, role);
		if (q->keep)
			touch_turn(q, turns, t, &c->side[side], role,
				   q->listed - 1);
		if (!t->answered)
			continue;
		times_add(is_client ? &e->wait : &e->service,
			  t->over - t->begin);
		if (!is_client)
			add_steps(e, t, c->side[side].id);
	}
}

/*
 * Whether processes ask and answer in turns, as both saw it; the first turn may have begun
 * before the trace, and the last one may not have ended
 */
static bool in_turns(const struct turns *client, const struct turns *server)
{
	u64 i, j = 0, same = 0;

	for (i = 0; i < client->nr && server->nr; i++) {
		const struct turn *t = &client->turn[i];
		const struct turn *s;

		while (j + 1 < server->nr && server->turn[j].end < t->end)
			j++;
		s = &server->turn[j];
		if (t->answered && s->answered && is_same(t, s))
			same++;
		else if (i && i + 1 < client->nr)
			return false;
	}
	return same > 0;
}

static void add_connection(struct requests *q, struct connection *c)
{
	u32 at = is_client(q, c, 0) ? 0 : 1;
	struct turns client = { 0 }, server = { 0 };

	make_turns(&client, &c->side[at], true);
	make_turns(&server, &c->side[!at], false);
	c->turns = c->piped && in_turns(&client, &server);
	if (c->piped && !c->turns)
		client.nr = server.nr = 0;
	if (client.nr && server.nr)
		add_both(q, &client, &server, c, at);
	else if (client.nr)
		add_one(q, &client, c, at, true);
	else if (server.nr)
		add_one(q, &server, c, !at, false);
	free(client.turn);
	free(server.turn);
}

static u64 longest(const struct exchange *e)
{
	return e->wait.nr ? e->wait.sum : e->service.sum;
}

static int by_party(const struct party *a, const struct party *b)
{
	int order = (a->host > b->host) - (a->host < b->host);

	return order ? order : strcmp(a->name, b->name);
}

static int by_wait(const void *a, const void *b)
{
	const struct exchange *x = *(struct exchange *const *)a,
			      *y = *(struct exchange *const *)b;
	u64 p = longest(x), r = longest(y);
	int order = (p < r) - (p > r);

	order = order ? order : by_party(x->client, y->client);
	return order ? order : by_party(x->server, y->server);
}

/**
 * requests_finish - all records are there
 * @q: requests
 * @clocks: the hosts', after clocks_finish()
 * @nr: set to how many kinds of requests there are
 *
 * Return: these, those that were waited for the longest first; until
 * requests_free().
 */
struct exchange *const *requests_finish(struct requests *q,
					const struct clocks *clocks, u64 *nr)
{
	struct exchange_entry *e;
	struct connection *c;
	u64 n = 0;
	u32 i;

	q->clocks = clocks;
	for (i = 0; i < BUCKETS; i++) {
		for (c = q->connection[i]; c; c = c->next)
			add_connection(q, c);
	}
	for (i = 0; i < BUCKETS; i++) {
		for (e = q->table[i]; e; e = e->next)
			n++;
	}
	q->exchange = allocate((n + 1) * sizeof(*q->exchange));
	*nr = 0;
	for (i = 0; i < BUCKETS; i++) {
		for (e = q->table[i]; e; e = e->next) {
			times_finish(&e->e.wait);
			times_finish(&e->e.service);
			q->exchange[(*nr)++] = &e->e;
		}
	}
	qsort(q->exchange, *nr, sizeof(*q->exchange), by_wait);
	return q->exchange;
}

static void free_connections(struct connection *c)
{
	struct connection *next;
	int i;

	for (; c; c = next) {
		next = c->next;
		for (i = 0; i < 2; i++) {
			free(c->side[i].segment);
			free(c->side[i].name);
		}
		free(c);
	}
}

static void free_threads(struct thread *t)
{
	struct thread *next;

	for (; t; t = next) {
		next = t->next;
		free(t->call);
		free(t);
	}
}

static void free_sockets(struct socket *s)
{
	struct socket *next;

	for (; s; s = next) {
		next = s->next;
		free(s);
	}
}

static void free_exchanges(struct exchange_entry *e)
{
	struct exchange_entry *next;

	for (; e; e = next) {
		next = e->next;
		free(e->e.wait.time);
		free(e->e.service.time);
		free(e);
	}
}

/**
 * requests_keep - keep single requests, for requests_list()
 * @q: requests, before requests_finish()
 */
void requests_keep(struct requests *q)
{
	q->keep = true;
}

/**
 * requests_list - single requests
 * @q: requests, after requests_finish()
 * @nr: set to how many
 *
 * Return: they, until requests_free(); in no order, and without parents.
 */
struct request *requests_list(struct requests *q, u64 *nr)
{
	*nr = q->listed;
	return q->list;
}

/**
 * requests_unclear - requests that servers saw, and clients not like that
 * @q: requests, after requests_finish()
 * @nr: set to how many
 *
 * Return: they, until requests_free(); with nothing but the server's part.
 */
struct request *requests_unclear(struct requests *q, u64 *nr)
{
	*nr = q->nr_unclear;
	return q->unclear;
}

/**
 * requests_touches - the calls that have to do with single requests
 * @q: requests, after requests_finish()
 * @nr: set to how many
 *
 * Return: they, until requests_free(); in no order.
 */
const struct touch *requests_touches(const struct requests *q, u64 *nr)
{
	*nr = q->touches;
	return q->touch;
}

/**
 * requests_piped - whether two processes ask and answer through pipes
 * @q: requests, after requests_finish()
 * @host: where they are
 * @a: one of them
 * @b: the other one
 */
bool requests_piped(const struct requests *q, u32 host, s32 a, s32 b)
{
	const struct connection *c =
		get_connection(q, host, true, a < b ? a : b, a < b ? b : a);

	return c && c->turns;
}

/**
 * requests_comm - keep the name of a process
 * @q: requests
 * @host: where it is
 * @comm: its name
 *
 * Return: the same name, until requests_free().
 */
const char *requests_comm(struct requests *q, u32 host, const char *comm)
{
	u32 number = find_party(q, host, comm);

	return q->party[number]->party.name;
}

/**
 * requests_free - free all of it
 * @q: requests
 */
void requests_free(struct requests *q)
{
	u32 i;

	for (i = 0; i < BUCKETS; i++) {
		free_connections(q->connection[i]);
		free_threads(q->thread[i]);
		free_sockets(q->socket[i]);
		free_exchanges(q->table[i]);
	}
	for (i = 0; i < q->parties; i++) {
		free(q->party[i]->party.name);
		free(q->party[i]);
	}
	free(q->party);
	free(q->exchange);
	free(q->list);
	free(q->unclear);
	free(q->touch);
	free(q);
}
