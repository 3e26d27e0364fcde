// SPDX-License-Identifier: GPL-2.0
/* What makes cases alike. See store.h. */
#include <ctype.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "store.h"

#define ANOTHER_REASON "another reason"

/**
 * group_comm - the length of a program's name without what differs among its threads
 * @comm: the name
 */
int group_comm(const char *comm)
{
	int len = strcspn(comm, "/:");

	while (len > 1 &&
	       (isdigit((unsigned char)comm[len - 1]) || comm[len - 1] == '-'))
		len--;
	return len;
}

/* Whether a key of this name has another value for each operation */
static bool is_single(const char *key, size_t len)
{
	static const char *const whole[] = { "sector", "id" };
	static const char *const ends[] = { "pid", "addr", "ptr" };
	static const char *const hosts[] = { "saddr", "daddr" };
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(whole); i++) {
		if (strlen(whole[i]) == len && !strncmp(key, whole[i], len))
			return true;
	}
	for (i = 0; i < ARRAY_SIZE(hosts); i++) {
		if (strlen(hosts[i]) == len && !strncmp(key, hosts[i], len))
			return false;
	}
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		n = strlen(ends[i]);
		if (n <= len && !strncmp(key + len - n, ends[i], n))
			return true;
	}
	return false;
}

/* An address in the kernel's half, but no small negative number */
static bool is_address(const char *value)
{
	u64 v = isdigit((unsigned char)*value) ? strtoull(value, NULL, 0) : 0;

	return v >> 48 == 0xffff && v < (u64)INT32_MIN - 1;
}

/**
 * group_of - what makes cases alike
 * @a: the leading alarm
 * @buf: where to put it: the chart, the program, and the objects among the keys
 * @size: its size
 *
 * The threads of a pool are alike, and so are the sectors of a disk, and connections:
 * digits at the end of the program's name are ignored, and so are keys named sector, pid
 * or id, and addresses, which differ each time.
 */
void group_of(const struct alarm *a, char *buf, size_t size)
{
	const char *key = a->keys;
	size_t len = snprintf(buf, size, "%.*s %.*s",
			      chart_brief(a->chart, a->keys), a->chart,
			      group_comm(a->comm), a->comm);

	while (*key) {
		size_t n = strcspn(key, " "), name = strcspn(key, "= ");

		if (name < n && !is_single(key, name) &&
		    !is_address(key + name + 1) && len < size)
			len += snprintf(buf + len, size - len, " %.*s", (int)n,
					key);
		key += n + strspn(key + n, " ");
	}
}

static bool has_group(const struct store *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->nr_groups; i++) {
		if (!strcmp(s->group[i].name, name))
			return true;
	}
	return false;
}

/* The groups of a chart, program and objects, with a reason after a comma */
static size_t count_reasons(const struct store *s, const char *alike)
{
	size_t i, n = 0, len = strlen(alike);

	for (i = 0; i < s->nr_groups; i++)
		n += !strncmp(s->group[i].name, alike, len) &&
		     !strncmp(s->group[i].name + len, ", ", 2);
	return n;
}

/**
 * group_add_reason - distinguish alike cases by what most of their time was
 * @s: the store
 * @reason: that, from reason_of(); "": it is not known
 * @buf: what group_of() has put there; the reason is added
 * @size: its size
 *
 * Otherwise a worse case could replace one with another cause. After REASONS_MAX reasons, further
 * ones are "another reason".
 */
void group_add_reason(const struct store *s, const char *reason, char *buf,
		      size_t size)
{
	char *name;

	if (!*reason)
		return;
	name = xasprintf("%s, %s", buf, reason);
	if (!has_group(s, name) && count_reasons(s, buf) >= REASONS_MAX) {
		free(name);
		name = xasprintf("%s, " ANOTHER_REASON, buf);
	}
	snprintf(buf, size, "%s", name);
	free(name);
}
