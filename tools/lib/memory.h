/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of analyzers, which have no use for an error of theirs without it. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>
#include <linux/types.h>

void *allocate(size_t size);
void *grow(void *p, u64 nr, u64 *room, size_t size);

#endif
