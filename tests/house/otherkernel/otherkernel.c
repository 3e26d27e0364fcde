// SPDX-License-Identifier: GPL-2.0
/* What a ring buffer in reserved memory has is from now on that of another kernel. */
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/module.h>

/* Of the build ID, behind magic and size, five addresses, and two sizes */
#define AT (2 * 4 + 5 * 8 + 2 * 4)

static char *memory = "trace";
module_param(memory, charp, 0);
MODULE_PARM_DESC(memory, "name of the memory");

static int __init otherkernel_init(void)
{
	phys_addr_t start, size;

	if (!reserve_mem_find_by_name(memory, &start, &size))
		return -ENOENT;
	*((u8 *)phys_to_virt(start) + AT) ^= 0xff;
	return 0;
}

static void __exit otherkernel_exit(void)
{
}

module_init(otherkernel_init);
module_exit(otherkernel_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("makes what a ring buffer has that of another kernel");
