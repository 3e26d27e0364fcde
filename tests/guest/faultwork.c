// SPDX-License-Identifier: GPL-2.0
/*
 * Touches pages of a mapped file and writes down for each touch what the program
 * itself knows of it: whether the page was in memory just before, by mincore();
 * when, by CLOCK_MONOTONIC before and after; and whether the thread slept or had a
 * major fault, by getrusage().
 *
 * usage: faultwork FILE PAGES >LOG
 *
 * FILE is on a file system of its own, which is frozen for a while. The log has a
 * line for the program, and one for each touch:
 *
 *	file tgid device inode touch
 *	tid phase offset address start end resident majors sleeps how
 *
 * where resident, majors and sleeps are numbers, and how is what the program did.
 * A touch of several pages has a line for each, with the same times.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

#define PAGE 4096L
#define TOUCHES 20000
#define HELD_NS 200000000

struct touch {
	pid_t tid;
	const char *phase;
	long page;
	void *address;
	unsigned long long start, end;
	bool resident;
	long majors, sleeps;
	const char *how;
};

static struct touch touches[TOUCHES];
static int nr_touches;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int fd;
static long pages;
static const char *phase;

static bool is_resident(char *map, long page)
{
	unsigned char vec;

	CHECK(!mincore(map + page * PAGE, PAGE, &vec));
	return vec & 1;
}

/* The only places where the program itself faults on the file */
static __attribute__((noinline)) long load(volatile long *at)
{
	return *at;
}

static __attribute__((noinline)) void store(volatile long *at, long value)
{
	*at = value;
}

static struct touch begin(char *map, long page, const char *how)
{
	struct touch t = { .tid = gettid(),
			   .phase = phase,
			   .page = page,
			   .address = map + page * PAGE,
			   .how = how };
	struct rusage usage;

	t.resident = is_resident(map, page);
	CHECK(!getrusage(RUSAGE_THREAD, &usage));
	t.majors = -usage.ru_majflt;
	t.sleeps = -usage.ru_nvcsw;
	t.start = now();
	return t;
}

static void end(struct touch *t)
{
	struct rusage usage;

	t->end = now();
	CHECK(!getrusage(RUSAGE_THREAD, &usage));
	t->majors += usage.ru_majflt;
	t->sleeps += usage.ru_nvcsw;
	pthread_mutex_lock(&lock);
	CHECK(nr_touches < TOUCHES);
	touches[nr_touches++] = *t;
	pthread_mutex_unlock(&lock);
}

/* Return: whether it slept */
static bool touch(char *map, long page)
{
	struct touch t = begin(map, page, "load");
	long value = load((long *)t.address);

	end(&t);
	CHECK(value == page + 1);
	return t.sleeps;
}

static void touch_store(char *map, long page)
{
	struct touch t = begin(map, page, "store");

	store((long *)t.address, page + 1);
	end(&t);
}

/* ------------------------------------------------------------------------- */

static char *map_file(int prot, int flags)
{
	char *map = mmap(NULL, pages * PAGE, prot, flags, fd, 0);

	CHECK(map != MAP_FAILED);
	return map;
}

/* Only pages that are clean and mapped nowhere leave the cache */
static char *map_cold(int prot, int flags, int advice)
{
	unsigned char vec[pages];
	char *map;
	long i;

	CHECK(!fsync(fd) && !posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	map = map_file(prot, flags);
	CHECK(!mincore(map, pages * PAGE, vec));
	for (i = 0; i < pages; i++)
		CHECK(!(vec[i] & 1));
	CHECK(!madvise(map, pages * PAGE, advice));
	return map;
}

static void unmap(char *map)
{
	CHECK(!munmap(map, pages * PAGE));
}

/* Each page by itself, in no order, and some of them again */
static void random_pages(void)
{
	char *map = map_cold(PROT_READ, MAP_SHARED, MADV_RANDOM);
	long i;

	phase = "random";
	for (i = 0; i < 60; i++)
		touch(map, i * 7919 % pages);
	unmap(map);
	/* Now they are there, but not in the page table */
	map = map_file(PROT_READ, MAP_SHARED);
	CHECK(!madvise(map, pages * PAGE, MADV_RANDOM));
	phase = "there";
	for (i = 0; i < 60; i++)
		touch(map, i * 7919 % pages);
	unmap(map);
}

static void in_order(int advice, const char *name)
{
	char *map = map_cold(PROT_READ, MAP_PRIVATE, advice);
	long i;

	phase = name;
	for (i = 0; i < pages; i++)
		touch(map, i);
	unmap(map);
}

/* ------------------------------------------------------------------------- */
/* Two threads */

struct other {
	char *map;
	long page;
	pid_t tid;
	bool store, over;
};

/* Until it sleeps in its touch, or is through with it */
static void await_sleep(const struct other *o)
{
	char path[64], line[256] = "";

	sprintf(path, "/proc/self/task/%d/stat", o->tid);
	while (!strstr(line, ") D ")) {
		FILE *file = fopen(path, "r");

		if (!file || !fgets(line, sizeof(line), file)) {
			CHECK(__atomic_load_n(&o->over, __ATOMIC_ACQUIRE));
			strcpy(line, ") D ");
		}
		if (file)
			fclose(file);
	}
}

static void *other_touches(void *data)
{
	struct other *o = data;

	__atomic_store_n(&o->tid, gettid(), __ATOMIC_RELEASE);
	if (o->store)
		touch_store(o->map, o->page);
	else
		touch(o->map, o->page);
	__atomic_store_n(&o->over, true, __ATOMIC_RELEASE);
	return data;
}

static pthread_t start_other(struct other *o)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, other_touches, o));
	while (!__atomic_load_n(&o->tid, __ATOMIC_ACQUIRE))
		;
	await_sleep(o);
	return thread;
}

