// SPDX-License-Identifier: GPL-2.0
/*
 * What disks read, beside what programs asked for (the paper's figure 7): who reads some
 * bytes here and there has the disk read more, ahead of it, for nothing.
 *
 * A thread that reads a file asks the disk for it in that call, or in the fault on the
 * mapped file: what it queues from the call's begin to its end is for that object, but
 * for what belongs to a fault within the call. Requests to io_uring and aio overlap, and
 * are over when others have begun: what is queued in no call is for the request that was
 * submitted last, if that is not over. Else it is for none that is known.
 *
 * A disk may stand on others, and what is queued for it is queued for those as well: of
 * what a call or a request queues, or a thread between two calls, only that for the
 * first one's disk counts.
 *
 * Programs may ask for the same bytes again, and those are asked for more than once here:
 * what is read and not asked for is that much at least.
 */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "ioreq.h"
#include "text.h"

/**
 * struct queued - what a thread asked a disk for
 * @time:	when, ns of CLOCK_MONOTONIC
 * @calls:	so many calls of the thread were over
 * @bytes:	how many
 * @dev:	the disk
 * @ahead:	before anybody asked for them
 */
struct queued {
	u64 time;
	u64 calls;
	u64 bytes;
	u32 dev;
	bool ahead;
};

/**
 * struct submitted - a request during which the thread queued something
 * @start:	when it was submitted, ns of CLOCK_MONOTONIC
 * @end:	when it was complete
 * @reading:	what for
 */
struct submitted {
	u64 start;
	u64 end;
	struct reading *reading;
};

/**
 * struct reader - a thread
 * @host:	where
 * @pid:	its number
 * @comm:	its process's name at its last call
 * @calls:	how many are over
 * @queued:	in no call that is over
 * @nr:		how many
 * @room:	for so many
 * @submitted:	requests
 * @requests:	how many
 * @request_room: for so many
 * @next:	in the same bucket
 */
struct reader {
	u32 host;
	s32 pid;
	char comm[COMM_SIZE];
	u64 calls;
	struct queued *queued;
	u64 nr;
	u64 room;
	struct submitted *submitted;
	u64 requests;
	u64 request_room;
	struct reader *next;
};

/**
 * struct reads - see reads_new()
 * @reader:	threads by hash
 * @bucket:	what was read by hash
 * @nr:		how many
 */
struct reads {
	struct reader *reader[BUCKETS];
	struct reading *bucket[BUCKETS];
	u64 nr;
};

/**
 * reads_new - nothing is read yet
 *
 * Return: that; reads_free() frees it.
 */
struct reads *reads_new(void)
{
	return allocate(sizeof(struct reads));
}

static struct reader *find_reader(struct reads *r, u32 host, s32 pid)
{
	u32 at = mix(host, pid);
	struct reader *p;

	for (p = r->reader[at]; p; p = p->next) {
		if (p->host == host && p->pid == pid)
			return p;
	}
	p = allocate(sizeof(*p));
	p->host = host;
	p->pid = pid;
	p->next = r->reader[at];
	r->reader[at] = p;
	return p;
}

/**
 * reads_queue - a thread asks a disk for something
 * @r: reads
 * @host: where
 * @pid: thread
 * @time: when, ns of CLOCK_MONOTONIC
 * @dev: the disk
 * @bytes: how many
 * @ahead: nobody has asked for them yet
 */
void reads_queue(struct reads *r, u32 host, s32 pid, u64 time, u32 dev,
		 u64 bytes, bool ahead)
{
	struct reader *p = find_reader(r, host, pid);

	p->queued = grow(p->queued, p->nr, &p->room, sizeof(*p->queued));
	p->queued[p->nr++] = (struct queued){
		.time = time,
		.calls = p->calls,
		.bytes = bytes,
		.dev = dev,
		.ahead = ahead,
	};
}

static struct reading *find_reading(struct reads *r, u32 host, const char *comm,
				    const struct object *o)
{
	u32 at = mix(o->id ^ (u64)o->dev << 32, host);
	struct reading *e;

	for (e = r->bucket[at]; e; e = e->next) {
		if (e->host == host && e->object.id == o->id &&
		    e->object.dev == o->dev && e->object.type == o->type &&
		    !strcmp(e->comm, comm) && !strcmp(e->object.name, o->name))
			return e;
	}
	e = allocate(sizeof(*e));
	e->host = host;
	snprintf(e->comm, sizeof(e->comm), "%s", comm);
	e->object = *o;
	e->object.name = strdup(o->name);
	if (!e->object.name)
		abort();
	e->next = r->bucket[at];
	r->bucket[at] = e;
	r->nr++;
	return e;
}

static void add_queued(struct reading *e, const struct queued *q)
{
	times_add(&e->disk, q->bytes);
	if (q->ahead)
		e->ahead += q->bytes;
}

static struct reader *take_actor(struct reads *r, const struct actor *who)
{
	struct reader *p = find_reader(r, who->host, who->pid);

	memcpy(p->comm, who->comm, sizeof(p->comm));
	return p;
}

