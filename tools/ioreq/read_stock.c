// SPDX-License-Identifier: GPL-2.0
/*
 * Reads I/O system calls from the events of a kernel without iosys:
 * syscalls:sys_enter_* and sys_exit_*, and the kprobe events of the recipe in the man
 * page.
 *
 * Descriptors are followed from where they are made: ioreq:path has the name that a
 * call opens, ioreq:installed the descriptor that it returns. A descriptor that existed
 * before is unknown; after records were lost, every descriptor is. ioreq:tcp_send and
 * ioreq:tcp_receive have the addresses of the TCP socket that a call uses, also if its
 * descriptor is unknown.
 * task:task_newtask has the threads that are created meanwhile; other threads count as
 * processes.
 */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "read.h"
#include "text.h"

/* Highest descriptor that is followed: the default of RLIMIT_NOFILE's hard limit */
#define MAX_FD 524288

#define MAX_NAME 4096

/* The type of no object: its name is "unknown" */
#define TYPE_UNKNOWN 15

/* As for io_pending: calls whose end is missing after this time are pending, ns */
#define LEAST_PENDING 1000000000

#define CLONE_FILES 0x400
#define CLONE_THREAD 0x10000

/* Commands of fcntl() */
#define DUPFD 0
#define DUPFD_CLOEXEC 1030

/**
 * enum what - what a call does
 * @IO:		it is an I/O call, and counted
 * @MOVES:	it returns the number of bytes transferred
 * @OPENS:	it opens a path
 * @SOCKET:	it makes a socket
 * @PIPE:	it makes a pipe
 * @CLOSES:	it closes its descriptor
 * @DUPS:	it returns another descriptor for the same object
 * @RANGE:	it closes the descriptors from its first argument to its second one
 */
enum what {
	IO = 1,
	MOVES = 2,
	OPENS = 4,
	SOCKET = 8,
	PIPE = 16,
	CLOSES = 32,
	DUPS = 64,
	RANGE = 128,
};

/**
 * struct syscall - a system call
 * @call:	its name
 * @op:		name of the operation, if different
 * @fd:		index of the argument that is the descriptor, or -1
 * @what:	enum what
 */
struct syscall {
	const char *call;
	const char *op;
	int fd;
	u32 what;
};

static const struct syscall syscalls[] = {
	{ "read", NULL, 0, IO | MOVES },
	{ "write", NULL, 0, IO | MOVES },
	{ "pread64", NULL, 0, IO | MOVES },
	{ "pwrite64", NULL, 0, IO | MOVES },
	{ "readv", NULL, 0, IO | MOVES },
	{ "writev", NULL, 0, IO | MOVES },
	{ "preadv", NULL, 0, IO | MOVES },
	{ "pwritev", NULL, 0, IO | MOVES },
	{ "preadv2", NULL, 0, IO | MOVES },
	{ "pwritev2", NULL, 0, IO | MOVES },
	{ "send", NULL, 0, IO | MOVES },
	{ "recv", NULL, 0, IO | MOVES },
	{ "sendto", NULL, 0, IO | MOVES },
	{ "recvfrom", NULL, 0, IO | MOVES },
	{ "sendmsg", NULL, 0, IO | MOVES },
	{ "recvmsg", NULL, 0, IO | MOVES },
	/* They return a number of messages */
	{ "sendmmsg", NULL, 0, IO },
	{ "recvmmsg", NULL, 0, IO },
	{ "sendfile64", "sendfile", 1, IO | MOVES },
	{ "sendfile", NULL, 1, IO | MOVES },
	{ "splice", NULL, 0, IO | MOVES },
	{ "tee", NULL, 0, IO | MOVES },
	{ "vmsplice", NULL, 0, IO | MOVES },
	{ "copy_file_range", NULL, 0, IO | MOVES },
	{ "open", NULL, -1, IO | OPENS },
	{ "openat", NULL, -1, IO | OPENS },
	{ "openat2", NULL, -1, IO | OPENS },
	{ "creat", NULL, -1, IO | OPENS },
	{ "close", NULL, 0, IO | CLOSES },
	{ "connect", NULL, 0, IO },
	{ "accept", NULL, 0, IO | SOCKET },
	{ "accept4", NULL, 0, IO | SOCKET },
	{ "fsync", NULL, 0, IO },
	{ "fdatasync", NULL, 0, IO },
	{ "sync", NULL, -1, IO },
	{ "syncfs", NULL, 0, IO },
	{ "sync_file_range", NULL, 0, IO },
	{ "msync", NULL, -1, IO },
	{ "fallocate", NULL, 0, IO },
	{ "truncate", NULL, -1, IO },
	{ "ftruncate", NULL, 0, IO },
	{ "flock", NULL, 0, IO },
	{ "poll", NULL, -1, IO },
	{ "ppoll", NULL, -1, IO },
	{ "select", NULL, -1, IO },
	{ "pselect6", NULL, -1, IO },
	{ "epoll_wait", NULL, 0, IO },
	{ "epoll_pwait", NULL, 0, IO },
	{ "epoll_pwait2", NULL, 0, IO },
	{ "socket", NULL, -1, SOCKET },
	{ "socketpair", NULL, -1, SOCKET },
	{ "pipe", NULL, -1, PIPE },
	{ "pipe2", NULL, -1, PIPE },
	{ "dup", NULL, 0, DUPS },
	{ "dup2", NULL, 0, DUPS },
	{ "dup3", NULL, 0, DUPS },
	{ "fcntl", NULL, 0, DUPS },
	{ "close_range", NULL, 0, RANGE },
};

