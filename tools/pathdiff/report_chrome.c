// SPDX-License-Identifier: GPL-2.0
#include "pathdiff.h"
void report_chrome(struct result *r)
{
	(void)r;
}
