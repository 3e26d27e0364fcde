// SPDX-License-Identifier: GPL-2.0
/*
 * The trace.dat of a session. Another one is begun when it is full, and when the
 * metadata in its head is no longer that of the session.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "receive.h"

/*
 * Files of a session that may be begun at any time. Later ones are not begun more often
 * than this, if not because the last one is full; and one that could not be written is not
 * tried again before this time.
 */
#define FILES_AT_ONCE 16
#define NEW_FILE_MS 1000

static void release_file(struct collector *c, struct session *s, size_t size)
{
	session_release(c, s, size);
	s->file_memory -= size;
}

static bool charge_file(struct collector *c, struct session *s, size_t size)
{
	if (!session_charge(c, s, size)) {
		errno = ENOMEM;
		return false;
	}
	s->file_memory += size;
	return true;
}

static bool open_file(struct collector *c, struct session *s)
{
	struct pieces p;
	struct live_head head;
	char *base;
	int error;

	/* The rest is much work */
	if (!charge_file(c, s, s->info.cpus * LIVE_CPU_SIZE))
		return false;
	if (!pieces_parse(&s->meta, &p)) {
		/* It was valid when it arrived */
		pieces_free(&p);
		release_file(c, s, s->file_memory);
		errno = ENOMEM;
		return false;
	}
	head = (struct live_head){
		.big_endian = s->info.big_endian,
		.long_size = s->info.long_size,
		.page_size = s->info.page_size,
		.cpus = s->info.cpus,
		.header_page = p.text[TRACECAST_HEADER_PAGE],
		.header_event = p.text[TRACECAST_HEADER_EVENT],
		.clock = p.text[TRACECAST_CLOCK],
		.format = p.formats,
		.nr_formats = p.nr_formats,
	};
	/* An earlier collector may have written files of this session */
	base = session_path(c, s);
	do {
		free(s->path);
		s->path = xasprintf("%s.%u.dat", base, s->files++);
		s->file = live_open(s->path, &head, c->config.rotate);
	} while (!s->file && errno == EEXIST);
	error = errno;
	free(base);
	pieces_free(&p);
	errno = error;
	if (!s->file) {
		s->files--;
		release_file(c, s, s->file_memory);
		return false;
	}
	s->file_generation = s->meta.generation;
	s->file_at = c->now;
	collector_note(c, "%s: writing %s", s->host, s->path);
	return true;
}

/**
 * session_sync_file - write all delivered records to the file
 * @s: session with an open file
 *
 * Return: false, with errno set, if that is impossible now.
 */
bool session_sync_file(struct session *s)
{
	if (!live_sync(s->file))
		return false;
	s->unsaved = 0;
	return true;
}

/**
 * session_close_file - write all delivered records, and close the file
 * @c: collector
 * @s: session with an open file; without one afterwards
 *
 * Return: false if a record could not be written; the reason has been reported.
 */
bool session_close_file(struct collector *c, struct session *s)
{
	bool ok = session_sync_file(s);
	int error = errno;

	if (!live_close(s->file) && ok) {
		ok = false;
		error = errno;
	}
	s->file = NULL;
	release_file(c, s, s->file_memory);
	if (!ok)
		collector_note(c, "%s: %s: %s", s->host, s->path,
			       strerror(error));
	return ok;
}

/**
 * session_block - deliver and acknowledge nothing until the file can be written
 * @c: collector
 * @s: session whose file cannot be written; errno says why
 */
void session_block(struct collector *c, struct session *s)
{
	if (!s->blocked)
		collector_note(c, "%s: %s: %s; the sender has to wait", s->host,
			       s->path ? s->path : c->config.output,
			       strerror(errno));
	s->blocked = true;
	s->blocked_at = c->now;
}

/**
 * session_file_waits - is it too early to begin the file that the metadata needs?
 * @c: collector
 * @s: session
 *
 * Return: true also if it could not be written a short time ago.
 */
bool session_file_waits(const struct collector *c, const struct session *s)
{
	if (s->blocked && c->now - s->blocked_at < NEW_FILE_MS)
		return true;
	return s->file && s->file_generation != s->meta.generation &&
	       s->files >= FILES_AT_ONCE && c->now - s->file_at < NEW_FILE_MS;
}

static bool prepare_cpu(struct collector *c, struct session *s,
			unsigned int cpu, size_t bytes)
{
	size_t size = live_needs(s->file, cpu, bytes);

	if (!charge_file(c, s, size))
		return false;
	if (live_prepare(s->file, cpu, bytes))
		return true;
	release_file(c, s, live_needs(s->file, cpu, bytes));
	return false;
}

/**
 * session_file_ready - make sure that there is a file for the next datagram
 * @c: collector
 * @s: session with metadata
 * @cpu: the datagram's CPU
 * @bytes: sum of the live_size() of its records
 *
 * Return: false if there is none now: session_file_waits(), or the disk is full, or memory
 * is exhausted; in the last two cases @s->blocked is set.
 */
bool session_file_ready(struct collector *c, struct session *s,
			unsigned int cpu, size_t bytes)
{
	bool ok = memory_reserve(RESERVE);

	if (session_file_waits(c, s))
		return false;
	if (ok && s->file && live_due(s->file))
		ok = session_sync_file(s);
	if (ok && s->file &&
	    (s->file_generation != s->meta.generation || live_full(s->file))) {
		ok = session_sync_file(s);
		if (ok)
			session_close_file(c, s);
	}
	if (ok && !s->file)
		ok = open_file(c, s);
	if (ok)
		ok = prepare_cpu(c, s, cpu, bytes);
	if (!ok)
		session_block(c, s);
	else if (s->blocked)
		collector_note(c, "%s: the file can be written again", s->host);
	s->blocked = !ok;
	s->streams[cpu].wanted = ok ? 0 : bytes;
	return ok;
}
