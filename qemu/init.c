// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's init.
 *
 * The guest's root is the host's root file system, read-only.  qemu/vm leaves
 * a directory there and names it on the kernel's command line, which makes it
 * the environment variable TRACERIG_VM here:
 *
 *   shares   "TAG PATH" lines, directories of the host to mount writable
 *   job      a shell script that sets up the rest and runs the command
 *   tty      exists when the job is a shell on hvc0
 *   stay     exists when a reset does not end QEMU: qemu/vm does
 *
 * A static C program rather than a script: under TCG every program a script
 * starts costs a tenth of a second, and a script does not reap orphans.
 *
 * Nothing may fail silently: what goes wrong here is said on the console and
 * the guest goes down without a verdict, which qemu/vm reports.  The verdict is
 * written last, when all output is out and all files are on the host.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define SHARE_OPTIONS "trans=virtio,version=9p2000.L,msize=262144,cache=mmap"

static const struct {
	const char *type;
	const char *dir;
	const char *options;
} mounts[] = {
	{ "proc", "/proc", NULL },
	{ "sysfs", "/sys", NULL },
	/* The kernel mounted devtmpfs on /dev before it started us. */
	{ "devpts", "/dev/pts", "mode=620,ptmxmode=666" },
	{ "tmpfs", "/dev/shm", "mode=1777" },
	{ "debugfs", "/sys/kernel/debug", NULL },
	{ "tracefs", "/sys/kernel/tracing", NULL },
	{ "bpf", "/sys/fs/bpf", NULL },
	{ "cgroup2", "/sys/fs/cgroup", NULL },
	{ "configfs", "/sys/kernel/config", NULL },
	{ "tmpfs", "/run", "mode=755" },
	{ "tmpfs", "/tmp", "mode=1777" },
	{ "tmpfs", "/var/tmp", "mode=1777" },
};

static const char *const links[][2] = {
	{ "/proc/self/fd", "/dev/fd" },
	{ "/proc/self/fd/0", "/dev/stdin" },
	{ "/proc/self/fd/1", "/dev/stdout" },
	{ "/proc/self/fd/2", "/dev/stderr" },
};

/* The mounted shares, to be unmounted in the end. */
static char shares[8][PATH_MAX];
static int nr_shares;

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		perror(path);
	close(fd);
}

/*
 * A reset ends QEMU.  Not a power-off: that would shut down the device that we
 * run from before it comes to us.
 */
static void __attribute__((noreturn)) down(void)
{
	write_file("/proc/sysrq-trigger", "b");
	/* Without /proc there is no sysrq; a dead init panics the kernel. */
	_exit(1);
}

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...)
{
	char text[PATH_MAX + 128], line[PATH_MAX + 160];
	int error = errno;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(line, sizeof(line), "tracerig-init: %s%s%s\n", text,
		 error ? ": " : "", error ? strerror(error) : "");
	write_file("/dev/kmsg", line);
	down();
}

static void make_dirs(const char *path)
{
	char dir[PATH_MAX];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	for (slash = strchr(dir + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(dir, 0755);
		*slash = '/';
	}
	mkdir(dir, 0755);
}

/* @list: the text of the file "shares", read before /tmp was covered. */
static void mount_shares(char *list)
{
	char *line, *path;

	for (line = strtok(list, "\n"); line; line = strtok(NULL, "\n")) {
		path = strchr(line, ' ');
		if (!path ||
		    nr_shares == (int)(sizeof(shares) / sizeof(shares[0])))
			die("bad share %s", line);
		*path++ = '\0';
		if (access(path, F_OK))
			make_dirs(path);
		if (mount(line, path, "9p", 0, SHARE_OPTIONS))
			die("cannot mount %s", path);
		snprintf(shares[nr_shares++], PATH_MAX, "%s", path);
	}
}

static void read_shares(const char *vm, char *list, size_t size)
{
	char path[PATH_MAX];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/shares", vm);
	fd = open(path, O_RDONLY);
	len = fd < 0 ? -1 : read(fd, list, size - 1);
	if (len < 0)
		die("cannot read %s", path);
	list[len] = '\0';
	close(fd);
}

static void loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr))
		die("cannot bring lo up");
	close(fd);
}

