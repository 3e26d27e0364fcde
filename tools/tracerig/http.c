// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics for Prometheus by HTTP. libmicrohttpd speaks the protocol; it has no thread of
 * its own, but is called by the watch's loop, so that metrics need no lock.
 *
 * Clients are not trusted: their number, their memory and the time of each request are
 * bounded, and only the path of what they send is used.
 */
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "http.h"
#include "memory.h"

/* Clients at a time, and those of a host, so that no host can take all */
#define CLIENTS 32
#define HOST_CLIENTS 4

/* Bytes of each */
#define CLIENT_BYTES 16384

/*
 * ns from one answer, or the beginning, to the end of the next one. libmicrohttpd's own
 * limit is one of silence, and a client can send a byte now and then.
 */
#define REQUEST_TIME 10000000000ull

#define CHOOSE_ADDRESS \
	"choose an address of this machine, such as localhost:9100"

/* Time of work for clients before the watch continues */
#define ROUNDS 64

/**
 * struct client - a connection
 * @used:	it is open
 * @fd:		its socket
 * @since:	when it began, or its last request was answered, ns
 */
struct client {
	bool used;
	int fd;
	u64 since;
};

struct http {
	const struct metrics *metrics;
	struct MHD_Daemon *daemon;
	struct client client[CLIENTS];
};

/**
 * http_is_address - tell an address from a file's name
 * @text: operand of --metrics
 *
 * Return: whether it is ADDRESS:PORT, :PORT or [ADDRESS]:PORT. A path with a slash is not.
 */
bool http_is_address(const char *text)
{
	const char *colon = strrchr(text, ':');

	return !strchr(text, '/') && colon && colon[1] &&
	       !colon[1 + strspn(colon + 1, "0123456789")];
}

static const char *parse(const char *address, struct address *a)
{
	const char *error = parse_address(address, 1, a);

	if (error || *a->port)
		return error;
	free(a->host);
	return "an IPv6 address must be in brackets";
}

/**
 * http_check - check an address before it is used
 * @address: as for http_is_address()
 *
 * Return: NULL, or what is wrong.
 */
const char *http_check(const char *address)
{
	struct address a;
	const char *error = parse(address, &a);

	if (!error)
		free(a.host);
	return error;
}

/* Answer with @text, which is freed */
static enum MHD_Result respond(struct MHD_Connection *connection,
			       unsigned int status, const char *header,
			       const char *value, char *text, size_t size)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		size, text, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result;

	if (!response) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, header, value);
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result respond_text(struct MHD_Connection *connection,
				    unsigned int status, const char *header,
				    const char *value, const char *text)
{
	return respond(connection, status, header, value, xstrdup(text),
		       strlen(text));
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *connection,
			      const char *url, const char *method,
			      const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	const struct http *h = arg;
	char *text = NULL;
	size_t size = 0;
	FILE *f;

	(void)version;
	(void)upload;
	/* Errors are answered after the headers, without reading what follows them */
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return respond_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				    MHD_HTTP_HEADER_ALLOW, "GET, HEAD",
				    "Only GET and HEAD\n");
	if (strcmp(url, "/metrics") != 0)
		return respond_text(connection, MHD_HTTP_NOT_FOUND,
				    MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain",
				    "The metrics are at /metrics\n");
	/* Called once with the headers, then with the rest of what the client sends */
	if (!*state) {
		*state = connection;
		return MHD_YES;
	}
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	f = open_memstream(&text, &size);
	if (!f)
		return MHD_NO;
	metrics_print(h->metrics, f);
	if (fclose(f)) {
		free(text);
		return MHD_NO;
	}
	return respond(connection, MHD_HTTP_OK, MHD_HTTP_HEADER_CONTENT_TYPE,
		       "text/plain; version=0.0.4", text, size);
}

static void begin(struct http *h, struct MHD_Connection *connection,
		  void **context)
{
	int fd = MHD_get_connection_info(connection,
					 MHD_CONNECTION_INFO_CONNECTION_FD)
			 ->connect_fd;
	struct client *c = h->client;

	while (c < h->client + CLIENTS && c->used)
		c++;
	if (c == h->client + CLIENTS) {
		/* It would have no limit */
		shutdown(fd, SHUT_RDWR);
		return;
	}
	*c = (struct client){ .used = true, .fd = fd, .since = now_ns() };
	*context = c;
}

static void note_connection(void *arg, struct MHD_Connection *connection,
			    void **context,
			    enum MHD_ConnectionNotificationCode code)
{
	struct client *c = *context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		begin(arg, connection, context);
	else if (c)
		c->used = false;
}

