// SPDX-License-Identifier: GPL-2.0
/*
 * A TCG plugin that counts the cache lines which move between CPUs while a kernel runs, by
 * function, with the caches of mesi.h.
 *
 * Arguments:
 *   out=PREFIX    the results of the first phase go to PREFIX.1, and so on
 *   symbols=FILE  "ADDRESS NAME GROUP" lines, sorted by address: functions of the kernel;
 *                 GROUP is a name, or - if the function is in none
 *   modules=FILE  more of them, read at the begin of each phase if the file is there
 *
 * A phase is begun, counted and ended by long nops that the guest executes, in the kernel
 * or not: at BEGIN the caches are empty, at COUNT all counts are 0, at END the results are
 * written. In between, all loads and stores of kernel code at kernel addresses count. Lines
 * are distinguished by virtual address; accesses of the page table walker, of DMA, of user
 * space and of devices are not counted.
 *
 * A line that moves is counted for the instruction that asked for it, and for the deepest
 * function on the stack that is in a group ("below"): a group's costs include those of
 * what it calls. For that, calls and returns are followed on each stack.
 *
 * All vCPUs must run in one thread (-accel tcg,thread=single), in turns as short as
 * -icount slice= makes them: with longer ones, a line moves less often.
 *
 * PREFIX.N has lines of these kinds:
 *   total ACCESSES MOVED UPGRADED COLD
 *   insn MOVED UPGRADED COLD FUNCTION+OFFSET GROUP BELOW BELOW-GROUP
 *   line MOVED UPGRADED ADDRESS    (the lines that moved most)
 *   lost WHAT                      (the counts are too small)
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <qemu-plugin.h>

#include "mesi.h"

/* 3,145,728 lines: 192 MiB of the guest's memory, at 24 bytes a line */
#define LINES_SHIFT 22
#define KERNEL (1ULL << 63)
/* Mappings at fixed addresses, where each CPU has its own interrupt controller */
#define FIXED (-(1ULL << 24))

/* nopl 0x5b484f43(%rax), ... */
#define BEGIN          \
	"\x0f\x1f\x80" \
	"COH["
#define COUNT          \
	"\x0f\x1f\x80" \
	"COH#"
#define END            \
	"\x0f\x1f\x80" \
	"COH]"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static const char *out, *symbols_file, *modules_file;
static unsigned int phase;
static bool running, counting;
static pthread_t thread;

static struct mesi mesi;
static uint64_t accesses, full;

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *fmt,
								...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "coherence: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

static void *allocate(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die("out of memory");
	return p;
}

/* --- symbols */

struct symbol {
	uint64_t address;
	char name[64];
	char group[16];
};

static struct symbol *symbols;
static size_t nr_symbols, nr_kernel_symbols, room_symbols;

/* For code that no symbol is known of */
static const struct symbol unknown = { 0, "?", "-" };

static void read_symbols(const char *path)
{
	struct symbol symbol;
	FILE *file = fopen(path, "r");
	int got;

	if (!file)
		die("cannot read %s", path);
	while ((got = fscanf(file, "%" SCNx64 " %63s %15s", &symbol.address,
			     symbol.name, symbol.group)) == 3) {
		if (nr_symbols == room_symbols) {
			room_symbols = room_symbols ? 2 * room_symbols : 65536;
			symbols = realloc(symbols,
					  room_symbols * sizeof(*symbols));
			if (!symbols)
				die("out of memory");
		}
		if (nr_symbols &&
		    symbol.address < symbols[nr_symbols - 1].address)
			die("%s: %s is not in order", path, symbol.name);
		symbols[nr_symbols++] = symbol;
	}
	if (got != EOF)
		die("%s: what follows %s is no symbol", path,
		    nr_symbols ? symbols[nr_symbols - 1].name :
				 "the beginning");
	fclose(file);
}

/* The last symbol that is not above @address; its number, or -1 */
static int symbol_of(uint64_t address)
{
	size_t low = 0, high = nr_symbols, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return (int)low - 1;
}

static const struct symbol *symbol_at(int n)
{
	return n < 0 ? &unknown : &symbols[n];
}

/* --- stacks: which functions are on them */

#define STACK_SHIFT \
	14 /* THREAD_SIZE of x86-64, and that of an interrupt's stack */
#define STACKS_SHIFT 14
#define DEPTH 128

