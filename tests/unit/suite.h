/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <stdlib.h>

#include <check.h>

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
