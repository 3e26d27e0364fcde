// SPDX-License-Identifier: GPL-2.0
/* Values on the command line. See cli.h. */
#include <errno.h>
#include <linux/kernel.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "memory.h"

/* ns: far enough from 2^63 that sums of times have room */
#define TIME_MAX 1000000000000000000ULL

/* Between a number and its unit */
#define BLANKS " \t"

/*
 * Digits of @s with up to @places decimals, as a whole number of the last place's
 * unit; false if @s has no digits or the number does not fit. Further digits are dropped.
 */
static bool parse_decimal(const char *s, char **end, unsigned int places,
			  u64 *value)
{
	unsigned long long n;

	/* strtoull() takes blanks, signs */
	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	n = strtoull(s, end, 10);
	if (errno)
		return false;
	s = *end;
	if (places && *s == '.') {
		if (s[1] < '0' || s[1] > '9')
			return false;
		for (s++; *s >= '0' && *s <= '9'; s++) {
			if (!places)
				continue;
			places--;
			if (__builtin_mul_overflow(n, 10, &n) ||
			    __builtin_add_overflow(n, *s - '0', &n))
				return false;
		}
		*end = (char *)s;
	}
	for (; places; places--) {
		if (__builtin_mul_overflow(n, 10, &n))
			return false;
	}
	*value = n;
	return true;
}

/**
 * parse_number - read a whole number
 * @text: decimal digits and nothing else
 * @value: where to put it
 *
 * Return: false if @text is not a number, or exceeds 64 bits.
 */
bool parse_number(const char *text, u64 *value)
{
	char *end;

	return parse_decimal(text, &end, 0, value) && !*end;
}

/**
 * parse_time - read a time with its unit
 * @text: such as 20ms, 1.5s or, as reports print it, "1.5 s"; units are ns, us, ms,
 *	  s, m, h and d. Fractions of 1 ns are dropped
 * @ns: where to put it
 *
 * Return: false if @text is not a time, or exceeds 31 years.
 */
bool parse_time(const char *text, u64 *ns)
{
	static const struct {
		const char *name;
		unsigned int places;
		unsigned int times;
	} units[] = { { "ns", 0, 1 },	{ "us", 3, 1 }, { "ms", 6, 1 },
		      { "s", 9, 1 },	{ "m", 9, 60 }, { "h", 9, 3600 },
		      { "d", 9, 86400 } };
	const char *unit = text + strspn(text, "0123456789.");
	char *end;
	u64 n;
	size_t i;

	unit += strspn(unit, BLANKS);
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(unit, units[i].name) != 0)
			continue;
		return parse_decimal(text, &end, units[i].places, &n) &&
		       end + strspn(end, BLANKS) == unit &&
		       !__builtin_mul_overflow(n, units[i].times, ns) &&
		       *ns <= TIME_MAX;
	}
	return false;
}

/**
 * parse_seconds - read a time of a trace, as reports print it
 * @text: seconds without a unit, such as 1795855596.123456789. Fractions of 1 ns are dropped
 * @ns: where to put it
 *
 * Return: false if @text is not a number, or exceeds 64 bits.
 */
bool parse_seconds(const char *text, u64 *ns)
{
	char *end;

	return parse_decimal(text, &end, 9, ns) && !*end;
}

/**
 * parse_bytes - read a number of bytes
 * @text: such as 4096, 64k, 256M, 1.5G or "1.5 G": powers of 1024. Fractions of a byte
 *	  are dropped
 * @bytes: where to put it
 *
 * Return: false if @text is not a size, or exceeds 64 bits.
 */
bool parse_bytes(const char *text, u64 *bytes)
{
	static const char units[] = "kKmMgG";
	u64 n, billionths = 0, unit;
	const char *letter;
	char *end;

	if (!parse_decimal(text, &end, 0, &n))
		return false;
	if (!*end) {
		*bytes = n;
		return true;
	}
	/* All digits before the point and 9 after it would not fit: the last one does */
	if (*end == '.' && !parse_decimal(end - 1, &end, 9, &billionths))
		return false;
	billionths %= 1000000000;
	end += strspn(end, BLANKS);
	letter = *end ? strchr(units, *end) : NULL;
	if (!letter || end[1])
		return false;
	unit = 1ULL << 10 * ((letter - units) / 2 + 1);
	return !__builtin_mul_overflow(n, unit, bytes) &&
	       !__builtin_add_overflow(*bytes, unit * billionths / 1000000000,
				       bytes);
}

/**
 * parse_address - split an address from its port
 * @text: ADDR, ADDR:PORT, [ADDR], [ADDR]:PORT or :PORT; with more than one colon and no
 *	  brackets, it is all ADDR, as of IPv6. That ADDR is valid is for getaddrinfo()
 * @min: least port, 0 or 1
 * @a: where to put it
 *
 * Return: NULL, or what is wrong; then there is nothing to free.
 */
