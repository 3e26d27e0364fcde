// SPDX-License-Identifier: GPL-2.0
/*
 * schedz collect without its socket: a made-up sender, and a network between them
 * that loses, reorders and doubles what is sent. Whatever happens, the files have
 * exactly the records that the ledger says, and libtracecmd reads them.
 */
#include <dirent.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <trace-cmd.h>

#include "collect.h"
#include "memory.h"
#include "random.h"
#include "suite.h"
#include "tracedat.h"
#include "wire.h"

#define CPUS 2
#define ROOM 600
#define RECORDS 3000
#define DATAGRAMS 10000
#define SESSION 0x1234567890abcdefULL

#define OTHER_ID 777

/* ---- the sender ---- */

struct record {
	uint64_t time;
	uint32_t len;
	uint8_t bytes[1500];
};

struct datagram {
	uint8_t bytes[ROOM];
	uint32_t len;
	bool acked;
};

struct stream {
	struct record *record;
	unsigned int records;
	struct datagram *datagram;
	unsigned int datagrams;
	uint64_t before[DATAGRAMS + 1]; /* records before each, and after all */
	uint64_t lost[DATAGRAMS + 1];
	unsigned int sent;
	unsigned int base;
};

static struct stream stream[CPUS];
static uint8_t meta[64 * 1024];
static uint32_t meta_len;
static uint32_t meta_generation;
static uint32_t acked_generation;

static struct collector *collector;
static char directory[DIRECTORY_SIZE];
static uint64_t now;

/* All records are */
static bool large;

/* The network: in a thousand */
static unsigned int loss, doubling, reordering;
static bool deaf; /* the sender sends nothing again */
static bool hostile; /* and others send as if they were it */
static bool starved; /* often there is no memory */

/* With a key: numbers in the seals of the sender, as the kernel has them */
static bool keyed;
static const siphash_key_t key = { { 0x123456789abcdef0, 0x0fedcba987654321 } };
static const siphash_key_t *sender_key = &key;
static uint64_t number, heard, echoed;

/* All that arrived, and what it was */
static struct {
	uint8_t bytes[ROOM + TRACECAST_SEAL];
	size_t len;
} * taped;
static unsigned int nr_taped;
#define TAPED 20000

static struct sockaddr_in sender = { .sin_family = AF_INET };

static void add_tag(enum tracecast_tag tag, const void *data, uint32_t len)
{
	tracecast_put_tag(meta + meta_len, tag, len);
	memcpy(meta + meta_len + TRACECAST_TAG_HEADER, data, len);
	meta_len += TRACECAST_TAG_HEADER + len;
}

static void add_format(const char *system, const char *text)
{
	char format[4000];
	int len = snprintf(format, sizeof(format), "%s%c%s", system, 0, text);

	add_tag(TRACECAST_FORMAT, format, len);
}

