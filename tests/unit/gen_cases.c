// SPDX-License-Identifier: GPL-2.0
/*
 * gen_cases DIR KEEP [COMM=VALUE|/N...]: cases as tracerig watch writes them, without a
 * kernel. Each VALUE, in ns, is an alarm of the program COMM; at /N, another program removes
 * case N. MAP and MAP_ID in the
 * environment are the path and the build-id, in hexadecimal, of a file that is mapped, which
 * has the number 1. STACK is the number of a stack in it that the window has, called from
 * the address CODE, CALLS are numbers of stacks that calls of the process TGID have, as in
 * 1,7, and KNOWN is the kernel's file iosys_stacks.
 * Windows also have smaller alarms of the charts in ALSO, as in x,y. COUNT prints how many
 * cases are kept.
 * BASELINE is written to DIR/.baseline, and the cases have it; NO_LINK is the errno of link().
 * Files named NO_REMOVE cannot be removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium/utils.h>

#include "baseline.h"
#include "case.h"
#include "memory.h"
#include "store.h"
#include "tracepage.h"
#include "window.h"

#define PAGE 4096

static const char value_format[] =
	"name: ctlchart_value\nID: 77\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:u64 duration;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 limit;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:char chart[8];\toffset:24;\tsize:8;\tsigned:0;\n"
	"\nprint fmt: \"%s\", REC->chart\n";

static const char map_format[] =
	"name: io_map\nID: 78\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:__data_loc char[] path;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 build_id[20];\toffset:12;\tsize:20;\tsigned:0;\n"
	"\tfield:u8 build_id_size;\toffset:32;\tsize:1;\tsigned:0;\n"
	"\tfield:u32 id;\toffset:36;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%s\", __get_str(path)\n";

static const char stack_format[] =
	"name: io_stack\nID: 79\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:u32 id;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc u64[] frames;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%u\", REC->id\n";

static const char call_format[] =
	"name: io_syscall\nID: 80\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:u32 stack;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t tgid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"%u\", REC->stack\n";

struct stack_event {
	u16 type;
	u8 flags;
	u8 count;
	s32 pid;
	u32 id;
	u32 frames_loc;
	u64 frame[2];
};

struct call_event {
	u16 type;
	u8 flags;
	u8 count;
	s32 pid;
	u32 stack;
	s32 tgid;
};

static void add_stacks(struct tracepage *page, u64 ts)
{
	struct stack_event e = { .type = 79,
				 .frames_loc =
					 sizeof(e.frame) << 16 |
					 offsetof(struct stack_event, frame),
				 .frame = { 1ull << 63 | 1ull << 32 | 0x10 } };
	struct call_event c = { .type = 80 };
	char *stack = getenv("STACK"), *calls = getenv("CALLS");
	const char *code = getenv("CODE"), *tgid = getenv("TGID");

	c.tgid = tgid ? atoi(tgid) : 0;
	if (code)
		e.frame[1] = strtoull(code, NULL, 16);
	else
		e.frames_loc -= sizeof(e.frame[1]) << 16;
	if (stack) {
		e.id = strtoul(stack, NULL, 10);
		tracepage_event(page, ts, &e, sizeof(e));
	}
	while (calls && *calls) {
		c.stack = strtoul(calls, &calls, 10);
		tracepage_event(page, ts, &c, sizeof(c));
		calls += *calls == ',';
	}
}

struct map_event {
	u16 type;
	u8 flags;
	u8 count;
	s32 pid;
	u32 path_loc;
	u8 build_id[20];
	u8 build_id_size;
	u8 padding[3];
	u32 id;
	char path[1024];
};

static void add_map(struct tracepage *page, u64 ts)
{
	const char *path = getenv("MAP"), *id = getenv("MAP_ID");
	struct map_event e = { .type = 78, .id = 1 };
	size_t len;

	if (!path || !id)
		return;
	len = strlen(path) + 1;
	if (len > sizeof(e.path) ||
	    sodium_hex2bin(e.build_id, sizeof(e.build_id), id, strlen(id), NULL,
			   &(size_t){ 0 }, NULL))
		exit(3);
	e.build_id_size = strlen(id) / 2;
	e.path_loc = len << 16 | offsetof(struct map_event, path);
	memcpy(e.path, path, len);
	tracepage_event(page, ts, &e,
			offsetof(struct map_event, path) + (len + 3) / 4 * 4);
}

struct value_event {
	u16 type;
	u8 flags;
	u8 count;
	s32 pid;
	u64 duration;
	u64 limit;
	char chart[8];
};

/* 80 values of 1 to 80 ns on two CPUs, in turns; the alarm is at the 60th */
static void make_spool(struct reader *r)
{
	struct spool *s = &r->spool;
	struct tracepage page = { .long_size = sizeof(long), .size = PAGE };
	unsigned int cpu, i;

	s->page_size = PAGE;
	s->in_memory = 4;
	s->memory = xcalloc(4, PAGE);
	s->file = -1;
	s->cpu = xcalloc(4, sizeof(*s->cpu));
	for (cpu = 0; cpu < 2; cpu++) {
		page.data = s->memory + cpu * PAGE;
		tracepage_begin(&page, 1000);
		for (i = 1; i <= 80; i++) {
			struct value_event e = { .type = 77,
						 .duration = i,
						 .limit = 100,
						 .chart = "disk" };

			if (i % 2 == cpu)
				tracepage_event(&page, 1000 + i, &e, sizeof(e));
		}
		if (cpu)
			add_map(&page, 1080);
		else
			add_stacks(&page, 1080);
		/* The second CPU has lost three before */
		tracepage_seal(&page, cpu, 3);
		s->cpu[s->nr++] = cpu;
	}
}

