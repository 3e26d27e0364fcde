// SPDX-License-Identifier: GPL-2.0
/* tracerig open: one page for a browser with all that a case shows. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"
#include "cli.h"
#include "memory.h"
#include "open.h"
#include "operand.h"
#include "text.h"
#include "tracerig.h"

/* Bytes of a page, so that it can be mailed */
#define PAGE_MAX 5000000

/* CPU seconds without progress: a damaged trace.dat */
#define IDLE_CPU 60

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0,
	  "Write to FILE and open no browser; FILE is replaced only if there was no error; - is standard output (case-N.html)",
	  2 },
	{ 0 }
};

static const char doc[] =
	"Make a page of a case, case-N.html in the current directory, and open it with "
	"xdg-open if there is a display. It has the cause with its evidence, what all CPUs "
	"did, the chart and the state of the system, and needs no other file.\n\n"
	"CASE is the number of a case, or a directory with a case." OPERAND_DOC
	"\v"
	"Examples:\n"
	"  tracerig open 3\n"
	"  tracerig open ./3 -o mail.html\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

/* What argp fills in */
struct command {
	struct operand operand;
	struct open_page page;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct command *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->operand;
		state->child_inputs[1] = &c->page.x.timeout;
		return 0;
	case 'o':
		c->operand.output = cli_file(state, "output", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Its value is a time, and it is known when that began */
static bool has_duration(const struct open_page *p)
{
	struct json_object *chart = json_object_object_get(p->o, "chart");
	struct json_object *unit = json_object_object_get(chart, "unit");

	return p->x.op.start && p->x.op.end > p->x.op.start &&
	       !strcmp(json_object_get_string(unit), "ns");
}

/* Read the recording, with at most @most events, and make the page; both are freed */
static int render(struct guard *g, struct open_page *p, u64 most, char **page,
		  size_t *size)
{
	struct open_events *e = &p->events;
	u64 alarm = json_u64(json_object_object_get(p->o, "alarm"), "time");
	int status;
	FILE *out;

	*e = (struct open_events){
		.begin = p->is_operation ? p->x.op.start : alarm,
		.most = most,
	};
	e->end = max(alarm, p->x.op.end);
	status = open_events_read(g, p->x.file, e);
	if (!status) {
		out = text_open(page, size);
		open_html(p, out);
		text_close(out);
	}
	open_events_free(e);
	return status;
}

/* With fewer events if names and texts make the page too large */
static int work(struct guard *g, FILE *out, void *arg)
{
	struct open_page *p = arg;
	int status = explain_case(g, &p->x, p->o);
	u64 most = OPEN_EVENTS_MAX;
	char *page = NULL;
	size_t size = 0;

	p->is_operation = !status && has_duration(p);
	while (!status) {
		status = render(g, p, most, &page, &size);
		if (status || size <= PAGE_MAX || most == OPEN_EVENTS_LEAST)
			break;
		free(page);
		page = NULL;
		most = max(most / 2, (u64)OPEN_EVENTS_LEAST);
	}
	if (!status)
		fwrite(page, 1, size, out);
	free(page);
	json_object_put(p->stretches_left);
	explain_free(&p->x);
	return status;
}

static bool has_display(void)
{
	const char *x11 = getenv("DISPLAY");
	const char *wayland = getenv("WAYLAND_DISPLAY");

	return (x11 && *x11) || (wayland && *wayland);
}

/* The browser may stay open: this program does not wait for it */
static void show(const char *path)
{
	int status, null;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (fork())
			_exit(0);
		setsid();
		null = open("/dev/null", O_RDWR);
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execlp("xdg-open", "xdg-open", path, NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

static int make(struct open_page *p, const struct operand *o,
		const char *output)
{
	char *file = xasprintf("%s/trace.dat", p->dir);
	char *baseline = case_baseline(p->dir, p->o);
	struct guard_job job = { .program = PROGRAM " open",
				 .file = file,
				 .output = strcmp(output, "-") ? output : NULL,
				 .idle_cpu = IDLE_CPU,
				 .work = work,
				 .arg = p };
	int status = EXIT_FAILURE;

	p->x.file = file;
	p->x.baseline = baseline;
	if (access(file, R_OK) && errno == EACCES)
		complain("%s: %s: %s", file, strerror(errno),
			 case_advice(errno));
	else if (!job.output && isatty(STDOUT_FILENO))
		complain("a page cannot be written to a terminal");
	else if (!job.output || operand_check_output(o, output, p->dir))
		status = guard_run(&job);
	free(baseline);
	free(file);
	return status;
}

/**
 * open_main - the command open
 * @argc: as of main()
 * @argv: the same, the first one a name for messages
 *
 * Return: the exit status.
 */
int open_main(int argc, char **argv)
{
	static const struct argp argp = { options,	    parse, "CASE", doc,
					  explain_children, NULL,  NULL };
	struct command c = { .operand.dir = CASES_DIR,
			     .page.x.timeout = EXPLAIN_TIMEOUT };
	struct open_page *page = &c.page;
	int status = EXIT_FAILURE;
	char *error, *output;

	argp_parse(&argp, argc, argv, 0, NULL, &c);
	page->dir = operand_directory(&c.operand);
	page->o = case_read(page->dir, &error);
	if (error) {
		complain("%s", error);
	} else {
		page->damage = case_verify(page->dir, page->o);
		output = operand_output(&c.operand, json_u64(page->o, "case"),
					"html");
		status = make(page, &c.operand, output);
		if (!status && !c.operand.output) {
			puts(output);
			if (has_display())
				show(output);
		}
		/* The page shows it; as of explain, its cause may not be the true one */
		if (!status && complained(explain_damage(page->dir, page->o)))
			status = EXIT_FAILURE;
		free(output);
	}
	json_object_put(page->o);
	free(page->damage);
	free(page->dir);
	free(error);
	return status;
}
