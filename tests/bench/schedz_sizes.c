// SPDX-License-Identifier: GPL-2.0
/*
 * schedz_sizes [-f MS] TEXT...
 *
 * Bytes per sched_switch with each way to store it, for each TEXT: the switches of
 * one CPU in order, as trace-cmd report -t -R prints them. With -f MS, blocks are closed
 * after MS ms, as the kernel's flush= does. A line for each:
 *
 *   NAME RATE raw=68.0 schedz=... ... floor=...
 *
 * raw: the ring of ftrace. schedz: blocks of a page, with their records and headers.
 * schedz_udp: such blocks in tracecast's datagrams, as put_parts() of its target.c
 * cuts them, with the headers of these, of UDP, IP and Ethernet.
 * paper: strings that repeat are left out, small numbers are packed, as in the
 * paper that schedz grew from. perfetto: compact_sched, columns of varints. lz4,
 * zstd: raw pages of 4 KiB. words: what the tap writes to memory of its CPU.
 * floor: the entropy of next and state given the task, and of the delta's size,
 * plus the bits of the delta, as if all of their probabilities were known before.
 */
#include <lz4.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "tap.h"
#include "wire.h"

#define MAX_EVENTS 4000000
#define RING_PAGE 4080
#define BLOCK 4032
#define RECORD 28 /* of schedz_block, with its header in the ring */
#define FIELDS 20 /* of it, without that */
#define MTU 1500
#define ETHERNET 14
#define IP_UDP 28 /* IPv4 and UDP headers */
#define ROOM (MTU - IP_UDP - TRACECAST_DATA_HEADER)

static struct schedz_event *event;
static size_t events;

static void set_task(struct schedz_task *t, const char *comm, int pid, int prio)
{
	size_t len = strlen(comm);

	memset(t, 0, sizeof(*t));
	t->pid = pid;
	t->prio = prio;
	memcpy(t->name, comm, len < 16 ? len : 15);
}

static void read_line(const char *line)
{
	const char *at = strstr(line, " sched_switch: ");
	unsigned long long sec, nsec;
	char prev[64], next[64];
	int ppid, pprio, npid, nprio;
	long long state;

	if (!at || events == MAX_EVENTS)
		return;
	while (at > line && at[-1] != ' ')
		at--;
	if (sscanf(at, "%llu.%llu:", &sec, &nsec) != 2)
		return;
	at = strstr(at, "prev_comm=");
	if (!at ||
	    sscanf(at,
		   "prev_comm=%63[^=]=%d prev_prio=%d prev_state=%lli next_comm=%63[^=]=%d next_prio=%d",
		   prev, &ppid, &pprio, &state, next, &npid, &nprio) != 7)
		return;
	/* Up to the name of the next field */
	prev[strlen(prev) - strlen(" prev_pid")] = '\0';
	next[strlen(next) - strlen(" next_pid")] = '\0';
	memset(&event[events], 0, sizeof(*event));
	event[events].time = sec * 1000000000 + nsec;
	event[events].kind = SCHEDZ_SWITCH;
	event[events].flags = 1;
	event[events].preempt_count = 2;
	event[events].common_pid = ppid;
	event[events].state = state;
	set_task(&event[events].task, prev, ppid, pprio);
	set_task(&event[events].other, next, npid, nprio);
	events++;
}

static bool read_events(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[1024];

	if (!f)
		return false;
	events = 0;
	while (fgets(line, sizeof(line), f))
		read_line(line);
	fclose(f);
	return events > 1000;
}

/* ---- */

static struct schedz_tap tap;
static struct schedz_encoder encoder;
static u32 queue[2048];
static uint8_t block[4096];
static double words;

/* Bytes in the ring and on the wire for a number of events */
struct sizes {
	double events, ring, wire;
};

static void count_block(struct sizes *s)
{
	uint32_t len;

	s->events += encoder.events;
	len = schedz_finish(&encoder) + FIELDS;
	s->ring += len - FIELDS + RECORD;
	s->wire += len + (len + ROOM - 1) / ROOM *
				 (ETHERNET + IP_UDP + TRACECAST_DATA_HEADER);
}

/*
 * Sizes of full blocks and their contents, or of blocks that are closed after @flush ns;
 * udp: bytes per switch on the wire
 */
static double schedz(uint64_t flush, double *udp)
{
	struct sizes s = { 0 };
	uint64_t begin = events ? event[0].time : 0;
	size_t i;

	words = 0;
	schedz_tap_init(&tap, queue, 2048);
	schedz_encoder_init(&encoder, block, BLOCK, 0);
	for (i = 0; i < events; i++) {
		if (flush && event[i].time - begin >= flush) {
			begin = event[i].time;
			if (encoder.events)
				count_block(&s);
		}
		while (!schedz_tap_event(&tap, &event[i]))
			abort();
		while (schedz_encode(&encoder, &tap, UINT32_MAX))
			count_block(&s);
	}
	words = 4.0 * tap.head / events;
	*udp = s.events ? s.wire / s.events : NAN;
	return s.events ? s.ring / s.events : NAN;
}

static unsigned int varint(uint64_t v)
{
	unsigned int n = 1;

	while (v >>= 7)
		n++;
	return n;
}

