// SPDX-License-Identifier: GPL-2.0
/* ioreq: times off the CPU at the ends of a span. */
#include <linux/kernel.h>
#include <stdlib.h>

#include "link.h"
#include "suite.h"

#define PID 7

static void happen(struct model *m, u64 time, enum sched_what what)
{
	GROW(m->sched_event, m->sched_events, m->sched_room);
	m->sched_event[m->sched_events] =
		(struct sched_event){ .time = time,
				      .number = m->sched_events,
				      .pid = PID,
				      .what = what };
	m->sched_events++;
}

/* Off the CPU from 100 to 200, awake from 150 on, and from 300 to 400 */
static const struct {
	u64 from, to;
	struct off_cpu want[2];
} spans[] = {
	{ 0,
	  500,
	  { { .begin = 100, .runnable = 150, .end = 200 },
	    { .begin = 300, .runnable = 300, .end = 400 } } },
	/* The span ends while the thread is off, or begins then */
	{ 0, 120, { { .begin = 100, .runnable = 120, .end = 120 } } },
	{ 160,
	  350,
	  { { .begin = 160, .runnable = 160, .end = 200 },
	    { .begin = 300, .runnable = 300, .end = 350 } } },
	{ 310, 320, { { .begin = 310, .runnable = 310, .end = 320 } } },
	{ 200, 300, { { 0 } } },
	{ 150, 150, { { 0 } } },
};

START_TEST(span)
{
	struct model m = { 0 };
	struct off_cpu got;
	u64 from = spans[_i].from;
	size_t i;

	happen(&m, 100, SCHED_LEFT_BLOCKED);
	happen(&m, 150, SCHED_WOKEN);
	happen(&m, 200, SCHED_CAME);
	happen(&m, 300, SCHED_LEFT_RUNNABLE);
	happen(&m, 400, SCHED_CAME);
	off_cpu_link(&m);
	for (i = 0; i < 2 && spans[_i].want[i].end; i++) {
		ck_assert(off_cpu_next(&m, 0, PID, &from, spans[_i].to, &got));
		ck_assert_uint_eq(got.begin, spans[_i].want[i].begin);
		ck_assert_uint_eq(got.runnable, spans[_i].want[i].runnable);
		ck_assert_uint_eq(got.end, spans[_i].want[i].end);
	}
	ck_assert(!off_cpu_next(&m, 0, PID, &from, spans[_i].to, &got));
	free(m.off_cpu);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("off_cpu");
	TCase *tc = tcase_create("off_cpu");

	tcase_add_loop_test(tc, span, 0, ARRAY_SIZE(spans));
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
