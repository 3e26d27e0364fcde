// SPDX-License-Identifier: GPL-2.0
/* Makes records of ordinary scheduling events. See schedrecord.h. */
#include <event-parse.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "schedrecord.h"

/* Where a record's field is in struct schedz_event */
enum source {
	COMMON_TYPE,
	COMMON_FLAGS,
	COMMON_PREEMPT,
	COMMON_PID,
	TASK_COMM,
	TASK_PID,
	TASK_PRIO,
	OTHER_COMM,
	OTHER_PID,
	OTHER_PRIO,
	STATE,
	CPU,
	DEST_CPU,
	OLD_PID,
	FILENAME,
	SOURCES,
};

struct field {
	const char *name;
	const char *type; /* in the format */
	enum source source;
};

#define COMM(name, source)           \
	{                            \
		name, "char", source \
	}
#define INT(type, name, source)    \
	{                          \
		name, type, source \
	}

static const struct field common[] = {
	{ "common_type", "unsigned short", COMMON_TYPE },
	{ "common_flags", "unsigned char", COMMON_FLAGS },
	{ "common_preempt_count", "unsigned char", COMMON_PREEMPT },
	{ "common_pid", "int", COMMON_PID },
	{ NULL, NULL, 0 },
};

static const struct field switch_fields[] = {
	COMM("prev_comm", TASK_COMM),
	INT("pid_t", "prev_pid", TASK_PID),
	INT("int", "prev_prio", TASK_PRIO),
	INT("long", "prev_state", STATE),
	COMM("next_comm", OTHER_COMM),
	INT("pid_t", "next_pid", OTHER_PID),
	INT("int", "next_prio", OTHER_PRIO),
	{ NULL, NULL, 0 },
};

static const struct field wake_fields[] = {
	COMM("comm", TASK_COMM),
	INT("pid_t", "pid", TASK_PID),
	INT("int", "prio", TASK_PRIO),
	INT("int", "target_cpu", CPU),
	{ NULL, NULL, 0 },
};

static const struct field migrate_fields[] = {
	COMM("comm", TASK_COMM),	  INT("pid_t", "pid", TASK_PID),
	INT("int", "prio", TASK_PRIO),	  INT("int", "orig_cpu", CPU),
	INT("int", "dest_cpu", DEST_CPU), { NULL, NULL, 0 },
};

static const struct field fork_fields[] = {
	COMM("parent_comm", TASK_COMM),
	INT("pid_t", "parent_pid", TASK_PID),
	COMM("child_comm", OTHER_COMM),
	INT("pid_t", "child_pid", OTHER_PID),
	{ NULL, NULL, 0 },
};

static const struct field exec_fields[] = {
	{ "filename", "__data_loc char[]", FILENAME },
	INT("pid_t", "pid", TASK_PID),
	INT("pid_t", "old_pid", OLD_PID),
	{ NULL, NULL, 0 },
};

static const struct field exit_fields[] = {
	COMM("comm", TASK_COMM),
	INT("pid_t", "pid", TASK_PID),
	INT("int", "prio", TASK_PRIO),
	{ NULL, NULL, 0 },
};

#define PRINT_WAKE                                                          \
	"\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, " \
	"REC->prio, REC->target_cpu"

