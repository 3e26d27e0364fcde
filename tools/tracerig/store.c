// SPDX-License-Identifier: GPL-2.0
/* The directory of the cases. See store.h. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "baseline.h"
#include "case.h"
#include "cli.h"
#include "memory.h"
#include "order.h"
#include "part.h"
#include "store.h"
#include "text.h"
#include "tracerig.h"

#define GROUPS_FILE "groups.json"
#define GROUPS_FORMAT "tracerig-groups"
/* Bytes of a text: those of the watch's groups are shorter */
#define TEXT_MAX 500

/* The highest number of a case: far from an overflow */
#define NUMBER_MAX 1000000000000ull

/* ---- reading ---- */

static const char *chart_name(struct json_object *charts, size_t i)
{
	return json_object_get_string(json_object_array_get_idx(charts, i));
}

/* The highest value of each chart, of the alarms that case.json lists */
static u64 *most_of(struct json_object *charts, struct json_object *alarms)
{
	size_t nr = json_object_array_length(charts), i, j;
	u64 *most = xcalloc(nr, sizeof(*most));

	if (!json_object_is_type(alarms, json_type_array))
		return most;
	for (i = 0; i < json_object_array_length(alarms); i++) {
		struct json_object *a = json_object_array_get_idx(alarms, i);

		for (j = 0; j < nr; j++) {
			if (!strcmp(chart_name(charts, j),
				    json_text(a, "chart")))
				most[j] = max(most[j], json_u64(a, "value"));
		}
	}
	return most;
}

/* A text of a case, cut to TEXT_MAX: a case that anyone may have made can have a longer one */
static char *text_of(struct json_object *o, const char *key)
{
	const char *text = json_text(o, key);
	size_t len = strlen(text);

	if (len > TEXT_MAX) {
		/* Not within a character of UTF-8 */
		for (len = TEXT_MAX; len && (text[len] & 0xc0) == 0x80;)
			len--;
	}
	return xstrndup(text, len);
}

static void fill_case(struct store_case *c, struct json_object *o)
{
	struct json_object *alarm, *alarms, *chart, *losses;
	char *comm;

	json_object_object_get_ex(o, "alarm", &alarm);
	json_object_object_get_ex(o, "alarms", &alarms);
	json_object_object_get_ex(o, "chart", &chart);
	json_object_object_get_ex(o, "losses", &losses);
	c->lost = json_u64(losses, "lost") + json_u64(losses, "dropped");
	c->group = text_of(o, "group");
	c->nth = json_u64(o, "nth");
	c->time = xstrdup(json_text(o, "time"));
	c->nr_alarms = json_u64(o, "nr_alarms");
	c->charts = case_charts(o);
	c->most = most_of(c->charts, alarms);
	c->value = json_u64(alarm, "value");
	c->limit = json_u64(alarm, "limit");
	c->is_time = !strcmp(json_text(chart, "unit"), "ns");
	c->chart = text_of(alarm, "chart");
	c->keys = text_of(alarm, "keys");
	comm = text_of(alarm, "comm");
	c->who = xasprintf("%s-%llu", comm, json_u64(alarm, "pid"));
	free(comm);
}

