// SPDX-License-Identifier: GPL-2.0
/*
 * Times in which threads were not on a CPU, from sched_switch and sched_waking: a thread
 * that left its CPU blocked sleeps until it is woken, and then waits for a CPU; one that
 * left it runnable waits for a CPU all the time. Without sched_waking, the wait for a CPU
 * is part of the sleep.
 */
#include <stdlib.h>

#include "link.h"
#include "order.h"

static int by_thread(const void *a, const void *b)
{
	const struct sched_event *x = a, *y = b;
	int order = ORDER(x->host, y->host);

	order = order ?: ORDER(x->pid, y->pid);
	order = order ?: ORDER(x->time, y->time);
	return order ?: ORDER(x->number, y->number);
}

/* @left: when the thread left its CPU; @woken: the waking after that, or NULL */
static void add_off_cpu(struct model *m, const struct sched_event *left,
			const struct sched_event *woken,
			const struct sched_event *came)
{
	bool blocked = left->what == SCHED_LEFT_BLOCKED;
	u64 runnable = blocked ? came->time : left->time;

	if (blocked && woken)
		runnable = woken->time;
	m->off_cpu[m->nr_off_cpu++] = (struct off_cpu){
		.host = left->host,
		.pid = left->pid,
		.begin = left->time,
		.runnable = runnable,
		.end = came->time,
		.waker = blocked && woken ? woken->waker : NULL,
	};
}

/**
 * off_cpu_link - find the times in which threads were not on a CPU
 * @m:	model, after all files were read
 */
void off_cpu_link(struct model *m)
{
	const struct sched_event *left = NULL, *woken = NULL;
	u64 i;

	m->off_cpu = xzalloc((m->sched_events + 1) * sizeof(*m->off_cpu));
	if (m->sched_events)
		qsort(m->sched_event, m->sched_events, sizeof(*m->sched_event),
		      by_thread);
	for (i = 0; i < m->sched_events; i++) {
		const struct sched_event *e = &m->sched_event[i];

		if (left && (left->host != e->host || left->pid != e->pid))
			left = NULL;
		switch (e->what) {
		case SCHED_LEFT_BLOCKED:
		case SCHED_LEFT_RUNNABLE:
			left = e;
			woken = NULL;
			break;
		case SCHED_WOKEN:
			if (left && !woken)
				woken = e;
			break;
		case SCHED_CAME:
			if (left)
				add_off_cpu(m, left, woken, e);
			left = NULL;
			break;
		}
	}
	free(m->sched_event);
	m->sched_event = NULL;
}

static int by_end(const struct off_cpu *x, const struct off_cpu *y)
{
	int order = ORDER(x->host, y->host);

	order = order ?: ORDER(x->pid, y->pid);
	return order ?: ORDER(x->end, y->end);
}

/* Index of the first time of a thread that ends after a time, or of what follows it */
static u64 first_after(const struct model *m, u32 host, s32 pid, u64 time)
{
	const struct off_cpu key = { .host = host, .pid = pid, .end = time };

	return FIRST(i, 0, m->nr_off_cpu, by_end(&m->off_cpu[i], &key) > 0);
}

/**
 * off_cpu_next - the next time in which a thread was not on a CPU
 * @m:		model, after off_cpu_link()
 * @host:	number of the host
 * @pid:	thread
 * @from:	begin of the span to look at, ns of the host; set to the end of the time
 *		that is found
 * @to:		end of the span
 * @found:	set to that time, cut to the span
 *
 * Return: whether there is one.
 */
bool off_cpu_next(const struct model *m, u32 host, s32 pid, u64 *from, u64 to,
		  struct off_cpu *found)
{
	u64 i = first_after(m, host, pid, *from);

	/* The one before may go on after the span */
	if (i == m->nr_off_cpu || *from >= to)
		return false;
	*found = m->off_cpu[i];
	if (found->host != host || found->pid != pid || found->begin >= to)
		return false;
	if (found->begin < *from)
		found->begin = *from;
	if (found->end > to)
		found->end = to;
	if (found->runnable < found->begin)
		found->runnable = found->begin;
	if (found->runnable > found->end)
		found->runnable = found->end;
	*from = found->end;
	return true;
}

/**
 * off_cpu_known - whether it is known when threads of a host were on a CPU
 * @m:		model, after off_cpu_link()
 * @host:	number of the host
 * @from:	begin of the span in question, ns of the host
 * @to:		end of the span
 *
 * Return: whether sched_switch was recorded, and no records were lost in the span.
 */
bool off_cpu_known(const struct model *m, u32 host, u64 from, u64 to)
{
	const struct host *h = &m->host[host];

	return h->switches && !host_is_lossy(h, from, to);
}