const char *parse_address(const char *text, unsigned int min, struct address *a)
{
	const char *error = "must be ADDR:PORT, an IPv6 address in brackets";
	char *host = xstrdup(text), *after = host + strlen(host);
	u64 port;

	if (*host == '[') {
		memmove(host, host + 1, strlen(host));
		after = strchr(host, ']');
		if (!after || after == host || (after[1] && after[1] != ':'))
			goto wrong;
		*after++ = '\0';
	} else if (strchr(host, ':') == strrchr(host, ':')) {
		after = strchrnul(host, ':');
	}
	if (*after == ':')
		*after++ = '\0';
	/* getaddrinfo() takes any number, modulo 65536 */
	error = min ? "the port must be a number from 1 to 65535" :
		      "the port must be a number from 0 to 65535";
	if (*after &&
	    (!parse_number(after, &port) || port < min || port > UINT16_MAX))
		goto wrong;
	a->host = host;
	a->port = after;
	return NULL;
wrong:
	free(host);
	return error;
}

/**
 * cli_number - parse an option's value that is a whole number
 * @state: argp's; another value ends the program
 * @option: the option's name, without "--"
 * @arg: what the user wrote
 * @min: least value
 * @max: largest value, U64_MAX: any
 *
 * Return: the number.
 */
u64 cli_number(const struct argp_state *state, const char *option,
	       const char *arg, u64 min, u64 max)
{
	u64 n;

	if (parse_number(arg, &n) && n >= min && n <= max)
		return n;
	if (max == UINT64_MAX)
		argp_error(state, "--%s=%s: must be %s integer", option, arg,
			   min ? "a positive" : "a non-negative");
	else
		argp_error(state,
			   "--%s=%s: must be an integer from %llu to %llu",
			   option, arg, min, max);
	return 0;
}

/**
 * cli_time - parse an option's value that is a time
 * @state: argp's; another value ends the program
 * @option: the option's name, without "--"
 * @arg: what the user wrote, see parse_time()
 * @min: least value, 0 or 1
 *
 * Return: ns, up to 31 years.
 */
u64 cli_time(const struct argp_state *state, const char *option,
	     const char *arg, u64 min)
{
	u64 ns;

	if (parse_time(arg, &ns) && ns >= min)
		return ns;
	argp_error(
		state,
		"--%s=%s: must be a time with its unit, such as 20ms, 90s or 8h",
		option, arg);
	return 0;
}

/**
 * cli_size - parse an option's value that is a number of bytes
 * @state: argp's; another value ends the program
 * @option: the option's name, without "--"
 * @arg: what the user wrote
 * @min: least value, a number of MiB in bytes
 *
 * Return: bytes, up to INT64_MAX.
 */
u64 cli_size(const struct argp_state *state, const char *option,
	     const char *arg, u64 min)
{
	u64 bytes;

	if (parse_bytes(arg, &bytes) && bytes >= min && bytes <= INT64_MAX)
		return bytes;
	argp_error(state,
		   "--%s=%s: must be a size such as 256M or 1G, from %lluM",
		   option, arg, min >> 20);
	return 0;
}

/**
 * cli_word - parse an option's value that is one of several words
 * @state: argp's; another value ends the program
 * @option: the option's name, without "--"
 * @arg: what the user wrote
 * @words: the valid words
 * @nr: number of them
 *
 * Return: the word's index.
 */
unsigned int cli_word(const struct argp_state *state, const char *option,
		      const char *arg, const char *const *words,
		      unsigned int nr)
{
	char known[256] = "";
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (!strcmp(arg, words[i]))
			return i;
		if (len < sizeof(known))
			len += snprintf(known + len, sizeof(known) - len,
					"%s%s",
					!i	    ? "" :
					i == nr - 1 ? " or " :
						      ", ",
					words[i]);
	}
	argp_error(state, "--%s=%s: must be %s", option, arg, known);
	return 0;
}

/**
 * cli_file - parse an option's value that is the name of a file or directory
 * @state: argp's; an empty name, as of a variable that is not set, ends the program
 * @option: the option's name, without "--"
 * @arg: what the user wrote
 *
 * Return: @arg.
 */
char *cli_file(const struct argp_state *state, const char *option, char *arg)
{
	if (!*arg)
		argp_error(state, "--%s=: the name is empty", option);
	return arg;
}

/**
 * cli_operand - the one operand of a command line
 * @state: argp's; a second operand, or none at the end, ends the program
 * @name: what it is, such as "FILE"
 * @operand: where to put it; initially NULL
 * @arg: the operand, or NULL at the end of the command line
 */
void cli_operand(const struct argp_state *state, const char *name,
		 const char **operand, const char *arg)
{
	if (!arg && !*operand)
		argp_error(state, "missing %s operand", name);
	if (arg && *operand)
		argp_error(state, "extra operand %s: one %s at a time", arg,
			   name);
	if (arg)
		*operand = arg;
}

/**
 * cli_colors - whether a report has colours
 * @output: the file that it is written to, NULL: standard output
 *
 * It has them on terminals that support them, unless NO_COLOR is set (https://no-color.org).
 */
bool cli_colors(const char *output)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return !output && isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
	       term && strcmp(term, "dumb") != 0;
}
