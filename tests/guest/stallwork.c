// SPDX-License-Identifier: GPL-2.0
/*
 * Calls from code, and on stacks, that are where reading them may take for ever.
 *
 * usage: stallwork DIRECTORY FILES <WAIT
 *
 * Serves FILES files of FUSE in DIRECTORY, of two pages: the second one has code, the
 * first one is never answered for. Then reads a byte of itself, under these names:
 *
 *	on-fuse		from the code of each file, in turn
 *	fuse-stack	with a stack pointer into a first page
 *	uffd-stack	with one into memory that userfaultfd is to fill, and does not
 *	on-uffd		from the second page of a file whose first one, where the file says
 *			what it is, is not there, and userfaultfd is to fill it
 *	secret-stack	on a stack in memory of memfd_secret(), where code cannot be
 *
 * On-uffd does so twice: it says "wait" in between, and waits for a byte of its input.
 * After that it says "ready", and waits for the end of its input. It is killed by SIGALRM
 * if all of it takes longer than two minutes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096
#define SECRET_STACK (64 * PAGE)
#define CHECK(ok) check(ok, #ok, __LINE__)

/* long code(int fd, void *buffer, size_t size, off_t offset), which is pread() */
static const unsigned char code[] = {
	0x55, /* push %rbp */
	0x48, 0x89,	   0xe5, /* mov %rsp, %rbp */
	0xb8, SYS_pread64, 0,	 0, 0, /* mov $SYS_pread64, %eax */
	0x49, 0x89,	   0xca, /* mov %rcx, %r10 */
	0x0f, 0x05, /* syscall */
	0x5d, /* pop %rbp */
	0xc3, /* ret */
};

typedef long (*pread_code)(int fd, void *buffer, size_t size, off_t offset);

static int self;

static void check(int ok, const char *what, int line)
{
	if (ok)
		return;
	fprintf(stderr, "stallwork:%d: %s: %s\n", line, what, strerror(errno));
	exit(1);
}

static void say(const char *what)
{
	puts(what);
	fflush(stdout);
}

/* --- the server of the files */

static void answer(int fuse, const struct fuse_in_header *in, int error,
		   const void *bytes, size_t size)
{
	struct fuse_out_header out = { .len = sizeof(out) + size,
				       .error = error,
				       .unique = in->unique };
	struct iovec parts[] = { { &out, sizeof(out) },
				 { (void *)bytes, size } };

	/* The process that asked may have ended */
	CHECK(writev(fuse, parts, size ? 2 : 1) == (ssize_t)out.len ||
	      errno == ENOENT);
}

/* The directory is node 1, and files are those after it */
static struct fuse_attr attr_of(__u64 node)
{
	return (struct fuse_attr){ .ino = node,
				   .size = node == 1 ? 0 : 2 * PAGE,
				   .mode = node == 1 ? S_IFDIR | 0755 :
						       S_IFREG | 0755,
				   .nlink = 1,
				   .blksize = PAGE };
}

static void answer_lookup(int fuse, const struct fuse_in_header *in)
{
	unsigned int file;
	struct fuse_entry_out entry = { .entry_valid = 3600,
					.attr_valid = 3600 };

	if (sscanf((const char *)(in + 1), "f%u", &file) != 1) {
		answer(fuse, in, -ENOENT, NULL, 0);
		return;
	}
	entry.nodeid = 2 + file;
	entry.attr = attr_of(entry.nodeid);
	answer(fuse, in, 0, &entry, sizeof(entry));
}

