// SPDX-License-Identifier: GPL-2.0
/*
 * peer_stops [--stops=N] [--seed=N] [--steps=N] [--all] (--pid=PID | -- COMMAND...)
 *
 * Stops a program at random instructions, N times (10000), and compares the frames of
 * tools/kernel/unwind.c with those of elfutils (libdwfl), whose unwinder and parser are
 * not ours. Between two stops it runs for up to a millisecond, and then for up to
 * --steps (40) single steps. The command is started again when it ends, and what it
 * writes is thrown away. Of a process
 * its main thread is stopped, with --all each of its threads in turn. A line for each
 * difference, and the sums at the end:
 *
 *	stops S equal E unsure U further W short F different D
 *
 * unsure: elfutils does not find the outermost frame; further: our stack has all of its
 * frames, and continues to the outermost one; short: our stack has no outermost frame;
 * different: both have one, and frames differ. Status 1 when there are short or different ones.
 *
 * peer_stops --serve: reads lines of a process, ip, and 16 registers as DWARF numbers
 * them; writes the stack of each on a line: the end, how many were guessed, frames.
 */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "objects.h"

#define FRAMES_MAX 2048
#define THREADS_MAX 64

static struct {
	long stops, equal, unsure, further, fell_short, different, guessed,
		frames, runs;
	long ends[USTACK_BAD_STACK + 1];
} sums;

static uint64_t state = 1;
static long max_stops = 10000, max_steps = 40;

static uint64_t rnd(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ULL; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static void die(const char *what)
{
	fprintf(stderr, "peer_stops: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* --- elfutils' side */

struct stack {
	u64 frames[FRAMES_MAX];
	u32 nr;
};

static Dwfl *dwfl;
static u32 dwfl_of;

static int add_frame(Dwfl_Frame *frame, void *arg)
{
	struct stack *stack = arg;
	Dwarf_Addr pc;

	if (stack->nr == FRAMES_MAX || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	stack->frames[stack->nr++] = pc;
	return DWARF_CB_OK;
}

static void open_dwfl(const struct process *process)
{
	static char *path = NULL;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &path,
	};

	if (dwfl)
		dwfl_end(dwfl);
	dwfl = dwfl_begin(&callbacks);
	dwfl_of = process->version;
	if (!dwfl || dwfl_linux_proc_report(dwfl, process->pid) ||
	    dwfl_report_end(dwfl, NULL, NULL) ||
	    dwfl_linux_proc_attach(dwfl, process->pid, true)) {
		fprintf(stderr, "peer_stops: elfutils: %s\n", dwfl_errmsg(-1));
		exit(2);
	}
}

/* Whether it came to the end */
static bool peer_walk(const struct process *process, pid_t tid,
		      struct stack *stack)
{
	if (!dwfl || dwfl_of != process->version)
		open_dwfl(process);
	stack->nr = 0;
	return dwfl_getthread_frames(dwfl, tid, add_frame, stack) == 0;
}

/* --- ours */

static void read_registers(pid_t tid, struct ustack_regs *regs)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &r))
		die("PTRACE_GETREGS");
	*regs = (struct ustack_regs){
		.reg = { r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp,
			 r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15 },
		.ip = r.rip,
	};
}

static void print_stack(const struct process *process, const u64 *frames,
			u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		const struct mapped *m = process_at(process, frames[i]);

		printf("    %" PRIx64 " %s+%" PRIx64 "\n", (uint64_t)frames[i],
		       m ? m->path : "?",
		       m ? (uint64_t)(frames[i] - m->start + m->offset) : 0);
	}
}

static bool same(const struct stack *a, const struct stack *b)
{
	return a->nr == b->nr &&
	       !memcmp(a->frames, b->frames, a->nr * sizeof(a->frames[0]));
}

/*
 * Does our stack begin with all of theirs, none of which we guessed, and continue to an
 * outermost frame?
 */
static bool goes_further(const struct stack *ours, const struct stack *theirs,
			 const struct ustack_result *result)
{
	return result->end == USTACK_COMPLETE && theirs->nr < ours->nr &&
	       theirs->nr + result->guessed <= ours->nr &&
	       !memcmp(ours->frames, theirs->frames,
		       theirs->nr * sizeof(theirs->frames[0]));
}

