// SPDX-License-Identifier: GPL-2.0
/*
 * Reads call stacks and mapped files, from the events io_stack and io_map. The kernel
 * writes them before the first record that refers to them, and again while they are in
 * use, so a file may have them more than once, and after the ring buffer wrapped around
 * they come later.
 */
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "order.h"
#include "read.h"
#include "text.h"

/* Maximum number of frames that the kernel records */
#define FRAMES_MAX 256

/* In a file; below that bit, its number and the offset in it */
#define FRAME_IN_FILE (1ull << 63)
#define FRAME_SHIFT 32
/* In the first version numbers had the upper bits, and addresses the number 0 */
#define FIRST_SHIFT 48

/* A file number of a host, which may be reused; @latest: the last file that had it, or NULL */
struct file_number {
	u32 host;
	u32 id;
	struct mapped_file *latest;
};

/**
 * struct process - a process whose calls have stacks
 * @host:	number of the host
 * @tgid:	process ID
 * @caller:	its stacks
 * @path:	path of its perf map, if that cannot be used
 * @trouble:	why, or NULL
 */
struct process {
	u32 host;
	s32 tgid;
	struct stack_caller *caller;
	char *path;
	const char *trouble;
};

/**
 * struct stack_caller - a process whose calls have a stack
 * @key:	key of the stack
 * @process:	the process
 * @next:	next one of the same process, or NULL
 */
struct stack_caller {
	u64 key;
	struct process *process;
	struct stack_caller *next;
};

/**
 * struct stacks - see stacks_new()
 * @guard:		guard, for messages
 * @model:		model, for names of hosts
 * @options:		how files are looked up
 * @perf_maps:		directory of perf maps, or NULL for /tmp
 * @stacks:		struct stack, by host and number
 * @file_numbers:	struct file_number
 * @processes:		struct process
 * @callers:		struct stack_caller
 */
struct stacks {
	struct guard *guard;
	const struct model *model;
	const struct elffile_options *options;
	const char *perf_maps;
	struct hash stacks;
	struct hash file_numbers;
	struct hash processes;
	struct hash callers;
};

/**
 * stacks_new - create an empty set of stacks
 * @g:		guard
 * @model:	model
 * @options:	how files are looked up
 * @perf_maps:	directory of perf maps, or NULL for /tmp
 *
 * Return: stacks, to be freed with stacks_free().
 */
struct stacks *stacks_new(struct guard *g, const struct model *model,
			  const struct elffile_options *options,
			  const char *perf_maps)
{
	struct stacks *s = xzalloc(sizeof(*s));

	s->guard = g;
	s->model = model;
	s->options = options;
	s->perf_maps = perf_maps;
	return s;
}

/* ------------------------------------------------------------------------- */
/* Formats */

static bool find_stack_fields(struct stack_layout *l, const struct records *r,
			      struct tep_event *event)
{
	return event && number_find(&l->common_type, r, event, "common_type") &&
	       number_find(&l->id, r, event, "id") &&
	       number_find(&l->end, r, event, "end") &&
	       number_find(&l->guessed, r, event, "guessed") &&
	       (l->frames = array_find(event, "frames"));
}

static bool find_map_fields(struct stack_layout *l, const struct records *r,
			    struct tep_event *event)
{
	return event && number_find(&l->common_type, r, event, "common_type") &&
	       number_find(&l->map_id, r, event, "id") &&
	       number_find(&l->ino, r, event, "ino") &&
	       number_find(&l->dev, r, event, "dev") &&
	       number_find(&l->build_id_size, r, event, "build_id_size") &&
	       (l->build_id = array_find(event, "build_id")) &&
	       (l->path = array_find(event, "path"));
}

/**
 * stacks_layout - find the fields of the two events
 * @l:	set to the layout; an id is -1 if the file has no such event
 * @r:	file
 */
