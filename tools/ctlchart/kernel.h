/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The running kernel, by libtracefs.
 */
#ifndef CTLCHART_KERNEL_H
#define CTLCHART_KERNEL_H

#include <tracefs.h>

#include "kernelchart.h"
#include "limits.h"

int kernel_check(struct guard *g, const char *dir);
const char *kernel_tracefs(void);
bool kernel_has_instance(const char *name);
bool kernel_has_file(struct tracefs_instance *instance, const char *system,
		     const char *event, const char *file);
char *kernel_filter(struct tracefs_instance *instance, const char *system,
		    const char *event);

#endif
