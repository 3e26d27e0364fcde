// SPDX-License-Identifier: GPL-2.0
/*
 * The load of tests/bench/coherence: on every online CPU a thread, bound to it, does
 * what is written to a parameter, first some rounds to warm up, then the counted rounds:
 *
 *	echo 'same 100 20' > /sys/module/cohload/parameters/run	# 100 rounds after 20
 *
 * same	four events cohload_start, then a cohload_end with the key of each
 * cross	same, but the ends are those of the starts of another CPU, of the next lower
 *	number, which has waited until they came
 * paced	as same, PACED times in each jiffy, so that others can send the events meanwhile;
 *	on PACED_CPUS at most, spread over all
 * padded	each CPU in turn increments a counter of its own, on a line of its own
 * shared	same, on a line that all counters share
 *
 * The write returns when all rounds are done. Long nops mark for the plugin coherence.c when
 * the phase begins, when the counted rounds begin, and when it ends.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>

#define CREATE_TRACE_POINTS
#include "cohload_trace.h"
#include "phase.h"

#define CPUS_MAX 64
#define BATCH 4
#define PACED 4
#define PACED_CPUS 8
/* Rounds after which a CPU reuses its keys */
#define ROUNDS 16

/* What only one thread writes to, and others may wait for */
static struct {
	u32 started;
	u32 ended;
	u32 padded;
} ____cacheline_aligned mine[CPUS_MAX];

static struct {
	u32 counters[16];
} ____cacheline_aligned shared;

static struct {
	u32 turn;
} ____cacheline_aligned turns;

static struct {
	atomic_t arrived;
} ____cacheline_aligned barrier;

static struct {
	void (*round)(unsigned int cpu, u32 n);
	u32 warm;
	u32 rounds;
	/* Each STEPth CPU has a thread; their number */
	unsigned int step;
	unsigned int cpus;
	atomic_t running;
	struct completion done;
} job;

/* All threads come to this; @n: how many times before */
static void meet(u32 n)
{
	atomic_inc(&barrier.arrived);
	while (atomic_read(&barrier.arrived) < (n + 1) * job.cpus)
		cpu_relax();
}

static u64 key_of(unsigned int cpu, u32 n, unsigned int i)
{
	return cpu << 16 | (n % ROUNDS * BATCH + i);
}

static void start_batch(unsigned int cpu, u32 n)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++)
		trace_cohload_start(key_of(cpu, n, i), i);
}

static void end_batch(unsigned int cpu, u32 n)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++)
		trace_cohload_end(key_of(cpu, n, i), i);
}

static void same(unsigned int cpu, u32 n)
{
	start_batch(cpu, n);
	end_batch(cpu, n);
}

/* Until *@counter is @n: it never is far from it */
static void wait_for(u32 *counter, u32 n)
{
	while ((s32)(smp_load_acquire(counter) - n) < 0)
		cpu_relax();
}

static void cross(unsigned int cpu, u32 n)
{
	unsigned int before = (cpu ?: job.cpus) - 1,
		     after = (cpu + 1) % job.cpus;

	start_batch(cpu, n);
	smp_store_release(&mine[cpu].started, n + 1);
	wait_for(&mine[before].started, n + 1);
	end_batch(before, n);
	smp_store_release(&mine[cpu].ended, n + 1);
	wait_for(&mine[after].ended, n + 1);
}

/* The plugin's counts of these two are known beforehand */
static noinline void cohload_increment(u32 *counter)
{
	asm volatile("incl %0" : "+m"(*counter));
}

static noinline void cohload_increment_padded(u32 *counter)
{
	asm volatile("incl %0" : "+m"(*counter));
}

static void in_turn(unsigned int cpu, u32 n, void (*increment)(u32 *),
		    u32 *counter)
{
	u32 turn = n * job.cpus + cpu;

	wait_for(&turns.turn, turn);
	increment(counter);
	smp_store_release(&turns.turn, turn + 1);
}

static void padded(unsigned int cpu, u32 n)
{
	in_turn(cpu, n, cohload_increment_padded, &mine[cpu].padded);
}

static void false_sharing(unsigned int cpu, u32 n)
{
	in_turn(cpu, n, cohload_increment, &shared.counters[cpu % 16]);
}

static void paced(unsigned int cpu, u32 n)
{
	unsigned int i;

	for (i = 0; i < PACED; i++)
		same(cpu, n * PACED + i);
	schedule_timeout_uninterruptible(1);
}

static const struct {
	const char *name;
	void (*round)(unsigned int cpu, u32 n);
} modes[] = {
	{ "same", same },     { "cross", cross },	   { "paced", paced },
	{ "padded", padded }, { "shared", false_sharing },
};

static int thread(void *arg)
{
	unsigned int cpu = (unsigned long)arg;
	u32 n;

	meet(0);
	for (n = 0; n < job.warm; n++) {
		job.round(cpu, n);
		cond_resched();
	}
	meet(1);
	if (!cpu)
		PHASE_COUNT();
	meet(2);
	for (; n < job.warm + job.rounds; n++) {
		job.round(cpu, n);
		cond_resched();
	}
	meet(3);
	if (!cpu)
		PHASE_END();
	if (atomic_dec_and_test(&job.running))
		complete(&job.done);
	return 0;
}

static int start_threads(void)
{
	struct task_struct *threads[CPUS_MAX];
	unsigned int n = 0;
	int cpu;

	for_each_online_cpu(cpu) {
		if (cpu % job.step)
			continue;
		threads[n] = kthread_create_on_cpu(
			thread, (void *)(unsigned long)n, cpu, "cohload/%u");
		if (IS_ERR(threads[n])) {
			int error = PTR_ERR(threads[n]);

			while (n--)
				kthread_stop(threads[n]);
			return error;
		}
		n++;
	}
	while (n--)
		wake_up_process(threads[n]);
	return 0;
}

static void choose_cpus(void)
{
	int cpu;

	job.step = 1;
	if (job.round == paced)
		job.step = DIV_ROUND_UP(num_online_cpus(), PACED_CPUS);
	job.cpus = 0;
	for_each_online_cpu(cpu)
		job.cpus += cpu % job.step == 0;
}

static int set_run(const char *str, const struct kernel_param *kp)
{
	char mode[8];
	size_t i;
	int ret;

	if (sscanf(str, "%7s %u %u", mode, &job.rounds, &job.warm) != 3)
		return -EINVAL;
	job.round = NULL;
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		if (!strcmp(mode, modes[i].name))
			job.round = modes[i].round;
	}
	if (!job.round)
		return -EINVAL;
	cpus_read_lock();
	choose_cpus();
	ret = -E2BIG;
	if (job.cpus > CPUS_MAX)
		goto unlock;
	memset(mine, 0, sizeof(mine));
	turns.turn = 0;
	atomic_set(&barrier.arrived, 0);
	atomic_set(&job.running, job.cpus);
	init_completion(&job.done);
	PHASE_BEGIN();
	ret = start_threads();
	if (!ret)
		wait_for_completion(&job.done);
unlock:
	cpus_read_unlock();
	return ret;
}

static const struct kernel_param_ops run_ops = { .set = set_run };

module_param_cb(run, &run_ops, NULL, 0200);

static int __init cohload_init(void)
{
	return 0;
}

static void __exit cohload_exit(void)
{
}

module_init(cohload_init);
module_exit(cohload_exit);
MODULE_DESCRIPTION(
	"Events on all CPUs, for a count of the cache lines that move");
MODULE_LICENSE("GPL");
