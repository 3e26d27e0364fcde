/* SPDX-License-Identifier: GPL-2.0 */
/* A made-up .eh_frame, and the table that is built from it. */
#ifndef TESTS_EHTABLES_H
#define TESTS_EHTABLES_H

#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/slab.h>

#include "ehframe.h"
#include "ehframe_image.h"
#include "random.h"
#include "suite.h"

#define PROGRAM(...) \
	(const u8[]){ __VA_ARGS__ }, sizeof((const u8[]){ __VA_ARGS__ })

static struct ehframe_image image;
static struct ehframe_report report;

static inline int build(struct ustack_table **table,
			const struct ehframe_caps *caps)
{
	struct ehframe_source source = { .read = image_read,
					 .size = IMAGE_SIZE,
					 .arg = &image };

	return ehframe_build(&source, caps ? caps : &ehframe_caps_default,
			     table, &report);
}

static inline struct ustack_table *must_build(void)
{
	struct ustack_table *table;
	int error = build(&table, NULL);

	ck_assert_msg(!error, "%d: %s", error, report.reason);
	return table;
}

#endif
