// SPDX-License-Identifier: GPL-2.0
/*
 * A ring buffer whose reader is always at the writer's heels. One CPU writes serial
 * numbers, another one takes them out; nothing is overwritten, so that each number must
 * come out, in order. It takes "seconds" to load; then
 * /sys/module/ringrace/parameters has what was written, and what never came out.
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>

static unsigned int seconds = 5;
module_param(seconds, uint, 0444);

static ulong written;
module_param(written, ulong, 0444);

static ulong lost;
module_param(lost, ulong, 0444);

static struct trace_buffer *buffer;
/* The number that the reader waits for */
static ulong next;
static bool stop;
static DECLARE_COMPLETION(written_all);

/* Four to a page */
struct record {
	ulong number;
	char padding[1000];
};

/*
 * On CPU 1: some records, which begin and end anywhere in a page, then some more
 * when the reader has these
 */
static int write_numbers(void *unused)
{
	static struct record record;
	u32 burst;

	while (!READ_ONCE(stop)) {
		if (READ_ONCE(next) < written) {
			cond_resched();
			continue;
		}
		for (burst = get_random_u32_inclusive(1, 7); burst; burst--) {
			record.number = written;
			if (!ring_buffer_write(buffer, sizeof(record), &record))
				written++;
		}
	}
	complete(&written_all);
	return 0;
}

/* On CPU 0 */
static int read_numbers(void *unused)
{
	struct ring_buffer_event *event;
	ulong got;
	bool over;

	do {
		over = completion_done(&written_all);
		while ((event = ring_buffer_consume(buffer, 1, NULL, NULL))) {
			got = ((struct record *)ring_buffer_event_data(event))
				      ->number;
			lost += got - next;
			WRITE_ONCE(next, got + 1);
		}
		cond_resched();
	} while (!over);
	lost += written - next;
	return 0;
}

static struct task_struct *start(int (*fn)(void *), int cpu)
{
	struct task_struct *task =
		kthread_create_on_cpu(fn, NULL, cpu, "ringrace/%u");

	if (!IS_ERR(task)) {
		get_task_struct(task);
		wake_up_process(task);
	}
	return task;
}

static int __init ringrace_init(void)
{
	struct task_struct *reader, *writer;

	buffer = ring_buffer_alloc(16 << 10, 0);
	if (!buffer)
		return -ENOMEM;
	reader = start(read_numbers, 0);
	writer = start(write_numbers, 1);
	if (!IS_ERR(writer))
		ssleep(seconds);
	else
		complete(&written_all);
	WRITE_ONCE(stop, true);
	if (!IS_ERR(writer))
		kthread_stop_put(writer);
	if (!IS_ERR(reader))
		kthread_stop_put(reader);
	ring_buffer_free(buffer);
	return PTR_ERR_OR_ZERO(IS_ERR(writer) ? writer : reader);
}

static void __exit ringrace_exit(void)
{
}

module_init(ringrace_init);
module_exit(ringrace_exit);
MODULE_DESCRIPTION("a ring buffer's reader at the writer's heels");
MODULE_LICENSE("GPL");
