/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIB_VERSION_H
#define LIB_VERSION_H

/* What --version of every tool prints after its name */
#define TRACERIG_VERSION "(tracerig) 0.1"

#endif
