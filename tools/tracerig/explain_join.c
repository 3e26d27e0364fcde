// SPDX-License-Identifier: GPL-2.0
/*
 * One ranking of the events' parts and the analyzers' findings. See explain.h.
 *
 * Both describe the same time: the events show that the thread computed, and an analyzer
 * in which function. Agreement is stated, and raises nothing: the analyzers read the same
 * recording. Disagreement is stated, and is a doubt. The events' cause stays the cause;
 * only where they do not show one, a finding can be it.
 */
#include <linux/kernel.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "memory.h"
#include "store.h"

/* Most confidence in a finding that no event supports, percent */
#define ALONE_MOST 90

/**
 * explain_remark - add a line on what analyzers have found
 * @x: the operation
 * @text: the line, for free()
 */
void explain_remark(struct explain *x, char *text)
{
	if (x->nr_remarks < ARRAY_SIZE(x->remark))
		x->remark[x->nr_remarks++] = text;
	else
		free(text);
}

/*
 * Whether a waker can be the one in the name of a part. Analyzers call interrupts "irq eth0"
 * and timers by their functions, "timer, it_real_fn".
 */
static bool is_waker(const char *who, const struct part *p)
{
	static const char *const prefix[] = { "irq ", "softirq " };
	bool found;
	char *name;
	size_t i;

	if (!*who || !strncmp(who, "hard interrupt", 14))
		return true;
	if (!strncmp(who, "timer", 5))
		return strstr(p->name, "timer");
	for (i = 0; i < ARRAY_SIZE(prefix); i++) {
		if (!strncmp(who, prefix[i], strlen(prefix[i])))
			return strstr(p->name, who + strlen(prefix[i]));
	}
	name = xstrndup(who, group_comm(who));
	found = strstr(p->name, name);
	free(name);
	return found;
}

/* Whether what an analyzer has found can be what the events show */
static bool agrees(const struct finding *f, const struct part *p)
{
	enum part_kind kind = f->part.kind;

	if (kind == PART_CALL)
		return true;
	switch (p->kind) {
	case PART_RUN:
	case PART_WAIT:
		return kind == p->kind;
	case PART_INTERRUPT:
		return kind == PART_INTERRUPT;
	case PART_BLOCKED:
		return kind == PART_BLOCKED_BLIND ||
		       (kind == PART_BLOCKED && is_waker(f->who, p));
	default: /* blocked until something that the other one may not see */
		return kind == PART_BLOCKED || kind == PART_BLOCKED_BLIND;
	}
}

/* The first finding of an analyzer, if it has half of the delay */
static const struct finding *first_of(const struct explain *x, enum analyzer a)
{
	size_t i;

	for (i = 0; i < x->nr_findings; i++) {
		const struct finding *f = &x->finding[i];

		if (f->by == a)
			return f->confidence ? f : NULL;
	}
	return NULL;
}

/* The events show who ended a wait, and ioreq in which call, or at which end of it */
static bool is_awaited(const struct finding *f, const struct part *p)
{
	return f->by == IOREQ && f->part.kind == PART_CALL &&
	       (p->kind == PART_BLOCKED || p->kind == PART_BLOCKED_BLIND);
}

static void compare_with_events(struct explain *x, const struct finding *f,
				double *confidence)
{
	const struct part *p = &x->op.part[0];
	const char *who =
		f->part.kind == PART_BLOCKED && *f->who ? ", ended by " : "";

	if (agrees(f, p)) {
		explain_remark(
			x,
			xasprintf("agree: %s names %s, the events name %s",
				  analyzer_name(f->by), f->part.name, p->name));
		if (is_awaited(f, p))
			x->awaited = f;
		return;
	}
	explain_remark(
		x, xasprintf("disagree: %s names %s%s%s, the events name %s",
			     analyzer_name(f->by), f->part.name, who,
			     *who ? f->who : "", p->name));
	explain_doubt(x, confidence, 0.7,
		      xasprintf("%s and the events disagree",
				analyzer_name(f->by)));
}

/* Functions in which the thread computes can be compared by name */
static void compare(struct explain *x, const struct finding *f,
		    const struct finding *g)
{
	if (f->part.kind != PART_RUN || g->part.kind != PART_RUN ||
	    f->by == IOREQ || g->by == IOREQ)
		return;
	if (!strcmp(f->part.key, g->part.key))
		explain_remark(x, xasprintf("agree: %s and %s name %s",
					    analyzer_name(f->by),
					    analyzer_name(g->by), f->part.key));
	else
		explain_remark(x,
			       xasprintf("disagree: %s names %s, %s names %s",
					 analyzer_name(f->by), f->part.key,
					 analyzer_name(g->by), g->part.key));
}

/* Whether a finding can be the cause where the events name none */
static bool can_be_cause(const struct explain *x, const struct finding *f)
{
	if (x->by_chance || !explain_delay(x) || !f->confidence)
		return false;
	/*
	 * All that the events show may be within one call; otherwise they do not show the
	 * time
	 */
	return !x->op.nr || x->unseen >= x->op.part[0].ns ||
	       (f->part.kind == PART_CALL && f->by == PATHDIFF);
}

static void name_finding(struct explain *x, const struct finding *f)
{
	double confidence = min(f->confidence, (unsigned int)ALONE_MOST);

	x->named = f;
	x->why_none = NULL;
	explain_doubt(x, &confidence, 1,
		      xasprintf("only %s names a cause, the events name none",
				analyzer_name(f->by)));
	x->confidence = max(confidence, 1.0);
}

/**
 * explain_join - compare the findings with the events, and with each other
 * @x: the operation, after explain_judge() and explain_ask()
 */
void explain_join(struct explain *x)
{
	const struct finding *first[ANALYZERS];
	double confidence = x->confidence;
	enum analyzer a, b;

	for (a = 0; a < ANALYZERS; a++) {
		first[a] = first_of(x, a);
		if (first[a] && !x->why_none)
			compare_with_events(x, first[a], &confidence);
		for (b = 0; b < a; b++) {
			if (first[a] && first[b])
				compare(x, first[b], first[a]);
		}
	}
	if (!x->why_none)
		x->confidence = max(confidence, 1.0);
	else if (x->nr_findings && can_be_cause(x, &x->finding[0]))
		name_finding(x, &x->finding[0]);
	for (a = 0; a < ANALYZERS; a++) {
		if (x->analysis[a].asked && x->analysis[a].trouble)
			explain_doubt(x, &confidence, 1,
				      xasprintf("%s: %s", analyzer_name(a),
						x->analysis[a].trouble));
	}
}
