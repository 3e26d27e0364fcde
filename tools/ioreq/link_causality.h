/* SPDX-License-Identifier: GPL-2.0 */
/* Causality: internal to link_causality*.c; see docs/causality.md. */
#ifndef IOREQ_LINK_CAUSALITY_H
#define IOREQ_LINK_CAUSALITY_H

#include "link.h"

/* A larger set excludes hardly anything */
#define SET_MAX 8

#define NONE UINT32_MAX

/**
 * struct candidates - candidate requests, one of which is the right one
 * @request:	their numbers, see causality_number()
 * @nr:		number of candidates; 0: nothing is known
 * @any:	it may be another request as well
 */
struct candidates {
	u32 request[SET_MAX];
	u8 nr;
	bool any;
};

/**
 * enum policy - how a thread acts on its inputs
 * @POLICY_STRICT:	on each input before it reads the next one
 * @POLICY_ORDERED:	in the order of the inputs, once on each; on requests before
 *			responses, possibly
 * @POLICY_REQUESTS_ORDERED: sends requests in the order of the inputs, responses in any
 *			order
 * @POLICY_COMPLETE:	in the order of the inputs, and only on complete ones
 * @POLICY_LOOSE:	in any other way
 * @POLICIES:		number of policies
 */
enum policy {
	POLICY_STRICT,
	POLICY_ORDERED,
	POLICY_REQUESTS_ORDERED,
	POLICY_COMPLETE,
	POLICY_LOOSE,
	POLICIES
};

/**
 * enum event_kind - kinds of events
 *
 * In the order in which they happen if a thread has several at the same time.
 *
 * @EVENT_PIPE_PASS:	reads a byte range of a pipe to write it elsewhere in the same
 *			call
 * @EVENT_REQUEST_IO:	sends or receives bytes of a request or response
 * @EVENT_POLL:		begins to wait for input
 * @EVENT_CONNECT:	begins to connect
 * @EVENT_CHANNEL_WRITE: writes to a pipe, byte range unknown, or to an eventfd
 * @EVENT_CHANNEL_READ:	has read from one
 * @EVENT_PIPE_WRITE:	writes a byte range to a pipe
 * @EVENT_PIPE_READ:	has read a byte range from a pipe
 * @EVENT_WAKEUP:	wakes another thread
 */
enum event_kind {
	EVENT_PIPE_PASS,
	EVENT_REQUEST_IO,
	EVENT_POLL,
	EVENT_CONNECT,
	EVENT_CHANNEL_WRITE,
	EVENT_CHANNEL_READ,
	EVENT_PIPE_WRITE,
	EVENT_PIPE_READ,
	EVENT_WAKEUP
};

/**
 * struct event - what a thread does
 * @time:	when the thread did it or saw it, ns of the host
 * @moment:	when the kernel did it, ns of the host
 * @host:	number of the host
 * @pid:	thread
 * @kind:	enum event_kind
 * @request_io:	the call, of EVENT_REQUEST_IO
 * @pipe_range:	the byte range, of EVENT_PIPE_...
 * @channel:	number of the pipe, eventfd or socket
 * @bytes:	bytes written or read; 0: an eventfd
 * @wakee:	thread that is woken
 */
struct event {
	u64 time;
	u64 moment;
	u32 host;
	s32 pid;
	enum event_kind kind;
	union {
		const struct request_io *request_io;
		const struct pipe_range *pipe_range;
		struct {
			u32 channel;
			u64 bytes;
		};
		s32 wakee;
	};
};

/* Kind of an input that another thread handed over; a request that is sent is no input */
#define INPUT_HANDED_OVER IO_SENDS_REQUEST

/**
 * struct input - what a thread has read and may not have acted on yet
 * @what:	IO_RECEIVES_REQUEST, IO_RECEIVES_RESPONSE, or INPUT_HANDED_OVER for work
 *		that was handed over
 * @request:	number of the request
 * @whole:	all of it has been received
 * @passed:	the thread, which acts in order, has acted on it
 * @effect:	where the causes of the effect are stored: a request that was sent or
 *		connected for
 * @set:	candidates for what the work was handed over for
 * @responses:	requests whose responses are in it, or in what was handed over
 */
