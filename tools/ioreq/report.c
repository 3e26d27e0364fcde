// SPDX-License-Identifier: GPL-2.0
/* Reports of ioreq: text, CSV and JSON of calls and requests. */
#include <json-c/json.h>
#include <string.h>

#include "report.h"
#include "text.h"

/**
 * type_name - name of a type of objects
 * @type:	type, S_IFREG >> 12 and so on
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
 * object_name - name of an object, or a substitute
 * @buf:	set to the name, to "TYPE:NUMBER" if it has none, or to "-" if there is
 *		no object
 * @size:	size of @buf
 * @type:	type of the object
 * @id:		number of the object
 * @name:	name, or ""
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

/* A single host is not printed */
static bool has_hosts(const struct model *m)
{
	return m->hosts > 1 && m->by & BY_HOST;
}

/**
 * endpoint_text - "HOST:NAME" if there are several hosts; an address has no host
 * @buf:	set to the text
 * @size:	size of @buf
 * @m:		model
 * @p:		client or server
 *
 * Return: @buf.
 */
const char *endpoint_text(char *buf, size_t size, const struct model *m,
			  const struct endpoint *p)
{
	if (m->hosts > 1 && p->host != NO_HOST)
		snprintf(buf, size, "%s:%s", m->host[p->host].name, p->name);
	else
		snprintf(buf, size, "%s", p->name);
	return buf;
}

/**
 * server_text - a server as endpoint_text(), with the address where it listens
 * @buf:	set to the text
 * @size:	size of @buf
 * @m:		model
 * @p:		server
 *
 * Return: @buf.
 */
const char *server_text(char *buf, size_t size, const struct model *m,
			const struct endpoint *p)
{
	size_t len;

	endpoint_text(buf, size, m, p);
	len = strlen(buf);
	if (*p->address)
		snprintf(buf + len, size - len, " %s", p->address);
	return buf;
}

/* "-" if the client is unknown */
static const char *client_text(char *buf, size_t size, const struct model *m,
			       const struct sum *sum)
{
	if (!sum->client)
		return "-";
	return endpoint_text(buf, size, m, sum->client);
}

