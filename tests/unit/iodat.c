// SPDX-License-Identifier: GPL-2.0
/* Writes made-up io_syscall, io_request, io_fault, io_stack and io_map events. */
#include "iodat.h"

#define FIELDS                                                               \
	"\tfield:u64 start;\toffset:8;\tsize:8;\tsigned:0;\n"                \
	"\tfield:u64 duration;\toffset:16;\tsize:8;\tsigned:0;\n"            \
	"\tfield:s64 result;\toffset:24;\tsize:8;\tsigned:1;\n"              \
	"\tfield:u64 bytes;\toffset:32;\tsize:8;\tsigned:0;\n"               \
	"\tfield:u64 id;\toffset:40;\tsize:8;\tsigned:0;\n"                  \
	"\tfield:u64 id2;\toffset:48;\tsize:8;\tsigned:0;\n"                 \
	"\tfield:dev_t dev;\toffset:56;\tsize:4;\tsigned:0;\n"               \
	"\tfield:pid_t tgid;\toffset:60;\tsize:4;\tsigned:1;\n"              \
	"\tfield:u32 isn;\toffset:64;\tsize:4;\tsigned:0;\n"                 \
	"\tfield:u32 peer_isn;\toffset:68;\tsize:4;\tsigned:0;\n"            \
	"\tfield:__data_loc char[] name;\toffset:72;\tsize:4;\tsigned:0;\n"  \
	"\tfield:__data_loc char[] name2;\toffset:76;\tsize:4;\tsigned:0;\n" \
	"\tfield:__data_loc u64[] stream;\toffset:80;\tsize:4;\tsigned:0;\n" \
	"\tfield:u16 flags;\toffset:84;\tsize:2;\tsigned:0;\n"               \
	"\tfield:u8 op;\toffset:86;\tsize:1;\tsigned:0;\n"                   \
	"\tfield:u8 type;\toffset:87;\tsize:1;\tsigned:0;\n"                 \
	"\tfield:u8 type2;\toffset:88;\tsize:1;\tsigned:0;\n"                \
	"\tfield:u8 family;\toffset:89;\tsize:1;\tsigned:0;\n"               \
	"\tfield:u16 protocol;\toffset:90;\tsize:2;\tsigned:0;\n"            \
	"\tfield:s32 fd;\toffset:92;\tsize:4;\tsigned:1;\n"

const char io_call_format[] =
	"name: io_syscall\nID: 400\nformat:\n" TD_COMMON FIELDS
	"\tfield:u32 stack;\toffset:96;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"%s=%lld name=%s\", __print_symbolic(REC->op, { 1, \"read\" }, "
	"{ 2, \"write\" }, { 3, \"pread64\" }, { 13, \"sendto\" }, { 14, \"recvfrom\" }, "
	"{ 26, \"openat\" }, { 28, \"close\" }, { 29, \"connect\" }, { 30, \"accept4\" }, "
	"{ 33, \"fdatasync\" }, { 45, \"epoll_wait\" }, { 48, \"io_uring_enter\" }, "
	"{ 0, \"none\" }), REC->result, __get_str(name)\n";

const char io_request_format[] =
	"name: io_request\nID: 406\nformat:\n" TD_COMMON FIELDS
	"\tfield:u32 stack;\toffset:96;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:100;\tsize:4;\tsigned:1;\n"
	"\tfield:char comm[16];\toffset:104;\tsize:16;\tsigned:0;\n\n"
	"print fmt: \"%s=%lld name=%s\", __print_symbolic(REC->op, "
	"{ 146, \"uring:openat\" }, { 154, \"uring:send\" }, { 155, \"uring:recv\" }), "
	"REC->result, __get_str(name)\n";

const char io_fault_format[] =
	"name: io_fault\nID: 402\nformat:\n" TD_COMMON
	"\tfield:u64 start;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 duration;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 id;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:dev_t dev;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t tgid;\toffset:36;\tsize:4;\tsigned:1;\n"
	"\tfield:s32 result;\toffset:40;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] name;\toffset:44;\tsize:4;\tsigned:0;\n"
	"\tfield:u16 flags;\toffset:48;\tsize:2;\tsigned:0;\n"
	"\tfield:u8 type;\toffset:50;\tsize:1;\tsigned:0;\n\n"
	"print fmt: \"fault=%d name=%s\", REC->result, __get_str(name)\n";

const char io_stack_format[] =
	"name: io_stack\nID: 404\nformat:\n" TD_COMMON
	"\tfield:u32 id;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 evicted;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 refused;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc u64[] frames;\toffset:20;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 end;\toffset:24;\tsize:1;\tsigned:0;\n"
	"\tfield:u8 guessed;\toffset:25;\tsize:1;\tsigned:0;\n\n"
	"print fmt: \"id=%u end=%s guessed=%u\", REC->id, "
	"__print_symbolic(REC->end, { 0, \"complete\" }, "
	"{ 9, \"pending\" }), REC->guessed\n";

const char io_map_format[] =
	"name: io_map\nID: 405\nformat:\n" TD_COMMON
	"\tfield:u64 ino;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u32 id;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:dev_t dev;\toffset:20;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] path;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 build_id[20];\toffset:28;\tsize:20;\tsigned:0;\n"
	"\tfield:u8 build_id_size;\toffset:48;\tsize:1;\tsigned:0;\n\n"
	"print fmt: \"id=%u path=%s\", REC->id, __get_str(path)\n";

/* The stream's range: after the other fields, before the names */
#define STREAM 120

/* The prefix of the bytes of a pipe */
#define PIPE (1ull << 63)
#define WRITTEN (1ull << 62)

/**
 * io_op_name - a call's name
 * @op: it
 *
 * Return: its name in the format above.
 */
