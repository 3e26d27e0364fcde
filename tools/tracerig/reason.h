/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What most of an operation's time was, by a look at the events of its window: cases that differ
 * in this are not alike. explain, which compares with normal executions, is asked later.
 */
#ifndef TRACERIG_REASON_H
#define TRACERIG_REASON_H

#include <stddef.h>

#include "reader.h"

/* Room for a reason */
#define REASON_SIZE 64

void reason_of(struct reader *r, char buf[REASON_SIZE]);
const char *interrupt_name(unsigned int flags, const char *hard,
			   const char *soft);

#endif
