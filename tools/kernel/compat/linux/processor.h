/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _COMPAT_LINUX_PROCESSOR_H
#define _COMPAT_LINUX_PROCESSOR_H

#include <sched.h>

/*
 * The kernel's holder of a lock runs with interrupts off; ours may have been
 * preempted by the very thread that waits for it.
 */
static inline void cpu_relax(void)
{
	sched_yield();
}

#endif
