/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of all files: hosts, calls, and what links them. */
#ifndef IOREQ_MODEL_H
#define IOREQ_MODEL_H

#include <stdbool.h>

#include "clocks.h"
#include "hash.h"
#include "memory.h"

#define COMM_SIZE 17
#define OP_SIZE 24

/* Types of objects: S_IFSOCK >> 12 and so on */
#define TYPE_FIFO 1
#define TYPE_DIR 4
#define TYPE_BLOCK 6
#define TYPE_FILE 8
#define TYPE_SOCKET 12

/**
 * enum by - the grouping key: what the calls of a sum have in common
 * @BY_HOST:	host
 * @BY_COMM:	name of the process
 * @BY_PROCESS:	process
 * @BY_CALL:	system call, request to io_uring or aio, or page fault
 * @BY_OBJECT:	object
 * @BY_SIZE:	bytes transferred, rounded down to a power of two
 * @BY_CLIENT:	client of the request that the call was made for
 * @BY_STACK:	call stack
 */
enum by {
	BY_HOST = 1,
	BY_COMM = 2,
	BY_PROCESS = 4,
	BY_CALL = 8,
	BY_OBJECT = 16,
	BY_SIZE = 32,
	BY_CLIENT = 64,
	BY_STACK = 128,
};

/**
 * struct times - a set of durations (or of sizes) and its percentiles
 * @time:	the values, ns (or bytes); in any order after times_finish()
 * @nr:		number of values
 * @room:	allocated entries of @time
 * @sum:	sum of the values
 * @p50:	median
 * @p99:	nearest-rank 99th percentile
 * @max:	maximum
 */
struct times {
	u64 *time;
	u64 nr;
	u64 room;
	u64 sum;
	u64 p50;
	u64 p99;
	u64 max;
};

/**
 * struct sum - the calls with one value of the grouping key
 *
 * Fields outside the key are 0 or "".
 *
 * @host:	number of the host, from 0
 * @tgid:	process
 * @comm:	name of the process
 * @op:		name of the call
 * @type:	type of the object (S_IFREG >> 12 and so on)
 * @dev:	device of the object
 * @id:		inode number of the object, or the socket's cookie
 * @name:	path or addresses of the object; "" if it has none
 * @size:	each call transferred at least @size and fewer than 2 * @size bytes;
 *		0: none
 * @client:	client that the calls were made for; NULL if unknown
 * @stack:	call stack, see stack_key()
 * @errors:	number of failed calls
 * @bytes:	bytes transferred
 * @times:	durations of the calls
 */
struct sum {
	u32 host;
	s32 tgid;
	char comm[COMM_SIZE];
	char op[OP_SIZE];
	u8 type;
	u32 dev;
	u64 id;
	char *name;
	u64 size;
	const struct endpoint *client;
	u64 stack;
	u64 errors;
	u64 bytes;
	struct times times;
};

/**
 * struct pending - a call, request or fault whose end was not seen while it was
 *	recorded
 * @host:	number of the host
 * @pid:	thread
 * @tgid:	process
 * @comm:	name of the thread
 * @op:		name of the call
 * @name:	name of its object
 * @start:	begin, ns of the host's CLOCK_MONOTONIC
 * @time:	time from @start to the last event about it, ns
 * @ended:	the end is in the file after all
 */
struct pending {
	u32 host;
	s32 pid;
	s32 tgid;
	char comm[COMM_SIZE];
	char op[OP_SIZE];
	char *name;
	u64 start;
	u64 time;
	bool ended;
};

/**
 * struct gap - a time in which records were lost, so that calls that ended in it may be
 *	missing
 * @begin:	end of the last call before it on the same CPU, ns of CLOCK_MONOTONIC
 * @end:	end of the first call after it, or UINT64_MAX
 */
struct gap {
	u64 begin;
	u64 end;
};

/**
 * struct host - a host, which is one file
 * @name:	name of the host
 * @named:	the name is from the command line, not from the file's name
 * @file:	path of the trace
 * @known_stacks: path of a copy of its kernel's file iosys_stacks, or NULL
 * @calls:	number of io_syscall, io_request and io_fault events
 * @gaps:	number of times that records were lost
 * @first:	begin of the first call, ns of its CLOCK_MONOTONIC
 * @gap:	when records were lost; after model_link() sorted and disjoint
 * @nr_gaps:	number of entries of @gap
 * @room:	allocated entries of @gap
 * @udp:	number of calls that transferred bytes over UDP
 * @switches:	there are sched_switch events
 * @stock:	the calls are from events of a kernel without iosys
 * @trouble:	why the file was not read to its end, or NULL; a host without calls is
 *		left out of the result
 */
