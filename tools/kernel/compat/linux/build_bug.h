/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _COMPAT_LINUX_BUILD_BUG_H
#define _COMPAT_LINUX_BUILD_BUG_H

#include <assert.h>

#endif