static const char header_page[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

static const char header_event[] =
	"# compressed entry header\n\ttype_len    :    5 bits\n"
	"\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n"
	"\tpadding     : type == 29\n\ttime_extend : type == 30\n"
	"\ttime_stamp : type == 31\n\tdata max type_len  == 28\n";

static void make_meta(bool other)
{
	struct tracecast_info info = { 0, 8, CPUS, 4096 };
	uint8_t b[TRACECAST_INFO_LEN];

	meta_len = 0;
	meta_generation++;
	tracecast_put_info(b, &info);
	add_tag(TRACECAST_INFO, b, sizeof(b));
	add_tag(TRACECAST_HOST, "../rig 7", 8);
	add_tag(TRACECAST_CLOCK, "mono", 4);
	add_tag(TRACECAST_HEADER_PAGE, header_page, strlen(header_page));
	add_tag(TRACECAST_HEADER_EVENT, header_event, strlen(header_event));
	add_format("sched", td_sched_waking);
	if (other)
		add_format("test", "name: other\nID: 777\nformat:\n" TD_COMMON
				   "\nprint fmt: \"\"\n");
}

static void make_record(struct record *r, uint64_t *time, unsigned int id)
{
	uint32_t i;

	*time += rnd() % 50 ? rnd() % 100000 : rnd() % (1ULL << 40);
	r->time = *time;
	r->len = 8 + 4 * (rnd() % 30);
	if (large)
		r->len = 1400 + 4 * (rnd() % 20);
	else if (rnd() % 50 == 0)
		r->len = 700 + 4 * (rnd() % 200); /* in parts */
	for (i = 0; i < r->len; i++)
		r->bytes[i] = rnd() % 4 ? 0 : rnd();
	r->bytes[0] = id;
	r->bytes[1] = id >> 8;
}

static struct datagram *new_datagram(struct stream *s)
{
	expect(s->datagrams < DATAGRAMS);
	return &s->datagram[s->datagrams];
}

static void end_datagram(struct stream *s, unsigned int cpu,
			 enum tracecast_kind kind, uint64_t time, uint32_t len,
			 unsigned int events)
{
	struct datagram *d = &s->datagram[s->datagrams];
	struct tracecast_data h = { .cpu = cpu,
				    .events = events,
				    .seq = s->datagrams,
				    .before = s->before[s->datagrams],
				    .lost = s->lost[s->datagrams],
				    .time = time };

	tracecast_put_data(d->bytes, kind, SESSION, &h);
	d->len = TRACECAST_DATA_HEADER + len;
	s->datagrams++;
	s->before[s->datagrams] = h.before + events;
	s->lost[s->datagrams] = h.lost;
}

static void put_parts(struct stream *s, unsigned int cpu,
		      const struct record *r)
{
	uint32_t done = 0, len;

	for (; done < r->len; done += len) {
		struct datagram *d = new_datagram(s);
		bool last;

		len = r->len - done < ROOM - TRACECAST_DATA_HEADER ?
			      r->len - done :
			      ROOM - TRACECAST_DATA_HEADER;
		last = done + len == r->len;
		memcpy(d->bytes + TRACECAST_DATA_HEADER, r->bytes + done, len);
		end_datagram(s, cpu, last ? TRACECAST_END : TRACECAST_PART,
			     r->time, len, last);
	}
}

static void begin_datagram(struct tracecast_packer *p, enum tracecast_kind kind,
			   uint8_t *bytes, uint64_t time)
{
	uint8_t *to = bytes + TRACECAST_DATA_HEADER;

	if (kind == TRACECAST_QUICK)
		tracecast_quick_begin(p, to, ROOM - TRACECAST_DATA_HEADER,
				      time);
	else
		tracecast_pack_begin(p, to, ROOM - TRACECAST_DATA_HEADER, time);
}

/* All records of a CPU, in datagrams; some were lost in the ring */
static void make_stream(unsigned int cpu, bool other)
{
	static struct tracecast_packer p;
	enum tracecast_kind kind = TRACECAST_DATA;
	struct stream *s = &stream[cpu];
	uint64_t time = rnd() % (1ULL << 50);
	unsigned int n = 0, events = 0;
	struct datagram *d = NULL;
	uint64_t first = 0;

	s->record = calloc(RECORDS, sizeof(*s->record));
	s->datagram = calloc(DATAGRAMS, sizeof(*s->datagram));
	ck_assert(s->record && s->datagram);
	while (n < RECORDS) {
		struct record *r = &s->record[n];

		make_record(r, &time,
			    other && n == RECORDS / 2 ? OTHER_ID :
							TD_ID_WAKING);
again:
		if (d && (r->len > 500 || rnd() % 60 == 0)) {
			end_datagram(s, cpu, kind, first,
				     tracecast_pack_end(&p), events);
			d = NULL;
		}
		if (!d && rnd() % 40 == 0) {
			uint64_t lost = rnd() % 1000;

			s->before[s->datagrams] += lost;
			s->lost[s->datagrams] += lost;
		}
		if (r->len > 500) {
			put_parts(s, cpu, r);
			n++;
			continue;
		}
		if (!d) {
			d = new_datagram(s);
			first = time;
			events = 0;
			kind = rnd() % 2 ? TRACECAST_QUICK : TRACECAST_DATA;
			begin_datagram(&p, kind, d->bytes, time);
		}
		if (!tracecast_pack(&p, r->time, r->bytes, r->len)) {
			end_datagram(s, cpu, kind, first,
				     tracecast_pack_end(&p), events);
			d = NULL;
			goto again;
		}
		events++;
		n++;
	}
	if (d)
		end_datagram(s, cpu, kind, first, tracecast_pack_end(&p),
			     events);
	s->records = n;
}

/* ---- the network ---- */

static struct {
	uint8_t *bytes;
	size_t len;
} pending[64];
static unsigned int nr_pending;

/* What came from the sender, and what was sent there */
static uint64_t bytes_in, bytes_out;

static void arrive(const uint8_t *bytes, size_t len)
{
	/* Exactly as long, for ASan */
	uint8_t *copy = malloc(len ? len : 1);

	expect(copy);
	memcpy(copy, bytes, len);
	bytes_in += len;
	if (taped && nr_taped < TAPED) {
		memcpy(taped[nr_taped].bytes, bytes, len);
		taped[nr_taped++].len = len;
	}
	if (starved && rnd() % 3 == 0)
		memory_fail_nth = 1 + rnd() % 4;
	collector_datagram(collector, copy, len, (struct sockaddr *)&sender,
			   sizeof(sender), now);
	free(copy);
}

static void release_one(unsigned int i)
{
	arrive(pending[i].bytes, pending[i].len);
	free(pending[i].bytes);
	pending[i] = pending[--nr_pending];
}

static void transmit(const uint8_t *datagram, size_t len)
{
	struct tracecast_seal seal = { .echo = heard };
	uint8_t bytes[ROOM + TRACECAST_SEAL];

	memcpy(bytes, datagram, len);
	if (keyed) {
		seal.number = ++number;
		len = tracecast_seal(bytes, len, sender_key, &seal);
	}
	if (rnd() % 1000 < loss)
		return;
	if (rnd() % 1000 < doubling)
		arrive(bytes, len);
	if (rnd() % 1000 < reordering && nr_pending < 64) {
		pending[nr_pending].bytes = malloc(len);
		expect(pending[nr_pending].bytes);
		memcpy(pending[nr_pending].bytes, bytes, len);
		pending[nr_pending++].len = len;
		return;
	}
	arrive(bytes, len);
	if (nr_pending && rnd() % 3 == 0)
		release_one(rnd() % nr_pending);
}

static void send_meta(void)
{
	uint8_t b[ROOM];
	struct tracecast_meta h = { meta_generation, meta_len, 0 };
	uint32_t len;

	for (; h.offset < meta_len; h.offset += len) {
		len = meta_len - h.offset < 400 ? meta_len - h.offset : 400;
		tracecast_put_meta(b, SESSION, &h);
		memcpy(b + TRACECAST_META_HEADER, meta + h.offset, len);
		transmit(b, TRACECAST_META_HEADER + len);
	}
}

/* Of the first CPUs */
static void send_beat_of(enum tracecast_last last, unsigned int cpus)
{
	uint8_t b[TRACECAST_BEAT_HEADER + CPUS * TRACECAST_BEAT_ENTRY];
	struct tracecast_beat beat = { meta_generation, cpus, last };
	unsigned int cpu;

	tracecast_put_beat(b, SESSION, &beat);
	for (cpu = 0; cpu < cpus; cpu++) {
		struct stream *s = &stream[cpu];
		struct tracecast_beat_entry e = {
			.cpu = cpu,
			.base = s->base,
			.next = s->sent,
			.before = s->before[s->sent],
			.lost = s->lost[s->sent],
			.generated = s->before[s->datagrams],
		};

		tracecast_put_beat_entry(b + TRACECAST_BEAT_HEADER +
						 cpu * TRACECAST_BEAT_ENTRY,
					 &e);
	}
	transmit(b, TRACECAST_BEAT_HEADER + cpus * TRACECAST_BEAT_ENTRY);
}

static void send_beat(enum tracecast_last last)
{
	send_beat_of(last, CPUS);
}

static void send_data(unsigned int cpu, uint64_t seq)
{
	struct datagram *d = &stream[cpu].datagram[seq];

	transmit(d->bytes, d->len);
}

/* An answer of the collector arrives at the sender, or not */
static void hear(const void *data, size_t len, const struct sockaddr *to,
		 socklen_t to_len, void *arg)
{
	const uint8_t *b = data;
	struct tracecast_header h;
	struct tracecast_ack ack;
	struct tracecast_ack_entry e;
	struct tracecast_ack_range r;
	unsigned int i, k;
	uint64_t seq;

	(void)arg;
	expect(to_len == sizeof(sender));
	expect(hostile || !memcmp(to, &sender, sizeof(sender)));
	expect(len <= TRACECAST_DATAGRAM_MIN);
	bytes_out += len;
	expect(bytes_out <= bytes_in);
	if (rnd() % 1000 < loss)
		return;
	expect(tracecast_get_header(b, len, &h));
	expect(h.kind == TRACECAST_ACK);
	expect(h.sealed == keyed);
	if (keyed) {
		struct tracecast_seal seal;

		len = tracecast_unseal(b, len, &key, &seal);
		expect(len);
		expect(seal.echo && seal.echo <= number);
		if (seal.echo < echoed ||
		    (seal.echo == echoed && seal.number <= heard))
			return;
		echoed = seal.echo;
		heard = seal.number;
	}
	if (h.session != SESSION || hostile)
		return;
	expect(tracecast_get_ack(b, len, &ack));
	acked_generation = ack.generation;
	b += TRACECAST_ACK_HEADER;
	len -= TRACECAST_ACK_HEADER;
	for (i = 0; i < ack.entries; i++) {
		struct stream *s;

		expect(tracecast_get_ack_entry(b, len, &e));
		expect(e.cpu < CPUS);
		s = &stream[e.cpu];
		expect(e.next <= s->sent);
		if (e.next > s->base && !deaf)
			s->base = e.next;
		b += TRACECAST_ACK_ENTRY;
		len -= TRACECAST_ACK_ENTRY;
		for (k = 0; k < e.ranges; k++, b += TRACECAST_ACK_RANGE) {
			tracecast_get_ack_range(b, &r);
			len -= TRACECAST_ACK_RANGE;
			expect(r.count > 0);
			expect(e.next + r.from + r.count <= s->sent);
			for (seq = e.next + r.from;
			     !deaf && seq < e.next + r.from + r.count; seq++) {
				if (seq >= s->base)
					s->datagram[seq].acked = true;
			}
		}
	}
	expect(len == 0);
}

static char last_note[1024];

static void keep_note(const char *text, void *arg)
{
	(void)arg;
	snprintf(last_note, sizeof(last_note), "%s", text);
}

/* What was asked for, as the kernel does it: later, from its queue */
static void send_asked(void)
{
	unsigned int cpu, i;

	for (cpu = 0; cpu < CPUS; cpu++) {
		for (i = 0; i < stream[cpu].sent; i++) {
			if (!stream[cpu].datagram[i].acked)
				continue;
			stream[cpu].datagram[i].acked = false;
			send_data(cpu, i);
		}
	}
}

static void pass_time(void)
{
	now += 20;
	collector_tick(collector, now);
	if (acked_generation != meta_generation && now % 100 == 0)
		send_meta();
	if (now % 200 == 0)
		send_beat(TRACECAST_GOES_ON);
	send_asked();
}

struct reading {
	unsigned int at;
	uint64_t records;
	uint64_t missed;
};

static void read_all(struct reading *reading);

/* What has been written so far is a file by itself, whenever it is looked at */
static void look(void)
{
	struct reading r[CPUS];

	if (now % 1000 == 0)
		read_all(r);
}

static bool all_sent(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		if (stream[cpu].sent < stream[cpu].datagrams)
			return false;
	}
	return true;
}

