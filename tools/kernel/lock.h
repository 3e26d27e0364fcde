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
 * CPU in the word, and a waiter on another CPU waits for a few dozen instructions as
 * a rule, for less than 20,000 at most. An NMI never waits without bound, since two
 * NMIs on two CPUs could each have interrupted the holder that the other waits for.
 */
#ifndef _CTLCHART_LOCK_H
#define _CTLCHART_LOCK_H

#include <linux/atomic.h>
#include <linux/processor.h>
#include <linux/types.h>

/* How often an NMI tries: longer than a critical section takes as a rule */
#define CTLCHART_NMI_TRIES 1000

/**
 * struct ctlchart_lock - lock word of the holder's identity
 * @owner: 0 when free, else the number that the holder passed
 */
struct ctlchart_lock {
	atomic_t owner;
};

/**
 * ctlchart_lock_try - take the lock unless that could deadlock
 * @lock: the lock
 * @owner: caller's CPU number plus one
 * @nmi: not 0 in an NMI: try a bounded number of times only
 *
 * Context: any, with interrupts off.
 * Return: false if this CPU holds the lock already, or if @nmi and it stayed
 * taken.
 */
static __always_inline bool ctlchart_lock_try(struct ctlchart_lock *lock,
					      int owner, unsigned int nmi)
{
	unsigned int tries = 0;
	int old = 0;

	while (!atomic_try_cmpxchg_acquire(&lock->owner, &old, owner)) {
		if (old == owner)
			return false;
		do {
			if (nmi && ++tries > CTLCHART_NMI_TRIES)
				return false;
			cpu_relax();
		} while (atomic_read(&lock->owner));
		old = 0;
	}
	return true;
}

/**
 * ctlchart_unlock - release the lock
 * @lock: a lock that ctlchart_lock_try() gave to this context
 */
static inline void ctlchart_unlock(struct ctlchart_lock *lock)
{
	atomic_set_release(&lock->owner, 0);
}

#endif /* _CTLCHART_LOCK_H */
