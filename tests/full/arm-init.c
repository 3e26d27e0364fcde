// SPDX-License-Identifier: GPL-2.0
/*
 * The whole user space of tests/full/arm, in an initramfs of its own.
 *
 * One run of a few processes is recorded three times: raw in the instance "before",
 * as blocks of schedz in the main ring, which tracecast sends while it is going on,
 * and raw again in the instance "after". The probes of the events run in the order
 * in which these were enabled, so what blocks have is in both of the others, and
 * its times are between theirs.
 *
 * What the kernel itself says of it goes to the host over virtio-serial, as text:
 * the files "trace" of the raw instances, the ledgers, and how much memory was free
 * at any point. Then the raw rings are sent with tracecast, too. The verdict is
 * written last: a guest that dies in any way has none.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing"
#define INSTANCES TRACING "/instances"
#define TAP TRACING "/events/schedz/schedz_block/enable"
#define TARGETS "/sys/kernel/config/tracecast"

/* As tests/full/arm numbers the ports */
enum port { PORT_VERDICT = 1, PORT_FACTS, PORT_BEFORE, PORT_AFTER };

/* Workers one after another, and how often their threads wake each other */
#define WORKERS 8
#define ROUNDS 300

/* In hundredths of a second; the test's own limit is lower */
#define PATIENCE 6000

static const char *const events[] = {
	"sched_switch",	      "sched_waking",	    "sched_wakeup",
	"sched_wakeup_new",   "sched_migrate_task", "sched_process_fork",
	"sched_process_exec", "sched_process_exit",
};

static FILE *facts;

static void __attribute__((noreturn)) down(void)
{
	sync();
	reboot(RB_AUTOBOOT);
	_exit(1);
}

/* To the console, where the test looks when there is no verdict */
static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...)
{
	int error = errno;
	va_list args;

	printf("arm-init: ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(": %s\n", strerror(error));
	fflush(stdout);
	if (getpid() != 1)
		_exit(1);
	down();
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die("%s: cannot write %s", path, text);
	close(fd);
}

static void __attribute__((format(printf, 2, 3)))
putf(const char *text, const char *format, ...)
{
	char path[256];
	va_list args;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	put(path, text);
}

static int try_port(int port)
{
	struct dirent *entry;
	DIR *dir = opendir("/dev");
	int fd = -1, n;

	if (!dir)
		die("no /dev");
	/* The first number is that of the device among all of virtio */
	while (fd < 0 && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "vport%*dp%d", &n) == 1 && n == port)
			fd = openat(dirfd(dir), entry->d_name, O_WRONLY);
	}
	closedir(dir);
	return fd;
}

/* The driver learns of the device's ports when both of them run */
static int open_port(enum port port)
{
	int fd, tries;

	for (tries = 0; tries < PATIENCE; tries++) {
		fd = try_port(port);
		if (fd >= 0)
			return fd;
		usleep(10000);
	}
	die("no port %d", port);
}

static void copy(const char *path, int to)
{
	static char data[16384];
	ssize_t len, done, n;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		die("%s: cannot open", path);
	while ((len = read(fd, data, sizeof(data))) > 0) {
		for (done = 0; done < len; done += n) {
			n = write(to, data + done, len - done);
			if (n < 0)
				die("cannot write to the host");
		}
	}
	if (len < 0)
		die("%s: cannot read", path);
	close(fd);
}

static void set_up(void)
{
	static const char *const mounts[][2] = {
		{ "devtmpfs", "/dev" },
		{ "proc", "/proc" },
		{ "sysfs", "/sys" },
		{ "tracefs", TRACING },
		{ "configfs", "/sys/kernel/config" },
	};
	size_t i;

	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	for (i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		if (mount(mounts[i][0], mounts[i][1], mounts[i][0], 0, NULL))
			die("cannot mount %s", mounts[i][1]);
	}
}

/* ---- work ---- */

struct player {
	int from;
	int to;
	int number;
};

static void *play(void *arg)
{
	struct player *p = arg;
	struct sched_param fifo = { .sched_priority = 7 };
	char name[16], byte = 0;
	int i;

	snprintf(name, sizeof(name), "player %d", p->number);
	prctl(PR_SET_NAME, name);
	for (i = 0; i < ROUNDS; i++) {
		if (write(p->to, &byte, 1) != 1 || read(p->from, &byte, 1) != 1)
			die("no ping-pong");
		if (i == ROUNDS / 2 && p->number % 4 == 1 &&
		    sched_setscheduler(0, SCHED_FIFO, &fifo))
			die("no SCHED_FIFO");
		if (i % 64 == 63)
			usleep(2000);
	}
	return NULL;
}

static void be_on(int cpu)
{
	cpu_set_t set;
	int i;

	CPU_ZERO(&set);
	for (i = 0; i < 2; i++) {
		if (cpu < 0 || i == cpu)
			CPU_SET(i, &set);
	}
	if (sched_setaffinity(0, sizeof(set), &set))
		die("no processor %d", cpu);
}

/* Threads that wake each other, on one CPU and then on both; then a program */
static void worker(int number)
{
	struct player player[2];
	pthread_t thread[2];
	int a[2], b[2], i;
	char text[16];

	/* From one to the other, wherever it began */
	be_on(!(number % 2));
	be_on(number % 2);
	if (pipe(a) || pipe(b))
		die("no pipes");
	player[0] = (struct player){ a[0], b[1], 2 * number };
	player[1] = (struct player){ b[0], a[1], 2 * number + 1 };
	for (i = 0; i < 2; i++) {
		if (number % 3 == 2)
			be_on(-1);
		if (pthread_create(&thread[i], NULL, play, &player[i]))
			die("no threads");
	}
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	if (nice(1) < 0)
		die("not nicer");
	snprintf(text, sizeof(text), "%d", number);
	execl("/init", "init", text, NULL);
	die("cannot run /init");
}

