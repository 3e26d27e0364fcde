/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PATHFAULT_H
#define PATHFAULT_H

#include <linux/types.h>

void pathfault_spin(void);
void pathfault_sleep(void);
void pathfault_extra(bool sleeps);
void pathfault_irq(void);
void pathfault_softirq(void);
void pathfault_timer(void);

#endif
