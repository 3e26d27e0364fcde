// SPDX-License-Identifier: GPL-2.0
/*
 * gen_stacks [--first] FILE
 *
 * Writes a trace.dat with the events that lines of standard input describe, in their
 * order:
 *
 *	map ID DEV INODE BUILD-ID PATH		io_map; BUILD-ID may be -
 *	stack ID END GUESSED FRAME,...		io_stack; END is a number, - has no frames
 *	counts EVICTED REFUSED			counts that the following io_stack have
 *	call TGID OP NAME RESULT DURATION STACK	io_syscall; OP is read or write
 *	bad stack|map				an event that contradicts its format
 *
 * With --first io_stack is as in the first version, without counts.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iodat.h"

#define ID_CALL 400

static const char call_format[] =
	"name: io_syscall\nID: 400\nformat:\n" TD_COMMON IO_OLD_CALL
	"\tfield:u32 stack;\toffset:60;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 op;\toffset:64;\tsize:1;\tsigned:0;\n"
	"\tfield:u8 type;\toffset:65;\tsize:1;\tsigned:0;\n\n"
	"print fmt: \"%s=%lld name=%s stack=%u\", __print_symbolic(REC->op, "
	"{ 1, \"read\" }, { 2, \"write\" }), REC->result, __get_str(name), "
	"REC->stack\n";

static const char first_stack_format[] =
	"name: io_stack\nID: 404\nformat:\n" TD_COMMON
	"\tfield:u32 id;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc u64[] frames;\toffset:20;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 end;\toffset:24;\tsize:1;\tsigned:0;\n"
	"\tfield:u8 guessed;\toffset:25;\tsize:1;\tsigned:0;\n\n"
	"print fmt: \"id=%u end=%s guessed=%u\", REC->id, "
	"__print_symbolic(REC->end, { 0, \"complete\" }, "
	"{ 9, \"pending\" }), REC->guessed\n";

static unsigned int evicted, refused;

static void die(const char *line)
{
	fprintf(stderr, "gen_stacks: %s", line);
	exit(2);
}

static void put_map(struct td_record *r, const struct td *td, const char *line)
{
	char id[64], path[512];
	unsigned int nr, dev, byte;
	uint64_t ino;
	size_t i;

	if (sscanf(line, "map %u %u %" SCNu64 " %63s %511s", &nr, &dev, &ino,
		   id, path) != 5)
		die(line);
	td_begin(r, td, IO_ID_MAP, 1, 52);
	td_put(r, 8, ino, 8);
	td_put(r, 16, nr, 4);
	td_put(r, 20, dev, 4);
	for (i = 0; *id != '-' && sscanf(id + 2 * i, "%2x", &byte) == 1; i++)
		td_put(r, 28 + i, byte, 1);
	td_put(r, 48, i, 1);
	td_put_string(r, 24, path);
}

static void put_stack(struct td_record *r, const struct td *td,
		      const char *line)
{
	unsigned int id, end, guessed;
	int used = 0;
	const char *at;
	uint64_t frame;
	size_t nr = 0;

	if (sscanf(line, "stack %u %u %u %n", &id, &end, &guessed, &used) < 3)
		die(line);
	td_begin(r, td, IO_ID_STACK, 1, 28);
	td_put(r, 8, id, 4);
	td_put(r, 12, evicted, 4);
	td_put(r, 16, refused, 4);
	td_put(r, 24, end, 1);
	td_put(r, 25, guessed, 1);
	for (at = line + used; sscanf(at, "%" SCNx64, &frame) == 1; nr++) {
		td_put(r, 28 + 8 * nr, frame, 8);
		at += strcspn(at, ",");
		at += *at == ',';
	}
	td_put(r, 20, nr * 8 << 16 | 28, 4);
	r->len = 28 + 8 * nr;
}

static void put_call(struct td_record *r, const struct td *td, const char *line,
		     uint64_t now)
{
	char op[16], name[256];
	uint64_t duration;
	unsigned int tgid, stack;
	int64_t result;

	if (sscanf(line, "call %u %15s %255s %" SCNd64 " %" SCNu64 " %u", &tgid,
		   op, name, &result, &duration, &stack) != 6)
		die(line);
	td_begin(r, td, ID_CALL, tgid, 68);
	td_put(r, 8, now - duration, 8);
	td_put(r, 16, duration, 8);
	td_put(r, 24, result, 8);
	td_put(r, 32, result > 0 ? result : 0, 8);
	td_put(r, 40, 77, 8);
	td_put(r, 52, tgid, 4);
	td_put(r, 60, stack, 4);
	td_put(r, 64, *op == 'r' ? 1 : 2, 1);
	td_put(r, 65, 8, 1);
	td_put_string(r, 56, name);
}

/* An event whose array or string exceeds the record */
static void put_bad(struct td_record *r, const struct td *td, const char *line)
{
	if (!strcmp(line, "bad stack\n")) {
		td_begin(r, td, IO_ID_STACK, 1, 20);
		td_put(r, 12, 64 << 16 | 20, 4);
	} else {
		td_begin(r, td, IO_ID_MAP, 1, 52);
		td_put(r, 24, 64 << 16 | 52, 4);
	}
}

int main(int argc, char **argv)
{
	struct td_layout layout = { .page_size = 4096, .clock = "mono" };
	uint64_t now = 1000000000000ull;
	static char line[8192];
	struct td td;
	bool first = argc == 3 && !strcmp(argv[1], "--first");

	if (argc != 2 + first)
		die("usage: gen_stacks [--first] FILE\n");
	td_init(&td, &layout, 1);
	td_add_event(&td, "iosys", call_format);
	td_add_event(&td, "iosys",
		     first ? first_stack_format : io_stack_format);
	td_add_event(&td, "iosys", io_map_format);
	td.cmdlines = "1000 worker\n1001 worker\n1002 other\n";
	while (fgets(line, sizeof(line), stdin)) {
		struct td_record r;

		now += 10000000;
		switch (*line) {
		case 'm':
			put_map(&r, &td, line);
			break;
		case 's':
			put_stack(&r, &td, line);
			break;
		case 'c':
			if (sscanf(line, "counts %u %u", &evicted, &refused) ==
			    2)
				continue;
			put_call(&r, &td, line, now);
			break;
		default:
			put_bad(&r, &td, line);
		}
		td_write(&td, 0, 0, now, &r);
	}
	return !td_finish(&td, argv[1 + first]);
}