static bool all_acked(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		if (stream[cpu].base < stream[cpu].datagrams)
			return false;
	}
	return true;
}

/* With a window, as the kernel has one */
static void send_all(unsigned int window)
{
	while (!all_sent()) {
		unsigned int cpu = rnd() % CPUS;
		struct stream *s = &stream[cpu];

		if (s->sent < s->datagrams &&
		    (deaf || s->sent - s->base < window))
			send_data(cpu, s->sent++);
		else
			pass_time();
		if (rnd() % 10 == 0)
			pass_time();
		look();
	}
}

/* ---- what became of it ---- */

static char paths[16][DIRECTORY_SIZE + NAME_MAX + 1];
static unsigned int nr_paths;

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void find_files(void)
{
	DIR *d = opendir(directory);
	struct dirent *e;

	nr_paths = 0;
	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d))) {
		if (!strstr(e->d_name, ".dat"))
			continue;
		ck_assert_uint_lt(nr_paths, 16);
		snprintf(paths[nr_paths++], sizeof(*paths), "%s/%s", directory,
			 e->d_name);
	}
	closedir(d);
	qsort(paths, nr_paths, sizeof(*paths), by_name);
}

/* Each record of the file is the sender's next one, or some were lost before */
static void read_file(const char *path, struct reading *reading)
{
	struct tracecmd_input *in =
		tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	unsigned int cpu;

	ck_assert_ptr_nonnull(in);
	for (cpu = 0; cpu < CPUS; cpu++) {
		struct reading *r = &reading[cpu];
		struct tep_record *rec = tracecmd_read_cpu_first(in, cpu);

		for (; rec; rec = tracecmd_read_data(in, cpu)) {
			struct stream *s = &stream[cpu];
			struct record *want;

			if (rec->missed_events > 0)
				r->missed += rec->missed_events;
			expect(rec->missed_events >= 0);
			while (r->at < s->records &&
			       s->record[r->at].time != rec->ts)
				r->at++;
			expect(r->at < s->records);
			want = &s->record[r->at++];
			expect(want->len == (uint32_t)rec->size);
			expect(!memcmp(want->bytes, rec->data, want->len));
			r->records++;
			tracecmd_free_record(rec);
		}
	}
	tracecmd_close(in);
}