static void note_answer(void *arg, struct MHD_Connection *connection,
			void **state, enum MHD_RequestTerminationCode code)
{
	struct client *c =
		MHD_get_connection_info(connection,
					MHD_CONNECTION_INFO_SOCKET_CONTEXT)
			->socket_context;

	(void)arg;
	(void)state;
	(void)code;
	if (c)
		c->since = now_ns();
}

/* libmicrohttpd sees the end of the connection, and closes it */
static void end_slow(struct http *h)
{
	struct client *c;
	u64 now = now_ns();

	for (c = h->client; c < h->client + CLIENTS; c++) {
		if (c->used && now - c->since >= REQUEST_TIME)
			shutdown(c->fd, SHUT_RDWR);
	}
}

/*
 * A socket that listens at the first address that a name has. Return: -1 with errno set,
 * or with *@failed, an error of the resolver.
 */
static int listen_on(const char *name, const char *port, int *failed)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *a;
	int fd, one = 1, error;

	*failed = getaddrinfo(name, port, &hints, &a);
	if (*failed)
		return -1;
	fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    0);
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(fd, a->ai_addr, a->ai_addrlen) ||
		    listen(fd, CLIENTS)) {
			error = errno;
			close(fd);
			errno = error;
			fd = -1;
		}
	}
	error = errno;
	freeaddrinfo(a);
	errno = error;
	return fd;
}

static int listen_at(const struct address *a, int *failed)
{
	int fd;

	if (*a->host)
		return listen_on(a->host, a->port, failed);
	/* IPv6 has IPv4's addresses, too, unless it is switched off */
	fd = listen_on("::", a->port, failed);
	if (fd < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL))
		fd = listen_on("0.0.0.0", a->port, failed);
	return fd;
}

/**
 * http_open - offer metrics at an address
 * @h: where the server is put; NULL on error
 * @address: as for http_is_address()
 * @m: the metrics, read whenever a client asks
 *
 * Return: NULL, or what is wrong, for free().
 */
char *http_open(struct http **h, const char *address, const struct metrics *m)
{
	struct address a;
	const char *error = parse(address, &a);
	struct http *new;
	int failed, fd, err;

	*h = NULL;
	if (error)
		return xasprintf("--metrics=%s: %s", address, error);
	fd = listen_at(&a, &failed);
	err = errno;
	free(a.host);
	errno = err;
	if (failed)
		return xasprintf("--metrics=%s: %s: " CHOOSE_ADDRESS, address,
				 failed == EAI_SYSTEM ? strerror(errno) :
							gai_strerror(failed));
	if (fd < 0)
		return xasprintf(
			"--metrics=%s: %s: %s", address, strerror(errno),
			errno == EADDRINUSE ?
				"choose another port; ss -ltnp shows who uses this one" :
				CHOOSE_ADDRESS);
	new = xcalloc(1, sizeof(*new));
	new->metrics = m;
	new->daemon = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, answer, new,
		MHD_OPTION_LISTEN_SOCKET, (MHD_socket)fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CLIENTS,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned int)HOST_CLIENTS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CLIENT_BYTES,
		MHD_OPTION_NOTIFY_CONNECTION, note_connection, new,
		MHD_OPTION_NOTIFY_COMPLETED, note_answer, new, MHD_OPTION_END);
	if (!new->daemon) {
		close(fd);
		free(new);
		return xasprintf(
			"--metrics=%s: the HTTP server cannot be started",
			address);
	}
	*h = new;
	return NULL;
}

/**
 * http_fd - what to poll
 * @h: the server, or NULL
 *
 * Return: a file descriptor that is readable when http_run() has something to do; -1 for
 * NULL, which poll() ignores.
 */
int http_fd(const struct http *h)
{
	return h ? MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD)
			       ->epoll_fd :
		   -1;
}

/**
 * http_run - answer clients, and close connections that take too long
 * @h: the server, or NULL
 *
 * Does not wait. To be called at least once per second.
 */
void http_run(struct http *h)
{
	MHD_UNSIGNED_LONG_LONG wait;
	unsigned int i;

	/* Its epoll is edge-triggered: work that is left does not wake poll() */
	if (h)
		end_slow(h);
	for (i = 0; h && i < ROUNDS; i++) {
		MHD_run(h->daemon);
		if (MHD_get_timeout(h->daemon, &wait) != MHD_YES || wait)
			break;
	}
}

/**
 * http_close - close the server and its connections
 * @h: the server, or NULL
 */
void http_close(struct http *h)
{
	if (!h)
		return;
	MHD_stop_daemon(h->daemon);
	free(h);
}
