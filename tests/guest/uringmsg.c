// SPDX-License-Identifier: GPL-2.0
/*
 * A multishot recvmsg of io_uring that receives three datagrams, of 1, 2 and 3 bytes, one after
 * the other, and prints each result and how much of that was received, as the header says.
 */
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define SIZE 256
#define BUFFERS 4

#define CHECK(x)                                                        \
	do {                                                            \
		if (!(x)) {                                             \
			fprintf(stderr, "line %d: %s\n", __LINE__, #x); \
			exit(1);                                        \
		}                                                       \
	} while (0)

static char buffer[BUFFERS][SIZE];

int main(void)
{
	struct msghdr msg = { .msg_namelen = 32, .msg_controllen = 64 };
	struct io_uring_recvmsg_out *out;
	struct io_uring_cqe *cqe;
	struct io_uring_sqe *sqe;
	struct io_uring ring;
	int i, ends[2];

	CHECK(!io_uring_queue_init(8, &ring, 0));
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_provide_buffers(sqe, buffer, SIZE, BUFFERS, 0, 0);
	CHECK(io_uring_submit_and_wait(&ring, 1) == 1 &&
	      !io_uring_wait_cqe(&ring, &cqe));
	CHECK(cqe->res >= 0);
	io_uring_cqe_seen(&ring, cqe);
	CHECK(!socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_recvmsg_multishot(sqe, ends[0], &msg, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = 0;
	CHECK(io_uring_submit(&ring) == 1);
	for (i = 1; i <= 3; i++) {
		CHECK(send(ends[1], "abc", i, 0) == i);
		CHECK(!io_uring_wait_cqe(&ring, &cqe) && cqe->res > 0);
		out = (void *)buffer[cqe->flags >> IORING_CQE_BUFFER_SHIFT];
		printf("%d %u\n", cqe->res, out->payloadlen);
		io_uring_cqe_seen(&ring, cqe);
	}
	io_uring_queue_exit(&ring);
	return 0;
}
