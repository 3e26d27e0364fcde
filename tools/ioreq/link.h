/* SPDX-License-Identifier: GPL-2.0 */
/* Linking of calls into requests, and of these into paths. */
#ifndef IOREQ_LINK_H
#define IOREQ_LINK_H

#include "model.h"
#include "read.h"

/**
 * struct message - bytes of a stream that a call sent or received
 * @host:	number of the host
 * @pid:	thread
 * @tgid:	process
 * @endpoint:	number of the process's endpoint
 * @id:		cookie of the socket
 * @name:	its addresses: OWN:PORT->PEER:PORT; ends at a null byte or after @name_len
 *		bytes
 * @name_len:	most bytes of @name
 * @local:	it is a Unix socket or a pair of pipes
 * @via_pipe:	it is a pair of pipes
 * @isn:	own initial sequence number; of a Unix socket the lower half of its
 *		cookie; of pipes the process
 * @peer_isn:	the peer's
 * @from:	offset of the first byte in the stream
 * @end:	offset after the last byte
 * @start:	begin of the call, ns of CLOCK_MONOTONIC
 * @duration:	duration of the call, ns
 * @sent:	the bytes were sent
 * @async:	the call was a request to io_uring or aio
 */
struct message {
	u32 host;
	s32 pid;
	s32 tgid;
	u32 endpoint;
	u64 id;
	const char *name;
	u32 name_len;
	bool local;
	bool via_pipe;
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
 * enum socket_call_kind - calls on a socket that is connecting
 * @SOCKET_CALL_CONNECT: connects
 * @SOCKET_CALL_CLOSE:	closes it
 * @SOCKET_CALL_OTHER:	any other one
 */
enum socket_call_kind {
	SOCKET_CALL_CONNECT,
	SOCKET_CALL_CLOSE,
	SOCKET_CALL_OTHER
};

/**
 * struct socket_call - a call on a stream socket
 * @host:	number of the host
 * @pid:	thread
 * @comm:	name of the process
 * @id:		cookie of the socket
 * @name:	its addresses
 * @start:	begin of the call, ns of CLOCK_MONOTONIC
 * @duration:	duration of the call, ns
 * @result:	return value
 * @bytes:	bytes that it transferred
 * @local:	it is a Unix socket
 * @has_isn:	it is connected, as it has initial sequence numbers
 * @what:	what the call does
 */
struct socket_call {
	u32 host;
	s32 pid;
	const char *comm;
	u64 id;
	const char *name;
	u64 start;
	u64 duration;
	s64 result;
	u64 bytes;
	bool local;
	bool has_isn;
	enum socket_call_kind what;
};

/**
 * enum end_call_kind - calls that may be among the last ones on a stream
 * @END_CALL_SEND:	sends
 * @END_CALL_RECEIVE:	receives
 * @END_CALL_CLOSE:	closes a descriptor
 */
enum end_call_kind { END_CALL_SEND, END_CALL_RECEIVE, END_CALL_CLOSE };

/**
 * struct end_call - a call that may be among the last ones on a stream
 * @host:	number of the host
 * @pid:	thread
 * @id:		cookie of the socket
 * @start:	begin of the call, ns of CLOCK_MONOTONIC
 * @duration:	duration of the call, ns
 * @result:	return value
 * @what:	what the call does
 */
struct end_call {
	u32 host;
	s32 pid;
	u64 id;
	u64 start;
	u64 duration;
	s64 result;
	enum end_call_kind what;
};

/**
 * enum request_io_kind - what a call does for a request
 * @IO_RECEIVES_REQUEST: the server receives bytes of the request
 * @IO_SENDS_RESPONSE:	the server sends bytes of the response
 * @IO_SENDS_REQUEST:	the client sends bytes of the request
 * @IO_RECEIVES_RESPONSE: the client receives bytes of the response
 */
enum request_io_kind {
	IO_RECEIVES_REQUEST,
	IO_SENDS_RESPONSE,
	IO_SENDS_REQUEST,
	IO_RECEIVES_RESPONSE
};

/* Flag in the number of a request: the number is an index into requests_unclear() */
#define UNCLEAR (1u << 31)

/**
 * struct request_io - a call that sends or receives bytes of a request or of its
 *	response
 * @time:	when its bytes left the caller or were available to it, ns of the host
 * @host:	number of the host
 * @pid:	thread
 * @request:	index into requests_list(), or with UNCLEAR into requests_unclear()
 * @what:	enum request_io_kind
 * @first:	it is the first call of this kind for the request
 * @last:	it is the last one
 * @async:	it is a request to io_uring or aio
 */
struct request_io {
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
 * enum wait_step - parts of a response time other than the calls of the server's thread
 * @WAIT_NETWORK:	network, buffers before the bytes were received, and unless both
 *			sides are on one host the time until they were ready to receive
 * @WAIT_SERVER_LATE:	a request was there, and the server's thread did not wait for input
 * @WAIT_CLIENT_LATE:	likewise a response, and the client's thread
 * @WAIT_SENDING:	a client that lets time pass between the calls that send a request
 * @WAIT_NOT_RECORDED:	a server that was not recorded or did not see the request alike
 * @WAIT_THREADS:	a server of which several threads handled the request
 * @WAIT_BUSY:		what the server's thread did for other requests meanwhile
 * @WAIT_UNANSWERED:	a response that did not come
 * @WAITS:		number of all steps, with those of enum step
 */
enum wait_step {
	WAIT_NETWORK = STEPS,
	WAIT_SERVER_LATE,
	WAIT_CLIENT_LATE,
	WAIT_SENDING,
	WAIT_NOT_RECORDED,
	WAIT_THREADS,
	WAIT_BUSY,
	WAIT_UNANSWERED,
	WAITS
};

/**
 * struct path_step - a step of a critical path
 * @request:	the request, or downstream request, during which it happened
 * @depth:	number of ancestors of @request
 * @what:	enum step or enum wait_step
 * @call:	the call, or NULL if it is none
 * @waker:	of STEP_SLEEPING: name of the thread that ended it, or NULL
 * @several:	of STEP_AMBIGUOUS_...: how many requests the thread handled, at most
 * @time:	duration, ns; of WAIT_NETWORK negative if the clocks' rates differ by more than
 *		the server computes after its downstream requests
 */
struct path_step {
	const struct request *request;
	u32 depth;
	u32 what;
	const struct call *call;
	const char *waker;
	u64 several;
	s64 time;
};

/**
 * struct path - requests of a client to a server, or downstream requests of these
 * @parent:		path of the parent requests, or NULL
 * @depth:		number of ancestors
 * @ambiguous:		their parents are unknown, or those of the first ancestor
 * @client:		the client
 * @server:		the server
 * @requests:		number of requests with a response
 * @unanswered:		number of requests without a response
 * @unanswered_time:	how long these were in flight, ns
 * @response_time:	response times, ns; service times where no client was recorded
 * @critical:		part of these on critical paths, ns
 * @step_time:		@critical without downstream requests, by enum step and enum
 *			wait_step, ns
 */
struct path {
	const struct path *parent;
	u32 depth;
	bool ambiguous;
	const struct endpoint *client;
	const struct endpoint *server;
	u64 requests;
	u64 unanswered;
	u64 unanswered_time;
	struct times response_time;
	u64 critical;
	s64 step_time[WAITS];
};

/**
 * struct cause - a step that response times consist of, summed over critical paths
 * @server:	the server
 * @what:	enum step or enum wait_step
 * @object:	name of the file or address of the peer, or ""
 * @several:	of STEP_AMBIGUOUS_...: how many requests the thread handled, at most
 * @steps:	number of steps
 * @requests:	number of requests of clients with such a step
 * @time:	duration of the steps, ns
 * @stack:	call stack that accounts for most of it, or NULL if unknown
 * @frame:	index of the call site in @stack
 * @code_time:	part of @time from that call site, ns
 */
struct cause {
	const struct endpoint *server;
	u32 what;
	char *object;
	u64 several;
	u64 steps;
	u64 requests;
	s64 time;
	const struct stack *stack;
	u32 frame;
	s64 code_time;
};

struct request_tree;

/**
 * struct paths - paths of requests
 * @list:	single requests
 * @nr:		number of these
 * @tree:	the same by their parents, see link_walk.c
 * @path:	paths in descending order of response time, each followed by its
 *		downstream paths; ambiguous ones last
 * @nr_paths:	number of paths
 * @cause:	causes in descending order of time
 * @causes:	number of causes
 * @root:	requests without a parent, longest first
 * @roots:	number of these
 * @waited:	sum of their response times, ns
 * @followed:	number of requests that were made for another one
 * @ambiguous:	number of ambiguous requests
 * @ambiguous_time: sum of their response times, which are in no client's path, ns
 * @queued:	of these, requests of threads whose requests wait for one another
 * @multiplexed: number of requests on multiplexed connections
 * @multiplexed_time: sum of their response times, which are in no path, ns
 * @maybe_multiplexed: number of requests on connections that may be multiplexed
 * @guessed:	number of connections of which it is only a guess which end is the
 *		server
 * @outlived:	number of requests that outlive their parent
 * @contradicted: number of requests between hosts whose service time exceeds the response time
 */
struct paths {
	struct request *list;
	u64 nr;
	struct request_tree *tree;
	struct path **path;
	u64 nr_paths;
	struct cause **cause;
	u64 causes;
	struct request **root;
	u64 roots;
	u64 waited;
	u64 followed;
	u64 ambiguous;
	u64 ambiguous_time;
	u64 queued;
	u64 multiplexed;
	u64 multiplexed_time;
	u64 maybe_multiplexed;
	u64 guessed;
	u64 outlived;
	u64 contradicted;
};

/* link_requests.c and link_flows.c */
struct requests *requests_new(void);
u32 requests_find_endpoint(struct requests *r, u32 host, const char *name);
void requests_add(struct requests *r, const struct message *msg);
void requests_call(struct requests *r, u32 host, s32 pid, u64 id,
		   enum step step, u64 start, u64 duration);
void requests_socket(struct requests *r, u32 host, u64 id, enum role role);
void requests_listen(struct requests *r, u32 host, const char *address);
void requests_messages(struct requests *r, struct clocks *c);
struct flow *const *requests_finish(struct requests *r, const struct model *m,
				    u64 *nr);
void requests_keep(struct requests *r);
struct request *requests_list(struct requests *r, u64 *nr);
bool requests_serves(const struct requests *r, u32 host, u64 id);
bool requests_is_client(const struct requests *r, u32 host, u64 id,
			const char *name);
u64 requests_handled(const struct requests *r, u32 host, s32 pid, u64 time);
struct request *requests_unclear(struct requests *r, u64 *nr);
const struct request_io *requests_ios(const struct requests *r, u64 *nr);
bool requests_via_pipe(const struct requests *r, u32 host, s32 a, s32 b);
const char *requests_comm(struct requests *r, u32 host, const char *comm);
void requests_free(struct requests *r);

/* link_connects.c */
bool requests_is_connecting(const struct requests *r, u32 host, u64 id);
void requests_socket_call(struct requests *r, const struct socket_call *c);

/* link_cut.c */
void requests_end_call(struct requests *r, const struct end_call *c);

/* link_off_cpu.c */
void off_cpu_link(struct model *m);
bool off_cpu_next(const struct model *m, u32 host, s32 pid, u64 *from, u64 to,
		  struct off_cpu *found);
bool off_cpu_known(const struct model *m, u32 host, u64 from, u64 to);

/* link_pipes.c */
void pipes_requests(struct model *m);

/* link_causality.c */
struct causality *causality_new(const struct model *m);
struct request *causality_parent(const struct causality *c, u64 r, bool *known);
bool causality_queued(const struct causality *c, u64 r);
const struct request *causality_request_at(const struct causality *c, u32 host,
					   s32 pid, u64 time);
bool causality_has_worked(const struct causality *c, u32 host, s32 pid);
void causality_free(struct causality *c);

/* link_parents.c */
void link_parents(const struct model *m);

/* link_owners.c */
/* Request of calls that may have been made for one of several requests */
extern const struct request owner_ambiguous;

struct owners;

struct owners *owners_new(const struct model *m, const struct request *r,
			  u64 nr);
const struct request *owners_get(const struct owners *o,
				 const struct thread *thread, u64 call);
void owners_free(struct owners *o);

/* link_clients.c */
/* Client of calls that may have been made for one of several clients */
extern const struct endpoint client_ambiguous;

void clients_sum(struct model *m);

/* link_reads.c */
struct reads *reads_new(void);
void reads_queue(struct reads *r, u32 host, s32 pid, u64 time, u32 dev,
		 u64 bytes, bool ahead);
void reads_call(struct reads *r, const struct thread *caller,
		const struct object *object, u64 asked, u64 start);
void reads_request(struct reads *r, const struct thread *caller,
		   const struct object *object, u64 asked, u64 start, u64 end);
struct read_sum **reads_finish(struct reads *r, u64 *nr);
void reads_free(struct reads *r);
u64 reads_wasted(const struct read_sum *e);

/* link_paths.c */
struct paths *request_paths_new(const struct model *m);
struct request_tree *request_tree_new(const struct paths *p);
void request_tree_free(struct request_tree *t);
void request_paths_walk(
	const struct model *m, const struct paths *p, const struct request *r,
	void (*visit)(const struct path_step *path_step, void *arg), void *arg);
void request_paths_object(char *buf, size_t size, const struct model *m,
			  const struct path_step *path_step);
void several_text(char *buf, size_t size, u64 several);
enum role path_step_role(const struct path_step *path_step);
const struct endpoint *path_step_place(const struct path_step *path_step);
const struct stack *path_step_stack(const struct model *m,
				    const struct path_step *path_step);
u64 requests_unanswered_time(const struct request *r);
u64 request_response_time(const struct request *r);
void request_paths_free(struct paths *p);

/* link_axis.c */
bool axis_aligned(const struct model *m, u32 host);
s64 axis_origin(const struct model *m);
u64 axis_span(const struct model *m, u32 host, u64 begin, u64 end);
u64 axis_time(const struct model *m, u32 host, u64 time);
const char *axis_description(const struct model *m);

unsigned long address_port(const char *address, size_t len);

#endif
