// SPDX-License-Identifier: GPL-2.0
/*
 * Many processes read one disk synchronously: the load of the demo.
 *
 * Each process reads 4 KiB at a random place with O_DIRECT, waits for it, and
 * reads again, at once or at the next tick of a timer that all share, until the
 * time is over or the parent gets SIGTERM.  It measures each of its reads itself, with
 * the clock that trace-cmd records with (-C mono), and how long it waited for a CPU
 * during them: the log of reads is a truth that does not depend on any tracer.  The parent
 * records the CPU shares of /proc/stat.
 *
 * The places are 16 KiB apart, as a database's pages are, so that no two reads
 * are adjacent and the block layer never merges them: one read is one request.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest/work.h"

#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define READ_SIZE 4096
#define STRIDE 16384
#define SECTOR_SIZE 512
#define MAX_READS (1u << 20)
#define MAX_READERS 10000
#define SAMPLE_NSEC (NSEC_PER_SEC / 2)

/* One read as its process saw it. */
struct one_read {
	uint64_t start; /* CLOCK_MONOTONIC, ns */
	uint64_t end;
	uint64_t sector; /* of 512 bytes */
	uint64_t runnable; /* ns of it without a CPU, at least */
	pid_t pid;
};

/* Shared by all processes: reads are logged to memory and written at the end. */
struct log {
	_Atomic uint32_t nr;
	_Atomic bool failed;
	_Atomic uint64_t deadline;
	struct one_read reads[MAX_READS];
};

struct options {
	const char *disk;
	const char *reads_file;
	const char *cpu_file;
	uint64_t readers;
	uint64_t seconds;
	uint64_t seed;
	uint64_t tick; /* ns; 0: none */
};

static volatile sig_atomic_t terminated;

static void on_sigterm(int signal)
{
	(void)signal;
	terminated = 1;
}

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators). */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static void sleep_until(uint64_t at)
{
	struct timespec ts = { .tv_sec = at / NSEC_PER_SEC,
			       .tv_nsec = at % NSEC_PER_SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) ==
	       EINTR)
		;
}

/* Wait for the next tick, but not past the deadline. */
static void wait_for_tick(const struct log *log, const struct options *opt)
{
	uint64_t at;

	if (!opt->tick)
		return;
	at = (now() / opt->tick + 1) * opt->tick;
	sleep_until(at < log->deadline ? at : log->deadline);
}

/*
 * The time that this process was runnable without a CPU so far: the second number of
 * /proc/PID/schedstat, in ns.
 */
static bool run_delay(int schedstat, uint64_t *delay)
{
	char text[100];
	ssize_t got = pread(schedstat, text, sizeof(text) - 1, 0);

	text[got > 0 ? got : 0] = 0;
	return sscanf(text, "%*u %" SCNu64, delay) == 1;
}

/*
 * Read, and note when, and how much of the time the process had no CPU.  run_delay()
 * is called before and after, and the process may lose its CPU there as well: all of
 * the time that passed there is subtracted, so that nothing outside of the read counts.
 */
static ssize_t timed_read(int fd, int schedstat, void *buf, uint64_t offset,
			  struct one_read *one)
{
	uint64_t before, after, begin, outside;
	ssize_t got;

	begin = now();
	if (!run_delay(schedstat, &before))
		return -1;
	one->start = now();
	got = pread(fd, buf, READ_SIZE, offset);
	one->end = now();
	if (got < 0 || !run_delay(schedstat, &after))
		return -1;
	outside = one->start - begin + now() - one->end;
	after -= before;
	one->runnable = after > outside ? after - outside : 0;
	return got;
}

/* The body of one process: returns its exit status. */
static int reader(struct log *log, const struct options *opt, int fd,
		  uint64_t places, uint64_t number)
{
	uint64_t state = opt->seed << 32 | number;
	struct one_read one = { .pid = getpid() };
	int schedstat;
	void *buf;

	if (posix_memalign(&buf, READ_SIZE, READ_SIZE)) {
		fprintf(stderr, "readers: no memory\n");
		return 1;
	}
	schedstat = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	if (schedstat < 0) {
		perror("readers: /proc/self/schedstat");
		return 1;
	}
	wait_for_tick(log, opt);
	while (!log->failed) {
		uint64_t offset = next_random(&state) % places * STRIDE;
		uint32_t i;
		ssize_t got;

		one.sector = offset / SECTOR_SIZE;
		if (now() >= log->deadline)
			break;
		got = timed_read(fd, schedstat, buf, offset, &one);
		if (got != READ_SIZE) {
			fprintf(stderr, "readers: %s: at %" PRIu64 ": %s\n",
				opt->disk, offset,
				got < 0 ? strerror(errno) : "short read");
			return 1;
		}
		i = atomic_fetch_add(&log->nr, 1);
		if (i >= MAX_READS) {
			fprintf(stderr, "readers: more than %u reads\n",
				MAX_READS);
			return 1;
		}
		log->reads[i] = one;
		wait_for_tick(log, opt);
	}
	close(schedstat);
	free(buf);
	return 0;
}

/* Append the line of all CPUs in /proc/stat, with the time before it. */
static int sample_cpu(FILE *to)
{
	char line[256];
	FILE *stat = fopen("/proc/stat", "re");

	if (!stat || !fgets(line, sizeof(line), stat) ||
	    strncmp(line, "cpu ", 4)) {
		fprintf(stderr, "readers: /proc/stat: cannot be read\n");
		if (stat)
			fclose(stat);
		return -1;
	}
	fclose(stat);
	fprintf(to, "%llu%s", now(), line + 4);
	return 0;
}

