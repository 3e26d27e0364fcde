// SPDX-License-Identifier: GPL-2.0
/*
 * Asks the analyzers whose events a recording has, and finds in their JSON what concerns
 * the operation. They are programs of their own, and their input may be damaged: their
 * output is not trusted. See explain.h.
 */
#include <json-c/json.h>
#include <linux/kernel.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer.h"
#include "case.h"
#include "clock.h"
#include "explain.h"
#include "memory.h"
#include "callstacks.h"
#include "order.h"
#include "text.h"

/*
 * Bytes of an analyzer's output, and how deep its JSON may be nested. As objects it takes
 * about ten times as much memory, and up to ninety times if it was crafted.
 */
#define OUTPUT_MOST (8 << 20)
#define DEPTH_MOST 32

/* Findings of an analyzer, the first ones, and their least share of the delay, percent */
#define FINDINGS_MOST 5
#define FINDING_LEAST 1

/* Functions that pathdiff's findings are chosen from: each is searched for by its name */
#define FUNCTIONS_MOST 500

/* Bytes of a text from an analyzer */
#define TEXT_MOST 300

/* ---- JSON of which nothing is known ---- */

/* NULL if it is absent, or no array */
static struct json_object *array(struct json_object *o, const char *name)
{
	o = json_member(o, name);
	return json_object_is_type(o, json_type_array) ? o : NULL;
}

/* From 0 to 1 */
static double fraction(struct json_object *o, const char *name)
{
	double value = json_object_get_double(json_member(o, name));

	return value >= 0 && value <= 1 ? value : 0;
}

/* For free(); "" if there is none */
static char *text(struct json_object *o, const char *name)
{
	char *s = xstrndup(json_text(o, name), TEXT_MOST);

	clean_text(s);
	return s;
}

static bool is_text(struct json_object *o, const char *name, const char *s)
{
	return !strcmp(json_text(o, name), s);
}

/* ---- what of it is about the operation ---- */

static u64 overlap(const struct execution *e, u64 from, u64 to)
{
	from = max(from, e->start);
	to = min(to, e->end);
	return to > from ? to - from : 0;
}

static struct finding *add_finding(struct explain *x, enum analyzer by)
{
	GROW(x->finding, x->nr_findings, x->finding_room);
	x->finding[x->nr_findings] = (struct finding){ .by = by };
	return &x->finding[x->nr_findings++];
}

static void free_finding(struct finding *f)
{
	free(f->part.key);
	free(f->part.name);
	free(f->part.detail);
	free(f->who);
}

static int by_share(const void *a, const void *b)
{
	const struct finding *f = a, *g = b;

	return ORDER(g->part.share, f->part.share) ?: ORDER(f->by, g->by);
}

/* The parts of @y, which is the operation as an analyzer sees it, become findings */
static void add_parts(struct explain *x, struct explain *y, enum analyzer by,
		      double known)
{
	struct finding *f;
	size_t i;

	explain_shares(y);
	for (i = 0; i < y->op.nr && i < FINDINGS_MOST; i++) {
		struct part *p = &y->op.part[i];
		double c = 99 * known;

		if (p->share < FINDING_LEAST)
			break;
		/* Each share between these is equally likely */
		if (p->least < SHARE_MIN && p->most > SHARE_MIN)
			c *= (p->most - SHARE_MIN) / (p->most - p->least);
		f = add_finding(x, by);
		f->part = *p;
		f->who = xstrdup(p->kind == PART_BLOCKED ? p->detail : "");
		f->confidence = p->share < SHARE_MIN ? 0 : max(c, 1.0);
		*p = (struct part){ 0 };
	}
}

/* The operation and its thread's normal executions, without their parts */
static void same_operation(const struct explain *x, struct explain *y,
			   size_t nr_normal)
{
	*y = (struct explain){ .op = { .start = x->op.start,
				       .end = x->op.end,
				       .pid = x->op.pid },
			       .center = x->center };
	for (; y->nr_normal < nr_normal; y->nr_normal++)
		y->normal[y->nr_normal] = (struct execution){
			.start = x->normal[y->nr_normal].start,
			.end = x->normal[y->nr_normal].end,
			.pid = x->normal[y->nr_normal].pid
		};
}

/* ---- pathdiff ---- */

