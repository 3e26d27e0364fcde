// SPDX-License-Identifier: GPL-2.0
/* Adds up the calls of files. */
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "ioreq.h"
#include "text.h"

#define MAX_OPS 256
#define MAX_NAME 4096

/* What io_pending tells of takes longer, ns */
#define LEAST_PENDING 1000000000

/* Events that are read */
enum kind {
	KIND_CALL,
	KIND_REQUEST,
	KIND_PART,
	KIND_FAULT,
	KIND_PENDING,
	KINDS
};

static const char *const event_names[KINDS] = {
	[KIND_CALL] = "io_syscall",    [KIND_REQUEST] = "io_request",
	[KIND_PART] = "io_part",       [KIND_FAULT] = "io_fault",
	[KIND_PENDING] = "io_pending",
};

/**
 * struct layout - where the fields of an event are
 * @id:		common_type of its records; -1 if the file has none
 * @kind:	which event
 * @op_name:	names of the calls, from the event's print format
 * @name:	where the object's name is told to be
 * @name2:	likewise of the second object
 * @stream:	where the ranges of the TCP stream are told to be
 * @has_stream:	@isn, @peer_isn, @flags, @type2, @obj2, @name2 and @stream are there
 *
 * The others are the event's fields.
 */
struct layout {
	int id;
	enum kind kind;
	char op_name[MAX_OPS][OP_SIZE];
	struct number common_type, common_pid;
	struct number start, duration, result, bytes, dev, obj, op, type, tgid;
	struct number pid, stack;
	u32 comm_offset, comm_size;
	struct number fd;
	struct number name;
	struct number isn, peer_isn, flags, type2, obj2, name2, stream, family;
	bool has_stream;
};

/* ------------------------------------------------------------------------- */
/* Formats */

/**
 * symbols_find - names of a field's values, from the event's print format
 * @name: they are put here, by value
 * @max: values are less than this
 * @event: the event
 * @field: the field
 */
void symbols_find(char (*name)[OP_SIZE], u32 max, const struct tep_event *event,
		  const char *field)
{
	const struct tep_print_arg *arg;
	const struct tep_print_flag_sym *symbol;

	for (arg = event->print_fmt.args; arg; arg = arg->next) {
		if (arg->type == TEP_PRINT_SYMBOL &&
		    arg->symbol.field->type == TEP_PRINT_FIELD &&
		    !strcmp(arg->symbol.field->field.name, field))
			break;
	}
	for (symbol = arg ? arg->symbol.symbols : NULL; symbol;
	     symbol = symbol->next) {
		unsigned long value = strtoul(symbol->value, NULL, 0);

		if (value < max) {
			snprintf(name[value], OP_SIZE, "%s", symbol->str);
			clean_text(name[value]);
		}
	}
}

/**
 * dynamic_find - where the place of a string or an array is told to be
 * @n: set to the number that tells: the place, and from bit 16 on the size
 * @event: the event
 * @name: of the field
 * @like: a number of the same file
 *
 * Return: whether there is such a field.
 */
bool dynamic_find(struct number *n, struct tep_event *event, const char *name,
		  const struct number *like)
{
	struct tep_format_field *f = tep_find_field(event, name);

	if (!f || !(f->flags & TEP_FIELD_IS_DYNAMIC) || f->size != 4 ||
	    f->offset < 0 || f->offset >= 4096)
		return false;
	*n = (struct number){ .offset = f->offset,
			      .size = 4,
			      .swap = like->swap };
	return true;
}

/* What tells of TCP streams: a kernel may not have it */
static void find_stream(struct layout *l, const struct records *r,
			struct tep_event *event)
{
	l->has_stream = number_find(&l->isn, r, event, "isn") &&
			number_find(&l->peer_isn, r, event, "peer_isn") &&
			number_find(&l->flags, r, event, "flags") &&
			number_find(&l->type2, r, event, "type2") &&
			number_find(&l->obj2, r, event, "id2") &&
			dynamic_find(&l->name2, event, "name2", &l->start) &&
			dynamic_find(&l->stream, event, "stream", &l->start);
}

static bool find_thread(struct layout *l, const struct records *r,
			struct tep_event *event)
{
	struct tep_format_field *comm = tep_find_field(event, "comm");

	if (!number_find(&l->pid, r, event, "pid") || !comm ||
	    comm->offset < 0 || comm->size < 0 ||
	    comm->offset + comm->size > 4096)
		return false;
	l->comm_offset = comm->offset;
	l->comm_size = comm->size;
	return true;
}

static bool is_request(const struct layout *l)
{
	return l->kind == KIND_REQUEST || l->kind == KIND_PART;
}

/* What some events have, and others do not */
static bool find_own_fields(struct layout *l, const struct records *r,
			    struct tep_event *event)
{
	if (l->kind == KIND_FAULT)
		return number_find(&l->result, r, event, "result") &&
		       number_find(&l->flags, r, event, "flags");
	if (!number_find(&l->op, r, event, "op"))
		return false;
	if ((l->kind == KIND_PENDING || is_request(l)) &&
	    !find_thread(l, r, event))
		return false;
	return l->kind == KIND_PENDING ||
	       (number_find(&l->result, r, event, "result") &&
		number_find(&l->bytes, r, event, "bytes"));
}