#define SYSCALLS ARRAY_SIZE(syscalls)

/**
 * enum event_type - events
 * @EVENT_NONE:		not used
 * @EVENT_ENTER:	begin of a call
 * @EVENT_EXIT:		end of a call
 * @EVENT_PATH:		ioreq:path
 * @EVENT_INSTALLED:	ioreq:installed
 * @EVENT_TCP:		ioreq:tcp
 * @EVENT_NEWTASK:	task:task_newtask
 * @EVENT_TASK_EXIT:	sched:sched_process_exit
 */
enum event_type {
	EVENT_NONE,
	EVENT_ENTER,
	EVENT_EXIT,
	EVENT_PATH,
	EVENT_INSTALLED,
	EVENT_TCP,
	EVENT_NEWTASK,
	EVENT_TASK_EXIT
};

/**
 * struct event - an event
 * @event_type:	type
 * @syscall:	system call
 * @path:	its field with the path
 * @n:		its other fields: arguments of a call, or its result; the descriptor;
 *		a task's number and flags; family, ports, addresses
 */
struct event {
	enum event_type event_type;
	const struct syscall *syscall;
	struct tep_format_field *path;
	struct number n[5];
};

/**
 * struct descriptor - what a descriptor refers to
 * @type:	type of the object
 * @name:	its name; NULL: the descriptor is unknown
 */
struct descriptor {
	u8 type;
	char *name;
};

/**
 * struct files - descriptors of the threads that share them
 * @descriptor:	descriptors, by number
 * @room:	allocated entries
 * @users:	number of threads
 */
struct files {
	struct descriptor *descriptor;
	u32 room;
	u32 users;
};

/**
 * struct task - a thread
 * @pid:	thread
 * @tgid:	process, as far as known
 * @files:	its descriptors
 * @syscall:	the call that it is in, or NULL
 * @start:	begin of that call
 * @arg:	first three arguments
 * @object:	object of the call
 */
struct task {
	s32 pid;
	s32 tgid;
	struct files *files;
	const struct syscall *syscall;
	u64 start;
	u64 arg[3];
	struct descriptor object;
};

/**
 * struct stock - a file that is being read
 * @m:			model to add calls to
 * @host:		number of the file
 * @r:			its records
 * @event:		events, by number
 * @common_type:	field with the event's number
 * @common_pid:		field with the thread
 * @tasks:		struct task, by thread
 * @last:		time of the last record
 */
