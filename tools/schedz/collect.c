// SPDX-License-Identifier: GPL-2.0
/* schedz collect: receives what tracecast sends, over UDP. */
#include <argp.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/unaligned.h>

#include "cli.h"
#include "clock.h"
#include "collect.h"
#include "output.h"
#include "schedz.h"
#include "text.h"
#include "wire.h"

#define DEFAULT_LISTEN "127.0.0.1"
#define DEFAULT_PORT "6676"
#define DEFAULT_ROTATE (1ull << 30)
#define ROTATE_MIN (1ull << 20)

#define OPT_LISTEN 256
#define OPT_ALLOW 257
#define OPT_ROTATE 258
#define OPT_KEY_FILE 259

/* How often collector_tick() is called, in ms */
#define TICK 20

/* Number of datagrams that are read before timers and signals are handled */
#define BATCH 256

/* Receive buffer, for datagrams that arrive while files are written */
#define RCVBUF (8 << 20)

#define UNSAFE                                                                             \
	"Without a key, anyone who can send datagrams with an allowed source address can " \
	"begin sessions with any records, until the disk is full or other senders find "   \
	"no place; and anyone on the path between sender and collector can forge records " \
	"of other sessions, and acknowledge records that never arrived, which are then "   \
	"lost"

static const char doc[] =
	"Receive the traces that kernels with tracecast send, and write a "
	"trace.dat for each.\n"
	"\v"
	"The files can be read at any time. SIGINT and SIGTERM end the program. The "
	"ledgers of all sessions are printed then, and on SIGUSR1.\n"
	"\n"
	"With a key, datagrams without a valid seal, and replayed ones, are refused. "
	"The key is 32 hexadecimal digits, in a file that only its owner can read and in "
	"the file key of each target. " UNSAFE ".\n"
	"\n"
	"Examples:\n"
	"  schedz collect --output traces\n"
	"  schedz collect --listen 192.0.2.1 --allow 192.0.2.0/24 --key-file key\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

/**
 * struct range - a range of addresses
 * @family: AF_INET or AF_INET6
 * @address: the first address
 * @bits: number of leading bits that all its addresses have in common
 */
struct range {
	int family;
	uint8_t address[16];
	unsigned int bits;
};

struct collect {
	struct sockaddr_storage listen;
	socklen_t listen_len;
	struct range *allow;
	size_t nr_allow;
	const char *output;
	uint64_t rotate;
	const char *key_file;
	siphash_key_t key;
	uint64_t first;
	int sock;
	int signals;
	uint64_t refused;
};

/* ---- addresses ---- */

static const uint8_t *bytes_of(const struct sockaddr_storage *a)
{
	if (a->ss_family == AF_INET)
		return (const uint8_t *)&((const struct sockaddr_in *)a)
			->sin_addr;
	return (const uint8_t *)&((const struct sockaddr_in6 *)a)->sin6_addr;
}

/* ADDR, ADDR:PORT or [ADDR]:PORT */
static void parse_listen(struct collect *c, const char *arg,
			 struct argp_state *state)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
				  .ai_socktype = SOCK_DGRAM,
				  .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	struct addrinfo *info;
	struct address a;
	const char *error = parse_address(arg, 0, &a);

	if (error)
		argp_error(state, "%s: %s", arg, error);
	if (getaddrinfo(a.host, *a.port ? a.port : DEFAULT_PORT, &hints, &info))
		argp_error(state,
			   "%s: must be ADDR:PORT with a numeric address", arg);
	memcpy(&c->listen, info->ai_addr, info->ai_addrlen);
	c->listen_len = info->ai_addrlen;
	freeaddrinfo(info);
	free(a.host);
}

static bool is_loopback(const struct sockaddr_storage *a)
{
	const uint8_t *b = bytes_of(a);

	if (a->ss_family == AF_INET)
		return b[0] == 127;
	return IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)b);
}

/* ADDR or ADDR/BITS */
static void parse_allow(struct collect *c, const char *arg,
			struct argp_state *state)
{
	char *text = xstrdup(arg), *slash, *end = "";
	struct range range = { .family = AF_INET };
	unsigned long bits;

	slash = strchr(text, '/');
	if (slash)
		*slash++ = '\0';
	if (inet_pton(AF_INET, text, range.address) != 1) {
		range.family = AF_INET6;
		if (inet_pton(AF_INET6, text, range.address) != 1)
			argp_error(state, "%s: must be a numeric address", arg);
	}
	range.bits = range.family == AF_INET ? 32 : 128;
	bits = slash ? strtoul(slash, &end, 10) : range.bits;
	if (*end || end == slash || bits > range.bits)
		argp_error(state, "%s: must have at most %u bits", arg,
			   range.bits);
	range.bits = bits;
	free(text);
	c->allow = xreallocarray(c->allow, c->nr_allow + 1, sizeof(*c->allow));
	c->allow[c->nr_allow++] = range;
}

