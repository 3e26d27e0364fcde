/* SPDX-License-Identifier: GPL-2.0 */
#ifndef IOREQ_H
#define IOREQ_H

#include <stdbool.h>
#include <stdio.h>

#include "clocks.h"
#include "guard.h"
#include "memory.h"
#include "records.h"

#define PROGRAM "ioreq"

struct json_object;

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_CHROME,
	FORMAT_OTLP,
	FORMAT_FOLDED,
	FORMAT_HTML,
	FORMATS
};

/**
 * enum subject - what to print
 * @SUBJECT_ALL:	all of it, but what has to be asked for
 * @SUBJECT_REQUESTS:	nothing but sums of requests
 * @SUBJECT_CLOCKS:	nothing but the hosts' clocks
 * @SUBJECT_PATHS:	nothing but where requests went, and what took their time there
 * @SUBJECT_READS:	nothing but what was read, and what disks read for it
 * @SUBJECT_STACKS:	nothing but where in programs calls were made
 */
enum subject {
	SUBJECT_ALL,
	SUBJECT_REQUESTS,
	SUBJECT_CLOCKS,
	SUBJECT_PATHS,
	SUBJECT_READS,
	SUBJECT_STACKS
};

/**
 * enum by - what calls have in common that are added up
 * @BY_HOST:	the host
 * @BY_COMM:	the name of the process
 * @BY_PROCESS:	the process
 * @BY_CALL:	the system call or the request, or that it was a fault
 * @BY_OBJECT:	the object
 * @BY_SIZE:	how many bytes it transferred, as a power of two
 * @BY_CLIENT:	the client of the request that it was made for
 * @BY_STACK:	where in the program it was made
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

#define COMM_SIZE 17
#define OP_SIZE 24

/* Bytes of a build id, and names of reasons why a stack ends */
#define BUILD_ID_MAX 20
#define ENDS_MAX 16

/* Of hash tables */
#define BUCKETS 65536

/**
 * struct times - some, ns
 * @time:	they; sorted by times_finish()
 * @nr:		how many
 * @room:	for so many
 * @sum:	all of them together
 * @p50:	median
 * @p99:	what 99 % do not exceed
 * @max:	the longest
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
 * struct sum - all calls of a process of one kind on one object, or of fewer of these:
 *	what they do not have in common is 0 or ""
 * @host:	which file, counted from 0
 * @tgid:	process
 * @comm:	its name
 * @op:		the call
 * @type:	type of the object (S_IFREG >> 12 and so on)
 * @dev:	its device
 * @id:		its inode number; of a socket its cookie
 * @name:	path or addresses; "" if it has none
 * @size:	bytes of each, at least, and less than twice as many; 0: none
 * @client:	for whom they were made; NULL: for nobody that is known
 * @stack:	from where, see stack_key()
 * @errors:	failed ones
 * @bytes:	that they transferred
 * @times:	that they took
 * @next:	in the same bucket
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
	const struct party *client;
	u64 stack;
	u64 errors;
	u64 bytes;
	struct times times;
	struct sum *next;
};

/**
 * struct pending - a call, request or fault that had not ended when it was last seen
 * @host:	which file
 * @pid:	thread
 * @tgid:	process
 * @comm:	the thread's name
 * @op:		the call
 * @name:	of its object
 * @start:	when it began, ns of the host's CLOCK_MONOTONIC
 * @time:	how long it had been open, ns
 * @ended:	its end is in the file
 * @next:	in the same bucket
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
	struct pending *next;
};

/**
 * struct gap - calls that ended in it may be lost
 * @begin:	end of the last call before it on the same CPU, ns of CLOCK_MONOTONIC
 * @end:	end of the first call behind it, or UINT64_MAX
 */
struct gap {
	u64 begin;
	u64 end;
};

/**
 * struct host - a file
 * @name:	of the host
 * @named:	that is not the file's
 * @file:	its trace
 * @calls:	io_syscall, io_request and io_fault events in it
 * @gaps:	how often records were lost
 * @first:	when the first of these calls began, ns of its CLOCK_MONOTONIC
 * @gap:	when they were; in order and apart after sums_finish()
 * @nr_gaps:	how many are there
 * @room:	for so many
 * @stock:	they are events of a kernel without iosys
 * @trouble:	why it was not read to its end, or NULL; if there are no calls, it is
 *		left out
 */
