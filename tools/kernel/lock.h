/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A lock for code that runs inside tracepoints, NMI included.
 *
 * No lock of the kernel can be used there. The slow path of raw_spinlock_t and
 * arch_spinlock_t fires the contention_begin tracepoint while the CPU is queued on
 * the lock. If a chart uses that event, it waits for the same lock, behind itself.
 * lockdep fires lock:lock_acquire in the same way, so this lock is not annotated. A
 * loop around arch_spin_trylock() would do, but the lock word must also hold its
 * owner, a CPU number plus one: a context that interrupted the holder on the same
 * CPU, an NMI or an event inside the section, then sees that it must not wait.
 *
 * There is little for lockdep to check: interrupts are off in every section, and
 * the lock order is: a table's lock, then a bucket's; the lock of a chart and that of
 * a gate are taken alone.
 *
 * Invariant: the holder runs with interrupts off. Hence only an NMI can find its own
 * CPU in the word, and a section takes a few dozen instructions as a rule, less than
 * 20,000 at most. Who does not get the lock in a short time queues, and the holder
 * hands it to the first in the queue. A waiter, whose interrupts are off, then waits for
 * one section of each other CPU at most, for one that took the lock before it saw the
 * queue, and for NMIs. None queues at once: in a guest, a CPU at the front of the queue
 * that the host does not run keeps all others from the lock.
 *
 * An NMI does not queue and never waits without bound, since two NMIs on two CPUs could
 * each have interrupted the holder that the other waits for.
 */
#ifndef _CTLCHART_LOCK_H
#define _CTLCHART_LOCK_H

#include <linux/atomic.h>
#include <linux/limits.h>
#include <linux/processor.h>
#include <linux/types.h>

/* Owner of a lock that is handed over, before the first in the queue has taken it */
#define CTLCHART_LOCK_HANDED (-1)

/**
 * struct ctlchart_lock - lock word of the holder's identity, and a queue
 * @owner: 0 when free, CTLCHART_LOCK_HANDED, or the number that the holder passed
 * @queue: in the low 16 bits, how many wait; above, the ticket of the first of them
 */
struct ctlchart_lock {
	atomic_t owner;
	atomic_t queue;
};

/**
 * ctlchart_lock_init - make a lock that is free
 * @lock: its memory
 */
static inline void ctlchart_lock_init(struct ctlchart_lock *lock)
{
	atomic_set(&lock->owner, 0);
	atomic_set(&lock->queue, 0);
}

bool ctlchart_lock_wait(struct ctlchart_lock *lock, int owner);

/**
 * ctlchart_lock_try - take the lock unless that could deadlock
 * @lock: the lock
 * @owner: caller's CPU number plus one
 *
 * Context: any, with interrupts off. An NMI tries a bounded number of times only.
 * Return: false if this CPU holds the lock already, or in an NMI if it stayed taken.
 */
static __always_inline bool ctlchart_lock_try(struct ctlchart_lock *lock,
					      int owner)
{
	int old = 0;

	if (likely(atomic_try_cmpxchg_acquire(&lock->owner, &old, owner)))
		return true;
	if (old == owner)
		return false;
	return ctlchart_lock_wait(lock, owner);
}

/**
 * ctlchart_unlock - release the lock
 * @lock: a lock that ctlchart_lock_try() gave to this context
 */
static inline void ctlchart_unlock(struct ctlchart_lock *lock)
{
	bool waited = atomic_read(&lock->queue) & U16_MAX;

	atomic_set_release(&lock->owner,
			   unlikely(waited) ? CTLCHART_LOCK_HANDED : 0);
}

#endif /* _CTLCHART_LOCK_H */
