// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that answer several requests at a time: event loops, and threads that are
 * handed what others got.
 *
 * Between two polls such a thread reads what has come, and does what follows from that.
 * So what it asks, or begins to answer, is caused by what it has read since its last poll
 * and what nothing has followed from yet: most loops read one thing and act on it before
 * they read the next (such a loop is strict here), others read some and then act; proxies
 * do so in the same order, once on each request and once on each answer. What they read is
 * a request, or the answer to one that was made for a request, or what another thread,
 * of any process, handed over: by a pipe, an eventfd, or by waking it from outside of any
 * I/O call. A request that nothing followed from by the next poll waits for something that
 * is not known (a connection of a pool, a turn), and may be the cause of anything.
 *
 * Where the bytes of a pipe are known by their offsets, what was read is what was written
 * at the same ones, whoever writes and reads when; or else it is in the order of the calls.
 *
 * A request that a thread makes is thus known from both ends: it was asked because of
 * some, and its answer was followed by the beginning of the answer to some. What is
 * in both is whom it was made for; nobody can tell if that is none, or more than one.
 * Where the ends of a thread's requests contradict each other more than now and then,
 * however it acts on what it reads, its loop is not as is said above, and one end
 * alone proves nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "ioreq.h"

/* So many write to a pipe at a time; more are in a damaged trace */
#define WRITERS_MAX 1024

/* More of them are as good as any */
#define SET_MAX 8

/* So much comes before a thread polls; if it does not, that is enough to look at */
#define REASONS_MAX 4096

/* What is known from one pass tells more in the next one; three steps of a request */
#define PASSES 4

/* Of so many requests whose ends are both known, one may have contradictory ones */
#define CONTRADICTIONS 50

/* Or of fewer, if that means that no more than one in so many is wrong for all of that */
#define WRONG 200
#define MORE_CONTRADICTIONS 20

/* Likewise, if a thread is to act in order: where both ends are in order by chance */
#define DISORDERS 10

/* And so much more of them than otherwise, a part, has to be found out by that */
#define GAIN 20

#define NONE UINT32_MAX

/**
 * struct set - requests, one of which it is
 * @who:	their numbers, see number_of()
 * @nr:		how many; 0: nothing is known
 * @any:	or others
 */
struct set {
	u32 who[SET_MAX];
	u8 nr;
	bool any;
};

/**
 * enum way - how a thread acts on what it reads
 * @WAY_STRICT:		on each thing before it reads the next
 * @WAY_ORDERED:	in the same order, once on each; on requests before answers, maybe
 * @WAY_ASKS:		it asks in that order for what it was asked for, and answers in any
 * @WAY_WHOLE:		in order, on what has come whole, and on nothing before
 * @WAY_LOOSE:		otherwise
 * @WAYS:		how many
 */
enum way { WAY_STRICT, WAY_ORDERED, WAY_ASKS, WAY_WHOLE, WAY_LOOSE, WAYS };

/**
 * enum kind - what happens
 * @KIND_PASS:		it reads bytes of a pipe to pass them on, known by their offsets
 * @KIND_TOUCH:		a call for a request, of enum touch_what
 * @KIND_POLL:		a thread begins to wait for what comes
 * @KIND_CONNECT:	it begins to connect
 * @KIND_PUT:		it writes to a pipe or an eventfd
 * @KIND_TAKE:		it has read from one
 * @KIND_WRITE:		it writes bytes to a pipe, known by their offsets
 * @KIND_READ:		it has read such bytes
 * @KIND_WAKE:		it wakes another one
 *
 * In the order in which they happen if a thread does them at the same time.
 */
enum kind {
	KIND_PASS,
	KIND_TOUCH,
	KIND_POLL,
	KIND_CONNECT,
	KIND_PUT,
	KIND_TAKE,
	KIND_WRITE,
	KIND_READ,
	KIND_WAKE
};

/**
 * struct happening - what happens on a host
 * @time:	when the thread did it or saw it, ns of the host
 * @moment:	when the kernel did it
 * @host:	where
 * @pid:	thread
 * @kind:	of enum kind
 * @touch:	the call, if it is one for a request
 * @piped:	the bytes of a pipe, if they are known
 * @channel:	number of the pipe, eventfd or socket
 * @bytes:	that are written to or read from it; 0: of an eventfd
 * @wakee:	thread that is woken
 */
struct happening {
	u64 time;
	u64 moment;
	u32 host;
	s32 pid;
	enum kind kind;
	union {
		const struct touch *touch;
		const struct piped *piped;
		struct {
			u32 channel;
			u64 bytes;
		};
		s32 wakee;
	};
};

/**
 * struct reason - what a thread has read, and nothing may have followed from
 * @what:	TOUCH_GET, TOUCH_RESULT, or TOUCH_ASK for what was handed over
 * @who:	number of the request
 * @whole:	all of it has come
 * @passed:	a thread that acts in order has acted on it
 * @effect:	it has asked another one, or connected to do so: because of which requests
 * @set:	requests that were handed over
 * @results:	of which requests the answers are it, or were handed over
 */
struct reason {
	enum touch_what what;
	u32 who;
	bool whole;
	bool passed;
	struct set *effect;
	struct set set;
	struct set results;
};

/**
 * struct span - what a thread works for, from a time on
 * @time:	it, ns of its host
 * @who:	number of the request, or NONE if it is not known
 */
struct span {
	u64 time;
	u32 who;
};

/**
 * struct worker - a thread
 * @host:	where
 * @pid:	its number
 * @reason:	causes since its last poll
 * @nr:		how many
 * @room:	for so many
 * @effects:	what followed from them
 * @waiting:	numbers of requests that nothing followed from before a poll
 * @nr_waiting:	how many
 * @waiting_room: for so many
 * @span:	after the last pass: what it worked for
 * @spans:	how many
 * @span_room:	for so many
 * @woken:	the thread that it woke last, and has done nothing else since; or 0
 * @way:	how it acts
 * @polls:	it waits for several descriptors at a time
 * @async:	it does so by requests to io_uring or aio
 * @asked:	how many requests it made
 * @agreed:	requests of which both ends are known and agree, by the way
 * @contradicted: likewise, and do not
 * @single:	requests of which one end is known, and tells, by the way
 * @owned:	requests of which is known whom they were made for, by the way
 * @next:	in the same bucket
 */
