// SPDX-License-Identifier: GPL-2.0
/* What ioreq prints. */
#include <json-c/json.h>

#include "ioreq.h"
#include "text.h"

/**
 * type_name - what an object is
 * @type: its type, S_IFREG >> 12 and so on
 *
 * Return: a word.
 */
const char *type_name(u8 type)
{
	static const char *const names[16] = {
		[0] = "anon", [1] = "fifo", [2] = "chr",   [4] = "dir",
		[6] = "blk",  [8] = "file", [10] = "link", [12] = "socket",
	};

	return type < 16 && names[type] ? names[type] : "unknown";
}

/**
 * object_name - a call without an object has none; those without a name have a number
 * @buf: where to put it
 * @size: its size
 * @type: of the object
 * @id: its number
 * @name: its name, or ""
 */
void object_name(char *buf, size_t size, u8 type, u64 id, const char *name)
{
	if (*name)
		snprintf(buf, size, "%s", name);
	else if (id)
		snprintf(buf, size, "%s:%llu", type_name(type), id);
	else
		snprintf(buf, size, "-");
}

static const char *time_text(char *buf, u64 ns)
{
	return format_value(buf, 24, ns, true);
}

/* With one host there is nothing to tell apart */
static bool has_hosts(const struct sums *s)
{
	return s->hosts > 1 && s->by & BY_HOST;
}

/**
 * party_text - "host:name" where there are several; an address has no host
 * @buf: where to put it
 * @size: its size
 * @s: sums
 * @p: who
 *
 * Return: @buf.
 */
const char *party_text(char *buf, size_t size, const struct sums *s,
		       const struct party *p)
{
	if (s->hosts > 1 && p->host != NO_HOST)
		snprintf(buf, size, "%s:%s", s->host[p->host].name, p->name);
	else
		snprintf(buf, size, "%s", p->name);
	return buf;
}

/* Who is not known is nobody */
static const char *client_text(char *buf, size_t size, const struct sums *s,
			       const struct sum *sum)
{
	if (!sum->client)
		return "-";
	return party_text(buf, size, s, sum->client);
}

static void text_heading(FILE *out, const struct sums *s)
{
	if (s->by & BY_CLIENT)
		fprintf(out, "%-22s ", "client");
	if (has_hosts(s))
		fprintf(out, "%-12s ", "host");
	if (s->by & (BY_PROCESS | BY_COMM))
		fprintf(out, "%-22s ", "process");
	if (s->by & BY_CALL)
		fprintf(out, "%-15s ", "call");
	if (s->by & BY_SIZE)
		fprintf(out, "%21s ", "size");
	fprintf(out, "%9s %6s %12s %9s %9s %9s %9s%s\n", "count", "failed",
		"transferred", "time", "p50", "p99", "max",
		s->by & BY_OBJECT ? "  object" : "");
}

static void text_times(FILE *out, const struct times *t)
{
	char sum[24], p50[24], p99[24], max[24];

	if (t->nr)
		fprintf(out, " %9s %9s %9s %9s", time_text(sum, t->sum),
			time_text(p50, t->p50), time_text(p99, t->p99),
			time_text(max, t->max));
	else
		fprintf(out, " %9s %9s %9s %9s", "-", "-", "-", "-");
}

static void text_size(FILE *out, u64 size)
{
	char text[48];

	snprintf(text, sizeof(text), size > 1 ? "%llu-%llu" : "%llu", size,
		 size - 1 + size);
	fprintf(out, "%21s ", text);
}

static void text_sum(FILE *out, const struct sums *s, const struct sum *sum)
{
	char calls[24], bytes[24], process[64];
	char name[4096];

	if (s->by & BY_CLIENT)
		fprintf(out, "%-22s ", client_text(name, sizeof(name), s, sum));
	if (has_hosts(s))
		fprintf(out, "%-12s ", s->host[sum->host].name);
	if (s->by & BY_PROCESS) {
		snprintf(process, sizeof(process), "%s-%d", sum->comm,
			 sum->tgid);
		fprintf(out, "%-22s ", process);
	} else if (s->by & BY_COMM) {
		fprintf(out, "%-22s ", sum->comm);
	}
	if (s->by & BY_CALL)
		fprintf(out, "%-15s ", sum->op);
	if (s->by & BY_SIZE)
		text_size(out, sum->size);
	fprintf(out, "%9s %6llu %12s",
		format_count(calls, sizeof(calls), sum->times.nr), sum->errors,
		format_bytes(bytes, sizeof(bytes), sum->bytes));
	text_times(out, &sum->times);
	if (s->by & BY_OBJECT) {
		object_name(name, sizeof(name), sum->type, sum->id, sum->name);
		fprintf(out, "  %s", name);
	}
	fputc('\n', out);
}