static void work(void)
{
	int i, status;

	for (i = 0; i < WORKERS; i++) {
		pid_t pid = fork();

		if (!pid)
			worker(i);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			die("worker %d failed", i);
	}
}

/* ---- memory ---- */

/*
 * KiB that the kernel's page allocator has, including those that it keeps at hand
 * for each CPU. What is tested does not influence this count.
 */
static long free_memory(void)
{
	long kib = -1, pages;
	char line[128];
	FILE *file;

	file = fopen("/proc/meminfo", "r");
	if (!file)
		die("no meminfo");
	while (fgets(line, sizeof(line), file))
		sscanf(line, "MemFree: %ld", &kib);
	fclose(file);
	file = fopen("/proc/zoneinfo", "r");
	if (!file || kib < 0)
		die("no zoneinfo");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, " count: %ld", &pages) == 1)
			kib += pages * (getpagesize() / 1024);
	}
	fclose(file);
	return kib;
}

static void tell_memory(const char *when)
{
	fprintf(facts, "free %s: %ld\n", when, free_memory());
}

/* ---- recording ---- */

static void enable_raw(const char *instance, const char *value)
{
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		putf(value, INSTANCES "/%s/events/sched/%s/enable", instance,
		     events[i]);
}

static void make_instance(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), INSTANCES "/%s", name);
	if (mkdir(path, 0755))
		die("%s: cannot make", path);
	putf("3000", INSTANCES "/%s/buffer_size_kb", name);
}

/* For the instance, or for the main one; all attributes but the port have their defaults */
static void start_target(const char *name, const char *instance)
{
	const char *port = getenv("COLLECTOR_PORT");
	char path[64];

	if (!port)
		die("no COLLECTOR_PORT on the kernel's command line");
	snprintf(path, sizeof(path), TARGETS "/%s", name);
	if (mkdir(path, 0755))
		die("%s: cannot make", path);
	putf("10.0.2.2", TARGETS "/%s/remote_ip", name);
	putf(port, TARGETS "/%s/remote_port", name);
	if (instance)
		putf(instance, TARGETS "/%s/instance", name);
	putf("1", TARGETS "/%s/enabled", name);
}

/* Until the ring buffer is empty and all of its records are acknowledged */
static void await_target(const char *name)
{
	unsigned long long made, acked;
	char path[64], line[128];
	int tries;
	FILE *file;

	snprintf(path, sizeof(path), TARGETS "/%s/ledger", name);
	for (tries = 0; tries < PATIENCE; tries++) {
		file = fopen(path, "r");
		if (!file)
			die("%s: cannot open", path);
		while (fgets(line, sizeof(line), file)) {
			if (sscanf(line,
				   "generated: %llu = lost 0 + held 0 + acknowledged %llu",
				   &made, &acked) == 2 &&
			    made && made == acked) {
				fclose(file);
				return;
			}
		}
		fclose(file);
		usleep(10000);
	}
	fflush(facts);
	copy(path, STDOUT_FILENO);
	die("%s: not all was acknowledged", name);
}

static void tell_file(const char *what, const char *format, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), format, name);
	fprintf(facts, "-- %s\n", what);
	fflush(facts);
	copy(path, fileno(facts));
}

static void stop_target(const char *name)
{
	char path[64];

	putf("0", TARGETS "/%s/enabled", name);
	tell_file(name, TARGETS "/%s/ledger", name);
	snprintf(path, sizeof(path), TARGETS "/%s", name);
	if (rmdir(path))
		die("%s: cannot remove", path);
}

static void send_raw(const char *instance, enum port port)
{
	char path[64];
	int fd = open_port(port);

	snprintf(path, sizeof(path), INSTANCES "/%s/trace", instance);
	copy(path, fd);
	close(fd);
	start_target(instance, instance);
	await_target(instance);
	stop_target(instance);
}

static void record(void)
{
	make_instance("before");
	make_instance("after");
	/* From its size at boot to the size used from the first event on */
	put(TRACING "/buffer_size_kb", "512");
	put(TRACING "/tracing_on", "0");
	enable_raw("before", "1");
	/* Memory that the work itself keeps is not counted for the tap */
	work();
	put(INSTANCES "/before/trace", "\n");

	tell_memory("before");
	start_target("tap", NULL);
	tell_memory("with tracecast");
	put(TAP, "1");
	enable_raw("after", "1");
	put(TRACING "/tracing_on", "1");
	work();
	put(TRACING "/tracing_on", "0");
	await_target("tap");
	tell_memory("with both");
	putf("0", INSTANCES "/before/tracing_on");
	putf("0", INSTANCES "/after/tracing_on");
	put(TAP, "0");
	enable_raw("before", "0");
	enable_raw("after", "0");
	tell_file("schedz", "%s/schedz", TRACING);
	stop_target("tap");
	tell_memory("after");
}

int main(void)
{
	int verdict;

	/* The program that a worker runs */
	if (getpid() != 1)
		return 0;
	set_up();
	verdict = open_port(PORT_VERDICT);
	facts = fdopen(open_port(PORT_FACTS), "w");
	if (!facts)
		die("no facts");
	record();
	send_raw("before", PORT_BEFORE);
	send_raw("after", PORT_AFTER);
	tell_memory("at the end");
	if (fclose(facts) || write(verdict, "complete\n", 9) != 9)
		die("cannot write to the host");
	down();
}
