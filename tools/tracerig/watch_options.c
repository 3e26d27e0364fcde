// SPDX-License-Identifier: GPL-2.0
/* tracerig watch: the command line. */
#include <argp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "http.h"
#include "memory.h"
#include "operand.h"
#include "reader.h"
#include "rig.h"
#include "tracerig.h"
#include "watch.h"

#define SECOND 1000000000ull

enum {
	OPT_FOR = 0x100,
	OPT_ON_ALARM,
	OPT_INTERVAL,
	OPT_STOP_AFTER,
	OPT_KEEP,
	OPT_BUFFER,
	OPT_LIMITS,
	OPT_SAVE_LIMITS,
	OPT_METRICS,
	OPT_PATHS,
	OPT_PRINT,
};

static const struct argp_option options[] = {
	{ "event", 'e', "EVENT", 0,
	  "Record EVENT (SYSTEM:EVENT) around alarms as well, or with -f chart it",
	  1 },
	{ "filter", 'f', "FILTER", 0,
	  "Filter of the -e before it, with a ctlchart() call", 1 },
	{ "paths", OPT_PATHS, NULL, 0,
	  "Record which functions each function:NAME and syscall:NAME calls, to name the slow one",
	  1 },
	{ "dir", OPT_DIR, "DIR", 0, "Directory of the cases (" CASES_DIR ")",
	  2 },
	{ "for", OPT_FOR, "TIME", 0, "End after TIME, such as 90s, 8h or 7d",
	  2 },
	{ "stop-after", OPT_STOP_AFTER, "N", 0,
	  "End after N cases, including those that are only counted", 2 },
	{ "keep", OPT_KEEP, "SIZE", 0,
	  "Remove the least interesting cases when all together are larger (1G)",
	  2 },
	{ "buffer", OPT_BUFFER, "SIZE", 0,
	  "Ring buffer of each CPU, which must hold the windows (4M)", 2 },
	{ "on-alarm", OPT_ON_ALARM, "CMD", 0,
	  "Run the shell command CMD for each case, with the case in its environment",
	  3 },
	{ "interval", OPT_INTERVAL, "TIME", 0,
	  "Start CMD at most once in TIME (10s)", 3 },
	{ "metrics", OPT_METRICS, "FILE|ADDRESS:PORT", 0,
	  "Write metrics to FILE for Prometheus (node_exporter's textfile collector), or offer them at http://ADDRESS:PORT/metrics; :PORT means all addresses",
	  3 },
	{ "limits", OPT_LIMITS, "FILE", 0,
	  "Load limits from FILE, of ctlchart save or --save-limits, instead of learning",
	  4 },
	{ "save-limits", OPT_SAVE_LIMITS, "FILE", 0,
	  "Save the limits to FILE when the watch ends", 4 },
	{ "print", OPT_PRINT, NULL, 0,
	  "Print the echo and trace-cmd commands that record the same, and exit",
	  5 },
	{ 0 }
};

static const char doc[] =
	"Learn what is usual, wait, and keep a case for each alarm.\n\n"
	"PRESET is one of\n"
	"  disk                 block I/O, from queueing to completion\n"
	"  wakeup               from the wake-up of a thread until it runs\n"
	"  syscall:NAME         a system call\n"
	"  function:NAME        a function of the kernel\n"
	"  uprobe:FILE:SYMBOL   a function of a program or library\n"
	"  request:PORT         a request to a server at a TCP port\n"
	"\v"
	"It needs root and a kernel with ctlchart(); tracerig doctor shows what is "
	"missing. It uses a trace instance of its own, and removes it at the end; the next "
	"watch removes that of a killed one.\n"
	"\n"
	"CMD gets TRACERIG_CASE (0 if the case is not kept), _DIR, _LIKE, _ALIKE, "
	"_CHART, _VALUE, _LIMIT, _UNIT, _PID, _COMM, _KEYS, _ALARMS, _GROUP, _MESSAGE, "
	"_SKIPPED and _ERROR.\n"
	"\n"
	"Examples:\n"
	"  tracerig watch disk --for 7d --on-alarm ./page.sh\n"
	"  tracerig watch syscall:fsync function:vfs_read --stop-after 10\n"
	"  tracerig watch syscall:fsync --paths\n"
	"  tracerig watch uprobe:/usr/lib/x86_64-linux-gnu/libc.so.6:getaddrinfo\n"
	"  tracerig watch request:8080 --for 8h\n"
	"  tracerig watch -e net:net_dev_xmit \\\n"
	"    -f 'ctlchart(net_dev_queue, skbaddr, pre=50ms)' -e napi:napi_poll\n"
	"  tracerig watch disk wakeup --limits good.limits --print\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error, 3 ended as asked, but something "
	"is missing, such as the limit of a chart that was still learning.\n";

