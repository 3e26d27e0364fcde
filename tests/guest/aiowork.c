// SPDX-License-Identifier: GPL-2.0
/*
 * Makes requests of Linux aio and writes down for each what it was, as uringwork does
 * for io_uring.
 *
 * usage: aiowork DISK FILE >LOG
 *
 * DISK is read directly, so that its requests complete in interrupts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

#define REQUESTS 1000
#define BLOCK 4096

struct request {
	struct iocb iocb;
	const char *op;
	bool moves, done;
	long result;
	unsigned long long start, end, id;
	char dev[32], name[300];
	unsigned int type;
	const char *how;
};

static struct request requests[REQUESTS];
static int nr_requests;
static aio_context_t context;
static char *blocks;

static void what(struct request *r, int fd)
{
	char link[64];
	struct stat st;
	ssize_t len;

	strcpy(r->dev, "0:0");
	if (fstat(fd, &st))
		return;
	r->type = (st.st_mode & S_IFMT) >> 12;
	r->id = st.st_ino;
	sprintf(r->dev, "%u:%u", major(st.st_dev), minor(st.st_dev));
	sprintf(link, "/proc/self/fd/%d", fd);
	len = readlink(link, r->name, sizeof(r->name) - 1);
	CHECK(len >= 0);
}

static struct request *add(const char *op, int cmd, int fd, void *buf,
			   size_t len, long long at)
{
	struct request *r = &requests[nr_requests];

	CHECK(nr_requests < REQUESTS);
	*r = (struct request){
		.iocb = { .aio_data = nr_requests,
			  .aio_lio_opcode = cmd,
			  .aio_fildes = fd,
			  .aio_buf = (uintptr_t)buf,
			  .aio_nbytes = len,
			  .aio_offset = at },
		.op = op,
		.how = "-",
		.moves = *op == 'p' && cmd != IOCB_CMD_POLL,
	};
	what(r, fd);
	nr_requests++;
	return r;
}

/* The last ones */
static void submit(int n)
{
	struct iocb *list[n];
	int i;

	for (i = 0; i < n; i++) {
		struct request *r = &requests[nr_requests - n + i];

		list[i] = &r->iocb;
		r->start = now();
	}
	CHECK(syscall(SYS_io_submit, context, n, list) == n);
}

static void reap(int n)
{
	struct io_event event;

	while (n--) {
		struct request *r;

		CHECK(syscall(SYS_io_getevents, context, 1, 1, &event, NULL) ==
		      1);
		r = &requests[event.data];
		CHECK(!r->done);
		r->end = now();
		r->result = event.res;
		r->done = true;
	}
}

/* Requests that the kernel refuses at once */
static void fail(int error)
{
	struct request *r = &requests[nr_requests - 1];
	struct iocb *one = &r->iocb;

	r->start = now();
	CHECK(syscall(SYS_io_submit, context, 1, &one) == -1 && errno == error);
	r->end = now();
	r->result = -error;
	r->done = true;
}

static void disk(const char *path)
{
	int fd = open(path, O_RDWR | O_DIRECT), i;
	struct iovec vec[2] = { { blocks, BLOCK }, { blocks + BLOCK, BLOCK } };

	CHECK(fd >= 0);
	for (i = 0; i < 32; i++)
		add("pwrite", IOCB_CMD_PWRITE, fd, blocks, BLOCK,
		    (long long)i * BLOCK);
	submit(32);
	reap(32);
	for (i = 0; i < 200; i++)
		add("pread", IOCB_CMD_PREAD, fd, blocks + i % 8 * BLOCK,
		    BLOCK * (1 + i % 3), (long long)i * BLOCK);
	submit(200);
	reap(200);
	add("preadv", IOCB_CMD_PREADV, fd, vec, 2, 0);
	add("pwritev", IOCB_CMD_PWRITEV, fd, vec, 2, 0);
	submit(2);
	reap(2);
	close(fd);
}

static void file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644), i;

	CHECK(fd >= 0);
	for (i = 0; i < 10; i++) {
		add("pwrite", IOCB_CMD_PWRITE, fd, blocks, 1000 + i, 3000 * i);
		submit(1);
		reap(1);
	}
	add("fsync", IOCB_CMD_FSYNC, fd, NULL, 0, 0);
	add("fdsync", IOCB_CMD_FDSYNC, fd, NULL, 0, 0);
	submit(2);
	reap(2);
	/* Behind the end, and into no memory */
	add("pread", IOCB_CMD_PREAD, fd, blocks, 100, 1 << 30);
	submit(1);
	reap(1);
	add("pread", IOCB_CMD_PREAD, fd, (void *)8, 100, 0);
	submit(1);
	reap(1);
	CHECK(requests[nr_requests - 1].result == -EFAULT);
	add("unknown", 77, fd, blocks, 100, 0);
	fail(EINVAL);
	close(fd);
	add("pread", IOCB_CMD_PREAD, 999, blocks, 100, 0);
	fail(EBADF);
}

static void polls(void)
{
	int pipefd[2];

	CHECK(!pipe(pipefd));
	add("poll", IOCB_CMD_POLL, pipefd[0], (void *)(uintptr_t)POLLIN, 0, 0)
		->how = "hangs";
	requests[nr_requests - 1].iocb.aio_nbytes = 0;
	submit(1);
	sleep(4);
	CHECK(write(pipefd[1], "x", 1) == 1);
	reap(1);
	close(pipefd[0]);
	close(pipefd[1]);
}

static void print(void)
{
	int i;

	for (i = 0; i < nr_requests; i++) {
		const struct request *r = &requests[i];

		CHECK(r->done);
		printf("%d\t%d\t%d\t%s\t%ld\t%ld\t0\t%llu\t%llu\t%d\t%llu\t%s\t%u\t%s\t%s\n",
		       getpid(), getpid(), i, r->op, r->result,
		       r->moves && r->result > 0 ? r->result : 0, r->start,
		       r->end, (int)r->iocb.aio_fildes, r->id, r->dev, r->type,
		       r->name, r->how);
	}
}

int main(int argc, char **argv)
{
	CHECK(argc == 3 &&
	      !posix_memalign((void **)&blocks, BLOCK, 16 * BLOCK));
	CHECK(!syscall(SYS_io_setup, 256, &context));
	disk(argv[1]);
	file(argv[2]);
	polls();
	CHECK(!syscall(SYS_io_destroy, context));
	print();
	return 0;
}
