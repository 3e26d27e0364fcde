// SPDX-License-Identifier: GPL-2.0
/* One line per slow execution (RFC 4180). */
#include "pathdiff.h"

static void put_execution(struct result *r, const struct exec *e)
{
	const struct paths *p = &r->paths;
	const struct pattern *q = &p->patterns.p[e->pattern];
	struct verdict v;

	fprintf(r->out, "%llu,%llu,", e->start, e->duration);
	if (e->pid < UNKNOWN_PID)
		fprintf(r->out, "%d", e->pid);
	putc(',', r->out);
	csv_string(r->out, e->comm == NONE ? "" : p->names.name[e->comm]);
	fprintf(r->out, ",%u,%u,", e->cpu, e->pattern);
	if (q->near == NONE) {
		fputs(",,,,,,\n", r->out);
		return;
	}
	rank_one(&r->paths, e, r->common, &v);
	fprintf(r->out, "%u,%.4f,", q->near,
		q->len ? (double)q->common / q->len : 0);
	if (v.function == NONE) {
		fputs(",,,,\n", r->out);
		return;
	}
	fprintf(r->out, "%s,", cause_kind_name(v.kind));
	csv_string(r->out, v.kind == CAUSE_IRQ ? p->names.name[v.function] :
						 p->functions.name[v.function]);
	fprintf(r->out, ",%.0f,%.0f,%.0f\n", v.self, v.normal_self, v.incl);
}

/**
 * result_csv - write the slow executions; times in ns
 * @r: the result
 */
void result_csv(struct result *r)
{
	u32 i;

	fputs("start,duration,pid,comm,cpu,pattern,nearest,similarity,kind,function,self,normal_self,inclusive\n",
	      r->out);
	for (i = 0; i < r->paths.nr; i++) {
		const struct exec *e = &r->paths.exec[i];

		if (e->abnormal && e->side == SIDE_TRACE)
			put_execution(r, e);
	}
}
