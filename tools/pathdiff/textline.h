/* SPDX-License-Identifier: GPL-2.0 */
/* A line of a trace's text. */
#ifndef PATHDIFF_TEXTLINE_H
#define PATHDIFF_TEXTLINE_H

#include <linux/types.h>
#include <stdbool.h>

/* Longest name of a task, function or event, with its NUL */
#define LINE_NAME 256

/**
 * enum line_kind - kinds of lines
 * @LINE_OTHER: nothing of interest: a header, an empty line, prose around an excerpt
 * @LINE_ENTER: a function is called: "foo() {"
 * @LINE_LEAF: a function that calls no other was called and has returned: "foo();"
 * @LINE_LEAVE: a function returns: "}"
 * @LINE_SWITCHED: the CPU runs another task: "0)  bash-1  =>  sshd-2"
 * @LINE_IRQ_BEGIN: an interrupt begins: "==========> |", without "|" if durations are off
 * @LINE_IRQ_END: and ends: "<========== |"
 * @LINE_EVENT: an event: its name is in @name, its fields begin at @fields
 * @LINE_STACK: a function of a stack: " => foo"
 * @LINE_LOST: events of a CPU were lost
 * @LINE_CUT: lines are missing ("[...]"), or a part of this one is
 */
enum line_kind {
	LINE_OTHER,
	LINE_ENTER,
	LINE_LEAF,
	LINE_LEAVE,
	LINE_SWITCHED,
	LINE_IRQ_BEGIN,
	LINE_IRQ_END,
	LINE_EVENT,
	LINE_STACK,
	LINE_LOST,
	LINE_CUT,
};

/**
 * struct line_task - a task that a line names
 * @comm:	its name
 * @pid:	and thread ID
 */
struct line_task {
	char comm[LINE_NAME];
	s32 pid;
};

/**
 * struct line - a line, parsed
 * @kind:	an enum line_kind
 * @has_cpu:	@cpu is known
 * @has_ts:	@ts is known
 * @has_task:	@task is known
 * @has_duration: @duration is known
 * @has_flags:	@flags are known
 * @cpu:	the CPU
 * @ts:		time stamp, ns
 * @duration:	of a function, ns
 * @flags:	context, as common_flags of records: TRACE_HARDIRQ and so on
 * @indent:	columns before the function
 * @lost:	number of events that were lost, 0 if it is not said
 * @refused:	why the text cannot be read, or NULL
 * @task:	the task; of LINE_SWITCHED the previous one
 * @next:	of LINE_SWITCHED the next one
 * @name:	of a function or event; of LINE_LEAVE empty if it is not said
 * @fields:	of an event: its text, in the line
 */
struct line {
	enum line_kind kind;
	bool has_cpu;
	bool has_ts;
	bool has_task;
	bool has_duration;
	bool has_flags;
	u32 cpu;
	u64 ts;
	u64 duration;
	u32 flags;
	u32 indent;
	u64 lost;
	const char *refused;
	struct line_task task;
	struct line_task next;
	char name[LINE_NAME];
	const char *fields;
};

void line_parse(struct line *l, char *text);
bool line_number(const char *fields, const char *key, u64 *n);
bool line_string(const char *fields, const char *key, char *buf, size_t size);

#endif
