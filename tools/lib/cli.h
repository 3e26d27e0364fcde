/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values on the command line: numbers, times, sizes, addresses and words, which all tools read
 * alike and refuse in the same words, with exit status 2.
 */
#ifndef LIB_CLI_H
#define LIB_CLI_H

#include <argp.h>
#include <stdbool.h>
#include <linux/types.h>

bool parse_number(const char *text, u64 *value);
bool parse_time(const char *text, u64 *ns);
bool parse_seconds(const char *text, u64 *ns);
bool parse_bytes(const char *text, u64 *bytes);

/**
 * struct address - where to listen
 * @host:	name or number, without brackets; "" if there is none. For free()
 * @port:	number, in @host's memory; "" if there is none
 */
struct address {
	char *host;
	const char *port;
};

const char *parse_address(const char *text, unsigned int min,
			  struct address *a);

u64 cli_number(const struct argp_state *state, const char *option,
	       const char *arg, u64 min, u64 max);
u64 cli_time(const struct argp_state *state, const char *option,
	     const char *arg, u64 min);
u64 cli_size(const struct argp_state *state, const char *option,
	     const char *arg, u64 min);
unsigned int cli_word(const struct argp_state *state, const char *option,
		      const char *arg, const char *const *words,
		      unsigned int nr);
char *cli_file(const struct argp_state *state, const char *option, char *arg);
void cli_operand(const struct argp_state *state, const char *name,
		 const char **operand, const char *arg);
bool cli_colors(const char *output);

#endif
