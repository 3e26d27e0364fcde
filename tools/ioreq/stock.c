// SPDX-License-Identifier: GPL-2.0
/*
 * I/O system calls from the events of a kernel without iosys: syscalls:sys_enter_*
 * and sys_exit_*, and the kprobe events of the recipe in the man page.
 *
 * What a descriptor stands for is followed from where it is made: ioreq:path has the
 * name that a call opens, ioreq:installed the descriptor that it gets. A descriptor
 * that was there before is unknown, and all of them are after records were lost.
 * ioreq:tcp has the addresses of a TCP socket that bytes go through, whoever made it.
 * Threads made meanwhile are told by task:task_newtask; others count as processes.
 */
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "ioreq.h"
#include "text.h"

/* Descriptors that are followed: the default of RLIMIT_NOFILE's hard limit */
#define MAX_FD 524288

#define MAX_NAME 4096

#define TYPE_FIFO 1
#define TYPE_FILE 8
#define TYPE_SOCKET 12
/* Nothing has it: its name is "unknown" */
#define TYPE_UNKNOWN 15

/* What io_pending takes, in ns, for an end that is missing */
#define LEAST_PENDING 1000000000

#define CLONE_FILES 0x400
#define CLONE_THREAD 0x10000

/* Of fcntl() */
#define DUPFD 0
#define DUPFD_CLOEXEC 1030

/**
 * enum what - what a call does besides
 * @IO:		it is an I/O call, that is counted
 * @MOVES:	its result is how many bytes it transferred
 * @OPENS:	it opens what has a name
 * @SOCKET:	it makes a socket
 * @PIPE:	it makes a pipe
 * @CLOSES:	it closes its descriptor
 * @DUPS:	its result is one more descriptor for the same
 * @RANGE:	it closes the descriptors from the first one to the second one
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
 * struct kind - a system call
 * @call:	its name
 * @op:		name of the operation, if that is another one
 * @fd:		which argument is the descriptor, or -1
 * @what:	of enum what
 */
struct kind {
	const char *call;
	const char *op;
	int fd;
	u32 what;
};