static void read_all(struct reading *reading)
{
	unsigned int i;

	memset(reading, 0, CPUS * sizeof(*reading));
	find_files();
	for (i = 0; i < nr_paths; i++)
		read_file(paths[i], reading);
}

static void begin_with(uint64_t rotate)
{
	static uint64_t first = 1ull << 62;
	struct collector_config config = { .output = directory,
					   .rotate = rotate,
					   .key = keyed ? &key : NULL,
					   .first = first += 1ull << 40,
					   .send = hear,
					   .note = keep_note };

	collector = collector_new(&config);
}

static void begin(bool other)
{
	unsigned int cpu;

	tracecmd_set_loglevel(TEP_LOG_NONE);
	make_directory(directory);
	now = 1000;
	for (cpu = 0; cpu < CPUS; cpu++)
		make_stream(cpu, other);
	make_meta(false);
	begin_with(1 << 30);
}

static const char *ledger_path(void)
{
	static char path[sizeof(directory) + 100];

	sprintf(path, "%s/_._rig_7-1234567890abcdef.ledger", directory);
	return path;
}

static void end(void)
{
	unsigned int i;

	while (nr_pending)
		release_one(0);
	ck_assert(collector_free(collector));
	find_files();
	for (i = 0; i < nr_paths; i++)
		unlink(paths[i]);
	unlink(ledger_path());
	ck_assert_int_eq(rmdir(directory), 0);
	for (i = 0; i < CPUS; i++) {
		free(stream[i].record);
		free(stream[i].datagram);
	}
}

static void get_ledger(struct collector_ledger *l)
{
	ck_assert(collector_ledger(collector, 0, l));
	ck_assert_uint_eq(l->generated, l->earlier + l->delivered +
						l->ring_lost + l->wire_lost +
						l->awaited);
}

static uint64_t made(void)
{
	return stream[0].before[stream[0].datagrams] +
	       stream[1].before[stream[1].datagrams];
}

static uint64_t ring_lost(void)
{
	return stream[0].lost[stream[0].datagrams] +
	       stream[1].lost[stream[1].datagrams];
}

static void check_all_there(void)
{
	struct collector_ledger l;
	struct reading r[CPUS];
	unsigned int cpu;

	get_ledger(&l);
	ck_assert_uint_eq(l.generated, made());
	ck_assert_uint_eq(l.delivered, CPUS * RECORDS);
	ck_assert_uint_eq(l.ring_lost, ring_lost());
	ck_assert_uint_eq(l.wire_lost, 0);
	ck_assert_uint_eq(l.awaited, 0);
	read_all(r);
	for (cpu = 0; cpu < CPUS; cpu++)
		ck_assert_uint_eq(r[cpu].records, RECORDS);
	ck_assert_uint_eq(r[0].missed + r[1].missed, ring_lost());
}

static void run_until_acked(void)
{
	unsigned int i;

	for (i = 0; i < 5000 && !all_acked(); i++)
		pass_time();
	ck_assert(all_acked());
}

/* The ledgers as they are printed */
static void check_printed(const char *want)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	collector_print(collector, out);
	fclose(out);
	ck_assert_msg(strstr(text, want), "%.2000s", text);
	free(text);
}

static const struct {
	unsigned int loss, doubling, reordering, window;
} networks[] = {
	{ 0, 0, 0, 100 },     { 10, 0, 0, 100 },       { 100, 0, 0, 100 },
	{ 0, 300, 0, 100 },   { 0, 0, 300, 100 },      { 50, 50, 300, 100 },
	{ 300, 100, 300, 8 }, { 100, 100, 100, 2000 },
};

START_TEST(everything_arrives)
{
	seed += _i;
	loss = networks[_i].loss;
	doubling = networks[_i].doubling;
	reordering = networks[_i].reordering;
	begin(false);
	send_all(networks[_i].window);
	run_until_acked();
	check_all_there();
	ck_assert_uint_eq(nr_paths, 1);
	/* The name of the host did not lead out of the directory */
	ck_assert(strstr(paths[0], "/_._rig_7-1234567890abcdef.0.dat"));
	end();
}
END_TEST

/* The sender sends again what there was no memory for */
START_TEST(nothing_is_lost_without_memory)
{
	struct collector_ledger l;

	seed += _i;
	loss = reordering = 50 * (_i % 2);
	starved = true;
	large = _i / 2 % 2;
	begin(false);
	send_all(100);
	run_until_acked();
	check_all_there();
	get_ledger(&l);
	ck_assert_uint_gt(l.dropped, 0);
	ck_assert_uint_eq(l.damaged, 0);
	end();
}
END_TEST

