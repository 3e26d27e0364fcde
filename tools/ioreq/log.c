// SPDX-License-Identifier: GPL-2.0
/* All calls, by thread: for results that show single ones. */
#include <stdlib.h>
#include <string.h>

#include "ioreq.h"

/**
 * struct object_entry - an object in the table of them
 * @object:	it
 * @number:	of it
 * @next:	in the same bucket
 */
struct object_entry {
	struct object object;
	u32 number;
	struct object_entry *next;
};

/**
 * struct process - a process
 * @host:	where it is
 * @tgid:	its number there
 * @number:	among all hosts' ones
 * @next:	in the same bucket
 */
struct process {
	u32 host;
	s32 tgid;
	u32 number;
	struct process *next;
};

/**
 * struct log - see log_new()
 * @bucket:	threads by hash
 * @actor:	threads, in the order in which they came
 * @actors:	how many
 * @actor_room:	for so many
 * @process:	processes by hash
 * @processes:	how many
 * @table:	objects by hash
 * @object:	objects by number
 * @objects:	how many
 * @object_room: for so many
 * @op:		names of calls
 * @ops:	how many
 * @op_room:	for so many
 */
struct log {
	struct actor *bucket[BUCKETS];
	struct actor **actor;
	u64 actors;
	u64 actor_room;
	struct process *process[BUCKETS];
	u32 processes;
	struct object_entry *table[BUCKETS];
	struct object_entry **object;
	u64 objects;
	u64 object_room;
	char (*op)[OP_SIZE];
	u64 ops;
	u64 op_room;
};

/**
 * log_new - no calls yet
 *
 * Return: that; log_free() frees it.
 */
struct log *log_new(void)
{
	return allocate(sizeof(struct log));
}

static u32 find_process(struct log *l, u32 host, s32 tgid)
{
	u32 at = mix(host, tgid);
	struct process *p;

	for (p = l->process[at]; p; p = p->next) {
		if (p->host == host && p->tgid == tgid)
			return p->number;
	}
	p = allocate(sizeof(*p));
	p->host = host;
	p->tgid = tgid;
	p->number = l->processes++;
	p->next = l->process[at];
	l->process[at] = p;
	return p->number;
}

/**
 * log_actor - find a thread
 * @l: the log
 * @host: where it is
 * @pid: its number there
 *
 * Return: it, or NULL if it made no call.
 */
struct actor *log_actor(const struct log *l, u32 host, s32 pid)
{
	struct actor *a = l->bucket[mix(host, pid)];

	while (a && (a->host != host || a->pid != pid))
		a = a->next;
	return a;
}

static struct actor *find_actor(struct log *l, const struct actor *who)
{
	u32 at = mix(who->host, who->pid);
	struct actor *a = log_actor(l, who->host, who->pid);

	if (a)
		return a;
	a = allocate(sizeof(*a));
	*a = *who;
	a->process = find_process(l, who->host, who->tgid);
	a->number = l->actors;
	a->next = l->bucket[at];
	l->bucket[at] = a;
	l->actor = grow(l->actor, l->actors, &l->actor_room, sizeof(*l->actor));
	l->actor[l->actors++] = a;
	return a;
}

static u32 find_object(struct log *l, const struct object *o)
{
	u32 at = mix(o->id ^ (u64)o->dev << 32, o->type);
	struct object_entry *e;

	for (e = l->table[at]; e; e = e->next) {
		if (e->object.id == o->id && e->object.dev == o->dev &&
		    e->object.type == o->type &&
		    !strcmp(e->object.name, o->name))
			return e->number;
	}
	e = allocate(sizeof(*e));
	e->object = *o;
	e->object.name = strdup(o->name);
	if (!e->object.name)
		abort();
	e->number = l->objects;
	e->next = l->table[at];
	l->table[at] = e;
	l->object = grow(l->object, l->objects, &l->object_room,
			 sizeof(*l->object));
	l->object[l->objects++] = e;
	return e->number;
}

/* There are some dozens, and some hundreds in a damaged file */
static u16 find_op(struct log *l, const char *op)
{
	u64 i;

	for (i = 0; i < l->ops; i++) {
		if (!strcmp(l->op[i], op))
			return i;
	}
	l->op = grow(l->op, l->ops, &l->op_room, sizeof(*l->op));
	snprintf(l->op[l->ops], OP_SIZE, "%s", op);
	return l->ops++;
}

/**
 * log_add - a call has ended, in order of the ends of a thread's calls
 * @l: the log
 * @who: the thread; its calls do not matter
 * @op: name of the call
 * @object: what it was about
 * @call: its times and results
 */
void log_add(struct log *l, const struct actor *who, const char *op,
	     const struct object *object, const struct logged *call)
{
	struct actor *a = find_actor(l, who);
	struct logged *c;

	a->call = grow(a->call, a->nr, &a->room, sizeof(*a->call));
	c = &a->call[a->nr++];
	*c = *call;
	c->op = find_op(l, op);
	c->object = find_object(l, object);
}

/**
 * log_actors - all threads
 * @l: the log
 * @nr: set to how many
 *
 * Return: they.
 */
struct actor *const *log_actors(const struct log *l, u32 *nr)
{
	*nr = l->actors;
	return l->actor;
}

/**
 * log_after - where the calls that end at a time, or after it, begin
 * @a: the thread
 * @time: it, ns of the host
 *
 * Return: the first one's index, or how many there are.
 */
u64 log_after(const struct actor *a, u64 time)
{
	u64 low = 0, high = a->nr;

	while (low < high) {
		u64 mid = (low + high) / 2;

		if (a->call[mid].start + a->call[mid].duration >= time)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/**
 * log_op - name of a call
 * @l: the log
 * @c: the call
 *
 * Return: it.
 */
const char *log_op(const struct log *l, const struct logged *c)
{
	return l->op[c->op];
}

/**
 * log_object - what a call was about
 * @l: the log
 * @c: the call
 *
 * Return: it.
 */
const struct object *log_object(const struct log *l, const struct logged *c)
{
	return &l->object[c->object]->object;
}

/**
 * log_free - free all of it
 * @l: the log, or NULL
 */
void log_free(struct log *l)
{
	struct process *p;
	u64 i;

	if (!l)
		return;
	for (i = 0; i < BUCKETS; i++) {
		while ((p = l->process[i])) {
			l->process[i] = p->next;
			free(p);
		}
	}
	for (i = 0; i < l->actors; i++) {
		free(l->actor[i]->call);
		free(l->actor[i]);
	}
	for (i = 0; i < l->objects; i++) {
		free(l->object[i]->object.name);
		free(l->object[i]);
	}
	free(l->actor);
	free(l->object);
	free(l->op);
	free(l);
}
