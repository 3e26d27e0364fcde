// SPDX-License-Identifier: GPL-2.0
/*
 * schedz collect without a key, and datagrams that no tracecast made: they take a bounded
 * amount of memory, time, places and files, and leave others room for theirs.
 */
#include <dirent.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <trace-cmd.h>

#include "memory.h"
#include "sender.h"
#include "tracedat.h"

static uint8_t forged[TRACECAST_DATAGRAM_MAX];
static const char *release; /* of the kernel; or NULL */

static size_t forge_tag(size_t at, enum tracecast_tag tag, const void *data,
			size_t len)
{
	tracecast_put_tag(forged + at, tag, len);
	memcpy(forged + at + TRACECAST_TAG_HEADER, data, len);
	return at + TRACECAST_TAG_HEADER + len;
}

/* In one datagram */
static void forge_meta(uint64_t session, unsigned int cpus, unsigned int page)
{
	static const char event[] = "\tdata max type_len  == 28\n";
	struct tracecast_info info = { 0, 8, 1, cpus, page };
	struct tracecast_meta h = { .generation = 1 };
	uint8_t b[TRACECAST_INFO_LEN];
	size_t len = TRACECAST_META_HEADER;
	char text[2000];
	int n;

	tracecast_put_info(b, &info);
	len = forge_tag(len, TRACECAST_INFO, b, sizeof(b));
	len = forge_tag(len, TRACECAST_HOST, "forged", 6);
	if (release)
		len = forge_tag(len, TRACECAST_RELEASE, release,
				strlen(release));
	len = forge_tag(len, TRACECAST_CLOCK, "mono", 4);
	n = sprintf(text,
		    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		    "\tfield: char data;\toffset:16;\tsize:%u;\tsigned:1;\n",
		    page - 16);
	len = forge_tag(len, TRACECAST_HEADER_PAGE, text, n);
	len = forge_tag(len, TRACECAST_HEADER_EVENT, event, strlen(event));
	n = sprintf(text, "sched%c%s", 0, td_sched_waking);
	len = forge_tag(len, TRACECAST_FORMAT, text, n);
	h.total = len - TRACECAST_META_HEADER;
	tracecast_put_meta(forged, session, &h);
	arrive(forged, len);
}

static void forge_entry(uint64_t session, const struct tracecast_beat_entry *e)
{
	struct tracecast_beat beat = { 1, 1, TRACECAST_GOES_ON };

	tracecast_put_beat(forged, session, &beat);
	tracecast_put_beat_entry(forged + TRACECAST_BEAT_HEADER, e);
	arrive(forged, TRACECAST_BEAT_HEADER + TRACECAST_BEAT_ENTRY);
}

/* Of @nr CPUs from @cpu on */
static void forge_beat(uint64_t session, unsigned int cpu, unsigned int nr,
		       uint64_t next, enum tracecast_last last)
{
	struct tracecast_beat beat = { 1, nr, last };
	unsigned int i;

	tracecast_put_beat(forged, session, &beat);
	for (i = 0; i < nr; i++) {
		struct tracecast_beat_entry e = { .cpu = cpu + i,
						  .next = next };

		tracecast_put_beat_entry(forged + TRACECAST_BEAT_HEADER +
						 i * TRACECAST_BEAT_ENTRY,
					 &e);
	}
	arrive(forged, TRACECAST_BEAT_HEADER + nr * TRACECAST_BEAT_ENTRY);
}

/* Where the bytes of a piece go. There is no name before the first */
static uint8_t *begin_piece(unsigned int piece)
{
	uint8_t *body = forged + TRACECAST_DATA_HEADER;

	if (piece)
		return body;
	memset(body, 0, TRACECAST_TASK);
	return body + TRACECAST_TASK;
}

/* @n bytes of a record of TD_ID_WAKING */
static void forge_piece(uint64_t session, enum tracecast_kind kind,
			const struct tracecast_data *h, char byte,
			unsigned int n)
{
	uint8_t *body = begin_piece(h->piece);

	tracecast_put_data(forged, kind, session, h);
	memset(body, byte, n);
	body[0] = TD_ID_WAKING & 0xff;
	body[1] = TD_ID_WAKING >> 8;
	arrive(forged, body + n - forged);
}