void stacks_layout(struct stack_layout *l, const struct records *r)
{
	struct tep_event *stack = tep_find_event_by_name(records_tep(r),
							 "iosys", "io_stack"),
			 *map = tep_find_event_by_name(records_tep(r), "iosys",
						       "io_map");

	memset(l, 0, sizeof(*l));
	l->stack = find_stack_fields(l, r, stack) ? stack->id : -1;
	l->counts = l->stack >= 0 &&
		    number_find(&l->evicted, r, stack, "evicted") &&
		    number_find(&l->refused, r, stack, "refused");
	l->map = find_map_fields(l, r, map) ? map->id : -1;
	if (l->stack >= 0)
		symbols_find(l->end_name, ENDS_MAX, stack, "end");
}

/* ------------------------------------------------------------------------- */
/* Records */

static struct mapped_file **latest_file(struct stacks *s, u32 host, u32 id)
{
	u64 hash = hash_pair(host, id);
	struct file_number *n;

	hash_for_each_possible_entry(&s->file_numbers, hash, n) {
		if (n->host == host && n->id == id)
			return &n->latest;
	}
	n = hash_new(&s->file_numbers, hash, sizeof(*n));
	n->host = host;
	n->id = id;
	return &n->latest;
}

static struct stack *find_stack(const struct stacks *s, u32 host, u32 id)
{
	u64 hash = hash_pair(host, id);
	struct stack *stack;

	hash_for_each_possible_entry(&s->stacks, hash, stack) {
		if (stack->host == host && stack->id == id)
			return stack;
	}
	return NULL;
}

/**
 * stacks_add - add a stack
 * @s:		stacks
 * @host:	number of the host
 * @id:		number of the stack
 * @nr:		number of its frames
 *
 * Return: the stack, with frames to be filled in, or NULL if there is one with this number.
 */
struct stack *stacks_add(struct stacks *s, u32 host, u32 id, u32 nr)
{
	struct stack *stack;

	if (find_stack(s, host, id))
		return NULL;
	stack = hash_new(&s->stacks, hash_pair(host, id), sizeof(*stack));
	stack->host = host;
	stack->id = id;
	stack->nr = nr;
	stack->frame = xzalloc((nr + 1) * sizeof(*stack->frame));
	return stack;
}

static void set_frame(struct frame *f, u64 value, const struct stack_layout *l)
{
	u32 shift = l->counts ? FRAME_SHIFT : FIRST_SHIFT;

	if (l->counts && !(value & FRAME_IN_FILE)) {
		f->offset = value;
		return;
	}
	if (l->counts)
		value &= ~FRAME_IN_FILE;
	f->map = value >> shift;
	f->offset = value & ((1ull << shift) - 1);
}

static bool count_stacks(struct stack_layout *l, const struct record *rec)
{
	if (!l->counts)
		return true;
	if (!number_fits(&l->evicted, rec) || !number_fits(&l->refused, rec))
		return false;
	l->last_evicted = number_get(&l->evicted, rec);
	l->last_refused = number_get(&l->refused, rec);
	if (!l->found) {
		l->first_evicted = l->last_evicted;
		l->first_refused = l->last_refused;
		l->found = true;
	}
	return true;
}

static bool parse_stack(struct stacks *s, u32 host, struct stack_layout *l,
			const struct record *rec)
{
	struct number n = { .size = 8, .swap = l->id.swap };
	struct stack *stack;
	const u8 *frames;
	u32 id, len, i;

	if (!number_fits(&l->id, rec) || !number_fits(&l->end, rec) ||
	    !number_fits(&l->guessed, rec) ||
	    !array_get(l->frames, rec->data, rec->size, &frames, &len) ||
	    len % 8 || len > 8 * FRAMES_MAX || !count_stacks(l, rec))
		return false;
	id = number_get(&l->id, rec);
	stack = stacks_add(s, host, id, len / 8);
	if (!stack)
		return true;
	stack->end = number_get(&l->end, rec);
	stack->guessed = number_get(&l->guessed, rec);
	snprintf(stack->end_name, sizeof(stack->end_name), "%s",
		 stack->end < ENDS_MAX && *l->end_name[stack->end] ?
			 l->end_name[stack->end] :
			 "unknown");
	for (i = 0; i < stack->nr; i++) {
		n.offset = frames - rec->data + 8 * i;
		set_frame(&stack->frame[i], number_get(&n, rec), l);
		/* In the first version, its number may be reused for another file */
		if (stack->frame[i].map)
			stack->frame[i].mapped_file =
				*latest_file(s, host, stack->frame[i].map);
	}
	return true;
}

