// SPDX-License-Identifier: GPL-2.0
/* Reports of the hosts' clocks. */
#include <json-c/json.h>
#include <math.h>

#include "report.h"
#include "text.h"

static const char *state_name(enum clock_state state)
{
	static const char *const names[] = {
		[CLOCK_REFERENCE] = "reference",
		[CLOCK_ALIGNED] = "aligned",
		[CLOCK_ALONE] = "alone",
		[CLOCK_ONE_WAY] = "one-way",
		[CLOCK_CONTRADICTS] = "contradicts",
	};

	return names[state];
}

/* Why a clock is not aligned */
static void text_state(FILE *out, const struct model *m, const struct clock *c)
{
	switch (c->state) {
	case CLOCK_REFERENCE:
		fputs("reference for the others\n", out);
		break;
	case CLOCK_ALONE:
		fputs("not aligned: no messages with another host\n", out);
		break;
	case CLOCK_ONE_WAY:
		fputs("not aligned: messages went one way only\n", out);
		break;
	case CLOCK_CONTRADICTS:
		fprintf(out,
			"not aligned: its messages contradict a drift of %u ppm at most (--max-drift)\n",
			m->drift);
		break;
	case CLOCK_ALIGNED:
		break;
	}
}

static void text_clock(FILE *out, const struct model *m, u32 host)
{
	const struct clock *c = clocks_get(m->clocks, host);
	char count[24], offset[24], bound[24], worst[24];
	u64 ahead = c->offset < 0 ? -(u64)c->offset : (u64)c->offset;

	fprintf(out, "%-12s %9s ", m->host[host].name,
		format_count(count, sizeof(count), c->messages));
	if (c->state != CLOCK_ALIGNED) {
		text_state(out, m, c);
		return;
	}
	fprintf(out, "%s%s ahead of %s, +- %s, at worst %s; drift %.3f ",
		c->offset < 0 ? "-" : "",
		format_value(offset, sizeof(offset), ahead, true),
		m->host[c->reference].name,
		format_value(bound, sizeof(bound), c->bound, true),
		format_value(worst, sizeof(worst), c->worst, true), c->drift);
	fprintf(out, "+- %.3f ppm%s\n", c->drift_bound,
		c->steady ? "" : " on average: it changed");
}

/**
 * text_clocks - print the clocks of hosts as text
 * @out:	output
 * @m:		model, after model_link()
 */
void text_clocks(FILE *out, const struct model *m)
{
	u32 i;

	fprintf(out, "\nclocks\n%-12s %9s\n", "host", "messages");
	for (i = 0; i < m->hosts; i++)
		text_clock(out, m, i);
}

/**
 * csv_clocks - print the clocks of hosts as CSV
 * @out:	output
 * @m:		model, after model_link()
 */
void csv_clocks(FILE *out, const struct model *m)
{
	u32 i;

	fprintf(out,
		"host,messages,state,reference,offset,at,bound,worst,drift,drift_bound,steady\n");
	for (i = 0; i < m->hosts; i++) {
		const struct clock *c = clocks_get(m->clocks, i);

		csv_string(out, m->host[i].name);
		fprintf(out, ",%llu,%s,", c->messages, state_name(c->state));
		if (c->state == CLOCK_ALIGNED) {
			csv_string(out, m->host[c->reference].name);
			fprintf(out, ",%lld,%llu,%llu,%llu,%.4f,%.4f,%d\n",
				c->offset, c->at, c->bound, c->worst, c->drift,
				c->drift_bound, c->steady);
		} else {
			fputs(",,,,,,,\n", out);
		}
	}
}

/* Four decimal places, as in CSV */
static struct json_object *ppm(double value)
{
	return json_object_new_double(round(value * 1e4) / 1e4);
}

/**
 * json_clock - the clock of a host
 * @m:		model, after model_link()
 * @host:	number of the host
 *
 * Return: an object.
 */
struct json_object *json_clock(const struct model *m, u32 host)
{
	const struct clock *c = clocks_get(m->clocks, host);
	struct json_object *o = json_object_new_object();

	json_number(o, "messages", c->messages);
	json_string(o, "state", state_name(c->state));
	if (c->state != CLOCK_ALIGNED)
		return o;
	json_string(o, "reference", m->host[c->reference].name);
	json_signed(o, "offset", c->offset);
	json_number(o, "at", c->at);
	json_number(o, "bound", c->bound);
	json_number(o, "worst", c->worst);
	json_object_object_add(o, "drift", ppm(c->drift));
	json_object_object_add(o, "drift_bound", ppm(c->drift_bound));
	json_boolean(o, "steady", c->steady);
	return o;
}
