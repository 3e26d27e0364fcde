// SPDX-License-Identifier: GPL-2.0
/* The log: all calls, by thread, for reports that need single ones. */
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "order.h"

/**
 * struct process - a process
 * @host:	number of the host
 * @tgid:	process ID
 */
struct process {
	u32 host;
	s32 tgid;
};

/**
 * struct log - see log_new()
 * @threads:	struct thread, in the order of their first calls
 * @processes:	struct process
 * @objects:	struct object
 * @op:		names of calls
 * @ops:	number of names
 * @op_room:	allocated entries of @op
 */
struct log {
	struct hash threads;
	struct hash processes;
	struct hash objects;
	char (*op)[OP_SIZE];
	u64 ops;
	u64 op_room;
};

/**
 * log_new - create an empty log
 *
 * Return: the log, to be freed with log_free().
 */
struct log *log_new(void)
{
	return xzalloc(sizeof(struct log));
}

static u32 find_process(struct log *l, u32 host, s32 tgid)
{
	u64 hash = hash_pair(host, tgid);
	struct process *p;
	u32 i;

	hash_for_each_possible(&l->processes, hash, i) {
		p = hash_entry(&l->processes, i);
		if (p->host == host && p->tgid == tgid)
			return i;
	}
	p = hash_new(&l->processes, hash, sizeof(*p));
	p->host = host;
	p->tgid = tgid;
	return l->processes.nr - 1;
}

/**
 * log_thread - find a thread
 * @l:		log
 * @host:	number of the host
 * @pid:	thread ID
 *
 * Return: the thread, or NULL if it made no call.
 */
struct thread *log_thread(const struct log *l, u32 host, s32 pid)
{
	u64 hash = hash_pair(host, pid);
	struct thread *a;

	hash_for_each_possible_entry(&l->threads, hash, a) {
		if (a->host == host && a->pid == pid)
			return a;
	}
	return NULL;
}

static struct thread *find_thread(struct log *l, const struct thread *caller)
{
	struct thread *a = log_thread(l, caller->host, caller->pid);

	if (a)
		return a;
	a = hash_new(&l->threads, hash_pair(caller->host, caller->pid),
		     sizeof(*a));
	*a = *caller;
	a->process = find_process(l, caller->host, caller->tgid);
	a->number = l->threads.nr - 1;
	return a;
}

static u32 find_object(struct log *l, const struct object *o)
{
	u64 hash = object_hash(o);
	struct object *e;
	u32 i;

	hash_for_each_possible(&l->objects, hash, i) {
		e = hash_entry(&l->objects, i);
		if (e->id == o->id && e->dev == o->dev && e->type == o->type &&
		    !strcmp(e->name, o->name))
			return i;
	}
	e = hash_new(&l->objects, hash, sizeof(*e));
	*e = *o;
	e->name = xstrdup(o->name);
	return l->objects.nr - 1;
}

/* There are a few dozen names; some hundreds in a damaged file */
static u16 find_op(struct log *l, const char *op)
{
	u64 i;

	for (i = 0; i < l->ops; i++) {
		if (!strcmp(l->op[i], op))
			return i;
	}
	GROW(l->op, l->ops, l->op_room);
	snprintf(l->op[l->ops], OP_SIZE, "%s", op);
	return l->ops++;
}

/**
 * log_add - add a call, in order of the ends of a thread's calls
 * @l:		log
 * @caller:	thread; its calls are not used
 * @op:		name of the call
 * @object:	object of the call
 * @call:	times and results of the call
 */
void log_add(struct log *l, const struct thread *caller, const char *op,
	     const struct object *object, const struct call *call)
{
	struct thread *a = find_thread(l, caller);
	struct call *c;

	GROW(a->call, a->nr, a->room);
	c = &a->call[a->nr++];
	*c = *call;
	c->op = find_op(l, op);
	c->object = find_object(l, object);
}

/**
 * log_threads - all threads
 * @l:	log
 * @nr:	set to their number
 *
 * Return: the threads.
 */
struct thread *const *log_threads(const struct log *l, u32 *nr)
{
	*nr = l->threads.nr;
	return (struct thread *const *)l->threads.entry;
}

/**
 * log_after - find the calls that end at a time or later
 * @a:		thread
 * @time:	time, ns of the host
 *
 * Return: index of the first one, or the number of calls if there is none.
 */
u64 log_after(const struct thread *a, u64 time)
{
	return FIRST(i, 0, a->nr,
		     a->call[i].start + a->call[i].duration >= time);
}

/**
 * log_op - name of a call
 * @l:	log
 * @call:	call
 *
 * Return: the name.
 */
const char *log_op(const struct log *l, const struct call *call)
{
	return l->op[call->op];
}

/**
 * log_object - object of a call
 * @l:	log
 * @call:	call
 *
 * Return: the object.
 */
const struct object *log_object(const struct log *l, const struct call *call)
{
	return hash_entry(&l->objects, call->object);
}

/**
 * log_free - free the log
 * @l:	log, or NULL
 */
void log_free(struct log *l)
{
	struct thread *a;
	struct object *o;
	u32 i;

	if (!l)
		return;
	hash_for_each(&l->threads, i, a)
		free(a->call);
	hash_for_each(&l->objects, i, o)
		free(o->name);
	hash_free(&l->threads);
	hash_free(&l->processes);
	hash_free(&l->objects);
	free(l->op);
	free(l);
}
