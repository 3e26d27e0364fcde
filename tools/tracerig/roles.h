/* SPDX-License-Identifier: GPL-2.0 */
/* Events that show where an operation's time went, whose fields several files here read. */
#ifndef TRACERIG_ROLES_H
#define TRACERIG_ROLES_H

#include "records.h"

/**
 * enum role - what an event means
 * @ROLE_SWITCH:	numbers: prev_pid, next_pid, prev_state; texts: prev_comm, next_comm
 * @ROLE_WAKING:	numbers: pid, target_cpu; text: comm
 * @ROLE_IRQ:		number: irq; text: name
 * @ROLE_IRQ_EXIT:	number: irq
 * @ROLE_SOFTIRQ:	number: vec
 * @ROLE_SOFTIRQ_EXIT:	number: vec
 * @ROLE_BIO:		a bio is queued; numbers: dev, sector, nr_sector; text: comm
 * @ROLE_ISSUE:		the device gets a request; likewise
 * @ROLE_COMPLETE:	it is completed; numbers: dev, sector, nr_sector
 * @ROLES:		another event
 */
enum role {
	ROLE_SWITCH,
	ROLE_WAKING,
	ROLE_IRQ,
	ROLE_IRQ_EXIT,
	ROLE_SOFTIRQ,
	ROLE_SOFTIRQ_EXIT,
	ROLE_BIO,
	ROLE_ISSUE,
	ROLE_COMPLETE,
	ROLES
};

#define EVENT_NUMBERS 3
#define EVENT_TEXTS 2

/**
 * struct event_names - an event, and the fields of it that are read
 * @system:	its system
 * @name:	its name
 * @number:	names of fields that are numbers
 * @text:	names of fields that are strings
 */
struct event_names {
	const char *system, *name, *number[EVENT_NUMBERS], *text[EVENT_TEXTS];
};

extern const struct event_names role_names[ROLES];

/**
 * struct event_fields - the same event in the kernel that recorded it
 * @type:	its common_type; -1: there is no such event
 * @number:	the fields; of size 0 if there is no such field
 * @text:	the fields, or NULL
 */
struct event_fields {
	int type;
	struct number number[EVENT_NUMBERS];
	struct tep_format_field *text[EVENT_TEXTS];
};

struct tep_event *event_find(struct event_fields *f, struct tep_handle *tep,
			     const struct event_names *names);
enum role role_of(const struct tep_event *e);

#endif
