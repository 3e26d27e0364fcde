// SPDX-License-Identifier: GPL-2.0
/* Functions and other names as integers. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <event-parse.h>

#include "pathdiff.h"

/* A function is not longer than this */
#define MAX_FUNCTION (4u << 20)

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
 * softirq_name - the name of a softirq, without _SOFTIRQ
 * @vec: its number
 */
const char *softirq_name(u64 vec)
{
	static const char *const names[] = { "HI",	"TIMER", "NET_TX",
					     "NET_RX",	"BLOCK", "IRQ_POLL",
					     "TASKLET", "SCHED", "HRTIMER",
					     "RCU" };

	return vec < sizeof(names) / sizeof(*names) ? names[vec] : "?";
}

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

	for (i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
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
 * struct symbol - a line of the file's kallsyms
 * @address:	where it begins
 * @name:	its name, and its module in brackets
 * @nth:	the how manieth of this name, by address; 0: the only one
 */
struct symbol {
	u64 address;
	char *name;
	u32 nth;
};

/**
 * struct kallsyms - where functions are, in one file
 * @functions:	their names
 * @symbol:	all symbols, by address
 * @nr:		number of them
 * @max:	room
 * @asked:	struct asked, by address
 */
struct kallsyms {
	struct strings *functions;
	struct symbol *symbol;
	u32 nr;
	u32 max;
	struct hash asked;
};

/* An address that was asked for, and its function */
struct asked {
	u64 address;
	u32 function;
};

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address == y->address)
		return strcmp(x->name, y->name);
	return x->address > y->address ? 1 : -1;
}

static int by_name(const void *a, const void *b)
{
	const struct symbol *x = *(struct symbol *const *)a;
	const struct symbol *y = *(struct symbol *const *)b;
	int order = strcmp(x->name, y->name);

	return order ? order : by_address(x, y);
}

/* Different functions may have the same name: by address, which is the same
 * order in every boot of a kernel.
 */
static void number_equal(struct kallsyms *s)
{
	struct symbol **order = xzalloc(s->nr * sizeof(*order));
	u32 i;

	for (i = 0; i < s->nr; i++)
		order[i] = &s->symbol[i];
	qsort(order, s->nr, sizeof(*order), by_name);
	for (i = 1; i < s->nr; i++) {
		if (strcmp(order[i]->name, order[i - 1]->name))
			continue;
		if (!order[i - 1]->nth)
			order[i - 1]->nth = 1;
		order[i]->nth = order[i - 1]->nth + 1;
	}
	free(order);
}

/* "ffffffff81234567 name [module]" */
static void read_line(struct kallsyms *s, char *line)
{
	char *end, *name;
	u64 address = strtoull(line, &end, 16);

	if (!address || *end != ' ')
		return;
	name = end + 1;
	name[strcspn(name, "\n")] = '\0';
	if (!*name)
		return;
	clean_text(name);
	GROW(s->symbol, s->nr, s->max);
	s->symbol[s->nr].address = address;
	s->symbol[s->nr].nth = 0;
	s->symbol[s->nr++].name = xstrdup(name);
}

/*
 * libtraceevent gives names of functions, but not their modules, nor how many
 * there are of a name; except by printing them all.
 */
static FILE *print_functions(struct tep_handle *tep)
{
	int fd = memfd_create("functions", MFD_CLOEXEC), out;
	FILE *f;

	fflush(stdout);
	out = dup(STDOUT_FILENO);
	f = fd < 0 || out < 0 || dup2(fd, STDOUT_FILENO) < 0 ? NULL :
							       fdopen(fd, "r");
	if (f) {
		tep_print_funcs(tep);
		fflush(stdout);
		rewind(f);
	}
	if (out >= 0) {
		dup2(out, STDOUT_FILENO);
		close(out);
	}
	return f;
}

/**
 * kallsyms_read - read where functions are
 * @g: the guard
 * @tep: the file's, with its kallsyms
 * @functions: where their names go
 *
 * Return: the symbols, maybe none, or NULL after guard_fail().
 */
struct kallsyms *kallsyms_read(struct guard *g, struct tep_handle *tep,
			       struct strings *functions)
{
	struct kallsyms *s = xzalloc(sizeof(*s));
	FILE *f = print_functions(tep);
	size_t size = 0;
	char *line = NULL;

