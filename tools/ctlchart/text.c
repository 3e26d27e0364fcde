// SPDX-License-Identifier: GPL-2.0
/* The report for people. */
#include <string.h>

#include "ctlchart.h"
#include "text.h"

#define BOLD "\033[1m"
#define RED "\033[31m"
#define PLAIN "\033[m"

static void count(struct report *r, const char *what, u64 n, const char *note)
{
	char buf[32];

	fprintf(r->out, "  %-10s %s%s\n", what,
		format_count(buf, sizeof(buf), n), note);
}

static void print_method(struct report *r, const struct call *call)
{
	fprintf(r->out, "  (%s, %s scale, %u group%s of %u)",
		limit_names[call->method.limit],
		call->method.scale == CTLCHART_LOG ? "log" : "linear",
		call->method.groups, plural(call->method.groups),
		call->method.group);
}

static void print_lines(struct report *r, const struct chart *c)
{
	char buf[32];

	if (!c->has_limit && c->call) {
		fprintf(r->out,
			"  limit      none: the trace has %u of the %u values that it is estimated from; learn=0 and samples= need fewer, ucl= none\n",
			c->phase1_taken,
			ctlchart_method_samples(&c->call->method));
		return;
	}
	if (!c->has_limit)
		return;
	if (c->has_center)
		fprintf(r->out, "  centre     %s\n",
			format_value(buf, sizeof(buf), c->limits.center,
				     c->is_time));
	fprintf(r->out, "  limit      %s",
		format_value(buf, sizeof(buf), c->limits.ucl, c->is_time));
	if (!c->has_center)
		fprintf(r->out, "  (fixed)");
	else if (c->call)
		print_method(r, c->call);
	fputc('\n', r->out);
	if (c->relearnt)
		fprintf(r->out,
			"  relearnt   %llu time%s; this is the last limit\n",
			c->relearnt, plural(c->relearnt));
	if (shape_name(c->shape))
		fprintf(r->out, "  shape      %s%s\n", shape_name(c->shape),
			c->call->method.limit == CTLCHART_QUANTILE ?
				"" :
				": many false alarms; use limit=quantile");
}

static void print_values(struct report *r, const struct chart *c)
{
	char note[64] = "", buf[32];

	if (!c->call)
		snprintf(note, sizeof(note),
			 " judged until the last limit event");
	else if (c->learnt)
		snprintf(note, sizeof(note),
			 " judged, %s before there was a limit",
			 format_count(buf, sizeof(buf), c->learnt));
	else
		snprintf(note, sizeof(note), " judged");
	count(r, "values", c->values, note);
	if (c->from_kernel)
		fputs("             of the kernel's chart (ctlchart_value)\n",
		      r->out);
}

static void print_alarms(struct report *r, const struct chart *c)
{
	u64 alarms = c->call ? c->alarms : c->alarms_then;
	char note[128] = "", what[16];
	size_t len = 0;
	int i;

	if (c->values && alarms)
		len = snprintf(note, sizeof(note), " (%.3g %%)",
			       100.0 * alarms / c->values);
	if (c->kept != c->alarms)
		len += snprintf(note + len, sizeof(note) - len,
				", %llu of their events kept", c->kept);
	if (c->suppressed)
		snprintf(note + len, sizeof(note) - len,
			 ", %llu without an alarm event (rate=)",
			 c->suppressed);
	count(r, "alarms", c->alarms, note);
	for (i = 0; i < CTLCHART_RULES; i++) {
		if (!c->call || !(c->call->rules & CTLCHART_NELSON(i + 1)))
			continue;
		snprintf(what, sizeof(what), "rule %d", i + 1);
		count(r, what, c->broken[i], " of them");
	}
	if (c->overdue)
		count(r, "overdue", c->overdue, " starts reported unpaired");
	if (c->uncharted)
		count(r, "uncharted", c->uncharted,
		      " pairs left out by the filter's other terms");
	if (c->backwards)
		count(r, "backwards", c->backwards,
		      " ends before their start: the clocks of CPUs differ");
}

