// SPDX-License-Identifier: GPL-2.0
/*
 * gen_metrics GROUPS [ADDRESS:PORT|FILE]: metrics as tracerig watch writes them, without a
 * kernel. Case group i, from 1, has i cases. With an address, offer them there until
 * killed, as the watch's loop does; with a file, write it for each line of standard input.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "http.h"
#include "memory.h"
#include "notify.h"

static void serve(const char *address, const struct metrics *m)
{
	struct http *http;
	char *error = http_open(&http, address, m);
	struct pollfd fd = { .fd = http_fd(http), .events = POLLIN };

	if (error) {
		fprintf(stderr, "%s\n", error);
		exit(1);
	}
	for (;;) {
		poll(&fd, 1, 1000);
		http_run(http);
	}
}

static bool write_file(const char *path, const struct metrics *m)
{
	char line[16], *error;

	while (fgets(line, sizeof(line), stdin)) {
		error = metrics_write(m, path);
		if (error) {
			fprintf(stderr, "%s\n", error);
			free(error);
			return false;
		}
		puts("written");
		fflush(stdout);
	}
	return true;
}

int main(int argc, char **argv)
{
	struct plan p = { .nr_charts = 5,
			  .chart = { { .name = "disk" },
				     { .name = "q\"\\\n" },
				     { .name = "new" },
				     { .name = "fixed" },
				     { .name = "parts" } } };
	struct rig_chart chart[] = {
		{ .has_limit = true,
		  .has_center = true,
		  .is_time = true,
		  .center = 6100000,
		  .limit = 1042900000,
		  .learnt = 100,
		  .values = 500,
		  .alarms = 3 },
		{ .has_limit = true, .limit = 40, .values = 7, .missed = 4 },
		{ .learnt = 30 },
		{ .by = true, .has_limit = true, .limit = 20 },
		{ .by = true,
		  .has_limit = true,
		  .has_center = true,
		  .charts = 4,
		  .limits = 2,
		  .part = { { .name = "parts[dev=8:0]" },
			    { .name = "parts[dev=8:16]" },
			    { .name = "parts[dev=8:16]",
			      .has_limit = true,
			      .center = 5,
			      .limit = 9 },
			    { .name = "parts[dev=8:16]",
			      .has_limit = true,
			      .center = 6,
			      .limit = 10 } },
		  .shared = { .name = "parts[]",
			      .has_limit = true,
			      .center = 7,
			      .limit = 11 } },
	};
	struct store_group *g;
	struct store s = { .lock = -1 };
	struct metrics m = {
		.plan = &p, .chart = chart, .kept = 2, .lost = 9, .store = &s
	};
	bool good = true;
	unsigned int i, nr = argc > 1 ? atoi(argv[1]) : 0;

	for (i = 1; i <= nr; i++) {
		char *name = xasprintf("disk \"%u\\", i);

		g = store_group(&s, name);
		g->count += i;
		g->first = i;
		free(name);
	}
	if (argc < 3)
		metrics_print(&m, stdout);
	else if (http_is_address(argv[2]))
		serve(argv[2], &m);
	else
		good = write_file(argv[2], &m);
	store_close(&s);
	return !good;
}
