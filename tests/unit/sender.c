// SPDX-License-Identifier: GPL-2.0
/* See sender.h. */
#include <dirent.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trace-cmd.h>

#include "memory.h"
#include "random.h"
#include "sender.h"
#include "tracedat.h"

#define NO_SENDER UINT_MAX

struct stream stream[CPUS];
static uint8_t meta[64 * 1024];
uint32_t meta_len;
uint32_t meta_generation;
uint32_t acked_generation;

struct collector *collector;
static char directory[DIRECTORY_SIZE];
uint64_t now;

/* All records are */
bool large;

/* The network: in a thousand */
unsigned int loss, doubling, reordering;
bool deaf; /* the sender retransmits no datagram */
bool hostile; /* and others send as if they were it */
bool starved; /* allocations often fail */

unsigned int senders = 1;
unsigned int muted = NO_SENDER;

/* With a key: numbers in the seals of each sender, as the kernel has them */
bool keyed;
const siphash_key_t key = { { 0x123456789abcdef0, 0x0fedcba987654321 } };
const siphash_key_t *sender_key = &key;
uint64_t seal_number[CPUS], seal_heard[CPUS], seal_echoed[CPUS];

struct taped *taped;
unsigned int nr_taped;

struct sockaddr_in sender = { .sin_family = AF_INET };

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

const struct tracecast_last_boot *last_boot;

