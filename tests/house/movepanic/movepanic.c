// SPDX-License-Identifier: GPL-2.0
/*
 * Panics at the instruction "offset" bytes behind rb_move_tail(): in a writer of a ring
 * buffer that goes on to another page.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/panic.h>

static uint offset;
module_param(offset, uint, 0444);

static int hit(struct kprobe *probe, struct pt_regs *regs)
{
	panic("in rb_move_tail+%#x", offset);
}

static struct kprobe probe = {
	.symbol_name = "rb_move_tail",
	.pre_handler = hit,
};

static int __init movepanic_init(void)
{
	probe.offset = offset;
	return register_kprobe(&probe);
}

/* It is never unloaded */
module_init(movepanic_init);
MODULE_DESCRIPTION("Panics in a ring buffer's writer");
MODULE_LICENSE("GPL");
