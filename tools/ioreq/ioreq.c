// SPDX-License-Identifier: GPL-2.0
/* ioreq: where the time of I/O system calls goes */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "output.h"
#include "report.h"
#include "text.h"
#include "version.h"

const char *argp_program_version = PROGRAM " " TRACERIG_VERSION;
error_t argp_err_exit_status = 2;

/* CPU seconds in which reading must make progress */
#define IDLE_CPU 120

#define DEFAULT_TOP 20

/* Seconds: the year 2255; ns must fit into 63 bits */
#define MAX_EPOCH 9000000000ll

/* What a browser shows without trouble */
#define DEFAULT_TOP_HTML 500

enum {
	OPT_FORMAT = 0x100,
	OPT_BY,
	OPT_REQUESTS,
	OPT_TOP,
	OPT_EPOCH,
	OPT_CLOCKS,
	OPT_DRIFT,
	OPT_PATHS,
	OPT_READS,
	OPT_STACKS,
	OPT_LONGER,
	OPT_KNOWN_STACKS,
	OPT_SYMFS,
	OPT_PERF_MAPS,
	OPT_NO_DEMANGLE,
	OPT_INSTANCE,
};

/* Their options */
static const struct {
	const char *name;
	int key;
} subjects[] = {
	[SUBJECT_REQUESTS] = { "requests", OPT_REQUESTS },
	[SUBJECT_CLOCKS] = { "clocks", OPT_CLOCKS },
	[SUBJECT_PATHS] = { "paths", OPT_PATHS },
	[SUBJECT_READS] = { "reads", OPT_READS },
	[SUBJECT_STACKS] = { "stacks", OPT_STACKS },
};

#define BY_DEFAULT (BY_HOST | BY_PROCESS | BY_CALL | BY_OBJECT)

/* All workers of a server run the same program */
#define BY_STACKS (BY_HOST | BY_COMM | BY_CALL | BY_OBJECT)

/**
 * struct options - the command line
 * @model:	model, with the hosts
 * @format:	format of the result
 * @subject:	what to print
 * @top:	number of sums to print, 0: the format's default
 * @output:	file to write to, or NULL
 * @elf:	how programs are looked up
 * @perf_maps:	directory of perf maps, or NULL
 * @known:	arguments of --iosys-stacks
 * @nr_known:	number of these
 */
struct options {
	struct model model;
	enum format format;
	enum subject subject;
	u64 top;
	const char *output;
	struct elffile_options elf;
	const char *perf_maps;
	char **known;
	size_t nr_known;
};

static const struct argp_option options[] = {
	{ "format", OPT_FORMAT, "NAME", 0,
	  "text (default), json, csv, chrome (calls and requests for Perfetto), "
	  "otlp (requests for OpenTelemetry), folded (for flame graphs) or html",
	  1 },
	{ "by", OPT_BY, "WHAT,...", 0,
	  "Grouping key: host, comm, process, call, object (default: all of these), size "
	  "(bytes, to a power of two), client (that they were made for)",
	  1 },
	{ "requests", OPT_REQUESTS, NULL, 0,
	  "Print only the requests on connections", 1 },
	{ "paths", OPT_PATHS, NULL, 0,
	  "Print only the paths of requests, and the steps of their critical paths",
	  1 },
	{ "reads", OPT_READS, NULL, 0,
	  "Print only what programs read from files, and what disks read for it",
	  1 },
	{ "stacks", OPT_STACKS, NULL, 0,
	  "Print only call stacks: where those of the same calls branch, and source lines",
	  1 },
	{ "longer", OPT_LONGER, "TIME", 0,
	  "Sum only calls that took TIME (20ms, 500us, 1s, 800ns) or longer",
	  1 },
	{ "iosys-stacks", OPT_KNOWN_STACKS, "[HOST=]FILE", 0,
	  "Also use the stacks in FILE, a copy of the file iosys_stacks in the host's tracefs "
	  "from after the recording; may be repeated",
	  1 },
	{ "symfs", OPT_SYMFS, "DIR", 0,
	  "Look up programs and libraries in DIR instead of /", 1 },
	{ "perf-maps", OPT_PERF_MAPS, "DIR", 0,
	  "Look up perf maps (perf-PID.map: names of compiled functions of Java, node and so "
	  "on) in DIR, those of several hosts in DIR/HOST (default: /tmp)",
	  1 },
	{ "no-demangle", OPT_NO_DEMANGLE, NULL, 0,
	  "Print names of C++ and Rust functions as they are in files", 1 },
	{ "instance", OPT_INSTANCE, "NAME", 0,
	  "Read this trace instance of each file instead of the main one", 1 },
	{ "clocks", OPT_CLOCKS, NULL, 0, "Print only the clocks of the hosts",
	  1 },
	{ "max-drift", OPT_DRIFT, "PPM", 0,
	  "Maximum difference of two clocks' rates (default: 500)", 1 },
	{ "top", OPT_TOP, "N", 0,
	  "Print the N longest sums, or single requests (default: 20 in "
	  "text, 500 in html, all otherwise)",
	  1 },
	{ "epoch", OPT_EPOCH, "SECONDS", 0,
	  "Unix time of the first call, for otlp (default: 0)", 1 },
	{ "output", 'o', "FILE", 0,
	  "Write to FILE, which is replaced only on success", 1 },
	{ 0 }
};

