// SPDX-License-Identifier: GPL-2.0
/*
 * The call in a filter, in the kernel filter's syntax and words:
 *
 *   [TERMS &&] ctlchart(FIELD [, option=value]...) [&& TERMS]
 *   [TERMS &&] ctlchart(START, KEY... [, option=value]...) [&& TERMS]
 *
 * Whether events and fields exist is found out when the file is open.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>
#include <linux/limits.h>

#include "ctlchart.h"

#define CALL_NAME "ctlchart"

#define NSEC_PER_SEC 1000000000ULL

#define DEFAULT_LEARN (10 * NSEC_PER_SEC)
#define DEFAULT_STALE (30 * NSEC_PER_SEC)
#define DEFAULT_SIZE 16384
#define MAX_SIZE (1u << 20)

const char *const limit_names[] = {
	[CTLCHART_INDIVIDUALS] = "individuals",
	[CTLCHART_MEDIAN] = "median",
	[CTLCHART_QUANTILE] = "quantile",
};

/**
 * struct parser - the state of parsing
 * @call:	the call as parsed so far
 * @seen:	options seen, bits as in options[]
 * @pair:	the first option that needs a start event
 * @learnt:	the first option that needs a limit that is learnt
 * @in_rules:	a number is another one of rules=
 * @charts:	the value of charts=
 * @relearn:	the value of relearn=
 * @ucl:	the value of ucl=, whose unit depends on the arguments
 * @count:	the value of samples= or group=, whichever came last
 * @samples:	the value of samples=; 0 if not given
 * @error:	the first mistake
 */
struct parser {
	struct call *call;
	unsigned long seen;
	struct token pair;
	struct token learnt;
	bool in_rules;
	struct token charts;
	struct token relearn;
	struct token ucl;
	struct token count;
	u64 samples;
	struct call_error *error;
};

static bool fail(struct parser *p, const char *what, const char *at)
{
	p->error->what = what;
	p->error->at = at;
	p->error->help = NULL;
	return false;
}

static bool fail_value(struct parser *p, const char *at, const char *help)
{
	fail(p, "Bad value for this option", at);
	p->error->help = help;
	return false;
}

static const char *skip_spaces(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool token_is(const struct token *t, const char *s)
{
	return strlen(s) == t->len && !strncmp(t->str, s, t->len);
}

static bool get_number(const struct token *t, u64 min, u64 max, u64 *val)
{
	char buf[32], *end;

	if (!t->len || t->len >= sizeof(buf) ||
	    !isdigit((unsigned char)*t->str))
		return false;
	memcpy(buf, t->str, t->len);
	buf[t->len] = '\0';
	errno = 0;
	*val = strtoull(buf, &end, 0);
	return !*end && !errno && *val >= min && *val <= max;
}

/* A number with a unit of time; without one it stands as it is */
static bool get_scaled(const struct token *t, bool unit, u64 *val)
{
	static const struct {
		const char *name;
		u64 ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", NSEC_PER_SEC },
		{ "m", 60 * NSEC_PER_SEC },
		{ "h", 3600 * NSEC_PER_SEC },
	};
	const char *s = t->str, *end = t->str + t->len;
	struct token name;
	u64 num = 0;
	size_t i;

	for (; s < end && isdigit((unsigned char)*s); s++) {
		if (__builtin_mul_overflow(num, 10, &num) ||
		    __builtin_add_overflow(num, *s - '0', &num))
			return false;
	}
	if (s == t->str)
		return false;
	*val = num;
	if (s == end)
		return !unit || !num;
	name = (struct token){ s, end - s };
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (token_is(&name, units[i].name))
			return !__builtin_mul_overflow(num, units[i].ns, val);
	}
	return false;
}

static bool get_time(const struct token *t, u64 min, u64 *val)
{
	return get_scaled(t, true, val) && *val >= min;
}

