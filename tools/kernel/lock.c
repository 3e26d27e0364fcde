// SPDX-License-Identifier: GPL-2.0
/*
 * ctlchart: what waits for a lock of lock.h
 *
 * Not inlined, so that a path that finds the lock free saves no registers for it.
 */
#include <linux/preempt.h>
#include "lock.h"

/* How often an NMI tries, and others before they queue: longer than most sections */
#define LOCK_TRIES 1000

/* What leaving the queue adds to it: one less waits, and the next one is the first */
#define LOCK_LEAVE 0xffff

/* Take a lock that is free, or @handed to the queue */
static bool lock_take(struct ctlchart_lock *lock, int owner, bool handed)
{
	int old = atomic_read(&lock->owner);

	return (!old || (handed && old == CTLCHART_LOCK_HANDED)) &&
	       atomic_try_cmpxchg_acquire(&lock->owner, &old, owner);
}

/*
 * Wait for a short time. An NMI takes what is handed to the queue as well: the first in
 * it may be what it interrupted, and gets the lock after it.
 */
static bool lock_spin(struct ctlchart_lock *lock, int owner, bool nmi)
{
	unsigned int tries;

	for (tries = 0; tries < LOCK_TRIES; tries++) {
		if (lock_take(lock, owner, nmi))
			return true;
		cpu_relax();
	}
	return false;
}

/* Wait in the queue. Tickets are drawn in a row: the first one's, and how many wait */
static void lock_queue(struct ctlchart_lock *lock, int owner)
{
	u32 queue = atomic_fetch_add(1, &lock->queue);
	u16 ticket = (queue >> 16) + queue;

	while ((u32)atomic_read(&lock->queue) >> 16 != ticket ||
	       !lock_take(lock, owner, true))
		cpu_relax();
	atomic_add(LOCK_LEAVE, &lock->queue);
}

/**
 * ctlchart_lock_wait - wait for a lock that another CPU holds
 * @lock: the lock
 * @owner: caller's CPU number plus one
 *
 * Context: any, with interrupts off. An NMI tries a bounded number of times only.
 * Return: false in an NMI if it stayed taken.
 */
bool ctlchart_lock_wait(struct ctlchart_lock *lock, int owner)
{
	const bool nmi = in_nmi();

	if (lock_spin(lock, owner, nmi))
		return true;
	if (!nmi)
		lock_queue(lock, owner);
	return !nmi;
}
