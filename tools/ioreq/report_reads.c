// SPDX-License-Identifier: GPL-2.0
/* Reports of what programs requested and disks read. */
#include <json-c/json.h>

#include "report.h"
#include "text.h"

static const char *bytes_text(char *buf, u64 n)
{
	return format_bytes(buf, 24, n);
}

static void text_read_sum(FILE *out, const struct model *m,
			  const struct read_sum *e)
{
	char name[4200], asked[24], size[24], disk[24], request[24], ahead[24],
		waste[24];

	object_name(name, sizeof(name), e->object.type, e->object.id,
		    e->object.name);
	if (m->hosts > 1)
		fprintf(out, "%-12s ", m->host[e->host].name);
	fprintf(out, "%-15s %9llu %9s %9s %9llu %9s %9s %10s %9s  %s\n",
		*e->comm ? e->comm : "-", e->asked.nr,
		bytes_text(asked, e->asked.sum), bytes_text(size, e->asked.p50),
		e->disk.nr, bytes_text(disk, e->disk.sum),
		bytes_text(request, e->disk.p50), bytes_text(ahead, e->ahead),
		bytes_text(waste, reads_wasted(e)), name);
}

/**
 * text_reads - print what was read as text
 * @out:	output
 * @m:		model, after model_link()
 * @top:	maximum number of sums
 */
void text_reads(FILE *out, const struct model *m, u64 top)
{
	u64 i;

	if (!m->disks)
		fputs("\nno requests to disks in the trace (record them with: trace-cmd record -e iosys -e block:block_bio_queue)\n",
		      out);
	fputs("\nbytes that programs requested, and that disks read for them\n",
	      out);
	if (m->hosts > 1)
		fprintf(out, "%-12s ", "host");
	fprintf(out, "%-15s %9s %9s %9s %9s %9s %9s %10s %9s  object\n",
		"process", "reads", "requested", "p50", "requests", "from disk",
		"p50", "read ahead", "wasted");
	for (i = 0; i < m->nr_read_sums && i < top; i++)
		text_read_sum(out, m, m->read_sum[i]);
	if (m->nr_read_sums > top)
		fprintf(out, "... %llu more (--top)\n", m->nr_read_sums - top);
}

/* MAJOR:MINOR; the kernel's dev_t has 20 bits of minor number */
static const char *dev_text(char buf[24], u32 dev)
{
	snprintf(buf, 24, "%u:%u", dev >> 20, dev & 0xfffff);
	return buf;
}

/**
 * csv_reads - print what was read as CSV
 * @out:	output
 * @m:		model, after model_link()
 * @top:	maximum number of sums
 */
void csv_reads(FILE *out, const struct model *m, u64 top)
{
	char dev[24];
	u64 i;

	fprintf(out,
		"host,process,type,dev,id,object,reads,asked,asked_p50,asked_p99,requests,disk,disk_p50,disk_p99,ahead,wasted\n");
	for (i = 0; i < m->nr_read_sums && i < top; i++) {
		const struct read_sum *e = m->read_sum[i];

		csv_string(out, m->host[e->host].name);
		fputc(',', out);
		csv_string(out, e->comm);
		fprintf(out, ",%s,%s,%llu,", type_name(e->object.type),
			dev_text(dev, e->object.dev), e->object.id);
		csv_string(out, e->object.name);
		fprintf(out,
			",%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n",
			e->asked.nr, e->asked.sum, e->asked.p50, e->asked.p99,
			e->disk.nr, e->disk.sum, e->disk.p50, e->disk.p99,
			e->ahead, reads_wasted(e));
	}
}

static void json_sizes(struct json_object *o, const char *name,
		       const struct times *t)
{
	struct json_object *sizes = json_object_new_object();

	json_number(sizes, "count", t->nr);
	json_number(sizes, "bytes", t->sum);
	json_number(sizes, "p50", t->p50);
	json_number(sizes, "p99", t->p99);
	json_number(sizes, "max", t->max);
	json_object_object_add(o, name, sizes);
}

/**
 * json_reads - add what was read
 * @o:		object to add to
 * @m:		model, after model_link()
 * @top:	maximum number of sums
 */
void json_reads(struct json_object *o, const struct model *m, u64 top)
{
	struct json_object *list = json_object_new_array();
	char dev[24];
	u64 i;

	for (i = 0; i < m->nr_read_sums && i < top; i++) {
		const struct read_sum *e = m->read_sum[i];
		struct json_object *r = json_object_new_object();

		json_string(r, "host", m->host[e->host].name);
		json_string(r, "process", e->comm);
		json_string(r, "type", type_name(e->object.type));
		json_string(r, "dev", dev_text(dev, e->object.dev));
		json_number(r, "id", e->object.id);
		json_string(r, "object", e->object.name);
		json_sizes(r, "asked", &e->asked);
		json_sizes(r, "disk", &e->disk);
		json_number(r, "ahead", e->ahead);
		json_number(r, "wasted", reads_wasted(e));
		json_object_array_add(list, r);
	}
	json_object_object_add(o, "reads", list);
}
