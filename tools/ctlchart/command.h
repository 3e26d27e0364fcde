/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ctlchart: its commands, and the options that they share.
 */
#ifndef CTLCHART_COMMAND_H
#define CTLCHART_COMMAND_H

#include <argp.h>

#include "ctlchart.h"

/* CPU seconds in which reading must make progress */
#define IDLE_CPU 60

/**
 * struct options - the command line
 * @report:	the report, with its options
 * @output:	file to write to, or NULL
 * @call:	the charts of -e and -f
 * @nr_calls:	number of @call
 * @event:	the last -e, if no -f has followed
 * @around:	in a page, number of events on each side of an alarm
 */
struct options {
	struct report report;
	const char *output;
	struct call call[MAX_CALLS];
	size_t nr_calls;
	const char *event;
	size_t around;
};

enum {
	OPT_FORMAT = 0x100,
	OPT_WORST,
	OPT_INSTANCE,
	OPT_CHART,
	OPT_LINEAR,
	OPT_GRID,
	OPT_AROUND,
	OPT_TRACEFS,
	OPT_KEEP_FILTER,
};

/* Help texts of -e and -f */
#define HELP_EVENT                                             \
	"Chart EVENT (system:event) of an ordinary trace, by " \
	"the filter of the -f after it"
#define HELP_FILTER                                               \
	"The filter, written as for trace-cmd record: "           \
	"'ctlchart(START, KEY..., option=value...)' or "          \
	"'ctlchart(FIELD, ...)', with TERMS && before it and && " \
	"TERMS after it, in libtraceevent's syntax"

error_t options_parse(int key, char *arg, struct argp_state *state,
		      struct options *o);
void options_call(struct call *call, const char *event, const char *filter);
void options_free(struct options *o);

int sim_main(int argc, char **argv);
int save_main(int argc, char **argv);
int load_main(int argc, char **argv);

#endif
