// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the output of perf script with the fields comm, pid, tid, cpu, time, ip, sym
 * and brstack or brstacksym, and the lines of --show-mmap-events, --show-task-events
 * and --show-switch-events.
 *
 * perf does not show which branches are new since the last sample: overlap.c infers it.
 */
#include <ctype.h>
#include <errno.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "lbrtime.h"
#include "text.h"

/* Set while reading: a line of lbrtime's output shows which branches are new */
#define FLAG_RECORDED 128

#define ALIVE_LINES 4096

/**
 * struct entry - a branch as perf prints it, newest one first
 * @from:	place
 * @to:		place, or NONE
 * @cycles:	since the previous branch, 0 if unknown
 * @kind:	enum branch_kind
 * @flags:	enum branch_flags
 */
struct entry {
	u32 from;
	u32 to;
	u32 cycles;
	u8 kind;
	u8 flags;
};

/* Contents of a CPU's LBR */
struct registers {
	u32 nr;
	struct entry entry[MAX_BRANCHES];
};

/**
 * struct text - a file that is being read
 * @guard:		guard
 * @t:			timeline to add to
 * @line:		current line
 * @lines:		its number, from 1
 * @last:		last sample, by CPU, or NONE
 * @cpus:		number of CPUs
 * @lane:		threads that stand for CPUs
 * @lanes:		number of these
 * @lane_room:		allocated entries of @lane
 * @before:		for overlaps_find(), by sample
 * @before_room:	allocated entries of @before
 * @samples:		number of samples so far
 * @branches:		a sample had branches
 * @named:		only names of their places are known
 * @flags:		enum lbrprof_flags for the next sample, with FLAG_RECORDED; or 0
 * @calls:		number of branches counted for the next sample
 */
struct text {
	struct guard *guard;
	struct timeline *t;
	char *line;
	u64 lines;
	u32 *last;
	u32 cpus;
	s32 *lane;
	u64 lanes, lane_room;
	u32 *before;
	u64 before_room;
	u64 samples;
	bool branches;
	bool named;
	u32 flags;
	u64 calls;
};

/**
 * struct header - begin of a line
 * @comm:	name of the thread
 * @pid:	thread
 * @tgid:	process, or -1
 * @cpu:	CPU
 * @ts:		time, ns
 * @rest:	rest of the line
 */
struct header {
	char comm[20];
	s32 pid;
	s32 tgid;
	u32 cpu;
	u64 ts;
	char *rest;
};

static int wrong(struct text *x, const char *what)
{
	return guard_fail(x->guard, GUARD_NOWHERE, "line %llu: %s",
			  (unsigned long long)x->lines, what);
}

/* "123.456789:" */
static bool get_time(char *s, u64 *ts, char **end)
{
	u64 ns = 0, unit = 1000000000;
	unsigned long long sec;

	errno = 0;
	if (!isdigit((u8)*s))
		return false;
	sec = strtoull(s, &s, 10);
	if (errno || *s != '.' || sec > U64_MAX / 1000000000 - 1)
		return false;
	for (s++; isdigit((u8)*s) && unit > 1; s++) {
		unit /= 10;
		ns += unit * (*s - '0');
	}
	*ts = sec * 1000000000 + ns;
	*end = s + 1;
	return *s == ':';
}

/* "1234/1235" or "1235" that ends before @end */
static bool get_pids(char *line, char *end, struct header *h)
{
	char *s = end, *stop;
	size_t len;

	while (s > line && !isspace((u8)s[-1]))
		s--;
	h->pid = strtol(s, &stop, 10);
	h->tgid = -1;
	if (*stop == '/') {
		h->tgid = h->pid;
		h->pid = strtol(stop + 1, &stop, 10);
	}
	while (stop < end && *stop == ' ')
		stop++;
	if (stop != end || s == end)
		return false;
	while (s > line && s[-1] == ' ')
		s--;
	while (*line == ' ')
		line++;
	len = s > line ? s - line : 0;
	if (len > sizeof(h->comm) - 1)
		len = sizeof(h->comm) - 1;
	memcpy(h->comm, line, len);
	h->comm[len] = '\0';
	return true;
}

