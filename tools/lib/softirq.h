/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's softirqs: see include/linux/interrupt.h. */
#ifndef LIB_SOFTIRQ_H
#define LIB_SOFTIRQ_H

#include <linux/kernel.h>
#include <linux/types.h>

/**
 * softirq_name - the name of a softirq, without _SOFTIRQ
 * @vec: its number, as in the events irq:softirq_*
 *
 * Return: the name, or "?" if there is no such softirq.
 */
static inline const char *softirq_name(u64 vec)
{
	static const char *const names[] = { "HI",	"TIMER", "NET_TX",
					     "NET_RX",	"BLOCK", "IRQ_POLL",
					     "TASKLET", "SCHED", "HRTIMER",
					     "RCU" };

	return vec < ARRAY_SIZE(names) ? names[vec] : "?";
}

#endif
