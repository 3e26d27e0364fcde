/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The program ctlchart on traces of which every event is known. It is run as a user
 * would, and its JSON compared with the truth.
 */
#ifndef TESTS_TRACES_H
#define TESTS_TRACES_H

#include <json-c/json.h>

#include "scenario.h"
#include "suite.h"

#define MSEC 1000000ULL
#define SEC 1000000000ULL
#define BLOCK "-e block:block_rq_complete -f "

/* The trace of a test, a directory, the file that it is saved to, what is true of it, and the JSON */
extern struct td td;
extern char directory[DIRECTORY_SIZE], trace[DIRECTORY_SIZE + 16];
extern struct sc_truth truth;
extern struct json_object *result;

/* Files of all kinds, and loads in them */
#define TRACES_LOADS 5
extern const struct traces_load {
	bool big_endian, long4;
	unsigned int page_size;
	struct sc_load load;
	const char *options;
} traces_load[TRACES_LOADS];

void set_up(void);
void tear_down(void);
char *__attribute__((format(printf, 2, 3)))
run(int *status, const char *format, ...);
const char *message(void);
/* Run with --format=json on the trace, which is saved before */
void report(const char *arguments);
struct json_object *member(struct json_object *o, const char *key);
uint64_t uint_at(struct json_object *o, const char *key);
const char *string_at(struct json_object *o, const char *key);
struct json_object *chart(size_t i);
uint64_t account(const char *key);
struct json_object *worst(size_t i);
void check_worst(void);
/* A line is the truth's, or on a log scale at most 2^-21 of itself above */
void check_line(uint64_t line, long double ref, bool linear);
void name_readers(void);
void check_load(const struct sc_load *load);
void queue_bio(uint64_t ms, unsigned int dev, uint64_t sector);
void complete_bio(uint64_t ms, unsigned int dev, uint64_t sector);

#endif
