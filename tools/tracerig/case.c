// SPDX-License-Identifier: GPL-2.0
/* Writes a case. See case.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <sodium/crypto_hash_sha256.h>
#include <sodium/utils.h>

#include "baseline.h"
#include "case.h"
#include "memory.h"
#include "part.h"
#include "text.h"
#include "tracerig.h"
#include "version.h"
#include "window.h"

/* ---- sums ---- */

/**
 * case_sum - the SHA-256 of a file
 * @path: the file
 * @bytes: where to put its size
 *
 * Return: it in hexadecimal, for free(); NULL with errno set if it cannot be read.
 */
char *case_sum(const char *path, u64 *bytes)
{
	u8 sum[crypto_hash_sha256_BYTES], buf[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	crypto_hash_sha256_state state;
	char *text;
	int error;
	ssize_t n;

	if (fd < 0)
		return NULL;
	*bytes = 0;
	crypto_hash_sha256_init(&state);
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		crypto_hash_sha256_update(&state, buf, n);
		*bytes += n;
	}
	error = errno;
	close(fd);
	errno = error;
	if (n < 0)
		return NULL;
	crypto_hash_sha256_final(&state, sum);
	text = xzalloc(2 * sizeof(sum) + 1);
	return sodium_bin2hex(text, 2 * sizeof(sum) + 1, sum, sizeof(sum));
}

/**
 * case_set_sum - put its own SHA-256 into the text of case.json
 * @text: the text; @sum is replaced in it
 * @sum: what is there instead of the sum: NO_SUM, for which the sum is
 *
 * Return: the place of the sum in @text; NULL if @sum is not there.
 */
char *case_set_sum(char *text, const char *sum)
{
	u8 hash[crypto_hash_sha256_BYTES];
	char hex[2 * sizeof(hash) + 1], *at = NULL, *next;

	for (next = text; (next = strstr(next, sum)) != NULL; next++)
		at = next;
	if (!at)
		return NULL;
	memcpy(at, NO_SUM, strlen(NO_SUM));
	crypto_hash_sha256(hash, (const u8 *)text, strlen(text));
	sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
	memcpy(at, hex, strlen(hex));
	return at;
}

/* ---- case.json ---- */

/* The first line of a file, or "" */
static void add_line(struct json_object *o, const char *key, const char *path)
{
	char line[4096] = "";
	FILE *f = fopen(path, "re");

	if (f && !fgets(line, sizeof(line), f))
		*line = '\0';
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
	json_string(o, key, line);
}

static void add_time(struct json_object *o, const char *key,
		     const struct timespec *t)
{
	char day[32], text[64];
	struct tm tm;

	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S",
		 gmtime_r(&t->tv_sec, &tm));
	snprintf(text, sizeof(text), "%s.%06ldZ", day, t->tv_nsec / 1000);
	json_string(o, key, text);
}

/**
 * case_time - convert to time of day
 * @ts: time of the trace clock, which is CLOCK_MONOTONIC, in ns
 */
struct timespec case_time(u64 ts)
{
	struct timespec real, mono;
	s64 ns;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	ns = (real.tv_sec - mono.tv_sec) * 1000000000ll +
	     (real.tv_nsec - mono.tv_nsec) + (s64)ts;
	return (struct timespec){ .tv_sec = ns / 1000000000,
				  .tv_nsec = ns % 1000000000 };
}

static struct json_object *host_object(void)
{
	struct json_object *o = json_object_new_object();
	struct utsname u;

	uname(&u);
	json_string(o, "name", u.nodename);
	json_string(o, "release", u.release);
	json_string(o, "version", u.version);
	json_string(o, "machine", u.machine);
	json_number(o, "cpus", sysconf(_SC_NPROCESSORS_CONF));
	add_line(o, "cmdline", "/proc/cmdline");
	add_line(o, "boot_id", "/proc/sys/kernel/random/boot_id");
	return o;
}

static struct json_object *alarm_object(const struct alarm *a)
{
	struct json_object *o = json_object_new_object();

	json_number(o, "time", a->ts);
	json_number(o, "cpu", a->cpu);
	json_string(o, "chart", a->chart);
	json_number(o, "start", a->start);
	json_number(o, "value", a->value);
	json_number(o, "center", a->center);
	json_number(o, "limit", a->limit);
	json_number(o, "judged", a->values);
	json_number(o, "rules", a->rules);
	json_number(o, "pid", a->pid);
	json_string(o, "comm", a->comm);
	json_string(o, "keys", a->keys);
	json_boolean(o, "kept", a->kept);
	return o;
}

static struct json_object *chart_object(const struct case_job *job)
{
	const struct plan_chart *c = job->chart;
	struct json_object *o = json_object_new_object();

	json_string(o, "name", c->name);
	json_string(o, "event", c->event);
	json_string(o, "filter", c->filter);
	json_string(o, "unit", job->is_time ? "ns" : "");
	if (c->symbol)
		json_string(o, "symbol", c->symbol);
	if (c->file)
		json_string(o, "file", c->file);
	if (c->build_id)
		json_string(o, "build_id", c->build_id);
	if (c->paths)
		json_string(o, "paths", c->paths);
	return o;
}