static void make_reader(struct reader *r)
{
	memset(r, 0, sizeof(*r));
	r->cpus = 2;
	r->buf = xzalloc(PAGE);
	r->k = reader_kbuffer();
	r->tep = tep_alloc();
	if (tep_parse_event(r->tep, value_format, strlen(value_format),
			    "ctlchart_debug") ||
	    tep_parse_event(r->tep, map_format, strlen(map_format), "iosys") ||
	    tep_parse_event(r->tep, stack_format, strlen(stack_format),
			    "iosys") ||
	    tep_parse_event(r->tep, call_format, strlen(call_format), "iosys"))
		exit(3);
	make_spool(r);
}

/* Instead of the C library's */
int link(const char *from, const char *to)
{
	const char *error = getenv("NO_LINK");

	if (error) {
		errno = atoi(error);
		return -1;
	}
	return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int remove(const char *path)
{
	const char *name = getenv("NO_REMOVE"), *slash = strrchr(path, '/');

	if (name && slash && !strcmp(slash + 1, name)) {
		errno = EPERM;
		return -1;
	}
	return rmdir(path) && errno == ENOTDIR ? unlink(path) : 0;
}

/* The old one may be shared by cases: it is replaced */
static void make_baseline(const char *dir)
{
	const char *text = getenv("BASELINE");
	char *path = xasprintf("%s/" BASELINE_SHARED, dir);
	FILE *f;

	if (text) {
		f = fopen(path, "wx");
		if (!f || fputs(text, f) < 0 || fclose(f))
			exit(3);
	}
	free(path);
}

/* Smaller alarms of other charts, ALSO, of values from FROM on */
static void add_others(struct reader *r, const struct alarm *lead)
{
	const char *names = getenv("ALSO"), *from = getenv("FROM");
	struct alarm a = *lead;

	for (a.value = from ? strtoull(from, NULL, 10) : 101; names && *names;
	     a.value++) {
		snprintf(a.chart, sizeof(a.chart), "%.*s",
			 (int)strcspn(names, ","), names);
		a.ts++;
		alarm_list_add(&r->alarms, &a);
		names += strcspn(names, ",");
		names += *names == ',';
	}
}

/* As the watch does it; the output is for the test */
static void add_case(struct store *s, struct reader *r, u64 keep,
		     const char *comm, u64 value)
{
	struct plan_chart chart = { .name = "disk",
				    .event = "block_rq_complete",
				    .filter = "ctlchart(block_bio_queue)",
				    .paths = getenv("BASELINE") };
	struct alarm a = { .ts = 1060,
			   .start = 500,
			   .value = value,
			   .center = 10,
			   .limit = 100,
			   .values = 1234,
			   .rules = 1,
			   .pid = 42,
			   .kept = true,
			   .chart = "disk",
			   .keys = "dev=254:0 sector=8" };
	struct store_group *g;
	struct case_job job;
	char group[500];
	u64 removed;
	char *error;
	int status;

	snprintf(a.comm, sizeof(a.comm), "%s", comm);
	group_of(&a, group, sizeof(group));
	g = store_group(s, group);
	r->alarms.nr = 0;
	alarm_list_add(&r->alarms, &a);
	add_others(r, &a);
	if (!store_wants(g, value) && !store_is_worst(s, &r->alarms))
		return;
	r->nr_alarms = r->alarms.nr;
	job = (struct case_job){ .dir = s->dir,
				 .number = s->next++,
				 .group = g->name,
				 .nth = g->count,
				 .chart = &chart,
				 .chart_text = "chart: disk\n",
				 .known_stacks = getenv("KNOWN"),
				 .is_time = true,
				 .reader = r,
				 .head = open("/dev/null", O_RDONLY) };
	status = case_write(&job);
	close(job.head);
	if (status) {
		printf("case %llu: %s\n", job.number, strerror(status));
		return;
	}
	error = store_added(s, g, job.number, &removed);
	if (error)
		printf("%s\n", error);
	if (removed)
		fprintf(stderr, "case %llu replaces case %llu\n", job.number,
			removed);
	free(error);
	store_keep(s, keep);
}

int main(int argc, char **argv)
{
	struct reader r;
	struct store s;
	char *error, *value;
	int i, status;
	u64 first;

	if (argc < 3)
		return 2;
	error = store_open(&s, argv[1], true);
	if (error) {
		printf("%s\n", error);
		free(error);
		store_close(&s);
		return 1;
	}
	first = s.next;
	make_baseline(argv[1]);
	make_reader(&r);
	for (i = 3; i < argc; i++) {
		if (*argv[i] == '/') {
			char *path = xasprintf("%s%s", argv[1], argv[i]);

			store_remove(path);
			free(path);
			continue;
		}
		value = strchr(argv[i], '=');
		if (!value)
			return 2;
		*value++ = '\0';
		add_case(&s, &r, strtoull(argv[2], NULL, 10), argv[i],
			 strtoull(value, NULL, 10));
	}
	if (getenv("COUNT"))
		printf("%zu\n", store_since(&s, first));
	status = store_save(&s) ? 0 : 1;
	store_close(&s);
	reader_close(&r);
	return status;
}