static void text_pending(FILE *out, const struct sums *s)
{
	u64 i;

	if (!s->nr_pending)
		return;
	fprintf(out, "\nnot seen to end\n");
	for (i = 0; i < s->nr_pending; i++) {
		const struct pending *p = s->pending[i];
		char process[64], time[24];

		snprintf(process, sizeof(process), "%s-%d", p->comm, p->pid);
		if (s->hosts > 1)
			fprintf(out, "%-12s ", s->host[p->host].name);
		fprintf(out, "%-22s %-15s for %s  %s\n", process, p->op,
			time_text(time, p->time), *p->name ? p->name : "-");
	}
}

/* By enum step and enum part_of_wait */
const char *const step_names[WAITS] = {
	[STEP_OWN] = "own",	    [STEP_FILE] = "files",
	[STEP_SYNC] = "sync",	    [STEP_SOCKET] = "sockets",
	[STEP_PIPE] = "pipes",	    [STEP_POLL] = "poll",
	[STEP_OTHER] = "others",    [STEP_REST] = "rest",
	[WAIT_BETWEEN] = "between", [WAIT_UNSEEN] = "unseen",
	[WAIT_THREADS] = "threads", [WAIT_BUSY] = "busy",
};

/* Steps of a percent at least */
static void text_steps(FILE *out, const struct exchange *e)
{
	const char *comma = "";
	char count[24];
	u64 sum = 0;
	int i;

	for (i = 0; i < STEPS; i++)
		sum += e->step[i];
	if (!sum)
		return;
	fprintf(out, "  %s by one thread: ",
		format_count(count, sizeof(count), e->stepped));
	for (i = 0; i < STEPS; i++) {
		if (e->step[i] < sum / 100 || !e->step[i])
			continue;
		fprintf(out, "%s%s %.0f %%", comma, step_names[i],
			100.0 * e->step[i] / sum);
		comma = ", ";
	}
	fputc('\n', out);
}

/* What of the time between is known to be on which way */
static void text_split(FILE *out, const struct exchange *e)
{
	char count[24], there[24], late[24], back[24];

	if (!e->split)
		return;
	fprintf(out, "  between, of %s: there %s",
		format_count(count, sizeof(count), e->split),
		time_text(there, e->there));
	fprintf(out, ", of which %s before the server waited; back %s\n",
		time_text(late, e->late), time_text(back, e->back));
}

static void text_requests(FILE *out, const struct sums *s, u64 top)
{
	char client[300], server[300], count[24], between[24];
	u64 i;

	if (!s->nr_exchanges)
		return;
	fprintf(out,
		"\nrequests, with the time that clients waited and servers took\n"
		"%-22s %-22s %9s %7s %7s %9s %9s %9s %9s %9s %9s %9s %9s %s\n",
		"client", "server", "answered", "unclear", "without", "waited",
		"p50", "p99", "max", "took", "p50", "p99", "max", "between");
	for (i = 0; i < s->nr_exchanges && i < top; i++) {
		const struct exchange *e = s->exchange[i];

		fprintf(out, "%-22s %-22s %9s %7llu %7llu",
			party_text(client, sizeof(client), s, e->client),
			party_text(server, sizeof(server), s, e->server),
			format_count(count, sizeof(count), e->requests),
			e->unclear, e->unanswered);
		text_times(out, &e->wait);
		text_times(out, &e->service);
		/* Nobody knows it of one side */
		if (e->wait.nr && e->service.nr)
			fprintf(out, " %s%s\n", e->between < 0 ? "-" : "",
				time_text(between, e->between < 0 ?
							   -(u64)e->between :
							   (u64)e->between));
		else
			fputs(" -\n", out);
		text_steps(out, e);
		text_split(out, e);
	}
	if (s->nr_exchanges > top)
		fprintf(out, "... %llu more (--top)\n", s->nr_exchanges - top);
}

static void text(FILE *out, const struct sums *s, u64 top)
{
	u64 i;

	fputc('\n', out);
	text_heading(out, s);
	for (i = 0; i < s->nr && i < top; i++)
		text_sum(out, s, s->sum[i]);
	if (s->nr > top)
		fprintf(out, "... %llu more (--top)\n", s->nr - top);
	text_pending(out, s);
}

