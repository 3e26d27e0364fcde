// SPDX-License-Identifier: GPL-2.0
/* Copies of ELF files with nothing but their symbols. See elfcopy.h. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "elfcopy.h"
#include "memory.h"
#include "regular.h"
#include "store.h"
#include "text.h"

/* Limits of the copies of a case: bytes, seconds of CPU time, and seconds in all */
#define BYTES_MAX (64u << 20)
#define CPU_SECONDS_MAX 20
#define SECONDS_MAX 60

/**
 * elfcopy_is_below - whether a path can be one of a copy
 * @path: the path, without the slash that it begins with
 *
 * Return: false if it leads out of the directory, or case.json cannot have it as it is.
 */
bool elfcopy_is_below(const char *path)
{
	char *clean = xstrdup(path);
	bool good;

	clean_text(clean);
	good = !strcmp(clean, path);
	free(clean);
	while (good) {
		size_t len = strcspn(path, "/");

		good = len && !(len == 1 && *path == '.') &&
		       !(len == 2 && !strncmp(path, "..", 2));
		if (!path[len])
			break;
		path += len + 1;
	}
	return good;
}

static struct elfcopy_file *find_file(const struct elfcopy *s, const char *path)
{
	size_t i;

	for (i = 0; i < s->nr; i++) {
		if (!strcmp(s->file[i].path, path))
			return &s->file[i];
	}
	return NULL;
}

/**
 * elfcopy_add - add a file that addresses refer to
 * @s: the files
 * @path: its path
 * @id: its build-id
 * @id_size: bytes of that; without a build-id it could be another file by now, and is
 *	left out
 */
void elfcopy_add(struct elfcopy *s, const char *path, const u8 *id, u32 id_size)
{
	struct elfcopy_file *f = find_file(s, path);

	/* Memory of no file may have a name */
	if (*path != '/')
		return;
	if (!f && (s->nr == ELFCOPY_FILES || !elfcopy_is_below(path + 1))) {
		s->left_out = true;
		return;
	}
	if (!f) {
		GROW(s->file, s->nr, s->room);
		f = &s->file[s->nr++];
		*f = (struct elfcopy_file){ .path = xstrdup(path) };
	}
	/* Some of its records may lack it */
	if (!f->id_size && id_size <= ELFCOPY_ID) {
		memcpy(f->id, id, id_size);
		f->id_size = id_size;
	}
}

static bool is_kept(const GElf_Shdr *h)
{
	return h->sh_type == SHT_SYMTAB || h->sh_type == SHT_DYNSYM ||
	       h->sh_type == SHT_STRTAB || h->sh_type == SHT_NOTE;
}

static bool copy_section(Elf *to, Elf_Scn *from)
{
	Elf_Scn *scn = elf_newscn(to);
	Elf_Data *in, *out;
	GElf_Shdr h;

	if (!scn || !gelf_getshdr(from, &h))
		return false;
	if (!is_kept(&h) && h.sh_type != SHT_NULL)
		h.sh_type = SHT_NOBITS;
	out = elf_newdata(scn);
	in = is_kept(&h) ? elf_rawdata(from, NULL) : NULL;
	if (!out || (is_kept(&h) && !in))
		return false;
	if (in)
		*out = *in;
	else
		out->d_size = h.sh_size;
	out->d_type = ELF_T_BYTE;
	out->d_off = 0;
	return gelf_update_shdr(scn, &h);
}

static bool copy_headers(Elf *to, Elf *from)
{
	size_t i, nr, names;
	GElf_Ehdr e;
	GElf_Phdr p;

	if (!gelf_getehdr(from, &e) || elf_getphdrnum(from, &nr) ||
	    elf_getshdrstrndx(from, &names) || names >= SHN_LORESERVE ||
	    !gelf_newehdr(to, gelf_getclass(from)) || !gelf_newphdr(to, nr))
		return false;
	e.e_shstrndx = names;
	if (!gelf_update_ehdr(to, &e))
		return false;
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(from, i, &p))
			return false;
		/* Offsets in the file are those of the original, where this table was */
		if (p.p_type == PT_GNU_EH_FRAME || p.p_type == PT_NOTE)
			p.p_type = PT_NULL;
		if (!gelf_update_phdr(to, i, &p))
			return false;
	}
	return true;
}

