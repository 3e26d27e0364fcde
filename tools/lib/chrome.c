// SPDX-License-Identifier: GPL-2.0
/* Chrome's trace event format. See chrome.h. */
#include <stdarg.h>

#include "chrome.h"
#include "text.h"
#include "version.h"

/**
 * chrome_open - begin a file
 * @f:		state
 * @out:	output
 * @tool:	name of the program
 * @clocks:	text about the clocks for the file's header, or NULL
 */
void chrome_open(struct chrome_file *f, FILE *out, const char *tool,
		 const char *clocks)
{
	*f = (struct chrome_file){ .out = out };
	fprintf(out,
		"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tool\":\"%s " TRACERIG_VERSION
		"\"",
		tool);
	if (clocks) {
		fputs(",\"clocks\":", out);
		html_string(out, clocks);
	}
	fputs("},\"traceEvents\":[", out);
}

/**
 * chrome_event - begin an event
 * @f:		state
 * @phase:	its type
 * @pid:	process
 * @tid:	thread
 * @name:	name, or NULL
 *
 * Members may follow, as text that begins with a comma; then arguments; then chrome_end().
 */
void chrome_event(struct chrome_file *f, char phase, s64 pid, s64 tid,
		  const char *name)
{
	fprintf(f->out, "%s\n{\"ph\":\"%c\",\"pid\":%lld,\"tid\":%lld",
		f->events ? "," : "", phase, pid, tid);
	if (name) {
		fputs(",\"name\":", f->out);
		html_string(f->out, name);
	}
	f->events = true;
	f->args = false;
}

/**
 * chrome_time - add a time to an event
 * @f:		state
 * @key:	"ts" or "dur"
 * @ns:		time; written in us
 */
void chrome_time(struct chrome_file *f, const char *key, u64 ns)
{
	fprintf(f->out, ",\"%s\":%llu.%03llu", key, ns / 1000, ns % 1000);
}

/**
 * chrome_slice - begin a complete event
 * @f:		state
 * @pid:	process
 * @tid:	thread
 * @name:	name
 * @at:		begin, ns
 * @duration:	duration, ns
 */
void chrome_slice(struct chrome_file *f, s64 pid, s64 tid, const char *name,
		  u64 at, u64 duration)
{
	chrome_event(f, 'X', pid, tid, name);
	chrome_time(f, "ts", at);
	chrome_time(f, "dur", duration);
}

static void put_key(struct chrome_file *f, const char *key)
{
	fprintf(f->out, "%s\"%s\":", f->args ? "," : ",\"args\":{", key);
	f->args = true;
}

/**
 * chrome_arg - add an argument that is not a string
 * @f:		state
 * @key:	name
 * @format:	value in JSON, as for printf()
 */
void chrome_arg(struct chrome_file *f, const char *key, const char *format, ...)
{
	va_list args;

	put_key(f, key);
	va_start(args, format);
	vfprintf(f->out, format, args);
	va_end(args);
}

/**
 * chrome_arg_text - add an argument
 * @f:		state
 * @key:	name
 * @text:	value; what is not fit for JSON is replaced
 */
void chrome_arg_text(struct chrome_file *f, const char *key, const char *text)
{
	put_key(f, key);
	html_string(f->out, text);
}

/**
 * chrome_end - end an event
 * @f: state
 */
void chrome_end(struct chrome_file *f)
{
	fputs(f->args ? "}}" : "}", f->out);
}

/**
 * chrome_name - name a process or thread
 * @f:		state
 * @what:	"process_name" or "thread_name"
 * @pid:	process
 * @tid:	thread
 * @name:	name
 */
void chrome_name(struct chrome_file *f, const char *what, s64 pid, s64 tid,
		 const char *name)
{
	chrome_event(f, 'M', pid, tid, what);
	chrome_arg_text(f, "name", name);
	chrome_end(f);
}

/**
 * chrome_close - end a file
 * @f: state
 */
void chrome_close(struct chrome_file *f)
{
	fputs("\n]}\n", f->out);
}