/* Return: whether there is room; @lane: number that stands for the thread */
static bool find_lane(struct text *x, s32 pid, u32 *lane)
{
	for (*lane = 0; *lane < x->lanes; ++*lane) {
		if (x->lane[*lane] == pid)
			return true;
	}
	if (x->lanes == MAX_CPUS)
		return false;
	GROW(x->lane, x->lanes, x->lane_room);
	x->lane[x->lanes++] = pid;
	return true;
}

/* "COMM PID/TID [CPU] TIME: ..." */
static bool get_header(char *line, struct header *h)
{
	char *s, *stop, *end;

	for (s = strstr(line, " ["); s; s = strstr(s + 1, " [")) {
		unsigned long cpu = strtoul(s + 2, &stop, 10);

		if (!isdigit((u8)s[2]) || *stop != ']' || cpu >= MAX_CPUS)
			continue;
		for (stop++; *stop == ' '; stop++)
			;
		if (!get_time(stop, &h->ts, &h->rest))
			continue;
		/* perf pads the thread's number to the right */
		for (end = s; end > line && end[-1] == ' '; end--)
			;
		if (!get_pids(line, end, h))
			continue;
		h->cpu = cpu;
		return true;
	}
	return false;
}

/* "COMM PID/TID TIME: ...": without a CPU; the thread's number stands for it */
static bool get_threads_header(struct text *x, char *line, struct header *h)
{
	char *s, *end;

	for (s = strchr(line, ' '); s; s = strchr(s + 1, ' ')) {
		if (!isdigit((u8)s[1]) || !get_time(s + 1, &h->ts, &h->rest))
			continue;
		for (end = s; end > line && end[-1] == ' '; end--)
			;
		if (!get_pids(line, end, h))
			continue;
		return find_lane(x, h->pid, &h->cpu);
	}
	return false;
}

/* ------------------------------------------------------------------------- */
/* Other records */

static u32 get_id(const char *s, u8 *id)
{
	u32 len = 0;

	for (; len < 20 && isxdigit((u8)s[0]) && isxdigit((u8)s[1]); s += 2) {
		char hex[3] = { s[0], s[1] };

		id[len++] = strtoul(hex, NULL, 16);
	}
	return len;
}

/* "MMAP2 1234/1234: [0x5581(0x1000) @ 0x2000 08:01 123 0]: r-xp /usr/bin/x", or with
 * the build-id in <> instead of device and inode
 */
static void parse_map(struct text *x, const char *s)
{
	unsigned long long start, len, pgoff;
	const char *id = strchr(s, '<'), *rest = strstr(s, "]: ");
	u8 bits[20];
	u32 id_len = 0;
	int pid;

	if (sscanf(s, " %d/%*d: [%llx(%llx) @ %llx", &pid, &start, &len,
		   &pgoff) != 4 &&
	    sscanf(s, " %d/%*d: [%llx(%llx) @ %llx", &pid, &start, &len,
		   &pgoff) != 4)
		return;
	if (!rest || pid < 0 || len > U64_MAX - start)
		return;
	if (id && id < rest)
		id_len = get_id(id + 1, bits);
	rest += 3;
	/* MMAP has x and the path, MMAP2 the protection */
	if (rest[0] && rest[1] && rest[2] && rest[3] && rest[4] == ' ') {
		if (rest[2] != 'x')
			return;
		rest += 5;
	} else if (rest[0] == 'x' && rest[1] == ' ') {
		rest += 2;
	} else {
		return;
	}
	symtab_map(x->t->symbols, pid, start, start + len, pgoff, rest, bits,
		   id_len);
}

static void parse_fork(struct text *x, const char *s)
{
	int child, parent;

	if (sscanf(s, "(%d:%*d):(%d:%*d)", &child, &parent) == 2)
		symtab_fork(x->t->symbols, child, parent);
}

