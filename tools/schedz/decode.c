// SPDX-License-Identifier: GPL-2.0
/* schedz decode: the events of a trace with blocks, as text or for programs. */
#include <errno.h>
#include <json-c/json.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chrome.h"
#include "records.h"
#include "schedz.h"
#include "text.h"
#include "tracefile.h"

/* The task on a CPU, for the Chrome trace */
struct running {
	bool known;
	int pid;
	char comm[SCHEDZ_COMM_LEN + 1];
	unsigned long long since;
};

struct printer {
	struct guard *guard;
	FILE *out;
	struct tep_handle *tep;
	struct running *running;
	unsigned int cpus;
	struct chrome_file chrome;
	bool ticks;
	uint64_t events;
};

typedef void (*print_fn)(struct printer *p, struct tep_record *rec);

/* As trace-cmd report prints it */
static void print_ftrace(struct printer *p, struct tep_record *rec)
{
	struct tep_event *event = tep_find_event_by_record(p->tep, rec);
	struct trace_seq s;
	char name[64];

	if (rec->missed_events > 0)
		fprintf(p->out, "CPU:%d [%lld EVENTS DROPPED]\n", rec->cpu,
			rec->missed_events);
	else if (rec->missed_events < 0)
		fprintf(p->out, "CPU:%d [EVENTS DROPPED]\n", rec->cpu);
	snprintf(name, sizeof(name), "%s:", event ? event->name : "[UNKNOWN]");
	trace_seq_init(&s);
	tep_print_event(p->tep, &s, rec,
			p->ticks ? "%16s-%-5d [%03d]%12d: " :
				   "%16s-%-5d [%03d] %6.1000d: ",
			TEP_PRINT_COMM, TEP_PRINT_PID, TEP_PRINT_CPU,
			TEP_PRINT_TIME);
	trace_seq_printf(&s, "%-21s ", name);
	tep_print_event(p->tep, &s, rec, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&s);
	fprintf(p->out, "%s\n", s.buffer);
	trace_seq_destroy(&s);
}

static void add_field(struct printer *p, struct json_object *o,
		      struct tep_record *rec, struct tep_format_field *f)
{
	const struct record record = { .data = rec->data };
	char text[RECORD_MAX];
	struct number n;
	const u8 *data;
	u32 size;
	u64 v;

	if (!array_get(f, rec->data, rec->size, &data, &size))
		return;
	if (f->flags & TEP_FIELD_IS_STRING) {
		snprintf(text, sizeof(text), "%.*s", (int)size, data);
		json_string(o, f->name, text);
	} else if (!(f->flags & TEP_FIELD_IS_ARRAY) &&
		   number_of(&n, p->tep, f)) {
		v = number_get(&n, &record);
		json_object_object_add(o, f->name,
				       n.is_signed ?
					       json_object_new_int64((s64)v) :
					       json_object_new_uint64(v));
	}
}