static bool set_name(struct parser *p, const struct token *t)
{
	size_t i;

	if (!t->len || t->len >= sizeof(p->call->name))
		return false;
	for (i = 0; i < t->len; i++) {
		if (!is_word(t->str[i]) && !strchr("-.", t->str[i]))
			return false;
	}
	memcpy(p->call->name, t->str, t->len);
	p->call->name[t->len] = '\0';
	return true;
}

static bool set_dup(struct parser *p, const struct token *t)
{
	p->call->last = token_is(t, "last");
	return p->call->last || token_is(t, "fifo");
}

static bool set_limit(struct parser *p, const struct token *t)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limit_names); i++) {
		if (!token_is(t, limit_names[i]))
			continue;
		p->call->method.limit = i;
		return true;
	}
	return false;
}

static bool set_scale(struct parser *p, const struct token *t)
{
	p->call->method.scale = token_is(t, "linear") ? CTLCHART_LINEAR :
							CTLCHART_LOG;
	return token_is(t, "linear") || token_is(t, "log");
}

static bool set_learn(struct parser *p, const struct token *t)
{
	return get_time(t, 0, &p->call->learn);
}

static bool set_samples(struct parser *p, const struct token *t)
{
	p->count = *t;
	return get_number(t, 1, U32_MAX, &p->samples);
}

static bool set_group(struct parser *p, const struct token *t)
{
	u64 val;

	if (!get_number(t, CTLCHART_GROUP_MIN, CTLCHART_GROUP_MAX, &val))
		return false;
	p->count = *t;
	p->call->method.group = val;
	return true;
}

static bool set_ucl(struct parser *p, const struct token *t)
{
	u64 val;

	p->ucl = *t;
	return get_scaled(t, false, &val);
}

static bool set_size(struct parser *p, const struct token *t)
{
	u64 val;

	if (!get_number(t, 1, MAX_SIZE, &val))
		return false;
	p->call->size = val;
	return true;
}

static bool set_stale(struct parser *p, const struct token *t)
{
	return get_time(t, 1, &p->call->stale);
}

static bool set_overdue(struct parser *p, const struct token *t)
{
	return get_time(t, 1, &p->call->overdue);
}

static bool set_rate(struct parser *p, const struct token *t)
{
	u64 val;

	if (!get_number(t, 0, U32_MAX, &val))
		return false;
	p->call->rate = val;
	return true;
}

static bool add_rule(struct parser *p, const struct token *t)
{
	u32 rule;

	if (t->len != 1 || *t->str < '1' || *t->str > '0' + CTLCHART_RULES)
		return false;
	rule = CTLCHART_NELSON(*t->str - '0');
	if (p->call->rules & rule)
		return false;
	p->call->rules |= rule;
	return true;
}

/* The first value of a list; a comma ends each token */
static bool set_rules(struct parser *p, const struct token *t)
{
	if (token_is(t, "limit"))
		return true;
	if (token_is(t, "all")) {
		p->call->rules = CTLCHART_NELSON_ALL;
		return true;
	}
	p->in_rules = true;
	return add_rule(p, t);
}

/* Values, or a time */
static bool set_relearn(struct parser *p, const struct token *t)
{
	struct call *call = p->call;

	p->relearn = *t;
	call->relearn_time = t->len &&
			     !isdigit((unsigned char)t->str[t->len - 1]);
	return get_scaled(t, call->relearn_time, &call->relearn) &&
	       call->relearn;
}

static bool set_by(struct parser *p, const struct token *t)
{
	p->call->by = *t;
	return t->len;
}

static bool set_charts(struct parser *p, const struct token *t)
{
	u64 val;

	p->charts = *t;
	if (!get_number(t, 1, CHARTS_MAX, &val))
		return false;
	p->call->charts = val;
	return true;
}

/* Options for the context that the kernel keeps; desk_bind.c reports them */
static bool set_context(struct parser *p, const struct token *t)
{
	u64 val;

	p->call->context = true;
	return get_time(t, 0, &val);
}

static bool set_from(struct parser *p, const struct token *t)
{
	p->call->context = true;
	return token_is(t, "start") || token_is(t, "end");
}

