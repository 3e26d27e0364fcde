// SPDX-License-Identifier: GPL-2.0
/* The state of the system at the alarm, as text files of a case. */
#include <elf.h>
#include <errno.h>
#include <glob.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "case.h"
#include "memory.h"
#include "part.h"
#include "text.h"

/* Bytes of the kernel's log that a case keeps, the last ones */
#define DMESG_MAX (256 << 10)
#define LOG_READ_ALL 3

/* Bytes that are kept of a source, more than any has on the machines that we know */
#define SOURCE_MAX (4 << 20)

static const struct {
	const char *name;
	const char *pattern;
} sources[] = {
	{ "pressure.txt", "/proc/pressure/*" },
	{ "vmstat.txt", "/proc/vmstat" },
	{ "diskstats.txt", "/proc/diskstats" },
	{ "meminfo.txt", "/proc/meminfo" },
	{ "loadavg.txt", "/proc/loadavg" },
	{ "interrupts.txt", "/proc/interrupts" },
	{ "softirqs.txt", "/proc/softirqs" },
	{ "cpufreq.txt",
	  "/sys/devices/system/cpu/cpufreq/policy*/scaling_{cur_freq,min_freq,max_freq,governor}" },
	{ "throttle.txt", "/sys/devices/system/cpu/cpu*/thermal_throttle/*" },
	{ "thermal.txt",
	  "/sys/class/thermal/{thermal_zone*/{type,temp},cooling_device*/{type,cur_state,max_state}}" },
};

/* Of each control group that the process is in, up to the root */
static const char *const group_files[] = {
	"cpu.max",     "cpu.stat",	  "cpu.pressure",  "io.max",
	"io.pressure", "memory.max",	  "memory.high",   "memory.current",
	"memory.stat", "memory.pressure", "memory.events",
};

/* Copy a file; false with errno set if the copy could not be written */
static bool copy_text(const char *from, FILE *to)
{
	char buf[16384];
	size_t n, sum = 0;
	FILE *f = fopen(from, "re");

	/* The files of a CPU disappear when it is removed */
	if (!f)
		return true;
	while (sum < SOURCE_MAX && (n = fread(buf, 1, sizeof(buf), f)) > 0) {
		sum += n;
		if (fwrite(buf, 1, n, to) != n) {
			int error = errno;

			fclose(f);
			errno = error;
			return false;
		}
	}
	fclose(f);
	return true;
}

static void is_missing(struct json_object *missing, const char *what)
{
	json_object_array_add(missing, json_object_new_string(what));
}

/* If several files match, each comes after a line with its name */
static bool collect_source(const char *dir, const char *name,
			   const char *pattern, struct json_object *missing)
{
	bool good = true;
	glob_t found;
	size_t i;
	FILE *f;

	if (glob(pattern, GLOB_BRACE, NULL, &found)) {
		is_missing(missing, name);
		return true;
	}
	f = part_open(dir, name);
	good = f;
	for (i = 0; good && i < found.gl_pathc; i++) {
		if (found.gl_pathc > 1)
			fprintf(f, "==> %s <==\n", found.gl_pathv[i]);
		good = copy_text(found.gl_pathv[i], f);
	}
	globfree(&found);
	return f ? part_close(f, good) : false;
}

