// SPDX-License-Identifier: GPL-2.0
#include "pathdiff.h"
void report_html(struct result *r)
{
	(void)r;
}
