// SPDX-License-Identifier: GPL-2.0
/*
 * gen_open EVENTS DIR [MODE]
 *
 * Writes a made-up case of about EVENTS events on four CPUs to DIR, and prints what is true
 * of it, as JSON: time that each CPU ran threads and was in interrupts, what the operation's
 * thread did, the requests of each device. Names of threads and texts are markup.
 *
 *	lost	a CPU loses records for a tenth of the time
 *	blind	there are no switches in the recording
 *	late	the clock is beyond what JavaScript has exactly
 *	renamed	from the middle on the operation's thread has another name, and makes no
 *		requests
 *	many	it is interrupted all the time, and makes requests that are not completed
 *	strangers  the operation's thread waits for a CPU, to which each switch is to a new
 *		thread; all names and texts need escapes
 *	some	the same, but before the operation they are completed at once
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphdat.h"
#include "random.h"

#define CPUS 4
#define THREADS 12
#define DEVICES 2
#define IN_FLIGHT 64
#define FIRST_PID 1000

#define ID_NOTE 903

static const char note[] =
	"name: note\nID: 903\nformat:\n" TD_COMMON
	"\tfield:char text[40];\toffset:8;\tsize:40;\tsigned:0;\n"
	"\nprint fmt: \"%s\", REC->text\n";

/* Each thread has one; the operation's is the first one */
static const char *const comms[THREADS] = {
	"reader",	   "</script><b>", "<img onerror=1>", "<!--<script",
	"\"quoted\\",	   "a&amp;b",	   "${x}`y`",	      "it's",
	"\xff\xfe\x01raw", "\u2028line",   "kworker/0:1",     "hog",
};

enum state { SLEEP, WAIT, RUN, BLOCKED, STATES };

static struct {
	enum state state;
	uint64_t since, spent[STATES];
} thread[THREADS];

static struct {
	int thread; /* -1: idle */
	uint64_t since, busy, hard, soft, in_hard, in_soft;
	uint64_t last;
	int lost;
} cpu[CPUS];

static struct {
	const char *name;
	unsigned int dev;
	struct {
		uint64_t sector, queued;
		int issued;
	} request[IN_FLIGHT];
	int nr, most;
	uint64_t ns; /* sum of all requests' times */
} device[DEVICES] = { { .name = "254:0", .dev = 254 << 20 },
		      { .name = "8:16", .dev = 8 << 20 | 16 } };

static struct gd gd;
static struct td td;
static uint64_t sectors = 1000;
static unsigned long events, notes;
static uint64_t begin;
static const char *mode = "";
static int blind, renamed;

static int pid_of(int t)
{
	return t < 0 ? 0 : FIRST_PID + t;
}

static const char *comm_of(int t)
{
	return t < 0 ? "swapper" : !t && renamed ? "renamed" : comms[t];
}

static void become(int t, enum state state)
{
	thread[t].spent[thread[t].state] += gd.now - thread[t].since;
	thread[t].since = gd.now;
	thread[t].state = state;
}

/* A thread in a state, -1 if there is none */
static int any(enum state a, enum state b)
{
	int i, t = below(THREADS);

	for (i = 0; i < THREADS; i++, t = (t + 1) % THREADS) {
		if (thread[t].state == a || thread[t].state == b)
			return t;
	}
	return -1;
}

static void account(int c, uint64_t until)
{
	if (cpu[c].thread >= 0)
		cpu[c].busy += until - cpu[c].since;
	cpu[c].since = gd.now;
}

static int put_switch(int c)
{
	static const enum state after[] = { WAIT, SLEEP, BLOCKED };
	int old = cpu[c].thread, new = any(WAIT, WAIT), how = below(3);

	if (blind || (new < 0 && old < 0))
		return 0;
	account(c, gd.now);
	gd.prev_comm = comm_of(old);
	gd.next_comm = comm_of(new);
	gd_switch(&gd, pid_of(old), old < 0 ? 0 : how, pid_of(new));
	if (old >= 0)
		become(old, after[how]);
	if (new >= 0)
		become(new, RUN);
	cpu[c].thread = new;
	return 1;
}

static int put_waking(void)
{
	int t = any(SLEEP, BLOCKED);

	if (t < 0)
		return 0;
	gd_waking(&gd, pid_of(t));
	become(t, WAIT);
	return 1;
}

static int put_interrupt(int c, int soft)
{
	uint64_t *in = soft ? &cpu[c].in_soft : &cpu[c].in_hard;

	if (soft)
		gd_softirq(&gd, 3, !*in);
	else
		gd_irq(&gd, "<nic>", !*in);
	if (*in)
		*(soft ? &cpu[c].soft : &cpu[c].hard) += gd.now - *in;
	*in = *in ? 0 : gd.now;
	return 1;
}

static void put_block(enum gd_block what, int d, uint64_t sector, int c)
{
	gd_block(&gd, what, device[d].dev, sector, 8, comm_of(cpu[c].thread));
}

