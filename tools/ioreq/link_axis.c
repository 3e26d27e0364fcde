// SPDX-License-Identifier: GPL-2.0
/* The time axis of results: the first host's clock, or each host's own one. */
#include "link.h"

/**
 * axis_aligned - whether a host's times are on the common axis
 * @m:		model, after model_link()
 * @host:	number of the host
 *
 * Return: whether its clock is compared with the first host's.
 */
bool axis_aligned(const struct model *m, u32 host)
{
	s64 common;
	u64 bound;

	return clocks_to_reference(m->clocks, host, m->host[host].first,
				   &common, &bound);
}

/**
 * axis_origin - origin of the common axis
 * @m:	model, with clocks
 *
 * Return: begin of the first call of the hosts with aligned clocks, ns of the first
 * host.
 */
s64 axis_origin(const struct model *m)
{
	s64 origin = INT64_MAX, common;
	u64 bound;
	u32 i;

	for (i = 0; i < m->hosts; i++) {
		if (m->host[i].calls &&
		    clocks_to_reference(m->clocks, i, m->host[i].first, &common,
					&bound) &&
		    common < origin)
			origin = common;
	}
	return origin == INT64_MAX ? 0 : origin;
}

/**
 * axis_time - convert a time to the axis of the result
 * @m:		model, after model_link()
 * @host:	number of the host
 * @time:	time of that host, ns
 *
 * Return: ns since the first call: of all hosts, or of this one if its clock is not
 * aligned.
 */
u64 axis_time(const struct model *m, u32 host, u64 time)
{
	u64 first = m->host[host].first, bound;
	s64 common;

	if (clocks_to_reference(m->clocks, host, time, &common, &bound))
		return common > m->origin ? common - m->origin : 0;
	return time > first ? time - first : 0;
}

/**
 * axis_span - length of a time on the axis of the result
 * @m:		model, after model_link()
 * @host:	number of the host
 * @begin:	begin, ns of that host
 * @end:	end, ns of that host
 *
 * Return: ns.
 */
u64 axis_span(const struct model *m, u32 host, u64 begin, u64 end)
{
	u64 from = axis_time(m, host, begin), to = axis_time(m, host, end);

	return to > from ? to - from : 0;
}

/**
 * axis_description - describe the axis of the result
 * @m:	model, after model_link()
 *
 * Return: a sentence.
 */
const char *axis_description(const struct model *m)
{
	u32 i;

	if (m->hosts == 1)
		return "one host: times begin with its first call";
	for (i = 0; i < m->hosts; i++) {
		if (!axis_aligned(m, i))
			return "not aligned: times of some hosts begin with their own first calls";
	}
	return "aligned: times begin with the first call of all hosts";
}