/* A part for which there is no memory is kept, also when the sender has dropped it */
START_TEST(parts_wait_for_memory)
{
	struct stream *s = &stream[0];
	struct collector_ledger l;

	large = true;
	begin(false);
	send_meta();
	send_beat(TRACECAST_GOES_ON);
	send_data(0, s->sent++);
	/* There is memory for the datagram, but not to add it to the record */
	for (; s->sent < 3; s->sent++) {
		memory_fail_nth = 2;
		send_data(0, s->sent);
	}
	s->base = s->sent;
	memory_fail_nth = 1;
	send_beat(TRACECAST_GOES_ON);
	ck_assert_uint_eq(memory_fail_nth, 0);
	pass_time();
	ck_assert(collector_sync(collector));
	get_ledger(&l);
	ck_assert_uint_eq(l.delivered, 1);
	ck_assert_uint_eq(l.damaged, 0);
	ck_assert_uint_eq(l.wire_lost, 0);
	end();
}
END_TEST

/* Until it is answered, the sender only sends heartbeats */
static void be_answered(void)
{
	unsigned int i;

	for (i = 0; i < 1000 && !heard; i++) {
		send_beat(TRACECAST_GOES_ON);
		if (nr_pending)
			release_one(0);
	}
	ck_assert_uint_gt(heard, 0);
}

/* As without a key, on all networks */
START_TEST(everything_arrives_with_a_key)
{
	seed += _i;
	keyed = true;
	loss = networks[_i].loss;
	doubling = networks[_i].doubling;
	reordering = networks[_i].reordering;
	begin(false);
	be_answered();
	send_all(networks[_i].window);
	run_until_acked();
	check_all_there();
	ck_assert_uint_eq(nr_paths, 1);
	check_printed("refused: ");
	end();
}
END_TEST

/* Without the key, no session begins, and none that has begun is disturbed */
START_TEST(others_are_refused_with_a_key)
{
	static const siphash_key_t other = { { 1, 2 } };
	struct collector_ledger l;
	uint64_t answers;
	char refused[64];

	keyed = true;
	begin(false);
	keyed = false;
	send_meta();
	send_beat(TRACECAST_GOES_ON);
	keyed = true;
	ck_assert_str_eq(last_note, "session 1234567890abcdef: refused: "
				    "the sender has no key; "
				    "write it to its target's file key");
	sender_key = &other;
	send_beat(TRACECAST_GOES_ON);
	ck_assert_str_eq(last_note, "session 1234567890abcdef: refused: "
				    "the sender has another key");
	ck_assert(!collector_ledger(collector, 0, &l));
	ck_assert_uint_eq(bytes_out, 0);
	sender_key = &key;
	be_answered();
	send_meta();
	send_beat(TRACECAST_GOES_ON);
	send_all(100);
	run_until_acked();
	/* Now one that says that all is lost, and is the last one */
	answers = bytes_out;
	sender_key = &other;
	send_beat(TRACECAST_PANIC);
	keyed = false;
	send_beat(TRACECAST_PANIC);
	keyed = true;
	ck_assert_uint_eq(bytes_out, answers);
	get_ledger(&l);
	ck_assert_int_eq(l.over, TRACECAST_GOES_ON);
	snprintf(refused, sizeof(refused),
		 "refused: %u datagrams without a key",
		 (meta_len + 399) / 400 + 2);
	check_printed(refused);
	check_printed("refused: 2 datagrams with another key");
	sender_key = &key;
	check_all_there();
	end();
}
END_TEST

/* A collector without one says so */
START_TEST(a_key_is_missed)
{
	struct collector_ledger l;

	begin(false);
	keyed = true;
	send_beat(TRACECAST_GOES_ON);
	keyed = false;
	ck_assert_str_eq(last_note, "session 1234567890abcdef: "
				    "refused: the sender has a key; "
				    "give it with --key-file");
	ck_assert(!collector_ledger(collector, 0, &l));
	end();
}
END_TEST

/* What was sent once, sent again by others, from elsewhere */
static void play_tape(void)
{
	in_port_t port = sender.sin_port;
	unsigned int i, n = nr_taped;

	sender.sin_port = htons(1);
	hostile = true;
	for (i = 0; i < n; i++) {
		arrive(taped[i].bytes, taped[i].len);
		if (i % 50 == 0) {
			now += 20;
			collector_tick(collector, now);
		}
	}
	hostile = false;
	sender.sin_port = port;
}

/* Neither the collector that had it nor its successor takes it again */
START_TEST(repeated_datagrams_are_refused)
{
	struct collector_ledger l, m;

	keyed = true;
	taped = calloc(TAPED, sizeof(*taped));
	ck_assert_ptr_nonnull(taped);
	begin(false);
	be_answered();
	send_all(100);
	run_until_acked();
	ck_assert_uint_lt(nr_taped, TAPED);
	get_ledger(&l);
	play_tape();
	get_ledger(&m);
	ck_assert_uint_eq(m.datagrams, l.datagrams);
	ck_assert_uint_eq(m.again, l.again);
	ck_assert_uint_eq(m.generated, l.generated);
	check_all_there();
	ck_assert(collector_free(collector));
	begin_with(1 << 30);
	play_tape();
	ck_assert(!collector_ledger(collector, 0, &l));
	find_files();
	ck_assert_uint_eq(nr_paths, 1);
	free(taped);
	taped = NULL;
	end();
}
END_TEST

