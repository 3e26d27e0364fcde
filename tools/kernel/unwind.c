// SPDX-License-Identifier: GPL-2.0
/*
 * iosys: stacks of x86-64 programs that have no frame pointers. See unwind.h.
 *
 * Of a caller's register it is only noted where it was saved; that is read when a
 * rule needs the value. So a frame usually costs one read, of its return address.
 *
 * Tables were checked when they were made; memory and registers may be anything.
 * A walk ends after as many steps as there is room for frames.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "unwind.h"

/*
 * mov $__NR_rt_sigreturn, %rax; syscall: what a signal handler returns to; the kernel
 * does not care, but debuggers and unwinders do, so every C library has just this.
 * The first 8 bytes as a number, and the 8 from the second on.
 */
#define SIGRETURN_0 0x0f0000000fc0c748ULL
#define SIGRETURN_1 0x050f0000000fc0c7ULL

/* Where registers are in struct ucontext, by DWARF's numbers */
static const u8 context_at[USTACK_REGS + 1] = {
	144, 136, 152, 128, 112, 104, 120, 160, 40,
	48,  56,  64,  72,  80,	 88,  96,  168,
};

/* Registers that rules have places of */
static const u8 place_of[USTACK_PLACE_RA] = {
	USTACK_RBX,	USTACK_RBP,	USTACK_R12,
	USTACK_R12 + 1, USTACK_R12 + 2, USTACK_R12 + 3,
};

/**
 * struct frame - a frame
 * @ip: next instruction
 * @reg: values of registers, or where they are in memory
 * @known: bit per register whose value is there
 * @saved: bit per register whose place is there
 * @first: bit per register whose value is that of the innermost frame
 * @used: bit per register whose value in the innermost frame was looked at
 * @called: the next instruction is behind a call
 */
struct frame {
	u64 ip;
	u64 reg[USTACK_REGS];
	u32 known;
	u32 saved;
	u32 first;
	u32 used;
	bool called;
};

/* As many as most pages have are looked at one after the other */
#define FEW_ROWS 8

/* Registers that are known of a frame that has called; those of others may be there */
#define KEPT_REGS (USTACK_SAVED | BIT(USTACK_RSP))

/* Where there is no table */
static const struct ustack_rule no_table = { .cfa = USTACK_NONE };

/**
 * ustack_find - what holds at an address
 * @table: of the object
 * @pc: address as linked
 *
 * Return: a rule; one of USTACK_NONE where nothing is known.
 */
const struct ustack_rule *ustack_find(const struct ustack_table *table, u64 pc)
{
	/* Below the first one it is a page far beyond the last one */
	u64 at = pc - table->base, page = at >> USTACK_PAGE_BITS;
	const struct ustack_row *rows = table->rows, *row, *end;
	u16 pc_low = at & USTACK_PAGE_MASK;

	if (page >= table->pages_nr)
		return &table->rules[0];
	/* The first row of those behind; the one before it may be in another page */
	row = rows + table->pages[page];
	end = rows + table->pages[page + 1];
	while (end - row > FEW_ROWS) {
		const struct ustack_row *middle = row + (end - row) / 2;

		if (middle->pc <= pc_low)
			row = middle + 1;
		else
			end = middle;
	}
	while (row < end && row->pc <= pc_low)
		row++;
	return &table->rules[row > rows ? row[-1].rule : 0];
}

/**
 * ustack_linked_at - the address that a byte of an object's file is linked for
 * @table: of the object
 * @offset: in its file
 * @pc: is set to the address
 *
 * Return: false when that byte is in no executable segment.
 */
bool ustack_linked_at(const struct ustack_table *table, u64 offset, u64 *pc)
{
	const struct ustack_segment *segment = table->segments;
	const struct ustack_segment *end = segment + table->segments_nr;

	for (; segment < end; segment++) {
		if (offset - segment->offset < segment->size) {
			*pc = offset - segment->offset + segment->vaddr;
			return true;
		}
	}
	return false;
}

