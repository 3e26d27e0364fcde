/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <check.h>

/* Room for the name of a directory from make_directory() */
#define DIRECTORY_SIZE 64

/* A new directory for files of one test; the caller removes it */
static inline void make_directory(char directory[DIRECTORY_SIZE])
{
	int n = snprintf(directory, DIRECTORY_SIZE, "/tmp/%s.XXXXXX",
			 program_invocation_short_name);

	ck_assert_int_lt(n, DIRECTORY_SIZE);
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

/* Run @s as CK_TAP_LOG_FILE_NAME and the like say; the program's exit status */
static inline int run_suite(Suite *s)
{
	SRunner *sr = srunner_create(s);
	int failed;

	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