static bool in_range(const struct range *r, const struct sockaddr_storage *a)
{
	const uint8_t *b = bytes_of(a);
	unsigned int whole = r->bits / 8, rest = r->bits % 8;

	if (a->ss_family != r->family || memcmp(b, r->address, whole) != 0)
		return false;
	return !rest || !((b[whole] ^ r->address[whole]) >> (8 - rest));
}

/* Without ranges, which needs a loopback address, any sender on this machine is allowed */
static bool is_allowed(const struct collect *c,
		       const struct sockaddr_storage *from)
{
	size_t i;

	for (i = 0; i < c->nr_allow; i++) {
		if (in_range(&c->allow[i], from))
			return true;
	}
	return !c->nr_allow;
}

/* ---- the work ---- */

static void send_to(const void *data, size_t len, const struct sockaddr *to,
		    socklen_t to_len, void *arg)
{
	const struct collect *c = arg;

	/* A datagram that is not sent is equivalent to one that the network loses */
	sendto(c->sock, data, len, MSG_DONTWAIT, to, to_len);
}

static void print_note(const char *text, void *arg)
{
	(void)arg;
	fprintf(stderr, PROGRAM ": %s\n", text);
}

static void print_ledger(const struct collect *c, struct collector *collector)
{
	/* Records count as delivered once they are written */
	collector_sync(collector);
	collector_print(collector, stdout);
	if (c->refused)
		printf("refused: %llu datagram%s of senders that are not allowed\n",
		       (unsigned long long)c->refused, plural(c->refused));
	output_flush();
}

static void receive(struct collect *c, struct collector *collector)
{
	static uint8_t data[65536];
	struct sockaddr_storage from;
	socklen_t len;
	ssize_t n;
	int i;

	for (i = 0; i < BATCH; i++) {
		len = sizeof(from);
		n = recvfrom(c->sock, data, sizeof(data), MSG_DONTWAIT,
			     (struct sockaddr *)&from, &len);
		if (n < 0)
			return;
		if (is_allowed(c, &from))
			collector_datagram(collector, data, n,
					   (struct sockaddr *)&from, len,
					   now_ns() / 1000000);
		else
			c->refused++;
	}
}

/* Return: true if the program is to end */
static bool handle_signal(struct collect *c, struct collector *collector)
{
	struct signalfd_siginfo info;

	if (read(c->signals, &info, sizeof(info)) != sizeof(info))
		return false;
	if (info.ssi_signo != SIGUSR1)
		return true;
	print_ledger(c, collector);
	return false;
}

