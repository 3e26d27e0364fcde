/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A log of I/O system calls, for iosyswork.c. A line per call:
 *
 *	tid op result start end fd id dev type name fd2 id2 name2 bytes stream how
 *
 * with "-" for fields that it lacks. Define _GNU_SOURCE first.
 */
#ifndef _TESTS_GUEST_IOSYSLOG_H
#define _TESTS_GUEST_IOSYSLOG_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "work.h"

#define CALLS 20000

struct object {
	int fd;
	unsigned long long id;
	char dev[32];
	unsigned int type;
	char name[400];
};

struct entry {
	pid_t tid;
	const char *op;
	long result;
	unsigned long long start, end;
	struct object object[2];
	long bytes;
	char stream[64];
	const char *how;
};

static struct entry *entry;
static int entries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void address(char *to, const struct sockaddr_storage *ss)
{
	char text[INET6_ADDRSTRLEN];

	if (ss->ss_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)ss;

		sprintf(to, "%s:%u",
			inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text)),
			ntohs(in->sin_port));
	} else {
		const struct sockaddr_in6 *in6 = (const void *)ss;

		sprintf(to, "[%s]:%u",
			inet_ntop(AF_INET6, &in6->sin6_addr, text,
				  sizeof(text)),
			ntohs(in6->sin6_port));
	}
}

static void socket_name(char *to, int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	*to = '\0';
	CHECK(!getsockname(fd, (struct sockaddr *)&ss, &len));
	if (ss.ss_family == AF_UNIX) {
		const struct sockaddr_un *un = (const void *)&ss;
		size_t i;

		for (i = 0; i + offsetof(struct sockaddr_un, sun_path) < len;
		     i++) {
			if (!un->sun_path[i] && i)
				break;
			*to++ = un->sun_path[i] ? un->sun_path[i] : '@';
		}
		*to = '\0';
		return;
	}
	address(to, &ss);
	len = sizeof(ss);
	if (!getpeername(fd, (struct sockaddr *)&ss, &len)) {
		strcat(to, "->");
		address(to + strlen(to), &ss);
	}
}

/* The object of a descriptor, as any program can see it */
static struct object what(int fd)
{
	struct object object = { .fd = fd };
	struct stat st;
	char link[32];
	ssize_t len;

	strcpy(object.dev, "0:0");
	if (fd < 0 || fstat(fd, &st))
		return object;
	object.type = (st.st_mode & S_IFMT) >> 12;
	if (S_ISSOCK(st.st_mode)) {
		socklen_t size = sizeof(object.id);

		CHECK(!getsockopt(fd, SOL_SOCKET, SO_COOKIE, &object.id,
				  &size));
		socket_name(object.name, fd);
		return object;
	}
	object.id = st.st_ino;
	sprintf(object.dev, "%u:%u", major(st.st_dev), minor(st.st_dev));
	sprintf(link, "/proc/self/fd/%d", fd);
	len = readlink(link, object.name, sizeof(object.name) - 1);
	CHECK(len > 0);
	object.name[len] = '\0';
	return object;
}

static struct entry *note(const char *op, unsigned long long start, long result)
{
	int error = errno;
	unsigned long long end = now();
	struct entry *e;

	pthread_mutex_lock(&lock);
	CHECK(entries < CALLS);
	e = &entry[entries++];
	pthread_mutex_unlock(&lock);
	e->tid = gettid();
	e->op = op;
	e->result = result == -1 ? -error : result;
	e->start = start;
	e->end = end;
	e->bytes = 0;
	e->object[0] = e->object[1] = (struct object){ .fd = -1, .dev = "0:0" };
	strcpy(e->stream, "-");
	e->how = "-";
	return e;
}

static struct entry *stream(struct entry *e, unsigned long long from, long len)
{
	if (len > 0)
		sprintf(e->stream, "%llu-%llu", from, from + len);
	return e;
}

/* CALL(op, fd, call): on one descriptor that stays; its value is the entry */
#define CALL2(name, one, two, call)                                  \
	({                                                           \
		struct object object_[2] = { what(one), what(two) }; \
		unsigned long long start_ = now();                   \
		long result_ = (call);                               \
		struct entry *e_ = note(name, start_, result_);      \
		e_->object[0] = object_[0];                          \
		e_->object[1] = object_[1];                          \
		e_;                                                  \
	})
#define CALL(name, one, call) CALL2(name, one, -1, call)
/* A call whose result, unless it fails, is a number of bytes */
#define MOVE2(name, one, two, call)                             \
	({                                                      \
		struct entry *m_ = CALL2(name, one, two, call); \
		m_->bytes = m_->result > 0 ? m_->result : 0;    \
		m_;                                             \
	})
#define MOVE(name, one, call) MOVE2(name, one, -1, call)

static struct entry *opened(struct entry *e, const char *asked)
{
	if (e->result >= 0) {
		e->object[0] = what(e->result);
	} else {
		strcpy(e->object[0].name, asked);
		e->how = "asked";
	}
	return e;
}

static void print(void)
{
	int i, n;

	for (i = 0; i < entries; i++) {
		const struct entry *e = &entry[i];

		printf("%d\t%s\t%ld\t%llu\t%llu", e->tid, e->op, e->result,
		       e->start, e->end);
		for (n = 0; n < 2; n++) {
			const struct object *o = &e->object[n];

			printf("\t%d\t%llu\t%s\t%u\t%s", o->fd, o->id, o->dev,
			       o->type, o->name);
		}
		printf("\t%ld\t%s\t%s\n", e->bytes, e->stream, e->how);
	}
}

#endif
