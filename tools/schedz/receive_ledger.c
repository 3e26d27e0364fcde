// SPDX-License-Identifier: GPL-2.0
/* The ledger of a session: in its file, for callers, and as text. */
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "receive.h"
#include "text.h"

/* How often ledgers are written */
#define LEDGER_MS 1000

static void add_stream(const struct cpu_stream *st, struct collector_ledger *l)
{
	uint64_t end = st->end > st->before ? st->end : st->before;
	uint64_t end_lost = st->end > st->before ? st->end_lost : st->lost;

	if (!st->counted)
		return;
	l->generated += end;
	l->earlier += st->first - st->first_lost;
	l->delivered += st->delivered;
	l->wire_lost += st->wire_lost;
	l->ring_lost += end_lost;
	/* From the last record delivered to the last header, without lost records */
	l->awaited += (end - st->before) - (end_lost - st->lost);
	if (st->generated > end)
		l->behind += st->generated - end;
}

/* What CPUs did of which nothing arrives is not in the counts before the end */
static unsigned int count_silent(const struct collector *c,
				 const struct session *s)
{
	unsigned int i, silent = 0;

	for (i = 0; !s->ended && i < s->info.senders; i++)
		silent += !s->peer[i].len ||
			  c->now - s->peer[i].heard >= QUIET_MS;
	return silent;
}

static void get_ledger(const struct collector *c, const struct session *s,
		       struct collector_ledger *l)
{
	uint64_t lost;
	unsigned int cpu;

	memset(l, 0, sizeof(*l));
	for (cpu = 0; s->streams && cpu < s->info.cpus; cpu++) {
		add_stream(&s->streams[cpu], l);
		/* A CPU's blocks can be in another CPU's stream */
		if (s->last == TRACECAST_PANIC_SOME ||
		    (s->last == TRACECAST_PANIC && s->streams[cpu].known &&
		     !s->streams[cpu].reported))
			l->unknown++;
	}
	l->delivered -= s->unsaved;
	l->awaited += s->unsaved;
	lost = l->earlier < s->earlier_lost ? l->earlier : s->earlier_lost;
	l->earlier -= lost;
	l->wire_lost += lost;
	l->datagrams = s->datagrams;
	l->again = s->again;
	l->damaged = s->damaged;
	l->dropped = s->dropped;
	l->senders = s->info.senders;
	l->silent = count_silent(c, s);
	l->over = s->ended ? s->last : TRACECAST_GOES_ON;
}

static const char *state_name(const struct collector_ledger *l)
{
	switch (l->over) {
	case TRACECAST_GOES_ON:
		return "on";
	case TRACECAST_OVER:
		return "over";
	default:
		return "panic";
	}
}

static void add_last_boot(struct json_object *o, const struct session *s)
{
	struct json_object *last = json_object_new_object();
	char id[17];

	snprintf(id, sizeof(id), "%016" PRIx64, (uint64_t)s->last_boot.session);
	json_string(last, "boot_id", s->boot);
	json_string(last, "session", id);
	json_signed(last, "text_delta", s->last_boot.text_delta);
	json_signed(last, "data_delta", s->last_boot.data_delta);
	json_number(last, "damaged_cpus", s->last_boot.damaged);
	json_object_object_add(o, "last_boot", last);
}

static struct json_object *ledger_object(const struct collector *c,
					 const struct session *s)
{
	struct json_object *o = json_object_new_object();
	struct collector_ledger l;
	char id[17];

	get_ledger(c, s, &l);
	snprintf(id, sizeof(id), "%016" PRIx64, s->id);
	json_string(o, "host", s->host);
	json_string(o, "session", id);
	json_string(o, "state", state_name(&l));
	if (s->is_last_boot)
		add_last_boot(o, s);
	json_number(o, "generated", l.generated);
	json_number(o, "earlier", l.earlier);
	json_number(o, "delivered", l.delivered);
	json_number(o, "lost_in_ring", l.ring_lost);
	json_number(o, "lost_on_wire", l.wire_lost);
	json_number(o, "awaited", l.awaited);
	json_number(o, "behind", l.behind);
	json_number(o, "unknown_cpus", l.unknown);
	json_number(o, "senders", l.senders);
	json_number(o, "silent_senders", l.silent);
	json_number(o, "silent_ms", s->finished ? 0 : c->now - s->heard);
	json_number(o, "datagrams", l.datagrams);
	json_number(o, "again", l.again);
	json_number(o, "damaged", l.damaged);
	json_number(o, "dropped", l.dropped);
	return o;
}

/* In place: when the disk is full, there is room for nothing else */
static bool overwrite_file(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && pwrite(fd, text, len, 0) == (ssize_t)len &&
		  !ftruncate(fd, len);

	return !(fd >= 0 && close(fd)) && ok;
}

/**
 * session_write_ledger - write the ledger's file
 * @c: collector
 * @s: session that has begun a file
 *
 * A reader sees a complete ledger at any time, unless the disk is full.
 */
void session_write_ledger(struct collector *c, struct session *s)
{
	struct json_object *o = ledger_object(c, s);
	char *path, *text;
	size_t len;
	bool ok;
	FILE *out;

	s->ledger_at = c->now + LEDGER_MS;
	text = xasprintf("%s\n", json_object_to_json_string_ext(
					 o, JSON_C_TO_STRING_PRETTY));
	len = strlen(text);
	path = xasprintf("%s.new", s->ledger);
	out = fopen(path, "we");
	ok = out && fwrite(text, len, 1, out) == 1;
	if (out && fclose(out))
		ok = false;
	if (!ok || rename(path, s->ledger)) {
		unlink(path);
		overwrite_file(s->ledger, text, len);
	}
	free(path);
	free(text);
	json_object_put(o);
}