/* If the file has no such event, or one that is different, its id stays -1 */
static void find_layout(struct layout *l, const struct records *r,
			enum kind kind)
{
	struct tep_event *event = tep_find_event_by_name(
		records_tep(r), "iosys", event_names[kind]);

	l->id = -1;
	l->kind = kind;
	if (!event || !number_find(&l->common_type, r, event, "common_type") ||
	    !number_find(&l->common_pid, r, event, "common_pid") ||
	    !number_find(&l->start, r, event, "start") ||
	    !number_find(&l->duration, r, event, "duration") ||
	    !number_find(&l->dev, r, event, "dev") ||
	    !number_find(&l->obj, r, event, "id") ||
	    !number_find(&l->type, r, event, "type") ||
	    !number_find(&l->tgid, r, event, "tgid") ||
	    !dynamic_find(&l->name, event, "name", &l->start) ||
	    !find_own_fields(l, r, event))
		return;
	if (kind == KIND_CALL || is_request(l))
		find_stream(l, r, event);
	number_find(&l->fd, r, event, "fd");
	number_find(&l->family, r, event, "family");
	number_find(&l->stack, r, event, "stack");
	symbols_find(l->op_name, MAX_OPS, event, "op");
	l->id = event->id;
}

/* ------------------------------------------------------------------------- */
/* Records */

static u64 get(const struct number *n, const struct record *rec)
{
	return n->size && number_fits(n, rec) ? number_get(n, rec) : 0;
}

static bool is_whole(const struct layout *l, const struct record *rec)
{
	return number_fits(&l->start, rec) && number_fits(&l->duration, rec) &&
	       number_fits(&l->name, rec) && number_fits(&l->obj, rec) &&
	       number_fits(&l->tgid, rec) && number_fits(&l->op, rec) &&
	       (!l->pid.size || number_fits(&l->pid, rec)) &&
	       (!l->result.size || number_fits(&l->result, rec));
}

static void copy_text(char *to, size_t room, const struct record *rec,
		      u32 offset, u32 len)
{
	*to = '\0';
	if (offset > rec->size || len > rec->size - offset)
		return;
	if (len > room - 1)
		len = room - 1;
	memcpy(to, rec->data + offset, len);
	to[len] = '\0';
	clean_text(to);
}

static void get_name(char *name, const struct number *where,
		     const struct record *rec)
{
	u64 at = get(where, rec);

	copy_text(name, MAX_NAME, rec, at & 0xffff, at >> 16 & 0xffff);
}

static const char *op_name(char *buf, const struct layout *l,
			   const struct record *rec)
{
	u64 op = get(&l->op, rec);

	if (l->kind == KIND_FAULT)
		return "fault";
	if (op < MAX_OPS && *l->op_name[op])
		return l->op_name[op];
	snprintf(buf, OP_SIZE, "call-%llu", (unsigned long long)op);
	return buf;
}

/* Who called or submitted; others may complete a request */
static s32 thread_of(const struct layout *l, const struct record *rec)
{
	return get(l->pid.size ? &l->pid : &l->common_pid, rec);
}

static struct sum *find_sum(struct sums *s, const struct sum *key)
{
	u32 at = mix(key->id ^ (u64)key->dev << 32 ^ key->size << 20 ^
			     key->stack * 0x9e3779b97f4a7c15ull,
		     key->tgid ^ (u64)key->host << 40);
	struct sum *sum;

	for (sum = s->bucket[at]; sum; sum = sum->next) {
		/* A process goes by its number, whatever it is called */
		if (sum->host == key->host && sum->tgid == key->tgid &&
		    (s->by & BY_PROCESS || !strcmp(sum->comm, key->comm)) &&
		    sum->id == key->id && sum->dev == key->dev &&
		    sum->type == key->type && sum->size == key->size &&
		    sum->client == key->client && sum->stack == key->stack &&
		    !strcmp(sum->op, key->op) && !strcmp(sum->name, key->name))
			return sum;
	}
	sum = allocate(sizeof(*sum));
	*sum = *key;
	sum->name = strdup(key->name);
	if (!sum->name)
		abort();
	sum->next = s->bucket[at];
	s->bucket[at] = sum;
	return sum;
}

/* The highest bit of a number of bytes */
static u64 size_of(u64 bytes)
{
	return bytes ? 1ull << (63 - __builtin_clzll(bytes)) : 0;
}

static void add_call(struct sum *sum, u64 duration, s64 result, u64 bytes)
{
	times_add(&sum->times, duration);
	sum->errors += result < 0;
	sum->bytes += bytes;
}

static struct pending *find_pending(struct sums *s, u32 host, s32 pid,
				    u64 start)
{
	struct pending *p = s->open[mix(start, pid)];

	while (p && (p->host != host || p->pid != pid || p->start != start))
		p = p->next;
	return p;
}