struct stock {
	struct model *m;
	u32 host;
	struct records *r;
	struct event *event[65536];
	struct number common_type;
	struct number common_pid;
	struct hash tasks;
	u64 last;
};

/* ------------------------------------------------------------------------- */
/* Formats */

static const struct syscall *find_syscall(const char *call)
{
	size_t i;

	for (i = 0; i < SYSCALLS; i++) {
		if (!strcmp(syscalls[i].call, call))
			return &syscalls[i];
	}
	return NULL;
}

/* The first three fields after the call's number */
static void find_args(struct event *t, const struct stock *k,
		      struct tep_event *event)
{
	struct tep_format_field *f = event->format.fields;
	int i;

	for (i = 0; f && i < 4; f = f->next, i++) {
		if (i)
			number_find(&t->n[i - 1], k->r, event, f->name);
	}
}

static void find_numbers(struct event *t, const struct stock *k,
			 struct tep_event *event, const char *const *name)
{
	int i;

	for (i = 0; name[i]; i++)
		number_find(&t->n[i], k->r, event, name[i]);
}

static bool is_event(const struct tep_event *e, const char *system,
		     const char *name)
{
	return !strcmp(e->system, system) && !strcmp(e->name, name);
}

static void find_event(struct event *t, const struct stock *k,
		       struct tep_event *e)
{
	static const char *const tcp[] = { "family", "sport", "dport",
					   "saddr",  "daddr", NULL };
	static const char *const installed[] = { "fd", NULL };
	static const char *const newtask[] = { "pid", "clone_flags", NULL };

	if (!strcmp(e->system, "syscalls") &&
	    !strncmp(e->name, "sys_enter_", 10)) {
		t->syscall = find_syscall(e->name + 10);
		t->event_type = t->syscall ? EVENT_ENTER : EVENT_NONE;
		find_args(t, k, e);
	} else if (!strcmp(e->system, "syscalls") &&
		   !strncmp(e->name, "sys_exit_", 9)) {
		t->syscall = find_syscall(e->name + 9);
		t->event_type =
			t->syscall && number_find(&t->n[0], k->r, e, "ret") ?
				EVENT_EXIT :
				EVENT_NONE;
	} else if (is_event(e, "ioreq", "path")) {
		t->event_type = EVENT_PATH;
		t->path = array_find(e, "name");
	} else if (is_event(e, "ioreq", "installed")) {
		t->event_type = EVENT_INSTALLED;
		find_numbers(t, k, e, installed);
	} else if (is_event(e, "ioreq", "tcp_send") ||
		   is_event(e, "ioreq", "tcp_receive")) {
		t->event_type = EVENT_TCP;
		find_numbers(t, k, e, tcp);
	} else if (is_event(e, "task", "task_newtask")) {
		t->event_type = EVENT_NEWTASK;
		find_numbers(t, k, e, newtask);
	} else if (is_event(e, "sched", "sched_process_exit")) {
		t->event_type = EVENT_TASK_EXIT;
	}
}

/**
 * stock_has - whether a file may have system calls of a kernel without iosys
 * @r:	its records
 *
 * Return: whether it has the format of any.
 */
bool stock_has(const struct records *r)
{
	struct tep_handle *tep = records_tep(r);
	int n = tep_get_events_count(tep), i;

	for (i = 0; i < n; i++) {
		struct tep_event *e = tep_get_event(tep, i);

		if (e && !strcmp(e->system, "syscalls") &&
		    !strncmp(e->name, "sys_exit_", 9) &&
		    find_syscall(e->name + 9))
			return true;
	}
	return false;
}

/* Return: whether there is any system call */
static bool find_events(struct stock *k)
{
	struct tep_handle *tep = records_tep(k->r);
	int n = tep_get_events_count(tep), i;
	bool found = false;

	for (i = 0; i < n; i++) {
		struct tep_event *e = tep_get_event(tep, i);
		struct event t = { 0 };

		if (!e || e->id < 0 || e->id > 65535 || k->event[e->id])
			continue;
		/* These are at the same offset in each event */
		if (!k->common_type.size &&
		    (!number_find(&k->common_type, k->r, e, "common_type") ||
		     !number_find(&k->common_pid, k->r, e, "common_pid")))
			continue;
		find_event(&t, k, e);
		if (t.event_type == EVENT_NONE)
			continue;
		k->event[e->id] = xzalloc(sizeof(t));
		*k->event[e->id] = t;
		found |= t.event_type == EVENT_EXIT;
	}
	return found;
}

