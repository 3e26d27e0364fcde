// SPDX-License-Identifier: GPL-2.0
/*
 * Reads untrusted files in a child process. See guard.h.
 *
 * A socket carries messages from the child to its parent, each a letter and a
 * text, and a pipe the child's standard error, whose first line is the reason
 * when the child has given none of its own. What libraries print to standard
 * output goes the same way; results have a stream of their own.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#include "clock.h"
#include "guard.h"
#include "memory.h"
#include "output.h"

#define TEXT_MAX 2048

/* kinds of messages */
enum {
	SAY_FAIL = 'F',
	SAY_USAGE = 'U',
	SAY_NOTE = 'N',
	SAY_FILE = '@',
	SAY_GO_ON = 'G',
	SAY_MEMORY = 'M',
};

/* ns until progress is first shown, and between updates */
#define PROGRESS_FIRST 1000000000ull
#define PROGRESS_NEXT 200000000ull

/**
 * struct shared - what parent and child both see
 * @place:	where in the file the child is reading
 * @progress:	there is a line of progress on the terminal
 */
struct shared {
	volatile uint64_t place;
	volatile bool progress;
};

/**
 * struct guard - the child's side
 * @job:	what is done
 * @messages:	socket to the parent
 * @terminal:	where progress is shown, or -1
 * @progress_at: when it is shown next, ns
 * @shared:	shared with the parent
 * @failed:	a reason has been reported
 * @reason:	the first one
 */
struct guard {
	const struct guard_job *job;
	int messages;
	int terminal;
	uint64_t progress_at;
	struct shared *shared;
	bool failed;
	char reason[TEXT_MAX];
};

/* The parent's side */
struct watch {
	const struct guard_job *job;
	int fd[2]; /* messages, standard error; -1 when closed */
	pid_t pid;
	struct shared *shared;
	char noise[512];
	size_t noise_len;
	char reason[TEXT_MAX + 1];
	int reason_kind;
	char note[TEXT_MAX + 1]; /* the last one about this file */
	bool crashed;
	char file[TEXT_MAX + 1];
};

static void say(struct guard *g, char kind, const char *text)
{
	struct iovec part[2] = { { &kind, 1 }, { (void *)text, strlen(text) } };

	while (writev(g->messages, part, 2) < 0 && errno == EINTR)
		;
}

/**
 * guard_fail - say why the work cannot be done
 * @g: the guard
 * @offset: where in the file, or GUARD_NOWHERE
 * @format: the reason, one line; the first one counts
 *
 * Return: EXIT_FAILURE.
 */
int guard_fail(struct guard *g, uint64_t offset, const char *format, ...)
{
	char *text = g->reason;
	size_t len = 0;
	va_list ap;

	if (g->failed)
		return EXIT_FAILURE;
	g->failed = true;
	if (offset != GUARD_NOWHERE)
		len = snprintf(text, TEXT_MAX,
			       "%llu: ", (unsigned long long)offset);
	va_start(ap, format);
	vsnprintf(text + len, TEXT_MAX - len, format, ap);
	va_end(ap);
	say(g, SAY_FAIL, text);
	return EXIT_FAILURE;
}

/**
 * guard_go_on - continue without what guard_fail() has reported
 * @g: the guard
 *
 * Return: the reported text; valid until guard_fail() is called again.
 */
const char *guard_go_on(struct guard *g)
{
	say(g, SAY_GO_ON, "");
	g->failed = false;
	return g->reason;
}

/**
 * guard_fail_usage - say what is wrong with what the user asked for
 * @g: the guard
 * @text: the reason; lines after the first are printed as they stand
 *
 * Return: EXIT_FAILURE.
 */
int guard_fail_usage(struct guard *g, const char *text)
{
	if (!g->failed)
		say(g, SAY_USAGE, text);
	g->failed = true;
	return EXIT_FAILURE;
}

/**
 * guard_note - print a message that is not an error
 * @g: the guard
 * @format: one line
 */
void guard_note(struct guard *g, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	say(g, SAY_NOTE, text);
}

