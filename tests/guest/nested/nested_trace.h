/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nested

#if !defined(NESTED_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NESTED_TRACE_H

#include <linux/tracepoint.h>

/* clang-format off */
DECLARE_EVENT_CLASS(nested,
	TP_PROTO(u64 key),
	TP_ARGS(key),
	TP_STRUCT__entry(
		__field(u64, key)
	),
	TP_fast_assign(
		__entry->key = key;
	),
	TP_printk("key=%llu", __entry->key)
);

DEFINE_EVENT(nested, nested_begin, TP_PROTO(u64 key), TP_ARGS(key));
DEFINE_EVENT(nested, nested_end, TP_PROTO(u64 key), TP_ARGS(key));
/* clang-format on */

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE nested_trace
#include <trace/define_trace.h>
