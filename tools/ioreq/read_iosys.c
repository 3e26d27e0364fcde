// SPDX-License-Identifier: GPL-2.0
/* Reads iosys events into the model. */
#include <stdlib.h>
#include <string.h>

#include "read_iosys.h"
#include "text.h"

/* Calls that io_pending reports take longer, ns */
#define LEAST_PENDING 1000000000

static const char *const event_names[KINDS] = {
	[KIND_CALL] = "io_syscall",    [KIND_REQUEST] = "io_request",
	[KIND_PART] = "io_part",       [KIND_FAULT] = "io_fault",
	[KIND_PENDING] = "io_pending",
};

/**
 * symbols_find - find the names of a field's values, from the event's print format
 * @name:	set to the names, by value
 * @max:	values are less than this
 * @event:	event
 * @field:	name of the field
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

/* The fields of streams: a kernel may not have them */
static void find_stream(struct layout *l, const struct records *r,
			struct tep_event *event)
{
	l->has_stream = number_find(&l->isn, r, event, "isn") &&
			number_find(&l->peer_isn, r, event, "peer_isn") &&
			number_find(&l->flags, r, event, "flags") &&
			number_find(&l->type2, r, event, "type2") &&
			number_find(&l->obj2, r, event, "id2") &&
			(l->name2 = array_find(event, "name2")) &&
			(l->stream = array_find(event, "stream"));
}

bool iosys_is_request(const struct layout *l)
{
	return l->kind == KIND_REQUEST || l->kind == KIND_PART;
}

/* Fields that only some events have */
static bool find_own_fields(struct layout *l, const struct records *r,
			    struct tep_event *event)
{
	if (l->kind == KIND_FAULT)
		return number_find(&l->result, r, event, "result") &&
		       number_find(&l->flags, r, event, "flags");
	if (!number_find(&l->op, r, event, "op"))
		return false;
	if ((l->kind == KIND_PENDING || iosys_is_request(l)) &&
	    (!number_find(&l->pid, r, event, "pid") ||
	     !(l->comm = array_find(event, "comm"))))
		return false;
	return l->kind == KIND_PENDING ||
	       (number_find(&l->result, r, event, "result") &&
		number_find(&l->bytes, r, event, "bytes"));
}

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static struct op op_of(const char *name)
{
	const char *colon = strchr(name, ':');
	/* Requests to io_uring and aio are named after calls, with a prefix */
	const char *call = colon ? colon + 1 : name;

	return (struct op){
		.polls = strstr(call, "poll") || strstr(call, "select") ||
			 !strcmp(call, "io_uring_enter"),
		.syncs = strstr(call, "sync"),
		.opens = begins(call, "open") || begins(call, "creat"),
		.accepts = begins(call, "accept"),
		.connects = !strcmp(call, "connect"),
		.closes = !strcmp(call, "close"),
		.sends = begins(call, "send") || begins(call, "write"),
		.receives = begins(call, "recv") || begins(call, "read"),
		.reads = begins(call, "read") || begins(call, "pread") ||
			 begins(call, "sendfile") || begins(call, "splice") ||
			 begins(call, "copy_file_range"),
	};
}

/* If the file has no such event, or a different one, its id stays -1 */
static void find_layout(struct layout *l, const struct records *r,
			enum kind kind)
{
	struct tep_event *event = tep_find_event_by_name(
		records_tep(r), "iosys", event_names[kind]);
	u32 i;

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
	    !(l->name = array_find(event, "name")) ||
	    !find_own_fields(l, r, event))
		return;
	if (kind == KIND_CALL || iosys_is_request(l))
		find_stream(l, r, event);
	number_find(&l->fd, r, event, "fd");
	number_find(&l->family, r, event, "family");
	number_find(&l->protocol, r, event, "protocol");
	number_find(&l->stack, r, event, "stack");
	symbols_find(l->op_name, MAX_OPS, event, "op");
	for (i = 0; i < MAX_OPS; i++)
		l->ops[i] = op_of(l->op_name[i]);
	l->id = event->id;
}

static bool is_whole(const struct layout *l, const struct record *rec)
{
	return number_fits(&l->start, rec) && number_fits(&l->duration, rec) &&
	       (u32)l->name->offset + l->name->size <= rec->size &&
	       number_fits(&l->obj, rec) && number_fits(&l->tgid, rec) &&
	       number_fits(&l->op, rec) &&
	       (!l->pid.size || number_fits(&l->pid, rec)) &&
	       (!l->result.size || number_fits(&l->result, rec));
}

