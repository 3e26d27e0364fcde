// SPDX-License-Identifier: GPL-2.0
/*
 * gen_datagrams COUNT SEED
 *
 * Writes COUNT lines. Each has the payload of a datagram of tracecast in hexadecimal, the
 * time in its header, its kind, DATA and QUICK in turn, and its contents: TIME:BYTES for
 * a record, PID=BYTES for a name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "wire.h"

#define EVENTS 20
#define LEN_MAX 300

static uint8_t last[EVENTS][LEN_MAX];
static uint32_t shared;

static void put_hex(const uint8_t *bytes, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		printf("%02x", bytes[i]);
}

/* The time, or nearly, and another number that keeps its distance from it */
static void make_wide(uint8_t *r, size_t len, uint64_t time)
{
	uint64_t number = 12345678 * (uint64_t)r[0] + time + rnd() % 2000;

	if (len < 32)
		return;
	memcpy(r + 16, &number, 8);
	number += rnd() % 8 ? 50000 : rnd();
	memcpy(r + 24, &number, 8);
}

/* Numbers that belong together, as a task's pid and its name do */
static void make_known(uint8_t *r, size_t len)
{
	uint32_t known = rnd() % 5, word[2] = { 99999 * known, ~77777 * known };

	if (len >= 28)
		memcpy(r + 20, word, 8);
}

/* An event whose fields count up, hold numbers of others, or are any bytes */
static size_t make_record(uint8_t *r, uint64_t time)
{
	unsigned int event = rnd() % 3 ? rnd() % 4 : rnd() % EVENTS;
	size_t len = 8 + event * (event % 2 ? 7 : 14) % 60, at;
	uint32_t word;

	if (rnd() % 50 == 0)
		len = rnd() % LEN_MAX;
	memcpy(r, last[event], LEN_MAX);
	r[0] = event;
	r[1] = 1;
	r[4] = rnd() % 10 ? r[4] : rnd();
	for (at = 8; at + 4 <= len; at += 4) {
		memcpy(&word, r + at, 4);
		if (at % 16 == 8)
			word += rnd() % 3;
		else if (rnd() % 4 == 0)
			word = rnd() % 2 ? shared : (shared = rnd());
		memcpy(r + at, &word, 4);
	}
	if (event % 2)
		make_wide(r, len, time);
	else
		make_known(r, len);
	memcpy(last[event], r, LEN_MAX);
	return len;
}

static void make_datagram(bool quick)
{
	static struct tracecast_packer p;
	static char put[1 << 20];
	uint8_t data[1424], r[LEN_MAX];
	uint64_t time = (uint64_t)rnd() << 20, base = time;
	char *at = put;
	size_t i, len;

	tracecast_pack_begin(&p, quick ? TRACECAST_QUICK : TRACECAST_DATA, data,
			     20 + rnd() % 1400, base);
	*put = '\0';
	for (;;) {
		time += rnd() % 20 ? rnd() % 5000 : (uint64_t)rnd() - 100000;
		len = make_record(r, time);
		if (!tracecast_pack(&p, time, r, len))
			break;
		at += sprintf(at, " %llu:", (unsigned long long)time);
		for (i = 0; i < len; i++)
			at += sprintf(at, "%02x", r[i]);
		if (rnd() % 30 == 0 &&
		    tracecast_pack_name(&p, rnd(), "a name of some!"))
			break;
	}
	put_hex(data, tracecast_pack_end(&p));
	printf(" %llu %s%s\n", (unsigned long long)base,
	       quick ? "QUICK" : "DATA", put);
}

int main(int argc, char **argv)
{
	int i, count = argc > 1 ? atoi(argv[1]) : 10;

	seed = argc > 2 ? atoi(argv[2]) : 1;
	for (i = 0; i < count; i++)
		make_datagram(i % 2);
	return 0;
}