/* As Linux 6.12 has them */
static const struct {
	const char *name;
	const struct field *field;
	const char *print;
} kinds[SCHEDZ_KINDS] = {
	[SCHEDZ_SWITCH] = {
		"sched_switch", switch_fields,
		"\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s "
		"==> next_comm=%s next_pid=%d next_prio=%d\", REC->prev_c"
		"omm, REC->prev_pid, REC->prev_prio, (REC->prev_state & ("
		"(((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0"
		"x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) <"
		"< 1) - 1)) ? __print_flags(REC->prev_state & ((((0x00000"
		"000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 "
		"| 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - 1),"
		" \"|\", { 0x00000001, \"S\" }, { 0x00000002, \"D\" }, { "
		"0x00000004, \"T\" }, { 0x00000008, \"t\" }, { 0x00000010"
		", \"X\" }, { 0x00000020, \"Z\" }, { 0x00000040, \"P\" },"
		" { 0x00000080, \"I\" }) : \"R\", REC->prev_state & (((0x"
		"00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x0000"
		"0008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) "
		"? \"+\" : \"\", REC->next_comm, REC->next_pid, REC->next"
		"_prio",
	},
	[SCHEDZ_WAKING] = { "sched_waking", wake_fields, PRINT_WAKE },
	[SCHEDZ_WAKEUP] = { "sched_wakeup", wake_fields, PRINT_WAKE },
	[SCHEDZ_WAKEUP_NEW] = { "sched_wakeup_new", wake_fields, PRINT_WAKE },
	[SCHEDZ_MIGRATE] = {
		"sched_migrate_task", migrate_fields,
		"\"comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d\", REC->comm, "
		"REC->pid, REC->prio, REC->orig_cpu, REC->dest_cpu",
	},
	[SCHEDZ_FORK] = {
		"sched_process_fork", fork_fields,
		"\"comm=%s pid=%d child_comm=%s child_pid=%d\", "
		"REC->parent_comm, REC->parent_pid, REC->child_comm, "
		"REC->child_pid",
	},
	[SCHEDZ_EXEC] = {
		"sched_process_exec", exec_fields,
		"\"filename=%s pid=%d old_pid=%d\", __get_str(filename), "
		"REC->pid, REC->old_pid",
	},
	[SCHEDZ_EXIT] = {
		"sched_process_exit", exit_fields,
		"\"comm=%s pid=%d prio=%d\", REC->comm, REC->pid, REC->prio",
	},
};

static unsigned int width_of(const struct field *f, unsigned int long_size)
{
	if (f->source == TASK_COMM || f->source == OTHER_COMM)
		return SCHEDZ_COMM_LEN;
	if (f->source == COMMON_TYPE)
		return 2;
	if (f->source == COMMON_FLAGS || f->source == COMMON_PREEMPT)
		return 1;
	return f->source == STATE ? long_size : 4;
}

static void print_field(FILE *out, const struct field *f, unsigned int at,
			unsigned int width)
{
	bool comm = width == SCHEDZ_COMM_LEN;
	bool is_signed = width > 2 && f->source != FILENAME && !comm;

	fprintf(out, "\tfield:%s %s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n",
		f->type, f->name, comm ? "[16]" : "", at, width, is_signed);
}

/* A format as the kernel would print it, for an event that the file lacks */
static char *make_format(unsigned int kind, unsigned int id,
			 unsigned int long_size)
{
	const struct field *f;
	unsigned int at = 0, width;
	char *text = NULL;
	size_t len;
	FILE *out = text_open(&text, &len);

	fprintf(out, "name: %s\nID: %u\nformat:\n", kinds[kind].name, id);
	for (f = common; f->name; f++) {
		width = width_of(f, long_size);
		print_field(out, f, at, width);
		at += width;
	}
	fputc('\n', out);
	for (f = kinds[kind].field; f->name; f++) {
		width = width_of(f, long_size);
		if (width < SCHEDZ_COMM_LEN)
			at = (at + width - 1) / width * width;
		print_field(out, f, at, width);
		at += width;
	}
	fprintf(out, "\nprint fmt: %s\n", kinds[kind].print);
	text_close(out);
	return text;
}

static bool add_field(struct layout *l, struct tep_event *event,
		      const struct field *f)
{
	struct tep_format_field *field = tep_find_any_field(event, f->name);
	bool comm = f->source == TASK_COMM || f->source == OTHER_COMM;
	unsigned int end;

	if (!field || field->offset < 0 || field->offset > 256 ||
	    field->size < 1 || field->size > SCHEDZ_COMM_LEN)
		return false;
	if (comm ? field->size != SCHEDZ_COMM_LEN : field->size > 8)
		return false;
	if ((f->source == FILENAME) != !!(field->flags & TEP_FIELD_IS_DYNAMIC))
		return false;
	l->offset[f->source] = field->offset;
	l->width[f->source] = field->size;
	end = field->offset + field->size;
	if (end > l->size)
		l->size = end;
	return true;
}