struct host {
	char *name;
	bool named;
	const char *file;
	u64 calls;
	u64 gaps;
	u64 first;
	struct gap *gap;
	u64 nr_gaps;
	u64 room;
	bool stock;
	char *trouble;
};

/* Host of a party that nobody recorded: its name is its address */
#define NO_HOST UINT32_MAX

/**
 * enum role - sides of a connection
 * @ROLE_CLIENT:	it asks
 * @ROLE_SERVER:	it answers
 */
enum role { ROLE_CLIENT, ROLE_SERVER };

/**
 * enum step - what a server does with its time while it is asked
 * @STEP_OWN:		calls on the request's own socket: more of it, and the answer
 * @STEP_FILE:		calls on files, directories and disks, and faults on mapped files
 * @STEP_SYNC:		calls that wait for these to be written
 * @STEP_SOCKET:	calls on other sockets
 * @STEP_PIPE:		calls on pipes
 * @STEP_POLL:		waiting for any of several descriptors
 * @STEP_OTHER:		other calls
 * @STEP_REST:		no call at all: it computes, or waits for a CPU, a lock, memory
 * @STEPS:		how many
 */
enum step {
	STEP_OWN,
	STEP_FILE,
	STEP_SYNC,
	STEP_SOCKET,
	STEP_PIPE,
	STEP_POLL,
	STEP_OTHER,
	STEP_REST,
	STEPS
};

/**
 * struct message - bytes of a stream that a call sent or received
 * @host:	which file
 * @pid:	thread
 * @comm:	name of the process
 * @id:		the socket's cookie
 * @name:	its addresses: OWN:PORT->OTHER:PORT
 * @local:	it is a Unix socket's, or went through a pipe
 * @piped:	it went through a pipe
 * @isn:	its own initial sequence number; of a Unix socket its cookie's lower half;
 *		of a pipe the process
 * @peer_isn:	that of the other side
 * @from:	offset of the first byte in the stream
 * @end:	offset behind the last one
 * @start:	when the call began, ns of CLOCK_MONOTONIC
 * @duration:	how long it took, ns
 * @sent:	they were sent
 * @async:	it was a request to io_uring or aio
 */
struct message {
	u32 host;
	s32 pid;
	const char *comm;
	u64 id;
	const char *name;
	bool local;
	bool piped;
	u32 isn;
	u32 peer_isn;
	u64 from;
	u64 end;
	u64 start;
	u64 duration;
	bool sent;
	bool async;
};

/**
 * struct party - who asks or answers
 * @host:	where, or NO_HOST
 * @name:	name of the process, or the address
 */
struct party {
	u32 host;
	char *name;
};

/**
 * struct exchange - requests of a client to a server
 * @client:	who asked
 * @server:	who was asked
 * @requests:	those that were answered
 * @unclear:	of these, those that both sides did not see alike
 * @unanswered:	others
 * @sent:	bytes of requests
 * @received:	bytes of answers
 * @wait:	of the client, from its first call to the end of the last one; of
 *		all that were answered, or none if the client was not recorded
 * @service:	of the server, from the end of its first call to that of the last
 *		one; of those that are clear
 * @stepped:	of these, those that one thread of the server did all by itself
 * @step:	what the services of those went to, ns; by enum step
 * @between:	sum of the waits of these, less the services: in the network, and
 *		before somebody asked for what had come; less than 0 if clocks run
 *		at another rate
 * @split:	of these, those of which the clocks are known well enough to tell the
 *		following apart
 * @there:	of those, from the client's first call to the end of the call of the
 *		server that got the first bytes, by aligned clocks
 * @late:	of that, what had passed when the server began to wait for it: the
 *		network, and a queue in which nobody asked for it
 * @back:	from the end of the server's last call to the end of the client's
 */
struct exchange {
	const struct party *client;
	const struct party *server;
	u64 requests;
	u64 unclear;
	u64 unanswered;
	u64 sent;
	u64 received;
	struct times wait;
	struct times service;
	u64 stepped;
	u64 step[STEPS];
	s64 between;
	u64 split;
	u64 there;
	u64 late;
	u64 back;
};

