// SPDX-License-Identifier: GPL-2.0
/* The model of all files: sums, pending calls, and linking it all. */
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "order.h"
#include "read.h"
#include "text.h"

u64 object_hash(const struct object *o)
{
	return hash_more(hash_pair((u64)o->type << 32 | o->dev, o->id),
			 hash_string(o->name));
}

static u64 hash_key(const struct model *m, const struct sum *key)
{
	u64 hash = object_hash(&(struct object){ .type = key->type,
						 .dev = key->dev,
						 .id = key->id,
						 .name = key->name });

	hash = hash_more(hash, (u64)key->host << 32 | (u32)key->tgid);
	hash = hash_more(hash, key->size ^ (unsigned long)key->client);
	hash = hash_more(hash_more(hash, key->stack), hash_string(key->op));
	return m->by & BY_PROCESS ? hash :
				    hash_more(hash, hash_string(key->comm));
}

struct sum *model_find_sum(struct model *m, const struct sum *key)
{
	u64 hash = hash_key(m, key);
	struct sum *sum;

	hash_for_each_possible_entry(&m->sums, hash, sum) {
		/* With BY_PROCESS, a process is identified by its
		 * number, whatever its name is
		 */
		if (sum->host == key->host && sum->tgid == key->tgid &&
		    (m->by & BY_PROCESS || !strcmp(sum->comm, key->comm)) &&
		    sum->id == key->id && sum->dev == key->dev &&
		    sum->type == key->type && sum->size == key->size &&
		    sum->client == key->client && sum->stack == key->stack &&
		    !strcmp(sum->op, key->op) && !strcmp(sum->name, key->name))
			return sum;
	}
	sum = hash_new(&m->sums, hash, sizeof(*sum));
	*sum = *key;
	sum->name = xstrdup(key->name);
	return sum;
}

/* The highest bit of a number of bytes */
u64 size_class(u64 bytes)
{
	return bytes ? 1ull << (63 - __builtin_clzll(bytes)) : 0;
}

void sum_add_call(struct sum *sum, u64 duration, s64 result, u64 bytes)
{
	times_add(&sum->times, duration);
	sum->errors += result < 0;
	sum->bytes += bytes;
}

static u64 hash_pending(u32 host, s32 pid, u64 start)
{
	return hash_pair((u64)host << 32 | (u32)pid, start);
}

struct pending *model_find_pending(const struct model *m, u32 host, s32 pid,
				   u64 start)
{
	u64 hash = hash_pending(host, pid, start);
	struct pending *p;

	hash_for_each_possible_entry(&m->open, hash, p) {
		if (p->host == host && p->pid == pid && p->start == start)
			return p;
	}
	return NULL;
}

struct pending *model_new_pending(struct model *m, u32 host, s32 pid, u64 start)
{
	struct pending *p =
		hash_new(&m->open, hash_pending(host, pid, start), sizeof(*p));

	p->host = host;
	p->pid = pid;
	p->start = start;
	return p;
}

void model_count_call(struct model *m, u32 host, u64 start)
{
	if (!m->host[host].calls++ || start < m->host[host].first)
		m->host[host].first = start;
}

/**
 * model_sum_call - add a call to its sum
 * @m:		model
 * @caller:	thread; its calls are not used
 * @op:		name of the call
 * @object:	object of the call
 * @call:	times and results of the call
 */
void model_sum_call(struct model *m, const struct thread *caller,
		    const char *op, const struct object *object,
		    const struct call *call)
{
	static char none[1];
	struct sum key = { .name = none };

	if (call->duration < m->longer)
		return;
	if (m->by & BY_HOST)
		key.host = caller->host;
	if (m->by & BY_PROCESS)
		key.tgid = caller->tgid;
	if (m->by & (BY_PROCESS | BY_COMM))
		text_copy(key.comm, sizeof(key.comm), caller->comm);
	if (m->by & BY_CALL)
		text_copy(key.op, sizeof(key.op), op);
	if (m->by & BY_OBJECT) {
		key.dev = object->dev;
		key.id = object->id;
		key.type = object->type;
		key.name = object->name;
	}
	if (m->by & BY_SIZE)
		key.size = size_class(call->bytes);
	if (m->by & BY_CLIENT)
		key.client = call->client;
	if (m->by & BY_STACK)
		key.stack = stack_key(caller->host, call->stack);
	sum_add_call(model_find_sum(m, &key), call->duration, call->result,
		     call->bytes);
}

/**
 * model_add_call - add a call that events other than iosys reported
 * @m:		model
 * @caller:	thread; its calls are not used
 * @op:		name of the call
 * @object:	object of the call
 * @call:	times and results of the call
 */
void model_add_call(struct model *m, const struct thread *caller,
		    const char *op, const struct object *object,
		    const struct call *call)
{
	if (!(m->by & BY_CLIENT))
		model_sum_call(m, caller, op, object, call);
	if (m->log)
		log_add(m->log, caller, op, object, call);
	model_count_call(m, caller->host, call->start);
}

/**
 * model_add_pending - add a call that had not ended at the end of the trace
 * @m:		model
 * @caller:	thread
 * @op:		name of the call
 * @name:	name of its object
 * @start:	begin, ns
 * @time:	duration until the end of the trace, ns
 */