static void text_files(FILE *out, const struct sums *s)
{
	u64 i;

	for (i = 0; i < s->hosts; i++) {
		char calls[24];

		fprintf(out, "%s: %s calls", s->host[i].file,
			format_count(calls, sizeof(calls), s->host[i].calls));
		fprintf(out,
			s->host[i].gaps ? ", records were lost %llu times\n" :
					  "\n",
			s->host[i].gaps);
		if (s->host[i].stock)
			fputs("  of a kernel without iosys: no bytes of streams, so no requests\n",
			      out);
		if (s->host[i].trouble)
			fprintf(out, "  %s: %s\n",
				s->host[i].calls ? "not read to its end" :
						   "left out",
				s->host[i].trouble);
	}
}

static void csv_times(FILE *out, const struct times *t)
{
	if (t->nr)
		fprintf(out, ",%llu,%llu,%llu,%llu", t->sum, t->p50, t->p99,
			t->max);
	else
		fputs(",,,,", out);
}

/**
 * csv_sum_key - what calls of a sum have in common, from host to name
 * @out: where to
 * @s: sums
 * @sum: one of them
 */
void csv_sum_key(FILE *out, const struct sums *s, const struct sum *sum)
{
	csv_string(out, s->by & BY_HOST ? s->host[sum->host].name : "");
	fputc(',', out);
	csv_string(out, sum->comm);
	fputc(',', out);
	if (s->by & BY_PROCESS)
		fprintf(out, "%d", sum->tgid);
	fputc(',', out);
	csv_string(out, sum->op);
	if (s->by & BY_OBJECT)
		fprintf(out, ",%s,%u,%u,%llu,", type_name(sum->type),
			sum->dev >> 20, sum->dev & 0xfffff, sum->id);
	else
		fputs(",,,,,", out);
	csv_string(out, sum->name);
}

static void csv(FILE *out, const struct sums *s, u64 top)
{
	char name[300];
	u64 i;

	fprintf(out,
		"host,comm,tgid,call,type,major,minor,id,name,count,failed,bytes,time,p50,p99,max,size,client\n");
	for (i = 0; i < s->nr && i < top; i++) {
		const struct sum *sum = s->sum[i];

		csv_sum_key(out, s, sum);
		fprintf(out, ",%llu,%llu,%llu", sum->times.nr, sum->errors,
			sum->bytes);
		csv_times(out, &sum->times);
		fputc(',', out);
		if (s->by & BY_SIZE)
			fprintf(out, "%llu", sum->size);
		fputc(',', out);
		if (s->by & BY_CLIENT)
			csv_string(out,
				   client_text(name, sizeof(name), s, sum));
		fputc('\n', out);
	}
}

/**
 * host_name - where a party is
 * @s: sums
 * @p: it
 *
 * Return: the host's name, or "" if nobody recorded it.
 */
const char *host_name(const struct sums *s, const struct party *p)
{
	return p->host == NO_HOST ? "" : s->host[p->host].name;
}

static void csv_requests(FILE *out, const struct sums *s, u64 top)
{
	u64 i;
	int j;

	fprintf(out,
		"client_host,client,server_host,server,answered,unclear,unanswered,sent,received,"
		"wait,wait_p50,wait_p99,wait_max,service,service_p50,service_p99,service_max,between,stepped,split,there,late,back");
	for (j = 0; j < STEPS; j++)
		fprintf(out, ",%s", step_names[j]);
	fputc('\n', out);
	for (i = 0; i < s->nr_exchanges && i < top; i++) {
		const struct exchange *e = s->exchange[i];

		csv_string(out, host_name(s, e->client));
		fputc(',', out);
		csv_string(out, e->client->name);
		fputc(',', out);
		csv_string(out, host_name(s, e->server));
		fputc(',', out);
		csv_string(out, e->server->name);
		fprintf(out, ",%llu,%llu,%llu,%llu,%llu", e->requests,
			e->unclear, e->unanswered, e->sent, e->received);
		csv_times(out, &e->wait);
		csv_times(out, &e->service);
		fprintf(out, ",%lld,%llu", e->between, e->stepped);
		fprintf(out, ",%llu,%llu,%llu,%llu", e->split, e->there,
			e->late, e->back);
		for (j = 0; j < STEPS; j++)
			fprintf(out, ",%llu", e->step[j]);
		fputc('\n', out);
	}
}

