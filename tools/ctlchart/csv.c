// SPDX-License-Identifier: GPL-2.0
/* One line per alarm, as it comes (RFC 4180). */
#include "ctlchart.h"

/**
 * csv_begin - write the head line
 * @r: the report
 */
void csv_begin(struct report *r)
{
	fputs("chart,event,time,start,duration,center,limit,rules,kept,pid,comm,keys\n",
	      r->out);
}

/**
 * csv_alarm - write an alarm; times in ns
 * @r: the report
 * @c: its chart
 * @a: the alarm
 */
void csv_alarm(struct report *r, const struct chart *c, const struct alarm *a)
{
	char rules[96];

	if (!report_wants(r, c->name))
		return;
	csv_string(r->out, c->name);
	fputc(',', r->out);
	csv_string(r->out, c->event);
	fprintf(r->out, ",%llu,", a->time);
	if (a->start)
		fprintf(r->out, "%llu", a->start);
	fprintf(r->out, ",%llu,", a->value);
	if (a->limits.center)
		fprintf(r->out, "%llu", a->limits.center);
	fputc(',', r->out);
	if (a->limits.ucl != U64_MAX)
		fprintf(r->out, "%llu", a->limits.ucl);
	fprintf(r->out, ",%s,%d,%d,",
		format_rules(rules, sizeof(rules), a->rules), a->kept, a->pid);
	csv_string(r->out, a->comm);
	fputc(',', r->out);
	csv_string(r->out, a->keys);
	fputc('\n', r->out);
}
