// SPDX-License-Identifier: GPL-2.0
/* The parts of an operation's time. See explain.h. */
#include <json-c/json.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "memory.h"

/* A stretch that continues the last one of its part extends that */
static void add_stretch(struct execution *e, const char *key, u64 from, u64 to,
			u32 cpu)
{
	struct stretch *last = e->stretch + e->stretches;

	if (e->stretches && last[-1].key == key && last[-1].to == from &&
	    last[-1].cpu == cpu) {
		last[-1].to = to;
		return;
	}
	GROW(e->stretch, e->stretches, e->stretch_room);
	e->stretch[e->stretches++] = (struct stretch){ from, to, key, cpu };
}

/**
 * execution_add - add a stretch of time to an execution
 * @e: the execution; what is not in it is left out
 * @kind: what the time is
 * @key: what makes stretches one part
 * @name: of the part, if this is the longest stretch
 * @detail: its evidence
 * @from: when it begins
 * @to: when it ends
 * @cpu: where
 */
void execution_add(struct execution *e, enum part_kind kind, const char *key,
		   const char *name, const char *detail, u64 from, u64 to,
		   u32 cpu)
{
	struct part *p;
	size_t i;

	from = max(from, e->start);
	to = min(to, e->end);
	if (to <= from)
		return;
	for (i = 0; i < e->nr && strcmp(e->part[i].key, key) != 0;)
		i++;
	if (i == e->nr) {
		GROW(e->part, e->nr, e->room);
		e->part[e->nr++] =
			(struct part){ .kind = kind, .key = xstrdup(key) };
	}
	p = &e->part[i];
	p->ns += to - from;
	add_stretch(e, p->key, from, to, cpu);
	if (to - from <= p->longest)
		return;
	p->longest = to - from;
	p->at = from;
	p->cpu = cpu;
	free(p->name);
	free(p->detail);
	p->name = xstrdup(name);
	p->detail = xstrdup(detail);
}

/**
 * explain_add - add a stretch of time to all executions of a thread
 * @x: the executions
 * @pid: the thread
 * @kind: what the time is
 * @key: what makes stretches one part
 * @name: of the part, if this is the longest stretch
 * @detail: its evidence
 * @from: when it begins
 * @to: when it ends
 * @cpu: where
 */
void explain_add(struct explain *x, s32 pid, enum part_kind kind,
		 const char *key, const char *name, const char *detail,
		 u64 from, u64 to, u32 cpu)
{
	size_t i;

	if (x->op.pid == pid)
		execution_add(&x->op, kind, key, name, detail, from, to, cpu);
	for (i = 0; i < x->nr_normal; i++) {
		if (x->normal[i].pid == pid)
			execution_add(&x->normal[i], kind, key, name, detail,
				      from, to, cpu);
	}
}

static void free_part(struct part *p)
{
	free(p->key);
	free(p->name);
	free(p->detail);
}

static void free_execution(struct execution *e)
{
	size_t i;

	for (i = 0; i < e->nr; i++)
		free_part(&e->part[i]);
	free(e->part);
	free(e->stretch);
}

/**
 * explain_free - free what is in it
 * @x: it
 */
void explain_free(struct explain *x)
{
	size_t i;

	json_object_put(x->charts);
	x->charts = NULL;
	free_execution(&x->op);
	for (i = 0; i < x->nr_normal; i++)
		free_execution(&x->normal[i]);
	for (i = 0; i < x->nr_doubts; i++)
		free(x->doubt[i]);
	for (i = 0; i < x->nr_remarks; i++)
		free(x->remark[i]);
	for (i = 0; i < x->nr_findings; i++) {
		free_part(&x->finding[i].part);
		free(x->finding[i].who);
	}
	free(x->finding);
	for (i = 0; i < ANALYZERS; i++) {
		free(x->analysis[i].trouble);
		json_object_put(x->analysis[i].result);
	}
}
