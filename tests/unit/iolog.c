// SPDX-License-Identifier: GPL-2.0
/* Collects calls of a simulated system and writes them. */
#include <stdlib.h>

#include "iolog.h"
#include "memory.h"
#include "order.h"

/**
 * io_log_add - add a call
 * @log: log
 * @host: number of the host
 * @tid: thread
 * @tgid: process
 * @op: what it calls
 * @start: begin, ns
 * @finish: end, ns
 *
 * Return: the event, valid until the next one is added.
 */
struct io_event *io_log_add(struct io_log *log, unsigned int host, int tid,
			    int tgid, unsigned int op, int64_t start,
			    int64_t finish)
{
	struct io_event *e;

	GROW(log->event, log->nr, log->room);
	e = &log->event[log->nr++];
	*e = (struct io_event){ .host = host };
	e->call.tid = tid;
	e->call.tgid = tgid;
	e->call.op = op;
	e->call.start = start;
	e->call.finish = finish;
	return e;
}

/**
 * io_event_bytes - make a call send or receive the next bytes of a connection
 * @e: the call
 * @s: the connection
 * @server: it is a call of the server's side
 * @sends: it sends the bytes, which the other side must receive before more are sent
 * @len: number of bytes
 */
void io_event_bytes(struct io_event *e, struct io_stream *s, bool server,
		    bool sends, uint64_t len)
{
	bool sender = sends ? server : !server;

	e->call.type = IO_SOCKET;
	e->call.id = 2 * s->port + server;
	e->call.bytes = len;
	e->call.isn = s->isn[server];
	e->call.peer_isn = s->isn[!server];
	e->call.flags = IO_ISN_KNOWN;
	e->call.from = s->offset[sender];
	e->call.end = s->offset[sender] + len;
	if (!sends)
		s->offset[sender] += len;
}

static int by_finish(const void *a, const void *b)
{
	const struct io_event *x = a, *y = b;

	return ORDER(x->call.finish, y->call.finish);
}

/**
 * io_log_sort - sort the events by their ends, as records are
 * @log: log
 */
void io_log_sort(struct io_log *log)
{
	qsort(log->event, log->nr, sizeof(*log->event), by_finish);
}

static void write_event(struct td *td, struct io_event *e)
{
	struct td_record r;

	e->call.name = e->name;
	if (e->lost) {
		td_lose(td, 0, 0);
	} else if (e->wakee) {
		td_begin(&r, td, TD_ID_WAKING, e->call.tid, 36);
		td_put(&r, 24, e->wakee, 4);
		td_write(td, 0, 0, e->call.finish, &r);
	} else if (e->by) {
		io_write_request(td, 0, &e->call, e->by);
	} else if (e->fault) {
		io_write_fault(td, 0, &e->call);
	} else {
		io_write(td, 0, &e->call);
	}
}

/**
 * io_log_save - write the events of a host, which has one CPU
 * @log: log, after io_log_sort()
 * @path: file
 * @host: number of the host
 * @cmdlines: names of its threads, lines "PID COMM"
 *
 * Return: false after a message, if it cannot be written.
 */
bool io_log_save(struct io_log *log, const char *path, unsigned int host,
		 const char *cmdlines)
{
	struct td_layout layout = { .page_size = 4096, .clock = "mono" };
	struct td td;
	u64 i;

	td_init(&td, &layout, 1);
	td_add_event(&td, "iosys", io_call_format);
	if (log->faults)
		td_add_event(&td, "iosys", io_fault_format);
	if (log->requests)
		td_add_event(&td, "iosys", io_request_format);
	if (log->wakings)
		td_add_event(&td, "sched", td_sched_waking);
	td.cmdlines = cmdlines;
	for (i = 0; i < log->nr; i++) {
		if (log->event[i].host == host)
			write_event(&td, &log->event[i]);
	}
	return td_finish(&td, path);
}