static struct pending *make_pending(struct sums *s, u32 host, s32 pid,
				    const struct layout *l,
				    const struct record *rec)
{
	struct pending *p = allocate(sizeof(*p));
	char name[MAX_NAME], op[OP_SIZE];
	u32 at;

	p->host = host;
	p->pid = pid;
	p->tgid = get(&l->tgid, rec);
	p->start = get(&l->start, rec);
	snprintf(p->op, sizeof(p->op), "%s", op_name(op, l, rec));
	copy_text(p->comm, sizeof(p->comm), rec, l->comm_offset, l->comm_size);
	get_name(name, &l->name, rec);
	p->name = strdup(name);
	if (!p->name)
		abort();
	at = mix(p->start, pid);
	p->next = s->open[at];
	s->open[at] = p;
	return p;
}

/* The last record of io_pending may be written after the end */
static void end_call(struct sums *s, u32 host, const struct layout *l,
		     const struct record *rec)
{
	s32 pid = thread_of(l, rec);
	struct pending *p;

	if (get(&l->duration, rec) < LEAST_PENDING)
		return;
	p = find_pending(s, host, pid, get(&l->start, rec));
	if (!p)
		p = make_pending(s, host, pid, l, rec);
	p->ended = true;
}

/* Names are saved by thread; that of a process is its first thread's */
static void get_comm(char *comm, const struct layout *l,
		     const struct records *r, const struct record *rec)
{
	struct tep_handle *tep = records_tep(r);
	int tgid = get(&l->tgid, rec), pid = thread_of(l, rec);

	snprintf(comm, COMM_SIZE, "%s",
		 tep_data_comm_from_pid(
			 tep, tep_is_pid_registered(tep, tgid) ? tgid : pid));
	clean_text(comm);
}

/* Flags of io_syscall */
#define ISN_KNOWN 16
#define PEEKED 32

/* In a stream: what follows is of a pipe, with this number, and was written */
#define RANGES_PIPE (1ull << 63)
#define RANGES_WRITTEN (1ull << 62)

/* Flag of io_fault: the kernel took it, as a rule in a call that has its time */
#define BY_KERNEL 16

#define FAMILY_UNIX 1

/* Types of objects: S_IFSOCK >> 12 and so on */
#define TYPE_FIFO 1
#define TYPE_DIR 4
#define TYPE_BLOCK 6
#define TYPE_FILE 8
#define TYPE_SOCKET 12

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* What it is without who does it: requests to io_uring and aio are called like calls */
static const char *plain(const char *op)
{
	const char *colon = strchr(op, ':');

	return colon ? colon + 1 : op;
}

static enum step step_of(const char *op, u8 type, bool into)
{
	if (strstr(op, "poll") || strstr(op, "select") ||
	    !strcmp(op, "io_uring_enter"))
		return STEP_POLL;
	if (strstr(op, "sync"))
		return STEP_SYNC;
	if (into || type == TYPE_SOCKET)
		return STEP_SOCKET;
	if (type == TYPE_FILE || type == TYPE_DIR || type == TYPE_BLOCK ||
	    begins(op, "open") || begins(op, "creat"))
		return STEP_FILE;
	return type == TYPE_FIFO ? STEP_PIPE : STEP_OTHER;
}

static u64 pair(const struct layout *l, const struct record *rec, u32 at,
		u64 *second)
{
	struct number n = { .offset = at, .size = 8, .swap = l->stream.swap };
	u64 first = get(&n, rec);

	n.offset = at + 8;
	*second = get(&n, rec);
	return first;
}

/*
 * When they left the caller, or were there for it. Of what a call passes on nothing is
 * there for the caller, who read it to write it, and wrote what it had read: only who
 * waits for a socket has that at the end.
 */
static u64 piped_time(const struct layout *l, const struct record *rec,
		      bool written, bool passed)
{
	u64 start = get(&l->start, rec), duration = get(&l->duration, rec);

	if (written)
		return get(&l->type, rec) == TYPE_SOCKET ? start + duration :
							   start;
	return passed ? start : start + duration;
}

/* From the header of a pipe's bytes on; what a damaged record says need not fit */
static void take_pipe(struct sums *s, u32 host, const struct layout *l,
		      const struct records *r, const struct record *rec, u32 at,
		      u32 end)
{
	u64 count, head = pair(l, rec, at, &count);
	struct piped p = { .host = host,
			   .async = is_request(l),
			   .written = head & RANGES_WRITTEN };
	u64 first = s->nr_piped;
	char comm[COMM_SIZE];

	p.pid = thread_of(l, rec);
	p.tgid = get(&l->tgid, rec);
	get_comm(comm, l, r, rec);
	p.comm = requests_comm(s->requests, host, comm);
	p.start = get(&l->start, rec);
	p.finish = p.start + get(&l->duration, rec);
	p.pipe = head & (RANGES_WRITTEN - 1);
	p.passed = !p.written && get(&l->obj2, rec);
	p.peeked = !p.written && get(&l->flags, rec) & PEEKED;
	p.time = piped_time(l, rec, p.written, p.passed);
	for (at += 16; count && at + 16 <= end; at += 16, count--) {
		p.from = pair(l, rec, at, &p.end);
		if (p.from >= p.end)
			continue;
		s->piped = grow(s->piped, s->nr_piped, &s->piped_room,
				sizeof(*s->piped));
		s->piped[s->nr_piped++] = p;
		s->piped[first].ranges++;
	}
}

