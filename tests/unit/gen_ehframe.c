// SPDX-License-Identifier: GPL-2.0
/*
 * gen_ehframe [-q] FILE...
 * gen_ehframe -f ROUNDS SEED FILE
 *
 * What the tables for unwinding of objects say. Of each row: its address; the
 * canonical frame address; where rbx, rbp, r12 to r15 and the return address are.
 * -q: only what it is in numbers, and its build ID. What is wrong with a file is one
 * line, and the status 1.
 *
 * -f: as often as that, FILE with damage in its headers and its .eh_frame: its table is
 * in order, if there is one, and stacks that are unwound with it end. Prints how many
 * had one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <linux/elf.h>
#include <linux/limits.h>
#include <linux/slab.h>

#include "objects.h"

#ifndef PT_GNU_EH_FRAME
#define PT_GNU_EH_FRAME 0x6474e550
#endif

/* Changes to a file at most */
#define UNDO_MAX 8

struct undo {
	u64 at;
	u8 byte;
};

static const char *const reg_names[USTACK_REGS] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
	"r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15",
};

static void print_place(s16 place)
{
	int offset = place & ~USTACK_PLACE_KIND;

	switch (place & USTACK_PLACE_KIND) {
	case USTACK_AT_CFA:
		if (place == USTACK_SAME)
			printf(" u");
		else
			printf(" c%+d", offset);
		break;
	case USTACK_AT_RBP:
		printf(" *rbp%+d", offset);
		break;
	case USTACK_AT_RSP:
		printf(" *rsp%+d", offset);
		break;
	case USTACK_IN_REG:
		printf(" %s", reg_names[offset >> 3]);
		break;
	case USTACK_UNDEFINED:
		printf(" undefined");
		break;
	default:
		printf(" lost");
	}
}

static void print_rule(const struct ustack_rule *rule)
{
	int i;

	switch (rule->cfa) {
	case USTACK_NONE:
		printf(" none\n");
		return;
	case USTACK_ODD:
		printf(" odd\n");
		return;
	case USTACK_REG:
		printf(" %s%+d", reg_names[rule->reg], rule->offset);
		break;
	case USTACK_DEREF:
		printf(" *%s%+d%+d", reg_names[rule->reg], rule->offset,
		       rule->add);
		break;
	case USTACK_PLT:
		printf(" plt%+d", rule->add);
		break;
	}
	for (i = 0; i < USTACK_PLACES; i++)
		print_place(rule->place[i]);
	printf("%s%s\n", rule->flags & USTACK_INTERRUPTED ? " signal" : "",
	       rule->flags & USTACK_CONTEXT ? " context" : "");
}

static void print_rows(const struct ustack_table *table)
{
	u32 page, i = 0, end;

	for (page = 0; page < table->pages_nr; page++) {
		end = table->pages[page + 1];
		for (; i < end; i++) {
			printf("%" PRIx64,
			       (uint64_t)(table->base +
					  ((u64)page << USTACK_PAGE_BITS) +
					  table->rows[i].pc));
			print_rule(&table->rules[table->rows[i].rule]);
		}
	}
}

static void print_numbers(const char *name, const struct ustack_table *table,
			  const struct ehframe_report *report)
{
	u32 i;

	printf("%s: %u functions, %u outside, %" PRIu64
	       " steps, %u rows, %u rules, %u odd, %zu bytes, build ID ",
	       name, report->functions, report->outside, (uint64_t)report->work,
	       table->rows_nr, table->rules_nr, report->odd, table->bytes);
	for (i = 0; i < report->build_id_size; i++)
		printf("%02x", report->build_id[i]);
	printf("\n");
}

/* The table finds each row that is listed, and rows are in order */
static int check(const struct ustack_table *table)
{
	u64 before = 0, pc;
	u32 page, i = 0, end;

	for (page = 0; page < table->pages_nr; page++) {
		end = table->pages[page + 1];
		if (end < i || end > table->rows_nr)
			return -1;
		for (; i < end; i++) {
			pc = table->base + ((u64)page << USTACK_PAGE_BITS) +
			     table->rows[i].pc;
			if ((i && pc <= before) ||
			    table->rows[i].rule >= table->rules_nr ||
			    ustack_find(table, pc) !=
				    &table->rules[table->rows[i].rule] ||
			    (i &&
			     ustack_find(table, pc - 1) !=
				     &table->rules[table->rows[i - 1].rule]))
				return -1;
			before = pc;
		}
	}
	return i == table->rows_nr &&
			       ustack_find(table, before)->cfa == USTACK_NONE &&
			       ustack_find(table, U64_MAX)->cfa ==
				       USTACK_NONE &&
			       ustack_find(table, 0)->cfa == USTACK_NONE ?
		       0 :
		       -1;
}

/* --- damage */

static uint64_t state;