static void put_known(struct frame *frame, u32 reg, u64 value)
{
	frame->reg[reg] = value;
	frame->known |= BIT(reg);
	frame->saved &= ~BIT(reg);
	frame->first &= ~BIT(reg);
}

static void put_saved(struct frame *frame, u32 reg, u64 address)
{
	frame->reg[reg] = address;
	frame->known &= ~BIT(reg);
	frame->saved |= BIT(reg);
	frame->first &= ~BIT(reg);
}

/* The value of a register, read now if it is in memory */
static enum ustack_end get(const struct ustack_ops *ops, struct frame *frame,
			   u32 reg, u64 *value)
{
	if (reg >= USTACK_REGS || (frame->called && !(KEPT_REGS & BIT(reg))))
		return USTACK_NO_REGISTER;
	if (frame->saved & BIT(reg)) {
		if (ops->read(ops->arg, frame->reg[reg], value))
			return USTACK_BAD_MEMORY;
		put_known(frame, reg, *value);
	}
	if (!(frame->known & BIT(reg)))
		return USTACK_NO_REGISTER;
	frame->used |= frame->first & BIT(reg);
	*value = frame->reg[reg];
	return USTACK_COMPLETE;
}

static enum ustack_end find_cfa(const struct ustack_ops *ops,
				struct frame *frame,
				const struct ustack_rule *rule, u64 *cfa)
{
	enum ustack_end end;
	u64 value;

	end = get(ops, frame, rule->reg, &value);
	if (end)
		return end;
	value += rule->offset;
	switch (rule->cfa) {
	case USTACK_REG:
		break;
	case USTACK_DEREF:
		if (ops->read(ops->arg, value, &value))
			return USTACK_BAD_MEMORY;
		value += rule->add;
		break;
	case USTACK_PLT:
		value += (frame->ip & 15) >= (u64)rule->add ? 8 : 0;
		break;
	default:
		return USTACK_ODD_RULE;
	}
	/* On other registers the stack may be another one */
	if (rule->reg == USTACK_RSP && rule->cfa != USTACK_DEREF &&
	    value < frame->reg[USTACK_RSP])
		return USTACK_BAD_STACK;
	*cfa = value;
	return USTACK_COMPLETE;
}

/* Where a place is in memory */
static enum ustack_end find_place(const struct ustack_ops *ops,
				  struct frame *frame, s16 place, u64 cfa,
				  u64 *address)
{
	enum ustack_end end = USTACK_COMPLETE;

	switch (place & USTACK_PLACE_KIND) {
	case USTACK_AT_CFA:
		*address = cfa;
		break;
	case USTACK_AT_RBP:
		end = get(ops, frame, USTACK_RBP, address);
		break;
	case USTACK_AT_RSP:
		*address = frame->reg[USTACK_RSP];
		break;
	default:
		return USTACK_ODD_RULE;
	}
	*address += place & ~USTACK_PLACE_KIND;
	return end;
}

/* A register of the caller that is not as it is; what is not found is not known */
static void restore(const struct ustack_ops *ops, struct frame *frame,
		    struct frame *caller, u32 reg, s16 place, u64 cfa)
{
	u64 value;

	caller->known &= ~BIT(reg);
	caller->saved &= ~BIT(reg);
	if ((place & USTACK_PLACE_KIND) == USTACK_IN_REG) {
		if (!get(ops, frame, (u16)place >> 3, &value))
			put_known(caller, reg, value);
	} else if (!find_place(ops, frame, place, cfa, &value)) {
		put_saved(caller, reg, value);
	}
}