/**
 * stacks_map - add a file that frames refer to, or what is not known of it yet
 * @s:		stacks
 * @id:		its number
 * @file:	the file, without what is looked up
 *
 * Return: false if the number stood for another file before.
 */
bool stacks_map(struct stacks *s, u32 id, const struct mapped_file *file)
{
	struct mapped_file **latest = latest_file(s, file->host, id);
	struct mapped_file *m = *latest;
	bool first = !m;

	if (!m || m->ino != file->ino || m->dev != file->dev ||
	    strcmp(m->path, file->path) != 0) {
		m = xzalloc(sizeof(*m));
		*m = *file;
		m->path = xstrdup(file->path);
		m->older = *latest;
		*latest = m;
		return first;
	}
	/* It may become known later */
	m->build_id_size = file->build_id_size;
	memcpy(m->build_id, file->build_id, file->build_id_size);
	return true;
}

static bool parse_map(struct stacks *s, u32 host, const struct stack_layout *l,
		      const struct record *rec)
{
	struct mapped_file m = { .host = host };
	const u8 *build_id;
	char path[4096];
	u32 len, size;

	if (!number_fits(&l->map_id, rec) || !number_fits(&l->ino, rec) ||
	    !number_fits(&l->dev, rec) ||
	    !number_fits(&l->build_id_size, rec) ||
	    !array_get(l->build_id, rec->data, rec->size, &build_id, &len) ||
	    !array_text(l->path, rec, path, sizeof(path)))
		return false;
	size = number_get(&l->build_id_size, rec);
	if (size > len || size > BUILD_ID_MAX)
		return false;
	m.dev = number_get(&l->dev, rec);
	m.ino = number_get(&l->ino, rec);
	m.path = path;
	m.build_id_size = size;
	memcpy(m.build_id, build_id, size);
	stacks_map(s, number_get(&l->map_id, rec), &m);
	return true;
}

/**
 * stacks_record - read a record of io_stack or io_map
 * @s:		stacks
 * @host:	number of the file
 * @l:		its layout
 * @type:	id of the record's event
 * @rec:	record
 *
 * Return: false if it is one of these and damaged.
 */
bool stacks_record(struct stacks *s, u32 host, struct stack_layout *l, u64 type,
		   const struct record *rec)
{
	if (l->stack >= 0 && type == (u64)l->stack)
		return parse_stack(s, host, l, rec);
	if (l->map >= 0 && type == (u64)l->map)
		return parse_map(s, host, l, rec);
	return true;
}

static struct process *find_process(struct stacks *s, u32 host, s32 tgid)
{
	u64 hash = hash_pair(host, tgid);
	struct process *p;

	hash_for_each_possible_entry(&s->processes, hash, p) {
		if (p->host == host && p->tgid == tgid)
			return p;
	}
	p = hash_new(&s->processes, hash, sizeof(*p));
	p->host = host;
	p->tgid = tgid;
	return p;
}

/**
 * stacks_call - add a process whose call has a stack
 * @s:		stacks
 * @key:	key of the stack, see stack_key(); 0: none
 * @tgid:	process
 */
void stacks_call(struct stacks *s, u64 key, s32 tgid)
{
	u64 hash = hash_pair(key, tgid);
	struct stack_caller *c;

	if (!key)
		return;
	hash_for_each_possible_entry(&s->callers, hash, c) {
		if (c->key == key && c->process->tgid == tgid)
			return;
	}
	c = hash_new(&s->callers, hash, sizeof(*c));
	c->key = key;
	c->process = find_process(s, (key >> 32) - 1, tgid);
	c->next = c->process->caller;
	c->process->caller = c;
}

/**
 * stacks_note_counts - report what happened to stacks in the kernel while a file was recorded
 * @g:	guard, with the file
 * @l:	its layout, after all records were read
 */
