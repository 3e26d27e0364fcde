// SPDX-License-Identifier: GPL-2.0
/*
 * gen_tracedat KIND FILE [HEALTHY STORM [SEED]]
 *
 * Writes a made-up trace.dat and prints the truth about it, for tests in shell
 * and for looking at pictures. KIND: block (events of reads), alarm (what the
 * filter in the kernel leaves of them), values (what its chart tells, with gaps and
 * without a truth), big (block, big endian, 32-bit longs),
 * instance (block events in an instance "disk"), mixed (alarms of all sorts,
 * without a truth), lost (alarms that lack their limit events, without a truth),
 * learning (no alarms, and a limit event without a limit), judging (and one with it),
 * hostile (names that are markup, without a truth).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

static void mixed(struct td *td)
{
	static const struct sc_alarm_event a[] = {
		{ SC_BASE, 7012345678, 14100000, 23412345, 1000, 1, 1234,
		  "reader", true, SC_BLOCK_CHART, SC_BLOCK_EVENT,
		  "dev=8388608 sector=1234", false },
		{ 0, 7000, 0, 99, 3, 1, 5, "five", false, "lat.lat",
		  "synthetic:lat", "", false },
		{ SC_BASE + 1234567, 999, 0, UINT64_MAX, 0, 0x100, 6,
		  "a-name-of-15-by", false, "named", "#77", "k=-1", false },
		{ SC_BASE, 1500, 250, 1000, 77, 0x103, 7, "seven", true,
		  "named", "#77", "k=2", false },
	};
	size_t i;

	for (i = 0; i < sizeof(a) / sizeof(*a); i++)
		sc_alarm_event(td, 0, SC_BASE + (8 + i) * 1000000000ULL, &a[i]);
}

/*
 * Limit events are absent before the first alarm, after a change of the limit, and for a
 * chart whose key is a string, until its next one.
 */
static void lost(struct td *td)
{
	static const struct sc_alarm_event a[] = {
		{ SC_BASE, 5000000, 0, 4000000, 1, 1, 1, "one", true,
		  SC_BLOCK_CHART, SC_BLOCK_EVENT, "dev=8 sector=24", true },
		{ SC_BASE, 6000000, 0, 4000000, 2, 1, 2, "two", true,
		  SC_BLOCK_CHART, SC_BLOCK_EVENT, "dev=8 sector=24", false },
		{ SC_BASE, 7000000, 0, 4500000, 3, 1, 3, "three", true,
		  SC_BLOCK_CHART, SC_BLOCK_EVENT, "dev=8 sector=24", true },
		{ SC_BASE, 8000000, 0, 4000000, 4, 1, 4, "four", true, "named",
		  "#77", "comm=aafoo", true },
		{ SC_BASE, 9000000, 0, 4000000, 5, 1, 5, "five", true, "named",
		  "#77", "comm=aafoo", false },
	};
	size_t i;

	for (i = 0; i < sizeof(a) / sizeof(*a); i++)
		sc_alarm_event(td, 0, SC_BASE + (8 + i) * 1000000000ULL, &a[i]);
}

/* No alarms: a chart begins to learn, and has a limit if it is @drawn */
static void quiet(struct td *td, bool drawn)
{
	struct sc_alarm_event a = {
		.limit = UINT64_MAX,
		.chart = SC_BLOCK_CHART,
		.event = SC_BLOCK_EVENT,
		.keys = "dev=8 sector=24",
	};

	sc_alarm_event(td, 0, SC_BASE, &a);
	a.limit = 4000000;
	if (drawn)
		sc_alarm_event(td, 0, SC_BASE + 10000000000ULL, &a);
}