/* Time, state, pid, priority and the number of the name */
static double perfetto(void)
{
	static uint64_t names[65536][2];
	size_t i, n, known = 0, bytes = 0;

	for (i = 1; i < events; i++) {
		const struct schedz_event *e = &event[i];

		for (n = 0; n < known; n++) {
			if (names[n][0] == e->other.name[0] &&
			    names[n][1] == e->other.name[1])
				break;
		}
		if (n == known && known < 65536) {
			memcpy(names[known++], e->other.name, 16);
			bytes += 2 + strlen((const char *)e->other.name);
		}
		bytes += varint(e->time - event[i - 1].time) +
			 varint(e->state) + varint(e->other.pid) +
			 varint(e->other.prio) + varint(n);
	}
	return (double)bytes / events;
}

/*
 * Of a line "comm-pid cpu time: pid:prio:state sign cpu pid:prio:state": strings
 * have a length, 0 if they are as in the line before; cpu, priorities, state and
 * sign are packed into bits; time and pids stay as they are.
 */
static double paper(void)
{
	size_t i, bits = 0;
	char desc[64], last[64] = "";

	for (i = 0; i < events; i++) {
		const struct schedz_event *e = &event[i];

		snprintf(desc, sizeof(desc), "%s-%d",
			 (const char *)e->task.name, e->task.pid);
		bits += 5 + (strcmp(desc, last) ? 8 * strlen(desc) : 0);
		bits += 64 + 2 * 16 + 2 * 8 + 2 * 3 + 2 * 4 + 2;
		strcpy(last, desc);
	}
	return bits / 8.0 / events;
}

struct __attribute__((packed)) raw_switch {
	uint32_t header;
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	char prev_comm[16];
	int32_t prev_pid, prev_prio;
	int64_t prev_state;
	char next_comm[16];
	int32_t next_pid, next_prio;
};

static void make_raw(struct raw_switch *r, const struct schedz_event *e,
		     uint64_t delta)
{
	r->header = delta << 5 | 16;
	r->type = 264;
	r->flags = e->flags;
	r->preempt_count = e->preempt_count;
	r->pid = e->common_pid;
	memcpy(r->prev_comm, e->task.name, 16);
	r->prev_pid = e->task.pid;
	r->prev_prio = e->task.prio;
	r->prev_state = e->state;
	memcpy(r->next_comm, e->other.name, 16);
	r->next_pid = e->other.pid;
	r->next_prio = e->other.prio;
}

static double by_page(bool zstd)
{
	struct raw_switch page[RING_PAGE / sizeof(struct raw_switch)];
	const size_t n = sizeof(page) / sizeof(*page);
	static char out[2 * 4096];
	size_t i, j, count = 0, bytes = 0;

	for (i = 0; i + n <= events; i += n) {
		for (j = 0; j < n; j++)
			make_raw(&page[j], &event[i + j],
				 j ? event[i + j].time - event[i + j - 1].time :
				     0);
		bytes += 16 + (zstd ? ZSTD_compress(out, sizeof(out), page,
						    sizeof(page), 3) :
				      (size_t)LZ4_compress_default(
					      (const char *)page, out,
					      sizeof(page), sizeof(out)));
		count += n;
	}
	return (double)bytes / count;
}

/* ---- */

#define PLACES 4096
#define VALUES 512

static double entropy(const unsigned int *count, size_t n)
{
	double total = 0, bits = 0;
	size_t i;

	for (i = 0; i < n; i++)
		total += count[i];
	for (i = 0; i < n; i++) {
		if (count[i])
			bits += count[i] * log2(total / count[i]);
	}
	return bits;
}

static double floor_bytes(void)
{
	unsigned int(*next)[VALUES] = calloc(PLACES, sizeof(*next));
	unsigned int(*state)[16] = calloc(PLACES, sizeof(*state));
	unsigned int delta[2][64] = { 0 };
	double bits = 0;
	size_t i;

	for (i = 1; i < events; i++) {
		const struct schedz_event *e = &event[i];
		uint64_t d = e->time - event[i - 1].time;
		unsigned int size = d ? 64 - __builtin_clzll(d) : 0;

		next[e->task.pid % PLACES][e->other.pid % VALUES]++;
		state[e->task.pid % PLACES]
		     [e->state ? 1 + __builtin_ctzll(e->state) % 15 : 0]++;
		delta[!e->task.pid][size]++;
		bits += size > 1 ? size - 1 : 0;
	}
	for (i = 0; i < PLACES; i++)
		bits += entropy(next[i], VALUES) + entropy(state[i], 16);
	bits += entropy(delta[0], 64) + entropy(delta[1], 64);
	free(next);
	free(state);
	return bits / 8 / events;
}

int main(int argc, char **argv)
{
	const char *name;
	uint64_t flush = 0;
	double ring, udp;
	int i = 1;

	if (argc > 2 && !strcmp(argv[1], "-f")) {
		flush = strtoull(argv[2], NULL, 10) * 1000000;
		i = 3;
	}
	event = calloc(MAX_EVENTS, sizeof(*event));
	for (; i < argc; i++) {
		if (!event || !read_events(argv[i])) {
			fprintf(stderr, "schedz_sizes: %s: no switches\n",
				argv[i]);
			return 1;
		}
		name = strrchr(argv[i], '/');
		name = name ? name + 1 : argv[i];
		ring = schedz(flush, &udp);
		printf("%.*s %.0f raw=68.0 schedz=%.3f schedz_udp=%.3f words=%.2f",
		       (int)strcspn(name, "."), name,
		       events * 1e9 / (event[events - 1].time - event[0].time),
		       ring, udp, words);
		printf(" paper=%.2f perfetto=%.2f lz4=%.2f zstd=%.2f floor=%.3f\n",
		       paper(), perfetto(), by_page(false), by_page(true),
		       floor_bytes());
	}
	return 0;
}
