// SPDX-License-Identifier: GPL-2.0
/* However the child ends, the user gets a result or one line. */
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard.h"
#include "suite.h"

static char directory[DIRECTORY_SIZE];
static char result[DIRECTORY_SIZE + 16], messages[DIRECTORY_SIZE + 16];

/* The process is as on a file system without O_TMPFILE, and has no memory for another */
static bool poor;

int access(const char *path, int mode)
{
	int (*real)(const char *, int) = dlsym(RTLD_NEXT, "access");

	if (!poor)
		return real(path, mode);
	errno = ENOENT;
	return -1;
}

pid_t fork(void)
{
	pid_t (*real)(void) = dlsym(RTLD_NEXT, "fork");

	if (!poor)
		return real();
	errno = ENOMEM;
	return -1;
}

static void set_up(void)
{
	make_directory(directory);
	snprintf(result, sizeof(result), "%s/result", directory);
	snprintf(messages, sizeof(messages), "%s/messages", directory);
}

static void tear_down(void)
{
	unlink(result);
	unlink(messages);
	/* fails if a temporary file was left */
	ck_assert_int_eq(rmdir(directory), 0);
}

static const char *contents(const char *path)
{
	static char text[4096];
	FILE *f = fopen(path, "r");

	if (!f)
		return "(none)";
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

/* guard_run() in a process of its own, with its messages in a file */
static int run_with(int (*work)(struct guard *g, FILE *out, void *arg),
		    bool (*without)(const char *file, const char *reason,
				    void *arg),
		    void *arg)
{
	struct guard_job job = { .program = "prog",
				 .file = "a.dat",
				 .output = result,
				 .idle_cpu = 1,
				 .work = work,
				 .without = without,
				 .arg = arg };
	pid_t pid = fork();
	int status;

	if (!pid) {
		int fd = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(fd, STDERR_FILENO);
		close(fd);
		_exit(guard_run(&job));
	}
	waitpid(pid, &status, 0);
	return status;
}

static int run(int (*work)(struct guard *g, FILE *out, void *arg))
{
	return run_with(work, NULL, NULL);
}

static void expect(int (*work)(struct guard *g, FILE *out, void *arg),
		   int exit_status, const char *message)
{
	int status = run(work);

	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), exit_status);
	ck_assert_str_eq(contents(messages), message);
	ck_assert_str_eq(contents(result), exit_status ? "(none)" : "done\n");
}

static int good(struct guard *g, FILE *out, void *arg)
{
	(void)g;
	(void)arg;
	fputs("noise", stdout);
	fputs("noise", stderr);
	fputs("done\n", out);
	return 0;
}

static int note(struct guard *g, FILE *out, void *arg)
{
	guard_note(g, "look: %d", 1);
	guard_progress(g, "not for a file");
	return good(g, out, arg);
}

static int reason(struct guard *g, FILE *out, void *arg)
{
	(void)arg;
	fputs("partial", out);
	fputs("noise", stderr);
	guard_fail(g, 1234, "damaged: %s", "a");
	return guard_fail(g, 5678, "the second does not count");
}

static int usage(struct guard *g, FILE *out, void *arg)
{
	(void)out;
	(void)arg;
	return guard_fail_usage(g, "what\n  that\n  ^");
}

static int noise(struct guard *g, FILE *out, void *arg)
{
	(void)g;
	(void)out;
	(void)arg;
	fprintf(stderr, "\n  first \033 line\nsecond line\n");
	return EXIT_FAILURE;
}

static int silence(struct guard *g, FILE *out, void *arg)
{
	(void)g;
	(void)out;
	(void)arg;
	return EXIT_FAILURE;
}

static int crash(struct guard *g, FILE *out, void *arg)
{
	(void)arg;
	fputs("partial", out);
	guard_alive(g, 4096);
	signal(SIGSEGV, SIG_DFL); /* even with sanitizers */
	raise(SIGSEGV);
	return 0;
}

#ifdef __SANITIZE_ADDRESS__
static int overflow(struct guard *g, FILE *out, void *arg)
{
	volatile size_t size = 8; /* or the compiler refuses it */
	volatile char *byte = malloc(size);

	(void)g;
	(void)out;
	(void)arg;
	byte[size] = 1;
	return 0;
}

/* The report is in a file, but if there is none, the user has it */
START_TEST(sanitizer)
{
	const char *text;

	unsetenv("ASAN_OPTIONS");
	run(overflow);
	text = contents(messages);
	ck_assert_ptr_nonnull(strstr(text, "heap-buffer-overflow"));
	ck_assert_ptr_nonnull(strstr(text, "in overflow"));
}
END_TEST
#endif

static int killed(struct guard *g, FILE *out, void *arg)
{
	(void)g;
	(void)out;
	(void)arg;
	raise(SIGKILL);
	return 0;
}

static int loop(struct guard *g, FILE *out, void *arg)
{
	volatile int forever = 1;

	(void)out;
	(void)arg;
	guard_alive(g, 77);
	while (forever)
		;
	return 0;
}

/* Longer than idle_cpu, but with signs of life */
static int busy(struct guard *g, FILE *out, void *arg)
{
	volatile unsigned long i;
	int round;

	for (round = 0; round < 30; round++) {
		for (i = 0; i < 50000000; i++)
			;
		guard_alive(g, round);
	}
	return good(g, out, arg);
}

