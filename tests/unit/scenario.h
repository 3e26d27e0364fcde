/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Traces made up for tests, with the truth about them: what a chart of them
 * must say, computed from what went in and by chart_ref.h.
 */
#ifndef TESTS_SCENARIO_H
#define TESTS_SCENARIO_H

#include "tracedat.h"

#define SC_BASE 1000000000000ULL /* when all traces begin, ns */
#define SC_WORST 10
#define SC_BLOCK_CHART "block_bio_queue->block_rq_complete"
#define SC_BLOCK_EVENT "block:block_rq_complete"
#define SC_BLOCK_DEV 8388608u

/**
 * struct sc_load - reads of a disk
 * @seed: of the random durations
 * @healthy: reads of about 14 ms
 * @storm: reads thereafter, a tenth of which takes 0.5 to 8 s
 * @gap: time from one completion to the next, ns
 * @step: a value for Phase I is due each @step ns, 0 for all; multiple of @gap
 * @group: n of the chart
 * @groups: k of the chart
 * @median: limit=median
 * @linear: scale=linear
 */
struct sc_load {
	uint64_t seed;
	unsigned int healthy;
	unsigned int storm;
	uint64_t gap;
	uint64_t step;
	int group;
	int groups;
	bool median;
	bool linear;
};

extern const struct sc_load sc_default_load;

/* One alarm that the chart of a load must give */
struct sc_alarm {
	uint64_t time;
	uint64_t start;
	uint64_t duration;
	int pid;
	uint64_t sector;
};

struct sc_truth {
	unsigned int values; /* pairs */
	unsigned int learnt; /* before there was a limit */
	unsigned int alarms;
	long double center;
	long double ucl;
	struct sc_alarm *alarm; /* in order of time */
	struct sc_alarm worst[SC_WORST];
};

void sc_formats(struct td *td, bool with_alarms);
void sc_block(struct td *td, unsigned int buffer, const struct sc_load *load,
	      struct sc_truth *truth);
void sc_alarms(struct td *td, const struct sc_load *load,
	       struct sc_truth *truth);
void sc_free(struct sc_truth *truth);

/* single events, for traces that are put together by hand */
void sc_bio_queue(struct td *td, unsigned int cpu, uint64_t ts, int pid,
		  unsigned int dev, uint64_t sector);
void sc_rq_complete(struct td *td, unsigned int cpu, uint64_t ts, int pid,
		    unsigned int dev, uint64_t sector);
void sc_lat(struct td *td, unsigned int cpu, uint64_t ts, int pid, int64_t lat);
void sc_waking(struct td *td, unsigned int cpu, uint64_t ts, int pid,
	       const char *comm, int target);
void sc_switch(struct td *td, unsigned int cpu, uint64_t ts, int prev,
	       const char *next_comm, int next);

/**
 * struct sc_alarm_event - a record of ctlchart:ctlchart_alarm
 * @comm: NULL for a record of ctlchart_limit alone
 * @silent: without a record of ctlchart_limit, even if one would be written
 *
 * The rest as in the two events. Charts are numbered from 1 on, in the order of
 * their first alarms since sc_formats().
 */
struct sc_alarm_event {
	uint64_t start, duration, center, limit, values;
	uint32_t rules;
	int pid;
	const char *comm;
	bool kept;
	const char *chart, *event, *keys;
	bool silent;
};

void sc_alarm_event(struct td *td, unsigned int cpu, uint64_t ts,
		    const struct sc_alarm_event *a);

/**
 * struct sc_value_event - a record of ctlchart_debug:ctlchart_value
 * @limit: 0 for none
 *
 * The rest as in the event.
 */
struct sc_value_event {
	uint64_t time, start, duration, limit;
	uint32_t order, rules;
	int studied;
	bool kept;
	const char *chart, *event, *keys;
};

void sc_value_format(struct td *td);
void sc_value_event(struct td *td, unsigned int cpu, uint64_t ts,
		    const struct sc_value_event *v);

#endif
