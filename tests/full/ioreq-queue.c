// SPDX-License-Identifier: GPL-2.0
/*
 * queue ADDRESS PORT REDIS-ADDRESS REDIS-PORT THREADS
 *
 * A server of HTTP for tests/full/ioreq that hands requests over: one thread accepts
 * connections and puts their requests into a queue. THREADS other threads remove requests
 * from the queue, store them in redis, and send the responses.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define QUEUE 1024
#define EVENTS 64

/**
 * struct job - a request
 * @client:	socket to send the answer to
 * @name:	of it: R, digits, Z
 */
struct job {
	int client;
	char name[24];
};

/**
 * struct queue - jobs that no thread has begun
 * @lock:	for all of it
 * @more:	signalled when a job is added
 * @job:	they, in a ring
 * @first:	the oldest one
 * @nr:		how many
 */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct job job[QUEUE];
	unsigned int first;
	unsigned int nr;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER,
	    .more = PTHREAD_COND_INITIALIZER };

static struct sockaddr_in redis;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct sockaddr_in address(const char *host, const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(atoi(port)) };

	if (!inet_aton(host, &a.sin_addr))
		die(host);
	return a;
}

static void send_all(int s, const char *text)
{
	size_t len = strlen(text);
	ssize_t sent;

	for (; len; text += sent, len -= sent) {
		sent = send(s, text, len, MSG_NOSIGNAL);
		if (sent <= 0)
			return;
	}
}

static void push(const struct job *job)
{
	pthread_mutex_lock(&queue.lock);
	if (queue.nr == QUEUE)
		die("queue");
	queue.job[(queue.first + queue.nr++) % QUEUE] = *job;
	pthread_mutex_unlock(&queue.lock);
	pthread_cond_signal(&queue.more);
}

static struct job pop(void)
{
	struct job job;

	pthread_mutex_lock(&queue.lock);
	while (!queue.nr)
		pthread_cond_wait(&queue.more, &queue.lock);
	job = queue.job[queue.first++ % QUEUE];
	queue.nr--;
	pthread_mutex_unlock(&queue.lock);
	return job;
}

static void keep(int s, const char *name)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "*3\r\n$3\r\nSET\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n",
		 strlen(name), name, strlen(name), name);
	send_all(s, text);
	if (recv(s, text, 5, MSG_WAITALL) != 5)
		die("redis");
}

static void *work(void *unused)
{
	int s = socket(AF_INET, SOCK_STREAM, 0);
	char text[256];

	if (s < 0 || connect(s, (struct sockaddr *)&redis, sizeof(redis)))
		die("connect");
	for (;;) {
		struct job job = pop();

		keep(s, job.name);
		snprintf(
			text, sizeof(text),
			"HTTP/1.1 200 OK\r\nX-Id: %s\r\nContent-Length: %zu\r\n\r\n%s\n",
			job.name, strlen(job.name) + 1, job.name);
		send_all(job.client, text);
	}
	return unused;
}

/* A client sends no request before it has the response, and a request arrives whole */
static void queue_request(int client)
{
	struct job job = { .client = client };
	char text[4096], *name;
	ssize_t len = recv(client, text, sizeof(text) - 1, 0);

	if (len <= 0) {
		close(client);
		return;
	}
	text[len] = '\0';
	name = strstr(text, "/R");
	if (!name || !strstr(text, "\r\n\r\n"))
		die("a request");
	snprintf(job.name, sizeof(job.name), "%.*s",
		 (int)strcspn(name + 1, " "), name + 1);
	push(&job);
}

static void watch(int epoll, int s)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = s };

	if (s < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, s, &e))
		die("epoll_ctl");
}

static void serve(const struct sockaddr_in *at)
{
	int s = socket(AF_INET, SOCK_STREAM, 0), epoll = epoll_create1(0);
	struct epoll_event event[EVENTS];
	int one = 1, i;

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(s, (const struct sockaddr *)at, sizeof(*at)) || listen(s, 256))
		die("bind");
	for (watch(epoll, s);;) {
		int nr = epoll_wait(epoll, event, EVENTS, -1);
		for (i = 0; i < nr; i++) {
			if (event[i].data.fd == s)
				watch(epoll, accept(s, NULL, NULL));
			else
				queue_request(event[i].data.fd);
		}
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in at;
	pthread_t thread;
	int i;

	if (argc != 6) {
		fprintf(stderr,
			"usage: queue ADDRESS PORT REDIS-ADDRESS REDIS-PORT THREADS\n");
		return 2;
	}
	at = address(argv[1], argv[2]);
	redis = address(argv[3], argv[4]);
	for (i = 0; i < atoi(argv[5]); i++) {
		if (pthread_create(&thread, NULL, work, NULL))
			die("pthread_create");
	}
	serve(&at);
}