static void take_asked(struct reads *r, const struct actor *who,
		       const struct object *object, u64 asked)
{
	if (asked)
		times_add(&find_reading(r, who->host, who->comm, object)->asked,
			  asked);
}

/**
 * reads_call - a call or a fault has ended
 * @r: reads
 * @who: the thread; its calls do not matter
 * @object: what it was about
 * @asked: how many bytes it asked for and got; 0: it does not read
 * @start: when it began, ns of CLOCK_MONOTONIC
 *
 * What was queued before it began stays: for the call that a fault was in, or a request.
 */
void reads_call(struct reads *r, const struct actor *who,
		const struct object *object, u64 asked, u64 start)
{
	struct reader *p = take_actor(r, who);
	u64 first = p->nr, i;

	while (first && p->queued[first - 1].time >= start)
		first--;
	for (i = first; i < p->nr; i++) {
		if (p->queued[i].dev == p->queued[first].dev)
			add_queued(find_reading(r, who->host, who->comm,
						object),
				   &p->queued[i]);
	}
	p->nr = first;
	p->calls++;
	take_asked(r, who, object, asked);
}

/**
 * reads_request - a request to io_uring or aio has ended
 * @r: reads
 * @who: the thread that submitted it; its calls do not matter
 * @object: what it was about
 * @asked: how many bytes it asked for and got; 0: it does not read
 * @start: when it was submitted, ns of CLOCK_MONOTONIC
 * @end: when it was complete
 */
void reads_request(struct reads *r, const struct actor *who,
		   const struct object *object, u64 asked, u64 start, u64 end)
{
	struct reader *p = take_actor(r, who);

	take_asked(r, who, object, asked);
	if (!p->nr || p->queued[p->nr - 1].time < start)
		return;
	p->submitted = grow(p->submitted, p->requests, &p->request_room,
			    sizeof(*p->submitted));
	p->submitted[p->requests++] = (struct submitted){
		.start = start,
		.end = end,
		.reading = find_reading(r, who->host, who->comm, object),
	};
}

