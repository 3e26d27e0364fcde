/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _COMPAT_LINUX_PREEMPT_H
#define _COMPAT_LINUX_PREEMPT_H

#include <linux/types.h>

/* The thread stands for an NMI, in a test; in each file that includes this, the same one */
extern __thread bool compat_nmi;
__thread bool compat_nmi __attribute__((weak));

static inline bool in_nmi(void)
{
	return compat_nmi;
}

#endif
