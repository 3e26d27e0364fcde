/* SPDX-License-Identifier: GPL-2.0 */
/* Alarms that the kernel wrote and the watch did not read. */
#ifndef TRACERIG_UNREAD_H
#define TRACERIG_UNREAD_H

#include <linux/types.h>

/**
 * struct unread - alarms that another reader took, or that were overwritten
 * @since:	when @written was taken, ns of CLOCK_MONOTONIC
 * @written:	number of alarms that the kernel had written then
 * @reported:	number of lost ones that have been reported
 * @next:	when more may be reported, ns
 */
struct unread {
	u64 since;
	u64 written;
	u64 reported;
	u64 next;
};

u64 unread_look(struct unread *u, u64 written, u64 read, u64 now);
u64 unread_end(struct unread *u, u64 written, u64 read);

#endif