/* ------------------------------------------------------------------------- */
/* Descriptors */

static void forget(struct descriptor *t)
{
	free(t->name);
	*t = (struct descriptor){ 0 };
}

static void set(struct descriptor *t, u8 type, const char *name)
{
	char *copy = xstrdup(name);

	free(t->name);
	*t = (struct descriptor){ .type = type, .name = copy };
}

/* Return: the descriptor, or NULL if there can be no such one */
static struct descriptor *find_descriptor(struct files *f, u64 fd, bool make)
{
	u32 room = f->room;

	if (fd >= MAX_FD || (fd >= room && !make))
		return NULL;
	while (fd >= room)
		room = room ? 2 * room : 16;
	if (room != f->room) {
		f->descriptor = xreallocarray(f->descriptor, room,
					      sizeof(*f->descriptor));
		memset(f->descriptor + f->room, 0,
		       (room - f->room) * sizeof(*f->descriptor));
		f->room = room;
	}
	return &f->descriptor[fd];
}

static void clear_files(struct files *f, u64 from, u64 to)
{
	for (; from < f->room && from <= to; from++)
		forget(&f->descriptor[from]);
}

static void put_files(struct files *f)
{
	if (--f->users)
		return;
	clear_files(f, 0, UINT64_MAX);
	free(f->descriptor);
	free(f);
}

static struct files *copy_files(const struct files *from)
{
	struct files *f = xzalloc(sizeof(*f));
	u32 i;

	f->users = 1;
	for (i = 0; from && i < from->room; i++) {
		if (from->descriptor[i].name)
			set(find_descriptor(f, i, true),
			    from->descriptor[i].type, from->descriptor[i].name);
	}
	return f;
}

/* ------------------------------------------------------------------------- */
/* Threads */

static struct task *find_task(struct stock *k, s32 pid)
{
	u64 hash = hash_u64(pid);
	struct task *t;

	hash_for_each_possible_entry(&k->tasks, hash, t) {
		if (t->pid == pid)
			return t;
	}
	t = hash_new(&k->tasks, hash, sizeof(*t));
	t->pid = pid;
	t->tgid = pid;
	t->files = copy_files(NULL);
	return t;
}

static void drop_call(struct task *t)
{
	t->syscall = NULL;
	forget(&t->object);
}

static void new_task(struct stock *k, struct task *parent, s32 pid, u64 flags)
{
	struct task *t = find_task(k, pid);

	/* Numbers of threads are reused */
	drop_call(t);
	if (t == parent)
		return;
	put_files(t->files);
	if (flags & CLONE_FILES) {
		t->files = parent->files;
		t->files->users++;
	} else {
		t->files = copy_files(parent->files);
	}
	t->tgid = flags & CLONE_THREAD ? parent->tgid : pid;
}

static void forget_descriptors(struct stock *k)
{
	struct task *t;
	u32 i;

	hash_for_each(&k->tasks, i, t) {
		clear_files(t->files, 0, UINT64_MAX);
		drop_call(t);
	}
}

/* ------------------------------------------------------------------------- */
/* Calls */

/* The object of a call is what its descriptor refers to at the begin */
static void begin_call(const struct event *event, struct task *t,
		       const struct record *rec)
{
	const struct syscall *syscall = event->syscall;
	const struct descriptor *descriptor;
	int i;

	drop_call(t);
	t->syscall = syscall;
	t->start = rec->ts;
	for (i = 0; i < 3; i++)
		t->arg[i] = number_in(&event->n[i], rec);
	if (syscall->fd < 0)
		return;
	t->arg[syscall->fd] = (u32)t->arg[syscall->fd];
	descriptor = find_descriptor(t->files, t->arg[syscall->fd], false);
	if (descriptor && descriptor->name)
		set(&t->object, descriptor->type, descriptor->name);
}