/* The registers of the caller; usually they are as they are, or near its frame */
static void restore_all(const struct ustack_ops *ops, struct frame *frame,
			const struct ustack_rule *rule, u64 cfa)
{
	struct frame before;
	s16 kinds = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(place_of); i++)
		kinds |= rule->place[i];
	if (kinds & USTACK_PLACE_KIND)
		before = *frame;
	for (i = 0; i < ARRAY_SIZE(place_of); i++) {
		s16 place = rule->place[i];

		if (place == USTACK_SAME)
			continue;
		if (!(kinds & USTACK_PLACE_KIND))
			put_saved(frame, place_of[i], cfa + place);
		else
			restore(ops, &before, frame, place_of[i], place, cfa);
	}
	if (kinds & USTACK_PLACE_KIND)
		frame->used |= before.used;
}

static enum ustack_end return_address(const struct ustack_ops *ops,
				      struct frame *frame, s16 place, u64 cfa,
				      u64 *ip)
{
	enum ustack_end end;
	u64 address;

	if ((place & USTACK_PLACE_KIND) == USTACK_IN_REG)
		return get(ops, frame, place >> 3, ip);
	end = find_place(ops, frame, place, cfa, &address);
	if (end)
		return end;
	return ops->read(ops->arg, address, ip) ? USTACK_BAD_MEMORY :
						  USTACK_COMPLETE;
}

/* The caller was interrupted by a signal: the kernel saved it on the stack */
static enum ustack_end step_context(const struct ustack_ops *ops,
				    struct frame *frame)
{
	struct frame caller = { .used = frame->used };
	u64 context = frame->reg[USTACK_RSP];
	u32 i;

	if (ops->read(ops->arg, context + context_at[USTACK_RA], &caller.ip) ||
	    ops->read(ops->arg, context + context_at[USTACK_RSP],
		      &caller.reg[USTACK_RSP]))
		return USTACK_BAD_MEMORY;
	for (i = 0; i < USTACK_REGS; i++) {
		if (i != USTACK_RSP)
			put_saved(&caller, i, context + context_at[i]);
	}
	caller.known = BIT(USTACK_RSP);
	*frame = caller;
	return USTACK_COMPLETE;
}

/* Where a register of the caller is, if it is not where it was */
static inline void save_near(struct frame *frame,
			     const struct ustack_rule *rule, u32 place, u64 cfa)
{
	if (rule->place[place] != USTACK_SAME)
		frame->reg[place_of[place]] = cfa + rule->place[place];
}

/* The short way: all that may be needed is as it was, or in memory near the frame */
static enum ustack_end step_near(const struct ustack_ops *ops,
				 struct frame *frame,
				 const struct ustack_rule *rule)
{
	u32 saved = rule->flags & USTACK_SAVED;
	u64 cfa;

	if (rule->reg == USTACK_RSP) {
		cfa = frame->reg[USTACK_RSP] + rule->offset;
		if (cfa < frame->reg[USTACK_RSP])
			return USTACK_BAD_STACK;
	} else {
		enum ustack_end end;
		u64 value;

		end = get(ops, frame, rule->reg, &value);
		if (end)
			return end;
		cfa = value + rule->offset;
	}
	if (ops->read(ops->arg, cfa + rule->place[USTACK_PLACE_RA], &frame->ip))
		return USTACK_BAD_MEMORY;
	/* A loop would cost more than what is in it */
	if (saved) {
		frame->known &= ~saved;
		frame->saved |= saved;
		save_near(frame, rule, 0, cfa);
		save_near(frame, rule, 1, cfa);
	}
	if (saved & ~(BIT(USTACK_RBX) | BIT(USTACK_RBP))) {
		save_near(frame, rule, 2, cfa);
		save_near(frame, rule, 3, cfa);
		save_near(frame, rule, 4, cfa);
		save_near(frame, rule, 5, cfa);
	}
	/* It is known all the time, and the first one's counts as used */
	frame->reg[USTACK_RSP] = cfa;
	frame->called = true;
	return USTACK_COMPLETE;
}