static enum part_kind path_kind(struct json_object *cause)
{
	struct json_object *wait = json_member(cause, "wait");

	if (is_text(cause, "kind", "interrupt") ||
	    is_text(wait, "kind", "interrupted"))
		return PART_INTERRUPT;
	if (is_text(cause, "kind", "calls"))
		return PART_CALL;
	if (!is_text(cause, "kind", "wait") ||
	    is_text(wait, "kind", "spinning"))
		return PART_RUN;
	/* After the wake-up it waits for a CPU */
	if (is_text(wait, "kind", "preempted") ||
	    json_u64(wait, "queued") > json_u64(wait, "time") / 2)
		return PART_WAIT;
	return json_length(json_member(wait, "who")) ? PART_BLOCKED :
						       PART_BLOCKED_BLIND;
}

/* NULL if there is no room for one more function */
static struct finding *path_finding(struct explain *x,
				    struct json_object *cause)
{
	struct json_object *who =
		json_member(json_member(cause, "wait"), "who");
	char *function = text(cause, "function");
	struct finding *f;
	size_t i;

	for (i = 0; i < x->nr_findings; i++) {
		f = &x->finding[i];
		if (f->by == PATHDIFF && !strcmp(f->part.key, function)) {
			free(function);
			return f;
		}
	}
	if (x->nr_findings == FUNCTIONS_MOST) {
		free(function);
		return NULL;
	}
	f = add_finding(x, PATHDIFF);
	f->part.kind = path_kind(cause);
	f->part.key = function;
	f->part.name = text(cause, "headline");
	f->part.detail = text(json_member(cause, "worst"), "path");
	f->who = text(json_item(who, 0), "name");
	f->confidence = 99 * fraction(cause, "confidence");
	return f;
}

/**
 * explain_has_path - whether a slow execution that pathdiff lists is a part of the operation
 * @x: the case
 * @slow: the execution
 *
 * Others are in the recording by chance.
 */
bool explain_has_path(const struct explain *x, struct json_object *slow)
{
	u64 start = json_u64(slow, "start"),
	    duration = json_u64(slow, "duration");
	u64 end;

	return json_u64(slow, "pid") == (u64)x->op.pid &&
	       json_member(slow, "cause") &&
	       !__builtin_add_overflow(start, duration, &end) &&
	       overlap(&x->op, start, end) >= duration / 2;
}

/*
 * Add a slow execution if it is a part of the operation; false if it is damaged. @left counts
 * those without room.
 */
static bool add_path(struct explain *x, struct json_object *slow,
		     struct json_object *causes, size_t *left)
{
	u64 start = json_u64(slow, "start"),
	    duration = json_u64(slow, "duration");
	u64 excess = json_u64(slow, "excess"), cause = json_u64(slow, "cause"),
	    end;
	u64 usual, ns;
	struct finding *f;

	if (__builtin_add_overflow(start, duration, &end))
		return false;
	if (!explain_has_path(x, slow) || !excess)
		return true;
	if (cause >= json_length(causes))
		return false;
	f = path_finding(x, json_item(causes, cause));
	if (!f) {
		++*left;
		return true;
	}
	usual = min(json_u64(slow, "normal_self"), duration);
	f->part.usual += usual;
	ns = min(excess + usual, duration);
	f->part.ns += ns;
	if (ns > f->part.longest) {
		f->part.longest = ns;
		f->part.at = start;
	}
	return true;
}

/* pathdiff is asked first: all findings are its own */
static void keep_largest(struct explain *x)
{
	size_t kept = 0;

	if (x->nr_findings)
		qsort(x->finding, x->nr_findings, sizeof(*x->finding),
		      by_share);
	while (kept < min(x->nr_findings, (size_t)FINDINGS_MOST) &&
	       x->finding[kept].part.share >= FINDING_LEAST)
		kept++;
	while (x->nr_findings > kept)
		free_finding(&x->finding[--x->nr_findings]);
}