static void check(char *error, struct argp_state *state)
{
	if (error)
		argp_error(state, "%s", error);
}

/* An -e without -f: its event is recorded around alarms */
static void end_event(struct watch_options *o, struct argp_state *state)
{
	if (o->event)
		check(plan_context(&o->plan, o->event), state);
	o->event = NULL;
}

static void finish(struct watch_options *o, struct argp_state *state)
{
	end_event(o, state);
	if (!o->plan.nr_charts)
		argp_error(
			state,
			"nothing to watch: name a preset, such as disk, or -e and -f");
	if (o->paths)
		check(plan_paths(&o->plan), state);
	plan_common(&o->plan);
}

static void set_metrics(struct watch_options *o, char *arg,
			struct argp_state *state)
{
	const char *error = NULL;

	o->metrics = cli_file(state, "metrics", arg);
	if (http_is_address(arg))
		error = http_check(arg);
	if (error)
		argp_error(state, "--metrics=%s: %s", arg, error);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct watch_options *o = state->input;

	switch (key) {
	case 'e':
		end_event(o, state);
		o->event = arg;
		return 0;
	case 'f':
		if (!o->event)
			argp_error(state,
				   "-f must follow the -e that it belongs to");
		check(plan_filter(&o->plan, o->event, arg), state);
		o->event = NULL;
		return 0;
	case OPT_DIR:
		o->dir = cli_file(state, "dir", arg);
		return 0;
	case OPT_FOR:
		o->duration = cli_time(state, "for", arg, 1);
		return 0;
	case OPT_ON_ALARM:
		if (!arg[strspn(arg, " \t\n")])
			argp_error(state, "--on-alarm: the command is empty");
		o->on_alarm = arg;
		return 0;
	case OPT_INTERVAL:
		o->interval = cli_time(state, "interval", arg, 0);
		return 0;
	case OPT_STOP_AFTER:
		o->stop_after =
			cli_number(state, "stop-after", arg, 1, UINT64_MAX);
		return 0;
	case OPT_KEEP:
		o->keep = cli_size(state, "keep", arg, 1 << 20);
		return 0;
	case OPT_BUFFER:
		o->buffer = cli_size(state, "buffer", arg, 1 << 20);
		return 0;
	case OPT_LIMITS:
		o->limits = cli_file(state, "limits", arg);
		return 0;
	case OPT_SAVE_LIMITS:
		o->save_limits = cli_file(state, "save-limits", arg);
		return 0;
	case OPT_METRICS:
		set_metrics(o, arg, state);
		return 0;
	case OPT_PATHS:
		o->paths = true;
		return 0;
	case OPT_PRINT:
		o->print = true;
		return 0;
	case ARGP_KEY_ARG:
		end_event(o, state);
		check(plan_preset(&o->plan, arg), state);
		return 0;
	case ARGP_KEY_END:
		finish(o, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/**
 * watch_main - the command watch
 * @argc: as of main()
 * @argv: the same, the first one a name for messages
 *
 * Return: the exit status.
 */
int watch_main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "[PRESET...]", doc,
					  NULL,	   NULL,  NULL };
	struct watch_options o = { .dir = CASES_DIR,
				   .interval = 10 * SECOND,
				   .keep = 1ull << 30,
				   .buffer = 4ull << 20 };
	int status = EXIT_SUCCESS;

	/* In order, because -f belongs to the -e before it */
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o);
	if (o.print) {
		plan_print(&o.plan, stdout, o.buffer,
			   rig_has_event("sched", "sched_switch") ?
				   rig_has_event :
				   NULL);
	} else if ((o.limits && complained(limits_check_load(o.limits))) ||
		   (o.save_limits &&
		    complained(limits_check_save(o.save_limits))) ||
		   complained(reader_room())) {
		status = EXIT_FAILURE;
	} else {
		status = watch_run(&o);
	}
	plan_free(&o.plan);
	return status;
}