struct host {
	char *name;
	bool named;
	const char *file;
	const char *known_stacks;
	u64 calls;
	u64 gaps;
	u64 first;
	u64 udp;
	bool switches;
	struct gap *gap;
	u64 nr_gaps;
	u64 room;
	bool stock;
	char *trouble;
};

/* Host of an endpoint that was not recorded: its name is its address */
#define NO_HOST UINT32_MAX

/**
 * enum role - sides of a connection
 * @ROLE_CLIENT:	sends requests
 * @ROLE_SERVER:	sends responses
 */
enum role { ROLE_CLIENT, ROLE_SERVER };

/**
 * enum step - what a server's thread does during a request
 * @STEP_ARRIVING:	calls that receive more of the request, and polls before all of it
 *			has arrived
 * @STEP_OWN_SOCKET:	other calls on the request's own socket: send the response
 * @STEP_FILE:		calls on files, directories and disks, and faults on mapped
 *			files
 * @STEP_SYNC:		calls that wait until data is on disk
 * @STEP_SOCKET:	calls on other sockets
 * @STEP_PIPE:		calls on pipes
 * @STEP_POLL:		calls that wait for any of several descriptors
 * @STEP_OTHER:		other calls
 * @STEP_NO_CALL:	no call, and it is unknown whether it is on a CPU
 * @STEP_COMPUTING:	no call, on a CPU
 * @STEP_RUNNABLE:	no call, waiting for a CPU
 * @STEP_SLEEPING:	no call, blocked: waiting for a lock, for memory or a time
 * @STEP_AMBIGUOUS_NO_CALL: as STEP_NO_CALL, of a thread that handles several requests, and
 *			it is unknown for which of them
 * @STEP_AMBIGUOUS_COMPUTING: likewise, on a CPU
 * @STEPS:		number of steps
 */
enum step {
	STEP_ARRIVING,
	STEP_OWN_SOCKET,
	STEP_FILE,
	STEP_SYNC,
	STEP_SOCKET,
	STEP_PIPE,
	STEP_POLL,
	STEP_OTHER,
	STEP_NO_CALL,
	STEP_COMPUTING,
	STEP_RUNNABLE,
	STEP_SLEEPING,
	STEP_AMBIGUOUS_NO_CALL,
	STEP_AMBIGUOUS_COMPUTING,
	STEPS
};

/**
 * struct endpoint - a client or a server
 * @host:	number of the host, or NO_HOST
 * @name:	name of the process, or the address
 * @address:	where a server listens: ADDRESS:PORT, *:PORT if its processes listen at
 *		several addresses, or the path of its socket; "" for clients and if
 *		unknown
 */
struct endpoint {
	u32 host;
	char *name;
	char *address;
};

/**
 * struct flow - the requests of a client to a server
 * @client:		the client
 * @server:		the server
 * @requests:		number of requests with a response
 * @unclear:		of these, requests that both ends did not see alike
 * @multiplexed:	number of multiplexed connections, whose requests are all unclear
 * @maybe_multiplexed:	number of connections that may be multiplexed, whose requests are all
 *			unclear
 * @guessed:		number of connections of which it is only a guess which end is
 *			the server
 * @unanswered:		number of requests without a response
 * @unanswered_time:	how long these were in flight, ns
 * @failed_connections:	number of these that are connections that failed before they
 *			transferred any bytes
 * @cut_off:		number of these whose response was cut off
 * @pushed:		number of messages of the server without a request
 * @sent:		bytes of requests
 * @received:		bytes of responses
 * @response_time:	the client's time, from the begin of its first call that sends
 *			to the end of its last call that receives; of all requests with
 *			a response; empty if the client was not recorded
 * @service_time:	the server's time, from the end of its first call that receives
 *			to the end of its last call that sends; of the requests that are
 *			not unclear
 * @stepped:		of these, requests that one thread of the server handled alone
 * @step:		service time of the requests counted in @stepped, by enum step,
 *			ns
 * @network_time:	sum of the response times less the service times: network,
 *			buffers and backlog; negative if the clocks' rates differ
 * @contradicted:	number of requests between hosts whose service time exceeds the response
 *			time
 * @split:		of these, requests for which the clocks are known well enough
 *			for the next four fields
 * @to_server:		from the begin of the client's first call to the end of the
 *			server's call that received the first bytes, by aligned clocks,
 *			ns
 * @server_late:	part of @to_server in which the server's thread did not wait for
 *			input, ns
 * @to_client:		from the end of the server's last call to the end of the
 *			client's last call, ns
 * @client_late:	part of @to_client in which the client's thread did not wait for
 *			input, ns
 */
