// SPDX-License-Identifier: GPL-2.0
/*
 * A TCG plugin that counts instructions which cost far more on a processor than an
 * instruction does: RDMSR, WRMSR and RDPMC, from one long nop (BEGIN) to another (END),
 * which tests/bench/lbrcalls executes.  At END a line goes to QEMU's log (-d plugin):
 *
 *   msrs RDMSR WRMSR RDPMC
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <qemu-plugin.h>

/* nopl 0x2152424c(%rax) and nopl 0x2e52424c(%rax) */
#define BEGIN "\x0f\x1f\x80LBR!"
#define END "\x0f\x1f\x80LBR."

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static uint64_t rdmsr, wrmsr, rdpmc;

static void begin(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	rdmsr = 0;
	wrmsr = 0;
	rdpmc = 0;
}

static void end(unsigned int cpu, void *data)
{
	char line[96];

	(void)cpu;
	(void)data;
	snprintf(line, sizeof(line),
		 "msrs %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", rdmsr, wrmsr,
		 rdpmc);
	qemu_plugin_outs(line);
}

static void count(unsigned int cpu, void *data)
{
	(void)cpu;
	++*(uint64_t *)data;
}

static void translated_insn(struct qemu_plugin_insn *insn)
{
	static const struct {
		const char *code;
		qemu_plugin_vcpu_udata_cb_t what;
		void *data;
	} wanted[] = {
		{ BEGIN, begin, NULL },	       { END, end, NULL },
		{ "\x0f\x32", count, &rdmsr }, { "\x0f\x30", count, &wrmsr },
		{ "\x0f\x33", count, &rdpmc },
	};
	size_t i, len = qemu_plugin_insn_size(insn);

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (len == strlen(wanted[i].code) &&
		    !memcmp(qemu_plugin_insn_data(insn), wanted[i].code, len))
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, wanted[i].what, QEMU_PLUGIN_CB_NO_REGS,
				wanted[i].data);
	}
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i;

	(void)id;
	for (i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
		translated_insn(qemu_plugin_tb_get_insn(tb, i));
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
					   const qemu_info_t *info, int argc,
					   char **argv)
{
	(void)argc;
	(void)argv;
	if (!info->system_emulation || info->system.smp_vcpus != 1) {
		fprintf(stderr, "lbr_msrs: for machines of one CPU\n");
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
