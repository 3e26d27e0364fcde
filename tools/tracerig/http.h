/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRACERIG_HTTP_H
#define TRACERIG_HTTP_H

#include <stdbool.h>

#include "notify.h"

struct http;

bool http_is_address(const char *text);
const char *http_check(const char *address);
char *http_open(struct http **h, const char *address, const struct metrics *m);
int http_fd(const struct http *h);
void http_run(struct http *h);
void http_close(struct http *h);

#endif
