// SPDX-License-Identifier: GPL-2.0
/*
 * gen_reads FILE TIMES SEED [both|requests]
 *
 * Writes a made-up trace with TIMES calls or groups of io_uring requests of some threads on
 * some files, with faults within calls, and the I/O that they queue for a disk, within calls
 * and between them: block_bio_queue, block_rq_issue, or both events for each. The disks are on
 * top of another one. The trace's clock is not that of the calls, and some records are late.
 * Prints the truth:
 *
 *	asked NAME BYTES
 *	disk NAME BYTES AHEAD	NAME is "-" for I/O outside of calls
 *
 * separated by tabs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iodat.h"
#include "random.h"

#define THREADS 3
#define TID 700
#define FILES 4
#define DISK 0xfd00000
#define OTHER 0xfd00001
#define LOWER 0x800000
/* 253:3, a partition that the files are on */
#define PARTITION 0xfd00003
#define AHEAD 123456789000ull
#define ID_BIO 500
#define ID_RQ 501
#define ID_REQUEST 403

static const char bio_format[] =
	"name: block_bio_queue\nID: 500\nformat:\n" TD_COMMON
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:char rwbs[8];\toffset:28;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"%s %u\", REC->rwbs, REC->nr_sector\n";

static const char request_format[] =
	"name: block_rq_issue\nID: 501\nformat:\n" TD_COMMON
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned int bytes;\toffset:28;\tsize:4;\tsigned:0;\n"
	"\tfield:char rwbs[8];\toffset:32;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"%s %u\", REC->rwbs, REC->nr_sector\n";

static const char submitted_format[] =
	"name: io_request\nID: 403\nformat:\n" TD_COMMON IO_OLD_REQUEST
	"print fmt: \"%s=%lld name=%s\", __print_symbolic(REC->op, "
	"{ 150, \"uring:read\" }, { 0, \"none\" }), REC->result, __get_str(name)\n";

static const char *const names[FILES] = { "/srv/a", "/srv/b", "/srv/c, d",
					  "/srv/e" };

static struct td td;
static bool bios = true, requests;
static uint64_t calls[THREADS];

static void queue(int tid, uint64_t at, unsigned int id, unsigned int dev,
		  uint64_t sectors, const char *rwbs)
{
	unsigned int where = id == ID_BIO ? 28 : 32;
	struct td_record r;

	td_begin(&r, &td, id, tid, where + 8);
	td_put(&r, 8, dev, 4);
	td_put(&r, 24, sectors, 4);
	td_put_bytes(&r, where, rwbs, strlen(rwbs));
	td_write(&td, 0, 0, at + AHEAD, &r);
}

/* For a disk, and then for the lower one */
static void read_disk(int tid, uint64_t *at, const char *name,
		      unsigned int disk)
{
	static const char *const kinds[] = { "R", "RA", "RM", "RAM", "W", "FF" };
	const char *rwbs = kinds[below(6)];
	uint64_t sectors = 8 * (1 + below(32));

	if (bios) {
		queue(tid, *at + 1, ID_BIO, disk, sectors, rwbs);
		queue(tid, *at + 2, ID_BIO, LOWER, sectors, rwbs);
	}
	if (requests)
		queue(tid, *at + 3, ID_RQ, bios ? LOWER : disk, sectors, rwbs);
	if (*rwbs == 'R')
		printf("disk\t%s\t%llu\t%llu\n", name,
		       (unsigned long long)(512 * sectors),
		       (unsigned long long)(strchr(rwbs, 'A') ? 512 * sectors :
								0));
	*at += 10;
}

static void read_some(int tid, uint64_t *at, const char *name)
{
	uint64_t i;

	for (i = below(4); i; i--)
		read_disk(tid, at, name, DISK);
}

static void asked(const char *name, uint64_t bytes)
{
	printf("asked\t%s\t%llu\n", name, (unsigned long long)bytes);
}

/* Of a mapped file, by the kernel as a rule */
static void fault(int tid, uint64_t *at)
{
	uint64_t file = below(FILES), start = *at += 5;

	read_some(tid, at, names[file]);
	*at += 5;
	io_write_fault(&td, 0,
		       &(struct io_call){ .tid = tid,
					  .tgid = TID,
					  .type = IO_FILE,
					  .dev = PARTITION,
					  .start = start,
					  .finish = *at,
					  .id = 10 + file,
					  .flags = below(4) ? 16 : 0,
					  .name = names[file],
					  .ahead = AHEAD });
	asked(names[file], 4096);
}