static const struct kind kinds[] = {
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
	/* Their results are messages */
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

#define KINDS (sizeof(kinds) / sizeof(*kinds))

/**
 * enum does - what an event tells
 * @NOTHING:	nothing
 * @ENTERS:	a call begins
 * @EXITS:	it ends
 * @PATH:	ioreq:path
 * @INSTALLED:	ioreq:installed
 * @TCP:	ioreq:tcp
 * @NEWTASK:	task:task_newtask
 * @ENDS:	sched:sched_process_exit
 */
enum does { NOTHING, ENTERS, EXITS, PATH, INSTALLED, TCP, NEWTASK, ENDS };

/**
 * struct told - an event
 * @does:	what it tells
 * @kind:	of which call
 * @n:		its numbers: arguments of a call, or its result; the descriptor; the
 *		name's place; a task's number and flags; family, ports, addresses
 */
struct told {
	enum does does;
	const struct kind *kind;
	struct number n[5];
};

/**
 * struct thing - what a descriptor stands for
 * @type:	of the object
 * @name:	its name; NULL: the descriptor is unknown
 */
struct thing {
	u8 type;
	char *name;
};

/**
 * struct files - the descriptors of those who share them
 * @thing:	by number
 * @room:	for so many
 * @users:	how many share them
 */
struct files {
	struct thing *thing;
	u32 room;
	u32 users;
};

/**
 * struct task - a thread
 * @pid:	its number
 * @tgid:	its process's, as far as that is known
 * @files:	its descriptors
 * @kind:	the call that it is in, or NULL
 * @start:	when that began
 * @arg:	its first three arguments
 * @about:	what it is about
 * @next:	in the same bucket
 */
struct task {
	s32 pid;
	s32 tgid;
	struct files *files;
	const struct kind *kind;
	u64 start;
	u64 arg[3];
	struct thing about;
	struct task *next;
};

/**
 * struct stock - a file that is being read
 * @s:		what calls are added to
 * @host:	which file
 * @r:		its records
 * @told:	by the event's number
 * @common_type: the event's number
 * @common_pid:	the thread's
 * @bucket:	threads by hash
 * @last:	time of the last record
 */
struct stock {
	struct sums *s;
	u32 host;
	struct records *r;
	struct told *told[65536];
	struct number common_type;
	struct number common_pid;
	struct task *bucket[BUCKETS];
	u64 last;
};

static u64 get(const struct number *n, const struct record *rec)
{
	return n->size && number_fits(n, rec) ? number_get(n, rec) : 0;
}

/* ------------------------------------------------------------------------- */
/* Formats */

static const struct kind *find_kind(const char *call)
{
	size_t i;

	for (i = 0; i < KINDS; i++) {
		if (!strcmp(kinds[i].call, call))
			return &kinds[i];
	}
	return NULL;
}

/* The first three fields behind the call's number */
static void find_args(struct told *t, const struct stock *k,
		      struct tep_event *event)
{
	struct tep_format_field *f = event->format.fields;
	int i;

	for (i = 0; f && i < 4; f = f->next, i++) {
		if (i)
			number_find(&t->n[i - 1], k->r, event, f->name);
	}
}

static void find_numbers(struct told *t, const struct stock *k,
			 struct tep_event *event, const char *const *name)
{
	int i;

	for (i = 0; name[i]; i++)
		number_find(&t->n[i], k->r, event, name[i]);
}

static void find_path(struct told *t, struct tep_event *event,
		      const struct stock *k)
{
	struct tep_format_field *f = tep_find_field(event, "name");

	if (f && f->flags & TEP_FIELD_IS_DYNAMIC && f->size == 4 &&
	    f->offset >= 0 && f->offset < 4096)
		t->n[0] = (struct number){ .offset = f->offset,
					   .size = 4,
					   .swap = k->common_pid.swap };
}

static bool is_event(const struct tep_event *e, const char *system,
		     const char *name)
{
	return !strcmp(e->system, system) && !strcmp(e->name, name);
}

static void find_told(struct told *t, const struct stock *k,
		      struct tep_event *e)
{
	static const char *const tcp[] = { "family", "sport", "dport",
					   "saddr",  "daddr", NULL };
	static const char *const installed[] = { "fd", NULL };
	static const char *const newtask[] = { "pid", "clone_flags", NULL };

	if (!strcmp(e->system, "syscalls") &&
	    !strncmp(e->name, "sys_enter_", 10)) {
		t->kind = find_kind(e->name + 10);
		t->does = t->kind ? ENTERS : NOTHING;
		find_args(t, k, e);
	} else if (!strcmp(e->system, "syscalls") &&
		   !strncmp(e->name, "sys_exit_", 9)) {
		t->kind = find_kind(e->name + 9);
		t->does = t->kind && number_find(&t->n[0], k->r, e, "ret") ?
				  EXITS :
				  NOTHING;
	} else if (is_event(e, "ioreq", "path")) {
		t->does = PATH;
		find_path(t, e, k);
	} else if (is_event(e, "ioreq", "installed")) {
		t->does = INSTALLED;
		find_numbers(t, k, e, installed);
	} else if (is_event(e, "ioreq", "tcp_send") ||
		   is_event(e, "ioreq", "tcp_receive")) {
		t->does = TCP;
		find_numbers(t, k, e, tcp);
	} else if (is_event(e, "task", "task_newtask")) {
		t->does = NEWTASK;
		find_numbers(t, k, e, newtask);
	} else if (is_event(e, "sched", "sched_process_exit")) {
		t->does = ENDS;
	}
}

/**
 * stock_has - whether a file may have system calls of a kernel without iosys
 * @r: its records
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
		    !strncmp(e->name, "sys_exit_", 9) && find_kind(e->name + 9))
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
		struct told t = { 0 };

		if (!e || e->id < 0 || e->id > 65535 || k->told[e->id])
			continue;
		/* Each event has these, at the same place */
		if (!k->common_type.size &&
		    (!number_find(&k->common_type, k->r, e, "common_type") ||
		     !number_find(&k->common_pid, k->r, e, "common_pid")))
			continue;
		find_told(&t, k, e);
		if (t.does == NOTHING)
			continue;
		k->told[e->id] = allocate(sizeof(t));
		*k->told[e->id] = t;
		found |= t.does == EXITS;
	}
	return found;
}

