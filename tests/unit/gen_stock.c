// SPDX-License-Identifier: GPL-2.0
/*
 * gen_stock FILE CALLS SEED
 *
 * Writes a made-up trace.dat of a kernel without iosys, as the recipe in ioreq(1)
 * records it: system calls of processes that open, copy and close descriptors, fork and
 * make threads. Prints the truth, a line per I/O call:
 *
 *	TGID TID OP NAME RESULT BYTES START DURATION
 *
 * separated by tabs; NAME is "unknown" of a descriptor that was there before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "tracedat.h"

enum {
	ID_ENTER_READ = 400,
	ID_EXIT_READ,
	ID_ENTER_OPENAT,
	ID_EXIT_OPENAT,
	ID_ENTER_CLOSE,
	ID_EXIT_CLOSE,
	ID_ENTER_DUP2,
	ID_EXIT_DUP2,
	ID_ENTER_SENDTO,
	ID_EXIT_SENDTO,
	ID_PATH,
	ID_INSTALLED,
	ID_TCP,
	ID_NEWTASK,
};

#define ENTER(id, name, one, two)                                    \
	"name: sys_enter_" name "\nID: " #id "\nformat:\n" TD_COMMON \
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n" \
	"\tfield:" one ";\toffset:16;\tsize:8;\tsigned:0;\n"         \
	"\tfield:" two ";\toffset:24;\tsize:8;\tsigned:0;\n\n"       \
	"print fmt: \"%d\", REC->__syscall_nr\n"

#define EXIT(id, name)                                               \
	"name: sys_exit_" name "\nID: " #id "\nformat:\n" TD_COMMON  \
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n" \
	"\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n\n"      \
	"print fmt: \"%ld\", REC->ret\n"

static const struct {
	const char *system;
	const char *format;
} formats[] = {
	{ "syscalls", ENTER(400, "read", "unsigned int fd", "char * buf") },
	{ "syscalls", EXIT(401, "read") },
	{ "syscalls",
	  ENTER(402, "openat", "int dfd", "const char * filename") },
	{ "syscalls", EXIT(403, "openat") },
	{ "syscalls", ENTER(404, "close", "unsigned int fd", "long none") },
	{ "syscalls", EXIT(405, "close") },
	{ "syscalls",
	  ENTER(406, "dup2", "unsigned int oldfd", "unsigned int newfd") },
	{ "syscalls", EXIT(407, "dup2") },
	{ "syscalls", ENTER(408, "sendto", "int fd", "void * buff") },
	{ "syscalls", EXIT(409, "sendto") },
	{ "ioreq",
	  "name: path\nID: 410\nformat:\n" TD_COMMON
	  "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:__data_loc char[] name;\toffset:16;\tsize:4;\tsigned:1;\n\n"
	  "print fmt: \"%s\", __get_str(name)\n" },
	{ "ioreq",
	  "name: installed\nID: 411\nformat:\n" TD_COMMON
	  "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:u32 fd;\toffset:16;\tsize:4;\tsigned:0;\n\n"
	  "print fmt: \"%u\", REC->fd\n" },
	{ "ioreq",
	  "name: tcp_send\nID: 412\nformat:\n" TD_COMMON
	  "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:u32 daddr;\toffset:16;\tsize:4;\tsigned:0;\n"
	  "\tfield:u32 saddr;\toffset:20;\tsize:4;\tsigned:0;\n"
	  "\tfield:u16 dport;\toffset:24;\tsize:2;\tsigned:0;\n"
	  "\tfield:u16 sport;\toffset:26;\tsize:2;\tsigned:0;\n"
	  "\tfield:u16 family;\toffset:28;\tsize:2;\tsigned:0;\n\n"
	  "print fmt: \"%u\", REC->daddr\n" },
	{ "task",
	  "name: task_newtask\nID: 413\nformat:\n" TD_COMMON
	  "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:unsigned long clone_flags;\toffset:16;\tsize:8;\tsigned:0;\n\n"
	  "print fmt: \"%d\", REC->pid\n" },
};

#define FDS 12
#define TASKS 40

/* Threads that share descriptors have the same table */
struct task {
	int pid, tgid, table;
};

static struct td td;
static struct task task[TASKS];
static int tasks, pids = 1000;
static char names[TASKS][FDS][32];
static uint64_t now = 1000000000000ull;

static void write_words(const struct task *t, int id, uint64_t one,
			uint64_t two)
{
	struct td_record r;

	td_begin(&r, &td, id, t->pid, 32);
	td_put(&r, 16, one, 8);
	td_put(&r, 24, two, 8);
	td_write(&td, 0, 0, now, &r);
}

static void write_path(const struct task *t, const char *name)
{
	struct td_record r;

	td_begin(&r, &td, ID_PATH, t->pid, 20);
	td_put_string(&r, 16, name);
	td_write(&td, 0, 0, now, &r);
}