static struct json_object *window_object(const struct window *w)
{
	struct json_object *o = json_object_new_object();
	struct json_object *cpus = json_object_new_array(), *c;
	unsigned int i;

	json_string(o, "clock", "mono");
	json_number(o, "begin", w->first);
	json_number(o, "end", w->last);
	for (i = 0; i < w->cpus; i++) {
		if (!w->cpu[i].events && !w->cpu[i].gaps)
			continue;
		c = json_object_new_object();
		json_number(c, "cpu", i);
		json_number(c, "events", w->cpu[i].events);
		json_number(c, "begin", w->cpu[i].first);
		json_number(c, "end", w->cpu[i].last);
		json_number(c, "gaps", w->cpu[i].gaps);
		json_number(c, "lost", w->cpu[i].lost);
		json_object_array_add(cpus, c);
	}
	json_object_object_add(o, "cpus", cpus);
	return o;
}

static struct json_object *losses_object(const struct case_job *job,
					 const struct window *w)
{
	struct json_object *o = json_object_new_object();
	const struct reader *r = job->reader;
	u64 gaps = 0, lost = 0, dropped = r->spool.dropped_events;
	unsigned int i;

	for (i = 0; i < PAST; i++)
		dropped += reader_needs(r, i) ? r->past[i].dropped_events : 0;
	for (i = 0; i < w->cpus; i++) {
		gaps += w->cpu[i].gaps;
		lost += w->cpu[i].lost;
	}
	json_number(o, "gaps", gaps);
	json_number(o, "lost", lost);
	json_number(o, "dropped", dropped);
	json_number(o, "overwritten", job->overwritten);
	if (job->chart->symbol && !job->chart->file)
		json_number(o, "missed", job->missed);
	return o;
}

static struct json_object *values_array(const struct window *w)
{
	struct json_object *a = json_object_new_array(), *v;
	size_t i;

	for (i = 0; i < w->nr_values; i++) {
		v = json_object_new_object();
		json_number(v, "time", w->value[i].ts);
		json_number(v, "value", w->value[i].value);
		if (w->value[i].limit != ~0ull)
			json_number(v, "limit", w->value[i].limit);
		json_object_array_add(a, v);
	}
	return a;
}