/* ------------------------------------------------------------------------- */
/* Descriptors */

static void forget(struct thing *t)
{
	free(t->name);
	*t = (struct thing){ 0 };
}

static void set(struct thing *t, u8 type, const char *name)
{
	char *copy = name ? strdup(name) : NULL;

	if (name && !copy)
		abort();
	free(t->name);
	*t = (struct thing){ .type = type, .name = copy };
}

/* Return: what it stands for, or NULL if there can be no such descriptor */
static struct thing *find_thing(struct files *f, u64 fd, bool make)
{
	u32 room = f->room;

	if (fd >= MAX_FD || (fd >= room && !make))
		return NULL;
	while (fd >= room)
		room = room ? 2 * room : 16;
	if (room != f->room) {
		f->thing = reallocarray(f->thing, room, sizeof(*f->thing));
		if (!f->thing)
			abort();
		memset(f->thing + f->room, 0,
		       (room - f->room) * sizeof(*f->thing));
		f->room = room;
	}
	return &f->thing[fd];
}

static void clear_files(struct files *f, u64 from, u64 to)
{
	for (; from < f->room && from <= to; from++)
		forget(&f->thing[from]);
}

static void put_files(struct files *f)
{
	if (--f->users)
		return;
	clear_files(f, 0, UINT64_MAX);
	free(f->thing);
	free(f);
}

static struct files *copy_files(const struct files *from)
{
	struct files *f = allocate(sizeof(*f));
	u32 i;

	f->users = 1;
	for (i = 0; from && i < from->room; i++) {
		if (from->thing[i].name)
			set(find_thing(f, i, true), from->thing[i].type,
			    from->thing[i].name);
	}
	return f;
}

/* ------------------------------------------------------------------------- */
/* Threads */

static struct task *find_task(struct stock *k, s32 pid)
{
	u32 at = mix(pid, 0);
	struct task *t;

	for (t = k->bucket[at]; t; t = t->next) {
		if (t->pid == pid)
			return t;
	}
	t = allocate(sizeof(*t));
	t->pid = pid;
	t->tgid = pid;
	t->files = copy_files(NULL);
	t->next = k->bucket[at];
	k->bucket[at] = t;
	return t;
}

static void drop_call(struct task *t)
{
	t->kind = NULL;
	forget(&t->about);
}

static void new_task(struct stock *k, struct task *parent, s32 pid, u64 flags)
{
	struct task *t = find_task(k, pid);

	/* Numbers are used again */
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

	for (i = 0; i < BUCKETS; i++) {
		for (t = k->bucket[i]; t; t = t->next) {
			clear_files(t->files, 0, UINT64_MAX);
			drop_call(t);
		}
	}
}

/* ------------------------------------------------------------------------- */
/* Calls */

/* What the call is about is what its descriptor stands for when it begins */
static void begin_call(const struct told *told, struct task *t,
		       const struct record *rec)
{
	const struct kind *kind = told->kind;
	const struct thing *thing;
	int i;

	drop_call(t);
	t->kind = kind;
	t->start = rec->ts;
	for (i = 0; i < 3; i++)
		t->arg[i] = get(&told->n[i], rec);
	if (kind->fd < 0)
		return;
	t->arg[kind->fd] = (u32)t->arg[kind->fd];
	thing = find_thing(t->files, t->arg[kind->fd], false);
	if (thing && thing->name)
		set(&t->about, thing->type, thing->name);
}

