// SPDX-License-Identifier: GPL-2.0
/*
 * iotruth:iotruth_call, for each system call that moves bytes or opens a file: the first
 * 256 of its bytes, the last part of the file's name or the path that was opened, and the
 * inode number of the descriptor, which of a socket is its own.  What is in them says for
 * which requests the call was made; tests of ioreq compare with that.  It knows nothing
 * of iosys: it stands at the end of all system calls and reads their arguments.
 *
 * Bytes that are not in memory at that time are missing.
 */
#include <linux/compat.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/socket.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include <trace/syscall.h>

#define DATA_MAX 256
#define NAME_SIZE 128
#define PARTS_MAX 8

/**
 * struct iotruth - a call
 * @end:	when it ended, ns of CLOCK_MONOTONIC
 * @result:	what it returned
 * @ino:	inode number of its descriptor, or 0
 * @nr:		its number
 * @fd:		its descriptor, or -1
 * @name:	of the file, or the path; may be ""
 * @len:	bytes in @data
 * @data:	what was read, written, received or sent
 */
struct iotruth {
	u64 end;
	s64 result;
	u64 ino;
	s32 nr;
	s32 fd;
	char name[NAME_SIZE];
	u32 len;
	u8 data[DATA_MAX];
};

#define CREATE_TRACE_POINTS
#include "iotruth_trace.h"

/* Its probe runs with preemption off, and no interrupt makes system calls */
static DEFINE_PER_CPU(struct iotruth, truths);

static void add_data(struct iotruth *t, unsigned long from, u64 len)
{
	len = min_t(u64, len, DATA_MAX - t->len);
	if (!copy_from_user_nofault(t->data + t->len, (void __user *)from, len))
		t->len += len;
}

/* As many of the parts' bytes as were moved */
static void add_parts(struct iotruth *t, unsigned long parts, u64 nr)
{
	struct iovec part[PARTS_MAX];
	u64 left = t->result, i;

	nr = min_t(u64, nr, PARTS_MAX);
	if (copy_from_user_nofault(part, (void __user *)parts,
				   nr * sizeof(*part)))
		return;
	for (i = 0; i < nr && left; i++) {
		u64 len = min_t(u64, part[i].iov_len, left);

		add_data(t, (unsigned long)part[i].iov_base, len);
		left -= len;
	}
}

static void add_message(struct iotruth *t, unsigned long message)
{
	struct user_msghdr m;

	if (!copy_from_user_nofault(&m, (void __user *)message, sizeof(m)))
		add_parts(t, (unsigned long)m.msg_iov, m.msg_iovlen);
}

/* Byte by byte: memory may end after it */
static void add_path(struct iotruth *t, unsigned long path)
{
	char *to = t->name;

	do {
		if (copy_from_user_nofault(to, (void __user *)path++, 1))
			break;
	} while (*to && ++to < t->name + NAME_SIZE - 1);
	*to = '\0';
}

static void add_file(struct iotruth *t, int fd)
{
	struct file *file = fget_raw(fd);

	t->fd = fd;
	if (!file)
		return;
	t->ino = file_inode(file)->i_ino;
	snprintf(t->name, NAME_SIZE, "%pD", file);
	fput(file);
}

/* Return: whether the call is one of those to be recorded */
static bool describe(struct iotruth *t, const unsigned long *args)
{
	switch (t->nr) {
	case __NR_open:
	case __NR_creat:
		add_path(t, args[0]);
		return true;
	case __NR_openat:
	case __NR_openat2:
		add_path(t, args[1]);
		return true;
	case __NR_read:
	case __NR_write:
	case __NR_pread64:
	case __NR_pwrite64:
	case __NR_sendto:
	case __NR_recvfrom:
		add_file(t, args[0]);
		if (t->result > 0)
			add_data(t, args[1], t->result);
		return true;
	case __NR_readv:
	case __NR_writev:
	case __NR_preadv:
	case __NR_pwritev:
	case __NR_preadv2:
	case __NR_pwritev2:
		add_file(t, args[0]);
		if (t->result > 0)
			add_parts(t, args[1], args[2]);
		return true;
	case __NR_sendmsg:
	case __NR_recvmsg:
		add_file(t, args[0]);
		if (t->result > 0)
			add_message(t, args[1]);
		return true;
	case __NR_accept:
	case __NR_accept4:
		if (t->result >= 0)
			add_file(t, t->result);
		return true;
	case __NR_sendfile:
	case __NR_splice:
		add_file(t, args[t->nr == __NR_splice ? 2 : 0]);
		return true;
	case __NR_connect:
	case __NR_fsync:
	case __NR_fdatasync:
	case __NR_sync_file_range:
	case __NR_fallocate:
	case __NR_ftruncate:
		add_file(t, args[0]);
		return true;
	default:
		return false;
	}
}

static void call_ended(void *unused, struct pt_regs *regs, long result)
{
	struct iotruth *t = this_cpu_ptr(&truths);
	unsigned long args[6];

	if (!trace_iotruth_call_enabled() || in_compat_syscall())
		return;
	syscall_get_arguments(current, regs, args);
	t->end = ktime_get_mono_fast_ns();
	t->result = result;
	t->nr = syscall_get_nr(current, regs);
	t->ino = 0;
	t->fd = -1;
	t->len = 0;
	t->name[0] = '\0';
	if (describe(t, args))
		trace_iotruth_call(t);
}

/* Modules may not name the tracepoint itself: it is not exported */
static struct tracepoint *ended;

static void find(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sys_exit"))
		ended = tp;
}

static int __init iotruth_init(void)
{
	for_each_kernel_tracepoint(find, NULL);
	if (!ended)
		return -ENOENT;
	return tracepoint_probe_register(ended, call_ended, NULL);
}

static void __exit iotruth_exit(void)
{
	tracepoint_probe_unregister(ended, call_ended, NULL);
	tracepoint_synchronize_unregister();
}

module_init(iotruth_init);
module_exit(iotruth_exit);

MODULE_DESCRIPTION("What I/O system calls move, for tests");
MODULE_LICENSE("GPL");