static void answer_one(int fuse, const struct fuse_in_header *in)
{
	static unsigned char page[PAGE];
	/* No reading ahead, which would ask for the first page, too */
	struct fuse_init_out init = { .major = 7,
				      .minor = 31,
				      .max_write = PAGE };
	struct fuse_attr_out attr = { .attr_valid = 3600,
				      .attr = attr_of(in->nodeid) };
	const struct fuse_read_in *read_in = (const void *)(in + 1);
	struct fuse_open_out opened = { 0 };

	switch (in->opcode) {
	case FUSE_INIT:
		answer(fuse, in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		answer_lookup(fuse, in);
		break;
	case FUSE_GETATTR:
		answer(fuse, in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(fuse, in, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		memcpy(page, code, sizeof(code));
		if (read_in->offset == PAGE)
			answer(fuse, in, 0, page, sizeof(page));
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		answer(fuse, in, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(fuse, in, -ENOSYS, NULL, 0);
	}
}

static void serve(int fuse)
{
	static union {
		struct fuse_in_header in;
		char bytes[1 << 17];
	} request;

	prctl(PR_SET_NAME, "server");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		ssize_t got = read(fuse, &request, sizeof(request));

		if (got < 0 && errno == ENODEV)
			exit(0);
		CHECK(got >= (ssize_t)sizeof(request.in) || errno == EINTR);
		if (got > 0)
			answer_one(fuse, &request.in);
	}
}

static pid_t start_server(const char *directory)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[64];
	pid_t server;

	CHECK(fuse >= 0);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	CHECK(!mount("stall", directory, "fuse", 0, options));
	server = fork();
	CHECK(server >= 0);
	if (!server)
		serve(fuse);
	/* When the server ends, so do the calls that wait for it */
	close(fuse);
	return server;
}

/* --- the callers */

static void on_fuse(const char *directory, long file)
{
	char path[256], c;
	void *page;
	int fd;

	snprintf(path, sizeof(path), "%s/f%ld", directory, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	page = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, PAGE);
	CHECK(page != MAP_FAILED);
	CHECK(((pread_code)page)(self, &c, 1, 0) == 1);
	close(fd);
}

/*
 * A call while the stack pointer is in a page that is not present, which only the kernel
 * reads. The return address follows in that page.
 */
__attribute__((noinline)) static long pread_with(char *stack)
{
	register long offset __asm__("r10") = 0;
	static char c;
	long result;

	__asm__ volatile("mov %%rsp, %%rbx; mov %[stack], %%rsp\n"
			 "syscall; mov %%rbx, %%rsp"
			 : "=a"(result)
			 : "a"((long)SYS_pread64), "D"((long)self), "S"(&c),
			   "d"(1L), "r"(offset), [stack] "r"(stack)
			 : "rbx", "rcx", "r11", "memory");
	return result;
}

/* A trace has one name for each process */
static void in_process(const char *name, void (*call)(const char *directory),
		       const char *directory)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (!child) {
		prctl(PR_SET_NAME, name);
		call(directory);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
}

static void fuse_stack(const char *directory)
{
	char path[256], *page;
	int fd;

	snprintf(path, sizeof(path), "%s/f0", directory);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CHECK(page != MAP_FAILED);
	CHECK(pread_with(page + PAGE / 2) == 1);
	close(fd);
}

/* A thread that touches an absent page waits for a thread that does not exist */
static int register_with_userfaultfd(void *start, size_t size)
{
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { .start = (unsigned long)start, .len = size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	CHECK(uffd >= 0);
	CHECK(!ioctl(uffd, UFFDIO_API, &api));
	CHECK(!ioctl(uffd, UFFDIO_REGISTER, &range));
	return uffd;
}

static void uffd_stack(const char *directory)
{
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int uffd;

	(void)directory;
	CHECK(page != MAP_FAILED);
	uffd = register_with_userfaultfd(page, PAGE);
	CHECK(pread_with(page + PAGE / 2) == 1);
	close(uffd);
}

static void on_uffd(const char *directory)
{
	int fd = memfd_create("unfilled", MFD_CLOEXEC), uffd;
	char *pages, c;

	(void)directory;
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, 2 * PAGE));
	CHECK(pwrite(fd, code, sizeof(code), PAGE) == sizeof(code));
	pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	CHECK(pages != MAP_FAILED);
	uffd = register_with_userfaultfd(pages, 2 * PAGE);
	CHECK(((pread_code)(pages + PAGE))(self, &c, 1, 0) == 1);
	/* Once more when what the kernel wants to know of the file is known */
	say("wait");
	CHECK(read(STDIN_FILENO, &c, 1) == 1);
	CHECK(((pread_code)(pages + PAGE))(self, &c, 1, 0) == 1);
	close(uffd);
	close(fd);
}

/* No thread: futexes cannot be there */
static ucontext_t caller, secret;

static void with_secret_stack(void)
{
	char c;

	CHECK(pread(self, &c, 1, 0) == 1);
}

static void secret_stack(const char *directory)
{
	int fd = syscall(SYS_memfd_secret, O_CLOEXEC);
	void *stack;

	(void)directory;
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, SECRET_STACK));
	stack = mmap(NULL, SECRET_STACK, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		     0);
	CHECK(stack != MAP_FAILED);
	CHECK(!getcontext(&secret));
	secret.uc_stack.ss_sp = stack;
	secret.uc_stack.ss_size = SECRET_STACK;
	secret.uc_link = &caller;
	makecontext(&secret, with_secret_stack, 0);
	CHECK(!swapcontext(&caller, &secret));
	close(fd);
}

int main(int argc, char **argv)
{
	const char *scale = getenv("TRACERIG_TIMEOUT_SCALE");
	long i, files = argc == 3 ? atol(argv[2]) : 0;
	pid_t server;
	char c;

	CHECK(files > 0);
	alarm(120 * (scale ? atoi(scale) : 1));
	self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	CHECK(self >= 0);
	server = start_server(argv[1]);
	prctl(PR_SET_NAME, "on-fuse");
	for (i = 0; i < files; i++)
		on_fuse(argv[1], i);
	in_process("fuse-stack", fuse_stack, argv[1]);
	in_process("uffd-stack", uffd_stack, argv[1]);
	in_process("on-uffd", on_uffd, argv[1]);
	in_process("secret-stack", secret_stack, argv[1]);
	say("ready");
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	umount2(argv[1], MNT_DETACH);
	kill(server, SIGKILL);
	CHECK(waitpid(server, NULL, 0) == server);
	return 0;
}
