/* SPDX-License-Identifier: GPL-2.0 */
/* Charts that get no values: nothing is learnt or judged, and there is no case to say so. */
#ifndef TRACERIG_SILENT_H
#define TRACERIG_SILENT_H

#include <stdbool.h>
#include <linux/types.h>

#include "plan.h"
#include "rig.h"

/* How long a chart may have no value, s */
#define SILENT_AFTER 60

bool silent_look(bool *done, const struct rig_chart *c, u64 waited);
char *silent_advice(const struct plan_chart *c, const char *file,
		    bool (*has_event)(const char *system, const char *event));

#endif