/* Sample until the deadline; the last sample is taken there. */
static int sample_cpus(struct log *log, FILE *to)
{
	uint64_t at;

	for (at = log->deadline; at > now() + SAMPLE_NSEC; at -= SAMPLE_NSEC)
		;
	if (sample_cpu(to))
		return -1;
	for (; at <= log->deadline; at += SAMPLE_NSEC) {
		sleep_until(at);
		if (terminated)
			log->deadline = now();
		if (sample_cpu(to))
			return -1;
	}
	return 0;
}

static FILE *open_output(const char *name)
{
	FILE *file = fopen(name, "we");

	if (!file) {
		fprintf(stderr, "readers: %s: %s\n", name, strerror(errno));
		exit(1);
	}
	return file;
}

static int close_output(FILE *file, const char *name)
{
	bool bad = ferror(file);

	if (fclose(file) || bad) {
		fprintf(stderr, "readers: %s: %s\n", name, strerror(errno));
		return -1;
	}
	return 0;
}

static int write_reads(const struct log *log, const char *name)
{
	FILE *to = open_output(name);
	uint32_t i;

	fprintf(to, "# pid start_ns end_ns sector runnable_ns\n");
	for (i = 0; i < log->nr; i++) {
		const struct one_read *one = &log->reads[i];

		fprintf(to,
			"%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			one->pid, one->start, one->end, one->sector,
			one->runnable);
	}
	return close_output(to, name);
}

static int run(struct log *log, const struct options *opt, int fd,
	       uint64_t places)
{
	FILE *cpu = open_output(opt->cpu_file);
	int gate[2], status, ret = 0;
	uint64_t i, started = 0;

	fprintf(cpu,
		"# time_ns user nice system idle iowait irq softirq steal guest guest_nice\n");
	/* The children start together, when the parent closes the gate. */
	if (pipe2(gate, O_CLOEXEC)) {
		perror("readers: pipe");
		return -1;
	}
	fflush(NULL);
	/* For the parent alone: children end at the deadline that it then sets. */
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = on_sigterm },
		  NULL);
	for (i = 0; i < opt->readers; i++) {
		pid_t pid = fork();
		char c;

		if (pid < 0) {
			perror("readers: fork");
			log->failed = true;
			ret = -1;
			break;
		}
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			signal(SIGTERM, SIG_IGN);
			close(gate[1]);
			if (read(gate[0], &c, 1))
				_exit(1);
			_exit(reader(log, opt, fd, places, i));
		}
		started++;
	}
	log->deadline = now() + opt->seconds * NSEC_PER_SEC;
	close(gate[0]);
	close(gate[1]);
	if (!ret && sample_cpus(log, cpu)) {
		log->failed = true;
		ret = -1;
	}
	for (i = 0; i < started; i++) {
		if (wait(&status) < 0 || !WIFEXITED(status) ||
		    WEXITSTATUS(status)) {
			log->failed = true;
			ret = -1;
		}
	}
	return close_output(cpu, opt->cpu_file) ? -1 : ret;
}

static uint64_t parse_number(struct argp_state *state, const char *arg,
			     uint64_t max)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(arg, &end, 10);
	if (errno || *end || end == arg || *arg == '-' || !value || value > max)
		argp_error(state, "%s: not a number from 1 to %" PRIu64, arg,
			   max);
	return value;
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *opt = state->input;

	switch (key) {
	case 'n':
		opt->readers = parse_number(state, arg, MAX_READERS);
		break;
	case 't':
		opt->seconds = parse_number(state, arg, 3600);
		break;
	case 'k':
		opt->tick = parse_number(state, arg, 60000) * NSEC_PER_MSEC;
		break;
	case 's':
		opt->seed = parse_number(state, arg, UINT32_MAX);
		break;
	case 'r':
		opt->reads_file = arg;
		break;
	case 'c':
		opt->cpu_file = arg;
		break;
	case ARGP_KEY_ARG:
		if (opt->disk)
			argp_error(state, "more than one disk");
		opt->disk = arg;
		break;
	case ARGP_KEY_END:
		if (!opt->disk || !opt->reads_file || !opt->cpu_file)
			argp_error(state, "--reads, --cpu and DISK are needed");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option options[] = {
	{ "readers", 'n', "N", 0, "Processes that read (default: 32)", 0 },
	{ "seconds", 't', "N", 0, "How long to start new reads (default: 10)",
	  0 },
	{ "tick", 'k', "MSEC", 0,
	  "Start reads at multiples of MSEC only (default: at once)", 0 },
	{ "seed", 's', "N", 0, "Of the places that are read (default: 1)", 0 },
	{ "reads", 'r', "FILE", 0, "Where to write each read", 0 },
	{ "cpu", 'c', "FILE", 0, "Where to write the samples of /proc/stat",
	  0 },
	{ 0 }
};

static const struct argp argp = {
	.options = options,
	.parser = parse_opt,
	.args_doc = "DISK",
	.doc = "Processes that read DISK at random, 4 KiB at a time, and time each read.",
};

int main(int argc, char **argv)
{
	struct options opt = { .readers = 32, .seconds = 10, .seed = 1 };
	struct log *log;
	uint64_t size;
	int fd;

	argp_parse(&argp, argc, argv, 0, NULL, &opt);

	fd = open(opt.disk, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, BLKGETSIZE64, &size)) {
		fprintf(stderr, "readers: %s: %s\n", opt.disk, strerror(errno));
		return 1;
	}
	if (size < STRIDE) {
		fprintf(stderr, "readers: %s: too small\n", opt.disk);
		return 1;
	}
	log = mmap(NULL, sizeof(*log), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (log == MAP_FAILED) {
		perror("readers: mmap");
		return 1;
	}
	if (run(log, &opt, fd, size / STRIDE) ||
	    write_reads(log, opt.reads_file))
		return 1;
	close(fd);
	return 0;
}
