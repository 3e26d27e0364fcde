// SPDX-License-Identifier: GPL-2.0
/* Reports cases to a command and to the journal. See notify.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include <systemd/sd-journal.h>

#include "child.h"
#include "memory.h"
#include "notify.h"
#include "text.h"
#include "tracerig.h"

/* Identifies entries for cases: journalctl MESSAGE_ID=... */
#define MESSAGE_ID "780979a1a7ab42f38f94f87832f0a8ae"

/* Add to the text in parentheses at the end of a message; the closing one is still due */
static void add_remark(char *buf, size_t size, const char *text)
{
	size_t len = strlen(buf);

	if (*text)
		snprintf(buf + len, size - len, "%s%s", len ? "; " : " (",
			 text);
}

/**
 * notice_message - describe a case in a line
 * @n: the case; its message is not used
 *
 * Return: the line, for free().
 */
char *notice_message(const struct notice *n)
{
	char value[32], limit[32], which[64], text[500], more[600] = "";

	format_value(value, sizeof(value), n->value, n->is_time);
	format_value(limit, sizeof(limit), n->limit, n->is_time);
	if (n->number)
		snprintf(which, sizeof(which), "case %llu", n->number);
	else if (n->like && !*n->why)
		snprintf(which, sizeof(which), "like case %llu", n->like);
	else
		snprintf(which, sizeof(which), "not kept");
	add_remark(more, sizeof(more),
		   alarms_text(text, sizeof(text), n->nr_alarms, n->charts));
	*text = '\0';
	if (n->alike > 1)
		snprintf(text, sizeof(text), "%llu alike", n->alike);
	add_remark(more, sizeof(more), text);
	*text = '\0';
	if (n->removed)
		snprintf(text, sizeof(text), "replaces case %llu", n->removed);
	add_remark(more, sizeof(more), text);
	return xasprintf("%s: %s %s %s, limit %s, %s, process %s-%d%s%s", which,
			 n->chart, n->is_time ? "took" : "is", value, limit,
			 n->keys, n->comm, n->pid, more, *more ? ")" : "");
}

static void set_number(const char *name, u64 n)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", n);
	setenv(name, text, 1);
}

static void set_environment(const struct notice *n, u64 skipped)
{
	set_number("TRACERIG_CASE", n->number);
	set_number("TRACERIG_LIKE", n->like);
	set_number("TRACERIG_ALIKE", n->alike);
	setenv("TRACERIG_DIR", n->dir, 1);
	setenv("TRACERIG_GROUP", n->group, 1);
	setenv("TRACERIG_CHART", n->chart, 1);
	set_number("TRACERIG_VALUE", n->value);
	set_number("TRACERIG_LIMIT", n->limit);
	setenv("TRACERIG_UNIT", n->is_time ? "ns" : "", 1);
	set_number("TRACERIG_PID", n->pid);
	setenv("TRACERIG_COMM", n->comm, 1);
	setenv("TRACERIG_KEYS", n->keys, 1);
	set_number("TRACERIG_ALARMS", n->nr_alarms);
	set_number("TRACERIG_SKIPPED", skipped);
	setenv("TRACERIG_ERROR", n->why, 1);
	setenv("TRACERIG_MESSAGE", n->message, 1);
}

/**
 * command_start - start the command for a case
 * @c: the command
 * @n: the case
 * @now: ns of CLOCK_MONOTONIC
 *
 * It is not started while it still runs, nor before its interval is over. The cases for
 * which it was not started are counted; the next process gets their number.
 *
 * Return: whether it was started.
 */
bool command_start(struct command *c, const struct notice *n, u64 now)
{
	int null;

	if (!c->text)
		return false;
	if (c->pid || now < c->next) {
		c->skipped++;
		return false;
	}
	c->pid = child_fork(false);
	if (!c->pid) {
		null = open("/dev/null", O_RDONLY);
		dup2(null, STDIN_FILENO);
		set_environment(n, c->skipped);
		execl("/bin/sh", "sh", "-c", c->text, NULL);
		_exit(127);
	}
	if (c->pid < 0) {
		complain("--on-alarm: %s", strerror(errno));
		c->pid = 0;
		c->skipped++;
		return false;
	}
	c->skipped = 0;
	c->next = now + c->interval;
	return true;
}

/**
 * command_ended - the command's process has ended
 * @c: the command
 * @status: as wait() returns it
 */
void command_ended(struct command *c, int status)
{
	c->pid = 0;
	if (!status)
		return;
	c->failed++;
	if (WIFSIGNALED(status))
		complain("--on-alarm: %s: killed by signal %d", c->text,
			 WTERMSIG(status));
	else
		complain("--on-alarm: %s: exit status %d", c->text,
			 WEXITSTATUS(status));
}

/* How long the last command may take when the watch ends, ms */
#define LAST_COMMAND 10000

/**
 * command_wait - wait for the command's process, when the watch ends
 * @c: the command
 */
void command_wait(struct command *c)
{
	int fd, status;

	if (!c->pid)
		return;
	fd = pidfd_open(c->pid, 0);
	if (fd >= 0) {
		poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1,
		     LAST_COMMAND);
		close(fd);
	}
	if (waitpid(c->pid, &status, WNOHANG) == c->pid)
		command_ended(c, status);
	else
		complain("--on-alarm: %s: has not ended", c->text);
}

/* systemd sets JOURNAL_STREAM to DEVICE:INODE of a service's output if that is the journal */
static bool output_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       !fstat(STDOUT_FILENO, &st) && st.st_dev == device &&
	       st.st_ino == inode;
}

/**
 * journal_send - make a structured entry in the journal for a case
 * @n: the case
 *
 * Return: true if the message is in the journal, and would be there twice if it were
 * printed.
 */
bool journal_send(const struct notice *n)
{
	int ret;

	/* Without a journal, this does nothing and returns 0 */
	ret = sd_journal_send(
		"MESSAGE=%s", n->message, "MESSAGE_ID=" MESSAGE_ID,
		"PRIORITY=%d", LOG_WARNING, "TRACERIG_CASE=%llu", n->number,
		"TRACERIG_LIKE=%llu", n->like, "TRACERIG_ALIKE=%llu", n->alike,
		"TRACERIG_DIR=%s", n->dir, "TRACERIG_GROUP=%s", n->group,
		"TRACERIG_CHART=%s", n->chart, "TRACERIG_VALUE=%llu", n->value,
		"TRACERIG_LIMIT=%llu", n->limit, "TRACERIG_UNIT=%s",
		n->is_time ? "ns" : "", "TRACERIG_PID=%d", n->pid,
		"TRACERIG_COMM=%s", n->comm, "TRACERIG_KEYS=%s", n->keys,
		"TRACERIG_ALARMS=%llu", n->nr_alarms, "TRACERIG_ERROR=%s",
		n->why, NULL);
	return !ret && output_is_journal();
}