void model_add_pending(struct model *m, const struct thread *caller,
		       const char *op, const char *name, u64 start, u64 time)
{
	struct pending *p =
		model_new_pending(m, caller->host, caller->pid, start);

	p->tgid = caller->tgid;
	p->time = time;
	snprintf(p->op, sizeof(p->op), "%s", op);
	snprintf(p->comm, sizeof(p->comm), "%s", caller->comm);
	p->name = xstrdup(name);
}

/**
 * endpoint_order - compare endpoints by host, name and address
 * @a:	endpoint
 * @b:	another
 *
 * Return: less than, equal to or greater than 0, as for qsort().
 */
int endpoint_order(const struct endpoint *a, const struct endpoint *b)
{
	int order = ORDER(a->host, b->host);

	order = order ?: strcmp(a->name, b->name);
	return order ?: strcmp(a->address, b->address);
}

static int by_client(const struct endpoint *a, const struct endpoint *b)
{
	if (!a || !b)
		return !!a - !!b;
	return ORDER(a->host, b->host) ?: strcmp(a->name, b->name);
}

static int by_name(const struct sum *a, const struct sum *b)
{
	int order = ORDER(a->host, b->host);

	order = order ?: ORDER(a->tgid, b->tgid);
	order = order ?: strcmp(a->comm, b->comm);
	order = order ?: strcmp(a->name, b->name);
	order = order ?: ORDER(a->id, b->id);
	order = order ?: ORDER(a->size, b->size);
	order = order ?: by_client(a->client, b->client);
	order = order ?: ORDER(a->stack, b->stack);
	return order ?: strcmp(a->op, b->op);
}

static int by_time(const void *a, const void *b)
{
	const struct sum *x = *(struct sum *const *)a,
			 *y = *(struct sum *const *)b;

	return ORDER(y->times.sum, x->times.sum) ?: by_name(x, y);
}

static int by_age(const void *a, const void *b)
{
	const struct pending *x = *(struct pending *const *)a,
			     *y = *(struct pending *const *)b;

	return ORDER(y->time, x->time) ?: ORDER(x->pid, y->pid);
}

static int by_begin(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return ORDER(x->begin, y->begin);
}

/* CPUs lose records at the same time */
static void merge_gaps(struct host *h)
{
	u64 i, nr = 0;

	if (h->nr_gaps)
		qsort(h->gap, h->nr_gaps, sizeof(*h->gap), by_begin);
	for (i = 0; i < h->nr_gaps; i++) {
		struct gap *last = nr ? &h->gap[nr - 1] : NULL;

		if (!last || last->end < h->gap[i].begin)
			h->gap[nr++] = h->gap[i];
		else if (last->end < h->gap[i].end)
			last->end = h->gap[i].end;
	}
	h->nr_gaps = nr;
}

/**
 * host_is_lossy - whether records of a time may be lost
 * @h:		host, after its gaps were merged: they are sorted and disjoint
 * @begin:	begin of the time, ns of the host
 * @end:	its end
 */
bool host_is_lossy(const struct host *h, u64 begin, u64 end)
{
	u64 first = FIRST(i, 0, h->nr_gaps, h->gap[i].end > begin);

	return first < h->nr_gaps && h->gap[first].begin < end;
}

/**
 * model_link - find requests, causes and sums, after all files were read
 * @m:	model
 */
void model_link(struct model *m)
{
	struct pending *p;
	struct sum *sum;
	u32 i;

	for (i = 0; i < m->hosts; i++)
		merge_gaps(&m->host[i]);
	off_cpu_link(m);
	m->clocks = clocks_new(m->hosts, m->drift);
	pipes_requests(m);
	requests_messages(m->requests, m->clocks);
	clocks_finish(m->clocks);
	m->origin = axis_origin(m);
	m->flow = requests_finish(m->requests, m, &m->nr_flows);
	if (m->log) {
		m->causality = causality_new(m);
		link_parents(m);
	}
	if (m->by & BY_CLIENT)
		clients_sum(m);
	if (m->stacks)
		stacks_finish(m->stacks);
	if (m->reads)
		m->read_sum = reads_finish(m->reads, &m->nr_read_sums);
	m->sum = xzalloc((m->sums.nr + 1) * sizeof(*m->sum));
	m->pending = xzalloc((m->open.nr + 1) * sizeof(*m->pending));
	hash_for_each(&m->sums, i, sum) {
		times_finish(&sum->times);
		m->sum[m->nr++] = sum;
	}
	hash_for_each(&m->open, i, p) {
		if (!p->ended)
			m->pending[m->nr_pending++] = p;
	}
	qsort(m->sum, m->nr, sizeof(*m->sum), by_time);
	qsort(m->pending, m->nr_pending, sizeof(*m->pending), by_age);
}

/**
 * model_free - free what model_read() and model_link() allocated
 * @m:	model
 */
void model_free(struct model *m)
{
	struct pending *p;
	struct sum *sum;
	u32 i;

	hash_for_each(&m->sums, i, sum) {
		free(sum->times.time);
		free(sum->name);
	}
	hash_free(&m->sums);
	hash_for_each(&m->open, i, p)
		free(p->name);
	hash_free(&m->open);
	free(m->sum);
	free(m->pending);
	for (i = 0; i < m->hosts; i++)
		free(m->host[i].gap);
	requests_free(m->requests);
	clocks_free(m->clocks);
	causality_free(m->causality);
	reads_free(m->reads);
	free(m->read_sum);
	free(m->wakeup);
	free(m->sched_event);
	free(m->off_cpu);
	free(m->pipe_range);
	log_free(m->log);
	stacks_free(m->stacks);
}