void stacks_note_counts(struct guard *g, const struct stack_layout *l)
{
	u32 evicted = l->last_evicted - l->first_evicted;
	u32 refused = l->last_refused - l->first_refused;

	if (evicted)
		guard_note(
			g,
			"the kernel evicted %u stack%s, which the file iosys_stacks lacks",
			evicted, plural(evicted));
	if (refused)
		guard_note(
			g,
			"the kernel had no room for the stacks of %u or more calls: those calls are without a stack",
			refused);
}

/* Several hosts have processes with the same ID */
static char *perf_map_path(const struct stacks *s, const struct process *p)
{
	if (!s->perf_maps)
		return xasprintf("%s/tmp/perf-%d.map", s->options->root,
				 p->tgid);
	if (s->model->hosts > 1)
		return xasprintf("%s/%s/perf-%d.map", s->perf_maps,
				 s->model->host[p->host].name, p->tgid);
	return xasprintf("%s/perf-%d.map", s->perf_maps, p->tgid);
}

/* A return address is after the call */
static u64 executed(const struct stack *stack, u32 i)
{
	return stack->frame[i].offset - !!i;
}

static int by_address(const void *a, const void *b)
{
	const struct perfmap_name *x = a, *y = b;

	return ORDER(x->addr, y->addr);
}

/* Those in memory of no file, sorted */
static struct perfmap_name *find_addresses(const struct stacks *s,
					   const struct process *p, u64 *nr)
{
	struct perfmap_name *at = NULL;
	const struct stack_caller *c;
	u64 all = 0, room = 0, i;
	u32 j;

	for (c = p->caller; c; c = c->next) {
		const struct stack *stack = find_stack(s, p->host, c->key);

		for (j = 0; stack && j < stack->nr; j++) {
			if (stack->frame[j].map)
				continue;
			GROW(at, all, room);
			at[all++] = (struct perfmap_name){
				.addr = executed(stack, j),
			};
		}
	}
	if (all)
		qsort(at, all, sizeof(*at), by_address);
	*nr = 0;
	for (i = 0; i < all; i++) {
		if (!i || at[i].addr != at[*nr - 1].addr)
			at[(*nr)++] = at[i];
	}
	return at;
}

/*
 * Processes with the same stack must agree: a child has its parent's code at the same
 * addresses, and then code of its own.
 */
static void name_frame(struct frame *f, const struct perfmap_name *at)
{
	char *name;

	if (!at->name)
		return;
	name = at->before ?
		       xasprintf("%s (earlier: %s)", at->name, at->before) :
		       xstrdup(at->name);
	if (!f->source) {
		f->source = xzalloc(sizeof(*f->source));
		f->source->function = name;
		return;
	}
	if (f->source->function && strcmp(f->source->function, name) != 0) {
		free(f->source->function);
		f->source->function = NULL;
	}
	free(name);
}

static void name_frames(const struct stacks *s, const struct process *p,
			const struct perfmap_name *at, u64 nr)
{
	const struct stack_caller *c;
	u32 i;

	for (c = p->caller; c; c = c->next) {
		struct stack *stack = find_stack(s, p->host, c->key);

		for (i = 0; stack && i < stack->nr; i++) {
			struct perfmap_name key = {
				.addr = executed(stack, i),
			};

			if (!stack->frame[i].map)
				name_frame(&stack->frame[i],
					   bsearch(&key, at, nr, sizeof(key),
						   by_address));
		}
	}
}

/*
 * Code in memory of no file has the names that perf maps give. A map of another program
 * with this process ID has other addresses, since the kernel randomises them.
 */
static void name_process(struct stacks *s, struct process *p)
{
	struct perfmap_name *at;
	char *path;
	u64 nr, i;

	guard_alive(s->guard, GUARD_NOWHERE);
	at = find_addresses(s, p, &nr);
	if (!nr)
		return;
	path = perf_map_path(s, p);
	p->trouble = perfmap_read(path, s->perf_maps, at, nr);
	if (p->trouble) {
		p->path = path;
	} else {
		name_frames(s, p, at, nr);
		free(path);
	}
	for (i = 0; i < nr; i++) {
		free(at[i].name);
		free(at[i].before);
	}
	free(at);
}

/**
 * stacks_finish - resolve the files and processes of frames, after all files were read
 * @s:	stacks
 *
 * An io_map after its io_stack is used only if there was none before.
 */