void iosys_get_name(char *name, const struct tep_format_field *f,
		    const struct record *rec)
{
	array_text(f, rec, name, MAX_NAME);
	clean_text(name);
}

static const char *op_name(char *buf, const struct layout *l,
			   const struct record *rec)
{
	u64 op = number_in(&l->op, rec);

	if (l->kind == KIND_FAULT)
		return "fault";
	if (op < MAX_OPS && *l->op_name[op])
		return l->op_name[op];
	snprintf(buf, OP_SIZE, "call-%llu", (unsigned long long)op);
	return buf;
}

/* The thread that called or submitted; another one may complete a request */
s32 iosys_thread_of(const struct layout *l, const struct record *rec)
{
	return number_in(l->pid.size ? &l->pid : &l->common_pid, rec);
}

static struct pending *make_pending(struct model *m, u32 host, s32 pid,
				    const struct layout *l,
				    const struct record *rec)
{
	struct pending *p =
		model_new_pending(m, host, pid, number_in(&l->start, rec));
	char name[MAX_NAME], op[OP_SIZE];

	p->tgid = number_in(&l->tgid, rec);
	snprintf(p->op, sizeof(p->op), "%s", op_name(op, l, rec));
	array_text(l->comm, rec, p->comm, sizeof(p->comm));
	clean_text(p->comm);
	iosys_get_name(name, l->name, rec);
	p->name = xstrdup(name);
	return p;
}

/* The last record of io_pending may be written after the end */
static void end_call(struct model *m, u32 host, const struct layout *l,
		     const struct record *rec)
{
	s32 pid = iosys_thread_of(l, rec);
	struct pending *p;

	if (number_in(&l->duration, rec) < LEAST_PENDING)
		return;
	p = model_find_pending(m, host, pid, number_in(&l->start, rec));
	if (!p)
		p = make_pending(m, host, pid, l, rec);
	p->ended = true;
}

/* A call whose name is unknown shows nothing */
struct op iosys_op(const struct layout *l, const struct record *rec)
{
	u64 op = number_in(&l->op, rec);

	return l->kind != KIND_FAULT && op < MAX_OPS ? l->ops[op] :
						       (struct op){ 0 };
}

enum step op_step(const struct op *op, u8 type, bool into)
{
	if (op->polls)
		return STEP_POLL;
	if (op->syncs)
		return STEP_SYNC;
	if (into || type == TYPE_SOCKET)
		return STEP_SOCKET;
	if (type == TYPE_FILE || type == TYPE_DIR || type == TYPE_BLOCK ||
	    op->opens)
		return STEP_FILE;
	return type == TYPE_FIFO ? STEP_PIPE : STEP_OTHER;
}

/* Names are saved by thread; the name of a process is that of its first thread */
struct process_name *iosys_process_name(const struct layout *l,
					const struct records *r,
					const struct record *rec)
{
	s32 tgid = number_in(&l->tgid, rec), pid = iosys_thread_of(l, rec);
	u64 hash = hash_pair((u32)tgid, (u32)pid);
	struct tep_handle *tep = records_tep(r);
	struct process_name *n;

	hash_for_each_possible_entry(l->names, hash, n) {
		if (n->tgid == tgid && n->pid == pid)
			return n;
	}
	n = hash_new(l->names, hash, sizeof(*n));
	n->tgid = tgid;
	n->pid = pid;
	text_copy(n->comm, sizeof(n->comm),
		  tep_data_comm_from_pid(
			  tep, tep_is_pid_registered(tep, tgid) ? tgid : pid));
	clean_text(n->comm);
	return n;
}

/* Flag of io_fault: the kernel faulted, as a rule in a call, which has the time */
#define BY_KERNEL 16

/* IPPROTO_UDP */
#define PROTOCOL_UDP 17

