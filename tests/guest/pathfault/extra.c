// SPDX-License-Identifier: GPL-2.0
/* The functions of the faults that are to be seen in a path. */
#include <linux/compiler.h>

#include "pathfault.h"

noinline void pathfault_extra(bool sleeps)
{
	if (sleeps)
		pathfault_sleep();
	else
		pathfault_spin();
	barrier(); /* no tail call, which would hide it */
}

noinline void pathfault_irq(void)
{
	pathfault_spin();
	barrier();
}

noinline void pathfault_softirq(void)
{
	pathfault_spin();
	barrier();
}

noinline void pathfault_timer(void)
{
	pathfault_spin();
	barrier();
}
