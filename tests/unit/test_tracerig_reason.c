// SPDX-License-Identifier: GPL-2.0
/* tracerig: what most of an operation's time was, which makes cases alike or not. */
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "memory.h"
#include "reason.h"
#include "store.h"
#include "suite.h"
#include "tracepage.h"

#define PAGE 4096
#define CPUS 2

/* The operation is of this thread, or of the request for sector 800 of disk 8:16 */
#define THREAD 42
#define START 100000
#define END 200000

#define FORMAT(name, id)                                                               \
	"name: " name "\nID: " id "\nformat:\n"                                        \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define NUMBER(name, at) \
	"\tfield:unsigned int " name ";\toffset:" at ";\tsize:4;\tsigned:0;\n"
#define TEXT(name, at) \
	"\tfield:char " name "[16];\toffset:" at ";\tsize:16;\tsigned:0;\n"
#define PRINT "\nprint fmt: \"\"\n"

enum { SWITCH = 1, WAKING, IRQ, IRQ_EXIT, SOFTIRQ, SOFTIRQ_EXIT, ISSUE };

static const struct {
	const char *system, *format;
} formats[] = {
	{ "sched", FORMAT("sched_switch", "1") NUMBER("prev_pid", "8")
			   NUMBER("next_pid", "12") NUMBER("prev_state", "16")
				   TEXT("prev_comm", "20")
					   TEXT("next_comm", "36") PRINT },
	{ "sched", FORMAT("sched_waking", "2") NUMBER("pid", "8") PRINT },
	{ "irq", FORMAT("irq_handler_entry", "3") NUMBER("irq", "8")
			 TEXT("name", "20") PRINT },
	{ "irq", FORMAT("irq_handler_exit", "4") NUMBER("irq", "8") PRINT },
	{ "irq", FORMAT("softirq_entry", "5") NUMBER("vec", "8") PRINT },
	{ "irq", FORMAT("softirq_exit", "6") NUMBER("vec", "8") PRINT },
	{ "block", FORMAT("block_rq_issue", "7") NUMBER("dev", "8") NUMBER(
			   "sector", "12") NUMBER("nr_sector", "16") PRINT },
};

struct event {
	u16 type;
	u8 flags;
	u8 count;
	s32 pid;
	u32 number[3];
	char text[2][16];
};

/* An event of the recording: when and where, what, by which thread; numbers and texts */
struct step {
	u64 ts;
	unsigned int cpu;
	struct event e;
};

#define SWITCHES(ts, cpu, from, a, state, to, b)                 \
	{                                                        \
		ts, cpu,                                         \
		{                                                \
			SWITCH, 0, 0, from, { from, to, state }, \
			{                                        \
				a, b                             \
			}                                        \
		}                                                \
	}
#define WAKES(ts, cpu, by, flags)                         \
	{                                                 \
		ts, cpu,                                  \
		{                                         \
			WAKING, flags, 0, by, { THREAD }, \
			{                                 \
				""                        \
			}                                 \
		}                                         \
	}
#define IS(what, ts, cpu, in, n, name)         \
	{                                      \
		ts, cpu,                       \
		{                              \
			what, 0, 0, in, { n }, \
			{                      \
				name           \
			}                      \
		}                              \
	}
#define ISSUES(ts, dev, sector, n)                          \
	{                                                   \
		ts, 1,                                      \
		{                                           \
			ISSUE, 0, 0, 9, { dev, sector, n }, \
			{                                   \
				""                          \
			}                                   \
		}                                           \
	}