static void print_accounts(struct report *r, const struct chart *c)
{
	const struct accounts *a = &c->accounts;

	if (!c->start || c->from_kernel)
		return;
	fprintf(r->out,
		"  starts     %llu = %llu paired + %llu"
		" replaced + %llu evicted + %llu"
		" refused + %u in flight\n",
		a->starts, a->paired, a->replaced, a->evicted, a->refused,
		c->in_flight);
	if (a->unmatched)
		count(r, "unmatched", a->unmatched, " ends without a start");
	if (a->refused)
		fprintf(r->out,
			"             the table was full: size= makes it larger\n");
}

static void print_worst(struct report *r, const struct chart *c)
{
	char value[32], rules[96], process[32];
	size_t i, width = 7;

	if (!c->nr_worst)
		return;
	for (i = 0; i < c->nr_worst; i++) {
		size_t len = snprintf(process, sizeof(process), "%s-%d",
				      c->worst[i].comm, c->worst[i].pid);

		if (len > width)
			width = len;
	}
	fprintf(r->out, "\n  %s%17s  %9s  %-*s  %-7s  %s%s\n",
		r->color ? BOLD : "", "time", c->is_time ? "duration" : "value",
		(int)width, "process", "rules",
		c->start || !c->call ? "keys" : "", r->color ? PLAIN : "");
	for (i = 0; i < c->nr_worst; i++) {
		const struct alarm *a = &c->worst[i];

		snprintf(process, sizeof(process), "%s-%d", a->comm, a->pid);
		fprintf(r->out,
			"  %10llu.%06llu"
			"  %s%9s%s  %-*s  %-7s  %s%s\n",
			a->time / 1000000000, a->time / 1000 % 1000000,
			r->color ? RED : "",
			format_value(value, sizeof(value), a->value,
				     c->is_time),
			r->color ? PLAIN : "", (int)width, process,
			format_rules(rules, sizeof(rules), a->rules), a->keys,
			a->kept || a->rules & RULE_OVERDUE ? "" :
							     "  (not kept)");
	}
}

static void print_chart(struct report *r, const struct chart *c)
{
	fprintf(r->out, "\n%s%s%s  (%s)\n", r->color ? BOLD : "", c->name,
		r->color ? PLAIN : "", c->event);
	print_values(r, c);
	print_lines(r, c);
	print_alarms(r, c);
	print_accounts(r, c);
	print_worst(r, c);
}

static void print_saving(struct report *r)
{
	char events[32], size[32], kept[32], alarms[32], small[32];

	if (!r->log_events)
		return;
	format_count(events, sizeof(events), r->log_events);
	format_bytes(size, sizeof(size), r->log_bytes);
	format_count(kept, sizeof(kept), r->kept_events);
	format_count(alarms, sizeof(alarms), r->alarm_events);
	format_bytes(small, sizeof(small), r->kept_bytes);
	fprintf(r->out,
		"\nthe filter keeps %s of %s events, and adds %s alarms: %s instead of %s in the ring buffer",
		kept, events, alarms, small, size);
	if (r->kept_bytes)
		fprintf(r->out, " (%.3g times smaller)",
			(double)r->log_bytes / r->kept_bytes);
	fputc('\n', r->out);
}

/**
 * text_report - write the report for people
 * @r: the report
 */
void text_report(struct report *r)
{
	char buf[32];
	size_t i;

	fprintf(r->out, "%s: %s events in %.3f s%s%s\n", r->file,
		format_count(buf, sizeof(buf), r->events),
		(r->last - r->first) / 1e9, *r->instance ? " of instance " : "",
		r->instance);
	if (r->gaps) {
		fprintf(r->out, "%srecords are lost%s in %llu gap%s",
			r->color ? RED : "", r->color ? PLAIN : "", r->gaps,
			plural(r->gaps));
		if (r->lost)
			fprintf(r->out, ", %s of them counted",
				format_count(buf, sizeof(buf), r->lost));
		fprintf(r->out,
			": alarms may be missing, and pairs across gaps may be wrong\n");
	}
	if (!r->nr_charts)
		fprintf(r->out, "no alarms\n");
	for (i = 0; i < r->nr_charts; i++) {
		if (report_wants(r, r->chart[i]->name))
			print_chart(r, r->chart[i]);
	}
	print_saving(r);
}