struct worker {
	u32 host;
	s32 pid;
	struct reason *reason;
	u64 nr;
	u64 room;
	u64 effects;
	u32 *waiting;
	u64 nr_waiting;
	u64 waiting_room;
	struct span *span;
	u64 spans;
	u64 span_room;
	s32 woken;
	enum way way;
	bool polls;
	bool async;
	u64 asked;
	u64 agreed[WAYS];
	u64 contradicted[WAYS];
	u64 single[WAYS];
	u64 owned[WAYS];
	struct worker *next;
};

/**
 * struct parcel - what was written to a channel
 * @set:	for whom
 * @results:	of which requests the answers had come
 * @bytes:	that are still there
 * @from:	offset of the first one, if they are known
 * @end:	behind the last one
 */
struct parcel {
	struct set set;
	struct set results;
	u64 bytes;
	u64 from;
	u64 end;
};

/**
 * struct channel - a pipe, an eventfd, or a socket that is being connected
 * @host:	where
 * @a:		inode number, number of the pipe, descriptor, or cookie
 * @b:		device, process, or 0, and which of these
 * @number:	of it
 * @set:	for whom a socket was connected
 * @parcel:	what was written and not read yet; in order of their offsets, if known
 * @first:	the first one that was not read
 * @nr:		behind the last one
 * @room:	for so many
 * @next:	in the same bucket
 */
struct channel {
	u32 host;
	u64 a;
	u64 b;
	u32 number;
	struct set set;
	struct parcel *parcel;
	u64 first;
	u64 nr;
	u64 room;
	struct channel *next;
};

/**
 * struct state - of a request
 * @asked:	because of which ones it was asked
 * @led:	which ones went on when its answer had come
 * @asker:	the thread that asked it
 * @owner:	number of the one that it was made for, or NONE
 * @acted:	something has followed from it
 * @waits:	the strict thread where nothing has followed from what came for it last
 */
struct state {
	struct set asked;
	struct set led;
	struct worker *asker;
	u32 owner;
	bool acted;
	const struct worker *waits;
};

/**
 * struct loops - see loops_new()
 * @s:		all of it
 * @list:	requests
 * @listed:	how many
 * @unclear:	those of which only the server's part is known
 * @nr:		how many all these are
 * @state:	of each
 * @happening:	what happens, in order
 * @happenings:	how many
 * @room:	for so many
 * @worker:	threads by hash
 * @table:	channels by hash
 * @channel:	channels by number
 * @channels:	how many
 * @channel_room: for so many
 * @last_pass:	spans are kept
 */
struct loops {
	const struct sums *s;
	struct request *list;
	u64 listed;
	struct request *unclear;
	u64 nr;
	struct state *state;
	struct happening *happening;
	u64 happenings;
	u64 room;
	struct worker *worker[BUCKETS];
	struct channel *table[BUCKETS];
	struct channel **channel;
	u64 channels;
	u64 channel_room;
	bool last_pass;
};

/* ------------------------------------------------------------------------- */
/* Sets */

static void set_add(struct set *set, u32 who)
{
	int i;

	for (i = 0; i < set->nr; i++) {
		if (set->who[i] == who)
			return;
	}
	if (set->nr == SET_MAX)
		set->any = true;
	else
		set->who[set->nr++] = who;
}

static void set_unite(struct set *set, const struct set *with)
{
	int i;

	for (i = 0; i < with->nr; i++)
		set_add(set, with->who[i]);
	set->any |= with->any;
}

static bool set_has(const struct set *set, u32 who)
{
	int i;

	for (i = 0; i < set->nr; i++) {
		if (set->who[i] == who)
			return true;
	}
	return false;
}

static bool set_known(const struct set *set)
{
	return set->nr && !set->any;
}

/* ------------------------------------------------------------------------- */
/* Requests */

/* Those that are unclear have the numbers behind the others */
static u32 number_of(const struct loops *l, u32 request)
{
	return request & UNCLEAR ? l->listed + (request & ~UNCLEAR) : request;
}

static struct request *request_at(const struct loops *l, u32 number)
{
	return number < l->listed ? &l->list[number] :
				    &l->unclear[number - l->listed];
}

/* A server is at work on it; on one without an answer it may be for ever */
static bool is_going(const struct loops *l, u32 who, u64 time)
{
	const struct request *r = request_at(l, who);
	const struct part *p = &r->part[ROLE_SERVER];

	return p->begin <= time && (!r->answered || p->over > time);
}

/* Return: the one that is in both, NONE if that is not one, or nothing is known */
static u32 common(const struct loops *l, const struct state *s, u64 time)
{
	const struct set *from = set_known(&s->asked) ? &s->asked : &s->led;
	u32 found = NONE;
	int i, n = 0;

	if (!set_known(from))
		return NONE;
	for (i = 0; i < from->nr; i++) {
		if (set_known(&s->led) && !set_has(&s->led, from->who[i]))
			continue;
		if (!is_going(l, from->who[i], time))
			continue;
		found = from->who[i];
		n++;
	}
	return n == 1 ? found : NONE;
}

/* ------------------------------------------------------------------------- */
/* What happens */

static struct worker *find_worker(struct loops *l, u32 host, s32 pid)
{
	u32 at = mix(host, pid);
	struct worker *w;

	for (w = l->worker[at]; w; w = w->next) {
		if (w->host == host && w->pid == pid)
			return w;
	}
	w = allocate(sizeof(*w));
	w->host = host;
	w->pid = pid;
	w->next = l->worker[at];
	l->worker[at] = w;
	return w;
}

