// SPDX-License-Identifier: GPL-2.0
/*
 * Two threads fault on mapped files, which takes some seconds; writes down what the
 * program itself knows of that.
 *
 * usage: hungwork FILE DISK SECONDS COMMAND >LOG
 *
 * FILE is on a file system of its own, which is frozen so long; DISK is one that answers
 * when COMMAND has run. The log has a line per fault:
 *
 *	tgid tid device inode offset address start end how function
 *
 * with the times by CLOCK_MONOTONIC, and function the address of that which accesses
 * the memory.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

#define PAGE 4096L
#define PAGES 16

/* The only places where the program itself faults on the files */
static __attribute__((noinline)) char load(volatile char *at)
{
	return *at;
}

static __attribute__((noinline)) void store(volatile char *at, char value)
{
	*at = value;
}

struct hung {
	const char *how;
	int fd;
	char *map;
	long at;
	pid_t tid;
	unsigned long long start, end;
};

static void open_file(struct hung *h, const char *path)
{
	h->fd = open(path, O_RDWR | O_CREAT, 0644);
	CHECK(h->fd >= 0);
}

static void map_file(struct hung *h)
{
	h->map = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
		      h->fd, 0);
	CHECK(h->map != MAP_FAILED);
	CHECK(!madvise(h->map, PAGES * PAGE, MADV_RANDOM));
}

static void *hang(void *data)
{
	struct hung *h = data;

	h->start = now();
	__atomic_store_n(&h->tid, gettid(), __ATOMIC_RELEASE);
	if (!strcmp(h->how, "write"))
		store(h->map + h->at, 1);
	else
		load(h->map + h->at);
	h->end = now();
	return data;
}

static pthread_t begin(struct hung *h)
{
	char path[64], line[256] = "";
	pthread_t thread;
	FILE *file;

	CHECK(!pthread_create(&thread, NULL, hang, h));
	while (!__atomic_load_n(&h->tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	sprintf(path, "/proc/self/task/%d/stat", h->tid);
	while (!strstr(line, ") D ")) {
		usleep(1000);
		file = fopen(path, "r");
		CHECK(file && fgets(line, sizeof(line), file));
		fclose(file);
	}
	return thread;
}

static void print(const struct hung *h, void *function)
{
	struct stat st;

	CHECK(!fstat(h->fd, &st));
	printf("%d\t%d\t%u:%u\t%llu\t%ld\t%lu\t%llu\t%llu\t%s\t%lu\n", getpid(),
	       h->tid, major(st.st_dev), minor(st.st_dev),
	       (unsigned long long)st.st_ino, h->at & -PAGE,
	       (unsigned long)(h->map + h->at), h->start, h->end, h->how,
	       (unsigned long)function);
}

int main(int argc, char **argv)
{
	struct hung write = { .how = "write", .at = 3 * PAGE + 5 },
		    read = { .how = "read", .at = 9 * PAGE + 7 };
	pthread_t thread[2];

	CHECK(argc == 5);
	open_file(&write, argv[1]);
	open_file(&read, argv[2]);
	CHECK(!ftruncate(write.fd, PAGES * PAGE) && !fsync(write.fd));
	/* The process that read the disk before */
	CHECK(!posix_fadvise(read.fd, 0, 0, POSIX_FADV_DONTNEED));
	map_file(&write);
	map_file(&read);
	/* The page is present, but cannot be written for a while */
	load(write.map + write.at);
	CHECK(!ioctl(write.fd, FIFREEZE, 0));
	thread[0] = begin(&write);
	thread[1] = begin(&read);
	sleep(atoi(argv[3]));
	CHECK(!ioctl(write.fd, FITHAW, 0) && !system(argv[4]));
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	print(&write, store);
	print(&read, load);
	return 0;
}
