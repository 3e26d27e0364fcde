// SPDX-License-Identifier: GPL-2.0
/*
 * nettrace_sizes TRACE...
 *
 * Bytes per event of each recorded trace: raw, as the ring of ftrace has them, with
 * the header of each record; packed, in full datagrams of nettrace with the headers
 * of Ethernet, IP and UDP; and what lz4 and zstd make of pages of 4 KiB. A line for
 * each: NAME EVENTS raw=... nettrace=... lz4=... zstd=...
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

#define ROOM (1472 - NETTRACE_DATA_HEADER)
#define AROUND (14 + 28 + NETTRACE_DATA_HEADER)
#define PAGE 4080

struct sums {
	double events, raw, packed, lz4, zstd;
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

/* Whole datagrams only */
static void add_cpu(struct tracecmd_input *in, int cpu, struct sums *s)
{
	static struct nettrace_packer packer;
	static uint8_t datagram[ROOM];
	struct tep_record *r;
	double events = 0, raw = 0;
	uint64_t last = 0;

	nettrace_pack_begin(&packer, datagram, ROOM, 0);
	while ((r = tracecmd_read_data(in, cpu))) {
		size_t len = (r->size + 3) / 4 * 4;

		put_page(s, r->data, len, r->ts - last);
		last = r->ts;
		if (!nettrace_pack(&packer, r->ts, r->data, len)) {
			s->events += events;
			s->raw += raw;
			s->packed += AROUND + nettrace_pack_end(&packer);
			events = raw = 0;
			nettrace_pack_begin(&packer, datagram, ROOM, r->ts);
			if (!nettrace_pack(&packer, r->ts, r->data, len))
				abort();
		}
		events++;
		raw += len + 4;
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
		struct sums s = { 0 };
		int cpus;

		if (!in) {
			fprintf(stderr, "nettrace_sizes: %s: cannot be read\n",
				argv[i]);
			return 1;
		}
		cpus = tep_get_cpus(tracecmd_get_tep(in));
		for (cpu = 0; cpu < cpus; cpu++)
			add_cpu(in, cpu, &s);
		tracecmd_close(in);
		if (s.events < 1000) {
			fprintf(stderr, "nettrace_sizes: %s: too few events\n",
				argv[i]);
			return 1;
		}
		name = name ? name + 1 : argv[i];
		printf("%.*s %.0f raw=%.1f nettrace=%.2f lz4=%.2f zstd=%.2f smaller=%.2f\n",
		       (int)strcspn(name, "."), name, s.events,
		       s.raw / s.events, s.packed / s.events, s.lz4 / s.events,
		       s.zstd / s.events, s.raw / s.packed);
	}
	return 0;
}