static enum ustack_end step_rule(const struct ustack_ops *ops,
				 struct frame *frame,
				 const struct ustack_rule *rule)
{
	enum ustack_end end;
	u64 cfa, ip;

	if (rule->flags & USTACK_CONTEXT)
		return step_context(ops, frame);
	end = find_cfa(ops, frame, rule, &cfa);
	if (end)
		return end;
	end = return_address(ops, frame, rule->place[USTACK_PLACE_RA], cfa,
			     &ip);
	if (end)
		return end;
	restore_all(ops, frame, rule, cfa);
	put_known(frame, USTACK_RSP, cfa);
	frame->known &= KEPT_REGS;
	frame->saved &= KEPT_REGS;
	frame->ip = ip;
	frame->called = !(rule->flags & USTACK_INTERRUPTED);
	return USTACK_COMPLETE;
}

static bool at_sigreturn(const struct ustack_ops *ops, u64 ip)
{
	u64 code;

	return !ops->read(ops->arg, ip, &code) && code == SIGRETURN_0 &&
	       !ops->read(ops->arg, ip + 1, &code) && code == SIGRETURN_1;
}

/*
 * Code without a table, made at run time or by other compilers, has frame pointers
 * as often as not: rbp is where the caller's rbp is, and above it is the return
 * address. An rbp of 0 is the outermost frame's.
 */
static enum ustack_end step_pointer(const struct ustack_ops *ops,
				    struct frame *frame, enum ustack_end why)
{
	struct frame caller = { 0 };
	u64 rbp;

	if (get(ops, frame, USTACK_RBP, &rbp))
		return why;
	if (!rbp) {
		frame->ip = 0;
		return USTACK_COMPLETE;
	}
	if (rbp & 7 || rbp < frame->reg[USTACK_RSP] ||
	    ops->read(ops->arg, rbp, &caller.reg[USTACK_RBP]) ||
	    ops->read(ops->arg, rbp + 8, &caller.ip))
		return why;
	caller.used = frame->used;
	caller.known = BIT(USTACK_RBP);
	put_known(&caller, USTACK_RSP, rbp + 16);
	caller.called = true;
	*frame = caller;
	return USTACK_COMPLETE;
}

/* Where there is no table, or it says nothing */
static enum ustack_end guess(const struct ustack_ops *ops, struct frame *frame,
			     struct ustack_result *result, enum ustack_end why)
{
	enum ustack_end end;

	if (at_sigreturn(ops, frame->ip))
		return step_context(ops, frame);
	end = step_pointer(ops, frame, why);
	if (!end)
		result->guessed++;
	return end;
}

/* To the caller: its ip is 0 if there is none */
static enum ustack_end step(const struct ustack_ops *ops, struct frame *frame,
			    const struct ustack_rule *rule,
			    struct ustack_result *result)
{
	if (rule->flags & USTACK_NEAR)
		return step_near(ops, frame, rule);
	if (rule->cfa == USTACK_NONE)
		return guess(ops, frame, result,
			     rule == &no_table ? USTACK_NO_TABLE :
						 USTACK_NO_RULE);
	if (rule->place[USTACK_PLACE_RA] == USTACK_UNDEFINED) {
		frame->ip = 0;
		return USTACK_COMPLETE;
	}
	return step_rule(ops, frame, rule);
}

/* What is mapped where a frame is; it may be what it was for the one before */
static enum ustack_end find_code(const struct ustack_ops *ops,
				 const struct frame *frame,
				 struct ustack_code *code)
{
	/* A call may be the last instruction of its function */
	u64 at = frame->ip - frame->called;
	int error;

	if (at - code->start < code->size)
		return USTACK_COMPLETE;
	error = ops->find(ops->arg, at, code);
	if (error)
		return error == -EAGAIN ? USTACK_PENDING : USTACK_NO_MAP;
	return USTACK_COMPLETE;
}

/*
 * Most instructions were met before, since a program makes its calls from few places.
 * What is known of one is its rule and what it is among the frames. It is in one of two
 * places. By the lower bits those of functions that follow one another differ; a product's
 * do not.
 */
static struct ustack_seen *seen_at(const struct ustack_ops *ops, u64 ip,
				   u32 way)
{
	return &ops->seen[(ip ^ ip >> USTACK_SEEN_BITS ^ way) &
			  (USTACK_SEEN - 1)];
}

