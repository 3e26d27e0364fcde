// SPDX-License-Identifier: GPL-2.0
/* A trace with blocks. */
#include <stdlib.h>
#include <string.h>

#include "schedz.h"
#include "tracefile.h"

int tracecmd_cpus(struct tracecmd_input *handle); /* has no header */

/**
 * trace_open - open a trace, and find its blocks
 * @t: filled in; trace_close() is needed in any case
 * @g: the guard
 * @file: its path
 * @instance: the trace instance to read; NULL for the main one, and a note then lists
 *	the others
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int trace_open(struct trace *t, struct guard *g, const char *file,
	       const char *instance)
{
	const struct tracefile_info *info;
	struct tracefile_error error;
	int cpus, status;
	u32 cpu;
	size_t i;

	memset(t, 0, sizeof(*t));
	t->guard = g;
	t->file = file;
	t->records = records_open_clock(g, file, instance);
	if (!t->records)
		return EXIT_FAILURE;
	records_quiet(t->records);
	info = records_outline(t->records);
	if (info->tsc)
		return guard_fail(
			g, GUARD_NOWHERE,
			"has times that were converted from a counter's, but the times in blocks were not: record with another clock");
	snprintf(t->clock, sizeof(t->clock), "%s", info->clock);
	t->ticks = !tracefile_clock(info, &error);
	t->handle = records_handle(t->records);
	t->tep = records_tep(t->records);
	cpus = tracecmd_cpus(t->handle);
	if (cpus < 1 || cpus > 65536)
		return guard_fail(g, GUARD_NOWHERE, "damaged: %d CPUs", cpus);
	t->cpus = cpus;
	status = records_expand(t->records, true);
	t->blocks = records_blocks(t->records);
	for (cpu = 0; cpu < t->blocks->cpus; cpu++) {
		for (i = 1; i < t->blocks->stream[cpu].nr; i++)
			t->lost += blocks_gap(&t->blocks->stream[cpu], i);
	}
	return status;
}

void trace_close(struct trace *t)
{
	records_close(t->records);
}