/* Return: where the bytes of pipes begin in a stream; @end if there are none */
static u32 find_pipes(const struct layout *l, const struct record *rec, u32 at,
		      u32 end)
{
	u64 second;

	while (at + 16 <= end && !(pair(l, rec, at, &second) & RANGES_PIPE))
		at += 16;
	return at + 16 <= end ? at : end;
}

/* What is peeked at (by tee) is read, too */
static void take_pipes(struct sums *s, u32 host, const struct layout *l,
		       const struct records *r, const struct record *rec,
		       u32 at, u32 end)
{
	u64 count;

	while (at + 16 <= end) {
		if (pair(l, rec, at, &count) & RANGES_PIPE)
			take_pipe(s, host, l, r, rec, at, end);
		at += 16;
	}
}

/* A role is told where it begins, the bytes by the calls that send or receive them */
static void take_stream(struct sums *s, u32 host, const struct layout *l,
			const struct records *r, const struct record *rec)
{
	u64 loc = get(&l->stream, rec), flags = get(&l->flags, rec);
	u32 at = loc & 0xffff, end = at + (loc >> 16 & 0xffff);
	u32 pipes = find_pipes(l, rec, at, end);
	bool into = get(&l->type2, rec) == TYPE_SOCKET;
	char name[MAX_NAME], comm[COMM_SIZE], buf[OP_SIZE];
	const char *op = plain(op_name(buf, l, rec));
	struct message m = {
		.host = host, .comm = comm, .name = name, .async = is_request(l)
	};
	u8 type = get(&l->type, rec);

	m.pid = thread_of(l, rec);
	if (into || type == TYPE_SOCKET)
		m.id = get(into ? &l->obj2 : &l->obj, rec);
	m.start = get(&l->start, rec);
	m.duration = get(&l->duration, rec);
	/* A thread is in one call at a time, whatever it has submitted */
	if (!m.async)
		requests_call(s->requests, host, m.pid, m.id,
			      step_of(op, type, into), m.start, m.duration);
	if (begins(op, "accept") && into)
		requests_socket(s->requests, host, get(&l->obj2, rec),
				ROLE_SERVER);
	else if (!strcmp(op, "connect"))
		requests_socket(s->requests, host, get(&l->obj, rec),
				ROLE_CLIENT);
	take_pipes(s, host, l, r, rec, pipes, end);
	if (at == pipes || !(flags & ISN_KNOWN) || flags & PEEKED)
		return;
	get_comm(comm, l, r, rec);
	get_name(name, into ? &l->name2 : &l->name, rec);
	m.local = get(&l->family, rec) == FAMILY_UNIX;
	m.isn = get(&l->isn, rec);
	m.peer_isn = get(&l->peer_isn, rec);
	m.sent = into || begins(op, "send") || begins(op, "write");
	for (; at + 16 <= pipes; at += 16) {
		m.from = pair(l, rec, at, &m.end);
		if (m.from < m.end)
			requests_add(s->requests, &m);
	}
}

static bool has_pipes(const struct layout *l, const struct record *rec)
{
	u64 loc = get(&l->stream, rec);
	u32 at = loc & 0xffff, end = at + (loc >> 16 & 0xffff);

	return find_pipes(l, rec, at, end) != end;
}

/* For those who want to know each call */
static void log_call(const struct sums *s, u32 host, const struct layout *l,
		     const struct records *r, const struct record *rec)
{
	bool into = get(&l->type2, rec) == TYPE_SOCKET;
	struct actor who = { .host = host };
	char name[MAX_NAME], op[OP_SIZE];
	struct object object = { .name = name };
	struct logged call = { 0 };

	who.pid = thread_of(l, rec);
	who.tgid = get(&l->tgid, rec);
	get_comm(who.comm, l, r, rec);
	object.type = get(&l->type, rec);
	object.dev = get(&l->dev, rec);
	object.id = get(&l->obj, rec);
	get_name(name, &l->name, rec);
	call.start = get(&l->start, rec);
	call.duration = get(&l->duration, rec);
	call.result = get(&l->result, rec);
	call.bytes = get(&l->bytes, rec);
	call.step = step_of(op_name(op, l, rec), object.type, into);
	if (into || object.type == TYPE_SOCKET)
		call.socket = into ? get(&l->obj2, rec) : object.id;
	call.stack = get(&l->stack, rec);
	call.beside = l->kind == KIND_FAULT ? get(&l->flags, rec) & BY_KERNEL :
					      l->kind != KIND_CALL;
	call.piped = l->has_stream && has_pipes(l, rec);
	call.fd = get(&l->fd, rec);
	log_add(s->log, &who, op_name(op, l, rec), &object, &call);
}

/* What a fault is for: a page, of most machines */
#define PAGE 4096

static u64 asked_for(const struct layout *l, const struct record *rec)
{
	char buf[OP_SIZE];
	const char *op = plain(op_name(buf, l, rec));
	u8 type = get(&l->type, rec);

	if (l->kind == KIND_FAULT)
		return PAGE;
	if (type != TYPE_FILE && type != TYPE_BLOCK)
		return 0;
	if (begins(op, "read") || begins(op, "pread") ||
	    begins(op, "sendfile") || begins(op, "splice") ||
	    begins(op, "copy_file_range"))
		return get(&l->bytes, rec);
	return 0;
}

