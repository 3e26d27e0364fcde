// SPDX-License-Identifier: GPL-2.0
/* Copies what a case needs of perf maps. See jitmaps.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jitmaps.h"
#include "memory.h"
#include "order.h"
#include "part.h"
#include "perfmap.h"

/**
 * struct known - an address of a process
 * @tgid:	the process
 * @addr:	the address
 */
struct known {
	s32 tgid;
	u64 addr;
};

static struct jitmap *find(struct jitmaps *j, s32 tgid)
{
	size_t i;

	for (i = 0; i < j->nr; i++) {
		if (j->process[i].tgid == tgid)
			return &j->process[i];
	}
	return NULL;
}

static bool is_known(const struct jitmaps *j, const struct jitmap *p, u64 addr)
{
	const struct known *k;

	hash_for_each_possible_entry(&j->known, hash_pair(p->tgid, addr), k) {
		if (k->tgid == p->tgid && k->addr == addr)
			return true;
	}
	return false;
}

static void add(struct jitmaps *j, struct jitmap *p, u64 addr)
{
	struct known *k =
		hash_new(&j->known, hash_pair(p->tgid, addr), sizeof(*k));

	*k = (struct known){ .tgid = p->tgid, .addr = addr };
	GROW(p->addr, p->nr, p->room);
	p->addr[p->nr++] = addr;
}

/**
 * jitmaps_add - add addresses whose functions a case needs
 * @j: the processes
 * @tgid: whose memory they are in
 * @addr: the addresses
 * @nr: number of these
 */
void jitmaps_add(struct jitmaps *j, s32 tgid, const u64 *addr, size_t nr)
{
	struct jitmap *p = find(j, tgid);

	if (!nr || tgid <= 0)
		return;
	if (!p && j->nr == JITMAPS_PROCESSES) {
		j->left_out = true;
		return;
	}
	if (!p) {
		GROW(j->process, j->nr, j->room);
		p = &j->process[j->nr++];
		*p = (struct jitmap){ .tgid = tgid };
	}
	for (; nr; nr--, addr++) {
		if (is_known(j, p, *addr))
			continue;
		if (j->known.nr == JITMAPS_ADDRESSES) {
			j->left_out = true;
			return;
		}
		add(j, p, *addr);
	}
}

/* The number of a process where it runs, which may be a container; 0 if it has ended */
static int number_there(s32 tgid)
{
	char *path = xasprintf("/proc/%d/status", tgid), line[256], *last;
	FILE *f = fopen(path, "re");
	int number = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NStgid:", 7) != 0)
			continue;
		last = strrchr(line, '\t');
		number = last ? atoi(last) : 0;
	}
	if (f)
		fclose(f);
	free(path);
	return number;
}

/*
 * As perf, look where the process runs, and then here: some write the map at their end.
 * The map must be of the process's user, or of root; of a process that has ended, of this
 * one's user, since there is nothing left that says whose it was.
 */
static const char *open_map(struct perfmap *m, s32 tgid)
{
	char *path = xasprintf("/proc/%d", tgid);
	const char *trouble = NULL;
	uid_t owner = geteuid();
	int number = number_there(tgid);
	struct stat st;

	if (!stat(path, &st))
		owner = st.st_uid;
	free(path);
	path = xasprintf("/proc/%d/root/tmp/perf-%d.map", tgid, number);
	m->file = NULL;
	if (number)
		trouble = perfmap_open(m, path, owner);
	free(path);
	if (m->file || trouble)
		return trouble;
	path = xasprintf("/tmp/perf-%d.map", tgid);
	trouble = perfmap_open(m, path, owner);
	free(path);
	return trouble;
}

static FILE *create(const char *symbols, s32 tgid)
{
	char *path = xasprintf("%s/tmp", symbols);
	char *name = xasprintf("perf-%d.map", tgid);
	FILE *f;

	mkdir(symbols, 0750);
	mkdir(path, 0750);
	f = part_open(path, name);
	free(name);
	free(path);
	return f;
}

static bool has_address(const struct jitmap *p,
			const struct perfmap_function *f)
{
	size_t i = FIRST(k, 0, p->nr, p->addr[k] >= f->start);

	return i < p->nr && p->addr[i] < f->end;
}

/* Not synchronized: as the ELF files, later */
static bool close_copy(FILE *f)
{
	bool good = !ferror(f);

	return !fclose(f) && good;
}

/* False if the copy lacks something; @room and @left, bytes to write and to read, become less */
static bool copy_map(struct jitmap *p, const char *symbols, size_t *room,
		     u64 *left)
{
	struct perfmap_function f;
	struct perfmap m;
	bool good = !open_map(&m, p->tgid);
	FILE *to = NULL;
	size_t len;
	char *line;

	good = good && m.left <= *left;
	*left -= good ? m.left : 0;
	qsort(p->addr, p->nr, sizeof(*p->addr), order_u64);
	while (good && perfmap_next(&m, &f)) {
		if (!has_address(p, &f))
			continue;
		if (!to)
			to = create(symbols, p->tgid);
		line = xasprintf("%llx %llx %s\n", f.start, f.end - f.start,
				 f.name);
		len = strlen(line);
		good = to && len <= *room && fputs(line, to) >= 0;
		*room -= good ? len : 0;
		free(line);
	}
	/* A map without functions is none, but one that cannot be read may have some */
	good = good && !(m.file && ferror(m.file));
	perfmap_close(&m);
	return (!to || close_copy(to)) && good;
}

/**
 * jitmaps_copy - copy what a case needs of its processes' perf maps
 * @j: the processes, whose addresses are sorted
 * @symbols: the directory
 *
 * Return: false if something is missing. A process need not have a map.
 */
bool jitmaps_copy(const struct jitmaps *j, const char *symbols)
{
	size_t room = JITMAPS_BYTES, i;
	bool good = !j->left_out;
	u64 left = JITMAPS_READ;

	for (i = 0; i < j->nr; i++)
		good &= copy_map(&j->process[i], symbols, &room, &left);
	return good;
}

/**
 * jitmaps_free - free the processes
 * @j: them
 */
void jitmaps_free(struct jitmaps *j)
{
	size_t i;

	for (i = 0; i < j->nr; i++)
		free(j->process[i].addr);
	free(j->process);
	hash_free(&j->known);
	*j = (struct jitmaps){ 0 };
}
