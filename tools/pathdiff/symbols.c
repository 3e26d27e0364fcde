// SPDX-License-Identifier: GPL-2.0
/* Functions and other names as integers. */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "kallsyms.h"
#include "pathdiff.h"
#include "softirq.h"

/* Whether a name is in a list of words */
static bool is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++) {
		if (!strcmp(name, *list))
			return true;
	}
	return false;
}

static const char *const softirqs[] = { "invoke_softirq",	"__do_softirq",
					"handle_softirqs",	"do_softirq",
					"do_softirq_own_stack", NULL };
static const char *const nmis[] = { "exc_nmi",	      "asm_exc_nmi", "do_nmi",
				    "default_do_nmi", "nmi_handle",  NULL };

/**
 * softirq_of - which softirq a function handles
 * @function: its name
 *
 * Return: as softirq_name(), or NULL if it handles none.
 */
const char *softirq_of(const char *function)
{
	static const struct {
		const char *function;
		u8 vec;
	} actions[] = { { "tasklet_hi_action", 0 },
			{ "run_timer_softirq", 1 },
			{ "net_tx_action", 2 },
			{ "net_rx_action", 3 },
			{ "blk_done_softirq", 4 },
			{ "irq_poll_softirq", 5 },
			{ "tasklet_action", 6 },
			{ "run_rebalance_domains", 7 },
			{ "sched_balance_softirq", 7 },
			{ "hrtimer_run_softirq", 8 },
			{ "rcu_core_si", 9 } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(actions); i++) {
		if (!strcmp(function, actions[i].function))
			return softirq_name(actions[i].vec);
	}
	return NULL;
}

/*
 * The frame of an interrupt runs before and after the preempt count, and so the
 * flags of records, say so; older kernels trace more of it.
 */
static bool is_interrupt(const char *name)
{
	static const char *const exact[] = { "irq_enter_rcu",
					     "irq_exit_rcu",
					     "irq_enter",
					     "irq_exit",
					     "__irq_exit_rcu",
					     "do_IRQ",
					     "common_interrupt",
					     "__common_interrupt",
					     "spurious_interrupt",
					     "__spurious_interrupt",
					     "handle_IPI",
					     "gic_handle_irq",
					     "ipi_handler",
					     "do_IPI",
					     "generic_handle_arch_irq",
					     NULL };

	return is_one_of(name, exact) || !strncmp(name, "sysvec_", 7) ||
	       !strncmp(name, "__sysvec_", 9) ||
	       (!strncmp(name, "smp_", 4) && strstr(name, "_interrupt"));
}

static u8 flags_of(const char *name)
{
	static const char *const schedules[] = { "schedule",
						 "__schedule",
						 "schedule_idle",
						 "preempt_schedule",
						 "preempt_schedule_common",
						 "preempt_schedule_notrace",
						 "preempt_schedule_irq",
						 "schedule_rtlock",
						 NULL };
	static const char *const may[] = { "__cond_resched",
					   "dynamic_cond_resched", NULL };
	static const char *const waits[] = { "schedule_timeout",
					     "schedule_timeout_uninterruptible",
					     "schedule_timeout_interruptible",
					     "schedule_timeout_killable",
					     "schedule_timeout_idle",
					     "io_schedule",
					     "io_schedule_timeout",
					     "schedule_preempt_disabled",
					     "schedule_hrtimeout",
					     "schedule_hrtimeout_range",
					     "schedule_hrtimeout_range_clock",
					     "__cond_resched",
					     "dynamic_cond_resched",
					     "bit_wait",
					     "bit_wait_io",
					     "bit_wait_timeout",
					     "wait_woken",
					     "rwsem_down_read_slowpath",
					     "rwsem_down_write_slowpath",
					     "__mutex_lock_slowpath",
					     "__mutex_lock.constprop.0",
					     "__wait_for_common",
					     "__down",
					     "__down_common",
					     NULL };

	if (is_one_of(name, schedules))
		return FUNCTION_SCHEDULES | FUNCTION_WAITS;
	if (is_one_of(name, may))
		return FUNCTION_MAY_SCHEDULE | FUNCTION_WAITS;
	if (!strncmp(name, "__traceiter_", 12))
		return FUNCTION_TRACES;
	if (is_one_of(name, waits))
		return FUNCTION_WAITS;
	if (!strcmp(name, "irq_enter_rcu") || !strcmp(name, "irq_enter"))
		return FUNCTION_INTERRUPT | FUNCTION_BEGINS;
	if (is_one_of(name, softirqs))
		return FUNCTION_INTERRUPT | FUNCTION_SOFTIRQ;
	if (is_one_of(name, nmis))
		return FUNCTION_INTERRUPT | FUNCTION_NMI;
	if (softirq_of(name))
		return FUNCTION_SOFTIRQ;
	return is_interrupt(name) ? FUNCTION_INTERRUPT : 0;
}

