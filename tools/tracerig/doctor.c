// SPDX-License-Identifier: GPL-2.0
/* tracerig doctor: what works on this machine, and what to do about the rest. */
#include <argp.h>
#include <errno.h>
#include <json-c/json.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <tracefs.h>

#include "cli.h"
#include "memory.h"
#include "rig.h"
#include "operand.h"
#include "text.h"
#include "tracerig.h"

#define PATCHES \
	"boot a kernel with tracerig's patches (make kernel-deb, docs/rig.md)"

/* What a watch needs by default: --keep and --buffer */
#define KEEP (1ull << 30)
#define BUFFER (4ull << 20)

/* From fs/configfs/mount.c; no UAPI header has it */
#define CONFIGFS_MAGIC 0x62656570

enum { OPT_FORMAT = 0x100, OPT_TRACEFS };

/* If anything that a watch needs is MISSING, the machine cannot be watched */
enum status { OK, LIMITED, MISSING, UNKNOWN };

struct doctor {
	const char *dir;
	const char *tracefs;
	bool json;
	bool readable;
	bool cannot_watch;
	struct json_object *checks;
};

static const struct argp_option options[] = {
	{ "format", OPT_FORMAT, "text|json", 0, "text (default) or json", 1 },
	{ "dir", OPT_DIR, "DIR", 0,
	  "Where cases are to be kept (" CASES_DIR "), for the space there",
	  2 },
	{ "tracefs", OPT_TRACEFS, "DIR", 0,
	  "Where tracefs is mounted, if not at the usual place", 2 },
	{ 0 }
};

