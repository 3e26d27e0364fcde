// SPDX-License-Identifier: GPL-2.0
/*
 * stackwork ROUNDS [jit]
 *
 * Writes to /dev/null from stacks of many kinds: out of a signal handler that has
 * interrupted anything, out of the C library (a comparison of qsort), from frames whose
 * size is known at run time, that are aligned, or deep; from a thread, a thread of a
 * child process, and with jit out of code that is generated at run time and has only
 * frame pointers.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int null;

__attribute__((noinline)) static void put(int c)
{
	char byte = c;

	if (write(null, &byte, 1) != 1)
		abort();
}

static void on_signal(int signal)
{
	put(signal);
}

static int by_number(const void *a, const void *b)
{
	put('q');
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void sorted(void)
{
	int number[] = { 3, 1, 2 };

	qsort(number, 3, sizeof(number[0]), by_number);
	put(number[0]);
}

__attribute__((noinline)) static void of_any_size(size_t size)
{
	char *bytes = alloca(size);

	memset(bytes, 1, size);
	put(bytes[size - 1]);
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

__attribute__((noinline)) static void aligned(void)
{
	alignas(128) char bytes[256];

	memset(bytes, 2, sizeof(bytes));
	of_any_size(100);
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

__attribute__((noinline)) static int deep(int depth)
{
	int n = 0;

	if (depth)
		n = deep(depth - 1);
	else
		put('d');
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static void *in_thread(void *arg)
{
	sorted();
	raise(SIGUSR1);
	return arg;
}

static void thread(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, in_thread, NULL))
		abort();
	pthread_join(id, NULL);
}

/* push %rbp; mov %rsp,%rbp; sub $16,%rsp; call *%rdi; leave; ret */
static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83,
				0xec, 0x10, 0xff, 0xd7, 0xc9, 0xc3 };

static void from_jit(void)
{
	put('j');
}

static void *make(uintptr_t at)
{
	uint8_t *made = mmap((void *)at, 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (made == MAP_FAILED)
		abort();
	memcpy(made, code, sizeof(code));
	if (mprotect(made, 4096, PROT_READ | PROT_EXEC))
		abort();
	return made;
}

/* It has a frame pointer, so that unwinding continues after the generated code */
__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void
jit(void *made)
{
	((void (*)(void (*)(void)))made)(from_jit);
}

/* The same stack each time, with code that is far from it */
static void same(int rounds)
{
	void *made = make(0x10000000);

	while (rounds--)
		jit(made);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	struct sigaction action = { .sa_handler = on_signal };

	null = open("/dev/null", O_WRONLY);
	sigaction(SIGUSR1, &action, NULL);
	if (argc > 2 && !strcmp(argv[2], "same")) {
		same(rounds);
		return 0;
	}
	while (rounds--) {
		sorted();
		of_any_size(rounds * 16 + 16);
		aligned();
		deep(100);
		raise(SIGUSR1);
		thread();
		if (argc > 2) {
			void *made = make(0);

			jit(made);
			munmap(made, 4096);
		}
	}
	return 0;
}