	if (!f) {
		guard_fail(g, GUARD_NOWHERE, "no memory for its symbols");
		free(s);
		return NULL;
	}
	s->functions = functions;
	while (getline(&line, &size, f) > 0)
		read_line(s, line);
	free(line);
	fclose(f);
	if (s->nr) {
		qsort(s->symbol, s->nr, sizeof(*s->symbol), by_address);
		number_equal(s);
	}
	return s;
}

/* "__sched_text_start" is no function's name, though a function begins there */
static bool marks_section(const char *name)
{
	size_t len = strlen(name);

	return (len > 11 && !strcmp(name + len - 11, "_text_start")) ||
	       (len > 9 && !strcmp(name + len - 9, "_text_end")) ||
	       !strcmp(name, "_text") || !strcmp(name, "_stext");
}

/* The symbol that an address is in */
static const struct symbol *find(const struct kallsyms *s, u64 address)
{
	u32 low = 0, high = s->nr;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (s->symbol[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - s->symbol[low - 1].address > MAX_FUNCTION)
		return NULL;
	/* of several names of an address the first: it is the same each time */
	low--;
	while (low && s->symbol[low - 1].address == s->symbol[low].address)
		low--;
	for (high = low; high < s->nr; high++) {
		if (s->symbol[high].address != s->symbol[low].address)
			break;
		if (!marks_section(s->symbol[high].name))
			return &s->symbol[high];
	}
	return &s->symbol[low];
}

static u32 resolve(struct kallsyms *s, u64 address)
{
	const struct symbol *symbol = find(s, address);
	char name[512];

	if (!symbol)
		snprintf(name, sizeof(name), "0x%llx", address);
	else if (symbol->nth > 1)
		snprintf(name, sizeof(name), "%s#%u", symbol->name,
			 symbol->nth);
	else
		snprintf(name, sizeof(name), "%s", symbol->name);
	return string_id(s->functions, name);
}

/**
 * kallsyms_function - the function at an address
 * @s: the symbols
 * @address: where it begins, or in it
 *
 * Return: its number.
 */
u32 kallsyms_function(struct kallsyms *s, u64 address)
{
	u64 hash = hash_u64(address);
	struct asked *a;

	hash_for_each_possible_entry(&s->asked, hash, a) {
		if (a->address == address)
			return a->function;
	}
	a = hash_new(&s->asked, hash, sizeof(*a));
	a->address = address;
	a->function = resolve(s, address);
	return a->function;
}

/**
 * kallsyms_exact - the symbol that begins at an address
 * @s: the symbols
 * @address: the address
 *
 * Return: its name, or NULL.
 */
const char *kallsyms_exact(struct kallsyms *s, u64 address)
{
	const struct symbol *symbol = find(s, address);

	return symbol && symbol->address == address ? symbol->name : NULL;
}

/**
 * kallsyms_named - the function of a name that a user gives
 * @s: the symbols
 * @name: its name, with or without "#2" and its module
 *
 * Return: its number; of a name that the file does not know as well.
 */
u32 kallsyms_named(struct kallsyms *s, const char *name)
{
	size_t len = strlen(name);
	u32 i;

	for (i = 0; i < s->nr; i++) {
		if (!strcmp(s->symbol[i].name, name))
			return string_id(s->functions, name);
	}
	for (i = 0; i < s->nr; i++) {
		const char *known = s->symbol[i].name;

		if (!strncmp(known, name, len) &&
		    !strncmp(known + len, " [", 2))
			return string_id(s->functions, known);
	}
	return string_id(s->functions, name);
}

/**
 * kallsyms_known - whether the file has symbols at all
 * @s: the symbols
 */
bool kallsyms_known(const struct kallsyms *s)
{
	return s->nr;
}

/**
 * kallsyms_free - free symbols
 * @s: the symbols, or NULL
 */
void kallsyms_free(struct kallsyms *s)
{
	u32 i;

	if (!s)
		return;
	for (i = 0; i < s->nr; i++)
		free(s->symbol[i].name);
	free(s->symbol);
	hash_free(&s->asked);
	free(s);
}