/* A record of @len bytes, in parts */
static void forge_record(uint64_t session, uint64_t seq, uint64_t before,
			 unsigned int len)
{
	uint8_t record[TRACECAST_PAGE_MAX] = { TD_ID_WAKING & 0xff,
					       TD_ID_WAKING >> 8 };
	struct tracecast_data h = { .seq = seq, .before = before, .time = 1 };
	unsigned int done, n;
	uint8_t *body;

	for (done = 0; done < len; done += n) {
		n = len - done < 4000 ? len - done : 4000;
		tracecast_put_data(forged,
				   done + n == len ? TRACECAST_END :
						     TRACECAST_PART,
				   session, &h);
		body = begin_piece(h.piece++);
		memcpy(body, record + done, n);
		arrive(forged, body + n - forged);
		h.seq++;
	}
}

/* A session with a record, as any other */
static void forge_session(uint64_t session)
{
	forge_meta(session, 1, 4096);
	forge_beat(session, 0, 1, 0, TRACECAST_GOES_ON);
	forge_record(session, 0, 0, 8);
}

static void from_address(uint32_t address)
{
	sender.sin_addr.s_addr = htonl(address);
}

/* Files in the directory of this test, which are deleted */
static unsigned int delete_files(const char *end)
{
	char *dir = strdup(ledger_path()), path[DIRECTORY_SIZE + NAME_MAX + 1];
	unsigned int n = 0;
	struct dirent *e;
	DIR *d;

	*strrchr(dir, '/') = '\0';
	d = opendir(dir);
	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d))) {
		size_t len = strlen(e->d_name);

		if (*e->d_name == '.' || len < strlen(end) ||
		    strcmp(e->d_name + len - strlen(end), end) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		unlink(path);
		n++;
	}
	closedir(d);
	free(dir);
	return n;
}

static size_t memory_in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Datagrams that many CPUs are said to have sent take memory and time for one sender's */
START_TEST(forged_windows_are_bounded)
{
	size_t before;
	clock_t begun;
	unsigned int i;

	begin(false);
	hostile = true;
	before = memory_in_use();
	forge_meta(1, 4096, 4096);
	for (i = 0; i < 4096; i += 128) {
		forge_beat(1, i, 128, 0, TRACECAST_GOES_ON);
		forge_beat(1, i, 128, TRACECAST_WINDOW_MAX, TRACECAST_GOES_ON);
	}
	ck_assert_uint_lt(memory_in_use() - before, 16 << 20);
	begun = clock();
	for (i = 0; i < 20000; i++) {
		forge_beat(1, i % 4096, 1, TRACECAST_WINDOW_MAX,
			   TRACECAST_GOES_ON);
		if (i % 100 == 0)
			collector_tick(collector, ++now);
	}
	/* Less than 100 us for each; the first of them alone took that time of all slots */
	ck_assert_int_lt(clock() - begun, 2 * CLOCKS_PER_SEC);
	hostile = false;
	send_all(100);
	run_until_acked();
	finish();
}
END_TEST

/* What is claimed, but never sent, does not use up the memory of who comes next */
START_TEST(forged_sizes_are_bounded)
{
#ifndef __SANITIZE_ADDRESS__
	struct tracecast_meta h = { 1, TRACECAST_META_MAX, 0 };
	uint8_t b[TRACECAST_META_HEADER + 1] = { 0 };
	size_t before;
	unsigned int i;

	begin(false);
	hostile = true;
	before = memory_in_use();
	for (i = 0; i < 200; i++) {
		tracecast_put_meta(b, i, &h);
		arrive(b, sizeof(b));
	}
	ck_assert_uint_lt(memory_in_use() - before, 1 << 30);
	ck_assert(strstr(last_note, "out of memory"));
	hostile = false;
	send_all(100);
	run_until_acked();
	finish();
#endif
}
END_TEST