/* For reports that need single calls */
static void log_call(const struct model *m, u32 host, const struct layout *l,
		     const struct records *r, const struct record *rec)
{
	bool into = number_in(&l->type2, rec) == TYPE_SOCKET;
	struct thread caller = { .host = host };
	char name[MAX_NAME], op[OP_SIZE];
	struct object object = { .name = name };
	struct op traits = iosys_op(l, rec);
	struct call call = { 0 };

	caller.pid = iosys_thread_of(l, rec);
	caller.tgid = number_in(&l->tgid, rec);
	strcpy(caller.comm, iosys_process_name(l, r, rec)->comm);
	object.type = number_in(&l->type, rec);
	object.dev = number_in(&l->dev, rec);
	object.id = number_in(&l->obj, rec);
	iosys_get_name(name, l->name, rec);
	call.start = number_in(&l->start, rec);
	call.duration = number_in(&l->duration, rec);
	call.result = number_in(&l->result, rec);
	call.bytes = number_in(&l->bytes, rec);
	call.step = op_step(&traits, object.type, into);
	if (into || object.type == TYPE_SOCKET)
		call.socket = into ? number_in(&l->obj2, rec) : object.id;
	call.stack = number_in(&l->stack, rec);
	call.overlaps = l->kind == KIND_FAULT ?
				number_in(&l->flags, rec) & BY_KERNEL :
				l->kind != KIND_CALL;
	call.via_pipe = l->has_stream && streams_have_pipes(l, rec);
	call.fd = number_in(&l->fd, rec);
	log_add(m->log, &caller, op_name(op, l, rec), &object, &call);
}

/* A fault reads a page, as on most machines */
#define PAGE 4096

static u64 asked_for(const struct layout *l, const struct record *rec)
{
	u8 type = number_in(&l->type, rec);

	if (l->kind == KIND_FAULT)
		return PAGE;
	if ((type == TYPE_FILE || type == TYPE_BLOCK) && iosys_op(l, rec).reads)
		return number_in(&l->bytes, rec);
	return 0;
}

/* For the report of what was read */
static void handle_read(const struct model *m, u32 host, const struct layout *l,
			const struct records *r, const struct record *rec)
{
	struct thread caller = { .host = host };
	char name[MAX_NAME];
	struct object object = { .name = name };
	u64 start = number_in(&l->start, rec);

	caller.pid = iosys_thread_of(l, rec);
	strcpy(caller.comm, iosys_process_name(l, r, rec)->comm);
	object.type = number_in(&l->type, rec);
	object.dev = number_in(&l->dev, rec);
	object.id = number_in(&l->obj, rec);
	iosys_get_name(name, l->name, rec);
	if (l->kind == KIND_REQUEST)
		reads_request(m->reads, &caller, &object, asked_for(l, rec),
			      start, start + number_in(&l->duration, rec));
	else
		reads_call(m->reads, &caller, &object, asked_for(l, rec),
			   start);
}

/* A fault of a program is in no call */
static void handle_fault(struct model *m, u32 host, const struct layout *l,
			 const struct record *rec)
{
	if (!(number_in(&l->flags, rec) & BY_KERNEL))
		requests_call(m->requests, host, number_in(&l->common_pid, rec),
			      0, STEP_FILE, number_in(&l->start, rec),
			      number_in(&l->duration, rec));
}

static void handle_call(struct model *m, u32 host, const struct layout *l,
			const struct records *r, const struct record *rec)
{
	char name[MAX_NAME], op[OP_SIZE];
	struct sum key = { .name = name };

	*name = '\0';
	if (m->stacks)
		stacks_call(m->stacks,
			    stack_key(host, number_in(&l->stack, rec)),
			    number_in(&l->tgid, rec));
	if (m->by & BY_HOST)
		key.host = host;
	if (m->by & BY_PROCESS)
		key.tgid = number_in(&l->tgid, rec);
	if (m->by & (BY_PROCESS | BY_COMM))
		strcpy(key.comm, iosys_process_name(l, r, rec)->comm);
	if (m->by & BY_CALL)
		text_copy(key.op, sizeof(key.op), op_name(op, l, rec));
	if (m->by & BY_OBJECT) {
		key.dev = number_in(&l->dev, rec);
		key.id = number_in(&l->obj, rec);
		key.type = number_in(&l->type, rec);
		iosys_get_name(name, l->name, rec);
	}
	if (m->by & BY_SIZE)
		key.size = size_class(number_in(&l->bytes, rec));
	if (m->by & BY_STACK)
		key.stack = stack_key(host, number_in(&l->stack, rec));
	/* Sums by client are made when all requests are known */
	if (!(m->by & BY_CLIENT) && number_in(&l->duration, rec) >= m->longer)
		sum_add_call(model_find_sum(m, &key),
			     number_in(&l->duration, rec),
			     number_in(&l->result, rec),
			     number_in(&l->bytes, rec));
	if (l->kind == KIND_FAULT)
		handle_fault(m, host, l, rec);
	end_call(m, host, l, rec);
	m->host[host].udp += number_in(&l->bytes, rec) &&
			     number_in(&l->protocol, rec) == PROTOCOL_UDP;
	if (l->has_stream)
		streams_parse(m, host, l, r, rec);
	if (m->log)
		log_call(m, host, l, r, rec);
	if (m->reads)
		handle_read(m, host, l, r, rec);
	model_count_call(m, host, number_in(&l->start, rec));
}

