// SPDX-License-Identifier: GPL-2.0
/*
 * Folded stacks for flame graphs: CLIENT;HOST;PROCESS;FRAMES;CALL;OBJECT;SIZE and the
 * time of these calls; what calls of a sum do not have in common is left out.
 */
#include "ioreq.h"
#include "text.h"

/* A semicolon ends a frame, and a blank the stack */
static void put_frame(FILE *out, const char *name, const char **before)
{
	fputs(*before, out);
	*before = ";";
	for (; *name; name++)
		fputc(*name == ' ' || *name == ';' ? '_' : *name, out);
}

/* The outermost one first; functions where they are known */
static void put_stack(FILE *out, const struct sums *s, const struct sum *sum,
		      const char **before)
{
	const struct stack *stack =
		sum->stack ? stacks_find(s->stacks, sum->stack) : NULL;
	struct place place;
	char name[4200];
	u32 i;

	if (!stack || stack->end)
		put_frame(out,
			  stack	     ? stack->end_name :
			  sum->stack ? "untold" :
				       "none",
			  before);
	for (i = stack ? stack->nr : 0; i--;) {
		stacks_place(s->stacks, stack, i, &place);
		put_frame(out,
			  *place.function ? place.function :
					    frame_name(name, sizeof(name),
						       &stack->frame[i], false),
			  before);
	}
}

static void put_sum(FILE *out, const struct sums *s, const struct sum *sum)
{
	const char *before = "";
	char name[4096];

	if (s->by & BY_CLIENT)
		put_frame(out,
			  sum->client ? party_text(name, sizeof(name), s,
						   sum->client) :
					"-",
			  &before);
	if (s->by & BY_HOST)
		put_frame(out, s->host[sum->host].name, &before);
	if (s->by & (BY_PROCESS | BY_COMM)) {
		snprintf(name, sizeof(name),
			 s->by & BY_PROCESS ? "%s-%d" : "%s", sum->comm,
			 sum->tgid);
		put_frame(out, name, &before);
	}
	if (s->stacks)
		put_stack(out, s, sum, &before);
	if (s->by & BY_CALL)
		put_frame(out, sum->op, &before);
	if (s->by & BY_OBJECT) {
		object_name(name, sizeof(name), sum->type, sum->id, sum->name);
		put_frame(out, name, &before);
	}
	if (s->by & BY_SIZE) {
		snprintf(name, sizeof(name), "%llu", sum->size);
		put_frame(out, name, &before);
	}
	fprintf(out, " %llu\n", sum->times.sum);
}

/**
 * report_folded - write the times of sums
 * @out: where to
 * @s: after sums_finish()
 * @top: so many, at most
 */
void report_folded(FILE *out, const struct sums *s, u64 top)
{
	u64 i;

	for (i = 0; i < s->nr && i < top; i++)
		put_sum(out, s, s->sum[i]);
}
