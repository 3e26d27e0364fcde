/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Made-up io_syscall, io_request, io_fault, io_stack and io_map events, with the fields that kernels
 * have that matter to ioreq, for files that tracedat.h writes.
 */
#ifndef TESTS_IODAT_H
#define TESTS_IODAT_H

#include "tracedat.h"

#define IO_ID_CALL 400
#define IO_ID_FAULT 402
#define IO_ID_STACK 404
#define IO_ID_MAP 405
#define IO_ID_REQUEST 406

/* Types of objects */
#define IO_ANON 0
#define IO_FIFO 1
#define IO_FILE 8
#define IO_SOCKET 12

/* Family of a socket */
#define IO_UNIX 1

/* Flags of a call */
#define IO_ISN_KNOWN 16
#define IO_PEEKED 32

/* Numbers of calls as kernels have them */
enum {
	OP_READ = 1,
	OP_WRITE = 2,
	OP_PREAD = 3,
	OP_SENDTO = 13,
	OP_RECVFROM = 14,
	OP_OPENAT = 26,
	OP_CLOSE = 28,
	OP_CONNECT = 29,
	OP_ACCEPT = 30,
	OP_FDATASYNC = 33,
	OP_EPOLL_WAIT = 45,
	OP_URING_ENTER = 48,
	OP_URING_OPENAT = 146,
	OP_URING_SEND = 154,
	OP_URING_RECV = 155,
};

/* Fields of io_syscall and io_request in kernels without byte ranges of streams */
#define IO_OLD_FIELDS                                             \
	"\tfield:u64 start;\toffset:8;\tsize:8;\tsigned:0;\n"     \
	"\tfield:u64 duration;\toffset:16;\tsize:8;\tsigned:0;\n" \
	"\tfield:s64 result;\toffset:24;\tsize:8;\tsigned:1;\n"   \
	"\tfield:u64 bytes;\toffset:32;\tsize:8;\tsigned:0;\n"    \
	"\tfield:u64 id;\toffset:40;\tsize:8;\tsigned:0;\n"       \
	"\tfield:dev_t dev;\toffset:48;\tsize:4;\tsigned:0;\n"
#define IO_OLD_CALL                                             \
	IO_OLD_FIELDS                                           \
	"\tfield:pid_t tgid;\toffset:52;\tsize:4;\tsigned:1;\n" \
	"\tfield:__data_loc char[] name;\toffset:56;\tsize:4;\tsigned:0;\n"
#define IO_OLD_REQUEST                                                      \
	IO_OLD_FIELDS                                                       \
	"\tfield:pid_t pid;\toffset:52;\tsize:4;\tsigned:1;\n"              \
	"\tfield:pid_t tgid;\toffset:56;\tsize:4;\tsigned:1;\n"             \
	"\tfield:char comm[16];\toffset:60;\tsize:16;\tsigned:0;\n"         \
	"\tfield:__data_loc char[] name;\toffset:76;\tsize:4;\tsigned:0;\n" \
	"\tfield:u8 op;\toffset:80;\tsize:1;\tsigned:0;\n"                  \
	"\tfield:u8 type;\toffset:81;\tsize:1;\tsigned:0;\n\n"

extern const char io_call_format[];
extern const char io_request_format[];
extern const char io_fault_format[];
extern const char io_stack_format[];
extern const char io_map_format[];

/**
 * struct io_call - a call
 * @tid:	thread
 * @tgid:	process
 * @op:		what it calls
 * @type:	of the object
 * @type2:	of the second object
 * @fd:		descriptor
 * @start:	when it begins, ns
 * @finish:	when it ends
 * @bytes:	that it transfers; the result, too
 * @error:	that it fails with instead, or 0
 * @family:	of the socket; IO_UNIX, or 0
 * @protocol:	of the socket (IPPROTO_TCP and so on)
 * @dev:	of the object: its device
 * @id:		of the object
 * @id2:	of the second object
 * @isn:	initial sequence number, own
 * @peer_isn:	that of the other side
 * @flags:	of the event
 * @from:	offset of the first byte of a stream
 * @end:	offset after the last one; no bytes if it equals @from
 * @pipe:	the stream is that of the pipe with this number; 0: of a socket
 * @written:	bytes were written to the pipe
 * @name:	of the object
 * @stack:	number of the stack; 0: none
 * @ahead:	trace clock minus the clock of calls, ns
 */
struct io_call {
	int tid;
	int tgid;
	unsigned int op;
	unsigned int type;
	unsigned int type2;
	int fd;
	uint64_t start;
	uint64_t finish;
	uint64_t bytes;
	unsigned int error;
	unsigned int family;
	unsigned int protocol;
	unsigned int dev;
	uint64_t id;
	uint64_t id2;
	uint32_t isn;
	uint32_t peer_isn;
	unsigned int flags;
	uint64_t from;
	uint64_t end;
	uint64_t pipe;
	bool written;
	const char *name;
	uint32_t stack;
	uint64_t ahead;
};

const char *io_op_name(unsigned int op);
void io_write(struct td *td, unsigned int cpu, const struct io_call *call);
void io_write_request(struct td *td, unsigned int cpu,
		      const struct io_call *request, int by);
void io_write_fault(struct td *td, unsigned int cpu,
		    const struct io_call *fault);
/* A frame of io_stack: the number of a file, and the offset in it */
static inline uint64_t io_frame(uint32_t file, uint32_t offset)
{
	return 1ull << 63 | (uint64_t)file << 32 | offset;
}

void io_write_stack(struct td *td, unsigned int cpu, uint64_t time, uint32_t id,
		    const uint64_t *frame, unsigned int nr);
void io_write_map(struct td *td, unsigned int cpu, uint64_t time, uint32_t id,
		  const char *path);

#endif