static int put_request(int c)
{
	int d = below(DEVICES), nr = device[d].nr, k, new = below(2);

	if (renamed && !cpu[c].thread)
		return 0;
	if (new &&nr < IN_FLIGHT) {
		device[d].request[nr].sector = sectors += 16;
		device[d].request[nr].queued = gd.now;
		device[d].request[nr].issued = 0;
		device[d].nr++;
		if (device[d].nr > device[d].most)
			device[d].most = device[d].nr;
		put_block(GD_BIO_QUEUE, d, sectors, c);
		return 1;
	}
	if (!nr)
		return 0;
	k = below(nr);
	put_block(device[d].request[k].issued ? GD_RQ_COMPLETE : GD_RQ_ISSUE, d,
		  device[d].request[k].sector, c);
	if (device[d].request[k].issued++) {
		device[d].ns += gd.now - device[d].request[k].queued;
		device[d].request[k] = device[d].request[--device[d].nr];
	}
	return 1;
}

static void put_note(int c)
{
	struct td_record r;
	char text[40];

	snprintf(text, sizeof(text), below(2) ? "</script><i>%u" : "note %u",
		 (unsigned int)below(100000));
	td_begin(&r, &td, ID_NOTE, gd.pid, 48);
	td_put_bytes(&r, 8, text, 40);
	td_write(&td, 0, c, gd.now, &r);
	notes++;
}

/* The CPU has lost its records since its last event; another thread runs there */
static void lose(int c)
{
	int old = cpu[c].thread, new = any(WAIT, WAIT);

	account(c, cpu[c].last);
	if (new > 0) {
		become(old, SLEEP);
		become(new, RUN);
		cpu[c].thread = new;
	}
	td_lose_some(&td, 0, c, 5);
	cpu[c].lost = 0;
}

static void put_event(int c)
{
	int done = 0;

	if (cpu[c].lost)
		lose(c);
	gd.cpu = c;
	gd.pid = pid_of(cpu[c].thread);
	cpu[c].last = gd.now;
	events++;
	switch (below(10)) {
	case 0:
	case 1:
		done = put_switch(c);
		break;
	case 2:
	case 3:
		done = put_waking();
		break;
	case 4:
		done = put_interrupt(c, 0);
		break;
	case 5:
		done = put_interrupt(c, 1);
		break;
	case 6:
	case 7:
	case 8:
		done = put_request(c);
		break;
	}
	if (!done)
		put_note(c);
}

static void put_many(bool at_once)
{
	gd.cpu = 0;
	gd.pid = pid_of(cpu[0].thread);
	events++;
	if (cpu[0].thread < 0) {
		become(0, WAIT);
		put_switch(0);
	} else if (below(2)) {
		put_block(GD_BIO_QUEUE, 0, sectors += 16, 0);
		if (at_once) {
			put_block(GD_RQ_COMPLETE, 0, sectors, 0);
			events++;
		}
	} else {
		put_interrupt(0, 0);
	}
}

/* One after the other on CPU 0, all of them with other names than in the truth */
static void put_stranger(void)
{
	static char comm[2][16];
	static int last;
	struct td_record r;
	char text[40];

	gd.cpu = 0;
	gd.pid = last;
	events++;
	if (events == 1) {
		gd_waking(&gd, FIRST_PID);
		return;
	}
	if (below(3)) {
		memcpy(comm[0], comm[1], sizeof(comm[0]));
		snprintf(comm[1], sizeof(comm[1]), "%03lu<<<<<<<<<<<<",
			 events % 1000);
		gd.prev_comm = last ? comm[0] : "swapper";
		gd.next_comm = comm[1];
		gd_switch(&gd, last, 0, 100000 + events);
		last = 100000 + events;
		return;
	}
	memset(text, '<', sizeof(text));
	snprintf(text, sizeof(text), "%lu", events);
	text[strlen(text)] = '<';
	td_begin(&r, &td, ID_NOTE, gd.pid, 48);
	td_put_bytes(&r, 8, text, 40);
	td_write(&td, 0, 0, gd.now, &r);
	notes++;
}

/* ---- files ---- */