#define TIME "a time with a whole number, such as 20ms, 1s or 5m"
#define TIME_ABOVE_0 \
	"a time with a whole number above 0, such as 20ms, 1s or 5m"
/* NAME_LEN has room for these and a NUL */
#define NAME_VALUES "1 to 63 characters: letters, digits, _, - and ."
static_assert(NAME_LEN == 64, "NAME_VALUES says how long a name may be");
#define SAMPLES \
	"samples= a multiple of group= (100 and 5 if not given), for 2 to 65535 groups; with limit=quantile at least 3000"

static const struct {
	const char *name;
	bool pair; /* makes sense with a start event only */
	bool (*set)(struct parser *p, const struct token *value);
	const char *values;
} options[] = {
	{ "name", false, set_name, NAME_VALUES },
	{ "dup", true, set_dup, "last or fifo" },
	{ "limit", false, set_limit, "individuals, median or quantile" },
	{ "scale", false, set_scale, "log or linear" },
	{ "learn", false, set_learn, TIME },
	{ "samples", false, set_samples, SAMPLES },
	{ "group", false, set_group, "2 to 10" },
	{ "ucl", false, set_ucl,
	  "a time, such as 20ms, or in ctlchart(FIELD) a number" },
	{ "size", true, set_size, "1 to 1048576" },
	{ "stale", true, set_stale, TIME_ABOVE_0 },
	{ "overdue", true, set_overdue, TIME_ABOVE_0 },
	{ "rate", false, set_rate, "0 to 4294967295" },
	{ "rules", false, set_rules,
	  "limit, all, or some of 1 to 8, once each" },
	{ "relearn", false, set_relearn,
	  "a time, such as 5m, or a number of values, above 0" },
	{ "by", false, set_by, "a field" },
	{ "charts", false, set_charts, "1 to 4096" },
	{ "pre", false, set_context, TIME },
	{ "post", false, set_context, TIME },
	{ "from", true, set_from, "start or end" },
};

static bool parse_option(struct parser *p, const struct token *t,
			 const char *eq)
{
	struct token name = { t->str, eq - t->str };
	struct token value;
	const char *end = t->str + t->len;
	size_t i;

	while (name.len && isspace((unsigned char)name.str[name.len - 1]))
		name.len--;
	value.str = skip_spaces(eq + 1);
	value.len = end > value.str ? end - value.str : 0;
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (token_is(&name, options[i].name))
			break;
	}
	if (i == ARRAY_SIZE(options))
		return fail(p, "Unknown ctlchart option", t->str);
	if (p->seen & (1ul << i))
		return fail(p, "Option given twice", t->str);
	p->seen |= 1ul << i;
	if (options[i].pair && !p->pair.str)
		p->pair = *t;
	if (!options[i].set(p, &value))
		return fail_value(p, value.str, options[i].values);
	if ((p->call->rules || p->relearn.str) && !p->learnt.str)
		p->learnt = *t;
	return true;
}

static bool parse_arg(struct parser *p, const struct token *t)
{
	const char *eq = memchr(t->str, '=', t->len);
	size_t i;

	if (p->in_rules && !eq && isdigit((unsigned char)*t->str))
		return add_rule(p, t) ||
		       fail_value(p, t->str, "some of 1 to 8, once each");
	p->in_rules = false;
	if (eq)
		return parse_option(p, t, eq);
	for (i = 0; i < t->len; i++) {
		if (!is_word(t->str[i]) && !strchr(".:", t->str[i]))
			return fail(p, "Expecting ',' or ')' in ctlchart()",
				    t->str + i);
	}
	if (p->call->nr_args == ARRAY_SIZE(p->call->arg))
		return fail(p, "Too many keys", t->str);
	p->call->arg[p->call->nr_args++] = *t;
	return true;
}