void make_meta(bool other)
{
	struct tracecast_info info = { 0, 8, senders, CPUS, 4096 };
	uint8_t b[TRACECAST_INFO_LEN], last[TRACECAST_LAST_BOOT_LEN];

	meta_len = 0;
	meta_generation++;
	tracecast_put_info(b, &info);
	add_tag(TRACECAST_INFO, b, sizeof(b));
	if (last_boot) {
		tracecast_put_last_boot(last, last_boot);
		add_tag(TRACECAST_LAST_BOOT, last, sizeof(last));
		add_tag(TRACECAST_BOOT, "that boot\xff", 10);
	}
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

/* @count: number of its records, or of the piece of one that it has */
static void end_datagram(struct stream *s, unsigned int cpu,
			 enum tracecast_kind kind, uint64_t time, uint32_t len,
			 unsigned int count)
{
	unsigned int events = kind == TRACECAST_PART ? 0 :
			      kind == TRACECAST_END  ? 1 :
						       count;
	struct datagram *d = &s->datagram[s->datagrams];
	struct tracecast_data h = { .cpu = cpu,
				    .events = events,
				    .piece = count,
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
	uint32_t done = 0, len, piece = 0;

	for (; done < r->len; done += len) {
		/* Zeros, no name */
		uint32_t task = piece ? 0 : TRACECAST_TASK;
		uint32_t room = ROOM - TRACECAST_DATA_HEADER - task;
		struct datagram *d = new_datagram(s);
		bool last;

		len = r->len - done < room ? r->len - done : room;
		last = done + len == r->len;
		memcpy(d->bytes + TRACECAST_DATA_HEADER + task, r->bytes + done,
		       len);
		end_datagram(s, cpu, last ? TRACECAST_END : TRACECAST_PART,
			     r->time, task + len, piece++);
	}
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
			tracecast_pack_begin(&p, kind,
					     d->bytes + TRACECAST_DATA_HEADER,
					     ROOM - TRACECAST_DATA_HEADER,
					     time);
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

const struct network networks[NETWORKS] = {
	{ 0, 0, 0, 100 },     { 10, 0, 0, 100 },       { 100, 0, 0, 100 },
	{ 0, 300, 0, 100 },   { 0, 0, 300, 100 },      { 50, 50, 300, 100 },
	{ 300, 100, 300, 8 }, { 100, 100, 100, 2000 },
};

static struct {
	uint8_t *bytes;
	size_t len;
} pending[64];
unsigned int nr_pending;

/* The datagrams from the sender, and those sent to it */
uint64_t bytes_in, bytes_out;
static uint64_t in_of[TRACECAST_SENDERS_MAX], out_of[TRACECAST_SENDERS_MAX];

static struct sockaddr_in address_of(unsigned int from)
{
	struct sockaddr_in a = sender;

	a.sin_port = htons(ntohs(a.sin_port) + from);
	return a;
}

void arrive(const uint8_t *bytes, size_t len)
{
	unsigned int from = len > 3 ? bytes[3] >> TRACECAST_KIND_BITS : 0;
	struct sockaddr_in address = address_of(from);
	/* Exactly as long, for ASan */
	uint8_t *copy = malloc(len ? len : 1);

	expect(copy);
	in_of[from] += len;
	memcpy(copy, bytes, len);
	bytes_in += len;
	if (taped && nr_taped < TAPED) {
		memcpy(taped[nr_taped].bytes, bytes, len);
		taped[nr_taped++].len = len;
	}
	if (starved && rnd() % 3 == 0)
		memory_fail_nth = 1 + rnd() % 4;
	collector_datagram(collector, copy, len, (struct sockaddr *)&address,
			   sizeof(address), now);
	free(copy);
}

void release_one(unsigned int i)
{
	arrive(pending[i].bytes, pending[i].len);
	free(pending[i].bytes);
	pending[i] = pending[--nr_pending];
}

void transmit_from(unsigned int from, const uint8_t *datagram, size_t len)
{
	struct tracecast_seal seal = { .echo = seal_heard[from] };
	uint8_t bytes[ROOM + TRACECAST_SEAL];

	memcpy(bytes, datagram, len);
	tracecast_put_sender(bytes, from);
	if (keyed) {
		seal.number = ++seal_number[from];
		len = tracecast_seal(bytes, len, sender_key, &seal);
	}
	if (rnd() % 1000 < loss || from == muted)
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

void transmit(const uint8_t *datagram, size_t len)
{
	transmit_from(0, datagram, len);
}

void send_meta(void)
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

/* A sender's, of some CPUs */
static void send_beat_from(unsigned int from, enum tracecast_last last,
			   unsigned int first, unsigned int cpus)
{
	uint8_t b[TRACECAST_BEAT_HEADER + CPUS * TRACECAST_BEAT_ENTRY];
	struct tracecast_beat beat = { meta_generation, cpus, last };
	unsigned int cpu;

	tracecast_put_beat(b, SESSION, &beat);
	for (cpu = first; cpu < first + cpus; cpu++) {
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
						 (cpu - first) *
							 TRACECAST_BEAT_ENTRY,
					 &e);
	}
	transmit_from(from, b,
		      TRACECAST_BEAT_HEADER + cpus * TRACECAST_BEAT_ENTRY);
}

/* Of the first CPUs */
void send_beat_of(enum tracecast_last last, unsigned int cpus)
{
	send_beat_from(0, last, 0, cpus);
}

/* The first sender says the last one for all */
void send_beat(enum tracecast_last last)
{
	unsigned int i;

	if (senders == 1 || last) {
		send_beat_of(last, CPUS);
		return;
	}
	for (i = 0; i < senders; i++)
		send_beat_from(i, last, i, 1);
}

/* Until it is answered, the sender only sends heartbeats */
void be_answered(void)
{
	unsigned int i;

	for (i = 0; i < 1000 && !(seal_heard[0] && seal_heard[senders - 1]);
	     i++) {
		send_beat(TRACECAST_GOES_ON);
		if (nr_pending)
			release_one(0);
	}
	ck_assert_uint_gt(seal_heard[0], 0);
	ck_assert_uint_gt(seal_heard[senders - 1], 0);
}

static unsigned int sender_of_cpu(unsigned int cpu)
{
	return cpu % senders;
}

void send_data(unsigned int cpu, uint64_t seq)
{
	struct datagram *d = &stream[cpu].datagram[seq];

	transmit_from(sender_of_cpu(cpu), d->bytes, d->len);
}

/* An answer of the collector arrives at the sender, or not */
static void hear(const void *data, size_t len, const struct sockaddr *to,
		 socklen_t to_len, void *arg)
{
	const uint8_t *b = data;
	unsigned int from = b[3] >> TRACECAST_KIND_BITS;
	struct sockaddr_in address = address_of(from);
	struct tracecast_header h;
	struct tracecast_ack ack;
	struct tracecast_ack_entry e;
	struct tracecast_ack_range r;
	unsigned int i, k;
	uint64_t seq;

	(void)arg;
	expect(to_len == sizeof(address));
	expect(hostile || !memcmp(to, &address, sizeof(address)));
	expect(len <= TRACECAST_DATAGRAM_MIN);
	bytes_out += len;
	out_of[from] += len;
	expect(hostile || out_of[from] <= in_of[from]);
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
		expect(seal.echo && seal.echo <= seal_number[from]);
		if (seal.echo < seal_echoed[from] ||
		    (seal.echo == seal_echoed[from] &&
		     seal.number <= seal_heard[from]))
			return;
		seal_echoed[from] = seal.echo;
		seal_heard[from] = seal.number;
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
		/* Of a CPU whose sender is not heard, the first one says the last */
		expect(sender_of_cpu(e.cpu) == from ||
		       sender_of_cpu(e.cpu) == muted);
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

char last_note[1024];

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

void pass_time(void)
{
	now += 20;
	collector_tick(collector, now);
	if (acked_generation != meta_generation && now % 100 == 0)
		send_meta();
	if (now % 200 == 0)
		send_beat(TRACECAST_GOES_ON);
	send_asked();
}

/* At any time, what has been written so far is a whole file */
static void look(void)
{
	struct reading r[CPUS];

	if (now % 1000 == 0)
		read_all(r);
}

bool all_sent(void)
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
void send_all(unsigned int window)
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

/* ---- the resulting files ---- */

char paths[16][DIRECTORY_SIZE + NAME_MAX + 1];
unsigned int nr_paths;

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

void find_files(void)
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
			want->found = true;
			r->records++;
			tracecmd_free_record(rec);
		}
	}
	tracecmd_close(in);
}

void read_all(struct reading *reading)
{
	unsigned int i;

	memset(reading, 0, CPUS * sizeof(*reading));
	find_files();
	for (i = 0; i < nr_paths; i++)
		read_file(paths[i], reading);
}

uint64_t count_found(void)
{
	unsigned int i, cpu;
	uint64_t n = 0;

	find_files();
	for (i = 0; i < nr_paths; i++) {
		struct reading r[CPUS] = {};

		read_file(paths[i], r);
	}
	for (cpu = 0; cpu < CPUS; cpu++) {
		for (i = 0; i < stream[cpu].records; i++)
			n += stream[cpu].record[i].found;
	}
	return n;
}

void begin_with(uint64_t rotate)
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

void begin(bool other)
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

const char *ledger_path(void)
{
	static char path[sizeof(directory) + 100];

	sprintf(path, "%s/_._rig_7-1234567890abcdef%s.ledger", directory,
		last_boot ? "-last-boot" : "");
	return path;
}

void finish(void)
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

void get_ledger(struct collector_ledger *l)
{
	ck_assert(collector_ledger(collector, 0, l));
	ck_assert_uint_eq(l->generated, l->earlier + l->delivered +
						l->ring_lost + l->wire_lost +
						l->awaited);
}

uint64_t made(void)
{
	return stream[0].before[stream[0].datagrams] +
	       stream[1].before[stream[1].datagrams];
}

uint64_t ring_lost(void)
{
	return stream[0].lost[stream[0].datagrams] +
	       stream[1].lost[stream[1].datagrams];
}

void check_all_there(void)
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

void run_until_acked(void)
{
	unsigned int i;

	for (i = 0; i < 5000 && !all_acked(); i++)
		pass_time();
	ck_assert(all_acked());
}

/* The ledgers as they are printed */
void check_printed(const char *want)
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

/* Under valgrind all tests run in one process */
void reset_sender(void)
{
	memset(stream, 0, sizeof(stream));
	meta_generation = acked_generation = 0;
	loss = doubling = reordering = 0;
	large = deaf = hostile = starved = false;
	memory_fail_nth = 0;
	keyed = false;
	sender_key = &key;
	last_boot = NULL;
	senders = 1;
	muted = NO_SENDER;
	memset(seal_number, 0, sizeof(seal_number));
	memset(seal_heard, 0, sizeof(seal_heard));
	memset(seal_echoed, 0, sizeof(seal_echoed));
	memset(in_of, 0, sizeof(in_of));
	memset(out_of, 0, sizeof(out_of));
	bytes_in = bytes_out = 0;
	nr_taped = 0;
	*last_note = '\0';
}
