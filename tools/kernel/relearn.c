// SPDX-License-Identifier: GPL-2.0
/*
 * Control charts that learn again and again while they judge.
 *
 * Normal load changes over weeks. Phase I is done again on values of a span,
 * spread evenly, and when it is complete its limit replaces the old one, which is
 * in force until then.
 *
 * While all is well only values in control count, else each failure would raise
 * the limit. But when the process has changed for good, that is not enough:
 *
 * - If more than half of the last values are out of control, the chart might
 *   never learn. Phase I begins anew with all values, and sooner. Should they come
 *   back into control before it is complete, it was a failure, and what was
 *   learnt from it is dropped.
 * - If a twentieth of them is, those in control are the lower part of the new ones,
 *   and a limit drawn from them is too low, but less so each time: Phase I begins
 *   anew, and sooner.
 *
 * A quantile cannot be taken of the values in control alone: it would be lower
 * each time. There a value counts as twice the limit if it is greater, so that a
 * failure can at most double the limit each time.
 *
 * Pure functions of their arguments: any context. The caller serialises access.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "relearn.h"

/*
 * Of the last values, how many out of control enter a mode, and how few leave it;
 * and the values that Phase I is then spread over, if span is not less.
 */
static const struct {
	u16 enter;
	u16 leave;
	u16 span;
} modes[] = {
	[CTLCHART_RELEARN_HURRIED] = { 10, 3, 300 },
	[CTLCHART_RELEARN_SHIFTED] = { 100, 50, 500 },
};

static enum ctlchart_relearn_mode mode_of(const struct ctlchart_relearn *r)
{
	enum ctlchart_relearn_mode mode;

	for (mode = CTLCHART_RELEARN_SHIFTED; mode; mode--) {
		if (r->out > modes[mode].enter ||
		    (r->mode >= mode && r->out > modes[mode].leave))
			break;
	}
	return mode;
}

static bool is_timed(const struct ctlchart_relearn *r)
{
	return READ_ONCE(r->by_time) && !READ_ONCE(r->mode);
}

static void begin(struct ctlchart_relearn *r, enum ctlchart_relearn_mode mode)
{
	const struct ctlchart_method m = r->phase1->method;
	u64 span = r->span;

	WRITE_ONCE(r->mode, mode);
	if (mode && (r->by_time || span > modes[mode].span))
		span = modes[mode].span;
	ctlchart_phase1_start(r->phase1, &m, r->phase1->sample.v);
	ctlchart_sampler_start(&r->sampler, span, ctlchart_method_samples(&m));
}

/**
 * ctlchart_relearn_start - begin, when a limit has come into force
 * @r: state; whatever it held is forgotten
 * @phase1: estimate, the caller's as long as @r is used; the same
 * @m: valid method
 * @room: memory of @phase1
 * @span: values, or time, to spread Phase I over; with less than one value for
 *	each that Phase I takes, all are taken
 * @by_time: it is a time
 */
void ctlchart_relearn_start(struct ctlchart_relearn *r,
			    struct ctlchart_phase1 *phase1,
			    const struct ctlchart_method *m, u64 *room,
			    u64 span, bool by_time)
{
	r->span = span;
	WRITE_ONCE(r->by_time, by_time);
	/*
	 * By time, values may be left out, and their number decides nothing: it is
	 * so large that a sampler always begins anew where it is.
	 */
	r->values = by_time ? U32_MAX : 0;
	memset(r->recent, 0, sizeof(r->recent));
	WRITE_ONCE(r->out, 0);
	r->at = 0;
	r->phase1 = phase1;
	ctlchart_phase1_start(phase1, m, room);
	begin(r, CTLCHART_RELEARN_STEADY);
}

/**
 * ctlchart_relearn_again - begin again, when what was learnt has come into force
 * @r: state
 */
void ctlchart_relearn_again(struct ctlchart_relearn *r)
{
	/* A limit of all values: what was out of control is so no longer */
	if (r->mode == CTLCHART_RELEARN_SHIFTED) {
		memset(r->recent, 0, sizeof(r->recent));
		WRITE_ONCE(r->out, 0);
	}
	begin(r, mode_of(r));
}

/* Put a verdict in the place of the oldest */
static void remember(struct ctlchart_relearn *r, bool out)
{
	u32 *word = &r->recent[r->at / 32], bit = 1U << r->at % 32;

	WRITE_ONCE(r->out, r->out - !!(*word & bit) + out);
	*word = out ? *word | bit : *word & ~bit;
	r->at = (r->at + 1) % CTLCHART_RECENT;
}

/**
 * ctlchart_relearn_waits - whether a value surely makes no difference
 * @r: state
 * @value: the value
 * @ucl: the limit in force
 * @now: the clock
 *
 * It makes none if it is in control like all that are remembered, and is not due.
 *
 * Context: as for ctlchart_sampler_waits().
 * Return: true if ctlchart_relearn_add() would return false, and later calls
 * would not depend on this one.
 */
bool ctlchart_relearn_waits(const struct ctlchart_relearn *r, u64 value,
			    u64 ucl, u64 now)
{
	return value <= ucl && !READ_ONCE(r->out) && is_timed(r) &&
	       ctlchart_sampler_waits(&r->sampler, now);
}

/**
 * ctlchart_relearn_add - take one value that was judged
 * @r: state
 * @value: the value
 * @ucl: the limit in force
 * @now: the clock, if Phase I is spread over a time
 *
 * Return: true if Phase I is complete: its limit is to be put into force, and
 * ctlchart_relearn_again() is due.
 */
bool ctlchart_relearn_add(struct ctlchart_relearn *r, u64 value, u64 ucl,
			  u64 now)
{
	bool quantile = r->phase1->method.limit == CTLCHART_QUANTILE;
	bool out = value > ucl;

	r->values++;
	remember(r, out);
	if (mode_of(r) != r->mode)
		begin(r, mode_of(r));
	if (r->mode != CTLCHART_RELEARN_SHIFTED) {
		if (out && !quantile)
			return false;
		if (value / 2 > ucl)
			value = 2 * ucl;
	}
	return ctlchart_sampler_due(&r->sampler,
				    is_timed(r) ? now : r->values) &&
	       ctlchart_phase1_add(r->phase1, value);
}
