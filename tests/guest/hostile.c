// SPDX-License-Identifier: GPL-2.0
/*
 * hostile files FILE COUNT: pread() of many descriptors of FILE, COUNT times
 * hostile sockets COUNT: send() on as many sockets as that, in turn
 * hostile elf FILE FUNCTIONS: an object whose functions have all one program, of 40,000
 *	instructions
 * hostile notes FILE SEGMENTS: an object of zeros, all of which are notes, of as many segments
 * hostile map FILE...: map these objects to be executed, print a line with the CPU time that
 *	the longest call took, and wait for a signal
 * hostile direct FILE...: likewise, opened with O_DIRECT
 * hostile stacks FIRST COUNT ROUNDS: read() from COUNT stacks, the same in each round; which
 *	ones depends on FIRST
 * hostile objects FILE COUNT: load COUNT copies of the library FILE, one after the other, and
 *	have each call read() three times
 * hostile forks COUNT: fork() as often, of many mappings, while another thread calls read() of no
 *	file all the time
 * hostile polls COUNT: as many requests to io_uring that never end; print a line, and wait
 *	for a signal
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DESCRIPTORS 500
#define LIST 0x1000
#define PROGRAM 40000
#define NOTES (32 << 20)
#define DEPTH 28
#define MAPPINGS 2000

static void files(const char *name, int count)
{
	int fd[DESCRIPTORS], i;
	char byte;

	for (i = 0; i < DESCRIPTORS; i++) {
		fd[i] = open(name, O_RDONLY);
		if (fd[i] < 0)
			err(1, "%s", name);
	}
	for (i = 0; i < count; i++) {
		if (pread(fd[i % DESCRIPTORS], &byte, 1, 0) != 1)
			err(1, "%s", name);
		/* The next one's memory may have been a socket's */
		if (i % 7)
			continue;
		close(fd[i % DESCRIPTORS]);
		fd[i % DESCRIPTORS] = open(name, O_RDONLY);
	}
}

static void sockets(int count)
{
	int fd[2], i;

	for (i = 0; i < count; i++) {
		if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fd))
			err(1, "socketpair");
		if (send(fd[0], "x", 1, 0) != 1 || send(fd[1], "x", 1, 0) != 1)
			err(1, "send");
		close(fd[0]);
		close(fd[1]);
	}
}

static void put32(unsigned char *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void elf(const char *name, uint32_t n)
{
	static const unsigned char cie[] = {
		20, 0,	  0,  0, 0,    0,    0, 0, 1,	 'z', 'R', 0,
		1,  0x78, 16, 1, 0x03, 0x0c, 7, 8, 0x90, 1,   0,   0,
	};
	uint32_t fdes = LIST + 12 + 8 * n, program = fdes + 20 * n, i, skip;
	size_t size = (program + PROGRAM + 4095) & ~4095UL;
	unsigned char *b = calloc(1, size), *fde;
	Elf64_Ehdr ehdr = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};
	Elf64_Phdr phdr[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = size },
		{ .p_type = PT_GNU_EH_FRAME,
		  .p_offset = LIST,
		  .p_vaddr = LIST,
		  .p_filesz = size - LIST },
	};
	FILE *f = fopen(name, "w");

	if (!b || !f)
		err(1, "%s", name);
	memcpy(b, &ehdr, sizeof(ehdr));
	memcpy(b + sizeof(ehdr), phdr, sizeof(phdr));
	memcpy(b + 0x200, cie, sizeof(cie));
	memcpy(b + LIST, (const unsigned char[]){ 1, 0x03, 3, 0x3b }, 4);
	put32(b + LIST + 4, 0x200);
	put32(b + LIST + 8, n);
	for (i = 0; i < n; i++) {
		uint32_t at = fdes + 20 * i;

		put32(b + LIST + 12 + 8 * i, 0x300 + i - LIST);
		put32(b + LIST + 16 + 8 * i, at - LIST);
		fde = b + at;
		put32(fde, program + PROGRAM - at - 4);
		put32(fde + 4, at + 4 - 0x200);
		put32(fde + 8, 0x300 + i);
		put32(fde + 12, 1);
		/* The descriptions that follow are declared to be the augmentation of this one */
		skip = program - (at + 19);
		fde[16] = skip | 128;
		fde[17] = skip >> 7 | 128;
		fde[18] = skip >> 14;
	}
	if (fwrite(b, size, 1, f) != 1 || fclose(f))
		err(1, "%s", name);
	free(b);
}

static void notes(const char *name, int segments)
{
	unsigned char *b = calloc(1, NOTES);
	Elf64_Ehdr ehdr = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = segments,
	};
	const Elf64_Phdr phdr = { .p_type = PT_NOTE,
				  .p_offset = 65536,
				  .p_filesz = NOTES - 65536 };
	FILE *f = fopen(name, "w");

	if (!b || !f)
		err(1, "%s", name);
	memcpy(b, &ehdr, sizeof(ehdr));
	for (; segments; segments--)
		memcpy(b + sizeof(ehdr) + (segments - 1) * sizeof(phdr), &phdr,
		       sizeof(phdr));
	if (fwrite(b, NOTES, 1, f) != 1 || fclose(f))
		err(1, "%s", name);
	free(b);
}

