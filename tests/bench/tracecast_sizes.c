// SPDX-License-Identifier: GPL-2.0
/*
 * tracecast_sizes TRACE...
 *
 * Bytes per event of each recorded trace: raw, as the ring of ftrace has them, with
 * the header of each record; packed with care and quickly, in full datagrams of
 * tracecast with the headers of Ethernet, IP and UDP; and what lz4 and zstd make of
 * pages of 4 KiB; and how many times smaller the two are. A line for each: NAME EVENTS
 * raw=... tracecast=... quick=... lz4=... zstd=... smaller=... quick_smaller=...
 */
#include <lz4.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace-cmd.h>
#include <event-parse.h>
#include <zstd.h>

#include "wire.h"

#define ROOM (1472 - TRACECAST_DATA_HEADER)
#define AROUND (14 + 28 + TRACECAST_DATA_HEADER)
#define PAGE 4080

/**
 * struct coding - datagrams of one coding
 * @quick: it is QUICK
 * @events: in whole datagrams
 * @raw: bytes of these
 * @packed: bytes of the datagrams
 * @open_events: in the one that is not whole yet
 * @open_raw: bytes of these
 * @packer: of this one
 * @datagram: this one
 */
struct coding {
	bool quick;
	double events, raw, packed, open_events, open_raw;
	struct tracecast_packer packer;
	uint8_t datagram[ROOM];
};

struct sums {
	struct coding care, quick;
	double events, lz4, zstd;
};

static struct {
	char page[PAGE];
	size_t used;
} ring;

/* A page as it is in the ring, without its header */
static void end_page(struct sums *s)
{
	static char out[2 * PAGE];

	if (!ring.used)
		return;
	s->lz4 += 16 +
		  LZ4_compress_default(ring.page, out, ring.used, sizeof(out));
	s->zstd +=
		16 + ZSTD_compress(out, sizeof(out), ring.page, ring.used, 3);
	ring.used = 0;
}

static void put_page(struct sums *s, const void *data, size_t len,
		     uint64_t delta)
{
	uint32_t header = delta << 5 | (len / 4 < 29 ? len / 4 : 0);

	if (ring.used + len + 4 > PAGE)
		end_page(s);
	memcpy(ring.page + ring.used, &header, 4);
	memcpy(ring.page + ring.used + 4, data, len);
	ring.used += len + 4;
}

static void begin(struct coding *c, uint64_t time)
{
	c->open_events = c->open_raw = 0;
	tracecast_pack_begin(&c->packer,
			     c->quick ? TRACECAST_QUICK : TRACECAST_DATA,
			     c->datagram, ROOM, time);
}

static void add_record(struct coding *c, uint64_t time, const void *data,
		       size_t len)
{
	if (!tracecast_pack(&c->packer, time, data, len)) {
		c->events += c->open_events;
		c->raw += c->open_raw;
		c->packed += AROUND + tracecast_pack_end(&c->packer);
		begin(c, time);
		if (!tracecast_pack(&c->packer, time, data, len))
			abort();
	}
	c->open_events++;
	c->open_raw += len + 4;
}

/* Whole datagrams only */
static void add_cpu(struct tracecmd_input *in, int cpu, struct sums *s)
{
	struct tep_record *r;
	uint64_t last = 0;

	begin(&s->care, 0);
	begin(&s->quick, 0);
	while ((r = tracecmd_read_data(in, cpu))) {
		size_t len = (r->size + 3) / 4 * 4;

		put_page(s, r->data, len, r->ts - last);
		add_record(&s->care, r->ts, r->data, len);
		add_record(&s->quick, r->ts, r->data, len);
		last = r->ts;
		s->events++;
		tracecmd_free_record(r);
	}
	end_page(s);
}

int main(int argc, char **argv)
{
	int i, cpu;

	tracecmd_set_loglevel(TEP_LOG_NONE);
	for (i = 1; i < argc; i++) {
		struct tracecmd_input *in =
			tracecmd_open(argv[i], TRACECMD_FL_LOAD_NO_PLUGINS);
		const char *name = strrchr(argv[i], '/');
		struct sums *s = calloc(1, sizeof(*s));
		int cpus;

		if (!s)
			abort();
		s->quick.quick = true;

		if (!in) {
			fprintf(stderr, "tracecast_sizes: %s: cannot be read\n",
				argv[i]);
			return 1;
		}
		cpus = tep_get_cpus(tracecmd_get_tep(in));
		for (cpu = 0; cpu < cpus; cpu++)
			add_cpu(in, cpu, s);
		tracecmd_close(in);
		if (s->events < 1000) {
			fprintf(stderr, "tracecast_sizes: %s: too few events\n",
				argv[i]);
			return 1;
		}
		name = name ? name + 1 : argv[i];
		printf("%.*s %.0f raw=%.1f tracecast=%.2f quick=%.2f lz4=%.2f zstd=%.2f smaller=%.2f quick_smaller=%.2f\n",
		       (int)strcspn(name, "."), name, s->events,
		       s->care.raw / s->care.events,
		       s->care.packed / s->care.events,
		       s->quick.packed / s->quick.events, s->lz4 / s->events,
		       s->zstd / s->events, s->care.raw / s->care.packed,
		       s->quick.raw / s->quick.packed);
		free(s);
	}
	return 0;
}