/**
 * guard_progress - show progress, if standard error is a terminal
 * @g: the guard
 * @format: a few words, or NULL to remove the line, which must be done before a result
 *	is written
 *
 * Nothing is shown in the first second.
 */
void guard_progress(struct guard *g, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	if (!format)
		memory_doing("writing the result");
	if (g->terminal < 0)
		return;
	if (!format) {
		if (g->shared->progress)
			dprintf(g->terminal, "\r\033[K");
		g->shared->progress = false;
		return;
	}
	if (now_ns() < g->progress_at)
		return;
	g->progress_at = now_ns() + PROGRESS_NEXT;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	g->shared->progress = true;
	dprintf(g->terminal, "\r%s: %s\033[K", g->job->program, text);
}

/**
 * guard_alive - the work makes progress
 * @g: the guard
 * @offset: offset in the file, reported if the work crashes; or GUARD_NOWHERE
 *
 * Cheap enough to be called every few thousand records.
 */
void guard_alive(struct guard *g, uint64_t offset)
{
	struct rusage used;
	struct rlimit limit;

	g->shared->place = offset;
	if (getrusage(RUSAGE_SELF, &used) || getrlimit(RLIMIT_CPU, &limit))
		return;
	limit.rlim_cur = used.ru_utime.tv_sec + used.ru_stime.tv_sec +
			 g->job->idle_cpu + 1;
	if (limit.rlim_cur <= limit.rlim_max)
		setrlimit(RLIMIT_CPU, &limit);
}

/**
 * guard_file - the work continues with another file
 * @g: the guard
 * @file: its name, for diagnostics
 */
void guard_file(struct guard *g, const char *file)
{
	char text[TEXT_MAX];

	if (*file)
		memory_doing("reading %s", file);
	snprintf(text, sizeof(text), "%s", file);
	g->shared->place = GUARD_NOWHERE;
	say(g, SAY_FILE, text);
}

static void clear_progress(struct watch *w)
{
	if (w->shared->progress)
		fputs("\r\033[K", stderr);
	w->shared->progress = false;
}

static void complain(struct watch *w, const char *text)
{
	clear_progress(w);
	fprintf(stderr, "%s: %s:%s%s\n", w->job->program,
		*w->file ? w->file : w->job->file,
		text[strspn(text, "0123456789")] == ':' ? "" : " ", text);
}

static void hear(struct watch *w, int kind, const char *text)
{
	if (kind == SAY_NOTE) {
		/* A file that is read twice has the same fault twice */
		if (strcmp(w->note, text) != 0)
			complain(w, text);
		strcpy(w->note, text);
		return;
	}
	if (kind == SAY_FILE) {
		*w->note = '\0';
		strcpy(w->file, text);
		return;
	}
	if (kind == SAY_GO_ON) {
		complain(w, w->reason);
		w->reason_kind = 0;
		return;
	}
	w->reason_kind = kind;
	strcpy(w->reason, text);
}

static bool receive(struct watch *w, int i)
{
	char buf[TEXT_MAX + 2];
	ssize_t n;

	n = read(w->fd[i], buf, sizeof(buf) - 1);
	if (n <= 0)
		return n < 0 && errno == EINTR;
	buf[n] = '\0';
	if (i == 0) {
		hear(w, buf[0], buf + 1);
	} else {
		if ((size_t)n > sizeof(w->noise) - 1 - w->noise_len)
			n = sizeof(w->noise) - 1 - w->noise_len;
		memcpy(w->noise + w->noise_len, buf, n);
		w->noise_len += n;
	}
	return true;
}

static void listen_to(struct watch *w)
{
	struct pollfd p[2];
	int i;

	while (w->fd[0] >= 0 || w->fd[1] >= 0) {
		for (i = 0; i < 2; i++)
			p[i] = (struct pollfd){ w->fd[i], POLLIN, 0 };
		if (poll(p, 2, -1) < 0)
			continue;
		for (i = 0; i < 2; i++) {
			if (p[i].revents && !receive(w, i)) {
				close(w->fd[i]);
				w->fd[i] = -1;
			}
		}
	}
}