/* Something may come in between its end and its record: the next call's is not late */
static void call(int tid, uint64_t *at, bool first)
{
	static const unsigned int ops[] = { OP_READ, OP_PREAD, OP_WRITE,
					    OP_OPENAT };
	static bool late;
	unsigned int op = ops[below(4)];
	uint64_t file = below(FILES), start = *at += 100;
	uint64_t bytes = op == OP_OPENAT ? 0 : below(20000), end;

	if (!first) {
		read_some(tid, at, names[file]);
		if (!below(3)) {
			fault(tid, at);
			read_some(tid, at, names[file]);
		}
	}
	end = *at += 1 + below(1000);
	calls[tid - TID]++;
	late = !late && !first && !below(10);
	if (late)
		*at += 200;
	io_write(&td, 0,
		 &(struct io_call){
			 .tid = tid,
			 .tgid = TID,
			 .op = op,
			 .type = IO_FILE,
			 .dev = PARTITION,
			 .start = start,
			 .finish = end,
			 .bytes = bytes,
			 .id = 10 + file,
			 .name = names[file],
			 .ahead = *at - end + AHEAD,
		 });
	if (op == OP_READ || op == OP_PREAD)
		asked(names[file], bytes);
}

static void complete(int tid, uint64_t start, uint64_t at, uint64_t file)
{
	struct td_record r;

	/* The task that the disk interrupts */
	td_begin(&r, &td, ID_REQUEST, 0, 82);
	td_put(&r, 8, start, 8);
	td_put(&r, 16, at - start, 8);
	td_put(&r, 24, 8192, 8);
	td_put(&r, 32, 8192, 8);
	td_put(&r, 40, 10 + file, 8);
	td_put(&r, 48, PARTITION, 4);
	td_put(&r, 52, tid, 4);
	td_put(&r, 56, TID, 4);
	td_put_bytes(&r, 60, "reader", 6);
	td_put(&r, 80, 150, 1);
	td_put(&r, 81, IO_FILE, 1);
	td_put_string(&r, 76, names[file]);
	td_write(&td, 0, 0, at + AHEAD, &r);
	asked(names[file], 8192);
}

/* All are submitted before the first is complete, and they end in any order */
static void submit(int tid, uint64_t *at)
{
	uint64_t start[3], file[3], nr = 1 + below(3), from = below(nr), i;

	for (i = 0; i < nr; i++) {
		file[i] = below(FILES);
		start[i] = *at += 20;
		*at += 5;
		read_some(tid, at, names[file[i]]);
	}
	if (below(2))
		call(tid, at, false);
	for (i = 0; i < nr; i++) {
		uint64_t n = (from + i) % nr;

		*at += 50;
		complete(tid, start[n], *at, file[n]);
	}
}

static void work(uint64_t *at, bool first)
{
	int tid = TID + (int)below(THREADS);

	if (!first && !below(4))
		submit(tid, at);
	else
		call(tid, at, first);
	*at += 5;
	/* Between two calls it is the same one */
	if (!below(5))
		read_disk(tid, at, "-", calls[tid - TID] % 2 ? OTHER : DISK);
}

int main(int argc, char **argv)
{
	struct td_layout layout = { .page_size = 4096, .clock = "local" };
	uint64_t at = 1000000000000ull, times, i;

	if (argc < 4 || argc > 5 || !(times = strtoull(argv[2], NULL, 10)) ||
	    (argc == 5 && strcmp(argv[4], "both") != 0 &&
	     strcmp(argv[4], "requests") != 0)) {
		fprintf(stderr,
			"usage: gen_reads FILE TIMES SEED [both|requests]\n");
		return 2;
	}
	seed = SEED + strtoull(argv[3], NULL, 10);
	if (argc == 5) {
		bios = !strcmp(argv[4], "both");
		requests = true;
	}
	td_init(&td, &layout, 1);
	td_add_event(&td, "iosys", io_call_format);
	td_add_event(&td, "iosys", io_fault_format);
	td_add_event(&td, "iosys", submitted_format);
	td_add_event(&td, "block", bio_format);
	td_add_event(&td, "block", request_format);
	td.cmdlines = "700 reader\n";
	for (i = 0; i < times; i++)
		work(&at, !i);
	return !td_finish(&td, argv[1]);
}