/* Add the files of a directory of the case, sorted by name, with their sizes and sums */
static void add_files(struct json_object *a, const char *dir, const char *below)
{
	char *in = xasprintf("%s/%s", dir, below);
	struct dirent **entry;
	int i, n = scandir(in, &entry, NULL, alphasort);

	for (i = 0; i < n; i++) {
		const char *name = entry[i]->d_name;
		char *path = xasprintf("%s%s", below, name);
		char *at = xasprintf("%s/%s", dir, path), *sum, *deeper;
		struct json_object *o;
		u64 bytes;

		sum = case_sum(at, &bytes);
		if (!sum && errno == EISDIR && strcmp(name, ".") &&
		    strcmp(name, "..")) {
			deeper = xasprintf("%s/", path);
			add_files(a, dir, deeper);
			free(deeper);
		}
		if (sum) {
			o = json_object_new_object();
			json_string(o, "name", path);
			json_number(o, "bytes", bytes);
			json_string(o, "sha256", sum);
			json_object_array_add(a, o);
		}
		free(sum);
		free(at);
		free(path);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	free(in);
}

static struct json_object *case_object(const struct case_job *job,
				       const struct window *w, const char *dir,
				       struct json_object *missing)
{
	struct json_object *o = json_object_new_object(), *alarms, *files;
	struct reader *r = job->reader;
	struct timespec at = case_time(r->alarms.lead.ts);
	size_t i, n = alarm_list_sort(&r->alarms);

	json_string(o, "format", CASE_FORMAT);
	json_number(o, "version", CASE_VERSION);
	json_string(o, "program", PROGRAM " " TRACERIG_VERSION);
	json_number(o, "case", job->number);
	add_time(o, "time", &at);
	json_string(o, "group", job->group);
	json_number(o, "nth", job->nth);
	json_object_object_add(o, "host", host_object());
	json_object_object_add(o, "chart", chart_object(job));
	json_object_object_add(o, "alarm", alarm_object(&r->alarms.lead));
	json_number(o, "nr_alarms", r->nr_alarms);
	alarms = json_object_new_array();
	for (i = 0; i < n; i++)
		json_object_array_add(alarms,
				      alarm_object(&r->alarms.alarm[i]));
	json_object_object_add(o, "alarms", alarms);
	json_object_object_add(o, "values", values_array(w));
	json_object_object_add(o, "window", window_object(w));
	json_object_object_add(o, "losses", losses_object(job, w));
	json_object_object_add(o, "missing", json_object_get(missing));
	files = json_object_new_array();
	add_files(files, dir, "");
	json_object_object_add(o, "files", files);
	json_string(o, CASE_SUM, NO_SUM);
	return o;
}

/* ---- writing ---- */

static bool write_text(const char *dir, const char *name, const char *text)
{
	FILE *f = part_open(dir, name);

	if (!f)
		return false;
	fputs(text, f);
	return part_close(f, true);
}

static bool write_object(const char *dir, struct json_object *o)
{
	char *text = xasprintf(
		"%s\n", json_object_to_json_string_ext(
				o, JSON_C_TO_STRING_PRETTY |
					   JSON_C_TO_STRING_NOSLASHESCAPE));
	bool good;

	case_set_sum(text, NO_SUM);
	good = write_text(dir, CASE_FILE, text);
	free(text);
	return good;
}

static bool sync_directory(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool good = fd >= 0 && !fsync(fd);

	if (fd >= 0)
		close(fd);
	return good;
}

static int sync_entry(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int failed = fd < 0 || fsync(fd);

	(void)st;
	(void)type;
	(void)ftw;
	if (fd >= 0)
		close(fd);
	return failed;
}

/* The function that is watched is one of the addresses */
static void add_watched(const struct plan_chart *c, struct elfcopy *symbols)
{
	u8 id[ELFCOPY_ID];
	size_t id_size;

	if (c->file && c->build_id &&
	    !sodium_hex2bin(id, sizeof(id), c->build_id, strlen(c->build_id),
			    NULL, &id_size, NULL))
		elfcopy_add(symbols, c->file, id, id_size);
}

static bool add_symbols(const struct case_job *job, const struct window *w,
			const char *dir, struct json_object *missing)
{
	char *path;
	bool good;

	if (!elfcopy_collect(&w->symbols, dir, job->reader->helper))
		json_object_array_add(missing,
				      json_object_new_string(SYMBOLS_DIR));
	path = xasprintf("%s/" SYMBOLS_DIR, dir);
	good = !nftw(path, sync_entry, 16, FTW_PHYS) || errno == ENOENT;
	free(path);
	return good;
}

static bool copy_baseline(const char *shared, const char *dir)
{
	int fd = open(shared, O_RDONLY | O_CLOEXEC);
	FILE *f = fd >= 0 ? part_open(dir, BASELINE_FILE) : NULL;
	bool good = false;

	if (f)
		good = part_close(f, part_copy(f, fd));
	if (fd >= 0)
		close(fd);
	return good;
}

/* Some file systems have no links, and all limit their number */
static bool may_copy(int error)
{
	return error == EPERM || error == EOPNOTSUPP || error == EMLINK;
}

/* All cases share the file, which is replaced and never written to */
static void add_baseline(const struct case_job *job, const char *dir,
			 struct json_object *missing)
{
	char *shared = xasprintf("%s/" BASELINE_SHARED, job->dir);
	char *path = xasprintf("%s/" BASELINE_FILE, dir);

	if (link(shared, path) &&
	    !(may_copy(errno) && copy_baseline(shared, dir))) {
		unlink(path);
		json_object_array_add(missing,
				      json_object_new_string(BASELINE_FILE));
	}
	free(path);
	free(shared);
}

/* Write all files but case.json; false, with errno set, if one could not be written */
static bool add_parts(struct case_job *job, struct window *w, const char *dir,
		      struct json_object *missing)
{
	char *failed;

	if (job->chart->paths)
		add_baseline(job, dir, missing);
	if (job->chart_text && !write_text(dir, "chart.txt", job->chart_text))
		return false;
	add_watched(job->chart, &w->symbols);
	if (!callstacks_write(&w->stacks, job->known_stacks, dir, &w->symbols,
			      missing))
		return false;
	failed = state_collect(dir, job->reader->alarms.lead.pid, &w->symbols,
			       missing);
	free(failed);
	return !failed && add_symbols(job, w, dir, missing);
}

static bool fill(struct case_job *job, const char *dir)
{
	struct json_object *missing = json_object_new_array(), *o = NULL;
	struct window w = { 0 };
	bool good = false;
	FILE *f;

	f = part_open(dir, "trace.dat");
	if (!f)
		goto out;
	good = window_write(&w, f, job->head, job->reader);
	good = part_close(f, good);
	good = good && add_parts(job, &w, dir, missing);
	o = good ? case_object(job, &w, dir, missing) : NULL;
	good = o && write_object(dir, o);
out:
	window_free(&w);
	json_object_put(o);
	json_object_put(missing);
	return good && sync_directory(dir);
}

/**
 * case_write - write a case
 * @job: the case
 *
 * Return: 0, or an errno. There is no case of this number then, unless only the directory
 * of all cases could not be synchronized.
 */
int case_write(struct case_job *job)
{
	char *temporary = xasprintf("%s/.case-%llu", job->dir, job->number);
	char *path = xasprintf("%s/%llu", job->dir, job->number);
	int error = 0;

	errno = 0;
	if (mkdir(temporary, 0750) || !fill(job, temporary) ||
	    rename(temporary, path) || !sync_directory(job->dir))
		error = errno ? errno : EIO;
	free(temporary);
	free(path);
	return error;
}
