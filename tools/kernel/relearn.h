/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control charts that learn again and again while they judge.
 *
 * This file and relearn.c are the same, byte for byte, in the kernel
 * (kernel/trace/ctlchart/) and in the user-space tools.
 */
#ifndef _CTLCHART_RELEARN_H
#define _CTLCHART_RELEARN_H

#include <linux/types.h>

#include "chart.h"

/* The last values whose verdicts are remembered */
#define CTLCHART_RECENT 200

/**
 * enum ctlchart_relearn_mode - what the last verdicts say
 * @CTLCHART_RELEARN_STEADY: all is well
 * @CTLCHART_RELEARN_HURRIED: more than a twentieth of them out of control
 * @CTLCHART_RELEARN_SHIFTED: more than half: all values count
 */
enum ctlchart_relearn_mode {
	CTLCHART_RELEARN_STEADY,
	CTLCHART_RELEARN_HURRIED,
	CTLCHART_RELEARN_SHIFTED,
};

/**
 * struct ctlchart_relearn - a Phase I that runs beside the judging
 * @span:	what it is spread over: a number of values, or a time in the unit
 *		of the caller's clock
 * @by_time:	it is a time
 * @mode:	what the last verdicts say; it ends with fewer out of
 *		control than it took to begin
 * @values:	given so far, for the sampler; from U32_MAX on, if @by_time
 * @out:	how many of the last CTLCHART_RECENT were out of control
 * @at:		place of the next verdict
 * @recent:	the last verdicts, a bit each
 * @sampler:	which values are taken
 * @phase1:	the limit to be
 */
struct ctlchart_relearn {
	u64 span;
	bool by_time;
	enum ctlchart_relearn_mode mode;
	u64 values;
	u16 out;
	u16 at;
	u32 recent[(CTLCHART_RECENT + 31) / 32];
	struct ctlchart_sampler sampler;
	struct ctlchart_phase1 *phase1;
};

void ctlchart_relearn_start(struct ctlchart_relearn *r,
			    struct ctlchart_phase1 *phase1,
			    const struct ctlchart_method *m, u64 *room,
			    u64 span, bool by_time);
void ctlchart_relearn_again(struct ctlchart_relearn *r);
bool ctlchart_relearn_waits(const struct ctlchart_relearn *r, u64 value,
			    u64 ucl, u64 now);
bool ctlchart_relearn_add(struct ctlchart_relearn *r, u64 value, u64 ucl,
			  u64 now);

#endif /* _CTLCHART_RELEARN_H */