/* For those who want to know what was read */
static void take_read(const struct sums *s, u32 host, const struct layout *l,
		      const struct records *r, const struct record *rec)
{
	struct actor who = { .host = host };
	char name[MAX_NAME];
	struct object object = { .name = name };
	u64 start = get(&l->start, rec);

	who.pid = thread_of(l, rec);
	get_comm(who.comm, l, r, rec);
	object.type = get(&l->type, rec);
	object.dev = get(&l->dev, rec);
	object.id = get(&l->obj, rec);
	get_name(name, &l->name, rec);
	if (l->kind == KIND_REQUEST)
		reads_request(s->reads, &who, &object, asked_for(l, rec), start,
			      start + get(&l->duration, rec));
	else
		reads_call(s->reads, &who, &object, asked_for(l, rec), start);
}

/* A program that faults is in no call */
static void take_fault(struct sums *s, u32 host, const struct layout *l,
		       const struct record *rec)
{
	if (!(get(&l->flags, rec) & BY_KERNEL))
		requests_call(s->requests, host, get(&l->common_pid, rec), 0,
			      STEP_FILE, get(&l->start, rec),
			      get(&l->duration, rec));
}

static void end_of_call(struct sums *s, u32 host, u64 start)
{
	if (!s->host[host].calls++ || start < s->host[host].first)
		s->host[host].first = start;
}

static void take_call(struct sums *s, u32 host, const struct layout *l,
		      const struct records *r, const struct record *rec)
{
	char name[MAX_NAME] = "", op[OP_SIZE];
	struct sum key = { .name = name };

	if (s->by & BY_HOST)
		key.host = host;
	if (s->by & BY_PROCESS)
		key.tgid = get(&l->tgid, rec);
	if (s->by & (BY_PROCESS | BY_COMM))
		get_comm(key.comm, l, r, rec);
	if (s->by & BY_CALL)
		snprintf(key.op, sizeof(key.op), "%s", op_name(op, l, rec));
	if (s->by & BY_OBJECT) {
		key.dev = get(&l->dev, rec);
		key.id = get(&l->obj, rec);
		key.type = get(&l->type, rec);
		get_name(name, &l->name, rec);
	}
	if (s->by & BY_SIZE)
		key.size = size_of(get(&l->bytes, rec));
	if (s->by & BY_STACK)
		key.stack = stack_key(host, get(&l->stack, rec));
	/* Others are added up when all requests are there */
	if (!(s->by & BY_CLIENT) && get(&l->duration, rec) >= s->longer)
		add_call(find_sum(s, &key), get(&l->duration, rec),
			 get(&l->result, rec), get(&l->bytes, rec));
	if (l->kind == KIND_FAULT)
		take_fault(s, host, l, rec);
	end_call(s, host, l, rec);
	if (l->has_stream)
		take_stream(s, host, l, r, rec);
	if (s->log)
		log_call(s, host, l, r, rec);
	if (s->reads)
		take_read(s, host, l, r, rec);
	end_of_call(s, host, get(&l->start, rec));
}

static void take_part(struct sums *s, u32 host, const struct layout *l,
		      const struct records *r, const struct record *rec)
{
	if (l->has_stream)
		take_stream(s, host, l, r, rec);
}

static void take_pending(struct sums *s, u32 host, const struct layout *l,
			 const struct record *rec)
{
	s32 pid = get(&l->pid, rec);
	struct pending *p = find_pending(s, host, pid, get(&l->start, rec));
	u64 time = get(&l->duration, rec);

	if (!p)
		p = make_pending(s, host, pid, l, rec);
	if (time > p->time)
		p->time = time;
}

/* Return: what all records begin with, or NULL if none of them is ours */
static const struct number *find_layouts(struct layout *l,
					 const struct records *r)
{
	const struct number *type = NULL;
	enum kind kind;

	for (kind = 0; kind < KINDS; kind++) {
		find_layout(&l[kind], r, kind);
		if (l[kind].id >= 0)
			type = &l[kind].common_type;
	}
	return type;
}

static const struct layout *layout_of(const struct layout *l, int id)
{
	enum kind kind;

	for (kind = 0; kind < KINDS; kind++) {
		if (l[kind].id == id)
			return &l[kind];
	}
	return NULL;
}

/**
 * struct cpu - of a file
 * @last:	when the last call ended that it has of it, ns of CLOCK_MONOTONIC
 * @late:	by how much the trace's clock was ahead of that one at its record, ns
 * @ahead:	by how much it is: the less of the last two, as something may interrupt
 *		between the end of a call and its record
 * @lost:	the file has lost records since then
 */
struct cpu {
	u64 last;
	s64 late;
	s64 ahead;
	bool lost;
};

static void add_gap(struct host *h, const struct cpu *c, u64 end)
{
	h->gap = grow(h->gap, h->nr_gaps, &h->room, sizeof(*h->gap));
	h->gap[h->nr_gaps++] = (struct gap){ .begin = c->last, .end = end };
}