struct flow {
	const struct endpoint *client;
	const struct endpoint *server;
	u64 requests;
	u64 unclear;
	u64 multiplexed;
	u64 maybe_multiplexed;
	u64 guessed;
	u64 unanswered;
	u64 unanswered_time;
	u64 failed_connections;
	u64 cut_off;
	u64 pushed;
	u64 sent;
	u64 received;
	struct times response_time;
	struct times service_time;
	u64 stepped;
	u64 step[STEPS];
	s64 network_time;
	u64 contradicted;
	u64 split;
	u64 to_server;
	u64 server_late;
	u64 to_client;
	u64 client_late;
};

/**
 * struct view - what one side saw of a request
 * @seen:	this side was recorded
 * @alone:	one thread made all calls
 * @host:	number of the host
 * @pid:	thread of the first call
 * @last_pid:	thread of the last call
 * @id:		cookie of the socket
 * @begin:	begin of the client's first call, or end of the server's first call, ns
 *		of the host
 * @over:	end of the last call of the response; 0 if there is no response
 * @sent:	end of the last call that sent or received the request
 * @paused:	time between the calls that sent or received the request, ns
 * @until:	if there is no response: the end of the thread's last call on the socket
 *		after @sent (such as one that fails or closes it), or of the trace; else
 *		0
 */
struct view {
	bool seen;
	bool alone;
	u32 host;
	s32 pid;
	s32 last_pid;
	u64 id;
	u64 begin;
	u64 over;
	u64 sent;
	u64 paused;
	u64 until;
};

/* When it was over, or known to be unanswered */
static inline u64 view_over(const struct view *p)
{
	return p->until ? p->until : p->over;
}

/**
 * struct request - a request
 * @endpoint:	client and server, by enum role
 * @view:	what each saw; the server's is empty if it differs from the client's
 * @name:	addresses, as the side @named has them; of a Unix socket the server's
 *		name, or ""
 * @local:	it went through a Unix socket or pipes
 * @via_pipe:	it went through pipes
 * @named:	the side whose own address is first in @name
 * @sent:	bytes of the request
 * @received:	bytes of the response
 * @late:	if both sides are on one host: time in which there were bytes for a side,
 *		and its thread did not wait for input, by enum role, ns
 * @to_client:	from the end of the server's last call to the end of the client's last
 *		call, ns; 0 if the clocks do not show it
 * @answered:	it has a response that was not cut off
 * @cut_off:	its response was cut off, as @failure says
 * @unclear:	both ends were recorded, and did not see it alike
 * @multiplexed:	its connection is, or may be, multiplexed: the bytes may be of several
 *		requests
 * @maybe_multiplexed: it may be multiplexed, but need not
 * @failure:	why its connection failed before it transferred any bytes, or why its response
 *		was cut off; or NULL
 * @parent:	the request that the client's thread was handling, and that this one was
 *		made for; NULL if there is none, or if @ambiguous
 * @ambiguous:	it may have been made for one of several requests, possibly because
 *		records were lost
 * @queued:	it is ambiguous, and its thread's requests wait for one another
 * @contradicted: by the clocks of two hosts, its service time exceeds its response
 *		time
 * @outlives:	the request that it was made for and that did not wait for its response;
 *		then @parent is NULL
 * @marked:	see select_requests()
 */
struct request {
	const struct endpoint *endpoint[2];
	struct view view[2];
	const char *name;
	bool local;
	bool via_pipe;
	enum role named;
	u64 sent;
	u64 received;
	u64 late[2];
	u64 to_client;
	bool answered;
	bool cut_off;
	bool unclear;
	bool multiplexed;
	bool maybe_multiplexed;
	const char *failure;
	struct request *parent;
	bool ambiguous;
	bool queued;
	bool contradicted;
	struct request *outlives;
	bool marked;
};

/**
 * struct wakeup - a thread woke another one
 * @time:	when, ns of CLOCK_MONOTONIC
 * @host:	number of the host
 * @waker:	thread that caused it
 * @wakee:	thread that was made runnable
 */
struct wakeup {
	u64 time;
	u32 host;
	s32 waker;
	s32 wakee;
};

/**
 * enum sched_what - what happened to a thread
 * @SCHED_LEFT_BLOCKED:		it left its CPU, blocked
 * @SCHED_LEFT_RUNNABLE:	it left its CPU to another one
 * @SCHED_WOKEN:		it was woken
 * @SCHED_CAME:			it came to a CPU
 */
enum sched_what {
	SCHED_LEFT_BLOCKED,
	SCHED_LEFT_RUNNABLE,
	SCHED_WOKEN,
	SCHED_CAME
};