/*
 * A call that has not returned. @sp: where its return address is; @below: the deepest
 * function of a group, among it and its callers, or -1.
 */
struct frame {
	uint64_t sp;
	int32_t below;
};

struct stack {
	uint64_t base;
	unsigned int depth;
	struct frame frames[DEPTH];
};

static struct stack *stacks[1 << STACKS_SHIFT];
static size_t nr_stacks;
static uint64_t stacks_full, too_deep;

/* A call or return, and what it is about to do; a line that is accessed */
struct insn {
	uint64_t address;
	bool returns;
	bool calls;
};

static struct cpu {
	const struct insn *current; /* a call or return that is executed */
	struct stack *stack;
} cpus[MESI_CPUS_MAX];

static struct stack *stack_of(uint64_t sp)
{
	uint64_t base = sp >> STACK_SHIFT;
	size_t i = base * 0x9e3779b97f4a7c15ULL >> (64 - STACKS_SHIFT);

	while (stacks[i] && stacks[i]->base != base)
		i = (i + 1) & ((1 << STACKS_SHIFT) - 1);
	if (!stacks[i]) {
		if (nr_stacks >= (1 << STACKS_SHIFT) / 4 * 3) {
			stacks_full++;
			return NULL;
		}
		nr_stacks++;
		stacks[i] = allocate(1, sizeof(*stacks[i]));
		stacks[i]->base = base;
	}
	return stacks[i];
}

/* What returned, whose return address is at @sp or below */
static void pop(struct stack *stack, uint64_t sp)
{
	while (stack->depth && stack->frames[stack->depth - 1].sp <= sp)
		stack->depth--;
}

static void push(struct stack *stack, uint64_t sp)
{
	struct frame *frame = &stack->frames[stack->depth];

	if (stack->depth == DEPTH) {
		too_deep++;
		return;
	}
	frame->sp = sp;
	frame->below = stack->depth ? frame[-1].below : -1;
	stack->depth++;
}

static void begun(unsigned int cpu, void *data)
{
	cpus[cpu].current = data;
}

/* A call has stored its return address, or a return has loaded it */
static void transfer(struct cpu *cpu, const struct insn *insn, uint64_t sp)
{
	if (!cpu->stack || cpu->stack->base != sp >> STACK_SHIFT)
		cpu->stack = stack_of(sp);
	if (!cpu->stack)
		return;
	pop(cpu->stack, sp);
	if (insn->calls)
		push(cpu->stack, sp);
}

/* A function of a group begins: called, or jumped to by one that is over */
static void entered(unsigned int cpu, void *data)
{
	struct stack *stack = cpus[cpu].stack;

	if (stack && stack->depth)
		stack->frames[stack->depth - 1].below = (int32_t)(intptr_t)data;
}

static int below(unsigned int cpu)
{
	const struct stack *stack = cpus[cpu].stack;

	return stack && stack->depth ? stack->frames[stack->depth - 1].below :
				       -1;
}

/* --- counts: of each instruction, below each function of a group */

#define COUNTS_SHIFT 17

struct count {
	uint64_t address; /* 0: free */
	int32_t below;
	uint32_t moved, upgraded, cold;
};

static struct count counts[1 << COUNTS_SHIFT];
static struct count total;
static size_t nr_counts;
static uint64_t counts_full;

static struct count *count_of(uint64_t address, int32_t under)
{
	size_t mask = (1 << COUNTS_SHIFT) - 1;
	size_t i = (address ^ (uint64_t)under << 40) * 0x9e3779b97f4a7c15ULL >>
		   (64 - COUNTS_SHIFT);

	while (counts[i].address &&
	       (counts[i].address != address || counts[i].below != under))
		i = (i + 1) & mask;
	if (!counts[i].address) {
		if (nr_counts > mask / 4 * 3)
			return NULL;
		nr_counts++;
		counts[i].address = address;
		counts[i].below = under;
	}
	return &counts[i];
}

static void add(struct count *count, enum mesi_event event)
{
	count->moved += event == MESI_MOVED;
	count->upgraded += event == MESI_UPGRADED;
	count->cold += event == MESI_COLD;
}