static bool find_layout(struct layout *l, struct tep_event *event,
			const struct field *field)
{
	const struct field *f;
	unsigned int i;

	l->id = event->id;
	l->size = 0;
	for (i = 0; i < SOURCES; i++)
		l->offset[i] = -1;
	for (f = common; f->name; f++) {
		if (!add_field(l, event, f))
			return false;
	}
	for (f = field; f->name; f++) {
		if (!add_field(l, event, f))
			return false;
	}
	return true;
}

/**
 * layouts_init - find the layouts of a file's scheduling events
 * @l: filled in; layouts_free() is needed in any case
 * @tep: events of the file; missing scheduling events are added
 * @free_id: no event of the file has this number or a higher one
 * @long_size: size of a long in the file
 *
 * Return: NULL, or the name of an event whose fields are not those of Linux 6.12.
 */
const char *layouts_init(struct layouts *l, struct tep_handle *tep,
			 unsigned int free_id, unsigned int long_size)
{
	struct tep_event *event;
	unsigned int kind;

	memset(l, 0, sizeof(*l));
	l->big_endian = tep_is_file_bigendian(tep);
	for (kind = 0; kind < SCHEDZ_KINDS; kind++) {
		const char *name = kinds[kind].name;

		event = tep_find_event_by_name(tep, "sched", name);
		if (!event) {
			l->missing[kind] = true;
			l->format[kind] =
				make_format(kind, free_id++, long_size);
			tep_parse_event(tep, l->format[kind],
					strlen(l->format[kind]), "sched");
			event = tep_find_event_by_name(tep, "sched", name);
		}
		if (!event ||
		    !find_layout(&l->kind[kind], event, kinds[kind].field))
			return name;
	}
	return NULL;
}

void layouts_free(struct layouts *l)
{
	unsigned int kind;

	for (kind = 0; kind < SCHEDZ_KINDS; kind++)
		free(l->format[kind]);
}

static void put(const struct layouts *l, const struct layout *k, u8 *rec,
		enum source source, u64 value)
{
	int at = k->offset[source];
	unsigned int i, size = k->width[source];

	for (i = 0; at >= 0 && i < size; i++)
		rec[at + (l->big_endian ? size - 1 - i : i)] =
			i < 8 ? value >> (8 * i) : 0;
}

static void put_comm(const struct layout *k, u8 *rec, enum source source,
		     const struct schedz_task *task)
{
	if (k->offset[source] >= 0)
		memcpy(rec + k->offset[source], task->name, SCHEDZ_COMM_LEN);
}

/**
 * record_make - make the record of an event
 * @l: layouts of the file
 * @rec: room for RECORD_MAX bytes
 * @e: the event
 *
 * Return: length of the record.
 */
unsigned int record_make(const struct layouts *l, u8 *rec,
			 const struct schedz_event *e)
{
	const struct layout *k = &l->kind[e->kind];
	unsigned int len = k->size;

	memset(rec, 0, len);
	put(l, k, rec, COMMON_TYPE, k->id);
	put(l, k, rec, COMMON_FLAGS, e->flags);
	put(l, k, rec, COMMON_PREEMPT, e->preempt_count);
	put(l, k, rec, COMMON_PID, (s64)e->common_pid);
	put_comm(k, rec, TASK_COMM, &e->task);
	put(l, k, rec, TASK_PID, (s64)e->task.pid);
	put(l, k, rec, TASK_PRIO, (s64)e->task.prio);
	put_comm(k, rec, OTHER_COMM, &e->other);
	put(l, k, rec, OTHER_PID, (s64)e->other.pid);
	put(l, k, rec, OTHER_PRIO, (s64)e->other.prio);
	put(l, k, rec, STATE, e->state);
	put(l, k, rec, CPU, (s64)e->cpu);
	put(l, k, rec, DEST_CPU, (s64)e->dest_cpu);
	put(l, k, rec, OLD_PID, (s64)e->old_pid);
	if (e->kind == SCHEDZ_EXEC) {
		put(l, k, rec, FILENAME, (e->filename_len + 1) << 16 | len);
		memcpy(rec + len, e->filename, e->filename_len);
		len += e->filename_len;
		rec[len++] = '\0';
	}
	return len;
}