/* Sessions of an address that has all places make room for those of others */
START_TEST(a_source_leaves_places)
{
	const char *session = "session 00000000000004d2, on, in";
	unsigned int i;

	begin(false);
	hostile = true;
	from_address(0xc0000201);
	for (i = 0; i < 300; i++)
		forge_session(i);
	check_printed("ignored: 132 foreign");
	from_address(0xc0000202);
	forge_session(1234);
	check_printed("forgotten: 1 ");
	check_printed(session);
	/* Two of them share what there is, and take nothing of who has less */
	from_address(0xc0000203);
	for (i = 2000; i < 2300; i++)
		forge_session(i);
	check_printed("forgotten: 128 ");
	check_printed(session);
	from_address(0);
	ck_assert(collector_free(collector));
	ck_assert_uint_eq(delete_files(".dat"), 256 + 128);
	delete_files(".ledger");
	begin_with(1 << 30);
	finish();
}
END_TEST

/* Sessions without records leave no file, and those with some not many at a time */
START_TEST(forged_sessions_leave_few_files)
{
	unsigned int i;

	begin(false);
	hostile = true;
	/* One of which nothing is known */
	forge_beat(1, 0, 0, 0, TRACECAST_OVER);
	for (i = 0; i < 10; i++)
		collector_tick(collector, now += 200);
	for (i = 0; i < 300; i++) {
		forge_meta(i, 1, 4096);
		forge_beat(i, 0, 1, 0, TRACECAST_OVER);
		collector_tick(collector, now += 200);
	}
	ck_assert_uint_eq(delete_files(""), 0);
	for (i = 1000; i < 1600; i++) {
		forge_session(i);
		forge_beat(i, 0, 1, 1, TRACECAST_OVER);
		collector_tick(collector, now += 20);
	}
	for (i = 0; i < 10; i++)
		collector_tick(collector, now += 200);
	ck_assert(collector_free(collector));
	ck_assert_uint_eq(delete_files(".dat"), 256);
	ck_assert_uint_eq(delete_files(".ledger"), 256);
	ck_assert_int_ne(access("(null).new", F_OK), 0);
	begin_with(1 << 30);
	finish();
}
END_TEST

/* The files were read: the next collector must not find them */
static void replace_collector(void)
{
	ck_assert(collector_free(collector));
	delete_files(".dat");
	delete_files(".ledger");
	begin_with(1 << 30);
}

/* Records that no page can have had count as damaged, and the largest ones are there */
START_TEST(records_are_not_larger_than_pages)
{
	static const struct {
		unsigned int page, len;
		bool fits;
	} sizes[] = {
		{ 4096, 4072, true },	  { 4096, 4076, false },
		{ 4096, 65532, false },	  { 8192, 4096, true },
		{ 1 << 20, 65532, true },
	};
	struct collector_ledger l;
	struct tracecmd_input *in;
	struct tep_record *rec;

	hostile = true;
	begin(false);
	forge_meta(1, 1, sizes[_i].page);
	forge_beat(1, 0, 1, 0, TRACECAST_GOES_ON);
	forge_record(1, 0, 0, 8);
	forge_record(1, 1, 1, sizes[_i].len);
	ck_assert(collector_sync(collector));
	get_ledger(&l);
	ck_assert_uint_eq(l.generated, 2);
	ck_assert_uint_eq(l.delivered, 1 + sizes[_i].fits);
	ck_assert_uint_eq(l.wire_lost, !sizes[_i].fits);
	ck_assert_uint_eq(l.damaged, !sizes[_i].fits);
	find_files();
	ck_assert_uint_eq(nr_paths, 1);
	in = tracecmd_open(paths[0], TRACECMD_FL_LOAD_NO_PLUGINS);
	ck_assert_ptr_nonnull(in);
	rec = tracecmd_read_cpu_first(in, 0);
	ck_assert_ptr_nonnull(rec);
	tracecmd_free_record(rec);
	rec = tracecmd_read_data(in, 0);
	ck_assert_int_eq(!!rec, sizes[_i].fits);
	if (rec)
		ck_assert_int_eq(rec->size, sizes[_i].len);
	tracecmd_free_record(rec);
	tracecmd_close(in);
	replace_collector();
	finish();
}
END_TEST

static const struct {
	int step; /* from the time of a record to that of the next one */
	unsigned int page;
} dense[] = {
	{ 1, 4096 }, { 1, 1024 }, { 1, 1 << 20 }, { -1, 4096 }, { -1, 1 << 20 },
};

