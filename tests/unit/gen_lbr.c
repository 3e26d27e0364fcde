// SPDX-License-Identifier: GPL-2.0
/*
 * gen_lbr FILE.dat DEPTH SAMPLES SEED OPTION...
 *
 * Simulates a program of twelve functions, samples it like lbrprof with DEPTH branches,
 * and writes the trace. The functions' code is below, so that this program itself is the
 * mapped file of the trace.
 *
 * Prints the truth, separated by tabs: the map
 *
 *	M TGID START SIZE OFFSET FILE
 *
 * for each sample
 *
 *	S TIME CPU TGID PID STATE INTERVAL
 *
 * and then for each visit in its branches
 *
 *	V FUNCTION START DURATION FROM TO CHAIN
 *
 * with the functions of CHAIN from the outermost to the visited one, and TO - for the
 * last one, which the sample has cut.
 *
 * OPTION:	jitter	visits have random durations
 *		dense	visits are so short that the registers hold few of an interval's
 *		long	most visits exceed the maximum of the cycle counter
 *		count	the number of branches is recorded
 *		others	and includes branches of other threads before a switch
 *		cycles	the registers have cycle counts, three cycles per nanosecond
 *		restart	which restart at each sample
 *		to	the registers have the targets of branches
 *		switch	two threads on each CPU, and sched_switch
 *		quiet	the same without sched_switch
 *		alarms	a slow path now and then, with an alarm of ctlchart
 *		stripped the mapped file does not exist
 *		plain	no branches
 *		period	samples are 50 us apart, to one in a hundred
 *		forged	the number of branches is 255, or 65,791 at least as four bytes
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lbrpack.h"
#include "random.h"
#include "tracedat.h"

#define ID_SAMPLE 500
#define ID_MAP 501
#define ID_TASK 502
#define ID_ALARM 503
#define ID_LIMIT 504

#define FUNCTIONS 12
#define SITES 4 /* calls of a function; the last one is indirect */
#define STRIDE 256
#define MAX_DEPTH 64
#define MAX_STACK 32

/*
 * Never executed. A function calls three others, in order, and any by %rax. There is a call
 * every 16 bytes; the return follows them.
 */
#define FUNCTION(k, a, b, c)                                                   \
	".balign 256\n.type lt_f" #k ", @function\nlt_f" #k ":\n"              \
	".fill 16, 1, 0x90\ncall lt_f" #a "\n.balign 16, 0x90\ncall lt_f" #b   \
	"\n.balign 16, 0x90\n"                                                 \
	"call lt_f" #c                                                         \
	"\n.balign 16, 0x90\ncall *%rax\n.balign 16, 0x90\nret\n.size lt_f" #k \
	", .-lt_f" #k "\n"

__asm__(".pushsection .text\n" FUNCTION(0, 1, 2, 3) FUNCTION(1, 2, 3, 4)
		FUNCTION(2, 3, 4, 5) FUNCTION(3, 4, 5, 6) FUNCTION(
			4, 5, 6, 7) FUNCTION(5, 6, 7, 8) FUNCTION(6, 7, 8, 9)
			FUNCTION(7, 8, 9, 10) FUNCTION(8, 9, 10, 11) FUNCTION(
				9, 10, 11, 11) FUNCTION(10, 11, 11, 11)
				FUNCTION(11, 11, 11,
					 11) ".balign 256\n.popsection\n");
extern const char lt_code[] __asm__("lt_f0");

static const char sample_format[] =
	"name: lbrprof_sample\nID: 500\nformat:\n" TD_COMMON
	"\tfield:u64 ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u8 nr;\toffset:16;\tsize:1;\tsigned:0;\n"
	"\tfield:u8 flags;\toffset:17;\tsize:1;\tsigned:0;\n"
	"\tfield:u32 calls;\toffset:20;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 returns;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc u8[] branches;\toffset:28;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"ip=%llx\", REC->ip\n";