const char *io_op_name(unsigned int op)
{
	static const char *const names[] = {
		[OP_READ] = "read",
		[OP_WRITE] = "write",
		[OP_PREAD] = "pread64",
		[OP_SENDTO] = "sendto",
		[OP_RECVFROM] = "recvfrom",
		[OP_OPENAT] = "openat",
		[OP_CLOSE] = "close",
		[OP_CONNECT] = "connect",
		[OP_ACCEPT] = "accept4",
		[OP_FDATASYNC] = "fdatasync",
		[OP_EPOLL_WAIT] = "epoll_wait",
		[OP_URING_ENTER] = "io_uring_enter",
	};

	return names[op];
}

static void put_fields(struct td_record *r, const struct io_call *call)
{
	unsigned int at = STREAM, len = call->end > call->from ? 16 : 0;
	unsigned int head = call->pipe && len ? 16 : 0;

	td_put(r, 8, call->start, 8);
	td_put(r, 16, call->finish - call->start, 8);
	td_put(r, 24, call->error ? -(uint64_t)call->error : call->bytes, 8);
	td_put(r, 32, call->bytes, 8);
	td_put(r, 40, call->id, 8);
	td_put(r, 48, call->id2, 8);
	td_put(r, 56, call->dev, 4);
	td_put(r, 60, call->tgid, 4);
	td_put(r, 64, call->isn, 4);
	td_put(r, 68, call->peer_isn, 4);
	td_put(r, 80, (head + len) << 16 | STREAM, 4);
	td_put(r, 84, call->flags, 2);
	td_put(r, 86, call->op, 1);
	td_put(r, 87, call->type, 1);
	td_put(r, 88, call->type2, 1);
	td_put(r, 89, call->family, 1);
	td_put(r, 90, call->protocol, 2);
	td_put(r, 92, call->fd, 4);
	td_put(r, 96, call->stack, 4);
	if (head) {
		td_put(r, at, call->pipe | PIPE | (call->written ? WRITTEN : 0),
		       8);
		td_put(r, at + 8, 1, 8);
		at += 16;
	}
	td_put(r, at, call->from, 8);
	td_put(r, at + 8, call->end, 8);
	td_put_string(r, 72, call->name);
	td_put_string(r, 76, "");
}

/* The stream's range, and that of a pipe has one before it */
#define ROOM (STREAM + 32)

/**
 * io_write - write a call's event, in order of ends on a CPU
 * @td: file, with io_call_format
 * @cpu: where it ends
 * @call: it
 */
void io_write(struct td *td, unsigned int cpu, const struct io_call *call)
{
	struct td_record r;

	td_begin(&r, td, IO_ID_CALL, call->tid, ROOM);
	put_fields(&r, call);
	td_write(td, 0, cpu, call->finish + call->ahead, &r);
}

/**
 * io_write_request - write the event of a request to io_uring, in order of ends on a CPU
 * @td: file, with io_request_format
 * @cpu: where it ends
 * @request: it, with what requests have of a call
 * @by: the thread that completes it
 */
void io_write_request(struct td *td, unsigned int cpu,
		      const struct io_call *request, int by)
{
	struct td_record r;

	td_begin(&r, td, IO_ID_REQUEST, by, ROOM);
	put_fields(&r, request);
	td_put(&r, 100, request->tid, 4);
	td_write(td, 0, cpu, request->finish + request->ahead, &r);
}

/**
 * io_write_fault - write a fault's event, in order of ends on a CPU
 * @td: file, with io_fault_format
 * @cpu: where it ends
 * @fault: it, with what faults have of a call
 */
void io_write_fault(struct td *td, unsigned int cpu,
		    const struct io_call *fault)
{
	struct td_record r;

	td_begin(&r, td, IO_ID_FAULT, fault->tid, 52);
	td_put(&r, 8, fault->start, 8);
	td_put(&r, 16, fault->finish - fault->start, 8);
	td_put(&r, 24, fault->id, 8);
	td_put(&r, 32, fault->dev, 4);
	td_put(&r, 36, fault->tgid, 4);
	td_put(&r, 48, fault->flags, 2);
	td_put(&r, 50, fault->type, 1);
	td_put_string(&r, 44, fault->name);
	td_write(td, 0, cpu, fault->finish + fault->ahead, &r);
}

/**
 * io_write_stack - write the frames that a stack's number stands for
 * @td: file, with io_stack_format
 * @cpu: where
 * @time: when, ns
 * @id: the number
 * @frame: frames, the innermost one first: io_frame(), or an address
 * @nr: how many
 */
void io_write_stack(struct td *td, unsigned int cpu, uint64_t time, uint32_t id,
		    const uint64_t *frame, unsigned int nr)
{
	struct td_record r;
	unsigned int i;

	td_begin(&r, td, IO_ID_STACK, 0, 28 + 8 * nr);
	td_put(&r, 8, id, 4);
	td_put(&r, 20, nr * 8 << 16 | 28, 4);
	for (i = 0; i < nr; i++)
		td_put(&r, 28 + 8 * i, frame[i], 8);
	td_write(td, 0, cpu, time, &r);
}

/**
 * io_write_map - write the file that a number stands for, without a build id
 * @td: file, with io_map_format
 * @cpu: where
 * @time: when, ns
 * @id: the number
 * @path: of the file
 */
void io_write_map(struct td *td, unsigned int cpu, uint64_t time, uint32_t id,
		  const char *path)
{
	struct td_record r;

	td_begin(&r, td, IO_ID_MAP, 0, 52);
	td_put(&r, 8, 100 + id, 8);
	td_put(&r, 16, id, 4);
	td_put_string(&r, 24, path);
	td_write(td, 0, cpu, time, &r);
}