/* The path of a process' control group (version 2), for free(); NULL if it is unknown */
static char *group_of_process(int pid)
{
	char *path = xasprintf("/proc/%d/cgroup", pid), *line = NULL;
	char *group = NULL;
	size_t room = 0;
	ssize_t len;
	FILE *f;

	f = fopen(path, "re");
	free(path);
	while (f && !group && (len = getline(&line, &room, f)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		/* Outside of this cgroup namespace there is nothing to read */
		if (!strncmp(line, "0::/", 4) && !strstr(line, "/.."))
			group = xstrdup(line + 3);
	}
	free(line);
	if (f)
		fclose(f);
	return group;
}

static bool copy_group(const char *group, FILE *to)
{
	bool good = true;
	size_t i;

	for (i = 0; good && i < ARRAY_SIZE(group_files); i++) {
		char *path =
			xasprintf("/sys/fs/cgroup%s/%s", group, group_files[i]);

		if (!access(path, R_OK)) {
			fprintf(to, "==> %s <==\n", path);
			good = copy_text(path, to);
		}
		free(path);
	}
	return good;
}

/* What its control groups allow the process, and how often they throttled it */
static bool collect_groups(const char *dir, int pid,
			   struct json_object *missing)
{
	char *group = group_of_process(pid);
	bool good;
	FILE *f;

	if (!group || access("/sys/fs/cgroup/cgroup.controllers", R_OK)) {
		is_missing(missing, "cgroup.txt");
		free(group);
		return true;
	}
	if (!group[1])
		*group = '\0';
	f = part_open(dir, "cgroup.txt");
	good = f && copy_group(group, f);
	while (good && *group) {
		*strrchr(group, '/') = '\0';
		good = copy_group(group, f);
	}
	free(group);
	return f ? part_close(f, good) : false;
}

/* Write the build-id that is in a file of ELF notes, after a name */
static void copy_build_id(const char *path, const char *name, FILE *to)
{
	u8 notes[4096];
	FILE *f = fopen(path, "re");
	size_t size = f ? fread(notes, 1, sizeof(notes), f) : 0, at = 0, i;
	struct {
		u32 name_size;
		u32 size;
		u32 type;
	} head;

	if (f)
		fclose(f);
	while (size - at > sizeof(head)) {
		memcpy(&head, notes + at, sizeof(head));
		at += sizeof(head);
		if (head.name_size > size || head.size > size)
			return;
		i = at + (head.name_size + 3) / 4 * 4;
		at = i + (head.size + 3) / 4 * 4;
		if (at > size)
			return;
		if (head.type != NT_GNU_BUILD_ID || head.name_size != 4 ||
		    memcmp(notes + i - 4, "GNU", 4) != 0)
			continue;
		for (; head.size; head.size--)
			fprintf(to, "%02x", notes[i++]);
		fprintf(to, " %s\n", name);
		return;
	}
}

/* Of programs and libraries, after the kernel and its modules */
static void print_build_ids(const struct elfcopy *symbols, FILE *to)
{
	size_t i;
	u32 k;

	for (i = 0; i < symbols->nr; i++) {
		const struct elfcopy_file *f = &symbols->file[i];

		if (!f->id_size)
			continue;
		for (k = 0; k < f->id_size; k++)
			fprintf(to, "%02x", f->id[k]);
		fprintf(to, " %s\n", f->path);
	}
}

/* They say which debug files the addresses of a case need */
static bool collect_build_ids(const char *dir, const struct elfcopy *symbols,
			      struct json_object *missing)
{
	static const char modules[] = "/sys/module/";
	FILE *f;
	glob_t found;
	size_t i;

	if (access("/sys/kernel/notes", R_OK) && !symbols->nr) {
		is_missing(missing, "build-ids.txt");
		return true;
	}
	f = part_open(dir, "build-ids.txt");
	if (!f)
		return false;
	copy_build_id("/sys/kernel/notes", "kernel", f);
	if (!glob("/sys/module/*/notes/.note.gnu.build-id", 0, NULL, &found)) {
		for (i = 0; i < found.gl_pathc; i++) {
			char *name =
				xstrdup(found.gl_pathv[i] + strlen(modules));

			name[strcspn(name, "/")] = '\0';
			copy_build_id(found.gl_pathv[i], name, f);
			free(name);
		}
		globfree(&found);
	}
	print_build_ids(symbols, f);
	return part_close(f, true);
}

static bool collect_dmesg(const char *dir, struct json_object *missing)
{
	char *log = xzalloc(DMESG_MAX);
	int len = klogctl(LOG_READ_ALL, log, DMESG_MAX);
	bool good = true;
	FILE *f;

	if (len < 0) {
		is_missing(missing, "dmesg.txt");
	} else {
		f = part_open(dir, "dmesg.txt");
		good = f && fwrite(log, 1, len, f) == (size_t)len;
		if (f)
			good = part_close(f, good);
	}
	free(log);
	return good;
}

/* The configuration from the kernel, or else from the distribution */
static bool collect_config(const char *dir, struct json_object *missing)
{
	const char *name = "config.gz", *from = "/proc/config.gz";
	char *path = NULL;
	bool good = true;
	struct utsname u;
	FILE *f;

	uname(&u);
	if (access(from, R_OK)) {
		path = xasprintf("/boot/config-%s", u.release);
		name = "config";
		from = path;
	}
	if (access(from, R_OK)) {
		is_missing(missing, "config");
	} else {
		f = part_open(dir, name);
		good = f && copy_text(from, f);
		if (f)
			good = part_close(f, good);
	}
	free(path);
	return good;
}

/**
 * state_collect - write files about the state of the system
 * @dir: directory of the case
 * @pid: the process of the alarm, whose control groups count
 * @symbols: the programs and libraries that addresses refer to
 * @missing: array; the names of files that this machine does not have are added
 *
 * Return: NULL, or, with errno set, what could not be written, for free().
 */
char *state_collect(const char *dir, int pid, const struct elfcopy *symbols,
		    struct json_object *missing)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		if (!collect_source(dir, sources[i].name, sources[i].pattern,
				    missing))
			return xstrdup(sources[i].name);
	}
	if (!collect_groups(dir, pid, missing))
		return xstrdup("cgroup.txt");
	if (!collect_build_ids(dir, symbols, missing))
		return xstrdup("build-ids.txt");
	if (!collect_dmesg(dir, missing))
		return xstrdup("dmesg.txt");
	if (!collect_config(dir, missing))
		return xstrdup("config");
	return NULL;
}