static int by_start(const void *a, const void *b)
{
	const struct submitted *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* The last one that was submitted before something was queued, if it was not over */
static const struct submitted *request_at(const struct reader *p, u64 time)
{
	u64 low = 0, high = p->requests;

	while (low < high) {
		u64 middle = low + (high - low) / 2;

		if (p->submitted[middle].start <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low && p->submitted[low - 1].end >= time ?
		       &p->submitted[low - 1] :
		       NULL;
}

/* What a thread queued in no call */
static void add_rest(struct reads *r, struct reader *p)
{
	static char none[1];
	const struct object nothing = { .name = none };
	const struct submitted *last = NULL, *request;
	const struct queued *first = NULL;
	u64 i;

	if (p->requests)
		qsort(p->submitted, p->requests, sizeof(*p->submitted),
		      by_start);
	for (i = 0; i < p->nr; i++) {
		const struct queued *q = &p->queued[i];

		request = request_at(p, q->time);
		if (!first || request != last || first->calls != q->calls)
			first = q;
		last = request;
		if (q->dev == first->dev)
			add_queued(request ? request->reading :
					     find_reading(r, p->host, p->comm,
							  &nothing),
				   q);
	}
}

static void add_rests(struct reads *r)
{
	struct reader *p;
	u64 i;

	for (i = 0; i < BUCKETS; i++) {
		for (p = r->reader[i]; p; p = p->next)
			add_rest(r, p);
	}
}

static u64 wasted(const struct reading *e)
{
	return e->disk.sum > e->asked.sum ? e->disk.sum - e->asked.sum : 0;
}

static int by_waste(const void *a, const void *b)
{
	const struct reading *x = *(struct reading *const *)a,
			     *y = *(struct reading *const *)b;
	u64 p = wasted(x), q = wasted(y);

	if (p != q)
		return p > q ? -1 : 1;
	if (x->disk.sum != y->disk.sum)
		return x->disk.sum > y->disk.sum ? -1 : 1;
	if (x->asked.sum != y->asked.sum)
		return x->asked.sum > y->asked.sum ? -1 : 1;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (strcmp(x->comm, y->comm) != 0)
		return strcmp(x->comm, y->comm);
	return strcmp(x->object.name, y->object.name);
}

/**
 * reads_finish - all files are read
 * @r: reads
 * @nr: set to how many there are
 *
 * Return: what was read, by process and object, what was read for nothing first; the
 * caller frees the array, and reads_free() what it points to.
 */
struct reading **reads_finish(struct reads *r, u64 *nr)
{
	struct reading **list, *e;
	u64 i;

	add_rests(r);
	list = allocate((r->nr + 1) * sizeof(*list));
	*nr = 0;
	for (i = 0; i < BUCKETS; i++) {
		for (e = r->bucket[i]; e; e = e->next) {
			times_finish(&e->asked);
			times_finish(&e->disk);
			list[(*nr)++] = e;
		}
	}
	qsort(list, *nr, sizeof(*list), by_waste);
	return list;
}

/**
 * reads_free - free all of it
 * @r: reads, or NULL
 */
void reads_free(struct reads *r)
{
	struct reading *e;
	struct reader *p;
	u64 i;

	if (!r)
		return;
	for (i = 0; i < BUCKETS; i++) {
		while ((p = r->reader[i])) {
			r->reader[i] = p->next;
			free(p->queued);
			free(p->submitted);
			free(p);
		}
		while ((e = r->bucket[i])) {
			r->bucket[i] = e->next;
			free(e->asked.time);
			free(e->disk.time);
			free(e->object.name);
			free(e);
		}
	}
	free(r);
}

/* ------------------------------------------------------------------------- */
/* The result */

static const char *bytes_text(char *buf, u64 n)
{
	return format_bytes(buf, 24, n);
}

static void text_reading(FILE *out, const struct sums *s,
			 const struct reading *e)
{
	char name[4200], asked[24], size[24], disk[24], request[24], ahead[24],
		waste[24];

	object_name(name, sizeof(name), e->object.type, e->object.id,
		    e->object.name);
	if (s->hosts > 1)
		fprintf(out, "%-12s ", s->host[e->host].name);
	fprintf(out, "%-15s %9llu %9s %9s %9llu %9s %9s %9s %9s  %s\n",
		*e->comm ? e->comm : "-", e->asked.nr,
		bytes_text(asked, e->asked.sum), bytes_text(size, e->asked.p50),
		e->disk.nr, bytes_text(disk, e->disk.sum),
		bytes_text(request, e->disk.p50), bytes_text(ahead, e->ahead),
		bytes_text(waste, wasted(e)), name);
}

/**
 * text_reads - what was read, for people
 * @out: where to
 * @s: after sums_finish()
 * @top: so many, at most
 */
void text_reads(FILE *out, const struct sums *s, u64 top)
{
	u64 i;

	if (!s->disks)
		fputs("\nno reads of disks, or they were not recorded: trace-cmd record -e iosys -e block:block_bio_queue\n",
		      out);
	fputs("\nwhat programs asked for, and what disks read for it\n", out);
	if (s->hosts > 1)
		fprintf(out, "%-12s ", "host");
	fprintf(out, "%-15s %9s %9s %9s %9s %9s %9s %9s %9s  object\n",
		"process", "reads", "asked", "p50", "requests", "from disk",
		"p50", "ahead", "wasted");
	for (i = 0; i < s->nr_readings && i < top; i++)
		text_reading(out, s, s->reading[i]);
	if (s->nr_readings > top)
		fprintf(out, "... %llu more (--top)\n", s->nr_readings - top);
}

/**
 * csv_reads - what was read
 * @out: where to
 * @s: after sums_finish()
 * @top: so many, at most
 */
void csv_reads(FILE *out, const struct sums *s, u64 top)
{
	u64 i;

	fprintf(out,
		"host,process,type,dev,id,object,reads,asked,asked_p50,asked_p99,requests,disk,disk_p50,disk_p99,ahead,wasted\n");
	for (i = 0; i < s->nr_readings && i < top; i++) {
		const struct reading *e = s->reading[i];

		csv_string(out, s->host[e->host].name);
		fputc(',', out);
		csv_string(out, e->comm);
		fprintf(out, ",%s,%u,%llu,", type_name(e->object.type),
			e->object.dev, e->object.id);
		csv_string(out, e->object.name);
		fprintf(out,
			",%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n",
			e->asked.nr, e->asked.sum, e->asked.p50, e->asked.p99,
			e->disk.nr, e->disk.sum, e->disk.p50, e->disk.p99,
			e->ahead, wasted(e));
	}
}

static void json_sizes(struct json_object *o, const char *name,
		       const struct times *t)
{
	struct json_object *sizes = json_object_new_object();

	json_number(sizes, "count", t->nr);
	json_number(sizes, "bytes", t->sum);
	json_number(sizes, "p50", t->p50);
	json_number(sizes, "p99", t->p99);
	json_number(sizes, "max", t->max);
	json_object_object_add(o, name, sizes);
}

/**
 * json_reads - what was read
 * @o: the result
 * @s: after sums_finish()
 * @top: so many, at most
 */
void json_reads(struct json_object *o, const struct sums *s, u64 top)
{
	struct json_object *list = json_object_new_array();
	u64 i;

	for (i = 0; i < s->nr_readings && i < top; i++) {
		const struct reading *e = s->reading[i];
		struct json_object *r = json_object_new_object();

		json_string(r, "host", s->host[e->host].name);
		json_string(r, "process", e->comm);
		json_string(r, "type", type_name(e->object.type));
		json_number(r, "dev", e->object.dev);
		json_number(r, "id", e->object.id);
		json_string(r, "object", e->object.name);
		json_sizes(r, "asked", &e->asked);
		json_sizes(r, "disk", &e->disk);
		json_number(r, "ahead", e->ahead);
		json_number(r, "wasted", wasted(e));
		json_object_array_add(list, r);
	}
	json_object_object_add(o, "reads", list);
}
