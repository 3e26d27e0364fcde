// SPDX-License-Identifier: GPL-2.0
/*
 * Values on the command line: what is a number, a time, a size, an address, and what is refused,
 * in which words.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/kernel.h>

#include "cli.h"
#include "suite.h"

#define HOUR 3600000000000ULL

static const struct {
	const char *text;
	u64 ns;
} times[] = {
	{ "1ns", 1 },
	{ "7us", 7000 },
	{ "10ms", 10000000 },
	{ "1.5s", 1500000000 },
	{ "1.5 s", 1500000000 },
	{ "23.4 ms", 23400000 },
	{ "23.4\tms", 23400000 },
	{ "0.000000001s", 1 },
	{ "0.0000000019s", 1 },
	{ "4.123456789s", 4123456789 },
	{ "9007199.254740993s", 9007199254740993 }, /* no double is */
	{ "2m", HOUR / 30 },
	{ "1.5h", 3 * HOUR / 2 },
	{ "7d", 7 * 24 * HOUR },
	{ "0s", 0 },
	{ "007ms", 7000000 },
	{ "1000000000s", 1000000000000000000 },
};

static const char *const no_times[] = {
	"",
	"7",
	"ms",
	".5s",
	"1.s",
	"-1ms",
	"+1ms",
	" 1ms",
	"1ms ",
	"1e3s",
	"0x1s",
	"1.5.5s",
	"1.5ns",
	"1 . 5s",
	"1mss",
	"1MS",
	"nan",
	"infs",
	"1000000000.000000001s",
	"18446744073709551616ns",
	"18446744073710s",
	"99999999999999999s",
	"300000h",
	"12000d",
	"9999999999999999999999h",
};

START_TEST(time_is_read)
{
	u64 ns;

	ck_assert_msg(parse_time(times[_i].text, &ns), "%s", times[_i].text);
	ck_assert_msg(ns == times[_i].ns, "%s: %llu", times[_i].text, ns);
}
END_TEST

START_TEST(time_is_refused)
{
	u64 ns;

	ck_assert_msg(!parse_time(no_times[_i], &ns), "%s", no_times[_i]);
}
END_TEST

/* Times of a trace may be of the time of day */
START_TEST(seconds)
{
	u64 n;

	ck_assert(parse_seconds("1795855596.123456789", &n));
	ck_assert_uint_eq(n, 1795855596123456789ull);
	ck_assert(parse_seconds("12.5000000019", &n) && n == 12500000001ull);
	ck_assert(parse_seconds("0", &n) && n == 0);
	ck_assert(!parse_seconds("", &n));
	ck_assert(!parse_seconds("1.", &n));
	ck_assert(!parse_seconds("1s", &n));
	ck_assert(!parse_seconds("-1", &n));
	ck_assert(!parse_seconds("20000000000", &n));
}
END_TEST

START_TEST(address)
{
	static const struct {
		const char *text;
		const char *host;
		const char *port;
	} good[] = {
		{ "127.0.0.1", "127.0.0.1", "" },
		{ "127.0.0.1:6676", "127.0.0.1", "6676" },
		{ "localhost:65535", "localhost", "65535" },
		{ "localhost:", "localhost", "" },
		{ ":1", "", "1" },
		{ "::1", "::1", "" },
		{ "fe80::1:9100", "fe80::1:9100", "" },
		{ "[::1]", "::1", "" },
		{ "[::1]:", "::1", "" },
		{ "[::1]:9100", "::1", "9100" },
		{ "[127.0.0.1]:9100", "127.0.0.1", "9100" },
	};
	static const char *const brackets[] = { "[",	 "[]",	   "[]:80",
						"[::1",	 "[::1]x", "[::1]80",
						"[::1]]" };
	static const char *const ports[] = {
		"a:65536", "a:99999", "a:-1",	  "a:+1",
		"a:1x",	   "a: 1",    "[::1]:1x", "[::1]:99999999999999999999",
		"[::1]::1"
	};
	struct address a;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		ck_assert_ptr_null(parse_address(good[i].text, 1, &a));
		ck_assert_str_eq(a.host, good[i].host);
		ck_assert_str_eq(a.port, good[i].port);
		free(a.host);
	}
	for (i = 0; i < ARRAY_SIZE(brackets); i++)
		ck_assert_str_eq(
			parse_address(brackets[i], 1, &a),
			"must be ADDR:PORT, an IPv6 address in brackets");
	for (i = 0; i < ARRAY_SIZE(ports); i++)
		ck_assert_str_eq(parse_address(ports[i], 0, &a),
				 "the port must be a number from 0 to 65535");
	ck_assert_str_eq(parse_address("a:0", 1, &a),
			 "the port must be a number from 1 to 65535");
	ck_assert_ptr_null(parse_address("a:0", 0, &a));
	free(a.host);
}
END_TEST