/**
 * struct sched_event - a switch or waking
 * @time:	when, ns of CLOCK_MONOTONIC
 * @number:	number of the event, in order of time
 * @host:	number of the host
 * @pid:	thread
 * @what:	what happened to it
 * @waker:	name of the thread that woke it; NULL: an interrupt did
 */
struct sched_event {
	u64 time;
	u64 number;
	u32 host;
	s32 pid;
	enum sched_what what;
	const char *waker;
};

/**
 * struct off_cpu - a time in which a thread was not on a CPU
 * @host:	number of the host
 * @pid:	thread
 * @begin:	when it left its CPU, ns of CLOCK_MONOTONIC
 * @runnable:	end of its sleep: it waited for a CPU then
 * @end:	when it came to a CPU
 * @waker:	name of the thread that woke it; NULL: none, or it is unknown
 */
struct off_cpu {
	u32 host;
	s32 pid;
	u64 begin;
	u64 runnable;
	u64 end;
	const char *waker;
};

/**
 * struct pipe_range - byte range that a call wrote to a pipe or read from one
 * @time:	when the bytes left the caller or were available to it, ns of
 *		CLOCK_MONOTONIC
 * @host:	number of the host
 * @pid:	thread
 * @tgid:	process
 * @peer:	process at the other end; 0: none, or one that both reads and writes;
 *		-1: several
 * @comm:	name of the process
 * @start:	begin of the call
 * @finish:	end of the call
 * @pipe:	number of the pipe
 * @from:	offset of the first byte in the pipe
 * @end:	offset after the last byte
 * @written:	the bytes were written
 * @passed:	they were read and written elsewhere by the same call
 * @peeked:	they were read and stay in the pipe
 * @async:	the call is a request to io_uring or aio
 * @ranges:	number of byte ranges of the call, in its first one; 0 in the others
 */
struct pipe_range {
	u64 time;
	u32 host;
	s32 pid;
	s32 tgid;
	s32 peer;
	const char *comm;
	u64 start;
	u64 finish;
	u64 pipe;
	u64 from;
	u64 end;
	bool written;
	bool passed;
	bool peeked;
	bool async;
	u32 ranges;
};

/**
 * struct object - what a file descriptor refers to
 * @type:	type (S_IFREG >> 12 and so on)
 * @dev:	device
 * @id:		inode number, or the socket's cookie
 * @name:	path or addresses; "" if it has none
 */
struct object {
	u8 type;
	u32 dev;
	u64 id;
	char *name;
};

/**
 * struct call - a call
 * @start:	begin, ns of its host
 * @duration:	duration, ns
 * @result:	return value
 * @bytes:	bytes transferred
 * @object:	number of its object in the log
 * @op:		number of its name in the log
 * @step:	kind of call, enum step
 * @marked:	see select_requests()
 * @overlaps:	the thread was, or may have been, in another call at the same time
 * @via_pipe:	the byte ranges that it wrote to or read from pipes are known
 * @fd:		descriptor
 * @stack:	number of its stack, or 0
 * @socket:	cookie of its socket, or 0
 * @client:	client that it was made for, see clients_sum()
 */
struct call {
	u64 start;
	u64 duration;
	s64 result;
	u64 bytes;
	u32 object;
	u16 op;
	u8 step;
	bool marked;
	bool overlaps;
	bool via_pipe;
	s32 fd;
	u32 stack;
	u64 socket;
	const struct endpoint *client;
};

/**
 * struct thread - a thread and its calls
 * @host:	number of the host
 * @pid:	thread ID
 * @tgid:	process ID
 * @process:	number of the process among those of all hosts, from 0
 * @number:	number of the thread among those of all hosts, from 0
 * @comm:	name of the process
 * @call:	its calls, sorted by their ends
 * @nr:		number of calls
 * @room:	allocated entries of @call
 */
struct thread {
	u32 host;
	s32 pid;
	s32 tgid;
	u32 process;
	u32 number;
	char comm[COMM_SIZE];
	struct call *call;
	u64 nr;
	u64 room;
};

/**
 * struct read_sum - what processes of one name read from an object
 * @host:	number of the host
 * @comm:	name of the processes
 * @object:	the object; without name and id if the bytes were read outside of any
 *		call
 * @asked:	bytes that each call or fault requested and got
 * @disk:	bytes of each request to a disk
 * @ahead:	bytes of @disk that are read-ahead
 */
struct read_sum {
	u32 host;
	char comm[COMM_SIZE];
	struct object object;
	struct times asked;
	struct times disk;
	u64 ahead;
};