/* One that was forgotten does not begin again */
START_TEST(forgotten_sessions_stay_so_with_a_key)
{
	uint8_t b[TRACECAST_BEAT_HEADER] = { 0 };
	struct tracecast_beat beat = { 1, 0, 0 };
	unsigned int i;

	keyed = hostile = true;
	taped = calloc(TAPED, sizeof(*taped));
	ck_assert_ptr_nonnull(taped);
	begin(false);
	for (i = 0; i < 300; i++) {
		/* Answered, and then there */
		tracecast_put_beat(b, i, &beat);
		transmit(b, sizeof(b));
		transmit(b, sizeof(b));
		now += 6000;
	}
	check_printed("forgotten: 44 old sessions");
	play_tape();
	check_printed("forgotten: 44 old sessions");
	free(taped);
	taped = NULL;
	end();
}
END_TEST

/*
 * Others have filled all memory with sessions that never begin: what there is goes to
 * who needs less, and these sessions are forgotten when they were silent for long.
 */
START_TEST(memory_runs_out)
{
#ifndef __SANITIZE_ADDRESS__
	const struct rlimit limit = { 256 << 20, 256 << 20 };
	struct tracecast_meta h = { 1, TRACECAST_META_MAX, 0 };
	uint8_t b[TRACECAST_META_HEADER + 1] = { 0 };
	struct reading r[CPUS];
	unsigned int i;

	begin(false);
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
	for (i = 0; i < 100; i++) {
		tracecast_put_meta(b, i, &h);
		transmit(b, sizeof(b));
	}
	ck_assert(strstr(last_note, "out of memory"));
	check_printed("dropped: 1 datagrams, for lack of memory");
	send_all(100);
	run_until_acked();
	pass_time();
	read_all(r);
	ck_assert_uint_eq(r[0].records + r[1].records, CPUS * RECORDS);
	/* One that is dropped now has an old one forgotten */
	now += 6000;
	tracecast_put_meta(b, i, &h);
	transmit(b, sizeof(b));
	pass_time();
	check_printed("forgotten: 1 ");
	end();
#endif
}
END_TEST

/* Nothing is sent again: each record is in the file, or counted */
START_TEST(losses_are_counted)
{
	struct collector_ledger l;
	struct reading r[CPUS];
	unsigned int i;

	seed += _i;
	deaf = true;
	reordering = 100 * (_i % 2);
	begin(false);
	send_meta();
	while (nr_pending)
		release_one(0);
	send_beat(TRACECAST_GOES_ON);
	while (nr_pending)
		release_one(0);
	loss = 100;
	send_all(0);
	while (nr_pending)
		release_one(0);
	get_ledger(&l);
	ck_assert_uint_gt(l.awaited, 0);
	loss = 0;
	/* What is still missing when the session is over is lost */
	reordering = 0;
	send_beat(TRACECAST_OVER);
	for (i = 0; i < 200; i++) {
		now += 20;
		collector_tick(collector, now);
	}
	get_ledger(&l);
	ck_assert(l.over);
	ck_assert_uint_eq(l.awaited, 0);
	ck_assert_uint_eq(l.generated, made());
	ck_assert_uint_gt(l.wire_lost, 100);
	/* Where records of lost datagrams were is not known */
	read_all(r);
	ck_assert_uint_eq(r[0].records + r[1].records, l.delivered);
	ck_assert_uint_eq(l.generated - l.delivered, l.ring_lost + l.wire_lost);
	/* What still comes then is not taken for somebody else's */
	send_beat(TRACECAST_OVER);
	check_printed("\nignored: 0 foreign datagrams\nlate: 1 ");
	end();
}
END_TEST

/* What the file of the ledger says */
static uint64_t in_file(const char *key)
{
	struct json_object *o = json_object_from_file(ledger_path()), *value;
	uint64_t n;

	ck_assert_ptr_nonnull(o);
	ck_assert(json_object_object_get_ex(o, key, &value));
	n = json_object_get_uint64(value);
	json_object_put(o);
	return n;
}

static const struct {
	enum tracecast_last last;
	unsigned int cpus; /* that send their number of records */
	unsigned int percent; /* of the records that are sent */
	unsigned int unknown;
} panics[] = {
	{ TRACECAST_PANIC, CPUS, 100, 0 },
	{ TRACECAST_PANIC, CPUS, 60, 0 },
	{ TRACECAST_PANIC, 1, 100, CPUS - 1 },
	{ TRACECAST_PANIC_SOME, CPUS, 80, CPUS },
};

/* The sender waits for no answer: it sends everything twice, then the number of records */
START_TEST(a_panic_is_told)
{
	struct collector_ledger l;
	struct reading r[CPUS];
	unsigned int i, cpu, from, to;

	seed += _i;
	begin(false);
	stream[0].datagrams /= 2;
	stream[1].datagrams /= 2;
	send_all(100);
	run_until_acked();
	deaf = true;
	loss = 400;
	for (cpu = 0; cpu < CPUS; cpu++) {
		while (stream[cpu].before[stream[cpu].datagrams + 1])
			stream[cpu].datagrams++;
		to = stream[cpu].sent +
		     (stream[cpu].datagrams - stream[cpu].sent) *
			     panics[_i].percent / 100;
		from = stream[cpu].sent;
		stream[cpu].sent = to;
		for (i = from; i < to; i++)
			send_data(cpu, i);
		/* Again, after a while */
		now += 500;
		collector_tick(collector, now);
		for (i = from; i < to; i++)
			send_data(cpu, i);
	}
	while (nr_pending)
		release_one(0);
	loss = 0;
	send_beat_of(panics[_i].last, panics[_i].cpus);
	while (nr_pending)
		release_one(0);
	for (i = 0; i < 200; i++) {
		now += 20;
		collector_tick(collector, now);
	}
	get_ledger(&l);
	ck_assert_uint_eq(l.over, panics[_i].last);
	ck_assert_uint_eq(l.awaited, 0);
	ck_assert_uint_eq(l.unknown, panics[_i].unknown);
	ck_assert_uint_gt(l.wire_lost, 0);
	if (panics[_i].cpus == CPUS)
		ck_assert_uint_eq(l.generated + l.behind, made());
	if (panics[_i].percent == 100)
		ck_assert_uint_eq(l.behind, 0);
	else
		ck_assert_uint_gt(l.behind, 0);
	read_all(r);
	ck_assert_uint_eq(r[0].records + r[1].records, l.delivered);
	ck_assert_uint_eq(in_file("generated"), l.generated);
	ck_assert_uint_eq(in_file("delivered"), l.delivered);
	ck_assert_uint_eq(in_file("lost_on_wire"), l.wire_lost);
	ck_assert_uint_eq(in_file("behind"), l.behind);
	ck_assert_uint_eq(in_file("unknown_cpus"), l.unknown);
	end();
}
END_TEST

