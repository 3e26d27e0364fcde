// SPDX-License-Identifier: GPL-2.0
/*
 * gen_iosys FILE CALLS SEED [INSTANCE]
 *
 * Writes a made-up trace.dat with CALLS io_syscall, io_request and io_fault
 * events, and io_pending events for long calls and for some that never end. With an
 * INSTANCE, they are in the buffer of that trace instance, and the main one is empty.
 * Prints the truth about them, a line per call:
 *
 *	call TGID TID OP TYPE DEV ID NAME RESULT BYTES START DURATION
 *	open TGID TID OP NAME START LONGEST
 *
 * separated by tabs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "random.h"
#include "iodat.h"

#define ID_CALL 400
#define ID_PENDING 401
#define ID_FAULT 402
#define ID_REQUEST 403

#define URING "{ 150, \"uring:read\" }, { 154, \"uring:send\" }, "

#define OP_FAULT 240

#define OPS                                                             \
	"__print_symbolic(REC->op, { 1, \"read\" }, { 2, \"write\" }, " \
	"{ 14, \"recvfrom\" }, { 28, \"close\" }, " URING "{ 0, \"none\" })"

static const char call_format[] =
	"name: io_syscall\nID: 400\nformat:\n" TD_COMMON IO_OLD_CALL
	"\tfield:u8 op;\toffset:60;\tsize:1;\tsigned:0;\n"
	"\tfield:u8 type;\toffset:61;\tsize:1;\tsigned:0;\n\n"
	"print fmt: \"%s=%lld name=%s\", " OPS
	", REC->result, __get_str(name)\n";

static const char pending_format[] =
	"name: io_pending\nID: 401\nformat:\n" TD_COMMON
	"\tfield:u64 start;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 duration;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 id;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:dev_t dev;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:36;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t tgid;\toffset:40;\tsize:4;\tsigned:1;\n"
	"\tfield:char comm[16];\toffset:44;\tsize:16;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:60;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 op;\toffset:64;\tsize:1;\tsigned:0;\n"
	"\tfield:u8 type;\toffset:65;\tsize:1;\tsigned:0;\n\n"
	"print fmt: \"%s name=%s\", __print_symbolic(REC->op, "
	"{ 1, \"read\" }, { 2, \"write\" }, { 14, \"recvfrom\" }, "
	"{ 28, \"close\" }, " URING "{ 240, \"fault\" }, { 0, \"none\" }), "
	"__get_str(name)\n";

static const char request_format[] =
	"name: io_request\nID: 403\nformat:\n" TD_COMMON IO_OLD_REQUEST
	"print fmt: \"%s=%lld name=%s\", __print_symbolic(REC->op, " URING
	"{ 0, \"none\" }), REC->result, __get_str(name)\n";

static const char fault_format[] =
	"name: io_fault\nID: 402\nformat:\n" TD_COMMON
	"\tfield:u64 start;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 duration;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 offset;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 id;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:dev_t dev;\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t tgid;\toffset:44;\tsize:4;\tsigned:1;\n"
	"\tfield:s32 result;\toffset:48;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] name;\toffset:52;\tsize:4;\tsigned:0;\n"
	"\tfield:u16 flags;\toffset:56;\tsize:2;\tsigned:0;\n"
	"\tfield:u8 type;\toffset:58;\tsize:1;\tsigned:0;\n\n"
	"print fmt: \"fault=%d name=%s\", REC->result, __get_str(name)\n";

static const struct {
	unsigned int op;
	const char *name;
} ops[] = { { 1, "read" },	  { 2, "write" },	 { 14, "recvfrom" },
	    { 28, "close" },	  { 150, "uring:read" }, { 154, "uring:send" },
	    { OP_FAULT, "fault" } };

/* Number of operations of calls; the last entry is for faults */
#define CALL_OPS (sizeof(ops) / sizeof(*ops) - 1)

static const struct {
	unsigned int type;
	uint32_t dev;
	uint64_t id;
	const char *name;
} objects[] = {
	{ 8, 8 << 20 | 1, 1234, "/var/lib/db/base, \"quoted\"" },
	{ 8, 8 << 20 | 1, 1235, "/etc/hosts" },
	{ 8, 8 << 20 | 2, 1235, "/etc/hosts" },
	{ 12, 0, 77, "192.0.2.1:5432->192.0.2.7:41512" },
	{ 1, 12, 900, "pipe:[900]" },
	{ 12, 0, 78, "" },
	{ 0, 0, 0, "" },
};

struct call {
	int tgid, tid;
	unsigned int op, object;
	uint64_t start;
};

static struct call make_call(uint64_t start)
{
	struct call c = {
		.tgid = 1000 + below(3),
		.op = below(CALL_OPS),
		.object = below(sizeof(objects) / sizeof(*objects)),
		.start = start,
	};

	c.tid = c.tgid + 100 * below(2);
	return c;
}

static unsigned int buffer;

