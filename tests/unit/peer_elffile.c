// SPDX-License-Identifier: GPL-2.0
/*
 * peer_elffile [--no-demangle] FILE
 *
 * Prints what tools/lib/elffile.c finds for the addresses of standard input, one a line
 * in hexadecimal, as addr2line -afi does; functions that are inlined have " (inlined)".
 *
 * peer_elffile --names
 *
 * Prints the demangled forms of the names of standard input, "-" if there is none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elffile.h"

static void print_sources(struct elffile *f, u64 addr)
{
	const struct elffile_source *source;
	u32 nr = elffile_sources(f, addr, &source), i;

	printf("0x%llx\n", addr);
	for (i = 0; i < nr; i++)
		printf("%s%s\n%s:%d\n",
		       source[i].function ? source[i].function : "?",
		       source[i].inlined ? " (inlined)" : "",
		       source[i].file ? source[i].file : "??", source[i].line);
}

static void print_name(const char *name)
{
	char *text = elffile_demangle(name);

	puts(text ? text : "-");
	free(text);
}

int main(int argc, char **argv)
{
	bool names = argc == 2 && !strcmp(argv[1], "--names");
	struct elffile_options options = { .root = "" };
	struct elffile *f = NULL;
	char line[65536];

	if (argc == 3 && !strcmp(argv[1], "--no-demangle"))
		options.no_demangle = true;
	else if (argc != 2)
		return 2;
	if (!names) {
		f = elffile_open(&options, argv[argc - 1], (const u8 *)"", 0);
		if (elffile_trouble(f)) {
			fprintf(stderr, "%s: %s\n", argv[argc - 1],
				elffile_trouble(f));
			elffile_close(f);
			return 1;
		}
	}
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (names)
			print_name(line);
		else
			print_sources(f, strtoull(line, NULL, 16));
	}
	elffile_close(f);
	return 0;
}