static void set_up(const char *vm)
{
	char list[8 * PATH_MAX];
	size_t i;

	mkdir("/dev/pts", 0755);
	mkdir("/dev/shm", 0755);
	read_shares(vm, list, sizeof(list));
	for (i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++)
		if (mount(mounts[i].type, mounts[i].dir, mounts[i].type, 0,
			  mounts[i].options))
			die("cannot mount %s on %s", mounts[i].type,
			    mounts[i].dir);
	for (i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i][0], links[i][1]) && errno != EEXIST)
			die("cannot make %s", links[i][1]);
	mkdir("/tmp/home", 0700);
	mount_shares(list);
	if (sethostname("tracerig", strlen("tracerig")))
		die("cannot set the host name");
	loopback_up();
}

/* The device of the virtio-serial port NAME, or NULL while there is none. */
static const char *find_port(const char *name)
{
	static char dev[NAME_MAX + 8];
	char path[PATH_MAX], text[64];
	const char *found = NULL;
	struct dirent *entry;
	FILE *file;
	DIR *dir;

	dir = opendir("/sys/class/virtio-ports");
	if (!dir)
		die("there are no virtio ports");
	while (!found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name",
			 entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(text, sizeof(text), file)) {
			text[strcspn(text, "\n")] = '\0';
			if (!strcmp(text, name)) {
				snprintf(dev, sizeof(dev), "/dev/%s",
					 entry->d_name);
				found = dev;
			}
		}
		fclose(file);
	}
	closedir(dir);
	return found;
}

/* Ports appear while we run: the device tells the driver of one after another. */
static int open_port(const char *name)
{
	const char *dev;
	int tries, fd;

	for (tries = 0; tries < 10000; tries++) {
		dev = strcmp(name, "hvc0") ? find_port(name) : "/dev/hvc0";
		fd = dev ? open(dev, O_RDWR | O_CLOEXEC) : -1;
		if (fd >= 0)
			return fd;
		usleep(1000);
	}
	die("no virtio port %s", name);
}

static pid_t start_job(const char *vm, int in, int out, int err, bool tty)
{
	char job[PATH_MAX];
	sigset_t none;
	pid_t pid;

	snprintf(job, sizeof(job), "%s/job", vm);
	pid = fork();
	if (pid < 0)
		die("cannot fork");
	if (pid)
		return pid;
	setsid();
	if (tty && ioctl(in, TIOCSCTTY, 0))
		die("no controlling terminal");
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	execl("/bin/sh", "sh", job, (char *)NULL);
	die("cannot run /bin/sh");
}

/* Reap what ended; true when the job did, with its status. */
static bool reap(pid_t job, int *status)
{
	bool ended = false;
	pid_t pid;
	int how;

	while ((pid = waitpid(-1, &how, WNOHANG)) > 0) {
		if (pid != job)
			continue;
		ended = true;
		*status = WIFEXITED(how) ? WEXITSTATUS(how) :
					   128 + WTERMSIG(how);
	}
	return ended;
}

/* Pass on what there is to read; false at the end of the file. */
static bool pump(int from, int to)
{
	char data[65536];
	ssize_t len, done, n;

	len = read(from, data, sizeof(data));
	if (len <= 0)
		return len < 0 && errno == EINTR;
	for (done = 0; done < len; done += n) {
		n = write(to, data + done, len - done);
		if (n < 0)
			die("cannot write to the host");
	}
	return true;
}

/*
 * Run until the job has ended.  Whatever it left behind is then killed, since
 * that would hold the pipes open, and the pipes are read to their ends.  Pipes,
 * because a virtio port opens only once, and commands like to open /dev/stderr.
 */
