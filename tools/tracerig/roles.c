// SPDX-License-Identifier: GPL-2.0
/* Events that show where an operation's time went. See roles.h. */
#include <event-parse.h>
#include <string.h>

#include "roles.h"

const struct event_names role_names[ROLES] = {
	[ROLE_SWITCH] = { "sched",
			  "sched_switch",
			  { "prev_pid", "next_pid", "prev_state" },
			  { "prev_comm", "next_comm" } },
	[ROLE_WAKING] = { "sched",
			  "sched_waking",
			  { "pid", "target_cpu" },
			  { "comm" } },
	[ROLE_IRQ] = { "irq", "irq_handler_entry", { "irq" }, { "name" } },
	[ROLE_IRQ_EXIT] = { "irq", "irq_handler_exit", { "irq" }, { NULL } },
	[ROLE_SOFTIRQ] = { "irq", "softirq_entry", { "vec" }, { NULL } },
	[ROLE_SOFTIRQ_EXIT] = { "irq", "softirq_exit", { "vec" }, { NULL } },
	[ROLE_BIO] = { "block",
		       "block_bio_queue",
		       { "dev", "sector", "nr_sector" },
		       { "comm" } },
	[ROLE_ISSUE] = { "block",
			 "block_rq_issue",
			 { "dev", "sector", "nr_sector" },
			 { "comm" } },
	[ROLE_COMPLETE] = { "block",
			    "block_rq_complete",
			    { "dev", "sector", "nr_sector" },
			    { NULL } },
};

/**
 * event_find - find an event and its fields
 * @f: where to put them
 * @tep: the event formats
 * @names: their names
 *
 * Return: the event, or NULL if there is none.
 */
struct tep_event *event_find(struct event_fields *f, struct tep_handle *tep,
			     const struct event_names *names)
{
	struct tep_event *e =
		tep_find_event_by_name(tep, names->system, names->name);
	int i;

	*f = (struct event_fields){ .type = e ? e->id : -1 };
	if (!e)
		return NULL;
	for (i = 0; i < EVENT_NUMBERS && names->number[i]; i++)
		number_of(&f->number[i], tep,
			  tep_find_any_field(e, names->number[i]));
	for (i = 0; i < EVENT_TEXTS && names->text[i]; i++)
		f->text[i] = array_find(e, names->text[i]);
	return e;
}

/**
 * role_of - what an event means
 * @e: the event
 */
enum role role_of(const struct tep_event *e)
{
	enum role role = 0;

	while (role < ROLES && (strcmp(e->system, role_names[role].system) ||
				strcmp(e->name, role_names[role].name)))
		role++;
	return role;
}