static void end_gap(struct host *h, struct cpu *c, const struct layout *l,
		    const struct record *rec)
{
	u64 end = get(&l->start, rec) + get(&l->duration, rec);
	s64 late = rec->ts - end;

	if (c->lost)
		add_gap(h, c, end);
	c->lost = false;
	c->ahead = c->last && c->late < late ? c->late : late;
	c->late = late;
	c->last = end;
}

/**
 * struct waking_layout - where the fields of sched_waking are
 * @id:		common_type of its records; -1 if the file has none
 *
 * The others are the event's fields.
 */
struct waking_layout {
	int id;
	struct number common_flags, common_pid, pid;
};

static void find_waking(struct waking_layout *l, const struct records *r)
{
	struct tep_event *event =
		tep_find_event_by_name(records_tep(r), "sched", "sched_waking");

	l->id = -1;
	if (event && number_find(&l->common_flags, r, event, "common_flags") &&
	    number_find(&l->common_pid, r, event, "common_pid") &&
	    number_find(&l->pid, r, event, "pid"))
		l->id = event->id;
}

/**
 * struct block_layout - where the fields of a request to a disk are
 * @id:		common_type of its records; -1 if the file has none
 * @rwbs:	where the letters are that say what it is
 * @rwbs_size:	how many, at most
 *
 * The others are the event's fields.
 */
struct block_layout {
	int id;
	struct number common_pid, dev, nr_sector;
	u32 rwbs;
	u32 rwbs_size;
};

static void find_block(struct block_layout *l, const struct records *r,
		       const char *name)
{
	struct tep_event *event =
		tep_find_event_by_name(records_tep(r), "block", name);
	struct tep_format_field *rwbs = event ? tep_find_field(event, "rwbs") :
						NULL;

	l->id = -1;
	if (!rwbs || rwbs->offset < 0 || rwbs->size < 1 ||
	    rwbs->offset + rwbs->size > 4096 ||
	    !number_find(&l->common_pid, r, event, "common_pid") ||
	    !number_find(&l->dev, r, event, "dev") ||
	    !number_find(&l->nr_sector, r, event, "nr_sector"))
		return;
	l->rwbs = rwbs->offset;
	l->rwbs_size = rwbs->size;
	l->id = event->id;
}

/* Before the first call of a CPU its clock cannot be compared */
static bool take_block(struct sums *s, u32 host, const struct block_layout *l,
		       const struct cpu *c, const struct record *rec)
{
	char rwbs[16];

	if (!s->reads || !c->last)
		return false;
	copy_text(rwbs, sizeof(rwbs), rec, l->rwbs,
		  l->rwbs_size < sizeof(rwbs) ? l->rwbs_size :
						sizeof(rwbs) - 1);
	s->disks = true;
	if (*rwbs == 'R')
		reads_queue(s->reads, host, get(&l->common_pid, rec),
			    rec->ts - c->ahead, get(&l->dev, rec),
			    512 * get(&l->nr_sector, rec), strchr(rwbs, 'A'));
	return true;
}

/* Flags of the common header: what was interrupted wakes nobody */
#define IN_INTERRUPT (8 | 16)

/* Before the first call of a CPU its clock cannot be compared */
static void take_waking(struct sums *s, u32 host, const struct waking_layout *l,
			const struct cpu *c, const struct record *rec)
{
	if (!s->log || !c->last || get(&l->common_flags, rec) & IN_INTERRUPT)
		return;
	s->waking = grow(s->waking, s->wakings, &s->waking_room,
			 sizeof(*s->waking));
	s->waking[s->wakings++] = (struct waking){
		.time = rec->ts - c->ahead,
		.host = host,
		.waker = get(&l->common_pid, rec),
		.wakee = get(&l->pid, rec),
	};
}

/* No call followed */
static void end_gaps(struct host *h, const struct cpu *c, u32 cpus)
{
	u32 i;

	for (i = 0; i < cpus; i++) {
		if (c[i].lost)
			add_gap(h, &c[i], UINT64_MAX);
	}
}

/**
 * sums_add - add a call to its sum
 * @s: sums
 * @who: the thread; its calls do not matter
 * @op: name of the call
 * @object: what it was about
 * @call: its times and results
 */
void sums_add(struct sums *s, const struct actor *who, const char *op,
	      const struct object *object, const struct logged *call)
{
	static char none[1];
	struct sum key = { .name = none };

	if (call->duration < s->longer)
		return;
	if (s->by & BY_HOST)
		key.host = who->host;
	if (s->by & BY_PROCESS)
		key.tgid = who->tgid;
	if (s->by & (BY_PROCESS | BY_COMM))
		snprintf(key.comm, sizeof(key.comm), "%s", who->comm);
	if (s->by & BY_CALL)
		snprintf(key.op, sizeof(key.op), "%s", op);
	if (s->by & BY_OBJECT) {
		key.dev = object->dev;
		key.id = object->id;
		key.type = object->type;
		key.name = object->name;
	}
	if (s->by & BY_SIZE)
		key.size = size_of(call->bytes);
	if (s->by & BY_CLIENT)
		key.client = call->client;
	if (s->by & BY_STACK)
		key.stack = stack_key(who->host, call->stack);
	add_call(find_sum(s, &key), call->duration, call->result, call->bytes);
}