/* Without CPU_WIDE the line is about the thread itself */
static void parse_switch(struct text *x, const struct header *h, const char *s)
{
	bool wide = !strncmp(s, "_CPU_WIDE", 9);

	s += wide ? 9 : 0;
	while (*s == ' ')
		s++;
	if (!strncmp(s, "IN", 2))
		timeline_switch(x->t, h->cpu, h->ts, h->pid);
	else if (!strncmp(s, "OUT", 3))
		timeline_switch(x->t, h->cpu, h->ts, -1);
}

static void parse_record(struct text *x, const struct header *h, const char *s)
{
	if (!strncmp(s, "MMAP2", 5))
		parse_map(x, s + 5);
	else if (!strncmp(s, "MMAP", 4))
		parse_map(x, s + 4);
	else if (!strncmp(s, "FORK", 4))
		parse_fork(x, s + 4);
	else if (!strncmp(s, "SWITCH", 6))
		parse_switch(x, h, s + 6);
	else if (!strncmp(s, "LOST", 4))
		timeline_gap(x->t, h->cpu);
}

/* ------------------------------------------------------------------------- */
/* Samples */

/*
 * "/P/-/-/12": what follows FROM and TO of a branch; since Linux 6.15 "/PN/-/-/12" if
 * it was not taken. @cycles: set to the begin of the number
 */
static char *find_flags(char *s, char **cycles)
{
	for (; (s = strchr(s, '/')); s++) {
		size_t len = strspn(s + 1, "MPN-");
		char *rest = s + 1 + len;

		if (len && len < 3 && rest[0] == '/' && rest[1] &&
		    strchr("X-", rest[1]) && rest[2] == '/' && rest[3] &&
		    strchr("A-", rest[3]) && rest[4] == '/' &&
		    isdigit((u8)rest[5])) {
			*cycles = rest + 5;
			return s;
		}
	}
	return NULL;
}

static u8 get_kind(const char *name, u8 *flags)
{
	static const struct {
		const char *name;
		u8 kind, flags;
	} kinds[] = {
		{ "COND_CALL", KIND_CALL, 0 },
		{ "COND_RET", KIND_RETURN, 0 },
		{ "IND_CALL", KIND_CALL, 0 },
		{ "CALL", KIND_CALL, 0 },
		{ "RET", KIND_RETURN, 0 },
		{ "COND", KIND_JUMP, 0 },
		{ "UNCOND", KIND_JUMP, 0 },
		{ "IND", KIND_JUMP, 0 },
		{ "SYSCALL", KIND_FAR, BRANCH_ENTERS },
		{ "SYSRET", KIND_FAR, BRANCH_LEAVES },
		{ "ERET", KIND_FAR, BRANCH_LEAVES },
		{ "IRQ", KIND_FAR, BRANCH_ENTERS },
	};
	size_t len = strcspn(name, "/ \n"), i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strlen(kinds[i].name) == len &&
		    !strncmp(kinds[i].name, name, len)) {
			*flags = kinds[i].flags;
			return kinds[i].kind;
		}
	}
	return KIND_UNKNOWN;
}

/* "0x401136" or "name+0x12", up to @end */
static u32 get_place(struct text *x, const struct header *h, char *s, char *end)
{
	unsigned long long addr, offset = 0;
	char *plus, *stop, last = *end;
	u32 place;

	*end = '\0';
	if (s[0] == '0' && s[1] == 'x') {
		addr = strtoull(s, &stop, 16);
		place = symtab_place(x->t->symbols, h->tgid, addr);
	} else {
		plus = strstr(s, "+0x");
		while (plus && strstr(plus + 1, "+0x"))
			plus = strstr(plus + 1, "+0x");
		if (plus) {
			offset = strtoull(plus + 3, NULL, 16);
			*plus = '\0';
		}
		clean_text(s);
		place = symtab_named(x->t->symbols, s, offset);
		x->named = true;
		if (plus)
			*plus = '+';
	}
	*end = last;
	return place;
}

/* Begin of the last word before @end; text in brackets is one word */
static char *last_word(char *s, char *end)
{
	int depth = 0;

	while (end > s) {
		char c = end[-1];

		if (strchr(")>]", c) &&
		    !(c == '>' && end - s > 1 && end[-2] == '-'))
			depth++;
		else if (strchr("(<[", c) && depth)
			depth--;
		else if (isspace((u8)c) && !depth)
			break;
		end--;
	}
	return end;
}