static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void map(char **name, int flags)
{
	long most = 0;

	for (; *name; name++) {
		int fd = open(*name, O_RDONLY | flags);
		long ms = cpu_ms();

		if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC,
				   MAP_PRIVATE, fd, 0) == MAP_FAILED)
			err(1, "%s", *name);
		ms = cpu_ms() - ms;
		most = ms > most ? ms : most;
		close(fd);
	}
	printf("mapped, %ld ms\n", most);
	fflush(stdout);
	pause();
}

/* Bits of @path choose which function calls the next one */
static __attribute__((noinline)) void left(unsigned int path, int depth);
static __attribute__((noinline)) void right(unsigned int path, int depth);

static inline __attribute__((always_inline)) void next(unsigned int path,
						       int depth)
{
	if (!depth) {
		if (read(-1, NULL, 0) != -1)
			errx(1, "read() of no file");
	} else if (path & 1) {
		right(path >> 1, depth - 1);
	} else {
		left(path >> 1, depth - 1);
	}
}

static void left(unsigned int path, int depth)
{
	next(path, depth);
	__asm__ volatile("# left, not a jump");
}

static void right(unsigned int path, int depth)
{
	next(path, depth);
	__asm__ volatile("# right, not a jump");
}

static void stacks(unsigned int first, unsigned int count, int rounds)
{
	unsigned int i;

	for (; rounds; rounds--) {
		for (i = 0; i < count; i++)
			next(first + i, DEPTH);
	}
}

static void copy(const char *from, const char *to)
{
	char bytes[4096];
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	size_t len;

	if (!in || !out)
		err(1, "%s", in ? to : from);
	while ((len = fread(bytes, 1, sizeof(bytes), in)))
		fwrite(bytes, 1, len, out);
	fclose(in);
	if (fclose(out))
		err(1, "%s", to);
}

static void objects(const char *library, int count)
{
	char name[64];
	void *handle;
	void (*call)(void);
	int i, j;

	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "/tmp/object.%d.%d", getpid(), i);
		copy(library, name);
		handle = dlopen(name, RTLD_NOW);
		if (!handle)
			errx(1, "%s", dlerror());
		*(void **)&call = dlsym(handle, "call");
		if (!call)
			errx(1, "%s", dlerror());
		for (j = 0; j < 3; j++)
			call();
		dlclose(handle);
		unlink(name);
	}
}

static void *read_on(void *arg)
{
	(void)arg;
	for (;;)
		next(0, DEPTH);
	return NULL;
}

static void forks(int count)
{
	pthread_t thread;
	pid_t child;
	int i;

	/* Those next to each other differ */
	for (i = 0; i < MAPPINGS; i++) {
		if (mmap(NULL, 4096, i & 1 ? PROT_READ : PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			err(1, "mmap");
	}
	if (pthread_create(&thread, NULL, read_on, NULL))
		errx(1, "no thread");
	for (i = 0; i < count; i++) {
		child = fork();
		if (child < 0)
			err(1, "fork");
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

static void polls(int count)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_CLAMP | IORING_SETUP_CQSIZE,
		.cq_entries = 65536,
	};
	struct io_uring_sqe *sqe;
	struct io_uring ring;
	int fd[2], error;

	error = io_uring_queue_init_params(256, &ring, &params);
	if (error)
		errx(1, "io_uring: %s", strerror(-error));
	if (pipe(fd))
		err(1, "pipe");
	while (count--) {
		sqe = io_uring_get_sqe(&ring);
		if (!sqe) {
			io_uring_submit(&ring);
			sqe = io_uring_get_sqe(&ring);
		}
		io_uring_prep_poll_add(sqe, fd[0], POLLIN);
	}
	io_uring_submit(&ring);
	puts("waiting");
	fflush(stdout);
	pause();
}

int main(int argc, char **argv)
{
	const struct rlimit limit = { 4096, 4096 };

	setrlimit(RLIMIT_NOFILE, &limit);
	if (argc == 4 && !strcmp(argv[1], "files"))
		files(argv[2], atoi(argv[3]));
	else if (argc == 3 && !strcmp(argv[1], "sockets"))
		sockets(atoi(argv[2]));
	else if (argc == 4 && !strcmp(argv[1], "elf"))
		elf(argv[2], atoi(argv[3]));
	else if (argc == 4 && !strcmp(argv[1], "notes"))
		notes(argv[2], atoi(argv[3]));
	else if (argc > 2 && !strcmp(argv[1], "map"))
		map(argv + 2, 0);
	else if (argc > 2 && !strcmp(argv[1], "direct"))
		map(argv + 2, O_DIRECT);
	else if (argc == 5 && !strcmp(argv[1], "stacks"))
		stacks(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	else if (argc == 4 && !strcmp(argv[1], "objects"))
		objects(argv[2], atoi(argv[3]));
	else if (argc == 3 && !strcmp(argv[1], "forks"))
		forks(atoi(argv[2]));
	else if (argc == 3 && !strcmp(argv[1], "polls"))
		polls(atoi(argv[2]));
	else
		errx(2, "wrong arguments; see its source");
	return 0;
}