static void write_json(const char *dir, uint64_t start, uint64_t end)
{
	FILE *f = gd_create(dir, "case.json");
	int i;

	fprintf(f,
		"{\"format\":\"tracerig-case\",\"version\":1,\"program\":\"gen_open\",\"case\":7,"
		"\"time\":\"2026-01-02T03:04:05.000000Z\",\"group\":\"g\",\"nth\":1,"
		"\"host\":{\"name\":\"</script><u>\",\"release\":\"6\",\"version\":\"v\",\"machine\":\"m\",\"cpus\":4,\"cmdline\":\"<q>\",\"boot_id\":\"\"},"
		"\"chart\":{\"name\":\"c\",\"event\":\"sys_exit_read\",\"filter\":\"a < b\",\"unit\":\"ns\"},"
		"\"alarm\":{\"time\":%llu,\"cpu\":0,\"chart\":\"c\",\"start\":%llu,\"value\":%llu,\"center\":%llu,\"limit\":%llu,"
		"\"judged\":1000,\"rules\":1,\"pid\":%d,\"comm\":\"reader\",\"keys\":\"common_pid=%d\",\"kept\":true},"
		"\"nr_alarms\":0,\"alarms\":[],\"values\":[",
		(unsigned long long)end, (unsigned long long)start,
		(unsigned long long)(end - start),
		(unsigned long long)(end - start) / 20,
		(unsigned long long)(end - start) / 10, FIRST_PID, FIRST_PID);
	for (i = 0; i < 40; i++)
		fprintf(f, "%s{\"time\":%llu,\"value\":%llu}", i ? "," : "",
			(unsigned long long)start - 1000 * (40 - i),
			(unsigned long long)(end - start) / (20 + i % 7));
	fprintf(f,
		"],\"window\":{\"clock\":\"mono\",\"begin\":%llu,\"end\":%llu,\"cpus\":[]},"
		"\"losses\":{\"gaps\":0,\"lost\":0,\"dropped\":0,\"overwritten\":0},\"missing\":[\"throttle.txt\"],\"files\":[]}\n",
		(unsigned long long)begin, (unsigned long long)gd.now);
	gd_close(f);
}

static void print_truth(void)
{
	int i, k;

	printf("{\"events\":%lu,\"notes\":%lu,\"cpus\":[", events, notes);
	for (i = 0; i < CPUS; i++)
		printf("%s[%d,%llu,%llu,%llu]", i ? "," : "", i,
		       (unsigned long long)cpu[i].busy,
		       (unsigned long long)cpu[i].hard,
		       (unsigned long long)cpu[i].soft);
	printf("],\"main\":{\"sleep\":%llu,\"wait\":%llu,\"run\":%llu,\"blocked\":%llu},\"devices\":[",
	       (unsigned long long)thread[0].spent[SLEEP],
	       (unsigned long long)thread[0].spent[WAIT],
	       (unsigned long long)thread[0].spent[RUN],
	       (unsigned long long)thread[0].spent[BLOCKED]);
	for (i = 0; i < DEVICES; i++) {
		for (k = 0; k < device[i].nr; k++)
			device[i].ns += gd.now - device[i].request[k].queued;
		printf("%s[\"%s\",%d,%llu]", i ? "," : "", device[i].name,
		       device[i].most, (unsigned long long)device[i].ns);
	}
	printf("]}\n");
}

int main(int argc, char **argv)
{
	static const char *const names[] = { NULL };
	struct td_layout layout = { .page_size = 4096, .clock = "mono" };
	unsigned long want, start_at, end_at;
	uint64_t start = 0, end = 0;
	char path[4096];
	int c;

	if (argc < 3)
		return 2;
	want = strtoul(argv[1], NULL, 10);
	if (argc > 3)
		mode = argv[3];
	blind = !strcmp(mode, "blind");
	start_at = want * 4 / 10;
	end_at = want * 7 / 10;
	td_init(&td, &layout, CPUS);
	gd_init(&gd, &td, names, 1);
	if (!strcmp(mode, "late"))
		gd.now += 1ull << 60;
	begin = gd.now;
	gd_add_blocks(&td);
	td_add_event(&td, "test", note);
	for (c = 0; c < CPUS; c++)
		cpu[c].thread = -1;
	for (c = 0; c < THREADS; c++)
		thread[c].since = gd.now;
	for (c = 0; c < CPUS; c++)
		cpu[c].since = gd.now;
	for (c = 0; events < want; c = below(CPUS)) {
		if (!strcmp(mode, "lost") && c == 2 && events > want / 5 &&
		    events < want * 3 / 10 && !cpu[c].in_hard &&
		    !cpu[c].in_soft && (cpu[c].lost || cpu[c].thread > 0)) {
			cpu[c].lost = 1;
			gd.now += 500;
			continue;
		}
		renamed = !strcmp(mode, "renamed") && events > want / 2;
		if (!strcmp(mode, "many") || !strcmp(mode, "some"))
			put_many(!strcmp(mode, "some") && !start);
		else if (!strcmp(mode, "strangers"))
			put_stranger();
		else
			put_event(c);
		if (!start && events >= start_at)
			start = gd.now + 1;
		if (!end && events >= end_at)
			end = gd.now + 1;
		gd.now += 1 + below(3000);
	}
	/* The recording ends with an event */
	c = 0;
	gd.cpu = c;
	gd.pid = pid_of(cpu[c].thread);
	put_note(c);
	events++;
	for (c = 0; c < CPUS; c++)
		account(c, gd.now);
	for (c = 0; c < THREADS; c++)
		become(c, thread[c].state);
	snprintf(path, sizeof(path), "%s/trace.dat", argv[2]);
	if (!td_finish(&td, path))
		return 1;
	write_json(argv[2], start, end);
	print_truth();
	return 0;
}