/* Begin of "(/usr/bin/x)" or "([vdso])" after a name or an address, or @end */
static char *before_file(char *s, char *end)
{
	char *at = end;

	while (end > s && end[-1] == ')' && --at > s) {
		if (*at == '(' && (at[1] == '/' || at[1] == '['))
			return at;
	}
	return end;
}

/* The '/' of FROM/TO, after an address, an offset or brackets; or NULL */
static char *find_slash(char *s, char *end)
{
	char *at = before_file(s, end);

	while (--at > s) {
		if (*at == '/' &&
		    (isxdigit((u8)at[-1]) || strchr("])", at[-1])))
			return at;
	}
	return NULL;
}

/* FROM/TO between @s and @end */
static bool get_pair(struct text *x, const struct header *h, char *s, char *end,
		     struct entry *e)
{
	char *slash = find_slash(s, end), *from, *to;

	if (!slash)
		return false;
	from = before_file(s, slash);
	to = before_file(slash + 1, end);
	if (from == s || to == slash + 1)
		return false;
	/* lbrtime's notation of an unknown target */
	e->to = to - slash == 4 && !strncmp(slash, "/0x0", 4) ?
			NONE :
			get_place(x, h, slash + 1, to);
	e->from = get_place(x, h, s, from);
	return true;
}

/* After the sampled function's file, or NULL */
static char *after_file(char *s, char *end)
{
	int depth = 0;

	while (s < end && (strncmp(s, " (/", 3) && strncmp(s, " ([", 3)))
		s++;
	for (s++; s < end; s++) {
		depth += (*s == '(') - (*s == ')');
		if (!depth)
			return s + 1;
	}
	return NULL;
}

/*
 * Begin of the first FROM; @s: after the ip, @end: of its TO. With names, perf prints
 * the sampled function and FROM in one word. That function is the target of the newest
 * branch, unless it went on by a jump.
 */
static char *first_from(char *s, char *end)
{
	char *slash = find_slash(s, end), *to, *plus, *word, *at;
	size_t len;

	s += strspn(s, " \t");
	if (!slash || slash <= s)
		return s;
	word = last_word(s, slash);
	if (!strncmp(word, "0x", 2))
		return word;
	/* There are more blanks between them than in a name, or its file */
	at = memmem(s, slash - s, "  ", 2);
	at = at ? at : after_file(s, before_file(s, slash));
	if (at)
		return at + strspn(at, " \t");
	to = slash + 1;
	plus = memmem(to, end - to, "+0x", 3);
	len = (plus ? plus : before_file(to, end)) - to;
	if ((size_t)(slash - s) > len && !strncmp(s, to, len) &&
	    !strchr("+/", s[len]))
		return s + len + strspn(s + len, " \t");
	return word;
}

/* "FROM/TO/P/-/-/12/CALL/- ...", newest one first */
static int get_entries(struct text *x, const struct header *h, char *s,
		       struct registers *r)
{
	char *flags, *cycles, *stop, *from = NULL;

	for (r->nr = 0; (flags = find_flags(s, &cycles)); s = stop) {
		struct entry *e = &r->entry[r->nr];

		from = from ? s + strspn(s, " \t") : first_from(s, flags);
		if (r->nr == MAX_BRANCHES)
			return wrong(
				x,
				"a sample with more branches than any CPU has");
		e->cycles = strtoul(cycles, &stop, 10);
		e->flags = 0;
		e->kind = *stop == '/' ? get_kind(stop + 1, &e->flags) :
					 KIND_UNKNOWN;
		stop += strcspn(stop, " \t");
		/* AMD's CPUs include branches that were executed speculatively only */
		if (memmem(cycles, stop - cycles, "/SPEC_WRONG_PATH", 16))
			continue;
		if (!get_pair(x, h, from, flags, e))
			return wrong(x, "a branch without FROM or TO");
		r->nr++;
	}
	return 0;
}