static const char map_format[] =
	"name: lbrprof_map\nID: 501\nformat:\n" TD_COMMON
	"\tfield:u64 start;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 end;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 pgoff;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 ino;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:s32 tgid;\toffset:40;\tsize:4;\tsigned:1;\n"
	"\tfield:u32 dev;\toffset:44;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 build_id_size;\toffset:48;\tsize:1;\tsigned:0;\n"
	"\tfield:u8 build_id[20];\toffset:49;\tsize:20;\tsigned:0;\n"
	"\tfield:__data_loc char[] path;\toffset:72;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"tgid=%d\", REC->tgid\n";

static const char task_format[] =
	"name: lbrprof_task\nID: 502\nformat:\n" TD_COMMON
	"\tfield:s32 pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:s32 tgid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:s32 parent;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"tgid=%d\", REC->tgid\n";

static const char alarm_format[] =
	"name: ctlchart_alarm\nID: 503\nformat:\n" TD_COMMON
	"\tfield:u64 start;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 duration;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:u32 chart;\toffset:28;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"pid=%d\", REC->pid\n";

static const char limit_format[] =
	"name: ctlchart_limit\nID: 504\nformat:\n" TD_COMMON
	"\tfield:u32 chart;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"chart=%u\", REC->chart\n";

static struct {
	bool jitter, dense, count, cycles, to, switches, quiet, alarms, period,
		stripped, plain, restart, longer, others, forged;
} opt;

static unsigned int depth;
static uint64_t load; /* added to the addresses of this process */

/* A branch that the program has done, and the visit that it ends */
struct done {
	uint64_t from, to, start, end, cycles;
	unsigned int function;
	char chain[160];
};

struct thread {
	int tgid, pid;
	unsigned int stack[MAX_STACK],
		site[MAX_STACK]; /* site: the one called from */
	unsigned int len;
	uint64_t begin; /* of the visit at hand */
	uint64_t measured; /* since when the registers count cycles */
	uint64_t left; /* of it, when the thread does not run */
	unsigned int next; /* site that ends it; SITES: the return */
	unsigned int callee;
	int needle; /* steps of a slow path that are left */
	uint64_t needle_start;
};

struct cpu {
	struct thread thread[2];
	unsigned int now; /* thread */
	uint64_t at, sample_at, switch_at;
	uint64_t start; /* of the interval */
	bool started, known;
	int last_pid;
	struct done ring[MAX_DEPTH];
	uint64_t since, calls, returns, others;
};

static uint64_t address(unsigned int function, unsigned int site)
{
	return (uint64_t)lt_code + load + STRIDE * function + 16 * (site + 1);
}

/* How long a visit lasts: by the function and where it ends */
static uint64_t lasts(const struct thread *t)
{
	unsigned int f = t->stack[t->len - 1];
	uint64_t ns = 60 + 97 * ((f * 7 + t->next * 3) % 11) +
		      (f % 4 == 3 ? 1500 : 0);

	if (!opt.dense)
		ns *= opt.longer ? 40 : 8;
	if (t->needle)
		ns += 1500;
	return opt.jitter ? 1 + ns * -log(rnd1()) : ns;
}

static uint64_t until_sample(void)
{
	return opt.period ? 50000 + below(500) : 40000 + below(20000);
}

/* The branch that ends the visit which begins, and its time */
static void plan(struct thread *t, uint64_t at)
{
	unsigned int f = t->stack[t->len - 1];

	t->begin = at;
	t->next = below(SITES + 2);
	if (t->next > SITES || t->len == MAX_STACK - 1 || f >= FUNCTIONS - 2)
		t->next = SITES;
	if (t->len == 1 && t->next == SITES)
		t->next = below(SITES);
	/* Only the slow path gets to the last function */
	if (t->needle)
		t->next = t->needle-- > 1 ? SITES - 1 : SITES;
	t->callee = f + 1 + (t->next < SITES - 1 ? t->next : below(2));
	if (t->needle)
		t->callee = FUNCTIONS - 1;
	else if (t->next < SITES && t->callee >= FUNCTIONS - 1)
		t->next = SITES;
	t->left = lasts(t);
}

static void write_chain(const struct thread *t, char *to, size_t room)
{
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < t->len && len < room; i++)
		len += snprintf(to + len, room - len, "%slt_f%u", i ? ";" : "",
				t->stack[i]);
}