static const char doc[] =
	"Show where the time of I/O system calls goes.\n\n"
	"Each FILE is a trace of one host with the events of iosys, or with those of system "
	"calls where there is no iosys; see ioreq(1). For each process, object (file, socket, "
	"pipe) and call: number of calls and failures, bytes, and durations. Then come pending "
	"calls, and requests on TCP connections, Unix sockets and pipes, with the clients' "
	"response times and the servers' service times.\n"
	"\v"
	"HOST is the name of the host in the result (default: the name of the file).\n"
	"\n"
	"Examples:\n"
	"  trace-cmd record -e iosys sleep 10\n"
	"  ioreq trace.dat\n"
	"  ioreq web=web.dat db=db.dat\n"
	"  ioreq --requests web=web.dat db=db.dat\n"
	"  ioreq --paths web=web.dat app=app.dat db=db.dat\n"
	"  ioreq --stacks trace.dat\n"
	"  ioreq --stacks --longer=10ms --by=call,object trace.dat\n"
	"  ioreq --clocks web=web.dat db=db.dat\n"
	"  trace-cmd record -e iosys -e block:block_bio_queue sleep 10; ioreq --reads trace.dat\n"
	"  ioreq --by=comm,call trace.dat\n"
	"  ioreq --by=comm,call,size trace.dat\n"
	"  ioreq --by=client,host,call,object web=web.dat db=db.dat\n"
	"  ioreq --format=csv trace.dat | sort -t, -k16 -n | tail\n"
	"  ioreq --format=html web=web.dat db=db.dat -o requests.html\n"
	"  ioreq --format=chrome --top=100 web=web.dat db=db.dat -o perfetto.json\n"
	"  ioreq --format=otlp --epoch=$(date +%s) web=web.dat db=db.dat -o traces.json\n"
	"  ioreq --format=folded trace.dat | flamegraph.pl --countname=ns >io.svg\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

static char *copy_name(const char *name)
{
	char *copy = xstrdup(name);

	clean_text(copy);
	return copy;
}

static void add_host(struct options *o, char *arg)
{
	struct model *m = &o->model;
	char *equals = strchr(arg, '='), *slash = strchr(arg, '/');
	struct host *h;

	m->host = xreallocarray(m->host, m->hosts + 1, sizeof(*m->host));
	h = &m->host[m->hosts++];
	*h = (struct host){ .file = arg };
	/* A = after a slash is part of the file's name */
	if (equals && equals != arg && (!slash || equals < slash)) {
		*equals = '\0';
		h->named = true;
		h->name = copy_name(arg);
		h->file = equals + 1;
	} else {
		h->name = copy_name(slash ? strrchr(arg, '/') + 1 : arg);
	}
}

/* Return: a host with the same name as another one, or NULL */
static const struct host *find_twin(const struct model *m)
{
	u32 i, j;

	for (i = 0; i < m->hosts; i++) {
		for (j = 0; j < i; j++) {
			if (!strcmp(m->host[i].name, m->host[j].name))
				return &m->host[i];
		}
	}
	return NULL;
}

/* Names of hosts must be unique */
static void name_hosts(struct model *m, struct argp_state *state)
{
	/* Such as web/trace.dat and db/trace.dat */
	bool whole = find_twin(m);
	u32 i, j;

	for (i = 0; i < m->hosts; i++) {
		struct host *h = &m->host[i];

		for (j = 0; j < i; j++) {
			if (is_same_file(h->file, m->host[j].file))
				argp_error(state, "%s and %s are the same file",
					   m->host[j].file, h->file);
		}
		if (whole && !h->named) {
			free(h->name);
			h->name = copy_name(h->file);
		}
	}
	if (find_twin(m))
		argp_error(
			state,
			"two hosts have the name %s: name them with HOST=FILE",
			find_twin(m)->name);
}

/* [HOST=]FILE; one host needs no name */
static void set_known_stacks(struct model *m, char *arg,
			     struct argp_state *state)
{
	size_t len = strcspn(arg, "=/");
	bool named = len && arg[len] == '=';
	struct host *h = NULL;
	u32 i;