/**
 * session_path - begin of the paths of a session's files
 * @c: collector
 * @s: session with metadata
 *
 * Return: the path, to be freed.
 */
char *session_path(const struct collector *c, const struct session *s)
{
	return xasprintf("%s/%s-%016" PRIx64 "%s", c->config.output, s->host,
			 s->id, s->is_last_boot ? "-last-boot" : "");
}

/**
 * session_read_ledger - read the ledger that an earlier collector may have written
 * @c: collector
 * @s: session whose host is known
 */
void session_read_ledger(struct collector *c, struct session *s)
{
	struct json_object *o, *id, *lost;
	char name[17], *base = session_path(c, s);

	s->ledger = xasprintf("%s.ledger", base);
	free(base);
	snprintf(name, sizeof(name), "%016" PRIx64, s->id);
	o = json_object_from_file(s->ledger);
	if (json_object_object_get_ex(o, "session", &id) &&
	    json_object_is_type(id, json_type_string) &&
	    !strcmp(json_object_get_string(id), name) &&
	    json_object_object_get_ex(o, "lost_on_wire", &lost))
		s->earlier_lost = json_object_get_uint64(lost);
	json_object_put(o);
}

/**
 * collector_ledger - get the ledger of a session
 * @c: collector
 * @session: index of the session
 * @ledger: filled in
 *
 * Return: false if there is no such session.
 */
bool collector_ledger(const struct collector *c, unsigned int session,
		      struct collector_ledger *ledger)
{
	if (session >= c->nr_sessions)
		return false;
	get_ledger(c, c->session[session], ledger);
	return true;
}

/* Records that no header has counted */
static void print_unknown(const struct collector *c, const struct session *s,
			  const struct collector_ledger *l, FILE *out)
{
	uint64_t silent = c->now - s->heard;

	if (l->unknown)
		fprintf(out,
			"  unknown: records of %u CPUs that stopped in the panic\n",
			l->unknown);
	else if (l->over == TRACECAST_GOES_ON && silent >= QUIET_MS)
		fprintf(out,
			"  unknown: records since the last datagram, %" PRIu64
			" s ago\n",
			silent / 1000);
	else if (l->silent)
		fprintf(out,
			"  unknown: records of %u of %u senders, of which nothing arrives\n",
			l->silent, l->senders);
}

static void print_count(FILE *out, const char *what, uint64_t n, const char *of)
{
	if (n)
		fprintf(out, "%s: %" PRIu64 " %s\n", what, n, of);
}

/**
 * collector_print - print the ledgers of all sessions
 * @c: collector
 * @out: output
 */
void collector_print(const struct collector *c, FILE *out)
{
	struct collector_ledger l;
	unsigned int i;

	for (i = 0; collector_ledger(c, i, &l); i++) {
		const struct session *s = c->session[i];
		char earlier[64] = "";

		if (l.earlier)
			snprintf(earlier, sizeof(earlier),
				 "before this collector %" PRIu64 " + ",
				 l.earlier);
		fprintf(out, "%s: session %016" PRIx64 ", %s%s%s%s\n",
			*s->host ? s->host : "unknown", s->id, state_name(&l),
			s->is_last_boot ? ", of the last boot" : "",
			s->path ? ", in " : "", s->path ? s->path : "");
		fprintf(out,
			"  generated: %" PRIu64 " = %sdelivered %" PRIu64
			" + lost in the ring %" PRIu64
			" + lost on the wire %" PRIu64 " + in flight %" PRIu64
			"\n",
			l.generated, earlier, l.delivered, l.ring_lost,
			l.wire_lost, l.awaited);
		fprintf(out, "  not sent yet: %" PRIu64 "\n", l.behind);
		fprintf(out,
			"  datagrams: %" PRIu64 ", %" PRIu64
			" duplicates, %" PRIu64 " damaged\n",
			l.datagrams, l.again, l.damaged);
		print_count(out, "  dropped", l.dropped,
			    "datagrams, for lack of memory");
		print_unknown(c, s, &l, out);
		if (s->is_last_boot && s->last_boot.damaged)
			fprintf(out,
				"  unknown: records of %u CPU%s whose memory was damaged at the reboot\n",
				s->last_boot.damaged,
				plural(s->last_boot.damaged));
	}
	fprintf(out, "ignored: %" PRIu64 " foreign datagrams\n", c->ignored);
	print_count(out, "refused", c->unsealed,
		    c->config.key ? "datagrams without a key" :
				    "datagrams of senders with a key");
	print_count(out, "refused", c->forged, "datagrams with another key");
	print_count(out, "refused", c->unanswered,
		    "datagrams of senders without an acknowledgement yet");
	print_count(out, "refused", c->repeated,
		    "datagrams that had arrived before");
	print_count(out, "late", c->late, "datagrams of ended sessions");
	print_count(out, "dropped", c->dropped,
		    "datagrams of new sessions, for lack of memory");
	print_count(out, "forgotten", c->forgotten, "old sessions");
}
