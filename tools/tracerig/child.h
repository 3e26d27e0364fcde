/* SPDX-License-Identifier: GPL-2.0 */
/* Child processes of a watch. */
#ifndef TRACERIG_CHILD_H
#define TRACERIG_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

pid_t child_fork(bool tied);

#endif