/* Another rule may hold for an instruction than for the call before it */
static bool is_of(const struct ustack_seen *seen, const struct ustack_ops *ops,
		  const struct frame *frame)
{
	return seen->ip == frame->ip && seen->round == ops->round &&
	       seen->called == frame->called;
}

/* As look_up(); false: it was not met */
static bool recall(const struct ustack_ops *ops, const struct frame *frame,
		   u64 *known_as, const struct ustack_rule **rule)
{
	const struct ustack_seen *seen;

	if (!ops->seen)
		return false;
	seen = seen_at(ops, frame->ip, 0);
	if (!is_of(seen, ops, frame)) {
		seen = seen_at(ops, frame->ip, 1);
		if (!is_of(seen, ops, frame))
			return false;
	}
	*known_as = seen->frame;
	*rule = seen->rule;
	return true;
}

static void note(const struct ustack_ops *ops, const struct frame *frame,
		 const struct ustack_rule *rule, u64 known_as)
{
	struct ustack_seen *seen;

	if (!ops->seen)
		return;
	seen = seen_at(ops, frame->ip, 0);
	if (seen->round == ops->round)
		seen = seen_at(ops, frame->ip, 1);
	*seen = (struct ustack_seen){
		.ip = frame->ip,
		.frame = known_as,
		.rule = rule,
		.round = ops->round,
		.called = frame->called,
	};
}

static u64 as_frame(const struct ustack_code *code, u64 ip)
{
	u64 at = ip + code->to_file;

	return code->object ? code->object | (u32)at : at & ~USTACK_OBJECT;
}

/* The rule of a frame, and what it is among the frames */
static enum ustack_end look_up(const struct ustack_ops *ops,
			       const struct frame *frame,
			       struct ustack_code *code, u64 *known_as,
			       const struct ustack_rule **rule)
{
	enum ustack_end end = find_code(ops, frame, code);

	*known_as = as_frame(code, frame->ip);
	if (end)
		return end;
	*rule = &no_table;
	if (!code->table)
		return USTACK_COMPLETE;
	*rule = ustack_find(code->table,
			    frame->ip - frame->called + code->to_linked);
	note(ops, frame, *rule, *known_as);
	return USTACK_COMPLETE;
}

/**
 * ustack_walk - the stack of a thread
 * @ops: the program
 * @regs: the thread's registers
 * @frames: the next instruction of each frame, from the innermost to the outermost:
 *	see USTACK_OBJECT
 * @max: room in @frames, not 0
 * @result: how many there are, and why no more
 *
 * A frame whose next instruction is not in executable memory is left out, unless it
 * is the first one: that is an address, of no object. @ops' functions are called at
 * most 32 times for a frame.
 */
void ustack_walk(const struct ustack_ops *ops, const struct ustack_regs *regs,
		 u64 *frames, u32 max, struct ustack_result *result)
{
	struct ustack_code code = { 0 };
	struct frame frame = {
		.ip = regs->ip,
		.known = BIT(USTACK_REGS) - 1,
		.first = BIT(USTACK_REGS) - 1,
		/* It is where the stack begins */
		.used = BIT(USTACK_RSP),
	};
	enum ustack_end end = USTACK_COMPLETE;
	const struct ustack_rule *rule;
	u32 nr = 0;

	memcpy(frame.reg, regs->reg, sizeof(frame.reg));
	result->guessed = 0;
	do {
		if (nr == max) {
			end = USTACK_DEEP;
			break;
		}
		if (!recall(ops, &frame, &frames[nr], &rule)) {
			end = look_up(ops, &frame, &code, &frames[nr], &rule);
			if (nr &&
			    (end == USTACK_NO_MAP || (end && !code.object)))
				break;
		}
		nr++;
		if (!end)
			end = step(ops, &frame, rule, result);
	} while (!end && frame.ip);
	result->nr = nr;
	result->end = end;
	result->used = frame.used;
}
