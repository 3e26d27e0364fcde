// SPDX-License-Identifier: GPL-2.0
/*
 * libtraceevent plugin: schedz:schedz_block for people.
 *
 *   block 17: 1630 events from 12.345678901 on, 4032 bytes (schedz expand)
 *
 * A record that is not as expected is left to the event's own print format.
 */
#include <stdbool.h>
#include <stdint.h>

#include <event-parse.h>
#include <trace-seq.h>

/* As in codec.h: size of a block's header, and offsets of its fields */
enum { HEADER = 36, AT_CPU = 4, AT_SEQ = 8, AT_EVENTS = 12, AT_TIME = 24 };

#define NSEC_PER_SEC 1000000000ULL

static unsigned long long little(const uint8_t *from, unsigned int size)
{
	unsigned long long v = 0;

	while (size--)
		v = v << 8 | from[size];
	return v;
}

/* The block in a record, NULL if there is none */
static const uint8_t *find_block(struct tep_record *record,
				 struct tep_event *event, unsigned int *len)
{
	struct tep_format_field *f = tep_find_field(event, "block");
	unsigned int size = record->size, loc, at;
	const uint8_t *data = record->data;

	if (!f || record->size < 0 || f->offset < 0 || f->size != 4 ||
	    (unsigned int)f->offset > size || size - f->offset < 4)
		return NULL;
	loc = tep_read_number(event->tep, data + f->offset, 4);
	at = loc & 0xffff;
	*len = loc >> 16;
	if (at > size || *len > size - at || *len < HEADER || data[at] != 'S' ||
	    data[at + 1] != 'Z')
		return NULL;
	return data + at;
}

static int block_handler(struct trace_seq *s, struct tep_record *record,
			 struct tep_event *event, void *context)
{
	unsigned long long time;
	unsigned int len;
	const uint8_t *block = find_block(record, event, &len);

	(void)context;
	if (!block)
		return 1;
	time = little(block + AT_TIME, 8);
	trace_seq_printf(s, "block %llu: %llu events from %llu.%09llu on",
			 little(block + AT_SEQ, 4),
			 little(block + AT_EVENTS, 4), time / NSEC_PER_SEC,
			 time % NSEC_PER_SEC);
	if (little(block + AT_CPU, 2) != (unsigned int)record->cpu)
		trace_seq_printf(s, " of CPU %llu", little(block + AT_CPU, 2));
	trace_seq_printf(s, ", %u bytes (schedz expand)", len);
	return 0;
}

int TEP_PLUGIN_LOADER(struct tep_handle *tep)
{
	tep_register_event_handler(tep, -1, "schedz", "schedz_block",
				   block_handler, NULL);
	return 0;
}

void TEP_PLUGIN_UNLOADER(struct tep_handle *tep)
{
	tep_unregister_event_handler(tep, -1, "schedz", "schedz_block",
				     block_handler, NULL);
}
