// SPDX-License-Identifier: GPL-2.0
/*
 * Folded stacks for flame graphs: CLIENT;HOST;PROCESS;FRAMES;CALL;OBJECT;SIZE and the
 * time of these calls. Fields outside of the grouping key are left out.
 */
#include "report.h"
#include "text.h"

/* Outermost frame first; functions where known */
static void put_stack(FILE *out, const struct model *m, const struct sum *sum,
		      const char **before)
{
	const struct stack *stack =
		sum->stack ? stacks_find(m->stacks, sum->stack) : NULL;
	const struct elffile_source *source;
	char name[4200];
	u32 i, nr;

	if (!stack || stack->end)
		folded_frame(out,
			     stack	? stack->end_name :
			     sum->stack ? "missing" :
					  "none",
			     before);
	for (i = stack ? stack->nr : 0; i--;) {
		nr = stacks_sources(m->stacks, stack, i, &source);
		if (!nr || !source[nr - 1].function)
			folded_frame(out,
				     frame_name(name, sizeof(name),
						&stack->frame[i], false),
				     before);
		while (nr--) {
			if (source[nr].function)
				folded_frame(out,
					     source_name(name, sizeof(name),
							 &source[nr]),
					     before);
		}
	}
}

static void put_sum(FILE *out, const struct model *m, const struct sum *sum)
{
	const char *before = "";
	char name[4096];

	if (m->by & BY_CLIENT)
		folded_frame(out,
			     sum->client ? endpoint_text(name, sizeof(name), m,
							 sum->client) :
					   "-",
			     &before);
	if (m->by & BY_HOST)
		folded_frame(out, m->host[sum->host].name, &before);
	if (m->by & (BY_PROCESS | BY_COMM)) {
		snprintf(name, sizeof(name),
			 m->by & BY_PROCESS ? "%s-%d" : "%s", sum->comm,
			 sum->tgid);
		folded_frame(out, name, &before);
	}
	if (m->stacks)
		put_stack(out, m, sum, &before);
	if (m->by & BY_CALL)
		folded_frame(out, sum->op, &before);
	if (m->by & BY_OBJECT) {
		object_name(name, sizeof(name), sum->type, sum->id, sum->name);
		folded_frame(out, name, &before);
	}
	if (m->by & BY_SIZE) {
		snprintf(name, sizeof(name), "%llu", sum->size);
		folded_frame(out, name, &before);
	}
	fprintf(out, " %llu\n", sum->times.sum);
}

/**
 * ioreq_write_folded - write the times of sums
 * @out:	output
 * @m:		model, after model_link()
 * @top:	maximum number of sums
 */
void ioreq_write_folded(FILE *out, const struct model *m, u64 top)
{
	u64 i;

	for (i = 0; i < m->nr && i < top; i++)
		put_sum(out, m, m->sum[i]);
}