static void text_heading(FILE *out, const struct model *m)
{
	if (m->by & BY_CLIENT)
		fprintf(out, "%-22s ", "client");
	if (has_hosts(m))
		fprintf(out, "%-12s ", "host");
	if (m->by & (BY_PROCESS | BY_COMM))
		fprintf(out, "%-22s ", "process");
	if (m->by & BY_CALL)
		fprintf(out, "%-15s ", "call");
	if (m->by & BY_SIZE)
		fprintf(out, "%21s ", "size");
	fprintf(out, "%9s %6s %12s %9s %9s %9s %9s%s\n", "count", "failed",
		"transferred", "time", "p50", "p99", "max",
		m->by & BY_OBJECT ? "  object" : "");
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

static void text_sum(FILE *out, const struct model *m, const struct sum *sum)
{
	char calls[24], bytes[24], process[64];
	char name[4096];

	if (m->by & BY_CLIENT)
		fprintf(out, "%-22s ", client_text(name, sizeof(name), m, sum));
	if (has_hosts(m))
		fprintf(out, "%-12s ", m->host[sum->host].name);
	if (m->by & BY_PROCESS) {
		snprintf(process, sizeof(process), "%s-%d", sum->comm,
			 sum->tgid);
		fprintf(out, "%-22s ", process);
	} else if (m->by & BY_COMM) {
		fprintf(out, "%-22s ", sum->comm);
	}
	if (m->by & BY_CALL)
		fprintf(out, "%-15s ", sum->op);
	if (m->by & BY_SIZE)
		text_size(out, sum->size);
	fprintf(out, "%9s %6llu %12s",
		format_count(calls, sizeof(calls), sum->times.nr), sum->errors,
		format_bytes(bytes, sizeof(bytes), sum->bytes));
	text_times(out, &sum->times);
	if (m->by & BY_OBJECT) {
		object_name(name, sizeof(name), sum->type, sum->id, sum->name);
		fprintf(out, "  %s", name);
	}
	fputc('\n', out);
}

static void text_pending(FILE *out, const struct model *m)
{
	u64 i;

	if (!m->nr_pending)
		return;
	fprintf(out, "\npending calls\n");
	for (i = 0; i < m->nr_pending; i++) {
		const struct pending *p = m->pending[i];
		char process[64], time[24];

		snprintf(process, sizeof(process), "%s-%d", p->comm, p->pid);
		if (m->hosts > 1)
			fprintf(out, "%-12s ", m->host[p->host].name);
		fprintf(out, "%-22s %-15s for %s  %s\n", process, p->op,
			time_text(time, p->time), *p->name ? p->name : "-");
	}
}

/* Names in CSV and JSON, by enum step and enum wait_step */
const char *const step_names[WAITS] = {
	[STEP_ARRIVING] = "arriving",
	[STEP_OWN_SOCKET] = "own",
	[STEP_FILE] = "files",
	[STEP_SYNC] = "sync",
	[STEP_SOCKET] = "sockets",
	[STEP_PIPE] = "pipes",
	[STEP_POLL] = "poll",
	[STEP_OTHER] = "others",
	[STEP_NO_CALL] = "rest",
	[STEP_COMPUTING] = "computing",
	[STEP_RUNNABLE] = "runnable",
	[STEP_SLEEPING] = "sleeping",
	[STEP_AMBIGUOUS_NO_CALL] = "ambiguous_rest",
	[STEP_AMBIGUOUS_COMPUTING] = "ambiguous_computing",
	[WAIT_NETWORK] = "between",
	[WAIT_SERVER_LATE] = "server_late",
	[WAIT_SENDING] = "sending",
	[WAIT_CLIENT_LATE] = "client_late",
	[WAIT_NOT_RECORDED] = "unseen",
	[WAIT_THREADS] = "threads",
	[WAIT_BUSY] = "busy",
	[WAIT_UNANSWERED] = "unanswered",
};

/* Names in text */
const char *const step_texts[WAITS] = {
	[STEP_ARRIVING] = "request arriving",
	[STEP_OWN_SOCKET] = "answering",
	[STEP_FILE] = "files",
	[STEP_SYNC] = "sync",
	[STEP_SOCKET] = "other sockets",
	[STEP_PIPE] = "pipes",
	[STEP_POLL] = "poll",
	[STEP_OTHER] = "other calls",
	[STEP_NO_CALL] = "computing or sleeping",
	[STEP_COMPUTING] = "computing",
	[STEP_RUNNABLE] = "waiting for a CPU",
	[STEP_SLEEPING] = "sleeping",
	[STEP_AMBIGUOUS_NO_CALL] = "ambiguous, no call",
	[STEP_AMBIGUOUS_COMPUTING] = "ambiguous computing",
	[WAIT_NETWORK] = "network or queue",
	[WAIT_SERVER_LATE] = "server not receiving",
	[WAIT_CLIENT_LATE] = "client not receiving",
	[WAIT_SENDING] = "client sending",
	[WAIT_NOT_RECORDED] = "server's side unknown",
	[WAIT_THREADS] = "several threads",
	[WAIT_BUSY] = "other requests",
	[WAIT_UNANSWERED] = "unanswered",
};

/* Print steps of at least one percent */
static void text_steps(FILE *out, const struct flow *e)
{
	const char *comma = "";
	char count[24];
	u64 sum = 0;
	int i;

	for (i = 0; i < STEPS; i++)
		sum += e->step[i];
	if (!sum)
		return;
	fprintf(out, "  %s request%s by one thread: ",
		format_count(count, sizeof(count), e->stepped),
		plural(e->stepped));
	for (i = 0; i < STEPS; i++) {
		if (e->step[i] < sum / 100 || !e->step[i])
			continue;
		fprintf(out, "%s%s %.0f %%", comma, step_texts[i],
			100.0 * e->step[i] / sum);
		comma = ", ";
	}
	fputc('\n', out);
}

/* Print how much of the network time is in which direction */
static void text_split(FILE *out, const struct flow *e)
{
	char count[24], time[24], late[24];

	if (!e->split)
		return;
	fprintf(out, "  network or queue of %s request%s: to server %s",
		format_count(count, sizeof(count), e->split), plural(e->split),
		time_text(time, e->to_server));
	fprintf(out, ", of which %s before the server waited",
		time_text(late, e->server_late));
	fprintf(out, "; to client %s", time_text(time, e->to_client));
	fprintf(out, ", of which %s before the client waited\n",
		time_text(late, e->client_late));
}

/**
 * text_guessed - say that the server of connections is only a guess
 * @out:		output
 * @connections:	number of these, or 0
 */
void text_guessed(FILE *out, u64 connections)
{
	if (connections)
		fprintf(out,
			"  %llu connection%s whose server is a guess, since none of its ends was seen to connect or accept\n",
			connections, plural(connections));
}

/**
 * text_contradicted - say that clocks contradict each other
 * @out:	output
 * @requests:	number of requests between hosts whose service time exceeds the response
 *		time, or 0
 */
void text_contradicted(FILE *out, u64 requests)
{
	if (requests)
		fprintf(out,
			"  %llu request%s longer by the server's clock than by the client's; time in the network is unknown: the clocks' rates differ, or the server's last call ended late\n",
			requests, plural(requests));
}

static void text_requests(FILE *out, const struct model *m, u64 top)
{
	char client[300], server[300], count[24], network_time[24];
	u64 i;

	if (!m->nr_flows)
		return;
	fprintf(out,
		"\nrequests, with the clients' response times and the servers' service times\n"
		"%-22s %-22s %9s %7s %10s %9s %9s %9s %9s %9s %9s %9s %9s %s\n",
		"client", "server", "answered", "unclear", "unanswered",
		"response", "p50", "p99", "max", "service", "p50", "p99", "max",
		"network or queue");
	for (i = 0; i < m->nr_flows && i < top; i++) {
		const struct flow *e = m->flow[i];

		fprintf(out, "%-22s %-22s %9s %7llu %10llu",
			endpoint_text(client, sizeof(client), m, e->client),
			server_text(server, sizeof(server), m, e->server),
			format_count(count, sizeof(count), e->requests),
			e->unclear, e->unanswered);
		text_times(out, &e->response_time);
		text_times(out, &e->service_time);
		/* Unknown if one end was not recorded, or if the clocks do not show it */
		if (e->response_time.nr && e->service_time.nr &&
		    e->network_time >= 0)
			fprintf(out, " %s\n",
				time_text(network_time, e->network_time));
		else
			fputs(" -\n", out);
		if (e->unanswered)
			fprintf(out, "  %llu unanswered, in flight for %s",
				e->unanswered,
				time_text(network_time, e->unanswered_time));
		if (e->failed_connections)
			fprintf(out, " (%llu failed connection%s)",
				e->failed_connections,
				e->failed_connections > 1 ? "s" : "");
		if (e->cut_off)
			fprintf(out, " (%llu cut off in the response)",
				e->cut_off);
		if (e->unanswered)
			fputc('\n', out);
		if (e->multiplexed)
			fprintf(out,
				"  %llu multiplexed connection%s (HTTP/2, gRPC or pipelining), whose requests cannot be separated\n",
				e->multiplexed, e->multiplexed > 1 ? "s" : "");
		if (e->maybe_multiplexed)
			fprintf(out,
				"  %llu connection%s that may be multiplexed (HTTP/2, gRPC or pipelining), whose requests are unclear\n",
				e->maybe_multiplexed,
				e->maybe_multiplexed > 1 ? "s" : "");
		if (e->pushed)
			fprintf(out,
				"  %llu message%s without a request, in no response time\n",
				e->pushed, e->pushed > 1 ? "s" : "");
		text_guessed(out, e->guessed);
		text_contradicted(out, e->contradicted);
		text_steps(out, e);
		text_split(out, e);
	}
	if (m->nr_flows > top)
		fprintf(out, "... %llu more (--top)\n", m->nr_flows - top);
}

static void text(FILE *out, const struct model *m, u64 top)
{
	u64 i;

	fputc('\n', out);
	text_heading(out, m);
	for (i = 0; i < m->nr && i < top; i++)
		text_sum(out, m, m->sum[i]);
	if (m->nr > top)
		fprintf(out, "... %llu more (--top)\n", m->nr - top);
	text_pending(out, m);
}

static void text_files(FILE *out, const struct model *m)
{
	u64 i;

	for (i = 0; i < m->hosts; i++) {
		char calls[24];

		fprintf(out, "%s: %s call%s", m->host[i].file,
			format_count(calls, sizeof(calls), m->host[i].calls),
			plural(m->host[i].calls));
		fprintf(out,
			m->host[i].gaps ? ", records lost in %llu gap%s\n" :
					  "\n",
			m->host[i].gaps, plural(m->host[i].gaps));
		if (m->host[i].stock)
			fputs("  kernel without iosys: byte ranges of streams are unknown, so no requests\n",
			      out);
		if (m->host[i].udp)
			fprintf(out,
				"  %s call%s on UDP sockets: requests over UDP are not followed, since the peers of unconnected ones are not recorded\n",
				format_count(calls, sizeof(calls),
					     m->host[i].udp),
				plural(m->host[i].udp));
		if (m->host[i].trouble)
			fprintf(out, "  %s: %s\n",
				m->host[i].calls ? "not read to its end" :
						   "skipped",
				m->host[i].trouble);
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
 * csv_sum_key - print the grouping key of a sum, the columns from host to name
 * @out:	output
 * @m:		model
 * @sum:	sum
 */
void csv_sum_key(FILE *out, const struct model *m, const struct sum *sum)
{
	csv_string(out, m->by & BY_HOST ? m->host[sum->host].name : "");
	fputc(',', out);
	csv_string(out, sum->comm);
	fputc(',', out);
	if (m->by & BY_PROCESS)
		fprintf(out, "%d", sum->tgid);
	fputc(',', out);
	csv_string(out, sum->op);
	if (m->by & BY_OBJECT)
		fprintf(out, ",%s,%u,%u,%llu,", type_name(sum->type),
			sum->dev >> 20, sum->dev & 0xfffff, sum->id);
	else
		fputs(",,,,,", out);
	csv_string(out, sum->name);
}

static void csv(FILE *out, const struct model *m, u64 top)
{
	char name[300];
	u64 i;

	fprintf(out,
		"host,comm,tgid,call,type,major,minor,id,name,count,failed,bytes,time,p50,p99,max,size,client\n");
	for (i = 0; i < m->nr && i < top; i++) {
		const struct sum *sum = m->sum[i];

		csv_sum_key(out, m, sum);
		fprintf(out, ",%llu,%llu,%llu", sum->times.nr, sum->errors,
			sum->bytes);
		csv_times(out, &sum->times);
		fputc(',', out);
		if (m->by & BY_SIZE)
			fprintf(out, "%llu", sum->size);
		fputc(',', out);
		if (m->by & BY_CLIENT)
			csv_string(out,
				   client_text(name, sizeof(name), m, sum));
		fputc('\n', out);
	}
}

/**
 * host_name - host of an endpoint
 * @m:	model
 * @p:	endpoint
 *
 * Return: name of the host, or "" if it was not recorded.
 */
const char *host_name(const struct model *m, const struct endpoint *p)
{
	return p->host == NO_HOST ? "" : m->host[p->host].name;
}

static void csv_requests(FILE *out, const struct model *m, u64 top)
{
	u64 i;
	int j;

	fprintf(out,
		"client_host,client,server_host,server,answered,unclear,unanswered,sent,received,"
		"wait,wait_p50,wait_p99,wait_max,service,service_p50,service_p99,service_max,between,stepped,split,there,late,back");
	for (j = 0; j < STEPS; j++)
		fprintf(out, ",%s", step_names[j]);
	fputs(",server_address,unanswered_time,multiplexed,failed_connections,late_client,guessed,maybe_multiplexed,cut_off,pushed,contradicted\n",
	      out);
	for (i = 0; i < m->nr_flows && i < top; i++) {
		const struct flow *e = m->flow[i];

		csv_string(out, host_name(m, e->client));
		fputc(',', out);
		csv_string(out, e->client->name);
		fputc(',', out);
		csv_string(out, host_name(m, e->server));
		fputc(',', out);
		csv_string(out, e->server->name);
		fprintf(out, ",%llu,%llu,%llu,%llu,%llu", e->requests,
			e->unclear, e->unanswered, e->sent, e->received);
		csv_times(out, &e->response_time);
		csv_times(out, &e->service_time);
		fprintf(out, ",%lld,%llu", e->network_time, e->stepped);
		fprintf(out, ",%llu,%llu,%llu,%llu", e->split, e->to_server,
			e->server_late, e->to_client);
		for (j = 0; j < STEPS; j++)
			fprintf(out, ",%llu", e->step[j]);
		fputc(',', out);
		csv_string(out, e->server->address);
		fprintf(out, ",%llu,%llu,%llu,%llu", e->unanswered_time,
			e->multiplexed, e->failed_connections, e->client_late);
		fprintf(out, ",%llu,%llu,%llu,%llu,%llu\n", e->guessed,
			e->maybe_multiplexed, e->cut_off, e->pushed,
			e->contradicted);
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
 * json_sum_key - add the grouping key of a sum
 * @o:		object to add to
 * @m:		model
 * @sum:	sum
 */
void json_sum_key(struct json_object *o, const struct model *m,
		  const struct sum *sum)
{
	char name[300];

	if (m->by & BY_HOST)
		json_string(o, "host", m->host[sum->host].name);
	if (m->by & (BY_PROCESS | BY_COMM))
		json_string(o, "comm", sum->comm);
	if (m->by & BY_PROCESS)
		json_number(o, "tgid", sum->tgid);
	if (m->by & BY_CALL)
		json_string(o, "call", sum->op);
	if (m->by & BY_OBJECT) {
		json_string(o, "type", type_name(sum->type));
		json_number(o, "major", sum->dev >> 20);
		json_number(o, "minor", sum->dev & 0xfffff);
		json_number(o, "id", sum->id);
		json_string(o, "name", sum->name);
	}
	if (m->by & BY_SIZE)
		json_number(o, "size", sum->size);
	if (m->by & BY_CLIENT)
		json_string(o, "client",
			    client_text(name, sizeof(name), m, sum));
}

static struct json_object *json_sum(const struct model *m,
				    const struct sum *sum)
{
	struct json_object *o = json_object_new_object();

	json_sum_key(o, m, sum);
	json_number(o, "failed", sum->errors);
	json_number(o, "bytes", sum->bytes);
	json_times(o, &sum->times);
	return o;
}

static struct json_object *json_pending(const struct model *m,
					const struct pending *p)
{
	struct json_object *o = json_object_new_object();

	json_string(o, "host", m->host[p->host].name);
	json_string(o, "comm", p->comm);
	json_number(o, "pid", p->pid);
	json_number(o, "tgid", p->tgid);
	json_string(o, "call", p->op);
	json_string(o, "name", p->name);
	json_number(o, "start", p->start);
	json_number(o, "time", p->time);
	return o;
}

static struct json_object *json_request(const struct model *m,
					const struct flow *e)
{
	struct json_object *o = json_object_new_object();
	struct json_object *response_time = json_object_new_object();
	struct json_object *service_time = json_object_new_object();
	struct json_object *steps = json_object_new_object();
	int i;

	json_string(o, "client_host", host_name(m, e->client));
	json_string(o, "client", e->client->name);
	json_string(o, "server_host", host_name(m, e->server));
	json_string(o, "server", e->server->name);
	json_string(o, "server_address", e->server->address);
	json_number(o, "answered", e->requests);
	json_number(o, "unclear", e->unclear);
	json_number(o, "multiplexed", e->multiplexed);
	json_number(o, "maybe_multiplexed", e->maybe_multiplexed);
	json_number(o, "guessed", e->guessed);
	json_number(o, "unanswered", e->unanswered);
	json_number(o, "unanswered_time", e->unanswered_time);
	json_number(o, "failed_connections", e->failed_connections);
	json_number(o, "cut_off", e->cut_off);
	json_number(o, "pushed", e->pushed);
	json_number(o, "sent", e->sent);
	json_number(o, "received", e->received);
	json_times(response_time, &e->response_time);
	json_object_object_add(o, "wait", response_time);
	json_times(service_time, &e->service_time);
	json_object_object_add(o, "service", service_time);
	json_signed(o, "between", e->network_time);
	json_number(o, "contradicted", e->contradicted);
	json_number(o, "stepped", e->stepped);
	json_number(o, "split", e->split);
	json_number(o, "there", e->to_server);
	json_number(o, "late", e->server_late);
	json_number(o, "back", e->to_client);
	json_number(o, "late_client", e->client_late);
	for (i = 0; i < STEPS; i++)
		json_number(steps, step_names[i], e->step[i]);
	json_object_object_add(o, "steps", steps);
	return o;
}

static struct json_object *json_hosts(const struct model *m)
{
	struct json_object *hosts = json_object_new_array();
	u64 i;

	for (i = 0; i < m->hosts; i++) {
		struct json_object *host = json_object_new_object();

		json_string(host, "name", m->host[i].name);
		json_string(host, "file", m->host[i].file);
		json_number(host, "calls", m->host[i].calls);
		json_number(host, "gaps", m->host[i].gaps);
		json_number(host, "udp_calls", m->host[i].udp);
		json_object_object_add(host, "clock", json_clock(m, i));
		json_boolean(host, "stock", m->host[i].stock);
		if (m->host[i].trouble)
			json_string(host, "trouble", m->host[i].trouble);
		json_object_array_add(hosts, host);
	}
	return hosts;
}

static void json_calls(struct json_object *o, const struct model *m, u64 top)
{
	struct json_object *model = json_object_new_array();
	struct json_object *pending = json_object_new_array();
	u64 i;

	for (i = 0; i < m->nr && i < top; i++)
		json_object_array_add(model, json_sum(m, m->sum[i]));
	for (i = 0; i < m->nr_pending; i++)
		json_object_array_add(pending, json_pending(m, m->pending[i]));
	json_object_object_add(o, "calls", model);
	json_object_object_add(o, "pending", pending);
}

static void json_requests(struct json_object *o, const struct model *m, u64 top)
{
	struct json_object *requests = json_object_new_array();
	u64 i;

	for (i = 0; i < m->nr_flows && i < top; i++)
		json_object_array_add(requests, json_request(m, m->flow[i]));
	json_object_object_add(o, "requests", requests);
}

/**
 * model_json - hosts, sums, pending calls and flows
 * @m:		model, after model_link()
 * @top:	maximum number of sums and of flows
 *
 * Return: an object, to be freed by the caller.
 */
struct json_object *model_json(const struct model *m, u64 top)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "hosts", json_hosts(m));
	json_calls(o, m, top);
	json_requests(o, m, top);
	return o;
}

static void report_json(FILE *out, const struct model *m, enum subject subject,
			const struct paths *paths, u64 top)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "hosts", json_hosts(m));
	if (subject == SUBJECT_ALL)
		json_calls(o, m, top);
	if (subject == SUBJECT_ALL || subject == SUBJECT_REQUESTS)
		json_requests(o, m, top);
	if (paths)
		json_paths(o, m, paths, top);
	if (subject == SUBJECT_READS)
		json_reads(o, m, top);
	if (subject == SUBJECT_STACKS)
		json_stacks(o, m, top);
	json_write(o, out);
}

static void report_csv(FILE *out, const struct model *m, enum subject subject,
		       const struct paths *paths, u64 top)
{
	switch (subject) {
	case SUBJECT_ALL:
		csv(out, m, top);
		break;
	case SUBJECT_REQUESTS:
		csv_requests(out, m, top);
		break;
	case SUBJECT_CLOCKS:
		csv_clocks(out, m);
		break;
	case SUBJECT_PATHS:
		csv_paths(out, m, paths, top);
		break;
	case SUBJECT_READS:
		csv_reads(out, m, top);
		break;
	case SUBJECT_STACKS:
		csv_stacks(out, m, top);
		break;
	}
}

static void report_text(FILE *out, const struct model *m, enum subject subject,
			const struct paths *paths, u64 top)
{
	text_files(out, m);
	if (subject == SUBJECT_CLOCKS || m->hosts > 1)
		text_clocks(out, m);
	if (subject == SUBJECT_ALL)
		text(out, m, top);
	if (paths)
		text_paths(out, m, paths, top);
	if (subject == SUBJECT_READS)
		text_reads(out, m, top);
	if (subject == SUBJECT_STACKS)
		text_stacks(out, m, top);
	if (subject != SUBJECT_ALL && subject != SUBJECT_REQUESTS)
		return;
	if (subject == SUBJECT_REQUESTS && !m->nr_flows)
		fprintf(out, "\nno requests\n");
	text_requests(out, m, top);
	if (subject == SUBJECT_ALL && m->nr_flows)
		fputs("\nwhat to fix first, and the slowest requests step by step: ioreq --paths\n",
		      out);
}

/**
 * ioreq_report - print the result
 * @out:	output
 * @m:		model, after model_link()
 * @format:	format
 * @subject:	what to print, of text, JSON and CSV
 * @top:	maximum number of sums and of flows
 */
void ioreq_report(FILE *out, const struct model *m, enum format format,
		  enum subject subject, u64 top)
{
	struct paths *paths = subject == SUBJECT_PATHS ? request_paths_new(m) :
							 NULL;

	switch (format) {
	case FORMAT_JSON:
		report_json(out, m, subject, paths, top);
		break;
	case FORMAT_CSV:
		report_csv(out, m, subject, paths, top);
		break;
	case FORMAT_TEXT:
		report_text(out, m, subject, paths, top);
		break;
	case FORMAT_CHROME:
		ioreq_write_chrome(out, m, top);
		break;
	case FORMAT_OTLP:
		ioreq_write_otlp(out, m, top);
		break;
	case FORMAT_FOLDED:
		ioreq_write_folded(out, m, top);
		break;
	case FORMAT_HTML:
		ioreq_write_html(out, m, top);
		break;
	case FORMATS:
		break;
	}
	if (m->stacks)
		stacks_note_problems(m->stacks);
	if (paths)
		request_paths_free(paths);
}
