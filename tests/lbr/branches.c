// SPDX-License-Identifier: GPL-2.0
/*
 * A TCG plugin that lists branches: what tests/lbr/check compares the LBR model
 * with.  Knows nothing of the model, and finds branches by their opcodes.
 *
 * Lines go to QEMU's log (-d plugin), where they stand between those of the
 * model's trace events and of -d int:
 *
 *   branch CPU call FROM TO     a near call has stored its return address
 *   branch CPU icall FROM       same, an indirect call
 *   branch CPU ret FROM         a near return has loaded where it returns to
 *   branch CPU far FROM         a far transfer begins (it may fault)
 *   branch CPU at IP            execution continues here, after one of these
 *   nmi CPU                     an NMI begins; with nmi=ADDRESS, of its entry
 *
 * The list of branches begins when the guest executes a certain long nop (see START), so
 * that booting is not in it; NMIs are listed from the beginning.
 *
 * An instruction is seen before it is complete.  A call is complete when it has
 * stored, and a return when it has loaded; nothing else in them can fail in 64-bit
 * code.  Execution may continue at an interrupt's entry instead of the
 * target.
 *
 * With timeline=NAME,nmi=ADDRESS, for one processor, it says when instead: it writes, as
 * 64-bit numbers of this machine, NAME.from with the addresses of near calls and returns in
 * user space in order, NAME.time with how many instructions had been executed when each
 * was complete, NAME.start with how many when the list began, and NAME.nmi with how many
 * before each NMI, whose entry is at that address.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <qemu-plugin.h>

#define MAX_CPUS 8

/* nopl 0x2152424c(%rax); what tests/full/lbr runs before anything records */
#define START "\x0f\x1f\x80LBR!"

enum kind { NONE, CALL, ICALL, RET, FAR };

struct branch {
	uint64_t from;
	uint64_t to; /* of CALL */
	enum kind kind;
	uint64_t after; /* instructions after it in its block */
};

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/*
 * The call or return that is being executed.  Before QEMU 8, the accesses of a
 * helper may be reported for an instruction that was long over.
 */
static const struct branch *current[MAX_CPUS];

/* Whether the next instruction is the target of a branch. */
static bool pending[MAX_CPUS];

static bool listing;

/* For timeline=: instructions up to the end of the block that is being executed */
static uint64_t instructions;
static FILE *froms, *times, *nmis;
static uint64_t nmi_entry;
static const char *name;

static void write_number(FILE *file, uint64_t number)
{
	if (fwrite(&number, sizeof(number), 1, file) != 1) {
		perror("branches: timeline");
		abort();
	}
}

static FILE *open_file(const char *suffix)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s.%s", name, suffix);
	file = fopen(path, "w");
	if (!file)
		perror(path);
	return file;
}

static void start(unsigned int cpu, void *data)
{
	FILE *file;

	(void)cpu;
	if (name && !listing) {
		file = open_file("start");
		if (!file)
			abort();
		write_number(file, instructions - (uintptr_t)data);
		fclose(file);
	}
	listing = true;
}

static void complete(unsigned int cpu, const struct branch *branch)
{
	static const char *const names[] = {
		[CALL] = "call", [ICALL] = "icall", [RET] = "ret", [FAR] = "far"
	};
	char line[96];
	int len;

	if (!listing)
		return;
	if (name) {
		if (branch->from >> 63 || branch->kind == FAR)
			return;
		write_number(froms, branch->from);
		write_number(times, instructions - branch->after);
		return;
	}
	len = snprintf(line, sizeof(line), "branch %u %s 0x%016" PRIx64, cpu,
		       names[branch->kind], branch->from);
	if (branch->kind == CALL)
		len += snprintf(line + len, sizeof(line) - len,
				" 0x%016" PRIx64, branch->to);
	snprintf(line + len, sizeof(line) - len, "\n");
	qemu_plugin_outs(line);
	pending[cpu] = true;
}

static void executed(unsigned int cpu, void *data)
{
	complete(cpu, data);
}

static void begun(unsigned int cpu, void *data)
{
	current[cpu] = data;
}

static void accessed(unsigned int cpu, qemu_plugin_meminfo_t info,
		     uint64_t vaddr, void *data)
{
	const struct branch *branch = data;

	(void)vaddr;
	if (branch != current[cpu] ||
	    qemu_plugin_mem_is_store(info) != (branch->kind != RET))
		return;
	current[cpu] = NULL;
	complete(cpu, branch);
}

static void started(unsigned int cpu, void *data)
{
	char line[64];

	if (!pending[cpu])
		return;
	pending[cpu] = false;
	snprintf(line, sizeof(line), "branch %u at 0x%016" PRIx64 "\n", cpu,
		 (uint64_t)(uintptr_t)data);
	qemu_plugin_outs(line);
}

static bool is_prefix(uint8_t byte)
{
	return (byte & 0xf0) == 0x40 || /* REX */
	       memchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3", byte, 11);
}

/* What kind of branch the 64-bit code at @code is, and how far a CALL goes. */
static enum kind decode(const uint8_t *code, size_t len, int32_t *diff)
{
	size_t i = 0;