/* Return: the last sample of the same LBR, or NONE; from now on it is @now */
static u32 exchange_last(struct text *x, u32 cpu, u32 now)
{
	u32 was, i;

	if (cpu >= x->cpus) {
		x->last = xreallocarray(x->last, cpu + 1, sizeof(*x->last));
		for (i = x->cpus; i <= cpu; i++)
			x->last[i] = NONE;
		x->cpus = cpu + 1;
	}
	was = x->last[cpu];
	x->last[cpu] = now;
	return was;
}

static void add_branches(struct text *x, struct sample *s,
			 const struct registers *now)
{
	u32 sample = x->t->nr - 1, last = exchange_last(x, s->cpu, sample), i;

	GROW(x->before, sample, x->before_room);
	x->before[sample] = x->flags ? OVERLAP_RECORDED : last;
	s->calls = x->flags ? x->calls : 0;
	for (i = now->nr; i--;) {
		const struct entry *e = &now->entry[i];

		if (e->cycles)
			s->flags |= LBRPROF_CYCLES;
		*timeline_branch(x->t) = (struct branch){
			.from = e->from,
			.to = e->to,
			.cycles = e->cycles < CYCLES_MAX ? e->cycles :
							   CYCLES_MAX,
			.kind = e->kind,
			.flags = e->flags,
		};
	}
	if (now->nr > x->t->depth)
		x->t->depth = now->nr;
	x->branches |= now->nr > 0;
}

/* "name" or "name+0x12", before the branches or the end; @dso in brackets after it */
static u32 get_ip(struct text *x, const struct header *h, u64 addr, char *s,
		  char *end)
{
	u64 offset = U32_MAX;
	char *plus, *dso, last = *end;
	u32 place;

	while (isspace((u8)*s))
		s++;
	while (end > s && isspace((u8)end[-1]))
		end--;
	last = *end;
	*end = '\0';
	dso = strstr(s, " (/");
	dso = dso ? dso : strstr(s, " ([");
	if (dso)
		*dso = '\0';
	plus = strstr(s, "+0x");
	if (plus) {
		offset = strtoull(plus + 3, NULL, 16);
		*plus = '\0';
	}
	clean_text(s);
	if (!*s || !strcmp(s, "[unknown]")) {
		place = symtab_place(x->t->symbols, h->tgid, addr);
	} else if (x->named) {
		place = symtab_named(x->t->symbols, s, offset);
	} else {
		place = symtab_place(x->t->symbols, h->tgid, addr);
		symtab_hint(x->t->symbols, place, s, plus ? offset : addr);
	}
	if (plus)
		*plus = '+';
	if (dso)
		*dso = ' ';
	*end = last;
	return place;
}

/* "[PERIOD] [EVENT:] IP ..." */
static bool find_ip(char *s, u64 *addr, char **rest)
{
	char *stop;
	int words;

	for (words = 0; words < 3; words++) {
		s += strspn(s, " \t");
		errno = 0;
		*addr = strtoull(s, &stop, 16);
		*rest = stop;
		s += strcspn(s, " \t\n");
		if (stop == s && !errno && isxdigit((u8)s[-1])) {
			char *next = s + strspn(s, " \t");
			size_t len = strcspn(next, " \t\n");

			/* A period is followed by its event */
			if (!len || next[len - 1] != ':')
				return true;
		} else if (s[-1] != ':') {
			return false;
		}
	}
	return false;
}

static int parse_sample(struct text *x, const struct header *h)
{
	struct registers now;
	struct sample *s;
	char *flags, *cycles, *from, *rest;
	u64 addr;
	int status;

	if (h->cpu < x->t->cpus && x->t->cpu[h->cpu].there &&
	    h->ts < x->t->cpu[h->cpu].ts)
		return wrong(x, "a sample is older than the one before it");
	if (!find_ip(h->rest, &addr, &rest))
		return wrong(
			x,
			strstr(h->rest, " => ") ||
					strstr(h->rest, " psb offs: ") ?
				"a record of Intel PT or BTS, not a sample with branches (perf record -b)" :
				"a sample without ip, or with a call chain (perf script -G -F comm,pid,tid,cpu,time,ip,sym,brstack)");
	status = get_entries(x, h, rest, &now);
	if (status)
		return status;
	flags = find_flags(rest, &cycles);
	from = flags ? first_from(rest, flags) : rest + strlen(rest);
	s = timeline_sample(x->t, h->cpu, h->pid, h->ts);
	s->tgid = h->tgid;
	s->flags = LBRPROF_TO | x->flags;
	s->comm = timeline_comm(x->t, h->comm);
	s->ip = get_ip(x, h, addr, rest, from);
	add_branches(x, s, &now);
	x->samples++;
	x->flags = 0;
	return 0;
}