/* The branch that ends the visit */
static void branch(struct cpu *c, struct thread *t)
{
	struct done *d = &c->ring[c->since++ % depth];
	unsigned int f = t->stack[t->len - 1];

	d->function = f;
	d->start = t->begin > c->start ? t->begin : c->start;
	d->end = c->at;
	d->cycles = 3 * (c->at - t->measured);
	d->from = address(f, t->next);
	write_chain(t, d->chain, sizeof(d->chain));
	t->measured = c->at;
	if (t->next == SITES) {
		unsigned int site = t->site[--t->len];

		d->to = address(t->stack[t->len - 1], site) +
			(site == SITES - 1 ? 2 : 5);
		c->returns++;
	} else {
		t->site[t->len] = t->next;
		t->stack[t->len++] = t->callee;
		d->to = address(t->callee, 0) - 16;
		c->calls++;
	}
	if (opt.alarms && t->len == 1 && !t->needle && !below(400)) {
		t->needle = 3;
		t->needle_start = c->at;
	}
	plan(t, c->at);
}

static void put_sample(struct td *td, unsigned int cpu, const struct cpu *c,
		       const struct thread *t, uint64_t ip, unsigned int nr,
		       bool is_switch)
{
	struct lbrprof_branch b[MAX_DEPTH];
	uint8_t data[MAX_DEPTH * LBRPROF_BRANCH_MAX];
	static struct lbrpack pack;
	struct td_record r;
	unsigned int i;
	uint8_t flags = (c->since + c->others > nr ? LBRPROF_LOST : 0) |
			(opt.count ? LBRPROF_COUNTED : 0) |
			(opt.to ? LBRPROF_TO : 0) |
			(opt.cycles ? LBRPROF_CYCLES : 0) |
			(is_switch ? LBRPROF_SWITCH : 0);
	size_t len;

	if (opt.plain)
		flags = LBRPROF_PLAIN;
	for (i = 0; i < nr; i++) {
		const struct done *d = &c->ring[(c->since - 1 - i) % depth];

		b[i] = (struct lbrprof_branch){
			.from = d->from,
			.to = d->to,
			.cycles = d->cycles > 65535 ? 65535 : d->cycles,
		};
	}
	len = lbrprof_pack(&pack, data, ip, flags, b, nr);
	td_begin(&r, td, ID_SAMPLE, t->pid, 32);
	td_put(&r, 8, ip, 8);
	td_put(&r, 16, opt.forged ? 255 : nr, 1);
	td_put(&r, 17, flags, 1);
	td_put(&r, 18, opt.forged, 1);
	td_put(&r, 20, opt.count ? c->calls + c->others : 0, 4);
	td_put(&r, 24, opt.count ? c->returns : 0, 4);
	td_put(&r, 28, len << 16 | 32, 4);
	memcpy(r.data + 32, data, len);
	r.len = 32 + len;
	td_write(td, 0, cpu, c->at, &r);
}

static const char *state_of(const struct cpu *c, const struct thread *t)
{
	if (!c->started)
		return "first";
	if (!c->known || c->last_pid != t->pid)
		return "unknown start";
	/* Full registers may lack earlier branches */
	return c->since > depth || (c->since == depth && c->others) ||
			       opt.plain ?
		       "lost" :
		       "whole";
}

static void sample(struct td *td, unsigned int cpu, struct cpu *c,
		   bool is_switch)
{
	struct thread *t = &c->thread[c->now];
	unsigned int f = t->stack[t->len - 1], nr, i;
	/* Somewhere on the way to where the visit ends */
	uint64_t ip = address(f, t->next) - 1 - below(8), begin;
	char chain[160];

	nr = opt.plain ? 0 : c->since < depth ? c->since : depth;
	put_sample(td, cpu, c, t, ip, nr, is_switch);
	printf("S\t%" PRIu64 "\t%u\t%d\t%d\t%s\t%" PRIu64 "\n", c->at, cpu,
	       t->tgid, t->pid, state_of(c, t),
	       c->started ? c->at - c->start : 0);
	for (i = nr; i--;) {
		const struct done *d = &c->ring[(c->since - 1 - i) % depth];

		printf("V\tlt_f%u\t%" PRIu64 "\t%" PRIu64 "\t0x%" PRIx64
		       "\t0x%" PRIx64 "\t%s\n",
		       d->function, d->start, d->end - d->start, d->from, d->to,
		       d->chain);
	}
	begin = t->begin > c->start ? t->begin : c->start;
	write_chain(t, chain, sizeof(chain));
	printf("V\tlt_f%u\t%" PRIu64 "\t%" PRIu64 "\t0x%" PRIx64 "\t-\t%s\n", f,
	       begin, c->at - begin, ip, chain);
	c->start = c->at;
	c->started = true;
	c->known = !is_switch;
	if (opt.restart)
		t->measured = c->at;
	c->last_pid = t->pid;
	c->since = c->calls = c->returns = c->others = 0;
	c->sample_at = c->at + until_sample();
}