static void installed(struct task *t, u64 fd)
{
	struct descriptor *descriptor = find_descriptor(t->files, fd, true);
	u32 what = t->syscall ? t->syscall->what : 0;
	char name[64];

	if (!descriptor)
		return;
	if (what & OPENS && t->object.name)
		set(descriptor, TYPE_FILE, t->object.name);
	else if (what & DUPS && t->object.name)
		set(descriptor, t->object.type, t->object.name);
	else if (what & (SOCKET | PIPE)) {
		snprintf(name, sizeof(name), "a %s of %s",
			 what & PIPE ? "pipe" : "socket", t->syscall->call);
		set(descriptor, what & PIPE ? TYPE_FIFO : TYPE_SOCKET, name);
	} else {
		forget(descriptor);
	}
}

/* IPv4 addresses are at the same offset in every kernel, IPv6 ones are not */
static void tcp(struct task *t, const struct event *event,
		const struct record *rec)
{
	u64 sport = number_in(&event->n[1], rec),
	    dport = number_in(&event->n[2], rec);
	u32 address[2] = { number_in(&event->n[3], rec),
			   number_in(&event->n[4], rec) };
	unsigned char own[4], peer[4];
	char name[128];

	if (!t->syscall)
		return;
	memcpy(own, &address[0], 4);
	memcpy(peer, &address[1], 4);
	if (event->n[3].swap) {
		address[0] = __builtin_bswap32(address[0]);
		address[1] = __builtin_bswap32(address[1]);
		memcpy(own, &address[0], 4);
		memcpy(peer, &address[1], 4);
	}
	dport = __builtin_bswap16(dport);
	if (number_in(&event->n[0], rec) == 2)
		snprintf(name, sizeof(name),
			 "%u.%u.%u.%u:%llu->%u.%u.%u.%u:%llu", own[0], own[1],
			 own[2], own[3], sport, peer[0], peer[1], peer[2],
			 peer[3], dport);
	else
		snprintf(name, sizeof(name), "[?]:%llu->[?]:%llu", sport,
			 dport);
	/* Keep the source of the bytes: copies to sockets have a file before this */
	if (!t->object.name || t->object.type == TYPE_SOCKET)
		set(&t->object, TYPE_SOCKET, name);
}

static void get_path(struct task *t, const struct event *event,
		     const struct record *rec)
{
	char name[MAX_NAME];

	/* A script's interpreter or a core dump: not what the caller opens */
	if (!t->syscall || !(t->syscall->what & OPENS) ||
	    !array_text(event->path, rec, name, sizeof(name)))
		return;
	clean_text(name);
	set(&t->object, TYPE_FILE, name);
}

/* Update the descriptors after a call */
static void change_files(struct task *t, s64 result)
{
	u32 what = t->syscall->what;
	struct descriptor *descriptor;

	if (what & CLOSES)
		clear_files(t->files, t->arg[0], t->arg[0]);
	if (result < 0)
		return;
	if (what & RANGE && !t->arg[2])
		clear_files(t->files, (u32)t->arg[0], (u32)t->arg[1]);
	if (!(what & DUPS) ||
	    (!strcmp(t->syscall->call, "fcntl") && t->arg[1] != DUPFD &&
	     t->arg[1] != DUPFD_CLOEXEC))
		return;
	descriptor = find_descriptor(t->files, result, true);
	if (descriptor)
		set(descriptor, t->object.type, t->object.name);
}

/* The name of a process is its first thread's, if that is known */
static void set_caller(const struct stock *k, const struct task *t,
		       struct thread *caller)
{
	struct tep_handle *tep = records_tep(k->r);