/**
 * struct part - what one side saw of a request
 * @seen:	it was recorded
 * @alone:	one thread did all of it
 * @host:	where it is
 * @pid:	the thread that made the first call
 * @last_pid:	the one that made the last call
 * @id:		cookie of its socket
 * @begin:	when the client's first call began, or the server's first one ended, ns
 *		of the host
 * @over:	when the last call of the answer ended; 0 if there is no answer
 */
struct part {
	bool seen;
	bool alone;
	u32 host;
	s32 pid;
	s32 last_pid;
	u64 id;
	u64 begin;
	u64 over;
};

/**
 * struct request - a request
 * @party:	who asked and who was asked, by enum role
 * @part:	what each saw of it; of the server nothing if that is not the same
 * @name:	addresses, as the side @named has them; of a Unix socket the server's
 *		name, or nothing
 * @local:	it went through a Unix socket, or pipes
 * @piped:	it went through pipes
 * @named:	whose own address stands first
 * @sent:	bytes of the request
 * @received:	bytes of the answer
 * @answered:	there is one
 * @unclear:	both sides were recorded, and did not see the same
 * @parent:	the request that the client was answering meanwhile; NULL if there is
 *		none, or @ambiguous
 * @ambiguous:	it was answering several, or may have been, because calls were lost
 * @outlives:	the one that it was answering, which did not wait for this one's answer;
 *		then it is no @parent
 * @marked:	see list_mark()
 */
struct request {
	const struct party *party[2];
	struct part part[2];
	const char *name;
	bool local;
	bool piped;
	enum role named;
	u64 sent;
	u64 received;
	bool answered;
	bool unclear;
	struct request *parent;
	bool ambiguous;
	struct request *outlives;
	bool marked;
};

/**
 * enum touch_what - what a call does for a request
 * @TOUCH_GET:		its server gets some of it
 * @TOUCH_ANSWER:	its server sends some of the answer
 * @TOUCH_ASK:		its client sends some of it
 * @TOUCH_RESULT:	its client gets some of the answer
 */
enum touch_what { TOUCH_GET, TOUCH_ANSWER, TOUCH_ASK, TOUCH_RESULT };

/* Of a request's number: it is one of requests_unclear() */
#define UNCLEAR (1u << 31)

/**
 * struct touch - a call that has to do with a request
 * @time:	when its bytes left the caller, or were there for it, ns of the host
 * @host:	where
 * @pid:	thread
 * @request:	number of the request in requests_list(), or with UNCLEAR in
 *		requests_unclear()
 * @what:	of enum touch_what
 * @first:	no call before did that for the request
 * @last:	none behind it does
 * @async:	it was a request to io_uring or aio
 */
struct touch {
	u64 time;
	u32 host;
	s32 pid;
	u32 request;
	u8 what;
	bool first;
	bool last;
	bool async;
};

/**
 * struct waking - a thread was woken by another one
 * @time:	when, ns of CLOCK_MONOTONIC
 * @host:	where
 * @waker:	by which thread
 * @wakee:	which thread
 */
struct waking {
	u64 time;
	u32 host;
	s32 waker;
	s32 wakee;
};

/**
 * struct piped - bytes that a call wrote to a pipe, or read from one
 * @time:	when they left the caller, or were there for it, ns of CLOCK_MONOTONIC
 * @host:	where
 * @pid:	thread
 * @tgid:	its process
 * @comm:	the name of that
 * @start:	when the call began
 * @finish:	when it ended
 * @peer:	the process at the other end; 0: nobody, or one that does both; -1: several
 * @pipe:	number of the pipe
 * @from:	offset of the first byte in the pipe
 * @end:	offset behind the last one
 * @written:	they were written
 * @passed:	they were read, and went elsewhere in the same call
 * @peeked:	they were read, and stay there
 * @async:	it was a request to io_uring or aio
 * @ranges:	so many of these are one call's; 0: it is one of those behind the first
 */