static void handle_part(struct model *m, u32 host, const struct layout *l,
			const struct records *r, const struct record *rec)
{
	if (l->has_stream)
		streams_parse(m, host, l, r, rec);
}

static void handle_pending(struct model *m, u32 host, const struct layout *l,
			   const struct record *rec)
{
	s32 pid = number_in(&l->pid, rec);
	struct pending *p =
		model_find_pending(m, host, pid, number_in(&l->start, rec));
	u64 time = number_in(&l->duration, rec);

	if (!p)
		p = make_pending(m, host, pid, l, rec);
	if (time > p->time)
		p->time = time;
}

/* Return: the first field of all records, or NULL if the file has no iosys event */
static const struct number *
find_layouts(struct layout *l, const struct records *r, struct hash *names)
{
	const struct number *type = NULL;
	enum kind kind;

	for (kind = 0; kind < KINDS; kind++) {
		find_layout(&l[kind], r, kind);
		l[kind].names = names;
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
 * struct cpu - a CPU of a file
 * @last:	end of its last call, ns of CLOCK_MONOTONIC
 * @last_ahead:	trace clock less CLOCK_MONOTONIC at that call's record, ns
 * @ahead:	estimate of that difference: the lower of the last two, as an interrupt
 *		may come between the end of a call and its record
 * @lost:	records were lost since then
 */
struct cpu {
	u64 last;
	s64 last_ahead;
	s64 ahead;
	bool lost;
};

static void add_gap(struct host *h, const struct cpu *c, u64 end)
{
	GROW(h->gap, h->nr_gaps, h->room);
	h->gap[h->nr_gaps++] = (struct gap){ .begin = c->last, .end = end };
}

static void end_gap(struct host *h, struct cpu *c, const struct layout *l,
		    const struct record *rec)
{
	u64 end = number_in(&l->start, rec) + number_in(&l->duration, rec);
	s64 last_ahead = rec->ts - end;

	if (c->lost)
		add_gap(h, c, end);
	c->lost = false;
	c->ahead = c->last && c->last_ahead < last_ahead ? c->last_ahead :
							   last_ahead;
	c->last_ahead = last_ahead;
	c->last = end;
}

/**
 * struct wakeup_layout - where the fields of sched_waking are
 * @id:	common_type of its records; -1 if the file has none
 *
 * The others are fields of the event.
 */
struct wakeup_layout {
	int id;
	struct number common_flags, common_pid, pid;
};

static void find_wakeup_layout(struct wakeup_layout *l, const struct records *r)
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
 * @rwbs:	letters that describe it
 *
 * The others are fields of the event.
 */
struct block_layout {
	int id;
	struct number common_pid, dev, nr_sector;
	struct tep_format_field *rwbs;
};

static void find_block_layout(struct block_layout *l, const struct records *r,
			      const char *name)
{
	struct tep_event *event =
		tep_find_event_by_name(records_tep(r), "block", name);

	l->id = -1;
	if (!(l->rwbs = array_find(event, "rwbs")) ||
	    !number_find(&l->common_pid, r, event, "common_pid") ||
	    !number_find(&l->dev, r, event, "dev") ||
	    !number_find(&l->nr_sector, r, event, "nr_sector"))
		return;
	l->id = event->id;
}

/* Before the first call of a CPU its clock cannot be converted */
static bool handle_block(struct model *m, u32 host,
			 const struct block_layout *l, const struct cpu *c,
			 const struct record *rec)
{
	char rwbs[16];

	if (!m->reads || !c->last)
		return false;
	array_text(l->rwbs, rec, rwbs, sizeof(rwbs));
	m->disks = true;
	if (*rwbs == 'R')
		reads_queue(m->reads, host, number_in(&l->common_pid, rec),
			    rec->ts - c->ahead, number_in(&l->dev, rec),
			    512 * number_in(&l->nr_sector, rec),
			    strchr(rwbs, 'A'));
	return true;
}

/**
 * struct switch_layout - where the fields of sched_switch are
 * @id:	common_type of its records; -1 if the file has none
 *
 * The others are fields of the event.
 */
struct switch_layout {
	int id;
	struct number prev_pid, prev_state, next_pid;
};

static void find_switch_layout(struct switch_layout *l, const struct records *r)
{
	struct tep_event *event =
		tep_find_event_by_name(records_tep(r), "sched", "sched_switch");

	l->id = -1;
	if (event && number_find(&l->prev_pid, r, event, "prev_pid") &&
	    number_find(&l->prev_state, r, event, "prev_state") &&
	    number_find(&l->next_pid, r, event, "next_pid"))
		l->id = event->id;
}

static void add_sched_event(struct model *m, u32 host, u64 time, s32 pid,
			    enum sched_what what, const char *waker)
{
	GROW(m->sched_event, m->sched_events, m->sched_room);
	m->sched_event[m->sched_events] = (struct sched_event){
		.time = time,
		.number = m->sched_events,
		.host = host,
		.pid = pid,
		.what = what,
		.waker = waker,
	};
	m->sched_events++;
}

/* Bits of prev_state; without them the thread was preempted */
#define STATE_ASLEEP 0xff

/* Before the first call of a CPU its clock cannot be converted */
static void handle_switch(struct model *m, u32 host,
			  const struct switch_layout *l, const struct cpu *c,
			  const struct record *rec)
{
	bool asleep = number_in(&l->prev_state, rec) & STATE_ASLEEP;
	s32 prev = number_in(&l->prev_pid, rec),
	    next = number_in(&l->next_pid, rec);

	if (!c->last)
		return;
	m->host[host].switches = true;
	if (prev)
		add_sched_event(m, host, rec->ts - c->ahead, prev,
				asleep ? SCHED_LEFT_BLOCKED :
					 SCHED_LEFT_RUNNABLE,
				NULL);
	if (next)
		add_sched_event(m, host, rec->ts - c->ahead, next, SCHED_CAME,
				NULL);
}

/* Flags of the common header: the interrupted thread is not the waker */
#define IN_INTERRUPT (8 | 16)

/* Of files with sched_switch: the end of a sleep. Conversion of clocks as above */
static void handle_waking(struct model *m, u32 host,
			  const struct wakeup_layout *l, const struct cpu *c,
			  const struct records *r, const struct record *rec)
{
	const char *waker = NULL;
	char comm[COMM_SIZE];

	if (!c->last)
		return;
	if (!(number_in(&l->common_flags, rec) & IN_INTERRUPT)) {
		snprintf(
			comm, sizeof(comm), "%s",
			tep_data_comm_from_pid(records_tep(r),
					       number_in(&l->common_pid, rec)));
		clean_text(comm);
		waker = requests_comm(m->requests, host, comm);
	}
	add_sched_event(m, host, rec->ts - c->ahead, number_in(&l->pid, rec),
			SCHED_WOKEN, waker);
}

/* Before the first call of a CPU its clock cannot be converted */
static void handle_wakeup(struct model *m, u32 host,
			  const struct wakeup_layout *l, const struct cpu *c,
			  const struct record *rec)
{
	if (!m->log || !c->last ||
	    number_in(&l->common_flags, rec) & IN_INTERRUPT)
		return;
	GROW(m->wakeup, m->wakeups, m->wakeup_room);
	m->wakeup[m->wakeups++] = (struct wakeup){
		.time = rec->ts - c->ahead,
		.host = host,
		.waker = number_in(&l->common_pid, rec),
		.wakee = number_in(&l->pid, rec),
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

/* Return: 0, or the result of guard_fail() if the file has no calls of any kind */
static int read_stock(struct guard *g, struct model *m, u32 host,
		      struct records *r)
{
	m->host[host].gaps = 0;
	m->host[host].nr_gaps = 0;
	if (records_rewind(r) || !stock_read(m, host, r))
		return guard_fail(
			g, GUARD_NOWHERE,
			"has neither iosys events (record them with: trace-cmd record -e iosys) nor events of system calls (see ioreq(1), STOCK KERNELS)");
	return records_status(r);
}

static int read_records(struct guard *g, struct model *m, u32 host,
			struct records *r)
{
	u32 cpus = records_cpus(r);
	struct cpu *cpu = xzalloc((cpus + 1ull) * sizeof(*cpu));
	struct layout *layouts = xzalloc(KINDS * sizeof(*layouts));
	struct stack_layout *stacks = xzalloc(sizeof(*stacks));
	struct hash names = { 0 };
	const struct number *type = find_layouts(layouts, r, &names);
	struct wakeup_layout wakeup;
	struct switch_layout switching;
	struct block_layout bio, request;
	struct record rec;
	int status = 0;
	bool found = false, bios = false;
	u32 i;

	find_wakeup_layout(&wakeup, r);
	find_switch_layout(&switching, r);
	find_block_layout(&bio, r, "block_bio_queue");
	find_block_layout(&request, r, "block_rq_issue");
	stacks_layout(stacks, r);
	while (type && !status && records_next(r, &rec)) {
		int id = number_in(type, &rec);
		const struct layout *l = layout_of(layouts, id);

		m->host[host].gaps += rec.lost;
		if (rec.cpu < cpus)
			cpu[rec.cpu].lost |= rec.lost;
		if (wakeup.id >= 0 && id == wakeup.id && rec.cpu < cpus) {
			handle_wakeup(m, host, &wakeup, &cpu[rec.cpu], &rec);
			if (switching.id >= 0)
				handle_waking(m, host, &wakeup, &cpu[rec.cpu],
					      r, &rec);
		}
		if (switching.id >= 0 && id == switching.id && rec.cpu < cpus)
			handle_switch(m, host, &switching, &cpu[rec.cpu], &rec);
		if (bio.id >= 0 && id == bio.id && rec.cpu < cpus)
			bios |= handle_block(m, host, &bio, &cpu[rec.cpu],
					     &rec);
		/* If there are both, a bio becomes one of these */
		if (request.id >= 0 && id == request.id && rec.cpu < cpus &&
		    !bios)
			handle_block(m, host, &request, &cpu[rec.cpu], &rec);
		if (!l) {
			if (m->stacks &&
			    !stacks_record(m->stacks, host, stacks, id, &rec))
				status = guard_fail(
					g, rec.offset,
					"damaged record of a stack or of a mapped file");
			continue;
		}
		found = true;
		if (!is_whole(l, &rec))
			status = guard_fail(
				g, rec.offset,
				"the record is too short for its format");
		else if (l->kind == KIND_PENDING)
			handle_pending(m, host, l, &rec);
		else if (l->kind == KIND_PART)
			/* Its request has the sum of all parts */
			handle_part(m, host, l, r, &rec);
		else
			handle_call(m, host, l, r, &rec);
		if (l->kind != KIND_PENDING && rec.cpu < cpus)
			end_gap(&m->host[host], &cpu[rec.cpu], l, &rec);
	}
	status = status ? status : records_status(r);
	/* The rest of the file is lost as well */
	for (i = 0; i < cpus && status; i++)
		cpu[i].lost = true;
	end_gaps(&m->host[host], cpu, cpus);
	free(cpu);
	if (!status)
		stacks_note_counts(g, stacks);
	/* trace-cmd may write formats of events that it did not record */
	if (!status && !found && (!type || stock_has(r)))
		status = read_stock(g, m, host, r);
	if (!status && !found && !m->host[host].calls)
		status = guard_fail(
			g, GUARD_NOWHERE,
			"has no records of %s: was anything recorded, and did a filter discard it? (record with: trace-cmd record -e iosys)",
			type ? "iosys events, only their formats" :
			       "system calls");
	hash_free(&names);
	free(layouts);
	free(stacks);
	return status;
}

/**
 * model_read - read a file
 * @g:		guard
 * @m:		model to add it to
 * @host:	number of the file
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int model_read(struct guard *g, struct model *m, u32 host)
{
	struct records *r;
	int status;

	guard_file(g, m->host[host].file);
	r = records_open_expanded(g, m->host[host].file, m->instance);
	if (!r)
		return EXIT_FAILURE;
	status = read_records(g, m, host, r);
	records_close(r);
	if (!status)
		status = known_stacks_read(g, m, host);
	if (!status && m->host[host].gaps)
		guard_note(g, "records lost in %llu gap%s", m->host[host].gaps,
			   plural(m->host[host].gaps));
	return status;
}