/**
 * string_id - the number of a name
 * @s: the names
 * @name: the name, which is added if it is new
 */
u32 string_id(struct strings *s, const char *name)
{
	u64 hash = hash_string(name);
	u32 max = s->max, i;

	hash_for_each_possible(&s->table, hash, i) {
		if (!strcmp(s->name[i], name))
			return i;
	}
	GROW(s->name, s->nr, s->max);
	if (max != s->max)
		s->flags = xreallocarray(s->flags, s->max, 1);
	s->name[s->nr] = xstrdup(name);
	s->flags[s->nr] = flags_of(name);
	s->nr++;
	return hash_add(&s->table, hash);
}

/**
 * strings_free - free the names
 * @s: the names
 */
void strings_free(struct strings *s)
{
	u32 i;

	for (i = 0; i < s->nr; i++)
		free(s->name[i]);
	free(s->name);
	free(s->flags);
	hash_free(&s->table);
}

/**
 * struct symbols - functions of addresses, in one file
 * @functions:	their names
 * @kallsyms:	the file's symbols
 * @asked:	struct asked, by address
 */
struct symbols {
	struct strings *functions;
	struct kallsyms *kallsyms;
	struct hash asked;
};

/* An address that was asked for, and its function */
struct asked {
	u64 address;
	u32 function;
};

/**
 * symbols_read - read where functions are
 * @tep: the file's, with its kallsyms
 * @functions: where their names go
 *
 * Return: the symbols, maybe none.
 */
struct symbols *symbols_read(struct tep_handle *tep, struct strings *functions)
{
	struct symbols *s = xzalloc(sizeof(*s));

	s->functions = functions;
	s->kallsyms = kallsyms_of_trace(tep);
	return s;
}

/* "NAME [MODULE]", and "#2" if it is the second one of that name */
static char *name_of(const struct kallsym *k, u32 nth)
{
	char ordinal[16] = "";

	if (nth > 1)
		snprintf(ordinal, sizeof(ordinal), "#%u", nth);
	return k->module ? xasprintf("%s [%s]%s", k->name, k->module, ordinal) :
			   xasprintf("%s%s", k->name, ordinal);
}

/**
 * symbols_function - the function at an address
 * @s: the symbols
 * @address: where it begins, or in it
 *
 * Return: its number.
 */
u32 symbols_function(struct symbols *s, u64 address)
{
	u64 hash = hash_u64(address);
	const struct kallsym *k;
	struct asked *a;
	char *name;

	hash_for_each_possible_entry(&s->asked, hash, a) {
		if (a->address == address)
			return a->function;
	}
	k = kallsyms_find(s->kallsyms, address);
	name = k ? name_of(k, k->nth) : xasprintf("0x%llx", address);
	a = hash_new(&s->asked, hash, sizeof(*a));
	a->address = address;
	a->function = string_id(s->functions, name);
	free(name);
	return a->function;
}

/**
 * symbols_exact - the symbol that begins at an address
 * @s: the symbols
 * @address: the address
 *
 * Return: its name with its module, to be freed; the address if there is none.
 */
char *symbols_exact(const struct symbols *s, u64 address)
{
	const struct kallsym *k = kallsyms_find(s->kallsyms, address);

	return k && k->addr == address ? name_of(k, 0) :
					 xasprintf("0x%llx", address);
}

/**
 * symbols_named - the function of a name that a user gives
 * @s: the symbols
 * @name: its name, with or without "#2" and its module
 *
 * Return: its number; a name that the file lacks is added.
 */
u32 symbols_named(struct symbols *s, const char *name)
{
	const struct kallsym *k = kallsyms_named(s->kallsyms, name);
	char *whole = k ? name_of(k, 0) : xstrdup(name);
	u32 id = string_id(s->functions, whole);

	free(whole);
	return id;
}

/**
 * symbols_known - whether the file has symbols at all
 * @s: the symbols
 */
bool symbols_known(const struct symbols *s)
{
	return kallsyms_nr(s->kallsyms);
}

/**
 * symbols_free - free symbols
 * @s: the symbols, or NULL
 */
void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	kallsyms_free(s->kallsyms);
	hash_free(&s->asked);
	free(s);
}
