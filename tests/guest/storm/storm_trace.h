/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM storm

#if !defined(STORM_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define STORM_TRACE_H

#include <linux/tracepoint.h>

/* clang-format off */
DECLARE_EVENT_CLASS(storm,
	TP_PROTO(u64 key, const char *name),
	TP_ARGS(key, name),
	TP_STRUCT__entry(
		__field(u64, key)
		__field(u32, low)
		__string(name, name)
	),
	TP_fast_assign(
		__entry->key = key;
		__entry->low = key & 7;
		__assign_str(name);
	),
	TP_printk("key=%llu low=%u name=%s", __entry->key, __entry->low, __get_str(name))
);

DEFINE_EVENT(storm, storm_begin, TP_PROTO(u64 key, const char *name), TP_ARGS(key, name));
DEFINE_EVENT(storm, storm_end, TP_PROTO(u64 key, const char *name), TP_ARGS(key, name));

TRACE_EVENT(storm_serial,
	TP_PROTO(u64 serial),
	TP_ARGS(serial),
	TP_STRUCT__entry(
		__field(u64, serial)
	),
	TP_fast_assign(
		__entry->serial = serial;
	),
	TP_printk("serial=%llu", __entry->serial)
);

/* clang-format on */

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE storm_trace
#include <trace/define_trace.h>