struct input {
	enum request_io_kind what;
	u32 request;
	bool whole;
	bool passed;
	struct candidates *effect;
	struct candidates set;
	struct candidates responses;
};

/**
 * struct work_span - which request a thread works for from a time on
 * @time:	begin, ns of its host
 * @request:	number of the request, or NONE if unknown
 * @answered:	it begins with the thread's own response to the request, so the thread
 *		goes on for that request, such as writing a line of a log
 */
struct work_span {
	u64 time;
	u32 request;
	bool answered;
};

/**
 * struct worker - a thread
 * @host:		number of the host
 * @pid:		thread
 * @input:		inputs since its last poll
 * @nr:			number of inputs
 * @room:		allocated entries of @input
 * @effects:		number of effects since its last poll
 * @waiting:		numbers of requests without an effect before a poll
 * @nr_waiting:		number of these
 * @waiting_room:	allocated entries of @waiting
 * @span:		after the last pass: what it worked for
 * @spans:		number of spans
 * @span_room:		allocated entries of @span
 * @woken:		thread that it woke as its latest event; or 0
 * @received:		numbers of the requests that it received itself; some may be
 *			over
 * @nr_received:	number of these
 * @received_room:	allocated entries of @received
 * @answered:		one of these to which it sent bytes of the response as its
 *			latest event; or NONE
 * @fresh:		request that it has received since its last poll, with no effect yet; or
 *			NONE
 * @just:		its latest event is that
 * @mixed:		there were several of these at a time since its last poll
 * @responded:		it has sent the first bytes of a response since its last poll
 * @free:		when it had finished the work that was handed to it, as far as
 *			known, ns
 * @policy:		how it acts
 * @in_flight:		number of requests that it sent, without their whole response
 * @queues:		its requests seem to wait for one another, such as for a free
 *			connection of a pool
 * @contradicts:	likewise, and the ends of what it sends often contradict
 * @polls:		it waits for several descriptors at a time
 * @async:		it does so with requests to io_uring or aio
 * @nr_sent:		number of requests that it sent
 * @agreed:		requests of which both ends are known and agree, by policy
 * @contradicted:	requests of which both ends are known and do not agree, by
 *			policy
 * @undecided:		those of them that have several requests in common, by the policy of
 *			the latest pass
 * @single:		requests of which one end is known and suffices, by policy
 * @attributed:		requests whose parent is known, by policy
 */
struct worker {
	u32 host;
	s32 pid;
	struct input *input;
	u64 nr;
	u64 room;
	u64 effects;
	u32 *waiting;
	u64 nr_waiting;
	u64 waiting_room;
	struct work_span *span;
	u64 spans;
	u64 span_room;
	s32 woken;
	u32 *received;
	u64 nr_received;
	u64 received_room;
	u32 answered;
	u32 fresh;
	bool just;
	bool mixed;
	bool responded;
	u64 free;
	enum policy policy;
	u64 in_flight;
	bool queues;
	bool contradicts;
	bool polls;
	bool async;
	u64 nr_sent;
	u64 agreed[POLICIES];
	u64 contradicted[POLICIES];
	u64 undecided;
	u64 single[POLICIES];
	u64 attributed[POLICIES];
};

/**
 * struct pipe_write - what was written to a channel
 * @set:	candidates for what it was written for
 * @responses:	requests whose responses had been received
 * @bytes:	bytes that were not read yet
 * @from:	offset of the first byte, if known
 * @end:	offset after the last byte, if known
 */
struct pipe_write {
	struct candidates set;
	struct candidates responses;
	u64 bytes;
	u64 from;
	u64 end;
};

/**
 * struct channel - a pipe, an eventfd, or a socket that is being connected
 * @host:	number of the host
 * @a:		inode number, number of the pipe, descriptor, or cookie
 * @b:		device, process, or 0, and which of these
 * @set:	candidates for what a socket was connected for
 * @only:	the request for which it was connected, with nothing else to act on; or NONE
 * @requests:	number of requests on the connection
 * @pipe_write:	what was written and not read yet; sorted by offset, if known
 * @first:	index of the first entry that was not read
 * @nr:		index after the last entry
 * @room:	allocated entries of @pipe_write
 */
