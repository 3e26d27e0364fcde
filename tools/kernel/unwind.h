/* SPDX-License-Identifier: GPL-2.0 */
/*
 * iosys: stacks of x86-64 programs that have no frame pointers.
 *
 * A table says for each instruction of an object (a program, a library, the vdso)
 * how to come from its frame to the caller's; ehframe.c makes it of the object's
 * .eh_frame. A frame's registers are the ones DWARF numbers.
 */
#ifndef _IOSYS_UNWIND_H
#define _IOSYS_UNWIND_H

#include <linux/bitops.h>
#include <linux/types.h>

/* DWARF's numbers of registers */
#define USTACK_RBX 3
#define USTACK_RBP 6
#define USTACK_RSP 7
#define USTACK_R12 12
#define USTACK_REGS 16
/* Not a register, but numbered like one: the return address */
#define USTACK_RA 16

/* Registers whose place a rule has: rbx, rbp, r12 to r15, and the return address */
#define USTACK_PLACES 7
#define USTACK_PLACE_RA 6

/*
 * A page of a table is this number of bits of an address: the C library has some 5 rows in
 * each, and its pages take 22 KB
 */
#define USTACK_PAGE_BITS 8
#define USTACK_PAGE_MASK ((1U << USTACK_PAGE_BITS) - 1)

/*
 * A frame in an object has the uppermost bit, below it the object's number, and in the lower
 * 32 bits the offset in the object's file. Any other frame is an address.
 */
#define USTACK_OBJECT 0x8000000000000000ULL
#define USTACK_OFFSET_BITS 32
#define USTACK_OFFSET_MASK ((1ULL << USTACK_OFFSET_BITS) - 1)

/* Largest number of an object */
#define USTACK_ID_MAX ((1U << 31) - 1)

/* Executable segments of an object that are known at most */
#define USTACK_SEGMENTS 4

/* Instructions whose rules are remembered, a power of two: they take 2 KB */
#define USTACK_SEEN_BITS 6
#define USTACK_SEEN BIT(USTACK_SEEN_BITS)

/**
 * enum ustack_cfa - how the canonical frame address is found, the caller's rsp
 * @USTACK_NONE: nothing is known of these addresses
 * @USTACK_ODD: .eh_frame says what cannot be represented here
 * @USTACK_REG: register + offset
 * @USTACK_DEREF: what is in memory at register + offset, + add
 * @USTACK_PLT: rsp + offset, and 8 more from byte add of 16 on, as in an entry of
 *	a procedure linkage table
 */
enum ustack_cfa {
	USTACK_NONE,
	USTACK_ODD,
	USTACK_REG,
	USTACK_DEREF,
	USTACK_PLT,
};

/**
 * enum ustack_place - where the caller's register is: the lower 3 bits of a place,
 *	whose other bits are an offset, -32768 to 32760, divisible by 8
 * @USTACK_AT_CFA: in memory at the canonical frame address + offset; offset 0, where
 *	nothing is ever saved: still in the register
 * @USTACK_AT_RBP: in memory at rbp + offset
 * @USTACK_AT_RSP: in memory at rsp + offset
 * @USTACK_IN_REG: in the register offset / 8
 * @USTACK_LOST: .eh_frame says what cannot be represented here
 * @USTACK_UNDEFINED: nowhere; of the return address: this is the outermost frame
 */
enum ustack_place {
	USTACK_AT_CFA,
	USTACK_AT_RBP,
	USTACK_AT_RSP,
	USTACK_IN_REG,
	USTACK_LOST = 6,
	USTACK_UNDEFINED = 7,
};

#define USTACK_PLACE_KIND 7
#define USTACK_SAME 0

/**
 * enum ustack_rule_flags - what else is known of a frame
 * @USTACK_INTERRUPTED: a signal frame: its caller was interrupted, it did not call
 * @USTACK_CONTEXT: all registers of the caller are in a struct ucontext at rsp
 * @USTACK_NEAR: USTACK_REG, all places are USTACK_AT_CFA's, and no signal frame: nearly
 *	all rules are, and have a short way
 * @USTACK_SAVED: of USTACK_NEAR: bits of the registers, by DWARF's numbers, that are
 *	not USTACK_SAME
 */
enum ustack_rule_flags {
	USTACK_INTERRUPTED = 1,
	USTACK_CONTEXT = 2,
	USTACK_NEAR = 4,
	USTACK_SAVED = 1 << USTACK_RBX | 1 << USTACK_RBP | 0xf << USTACK_R12,
};

/**
 * struct ustack_rule - from a frame to its caller's
 * @cfa: enum ustack_cfa
 * @reg: register of the canonical frame address
 * @add: see enum ustack_cfa
 * @offset: see enum ustack_cfa
 * @place: of rbx, rbp, r12 to r15 and the return address: enum ustack_place
 * @flags: enum ustack_rule_flags
 */
struct ustack_rule {
	u8 cfa;
	u8 reg;
	s16 add;
	s32 offset;
	s16 place[USTACK_PLACES];
	u16 flags;
};

/**
 * struct ustack_row - from an address on a rule holds, until the next row
 * @pc: lower bits of the address
 * @rule: which one
 */
struct ustack_row {
	u16 pc;
	u16 rule;
};

/**
 * struct ustack_segment - an executable segment of the object
 * @offset: where it begins in the file
 * @vaddr: the address it is linked for
 * @size: bytes of it in the file
 */
struct ustack_segment {
	u64 offset;
	u64 vaddr;
	u64 size;
};