/* As many records as a datagram can have: each is in the file of its CPU, or counted */
START_TEST(dense_datagrams_have_room)
{
	static struct tracecast_packer p;
	uint8_t record[TRACECAST_PAST_LEN] = { TD_ID_WAKING & 0xff,
					       TD_ID_WAKING >> 8 };
	struct tracecast_data h = { .events = 65535, .time = 1 << 30 };
	uint64_t time = h.time, delivered[2] = { 0 };
	struct collector_ledger l;
	struct tracecmd_input *in;
	size_t before;
	unsigned int i, len, cpu;

	hostile = true;
	begin(false);
	ck_assert(collector_free(collector));
	begin_with(1 << 20);
	before = memory_in_use();
	forge_meta(1, 2, dense[_i].page);
	forge_beat(1, 0, 2, 0, TRACECAST_GOES_ON);
	for (cpu = 0; cpu < 2; cpu++) {
		h.cpu = cpu;
		time = h.time;
		tracecast_pack_begin(&p, TRACECAST_DATA,
				     forged + TRACECAST_DATA_HEADER, 8000,
				     time);
		for (i = 0; i < h.events; i++, time += dense[_i].step)
			ck_assert(tracecast_pack(&p, time, record,
						 sizeof(record)));
		len = TRACECAST_DATA_HEADER + tracecast_pack_end(&p);
		ck_assert_uint_lt(len, 400);
		tracecast_put_data(forged, TRACECAST_DATA, 1, &h);
		arrive(forged, len);
	}
	ck_assert_uint_lt(memory_in_use() - before, 32 << 20);
	ck_assert(collector_sync(collector));
	get_ledger(&l);
	ck_assert_uint_eq(l.generated, 2 * 65535);
	ck_assert_uint_eq(l.delivered + l.wire_lost, l.generated);
	if (dense[_i].step > 0)
		ck_assert_uint_eq(l.wire_lost, 0);
	find_files();
	for (i = 0; i < nr_paths; i++) {
		in = tracecmd_open(paths[i], TRACECMD_FL_LOAD_NO_PLUGINS);
		ck_assert_ptr_nonnull(in);
		for (cpu = 0; cpu < 2; cpu++) {
			struct tep_record *rec =
				tracecmd_read_cpu_first(in, cpu);

			for (; rec; rec = tracecmd_read_data(in, cpu)) {
				delivered[cpu]++;
				tracecmd_free_record(rec);
			}
		}
		tracecmd_close(in);
	}
	ck_assert_uint_eq(delivered[0] + delivered[1], l.delivered);
	replace_collector();
	finish();
}
END_TEST

/* Numbers that have no successor cannot be; those before them can */
START_TEST(numbers_have_successors)
{
	const uint64_t max = UINT64_MAX;
	struct tracecast_beat_entry e = { .base = max, .next = max };
	struct tracecast_data h = { .events = 1, .seq = max, .time = 1 };
	struct collector_ledger l;

	begin(false);
	hostile = true;
	forge_meta(1, 1, 4096);
	forge_entry(1, &e);
	forge_piece(1, TRACECAST_END, &h, 0, 8);
	/* Slots, and then the last number */
	e.base = e.next = max - 2;
	forge_entry(1, &e);
	h.seq = max - 1;
	forge_piece(1, TRACECAST_END, &h, 0, 8);
	h.seq = max;
	forge_piece(1, TRACECAST_END, &h, 0, 8);
	h.seq = max - 2;
	h.before = max;
	forge_piece(1, TRACECAST_END, &h, 0, 8);
	get_ledger(&l);
	ck_assert_uint_eq(l.damaged, 4);
	ck_assert_uint_eq(l.datagrams, 1);
	h.before = 0;
	forge_piece(1, TRACECAST_END, &h, 0, 8);
	ck_assert(collector_sync(collector));
	get_ledger(&l);
	/* The other one had the same number of records before it */
	ck_assert_uint_eq(l.datagrams, 2);
	ck_assert_uint_eq(l.damaged, 5);
	ck_assert_uint_eq(l.delivered, 1);
	replace_collector();
	finish();
}
END_TEST