/**
 * struct model - everything that is known of all files
 * @by:			grouping key of the sums, enum by
 * @instance:		trace instance to read from each file, NULL for the main one
 * @host:		the hosts
 * @hosts:		number of hosts
 * @sums:		sums, by key
 * @open:		calls that io_pending events reported, by thread and begin
 * @sum:		after model_link(): sums in descending order of their time
 * @nr:			number of sums
 * @pending:		after model_link(): pending calls, longest first
 * @nr_pending:		number of pending calls
 * @requests:		requests on connections
 * @flow:		after model_link(): flows in descending order of response time
 * @nr_flows:		number of flows
 * @log:		all calls, or NULL if no report needs them
 * @wakeup:		wake-ups, if there is a @log
 * @wakeups:		number of wake-ups
 * @wakeup_room:	allocated entries of @wakeup
 * @sched_event:	switches and wakings, until off_cpu_link()
 * @sched_events:	number of these
 * @sched_room:		allocated entries of @sched_event
 * @off_cpu:		after model_link(): times in which threads were not on a CPU, by
 *			host, thread and time
 * @nr_off_cpu:		number of these
 * @pipe_range:		byte ranges in pipes
 * @nr_pipe_ranges:	number of these
 * @pipe_range_room:	allocated entries of @pipe_range
 * @causality:		after model_link(): which request each thread worked for, if
 *			there is a @log
 * @reads:		what was read, or NULL if no report needs it
 * @read_sum:		after model_link(): sums of what was read, most wasted bytes
 *			first
 * @nr_read_sums:	number of these
 * @disks:		the files have requests to disks
 * @stacks:		call stacks by number, or NULL if no report needs them
 * @longer:		calls of shorter duration are left out of sums, ns
 * @epoch:		Unix time of the axis' origin for OTLP, ns
 * @drift:		maximum difference of the rates of two clocks, ppm
 * @clocks:		after model_link(): clocks of the hosts
 * @origin:		after model_link(): see axis_origin()
 */
struct model {
	u32 by;
	const char *instance;
	struct host *host;
	u32 hosts;
	struct hash sums;
	struct hash open;
	struct sum **sum;
	u64 nr;
	struct pending **pending;
	u64 nr_pending;
	struct requests *requests;
	struct flow *const *flow;
	u64 nr_flows;
	struct log *log;
	struct wakeup *wakeup;
	u64 wakeups;
	u64 wakeup_room;
	struct sched_event *sched_event;
	u64 sched_events;
	u64 sched_room;
	struct off_cpu *off_cpu;
	u64 nr_off_cpu;
	struct pipe_range *pipe_range;
	u64 nr_pipe_ranges;
	u64 pipe_range_room;
	struct causality *causality;
	struct reads *reads;
	struct read_sum **read_sum;
	u64 nr_read_sums;
	bool disks;
	struct stacks *stacks;
	u64 longer;
	u64 epoch;
	u32 drift;
	struct clocks *clocks;
	s64 origin;
};

/* model_times.c */
void times_add(struct times *t, u64 time);
void times_finish(struct times *t);

/* model.c */
void model_add_call(struct model *m, const struct thread *caller,
		    const char *op, const struct object *object,
		    const struct call *call);
void model_sum_call(struct model *m, const struct thread *caller,
		    const char *op, const struct object *object,
		    const struct call *call);
void model_add_pending(struct model *m, const struct thread *caller,
		       const char *op, const char *name, u64 start, u64 time);
u64 object_hash(const struct object *o);
int endpoint_order(const struct endpoint *a, const struct endpoint *b);
struct sum *model_find_sum(struct model *m, const struct sum *key);
u64 size_class(u64 bytes);
void sum_add_call(struct sum *sum, u64 duration, s64 result, u64 bytes);
struct pending *model_find_pending(const struct model *m, u32 host, s32 pid,
				   u64 start);
struct pending *model_new_pending(struct model *m, u32 host, s32 pid,
				  u64 start);
void model_count_call(struct model *m, u32 host, u64 start);
bool host_is_lossy(const struct host *h, u64 begin, u64 end);
void model_link(struct model *m);
void model_free(struct model *m);

/* model_log.c */
struct log *log_new(void);
void log_add(struct log *l, const struct thread *caller, const char *op,
	     const struct object *object, const struct call *call);
struct thread *log_thread(const struct log *l, u32 host, s32 pid);
struct thread *const *log_threads(const struct log *l, u32 *nr);
u64 log_after(const struct thread *a, u64 time);
const char *log_op(const struct log *l, const struct call *call);
const struct object *log_object(const struct log *l, const struct call *call);
void log_free(struct log *l);

#endif
