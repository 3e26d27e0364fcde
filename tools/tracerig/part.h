/* SPDX-License-Identifier: GPL-2.0 */
/* Files of a case, which are whole or reported, and files without a name. */
#ifndef TRACERIG_PART_H
#define TRACERIG_PART_H

#include <stdbool.h>
#include <stdio.h>

FILE *part_open(const char *dir, const char *name);
FILE *part_anew(const char *path);
bool part_copy(FILE *f, int from);
bool part_close(FILE *f, bool good);
int part_unnamed(const char *dir);

#endif
