// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphdat.h"

enum {
	ID_STACK = 4,
	ID_EXIT = 10,
	ID_ENTRY = 11,
	ID_LOCK = 401,
	ID_UNLOCK = 402,
	ID_IRQ = 501,
	ID_IRQ_EXIT = 502,
	ID_SOFTIRQ = 503,
	ID_SOFTIRQ_EXIT = 504,
};

/* As in Linux 6.12, packed; print formats are shortened. */
static const char entry[] =
	"name: funcgraph_entry\nID: 11\nformat:\n" TD_COMMON
	"\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"--> %ps (%d)\", (void *)REC->func, REC->depth\n";

static const char leave[] =
	"name: funcgraph_exit\nID: 10\nformat:\n" TD_COMMON
	"\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long retval;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:int depth;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned int overrun;\toffset:28;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long long calltime;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long long rettime;\toffset:40;\tsize:8;\tsigned:0;\n"
	"\nprint fmt: \"<-- %ps (%d)\", (void *)REC->func, REC->depth\n";

static const char stack[] =
	"name: kernel_stack\nID: 4\nformat:\n" TD_COMMON
	"\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned long caller[];\toffset:16;\tsize:0;\tsigned:0;\n"
	"\nprint fmt: \"%d\", REC->size\n";

static const char lock[] =
	"name: contention_begin\nID: 401\nformat:\n" TD_COMMON
	"\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int flags;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%p\", REC->lock_addr\n";

static const char unlock[] =
	"name: contention_end\nID: 402\nformat:\n" TD_COMMON
	"\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:int ret;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"%p\", REC->lock_addr\n";

static const char irq[] =
	"name: irq_handler_entry\nID: 501\nformat:\n" TD_COMMON
	"\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"irq=%d name=%s\", REC->irq, __get_str(name)\n";

static const char irq_exit[] =
	"name: irq_handler_exit\nID: 502\nformat:\n" TD_COMMON
	"\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:int ret;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"irq=%d\", REC->irq\n";

static const char softirq[] =
	"name: softirq_entry\nID: 503\nformat:\n" TD_COMMON
	"\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"vec=%u\", REC->vec\n";

static const char softirq_exit[] =
	"name: softirq_exit\nID: 504\nformat:\n" TD_COMMON
	"\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"vec=%u\", REC->vec\n";

#define ID_EXEC 510
#define ID_RENAME 511
#define ID_FORK 512

static const char exec[] =
	"name: sched_process_exec\nID: 510\nformat:\n" TD_COMMON
	"\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"pid=%d\", REC->pid\n";

static const char task_rename[] =
	"name: task_rename\nID: 511\nformat:\n" TD_COMMON
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:char oldcomm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
	"\tfield:char newcomm[16];\toffset:28;\tsize:16;\tsigned:0;\n"
	"\tfield:short oom_score_adj;\toffset:44;\tsize:2;\tsigned:1;\n"
	"\nprint fmt: \"pid=%d\", REC->pid\n";

static const char task_fork[] =
	"name: sched_process_fork\nID: 512\nformat:\n" TD_COMMON
	"\tfield:char parent_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t parent_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:char child_comm[16];\toffset:28;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t child_pid;\toffset:44;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"pid=%d\", REC->child_pid\n";

#define TEXT 0xffffffff81000000ULL
#define STEP 0x100

static char kallsyms[GD_MAX_FUNCTIONS * 64];
static const char *name_of[GD_MAX_FUNCTIONS];
static uint32_t functions;

static uint64_t address(uint32_t function)
{
	return TEXT + (uint64_t)function * STEP;
}