/* What is on the disk, whatever case.json says of it */
static u64 size_of(char *path)
{
	char *paths[] = { path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;
	u64 sum = 0;

	if (!tree)
		return 0;
	while ((e = fts_read(tree)) != NULL) {
		if (e->fts_info == FTS_F)
			sum += e->fts_statp->st_size;
	}
	fts_close(tree);
	return sum;
}

static void find_shared(struct store_case *c, const char *dir)
{
	char *path = xasprintf("%s/" BASELINE_FILE, dir);
	struct stat st;

	if (!lstat(path, &st) && S_ISREG(st.st_mode)) {
		c->shared = min((u64)st.st_size, c->bytes);
		c->device = st.st_dev;
		c->inode = st.st_ino;
	}
	free(path);
}

/* It is whole, but the number of a directory is that of its case everywhere */
static char *other_number(const struct store *s, u64 is, u64 has)
{
	char *to = xasprintf("%s/%llu", s->dir, has), *why;

	why = xasprintf(
		access(to, F_OK) ?
			"%s/%llu: is case %llu: rename the directory to %llu" :
			"%s/%llu: is case %llu, and there is another one of that number: move it to another directory, and name that with --dir",
		s->dir, is, has, has);
	free(to);
	return why;
}

static bool load_case(struct store *s, u64 number)
{
	char *path = xasprintf("%s/%llu", s->dir, number), *error = NULL;
	struct json_object *o = case_read(path, &error);
	u64 bytes = size_of(path);
	struct store_case *c;

	if (!error && !json_u64(o, "case"))
		error = xasprintf("%s/" CASE_FILE ": has no number", path);
	if (!error && json_u64(o, "case") != number)
		error = other_number(s, number, json_u64(o, "case"));
	if (error) {
		/* A watch may have removed it meanwhile */
		if (!access(path, F_OK) || errno != ENOENT) {
			GROW(s->damage, s->damaged, s->damage_room);
			s->damage[s->damaged++] =
				(struct store_damage){ number, error };
			s->other_bytes += bytes;
		} else {
			free(error);
		}
		free(path);
		json_object_put(o);
		return false;
	}
	GROW(s->c, s->nr, s->room);
	c = &s->c[s->nr++];
	*c = (struct store_case){ .number = number, .bytes = bytes };
	fill_case(c, o);
	find_shared(c, path);
	free(path);
	json_object_put(o);
	return true;
}

static int by_number(const void *a, const void *b)
{
	const struct store_case *x = a, *y = b;

	return ORDER(x->number, y->number);
}

static int by_damaged_number(const void *a, const void *b)
{
	const struct store_damage *x = a, *y = b;

	return ORDER(x->number, y->number);
}

static char *load_cases(struct store *s)
{
	DIR *d = opendir(s->dir);
	struct dirent *e;
	u64 number;

	if (!d)
		return xasprintf(
			"%s: %s%s", s->dir, strerror(errno),
			errno == ENOENT ?
				": tracerig watch makes it; --dir names another one" :
			errno == EACCES ?
				": it is for root, as tracerig watch makes it" :
				"");
	while ((e = readdir(d)) != NULL) {
		if (!parse_number(e->d_name, &number) || !number ||
		    *e->d_name == '0' || number > NUMBER_MAX)
			continue;
		if (s->next <= number)
			s->next = number + 1;
		load_case(s, number);
	}
	closedir(d);
	if (s->c)
		qsort(s->c, s->nr, sizeof(*s->c), by_number);
	if (s->damage)
		qsort(s->damage, s->damaged, sizeof(*s->damage),
		      by_damaged_number);
	return NULL;
}

/* ---- groups ---- */

/* The group of which the fewest cases were, among those of which no case is there */
static struct store_group *unused_group(const struct store *s)
{
	struct store_group *g, *found = NULL;

	for (g = s->group; g < s->group + s->nr_groups; g++) {
		if (!g->first && strcmp(g->name, STORE_OTHERS) != 0 &&
		    (!found || g->count < found->count))
			found = g;
	}
	return found;
}

/**
 * store_group - find a group, or begin one
 * @s: the store
 * @name: what makes its cases alike
 *
 * If there are GROUPS_MAX, one without a case is forgotten, or else the group is STORE_OTHERS.
 *
 * Return: the group, until the next call.
 */
struct store_group *store_group(struct store *s, const char *name)
{
	struct store_group *g;
	size_t i;

	for (i = 0; i < s->nr_groups; i++) {
		if (!strcmp(s->group[i].name, name))
			return &s->group[i];
	}
	if (s->nr_groups >= GROUPS_MAX && strcmp(name, STORE_OTHERS) != 0) {
		g = unused_group(s);
		if (!g)
			return store_group(s, STORE_OTHERS);
		/* The number of all cases is that of the groups */
		store_group(s, STORE_OTHERS)->count += g->count;
		g = unused_group(s);
		free(g->name);
		*g = (struct store_group){ .name = xstrdup(name) };
		return g;
	}
	GROW(s->group, s->nr_groups, s->group_room);
	s->group[s->nr_groups] = (struct store_group){ .name = xstrdup(name) };
	return &s->group[s->nr_groups++];
}

/**
 * store_first - find the first of alike cases
 * @s: the store
 * @g: the group
 *
 * Return: the number of its oldest case that is there, 0 if none is.
 */
u64 store_first(const struct store *s, const struct store_group *g)
{
	size_t i;

	for (i = 0; i < s->nr; i++) {
		if (!strcmp(s->c[i].group, g->name))
			return s->c[i].number;
	}
	return 0;
}

/* The cases of a group are seen in order of their numbers */
static void see_case(struct store_group *g, const struct store_case *c)
{
	if (!g->first)
		g->first = c->number;
	if (!g->worst || c->value > g->value) {
		g->worst = c->number;
		g->value = c->value;
	}
}

/*
 * Read the counts. The file has only counts that the cases lack: if it is lost or
 * damaged, counts are too small, and nothing else is affected.
 */
static void load_groups(struct store *s)
{
	char *path = xasprintf("%s/" GROUPS_FILE, s->dir);
	char *why, *name;
	struct json_object *o = json_load(path, &why), *list, *e;
	struct store_group *g;
	u64 next, others = 0;
	size_t i;

	free(why);
	free(path);
	if (json_object_is_type(o, json_type_object) &&
	    !strcmp(json_text(o, "format"), GROUPS_FORMAT)) {
		next = json_u64(o, "next");
		if (next > s->next && next <= NUMBER_MAX)
			s->next = next;
		if (json_object_object_get_ex(o, "groups", &list) &&
		    json_object_is_type(list, json_type_array)) {
			for (i = 0; i < json_object_array_length(list); i++) {
				e = json_object_array_get_idx(list, i);
				if (!json_object_is_type(e, json_type_object))
					continue;
				name = text_of(e, "group");
				g = store_group(s, name);
				g->count = min(json_u64(e, "count"),
					       (u64)NUMBER_MAX);
				free(name);
			}
		}
	}
	json_object_put(o);
	for (i = 0; i < s->nr; i++) {
		g = store_group(s, s->c[i].group);
		if (strcmp(g->name, s->c[i].group) != 0) {
			free(s->c[i].group);
			s->c[i].group = xstrdup(g->name);
			others++;
		}
		if (g->count < s->c[i].nth)
			g->count = s->c[i].nth;
		see_case(g, &s->c[i]);
	}
	/* These were counted in groups of their own */
	if (others) {
		g = store_group(s, STORE_OTHERS);
		g->count = max(g->count, others);
	}
}

/**
 * store_wants - count a case, and decide whether it is kept
 * @g: its group
 * @value: value of its alarm
 *
 * Return: true for the first one, for the worst one up to now, and every tenth.
 */
bool store_wants(struct store_group *g, u64 value)
{
	g->count++;
	return g->count == 1 || !g->first || value > g->value ||
	       !(g->count % KEEP_NTH);
}

/* Whether no case but one has an alarm of a chart that is as bad */
static bool is_most(const struct store *s, const struct store_case *but,
		    const char *chart, u64 value)
{
	const struct store_case *c;
	size_t i;

	for (c = s->c; c < s->c + s->nr; c++) {
		if (c == but)
			continue;
		for (i = 0; i < json_object_array_length(c->charts); i++) {
			if (c->most[i] >= value &&
			    !strcmp(chart_name(c->charts, i), chart))
				return false;
		}
	}
	return true;
}

/**
 * store_is_worst - whether a window is the first or the worst one of any of its charts
 * @s: the store
 * @alarms: its alarms
 *
 * store_wants() looks at the leading alarm only, which may be of a chart that has alarms
 * all the time. If GROUPS_MAX groups have cases already, charts are too many for this.
 */
bool store_is_worst(const struct store *s, const struct alarm_list *alarms)
{
	struct json_object *charts = alarm_list_charts(alarms);
	size_t nr = json_object_array_length(charts), i;
	bool worst = false;

	if (s->nr_groups >= GROUPS_MAX && !unused_group(s))
		nr = 0;
	for (i = 1; i < nr && !worst; i++) {
		const char *chart = chart_name(charts, i);

		worst = is_most(s, NULL, chart, alarm_list_most(alarms, chart));
	}
	json_object_put(charts);
	return worst;
}

/* Whether no other case is as bad, by a chart that the leading alarm is not of */
static bool is_worst(const struct store *s, const struct store_case *c)
{
	size_t i;

	for (i = 1; i < json_object_array_length(c->charts); i++) {
		if (is_most(s, c, chart_name(c->charts, i), c->most[i]))
			return true;
	}
	return false;
}

/* ---- writing ---- */

static int remove_entry(const char *path, const struct stat *st, int type,
			struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/**
 * store_remove - remove a directory and what is in it
 * @path: the directory
 *
 * Return: whether it is gone.
 */
bool store_remove(const char *path)
{
	return !nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) ||
	       errno == ENOENT;
}

/* Remove what a killed watch left: cases half written or half removed */
static void remove_leftovers(const char *dir)
{
	struct dirent **entry;
	int i, n = scandir(dir, &entry, NULL, NULL);

	for (i = 0; i < n; i++) {
		const char *name = entry[i]->d_name;
		char *path = xasprintf("%s/%s", dir, name);

		if (!strncmp(name, ".case-", 6) || !strncmp(name, ".gone-", 6))
			store_remove(path);
		else if (!strncmp(name, ".groups-", 8) ||
			 !strncmp(name, BASELINE_SHARED,
				  strlen(BASELINE_SHARED)))
			unlink(path);
		free(path);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

static void free_case(struct store_case *c)
{
	free(c->group);
	free(c->time);
	free(c->chart);
	free(c->who);
	free(c->keys);
	json_object_put(c->charts);
	free(c->most);
}

/* It is no longer in the directory: others are the first and the worst of its group then */
static void forget_case(struct store *s, size_t i)
{
	struct store_case *c = &s->c[i];
	struct store_group *g = store_group(s, c->group);
	u64 number = c->number;

	free_case(c);
	memmove(c, c + 1, (s->nr - i - 1) * sizeof(*c));
	s->nr--;
	if (g->first != number && g->worst != number)
		return;
	g->first = g->worst = g->value = 0;
	for (i = 0; i < s->nr; i++) {
		if (!strcmp(s->c[i].group, g->name))
			see_case(g, &s->c[i]);
	}
}

/*
 * It is renamed first, so that no reader sees half a case. What cannot be removed then
 * is tried again by the next watch. Return: whether all is gone, perhaps removed by
 * another program; if not, that is reported.
 */
static bool remove_case(struct store *s, size_t i)
{
	char *path = xasprintf("%s/%llu", s->dir, s->c[i].number);
	char *gone = xasprintf("%s/.gone-%llu", s->dir, s->c[i].number);
	bool renamed = !rename(path, gone) || errno == ENOENT;
	bool removed = renamed && store_remove(gone);

	if (!removed)
		complain("%s cannot be removed: %s", renamed ? gone : path,
			 strerror(errno));
	if (renamed) {
		s->other_bytes += removed ? 0 : size_of(gone);
		forget_case(s, i);
	}
	free(path);
	free(gone);
	return removed;
}

static size_t find_case(const struct store *s, u64 number)
{
	size_t i;

	for (i = 0; i < s->nr && s->c[i].number != number; i++)
		;
	return i;
}

/**
 * store_added - a case has been written
 * @s: the store
 * @g: its group
 * @number: its number
 * @removed: set to the number of the case that is removed for it, 0 if none is
 *
 * If it is the worst case of its group, the one that was the worst until now is removed,
 * unless that is kept for another reason: it is the first one, or a tenth one, or the
 * worst one of another chart.
 *
 * Return: NULL, or what is wrong, for free().
 */
char *store_added(struct store *s, struct store_group *g, u64 number,
		  u64 *removed)
{
	const struct store_case *c, *old;
	size_t i;

	*removed = 0;
	if (!load_case(s, number))
		return xasprintf("case %llu cannot be read again", number);
	c = &s->c[s->nr - 1];
	if (!g->first)
		g->first = number;
	if (g->worst && c->value <= g->value)
		return NULL;
	i = find_case(s, g->worst);
	old = i < s->nr ? &s->c[i] : NULL;
	g->value = c->value;
	g->worst = number;
	if (old && old->number != g->first && old->nth % KEEP_NTH &&
	    !is_worst(s, old)) {
		number = old->number;
		/* A part that stays on the disk is no case */
		remove_case(s, i);
		if (find_case(s, number) == s->nr)
			*removed = number;
	}
	return NULL;
}

/**
 * store_bytes - size of all cases, damaged ones too
 * @s: the store
 *
 * A file that several cases share counts once. Cases share it until a new one replaces
 * it, so that the last file that was met is enough to compare with.
 */
u64 store_bytes(const struct store *s)
{
	const struct store_case *c, *last = NULL;
	u64 sum = s->other_bytes;

	for (c = s->c; c < s->c + s->nr; c++) {
		sum += c->bytes;
		if (!c->shared)
			continue;
		if (last && last->device == c->device &&
		    last->inode == c->inode)
			sum -= c->shared;
		last = c;
	}
	return sum;
}

/**
 * store_since - count the cases from a number on that are there
 * @s: the store
 * @number: the number
 */
size_t store_since(const struct store *s, u64 number)
{
	size_t i, n = 0;

	for (i = 0; i < s->nr; i++)
		n += s->c[i].number >= number;
	return n;
}

/* Cases with the lowest rank are removed first */
static int rank(struct store *s, const struct store_case *c)
{
	const struct store_group *g = store_group(s, c->group);

	if (c->number == g->first)
		return 2;
	return c->number == g->worst || is_worst(s, c);
}

/**
 * store_keep - remove cases until the others have room
 * @s: the store
 * @bytes: room for all cases
 *
 * Removed are first the cases that are neither the first nor the worst of their group, nor
 * the worst of one of their charts, then the worst ones, then the first ones, each from the
 * oldest on. The newest case stays, and damaged ones do: what they are is not known.
 *
 * Return: false if one could not be removed, which is reported.
 */
bool store_keep(struct store *s, u64 bytes)
{
	bool removed = true;

	while (removed && s->nr > 1 && store_bytes(s) > bytes) {
		size_t i, victim = 0;

		for (i = 1; i + 1 < s->nr; i++) {
			if (rank(s, &s->c[i]) < rank(s, &s->c[victim]))
				victim = i;
		}
		removed = remove_case(s, victim);
	}
	return removed;
}

/**
 * store_save - write the counts
 * @s: the store
 *
 * They are not synchronized, since the watch would not read the ring buffer meanwhile: after a
 * power loss the file can be empty or cut, which load_groups() allows for.
 *
 * Return: false, with errno set, if they could not be written; the old file stays then.
 */
bool store_save(const struct store *s)
{
	struct json_object *o = json_object_new_object();
	struct json_object *list = json_object_new_array(), *e;
	char *temporary = xasprintf("%s/.groups-new", s->dir);
	char *path = xasprintf("%s/" GROUPS_FILE, s->dir);
	FILE *f = part_anew(temporary);
	bool good;
	size_t i;

	json_string(o, "format", GROUPS_FORMAT);
	json_number(o, "version", 1);
	json_number(o, "next", s->next);
	for (i = 0; i < s->nr_groups; i++) {
		e = json_object_new_object();
		json_string(e, "group", s->group[i].name);
		json_number(e, "count", s->group[i].count);
		json_object_array_add(list, e);
	}
	json_object_object_add(o, "groups", list);
	if (f) {
		json_write(o, f);
		good = !ferror(f);
		good &= !fclose(f);
		good = good && !rename(temporary, path);
	} else {
		json_object_put(o);
		good = false;
	}
	if (!good) {
		int error = errno;

		unlink(temporary);
		errno = error;
	}
	free(temporary);
	free(path);
	return good;
}

static char *make_directory(struct store *s, const char *dir)
{
	char *path = xstrdup(dir), *slash;
	char *error = NULL;

	for (slash = strchr(path + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	/* For root only: cases contain the kernel's log and addresses */
	s->made = !mkdir(path, 0750);
	if (!s->made && errno != EEXIST)
		error = xasprintf("%s: %s: " CHOOSE_DIR, dir, strerror(errno));
	free(path);
	return error;
}

/**
 * store_open - open the directory of the cases
 * @s: filled in; store_close() is due even on error
 * @dir: the directory
 * @write: make it, and lock it: one watch at a time
 *
 * Return: NULL, or what is wrong, for free().
 */
char *store_open(struct store *s, const char *dir, bool write)
{
	char *error = NULL;

	*s = (struct store){ .dir = xstrdup(dir), .lock = -1, .next = 1 };
	if (write)
		error = make_directory(s, dir);
	if (error)
		return error;
	if (write) {
		s->lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (s->lock < 0)
			return xasprintf("%s: %s: " CHOOSE_DIR, dir,
					 strerror(errno));
		if (flock(s->lock, LOCK_EX | LOCK_NB)) {
			close(s->lock);
			s->lock = -1;
			return xasprintf(
				"%s is in use by another watch: " CHOOSE_DIR,
				dir);
		}
		remove_leftovers(dir);
	}
	error = load_cases(s);
	if (!error)
		load_groups(s);
	return error;
}

/**
 * store_undo - remove the directory if store_open() made it, and it is empty
 * @s: the store, of a watch that does not begin
 */
void store_undo(const struct store *s)
{
	/* Without the lock it may be another watch's, which began at the same time */
	if (s->made && s->lock >= 0)
		rmdir(s->dir);
}

/**
 * store_close - close the directory
 * @s: the store
 */
void store_close(struct store *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		free_case(&s->c[i]);
	for (i = 0; i < s->nr_groups; i++)
		free(s->group[i].name);
	for (i = 0; i < s->damaged; i++)
		free(s->damage[i].why);
	free(s->damage);
	free(s->c);
	free(s->group);
	free(s->dir);
	if (s->lock >= 0)
		close(s->lock);
	*s = (struct store){ .lock = -1 };
}
