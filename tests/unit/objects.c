// SPDX-License-Identifier: GPL-2.0
/* See objects.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "objects.h"

/* Tables, by device and inode; the vdso has neither */
static struct object {
	u64 dev;
	u64 inode;
	struct ustack_table *table;
} * objects;
static size_t objects_nr;

/* A file, or a part of a process's memory */
struct bytes {
	int fd;
	u64 from;
};

static int read_bytes(void *arg, u64 offset, void *to, u32 len)
{
	const struct bytes *bytes = arg;

	return pread(bytes->fd, to, len, bytes->from + offset) == (ssize_t)len ?
		       0 :
		       -EIO;
}

static struct ustack_table *build(int fd, u64 from, u64 size,
				  struct ehframe_report *report, int *error)
{
	struct bytes bytes = { fd, from };
	struct ehframe_source source = { .read = read_bytes,
					 .size = size,
					 .arg = &bytes };
	struct ustack_table *table;

	*error = ehframe_build(&source, &ehframe_caps_default, &table, report);
	return table;
}

struct ustack_table *file_table(const char *path, struct ehframe_report *report,
				int *error)
{
	struct ustack_table *table = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	memset(report, 0, sizeof(*report));
	report->reason = strerror(errno);
	*error = -errno;
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st))
		table = build(fd, 0, st.st_size, report, error);
	close(fd);
	return table;
}

static const struct ustack_table *table_of(struct process *process,
					   const struct mapped *m)
{
	struct ehframe_report report;
	struct object *object;
	int error;
	size_t i;

	for (i = 0; i < objects_nr; i++) {
		if (objects[i].dev == m->dev && objects[i].inode == m->inode)
			return objects[i].table;
	}
	objects = reallocarray(objects, objects_nr + 1, sizeof(*objects));
	if (!objects)
		abort();
	object = &objects[objects_nr++];
	object->dev = m->dev;
	object->inode = m->inode;
	object->table = NULL;
	if (!strcmp(m->path, "[vdso]"))
		object->table = build(process->mem, m->start, m->end - m->start,
				      &report, &error);
	else if (m->path[0] == '/')
		object->table = file_table(m->path, &report, &error);
	return object->table;
}

bool process_maps(struct process *process)
{
	char name[64], line[512], mode[8];
	unsigned int major, minor;
	struct mapped *m;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/maps", process->pid);
	file = fopen(name, "re");
	if (!file)
		return false;
	process->nr = 0;
	process->version++;
	while (process->nr < MAPPED_MAX && fgets(line, sizeof(line), file)) {
		m = &process->maps[process->nr];
		memset(m, 0, sizeof(*m));
		if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %255[^\n]",
			   &m->start, &m->end, mode, &m->offset, &major, &minor,
			   &m->inode, m->path) < 7 ||
		    mode[2] != 'x')
			continue;
		m->dev = (u64)major << 32 | minor;
		if (m->inode || !strcmp(m->path, "[vdso]"))
			m->table = table_of(process, m);
		process->nr++;
	}
	fclose(file);
	return process->nr > 0;
}

bool process_open(struct process *process, pid_t pid)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/mem", pid);
	process->pid = pid;
	process->mem = open(name, O_RDONLY | O_CLOEXEC);
	return process->mem >= 0 && process_maps(process);
}

void process_close(struct process *process)
{
	close(process->mem);
}

const struct mapped *process_at(const struct process *process, u64 address)
{
	int low = 0, high = process->nr;

	while (low < high) {
		int middle = low + (high - low) / 2;
		const struct mapped *m = &process->maps[middle];

		if (address >= m->start && address < m->end)
			return m;
		if (address < m->start)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static int find(void *arg, u64 address, struct ustack_code *code)
{
	const struct mapped *m = process_at(arg, address);
	u64 pc;

	if (!m)
		return -ENOENT;
	*code = (struct ustack_code){ 0 };
	code->start = m->start;
	code->size = m->end - m->start;
	if (m->table &&
	    ustack_linked_at(m->table, address - m->start + m->offset, &pc)) {
		code->table = m->table;
		code->to_linked = pc - address;
	}
	return 0;
}

static int read_word(void *arg, u64 address, u64 *value)
{
	struct process *process = arg;

	return pread(process->mem, value, 8, address) == 8 ? 0 : -EFAULT;
}

void process_walk(struct process *process, const struct ustack_regs *regs,
		  u64 *frames, u32 max, struct ustack_result *result)
{
	struct ustack_ops ops = { .find = find,
				  .read = read_word,
				  .arg = process,
				  .seen = process->seen,
				  .round = process->version };

	ustack_walk(&ops, regs, frames, max, result);
}

const char *end_name(enum ustack_end end)
{
	static const char *const names[] = {
		[USTACK_COMPLETE] = "complete",
		[USTACK_DEEP] = "deep",
		[USTACK_NO_MAP] = "no-map",
		[USTACK_NO_TABLE] = "no-table",
		[USTACK_NO_RULE] = "no-rule",
		[USTACK_ODD_RULE] = "odd-rule",
		[USTACK_NO_REGISTER] = "no-register",
		[USTACK_BAD_MEMORY] = "bad-memory",
		[USTACK_BAD_STACK] = "bad-stack",
	};

	return names[end];
}

void objects_free(void)
{
	while (objects_nr)
		ehframe_free(objects[--objects_nr].table);
	free(objects);
	objects = NULL;
}