/**
 * sums_call - a call that another event told of
 * @s: sums
 * @who: the thread; its calls do not matter
 * @op: name of the call
 * @object: what it was about
 * @call: its times and results
 */
void sums_call(struct sums *s, const struct actor *who, const char *op,
	       const struct object *object, const struct logged *call)
{
	if (!(s->by & BY_CLIENT))
		sums_add(s, who, op, object, call);
	if (s->log)
		log_add(s->log, who, op, object, call);
	end_of_call(s, who->host, call->start);
}

/**
 * sums_pending - a call that had not ended when the trace did
 * @s: sums
 * @who: the thread
 * @op: name of the call
 * @name: of its object
 * @start: when it began, ns
 * @time: how long it had been open, ns
 */
void sums_pending(struct sums *s, const struct actor *who, const char *op,
		  const char *name, u64 start, u64 time)
{
	struct pending *p = allocate(sizeof(*p));
	u32 at = mix(start, who->pid);

	p->host = who->host;
	p->pid = who->pid;
	p->tgid = who->tgid;
	p->start = start;
	p->time = time;
	snprintf(p->op, sizeof(p->op), "%s", op);
	snprintf(p->comm, sizeof(p->comm), "%s", who->comm);
	p->name = strdup(name);
	if (!p->name)
		abort();
	p->next = s->open[at];
	s->open[at] = p;
}

/* Return: 0, or what guard_fail() returned, if there are no calls of any kind */
static int read_stock(struct guard *g, struct sums *s, u32 host,
		      struct records *r)
{
	s->host[host].gaps = 0;
	s->host[host].nr_gaps = 0;
	if (records_rewind(r) || !stock_read(s, host, r))
		return guard_fail(
			g, GUARD_NOWHERE,
			"has no iosys events (record them with: trace-cmd record -e iosys), and none of system calls (see ioreq(1), STOCK KERNELS)");
	return records_status(r);
}

static int read_records(struct guard *g, struct sums *s, u32 host,
			struct records *r)
{
	u32 cpus = records_cpus(r);
	struct cpu *cpu = allocate((cpus + 1ull) * sizeof(*cpu));
	struct layout *layouts = allocate(KINDS * sizeof(*layouts));
	struct stack_layout *stacks = allocate(sizeof(*stacks));
	const struct number *type = find_layouts(layouts, r);
	struct waking_layout waking;
	struct block_layout bio, request;
	struct record rec;
	int status = 0;
	bool found = false, bios = false;
	u32 i;

	find_waking(&waking, r);
	find_block(&bio, r, "block_bio_queue");
	find_block(&request, r, "block_rq_issue");
	stacks_layout(stacks, r);
	while (type && !status && records_next(r, &rec)) {
		int id = get(type, &rec);
		const struct layout *l = layout_of(layouts, id);

		s->host[host].gaps += rec.lost;
		if (rec.cpu < cpus)
			cpu[rec.cpu].lost |= rec.lost;
		if (waking.id >= 0 && id == waking.id && rec.cpu < cpus)
			take_waking(s, host, &waking, &cpu[rec.cpu], &rec);
		if (bio.id >= 0 && id == bio.id && rec.cpu < cpus)
			bios |= take_block(s, host, &bio, &cpu[rec.cpu], &rec);
		/* A bio becomes one of these, if there are both */
		if (request.id >= 0 && id == request.id && rec.cpu < cpus &&
		    !bios)
			take_block(s, host, &request, &cpu[rec.cpu], &rec);
		if (!l) {
			if (s->stacks &&
			    !stacks_take(s->stacks, host, stacks, id, &rec))
				status = guard_fail(
					g, rec.offset,
					"the record of a stack, or of a file in it, is damaged");
			continue;
		}
		found = true;
		if (!is_whole(l, &rec))
			status = guard_fail(
				g, rec.offset,
				"the record is too short for its format");
		else if (l->kind == KIND_PENDING)
			take_pending(s, host, l, &rec);
		else if (l->kind == KIND_PART)
			/* Its request has the sum of all */
			take_part(s, host, l, r, &rec);
		else
			take_call(s, host, l, r, &rec);
		if (l->kind != KIND_PENDING && rec.cpu < cpus)
			end_gap(&s->host[host], &cpu[rec.cpu], l, &rec);
	}
	status = status ? status : records_status(r);
	/* What would follow is lost as well */
	for (i = 0; i < cpus && status; i++)
		cpu[i].lost = true;
	end_gaps(&s->host[host], cpu, cpus);
	free(cpu);
	/* trace-cmd may write formats of events that it did not record */
	if (!status && !found && (!type || stock_has(r)))
		status = read_stock(g, s, host, r);
	free(layouts);
	free(stacks);
	return status;
}

