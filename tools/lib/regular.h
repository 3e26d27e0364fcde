/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opens files whose names others have chosen, such as those in a recording.
 */
#ifndef LIB_REGULAR_H
#define LIB_REGULAR_H

int open_regular(const char *path, const char **trouble);

#endif
