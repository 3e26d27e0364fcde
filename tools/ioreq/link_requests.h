/* SPDX-License-Identifier: GPL-2.0 */
/* Requests: internal to link_requests.c, link_connects.c, link_cut.c, link_roles.c, link_servers.c,
 * link_shape.c, link_steps.c, link_turns.c and link_flows.c.
 */
#ifndef IOREQ_LINK_REQUESTS_H
#define IOREQ_LINK_REQUESTS_H

#include "link.h"

/**
 * struct timed_call - a call of a thread
 * @start:	begin, ns of its host
 * @finish:	end, ns of its host
 * @id:		cookie of the socket, or 0
 * @step:	kind of call
 */
struct timed_call {
	u64 start;
	u64 finish;
	u64 id;
	enum step step;
};

/**
 * struct thread_calls - a thread
 * @host:	number of the host
 * @pid:	thread ID
 * @call:	its calls, sorted by end and so by begin
 * @nr:		number of calls
 * @room:	allocated entries of @call
 * @begin:	begins of the requests that it handled alone; after steps_finish() sorted
 * @begins:	number of these
 * @begin_room:	allocated entries of @begin
 * @over:	their ends; after steps_finish() sorted
 * @overs:	number of these
 * @over_room:	allocated entries of @over
 */
struct thread_calls {
	u32 host;
	s32 pid;
	struct timed_call *call;
	u64 nr;
	u64 room;
	u64 *begin;
	u64 begins;
	u64 begin_room;
	u64 *over;
	u64 overs;
	u64 over_room;
};

/**
 * struct stepped - a request whose steps are not summed yet
 * @flow:	to add them to
 * @thread:	thread that handled it
 * @begin:	end of its first call, ns of the host
 * @over:	end of its last call
 * @sent:	end of the call that received the last bytes of the request
 * @own:	cookie of the request's socket
 */
struct stepped {
	struct flow *flow;
	const struct thread_calls *thread;
	u64 begin;
	u64 over;
	u64 sent;
	u64 own;
};

/**
 * struct segment - byte range that a call sent or received
 * @from:	offset of the first byte in the stream
 * @end:	offset after the last byte
 * @start:	begin of the call, ns of its host
 * @finish:	end of the call
 * @thread:	thread of the call
 * @endpoint:	number of its process's endpoint
 * @sent:	the bytes were sent
 * @async:	the call was a request to io_uring or aio
 */
struct segment {
	u64 from;
	u64 end;
	u64 start;
	u64 finish;
	const struct thread_calls *thread;
	u32 endpoint;
	bool sent;
	bool async;
};

/**
 * struct side - one end of a connection
 * @segment:	byte ranges of its calls
 * @nr:		number of segments
 * @room:	allocated entries of @segment
 * @host:	number of the host
 * @id:		cookie of the socket
 * @tgid:	the first process that used it
 * @name:	its addresses, own one first
 */
struct side {
	struct segment *segment;
	u64 nr;
	u64 room;
	u32 host;
	s32 tgid;
	u64 id;
	char *name;
};

/**
 * struct connection - a connection
 * @host:	number of the host of Unix sockets and pipes; NO_HOST: TCP
 * @via_pipe:	it is a pair of pipes; the sequence numbers are processes
 * @turns:	of pipes, after requests_finish(): the processes take turns
 * @guessed:	@client is only a guess
 * @client:	after roles_find(): the end that is the client
 * @isn:	initial sequence numbers of the ends, lower one first
 * @side:	both ends; without segments where it was not recorded
 */
struct connection {
	u32 host;
	bool via_pipe;
	bool turns;
	bool guessed;
	u32 client;
	u32 isn[2];
	struct side side[2];
};

/**
 * enum socket_state - what is known of a client's socket
 * @SOCKET_OTHER:	it has transferred bytes, has failed, or is a server's
 * @SOCKET_CONNECTING:	connect goes on in the background
 * @SOCKET_CONNECTED:	it is connected, and has transferred no bytes
 */
enum socket_state { SOCKET_OTHER, SOCKET_CONNECTING, SOCKET_CONNECTED };

