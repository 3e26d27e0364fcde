// SPDX-License-Identifier: GPL-2.0
/* Kinds and targets of branch instructions. */
#include <stdlib.h>

#include <capstone/capstone.h>

#include "lbrtime.h"

/**
 * struct code - disassemblers
 * @handle:	for 32 and 64 bits
 * @insn:	room for one instruction of each
 */
struct code {
	csh handle[2];
	cs_insn *insn[2];
};

/**
 * code_new - create the disassemblers
 *
 * Return: the disassemblers, to be freed with code_free().
 */
struct code *code_new(void)
{
	struct code *c = xzalloc(sizeof(*c));
	int i;

	for (i = 0; i < 2; i++) {
		if (cs_open(CS_ARCH_X86, i ? CS_MODE_64 : CS_MODE_32,
			    &c->handle[i]) != CS_ERR_OK)
			memory_failed();
		cs_option(c->handle[i], CS_OPT_DETAIL, CS_OPT_ON);
		c->insn[i] = cs_malloc(c->handle[i]);
		if (!c->insn[i])
			memory_failed();
	}
	return c;
}

/**
 * code_free - free the disassemblers
 * @c:	disassemblers, or NULL
 */
void code_free(struct code *c)
{
	int i;

	for (i = 0; c && i < 2; i++) {
		cs_free(c->insn[i], 1);
		cs_close(&c->handle[i]);
	}
	free(c);
}

static u8 kind_of(csh handle, const cs_insn *insn)
{
	if (insn->id == X86_INS_SYSCALL || insn->id == X86_INS_SYSENTER ||
	    insn->id == X86_INS_SYSRET || insn->id == X86_INS_SYSEXIT ||
	    insn->id == X86_INS_LCALL || insn->id == X86_INS_LJMP ||
	    insn->id == X86_INS_RETF || insn->id == X86_INS_RETFQ ||
	    cs_insn_group(handle, insn, CS_GRP_INT) ||
	    cs_insn_group(handle, insn, CS_GRP_IRET))
		return KIND_FAR;
	if (cs_insn_group(handle, insn, CS_GRP_CALL))
		return KIND_CALL;
	if (cs_insn_group(handle, insn, CS_GRP_RET))
		return KIND_RETURN;
	return cs_insn_group(handle, insn, CS_GRP_JUMP) ? KIND_JUMP :
							  KIND_UNKNOWN;
}

/* A string instruction with a REP prefix */
static bool is_repeated(const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;

	return (x->prefix[0] == X86_PREFIX_REP ||
		x->prefix[0] == X86_PREFIX_REPNE) &&
	       x->opcode[0] >= 0xa4 && x->opcode[0] <= 0xaf &&
	       (x->opcode[0] < 0xa8 || x->opcode[0] > 0xa9);
}

/**
 * code_decode - decode a branch
 * @c:		disassemblers
 * @bytes:	code
 * @len:	bytes of @bytes
 * @wide:	it is 64-bit code
 * @p:		place; @kind, @size and @target are set if the code is a branch
 */
void code_decode(struct code *c, const u8 *bytes, u32 len, bool wide,
		 struct place *p)
{
	const cs_x86_op *op;
	cs_insn *insn = c->insn[wide];
	uint64_t at = p->addr;
	size_t left = len;

	if (!cs_disasm_iter(c->handle[wide], &bytes, &left, &at, insn))
		return;
	p->kind = kind_of(c->handle[wide], insn);
	if (p->kind == KIND_UNKNOWN)
		return;
	p->size = insn->size;
	op = &insn->detail->x86.operands[0];
	if ((p->kind == KIND_CALL || p->kind == KIND_JUMP) &&
	    insn->detail->x86.op_count == 1 && op->type == X86_OP_IMM)
		p->target = op->imm;
}

/**
 * code_insn - decode an instruction
 * @c:		disassemblers
 * @bytes:	code
 * @len:	bytes of @bytes
 * @wide:	it is 64-bit code
 * @i:		instruction; all but @addr and @space are set. @size is 0 if it is
 *		invalid.
 */
void code_insn(struct code *c, const u8 *bytes, u32 len, bool wide,
	       struct insn *i)
{
	struct place p = { .addr = i->addr };
	const cs_insn *insn = c->insn[wide];
	uint64_t at = i->addr;
	const u8 *from = bytes;
	size_t left = len;

	i->size = 0;
	if (!cs_disasm_iter(c->handle[wide], &from, &left, &at, c->insn[wide]))
		return;
	i->size = insn->size;
	i->kind = kind_of(c->handle[wide], insn);
	i->conditional = insn->id != X86_INS_JMP;
	i->system = insn->id == X86_INS_SYSCALL || insn->id == X86_INS_SYSENTER;
	i->repeats = is_repeated(insn);
	if (i->kind != KIND_JUMP)
		return;
	code_decode(c, bytes, len, wide, &p);
	i->target = p.target;
}
