// SPDX-License-Identifier: GPL-2.0
/* The state of the system at the alarm, as text files of a case. */
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
	{ "throttle.txt",
	  "/sys/devices/system/cpu/cpu*/thermal_throttle/*_count" },
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
 * @missing: array; the names of files that this machine does not have are added
 *
 * Return: NULL, or, with errno set, what could not be written, for free().
 */
char *state_collect(const char *dir, struct json_object *missing)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		if (!collect_source(dir, sources[i].name, sources[i].pattern,
				    missing))
			return xstrdup(sources[i].name);
	}
	if (!collect_dmesg(dir, missing))
		return xstrdup("dmesg.txt");
	if (!collect_config(dir, missing))
		return xstrdup("config");
	return NULL;
}