	if (!named && m->hosts > 1)
		argp_error(
			state,
			"--iosys-stacks=%s: must be HOST=FILE, as there are several hosts",
			arg);
	for (i = 0; i < m->hosts && !h; i++) {
		if (!named || (strlen(m->host[i].name) == len &&
			       !strncmp(m->host[i].name, arg, len)))
			h = &m->host[i];
	}
	if (!h)
		argp_error(state, "--iosys-stacks=%s: no host has this name",
			   arg);
	else if (h->known_stacks)
		argp_error(state,
			   "--iosys-stacks=%s: the host has a file already",
			   arg);
	else
		h->known_stacks = named ? arg + len + 1 : arg;
}

static u64 get_number(const char *name, const char *arg,
		      struct argp_state *state)
{
	return cli_number(state, name, arg, 1, UINT64_MAX);
}

static u64 get_time(const char *arg, struct argp_state *state)
{
	return cli_time(state, "longer", arg, 0);
}

static u32 get_drift(const char *arg, struct argp_state *state)
{
	u64 drift = get_number("max-drift", arg, state);

	if (drift > CLOCKS_MAX_DRIFT)
		argp_error(state, "--max-drift=%s: must be at most %d", arg,
			   CLOCKS_MAX_DRIFT);
	return drift;
}

static u32 get_by(char *arg, struct argp_state *state)
{
	static const char *const names[] = { "host",  "comm",	"process",
					     "call",  "object", "size",
					     "client" };
	char *word, *rest = arg;
	u32 by = 0;
	size_t i;

	while ((word = strsep(&rest, ","))) {
		for (i = 0; i < 7 && strcmp(word, names[i]) != 0; i++)
			;
		if (i == 7)
			argp_error(
				state,
				"--by=%s: must be host, comm, process, call, object, size or client",
				word);
		by |= 1 << i;
	}
	return by;
}

static void set_subject(struct options *o, int key, struct argp_state *state)
{
	u32 i;

	for (i = SUBJECT_ALL + 1; subjects[i].key != key; i++)
		;
	if (o->subject != SUBJECT_ALL && o->subject != i)
		argp_error(state, "--%s and --%s cannot be combined",
			   subjects[o->subject].name, subjects[i].name);
	o->subject = i;
}