static const char doc[] =
	"Show what works on this machine, and what to do about the rest: a line each.\n\n"
	"Run it as root; otherwise most of the answers are unknown."
	"\v"
	"Examples:\n"
	"  tracerig doctor\n"
	"  tracerig doctor --format=json | jq -e .watch\n"
	"\n"
	"Exit status: 0 tracerig watch can run here, 1 it cannot, 2 usage.\n";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = { "text", "json" };
	struct doctor *d = state->input;

	switch (key) {
	case OPT_FORMAT:
		d->json = cli_word(state, "format", arg, formats,
				   ARRAY_SIZE(formats));
		return 0;
	case OPT_DIR:
		d->dir = cli_file(state, "dir", arg);
		return 0;
	case OPT_TRACEFS:
		d->tracefs = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "extra operand %s", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* ---- answers ---- */

/* Print what is there, and, if that is not all, what to do; both are freed */
static void answer(struct doctor *d, const char *name, enum status status,
		   char *text, char *advice)
{
	static const char *const words[] = { "ok", "limited", "missing",
					     "unknown" };
	static const char *const colors[] = { "32", "33", "31", "33" };
	struct json_object *o;

	clean_text(text);
	if (!d->json && cli_colors(NULL))
		printf("\033[%sm%-8s\033[0m", colors[status], words[status]);
	else if (!d->json)
		printf("%-8s", words[status]);
	if (!d->json)
		printf(" %-10s %s%s%s\n", name, text, advice ? ": " : "",
		       advice ? advice : "");
	o = json_object_new_object();
	json_string(o, "check", name);
	json_string(o, "status", words[status]);
	json_string(o, "text", text);
	if (advice)
		json_string(o, "advice", advice);
	json_object_array_add(d->checks, o);
	free(text);
	free(advice);
}

static char *read_line(const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	if (f && getline(&line, &size, f) >= 0)
		line[strcspn(line, "\n")] = '\0';
	else
		errno = f ? ENODATA : errno;
	if (f)
		fclose(f);
	if (line && !*line) {
		free(line);
		line = NULL;
	}
	return line;
}

static bool in_tracefs(const char *name)
{
	char *path = tracefs_get_tracing_file(name);
	bool there = path && !access(path, F_OK);

	tracefs_put_tracing_file(path);
	return there;
}

/* ---- checks ---- */

static void check_kernel(struct doctor *d)
{
	struct utsname u;

	uname(&u);
	answer(d, "kernel", OK, xasprintf("Linux %s, %s", u.release, u.machine),
	       NULL);
}

static void check_root(struct doctor *d)
{
	if (!geteuid()) {
		answer(d, "privileges", OK, xstrdup("root"), NULL);
		return;
	}
	d->cannot_watch = true;
	answer(d, "privileges", MISSING,
	       xasprintf("user %u", (unsigned int)geteuid()),
	       xstrdup("run this as root"));
}

static void check_lockdown(struct doctor *d)
{
	char *mode = rig_lockdown();

	if (!mode) {
		answer(d, "lockdown", OK, xstrdup("off"), NULL);
	} else if (!strcmp(mode, LOCKDOWN_ALL)) {
		d->cannot_watch = true;
		answer(d, "lockdown", MISSING, mode, xstrdup(LOCKDOWN_ADVICE));
	} else {
		answer(d, "lockdown", OK, mode, NULL);
	}
}

static void check_tracefs(struct doctor *d)
{
	const char *dir = NULL;
	char *events;

	/* A tracefs that is not mounted stays so: the doctor changes nothing */
	if (d->tracefs) {
		dir = d->tracefs;
		tracefs_set_tracing_dir((char *)dir);
	} else if (tracefs_tracing_dir_is_mounted(false, &dir) <= 0) {
		dir = NULL;
	}
	events = xasprintf("%s/events", dir ? dir : "");
	if (!dir) {
		answer(d, "tracefs", MISSING, xstrdup("not mounted"),
		       xstrdup("mount -t tracefs nodev /sys/kernel/tracing (as root)"));
	} else if (!access(events, R_OK | X_OK)) {
		d->readable = true;
		answer(d, "tracefs", OK, xstrdup(dir), NULL);
	} else if (errno == EACCES || errno == EPERM) {
		answer(d, "tracefs", UNKNOWN,
		       xasprintf("%s: %s", dir, strerror(errno)),
		       xstrdup("run this as root"));
	} else {
		answer(d, "tracefs", MISSING,
		       xasprintf("%s has no events", dir),
		       xstrdup("build the kernel with CONFIG_EVENT_TRACING=y"));
	}
	d->cannot_watch |= !d->readable;
	free(events);
}

/* Check a part of tracerig or ftrace by a file that it has in tracefs */
static void check_part(struct doctor *d, const char *name, const char *file,
		       const char *what, const char *advice)
{
	if (!d->readable)
		answer(d, name, UNKNOWN, xstrdup("tracefs cannot be read"),
		       xstrdup("see the line on tracefs"));
	else if (in_tracefs(file))
		answer(d, name, OK, xstrdup(what), NULL);
	else
		answer(d, name, MISSING, xasprintf("no %s", what),
		       xstrdup(advice));
}

/* Of iosys it needs the calls, and of ftrace events on these; stacks are worth having */
static void check_requests(struct doctor *d)
{
	bool patched = in_tracefs("events/ctlchart/ctlchart_alarm");

	if (!d->readable || !in_tracefs("events/iosys/io_syscall"))
		check_part(d, "requests", "events/iosys/io_syscall",
			   "preset request:PORT",
			   patched ? "build the kernel with CONFIG_IOSYS=y" :
				     PATCHES);
	else if (!in_tracefs("dynamic_events"))
		answer(d, "requests", MISSING,
		       xstrdup("no preset request:PORT"),
		       xstrdup("build the kernel with CONFIG_KPROBE_EVENTS=y"));
	else if (!in_tracefs("events/iosys/io_stack"))
		answer(d, "requests", LIMITED,
		       xstrdup("preset request:PORT, without call sites"),
		       xstrdup("build the kernel with CONFIG_IOSYS_STACKS=y (x86-64 only)"));
	else
		answer(d, "requests", OK, xstrdup("preset request:PORT"), NULL);
}

/* A probe says which functions a watch follows, so that the next one can undo it */
static void check_paths(struct doctor *d)
{
	if (in_tracefs("kprobe_events"))
		check_part(
			d, "paths", "set_graph_function",
			"tracer function_graph, for --paths",
			"build the kernel with CONFIG_FUNCTION_GRAPH_TRACER=y");
	else
		check_part(d, "paths", "kprobe_events",
			   "kprobe_events, for --paths",
			   "build the kernel with CONFIG_KPROBE_EVENTS=y");
}

static bool is_configfs(void)
{
	struct statfs st;

	return !statfs("/sys/kernel/config", &st) &&
	       st.f_type == CONFIGFS_MAGIC;
}

static void check_parts(struct doctor *d)
{
	check_part(d, "ctlchart", "events/ctlchart/ctlchart_alarm",
		   "filter ctlchart()", PATCHES);
	d->cannot_watch |= !d->readable ||
			   !in_tracefs("events/ctlchart/ctlchart_alarm");
	check_part(d, "schedz", "events/schedz", "trace option schedz",
		   PATCHES);
	check_part(d, "iosys", "events/iosys", "events iosys", PATCHES);
	check_part(d, "lbrprof", "events/lbrprof", "sampler lbrprof", PATCHES);
	if (!access("/sys/kernel/config/tracecast", F_OK))
		answer(d, "tracecast", OK, xstrdup("transport tracecast"),
		       NULL);
	else if (!is_configfs())
		answer(d, "tracecast", UNKNOWN,
		       xstrdup("configfs is not mounted"),
		       xstrdup("mount -t configfs none /sys/kernel/config (as root)"));
	else
		answer(d, "tracecast", MISSING,
		       xstrdup("no transport tracecast"), xstrdup(PATCHES));
	check_part(d, "kprobes", "kprobe_events", "preset function:NAME",
		   "build the kernel with CONFIG_KPROBE_EVENTS=y");
	check_paths(d);
	check_part(d, "uprobes", "uprobe_events", "preset uprobe:FILE:SYMBOL",
		   "build the kernel with CONFIG_UPROBE_EVENTS=y");
	check_part(d, "syscalls", "events/syscalls", "preset syscall:NAME",
		   "build the kernel with CONFIG_FTRACE_SYSCALLS=y");
	check_requests(d);
}

static void check_clock(struct doctor *d)
{
	char *line = read_line(
		"/sys/devices/system/clocksource/clocksource0/current_clocksource");

	if (!line)
		answer(d, "clock", UNKNOWN,
		       xstrdup("the clock source is not known"),
		       xstrdup("check that sysfs is mounted on /sys"));
	else if (!strcmp(line, "tsc") || !strcmp(line, "kvm-clock") ||
		 !strcmp(line, "arch_sys_counter") ||
		 !strncmp(line, "hyperv", 6))
		answer(d, "clock", OK, xasprintf("clock source %s", line),
		       NULL);
	else
		answer(d, "clock", LIMITED,
		       xasprintf(
			       "clock source %s: each event costs a microsecond or more",
			       line),
		       xstrdup("see why the TSC is not used: dmesg | grep -i -e tsc -e clocksource"));
	free(line);
}

static bool has_arch_lbr(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char *line = NULL;
	bool found = false;
	size_t size = 0;

	while (f && !found && getline(&line, &size, f) >= 0)
		found = strstr(line, " arch_lbr");
	if (f)
		fclose(f);
	free(line);
	return found;
}

static void check_lbr(struct doctor *d)
{
	static const char *const files[] = {
		"/sys/bus/event_source/devices/cpu/caps/branches",
		"/sys/bus/event_source/devices/cpu_core/caps/branches",
	};
	char *line = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files) && !line; i++)
		line = read_line(files[i]);
	if (!line || !strcmp(line, "0"))
		answer(d, "LBR", MISSING, xstrdup("no last branch records"),
		       xstrdup("only lbrtime needs them: use an Intel CPU since Alder Lake or Sapphire Rapids for lbrprof, others with an LBR for perf record -b only, and in a virtual machine a host that passes its PMU on"));
	else if (has_arch_lbr())
		answer(d, "LBR", OK,
		       xasprintf("%s architectural last branch records", line),
		       NULL);
	else
		answer(d, "LBR", LIMITED,
		       xasprintf(
			       "%s last branch records, but lbrprof needs Intel's architectural ones",
			       line),
		       xstrdup("use perf record -b, which lbrtime reads, too"));
	free(line);
}