/* Split at commas, up to the closing parenthesis, and return its place */
static const char *split_args(struct parser *p, const char *s)
{
	static const char no_arg[] =
		"ctlchart() needs a field, or a start event and keys";
	static const char syntax[] = "Expecting ',' or ')' in ctlchart()";
	struct token t;

	for (;; s++) {
		s = skip_spaces(s);
		t.str = s;
		s += strcspn(s, ",()'\"&|");
		for (t.len = s - t.str; t.len; t.len--) {
			if (!isspace((unsigned char)t.str[t.len - 1]))
				break;
		}
		if (*s != ',' && *s != ')') {
			fail(p, syntax, s);
			return NULL;
		}
		if (!t.len) {
			fail(p,
			     *s == ')' && !p->call->nr_args ? no_arg : syntax,
			     s);
			return NULL;
		}
		if (!parse_arg(p, &t))
			return NULL;
		if (*s == ')')
			break;
	}
	if (!p->call->nr_args) {
		fail(p, no_arg, s);
		return NULL;
	}
	return s;
}

/* Options that depend on others */
static bool finish_options(struct parser *p)
{
	struct call *call = p->call;
	u64 groups;

	if (!p->samples)
		p->samples = call->method.limit == CTLCHART_QUANTILE ?
				     CTLCHART_QUANTILE_MIN :
				     CTLCHART_GROUP_DEFAULT *
					     CTLCHART_GROUPS_DEFAULT;
	groups = p->samples / call->method.group;
	if (call->nr_args == 1 && p->pair.str)
		return fail(p, "Option needs a start event", p->pair.str);
	if (groups * call->method.group != p->samples ||
	    groups < CTLCHART_GROUPS_MIN || groups > CTLCHART_GROUPS_MAX)
		return fail_value(p, p->count.str, SAMPLES);
	call->method.groups = groups;
	/* All else was checked one by one: these are too few for a quantile */
	if (!ctlchart_method_valid(&call->method))
		return fail_value(p, p->count.str, SAMPLES);
	if (p->charts.str && !call->by.len)
		return fail_value(p, p->charts.str, "only with by=");
	if (call->by.len && !call->charts)
		call->charts = CHARTS_DEFAULT;
	if (call->relearn && !call->relearn_time && call->relearn < p->samples)
		return fail_value(
			p, p->relearn.str,
			"at least as many values as samples=, or a time");
	if (p->ucl.str &&
	    (!get_scaled(&p->ucl, call->nr_args > 1, &call->ucl) ||
	     !call->ucl || call->ucl == U64_MAX))
		return fail_value(
			p, p->ucl.str,
			"a time, such as 20ms, or in ctlchart(FIELD) a number, above 0");
	if (p->ucl.str && p->learnt.str)
		return fail(p, "Option needs a limit that is learnt",
			    p->learnt.str);
	return true;
}

/* The call outside quotes, or NULL */
static const char *find_call(const char *s)
{
	char quote = 0;
	size_t len;

	for (; *s; s++) {
		if (quote) {
			if (*s == quote)
				quote = 0;
		} else if (*s == '\'' || *s == '"') {
			quote = *s;
		} else if (is_word(*s)) {
			for (len = 1; is_word(s[len]); len++)
				;
			if (len == strlen(CALL_NAME) &&
			    !strncmp(s, CALL_NAME, len) &&
			    *skip_spaces(s + len) == '(')
				return s;
			s += len - 1;
		}
	}
	return NULL;
}

/*
 * Terms beside the call must be joined to it by && at the outermost level, or
 * they would not be what selects.
 */
static bool check_terms(struct parser *p, const char *from, const char *end)
{
	static const char what[] =
		"Only TERMS && ctlchart(...) && TERMS is supported here";
	const char *s = from;
	char quote = 0;
	int depth = 0;

	for (; s < end; s++) {
		if (quote) {
			if (*s == quote)
				quote = 0;
		} else if (*s == '\'' || *s == '"') {
			quote = *s;
		} else if (*s == '(') {
			depth++;
		} else if (*s == ')' && --depth < 0) {
			return fail(p, what, s);
		} else if (*s == '|' && s[1] == '|' && !depth) {
			return fail(p, what, s);
		}
	}
	if (depth || quote)
		return fail(p, what, from);
	return true;
}