/* Before a record in parts is the name of its task, in the first of them */
START_TEST(records_in_parts_have_a_task)
{
	static const uint8_t task[20] = {
		0x4d, 0, 0, 0, 'a', 'l', 'o', 'n', 'e'
	};
	uint8_t *body = forged + 48;
	struct tracecast_data h = { .time = 1 };
	struct tracecmd_input *in;
	struct collector_ledger l;

	begin(false);
	hostile = true;
	forge_meta(1, 1, 4096);
	forge_beat(1, 0, 1, 0, TRACECAST_GOES_ON);
	/* Not all of it is there */
	tracecast_put_data(forged, TRACECAST_END, 1, &h);
	memset(body, 0, 20);
	arrive(forged, 48 + 19);
	/* Nothing is behind it */
	h.seq++;
	h.before++;
	forge_piece(1, TRACECAST_END, &h, 0, 0);
	h.seq++;
	h.before++;
	tracecast_put_data(forged, TRACECAST_PART, 1, &h);
	memcpy(body, task, sizeof(task));
	memset(body + 20, 0, 1000);
	body[20] = TD_ID_WAKING & 0xff;
	body[21] = TD_ID_WAKING >> 8;
	arrive(forged, 48 + 20 + 1000);
	h.seq++;
	h.piece++;
	forge_piece(1, TRACECAST_END, &h, 0, 500);
	ck_assert(collector_sync(collector));
	get_ledger(&l);
	ck_assert_uint_eq(l.delivered, 1);
	ck_assert_uint_eq(l.damaged, 2);
	ck_assert_uint_eq(l.wire_lost, 2);
	find_files();
	ck_assert_uint_eq(nr_paths, 1);
	in = tracecmd_open(paths[0], TRACECMD_FL_LOAD_NO_PLUGINS);
	ck_assert_ptr_nonnull(in);
	ck_assert_str_eq(tep_data_comm_from_pid(tracecmd_get_tep(in), 77),
			 "alone");
	tracecmd_close(in);
	replace_collector();
	finish();
}
END_TEST

/*
 * Of a record in parts, a page's bytes and the name are gathered, and no more. The ledger is
 * the same; sanitizers see what does not fit.
 */
START_TEST(parts_are_gathered_up_to_a_page)
{
	struct tracecast_data h = { .time = 1 };
	struct collector_ledger l;

	begin(false);
	hostile = true;
	forge_meta(1, 1, 4096);
	forge_beat(1, 0, 1, 0, TRACECAST_GOES_ON);
	forge_piece(1, TRACECAST_PART, &h, 0, 4000);
	h.seq++;
	h.piece++;
	forge_piece(1, TRACECAST_END, &h, 0, 96 + 20 + _i);
	h.seq++;
	h.before++;
	h.piece = 0;
	forge_piece(1, TRACECAST_END, &h, 0, 8);
	ck_assert(collector_sync(collector));
	get_ledger(&l);
	/* A record that no page can have, or pieces that are none: one is lost */
	ck_assert_uint_eq(l.damaged, 1);
	ck_assert_uint_eq(l.wire_lost, 1);
	ck_assert_uint_eq(l.delivered, 1);
	replace_collector();
	finish();
}
END_TEST