/* The first ones have names of the test, the others are f0, f1, ... */
void gd_init(struct gd *gd, struct td *td, const char *const *names,
	     uint32_t count)
{
	uint32_t i, named = 0;
	size_t len = 0;

	memset(gd, 0, sizeof(*gd));
	gd->td = td;
	gd->now = GD_BASE;
	while (names[named])
		named++;
	functions = named;
	for (i = 0; i < count; i++) {
		name_of[i] = i < named ? names[i] : NULL;
		len += i < named ?
			       snprintf(kallsyms + len, sizeof(kallsyms) - len,
					"%016llx T %s\n",
					(unsigned long long)address(i),
					names[i]) :
			       snprintf(kallsyms + len, sizeof(kallsyms) - len,
					"%016llx T f%u\n",
					(unsigned long long)address(i),
					i - named);
	}
	td->kallsyms = kallsyms;
	td_add_event(td, "ftrace", entry);
	td_add_event(td, "ftrace", leave);
	td_add_event(td, "ftrace", stack);
	td_add_event(td, "sched", td_sched_waking);
	td_add_event(td, "sched", td_sched_switch);
	td_add_event(td, "sched", exec);
	td_add_event(td, "sched", task_fork);
	td_add_event(td, "task", task_rename);
	td_add_event(td, "lock", lock);
	td_add_event(td, "lock", unlock);
	td_add_event(td, "irq", irq);
	td_add_event(td, "irq", irq_exit);
	td_add_event(td, "irq", softirq);
	td_add_event(td, "irq", softirq_exit);
}

uint32_t gd_function(const char *name)
{
	uint32_t i;

	for (i = 0; i < functions; i++) {
		if (!strcmp(name_of[i], name))
			return i;
	}
	if (*name != 'f')
		abort();
	return functions + strtoul(name + 1, NULL, 10);
}

static void begin(struct gd *gd, struct td_record *r, unsigned int id,
		  size_t fixed)
{
	td_begin(r, gd->td, id, gd->pid, fixed);
	td_put(r, 2, gd->flags, 1);
}

static void put(struct gd *gd, const struct td_record *r)
{
	td_write(gd->td, 0, gd->cpu, gd->now, r);
}

void gd_enter(struct gd *gd, uint32_t function)
{
	struct gd_frame *f = &gd->frame[gd->depth];
	struct td_record r;

	if (gd->depth == GD_MAX_DEPTH)
		abort();
	f->function = function;
	f->entry = gd->now;
	f->asleep = gd->asleep;
	begin(gd, &r, ID_ENTRY, 20);
	td_put(&r, 8, address(function), 8);
	td_put(&r, 16, gd->depth++, 4);
	if (!gd->exits_only)
		put(gd, &r);
}

void gd_leave(struct gd *gd)
{
	struct gd_frame *f = &gd->frame[--gd->depth];
	struct td_record r;

	begin(gd, &r, ID_EXIT, 48);
	td_put(&r, 8, address(f->function), 8);
	td_put(&r, 24, gd->depth, 4);
	/* a local clock that is not the trace's */
	td_put(&r, 32, f->entry + gd->asleep - f->asleep + 12345, 8);
	td_put(&r, 40, (gd->returned ? gd->returned : gd->now) + 12345, 8);
	gd->returned = 0;
	put(gd, &r);
}

void gd_call(struct gd *gd, uint32_t function, uint64_t self)
{
	gd_enter(gd, function);
	gd->now += self;
	gd_leave(gd);
}

void gd_switch(struct gd *gd, int prev, unsigned int state, int next)
{
	struct td_record r;
	int pid = gd->pid;

	gd->pid = prev;
	begin(gd, &r, TD_ID_SWITCH, 64);
	td_put(&r, 24, prev, 4);
	td_put(&r, 32, state, 8);
	td_put_bytes(&r, 8, gd->prev_comm ? gd->prev_comm : "", 16);
	td_put_bytes(&r, 40,
		     gd->next_comm ? gd->next_comm :
		     next	   ? "other" :
				     "swapper",
		     16);
	td_put(&r, 56, next, 4);
	put(gd, &r);
	gd->pid = pid;
}