static void check_symbols(struct doctor *d)
{
	char *line = read_line("/proc/kallsyms");
	bool zero = line && strspn(line, "0") >= 8;

	if (!line)
		answer(d, "symbols", MISSING, xstrdup("no /proc/kallsyms"),
		       xstrdup("build the kernel with CONFIG_KALLSYMS=y"));
	else if (zero)
		answer(d, "symbols", LIMITED,
		       xstrdup("addresses of functions are hidden"),
		       xstrdup(geteuid() ? "run this as root" :
					   "sysctl kernel.kptr_restrict=1"));
	else
		answer(d, "symbols", OK, xstrdup("/proc/kallsyms"), NULL);
	free(line);
}

static void check_pressure(struct doctor *d)
{
	if (!access("/proc/pressure/cpu", R_OK))
		answer(d, "pressure", OK, xstrdup("/proc/pressure"), NULL);
	else
		answer(d, "pressure", LIMITED,
		       xstrdup("no /proc/pressure: cases will lack it"),
		       xstrdup("build the kernel with CONFIG_PSI=y, and boot with psi=1"));
}

/* Why root could not make cases in a directory; 0: it could */
static int cannot_write(const char *dir)
{
	char *in = xasprintf("%s/.", dir);
	int error = access(in, W_OK | X_OK) ? errno : 0;

	free(in);
	/* Another user's rights say nothing about those of root */
	return error == EACCES && geteuid() ? 0 : error;
}

