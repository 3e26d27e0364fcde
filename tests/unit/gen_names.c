// SPDX-License-Identifier: GPL-2.0
/*
 * gen_names FILE.dat HOW: executions of ksys_read by process 130, which is called g4.sh at
 * first, and then wl: after an exec, a rename, or as sched_switch says (HOW). The slow ones
 * come after that, and in them the CPU runs hog for a while, which a fork has made as
 * g4.sh and which was renamed.
 */
#include <stdio.h>
#include <string.h>

#include "graphdat.h"

static void read_once(struct gd *gd, uint64_t away)
{
	gd_enter(gd, gd_function("ksys_read"));
	gd_call(gd, gd_function("vfs_read"), 20000);
	if (away) {
		gd->prev_comm = "wl";
		gd->next_comm = "hog";
		gd_switch(gd, 130, 0, 131);
		gd->now += away;
		gd->prev_comm = "hog";
		gd->next_comm = "wl";
		gd_switch(gd, 131, 0, 130);
		gd->prev_comm = gd->next_comm = NULL;
	}
	gd_leave(gd);
	gd->now += 10000;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "ksys_read", "vfs_read", NULL };
	static const struct td_layout layout = { .page_size = 4096,
						 .clock = "local" };
	static struct td td;
	static struct gd gd;
	int i;

	if (argc != 3)
		return 2;
	td_init(&td, &layout, 1);
	td.cmdlines = "130 g4.sh\n131 g4.sh\n";
	gd_init(&gd, &td, names, 2);
	gd.pid = 130;
	gd.next_comm = "g4.sh";
	gd_switch(&gd, 1, 1, 130);
	gd.next_comm = NULL;
	gd_fork(&gd, "g4.sh", 131);
	for (i = 0; i < 200; i++)
		read_once(&gd, 0);
	if (!strcmp(argv[2], "exec"))
		gd_exec(&gd, "/usr/bin/wl");
	else if (!strcmp(argv[2], "rename"))
		gd_rename(&gd, "wl");
	for (i = 0; i < 200; i++)
		read_once(&gd, i % 20 == 19 && strcmp(argv[2], "none") ?
				       25000000 :
				       0);
	return !td_finish(&td, argv[1]);
}