void gd_exec(struct gd *gd, const char *file)
{
	struct td_record r;

	begin(gd, &r, ID_EXEC, 20);
	td_put(&r, 12, gd->pid, 4);
	td_put(&r, 16, gd->pid, 4);
	td_put_string(&r, 8, file);
	put(gd, &r);
}

void gd_rename(struct gd *gd, const char *comm)
{
	struct td_record r;

	begin(gd, &r, ID_RENAME, 46);
	td_put(&r, 8, gd->pid, 4);
	td_put_bytes(&r, 28, comm, 16);
	put(gd, &r);
}

void gd_fork(struct gd *gd, const char *comm, int child)
{
	struct td_record r;

	begin(gd, &r, ID_FORK, 48);
	td_put(&r, 24, gd->pid, 4);
	td_put_bytes(&r, 28, comm, 16);
	td_put(&r, 44, child, 4);
	put(gd, &r);
}

void gd_waking(struct gd *gd, int pid)
{
	struct td_record r;

	begin(gd, &r, TD_ID_WAKING, 36);
	td_put(&r, 24, pid, 4);
	put(gd, &r);
}

void gd_stack(struct gd *gd, const uint32_t *function, int nr)
{
	struct td_record r;
	int i;

	begin(gd, &r, ID_STACK, 16 + 8 * nr);
	td_put(&r, 8, nr, 4);
	for (i = 0; i < nr; i++)
		td_put(&r, 16 + 8 * i, address(function[i]) + 7, 8);
	put(gd, &r);
}

void gd_irq(struct gd *gd, const char *name, bool is_begin)
{
	struct td_record r;

	begin(gd, &r, is_begin ? ID_IRQ : ID_IRQ_EXIT, 16);
	td_put(&r, 8, 7, 4);
	if (is_begin)
		td_put_string(&r, 12, name);
	put(gd, &r);
}

void gd_softirq(struct gd *gd, unsigned int vec, bool is_begin)
{
	struct td_record r;

	begin(gd, &r, is_begin ? ID_SOFTIRQ : ID_SOFTIRQ_EXIT, 12);
	td_put(&r, 8, vec, 4);
	put(gd, &r);
}

void gd_lock(struct gd *gd, uint32_t lock_function, bool is_begin)
{
	struct td_record r;

	begin(gd, &r, is_begin ? ID_LOCK : ID_UNLOCK, 20);
	td_put(&r, 8, address(lock_function), 8);
	put(gd, &r);
}

#define BLOCK(name, id)                                                     \
	"name: " name "\nID: " id "\nformat:\n" TD_COMMON                   \
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"               \
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"        \
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n" \
	"\tfield:char comm[16];\toffset:28;\tsize:16;\tsigned:0;\n"         \
	"\nprint fmt: \"%u\", REC->nr_sector\n"

static const char bio[] = BLOCK("block_bio_queue", "900");
static const char issue[] = BLOCK("block_rq_issue", "901");
static const char complete[] = BLOCK("block_rq_complete", "902");

void gd_add_blocks(struct td *td)
{
	td_add_event(td, "block", bio);
	td_add_event(td, "block", issue);
	td_add_event(td, "block", complete);
}

void gd_block(struct gd *gd, enum gd_block what, uint32_t dev, uint64_t sector,
	      uint32_t sectors, const char *comm)
{
	struct td_record r;

	td_begin(&r, gd->td, what, gd->pid, 44);
	td_put(&r, 8, dev, 4);
	td_put(&r, 16, sector, 8);
	td_put(&r, 24, sectors, 4);
	td_put_bytes(&r, 28, comm, 16);
	td_write(gd->td, 0, gd->cpu, gd->now, &r);
}

/**
 * gd_create - create a file, or end the program
 * @dir: its directory
 * @name: its name
 */
FILE *gd_create(const char *dir, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

/**
 * gd_close - close such a file, or end the program if it is not complete
 * @f: the file
 */
void gd_close(FILE *f)
{
	if (fclose(f)) {
		perror("fclose");
		exit(1);
	}
}