static void switch_thread(struct td *td, unsigned int cpu, struct cpu *c)
{
	struct thread *t = &c->thread[c->now];
	struct td_record r;

	t->left -= c->at - t->begin;
	sample(td, cpu, c, true);
	c->now = !c->now;
	/* The CPU is idle for a while */
	c->at += 1000 + below(30000);
	t = &c->thread[c->now];
	t->begin = t->measured = c->at;
	c->switch_at = c->at + 150000 + below(200000);
	c->sample_at = c->at + until_sample();
	c->others = opt.others ? below(50) : 0;
	if (opt.quiet)
		return;
	c->start = c->at;
	c->known = true;
	c->last_pid = t->pid;
	td_begin(&r, td, TD_ID_SWITCH, 0, 64);
	td_put(&r, 56, (uint32_t)t->pid, 4);
	td_write(td, 0, cpu, c->at, &r);
}

static bool chart_named;

static void put_alarm(struct td *td, unsigned int cpu, const struct cpu *c,
		      struct thread *t)
{
	struct td_record r;

	td_begin(&r, td, ID_ALARM, t->pid, 32);
	td_put(&r, 8, t->needle_start, 8);
	td_put(&r, 16, c->at - t->needle_start, 8);
	td_put(&r, 24, (uint32_t)t->pid, 4);
	td_put(&r, 28, 7, 4);
	td_write(td, 0, cpu, c->at, &r);
	t->needle_start = 0;
	if (chart_named)
		return;
	/* It may come after the first alarm, from another CPU */
	chart_named = true;
	td_begin(&r, td, ID_LIMIT, 0, 16);
	td_put(&r, 8, 7, 4);
	td_put_string(&r, 12, "requests");
	td_write(td, 0, cpu, c->at, &r);
}

static void run(struct td *td, unsigned int cpu, struct cpu *c, long samples)
{
	struct thread *t;
	uint64_t end;

	while (samples > 0) {
		t = &c->thread[c->now];
		end = t->begin + t->left;
		if ((opt.switches || opt.quiet) && c->switch_at <= end &&
		    c->switch_at <= c->sample_at) {
			c->at = c->switch_at;
			switch_thread(td, cpu, c);
			samples--;
		} else if (c->sample_at < end) {
			c->at = c->sample_at;
			sample(td, cpu, c, false);
			samples--;
		} else {
			c->at = end;
			branch(c, t);
			if (t->needle_start && !t->needle && t->len == 1)
				put_alarm(td, cpu, c, t);
		}
	}
}

static void put_map(struct td *td, int tgid, uint64_t start, uint64_t end,
		    uint64_t pgoff, const char *path)
{
	struct td_record r;

	td_begin(&r, td, ID_MAP, tgid, 76);
	td_put(&r, 8, start + load, 8);
	td_put(&r, 16, end + load, 8);
	td_put(&r, 24, pgoff, 8);
	td_put(&r, 40, tgid, 4);
	td_put_string(&r, 72, path);
	td_write(td, 0, 0, 1000, &r);
}

/* Where this program's code is */
static bool find_map(uint64_t *start, uint64_t *end, uint64_t *pgoff,
		     char *path)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4500];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64
			   " %*s %*s %4095s",
			   start, end, pgoff, path) == 4 &&
		    *start <= (uint64_t)lt_code && (uint64_t)lt_code < *end) {
			fclose(f);
			return true;
		}
	}
	return false;
}

