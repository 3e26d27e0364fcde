// SPDX-License-Identifier: GPL-2.0
/* Alarms that were not read. See unread.h. */
#include "unread.h"

/*
 * An alarm that is not read within this time is lost, ns; windows of presets are shorter
 */
#define UNREAD 60000000000ull
/* Shortest time between two lines on lost alarms, ns */
#define AGAIN 3600000000000ull

/**
 * unread_end - count the alarms that were not read, when there is no more to read
 * @u: what was counted until now
 * @written: number of alarms that the kernel has written
 * @read: number of alarms that were read
 *
 * Return: the number of lost alarms, if there are more than at the last report; otherwise 0.
 */
u64 unread_end(struct unread *u, u64 written, u64 read)
{
	if (written <= read + u->reported)
		return 0;
	return u->reported = written - read;
}

/**
 * unread_look - count the alarms that were not read in time
 * @u: what was counted until now, zero at first
 * @written: number of alarms that the kernel has written
 * @read: number of alarms that were read
 * @now: ns of CLOCK_MONOTONIC
 *
 * Return: the number of lost alarms if it is to be reported, otherwise 0.
 */
u64 unread_look(struct unread *u, u64 written, u64 read, u64 now)
{
	u64 lost = 0;

	if (now - u->since < UNREAD)
		return 0;
	if (now >= u->next) {
		lost = unread_end(u, u->written, read);
		if (lost)
			u->next = now + AGAIN;
	}
	u->since = now;
	u->written = written;
	return lost;
}
