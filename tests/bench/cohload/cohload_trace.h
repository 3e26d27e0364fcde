/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM cohload

#if !defined(COHLOAD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define COHLOAD_TRACE_H

#include <linux/tracepoint.h>

/* clang-format off */
DECLARE_EVENT_CLASS(cohload,
	TP_PROTO(u64 key, u32 part),
	TP_ARGS(key, part),
	TP_STRUCT__entry(
		__field(u64, key)
		__field(u32, part)
	),
	TP_fast_assign(
		__entry->key = key;
		__entry->part = part;
	),
	TP_printk("key=%llu part=%u", __entry->key, __entry->part)
);

DEFINE_EVENT(cohload, cohload_start, TP_PROTO(u64 key, u32 part), TP_ARGS(key, part));
DEFINE_EVENT(cohload, cohload_end, TP_PROTO(u64 key, u32 part), TP_ARGS(key, part));

/* clang-format on */

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE cohload_trace
#include <trace/define_trace.h>
