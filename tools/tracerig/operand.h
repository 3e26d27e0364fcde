/* SPDX-License-Identifier: GPL-2.0 */
/* The operand CASE and the option --dir, which several commands have. */
#ifndef TRACERIG_OPERAND_H
#define TRACERIG_OPERAND_H

#include <argp.h>
#include <stdbool.h>
#include <linux/types.h>

#define OPERAND_DOC " An operand with a slash is a directory."

/**
 * struct operand - the command line
 * @dir:	directory of the cases
 * @name:	the operand, or NULL
 * @output:	file to write to, or NULL
 */
struct operand {
	const char *dir;
	const char *name;
	const char *output;
};

enum { OPT_DIR = 0x200 };

extern const struct argp_option operand_options[];

error_t operand_parse(int key, char *arg, struct argp_state *state);
char *operand_below(const char *dir);
char *operand_directory(const struct operand *o);
char *operand_output(const struct operand *o, u64 number, const char *suffix);
bool operand_check_output(const struct operand *o, const char *output,
			  const char *dir);

#endif