static void installed(struct task *t, u64 fd)
{
	struct thing *thing = find_thing(t->files, fd, true);
	u32 what = t->kind ? t->kind->what : 0;
	char name[64];

	if (!thing)
		return;
	if (what & OPENS && t->about.name)
		set(thing, TYPE_FILE, t->about.name);
	else if (what & DUPS && t->about.name)
		set(thing, t->about.type, t->about.name);
	else if (what & (SOCKET | PIPE)) {
		snprintf(name, sizeof(name), "a %s of %s",
			 what & PIPE ? "pipe" : "socket", t->kind->call);
		set(thing, what & PIPE ? TYPE_FIFO : TYPE_SOCKET, name);
	} else {
		forget(thing);
	}
}

/* IPv4 has its addresses at the same place in every kernel, IPv6 does not */
static void tcp(struct task *t, const struct told *told,
		const struct record *rec)
{
	u64 sport = get(&told->n[1], rec), dport = get(&told->n[2], rec);
	u32 address[2] = { get(&told->n[3], rec), get(&told->n[4], rec) };
	unsigned char own[4], peer[4];
	char name[128];

	if (!t->kind)
		return;
	memcpy(own, &address[0], 4);
	memcpy(peer, &address[1], 4);
	if (told->n[3].swap) {
		address[0] = __builtin_bswap32(address[0]);
		address[1] = __builtin_bswap32(address[1]);
		memcpy(own, &address[0], 4);
		memcpy(peer, &address[1], 4);
	}
	dport = __builtin_bswap16(dport);
	if (get(&told->n[0], rec) == 2)
		snprintf(name, sizeof(name),
			 "%u.%u.%u.%u:%llu->%u.%u.%u.%u:%llu", own[0], own[1],
			 own[2], own[3], sport, peer[0], peer[1], peer[2],
			 peer[3], dport);
	else
		snprintf(name, sizeof(name), "[?]:%llu->[?]:%llu", sport,
			 dport);
	/* The first one is what bytes come from; copies to sockets have a file before it */
	if (!t->about.name || t->about.type == TYPE_SOCKET)
		set(&t->about, TYPE_SOCKET, name);
}

static void get_path(struct task *t, const struct told *told,
		     const struct record *rec)
{
	u64 at = get(&told->n[0], rec);
	u32 offset = at & 0xffff, len = at >> 16 & 0xffff;
	char name[MAX_NAME];

	/* A script's interpreter, a core dump: not what the caller opens */
	if (!t->kind || !(t->kind->what & OPENS) || offset > rec->size ||
	    len > rec->size - offset)
		return;
	if (len > sizeof(name) - 1)
		len = sizeof(name) - 1;
	memcpy(name, rec->data + offset, len);
	name[len] = '\0';
	clean_text(name);
	set(&t->about, TYPE_FILE, name);
}

/* Descriptors after a call that ended well */
static void change_files(struct task *t, s64 result)
{
	u32 what = t->kind->what;
	struct thing *thing;

	if (what & CLOSES)
		clear_files(t->files, t->arg[0], t->arg[0]);
	if (result < 0)
		return;
	if (what & RANGE && !t->arg[2])
		clear_files(t->files, (u32)t->arg[0], (u32)t->arg[1]);
	if (!(what & DUPS) ||
	    (!strcmp(t->kind->call, "fcntl") && t->arg[1] != DUPFD &&
	     t->arg[1] != DUPFD_CLOEXEC))
		return;
	thing = find_thing(t->files, result, true);
	if (thing)
		set(thing, t->about.type, t->about.name);
}

/* The process's name is its first thread's, if that is known */
static void who_is(const struct stock *k, const struct task *t,
		   struct actor *who)
{
	struct tep_handle *tep = records_tep(k->r);

