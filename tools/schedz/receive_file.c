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

static bool open_file(struct collector *c, struct session *s)
{
	struct pieces p;
	struct live_head head;
	char *base;
	int error;

	if (!pieces_parse(&s->meta, &p)) {
		/* It was valid when it arrived */
		pieces_free(&p);
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
		return false;
	}
	s->file_generation = s->meta.generation;
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
	unsigned int cpu;

	if (!live_sync(s->file))
		return false;
	for (cpu = 0; cpu < s->info.cpus; cpu++)
		s->streams[cpu].saved = s->streams[cpu].delivered;
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
}

/**
 * session_file_ready - make sure that there is a file for the next datagram
 * @c: collector
 * @s: session with metadata
 *
 * Return: false, and @s->blocked is set, if there is none now: the disk is full, or
 * memory is exhausted.
 */
bool session_file_ready(struct collector *c, struct session *s)
{
	bool ok = memory_reserve(RESERVE);

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
	if (!ok)
		session_block(c, s);
	else if (s->blocked)
		collector_note(c, "%s: the file can be written again", s->host);
	s->blocked = !ok;
	return ok;
}