static uint64_t rnd(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ULL; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

struct file {
	u8 *bytes;
	u64 size;
};

static int read_file(void *arg, u64 offset, void *to, u32 len)
{
	const struct file *file = arg;

	/* This much is promised */
	if (offset > file->size || len > file->size - offset)
		abort();
	memcpy(to, file->bytes + offset, len);
	return 0;
}

static bool load(const char *path, struct file *file)
{
	FILE *f = fopen(path, "re");
	struct stat st;

	if (!f || fstat(fileno(f), &st))
		return false;
	file->size = st.st_size;
	file->bytes = malloc(file->size);
	if (!file->bytes || fread(file->bytes, 1, file->size, f) != file->size)
		return false;
	fclose(f);
	return true;
}

/* Where the list of functions and .eh_frame are, which follows it */
static bool find_eh_frame(const struct file *file, u64 *from, u64 *to)
{
	struct elf64_hdr ehdr;
	struct elf64_phdr phdr;
	int i;

	memcpy(&ehdr, file->bytes, sizeof(ehdr));
	for (i = 0; i < ehdr.e_phnum; i++) {
		memcpy(&phdr, file->bytes + ehdr.e_phoff + i * sizeof(phdr),
		       sizeof(phdr));
		if (phdr.p_type != PT_GNU_EH_FRAME)
			continue;
		*from = phdr.p_offset;
		*to = phdr.p_offset + 6 * phdr.p_filesz;
		if (*to > file->size)
			*to = file->size;
		return true;
	}
	return false;
}

/* A few changes; the bytes before are put into @undo */
static u32 damage(struct file *file, u64 from, u64 to, struct undo *undo)
{
	u32 i, nr = 1 + rnd() % UNDO_MAX;

	for (i = 0; i < nr; i++) {
		/* Headers are few bytes, and as likely as all the rest */
		u64 at = rnd() % 4 ? from + rnd() % (to - from) :
			 rnd() % 2 ? rnd() % 1024 :
				     from + rnd() % 64;

		undo[i].at = at;
		undo[i].byte = file->bytes[at];
		switch (rnd() % 4) {
		case 0:
			file->bytes[at] ^= 1 << rnd() % 8;
			break;
		case 1:
			file->bytes[at] = rnd() % 3 - 1;
			break;
		default:
			file->bytes[at] = rnd();
		}
	}
	return nr;
}

/* Any address is somewhere in the object */
static int find_any(void *arg, u64 address, struct ustack_code *code)
{
	const struct ustack_table *table = arg;

	*code = (struct ustack_code){ 0 };
	code->table = table;
	code->start = address;
	code->size = 1;
	code->to_linked = table->base +
			  address % ((u64)table->pages_nr << USTACK_PAGE_BITS) -
			  address;
	return 0;
}

static int read_any(void *arg, u64 address, u64 *value)
{
	(void)arg;
	(void)address;
	*value = rnd() % 2 ? rnd() : rnd() % 4096;
	return rnd() % 64 ? 0 : -EFAULT;
}

static bool walks_end(struct ustack_table *table)
{
	struct ustack_ops ops = { .find = find_any,
				  .read = read_any,
				  .arg = table };
	struct ustack_result result;
	struct ustack_regs regs;
	u64 frames[32];
	u32 i, round;

	for (round = 0; round < 20; round++) {
		regs.ip = rnd();
		for (i = 0; i < USTACK_REGS; i++)
			regs.reg[i] = rnd();
		ustack_walk(&ops, &regs, frames, 32, &result);
		if (result.nr < 1 || result.nr > 32)
			return false;
	}
	return true;
}

static int fuzz(long rounds, const char *path)
{
	struct ehframe_report report;
	struct undo undo[UNDO_MAX];
	struct ustack_table *table;
	struct file file;
	struct ehframe_source source = { .read = read_file, .arg = &file };
	u64 from, to;
	long i, tables = 0;
	u32 nr;

	if (!load(path, &file) || !find_eh_frame(&file, &from, &to)) {
		fprintf(stderr, "gen_ehframe: %s: nothing to damage\n", path);
		return 2;
	}
	source.size = file.size;
	for (i = 0; i < rounds; i++) {
		nr = damage(&file, from, to, undo);
		if (rnd() % 16 == 0)
			source.size = rnd() % file.size;
		if (rnd() % 16 == 0)
			kv_fail_nth = 1 + rnd() % 20;
		if (!ehframe_build(&source, &ehframe_caps_default, &table,
				   &report)) {
			tables++;
			if (check(table) || !walks_end(table)) {
				fprintf(stderr, "gen_ehframe: %s: round %ld\n",
					path, i);
				return 2;
			}
		} else if (!report.reason || table) {
			fprintf(stderr,
				"gen_ehframe: %s: round %ld: no reason\n", path,
				i);
			return 2;
		}
		ehframe_free(table);
		source.size = file.size;
		kv_fail_nth = 0;
		while (nr--)
			file.bytes[undo[nr].at] = undo[nr].byte;
	}
	free(file.bytes);
	printf("%s: %ld rounds, %ld tables\n", path, rounds, tables);
	return tables ? 0 : 1;
}

int main(int argc, char **argv)
{
	bool quiet = argc > 1 && !strcmp(argv[1], "-q");
	struct ehframe_report report;
	struct ustack_table *table;
	int i, error, status = 0;

	if (argc == 5 && !strcmp(argv[1], "-f")) {
		state = strtoull(argv[3], NULL, 0);
		return fuzz(atol(argv[2]), argv[4]);
	}
	for (i = 1 + quiet; i < argc; i++) {
		table = file_table(argv[i], &report, &error);
		if (!table) {
			fprintf(stderr, "gen_ehframe: %s:%" PRIu64 ": %s\n",
				argv[i], (uint64_t)report.offset,
				report.reason);
			status = 1;
			continue;
		}
		if (check(table)) {
			fprintf(stderr, "gen_ehframe: %s: the table is wrong\n",
				argv[i]);
			status = 2;
		}
		if (quiet)
			print_numbers(argv[i], table, &report);
		else
			print_rows(table);
		ehframe_free(table);
	}
	return status;
}