static u32 find_channel(struct loops *l, u32 host, u64 a, u64 b)
{
	u32 at = mix(mix(a, b), host);
	struct channel *c;

	for (c = l->table[at]; c; c = c->next) {
		if (c->host == host && c->a == a && c->b == b)
			return c->number;
	}
	c = allocate(sizeof(*c));
	c->host = host;
	c->a = a;
	c->b = b;
	c->number = l->channels;
	c->next = l->table[at];
	l->table[at] = c;
	l->channel = grow(l->channel, l->channels, &l->channel_room,
			  sizeof(*l->channel));
	l->channel[l->channels++] = c;
	return c->number;
}

static struct happening *add_happening(struct loops *l, u32 host, s32 pid,
				       u64 time, enum kind kind)
{
	struct happening *h;

	l->happening = grow(l->happening, l->happenings, &l->room,
			    sizeof(*l->happening));
	h = &l->happening[l->happenings++];
	*h = (struct happening){
		.time = time,
		.moment = time,
		.host = host,
		.pid = pid,
		.kind = kind,
	};
	return h;
}

#define TYPE_FIFO 1

static bool is_eventfd(const struct object *o)
{
	return !strcmp(o->name, "anon_inode:[eventfd]");
}

static void add_channel(struct loops *l, const struct actor *a,
			const struct logged *c, const struct object *o)
{
	const char *op = log_op(l->s->log, c);
	bool puts = !strncmp(op, "write", 5), pipe = o->type == TYPE_FIFO;
	struct happening *h;
	u32 channel;

	if (c->result <= 0 || (!puts && strncmp(op, "read", 4) != 0))
		return;
	channel = pipe ? find_channel(l, a->host, o->id, 1ull << 32 | o->dev) :
			 find_channel(l, a->host, c->fd,
				      2ull << 32 | (u32)a->tgid);
	h = add_happening(l, a->host, a->pid,
			  puts ? c->start : c->start + c->duration,
			  puts ? KIND_PUT : KIND_TAKE);
	h->channel = channel;
	h->bytes = pipe ? c->bytes : 0;
}

static void add_call(struct loops *l, const struct actor *a,
		     const struct logged *c)
{
	const struct object *o = log_object(l->s->log, c);
	struct happening *h;
	u32 socket;

	if (c->beside || c->piped)
		return;
	if (c->step == STEP_POLL) {
		add_happening(l, a->host, a->pid, c->start, KIND_POLL);
	} else if (o->type == TYPE_FIFO || is_eventfd(o)) {
		add_channel(l, a, c, o);
	} else if (c->socket && !strcmp(log_op(l->s->log, c), "connect")) {
		socket = find_channel(l, a->host, c->socket, 0);
		h = add_happening(l, a->host, a->pid, c->start, KIND_CONNECT);
		h->channel = socket;
	}
}

/* In a call that may wake or sleep by itself */
static bool is_in_call(const struct actor *a, u64 time)
{
	u64 i = log_after(a, time);

	for (; i < a->nr && a->call[i].beside; i++)
		;
	return i < a->nr && a->call[i].start <= time;
}

/* Threads of a process that wait for one another do it outside of I/O calls */
static void add_waking(struct loops *l, const struct waking *w)
{
	const struct actor *waker = log_actor(l->s->log, w->host, w->waker);
	const struct actor *wakee = log_actor(l->s->log, w->host, w->wakee);

	if (!waker || !wakee || waker->process != wakee->process ||
	    is_in_call(waker, w->time) || is_in_call(wakee, w->time))
		return;
	add_happening(l, w->host, w->waker, w->time, KIND_WAKE)->wakee =
		w->wakee;
}

/*
 * What a thread submits with a call of io_uring_enter it has prepared before, and what is
 * there for it meanwhile it sees after that. Other results it may see at once.
 */
static void when_seen(const struct loops *l, struct happening *h, bool out)
{
	const struct actor *a = log_actor(l->s->log, h->host, h->pid);
	u64 i = a ? log_after(a, h->moment) : 0;
	const struct logged *c;

	while (a && i < a->nr && a->call[i].beside)
		i++;
	if (!a || i == a->nr)
		return;
	c = &a->call[i];
	if (c->start <= h->moment &&
	    !strcmp(log_op(l->s->log, c), "io_uring_enter"))
		h->time = out ? c->start : c->start + c->duration;
}

static void add_touch(struct loops *l, const struct touch *t)
{
	struct happening *h =
		add_happening(l, t->host, t->pid, t->time, KIND_TOUCH);

	h->touch = t;
	if (t->async)
		when_seen(l, h,
			  t->what == TOUCH_ASK || t->what == TOUCH_ANSWER);
}

/* If it is a request, or an answer, its touches tell */
static void add_piped(struct loops *l, const struct piped *p)
{
	struct happening *h;

	if (p->peer > 0 &&
	    requests_piped(l->s->requests, p->host, p->tgid, p->peer))
		return;
	h = add_happening(l, p->host, p->pid, p->time,
			  p->written ? KIND_WRITE :
			  p->passed  ? KIND_PASS :
				       KIND_READ);
	h->piped = p;
	if (p->async)
		when_seen(l, h, p->written);
}

static int by_time(const void *a, const void *b)
{
	const struct happening *x = a, *y = b;
	int order = (x->host > y->host) - (x->host < y->host);

	order = order ? order : (x->time > y->time) - (x->time < y->time);
	order = order ? order : (x->pid > y->pid) - (x->pid < y->pid);
	/* Nothing that the thread submits is caused by what it waits for then */
	order = order ? order : (x->kind == KIND_POLL) - (y->kind == KIND_POLL);
	order = order ? order :
			(x->moment > y->moment) - (x->moment < y->moment);
	return order ? order : (int)x->kind - (int)y->kind;
}