static int many_words(struct guard *g, FILE *out, void *arg)
{
	char text[10000];
	int i;

	(void)out;
	(void)arg;
	for (i = 0; i < 100000; i++) /* more than a pipe holds */
		fputs("noise\n", stderr);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	return guard_fail(g, GUARD_NOWHERE, "%s", text);
}

/* Crashes, or fails, over files of these names, until they are left out */
static const char *bad[3];

static int some_bad(struct guard *g, FILE *out, void *arg)
{
	signal(SIGSEGV, SIG_DFL); /* even with sanitizers */
	if (bad[0]) {
		guard_file(g, bad[0]);
		guard_alive(g, 100);
		raise(SIGSEGV);
	}
	guard_file(g, "d.dat");
	guard_fail(g, 200, "not so good");
	ck_assert_str_eq(guard_go_on(g), "200: not so good");
	/* After a crash without a file to blame, the work is not repeated */
	guard_file(g, "");
	if (arg)
		raise(SIGSEGV);
	fputs("done\n", out);
	return 0;
}

static bool leave_out(const char *file, const char *reason, void *arg)
{
	(void)arg;
	if (!bad[0] || strcmp(file, bad[0]) != 0 ||
	    strncmp(reason, "100: damaged: ", 14) != 0)
		return false;
	bad[0] = bad[1];
	bad[1] = bad[2];
	return true;
}

static int closed_pipe(struct guard *g, FILE *out, void *arg)
{
	(void)g;
	(void)out;
	(void)arg;
	raise(SIGPIPE);
	return 0;
}

START_TEST(success)
{
	expect(good, 0, "");
	expect(note, 0, "prog: a.dat: look: 1\n");
}
END_TEST

START_TEST(failures)
{
	expect(reason, 1, "prog: a.dat:1234: damaged: a\n");
	expect(usage, 1, "prog: what\n  that\n  ^\n");
	expect(noise, 1, "prog: a.dat: cannot be read: first ? line\n");
	expect(silence, 1, "prog: a.dat: cannot be read\n");
}
END_TEST

START_TEST(deaths)
{
	expect(crash, 1,
	       "prog: a.dat:4096: damaged: the process that reads it crashed (Segmentation fault)\n");
	expect(killed, 1,
	       "prog: a.dat: the process that reads it was killed (out of memory?)\n");
}
END_TEST

#define CRASH \
	"damaged: the process that reads it crashed (Segmentation fault)\n"
#define BOTH                                                \
	"prog: b.dat:100: " CRASH "prog: c.dat:100: " CRASH \
	"prog: d.dat:200: not so good\n"

START_TEST(without_some)
{
	static char crash_too[1];
	int status;

	bad[0] = "b.dat";
	bad[1] = "c.dat";
	status = run_with(some_bad, leave_out, NULL);
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	ck_assert_str_eq(contents(messages), BOTH);
	ck_assert_str_eq(contents(result), "done\n");
	status = run_with(some_bad, leave_out, crash_too);
	ck_assert_int_eq(WEXITSTATUS(status), 1);
	ck_assert_str_eq(contents(messages), BOTH "prog: a.dat: " CRASH);
	/* Without a function that skips the file, it fails */
	status = run(some_bad);
	ck_assert_int_eq(WEXITSTATUS(status), 1);
	ck_assert_str_eq(contents(messages), "prog: b.dat:100: " CRASH);
}
END_TEST

START_TEST(idle)
{
	expect(loop, 1, "prog: a.dat:77: damaged: reading makes no progress\n");
	expect(busy, 0, "");
}
END_TEST

START_TEST(flood)
{
	int status = run(many_words);
	const char *text = contents(messages);

	ck_assert_int_eq(WEXITSTATUS(status), 1);
	ck_assert_int_eq(strncmp(text, "prog: a.dat: xxx", 16), 0);
	ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
}
END_TEST

START_TEST(pipe_is_closed)
{
	int status = run(closed_pipe);

	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGPIPE);
	ck_assert_str_eq(contents(messages), "");
}
END_TEST

/* A result that is there already stays until there is a better one. */
START_TEST(replaces)
{
	FILE *f = fopen(result, "w");
	int status;

	fputs("before\n", f);
	fclose(f);
	status = run(crash);
	ck_assert_int_eq(WEXITSTATUS(status), 1);
	ck_assert_str_eq(contents(result), "before\n");
	status = run(good);
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	ck_assert_str_eq(contents(result), "done\n");
}
END_TEST

/* tear_down() finds a temporary file that is left */
START_TEST(no_child)
{
	struct guard_job job = { .program = "prog",
				 .file = "a.dat",
				 .output = result,
				 .work = good };
	pid_t pid = fork();
	int status;

	if (!pid) {
		int fd = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(fd, STDERR_FILENO);
		poor = true;
		_exit(guard_run(&job));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, W_EXITCODE(EXIT_FAILURE, 0));
	ck_assert_ptr_nonnull(strstr(contents(messages), ": out of memory: "));
	ck_assert_str_eq(contents(result), "(none)");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guard");
	TCase *tc = tcase_create("guard");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, success);
	tcase_add_test(tc, failures);
	tcase_add_test(tc, deaths);
	tcase_add_test(tc, without_some);
	tcase_add_test(tc, idle);
	tcase_add_test(tc, flood);
	tcase_add_test(tc, pipe_is_closed);
	tcase_add_test(tc, replaces);
	tcase_add_test(tc, no_child);
#ifdef __SANITIZE_ADDRESS__
	tcase_add_test(tc, sanitizer);
#endif
	suite_add_tcase(s, tc);
	return run_suite(s);
}