static const char *read_pathdiff(struct explain *x, struct json_object *o)
{
	struct json_object *slow = array(o, "slow");
	struct json_object *causes = array(o, "causes");
	double delay = explain_delay(x);
	size_t i, left = 0;

	if (!slow || !causes)
		return "its output is not understood: causes and slow executions are not in it";
	for (i = 0; i < json_length(slow); i++) {
		if (!add_path(x, json_item(slow, i), causes, &left))
			return "its output is not understood: a slow execution";
	}
	for (i = 0; i < x->nr_findings; i++) {
		struct part *p = &x->finding[i].part;

		p->share = fmin(100 * (p->ns - p->usual) / fmax(delay, 1), 100);
		p->least = p->share;
		p->most = p->share;
		if (p->share < SHARE_MIN)
			x->finding[i].confidence = 0;
	}
	keep_largest(x);
	if (left)
		explain_remark(
			x,
			xasprintf(
				"pathdiff: only the first %d slow functions of the operation are used, without %zu executions in others",
				FUNCTIONS_MOST, left));
	return NULL;
}

/* ---- ioreq ---- */

/* Steps that do not show where their time went */
static bool is_unknown(struct json_object *step)
{
	return is_text(step, "step", "unseen") ||
	       is_text(step, "step", "threads") ||
	       is_text(step, "step", "rest");
}

static bool is_own(const struct explain *x, struct json_object *step)
{
	return json_u64(step, "thread") == (u64)x->op.pid;
}

/* Whether a request is of the operation's thread, at either end */
static bool is_concerned(const struct explain *x, struct json_object *request)
{
	struct json_object *steps = json_member(request, "waited_for");
	size_t i;

	if (json_u64(request, "pid") == (u64)x->op.pid)
		return true;
	for (i = 0; i < json_length(steps); i++) {
		if (is_own(x, json_item(steps, i)))
			return true;
	}
	return false;
}

static enum part_kind step_kind(const struct explain *x,
				struct json_object *step)
{
	if (!is_own(x, step))
		return PART_CALL;
	return is_text(step, "step", "computing") ? PART_RUN :
	       is_text(step, "step", "runnable")  ? PART_WAIT :
	       is_text(step, "step", "sleeping")  ? PART_BLOCKED :
						    PART_CALL;
}

static void add_step(const struct explain *x, struct explain *y,
		     struct json_object *step, u64 from, u64 to)
{
	char *process = text(step, "process"), *what = text(step, "call");
	char *object = text(step, "object"), *code = text(step, "code"), *key;
	char *detail;

	if (!*what) {
		free(what);
		what = text(step, "text");
	}
	key = xasprintf("%s: %s%s%s", process, what, *object ? " " : "",
			object);
	/*
	 * The object is part of the name; for a sleep it is the waker, and there is no
	 * call
	 */
	detail = *code ? xasprintf("from %s", code) : xstrdup(object);
	execution_add(&y->op, step_kind(x, step), key, key, detail, from, to,
		      0);
	free(detail);
	free(key);
	free(code);
	free(object);
	free(what);
	free(process);
}

/* Divide the operation's time by the steps of a request; return: ns that are known */
static u64 divide_request(const struct explain *x, struct explain *y,
			  struct json_object *request)
{
	struct json_object *steps = json_member(request, "waited_for");
	u64 at = json_u64(request, "begin"), known = 0, to;
	size_t i;

	for (i = 0; i < json_length(steps); i++) {
		struct json_object *step = json_item(steps, i);

		if (__builtin_add_overflow(at, json_u64(step, "time"), &to))
			break;
		if (!is_unknown(step)) {
			add_step(x, y, step, at, to);
			known += overlap(&x->op, at, to);
		}
		at = to;
	}
	return known;
}

static const char *read_ioreq(struct explain *x, struct json_object *o)
{
	struct json_object *slowest = array(o, "slowest"), *best = NULL;
	u64 most = 0, n;
	struct explain y;
	size_t i;

	if (!slowest)
		return "its output is not understood: the slowest requests are not in it";
	for (i = 0; i < json_length(slowest); i++) {
		struct json_object *r = json_item(slowest, i);
		u64 begin = json_u64(r, "begin"), end;

		if (__builtin_add_overflow(begin, json_u64(r, "wait"), &end))
			return "its output is not understood: a request";
		n = overlap(&x->op, begin, end);
		if (n > most && is_concerned(x, r)) {
			most = n;
			best = r;
		}
	}
	if (!best)
		return "it found no request of the operation's thread at that time";
	same_operation(x, &y, 0);
	n = divide_request(x, &y, best);
	add_parts(x, &y, IOREQ, (double)n / (x->op.end - x->op.start));
	explain_free(&y);
	return NULL;
}