static void collect(struct loops *l)
{
	const struct touch *touch;
	struct actor *const *a;
	u64 nr, i, j;
	u32 actors;

	touch = requests_touches(l->s->requests, &nr);
	for (i = 0; i < nr; i++)
		add_touch(l, &touch[i]);
	a = log_actors(l->s->log, &actors);
	for (i = 0; i < actors; i++) {
		for (j = 0; j < a[i]->nr; j++)
			add_call(l, a[i], &a[i]->call[j]);
	}
	for (i = 0; i < l->s->wakings; i++)
		add_waking(l, &l->s->waking[i]);
	for (i = 0; i < l->s->nr_piped; i++) {
		if (l->s->piped[i].ranges)
			add_piped(l, &l->s->piped[i]);
	}
	if (l->happenings)
		qsort(l->happening, l->happenings, sizeof(*l->happening),
		      by_time);
}

/* ------------------------------------------------------------------------- */
/* Causes and effects */

static bool is_order(enum way way)
{
	return way == WAY_ORDERED || way == WAY_ASKS || way == WAY_WHOLE;
}

static bool asks_in_order(const struct worker *w)
{
	return is_order(w->way);
}

static bool answers_in_order(const struct worker *w)
{
	return asks_in_order(w) && w->way != WAY_ASKS;
}

/* For whom it may be that something follows from a cause */
static void unite_reason(const struct loops *l, struct set *set,
			 const struct reason *c, u64 time)
{
	const struct state *s = &l->state[c->who];
	struct set from = { 0 };
	int i;

	if (c->what == TOUCH_GET)
		set_add(&from, c->who);
	else if (c->what == TOUCH_ASK)
		from = c->set;
	else if (s->owner != NONE)
		set_add(&from, s->owner);
	else if (set_known(&s->asked))
		from = s->asked;
	else
		from.any = true;
	for (i = 0; i < from.nr; i++) {
		if (is_going(l, from.who[i], time))
			set_add(set, from.who[i]);
	}
	set->any |= from.any;
}

static struct set set_of(const struct loops *l, const struct worker *w,
			 u64 time)
{
	struct set set = { 0 };
	u64 i;

	for (i = 0; i < w->nr; i++) {
		if (!w->reason[i].passed)
			unite_reason(l, &set, &w->reason[i], time);
	}
	return set;
}

/* What a thread asks for next that acts in order, or NULL: first, what has come to it */
static struct reason *next_reason(struct worker *w)
{
	struct reason *result = NULL;
	u64 i;

	for (i = 0; i < w->nr; i++) {
		struct reason *r = &w->reason[i];

		if (r->passed)
			continue;
		if (r->what != TOUCH_RESULT || w->way == WAY_WHOLE)
			return r;
		/* Nothing may follow from the first part of an answer */
		if (!result && r->whole && w->way == WAY_ORDERED)
			result = r;
	}
	return result;
}

/* Likewise, with those that wait for something unknown */
static struct set ask_of(const struct loops *l, struct worker *w, u64 time)
{
	struct reason *next = asks_in_order(w) ? next_reason(w) : NULL;
	struct set set = { 0 };
	u64 i, n = 0;

	if (next) {
		unite_reason(l, &set, next, time);
		return set;
	}
	set = set_of(l, w, time);

	for (i = 0; i < w->nr_waiting; i++) {
		if (l->state[w->waiting[i]].acted ||
		    !is_going(l, w->waiting[i], time))
			continue;
		w->waiting[n++] = w->waiting[i];
		set_add(&set, w->waiting[i]);
	}
	w->nr_waiting = n;
	return set;
}

/* Something has followed from what has come, in order */
static void pass(struct loops *l, struct reason *r, struct set *effect)
{
	r->passed = true;
	r->effect = effect;
	if (r->what == TOUCH_GET)
		l->state[r->who].acted = true;
}

/* Where not each request led to another one, nobody can tell which ones did */
static void check_requests(const struct worker *w)
{
	u64 i, nr = 0, acted = 0;
	struct set all = { 0 };

	for (i = 0; i < w->nr; i++) {
		const struct reason *r = &w->reason[i];

		if (r->what == TOUCH_RESULT)
			continue;
		nr++;
		acted += r->effect != NULL;
		if (r->what == TOUCH_GET)
			set_add(&all, r->who);
		else
			set_unite(&all, &r->set);
	}
	for (i = 0; i < w->nr && acted < nr; i++) {
		if (w->reason[i].effect)
			set_unite(w->reason[i].effect, &all);
	}
}

/* Likewise, where an answer led to nothing */
static void check_answers(const struct loops *l, const struct worker *w)
{
	bool all = true;
	u64 i;

	for (i = 0; i < w->nr; i++)
		all &= w->reason[i].what != TOUCH_RESULT || w->reason[i].passed;
	for (i = 0; i < w->nr && !all; i++) {
		if (w->reason[i].what == TOUCH_RESULT)
			l->state[w->reason[i].who].led.any = true;
	}
}

/* Nothing will follow from what has come but when something else happens */
static void drop_reasons(struct loops *l, struct worker *w)
{
	const struct worker *waiting = w->way == WAY_STRICT ? w : NULL;
	bool all = !asks_in_order(w) && w->effects >= w->nr;
	u64 i;

	if (asks_in_order(w))
		check_requests(w);
	if (answers_in_order(w))
		check_answers(l, w);

	for (i = 0; i < w->nr && !all; i++) {
		const struct reason *r = &w->reason[i];
		u32 owner = l->state[r->who].owner;

		if (r->what == TOUCH_RESULT && r->whole && !r->passed &&
		    owner != NONE)
			l->state[owner].waits = waiting;
		if (r->what != TOUCH_GET || !r->whole || l->state[r->who].acted)
			continue;
		w->waiting = grow(w->waiting, w->nr_waiting, &w->waiting_room,
				  sizeof(*w->waiting));
		w->waiting[w->nr_waiting++] = r->who;
		l->state[r->who].waits = waiting;
	}
	w->nr = 0;
	w->effects = 0;
}