/* What --format=brstack adds to perf's format */
static void parse_comment(struct text *x)
{
	unsigned long long calls;
	u32 flags;

	if (sscanf(x->line, "# lbrtime: %x %llu", &flags, &calls) != 2)
		return;
	x->flags = (flags & (FLAG_RECORDED - 1)) | FLAG_RECORDED;
	x->calls = calls;
}

/* ------------------------------------------------------------------------- */

static int no_header(struct text *x)
{
	if (x->samples)
		return wrong(
			x,
			"not a line of perf script with comm, pid, tid, cpu and time");
	return guard_fail(
		x->guard, GUARD_NOWHERE,
		"neither a trace.dat nor output of perf script -F comm,pid,tid,cpu,time,ip,sym,brstack");
}

static int parse_line(struct text *x)
{
	struct header h;
	char *s;

	x->line[strcspn(x->line, "\r\n")] = '\0';
	if (*x->line == '#')
		parse_comment(x);
	if (!x->line[strspn(x->line, " \t\r")] || *x->line == '#')
		return 0;
	if (x->t->by_thread || !get_header(x->line, &h)) {
		if ((!x->t->by_thread && x->samples) ||
		    !get_threads_header(x, x->line, &h))
			return no_header(x);
		x->t->by_thread = true;
	}
	for (s = h.rest; *s == ' '; s++)
		;
	s = strstr(s, "PERF_RECORD_");
	if (s) {
		parse_record(x, &h, s + 12);
		return 0;
	}
	return parse_sample(x, &h);
}

static void settle(struct text *x)
{
	u64 i;

	for (i = 0; i < x->t->nr; i++) {
		struct sample *s = &x->t->sample[i];
		bool recorded = s->flags & FLAG_RECORDED;

		s->flags &= ~FLAG_RECORDED;
		if (!recorded && !x->branches)
			s->flags |= LBRPROF_PLAIN;
	}
	if (x->branches)
		overlaps_find(x->t, x->before);
}

/* Why a line is not text */
static const char *is_binary(const char *line)
{
	if (!strncmp(line, "PERFILE2", 8) ||
	    !strncmp(line, "\x17\x08\x44tracing", 10))
		return "a trace.dat or perf.data must be a regular file that is given by name";
	return "neither a trace.dat nor text";
}

/**
 * perftext_read - read the output of perf script
 * @g:	guard
 * @t:	timeline to add to; it stays empty if there are no samples
 * @in:	file
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int perftext_read(struct guard *g, struct timeline *t, FILE *in)
{
	struct text x = { .guard = g, .t = t };
	u64 offset = 0;
	size_t room = 0;
	int status = 0;
	ssize_t n;

	while (!status && (n = getline(&x.line, &room, in)) >= 0) {
		offset += n;
		if (++x.lines % ALIVE_LINES == 0) {
			guard_alive(g, offset);
			guard_progress(g, "%.1f M lines", x.lines / 1e6);
		}
		if (memchr(x.line, '\0', n))
			status = guard_fail(g, GUARD_NOWHERE, "%s",
					    is_binary(x.line));
		else
			status = parse_line(&x);
	}
	/* getline() may have failed for lack of memory, without an error of the file */
	if (!status && !feof(in))
		status = guard_fail(g, GUARD_NOWHERE, "%s", strerror(errno));
	settle(&x);
	free(x.line);
	free(x.last);
	free(x.before);
	free(x.lane);
	return status;
}
