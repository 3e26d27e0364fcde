/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes pages of the ring buffer, as they are in a trace.dat, of any machine.
 */
#ifndef LIB_TRACEPAGE_H
#define LIB_TRACEPAGE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct tracepage - a page
 * @big_endian: byte order of the machine
 * @long_size: bytes of a long there
 * @size: bytes of the page
 * @data: these
 * @used: bytes of it in use, 0 before tracepage_begin()
 * @last: time of the last event
 */
struct tracepage {
	bool big_endian;
	unsigned int long_size;
	unsigned int size;
	uint8_t *data;
	unsigned int used;
	uint64_t last;
};

void tracepage_number(bool big_endian, uint8_t *to, uint64_t value,
		      unsigned int size);
void tracepage_begin(struct tracepage *p, uint64_t ts);
bool tracepage_fits(const struct tracepage *p, uint64_t ts, unsigned int len,
		    bool missed);
bool tracepage_holds(const struct tracepage *p, unsigned int len);
void tracepage_event(struct tracepage *p, uint64_t ts, const void *data,
		     unsigned int len);
void tracepage_seal(struct tracepage *p, bool missed, uint64_t nr_missed);

#endif