static const struct {
	const char *keys, *want;
	int pid; /* current at the start */
	struct step step[10];
} looks[] = {
	/* It computes, and is away for less time than that */
	{ "common_pid=42",
	  "computing",
	  THREAD,
	  { SWITCHES(110000, 0, THREAD, "me", 1, 7, "other"),
	    WAKES(130000, 1, 9, 0),
	    SWITCHES(135000, 0, 7, "other", 1, THREAD, "me") } },
	/* A task wakes it: its name is known before, or only later; numbers at its end do not count */
	{ "common_pid=42",
	  "blocked until jbd",
	  THREAD,
	  { SWITCHES(105000, 1, 8, "x", 1, 9, "jbd2"),
	    SWITCHES(110000, 0, THREAD, "me", 2, 7, "other"),
	    WAKES(190000, 1, 9, 0),
	    SWITCHES(191000, 0, 7, "other", 1, THREAD, "me") } },
	{ "common_pid=42",
	  "blocked until jbd",
	  THREAD,
	  { SWITCHES(110000, 0, THREAD, "me", 2, 7, "other"),
	    WAKES(190000, 1, 9, 0),
	    SWITCHES(191000, 0, 7, "other", 1, THREAD, "me"),
	    SWITCHES(195000, 1, 9, "jbd2", 1, 8, "x") } },
	/* An interrupt, with its handler and without, and a softirq */
	{ "common_pid=42",
	  "blocked until interrupt nvme0q",
	  THREAD,
	  { SWITCHES(110000, 0, THREAD, "me", 2, 0, "swapper/0"),
	    IS(IRQ, 190000, 1, 9, 33, "nvme0q3"), WAKES(190100, 1, 9, 8),
	    IS(IRQ_EXIT, 190200, 1, 9, 33, ""),
	    SWITCHES(191000, 0, 0, "swapper/0", 0, THREAD, "me") } },
	{ "common_pid=42",
	  "blocked until softirq NET_RX",
	  THREAD,
	  { SWITCHES(110000, 0, THREAD, "me", 1, 0, "swapper/0"),
	    IS(SOFTIRQ, 190000, 1, 9, 3, ""), WAKES(190100, 1, 9, 16),
	    SWITCHES(191000, 0, 0, "swapper/0", 0, THREAD, "me") } },
	{ "common_pid=42",
	  "blocked until a timer or IPI",
	  THREAD,
	  { SWITCHES(110000, 0, THREAD, "me", 1, 0, "swapper/0"),
	    WAKES(190100, 1, 9, 8) } },
	/* A timer's interrupt, within a softirq */
	{ "common_pid=42",
	  "blocked until a timer or IPI",
	  THREAD,
	  { SWITCHES(110000, 0, THREAD, "me", 1, 0, "swapper/0"),
	    IS(SOFTIRQ, 190000, 1, 9, 3, ""), WAKES(190100, 1, 9, 24),
	    SWITCHES(191000, 0, 0, "swapper/0", 0, THREAD, "me") } },
	/* It could run, but others did: it was preempted, or woken */
	{ "common_pid=42",
	  "waiting for a CPU: hog",
	  THREAD,
	  { SWITCHES(110000, 0, THREAD, "me", 256, 7, "hog"),
	    SWITCHES(190000, 0, 7, "hog", 0, THREAD, "me") } },
	{ "pid=42",
	  "waiting for a CPU: hog",
	  9,
	  { WAKES(START, 1, 9, 0),
	    SWITCHES(END, 0, 7, "hog", 0, THREAD, "me") } },
	{ "pid=42",
	  "waiting for a CPU",
	  9,
	  { WAKES(START, 1, 9, 0),
	    SWITCHES(END, 0, 0, "swapper/0", 0, THREAD, "me") } },
	/* What wakes it while it runs ends nothing; what is before the operation does not count */
	{ "common_pid=42",
	  "computing",
	  THREAD,
	  { SWITCHES(1000, 0, THREAD, "me", 1, 7, "other"),
	    SWITCHES(90000, 0, 7, "other", 1, THREAD, "me"),
	    WAKES(110000, 1, 9, 0) } },
	/* Interrupts have its CPU */
	{ "common_pid=42",
	  "interrupts",
	  THREAD,
	  { IS(IRQ, 110000, 0, THREAD, 33, "eth0"),
	    IS(SOFTIRQ, 120000, 0, THREAD, 3, ""),
	    IS(IRQ_EXIT, 130000, 0, THREAD, 33, ""),
	    IS(SOFTIRQ_EXIT, 180000, 0, THREAD, 3, "") } },
	/* With PREEMPT_RT, a softirq whose thread loses the CPU does not have the time */
	{ "common_pid=42",
	  "waiting for a CPU: hog",
	  THREAD,
	  { IS(SOFTIRQ, 105000, 0, THREAD, 3, ""),
	    SWITCHES(110000, 0, THREAD, "me", 256, 7, "hog"),
	    SWITCHES(190000, 0, 7, "hog", 0, THREAD, "me"),
	    IS(SOFTIRQ_EXIT, 191000, 0, THREAD, 3, "") } },
	/* A request: of that disk and sector, merged with others before it */
	{ "dev=8:16 sector=800",
	  "device",
	  9,
	  { ISSUES(110000, 8 << 20 | 16, 792, 16),
	    ISSUES(190000, 8 << 20 | 16, 808, 8),
	    ISSUES(190000, 8 << 20 | 32, 800, 8) } },
	{ "dev=8:16 sector=800",
	  "queue of device",
	  9,
	  { ISSUES(50000, 8 << 20 | 16, 800, 8),
	    ISSUES(190000, 8 << 20 | 16, 800, 8) } },
	/* It is not known: nothing is recorded, or nothing of the thread, or no thread is named */
	{ "dev=8:16 sector=800", "", 9, { ISSUES(110000, 8 << 20, 800, 8) } },
	{ "pid=42", "", 9, { SWITCHES(110000, 0, 6, "x", 1, 7, "y") } },
	{ "id=3", "", THREAD, { WAKES(110000, 1, 9, 0) } },
};