static void json_times(struct json_object *o, const struct times *t)
{
	json_number(o, "count", t->nr);
	json_number(o, "time", t->sum);
	json_number(o, "p50", t->p50);
	json_number(o, "p99", t->p99);
	json_number(o, "max", t->max);
}

/**
 * json_sum_key - what calls of a sum have in common
 * @o: where to
 * @s: sums
 * @sum: one of them
 */
void json_sum_key(struct json_object *o, const struct sums *s,
		  const struct sum *sum)
{
	char name[300];

	if (s->by & BY_HOST)
		json_string(o, "host", s->host[sum->host].name);
	if (s->by & (BY_PROCESS | BY_COMM))
		json_string(o, "comm", sum->comm);
	if (s->by & BY_PROCESS)
		json_number(o, "tgid", sum->tgid);
	if (s->by & BY_CALL)
		json_string(o, "call", sum->op);
	if (s->by & BY_OBJECT) {
		json_string(o, "type", type_name(sum->type));
		json_number(o, "major", sum->dev >> 20);
		json_number(o, "minor", sum->dev & 0xfffff);
		json_number(o, "id", sum->id);
		json_string(o, "name", sum->name);
	}
	if (s->by & BY_SIZE)
		json_number(o, "size", sum->size);
	if (s->by & BY_CLIENT)
		json_string(o, "client",
			    client_text(name, sizeof(name), s, sum));
}

static struct json_object *json_sum(const struct sums *s, const struct sum *sum)
{
	struct json_object *o = json_object_new_object();

	json_sum_key(o, s, sum);
	json_number(o, "failed", sum->errors);
	json_number(o, "bytes", sum->bytes);
	json_times(o, &sum->times);
	return o;
}

static struct json_object *json_pending(const struct sums *s,
					const struct pending *p)
{
	struct json_object *o = json_object_new_object();

	json_string(o, "host", s->host[p->host].name);
	json_string(o, "comm", p->comm);
	json_number(o, "pid", p->pid);
	json_number(o, "tgid", p->tgid);
	json_string(o, "call", p->op);
	json_string(o, "name", p->name);
	json_number(o, "start", p->start);
	json_number(o, "time", p->time);
	return o;
}

static struct json_object *json_request(const struct sums *s,
					const struct exchange *e)
{
	struct json_object *o = json_object_new_object();
	struct json_object *wait = json_object_new_object();
	struct json_object *service = json_object_new_object();
	struct json_object *steps = json_object_new_object();
	int i;

	json_string(o, "client_host", host_name(s, e->client));
	json_string(o, "client", e->client->name);
	json_string(o, "server_host", host_name(s, e->server));
	json_string(o, "server", e->server->name);
	json_number(o, "answered", e->requests);
	json_number(o, "unclear", e->unclear);
	json_number(o, "unanswered", e->unanswered);
	json_number(o, "sent", e->sent);
	json_number(o, "received", e->received);
	json_times(wait, &e->wait);
	json_object_object_add(o, "wait", wait);
	json_times(service, &e->service);
	json_object_object_add(o, "service", service);
	json_object_object_add(o, "between", json_object_new_int64(e->between));
	json_number(o, "stepped", e->stepped);
	json_number(o, "split", e->split);
	json_number(o, "there", e->there);
	json_number(o, "late", e->late);
	json_number(o, "back", e->back);
	for (i = 0; i < STEPS; i++)
		json_number(steps, step_names[i], e->step[i]);
	json_object_object_add(o, "steps", steps);
	return o;
}

static struct json_object *json_hosts(const struct sums *s)
{
	struct json_object *hosts = json_object_new_array();
	u64 i;

	for (i = 0; i < s->hosts; i++) {
		struct json_object *host = json_object_new_object();

		json_string(host, "name", s->host[i].name);
		json_string(host, "file", s->host[i].file);
		json_number(host, "calls", s->host[i].calls);
		json_number(host, "gaps", s->host[i].gaps);
		json_object_object_add(host, "clock", json_clock(s, i));
		json_object_object_add(
			host, "stock",
			json_object_new_boolean(s->host[i].stock));
		if (s->host[i].trouble)
			json_string(host, "trouble", s->host[i].trouble);
		json_object_array_add(hosts, host);
	}
	return hosts;
}