/* ---- lbrtime ---- */

static bool is_followed(const struct explain *y, u64 pid)
{
	size_t i;

	for (i = 0; i < y->nr_normal; i++) {
		if ((u64)y->normal[i].pid == pid)
			return true;
	}
	return (u64)y->op.pid == pid;
}

/* The visits of an interval; counts the operation's reliable and unreliable time */
static bool add_visits(struct explain *y, struct json_object *interval,
		       u64 *reliable, u64 *all)
{
	struct json_object *visits = json_member(interval, "visits");
	u64 pid = json_u64(interval, "pid"), start, end, n;
	size_t i;

	if (!pid || !is_followed(y, pid))
		return true;
	for (i = 0; i < json_length(visits); i++) {
		struct json_object *v = json_item(visits, i);
		char *name = text(v, "function");

		start = json_u64(v, "start");
		if (__builtin_add_overflow(start, json_u64(v, "duration"),
					   &end)) {
			free(name);
			return false;
		}
		explain_add(y, pid, PART_RUN, name, name, "", start, end,
			    json_u64(interval, "cpu"));
		free(name);
		if (pid != (u64)y->op.pid)
			continue;
		n = overlap(&y->op, start, end);
		*all += n;
		*reliable +=
			json_object_get_boolean(json_member(v, "reliable")) ?
				n :
				0;
	}
	return true;
}

static const char *read_lbrtime(struct explain *x, struct json_object *o)
{
	struct json_object *intervals = array(o, "intervals_in_order");
	u64 reliable = 0, all = 0;
	const char *error = NULL;
	struct explain y;
	size_t i, kept;

	if (!intervals)
		return "its output is not understood: the visits are not in it";
	same_operation(x, &y, x->nr_normal);
	for (i = 0; i < json_length(intervals) && !error; i++) {
		if (!add_visits(&y, json_item(intervals, i), &reliable, &all))
			error = "its output is not understood: a visit";
	}
	/* Executions without a sample do not show what is usual */
	for (i = kept = 0; i < y.nr_normal; i++) {
		if (y.normal[i].nr)
			y.normal[kept++] = y.normal[i];
	}
	y.nr_normal = kept;
	if (!error && !all)
		error = "it found no visits of the operation's thread at that time";
	if (!error)
		add_parts(x, &y, LBRTIME, (double)reliable / all);
	explain_free(&y);
	/* Too large for another program's result */
	json_object_object_del(o, "intervals_in_order");
	return error;
}

/* ---- all of them ---- */

/* @spare: a file of the case that it can do without, or NULL */
static const struct {
	const char *name, *spare, *arguments[3];
	const char *(*read)(struct explain *x, struct json_object *o);
} analyzers[ANALYZERS] = {
	[PATHDIFF] = { "pathdiff", BASELINE_FILE, { NULL }, read_pathdiff },
	[IOREQ] = { "ioreq",
		    STACKS_FILE,
		    { "--paths", "--top=1000" },
		    read_ioreq },
	[LBRTIME] = { "lbrtime", NULL, { "--visits" }, read_lbrtime },
};

/**
 * analyzer_name - name of an analyzer
 * @a: it
 */
const char *analyzer_name(enum analyzer a)
{
	return analyzers[a].name;
}

/* Parse what an analyzer wrote; NULL if that is no object */
static struct json_object *parse(const char *text)
{
	struct json_tokener *t = json_tokener_new_ex(DEPTH_MOST);
	struct json_object *o;

	if (!t)
		memory_failed();
	o = json_tokener_parse_ex(t, text, strlen(text) + 1);
	if (json_tokener_get_error(t) != json_tokener_success ||
	    !json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		o = NULL;
	}
	json_tokener_free(t);
	return o;
}

/*
 * An option with the case's file of that name, for free(); NULL if the file is absent, or
 * of another type. @dir: whether it has to be a directory; otherwise it is a regular file
 */
static char *case_option(const struct explain *x, const char *option,
			 const char *name, bool dir)
{
	const char *slash = strrchr(x->file, '/');
	char *path = xasprintf("%.*s%s", slash ? (int)(slash + 1 - x->file) : 0,
			       x->file, name);
	bool there;
	char *arg;
	struct stat st;

	there = !lstat(path, &st) &&
		(dir ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode));
	arg = there ? xasprintf("%s=%s", option, path) : NULL;
	free(path);
	return arg;
}