/* Something has followed from each of them */
static void settle(struct loops *l, struct worker *w)
{
	u64 i;

	if (!asks_in_order(w) && w->effects >= w->nr)
		drop_reasons(l, w);
	for (i = 0; i < w->nr && w->reason[i].passed; i++)
		;
	/* It may never poll, that is known */
	if (i == w->nr)
		drop_reasons(l, w);
}

static void add_reason(struct loops *l, struct worker *w,
		       const struct reason *reason)
{
	u64 i;

	settle(l, w);
	if (w->nr == REASONS_MAX)
		drop_reasons(l, w);
	for (i = 0; i < w->nr && reason->what != TOUCH_ASK; i++) {
		if (w->reason[i].what == reason->what &&
		    w->reason[i].who == reason->who && !w->reason[i].passed) {
			w->reason[i].whole |= reason->whole;
			return;
		}
	}
	if (w->way == WAY_STRICT)
		drop_reasons(l, w);
	w->reason = grow(w->reason, w->nr, &w->room, sizeof(*w->reason));
	w->reason[w->nr++] = *reason;
}

static u64 asked_at(const struct loops *l, u32 who)
{
	return request_at(l, who)->part[ROLE_CLIENT].begin;
}

/* What an answer led to: requests that were at work when it was asked for */
static void lead(struct loops *l, u32 who, const struct set *to)
{
	struct set *led = &l->state[who].led;
	int i;

	for (i = 0; i < to->nr && !to->any; i++) {
		if (is_going(l, to->who[i], asked_at(l, who)))
			set_add(led, to->who[i]);
	}
	/* Behind the first, what is not known may follow from something else */
	led->any |= to->any && !led->nr;
}

static void reason_led_to(struct loops *l, const struct reason *r, u32 but,
			  const struct set *to)
{
	int i;

	for (i = 0; i < r->results.nr; i++) {
		if (r->results.who[i] != but)
			lead(l, r->results.who[i], to);
	}
}

static void led_to(struct loops *l, const struct worker *w, u32 but,
		   const struct set *to)
{
	u64 i;

	for (i = 0; i < w->nr; i++)
		reason_led_to(l, &w->reason[i], but, to);
}

/* The connection was made for these; one of them may have got another one instead */
static struct set *made_for(struct loops *l, const struct worker *w, u32 who)
{
	u64 id = request_at(l, who)->part[ROLE_CLIENT].id;
	u32 socket = find_channel(l, w->host, id, 0);

	return &l->channel[socket]->set;
}

/* What an answer, or some more of it, follows from */
static struct reason *reason_of(const struct loops *l, struct worker *w,
				const struct touch *t, u32 who)
{
	u64 i;

	for (i = 0; i < w->nr; i++) {
		struct reason *r = &w->reason[i];

		if (r->passed || (r->what == TOUCH_GET && r->who != who))
			continue;
		if (t->first || r->what != TOUCH_RESULT ||
		    set_has(&l->state[r->who].led, who))
			return r;
	}
	return NULL;
}

static void answer_in_order(struct loops *l, struct worker *w,
			    const struct touch *t, u32 who)
{
	struct set goes = { .who = { who }, .nr = 1 };
	struct reason *r = reason_of(l, w, t, who);

	l->state[who].acted = true;
	if (!r)
		return;
	pass(l, r, NULL);
	if (t->first)
		reason_led_to(l, r, NONE, &goes);
}

static void ask(struct loops *l, struct worker *w, u32 who, u64 time)
{
	struct set *connected = made_for(l, w, who), goes = { 0 };
	struct state *s = &l->state[who];

	s->asker = w;
	s->asked = ask_of(l, w, time);
	if (connected->nr)
		set_unite(&s->asked, connected);
	*connected = (struct set){ 0 };
	w->effects++;
	if (s->owner == NONE) {
		/* One of those that wait may go on because this gives it room */
		if (w->way != WAY_STRICT || !s->asked.any)
			led_to(l, w, who, &s->asked);
		return;
	}
	/* One that waited goes on because of something else, as a connection that is free */
	set_add(&goes, s->owner);
	if (l->state[s->owner].waits != w)
		led_to(l, w, who, &goes);
	l->state[s->owner].acted = true;
	l->state[s->owner].waits = NULL;
}

static void ask_in_order(struct loops *l, struct worker *w, u32 who, u64 time)
{
	struct set *connected = made_for(l, w, who), goes = { 0 };
	struct reason *next = next_reason(w);
	struct state *s = &l->state[who];
	u64 i;

	s->asker = w;
	s->asked = *connected;
	*connected = (struct set){ 0 };
	if (s->asked.nr || s->asked.any) {
		for (i = 0; i < w->nr; i++) {
			if (w->reason[i].effect == connected)
				w->reason[i].effect = &s->asked;
		}
		return;
	}
	if (!next && w->way == WAY_ASKS) {
		ask(l, w, who, time);
		return;
	}
	s->asked = ask_of(l, w, time);
	if (!next)
		return;
	pass(l, next, &s->asked);
	goes.any = s->owner == NONE;
	if (!goes.any)
		set_add(&goes, s->owner);
	reason_led_to(l, next, who, &goes);
}

static bool has_reason(const struct worker *w, enum touch_what what, u32 who)
{
	u64 i;

	for (i = 0; i < w->nr; i++) {
		if (w->reason[i].what == what && w->reason[i].who == who)
			return true;
	}
	return false;
}

static void answer(struct loops *l, struct worker *w, const struct touch *t,
		   u32 who, u64 time)
{
	struct set goes = { .who = { who }, .nr = 1 };
	struct set set;

	if (t->first) {
		/* If nothing was asked for it since it came, it is its own cause */
		if (!has_reason(w, TOUCH_GET, who))
			led_to(l, w, NONE, &goes);
		l->state[who].acted = true;
		w->effects++;
		return;
	}
	/* What is left of an answer may follow from nothing but room for it */
	set = set_of(l, w, time);
	w->effects += set_has(&set, who);
}