/* Two pages of each CPU: the second one begins in the operation */
static void make_reader(struct reader *r, const struct step *step)
{
	struct spool *s = &r->spool;
	size_t i, page, cpu;

	memset(r, 0, sizeof(*r));
	r->cpus = CPUS;
	r->buf = xzalloc(PAGE);
	r->k = reader_kbuffer();
	r->tep = tep_alloc();
	for (i = 0; i < ARRAY_SIZE(formats); i++)
		ck_assert(!tep_parse_event(r->tep, formats[i].format,
					   strlen(formats[i].format),
					   formats[i].system));
	*s = (struct spool){ .page_size = PAGE, .in_memory = 4, .file = -1 };
	s->memory = xcalloc(4, PAGE);
	s->cpu = xcalloc(4, sizeof(*s->cpu));
	for (page = 0; page < 2; page++) {
		for (cpu = 0; cpu < CPUS; cpu++) {
			struct tracepage p = { .long_size = sizeof(long),
					       .size = PAGE };
			u64 begin = page ? 125000 : 500;

			p.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
			p.data = s->memory + s->nr * PAGE;
			tracepage_begin(&p, begin);
			for (i = 0; step[i].ts; i++) {
				if (step[i].cpu == cpu &&
				    (step[i].ts >= 125000) == page)
					tracepage_event(&p, step[i].ts,
							&step[i].e,
							sizeof(step[i].e));
			}
			tracepage_seal(&p, false, 0);
			s->cpu[s->nr++] = cpu;
		}
	}
}

START_TEST(reason)
{
	struct reader *r = xzalloc(sizeof(*r));
	struct alarm *lead = &r->alarms.lead;
	char got[REASON_SIZE];

	make_reader(r, looks[_i].step);
	lead->start = START;
	lead->value = END - START;
	lead->pid = looks[_i].pid;
	snprintf(lead->keys, sizeof(lead->keys), "%s", looks[_i].keys);
	reason_of(r, got);
	ck_assert_str_eq(got, looks[_i].want);
	/* A value that is not a time */
	lead->start = 0;
	reason_of(r, got);
	ck_assert_str_eq(got, "");
	reader_close(r);
	free(r);
}
END_TEST

/* Reasons make groups, but not too many */
START_TEST(many_reasons)
{
	struct store s = { .lock = -1 };
	char name[100], reason[32];
	unsigned int i;

	for (i = 0; i < REASONS_MAX; i++) {
		snprintf(name, sizeof(name), "disk fio");
		snprintf(reason, sizeof(reason), "reason %u", i);
		group_add_reason(&s, reason, name, sizeof(name));
		store_group(&s, name);
	}
	ck_assert_str_eq(name, "disk fio, reason 7");
	snprintf(name, sizeof(name), "disk fio");
	group_add_reason(&s, "one more", name, sizeof(name));
	ck_assert_str_eq(name, "disk fio, another reason");
	store_group(&s, name);
	snprintf(name, sizeof(name), "disk fio");
	group_add_reason(&s, "reason 3", name, sizeof(name));
	ck_assert_str_eq(name, "disk fio, reason 3");
	/* Other programs have reasons of their own; without one, the group is as it is */
	snprintf(name, sizeof(name), "disk fi");
	group_add_reason(&s, "one more", name, sizeof(name));
	ck_assert_str_eq(name, "disk fi, one more");
	snprintf(name, sizeof(name), "disk fio");
	group_add_reason(&s, "", name, sizeof(name));
	ck_assert_str_eq(name, "disk fio");
	store_close(&s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tracerig_reason");
	TCase *t = tcase_create("reason");

	tcase_add_loop_test(t, reason, 0, ARRAY_SIZE(looks));
	tcase_add_test(t, many_reasons);
	suite_add_tcase(s, t);
	return run_suite(s);
}
