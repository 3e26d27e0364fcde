/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kernel/trace/ctlchart/parse.c needs of the kernel, for a program that
 * fuzzes it: in the place of kernel/trace/trace.h and of what that includes.
 * tools/kernel/compat has the rest.
 */
#ifndef _FUZZ_TRACE_H
#define _FUZZ_TRACE_H

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <asm/local64.h>
#include <linux/bitops.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/types.h>

#define IS_ENABLED(option) 1 /* of CONFIG_64BIT */
#define __percpu
#define DEFINE_LOCK_GUARD_1(...)
#define DECLARE_STATIC_KEY_FALSE(name) extern bool name
#define static_branch_unlikely(key) (*(key))
#define GENMASK_ULL(h, l) (((~0ULL) << (l)) & (~0ULL >> (63 - (h))))
#define NSEC_PER_USEC 1000UL
#define NSEC_PER_MSEC 1000000UL
#define NSEC_PER_SEC 1000000000UL
#define check_mul_overflow(a, b, d) __builtin_mul_overflow(a, b, d)
#define check_add_overflow(a, b, d) __builtin_add_overflow(a, b, d)

/* lib/ctype.c: Latin-1 */
static inline bool isdigit(int c)
{
	return c >= '0' && c <= '9';
}

static inline bool isalnum(int ch)
{
	unsigned char c = ch;

	return isdigit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
	       (c >= 0xc0 && c != 0xd7 && c != 0xf7);
}

static inline bool isspace(int ch)
{
	unsigned char c = ch;

	return (c >= '\t' && c <= '\r') || c == ' ' || c == 0xa0;
}

static inline char *skip_spaces(const char *str)
{
	while (isspace(*str))
		str++;
	return (char *)str;
}

static inline char *strim(char *str)
{
	size_t len = strlen(str);

	while (len && isspace(str[len - 1]))
		str[--len] = '\0';
	return skip_spaces(str);
}

/* To an array, of which no more is used */
#define strscpy(to, from)                                            \
	((size_t)snprintf(to, sizeof(to), "%s", from) < sizeof(to) ? \
		 (ssize_t)strlen(to) :                               \
		 -E2BIG)

/* The index of a word in an array that ends with NULL */
static inline int match_string(const char *const *words, size_t nr,
			       const char *word)
{
	size_t i;

	for (i = 0; i < nr && words[i]; i++) {
		if (!strcmp(words[i], word))
			return i;
	}
	return -EINVAL;
}

/* Digits only: decimal, 0octal or 0xhex, with an optional + before */
static inline int kstrtoull(const char *str, unsigned int base, u64 *val)
{
	char *end;

	if (*str == '+')
		str++;
	if (!isdigit(*str))
		return -EINVAL;
	errno = 0;
	*val = strtoull(str, &end, base);
	if (errno)
		return -ERANGE;
	return *end || end == str ? -EINVAL : 0;
}

/* Memory: an allocation fails when the fuzzer chooses so */
typedef unsigned int gfp_t;
#define GFP_KERNEL 0
extern unsigned int fail_nth;

static inline void *kmalloc(size_t size, gfp_t gfp)
{
	(void)gfp;
	return fail_nth && !--fail_nth ? NULL : malloc(size);
}

static inline void *kzalloc(size_t size, gfp_t gfp)
{
	void *p = kmalloc(size, gfp);

	return p ? memset(p, 0, size) : NULL;
}

static inline char *kstrdup(const char *str, gfp_t gfp)
{
	char *p = kmalloc(strlen(str) + 1, gfp);

	return p ? strcpy(p, str) : NULL;
}

static inline void kfree(const void *p)
{
	free((void *)p);
}

/* Only members that are named, or that the parser uses */
struct list_head {
	struct list_head *next, *prev;
};
struct hlist_node {
	struct hlist_node *next, **pprev;
};
#define list_for_each_entry(pos, head, member)                   \
	for (pos = (void *)((char *)(head)->next -               \
			    offsetof(__typeof__(*pos), member)); \
	     &pos->member != (head);                             \
	     pos = (void *)((char *)pos->member.next -           \
			    offsetof(__typeof__(*pos), member)))
typedef struct {
	u64 key[2];
} siphash_key_t;
typedef struct {
	unsigned int sequence;
} seqcount_latch_t;
struct delayed_work {
	int unused;
};
struct rcu_work {
	int unused;
};
struct seq_file;
struct file_operations {
	int unused;
};

enum {
	FILTER_OTHER = 0,
	FILTER_STATIC_STRING,
	FILTER_DYN_STRING,
	FILTER_RDYN_STRING,
	FILTER_COMM,
	FILTER_CPU,
	FILTER_STACKTRACE,
};

struct ftrace_event_field {
	const char *name;
	const char *type;
	int filter_type;
	int offset;
	int size;
	int is_signed;
};

struct trace_event_class {
	const char *system;
	bool reg;
};

#define TRACE_EVENT_FL_IGNORE_ENABLE 1

struct trace_event_call {
	const char *name;
	struct trace_event_class *class;
	int flags;
	const struct ftrace_event_field *fields;
};

struct trace_subsystem_dir {
	int unused;
};

struct cpumask {
	unsigned long bits[1];
};

struct trace_buffer;
struct array_buffer {
	struct trace_buffer *buffer;
};

struct trace_array {
	struct list_head events;
	struct array_buffer array_buffer;
	int clock_id;
	int buffer_disabled;
	struct cpumask *tracing_cpumask;
	struct ctlchart_gate *ctlchart_gate;
};

#define EVENT_FILE_FL_CTLCHART 1
#define EVENT_FILE_FL_SOFT_DISABLED 2
#define EVENT_FILE_FL_PID_FILTER 4

struct trace_event_file {
	struct list_head list;
	struct trace_event_call *event_call;
	struct trace_subsystem_dir *system;
	struct trace_array *tr;
	unsigned long flags;
};

/* Called where events are judged, which a program that parses does not */
u64 ring_buffer_time_stamp(struct trace_buffer *buffer);
bool trace_event_ignore_this_pid(struct trace_event_file *file);
int raw_smp_processor_id(void);
bool cpumask_test_cpu(int cpu, const struct cpumask *mask);

struct trace_event_buffer {
	struct trace_event_file *trace_file;
};

static inline const char *trace_event_name(struct trace_event_call *call)
{
	return call->name;
}

struct ftrace_event_field *trace_find_event_field(struct trace_event_call *call,
						  char *name);
bool trace_clock_in_ns(struct trace_array *tr);

#endif