	*who = (struct actor){ .host = k->host,
			       .pid = t->pid,
			       .tgid = t->tgid };
	snprintf(who->comm, sizeof(who->comm), "%s",
		 tep_data_comm_from_pid(
			 tep, tep_is_pid_registered(tep, t->tgid) ? t->tgid :
								    t->pid));
	clean_text(who->comm);
}

static const char *op_of(const struct kind *kind)
{
	return kind->op ? kind->op : kind->call;
}

/* Only a call without a descriptor and without a name is about nothing */
static struct object about(const struct task *t)
{
	static char unknown[] = "unknown";
	struct object o = { .type = t->about.type, .name = t->about.name };

	if (o.name)
		return o;
	o.name = unknown + sizeof(unknown) - 1;
	if (t->kind->fd >= 0 || t->kind->what & OPENS) {
		o.type = TYPE_UNKNOWN;
		o.name = unknown;
	}
	return o;
}

static void end_call(struct stock *k, struct task *t, s64 result, u64 ts)
{
	struct logged call = { .start = t->start, .result = result };
	struct object object;
	struct actor who;

	if (t->kind->what & IO) {
		call.duration = ts > t->start ? ts - t->start : 0;
		if (t->kind->what & MOVES && result > 0)
			call.bytes = result;
		object = about(t);
		who_is(k, t, &who);
		sums_call(k->s, &who, op_of(t->kind), &object, &call);
	}
	change_files(t, result);
	drop_call(t);
}

static void take_record(struct stock *k, const struct record *rec)
{
	const struct told *told = k->told[(u16)get(&k->common_type, rec)];
	struct task *t;

	k->last = rec->ts;
	if (rec->lost) {
		k->s->host[k->host].gaps++;
		forget_descriptors(k);
	}
	if (!told)
		return;
	t = find_task(k, get(&k->common_pid, rec));
	switch (told->does) {
	case ENTERS:
		begin_call(told, t, rec);
		break;
	case EXITS:
		if (t->kind == told->kind)
			end_call(k, t, get(&told->n[0], rec), rec->ts);
		break;
	case PATH:
		get_path(t, told, rec);
		break;
	case INSTALLED:
		installed(t, (u32)get(&told->n[0], rec));
		break;
	case TCP:
		tcp(t, told, rec);
		break;
	case NEWTASK:
		new_task(k, t, get(&told->n[0], rec), get(&told->n[1], rec));
		break;
	case ENDS:
		drop_call(t);
		break;
	case NOTHING:
		break;
	}
}

static void tell_pending(struct stock *k, const struct task *t)
{
	struct object object;
	struct actor who;

	if (!t->kind || !(t->kind->what & IO) || k->last < t->start ||
	    k->last - t->start < LEAST_PENDING)
		return;
	who_is(k, t, &who);
	object = about(t);
	sums_pending(k->s, &who, op_of(t->kind), object.name, t->start,
		     k->last - t->start);
}

static void stock_free(struct stock *k)
{
	struct task *t;
	u32 i;

	for (i = 0; i < BUCKETS; i++) {
		while ((t = k->bucket[i])) {
			k->bucket[i] = t->next;
			forget(&t->about);
			put_files(t->files);
			free(t);
		}
	}
	for (i = 0; i < 65536; i++)
		free(k->told[i]);
	free(k);
}

/**
 * stock_read - read a file of a kernel without iosys
 * @s: what to add it to
 * @host: which file
 * @r: its records, none of which has been read
 *
 * Return: whether it has events of system calls at all.
 */
bool stock_read(struct sums *s, u32 host, struct records *r)
{
	struct stock *k = allocate(sizeof(*k));
	struct task *t;
	struct record rec;
	bool found;
	u32 i;

	k->s = s;
	k->host = host;
	k->r = r;
	found = find_events(k);
	while (found && records_next(r, &rec))
		take_record(k, &rec);
	for (i = 0; i < BUCKETS; i++) {
		for (t = k->bucket[i]; t; t = t->next)
			tell_pending(k, t);
	}
	s->host[host].stock = found;
	stock_free(k);
	return found;
}