static void json_calls(struct json_object *o, const struct sums *s, u64 top)
{
	struct json_object *sums = json_object_new_array();
	struct json_object *pending = json_object_new_array();
	u64 i;

	for (i = 0; i < s->nr && i < top; i++)
		json_object_array_add(sums, json_sum(s, s->sum[i]));
	for (i = 0; i < s->nr_pending; i++)
		json_object_array_add(pending, json_pending(s, s->pending[i]));
	json_object_object_add(o, "calls", sums);
	json_object_object_add(o, "pending", pending);
}

static void json_requests(struct json_object *o, const struct sums *s, u64 top)
{
	struct json_object *requests = json_object_new_array();
	u64 i;

	for (i = 0; i < s->nr_exchanges && i < top; i++)
		json_object_array_add(requests,
				      json_request(s, s->exchange[i]));
	json_object_object_add(o, "requests", requests);
}

/**
 * json_result - all sums, and all kinds of requests
 * @s: after sums_finish()
 * @top: so many of each, at most
 *
 * Return: an object, which the caller frees.
 */
struct json_object *json_result(const struct sums *s, u64 top)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "hosts", json_hosts(s));
	json_calls(o, s, top);
	json_requests(o, s, top);
	return o;
}

static void report_json(FILE *out, const struct sums *s, enum subject subject,
			const struct paths *paths, u64 top)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "hosts", json_hosts(s));
	if (subject == SUBJECT_ALL)
		json_calls(o, s, top);
	if (subject == SUBJECT_ALL || subject == SUBJECT_REQUESTS)
		json_requests(o, s, top);
	if (paths)
		json_paths(o, s, paths, top);
	if (subject == SUBJECT_READS)
		json_reads(o, s, top);
	if (subject == SUBJECT_STACKS)
		json_stacks(o, s, top);
	json_write(o, out);
}

static void report_csv(FILE *out, const struct sums *s, enum subject subject,
		       const struct paths *paths, u64 top)
{
	switch (subject) {
	case SUBJECT_ALL:
		csv(out, s, top);
		break;
	case SUBJECT_REQUESTS:
		csv_requests(out, s, top);
		break;
	case SUBJECT_CLOCKS:
		csv_clocks(out, s);
		break;
	case SUBJECT_PATHS:
		csv_paths(out, s, paths, top);
		break;
	case SUBJECT_READS:
		csv_reads(out, s, top);
		break;
	case SUBJECT_STACKS:
		csv_stacks(out, s, top);
		break;
	}
}

static void report_text(FILE *out, const struct sums *s, enum subject subject,
			const struct paths *paths, u64 top)
{
	text_files(out, s);
	if (subject == SUBJECT_CLOCKS || s->hosts > 1)
		text_clocks(out, s);
	if (subject == SUBJECT_ALL)
		text(out, s, top);
	if (paths)
		text_paths(out, s, paths, top);
	if (subject == SUBJECT_READS)
		text_reads(out, s, top);
	if (subject == SUBJECT_STACKS)
		text_stacks(out, s, top);
	if (subject != SUBJECT_ALL && subject != SUBJECT_REQUESTS)
		return;
	if (subject == SUBJECT_REQUESTS && !s->nr_exchanges)
		fprintf(out, "\nno requests\n");
	text_requests(out, s, top);
}

/**
 * report - print the result
 * @out: where to
 * @s: after sums_finish()
 * @format: how
 * @subject: what of it; text, JSON and CSV only
 * @top: so many sums, and so many kinds of requests, at most
 */
void report(FILE *out, const struct sums *s, enum format format,
	    enum subject subject, u64 top)
{
	struct paths *paths = subject == SUBJECT_PATHS ? paths_new(s) : NULL;

	switch (format) {
	case FORMAT_JSON:
		report_json(out, s, subject, paths, top);
		break;
	case FORMAT_CSV:
		report_csv(out, s, subject, paths, top);
		break;
	case FORMAT_TEXT:
		report_text(out, s, subject, paths, top);
		break;
	case FORMAT_CHROME:
		report_chrome(out, s, top);
		break;
	case FORMAT_OTLP:
		report_otlp(out, s, top);
		break;
	case FORMAT_FOLDED:
		report_folded(out, s, top);
		break;
	case FORMAT_HTML:
		report_html(out, s, top);
		break;
	case FORMATS:
		break;
	}
	if (s->stacks)
		stacks_tell(s);
	if (paths)
		paths_free(paths);
}
