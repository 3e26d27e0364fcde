// SPDX-License-Identifier: GPL-2.0
/*
 * iosys: makes a table for unwinding of an object's .eh_frame.
 *
 * The object is an ELF file for x86-64, or something that looks like one. Its
 * PT_GNU_EH_FRAME segment has a sorted list of functions and of their frame
 * descriptions (FDE), which refer to common ones (CIE). Each is a program that says
 * what changes from one instruction to the next; it is run once, and each state
 * it comes through is a row. Few states differ: rows have numbers of rules, each
 * of which is there once.
 *
 * Nothing that is read is trusted. A structure that is wrong (an offset out of its
 * segment, a list that is not sorted) ends it with -EINVAL. So what a table has is
 * sorted, and of addresses in the object's executable segments. What .eh_frame can
 * say and a rule cannot, is USTACK_ODD from there to the end of the function.
 *
 * The file may have been made to be expensive: descriptions that overlap, so that a byte is
 * an instruction of each of them, rules with the same hash, descriptions far from each
 * other, segments full of notes. So all that is done for a file is counted, in steps of
 * about a memory access, and there are no more than its size allows. Time and memory are
 * bounded by these and struct ehframe_caps.
 *
 * Expressions are compared byte by byte with those that linkers, compilers and
 * C libraries make.
 */
#include <linux/bitops.h>
#include <linux/elf.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "ehframe.h"

#ifndef PT_GNU_EH_FRAME
#define PT_GNU_EH_FRAME 0x6474e550
#endif

/* How pointers are encoded: the lower 4 bits, and what they are relative to */
#define PE_ABSPTR 0x00
#define PE_UDATA2 0x02
#define PE_UDATA4 0x03
#define PE_UDATA8 0x04
#define PE_SDATA2 0x0a
#define PE_SDATA4 0x0b
#define PE_SDATA8 0x0c
#define PE_FORMAT 0x0f
#define PE_PCREL 0x10
#define PE_DATAREL 0x30
#define PE_RELATIVE 0x70
#define PE_INDIRECT 0x80

/* Instructions of a frame's description; the first three have an operand in them */
#define CFA_ADVANCE_LOC 0x40
#define CFA_OFFSET 0x80
#define CFA_RESTORE 0xc0
#define CFA_OPERAND 0x3f
#define CFA_NOP 0x00
#define CFA_SET_LOC 0x01
#define CFA_ADVANCE_LOC1 0x02
#define CFA_ADVANCE_LOC2 0x03
#define CFA_ADVANCE_LOC4 0x04
#define CFA_OFFSET_EXTENDED 0x05
#define CFA_RESTORE_EXTENDED 0x06
#define CFA_UNDEFINED 0x07
#define CFA_SAME_VALUE 0x08
#define CFA_REGISTER 0x09
#define CFA_REMEMBER_STATE 0x0a
#define CFA_RESTORE_STATE 0x0b
#define CFA_DEF_CFA 0x0c
#define CFA_DEF_CFA_REGISTER 0x0d
#define CFA_DEF_CFA_OFFSET 0x0e
#define CFA_DEF_CFA_EXPRESSION 0x0f
#define CFA_EXPRESSION 0x10
#define CFA_OFFSET_EXTENDED_SF 0x11
#define CFA_DEF_CFA_SF 0x12
#define CFA_DEF_CFA_OFFSET_SF 0x13
#define CFA_VAL_OFFSET 0x14
#define CFA_VAL_OFFSET_SF 0x15
#define CFA_VAL_EXPRESSION 0x16
#define CFA_GNU_ARGS_SIZE 0x2e
#define CFA_GNU_NEGATIVE_OFFSET_EXTENDED 0x2f

/* Operations of expressions */
#define OP_DEREF 0x06
#define OP_PLUS_UCONST 0x23
#define OP_LIT0 0x30
#define OP_BREG0 0x70

/* Longest expression that is looked at, states that are remembered, CIEs that are kept */
#define EXPRESSION_MAX 24
#define STATES_MAX 8
#define CIES_KEPT 8

/* Bytes that are read at a time, and program headers of a file at most */
#define WINDOW 4096
#define HEADERS_MAX 64

/* A note: two lengths and its type; a build ID's name */
#define NOTE_HEAD 12
#define NOTE_BUILD_ID 3
#define NOTE_NAME "GNU"

/* Bytes from the first instruction to the last one at most: their pages take 16 MiB */
#define CODE_MAX 0x40000000U

/* Registers of struct ucontext in a signal frame, from rsp on, by DWARF's numbers */
static const u8 context_at[USTACK_REGS + 1] = {
	144, 136, 152, 128, 112, 104, 120, 160, 40,
	48,  56,  64,  72,  80,	 88,  96,  168,
};

#define CONTEXT_ALL (BIT(USTACK_REGS + 1) - 1)

/*
 * Charged to the caller's memcg, and failing rather than killing for it: a program may
 * do without its table
 */
#define EHFRAME_GFP (GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)

/* Enough for the largest programs, some 300 MiB of code, and what compilers make */
const struct ehframe_caps ehframe_caps_default = {
	.functions = 1 << 20,
	.rows = 1 << 22,
	.rules = EHFRAME_RULES_MAX,
	.work = 1 << 24,
	.base = 1 << 16,
	.bytes = 8,
};

/**
 * struct state - what holds at an instruction
 * @rule: the rule
 * @context: bits of registers that are where struct ucontext has them
 * @odd: something was said that a rule cannot represent
 */
struct state {
	struct ustack_rule rule;
	u32 context;
	bool odd;
};

/**
 * struct cie - a common description
 * @offset: where it is in the file; 0: there is none, since the ELF header is there
 * @code_align: what locations are multiplied with
 * @data_align: what offsets are multiplied with
 * @encoding: of addresses
 * @augmented: descriptions have a length of augmentation data
 * @signal: its functions are signal frames
 * @state: the first one of its functions
 */
struct cie {
	u64 offset;
	u64 code_align;
	s64 data_align;
	u8 encoding;
	bool augmented;
	bool signal;
	struct state state;
};

/**
 * struct window - some bytes of the file
 * @at: offset of the first one
 * @len: how many there are
 * @bytes: these
 */
struct window {
	u64 at;
	u32 len;
	u8 bytes[WINDOW];
};

/**
 * struct cursor - where something is read
 * @window: through which
 * @at: offset in the file
 * @end: where it ends
 */
struct cursor {
	struct window *window;
	u64 at;
	u64 end;
};

