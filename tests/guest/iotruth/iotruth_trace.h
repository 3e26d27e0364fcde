/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM iotruth

#if !defined(IOTRUTH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define IOTRUTH_TRACE_H

#include <linux/tracepoint.h>

/* clang-format off */
TRACE_EVENT(iotruth_call,
	TP_PROTO(const struct iotruth *t),
	TP_ARGS(t),
	TP_STRUCT__entry(
		__field(u64, end)
		__field(s64, result)
		__field(u64, ino)
		__field(s32, nr)
		__field(s32, fd)
		__string(name, t->name)
		__dynamic_array(u8, data, t->len)
	),
	TP_fast_assign(
		__entry->end = t->end;
		__entry->result = t->result;
		__entry->ino = t->ino;
		__entry->nr = t->nr;
		__entry->fd = t->fd;
		__assign_str(name);
		memcpy(__get_dynamic_array(data), t->data, t->len);
	),
	TP_printk("end=%llu nr=%d result=%lld fd=%d ino=%llu data=%s name=%s",
		  __entry->end, __entry->nr, __entry->result, __entry->fd, __entry->ino,
		  __print_hex_str(__get_dynamic_array(data),
				  __get_dynamic_array_len(data)),
		  __get_str(name))
);

/* clang-format on */

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE iotruth_trace
#include <trace/define_trace.h>