static bool split_before(struct parser *p, const char *call)
{
	const char *from = skip_spaces(p->call->filter), *end = call;

	while (end > from && isspace((unsigned char)end[-1]))
		end--;
	if (end == from)
		return true;
	if (end - from < 3 || strncmp(end - 2, "&&", 2))
		return fail(
			p,
			"Only TERMS && ctlchart(...) && TERMS is supported here",
			end[-1] == '!' || end[-1] == '(' ? end - 1 : call);
	p->call->before = xstrndup(from, end - 2 - from);
	p->call->before_at = from;
	return check_terms(p, from, end - 2);
}

static bool split_after(struct parser *p, const char *s)
{
	s = skip_spaces(s);
	if (!*s)
		return true;
	if (strncmp(s, "&&", 2) || !*skip_spaces(s + 2))
		return fail(
			p,
			"Only TERMS && ctlchart(...) && TERMS is supported here",
			s);
	s = skip_spaces(s + 2);
	if (find_call(s))
		return fail(p, "Only one ctlchart() is supported here",
			    find_call(s));
	p->call->after = xstrdup(s);
	p->call->after_at = s;
	return check_terms(p, s, s + strlen(s));
}

/**
 * call_parse - parse a filter that calls ctlchart()
 * @call: filled in; refers to @event and @filter
 * @event: the judged event, as the user gave it
 * @filter: the filter
 * @error: the mistake, if there is one
 *
 * Return: true if the filter has no mistake that can be found without the trace.
 * call_free() is needed in any case.
 */
bool call_parse(struct call *call, const char *event, const char *filter,
		struct call_error *error)
{
	struct parser p = {
		.call = call,
		.error = error,
	};
	const char *s;

	*call = (struct call){
		.event = event,
		.filter = filter,
		.method = { .group = CTLCHART_GROUP_DEFAULT },
		.learn = DEFAULT_LEARN,
		.stale = DEFAULT_STALE,
		.size = DEFAULT_SIZE,
	};
	p.count.str = filter;
	s = find_call(filter);
	if (!s)
		return fail(&p, "No ctlchart() in this filter", filter);
	if (!split_before(&p, s))
		return false;
	s = split_args(&p, skip_spaces(s + strlen(CALL_NAME)) + 1);
	return s && finish_options(&p) && split_after(&p, s + 1);
}

/**
 * call_free - free what call_parse() allocated
 * @call: the call
 */
void call_free(struct call *call)
{
	free(call->before);
	free(call->after);
}

/**
 * call_with - a filter with an option of its call set
 * @filter: the filter
 * @option: the option's name
 * @value: its new value; "" removes the option
 *
 * Return: the new filter, for free(); a copy of @filter if it has no call.
 */
char *call_with(const char *filter, const char *option, const char *value)
{
	const char *s = find_call(filter), *comma = s;
	size_t len = strlen(option), size;
	char *text;
	FILE *out = text_open(&text, &size);

	fwrite(filter, 1, s ? (size_t)(s - filter) : strlen(filter), out);
	/* from comma to comma: START and keys, or the other options, stay */
	while (s && *s && *s != ')') {
		const char *name;

		s += strcspn(s + 1, ",)") + 1;
		name = skip_spaces(comma + 1);
		if (*comma != ',' || strncmp(name, option, len) ||
		    *skip_spaces(name + len) != '=')
			fwrite(comma, 1, s - comma, out);
		comma = s;
	}
	if (s && *value)
		fprintf(out, ", %s=%s", option, value);
	if (s)
		fputs(s, out);
	text_close(out);
	return text;
}

/**
 * call_explain - an error in the manner of the kernel's error_log
 * @filter: the filter
 * @error: what is wrong with it
 *
 * Return: three lines without a final newline, the last one with a caret under
 * the place, and what to write instead if that is known; to be freed.
 */
char *call_explain(const char *filter, const struct call_error *error)
{
	return xasprintf("%s\n  %s\n  %*s^%s%s", error->what, filter,
			 (int)(error->at - filter), "", error->help ? " " : "",
			 error->help ?: "");
}