/* Parts of a record that was cleared, or lost one, and those of the next one */
START_TEST(parts_are_of_one_record)
{
	struct tracecast_data h = { .time = 1 };
	struct tracecmd_input *in;
	struct collector_ledger l;
	struct tep_record *rec;

	begin(false);
	hostile = true;
	forge_meta(1, 1, 4096);
	forge_beat(1, 0, 1, 0, TRACECAST_GOES_ON);
	forge_record(1, h.seq++, h.before++, 8);
	forge_piece(1, TRACECAST_PART, &h, 'A', 1400);
	h.seq++;
	if (_i == 0) {
		/* The ring was cleared */
		h.before++;
		h.lost++;
		forge_piece(1, TRACECAST_PART, &h, 'B', 1400);
	} else {
		/* Counts do not decrease */
		h.before--;
		h.piece++;
		forge_piece(1, TRACECAST_PART, &h, 'A', 1400);
		h.before++;
	}
	h.seq++;
	h.piece++;
	forge_piece(1, TRACECAST_END, &h, 'B', 600);
	h.seq++;
	h.before++;
	/* The next one is complete again */
	h.piece = 0;
	forge_piece(1, TRACECAST_PART, &h, 'C', 1000);
	h.seq++;
	h.piece++;
	forge_piece(1, TRACECAST_END, &h, 'C', 500);
	ck_assert(collector_sync(collector));
	get_ledger(&l);
	ck_assert_uint_eq(l.generated, _i ? 3 : 4);
	ck_assert_uint_eq(l.delivered, _i ? 2 : 3);
	ck_assert_uint_eq(l.ring_lost, _i ? 0 : 1);
	ck_assert_uint_eq(l.wire_lost, _i ? 1 : 0);
	ck_assert_uint_eq(l.damaged, _i ? 2 : 1);
	find_files();
	ck_assert_uint_eq(nr_paths, 1);
	in = tracecmd_open(paths[0], TRACECMD_FL_LOAD_NO_PLUGINS);
	ck_assert_ptr_nonnull(in);
	rec = tracecmd_read_cpu_first(in, 0);
	ck_assert_ptr_nonnull(rec);
	ck_assert_int_eq(rec->size, 8);
	tracecmd_free_record(rec);
	if (_i == 0) {
		rec = tracecmd_read_data(in, 0);
		ck_assert_ptr_nonnull(rec);
		ck_assert_int_eq(rec->size, 2000);
		ck_assert(!memchr(rec->data, 'A', rec->size));
		tracecmd_free_record(rec);
	}
	rec = tracecmd_read_data(in, 0);
	ck_assert_ptr_nonnull(rec);
	ck_assert_int_eq(rec->size, 1500);
	ck_assert(!memchr(rec->data, 'B', rec->size));
	tracecmd_free_record(rec);
	ck_assert_ptr_null(tracecmd_read_data(in, 0));
	tracecmd_close(in);
	replace_collector();
	finish();
}
END_TEST

/* A source that has nothing takes a place of one without records, of any source */
START_TEST(sources_without_records_leave_places)
{
	unsigned int i;
	char text[64];

	begin(false);
	hostile = true;
	for (i = 0; i < 256; i++) {
		from_address(0xc0000200 + i);
		if (i % 32)
			forge_meta(i, 1, 4096);
		else
			forge_session(i);
		now += 10;
	}
	from_address(0xc0000300);
	forge_session(1234);
	check_printed("session 00000000000004d2, on, in");
	check_printed("forgotten: 1 ");
	/* The one that was silent for the longest time */
	from_address(0xc0000202);
	forge_meta(2, 1, 4096);
	check_printed("forgotten: 1 ");
	/* It has one */
	forge_meta(1000, 1, 4096);
	check_printed("ignored: 1 foreign");
	for (i = 0; i < 1000; i++) {
		from_address(0xc0000400 + i);
		now++;
		forge_meta(2000 + i, 1, 4096);
	}
	check_printed("forgotten: 1001 ");
	/* Those with records stay */
	for (i = 0; i < 256; i += 32) {
		snprintf(text, sizeof(text), "session %016x, on, in", i);
		check_printed(text);
	}
	check_printed("session 00000000000004d2, on, in");
	for (i = 0; i < 1000; i++) {
		from_address(0xc0000400 + i);
		now++;
		forge_session(2000 + i);
	}
	/* All have some: nothing is left for another one */
	check_printed("forgotten: 1248 ");
	check_printed("session 00000000000004d2, on, in");
	from_address(0);
	ck_assert(collector_free(collector));
	ck_assert_uint_eq(delete_files(".dat"), 256);
	delete_files(".ledger");
	begin_with(1 << 30);
	finish();
}
END_TEST

/* What is said is text of one line */
START_TEST(notes_are_lines_of_text)
{
	const char *c;

	begin(false);
	hostile = true;
	release = "6.12\n\x1b[31mschedz: rig\x7f\xc2\x9b\xe2\x80\xae\xff";
	forge_meta(1, 1, 4096);
	release = NULL;
	ck_assert(strstr(last_note, "Linux 6.12"));
	for (c = last_note; *c; c++)
		ck_assert(*c >= ' ' && *c < 0x7f);
	finish();
}
END_TEST