/* A mapping may have been replaced by another object's since the last stop */
static bool refresh_maps(struct process *process)
{
	static struct process before;

	before = *process;
	if (!process_maps(process))
		return false;
	if (process->nr == before.nr &&
	    !memcmp(process->maps, before.maps,
		    process->nr * sizeof(before.maps[0])))
		process->version = before.version;
	return true;
}

static void compare(struct process *process, pid_t tid)
{
	static struct stack ours, theirs;
	struct ustack_result result;
	struct ustack_regs regs;
	const char *what;
	bool end;

	read_registers(tid, &regs);
	if (!refresh_maps(process))
		return;
	process_walk(process, &regs, ours.frames, FRAMES_MAX, &result);
	ours.nr = result.nr;
	end = peer_walk(process, tid, &theirs);
	sums.stops++;
	sums.frames += ours.nr;
	sums.guessed += result.guessed > 0;
	sums.ends[result.end]++;
	if (end && result.end == USTACK_COMPLETE && same(&ours, &theirs)) {
		sums.equal++;
		return;
	}
	if (!end) {
		what = "unsure";
		sums.unsure++;
	} else if (goes_further(&ours, &theirs, &result)) {
		what = "further";
		sums.further++;
	} else if (result.end != USTACK_COMPLETE) {
		what = "short";
		sums.fell_short++;
	} else {
		what = "different";
		sums.different++;
	}
	printf("%s %s guessed %u\n  ours\n", what, end_name(result.end),
	       result.guessed);
	print_stack(process, ours.frames, ours.nr);
	printf("  elfutils%s%s\n", end ? "" : ": ", end ? "" : dwfl_errmsg(-1));
	print_stack(process, theirs.frames, theirs.nr);
}

/* --- the program */

static void pause_for(long ns)
{
	struct timespec ts = { .tv_nsec = ns };

	nanosleep(&ts, NULL);
}

/* The signal that a stop is to be gone on from with; 0: none, -1: it is gone */
static int wait_for(pid_t tid)
{
	int status;

	if (waitpid(tid, &status, __WALL) < 0 || !WIFSTOPPED(status))
		return -1;
	if (status >> 16 || WSTOPSIG(status) == SIGTRAP)
		return 0;
	return WSTOPSIG(status);
}

/* A single step; if it is a call that sleeps, not longer than some milliseconds */
static int single_step(pid_t tid, int signal)
{
	siginfo_t info;
	int i;

	if (ptrace(PTRACE_SINGLESTEP, tid, NULL, signal))
		return -1;
	for (i = 0; i < 200; i++) {
		info.si_pid = 0;
		if (waitid(P_PID, tid, &info,
			   WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL))
			return -1;
		if (info.si_pid)
			return wait_for(tid);
		if (i > 20)
			pause_for(20000);
	}
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) && errno != ESRCH)
		return -1;
	return wait_for(tid);
}

/* Stops it where it is; the signal it stopped with, or -1 */
static int run_a_while(pid_t tid, int signal)
{
	if (ptrace(PTRACE_CONT, tid, NULL, signal))
		return -1;
	pause_for(rnd() % 1000000);
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) && errno != ESRCH)
		return -1;
	return wait_for(tid);
}

static bool go_on(struct process *process, const pid_t *tids, int nr)
{
	int signals[THREADS_MAX] = { 0 }, i = 0;
	long steps;

	for (; sums.stops < max_stops; i = (i + 1) % nr) {
		signals[i] = run_a_while(tids[i], signals[i]);
		for (steps = rnd() % max_steps; signals[i] >= 0; steps--) {
			compare(process, tids[i]);
			if (steps <= 0 || sums.stops == max_stops)
				break;
			signals[i] = single_step(tids[i], signals[i]);
		}
		if (signals[i] < 0)
			return false;
	}
	return true;
}

/* Until it is another program; it does not come to that: it has ended */
static bool wait_for_exec(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			return true;
		if (ptrace(PTRACE_CONT, pid, NULL, NULL))
			break;
	}
	return false;
}

static void run_command(char **argv)
{
	static struct process process;
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(127);
		raise(SIGSTOP);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SEIZE, pid, NULL,
		   PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC) ||
	    kill(pid, SIGCONT))
		die("PTRACE_SEIZE");
	if (!wait_for_exec(pid) || !process_open(&process, pid)) {
		fprintf(stderr, "peer_stops: %s: cannot be run\n", argv[0]);
		exit(2);
	}
	go_on(&process, &pid, 1);
	sums.runs++;
	process_close(&process);
	kill(pid, SIGKILL);
	waitpid(pid, &status, __WALL);
	if (dwfl)
		dwfl_end(dwfl);
	dwfl = NULL;
}

