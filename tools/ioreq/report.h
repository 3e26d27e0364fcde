/* SPDX-License-Identifier: GPL-2.0 */
/* Reports of the model. */
#ifndef IOREQ_REPORT_H
#define IOREQ_REPORT_H

#include <stdio.h>

#include "link.h"
#include "read.h"

#define PROGRAM "ioreq"

struct json_object;

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_CHROME,
	FORMAT_OTLP,
	FORMAT_FOLDED,
	FORMAT_HTML,
	FORMATS
};

/**
 * enum subject - what to print
 * @SUBJECT_ALL:	the summary of calls and of requests
 * @SUBJECT_REQUESTS:	only the summary of requests
 * @SUBJECT_CLOCKS:	only the clocks of the hosts
 * @SUBJECT_PATHS:	only the paths of requests and their critical paths
 * @SUBJECT_READS:	only what was read, and what disks read for it
 * @SUBJECT_STACKS:	only the call stacks
 */
enum subject {
	SUBJECT_ALL,
	SUBJECT_REQUESTS,
	SUBJECT_CLOCKS,
	SUBJECT_PATHS,
	SUBJECT_READS,
	SUBJECT_STACKS
};

const char *type_name(u8 type);
void object_name(char *buf, size_t size, u8 type, u64 id, const char *name);
extern const char *const step_names[WAITS];
extern const char *const step_texts[WAITS];
const char *host_name(const struct model *m, const struct endpoint *p);
const char *endpoint_text(char *buf, size_t size, const struct model *m,
			  const struct endpoint *p);
const char *server_text(char *buf, size_t size, const struct model *m,
			const struct endpoint *p);
void text_guessed(FILE *out, u64 connections);
void text_contradicted(FILE *out, u64 requests);
struct json_object *model_json(const struct model *m, u64 top);
void ioreq_report(FILE *out, const struct model *m, enum format format,
		  enum subject subject, u64 top);
void text_clocks(FILE *out, const struct model *m);
void csv_clocks(FILE *out, const struct model *m);
struct json_object *json_clock(const struct model *m, u32 host);
void text_paths(FILE *out, const struct model *m, const struct paths *p,
		u64 top);
void csv_paths(FILE *out, const struct model *m, const struct paths *p,
	       u64 top);
void json_paths(struct json_object *o, const struct model *m,
		const struct paths *p, u64 top);
void text_stacks(FILE *out, const struct model *m, u64 top);
void csv_stacks(FILE *out, const struct model *m, u64 top);
void json_stacks(struct json_object *o, const struct model *m, u64 top);
void csv_sum_key(FILE *out, const struct model *m, const struct sum *sum);
void json_sum_key(struct json_object *o, const struct model *m,
		  const struct sum *sum);
void ioreq_write_chrome(FILE *out, const struct model *m, u64 top);
void ioreq_write_otlp(FILE *out, const struct model *m, u64 top);
void ioreq_write_folded(FILE *out, const struct model *m, u64 top);
void ioreq_write_html(FILE *out, const struct model *m, u64 top);
void select_requests(const struct model *m, struct request *r, u64 nr, u64 top);
void text_reads(FILE *out, const struct model *m, u64 top);
void csv_reads(FILE *out, const struct model *m, u64 top);
void json_reads(struct json_object *o, const struct model *m, u64 top);

#endif