/**
 * struct socket - a socket with a known role
 * @host:	number of the host
 * @id:		its cookie
 * @role:	its side of the connection
 * @state:	what is known of it
 * @since:	begin of the first connect, ns of the host
 */
struct socket {
	u32 host;
	u64 id;
	enum role role;
	enum socket_state state;
	u64 since;
};

/**
 * struct stream_end - the last calls on a socket
 * @host:	number of the host
 * @id:		its cookie
 * @error:	error of the first call that failed since the connection was broken, or 0
 * @sends:	that call sends
 * @start:	its begin, ns of the host
 * @finish:	its end
 * @thread:	its thread
 * @ended:	end of the last call that received the end of the stream, or 0
 * @closed:	begin of the last call that closed a descriptor of the socket, or 0
 */
struct stream_end {
	u32 host;
	u64 id;
	int error;
	bool sends;
	u64 start;
	u64 finish;
	const struct thread_calls *thread;
	u64 ended;
	u64 closed;
};

/**
 * struct failed_connect - a connection that failed before it transferred any bytes
 * @thread:	thread of the last call
 * @id:		cookie of the socket
 * @begin:	begin of the first connect, ns of the host
 * @until:	end of the call that failed, or begin of that which closed it
 * @endpoint:	number of the client's endpoint
 * @name:	addresses
 * @local:	it is a Unix socket
 * @in_connect:	connect failed, not a later call
 * @reason:	why
 */
struct failed_connect {
	const struct thread_calls *thread;
	u64 id;
	u64 begin;
	u64 until;
	u32 endpoint;
	char *name;
	bool local;
	bool in_connect;
	char *reason;
};

/**
 * struct listening - a port at which connections are accepted
 * @host:	number of the host
 * @port:	port
 */
struct listening {
	u32 host;
	unsigned long port;
};

/**
 * struct listener - a process that listens on a port, or all processes of a name that
 *	do
 * @host:	number of the host
 * @key:	the process; or ENDPOINT_KEY and the number of the endpoint
 * @port:	port
 * @address:	ADDRESS:PORT
 * @any:	it listens at other addresses, too
 */
struct listener {
	u32 host;
	u64 key;
	unsigned long port;
	char *address;
	bool any;
};

/**
 * struct requests - see requests_new()
 * @connections:	struct connection, by host and sequence numbers
 * @threads:		struct thread_calls, by host and thread
 * @sockets:		struct socket with a known role, by host and cookie
 * @served:		struct server_socket, by host and cookie
 * @ends:		struct stream_end, by host and cookie
 * @listening:		struct listening, by host and port
 * @listeners:		struct listener, by host, process or endpoint, and port
 * @endpoints:		struct endpoint, by host, name and address
 * @flows:		struct flow, by client and server
 * @flow:		after requests_finish(): flows in descending order of response
 *			time
 * @m:			model, while requests are made
 * @keep:		keep single requests
 * @list:		single requests, if so
 * @listed:		number of these
 * @list_room:		allocated entries of @list
 * @unclear:		the servers' view of requests that both ends did not see alike
 * @nr_unclear:		number of these
 * @unclear_room:	allocated entries of @unclear
 * @failed:		connections that failed before they transferred any bytes
 * @nr_failed:		number of these
 * @failed_room:	allocated entries of @failed
 * @stepped:		requests whose steps are not summed yet
 * @nr_stepped:		number of these
 * @stepped_room:	allocated entries of @stepped
 * @end:		end of the last call of each host
 * @hosts:		number of hosts
 * @request_io:		calls of single requests
 * @request_ios:	number of these
 * @request_io_room:	allocated entries of @request_io
 */
struct requests {
	struct hash connections;
	struct hash threads;
	struct hash sockets;
	struct hash served;
	struct hash ends;
	struct hash listening;
	struct hash listeners;
	struct hash endpoints;
	struct hash flows;
	struct flow **flow;
	const struct model *m;
	bool keep;
	struct request *list;
	u64 listed;
	u64 list_room;
	struct request *unclear;
	u64 nr_unclear;
	u64 unclear_room;
	struct failed_connect *failed;
	u64 nr_failed;
	u64 failed_room;
	struct stepped *stepped;
	u64 nr_stepped;
	u64 stepped_room;
	u64 *end;
	u32 hosts;
	struct request_io *request_io;
	u64 request_ios;
	u64 request_io_room;
};

