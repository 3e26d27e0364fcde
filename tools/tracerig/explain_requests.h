/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRACERIG_EXPLAIN_REQUESTS_H
#define TRACERIG_EXPLAIN_REQUESTS_H

#include "explain.h"
#include "roles.h"

/* How many requests are remembered */
#define BLK_REQUESTS_MAX 65536

/**
 * struct request - a request to a device
 * @dev:	the device
 * @sector:	its first sector
 * @nr:		number of sectors
 * @queued:	when its bio was queued; of all times: 0 if that is not seen
 * @issued:	when the device got it
 * @completed:	when it was completed
 * @pid:	the thread that made it
 * @comm:	name of that thread
 */
struct request {
	u64 dev, sector, nr;
	u64 queued, issued, completed;
	s32 pid;
	char comm[17];
};

struct blk_requests;

struct blk_requests *blk_requests_new(void);
void blk_requests_event(struct blk_requests *q, enum role event, u64 ts,
			s32 pid, const u64 *range, const char *comm);
const struct request *blk_requests_awaited(const struct blk_requests *q,
					   s32 pid, u64 from, u64 to);
const struct request *blk_requests_outstanding(const struct blk_requests *q,
					       s32 pid, u64 from);
void blk_requests_add(const struct blk_requests *q, struct execution *e,
		      const struct request *r, u64 from, u64 to);
void blk_requests_divide(const struct blk_requests *q, struct explain *x);
const struct request *blk_requests_all(const struct blk_requests *q,
				       size_t *nr);
void blk_requests_free(struct blk_requests *q);

#endif
