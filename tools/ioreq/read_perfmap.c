// SPDX-License-Identifier: GPL-2.0
/* Names of functions that a program has compiled at run time, from its perf map. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "order.h"
#include "perfmap.h"
#include "read.h"

/* Maximum number of assignments of functions to addresses: a line has few addresses */
#define UPDATES_MAX (16 << 20)

static void set_name(struct perfmap_name *at, const char *name)
{
	if (at->name && !strcmp(at->name, name))
		return;
	free(at->before);
	at->before = at->name;
	at->name = xstrdup(name);
}

/* The first address that is not before a function */
static u64 first_from(const struct perfmap_name *at, u64 nr, u64 start)
{
	return FIRST(i, 0, nr, at[i].addr >= start);
}

static const char *read_functions(struct perfmap *m, struct perfmap_name *at,
				  u64 nr)
{
	struct perfmap_function f;
	u64 updates = 0, i;

	while (perfmap_next(m, &f)) {
		i = first_from(at, nr, f.start);
		for (; i < nr && at[i].addr < f.end; i++) {
			if (++updates > UPDATES_MAX)
				return "too many functions at the same addresses";
			set_name(&at[i], f.name);
		}
	}
	return NULL;
}

/**
 * perfmap_read - find the functions of addresses in a perf map
 * @path:	path
 * @any_owner:	use it whatever user owns it, and even if it is a symbolic link
 * @at:		addresses, sorted; their names are set if the map has them
 * @nr:		number of addresses
 *
 * Return: why the map cannot be used, or NULL, also if there is no such file. The names
 * are to be freed in any case.
 */
const char *perfmap_read(const char *path, bool any_owner,
			 struct perfmap_name *at, u64 nr)
{
	const char *trouble, *end;
	struct perfmap m;

	trouble = perfmap_open(&m, path, any_owner ? PERFMAP_ANY : geteuid());
	if (!trouble)
		trouble = read_functions(&m, at, nr);
	end = perfmap_close(&m);
	return trouble ? trouble : end;
}