/* Alarms, and reads of 1 ms and of 1 s by a process with such a name */
static void hostile(struct td *td)
{
	static const struct sc_alarm_event a = {
		.start = SC_BASE,
		.duration = 7000000,
		.limit = 5000000,
		.values = 9,
		.rules = 1,
		.pid = 1000,
		.comm = "</script><u>",
		.kept = true,
		.chart = "\"<img src=x onerror=document.title='owned'>&amp;",
		.event = SC_BLOCK_EVENT,
		.keys = "k=</script><script>document.title='owned'</script>"
			"<!--\\u003c\xe2\x80\xa8\xff",
	};
	int i;

	td->cmdlines = "1000 </script><u>\n";
	for (i = 0; i < 10; i++) {
		uint64_t start = SC_BASE + i * 2000000000ULL;

		sc_bio_queue(td, 0, start, 1000, SC_BLOCK_DEV, 8 * i);
		sc_rq_complete(td, 0, start + (i == 7 ? 1000000000 : 1000000),
			       0, SC_BLOCK_DEV, 8 * i);
	}
	sc_alarm_event(td, 0, SC_BASE + 30000000000ULL, &a);
}

/* The events that a chart recorded of the load: 100 values studied, the others not */
static void values(struct td *td, const struct sc_load *load)
{
	unsigned int i, n = load->healthy + load->storm;

	for (i = 0; i < n; i++) {
		bool studied = i < 100;
		const struct sc_value_event v = {
			.time = SC_BASE + i * 1000000ULL,
			.start = SC_BASE + i * 1000000ULL - 14000000,
			.duration = 14000000 + i % 100 * 10000,
			.limit = studied ? 0 : 14500000,
			.order = studied ? i + 1 : 100,
			.studied = studied,
			.chart = i % 3 ? SC_BLOCK_CHART :
					 SC_BLOCK_CHART "[dev=8]",
			.event = SC_BLOCK_EVENT,
			.keys = "dev=8 sector=1234",
		};

		sc_value_event(td, i % 2, SC_BASE + (i ^ 1) * 1000000ULL, &v);
	}
}

int main(int argc, char **argv)
{
	struct td_layout layout = { .page_size = 4096, .clock = "local" };
	struct sc_load load = sc_default_load;
	static char cmdlines[1 << 14];
	struct sc_truth truth = { 0 };
	size_t len = 0;
	struct td td;
	int pid;

	if (argc != 3 && argc != 5 && argc != 6) {
		fprintf(stderr,
			"usage: gen_tracedat block|alarm|values|big|instance|mixed|lost|learning|judging|hostile FILE [HEALTHY STORM [SEED]]\n");
		return 2;
	}
	if (argc >= 5) {
		load.healthy = atoi(argv[3]);
		load.storm = atoi(argv[4]);
	}
	if (argc == 6)
		load.seed = atoi(argv[5]);
	if (load.healthy < 12000) {
		load.gap = load.step;
		load.healthy = load.healthy < 110 ? 110 : load.healthy;
	}
	if (!strcmp(argv[1], "big")) {
		layout.big_endian = true;
		layout.long4 = true;
	}
	td_init(&td, &layout, 2);
	for (pid = 1000; pid < 1300; pid++)
		len += snprintf(cmdlines + len, sizeof(cmdlines) - len,
				"%d reader-%d\n", pid, pid);
	td.cmdlines = cmdlines;
	sc_formats(&td, true);
	if (!strcmp(argv[1], "values"))
		sc_value_format(&td);
	if (!strcmp(argv[1], "alarm"))
		sc_alarms(&td, &load, &truth);
	else if (!strcmp(argv[1], "values"))
		values(&td, &load);
	else if (!strcmp(argv[1], "mixed"))
		mixed(&td);
	else if (!strcmp(argv[1], "lost"))
		lost(&td);
	else if (!strcmp(argv[1], "learning") || !strcmp(argv[1], "judging"))
		quiet(&td, argv[1][0] == 'j');
	else if (!strcmp(argv[1], "hostile"))
		hostile(&td);
	else if (!strcmp(argv[1], "instance"))
		sc_block(&td, td_add_buffer(&td, "disk"), &load, &truth);
	else
		sc_block(&td, 0, &load, &truth);
	if (!td_finish(&td, argv[2]))
		return 1;
	/* lines are whole ns, as in an alarm event */
	printf("values=%u\nlearnt=%u\nalarms=%u\ncenter=%.0Lf\nlimit=%.0Lf\nworst=%llu\n",
	       truth.values, truth.learnt, truth.alarms, floorl(truth.center),
	       floorl(truth.ucl), (unsigned long long)truth.worst[0].duration);
	sc_free(&truth);
	return 0;
}