static void check_space(struct doctor *d)
{
	char *dir = xstrdup(d->dir), *slash, text[32];
	struct statvfs st;
	int error;
	u64 room;

	/* The longest part of the path that exists */
	while (access(dir, F_OK)) {
		slash = strrchr(dir, '/');
		if (!slash || slash == dir) {
			strcpy(dir, slash ? "/" : ".");
			break;
		}
		*slash = '\0';
	}
	if (statvfs(dir, &st)) {
		answer(d, "space", UNKNOWN,
		       xasprintf("%s: %s", dir, strerror(errno)),
		       xstrdup(CHOOSE_DIR));
		free(dir);
		return;
	}
	error = cannot_write(dir);
	if (error) {
		answer(d, "space", MISSING,
		       xasprintf("no cases in %s: %s", dir, strerror(error)),
		       xstrdup(CHOOSE_DIR));
		d->cannot_watch = true;
		free(dir);
		return;
	}
	room = (u64)st.f_bavail * st.f_frsize;
	format_bytes(text, sizeof(text), room);
	if (room >= KEEP)
		answer(d, "space", OK,
		       xasprintf("%s are free in %s", text, dir), NULL);
	else
		answer(d, "space", LIMITED,
		       xasprintf("%s are free in %s", text, dir),
		       xstrdup("cases may take 1G by default: choose a smaller --keep or another --dir"));
	free(dir);
}

static void check_memory(struct doctor *d)
{
	u64 cpus = sysconf(_SC_NPROCESSORS_CONF);
	u64 memory = (u64)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	char text[32];

	format_bytes(text, sizeof(text), cpus * BUFFER);
	if (cpus * BUFFER <= memory / 16)
		answer(d, "memory", OK,
		       xasprintf("the ring buffers of a watch take %s", text),
		       NULL);
	else
		answer(d, "memory", LIMITED,
		       xasprintf(
			       "the ring buffers of a watch take %s, much of this machine's memory",
			       text),
		       xstrdup("choose a smaller --buffer"));
}

static void check_trace_cmd(struct doctor *d)
{
	FILE *f = popen("trace-cmd --version 2>/dev/null", "re");
	char line[256] = "";
	unsigned int major = 0, minor = 0;
	char *version;

	if (f) {
		while (fgets(line, sizeof(line), f) &&
		       !strstr(line, "trace-cmd version"))
			*line = '\0';
		pclose(f);
	}
	version = strstr(line, "version ");
	if (!version || sscanf(version, "version %u.%u", &major, &minor) != 2)
		answer(d, "trace-cmd", MISSING, xstrdup("no trace-cmd"),
		       xstrdup("apt-get install trace-cmd; tracerig watch does not need it"));
	else if (major < 3 || (major == 3 && !minor))
		answer(d, "trace-cmd", LIMITED,
		       xasprintf("version %u.%u", major, minor),
		       xstrdup("install version 3.1 or later"));
	else
		answer(d, "trace-cmd", OK,
		       xasprintf("version %u.%u", major, minor), NULL);
}

/**
 * doctor_main - the command doctor
 * @argc: as of main()
 * @argv: the same, the first one a name for messages
 *
 * Return: the exit status.
 */
int doctor_main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, NULL, doc,
					  NULL,	   NULL,  NULL };
	struct doctor d = { .dir = CASES_DIR };
	struct json_object *o;

	argp_parse(&argp, argc, argv, 0, NULL, &d);
	memory_doing("checking this machine");
	d.checks = json_object_new_array();
	check_kernel(&d);
	check_root(&d);
	check_lockdown(&d);
	check_tracefs(&d);
	check_parts(&d);
	check_clock(&d);
	check_lbr(&d);
	check_symbols(&d);
	check_pressure(&d);
	check_space(&d);
	check_memory(&d);
	check_trace_cmd(&d);
	if (d.json) {
		o = json_object_new_object();
		json_boolean(o, "watch", !d.cannot_watch);
		json_object_object_add(o, "checks", d.checks);
		json_write(o, stdout);
	} else {
		printf("%s\n", d.cannot_watch ?
				       "tracerig watch cannot run here" :
				       "tracerig watch can run here");
		json_object_put(d.checks);
	}
	return d.cannot_watch ? EXIT_FAILURE : EXIT_SUCCESS;
}