/* The kernel has chosen the port, and senders need it */
static void print_port(const struct collect *c)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	char host[NI_MAXHOST], port[NI_MAXSERV];

	if (!getsockname(c->sock, (struct sockaddr *)&at, &len) &&
	    !getnameinfo((struct sockaddr *)&at, len, host, sizeof(host), port,
			 sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		fprintf(stderr, PROGRAM ": listens on %s port %s\n", host,
			port);
}

static bool is_port_chosen(const struct sockaddr_storage *a)
{
	return a->ss_family == AF_INET ?
		       !((const struct sockaddr_in *)a)->sin_port :
		       !((const struct sockaddr_in6 *)a)->sin6_port;
}

static int run(struct collect *c)
{
	struct collector_config config = { .output = c->output,
					   .rotate = c->rotate,
					   .key = c->key_file ? &c->key : NULL,
					   .first = c->first,
					   .send = send_to,
					   .note = print_note,
					   .arg = c };
	struct collector *collector = collector_new(&config);
	struct pollfd fds[] = { { c->sock, POLLIN, 0 },
				{ c->signals, POLLIN, 0 } };

	/* Not before the collector has the memory it begins with: senders rely on the port */
	if (is_port_chosen(&c->listen))
		print_port(c);
	for (;;) {
		if (poll(fds, 2, TICK) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			receive(c, collector);
		collector_tick(collector, now_ns() / 1000000);
		if (fds[1].revents && handle_signal(c, collector))
			break;
	}
	print_ledger(c, collector);
	return collector_free(collector) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* A key's digits and an optional newline, nothing else */
static bool parse_key(siphash_key_t *key, const char *text)
{
	uint8_t bytes[TRACECAST_KEY];
	size_t i;

	if (strspn(text, "0123456789abcdefABCDEF") != 2 * sizeof(bytes) ||
	    (text[2 * sizeof(bytes)] &&
	     strcmp(text + 2 * sizeof(bytes), "\n") != 0))
		return false;
	for (i = 0; i < sizeof(bytes); i++) {
		char digits[] = { text[2 * i], text[2 * i + 1], '\0' };

		bytes[i] = strtoul(digits, NULL, 16);
	}
	key->key[0] = get_unaligned_le64(bytes);
	key->key[1] = get_unaligned_le64(bytes + 8);
	return true;
}

/* Return: NULL, or why the key cannot be read */
static const char *read_key(struct collect *c)
{
	char text[2 * TRACECAST_KEY + 3] = "";
	const char *why = NULL;
	struct stat st;
	int fd = open(c->key_file, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0 || fstat(fd, &st)) {
		why = strerror(errno);
	} else if (st.st_mode & 027) {
		why = "others can read or change it: chmod 600";
	} else {
		n = read(fd, text, sizeof(text) - 1);
		if (n < 0)
			why = strerror(errno);
		else if (!parse_key(&c->key, text))
			why = "must have 32 hexadecimal digits";
	}
	if (fd >= 0)
		close(fd);
	/* A random start, so that an earlier collector's acknowledgements are not valid */
	if (!why &&
	    getrandom(&c->first, sizeof(c->first), 0) != sizeof(c->first))
		why = strerror(errno);
	c->first >>= 1;
	return why;
}

static int open_all(struct collect *c)
{
	const char *why = c->key_file ? read_key(c) : NULL;
	int size = RCVBUF;
	struct stat st;
	sigset_t set;

	if (why) {
		fprintf(stderr, PROGRAM ": %s: %s\n", c->key_file, why);
		return EXIT_FAILURE;
	}
	if ((mkdir(c->output, 0777) && errno != EEXIST) ||
	    stat(c->output, &st) || access(c->output, W_OK)) {
		fprintf(stderr, PROGRAM ": %s: %s\n", c->output,
			strerror(errno));
		return EXIT_FAILURE;
	}
	if (!S_ISDIR(st.st_mode)) {
		fprintf(stderr, PROGRAM ": %s: %s\n", c->output,
			strerror(ENOTDIR));
		return EXIT_FAILURE;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	c->signals = signalfd(-1, &set, SFD_CLOEXEC);
	c->sock = socket(c->listen.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (c->signals < 0 || c->sock < 0 ||
	    bind(c->sock, (struct sockaddr *)&c->listen, c->listen_len)) {
		char host[INET6_ADDRSTRLEN];

		inet_ntop(c->listen.ss_family, bytes_of(&c->listen), host,
			  sizeof(host));
		fprintf(stderr, PROGRAM ": cannot listen on %s: %s\n", host,
			strerror(errno));
		return EXIT_FAILURE;
	}
	if (!c->key_file && !is_loopback(&c->listen))
		fprintf(stderr, PROGRAM ": " UNSAFE "; see --key-file\n");
	/* Only root may exceed net.core.rmem_max */
	if (setsockopt(c->sock, SOL_SOCKET, SO_RCVBUFFORCE, &size,
		       sizeof(size)))
		setsockopt(c->sock, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	return EXIT_SUCCESS;
}

/* ---- the command line ---- */

static uint64_t parse_size(const char *arg, struct argp_state *state)
{
	return cli_size(state, "rotate", arg, ROTATE_MIN);
}

static void check(const struct collect *c, struct argp_state *state)
{
	if (!is_loopback(&c->listen) && !c->nr_allow)
		argp_error(
			state,
			"--listen with an address that is not loopback needs --allow ADDR");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct collect *c = state->input;

	switch (key) {
	case OPT_LISTEN:
		parse_listen(c, arg, state);
		return 0;
	case OPT_ALLOW:
		parse_allow(c, arg, state);
		return 0;
	case OPT_ROTATE:
		c->rotate = parse_size(arg, state);
		return 0;
	case OPT_KEY_FILE:
		c->key_file = arg;
		return 0;
	case 'o':
		c->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "extra operand %s", arg);
		return 0;
	case ARGP_KEY_INIT:
		parse_listen(c, DEFAULT_LISTEN, state);
		return 0;
	case ARGP_KEY_END:
		check(c, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/**
 * collect_main - schedz collect
 * @argc: number of arguments, with the command
 * @argv: the arguments
 *
 * Return: exit status.
 */
int collect_main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "listen", OPT_LISTEN, "ADDR[:PORT]", 0,
		  "Address to listen on (127.0.0.1:6676); [ADDR]:PORT for IPv6; with PORT 0, a free port is chosen and printed",
		  1 },
		{ "allow", OPT_ALLOW, "ADDR[/BITS]", 0,
		  "Accept datagrams from these addresses; can be given several times. Needed unless --listen has a loopback address",
		  1 },
		{ "key-file", OPT_KEY_FILE, "FILE", 0,
		  "File with the key that senders must have: 32 hexadecimal digits",
		  1 },
		{ "output", 'o', "DIR", 0, "Directory for the files (.)", 2 },
		{ "rotate", OPT_ROTATE, "SIZE", 0,
		  "Begin another file when one has SIZE bytes (1G); sizes end in K, M or G",
		  2 },
		{ 0 }
	};
	static const struct argp argp = { options, parse, NULL, doc,
					  NULL,	   NULL,  NULL };
	struct collect c = { .output = ".", .rotate = DEFAULT_ROTATE };
	char *was = argv[0];
	int status;

	argv[0] = PROGRAM " collect"; /* what getopt's messages begin with */
	argp_parse(&argp, argc, argv, 0, NULL, &c);
	argv[0] = was;
	status = open_all(&c);
	if (!status)
		status = run(&c);
	free(c.allow);
	return status;
}