/**
 * struct segment - what is known of a segment of the file
 * @offset: where it begins
 * @vaddr: the address it is linked for
 * @size: bytes of it in the file
 */
struct segment {
	u64 offset;
	u64 vaddr;
	u64 size;
};

/**
 * struct builder - an object being compiled
 * @source: the object
 * @caps: when to give up
 * @report: what came of it
 * @error: the first error, 0 or negative
 * @work_max: steps that there are for this file
 * @list: window for the list of functions
 * @data: window for everything else
 * @hdr: the list of functions
 * @eh: the segment that .eh_frame is in
 * @cies: the last ones that were needed
 * @next_cie: which one makes place
 * @segments: executable segments
 * @segments_nr: how many there are
 * @base: address that rows are relative to
 * @limit: first address that is behind all executable segments
 * @pages: first row of each page; there is room for one more
 * @pages_nr: how many have begun
 * @rows: the rows
 * @rows_nr: how many there are
 * @rows_room: how many there is room for
 * @last: address of the last one, relative to @base
 * @rules: the rules
 * @rules_nr: how many there are
 * @rules_room: how many there is room for
 * @hash: numbers of rules + 1, by their hashes; 0: free
 * @hash_bits: a power of two of them
 * @remembered: states
 * @held: bytes of memory that the source counts for it
 */
struct builder {
	const struct ehframe_source *source;
	const struct ehframe_caps *caps;
	struct ehframe_report *report;
	int error;
	u64 work_max;
	struct window list;
	struct window data;
	struct segment hdr;
	struct segment eh;
	struct cie cies[CIES_KEPT];
	u32 next_cie;
	struct ustack_segment segments[USTACK_SEGMENTS];
	u32 segments_nr;
	u64 base;
	u64 limit;
	u32 *pages;
	u32 pages_nr;
	struct ustack_row *rows;
	u32 rows_nr;
	u32 rows_room;
	u64 last;
	struct ustack_rule *rules;
	u32 rules_nr;
	u32 rules_room;
	u32 *hash;
	u32 hash_bits;
	struct state remembered[STATES_MAX];
	size_t held;
};

/* --- bytes of the file */

/* The first error stays; returns false, for callers that ask whether to go on */
static bool fail(struct builder *b, int error, u64 offset, const char *reason)
{
	if (!b->error) {
		b->error = error;
		b->report->offset = offset;
		b->report->reason = reason;
	}
	return false;
}

/* Whether there are as many steps left */
static bool spend(struct builder *b, u64 steps)
{
	u64 before = b->report->work, after = before + steps;
	int error;

	b->report->work = after;
	if (after > b->work_max)
		return fail(b, -E2BIG, 0, "it costs too much for its size");
	if (before / EHFRAME_PAUSE == after / EHFRAME_PAUSE ||
	    !b->source->pause)
		return true;
	error = b->source->pause(b->source->arg);
	return error ? fail(b, error, 0, "given up") : true;
}

/* Bytes of the file, of which there are at most WINDOW; NULL after an error */
static const u8 *bytes_at(struct builder *b, struct window *window, u64 offset,
			  u32 len)
{
	u64 size = b->source->size;
	int error;

	if (offset >= window->at && len <= window->len &&
	    offset - window->at <= window->len - len)
		return window->bytes + (offset - window->at);
	if (offset > size || len > size - offset) {
		fail(b, -EINVAL, offset, "the file ends here");
		return NULL;
	}
	window->at = offset;
	window->len = min_t(u64, WINDOW, size - offset);
	if (!spend(b, window->len / 64)) {
		window->len = 0;
		return NULL;
	}
	error = b->source->read(b->source->arg, offset, window->bytes,
				window->len);
	if (error) {
		window->len = 0;
		fail(b, error, offset, "cannot be read");
		return NULL;
	}
	return window->bytes;
}

/* The next bytes, all 0 when there are none */
static const u8 *next_bytes(struct builder *b, struct cursor *cursor, u32 len)
{
	static const u8 nothing[8];
	const u8 *bytes;

	if (b->error)
		return nothing;
	if (len > cursor->end - cursor->at) {
		fail(b, -EINVAL, cursor->at, "a description ends too early");
		return nothing;
	}
	bytes = bytes_at(b, cursor->window, cursor->at, len);
	cursor->at += len;
	return bytes ? bytes : nothing;
}

static u8 read_u8(struct builder *b, struct cursor *cursor)
{
	return *next_bytes(b, cursor, 1);
}

static u32 read_u32(struct builder *b, struct cursor *cursor)
{
	return get_unaligned_le32(next_bytes(b, cursor, 4));
}

static void skip(struct builder *b, struct cursor *cursor, u64 len)
{
	if (len > cursor->end - cursor->at)
		fail(b, -EINVAL, cursor->at, "a description ends too early");
	else
		cursor->at += len;
}

/* A LEB128 number of up to 64 bits, with its sign's bits when it has one */
static u64 read_leb(struct builder *b, struct cursor *cursor, bool is_signed)
{
	u64 value = 0;
	u32 shift;
	u8 byte;

	for (shift = 0; shift < 64; shift += 7) {
		byte = read_u8(b, cursor);
		value |= (u64)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (is_signed && byte & 0x40 && shift + 7 < 64)
			value |= U64_MAX << (shift + 7);
		return value;
	}
	fail(b, -EINVAL, cursor->at, "a number has too many bytes");
	return 0;
}

static u64 read_uleb(struct builder *b, struct cursor *cursor)
{
	return read_leb(b, cursor, false);
}

static s64 read_sleb(struct builder *b, struct cursor *cursor)
{
	return read_leb(b, cursor, true);
}

/* An address or, with the format alone, a length; vaddr - offset is @delta here */
static u64 read_pointer(struct builder *b, struct cursor *cursor, u8 encoding,
			u64 delta)
{
	u64 here = cursor->at + delta, value;

	switch (encoding & PE_FORMAT) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		value = get_unaligned_le64(next_bytes(b, cursor, 8));
		break;
	case PE_UDATA4:
		value = read_u32(b, cursor);
		break;
	case PE_SDATA4:
		value = (s64)(s32)read_u32(b, cursor);
		break;
	case PE_UDATA2:
		value = get_unaligned_le16(next_bytes(b, cursor, 2));
		break;
	case PE_SDATA2:
		value = (s64)(s16)get_unaligned_le16(next_bytes(b, cursor, 2));
		break;
	default:
		fail(b, -EINVAL, cursor->at,
		     "an unknown encoding of addresses");
		return 0;
	}
	switch (encoding & PE_RELATIVE) {
	case 0:
		return value;
	case PE_PCREL:
		return value + here;
	case PE_DATAREL:
		return value + b->hdr.vaddr;
	default:
		fail(b, -EINVAL, cursor->at,
		     "an unknown encoding of addresses");
		return 0;
	}
}