/* A collector that starts late has what the sender still has */
START_TEST(another_collector_goes_on)
{
	struct collector_ledger l, m;
	struct reading r[CPUS];

	loss = 50;
	begin(false);
	stream[0].datagrams /= 2;
	stream[1].datagrams /= 2;
	send_all(50);
	run_until_acked();
	get_ledger(&l);
	ck_assert(collector_free(collector));
	now += 100000;
	begin_with(1 << 30);
	acked_generation = 0;
	while (stream[0].before[stream[0].datagrams + 1])
		stream[0].datagrams++;
	while (stream[1].before[stream[1].datagrams + 1])
		stream[1].datagrams++;
	send_all(50);
	run_until_acked();
	get_ledger(&m);
	read_all(r);
	ck_assert_uint_eq(nr_paths, 2);
	/* It knows what there was before, and what is lost is lost for good */
	ck_assert_uint_eq(l.earlier, 0);
	ck_assert_uint_eq(m.generated, made());
	ck_assert_uint_eq(m.earlier, l.delivered);
	ck_assert_uint_eq(m.ring_lost, ring_lost());
	ck_assert_uint_ge(m.wire_lost, l.wire_lost);
	check_printed("before this collector");
	ck_assert_uint_eq(r[0].records + r[1].records,
			  l.delivered + m.delivered);
	/* A record whose parts were divided between them may be lost */
	ck_assert_uint_le(m.wire_lost, CPUS);
	collector_sync(collector);
	now += 2000;
	collector_tick(collector, now);
	ck_assert_uint_eq(in_file("generated"), m.generated);
	ck_assert_uint_eq(in_file("earlier"), m.earlier);
	ck_assert_uint_eq(in_file("lost_on_wire"), m.wire_lost);
	end();
}
END_TEST

/* An event that metadata does not describe waits until it does */
START_TEST(formats_come_before_records)
{
	struct collector_ledger l;
	unsigned int i;

	begin(true);
	send_meta();
	send_beat(TRACECAST_GOES_ON);
	while (!all_sent()) {
		unsigned int cpu = all_sent()				? 0 :
				   stream[0].sent < stream[0].datagrams ? 0 :
									  1;

		send_data(cpu, stream[cpu].sent++);
	}
	for (i = 0; i < 10; i++)
		collector_tick(collector, now += 20);
	get_ledger(&l);
	ck_assert_uint_gt(l.awaited, RECORDS / 2);
	make_meta(true);
	run_until_acked();
	check_all_there();
	ck_assert_uint_eq(nr_paths, 2);
	end();
}
END_TEST

/* Another file when one is full: the smallest has 4 MiB for each CPU */
START_TEST(files_are_rotated)
{
	large = true;
	loss = 20;
	begin(false);
	ck_assert(collector_free(collector));
	begin_with(1);
	send_all(100);
	run_until_acked();
	check_all_there();
	ck_assert_uint_eq(nr_paths, 2);
	end();
}
END_TEST

/* No room on the disk: nothing is acknowledged that is not in the file */
START_TEST(a_full_disk_is_waited_for)
{
	struct rlimit limit = { 300000, RLIM_INFINITY };
	struct collector_ledger l;
	unsigned int i;

	signal(SIGXFSZ, SIG_IGN);
	loss = 20;
	begin(false);
	/* Room for the head and nothing else: not even the places of the CPUs */
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (i = 0; i < 2000; i++) {
		unsigned int cpu = i % CPUS;

		if (stream[cpu].sent < 50)
			send_data(cpu, stream[cpu].sent++);
		pass_time();
	}
	get_ledger(&l);
	ck_assert_uint_eq(l.delivered, 0);
	ck_assert_uint_eq(stream[0].base + stream[1].base, 0);
	ck_assert(strstr(last_note, "has to wait"));
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	send_all(50);
	run_until_acked();
	check_all_there();
	end();
}
END_TEST

/* What never got into the file is not delivered, whenever the collector ends */
START_TEST(a_full_disk_has_no_more_than_is_told)
{
	struct rlimit limit = { 300000, RLIM_INFINITY };
	struct collector_ledger l, m;
	struct reading r[CPUS];
	unsigned int i, cpu;

	signal(SIGXFSZ, SIG_IGN);
	begin(false);
	stream[0].datagrams /= 4;
	stream[1].datagrams /= 4;
	send_all(50);
	run_until_acked();
	get_ledger(&l);
	ck_assert_uint_gt(l.delivered, 0);
	for (cpu = 0; cpu < CPUS; cpu++) {
		while (stream[cpu].before[stream[cpu].datagrams + 1])
			stream[cpu].datagrams++;
	}
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (i = 0; i < 40; i++) {
		cpu = i % CPUS;
		send_data(cpu, stream[cpu].sent++);
		pass_time();
	}
	ck_assert(!collector_sync(collector));
	get_ledger(&m);
	ck_assert_uint_ge(m.delivered, l.delivered);
	ck_assert_uint_gt(m.awaited, 0);
	ck_assert(!collector_free(collector));
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	read_all(r);
	/* Some CPUs' may have been written when another's could not */
	ck_assert_uint_ge(r[0].records + r[1].records, m.delivered);
	ck_assert_uint_eq(in_file("delivered"), m.delivered);
	begin_with(1 << 30);
	end();
}
END_TEST

