// SPDX-License-Identifier: GPL-2.0
/* Makes pages of the ring buffer. See tracepage.h. */
#include <string.h>

#include "tracepage.h"

#define MISSED_EVENTS 0x80000000u
#define MISSED_STORED 0x40000000u
#define TYPE_TIME_EXTEND 30
#define MAX_DELTA ((1u << 27) - 1)
#define MAX_SMALL (28 * 4)

/**
 * tracepage_number - write a number
 * @big_endian: byte order
 * @to: where to
 * @value: the number
 * @size: bytes of it
 */
void tracepage_number(bool big_endian, uint8_t *to, uint64_t value,
		      unsigned int size)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		to[big_endian ? size - 1 - i : i] = value >> (8 * i);
}

static unsigned int header(const struct tracepage *p)
{
	return 8 + p->long_size;
}

static unsigned int padded(unsigned int len)
{
	return (len + 3) & ~3u;
}

/**
 * tracepage_begin - begin a page
 * @p: page
 * @ts: time of its first event
 */
void tracepage_begin(struct tracepage *p, uint64_t ts)
{
	memset(p->data, 0, p->size);
	tracepage_number(p->big_endian, p->data, ts, 8);
	p->used = header(p);
	p->last = ts;
}

/**
 * tracepage_holds - can a page of its own hold an event?
 * @p: page, in any state
 * @len: bytes of the event
 */
bool tracepage_holds(const struct tracepage *p, unsigned int len)
{
	/* Event word and length word; its time is the page's, and a count may be left out */
	return header(p) + padded(len) + 8 <= p->size;
}

/**
 * tracepage_fits - is there room for an event?
 * @p: page that was begun
 * @ts: its time
 * @len: bytes of it
 * @missed: there must also be room for a count of lost events
 *
 * Return: false also if a page cannot express the time between the last event and this one.
 */
bool tracepage_fits(const struct tracepage *p, uint64_t ts, unsigned int len,
		    bool missed)
{
	return ts >= p->last && ts - p->last < 1ULL << 59 &&
	       p->used + padded(len) + 16 + (missed ? p->long_size : 0) <=
		       p->size;
}

static void put_word(struct tracepage *p, uint32_t type, uint32_t delta)
{
	/* A bit field begins at the low end of the word, or at the high end */
	tracepage_number(p->big_endian, p->data + p->used,
			 p->big_endian ? type << 27 | delta : delta << 5 | type,
			 4);
	p->used += 4;
}

static void put_length(struct tracepage *p, uint32_t value)
{
	tracepage_number(p->big_endian, p->data + p->used, value, 4);
	p->used += 4;
}

/**
 * tracepage_event - add an event
 * @p: page in which it fits
 * @ts: its time
 * @data: its record
 * @len: bytes of it
 */
void tracepage_event(struct tracepage *p, uint64_t ts, const void *data,
		     unsigned int len)
{
	unsigned int room = padded(len);
	uint64_t delta = ts - p->last;

	if (delta > MAX_DELTA) {
		put_word(p, TYPE_TIME_EXTEND, delta & MAX_DELTA);
		put_length(p, delta >> 27);
		delta = 0;
	}
	if (room && room <= MAX_SMALL) {
		put_word(p, room / 4, delta);
	} else {
		put_word(p, 0, delta);
		put_length(p, room + 4);
	}
	memcpy(p->data + p->used, data, len);
	p->used += room;
	p->last = ts;
}

/**
 * tracepage_seal - write how much of the page is in use
 * @p: page; to be called again if more events are added
 * @missed: events were lost before it
 * @nr_missed: number of these, 0 if unknown
 */
void tracepage_seal(struct tracepage *p, bool missed, uint64_t nr_missed)
{
	uint32_t commit = p->used - header(p);

	if (missed) {
		commit |= MISSED_EVENTS;
		if (nr_missed && p->used + p->long_size <= p->size) {
			commit |= MISSED_STORED;
			tracepage_number(p->big_endian, p->data + p->used,
					 nr_missed, p->long_size);
		}
	}
	tracepage_number(p->big_endian, p->data + 8, commit, p->long_size);
}