struct piped {
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
 * struct object - what a call was about
 * @type:	its type (S_IFREG >> 12 and so on)
 * @dev:	its device
 * @id:		its inode number; of a socket its cookie
 * @name:	path or addresses; "" if it has none
 */
struct object {
	u8 type;
	u32 dev;
	u64 id;
	char *name;
};

/**
 * struct logged - a call
 * @start:	when it began, ns of its host
 * @duration:	how long it took, ns
 * @result:	what it returned
 * @bytes:	that it transferred
 * @object:	number of its object
 * @op:		number of its name
 * @step:	what kind of call, of enum step
 * @beside:	the thread was in another call meanwhile, or may have been
 * @piped:	the bytes of pipes are known that it wrote or read
 * @fd:		its descriptor
 * @stack:	number of its stack, or 0
 * @socket:	cookie of its socket, or 0
 * @marked:	see list_mark()
 * @client:	for whom it was made, see clients_sum()
 */
struct logged {
	u64 start;
	u64 duration;
	s64 result;
	u64 bytes;
	u32 object;
	u16 op;
	u8 step;
	bool marked;
	bool beside;
	bool piped;
	s32 fd;
	u32 stack;
	u64 socket;
	const struct party *client;
};

/**
 * struct actor - a thread and its calls
 * @host:	where it is
 * @pid:	its number there
 * @tgid:	that of its process
 * @process:	number of its process among all hosts' ones, from 0
 * @number:	of it among all threads, from 0
 * @comm:	its process's name
 * @call:	its calls, in order of their ends
 * @nr:		how many
 * @room:	for so many
 * @next:	in the same bucket
 */
struct actor {
	u32 host;
	s32 pid;
	s32 tgid;
	u32 process;
	u32 number;
	char comm[COMM_SIZE];
	struct logged *call;
	u64 nr;
	u64 room;
	struct actor *next;
};

/**
 * struct reading - what processes of one name read of an object
 * @host:	which file
 * @comm:	the name
 * @object:	what; without a name and a number what was read in no call
 * @asked:	sizes of what calls and faults asked for and got, bytes, sorted
 * @disk:	sizes of what disks were asked for, bytes, sorted
 * @ahead:	bytes of these that nobody had asked for yet
 * @next:	in the same bucket
 */
struct reading {
	u32 host;
	char comm[COMM_SIZE];
	struct object object;
	struct times asked;
	struct times disk;
	u64 ahead;
	struct reading *next;
};

/**
 * struct sums - of all files
 * @by:		what calls of a sum have in common, of enum by
 * @host:	the files
 * @hosts:	how many
 * @bucket:	sums while files are read, by hash
 * @open:	calls that io_pending told of, by hash
 * @sum:	after sums_finish(): those that took longest first
 * @nr:		how many
 * @pending:	after sums_finish(): calls without an end, the oldest first
 * @nr_pending:	how many
 * @requests:	on connections
 * @exchange:	after sums_finish(): those that were waited for the longest first
 * @nr_exchanges: how many
 * @log:	all calls, or NULL if nobody wants to know
 * @waking:	which threads woke which, if there is a @log
 * @wakings:	how many
 * @waking_room: for so many
 * @piped:	what went through pipes
 * @nr_piped:	how many
 * @piped_room:	for so many
 * @loops:	after sums_finish(): whom threads work for, if there is a @log
 * @reads:	what was read, or NULL if nobody wants to know
 * @reading:	after sums_finish(): that, what was read for nothing first
 * @nr_readings: how many
 * @disks:	the files tell what disks were asked for
 * @stacks:	what numbers of stacks stand for, or NULL if nobody wants to know
 * @longer:	calls that took less time are left out of sums, ns
 * @epoch:	Unix time at which the axis of OTLP begins, ns
 * @drift:	rates of clocks differ by at most so many ppm
 * @clocks:	after sums_finish(): those of the hosts
 * @origin:	after sums_finish(): see list_origin()
 */
struct sums {
	u32 by;
	struct host *host;
	u32 hosts;
	struct sum *bucket[BUCKETS];
	struct pending *open[BUCKETS];
	struct sum **sum;
	u64 nr;
	struct pending **pending;
	u64 nr_pending;
	struct requests *requests;
	struct exchange *const *exchange;
	u64 nr_exchanges;
	struct log *log;
	struct waking *waking;
	u64 wakings;
	u64 waking_room;
	struct piped *piped;
	u64 nr_piped;
	u64 piped_room;
	struct loops *loops;
	struct reads *reads;
	struct reading **reading;
	u64 nr_readings;
	bool disks;
	struct stacks *stacks;
	u64 longer;
	u64 epoch;
	u32 drift;
	struct clocks *clocks;
	s64 origin;
};

/**
 * enum part_of_wait - what else than its server's calls a request waits for
 * @WAIT_BETWEEN:	the network, buffers before somebody read them, and the client
 *			until it was ready to read
 * @WAIT_UNSEEN:	a server that was not recorded, or did not see the same
 * @WAIT_THREADS:	a server of which several threads did their parts
 * @WAIT_BUSY:		calls that the server's thread made for other requests meanwhile
 * @WAITS:		how many, those of enum step among them
 */
enum part_of_wait {
	WAIT_BETWEEN = STEPS,
	WAIT_UNSEEN,
	WAIT_THREADS,
	WAIT_BUSY,
	WAITS
};

/**
 * struct piece - of the time that a client waited for a request
 * @request:	the request, or one that was made for it, for which this was done
 * @depth:	how many requests that one was made for
 * @what:	of enum step, or of enum part_of_wait
 * @call:	the call, or NULL if it is none
 * @time:	ns; of WAIT_BETWEEN less than 0 if clocks run at another rate
 */
struct piece {
	const struct request *request;
	u32 depth;
	u32 what;
	const struct logged *call;
	s64 time;
};

/**
 * struct path - requests of a client to a server, or of that one to another one, for them
 * @parent:	those that they were made for, or NULL
 * @depth:	how many those are
 * @client:	who asked
 * @server:	who was asked
 * @requests:	how many, that were answered
 * @wait:	of the clients, ns; of the servers where no client was recorded
 * @critical:	of these, those that the first client had to wait for, ns
 * @wait_for:	what that went to, but for the requests below, ns; by enum step and
 *		enum part_of_wait
 */
struct path {
	const struct path *parent;
	u32 depth;
	const struct party *client;
	const struct party *server;
	u64 requests;
	struct times wait;
	u64 critical;
	s64 wait_for[WAITS];
};

/**
 * struct cause - what clients waited for
 * @server:	where
 * @what:	of enum step, or of enum part_of_wait
 * @object:	name of the file or of the other end, or ""
 * @pieces:	how often
 * @requests:	of clients that waited for it
 * @time:	for how long, ns
 * @stack:	where in the program most of it was called from; NULL: that is not known
 * @frame:	which frame of it that is
 * @code_time:	of @time, what was called from there, ns
 */
struct cause {
	const struct party *server;
	u32 what;
	char *object;
	u64 pieces;
	u64 requests;
	s64 time;
	const struct stack *stack;
	u32 frame;
	s64 code_time;
};

/**
 * struct paths - where requests went
 * @list:	single requests
 * @nr:		how many
 * @path:	their sums: those that clients waited for longest first, and each followed
 *		by those that were made for it
 * @nr_paths:	how many
 * @cause:	what they waited for longest first
 * @causes:	how many
 * @root:	requests that were made for no other one, the longest first
 * @roots:	how many
 * @waited:	for all of these, ns
 * @followed:	requests that were made for another one
 * @ambiguous:	requests of which nobody can tell
 * @outlived:	requests that were made for another one and outlive it
 */
struct paths {
	struct request *list;
	u64 nr;
	struct path **path;
	u64 nr_paths;
	struct cause **cause;
	u64 causes;
	struct request **root;
	u64 roots;
	u64 waited;
	u64 followed;
	u64 ambiguous;
	u64 outlived;
};

/**
 * struct mapped - a file that code was executed from
 * @host:	which trace
 * @id:		its number there
 * @dev:	its device
 * @ino:	its inode number
 * @path:	where it was
 * @build_id:	its build id
 * @build_id_size: bytes of that; 0: it is not known
 * @code:	its functions and lines, once somebody asks
 * @next:	in the same bucket
 */
struct mapped {
	u32 host;
	u32 id;
	u32 dev;
	u64 ino;
	char *path;
	u8 build_id[BUILD_ID_MAX];
	u32 build_id_size;
	struct code *code;
	struct mapped *next;
};

/**
 * struct frame - of a stack
 * @mapped:	the file, or NULL if there is none, or it is not known
 * @map:	its number; 0: it is memory of no file
 * @offset:	in the file, or an address, of what is executed next
 */
struct frame {
	struct mapped *mapped;
	u32 map;
	u64 offset;
};

/**
 * struct stack - where a program was
 * @host:	which trace
 * @id:		its number there
 * @end:	why there are no more frames; 0: there are none
 * @end_name:	likewise
 * @guessed:	frames that were found by frame pointers, without a table
 * @frame:	the innermost one first
 * @nr:		how many
 * @next:	in the same bucket
 */
struct stack {
	u32 host;
	u32 id;
	u32 end;
	char end_name[OP_SIZE];
	u32 guessed;
	struct frame *frame;
	u32 nr;
	struct stack *next;
};

/**
 * struct place - a frame's source
 * @function:	name of the function, or ""
 * @file:	of its source, or ""
 * @line:	in that
 */
struct place {
	char function[256];
	char file[1024];
	int line;
};

/**
 * struct stack_layout - where fields are in a file's io_stack and io_map
 * @stack:	number of the one; -1: the file has none
 * @map:	of the other one
 * @end_name:	names of reasons why a stack ends
 * @build_id_offset: where a build id is
 * @build_id_room: for so many bytes
 *
 * The others are the events' fields.
 */
struct stack_layout {
	int stack, map;
	char end_name[ENDS_MAX][OP_SIZE];
	struct number common_type;
	struct number id, frames, end, guessed;
	struct number map_id, ino, dev, path, build_id_size;
	u32 build_id_offset, build_id_room;
};

/* Numbers of stacks are those of their host; 0: a call without one */
static inline u64 stack_key(u32 host, u32 id)
{
	return id ? (host + 1ull) << 32 | id : 0;
}

u32 mix(u64 a, u64 b);
void times_add(struct times *t, u64 time);
void times_finish(struct times *t);

int sums_read(struct guard *g, struct sums *s, u32 host);
void sums_call(struct sums *s, const struct actor *who, const char *op,
	       const struct object *object, const struct logged *call);
void sums_add(struct sums *s, const struct actor *who, const char *op,
	      const struct object *object, const struct logged *call);
void sums_pending(struct sums *s, const struct actor *who, const char *op,
		  const char *name, u64 start, u64 time);
bool dynamic_find(struct number *n, struct tep_event *event, const char *name,
		  const struct number *like);
void symbols_find(char (*name)[OP_SIZE], u32 max, const struct tep_event *event,
		  const char *field);
bool stock_has(const struct records *r);
bool stock_read(struct sums *s, u32 host, struct records *r);
void sums_finish(struct sums *s);
void sums_free(struct sums *s);

struct requests *requests_new(void);
void requests_add(struct requests *q, const struct message *m);
void requests_call(struct requests *q, u32 host, s32 pid, u64 id,
		   enum step step, u64 start, u64 duration);
void requests_socket(struct requests *q, u32 host, u64 id, enum role role);
void requests_messages(struct requests *q, struct clocks *c);
struct exchange *const *requests_finish(struct requests *q,
					const struct clocks *c, u64 *nr);
void requests_keep(struct requests *q);
struct request *requests_list(struct requests *q, u64 *nr);
struct request *requests_unclear(struct requests *q, u64 *nr);
const struct touch *requests_touches(const struct requests *q, u64 *nr);
bool requests_piped(const struct requests *q, u32 host, s32 a, s32 b);
const char *requests_comm(struct requests *q, u32 host, const char *comm);
void requests_free(struct requests *q);

void pipes_requests(struct sums *s);

struct log *log_new(void);
void log_add(struct log *l, const struct actor *who, const char *op,
	     const struct object *object, const struct logged *call);
struct actor *log_actor(const struct log *l, u32 host, s32 pid);
struct actor *const *log_actors(const struct log *l, u32 *nr);
u64 log_after(const struct actor *a, u64 time);
const char *log_op(const struct log *l, const struct logged *c);
const struct object *log_object(const struct log *l, const struct logged *c);
void log_free(struct log *l);

struct stacks *stacks_new(struct guard *g, const char *symfs);
void stacks_layout(struct stack_layout *l, const struct records *r);
bool stacks_take(struct stacks *s, u32 host, const struct stack_layout *l,
		 u64 type, const struct record *rec);
void stacks_finish(struct stacks *s);
const struct stack *stacks_find(const struct stacks *s, u64 key);
int frame_order(const struct frame *a, const struct frame *b);
const char *frame_name(char *buf, size_t size, const struct frame *f,
		       bool whole);
void stacks_place(struct stacks *s, const struct stack *stack, u32 i,
		  struct place *place);
u32 stacks_caller(const struct stack *stack);
const char *place_text(char *buf, size_t size, const struct place *p);
void stacks_tell(const struct sums *sums);
void stacks_free(struct stacks *s);

void code_place(struct mapped *m, const char *symfs, u64 offset,
		struct place *place);
const char *code_trouble(const struct mapped *m);
void code_free(struct code *c);

/* Stands for several clients, none of which is known to be it */
extern const struct party client_ambiguous;

void clients_sum(struct sums *s);

struct reads *reads_new(void);
void reads_queue(struct reads *r, u32 host, s32 pid, u64 time, u32 dev,
		 u64 bytes, bool ahead);
void reads_call(struct reads *r, const struct actor *who,
		const struct object *object, u64 asked, u64 start);
void reads_request(struct reads *r, const struct actor *who,
		   const struct object *object, u64 asked, u64 start, u64 end);
struct reading **reads_finish(struct reads *r, u64 *nr);
void reads_free(struct reads *r);
void text_reads(FILE *out, const struct sums *s, u64 top);
void csv_reads(FILE *out, const struct sums *s, u64 top);
void json_reads(struct json_object *o, const struct sums *s, u64 top);

struct loops *loops_new(const struct sums *s);
struct request *loops_owner(const struct loops *l, u64 r, bool *told);
const struct request *loops_at(const struct loops *l, u32 host, s32 pid,
			       u64 time);
bool loops_helps(const struct loops *l, u32 host, s32 pid);
void loops_free(struct loops *l);

/* Stands for several requests, any of which a call may have been made for */
extern const struct request owner_ambiguous;

struct owners;

struct owners *owners_new(const struct sums *s, const struct request *r,
			  u64 nr);
const struct request *owners_get(const struct owners *o,
				 const struct actor *actor, u64 call);
void owners_free(struct owners *o);

void list_parents(const struct sums *s);
void list_mark(const struct sums *s, struct request *r, u64 nr, u64 top);
bool list_aligned(const struct sums *s, u32 host);
s64 list_origin(const struct sums *s);
u64 list_span(const struct sums *s, u32 host, u64 begin, u64 end);
u64 list_time(const struct sums *s, u32 host, u64 time);
const char *list_clocks(const struct sums *s);

struct paths *paths_new(const struct sums *s);
void paths_walk(const struct sums *s, const struct paths *p,
		const struct request *r,
		void (*visit)(const struct piece *piece, void *arg), void *arg);
void paths_object(char *buf, size_t size, const struct sums *s,
		  const struct piece *piece);
u64 paths_wait(const struct request *r);
void paths_free(struct paths *p);

const char *type_name(u8 type);
void object_name(char *buf, size_t size, u8 type, u64 id, const char *name);
extern const char *const step_names[WAITS];
const char *host_name(const struct sums *s, const struct party *p);
const char *party_text(char *buf, size_t size, const struct sums *s,
		       const struct party *p);
struct json_object *json_result(const struct sums *s, u64 top);
void report(FILE *out, const struct sums *s, enum format format,
	    enum subject subject, u64 top);
void text_clocks(FILE *out, const struct sums *s);
void csv_clocks(FILE *out, const struct sums *s);
struct json_object *json_clock(const struct sums *s, u32 host);
void text_paths(FILE *out, const struct sums *s, const struct paths *p,
		u64 top);
void csv_paths(FILE *out, const struct sums *s, const struct paths *p, u64 top);
void json_paths(struct json_object *o, const struct sums *s,
		const struct paths *p, u64 top);
void text_stacks(FILE *out, const struct sums *s, u64 top);
void csv_stacks(FILE *out, const struct sums *s, u64 top);
void json_stacks(struct json_object *o, const struct sums *s, u64 top);
void csv_sum_key(FILE *out, const struct sums *s, const struct sum *sum);
void json_sum_key(struct json_object *o, const struct sums *s,
		  const struct sum *sum);
void report_chrome(FILE *out, const struct sums *s, u64 top);
void report_otlp(FILE *out, const struct sums *s, u64 top);
void report_folded(FILE *out, const struct sums *s, u64 top);
void report_html(FILE *out, const struct sums *s, u64 top);

#endif