static void write_call(struct td *td, const struct call *c, uint64_t duration,
		       int64_t result)
{
	uint64_t bytes = result > 0 ? result : 0;
	bool request = ops[c->op].op >= 128;
	/* Any thread may complete a request */
	int tid = request && below(2) ? 0 : c->tid;
	struct td_record r;

	td_begin(&r, td, request ? ID_REQUEST : ID_CALL, tid,
		 request ? 84 : 64);
	td_put(&r, 8, c->start, 8);
	td_put(&r, 16, duration, 8);
	td_put(&r, 24, result, 8);
	td_put(&r, 32, bytes, 8);
	td_put(&r, 40, objects[c->object].id, 8);
	td_put(&r, 48, objects[c->object].dev, 4);
	if (request) {
		td_put(&r, 52, c->tid, 4);
		td_put_bytes(&r, 60, "submitter", 16);
	}
	td_put(&r, request ? 56 : 52, c->tgid, 4);
	td_put(&r, request ? 80 : 60, ops[c->op].op, 1);
	td_put(&r, request ? 81 : 61, objects[c->object].type, 1);
	td_put_string(&r, request ? 76 : 56, objects[c->object].name);
	td_write(td, buffer, 0, c->start + duration, &r);
	printf("call\t%d\t%d\t%s\t%u\t%u\t%llu\t%s\t%lld\t%llu\t%llu\t%llu\n",
	       c->tgid, c->tid, ops[c->op].name, objects[c->object].type,
	       objects[c->object].dev,
	       (unsigned long long)objects[c->object].id,
	       objects[c->object].name, (long long)result,
	       (unsigned long long)bytes, (unsigned long long)c->start,
	       (unsigned long long)duration);
}

static void write_fault(struct td *td, const struct call *c, uint64_t duration,
			int result)
{
	struct td_record r;

	td_begin(&r, td, ID_FAULT, c->tid, 60);
	td_put(&r, 8, c->start, 8);
	td_put(&r, 16, duration, 8);
	td_put(&r, 24, 4096 * below(1000), 8);
	td_put(&r, 32, objects[c->object].id, 8);
	td_put(&r, 40, objects[c->object].dev, 4);
	td_put(&r, 44, c->tgid, 4);
	td_put(&r, 48, result, 4);
	td_put(&r, 56, below(128), 2);
	td_put(&r, 58, objects[c->object].type, 1);
	td_put_string(&r, 52, objects[c->object].name);
	td_write(td, buffer, 0, c->start + duration, &r);
	printf("call\t%d\t%d\tfault\t%u\t%u\t%llu\t%s\t%d\t0\t%llu\t%llu\n",
	       c->tgid, c->tid, objects[c->object].type, objects[c->object].dev,
	       (unsigned long long)objects[c->object].id,
	       objects[c->object].name, result, (unsigned long long)c->start,
	       (unsigned long long)duration);
}

static void write_pending(struct td *td, const struct call *c,
			  uint64_t duration)
{
	struct td_record r;

	td_begin(&r, td, ID_PENDING, 7, 68);
	td_put(&r, 8, c->start, 8);
	td_put(&r, 16, duration, 8);
	td_put(&r, 24, objects[c->object].id, 8);
	td_put(&r, 32, objects[c->object].dev, 4);
	td_put(&r, 36, c->tid, 4);
	td_put(&r, 40, c->tgid, 4);
	td_put_bytes(&r, 44, "hanger", 16);
	td_put(&r, 64, ops[c->op].op, 1);
	td_put(&r, 65, objects[c->object].type, 1);
	td_put_string(&r, 60, objects[c->object].name);
	td_write(td, buffer, 0, c->start + duration, &r);
}

/* Write a call; a long one is reported as pending, too, or only when it has ended */
static uint64_t call(struct td *td, uint64_t start)
{
	struct call c = make_call(start);
	uint64_t duration = 100 + below(1000000), at;
	int64_t result = below(10) ? (int64_t)below(100000) : -11;

	if (!below(10)) {
		c.object %= 3;
		c.op = CALL_OPS;
		if (!below(20)) {
			duration += 1500000000ull;
			write_pending(td, &c, duration - below(500000000));
		}
		write_fault(td, &c, duration, below(10) ? 0 : -14);
		return start + duration;
	}
	if (!below(50)) {
		duration += 2500000000ull;
		for (at = 1000000000; at < duration; at += 1000000000)
			write_pending(td, &c, at);
	} else if (!below(50)) {
		duration += 1000000000ull;
		write_call(td, &c, duration, result);
		write_pending(td, &c, duration);
		return start + duration;
	}
	write_call(td, &c, duration, result);
	return start + duration;
}

static uint64_t never_ends(struct td *td, uint64_t start)
{
	struct call c = make_call(start);
	uint64_t seconds = 1 + below(3), i;

	if (!below(3)) {
		c.object %= 3;
		c.op = CALL_OPS;
	}
	for (i = 1; i <= seconds; i++)
		write_pending(td, &c, i * 1000000000);
	printf("open\t%d\t%d\t%s\t%s\t%llu\t%llu\n", c.tgid, c.tid,
	       ops[c.op].name, objects[c.object].name,
	       (unsigned long long)start,
	       (unsigned long long)(seconds * 1000000000));
	return start + seconds * 1000000000;
}

int main(int argc, char **argv)
{
	struct td_layout layout = { .page_size = 4096, .clock = "mono" };
	uint64_t at = 1000000000000ull;
	long calls, i;
	struct td td;

	if (argc < 4 || argc > 5 || (calls = atol(argv[2])) < 1) {
		fprintf(stderr,
			"usage: gen_iosys FILE CALLS SEED [INSTANCE]\n");
		return 2;
	}
	seed = SEED + strtoull(argv[3], NULL, 10);
	td_init(&td, &layout, 1);
	td_add_event(&td, "iosys", call_format);
	td_add_event(&td, "iosys", pending_format);
	td_add_event(&td, "iosys", fault_format);
	td_add_event(&td, "iosys", request_format);
	if (argc == 5)
		buffer = td_add_buffer(&td, argv[4]);
	td.cmdlines = "1000 postgres\n1001 nginx\n1102 thread\n";
	for (i = 0; i < calls; i++) {
		at = 1000 + call(&td, at);
		if (!below(200))
			at = 1000 + never_ends(&td, at);
	}
	return !td_finish(&td, argv[1]);
}
