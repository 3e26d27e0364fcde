// SPDX-License-Identifier: GPL-2.0
/*
 * A store of chunks on two hosts, and its client, for tests/full/ioreq:
 *
 *	store serve ADDRESS PORT DIRECTORY [ADDRESS PORT]
 *	store ask ADDRESS PORT REQUESTS FIRST
 *
 * One process serves, with a thread for each connection. A chunk that is written is sent to
 * the second host, too, if there is one. Chunks are read through mmap. Each request has a
 * line in a log, which is on the disk before the response is sent. A store with a second
 * host writes that line twice, before and after its request to that host: this is the defect
 * that ioreq has to find.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNK 4096
#define CHUNKS 1024

/**
 * struct head - before a request and an answer
 * @what:	'r' or 'w'; of an answer 'd'
 * @chunk:	which one, after a blank
 * @name:	of the request
 */
struct head {
	char what;
	char chunk[8];
	char name[23];
};

/**
 * struct store - what all threads have in common
 * @chunks:	file of chunks
 * @map:	it in memory
 * @log:	of requests; a write() comes back when it is on the disk
 * @other:	the other host, if @replicated
 */
static struct {
	int chunks;
	const char *map;
	int log;
	struct sockaddr_in other;
	int replicated;
} store;

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

static int reach(const struct sockaddr_in *to)
{
	int s = socket(AF_INET, SOCK_STREAM, 0);

	if (s < 0 || connect(s, (const struct sockaddr *)to, sizeof(*to)))
		die("connect");
	return s;
}

static int get(int s, void *to, size_t len)
{
	return recv(s, to, len, MSG_WAITALL) == (ssize_t)len;
}

static void put(int s, const struct head *head, const void *chunk)
{
	char buf[sizeof(*head) + CHUNK];
	size_t len = sizeof(*head) + (chunk ? CHUNK : 0);

	memcpy(buf, head, sizeof(*head));
	if (chunk)
		memcpy(buf + sizeof(*head), chunk, CHUNK);
	if (send(s, buf, len, MSG_NOSIGNAL) != (ssize_t)len)
		die("send");
}

static void write_log(const struct head *head)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "%c %.8s %.23s\n", head->what,
			   head->chunk, head->name);

	if (write(store.log, line, len) != len)
		die("log");
}

static void write_chunk(const struct head *head, const char *chunk, int other)
{
	struct head answer;

	if (pwrite(store.chunks, chunk, CHUNK,
		   (off_t)CHUNK * atoi(head->chunk)) != CHUNK)
		die("chunks");
	if (other < 0)
		return;
	write_log(head);
	put(other, head, chunk);
	if (!get(other, &answer, sizeof(answer)))
		die("the other host");
}

static void *serve(void *arg)
{
	int s = (int)(long)arg, other = -1;
	char chunk[CHUNK];
	struct head head;

	if (store.replicated)
		other = reach(&store.other);
	while (get(s, &head, sizeof(head))) {
		int writes = head.what == 'w';

		if (writes) {
			if (!get(s, chunk, CHUNK))
				break;
			write_chunk(&head, chunk, other);
		} else {
			memcpy(chunk, store.map + CHUNK * atoi(head.chunk),
			       CHUNK);
		}
		write_log(&head);
		head.what = 'd';
		put(s, &head, writes ? NULL : chunk);
	}
	if (other >= 0)
		close(other);
	close(s);
	return NULL;
}

static void open_files(const char *directory)
{
	if (chdir(directory))
		die(directory);
	store.chunks = open("chunks", O_RDWR | O_CREAT, 0644);
	store.log = open("store.log", O_WRONLY | O_CREAT | O_APPEND | O_DSYNC,
			 0644);
	if (store.chunks < 0 || store.log < 0 ||
	    ftruncate(store.chunks, CHUNK * CHUNKS))
		die(directory);
	store.map = mmap(NULL, CHUNK * CHUNKS, PROT_READ, MAP_SHARED,
			 store.chunks, 0);
	if (store.map == MAP_FAILED ||
	    madvise((void *)store.map, CHUNK * CHUNKS, MADV_RANDOM))
		die("mmap");
}

static int serve_all(char **argv)
{
	struct sockaddr_in own = address(argv[2], argv[3]);
	int s = socket(AF_INET, SOCK_STREAM, 0), one = 1, c;
	pthread_t thread;

	open_files(argv[4]);
	if (argv[5]) {
		store.other = address(argv[5], argv[6]);
		store.replicated = 1;
	}
	if (s < 0 ||
	    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(s, (struct sockaddr *)&own, sizeof(own)) || listen(s, 10))
		die("listen");
	while ((c = accept(s, NULL, NULL)) >= 0) {
		if (pthread_create(&thread, NULL, serve, (void *)(long)c))
			die("thread");
		pthread_detach(thread);
	}
	die("accept");
	return 1;
}

/* Every third one reads, what lies far from what others have read and written */
static int ask_all(char **argv)
{
	struct sockaddr_in to = address(argv[2], argv[3]);
	int s = reach(&to), i, n = atoi(argv[4]), first = atoi(argv[5]);
	char chunk[CHUNK];

	for (i = 0; i < n; i++) {
		struct head head = { .what = i % 3 ? 'w' : 'r' };

		snprintf(head.chunk, sizeof(head.chunk), "%d",
			 (first + 97 * i) % CHUNKS);
		snprintf(head.name, sizeof(head.name), "R%dZ", first + i);
		memset(chunk, 'a' + i % 26, CHUNK);
		put(s, &head, head.what == 'w' ? chunk : NULL);
		if (!get(s, &head, sizeof(head)) || head.what != 'd' ||
		    (i % 3 == 0 && !get(s, chunk, CHUNK)))
			die("answer");
	}
	close(s);
	return 0;
}

int main(int argc, char **argv)
{
	if (!(argc == 5 || argc == 7) || strcmp(argv[1], "serve")) {
		if (argc == 6 && !strcmp(argv[1], "ask"))
			return ask_all(argv);
		fprintf(stderr,
			"usage: store serve ADDRESS PORT DIRECTORY [ADDRESS PORT]\n"
			"       store ask ADDRESS PORT REQUESTS FIRST\n");
		return 2;
	}
	return serve_all(argv);
}