static void touch(struct loops *l, struct worker *w, const struct happening *h)
{
	const struct touch *t = h->touch;
	u32 who = number_of(l, t->request);
	struct reason reason = { .what = t->what,
				 .who = who,
				 .whole = t->last };

	if (t->what == TOUCH_RESULT)
		set_add(&reason.results, who);
	if (t->what == TOUCH_ASK && t->first)
		(asks_in_order(w) ? ask_in_order : ask)(l, w, who, h->time);
	else if (t->what == TOUCH_ANSWER && answers_in_order(w))
		answer_in_order(l, w, t, who);
	else if (t->what == TOUCH_ANSWER)
		answer(l, w, t, who, h->time);
	else if (t->what != TOUCH_ASK && (w->way != WAY_WHOLE || t->last))
		add_reason(l, w, &reason);
}

/* Of what the thread has handed over nothing else follows here, that is known */
static void hand_over(struct loops *l, struct worker *w, u64 time,
		      struct set *set, struct set *results)
{
	u64 i;

	*set = set_of(l, w, time);
	set->any |= !set->nr;
	for (i = 0; i < w->nr; i++)
		set_unite(results, &w->reason[i].results);
	w->effects++;
	settle(l, w);
}

static void put(struct loops *l, struct worker *w, const struct happening *h)
{
	struct channel *c = l->channel[h->channel];
	struct parcel *p;

	c->parcel = grow(c->parcel, c->nr, &c->room, sizeof(*c->parcel));
	p = &c->parcel[c->nr++];
	*p = (struct parcel){ .bytes = h->bytes };
	hand_over(l, w, h->time, &p->set, &p->results);
}

/* An eventfd gives all at once, a pipe its bytes in order */
static void take(struct loops *l, struct worker *w, const struct happening *h)
{
	struct reason reason = { .what = TOUCH_ASK, .who = 0, .whole = true };
	struct channel *c = l->channel[h->channel];
	u64 left = h->bytes;

	/* What was written before the trace began */
	reason.set.any = c->first == c->nr;
	while (c->first < c->nr && (left || !h->bytes)) {
		struct parcel *p = &c->parcel[c->first];

		set_unite(&reason.set, &p->set);
		set_unite(&reason.results, &p->results);
		if (p->bytes > left) {
			p->bytes -= left;
			break;
		}
		left -= p->bytes;
		c->first++;
	}
	if (c->first == c->nr)
		c->first = c->nr = 0;
	add_reason(l, w, &reason);
}

static struct channel *pipe_of(struct loops *l, const struct piped *p)
{
	u32 number = find_channel(l, p->host, p->pipe, 3ull << 32);

	return l->channel[number];
}

/* Several write at the same time, in some order */
static void add_parcel(struct channel *c, const struct parcel *p)
{
	u64 i, least = c->first;

	if (least == c->nr)
		least = c->first = c->nr = 0;
	c->parcel = grow(c->parcel, c->nr, &c->room, sizeof(*c->parcel));
	if (c->nr - least > WRITERS_MAX)
		least = c->nr - WRITERS_MAX;
	for (i = c->nr++; i > least && c->parcel[i - 1].from > p->from; i--)
		c->parcel[i] = c->parcel[i - 1];
	c->parcel[i] = *p;
}

static void put_bytes(struct loops *l, struct worker *w,
		      const struct piped *piped)
{
	struct parcel p = { 0 };
	u32 i;

	hand_over(l, w, piped->time, &p.set, &p.results);
	for (i = 0; i < piped->ranges; i++) {
		p.from = piped[i].from;
		p.end = piped[i].end;
		p.bytes = p.end - p.from;
		add_parcel(pipe_of(l, piped), &p);
	}
}

