/* SPDX-License-Identifier: GPL-2.0 */
/* Trace instances of a trace.dat (trace-cmd record -B): ring buffers beside the main one. */
#ifndef LIB_INSTANCE_H
#define LIB_INSTANCE_H

#include <stddef.h>

struct guard;
struct tracecmd_input;

const char *instance_names(struct tracecmd_input *file, char *buf, size_t size);
struct tracecmd_input *
instance_open(struct guard *g, struct tracecmd_input *file, const char *name);
void instance_note(struct guard *g, struct tracecmd_input *file);

#endif