/* One datagram with a forged address is not answered by a larger one */
START_TEST(answers_are_no_larger)
{
	unsigned int i;

	begin(false);
	send_meta();
	send_beat(TRACECAST_GOES_ON);
	loss = 900;
	send_all(20);
	loss = 0;
	while (nr_pending)
		release_one(0);
	/* Much is missing: what was sent from here earns the other address nothing */
	sender.sin_port = htons(1);
	bytes_in = bytes_out = 0;
	send_beat(TRACECAST_GOES_ON);
	while (nr_pending)
		release_one(0);
	for (i = 0; i < 500; i++) {
		now += 20;
		collector_tick(collector, now);
	}
	ck_assert_uint_gt(bytes_in, 0);
	ck_assert_uint_le(bytes_out, bytes_in);
	end();
}
END_TEST

/* There is a place for one more session when others are over or silent */
START_TEST(old_sessions_are_forgotten)
{
	struct collector_ledger l;
	uint8_t b[TRACECAST_BEAT_HEADER] = { 0 };
	struct tracecast_beat beat = { 1, 0, 0 };
	unsigned int i;

	begin(false);
	hostile = true;
	for (i = 0; i < 600; i++) {
		tracecast_put_beat(b, i, &beat);
		arrive(b, sizeof(b));
	}
	ck_assert(collector_ledger(collector, 255, &l));
	ck_assert(!collector_ledger(collector, 256, &l));
	hostile = false;
	now += 6000;
	send_all(100);
	run_until_acked();
	/* In the place of one of them */
	for (i = 0; collector_ledger(collector, i, &l); i++) {
		if (l.delivered)
			break;
	}
	ck_assert_uint_eq(l.delivered, CPUS * RECORDS);
	ck_assert_uint_lt(i, 256);
	end();
}
END_TEST

/* Damaged ones among the good ones: nothing worse than a count comes of it */
START_TEST(hostile_datagrams_do_no_harm)
{
	struct collector_ledger l;
	unsigned int i, k;
	uint8_t b[ROOM];

	seed += _i;
	hostile = true;
	begin(false);
	send_meta();
	send_beat(TRACECAST_GOES_ON);
	for (i = 0; i < 4000; i++) {
		struct stream *s = &stream[rnd() % CPUS];
		struct datagram *d = &s->datagram[rnd() % s->datagrams];
		size_t len = d->len;

		memcpy(b, d->bytes, len);
		if (rnd() % 3 == 0)
			b[3] = rnd() % 8;
		if (rnd() % 3 == 0)
			len = rnd() % (len + 1);
		for (k = rnd() % 4; k; k--)
			b[rnd() % (rnd() % 2 ? 48 : ROOM)] = rnd();
		for (k = 0; rnd() % 10 == 0 && k < ROOM; k++)
			b[k] = k < 3 ? b[k] : rnd();
		arrive(b, len);
		if (rnd() % 4 == 0) {
			now += 20;
			collector_tick(collector, now);
		}
	}
	get_ledger(&l);
	ck_assert_uint_gt(l.damaged, 0);
	/* The file is still one */
	find_files();
	for (i = 0; i < nr_paths; i++) {
		struct tracecmd_input *in =
			tracecmd_open(paths[i], TRACECMD_FL_LOAD_NO_PLUGINS);

		ck_assert_ptr_nonnull(in);
		tracecmd_close(in);
	}
	end();
}
END_TEST

/* Under valgrind all tests run in one process */
static void reset(void)
{
	memset(stream, 0, sizeof(stream));
	meta_generation = acked_generation = 0;
	loss = doubling = reordering = 0;
	large = deaf = hostile = starved = false;
	memory_fail_nth = 0;
	keyed = false;
	sender_key = &key;
	number = heard = echoed = 0;
	bytes_in = bytes_out = 0;
	nr_taped = 0;
	*last_note = '\0';
}

int main(void)
{
	Suite *s = suite_create("receive");
	TCase *t = tcase_create("receive");

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, reset, NULL);
	tcase_add_loop_test(t, everything_arrives, 0,
			    sizeof(networks) / sizeof(*networks));
	tcase_add_loop_test(t, everything_arrives_with_a_key, 0,
			    sizeof(networks) / sizeof(*networks));
	tcase_add_test(t, others_are_refused_with_a_key);
	tcase_add_test(t, a_key_is_missed);
	tcase_add_test(t, repeated_datagrams_are_refused);
	tcase_add_test(t, forgotten_sessions_stay_so_with_a_key);
	tcase_add_loop_test(t, nothing_is_lost_without_memory, 0, 4);
	tcase_add_test(t, parts_wait_for_memory);
	tcase_add_test(t, memory_runs_out);
	tcase_add_loop_test(t, losses_are_counted, 0, 4);
	tcase_add_loop_test(t, a_panic_is_told, 0,
			    sizeof(panics) / sizeof(*panics));
	tcase_add_test(t, another_collector_goes_on);
	tcase_add_test(t, formats_come_before_records);
	tcase_add_test(t, files_are_rotated);
	tcase_add_test(t, a_full_disk_is_waited_for);
	tcase_add_test(t, answers_are_no_larger);
	tcase_add_test(t, a_full_disk_has_no_more_than_is_told);
	tcase_add_test(t, old_sessions_are_forgotten);
	tcase_add_loop_test(t, hostile_datagrams_do_no_harm, 0, 4);
	suite_add_tcase(s, t);
	return run_suite(s);
}