static void line_accessed(unsigned int cpu, const struct insn *insn,
			  uint64_t address, bool store)
{
	enum mesi_event event = mesi_access(&mesi, cpu, insn, address, store);
	struct count *count;

	if (event == MESI_HIT || !counting)
		return;
	if (event == MESI_FULL) {
		full++;
		return;
	}
	add(&total, event);
	count = count_of(insn->address, below(cpu));
	if (count)
		add(count, event);
	else
		counts_full++;
}

static bool is_device(qemu_plugin_meminfo_t info, uint64_t address)
{
	struct qemu_plugin_hwaddr *hw;

	/* Not elsewhere: this takes time */
	if (address < FIXED)
		return false;
	hw = qemu_plugin_get_hwaddr(info, address);
	return hw && qemu_plugin_hwaddr_is_io(hw);
}

static void accessed(unsigned int cpu, qemu_plugin_meminfo_t info,
		     uint64_t address, void *data)
{
	const struct insn *insn = data;
	uint64_t last =
		address + (1ULL << qemu_plugin_mem_size_shift(info)) - 1;
	bool store = qemu_plugin_mem_is_store(info);

	/*
	 * Before QEMU 8, the accesses of a helper may be reported for an instruction that
	 * was long over; a call or return accesses memory once.
	 */
	if (insn->calls || insn->returns) {
		if (cpus[cpu].current == insn && store == insn->calls)
			transfer(&cpus[cpu], insn, address);
		cpus[cpu].current = NULL;
	}
	if (!running || address < KERNEL || is_device(info, address))
		return;
	accesses += counting;
	line_accessed(cpu, insn, address, store);
	if (last >> MESI_LINE_SHIFT != address >> MESI_LINE_SHIFT)
		line_accessed(cpu, insn, last, store);
}

/* --- phases */

static void begin(unsigned int cpu, void *data)
{
	FILE *file = fopen(modules_file ? modules_file : "/dev/null", "r");

	(void)cpu;
	(void)data;
	if (file) {
		fclose(file);
		nr_symbols = nr_kernel_symbols;
		read_symbols(modules_file ? modules_file : "/dev/null");
	}
	mesi_clear(&mesi);
	running = true;
	counting = false;
}

static void start_count(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	mesi_clear_counts(&mesi);
	memset(counts, 0, sizeof(counts));
	memset(&total, 0, sizeof(total));
	nr_counts = 0;
	accesses = 0;
	full = 0;
	counts_full = 0;
	stacks_full = 0;
	too_deep = 0;
	counting = true;
}

static int by_moved(const void *a, const void *b)
{
	const struct mesi_line *const *x = a, *const *y = b;
	uint32_t n = (*x)->moved + (*x)->upgraded,
		 m = (*y)->moved + (*y)->upgraded;

	return n > m ? -1 : n < m;
}

static void write_lines(FILE *file)
{
	const struct mesi_line **lines;
	size_t i, n = 0;

	lines = allocate(mesi.used + 1, sizeof(*lines));
	for (i = 0; i <= mesi.mask; i++) {
		if (mesi.lines[i].moved || mesi.lines[i].upgraded)
			lines[n++] = &mesi.lines[i];
	}
	qsort(lines, n, sizeof(*lines), by_moved);
	for (i = 0; i < n && i < 50; i++)
		fprintf(file, "line %u %u %016" PRIx64 "\n", lines[i]->moved,
			(unsigned int)lines[i]->upgraded,
			(lines[i]->number - 1) << MESI_LINE_SHIFT);
	free(lines);
}

static void write_counts(FILE *file)
{
	const struct symbol *at, *under;
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (!counts[i].address)
			continue;
		at = symbol_at(symbol_of(counts[i].address));
		under = symbol_at(counts[i].below);
		fprintf(file, "insn %u %u %u %s+0x%" PRIx64 " %s %s %s\n",
			counts[i].moved, counts[i].upgraded, counts[i].cold,
			at->name, counts[i].address - at->address, at->group,
			under->name, under->group);
	}
}