struct channel {
	u32 host;
	u64 a;
	u64 b;
	struct candidates set;
	u32 only;
	u32 requests;
	struct pipe_write *pipe_write;
	u64 first;
	u64 nr;
	u64 room;
};

/**
 * struct request_state - state of a request
 * @causes:	candidates that it may have been sent for
 * @continued:	candidates that went on after its response
 * @sender:	thread that sent it
 * @owner:	number of its parent, or NONE
 * @made_for:	the request for which its connection was made, which it has for itself; or
 *		NONE
 * @passed_on:	its thread, whose requests wait for one another, sent it on the connection of
 *		a response that it had just received, when another request may have waited
 *		for that connection
 * @has_effect:	the server's thread has acted on it
 * @waits_in:	thread, of POLICY_STRICT, that received input for it last and did not act
 *		on that
 */
struct request_state {
	struct candidates causes;
	struct candidates continued;
	struct worker *sender;
	u32 owner;
	u32 made_for;
	bool passed_on;
	bool has_effect;
	const struct worker *waits_in;
};

/**
 * struct causality - see causality_new()
 * @m:			model
 * @list:		requests
 * @listed:		number of requests
 * @unclear:		unclear requests, of which only the server's view is known
 * @nr:			number of all requests
 * @request_state:	state of each request
 * @event:		events, sorted
 * @nr_events:		number of events
 * @room:		allocated entries of @event
 * @workers:		struct worker, by host and thread
 * @channels:		struct channel
 * @last_pass:		spans are kept
 */
struct causality {
	const struct model *m;
	struct request *list;
	u64 listed;
	struct request *unclear;
	u64 nr;
	struct request_state *request_state;
	struct event *event;
	u64 nr_events;
	u64 room;
	struct hash workers;
	struct hash channels;
	bool last_pass;
};

static inline struct channel *channel_at(const struct causality *c, u32 number)
{
	return hash_entry(&c->channels, number);
}

/* link_causality_events.c */
u32 causality_find_channel(struct causality *c, u32 host, u64 a, u64 b);
void causality_collect_events(struct causality *c);

/* link_causality_inputs.c */
void candidates_add(struct candidates *set, u32 request);
void candidates_unite(struct candidates *set, const struct candidates *with);
bool candidates_has(const struct candidates *set, u32 request);
bool candidates_known(const struct candidates *set);
u32 causality_number(const struct causality *c, u32 request);
struct request *causality_request(const struct causality *c, u32 number);
bool causality_in_progress(const struct causality *c, u32 request, u64 time);
struct worker *worker_find(struct causality *c, u32 host, s32 pid);
bool policy_is_ordered(enum policy policy);
bool worker_sends_in_order(const struct worker *w);
bool worker_responds_in_order(const struct worker *w);
struct candidates worker_response_causes(const struct causality *c,
					 const struct worker *w, u64 time);
struct input *worker_next_input(struct worker *w);
struct candidates worker_request_causes(const struct causality *c,
					struct worker *w, u64 time);
void input_consume(struct causality *c, struct input *r,
		   struct candidates *effect);
void worker_drop_inputs(struct causality *c, struct worker *w);
void worker_drop_finished(struct causality *c, struct worker *w);
void worker_add_input(struct causality *c, struct worker *w,
		      const struct input *input);

/* link_causality_effects.c */
u64 causality_sent_at(const struct causality *c, u32 request);
void causality_handle_event(struct causality *c, const struct event *h);

/* link_causality_handover.c */
void worker_writes_channel(struct causality *c, struct worker *w,
			   const struct event *h);
void worker_reads_channel(struct causality *c, struct worker *w,
			  const struct event *h);
void worker_writes_pipe(struct causality *c, struct worker *w,
			const struct pipe_range *pipe_range);
void worker_reads_pipe(struct causality *c, struct worker *w,
		       const struct pipe_range *pipe_range);
void worker_keep_span(struct causality *c, struct worker *w,
		      const struct event *h);
void worker_wakes(struct causality *c, struct worker *w, const struct event *h);

#endif
