/* SPDX-License-Identifier: GPL-2.0 */
/* Runs another program for its output, and survives its crashes, hangs and floods. */
#ifndef TRACERIG_ANALYZER_H
#define TRACERIG_ANALYZER_H

#include <stddef.h>
#include <linux/types.h>

char *analyzer_find(const char *name);
char *analyzer_run(const char *path, const char *const *argv, u64 timeout,
		   size_t most, char **out);

#endif