static void write_installed(const struct task *t, int fd)
{
	struct td_record r;

	td_begin(&r, &td, ID_INSTALLED, t->pid, 20);
	td_put(&r, 16, fd, 4);
	td_write(&td, 0, 0, now, &r);
}

static void write_tcp(const struct task *t)
{
	struct td_record r;

	td_begin(&r, &td, ID_TCP, t->pid, 32);
	/* Addresses and the other port are in the network's byte order */
	td_put(&r, 16, 0x0200000a, 4);
	td_put(&r, 20, 0x0100000a, 4);
	td_put(&r, 24, 0x3815, 2);
	td_put(&r, 26, 40000, 2);
	td_put(&r, 28, 2, 2);
	td_write(&td, 0, 0, now, &r);
}

static void tell(const struct task *t, const char *op, const char *name,
		 int64_t result, uint64_t bytes, uint64_t start)
{
	printf("%d\t%d\t%s\t%s\t%lld\t%llu\t%llu\t%llu\n", t->tgid, t->pid, op,
	       *name ? name : "unknown", (long long)result,
	       (unsigned long long)bytes, (unsigned long long)start,
	       (unsigned long long)(now - start));
}

static void new_task(const struct task *parent)
{
	bool thread = below(2);
	struct task *t = &task[tasks];
	struct td_record r;

	if (tasks == TASKS)
		return;
	*t = (struct task){
		.pid = ++pids,
		.tgid = thread ? parent->tgid : pids,
		.table = thread ? parent->table : tasks,
	};
	if (!thread)
		memcpy(names[tasks], names[parent->table], sizeof(names[0]));
	tasks++;
	td_begin(&r, &td, ID_NEWTASK, parent->pid, 24);
	td_put(&r, 8, t->pid, 4);
	td_put(&r, 16, thread ? 0x10f00 : 0x1200000, 8);
	td_write(&td, 0, 0, now, &r);
}

/* A call during which another thread's calls may happen */
static void call(struct task *t)
{
	int fd = below(FDS), to = below(FDS);
	char(*name)[32] = names[t->table];
	uint64_t start = now += 1 + below(1000), took = 1 + below(100000);
	int64_t result = below(8) ? (int64_t)below(5000) : -11;
	char path[32];

	switch (below(5)) {
	case 0:
		write_words(t, ID_ENTER_READ, fd, 0);
		now += took;
		write_words(t, ID_EXIT_READ, result, 0);
		tell(t, "read", name[fd], result, result > 0 ? result : 0,
		     start);
		break;
	case 1:
		snprintf(path, sizeof(path), "/data/%d", (int)below(20));
		write_words(t, ID_ENTER_OPENAT, -100, 0);
		now += took;
		write_path(t, path);
		if (result >= 0) {
			write_installed(t, fd);
			strcpy(name[fd], path);
			result = fd;
		}
		write_words(t, ID_EXIT_OPENAT, result, 0);
		tell(t, "openat", path, result, 0, start);
		break;
	case 2:
		write_words(t, ID_ENTER_CLOSE, fd, 0);
		now += took;
		write_words(t, ID_EXIT_CLOSE, 0, 0);
		tell(t, "close", name[fd], 0, 0, start);
		*name[fd] = '\0';
		break;
	case 3:
		write_words(t, ID_ENTER_DUP2, fd, to);
		now += took;
		write_words(t, ID_EXIT_DUP2, to, 0);
		memmove(name[to], name[fd], sizeof(name[to]));
		break;
	case 4:
		write_words(t, ID_ENTER_SENDTO, 100, 0);
		write_tcp(t);
		now += took;
		write_words(t, ID_EXIT_SENDTO, result, 0);
		tell(t, "sendto", "10.0.0.1:40000->10.0.0.2:5432", result,
		     result > 0 ? result : 0, start);
		break;
	}
}

int main(int argc, char **argv)
{
	struct td_layout layout = { .page_size = 4096, .clock = "mono" };
	unsigned int f;
	long calls, i;

	if (argc != 4 || (calls = atol(argv[2])) < 1) {
		fprintf(stderr, "usage: gen_stock FILE CALLS SEED\n");
		return 2;
	}
	seed = SEED + strtoull(argv[3], NULL, 10);
	td_init(&td, &layout, 1);
	for (f = 0; f < sizeof(formats) / sizeof(*formats); f++)
		td_add_event(&td, formats[f].system, formats[f].format);
	td.cmdlines = "1000 shell\n";
	task[tasks++] = (struct task){ .pid = pids, .tgid = pids };
	for (i = 0; i < calls; i++) {
		if (!below(50))
			new_task(&task[below(tasks)]);
		call(&task[below(tasks)]);
	}
	return !td_finish(&td, argv[1]);
}
