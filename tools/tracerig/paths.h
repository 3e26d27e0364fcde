/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which functions the tracer function_graph follows. An instance can have the tracer for
 * itself, but set_graph_function is global: one user at a time.
 */
#ifndef TRACERIG_PATHS_H
#define TRACERIG_PATHS_H

#include <tracefs.h>

#include "plan.h"

char *paths_check(void);
char *paths_add(const struct plan *p);
void paths_remove(struct tracefs_dynevent *probe);
char *paths_start(struct tracefs_instance *instance);

#endif