static void print_json(struct printer *p, struct tep_record *rec)
{
	struct tep_event *event = tep_find_event_by_record(p->tep, rec);
	struct json_object *o = json_object_new_object();
	struct tep_format_field *f;

	json_number(o, "time", rec->ts);
	json_number(o, "cpu", rec->cpu);
	json_string(o, "event", event ? event->name : "?");
	if (event) {
		for (f = event->format.common_fields; f; f = f->next) {
			if (strcmp(f->name, "common_type") != 0)
				add_field(p, o, rec, f);
		}
		for (f = event->format.fields; f; f = f->next)
			add_field(p, o, rec, f);
	}
	fprintf(p->out, "%s\n",
		json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
}

static void put_running(struct printer *p, unsigned int cpu,
			unsigned long long end)
{
	struct running *r = &p->running[cpu];

	if (!r->known || !r->pid)
		return;
	chrome_slice(&p->chrome, 0, cpu, r->comm, r->since, end - r->since);
	chrome_arg(&p->chrome, "pid", "%d", r->pid);
	chrome_end(&p->chrome);
}

/* A row per CPU with the tasks that ran on it */
static void print_chrome(struct printer *p, struct tep_record *rec)
{
	struct tep_event *event = tep_find_event_by_record(p->tep, rec);
	const struct record record = { .data = rec->data, .size = rec->size };
	char comm[SCHEDZ_COMM_LEN];
	struct number pid;
	struct running *r;

	if (!event || strcmp(event->name, "sched_switch") != 0 ||
	    (unsigned int)rec->cpu >= p->cpus ||
	    !number_of(&pid, p->tep, tep_find_field(event, "next_pid")) ||
	    !number_fits(&pid, &record) ||
	    !array_text(array_find(event, "next_comm"), &record, comm,
			sizeof(comm)))
		return;
	r = &p->running[rec->cpu];
	put_running(p, rec->cpu, rec->ts);
	r->known = true;
	r->pid = number_get(&pid, &record);
	strcpy(r->comm, comm);
	r->since = rec->ts;
}

struct iteration {
	struct printer *p;
	print_fn print;
};

static int on_event(struct tracecmd_input *handle, struct tep_record *rec,
		    int cpu, void *arg)
{
	struct iteration *i = arg;

	(void)handle;
	(void)cpu;
	if (!(i->p->events++ % 4096))
		guard_alive(i->p->guard, rec->offset);
	i->print(i->p, rec);
	return 0;
}

int tracecmd_cpus(struct tracecmd_input *handle); /* has no header */

static int print_file(struct printer *p, int fd, enum decode_format format)
{
	static const print_fn print[] = {
		[DECODE_FTRACE] = print_ftrace,
		[DECODE_JSON] = print_json,
		[DECODE_CHROME] = print_chrome,
	};
	struct iteration i = { .p = p, .print = print[format] };
	/* Plugins print some events, such as sched_switch */
	struct tracecmd_input *handle = tracecmd_open_fd(
		fd, format == DECODE_FTRACE ? 0 : TRACECMD_FL_LOAD_NO_PLUGINS);
	int status = 0;

	if (!handle)
		return EXIT_FAILURE; /* the library has printed why */
	p->tep = tracecmd_get_tep(handle);
	p->cpus = tracecmd_cpus(handle);
	p->running = xcalloc(p->cpus + 1, sizeof(*p->running));
	if (format == DECODE_FTRACE)
		fprintf(p->out, "cpus=%u\n", p->cpus);
	if (format == DECODE_CHROME)
		chrome_open(&p->chrome, p->out, PROGRAM, NULL);
	if (tracecmd_iterate_events(handle, NULL, 0, on_event, &i))
		status = guard_fail(p->guard, GUARD_NOWHERE,
				    "damaged: its events cannot be read");
	if (format == DECODE_CHROME)
		chrome_close(&p->chrome);
	free(p->running);
	tracecmd_close(handle);
	return status;
}

/* A Chrome trace needs ns. trace-cmd prints seconds for the clocks below. */
static int check_clock(struct printer *p, int fd, enum decode_format format)
{
	static const char *const us[] = { "",	  "local", "global",   "uptime",
					  "perf", "mono",  "mono_raw", "tai" };
	struct tracefile_error error;
	struct tracefile_info info;
	int status = 0;
	size_t i;

	if (!tracefile_check(fd, "", &info, &error) ||
	    (format == DECODE_CHROME && !tracefile_clock(&info, &error)))
		status = guard_fail(p->guard, error.offset, "%s", error.reason);
	p->ticks = true;
	for (i = 0; i < ARRAY_SIZE(us); i++) {
		if (!strcmp(info.clock, us[i]))
			p->ticks = false;
	}
	tracefile_free(&info);
	return status;
}

/**
 * decode - print the events of a trace with blocks
 * @g: the guard
 * @out: where to
 * @file: the trace
 * @instance: the trace instance, or NULL
 * @format: how
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int decode(struct guard *g, FILE *out, const char *file, const char *instance,
	   enum decode_format format)
{
	struct printer p = { .guard = g, .out = out };
	FILE *plain;
	int status;

	if (format == DECODE_DAT)
		return expand(g, out, file, instance);
	plain = tmpfile();
	if (!plain)
		return guard_fail(g, GUARD_NOWHERE,
				  "cannot make a temporary file in /tmp: %s",
				  strerror(errno));
	status = expand(g, plain, file, instance);
	if (!status)
		status = check_clock(&p, fileno(plain), format);
	if (!status) {
		lseek(fileno(plain), 0, SEEK_SET);
		status = print_file(&p, dup(fileno(plain)), format);
	}
	fclose(plain);
	return status;
}
