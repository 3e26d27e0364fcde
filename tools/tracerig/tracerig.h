/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tracerig: watches a machine, and keeps a case for each abnormal operation.
 */
#ifndef TRACERIG_H
#define TRACERIG_H

#include <stdbool.h>

#define PROGRAM "tracerig"

/* Where cases are kept */
#define CASES_DIR "/var/lib/tracerig"

/* What to do if that cannot be used */
#define CHOOSE_DIR "choose another directory with --dir"

void complain_as(const char *name);
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool complained(char *error);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

int doctor_main(int argc, char **argv);
int watch_main(int argc, char **argv);
int list_main(int argc, char **argv);
int explain_main(int argc, char **argv);
int open_main(int argc, char **argv);
int pack_main(int argc, char **argv);
int verify_main(int argc, char **argv);

#endif