/* What all sessions share is in use, but for little */
static void use_up_memory(void)
{
	struct tracecast_meta h = { 1, TRACECAST_META_MAX, 0 };
	uint8_t b[TRACECAST_META_HEADER + 1] = { 0 };
	uint64_t id = 100;
	unsigned int i;

	for (; h.total > 2 << 20; h.total -= 256 << 10) {
		for (i = 0; i < 2; i++) {
			tracecast_put_meta(b, id++, &h);
			arrive(b, sizeof(b));
		}
	}
	ck_assert(strstr(last_note, "out of memory"));
}

/* 65535 records of 128 bytes */
static void forge_dense(uint64_t session, uint64_t seq, uint64_t before)
{
	static struct tracecast_packer p;
	uint8_t record[TRACECAST_PAST_LEN] = { TD_ID_WAKING & 0xff,
					       TD_ID_WAKING >> 8 };
	struct tracecast_data h = {
		.seq = seq, .before = before, .events = 65535, .time = 1
	};
	unsigned int i;

	tracecast_pack_begin(&p, TRACECAST_DATA, forged + TRACECAST_DATA_HEADER,
			     8000, 1);
	for (i = 0; i < h.events; i++)
		ck_assert(tracecast_pack(&p, i, record, sizeof(record)));
	i = tracecast_pack_end(&p);
	tracecast_put_data(forged, TRACECAST_DATA, session, &h);
	arrive(forged, TRACECAST_DATA_HEADER + i);
}

/*
 * Sessions that wait: for the disk; for memory for a file; for memory for records. They
 * do not do all of their work again at each tick.
 */
START_TEST(waiting_takes_little_work)
{
	struct rlimit limit = { 1000, RLIM_INFINITY };
	struct collector_ledger l;
	unsigned int i, allocations;
	clock_t once, begun;

	signal(SIGXFSZ, SIG_IGN);
	begin(false);
	hostile = true;
	forge_meta(1, _i == 1 ? 8192 : 1, 4096);
	forge_beat(1, 0, 1, 0, TRACECAST_GOES_ON);
	if (_i == 0)
		ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	else
		use_up_memory();
	memory_fail_nth = UINT_MAX;
	once = clock();
	if (_i == 2)
		forge_dense(1, 0, 0);
	else
		forge_record(1, 0, 0, 8);
	once = clock() - once;
	ck_assert(strstr(last_note, "the sender has to wait"));
	begun = clock();
	for (i = 0; i < 200; i++)
		collector_tick(collector, now += 20);
	allocations = UINT_MAX - memory_fail_nth;
	memory_fail_nth = 0;
	ck_assert_uint_lt(allocations, 100);
	ck_assert_int_lt(clock() - begun, 50 * once);
	get_ledger(&l);
	ck_assert_uint_eq(l.delivered, 0);
	/* And then goes on */
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (i = 0; i < 200; i++) {
		if (i % 50 == 0)
			forge_beat(1, 0, 1, 0, TRACECAST_GOES_ON);
		collector_tick(collector, now += 20);
	}
	ck_assert(collector_sync(collector));
	get_ledger(&l);
	ck_assert_uint_eq(l.delivered, _i == 2 ? 65535 : 1);
	replace_collector();
	finish();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("receive");
	TCase *f = tcase_create("forged");

	tcase_set_timeout(f, 300);
	tcase_add_checked_fixture(f, reset_sender, NULL);
	tcase_add_test(f, forged_windows_are_bounded);
	tcase_add_test(f, forged_sizes_are_bounded);
	tcase_add_test(f, a_source_leaves_places);
	tcase_add_test(f, forged_sessions_leave_few_files);
	tcase_add_loop_test(f, records_are_not_larger_than_pages, 0, 5);
	tcase_add_loop_test(f, dense_datagrams_have_room, 0,
			    sizeof(dense) / sizeof(*dense));
	tcase_add_test(f, numbers_have_successors);
	tcase_add_test(f, records_in_parts_have_a_task);
	tcase_add_loop_test(f, parts_are_gathered_up_to_a_page, 0, 2);
	tcase_add_loop_test(f, parts_are_of_one_record, 0, 2);
	tcase_add_test(f, sources_without_records_leave_places);
	tcase_add_test(f, notes_are_lines_of_text);
	tcase_add_loop_test(f, waiting_takes_little_work, 0, 3);
	suite_add_tcase(s, f);
	return run_suite(s);
}