static bool copy_elf(Elf *from, int out, const struct elfcopy_file *f)
{
	Elf_Scn *scn = NULL;
	const void *id;
	bool good;
	Elf *to;

	if (elf_kind(from) != ELF_K_ELF || !f->id_size ||
	    dwelf_elf_gnu_build_id(from, &id) != (ssize_t)f->id_size ||
	    memcmp(id, f->id, f->id_size) != 0)
		return false;
	to = elf_begin(out, ELF_C_WRITE, NULL);
	good = to && copy_headers(to, from);
	while (good && (scn = elf_nextscn(from, scn)) != NULL)
		good = copy_section(to, scn);
	good = good && elf_update(to, ELF_C_WRITE) > 0;
	elf_end(to);
	return good;
}

/* Make the directories of a path; there is one that the path is below */
static void make_directories(char *path)
{
	char *slash = strrchr(path, '/');

	*slash = '\0';
	if (mkdir(path, 0750) && errno == ENOENT) {
		make_directories(path);
		mkdir(path, 0750);
	}
	*slash = '/';
}

/* Return the bytes of the copy, 0 on error */
static u64 copy_file(const struct elfcopy_file *f, const char *dir)
{
	char *path = xasprintf("%s/" SYMBOLS_DIR "%s", dir, f->path);
	const char *trouble;
	int in = open_regular(f->path, &trouble), out = -1;
	u64 bytes = 0;
	struct stat st;
	Elf *elf;

	if (in >= 0) {
		make_directories(path);
		out = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	}
	if (out >= 0) {
		elf = elf_begin(in, ELF_C_READ_MMAP, NULL);
		if (elf && copy_elf(elf, out, f) && !fstat(out, &st))
			bytes = st.st_size;
		elf_end(elf);
		close(out);
		if (!bytes)
			unlink(path);
	}
	if (in >= 0)
		close(in);
	free(path);
	return bytes;
}

static int copy_files(const struct elfcopy *s, const char *dir)
{
	struct rlimit seconds = { CPU_SECONDS_MAX, CPU_SECONDS_MAX };
	struct rlimit limit = { BYTES_MAX, BYTES_MAX };
	char *symbols = xasprintf("%s/" SYMBOLS_DIR, dir);
	bool good = true;
	u64 bytes;
	size_t i;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_CPU, &seconds);
	elf_version(EV_CURRENT);
	for (i = 0; i < s->nr; i++) {
		setrlimit(RLIMIT_FSIZE, &limit);
		bytes = copy_file(&s->file[i], dir);
		good &= bytes > 0;
		limit.rlim_cur -= bytes;
	}
	limit.rlim_cur = JITMAPS_BYTES;
	setrlimit(RLIMIT_FSIZE, &limit);
	good &= jitmaps_copy(&s->code, symbols);
	free(symbols);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Wait for the end of a child for a limited time; false if it is still running */
static bool wait_for(pid_t pid, int seconds, int *status)
{
	struct pollfd end = { .fd = pidfd_open(pid, 0), .events = POLLIN };
	int ready = -1;

	if (end.fd >= 0) {
		ready = poll(&end, 1, seconds * 1000);
		close(end.fd);
	}
	return waitpid(pid, status, ready ? 0 : WNOHANG) == pid;
}

/* A file system that does not answer may keep the child alive: it is then abandoned */
static bool has_ended(pid_t pid, int *status)
{
	if (wait_for(pid, SECONDS_MAX, status))
		return true;
	kill(pid, SIGKILL);
	return wait_for(pid, 1, status);
}

/**
 * elfcopy_collect - copy the symbols into a case
 * @s: the files
 * @dir: the case
 * @helper: where to put the number of the process that does it; may be NULL
 *
 * A process of its own reads the files: any user may own them, and they can be damaged,
 * be truncated during the copy, or be on a file system that does not answer. The copies
 * are not synchronized.
 *
 * Return: false if some are missing.
 */
bool elfcopy_collect(const struct elfcopy *s, const char *dir, int *helper)
{
	pid_t pid, parent = getpid();
	int status = -1;
	char *path;

	if (!s->nr && !s->code.nr)
		return !s->left_out && !s->code.left_out;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		/* It does not outlive its parent */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(EXIT_FAILURE);
		if (helper)
			*helper = getpid();
		_exit(copy_files(s, dir));
	}
	/* It may have died with half a file */
	if (pid > 0 && (!has_ended(pid, &status) || !WIFEXITED(status))) {
		path = xasprintf("%s/" SYMBOLS_DIR, dir);
		store_remove(path);
		free(path);
		return false;
	}
	return !status && !s->left_out;
}

/**
 * elfcopy_free - free the files
 * @s: the files
 */
void elfcopy_free(struct elfcopy *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		free(s->file[i].path);
	free(s->file);
	jitmaps_free(&s->code);
	*s = (struct elfcopy){ 0 };
}