/* One has the page read, the other waits for it, too, if it is not late */
static void same_pages(void)
{
	char *map = map_cold(PROT_READ, MAP_SHARED, MADV_RANDOM);
	long i, waited = 0;

	for (i = 0; waited < 20; i++) {
		struct other o = { .map = map, .page = i * 17 % pages };
		pthread_t thread;

		phase = "same";
		CHECK(i < pages);
		thread = start_other(&o);
		phase = "waits";
		waited += touch(map, o.page);
		pthread_join(thread, NULL);
	}
	unmap(map);
}

/* A page that is present, of a file system that is frozen for a while */
static void frozen(void)
{
	char *map = map_cold(PROT_READ | PROT_WRITE, MAP_SHARED, MADV_RANDOM);
	struct other o = { .map = map, .page = 3, .store = true };
	struct timespec held = { .tv_nsec = HELD_NS };
	pthread_t thread;

	phase = "random";
	touch(map, 3);
	phase = "frozen";
	CHECK(!ioctl(fd, FIFREEZE, 0));
	thread = start_other(&o);
	nanosleep(&held, NULL);
	CHECK(!ioctl(fd, FITHAW, 0));
	pthread_join(thread, NULL);
	unmap(map);
}

/* ------------------------------------------------------------------------- */
/* Faults of another kind */

static void stores(void)
{
	char *map = map_cold(PROT_READ | PROT_WRITE, MAP_PRIVATE, MADV_RANDOM);
	long i;

	phase = "private";
	for (i = 0; i < 10; i++)
		touch_store(map, i * 5);
	/* A copy of a page that is there is memory, no file */
	for (i = 20; i < 25; i++) {
		phase = "random";
		touch(map, i);
		phase = "copy";
		touch_store(map, i);
	}
	unmap(map);
	map = map_cold(PROT_READ | PROT_WRITE, MAP_SHARED, MADV_RANDOM);
	phase = "shared";
	for (i = 0; i < 10; i++)
		touch_store(map, i * 5);
	unmap(map);
}

/* The kernel reads the program's memory for it */
static void by_the_kernel(void)
{
	char *map = map_cold(PROT_READ, MAP_SHARED, MADV_RANDOM);
	char buffer[16];
	struct iovec to = { buffer, sizeof(buffer) }, from;
	struct touch t[8];
	int pipefd[2];
	long i;

	CHECK(!pipe(pipefd));
	phase = "kernel";
	for (i = 0; i < 5; i++) {
		t[0] = begin(map, i, "write");
		CHECK(write(pipefd[1], t[0].address, 100) == 100);
		end(t);
	}
	for (; i < 10; i++) {
		t[0] = begin(map, i, "readv");
		from = (struct iovec){ t[0].address, sizeof(buffer) };
		CHECK(process_vm_readv(getpid(), &to, 1, &from, 1, 0) ==
		      sizeof(buffer));
		end(t);
	}
	for (i = 0; i < 8; i++)
		t[i] = begin(map, 40 + i, "populate");
	CHECK(!madvise(map + 40 * PAGE, 8 * PAGE, MADV_POPULATE_READ));
	for (i = 0; i < 8; i++)
		end(&t[i]);
	close(pipefd[0]);
	close(pipefd[1]);
	unmap(map);
}

#ifdef __x86_64__
/* The last page begins with a return */
static void executed(void)
{
	char *map;
	struct touch t;

	CHECK(pwrite(fd, "\xc3", 1, (pages - 1) * PAGE) == 1);
	map = map_cold(PROT_READ | PROT_EXEC, MAP_PRIVATE, MADV_RANDOM);
	phase = "exec";
	t = begin(map, pages - 1, "exec");
	((void (*)(void))t.address)();
	end(&t);
	unmap(map);
}
#else
static void executed(void)
{
}
#endif

/* ------------------------------------------------------------------------- */

static void write_pages(const char *path)
{
	long page[PAGE / sizeof(long)];
	long i, j;

	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	CHECK(fd >= 0);
	for (i = 0; i < pages; i++) {
		for (j = 0; j < PAGE / (long)sizeof(long); j++)
			page[j] = i + 1;
		CHECK(write(fd, page, PAGE) == PAGE);
	}
}

static void print(const char *path)
{
	struct stat st;
	int i;

	CHECK(!fstat(fd, &st));
	printf("%s\t%d\t%u:%u\t%llu\t%lu\n", path, getpid(), major(st.st_dev),
	       minor(st.st_dev), (unsigned long long)st.st_ino,
	       (unsigned long)load);
	for (i = 0; i < nr_touches; i++) {
		const struct touch *t = &touches[i];

		printf("%d\t%s\t%ld\t%lu\t%llu\t%llu\t%d\t%ld\t%ld\t%s\n",
		       t->tid, t->phase, t->page * PAGE,
		       (unsigned long)t->address, t->start, t->end, t->resident,
		       t->majors, t->sleeps, t->how);
	}
}

int main(int argc, char **argv)
{
	CHECK(argc == 3);
	pages = atol(argv[2]);
	CHECK(pages > 60);
	write_pages(argv[1]);
	random_pages();
	in_order(MADV_SEQUENTIAL, "sequential");
	in_order(MADV_NORMAL, "normal");
	same_pages();
	frozen();
	stores();
	by_the_kernel();
	executed();
	print(argv[1]);
	return 0;
}