/* First line of what the libraries printed, without unprintable characters */
static const char *first_noise(struct watch *w)
{
	char *s = w->noise, *end;

	s[w->noise_len] = '\0';
	while (*s == '\n' || *s == ' ')
		s++;
	end = s + strcspn(s, "\n");
	*end = '\0';
	for (end = s; *end; end++) {
		if (*end < ' ' || *end > '~')
			*end = '?';
	}
	return s;
}

static void die_of(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
}

static void explain_signal(struct watch *w, int sig)
{
	char *text = w->reason;
	uint64_t at = w->shared->place;
	size_t len = 0;

	if (at != GUARD_NOWHERE)
		len = snprintf(text, TEXT_MAX,
			       "%llu: ", (unsigned long long)at);
	if (sig == SIGXCPU)
		snprintf(text + len, TEXT_MAX - len,
			 "damaged: reading makes no progress");
	else if (sig == SIGKILL)
		snprintf(
			text + len, TEXT_MAX - len,
			"the process that reads it was killed (out of memory?)");
	else
		snprintf(text + len, TEXT_MAX - len,
			 "damaged: the process that reads it crashed (%s)",
			 strsignal(sig));
	complain(w, text);
	w->crashed = true;
}

/* Report how the child ended; returns the exit status */
static int conclude(struct watch *w, int status)
{
	char text[sizeof(w->noise) + 32];
	const char *noise;

	clear_progress(w);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return EXIT_SUCCESS;
	if (w->reason_kind == SAY_MEMORY) {
		fprintf(stderr, "%s: out of memory: %s\n", w->job->program,
			w->reason);
		return EXIT_FAILURE;
	}
	if (w->reason_kind == SAY_USAGE) {
		fprintf(stderr, "%s: %s\n", w->job->program, w->reason);
		return EXIT_FAILURE;
	}
	if (w->reason_kind) {
		complain(w, w->reason);
		return EXIT_FAILURE;
	}
	if (WIFSIGNALED(status)) {
		int sig = WTERMSIG(status);

		if (sig == SIGPIPE || sig == SIGINT || sig == SIGTERM ||
		    sig == SIGHUP)
			return 128 + sig;
		explain_signal(w, sig);
		return EXIT_FAILURE;
	}
	noise = first_noise(w);
	snprintf(text, sizeof(text), "cannot be read%s%s", *noise ? ": " : "",
		 noise);
	complain(w, text);
	return EXIT_FAILURE;
}

/**
 * is_same_file - whether two names are of one file
 * @a: a name
 * @b: another one
 */
bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/**
 * guard_check_output - refuse to overwrite an input: a recording cannot be repeated
 * @program: name that the diagnostic begins with
 * @file: the input, or NULL
 * @output: as in struct guard_job
 *
 * guard_run() checks the job's own file; a tool that reads more files checks the others.
 *
 * Return: true if the output is another file than the input; otherwise false, after a message.
 */
bool guard_check_output(const char *program, const char *file,
			const char *output)
{
	struct stat st;

	if (!output || !file || stat(output, &st) || !S_ISREG(st.st_mode) ||
	    !is_same_file(file, output))
		return true;
	fprintf(stderr, "%s: %s: would be replaced by the result\n", program,
		file);
	return false;
}

static void say_memory(const char *doing, void *arg)
{
	say(arg, SAY_MEMORY, doing);
}

static bool is_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

/* A sanitizer's report is not what a library prints of a damaged file: all of it is shown */
static void show_sanitizer(void)
{
#ifdef __SANITIZE_ADDRESS__
	long fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);

	/* With options, log_path may have another place for it */
	if (!getenv("ASAN_OPTIONS"))
		__sanitizer_set_report_fd((void *)fd);
#endif
}