/* --- memory, which the source has counted as long as it is held */

static void *allocate(struct builder *b, u64 nr, size_t size)
{
	size_t bytes = nr * size;
	int error = 0;
	void *memory;

	if (b->source->hold)
		error = b->source->hold(b->source->arg, bytes);
	if (error) {
		fail(b, error, 0,
		     error == -E2BIG ? "it takes too much memory" :
				       "builds hold too much memory");
		return NULL;
	}
	b->held += bytes;
	memory = kvmalloc(bytes, EHFRAME_GFP);
	if (!memory)
		fail(b, -ENOMEM, 0, "no memory");
	return memory;
}

static void give_back(struct builder *b, size_t bytes)
{
	if (b->source->hold)
		b->source->hold(b->source->arg, -(long)bytes);
	b->held -= bytes;
}

/* --- rows and rules */

/* Room for one more of @nr things of @size bytes; what was there is moved */
static void *grow(struct builder *b, void *things, u32 nr, u32 *room, u32 max,
		  u32 size)
{
	u32 more = min_t(u32, max, *room ? 2 * *room : 256);
	void *larger;

	if (!spend(b, (u64)nr * size / 64))
		return things;
	larger = allocate(b, more, size);
	if (!larger)
		return things;
	if (things)
		memcpy(larger, things, (size_t)nr * size);
	kvfree(things);
	give_back(b, (size_t)*room * size);
	*room = more;
	return larger;
}

