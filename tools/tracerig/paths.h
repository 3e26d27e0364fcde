/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which functions the tracer function_graph follows. An instance can have the tracer for
 * itself, but set_graph_function is global: one user at a time.
 */
#ifndef TRACERIG_PATHS_H
#define TRACERIG_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include <tracefs.h>

#include "plan.h"

char *paths_check(void);
char *paths_add(const struct plan *p, size_t *added);
void paths_remove(const struct plan *p, size_t added);
void paths_remove_left(struct tracefs_dynevent *probe, const char *system);
bool paths_follow(const char *functions, const char *function);
const char *paths_lost(const struct plan *p);
char *paths_start(struct tracefs_instance *instance);
bool paths_stop(struct tracefs_instance *instance);

#endif
