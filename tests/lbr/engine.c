// SPDX-License-Identifier: GPL-2.0
/*
 * usage: engine ORDERS
 *
 * A matching engine of ten functions: orders come as text, are checked, matched by price
 * and time against a book of PRICES levels, and reported. Durations depend on the data.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

#define PRICES 512
#define QUEUE 64
#define ACCOUNTS 1024

struct order {
	uint32_t id, account, price, size;
	int buy;
};

struct level {
	struct order order[QUEUE];
	uint32_t first, nr;
	uint64_t size;
};

static struct level book[2][PRICES];
static int64_t position[ACCOUNTS];
static uint64_t checksum, trades, rejected;
static uint64_t seed = 20261122;

static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* What a client sends */
NOINLINE void receive(char *text, size_t size, uint32_t id)
{
	uint64_t r = draw();
	/* Around the middle, and now and then far off */
	uint32_t price =
		PRICES / 2 + (r >> 8) % 40 - 20 + (r >> 24) % 97 / 96 * 100;

	snprintf(text, size, "%u,%u,%u,%u,%c", id,
		 (uint32_t)(r >> 32) % ACCOUNTS, price,
		 (uint32_t)(r >> 48) % 900 + 1, r & 1 ? 'B' : 'S');
}

NOINLINE uint32_t number(const char **text)
{
	uint32_t n = 0;

	while (**text >= '0' && **text <= '9')
		n = n * 10 + *(*text)++ - '0';
	if (**text)
		(*text)++;
	return n;
}

NOINLINE void decode(const char *text, struct order *o)
{
	o->id = number(&text);
	o->account = number(&text);
	o->price = number(&text);
	o->size = number(&text);
	o->buy = *text == 'B';
}

NOINLINE int check(const struct order *o)
{
	int64_t p = position[o->account];

	return o->size && o->price < PRICES && p < 1000000 && p > -1000000;
}

/* The best level of the other side that @o meets, or -1 */
NOINLINE int best(const struct order *o)
{
	int p;

	if (o->buy) {
		for (p = 0; p <= (int)o->price; p++) {
			if (book[0][p].nr)
				return p;
		}
	} else {
		for (p = PRICES - 1; p >= (int)o->price; p--) {
			if (book[1][p].nr)
				return p;
		}
	}
	return -1;
}

NOINLINE void report(const struct order *o, uint32_t price, uint32_t size)
{
	char text[64];
	int i, n = snprintf(text, sizeof(text), "8=FIX|11=%u|31=%u|32=%u",
			    o->id, price, size);

	for (i = 0; i < n; i++)
		checksum = checksum * 31 + text[i];
}

NOINLINE void settle(struct order *o, struct level *l, uint32_t price)
{
	struct order *other = &l->order[l->first];
	uint32_t size = o->size < other->size ? o->size : other->size;

	position[o->account] += o->buy ? size : -(int64_t)size;
	position[other->account] -= o->buy ? size : -(int64_t)size;
	o->size -= size;
	other->size -= size;
	l->size -= size;
	trades++;
	report(o, price, size);
	report(other, price, size);
	if (!other->size) {
		l->first = (l->first + 1) % QUEUE;
		l->nr--;
	}
}

NOINLINE void rest(const struct order *o)
{
	struct level *l = &book[o->buy][o->price];

	if (l->nr == QUEUE) {
		rejected++;
		return;
	}
	l->order[(l->first + l->nr++) % QUEUE] = *o;
	l->size += o->size;
}

/* The market data that others see */
NOINLINE void publish(void)
{
	uint64_t sum = 0;
	int i;

	for (i = PRICES / 2 - 40; i < PRICES / 2 + 40; i++)
		sum = sum * 33 + book[0][i].size - book[1][i].size;
	checksum ^= sum;
}

NOINLINE void match(struct order *o)
{
	int p;

	while (o->size && (p = best(o)) >= 0)
		settle(o, &book[!o->buy][p], p);
	if (o->size)
		rest(o);
}

int main(int argc, char **argv)
{
	long i, orders = argc == 2 ? atol(argv[1]) : 0;
	struct order o;
	char text[64];

	if (orders < 1) {
		fprintf(stderr, "usage: engine ORDERS\n");
		return 2;
	}
	for (i = 0; i < orders; i++) {
		receive(text, sizeof(text), i);
		decode(text, &o);
		if (check(&o))
			match(&o);
		else
			rejected++;
		if (i % 8 == 0)
			publish();
	}
	printf("%llu trades, %llu rejected, %llx\n", (unsigned long long)trades,
	       (unsigned long long)rejected, (unsigned long long)checksum);
	return 0;
}