/* The option with a file that is not required, for free(); NULL without such a file */
static char *spare_option(const struct explain *x, enum analyzer a)
{
	if (a == IOREQ)
		return case_option(x, "--iosys-stacks", STACKS_FILE, false);
	return a == PATHDIFF && x->baseline ?
		       xasprintf("--baseline=%s", x->baseline) :
		       NULL;
}

/* In pathdiff, the chart's limit says which executions are slow. @spare: an option, or NULL */
static char *run(const struct explain *x, enum analyzer a, const char *path,
		 const char *spare, u64 timeout, char **out)
{
	char *option[2] = { NULL, NULL };
	const char *argv[8] = { analyzers[a].name, "--format=json" };
	const char *const *more = analyzers[a].arguments;
	size_t nr = 2, i;
	char *error;

	while (*more)
		argv[nr++] = *more++;
	if (a == PATHDIFF && x->limit)
		option[0] = xasprintf("--limit=%lluns",
				      (unsigned long long)x->limit);
	if (a == PATHDIFF && x->function)
		option[1] = xasprintf("--entry=%s", x->function);
	if (a != PATHDIFF)
		option[0] = case_option(x, "--symfs", SYMBOLS_DIR, true);
	for (i = 0; i < ARRAY_SIZE(option); i++) {
		if (option[i])
			argv[nr++] = option[i];
	}
	if (spare)
		argv[nr++] = spare;
	argv[nr] = x->file;
	error = analyzer_run(path, argv, timeout, OUTPUT_MOST, out);
	for (i = 0; i < ARRAY_SIZE(option); i++)
		free(option[i]);
	return error;
}

/*
 * Run it with the file that is not required, and, if that fails, without, in what is left
 * of the time; return: error, or NULL
 */
static char *run_or_spare(struct explain *x, enum analyzer a, const char *path,
			  char **out)
{
	char *spare = spare_option(x, a);
	u64 begin = now_ns(), gone;
	char *trouble = run(x, a, path, spare, x->timeout, out);
	char *error = trouble;

	gone = now_ns() - begin;
	if (trouble && spare && gone < x->timeout) {
		error = run(x, a, path, NULL, x->timeout - gone, out);
		if (!error)
			explain_remark(x,
				       xasprintf("without %s: %s",
						 analyzers[a].spare, trouble));
		free(trouble);
	}
	free(spare);
	return error;
}

static void drop_findings(struct explain *x, enum analyzer a)
{
	size_t i, kept = 0;

	for (i = 0; i < x->nr_findings; i++) {
		struct finding *f = &x->finding[i];

		if (f->by != a)
			x->finding[kept++] = *f;
		else
			free_finding(f);
	}
	x->nr_findings = kept;
}

static void ask(struct explain *x, enum analyzer a, const char *path)
{
	struct analysis *is = &x->analysis[a];
	const char *trouble;
	char *out;

	is->asked = true;
	is->trouble = run_or_spare(x, a, path, &out);
	if (is->trouble)
		return;
	is->result = parse(out);
	free(out);
	trouble = is->result ? analyzers[a].read(x, is->result) :
			       "its output is not understood: no JSON object";
	if (!trouble)
		return;
	is->trouble = xstrdup(trouble);
	drop_findings(x, a);
}

/**
 * explain_ask - ask the analyzers that have events in the recording
 * @x: what explain_read() has filled in; findings are added
 *
 * They are asked about a thread: requests to devices have none.
 */
void explain_ask(struct explain *x)
{
	enum analyzer a;
	char *path;

	for (a = 0; a < ANALYZERS && x->timeout && x->op.pid; a++) {
		if (!x->seen[SAW_GRAPH + a])
			continue;
		path = analyzer_find(analyzers[a].name);
		if (path)
			ask(x, a, path);
		else
			x->analysis[a].trouble = xstrdup(
				"it is not installed, so its events are not used");
		free(path);
	}
	if (x->nr_findings)
		qsort(x->finding, x->nr_findings, sizeof(*x->finding),
		      by_share);
}
