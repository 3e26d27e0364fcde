// SPDX-License-Identifier: GPL-2.0
/*
 * Events, one of which interrupts the report of another at the worst moment:
 *
 *	cd /sys/module/nested/parameters
 *	echo 2 > begin		# nested:nested_begin key=2, by the writer
 *	echo 1 > begin
 *	echo 2 > interrupt	# what the interrupt ends
 *	echo 1 > end		# nested:nested_end key=1, by the writer
 *
 * While the alarm that the end of 1 raises is about to be written, a hard interrupt on
 * the same CPU ends 2. "interrupts" is the number of interrupts in time.
 */
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#define CREATE_TRACE_POINTS
#include "nested_trace.h"

static unsigned int interrupts;
module_param(interrupts, uint, 0444);

/* Of what the interrupt ends; 0 for no interrupt */
static u64 interrupt_key;
static bool interrupted;
static struct tracepoint *alarm;

static void interrupt(struct irq_work *work)
{
	trace_nested_end(interrupt_key);
	WRITE_ONCE(interrupted, true);
}

static struct irq_work work = IRQ_WORK_INIT_HARD(interrupt);

/* Called before the probe that writes the alarm event, which reads the slot */
static void alarm_probe(void *data, const void *unused)
{
	ktime_t late = ktime_add_ms(ktime_get(), 1000);

	if (!interrupt_key || irq_count() || irqs_disabled())
		return;
	WRITE_ONCE(interrupted, false);
	irq_work_queue(&work);
	while (!READ_ONCE(interrupted) && ktime_before(ktime_get(), late))
		cpu_relax();
	interrupts += READ_ONCE(interrupted);
	interrupt_key = 0;
}

static int set_key(const char *str, const struct kernel_param *kp)
{
	const char *what = kp->arg;
	u64 key;
	int ret = kstrtou64(str, 0, &key);

	if (ret)
		return ret;
	if (!strcmp(what, "begin"))
		trace_nested_begin(key);
	else if (!strcmp(what, "end"))
		trace_nested_end(key);
	else
		interrupt_key = key;
	return 0;
}

static const struct kernel_param_ops key_ops = { .set = set_key };

module_param_cb(begin, &key_ops, "begin", 0200);
module_param_cb(end, &key_ops, "end", 0200);
module_param_cb(interrupt, &key_ops, "interrupt", 0200);

static void find_alarm(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "ctlchart_alarm"))
		alarm = tp;
}

static int __init nested_init(void)
{
	for_each_kernel_tracepoint(find_alarm, NULL);
	if (!alarm)
		return -ENOENT;
	return tracepoint_probe_register_prio(alarm, alarm_probe, NULL,
					      TRACEPOINT_DEFAULT_PRIO + 1);
}

static void __exit nested_exit(void)
{
	tracepoint_probe_unregister(alarm, alarm_probe, NULL);
	tracepoint_synchronize_unregister();
	irq_work_sync(&work);
}

module_init(nested_init);
module_exit(nested_exit);
MODULE_DESCRIPTION(
	"Events for tests, one of which interrupts the report of another");
MODULE_LICENSE("GPL");