static u32 hash_of(const struct ustack_rule *rule)
{
	u64 hash = 0, word;
	u32 i;

	for (i = 0; i < sizeof(*rule); i += sizeof(word)) {
		memcpy(&word, (const u8 *)rule + i, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	return hash;
}

/* Where a rule is in the hash table, or where it would be; NULL after an error */
static u32 *hash_slot(struct builder *b, const struct ustack_rule *rule)
{
	u32 mask = (1U << b->hash_bits) - 1, i = hash_of(rule) & mask;

	while (b->hash[i] &&
	       memcmp(&b->rules[b->hash[i] - 1], rule, sizeof(*rule))) {
		if (!spend(b, 1))
			return NULL;
		i = (i + 1) & mask;
	}
	return &b->hash[i];
}

/* A larger hash table, not more than half full */
static bool rehash(struct builder *b)
{
	u32 bits = b->hash_bits ? b->hash_bits + 1 : 9, *slot, i;
	u32 *larger = allocate(b, 1U << bits, sizeof(*larger));

	if (!larger)
		return false;
	memset(larger, 0, sizeof(*larger) << bits);
	kvfree(b->hash);
	if (b->hash_bits)
		give_back(b, sizeof(*b->hash) << b->hash_bits);
	b->hash = larger;
	b->hash_bits = bits;
	for (i = 0; i < b->rules_nr && spend(b, 1); i++) {
		slot = hash_slot(b, &b->rules[i]);
		if (!slot)
			break;
		*slot = i + 1;
	}
	return !b->error;
}

/* The number of a rule; USTACK_ODD's when there are too many, or after an error */
static u32 number_of(struct builder *b, const struct ustack_rule *rule)
{
	u32 *slot = hash_slot(b, rule);

	if (!slot)
		return USTACK_ODD;
	if (*slot)
		return *slot - 1;
	if (b->rules_nr >= b->caps->rules)
		return USTACK_ODD;
	if (b->rules_nr == b->rules_room) {
		b->rules = grow(b, b->rules, b->rules_nr, &b->rules_room,
				b->caps->rules, sizeof(*b->rules));
		if (b->error)
			return USTACK_ODD;
	}
	b->rules[b->rules_nr++] = *rule;
	*slot = b->rules_nr;
	if (b->rules_nr > 1U << (b->hash_bits - 1) && !rehash(b))
		return USTACK_ODD;
	return b->rules_nr - 1;
}

/* From @pc on, which is not before the last row, a rule holds */
static void add_row(struct builder *b, u64 pc, u32 rule)
{
	u64 at = pc - b->base, page = at >> USTACK_PAGE_BITS;

	if (b->error)
		return;
	/* This one is of no instruction; a page's first row stays one of its own */
	if (b->rows_nr && at == b->last) {
		b->rows[b->rows_nr - 1].rule = rule;
		return;
	}
	if (b->rows_nr && b->rows[b->rows_nr - 1].rule == rule)
		return;
	if (b->rows_nr == b->rows_room) {
		if (b->rows_nr >= b->caps->rows) {
			fail(b, -E2BIG, 0, "too many rows");
			return;
		}
		b->rows = grow(b, b->rows, b->rows_nr, &b->rows_room,
			       b->caps->rows, sizeof(*b->rows));
		if (b->error)
			return;
	}
	if (page > b->pages_nr && !spend(b, (page - b->pages_nr) / 16))
		return;
	while (b->pages_nr <= page)
		b->pages[b->pages_nr++] = b->rows_nr;
	b->rows[b->rows_nr].pc = at & USTACK_PAGE_MASK;
	b->rows[b->rows_nr++].rule = rule;
	b->last = at;
}

static void add_state(struct builder *b, u64 pc, const struct state *state)
{
	u32 rule = USTACK_ODD;

	if (!state->odd && state->rule.cfa != USTACK_ODD)
		rule = number_of(b, &state->rule);
	if (rule == USTACK_ODD)
		b->report->odd++;
	add_row(b, pc, rule);
}

/* --- rules of registers */

/* A register's index in a rule's places; -1: it has none */
static int index_of(u64 reg)
{
	switch (reg) {
	case USTACK_RBX:
		return 0;
	case USTACK_RBP:
		return 1;
	case USTACK_RA:
		return USTACK_PLACE_RA;
	default:
		if (reg >= USTACK_R12 && reg < USTACK_REGS)
			return reg - USTACK_R12 + 2;
		return -1;
	}
}

/* A place in memory as a number, if it can be one */
static s16 place_at(enum ustack_place kind, s64 offset)
{
	if (offset & 7 || offset < -32768 || offset > 32767)
		return USTACK_LOST;
	/* That would be USTACK_SAME */
	if (kind == USTACK_AT_CFA && !offset)
		return USTACK_LOST;
	return offset | kind;
}

static void set_place(struct state *state, u64 reg, s16 place)
{
	int i = index_of(reg);

	/* The place of a return address is never the one that it has anyway */
	if (i == USTACK_PLACE_RA && place == USTACK_SAME)
		place = USTACK_LOST;
	if (i >= 0)
		state->rule.place[i] = place;
	else if (reg == USTACK_RSP && place != USTACK_SAME)
		state->odd = true;
	if (reg <= USTACK_RA)
		state->context &= ~BIT(reg);
}

static void set_offset(struct state *state, u64 reg, s64 offset)
{
	set_place(state, reg, place_at(USTACK_AT_CFA, offset));
}

static void set_register(struct state *state, u64 reg, u64 from)
{
	set_place(state, reg,
		  from < USTACK_REGS ? (s16)(from << 3 | USTACK_IN_REG) :
				       USTACK_LOST);
}

/* As the functions of a CIE begin */
static void restore_place(struct state *state, const struct cie *cie, u64 reg)
{
	int i = index_of(reg);

	if (i >= 0)
		state->rule.place[i] = cie->state.rule.place[i];
	if (reg <= USTACK_RA) {
		state->context &= ~BIT(reg);
		state->context |= cie->state.context & BIT(reg);
	}
}

static void set_cfa(struct state *state, enum ustack_cfa cfa, u64 reg,
		    s64 offset, s64 add)
{
	struct ustack_rule *rule = &state->rule;

	rule->cfa = cfa;
	if (reg >= USTACK_REGS || offset < S32_MIN || offset > S32_MAX ||
	    add < -32768 || add > 32767) {
		rule->cfa = USTACK_ODD;
		return;
	}
	rule->reg = reg;
	rule->offset = offset;
	rule->add = add;
}

/* --- expressions */

/**
 * struct expression - an expression, with what is behind it 0
 * @byte: these
 * @len: how many there are
 */
struct expression {
	u8 byte[EXPRESSION_MAX + 2];
	u32 len;
};

/* Expressions that are too long are empty */
static void read_expression(struct builder *b, struct cursor *cursor,
			    struct expression *expression)
{
	u64 len = read_uleb(b, cursor);
	u32 i;

	memset(expression, 0, sizeof(*expression));
	if (len > EXPRESSION_MAX) {
		skip(b, cursor, len);
		return;
	}
	for (i = 0; i < len; i++)
		expression->byte[i] = read_u8(b, cursor);
	expression->len = len;
}

/* A number in it, of which up to 5 bytes are looked at */
static bool expression_leb(const struct expression *expression, u32 *at,
			   bool is_signed, s64 *value)
{
	u32 shift;
	u8 byte;

	*value = 0;
	for (shift = 0; shift < 35 && *at < expression->len; shift += 7) {
		byte = expression->byte[(*at)++];
		*value |= (u64)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (is_signed && byte & 0x40)
			*value |= (s64)(U64_MAX << (shift + 7));
		return true;
	}
	return false;
}

/* Does it begin with a register's value plus an offset? */
static bool begins_with_register(const struct expression *expression, u32 *at,
				 u64 *reg, s64 *offset)
{
	*at = 1;
	*reg = expression->byte[0] - OP_BREG0;
	return expression->len && expression->byte[0] >= OP_BREG0 &&
	       *reg < USTACK_REGS &&
	       expression_leb(expression, at, true, offset);
}

/* rsp + 8 + ((rip & 15) >= LIT) << 3, as linkers say it for entries of a PLT */
static bool is_plt(const struct expression *expression)
{
	static const u8 begin[] = { 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a };
	static const u8 end[] = { 0x2a, 0x33, 0x24, 0x22 };
	u8 literal = expression->byte[sizeof(begin)];

	return expression->len == sizeof(begin) + 1 + sizeof(end) &&
	       !memcmp(expression->byte, begin, sizeof(begin)) &&
	       literal >= OP_LIT0 && literal < OP_LIT0 + 16 &&
	       !memcmp(expression->byte + sizeof(begin) + 1, end, sizeof(end));
}

static void set_cfa_expression(struct state *state,
			       const struct expression *expression)
{
	u64 reg;
	s64 offset, add = 0;
	u32 at;

	if (is_plt(expression)) {
		set_cfa(state, USTACK_PLT, USTACK_RSP, 8,
			expression->byte[6] - OP_LIT0);
		return;
	}
	state->rule.cfa = USTACK_ODD;
	if (!begins_with_register(expression, &at, &reg, &offset))
		return;
	if (at == expression->len) {
		set_cfa(state, USTACK_REG, reg, offset, 0);
		return;
	}
	if (expression->byte[at++] != OP_DEREF)
		return;
	if (at < expression->len) {
		if (expression->byte[at++] != OP_PLUS_UCONST ||
		    !expression_leb(expression, &at, false, &add))
			return;
	}
	if (at == expression->len)
		set_cfa(state, USTACK_DEREF, reg, offset, add);
}

/* A register is in memory where an expression says */
static void set_expression(struct state *state, u64 reg,
			   const struct expression *expression)
{
	s16 place = USTACK_LOST;
	s64 offset = 0;
	u64 from;
	u32 at;
	bool simple;

	simple = begins_with_register(expression, &at, &from, &offset) &&
		 at == expression->len;
	if (simple && from == USTACK_RBP)
		place = place_at(USTACK_AT_RBP, offset);
	else if (simple && from == USTACK_RSP)
		place = place_at(USTACK_AT_RSP, offset);
	/* rsp is the canonical frame address, which is said in its own way */
	if (reg != USTACK_RSP)
		set_place(state, reg, place);
	if (simple && from == USTACK_RSP && reg <= USTACK_RA &&
	    offset == context_at[reg])
		state->context |= BIT(reg);
	else if (reg == USTACK_RSP)
		state->odd = true;
}

/* --- programs */

/**
 * struct program - a description's program
 * @cursor: its instructions
 * @cie: the common description
 * @common: this is the CIE's own
 * @delta: from offsets in the file to addresses
 * @pc: the address that @state is of
 * @end: first address that is not its own
 * @state: what holds
 * @depth: how many states are remembered
 */
struct program {
	struct cursor cursor;
	const struct cie *cie;
	bool common;
	u64 delta;
	u64 pc;
	u64 end;
	struct state state;
	u32 depth;
};

/* Is all of it in memory near the canonical frame address, or as it is? */
static u16 near_flags(const struct ustack_rule *rule)
{
	static const u8 regs[USTACK_PLACE_RA] = {
		USTACK_RBX,	USTACK_RBP,	USTACK_R12,
		USTACK_R12 + 1, USTACK_R12 + 2, USTACK_R12 + 3,
	};
	u16 flags = USTACK_NEAR;
	u32 i;

	if (rule->cfa != USTACK_REG)
		return 0;
	for (i = 0; i < USTACK_PLACES; i++) {
		if ((rule->place[i] & USTACK_PLACE_KIND) != USTACK_AT_CFA)
			return 0;
		if (i != USTACK_PLACE_RA && rule->place[i] != USTACK_SAME)
			flags |= BIT(regs[i]);
	}
	return flags;
}

/* A frame of a signal that says all registers are in a struct ucontext */
static void finish_state(struct program *program)
{
	struct state *state = &program->state;
	const struct ustack_rule *rule = &state->rule;
	bool context = program->cie->signal && state->context == CONTEXT_ALL &&
		       rule->cfa == USTACK_DEREF && rule->reg == USTACK_RSP &&
		       rule->offset == context_at[USTACK_RSP] && !rule->add;

	/* rsp was said to be there, and that is not the canonical frame address */
	if (state->context & BIT(USTACK_RSP) && !context)
		state->odd = true;
	if (!program->cie->signal)
		state->rule.flags = near_flags(rule);
	else
		state->rule.flags = USTACK_INTERRUPTED |
				    (context ? USTACK_CONTEXT : 0);
}

/* The state is over; false: so is the function */
static bool advance(struct builder *b, struct program *program, u64 pc)
{
	if (program->common || pc < program->pc)
		return fail(b, -EINVAL, program->cursor.at,
			    "a location that is not behind the one before it");
	if (pc == program->pc)
		return true;
	finish_state(program);
	add_state(b, program->pc, &program->state);
	program->pc = pc;
	return pc < program->end;
}

static bool advance_by(struct builder *b, struct program *program, u64 steps)
{
	u64 by;

	if (__builtin_mul_overflow(steps, program->cie->code_align, &by) ||
	    by > U32_MAX)
		by = U32_MAX;
	return advance(b, program, program->pc + by);
}

/* What cannot be represented: the rest of the function is odd */
static bool odd(struct builder *b, struct program *program)
{
	program->state.odd = true;
	if (!program->common && program->pc < program->end)
		add_state(b, program->pc, &program->state);
	return false;
}

static bool remember(struct builder *b, struct program *program)
{
	if (program->depth == STATES_MAX)
		return odd(b, program);
	b->remembered[program->depth++] = program->state;
	return true;
}

static bool recall(struct builder *b, struct program *program)
{
	if (!program->depth)
		return fail(b, -EINVAL, program->cursor.at,
			    "a state is restored that was not remembered");
	program->state = b->remembered[--program->depth];
	return true;
}

/* Factored offsets: one that does not fit in 64 bits is no offset */
static s64 factored(struct program *program, s64 offset)
{
	s64 value;

	if (__builtin_mul_overflow(offset, program->cie->data_align, &value))
		return S64_MAX;
	return value;
}

/* Those about the canonical frame address */
static bool run_cfa(struct builder *b, struct program *program, u8 code)
{
	struct cursor *cursor = &program->cursor;
	struct state *state = &program->state;
	struct expression expression;
	u64 reg = state->rule.reg;
	s64 offset = state->rule.offset;

	switch (code) {
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_REGISTER:
		reg = read_uleb(b, cursor);
		break;
	case CFA_DEF_CFA_EXPRESSION:
		read_expression(b, cursor, &expression);
		set_cfa_expression(state, &expression);
		return true;
	}
	switch (code) {
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_OFFSET:
		offset = read_uleb(b, cursor);
		break;
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_OFFSET_SF:
		offset = factored(program, read_sleb(b, cursor));
		break;
	}
	/* Half of what is no sum cannot be replaced */
	if (code != CFA_DEF_CFA && code != CFA_DEF_CFA_SF &&
	    state->rule.cfa != USTACK_REG)
		return odd(b, program);
	set_cfa(state, USTACK_REG, reg, offset, 0);
	return true;
}

/* Those about other registers */
static bool run_register(struct builder *b, struct program *program, u8 code)
{
	struct cursor *cursor = &program->cursor;
	struct state *state = &program->state;
	struct expression expression;
	u64 reg = read_uleb(b, cursor);

	switch (code) {
	case CFA_OFFSET_EXTENDED:
		set_offset(state, reg, factored(program, read_uleb(b, cursor)));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		set_offset(state, reg, factored(program, read_sleb(b, cursor)));
		break;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set_offset(state, reg,
			   factored(program, -read_uleb(b, cursor)));
		break;
	case CFA_RESTORE_EXTENDED:
		restore_place(state, program->cie, reg);
		break;
	case CFA_UNDEFINED:
		set_place(state, reg, USTACK_UNDEFINED);
		break;
	case CFA_SAME_VALUE:
		set_place(state, reg, USTACK_SAME);
		break;
	case CFA_REGISTER:
		set_register(state, reg, read_uleb(b, cursor));
		break;
	case CFA_EXPRESSION:
		read_expression(b, cursor, &expression);
		set_expression(state, reg, &expression);
		break;
	case CFA_VAL_EXPRESSION:
		read_expression(b, cursor, &expression);
		set_place(state, reg, USTACK_LOST);
		break;
	default: /* CFA_VAL_OFFSET, CFA_VAL_OFFSET_SF */
		read_uleb(b, cursor);
		set_place(state, reg, USTACK_LOST);
		break;
	}
	return true;
}

static bool run_location(struct builder *b, struct program *program, u8 code)
{
	struct cursor *cursor = &program->cursor;

	switch (code) {
	case CFA_SET_LOC:
		return advance(b, program,
			       read_pointer(b, cursor, program->cie->encoding,
					    program->delta));
	case CFA_ADVANCE_LOC1:
		return advance_by(b, program, read_u8(b, cursor));
	case CFA_ADVANCE_LOC2:
		return advance_by(b, program,
				  get_unaligned_le16(next_bytes(b, cursor, 2)));
	default:
		return advance_by(b, program, read_u32(b, cursor));
	}
}

/* One instruction; false: the rest does not matter */
static bool run_instruction(struct builder *b, struct program *program)
{
	struct cursor *cursor = &program->cursor;
	u8 code = read_u8(b, cursor), operand = code & CFA_OPERAND;

	switch (code & ~CFA_OPERAND) {
	case CFA_ADVANCE_LOC:
		return advance_by(b, program, operand);
	case CFA_OFFSET:
		set_offset(&program->state, operand,
			   factored(program, read_uleb(b, cursor)));
		return true;
	case CFA_RESTORE:
		restore_place(&program->state, program->cie, operand);
		return true;
	}
	switch (code) {
	case CFA_NOP:
		return true;
	case CFA_GNU_ARGS_SIZE:
		read_uleb(b, cursor);
		return true;
	case CFA_SET_LOC:
	case CFA_ADVANCE_LOC1:
	case CFA_ADVANCE_LOC2:
	case CFA_ADVANCE_LOC4:
		return run_location(b, program, code);
	case CFA_REMEMBER_STATE:
		return remember(b, program);
	case CFA_RESTORE_STATE:
		return recall(b, program);
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
	case CFA_DEF_CFA_EXPRESSION:
		return run_cfa(b, program, code);
	case CFA_OFFSET_EXTENDED:
	case CFA_OFFSET_EXTENDED_SF:
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
	case CFA_RESTORE_EXTENDED:
	case CFA_UNDEFINED:
	case CFA_SAME_VALUE:
	case CFA_REGISTER:
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
		return run_register(b, program, code);
	default:
		return odd(b, program);
	}
}

/* All of a program; the last state is left to the caller */
static bool run(struct builder *b, struct program *program)
{
	while (program->cursor.at < program->cursor.end) {
		if (!spend(b, 1))
			return false;
		if (!run_instruction(b, program) || b->error)
			return false;
	}
	return true;
}

/* --- descriptions */

/* The length of a description, and then a cursor over what follows it */
static bool open_description(struct builder *b, u64 offset,
			     struct cursor *cursor)
{
	u32 len;

	cursor->window = &b->data;
	cursor->at = offset;
	cursor->end = b->eh.offset + b->eh.size;
	if (offset < b->eh.offset || offset >= cursor->end)
		return fail(b, -EINVAL, offset,
			    "a description that is not in .eh_frame");
	len = read_u32(b, cursor);
	if (len < 4 || len > cursor->end - cursor->at)
		return fail(b, -EINVAL, offset,
			    "the length of a description is wrong");
	cursor->end = cursor->at + len;
	return !b->error;
}

/* What the letters of an augmentation string say */
static void read_augmentation(struct builder *b, struct cursor *cursor,
			      struct cie *cie, const u8 *letters)
{
	u64 end;
	u8 encoding;

	if (!letters[0])
		return;
	if (letters[0] != 'z') {
		fail(b, -EINVAL, cursor->at, "an unknown augmentation");
		return;
	}
	cie->augmented = true;
	end = read_uleb(b, cursor);
	if (end > cursor->end - cursor->at) {
		fail(b, -EINVAL, cursor->at, "a description ends too early");
		return;
	}
	end += cursor->at;
	for (letters++; *letters && !b->error; letters++) {
		switch (*letters) {
		case 'R':
			cie->encoding = read_u8(b, cursor);
			break;
		case 'P':
			encoding = read_u8(b, cursor);
			read_pointer(b, cursor, encoding & PE_FORMAT, 0);
			break;
		case 'L':
			read_u8(b, cursor);
			break;
		case 'S':
			cie->signal = true;
			break;
		default:
			fail(b, -EINVAL, cursor->at, "an unknown augmentation");
			break;
		}
	}
	if (!b->error && cursor->at > end)
		fail(b, -EINVAL, cursor->at, "an augmentation is too long");
	cursor->at = end;
}

static void read_cie(struct builder *b, struct cursor *cursor, struct cie *cie)
{
	struct program program = { .cie = cie, .common = true };
	u8 letters[8], version;
	u64 reg;
	u32 i;

	version = read_u8(b, cursor);
	for (i = 0; i < sizeof(letters); i++) {
		letters[i] = read_u8(b, cursor);
		if (!letters[i])
			break;
	}
	if (i == sizeof(letters) || (version != 1 && version != 3)) {
		fail(b, -EINVAL, cie->offset, "an unknown kind of description");
		return;
	}
	cie->code_align = read_uleb(b, cursor);
	cie->data_align = read_sleb(b, cursor);
	reg = version == 1 ? read_u8(b, cursor) : read_uleb(b, cursor);
	if (reg != USTACK_RA)
		fail(b, -EINVAL, cie->offset,
		     "return addresses have another number");
	read_augmentation(b, cursor, cie, letters);
	if (cie->encoding & PE_INDIRECT)
		fail(b, -EINVAL, cie->offset, "addresses are indirect");
	if (b->error)
		return;
	/* Without a word of it the return address is not known */
	program.cursor = *cursor;
	set_place(&program.state, USTACK_RA, USTACK_LOST);
	program.state.rule.cfa = USTACK_ODD;
	run(b, &program);
	cie->state = program.state;
}

/* The common description at an offset; NULL after an error */
static const struct cie *find_cie(struct builder *b, u64 offset)
{
	struct cursor cursor;
	struct cie *cie;
	u32 i;

	for (i = 0; i < CIES_KEPT; i++) {
		if (offset && b->cies[i].offset == offset)
			return &b->cies[i];
	}
	if (!open_description(b, offset, &cursor))
		return NULL;
	cie = &b->cies[b->next_cie++ % CIES_KEPT];
	memset(cie, 0, sizeof(*cie));
	if (read_u32(b, &cursor)) {
		fail(b, -EINVAL, offset, "this is not a common description");
		return NULL;
	}
	cie->offset = offset;
	read_cie(b, &cursor, cie);
	return b->error ? NULL : cie;
}

/* Is a function executable code? Its end is where its segment ends, at most */
static bool in_segment(const struct builder *b, u64 pc, u64 *end)
{
	const struct ustack_segment *segment = b->segments;
	u32 i;

	for (i = 0; i < b->segments_nr; i++, segment++) {
		if (pc - segment->vaddr >= segment->size)
			continue;
		*end = min(*end, segment->vaddr + segment->size);
		return true;
	}
	return false;
}

/*
 * A function's description, at @offset. It is listed for @pc; the next one for @next,
 * where it ends even if it says something else.
 */
static void read_fde(struct builder *b, u64 offset, u64 pc, u64 next)
{
	struct program program = { .pc = pc,
				   .delta = b->eh.vaddr - b->eh.offset };
	struct cursor *cursor = &program.cursor;
	u64 id, len;

	if (!spend(b, 1) || !open_description(b, offset, cursor))
		return;
	id = read_u32(b, cursor);
	if (!id || id > offset + 4 - b->eh.offset) {
		fail(b, -EINVAL, offset, "no common description");
		return;
	}
	program.cie = find_cie(b, offset + 4 - id);
	if (!program.cie)
		return;
	if (read_pointer(b, cursor, program.cie->encoding, program.delta) !=
		    pc &&
	    !b->error) {
		fail(b, -EINVAL, offset, "it is listed for another address");
		return;
	}
	len = read_pointer(b, cursor, program.cie->encoding & PE_FORMAT, 0);
	if (program.cie->augmented)
		skip(b, cursor, read_uleb(b, cursor));
	if (b->error)
		return;
	program.end = len > U64_MAX - pc ? U64_MAX : pc + len;
	program.end = min(program.end, next);
	if (!in_segment(b, pc, &program.end)) {
		b->report->outside++;
		return;
	}
	if (pc == program.end)
		return;
	b->report->functions++;
	program.state = program.cie->state;
	if (run(b, &program)) {
		finish_state(&program);
		add_state(b, program.pc, &program.state);
	}
	add_row(b, program.end, USTACK_NONE);
}

/* --- the file */

static bool read_segment(struct builder *b, const struct elf64_phdr *phdr,
			 u64 at)
{
	struct ustack_segment *segment;

	if (phdr->p_offset > b->source->size ||
	    phdr->p_filesz > b->source->size - phdr->p_offset ||
	    phdr->p_filesz > U64_MAX - phdr->p_vaddr)
		return fail(b, -EINVAL, at, "a segment is not in the file");
	if (phdr->p_type == PT_GNU_EH_FRAME) {
		b->hdr.offset = phdr->p_offset;
		b->hdr.vaddr = phdr->p_vaddr;
		b->hdr.size = phdr->p_filesz;
	}
	if (phdr->p_type != PT_LOAD || !(phdr->p_flags & PF_X) ||
	    !phdr->p_filesz)
		return true;
	if (b->segments_nr == USTACK_SEGMENTS)
		return fail(b, -E2BIG, at, "too many executable segments");
	segment = &b->segments[b->segments_nr++];
	segment->offset = phdr->p_offset;
	segment->vaddr = phdr->p_vaddr;
	segment->size = phdr->p_filesz;
	b->base = min(b->base, segment->vaddr);
	b->limit = max_t(u64, b->limit, segment->vaddr + segment->size);
	return true;
}

static bool is_build_id(const u8 *note)
{
	u32 size = get_unaligned_le32(note + 4);

	return get_unaligned_le32(note) == sizeof(NOTE_NAME) && size &&
	       size <= EHFRAME_BUILD_ID_MAX &&
	       get_unaligned_le32(note + 8) == NOTE_BUILD_ID &&
	       !memcmp(note + NOTE_HEAD, NOTE_NAME, sizeof(NOTE_NAME));
}

/* Its bytes, which are in the file */
static bool read_build_id(struct builder *b, u64 at, u32 size)
{
	const u8 *bytes = bytes_at(b, &b->data, at, size);

	if (!bytes)
		return false;
	memcpy(b->report->build_id, bytes, size);
	b->report->build_id_size = size;
	return true;
}

/* The notes of a segment, for the first build ID. Wrong ones do no harm to the table. */
static bool read_notes(struct builder *b, const struct elf64_phdr *phdr)
{
	u64 at = phdr->p_offset, end = at + phdr->p_filesz, next;
	const u32 least = NOTE_HEAD + sizeof(NOTE_NAME);
	const u8 *note;
	u32 size;

	if (phdr->p_type != PT_NOTE || b->report->build_id_size)
		return true;
	for (; end - at >= least; at = next) {
		note = spend(b, 1) ? bytes_at(b, &b->data, at, least) : NULL;
		if (!note)
			return false;
		size = get_unaligned_le32(note + 4);
		/* Both parts are filled up to a multiple of 4 */
		next = at + NOTE_HEAD +
		       ((get_unaligned_le32(note) + 3ULL) & ~3ULL) +
		       ((size + 3ULL) & ~3ULL);
		if (next > end)
			break;
		if (is_build_id(note))
			return read_build_id(b, at + least, size);
	}
	return true;
}

/* The segment that an address is in, whatever its kind */
static bool read_eh_segment(struct builder *b, const struct elf64_phdr *phdr,
			    u64 vaddr)
{
	if (phdr->p_type != PT_LOAD ||
	    vaddr - phdr->p_vaddr >= phdr->p_filesz ||
	    phdr->p_filesz > b->source->size - phdr->p_offset)
		return false;
	b->eh.offset = phdr->p_offset;
	b->eh.vaddr = phdr->p_vaddr;
	b->eh.size = phdr->p_filesz;
	return true;
}

static bool read_header(struct builder *b, struct elf64_hdr *ehdr)
{
	const u8 *bytes = bytes_at(b, &b->data, 0, sizeof(*ehdr));

	if (!bytes)
		return false;
	memcpy(ehdr, bytes, sizeof(*ehdr));
	if (memcmp(ehdr->e_ident, ELFMAG, SELFMAG) ||
	    ehdr->e_ident[EI_CLASS] != ELFCLASS64 ||
	    ehdr->e_ident[EI_DATA] != ELFDATA2LSB ||
	    ehdr->e_machine != EM_X86_64 ||
	    (ehdr->e_type != ET_EXEC && ehdr->e_type != ET_DYN))
		return fail(b, -ENOEXEC, 0, "not an object for x86-64");
	if (ehdr->e_phentsize != sizeof(struct elf64_phdr) || !ehdr->e_phnum ||
	    ehdr->e_phnum > HEADERS_MAX)
		return fail(b, -EINVAL, 0, "its program headers are wrong");
	return true;
}

static bool read_phdr(struct builder *b, const struct elf64_hdr *ehdr, u32 i,
		      struct elf64_phdr *phdr, u64 *at)
{
	const u8 *bytes;

	*at = i * sizeof(*phdr);
	if (ehdr->e_phoff > U64_MAX - *at)
		return fail(b, -EINVAL, 0, "its program headers are wrong");
	*at += ehdr->e_phoff;
	bytes = bytes_at(b, &b->list, *at, sizeof(*phdr));
	if (!bytes)
		return false;
	memcpy(phdr, bytes, sizeof(*phdr));
	return true;
}

static bool read_segments(struct builder *b, const struct elf64_hdr *ehdr)
{
	struct elf64_phdr phdr;
	u64 at;
	u32 i;

	b->base = U64_MAX;
	for (i = 0; i < ehdr->e_phnum; i++) {
		if (!read_phdr(b, ehdr, i, &phdr, &at) ||
		    !read_segment(b, &phdr, at) || !read_notes(b, &phdr))
			return false;
	}
	if (!b->hdr.size)
		return fail(b, -ENODATA, 0,
			    "no list of functions (.eh_frame_hdr)");
	if (!b->segments_nr)
		return fail(b, -ENODATA, 0, "nothing is executable");
	if (b->limit - b->base > CODE_MAX)
		return fail(b, -E2BIG, 0, "more than 1 GiB of code");
	return true;
}

/* The list: its kinds of numbers, the address of .eh_frame, how many; then these */
static bool read_list_header(struct builder *b, const struct elf64_hdr *ehdr,
			     struct cursor *cursor, u32 *nr)
{
	u64 eh_frame, at;
	struct elf64_phdr phdr;
	const u8 *head;
	u8 encoding;
	u32 i;

	cursor->window = &b->data;
	cursor->at = b->hdr.offset;
	cursor->end = b->hdr.offset + b->hdr.size;
	head = next_bytes(b, cursor, 4);
	if (!b->error && (head[0] != 1 || head[2] != PE_UDATA4 ||
			  head[3] != (PE_DATAREL | PE_SDATA4)))
		return fail(b, -ENODATA, b->hdr.offset,
			    "functions are not listed in a known way");
	encoding = head[1];
	eh_frame =
		read_pointer(b, cursor, encoding, b->hdr.vaddr - b->hdr.offset);
	*nr = read_u32(b, cursor);
	if (b->error)
		return false;
	if (*nr > (cursor->end - cursor->at) / 8)
		return fail(b, -EINVAL, b->hdr.offset,
			    "the list of functions is too short");
	if (*nr > b->caps->functions)
		return fail(b, -E2BIG, b->hdr.offset, "too many functions");
	for (i = 0; i < ehdr->e_phnum; i++) {
		if (!read_phdr(b, ehdr, i, &phdr, &at))
			return false;
		if (read_eh_segment(b, &phdr, eh_frame))
			break;
	}
	if (i == ehdr->e_phnum)
		return fail(b, -EINVAL, b->hdr.offset,
			    ".eh_frame is in no segment");
	cursor->window = &b->list;
	return true;
}

static void read_list(struct builder *b, struct cursor *cursor, u32 nr)
{
	u64 pc, next, fde = 0, next_fde;
	u32 i;

	for (i = 0, pc = 0; i <= nr && !b->error;
	     i++, pc = next, fde = next_fde) {
		next = U64_MAX;
		next_fde = 0;
		if (i < nr) {
			next = read_pointer(b, cursor, PE_DATAREL | PE_SDATA4,
					    0);
			next_fde = read_pointer(b, cursor,
						PE_DATAREL | PE_SDATA4, 0);
		}
		if (!i || b->error)
			continue;
		if (next < pc)
			fail(b, -EINVAL, cursor->at - 8,
			     "the list of functions is not sorted");
		else
			read_fde(b, fde - b->eh.vaddr + b->eh.offset, pc, next);
	}
}

static bool start_table(struct builder *b)
{
	static const struct ustack_rule none, odd_rule = { .cfa = USTACK_ODD };
	/* One more, for their end */
	u64 pages = ((b->limit - b->base) >> USTACK_PAGE_BITS) + 2;

	b->pages = allocate(b, pages, sizeof(*b->pages));
	return b->pages && rehash(b) && number_of(b, &none) == USTACK_NONE &&
	       !b->error && number_of(b, &odd_rule) == USTACK_ODD && !b->error;
}

/* All of it in one piece */
static struct ustack_table *finish_table(struct builder *b)
{
	size_t rules = (size_t)b->rules_nr * sizeof(*b->rules);
	size_t pages = ((size_t)b->pages_nr + 1) * sizeof(*b->pages);
	size_t rows = (size_t)b->rows_nr * sizeof(*b->rows);
	size_t bytes = sizeof(struct ustack_table) + rules + pages + rows;
	struct ustack_table *table;
	u8 *at;

	if (!b->rows_nr) {
		fail(b, -ENODATA, b->hdr.offset, "no functions");
		return NULL;
	}
	b->pages[b->pages_nr] = b->rows_nr;
	table = allocate(b, 1, bytes);
	if (!table)
		return NULL;
	table->base = b->base;
	table->segments_nr = b->segments_nr;
	memcpy(table->segments, b->segments, sizeof(table->segments));
	table->pages_nr = b->pages_nr;
	table->rows_nr = b->rows_nr;
	table->rules_nr = b->rules_nr;
	table->bytes = bytes;
	at = (u8 *)(table + 1);
	table->rules = memcpy(at, b->rules, rules);
	table->pages = memcpy(at + rules, b->pages, pages);
	table->rows = memcpy(at + rules + pages, b->rows, rows);
	return table;
}

static struct ustack_table *build(struct builder *b)
{
	struct cursor cursor;
	struct elf64_hdr ehdr;
	u32 nr;

	if (!read_header(b, &ehdr) || !read_segments(b, &ehdr) ||
	    !read_list_header(b, &ehdr, &cursor, &nr) || !start_table(b))
		return NULL;
	read_list(b, &cursor, nr);
	return b->error ? NULL : finish_table(b);
}

/**
 * ehframe_build - make the table of an object
 * @source: the object
 * @caps: when to give up
 * @table: is set to the table, which ehframe_free() frees
 * @report: is set to what was made of it
 *
 * May sleep.
 *
 * Return: 0; -ENOEXEC: not an object for x86-64; -ENODATA: it has no
 * .eh_frame that can be used; -EINVAL: that is damaged; -E2BIG: there is too much
 * of it; -ENOMEM; or what the source's read() has returned.
 */
int ehframe_build(const struct ehframe_source *source,
		  const struct ehframe_caps *caps, struct ustack_table **table,
		  struct ehframe_report *report)
{
	struct builder *b = kvzalloc(sizeof(*b), EHFRAME_GFP);
	int error;

	memset(report, 0, sizeof(*report));
	*table = NULL;
	if (!b) {
		report->reason = "no memory";
		return -ENOMEM;
	}
	b->source = source;
	b->caps = caps;
	b->report = report;
	b->work_max = caps->work;
	if (caps->bytes)
		b->work_max = min(caps->work,
				  caps->base + source->size / caps->bytes);
	*table = build(b);
	error = b->error;
	kvfree(b->pages);
	kvfree(b->rows);
	kvfree(b->rules);
	kvfree(b->hash);
	/* The table is the caller's from here on */
	give_back(b, b->held);
	kvfree(b);
	return error;
}

/**
 * ehframe_free - free a table
 * @table: this, or NULL
 */
void ehframe_free(struct ustack_table *table)
{
	kvfree(table);
}