/* Return: number of the first parcel that ends behind an offset */
static u64 first_behind(const struct channel *c, u64 offset)
{
	u64 low = c->first, high = c->nr;

	while (low < high) {
		u64 mid = (low + high) / 2;

		if (c->parcel[mid].end > offset)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* A part of what somebody wrote, or of what several wrote */
static void take_range(struct channel *c, const struct piped *piped,
		       struct reason *reason)
{
	u64 at = piped->from, i, end, taken;

	for (i = first_behind(c, at); i < c->nr; i++) {
		struct parcel *p = &c->parcel[i];

		if (p->from >= piped->end)
			break;
		/* What is before it was lost, or written before the trace began */
		reason->set.any |= p->from > at;
		set_unite(&reason->set, &p->set);
		set_unite(&reason->results, &p->results);
		/* A damaged trace may have what was written at the same offsets */
		end = p->end < piped->end ? p->end : piped->end;
		if (end <= at)
			continue;
		taken = end - (p->from > at ? p->from : at);
		if (!piped->peeked)
			p->bytes -= taken < p->bytes ? taken : p->bytes;
		at = end;
	}
	reason->set.any |= at < piped->end;
}

static void take_bytes(struct loops *l, struct worker *w,
		       const struct piped *piped)
{
	struct reason reason = { .what = TOUCH_ASK, .who = 0, .whole = true };
	struct channel *c = pipe_of(l, piped);
	u32 i;

	for (i = 0; i < piped->ranges; i++)
		take_range(c, &piped[i], &reason);
	while (c->first < c->nr && !c->parcel[c->first].bytes)
		c->first++;
	add_reason(l, w, &reason);
}

/*
 * What follows a call for a request, before anything else happens, is for that one; if the
 * thread has read something else, too, it may as well be for that.
 */
static u32 works_for(const struct loops *l, struct worker *w,
		     const struct happening *h)
{
	const struct touch *t = h->kind == KIND_TOUCH ? h->touch : NULL;
	struct set set = set_of(l, w, h->time);
	u32 who = t ? number_of(l, t->request) : NONE;

	if (t && t->what == TOUCH_ASK)
		who = l->state[who].owner;
	if (t && (t->what == TOUCH_ANSWER || t->what == TOUCH_ASK) &&
	    who != NONE &&
	    (w->way == WAY_STRICT || (answers_in_order(w) && !set.nr)))
		return who;
	if (!set.nr)
		return NONE;
	if (!asks_in_order(w))
		set = ask_of(l, w, h->time);
	return set_known(&set) && set.nr == 1 ? set.who[0] : NONE;
}

/* What the thread works for from now on */
static void keep_span(struct loops *l, struct worker *w,
		      const struct happening *h)
{
	u32 who = works_for(l, w, h);

	if (!w->spans ? who == NONE : w->span[w->spans - 1].who == who)
		return;
	w->span = grow(w->span, w->spans, &w->span_room, sizeof(*w->span));
	w->span[w->spans++] = (struct span){ .time = h->time, .who = who };
}

static void wake(struct loops *l, struct worker *w, const struct happening *h)
{
	struct reason reason = { .what = TOUCH_ASK, .who = 0, .whole = true };

	/* To wake it once more, a lock or a second try, hands nothing over */
	if (!w->nr && w->woken == h->wakee)
		return;
	hand_over(l, w, h->time, &reason.set, &reason.results);
	w->woken = h->wakee;
	w = find_worker(l, h->host, h->wakee);
	/* It has done all that it had to do */
	if (!set_of(l, w, h->time).nr)
		w->nr = w->effects = 0;
	add_reason(l, w, &reason);
	if (l->last_pass)
		keep_span(l, w, h);
}

static void begin_connect(struct loops *l, struct worker *w,
			  const struct happening *h)
{
	struct reason *next = asks_in_order(w) ? next_reason(w) : NULL;
	struct set *set = &l->channel[h->channel]->set;

	*set = ask_of(l, w, h->time);
	w->effects++;
	if (next)
		pass(l, next, set);
}

static void happen(struct loops *l, const struct happening *h)
{
	struct worker *w = find_worker(l, h->host, h->pid);

	if (h->kind != KIND_WAKE)
		w->woken = 0;
	switch (h->kind) {
	case KIND_TOUCH:
		w->async |= h->touch->async;
		touch(l, w, h);
		break;
	case KIND_POLL:
		w->polls = true;
		drop_reasons(l, w);
		break;
	case KIND_CONNECT:
		begin_connect(l, w, h);
		break;
	case KIND_PUT:
		put(l, w, h);
		break;
	case KIND_TAKE:
		take(l, w, h);
		break;
	case KIND_WRITE:
		put_bytes(l, w, h->piped);
		break;
	case KIND_PASS:
	case KIND_READ:
		take_bytes(l, w, h->piped);
		break;
	case KIND_WAKE:
		wake(l, w, h);
		break;
	}
	if (l->last_pass)
		keep_span(l, w, h);
}

/* ------------------------------------------------------------------------- */
/* Passes */

static void begin_pass(struct loops *l)
{
	struct worker *w;
	u64 i;

	for (i = 0; i < l->nr; i++) {
		l->state[i].asked = (struct set){ 0 };
		l->state[i].led = (struct set){ 0 };
		l->state[i].acted = false;
		l->state[i].waits = NULL;
	}
	for (i = 0; i < l->channels; i++) {
		l->channel[i]->set = (struct set){ 0 };
		l->channel[i]->first = l->channel[i]->nr = 0;
	}
	for (i = 0; i < BUCKETS; i++) {
		for (w = l->worker[i]; w; w = w->next) {
			w->nr = w->effects = w->nr_waiting = 0;
			w->woken = 0;
			w->agreed[w->way] = w->contradicted[w->way] = 0;
			w->single[w->way] = 0;
			w->asked = w->owned[w->way] = 0;
		}
	}
}

static void compare_ends(struct loops *l)
{
	u32 i;

	for (i = 0; i < l->listed; i++) {
		struct state *s = &l->state[i];
		struct worker *w = s->asker;
		bool both = set_known(&s->asked) && set_known(&s->led);

		if (!w)
			continue;
		if (common(l, s, asked_at(l, i)) == NONE)
			w->contradicted[w->way] += both;
		else if (both)
			w->agreed[w->way]++;
		else
			w->single[w->way]++;
	}
}

/*
 * Whether one of so many contradicts, or less. Some order is found in whatever a thread
 * does, so that takes as many to know.
 */
static bool is_seldom(const struct worker *w, enum way way, u64 of)
{
	u64 both = w->agreed[way] + w->contradicted[way];

	return w->contradicted[way] * of <= both &&
	       (!is_order(way) || both >= of);
}

/* Whether one end tells, where it is as often wrong as both contradict each other */
static bool one_end_tells(const struct worker *w)
{
	u64 agreed = w->agreed[w->way], single = w->single[w->way];
	u64 contradicted = w->contradicted[w->way];

	if (is_seldom(w, w->way, CONTRADICTIONS))
		return true;
	return is_seldom(w, w->way, MORE_CONTRADICTIONS) &&
	       (double)single * contradicted * WRONG <=
		       (double)(agreed + contradicted) * (agreed + single);
}

static bool is_sure(const struct state *s)
{
	return (set_known(&s->asked) && set_known(&s->led)) ||
	       one_end_tells(s->asker);
}

/* Return: whether more is known than before */
static bool find_owners(struct loops *l)
{
	bool more = false;
	u32 i, owner;

	compare_ends(l);
	for (i = 0; i < l->listed; i++) {
		struct state *s = &l->state[i];

		if (!s->asker)
			continue;
		owner = is_sure(s) ? common(l, s, asked_at(l, i)) : NONE;
		more |= owner != s->owner;
		s->owner = owner;
		s->asker->asked++;
		s->asker->owned[s->asker->way] += owner != NONE;
	}
	return more;
}

/* Until nothing more is found out */
static void find_all(struct loops *l, bool last)
{
	bool more = true;
	u64 i;
	int pass;

	for (i = 0; i < l->nr; i++)
		l->state[i].owner = NONE;
	l->last_pass = false;
	for (pass = 0; pass <= PASSES && !l->last_pass && (more || last);
	     pass++) {
		l->last_pass = last && (!more || pass == PASSES);
		begin_pass(l);
		for (i = 0; i < l->happenings; i++)
			happen(l, &l->happening[i]);
		more = find_owners(l);
	}
}

/* Whether the ends contradict each other as seldom, in one way, as in another one */
static bool is_as_good(const struct worker *w, enum way way, enum way as)
{
	u64 nr = w->agreed[way] + w->contradicted[way];
	u64 of = w->agreed[as] + w->contradicted[as];

	return (double)w->contradicted[way] * of <=
	       (double)w->contradicted[as] * nr;
}

static bool is_better(const struct worker *w, enum way way, enum way than)
{
	return is_seldom(w, way, DISORDERS) &&
	       w->owned[way] > w->owned[than] + w->owned[than] / GAIN;
}

static enum way best_way(const struct worker *w)
{
	enum way best = is_as_good(w, WAY_STRICT, WAY_LOOSE) ? WAY_STRICT :
							       WAY_LOOSE;

	if (is_better(w, WAY_ORDERED, best))
		best = WAY_ORDERED;
	if (is_better(w, WAY_ASKS, best))
		best = WAY_ASKS;
	return is_better(w, WAY_WHOLE, best) ? WAY_WHOLE : best;
}

/* Where each thing is acted on before the next is read, that tells almost all */
static bool is_strict(const struct worker *w)
{
	return !w->contradicted[WAY_STRICT] &&
	       (w->asked - w->owned[WAY_STRICT]) * CONTRADICTIONS <= w->asked;
}

/* All threads of which that is not known act like this */
static bool try_way(struct loops *l, enum way way)
{
	struct worker *w;
	bool any = false;
	u64 i;

	for (i = 0; i < BUCKETS; i++) {
		for (w = l->worker[i]; w; w = w->next) {
			/* Order is about what was read between two polls */
			if (is_strict(w) || (way != WAY_LOOSE && !w->polls &&
					     (way != WAY_WHOLE || !w->async)))
				continue;
			w->way = way;
			any = true;
		}
	}
	if (any)
		find_all(l, false);
	return any;
}

static void choose_ways(struct loops *l)
{
	struct worker *w;
	u64 i;

	for (i = 0; i < BUCKETS; i++) {
		for (w = l->worker[i]; w; w = w->next) {
			if (!is_strict(w))
				w->way = best_way(w);
		}
	}
}

/**
 * loops_new - see whom threads work for
 * @s: after requests_finish(), with single requests and a log
 *
 * Return: that; loops_free() frees it.
 */
struct loops *loops_new(const struct sums *s)
{
	struct loops *l = allocate(sizeof(*l));
	u64 n;

	l->s = s;
	l->list = requests_list(s->requests, &l->listed);
	l->unclear = requests_unclear(s->requests, &n);
	l->nr = l->listed + n;
	l->state = allocate((l->nr + 1) * sizeof(*l->state));
	collect(l);
	find_all(l, false);
	if (try_way(l, WAY_LOOSE)) {
		try_way(l, WAY_ORDERED);
		try_way(l, WAY_ASKS);
		try_way(l, WAY_WHOLE);
		choose_ways(l);
	}
	find_all(l, true);
	return l;
}

/**
 * loops_owner - whom a request was made for
 * @l: loops
 * @r: number of the request in requests_list()
 * @told: set to whether anything is known of that
 *
 * Return: the request that it was made for, or NULL if nobody can tell.
 */
struct request *loops_owner(const struct loops *l, u64 r, bool *told)
{
	const struct state *s = &l->state[r];

	*told = s->asked.nr || s->led.nr;
	/* Who asked that one is not known, or it has no end */
	if (s->owner == NONE || s->owner >= l->listed ||
	    !l->list[s->owner].answered)
		return NULL;
	return &l->list[s->owner];
}

/* Return: the thread, or NULL if it never worked for anybody who is known */
static const struct worker *worker_at(const struct loops *l, u32 host, s32 pid)
{
	const struct worker *w = l->worker[mix(host, pid)];

	while (w && (w->host != host || w->pid != pid))
		w = w->next;
	return w && w->spans ? w : NULL;
}

/**
 * loops_helps - whether a thread has worked for any request
 * @l: loops
 * @host: where
 * @pid: thread
 *
 * Return: that.
 */
bool loops_helps(const struct loops *l, u32 host, s32 pid)
{
	return worker_at(l, host, pid);
}

/**
 * loops_at - what a thread works for
 * @l: loops
 * @host: where
 * @pid: thread
 * @time: when, ns of the host
 *
 * Return: the request, or NULL if that is not known.
 */
const struct request *loops_at(const struct loops *l, u32 host, s32 pid,
			       u64 time)
{
	const struct worker *w = worker_at(l, host, pid);
	u64 low = 0, high = w ? w->spans : 0;

	while (low < high) {
		u64 mid = (low + high) / 2;

		if (w->span[mid].time > time)
			high = mid;
		else
			low = mid + 1;
	}
	if (!low || w->span[low - 1].who == NONE)
		return NULL;
	return request_at(l, w->span[low - 1].who);
}

/**
 * loops_free - free all of it
 * @l: loops, or NULL
 */
void loops_free(struct loops *l)
{
	struct worker *w;
	u64 i;

	if (!l)
		return;
	for (i = 0; i < BUCKETS; i++) {
		while ((w = l->worker[i])) {
			l->worker[i] = w->next;
			free(w->reason);
			free(w->waiting);
			free(w->span);
			free(w);
		}
	}
	for (i = 0; i < l->channels; i++) {
		free(l->channel[i]->parcel);
		free(l->channel[i]);
	}
	free(l->channel);
	free(l->happening);
	free(l->state);
	free(l);
}
