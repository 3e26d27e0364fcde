// SPDX-License-Identifier: GPL-2.0
/*
 * stackcalls [--max=N] LOG COMMAND...
 *
 * Runs a command and stops each of its threads at the end of each I/O system call, N at
 * most (default 100000), then ends it. The stack that elfutils (libdwfl) finds there
 * goes to a line of LOG:
 *
 *	call TID NR RESULT sure|unsure FRAME...
 *
 * where a frame is DEVICE:INODE+OFFSET of the file that it is in, [vdso]+OFFSET, or
 * anon+ADDRESS. unsure: elfutils cannot continue. It uses
 * elfutils, ptrace and /proc/PID/maps, and no code of the unwinder that is tested.
 */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define FRAMES_MAX 1024
#define MAPS_MAX 1024
#define TEXT_MAX (1 << 20)

/* Those that iosys records and the programs of the tests make */
static const int is_io[] = {
	SYS_read,	SYS_write,	 SYS_open,
	SYS_openat,	SYS_creat,	 SYS_close,
	SYS_pread64,	SYS_pwrite64,	 SYS_readv,
	SYS_writev,	SYS_preadv,	 SYS_pwritev,
	SYS_preadv2,	SYS_pwritev2,	 SYS_sendto,
	SYS_recvfrom,	SYS_sendmsg,	 SYS_recvmsg,
	SYS_sendfile,	SYS_splice,	 SYS_connect,
	SYS_accept,	SYS_accept4,	 SYS_fsync,
	SYS_fdatasync,	SYS_sync,	 SYS_poll,
	SYS_ppoll,	SYS_select,	 SYS_pselect6,
	SYS_msync,	SYS_flock,	 SYS_ftruncate,
	SYS_truncate,	SYS_fallocate,	 SYS_sync_file_range,
	SYS_epoll_wait, SYS_epoll_pwait, SYS_copy_file_range,
};

struct map {
	uint64_t start, end, offset;
	char name[64];
};

static struct map maps[MAPS_MAX];
static int maps_nr;
static char text[TEXT_MAX], text_before[TEXT_MAX];
static Dwfl *dwfl;
static uint64_t frames[FRAMES_MAX];
static int frames_nr;

static void read_maps(pid_t pid)
{
	size_t len = 0;
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		die(path);
	while ((got = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += got;
	close(fd);
	text[len] = '\0';
}

static void parse_maps(void)
{
	char *line, *next;

	maps_nr = 0;
	for (line = text; *line; line = next) {
		struct map *m = &maps[maps_nr];
		unsigned int major, minor;
		char perms[5], rest[256] = "";
		uint64_t inode;

		next = strchr(line, '\n') + 1;
		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64
			   " %x:%x %" SCNu64 "%255[^\n]",
			   &m->start, &m->end, perms, &m->offset, &major,
			   &minor, &inode, rest) < 7 ||
		    perms[2] != 'x')
			continue;
		if (strstr(rest, "[vdso]"))
			strcpy(m->name, "[vdso]");
		else if (inode)
			snprintf(m->name, sizeof(m->name), "%u:%u:%" PRIu64,
				 major, minor, inode);
		else
			strcpy(m->name, "anon");
		if (++maps_nr == MAPS_MAX)
			die("too many mappings");
	}
}

static void open_dwfl(pid_t pid)
{
	static char *path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &path,
	};

	if (dwfl)
		dwfl_end(dwfl);
	dwfl = dwfl_begin(&callbacks);
	if (!dwfl || dwfl_linux_proc_report(dwfl, pid) ||
	    dwfl_report_end(dwfl, NULL, NULL) ||
	    dwfl_linux_proc_attach(dwfl, pid, true)) {
		fprintf(stderr, "stackcalls: elfutils: %s\n", dwfl_errmsg(-1));
		exit(2);
	}
}