void stacks_finish(struct stacks *s)
{
	struct stack *stack;
	struct process *p;
	u32 i, j;

	hash_for_each(&s->stacks, i, stack) {
		for (j = 0; j < stack->nr; j++) {
			struct frame *f = &stack->frame[j];

			if (f->map && !f->mapped_file)
				f->mapped_file =
					*latest_file(s, stack->host, f->map);
		}
	}
	hash_for_each(&s->processes, i, p)
		name_process(s, p);
}

/**
 * stacks_find - find a stack
 * @s:		stacks
 * @key:	key of the stack, see stack_key()
 *
 * Return: the stack, or NULL if the file does not have it.
 */
const struct stack *stacks_find(const struct stacks *s, u64 key)
{
	return find_stack(s, (key >> 32) - 1, key);
}

/**
 * stacks_sources - find the sources of a frame
 * @s:		stacks
 * @stack:	stack
 * @i:		index of the frame, 0 for the innermost one
 * @source:	set to its functions, innermost first; all but the last one are inlined
 *
 * Return: number of functions; 0 if nothing is known.
 */
u32 stacks_sources(struct stacks *s, const struct stack *stack, u32 i,
		   const struct elffile_source **source)
{
	const struct frame *f = &stack->frame[i];
	struct mapped_file *m = f->mapped_file;
	u64 addr;

	guard_alive(s->guard, GUARD_NOWHERE);
	if (!f->map) {
		*source = f->source;
		return f->source && f->source->function;
	}
	/* The vdso, and files without a path */
	if (!m || *m->path != '/')
		return 0;
	if (!m->elf)
		m->elf = elffile_open(s->options, m->path, m->build_id,
				      m->build_id_size);
	return elffile_convert(m->elf, executed(stack, i), true, &addr) ?
		       elffile_sources(m->elf, addr, source) :
		       0;
}

static void note_perf_map(const struct stacks *s, const struct process *p)
{
	if (!p->trouble)
		return;
	guard_file(s->guard, s->model->host[p->host].file);
	guard_note(s->guard,
		   "%s: %s; its functions are named by their addresses",
		   p->path, p->trouble);
}

/**
 * stacks_note_problems - report files without usable symbols
 * @s:	stacks, after all sources were looked up
 */
void stacks_note_problems(const struct stacks *s)
{
	const struct file_number *n;
	const struct process *p;
	struct mapped_file *m;
	u32 i;

	hash_for_each(&s->file_numbers, i, n) {
		for (m = n->latest; m; m = m->older) {
			char path[4096];

			if (!m->elf || !elffile_trouble(m->elf))
				continue;
			snprintf(path, sizeof(path), "%s", m->path);
			clean_text(path);
			guard_file(s->guard, s->model->host[m->host].file);
			guard_note(
				s->guard,
				"%s%s: %s; its functions are named by their offsets (--symfs)",
				s->options->root, path,
				elffile_trouble(m->elf));
		}
	}
	hash_for_each(&s->processes, i, p)
		note_perf_map(s, p);
	guard_file(s->guard, "");
}

static void free_frames(struct stack *stack)
{
	u32 i;

	for (i = 0; i < stack->nr; i++) {
		if (stack->frame[i].source)
			free(stack->frame[i].source->function);
		free(stack->frame[i].source);
	}
	free(stack->frame);
}

/**
 * stacks_free - free all stacks
 * @s:	stacks, or NULL
 */
void stacks_free(struct stacks *s)
{
	struct file_number *n;
	struct mapped_file *m;
	struct stack *stack;
	struct process *p;
	u32 i;

	if (!s)
		return;
	hash_for_each(&s->stacks, i, stack)
		free_frames(stack);
	hash_free(&s->stacks);
	hash_free(&s->callers);
	hash_for_each(&s->processes, i, p)
		free(p->path);
	hash_free(&s->processes);
	hash_for_each(&s->file_numbers, i, n) {
		while ((m = n->latest)) {
			n->latest = m->older;
			elffile_close(m->elf);
			free(m->path);
			free(m);
		}
	}
	hash_free(&s->file_numbers);
	free(s);
}