/**
 * struct ustack_table - the rules for all addresses of an object; never changes
 * @base: address, as linked, that those in rows are relative to
 * @segments_nr: how many segments there are
 * @segments: the executable ones
 * @pages_nr: how many pages there are
 * @rows_nr: how many rows there are
 * @rules_nr: how many rules there are
 * @pages: the first row of each page, and behind the last page the number of all
 * @rows: all rows, by address
 * @rules: the first one is USTACK_NONE's, the second one USTACK_ODD's
 * @bytes: of memory, with all of it
 */
struct ustack_table {
	u64 base;
	u32 segments_nr;
	struct ustack_segment segments[USTACK_SEGMENTS];
	u32 pages_nr;
	u32 rows_nr;
	u32 rules_nr;
	const u32 *pages;
	const struct ustack_row *rows;
	const struct ustack_rule *rules;
	size_t bytes;
};

/**
 * enum ustack_end - why a stack ends where it does
 * @USTACK_COMPLETE: this is the outermost frame
 * @USTACK_DEEP: there is no room for more frames
 * @USTACK_NO_MAP: the return address is not in executable memory
 * @USTACK_NO_TABLE: an object without a table, and no frame pointer either
 * @USTACK_NO_RULE: a part of an object that its .eh_frame says nothing of, and no
 *	frame pointer either
 * @USTACK_ODD_RULE: USTACK_ODD, or USTACK_LOST of the return address
 * @USTACK_NO_REGISTER: the rule is about a register whose value is not known
 * @USTACK_BAD_MEMORY: memory could not be read
 * @USTACK_BAD_STACK: the caller's frame would be below this one
 * @USTACK_PENDING: the object's table is not there yet
 */
enum ustack_end {
	USTACK_COMPLETE,
	USTACK_DEEP,
	USTACK_NO_MAP,
	USTACK_NO_TABLE,
	USTACK_NO_RULE,
	USTACK_ODD_RULE,
	USTACK_NO_REGISTER,
	USTACK_BAD_MEMORY,
	USTACK_BAD_STACK,
	USTACK_PENDING,
};

/**
 * struct ustack_code - executable memory
 * @start: its first address
 * @size: bytes; 0: this is none
 * @object: ustack_object() of the object's number; 0: it has none
 * @to_file: what to add to an address for the offset in the object's file; 0: no object
 * @to_linked: what to add for the address as linked, if there is a table
 * @table: of the object; NULL: it has none
 */
struct ustack_code {
	u64 start;
	u64 size;
	u64 object;
	u64 to_file;
	u64 to_linked;
	const struct ustack_table *table;
};

/**
 * struct ustack_seen - the next instruction of a frame that was met
 * @ip: this
 * @frame: what it is among the frames
 * @rule: how to come to the caller's frame
 * @round: that of struct ustack_ops, when it was met
 * @called: it is behind a call
 */
struct ustack_seen {
	u64 ip;
	u64 frame;
	const struct ustack_rule *rule;
	u32 round;
	bool called;
};

/**
 * struct ustack_ops - the program whose stack it is
 * @find: sets what is mapped executable at an address, all of it. Returns 0; -EAGAIN when
 *	its table is not there yet, or its @object is not, which is 0 then; or another
 *	negative error when nothing is mapped executable there, and then these are 0.
 *	Not called again for addresses in what it has set for the frame before.
 * @read: reads 8 bytes of memory, at any alignment. Returns 0 or a negative error.
 * @arg: passed to both
 * @seen: USTACK_SEEN instructions that were met, by hash; or NULL
 * @round: not 0; another one than before, if @find might say something else of what was met
 *	then, or a table that it has said is gone
 */
struct ustack_ops {
	int (*find)(void *arg, u64 address, struct ustack_code *code);
	int (*read)(void *arg, u64 address, u64 *value);
	void *arg;
	struct ustack_seen *seen;
	u32 round;
};

/**
 * struct ustack_regs - registers of a thread
 * @reg: by DWARF's numbers
 * @ip: next instruction
 */
struct ustack_regs {
	u64 reg[USTACK_REGS];
	u64 ip;
};

/**
 * struct ustack_result - a stack
 * @nr: how many frames there are
 * @end: why there are no more
 * @guessed: frames that were found by frame pointers, in code without a table
 * @used: bits of registers, by DWARF's numbers, whose first values mattered
 */
struct ustack_result {
	u32 nr;
	enum ustack_end end;
	u32 guessed;
	u32 used;
};

/* What frames in an object have but for their offset */
static inline u64 ustack_object(u32 id)
{
	return USTACK_OBJECT | (u64)id << USTACK_OFFSET_BITS;
}

/* The number of the object that a frame is in, or 0 */
static inline u32 ustack_id(u64 frame)
{
	if (!(frame & USTACK_OBJECT))
		return 0;
	return frame >> USTACK_OFFSET_BITS & USTACK_ID_MAX;
}

/* Where a frame is in its object's file, or its address */
static inline u64 ustack_offset(u64 frame)
{
	return frame & USTACK_OBJECT ? frame & USTACK_OFFSET_MASK : frame;
}

const struct ustack_rule *ustack_find(const struct ustack_table *table, u64 pc);
bool ustack_linked_at(const struct ustack_table *table, u64 offset, u64 *pc);
void ustack_walk(const struct ustack_ops *ops, const struct ustack_regs *regs,
		 u64 *frames, u32 max, struct ustack_result *result);

#endif