static void check_format(const struct options *o, struct argp_state *state)
{
	bool folded = o->subject == SUBJECT_STACKS;

	if (o->subject == SUBJECT_ALL || o->format <= FORMAT_CSV ||
	    (folded && o->format == FORMAT_FOLDED))
		return;
	argp_error(state, "--%s requires --format=text, json%s",
		   subjects[o->subject].name,
		   folded ? ", csv or folded" : " or csv");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[FORMATS] = {
		"text", "json", "csv", "chrome", "otlp", "folded", "html",
	};
	struct options *o = state->input;
	size_t i;

	switch (key) {
	case OPT_FORMAT:
		o->format = cli_word(state, "format", arg, formats, FORMATS);
		return 0;
	case OPT_BY:
		o->model.by = get_by(arg, state);
		return 0;
	case OPT_REQUESTS:
	case OPT_PATHS:
	case OPT_READS:
	case OPT_STACKS:
	case OPT_CLOCKS:
		set_subject(o, key, state);
		return 0;
	case OPT_LONGER:
		o->model.longer = get_time(arg, state);
		return 0;
	case OPT_INSTANCE:
		o->model.instance = arg;
		return 0;
	case OPT_KNOWN_STACKS:
		o->known = xreallocarray(o->known, o->nr_known + 1,
					 sizeof(*o->known));
		o->known[o->nr_known++] = arg;
		return 0;
	case OPT_SYMFS:
		o->elf.root = arg;
		return 0;
	case OPT_PERF_MAPS:
		o->perf_maps = arg;
		return 0;
	case OPT_NO_DEMANGLE:
		o->elf.no_demangle = true;
		return 0;
	case OPT_DRIFT:
		o->model.drift = get_drift(arg, state);
		return 0;
	case OPT_TOP:
		o->top = get_number("top", arg, state);
		return 0;
	case OPT_EPOCH:
		o->model.epoch = get_number("epoch", arg, state);
		if (o->model.epoch > MAX_EPOCH)
			argp_error(state, "--epoch=%s: must be at most %lld",
				   arg, MAX_EPOCH);
		o->model.epoch *= 1000000000;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		add_host(o, arg);
		return 0;
	case ARGP_KEY_END:
		if (!o->model.hosts)
			argp_error(state, "missing FILE operand");
		name_hosts(&o->model, state);
		for (i = 0; i < o->nr_known; i++)
			set_known_stacks(&o->model, o->known[i], state);
		check_format(o, state);
		if (!o->model.by)
			o->model.by = o->subject == SUBJECT_STACKS ? BY_STACKS :
								     BY_DEFAULT;
		/* Programs of different hosts are different */
		if (o->subject == SUBJECT_STACKS)
			o->model.by |= BY_HOST;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void keep_trouble(struct host *h, const char *reason)
{
	free(h->trouble);
	h->trouble = xstrdup(reason);
}

/* Go on without a file that crashed the reader */
static bool without(const char *file, const char *reason, void *arg)
{
	struct options *o = arg;
	bool found = false;
	u32 i, left = 0;

	for (i = 0; i < o->model.hosts; i++) {
		struct host *h = &o->model.host[i];

		if (!h->trouble && !strcmp(h->file, file)) {
			keep_trouble(h, reason);
			found = true;
		}
		left += !h->trouble;
	}
	return found && left;
}

/* A file that cannot be read does not keep the others from being read */
static int read_hosts(struct guard *g, struct model *m)
{
	bool any = false;
	int status = 0;
	u32 i, left = m->hosts;

	for (i = 0; i < m->hosts; i++)
		left -= !!m->host[i].trouble;
	for (i = 0; i < m->hosts && !status; i++) {
		if (m->host[i].trouble)
			continue;
		left--;
		status = model_read(g, m, i);
		any |= m->host[i].calls;
		if (!status || m->hosts == 1 || (!any && !left))
			continue;
		keep_trouble(&m->host[i], guard_go_on(g));
		status = 0;
	}
	return status;
}

/* Without a message, nothing would have a name */
static int check_perf_maps(struct guard *g, const char *path)
{
	DIR *dir = path ? opendir(path) : NULL;

	if (dir)
		closedir(dir);
	else if (path)
		return guard_fail(g, GUARD_NOWHERE, "--perf-maps=%s: %s", path,
				  strerror(errno));
	return 0;
}

static int work(struct guard *g, FILE *out, void *arg)
{
	struct options *o = arg;
	int status = check_perf_maps(g, o->perf_maps);

	if (status)
		return status;
	o->model.requests = requests_new();
	if (o->subject == SUBJECT_STACKS)
		o->model.by |= BY_STACK;
	if (o->subject == SUBJECT_STACKS || o->subject == SUBJECT_PATHS ||
	    o->format == FORMAT_HTML)
		o->model.stacks =
			stacks_new(g, &o->model, &o->elf, o->perf_maps);
	if (o->format == FORMAT_CHROME || o->format == FORMAT_OTLP ||
	    o->format == FORMAT_HTML || o->subject == SUBJECT_PATHS ||
	    o->model.by & BY_CLIENT) {
		requests_keep(o->model.requests);
		o->model.log = log_new();
	}
	if (o->subject == SUBJECT_READS)
		o->model.reads = reads_new();
	status = read_hosts(g, &o->model);
	guard_progress(g, NULL);
	if (!status) {
		guard_file(g, "");
		memory_doing("attributing calls to requests");
		model_link(&o->model);
		memory_doing("writing the result");
		ioreq_report(out, &o->model, o->format, o->subject,
			     o->top		      ? o->top :
			     o->format == FORMAT_TEXT ? DEFAULT_TOP :
			     o->format == FORMAT_HTML ? DEFAULT_TOP_HTML :
							UINT64_MAX);
	}
	model_free(&o->model);
	return status;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "[HOST=]FILE...",
					  doc,	   NULL,  NULL,
					  NULL };
	/* Too large for the stack */
	static struct options o = {
		.model = { .drift = CLOCKS_DRIFT },
		.elf.root = "",
	};
	struct guard_job job = {
		.program = PROGRAM,
		.idle_cpu = IDLE_CPU,
		.work = work,
		.without = without,
		.arg = &o,
	};
	int status = 0;
	u32 i;

	output_check(PROGRAM);
	argv[0] = PROGRAM; /* for getopt's messages */
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	job.file = o.model.host[0].file;
	job.output = o.output;
	for (i = 1; i < o.model.hosts && !status; i++) {
		if (!guard_check_output(PROGRAM, o.model.host[i].file,
					o.output))
			status = EXIT_FAILURE;
	}
	for (i = 0; i < o.model.hosts && !status; i++) {
		if (o.model.host[i].known_stacks &&
		    !guard_check_output(PROGRAM, o.model.host[i].known_stacks,
					o.output))
			status = EXIT_FAILURE;
	}
	if (!status)
		status = guard_run(&job);
	for (i = 0; i < o.model.hosts; i++) {
		free(o.model.host[i].trouble);
		free(o.model.host[i].name);
	}
	free(o.model.host);
	free(o.known);
	return status;
}