static int add_frame(Dwfl_Frame *frame, void *arg)
{
	Dwarf_Addr pc;

	(void)arg;
	if (frames_nr == FRAMES_MAX || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	frames[frames_nr++] = pc;
	return DWARF_CB_OK;
}

static void print_frame(FILE *log, uint64_t pc)
{
	const struct map *m = maps, *end = maps + maps_nr;

	for (; m < end; m++) {
		if (pc < m->start || pc >= m->end)
			continue;
		if (!strcmp(m->name, "anon"))
			break;
		fprintf(log, " %s+%" PRIx64, m->name,
			pc - m->start + m->offset);
		return;
	}
	fprintf(log, " anon+%" PRIx64, pc);
}

static void log_call(FILE *log, pid_t pid, pid_t tid, int nr, int64_t result)
{
	bool sure;
	int i;

	read_maps(pid);
	if (strcmp(text, text_before)) {
		strcpy(text_before, text);
		parse_maps();
		open_dwfl(pid);
	}
	frames_nr = 0;
	sure = dwfl_getthread_frames(dwfl, tid, add_frame, NULL) == 0;
	fprintf(log, "call %d %d %" PRId64 " %s", tid, nr, result,
		sure ? "sure" : "unsure");
	for (i = 0; i < frames_nr; i++)
		print_frame(log, frames[i]);
	fputc('\n', log);
}

static bool wanted(int nr)
{
	size_t i;

	for (i = 0; i < sizeof(is_io) / sizeof(is_io[0]); i++) {
		if (is_io[i] == nr)
			return true;
	}
	return false;
}

static pid_t begin(char **command)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork");
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(126);
		raise(SIGSTOP);
		execvp(command[0], command);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		die("the command");
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL,
		   PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC |
			   PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL))
		die("PTRACE_SETOPTIONS");
	return pid;
}

/* The number of the call that a thread is in, which is unknown at the stop at its end */
static int *nr_of(pid_t tid)
{
	static struct {
		pid_t tid;
		int nr;
	} threads[256];
	static int n;
	int i;

	for (i = 0; i < n; i++) {
		if (threads[i].tid == tid)
			return &threads[i].nr;
	}
	if (n == 256)
		die("too many threads");
	threads[n].tid = tid;
	threads[n].nr = -1;
	return &threads[n++].nr;
}

/* Whether the thread's call was logged */
static bool at_stop(FILE *log, pid_t pid, pid_t tid)
{
	struct __ptrace_syscall_info info;
	int *nr = nr_of(tid), ended;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) < 0)
		return false;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		*nr = info.entry.nr;
	if (info.op != PTRACE_SYSCALL_INFO_EXIT)
		return false;
	ended = *nr;
	*nr = -1;
	if (!wanted(ended))
		return false;
	log_call(log, pid, tid, ended, info.exit.rval);
	return true;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "max", required_argument, NULL, 'm' },
		{},
	};
	bool executed = false;
	long max = 100000;
	int c, status;
	FILE *log;
	pid_t pid, tid;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (c != 'm')
			return 2;
		max = atol(optarg);
	}
	if (argc - optind < 2)
		return 2;
	log = fopen(argv[optind], "we");
	if (!log)
		die(argv[optind]);
	pid = begin(argv + optind + 1);
	ptrace(PTRACE_SYSCALL, pid, NULL, 0);
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		int signal = 0;

		if (!WIFSTOPPED(status)) {
			if (tid == pid)
				break;
			continue;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			if (executed && at_stop(log, pid, tid) && !--max)
				break;
		} else if (status >> 16) {
			executed |= status >> 16 == PTRACE_EVENT_EXEC;
		} else if (WSTOPSIG(status) != SIGSTOP) {
			signal = WSTOPSIG(status);
		}
		ptrace(PTRACE_SYSCALL, tid, NULL, signal);
	}
	kill(pid, SIGKILL);
	if (dwfl)
		dwfl_end(dwfl);
	if (!executed || fclose(log))
		die("the log");
	return 0;
}
