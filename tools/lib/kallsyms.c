// SPDX-License-Identifier: GPL-2.0
/* The kernel's symbols. See kallsyms.h. */
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "kallsyms.h"
#include "memory.h"
#include "order.h"
#include "text.h"

/* Maximum size of a function */
#define FUNCTION_MAX (4u << 20)

/**
 * struct kallsyms - all symbols
 * @text:	their names and modules
 * @symbol:	symbols, by address
 * @nr:		number of symbols
 */
struct kallsyms {
	char *text;
	struct kallsym *symbol;
	u32 nr;
};

static int by_name(const struct kallsym *x, const struct kallsym *y)
{
	return strcmp(x->name, y->name) ?:
		       strcmp(x->module ?: "", y->module ?: "");
}

static int by_address(const void *a, const void *b)
{
	const struct kallsym *x = a, *y = b;

	return ORDER(x->addr, y->addr) ?: by_name(x, y);
}

static int by_name_and_address(const void *a, const void *b)
{
	const struct kallsym *x = *(struct kallsym *const *)a,
			     *y = *(struct kallsym *const *)b;

	return by_name(x, y) ?: by_address(x, y);
}

/* The order by address is the same in every boot of a kernel */
static void number_equal(struct kallsyms *k)
{
	struct kallsym **order = xcalloc(k->nr, sizeof(*order));
	u32 i;

	for (i = 0; i < k->nr; i++)
		order[i] = &k->symbol[i];
	qsort(order, k->nr, sizeof(*order), by_name_and_address);
	for (i = 1; i < k->nr; i++) {
		if (by_name(order[i], order[i - 1]))
			continue;
		if (!order[i - 1]->nth)
			order[i - 1]->nth = 1;
		order[i]->nth = order[i - 1]->nth + 1;
	}
	free(order);
}

/* "ffffffff81234567 t name [module]"; libtraceevent has no types */
static bool parse_line(struct kallsym *s, char *line, bool types)
{
	char *at = line;

	s->addr = strtoull(line, &at, 16);
	if (!s->addr || *at++ != ' ' ||
	    (types && (!*at || !strchr("tTwW", *at) || *++at != ' ' || !*++at)))
		return false;
	s->name = at;
	at += strcspn(at, " \t");
	if (*at)
		*at++ = '\0';
	s->module = strchr(at, '[');
	if (s->module) {
		s->module++;
		s->module[strcspn(s->module, "]")] = '\0';
		clean_text(s->module);
	}
	clean_text(s->name);
	return *s->name;
}

/* Consumes @text */
static struct kallsyms *parse(char *text, bool types)
{
	struct kallsyms *k = xzalloc(sizeof(*k));
	u32 room = 0;
	char *line;

	k->text = text;
	while ((line = strsep(&text, "\n"))) {
		struct kallsym s = { 0 };

		if (!parse_line(&s, line, types))
			continue;
		GROW(k->symbol, k->nr, room);
		k->symbol[k->nr++] = s;
	}
	if (k->nr) {
		qsort(k->symbol, k->nr, sizeof(*k->symbol), by_address);
		number_equal(k);
	}
	return k;
}

/**
 * kallsyms_load - read functions from a copy of /proc/kallsyms
 * @file:	path
 *
 * Return: symbols, or NULL and errno.
 */
struct kallsyms *kallsyms_load(const char *file)
{
	FILE *from = fopen(file, "re"), *to;
	char *text, buf[65536];
	size_t size, n;

	if (!from)
		return NULL;
	to = text_open(&text, &size);
	while ((n = fread(buf, 1, sizeof(buf), from)))
		fwrite(buf, 1, n, to);
	fclose(from);
	text_close(to);
	return parse(text, true);
}

/**
 * kallsyms_of_trace - symbols that a trace.dat has
 * @tep:	its libtraceevent handle
 *
 * libtraceevent has no function that lists symbols with their modules but one that
 * prints them to stdout, which the GNU C library allows to assign to.
 *
 * Return: symbols.
 */
struct kallsyms *kallsyms_of_trace(struct tep_handle *tep)
{
	FILE *saved = stdout;
	size_t size;
	char *text;

	stdout = text_open(&text, &size);
	tep_print_funcs(tep);
	text_close(stdout);
	stdout = saved;
	return parse(text, false);
}

/**
 * kallsyms_free - free symbols
 * @k:	symbols, or NULL
 */
void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	free(k->text);
	free(k->symbol);
	free(k);
}

/**
 * kallsyms_nr - number of symbols
 * @k:	symbols, or NULL
 */
u32 kallsyms_nr(const struct kallsyms *k)
{
	return k ? k->nr : 0;
}

/* "__sched_text_start" names no function, though a function begins there */
static bool marks_section(const char *name)
{
	size_t len = strlen(name);

	return (len > 11 && !strcmp(name + len - 11, "_text_start")) ||
	       (len > 9 && !strcmp(name + len - 9, "_text_end")) ||
	       !strcmp(name, "_text") || !strcmp(name, "_stext");
}

/**
 * kallsyms_find - find the symbol that an address is in
 * @k:		symbols, or NULL
 * @addr:	address
 *
 * Return: the first one by name of the symbols at the same address, or NULL.
 */
const struct kallsym *kallsyms_find(const struct kallsyms *k, u64 addr)
{
	u64 low = FIRST(i, 0, kallsyms_nr(k), k->symbol[i].addr > addr);
	const struct kallsym *first, *s;

	if (!low || addr - k->symbol[low - 1].addr > FUNCTION_MAX)
		return NULL;
	first = &k->symbol[low - 1];
	while (first > k->symbol && first[-1].addr == first->addr)
		first--;
	for (s = first; s < &k->symbol[low]; s++) {
		if (!marks_section(s->name))
			return s;
	}
	return first;
}

/**
 * kallsyms_named - find a symbol by its name
 * @k:		symbols, or NULL
 * @name:	name
 *
 * Return: the symbol, of no module if possible, or NULL.
 */
const struct kallsym *kallsyms_named(const struct kallsyms *k, const char *name)
{
	const struct kallsym *found = NULL, *s;
	u32 i;

	for (i = 0; i < kallsyms_nr(k); i++) {
		s = &k->symbol[i];
		if (!strcmp(s->name, name) && (!found || !s->module))
			found = s;
	}
	return found;
}