static void end(unsigned int cpu, void *data)
{
	char path[4096];
	FILE *file;

	(void)cpu;
	(void)data;
	if (!counting)
		die("a phase ends that was not counted");
	running = false;
	counting = false;
	snprintf(path, sizeof(path), "%s.%u", out, ++phase);
	file = fopen(path, "w");
	if (!file)
		die("cannot write %s", path);
	fprintf(file, "total %" PRIu64 " %u %u %u\n", accesses, total.moved,
		total.upgraded, total.cold);
	if (full)
		fprintf(file,
			"lost %" PRIu64 " accesses: no room for more lines\n",
			full);
	if (counts_full)
		fprintf(file,
			"lost %" PRIu64
			" moves: no room for more instructions\n",
			counts_full);
	if (stacks_full)
		fprintf(file,
			"lost %" PRIu64 " calls: no room for more stacks\n",
			stacks_full);
	if (too_deep)
		fprintf(file, "lost %" PRIu64 " calls: too deep\n", too_deep);
	write_counts(file);
	write_lines(file);
	if (fclose(file))
		die("cannot write %s", path);
}

/* --- instructions */

static bool is_prefix(uint8_t byte)
{
	return (byte & 0xf0) == 0x40 || /* REX */
	       memchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3", byte, 11);
}

/* Whether the 64-bit code at @code is a near call or return */
static void decode(struct insn *insn, const uint8_t *code, size_t len)
{
	size_t i = 0;

	while (i < len && is_prefix(code[i]))
		i++;
	if (i == len)
		return;
	if (code[i] == 0xe8 ||
	    (code[i] == 0xff && i + 1 < len && (code[i + 1] >> 3 & 7) == 2))
		insn->calls = true;
	else if (code[i] == 0xc2 || code[i] == 0xc3)
		insn->returns = true;
}

static bool is_marker(struct qemu_plugin_insn *insn)
{
	static const struct {
		const char *code;
		qemu_plugin_vcpu_udata_cb_t what;
	} markers[] = { { BEGIN, begin },
			{ COUNT, start_count },
			{ END, end } };
	size_t i;

	for (i = 0; i < sizeof(markers) / sizeof(markers[0]); i++) {
		if (qemu_plugin_insn_size(insn) == strlen(markers[i].code) &&
		    !memcmp(qemu_plugin_insn_data(insn), markers[i].code,
			    strlen(markers[i].code))) {
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, markers[i].what, QEMU_PLUGIN_CB_NO_REGS,
				NULL);
			return true;
		}
	}
	return false;
}

static void translated_insn(struct qemu_plugin_insn *insn)
{
	uint64_t address = qemu_plugin_insn_vaddr(insn);
	struct insn *copy;
	int n;

	if (is_marker(insn) || address < KERNEL)
		return;
	n = symbol_of(address);
	if (n >= 0 && symbols[n].address == address &&
	    strcmp(symbols[n].group, "-"))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, entered,
						       QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(intptr_t)n);
	/* Lives as long as the code that is translated: to the end. */
	copy = allocate(1, sizeof(*copy));
	copy->address = address;
	decode(copy, qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn));
	if (copy->calls || copy->returns)
		qemu_plugin_register_vcpu_insn_exec_cb(
			insn, begun, QEMU_PLUGIN_CB_NO_REGS, copy);
	qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, copy);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i;

	(void)id;
	if (!thread)
		thread = pthread_self();
	else if (!pthread_equal(thread, pthread_self()))
		die("the vCPUs must run in one thread");
	for (i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
		translated_insn(qemu_plugin_tb_get_insn(tb, i));
}

static const char *argument(const char *arg, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(arg, name, len) && arg[len] == '=' ?
		       strdup(arg + len + 1) :
		       NULL;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
					   const qemu_info_t *info, int argc,
					   char **argv)
{
	const char *value;
	int i;

	if (!info->system_emulation || info->system.max_vcpus > MESI_CPUS_MAX) {
		fprintf(stderr, "coherence: for machines of up to %d CPUs\n",
			MESI_CPUS_MAX);
		return 1;
	}
	for (i = 0; i < argc; i++) {
		if ((value = argument(argv[i], "out")))
			out = value;
		else if ((value = argument(argv[i], "symbols")))
			symbols_file = value;
		else if ((value = argument(argv[i], "modules")))
			modules_file = value;
		else
			break;
	}
	if (i < argc || !out || !symbols_file) {
		fprintf(stderr,
			"coherence: arguments are out=PREFIX, symbols=FILE, modules=FILE\n");
		return 1;
	}
	read_symbols(symbols_file);
	nr_kernel_symbols = nr_symbols;
	if (!mesi_init(&mesi, LINES_SHIFT))
		die("out of memory");
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
