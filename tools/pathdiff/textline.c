// SPDX-License-Identifier: GPL-2.0
/*
 * A line of a trace's text: of the files trace and trace_pipe of tracefs, of trace-cmd
 * report, and of perf ftrace.
 *
 * With the function_graph tracer as the current one, tracefs and perf write
 *
 *	 1)    bash-421    |   2.812 us    |      vfs_read();
 *
 * where time ("100.000001 |" before the CPU), CPU, task, context and duration can each
 * be switched off or on. All other lines have the form
 *
 *	    bash-421   [001] d..1.  100.000001: event: fields
 *
 * with "1d..1." for "[001] d..1." in trace-cmd's latency format. Their events
 * "funcgraph_entry" and "funcgraph_exit" have the columns of the former from the
 * duration on. Formats: kernel/trace/trace_functions_graph.c and trace_output.c
 * of Linux, plugin_function's and the function_graph plugin of libtraceevent.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cut.h"
#include "textline.h"

/* Blanks after the column with the duration */
#define MIN_INDENT 2

/* A name of 15 bytes, a dash, a thread ID, and blanks around them */
#define MAX_TASK_COLUMN 40

static const char *skip_blanks(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

/* A number of at most 18 digits; moves @s past it */
static bool read_number(const char **s, u64 *n)
{
	const char *p = *s;

	for (*n = 0; isdigit((unsigned char)*p) && p - *s < 18; p++)
		*n = 10 * *n + (*p - '0');
	if (p == *s || isdigit((unsigned char)*p))
		return false;
	*s = p;
	return true;
}

/* "12.345", in units of @unit ns, with at most 9 digits after the point */
static bool read_time(const char **s, u64 unit, u64 *ns)
{
	const char *p = *s;
	u64 whole, part = 0, scale = 1;

	if (!read_number(&p, &whole) || whole > U64_MAX / 4 / unit || *p != '.')
		return false;
	for (p++; isdigit((unsigned char)*p); p++) {
		if (scale >= 1000000000)
			return false;
		part = 10 * part + (*p - '0');
		scale *= 10;
	}
	*ns = whole * unit + part * unit / scale;
	*s = p;
	return true;
}

/**
 * line_task - a task as traces write it: "comm-pid"
 * @text: where it begins and ends, blanks apart
 * @len: bytes
 * @task: the task
 *
 * A name can contain blanks and dashes.
 *
 * Return: whether it is one.
 */
static bool line_task(const char *text, size_t len, struct line_task *task)
{
	const char *end = text + len, *digits, *at;
	u64 pid;

	while (text < end && isspace((unsigned char)*text))
		text++;
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	for (digits = end; digits > text && isdigit((unsigned char)digits[-1]);)
		digits--;
	if (digits == end || end - digits > 9 || digits - 1 <= text ||
	    digits[-1] != '-')
		return false;
	len = digits - 1 - text;
	if (len >= sizeof(task->comm))
		return false;
	at = digits;
	read_number(&at, &pid);
	memcpy(task->comm, text, len);
	task->comm[len] = '\0';
	task->pid = pid;
	return true;
}

/* "d.h1.": interrupts off, reschedule, context, preemption depth, migration depth */
static bool read_flags(const char *s, size_t len, struct line *l)
{
	size_t i;

	if (len < 4 || len > 6)
		return false;
	for (i = 0; i < len; i++) {
		if (!strchr("dDXbB.NnpLlhHszZ0123456789abcdef", s[i]))
			return false;
	}
	if (!strchr(".hHszZ", s[2]))
		return false;
	l->has_flags = true;
	l->flags = 0;
	if (strchr("hHz", s[2]))
		l->flags |= TRACE_HARDIRQ;
	if (strchr("sH", s[2]))
		l->flags |= TRACE_SOFTIRQ;
	if (strchr("zZ", s[2]))
		l->flags |= TRACE_NMI;
	return true;
}

/* "+ 12.345 us", "$ 1234567 us": how long, marked if it is long; no fraction from 1 s on */
static bool read_duration(const char *s, size_t len, struct line *l)
{
	const char *end = s + len;
	u64 us;

	if (len && strchr("+!#*@$", *s))
		s = skip_blanks(s + 1);
	if (s >= end)
		return false;
	if (!read_time(&s, 1000, &l->duration)) {
		if (!read_number(&s, &us) || us > U64_MAX / 4000)
			return false;
		l->duration = 1000 * us;
	}
	if (s >= end)
		return false;
	s = skip_blanks(s);
	if (s + 2 > end || memcmp(s, "us", 2) != 0)
		return false;
	l->has_duration = true;
	return true;
}

/* Cuts off a comment at the end, and blanks: returns the comment or NULL */
static char *cut_comment(char *s)
{
	size_t len = strlen(s);
	char *comment = NULL;

	while (len && isspace((unsigned char)s[len - 1]))
		s[--len] = '\0';
	if (len >= 4 && !strcmp(s + len - 2, "*/")) {
		s[len - 2] = '\0';
		comment = strstr(s, "/*");
		if (!comment)
			return NULL;
		*comment = '\0';
		comment += 2;
	}
	len = strlen(s);
	while (len && isspace((unsigned char)s[len - 1]))
		s[--len] = '\0';
	return comment;
}

/* "foo" or "foo [module]": its length in bytes, 0 if it is not the name of a function */
static size_t function_name(const char *s)
{
	const char *p = s, *module;

	while (isalnum((unsigned char)*p) || (*p && strchr("_.$", *p)))
		p++;
	if (p == s || p - s >= LINE_NAME / 2)
		return 0;
	if (p[0] != ' ' || p[1] != '[')
		return p - s;
	for (module = p += 2; isalnum((unsigned char)*p) || *p == '_';)
		p++;
	if (p == module || *p != ']' || p - module >= LINE_NAME / 2 - 4)
		return 0;
	return p + 1 - s;
}

static void set_name(struct line *l, const char *s, size_t len)
{
	memcpy(l->name, s, len);
	l->name[len] = '\0';
}

/*
 * "sched_switch: prev_comm=...", of a comment or after a time stamp; "(+12)" is in
 * between with trace-cmd report --ts-diff
 */
static void read_event(struct line *l, char *s)
{
	char *colon;

	s += strspn(s, " \t");
	if (!strncmp(s, "(+", 2)) {
		s += strcspn(s, ")");
		s += strspn(s, ") \t");
	}
	colon = strchr(s, ':');
	if (!colon || colon == s || (size_t)(colon - s) >= sizeof(l->name) ||
	    strcspn(s, " \t") < (size_t)(colon - s))
		return;
	set_name(l, s, colon - s);
	l->fields = colon + 1;
	l->kind = LINE_EVENT;
}

/* "==========>" and "<==========": an interrupt begins or ends */
static bool read_arrow(struct line *l, const char *s, size_t len)
{
	if (len == 11 && !memcmp(s, "==========>", 11))
		l->kind = LINE_IRQ_BEGIN;
	if (len == 11 && !memcmp(s, "<==========", 11))
		l->kind = LINE_IRQ_END;
	return l->kind != LINE_OTHER;
}

/* The function column; functions without a recorded caller have an indentation, too */
static void read_function(struct line *l, char *s, size_t indent)
{
	size_t blanks = strspn(s, " "), len;
	const char *rest;
	char *comment;

	l->indent = blanks;
	s += blanks;
	comment = cut_comment(s);
	if (!*s) {
		if (comment)
			read_event(l, comment);
		else if (l->has_duration)
			l->kind = LINE_CUT;
		return;
	}
	/* An arrow is here if there is no column with the duration */
	if ((s[0] == '/' && s[1] == '*') || read_arrow(l, s, strlen(s)))
		return;
	if (*s == '}') {
		l->kind = LINE_LEAVE;
		if (!comment)
			return;
		comment += strspn(comment, " ");
		len = function_name(comment);
		rest = comment + len;
		/* "} = 0x1", "ret=0x1" and "<-caller" name no function */
		if (len && (!*rest || *rest == ' '))
			set_name(l, comment, len);
		return;
	}
	/* What is no call has been wrapped or cut off, or has lost its indentation */
	l->kind = LINE_CUT;
	len = function_name(s);
	rest = s + len;
	if (!len || *rest != '(' || blanks < indent)
		return;
	set_name(l, s, len);
	if (s[strlen(s) - 1] == '{')
		l->kind = LINE_ENTER;
	else if (s[strlen(s) - 1] == ';')
		l->kind = LINE_LEAF;
}

/*
 * The task's column: a name can contain "|", too. Returns the "|" after it, or NULL if
 * there is none.
 */
static char *read_task_column(struct line *l, char *from)
{
	char *bar = from;

	while ((bar = strchr(bar, '|')) && bar - from < MAX_TASK_COLUMN) {
		l->has_task = line_task(from, bar - from, &l->task);
		if (l->has_task)
			return bar;
		bar++;
	}
	return NULL;
}

/* Columns up to the function: task, context and duration, each with "|" after it */
static void read_columns(struct line *l, char *s)
{
	size_t indent = 0;

	for (;;) {
		char *bar = strchr(s, '|'), *from = s, *to = bar;

		if (!bar)
			break;
		while (from < to && isspace((unsigned char)*from))
			from++;
		while (to > from && isspace((unsigned char)to[-1]))
			to--;
		if (read_arrow(l, from, to - from))
			return;
		if (from == to || read_duration(from, to - from, l)) {
			indent = MIN_INDENT;
			s = bar + 1;
			break;
		}
		if (!l->has_flags && read_flags(from, to - from, l)) {
			s = bar + 1;
			continue;
		}
		if (l->has_task || !(bar = read_task_column(l, from)))
			break;
		s = bar + 1;
	}
	read_function(l, s, indent);
}

/* " 0)  bash-1  =>  sshd-2" */
static bool read_switched(struct line *l, const char *s)
{
	const char *arrow = strstr(s, " => ");

	if (!arrow || !line_task(s, arrow - s, &l->task) ||
	    !line_task(arrow + 4, strlen(arrow + 4), &l->next))
		return false;
	l->has_task = true;
	l->kind = LINE_SWITCHED;
	return true;
}

/* A line of the function_graph tracer, from its beginning */
static void read_graph(struct line *l, char *s)
{
	const char *p;
	u64 n;

	for (;;) {
		/* "100.000001 |", and "12 us |" since the line before */
		p = skip_blanks(s);
		if (read_time(&p, 1000000000, &n) && *skip_blanks(p) == '|') {
			l->has_ts = true;
			l->ts = n;
		} else {
			p = skip_blanks(s);
			if (!read_number(&p, &n) ||
			    strncmp(skip_blanks(p), "us |", 4) != 0)
				break;
		}
		s = strchr(s, '|') + 1;
	}
	p = skip_blanks(s);
	if (read_number(&p, &n) && *p == ')' && n <= U32_MAX) {
		l->has_cpu = true;
		l->cpu = n;
		s += p + 1 - s;
		if (read_switched(l, s))
			return;
	}
	read_columns(l, s);
	/* Prose is none: it has neither CPU nor columns */
	if (l->kind == LINE_CUT && !(l->has_cpu && strchr(s, '|')))
		l->kind = LINE_OTHER;
	if (l->kind == LINE_OTHER && l->has_cpu && !*skip_blanks(s))
		l->kind = LINE_CUT;
}

/*
 * "[001] d..1. 100.000001:", of the latency format "1d..1. 100.000001:", flags apart.
 * Returns what is after it, or NULL.
 */
static const char *read_where(struct line *l, const char *at)
{
	bool bracket = *at == '[';
	const char *p = at + bracket;
	size_t len;
	u64 cpu;

	l->refused = NULL;
	l->has_flags = false;
	if (!read_number(&p, &cpu) || cpu > U32_MAX || (bracket && *p++ != ']'))
		return NULL;
	l->cpu = cpu;
	if (bracket)
		p = skip_blanks(p);
	len = strcspn(p, " \t:");
	/* No blank is between flags and a time without a unit */
	if (p[len] == ':') {
		while (len && isdigit((unsigned char)p[len - 1]))
			len--;
	}
	if (read_flags(p, len, l))
		p = skip_blanks(p + len);
	else if (!bracket)
		return NULL;
	len = strspn(p, "0123456789");
	if (len && p[len] == ':') {
		l->refused =
			"times without a unit cannot be read: leave out --raw-ts of trace-cmd report, or record with another clock";
		return p + len + 1;
	}
	return read_time(&p, 1000000000, &l->ts) && *p == ':' ? p + 1 : NULL;
}

static bool is_graph_event(const char *name)
{
	return !strcmp(name, "funcgraph_entry") ||
	       !strcmp(name, "funcgraph_exit") ||
	       !strcmp(name, "funcgraph_retaddr_entry") ||
	       !strcmp(name, "fgraph_retaddr_entry");
}

/* Cuts off the depth at the end, "f(); (2)" of trace-cmd report -O fgraph:depth=1 */
static void cut_depth(char *s)
{
	char *paren = strrchr(s, '('), *end = paren;
	const char *p = paren ? paren + 1 : NULL;
	u64 depth;

	if (!p || !read_number(&p, &depth) || strcmp(p, ")") != 0)
		return;
	while (end > s && end[-1] == ' ')
		end--;
	if (end > s && end < paren && strchr(";{}/", end[-1]))
		*end = '\0';
}

/* A call or return in a report, in columns as the tracer's */
static void read_graph_event(struct line *l, char *fields)
{
	const char *p = skip_blanks(fields);

	l->kind = LINE_OTHER;
	l->name[0] = '\0';
	if (!strncmp(p, "func=", 5))
		l->refused =
			"calls as fields cannot be read: leave out -R and -r of trace-cmd report";
	else if (!strncmp(p, "-->", 3) || !strncmp(p, "<--", 3))
		l->refused =
			"calls without braces cannot be read: leave out -N and -n of trace-cmd report";
	if (l->refused)
		return;
	cut_depth(fields);
	read_columns(l, fields);
	if (l->kind == LINE_OTHER)
		l->has_task = false;
}

/*
 * "comm-pid [cpu] flags time: event: fields". A name can contain brackets and blanks: the
 * CPU is what a time stamp follows.
 */
static bool read_report(struct line *l, char *s)
{
	const char *at, *event = NULL;
	size_t len;

	for (at = s + strcspn(s, " ["); *at && !event; at += !event) {
		if (*at == '[' ||
		    (isdigit((unsigned char)*at) && at[-1] == ' '))
			event = read_where(l, at);
	}
	if (!event) {
		l->refused = NULL;
		l->has_flags = false;
		l->cpu = 0;
		return false;
	}
	len = at - s;
	/* "(  421)" or "(-----)": the process of the thread */
	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	if (len && s[len - 1] == ')') {
		while (len && s[len - 1] != '(')
			len--;
		len -= !!len;
	}
	l->has_task = line_task(s, len, &l->task);
	l->has_ts = true;
	l->has_cpu = true;
	read_event(l, s + (event - s));
	if (l->kind == LINE_EVENT && is_graph_event(l->name)) {
		read_graph_event(l, s + (l->fields - s));
	} else if (l->refused) {
		l->refused = NULL;
		l->kind = LINE_OTHER;
	}
	return true;
}

/* "...", "[...]", "[snip]", ":" and the like, instead of lines */
static bool is_ellipsis(const char *s)
{
	static const char *const words[] = { "snip", "snipped", "cut",
					     "skip", "skipped", NULL };
	char word[16] = "";
	size_t len = 0, dots = 0, i;

	for (; *s; s++) {
		if (isalpha((unsigned char)*s) && len < sizeof(word) - 1)
			word[len++] = tolower((unsigned char)*s);
		else if (!strncmp(s, "\xe2\x80\xa6", 3))
			dots += 3;
		else if (*s == '.' || *s == ':')
			dots += *s == ':' ? 3 : 1;
		else if (!strchr("[]<>()-\x80\xa6", *s) &&
			 !isspace((unsigned char)*s))
			return false;
	}
	for (i = 0; len && words[i]; i++) {
		if (!strcmp(word, words[i]))
			return true;
	}
	return !len && dots >= 3;
}

/* "CPU:1 [LOST 12 EVENTS]", and trace-cmd's "CPU:1 [12 EVENTS DROPPED]" */
static bool read_lost(struct line *l, const char *s)
{
	u64 cpu;

	s = skip_blanks(s);
	if (strncmp(s, "CPU:", 4) != 0)
		return false;
	s += 4;
	if (!read_number(&s, &cpu) || cpu > U32_MAX || strncmp(s, " [", 2) != 0)
		return false;
	s += 2;
	if (!strncmp(s, "LOST ", 5))
		s += 5;
	if (read_number(&s, &l->lost))
		s = skip_blanks(s);
	if (strncmp(s, "EVENTS", 6) != 0)
		return false;
	l->kind = LINE_LOST;
	l->cpu = cpu;
	return true;
}

/* No-break spaces, as web pages have them, become blanks */
static void mend_blanks(char *text)
{
	char *to = strstr(text, "\xc2\xa0"), *from = to;

	while (from && *from) {
		from += !strncmp(from, "\xc2\xa0", 2);
		*to++ = *from == '\xa0' ? ' ' : *from;
		from++;
	}
	if (to)
		*to = '\0';
}

/* Skip quotation marks of a mail, and the time stamp of the kernel log: "[   12.345678] " */
static char *skip_prefix(char *text)
{
	const char *p;
	u64 ns;

	mend_blanks(text);
	while (*text == '>')
		text += 1 + (text[1] == ' ');
	if (*text != '[')
		return text;
	p = skip_blanks(text + 1);
	if (!read_time(&p, 1000000000, &ns) || p[0] != ']' || p[1] != ' ')
		return text;
	return text + (p + 2 - text);
}

/**
 * line_parse - parse a line
 * @l: it
 * @text: the line, which is changed, and which @l->fields points into
 */
void line_parse(struct line *l, char *text)
{
	const char *p;
	size_t len;

	l->kind = LINE_OTHER;
	l->has_cpu = l->has_ts = l->has_task = false;
	l->has_duration = l->has_flags = false;
	l->flags = 0;
	l->duration = 0;
	l->lost = 0;
	l->refused = NULL;
	l->name[0] = '\0';
	l->fields = "";
	text = skip_prefix(text);
	len = strlen(text);
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	p = skip_blanks(text);
	if (!*p || *p == '#')
		return;
	if (!strncmp(p, "=> ", 3)) {
		len = function_name(p + 3);
		if (len) {
			set_name(l, p + 3, len);
			l->kind = LINE_STACK;
		}
		return;
	}
	if (is_ellipsis(text))
		l->kind = LINE_CUT;
	else if (!read_lost(l, text) && !read_report(l, text))
		read_graph(l, text);
}

/* Where a field's value begins: after "key=" at the beginning of a word */
static const char *value_of(const char *fields, const char *key)
{
	size_t len = strlen(key);
	const char *p = fields;

	while ((p = strstr(p, key))) {
		if ((p == fields || p[-1] == ' ') && p[len] == '=')
			return p + len + 1;
		p += len;
	}
	return NULL;
}

/**
 * line_number - a field of an event that is a number
 * @fields: the event's text
 * @key: the field's name
 * @n: its value
 *
 * Return: whether it is there.
 */
bool line_number(const char *fields, const char *key, u64 *n)
{
	const char *p = value_of(fields, key);

	return p && read_number(&p, n);
}

/**
 * line_string - a field of an event that is text
 * @fields: the event's text
 * @key: the field's name
 * @buf: its value, cut off at the buffer's size
 * @size: bytes
 *
 * Text can contain blanks: it ends where the next "key=", "==>" or a bracket begins.
 *
 * Return: whether it is there.
 */
bool line_string(const char *fields, const char *key, char *buf, size_t size)
{
	const char *p = value_of(fields, key), *end;

	if (!p)
		return false;
	for (end = p; *end; end++) {
		const char *q = end + 1;

		if (*end != ' ')
			continue;
		if (!strncmp(q, "==>", 3) || *q == '[')
			break;
		while (isalnum((unsigned char)*q) || *q == '_')
			q++;
		if (q > end + 1 && *q == '=')
			break;
	}
	if ((size_t)(end - p) >= size)
		end = p + size - 1;
	memcpy(buf, p, end - p);
	buf[end - p] = '\0';
	return true;
}