static void child(struct guard *g, FILE *out, int noise)
{
	struct rlimit none = { 0, 0 };
	int status;

	g->terminal = is_terminal() ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3) :
				      -1;
	g->progress_at = now_ns() + PROGRESS_FIRST;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	/* Writing the result fails instead */
	signal(SIGXFSZ, SIG_IGN);
	show_sanitizer();
	dup2(noise, STDOUT_FILENO);
	dup2(noise, STDERR_FILENO);
	close(noise);
	memory_on_failure(say_memory, g);
	if (g->job->file)
		memory_doing("reading %s", g->job->file);
	guard_alive(g, GUARD_NOWHERE);
	status = g->job->work(g, out, g->job->arg);
	if (!status && (ferror(out) | fclose(out))) {
		int error = errno;

		guard_file(g,
			   g->job->output ? g->job->output : "standard output");
		status = guard_fail(
			g, GUARD_NOWHERE, "cannot write the result: %s%s",
			strerror(error),
			error == ENOSPC && g->job->output ?
				": free space, or write to another file" :
				"");
	}
	exit(status);
}

static pid_t start(struct watch *w, FILE *out)
{
	struct guard g = { .job = w->job, .shared = w->shared };
	int messages[2], noise[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, messages) ||
	    pipe2(noise, O_CLOEXEC))
		return -1;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(messages[0]);
		close(noise[0]);
		g.messages = messages[1];
		child(&g, out, noise[1]);
	}
	close(messages[1]);
	close(noise[1]);
	w->fd[0] = messages[0];
	w->fd[1] = noise[0];
	return pid;
}

/* The result's temporary file, if it has a name: it must not stay when this process ends */
static char *volatile temporary;

static void remove_temporary(void)
{
	if (temporary)
		unlink(temporary);
}

static void on_signal(int sig)
{
	remove_temporary();
	die_of(sig);
}

/* Do it in a child; return: the exit status */
static int run_child(struct watch *w, FILE *out)
{
	int status = 0;

	w->noise_len = 0;
	w->reason_kind = 0;
	w->crashed = false;
	*w->file = '\0';
	w->pid = start(w, out);
	if (w->pid < 0 && errno == ENOMEM) {
		remove_temporary();
		memory_failed();
	}
	if (w->pid < 0) {
		fprintf(stderr, "%s: cannot start a process: %s%s\n",
			w->job->program, strerror(errno),
			errno == EMFILE ? ": raise ulimit -n" : "");
		return EXIT_FAILURE;
	}
	listen_to(w);
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	return conclude(w, status);
}

static int run_children(struct watch *w, FILE *out)
{
	int status;

	do {
		status = run_child(w, out);
	} while (w->crashed && *w->file && w->job->without &&
		 w->job->without(w->file, w->reason, w->job->arg));
	return status;
}

/**
 * guard_run - do a job in a child process, and report its failure
 * @job: the job
 *
 * Return: the exit status for the program. Does not return when the child died
 * of SIGPIPE, SIGINT, SIGTERM or SIGHUP, but dies likewise.
 */
int guard_run(const struct guard_job *job)
{
	enum { DEADLY = 3 };
	static const int deadly[DEADLY] = { SIGINT, SIGTERM, SIGHUP };
	void (*before[DEADLY])(int);
	struct watch w = { .job = job };
	struct output output;
	int status;
	size_t i;
	FILE *out;

	if (!guard_check_output(job->program, job->file, job->output))
		return EXIT_FAILURE;
	out = output_open(&output, job->output);
	if (!out) {
		fprintf(stderr, "%s: %s: %s\n", job->program,
			job->output ? job->output : "standard output",
			job->output ? output_error(job->output) :
				      strerror(errno));
		return EXIT_FAILURE;
	}
	w.shared = mmap(NULL, sizeof(*w.shared), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w.shared == MAP_FAILED) {
		output_finish(&output, job->program, EXIT_FAILURE);
		memory_failed();
	}
	temporary = output.temporary;
	for (i = 0; i < DEADLY; i++)
		before[i] = signal(deadly[i], on_signal);
	status = run_children(&w, out);
	fclose(out);
	for (i = 0; i < DEADLY; i++)
		signal(deadly[i], before[i]);
	temporary = NULL;
	status = output_finish(&output, job->program, status);
	munmap(w.shared, sizeof(*w.shared));
	if (status > 128)
		die_of(status - 128);
	return status;
}
