/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes records of ordinary scheduling events from those of a schedz block.
 */
#ifndef LIB_SCHEDRECORD_H
#define LIB_SCHEDRECORD_H

#include <linux/types.h>

#include "codec.h"

struct tep_handle;

/* Size limit of a record, with the file name of an exec */
#define RECORD_MAX 1536

/**
 * struct layout - layout of an event's record
 * @id: its common_type
 * @size: size of the fields, without a string that follows them
 * @offset: offsets of the fields, by enum source; -1 for none
 * @width: sizes of the fields
 */
struct layout {
	unsigned int id;
	unsigned int size;
	int offset[16];
	unsigned int width[16];
};

/**
 * struct layouts - the scheduling events of a file
 * @big_endian: byte order of records
 * @kind: the layouts
 * @missing: the file has no format of it
 * @format: a format to replace a missing one
 */
struct layouts {
	bool big_endian;
	struct layout kind[SCHEDZ_KINDS];
	bool missing[SCHEDZ_KINDS];
	char *format[SCHEDZ_KINDS];
};

const char *layouts_init(struct layouts *l, struct tep_handle *tep,
			 unsigned int free_id, unsigned int long_size);
void layouts_free(struct layouts *l);
unsigned int record_make(const struct layouts *l, u8 *record,
			 const struct schedz_event *event);

#endif