static bool put_maps(struct td *td)
{
	uint64_t start, end, pgoff;
	struct td_record r;
	char path[4096];
	int i;

	if (!find_map(&start, &end, &pgoff, path))
		return false;
	load = 0x560000000000 - start;
	printf("M\t700\t0x%" PRIx64 "\t0x%" PRIx64 "\t0x%" PRIx64 "\t%s\n",
	       start + load, end - start, pgoff, path);
	put_map(td, 700, start, end, pgoff,
		opt.stripped ? "/nowhere/program" : path);
	for (i = 0; i < 4; i++) {
		/* Those of the second CPU are a child */
		td_begin(&r, td, ID_TASK, 700, 20);
		td_put(&r, 8, 701 + i, 4);
		td_put(&r, 12, 700 + 10 * (i / 2), 4);
		td_put(&r, 16, 700, 4);
		td_write(td, 0, 0, 1000, &r);
	}
	return true;
}

static bool *find_option(const char *name)
{
	return !strcmp(name, "jitter")	 ? &opt.jitter :
	       !strcmp(name, "dense")	 ? &opt.dense :
	       !strcmp(name, "long")	 ? &opt.longer :
	       !strcmp(name, "count")	 ? &opt.count :
	       !strcmp(name, "others")	 ? &opt.others :
	       !strcmp(name, "cycles")	 ? &opt.cycles :
	       !strcmp(name, "to")	 ? &opt.to :
	       !strcmp(name, "switch")	 ? &opt.switches :
	       !strcmp(name, "quiet")	 ? &opt.quiet :
	       !strcmp(name, "alarms")	 ? &opt.alarms :
	       !strcmp(name, "stripped") ? &opt.stripped :
	       !strcmp(name, "restart")	 ? &opt.restart :
	       !strcmp(name, "plain")	 ? &opt.plain :
	       !strcmp(name, "period")	 ? &opt.period :
	       !strcmp(name, "forged")	 ? &opt.forged :
					   NULL;
}

static void run_cpu(struct td *td, unsigned int cpu, long samples)
{
	static struct cpu c;
	int i;

	memset(&c, 0, sizeof(c));
	c.at = c.start = 1000000000;
	c.sample_at = c.at + 50000;
	c.switch_at = opt.switches || opt.quiet ? c.at + 200000 : UINT64_MAX;
	for (i = 0; i < 2; i++) {
		struct thread *t = &c.thread[i];

		t->tgid = 700 + 10 * cpu;
		t->pid = 701 + 2 * cpu + i;
		t->len = 1;
		t->measured = c.at;
		plan(t, c.at);
	}
	run(td, cpu, &c, samples);
}

int main(int argc, char **argv)
{
	struct td_layout layout = { .page_size = 4096, .clock = "mono" };
	unsigned int cpu;
	struct td td;
	long samples;
	int i;

	if (argc < 5 || (samples = atol(argv[3])) < 1 ||
	    (depth = atoi(argv[2])) < 1 || depth > MAX_DEPTH) {
		fprintf(stderr,
			"usage: gen_lbr FILE.dat DEPTH SAMPLES SEED OPTION...\n");
		return 2;
	}
	for (i = 5; i < argc; i++) {
		bool *o = find_option(argv[i]);

		if (!o)
			return 2;
		*o = true;
	}
	seed = SEED + strtoull(argv[4], NULL, 10);
	td_init(&td, &layout, 2);
	td_add_event(&td, "lbrprof", sample_format);
	td_add_event(&td, "lbrprof", map_format);
	td_add_event(&td, "lbrprof", task_format);
	td_add_event(&td, "ctlchart", alarm_format);
	td_add_event(&td, "ctlchart", limit_format);
	td_add_event(&td, "sched", td_sched_switch);
	td.cmdlines = "701 one\n702 two\n703 three\n704 four\n";
	if (!put_maps(&td)) {
		fprintf(stderr, "gen_lbr: cannot find its own code\n");
		return 1;
	}
	for (cpu = 0; cpu < 2; cpu++)
		run_cpu(&td, cpu, samples / 2);
	return !td_finish(&td, argv[1]);
}