/**
 * sums_read - read a file
 * @g: the guard
 * @s: what to add it to
 * @host: which file
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int sums_read(struct guard *g, struct sums *s, u32 host)
{
	struct records *r;
	int status;

	guard_file(g, s->host[host].file);
	r = records_open(g, s->host[host].file);
	if (!r)
		return EXIT_FAILURE;
	status = read_records(g, s, host, r);
	records_close(r);
	if (!status && s->host[host].gaps)
		guard_note(g, "records were lost %llu times",
			   s->host[host].gaps);
	return status;
}

/* ------------------------------------------------------------------------- */

static int by_client(const struct party *a, const struct party *b)
{
	if (!a || !b)
		return !!a - !!b;
	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int by_name(const struct sum *a, const struct sum *b)
{
	int order = (a->host > b->host) - (a->host < b->host);

	order = order ? order : (a->tgid > b->tgid) - (a->tgid < b->tgid);
	order = order ? order : strcmp(a->comm, b->comm);
	order = order ? order : strcmp(a->name, b->name);
	order = order ? order : (a->id > b->id) - (a->id < b->id);
	order = order ? order : (a->size > b->size) - (a->size < b->size);
	order = order ? order : by_client(a->client, b->client);
	order = order ? order : (a->stack > b->stack) - (a->stack < b->stack);
	return order ? order : strcmp(a->op, b->op);
}

static int by_time(const void *a, const void *b)
{
	const struct sum *x = *(struct sum *const *)a,
			 *y = *(struct sum *const *)b;

	u64 p = x->times.sum, r = y->times.sum;

	return p > r ? -1 : p < r ? 1 : by_name(x, y);
}

static int by_age(const void *a, const void *b)
{
	const struct pending *x = *(struct pending *const *)a,
			     *y = *(struct pending *const *)b;
	int order = (x->time < y->time) - (x->time > y->time);

	return order ? order : (x->pid > y->pid) - (x->pid < y->pid);
}

static int by_begin(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* CPUs lose records at the same time */
static void merge_gaps(struct host *h)
{
	u64 i, nr = 0;

	if (h->nr_gaps)
		qsort(h->gap, h->nr_gaps, sizeof(*h->gap), by_begin);
	for (i = 0; i < h->nr_gaps; i++) {
		struct gap *last = nr ? &h->gap[nr - 1] : NULL;

		if (!last || last->end < h->gap[i].begin)
			h->gap[nr++] = h->gap[i];
		else if (last->end < h->gap[i].end)
			last->end = h->gap[i].end;
	}
	h->nr_gaps = nr;
}

/**
 * sums_finish - all files are read
 * @s: sums
 */
void sums_finish(struct sums *s)
{
	struct pending *p;
	struct sum *sum;
	u32 i;

	for (i = 0; i < s->hosts; i++)
		merge_gaps(&s->host[i]);
	s->clocks = clocks_new(s->hosts, s->drift);
	pipes_requests(s);
	requests_messages(s->requests, s->clocks);
	clocks_finish(s->clocks);
	s->origin = list_origin(s);
	s->exchange = requests_finish(s->requests, s->clocks, &s->nr_exchanges);
	if (s->log) {
		s->loops = loops_new(s);
		list_parents(s);
	}
	if (s->by & BY_CLIENT)
		clients_sum(s);
	if (s->stacks)
		stacks_finish(s->stacks);
	for (i = 0; i < BUCKETS; i++) {
		for (sum = s->bucket[i]; sum; sum = sum->next)
			s->nr++;
		for (p = s->open[i]; p; p = p->next)
			s->nr_pending += !p->ended;
	}
	if (s->reads)
		s->reading = reads_finish(s->reads, &s->nr_readings);
	s->sum = allocate((s->nr + 1) * sizeof(*s->sum));
	s->pending = allocate((s->nr_pending + 1) * sizeof(*s->pending));
	s->nr = 0;
	s->nr_pending = 0;
	for (i = 0; i < BUCKETS; i++) {
		for (sum = s->bucket[i]; sum; sum = sum->next) {
			times_finish(&sum->times);
			s->sum[s->nr++] = sum;
		}
		for (p = s->open[i]; p; p = p->next) {
			if (!p->ended)
				s->pending[s->nr_pending++] = p;
		}
	}
	qsort(s->sum, s->nr, sizeof(*s->sum), by_time);
	qsort(s->pending, s->nr_pending, sizeof(*s->pending), by_age);
}

/**
 * sums_free - free what sums_read() and sums_finish() made
 * @s: sums
 */
void sums_free(struct sums *s)
{
	struct pending *p;
	struct sum *sum;
	u32 i;

	for (i = 0; i < BUCKETS; i++) {
		while ((sum = s->bucket[i])) {
			s->bucket[i] = sum->next;
			free(sum->times.time);
			free(sum->name);
			free(sum);
		}
		while ((p = s->open[i])) {
			s->open[i] = p->next;
			free(p->name);
			free(p);
		}
	}
	free(s->sum);
	free(s->pending);
	for (i = 0; i < s->hosts; i++)
		free(s->host[i].gap);
	requests_free(s->requests);
	clocks_free(s->clocks);
	loops_free(s->loops);
	reads_free(s->reads);
	free(s->reading);
	free(s->waking);
	free(s->piped);
	log_free(s->log);
	stacks_free(s->stacks);
}