/**
 * struct turn - a request and its response, as one end saw it
 * @from:		offset of the request's first byte
 * @end:		offset after its last byte
 * @response_from:	offset of the response's first byte
 * @response_end:	offset after its last byte
 * @begin:		begin of the client's first call, or end of the server's first
 *			call
 * @since:		begin of the first call
 * @last_since:		begin of the last call of the response
 * @over:		end of the last call of the response
 * @sent:		end of the last call that sent or received the request
 * @paused:		time between these calls, ns
 * @thread:		thread of all calls; NULL if there are several
 * @first:		thread of the first call
 * @last:		thread of the last call
 * @segment:		index of its first segment
 * @endpoint:		number of its process's endpoint
 * @answered:		it has a response, and this was not cut off
 * @pushed:		number of messages without a request that follow the response
 * @pushed_at:		if there are any: index of their first segment
 * @cut_off:		why its response was cut off, or NULL
 * @until:		of a response that was cut off: when
 * @matched:		both ends saw it alike
 */
struct turn {
	u64 from;
	u64 end;
	u64 response_from;
	u64 response_end;
	u64 begin;
	u64 since;
	u64 last_since;
	u64 over;
	u64 sent;
	u64 paused;
	const struct thread_calls *thread;
	const struct thread_calls *first;
	const struct thread_calls *last;
	u64 segment;
	u32 endpoint;
	bool answered;
	u64 pushed;
	u64 pushed_at;
	const char *cut_off;
	u64 until;
	bool matched;
};

/**
 * struct turns - turns of one end, in order
 * @turn:	turns
 * @nr:		number of turns
 * @room:	allocated entries of @turn
 */
struct turns {
	struct turn *turn;
	u64 nr;
	u64 room;
};

/* link_requests.c */
u32 requests_find_server(struct requests *r, u32 host, const char *name,
			 const char *address);
struct thread_calls *requests_thread(struct requests *r, u32 host, s32 pid);

static inline const struct endpoint *requests_endpoint(const struct requests *r,
						       u32 number)
{
	return hash_entry(&r->endpoints, number);
}

/* link_flows.c */
struct flow *requests_flow(struct requests *r, u32 client, u32 server);

/* link_connects.c */
void requests_add_failed(struct requests *r);

/* link_cut.c */
void turns_cut_off(const struct requests *r, const struct connection *c,
		   const struct turns *client, const struct turns *server);

/* link_roles.c */
void roles_find(struct requests *r);

/* link_servers.c */
void requests_learn_listener(struct requests *r, const struct connection *c);
u32 requests_server(struct requests *r, u32 endpoint,
		    const struct connection *c, u32 side);
u32 requests_address(struct requests *r, const char *name, bool with_port);

/* link_shape.c */
bool may_be_multiplexed(const struct side *side, bool is_client);
bool keeps_outstanding(const struct side *side, bool is_client);
void turns_end_before_pushed(const struct turns *client,
			     const struct side *client_side,
			     const struct turns *server,
			     const struct side *server_side);

/* link_steps.c */
u64 first_call_after(const struct thread_calls *t, u64 time);
void steps_handle(struct requests *r, const struct turns *server);
void steps_add(struct requests *r, struct flow *e, const struct turn *s,
	       u64 own);
void steps_finish(struct requests *r);

/* link_turns.c */
u64 segment_moved_at(const struct segment *s);
void side_sort_by_time(struct side *side);
void turns_make_client(struct turns *t, struct side *side);
void turns_make_server(struct turns *t, struct side *side,
		       const struct turns *client,
		       const struct side *client_side);
struct turn *turns_last_answered(const struct turns *t);
void turns_end_with_trace(const struct turns *client,
			  const struct side *client_side,
			  const struct turns *server,
			  const struct side *server_side);
bool turn_is_same(const struct turn *a, const struct turn *b);
u64 turns_overlapping(const struct turns *client, const struct turns *server,
		      u64 *begins);
bool turns_alternate(const struct turns *client, const struct turns *server);

#endif
