// SPDX-License-Identifier: GPL-2.0
/*
 * Events of a module, which goes away: storm:storm_begin and storm:storm_end,
 * with a key, and serial numbers. Who wants many of them writes to a parameter; all CPUs take part,
 * and the write returns when each key has had its event:
 *
 *	cd /sys/module/storm/parameters
 *	echo 'begin 0 1048576' > fire	# keys 0 to 1048575
 *	echo 'end 0 1048576' > fire
 *	echo 'serial 0 1048576' > fire	# storm:storm_serial, that number on each CPU
 *
 * With load=N, N threads do both, with keys of their own, until the module goes.
 * With linger=N, that takes N ms, during which its events are still there.
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#define CREATE_TRACE_POINTS
#include "storm_trace.h"

#define THREADS_MAX 16

static unsigned int load;
module_param(load, uint, 0444);

static unsigned int linger;
module_param(linger, uint, 0444);

static struct task_struct *threads[THREADS_MAX];

static void fire(bool begins, u64 key)
{
	if (begins)
		trace_storm_begin(key, current->comm);
	else
		trace_storm_end(key, current->comm);
}

/* What all CPUs are doing; writers of a module's parameters come one at a time */
static struct {
	bool begins;
	bool serial;
	u64 first;
	u64 count;
	atomic64_t done;
} job;

static DEFINE_PER_CPU(struct work_struct, works);

static void work(struct work_struct *unused)
{
	u64 i;

	for (i = 0; job.serial && i < job.count; i++) {
		trace_storm_serial(job.first + i);
		cond_resched();
	}
	while (!job.serial && (i = atomic64_fetch_inc(&job.done)) < job.count) {
		fire(job.begins, job.first + i);
		cond_resched();
	}
}

static int set_fire(const char *str, const struct kernel_param *kp)
{
	char what[8];
	int cpu;

	if (sscanf(str, "%7s %llu %llu", what, &job.first, &job.count) != 3 ||
	    (strcmp(what, "begin") && strcmp(what, "end") &&
	     strcmp(what, "serial")))
		return -EINVAL;
	job.begins = what[0] == 'b';
	job.serial = what[0] == 's';
	atomic64_set(&job.done, 0);
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		INIT_WORK(per_cpu_ptr(&works, cpu), work);
		schedule_work_on(cpu, per_cpu_ptr(&works, cpu));
	}
	for_each_online_cpu(cpu)
		flush_work(per_cpu_ptr(&works, cpu));
	cpus_read_unlock();
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = set_fire };

module_param_cb(fire, &fire_ops, NULL, 0200);

static int thread(void *arg)
{
	u64 key = (u64)(unsigned long)arg << 32;

	while (!kthread_should_stop()) {
		fire(true, key);
		usleep_range(50, 500);
		fire(false, key++);
	}
	return 0;
}

static void stop(void)
{
	unsigned int i;

	for (i = 0; i < load; i++) {
		if (threads[i])
			kthread_stop(threads[i]);
	}
}

static int __init storm_init(void)
{
	struct task_struct *t;
	unsigned int i;

	load = min(load, THREADS_MAX);
	for (i = 0; i < load; i++) {
		t = kthread_run(thread, (void *)(unsigned long)i, "storm/%u",
				i);
		if (IS_ERR(t)) {
			stop();
			return PTR_ERR(t);
		}
		threads[i] = t;
	}
	return 0;
}

static void __exit storm_exit(void)
{
	stop();
	msleep(linger);
}

module_init(storm_init);
module_exit(storm_exit);
MODULE_DESCRIPTION("Events for tests, of a module that comes and goes");
MODULE_LICENSE("GPL");