	while (i < len && is_prefix(code[i]))
		i++;
	if (i == len)
		return NONE;
	switch (code[i]) {
	case 0xe8:
		if (i + 5 != len)
			return NONE;
		memcpy(diff, code + i + 1, sizeof(*diff));
		return CALL;
	case 0xff:
		switch (i + 1 < len ? code[i + 1] >> 3 & 7 : 0) {
		case 2:
			return ICALL;
		case 3:
		case 5:
			return FAR;
		}
		return NONE;
	case 0xc2:
	case 0xc3:
		return RET;
	case 0xca: /* lret */
	case 0xcb:
	case 0xcf: /* iret */
		return FAR;
	case 0x0f:
		switch (i + 1 < len ? code[i + 1] : 0) {
		case 0x05: /* syscall */
		case 0x07: /* sysret */
		case 0x34: /* sysenter */
		case 0x35: /* sysexit */
			return FAR;
		}
		return NONE;
	default:
		return NONE;
	}
}

static void translated_insn(struct qemu_plugin_insn *insn, uint64_t after)
{
	size_t len = qemu_plugin_insn_size(insn);
	struct branch branch = { .from = qemu_plugin_insn_vaddr(insn),
				 .after = after };
	struct branch *copy;
	int32_t diff = 0;

	if (len == strlen(START) &&
	    !memcmp(qemu_plugin_insn_data(insn), START, len))
		qemu_plugin_register_vcpu_insn_exec_cb(
			insn, start, QEMU_PLUGIN_CB_NO_REGS,
			(void *)(uintptr_t)after);
	branch.kind = decode(qemu_plugin_insn_data(insn), len, &diff);
	if (branch.kind == NONE)
		return;
	branch.to = branch.from + len + diff;
	/* Lives as long as the code that is translated: to the end. */
	copy = malloc(sizeof(*copy));
	if (!copy)
		abort();
	*copy = branch;
	if (branch.kind == FAR) {
		qemu_plugin_register_vcpu_insn_exec_cb(
			insn, executed, QEMU_PLUGIN_CB_NO_REGS, copy);
		return;
	}
	qemu_plugin_register_vcpu_insn_exec_cb(insn, begun,
					       QEMU_PLUGIN_CB_NO_REGS, copy);
	qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, copy);
}

static void nmi_begun(unsigned int cpu, void *data)
{
	char line[16];

	if (name) {
		if (!listing)
			return;
		write_number(nmis, instructions - (uintptr_t)data);
		return;
	}
	snprintf(line, sizeof(line), "nmi %u\n", cpu);
	qemu_plugin_outs(line);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	if (name)
		qemu_plugin_register_vcpu_tb_exec_inline(
			tb, QEMU_PLUGIN_INLINE_ADD_U64, &instructions, n);
	else
		qemu_plugin_register_vcpu_tb_exec_cb(
			tb, started, QEMU_PLUGIN_CB_NO_REGS,
			(void *)(uintptr_t)qemu_plugin_tb_vaddr(tb));
	if (nmi_entry && qemu_plugin_tb_vaddr(tb) == nmi_entry)
		qemu_plugin_register_vcpu_insn_exec_cb(
			qemu_plugin_tb_get_insn(tb, 0), nmi_begun,
			QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)n);
	for (i = 0; i < n; i++)
		translated_insn(qemu_plugin_tb_get_insn(tb, i), n - 1 - i);
}

static void finish(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	if (fclose(froms) || fclose(times) || fclose(nmis)) {
		perror("branches: timeline");
		abort();
	}
}

/* Return: whether @argv is understood */
static bool read_arguments(int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "timeline=", 9))
			name = argv[i] + 9;
		else if (!strncmp(argv[i], "nmi=", 4))
			nmi_entry = strtoull(argv[i] + 4, NULL, 16);
		else
			return false;
	}
	return true;
}

/* Return: false, and says why, if it cannot be */
static bool begin_timeline(qemu_plugin_id_t id, const qemu_info_t *info)
{
	if (!nmi_entry || info->system.smp_vcpus != 1) {
		fprintf(stderr,
			"branches: timeline=NAME,nmi=ADDRESS is for one processor\n");
		return false;
	}
	name = strdup(name);
	if (!name)
		return false;
	froms = open_file("from");
	times = open_file("time");
	nmis = open_file("nmi");
	if (!froms || !times || !nmis)
		return false;
	qemu_plugin_register_atexit_cb(id, finish, NULL);
	return true;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
					   const qemu_info_t *info, int argc,
					   char **argv)
{
	if (!info->system_emulation || info->system.smp_vcpus > MAX_CPUS) {
		fprintf(stderr, "branches: for machines of up to %d CPUs\n",
			MAX_CPUS);
		return 1;
	}
	if (!read_arguments(argc, argv)) {
		fprintf(stderr,
			"branches: arguments are nmi=ADDRESS and timeline=NAME\n");
		return 1;
	}
	if (name && !begin_timeline(id, info))
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