START_TEST(size)
{
	static const char *const none[] = {
		"",	  "k",	    "1T",   "1kk",	   "-1",  " 1",
		"1.5",	  "1.5 ",   "1 ",   ".5G",	   "1.G", "1.5.5G",
		"1 . 5G", "1.5 GG", "1e3k", "17179869184G"
	};
	u64 n;
	size_t i;

	ck_assert(parse_bytes("4096", &n) && n == 4096);
	ck_assert(parse_bytes("64k", &n) && n == 65536);
	ck_assert(parse_bytes("256M", &n) && n == 268435456);
	ck_assert(parse_bytes("1g", &n) && n == 1073741824);
	ck_assert(parse_bytes("1.5G", &n) && n == 1610612736);
	ck_assert(parse_bytes("1.5 G", &n) && n == 1610612736);
	ck_assert(parse_bytes("20.25\tk", &n) && n == 20736);
	ck_assert(parse_bytes("64 K", &n) && n == 65536);
	/* 322122547.2 and 1073741822.93 bytes */
	ck_assert(parse_bytes("0.3G", &n) && n == 322122547);
	ck_assert(parse_bytes("0.9999999990001G", &n) && n == 1073741822);
	ck_assert(parse_bytes("17179869183.999999999G", &n) &&
		  n == 18446744073709551614ULL);
	ck_assert(parse_bytes("17179869183G", &n) &&
		  n == 18446744072635809792ULL);
	for (i = 0; i < ARRAY_SIZE(none); i++)
		ck_assert_msg(!parse_bytes(none[i], &n), "%s", none[i]);
}
END_TEST

START_TEST(number)
{
	static const char *const none[] = {
		"",    "x",  "1x",
		"-1",  "+1", "1.5",
		"0x1", " 1", "18446744073709551616"
	};
	u64 n;
	size_t i;

	ck_assert(parse_number("0", &n) && !n);
	ck_assert(parse_number("18446744073709551615", &n) && n == UINT64_MAX);
	for (i = 0; i < ARRAY_SIZE(none); i++)
		ck_assert_msg(!parse_number(none[i], &n), "%s", none[i]);
}
END_TEST

static const struct argp_option options[] = {
	{ "number", 'n', "N", 0, NULL, 0 },
	{ "range", 'r', "N", 0, NULL, 0 },
	{ "time", 't', "TIME", 0, NULL, 0 },
	{ "rotate", 's', "SIZE", 0, NULL, 0 },
	{ "format", 'f', "FORMAT", 0, NULL, 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = { "text", "csv", "json" };
	const char **file = state->input;

	switch (key) {
	case 'n':
		return cli_number(state, "number", arg, 1, UINT64_MAX) != 5;
	case 'r':
		return cli_number(state, "range", arg, 2, 10) != 5;
	case 't':
		return cli_time(state, "time", arg, 1) != 1500000000;
	case 's':
		return cli_size(state, "rotate", arg, 1 << 20) != 2 << 20;
	case 'f':
		return cli_word(state, "format", arg, formats, 3) != 2;
	case ARGP_KEY_ARG:
	case ARGP_KEY_END:
		cli_operand(state, "FILE", file, arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct {
	char *argument;
	const char *message; /* NULL: it is right */
} lines[] = {
	{ "--number=5", NULL },
	{ "--range=5", NULL },
	{ "--time=1.5s", NULL },
	{ "--rotate=2M", NULL },
	{ "--rotate=0.001953125 G", NULL },
	{ "--format=json", NULL },
	{ "--number=0", "tool: --number=0: must be a positive integer\n" },
	{ "--range=11", "tool: --range=11: must be an integer from 2 to 10\n" },
	{ "--time=20", "tool: --time=20: must be a time with its unit, "
		       "such as 20ms, 90s or 8h\n" },
	{ "--time=0s", "tool: --time=0s: must be a time with its unit, "
		       "such as 20ms, 90s or 8h\n" },
	{ "--rotate=1k", "tool: --rotate=1k: must be a size such as 256M or "
			 "1G, from 1M\n" },
	{ "--format=xml", "tool: --format=xml: must be text, csv or json\n" },
	{ "more", "tool: extra operand more: one FILE at a time\n" },
	{ NULL, "tool: missing FILE operand\n" },
};

/* In a child process, because argp_error() ends it */
START_TEST(command_line)
{
	static const struct argp argp = { .options = options, .parser = parse };
	char *argv[] = { "tool", "file", lines[_i].argument, NULL };
	const char *file = NULL, *want = lines[_i].message;
	char text[1024] = "";
	size_t len = 0;
	int pipes[2], status;
	ssize_t n;
	pid_t pid;

	if (!lines[_i].argument)
		argv[1] = NULL;
	ck_assert_int_eq(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		dup2(pipes[1], STDERR_FILENO);
		program_invocation_name = "tool";
		argp_err_exit_status = 2;
		_exit(argp_parse(&argp, 1 + !!argv[1] + !!argv[2], argv, 0,
				 NULL, &file) ||
		      strcmp(file, "file") != 0);
	}
	close(pipes[1]);
	while ((n = read(pipes[0], text + len, sizeof(text) - 1 - len)) > 0)
		len += n;
	close(pipes[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, want ? W_EXITCODE(2, 0) : 0);
	ck_assert_msg(want ? !strncmp(text, want, strlen(want)) : !len, "%s",
		      text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cli");
	TCase *tc = tcase_create("cli");

	tcase_add_loop_test(tc, time_is_read, 0, ARRAY_SIZE(times));
	tcase_add_loop_test(tc, time_is_refused, 0, ARRAY_SIZE(no_times));
	tcase_add_test(tc, seconds);
	tcase_add_test(tc, address);
	tcase_add_test(tc, size);
	tcase_add_test(tc, number);
	tcase_add_loop_test(tc, command_line, 0, ARRAY_SIZE(lines));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