	*caller = (struct thread){ .host = k->host,
				   .pid = t->pid,
				   .tgid = t->tgid };
	snprintf(caller->comm, sizeof(caller->comm), "%s",
		 tep_data_comm_from_pid(
			 tep, tep_is_pid_registered(tep, t->tgid) ? t->tgid :
								    t->pid));
	clean_text(caller->comm);
}

static const char *op_of(const struct syscall *syscall)
{
	return syscall->op ? syscall->op : syscall->call;
}

/* Only a call without a descriptor and without a path has no object */
static struct object object_of(const struct task *t)
{
	static char unknown[] = "unknown";
	struct object o = { .type = t->object.type, .name = t->object.name };

	if (o.name)
		return o;
	o.name = unknown + sizeof(unknown) - 1;
	if (t->syscall->fd >= 0 || t->syscall->what & OPENS) {
		o.type = TYPE_UNKNOWN;
		o.name = unknown;
	}
	return o;
}

static void end_call(struct stock *k, struct task *t, s64 result, u64 ts)
{
	struct call call = { .start = t->start, .result = result };
	struct object object;
	struct thread caller;

	if (t->syscall->what & IO) {
		call.duration = ts > t->start ? ts - t->start : 0;
		if (t->syscall->what & MOVES && result > 0)
			call.bytes = result;
		object = object_of(t);
		set_caller(k, t, &caller);
		model_add_call(k->m, &caller, op_of(t->syscall), &object,
			       &call);
	}
	change_files(t, result);
	drop_call(t);
}

static void handle_record(struct stock *k, const struct record *rec)
{
	const struct event *event =
		k->event[(u16)number_in(&k->common_type, rec)];
	struct task *t;

	k->last = rec->ts;
	if (rec->lost) {
		k->m->host[k->host].gaps++;
		forget_descriptors(k);
	}
	if (!event)
		return;
	t = find_task(k, number_in(&k->common_pid, rec));
	switch (event->event_type) {
	case EVENT_ENTER:
		begin_call(event, t, rec);
		break;
	case EVENT_EXIT:
		if (t->syscall == event->syscall)
			end_call(k, t, number_in(&event->n[0], rec), rec->ts);
		break;
	case EVENT_PATH:
		get_path(t, event, rec);
		break;
	case EVENT_INSTALLED:
		installed(t, (u32)number_in(&event->n[0], rec));
		break;
	case EVENT_TCP:
		tcp(t, event, rec);
		break;
	case EVENT_NEWTASK:
		new_task(k, t, number_in(&event->n[0], rec),
			 number_in(&event->n[1], rec));
		break;
	case EVENT_TASK_EXIT:
		drop_call(t);
		break;
	case EVENT_NONE:
		break;
	}
}

static void add_pending(struct stock *k, const struct task *t)
{
	struct object object;
	struct thread caller;

	if (!t->syscall || !(t->syscall->what & IO) || k->last < t->start ||
	    k->last - t->start < LEAST_PENDING)
		return;
	set_caller(k, t, &caller);
	object = object_of(t);
	model_add_pending(k->m, &caller, op_of(t->syscall), object.name,
			  t->start, k->last - t->start);
}

static void stock_free(struct stock *k)
{
	struct task *t;
	u32 i;

	hash_for_each(&k->tasks, i, t) {
		forget(&t->object);
		put_files(t->files);
	}
	hash_free(&k->tasks);
	for (i = 0; i < 65536; i++)
		free(k->event[i]);
	free(k);
}

/**
 * stock_read - read a file of a kernel without iosys
 * @m:		model to add it to
 * @host:	number of the file
 * @r:		its records, none of which has been read
 *
 * Return: whether it has events of system calls.
 */
bool stock_read(struct model *m, u32 host, struct records *r)
{
	struct stock *k = xzalloc(sizeof(*k));
	struct task *t;
	struct record rec;
	bool found;
	u32 i;

	k->m = m;
	k->host = host;
	k->r = r;
	found = find_events(k);
	while (found && records_next(r, &rec))
		handle_record(k, &rec);
	hash_for_each(&k->tasks, i, t)
		add_pending(k, t);
	m->host[host].stock = found;
	stock_free(k);
	return found;
}