static int threads_of(pid_t pid, pid_t *tids)
{
	char name[64];
	struct dirent *entry;
	int nr = 0;
	DIR *dir;

	snprintf(name, sizeof(name), "/proc/%d/task", pid);
	dir = opendir(name);
	if (!dir)
		die(name);
	while (nr < THREADS_MAX && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			tids[nr++] = atoi(entry->d_name);
	}
	closedir(dir);
	return nr;
}

static void run_process(pid_t pid, bool all)
{
	static struct process process;
	pid_t tids[THREADS_MAX] = { pid };
	int nr = all ? threads_of(pid, tids) : 1, i;

	for (i = 0; i < nr; i++) {
		if (ptrace(PTRACE_SEIZE, tids[i], NULL, NULL) ||
		    ptrace(PTRACE_INTERRUPT, tids[i], NULL, NULL) ||
		    wait_for(tids[i]) < 0)
			die("PTRACE_SEIZE");
	}
	if (!process_open(&process, pid))
		die("/proc");
	if (!go_on(&process, tids, nr))
		fprintf(stderr, "peer_stops: %d has ended\n", pid);
	/* No trap of a single step may be left, which would end it */
	for (i = 0; i < 2 * nr; i++)
		run_a_while(tids[i % nr], 0);
	for (i = 0; i < nr; i++)
		ptrace(PTRACE_DETACH, tids[i], NULL, NULL);
	process_close(&process);
	if (dwfl)
		dwfl_end(dwfl);
}

static int serve(void)
{
	static struct process process;
	static u64 frames[FRAMES_MAX];
	struct ustack_regs regs;
	struct ustack_result result;
	char line[1024], *at;
	pid_t pid;
	u32 i;

	while (fgets(line, sizeof(line), stdin)) {
		pid = strtol(line, &at, 10);
		regs.ip = strtoull(at, &at, 16);
		for (i = 0; i < USTACK_REGS; i++)
			regs.reg[i] = strtoull(at, &at, 16);
		if (process.pid != pid) {
			if (process.pid)
				process_close(&process);
			if (!process_open(&process, pid))
				die("process");
		} else if (!process_maps(&process)) {
			die("maps");
		}
		process_walk(&process, &regs, frames, FRAMES_MAX, &result);
		printf("%s %u", end_name(result.end), result.guessed);
		for (i = 0; i < result.nr; i++)
			printf(" %" PRIx64, (uint64_t)frames[i]);
		printf("\n");
		fflush(stdout);
	}
	objects_free();
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "stops", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 's' },
		{ "steps", required_argument, NULL, 't' },
		{ "pid", required_argument, NULL, 'p' },
		{ "all", no_argument, NULL, 'a' },
		{ "serve", no_argument, NULL, 'S' },
		{ NULL, 0, NULL, 0 },
	};
	bool all = false;
	pid_t pid = 0;
	int c, i;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (c) {
		case 'n':
			max_stops = atol(optarg);
			break;
		case 's':
			state = strtoull(optarg, NULL, 0);
			break;
		case 't':
			max_steps = atol(optarg) + 1;
			break;
		case 'p':
			pid = atoi(optarg);
			break;
		case 'a':
			all = true;
			break;
		case 'S':
			return serve();
		default:
			return 2;
		}
	}
	if (pid) {
		run_process(pid, all);
	} else if (optind < argc) {
		while (sums.stops < max_stops && sums.runs < max_stops)
			run_command(argv + optind);
	} else {
		fprintf(stderr, "peer_stops: nothing to stop\n");
		return 2;
	}
	objects_free();
	printf("stops %ld equal %ld unsure %ld further %ld short %ld different %ld "
	       "guessed %ld frames %ld runs %ld",
	       sums.stops, sums.equal, sums.unsure, sums.further,
	       sums.fell_short, sums.different, sums.guessed, sums.frames,
	       sums.runs);
	for (i = 0; i <= USTACK_BAD_STACK; i++)
		printf(" %s %ld", end_name(i), sums.ends[i]);
	printf("\n");
	return sums.fell_short || sums.different;
}