static int run(const char *vm, int signals)
{
	int out[2], err[2], to_out, to_err, null, status = 0;
	struct signalfd_siginfo info;
	struct pollfd fds[3];
	pid_t job;

	to_out = open_port("tracerig.out");
	to_err = open_port("tracerig.err");
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null < 0 || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		die("cannot make pipes");
	job = start_job(vm, null, out[1], err[1], false);
	close(out[1]);
	close(err[1]);

	fds[0] = (struct pollfd){ .fd = out[0], .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = err[0], .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = signals, .events = POLLIN };
	while (job || fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (poll(fds, 3, -1) < 0)
			continue;
		if (fds[0].revents && !pump(fds[0].fd, to_out))
			fds[0].fd = -1;
		if (fds[1].revents && !pump(fds[1].fd, to_err))
			fds[1].fd = -1;
		if (fds[2].revents && read(signals, &info, sizeof(info)) > 0 &&
		    reap(job, &status)) {
			job = 0;
			kill(-1, SIGKILL);
		}
	}
	return status;
}

static int run_on_tty(const char *vm, int signals)
{
	int tty = open_port("hvc0"), status = 0;
	struct signalfd_siginfo info;
	pid_t job;

	job = start_job(vm, tty, tty, tty, true);
	while (read(signals, &info, sizeof(info)) < 0 || !reap(job, &status))
		;
	kill(-1, SIGKILL);
	return status;
}

/* All files to the host; what is still busy was killed but is not gone yet. */
static void unmount_shares(void)
{
	int tries;

	sync();
	if (chdir("/"))
		die("cannot leave the shares");
	while (nr_shares--) {
		for (tries = 0; umount(shares[nr_shares]); tries++) {
			if (errno != EBUSY || tries == 5000)
				die("cannot unmount %s", shares[nr_shares]);
			usleep(1000);
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
		}
	}
}

static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/*
 * On the host: the frequency of the time stamp counter in kHz, which is the
 * guest's under TCG.  The guest itself may be off by a factor when the host is
 * busy while it calibrates.  A reading of the counter counts for the middle of
 * two of the clock; the closest of many pairs wins.
 */
static unsigned long tsc_khz(void)
{
	uint64_t tsc[2] = { 0 }, time[2] = { 0 };
	int i, tries;

	for (i = 0; i < 2; i++) {
		uint64_t best = UINT64_MAX;

		for (tries = 0; tries < 1000; tries++) {
			uint64_t before = clock_ns();
			uint64_t now = __rdtsc();
			uint64_t after = clock_ns();

			if (after - before >= best)
				continue;
			best = after - before;
			tsc[i] = now;
			time[i] = before + best / 2;
		}
		if (!i)
			usleep(20000);
	}
	return (tsc[1] - tsc[0]) * 1000000 / (time[1] - time[0]);
}

int main(int argc, char **argv)
{
	const char *vm = getenv("TRACERIG_VM");
	char tty[PATH_MAX], stay[PATH_MAX], text[32];
	int verdict, signals, status;
	bool stays;
	sigset_t mask;

	if (argc == 2 && !strcmp(argv[1], "--tsc-khz")) {
		printf("%lu\n", tsc_khz());
		return 0;
	}
	if (!vm)
		die("no TRACERIG_VM on the kernel's command line");
	/* Nothing may wait for the root file system at the very end. */
	mlockall(MCL_CURRENT);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signals = signalfd(-1, &mask, SFD_CLOEXEC);
	if (signals < 0)
		die("no signalfd");

	set_up(vm);
	verdict = open_port("tracerig.verdict");
	snprintf(tty, sizeof(tty), "%s/tty", vm);
	snprintf(stay, sizeof(stay), "%s/stay", vm);
	stays = !access(stay, F_OK);
	errno = 0;
	status = access(tty, F_OK) ? run(vm, signals) : run_on_tty(vm, signals);

	unmount_shares();
	snprintf(text, sizeof(text), "exit %d\n", status);
	if (write(verdict, text, strlen(text)) < 0)
		die("cannot write the verdict");
	while (stays)
		pause();
	down();
}
