// SPDX-License-Identifier: GPL-2.0
/*
 * reads DISK COUNT: read COUNT times at random places of DISK, one after the
 * other, past the page cache, and print how many nanoseconds one read took.
 *
 * A read is of 4 KiB, every hundredth of 64 KiB: these take longer, so one in a
 * hundred is slow, as ctlchart_1pct needs it.
 *
 * In a guest under qemu/vm --icount a nanosecond of the clock is an instruction.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../guest/work.h"

#define READ_SIZE 4096
#define SLOW_SIZE 65536
#define SLOW_EVERY 100
#define MAX_COUNT 100000000
/* Reads before the counted ones: caches and tables fill. */
#define WARM_UP 1000

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators) */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

int main(int argc, char **argv)
{
	uint64_t state = 1, size, start = 0;
	long i, count;
	void *buf;
	int fd;

	count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	if (count < 1 || count > MAX_COUNT) {
		fprintf(stderr, "usage: reads DISK COUNT\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, BLKGETSIZE64, &size) || size < 2 * SLOW_SIZE ||
	    posix_memalign(&buf, READ_SIZE, SLOW_SIZE)) {
		fprintf(stderr, "reads: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	for (i = -WARM_UP; i < count; i++) {
		uint64_t place =
			next_random(&state) % ((size - SLOW_SIZE) / READ_SIZE);
		ssize_t len = i % SLOW_EVERY ? READ_SIZE : SLOW_SIZE;

		if (!i)
			start = now();
		if (pread(fd, buf, len, place * READ_SIZE) != len) {
			fprintf(stderr, "reads: %s: %s\n", argv[1],
				strerror(errno));
			return 1;
		}
	}
	printf("%.1f\n", (double)(now() - start) / count);
	free(buf);
	close(fd);
	return 0;
}
