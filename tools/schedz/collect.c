// SPDX-License-Identifier: GPL-2.0
/* schedz collect: receives what nettrace sends, over UDP. */
#include <argp.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collect.h"
#include "schedz.h"
#include "wire.h"

#define DEFAULT_LISTEN "127.0.0.1"
#define DEFAULT_PORT "6676"
#define DEFAULT_ROTATE (1ull << 30)
#define ROTATE_MIN (1ull << 20)

#define OPT_LISTEN 256
#define OPT_ALLOW 257
#define OPT_ROTATE 258

/* How often collector_tick() is called, in ms */
#define TICK 20

/* Datagrams that are taken before anything else is looked at */
#define BATCH 256

/* What the kernel may keep for us while we write */
#define RCVBUF (8 << 20)

static const char doc[] =
	"Receive the traces that kernels with nettrace send, and write a "
	"trace.dat for each.\n"
	"\v"
	"The files can be read at any time. SIGUSR1 prints where all events are, "
	"and so does the end, with SIGINT or SIGTERM.\n"
	"\n"
	"Examples:\n"
	"  schedz collect --output traces\n"
	"  schedz collect --listen 192.0.2.1 --allow 192.0.2.0/24 --rotate 256M\n"
	"\n"
	"Exit status: 0 done, 1 trouble, 2 usage.\n";

/**
 * struct range - addresses
 * @family: AF_INET or AF_INET6
 * @address: the first one
 * @bits: that others have in common with it
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
	char *host = strdup(arg), *port = NULL, *name = host;
	int ret;

	if (!host)
		abort();
	if (*host == '[') {
		name = host + 1;
		port = strchr(name, ']');
		if (port)
			*port++ = '\0';
	} else if (strchr(host, ':') == strrchr(host, ':')) {
		port = strchr(host, ':');
	}
	if (port && *port == ':')
		*port++ = '\0';
	ret = getaddrinfo(name, port && *port ? port : DEFAULT_PORT, &hints,
			  &info);
	if (ret)
		argp_error(state,
			   "%s is not ADDR:PORT, with an address in numbers",
			   arg);
	memcpy(&c->listen, info->ai_addr, info->ai_addrlen);
	c->listen_len = info->ai_addrlen;
	freeaddrinfo(info);
	free(host);
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
	char *text = strdup(arg), *slash, *end = "";
	struct range range = { .family = AF_INET };
	unsigned long bits;

	if (!text)
		abort();
	slash = strchr(text, '/');
	if (slash)
		*slash++ = '\0';
	if (inet_pton(AF_INET, text, range.address) != 1) {
		range.family = AF_INET6;
		if (inet_pton(AF_INET6, text, range.address) != 1)
			argp_error(state, "%s is no address in numbers", arg);
	}
	range.bits = range.family == AF_INET ? 32 : 128;
	bits = slash ? strtoul(slash, &end, 10) : range.bits;
	if (*end || end == slash || bits > range.bits)
		argp_error(state, "%s: %u bits at most", arg, range.bits);
	range.bits = bits;
	free(text);
	c->allow = realloc(c->allow, (c->nr_allow + 1) * sizeof(*c->allow));
	if (!c->allow)
		abort();
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

/* Whoever is on this machine may send to loopback */
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

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

static void send_to(const void *data, size_t len, const struct sockaddr *to,
		    socklen_t to_len, void *arg)
{
	const struct collect *c = arg;

	/* One that does not go is one that was lost on the way */
	sendto(c->sock, data, len, MSG_DONTWAIT, to, to_len);
}

static void tell(const char *text, void *arg)
{
	(void)arg;
	fprintf(stderr, PROGRAM ": %s\n", text);
}

static void print_ledger(const struct collect *c,
			 const struct collector *collector)
{
	collector_print(collector, stdout);
	if (c->refused)
		printf("refused: %llu datagrams of senders that are not allowed\n",
		       (unsigned long long)c->refused);
	fflush(stdout);
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
					   now_ms());
		else
			c->refused++;
	}
}

/* Return: true if it is time to end */
static bool heed_signal(struct collect *c, struct collector *collector)
{
	struct signalfd_siginfo info;

	if (read(c->signals, &info, sizeof(info)) != sizeof(info))
		return false;
	if (info.ssi_signo != SIGUSR1)
		return true;
	print_ledger(c, collector);
	return false;
}

static int run(struct collect *c)
{
	struct collector_config config = { .output = c->output,
					   .rotate = c->rotate,
					   .send = send_to,
					   .note = tell,
					   .arg = c };
	struct collector *collector = collector_new(&config);
	struct pollfd fds[] = { { c->sock, POLLIN, 0 },
				{ c->signals, POLLIN, 0 } };

	for (;;) {
		if (poll(fds, 2, TICK) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			receive(c, collector);
		collector_tick(collector, now_ms());
		if (fds[1].revents && heed_signal(c, collector))
			break;
	}
	print_ledger(c, collector);
	return collector_free(collector) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int open_all(struct collect *c)
{
	int size = RCVBUF;
	struct stat st;
	sigset_t set;

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
	/* More than net.core.rmem_max for root; as much as there is for others */
	if (setsockopt(c->sock, SOL_SOCKET, SO_RCVBUFFORCE, &size,
		       sizeof(size)))
		setsockopt(c->sock, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	return EXIT_SUCCESS;
}

/* ---- the command line ---- */

static uint64_t parse_size(const char *arg, struct argp_state *state)
{
	static const char units[] = "kmg";
	char *end;
	unsigned long long n;
	const char *unit;

	errno = 0;
	n = strtoull(arg, &end, 10);
	unit = *end ? strchr(units, *end | 0x20) : NULL;
	if (end == arg || errno || *arg == '-' || (*end && (!unit || end[1])) ||
	    n > UINT64_MAX >> 31)
		argp_error(state, "%s is not a size, such as 256M", arg);
	if (unit)
		n <<= 10 * (unit - units + 1);
	if (n < ROTATE_MIN)
		argp_error(state, "--rotate: 1M at least");
	return n;
}

static void check(const struct collect *c, struct argp_state *state)
{
	if (!is_loopback(&c->listen) && !c->nr_allow)
		argp_error(
			state,
			"who may send? --allow ADDR is needed to listen to other machines");
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
	case 'o':
		c->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "no argument is known: %s", arg);
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
 * @argc: number of arguments, from the command on
 * @argv: these
 *
 * Return: exit status.
 */
int collect_main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "listen", OPT_LISTEN, "ADDR[:PORT]", 0,
		  "Where to listen: 127.0.0.1:6676 by default; [ADDR]:PORT for IPv6",
		  1 },
		{ "allow", OPT_ALLOW, "ADDR[/BITS]", 0,
		  "Who may send; can be given several times. Needed unless ADDR of --listen is a loopback address",
		  1 },
		{ "output", 'o', "DIR", 0, "Where the files go: . by default",
		  2 },
		{ "rotate", OPT_ROTATE, "SIZE", 0,
		  "Begin another file when one has so many bytes: 1G by default; sizes end in K, M or G",
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
